// How the values a kernel reads and writes are to be cached: `cache x reuse` is a word of the
// kernel's launch.
//     cache w stream;  cache x reuse;  →  kernel spmm threads 128 lanes 32 cache x reuse, w stream { … }
#include "finish/finish.h"
#include "base/base.h"

typedef struct {
    planner *p;
    loop_kernel *kernel;
    const tensor_stage *stage;
    bool *seen;   // per expression
} hinting;

static simt_cache hint_of(const schedule_cell *c) {
    switch (schedule_value_of(c, NULL)->word) {
    case SCHEDULE_HINT_REUSE: return SIMT_CACHE_REUSE;
    case SCHEDULE_HINT_STREAM: return SIMT_CACHE_STREAM;
    default: return SIMT_CACHE_BYPASS;
    }
}

static void hint(hinting *h, tensor_val v) {
    planner *p = h->p;
    const char *name = p->op->vals.data[v].name;
    schedule_cell *c = schedule_find(p->s, h->stage->id, SCHEDULE_CACHE, p->op->vals.data[v].id);
    if (!c || p->plan->values.data[v].home != LOOP_MEMORY || p->op->vals.data[v].role == VAL_SCALAR)
        return;
    c->consumed = true;
    simt_cache wanted = hint_of(c);
    for (uint32_t i = 0; i < h->kernel->hints.len; i++) {
        if (h->kernel->hints.data[i].val != v) continue;
        if (h->kernel->hints.data[i].cache == wanted) return;
        diagnostic *d = plan_refuse(p, E0541, c->at, "'%s' is cached in two ways in one kernel",
                                    name);
        if (d) diag_help(d, "say it once for its stages");
        return;
    }
    VEC_PUSH(p->arena, &h->kernel->hints, ((loop_hint){v, wanted}));
}

static void hint_loads(hinting *h, tensor_expr e) {
    if (!e || h->seen[e]) return;
    h->seen[e] = true;
    const tensor_node *n = tensor_node_at(h->p->op, e);
    for (uint32_t i = 0; i < n->nargs; i++) hint_loads(h, n->args[i]);
    if (n->op == TENSOR_LOAD_OP) hint(h, (tensor_val)n->imm.i);
}

static void hint_stage(hinting *h, const loop_node *n) {
    const tensor_stage *st = h->stage;
    bool lifts = (n->kind == LOOP_CONTRIBUTE && !n->state.n) || n->kind == LOOP_CARRY,
         stores = n->kind == LOOP_STORE || n->kind == LOOP_CLEAR || n->kind == LOOP_COMBINE;
    for (uint32_t i = 0; (lifts || (stores && st->reducer == TENSOR_NO_REDUCER)) && i < st->nbody;
         i++)
        hint_loads(h, st->body[i]);
    for (uint32_t i = 0; stores && i < st->nelse; i++) hint_loads(h, st->orelse[i]);
    for (uint32_t t = 0; (stores || n->kind == LOOP_CARRY) && t < st->ntargets; t++)
        hint(h, st->targets[t].val);
}

// What stands around a stage, bounds and conditions, is said of the first one in it.
static const tensor_stage *stage_in(const planner *p, const loop_node *n) {
    const tensor_stage *st = n->nstages ? &p->op->stages.data[n->stages[0]] : NULL;
    for (uint32_t i = 0; !st && i < n->body.len; i++) st = stage_in(p, n->body.data[i]);
    return st;
}

static void hint_body(planner *p, loop_kernel *k, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i],
                        *after = i + 1 < body->len ? body->data[body->len - 1] : n;
        hinting h = {p, k, stage_in(p, n->kind == LOOP_LET || n->kind == LOOP_GIVEN ? after : n),
                     ARENA_ARRAY(p->arena, bool, p->op->exprs.len + 1)};
        const tensor_expr around[] = {n->lo, n->hi, n->value, n->key};
        for (uint32_t e = 0; h.stage && e < sizeof around / sizeof *around; e++)
            hint_loads(&h, around[e]);
        for (uint32_t s = 0; s < n->nstages; s++) {
            h.stage = &p->op->stages.data[n->stages[s]];
            hint_stage(&h, n);
        }
        hint_body(p, k, &n->body);
    }
}

void plan_cache(planner *p, loop_kernel *k) { hint_body(p, k, &k->body); }
