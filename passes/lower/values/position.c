// Index expressions as positions: a position is one for all lanes of the vector, or one and its
// neighbours, or any vector.

#include "lower/values/values.h"

position lw_var_position(kernel *k, simt_builder *b, tensor_var v) {
    const binding *x = &k->scope.var[v];
    switch (x->kind) {
    case BOUND_LOOP: {
        uint32_t copy = lw_instance(&k->digits, x->own);
        position p = {.at = x->of[copy], .pad = copy < x->whole ? 0 : x->pad, .last = x->last};
        if (x->step)
            p.step = x->step[lw_instance(&k->digits, x->own)],
            p.inside = x->inside[lw_instance(&k->digits, x->own)];
        if (x->along && k->digits.at[k->digits.vector] < 0) p.shape = POSITION_ALONG;
        else if (x->along)
            p.at = simt_build_binary(b, SIMT_ADD, p.at,
                                     lw_ix(k, b, k->digits.at[k->digits.vector]));
        return p;
    }
    case BOUND_LET: return lw_position(k, b, x->value);
    case BOUND_GIVEN:
        if (x->given.shape == POSITION_ONE || k->digits.at[k->digits.vector] < 0) return x->given;
        return (position){
            .at = lw_position_lane(k, b, x->given, (uint32_t)k->digits.at[k->digits.vector]),
            .pad = x->given.pad,
            .last = x->given.last};
    case BOUND_NOT: break;
    }
    for (uint32_t i = 0; i < k->l->op->loops.len; i++)
        if (k->l->op->loops.data[i].step == v)
            return lw_at(lw_to_ix(k, b, lw_arg(k, ARG_STEP, 0, 0)));
    ICE("'%s': variable '%s' is read where it is not bound", k->plan->name,
        k->l->op->vars.data[v].name);
}

// The position as a number: padding has that of the last position.
simt_value lw_spread(kernel *k, simt_builder *b, position p) {
    simt_value x[16];
    if (p.shape == POSITION_ANY) return p.at;
    uint32_t n = p.shape == POSITION_ONE ? 1 : lw_lanes(&k->digits);
    for (uint32_t i = 0; i < n; i++) {
        x[i] = lw_position_lane(k, b, p, i);
        if (p.pad) x[i] = simt_build_binary(b, SIMT_MIN, x[i], p.last);
    }
    return simt_gather(b, x, n);
}

// A position along the vector: the variable of a loop, or a sum of it with what does not vary along
// the vector.
static bool along_position(kernel *k, simt_builder *b, tensor_expr e, position *out) {
    const tensor_node *x = tensor_node_at(k->l->op, e);
    if (x->op == TENSOR_VAR_OP) {
        *out = lw_var_position(k, b, (tensor_var)x->imm.i);
        return !out->pad && (out->shape == POSITION_ALONG || out->shape == POSITION_SHIFTED);
    }
    if (x->op == TENSOR_INDEX_OP || (x->op == TENSOR_CVT_OP && x->type.type == DT_I64))
        return along_position(k, b, x->args[0], out);
    if (x->op != TENSOR_ADD_OP && x->op != TENSOR_SUB_OP) return false;
    uint32_t still =
        x->op == TENSOR_SUB_OP || !lw_vector_free(&k->digits, lw_depends(k, x->args[1])) ? 1 : 0;
    if (lw_vector_free(&k->digits, lw_depends(k, x->args[still])) ||
        !along_position(k, b, x->args[1 - still], out))
        return false;
    simt_value by = lw_to_ix(k, b, lw_expr(k, b, x->args[still]));
    out->at = simt_build_binary(b, x->op == TENSOR_SUB_OP ? SIMT_SUB : SIMT_ADD, out->at, by);
    out->shape = POSITION_SHIFTED;
    return true;
}

// As an index, the variable of a padded loop or of a masked step is its own position, with what
// that knows.
static bool own_position(kernel *k, simt_builder *b, tensor_expr e, position *out) {
    const tensor_node *x = tensor_node_at(k->l->op, e);
    if (x->op == TENSOR_VAR_OP) *out = lw_var_position(k, b, (tensor_var)x->imm.i);
    return x->op == TENSOR_VAR_OP && (out->pad || out->step);
}

position lw_position(kernel *k, simt_builder *b, tensor_expr e) {
    position p;
    if (own_position(k, b, e, &p)) return p;
    if (lw_vector_free(&k->digits, lw_depends(k, e)) && along_position(k, b, e, &p)) return p;
    simt_value x = lw_to_ix(k, b, lw_expr(k, b, e));
    return (position){.at = x, .shape = simt_lanes_of(b, x) > 1 ? POSITION_ANY : POSITION_ONE};
}

// The place in all lanes, while one of them is at hand; false: finding it would take an access.
bool lw_place_in_all(kernel *k, simt_builder *b, const tensor_node *load, position *index) {
    int32_t lane = k->digits.at[k->digits.vector];
    bool known = true;
    k->digits.at[k->digits.vector] = -1;
    for (uint32_t i = 0; known && i < load->nargs; i++) {
        if (lw_vector_free(&k->digits, lw_depends(k, load->args[i])))
            known = own_position(k, b, load->args[i], &index[i]) ||
                    along_position(k, b, load->args[i], &index[i]);
        else index[i] = lw_position(k, b, load->args[i]);
    }
    k->digits.at[k->digits.vector] = lane;
    return known;
}
