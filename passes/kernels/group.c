// Stages that share a kernel. The loops of an earlier one are a prefix of a later one's, and the
// later reads of what the earlier writes only the point whose loops it stands in, so that each
// thread meets only what it knows. A deeper stage that takes nothing from a kernel begins its own.
//     a.max[v, h] = max …    a.sum[v, h] = sum … a.max[v, h] …    y[v, h, d] = sum … a.sum[v, h] …   →  one
//     kernel
#include "kernels/kernels.h"
#include "base/base.h"

uint32_t plan_left(const planner *p, const tensor_stage *st, tensor_var *vars) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < st->nleft; i++)
        if (!plan_is_step(p, st, st->left[i]) &&
            !(p->cut.carried && *p->cut.carried == st->left[i]))
            vars[n++] = st->left[i];
    return n;
}

uint32_t plan_place(const planner *p, const tensor_stage *st, tensor_var v) {
    tensor_var *vars = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    uint32_t n = plan_left(p, st, vars);
    for (uint32_t i = 0; i < n; i++)
        if (vars[i] == v) return i;
    return plan_is_step(p, st, v) ? UINT32_MAX - 1 : UINT32_MAX;
}

static bool shares_memory(const planner *p, tensor_val a, tensor_val b) {
    return a == b || p->op->vals.data[a].inplace == b || p->op->vals.data[b].inplace == a;
}

typedef struct {
    const planner *p;
    const tensor_stage *writer, *reader;
    bool any;   // no read at all will do
} check;

static bool own_point(const check *c, const tensor_target *t, const tensor_node *load) {
    for (uint32_t i = 0; i < t->rank; i++) {
        const tensor_node *w = tensor_node_at(c->p->op, t->index[i]),
                          *r = tensor_node_at(c->p->op, load->args[i]);
        if (w->op != TENSOR_VAR_OP) {
            if (t->index[i] != load->args[i]) return false;
            continue;
        }
        if (r->op != TENSOR_VAR_OP) return false;
        uint32_t at = plan_place(c->p, c->writer, (tensor_var)w->imm.i);
        if (at == UINT32_MAX || at != plan_place(c->p, c->reader, (tensor_var)r->imm.i))
            return false;
    }
    return true;
}

bool plan_at_other_step(const planner *p, const tensor_stage *writer, const tensor_target *t,
                        const tensor_node *load) {
    bool other = false;
    for (uint32_t i = 0; i < t->rank && t->val == (tensor_val)load->imm.i; i++) {
        const tensor_at to = tensor_target_at(p->op, t->index[i]),
                        from = tensor_target_at(p->op, load->args[i]);
        other |= to.kind == TENSOR_AT_STEP && from.kind == TENSOR_AT_STEP && to.var == from.var &&
                 plan_is_step(p, writer, to.var) && to.offset != from.offset;
    }
    return other;
}

static bool load_safe(void *user, const tensor_node *load) {
    const check *c = user;
    for (uint32_t t = 0; t < c->writer->ntargets; t++)
        if (shares_memory(c->p, c->writer->targets[t].val, (tensor_val)load->imm.i) &&
            !plan_at_other_step(c->p, c->writer, &c->writer->targets[t], load) &&
            (c->any || !own_point(c, &c->writer->targets[t], load)))
            return false;
    return true;
}

static bool reads_own(const planner *p, const tensor_stage *writer, const tensor_stage *reader) {
    check c = {p, writer, reader, false};
    return plan_loads(p, reader, load_safe, &c);
}

static bool reads_nothing_of(const planner *p, const tensor_stage *writer,
                             const tensor_stage *reader) {
    check c = {p, writer, reader, true};
    return plan_loads(p, reader, load_safe, &c);
}

static bool is_overwritten(void *user, const tensor_node *load) {
    const check *c = user;
    for (uint32_t t = 0; t < c->writer->ntargets; t++)
        if (c->p->op->vals.data[c->writer->targets[t].val].inplace == (tensor_val)load->imm.i)
            return false;
    return true;
}

// Where the writer overwrites what it is computed from, the thread that stores it alone may compute
// it. A reader whose terms or further points are dealt out to other threads would need it there.
bool plan_owner_alone(const planner *p, const tensor_stage *writer, const tensor_stage *reader) {
    check c = {p, writer, reader, true};
    if (plan_loads(p, writer, is_overwritten, &c)) return true;
    return (reader->reducer == TENSOR_NO_REDUCER && reader->nleft == writer->nleft) ||
           reads_nothing_of(p, writer, reader);
}

