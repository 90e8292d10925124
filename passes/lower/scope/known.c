// What a value depends on, and what is known of it: the value of an expression at each instance,
// and elements of arrays that the thread has in registers. At the end of a region of code, what was
// found out in it is forgotten.

#include "lower/scope/scope.h"

// ---- What a value depends on --------------------------------------------------------------------
static void memo_log(kernel *k, tensor_expr e, uint32_t slot) {
    VEC_PUSH(k->l->arena, &k->known.log, ((memo_entry){e, slot}));
}

axis_set lw_var_depends(kernel *k, tensor_var v) {
    return k->scope.var[v].kind == BOUND_LET ? lw_depends(k, k->scope.var[v].value)
                                             : k->scope.var[v].axes;
}

static axis_set find_axes(kernel *k, const tensor_node *x) {
    axis_set s = 0;
    tensor_var row;
    if (x->op == TENSOR_VAR_OP) return lw_var_depends(k, (tensor_var)x->imm.i);
    if (lw_row(k, x, &row)) return lw_var_depends(k, row);
    const loop_node *loop = x->op == TENSOR_QUOT_OP ? lw_loop_divided(k, x) : NULL;
    if (loop) return lw_depends(k, loop->lo) | lw_depends(k, loop->hi);
    for (uint32_t i = 0; i < x->nargs; i++) s |= lw_depends(k, x->args[i]);
    return s | lw_running_axes(k, x);
}

bool lw_know(kernel *k, tensor_expr e, axis_set s) {
    memo_cell *c = &k->known.memo[e];
    if (c->known) return false;
    *c = (memo_cell){true, s, ARENA_ARRAY(k->l->arena, simt_value, lw_instances(&k->digits, s))};
    memo_log(k, e, UINT32_MAX);
    return true;
}

simt_value lw_remember(kernel *k, tensor_expr e, simt_value v) {
    const memo_cell *c = &k->known.memo[e];
    uint32_t slot = lw_instance(&k->digits, c->axes);
    c->of[slot] = v;
    memo_log(k, e, slot);
    return v;
}

simt_value lw_remembered(const kernel *k, tensor_expr e) {
    return k->known.memo[e].of[lw_instance(&k->digits, k->known.memo[e].axes)];
}

axis_set lw_depends(kernel *k, tensor_expr e) {
    if (k->known.memo[e].known) return k->known.memo[e].axes;
    axis_set s = find_axes(k, tensor_node_at(k->l->op, e));
    lw_know(k, e, s);
    return s;
}

bool lw_is_known(const kernel *k, tensor_expr e) {
    const memo_cell *c = &k->known.memo[e];
    return c->known && c->of[lw_instance(&k->digits, c->axes)];
}

// ---- Registers ----------------------------------------------------------------------------------
static bool same_place(const register_value *r, tensor_val v, const position *index,
                       uint32_t rank) {
    bool same = r->val == v;
    for (uint32_t i = 0; same && i < rank; i++)
        same = r->index[i].at == index[i].at && r->index[i].shape == index[i].shape;
    return same;
}

simt_value lw_known(const lower_known *known, tensor_val v, const position *index, uint32_t rank,
                    uint32_t from) {
    for (uint32_t i = known->registers.len; i-- > from;)
        if (same_place(&known->registers.data[i], v, index, rank))
            return known->registers.data[i].value;
    return 0;
}

// ---- Regions ------------------------------------------------------------------------------------
region_mark lw_enter(const lower_known *known) {
    return (region_mark){known->log.len, known->registers.len};
}

void lw_forget(lower_known *known, uint32_t log) {
    while (known->log.len > log) {
        memo_entry e = known->log.data[--known->log.len];
        if (e.slot == UINT32_MAX) known->memo[e.expr] = (memo_cell){0};
        else if (known->memo[e.expr].of) known->memo[e.expr].of[e.slot] = 0;
    }
}

void lw_leave(lower_known *known, region_mark m) {
    lw_forget(known, m.log);
    known->registers.len = m.registers;
}
