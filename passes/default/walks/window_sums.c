// Whether the sums of a walk are products that windows have (windows.c): of what a second
// map of the edges says, by cells, and scores that are dot products of rows and of that, all of one
// type.
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/walks/walks.h"
#include "default/walks/windows.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"

static bool is_map_at(const planner *p, const tensor_node *n, tensor_val *map) {
    if (n->op != TENSOR_LOAD_OP || n->nargs != 1 || p->op->vals.data[n->imm.i].role != VAL_MAP)
        return false;
    *map = (tensor_val)n->imm.i;
    return tensor_node_at(p->op, n->args[0])->op == TENSOR_VAR_OP;
}

// What is read at what another map of the edges says.
static bool see_source(windows *x, tensor_val map) {
    const tensor_val_info *i = &x->w->p->op->vals.data[map];
    if (map == x->of->map || i->facts & (FACT_PARTIAL | FACT_PREFIX) ||
        i->axes[0] != x->w->p->op->vals.data[x->of->map].axes[0])
        return false;
    if (x->source == TENSOR_NO_VAL) x->source = map;
    return x->source == map;
}

static ir_dtype default_window_type(const planner *p, tensor_expr e) {
    ir_dtype t = default_narrow_type(p->op, e);
    return t == DT_COUNT && tensor_node_at(p->op, e)->op == TENSOR_LOAD_OP &&
                   tensor_typeof(p->op, e).type == DT_F32
               ? DT_F32
               : t;
}

static bool see_type(windows *x, tensor_expr e) {
    ir_dtype t = default_window_type(x->w->p, e);
    if (t == DT_COUNT) return false;
    if (x->type == DT_COUNT) x->type = t;
    return x->type == t;
}

bool default_window_rows(const windows *x, tensor_expr e, tensor_var along, bool *row,
                         tensor_val *map) {
    const planner *p = x->w->p;
    const tensor_node *n = loop_matrix_factor(p->op, e);
    if (n->op != TENSOR_LOAD_OP || n->nargs < 2 || p->op->vals.data[n->imm.i].role != VAL_TENSOR)
        return false;
    const tensor_node *last = tensor_node_at(p->op, n->args[n->nargs - 1]);
    if (last->op != TENSOR_VAR_OP || (tensor_var)last->imm.i != along) return false;
    if (!is_map_at(p, tensor_node_at(p->op, n->args[0]), map)) return false;
    *row = *map == x->of->map;
    return true;
}

bool default_window_dot(windows *x, const tensor_stage *st) {
    const tensor_node *product = tensor_node_at(x->w->p->op, st->body[0]);
    bool row[2];
    tensor_val map[2];
    if (st->nbound != 1 || st->nkeys || product->op != TENSOR_MUL_OP ||
        !plan_matrix_sums(x->w->p, st))
        return false;
    for (uint32_t i = 0; i < 2; i++)
        if (!default_window_rows(x, product->args[i], st->bound[0], &row[i], &map[i]) ||
            !see_type(x, product->args[i]))
            return false;
    x->dots = default_extent(x->w->p, st->bound[0]);
    return row[0] != row[1] && see_source(x, map[row[0] ? 1 : 0]) && x->dots;
}

typedef struct {
    windows *x;
    tensor_var columns;
    uint32_t found;   // factors that have them
    bool fits;
} factors;

// A number of the caller's stands in a cell by itself.
static bool has_numbers(const windows *x, tensor_expr e, tensor_var columns, bool *seen) {
    const planner *p = x->w->p;
    const tensor_node *n = tensor_node_at(p->op, e);
    if (seen[e]) return false;
    seen[e] = true;
    if (n->op == TENSOR_EXP_OP) return false;
    if (n->op == TENSOR_LOAD_OP && p->op->vals.data[n->imm.i].role == VAL_TENSOR)
        return !plan_mentions(p, e, columns);
    for (uint32_t i = 0; i < n->nargs; i++)
        if (has_numbers(x, n->args[i], columns, seen)) return true;
    return false;
}

