// The adjoints of what is reduced, of one point, from those of the whole: by what combines the
// points.
//     sum      that of the whole
//     prod     times the product of the others, told by that of all that are not 0 and the number and sum of those that are
//     max, min that of the whole where the point is the one chosen: the first of equals, a share, or each ('ties')
//     others   by their section `grad`; or, where parts of the state are sums, by what finishes
//              them; or, where they are arguments, by which of these was chosen
#include "gradient_internal.h"

#include <string.h>

static tensor_expr bin(tensor_op *op, tensor_opcode o, tensor_expr x, tensor_expr y) {
    return tensor_binary(op, o, x, y, NO_SPAN);
}

static tensor_expr number(tensor_op *op, tensor_type t, double x) {
    return tensor_type_is_float(t) ? tensor_float(op, t.type, x) : tensor_int(op, (int64_t)x);
}

static tensor_expr leaf(tensor_op *op, tensor_opcode o, tensor_type t, uint32_t i) {
    return tensor_node_new(op, (tensor_node){.op = (uint16_t)o, .type = t, .imm.i = i});
}

// What a stage wrote, at the point at hand.
static tensor_expr result(gradient *g, const tensor_stage *s, uint32_t t) {
    return tensor_load(g->op, s->targets[t].val, s->targets[t].index, s->targets[t].rank, NO_SPAN);
}

// ---- Products -----------------------------------------------------------------------------------
// The product of the other factors, of those that are not 0 by division. Where one of the others is
// 0, so is this, but it changes with that: it is a multiple of that one, which is the sum of all
// factors that are 0. So the derivative of this is right, too; a third one is where no more than
// one factor is 0.
static tensor_expr of_product(gradient *g, const tensor_stage *s, tensor_expr target) {
    tensor_op *op = g->op;
    tensor_expr x = s->body[0];
    tensor_type t = tensor_typeof(op, x);
    tensor_expr zero = number(op, t, 0), one = number(op, t, 1),
                is_zero = bin(op, TENSOR_EQ_OP, x, zero),
                other = tensor_select(op, is_zero, one, x, NO_SPAN),
                nought = tensor_select(op, is_zero, x, zero, NO_SPAN),
                counted = tensor_select(op, is_zero, tensor_int(op, 1), tensor_int(op, 0), NO_SPAN);
    uint32_t prod = tensor_builtin_reducer(op, REDUCE_PROD, t),
             sum = tensor_builtin_reducer(op, REDUCE_SUM, t),
             count = tensor_builtin_reducer(op, REDUCE_SUM, TENSOR_TYPE(I64));
    tensor_expr product = gradient_beside(g, s, prod, &other, 1, "others"),
                zeros = gradient_beside(g, s, count, &counted, 1, "zeros"),
                noughts = gradient_beside(g, s, sum, &nought, 1, "noughts");
    tensor_expr left = bin(op, TENSOR_SUB_OP, zeros, counted),
                by = bin(op, TENSOR_DIV_OP, product, other),
                finite = bin(op, TENSOR_EQ_OP, bin(op, TENSOR_SUB_OP, by, by), zero),
                single = bin(op, TENSOR_AND_OP, bin(op, TENSOR_EQ_OP, left, tensor_int(op, 1)),
                             finite),
                multiple = bin(op, TENSOR_MUL_OP, by, bin(op, TENSOR_SUB_OP, noughts, nought));
    by = tensor_select(op, bin(op, TENSOR_EQ_OP, left, tensor_int(op, 0)), by,
                       tensor_select(op, single, multiple, zero, NO_SPAN), NO_SPAN);
    return gradient_mul(op, target, by);
}

