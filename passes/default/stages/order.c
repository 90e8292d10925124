// The order of a reduction's indices by default: points before dense axes, rows outermost.
//     y[f, v] = sum{d, e : dst[e] == v} x[src[e], d, f]   →  loops v, f, e, d
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/stages/stages.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <string.h>

// What maps lead from or into is walked first: features inside it lie as memory does. Where there
// are no rows of such points, what may be of any extent comes before what is known to be small.
enum { POINTS, ANY_EXTENT, KNOWN_EXTENT, ORDERS };

static uint32_t order_of(const planner *p, tensor_var v, bool rows) {
    return !plan_dense(p, v) ? POINTS : rows || default_extent(p, v) ? KNOWN_EXTENT : ANY_EXTENT;
}

static bool points_first(const planner *p, tensor_var *vars, uint32_t n, bool rows) {
    bool moved = false;
    tensor_var *sorted = ARENA_ARRAY(p->arena, tensor_var, n + 1);
    for (uint32_t pass = 0, next = 0; pass < ORDERS; pass++)
        for (uint32_t i = 0; i < n; i++)
            if (order_of(p, vars[i], rows) == pass) moved |= i != next, sorted[next++] = vars[i];
    if (n) memcpy(vars, sorted, n * sizeof *vars);
    return moved;
}

static bool have_one_twice(const planner *p, const tensor_var *vars, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (plan_var_id(p, vars[i]) == plan_var_id(p, vars[k])) return true;
    return false;
}

// Rows that the first key leads to, which is walked, come before those that other keys lead to, or
// that are not few. of: the reduction, NULL: what is computed from one.
enum { WALKED_ROW, ROW, INSIDE, KINDS };

static uint32_t kind_of(const planner *p, const tensor_stage *of, tensor_var v) {
    uint32_t kind = (of ? !default_few(p, v, of->bound[0]) : !plan_dense(p, v)) ? ROW : INSIDE;
    for (uint32_t k = of ? of->nkeys : 0; k-- > 0;) {
        const tensor_node *to = tensor_node_at(p->op, of->keys[k].rhs);
        if (to->op == TENSOR_VAR_OP && (tensor_var)to->imm.i == v) kind = k ? ROW : WALKED_ROW;
    }
    return kind;
}

// Blocks own the outermost index: of a sum of rows, that of the rows.
static bool rows_first(const planner *p, const tensor_stage *of, tensor_var *left, uint32_t n) {
    tensor_var *sorted = ARENA_ARRAY(p->arena, tensor_var, n + 1);
    bool moved = false;
    for (uint32_t kind = 0, next = 0; kind < KINDS; kind++)
        for (uint32_t i = 0; i < n; i++)
            if (kind_of(p, of, left[i]) == kind) moved |= i != next, sorted[next++] = left[i];
    if (n) memcpy(left, sorted, n * sizeof *left);
    return moved;
}

static void take_left(planner *p, tensor_stage *st, const tensor_var *vars) {
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    for (uint32_t i = 0, next = 0; i < st->nleft; i++)
        left[i] = plan_is_step(p, st, st->left[i]) ? st->left[i] : vars[next++];
    st->left = left;
}

static void order(making *m, tensor_stage *st) {
    planner *p = m->p;
    tensor_var *vars = ARENA_ARRAY(p->arena, tensor_var, st->nleft + st->nbound + 1);
    uint32_t n = plan_left(p, st, vars);
    const bool free = p->op->reducers.data[st->reducer].commutative;
    bool rows = false;
    for (uint32_t i = 0; i < n; i++) rows |= !plan_dense(p, vars[i]);
    for (uint32_t i = 0; i < st->nbound; i++) vars[n + i] = st->bound[i];
    if (have_one_twice(p, vars, n + st->nbound)) return;
    bool inside = free && points_first(p, vars + n, st->nbound, rows),
         outside = !plan_dense(p, st->bound[0]) && rows_first(p, st, vars, n);
    if (!inside && !outside) return;
    default_say(m, default_cell(SCHEDULE_LOOPS, st), default_index_list(p, vars, n + st->nbound));
    st->bound = vars + n;
    take_left(p, st, vars);
}

// A number of a few layers or directions does not stand before the points.
static void order_points(making *m, tensor_stage *st) {
    planner *p = m->p;
    tensor_var *vars = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    uint32_t n = plan_left(p, st, vars);
    const int64_t first = n > 1 ? default_extent(p, vars[0]) : 0;
    const bool few = first && first < DEFAULT_FEW_BLOCKS && p->machine->gpu &&
                     kind_of(p, NULL, vars[0]) == INSIDE;
    if (!few || have_one_twice(p, vars, n) || !rows_first(p, NULL, vars, n)) return;
    default_say(m, default_cell(SCHEDULE_LOOPS, st), default_index_list(p, vars, n));
    take_left(p, st, vars);
}

void default_order(making *m) {
    for (uint32_t i = 0; i < m->p->op->stages.len; i++) {
        tensor_stage *st = &m->p->op->stages.data[i];
        if (plan_inlined(m->p, i)) continue;
        if (st->reducer == TENSOR_NO_REDUCER) order_points(m, st);
        else order(m, st);
    }
}
