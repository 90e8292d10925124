// How the default schedule fills the machine where few results are left of many points: blocks take
// parts of what is reduced, and a second kernel combines what they leave. Lanes run along the axis
// that memory runs along, whether it is left or reduced; what is left over of a warp, and the
// groups of a block, share the points.
//     dt[h] = sum {e, d} g[dst[e], h, d] * x[src[e], h, d]
//  →  block e 256  groups e 8  vector d 4  lanes d 4  lanes h 4  lanes e 2
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/stages/stages.h"
#include "base/base.h"
#include "kernels/kernels.h"

// ---- Of one index -------------------------------------------------------------------------------
static bool reduces_across(const planner *p, const tensor_stage *st) {
    const default_left left = default_left_of(p, st);
    if (default_one_by_one(p, st) || st->nkeys) return false;
    int64_t extent = default_extent(p, st->bound[0]);
    if (default_sums_columns(p, st)) return !extent || extent > DEFAULT_COLUMN_PART;
    if (default_sums_matrices(p, st)) return true;
    if (extent && extent <= DEFAULT_ACROSS_PART) return false;
    for (uint32_t i = 0; i < left.n; i++)
        if (!plan_dense(p, left.at[i]) ||
            (!default_extent(p, left.at[i]) && plan_dense(p, st->bound[0])))
            return false;
    return true;
}

static int64_t extent_or_typical(const making *m, tensor_var v) {
    int64_t extent = default_extent(m->p, v);
    return extent ? extent : m->class->typical;
}

// Of a sum of matrices: a part leaves a matrix, and reads a row and a column of it a point.
static int64_t matrix_points(const making *m, default_left left) {
    int64_t columns = extent_or_typical(m, left.at[left.n - 1]), rows = 1;
    for (uint32_t i = 0; i + 1 < left.n && rows < DEFAULT_ACROSS_PART; i++)
        rows *= extent_or_typical(m, left.at[i]);
    int64_t points = default_power_above(DEFAULT_OUTER_READS * rows * columns / (rows + columns) +
                                         1);
    return points < DEFAULT_OUTER_PART    ? DEFAULT_OUTER_PART
           : points > DEFAULT_ACROSS_PART ? DEFAULT_ACROSS_PART
                                          : points;
}

static int64_t column_points(const making *m, tensor_var column) {
    int64_t points = DEFAULT_COLUMN_PART, columns = extent_or_typical(m, column);
    while (points > DEFAULT_COLUMN_LEAST && points * columns > DEFAULT_PART_TERMS) points /= 2;
    return points;
}

void default_parts(making *m, const tensor_stage *st) {
    const machine *on = m->p->machine;
    const default_left left = default_left_of(m->p, st);
    if (!reduces_across(m->p, st)) return;
    int64_t points = default_sums_columns(m->p, st) ? column_points(m, left.at[0])
                     : default_sums_matrices(m->p, st)
                         ? matrix_points(m, left)
                         : default_fewer_terms(m->p, st, DEFAULT_ACROSS_PART, on->block_threads);
    default_fill(m, st, SCHEDULE_BLOCK, st->bound[0], on->gpu ? points : DEFAULT_HOST_PART, NULL);
    if (on->gpu && !left.n)
        default_fill(m, st, SCHEDULE_GROUPS, st->bound[0], default_groups(m->p), NULL);
}

// The rows of a matrix that is summed: a lane holds some, and reads a column's element once for all
// of them.
int64_t default_matrix_rows(making *m, const tensor_stage *st, int64_t lanes) {
    const default_left left = default_left_of(m->p, st);
    index_cut columns = default_cut_of(m, st, left.at[left.n - 1], false);
    int64_t room = DEFAULT_HELD / (plan_or_one(columns.vector) * plan_or_one(columns.registers)),
            rows = default_typical(m, left.at[0]), take = default_power_above(rows);
    int64_t hold = take < room ? take : room;
    if (take / hold < lanes && take / lanes > 0) hold = take / lanes;   // all lanes have some
    int64_t shared = take / hold < lanes ? take / hold : lanes;
    default_fill(m, st, SCHEDULE_LANES, left.at[0], shared, NULL);
    default_fill(m, st, SCHEDULE_REGISTERS, left.at[0], hold, NULL);
    return lanes / shared;
}

