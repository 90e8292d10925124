// Operations of scalar expressions on the values of their arguments: all that both lowerings make
// alike. An operation that tensor IR gets has its SIMT code here.
#include "base/scalar.h"

simt_element scalar_value_element(ir_dtype t, simt_element index) {
    if (t == DT_BOOL) return SIMT_PRED;
    if (t == DT_INDEX) return index;
    return t == DT_I32 ? SIMT_I64 : ir_dtype_element(t, 0);
}

// ---- Forms --------------------------------------------------------------------------------------
static simt_value constant(simt_builder *b, const scalar_types *t, const tensor_node *n) {
    simt_type one = {scalar_value_element(n->type.type, t->index), 1};
    if (ir_dtype_is_float(n->type.type)) return simt_build_float(b, one, n->imm.f);
    return n->type.type == DT_BOOL ? simt_build_pred(b, n->imm.i != 0)
                                   : simt_build_int(b, one, n->imm.i);
}

static simt_value compare(simt_builder *b, simt_predicate p, simt_value x, simt_value y) {
    if (simt_typeof(b->func, x).element == SIMT_PRED) {   // conditions compare as 0 and 1
        x = simt_as(b, SIMT_I32, x);
        y = simt_as(b, SIMT_I32, y);
    }
    simt_match(b, &x, &y);
    return simt_build_cmp(b, p, x, y);
}

static simt_value floored(simt_builder *b, bool quotient, simt_value x, simt_value y) {
    simt_match(b, &x, &y);
    return quotient ? scalar_quot(b, x, y) : scalar_mod(b, x, y);
}

static simt_value rounded(simt_builder *b, const scalar_types *t, const tensor_node *n,
                          simt_value x) {
    x = simt_as(b, ir_dtype_element((ir_dtype)n->imm.i, t->index_bits), x);
    return simt_as(b, scalar_value_element(n->type.type, t->index), x);
}

// The maths library is scalar: each lane is a call. It has none of 16 bits, whose is that of f32.
simt_value scalar_maths(simt_builder *b, const char *name, const simt_value *x, uint32_t n) {
    simt_element given = (simt_element)simt_typeof(b->func, x[0]).element;
    if (given == SIMT_F16 || given == SIMT_BF16) {
        simt_value wide[2] = {0, 0};
        for (uint32_t i = 0; i < n; i++) wide[i] = simt_as(b, SIMT_F32, x[i]);
        return simt_as(b, given, scalar_maths(b, name, wide, n));
    }
    simt_func *f = simt_math(b->func->module, name,
                             (simt_element)simt_typeof(b->func, x[0]).element);
    if (!f) ICE("the maths library has no '%s'", name);
    simt_value of[16];
    uint32_t lanes = 1;
    for (uint32_t i = 0; i < n; i++)
        if (simt_lanes_of(b, x[i]) > lanes) lanes = simt_lanes_of(b, x[i]);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        simt_value one[2] = {0, 0};
        for (uint32_t i = 0; i < n; i++) one[i] = simt_pick(b, x[i], lane);
        of[lane] = simt_build_call(b, f, one, n);
    }
    return simt_gather(b, of, lanes);
}

// ---- All ----------------------------------------------------------------------------------------
simt_value scalar_plain(simt_builder *b, const scalar_types *t, const tensor_node *n,
                        const simt_value *x) {
    switch ((tensor_opcode)n->op) {
    case TENSOR_CONST_OP: return constant(b, t, n);
    case TENSOR_NONE_OP: return simt_build_int(b, (simt_type){t->index, 1}, -1);
    case TENSOR_INDEX_OP: return simt_as(b, t->index, x[0]);
    case TENSOR_PARTS_OP:   // whoever has it multiplied by parts takes it apart
    case TENSOR_STOP_OP: return x[0];
    case TENSOR_ADD_OP: return simt_two(b, SIMT_ADD, x[0], x[1]);
    case TENSOR_SUB_OP: return simt_two(b, SIMT_SUB, x[0], x[1]);
    case TENSOR_MUL_OP: return simt_two(b, SIMT_MUL, x[0], x[1]);
    case TENSOR_DIV_OP: return simt_two(b, SIMT_DIV, x[0], x[1]);
    case TENSOR_MIN_OP: return simt_two(b, SIMT_MIN, x[0], x[1]);
    case TENSOR_MAX_OP: return simt_two(b, SIMT_MAX, x[0], x[1]);
    case TENSOR_MOD_OP: return floored(b, false, x[0], x[1]);
    case TENSOR_QUOT_OP: return floored(b, true, x[0], x[1]);
    case TENSOR_BIT_OP: return scalar_bit(b, x[0], x[1]);
    case TENSOR_EQ_OP: return compare(b, SIMT_EQ, x[0], x[1]);
    case TENSOR_NE_OP: return compare(b, SIMT_NE, x[0], x[1]);
    case TENSOR_LT_OP: return compare(b, SIMT_LT, x[0], x[1]);
    case TENSOR_LE_OP: return compare(b, SIMT_LE, x[0], x[1]);
    case TENSOR_GT_OP: return compare(b, SIMT_GT, x[0], x[1]);
    case TENSOR_GE_OP: return compare(b, SIMT_GE, x[0], x[1]);
    case TENSOR_NEG_OP: return simt_build_unary(b, SIMT_NEG, x[0]);
    case TENSOR_NOT_OP: return simt_build_unary(b, SIMT_NOT, x[0]);
    case TENSOR_CVT_OP: return simt_as(b, scalar_value_element(n->type.type, t->index), x[0]);
    case TENSOR_ROUND_OP: return rounded(b, t, n, x[0]);
    case TENSOR_TF32_OP: return simt_build_unary(b, SIMT_CVT_TF32, x[0]);
    case TENSOR_SQRT_OP: return simt_build_unary(b, SIMT_SQRT, x[0]);
    case TENSOR_FLOOR_OP: return simt_build_unary(b, SIMT_FLOOR, x[0]);
    case TENSOR_CEIL_OP: return simt_build_unary(b, SIMT_CEIL, x[0]);
#define MATH(id, ...) case TENSOR_##id##_OP:
#include "math.def"
#undef MATH
        return scalar_maths(b, tensor_op_table((tensor_opcode)n->op)->text, x, n->nargs);
    case TENSOR_VAR_OP:   // from here on each lowering has its own way
    case TENSOR_SIZE_OP:
    case TENSOR_ARG_OP:
    case TENSOR_LEFT_OP:
    case TENSOR_RIGHT_OP:
    case TENSOR_LOAD_OP:
    case TENSOR_AND_OP:
    case TENSOR_OR_OP:
    case TENSOR_SELECT_OP:
    case TENSOR_RAND_OP:   // which hashes an argument before the next one is found
    case TENSOR_PREIMAGE_OP:
    case TENSOR_AT_LEAST_OP:
    case TENSOR_CUT_PARTS_OP:
    case TENSOR_SYMMETRIC_OP:
    case TENSOR_OP_COUNT: break;
    }
    ICE("'%s' stands outside a precondition", tensor_op_table((tensor_opcode)n->op)->text);
}
