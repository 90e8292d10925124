// Which sums of rows share a walk by default: those by one map of which one needs another, or a
// score of an edge. Scores are stages of edges that only walks read, other scores, and results of
// edges, which a walk stores that finds no sum they need; late is what rows make of the sums:
// results, and what edges read.
#include "default/walks.h"
#include "default/row_classes.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"

#include <string.h>

enum { MOST_HEADS = 16 };

static tensor_space first_space(const walks *w, const tensor_stage *st) {
    return st->nleft ? w->p->op->vars.data[st->left[0]].space : TENSOR_NO_SPACE;
}

// ---- What walks ---------------------------------------------------------------------------------
typedef struct {
    const walks *w;
    const tensor_stage *st;
} factors;

static bool lacks_some(void *user, const tensor_node *load) {
    const factors *f = user;
    return !default_reads_all_left(f->w->p, f->st, load);
}

// A sum of outer products has no array of rows that it could walk along; but for a few heads of
// one.
static bool sums_outer(const walks *w, const tensor_stage *st) {
    factors f = {w, st};
    for (uint32_t i = 1; i < st->nleft; i++) {
        int64_t extent = default_extent(w->p, st->left[i]);
        if (extent && extent <= MOST_HEADS) return false;
    }
    return st->nleft > 2 && plan_loads(w->p, st, lacks_some, &f);
}

static tensor_val map_of(const walks *w, uint32_t i) {
    stage_group g = {0};
    VEC_PUSH(w->p->arena, &g, i);
    const tensor_stage *st = plan_stage(w->p, i);
    if (st->reducer == TENSOR_NO_REDUCER || st->loop != TENSOR_NO_LOOP || st->nkeys != 1 ||
        st->ntargets != 1 || st->nfilters || st->nelse || sums_outer(w, st))
        return TENSOR_NO_VAL;
    tensor_val map = default_row_map(w->p, &g);
    bool fits = map != TENSOR_NO_VAL && w->p->op->vals.data[map].role == VAL_MAP &&
                !(w->p->op->vals.data[map].facts & FACT_PARTIAL);
    for (uint32_t k = 1; k < st->nleft; k++) fits = fits && plan_dense(w->p, st->left[k]);
    return fits ? map : TENSOR_NO_VAL;
}

bool default_is_walked(const walks *w, tensor_space s) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++) {
        tensor_val map = plan_inlined(w->p, i) ? TENSOR_NO_VAL : map_of(w, i);
        if (map != TENSOR_NO_VAL && w->p->op->vals.data[map].axes[0] == s) return true;
    }
    return false;
}

static bool is_score(const walks *w, uint32_t i) {
    const tensor_stage *st = plan_stage(w->p, i);
    return !plan_inlined(w->p, i) && st->loop == TENSOR_NO_LOOP && st->nleft && st->ntargets == 1 &&
           default_is_walked(w, first_space(w, st)) &&
           w->p->op->vals.data[st->targets[0].val].role == VAL_STAGE &&
           (st->reducer == TENSOR_NO_REDUCER || (default_reduces_dense(w->p, st) && !st->nkeys));
}

// Nobody else reads it.
static bool is_edge_result(const walks *w, uint32_t i) {
    const tensor_stage *st = plan_stage(w->p, i);
    bool result = !plan_inlined(w->p, i) && st->loop == TENSOR_NO_LOOP && st->nleft &&
                  st->ntargets == 1 && st->reducer == TENSOR_NO_REDUCER &&
                  default_is_walked(w, first_space(w, st)) &&
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
            !w->stored[i] && map_of(w, i) == TENSOR_NO_VAL && !is_edge_result(w, i))
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

// ---- Which sums share a walk --------------------------------------------------------------------
typedef struct {
    const walks *w;
    const walk *of;
    uint32_t reader;   // a sum, or a score on the way to it
    bool own, any;     // own: what it reads of the walk belongs to the row at hand
    bool *seen;
} reach;

static uint32_t writer_of(const walks *w, tensor_val v) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (plan_stage(w->p, i)->targets[0].val == v) return i;
    return UINT32_MAX;
}

static bool has(const stage_group *g, uint32_t stage) {
    for (uint32_t i = 0; i < g->len; i++)
        if (g->data[i] == stage) return true;
    return false;
}

