// How one stage is dealt out on a GPU: an inner axis that no map leads to (features, heads) goes to
// lanes and vectors, what is reduced to the lanes left over, rows to groups.
//     y[v, f] = sum{e : dst[e] == v} x[src[e], f], of 16 features
//       →  vector f 4;  lanes f 4;  lanes e 8;  groups v 8
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/stages/stages.h"
#include "base/base.h"
#include "kernels/kernels.h"

// Heads and the like, between rows and features: few, one a lane.
static int64_t fill_heads(making *m, const tensor_stage *st, bool features, int64_t lanes) {
    const default_left left = default_left_of(m->p, st);
    for (uint32_t i = 1; i + features < left.n; i++) {
        const tensor_var v = left.at[i];
        int64_t extent = default_extent(m->p, v), take;
        if (!extent) extent = DEFAULT_HEADS_AT_ONCE;   // more of them in rounds
        take = default_power_above(extent);
        bool inside = default_few(m->p, v, left.at[0]) || default_classes_row(m->p, st, v);
        if (extent < 2 || extent > DEFAULT_MANY_HEADS || take > lanes || !inside) continue;
        default_fill(m, st, SCHEDULE_LANES, v, take, NULL);
        lanes /= take;
    }
    return lanes;
}

// Of these lanes, those that share a row at most, where some should be left for others.
static int64_t row_lanes(const making *m, const tensor_stage *st, int64_t lanes) {
    bool few = m->rows == ROWS_FEW;
    if (m->owner == ROW_OF_LANES && m->owners) return m->owners;
    if (!m->hand.narrow)
        return few && m->hand.sums && !m->hand.streams ? DEFAULT_FEW_LANES : DEFAULT_ROW_LANES;
    if (few) return lanes < DEFAULT_WARP ? DEFAULT_ROW_LANES : DEFAULT_FEW_LANES;
    int64_t most = m->rows == ROWS_BRIEF ? DEFAULT_ROW_LANES : DEFAULT_LONG_STREAM_LANES;
    return default_row_bytes(m->p, st) < DEFAULT_NARROW_ROUND ? most / 2 : most;
}

// Rows of columns whose number is not known: of any number themselves.
static bool are_rows_of_any(const planner *p, const tensor_stage *st) {
    bool any = false;
    for (uint32_t i = 0; i < st->nleft; i++) any |= !default_extent(p, st->left[i]);
    return any && !default_extent(p, st->bound[0]) && default_leads(p, st, st->bound[0]);
}

// Of several dense axes that are reduced the one along which memory runs; the first: none does, or
// one is of rows.
static tensor_var along_memory(const planner *p, const tensor_stage *st) {
    tensor_var along = st->bound[0];
    for (uint32_t i = 0; i < st->nbound; i++) {
        if (!plan_dense(p, st->bound[i])) return st->bound[0];
        if (default_loaded_along(p, st, st->bound[i])) along = st->bound[i];
    }
    return default_reduces_keyed(p, st) ? st->bound[0] : along;
}

static int64_t fill_bound(making *m, const tensor_stage *st, int64_t lanes, bool vectors,
                          bool spare) {
    tensor_var b = along_memory(m->p, st);
    if (b != st->bound[0]) {
        axis_share along = default_share_axis(m, st, b, lanes);
        if (vectors) along.vector = along.registers = 1;
        default_fill_share(m, st, b, along);
        return lanes / along.lanes;
    }
    int64_t few = row_lanes(m, st, lanes);
    // of several axes the first may have a few points alone: most lanes are for other results
    if (st->nbound > 1 && plan_dense(m->p, b) && !default_extent(m->p, b))
        few = lanes > DEFAULT_WIDE_ROW ? lanes / DEFAULT_WIDE_ROW : 1;
    axis_share s = {1, spare && lanes > few ? few : lanes, 1};
    if (default_reduces_dense(m->p, st) && !are_rows_of_any(m->p, st))
        s = default_share_axis(m, st, b,
                               vectors                     ? lanes
                               : lanes < DEFAULT_DOT_LANES ? lanes
                                                           : DEFAULT_DOT_LANES);
    if (vectors) s.vector = s.registers = 1;   // one index at a time is a vector
    default_fill_share(m, st, b, s);
    return lanes / s.lanes;
}

// A lane has all entries of its row; what walks a row several times, and holds them, has half.
static int64_t fill_short(making *m, const tensor_stage *st, int64_t lanes) {
    if (m->hand.sums || m->rows == ROWS_SHORTEST || lanes < 2) return lanes;
    default_fill(m, st, SCHEDULE_LANES, st->bound[0], 2, NULL);
    return lanes / 2;
}

