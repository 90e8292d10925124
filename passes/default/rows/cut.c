// Kernels of sums of rows alone: long rows are cut into parts, rows of a few entries go without
// rounds, and those that a group goes through in a few rounds all begin at once.
//     y[v, f] = sum{e : dst[e] == v} x[src[e], f]   →  order v by degree(dst, v) desc;  split e 256
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/stages/stages.h"
#include "default/rows/rows.h"
#include "base/base.h"
#include "kernels/kernels.h"

// ---- Long rows ----------------------------------------------------------------------------------
// Lanes along an index, as the schedule at hand has them.
static int64_t lanes_along(making *m, const tensor_stage *st, tensor_var v, bool bound) {
    return plan_or_one(default_cut_of(m, st, v, bound).lanes);
}

// A row has one number, which lanes share the entries of.
static bool is_one_number(const planner *p, const tensor_stage *st) {
    return default_left_of(p, st).n == 1;
}

// Entries of a part: the more rows a warp has, the more are under way, and the less of each; lanes
// that share the entries of a row take so many each. A part of what comes from memory, or of 16
// bits, whose states are twice as wide, is longer.
static int64_t part_entries(making *m, const tensor_stage *st, tensor_var row) {
    if (m->rows == ROWS_THIN) return DEFAULT_THIN_PART;
    if (m->rows == ROWS_FEWER) return DEFAULT_FEW_PART;
    int64_t rows = lanes_along(m, st, row, false), shared = lanes_along(m, st, st->bound[0], true);
    if (m->rows == ROWS_FEW && shared >= DEFAULT_LEAST_SHARING &&
        (!m->hand.streams || shared > DEFAULT_LEAST_SHARING))
        return DEFAULT_SHARED_PART;
    bool half = default_entry_bytes(m->p, st) < 4;
    int64_t few = (m->hand.streams && !m->hand.narrow ? 2 : 1) * DEFAULT_FEW_PART / rows,
            least = (m->hand.streams || half) ? 64 / shared : 32;
    if (few > DEFAULT_FEW_PART) few = DEFAULT_FEW_PART;
    if (few < least) few = least;
    const bool narrow = m->hand.narrow || is_one_number(m->p, st);
    const int64_t each = m->rows == ROWS_FEW ? few : narrow ? DEFAULT_NARROW_PART : DEFAULT_PART;
    return default_fewer_terms(m->p, st, each, DEFAULT_STANDS) * shared;
}

typedef struct {
    const planner *p;
    const tensor_stage *st;
    int64_t numbers;
} reading;

static int64_t extents_of(const planner *p, const tensor_stage *st, const tensor_node *load) {
    int64_t numbers = 1;
    for (uint32_t i = 1; i < st->nleft; i++)
        if (!load || plan_load_mentions(p, load, st->left[i]))
            numbers *= default_extent(p, st->left[i]);
    return numbers;
}

static bool add_numbers(void *user, const tensor_node *load) {
    reading *r = user;
    r->numbers += extents_of(r->p, r->st, load);
    return true;
}

// Where a row has far more numbers than an entry reads, as one of outer products, parts are so long
// that what is stored of them is little beside what their entries read.
static int64_t least_entries(const planner *p, const tensor_stage *st) {
    reading r = {p, st, 0};
    const int64_t results = extents_of(p, st, NULL);
    plan_loads(p, st, add_numbers, &r);
    return results > DEFAULT_STATE_SHARE * r.numbers
               ? default_power_above(DEFAULT_STATE_SHARE * results / r.numbers)
               : 0;
}

// Rows of one lane's accesses alone: what few threads have longer rows wait for less than for their
// order.
static bool lanes_share_all(making *m, const stage_group *g, tensor_var row) {
    const tensor_stage *st = &m->p->op->stages.data[g->data[0]];
    return lanes_along(m, st, row, false) * lanes_along(m, st, st->bound[0], true) ==
           m->p->machine->lanes;
}

// All that share the walk have parts of as many entries.
static void split(making *m, const stage_group *g, uint32_t end, int64_t part) {
    for (uint32_t i = 0; i < end; i++) {
        const tensor_stage *st = &m->p->op->stages.data[g->data[i]];
        default_fill(m, st, SCHEDULE_SPLIT, st->bound[0], part, NULL);
    }
}

void default_cut(making *m, const stage_group *g, tensor_val map) {
    planner *p = m->p;
    const tensor_stage *deepest = &p->op->stages.data[g->data[g->len - 1]];
    const tensor_var row = default_left_of(p, deepest).at[0];
    if (m->rows == ROWS_SKEWED || m->rows == ROWS_BRIEF ||
        (m->rows == ROWS_FEW && !m->hand.narrow && !lanes_share_all(m, g, row)))
        default_order_by_degree(m, deepest, row, map);
    const uint32_t end = plan_run_end(p, g, 0);
    int64_t part = INT64_MAX;
    for (uint32_t i = 0; i < end; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        const int64_t least = least_entries(p, st),
                      each = part_entries(m, st, default_left_of(p, st).at[0]),
                      entries = each > least ? each : least;
        if (entries < part) part = entries;
    }
    split(m, g, end, part);
    m->limit.cut = true;
}

// ---- Rows of which nothing is known -------------------------------------------------------------
bool default_of_prepared(making *m, const tensor_stage *st) {
    plan_map map;
    bool of = false;
    if (st->reducer == TENSOR_NO_REDUCER || !st->nbound || default_one_by_one(m->p, st))
        return false;
    for (uint32_t k = 0; k < st->nkeys && !of; k++)
        of = plan_map_of_key(m->p, st->keys[k].lhs, st->bound[0], &map) &&
             m->p->op->vals.data[map.map].role == VAL_PREPARED;
    return of;
}

// The runtime counts no rows of what it has prepared itself: one may have all entries.
void default_cut_prepared(making *m, const stage_group *g) {
    const uint32_t end = plan_run_end(m->p, g, 0);
    int64_t part = INT64_MAX;
    for (uint32_t i = 0; i < end; i++) {
        const tensor_stage *st = &m->p->op->stages.data[g->data[i]];
        const int64_t shared = lanes_along(m, st, st->bound[0], true),
                      each = default_fewer_terms(m->p, st, DEFAULT_NARROW_PART,
                                                 DEFAULT_LEAST_SHARING);
        if (each * shared < part) part = each * shared;
    }
    split(m, g, end, part);
}

// ---- Short rows ---------------------------------------------------------------------------------
bool default_short(making *m, const stage_group *g) {
    tensor_val map = default_row_map(m->p, g);
    if (!m->hand.sums || map == TENSOR_NO_VAL) return false;
    for (uint32_t i = 0, end = plan_run_end(m->p, g, 0); i < end && m->rows == ROWS_SHORTEST; i++) {
        const tensor_stage *st = &m->p->op->stages.data[g->data[i]];
        default_specialize(m, st, st->bound[0], &m->limit.entries, 1);
    }
    default_suppose_longest(m, map, m->limit.entries);
    return true;
}

bool default_at_once(making *m, const stage_group *g, tensor_val map) {
    planner *p = m->p;
    const tensor_stage *st = &p->op->stages.data[g->data[0]];
    int64_t sharing = map == TENSOR_NO_VAL ? 0 : lanes_along(m, st, st->bound[0], true);
    if (sharing < DEFAULT_LEAST_SHARING) return false;
    default_guard(m, true, default_longest(m, map, DEFAULT_AT_ONCE * sharing));
    return true;
}