static bool in_walk(const walk *of, uint32_t stage) { return has(&of->sums, stage); }

bool default_again_at_edges(const walks *w) { return w->m->rows == ROWS_WALKED_AT_ONCE; }

static bool leads_to_row(const walks *w, const walk *of, const tensor_stage *reader,
                         tensor_expr index) {
    const tensor_node *n = tensor_node_at(w->p->op, index);
    bool row = reader->nleft &&
               w->p->op->vars.data[reader->left[0]].space == w->p->op->vals.data[of->map].into;
    if (n->op == TENSOR_VAR_OP) return row && (tensor_var)n->imm.i == reader->left[0];
    bool mapped = n->op == TENSOR_LOAD_OP && n->nargs == 1;
    const tensor_node *at = mapped ? tensor_node_at(w->p->op, n->args[0]) : NULL;
    return at && (tensor_val)n->imm.i == of->map && at->op == TENSOR_VAR_OP;
}

static void follow(reach *r, uint32_t stage);

// What the row at hand makes of the walk's sums.
static bool is_late(const reach *r, const tensor_node *load, uint32_t writer) {
    const tensor_stage *st = plan_stage(r->w->p, writer);
    return st->reducer == TENSOR_NO_REDUCER &&
           first_space(r->w, st) == r->w->p->op->vals.data[r->of->map].into && load->nargs &&
           leads_to_row(r->w, r->of, plan_stage(r->w->p, r->reader), load->args[0]);
}

static bool see(void *user, const tensor_node *load) {
    reach *r = user;
    uint32_t writer = writer_of(r->w, (tensor_val)load->imm.i);
    if (writer == UINT32_MAX) return true;
    if (in_walk(r->of, writer)) {
        r->any = true;
        r->own = r->own && load->nargs &&
                 leads_to_row(r->w, r->of, plan_stage(r->w->p, r->reader), load->args[0]);
        return true;
    }
    bool score = r->w->scores[writer] || plan_inlined(r->w->p, writer) || is_late(r, load, writer);
    reach below = {r->w, r->of, writer, true, false, r->seen};
    if (!r->seen[writer]) r->seen[writer] = true, follow(score ? r : &below, writer);
    if (!score && below.any) r->any = true, r->own = false;   // another kernel stands between
    return true;
}

static void follow(reach *r, uint32_t stage) {
    uint32_t outer = r->reader;
    r->reader = stage;
    plan_loads(r->w->p, plan_stage(r->w->p, stage), see, r);
    r->reader = outer;
}

// One's indices begin with those of the other.
static bool same_loops(const walks *w, const tensor_stage *a, const tensor_stage *b) {
    bool same = true;
    for (uint32_t i = 0; i < a->nleft && i < b->nleft; i++)
        same &= w->p->op->vars.data[a->left[i]].space == w->p->op->vars.data[b->left[i]].space;
    return same;
}

// What a row's sums are known to be after the walk; a maximum is found on the run.
static bool reads_final(const walks *w, const walk *of, tensor_expr e) {
    const tensor_node *n = tensor_node_at(w->p->op, e);
    uint32_t writer = n->op == TENSOR_LOAD_OP ? writer_of(w, (tensor_val)n->imm.i) : UINT32_MAX;
    if (writer != UINT32_MAX && !w->scores[writer]) {
        const tensor_stage *st = plan_stage(w->p, writer);
        bool found = st->reducer != TENSOR_NO_REDUCER &&
                     w->p->op->reducers.data[st->reducer].kind == REDUCE_MAX;
        reach r = {w,    of,    writer,
                   true, false, ARENA_ARRAY(w->p->arena, bool, w->p->op->stages.len + 1)};
        follow(&r, writer);
        if (in_walk(of, writer) ? !found : r.any) return true;
    }
    for (uint32_t i = 0; i < n->nargs; i++)
        if (reads_final(w, of, n->args[i])) return true;
    return false;
}

