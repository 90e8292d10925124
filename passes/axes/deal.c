// The threads of a kernel: which loops each of its stages stands in, and the numbers of lanes and
// groups that all of them agree on.
//     lanes f 32 … groups v 4  →  kernel … threads 128 lanes 32 { for v … [group 4, …] { for f … [lane 32, …]
//     {
#include "axes/axes.h"
#include "base/base.h"
#include "kernels/kernels.h"

typedef plan_nest nest;
typedef plan_dealing dealing;

static const tensor_stage *stage_at(const nest *n, uint32_t i) {
    return &n->p->op->stages.data[n->group->data[i]];
}

static uint32_t product(loop_node *const *chain, uint32_t n, loop_place place) {
    uint32_t x = 1;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t d = 0; d < chain[i]->ndigits; d++)
            if (chain[i]->digits[d].place == place) x *= chain[i]->digits[d].extent;
    return x;
}

// Lanes along what a stage reduces meet by shuffles.
bool plan_shuffles(const loop_list *walk) {
    for (uint32_t i = 0; i < walk->len; i++)
        if (product(&walk->data[i], 1, LOOP_LANE_PLACE) > 1) return true;
    return false;
}

// Memory runs along what is reduced: a quarter of a warp reads 16 bytes a lane of one line, not of
// several. Not where other walks of the kernel share the left index, whose lanes are the same for
// all.
static bool runs_along_reduced(const nest *n, const tensor_stage *st) {
    planner *p = n->p;
    if (st->reducer == TENSOR_NO_REDUCER || st->nbound != 1) return false;
    for (uint32_t i = plan_run_end(p, n->group, 0); i < n->group->len; i++)
        if (stage_at(n, i)->reducer != TENSOR_NO_REDUCER) return false;
    tensor_var *own = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1),
               left = own[plan_left(p, st, own) - 1];
    return plan_ends_on(p, st, st->bound[0], left) > plan_ends_on(p, st, left, st->bound[0]);
}

// What stages without a walk are computed from: their lanes, and the groups that contract, are
// those of the kernel's one walk.
static void deal_like_walk(const nest *n, uint32_t levels, const loop_list *walk, dealing *d) {
    if (walk->len || n->dealings.len <= n->dealt || levels != n->depth) return;
    const dealing *first = &n->dealings.data[n->dealt];
    if (first->before) d->inner = first->inner;
    d->contracted = first->contracted;
}

// The loops a stage stands in. Lanes of the innermost left-hand axis, along which memory runs, are
// neighbours, then come those of what is reduced, or the other way round; the loops that other
// stages share come last.
void plan_deal(plan_nest *n, uint32_t stage, uint32_t levels, const loop_list *walk) {
    const tensor_stage *st = &n->p->op->stages.data[stage];
    plan_matrix m;
    bool takes_up = plan_takes_up(n->p, st),
         matrix = !takes_up && plan_matrix_of(n->p, st, &m);   // its lanes are dealt out already
    dealing d = {.stage = stage, .takes_up = takes_up, .shuffles = !matrix && plan_shuffles(walk)};
    bool last = levels == n->depth && levels;
    if (n->tiles && n->rows->tile) plan_check_meeting(n->p, n->rows->tile, st, walk);
    if (n->rows->around) VEC_PUSH(n->p->arena, &d.outer, n->rows->around);
    for (uint32_t i = 0; i < n->levels.len; i++) {
        if (n->tiles && i == n->tiled) VEC_PUSH(n->p->arena, &d.outer, n->tiles);
        if (i + last < n->levels.len) VEC_PUSH(n->p->arena, &d.outer, n->levels.data[i]);
    }
    loop_node *innermost = last ? n->levels.data[n->levels.len - 1] : NULL;
    d.before = last && runs_along_reduced(n, st);
    if (last && !d.before) VEC_PUSH(n->p->arena, &d.inner, innermost);
    for (uint32_t i = walk->len; i-- > 0;)
        VEC_PUSH(n->p->arena, matrix ? &d.contracted : &d.inner, walk->data[i]);
    if (d.before) VEC_PUSH(n->p->arena, &d.inner, innermost);
    deal_like_walk(n, levels, walk, &d);
    VEC_PUSH(n->p->arena, &n->dealings, d);
}

