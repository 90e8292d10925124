// Walks whose steps are distributed go back and forth. A node without the loop of the lanes is done
// for one step by each lane. A node in that loop is done for all steps by every lane, which takes
// from the lanes what they know of their steps.
//     for d [lane 8] {
//       reduce m, y {
//         for e [serial unroll 4 masked] distributed to lane 8 of d {
//           without d { reduce s { … } store s }
//           store z
//           contribute m
//           contribute y

#include "lower/loops/loops.h"

// A sum of the walk that does not depend on the loops that are left out: a lane adds its own step.
static bool is_of_steps(kernel *k, const loop_node *n) {
    const reduction *r = lw_reduction(k, n->stages[0]);
    return !(r->left & k->distributed->apart) &&
           loop_over_var(&r->node->body, k->distributed->node->var) == k->distributed->node;
}

static bool is_of_walk(kernel *k, const loop_node *n) {
    const reduction *r = lw_reduction(k, n->stages[0]);
    return loop_over_var(&r->node->body, k->distributed->node->var) == k->distributed->node;
}

// A store in the loops that are left out: all lanes do it for all steps.
static bool is_of_lanes(kernel *k, const loop_node *n) {
    const tensor_stage *st = &k->l->op->stages.data[n->stages[0]];
    axis_set left = 0;
    for (uint32_t i = 0; i < st->nleft; i++) left |= lw_var_depends(k, st->left[i]);
    return n->kind == LOOP_STORE && left & k->distributed->apart;
}

// A stage that lanes have of their steps. It may be stored as well, by others of them.
static bool lanes_know(const kernel *k, tensor_val v) {
    const distributed_steps *d = k->distributed;
    bool known = k->l->plan->values.data[v].home == LOOP_REGISTERS;
    for (uint32_t i = 0; i < d->kept.len && !known; i++) known = d->kept.data[i].val == v;
    return known;
}

typedef struct {
    kernel *k;
    simt_builder *b;
    VEC(tensor_expr) all;
    uint8_t *seen;    // per expression
    uint8_t *worth;   // per expression: asked for once
} sharing;

// The expression does not depend on those loops, and reads what lanes know of their steps, or is
// expensive.
static bool is_worth(const sharing *s, tensor_expr e) {
    enum { NOT = 1, WORTH };
    if (s->worth[e]) return s->worth[e] == WORTH;
    const tensor_node *x = tensor_node_at(s->k->l->op, e);
    tensor_op_kind kind = tensor_op_table((tensor_opcode)x->op)->kind;
    bool worth = kind == TENSOR_MATHS || x->op == TENSOR_DIV_OP || x->op == TENSOR_RAND_OP;
    if (x->op == TENSOR_LOAD_OP) worth = lanes_know(s->k, (tensor_val)x->imm.i);
    for (uint32_t i = 0; i < x->nargs && !worth; i++) worth = is_worth(s, x->args[i]);
    s->worth[e] = worth ? WORTH : NOT;
    return worth;
}

static void find_shared(sharing *s, tensor_expr e) {
    kernel *k = s->k;
    const tensor_node *x = tensor_node_at(k->l->op, e);
    axis_set axes = lw_depends(k, e), steps = AXIS(k->distributed->axis);
    if (s->seen[e] || !(axes & steps)) return;
    s->seen[e] = 1;
    if (lw_is_known(k, e)) return;
    if (!(axes & k->distributed->apart) && is_worth(s, e)) {
        VEC_PUSH(k->l->arena, &s->all, e);
        return;
    }
    for (uint32_t i = 0; i < x->nargs; i++) find_shared(s, x->args[i]);
}

static simt_value from_lane(simt_builder *b, simt_value x, simt_value lane) {
    simt_type t = simt_typeof(b->func, x), moved = t;
    if (t.element == SIMT_PRED) moved.element = SIMT_I32;
    simt_value args[2] = {simt_build_cvt(b, moved, x), lane};
    simt_instr i = simt_build_op(b, SIMT_SHFL_IDX, args, 2, &moved, 1);
    b->func->instrs.data[i].imm.i = 32;
    return simt_build_cvt(b, t, simt_result(b->func, i, 0));
}

