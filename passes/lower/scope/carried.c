// Loops and branches that carry states: where a body updates states of open reductions, they are
// results of the loop or branch around it.

#include "lower/scope/scope.h"

slot_list lw_slots(kernel *k, const loop_body *body) {
    slot_list out = {0};
    for (uint32_t i = 0; i < k->sums.all.len; i++) {
        reduction *r = k->sums.all.data[i];
        if (!r->open || !loop_contributes(body, r->stage)) continue;
        uint32_t n = lw_instances(&k->digits, r->copies) * r->n;
        for (uint32_t s = 0; s < n; s++) VEC_PUSH(k->l->arena, &out, &r->slot[s]);
        for (uint32_t s = 0; r->lazy.most && s < n; s++)
            VEC_PUSH(k->l->arena, &out, &r->lazy.most[s]);
        for (uint32_t s = 0; r->carry.total && s < n; s++)
            VEC_PUSH(k->l->arena, &out, &r->carry.total[s]);
        for (uint32_t s = 0; s < carry_slots(&r->carry); s++)
            VEC_PUSH(k->l->arena, &out, &r->carry.run[s]);
    }
    return out;
}

simt_value *lw_slot_values(kernel *k, const slot_list *s) {
    simt_value *v = ARENA_ARRAY(k->l->arena, simt_value, s->len + 1);
    for (uint32_t i = 0; i < s->len; i++) v[i] = *s->data[i];
    return v;
}

void lw_slots_set(const kernel *k, const slot_list *s, simt_instr i) {
    for (uint32_t n = 0; n < s->len; n++) *s->data[n] = simt_result(k->f, i, n);
}

simt_instr lw_build_if(kernel *k, simt_builder *b, simt_value c, const loop_node *n,
                       region_body *body, void *user) {
    slot_list slots = lw_slots(k, &n->body);
    simt_value *before = lw_slot_values(k, &slots);
    simt_type *types = ARENA_ARRAY(k->l->arena, simt_type, slots.len + 1);
    for (uint32_t i = 0; i < slots.len; i++) types[i] = simt_typeof(k->f, before[i]);
    simt_builder then, other;
    simt_instr branch = simt_build_if(b, c, types, slots.len, &then, slots.len ? &other : NULL);
    region_mark m = lw_enter(&k->known);
    body(k, &then, n, user);
    lw_leave(&k->known, m);
    simt_build_yield(&then, lw_slot_values(k, &slots), slots.len);
    if (slots.len) simt_build_yield(&other, before, slots.len);
    lw_slots_set(k, &slots, branch);
    return branch;
}
