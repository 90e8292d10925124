// The loads in what a stage evaluates, found once: who plans asks for them by the thousand.
#include "tensor_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    uint32_t nroots;
    const tensor_expr *roots;   // expressions that load something, in their order
    const tensor_load_list *all;
} loads_of;

struct tensor_loads {
    loads_of *slots;   // open addressing; no roots: empty
    uint32_t nslots, used;
};

static uint32_t hash(const tensor_expr *roots, uint32_t n) {
    uint64_t h = n;
    for (uint32_t i = 0; i < n; i++) h = (h ^ roots[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 32);
}

static loads_of *slot_of(const struct tensor_loads *t, const tensor_expr *roots, uint32_t n) {
    uint32_t i = hash(roots, n) & (t->nslots - 1);
    for (; t->slots[i].nroots; i = (i + 1) & (t->nslots - 1))
        if (t->slots[i].nroots == n && !memcmp(t->slots[i].roots, roots, n * sizeof *roots)) break;
    return &t->slots[i];
}

static void grow(arena *a, struct tensor_loads *t) {
    const struct tensor_loads old = *t;
    t->nslots = old.nslots ? 2 * old.nslots : 32;
    t->slots = ARENA_ARRAY(a, loads_of, t->nslots);
    for (uint32_t i = 0; i < old.nslots; i++)
        if (old.slots[i].nroots)
            *slot_of(t, old.slots[i].roots, old.slots[i].nroots) = old.slots[i];
}

// ---- Finding ------------------------------------------------------------------------------------
typedef struct {
    const tensor_op *op;
    uint8_t *seen;   // per expression
    tensor_expr *found;
    uint32_t n;
    bool gathers;
} finding;

static void find(finding *f, tensor_expr e) {
    const tensor_node *n = tensor_node_at(f->op, e);
    if (f->seen[e] || !n->loads) return;
    f->seen[e] = 1;
    if (n->op == TENSOR_LOAD_OP) f->found[f->n++] = e;
    for (uint32_t i = 0; n->op == TENSOR_LOAD_OP && i < n->nargs; i++)
        f->gathers |= tensor_node_at(f->op, n->args[i])->op == TENSOR_LOAD_OP;
    for (uint32_t i = 0; i < n->nargs; i++) find(f, n->args[i]);
}

static const tensor_load_list *found(const tensor_op *op, const tensor_expr *roots, uint32_t n) {
    const size_t exprs = op->exprs.len;
    finding f = {
        .op = op, .seen = xmalloc(exprs + 1), .found = xmalloc((exprs + 1) * sizeof(tensor_expr))};
    memset(f.seen, 0, exprs + 1);
    for (uint32_t i = 0; i < n; i++) find(&f, roots[i]);
    tensor_load_list *all = arena_alloc(op->arena, sizeof *all + f.n * sizeof *all->at);
    all->n = f.n;
    all->gathers = f.gathers;
    memcpy(all->at, f.found, f.n * sizeof *all->at);
    free(f.seen);
    free(f.found);
    return all;
}

// ---- Asking -------------------------------------------------------------------------------------
static uint32_t put(const tensor_op *op, const tensor_expr *e, uint32_t n, tensor_expr *roots,
                    uint32_t at) {
    for (uint32_t i = 0; i < n; i++)
        if (tensor_node_at(op, e[i])->loads) roots[at++] = e[i];
    return at;
}

static uint32_t roots_of(const tensor_op *op, const tensor_stage *st, tensor_expr *roots) {
    uint32_t n = put(op, st->body, st->nbody, roots, 0);
    n = put(op, st->filters, st->nfilters, roots, n);
    n = put(op, st->orelse, st->nelse, roots, n);
    for (uint32_t i = 0; i < st->nkeys; i++)
        n = put(op, (tensor_expr[]){st->keys[i].lhs, st->keys[i].rhs}, 2, roots, n);
    return n;
}

const tensor_load_list *tensor_loads_of(const tensor_op *op, const tensor_stage *st) {
    static const tensor_load_list none = {0};
    enum { FEW = 16 };
    tensor_op *own = (tensor_op *)op;   // what is found of it is no part of what it says
    const uint32_t most = st->nbody + st->nfilters + st->nelse + 2 * st->nkeys;
    tensor_expr few[FEW], *roots = most > FEW ? ARENA_ARRAY(op->arena, tensor_expr, most) : few;
    const uint32_t n = roots_of(op, st, roots);
    if (!n) return &none;
    if (!own->loads) own->loads = ARENA_NEW(op->arena, struct tensor_loads);
    struct tensor_loads *t = own->loads;
    if (2 * t->used >= t->nslots) grow(op->arena, t);
    loads_of *slot = slot_of(t, roots, n);
    if (slot->nroots) return slot->all;
    tensor_expr *kept = ARENA_ARRAY(op->arena, tensor_expr, n);
    memcpy(kept, roots, n * sizeof *kept);
    *slot = (loads_of){n, kept, found(op, roots, n)};
    t->used++;
    return slot->all;
}
