// One walk by default: sums of rows that need each other, and the scores of edges that they alone
// read, as in attention and its gradient. Each walk of a row's edges computes the scores it reads,
// finds what other sums need on the run, and stores what belongs to rows alone.
//     s[e, h] = sum{d} …   a[e, h] = softmax(s[e, h] by dst)   y[v, h, d] = sum{e : dst[e] == v} a[e, h] * …
//     →  inline s.sum, …;  fuse a.max, a.sum, y at e;  online a.max, a.sum
#include "default/walks.h"
#include "default/row_classes.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"

#include <string.h>

enum {
    LEAST_LANES = 8,    // of a row: with fewer, lanes have edges of their own
    MOST_HELD = 32,     // numbers a thread holds of a row
    ROOMY = 16,         // that leave registers for what comes ahead
    MOST_HALVED = 16,   // or half of the threads, instead
    // of what an edge has one array of; of scores half as many, and where groups share long rows
    MOST_STEPS = 8,
    WORDS_AHEAD = 32,   // of 32 bits, that a thread loads before it uses the first
    // entries of a row that a block takes while others are under way; of two walks, one after the
    // other, half of it
    WALKED_LONGEST = 512,
    // threads for which there is to be room: an assembler that is not told lets loads wait
    CLASS_ROOM = 1024,
    // of few rows, whose numbers of 16 bits take more registers as they are widened
    NARROW_ROOM = 512
};

static tensor_space first_space(const walks *w, const tensor_stage *st) {
    return st->nleft ? w->p->op->vars.data[st->left[0]].space : TENSOR_NO_SPACE;
}

// ---- Threads ------------------------------------------------------------------------------------
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
        const tensor_stage *st = plan_stage(w->p, of->sums.data[i]);
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
        if ((w->scores[i] || w->stored[i]) && plan_stage(w->p, i)->nleft > most)
            most = plan_stage(w->p, i)->nleft;
    return most;
}

// One step, of so many times a row's numbers, is more than a thread has registers for.
static bool is_long(const walks *w, const walk *of, const row_shares *s, int64_t times) {
    return default_walk_length(w, of, s->deepest, times * s->held) > DEFAULT_LONGEST;
}

// More lanes have half as much of a row each, or a row takes twice the rounds.
static bool halve_held(const walks *w, row_shares *s) {
    level_share *last = &s->level[s->depth - 1];
    bool spread = last->vector > 1 && 2 * s->lanes <= w->p->machine->lanes;
    int64_t *half = spread ? &last->vector : &last->registers;
    if (s->depth < 2 || *half < 2) return false;
    *half /= 2;
    s->held /= 2;
    if (spread) last->lanes *= 2, s->lanes *= 2;
    return true;
}

// Lanes cover an axis at once, the last one by vectors; what does not fit a warp goes to registers.
// false: an extent is not known, or too much of a row is a thread's.
static bool share_rows(const walks *w, const walk *of, row_shares *s) {
    *s = (row_shares){.lanes = 1, .held = 1};
    for (uint32_t i = 0; i < of->sums.len; i++) {
        const tensor_stage *st = plan_stage(w->p, of->sums.data[i]);
        if (!s->deepest || st->nleft >= s->deepest->nleft) s->deepest = st;
    }
    s->depth = s->deepest->nleft;
    if (s->depth > sizeof s->level / sizeof *s->level) return false;
    for (uint32_t i = s->depth; i-- > 1;) {
        level_share *x = &s->level[i];
        int64_t extent = default_extent(w->p, s->deepest->left[i]),
                room = w->p->machine->lanes / s->lanes;
        if (!extent) return false;
        // an edge's score has a vector of its own
        bool apart = i + 1 == s->depth && i >= score_depth(w);
        x->vector = apart ? w->p->machine->vector_bytes / bytes_along(w, of, i) : 1;
        while (x->vector > 1 && extent % x->vector) x->vector /= 2;
        if (x->vector > 8) x->vector = 8;
        x->lanes = power_from((extent + x->vector - 1) / x->vector);
        if (x->lanes > room) x->lanes = room;
        x->registers = power_from((extent + x->vector * x->lanes - 1) / (x->vector * x->lanes));
        s->lanes *= x->lanes;
        s->held *= x->vector * x->registers;
    }
    while (is_long(w, of, s, 1) && halve_held(w, s)) continue;
    return s->held <= MOST_HELD;
}

