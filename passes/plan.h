// From tensor IR and a schedule to a program: the passes between, and what they share.
//
//     tensor op + schedule ──plan_build──► loop plan ──lower_plan──► kernels in simt IR, a version of the program
//
// Enters: verified tensor IR, schedules that may apply. Leaves: a program whose versions are tried
// in order: one a schedule and set of guards, last one that needs nothing. Memory: the arena passed
// first.
#ifndef GNNC_PLAN_H
#define GNNC_PLAN_H

#include "default/ask/row_kinds.h"
#include "loop.h"
#include "passes.h"
#include "schedule.h"

// What a target can do: a row a kind of machine (default/ask/machine.def).
typedef struct {
    const char *name;   // "cuda", "host"
    bool gpu;
    uint32_t lanes;           // of a warp; 1 on the host
    uint32_t max_threads;     // of a block
    uint32_t max_registers;   // 32-bit ones a thread
    uint32_t shared_bytes;    // of a block
    // of one where matrix operations of several warps are; 0: there are none
    uint32_t group_shared_bytes;
    uint32_t vector_bytes;     // widest access worth making
    uint32_t register_bytes;   // of a vector register
    // vectors have to lie at multiples of their size; else they may begin anywhere
    bool aligned;
    uint32_t points;          // of an axis a thread should hold
    uint32_t block_points;    // rows a block should own by default, on a GPU a lane and group
    uint32_t block_threads;   // threads of a block by default
    const gpu_arch *arch;     // by which its features are asked for; NULL: it has none
    const char *refused;      // as pass_options has it
} machine;
// as the options have it
const machine *machine_with(arena *a, const char *name, const pass_options *o);

typedef VEC(tensor_id) stage_ids;

// What a default does otherwise where its kernels were refused (retreat.c).
typedef struct {
    stage_ids apart;         // stages that begin kernels of their own
    stage_ids scalar;        // without matrix operations
    stage_ids even;          // whose rows are dealt out as if none was long
    stage_ids simple;        // a thread a point, as by the naive plan
    VEC(const char *) why;   // likewise: the refusal of each
    bool unfused;            // what entries take from their rows has kernels of its own
} plan_retreat;

// What the default would make of a stage if sizes were known.
typedef struct {
    tensor_id stage;
    bool walk;           // one walk of its rows' entries; else it is written out where it is read
    const char *sizes;   // "-D H=8 -D D=64"
} plan_wish;

// What a version may take for granted: each is a guard of the program's version.
typedef struct {
    uint32_t index_bits;   // of prepared arrays and maps
    // positions and offsets fit 31 bits: GUARD_REACH of every parameter, sizes below 2^31
    bool narrow;
    // arrays may lie as they do: GUARD_PITCH of none for the sake of addresses
    bool any_strides;
    // what a thread holds of a row is one access: arrays are aligned for it
    bool together;
    bool nondeterministic;   // what depends on time may be taken
    const pass_observer *after;
    uint32_t states;               // of passes.def: those that hold
    bool no_matrices;              // contractions on tensor cores were refused
    bool no_groups;                // those of four warps were
    bool may_idle;                 // all other ways were
    bool matrices, groups;         // the default has some
    const char *refused;           // why a schedule that nobody wrote cannot be taken
    stage_ids refused_group;       // of the stages of a kernel that is why; none: it is about none
    uint32_t refused_at;           // of those, the one
    bool refused_fused;            // a statement fuses them, or may
    const plan_retreat *retreat;   // of the default; NULL: none
    // vector widths: alignment, strides, F % 4 == 0; conditions of `when`
    VEC(program_guard) guards;
    VEC(plan_wish) wishes;   // of the default
} version_facts;

// A loop plan, or NULL: ds tells why (statement, reason, way out), unless the schedule is automatic
// and quiet.
loop_plan *plan_build(arena *a, diag_set *ds, const tensor_op *op, schedule *s, const machine *m,
                      version_facts *facts);

// What a default schedule supposes of extents that are not known when compiling; each supposition
// is a guard.
typedef struct {
    const char *name;    // of the version: "default wide"
    int64_t typical;     // extent to cut for
    int64_t multiple;    // extents are multiples of it
    int64_t above, to;   // above < extent <= to; 0: no limit
} plan_class;
// NULL past the last, which supposes nothing
const plan_class *plan_class_at(const machine *m, uint32_t i);
// of multiples that a vector of the op's numbers asks for, no more
const plan_class *plan_class_for(arena *a, const tensor_op *op, const machine *m, uint32_t i);
typedef struct {
    bool extents, rows;   // of extents not known; that no row is long
    bool cut;             // rows are cut
} plan_supposed;
// The default's cells, for such rows; guards for what it supposed are added to *facts. NULL: there is
// nothing to fuse, to tile, or no such kernel.
schedule *plan_default(arena *a, diag_set *ds, const tensor_op *op, const machine *m,
                       version_facts *facts, const plan_class *class, plan_rows rows,
                       plan_supposed *supposed);

// A schedule with the default's cells where it leaves kernels and blocks open. rows: EVEN, whatever
// the data; else what is supposed of it, for which guards are added to *facts, and NULL where the
// default's cells would be those of EVEN.
schedule *plan_complete(arena *a, diag_set *ds, const tensor_op *op, const schedule *s,
                        const machine *m, plan_rows rows, version_facts *facts);

// What is left to try where the default was refused: a kernel's stages apart, a stage by itself,
// dealt out as the naive plan does. false: nothing.
bool plan_retreats(arena *a, plan_retreat *r, const version_facts *f);
// Where that kernel has matrix operations: its stages apart, then they alone without.
bool plan_retreats_from_matrices(arena *a, plan_retreat *r, const version_facts *f);
// by lowering
// whose one block goes through points of which there may be any number; NULL: there is none
const loop_kernel *plan_idle_kernel(const loop_plan *plan);
void plan_refused_kernel(arena *a, const loop_plan *plan, const loop_kernel *k, version_facts *f);

// Adds the plan's kernels to p->module, its prepared arrays and temporaries to p's tables, its
// steps to *v.
typedef struct {
    const machine *machine;
    uint32_t index_bits;
    bool narrow;
    bool verify;   // the functions that are added
} lower_options;
// NULL, or what of a plan lowering does not do, in words, and where; *in: of which kernel.
const char *lower_refusal(arena *a, const loop_plan *plan, span *at, const loop_kernel **in);
void lower_plan(arena *a, const loop_plan *plan, program *p, program_version *v,
                const lower_options *o);

// Spaces, parameters and preconditions of a program, as the op has them; no kernels yet.
program *program_start(arena *a, const tensor_op *op, const pass_options *o);
// Sizes in postfix: of an i64 expression over sizes, of a space, of a product of spaces.
const char *plan_arg_name(arena *a, const tensor_op *op, program_arg arg);   // as a parameter
void size_append(arena *a, size_expr *s, const program *p, const tensor_op *op, tensor_expr e);
void size_append_space(arena *a, size_expr *s, const program *p, const tensor_op *op,
                       tensor_space space);
size_expr size_product(arena *a, const program *p, const tensor_op *op, const tensor_space *spaces,
                       uint32_t count);

#endif
