// Of a program, what every version of it shares: spaces, parameters, preconditions; and sizes in
// postfix.
#include "plan.h"
#include "base/base.h"

#include <string.h>

static size_token_kind size_token_of(tensor_opcode op) {
    switch (op) {
    case TENSOR_ADD_OP: return SZ_ADD;
    case TENSOR_SUB_OP: return SZ_SUB;
    case TENSOR_MUL_OP: return SZ_MUL;
    case TENSOR_QUOT_OP: return SZ_DIV;
    case TENSOR_MOD_OP: return SZ_MOD;
    case TENSOR_MIN_OP: return SZ_MIN;
    case TENSOR_MAX_OP: return SZ_MAX;
    case TENSOR_EQ_OP: return SZ_EQ;
    case TENSOR_NE_OP: return SZ_NE;
    case TENSOR_LT_OP: return SZ_LT;
    case TENSOR_LE_OP: return SZ_LE;
    case TENSOR_GT_OP: return SZ_GT;
    case TENSOR_GE_OP: return SZ_GE;
    case TENSOR_AND_OP: return SZ_AND;
    case TENSOR_OR_OP: return SZ_OR;
    case TENSOR_NOT_OP: return SZ_NOT;
    default: ICE("a size or precondition holds '%s'", tensor_op_table(op)->text);
    }
}

static void push(arena *a, size_expr *s, size_token_kind kind, int64_t value, int64_t value2) {
    VEC_PUSH(a, s, ((size_token){kind, value, value2}));
}

void size_append(arena *a, size_expr *s, const program *p, const tensor_op *op, tensor_expr e) {
    const tensor_node *x = tensor_node_at(op, e);
    switch ((tensor_opcode)x->op) {
    case TENSOR_CONST_OP: push(a, s, SZ_CONST, x->imm.i, 0); return;
    case TENSOR_SIZE_OP: size_append_space(a, s, p, op, (tensor_space)x->imm.i); return;
    case TENSOR_AT_LEAST_OP: push(a, s, SZ_AT_LEAST, x->imm.i, x->imm2); return;
    case TENSOR_CUT_PARTS_OP: push(a, s, SZ_CUT_PARTS, x->imm.i, x->imm2); return;
    case TENSOR_SYMMETRIC_OP: push(a, s, SZ_SYMMETRIC, x->imm.i, x->imm2); return;
    case TENSOR_PREIMAGE_OP:
        push(a, s,
             x->imm2 == 0   ? SZ_MAX_PREIMAGE
             : x->imm2 == 1 ? SZ_MIN_PREIMAGE
                            : SZ_AVG_PREIMAGE,
             x->imm.i, 0);
        return;
    case TENSOR_INDEX_OP:
    case TENSOR_CVT_OP: size_append(a, s, p, op, x->args[0]); return;
    case TENSOR_NEG_OP:
        push(a, s, SZ_CONST, 0, 0);
        size_append(a, s, p, op, x->args[0]);
        push(a, s, SZ_SUB, 0, 0);
        return;
    default:
        for (uint32_t i = 0; i < x->nargs; i++) size_append(a, s, p, op, x->args[i]);
        push(a, s, size_token_of((tensor_opcode)x->op), 0, 0);
    }
}

// A space that a plan added to its copy of the op is none of the program's: its size is written
// out.
void size_append_space(arena *a, size_expr *s, const program *p, const tensor_op *op,
                       tensor_space space) {
    const tensor_space_info *i = &op->spaces.data[space];
    if (space < p->spaces.len) push(a, s, SZ_SPACE, space, 0);
    else if (i->kind == SPACE_CONST) push(a, s, SZ_CONST, i->size, 0);
    else if (i->kind == SPACE_EXPR) size_append(a, s, p, op, i->expr);
    else ICE("space '%s' is none of the program's", i->name);
}

size_expr size_product(arena *a, const program *p, const tensor_op *op, const tensor_space *spaces,
                       uint32_t count) {
    size_expr s = {0};
    if (!count) push(a, &s, SZ_CONST, 1, 0);
    for (uint32_t i = 0; i < count; i++) {
        size_append_space(a, &s, p, op, spaces[i]);
        if (i) push(a, &s, SZ_MUL, 0, 0);
    }
    return s;
}

