// Pieces of matrices that stay while a loop goes round. What is inside is gone through
// ahead for what they are read at: columns, depth, and what is given. They are loaded there, once.
//     for e.tile … stay w { … reduce y by … { for k … { contribute y } } }
//  →  b = ld w …  for e.tile … { … a = ld x …  c = mma a, b, c … }

#include "lower/loops/loops.h"

// Its digits have the numbers they have later; its variable has positions where a thread has all of
// them.
static void stand_in(kernel *k, simt_builder *b, const loop_node *n) {
    const axis_set own = lw_axes_enter(k, n);
    if (!loop_held_at_once(k->l->op, n)) {
        VEC_PUSH(k->l->arena, &k->scope.masks, ((loop_mask){.node = n}));
        return;
    }
    const round_of r = {.base = lw_to_ix(k, b, lw_expr(k, b, n->lo)),
                        .hi = lw_to_ix(k, b, lw_expr(k, b, n->hi)),
                        .masked = !lw_ends_exactly(k->l->op, n, lw_step(n))};
    lw_bind(k, b, n, own, r);
}

// Its variables have positions.
static bool is_known(const kernel *k, tensor_expr e) {
    const tensor_node *n = tensor_node_at(k->l->op, e);
    if (n->op == TENSOR_VAR_OP) {
        const binding *v = &k->scope.var[n->imm.i];
        return v->kind == BOUND_LET ? is_known(k, v->value) : v->kind != BOUND_NOT;
    }
    bool all = true;
    for (uint32_t i = 0; i < n->nargs && all; i++) all = is_known(k, n->args[i]);
    return all;
}

static void hold_in(kernel *k, simt_builder *b, const loop_node *of, const loop_body *body);

static void hold_inside(kernel *k, simt_builder *b, const loop_node *of, const loop_node *n) {
    const uint32_t masks = k->scope.masks.len, columns = k->scope.columns.len;
    const bool entered = lw_axes_of(k, n)->entered;
    stand_in(k, b, n);
    hold_in(k, b, of, &n->body);
    k->scope.masks.len = masks;
    k->scope.columns.len = columns;
    k->scope.var[n->var] = (binding){0};
    if (!entered) lw_axes_leave(k, n);
}

static void hold_right(kernel *k, simt_builder *b, const loop_node *reduce) {
    const uint32_t masks = k->scope.masks.len;
    const loop_node *depth = loop_over_var(&reduce->body, reduce->reduce.matrix->depth);
    lw_enter_loops(k, &reduce->body);
    stand_in(k, b, depth);
    lw_stay_right(k, b, reduce);
    k->scope.masks.len = masks;
    k->scope.var[depth->var] = (binding){0};
    lw_leave_loops(k, &reduce->body);
}

static void hold_in(kernel *k, simt_builder *b, const loop_node *of, const loop_body *body) {
    const uint32_t given = k->scope.given.len;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if (n->kind == LOOP_FOR) hold_inside(k, b, of, n);
        if (n->kind == LOOP_LET)   // of a position that may not be known
            k->scope.var[n->var] = (binding){.kind = BOUND_LET, .value = n->value};
        if (n->kind == LOOP_GIVEN && is_known(k, n->value)) {
            VEC_PUSH(k->l->arena, &k->scope.given, n);
            lw_given(k, b, n);
        }
        const tensor_val right = loop_matrix_right(k->l->op, n);
        if (right != TENSOR_NO_VAL && loop_stays(of, right)) hold_right(k, b, n);
    }
    k->scope.given.len = given;
    for (uint32_t i = 0; i < body->len; i++)
        if (body->data[i]->kind == LOOP_LET) k->scope.var[body->data[i]->var] = (binding){0};
}

void lw_stay(kernel *k, simt_builder *b, const loop_node *n) {
    region_mark m = lw_enter(&k->known);
    hold_in(k, b, n, &n->body);
    lw_leave(&k->known, m);
}
