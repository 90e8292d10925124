// Padding: loops that go on to a multiple, and values that hold what is stored there.
#include "loop_internal.h"

#include <string.h>

tensor_expr loop_padded(tensor_op *op, tensor_space s, uint32_t pad) {
    const tensor_space_info *i = &op->spaces.data[s];
    if (i->kind == SPACE_CONST) return tensor_int(op, (i->size + pad - 1) / pad * pad);
    tensor_expr n = tensor_int(op, pad),
                up = tensor_binary(op, TENSOR_ADD_OP, tensor_size(op, s, NO_SPAN),
                                   tensor_int(op, (int64_t)pad - 1), NO_SPAN);
    return tensor_binary(op, TENSOR_MUL_OP, tensor_binary(op, TENSOR_QUOT_OP, up, n, NO_SPAN), n,
                         NO_SPAN);
}

bool loop_has_padding(const tensor_op *op, const loop_node *n) {
    const tensor_space_info *s = &op->spaces.data[op->vars.data[n->var].space];
    return n->rounds.pad && (s->kind != SPACE_CONST || s->size % n->rounds.pad);
}

bool loop_may_pad(const loop_plan *p, tensor_val v, uint32_t axis, uint32_t pad) {
    const loop_value *w = &p->values.data[v];
    const tensor_space_info *s = &p->op->spaces.data[p->op->vals.data[v].axes[axis]];
    if (p->op->vals.data[v].role != VAL_STAGE || !pad) return false;
    if (w->home == LOOP_MEMORY) return true;
    return w->home == LOOP_SHARED && !w->origin[axis] && s->kind == SPACE_CONST &&
           w->extent[axis] >= (s->size + pad - 1) / pad * pad;
}

// ---- What is stored -----------------------------------------------------------------------------
typedef struct {
    const tensor_op *op;
    uint32_t *var;   // per variable: the padding of the loop that it is bound by
    uint32_t *pads;
    bool *stored;
} storing;

static uint32_t pad_of(const storing *s, tensor_expr e) {
    const tensor_node *n = tensor_node_at(s->op, e);
    return n->op == TENSOR_VAR_OP ? s->var[n->imm.i] : 0;
}

static void store(storing *s, tensor_val v, const tensor_expr *index, uint32_t rank) {
    for (uint32_t a = 0; a < rank && a < 8; a++) {
        uint32_t *pad = &s->pads[8 * v + a], here = pad_of(s, index[a]);
        *pad = !s->stored[v] || *pad == here ? here : 0;
    }
    s->stored[v] = true;
}

static void store_slots(storing *s, const tensor_expr *slots, uint32_t n) {
    for (uint32_t i = 0; slots && i < n; i++) {
        const tensor_node *to = tensor_node_at(s->op, slots[i]);
        if (to->op == TENSOR_LOAD_OP) store(s, (tensor_val)to->imm.i, to->args, to->nargs);
    }
}

static void follow(storing *s, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        bool targets = n->kind == LOOP_STORE || n->kind == LOOP_CLEAR || n->kind == LOOP_COMBINE ||
                       n->kind == LOOP_CARRY;
        if (n->kind == LOOP_FOR) s->var[n->var] = n->rounds.pad;
        if (n->kind == LOOP_LET) s->var[n->var] = pad_of(s, n->value);
        for (uint32_t k = 0; targets && k < n->nstages && n->stages[k] < s->op->stages.len; k++) {
            const tensor_stage *st = &s->op->stages.data[n->stages[k]];
            for (uint32_t t = 0; t < st->ntargets; t++)
                store(s, st->targets[t].val, st->targets[t].index, st->targets[t].rank);
        }
        if (n->kind == LOOP_STORE_STATE || n->kind == LOOP_CARRY)
            store_slots(s, n->state.loads, n->state.n);
        if (n->kind == LOOP_CARRY) store_slots(s, n->state.last, n->state.n);
        follow(s, &n->body);
    }
}

const uint32_t *loop_stored_pads(arena *a, const loop_plan *p) {
    storing s = {.op = p->op,
                 .var = ARENA_ARRAY(a, uint32_t, p->op->vars.len + 1),
                 .pads = ARENA_ARRAY(a, uint32_t, 8 * p->op->vals.len + 1),
                 .stored = ARENA_ARRAY(a, bool, p->op->vals.len + 1)};
    for (uint32_t i = 0; i < p->steps.len; i++) {
        memset(s.var, 0, sizeof *s.var * (p->op->vars.len + 1));
        if (p->steps.data[i].kind == LOOP_LAUNCH) follow(&s, &p->steps.data[i].kernel->body);
    }
    return s.pads;
}
