// How the loops of a stage nest: the indices that `loops` names take, in its order, the places they
// had together, before any loop exists.
//     y[v, f] = sum {e} …    loops f, v  →  for f … { for v … { reduce y { for e …
//                            loops e, f  →  for v … { for f … [lane 32, unroll 2, whole] { reduce y { for e …
// A reduced index goes outside a left one where that one's points are all held at once, by blocks,
// threads and registers: what was serial of it is written out, and each point has an accumulator
// while the other is walked.
#include "axes/axes.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <string.h>

typedef struct {
    planner *p;
    const schedule_cell *cell;
    const tensor_stage *st;
    uint32_t nleft, n;          // of left indices; of all that are loops
    const tensor_var *before;   // left ones, then reduced ones
    tensor_var *after;
} nesting;

static const char *name_of(const nesting *n, tensor_var v) { return plan_index_text(n->p, v); }

static bool is_left(const nesting *n, tensor_var v) {
    for (uint32_t i = 0; i < n->nleft; i++)
        if (n->before[i] == v) return true;
    return false;
}

static uint32_t place_of(const nesting *n, const tensor_var *in, tensor_var v) {
    uint32_t i = 0;
    while (i < n->n && in[i] != v) i++;
    return i;
}

static const tensor_var *indices_of(nesting *n) {
    tensor_var *vars = ARENA_ARRAY(n->p->arena, tensor_var, n->st->nleft + n->st->nbound + 1);
    n->nleft = n->n = plan_left(n->p, n->st, vars);
    for (uint32_t i = 0; i < n->st->nbound; i++) vars[n->n++] = n->st->bound[i];
    return vars;
}

// Fewer than two of them: the statement is not about this stage.
static bool rearrange(nesting *n) {
    const schedule_value *list = schedule_value_of(n->cell, NULL);
    tensor_var *named = ARENA_ARRAY(n->p->arena, tensor_var, list->nnames + 1);
    bool *free = ARENA_ARRAY(n->p->arena, bool, n->n + 1);
    uint32_t count = 0, next = 0;
    for (uint32_t k = 0; k < list->nnames; k++)
        for (uint32_t i = 0; i < n->n; i++) {
            if (free[i] || !plan_is_among(n->p, list->ids[k], n->before[i])) continue;
            free[i] = true;
            named[count++] = n->before[i];
            break;
        }
    n->after = ARENA_ARRAY(n->p->arena, tensor_var, n->n + 1);
    for (uint32_t i = 0; i < n->n; i++) n->after[i] = free[i] ? named[next++] : n->before[i];
    return count > 1;
}

// ---- Dependences --------------------------------------------------------------------------------
static diagnostic *reversed(const nesting *n, tensor_var outer, tensor_var inner, const char *why) {
    diagnostic *d = plan_refuse(n->p, E0565, n->cell->at,
                                "'%s' of '%s' has no loop outside that of '%s': %s",
                                name_of(n, outer), n->st->name, name_of(n, inner), why);
    if (d) diag_note(d, n->st->at, "'%s' is computed here", n->st->name);
    return d;
}

// Which points of x are walked is said by a key, at y.
static bool walked_by(const nesting *n, tensor_var x, tensor_var y) {
    for (uint32_t k = 0; k < n->st->nkeys; k++)
        if (plan_mentions(n->p, n->st->keys[k].lhs, x) &&
            (plan_mentions(n->p, n->st->keys[k].rhs, y) ||
             plan_mentions(n->p, n->st->keys[k].lhs, y)))
            return true;
    return false;
}

static bool may_swap(const nesting *n, tensor_var outer, tensor_var inner) {
    bool reduced = !is_left(n, outer) && !is_left(n, inner);
    const tensor_reducer *r = is_left(n, outer) ? NULL : &n->p->op->reducers.data[n->st->reducer];
    diagnostic *d;
    if (!is_left(n, outer) && walked_by(n, outer, inner)) {
        d = reversed(n, outer, inner,
                     arena_printf(n->p->arena,
                                  "a key says at each '%s' which points of '%s' there are",
                                  name_of(n, inner), name_of(n, outer)));
        if (d)
            diag_help(d, "name '%s' before '%s', or leave it out", name_of(n, inner),
                      name_of(n, outer));
        return false;
    }
    if (reduced && !r->commutative) {
        d = reversed(n, outer, inner,
                     arena_printf(n->p->arena,
                                  "'%s' is not commutative, and takes its terms in order",
                                  r->name));
        if (d) diag_help(d, "declare the reducer commutative if it is");
        return false;
    }
    return true;
}

// A block of a fused kernel owns rows, and what belongs to them.
static bool keeps_rows(const nesting *n) {
    uint32_t stage = (uint32_t)(n->st - n->p->op->stages.data);
    const schedule_cell *fuse = plan_fuse_cell(n->p, stage);
    if (!fuse || !n->nleft || n->before[0] == n->after[0]) return true;
    diagnostic *d = reversed(n, n->after[0], n->before[0],
                             "the stages of a fused kernel share the loop over its rows");
    if (d) diag_note(d, fuse->at, "'%s' is fused here", n->st->name);
    if (d)
        diag_help(d, "leave '%s' outermost, or '%s' out of the kernel", name_of(n, n->before[0]),
                  n->st->name);
    return false;
}