// A dense axis that each entry of a row reduces, along which memory runs: lanes take it as they
// take features.
static int64_t fill_inside(making *m, const tensor_stage *st, int64_t lanes, bool *vectors) {
    for (uint32_t i = st->nbound; i-- > 1;) {
        if (!plan_dense(m->p, st->bound[i]) || !default_loaded_along(m->p, st, st->bound[i]))
            continue;
        axis_share s = default_share_axis(m, st, st->bound[i], lanes);
        if (*vectors) s.vector = s.registers = 1;
        default_fill_share(m, st, st->bound[i], s);
        *vectors |= s.vector > 1;
        return lanes / s.lanes;
    }
    return lanes;
}

// Points of a map, such as edges, of which there are more than of what they lead to.
static bool has_entries(const planner *p, tensor_var v) {
    bool entries = false;
    for (tensor_val x = 0; x < p->op->nparams; x++) {
        const tensor_val_info *i = &p->op->vals.data[x];
        entries |= i->role == VAL_MAP && i->rank && i->axes[0] == p->op->vars.data[v].space;
    }
    return entries;
}

// The lanes that are left for rows; spare: some should be.
int64_t default_stage(making *m, const tensor_stage *st, bool deepest, bool spare) {
    planner *p = m->p;
    const default_left left = default_left_of(p, st);
    const uint32_t n = left.n;
    bool vectors = false, features = default_lanes_along(m, st, deepest),
         reduces = !default_one_by_one(p, st);
    bool rows = st->reducer != TENSOR_NO_REDUCER &&
                (!plan_dense(p, st->bound[0]) || default_reduces_keyed(p, st));
    bool dots = default_reduces_dense(p, st) && !features;
    dot_share dot = dots ? default_dot(m, st, DEFAULT_DOT_LANES, DEFAULT_DOT_HEADS)
                         : (dot_share){0};
    int64_t lanes = dots ? DEFAULT_WARP / (dot.lanes * dot.heads)
                         : fill_heads(m, st, features, DEFAULT_WARP);
    const bool matrices = default_sums_matrices(p, st), columns = default_sums_points(p, st);
    default_parts(m, st);
    if (columns) default_fill(m, st, SCHEDULE_GROUPS, st->bound[0], default_groups(m->p), NULL);
    if (n && m->owner != ROW_OF_BLOCK && !columns)
        default_fill(m, st, SCHEDULE_GROUPS, left.at[0], m->groups, NULL);
    if (m->owner == ROW_OF_BLOCK && rows && reduces)
        default_fill(m, st, SCHEDULE_GROUPS, st->bound[0], m->owners, NULL);
    if (features) {
        axis_share s = default_share_axis(m, st, left.at[n - 1], lanes);
        default_fill_share(m, st, left.at[n - 1], s);
        lanes /= s.lanes;
        vectors = s.vector > 1;
    }
    if (columns)
        default_fill(m, st, SCHEDULE_UNROLL, st->bound[0],
                     default_unroll(m, st, 4, DEFAULT_STEP_LONGEST), NULL);
    if (matrices) lanes = default_matrix_rows(m, st, lanes);
    if (rows && reduces) lanes = fill_inside(m, st, lanes, &vectors);
    if (rows) default_rounds(m, st, lanes);
    // Rows side by side are of like length: none waits for the others. Of narrow ones lanes would
    // read apart. Of many entries, lanes of two rows, or of four of 16 bits, would wait for each
    // other's.
    bool pairs = lanes <= 2 || default_entry_bytes(m->p, st) < 4;
    bool alike = m->hand.sorted && vectors && lanes <= DEFAULT_WARP / DEFAULT_WIDE_ROW &&
                 (!pairs || m->rows == ROWS_FEW);
    if ((m->limit.entries || m->rows == ROWS_THIN) && rows && reduces)
        return fill_short(m, st, lanes);
    if (m->hand.sums && rows && vectors && lanes == DEFAULT_PAIRED &&
        m->owner == ROW_OF_LANES) {   // requests are what is short
        default_fill(m, st, SCHEDULE_LANES, st->bound[0], 2, NULL);
        return lanes / 2;
    }
    // lanes of other points add up less, where there are many
    const bool side = features && default_reduces_dense(p, st) && !columns &&
                      !default_extent(p, st->bound[0]) && has_entries(p, left.at[0]);
    if (reduces && !dots && lanes > 1 && !alike && !side)
        lanes = fill_bound(m, st, lanes, vectors, spare && n && !columns);
    return lanes;
}
