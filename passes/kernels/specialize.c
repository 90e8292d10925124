// `specialize e 32, 64`: where all rows of a warp have at most so many points, the loops over them
// are written out and masked, so that what a row's reductions and what follows them load and
// compute alike stays in registers.
//     reduce a.max { for e … }  reduce a.sum { for e … }  for e … { store a }
//     →  within 32, 64 of the row { … }
#include "kernels/kernels.h"
#include "base/base.h"

#include <string.h>

enum { MOST_POINTS_A_LANE = 32 };

static const schedule_cell *cell_of(const planner *p, const tensor_stage *st, tensor_var v) {
    return schedule_find(p->s, st->id, SCHEDULE_SPECIALIZE, p->op->vars.data[v].id);
}

static const schedule_cell *walk_cell(const planner *p, const tensor_stage *st) {
    for (uint32_t b = 0; b < st->nbound; b++)
        if (cell_of(p, st, st->bound[b])) return cell_of(p, st, st->bound[b]);
    return NULL;
}

static bool has_digit(const loop_node *n, loop_place place) {
    for (uint32_t i = 0; i < n->ndigits; i++)
        if (n->digits[i].place == place) return true;
    return false;
}

static bool dealt_to_threads(const loop_node *n) {
    return n && (has_digit(n, LOOP_LANE_PLACE) || has_digit(n, LOOP_GROUP_PLACE));
}

loop_body *plan_specialize_open(plan_nest *n, loop_body *at) {
    planner *p = n->p;
    const schedule_cell *c = NULL;
    for (uint32_t i = 0; i < n->group->len && !c; i++) {
        const tensor_stage *st = &p->op->stages.data[n->group->data[i]];
        bool deepest = plan_left(p, st, ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1)) ==
                       n->depth;
        if (deepest) c = walk_cell(p, st);
    }
    if (!c) return at;
    const schedule_value *v = &c->values[0];
    loop_node *w = loop_node_new(p->plan, LOOP_WITHIN, c->at);
    uint32_t *sizes = ARENA_ARRAY(p->arena, uint32_t, v->nnumbers);
    for (uint32_t i = 0; i < v->nnumbers; i++)
        sizes[i] = v->numbers[i] > INT32_MAX ? INT32_MAX : (uint32_t)v->numbers[i];
    w->ranges.most = sizes;
    w->ranges.n = v->nnumbers;
    if (w->ranges.n > LOOP_MAX_SIZES) {
        diagnostic *d = plan_refuse(p, E0544, c->at, "'specialize' takes at most %d sizes, not %u",
                                    LOOP_MAX_SIZES, w->ranges.n);
        if (d) diag_help(d, "leave some out: rows between two sizes take the greater one");
    }
    loop_append(p->plan, at, w);
    p->specialized.loop = w;
    p->specialized.cell = c;
    p->specialized.counted = n->rows->counted;
    p->specialized.most = n->rows->most;
    p->specialized.apart = dealt_to_threads(n->rows->around) ||
                           (n->depth && dealt_to_threads(n->levels.data[0]));
    return &w->body;
}

static void refuse_place(planner *p, const schedule_cell *c, const char *index, const char *why,
                         const char *way) {
    diagnostic *d = plan_refuse(p, E0530, c->at, "'specialize %s' has no pass in this version %s",
                                index, why);
    if (d) diag_help(d, "%s", way);
}

static bool same_sizes(const schedule_cell *a, const schedule_cell *b) {
    const schedule_value *x = &a->values[0], *y = &b->values[0];
    return x->nnumbers == y->nnumbers &&
           !memcmp(x->numbers, y->numbers, x->nnumbers * sizeof *x->numbers);
}

// Ends of two walks, the left indices of whose stages stand in the same loops.
static bool same_end(const planner *p, const tensor_stage *a, tensor_expr x, const tensor_stage *b,
                     tensor_expr y) {
    const tensor_node *m = tensor_node_at(p->op, x), *n = tensor_node_at(p->op, y);
    if (m->op != n->op || m->nargs != n->nargs) return false;
    if (m->op == TENSOR_VAR_OP)
        return plan_place(p, a, (tensor_var)m->imm.i) == plan_place(p, b, (tensor_var)n->imm.i);
    if (m->imm.i != n->imm.i) return false;
    for (uint32_t i = 0; i < m->nargs; i++)
        if (!same_end(p, a, m->args[i], b, n->args[i])) return false;
    return true;
}

