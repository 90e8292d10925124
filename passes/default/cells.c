// Cells of the default schedule among each other: what a stage's are where the schedule at hand is the
// default's, and what a stage inside another one does not inherit.
#include "default/default.h"
#include "base/base.h"
#include "axes/axes.h"

#include <string.h>

index_cut default_cut_of(making *m, const tensor_stage *st, tensor_var v, bool bound) {
    schedule *whole = m->p->s;
    m->p->s = m->s;
    index_cut c = plan_cut(m->p, st, v, bound);
    m->p->s = whole;
    return c;
}

static const schedule_verb deals[] = {SCHEDULE_BUCKET,    SCHEDULE_BLOCK, SCHEDULE_GROUPS, SCHEDULE_TILE,
                                      SCHEDULE_REGISTERS, SCHEDULE_LANES, SCHEDULE_VECTOR, SCHEDULE_UNROLL,
                                      SCHEDULE_ORDER,     SCHEDULE_SPLIT, SCHEDULE_WHOLE,  SCHEDULE_PAD};

// The cells that cover a stage, of which few do: what asks for each index and verb asks these.
static schedule covering(const making *m, const tensor_stage *st) {
    schedule few = *m->s;
    few.cells.data = NULL;
    few.cells.len = few.cells.cap = 0;
    for (uint32_t i = 0; i < m->s->cells.len; i++)
        if (schedule_covers(m->s->cells.data[i].stage, st->name)) VEC_PUSH(m->p->arena, &few.cells, m->s->cells.data[i]);
    return few;
}

// Cells of `a` cover `a.sum`: where they were not meant for it, it says `none`.
static void fill_none(making *m, schedule *of, const tensor_stage *st, schedule_verb verb, const char *subject) {
    const schedule_cell *c = schedule_find(of, st->name, verb, subject);
    if (!c || !strcmp(c->stage, st->name)) return;
    const schedule_cell none = {.verb = verb, .stage = st->name, .subject = subject, .empty = true};
    schedule_fill(m->p->arena, m->s, none);
    schedule_fill(m->p->arena, of, none);
}

static void fill_nones_of(making *m, schedule *of, const tensor_stage *st, tensor_var v) {
    for (uint32_t i = 0; i < sizeof deals / sizeof *deals; i++)
        fill_none(m, of, st, deals[i], m->p->op->vars.data[v].name);
}

void default_nones(making *m) {
    for (uint32_t i = 0; i < m->p->op->stages.len; i++) {
        const tensor_stage *st = &m->p->op->stages.data[i];
        if (plan_inlined(m->p, i) || !strchr(st->name, '.')) continue;   // is inside none
        schedule of = covering(m, st);
        fill_none(m, &of, st, SCHEDULE_FLAT, NULL);
        fill_none(m, &of, st, SCHEDULE_ACCUMULATE, NULL);
        fill_none(m, &of, st, SCHEDULE_APART, NULL);
        for (uint32_t v = 0; v < st->nleft; v++) fill_nones_of(m, &of, st, st->left[v]);
        for (uint32_t v = 0; v < st->nbound; v++) fill_nones_of(m, &of, st, st->bound[v]);
    }
}
