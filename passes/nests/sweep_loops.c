// The loops around a walk. Sums of one walk begin with the same rows and may go on with indices of
// their own. Those of the deepest sum come first; the others' loops stand inside these, and beside
// those that their stages do not stand in: a lane has a point of each.
//     y[v, f], c[v, i]  →  for v { for f [lane 32, whole] { for i [lane 4, whole beside] {
//                              reduce y, c { for e … { contribute y  contribute c } }
//                              without i { store y }  without f { store c } } } }
#include "nests/sweep.h"
#include "axes/axes.h"

// ---- Making -------------------------------------------------------------------------------------
static uint32_t child_of(const sweep *s, uint32_t loop, tensor_space space) {
    for (uint32_t i = loop + 1; i < s->loops.len; i++)
        if (s->loops.data[i].around == loop && s->loops.data[i].space == space) return i;
    return SWEEP_NO_LOOP;
}

uint32_t plan_sweep_at(const sweep *s, const tensor_stage *st, uint32_t *matched) {
    uint32_t at = 0, n = 1;
    for (uint32_t next; n < st->nleft; at = next, n++) {
        next = child_of(s, at, sweep_space(s, st->left[n]));
        if (next == SWEEP_NO_LOOP || !s->loops.data[next].walked) break;
    }
    *matched = n;
    return at;
}

// The stage stands in its loops; those that there are none of yet are new.
static void stand_in(sweep *s, uint32_t stage, bool walked) {
    const tensor_stage *st = plan_stage(s->p, stage);
    uint32_t at = SWEEP_NO_LOOP;
    for (uint32_t i = 0; i < st->nleft; i++) {
        tensor_space space = sweep_space(s, st->left[i]);
        uint32_t next = i ? child_of(s, at, space) : s->loops.len ? 0 : SWEEP_NO_LOOP;
        if (next == SWEEP_NO_LOOP) {
            next = s->loops.len;
            VEC_PUSH(s->p->arena, &s->loops,
                     ((sweep_loop){.space = space, .around = at, .level = i, .walked = walked}));
        }
        VEC_PUSH(s->p->arena, &s->loops.data[next].stages, stage);
        at = next;
    }
}

// Whether a stage that sums nothing on the walk stands in loops that there are, or goes on where
// the sums' only path ends.
static bool finds_loops(const sweep *s, const tensor_stage *st) {
    uint32_t at = 0, n = 1;
    for (uint32_t next; n < st->nleft; at = next, n++)
        if ((next = child_of(s, at, sweep_space(s, st->left[n]))) == SWEEP_NO_LOOP) break;
    return n == st->nleft || (!s->apart && n == s->loops.len);
}

static int64_t points_of(const sweep *s, const tensor_stage *st) {
    int64_t points = 1;
    for (uint32_t i = 1; i < st->nleft; i++) {
        const tensor_space_info *space = &s->p->op->spaces.data[sweep_space(s, st->left[i])];
        if (space->kind == SPACE_CONST && space->size > 0 && points <= INT32_MAX)
            points *= space->size;
    }
    return points;
}

// Of the deepest sums the one with the most points comes last: its loops are outside, and a vector
// is its own.
static void widest_last(sweep *s) {
    uint32_t widest = s->end - 1;
    for (uint32_t i = widest; i-- > s->first;)
        if (sweep_row(s, i)->nleft == sweep_row(s, widest)->nleft &&
            points_of(s, sweep_row(s, i)) > points_of(s, sweep_row(s, widest)))
            widest = i;
    uint32_t stage = s->rows.data[widest];
    for (uint32_t i = widest; i + 1 < s->end; i++) s->rows.data[i] = s->rows.data[i + 1];
    s->rows.data[s->end - 1] = stage;
}

static bool is_among(const stage_group *g, uint32_t stage) {
    for (uint32_t i = 0; i < g->len; i++)
        if (g->data[i] == stage) return true;
    return false;
}

static void in_order(sweep *s, stage_group *g) {
    stage_group sorted = {0};
    for (uint32_t i = 0; i < s->rows.len; i++)
        if (is_among(g, s->rows.data[i])) VEC_PUSH(s->p->arena, &sorted, s->rows.data[i]);
    *g = sorted;
}

const tensor_stage *plan_sweep_loops(sweep *s) {
    widest_last(s);
    stand_in(s, s->rows.data[s->end - 1], true);
    for (uint32_t i = s->first; i + 1 < s->end; i++) stand_in(s, s->rows.data[i], true);
    s->depth = sweep_row(s, s->end - 1)->nleft;
    s->apart = s->loops.len > s->depth;
    stage_group others = {0};
    for (uint32_t i = 0; i < s->rows.len; i++)
        if (i < s->first || i >= s->end) plan_sweep_add(s, &others, s->rows.data[i]);
    for (uint32_t i = 0; i < others.len; i++) {
        if (!finds_loops(s, plan_stage(s->p, others.data[i])))
            return plan_stage(s->p, others.data[i]);
        stand_in(s, others.data[i], false);
    }
    for (uint32_t i = 0; i < s->loops.len; i++) in_order(s, &s->loops.data[i].stages);
    return NULL;
}