// ---- Of several indices, or several reductions --------------------------------------------------
typedef struct {
    making *m;
    const tensor_stage *st;
    default_left left;
} across;

static across across_of(making *m, const tensor_stage *st) {
    return (across){m, st, default_left_of(m->p, st)};
}

// Many points, and few results: those of small dense axes, or of what maps lead to from the points
// alone.
static bool leaves_few(const across *a) {
    const planner *p = a->m->p;
    const tensor_stage *st = a->st;
    if (st->reducer == TENSOR_NO_REDUCER || st->nkeys) return false;
    tensor_var points = st->bound[0];
    int64_t extent = default_extent(p, points);
    const bool dense = plan_dense(p, points);
    if (extent && extent <= DEFAULT_ACROSS_PART) return false;
    for (uint32_t i = 0; i < a->left.n; i++)
        if (!default_few(p, a->left.at[i], points) ||
            (dense && !default_extent(p, a->left.at[i]) && !default_leads(p, st, points)))
            return false;
    return true;
}

// Dealt out well by what is said of one index (stage.c).
static bool is_plain(const across *a) {
    const planner *p = a->m->p;
    return a->st->nbound == 1 && !default_one_by_one(p, a->st) &&
           (!a->left.n || default_sums_points(p, a->st));
}

// Along which memory runs, of all but the points: UINT32_MAX: along those.
static tensor_var runs_along(const across *a) {
    const planner *p = a->m->p;
    tensor_var points = a->st->bound[0], best = UINT32_MAX;
    int64_t most = 0;
    for (uint32_t i = 0; i < a->left.n + a->st->nbound - 1; i++) {
        tensor_var v = i < a->left.n ? a->left.at[i] : a->st->bound[i - a->left.n + 1];
        int64_t ends = plan_ends_on(p, a->st, v, points) - plan_ends_on(p, a->st, points, v);
        if (ends >= most && ends > 0) most = ends, best = v;
    }
    return best;
}

// What threads have of an axis, as far as lanes and registers go.
static void fill_axis(const across *a, tensor_var v, int64_t *lanes, int64_t *room) {
    int64_t extent = default_typical(a->m, v), all = default_power_above(extent),
            take = all < *lanes ? all : *lanes;
    default_fill(a->m, a->st, SCHEDULE_LANES, v, take, NULL);
    *lanes /= take;
    for (all /= take; all > *room;) all /= 2;
    default_fill(a->m, a->st, SCHEDULE_REGISTERS, v, all, NULL);
    *room /= all;
}

static void fill_along(const across *a, tensor_var v, int64_t *lanes, int64_t *room) {
    axis_share s = default_share_axis(a->m, a->st, v, *lanes);
    default_fill_share(a->m, a->st, v, s);
    *lanes /= s.lanes;
    *room /= s.vector * s.registers;
    if (!*room) *room = 1;
}

static int64_t lanes_of(const across *a) {
    int64_t lanes = 1;
    for (uint32_t i = 0; i < a->left.n; i++)
        lanes *= plan_or_one(default_cut_of(a->m, a->st, a->left.at[i], false).lanes);
    return lanes;
}

// The left indices, as the first reduction of the kernel has them.
static void fill_left(const across *a, bool ordered) {
    const tensor_var along = runs_along(a);
    int64_t lanes = a->m->p->machine->lanes, room = DEFAULT_HELD;
    bool reduced = along != UINT32_MAX;
    for (uint32_t i = 0; i < a->left.n; i++) reduced &= a->left.at[i] != along;
    if (reduced && !ordered) {
        axis_share s = default_share_axis(a->m, a->st, along, lanes);
        lanes /= s.lanes, room /= s.vector * s.registers;
    } else if (!reduced && along != UINT32_MAX) fill_along(a, along, &lanes, &room);
    if (!room) room = 1;
    for (uint32_t i = a->left.n; i-- > 0;)
        if (a->left.at[i] != along) fill_axis(a, a->left.at[i], &lanes, &room);
}

