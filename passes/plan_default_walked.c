// One walk by default: sums of rows that need each other, and the scores of edges that they alone read, as in
// attention and its gradient. Each walk of a row's edges computes the scores it reads, finds what other sums
// need on the run, and stores what belongs to rows alone.
//     s[e, h] = sum{d} …   a[e, h] = softmax(s[e, h] by dst)   y[v, h, d] = sum{e : dst[e] == v} a[e, h] * …
//     →  inline s.sum, …;  fuse a.max, a.sum, y at e;  online a.max, a.sum
#include "plan_default.h"

#include <string.h>

enum {
    LEAST_LANES = 8,       // of a row: with fewer, lanes have edges of their own
    MOST_HELD = 32,        // numbers a thread holds of a row
    WORDS_AHEAD = 16,      // of 32 bits, that a thread loads before it uses the first
    AT_ONCE_GROUPS = 8     // that share each of a few rows
};

typedef struct {
    tensor_val map;
    stage_group sums, late;   // late: what rows make of the sums
    bool meets;               // some sum needs another, or a score is stored for it
} walk;

typedef struct {
    making *m;
    planner *p;
    const tensor_op *given;   // as the op came: nothing is inlined there
    bool *scores;             // per stage: of edges, stored if no walk computed it
    VEC(walk) walks;
    uint32_t *walk_of;        // per stage: number from 1; 0: none
} walks;

static const tensor_stage *stage_of(const walks *w, uint32_t i) { return &w->p->op->stages.data[i]; }
static tensor_space first_space(const walks *w, const tensor_stage *st) {
    return st->nleft ? w->p->op->vars.data[st->left[0]].space : TENSOR_NO_SPACE;
}

// ---- What walks ------------------------------------------------------------------------------------------
static tensor_val map_of(const walks *w, uint32_t i) {
    stage_group g = {0};
    VEC_PUSH(w->p->arena, &g, i);
    const tensor_stage *st = stage_of(w, i);
    if (st->reducer == TENSOR_NO_REDUCER || st->loop != TENSOR_NO_LOOP || st->nkeys != 1 || st->ntargets != 1)
        return TENSOR_NO_VAL;
    tensor_val map = default_row_map(w->p, &g);
    bool fits = map != TENSOR_NO_VAL && w->p->op->vals.data[map].role == VAL_MAP &&
                !(w->p->op->vals.data[map].facts & FACT_PARTIAL);
    for (uint32_t k = 1; k < st->nleft; k++) fits = fits && default_dense(w->p, st->left[k]);
    return fits ? map : TENSOR_NO_VAL;
}

// Some map leads from the space to rows.
static bool is_walked(const walks *w, tensor_space s) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++) {
        tensor_val map = plan_inlined(w->p, i) ? TENSOR_NO_VAL : map_of(w, i);
        if (map != TENSOR_NO_VAL && w->p->op->vals.data[map].axes[0] == s) return true;
    }
    return false;
}

static bool is_score(const walks *w, uint32_t i) {
    const tensor_stage *st = stage_of(w, i);
    return !plan_inlined(w->p, i) && st->loop == TENSOR_NO_LOOP && st->nleft && st->ntargets == 1 &&
           is_walked(w, first_space(w, st)) && w->p->op->vals.data[st->targets[0].val].role == VAL_STAGE &&
           (st->reducer == TENSOR_NO_REDUCER || (default_reduces_dense(w->p, st) && !st->nkeys));
}

// A score is read by sums of walks, and by other scores.
static bool read_by_walks(const walks *w, uint32_t score) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (!plan_inlined(w->p, i) && plan_reads_stage(w->p, i, score) && !w->scores[i] &&
            map_of(w, i) == TENSOR_NO_VAL)
            return false;
    return true;
}

