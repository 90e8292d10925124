// Where threads meet: what nodes read and write, barriers between phases that share memory, and how
// long a tile stands for its array.

#include "lower/loops/loops.h"

static void find_reads(shared_use *u, tensor_expr e) {
    if (!e || u->seen[e]) return;
    u->seen[e] = 1;
    const loop_plan *plan = u->k->l->plan;
    const tensor_node *x = tensor_node_at(u->k->l->op, e);
    for (uint32_t i = 0; i < x->nargs; i++) find_reads(u, x->args[i]);
    if (x->op != TENSOR_LOAD_OP) return;
    const loop_value *v = &plan->values.data[x->imm.i];
    if (v->home == LOOP_INLINE)
        for (uint32_t i = 0; i < plan->op->stages.data[v->stage].nbody; i++)
            find_reads(u, plan->op->stages.data[v->stage].body[i]);
    u->reads[x->imm.i] = true;
    for (tensor_val w = 0; w < plan->values.len; w++)
        if (plan->values.data[w].home == LOOP_SHARED &&
            plan->values.data[w].of == (tensor_val)x->imm.i)
            u->reads[w] = true;
}

static void find_stage_use(shared_use *u, const loop_node *n, uint32_t stage) {
    const tensor_stage *st = &u->k->l->op->stages.data[stage];
    for (uint32_t i = 0; i < st->nbody; i++) find_reads(u, st->body[i]);
    for (uint32_t i = 0; i < st->nelse; i++) find_reads(u, st->orelse[i]);
    for (uint32_t i = 0; n->kind == LOOP_STORE && i < st->ntargets; i++) {
        loop_home home = u->k->l->plan->values.data[st->targets[i].val].home;
        if (home == LOOP_SHARED || home == LOOP_MEMORY) u->writes[st->targets[i].val] = true;
    }
}

static void find_use(shared_use *u, const loop_node *n) {
    find_reads(u, n->lo);
    find_reads(u, n->hi);
    find_reads(u, n->value);
    find_reads(u, n->key);
    for (uint32_t i = 0; n->kind == LOOP_CONTRIBUTE && i < n->state.n; i++)
        find_reads(u, n->state.loads[i]);
    for (uint32_t i = 0; i < n->reduce.nmaxima; i++) find_reads(u, n->reduce.maxima[i].slot);
    if (n->kind == LOOP_CONTRIBUTE || n->kind == LOOP_STORE)
        for (uint32_t i = 0; i < n->nstages; i++) find_stage_use(u, n, n->stages[i]);
    for (uint32_t i = 0; i < n->body.len; i++) find_use(u, n->body.data[i]);
}

static shared_use use_new(const kernel *k) {
    arena *a = k->l->arena;
    uint32_t vals = k->l->op->vals.len + 1;
    return (shared_use){k, ARENA_ARRAY(a, bool, vals), ARENA_ARRAY(a, bool, vals), NULL};
}

void lw_find_read(kernel *k, const loop_body *body) {
    shared_use u = use_new(k);
    u.seen = arena_alloc(k->l->arena, k->l->op->exprs.len + 1);
    for (uint32_t i = 0; i < body->len; i++) find_use(&u, body->data[i]);
    k->access.read = u.reads;
}

static shared_use use_of(const kernel *k, const loop_node *n) {
    shared_use u = use_new(k);
    u.seen = arena_alloc(k->l->arena, k->l->op->exprs.len + 1);
    find_use(&u, n);
    return u;
}

static bool conflicts(const shared_use *before, const shared_use *now) {
    bool any = false;
    for (tensor_val v = 0; v < before->k->l->op->vals.len; v++)
        any |= (now->reads[v] && before->writes[v]) ||
               (now->writes[v] && (before->reads[v] || before->writes[v]));
    return any;
}

static void use_add(shared_use *to, const shared_use *from) {
    for (tensor_val v = 0; v < to->k->l->op->vals.len; v++) {
        to->reads[v] |= from->reads[v];
        to->writes[v] |= from->writes[v];
    }
}

// A phase meets the others at a barrier, if it reads what a node before it wrote, or writes what
// that read or wrote. So does a node after a phase, and a body that runs again, at its start.

meeting lw_meeting(const kernel *k) { return (meeting){use_new(k), use_new(k)}; }

bool lw_has_phases(const loop_body *body) {
    bool any = false;
    for (uint32_t i = 0; i < body->len && !any; i++) any = body->data[i]->kind == LOOP_PHASE;
    return any;
}

void lw_meet(kernel *k, simt_builder *b, const loop_node *n, meeting *m) {
    if (!lw_threads(k)) return;
    shared_use now = use_of(k, n);
    if (conflicts(n->kind == LOOP_PHASE ? &m->all : &m->phases, &now)) {
        lw_barrier(b);
        *m = lw_meeting(k);
    }
    use_add(&m->all, &now);
    if (n->kind == LOOP_PHASE) use_add(&m->phases, &now);
}

static void phases_use(const kernel *k, const loop_body *body, shared_use *all) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        const bool phase = n->kind == LOOP_PHASE;
        if (!phase) phases_use(k, &n->body, all);
        shared_use one = phase ? use_of(k, n) : (shared_use){0};
        if (phase) use_add(all, &one);
    }
}

void lw_meet_again(const kernel *k, simt_builder *b, const loop_body *body) {
    shared_use all = use_new(k);
    if (!lw_threads(k)) return;
    phases_use(k, body, &all);
    if (conflicts(&all, &all)) lw_barrier(b);
}

void lw_forget_tiles(kernel *k, tensor_var v) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < k->scope.tiles.len; i++) {
        const loop_value *w = &k->l->plan->values.data[k->scope.tiles.data[i]];
        bool stays = true;
        for (uint32_t x = 0; x < k->l->op->vals.data[k->scope.tiles.data[i]].rank; x++)
            if (w->origin[x] && tensor_mentions(k->l->op, w->origin[x], v)) stays = false;
        if (stays) k->scope.tiles.data[kept++] = k->scope.tiles.data[i];
    }
    k->scope.tiles.len = kept;
}
