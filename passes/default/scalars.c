// Chains of stages of a few numbers a point: those that read each other at their own point are
// computed by one thread, in registers, so that none of them is stored on the way.
//     d[e, i] = p[src[e], i] - p[dst[e], i]    n[e] = sqrt(sum{i} sq(d[e, i]))
//     u[e, i] = d[e, i] / n[e]                 t[e] = sum{i} u[e, i] * q[e, i]
//       →  scalarize n.sum, u, t
#include "default/default.h"
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"

typedef struct {
    planner *p;
    uint32_t *chain;   // per stage: one more than the first stage of its chain; 0: in none
    bool *left_out;    // it costs little
    uint32_t reader;   // at hand
    tensor_val val;    // that is asked about
    bool there, apart, across;   // it is read at the point; elsewhere; at another of its numbers
} chaining;

// ---- Who reads whom -----------------------------------------------------------------------------
static bool is_few(const planner *p, tensor_var v) {
    const int64_t n = default_extent(p, v);
    return n && n <= DEFAULT_SCALAR_AXIS;
}

// What points stand on the left, before the few numbers of each; TENSOR_NO_SPACE: more than those.
static tensor_space points_of(const planner *p, const tensor_stage *st) {
    if (!st->nleft) return TENSOR_NO_SPACE;
    for (uint32_t i = 1; i < st->nleft + st->nbound; i++)
        if (!is_few(p, plan_var_at(st, i))) return TENSOR_NO_SPACE;
    const tensor_space s = p->op->vars.data[st->left[0]].space;
    return p->op->spaces.data[s].kind == SPACE_CONST ? TENSOR_NO_SPACE : s;
}

static bool note_read(void *user, const tensor_node *load) {
    chaining *c = user;
    if ((tensor_val)load->imm.i != c->val) return true;
    const tensor_stage *st = plan_stage(c->p, c->reader);
    const tensor_node *at = load->nargs ? tensor_node_at(c->p->op, load->args[0]) : NULL;
    const bool own = at && at->op == TENSOR_VAR_OP && st->nleft &&
                     (tensor_var)at->imm.i == st->left[0];
    if (own) c->there = true;
    else c->apart = true;
    for (uint32_t i = 1; i < load->nargs && own; i++) {
        const tensor_node *n = tensor_node_at(c->p->op, load->args[i]);
        bool left = false;
        for (uint32_t k = 1; k < st->nleft && n->op == TENSOR_VAR_OP; k++)
            left |= st->left[k] == (tensor_var)n->imm.i;
        c->across |= !left;
    }
    return true;
}

static void ask_read(chaining *c, uint32_t reader, uint32_t of) {
    c->reader = reader;
    c->val = plan_stage(c->p, of)->targets[0].val;
    c->there = c->apart = c->across = false;
    plan_loads(c->p, plan_stage(c->p, reader), note_read, c);
}

// ---- Chains -------------------------------------------------------------------------------------
static int64_t cost_of(const planner *p, const tensor_stage *st) {
    uint8_t *seen = ARENA_ARRAY(p->arena, uint8_t, p->op->exprs.len + 1);
    return plan_operations(p, st->body[0], seen) *
           (st->reducer == TENSOR_NO_REDUCER ? 1 : plan_few_terms(p, st));
}

static bool is_whole(void *user, const tensor_node *load) {
    const planner *p = user;
    return !(p->op->vals.data[load->imm.i].facts & FACT_PARTIAL);
}

// What is read where there may be none is read in a branch, of which nothing is left after it.
static bool may_be(const planner *p, const tensor_stage *st) {
    return points_of(p, st) != TENSOR_NO_SPACE && !plan_why_no_scalars(p, st) &&
           plan_loads(p, st, is_whole, (void *)(uintptr_t)p);
}

static void join(chaining *c, uint32_t a, uint32_t b) {
    const uint32_t from = c->chain[b], to = c->chain[a];
    for (uint32_t i = 0; i < c->p->op->stages.len; i++)
        if (c->chain[i] == from) c->chain[i] = to;
}

static void find_chains(chaining *c) {
    const planner *p = c->p;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *st = plan_stage(p, i);
        c->chain[i] = may_be(p, st) ? i + 1 : 0;
        for (uint32_t k = 0; k < i && c->chain[i]; k++) {
            if (!c->chain[k] || points_of(p, plan_stage(p, k)) != points_of(p, st)) continue;
            ask_read(c, i, k);
            if (c->there && c->chain[k] != c->chain[i]) join(c, k, i);
        }
    }
}

// What costs little is computed where others read it, too.
static void leave_out_cheap(chaining *c, uint32_t stage) {
    const planner *p = c->p;
    const tensor_stage *st = plan_stage(p, stage);
    const tensor_target *t = &st->targets[0];
    if (st->reducer != TENSOR_NO_REDUCER || cost_of(p, st) > DEFAULT_SCALAR_OPERATIONS ||
        p->op->vals.data[t->val].role == VAL_RESULT)
        return;
    for (uint32_t i = 0; i < t->rank; i++)   // parts are not computed where they are read
        if (tensor_node_at(p->op, t->index[i])->op != TENSOR_VAR_OP) return;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        ask_read(c, i, stage);
        const bool within = c->chain[i] == c->chain[stage] && !c->left_out[i];
        c->left_out[stage] |= (c->there && !within) || c->apart;
    }
}

// ---- Which are worth it -------------------------------------------------------------------------
// It takes several numbers of another one: no thread of one number could.
static bool reads_across(chaining *c, uint32_t stage) {
    for (uint32_t i = 0; i < c->p->op->stages.len; i++) {
        if (i == stage || c->chain[i] != c->chain[stage]) continue;
        ask_read(c, stage, i);
        if (c->across) return true;
    }
    return false;
}

static bool is_worth(chaining *c, uint32_t chain) {
    const planner *p = c->p;
    int64_t all = 0;
    uint32_t across = 0;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        if (c->chain[i] != chain || c->left_out[i]) continue;
        all += cost_of(p, plan_stage(p, i)) * plan_scalars_of(p, plan_stage(p, i));
        across += reads_across(c, i);
    }
    return across >= DEFAULT_SCALAR_STAGES && all <= DEFAULT_SCALAR_MOST;
}

static void say(planner *p, schedule *s, uint32_t stage) {
    schedule_value *v = ARENA_NEW(p->arena, schedule_value);
    *v = default_stage_list(p, &(stage_group){.data = &stage, .len = 1});
    schedule_cell c = default_stage_cell(p, SCHEDULE_SCALARIZE, plan_stage(p, stage));
    c.nvalues = 1;
    c.values = v;
    schedule_fill(p->arena, s, c);
}

tensor_op *default_scalarize(planner *p, schedule *s) {
    chaining c = {.p = p,
                  .chain = ARENA_ARRAY(p->arena, uint32_t, p->op->stages.len + 1),
                  .left_out = ARENA_ARRAY(p->arena, bool, p->op->stages.len + 1)};
    if (!p->machine->gpu) return p->op;
    find_chains(&c);
    for (uint32_t i = p->op->stages.len; i-- > 0;)
        if (c.chain[i]) leave_out_cheap(&c, i);
    for (uint32_t i = 0; i < p->op->stages.len; i++)
        if (c.chain[i] && !c.left_out[i] && is_worth(&c, c.chain[i])) say(p, s, i);
    p->s = s;
    plan_scalarize(p);
    return p->op;
}