// Those that only other stages than walks could make use of stay what they are.
static bool find_scores(walks *w) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++) w->scores[i] = is_score(w, i);
    for (uint32_t i = w->p->op->stages.len; i-- > 0;)
        if (w->scores[i] && !read_by_walks(w, i)) return false;
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)   // from here on they are where they are read
        if (w->scores[i] && stage_of(w, i)->reducer == TENSOR_NO_REDUCER)
            w->p->plan->values.data[stage_of(w, i)->targets[0].val] = (loop_value){
                .home = LOOP_INLINE, .stage = i, .of = TENSOR_NO_VAL};
    return true;
}

// ---- Which sums share a walk -----------------------------------------------------------------------------
typedef struct {
    const walks *w;
    const walk *of;
    uint32_t reader;   // a sum, or a score on the way to it
    bool own, any;     // own: what it reads of the walk belongs to the row at hand
    bool *seen;
} reach;

static uint32_t writer_of(const walks *w, tensor_val v) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (stage_of(w, i)->targets[0].val == v) return i;
    return UINT32_MAX;
}

static bool in_walk(const walk *of, uint32_t stage) {
    for (uint32_t i = 0; i < of->sums.len; i++)
        if (of->sums.data[i] == stage) return true;
    return false;
}

static bool leads_to_row(const walks *w, const walk *of, const tensor_stage *reader, tensor_expr index) {
    const tensor_node *n = tensor_node_at(w->p->op, index);
    if (n->op == TENSOR_VAR_OP)
        return reader->reducer != TENSOR_NO_REDUCER && reader->nleft && (tensor_var)n->imm.i == reader->left[0];
    const tensor_node *at = n->op == TENSOR_LOAD_OP && n->nargs == 1 ? tensor_node_at(w->p->op, n->args[0]) : NULL;
    return at && (tensor_val)n->imm.i == of->map && at->op == TENSOR_VAR_OP;
}

static void follow(reach *r, uint32_t stage);

static bool see(void *user, const tensor_node *load) {
    reach *r = user;
    uint32_t writer = writer_of(r->w, (tensor_val)load->imm.i);
    if (writer == UINT32_MAX) return true;
    if (in_walk(r->of, writer)) {
        r->any = true;
        r->own = r->own && load->nargs && leads_to_row(r->w, r->of, stage_of(r->w, r->reader), load->args[0]);
        return true;
    }
    bool score = r->w->scores[writer] || plan_inlined(r->w->p, writer);
    reach below = {r->w, r->of, writer, true, false, r->seen};
    if (!r->seen[writer]) r->seen[writer] = true, follow(score ? r : &below, writer);
    if (!score && below.any) r->any = true, r->own = false;   // another kernel stands between
    return true;
}

static void follow(reach *r, uint32_t stage) {
    uint32_t outer = r->reader;
    r->reader = stage;
    plan_loads(r->w->p, stage_of(r->w, stage), see, r);
    r->reader = outer;
}

// What it needs of the walk's sums can be had while they are found.
static bool may_join(const walks *w, const walk *of, uint32_t stage) {
    const tensor_stage *st = stage_of(w, stage);
    const planner *p = w->p;
    reach r = {w, of, stage, true, false, ARENA_ARRAY(p->arena, bool, p->op->stages.len + 1)};
    if (!plan_same_keys(p, stage_of(w, of->sums.data[0]), st)) return false;
    follow(&r, stage);
    if (r.any && (!r.own || p->op->reducers.data[st->reducer].kind != REDUCE_SUM)) return false;
    tensor_expr body = plan_inline_loads(w->p, st->body[0]);
    for (uint32_t i = 0; i < of->sums.len; i++) {
        const tensor_stage *sum = stage_of(w, of->sums.data[i]);
        tensor_val v = sum->targets[0].val;
        if (!loop_load_of(p->arena, p->op, body, v)) continue;
        tensor_reduce_kind kind = p->op->reducers.data[sum->reducer].kind;
        if (kind == REDUCE_MAX && (!loop_is_maximum(p->op, sum) || !loop_rescales(p->arena, p->op, body, v))) return false;
        if (kind != REDUCE_MAX && kind != REDUCE_SUM) return false;
    }
    return true;
}

