// What kind of sum a stage is, by its indices and what it reads: of a dense axis, of columns, of
// matrices, and whether memory runs along an index on the left.
//     y[v, f] = sum{e : dst[e] == v} x[src[e], f]   →  has features: f
//     s[e, h] = sum{d} q[dst[e], h, d] * k[src[e], h, d]   →  reduces a dense axis: d
#include "default/ask/ask.h"
#include "base/base.h"
#include "kernels/kernels.h"

default_left default_left_of(const planner *p, const tensor_stage *st) {
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    return (default_left){.n = plan_left(p, st, left), .at = left};
}

bool default_one_by_one(const planner *p, const tensor_stage *st) {
    return st->reducer == TENSOR_NO_REDUCER || !p->op->reducers.data[st->reducer].commutative;
}

// A key leaves of what is reduced a row's own: of all entries of a table, too, to which no map
// leads.
//     y[w] = sum{k : field[k / 8, k % 8] == w} …
bool default_reduces_keyed(const planner *p, const tensor_stage *st) {
    bool rows = false;
    for (uint32_t k = 0; k < st->nkeys; k++)
        rows |= plan_mentions(p, st->keys[k].lhs, st->bound[0]);
    return rows;
}

bool default_reduces_dense(const planner *p, const tensor_stage *st) {
    if (default_one_by_one(p, st) || st->nbound != 1 || default_reduces_keyed(p, st)) return false;
    return plan_dense(p, st->bound[0]) || (st->nleft && default_few(p, st->bound[0], st->left[0]));
}

bool default_reads_all_left(const planner *p, const tensor_stage *st, const tensor_node *load) {
    bool all = true;
    for (uint32_t i = 1; i < st->nleft; i++) all &= plan_load_mentions(p, load, st->left[i]);
    return all;
}

// ---- Sums of all points -------------------------------------------------------------------------
// Of all points of an index, whatever maps say of them, to a few results.
static bool sums_all(const planner *p, const tensor_stage *st, default_left left) {
    if (default_one_by_one(p, st) || st->nbound != 1 || st->nkeys) return false;
    for (uint32_t i = 0; i < left.n; i++)
        if (!default_few(p, left.at[i], st->bound[0])) return false;
    return true;
}

// Sums of columns: memory runs along the one left-hand index, not along what is reduced.
bool default_sums_columns(const planner *p, const tensor_stage *st) {
    const default_left left = default_left_of(p, st);
    return left.n == 1 && sums_all(p, st, left) &&
           plan_ends_on(p, st, left.at[0], st->bound[0]) >
               plan_ends_on(p, st, st->bound[0], left.at[0]);
}

// Sums of matrices over the points of a graph, such as the gradient of a layer's weights.
bool default_sums_matrices(const planner *p, const tensor_stage *st) {
    const default_left left = default_left_of(p, st);
    bool known = true;
    for (uint32_t i = 0; i < left.n; i++) known &= default_extent(p, left.at[i]) != 0;
    return left.n > 1 && sums_all(p, st, left) &&
           (!plan_dense(p, st->bound[0]) || (known && !default_extent(p, st->bound[0])));
}

bool default_sums_points(const planner *p, const tensor_stage *st) {
    return default_sums_columns(p, st) || default_sums_matrices(p, st);
}

// The first stage that sums columns or matrices, whose cells what is computed from it has, too.
uint32_t default_columns_of(const planner *p, const stage_group *g) {
    for (uint32_t i = 0; i < g->len; i++) {
        if (default_sums_points(p, plan_stage(p, g->data[i]))) return g->data[i];
    }
    return UINT32_MAX;
}

// ---- Features -----------------------------------------------------------------------------------
// Each point of v has what is reduced along memory; what ends on v is the same for all of it.
static bool runs_along_bound(const planner *p, const tensor_stage *st, tensor_var v) {
    return plan_ends_on(p, st, st->bound[0], v) && !plan_ends_on(p, st, v, st->bound[0]);
}

// A row's classes, which a key takes its entries to beside the one that leads to the row.
//     c[v, r] = sum{e : dst[e] == v, type[e] == r} w[e]   →  r
bool default_classes_row(const planner *p, const tensor_stage *st, tensor_var v) {
    for (uint32_t k = 1; k < st->nkeys; k++) {
        const tensor_node *to = tensor_node_at(p->op, st->keys[k].rhs);
        if (to->op == TENSOR_VAR_OP && (tensor_var)to->imm.i == v) return true;
    }
    return false;
}

// The innermost left-hand axis that lanes and vectors run along. Where a dense axis is reduced and
// the left-hand one is only stored along, memory runs along what is reduced.
bool default_has_features(const planner *p, const tensor_stage *st) {
    const default_left left = default_left_of(p, st);
    if (default_sums_points(p, st)) return true;
    if (left.n < 2) return false;
    const tensor_var last = left.at[left.n - 1];
    if (!default_few(p, last, left.at[0]) && !default_classes_row(p, st, last)) return false;
    return !default_reduces_dense(p, st) ||
           (default_loaded_along(p, st, last) && !runs_along_bound(p, st, last));
}

// ---- Dot products -------------------------------------------------------------------------------
bool default_is_dot(const planner *p, const stage_group *g) {
    if (!default_reduces_dense(p, &p->op->stages.data[g->data[0]])) return false;
    for (uint32_t i = 1; i < g->len; i++)
        if (p->op->stages.data[g->data[i]].reducer != TENSOR_NO_REDUCER) return false;
    return true;
}
