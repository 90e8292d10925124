// One walk by default: sums of rows that need each other, and the scores of edges that they alone
// read, as in attention and its gradient. Each walk of a row's edges computes the scores it reads,
// finds what other sums need on the run, and stores what belongs to rows alone.
//     s[e, h] = sum{d} …
//     a[e, h] = softmax(s[e, h] by dst)
//     y[v, h, d] = sum{e : dst[e] == v} a[e, h] * …
//     →  inline s.sum, …;  fuse a.max, a.sum, y at e;  online a.max, a.sum
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/walks/walks.h"
#include "default/walks/shares.h"
#include "default/walks/windows.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"

// ---- Statements ---------------------------------------------------------------------------------
static void add_all(const walks *w, stage_group *to, const stage_group *from) {
    for (uint32_t i = 0; i < from->len; i++) VEC_PUSH(w->p->arena, to, from->data[i]);
}

// At what its sums walk and its edges are, whatever each stage calls it.
static void fill_fuse(walks *w, const walk *of) {
    stage_group all = {0};
    VEC(tensor_var) at = {0};
    add_all(w, &all, &of->sums);
    if (!default_again_at_edges(w)) add_all(w, &all, &of->early);
    add_all(w, &all, &of->late);
    add_all(w, &all, &of->edges);
    for (uint32_t i = 0; i < of->sums.len; i++)
        VEC_PUSH(w->p->arena, &at, plan_stage(w->p, of->sums.data[i])->bound[0]);
    for (uint32_t i = 0; i < of->edges.len; i++)
        VEC_PUSH(w->p->arena, &at, plan_stage(w->p, of->edges.data[i])->left[0]);
    default_say_fuse(w->m, &all, at.data, at.len);
}

// Long rows meet a larger maximum ever less often, but some lane of a warp in most steps: sums
// follow from afar. Short ones have to once.
static bool follows_lazily(const walks *w, const tensor_stage *st) {
    plan_rows rows = w->m->rows;
    bool most = w->p->op->reducers.data[st->reducer].kind == REDUCE_MAX;
    return most && rows == ROWS_WALKED_FEW && default_approximates(w->p);
}

static void fill_online(walks *w, const walk *of) {
    for (uint32_t i = 0; i < of->sums.len; i++) {
        uint32_t sum = of->sums.data[i];
        bool read = false;
        for (uint32_t k = 0; k < of->sums.len; k++)
            read |= k != i && default_reads(w, of->sums.data[k], sum);
        for (uint32_t k = 0; k < of->late.len; k++) read |= default_reads(w, of->late.data[k], sum);
        if (read)
            default_say_stage(w->m, SCHEDULE_ONLINE, sum,
                              follows_lazily(w, plan_stage(w->p, sum)) ? "lazy" : NULL);
    }
}

// ---- One walk -----------------------------------------------------------------------------------
// What edges make of scores is where it is read, whatever it costs then.
static bool is_made_of_scores(const walks *w, uint32_t i) {
    const tensor_stage *st = plan_stage(w->p, i);
    return plan_inlined(w->p, i) && !w->scores[i] && !w->stored[i] &&
           default_is_walked(w, default_first_space(w, st)) && default_reads_score(w, i);
}

// A walk in fewer loops deals out those it has as the deepest one does, whose scores have the other
// lanes.
static bool shares_as(const walks *w, const walk *of, const row_shares *deepest) {
    for (uint32_t i = 0; i < of->sums.len; i++) {
        const tensor_stage *st = plan_stage(w->p, of->sums.data[i]);
        if (st->nleft > deepest->depth) return false;
        for (uint32_t k = 1; k < st->nleft; k++)
            if (w->p->op->vars.data[st->left[k]].space !=
                w->p->op->vars.data[deepest->deepest->left[k]].space)
                return false;
    }
    return true;
}

// Read by other walks, too: computed by each, at its edges.
static void fill_again(walks *w, uint32_t early) {
    const tensor_stage *st = plan_stage(w->p, early);
    default_say_stage(w->m, SCHEDULE_INLINE, early, NULL);
    if (st->reducer == TENSOR_NO_REDUCER)
        w->p->plan->values.data[st->targets[0].val] = (loop_value){
            .home = LOOP_INLINE, .stage = early, .of = TENSOR_NO_VAL};
}

static bool fill_walk(walks *w, const walk *of, const row_shares *deepest) {
    row_shares own, *s = &own;
    if (shares_as(w, of, deepest)) own = *deepest;
    else if (!default_share_rows(w, of, s)) return false;
    fill_fuse(w, of);
    fill_online(w, of);
    default_walk_rows(w, of, s);
    for (uint32_t i = 0; i < of->sums.len; i++) w->m->fused[of->sums.data[i]] = true;
    for (uint32_t i = 0; i < of->early.len; i++) {
        w->m->fused[of->early.data[i]] = true;
        if (default_again_at_edges(w)) fill_again(w, of->early.data[i]);
    }
    for (uint32_t i = 0; i < of->late.len; i++) w->m->fused[of->late.data[i]] = true;
    for (uint32_t i = 0; i < of->edges.len; i++) w->m->fused[of->edges.data[i]] = true;
    bool known = false;
    for (uint32_t i = 0; i < w->m->walked.len; i++) known |= w->m->walked.data[i] == of->map;
    if (!known) VEC_PUSH(w->p->arena, &w->m->walked, of->map);
    return true;
}

