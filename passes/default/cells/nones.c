// What a stage inside another one does not take from it: cells that were meant for the other alone.
//     y: lanes f 8; covers y.sum, too   →  y.sum: lanes f none
#include "default/cells/cells.h"
#include "base/base.h"

static const schedule_verb deals[] = {SCHEDULE_BUCKET, SCHEDULE_BLOCK,      SCHEDULE_GROUPS,
                                      SCHEDULE_TILE,   SCHEDULE_REGISTERS,  SCHEDULE_LANES,
                                      SCHEDULE_VECTOR, SCHEDULE_UNROLL,     SCHEDULE_ORDER,
                                      SCHEDULE_SPLIT,  SCHEDULE_SPECIALIZE, SCHEDULE_PAD};

// The cells that cover a stage, of which few do: what asks for each index and verb asks these.
// false: they are all of its own.
static bool covering(const making *m, const tensor_stage *st, schedule *few) {
    bool inherits = false;
    *few = *m->s;
    few->cells.data = NULL;
    few->cells.len = few->cells.cap = 0;
    for (uint32_t i = 0; i < m->s->cells.len; i++) {
        const schedule_cell *c = &m->s->cells.data[i];
        if (!schedule_covers(m->s, c, st->id)) continue;
        VEC_PUSH(m->p->arena, &few->cells, *c);
        inherits |= c->of != st->id;
    }
    return inherits;
}

// Cells of `a` cover `a.sum`: where they were not meant for it, it says `none`.
static void fill_none(making *m, schedule *of, const tensor_stage *st, schedule_cell none) {
    const tensor_id about = none.about.n ? none.about.data[0] : TENSOR_ALL;
    const schedule_cell *c = schedule_find(of, st->id, none.verb, about);
    if (!c || c->of == st->id) return;
    none.empty = true;
    schedule_fill(m->p->arena, m->s, none);
    schedule_fill(m->p->arena, of, none);
}

// What is split is reduced over there, not around it.
static void fill_nones_of(making *m, schedule *of, const tensor_stage *st, tensor_var v,
                          bool reduced) {
    for (uint32_t i = 0; i < sizeof deals / sizeof *deals; i++)
        if (schedule_says(of, deals[i]) && (reduced || deals[i] != SCHEDULE_SPLIT))
            fill_none(m, of, st, default_index_cell(m->p, deals[i], st, v));
}

// `inline a` would have it computed where `a` reads it: a.factor is stored.
static void fill_stored(making *m, const tensor_stage *st) {
    const tensor_ids *ids = m->p->op->ids;
    schedule_cell none = default_stage_cell(m->p, SCHEDULE_INLINE, st);
    bool covered = false;
    for (uint32_t i = 0; i < m->s->cells.len; i++) {
        const schedule_cell *c = &m->s->cells.data[i];
        covered |= c->verb == SCHEDULE_INLINE && !c->empty && c->about.data[0] != st->id &&
                   tensor_id_covers(ids, c->about.data[0], st->id);
    }
    none.empty = true;
    if (covered && st->reducer == TENSOR_NO_REDUCER && st->loop == TENSOR_NO_LOOP)
        schedule_fill(m->p->arena, m->s, none);
}

void default_nones(making *m) {
    for (uint32_t i = 0; i < m->p->op->stages.len; i++) {
        const tensor_stage *st = &m->p->op->stages.data[i];
        if (plan_inlined(m->p, i) || !tensor_id_outer(m->p->op->ids, st->id))
            continue;   // is inside none
        fill_stored(m, st);
        schedule of;
        if (!covering(m, st, &of)) continue;
        fill_none(m, &of, st, default_cell(SCHEDULE_COLLAPSE, st));
        fill_none(m, &of, st, default_cell(SCHEDULE_ACCUMULATE, st));
        fill_none(m, &of, st, default_cell(SCHEDULE_SEPARATE, st));
        for (uint32_t v = 0; v < st->nleft; v++) fill_nones_of(m, &of, st, st->left[v], false);
        for (uint32_t v = 0; v < st->nbound; v++) fill_nones_of(m, &of, st, st->bound[v], true);
    }
}