static bool reads_score(const walks *w, uint32_t stage) {
    tensor_expr body = plan_inline_loads(w->p, stage_of(w, stage)->body[0]);
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (w->scores[i] && loop_load_of(w->p->arena, w->p->op, body, stage_of(w, i)->targets[0].val)) return true;
    return false;
}

static bool reads_sum(const walks *w, const walk *of, uint32_t stage) {
    tensor_expr body = plan_inline_loads(w->p, stage_of(w, stage)->body[0]);
    for (uint32_t i = 0; i < of->sums.len; i++)
        if (loop_load_of(w->p->arena, w->p->op, body, stage_of(w, of->sums.data[i])->targets[0].val)) return true;
    return false;
}

static walk *last_by(walks *w, tensor_val map) {
    for (uint32_t i = w->walks.len; i-- > 0;)
        if (w->walks.data[i].map == map) return &w->walks.data[i];
    return NULL;
}

static void find_walks(walks *w) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++) {
        tensor_val map = plan_inlined(w->p, i) || w->scores[i] ? TENSOR_NO_VAL : map_of(w, i);
        if (map == TENSOR_NO_VAL) continue;
        walk *of = last_by(w, map);
        if (!of || !may_join(w, of, i)) {
            VEC_PUSH(w->p->arena, &w->walks, ((walk){.map = map}));
            of = &w->walks.data[w->walks.len - 1];
        }
        of->meets |= reads_score(w, i) || reads_sum(w, of, i);
        VEC_PUSH(w->p->arena, &of->sums, i);
        w->walk_of[i] = (uint32_t)(of - w->walks.data) + 1;
    }
}

// The last walk of which a stage reads a sum, as the op came; 0: of none.
static uint32_t last_read(const walks *w, uint32_t stage) {
    const planner given = {.arena = w->p->arena, .op = (tensor_op *)(uintptr_t)w->given};
    uint32_t last = 0;
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (w->walk_of[i] > last && plan_read_by(&given, stage, stage_of(w, i)->targets[0].val)) last = w->walk_of[i];
    return last;
}

static bool read_by_edges(const walks *w, tensor_val v) {
    const planner given = {.arena = w->p->arena, .op = (tensor_op *)(uintptr_t)w->given};
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (is_walked(w, first_space(w, stage_of(w, i))) && plan_read_by(&given, i, v)) return true;
    return false;
}

// What rows make of the sums of a walk, where edges read it: else each would make it again.
static void find_late(walks *w) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++) {
        const tensor_stage *st = stage_of(w, i);
        uint32_t last = last_read(w, i);
        walk *of = last ? &w->walks.data[last - 1] : NULL;
        bool plain = st->reducer == TENSOR_NO_REDUCER && st->loop == TENSOR_NO_LOOP && st->ntargets == 1 &&
                     w->p->op->vals.data[st->targets[0].val].role == VAL_STAGE;
        bool rows = of && first_space(w, st) == w->p->op->vals.data[of->map].into &&
                    !is_walked(w, first_space(w, st));
        if (plain && rows && read_by_edges(w, st->targets[0].val)) VEC_PUSH(w->p->arena, &of->late, i);
    }
}

// ---- Threads ---------------------------------------------------------------------------------------------
typedef struct {
    int64_t vector, lanes, registers;
} level_share;

typedef struct {
    uint32_t depth;
    level_share level[8];   // by level of the deepest sum; the first is that of rows
    int64_t lanes, held;    // of a row; numbers of a thread
    const tensor_stage *deepest;
} row_shares;

static int64_t power_from(int64_t n) {
    int64_t p = 1;
    while (p < n) p *= 2;
    return p;
}

static int64_t bytes_along(const walks *w, const walk *of, uint32_t level) {
    int64_t most = 1;
    for (uint32_t i = 0; i < of->sums.len; i++) {
        const tensor_stage *st = stage_of(w, of->sums.data[i]);
        if (st->nleft <= level) continue;
        int64_t own = default_bytes_along(w->m, st, st->left[level]),
                stored = ir_dtype_bytes(w->p->op->vals.data[st->targets[0].val].type);
        if (w->p->op->vals.data[st->targets[0].val].role == VAL_STAGE) stored = 1;
        if (own > most) most = own;
        if (stored > most) most = stored;
    }
    return most;
}

