// The arguments of a kernel, which become its parameters as they are met, and what the kernel
// writes.

#include "lower/scope/scope.h"

// ---- What it writes -----------------------------------------------------------------------------
static bool shares(const tensor_op *op, tensor_val a, tensor_val b) {
    return a == b || op->vals.data[a].inplace == b || op->vals.data[b].inplace == a;
}

static bool shares_memory(const tensor_op *op, tensor_val v) {
    for (tensor_val w = 0; w < op->nparams; w++)
        if (w != v && shares(op, v, w)) return true;
    return false;
}

static void writes_val(kernel *k, tensor_val v) {
    for (tensor_val w = 0; w < k->l->op->vals.len; w++)
        if (shares(k->l->op, v, w)) k->access.written[w] = true;
}

void lw_find_written(kernel *k, const loop_body *body) {
    const tensor_op *op = k->l->op;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        lw_find_written(k, &n->body);
        bool stores = n->kind == LOOP_STORE || n->kind == LOOP_CLEAR || n->kind == LOOP_COMBINE ||
                      n->kind == LOOP_CARRY;
        for (uint32_t s = 0; stores && s < n->nstages; s++) {
            const tensor_stage *st = &op->stages.data[n->stages[s]];
            for (uint32_t t = 0; t < st->ntargets; t++) writes_val(k, st->targets[t].val);
        }
        for (uint32_t s = 0; n->kind != LOOP_CONTRIBUTE && s < n->state.n; s++)
            writes_val(k, (tensor_val)tensor_node_at(op, n->state.loads[s])->imm.i);
        for (uint32_t s = 0; n->state.last && s < n->state.n; s++)
            writes_val(k, (tensor_val)tensor_node_at(op, n->state.last[s])->imm.i);
    }
}

// ---- Parameters ---------------------------------------------------------------------------------
static uint32_t pointer_flags(const kernel *k, tensor_val v) {
    if (k->access.unsettled && k->access.unsettled[v]) return 0;
    if (!k->access.written[v]) return SIMT_READONLY | SIMT_NOALIAS;
    return k->access.read[v] || shares_memory(k->l->op, v)
               ? 0
               : SIMT_NOALIAS;   // it may read what other threads of the block wrote
}

static tensor_val val_of_temp(const kernel *k, uint32_t temp) {
    for (tensor_val v = 0; v < k->l->op->vals.len; v++)
        if (k->l->temp_of[v] == temp) return v;
    ICE("'%s': nothing lies in a temporary", k->plan->name);
}

static simt_type type_of_arg(const kernel *k, arg_kind kind, uint32_t index) {
    if (kind == ARG_DATA || kind == ARG_PREPARED || kind == ARG_TEMP) return SIMT_PTR;
    if (kind != ARG_VALUE) return SIMT_T(I64);
    ir_dtype t = k->l->op->vals.data[index].type;
    return t == DT_I32            ? SIMT_T(I32)
           : t == DT_F64          ? SIMT_T(F64)
           : ir_dtype_is_float(t) ? SIMT_T(F32)
                                  : SIMT_T(I64);
}

static uint32_t flags_of_arg(const kernel *k, arg_kind kind, uint32_t index) {
    return kind == ARG_DATA       ? pointer_flags(k, index)
           : kind == ARG_TEMP     ? pointer_flags(k, val_of_temp(k, index))
           : kind == ARG_PREPARED ? SIMT_READONLY | SIMT_NOALIAS
                                  : 0;
}

simt_value lw_arg(kernel *k, arg_kind kind, uint32_t index, uint32_t axis) {
    for (uint32_t i = 0; i < k->args.list.len; i++)
        if (k->args.list.data[i].kind == kind && k->args.list.data[i].index == index &&
            k->args.list.data[i].axis == axis)
            return k->args.values.data[i];
    const program_arg arg = {kind, index, axis};
    simt_value v = simt_param(k->f, plan_arg_name(k->l->arena, k->l->op, arg),
                              type_of_arg(k, kind, index), flags_of_arg(k, kind, index));
    VEC_PUSH(k->l->arena, &k->args.list, arg);
    VEC_PUSH(k->l->arena, &k->args.values, v);
    return v;
}

// A statistic is one of the program's numbers. The runtime finds it when the plan is made.
simt_value lw_number(kernel *k, tensor_expr e) {
    program *p = k->l->p;
    size_expr x = {0};
    size_append(k->l->arena, &x, p, k->l->plan->op, e);
    uint32_t i = 0;
    while (i < p->numbers.len && !lw_same_size(&p->numbers.data[i], &x)) i++;
    if (i == p->numbers.len) VEC_PUSH(k->l->arena, &p->numbers, x);
    return lw_arg(k, ARG_NUMBER, i, 0);
}

// ---- Positions as numbers -----------------------------------------------------------------------
simt_value lw_ix(kernel *k, simt_builder *b, int64_t x) { return simt_build_int(b, k->ix, x); }

simt_value lw_to_ix(kernel *k, simt_builder *b, simt_value x) {
    return simt_build_cvt(b, (simt_type){k->ix.element, simt_typeof(k->f, x).lanes}, x);
}