// They are a factor of all that the row sums: a sum of terms with factors of their own, rounded
// each, would leave what the roundings differ by.
static bool is_one_term(const walks *w, const walk *of, const tensor_stage *st, tensor_expr e) {
    const planner *p = w->p;
    const tensor_node *n = tensor_node_at(p->op, e);
    if (!reads_final(w, of, e) || !plan_depends(p, e, st->bound[0], of->map)) return true;
    if (n->op == TENSOR_MUL_OP)
        return is_one_term(w, of, st, n->args[0]) && is_one_term(w, of, st, n->args[1]);
    bool one = n->op == TENSOR_NEG_OP || n->op == TENSOR_CVT_OP || n->op == TENSOR_ROUND_OP;
    return one && is_one_term(w, of, st, n->args[0]);
}

// A row has more of it than its scores have: the terms are those of a matrix operation, which
// rounds them.
static bool has_columns(const walks *w, uint32_t stage) {
    uint32_t read = default_deepest_read(w, stage);
    return read == UINT32_MAX || plan_stage(w->p, stage)->nleft > plan_stage(w->p, read)->nleft;
}

// What it needs of the walk's sums can be had while they are found.
static bool may_join(const walks *w, const walk *of, uint32_t stage) {
    const tensor_stage *st = plan_stage(w->p, stage);
    const planner *p = w->p;
    reach r = {w, of, stage, true, false, ARENA_ARRAY(p->arena, bool, p->op->stages.len + 1)};
    if (!plan_same_keys(p, plan_stage(w->p, of->sums.data[0]), st)) return false;
    for (uint32_t i = 0; i < of->sums.len; i++)
        if (!same_loops(w, plan_stage(w->p, of->sums.data[i]), st)) return false;
    follow(&r, stage);
    if (r.any && (!r.own || p->op->reducers.data[st->reducer].kind != REDUCE_SUM)) return false;
    tensor_expr body = plan_inline_loads(w->p, st->body[0]);
    if (default_is_windows(w->m->rows) && has_columns(w, stage) && !is_one_term(w, of, st, body))
        return false;
    for (uint32_t i = 0; i < of->sums.len; i++) {
        const tensor_stage *sum = plan_stage(w->p, of->sums.data[i]);
        tensor_val v = sum->targets[0].val;
        if (!loop_load_of(p->arena, p->op, body, v)) continue;
        tensor_reduce_kind kind = p->op->reducers.data[sum->reducer].kind;
        if (kind == REDUCE_MAX && !loop_is_maximum(p->op, sum)) return false;
        if (kind == REDUCE_MAX && !loop_rescales(p->arena, p->op, body, v)) return false;
        if (kind != REDUCE_MAX && kind != REDUCE_SUM) return false;
    }
    return true;
}

// In its body, with what is computed there.
bool default_reads(const walks *w, uint32_t reader, uint32_t writer) {
    const tensor_stage st = plan_inlined_stage(w->p, reader);
    bool any = false;
    for (uint32_t i = 0; i < st.nbody; i++)
        any |= loop_load_of(w->p->arena, w->p->op, st.body[i],
                            plan_stage(w->p, writer)->targets[0].val) != 0;
    return any;
}

bool default_reads_score(const walks *w, uint32_t stage) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if ((w->scores[i] || w->stored[i]) && default_reads(w, stage, i)) return true;
    return false;
}

static bool reads_sum(const walks *w, const walk *of, uint32_t stage) {
    for (uint32_t i = 0; i < of->sums.len; i++)
        if (default_reads(w, stage, of->sums.data[i])) return true;
    return false;
}

static walk *last_by(walks *w, tensor_val map) {
    for (uint32_t i = w->walks.len; i-- > 0;)
        if (w->walks.data[i].map == map) return &w->walks.data[i];
    return NULL;
}

static void find_walks(walks *w) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++) {
        tensor_val map = plan_inlined(w->p, i) || w->scores[i] || w->stored[i] ? TENSOR_NO_VAL
                                                                               : map_of(w, i);
        if (map == TENSOR_NO_VAL) continue;
        walk *of = last_by(w, map);
        if (!of || !may_join(w, of, i)) {
            VEC_PUSH(w->p->arena, &w->walks, ((walk){.map = map}));
            of = &w->walks.data[w->walks.len - 1];
        }
        of->scores |= default_reads_score(w, i);
        of->meets |= reads_sum(w, of, i);
        VEC_PUSH(w->p->arena, &of->sums, i);
        w->walk_of[i] = (uint32_t)(of - w->walks.data) + 1;
    }
}

