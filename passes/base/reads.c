// What stages read: loads of a value, mentions of an index, and what becomes of a stage that others
// read.
#include "base/base.h"

#include <stdlib.h>

#include <string.h>

bool plan_inlined(const planner *p, uint32_t stage) {
    const tensor_stage *st = &p->op->stages.data[stage];
    const loop_value *w = &p->plan->values.data[st->targets[0].val];
    return w->home == LOOP_INLINE && w->stage == stage;
}

// Questions are asked by the thousand: what they mark goes at their end, not with the arena.
static uint8_t *none_seen(const planner *p) {
    uint8_t *seen = xmalloc(p->op->exprs.len + 1);
    return memset(seen, 0, p->op->exprs.len + 1);
}

bool plan_mentions(const planner *p, tensor_expr e, tensor_var v) {
    return tensor_mentions(p->op, e, v);
}

static bool depends(const planner *p, tensor_expr e, tensor_var v, tensor_val given,
                    uint8_t *seen) {
    const tensor_node *n = tensor_node_at(p->op, e);
    if (seen[e] || !tensor_mentions(p->op, e, v)) return false;
    if (!tensor_loads(p->op, e, given)) return true;
    if (n->op == TENSOR_LOAD_OP && (tensor_val)n->imm.i == given) return false;
    seen[e] = 1;
    for (uint32_t i = 0; i < n->nargs; i++)
        if (depends(p, n->args[i], v, given, seen)) return true;
    return false;
}

bool plan_depends(const planner *p, tensor_expr e, tensor_var v, tensor_val given) {
    if (!tensor_mentions(p->op, e, v)) return false;
    if (!tensor_loads(p->op, e, given)) return true;   // of none, too
    uint8_t *seen = none_seen(p);
    const bool does = depends(p, e, v, given, seen);
    free(seen);
    return does;
}

bool plan_loads(const planner *p, const tensor_stage *st, plan_visit *visit, void *user) {
    const tensor_load_list *all = tensor_loads_of(p->op, st);
    for (uint32_t i = 0; i < all->n; i++)
        if (!visit(user, tensor_node_at(p->op, all->at[i]))) return false;
    return true;
}

static bool loads_any(const planner *p, const tensor_expr *of, uint32_t n, tensor_val v) {
    for (uint32_t i = 0; i < n; i++)
        if (tensor_loads(p->op, of[i], v)) return true;
    return false;
}

bool plan_reads_val(const planner *p, const tensor_stage *st, tensor_val v) {
    for (uint32_t i = 0; i < st->nkeys; i++)
        if (tensor_loads(p->op, st->keys[i].lhs, v) || tensor_loads(p->op, st->keys[i].rhs, v))
            return true;
    return loads_any(p, st->body, st->nbody, v) || loads_any(p, st->filters, st->nfilters, v) ||
           loads_any(p, st->orelse, st->nelse, v);
}

bool plan_read_by(const planner *p, uint32_t stage, tensor_val v) {
    return plan_reads_val(p, &p->op->stages.data[stage], v);
}

static bool fills(const planner *p, uint32_t stage, tensor_val v) {
    const tensor_stage *st = &p->op->stages.data[stage];
    for (uint32_t t = 0; t < st->ntargets; t++)
        if (st->targets[t].val == v) return true;
    return false;
}

// Or filled in part: the parts meet in memory.
bool plan_read_outside(const planner *p, const stage_group *g, tensor_val v) {
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        bool here = false;
        for (uint32_t k = 0; k < g->len; k++) here |= g->data[k] == i;
        if (!here && !plan_inlined(p, i) && (plan_read_by(p, i, v) || fills(p, i, v))) return true;
    }
    for (uint32_t i = 0; i < p->op->vals.len; i++)
        for (uint32_t k = 0; k < p->op->vals.data[i].nkeys; k++)
            if (p->op->vals.data[i].keys[k] == v) return true;
    return false;
}

// What a round of a recurrence computes for itself: at no step, and not read before it is there,
// which is what the round before has left.
static bool is_of_round(const planner *p, const stage_group *g, const tensor_stage *st,
                        tensor_val v) {
    for (uint32_t t = 0; t < st->ntargets; t++)
        for (uint32_t i = 0; i < st->targets[t].rank; i++) {
            const tensor_at at = tensor_target_at(p->op, st->targets[t].index[i]);
            if ((at.kind == TENSOR_AT_STEP || at.kind == TENSOR_AT_VAR) &&
                plan_is_step(p, st, at.var))
                return false;
        }
    for (uint32_t i = 0; i < g->len && plan_stage(p, g->data[i]) != st; i++)
        if (plan_read_by(p, g->data[i], v)) return false;
    return true;
}