static uint32_t score_depth(const walks *w) {
    uint32_t most = 1;
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (w->scores[i] && stage_of(w, i)->nleft > most) most = stage_of(w, i)->nleft;
    return most;
}

// Lanes cover an axis at once, the last one by vectors; what does not fit a warp goes to registers. false: an
// extent is not known, or too much of a row is a thread's.
static bool share_rows(const walks *w, const walk *of, row_shares *s) {
    *s = (row_shares){.lanes = 1, .held = 1};
    for (uint32_t i = 0; i < of->sums.len; i++) {
        const tensor_stage *st = stage_of(w, of->sums.data[i]);
        if (!s->deepest || st->nleft >= s->deepest->nleft) s->deepest = st;
    }
    s->depth = s->deepest->nleft;
    if (s->depth > sizeof s->level / sizeof *s->level) return false;
    for (uint32_t i = s->depth; i-- > 1;) {
        level_share *x = &s->level[i];
        int64_t extent = default_extent(w->p, s->deepest->left[i]), room = w->p->machine->lanes / s->lanes;
        if (!extent) return false;
        bool apart = i + 1 == s->depth && i >= score_depth(w);   // an edge's score has a vector of its own
        x->vector = apart ? w->p->machine->vector_bytes / bytes_along(w, of, i) : 1;
        while (x->vector > 1 && extent % x->vector) x->vector /= 2;
        if (x->vector > 8) x->vector = 8;
        x->lanes = power_from((extent + x->vector - 1) / x->vector);
        if (x->lanes > room) x->lanes = room;
        x->registers = power_from((extent + x->vector * x->lanes - 1) / (x->vector * x->lanes));
        s->lanes *= x->lanes;
        s->held *= x->vector * x->registers;
    }
    return s->held <= MOST_HELD;
}

// ---- Cells -----------------------------------------------------------------------------------------------
static void fill_plain(walks *w, schedule_verb verb, const char *subject) {
    schedule_value *v = ARENA_NEW(w->p->arena, schedule_value);
    *v = (schedule_value){.keyword = "stages", .nnames = 1, .var = UINT32_MAX};
    const char **names = ARENA_NEW(w->p->arena, const char *);
    *names = subject;
    v->names = names;
    schedule_fill(w->p->arena, w->m->s, (schedule_cell){.verb = verb, .subject = subject, .nvalues = 1, .values = v});
}

static const char *base_name(const walks *w, tensor_var v) {
    const char *name = w->p->op->vars.data[v].name;
    size_t n = strcspn(name, "'");
    return arena_printf(w->p->arena, "%.*s", (int)n, name);
}

// false: the sums call what they walk by different names.
static bool fill_fuse(walks *w, const walk *of) {
    uint32_t n = 0;
    const char **names = ARENA_ARRAY(w->p->arena, const char *, of->sums.len + of->late.len + 1);
    const char *at = base_name(w, stage_of(w, of->sums.data[0])->bound[0]);
    for (uint32_t i = 0; i < of->sums.len; i++) {
        const tensor_stage *st = stage_of(w, of->sums.data[i]);
        if (strcmp(at, base_name(w, st->bound[0]))) return false;
        names[n++] = st->name;
    }
    for (uint32_t i = 0; i < of->late.len; i++) names[n++] = stage_of(w, of->late.data[i])->name;
    for (uint32_t i = 0; i < n; i++) {
        schedule_value *v = ARENA_ARRAY(w->p->arena, schedule_value, 2);
        v[0] = (schedule_value){.keyword = "stages", .nnames = n, .names = names, .var = UINT32_MAX};
        v[1] = (schedule_value){.keyword = "at", .text = at, .var = UINT32_MAX};
        schedule_fill(w->p->arena, w->m->s,
                      (schedule_cell){.verb = SCHEDULE_FUSE, .subject = names[i], .nvalues = 2, .values = v});
    }
    return true;
}

