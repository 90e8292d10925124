// Cells of the default schedule among each other: what a stage's are where the schedule at hand is
// the default's, and what a stage inside another one does not inherit.
#include "default/default.h"
#include "base/base.h"
#include "axes/axes.h"

// ---- Cells and their words ----------------------------------------------------------------------
schedule_cell default_cell(schedule_verb verb, const tensor_stage *st) {
    return (schedule_cell){.verb = verb, .stage = st->name, .of = st->id};
}

schedule_cell default_index_cell(const planner *p, schedule_verb verb, const tensor_stage *st,
                                 tensor_var v) {
    return default_move_cell(p, (schedule_cell){.verb = verb}, st, v);
}

schedule_cell default_move_cell(const planner *p, schedule_cell c, const tensor_stage *st,
                                tensor_var v) {
    c.stage = st->name;
    c.of = st->id;
    c.subject = plan_var_name(p, v);
    c.about = schedule_one(p->arena, plan_var_id(p, v));
    return c;
}

schedule_cell default_value_cell(const planner *p, schedule_verb verb, const tensor_stage *st,
                                 tensor_val v) {
    const tensor_val_info *of = &p->op->vals.data[v];
    return (schedule_cell){.verb = verb,
                           .stage = st->name,
                           .of = st->id,
                           .subject = of->name,
                           .about = schedule_one(p->arena, of->id)};
}

schedule_cell default_stage_cell(const planner *p, schedule_verb verb, const tensor_stage *st) {
    return (schedule_cell){
        .verb = verb, .subject = st->name, .about = schedule_one(p->arena, st->id)};
}

schedule_value default_stage_list(const planner *p, const stage_group *g) {
    const char **names = ARENA_ARRAY(p->arena, const char *, g->len + 1);
    schedule_ids *ids = ARENA_ARRAY(p->arena, schedule_ids, g->len + 1);
    for (uint32_t i = 0; i < g->len; i++) {
        names[i] = plan_stage(p, g->data[i])->name;
        ids[i] = schedule_one(p->arena, plan_stage(p, g->data[i])->id);
    }
    return (schedule_value){
        .keyword = "stages", .nnames = g->len, .names = names, .ids = ids, .var = UINT32_MAX};
}

schedule_value default_index_list(const planner *p, const tensor_var *vars, uint32_t n) {
    const char **names = ARENA_ARRAY(p->arena, const char *, n + 1);
    schedule_ids *ids = ARENA_ARRAY(p->arena, schedule_ids, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        names[i] = plan_index_text(p, vars[i]);
        ids[i] = schedule_one(p->arena, plan_var_id(p, vars[i]));
    }
    return (schedule_value){.nnames = n, .names = names, .ids = ids, .var = UINT32_MAX};
}

schedule_value default_at(const planner *p, const tensor_var *vars, uint32_t n) {
    schedule_ids *at = ARENA_NEW(p->arena, schedule_ids);
    tensor_id *ids = ARENA_ARRAY(p->arena, tensor_id, n + 1);
    for (uint32_t i = 0; i < n; i++) ids[i] = plan_var_id(p, vars[i]);
    *at = (schedule_ids){n, ids};
    return (schedule_value){
        .keyword = "at", .text = plan_index_text(p, vars[0]), .ids = at, .var = UINT32_MAX};
}

schedule_value default_word(schedule_word w) {
    return (schedule_value){.text = schedule_word_text(w), .word = w, .var = UINT32_MAX};
}

schedule_value default_by(const planner *p, tensor_val map) {
    const tensor_val_info *of = &p->op->vals.data[map];
    schedule_ids *by = ARENA_NEW(p->arena, schedule_ids);
    *by = schedule_one(p->arena, of->id);
    return (schedule_value){.keyword = "by", .text = of->name, .ids = by, .var = UINT32_MAX};
}

void default_fill(making *m, const tensor_stage *st, schedule_verb verb, tensor_var v, int64_t n,
                  const char *option) {
    if (n <= 1 && verb != SCHEDULE_BLOCK && verb != SCHEDULE_PIPELINE) return;
    schedule_value *values = ARENA_ARRAY(m->p->arena, schedule_value, 2);
    values[0] = (schedule_value){.number = n, .var = UINT32_MAX};
    if (option) values[1] = (schedule_value){.keyword = option, .var = UINT32_MAX};
    schedule_cell c = default_index_cell(m->p, verb, st, v);
    c.nvalues = option ? 2 : 1;
    c.values = values;
    schedule_fill(m->p->arena, m->s, c);
}

void default_say(making *m, schedule_cell c, schedule_value *values, uint32_t n) {
    c.nvalues = n;
    c.values = values;
    schedule_fill(m->p->arena, m->s, c);
}

// ---- What holds for a stage ---------------------------------------------------------------------
index_cut default_cut_of(making *m, const tensor_stage *st, tensor_var v, bool bound) {
    schedule *whole = m->p->s;
    m->p->s = m->s;
    index_cut c = plan_cut(m->p, st, v, bound);
    m->p->s = whole;
    return c;
}

static const schedule_verb deals[] = {SCHEDULE_BUCKET, SCHEDULE_BLOCK,     SCHEDULE_GROUPS,
                                      SCHEDULE_TILE,   SCHEDULE_REGISTERS, SCHEDULE_LANES,
                                      SCHEDULE_VECTOR, SCHEDULE_UNROLL,    SCHEDULE_ORDER,
                                      SCHEDULE_SPLIT,  SCHEDULE_WHOLE,     SCHEDULE_PAD};

// The cells that cover a stage, of which few do: what asks for each index and verb asks these.
static schedule covering(const making *m, const tensor_stage *st) {
    schedule few = *m->s;
    few.cells.data = NULL;
    few.cells.len = few.cells.cap = 0;
    for (uint32_t i = 0; i < m->s->cells.len; i++)
        if (schedule_covers(m->s, &m->s->cells.data[i], st->id))
            VEC_PUSH(m->p->arena, &few.cells, m->s->cells.data[i]);
    return few;
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

static void fill_nones_of(making *m, schedule *of, const tensor_stage *st, tensor_var v) {
    for (uint32_t i = 0; i < sizeof deals / sizeof *deals; i++)
        fill_none(m, of, st, default_index_cell(m->p, deals[i], st, v));
}

void default_nones(making *m) {
    for (uint32_t i = 0; i < m->p->op->stages.len; i++) {
        const tensor_stage *st = &m->p->op->stages.data[i];
        if (plan_inlined(m->p, i) || !tensor_id_outer(m->p->op->ids, st->id))
            continue;   // is inside none
        schedule of = covering(m, st);
        fill_none(m, &of, st, default_cell(SCHEDULE_FLAT, st));
        fill_none(m, &of, st, default_cell(SCHEDULE_ACCUMULATE, st));
        fill_none(m, &of, st, default_cell(SCHEDULE_APART, st));
        for (uint32_t v = 0; v < st->nleft; v++) fill_nones_of(m, &of, st, st->left[v]);
        for (uint32_t v = 0; v < st->nbound; v++) fill_nones_of(m, &of, st, st->bound[v]);
    }
}