// Each sum of the walk in one of its own.
static void part(walks *w, uint32_t which) {
    const walk all = w->walks.data[which];
    for (uint32_t i = 0; i < all.sums.len; i++) {
        const uint32_t stage = all.sums.data[i];
        walk own = {.map = all.map,
                    .scores = default_reads_score(w, stage),
                    .meets = reads_sum(w, &all, stage)};
        VEC_PUSH(w->p->arena, &own.sums, stage);
        if (i) VEC_PUSH(w->p->arena, &w->walks, own);
        else w->walks.data[which] = own;
        w->walk_of[stage] = i ? w->walks.len : which + 1;
    }
}

static void part_walks(walks *w) {
    const uint32_t n = w->walks.len;
    for (uint32_t i = 0; i < n && default_is_windows(w->m->rows); i++)
        if (default_walk_is_worth(w, &w->walks.data[i]) &&
            default_window_parts(w, &w->walks.data[i]))
            part(w, i);
}

// ---- What rows are known to be ------------------------------------------------------------------
typedef struct {
    const walks *w;
    const walk *of;
    const tensor_stage *reader;
    tensor_val val;
    bool own, other;   // it is read at the row that is walked; elsewhere
} row_read;

static bool see_row(void *user, const tensor_node *load) {
    row_read *r = user;
    if ((tensor_val)load->imm.i != r->val || !load->nargs) return true;
    if (leads_to_row(r->w, r->of, r->reader, load->args[0])) r->own = true;
    else r->other = true;
    return true;
}

static void read_rows(row_read *r, uint32_t reader) {
    tensor_stage st = plan_inlined_stage(r->w->p, reader);
    r->reader = &st;
    plan_loads(r->w->p, &st, see_row, r);
}

// What a walk's kernel finds of its rows: read by a stage of that kernel at the row, or by one that
// has to come later.
static bool reads_early(const walks *w, uint32_t stage, const walk *of, bool elsewhere) {
    row_read r = {.w = w, .of = of};
    for (uint32_t i = 0; i < of->early.len && !default_again_at_edges(w); i++) {
        r.val = plan_stage(w->p, of->early.data[i])->targets[0].val;
        read_rows(&r, stage);
    }
    return r.other || (r.own && !elsewhere);
}