static uint32_t threads_of(const dealing *d, loop_place place) {
    uint32_t contracted = place == LOOP_GROUP_PLACE
                              ? product(d->contracted.data, d->contracted.len, place)
                              : 1;
    return product(d->outer.data, d->outer.len, place) *
           product(d->inner.data, d->inner.len, place) * contracted;
}

static const tensor_stage *dealt(const nest *n, const dealing *d) {
    return &n->p->op->stages.data[d->stage];
}

static const dealing *most_of(const nest *n, loop_place place) {
    const dealing *most = &n->dealings.data[0];
    for (uint32_t i = 1; i < n->dealings.len; i++)
        if (threads_of(&n->dealings.data[i], place) > threads_of(most, place))
            most = &n->dealings.data[i];
    return most;
}

static span said_at(const nest *n, const dealing *d, schedule_verb verb) {
    const schedule_cell *c = plan_statement(n->p, dealt(n, d), verb, NULL);
    bool tiles = verb == SCHEDULE_GROUPS && n->tiles && product(&n->tiles, 1, LOOP_GROUP_PLACE) > 1;
    return c ? c->at : tiles ? n->tiles->at : n->p->s->at;
}

static void disagree(nest *n, const dealing *d, schedule_verb verb, loop_place place) {
    const dealing *o = most_of(n, place);
    const char *what = schedule_verb_text(verb), *name = dealt(n, d)->name,
               *other = dealt(n, o)->name;
    plan_blame(n->p, dealt(n, d), dealt(n, o));
    diagnostic *fault = plan_refuse(n->p, E0542, said_at(n, d, verb),
                                    "the %u %s of '%s' do not divide the %u of '%s'",
                                    threads_of(d, place), what, name, threads_of(o, place), other);
    if (!fault) return;
    diag_note(fault, said_at(n, o, verb), "'%s' is computed by the same kernel, with %u %s", other,
              threads_of(o, place), what);
    diag_help(
        fault,
        "threads of a block are numbered once: the %s of each stage, along all its indices together, divide the kernel's",
        what);
}

// Partial results meet by shuffles, which know the lanes of one warp.
static bool check_shuffles(nest *n, const dealing *d, uint32_t lanes) {
    if (!d->shuffles || (lanes <= n->p->machine->lanes && !(lanes & (lanes - 1)))) return true;
    const dealing *o = most_of(n, LOOP_LANE_PLACE);
    schedule_cell *c = plan_statement(n->p, dealt(n, d), SCHEDULE_LANES, NULL),
                  *next = plan_statement(n->p, dealt(n, d), SCHEDULE_LANES, c);
    diagnostic *f = plan_refuse(
        n->p, E0547, c ? c->at : n->p->s->at,
        "'%s' combines what its lanes hold by shuffles, so its kernel has 1, 2, 4, 8, 16 or 32 lanes, not %u",
        dealt(n, d)->name, lanes);
    if (!f) return false;
    if (o != d)
        diag_note(f, plan_statement_at(n->p, dealt(n, o), SCHEDULE_LANES),
                  "'%s' takes %u lanes of the kernel", dealt(n, o)->name, lanes);
    else if (c && next)
        diag_note(f, next->at, "lanes along other indices of '%s' count too", dealt(n, d)->name);
    diag_help(f, "take fewer lanes, and groups for the rest");
    return false;
}

static void check_threads(nest *n, uint32_t lanes, uint32_t groups) {
    for (uint32_t i = 0; i < n->dealings.len; i++)
        if (!check_shuffles(n, &n->dealings.data[i], lanes)) return;
    if ((uint64_t)lanes * groups <= n->p->machine->max_threads) return;
    const dealing *by_lanes = most_of(n, LOOP_LANE_PLACE),
                  *by_groups = most_of(n, LOOP_GROUP_PLACE);
    bool more_groups = groups > lanes;
    diagnostic *d = plan_refuse(
        n->p, E0543,
        said_at(n, more_groups ? by_groups : by_lanes,
                more_groups ? SCHEDULE_GROUPS : SCHEDULE_LANES),
        "a block of %u groups × %u lanes has %u threads, and at most %u are possible", groups,
        lanes, groups * lanes, n->p->machine->max_threads);
    if (!d) return;
    schedule_cell *c = plan_statement(n->p, dealt(n, more_groups ? by_lanes : by_groups),
                                      more_groups ? SCHEDULE_LANES : SCHEDULE_GROUPS, NULL);
    if (c) diag_note(d, c->at, "its %s are said here", more_groups ? "lanes" : "groups");
    diag_help(d, "take registers, which are several points of one thread, or fewer threads");
}