// Exponentials of differences from a maximum that is found on the run: what else a term has of the
// row waits.
static bool is_weight(const windows *x, const tensor_stage *st) {
    const tensor_expr body = plan_inline_loads(x->w->p, st->body[0]);
    bool *seen = ARENA_ARRAY(x->w->p->arena, bool, x->w->p->op->exprs.len + 1);
    if (has_numbers(x, body, st->left[st->nleft - 1], seen)) return false;
    for (uint32_t i = 0; i < x->of->sums.len; i++) {
        const tensor_stage *m = window_stage(x->w, x->of->sums.data[i]);
        if (x->w->p->op->reducers.data[m->reducer].kind == REDUCE_MAX &&
            default_reads(x->w, (uint32_t)(st - x->w->p->op->stages.data), x->of->sums.data[i]))
            return true;
    }
    return false;
}

// Of the factors of a term one has the columns, and is of what the map says alone.
static void see_factors(factors *f, tensor_expr e) {
    const planner *p = f->x->w->p;
    const tensor_node *n = tensor_node_at(p->op, e);
    bool row;
    tensor_val map;
    if (!plan_mentions(p, e, f->columns)) return;
    if (n->op == TENSOR_MUL_OP) {
        see_factors(f, n->args[0]);
        see_factors(f, n->args[1]);
        return;
    }
    f->found++;
    f->fits = f->fits && default_window_rows(f->x, e, f->columns, &row, &map) && !row &&
              see_source(f->x, map) && see_type(f->x, e);
}

static bool is_product(windows *x, const tensor_stage *st) {
    factors f = {x, st->left[st->nleft - 1], 0, true};
    see_factors(&f, plan_inline_loads(x->w->p, st->body[0]));
    return f.fits && f.found == 1 && plan_matrix_sums(x->w->p, st) && !st->nfilters;
}

static bool fits_sums(windows *x) {
    const planner *p = x->w->p;
    for (uint32_t i = 0; i < x->of->sums.len; i++) {
        const tensor_stage *st = window_stage(x->w, x->of->sums.data[i]);
        if (st->nleft > x->depth) x->depth = st->nleft;
        if (st->nbound != 1) return false;
    }
    uint32_t others = 0;   // as deep
    for (uint32_t i = 0; i < x->of->sums.len; i++) {
        const tensor_stage *st = window_stage(x->w, x->of->sums.data[i]);
        bool deep = st->nleft == x->depth && st->nleft > 1, own = deep && is_product(x, st);
        others += deep && !own;
        if (!own) continue;
        x->bounded = (!x->products || x->bounded) && is_weight(x, st);
        x->products++;
        x->columns = default_extent(p, st->left[st->nleft - 1]);
    }
    if (x->products) return !others;
    // what rows and heads have alone
    const tensor_stage *st = window_stage(x->w, x->of->sums.data[0]);
    return x->depth < 2 ||
           (x->depth == 2 && default_extent(p, st->left[st->nleft - 1]) <= DEFAULT_MANY_HEADS);
}

bool default_window_is_score(const windows *x, uint32_t stage) {
    bool read = false;
    for (uint32_t k = 0; k < x->of->sums.len; k++)
        read |= default_reads(x->w, x->of->sums.data[k], stage);
    return read && x->w->scores[stage] && window_stage(x->w, stage)->reducer != TENSOR_NO_REDUCER;
}

static bool fits_scores(windows *x) {
    for (uint32_t i = 0; i < x->w->p->op->stages.len; i++) {
        if (!default_window_is_score(x, i)) continue;
        if (!default_window_dot(x, window_stage(x->w, i))) return false;
        x->scores++;
    }
    return true;
}

bool default_window_sums(windows *x) {
    return fits_sums(x) && fits_scores(x) && x->source != TENSOR_NO_VAL && x->type != DT_COUNT;
}
