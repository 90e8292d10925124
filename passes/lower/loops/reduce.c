// Reductions as nodes of the plan: they are opened, walked and closed, and computed once more where
// they are not finite. Levels are here too: there a state starts anew.

#include "lower/loops/loops.h"

// ---- Levels -------------------------------------------------------------------------------------
simt_value lw_times_factor(kernel *k, simt_builder *b, const reduction *r, simt_value x) {
    tensor_expr factor = tensor_node_at(k->l->op, k->l->op->stages.data[r->stage].body[0])->args[0];
    ir_dtype held = r->r->state_types[0].type, of = tensor_typeof(k->l->op, factor).type;
    ir_dtype wide = ir_dtype_holds(held, of) ? held : ir_dtype_holds(of, held) ? of : DT_F32;
    simt_element e = lw_value_element(k, wide);
    simt_value f = simt_widen(b, simt_as(b, e, lw_expr(k, b, factor)), r->types[0].lanes);
    return simt_as(b, r->types[0].element, simt_build_binary(b, SIMT_MUL, simt_as(b, e, x), f));
}

static simt_value *copied(kernel *k, const simt_value *x, uint32_t n) {
    simt_value *out = ARENA_ARRAY(k->l->arena, simt_value, n + 1);
    for (uint32_t i = 0; i < n; i++) out[i] = x[i];
    return out;
}

// The state starts anew for the body, and is combined with what it was before.
void lw_level(kernel *k, simt_builder *b, const loop_node *n) {
    simt_value **before = ARENA_ARRAY(k->l->arena, simt_value *, n->nstages + 1);
    for (uint32_t s = 0; s < n->nstages; s++) {
        reduction *r = lw_reduction(k, n->stages[s]);
        simt_value *slot = r->slot;
        before[s] = copied(k, slot, lw_instances(&k->digits, r->copies) * r->n);
        lw_start_states(k, b, r);
        simt_value *fresh = r->slot;
        r->slot = slot;
        for (instance_walk w = lw_walk_begin(&k->digits, r->copies); lw_walk_next(&w);)
            for (uint32_t c = 0, at = lw_instance(&k->digits, r->copies) * r->n; c < r->n; c++)
                slot[at + c] = fresh[at + c];
        r->level = true;
    }
    lw_body(k, b, &n->body);
    for (uint32_t s = 0; s < n->nstages; s++) {
        reduction *r = lw_reduction(k, n->stages[s]);
        r->level = false;
        for (instance_walk w = lw_walk_begin(&k->digits, r->copies); lw_walk_next(&w);) {
            simt_value *x = &r->slot[lw_instance(&k->digits, r->copies) * r->n],
                       *outer = &before[s][lw_instance(&k->digits, r->copies) * r->n];
            x[0] = lw_times_factor(k, b, r, x[0]);
            lw_combine_parts(k, b, r, outer, copied(k, x, r->n), x);
        }
    }
}

// ---- The node -----------------------------------------------------------------------------------
void lw_reduce(kernel *k, simt_builder *b, const loop_node *n) {
    region_mark m = lw_enter(&k->known);
    uint32_t first = k->sums.all.len;
    lw_enter_loops(k, &n->body);
    for (uint32_t i = 0; i < n->nstages; i++) lw_open(k, b, n, n->stages[i]);
    lw_body(k, b, &n->body);
    lw_close_maxima(k, b, n);
    for (uint32_t i = 0; i < n->nstages; i++)
        if (k->sums.all.data[first + i]->open) lw_close(k, b, k->sums.all.data[first + i]);
    if (loop_again(n)) lw_again(k, b, n, &k->sums.all.data[first]);
    lw_leave_loops(k, &n->body);
    lw_leave(&k->known, m);
}