// ---- All walks ----------------------------------------------------------------------------------
// As kernels will follow one another, so that those between walks are dealt out as they will be.
static bool order_kernels(making *m) {
    planner *p = m->p;
    uint32_t n = p->op->stages.len;
    stage_ids fused = {0};
    for (uint32_t i = 0; i < n; i++) {
        tensor_val v = p->op->stages.data[i].targets[0].val;
        if (m->fused[i]) VEC_PUSH(p->arena, &fused, plan_stage(p, i)->id);
        if (plan_fuse_cell(p, i) &&
            plan_inlined(p, i))   // what a statement names is not computed where it is read
            p->plan->values.data[v] = (loop_value){.home = LOOP_MEMORY, .of = TENSOR_NO_VAL};
    }
    for (uint32_t i = 0; i < n; i++) {   // what reads the scores reads what those are made of
        tensor_stage *st = &p->op->stages.data[i];
        tensor_expr *body = ARENA_ARRAY(p->arena, tensor_expr, st->nbody + 1);
        for (uint32_t k = 0; k < st->nbody; k++) body[k] = plan_inline_loads(p, st->body[k]);
        p->op->stages.data[i].body = body;
    }
    plan_fuse_order(p);
    for (uint32_t i = 0; i < n; i++) m->fused[i] = plan_has_id(&fused, plan_stage(p, i)->id);
    return !p->failed;
}

static bool are_light(const walks *w, const row_shares *s) {
    bool light = true;
    for (uint32_t i = 0; i < w->walks.len; i++)
        if (default_walk_is_worth(w, &w->walks.data[i]))
            light = light && default_is_light(w, &w->walks.data[i], s);
    return light;
}

static bool walks_wide_rows(const walks *w, const row_shares *deepest) {
    const int64_t bytes = default_row_bytes(w->p, deepest->deepest);
    return !bytes || bytes >= DEFAULT_WALKED_WIDE;
}

bool default_walk(making *m) {
    uint32_t n = m->p->op->stages.len, filled = 0;
    walks w = {.m = m, .p = m->p, .given = m->s->op};
    row_shares deepest = {0};
    m->fused = ARENA_ARRAY(m->p->arena, bool, n + 1);
    if (!default_find_walks(&w)) return false;
    w.windowed = ARENA_ARRAY(m->p->arena, bool, w.walks.len + 1);
    for (uint32_t i = 0; i < w.walks.len; i++) {
        row_shares s;
        if (!default_walk_is_worth(&w, &w.walks.data[i])) continue;
        if (!default_share_rows(&w, &w.walks.data[i], &s)) return false;
        if (!filled++ || s.depth > deepest.depth) deepest = s;
    }
    m->wide = filled && walks_wide_rows(&w, &deepest);
    if (m->rows == ROWS_WALKED_THIN && !m->wide) return false;
    bool light = filled && are_light(&w, &deepest),
         few = m->rows == ROWS_WALKED_FEW || m->rows == ROWS_WALKED_FEWER,
         short_walk = filled == 1 && few;
    w.heavy = filled > 1 && !light;
    w.single = filled == 1;
    w.light = light;
    if (m->rows == ROWS_WALKED_SHORT && filled == 1) m->limit.longest = DEFAULT_WALKED_LONGEST;
    if (light && !default_whole_classes(m->rows) && !short_walk)
        default_halve_lanes(&w, &deepest, DEFAULT_WALK_MOST_STEPS / 2);
    if (w.single && !light) default_share_many(&w, &deepest);
    for (uint32_t i = 0; i < w.walks.len; i++) {
        const walk *of = &w.walks.data[i];
        if (default_walk_is_worth(&w, of) && !fill_walk(&w, of, &deepest)) return false;
    }
    for (uint32_t i = 0; filled && i < n; i++) {
        if (is_made_of_scores(&w, i)) default_say_stage(m, SCHEDULE_INLINE, i, NULL);
        if ((w.scores[i] || w.stored[i]) && !default_walk_score(&w, i, &deepest)) return false;
        m->fused[i] |= w.scores[i];
    }
    if (plan_rows_has(m->rows, ROWS_ARE_WINDOWED) && !m->dense.windows.len) return false;
    if (m->rows == ROWS_WALKED_WINDOWS_LONG && !m->dense.longer) return false;
    return filled && order_kernels(m);
}
