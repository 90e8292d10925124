// Eights are eight numbers of 16 bits side by side in memory, of which four lanes have two each, as
// matrix operations hold them. An access of one lane would have four bytes. So the four lanes
// exchange words, until each has a whole eight, of 16 bytes: of eight c lane l had word l, and now
// has the words of eight l. The exchange is its own inverse.
//     y[v, d] for d … [register 2, lane 4, register 4, …]  →  w = shfl.bfly …  st f16x8 y + …, w

#include "lower/values/values.h"

enum { PAIR = 2, LANES = 4, WORDS = LOOP_EIGHT / PAIR };

// ---- Which --------------------------------------------------------------------------------------
bool lw_in_eights(kernel *k, tensor_val v, const tensor_expr *index, uint32_t rank,
                  lower_eights *r) {
    bool may = k->l->plan->together && rank >= 2 && v < k->l->op->nparams &&
               k->plan->lanes == LOWER_WARP && k->l->plan->values.data[v].home == LOOP_MEMORY;
    *r = (lower_eights){.loop = may ? lw_loop_over(k, index[rank - 1]) : NULL};
    r->n = r->loop ? loop_in_eights(k->l->op, v, r->loop) : 0;
    if (!r->n) return false;
    r->axes = AXIS(lw_axis(k, r->loop, 0));
    for (r->digits = 2;
         r->digits < r->loop->ndigits && r->loop->digits[r->digits].place == LOOP_REGISTER_PLACE;
         r->digits++)
        r->axes |= AXIS(lw_axis(k, r->loop, r->digits));
    for (uint32_t i = 0; i + 1 < rank; i++)
        if (lw_depends(k, index[i]) & r->axes) return false;
    for (uint32_t i = 0; i < k->scope.masks.len; i++)
        if (loop_has_padding(k->l->op, k->scope.masks.data[i].node)) return false;
    return true;
}

static void stand_at(kernel *k, const lower_eights *r, uint32_t eight, uint32_t one) {
    k->digits.at[lw_axis(k, r->loop, 0)] = (int32_t)one;
    for (uint32_t d = 2; d < r->digits; eight /= r->loop->digits[d++].extent)
        k->digits.at[lw_axis(k, r->loop, d)] = (int32_t)(eight % r->loop->digits[d].extent);
}

static bool stands_at(kernel *k, const lower_eights *r, uint32_t *eight, uint32_t *one) {
    int32_t at = k->digits.at[lw_axis(k, r->loop, 0)];
    uint32_t weight = 1;
    if (at < 0) return false;
    *one = (uint32_t)at;
    *eight = 0;
    for (uint32_t d = 2; d < r->digits; weight *= r->loop->digits[d++].extent) {
        if ((at = k->digits.at[lw_axis(k, r->loop, d)]) < 0) return false;
        *eight += (uint32_t)at * weight;
    }
    return true;
}

static void stand_nowhere(kernel *k, const lower_eights *r) {
    k->digits.at[lw_axis(k, r->loop, 0)] = -1;
    for (uint32_t d = 2; d < r->digits; d++) k->digits.at[lw_axis(k, r->loop, d)] = -1;
}

// ---- Changing places ----------------------------------------------------------------------------
static simt_value bit_of(kernel *k, simt_builder *b, uint32_t mask) {
    return simt_build_cmp(b, SIMT_NE, simt_build_with(b, SIMT_AND, k->thread.lane, mask),
                          simt_build_int(b, SIMT_T(I32), 0));
}

// Two lanes have two words each. The upper lane gives its first word for the second word of the
// lower lane.
static void change(kernel *k, simt_builder *b, simt_value *x, simt_value *y, uint32_t mask) {
    simt_value upper = bit_of(k, b, mask),
               other = lw_exchanged(b, simt_build_select(b, upper, *x, *y),
                                    simt_build_int(b, SIMT_T(I32), mask));
    *x = simt_build_select(b, upper, other, *x);
    *y = simt_build_select(b, upper, *y, other);
}

static void change_places(kernel *k, simt_builder *b, simt_value *word) {
    for (uint32_t mask = 1; mask < LANES; mask *= 2)
        for (uint32_t i = 0; i < WORDS; i++)
            if (!(i & mask)) change(k, b, &word[i], &word[i + mask], mask);
}

// Where the lane's own eight lies, if the first of the four is at hand.
static simt_value own_eight(kernel *k, simt_builder *b, simt_value at) {
    simt_value lane = simt_build_with(b, SIMT_AND, k->thread.lane, LANES - 1),
               by = simt_build_with(b, SIMT_MUL, lane, LOOP_EIGHT - PAIR);
    return simt_build_binary(b, SIMT_ADD, at, lw_to_ix(k, b, by));
}

