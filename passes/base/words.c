// What the schedule says: its words for indices, and the statement that deals one out.
#include "base/base.h"

#include <string.h>

bool plan_index_is(const planner *p, const char *word, tensor_var v) {
    const char *name = p->op->vars.data[v].name;
    size_t n = strlen(word);
    return !strncmp(word, name, n) && (!name[n] || name[n] == '\'');
}

const char *plan_index_text(const planner *p, tensor_var v) {
    const char *name = p->op->vars.data[v].name;
    return arena_strndup(p->arena, name, strcspn(name, "'"));
}

bool plan_index_named(const char *index, const char *var) {
    size_t n = strlen(index);
    return !strncmp(index, var, n) && (!var[n] || var[n] == '\'');
}

bool plan_is_step(const planner *p, const tensor_stage *st, tensor_var v) {
    return st->loop != TENSOR_NO_LOOP && p->op->loops.data[st->loop].step == v;
}

schedule_cell *plan_statement(const planner *p, const tensor_stage *st, schedule_verb verb,
                              schedule_cell *after) {
    for (uint32_t i = st->nleft + st->nbound; i-- > 0;) {   // what is reduced first
        schedule_cell *c = schedule_find(p->s, st->name, verb, p->op->vars.data[plan_var_at(st, i)].name);
        if (c && !after) return c;
        if (c == after) after = NULL;
    }
    return NULL;
}

span plan_statement_at(const planner *p, const tensor_stage *st, schedule_verb verb) {
    const schedule_cell *c = plan_statement(p, st, verb, NULL);
    return c ? c->at : p->s->at;
}

schedule *plan_whole_schedule(const planner *p) { return p->whole ? p->whole : p->s; }

const schedule_value *plan_tiled(const schedule_cell *block) {
    return block ? schedule_value_of(block, "by") : NULL;
}
