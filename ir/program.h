// A program: what an op compiles to for one target. It names what the caller hands over, what must be prepared once
// per graph, and which kernels run in which order over which memory. codegen/ turns its simt module into machine code
// and the rest into the manifest, which libgnnrt interprets; docs of the manifest: runtime/MANIFEST.md.
//
// Enters: built by passes/. Leaves: read-only. Memory: the arena it was made in.
#ifndef GNNC_PROGRAM_H
#define GNNC_PROGRAM_H

#include "simt.h"

typedef enum {
#define DTYPE(name, text, bytes) DT_##name,
#include "types.def"
#undef DTYPE
    DT_COUNT
} ir_dtype;
const char *ir_dtype_text(ir_dtype t);
uint32_t ir_dtype_bytes(ir_dtype t);   // 0 for an index
static inline bool ir_dtype_is_float(ir_dtype t) { return t <= DT_F16; }
double ir_dtype_round(ir_dtype to, double x);          // to the nearest float of that type, ties to even
double ir_tf32_round(double x);                        // to 11 significant bits in the range of f32, ties to even
bool ir_dtype_holds(ir_dtype wide, ir_dtype narrow);   // floats: one has every number of the other

// ---- Sizes -----------------------------------------------------------------------------------------------
// An integer expression in postfix, evaluated by the runtime when sizes are known, with overflow checks. Text form:
// tokens between spaces, `E D * 256 ceildiv`.
#define SIZE_TOKENS(X)                                                                                      \
    X(CONST, "") X(SPACE, "") /* value: the constant, the index of a space */                               \
    X(ADD, "+") X(SUB, "-") X(MUL, "*") X(DIV, "/") /* floor */ X(MOD, "%") X(CEILDIV, "ceildiv")           \
    X(MIN, "min") X(MAX, "max") X(EQ, "==") X(NE, "!=") X(LT, "<") X(LE, "<=") X(GT, ">") X(GE, ">=")       \
    X(AND, "&&") X(OR, "||") X(NOT, "!")                                                                    \
    X(MAX_PREIMAGE, "max") /* value: param; the largest preimage of a map; text: max(dst) */                \
    X(MIN_PREIMAGE, "min") X(AVG_PREIMAGE, "avg") /* floor of the mean */                                   \
    X(SYMMETRIC, "symmetric") /* value: param, value2: param; (src, dst) holds each pair both ways */       \
    X(SORTED, "sorted") /* value: param; no value of the map is below the one before it, or none */          \
    X(STD_PREIMAGE, "std")    /* value: param; floor of the standard deviation of its preimages' sizes */   \
    X(QUANTILE_PREIMAGE, "quantile") /* value: param, value2: q in thousandths; text: quantile(dst,900) */  \
    X(AT_LEAST, "at_least") /* value: param, value2: k; how many preimages have k or more entries */        \
    X(CUT_PARTS, "cut_parts") /* value: param, value2: n > 0; parts of n entries that preimages with more have */ \
    X(FILL, "fill") /* value: param, value2: n; thousandths of rows in use, preimages cut in tiles of n */  \
    X(DENSITY, "density") /* value: param, value2: param + 2^32 n; thousandths of cells in use, in windows of n rows */ \
    X(DEVICE, "") /* value: device_fact; text: device(sms) */
typedef enum {
#define X(name, text) SZ_##name,
    SIZE_TOKENS(X)
#undef X
    SZ_COUNT
} size_token_kind;
#define DEVICE_NUMBERS(X) X(SMS, "sms") X(SHARED_BYTES, "shared_bytes") X(L2_BYTES, "l2_bytes") X(CORES, "cores")
typedef enum {
#define X(name, text) DEVICE_##name,
    DEVICE_NUMBERS(X)
#undef X
    DEVICE_NUMBER_COUNT
} device_fact;   // of a GPU; SMS, SHARED_BYTES (of a block, asked for), L2_BYTES are 0 on the host, CORES on a GPU
typedef struct {
    size_token_kind kind;
    int64_t value, value2;
} size_token;
typedef VEC(size_token) size_expr;

// ---- What the caller hands over --------------------------------------------------------------------------
typedef enum { SPACE_FREE, SPACE_CONST, SPACE_EXPR, SPACE_COUNT_OF } space_kind;
typedef struct {
    const char *name;
    space_kind kind;     // FREE: given at plan; CONST, EXPR: size; COUNT_OF: the count a prepared `classes` found
    size_expr size;      // CONST, EXPR
    uint32_t prepared;   // COUNT_OF
} program_space;

