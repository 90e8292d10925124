// The adjoints of what a reducer chooses: where each part of its state is one of its arguments, as
// the two largest are, the point that was chosen has the adjoint of the whole. Beside each part goes
// the number of the point it came from, -1 of a constant. Of equals the first is the larger one, so
// `max` and `min` of two never choose the same.
//     combine (max(p, p'), max(min(p, p'), max(q, q')))
//  →  dx[n] = (at.p == n ? da : 0) + (at.q == n ? db : 0)
#include "gradient_internal.h"

#include <string.h>

typedef struct {
    gradient *g;
    const tensor_reducer *r;
    bool failed;   // something else than a choice
} choosing;

static tensor_expr bin(tensor_op *op, tensor_opcode o, tensor_expr x, tensor_expr y) {
    return tensor_binary(op, o, x, y, NO_SPAN);
}

static tensor_expr number_leaf(tensor_op *op, tensor_opcode o, uint32_t i) {
    return tensor_node_new(op,
                           (tensor_node){.op = (uint16_t)o, .type = TENSOR_TYPE(I64), .imm.i = i});
}

// Of a point's argument.
static tensor_expr number_of(gradient *g, const tensor_reducer *r, tensor_expr place, uint32_t a) {
    tensor_op *op = g->op;
    if (r->nargs == 1) return place;
    return bin(op, TENSOR_ADD_OP, bin(op, TENSOR_MUL_OP, place, tensor_int(op, r->nargs)),
               tensor_int(op, a));
}

// Whether that of the number i stands before that of k; none is last.
static tensor_expr before(tensor_op *op, tensor_expr i, tensor_expr k) {
    tensor_expr none = tensor_int(op, -1),
                less = bin(op, TENSOR_OR_OP, bin(op, TENSOR_EQ_OP, k, none),
                           bin(op, TENSOR_LT_OP, i, k));
    return bin(op, TENSOR_AND_OP, bin(op, TENSOR_NE_OP, i, none), less);
}

static tensor_expr from(choosing *c, tensor_expr e);

static tensor_expr from_extreme(choosing *c, const tensor_node *n) {
    tensor_op *op = c->g->op;
    const bool most = n->op == TENSOR_MAX_OP;
    const tensor_opcode better = most ? TENSOR_GT_OP : TENSOR_LT_OP;
    tensor_expr x = n->args[0], y = n->args[1], i = from(c, x), k = from(c, y);
    if (c->failed) return 0;
    tensor_expr first = gradient_beats(op, better, x, y), second = gradient_beats(op, better, y, x),
                equal = most ? before(op, i, k) : before(op, k, i);
    tensor_expr left = bin(
        op, TENSOR_OR_OP, first,
        bin(op, TENSOR_AND_OP, tensor_unary(op, TENSOR_NOT_OP, second, NO_SPAN), equal));
    return tensor_select(op, left, i, k, NO_SPAN);
}

// The number of the point that an expression of the reducer came from.
static tensor_expr from(choosing *c, tensor_expr e) {
    tensor_op *op = c->g->op;
    const tensor_node n = *tensor_node_at(op, e);
    const uint32_t i = (uint32_t)n.imm.i;
    if (c->failed) return 0;
    if (n.op == TENSOR_CONST_OP || !tensor_type_is_float(n.type)) return tensor_int(op, -1);
    switch ((tensor_opcode)n.op) {
    case TENSOR_ARG_OP:
        return number_of(c->g, c->r, number_leaf(op, TENSOR_ARG_OP, c->r->nargs), i);
    case TENSOR_LEFT_OP:
    case TENSOR_RIGHT_OP: return number_leaf(op, (tensor_opcode)n.op, c->r->nstate + i);
    case TENSOR_MAX_OP:
    case TENSOR_MIN_OP: return from_extreme(c, &n);
    case TENSOR_SELECT_OP: {
        tensor_expr x = from(c, n.args[1]), y = from(c, n.args[2]);
        return c->failed ? 0 : tensor_select(op, n.args[0], x, y, NO_SPAN);
    }
    default: c->failed = true; return 0;
    }
}

