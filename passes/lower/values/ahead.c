// Loads of masked steps that are written out come before anything is computed from them: first the
// indices of all steps, then what lies at them. An assembler that saves registers leaves loads
// where it finds them, and each step would wait for its own.
//     i = src[e], y += x[i], j = src[e + 1], y += x[j]  →  i = src[e], j = src[e + 1], x[i], x[j], y += …

#include "lower/values/values.h"

enum { AHEAD_WORDS = 128 };   // words of 32 bits that a thread holds for it: half of its registers

typedef struct {
    kernel *k;
    simt_builder *b;
    axis_set steps;
    bool store;    // the loads are for a store, and more threads make them than store
    bool inputs;   // other nodes come first: only what none of them computes is loaded
    uint32_t words;
    // per expression: 1 and the most loads that depend on each other; 0: not seen
    uint32_t *depth;
    VEC(tensor_expr) loads;
} ahead;

// The steps of a loop's rounds that are written out, also those that a block or a group does.
static axis_set open_steps(kernel *k) {
    axis_set s = 0;
    for (uint32_t i = 0; i < k->scope.masks.len; i++) {
        const loop_mask *m = &k->scope.masks.data[i];
        if (m->node->rounds.masked) s |= AXIS(lw_axes_of(k, m->node)->first);
        for (uint32_t x = 0; x < LOWER_MAX_AXES && m->of; x++)
            if (m->axes & AXIS(x) && k->digits.axis[x].place == LOOP_UNROLL_PLACE) s |= AXIS(x);
    }
    for (uint32_t x = 0; x < LOWER_MAX_AXES; x++)
        if (k->digits.at[x] >= 0) s &= ~AXIS(x);
    return s;
}

// The argument is evaluated, whatever the others are.
static bool certain(kernel *k, const tensor_node *x, uint32_t i) {
    bool choice = x->op == TENSOR_SELECT_OP || x->op == TENSOR_AND_OP || x->op == TENSOR_OR_OP;
    return !choice || !i || !lw_needs_guard(k, x->args[i]);
}

static void load_steps(ahead *a, tensor_expr e, const tensor_node *x) {
    kernel *k = a->k;
    axis_set axes = lw_depends(k, e);
    if (a->store && !lw_unchanged(k, (tensor_val)x->imm.i)) return;
    uint32_t bits = simt_element_bits(lw_value_element(k, x->type.type));
    uint32_t lanes = lw_vector_free(&k->digits, axes) ? lw_lanes(&k->digits) : 1,
             words = (lanes * bits + 31) / 32;
    for (instance_walk w = lw_walk_begin(&k->digits, lw_written_out(&k->digits, axes));
         lw_walk_next(&w);)
        a->words += words;
    if (a->words > AHEAD_WORDS) return;
    for (instance_walk w = lw_walk_begin(&k->digits, lw_written_out(&k->digits, axes));
         lw_walk_next(&w);)
        lw_expr(k, a->b, e);
}

static bool of_inputs(const ahead *a, tensor_expr e) {
    const tensor_node *x = tensor_node_at(a->k->l->op, e);
    bool all = x->op != TENSOR_LOAD_OP || lw_unchanged(a->k, (tensor_val)x->imm.i);
    for (uint32_t i = 0; i < x->nargs && all; i++) all = of_inputs(a, x->args[i]);
    return all;
}

static uint32_t find_loads(ahead *a, tensor_expr e) {
    const tensor_node *x = tensor_node_at(a->k->l->op, e);
    uint32_t depth = 1;
    if (a->depth[e] || !(lw_depends(a->k, e) & a->steps) || lw_is_known(a->k, e))
        return a->depth[e];
    for (uint32_t i = 0; i < x->nargs; i++) {
        uint32_t inner = certain(a->k, x, i) ? find_loads(a, x->args[i]) : 0;
        if (inner > depth) depth = inner;
    }
    if (x->op == TENSOR_LOAD_OP && (!a->inputs || of_inputs(a, e)))
        VEC_PUSH(a->k->l->arena, &a->loads, e);
    return a->depth[e] = depth + (x->op == TENSOR_LOAD_OP);
}

static void load_by_depth(ahead *a) {
    for (uint32_t d = 2, left = a->loads.len; left; d++)
        for (uint32_t i = 0; i < a->loads.len; i++) {
            tensor_expr e = a->loads.data[i];
            if (a->depth[e] != d) continue;
            load_steps(a, e, tensor_node_at(a->k->l->op, e));
            left--;
        }
}

static void find_contributed(ahead *a, const loop_node *n) {
    const reduction *r = lw_reduction(a->k, n->stages[0]);
    for (uint32_t i = 0; i < n->state.n && !n->state.valid; i++) find_loads(a, n->state.loads[i]);
    for (uint32_t i = 0; i < r->r->nargs && !n->state.n; i++)
        find_loads(a, lw_lifted(a->k->l->op, r, i));
}

static void find_stored(ahead *a, const loop_node *n) {
    const tensor_stage *st = &a->k->l->op->stages.data[n->stages[0]];
    a->store = true;
    for (uint32_t t = 0; t < st->ntargets && st->reducer == TENSOR_NO_REDUCER; t++)
        find_loads(a, st->body[t]);
}

// The first contribution after what is computed for each step without some loop.
static uint32_t contributions_behind(const loop_body *body, uint32_t from) {
    if (from && body->data[from - 1]->kind == LOOP_WITHOUT) return body->len;
    while (from < body->len && body->data[from]->kind != LOOP_CONTRIBUTE) from++;
    return from;
}

void lw_load_ahead(kernel *k, simt_builder *b, const loop_body *body, uint32_t from) {
    ahead a = {.k = k, .b = b, .inputs = body->data[from]->kind == LOOP_WITHOUT};
    if (a.inputs) from = contributions_behind(body, from);
    loop_node_kind kind = from < body->len ? body->data[from]->kind : LOOP_LET;
    if (kind != LOOP_CONTRIBUTE && kind != LOOP_STORE) return;
    if (kind == LOOP_CONTRIBUTE &&
        lw_reduction(k, body->data[from]->stages[0])->node->reduce.matrix)
        return;   // a matrix operation loads all at once
    a.steps = open_steps(k);
    if (!a.steps) return;
    a.depth = ARENA_ARRAY(k->l->arena, uint32_t, k->l->op->exprs.len + 1);
    if (kind == LOOP_STORE) find_stored(&a, body->data[from]);
    for (uint32_t i = from; i < body->len && body->data[i]->kind == LOOP_CONTRIBUTE; i++)
        if (!body->data[i]->state.n)
            lw_take_elsewhere(k, lw_reduction(k, body->data[i]->stages[0]));
    for (uint32_t i = from; i < body->len && body->data[i]->kind == LOOP_CONTRIBUTE; i++)
        find_contributed(&a, body->data[i]);
    load_by_depth(&a);
}
