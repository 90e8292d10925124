// A program: what an op compiles to for one target. It names what the caller hands over, what must
// be prepared once per graph, and which kernels run in which order over which memory. codegen/
// turns its simt module into machine code and the rest into the manifest, which libgnnrt
// interprets; docs of the manifest: runtime/MANIFEST.md.
//
// Enters: built by passes/. Leaves: read-only. Memory: the arena it was made in.
#ifndef GNNC_PROGRAM_H
#define GNNC_PROGRAM_H

#include "dtype.h"
#include "prepared.h"
#include "simt.h"
#include "size.h"

// ---- What the caller hands over -----------------------------------------------------------------
typedef enum { SPACE_FREE, SPACE_CONST, SPACE_EXPR, SPACE_COUNT_OF } space_kind;
typedef struct {
    const char *name;
    // FREE: given at plan; CONST, EXPR: size; COUNT_OF: the count a prepared `classes` found
    space_kind kind;
    size_expr size;      // CONST, EXPR
    uint32_t prepared;   // COUNT_OF
} program_space;

typedef enum { PARAM_MAP, PARAM_TENSOR, PARAM_SCALAR, PARAM_RESULT } param_role;
enum {   // facts of parameters
    FACT_SORTED = 1,
    FACT_UNIQUE = 2,
    FACT_PARTIAL = 4,
    FACT_PREFIX = 8,   // a map without an array: the identity into a space at least as large
    FACT_STRIDED = 16,
    FACT_PACKED = 32,
    FACT_SAVED = 64,   // it lies in the buffer that an op hands to its gradient
    FACT_GIVEN = 128   // a result of the op that its gradient reads where `saved` is given
};
typedef struct {
    const char *name;
    param_role role;
    ir_dtype type;   // maps and results that hold indices: DT_INDEX
    uint32_t facts;
    uint32_t align;   // bytes, 0: of the element
    uint32_t rank;
    const uint32_t *axes;   // spaces
    uint32_t into;          // DT_INDEX: the space its values lie in
    int32_t sorted_by;      // FACT_SORTED within each preimage of this map; -1: sorted as a whole
    int32_t inplace;        // results: the parameter whose memory it may be; -1: none
    // as tensor_val_info has it
    const char *adjoint_of;
} program_param;   // axes of scalars: rank 0, passed by value; rank 0 tensors are in memory

typedef struct {
    const char *text;   // as written: "F % 8 == 0"
    size_expr holds;
    span at;
} program_require;   // a precondition (where, prefix): checked when the plan is made

// ---- What is prepared once per graph (prepared.h) -----------------------------------------------
typedef struct {
    bool prepared;   // args: another prepared map (compose, classes); else a parameter
    uint32_t index;
} program_map_ref;
typedef struct {
    const char *name;   // "offsets(dst)": builder and arguments; equal names are the same thing
    prepared_builder builder;
    uint32_t nargs;
    const program_map_ref *args;
    int64_t extent;   // of tiles, parts, windows; else 0
    int64_t slots;    // of a block of windows, where that is said; else 0
    // spaces: what it is indexed by (offsets: into + 1 entries), what its values lie in
    uint32_t domain, into;
} program_prepared;

typedef struct {
    const char *name;   // stage it holds
    ir_dtype type;
    size_expr length;   // elements, packed, row-major
} program_temp;         // workspace; the runtime places it

// ---- What runs ----------------------------------------------------------------------------------
// Division of p (0 <= p < 2^63) by a size d >= 1 without dividing (Granlund and Montgomery 1994):
// with shift l = ceil(log2 d) and magic m = floor(2^(63 + l) / d) + 1, floor(p / d) = mulhi(2 p, m)
// >> l. Both are 0 where d is 0. A kernel's parameters, in order; each is eight bytes on the host,
// its own width on a GPU.
// clang-format off
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
// clang-format on
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
    const char *kernel;   // LAUNCH: a kernel of the module
    size_expr count;      // LAUNCH: blocks (0: nothing runs); LOOP: rounds
    // LAUNCH: it may start while the launch before runs, and waits for that by itself
    bool early;
    bool waits_first;   // LAUNCH, early: before it touches what launches write
    // LAUNCH, early: before it writes temps that no launch before touches
    bool waits_to_write;
    uint32_t nargs;
    const program_arg *args;   // LAUNCH
} program_step;

// A version of the op: its steps may run where its guards hold. HOLDS is decided when the plan is
// made, the others at each launch, from the arguments alone. The first version whose guards hold is
// launched; the last one has none, unless it is alone: it is launched or refused then.
typedef enum {
    GUARD_HOLDS,     // a condition on sizes, statistics and the device
    GUARD_ALIGNED,   // param: its base address is a multiple of `value` bytes
    GUARD_STRIDE,    // param, axis: its stride is a multiple of `value` elements
    GUARD_PITCH,     // param, axis: its stride is `value` elements
    // param: the largest element offset its strides and sizes allow is below `value`
    GUARD_REACH
} guard_kind;
typedef struct {
    guard_kind kind;
    // HOLDS: it says what is fast, and a version that is asked for by its name runs without, too
    bool pays;
    size_expr holds;
    uint32_t param, axis;
    int64_t value;
    const char *text;   // HOLDS: as a person writes it: "F % 4 == 0"
} program_guard;
typedef struct {
    const char *name;   // of the schedule it comes from: "rows", "default", "naive"; unique
    uint32_t of;        // the number of its schedule, where there is a choice
    VEC(program_guard) guards;
    VEC(program_step) steps;
} program_version;   // prepared arrays and temporaries are made for those a plan may launch

// Which schedule's versions a plan tries before all others; within it and without it their order
// holds.
typedef struct {
    const char *text;   // as a person writes it: "avg(dst) < 4 ? thin : default"; NULL: none
    size_expr of;       // the number of a schedule; of another number there is none
    uint32_t nschedules;
    const char *const *schedules;   // by number, as names; the last is the default's
} program_choice;

typedef struct {
    const char *name;          // the op's, as C spells it: "gat_f32"
    const char *gradient_of;   // the name of the op whose gradient it is; NULL: none
    const char *source;        // path of the .gnn file
    VEC(const char *) rules;   // paths of the rule files that have schedules of it
    uint32_t index_bits;       // 32 or 64
    bool deterministic;
    // arguments end in the buffer that an op hands to its gradient, whether or not anything lies
    // there
    bool saved;
    simt_module *module;
    VEC(program_space) spaces;
    VEC(program_param) params;   // maps, tensors, scalars and results, in the order of the op
    VEC(program_require) required;
    VEC(program_prepared) prepared;
    VEC(program_temp) temps;
    VEC(size_expr) numbers;   // what kernels ask of statistics
    program_choice choice;
    VEC(program_version) versions;   // at least one; the last of several has no guards
} program;

void size_print(textbuf *out, const program *p, const size_expr *e);
// What size_print wrote, of the spaces and parameters of p; false: it is none.
bool size_read(arena *a, const program *p, const char *text, size_expr *out);
// The plan as text (--emit=plan): spaces, parameters, prepared structures, temporaries, steps.
void program_print(textbuf *out, const program *p);

#endif
