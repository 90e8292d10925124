// A factor of a product's terms that takes a maths function, or many operations, and lacks an index
// of the results, is a stage of its own: else each result computes it again.
//     h[e, f] = sum {k:K} (exp(-(r[e] - mu[k])) * w[k, f])
//  →  h.factor[e, k] = exp(-(r[e] - mu[k]))
//     h[e, f] = sum {k:K} (h.factor[e, k] * w[k, f])
#include "tensor_factor.h"
#include "tensor_build.h"
#include "tensor_id.h"

enum {
    MOST_INDICES = 8,
    FEW = 4,   // results that may each compute it
    MANY = 8   // operations that take longer than to read what they give
};
// What is found out of an expression: a bit for each index of the stage that it mentions, and
enum { TAKES_MATHS = 1 << MOST_INDICES, FOUND_OUT = 2 << MOST_INDICES };

typedef struct {
    tensor_op *op;
    uint32_t stage;     // whose terms they are
    uint16_t *found;    // per expression
    tensor_expr *put;   // per expression: what stands in its place; 0: not asked yet
    bool any;
} factoring;

static const tensor_stage *stage_at(const factoring *f) { return &f->op->stages.data[f->stage]; }

static tensor_var index_at(const tensor_stage *st, uint32_t i) {
    return i < st->nleft ? st->left[i] : st->bound[i - st->nleft];
}

// ---- Which --------------------------------------------------------------------------------------
static uint16_t find_out(factoring *f, tensor_expr e) {
    const tensor_node *n = tensor_node_at(f->op, e);
    const tensor_stage *st = stage_at(f);
    if (f->found[e]) return f->found[e];
    uint32_t found = 0;
    for (uint32_t i = 0; i < n->nargs; i++) found |= find_out(f, n->args[i]);
    if (n->op == TENSOR_LOAD_OP) found &= ~(uint32_t)TAKES_MATHS;   // in an index
    if (tensor_maths_of(n->op)) found |= TAKES_MATHS;
    for (uint32_t i = 0; i < st->nleft + st->nbound && n->op == TENSOR_VAR_OP; i++)
        if ((tensor_var)n->imm.i == index_at(st, i)) found |= 1u << i;
    return f->found[e] = (uint16_t)(found | FOUND_OUT);
}

static bool is_few(const tensor_op *op, tensor_var v) {
    const tensor_space_info *s = &op->spaces.data[op->vars.data[v].space];
    return s->kind == SPACE_CONST && s->size <= FEW;
}

// Operations of numbers, at most MANY; those of indices are not looked at.
static uint32_t operations(const tensor_op *op, tensor_expr e, uint8_t *seen) {
    const tensor_node *n = tensor_node_at(op, e);
    if (seen[e] || n->op == TENSOR_LOAD_OP || !n->nargs) return 0;
    seen[e] = 1;
    uint32_t all = n->op != TENSOR_CVT_OP;
    for (uint32_t i = 0; i < n->nargs && all < MANY; i++) all += operations(op, n->args[i], seen);
    return all;
}

static bool takes_many(factoring *f, tensor_expr factor) {
    uint8_t *seen = ARENA_ARRAY(f->op->arena, uint8_t, f->op->exprs.len);
    return operations(f->op, factor, seen) >= MANY;
}

static bool is_worth(factoring *f, tensor_expr factor) {
    const tensor_stage *st = stage_at(f);
    const uint32_t found = find_out(f, factor);
    bool lacks = false, reduced = false;
    for (uint32_t i = 0; i < st->nleft; i++)
        lacks |= !(found >> i & 1) && !is_few(f->op, st->left[i]);
    for (uint32_t i = 0; i < st->nbound; i++) reduced |= found >> (st->nleft + i) & 1;
    return lacks && reduced && (found & TAKES_MATHS || takes_many(f, factor));
}

static bool adds(const tensor_node *n) {
    return n->op == TENSOR_ADD_OP || n->op == TENSOR_SUB_OP || n->op == TENSOR_NEG_OP;
}

static bool sums_products(const tensor_op *op, const tensor_stage *st) {
    return st->reducer != TENSOR_NO_REDUCER && st->loop == TENSOR_NO_LOOP && !st->nkeys &&
           !st->nfilters && st->nbody == 1 && st->nleft + st->nbound <= MOST_INDICES &&
           op->reducers.data[st->reducer].kind == REDUCE_SUM &&
           (tensor_node_at(op, st->body[0])->op == TENSOR_MUL_OP ||
            adds(tensor_node_at(op, st->body[0]))) &&
           ir_dtype_is_float(tensor_typeof(op, st->body[0]).type);
}

