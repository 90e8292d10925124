// Cells of the default schedule: made for a stage and its indices, with the words of a statement,
// and filled into the schedule at hand.
#include "default/ask/ask.h"
#include "default/cells/cells.h"
#include "base/base.h"

// ---- Cells --------------------------------------------------------------------------------------
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

static schedule_cell value_cell(const planner *p, schedule_verb verb, const tensor_stage *st,
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

// ---- Words of a statement -----------------------------------------------------------------------
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

// At the first, which each stage has as one of them.
static schedule_value at_index(const planner *p, const tensor_var *vars, uint32_t n) {
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

schedule_value default_number(int64_t n) {
    return (schedule_value){.number = n, .var = UINT32_MAX};
}

schedule_value default_text(const char *keyword, const char *text) {
    return (schedule_value){.keyword = keyword, .text = text, .var = UINT32_MAX};
}

schedule_value default_option(const char *keyword, int64_t n) {
    return (schedule_value){.keyword = keyword, .number = n, .var = UINT32_MAX};
}

enum { LEFT_OUT = UINT32_MAX - 1 };

schedule_value default_if(bool said, schedule_value v) {
    return said ? v : (schedule_value){.var = LEFT_OUT};
}

schedule_value default_by(const planner *p, tensor_val map) {
    const tensor_val_info *of = &p->op->vals.data[map];
    schedule_ids *by = ARENA_NEW(p->arena, schedule_ids);
    *by = schedule_one(p->arena, of->id);
    return (schedule_value){.keyword = "by", .text = of->name, .ids = by, .var = UINT32_MAX};
}

// ---- Filling ------------------------------------------------------------------------------------
void default_say_all(making *m, schedule_cell c, const schedule_value *values, uint32_t n) {
    schedule_value *own = ARENA_ARRAY(m->p->arena, schedule_value, n + 1);
    for (uint32_t i = 0; i < n; i++)
        if (values[i].var != LEFT_OUT) own[c.nvalues++] = values[i];
    c.values = own;
    schedule_fill(m->p->arena, m->s, c);
}

void default_fill(making *m, const tensor_stage *st, schedule_verb verb, tensor_var v, int64_t n,
                  const char *option) {
    if (n > 1 || verb == SCHEDULE_BLOCK || verb == SCHEDULE_PIPELINE)
        default_say(m, default_index_cell(m->p, verb, st, v), default_number(n),
                    default_if(option, default_option(option, 0)));
}

void default_say_stage(making *m, schedule_verb verb, uint32_t stage, const char *option) {
    const stage_group g = default_alone(&stage);
    default_say(m, default_stage_cell(m->p, verb, plan_stage(m->p, stage)),
                default_stage_list(m->p, &g), default_if(option, default_option(option, 0)));
}

void default_say_fuse(making *m, const stage_group *g, const tensor_var *at, uint32_t n) {
    for (uint32_t i = 0; i < g->len; i++)
        default_say(m, default_stage_cell(m->p, SCHEDULE_FUSE, plan_stage(m->p, g->data[i])),
                    default_stage_list(m->p, g), at_index(m->p, at, n));
}

void default_keep(making *m, const tensor_stage *st, tensor_val v, schedule_word place) {
    default_say(m, value_cell(m->p, SCHEDULE_KEEP, st, v), default_word(place));
}

void default_room(making *m, const tensor_stage *st, int64_t threads) {
    default_say(m, default_cell(SCHEDULE_OCCUPANCY, st), default_number(threads),
                default_option("soft", 0));
}