// ---- Cells --------------------------------------------------------------------------------------
static void fill_plain(walks *w, schedule_verb verb, uint32_t stage, const char *option) {
    schedule_value *v = ARENA_ARRAY(w->p->arena, schedule_value, 2);
    v[0] = default_stage_list(w->p, &(stage_group){.data = &stage, .len = 1});
    v[1] = (schedule_value){.keyword = option, .var = UINT32_MAX};
    default_say(w->m, default_stage_cell(w->p, verb, plan_stage(w->p, stage)), v, option ? 2 : 1);
}

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
    schedule_value *v = ARENA_ARRAY(w->p->arena, schedule_value, 2);
    v[0] = default_stage_list(w->p, &all);
    v[1] = default_at(w->p, at.data, at.len);
    for (uint32_t i = 0; i < all.len; i++)
        default_say(w->m, default_stage_cell(w->p, SCHEDULE_FUSE, plan_stage(w->p, all.data[i])), v,
                    2);
}

// Long rows meet a larger maximum ever less often, but some lane of a warp in most steps: sums
// follow from afar. Short ones have to once.
static bool follows_behind(const walks *w, const tensor_stage *st) {
    plan_rows rows = w->m->rows;
    bool most = w->p->op->reducers.data[st->reducer].kind == REDUCE_MAX;
    return most && (rows == ROWS_WALKED_FEW || rows == ROWS_WALKED_SOME) &&
           default_approximates(w->m);
}

static void fill_online(walks *w, const walk *of) {
    for (uint32_t i = 0; i < of->sums.len; i++) {
        uint32_t sum = of->sums.data[i];
        bool read = false;
        for (uint32_t k = 0; k < of->sums.len; k++)
            read |= k != i && default_reads(w, of->sums.data[k], sum);
        for (uint32_t k = 0; k < of->late.len; k++) read |= default_reads(w, of->late.data[k], sum);
        if (read)
            fill_plain(w, SCHEDULE_ONLINE, sum,
                       follows_behind(w, plan_stage(w->p, sum)) ? "behind" : NULL);
    }
}

static void fill_levels(walks *w, const row_shares *s, const tensor_stage *st) {
    for (uint32_t i = 1; i < st->nleft && i < s->depth; i++) {
        default_fill(w->m, st, SCHEDULE_LANES, st->left[i], s->level[i].lanes, NULL);
        default_fill(w->m, st, SCHEDULE_VECTOR, st->left[i], s->level[i].vector, NULL);
        default_fill(w->m, st, SCHEDULE_REGISTERS, st->left[i], s->level[i].registers, "strided");
    }
}

static bool is_early(const walk *of, uint32_t stage) {
    bool early = false;
    for (uint32_t i = 0; i < of->early.len; i++) early |= of->early.data[i] == stage;
    return early;
}

// At its edges every walk finds again what a row is.
static bool is_again(const walks *w, uint32_t stage) {
    bool early = false;
    for (uint32_t k = 0; k < w->walks.len && default_again_at_edges(w); k++)
        early |= is_early(&w->walks.data[k], stage);
    return early;
}

// Arrays of which an edge has rows that are not its row's own, and those of which the row has one,
// or all have.
typedef struct {
    const walks *w;
    const walk *of;
    const row_shares *s;
    bool *met;    // per value
    bool again;   // what is read of a row is read at each edge
    int64_t gathered, held;
} gathering;