typedef enum { PARAM_MAP, PARAM_TENSOR, PARAM_SCALAR, PARAM_RESULT } param_role;
enum {   // facts of parameters
    FACT_SORTED = 1, FACT_UNIQUE = 2, FACT_PARTIAL = 4,
    FACT_PREFIX = 8,     // a map without an array: the identity into a space at least as large
    FACT_STRIDED = 16, FACT_PACKED = 32,
    FACT_SAVED = 64,     // it lies in the buffer that an op hands to its gradient
    FACT_GIVEN = 128     // a result of the op that its gradient reads where `saved` is given
};
typedef struct {
    const char *name;
    param_role role;
    ir_dtype type;          // maps and results that hold indices: DT_INDEX
    uint32_t facts;
    uint32_t align;         // bytes, 0: of the element
    uint32_t rank;
    const uint32_t *axes;   // spaces
    uint32_t into;          // DT_INDEX: the space its values lie in
    int32_t sorted_by;      // FACT_SORTED within each preimage of this map; -1: sorted as a whole
    int32_t inplace;        // results: the parameter whose memory it may be; -1: none
} program_param;            // axes of scalars: rank 0, passed by value; rank 0 tensors are in memory

typedef struct {
    const char *text;   // as written: "F % 8 == 0"
    size_expr holds;
    span at;
} program_require;      // a precondition (where, prefix): checked when the plan is made

// ---- What is prepared once per graph ---------------------------------------------------------------------
// Arrays of the index width. `none` entries are kept out of offsets and come last in orders.
#define PREPARED_BUILDERS(X)                                                                                \
    X(OFFSETS, "offsets") /* of map m: E -> V: V + 1 entries; where class v begins in the order of m */     \
    X(ORDER, "order")     /* of map m: E entries; positions of m sorted by value, stable */                 \
    X(COMPOSE, "compose") /* of m: E -> V, n: V -> W: E entries, n[m[e]], none where either is none */      \
    X(DEGREES, "degrees") /* of map m: E -> V: V entries; the size of each preimage */                      \
    X(DEGREES_FROM, "degrees_from") /* of map m, extent T: as degrees, but at least T, or the largest of them where it is less */ \
    X(ORDER_DESC, "order_desc") /* of map m: as order, largest value first, stable */                       \
    X(ROW_BEGINS, "row_begins") /* of map m: E -> V, order o of V: V entries; where each class begins in the order of m, \
                                   classes in the order o */                                                \
    X(ROW_ENDS, "row_ends")     /* likewise: where it ends */                                               \
    X(TILES, "tiles")     /* of map m, extent T: where each tile begins in the order of m, and where the     \
                             last ends; a tile has at most T entries, all of one value; also counts tiles */ \
    X(TILE_BEGINS, "tile_begins") /* of map m, extent T: V + 1 entries: the number of the first of those of v */ \
    X(TILE_VALUES, "tile_values") /* of map m, extent T: for each of them its value; then, where V > 0, the last  \
                                     value up to E / T + V entries, which no map has more tiles than */           \
    X(PART_ROWS, "part_rows") /* of map m, order o of V (the order of numbers without one), extent T: of each part of rows \
                                 its row. First the parts, of T entries and a last of fewer, of rows with more than T, \
                                 then the other rows, a part each, empty or not; both in the order o */       \
    X(PART_BEGINS, "part_begins") /* likewise: where each part begins in the order of m */                  \
    X(PART_ENDS, "part_ends") /* likewise: where it ends */                                                 \
    X(PART_HEADS, "part_heads") /* likewise: the first part of each row that has more than T entries, and how many parts \
                                   they have */                                                             \
    X(WINDOW_PLACES, "window_places") /* of maps m: E -> V, s: E -> U, extent T: of each value of m its place, T to a window:   \
                                         in order, but that a window of T / 2 or more ends where all values of s of entries   \
                                         before are smaller than those behind, while n + n / 4 windows suffice, n those of T */ \
    X(WINDOW_STARTS, "window_starts") /* of the places, extent T: the value that each window begins with, V where none is \
                                         left, and V behind them */                                         \
    X(WINDOW_SLOTS, "window_slots") /* of maps m: E -> V, s: E -> U, extent T: of each entry the slot it has in a window of T \
                                       values of m, in which entries with one value of s share a slot, but for those with  \
                                       one value of m, of which the k-th takes the k-th slot of that value. Slots are       \
                                       numbered by window, then by their first entry, those of a window from a multiple of    \
                                       B on: as is said, or the less of T and 16; none where either is none */                       \
    X(WINDOW_BEGINS, "window_begins") /* of m and the slots of it, extent T: the first block of B slots of each window, and \
                                         how many blocks there are */                                       \
    X(WINDOW_COLUMNS, "window_columns") /* of s and the slots: the value of s of each slot, where it has no entry of the \
                                           one before */                                                    \
    X(WINDOW_ENTRIES, "window_entries") /* of m and the slots, extent T: T * B cells a block, for each value of its window \
                                           the entry that each of its slots has there, or none */           \
    X(WINDOW_MASKS, "window_masks") /* of m and the slots, extent T: T numbers of B bits a block, one for each value of its \
                                       window: bit i is set where its i-th slot has an entry there */       \
    X(CLASSES, "classes") /* of m1 … mk over E: E entries; the number of (m1[e] … mk[e]) among the distinct  \
                             tuples in lexicographic order; none where one is none; also counts them */
