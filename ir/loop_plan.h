// Plans of loop IR: kernels in order, and where values live.
#ifndef GNNC_LOOP_PLAN_H
#define GNNC_LOOP_PLAN_H

#include "loop_node.h"

// ---- Where values live --------------------------------------------------------------------------
typedef enum {
    LOOP_MEMORY,      // parameters, results; stages in workspace
    LOOP_SHARED,      // shared memory of the block
    LOOP_REGISTERS,   // known to the thread that computed it, at the point where it was stored
    LOOP_INLINE       // computed again wherever it is read
} loop_home;
typedef struct {
    loop_home home;
    uint32_t extent[8];   // SHARED: elements an axis, constant
    // SHARED: index of the first element on an axis; 0: the first of its space
    tensor_expr origin[8];
    ir_dtype type;   // SHARED: storage type
    // SHARED: the value it is a tile of, read through it in the body of `scope`; else TENSOR_NO_VAL
    tensor_val of;
    uint32_t stage;   // INLINE: of op->stages
    // of a stage, in MEMORY or SHARED: an axis has room up to a multiple, and every store fills it;
    // 0: not
    uint32_t pad[8];
    tensor_expr pitch[8];   // where pad is: elements of the axis
} loop_value;
enum { LOOP_MAX_PAD = 1 << 16, LOOP_MAX_SIZES = 8, LOOP_MAX_BUFFERS = 8 };   // sizes of a WITHIN

// ---- Plans --------------------------------------------------------------------------------------
typedef struct {
    tensor_val val;   // in memory
    simt_cache cache;
} loop_hint;
typedef enum {
    LOOP_START_IN_TURN,   // when all kernels before have ended
    // early, while the one before runs; it waits until that has ended before anything could tell
    LOOP_START_WAIT_FIRST,
    // early; it waits before it ends, as it meets no kernel that may still run
    LOOP_START_WAIT_LAST,
    // in the launch of the one before, whose blocks come first; it meets none of that launch either
    LOOP_START_FUSED,
    LOOP_START_INTERLEAVE   // likewise, and its blocks take turns with those of the others
} loop_start;
static inline bool loop_shares_launch(loop_start s) {
    return s == LOOP_START_FUSED || s == LOOP_START_INTERLEAVE;
}
typedef struct {
    const char *name;   // the kernel's: "spmm_f32_y"
#define LOOP_KERNEL_FIELD LOOP_MEMBER
#include "loop_field.def"
    loop_start start;
    // few graphs have anything for it; of no concern but where passes choose how it starts
    bool seldom;
    VEC(loop_hint) hints;   // how its loads and stores of a value are cached
    loop_body body;
    span at;
} loop_kernel;

typedef struct {   // what the runtime prepares: a val of role VAL_PREPARED
    tensor_val val;
    prepared_builder builder;
    uint32_t nargs;
    const tensor_val *args;   // maps and other prepared vals
    int64_t extent;           // of tiles, parts, windows; else 0
    int64_t slots;            // of a block of windows, where that is said; else 0
} loop_prepared;

typedef enum { LOOP_LAUNCH, LOOP_ROUNDS, LOOP_ROUNDS_END } loop_step_kind;
typedef struct {
    loop_step_kind kind;
    loop_kernel *kernel;   // LAUNCH
    uint32_t loop;         // ROUNDS: of op->loops
} loop_step;

typedef struct loop_plan {
    arena *arena;
    // a copy of the op's, extended by positions, prepared arrays and partial states
    tensor_op *op;
    VEC(loop_value) values;   // per val of op
    // guards see to it that what loop_side_by_side, loop_in_a_row and loop_in_eights tell of is
    // aligned as one access
    bool together;
    VEC(loop_prepared) prepared;
    VEC(loop_step) steps;
    // the op as it came, in the types its schedule asks for; NULL: in its own
    const tensor_op *typed;
    const uint32_t *every;     // of typed, as tensor_eval_input has it
    VEC(const char *) apart;   // stages whose sums are taken apart, likewise
    // stages whose products are rounded relative to a maximum found on the run, or of approximate
    // exponentials
    VEC(const char *) relative;
    // those in cells of windows are, differences among them of numbers rounded apart
    bool narrow;
    bool near;   // some exponentials are the machine's approximations
    // arrays may lie as they do: nothing is taken for granted of them for the sake of addresses
    bool any_strides;
} loop_plan;

// copies op, each stage with variables of its own; all in memory, no steps
loop_plan *loop_plan_new(arena *a, const tensor_op *op);
tensor_val loop_add_val(loop_plan *p, tensor_val_info info, loop_value where);
loop_node *loop_node_new(loop_plan *p, loop_node_kind kind, span at);
bool loop_contributes(const loop_body *body, uint32_t stage);   // at any depth
// the first loop over it, at any depth; NULL: none
loop_node *loop_over_var(const loop_body *body, tensor_var v);
static inline void loop_append(loop_plan *p, loop_body *to, loop_node *n) {
    VEC_PUSH(p->arena, to, n);
}

#endif