// At the row that is walked, or the same at all of them.
static bool is_of_row(const gathering *g, tensor_expr index) {
    const tensor_op *op = g->w->p->op;
    const tensor_node *at = tensor_node_at(op, index);
    if (at->op == TENSOR_LOAD_OP) return (tensor_val)at->imm.i == g->of->map;
    bool edge = at->op == TENSOR_VAR_OP &&
                op->vars.data[at->imm.i].space == op->vals.data[g->of->map].axes[0];
    return at->op == TENSOR_VAR_OP && !edge;
}

static bool has_features(const gathering *g, const tensor_node *load) {
    const tensor_op *op = g->w->p->op;
    const tensor_node *last = tensor_node_at(op, load->args[load->nargs - 1]);
    tensor_space features = op->vars.data[g->s->deepest->left[g->s->depth - 1]].space;
    return last->op == TENSOR_VAR_OP && op->vars.data[last->imm.i].space == features;
}

static bool see_array(void *user, const tensor_node *load) {
    gathering *g = user;
    tensor_val v = (tensor_val)load->imm.i;
    if (v >= g->w->p->op->nparams || g->met[v] || !load->nargs) return true;
    bool row = !g->again && is_of_row(g, load->args[0]), whole = load->nargs >= g->s->depth;
    if ((whole && !row) || (row && g->s->depth > 1 && has_features(g, load))) g->met[v] = true;
    g->gathered += g->met[v] && !row;
    g->held += g->met[v] && row;
    return true;
}

static gathering arrays_of(const walks *w, const walk *of, const row_shares *s) {
    gathering g = {w, of, s, ARENA_ARRAY(w->p->arena, bool, w->p->op->vals.len + 1), false, 0, 0};
    for (uint32_t i = 0; i < of->sums.len; i++)
        plan_loads(w->p, plan_stage(w->p, of->sums.data[i]), see_array, &g);
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (w->scores[i] && (!w->m->stored.spares || default_finds(w, of, i)))
            plan_loads(w->p, plan_stage(w->p, i), see_array, &g);
    g.again = true;
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (is_again(w, i) && !is_early(of, i))
            plan_loads(w->p, plan_stage(w->p, i), see_array, &g);
    return g;
}

// Numbers of a thread, of which the row has one: of its sum, and of what is the same at all its
// edges.
static int64_t held_of(const walks *w, const walk *of, const row_shares *s) {
    return s->held * (1 + arrays_of(w, of, s).held);
}

static bool reduces_scores(const walks *w) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (w->scores[i] && plan_stage(w->p, i)->reducer != TENSOR_NO_REDUCER) return true;
    return false;
}

static bool has_classes(const walks *w) {
    return default_whole_classes(w->m->rows) || default_cut_classes(w);
}

// Steps that are loaded at once: so many words of what the walk's scores and deepest sums read, as
// long as they are short.
static int64_t steps_of(const walks *w, const walk *of, const row_shares *s) {
    int64_t words = 0, steps = 1;
    int64_t most = reduces_scores(w) || w->m->stored.spares || has_classes(w) ? MOST_STEPS / 2
                                                                              : MOST_STEPS;
    words = arrays_of(w, of, s).gathered * s->held * bytes_along(w, of, s->depth - 1) / 4 +
            default_inside_words(w, of, s->deepest, s->held);
    while (steps < most && 2 * steps * (words ? words : 1) <= WORDS_AHEAD) steps *= 2;
    const int64_t registers = bytes_along(w, of, s->depth - 1) < 4 ? 2 : 1;
    while (steps > 1 &&
           steps * default_walk_length(w, of, s->deepest, s->held) > registers * DEFAULT_LONG)
        steps /= 2;
    return steps;
}

// An edge has one row for it, and it sums one.
static bool is_light(const walks *w, const walk *of, const row_shares *s) {
    uint32_t deep = 0;
    for (uint32_t i = 0; i < of->sums.len; i++)
        deep += plan_stage(w->p, of->sums.data[i])->nleft == s->depth;
    return deep <= 1 && arrays_of(w, of, s).gathered <= 1;
}

