// Kernels that are launched early, by programmatic dependent launch: which of them wait first, and
// which need not wait for what is still running until their end. Those that may run at the same
// time are a chain: kernels one after the other, of which all but the first are launched early. As
// each waits for the one before, all of them have ended when the last has.
#include "loop_internal.h"

typedef struct {
    arena *arena;
    const loop_plan *plan;
    loop_uses *uses;
    bool *seen;   // per expression
} use_walk;

// ---- What a kernel touches ----------------------------------------------------------------------
static bool in_memory(const loop_plan *p, tensor_val v) {
    return p->values.data[v].home == LOOP_MEMORY;
}

static bool shares(const tensor_op *op, tensor_val a, tensor_val b) {
    return a == b || op->vals.data[a].inplace == b || op->vals.data[b].inplace == a;
}

static void reads(use_walk *w, tensor_expr e);

static void reads_stage(use_walk *w, const tensor_stage *st) {
    for (uint32_t i = 0; i < st->nbody; i++) reads(w, st->body[i]);
    for (uint32_t i = 0; i < st->nelse; i++) reads(w, st->orelse[i]);
    for (uint32_t i = 0; i < st->nfilters; i++) reads(w, st->filters[i]);
    for (uint32_t i = 0; i < st->nkeys; i++) {
        reads(w, st->keys[i].lhs);
        reads(w, st->keys[i].rhs);
    }
}

static void reads(use_walk *w, tensor_expr e) {
    if (!e || w->seen[e]) return;
    w->seen[e] = true;
    const tensor_node *n = tensor_node_at(w->plan->op, e);
    for (uint32_t i = 0; i < n->nargs; i++) reads(w, n->args[i]);
    if (n->op != TENSOR_LOAD_OP) return;
    const loop_value *v = &w->plan->values.data[n->imm.i];
    if (v->home == LOOP_INLINE) reads_stage(w, &w->plan->op->stages.data[v->stage]);
    if (v->home == LOOP_MEMORY) w->uses->reads[n->imm.i] = true;
}

static void note_points(use_walk *w, tensor_val v, uint32_t stage) {
    struct loop_points *p = ARENA_NEW(w->arena, struct loop_points);
    *p = (struct loop_points){stage, w->uses->points_of[v]};
    w->uses->points_of[v] = p;
    w->uses->writes[v] = true;
}

// stage: whose points these are, each stored once; UINT32_MAX: it is written in another way.
static void writes(use_walk *w, tensor_val v, uint32_t stage) {
    if (!in_memory(w->plan, v)) return;
    for (uint32_t a = 0; a < w->plan->op->vals.data[v].rank; a++)
        if (w->plan->values.data[v].pad[a]) stage = UINT32_MAX;
    for (tensor_val x = 0; x < w->plan->op->vals.len; x++)
        if (shares(w->plan->op, v, x)) note_points(w, x, x == v ? stage : UINT32_MAX);
}

static void use_node(use_walk *w, const loop_node *n) {
    loop_exprs exprs = {0};
    loop_exprs_of(w->arena, n, &exprs);
    for (uint32_t i = 0; i < exprs.len; i++) reads(w, exprs.data[i]);
    for (uint32_t i = 0; i < n->holding.n; i++) reads(w, n->holding.loads[i]);
    for (uint32_t i = 0; i < n->fetch.n; i++) {
        for (uint32_t k = 0; k < n->fetch.rows[i].nindex; k++) reads(w, n->fetch.rows[i].index[k]);
        w->uses->reads[n->fetch.rows[i].val] = true;
    }
    for (uint32_t s = 0; s < n->nstages; s++) {
        const tensor_stage *st = &w->plan->op->stages.data[n->stages[s]];
        bool stores = n->kind == LOOP_STORE,
             other = n->kind == LOOP_CLEAR || n->kind == LOOP_COMBINE || n->kind == LOOP_CARRY;
        reads_stage(w, st);
        for (uint32_t t = 0; (stores || other) && t < st->ntargets; t++)
            writes(w, st->targets[t].val, stores ? n->stages[s] : UINT32_MAX);
    }
    bool leaves = n->kind == LOOP_STORE_STATE || n->kind == LOOP_CARRY;
    for (uint32_t i = 0; leaves && i < n->state.n; i++)
        writes(w, (tensor_val)tensor_node_at(w->plan->op, n->state.loads[i])->imm.i, UINT32_MAX);
    for (uint32_t i = 0; leaves && n->state.last && i < n->state.n; i++)
        writes(w, (tensor_val)tensor_node_at(w->plan->op, n->state.last[i])->imm.i, UINT32_MAX);
    for (uint32_t i = 0; i < n->body.len; i++) use_node(w, n->body.data[i]);
}