// ---- What the caller hands over -----------------------------------------------------------------
// A plan that was read back has its own spaces too, those that maps decide behind all others.
static void add_spaces(arena *a, program *p, const tensor_op *op) {
    for (tensor_space i = 0; i < op->spaces.len; i++) {
        const tensor_space_info *s = &op->spaces.data[i];
        if (s->kind == SPACE_EXPR && tensor_node_at(op, s->expr)->counted) return;
        program_space x = {.name = s->name, .kind = s->kind};
        VEC_PUSH(a, &p->spaces, x);
        size_expr size = {0};
        if (s->kind == SPACE_CONST) push(a, &size, SZ_CONST, s->size, 0);
        if (s->kind == SPACE_EXPR) size_append(a, &size, p, op, s->expr);
        p->spaces.data[i].size = size;
    }
}

static param_role role_of(tensor_role r) {
    return r == VAL_MAP      ? PARAM_MAP
           : r == VAL_TENSOR ? PARAM_TENSOR
           : r == VAL_SCALAR ? PARAM_SCALAR
                             : PARAM_RESULT;
}

static void add_params(arena *a, program *p, const tensor_op *op) {
    for (tensor_val i = 0; i < op->nparams; i++) {
        const tensor_val_info *v = &op->vals.data[i];
        program_param x = {.name = v->name,
                           .role = role_of(v->role),
                           .type = v->type,
                           .facts = v->facts,
                           .align = v->align,
                           .rank = v->rank,
                           .axes = v->axes,
                           .into = v->into,
                           .sorted_by = v->sorted_by == TENSOR_NO_VAL ? -1 : (int32_t)v->sorted_by,
                           .inplace = v->inplace == TENSOR_NO_VAL ? -1 : (int32_t)v->inplace,
                           .adjoint_of = v->adjoint_of};
        p->saved |= (v->facts & FACT_SAVED) != 0;
        VEC_PUSH(a, &p->params, x);
    }
}

static void add_requires(arena *a, program *p, const tensor_op *op) {
    for (uint32_t i = 0; i < op->required.len; i++) {
        program_require r = {.text = op->required.data[i].text, .at = op->required.data[i].at};
        size_append(a, &r.holds, p, op, op->required.data[i].holds);
        VEC_PUSH(a, &p->required, r);
    }
}

program *program_start(arena *a, const tensor_op *op, const pass_options *o) {
    program *p = ARENA_NEW(a, program);
    *p = (program){.name = op->name,
                   .source = op->source,
                   .gradient_of = op->gradient_of,
                   .index_bits = o->index_bits,
                   .deterministic = true,
                   .module = simt_module_new(a, op->name)};
    add_spaces(a, p, op);
    add_params(a, p, op);
    add_requires(a, p, op);
    return p;
}

// ---- Names of parameters ------------------------------------------------------------------------
// Of kernels. What the compiler passes by itself makes way for arrays that are called likewise.
static const char *own_name(arena *a, const tensor_op *op, const char *name) {
    for (tensor_val v = 0; v < op->vals.len; v++)
        if (!strcmp(op->vals.data[v].name, name))
            return own_name(a, op, arena_printf(a, "%s.own", name));
    return name;
}

const char *plan_arg_name(arena *a, const tensor_op *op, program_arg arg) {
#define X(name, text) [ARG_##name] = text,
    static const char *const words[] = {ARG_KINDS(X)};
#undef X
    const char *word = arg.kind == ARG_TEMP ? "stage" : words[arg.kind];
    if (arg.kind == ARG_DATA || arg.kind == ARG_VALUE) return op->vals.data[arg.index].name;
    if (arg.kind == ARG_STEP) return own_name(a, op, word);
    if (arg.kind != ARG_STRIDE) return own_name(a, op, arena_printf(a, "%s%u", word, arg.index));
    return own_name(a, op,
                    arena_printf(a, "%s_%s%u", op->vals.data[arg.index].name, word, arg.axis));
}
