// Steps of a loop that are dealt: written out until lanes have reduced what is reduced for each, then a digit
// of those lanes. The butterfly that combines the lanes sends, at its first levels, half of the states one
// way and half the other, so that each level halves them; its pairs and their order are those of one state a
// time, and so are the bits.

// ---- Between lanes ---------------------------------------------------------------------------------------
#include "lower/values.h"
#include "lower/sums.h"
#include "lower/loops.h"

static const lower_axis *reducing_axis(const kernel *k, axis_set bound) {
    for (uint32_t i = 0; i < LOWER_MAX_AXES; i++)
        if (bound & AXIS(i) && k->axis[i].place == LOOP_LANE_PLACE && k->axis[i].extent > 1)
            return &k->axis[i];
    ICE("'%s': steps are dealt, and no lanes reduce", k->plan->name);
}

static uint32_t power_from(uint32_t n) {
    uint32_t p = 1;
    while (p < n) p *= 2;
    return p;
}

bool lw_deals(const kernel *k, axis_set left) {
    return k->dealt && left & AXIS(k->dealt->axis) && k->at[k->dealt->axis] < 0;
}

// What lanes whose bit is set keep and the others send, and the other way round.
static void exchange(kernel *k, simt_builder *b, const reduction *r, simt_value **pair, simt_value upper,
                     uint32_t mask, simt_value **out) {
    simt_value *own = ARENA_ARRAY(k->l->arena, simt_value, r->n),
               *sent = ARENA_ARRAY(k->l->arena, simt_value, r->n);
    for (uint32_t c = 0; c < r->n; c++) {
        own[c] = simt_build_select(b, upper, pair[1][c], pair[0][c]);
        sent[c] = simt_build_select(b, upper, pair[0][c], pair[1][c]);
    }
    *out = lw_fold_pairs(k, b, r, own, sent, simt_build_int(b, SIMT_T(I32), mask));
}

simt_value *lw_fold_dealt(kernel *k, simt_builder *b, const reduction *r, simt_value **part) {
    const lower_axis *lanes = reducing_axis(k, r->bound);
    uint32_t some = k->axis[k->dealt->axis].extent, n = power_from(some), m = lw_stride(k, lanes);
    k->dealt->unit = lanes->unit;
    for (uint32_t i = some; i < n; i++) part[i] = part[some - 1];   // of no position: any
    for (; n > 1; n /= 2, m *= 2) {
        simt_value bit = simt_build_binary(b, SIMT_AND, k->thread, simt_build_int(b, SIMT_T(I32), m));
        simt_value upper = simt_build_cmp(b, SIMT_NE, bit, simt_build_int(b, SIMT_T(I32), 0));
        for (uint32_t i = 0; i < n / 2; i++) exchange(k, b, r, part + 2 * (size_t)i, upper, m, &part[i]);
    }
    for (; m < lw_stride(k, lanes) * lanes->extent; m *= 2)
        part[0] = lw_fold_pairs(k, b, r, part[0], part[0], simt_build_int(b, SIMT_T(I32), m));
    return part[0];
}

uint32_t lw_dealt_parts(const kernel *k) { return power_from(k->axis[k->dealt->axis].extent); }

// ---- Afterwards ------------------------------------------------------------------------------------------
// Expressions of the steps are other ones now.
static memo_cell *memo_without(kernel *k, axis_set steps) {
    uint32_t n = k->l->op->exprs.len + 1;
    memo_cell *memo = ARENA_ARRAY(k->l->arena, memo_cell, n);
    for (uint32_t e = 0; e < n; e++)
        if (k->memo[e].known && !(k->memo[e].axes & steps)) memo[e] = k->memo[e];
    return memo;
}

static loop_mask *mask_of(kernel *k, const loop_node *n) {
    for (uint32_t i = 0; i < k->masks.len; i++)
        if (k->masks.data[i].node == n) return &k->masks.data[i];
    ICE("'%s': a loop in scope has no mask", k->plan->name);
}

static void deal_again(kernel *k) {
    dealt_steps *d = k->dealt;
    loop_mask *m = mask_of(k, d->node);
    d->mark = lw_enter(k);
    d->memo = k->memo;
    d->bound = k->var[d->node->var];
    d->mask = *m;
    k->memo = d->known;
    k->axis[d->axis] = (lower_axis){LOOP_LANE_PLACE, power_from(d->written_out.extent), d->unit, d->written_out.weight};
    k->var[d->node->var] = d->own;
    *m = d->own_mask;
    for (uint32_t i = 0; i < d->kept.len; i++) VEC_PUSH(k->l->arena, &k->registers, d->kept.data[i]);
}

void lw_deal(kernel *k, simt_builder *b) {
    dealt_steps *d = k->dealt;
    lower_axis *a = &k->axis[d->axis];
    d->there = true;
    if (d->been) {
        deal_again(k);
        return;
    }
    d->mark = lw_enter(k);
    d->written_out = *a;
    d->memo = k->memo;
    d->bound = k->var[d->node->var];
    k->memo = memo_without(k, AXIS(d->axis));
    *a = (lower_axis){LOOP_LANE_PLACE, power_from(a->extent), d->unit, a->weight};
    lw_bind(k, b, d->node, d->round->own, d->round->round);
    loop_mask *m = mask_of(k, d->node);
    d->mask = *m;
    *m = k->masks.data[--k->masks.len];
}

// A walk's lanes know the next time what they know now.
static void keep_known(kernel *k) {
    dealt_steps *d = k->dealt;
    d->been = true;
    d->known = k->memo;
    d->own = k->var[d->node->var];
    d->own_mask = *mask_of(k, d->node);
    d->kept.len = 0;
    for (uint32_t i = d->mark.registers; i < k->registers.len; i++)
        VEC_PUSH(k->l->arena, &d->kept, k->registers.data[i]);
    k->registers.len = d->mark.registers;
    k->log.len = d->mark.log;
}

void lw_deal_back(kernel *k) {
    dealt_steps *d = k->dealt;
    d->there = false;
    if (lw_deals_walk(k)) keep_known(k);
    else lw_leave(k, d->mark);
    k->memo = d->memo;
    k->axis[d->axis] = d->written_out;
    k->var[d->node->var] = d->bound;
    *mask_of(k, d->node) = d->mask;
}