static bool check(const nesting *n) {
    if (!keeps_rows(n)) return false;
    for (uint32_t i = 0; i < n->n; i++)
        for (uint32_t k = i + 1; k < n->n; k++)
            if (place_of(n, n->before, n->after[i]) > place_of(n, n->before, n->after[k]) &&
                !may_swap(n, n->after[i], n->after[k]))
                return false;
    return true;
}

// ---- The order of a stage's indices -------------------------------------------------------------
static void store_order(const nesting *n, tensor_stage *st) {
    tensor_var *left = ARENA_ARRAY(n->p->arena, tensor_var, st->nleft + 1),
               *bound = ARENA_ARRAY(n->p->arena, tensor_var, st->nbound + 1), around = 0;
    uint32_t nleft = 0, nbound = 0;
    for (uint32_t i = 0; i < st->nleft; i++)   // a recurrence's step stands for itself
        if (plan_is_step(n->p, st, st->left[i])) left[nleft++] = st->left[i];
    for (uint32_t i = 0; i < n->n; i++) {
        if (!is_left(n, n->after[i])) {
            bound[nbound++] = around = n->after[i];
            continue;
        }
        left[nleft++] = n->after[i];
        if (nbound)
            VEC_PUSH(n->p->arena, &n->p->loops.inside,
                     ((loop_inside){n->after[i], around, n->cell}));
    }
    st->left = left;
    st->bound = bound;
}

void plan_loops(planner *p) {
    for (uint32_t i = 0; i < p->op->stages.len && !p->failed; i++) {
        tensor_stage *st = &p->op->stages.data[i];
        schedule_cell *cell = schedule_find(p->s, st->id, SCHEDULE_LOOPS, TENSOR_ALL);
        nesting n = {.p = p, .cell = cell, .st = st};
        if (!cell || plan_inlined(p, i)) continue;
        n.before = indices_of(&n);
        if (!rearrange(&n)) continue;
        cell->consumed = true;
        if (check(&n)) store_order(&n, st);
    }
}

// ---- Left indices inside reduced ones -----------------------------------------------------------
static const loop_inside *inside_of(const planner *p, tensor_var v) {
    for (uint32_t i = 0; i < p->loops.inside.len; i++)
        if (p->loops.inside.data[i].var == v) return &p->loops.inside.data[i];
    return NULL;
}

// Rounds that the digits of a loop leave; 0: it is not known how many.
static int64_t rounds_of(const planner *p, const loop_node *n) {
    const tensor_space_info *s = &p->op->spaces.data[p->op->vars.data[n->var].space];
    const tensor_node *lo = tensor_node_at(p->op, n->lo), *hi = tensor_node_at(p->op, n->hi);
    bool all = lo->op == TENSOR_CONST_OP && !lo->imm.i &&
               (n->rounds.pad || hi->op == TENSOR_SIZE_OP);
    int64_t part = loop_digits_product(n);
    return all && s->kind == SPACE_CONST ? ((n->rounds.pad ? hi->imm.i : s->size) + part - 1) / part
                                         : 0;
}

static int64_t points_held(const planner *p, const loop_node *n) {
    int64_t points = n->rest == LOOP_UNROLL_PLACE ? rounds_of(p, n) : 1;
    for (uint32_t i = 0; i < n->ndigits; i++) {
        loop_place place = n->digits[i].place;
        if (place == LOOP_VECTOR_PLACE || place == LOOP_REGISTER_PLACE ||
            place == LOOP_UNROLL_PLACE)
            points *= n->digits[i].extent;
    }
    return points;
}

static void refuse(planner *p, const loop_inside *in, tensor_var v, const char *why) {
    const char *name = plan_index_text(p, v), *around = plan_index_text(p, in->around);
    diagnostic *d = plan_refuse(p, E0565, in->cell->at, "'%s' has no loop outside that of '%s': %s",
                                around, name, why);
    if (d)
        diag_help(
            d,
            "each point of '%s' needs an accumulator: distribute it over lanes, groups or blocks, or give '%s' when compiling",
            name, p->op->spaces.data[p->op->vars.data[v].space].name);
}

void plan_write_out(planner *p, tensor_var v, const loop_list *around, loop_node *n) {
    const loop_inside *in = inside_of(p, v);
    int64_t points = 1, most = p->machine->max_registers / 2;
    if (!in) return;
    if (n->rest == LOOP_SERIAL_PLACE) {
        if (!rounds_of(p, n))
            return refuse(p, in, v,
                          "it takes as many steps as its extent, which is not known, asks for");
        n->rest = LOOP_UNROLL_PLACE;
        n->rounds.unroll = 0;
        n->rounds.masked = false;
    }
    for (uint32_t i = 0; i < n->ndigits; i++)
        if (n->digits[i].place == LOOP_SERIAL_PLACE) n->digits[i].place = LOOP_UNROLL_PLACE;
    for (uint32_t i = 0; i <= around->len; i++)
        points *= points_held(p, i < around->len ? around->data[i] : n);
    if (points > most)
        refuse(
            p, in, v,
            arena_printf(p->arena,
                         "a thread would hold %lld points at once, and at most %lld are possible",
                         (long long)points, (long long)most));
}
