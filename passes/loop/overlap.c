// Kernels that are launched while the one before them still runs (programmatic dependent launch,
// sm_90): where they may run at the same time they wait at their end, else before they touch what
// those write: the launch overlaps, and little else.
//     overlap;  →  kernel y_1 … { … }  kernel y_2 … early wait last { … }  kernel y_3 … early wait first { … }
#include "base/base.h"
#include "loop/loop.h"
#include "axes/axes.h"

typedef struct {
    planner *p;
    loop_uses *uses;   // per step that is a launch
    uint32_t head;     // the last that starts in turn: the chain goes from there
} overlapping;

static loop_kernel *kernel_at(const planner *p, uint32_t step) {
    bool launch = step < p->plan->steps.len && p->plan->steps.data[step].kind == LOOP_LAUNCH;
    return launch ? p->plan->steps.data[step].kernel : NULL;
}

// One of the statements about what the kernel stores; take: all of them are consumed.
static const schedule_cell *said(planner *p, const loop_body *body, schedule_verb verb, bool take) {
    const schedule_cell *found = NULL;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        const schedule_cell *inside = said(p, &n->body, verb, take);
        if (inside) found = inside;
        for (uint32_t s = 0; s < n->nstages; s++) {
            schedule_cell *c = schedule_find(p->s, p->op->stages.data[n->stages[s]].id, verb,
                                             TENSOR_ALL);
            if (!c) continue;
            c->consumed |= take;
            found = c;
        }
    }
    return found;
}

bool plan_says(planner *p, const loop_body *body, schedule_verb verb) {
    return said(p, body, verb, true) != NULL;
}

// Behind the kernels of the launch that begins there.
static uint32_t launch_end(const overlapping *o, uint32_t step) {
    do step++;
    while (kernel_at(o->p, step) && loop_shares_launch(kernel_at(o->p, step)->start));
    return step;
}

// What a kernel and one of those from `from` to `to` meet in; TENSOR_NO_VAL: nothing.
static tensor_val meets(const overlapping *o, uint32_t step, uint32_t from, uint32_t to) {
    tensor_val v = TENSOR_NO_VAL;
    for (uint32_t i = from; i < to && v == TENSOR_NO_VAL; i++)
        v = loop_uses_meet(o->p->plan, &o->uses[i], &o->uses[step]);
    return v;
}

// Whether a launch meets none of the chain from `from` on that goes to the one before it.
static bool apart(const overlapping *o, uint32_t step, uint32_t from, uint32_t to) {
    for (uint32_t own = step; own < launch_end(o, step); own++)
        if (meets(o, own, from, to) != TENSOR_NO_VAL) return false;
    return true;
}

// A kernel that waits first hides a launch; one that starts in turn lets those behind it run beside
// it that need what came before. That is worth more, where there is something for those.
static bool better_in_turn(const overlapping *o, uint32_t step) {
    uint32_t next = launch_end(o, step);
    return kernel_at(o->p, next) && !kernel_at(o->p, next)->seldom && apart(o, next, step, next) &&
           !apart(o, next, o->head, step);
}

static void start(overlapping *o, uint32_t step) {
    loop_kernel *k = kernel_at(o->p, step), *before = step ? kernel_at(o->p, step - 1) : NULL;
    if (loop_shares_launch(k->start)) return;
    if (!before || !plan_says(o->p, &before->body, SCHEDULE_OVERLAP)) o->head = step;
    else if (apart(o, step, o->head, step)) k->start = LOOP_START_WAIT_LAST;
    else if (better_in_turn(o, step)) o->head = step;
    else k->start = LOOP_START_WAIT_FIRST;
}

// ---- One launch ---------------------------------------------------------------------------------
// Kernels that read the same rows, each by windows of its own, read them from memory once where
// they go through them side by side.
//     interleave;  →  kernel y_dq … { … }  kernel y_dk … interleave { … }
static void refuse(planner *p, const schedule_cell *c, const char *help, const char *words) {
    diagnostic *d = plan_refuse(p, E0541, c->at, "%s", words);
    if (d) diag_help(d, "%s", help);
}

// The first kernel of the launch that has the one at hand.
static uint32_t launch_begin(const overlapping *o, uint32_t step) {
    while (loop_shares_launch(kernel_at(o->p, step)->start)) step--;
    return step;
}

// The default says it of kernels that are alike, and of what a caller's arrays make meet it is not
// done.
static void interleave(overlapping *o, uint32_t step) {
    planner *p = o->p;
    loop_kernel *k = kernel_at(p, step), *before = step ? kernel_at(p, step - 1) : NULL;
    const schedule_cell *c = before ? said(p, &before->body, SCHEDULE_INTERLEAVE, false) : NULL;
    if (!c) return;
    tensor_val v = meets(o, step, launch_begin(o, step - 1), step);
    bool alike = loop_blocks_alike(before, k),
         classes = k->start == LOOP_START_FUSED || before->start == LOOP_START_FUSED;
    bool fits = alike && !classes && v == TENSOR_NO_VAL;
    if (!fits && p->s->automatic) return;
    plan_says(p, &before->body, SCHEDULE_INTERLEAVE);
    if (fits) k->start = LOOP_START_INTERLEAVE;
    else if (!alike)
        refuse(
            p, c,
            "give both as many groups and lanes, one `occupancy`, `approximate` or not, and no `persistent`; or leave it out",
            arena_printf(p->arena, "interleaved kernels are alike: %s; %s",
                         loop_blocks_text(p->arena, before), loop_blocks_text(p->arena, k)));
    else if (classes)
        refuse(p, c, "leave it out, or `fused` of the bucket",
               "blocks of classes that share a launch come one class after the other");
    else
        refuse(
            p, c, "leave it out",
            arena_printf(
                p->arena,
                "kernels of one launch run at the same time, and these meet in '%s', which one writes and the other uses",
                p->op->vals.data[v].name));
}

void plan_overlap(planner *p) {
    uint32_t n = p->plan->steps.len;
    overlapping o = {.p = p, .uses = ARENA_ARRAY(p->arena, loop_uses, n + 1)};
    for (uint32_t i = 0; i < n; i++)
        if (kernel_at(p, i)) o.uses[i] = loop_uses_of(p->arena, p->plan, kernel_at(p, i));
    for (uint32_t i = 0; i < n; i++)
        if (kernel_at(p, i)) interleave(&o, i);
    for (uint32_t i = 0; i < n; i++)
        if (kernel_at(p, i)) start(&o, i);
}
