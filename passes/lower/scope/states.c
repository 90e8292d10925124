// Reductions in scope: their states, the cells of those that matrix operations sum, and maxima that
// are read while they are found.

#include "lower/scope/scope.h"

// ---- Open reductions ----------------------------------------------------------------------------
reduction *lw_reduction(kernel *k, uint32_t stage) {
    for (uint32_t i = k->sums.all.len; i-- > 0;)
        if (k->sums.all.data[i]->stage == stage) return k->sums.all.data[i];
    ICE("'%s': no state of %s is known here", k->plan->name, k->l->op->stages.data[stage].name);
}

tensor_expr lw_lifted(const tensor_op *op, const reduction *r, uint32_t i) {
    tensor_expr e = op->stages.data[r->stage].body[i];
    return r->level ? tensor_node_at(op, e)->args[1] : e;
}

static const loop_node *innermost(const lower_sums *sums) {
    uint32_t i = sums->all.len;
    while (i > 0 && !sums->all.data[i - 1]->open) i--;
    return i ? sums->all.data[i - 1]->node : NULL;
}

const loop_node *lw_products(const lower_sums *sums) {
    const loop_node *n = innermost(sums);
    return n && n->reduce.matrix ? n : NULL;
}

void lw_add_cell(kernel *k, tensor_expr condition) {
    const loop_node *n = innermost(&k->sums);
    for (uint32_t i = 0; i < k->sums.all.len; i++)
        if (k->sums.all.data[i]->node == n)
            VEC_PUSH(k->l->arena, &k->sums.all.data[i]->cells, condition);
}

void lw_take_cell(lower_sums *sums) {
    const loop_node *n = innermost(sums);
    for (uint32_t i = 0; i < sums->all.len; i++)
        if (sums->all.data[i]->node == n) sums->all.data[i]->cells.len--;
}

// ---- Maxima found on the run --------------------------------------------------------------------
tensor_val lw_target_of(const tensor_op *op, uint32_t stage) {
    return op->stages.data[stage].targets[0].val;
}

bool lw_is_online(const loop_node *n, uint32_t stage) {
    for (uint32_t i = 0; i < n->reduce.nmaxima; i++)
        if (n->reduce.maxima[i].stage == stage) return true;
    return false;
}

static reduction *running(const kernel *k, const tensor_node *load) {
    for (uint32_t i = k->sums.all.len; load->op == TENSOR_LOAD_OP && i-- > 0;) {
        reduction *r = k->sums.all.data[i];
        if (lw_is_online(r->node, r->stage) &&
            lw_target_of(k->l->op, r->stage) == (tensor_val)load->imm.i)
            return r;
    }
    return NULL;
}

axis_set lw_running_axes(const kernel *k, const tensor_node *load) {
    const reduction *r = running(k, load);
    return r ? r->copies | (r->types[0].lanes > 1 ? AXIS(k->digits.vector) : 0) : 0;
}

simt_value lw_running(kernel *k, simt_builder *b, const tensor_node *load) {
    const reduction *r = running(k, load);
    if (!r) return 0;
    simt_value x = r->slot[lw_instance(&k->digits, r->copies) * r->n];
    bool lane = r->types[0].lanes > 1 && k->digits.at[k->digits.vector] >= 0;
    return lane ? simt_pick(b, x, (uint32_t)k->digits.at[k->digits.vector]) : x;
}