// ---- The largest and the smallest ---------------------------------------------------------------
// The number of a point among those that are reduced, in their order.
tensor_expr gradient_place(gradient *g, const tensor_stage *s) {
    tensor_op *op = g->op;
    tensor_expr at = 0;
    for (uint32_t b = 0; b < s->nbound; b++) {
        tensor_expr i = tensor_cvt(op, TENSOR_TYPE(I64), tensor_var_expr(op, s->bound[b], NO_SPAN),
                                   NO_SPAN),
                    n = tensor_size(op, op->vars.data[s->bound[b]].space, NO_SPAN);
        at = at ? bin(op, TENSOR_ADD_OP, bin(op, TENSOR_MUL_OP, at, n), i) : i;
    }
    return at;
}

// Whether x comes before y: NaN is the largest, and the smallest.
tensor_expr gradient_beats(tensor_op *op, tensor_opcode better, tensor_expr x, tensor_expr y) {
    tensor_expr nan = bin(op, TENSOR_AND_OP, bin(op, TENSOR_NE_OP, x, x),
                          bin(op, TENSOR_EQ_OP, y, y));
    return bin(op, TENSOR_OR_OP, bin(op, better, x, y), nan);
}

// (x, place) → the place of the largest x, the first one of equals; -1 of nothing.
static uint32_t chosen_reducer(gradient *g, tensor_reduce_kind kind, tensor_type t) {
    tensor_op *op = g->op;
    const char *name = arena_printf(g->arena, "%s.at.%s", kind == REDUCE_MAX ? "max" : "min",
                                    ir_dtype_text(t.type));
    for (uint32_t i = 0; i < op->reducers.len; i++)
        if (!strcmp(op->reducers.data[i].name, name)) return i;
    tensor_opcode better = kind == REDUCE_MAX ? TENSOR_GT_OP : TENSOR_LT_OP;
    tensor_type *types = ARENA_ARRAY(g->arena, tensor_type, 2);
    tensor_expr *e = ARENA_ARRAY(g->arena, tensor_expr, 7), minus = tensor_int(op, -1);
    types[0] = t, types[1] = TENSOR_TYPE(I64);
    tensor_expr x = leaf(op, TENSOR_LEFT_OP, t, 0), y = leaf(op, TENSOR_RIGHT_OP, t, 0),
                i = leaf(op, TENSOR_LEFT_OP, types[1], 1),
                k = leaf(op, TENSOR_RIGHT_OP, types[1], 1), no_x = bin(op, TENSOR_EQ_OP, i, minus),
                no_y = bin(op, TENSOR_EQ_OP, k, minus), first = gradient_beats(op, better, x, y),
                second = gradient_beats(op, better, y, x);
    // Of equals that of the first place, whichever is left.
    tensor_expr left = bin(op, TENSOR_OR_OP, first,
                           bin(op, TENSOR_AND_OP, tensor_unary(op, TENSOR_NOT_OP, second, NO_SPAN),
                               bin(op, TENSOR_LT_OP, i, k))),
                takes = bin(op, TENSOR_AND_OP, tensor_unary(op, TENSOR_NOT_OP, no_x, NO_SPAN),
                            bin(op, TENSOR_OR_OP, no_y, left));
    e[0] = number(op, t, 0), e[1] = minus;
    e[2] = leaf(op, TENSOR_ARG_OP, t, 0), e[3] = leaf(op, TENSOR_ARG_OP, types[1], 1);
    e[4] = tensor_select(op, takes, x, y, NO_SPAN), e[5] = tensor_select(op, takes, i, k, NO_SPAN);
    e[6] = i;
    tensor_reducer r = {.name = name,
                        .kind = REDUCE_USER,
                        .commutative = true,
                        .nargs = 2,
                        .nstate = 2,
                        .nresults = 1,
                        .arg_types = types,
                        .state_types = types,
                        .result_types = types + 1,
                        .identity = e,
                        .lift = e + 2,
                        .combine = e + 4,
                        .finish = e + 6};
    VEC_PUSH(g->arena, &op->reducers, r);
    return op->reducers.len - 1;
}

static tensor_expr is_first(gradient *g, const tensor_stage *s, tensor_reduce_kind kind) {
    tensor_op *op = g->op;
    tensor_expr body[] = {s->body[0], gradient_place(g, s)},
                at = gradient_beside(g, s, chosen_reducer(g, kind, tensor_typeof(op, s->body[0])),
                                     body, 2, "at");
    return bin(op, TENSOR_EQ_OP, body[1], at);
}

