// Loads of tensor IR: where the value comes from. It is the row that a loop walks, a maximum so
// far, a fetched row, a stage that is computed in place, a register, or memory.

#include "lower/values/values.h"

// What this thread computed itself at that place; 0: nothing.
static simt_value register_load(kernel *k, simt_builder *b, const tensor_node *load, tensor_val v,
                                const position *index) {
    simt_value known = lw_known(&k->known, v, index, load->nargs, 0);
    position all[8];
    if (known || k->digits.vector == LOWER_NO_AXIS || k->digits.at[k->digits.vector] < 0 ||
        !lw_place_in_all(k, b, load, all))
        return known;
    known = lw_known(&k->known, v, all, load->nargs, 0);   // it is known as a vector
    return known ? simt_pick(b, known, (uint32_t)k->digits.at[k->digits.vector]) : 0;
}

// While a tile is filled, and the variables of its origin are bound, it stands for the array that
// it is a tile of.
static tensor_val through_tile(const kernel *k, tensor_val v) {
    for (uint32_t i = k->scope.tiles.len; i-- > 0;)
        if (k->l->plan->values.data[k->scope.tiles.data[i]].of == v) return k->scope.tiles.data[i];
    return v;
}

// The stage's body, with its variables at the indices of the load. What is computed for it is
// forgotten afterwards.
static simt_value inlined_load(kernel *k, simt_builder *b, const tensor_stage *st,
                               const position *index, axis_set axes) {
    arena *a = k->l->arena;
    memo_cell *memo = k->known.memo;
    binding *var = k->scope.var;
    uint32_t log = k->known.log.len;
    k->known.memo = ARENA_ARRAY(a, memo_cell, k->l->op->exprs.len + 1);
    k->scope.var = ARENA_ARRAY(a, binding, k->l->op->vars.len + 1);
    for (uint32_t i = 0; i < st->targets[0].rank; i++) {
        const tensor_node *x = tensor_node_at(k->l->op, st->targets[0].index[i]);
        axis_set vector = index[i].shape == POSITION_ONE ? 0 : axes & AXIS(k->digits.vector);
        if (x->op == TENSOR_VAR_OP)
            k->scope.var[x->imm.i] = (binding){
                .kind = BOUND_GIVEN, .axes = vector, .given = index[i]};
    }
    simt_value v = lw_expr(k, b, st->body[0]);
    k->known.log.len = log;
    k->known.memo = memo;
    k->scope.var = var;
    return v;
}

static simt_value fetched_load(kernel *k, simt_builder *b, tensor_expr e, const tensor_node *n,
                               const fetched_rows *f) {
    simt_value adjacent = lw_load_adjacent(k, b, e);
    if (adjacent) return adjacent;
    position last = lw_position(k, b, n->args[n->nargs - 1]);
    return lw_load_fetched(k, b, f, n, last, last.shape == POSITION_ONE ? 1 : lw_lanes(&k->digits));
}

simt_value lw_load(kernel *k, simt_builder *b, tensor_expr e, const tensor_node *n) {
    tensor_var row;
    if (lw_row(k, n, &row)) return lw_spread(k, b, lw_var_position(k, b, row));
    simt_value most = lw_running(k, b, n);
    if (most) return most;
    const fetched_rows *f = lw_fetched(k, n);
    if (f) return fetched_load(k, b, e, n, f);
    tensor_val v = through_tile(k, (tensor_val)n->imm.i);
    const loop_value *where = &k->l->plan->values.data[v];
    position index[8];
    axis_set axes = 0;
    for (uint32_t i = 0; i < n->nargs; i++) {
        index[i] = lw_position(k, b, n->args[i]);
        axes |= lw_depends(k, n->args[i]);
    }
    if (where->home == LOOP_INLINE)
        return inlined_load(k, b, &k->l->op->stages.data[where->stage], index, axes);
    simt_value known = (k->access.written[v] || k->access.held[v]) && where->home != LOOP_SHARED
                           ? register_load(k, b, n, v, index)
                           : 0;
    if (known) return known;
    if (where->home == LOOP_REGISTERS)
        ICE("'%s': %s is read where it is not known", k->plan->name, k->l->op->vals.data[v].name);
    simt_value adjacent = lw_load_adjacent(k, b, e);
    return adjacent ? adjacent : lw_load_from(k, b, v, index);
}
