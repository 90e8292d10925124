// Constant folding of tensor IR: only what every target computes to the very same bits.
//
//     add(1, 2) -> 3      mul(x, 1f32) -> x      add(0.1f32, 0.2f32) stays: it rounds
#include "tensor_internal.h"

#include <math.h>
#include <string.h>

static const tensor_node *constant(const tensor_op *op, tensor_expr e) {
    const tensor_node *n = tensor_node_at(op, e);
    return n->op == TENSOR_CONST_OP ? n : NULL;
}

// Likewise, or an index that is one, of its space.
static const tensor_node *number(const tensor_op *op, tensor_expr e) {
    const tensor_node *n = tensor_node_at(op, e);
    if (n->op != TENSOR_INDEX_OP) return constant(op, e);
    const tensor_node *x = constant(op, n->args[0]);
    const tensor_space_info *s = &op->spaces.data[n->type.space];
    return x && s->kind == SPACE_CONST && x->imm.i >= 0 && x->imm.i < s->size ? x : NULL;
}

static bool is_int(const tensor_node *c, int64_t x) {
    return c && c->type.type == DT_I64 && c->imm.i == x;
}
static bool is_float(const tensor_node *c, double x) {
    return c && tensor_type_is_float(c->type) && c->imm.f == x;
}
static bool is_one(const tensor_node *c) { return is_int(c, 1) || is_float(c, 1.0); }