static tensor_expr of_extreme(gradient *g, const tensor_stage *s, tensor_reduce_kind kind,
                              tensor_expr target) {
    tensor_op *op = g->op;
    tensor_expr x = s->body[0], y = result(g, s, 0), zero = gradient_zero(op, target);
    if (s->ties == TIES_FIRST)
        return tensor_select(op, is_first(g, s, kind), target, zero, NO_SPAN);
    tensor_expr nan = bin(op, TENSOR_AND_OP, bin(op, TENSOR_NE_OP, x, x),
                          bin(op, TENSOR_NE_OP, y, y)),
                is = bin(op, TENSOR_OR_OP, bin(op, TENSOR_EQ_OP, x, y), nan);
    if (s->ties == TIES_SPLIT) {
        tensor_type t = tensor_typeof(op, target);
        tensor_expr one = tensor_select(op, is, number(op, t, 1), number(op, t, 0), NO_SPAN),
                    n = gradient_beside(g, s, tensor_builtin_reducer(op, REDUCE_SUM, t), &one, 1,
                                        "ties");
        target = bin(op, TENSOR_DIV_OP, target, n);
    }
    return tensor_select(op, is, target, zero, NO_SPAN);
}

// ---- Reducers of users --------------------------------------------------------------------------
// What stands for the leaves of a reducer's expressions.
typedef struct {
    gradient *g;
    const tensor_stage *s;
    const tensor_reducer *r;
    const tensor_expr *targets;
    tensor_expr *states;   // of the whole: 0 until it is asked for
} leaves;

// A reducer that gives a part of its state instead of what it makes of it.
static uint32_t state_reducer(gradient *g, const tensor_reducer *of, uint32_t i) {
    tensor_reducer r = *of;
    const char *name = arena_printf(g->arena, "%s.state%u", of->name, (unsigned)i);
    for (uint32_t k = 0; k < g->op->reducers.len; k++)
        if (!strcmp(g->op->reducers.data[k].name, name)) return k;
    tensor_expr *finish = ARENA_NEW(g->arena, tensor_expr);
    *finish = leaf(g->op, TENSOR_LEFT_OP, r.state_types[i], i);
    r.name = name;
    r.kind = REDUCE_USER;
    r.nresults = 1;
    r.result_types = r.state_types + i;
    r.finish = finish;
    r.grad = NULL;
    VEC_PUSH(g->arena, &g->op->reducers, r);
    return g->op->reducers.len - 1;
}

static tensor_expr stand_in(leaves *x, tensor_expr e);

// A part that is a sum by itself, or the like, is one of what is lifted; others need the whole
// reducer.
static tensor_expr whole_state(leaves *x, uint32_t i) {
    gradient *g = x->g;
    tensor_reduce_kind kind;
    tensor_reducer of = *x->r;
    const char *suffix = arena_printf(g->arena, "state%u", (unsigned)i);
    if (x->states[i]) return x->states[i];
    if (tensor_combined_by(g->op, &of, i, &kind)) {
        tensor_expr lifted = stand_in(x, of.lift[i]);
        uint32_t by = tensor_builtin_reducer(g->op, kind, of.state_types[i]);
        return x->states[i] = gradient_beside(g, x->s, by, &lifted, 1, suffix);
    }
    return x->states[i] = gradient_beside(g, x->s, state_reducer(g, &of, i), x->s->body,
                                          x->s->nbody, suffix);
}

static tensor_expr put_leaf(gradient_rewriting *r, const tensor_node *n) {
    leaves *x = r->user;
    uint32_t i = (uint32_t)n->imm.i, results = x->r->nresults;
    if (n->op == TENSOR_ARG_OP) return x->s->body[i];
    if (n->op == TENSOR_LEFT_OP) return whole_state(x, i);
    if (n->op != TENSOR_RIGHT_OP) return 0;
    if (i < results) return result(x->g, x->s, i);
    return x->targets[i - results] ? x->targets[i - results] : number(x->g->op, n->type, 0);
}

