// Kernels that are launched while the one before them still runs (programmatic dependent launch, sm_90):
// where they may run at the same time they wait at their end, else before they touch what those write: the
// launch overlaps, and little else.
//     overlap;  →  kernel y_1 … { … }  kernel y_2 … early wait last { … }  kernel y_3 … early wait first { … }
#include "planner.h"

typedef struct {
    planner *p;
    loop_uses *uses;   // per step that is a launch
    uint32_t head;     // the last that starts in turn: the chain goes from there
} overlapping;

static loop_kernel *kernel_at(const planner *p, uint32_t step) {
    bool launch = step < p->plan->steps.len && p->plan->steps.data[step].kind == LOOP_LAUNCH;
    return launch ? p->plan->steps.data[step].kernel : NULL;
}

// Takes the statements about what the kernel stores.
bool plan_says(planner *p, const loop_body *body, schedule_verb verb) {
    bool any = false;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        any |= plan_says(p, &n->body, verb);
        for (uint32_t s = 0; s < n->nstages; s++) {
            schedule_cell *c = schedule_find(p->s, p->op->stages.data[n->stages[s]].name, verb, NULL);
            if (!c) continue;
            c->consumed = true;
            any = true;
        }
    }
    return any;
}

// Behind the kernels of the launch that begins there.
static uint32_t launch_end(const overlapping *o, uint32_t step) {
    do step++;
    while (kernel_at(o->p, step) && kernel_at(o->p, step)->start == LOOP_START_TOGETHER);
    return step;
}

// Whether a launch meets none of the chain from `from` on that goes to the one before it.
static bool apart(const overlapping *o, uint32_t step, uint32_t from, uint32_t to) {
    for (uint32_t own = step; own < launch_end(o, step); own++)
        for (uint32_t i = from; i < to; i++)
            if (loop_uses_meet(o->p->plan, &o->uses[i], &o->uses[own]) != TENSOR_NO_VAL) return false;
    return true;
}

// A kernel that waits first hides a launch; one that starts in turn lets those behind it run beside it that
// need what came before. That is worth more, where there is something for those.
static bool better_in_turn(const overlapping *o, uint32_t step) {
    uint32_t next = launch_end(o, step);
    return kernel_at(o->p, next) && !kernel_at(o->p, next)->seldom && apart(o, next, step, next) && !apart(o, next, o->head, step);
}

static void start(overlapping *o, uint32_t step) {
    loop_kernel *k = kernel_at(o->p, step), *before = step ? kernel_at(o->p, step - 1) : NULL;
    if (k->start == LOOP_START_TOGETHER) return;
    if (!before || !plan_says(o->p, &before->body, SCHEDULE_OVERLAP)) o->head = step;
    else if (apart(o, step, o->head, step)) k->start = LOOP_START_WAIT_LAST;
    else if (better_in_turn(o, step)) o->head = step;
    else k->start = LOOP_START_WAIT_FIRST;
}

void plan_overlap(planner *p) {
    uint32_t n = p->plan->steps.len;
    overlapping o = {.p = p, .uses = ARENA_ARRAY(p->arena, loop_uses, n + 1)};
    for (uint32_t i = 0; i < n; i++)
        if (kernel_at(p, i)) o.uses[i] = loop_uses_of(p->arena, p->plan, kernel_at(p, i));
    for (uint32_t i = 0; i < n; i++)
        if (kernel_at(p, i)) start(&o, i);
}
