// Sums over all points that a map leads from, as sums of its rows (`rfactor`, after the
// transformation of Halide and TVM): what a row gives is a stage of its own, which may share a walk
// with other sums of that row, and the stage sums those over the rows.
//     datt[h] = sum {e} ds[e, h]
//  →  datt.rows[v, h] = sum {e : dst[e] == v} ds[e, h]    datt[h] = sum {v} datt.rows[v, h]
#include "tensor/tensor.h"
#include "base/base.h"

#include <ctype.h>
#include <string.h>

// Of the indices that are reduced, which the map leads from; UINT32_MAX: none.
static uint32_t walked_by(const planner *p, const tensor_stage *st, tensor_val map) {
    const tensor_val_info *m = &p->op->vals.data[map];
    for (uint32_t i = 0; i < st->nbound && m->rank == 1; i++)
        if (p->op->vars.data[st->bound[i]].space == m->axes[0]) return i;
    return UINT32_MAX;
}

const char *plan_why_no_rows(const planner *p, const tensor_stage *st, tensor_val map) {
    const tensor_reducer *r = st->reducer == TENSOR_NO_REDUCER ? NULL
                                                               : &p->op->reducers.data[st->reducer];
    if (!r) return "it is no reduction";
    if (r->kind == REDUCE_USER || st->ntargets != 1)
        return "what rows give is not combined as points are";
    if (st->loop != TENSOR_NO_LOOP) return "it is part of a recurrence";
    if (st->nkeys) return "it has rows of its own already";
    if (st->nelse) return "it has an `else`, which asks for points, not for rows";
    if (map == TENSOR_NO_VAL) return "there is no such map among the parameters";
    if (walked_by(p, st, map) == UINT32_MAX) return "the map leads from nothing that it reduces";
    if (p->op->vals.data[map].facts & FACT_PARTIAL)
        return "the map has no value at some points, which would be left out";
    return NULL;
}

// A schedule calls it as its space, in small letters.
tensor_var plan_row_var(planner *p, const char *stage, tensor_space rows) {
    char *name = arena_strdup(p->arena, p->op->spaces.data[rows].name);
    for (char *c = name; *c; c++) *c = (char)tolower((unsigned char)*c);
    const tensor_id index = tensor_id_inside(p->op->ids, tensor_id_of_path(p->op->ids, stage),
                                             name);
    return tensor_add_var_as(p->op, index, arena_printf(p->arena, "%s'%u", name, p->op->vars.len),
                             rows);
}

// The rows' own value: of the row, the left indices, and what else is reduced.
static tensor_val add_rows(planner *p, const tensor_stage *st, const tensor_var *left, uint32_t n,
                           const char *name) {
    tensor_space *axes = ARENA_ARRAY(p->arena, tensor_space, n + 1);
    for (uint32_t i = 0; i < n; i++) axes[i] = p->op->vars.data[left[i]].space;
    return plan_stage_val(p, name, p->op->reducers.data[st->reducer].result_types[0], axes, n,
                          st->at);
}

// The row's index, the stage's, and those of what else it reduces.
static const tensor_var *indices_of_rows(planner *p, const char *name, const tensor_stage *st,
                                         tensor_val map) {
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + st->nbound + 1);
    uint32_t n = 0, walked = walked_by(p, st, map);
    left[n++] = plan_row_var(p, name, p->op->vals.data[map].into);
    for (uint32_t i = 0; i < st->nleft; i++) left[n++] = st->left[i];
    for (uint32_t i = 0; i < st->nbound; i++)
        if (i != walked) left[n++] = st->bound[i];
    return left;
}

tensor_expr *plan_var_exprs(planner *p, const tensor_var *vars, uint32_t n) {
    tensor_expr *e = ARENA_ARRAY(p->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++) e[i] = tensor_var_expr(p->op, vars[i], NO_SPAN);
    return e;
}