typedef enum {
#define X(name, text) PREPARED_##name,
    PREPARED_BUILDERS(X)
#undef X
    PREPARED_BUILDER_COUNT
} prepared_builder;
static inline bool prepared_row_ends(prepared_builder b) { return b == PREPARED_ROW_BEGINS || b == PREPARED_ROW_ENDS; }
static inline bool prepared_parts(prepared_builder b) {
    return b == PREPARED_PART_ROWS || b == PREPARED_PART_BEGINS || b == PREPARED_PART_ENDS || b == PREPARED_PART_HEADS;
}
static inline bool prepared_slotted(prepared_builder b) {   // of the slots of windows, its second argument
    return b == PREPARED_WINDOW_BEGINS || b == PREPARED_WINDOW_COLUMNS || b == PREPARED_WINDOW_ENTRIES ||
           b == PREPARED_WINDOW_MASKS;
}
enum { PREPARED_MOST_SLOTS = 32 };   // of a block: bits of a mask, of which the 32nd is the sign of an index of 32
static inline int64_t prepared_slots(int64_t extent, int64_t slots) {   // of a block of windows of so many rows; 0: nothing is said
    return slots ? slots : extent < 16 ? extent : 16;
}
static inline bool prepared_blocks(prepared_builder b) {   // of slots: it may say how many
    return b == PREPARED_WINDOW_SLOTS || (prepared_slotted(b) && b != PREPARED_WINDOW_COLUMNS);
}
static inline bool prepared_value(prepared_builder b) {   // it says the same in whatever order points are visited
    return b == PREPARED_OFFSETS || b == PREPARED_DEGREES || b == PREPARED_COMPOSE;
}
static inline bool prepared_tiles(prepared_builder b) {   // it has an extent
    return b == PREPARED_TILES || b == PREPARED_TILE_BEGINS || b == PREPARED_TILE_VALUES || prepared_parts(b) ||
           b == PREPARED_WINDOW_PLACES || b == PREPARED_WINDOW_STARTS || prepared_blocks(b) || b == PREPARED_DEGREES_FROM;
}
typedef struct {
    bool prepared;    // args: another prepared map (compose, classes); else a parameter
    uint32_t index;
} program_map_ref;
typedef struct {
    const char *name;   // "offsets(dst)": builder and arguments; equal names are the same thing
    prepared_builder builder;
    uint32_t nargs;
    const program_map_ref *args;
    int64_t extent;          // of tiles, parts, windows; else 0
    int64_t slots;           // of a block of windows, where that is said; else 0
    uint32_t domain, into;   // spaces: what it is indexed by (offsets: into + 1 entries), what its values lie in
} program_prepared;

typedef struct {
    const char *name;   // stage it holds
    ir_dtype type;
    size_expr length;   // elements, packed, row-major
} program_temp;         // workspace; the runtime places it