// What is reduced beside the points: first what memory runs along.
static int64_t fill_reduced(const across *a, int64_t lanes) {
    const tensor_var along = runs_along(a);
    const tensor_stage *st = a->st;
    int64_t room = DEFAULT_HELD;
    for (uint32_t i = 1; i < st->nbound; i++)
        if (st->bound[i] == along) fill_along(a, along, &lanes, &room);
    for (uint32_t i = st->nbound; i-- > 1;) {
        room = 1;
        if (st->bound[i] != along && plan_dense(a->m->p, st->bound[i]))
            fill_axis(a, st->bound[i], &lanes, &room);
    }
    return lanes;
}

static int64_t terms_at(const across *a) {
    int64_t terms = 1;
    for (uint32_t i = 0; i < a->left.n + a->st->nbound - 1 && terms < DEFAULT_PART_TERMS; i++)
        terms *= extent_or_typical(a->m,
                                   i < a->left.n ? a->left.at[i] : a->st->bound[i - a->left.n + 1]);
    return terms;
}

// As few as keep every multiprocessor busy, but what a part leaves is less than what it reads.
static int64_t points_of(const across *a, bool ordered, int64_t at_once) {
    const planner *p = a->m->p;
    int64_t most = ordered ? DEFAULT_ORDERED_PART
                           : default_fewer_terms(p, a->st, DEFAULT_ACROSS_PART,
                                                 p->machine->block_threads),
            least = a->left.n > 1 && a->st->nbound == 1 ? matrix_points(a->m, a->left)
                                                        : DEFAULT_PART_LEAST,
            points = most;
    while (points > least && points * terms_at(a) > DEFAULT_PART_TERMS) points /= 2;
    return points < at_once ? at_once : points;
}

static void fill_reduction(const across *a) {
    making *m = a->m;
    const bool ordered = default_one_by_one(m->p, a->st);
    int64_t lanes = 1, groups = 1;
    if (!ordered) {
        lanes = fill_reduced(a, m->p->machine->lanes / lanes_of(a)), groups = default_groups(m->p);
        default_fill(m, a->st, SCHEDULE_LANES, a->st->bound[0], lanes, NULL);
        default_fill(m, a->st, SCHEDULE_GROUPS, a->st->bound[0], groups, NULL);
        default_rounds(m, a->st, lanes);
    }
    default_fill(m, a->st, SCHEDULE_BLOCK, a->st->bound[0], points_of(a, ordered, groups * lanes),
                 NULL);
}

static bool is_across(making *m, const stage_group *g) {
    // one sum of columns is finished as it stands
    bool plain = true, some = false, rest = false, apart = g->len > 2;
    for (uint32_t i = 0; i < g->len; i++) {
        const across a = across_of(m, &m->p->op->stages.data[g->data[i]]);
        if (a.st->reducer == TENSOR_NO_REDUCER) {
            rest = true;
            continue;
        }
        if (!leaves_few(&a)) return false;
        plain &= is_plain(&a), some = true, apart |= a.left.n > 1;
    }
    return some && (!plain || (rest && apart));
}

bool default_across(making *m, const stage_group *g) {
    const planner *p = m->p;
    const tensor_stage *first = NULL;
    if (!p->machine->gpu || !is_across(m, g)) return false;
    for (uint32_t i = 0; i < g->len; i++) {
        const across a = across_of(m, &p->op->stages.data[g->data[i]]);
        if (a.st->reducer == TENSOR_NO_REDUCER) continue;
        if (first) default_along(m, first, a.st);
        else fill_left(&a, default_one_by_one(p, a.st));
        if (!first) first = a.st;
        fill_reduction(&a);
    }
    for (uint32_t i = 0; i < g->len; i++)
        if (p->op->stages.data[g->data[i]].reducer == TENSOR_NO_REDUCER)
            default_along(m, first, &p->op->stages.data[g->data[i]]);
    default_level_rounds(m, g);
    return true;
}
