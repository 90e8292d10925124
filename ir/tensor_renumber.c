// Values and spaces under other numbers, wherever an op names them.
#include "tensor_internal.h"

#include <string.h>

typedef struct {
    tensor_op *op;
    const tensor_val *vals;   // per value and space: what it is called now
    const tensor_space *spaces;
} renumbering;

static tensor_type type_of(const renumbering *r, tensor_type t) {
    if (t.space != TENSOR_NO_SPACE) t.space = r->spaces[t.space];
    return t;
}

// Of the operations that name a value, loads alone name one that a stage writes.
static void nodes(const renumbering *r) {
    for (tensor_expr e = 1; e < r->op->exprs.len; e++) {
        tensor_node *n = &r->op->exprs.data[e];
        n->type = type_of(r, n->type);
        if (n->op == TENSOR_LOAD_OP) n->imm.i = (int64_t)r->vals[n->imm.i];
        if (n->op == TENSOR_SIZE_OP) n->imm.i = (int64_t)r->spaces[n->imm.i];
    }
    tensor_share_again(r->op);
}

static const tensor_type *types(const renumbering *r, const tensor_type *of, uint32_t n) {
    tensor_type *to = ARENA_ARRAY(r->op->arena, tensor_type, n + 1);
    for (uint32_t i = 0; i < n; i++) to[i] = type_of(r, of[i]);
    return to;
}

static void reducers(const renumbering *r) {
    for (uint32_t i = 0; i < r->op->reducers.len; i++) {
        tensor_reducer *x = &r->op->reducers.data[i];
        x->arg_types = types(r, x->arg_types, x->nargs);
        x->state_types = types(r, x->state_types, x->nstate);
        x->result_types = types(r, x->result_types, x->nresults);
    }
}

static void targets(const renumbering *r) {
    for (uint32_t s = 0; s < r->op->stages.len; s++) {
        tensor_stage *st = &r->op->stages.data[s];
        tensor_target *to = ARENA_ARRAY(r->op->arena, tensor_target, st->ntargets + 1);
        for (uint32_t t = 0; t < st->ntargets; t++) {
            to[t] = st->targets[t];
            to[t].val = r->vals[to[t].val];
        }
        st->targets = to;
    }
}

static const uint32_t *list(const renumbering *r, const uint32_t *of, uint32_t n,
                            const uint32_t *as) {
    uint32_t *to = ARENA_ARRAY(r->op->arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++) to[i] = as[of[i]];
    return to;
}

static tensor_val_info value(const renumbering *r, tensor_val_info i) {
    i.axes = list(r, i.axes, i.rank, r->spaces);
    i.keys = list(r, i.keys, i.nkeys, r->vals);
    if (i.type == DT_INDEX) i.into = r->spaces[i.into];
    if (i.sorted_by != TENSOR_NO_VAL) i.sorted_by = r->vals[i.sorted_by];
    if (i.inplace != TENSOR_NO_VAL) i.inplace = r->vals[i.inplace];
    return i;
}

static void values(const renumbering *r) {
    const uint32_t n = r->op->vals.len;
    tensor_val_info *to = ARENA_ARRAY(r->op->arena, tensor_val_info, n + 1);
    for (tensor_val v = 0; v < n; v++) to[r->vals[v]] = value(r, r->op->vals.data[v]);
    memcpy(r->op->vals.data, to, n * sizeof *to);
}

static void spaces(const renumbering *r) {
    const uint32_t n = r->op->spaces.len;
    tensor_space_info *to = ARENA_ARRAY(r->op->arena, tensor_space_info, n + 1);
    for (tensor_space s = 0; s < n; s++) {
        tensor_space_info i = r->op->spaces.data[s];
        if (i.kind == SPACE_COUNT_OF) i.classes = r->vals[i.classes];
        to[r->spaces[s]] = i;
    }
    memcpy(r->op->spaces.data, to, n * sizeof *to);
}

void tensor_renumber(tensor_op *op, const tensor_val *vals, const tensor_space *space_numbers) {
    const renumbering r = {op, vals, space_numbers};
    nodes(&r);
    reducers(&r);
    targets(&r);
    values(&r);
    spaces(&r);
    for (tensor_var v = 0; v < op->vars.len; v++)
        op->vars.data[v].space = space_numbers[op->vars.data[v].space];
    for (uint32_t l = 0; l < op->loops.len; l++)
        op->loops.data[l].space = space_numbers[op->loops.data[l].space];
}
