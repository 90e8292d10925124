// The types of tensor IR: what each operation takes and gives. One place, so that the builder, the
// parser and the verifier agree.
#include "tensor_internal.h"

const tensor_op_info *tensor_op_table(tensor_opcode op) {
    static const tensor_op_info table[] = {
#define TENSOR_OP(op, text, args, kind) {text, args, TENSOR_##kind},
#include "tensor.def"
#undef TENSOR_OP
    };
    return &table[op];
}

const tensor_maths *tensor_maths_of(tensor_opcode op) {
    static const tensor_maths table[TENSOR_OP_COUNT] = {
#define MATH(id, name, args, nan, ulp_f32, ulp_f64, length_f32, length_f64)                        \
    [TENSOR_##id##_OP] = {nan, {ulp_f32, ulp_f64}, {length_f32, length_f64}},
#include "math.def"
#undef MATH
    };
    return table[op].length[0] ? &table[op] : NULL;
}

tensor_type tensor_type_of_storage(ir_dtype storage, tensor_space space) {
    ir_dtype t = (ir_dtype)ir_dtype_table(storage)->loaded;
    return (tensor_type){t, t == DT_INDEX ? space : TENSOR_NO_SPACE};
}

const char *tensor_type_text(arena *a, const tensor_op *op, tensor_type t) {
    if (t.type != DT_INDEX) return t.type < DT_COUNT ? ir_dtype_text(t.type) : "no type";
    const char *space = t.space < op->spaces.len ? op->spaces.data[t.space].name : "no space";
    return arena_printf(a, "index(%s)", space);
}

tensor_type tensor_result_type(const tensor_op *op, const tensor_node *n) {
    switch ((tensor_op_kind)tensor_op_table((tensor_opcode)n->op)->kind) {
    case TENSOR_ARITH:
    case TENSOR_MATHS: return tensor_typeof(op, n->args[0]);
    case TENSOR_COMPARE:
    case TENSOR_LOGIC: return TENSOR_TYPE(BOOL);
    case TENSOR_LEAF:
    case TENSOR_OTHER: break;
    }
    switch (n->op) {
    case TENSOR_VAR_OP: return (tensor_type){DT_INDEX, op->vars.data[n->imm.i].space};
    case TENSOR_SIZE_OP:
    case TENSOR_PREIMAGE_OP:
    case TENSOR_AT_LEAST_OP:
    case TENSOR_CUT_PARTS_OP: return TENSOR_TYPE(I64);
    case TENSOR_SYMMETRIC_OP:
    case TENSOR_BIT_OP: return TENSOR_TYPE(BOOL);
    case TENSOR_RAND_OP: return TENSOR_TYPE(F32);
    case TENSOR_SELECT_OP: return tensor_typeof(op, n->args[1]);
    case TENSOR_ROUND_OP:
    case TENSOR_TF32_OP:
    case TENSOR_PARTS_OP:
    case TENSOR_STOP_OP: return tensor_typeof(op, n->args[0]);
    case TENSOR_LOAD_OP: {
        const tensor_val_info *v = &op->vals.data[n->imm.i];
        return tensor_type_of_storage(v->type, v->into);
    }
    default: return n->type;   // the type is part of the node
    }
}

static bool is_number(tensor_type t) { return tensor_type_is_float(t) || t.type == DT_I64; }

static bool is_expression_type(const tensor_op *op, tensor_type t) {
    if (t.type == DT_INDEX) return t.space < op->spaces.len;
    return (is_number(t) || t.type == DT_BOOL) && t.space == TENSOR_NO_SPACE;
}

static bool is_map(const tensor_op *op, int64_t v) {
    return v >= 0 && v < op->vals.len && op->vals.data[v].role == VAL_MAP;
}

static const char *load_fault(arena *a, const tensor_op *op, const tensor_node *n) {
    if (n->imm.i < 0 || n->imm.i >= op->vals.len) return "there is no such value";
    const tensor_val_info *v = &op->vals.data[n->imm.i];
    if (v->facts & FACT_PREFIX) return arena_printf(a, "prefix map '%s' has no array", v->name);
    if (n->nargs != v->rank)
        return arena_printf(a, "'%s' is indexed by %u, not by %u", v->name, (unsigned)v->rank,
                            (unsigned)n->nargs);
    for (uint32_t i = 0; i < v->rank; i++) {
        tensor_type t = tensor_typeof(op, n->args[i]), axis = {DT_INDEX, v->axes[i]};
        if (!tensor_type_equal(t, axis))
            return arena_printf(a, "axis %u of '%s' takes %s, not %s", (unsigned)i, v->name,
                                tensor_type_text(a, op, axis), tensor_type_text(a, op, t));
    }
    return NULL;
}

static const char *leaf_fault(arena *a, const tensor_op *op, const tensor_node *n) {
    switch (n->op) {
    case TENSOR_CONST_OP:
        return is_expression_type(op, n->type) && n->type.type != DT_INDEX
                   ? NULL
                   : "no constant has this type";
    case TENSOR_NONE_OP:
        return n->type.type == DT_INDEX && is_expression_type(op, n->type) ? NULL
                                                                           : "none lies in a space";
    case TENSOR_VAR_OP:
        return n->imm.i >= 0 && n->imm.i < op->vars.len ? NULL : "there is no such variable";
    case TENSOR_SIZE_OP:
        return n->imm.i >= 0 && n->imm.i < op->spaces.len ? NULL : "there is no such space";
    case TENSOR_ARG_OP:
    case TENSOR_LEFT_OP:
    case TENSOR_RIGHT_OP:
        return n->imm.i >= 0 && is_expression_type(op, n->type) ? NULL
                                                                : "not a component of a reducer";
    default: ICE("'%s' is not a leaf", tensor_op_table((tensor_opcode)n->op)->text);
    }
    (void)a;
}

static const char *arith_fault(arena *a, const tensor_op *op, const tensor_node *n) {
    tensor_type t = tensor_typeof(op, n->args[0]);
    const char *text = tensor_op_table((tensor_opcode)n->op)->text;
    if (n->nargs == 2 && !tensor_type_equal(t, tensor_typeof(op, n->args[1])))
        return arena_printf(a, "'%s' of %s and %s", text, tensor_type_text(a, op, t),
                            tensor_type_text(a, op, tensor_typeof(op, n->args[1])));
    bool good = is_number(t);
    if (n->op == TENSOR_DIV_OP) good = tensor_type_is_float(t);
    if (n->op == TENSOR_MOD_OP || n->op == TENSOR_QUOT_OP) good = t.type == DT_I64;
    if (n->op == TENSOR_MIN_OP || n->op == TENSOR_MAX_OP) good = good || t.type == DT_INDEX;
    return good ? NULL : arena_printf(a, "'%s' of %s", text, tensor_type_text(a, op, t));
}

static const char *compare_fault(arena *a, const tensor_op *op, const tensor_node *n) {
    tensor_type x = tensor_typeof(op, n->args[0]), y = tensor_typeof(op, n->args[1]);
    bool ordered = x.type != DT_BOOL || n->op == TENSOR_EQ_OP || n->op == TENSOR_NE_OP;
    if (tensor_type_equal(x, y) && ordered) return NULL;
    return arena_printf(a, "'%s' of %s and %s", tensor_op_table((tensor_opcode)n->op)->text,
                        tensor_type_text(a, op, x), tensor_type_text(a, op, y));
}

static const char *args_are_fault(arena *a, const tensor_op *op, const tensor_node *n,
                                  tensor_type want) {
    for (uint32_t i = 0; i < n->nargs; i++) {
        tensor_type t = tensor_typeof(op, n->args[i]);
        if (!tensor_type_equal(t, want))
            return arena_printf(a, "'%s' takes %s, not %s",
                                tensor_op_table((tensor_opcode)n->op)->text,
                                tensor_type_text(a, op, want), tensor_type_text(a, op, t));
    }
    return NULL;
}

// Of 16 bits there are exponentials alone, which a GPU has an instruction for.
static const char *maths_fault(arena *a, const tensor_op *op, const tensor_node *n) {
    tensor_type t = tensor_typeof(op, n->args[0]);
    if (tensor_type_is_float(t) && (!tensor_type_is_narrow(t) || n->op == TENSOR_EXP_OP))
        return args_are_fault(a, op, n, t);
    return arena_printf(a, "'%s' of %s", tensor_op_table((tensor_opcode)n->op)->text,
                        tensor_type_text(a, op, t));
}

static const char *select_fault(arena *a, const tensor_op *op, const tensor_node *n) {
    tensor_type c = tensor_typeof(op, n->args[0]), x = tensor_typeof(op, n->args[1]),
                y = tensor_typeof(op, n->args[2]);
    if (c.type != DT_BOOL) return arena_printf(a, "'select' by %s", tensor_type_text(a, op, c));
    if (tensor_type_equal(x, y)) return NULL;
    return arena_printf(a, "'select' of %s and %s", tensor_type_text(a, op, x),
                        tensor_type_text(a, op, y));
}

static const char *round_fault(arena *a, const tensor_op *op, const tensor_node *n) {
    tensor_type t = tensor_typeof(op, n->args[0]);
    bool narrow = n->imm.i >= 0 && n->imm.i < DT_COUNT && ir_dtype_is_narrow((ir_dtype)n->imm.i);
    bool good = (t.type == DT_F32 && narrow) ||
                (t.type == DT_F64 && (narrow || n->imm.i == DT_F32)) ||
                (t.type == DT_I64 && n->imm.i == DT_I32);
    if (good) return NULL;
    bool named = n->imm.i >= 0 && n->imm.i < DT_COUNT;
    return arena_printf(a, "'round' of %s through %s", tensor_type_text(a, op, t),
                        named ? ir_dtype_text((ir_dtype)n->imm.i) : "no type");
}

static const char *cvt_fault(arena *a, const tensor_op *op, const tensor_node *n) {
    tensor_type t = tensor_typeof(op, n->args[0]);
    bool to_index = n->type.type == DT_INDEX,
         index_to_float = t.type == DT_INDEX && tensor_type_is_float(n->type);
    if (is_expression_type(op, n->type) && !to_index && !index_to_float) return NULL;
    return arena_printf(a, "'cvt' of %s to %s", tensor_type_text(a, op, t),
                        tensor_type_text(a, op, n->type));
}

static const char *other_fault(arena *a, const tensor_op *op, const tensor_node *n) {
    switch (n->op) {
    case TENSOR_LOAD_OP: return load_fault(a, op, n);
    case TENSOR_INDEX_OP: {
        ir_dtype t = tensor_typeof(op, n->args[0]).type;
        if (n->type.type != DT_INDEX || n->type.space >= op->spaces.len)
            return "'index' gives a position in a space";
        return t == DT_I64 || t == DT_INDEX ? NULL
                                            : arena_printf(a, "'index' of %s", ir_dtype_text(t));
    }
    case TENSOR_SELECT_OP: return select_fault(a, op, n);
    case TENSOR_CVT_OP: return cvt_fault(a, op, n);
    case TENSOR_ROUND_OP: return round_fault(a, op, n);
    case TENSOR_TF32_OP:
    case TENSOR_PARTS_OP: return args_are_fault(a, op, n, TENSOR_TYPE(F32));
    case TENSOR_BIT_OP: return args_are_fault(a, op, n, TENSOR_TYPE(I64));
    case TENSOR_RAND_OP:
        return n->nargs ? args_are_fault(a, op, n, TENSOR_TYPE(I64)) : "'rand' takes a seed";
    case TENSOR_STOP_OP: return NULL;
    case TENSOR_PREIMAGE_OP:
        return is_map(op, n->imm.i) && n->imm2 >= 0 && n->imm2 <= 2
                   ? NULL
                   : "'preimage' takes a statistic and a map";
    case TENSOR_AT_LEAST_OP:
        return is_map(op, n->imm.i) && n->imm2 >= 0 ? NULL : "'at_least' takes a map and a number";
    case TENSOR_CUT_PARTS_OP:
        return is_map(op, n->imm.i) && n->imm2 > 0 ? NULL
                                                   : "'cut_parts' takes a map and a number above 0";
    case TENSOR_SYMMETRIC_OP:
        return is_map(op, n->imm.i) && is_map(op, n->imm2) ? NULL : "'symmetric' takes two maps";
    default: ICE("'%s' has no type rule", tensor_op_table((tensor_opcode)n->op)->text);
    }
}

const char *tensor_node_fault(arena *a, const tensor_op *op, const tensor_node *n) {
    const tensor_op_info *info = tensor_op_table((tensor_opcode)n->op);
    if (info->args >= 0 && n->nargs != (uint32_t)info->args)
        return arena_printf(a, "'%s' takes %d argument%s, not %u", info->text, info->args,
                            info->args == 1 ? "" : "s", (unsigned)n->nargs);
    const char *fault = NULL;
    switch ((tensor_op_kind)info->kind) {
    case TENSOR_LEAF: fault = leaf_fault(a, op, n); break;
    case TENSOR_ARITH: fault = arith_fault(a, op, n); break;
    case TENSOR_COMPARE: fault = compare_fault(a, op, n); break;
    case TENSOR_LOGIC: fault = args_are_fault(a, op, n, TENSOR_TYPE(BOOL)); break;
    case TENSOR_MATHS: fault = maths_fault(a, op, n); break;
    case TENSOR_OTHER: fault = other_fault(a, op, n); break;
    }
    if (fault || tensor_type_equal(tensor_result_type(op, n), n->type)) return fault;
    return arena_printf(a, "'%s' does not give %s", info->text, tensor_type_text(a, op, n->type));
}

tensor_at tensor_target_at(const tensor_op *op, tensor_expr index) {
    const tensor_node *n = tensor_node_at(op, index);
    if (n->op == TENSOR_VAR_OP) return (tensor_at){TENSOR_AT_VAR, (tensor_var)n->imm.i, 0};
    tensor_at other = {TENSOR_AT_OTHER, 0, 0};
    if (n->op != TENSOR_INDEX_OP) return other;
    n = tensor_node_at(op, n->args[0]);
    if (n->op == TENSOR_CONST_OP) return (tensor_at){TENSOR_AT_CONST, 0, n->imm.i};
    int64_t offset = 0;
    if (n->op == TENSOR_ADD_OP) {
        const tensor_node *by = tensor_node_at(op, n->args[1]);
        if (by->op != TENSOR_CONST_OP) return other;
        offset = by->imm.i;
        n = tensor_node_at(op, n->args[0]);
    }
    if (n->op == TENSOR_CVT_OP) n = tensor_node_at(op, n->args[0]);
    if (n->op != TENSOR_VAR_OP) return other;
    return (tensor_at){TENSOR_AT_STEP, (tensor_var)n->imm.i, offset};
}
