// What rows make of a walk's sums: results, and what edges read, as each would make it again.
//     y[v, h, f] = n[v, h, f] / z[v, h]   →  stored by the walk of n and z
#include "default/walks/walks.h"
#include "default/walks/reach.h"
#include "base/base.h"

typedef struct {
    // per stage that rows make of sums, and of each other: the walk it stands behind; 0: it stands
    // behind none
    uint32_t *last;
    bool *joins;
} lateness;

static uint32_t later(const walks *w, uint32_t a, uint32_t b) {
    if (!a || !b || a == b) return a ? a : b;
    const walk *x = &w->walks.data[a - 1], *y = &w->walks.data[b - 1];
    return default_comes_after(w, x, y) || (a > b && !default_comes_after(w, y, x)) ? a : b;
}

// As the op came.
static bool reads_given(const walks *w, uint32_t reader, uint32_t stage) {
    const planner given = {.arena = w->p->arena, .op = (tensor_op *)(uintptr_t)w->given};
    return plan_read_by(&given, reader, plan_stage(w->p, stage)->targets[0].val);
}

// The last walk of which a stage reads a sum, or what rows make of it, as the op came.
static uint32_t last_read(const walks *w, const lateness *l, uint32_t stage) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if ((w->walk_of[i] || (i < stage && l->last[i])) && reads_given(w, stage, i))
            last = later(w, last, w->walk_of[i] ? w->walk_of[i] : l->last[i]);
    return last;
}

// All that it reads of the walk is there when the walk returns: no other kernel stands between.
static bool has_all_at_hand(const walks *w, const lateness *l, uint32_t stage, uint32_t last) {
    const walk *of = &w->walks.data[last - 1];
    for (uint32_t i = 0; i < w->p->op->stages.len; i++) {
        if (i == stage || w->walk_of[i] == last || l->last[i] == last) continue;
        if (!reads_given(w, stage, i)) continue;
        if (default_need(w, of, i).any || default_reads_early(w, i, of, true)) return false;
    }
    return true;
}

static bool is_plain_of_rows(const walks *w, const walk *of, uint32_t stage) {
    const tensor_stage *st = plan_stage(w->p, stage);
    return st->reducer == TENSOR_NO_REDUCER && st->loop == TENSOR_NO_LOOP && st->ntargets == 1 &&
           default_first_space(w, st) == w->p->op->vals.data[of->map].into &&
           !default_is_walked(w, default_first_space(w, st));
}

static bool read_by_joined(const walks *w, const lateness *l, uint32_t stage) {
    for (uint32_t i = stage + 1; i < w->p->op->stages.len; i++)
        if (l->joins[i] && l->last[i] == l->last[stage] && reads_given(w, i, stage)) return true;
    return false;
}

// Numbers of a row as wide as what they are made of, at little cost: edges read that instead.
static bool is_cheap_row(const walks *w, uint32_t stage) {
    uint32_t deepest = 1;
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if ((w->scores[i] || w->stored[i]) && plan_stage(w->p, i)->nleft > deepest)
            deepest = plan_stage(w->p, i)->nleft;
    return plan_inlined(w->p, stage) && plan_stage(w->p, stage)->nleft > deepest;
}

static bool read_by_edges(const walks *w, uint32_t stage) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (default_is_walked(w, default_first_space(w, plan_stage(w->p, i))) &&
            reads_given(w, i, stage))
            return true;
    return false;
}

// A result, or what edges read, as each would make it again; and what those are made of.
void default_find_late(walks *w) {
    uint32_t n = w->p->op->stages.len;
    lateness l = {ARENA_ARRAY(w->p->arena, uint32_t, n + 1), ARENA_ARRAY(w->p->arena, bool, n + 1)};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t last = last_read(w, &l, i);
        if (last && is_plain_of_rows(w, &w->walks.data[last - 1], i) &&
            has_all_at_hand(w, &l, i, last))
            l.last[i] = last;
    }
    for (uint32_t i = n; i-- > 0;) {
        const tensor_stage *st = plan_stage(w->p, i);
        if (!l.last[i]) continue;
        bool result = w->p->op->vals.data[st->targets[0].val].role == VAL_RESULT;
        if (result) l.joins[i] = default_has_loops_of(w, &w->walks.data[l.last[i] - 1], st);
        else l.joins[i] = read_by_joined(w, &l, i) || (!is_cheap_row(w, i) && read_by_edges(w, i));
    }
    for (uint32_t i = 0; i < n; i++)
        if (l.joins[i]) VEC_PUSH(w->p->arena, &w->walks.data[l.last[i] - 1].late, i);
}
