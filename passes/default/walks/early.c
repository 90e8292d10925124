// What rows are known to be before they are walked: the first walk over such rows finds it on the
// way, and stores it for the others.
//     d[v, h] = sum{f} g[v, h, f] * y[v, h, f];  ds[e, h] = … - d[dst[e], h]
//       →  the walk of dst finds d
#include "default/ask/ask.h"
#include "default/walks/walks.h"
#include "default/walks/reach.h"
#include "default/walks/windows.h"
#include "base/base.h"

static bool sees_param(void *user, const tensor_node *load) {
    const walks *w = user;
    return (tensor_val)load->imm.i < w->p->op->nparams;
}

static bool is_of_rows(const walks *w, const walk *of, uint32_t stage) {
    const tensor_stage *st = plan_stage(w->p, stage);
    return st->loop == TENSOR_NO_LOOP && st->ntargets == 1 && !st->nkeys && !st->nfilters &&
           !st->nelse && !w->walk_of[stage] &&
           w->p->op->vals.data[st->targets[0].val].role == VAL_STAGE &&
           default_first_space(w, st) == w->p->op->vals.data[of->map].into &&
           !default_is_walked(w, default_first_space(w, st)) && !plan_inlined(w->p, stage) &&
           default_has_loops_of(w, of, st);
}

// At the row that is walked alone: what sums of the walk read, or what rows make of it.
static bool read_by_walk(const walks *w, const walk *of, uint32_t stage) {
    row_read r = {.w = w, .of = of, .val = plan_stage(w->p, stage)->targets[0].val};
    for (uint32_t i = 0; i < of->sums.len; i++) default_read_rows(&r, of->sums.data[i]);
    for (uint32_t k = 0; k < w->p->op->stages.len && !r.other; k++)
        if (w->scores[k] && !plan_inlined(w->p, k)) default_read_rows(&r, k);
    for (uint32_t k = 0; k < w->p->op->stages.len && !r.own && !r.other; k++)
        r.own = k != stage && is_of_rows(w, of, k) && default_reads(w, k, stage) &&
                read_by_walk(w, of, k);
    return r.own && !r.other;
}

static bool is_made_of_early(const walks *w, const walk *of, uint32_t stage) {
    for (uint32_t k = 0; k < of->early.len; k++)
        if (default_reads(w, stage, of->early.data[k])) return true;
    return false;
}

bool default_are_independent(walks *w) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->walks.len && plan_rows_has(w->m->rows, ROWS_ARE_WINDOWED); i++) {
        if (!default_walk_is_worth(w, &w->walks.data[i])) continue;
        if (!default_window_alone(w, &w->walks.data[i])) return false;
        n++;
        for (uint32_t k = 0; k < w->walks.len; k++)
            if (k != i && default_walk_is_worth(w, &w->walks.data[k]) &&
                default_comes_after(w, &w->walks.data[i], &w->walks.data[k]))
                return false;
    }
    return n > 1;
}

// The first walk over such rows finds them on the way, and stores them for the others, where it has
// rows whole. Windows of walks that then need nothing of each other go through the same rows side
// by side.
void default_find_early(walks *w) {
    const bool finds = plan_rows_has(w->m->rows, ROWS_ARE_WINDOWED | ROWS_ARE_WHOLE) &&
                       !w->independent;
    for (uint32_t i = 0; i < w->p->op->stages.len && finds; i++)
        for (uint32_t k = 0; k < w->walks.len; k++) {
            walk *of = &w->walks.data[k];
            const tensor_stage *st = plan_stage(w->p, i);
            if (!default_walk_is_worth(w, of) || !is_of_rows(w, of, i) || !read_by_walk(w, of, i))
                continue;
            bool sum = st->reducer != TENSOR_NO_REDUCER;
            if (sum ? !default_reduces_dense(w->p, st) || !plan_loads(w->p, st, sees_param, w)
                    : !is_made_of_early(w, of, i))
                continue;
            VEC_PUSH(w->p->arena, &of->early, i);
            break;
        }
}
