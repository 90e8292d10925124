// What points have in common that a map takes to one row, found once a row (`hoist`).
//     h[e, k] = sum {f} x[src[e], f] * w[f, k]
//  →  h.rows[n, k] = sum {f} x[n, f] * w[f, k]    h[e, k] = h.rows[src[e], k]
#include "tensor/tensor.h"
#include "base/base.h"
#include "tensor_hoist.h"

typedef struct {
    planner *p;
    tensor_stage st;   // as it was
    tensor_val map;
    tensor_var point;   // that the map leads from
    tensor_var row;     // of the rows' stage
} hoisting;

// ---- Which --------------------------------------------------------------------------------------
static bool find_point(hoisting *h) {
    const tensor_val_info *m = &h->p->op->vals.data[h->map];
    for (uint32_t i = 0; i < h->st.nleft && m->rank == 1; i++)
        if (h->p->op->vars.data[h->st.left[i]].space == m->axes[0]) {
            h->point = h->st.left[i];
            return true;
        }
    return false;
}

static const char *why_not(hoisting *h) {
    const tensor_stage *st = &h->st;
    bool reads = false;
    if (h->map == TENSOR_NO_VAL) return "there is no such map among the parameters";
    if (h->p->op->vals.data[h->map].facts & FACT_PARTIAL)
        return "the map has no value at some points";
    if (st->ntargets != 1 || st->loop != TENSOR_NO_LOOP || st->marks)
        return "it is part of a recurrence, or of several values";
    for (uint32_t i = 0; i < st->targets[0].rank; i++)
        if (tensor_node_at(h->p->op, st->targets[0].index[i])->op != TENSOR_VAR_OP)
            return "its indices are more than names";
    if (!find_point(h)) return "the map leads from none of its left indices";
    if (st->nkeys || st->nelse) return "a key or an `else` is of its points";
    for (uint32_t i = 0; i < st->nbody + st->nfilters; i++) {
        const tensor_expr e = i < st->nbody ? st->body[i] : st->filters[i - st->nbody];
        if (plan_depends(h->p, e, h->point, h->map)) return "a point has more than its row";
        reads |= tensor_reads_row(h->p->op, e, h->point, h->map);
    }
    return reads ? NULL : "it reads no row";
}

const char *plan_why_no_hoist(planner *p, const tensor_stage *st, tensor_val map) {
    hoisting h = {.p = p, .st = *st, .map = map};
    return why_not(&h);
}

// ---- The rows -----------------------------------------------------------------------------------
// With the row in place of what the map says of the point.
static tensor_expr of_row(const hoisting *h, tensor_expr e, tensor_var row) {
    tensor_op *op = h->p->op;
    tensor_expr point = tensor_var_expr(op, h->point, NO_SPAN);
    tensor_key key = {tensor_load(op, h->map, &point, 1, NO_SPAN),
                      tensor_var_expr(op, row, NO_SPAN)};
    tensor_stage keyed = {.nkeys = 1, .keys = &key};
    return plan_by_keys(h->p, e, &keyed);
}

static void store(planner *p, tensor_stage *rows, tensor_type type) {
    tensor_space *axes = ARENA_ARRAY(p->arena, tensor_space, rows->nleft + 1);
    for (uint32_t i = 0; i < rows->nleft; i++) axes[i] = p->op->vars.data[rows->left[i]].space;
    tensor_target *to = ARENA_NEW(p->arena, tensor_target);
    *to = (tensor_target){plan_stage_val(p, rows->name, type, axes, rows->nleft, rows->at),
                          rows->nleft, plan_var_exprs(p, rows->left, rows->nleft)};
    rows->targets = to;
}

// Over variables of its own, but the row.
static void take_own_vars(planner *p, tensor_stage *rows, const tensor_var *left, uint32_t n,
                          tensor_var row) {
    tensor_expr *vars = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1);
    tensor_var *all = ARENA_ARRAY(p->arena, tensor_var, n + 2);
    const tensor_var *own = plan_own_vars(p, left, n, vars);
    rows->bound = plan_own_vars(p, rows->bound, rows->nbound, vars);
    all[0] = row;
    for (uint32_t i = 0; i < n; i++) all[i + 1] = own[i];
    rows->left = all, rows->nleft = n + 1;
    rows->body = plan_substitute(p, rows->body, rows->nbody, vars);
    rows->filters = plan_substitute(p, rows->filters, rows->nfilters, vars);
}

static const tensor_expr *all_of_row(const hoisting *h, const tensor_expr *e, uint32_t n) {
    tensor_expr *to = ARENA_ARRAY(h->p->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++) to[i] = of_row(h, e[i], h->row);
    return to;
}

static void hoist(hoisting *h, uint32_t stage) {
    planner *p = h->p;
    tensor_stage rows = h->st, st = h->st;
    rows.name = plan_name_inside(p, st.name, "rows");
    rows.id = tensor_id_of_path(p->op->ids, rows.name);
    h->row = plan_row_var(p, rows.name, p->op->vals.data[h->map].into);
    rows.body = all_of_row(h, rows.body, rows.nbody);
    rows.filters = all_of_row(h, rows.filters, rows.nfilters);
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st.nleft + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < st.nleft; i++)
        if (st.left[i] != h->point) left[n++] = st.left[i];
    const tensor_type type = {.type = p->op->vals.data[st.targets[0].val].type,
                              .space = TENSOR_NO_SPACE};
    take_own_vars(p, &rows, left, n, h->row);
    store(p, &rows, type);
    tensor_expr *index = ARENA_ARRAY(p->arena, tensor_expr, n + 2),
                *body = ARENA_NEW(p->arena, tensor_expr),
                point = tensor_var_expr(p->op, h->point, NO_SPAN);
    index[0] = tensor_load(p->op, h->map, &point, 1, NO_SPAN);
    for (uint32_t i = 0; i < n; i++) index[i + 1] = tensor_var_expr(p->op, left[i], NO_SPAN);
    *body = tensor_load(p->op, rows.targets[0].val, index, n + 1, st.at);
    st.body = body, st.nbody = 1;
    st.reducer = TENSOR_NO_REDUCER;
    st.nbound = st.nfilters = 0;
    p->op->stages.data[stage] = st;
    plan_put_stage(p, stage, rows);
}

// ---- The statement ------------------------------------------------------------------------------
static void refuse(planner *p, const tensor_stage *st, const schedule_cell *c, const char *why) {
    diagnostic *d = plan_refuse(p, E0558, c->at, "nothing of '%s' is a row's of '%s': %s", st->name,
                                schedule_value_of(c, "by")->text, why);
    if (d) diag_note(d, st->at, "'%s' is computed here", st->name);
    if (d) diag_help(d, "leave it out");
}

void plan_hoist(planner *p) {
    for (uint32_t i = 0; i < p->op->stages.len && !p->failed; i++) {
        hoisting h = {.p = p, .st = p->op->stages.data[i]};
        schedule_cell *c = schedule_find(p->s, h.st.id, SCHEDULE_HOIST, h.st.id);
        if (!c) continue;
        h.map = plan_map_meant(p, schedule_value_of(c, "by"));
        const char *why = why_not(&h);
        if (why && !schedule_means(c->about, h.st.id)) continue;
        c->consumed = true;
        if (why) refuse(p, &h.st, c, why);
        else hoist(&h, i++);
    }
}