static tensor_expr stand_in(leaves *x, tensor_expr e) {
    gradient_rewriting r = gradient_rewriting_new(x->g, x->g->op, put_leaf, x);
    return gradient_rewrite(&r, e);
}

static tensor_expr *leaves_of(gradient *g, tensor_opcode o, const tensor_type *types, uint32_t n) {
    tensor_expr *all = ARENA_ARRAY(g->arena, tensor_expr, n);
    for (uint32_t i = 0; i < n; i++) all[i] = leaf(g->op, o, types[i], i);
    return all;
}

// Of parts that are sums: what finishes them by its arguments, then what is lifted by its own.
static bool by_parts(leaves *x, tensor_expr *args) {
    gradient *g = x->g;
    const tensor_reducer r = *x->r;
    const tensor_expr *parts = leaves_of(g, TENSOR_LEFT_OP, r.state_types, r.nstate),
                      *given = leaves_of(g, TENSOR_ARG_OP, r.arg_types, r.nargs),
                      *below = gradient_below(g, r.finish, x->targets, r.nresults);
    tensor_expr *seeds = ARENA_ARRAY(g->arena, tensor_expr, r.nstate);
    for (uint32_t i = 0; i < r.nstate; i++) {
        tensor_reduce_kind kind;
        if (!below[parts[i]]) continue;
        if (!tensor_combined_by(g->op, &r, i, &kind) || kind != REDUCE_SUM) return false;
        seeds[i] = stand_in(x, below[parts[i]]);
    }
    below = gradient_below(g, r.lift, seeds, r.nstate);
    for (uint32_t a = 0; a < r.nargs; a++)
        args[a] = below[given[a]] ? stand_in(x, below[given[a]]) : 0;
    return true;
}

static bool of_user(gradient *g, const tensor_stage *s, const tensor_reducer *r,
                    const tensor_expr *targets, tensor_expr *args) {
    leaves x = {g, s, r, targets, ARENA_ARRAY(g->arena, tensor_expr, r->nstate)};
    for (uint32_t a = 0; r->grad && a < r->nargs; a++)
        args[a] = r->grad[a] ? stand_in(&x, r->grad[a]) : 0;
    if (r->grad || by_parts(&x, args) || gradient_of_choice(g, s, targets, args)) return true;
    diagnostic *d = diag(
        g->ds, E0611, s->at,
        "'%s' has no gradient: reducer '%s' does not say one, and its state is no sum or choice",
        s->name, r->name);
    diag_note(d, g->at, "asked for here");
    diag_help(d, "give the reducer a section `grad (…)`, or stop the gradient: `stop(…)`");
    return false;
}

bool gradient_of_reduction(gradient *g, const tensor_stage *s, const tensor_expr *targets,
                           tensor_expr *args) {
    const tensor_reducer r = g->op->reducers.data[s->reducer];
    if (r.kind == REDUCE_USER) return of_user(g, s, &r, targets, args);
    if (r.kind == REDUCE_SUM) args[0] = targets[0];
    if (r.kind == REDUCE_PROD) args[0] = of_product(g, s, targets[0]);
    if (r.kind == REDUCE_MAX || r.kind == REDUCE_MIN)
        args[0] = of_extreme(g, s, r.kind, targets[0]);
    return true;
}

tensor_expr gradient_of_else(gradient *g, const tensor_stage *s, tensor_expr target) {
    tensor_op *op = g->op;
    tensor_expr one = tensor_int(op, 1),
                n = gradient_beside(g, s, tensor_builtin_reducer(op, REDUCE_SUM, TENSOR_TYPE(I64)),
                                    &one, 1, "count");
    return tensor_select(op, bin(op, TENSOR_EQ_OP, n, tensor_int(op, 0)), target,
                         gradient_zero(op, target), NO_SPAN);
}