// Expressions, and behind them the numbers of the points that they came from.
static const tensor_expr *with_numbers(choosing *c, const tensor_expr *e, uint32_t n) {
    tensor_expr *out = ARENA_ARRAY(c->g->arena, tensor_expr, 2 * n + 1);
    for (uint32_t i = 0; i < n; i++) {
        out[i] = e[i];
        out[n + i] = from(c, e[i]);
    }
    return out;
}

static const tensor_type *types_with(gradient *g, const tensor_type *types, uint32_t n,
                                     uint32_t more) {
    tensor_type *out = ARENA_ARRAY(g->arena, tensor_type, n + more + 1);
    for (uint32_t i = 0; i < n + more; i++) out[i] = i < n ? types[i] : TENSOR_TYPE(I64);
    return out;
}

// (arguments, place) → where one of the results came from; UINT32_MAX: it is no choice.
static uint32_t from_reducer(gradient *g, const tensor_reducer *of, uint32_t result) {
    const char *name = arena_printf(g->arena, "%s.from%u", of->name, (unsigned)result);
    for (uint32_t i = 0; i < g->op->reducers.len; i++)
        if (!strcmp(g->op->reducers.data[i].name, name)) return i;
    choosing c = {.g = g, .r = of};
    tensor_reducer r = *of;
    tensor_expr *finish = ARENA_NEW(g->arena, tensor_expr);
    tensor_type *number = ARENA_NEW(g->arena, tensor_type);
    *number = TENSOR_TYPE(I64);
    r.name = name;
    r.kind = REDUCE_USER;
    r.nargs = of->nargs + 1;
    r.arg_types = types_with(g, of->arg_types, of->nargs, 1);
    r.nstate = 2 * of->nstate;
    r.state_types = types_with(g, of->state_types, of->nstate, of->nstate);
    r.nresults = 1;
    r.result_types = number;
    r.identity = with_numbers(&c, of->identity, of->nstate);
    r.lift = with_numbers(&c, of->lift, of->nstate);
    r.combine = with_numbers(&c, of->combine, of->nstate);
    *finish = from(&c, of->finish[result]);
    r.finish = finish;
    r.grad = NULL;
    if (c.failed) return UINT32_MAX;
    VEC_PUSH(g->arena, &g->op->reducers, r);
    return g->op->reducers.len - 1;
}

bool gradient_of_choice(gradient *g, const tensor_stage *s, const tensor_expr *targets,
                        tensor_expr *args) {
    const tensor_reducer r = g->op->reducers.data[s->reducer];
    tensor_expr *body = ARENA_ARRAY(g->arena, tensor_expr, r.nargs + 1);
    for (uint32_t a = 0; a < r.nargs; a++) body[a] = s->body[a], args[a] = 0;
    body[r.nargs] = gradient_place(g, s);
    for (uint32_t t = 0; t < r.nresults; t++) {
        if (!targets[t]) continue;
        const uint32_t by = from_reducer(g, &r, t);
        if (by == UINT32_MAX) return false;
        const char *suffix = arena_printf(g->arena, "from%u", (unsigned)t);
        tensor_expr at = gradient_beside(g, s, by, body, r.nargs + 1, suffix);
        for (uint32_t a = 0; a < r.nargs; a++) {
            if (!tensor_type_is_float(r.arg_types[a])) continue;
            tensor_expr is = bin(g->op, TENSOR_EQ_OP, number_of(g, &r, body[r.nargs], a), at),
                        one = tensor_select(g->op, is, targets[t], gradient_zero(g->op, targets[t]),
                                            NO_SPAN);
            args[a] = gradient_add(g->op, args[a], one);
        }
    }
    return true;
}
