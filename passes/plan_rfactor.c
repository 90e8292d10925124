// Sums over all points that a map leads from, as sums of its rows (`rfactor`, after the transformation of Halide and TVM): what a row
// gives is a stage of its own, which may share a walk with other sums of that row, and the stage sums those over the rows.
//     datt[h] = sum {e} ds[e, h]   →  datt.rows[v, h] = sum {e : dst[e] == v} ds[e, h]   datt[h] = sum {v} datt.rows[v, h]
#include "planner.h"

#include <ctype.h>
#include <string.h>

static schedule_cell *cell_of(const planner *p, const char *stage) {
    return schedule_find(p->s, stage, SCHEDULE_RFACTOR, stage);
}

static tensor_val map_named(const planner *p, const char *name) {
    for (tensor_val v = 0; v < p->op->nparams; v++)
        if (p->op->vals.data[v].role == VAL_MAP && !strcmp(p->op->vals.data[v].name, name)) return v;
    return TENSOR_NO_VAL;
}

// Of the indices that are reduced, which the map leads from; UINT32_MAX: none.
static uint32_t walked_by(const planner *p, const tensor_stage *st, tensor_val map) {
    const tensor_val_info *m = &p->op->vals.data[map];
    for (uint32_t i = 0; i < st->nbound && m->rank == 1; i++)
        if (p->op->vars.data[st->bound[i]].space == m->axes[0]) return i;
    return UINT32_MAX;
}

const char *plan_why_no_rows(const planner *p, const tensor_stage *st, tensor_val map) {
    const tensor_reducer *r = st->reducer == TENSOR_NO_REDUCER ? NULL : &p->op->reducers.data[st->reducer];
    if (!r) return "it is no reduction";
    if (r->kind == REDUCE_USER || st->ntargets != 1) return "what rows give is not combined as points are";
    if (st->loop != TENSOR_NO_LOOP) return "it is part of a recurrence";
    if (st->nkeys) return "it has rows of its own already";
    if (st->nelse) return "it has an `else`, which asks for points, not for rows";
    if (map == TENSOR_NO_VAL) return "there is no such map among the parameters";
    if (walked_by(p, st, map) == UINT32_MAX) return "the map leads from nothing that it reduces";
    if (p->op->vals.data[map].facts & FACT_PARTIAL) return "the map has no value at some points, which would be left out";
    return NULL;
}

static tensor_var row_var(planner *p, tensor_space rows) {
    char *name = arena_strdup(p->arena, p->op->spaces.data[rows].name);
    for (char *c = name; *c; c++) *c = (char)tolower((unsigned char)*c);
    return tensor_add_var(p->op, arena_printf(p->arena, "%s'%u", name, p->op->vars.len), rows);
}

// The rows' own value: of the row, the left indices, and what else is reduced.
static tensor_val add_rows(planner *p, const tensor_stage *st, const tensor_var *left, uint32_t n, const char *name) {
    const tensor_type t = p->op->reducers.data[st->reducer].result_types[0];
    tensor_space *axes = ARENA_ARRAY(p->arena, tensor_space, n + 1);
    for (uint32_t i = 0; i < n; i++) axes[i] = p->op->vars.data[left[i]].space;
    tensor_val_info info = {.name = name,
                            .role = VAL_STAGE,
                            .type = tensor_type_is_narrow(t) ? DT_F32 : t.type,
                            .into = TENSOR_NO_SPACE,
                            .sorted_by = TENSOR_NO_VAL,
                            .inplace = TENSOR_NO_VAL,
                            .rank = n,
                            .axes = axes,
                            .at = st->at};
    return loop_add_val(p->plan, info, (loop_value){.home = LOOP_MEMORY, .of = TENSOR_NO_VAL});
}

// The sum of a row, over the variables that the stage had; all that is left to the stage are rows.
static void take_rows(planner *p, uint32_t stage, tensor_val map) {
    tensor_stage st = p->op->stages.data[stage], rows = st;
    uint32_t walked = walked_by(p, &st, map), n = st.nleft + st.nbound;
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, n + 1), *bound = ARENA_NEW(p->arena, tensor_var);
    tensor_expr *vars = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + n + 2),
                *at = ARENA_ARRAY(p->arena, tensor_expr, n + 1), *index = ARENA_ARRAY(p->arena, tensor_expr, n + 1),
                point = tensor_var_expr(p->op, st.bound[walked], NO_SPAN);
    *bound = st.bound[walked];
    left[0] = row_var(p, p->op->vals.data[map].into);
    for (uint32_t i = 0; i < st.nleft; i++) left[1 + i] = st.left[i];
    for (uint32_t i = 0, k = 1 + st.nleft; i < st.nbound; i++)
        if (i != walked) left[k++] = st.bound[i];
    tensor_key *key = ARENA_NEW(p->arena, tensor_key);
    *key = (tensor_key){tensor_load(p->op, map, &point, 1, NO_SPAN), tensor_var_expr(p->op, left[0], NO_SPAN)};
    rows.name = plan_name_inside(p, st.name, "rows");
    tensor_target *target = ARENA_NEW(p->arena, tensor_target);
    for (uint32_t i = 0; i < n; i++) index[i] = tensor_var_expr(p->op, left[i], NO_SPAN);
    *target = (tensor_target){add_rows(p, &st, left, n, rows.name), n, index};
    rows.targets = target;
    rows.nleft = n;
    rows.left = left;
    rows.nbound = 1;
    rows.bound = bound;
    rows.nkeys = 1;
    rows.keys = key;

    const tensor_var *own = plan_own_vars(p, left, n, vars);
    tensor_var *over = ARENA_ARRAY(p->arena, tensor_var, n + 1);
    tensor_expr *body = ARENA_NEW(p->arena, tensor_expr);
    tensor_target *to = ARENA_NEW(p->arena, tensor_target);
    for (uint32_t i = 0; i < n; i++) at[i] = tensor_var_expr(p->op, own[i], NO_SPAN);
    over[0] = own[0];
    for (uint32_t i = 1; i < st.nbound; i++) over[i] = own[st.nleft + i];
    *body = tensor_cvt(p->op, tensor_typeof(p->op, st.body[0]), tensor_load(p->op, target->val, at, n, st.at), NO_SPAN);
    *to = st.targets[0];
    to->index = plan_substitute(p, to->index, to->rank, vars);
    st.targets = to;
    st.left = own + 1;
    st.bound = over;
    st.body = body;
    st.nfilters = 0;
    p->op->stages.data[stage] = st;
    plan_put_stage(p, stage, rows);
}

static void refuse(planner *p, const tensor_stage *st, const schedule_cell *c, const char *why) {
    const char *map = schedule_value_of(c, "by")->text;
    diagnostic *d = plan_refuse(p, E0556, c->at, "'%s' is no sum of what the rows of '%s' give: %s", st->name, map, why);
    if (d) diag_note(d, st->at, "'%s' is computed here", st->name);
    if (d) diag_help(d, "leave it out");
}

void plan_rfactor(planner *p) {
    for (uint32_t i = 0; i < p->op->stages.len && !p->failed; i++) {
        const tensor_stage *st = &p->op->stages.data[i];
        schedule_cell *c = cell_of(p, st->name);
        if (!c) continue;
        tensor_val map = map_named(p, schedule_value_of(c, "by")->text);
        const char *why = plan_why_no_rows(p, st, map);
        if (why && (st->reducer == TENSOR_NO_REDUCER || strcmp(c->subject, st->name))) continue;
        c->consumed = true;
        if (why) refuse(p, st, c, why);
        else take_rows(p, i++, map);
    }
}