loop_uses loop_uses_of(arena *a, const loop_plan *p, const loop_kernel *k) {
    uint32_t n = p->op->vals.len + 1;
    loop_uses u = {ARENA_ARRAY(a, bool, n), ARENA_ARRAY(a, bool, n),
                   ARENA_ARRAY(a, const struct loop_points *, n)};
    use_walk w = {a, p, &u, ARENA_ARRAY(a, bool, p->op->exprs.len + 1)};
    for (uint32_t i = 0; i < k->body.len; i++) use_node(&w, k->body.data[i]);
    return u;
}

bool loop_stored_before(arena *a, const loop_plan *p, const loop_kernel *k, tensor_val v) {
    const loop_value *w = &p->values.data[v];
    bool padded = false;
    for (uint32_t i = 0; i < p->op->vals.data[v].rank; i++) padded |= w->pad[i] != 0;
    return p->op->vals.data[v].role == VAL_STAGE && w->home == LOOP_MEMORY && !padded &&
           !loop_uses_of(a, p, k).writes[v];
}

// Points of the same stages, which have no elements in common, as of a result that is put together.
static bool of_same_stages(const struct loop_points *a, const struct loop_points *b) {
    for (; a && b && a->stage == b->stage && a->stage != UINT32_MAX; a = a->before) b = b->before;
    return !a && !b;
}

// Points of a stage that several kernels store are apart, and in its own kernel each is read where
// it was stored.
tensor_val loop_uses_meet(const loop_plan *p, const loop_uses *a, const loop_uses *b) {
    for (tensor_val v = 0; v < p->op->vals.len; v++) {
        bool meet = (a->writes[v] && (b->reads[v] || b->writes[v])) ||
                    (b->writes[v] && a->reads[v]);
        bool apart = a->writes[v] && b->writes[v] &&
                     of_same_stages(a->points_of[v], b->points_of[v]);
        if (meet && !apart) return v;
    }
    return TENSOR_NO_VAL;
}

// ---- Chains -------------------------------------------------------------------------------------
static const loop_kernel *kernel_at(const loop_plan *p, uint32_t step) {
    return p->steps.data[step].kind == LOOP_LAUNCH ? p->steps.data[step].kernel : NULL;
}

bool loop_blocks_alike(const loop_kernel *a, const loop_kernel *b) {
    return loop_fields_alike(LOOP_OF_KERNEL, a, b) && !a->persistent;
}

const char *loop_blocks_text(arena *a, const loop_kernel *k) {
    return arena_printf(a, "'%s' has %s", k->name, loop_fields_text(a, LOOP_OF_KERNEL, k));
}

// A launch is of one kind of block, and none of its blocks waits for another.
static const char *launch_fault(arena *a, const loop_kernel *k, const loop_kernel *before) {
    if (k->persistent || before->persistent)
        return "blocks of a kernel that shares a launch take one share each";
    if (!loop_blocks_alike(k, before))
        return arena_printf(
            a, "it shares the launch of kernel '%s', whose blocks are dealt out to other threads",
            before->name);
    bool mixed = loop_shares_launch(before->start) && before->start != k->start;
    return mixed ? "all kernels of a launch are interleaved, or none is" : NULL;
}

static const loop_uses *uses_at(arena *a, const loop_plan *p, uint32_t step,
                                const loop_uses **uses) {
    if (uses[step]) return uses[step];
    loop_uses *made = ARENA_NEW(a, loop_uses);
    *made = loop_uses_of(a, p, kernel_at(p, step));
    return uses[step] = made;
}

const char *loop_start_fault(arena *a, const loop_plan *p, uint32_t step, const loop_uses **uses) {
    const loop_kernel *k = kernel_at(p, step);
    // same: those of its launch come
    bool together = loop_shares_launch(k->start), same = together;
    const char *shares = together ? "it shares a launch" : "it is launched early";
    if (k->start == LOOP_START_IN_TURN) return NULL;
    if (!step || !kernel_at(p, step - 1))
        return arena_printf(a, "%s, but no kernel stands just before it", shares);
    const char *fault = together ? launch_fault(a, k, kernel_at(p, step - 1)) : NULL;
    if (fault || k->start == LOOP_START_WAIT_FIRST) return fault;
    const loop_uses *own = uses_at(a, p, step, uses);
    for (uint32_t i = step; i-- > 0;) {
        const loop_kernel *before = kernel_at(p, i);
        tensor_val v = loop_uses_meet(p, own, uses_at(a, p, i, uses));
        if (v != TENSOR_NO_VAL)
            return arena_printf(a,
                                "it %s, but kernel '%s', which may still run, and it meet in '%s'",
                                together ? "shares a launch" : "waits last", before->name,
                                p->op->vals.data[v].name);
        // the launch does, before any of its blocks goes on
        bool waits = same && before->start == LOOP_START_WAIT_FIRST;
        same &= loop_shares_launch(before->start);
        if (before->start == LOOP_START_IN_TURN || waits) return NULL;
    }
    return NULL;
}
