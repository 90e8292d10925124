// SIMT IR: one structured program per thread, the last form before LLVM. Nothing is implicit: widths, address
// spaces, rounding and barriers all stand in the text. Host code, GPU code and the simulator come from it by one
// walk each, so the three give the same bits.
//
// Enters: functions built with simt_build_* (by passes/) or read from text. Leaves: the same, verified.
// Memory: everything lives in the arena of its module.
//
//     simt_module *m = simt_module_new(a, "demo");
//     simt_func *f = simt_kernel_new(m, "copy", 256);
//     simt_value x = simt_param(f, "x", SIMT_PTR, SIMT_READONLY), y = simt_param(f, "y", SIMT_PTR, 0);
//     simt_builder b = simt_builder_at_end(f);
//     simt_value i = simt_build_sreg(&b, SREG_TID);
//     simt_build_store(&b, simt_build_addr(&b, y, i, 4, 0),
//                      simt_build_load(&b, SIMT_T(F32), simt_build_addr(&b, x, i, 4, 0)));
//     simt_build_return(&b, NULL, 0);
#ifndef GNNC_SIMT_H
#define GNNC_SIMT_H

#include "support/support.h"

// ---- Types -----------------------------------------------------------------------------------------------
// Element × lanes; lanes is 1, 2, 4, 8 or 16. pred is one bit, in registers only (in memory a bool is an i8).
// Pointers carry their address space as their element and are scalars.
#define SIMT_ELEMENTS(X)                                                                                    \
    X(NONE, "none", 0) X(PRED, "pred", 1) X(I8, "i8", 8) X(I16, "i16", 16) X(I32, "i32", 32)                \
    X(I64, "i64", 64) X(F16, "f16", 16) X(BF16, "bf16", 16) X(F32, "f32", 32) X(F64, "f64", 64)             \
    X(PTR_GLOBAL, "ptr.global", 64) X(PTR_SHARED, "ptr.shared", 64) X(PTR_LOCAL, "ptr.local", 64)
