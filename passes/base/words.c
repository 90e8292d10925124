// What the schedule says: its words for indices, and the statement that deals one out.
#include "base/base.h"

#include <string.h>

bool plan_is_among(const planner *p, schedule_ids indices, tensor_var v) {
    return schedule_means(indices, plan_var_id(p, v));
}

schedule_ids plan_fused_at(const schedule_cell *fuse) {
    const schedule_value *at = fuse ? schedule_value_of(fuse, "at") : NULL;
    return at ? at->ids[0] : (schedule_ids){0};
}

tensor_val plan_val_meant(const planner *p, const schedule_value *map) {
    tensor_val v = 0;
    while (v < p->op->vals.len && p->op->vals.data[v].id != map->ids[0].data[0]) v++;
    return v < p->op->vals.len ? v : TENSOR_NO_VAL;
}

tensor_val plan_map_meant(const planner *p, const schedule_value *map) {
    tensor_val v = plan_val_meant(p, map);
    return v < p->op->nparams && p->op->vals.data[v].role == VAL_MAP ? v : TENSOR_NO_VAL;
}

tensor_val plan_key_read(const planner *p, const schedule_value *key) {
    const tensor_op *of = p->s->op ? p->s->op : p->op;
    const tensor_node *n = key->key ? tensor_node_at(of, key->key) : NULL;
    while (n && (n->op == TENSOR_CVT_OP || n->op == TENSOR_INDEX_OP))
        n = tensor_node_at(of, n->args[0]);
    bool read = n && n->op == TENSOR_LOAD_OP && n->nargs == 1 &&
                tensor_node_at(of, n->args[0])->op == TENSOR_VAR_OP;
    return read ? (tensor_val)n->imm.i : TENSOR_NO_VAL;
}

// Variables of a kernel's own, such as a part of an index, have a number behind their name.
const char *plan_index_text(const planner *p, tensor_var v) {
    const char *name = plan_var_name(p, v);
    return arena_strndup(p->arena, name, strcspn(name, "'"));
}

bool plan_is_step(const planner *p, const tensor_stage *st, tensor_var v) {
    return st->loop != TENSOR_NO_LOOP && p->op->loops.data[st->loop].step == v;
}

schedule_cell *plan_statement(const planner *p, const tensor_stage *st, schedule_verb verb,
                              schedule_cell *after) {
    for (uint32_t i = st->nleft + st->nbound; i-- > 0;) {   // what is reduced first
        schedule_cell *c = schedule_find(p->s, st->id, verb,
                                         p->op->vars.data[plan_var_at(st, i)].id);
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
