// Expressions of tensor IR: handles, types, operations, nodes. tensor.h says what they mean.
#ifndef GNNC_TENSOR_EXPR_H
#define GNNC_TENSOR_EXPR_H

#include "program.h"
#include "tensor_set.h"

// ---- Handles ------------------------------------------------------------------------------------
typedef uint32_t tensor_space;   // into op->spaces
typedef uint32_t tensor_val;     // into op->vals
typedef uint32_t tensor_var;     // into op->vars
typedef uint32_t tensor_expr;    // into op->exprs; 0: none
#define TENSOR_NO_SPACE UINT32_MAX
#define TENSOR_NO_VAL UINT32_MAX

// ---- Types --------------------------------------------------------------------------------------
// Expressions have one of F64, F32, I64, BOOL and INDEX (with its space), and, where a schedule
// asks for it, BF16 and F16, in which there is arithmetic but no maths. Values in memory may be
// narrower: a load widens (bf16, f16 -> f32; i32 -> i64), storing a declared result rounds. Stages
// hold an expression type, so that nothing is rounded, or one of 16 bits that has all that they
// store.
typedef struct {
    ir_dtype type;
    tensor_space space;   // DT_INDEX: where it lies, none (-1) included; else TENSOR_NO_SPACE
} tensor_type;
#define TENSOR_TYPE(t) ((tensor_type){DT_##t, TENSOR_NO_SPACE})
static inline bool tensor_type_equal(tensor_type a, tensor_type b) {
    return a.type == b.type && a.space == b.space;
}
static inline bool tensor_type_is_narrow(tensor_type t) { return ir_dtype_is_narrow(t.type); }
static inline bool tensor_type_is_float(tensor_type t) { return ir_dtype_is_float(t.type); }
// what a load of it gives
tensor_type tensor_type_of_storage(ir_dtype storage, tensor_space space);

// ---- Expressions --------------------------------------------------------------------------------
typedef enum {
    TENSOR_LEAF,
    TENSOR_ARITH,
    TENSOR_COMPARE,
    TENSOR_LOGIC,
    TENSOR_MATHS,
    TENSOR_OTHER
} tensor_op_kind;
typedef enum {
#define TENSOR_OP(op, text, args, kind) TENSOR_##op##_OP,
#include "tensor.def"
#undef TENSOR_OP
    TENSOR_OP_COUNT
} tensor_opcode;   // TENSOR_ADD_OP …: suffixed so as not to meet the kinds
typedef struct {
    const char *text;
    int8_t args;
    uint8_t kind;
} tensor_op_info;
const tensor_op_info *tensor_op_table(tensor_opcode op);
typedef struct {          // of a function of the maths library
    bool nan;             // of an argument that is NaN
    double ulps[2];       // it errs by, in f32 and in f64
    uint16_t length[2];   // in operations of SIMT IR, likewise
} tensor_maths;
const tensor_maths *tensor_maths_of(tensor_opcode op);   // NULL: it is none

typedef struct {
    uint16_t op;   // tensor_opcode
    uint16_t nargs;
    tensor_type type;
    // it, or an argument, holds how many entries of maps something has
    bool counted;
    const tensor_expr *args;
    union {
        int64_t i;
        double f;
    } imm;
    int64_t imm2;
    span at;
    // what the expression mentions and loads; told when it is made, as `counted` is
    const tensor_set *vars, *loads;
} tensor_node;

// rand(seed, i1, …, ik), on 64-bit words that wrap: h = mix(seed + G); h = mix((h ^ ij) + G) for
// each j; the result is (h >> 40) * 2^-24. G = 0x9e3779b97f4a7c15; mix(z): z ^= z >> 30; z *=
// 0xbf58476d1ce4e5b9; z ^= z >> 27; z *= 0x94d049bb133111eb; z ^= z >> 31 (splitmix64, Steele et
// al. 2014).

#endif
