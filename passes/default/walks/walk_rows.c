// How the rows of a walk are dealt out, to groups and blocks, all alike or in classes by length.
// And how scores are dealt out that edges reduce.
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/stages/stages.h"
#include "default/rows/rows.h"
#include "default/walks/walks.h"
#include "default/walks/shares.h"
#include "default/walks/windows.h"
#include "base/base.h"
#include "kernels/kernels.h"

// ---- Cells --------------------------------------------------------------------------------------
static void fill_levels(walks *w, const row_shares *s, const tensor_stage *st) {
    for (uint32_t i = 1; i < st->nleft && i < s->depth; i++) {
        default_fill(w->m, st, SCHEDULE_LANES, st->left[i], s->level[i].lanes, NULL);
        default_fill(w->m, st, SCHEDULE_VECTOR, st->left[i], s->level[i].vector, NULL);
        default_fill(w->m, st, SCHEDULE_REGISTERS, st->left[i], s->level[i].registers, "strided");
    }
}

// All that lanes along the last index would compute alike for each step is distributed to them, a
// step each.
static void fill_steps(const walks *w, const walk *of, const tensor_stage *st, tensor_var walked,
                       const row_shares *s, int64_t steps) {
    int64_t lanes = s->level[s->depth - 1].lanes;
    bool has_shares = !w->m->stored.spares || default_reduces_at_edges(w, of),
         deep = false;   // else those lanes have parts of scores alone
    for (uint32_t i = 0; i < of->sums.len && s->depth > 1; i++)
        deep |= plan_stage(w->p, of->sums.data[i])->nleft == s->depth;
    const bool distributed = deep && lanes >= steps && lanes > 1 && has_shares;
    if (steps > 1)
        default_say(w->m, default_index_cell(w->p, SCHEDULE_UNROLL, st, walked),
                    default_number(steps), default_option("masked", 0),
                    default_if(distributed, default_option("distributed", 0)));
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
    bool all = lanes > 1;   // steps are distributed to those that reduce
    if (lanes == 1) lanes = s->lanes == 1 ? DEFAULT_WALK_LEAST_LANES : 1;
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

static void fill_distributed(walks *w, const walk *of, const row_shares *s, const row_dealing *d) {
    making *m = w->m;
    int64_t steps = default_walk_steps(w, of, s);
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

// ---- Room ---------------------------------------------------------------------------------------
// Loads wait where an assembler that is not told of any room saves registers: of few rows nothing
// hides that, and numbers of 16 bits take more of them as they are widened. Told of it, one makes
// do with those that classes of a launch have apart.
static void fill_class_room(walks *w, const walk *of, const row_shares *s,
                            const tensor_stage *deepest) {
    bool few = w->m->rows == ROWS_WALKED_AT_ONCE,
         narrow = default_walk_bytes(w, of, s->depth - 1) < 4, cut = default_cut_classes(w);
    // many small ones, which want to be side by side
    bool thin = w->m->rows == ROWS_WALKED_THIN && !w->heavy && s->held < DEFAULT_WALK_ROOMY / 2;
    if (default_held_of(w, of, s) > DEFAULT_WALK_ROOMY || (w->heavy && (narrow || !cut)) ||
        (!few && !narrow && (!cut || thin)))
        return;
    default_room(w->m, deepest, few && narrow ? DEFAULT_ROOM_128 : DEFAULT_ROOM_64);
}

// Of rows that are alike likewise, where an entry has a dot product of its own. Of a gradient,
// which has two of them, for f32 of one head; more of it, and 16 bits, which are widened, want
// registers for what they read (bench/RECORD.md).
static void fill_even_room(walks *w, const walk *of, const row_shares *s,
                           const tensor_stage *deepest) {
    bool narrow = default_walk_bytes(w, of, s->depth - 1)<4, wide = default_held_of(w, of, s)>
        DEFAULT_WALK_ROOMY,
         several = deepest->nleft > 2 && default_extent(w->p, deepest->left[1]) != 1,
         alone = w->walks.len == 1 && !(wide && narrow),
         gradient = w->heavy && !narrow && 3 * s->held <= DEFAULT_WALK_ROOMY && !several;
    if (w->m->rows == ROWS_WALKED_EVEN && default_reduces_at_edges(w, of) && (alone || gradient))
        default_room(w->m, deepest, DEFAULT_ROOM_64);
}

// ---- Rows by length -----------------------------------------------------------------------------
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
    fill_distributed(w, of, s, d);
    for (uint32_t i = 0; i < m->p->op->stages.len; i++)
        if ((computes(w, of, i) || default_is_again(w, i)) &&
            plan_stage(w->p, i)->reducer != TENSOR_NO_REDUCER)
            fill_score_share(w, plan_stage(w->p, i), s, default_walk_steps(w, of, s));
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
    const default_standing how = {.fused = true};
    default_fill_bucket(m, deepest, deepest->left[0], of->map, classes, n, &how);
}

void default_walk_rows(walks *w, const walk *of, const row_shares *s) {
    making *m = w->m;
    int64_t spare = s->lanes < DEFAULT_WALK_LEAST_LANES ? DEFAULT_WALK_LEAST_LANES / s->lanes : 1,
            groups = default_block_groups(m, s->lanes * spare),
            part = m->rows == ROWS_WALKED ? 2 * DEFAULT_PART : 0;
    stage_group all = stages_of(w, of);
    if (plan_rows_has(m->rows, ROWS_ARE_WINDOWED) && default_window_walk(w, of, &all)) {
        w->windowed[of - w->walks.data] = true;
        return;
    }
    if (default_has_classes(w)) {
        fill_classes(w, of, s, spare);
        return;
    }
    const row_dealing d = {groups, 1, spare, part};
    const tensor_stage *deepest = plan_deepest(m->p, &all);   // whose loops the others share
    if (part) default_order_by_degree(m, deepest, deepest->left[0], of->map);
    if (part) m->limit.part = part;
    fill_distributed(w, of, s, &d);
    fill_even_room(w, of, s, deepest);
}

// ---- Scores -------------------------------------------------------------------------------------
// What a score reduces has the lanes that its walks use for what it has not; those of the first
// one. false: walks of windows and others read it, for which it is dealt out otherwise.
bool default_walk_score(walks *w, uint32_t score, const row_shares *s) {
    const tensor_stage *st = plan_stage(w->p, score);
    const walk *windows = NULL, *other = NULL;
    if (w->scores[score]) default_say_stage(w->m, SCHEDULE_INLINE, score, NULL);
    if (st->reducer == TENSOR_NO_REDUCER || default_has_classes(w)) return true;
    for (uint32_t k = 0; k < w->walks.len; k++)
        for (uint32_t i = 0; i < w->walks.data[k].sums.len; i++)
            if (!default_reads(w, w->walks.data[k].sums.data[i], score)) continue;
            else if (w->windowed[k]) windows = &w->walks.data[k];
            else other = &w->walks.data[k];
    if (windows) return default_window_score(w, windows, st) && !other;
    fill_score_share(w, st, s, other ? default_walk_steps(w, other, s) : 1);
    return true;
}
