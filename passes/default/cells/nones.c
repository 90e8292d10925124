// What a stage inside another one does not take from it: cells that were meant for the other alone.
//     y: lanes f 8; covers y.sum, too   →  y.sum: lanes f none
#include "default/cells/cells.h"
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

static const schedule_verb deals[] = {
    SCHEDULE_BUCKET,     SCHEDULE_BLOCK,  SCHEDULE_GROUPS, SCHEDULE_TILE,    SCHEDULE_REGISTERS,
    SCHEDULE_LANES,      SCHEDULE_VECTOR, SCHEDULE_UNROLL, SCHEDULE_ORDER,   SCHEDULE_SPLIT,
    SCHEDULE_SPECIALIZE, SCHEDULE_PAD,    SCHEDULE_MMA,    SCHEDULE_PIPELINE};

// Per identity, whether a cell is of it; *n: of how many.
static bool *owners_of(const making *m, tensor_id *n) {
    *n = 0;
    for (uint32_t i = 0; i < m->s->cells.len; i++)
        if (*n <= m->s->cells.data[i].of) *n = m->s->cells.data[i].of + 1;
    bool *owns = xmalloc(*n);
    memset(owns, 0, *n);
    for (uint32_t i = 0; i < m->s->cells.len; i++) owns[m->s->cells.data[i].of] = true;
    return owns;
}

static bool inherits(const making *m, const tensor_stage *st, const bool *owns, tensor_id n) {
    bool any = false;
    for (tensor_id of = st->id; of && !any;) {
        of = tensor_id_outer(m->p->op->ids, of);
        any = of < n && owns[of];
    }
    return any;
}

// Cells of `a` cover `a.sum`: where they were not meant for it, it says `none`.
static bool takes(const making *m, const tensor_stage *st, schedule_verb verb, tensor_id about) {
    const schedule_cell *c = schedule_find(m->s, st->id, verb, about);
    return c && c->of != st->id;
}

static void fill_none(making *m, schedule_cell none) {
    none.empty = true;
    schedule_fill(m->p->arena, m->s, none);
}

static void fill_none_of_stage(making *m, const tensor_stage *st, schedule_verb verb) {
    if (takes(m, st, verb, TENSOR_ALL)) fill_none(m, default_cell(verb, st));
}

// What is split is reduced over there, not around it.
static void fill_nones_of(making *m, const tensor_stage *st, tensor_var v, bool reduced) {
    for (uint32_t i = 0; i < sizeof deals / sizeof *deals; i++)
        if ((reduced || deals[i] != SCHEDULE_SPLIT) && takes(m, st, deals[i], plan_var_id(m->p, v)))
            fill_none(m, default_index_cell(m->p, deals[i], st, v));
}

// `inline a` would have it computed where `a` reads it: a.factor is stored.
static void fill_stored(making *m, const tensor_stage *st) {
    const tensor_ids *ids = m->p->op->ids;
    const bool plain = st->reducer == TENSOR_NO_REDUCER && st->loop == TENSOR_NO_LOOP;
    bool covered = false;
    if (!plain || !schedule_says(m->s, SCHEDULE_INLINE)) return;
    for (uint32_t i = 0; i < m->s->cells.len; i++) {
        const schedule_cell *c = &m->s->cells.data[i];
        covered |= c->verb == SCHEDULE_INLINE && !c->empty && c->about.data[0] != st->id &&
                   tensor_id_covers(ids, c->about.data[0], st->id);
    }
    if (covered) fill_none(m, default_stage_cell(m->p, SCHEDULE_INLINE, st));
}

void default_nones(making *m) {
    tensor_id n;
    bool *owns = owners_of(m, &n);
    for (uint32_t i = 0; i < m->p->op->stages.len; i++) {
        const tensor_stage *st = &m->p->op->stages.data[i];
        if (plan_inlined(m->p, i) || !tensor_id_outer(m->p->op->ids, st->id))
            continue;   // is inside none
        fill_stored(m, st);
        if (!inherits(m, st, owns, n)) continue;
        fill_none_of_stage(m, st, SCHEDULE_COLLAPSE);
        fill_none_of_stage(m, st, SCHEDULE_ACCUMULATE);
        fill_none_of_stage(m, st, SCHEDULE_SEPARATE);
        for (uint32_t v = 0; v < st->nleft; v++) fill_nones_of(m, st, st->left[v], false);
        for (uint32_t v = 0; v < st->nbound; v++) fill_nones_of(m, st, st->bound[v], true);
    }
    free(owns);
}
