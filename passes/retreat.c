// What the default does where a kernel of it was refused: its stages are taken apart, the refused
// one first, so that each has numbers of its own; rows of a stage that is refused by itself are
// dealt out as if none was long, and else its points as the naive plan does.
//     a, b, c in a kernel, of which c is refused   →  a, b   c   →  a, b   c by a thread a point
#include "planning.h"
#include "base/base.h"

#include <string.h>

// ---- Who was refused ----------------------------------------------------------------------------
static void note_stored(arena *a, const loop_plan *plan, const loop_body *body, version_facts *f) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        for (uint32_t s = 0; n->kind == LOOP_STORE && s < n->nstages; s++)
            VEC_PUSH(a, &f->refused_group, plan->op->stages.data[n->stages[s]].id);
        note_stored(a, plan, &n->body, f);
    }
}

void plan_refused_kernel(arena *a, const loop_plan *plan, const loop_kernel *k, version_facts *f) {
    note_stored(a, plan, &k->body, f);
    f->refused_at = plan_id_place(&f->refused_group, TENSOR_ALL);
    f->refused_fused = true;
}

// ---- Who would leave a machine idle -------------------------------------------------------------
static bool has_blocks(const loop_body *body) {
    bool has = false;
    for (uint32_t i = 0; i < body->len && !has; i++)
        has = (body->data[i]->kind == LOOP_FOR && body->data[i]->rest == LOOP_BLOCK_PLACE) ||
              has_blocks(&body->data[i]->body);
    return has;
}

// Over a space that the caller gives, of any size, or along a row.
static bool loops_over_points(const loop_plan *plan, const loop_body *body) {
    bool loops = false;
    for (uint32_t i = 0; i < body->len && !loops; i++) {
        const loop_node *n = body->data[i];
        const tensor_node *hi = n->kind == LOOP_FOR ? tensor_node_at(plan->op, n->hi) : NULL;
        loops = (hi && hi->op == TENSOR_SIZE_OP &&
                 plan->op->spaces.data[hi->imm.i].kind == SPACE_FREE) ||
                (hi && hi->op == TENSOR_LOAD_OP) || loops_over_points(plan, &n->body);
    }
    return loops;
}

const loop_kernel *plan_idle_kernel(const loop_plan *plan) {
    for (uint32_t i = 0; i < plan->steps.len; i++) {
        const loop_step *s = &plan->steps.data[i];
        const loop_kernel *k = s->kernel;
        if (s->kind != LOOP_LAUNCH) continue;
        if (!has_blocks(&k->body) && loops_over_points(plan, &k->body)) return k;
    }
    return NULL;
}

bool plan_refused_for_tests(planner *p) {
    const char *of = p->machine->refused;
    size_t n = of ? strcspn(of, ":") : 0;
    for (uint32_t i = 0; of && p->s->automatic && i < p->hand.stages->len; i++) {
        const tensor_stage *st = &p->op->stages.data[p->hand.stages->data[i]];
        if (strncmp(st->name, of, n) || st->name[n] ||
            (!of[n] && p->facts->retreat && plan_has_id(&p->facts->retreat->simple, st->id)))
            continue;
        plan_refuse(p, E0530, st->at, "'%s' is refused for a test", st->name);
        return true;
    }
    return false;
}

// ---- What is left to try ------------------------------------------------------------------------
static bool add(arena *a, stage_ids *to, tensor_id stage) {
    if (plan_has_id(to, stage)) return false;
    VEC_PUSH(a, to, stage);
    return true;
}

static bool add_simple(arena *a, plan_retreat *r, tensor_id stage, const char *why) {
    bool added = add(a, &r->simple, stage);
    if (added) VEC_PUSH(a, &r->why, why);
    return added;
}

// The stage that is to blame begins a kernel, which it did not before.
static bool part(arena *a, plan_retreat *r, const version_facts *f) {
    const stage_ids *g = &f->refused_group;
    return g->len > 1 && add(a, &r->apart, g->data[f->refused_at ? f->refused_at : 1]);
}

bool plan_retreats_from_matrices(arena *a, plan_retreat *r, const version_facts *f) {
    const stage_ids *g = &f->refused_group;
    bool more = false;
    if (part(a, r, f)) return true;
    for (uint32_t i = 0; i < g->len; i++) more |= add(a, &r->scalar, g->data[i]);
    return more;
}

bool plan_retreats(arena *a, plan_retreat *r, const version_facts *f) {
    const stage_ids *g = &f->refused_group;
    bool more = false;
    if (f->refused_fused && !r->unfused) return r->unfused = true;
    if (part(a, r, f)) return true;
    for (uint32_t i = 1; i < g->len; i++) more |= add(a, &r->apart, g->data[i]);
    for (uint32_t i = 0; i < g->len && !more; i++) more = add(a, &r->even, g->data[i]);
    for (uint32_t i = 0; i < g->len && !more; i++) more = add_simple(a, r, g->data[i], f->refused);
    return more;
}