// ---- The stage ----------------------------------------------------------------------------------
static tensor_val add_value(factoring *f, tensor_expr factor, const tensor_space *axes,
                            uint32_t rank) {
    const tensor_stage *st = stage_at(f);
    const char *name = tensor_free_name(f->op, arena_printf(f->op->arena, "%s.factor", st->name));
    return tensor_add_val(f->op, (tensor_val_info){.name = name,
                                                   .role = VAL_STAGE,
                                                   .type = tensor_typeof(f->op, factor).type,
                                                   .into = TENSOR_NO_SPACE,
                                                   .sorted_by = TENSOR_NO_VAL,
                                                   .inplace = TENSOR_NO_VAL,
                                                   .rank = rank,
                                                   .axes = axes,
                                                   .at = st->at});
}

static tensor_expr store(factoring *f, tensor_expr factor) {
    tensor_op *op = f->op;
    const tensor_stage st = *stage_at(f);
    tensor_var *vars = ARENA_ARRAY(op->arena, tensor_var, MOST_INDICES);
    tensor_space *axes = ARENA_ARRAY(op->arena, tensor_space, MOST_INDICES);
    tensor_expr *index = ARENA_ARRAY(op->arena, tensor_expr, MOST_INDICES),
                *body = ARENA_NEW(op->arena, tensor_expr);
    uint32_t n = 0;
    for (uint32_t i = 0; i < st.nleft + st.nbound; i++) {
        if (!(find_out(f, factor) >> i & 1)) continue;
        vars[n] = index_at(&st, i);
        axes[n] = op->vars.data[vars[n]].space;
        index[n] = tensor_var_expr(op, vars[n], st.at);
        n++;
    }
    *body = factor;
    tensor_target *to = ARENA_NEW(op->arena, tensor_target);
    *to = (tensor_target){add_value(f, factor, axes, n), n, index};
    const char *name = op->vals.data[to->val].name;
    tensor_put_stage(op, f->stage++,
                     (tensor_stage){.name = name,
                                    .id = tensor_id_of_path(op->ids, name),
                                    .ntargets = 1,
                                    .targets = to,
                                    .nleft = n,
                                    .left = vars,
                                    .reducer = TENSOR_NO_REDUCER,
                                    .nbody = 1,
                                    .body = body,
                                    .loop = TENSOR_NO_LOOP,
                                    .at = st.at});
    f->any = true;
    return tensor_load(op, to->val, index, n, st.at);
}

static tensor_expr factored(factoring *f, tensor_expr e) {
    const tensor_node n = *tensor_node_at(f->op, e);
    if (f->put[e]) return f->put[e];
    tensor_expr to = e;
    if (n.op == TENSOR_MUL_OP) {
        tensor_expr x = factored(f, n.args[0]), y = factored(f, n.args[1]);
        bool same = x == n.args[0] && y == n.args[1];
        if (!same) to = tensor_binary(f->op, TENSOR_MUL_OP, x, y, n.at);
    } else if (is_worth(f, e)) {
        to = store(f, e);
    }
    return f->put[e] = to;
}

// Of a product, or of what adds up such.
static tensor_expr terms(factoring *f, tensor_expr e) {
    tensor_node n = *tensor_node_at(f->op, e);
    if (n.op == TENSOR_MUL_OP) return factored(f, e);
    if (!adds(&n)) return e;
    tensor_expr args[2];
    bool same = true;
    for (uint32_t i = 0; i < n.nargs; i++) {
        args[i] = terms(f, n.args[i]);
        same &= args[i] == n.args[i];
    }
    if (same) return e;
    return n.nargs == 1 ? tensor_unary(f->op, n.op, args[0], n.at)
                        : tensor_binary(f->op, n.op, args[0], args[1], n.at);
}

bool tensor_split_factors(tensor_op *op) {
    bool any = false;
    for (uint32_t i = 0; i < op->stages.len; i++) {
        if (!sums_products(op, &op->stages.data[i])) continue;
        const uint32_t n = op->exprs.len;
        factoring f = {.op = op,
                       .stage = i,
                       .found = ARENA_ARRAY(op->arena, uint16_t, n),
                       .put = ARENA_ARRAY(op->arena, tensor_expr, n)};
        tensor_expr *body = ARENA_NEW(op->arena, tensor_expr);
        *body = terms(&f, op->stages.data[i].body[0]);
        i = f.stage;
        if (f.any) op->stages.data[i].body = body;
        any |= f.any;
    }
    return any;
}