typedef enum {
#define X(name, text, bits) SIMT_##name,
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
static inline bool simt_type_equal(simt_type a, simt_type b) { return a.element == b.element && a.lanes == b.lanes; }

// CVT: float to narrower float rounds to nearest even; float to integer truncates, saturates, NaN gives 0; integer
// to float rounds to nearest even; integers extend by sign (UCVT: by zero) or are cut; pred to integer or float
// gives 0 or 1; to pred: "is not zero".

// ---- Operations ------------------------------------------------------------------------------------------
typedef enum { RULE_NONE, RULE_GIVEN, RULE_SAME, RULE_SAME1, RULE_SECOND, RULE_THIRD, RULE_PRED, RULE_I32 } simt_rule;
enum {
    SIMT_PURE = 1, SIMT_READS = 2, SIMT_WRITES = 4, SIMT_CONVERGENT = 8, SIMT_BLOCKWIDE = 16, SIMT_TERMINATOR = 32
};
typedef enum {
#define SIMT_OP(op, text, args, results, rule, flags) SIMT_##op,
#include "simt.def"
#undef SIMT_OP
    SIMT_OP_COUNT
} simt_op;
typedef struct {
    const char *text;
    int8_t args, results;
    uint8_t rule, flags;
} simt_op_info;
const simt_op_info *simt_op_table(simt_op op);
static inline bool simt_is_group(uint16_t op) {   // of four warps
    return op == SIMT_MMA_GROUP || op == SIMT_MMA_ROWS || op == SIMT_MMA_ROWS_TRANS || op == SIMT_MMA_ROWS_BOTH;
}

#define SIMT_SREGS(X) X(TID, "tid") X(NTID, "ntid") X(CTAID, "ctaid") X(NCTAID, "nctaid") X(LANEID, "laneid")
typedef enum {
#define X(name, text) SREG_##name,
    SIMT_SREGS(X)
#undef X
    SREG_COUNT
} simt_sreg;
// Float predicates but NE are false on NaN; NE is true on NaN. U*: unsigned integers.
#define SIMT_PREDICATES(X)                                                                                  \
    X(EQ, "eq") X(NE, "ne") X(LT, "lt") X(LE, "le") X(GT, "gt") X(GE, "ge")                                 \
    X(ULT, "ult") X(ULE, "ule") X(UGT, "ugt") X(UGE, "uge")
typedef enum {
#define X(name, text) SIMT_##name,
    SIMT_PREDICATES(X)
#undef X
    SIMT_PREDICATE_COUNT
} simt_predicate;
#define SIMT_ATOMICS(X) X(ADD, "add") X(MIN, "min") X(MAX, "max") X(AND, "and") X(OR, "or") X(EXCH, "exch")
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
typedef enum { SIMT_CACHE_DEFAULT, SIMT_CACHE_STREAM, SIMT_CACHE_REUSE, SIMT_CACHE_BYPASS } simt_cache;
const char *simt_cache_text(simt_cache c);   // NULL past the last

typedef enum { SIMT_LOOP_FREE, SIMT_LOOP_ROLLED } simt_loop;   // FOR: may the assembler unroll it?
typedef enum { SIMT_IF_NEEDED, SIMT_IF_MASK, SIMT_IF_RARE } simt_mask;   // IF: MASK: what it loads as invariant may be loaded without it; RARE: hardly ever

// ---- Matrix operations of a warp (mma.def) ---------------------------------------------------------------
typedef enum { SIMT_MMA_A, SIMT_MMA_B, SIMT_MMA_C } simt_mma_operand;   // the arguments of MMA; D is held as C is
typedef struct {
    const char *text, *shape, *operand;   // "m16n8k16.f16" and its parts
    uint8_t m, n, k;
    uint8_t element;   // of A and B
    uint8_t warps;     // that do it together
    uint8_t roundings; // of a term of a sum by it
    uint16_t arch;
    uint8_t held[3];   // elements of each operand that a lane holds
    uint8_t by;        // simt_mma that does it, in three where it is another: of factors that are taken apart
} simt_mma_info;
typedef struct {
    uint32_t row, column;
} simt_mma_place;
const simt_mma_info *simt_mma_table(simt_mma k);
static inline bool simt_mma_splits(simt_mma k) { return simt_mma_table(k)->by != k; }
uint32_t simt_mma_word(simt_mma k);   // numbers that a register has as A and B are multiplied: of their element, or of that of which two are one
bool simt_mma_runs(simt_mma k, uint32_t sm, bool own);   // on sm_SM; own: on sm_SMa, which has what no later one does
simt_type simt_mma_type(simt_mma k, simt_mma_operand o);   // a vector of what a lane holds
simt_mma_place simt_mma_at(simt_mma k, simt_mma_operand o, uint32_t lane, uint32_t element);
// Of operations of several warps, bytes of shared memory that a piece of B takes: word w of what lane l holds of it lies at 128 w + 4 l.
uint32_t simt_mma_piece_bytes(simt_mma k);
// Of MMA_ROWS, where a byte of a row lies from the first one, which is at a multiple of SIMT_PANEL_ALIGN: a panel has SIMT_PANEL_ROW bytes of each
// row, row after row, whose pieces of 16 bytes change places with the row's number, so that those of eight rows are in banks of their own.
enum { SIMT_PANEL_ROW = 128, SIMT_PANEL_ALIGN = 1024, SIMT_GROUP_ROWS = 64 };
uint32_t simt_mma_row_at(uint32_t rows, uint32_t row, uint32_t byte);

// ---- Functions -------------------------------------------------------------------------------------------
typedef uint32_t simt_value;    // 0: none
typedef uint32_t simt_instr;    // 0: none
typedef uint32_t simt_region;   // 0: none

typedef struct {
    uint16_t align;   // bytes; 0: the size of the whole access
    uint16_t scale;   // ADDR: bytes per index step; MMA_ROWS: rows of a panel
    uint8_t cache;    // simt_cache
    bool invariant;   // LD: no store of this launch reaches it
    bool pinned;      // LD: is asked for where it stands: long before its use, where an assembler would put it off, or in each round of a
                      // loop that reads it alike, before which it would take registers
} simt_mem;

typedef struct {
    uint16_t op;      // simt_op
    uint16_t nargs, nresults, nregions;
    uint32_t aux;     // predicate, sreg, atomic, scope
    simt_value *args, *results;
    simt_region *regions;
    union {
        int64_t i;
        double f;     // CONST of a float type
    } imm;
    simt_mem mem;
    span at;          // the .gnn text it comes from; reaches PTX line info
} simt_instr_info;

// Of an operation of four warps, the arguments before C: where B is, and A; of numbers taken apart, first what they are to the nearest, then
// what that leaves.
static inline uint32_t simt_group_planes(const simt_instr_info *i) { return simt_mma_splits((simt_mma)i->aux) ? 2 : 1; }   // numbers that one is taken apart in
static inline uint32_t simt_group_factors(const simt_instr_info *i) {
    return simt_group_planes(i) * (i->op == SIMT_MMA_ROWS_BOTH ? 2 : 1 + (uint32_t)i->imm.i);
}
static inline uint32_t simt_group_pieces(const simt_instr_info *i) { return i->nresults / simt_group_planes(i); }
static inline uint32_t simt_group_pointers(const simt_instr_info *i) { return simt_group_planes(i) * (i->op == SIMT_MMA_ROWS_BOTH ? 2 : 1); }

typedef struct {
    simt_type type;
    simt_instr def;       // the instruction it is a result of; 0 for parameters
    simt_region region;   // for a region's parameter; 0 with def 0: a parameter of the function
    uint16_t index;       // which result or parameter
    const char *name;     // for the text form; unique in its function, may be NULL (then printed as %N)
} simt_value_info;

typedef struct {
    VEC(simt_value) params;
    VEC(simt_instr) instrs;   // the last one is the terminator
} simt_region_info;

enum { SIMT_READONLY = 1, SIMT_NOALIAS = 2 };   // of pointer parameters, for the whole launch
typedef struct {
    const char *name;
    simt_value value;
    uint32_t flags;
} simt_param_info;

enum { SIMT_MOST_THREADS = 2048 };   // that a multiprocessor of any GPU so far has room for
typedef struct simt_module simt_module;
typedef struct {
    simt_module *module;
    const char *name;
    bool kernel;
    uint32_t block;          // kernels: threads of a block on a GPU (the host runs blocks of one thread)
    uint32_t shared_bytes;   // kernels: shared memory of a block
    uint32_t occupancy;      // kernels: threads a GPU's multiprocessor should have room for; 0: not said
    bool fits;               // or for fewer, where it needs more registers than that leaves
    VEC(simt_param_info) params;
    VEC(simt_type) results;             // functions
    VEC(simt_value_info) values;        // [0] unused
    VEC(simt_instr_info) instrs;        // [0] unused
    VEC(simt_region_info) regions;      // [0] unused; [1] the body
    struct simt_constants *constants;   // the builder's index of the constants at the start of the body
    span at;
} simt_func;

struct simt_module {
    arena *arena;
    const char *name;
    VEC(simt_func *) funcs;   // in order of definition; CALL's handle is the position here. No function reaches itself
};

simt_module *simt_module_new(arena *a, const char *name);
simt_func *simt_kernel_new(simt_module *m, const char *name, uint32_t block);
simt_func *simt_func_new(simt_module *m, const char *name, const simt_type *results, uint32_t nresults);
simt_func *simt_func_find(const simt_module *m, const char *name);
simt_value simt_param(simt_func *f, const char *name, simt_type type, uint32_t flags);
#define SIMT_PTR SIMT_T(PTR_GLOBAL)

// A function of the scalar maths library (math.simt): "exp", "log", "pow", "tanh", "sin", "cos", "erf" … for SIMT_F32
// or SIMT_F64, copied with its callees into m at first use. NULL if there is none of that name.
simt_func *simt_math(simt_module *m, const char *name, simt_element e);

// ---- Building --------------------------------------------------------------------------------------------
// A builder appends to one region. Constants and types must agree exactly; a mismatch is an ICE. Pure operations on
// constants fold and identical constants are shared.
typedef struct {
    simt_func *func;
    simt_region region;
    span at;   // given to what is built
} simt_builder;
simt_builder simt_builder_at_end(simt_func *f);                    // in the body
static inline simt_type simt_typeof(const simt_func *f, simt_value v) { return f->values.data[v].type; }

simt_value simt_build_int(simt_builder *b, simt_type t, int64_t x);
simt_value simt_build_float(simt_builder *b, simt_type t, double x);    // x is rounded to nearest even into t
simt_value simt_build_pred(simt_builder *b, bool x);
simt_value simt_build_sreg(simt_builder *b, simt_sreg r);
simt_value simt_build_unary(simt_builder *b, simt_op op, simt_value x);
simt_value simt_build_binary(simt_builder *b, simt_op op, simt_value x, simt_value y);
simt_value simt_build_with(simt_builder *b, simt_op op, simt_value x, int64_t y);   // y of the type of x
simt_value simt_build_fma(simt_builder *b, simt_value x, simt_value y, simt_value z);
simt_value simt_build_mma(simt_builder *b, simt_mma k, simt_value x, simt_value y, simt_value z);   // x y + z
simt_value simt_build_cmp(simt_builder *b, simt_predicate p, simt_value x, simt_value y);
simt_value simt_build_select(simt_builder *b, simt_value c, simt_value x, simt_value y);
simt_value simt_build_cvt(simt_builder *b, simt_type t, simt_value x);        // x itself where it has that type
simt_value simt_build_ucvt(simt_builder *b, simt_type t, simt_value x);
simt_value simt_build_bitcast(simt_builder *b, simt_type t, simt_value x);
simt_value simt_build_addr(simt_builder *b, simt_value ptr, simt_value index, uint32_t scale, int64_t offset);
simt_value simt_build_load(simt_builder *b, simt_type t, simt_value ptr);
void simt_build_store(simt_builder *b, simt_value ptr, simt_value x);
simt_value simt_build_call(simt_builder *b, const simt_func *callee, const simt_value *args, uint32_t n);   // one result
// Any other operation: results by type; returns the instruction, whose attributes may then be set.
simt_instr simt_build_op(simt_builder *b, simt_op op, const simt_value *args, uint32_t nargs, const simt_type *results,
                         uint32_t nresults);
simt_value simt_result(const simt_func *f, simt_instr i, uint32_t k);
// The bits a float constant (imm.f) has in its format, NaN payloads included.
uint64_t simt_const_bits(simt_element e, double x);
void simt_build_return(simt_builder *b, const simt_value *values, uint32_t n);
void simt_build_yield(simt_builder *b, const simt_value *values, uint32_t n);

// for (i = lo; i < hi; i += step) with carried values: builds the loop and gives a builder inside its body.
//     simt_builder in = simt_build_for(&b, lo, hi, step, init, 1, &loop);
//     simt_value i = simt_for_index(f, loop), acc = simt_for_carried(f, loop, 0);
//     ... simt_build_yield(&in, &next, 1);      simt_value sum = simt_result(f, loop, 0);
simt_builder simt_build_for(simt_builder *b, simt_value lo, simt_value hi, simt_value step, const simt_value *init,
                            uint32_t n, simt_instr *loop);
simt_value simt_for_index(const simt_func *f, simt_instr loop);
simt_value simt_for_carried(const simt_func *f, simt_instr loop, uint32_t k);
// while: `test` yields pred then n values; where pred holds they enter `body`, which yields the next n, else they are
// the results. simt_while_carried gives what test (in_body false) or body (true) got.
simt_instr simt_build_while(simt_builder *b, const simt_value *init, uint32_t n, simt_builder *test, simt_builder *body);
simt_value simt_while_carried(const simt_func *f, simt_instr loop, bool in_body, uint32_t k);
// Both arms must be ended by simt_build_yield with values of the given types. else_arm may be NULL where n is 0.
simt_instr simt_build_if(simt_builder *b, simt_value condition, const simt_type *results, uint32_t n,
                         simt_builder *then_arm, simt_builder *else_arm);

// ---- Text and verification -------------------------------------------------------------------------------
void simt_print(textbuf *out, const simt_module *m);
// Reads the text form; faults go to ds with their position and give NULL. What simt_print writes, simt_parse reads
// back to the same text.
simt_module *simt_parse(arena *a, diag_set *ds, const source_file *text);
// Types, dominance, terminators, attributes, and uniformity: warp operations stand only where the whole warp arrives,
// barriers only where the whole block does. Returns NULL, or what is wrong, in words.
const char *simt_verify(arena *a, const simt_module *m);
bool simt_too_deep(const simt_module *m);   // regions nest deeper than the verifier lets them
typedef enum { UNIFORM_GRID, UNIFORM_BLOCK, UNIFORM_WARP, UNIFORM_LANE } simt_uniformity;   // equal over …; LANE: may differ
// The same code, of one module, whatever it and its values are called.
bool simt_func_equal(const simt_func *f, const simt_func *g);
bool simt_func_alike(const simt_func *f, const simt_func *g);   // wherever its text stands
// What f does through each of its parameters; an array of f->params.len.
enum { SIMT_PARAM_READ = 1, SIMT_PARAM_WRITTEN = 2 };
const uint8_t *simt_accesses_of(arena *a, const simt_func *f);
// Likewise an instruction alone, in global memory.
typedef struct {
    uint8_t does;      // SIMT_PARAM_READ …; 0: nothing
    uint8_t element;   // simt_element that it reads or writes; SIMT_NONE: bytes
    int64_t param;     // that the pointer is derived from; -1: it may be any
} simt_access;
simt_access simt_access_of(const simt_func *f, const simt_instr_info *i);
void simt_access_add(const simt_func *f, simt_access x, uint8_t *of);   // of: for each parameter
// What is loaded as invariant, and alike in every round of a loop, moves before the loop.
void simt_hoist(simt_func *f);
// What lies in memory that the launch before has written is asked for where the kernel has waited for it.
void simt_ask_early(simt_func *f);
// For each value of f how far it is equal; an array of f->values.len entries.
const uint8_t *simt_uniformity_of(arena *a, const simt_func *f);

#endif
