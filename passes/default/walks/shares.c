// How the numbers of a walk's row are shared by threads: lanes and vectors along each index, steps
// that are loaded at once, and when fewer lanes with more each are better.
//     y[v, h, d] = sum{e : dst[e] == v} a[e, h] * x[src[e], h, d], of 4 heads of 32
//       →  lanes h 4;  lanes d 8;  vector d 4;  unroll e 4
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/walks/walks.h"
#include "default/walks/shares.h"
#include "base/base.h"

static int64_t power_from(int64_t n) {
    int64_t p = 1;
    while (p < n) p *= 2;
    return p;
}

int64_t default_walk_bytes(const walks *w, const walk *of, uint32_t level) {
    int64_t most = 1;
    for (uint32_t i = 0; i < of->sums.len; i++) {
        const tensor_stage *st = plan_stage(w->p, of->sums.data[i]);
        if (st->nleft <= level) continue;
        int64_t own = default_bytes_along(w->p, st, st->left[level]),
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

// One step is more than a thread has registers for.
static bool is_long(const walks *w, const walk *of, const row_shares *s) {
    return default_walk_length(w, of, s->deepest, s->held) > DEFAULT_STEP_LONGEST;
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
bool default_share_rows(const walks *w, const walk *of, row_shares *s) {
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
        if (!extent) {
            default_wish(w->m, s->deepest, true, s->deepest->left + 1, s->depth - 1);
            return false;
        }
        // an edge's score has a vector of its own
        bool apart = i + 1 == s->depth && i >= score_depth(w);
        x->vector = apart ? w->p->machine->vector_bytes / default_walk_bytes(w, of, i) : 1;
        while (x->vector > 1 && extent % x->vector) x->vector /= 2;
        if (x->vector > 8) x->vector = 8;
        x->lanes = power_from((extent + x->vector - 1) / x->vector);
        if (x->lanes > room) x->lanes = room;
        x->registers = power_from((extent + x->vector * x->lanes - 1) / (x->vector * x->lanes));
        s->lanes *= x->lanes;
        s->held *= x->vector * x->registers;
    }
    while (is_long(w, of, s) && halve_held(w, s)) continue;
    return s->held <= DEFAULT_HELD;
}

// ---- What edges read ----------------------------------------------------------------------------
static bool is_early(const walk *of, uint32_t stage) {
    bool early = false;
    for (uint32_t i = 0; i < of->early.len; i++) early |= of->early.data[i] == stage;
    return early;
}

// At its edges every walk finds again what a row is.
bool default_is_again(const walks *w, uint32_t stage) {
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
        if (default_is_again(w, i) && !is_early(of, i))
            plan_loads(w->p, plan_stage(w->p, i), see_array, &g);
    return g;
}

// Numbers of a thread, of which the row has one: of its sum, and of what is the same at all its
// edges.
int64_t default_held_of(const walks *w, const walk *of, const row_shares *s) {
    return s->held * (1 + arrays_of(w, of, s).held);
}

static bool reduces_scores(const walks *w) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (w->scores[i] && plan_stage(w->p, i)->reducer != TENSOR_NO_REDUCER) return true;
    return false;
}

// ---- Steps --------------------------------------------------------------------------------------
// Steps that are loaded at once: so many words of what the walk's scores and deepest sums read, as
// long as they are short.
int64_t default_walk_steps(const walks *w, const walk *of, const row_shares *s) {
    int64_t words = 0, steps = 1;
    int64_t most = reduces_scores(w) || w->m->stored.spares || default_has_classes(w)
                       ? DEFAULT_WALK_MOST_STEPS / 2
                       : DEFAULT_WALK_MOST_STEPS;
    words = arrays_of(w, of, s).gathered * s->held * default_walk_bytes(w, of, s->depth - 1) / 4 +
            default_inside_words(w, of, s->deepest, s->held);
    while (steps < most && 2 * steps * (words ? words : 1) <= DEFAULT_WORDS_AHEAD) steps *= 2;
    const int64_t registers = default_walk_bytes(w, of, s->depth - 1) < 4 ? 2 : 1;
    while (steps > 1 && steps * default_walk_length(w, of, s->deepest, s->held) >
                            registers * DEFAULT_STEPS_LONGEST)
        steps /= 2;
    return steps;
}

// An edge has one row for it, and it sums one.
bool default_is_light(const walks *w, const walk *of, const row_shares *s) {
    uint32_t deep = 0;
    for (uint32_t i = 0; i < of->sums.len; i++)
        deep += plan_stage(w->p, of->sums.data[i])->nleft == s->depth;
    return deep <= 1 && arrays_of(w, of, s).gathered <= 1;
}

// ---- Fewer lanes --------------------------------------------------------------------------------
// Half as many lanes a row, each with twice of it: twice the rows side by side, and one step less
// for what lanes of a row have to share. Rows of a class that have less than a warp keep their
// lanes: long ones would take twice the time.
void default_halve_lanes(const walks *w, row_shares *s, int64_t steps) {
    int64_t most = 0;
    for (uint32_t i = 0; i < w->walks.len; i++) {
        int64_t held = default_walk_is_worth(w, &w->walks.data[i])
                           ? default_held_of(w, &w->walks.data[i], s)
                           : 0;
        if (held > most) most = held;
    }
    level_share *last = &s->level[s->depth - 1];
    bool warps = default_cut_classes(w) && w->m->rows != ROWS_WALKED;
    int64_t least = warps ? w->p->machine->lanes : w->p->machine->lanes / 2;
    // a lane for each step that they reduce, or one for all
    bool distributed = last->lanes == 2 || last->lanes >= 2 * steps;
    if (s->lanes < least || last->lanes < 2 || 2 * s->held > DEFAULT_WALK_HALVED ||
        2 * most > DEFAULT_HELD || (reduces_scores(w) && !distributed))
        return;
    last->lanes /= 2;
    last->registers *= 2;
    s->lanes /= 2;
    s->held *= 2;
}

// Among many edges there are rows for all threads of the machine all the same, if steps stay side
// by side. Among few, rows of few: longer ones take twice the time.
void default_share_many(const walks *w, row_shares *s) {
    bool whole = s->lanes == w->p->machine->lanes;
    int64_t along = s->level[s->depth - 1].lanes;
    row_shares half = *s;
    const bool thin = w->m->rows == ROWS_WALKED_THIN;
    if (!whole || (w->m->rows != ROWS_WALKED && !thin)) return;
    // a few would be left, which still have to share
    if (!thin && along != 2 && along < 2 * DEFAULT_WALK_MOST_STEPS) return;
    default_halve_lanes(w, &half, thin ? 2 : DEFAULT_WALK_MOST_STEPS / 2);
    for (uint32_t i = 0; i < w->walks.len; i++)
        if (default_walk_is_worth(w, &w->walks.data[i]) &&
            default_walk_steps(w, &w->walks.data[i], &half) < 2)
            return;
    *s = half;
}