// ---- Results of edges ---------------------------------------------------------------------------
// Its loops are the walk's, and it needs no sum of it.
static bool may_store(const walks *w, const walk *of, uint32_t stage) {
    const tensor_stage *st = plan_stage(w->p, stage), *deepest = plan_deepest(w->p, &of->sums);
    if (w->p->op->vals.data[of->map].axes[0] != first_space(w, st) || st->nleft > deepest->nleft)
        return false;
    for (uint32_t k = 1; k < st->nleft; k++)
        if (w->p->op->vars.data[st->left[k]].space != w->p->op->vars.data[deepest->left[k]].space)
            return false;
    reach r = {w, of, stage, true, false, ARENA_ARRAY(w->p->arena, bool, w->p->op->stages.len + 1)};
    follow(&r, stage);
    return !r.any && !reads_early(w, stage, of, false);
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

static bool is_stored(const walks *w, uint32_t stage) {
    for (uint32_t k = 0; k < w->walks.len; k++)
        for (uint32_t i = 0; i < w->walks.data[k].edges.len; i++)
            if (w->walks.data[k].edges.data[i] == stage) return true;
    return false;
}

// Results of edges are better made of numbers that threads still have of them: then rows are taken
// whole. So are sums that no walk may have.
bool default_walk_is_worth(const walks *w, const walk *of) {
    bool others = false;
    for (uint32_t i = 0; i < w->p->op->stages.len; i++) {
        const tensor_stage *st = plan_stage(w->p, i);
        if (w->scores[i] || w->walk_of[i] || plan_inlined(w->p, i) || is_stored(w, i)) continue;
        others |= (st->nkeys || default_is_walked(w, first_space(w, st))) && reads_sum(w, of, i);
    }
    return of->scores || (of->meets && !others);
}

// Sums of the walk need some of the other's, whatever stands between.
static bool comes_after(const walks *w, const walk *of, const walk *other) {
    reach r = {w, other, 0, true, false, ARENA_ARRAY(w->p->arena, bool, w->p->op->stages.len + 1)};
    for (uint32_t i = 0; i < of->sums.len && !r.any; i++) {
        follow(&r, of->sums.data[i]);
        r.any |= of != other && reads_early(w, of->sums.data[i], other, false);
    }
    return r.any;
}

static bool read_by_edges(const walks *w, tensor_val v) {
    const planner given = {.arena = w->p->arena, .op = (tensor_op *)(uintptr_t)w->given};
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (default_is_walked(w, first_space(w, plan_stage(w->p, i))) && plan_read_by(&given, i, v))
            return true;
    return false;
}

// In loops of some sum of the walk.
static bool has_loops_of(const walks *w, const walk *of, const tensor_stage *st) {
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

// ---- What rows are before they are walked -------------------------------------------------------
static bool sees_param(void *user, const tensor_node *load) {
    const walks *w = user;
    return (tensor_val)load->imm.i < w->p->op->nparams;
}

static bool is_of_rows(const walks *w, const walk *of, uint32_t stage) {
    const tensor_stage *st = plan_stage(w->p, stage);
    return st->loop == TENSOR_NO_LOOP && st->ntargets == 1 && !st->nkeys && !st->nfilters &&
           !st->nelse && !w->walk_of[stage] &&
           w->p->op->vals.data[st->targets[0].val].role == VAL_STAGE &&
           first_space(w, st) == w->p->op->vals.data[of->map].into &&
           !default_is_walked(w, first_space(w, st)) && !plan_inlined(w->p, stage) &&
           has_loops_of(w, of, st);
}

// At the row that is walked alone: what sums of the walk read, or what rows make of it.
static bool read_by_walk(const walks *w, const walk *of, uint32_t stage) {
    row_read r = {.w = w, .of = of, .val = plan_stage(w->p, stage)->targets[0].val};
    for (uint32_t i = 0; i < of->sums.len; i++) read_rows(&r, of->sums.data[i]);
    for (uint32_t k = 0; k < w->p->op->stages.len && !r.other; k++)
        if (w->scores[k] && !plan_inlined(w->p, k)) read_rows(&r, k);
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

static bool are_independent(walks *w) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->walks.len && default_is_windows(w->m->rows); i++) {
        if (!default_walk_is_worth(w, &w->walks.data[i])) continue;
        if (!default_window_alone(w, &w->walks.data[i])) return false;
        n++;
        for (uint32_t k = 0; k < w->walks.len; k++)
            if (k != i && default_walk_is_worth(w, &w->walks.data[k]) &&
                comes_after(w, &w->walks.data[i], &w->walks.data[k]))
                return false;
    }
    return n > 1;
}

// Windows of walks that then need nothing of each other go through the same rows side by side. And
// of one number of a row, a block of a window waits longer for its row's arrays than a kernel of
// their own takes.
static bool has_several(const walks *w, const tensor_stage *st) {
    int64_t n = 1;
    for (uint32_t i = 1; i < st->nleft; i++) n *= default_extent(w->p, st->left[i]);
    return n > 1;
}

// The first walk over such rows finds them on the way, and stores them for the others, where it has
// rows whole.
static void find_early(walks *w) {
    const plan_rows rows = w->m->rows;
    bool windows = default_is_windows(w->m->rows), whole = rows == ROWS_WALKED_EVEN ||
                                                           rows == ROWS_WALKED_SHORT ||
                                                           rows == ROWS_WALKED_AT_ONCE;
    for (uint32_t i = 0; i < w->p->op->stages.len && (whole || windows); i++)
        for (uint32_t k = 0; k < w->walks.len; k++) {
            walk *of = &w->walks.data[k];
            const tensor_stage *st = plan_stage(w->p, i);
            if (!default_walk_is_worth(w, of) || !is_of_rows(w, of, i) || !read_by_walk(w, of, i))
                continue;
            if (w->independent || (windows && !has_several(w, st))) continue;
            bool sum = st->reducer != TENSOR_NO_REDUCER;
            if (sum ? !default_reduces_dense(w->p, st) || !plan_loads(w->p, st, sees_param, w)
                    : !is_made_of_early(w, of, i))
                continue;
            VEC_PUSH(w->p->arena, &of->early, i);
            break;
        }
}

// ---- What rows make of the sums -----------------------------------------------------------------
typedef struct {
    // per stage that rows make of sums, and of each other: the walk it stands behind; 0: it stands
    // behind none
    uint32_t *last;
    bool *joins;
} lateness;

static uint32_t later(const walks *w, uint32_t a, uint32_t b) {
    if (!a || !b || a == b) return a ? a : b;
    const walk *x = &w->walks.data[a - 1], *y = &w->walks.data[b - 1];
    return comes_after(w, x, y) || (a > b && !comes_after(w, y, x)) ? a : b;
}

// The last walk of which a stage reads a sum, or what rows make of it, as the op came.
static uint32_t last_read(const walks *w, const lateness *l, uint32_t stage) {
    const planner given = {.arena = w->p->arena, .op = (tensor_op *)(uintptr_t)w->given};
    uint32_t last = 0;
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if ((w->walk_of[i] || (i < stage && l->last[i])) &&
            plan_read_by(&given, stage, plan_stage(w->p, i)->targets[0].val))
            last = later(w, last, w->walk_of[i] ? w->walk_of[i] : l->last[i]);
    return last;
}

// All that it reads of the walk is there when the walk returns: no other kernel stands between.
static bool has_all_at_hand(const walks *w, const lateness *l, uint32_t stage, uint32_t last) {
    const planner given = {.arena = w->p->arena, .op = (tensor_op *)(uintptr_t)w->given};
    const walk *of = &w->walks.data[last - 1];
    for (uint32_t i = 0; i < w->p->op->stages.len; i++) {
        if (i == stage || w->walk_of[i] == last || l->last[i] == last) continue;
        if (!plan_read_by(&given, stage, plan_stage(w->p, i)->targets[0].val)) continue;
        reach r = {w, of, i, true, false, ARENA_ARRAY(w->p->arena, bool, w->p->op->stages.len + 1)};
        follow(&r, i);
        if (r.any || reads_early(w, i, of, true)) return false;
    }
    return true;
}

static bool is_plain_of_rows(const walks *w, const walk *of, uint32_t stage) {
    const tensor_stage *st = plan_stage(w->p, stage);
    return st->reducer == TENSOR_NO_REDUCER && st->loop == TENSOR_NO_LOOP && st->ntargets == 1 &&
           first_space(w, st) == w->p->op->vals.data[of->map].into &&
           !default_is_walked(w, first_space(w, st));
}

static bool read_by_joined(const walks *w, const lateness *l, uint32_t stage) {
    const planner given = {.arena = w->p->arena, .op = (tensor_op *)(uintptr_t)w->given};
    for (uint32_t i = stage + 1; i < w->p->op->stages.len; i++)
        if (l->joins[i] && l->last[i] == l->last[stage] &&
            plan_read_by(&given, i, plan_stage(w->p, stage)->targets[0].val))
            return true;
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

// A result, or what edges read, as each would make it again; and what those are made of.
static void find_late(walks *w) {
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
        if (result) l.joins[i] = has_loops_of(w, &w->walks.data[l.last[i] - 1], st);
        else
            l.joins[i] = read_by_joined(w, &l, i) ||
                         (!is_cheap_row(w, i) && read_by_edges(w, st->targets[0].val));
    }
    for (uint32_t i = 0; i < n; i++)
        if (l.joins[i]) VEC_PUSH(w->p->arena, &w->walks.data[l.last[i] - 1].late, i);
}

bool default_find_walks(walks *w) {
    uint32_t n = w->p->op->stages.len;
    w->scores = ARENA_ARRAY(w->p->arena, bool, n + 1);
    w->stored = ARENA_ARRAY(w->p->arena, bool, n + 1);
    w->walk_of = ARENA_ARRAY(w->p->arena, uint32_t, n + 1);
    if (!find_scores(w)) return false;
    for (uint32_t i = 0; i < n; i++)
        if (!plan_inlined(w->p, i) && map_of(w, i) != TENSOR_NO_VAL) default_nest(w, i);
    find_walks(w);
    part_walks(w);
    w->independent = are_independent(w);
    find_early(w);
    find_late(w);
    return give_edges(w);
}
