// That each stage is stored once, or cleared once and then combined.
#include "loop_verify.h"

// From the first one on all are over points of one space, each beginning where another one ends, from 0 on; the last of them.
// NULL: they are not.
static const loop_node *last_of_points(const loop_verifier *v, const store_places *p, uint32_t first) {
    const loop_node *at = NULL;
    for (uint32_t i = first; i < p->loops.len; i++) {
        const loop_node *n = p->loops.data[i];
        int64_t zero = -1;
        if (!n || n->kind != LOOP_FOR || p->from.data[i]) return NULL;
        if (v->op->vars.data[n->var].space != v->op->vars.data[p->loops.data[first]->var].space) return NULL;
        if (loop_constant(v->op, n->lo, &zero) && zero == 0) at = n;
    }
    for (uint32_t left = p->loops.len - first; at && left > 1; left--) {
        const loop_node *after = NULL;
        for (uint32_t i = first; i < p->loops.len; i++)
            if (p->loops.data[i]->lo == at->hi) after = p->loops.data[i];
        at = after;
    }
    return at;
}

// Several kernels store a stage where their outermost loops share its points.
static bool shares_points(const loop_verifier *v, const store_places *p) {
    const loop_node *at = last_of_points(v, p, 0);
    const tensor_node *end = at ? tensor_node_at(v->op, at->hi) : NULL;
    return end && end->op == TENSOR_SIZE_OP && end->imm.i == v->op->vars.data[at->var].space;
}

// Of a prepared table of parts, the map and how long they are.
static const loop_prepared *heads_of(const loop_verifier *v, tensor_space space) {
    for (uint32_t i = 0; i < v->plan->prepared.len; i++) {
        const loop_prepared *r = &v->plan->prepared.data[i];
        if (r->builder == PREPARED_PART_HEADS && v->op->vals.data[r->val].axes[0] == space) return r;
    }
    return NULL;
}

// One stores rows that have one part, which come behind those of rows that are cut, the others the rows that are.
static bool shares_cut_rows(const loop_verifier *v, const store_places *p) {
    const loop_node *parts = p->loops.len ? p->loops.data[0] : NULL, *rows = parts ? last_of_points(v, p, 1) : NULL;
    const loop_prepared *heads = rows ? heads_of(v, v->op->vars.data[rows->var].space) : NULL;
    if (!heads || parts->kind != LOOP_FOR) return false;
    tensor_op *copy = tensor_op_copy(v->scratch, v->op);
    const tensor_node *end = tensor_node_at(v->op, parts->hi);
    return p->from.data[0] == loop_cut_parts(copy, heads->args[0], heads->extent) &&
           rows->hi == loop_cut_rows(copy, heads->args[0], heads->extent) && end->op == TENSOR_SIZE_OP &&
           end->imm.i == v->op->vars.data[parts->var].space &&
           v->op->vals.data[heads->val].into == (tensor_space)end->imm.i;
}

const char *loop_check_stored(loop_verifier *v, uint32_t stage) {
    const char *name = v->op->stages.data[stage].name;
    if (!v->stores[stage] && !loop_stage_inline(v->plan, stage))
        return WRONG(v, "stage '%s' is never stored", name);
    if (v->cleared[stage])
        return v->stores[stage] == 1 + v->combines[stage] && v->combines[stage]
                   ? NULL
                   : WRONG(v, "stage '%s' is cleared, and then stored or never combined", name);
    if (v->stores[stage] < 2 || shares_points(v, &v->places[stage]) ||
        shares_cut_rows(v, &v->places[stage]))
        return NULL;
    return WRONG(v, "stage '%s' is stored by several kernels, whose outermost loops do not share its points",
                 name);
}

void loop_count_stores(loop_verifier *v, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        bool stores = n->kind == LOOP_STORE || n->kind == LOOP_CLEAR || n->kind == LOOP_COMBINE ||
                      (n->kind == LOOP_CARRY && !n->nstates);
        if (stores && n->nstages && n->stages[0] < v->op->stages.len)
            v->all_stores[n->stages[0]]++;
        loop_count_stores(v, &n->body);
    }
}
