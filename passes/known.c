// Conditions of a version: guards, and sizes that they tell. `when (F == 64)` makes F a constant of
// the op that the version is planned from, and sizes that follow from it, 2 * F, too.
#include "planning.h"

void plan_take_conditions(arena *a, const schedule *s, version_facts *facts) {
    for (uint32_t i = 0; i < s->when.len; i++) {
        const schedule_condition *c = &s->when.data[i];
        program_guard g = {.kind = GUARD_HOLDS, .holds = c->holds, .text = c->text};
        if (c->kind == SCHEDULE_ALIGNED)
            g = (program_guard){.kind = GUARD_ALIGNED, .param = c->val, .value = c->bytes};
        VEC_PUSH(a, &facts->guards, g);
    }
}

// F == 64, or 64 == F, and nothing else.
static bool says_size(const schedule_condition *c, tensor_space *s, int64_t *size) {
    if (c->kind != SCHEDULE_HOLDS || c->holds.len != 3 || c->holds.data[2].kind != SZ_EQ)
        return false;
    const size_token *a = &c->holds.data[0], *b = &c->holds.data[1];
    const size_token *space = a->kind == SZ_SPACE ? a : b, *number = a->kind == SZ_SPACE ? b : a;
    *s = (tensor_space)space->value;
    *size = number->value;
    return space->kind == SZ_SPACE && number->kind == SZ_CONST && *size >= 0;
}

// Of sizes that are known, and what is added, taken away and multiplied; false: of others.
static bool known(const tensor_op *op, tensor_expr e, int64_t *size) {
    const tensor_node *n = tensor_node_at(op, e);
    int64_t x, y;
    *size = n->imm.i;
    if (n->op == TENSOR_CONST_OP) return true;
    if (n->op == TENSOR_SIZE_OP) {
        const tensor_space_info *s = &op->spaces.data[n->imm.i];
        *size = s->size;
        return s->kind == SPACE_CONST;
    }
    if (n->nargs != 2 || !known(op, n->args[0], &x) || !known(op, n->args[1], &y)) return false;
    if (n->op == TENSOR_ADD_OP) return !__builtin_add_overflow(x, y, size);
    if (n->op == TENSOR_SUB_OP) return !__builtin_sub_overflow(x, y, size);
    return n->op == TENSOR_MUL_OP && !__builtin_mul_overflow(x, y, size);
}

static void set(tensor_space_info *s, int64_t size) {
    s->kind = SPACE_CONST;
    s->size = size;
    s->expr = 0;
}

// Spaces come before those that are made of them.
static void follow(tensor_op *op) {
    int64_t size;
    for (tensor_space i = 0; i < op->spaces.len; i++) {
        tensor_space_info *s = &op->spaces.data[i];
        if (s->kind == SPACE_EXPR && known(op, s->expr, &size) && size >= 0) set(s, size);
    }
}

const tensor_op *plan_known_sizes(arena *a, const tensor_op *op, const schedule *s) {
    tensor_op *made = NULL;
    for (uint32_t i = 0; i < s->when.len; i++) {
        tensor_space space;
        int64_t size;
        if (!says_size(&s->when.data[i], &space, &size) ||
            op->spaces.data[space].kind != SPACE_FREE)
            continue;
        if (!made) made = tensor_op_copy(a, op);
        set(&made->spaces.data[space], size);
    }
    if (made) follow(made);
    return made ? made : op;
}
