// Steps that are written out and distributed to lanes (`unroll e 4 distributed`): lanes that reduce
// something for four points at once hold all four states, and would each compute and mask four
// times what follows. Distributed, a lane goes on with one of them. The butterfly that combines
// the lanes halves the states as it goes, so it has fewer shuffles, too.
#include "axes/axes.h"
#include "base/base.h"
#include "kernels/kernels.h"

struct distributed_loop {
    loop_node *loop;
    schedule_cell *cell;
    tensor_id stage;   // whose cell it is
    tensor_var index;
    const loop_node *apart;   // of a walk: the loop that steps stand without; NULL: it is none
};

void plan_distribute_steps(planner *p, const index_cut *c, loop_node *n) {
    struct distributed_loop *d = ARENA_NEW(p->arena, struct distributed_loop);
    *d = (struct distributed_loop){
        n, schedule_find(p->s, c->stage->id, SCHEDULE_UNROLL, plan_var_id(p, c->var)), c->stage->id,
        c->var, NULL};
    n->distributed.steps = true;
    VEC_PUSH(p->arena, &p->loops.distributed, d);
}

void plan_distribute_walk(planner *p, const loop_node *walk, const loop_node *apart) {
    for (uint32_t i = 0; i < p->loops.distributed.len; i++)
        if (p->loops.distributed.data[i]->loop == walk) p->loops.distributed.data[i]->apart = apart;
}

// Its lanes have their numbers now.
static loop_distributed_fault check_loop(planner *p, const struct distributed_loop *d,
                                         uint32_t *lanes) {
    if (!d->apart) return loop_check_distributed(p->arena, p->op, d->loop, lanes);
    for (uint32_t i = 0; i < d->apart->ndigits; i++)
        if (d->apart->digits[i].place == LOOP_LANE_PLACE)
            d->loop->distributed.to = d->apart->digits[i];
    d->loop->distributed.of = d->apart->var;
    *lanes = d->loop->distributed.to.extent;
    return loop_check_distributed_walk(p->arena, p->op, d->loop, d->apart);
}

static void refuse_count(planner *p, const struct distributed_loop *d, uint32_t lanes) {
    uint32_t steps = loop_steps_written_out(d->loop), fit = 2;
    const char *name = plan_index_text(p, d->loop->var);
    diagnostic *f =
        lanes ? plan_refuse(p, E0542, d->cell->at,
                            "%u steps of '%s' cannot be distributed over %u lanes", (unsigned)steps,
                            name, (unsigned)lanes)
              : plan_refuse(
                    p, E0542, d->cell->at,
                    "%u steps of '%s' cannot be distributed over lanes: they are no power of two",
                    (unsigned)steps, name);
    const char *masked = d->apart ? "masked " : "";
    while (fit * 2 <= steps && (!lanes || fit * 2 <= lanes)) fit *= 2;
    if (f && lanes)
        diag_help(f,
                  "write out as many as lanes that reduce, or fewer: `unroll %s %u %sdistributed`",
                  name, (unsigned)fit, masked);
    else if (f)
        diag_help(f, "take 2, 4, 8, 16 or 32: `unroll %s %u %sdistributed`", name, (unsigned)fit,
                  masked);
}

static void refuse_bare(planner *p, const struct distributed_loop *d) {
    const char *name = plan_index_text(p, d->loop->var);
    diagnostic *f = plan_refuse(
        p, E0542, d->cell->at,
        "steps of '%s' are distributed, and what is left of a row would be taken one at a time",
        name);
    if (f)
        diag_help(f, "mask it: `unroll %s %u masked distributed`", name,
                  loop_steps_written_out(d->loop));
}

static void refuse_use(planner *p, const struct distributed_loop *d, const char *why,
                       const char *way) {
    const char *name = plan_index_text(p, d->loop->var);
    diagnostic *f = plan_refuse(p, E0540, d->cell->at, "steps of '%s' cannot be distributed: %s",
                                name, why);
    if (f) diag_help(f, "%s", way);
}