static void fill_online(walks *w, const walk *of) {
    for (uint32_t i = 0; i < of->sums.len; i++) {
        tensor_val v = stage_of(w, of->sums.data[i])->targets[0].val;
        bool read = false;
        for (uint32_t k = 0; k < of->sums.len; k++) {
            tensor_expr body = plan_inline_loads(w->p, stage_of(w, of->sums.data[k])->body[0]);
            read |= k != i && loop_load_of(w->p->arena, w->p->op, body, v);
        }
        for (uint32_t k = 0; k < of->late.len && !read; k++)
            read = loop_load_of(w->p->arena, w->p->op, plan_inline_loads(w->p, stage_of(w, of->late.data[k])->body[0]), v) != 0;
        if (read) fill_plain(w, SCHEDULE_ONLINE, stage_of(w, of->sums.data[i])->name);
    }
}

static void fill_levels(walks *w, const row_shares *s, const tensor_stage *st) {
    for (uint32_t i = 1; i < st->nleft && i < s->depth; i++) {
        default_fill(w->m, st->name, SCHEDULE_LANES, st->left[i], s->level[i].lanes, NULL);
        default_fill(w->m, st->name, SCHEDULE_VECTOR, st->left[i], s->level[i].vector, NULL);
        default_fill(w->m, st->name, SCHEDULE_REGISTERS, st->left[i], s->level[i].registers, "strided");
    }
}

// Steps that are loaded at once: so many words of what the walk's scores and deepest sums read.
static int64_t steps_of(const walks *w, const walk *of, const row_shares *s) {
    int64_t arrays = 0, words = 0, steps = 1;
    for (uint32_t i = 0; i < of->sums.len; i++) arrays += stage_of(w, of->sums.data[i])->nleft == s->depth;
    for (uint32_t i = 0; i < w->p->op->stages.len; i++) arrays += w->scores[i] && stage_of(w, i)->reducer != TENSOR_NO_REDUCER;
    words = arrays * s->held * bytes_along(w, of, s->depth - 1) / 4;
    while (steps < 8 && 2 * steps * (words ? words : 1) <= WORDS_AHEAD) steps *= 2;
    return steps;
}

static int64_t part_of(const making *m, const row_shares *s) {
    bool half = s->level[s->depth - 1].vector > 4;
    return m->rows == ROWS_WALKED_FEW ? (half ? DEFAULT_PART / 2 : DEFAULT_PART) : 2 * DEFAULT_PART;
}

static void fill_rows(walks *w, const walk *of, const row_shares *s) {
    making *m = w->m;
    int64_t spare = s->lanes < LEAST_LANES ? LEAST_LANES / s->lanes : 1, steps = steps_of(w, of, s),
            groups = m->p->machine->block_threads / (s->lanes * spare);
    bool at_once = m->rows == ROWS_WALKED_AT_ONCE, cut = m->rows == ROWS_WALKED || m->rows == ROWS_WALKED_FEW;
    for (uint32_t i = 0; i < of->sums.len + of->late.len; i++) {
        uint32_t stage = i < of->sums.len ? of->sums.data[i] : of->late.data[i - of->sums.len];
        const tensor_stage *st = stage_of(w, stage);
        fill_levels(w, s, st);
        default_fill(m, st->name, SCHEDULE_BLOCK, st->left[0], at_once ? 1 : groups, NULL);
        if (!at_once) default_fill(m, st->name, SCHEDULE_GROUPS, st->left[0], groups, NULL);
        if (cut) default_order_by_degree(m, st->name, st->left[0], of->map);
        if (i >= of->sums.len) continue;
        if (at_once) default_fill(m, st->name, SCHEDULE_GROUPS, st->bound[0], AT_ONCE_GROUPS, NULL);
        default_fill(m, st->name, SCHEDULE_LANES, st->bound[0], spare, NULL);
        default_fill(m, st->name, SCHEDULE_UNROLL, st->bound[0], steps, "masked");
        if (cut) default_fill(m, st->name, SCHEDULE_SPLIT, st->bound[0], part_of(m, s), NULL);
    }
}

