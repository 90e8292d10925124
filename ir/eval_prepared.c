// Prepared values that equations of a plan read, from what they are made of: how many points a map takes to
// each, where they begin, and two maps one after the other. Others stand in loops alone.
#include "eval.h"

static void put_offsets(eval_slot *s, const int64_t *counts) {
    for (int64_t i = 0; i + 1 < s->points; i++) s->integer[i + 1] = s->integer[i] + counts[i];
}

static void put_degrees(eval_slot *s, const int64_t *counts) {
    for (int64_t i = 0; i < s->points; i++) s->integer[i] = counts[i];
}

static void put_composition(eval_slot *s, const eval_slot *first, const eval_slot *second) {
    for (int64_t i = 0; i < s->points; i++) {
        int64_t at = eval_slot_get(first, i).i;
        s->integer[i] = at < 0 ? -1 : eval_slot_get(second, at).i;
    }
}

void eval_prepared(evaluator *ev, tensor_val v) {
    eval_slot *s = &ev->slots[v];
    const tensor_val_info *info = s->info;
    s->integer = ARENA_ARRAY(ev->scratch, int64_t, s->points + 1);
    s->certain = ARENA_ARRAY(ev->scratch, uint8_t, s->points + 1);
    for (int64_t i = 0; i < s->points; i++) s->certain[i] = 1;
    if (info->nkeys == 2 && info->builder == PREPARED_COMPOSE) {
        const eval_slot *first = eval_slot_of(ev, info->keys[0]), *second = eval_slot_of(ev, info->keys[1]);
        if (first && second) put_composition(s, first, second);
    } else if (info->nkeys == 1 && (info->builder == PREPARED_OFFSETS || info->builder == PREPARED_DEGREES)) {
        const int64_t *counts = eval_preimage_sizes(ev, info->keys[0]);
        if (counts && info->builder == PREPARED_OFFSETS) put_offsets(s, counts);
        else if (counts) put_degrees(s, counts);
    } else
        eval_fault(ev, "an equation reads '%s', which says in which order a plan visits points", info->name);
}