// Sizes are not known, but what maps lead from or into is large, and other axes (features, heads)
// are not.
static bool large(const planner *p, tensor_space s) {
    for (tensor_val v = 0; v < p->op->vals.len; v++) {
        const tensor_val_info *i = &p->op->vals.data[v];
        if (i->type != DT_INDEX || (i->role != VAL_MAP && i->role != VAL_CLASSES)) continue;
        if (i->into == s || (i->rank && i->axes[0] == s)) return true;
    }
    return false;
}

// Are the loops of a, as spaces, those b begins with, enough of them to fill a machine?
static bool prefix(const planner *p, const tensor_stage *a, const tensor_stage *b) {
    tensor_var *x = ARENA_ARRAY(p->arena, tensor_var, a->nleft + 1),
               *y = ARENA_ARRAY(p->arena, tensor_var, b->nleft + 1);
    uint32_t n = plan_left(p, a, x), m = plan_left(p, b, y);
    bool fills = n == m;
    if (n > m) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (p->op->vars.data[x[i]].space != p->op->vars.data[y[i]].space) return false;
        fills = fills || large(p, p->op->vars.data[x[i]].space);
    }
    return fills;
}

// Every block of an inner index would store what the outer stage leaves in memory.
static bool stored_by_blocks(const planner *p, const stage_group *g, uint32_t writer,
                             uint32_t stage) {
    const tensor_stage *w = &p->op->stages.data[writer], *st = &p->op->stages.data[stage];
    tensor_var *vars = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    uint32_t n = plan_left(p, st, vars),
             inner = plan_left(p, w, ARENA_ARRAY(p->arena, tensor_var, w->nleft + 1));
    while (inner < n &&
           !schedule_find(p->s, st->id, SCHEDULE_BLOCK, p->op->vars.data[vars[inner]].id))
        inner++;
    if (inner >= n) return false;
    stage_group both = {0};
    for (uint32_t i = 0; i < g->len; i++) VEC_PUSH(p->arena, &both, g->data[i]);
    VEC_PUSH(p->arena, &both, stage);
    for (uint32_t t = 0; t < w->ntargets; t++)
        if (!plan_stays_inside(p, &both, w, w->targets[t].val)) return true;
    return false;
}

static bool by_matrices(const planner *p, const tensor_stage *st) {
    plan_matrix m;
    return plan_matrix_of(p, st, &m) || plan_windowed(p, (uint32_t)(st - p->op->stages.data), &m);
}

// The stage itself, or what the kernel computes from it.
static bool takes(const planner *p, const stage_group *g, uint32_t stage, uint32_t from) {
    bool any = plan_reads_stage(p, stage, g->data[from]);
    for (uint32_t i = from + 1; i < g->len && !any; i++)
        any = plan_reads_stage(p, stage, g->data[i]) && takes(p, g, g->data[i], from);
    return any;
}

// Rows are dealt out by a matrix operation as suits it: what follows from its result goes along;
// another sum does not, nor what takes nothing of it.
bool plan_matrix_joins(const planner *p, const stage_group *g, uint32_t before, bool before_is,
                       uint32_t stage, bool is) {
    return before_is == is || (before_is && takes(p, g, stage, before) &&
                               plan_stage(p, stage)->reducer == TENSOR_NO_REDUCER);
}

static uint32_t depth_of(const planner *p, const tensor_stage *st) {
    return plan_left(p, st, ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1));
}

// A deeper stage that takes nothing from a kernel would only share its outer loops, and give up the
// threads that it has alone.
static bool has_a_reason(const planner *p, const stage_group *g, const tensor_stage *st) {
    bool has = !g->len;
    for (uint32_t i = 0; i < g->len && !has; i++) {
        const tensor_stage *w = &p->op->stages.data[g->data[i]];
        has = depth_of(p, w) == depth_of(p, st) || !reads_nothing_of(p, w, st);
    }
    return has;
}