// What a score reduces has the lanes that its walks use for what it has not; those of the first one.
static void fill_score(walks *w, uint32_t score, const row_shares *s) {
    const tensor_stage *st = stage_of(w, score);
    int64_t lanes = 1;
    fill_plain(w, SCHEDULE_INLINE, st->name);
    if (st->reducer == TENSOR_NO_REDUCER) return;
    for (uint32_t i = st->nleft; i < s->depth; i++) lanes *= s->level[i].lanes;
    if (lanes == 1) lanes = s->lanes == 1 ? LEAST_LANES : 1;
    default_dot_share(w->m, st, lanes);
}

// What edges make of scores is where it is read, whatever it costs then.
static bool is_made_of_scores(const walks *w, uint32_t i) {
    const tensor_stage *st = stage_of(w, i);
    return plan_inlined(w->p, i) && !w->scores[i] && is_walked(w, first_space(w, st)) && reads_score(w, i);
}

// A walk in fewer loops deals out those it has as the deepest one does, whose scores have the other lanes.
static bool shares_as(const walks *w, const walk *of, const row_shares *deepest) {
    for (uint32_t i = 0; i < of->sums.len; i++) {
        const tensor_stage *st = stage_of(w, of->sums.data[i]);
        if (st->nleft > deepest->depth) return false;
        for (uint32_t k = 1; k < st->nleft; k++)
            if (w->p->op->vars.data[st->left[k]].space != w->p->op->vars.data[deepest->deepest->left[k]].space)
                return false;
    }
    return true;
}

static bool fill_walk(walks *w, const walk *of, const row_shares *deepest) {
    row_shares own, *s = &own;
    if (shares_as(w, of, deepest)) own = *deepest;
    else if (!share_rows(w, of, s)) return false;
    if (!fill_fuse(w, of)) return false;
    fill_online(w, of);
    fill_rows(w, of, s);
    for (uint32_t i = 0; i < of->sums.len; i++) w->m->fused[of->sums.data[i]] = true;
    for (uint32_t i = 0; i < of->late.len; i++) w->m->fused[of->late.data[i]] = true;
    bool known = false;
    for (uint32_t i = 0; i < w->m->walked.len; i++) known |= w->m->walked.data[i] == of->map;
    if (!known) VEC_PUSH(w->p->arena, &w->m->walked, of->map);
    return true;
}

bool default_walk(making *m) {
    uint32_t n = m->p->op->stages.len, filled = 0;
    walks w = {.m = m, .p = m->p, .given = m->s->op, .scores = ARENA_ARRAY(m->p->arena, bool, n + 1),
               .walk_of = ARENA_ARRAY(m->p->arena, uint32_t, n + 1)};
    row_shares deepest = {0};
    m->fused = ARENA_ARRAY(m->p->arena, bool, n + 1);
    if (!find_scores(&w)) return false;
    find_walks(&w);
    find_late(&w);
    for (uint32_t i = 0; i < w.walks.len; i++) {
        row_shares s;
        if (!w.walks.data[i].meets) continue;
        if (!share_rows(&w, &w.walks.data[i], &s)) return false;
        if (!filled++ || s.depth > deepest.depth) deepest = s;
    }
    for (uint32_t i = 0; i < w.walks.len; i++)
        if (w.walks.data[i].meets && !fill_walk(&w, &w.walks.data[i], &deepest)) return false;
    for (uint32_t i = 0; filled && i < n; i++) {
        if (is_made_of_scores(&w, i)) fill_plain(&w, SCHEDULE_INLINE, stage_of(&w, i)->name);
        if (!w.scores[i]) continue;
        fill_score(&w, i, &deepest);
        m->fused[i] = true;
    }
    return filled != 0;
}