// ---- What runs -------------------------------------------------------------------------------------------
// Division of p (0 <= p < 2^63) by a size d >= 1 without dividing (Granlund and Montgomery 1994): with shift l = ceil(log2 d)
// and magic m = floor(2^(63 + l) / d) + 1, floor(p / d) = mulhi(2 p, m) >> l. Both are 0 where d is 0.
// A kernel's parameters, in order; each is eight bytes on the host, its own width on a GPU.
#define ARG_KINDS(X)                                                                                        \
    X(DATA, "data")         /* param: base pointer of a map, tensor or result */                            \
    X(STRIDE, "stride")     /* param, axis: element stride, i64 */                                          \
    X(VALUE, "value")       /* param: a scalar by value, in its own type (16-bit floats and bools widened:   \
                               f16, bf16 -> f32; bool, index -> i64) */                                     \
    X(SIZE, "size")         /* space: its size, i64 */                                                      \
    X(PREPARED, "prepared") /* prepared: pointer */                                                         \
    X(TEMP, "temp")         /* temp: pointer */                                                             \
    X(MAGIC, "magic")       /* space: with SHIFT, what divides by its size: see below; i64 */               \
    X(SHIFT, "shift")       /* space; i64 */                                                                \
    X(NUMBER, "number")     /* of the program's numbers: its value, i64 */                                  \
    X(STEP, "step")         /* number of the innermost loop's round, i64 */
typedef enum {
#define X(name, text) ARG_##name,
    ARG_KINDS(X)
#undef X
    ARG_KIND_COUNT
} arg_kind;
typedef struct {
    arg_kind kind;
    uint32_t index, axis;
} program_arg;

typedef enum { STEP_LAUNCH, STEP_LOOP, STEP_END } program_step_kind;
typedef struct {
    program_step_kind kind;
    const char *kernel;         // LAUNCH: a kernel of the module
    size_expr count;            // LAUNCH: blocks (0: nothing runs); LOOP: rounds
    bool early;                 // LAUNCH: it may start while the launch before runs, and waits for that by itself
    bool waits_first;           // LAUNCH, early: before it touches what launches write
    bool waits_to_write;        // LAUNCH, early: before it writes temps that no launch before touches
    uint32_t nargs;
    const program_arg *args;    // LAUNCH
} program_step;

// A version of the op: its steps may run where its guards hold. HOLDS is decided when the plan is made, the others at
// each launch, from the arguments alone. The first version whose guards hold is launched; the last one has none.
typedef enum {
    GUARD_HOLDS,     // a condition on sizes, statistics and the device
    GUARD_ALIGNED,   // param: its base address is a multiple of `value` bytes
    GUARD_STRIDE,    // param, axis: its stride is a multiple of `value` elements
    GUARD_PITCH,     // param, axis: its stride is `value` elements
    GUARD_REACH      // param: the largest element offset its strides and sizes allow is below `value`
} guard_kind;
typedef struct {
    guard_kind kind;
    bool pays;                // HOLDS: it says what is fast, and a version that is asked for by its name runs without, too
    size_expr holds;
    uint32_t param, axis;
    int64_t value;
    const char *text;         // HOLDS: as a person writes it: "F % 4 == 0"
} program_guard;
typedef struct {
    const char *name;         // of the schedule it comes from: "rows", "default", "naive"; unique
    VEC(program_guard) guards;
    VEC(program_step) steps;
} program_version;            // prepared arrays and temporaries are made for those a plan may launch

typedef struct {
    const char *name;         // the op's, as C spells it: "gat_f32"
    const char *source;       // path of the .gnn file
    uint32_t index_bits;      // 32 or 64
    bool deterministic;
    bool saved;               // arguments end in the buffer that an op hands to its gradient, whether or not anything lies there
    simt_module *module;
    VEC(program_space) spaces;
    VEC(program_param) params;       // maps, tensors, scalars and results, in the order of the op
    VEC(program_require) requires;
    VEC(program_prepared) prepared;
    VEC(program_temp) temps;
    VEC(size_expr) numbers;          // what kernels ask of statistics
    VEC(program_version) versions;   // at least one; the last has no guards
} program;

void size_print(textbuf *out, const program *p, const size_expr *e);
// What size_print wrote, of the spaces and parameters of p; false: it is none.
bool size_read(arena *a, const program *p, const char *text, size_expr *out);
// The plan as text (--emit=plan): spaces, parameters, prepared structures, temporaries, steps.
void program_print(textbuf *out, const program *p);

#endif