bool plan_stays_inside(const planner *p, const stage_group *g, const tensor_stage *st,
                       tensor_val v) {
    return p->op->vals.data[v].role == VAL_STAGE && !plan_read_outside(p, g, v) &&
           (st->loop == TENSOR_NO_LOOP || is_of_round(p, g, st, v));
}

bool plan_load_mentions(const planner *p, const tensor_node *load, tensor_var v) {
    bool does = false;
    for (uint32_t i = 0; i < load->nargs && !does; i++) does = plan_mentions(p, load->args[i], v);
    return does;
}

typedef struct {
    const planner *p;
    tensor_var last, other;
    int64_t n;   // accesses that end on `last` and mention the other
} endings;

static bool ends(void *user, const tensor_node *load) {
    endings *x = user;
    const tensor_node *last = load->nargs ? tensor_node_at(x->p->op, load->args[load->nargs - 1])
                                          : NULL;
    bool mentions = false;
    for (uint32_t i = 0; i + 1 < load->nargs; i++)
        mentions |= plan_mentions(x->p, load->args[i], x->other);
    x->n += mentions && last->op == TENSOR_VAR_OP && (tensor_var)last->imm.i == x->last;
    return true;
}

int64_t plan_ends_on(const planner *p, const tensor_stage *st, tensor_var last, tensor_var other) {
    endings x = {p, last, other, 0};
    plan_loads(p, st, ends, &x);
    return x.n;
}

uint32_t plan_every(const planner *p, const tensor_stage *st) {
    const schedule_cell *c = tensor_marked(st, TENSOR_SCALED)
                                 ? schedule_find(p->s, st->id, SCHEDULE_ACCUMULATE, TENSOR_ALL)
                                 : NULL;
    return c ? (uint32_t)schedule_number(c, "every") : 0;
}

bool plan_has_id(const stage_ids *ids, tensor_id stage) {
    return schedule_means((schedule_ids){ids->len, ids->data}, stage);
}

bool plan_is_online(const planner *p, uint32_t stage) {
    return tensor_marked(plan_stage(p, stage), TENSOR_ONLINE);
}

// ---- Dense axes ---------------------------------------------------------------------------------
typedef struct {
    const planner *p;
    tensor_var v;
    bool any;   // it is an index of one, behind the first
} trailing;

static bool trails_in(trailing *x, const tensor_expr *index, uint32_t rank, bool leads) {
    for (uint32_t i = 0; i < rank; i++) {
        const tensor_node *n = tensor_node_at(x->p->op, index[i]);
        const bool itself = n->op == TENSOR_VAR_OP && (tensor_var)n->imm.i == x->v;
        if (!itself && !plan_mentions(x->p, index[i], x->v)) continue;
        if (!itself || !i || leads) return false;
        x->any = true;
    }
    return true;
}

static bool trails(void *user, const tensor_node *load) {
    trailing *x = user;
    return trails_in(x, load->args, load->nargs, x->p->op->vals.data[load->imm.i].type == DT_INDEX);
}

static bool has_var(const tensor_stage *st, tensor_var v) {
    bool has = false;
    for (uint32_t i = 0; i < st->nleft + st->nbound; i++) has |= plan_var_at(st, i) == v;
    return has;
}

// Values have it behind their points alone, and no key is about it: scores of classes, s[e, r],
// though a map says of each edge which one is its own.
static bool only_trails(const planner *p, tensor_var v) {
    trailing x = {.p = p, .v = v};
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *st = plan_stage(p, i);
        if (!has_var(st, v)) continue;
        for (uint32_t k = 0; k < st->nkeys; k++)
            if (plan_mentions(p, st->keys[k].lhs, v) || plan_mentions(p, st->keys[k].rhs, v))
                return false;
        for (uint32_t t = 0; t < st->ntargets; t++)
            if (!trails_in(&x, st->targets[t].index, st->targets[t].rank, false)) return false;
        if (!plan_loads(p, st, trails, &x)) return false;
    }
    return x.any;
}

// What maps lead from is walked by rows, and so is what they lead into, but where memory runs along
// it; other axes are dense.
bool plan_dense(const planner *p, tensor_var v) {
    tensor_space s = p->op->vars.data[v].space;
    bool into = false;
    for (tensor_val x = 0; x < p->op->vals.len; x++) {
        const tensor_val_info *i = &p->op->vals.data[x];
        if (i->type != DT_INDEX || i->role == VAL_PREPARED) continue;
        if (i->rank && i->axes[0] == s) return false;
        into |= i->into == s;
    }
    return !into || only_trails(p, v);
}