// Half as many lanes a row, each with twice of it: twice the rows side by side, and one step less
// for what lanes of a row have to share. Rows of a class that have less than a warp keep their
// lanes: long ones would take twice the time.
static void halve_lanes(const walks *w, row_shares *s, int64_t steps) {
    int64_t most = 0;
    for (uint32_t i = 0; i < w->walks.len; i++) {
        int64_t held = default_walk_is_worth(w, &w->walks.data[i])
                           ? held_of(w, &w->walks.data[i], s)
                           : 0;
        if (held > most) most = held;
        if (is_long(w, &w->walks.data[i], s, 2)) return;
    }
    level_share *last = &s->level[s->depth - 1];
    bool warps = default_cut_classes(w) && w->m->rows != ROWS_WALKED;
    int64_t least = warps ? w->p->machine->lanes : w->p->machine->lanes / 2;
    // a lane for each step that they reduce, or one for all
    bool dealt = last->lanes == 2 || last->lanes >= 2 * steps;
    if (s->lanes < least || last->lanes < 2 || 2 * s->held > MOST_HALVED || 2 * most > MOST_HELD ||
        (reduces_scores(w) && !dealt))
        return;
    last->lanes /= 2;
    last->registers *= 2;
    s->lanes /= 2;
    s->held *= 2;
}

// Among many edges there are rows for all threads of the machine all the same, if steps stay side
// by side. Among few, rows of few: longer ones take twice the time.
static void share_many(const walks *w, row_shares *s) {
    bool whole = s->lanes == w->p->machine->lanes;
    int64_t along = s->level[s->depth - 1].lanes;
    row_shares half = *s;
    if (!whole || (w->m->rows != ROWS_WALKED && w->m->rows != ROWS_WALKED_THIN)) return;
    // a few would be left, which still have to share
    if (w->m->rows == ROWS_WALKED && along != 2 && along < 2 * MOST_STEPS) return;
    halve_lanes(w, &half, w->m->rows == ROWS_WALKED_THIN ? 2 : MOST_STEPS / 2);
    for (uint32_t i = 0; i < w->walks.len; i++)
        if (default_walk_is_worth(w, &w->walks.data[i]) &&
            steps_of(w, &w->walks.data[i], &half) < 2)
            return;
    *s = half;
}

// All that lanes along the last index would compute alike for each step is dealt to them, a step
// each.
static void fill_steps(const walks *w, const walk *of, const tensor_stage *st, tensor_var walked,
                       const row_shares *s, int64_t steps) {
    int64_t lanes = s->level[s->depth - 1].lanes;
    bool has_shares = !w->m->stored.spares || default_reduces_at_edges(w, of),
         deep = false;   // else those lanes have parts of scores alone
    for (uint32_t i = 0; i < of->sums.len && s->depth > 1; i++)
        deep |= plan_stage(w->p, of->sums.data[i])->nleft == s->depth;
    schedule_value *v = ARENA_ARRAY(w->p->arena, schedule_value, 3);
    if (steps < 2) return;
    v[0] = (schedule_value){.number = steps, .var = UINT32_MAX};
    v[1] = (schedule_value){.keyword = "masked", .var = UINT32_MAX};
    v[2] = (schedule_value){.keyword = "dealt", .var = UINT32_MAX};
    const uint32_t n = deep && lanes >= steps && lanes > 1 && has_shares ? 3 : 2;
    default_say(w->m, default_index_cell(w->p, SCHEDULE_UNROLL, st, walked), v, n);
}

// As the op has them.
static stage_group stages_of(const walks *w, const walk *of) {
    stage_group all = {0};
    for (uint32_t i = 0, s = 0, l = 0, e = 0; i < w->p->op->stages.len; i++) {
        bool sum = s < of->sums.len && of->sums.data[s] == i,
             late = l < of->late.len && of->late.data[l] == i,
             early = e < of->early.len && of->early.data[e] == i;
        if (sum || late || early) VEC_PUSH(w->p->arena, &all, i);
        s += sum;
        l += late;
        e += early;
    }
    return all;
}