// The rows are those of a class that has none of more points, or a condition says so of all.
static bool no_row_is_longer(const planner *p, uint32_t most) {
    const tensor_node *lo = tensor_node_at(p->op, p->specialized.loop->lo);
    while (lo->op == TENSOR_CVT_OP || lo->op == TENSOR_INDEX_OP)
        lo = tensor_node_at(p->op, lo->args[0]);
    const loop_prepared *of = NULL;
    for (uint32_t i = 0; i < p->plan->prepared.len && lo->op == TENSOR_LOAD_OP; i++)
        if (p->plan->prepared.data[i].val == (tensor_val)lo->imm.i) of = &p->plan->prepared.data[i];
    if (!of || of->builder != PREPARED_OFFSETS) return false;
    int64_t longest = p->specialized.most && of->args[0] == p->specialized.counted
                          ? p->specialized.most
                          : plan_largest_row(p, of->args[0]);
    return longest && longest <= most;
}

// The loop walks a row: of the kernel's within, or it is refused.
void plan_specialize_loop(planner *p, const tensor_stage *st, tensor_var v, bool part,
                          loop_node *n) {
    schedule_cell *c = schedule_find(p->s, st->id, SCHEDULE_SPECIALIZE, p->op->vars.data[v].id);
    const char *index = plan_index_text(p, v);
    if (!c || p->failed) return;
    c->consumed = true;
    if (part || !p->specialized.loop) {
        refuse_place(p, c, index,
                     part ? "where its loop is cut in pieces"
                          : "where further loops of the kernel lie inside its own",
                     "leave it out");
        return;
    }
    if (!same_sizes(c, p->specialized.cell)) {
        diagnostic *d = plan_refuse(
            p, E0541, c->at,
            "'specialize %s' has other sizes for '%s' than for the other loops over the row", index,
            st->name);
        if (d)
            diag_note(d, p->specialized.cell->at, "here they are others"),
                diag_help(d, "say it once for all of them");
        return;
    }
    if (p->specialized.apart && has_digit(n, LOOP_GROUP_PLACE)) {
        refuse_place(p, c, index,
                     "where groups share some of a block's rows: warps would take different ways",
                     "take lanes along it, and groups for rows, or one row a block");
        return;
    }
    if (has_digit(n, LOOP_SERIAL_PLACE) || n->rounds.unroll <= 1 || !n->rounds.masked) {
        diagnostic *d = plan_refuse(
            p, E0542, c->at,
            "'specialize %s' is about rounds that are written out under masks, and '%s' has none",
            index, st->name);
        if (d)
            diag_help(d, "say how loops over longer rows go: `unroll %s 4 masked`, without 'tile'",
                      index);
        return;
    }
    uint32_t most = p->specialized.loop->ranges.most[p->specialized.loop->ranges.n - 1],
             threads = 1;
    for (uint32_t i = 0; i < n->ndigits; i++)
        if (n->digits[i].place == LOOP_LANE_PLACE || n->digits[i].place == LOOP_GROUP_PLACE)
            threads *= n->digits[i].extent;
    if (most > MOST_POINTS_A_LANE * threads) {
        diagnostic *d = plan_refuse(
            p, E0544, c->at,
            "a lane would hold %u points of '%s' at once, and at most %d are possible",
            (most + threads - 1) / threads, index, MOST_POINTS_A_LANE);
        if (d) diag_help(d, "take more lanes along it, or leave out the greatest size");
        return;
    }
    if (!p->specialized.loop->lo) {
        p->specialized.stage = *st;
        p->specialized.loop->lo = n->lo;
        p->specialized.loop->hi = n->hi;
        p->specialized.loop->ranges.alone = no_row_is_longer(p, most);
    }
    const tensor_stage *first = &p->specialized.stage;
    n->rounds.within = same_end(p, first, p->specialized.loop->lo, st, n->lo) &&
                       same_end(p, first, p->specialized.loop->hi, st, n->hi);
    if (n->rounds.within) return;
    refuse_place(p, c, index,
                 arena_printf(p->arena, "where '%s' loops over other points than '%s'", st->name,
                              first->name),
                 "leave it out for one of them");
}

// Which way a warp goes it asks all its lanes, who must be there: those of another tile may have no
// point.
void plan_specialize_lanes(const plan_nest *n, uint32_t lanes) {
    planner *p = n->p;
    if (p->failed || !p->specialized.loop || !n->tiles || !has_digit(n->tiles, LOOP_GROUP_PLACE) ||
        lanes >= p->machine->lanes)
        return;
    diagnostic *d = plan_refuse(
        p, E0530, p->specialized.cell->at,
        "'specialize' has no pass in this version where a warp has several tiles, some of which may have no point");
    if (d)
        diag_help(d, "leave it out, or take one tile a block, or %u lanes for each",
                  p->machine->lanes);
}