// What a row gives, over the variables that the stage had.
static tensor_stage rows_of(planner *p, const char *name, const tensor_stage *st, tensor_val map) {
    const tensor_var *left = indices_of_rows(p, name, st, map);
    const uint32_t n = st->nleft + st->nbound;
    tensor_stage rows = *st;
    tensor_var *bound = ARENA_NEW(p->arena, tensor_var);
    tensor_key *key = ARENA_NEW(p->arena, tensor_key);
    tensor_target *target = ARENA_NEW(p->arena, tensor_target);
    const tensor_expr *index = plan_var_exprs(p, left, n);
    *bound = st->bound[walked_by(p, st, map)];
    tensor_expr point = tensor_var_expr(p->op, *bound, NO_SPAN);
    rows.name = name;
    *key = (tensor_key){tensor_load(p->op, map, &point, 1, NO_SPAN), index[0]};
    *target = (tensor_target){add_rows(p, st, left, n, rows.name), n, index};
    rows.ntargets = 1;
    rows.targets = target;
    rows.nleft = n;
    rows.left = left;
    rows.nbound = 1;
    rows.bound = bound;
    rows.nkeys = 1;
    rows.keys = key;
    return rows;
}

// All that is left to the stage are rows; it has variables of its own.
static tensor_stage of_rows(planner *p, const tensor_stage *was, const tensor_stage *rows) {
    tensor_stage st = *was;
    uint32_t n = rows->nleft;
    tensor_expr *vars = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1),
                *body = ARENA_NEW(p->arena, tensor_expr);
    tensor_var *bound = ARENA_ARRAY(p->arena, tensor_var, n + 1);
    tensor_target *to = ARENA_NEW(p->arena, tensor_target);
    const tensor_var *own = plan_own_vars(p, rows->left, n, vars);
    bound[0] = own[0];
    for (uint32_t i = 1; i < st.nbound; i++) bound[i] = own[st.nleft + i];
    tensor_expr row = tensor_load(p->op, rows->targets[0].val, plan_var_exprs(p, own, n), n, st.at);
    *body = tensor_cvt(p->op, tensor_typeof(p->op, st.body[0]), row, NO_SPAN);
    *to = st.targets[0];
    to->index = plan_substitute(p, to->index, to->rank, vars);
    st.targets = to;
    st.left = own + 1;
    st.bound = bound;
    st.body = body;
    st.nfilters = 0;
    return st;
}

static void take_rows(planner *p, uint32_t stage, tensor_val map) {
    const tensor_stage st = p->op->stages.data[stage];
    const tensor_stage rows = rows_of(p, plan_name_inside(p, st.name, "rows"), &st, map);
    p->op->stages.data[stage] = of_rows(p, &st, &rows);
    plan_put_stage(p, stage, rows);
}

static void refuse(planner *p, const tensor_stage *st, const schedule_cell *c, const char *why) {
    const char *map = schedule_value_of(c, "by")->text;
    diagnostic *d = plan_refuse(p, E0556, c->at, "'%s' is no sum of what the rows of '%s' give: %s",
                                st->name, map, why);
    if (d) diag_note(d, st->at, "'%s' is computed here", st->name);
    if (d) diag_help(d, "leave it out");
}

void plan_rfactor(planner *p) {
    for (uint32_t i = 0; i < p->op->stages.len && !p->failed; i++) {
        const tensor_stage *st = &p->op->stages.data[i];
        schedule_cell *c = schedule_find(p->s, st->id, SCHEDULE_RFACTOR, st->id);
        if (!c) continue;
        tensor_val map = plan_map_meant(p, schedule_value_of(c, "by"));
        const char *why = plan_why_no_rows(p, st, map);
        if (why && (st->reducer == TENSOR_NO_REDUCER || !schedule_means(c->about, st->id)))
            continue;
        c->consumed = true;
        if (why) refuse(p, st, c, why);
        else take_rows(p, i++, map);
    }
}