// What it reduces of its own is written out for all numbers that a thread holds of the row, and all
// steps, but where lanes share those.
static void fill_score_share(walks *w, const tensor_stage *st, const row_shares *s, int64_t steps) {
    int64_t lanes = 1;
    for (uint32_t i = st->nleft; i < s->depth; i++) lanes *= s->level[i].lanes;
    bool all = lanes > 1;   // steps are dealt to those that reduce
    if (lanes == 1) lanes = s->lanes == 1 ? LEAST_LANES : 1;
    w->m->hand.length = default_score_length(w, st) * (st->nleft == s->depth ? s->held * steps : 1);
    default_dot_share(w->m, st, lanes, all);
    w->m->hand.length = 0;
}

// How a walk's rows are dealt out.
typedef struct {
    // of a block; groups of a row; lanes of a group that have edges of their own
    int64_t rows, sharers, spare;
    int64_t part;   // edges of a part; 0: rows are whole
} row_dealing;

static void fill_dealt(walks *w, const walk *of, const row_shares *s, const row_dealing *d) {
    making *m = w->m;
    int64_t steps = steps_of(w, of, s);
    stage_group all = stages_of(w, of);
    for (uint32_t i = 0; i < all.len; i++) {
        const tensor_stage *st = plan_stage(w->p, all.data[i]);
        fill_levels(w, s, st);
        default_fill(m, st, SCHEDULE_BLOCK, st->left[0], d->rows, NULL);
        default_fill(m, st, SCHEDULE_GROUPS, st->left[0], d->rows, NULL);
        if (st->reducer == TENSOR_NO_REDUCER) continue;
        if (!st->nkeys) {   // of the row's own arrays
            fill_score_share(w, st, s, steps);
            continue;
        }
        default_fill(m, st, SCHEDULE_GROUPS, st->bound[0], d->sharers, NULL);
        default_fill(m, st, SCHEDULE_LANES, st->bound[0], d->spare, NULL);
        fill_steps(w, of, st, st->bound[0], s, steps);
        if (d->part) default_fill(m, st, SCHEDULE_SPLIT, st->bound[0], d->part, NULL);
    }
    for (uint32_t i = 0; i < of->edges.len; i++) {
        const tensor_stage *st = plan_stage(w->p, of->edges.data[i]);
        fill_levels(w, s, st);
        default_fill(m, st, SCHEDULE_GROUPS, st->left[0], d->sharers, NULL);
        default_fill(m, st, SCHEDULE_LANES, st->left[0], d->spare, NULL);
        fill_steps(w, of, st, st->left[0], s, steps);
    }
}

// ---- Rows by length -----------------------------------------------------------------------------
// Loads wait where an assembler that is not told of any room saves registers: of few rows nothing
// hides that, and numbers of 16 bits take more of them as they are widened. Told of it, one makes
// do with those that classes of a launch have apart.
static void fill_class_room(walks *w, const walk *of, const row_shares *s,
                            const tensor_stage *deepest) {
    bool few = w->m->rows == ROWS_WALKED_AT_ONCE, narrow = bytes_along(w, of, s->depth - 1) < 4,
         cut = default_cut_classes(w);
    // many small ones, which want to be side by side
    bool thin = w->m->rows == ROWS_WALKED_THIN && !w->heavy && s->held < ROOMY / 2;
    if (held_of(w, of, s) > ROOMY || (w->heavy && (narrow || !cut)) ||
        (!few && !narrow && (!cut || thin)))
        return;
    default_room(w->m, deepest, few && narrow ? NARROW_ROOM : CLASS_ROOM);
}