static bool of_default(const schedule_cell *c) { return c->made || !c->at.hi; }

// Whether the statement deals out an index of the stage that has the loop's points.
static bool is_of_loop(const planner *p, const tensor_stage *st, const schedule_cell *c,
                       const struct distributed_loop *d) {
    const tensor_space space = p->op->vars.data[d->index].space;
    for (uint32_t i = 0; i < st->nleft; i++)
        if (p->op->vars.data[st->left[i]].space == space && plan_is_among(p, c->about, st->left[i]))
            return true;
    return false;
}

// The default does without, and does not say it, of no stage that shares the loop: `distributed`
// is the last of its words.
static void leave_out(planner *p, const struct distributed_loop *d, const stage_group *g) {
    const schedule_cell *walk = schedule_find(plan_whole_schedule(p), d->stage, SCHEDULE_FUSE,
                                              d->stage);
    bool shared = plan_is_among(p, plan_fused_at(walk), d->index);
    d->loop->distributed.steps = false;
    d->loop->distributed.to = (loop_digit){0};
    if (schedule_value_of(d->cell, "distributed")) d->cell->nvalues--;
    for (uint32_t i = 0; i < p->op->stages.len && shared; i++) {
        schedule_cell *c = plan_fuses(p, walk, i)
                               ? plan_statement(p, &p->op->stages.data[i], SCHEDULE_UNROLL, NULL)
                               : NULL;
        for (; c; c = plan_statement(p, &p->op->stages.data[i], SCHEDULE_UNROLL, c))
            if (of_default(c) && schedule_value_of(c, "distributed")) c->nvalues--;
    }
    for (uint32_t i = 0; i < g->len && !shared; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        schedule_cell *c = plan_statement(p, st, SCHEDULE_UNROLL, NULL);
        for (; c; c = plan_statement(p, st, SCHEDULE_UNROLL, c))
            if (of_default(c) && is_of_loop(p, st, c, d) && schedule_value_of(c, "distributed"))
                c->nvalues--;
    }
}

static void check(planner *p, const struct distributed_loop *d, const stage_group *g) {
    uint32_t lanes = 0;
    if (of_default(d->cell) && check_loop(p, d, &lanes) != LOOP_DISTRIBUTED_WELL) {
        leave_out(p, d, g);
        return;
    }
    const char *leave = arena_printf(p->arena, "leave `distributed` out: `unroll %s %u`",
                                     plan_index_text(p, d->loop->var),
                                     (unsigned)loop_steps_written_out(d->loop));
    switch (check_loop(p, d, &lanes)) {
    case LOOP_DISTRIBUTED_WELL: return;
    case LOOP_DISTRIBUTED_STEPS: refuse_count(p, d, 0); return;
    case LOOP_DISTRIBUTED_FEW: refuse_count(p, d, lanes); return;
    case LOOP_DISTRIBUTED_TWICE:
        refuse_use(p, d, "a thread holds other points of it at once, as `loops` asks for", leave);
        return;
    case LOOP_DISTRIBUTED_BARE: refuse_bare(p, d); return;
    case LOOP_DISTRIBUTED_LANES:
        refuse_use(p, d,
                   p->machine->gpu
                       ? "what is reduced for each is not given to lanes alone, of one index"
                       : "a block of the host is one thread",
                   p->machine->gpu ? "give a reduced index lanes: `lanes f 8`" : leave);
        return;
    case LOOP_DISTRIBUTED_READ:
        refuse_use(
            p, d,
            "what is reduced for each reads another reduction of the same step, which one lane alone has then",
            leave);
        return;
    case LOOP_DISTRIBUTED_OTHERS:
        refuse_use(p, d, "it takes stages that reduce for each point and store what they find",
                   leave);
        return;
    }
}

void plan_distributed_steps(planner *p, const stage_group *g) {
    for (uint32_t i = 0; i < p->loops.distributed.len && !p->failed; i++)
        check(p, p->loops.distributed.data[i], g);
    p->loops.distributed.len = 0;
}
