// Loads of masked steps that are written out, before anything is computed from them: the indices of all
// steps, then what lies at them. An assembler that saves registers leaves loads where it finds them, and each
// step would wait for its own.
//     i = src[e], y += x[i], j = src[e + 1], y += x[j]  →  i = src[e], j = src[e + 1], x[i], x[j], y += …
#include "lower.h"

enum { AHEAD_WORDS = 128 };   // of 32 bits, that a thread may hold for it: half of its registers

typedef struct {
    kernel *k;
    simt_builder *b;
    axis_set steps;
    bool store;   // what is loaded for a store, by more threads than those that store
    uint32_t words;
    bool *seen;
} ahead;

static axis_set open_steps(kernel *k) {
    axis_set s = 0;
    for (uint32_t i = 0; i < k->masks.len; i++) {
        uint32_t first = lw_axes_of(k, k->masks.data[i].node)->first;
        if (k->masks.data[i].node->masked && k->at[first] < 0) s |= AXIS(first);
    }
    return s;
}

// Where it is evaluated whatever the others say.
static bool certain(kernel *k, const tensor_node *x, uint32_t i) {
    bool choice = x->op == TENSOR_SELECT_OP || x->op == TENSOR_AND_OP || x->op == TENSOR_OR_OP;
    return !choice || !i || !lw_needs_guard(k, x->args[i]);
}

static void load_steps(ahead *a, tensor_expr e, const tensor_node *x) {
    kernel *k = a->k;
    axis_set axes = lw_depends(k, e);
    if (a->store && !lw_unchanged(k, (tensor_val)x->imm.i)) return;
    uint32_t bits = simt_element_bits(lw_value_element(k, x->type.type));
    uint32_t lanes = lw_vector_free(k, axes) ? lw_lanes(k) : 1, words = (lanes * bits + 31) / 32;
    for (instance_walk w = lw_walk_begin(k, lw_written_out(k, axes)); lw_walk_next(&w);) a->words += words;
    if (a->words > AHEAD_WORDS) return;
    for (instance_walk w = lw_walk_begin(k, lw_written_out(k, axes)); lw_walk_next(&w);) lw_expr(k, a->b, e);
}

static void find_loads(ahead *a, tensor_expr e) {
    const tensor_node *x = tensor_node_at(a->k->l->op, e);
    if (a->seen[e] || !(lw_depends(a->k, e) & a->steps)) return;
    a->seen[e] = true;
    for (uint32_t i = 0; i < x->nargs; i++)
        if (certain(a->k, x, i)) find_loads(a, x->args[i]);
    if (x->op == TENSOR_LOAD_OP) load_steps(a, e, x);
}

static void find_contributed(ahead *a, const loop_node *n) {
    const reduction *r = lw_reduction(a->k, n->stages[0]);
    for (uint32_t i = 0; i < n->nstates && !n->valid; i++) find_loads(a, n->states[i]);
    for (uint32_t i = 0; i < r->r->nargs && !n->nstates; i++) find_loads(a, lw_lifted(a->k, r, i));
}

static void find_stored(ahead *a, const loop_node *n) {
    const tensor_stage *st = &a->k->l->op->stages.data[n->stages[0]];
    a->store = true;
    for (uint32_t t = 0; t < st->ntargets && st->reducer == TENSOR_NO_REDUCER; t++)
        find_loads(a, st->body[t]);
}

void lw_load_ahead(kernel *k, simt_builder *b, const loop_body *body, uint32_t from) {
    loop_node_kind kind = body->data[from]->kind;
    if (kind != LOOP_CONTRIBUTE && kind != LOOP_STORE) return;
    if (kind == LOOP_CONTRIBUTE && lw_reduction(k, body->data[from]->stages[0])->node->matrix)
        return;   // all at once
    ahead a = {.k = k, .b = b, .steps = open_steps(k)};
    if (!a.steps) return;
    a.seen = ARENA_ARRAY(k->l->arena, bool, k->l->op->exprs.len + 1);
    if (kind == LOOP_STORE) find_stored(&a, body->data[from]);
    for (uint32_t i = from; i < body->len && body->data[i]->kind == LOOP_CONTRIBUTE; i++)
        find_contributed(&a, body->data[i]);
}