// ---- Loads --------------------------------------------------------------------------------------
static simt_value load_four(kernel *k, simt_builder *b, tensor_expr load, const lower_eights *r,
                            uint32_t first) {
    const tensor_node *n = tensor_node_at(k->l->op, load);
    position at[8];
    simt_value word[WORDS];
    stand_at(k, r, first, 0);
    for (uint32_t i = 0; i < n->nargs; i++) {
        at[i] = lw_position(k, b, n->args[i]);
        if (at[i].shape != POSITION_ONE || at[i].inside) return 0;
    }
    at[n->nargs - 1] = lw_at(own_eight(k, b, at[n->nargs - 1].at));
    simt_value all = lw_bits_in_a_row(k, b, (tensor_val)n->imm.i, at, LOOP_EIGHT);
    simt_value of[LOOP_EIGHT];
    for (uint32_t i = 0; i < LOOP_EIGHT; i++) of[i] = simt_pick(b, all, i);
    for (uint32_t i = 0; i < WORDS; i++) word[i] = simt_gather(b, &of[PAIR * i], PAIR);
    change_places(k, b, word);
    for (uint32_t i = 0; i < PAIR * LANES; i++) {
        stand_at(k, r, first + i / PAIR, i % PAIR);
        lw_remember(
            k, load,
            lw_value_of_bits(k, b, (tensor_val)n->imm.i, simt_pick(b, word[i / PAIR], i % PAIR)));
    }
    return word[0];
}

simt_value lw_load_eights(kernel *k, simt_builder *b, tensor_expr load) {
    const tensor_node *n = tensor_node_at(k->l->op, load);
    tensor_val v = (tensor_val)n->imm.i;
    lower_eights r;
    uint32_t eight, one;
    if (b->region != k->product.whole || !lw_unchanged(k, v) ||
        !lw_in_eights(k, v, n->args, n->nargs, &r) || !stands_at(k, &r, &eight, &one))
        return 0;
    simt_value some = load_four(k, b, load, &r, eight / LANES * LANES);
    stand_at(k, &r, eight, one);
    return some ? lw_remembered(k, load) : 0;
}

// ---- Stores -------------------------------------------------------------------------------------
static void store_own(kernel *k, simt_builder *b, const tensor_target *t, const lower_eights *r,
                      uint32_t first, const simt_value *word) {
    position index[8];
    simt_value of[LOOP_EIGHT];
    stand_at(k, r, first, 0);
    for (uint32_t i = 0; i < t->rank; i++) {
        index[i] = lw_position(k, b, t->index[i]);
        if (index[i].step) index[i].at = index[i].step;
    }
    index[t->rank - 1] = lw_at(own_eight(k, b, index[t->rank - 1].at));
    for (uint32_t i = 0; i < LOOP_EIGHT; i++) of[i] = simt_pick(b, word[i / PAIR], i % PAIR);
    lw_store_in_a_row(k, b, t->val, index, simt_gather(b, of, LOOP_EIGHT));
}

static void store_four(kernel *k, simt_builder *b, uint32_t stage, const lower_eights *r,
                       uint32_t first, simt_value who, lw_stage_of *values) {
    const tensor_target *t = &k->l->op->stages.data[stage].targets[0];
    const simt_type pair = {lw_memory_element(k, k->l->op->vals.data[t->val].type), PAIR};
    simt_value word[WORDS], of[PAIR], c = lw_both(b, lw_masks(k, b, 0), who);
    for (uint32_t i = 0; i < WORDS; i++) {
        for (uint32_t one = 0; one < PAIR; one++) {
            stand_at(k, r, first + i, one);
            k->access.owner = c;   // a step past the end has the value of the last one
            values(k, b, stage, &of[one]);
            k->access.owner = 0;
            of[one] = simt_pick(b, of[one], 0);
        }
        word[i] = simt_build_cvt(b, pair, simt_gather(b, of, PAIR));
    }
    change_places(k, b, word);
    simt_builder then = *b;
    if (c) k->f->instrs.data[simt_build_if(b, c, NULL, 0, &then, NULL)].aux = SIMT_IF_MASK;
    region_mark m = lw_enter(&k->known);
    store_own(k, c ? &then : b, t, r, first, word);
    if (!c) return;
    lw_leave(&k->known, m);
    simt_build_yield(&then, NULL, 0);
}

void lw_store_eights(kernel *k, simt_builder *b, uint32_t stage, axis_set left,
                     const lower_eights *r, lw_stage_of *values) {
    simt_value who = lw_first_thread(k, b, left);
    for (instance_walk w = lw_walk_begin(&k->digits, lw_written_out(&k->digits, left) & ~r->axes);
         lw_walk_next(&w);)
        for (uint32_t first = 0; first < r->n; first += LANES)
            store_four(k, b, stage, r, first, who, values);
    stand_nowhere(k, r);
}
