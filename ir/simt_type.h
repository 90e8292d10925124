// Types and operations of SIMT IR (simt.def).
#ifndef GNNC_SIMT_TYPE_H
#define GNNC_SIMT_TYPE_H

#include "support/support.h"

// ---- Types --------------------------------------------------------------------------------------
// Element × lanes; lanes is 1, 2, 4, 8 or 16. pred is one bit, in registers only (in memory a bool
// is an i8). Pointers carry their address space as their element and are scalars.
#define SIMT_ELEMENTS(X)                                                                           \
    X(NONE, "none", 0, NOTHING)                                                                    \
    X(PRED, "pred", 1, PRED)                                                                       \
    X(I8, "i8", 8, INTEGER)                                                                        \
    X(I16, "i16", 16, INTEGER)                                                                     \
    X(I32, "i32", 32, INTEGER)                                                                     \
    X(I64, "i64", 64, INTEGER)                                                                     \
    X(F16, "f16", 16, FLOAT)                                                                       \
    X(BF16, "bf16", 16, FLOAT)                                                                     \
    X(F32, "f32", 32, FLOAT)                                                                       \
    X(F64, "f64", 64, FLOAT)                                                                       \
    X(PTR_GLOBAL, "ptr.global", 64, POINTER)                                                       \
    X(PTR_SHARED, "ptr.shared", 64, POINTER)                                                       \
    X(PTR_LOCAL, "ptr.local", 64, POINTER)
typedef enum {
#define X(name, text, bits, kind) SIMT_##name,
    SIMT_ELEMENTS(X)
#undef X
        SIMT_ELEMENT_COUNT
} simt_element;
typedef struct {
    uint8_t element;   // simt_element
    uint8_t lanes;     // 0 only with SIMT_NONE
} simt_type;
#define SIMT_T(e) ((simt_type){SIMT_##e, 1})
#define SIMT_VEC(e, n) ((simt_type){SIMT_##e, (n)})
const char *simt_element_text(simt_element e);
uint32_t simt_element_bits(simt_element e);
bool simt_is_float(simt_element e);
static inline bool simt_type_equal(simt_type a, simt_type b) {
    return a.element == b.element && a.lanes == b.lanes;
}

// CVT: float to narrower float rounds to nearest even; float to integer truncates, saturates, NaN
// gives 0; integer to float rounds to nearest even; integers extend by sign (UCVT: by zero) or are
// cut; pred to integer or float gives 0 or 1; to pred: "is not zero".

// ---- Operations ---------------------------------------------------------------------------------
typedef enum {
    RULE_NONE,
    RULE_GIVEN,
    RULE_SAME,
    RULE_SAME1,
    RULE_SECOND,
    RULE_THIRD,
    RULE_PRED,
    RULE_I32
} simt_rule;
typedef enum {   // kinds of types that an operation takes
    SIMT_TAKES_NOTHING = 0,
    SIMT_TAKES_INTEGER = 1,
    SIMT_TAKES_FLOAT = 2,
    SIMT_TAKES_PRED = 4,
    SIMT_TAKES_POINTER = 8,
    SIMT_TAKES_NUMBER = SIMT_TAKES_INTEGER | SIMT_TAKES_FLOAT,
    SIMT_TAKES_BITS = SIMT_TAKES_INTEGER | SIMT_TAKES_PRED,
    SIMT_TAKES_VALUE = SIMT_TAKES_NUMBER | SIMT_TAKES_PRED,
    SIMT_TAKES_ANY = SIMT_TAKES_VALUE | SIMT_TAKES_POINTER
} simt_kinds;
enum {
    SIMT_PURE = 1,
    SIMT_READS = 2,
    SIMT_WRITES = 4,
    SIMT_CONVERGENT = 8,
    SIMT_BLOCKWIDE = 16,
    SIMT_TERMINATOR = 32
};
typedef enum {
#define SIMT_OP(op, ...) SIMT_##op,
#include "simt.def"
#undef SIMT_OP
    SIMT_OP_COUNT
} simt_op;
typedef struct {
    const char *text;
    int8_t args, results;
    uint8_t rule, takes, flags;
} simt_op_info;
extern const simt_op_info simt_ops[SIMT_OP_COUNT];   // asked by the million: simt_op_table
static inline const simt_op_info *simt_op_table(simt_op op) { return &simt_ops[op]; }
static inline bool simt_is_group(uint16_t op) {   // of four warps
    return op == SIMT_MMA_GROUP || op == SIMT_MMA_ROWS || op == SIMT_MMA_ROWS_TRANS ||
           op == SIMT_MMA_ROWS_BOTH;
}

#define SIMT_SREGS(X)                                                                              \
    X(TID, "tid") X(NTID, "ntid") X(CTAID, "ctaid") X(NCTAID, "nctaid") X(LANEID, "laneid")
typedef enum {
#define X(name, text) SREG_##name,
    SIMT_SREGS(X)
#undef X
        SREG_COUNT
} simt_sreg;
// Float predicates but NE are false on NaN; NE is true on NaN. U*: unsigned integers.
#define SIMT_PREDICATES(X)                                                                         \
    X(EQ, "eq")                                                                                    \
    X(NE, "ne")                                                                                    \
    X(LT, "lt")                                                                                    \
    X(LE, "le")                                                                                    \
    X(GT, "gt")                                                                                    \
    X(GE, "ge")                                                                                    \
    X(ULT, "ult")                                                                                  \
    X(ULE, "ule")                                                                                  \
    X(UGT, "ugt")                                                                                  \
    X(UGE, "uge")
typedef enum {
#define X(name, text) SIMT_##name,
    SIMT_PREDICATES(X)
#undef X
        SIMT_PREDICATE_COUNT
} simt_predicate;
#define SIMT_ATOMICS(X)                                                                            \
    X(ADD, "add") X(MIN, "min") X(MAX, "max") X(AND, "and") X(OR, "or") X(EXCH, "exch")
typedef enum {
#define X(name, text) SIMT_ATOMIC_##name,
    SIMT_ATOMICS(X)
#undef X
        SIMT_ATOMIC_COUNT
} simt_atomic;
typedef enum { SIMT_SCOPE_BLOCK, SIMT_SCOPE_DEVICE } simt_scope;
typedef enum {
#define MMA(id, ...) SIMT_MMA_##id,
#include "mma.def"
#undef MMA
    SIMT_MMA_COUNT
} simt_mma;
typedef enum {
    SIMT_CACHE_DEFAULT,
    SIMT_CACHE_STREAM,
    SIMT_CACHE_REUSE,
    SIMT_CACHE_BYPASS
} simt_cache;
const char *simt_cache_text(simt_cache c);   // NULL past the last

typedef enum { SIMT_LOOP_FREE, SIMT_LOOP_ROLLED } simt_loop;   // FOR: may the assembler unroll it?
// IF: MASK: what it loads as invariant may be loaded without it; RARE: hardly ever
typedef enum { SIMT_IF_NEEDED, SIMT_IF_MASK, SIMT_IF_RARE } simt_mask;

#endif
