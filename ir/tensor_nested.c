// A sum of products that another sum adds up is the product of two matrices, where it has the
// indices of both. Its adjoint lacks the outer index.
//     g[e, f, q] = sum {k:K} (c[f, k, q] * b[e, f, k])
//     m[e, q] = sum {f:F} (w[f, q] * s[e, f] + g[e, f, q])
//  →  g[e, q] = sum {f:F, k:K} (c[f, k, q] * b[e, f, k])
//     m.rest[e, q] = sum {f:F} (w[f, q] * s[e, f])
//     m[e, q] = m.rest[e, q] + g[e, q]
#include "tensor_nested.h"
#include "tensor_build.h"
#include "tensor_hoist.h"
#include "tensor_id.h"

enum { MOST_ADDENDS = 16 };

// ---- Which --------------------------------------------------------------------------------------
static uint32_t place_in(const tensor_var *vars, uint32_t n, tensor_var v) {
    uint32_t i = 0;
    while (i < n && vars[i] != v) i++;
    return i;
}

// Each index of the stage stands in one place of it, and nothing else does.
static bool has_all_indices(const tensor_op *op, const tensor_node *load, const tensor_stage *st) {
    uint32_t left = 0, bound = 0;
    for (uint32_t i = 0; i < load->nargs; i++) {
        const tensor_node *at = tensor_node_at(op, load->args[i]);
        if (at->op != TENSOR_VAR_OP) return false;
        for (uint32_t k = 0; k < i; k++)
            if (load->args[k] == load->args[i]) return false;
        left += place_in(st->left, st->nleft, (tensor_var)at->imm.i) < st->nleft;
        bound += place_in(st->bound, st->nbound, (tensor_var)at->imm.i) < st->nbound;
    }
    return left == st->nleft && bound == st->nbound && load->nargs == left + bound;
}

static bool reads(const tensor_op *op, const tensor_stage *st, tensor_val v) {
    bool any = false;
    for (uint32_t i = 0; i < st->nbody; i++) any |= tensor_loads(op, st->body[i], v);
    for (uint32_t i = 0; i < st->nfilters; i++) any |= tensor_loads(op, st->filters[i], v);
    for (uint32_t i = 0; i < st->nelse; i++) any |= tensor_loads(op, st->orelse[i], v);
    for (uint32_t i = 0; i < st->nkeys; i++)
        any |= tensor_loads(op, st->keys[i].lhs, v) || tensor_loads(op, st->keys[i].rhs, v);
    for (uint32_t t = 0; t < st->ntargets; t++)
        for (uint32_t i = 0; i < st->targets[t].rank; i++)
            any |= tensor_loads(op, st->targets[t].index[i], v);
    return any;
}

// The stage before it that the term is all there is of; the number of the stage itself: none.
static uint32_t inner_of(const tensor_op *op, uint32_t stage, tensor_expr term) {
    const tensor_node *n = tensor_node_at(op, term);
    const tensor_stage *outer = &op->stages.data[stage];
    uint32_t inner = stage;
    if (n->op != TENSOR_LOAD_OP || !has_all_indices(op, n, outer)) return stage;
    const tensor_val v = (tensor_val)n->imm.i;
    if (op->vals.data[v].role != VAL_STAGE ||
        op->vals.data[v].type != op->vals.data[outer->targets[0].val].type)
        return stage;
    for (uint32_t i = 0; i < op->stages.len; i++) {
        const tensor_stage *st = &op->stages.data[i];
        for (uint32_t t = 0; t < st->ntargets; t++)
            if (st->targets[t].val == v) inner = i < stage && inner == stage ? i : op->stages.len;
        if (i != stage && reads(op, st, v)) return stage;
    }
    return inner < stage && tensor_sums_dense(op, &op->stages.data[inner]) ? inner : stage;
}

// ---- One sum ------------------------------------------------------------------------------------
// A value of the same name, as expressions that nothing has any more still read the old one.
static tensor_val renewed(tensor_op *op, tensor_val of, const tensor_space *axes, uint32_t rank) {
    tensor_val_info i = op->vals.data[of];
    op->vals.data[of].name = tensor_free_name(op, i.name);
    i.axes = axes, i.rank = rank;
    return tensor_add_val(op, i);
}

// The inner sum with the outer one's left side, which takes its reduced indices.
static tensor_stage widened(tensor_op *op, uint32_t inner, const tensor_stage *outer,
                            tensor_expr term) {
    tensor_stage st = op->stages.data[inner];
    const tensor_node *load = tensor_node_at(op, term);
    const uint32_t n = outer->nleft;
    tensor_var *left = ARENA_ARRAY(op->arena, tensor_var, n + 1),
               *bound = ARENA_ARRAY(op->arena, tensor_var, outer->nbound + st.nbound + 1);
    for (uint32_t i = 0; i < load->nargs; i++) {
        const tensor_var own = (tensor_var)tensor_node_at(op, st.targets[0].index[i])->imm.i,
                         of = (tensor_var)tensor_node_at(op, load->args[i])->imm.i;
        const uint32_t at = place_in(outer->left, n, of);
        if (at < n) left[at] = own;
        else bound[place_in(outer->bound, outer->nbound, of)] = own;
    }
    for (uint32_t i = 0; i < st.nbound; i++) bound[outer->nbound + i] = st.bound[i];
    st.left = left, st.nleft = n;
    st.bound = bound, st.nbound += outer->nbound;
    return st;
}