static bool is_vector(const loop_node *n) {
    return n->ndigits && n->digits[0].place == LOOP_VECTOR_PLACE;
}

static void check_vectors(nest *n, const dealing *d) {
    uint32_t vectors = 0;
    for (uint32_t i = 0; i < d->outer.len; i++) vectors += is_vector(d->outer.data[i]);
    for (uint32_t i = 0; i < d->inner.len; i++) vectors += is_vector(d->inner.data[i]);
    if (vectors < 2 || n->p->failed) return;
    schedule_cell *c = plan_statement(n->p, dealt(n, d), SCHEDULE_VECTOR, NULL),
                  *o = plan_statement(n->p, dealt(n, d), SCHEDULE_VECTOR, c);
    diagnostic *f = plan_refuse(n->p, E0548, c ? c->at : n->p->s->at,
                                "a point of '%s' lies in a vector along another index already",
                                dealt(n, d)->name);
    if (f && o) diag_note(f, o->at, "the other vector");
    if (f) diag_help(f, "take registers along one of them");
}

static loop_list grouped_by(const nest *n, const dealing *d) {
    loop_list all = {0};
    for (uint32_t i = 0; i < d->contracted.len; i++)
        VEC_PUSH(n->p->arena, &all, d->contracted.data[i]);
    for (uint32_t i = 0; i < d->inner.len; i++) VEC_PUSH(n->p->arena, &all, d->inner.data[i]);
    return all;
}

// Threads a stage does not need compute what their neighbours do, and one of them stores it.
void plan_settle(plan_nest *n) {
    uint32_t lanes = 1, groups = 1;
    for (uint32_t i = 0; i < n->dealings.len; i++) {
        uint32_t l = threads_of(&n->dealings.data[i], LOOP_LANE_PLACE),
                 g = threads_of(&n->dealings.data[i], LOOP_GROUP_PLACE);
        if (l > lanes) lanes = l;
        if (g > groups) groups = g;
        if (plan_matrix_alike(n->p, dealt(n, &n->dealings.data[i]))) lanes = n->p->machine->lanes;
    }
    while (lanes * groups % n->p->machine->lanes && lanes * groups < n->p->machine->max_threads)
        groups *= 2;   // whole warps
    for (uint32_t i = 0; i < n->dealings.len; i++) {
        const dealing *d = &n->dealings.data[i];
        check_vectors(n, d);
        loop_list grouped = grouped_by(n, d);
        if (!plan_units(d->outer.data, d->outer.len, d->inner.data, d->inner.len, LOOP_LANE_PLACE,
                        lanes))
            disagree(n, d, SCHEDULE_LANES, LOOP_LANE_PLACE);
        else if (!plan_units(d->outer.data, d->outer.len, grouped.data, grouped.len,
                             LOOP_GROUP_PLACE, groups))
            disagree(n, d, SCHEDULE_GROUPS, LOOP_GROUP_PLACE);
    }
    check_threads(n, lanes, groups);
    for (uint32_t i = 0; i < n->dealings.len; i++) {
        if (n->dealings.data[i].takes_up) continue;
        plan_matrix_lanes(n->p, dealt(n, &n->dealings.data[i]), lanes);
        plan_matrix_units(n->p, dealt(n, &n->dealings.data[i]), &n->levels);
    }
    plan_specialize_lanes(n, lanes);
    for (uint32_t i = 0; i < n->everyone.len; i++) {
        loop_node *all = n->everyone.data[i];
        if (lanes > 1) all->digits[all->ndigits++] = (loop_digit){LOOP_LANE_PLACE, lanes, 1};
        if (groups > 1) all->digits[all->ndigits++] = (loop_digit){LOOP_GROUP_PLACE, groups, 1};
    }
    n->kernel->lanes = lanes;
    n->kernel->threads = lanes * groups;
}