// ---- Asking -------------------------------------------------------------------------------------
bool plan_sweep_around(const sweep *s, uint32_t outer, uint32_t inner) {
    while (inner != SWEEP_NO_LOOP && inner != outer) inner = s->loops.data[inner].around;
    return inner == outer;
}

uint32_t plan_sweep_own(const sweep *s, const tensor_stage *st) {
    uint32_t at = 0;
    for (uint32_t n = 1; n < st->nleft; n++) at = child_of(s, at, sweep_space(s, st->left[n]));
    return at;
}

const tensor_stage *plan_sweep_sum(const sweep *s, uint32_t loop) {
    uint32_t i = s->end - 1;
    while (i > s->first && !plan_sweep_around(s, loop, plan_sweep_own(s, sweep_row(s, i)))) i--;
    return sweep_row(s, i);
}

// Sums of the walk end in several loops inside it.
static bool branches(const sweep *s, uint32_t loop) {
    uint32_t ends = 0;
    for (uint32_t i = loop; i < s->loops.len; i++) {
        bool last = s->loops.data[i].walked && plan_sweep_around(s, loop, i);
        for (uint32_t k = i + 1; k < s->loops.len && last; k++)
            last = s->loops.data[k].around != i || !s->loops.data[k].walked;
        ends += last;
    }
    return ends > 1;
}

static uint32_t innermost(const sweep *s, uint32_t loop) {
    for (uint32_t i = loop + 1; i < s->loops.len; i++)
        if (s->loops.data[i].around == loop && s->loops.data[i].walked) loop = i;
    return loop;
}

stage_group plan_sweep_ending(const sweep *s, uint32_t loop) {
    stage_group g = {0};
    for (uint32_t i = 0; i < s->rows.len; i++)
        if (innermost(s, plan_sweep_own(s, sweep_row(s, i))) == loop)
            VEC_PUSH(s->p->arena, &g, s->rows.data[i]);
    return g;
}

// ---- Threads ------------------------------------------------------------------------------------
// Outermost the loops that all stages stand in and the walk, so that all agree on them, then those
// that several sums share; then, from the neighbours on, those that a sum has to itself. An edge's
// stage that stands in none of these has their lanes for its own loops.
void plan_sweep_deal(sweep *s, uint32_t stage, uint32_t at, bool walked, const loop_list *own) {
    plan_nest *n = s->n;
    arena *a = s->p->arena;
    uint32_t levels = s->loops.data[at].level + 1, *path;
    plan_dealing d = {.stage = stage, .shuffles = plan_shuffles(own)};
    if (n->tiles) VEC_PUSH(a, &d.outer, n->tiles);
    if (s->windowed) walked = false;                   // its lanes are those of the sums' columns
    if (s->apart && levels > s->base) walked = true;   // its lanes are above those of shared loops
    if (walked && levels > s->base) at = innermost(s, at);
    levels = s->loops.data[at].level + 1;
    path = ARENA_ARRAY(a, uint32_t, levels);
    for (uint32_t i = levels; i-- > 0; at = s->loops.data[at].around) path[i] = at;
    for (uint32_t i = 0; i < s->base && i < levels; i++)
        VEC_PUSH(a, &d.outer, s->loops.data[path[i]].node);
    if (walked) VEC_PUSH(a, &d.outer, s->made.data[0]);
    uint32_t around = levels < s->depth ? levels : s->depth;
    for (uint32_t i = s->base; i < around; i++)
        if (branches(s, path[i])) VEC_PUSH(a, &d.outer, s->loops.data[path[i]].node);
    for (uint32_t i = around; i-- > s->base;)
        if (!branches(s, path[i])) VEC_PUSH(a, &d.inner, s->loops.data[path[i]].node);
    for (uint32_t i = s->depth; i < levels; i++) VEC_PUSH(a, &d.inner, s->loops.data[path[i]].node);
    for (uint32_t i = own->len; i-- > 0;)
        if (!s->made.len || own->data[i] != s->made.data[0]) VEC_PUSH(a, &d.inner, own->data[i]);
    VEC_PUSH(a, &n->dealings, d);
}

// ---- Left out -----------------------------------------------------------------------------------
static loop_body *without(sweep *s, const tensor_stage *st, uint32_t loop, loop_body *at) {
    loop_node *n = loop_node_new(s->p->plan, LOOP_WITHOUT, st->at);
    n->var = s->loops.data[loop].node->var;
    loop_append(s->p->plan, at, n);
    return &n->body;
}

loop_body *plan_sweep_leave_out(sweep *s, const tensor_stage *st, uint32_t own, loop_body *at) {
    for (uint32_t i = s->loops.len; i-- > 0;)
        if (s->loops.data[i].walked && !plan_sweep_around(s, i, own)) at = without(s, st, i, at);
    return at;
}

loop_body *plan_sweep_leave_beside(sweep *s, const tensor_stage *st, loop_body *at) {
    uint32_t own = plan_sweep_own(s, st);
    for (uint32_t i = s->loops.len; i-- > 0 && s->apart;)
        if (!plan_sweep_around(s, i, own) && !plan_sweep_around(s, own, i))
            at = without(s, st, i, at);
    return at;
}