// In the inner one's place; what the outer one reads of it.
static tensor_expr put_widened(tensor_op *op, uint32_t inner, tensor_stage st,
                               const tensor_stage *outer) {
    const uint32_t n = st.nleft;
    tensor_expr *index = ARENA_ARRAY(op->arena, tensor_expr, n + 1),
                *here = ARENA_ARRAY(op->arena, tensor_expr, n + 1);
    tensor_space *axes = ARENA_ARRAY(op->arena, tensor_space, n + 1);
    tensor_target *to = ARENA_NEW(op->arena, tensor_target);
    for (uint32_t i = 0; i < n; i++) {
        index[i] = tensor_var_expr(op, st.left[i], NO_SPAN);
        here[i] = tensor_var_expr(op, outer->left[i], NO_SPAN);
        axes[i] = op->vars.data[st.left[i]].space;
    }
    *to = (tensor_target){renewed(op, st.targets[0].val, axes, n), n, index};
    st.targets = to;
    op->stages.data[inner] = st;
    return tensor_load(op, to->val, here, n, outer->at);
}

// What is left of it, in a stage before it.
static tensor_expr add_rest(tensor_op *op, uint32_t stage, tensor_expr terms) {
    const tensor_stage of = op->stages.data[stage];
    const tensor_val_info *was = &op->vals.data[of.targets[0].val];
    tensor_space *axes = ARENA_ARRAY(op->arena, tensor_space, of.nleft + 1);
    tensor_expr *index = ARENA_ARRAY(op->arena, tensor_expr, of.nleft + 1),
                *body = ARENA_NEW(op->arena, tensor_expr);
    tensor_target *to = ARENA_NEW(op->arena, tensor_target);
    tensor_stage st = of;
    for (uint32_t i = 0; i < of.nleft; i++) {
        axes[i] = op->vars.data[of.left[i]].space;
        index[i] = tensor_var_expr(op, of.left[i], NO_SPAN);
    }
    st.name = tensor_free_name(op, arena_printf(op->arena, "%s.rest", of.name));
    st.id = tensor_id_of_path(op->ids, st.name);
    *to = (tensor_target){tensor_add_val(op, (tensor_val_info){.name = st.name,
                                                               .role = VAL_STAGE,
                                                               .type = was->type,
                                                               .into = TENSOR_NO_SPACE,
                                                               .sorted_by = TENSOR_NO_VAL,
                                                               .inplace = TENSOR_NO_VAL,
                                                               .rank = of.nleft,
                                                               .axes = axes,
                                                               .at = of.at}),
                          of.nleft, index};
    *body = terms;
    st.targets = to, st.body = body;
    tensor_put_stage(op, stage, st);
    return tensor_load(op, to->val, index, of.nleft, of.at);
}

static bool is_read_again(const tensor_op *op, uint32_t inner, const tensor_addend *all,
                          uint32_t n) {
    uint32_t reads = 0;
    for (uint32_t i = 0; i < n; i++)
        reads += tensor_loads(op, all[i].of, op->stages.data[inner].targets[0].val);
    return reads > 1;
}

static bool merge(tensor_op *op, uint32_t *stage) {
    tensor_addend all[MOST_ADDENDS], sums[MOST_ADDENDS];
    uint32_t nsums = 0;
    tensor_expr rest = 0, *body = ARENA_NEW(op->arena, tensor_expr);
    const tensor_stage outer = op->stages.data[*stage];
    const uint32_t n = tensor_addends(op, outer.body[0], all, MOST_ADDENDS);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t inner = inner_of(op, *stage, all[i].of);
        tensor_stage st = {0};
        bool is = inner < *stage && !is_read_again(op, inner, all, n);
        if (is) st = widened(op, inner, &outer, all[i].of);
        is = is && tensor_is_with_matrix(op, &st, st.body[0]);
        if (is) sums[nsums++] = (tensor_addend){put_widened(op, inner, st, &outer), all[i].minus};
        else rest = tensor_add_addend(op, rest, all[i]);
    }
    if (!nsums) return false;
    *body = rest ? add_rest(op, (*stage)++, rest) : 0;
    for (uint32_t i = 0; i < nsums; i++) *body = tensor_add_addend(op, *body, sums[i]);
    tensor_stage st = outer;
    st.body = body;
    st.reducer = TENSOR_NO_REDUCER;
    st.nbound = 0;
    op->stages.data[*stage] = st;
    return true;
}

bool tensor_merge_sums(tensor_op *op) {
    bool any = false;
    for (uint32_t i = 0; i < op->stages.len; i++)
        if (tensor_sums_dense(op, &op->stages.data[i])) any |= merge(op, &i);
    return any;
}