// Of rows that are alike likewise, where an entry has a dot product of its own. Of a gradient,
// which has two of them, for f32 of one head; more of it, and 16 bits, which are widened, want
// registers for what they read (bench/RECORD.md).
static void fill_even_room(walks *w, const walk *of, const row_shares *s,
                           const tensor_stage *deepest) {
    bool narrow = bytes_along(w, of, s->depth - 1)<4, wide = held_of(w, of, s)> ROOMY,
         several = deepest->nleft > 2 && default_extent(w->p, deepest->left[1]) != 1,
         alone = w->walks.len == 1 && !(wide && narrow),
         gradient = w->heavy && !narrow && 3 * s->held <= ROOMY && !several;
    if (w->m->rows == ROWS_WALKED_EVEN && default_reduces_at_edges(w, of) && (alone || gradient))
        default_room(w->m, deepest, CLASS_ROOM);
}

// A score that the walk's sums read, or results of edges on the way; or that it stores.
static bool computes(const walks *w, const walk *of, uint32_t score) {
    bool own = default_finds(w, of, score);
    for (uint32_t i = 0; i < of->edges.len; i++)
        own |= of->edges.data[i] == score || default_reads(w, of->edges.data[i], score);
    return own && (w->scores[score] || w->stored[score]);
}

static const schedule *class_of(walks *w, const walk *of, const row_shares *s, const char *name,
                                const row_dealing *d) {
    making *m = w->m;
    schedule *whole = m->s;
    stage_group all = stages_of(w, of);
    const tensor_stage *deepest = plan_deepest(m->p, &all);
    m->s = ARENA_NEW(m->p->arena, schedule);
    *m->s = (schedule){.name = arena_printf(m->p->arena, "%s_%s", deepest->name, name),
                       .op = whole->op,
                       .ids = whole->ids,
                       .automatic = true};
    fill_dealt(w, of, s, d);
    for (uint32_t i = 0; i < m->p->op->stages.len; i++)
        if ((computes(w, of, i) || is_again(w, i)) &&
            plan_stage(w->p, i)->reducer != TENSOR_NO_REDUCER)
            fill_score_share(w, plan_stage(w->p, i), s, steps_of(w, of, s));
    fill_class_room(w, of, s, deepest);
    default_nones(m);
    const schedule *made = m->s;
    m->s = whole;
    return made;
}

static void fill_classes(walks *w, const walk *of, const row_shares *s, int64_t spare) {
    making *m = w->m;
    const int64_t groups = default_class_groups(w, s->lanes * spare);
    stage_group all = stages_of(w, of);
    const tensor_stage *deepest = plan_deepest(m->p, &all);
    default_bucket_class classes[3];
    default_row_size size[3];
    const uint32_t n = default_row_sizes(w, groups, size);
    for (uint32_t i = 0; i < n; i++) {
        const row_dealing d = {groups / size[i].sharers, size[i].sharers, spare, size[i].part};
        classes[i] = (default_bucket_class){class_of(w, of, s, size[i].name, &d), size[i].limit};
        if (size[i].part) m->limit.part = size[i].part;
    }
    default_fill_bucket(m, deepest, deepest->left[0], of->map, classes, n, "together");
}

static void fill_rows(walks *w, const walk *of, const row_shares *s) {
    making *m = w->m;
    int64_t spare = s->lanes < LEAST_LANES ? LEAST_LANES / s->lanes : 1,
            groups = default_block_groups(m, s->lanes * spare),
            part = m->rows == ROWS_WALKED ? 2 * DEFAULT_PART : 0;
    stage_group all = stages_of(w, of);
    if (default_is_windows(m->rows) && default_window_walk(w, of, &all)) {
        w->windowed[of - w->walks.data] = true;
        return;
    }
    if (has_classes(w)) {
        fill_classes(w, of, s, spare);
        return;
    }
    const row_dealing d = {groups, 1, spare, part};
    const tensor_stage *deepest = plan_deepest(m->p, &all);   // whose loops the others share
    if (part) default_order_by_degree(m, deepest, deepest->left[0], of->map);
    if (part) m->limit.part = part;
    fill_dealt(w, of, s, &d);
    fill_even_room(w, of, s, deepest);
}