static int64_t floor_mod(int64_t x, int64_t y) {
    if (y == 0 || y == -1) return 0;
    int64_t r = x % y;
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static int64_t floor_quot(int64_t x, int64_t y) {
    if (y == 0) return 0;
    return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y - (x % y != 0 && (x < 0) != (y < 0));
}

static tensor_expr fold_ints(tensor_op *op, tensor_opcode o, int64_t x, int64_t y) {
    uint64_t a = (uint64_t)x, b = (uint64_t)y;
    switch (o) {
    case TENSOR_ADD_OP: return tensor_int(op, (int64_t)(a + b));
    case TENSOR_SUB_OP: return tensor_int(op, (int64_t)(a - b));
    case TENSOR_MUL_OP: return tensor_int(op, (int64_t)(a * b));
    case TENSOR_MOD_OP: return tensor_int(op, floor_mod(x, y));
    case TENSOR_QUOT_OP: return tensor_int(op, floor_quot(x, y));
    case TENSOR_MIN_OP: return tensor_int(op, x < y ? x : y);
    case TENSOR_MAX_OP: return tensor_int(op, x > y ? x : y);
    case TENSOR_NEG_OP: return tensor_int(op, (int64_t)(0 - a));
    default: return 0;
    }
}

// Whether r = x o y without rounding, judged by the rounding error (Dekker's TwoSum, or an fma).
static bool is_exact(tensor_opcode o, double x, double y, double r) {
    if (o == TENSOR_SUB_OP) return is_exact(TENSOR_ADD_OP, x, -y, r);
    if (o == TENSOR_ADD_OP) {
        double z = r - x;
        return (x - (r - z)) + (y - z) == 0;
    }
    if (x == 0 || y == 0) return true;
    if (fabs(r) < 0x1p-900 || fabs(x) < 0x1p-900 || fabs(r) > 0x1p900)
        return false;   // the error itself could underflow
    return o == TENSOR_MUL_OP ? fma(x, y, -r) == 0 : fma(r, y, -x) == 0;
}

static tensor_expr fold_rounding(tensor_op *op, tensor_opcode o, ir_dtype type, double x,
                                 double y) {
    if (!isfinite(x) || !isfinite(y) || (o == TENSOR_DIV_OP && y == 0)) return 0;
    double r = o == TENSOR_ADD_OP   ? x + y
               : o == TENSOR_SUB_OP ? x - y
               : o == TENSOR_MUL_OP ? x * y
                                    : x / y;
    if (!isfinite(r) || !is_exact(o, x, y, r)) return 0;
    if (ir_dtype_round(type, r) != r) return 0;
    return tensor_float(op, type, r);
}

static tensor_expr fold_floats(tensor_op *op, tensor_opcode o, ir_dtype type, double x, double y) {
    switch (o) {
    case TENSOR_ADD_OP:
    case TENSOR_SUB_OP:
    case TENSOR_MUL_OP:
    case TENSOR_DIV_OP: return fold_rounding(op, o, type, x, y);
    case TENSOR_MIN_OP:
    case TENSOR_MAX_OP: {
        if (isnan(x) || isnan(y)) return tensor_float(op, type, (double)NAN);
        bool less = x < y || (x == y && signbit(x) && !signbit(y));
        return tensor_float(op, type, less == (o == TENSOR_MIN_OP) ? x : y);
    }
    case TENSOR_NEG_OP: return tensor_float(op, type, -x);
    case TENSOR_FLOOR_OP: return tensor_float(op, type, floor(x));
    case TENSOR_CEIL_OP: return tensor_float(op, type, ceil(x));
    case TENSOR_SQRT_OP: {
        double r = sqrt(x);
        bool exact = x > 0x1p-900 && isfinite(x) && fma(r, r, -x) == 0 &&
                     (type == DT_F64 || (double)(float)r == r);
        return exact ? tensor_float(op, type, r) : 0;
    }
    default: return 0;
    }
}

static tensor_expr fold_arith(tensor_op *op, const tensor_node *n) {
    const tensor_node *x = constant(op, n->args[0]),
                      *y = n->nargs > 1 ? constant(op, n->args[1]) : x;
    if (x && y)
        return n->type.type == DT_I64
                   ? fold_ints(op, (tensor_opcode)n->op, x->imm.i, y->imm.i)
                   : fold_floats(op, (tensor_opcode)n->op, n->type.type, x->imm.f, y->imm.f);
    switch (n->op) {
    case TENSOR_ADD_OP: return is_int(y, 0) ? n->args[0] : is_int(x, 0) ? n->args[1] : 0;
    case TENSOR_SUB_OP: return is_int(y, 0) ? n->args[0] : 0;
    case TENSOR_MUL_OP: return is_one(y) ? n->args[0] : is_one(x) ? n->args[1] : 0;
    case TENSOR_DIV_OP: return is_one(y) ? n->args[0] : 0;
    case TENSOR_MIN_OP:
    case TENSOR_MAX_OP: return n->args[0] == n->args[1] ? n->args[0] : 0;
    case TENSOR_NEG_OP: {
        const tensor_node *inner = tensor_node_at(op, n->args[0]);
        return inner->op == TENSOR_NEG_OP ? inner->args[0] : 0;
    }
    default: return 0;
    }
}

static bool holds(tensor_opcode o, bool less, bool equal, bool greater) {
    switch (o) {
    case TENSOR_EQ_OP: return equal;
    case TENSOR_NE_OP: return !equal;
    case TENSOR_LT_OP: return less;
    case TENSOR_LE_OP: return less || equal;
    case TENSOR_GT_OP: return greater;
    case TENSOR_GE_OP: return greater || equal;
    default: ICE("not a comparison");
    }
}

static tensor_expr fold_compare(tensor_op *op, const tensor_node *n) {
    const tensor_node *x = number(op, n->args[0]), *y = number(op, n->args[1]);
    bool is_float_type = tensor_type_is_float(tensor_typeof(op, n->args[0]));
    if (n->args[0] == n->args[1] && !is_float_type)
        return tensor_bool(op, holds((tensor_opcode)n->op, false, true, false));
    if (!x || !y) return 0;
    if (is_float_type) {
        double a = x->imm.f, b = y->imm.f;
        return tensor_bool(op, holds((tensor_opcode)n->op, a<b, a == b, a> b));
    }
    int64_t a = x->imm.i, b = y->imm.i;
    return tensor_bool(op, holds((tensor_opcode)n->op, a<b, a == b, a> b));
}

static tensor_expr fold_logic(tensor_op *op, const tensor_node *n) {
    const tensor_node *x = constant(op, n->args[0]);
    if (n->op == TENSOR_NOT_OP) {
        const tensor_node *inner = tensor_node_at(op, n->args[0]);
        if (inner->op == TENSOR_NOT_OP) return inner->args[0];
        return x ? tensor_bool(op, !x->imm.i) : 0;
    }
    bool neutral = n->op == TENSOR_AND_OP;   // true for and, false for or
    const tensor_node *y = constant(op, n->args[1]);
    if (x) return (x->imm.i != 0) == neutral ? n->args[1] : n->args[0];
    if (y && (y->imm.i != 0) == neutral) return n->args[0];
    return n->args[0] == n->args[1] ? n->args[0] : 0;
}

static int64_t truncate_saturating(double x) {
    if (isnan(x)) return 0;
    if (x >= 0x1p63) return INT64_MAX;
    return x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

static tensor_expr fold_to_float(tensor_op *op, ir_dtype to, const tensor_node *x) {
    if (tensor_type_is_float(x->type)) {
        bool exact = isnan(x->imm.f) || ir_dtype_round(to, x->imm.f) == x->imm.f;
        return exact ? tensor_float(op, to, x->imm.f) : 0;
    }
    int64_t limit = INT64_C(1) << ir_dtype_table(to)->precision;
    return x->imm.i >= -limit && x->imm.i <= limit ? tensor_float(op, to, (double)x->imm.i) : 0;
}

static tensor_expr fold_cvt(tensor_op *op, const tensor_node *n) {
    if (tensor_type_equal(n->type, tensor_typeof(op, n->args[0]))) return n->args[0];
    const tensor_node *x = number(op, n->args[0]);
    if (!x) return 0;
    bool from_float = tensor_type_is_float(x->type);
    if (n->type.type == DT_BOOL) return tensor_bool(op, from_float ? x->imm.f != 0 : x->imm.i != 0);
    if (n->type.type == DT_I64)
        return tensor_int(op, from_float ? truncate_saturating(x->imm.f) : x->imm.i);
    return fold_to_float(op, n->type.type, x);
}

static tensor_expr fold_index(tensor_op *op, const tensor_node *n) {
    tensor_expr x = n->args[0];
    if (tensor_type_equal(n->type, tensor_typeof(op, x))) return x;
    const tensor_node *inner = tensor_node_at(op, x);
    bool same = inner->op == TENSOR_CVT_OP &&
                tensor_type_equal(n->type, tensor_typeof(op, inner->args[0]));
    return same ? inner->args[0] : 0;
}

static tensor_expr fold_round(tensor_op *op, const tensor_node *n) {
    if (n->imm.i == n->type.type) return n->args[0];
    const tensor_node *x = constant(op, n->args[0]);
    if (!x) return 0;
    if (n->imm.i == DT_I32) return tensor_int(op, (int64_t)(int32_t)(uint32_t)(uint64_t)x->imm.i);
    return n->imm.i == DT_F32 ? tensor_float(op, DT_F64, (double)(float)x->imm.f) : 0;
}

tensor_expr tensor_fold(tensor_op *op, const tensor_node *n) {
    switch ((tensor_op_kind)tensor_op_table((tensor_opcode)n->op)->kind) {
    case TENSOR_LEAF: return 0;
    case TENSOR_ARITH:
    case TENSOR_MATHS: return fold_arith(op, n);
    case TENSOR_COMPARE: return fold_compare(op, n);
    case TENSOR_LOGIC: return fold_logic(op, n);
    case TENSOR_OTHER: break;
    }
    switch (n->op) {
    case TENSOR_SELECT_OP: {
        const tensor_node *c = constant(op, n->args[0]);
        if (n->args[1] == n->args[2]) return n->args[1];
        return c ? n->args[c->imm.i ? 1 : 2] : 0;
    }
    case TENSOR_CVT_OP: return fold_cvt(op, n);
    case TENSOR_INDEX_OP: return fold_index(op, n);
    case TENSOR_ROUND_OP: return fold_round(op, n);
    case TENSOR_TF32_OP: {
        const tensor_node *x = constant(op, n->args[0]);
        return x ? tensor_float(op, DT_F32, ir_tf32_round(x->imm.f)) : 0;
    }
    default: return 0;   // loads, rand, stop, factors by parts and preconditions
    }
}