// Of the lanes that have a step each, lane i has the i-th. All lanes take the values from there.
static void spread_steps(kernel *k, simt_builder *b, tensor_expr e, simt_value own) {
    distributed_steps *d = k->distributed;
    uint32_t extent = lw_distributed_parts(k);
    simt_type i32 = SIMT_T(I32);
    simt_value first = simt_build_binary(b, SIMT_AND, k->thread.number,
                                         simt_build_int(b, i32, 31 & ~((extent - 1) * d->unit)));
    // The copy at hand is fixed.
    for (instance_walk w = lw_walk_begin(&k->digits, AXIS(d->axis)); lw_walk_next(&w);) {
        simt_value lane = simt_build_binary(
            b, SIMT_ADD, first, simt_build_int(b, i32, (uint32_t)k->digits.at[d->axis] * d->unit));
        lw_remember(k, e, from_lane(b, own, lane));
    }
}

static void share_steps(kernel *k, simt_builder *b, const loop_node *n) {
    const tensor_stage *st = &k->l->op->stages.data[n->stages[0]];
    sharing s = {.k = k,
                 .b = b,
                 .seen = ARENA_ARRAY(k->l->arena, uint8_t, k->l->op->exprs.len + 1),
                 .worth = ARENA_ARRAY(k->l->arena, uint8_t, k->l->op->exprs.len + 1)};
    VEC(simt_value) own = {0};
    uint32_t at = 0;
    find_shared(&s, st->body[0]);
    if (!s.all.len) return;
    axis_set *copies = ARENA_ARRAY(k->l->arena, axis_set, s.all.len);
    for (uint32_t i = 0; i < s.all.len; i++)
        copies[i] = lw_written_out(&k->digits, lw_depends(k, s.all.data[i])) &
                    ~AXIS(k->distributed->axis);
    lw_distribute(k, b);
    for (uint32_t i = 0; i < s.all.len; i++)
        for (instance_walk w = lw_walk_begin(&k->digits, copies[i]); lw_walk_next(&w);)
            VEC_PUSH(k->l->arena, &own, lw_expr(k, b, s.all.data[i]));
    lw_distribute_back(k);
    for (uint32_t i = 0; i < s.all.len; i++)
        for (instance_walk w = lw_walk_begin(&k->digits, copies[i]); lw_walk_next(&w);)
            spread_steps(k, b, s.all.data[i], own.data[at++]);
}

void lw_distribute_for(kernel *k, simt_builder *b, const loop_body *body, uint32_t i) {
    const loop_node *n = body->data[i];
    distributed_steps *d = k->distributed;
    if (!d->apart) d->apart = lw_var_depends(k, d->node->distributed.of);
    bool there = n->kind == LOOP_STORE && !is_of_lanes(k, n);
    if (n->kind == LOOP_CONTRIBUTE && is_of_walk(k, n)) there = is_of_steps(k, n);
    if (n->kind == LOOP_LET || n->kind == LOOP_GIVEN) return;
    if (there && !d->there) lw_distribute(k, b);
    else if (!there && d->there) lw_distribute_back(k);
    for (uint32_t j = 0; j < i && there; j++)
        if (body->data[j]->kind == LOOP_GIVEN) lw_given(k, b, body->data[j]);
    if (n->kind == LOOP_STORE && !there) share_steps(k, b, n);
    // Loads ahead are those of all contributions that follow one another.
    for (uint32_t j = i; !there && j < body->len && body->data[j]->kind == LOOP_CONTRIBUTE; j++)
        if (is_of_walk(k, body->data[j]) && !is_of_steps(k, body->data[j]))
            share_steps(k, b, body->data[j]);
}