// What a score reduces has the lanes that its walks use for what it has not; those of the first
// one. false: walks of windows and others read it, for which it is dealt out otherwise.
static bool fill_score(walks *w, uint32_t score, const row_shares *s) {
    const tensor_stage *st = plan_stage(w->p, score);
    const walk *windows = NULL, *other = NULL;
    if (w->scores[score]) fill_plain(w, SCHEDULE_INLINE, score, NULL);
    if (st->reducer == TENSOR_NO_REDUCER || has_classes(w)) return true;
    for (uint32_t k = 0; k < w->walks.len; k++)
        for (uint32_t i = 0; i < w->walks.data[k].sums.len; i++)
            if (!default_reads(w, w->walks.data[k].sums.data[i], score)) continue;
            else if (w->windowed[k]) windows = &w->walks.data[k];
            else other = &w->walks.data[k];
    if (windows) return default_window_score(w, windows, st) && !other;
    fill_score_share(w, st, s, other ? steps_of(w, other, s) : 1);
    return true;
}

// What edges make of scores is where it is read, whatever it costs then.
static bool is_made_of_scores(const walks *w, uint32_t i) {
    const tensor_stage *st = plan_stage(w->p, i);
    return plan_inlined(w->p, i) && !w->scores[i] && !w->stored[i] &&
           default_is_walked(w, first_space(w, st)) && default_reads_score(w, i);
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
    fill_plain(w, SCHEDULE_INLINE, early, NULL);
    if (st->reducer == TENSOR_NO_REDUCER)
        w->p->plan->values.data[st->targets[0].val] = (loop_value){
            .home = LOOP_INLINE, .stage = early, .of = TENSOR_NO_VAL};
}

static bool fill_walk(walks *w, const walk *of, const row_shares *deepest) {
    row_shares own, *s = &own;
    if (shares_as(w, of, deepest)) own = *deepest;
    else if (!share_rows(w, of, s)) return false;
    fill_fuse(w, of);
    fill_online(w, of);
    fill_rows(w, of, s);
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
            light = light && is_light(w, &w->walks.data[i], s);
    return light;
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
        if (!share_rows(&w, &w.walks.data[i], &s)) return false;
        if (!filled++ || s.depth > deepest.depth) deepest = s;
    }
    bool light = filled && are_light(&w, &deepest),
         few = m->rows == ROWS_WALKED_FEW || m->rows == ROWS_WALKED_SOME ||
               m->rows == ROWS_WALKED_FEWER,
         short_walk = filled == 1 && few;
    w.heavy = filled > 1 && !light;
    w.single = filled == 1;
    w.light = light;
    if (m->rows == ROWS_WALKED_SHORT && filled == 1) m->limit.longest = WALKED_LONGEST;
    if (light && !default_whole_classes(m->rows) && !short_walk)
        halve_lanes(&w, &deepest, MOST_STEPS / 2);
    if (w.single && !light) share_many(&w, &deepest);
    for (uint32_t i = 0; i < w.walks.len; i++) {
        const walk *of = &w.walks.data[i];
        if (default_walk_is_worth(&w, of) && !fill_walk(&w, of, &deepest)) return false;
    }
    for (uint32_t i = 0; filled && i < n; i++) {
        if (is_made_of_scores(&w, i)) fill_plain(&w, SCHEDULE_INLINE, i, NULL);
        if ((w.scores[i] || w.stored[i]) && !fill_score(&w, i, &deepest)) return false;
        m->fused[i] |= w.scores[i];
    }
    if (default_is_windows(m->rows) && !m->dense.windows.len) return false;
    if (m->rows == ROWS_WALKED_WINDOWS_LONG && !m->dense.longer) return false;
    return filled && order_kernels(m);
}
