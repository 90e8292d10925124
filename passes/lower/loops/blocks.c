// Long sums of the host are added up in blocks. One accumulator of f32 errs by as many roundings as
// there are terms, and does not grow beyond 2^24 equal terms. A thread of the host walks a row
// alone, however long it is. So its sum is that of blocks of 4096 rounds, added up in turn. A row
// of one block costs a comparison.
//     for e in lo … hi { s = s + x }
//  →  if hi - lo > 4096 { for each block { t = 0; for e in block { t = t + x }; s = s + t } }
//     else { for e in lo … hi { s = s + x } }

#include "lower/loops/loops.h"

enum { BLOCK_BITS = 12 };   // of the rounds in a block

static bool adds_up(const kernel *k, const reduction *r, uint32_t c) {
    tensor_reduce_kind by;
    if (c >= r->r->nstate || r->types[c].element != SIMT_F32) return false;
    const tensor_node *none = tensor_node_at(k->l->op, r->r->identity[c]);
    return none->op == TENSOR_CONST_OP && none->imm.f == 0 &&
           tensor_combined_by(k->l->op, r->r, c, &by) && by == REDUCE_SUM;
}

// Other sums follow a maximum, or are handed on from run to run.
static bool is_plain(const reduction *r) {
    return r->node->kind == LOOP_REDUCE && !r->lazy.most && !r->level && !r->carry.walk &&
           !r->lazy.scale;
}

slot_list lw_long_sums(kernel *k, const loop_node *n) {
    slot_list out = {0};
    int64_t lo, hi;
    bool known = lw_constant(k->l->op, n->lo, &lo) && lw_constant(k->l->op, n->hi, &hi);
    if (k->l->o->machine->gpu || (known && hi - lo <= INT64_C(1) << BLOCK_BITS)) return out;
    for (uint32_t i = 0; i < k->sums.all.len; i++) {
        reduction *r = k->sums.all.data[i];
        if (!r->open || !is_plain(r) || !loop_contributes(&n->body, r->stage)) continue;
        for (uint32_t s = 0; s < lw_instances(&k->digits, r->copies) * r->n; s++)
            if (adds_up(k, r, s % r->n)) VEC_PUSH(k->l->arena, &out, &r->slot[s]);
    }
    return out;
}

// One block, from its first position.
static void one_block(kernel *k, simt_builder *b, const lower_blocks *x, simt_value at) {
    simt_value left = simt_build_binary(b, SIMT_SUB, x->hi, at),
               most = lw_ix(k, b, (int64_t)x->step << BLOCK_BITS);
    simt_value end = simt_build_binary(b, SIMT_ADD, at, simt_build_binary(b, SIMT_MIN, left, most));
    simt_value *before = lw_slot_values(k, &x->sums);
    for (uint32_t i = 0; i < x->sums.len; i++)
        *x->sums.data[i] = simt_widen(b, simt_build_float(b, SIMT_T(F32), 0),
                                      simt_typeof(k->f, before[i]).lanes);
    x->loop(k, b, x->node, at, end, x->step, x->round);
    for (uint32_t i = 0; i < x->sums.len; i++)
        *x->sums.data[i] = simt_build_binary(b, SIMT_ADD, before[i], *x->sums.data[i]);
}

static void in_blocks(kernel *k, simt_builder *b, const lower_blocks *x, simt_value span) {
    slot_list slots = lw_slots(k, &x->node->body);
    simt_value size = lw_ix(k, b, (int64_t)x->step << BLOCK_BITS), one = lw_ix(k, b, 1);
    simt_value last = simt_build_binary(b, SIMT_UDIV, simt_build_binary(b, SIMT_SUB, span, one),
                                        size);
    simt_instr loop;
    simt_builder in = simt_build_for(b, lw_ix(k, b, 0), simt_build_binary(b, SIMT_ADD, last, one),
                                     one, lw_slot_values(k, &slots), slots.len, &loop);
    k->f->instrs.data[loop].aux = SIMT_LOOP_ROLLED;
    for (uint32_t i = 0; i < slots.len; i++) *slots.data[i] = simt_for_carried(k->f, loop, i);
    region_mark m = lw_enter(&k->known);
    simt_value past = simt_build_binary(&in, SIMT_MUL, simt_for_index(k->f, loop), size);
    one_block(k, &in, x, simt_build_binary(&in, SIMT_ADD, x->lo, past));
    lw_leave(&k->known, m);
    simt_build_yield(&in, lw_slot_values(k, &slots), slots.len);
    lw_slots_set(k, &slots, loop);
}

// One of two branches. Slots that the first one changes are set back for the other.
static void branch_of(kernel *k, simt_builder *b, const lower_blocks *x, simt_value span,
                      const slot_list *slots) {
    region_mark m = lw_enter(&k->known);
    if (span) in_blocks(k, b, x, span);
    else x->loop(k, b, x->node, x->lo, x->hi, x->step, x->round);
    lw_leave(&k->known, m);
    simt_build_yield(b, lw_slot_values(k, slots), slots->len);
}

void lw_in_blocks(kernel *k, simt_builder *b, const lower_blocks *x) {
    slot_list slots = lw_slots(k, &x->node->body);
    simt_value *before = lw_slot_values(k, &slots),
               span = simt_build_binary(b, SIMT_SUB, x->hi, x->lo);
    simt_type *types = ARENA_ARRAY(k->l->arena, simt_type, slots.len);
    for (uint32_t i = 0; i < slots.len; i++) types[i] = simt_typeof(k->f, before[i]);
    simt_value is_long = simt_build_cmp(b, SIMT_GT, span,
                                        lw_ix(k, b, (int64_t)x->step << BLOCK_BITS));
    simt_builder then, other;
    simt_instr branch = simt_build_if(b, is_long, types, slots.len, &then, &other);
    k->f->instrs.data[branch].aux = SIMT_IF_RARE;
    branch_of(k, &then, x, span, &slots);
    for (uint32_t i = 0; i < slots.len; i++) *slots.data[i] = before[i];
    lw_meet_again(k, &other, &x->node->body);
    branch_of(k, &other, x, 0, &slots);
    lw_slots_set(k, &slots, branch);
}
