// Questions about walks: which stage is a sum of rows, what it reads of scores and of other sums,
// whether a walk is worth one.
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/walks/walks.h"
#include "base/base.h"
#include "tensor/tensor.h"

tensor_space default_first_space(const walks *w, const tensor_stage *st) {
    return st->nleft ? w->p->op->vars.data[st->left[0]].space : TENSOR_NO_SPACE;
}

// ---- Sums of rows -------------------------------------------------------------------------------
typedef struct {
    const planner *p;
    const tensor_stage *st;
} factors;

static bool lacks_some(void *user, const tensor_node *load) {
    const factors *f = user;
    return !default_reads_all_left(f->p, f->st, load);
}

// A sum of outer products has no array of rows that it could walk along; but for a few heads of
// one.
bool default_sums_outer(const planner *p, const tensor_stage *st) {
    factors f = {p, st};
    for (uint32_t i = 1; i < st->nleft; i++) {
        int64_t extent = default_extent(p, st->left[i]);
        if (extent && extent <= DEFAULT_MANY_HEADS) return false;
    }
    return st->nleft > 2 && plan_loads(p, st, lacks_some, &f);
}

tensor_val default_map_of(const walks *w, uint32_t i) {
    const stage_group g = default_alone(&i);
    const tensor_stage *st = plan_stage(w->p, i);
    if (st->reducer == TENSOR_NO_REDUCER || st->loop != TENSOR_NO_LOOP || st->nkeys != 1 ||
        st->ntargets != 1 || st->nfilters || st->nelse || default_sums_outer(w->p, st))
        return TENSOR_NO_VAL;
    tensor_val map = default_row_map(w->p, &g);
    bool fits = map != TENSOR_NO_VAL && w->p->op->vals.data[map].role == VAL_MAP &&
                !(w->p->op->vals.data[map].facts & FACT_PARTIAL);
    for (uint32_t k = 1; k < st->nleft; k++) fits = fits && plan_dense(w->p, st->left[k]);
    return fits ? map : TENSOR_NO_VAL;
}

bool default_is_walked(const walks *w, tensor_space s) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++) {
        tensor_val map = plan_inlined(w->p, i) ? TENSOR_NO_VAL : default_map_of(w, i);
        if (map != TENSOR_NO_VAL && w->p->op->vals.data[map].axes[0] == s) return true;
    }
    return false;
}

// ---- What reads what ----------------------------------------------------------------------------
// In its body, with what is computed there.
bool default_reads(const walks *w, uint32_t reader, uint32_t writer) {
    const tensor_stage st = plan_inlined_stage(w->p, reader);
    bool any = false;
    for (uint32_t i = 0; i < st.nbody; i++)
        any |= tensor_loads(w->p->op, st.body[i], plan_stage(w->p, writer)->targets[0].val);
    return any;
}

bool default_reads_score(const walks *w, uint32_t stage) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if ((w->scores[i] || w->stored[i]) && default_reads(w, stage, i)) return true;
    return false;
}

bool default_reads_sum(const walks *w, const walk *of, uint32_t stage) {
    for (uint32_t i = 0; i < of->sums.len; i++)
        if (default_reads(w, stage, of->sums.data[i])) return true;
    return false;
}

bool default_finds(const walks *w, const walk *of, uint32_t score) {
    for (uint32_t i = 0; i < of->sums.len; i++)
        if (default_reads(w, of->sums.data[i], score)) return true;
    return false;
}

// It reduces at its edges, whatever is stored.
bool default_reduces_at_edges(const walks *w, const walk *of) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (w->scores[i] && plan_stage(w->p, i)->reducer != TENSOR_NO_REDUCER &&
            default_finds(w, of, i))
            return true;
    return false;
}

uint32_t default_deepest_read(const walks *w, uint32_t stage) {
    uint32_t deepest = UINT32_MAX;
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if ((w->scores[i] || w->stored[i]) && default_reads(w, stage, i) &&
            (deepest == UINT32_MAX ||
             plan_stage(w->p, i)->nleft > plan_stage(w->p, deepest)->nleft))
            deepest = i;
    return deepest;
}

bool default_again_at_edges(const walks *w) { return w->m->rows == ROWS_WALKED_AT_ONCE; }

// In loops of some sum of the walk.
bool default_has_loops_of(const walks *w, const walk *of, const tensor_stage *st) {
    for (uint32_t i = 0; i < of->sums.len; i++) {
        const tensor_stage *sum = plan_stage(w->p, of->sums.data[i]);
        uint32_t k = 0;
        while (k < st->nleft && k < sum->nleft &&
               w->p->op->vars.data[st->left[k]].space == w->p->op->vars.data[sum->left[k]].space)
            k++;
        if (k == st->nleft) return true;
    }
    return false;
}

// ---- Worth --------------------------------------------------------------------------------------
static bool is_stored(const walks *w, uint32_t stage) {
    for (uint32_t k = 0; k < w->walks.len; k++)
        for (uint32_t i = 0; i < w->walks.data[k].edges.len; i++)
            if (w->walks.data[k].edges.data[i] == stage) return true;
    return false;
}

// Results of edges are better made of numbers that threads still have of them: then rows are taken
// whole. So are sums that no walk may have.
bool default_walk_is_worth(const walks *w, const walk *of) {
    bool others = of->scores || !of->meets;
    for (uint32_t i = 0; i < w->p->op->stages.len && !others; i++) {
        const tensor_stage *st = plan_stage(w->p, i);
        if (w->scores[i] || w->walk_of[i] || plan_inlined(w->p, i) || is_stored(w, i)) continue;
        others = default_reads_sum(w, of, i) &&
                 (st->nkeys || default_is_walked(w, default_first_space(w, st)));
    }
    return of->scores || (of->meets && !others);
}
