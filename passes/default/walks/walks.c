// Which sums of rows share a walk by default: those by one map of which one needs another, or a
// score of an edge. Scores are stages of edges that only walks read, other scores, and results of
// edges, which a walk stores that finds no sum they need; late is what rows make of the sums:
// results, and what edges read.
#include "default/ask/ask.h"
#include "default/walks/walks.h"
#include "default/walks/reach.h"
#include "base/base.h"
#include "kernels/kernels.h"

// ---- Scores -------------------------------------------------------------------------------------
static bool is_score(const walks *w, uint32_t i) {
    const tensor_stage *st = plan_stage(w->p, i);
    return !plan_inlined(w->p, i) && !plan_has_id(&w->m->stored.before, st->id) &&
           st->loop == TENSOR_NO_LOOP && st->nleft && st->ntargets == 1 &&
           default_is_walked(w, default_first_space(w, st)) &&
           w->p->op->vals.data[st->targets[0].val].role == VAL_STAGE &&
           (st->reducer == TENSOR_NO_REDUCER || (default_reduces_dense(w->p, st) && !st->nkeys));
}

// Nobody else reads it.
static bool is_edge_result(const walks *w, uint32_t i) {
    const tensor_stage *st = plan_stage(w->p, i);
    bool result = !plan_inlined(w->p, i) && st->loop == TENSOR_NO_LOOP && st->nleft &&
                  st->ntargets == 1 && st->reducer == TENSOR_NO_REDUCER &&
                  default_is_walked(w, default_first_space(w, st)) &&
                  w->p->op->vals.data[st->targets[0].val].role == VAL_RESULT;
    for (uint32_t k = 0; k < w->p->op->stages.len && result; k++)
        result &= k == i || !plan_reads_stage(w->p, k, i);
    return result;
}

static bool is_kept(const walks *w, uint32_t stage) {
    return plan_has_id(&w->m->stored.kept, plan_stage(w->p, stage)->id);
}

// A score is read by sums of walks, by other scores, and by results of edges.
static bool read_by_walks(const walks *w, uint32_t score) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (!plan_inlined(w->p, i) && plan_reads_stage(w->p, i, score) && !w->scores[i] &&
            !w->stored[i] && default_map_of(w, i) == TENSOR_NO_VAL && !is_edge_result(w, i))
            return false;
    return true;
}

// Those that only other stages than walks could make use of stay what they are.
static bool find_scores(walks *w) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++) {
        bool score = is_score(w, i);
        w->stored[i] = score && is_kept(w, i);
        w->scores[i] = score && !w->stored[i];
    }
    for (uint32_t i = w->p->op->stages.len; i-- > 0;)
        if (w->scores[i] && !read_by_walks(w, i)) return false;
    // from here on they are where they are read
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (w->scores[i] && plan_stage(w->p, i)->reducer == TENSOR_NO_REDUCER)
            w->p->plan->values.data[plan_stage(w->p, i)->targets[0].val] = (loop_value){
                .home = LOOP_INLINE, .stage = i, .of = TENSOR_NO_VAL};
    return true;
}

// ---- Results of edges ---------------------------------------------------------------------------
// Its loops are the walk's, and it needs no sum of it.
static bool may_store(const walks *w, const walk *of, uint32_t stage) {
    const tensor_stage *st = plan_stage(w->p, stage), *deepest = plan_deepest(w->p, &of->sums);
    if (w->p->op->vals.data[of->map].axes[0] != default_first_space(w, st) ||
        st->nleft > deepest->nleft)
        return false;
    for (uint32_t k = 1; k < st->nleft; k++)
        if (w->p->op->vars.data[st->left[k]].space != w->p->op->vars.data[deepest->left[k]].space)
            return false;
    return !default_need(w, of, stage).any && !default_reads_early(w, stage, of, false);
}

// Of a walk that has scores; first one that reads it, and one whose edges lie side by side, but
// where another one is spared them.
static bool give(walks *w, uint32_t stage) {
    walk *best = NULL;
    int most = -1;
    for (uint32_t k = 0; k < w->walks.len; k++) {
        walk *of = &w->walks.data[k];
        bool read = w->stored[stage] && default_finds(w, of, stage),
             sorted = w->p->op->vals.data[of->map].facts & FACT_SORTED;
        int good = 2 * read + sorted + 4 * (w->m->stored.spares && default_reduces_at_edges(w, of));
        if ((!of->scores && !read) || !may_store(w, of, stage) || good <= most) continue;
        best = of;
        most = good;
    }
    if (best) VEC_PUSH(w->p->arena, &best->edges, stage);
    if (best) best->scores = true;
    return best != NULL;
}

static bool give_edges(walks *w) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if ((w->stored[i] || (is_edge_result(w, i) && default_reads_score(w, i))) && !give(w, i))
            return false;
    return true;
}

// ---- All of it ----------------------------------------------------------------------------------
bool default_find_walks(walks *w) {
    uint32_t n = w->p->op->stages.len;
    w->scores = ARENA_ARRAY(w->p->arena, bool, n + 1);
    w->stored = ARENA_ARRAY(w->p->arena, bool, n + 1);
    w->walk_of = ARENA_ARRAY(w->p->arena, uint32_t, n + 1);
    if (!find_scores(w)) return false;
    for (uint32_t i = 0; i < n; i++)
        if (!plan_inlined(w->p, i) && default_map_of(w, i) != TENSOR_NO_VAL) default_nest(w, i);
    default_join_walks(w);
    default_part_walks(w);
    w->independent = default_are_independent(w);
    default_find_early(w);
    default_find_late(w);
    return give_edges(w);
}
