// Bodies: lets, given values, conditions, and which node is lowered where.

#include "lower/loops/loops.h"

// ---- Lets and conditions ------------------------------------------------------------------------
static void lower_let(kernel *k, simt_builder *b, const loop_node *n) {
    k->scope.var[n->var] = (binding){.kind = BOUND_LET, .value = n->value};
    axis_set s = lw_written_out(&k->digits, lw_depends(k, n->value));
    for (instance_walk w = lw_walk_begin(&k->digits, s); lw_walk_next(&w);)
        lw_position(k, b, n->value);
}

static void if_body(kernel *k, simt_builder *b, const loop_node *n, void *user) {
    (void)user;
    lw_body(k, b, &n->body);
}

// All lanes of a warp go through products together, so that a condition there is a cell, not a
// branch.
static void cells_body(kernel *k, simt_builder *b, const loop_node *n) {
    lw_add_cell(k, n->value);
    lw_body(k, b, &n->body);
    lw_take_cell(&k->sums);
}

// The condition says whether a window's cell has an entry. What its row has, and what is computed
// of that, is there in any case.
static bool is_cell(const kernel *k, const loop_node *n) {
    const tensor_op *op = k->l->op;
    const tensor_node *c = tensor_node_at(op, n->value),
                      *x = c->nargs ? tensor_node_at(op, c->args[0]) : NULL;
    if (x && x->op == TENSOR_CVT_OP) x = tensor_node_at(op, x->args[0]);
    if (!x || x->op != TENSOR_LOAD_OP || op->vals.data[x->imm.i].role != VAL_PREPARED) return false;
    for (uint32_t i = 0; i < n->body.len; i++)
        if (n->body.data[i]->kind != LOOP_CONTRIBUTE) return false;
    prepared_builder made = op->vals.data[x->imm.i].builder;
    return (c->op == TENSOR_BIT_OP && made == PREPARED_WINDOW_MASKS) ||
           (c->op == TENSOR_GE_OP && made == PREPARED_WINDOW_ENTRIES);
}

static void lower_if(kernel *k, simt_builder *b, const loop_node *n) {
    if (lw_products(&k->sums) || is_cell(k, n)) {
        cells_body(k, b, n);
        return;
    }
    axis_set copies = lw_written_out(&k->digits, lw_depends(k, n->value));
    for (instance_walk w = lw_walk_begin(&k->digits, copies); lw_walk_next(&w);)
        lw_expr(k, b, n->value);   // for all lanes at once, before it is asked for by lane
    for (instance_walk w = lw_walk_begin(&k->digits, lw_depends(k, n->value)); lw_walk_next(&w);)
        lw_build_if(k, b, lw_expr(k, b, n->value), n, if_body, NULL);
}

// ---- Bodies -------------------------------------------------------------------------------------
// What a phase makes known stays known after it.
static void nodes_in(kernel *k, simt_builder *b, const loop_body *body);

// The body does not depend on the loop that is left out: the mask of that loop is off, and a loop
// inside may have the vector. Expressions of the body may be of that vector, so that they are
// forgotten.
static void lower_without(kernel *k, simt_builder *b, const loop_node *n) {
    uint32_t vector = k->digits.vector, at = 0;
    simt_value *mask = NULL;
    for (uint32_t i = 0; i < k->scope.masks.len; i++)
        if (k->scope.masks.data[i].node->var == n->var) at = i, mask = k->scope.masks.data[i].of;
    if (mask) k->scope.masks.data[at].of = NULL;
    if (vector != LOWER_NO_AXIS && lw_var_depends(k, n->var) & AXIS(vector))
        k->digits.vector = LOWER_NO_AXIS;
    lw_leave_loops(k, &n->body);
    region_mark m = lw_enter(&k->known);
    nodes_in(k, b, &n->body);
    m.registers = k->known.registers.len;
    lw_leave(&k->known, m);
    k->digits.vector = vector;
    if (mask) k->scope.masks.data[at].of = mask;
}

void lw_node(kernel *k, simt_builder *b, const loop_node *n) {
    switch (n->kind) {
    case LOOP_FOR: lw_for(k, b, n); return;
    case LOOP_LET: lower_let(k, b, n); return;
    case LOOP_GIVEN:
        VEC_PUSH(k->l->arena, &k->scope.given, n);
        lw_given(k, b, n);
        return;
    case LOOP_IF: lower_if(k, b, n); return;
    case LOOP_PHASE: nodes_in(k, b, &n->body); return;
    case LOOP_REDUCE: lw_reduce(k, b, n); return;
    case LOOP_CONTRIBUTE: lw_contribute(k, b, n); return;
    case LOOP_STORE: lw_store(k, b, n); return;
    case LOOP_CLEAR: lw_clear(k, b, n); return;
    case LOOP_COMBINE: lw_combine(k, b, n); return;
    case LOOP_STORE_STATE: lw_store_state(k, b, n); return;
    case LOOP_CARRY: lw_carry(k, b, n); return;
    case LOOP_WITHOUT: lower_without(k, b, n); return;
    case LOOP_WITHIN: lw_within(k, b, n); return;
    case LOOP_LEVEL: lw_level(k, b, n); return;
    case LOOP_AGAIN: return;   // lw_reduce lowers it when the state is known
    case LOOP_NODE_COUNT: break;
    }
    ICE("'%s': a node that is not lowered", k->plan->name);
}

static void nodes_in(kernel *k, simt_builder *b, const loop_body *body) {
    const bool phases = lw_has_phases(body);
    meeting m = phases ? lw_meeting(k) : (meeting){0};
    bool walk = lw_distributes_walk(k);
    uint32_t given = k->scope.given.len;
    bool distributes = k->distributed && !walk && loop_reduces(body) &&
                       lw_distributes(k, AXIS(k->distributed->axis)),
         done = false;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        span outer = b->at;
        if (n->at.hi) b->at = n->at;
        if (distributes && !done && n->kind == LOOP_STORE) done = true, lw_distribute(k, b);
        if (walk) lw_distribute_for(k, b, body, i);
        if (phases) lw_meet(k, b, n, &m);
        lw_load_ahead(k, b, body, i);
        lw_node(k, b, n);
        b->at = outer;
    }
    if (done || (walk && k->distributed->there)) lw_distribute_back(k);
    k->scope.given.len = given;
    for (uint32_t i = 0; i < body->len; i++) {
        if (body->data[i]->kind != LOOP_LET) continue;
        lw_forget_tiles(k, body->data[i]->var);
        k->scope.var[body->data[i]->var] = (binding){0};
    }
}

void lw_body(kernel *k, simt_builder *b, const loop_body *body) {
    uint32_t reductions = k->sums.all.len;
    nodes_in(k, b, body);
    k->sums.all.len = reductions;
}
