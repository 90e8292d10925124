// What does not depend on what is summed stands outside the sum: factors, and the choice of 0 where
// a condition does not hold.
//     sum{c} select(p(v, f), 0, g(v, c) * w(f, c) / q)  →  select(p(v, f), 0, sum{c} g(v, c) * w(f, c)) / q
// So a sum of products stays one, which tensor cores take, and what is costly, such as a random
// number, is made once.
#include "gradient_internal.h"
#include "tensor_guard.h"

typedef VEC(tensor_expr) factors;

typedef struct {
    gradient *g;
    const tensor_var *bound;
    uint32_t nbound;
    factors inside, outside, under;   // products; under: what is divided by
    tensor_expr holds;                // 0: everywhere
    bool negative;
    bool guarded;   // what stands outside is read where all that guards it holds
} splitting;

static bool is_free(const splitting *x, tensor_expr e) {
    for (uint32_t i = 0; i < x->nbound; i++)
        if (tensor_mentions(x->g->op, e, x->bound[i])) return false;
    return true;
}

// The same at all points, and readable at any: what stands outside is under no condition of theirs.
static bool is_movable(const splitting *x, tensor_expr e) {
    return is_free(x, e) && (x->guarded || !tensor_needs_guard(x->g->op, e));
}

// A power of a power has countless factors, though few nodes: what comes after many stays whole.
static bool has_many(const splitting *x) {
    enum { MOST = 64 };
    return x->inside.len + x->outside.len + x->under.len >= MOST;
}

static void split(splitting *x, tensor_expr e) {
    tensor_op *op = x->g->op;
    const tensor_node n = *tensor_node_at(op, e);
    gradient_masked m = gradient_masked_of(op, e);
    if (is_movable(x, e)) VEC_PUSH(x->g->arena, &x->outside, e);
    else if (has_many(x)) VEC_PUSH(x->g->arena, &x->inside, e);
    else if (m.condition && is_movable(x, m.condition)) {
        x->holds = gradient_both(op, x->holds, m.condition);
        split(x, m.value);
    } else if (n.op == TENSOR_MUL_OP) {
        split(x, n.args[0]);
        split(x, n.args[1]);
    } else if (n.op == TENSOR_DIV_OP && is_movable(x, n.args[1])) {
        VEC_PUSH(x->g->arena, &x->under, n.args[1]);
        split(x, n.args[0]);
    } else if (n.op == TENSOR_NEG_OP) {
        x->negative = !x->negative;
        split(x, n.args[0]);
    } else VEC_PUSH(x->g->arena, &x->inside, e);
}

static tensor_expr product(tensor_op *op, tensor_expr by, const factors *all) {
    for (uint32_t i = 0; i < all->len; i++)
        by = by ? gradient_mul(op, by, all->data[i]) : all->data[i];
    return by;
}

gradient_factored gradient_factor(gradient *g, tensor_expr value, const tensor_var *bound,
                                  uint32_t nbound, bool guarded) {
    splitting x = {.g = g, .bound = bound, .nbound = nbound, .guarded = guarded};
    gradient_factored out = {.inside = value};
    split(&x, value);
    bool any = x.outside.len || x.under.len || x.holds || x.negative;
    if (!any || !x.inside.len) return out;   // a sum of what is the same at all points counts them
    out.inside = product(g->op, 0, &x.inside);
    if (x.holds && tensor_needs_guard(g->op, out.inside))   // it stays under it, too
        out.inside = gradient_under(g->op, x.holds, out.inside);
    out.by = product(g->op, 0, &x.outside);
    out.under = product(g->op, 0, &x.under);
    out.holds = x.holds;
    out.negative = x.negative;
    return out;
}

tensor_expr gradient_outside(gradient *g, const gradient_factored *f, tensor_expr sum) {
    tensor_op *op = g->op;
    if (f->by) sum = gradient_mul(op, f->by, sum);
    if (f->under) sum = tensor_binary(op, TENSOR_DIV_OP, sum, f->under, NO_SPAN);
    if (f->negative) sum = tensor_unary(op, TENSOR_NEG_OP, sum, NO_SPAN);
    return f->holds ? gradient_under(op, f->holds, sum) : sum;
}