bool plan_may_join(planner *p, const stage_group *g, uint32_t stage) {
    const tensor_stage *st = &p->op->stages.data[stage];
    const bool matrix = by_matrices(p, st);
    if (g->len && (plan_carries(p, st) || plan_atomic(p, st))) return false;   // kernels of its own
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *w = &p->op->stages.data[g->data[i]];
        if (plan_carries(p, w) || plan_atomic(p, w) ||
            !plan_matrix_joins(p, g, i, by_matrices(p, w), stage, matrix))
            return false;
        if (w->loop != st->loop || !prefix(p, w, st) || !reads_own(p, w, st) ||
            !reads_own(p, st, w) || !plan_owner_alone(p, w, st))
            return false;
        if (stored_by_blocks(p, g, g->data[i], stage)) return false;
        if (plan_part_points(p, st) && !plan_is_online(p, g->data[i]) &&
            !reads_nothing_of(p, w, st))
            return false;   // a kernel before walks its parts
    }
    return true;
}

bool plan_joins(planner *p, const stage_group *g, uint32_t stage) {
    schedule_cell *separate = schedule_find(p->s, p->op->stages.data[stage].id, SCHEDULE_SEPARATE,
                                            TENSOR_ALL);
    bool joins = plan_may_join(p, g, stage) && has_a_reason(p, g, plan_stage(p, stage));
    if (!separate || !joins || !g->len) return joins;
    separate->consumed = true;
    return false;
}

// What finishes a reduction stands in its loops, and what is said of that one's holds.
const tensor_stage *plan_deepest(const planner *p, const stage_group *g) {
    const tensor_stage *deepest = NULL, *last = &p->op->stages.data[g->data[g->len - 1]];
    for (uint32_t i = g->len; i-- > 0;) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        if (!tensor_marked(st, TENSOR_FINISHES) && (!deepest || st->nleft > deepest->nleft))
            deepest = st;
    }
    return deepest ? deepest : last;
}

// ---- Walks that several reductions share --------------------------------------------------------
static bool same_key(const planner *p, const tensor_stage *a, const tensor_stage *b, uint32_t k) {
    const tensor_node *x = tensor_node_at(p->op, a->keys[k].lhs),
                      *y = tensor_node_at(p->op, b->keys[k].lhs);
    const tensor_node *v = tensor_node_at(p->op, a->keys[k].rhs),
                      *w = tensor_node_at(p->op, b->keys[k].rhs);
    if (x->op != TENSOR_LOAD_OP || y->op != TENSOR_LOAD_OP || x->imm.i != y->imm.i || x->nargs != 1)
        return false;
    const tensor_node *i = tensor_node_at(p->op, x->args[0]),
                      *j = tensor_node_at(p->op, y->args[0]);
    if (i->op != TENSOR_VAR_OP || j->op != TENSOR_VAR_OP || v->op != TENSOR_VAR_OP ||
        w->op != TENSOR_VAR_OP)
        return false;
    return plan_place(p, a, (tensor_var)v->imm.i) == plan_place(p, b, (tensor_var)w->imm.i);
}

bool plan_same_keys(const planner *p, const tensor_stage *a, const tensor_stage *b) {
    for (uint32_t k = 0; k < a->nkeys && a->nkeys == b->nkeys; k++)
        if (!same_key(p, a, b, k)) return false;
    return a->nkeys == b->nkeys;
}

bool plan_same_walk(const planner *p, const tensor_stage *a, const tensor_stage *b) {
    if (a->reducer == TENSOR_NO_REDUCER || b->reducer == TENSOR_NO_REDUCER) return false;
    if (a->nbound != 1 || b->nbound != 1 || a->nleft != b->nleft) return false;
    if (p->op->vars.data[a->bound[0]].space != p->op->vars.data[b->bound[0]].space) return false;
    plan_matrix m;
    if (plan_matrix_of(p, a, &m) || plan_matrix_of(p, b, &m)) return false;
    if (!plan_same_keys(p, a, b)) return false;
    return plan_part_points(p, a) == plan_part_points(p, b) &&
           plan_every(p, a) == plan_every(p, b) && reads_nothing_of(p, a, b);
}

uint32_t plan_run_end(const planner *p, const stage_group *g, uint32_t from) {
    uint32_t end = from + 1;
    for (bool all = true; end < g->len && all; end += all)
        for (uint32_t k = from; k < end; k++)
            all = all && plan_same_walk(p, &p->op->stages.data[g->data[k]],
                                        &p->op->stages.data[g->data[end]]);
    return end;
}
