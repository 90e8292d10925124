// The adjoint of a value that is read at numbers of an axis, part by part: sums of the same rows
// are one, and each part is a sum of its own, written where it is. So a walk of rows makes all
// parts, and none is held in between.
//     y[v] = sum {e : dst[e] == v} (x[src[e], 0] * c[e] - x[src[e], 1] * s[e])
//  →  dx[u, 0] = sum {e : src[e] == u} (dy[dst[e]] * c[e])
//     dx[u, 1] = sum {e : src[e] == u} (-(dy[dst[e]] * s[e]))
#include "gradient_internal.h"

enum { MOST_PARTS = 16 };

bool gradient_literal(const tensor_op *op, tensor_expr index, int64_t *at) {
    const tensor_node *n = tensor_node_at(op, index);
    if (n->op != TENSOR_INDEX_OP) return false;
    n = tensor_node_at(op, n->args[0]);
    *at = n->imm.i;
    return n->op == TENSOR_CONST_OP && n->type.type == DT_I64;
}

static bool all_parts(const gradient *g, tensor_val of, uint32_t *axis) {
    const gradient_of *x = &g->of[of];
    for (uint32_t i = 0; i < x->terms.len; i++) {
        const gradient_part *p = x->terms.data[i].part;
        if (!p || (i && p->axis != *axis)) return false;
        *axis = p->axis;
    }
    return x->terms.len > 0;
}

// The other stage, in the variables of the first.
static bool renamed(gradient *g, const tensor_stage *first, tensor_stage *other) {
    const tensor_op *op = g->op;
    if (other->nleft != first->nleft || other->nbound != first->nbound ||
        other->nkeys != first->nkeys || other->nfilters != first->nfilters ||
        other->reducer != first->reducer)
        return false;
    tensor_expr *as = ARENA_ARRAY(g->arena, tensor_expr, op->vars.len);
    for (uint32_t i = 0; i < other->nleft + other->nbound; i++) {
        const bool left = i < other->nleft;
        const tensor_var to = left ? first->left[i] : first->bound[i - other->nleft],
                         of = left ? other->left[i] : other->bound[i - other->nleft];
        if (op->vars.data[to].space != op->vars.data[of].space) return false;
        as[of] = tensor_var_expr(g->op, to, NO_SPAN);
    }
    gradient_rewriting r = gradient_rewriting_new(g, g->op, gradient_put_variable, as);
    *other = gradient_rewrite_stage(&r, *other);
    for (uint32_t k = 0; k < other->nkeys; k++)
        if (other->keys[k].lhs != first->keys[k].lhs || other->keys[k].rhs != first->keys[k].rhs)
            return false;
    for (uint32_t k = 0; k < other->nfilters; k++)
        if (other->filters[k] != first->filters[k]) return false;
    return true;
}

// The sum of all terms at one place; false: their rows are not the same. Of none it is 0.
static bool sum_at(gradient *g, tensor_val of, int64_t at, tensor_stage *sum) {
    const gradient_of *x = &g->of[of];
    tensor_expr *body = ARENA_NEW(g->arena, tensor_expr);
    *sum = (tensor_stage){.reducer = TENSOR_NO_REDUCER};
    for (uint32_t i = 0; i < x->terms.len; i++) {
        const gradient_part *p = x->terms.data[i].part;
        tensor_stage st = g->op->stages.data[p->stage];
        if (p->at != at) continue;
        if (!*body) *sum = st;
        else if (!renamed(g, sum, &st)) return false;
        tensor_expr one = st.body[0];
        if (p->negative) one = tensor_unary(g->op, TENSOR_NEG_OP, one, NO_SPAN);
        *body = gradient_add(g->op, *body, one);
    }
    sum->body = body, sum->nbody = 1;
    return true;
}

static void push_part(gradient *g, tensor_val of, tensor_val to, uint32_t axis, int64_t at,
                      tensor_stage s) {
    const tensor_val_info v = g->op->vals.data[of];
    tensor_expr *index = ARENA_ARRAY(g->arena, tensor_expr, v.rank + 1), *body;
    tensor_var *left = ARENA_ARRAY(g->arena, tensor_var, v.rank + 1);
    const bool none = s.reducer == TENSOR_NO_REDUCER;
    const tensor_var *axes = none ? gradient_axes(g, of) : NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < v.rank; i++) {
        if (i == axis) {
            index[i] = tensor_index(g->op, v.axes[i], tensor_int(g->op, at), NO_SPAN);
            continue;
        }
        left[n] = none ? axes[i] : s.left[n];
        index[i] = tensor_var_expr(g->op, left[n++], NO_SPAN);
    }
    if (none) {
        body = ARENA_NEW(g->arena, tensor_expr);
        *body = tensor_float(g->op, tensor_type_of_storage(v.type, v.into).type, 0);
        s.body = body;
    }
    tensor_target *t = ARENA_NEW(g->arena, tensor_target);
    *t = (tensor_target){to, v.rank, index};
    s.targets = t, s.ntargets = 1;
    s.left = left, s.nleft = n;
    s.name = gradient_name(g, g->op->vals.data[to].name,
                           arena_printf(g->arena, "%lld", (long long)at));
    gradient_push(g, s);
}

bool gradient_push_parts(gradient *g, tensor_val of, tensor_val to) {
    uint32_t axis = 0;
    if (!all_parts(g, of, &axis)) return false;
    const tensor_val_info v = g->op->vals.data[of], *out = &g->op->vals.data[to];
    const tensor_space_info space = g->op->spaces.data[v.axes[axis]];
    if (space.kind != SPACE_CONST || space.size > MOST_PARTS) return false;
    if (out->role == VAL_STAGE && ir_dtype_is_narrow(out->type)) return false;   // it is rounded
    tensor_stage *sums = ARENA_ARRAY(g->arena, tensor_stage, (uint32_t)space.size + 1);
    for (int64_t at = 0; at < space.size; at++)
        if (!sum_at(g, of, at, &sums[at])) return false;
    for (int64_t at = 0; at < space.size; at++) push_part(g, of, to, axis, at, sums[at]);
    return true;
}
