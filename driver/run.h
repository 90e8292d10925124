// gnnc run and gnnc bench: what their files share. An op is bound (bind.h), compiled, launched,
// compared with the evaluator, and reported.
#ifndef GNNC_RUN_H
#define GNNC_RUN_H

#include "bind.h"
#include "unit.h"
// clang-format off
typedef enum {
    LAYOUT_PACKED, LAYOUT_STRIDED, LAYOUT_MISALIGNED, LAYOUT_BROADCAST, LAYOUT_UNEVEN, LAYOUT_REACH,
    LAYOUT_FAR, LAYOUT_ALIGNED
} run_layout;
// clang-format on

typedef struct run_op run_op;
typedef struct run_row run_row;
typedef VEC(run_row) run_rows;

// A change of the inputs, and whether the results followed it.
typedef struct {
    const char *op, *change, *plan, *verdict;
    bool compared, failed;   // failed: by a diagnostic
    tensor_comparison of;
} run_change;

// What the command line asks for.
typedef struct {
    bool check, inplace, all_plans, metamorphic, accept_overflow, cost;
    run_layout layout;
    int64_t repeat;
    int64_t identical;             // launches that have to give the same bits; 0: not asked for
    const char *version;           // the one to launch; NULL: the runtime's choice
    uint32_t levels[2], nlevels;   // of the code generator; one, or those of --all-levels
    const char *out;               // folder for results; NULL: none
    // expressions to evaluate, beyond which a sample is compared; 0: never a sample
    double check_budget;
} run_request;

// What all ops of a run share.
typedef struct run_session run_session;
struct run_session {
    driver *d;
    // what the verb does with an op; false: diagnostics tell why
    bool (*steps)(run_op *o, run_row *row);
    void (*print)(const run_session *r, const run_rows *rows, FILE *out);   // of all, at the end
    // of each where it is done; or NULL
    void (*print_row)(const run_session *r, const run_row *row, FILE *out);
    FILE *notes;   // where sizes nobody gave and ops left out are told
    run_request asked;
    bind_options options;
    VEC(run_graph) graphs;    // one at least
    const run_graph *graph;   // at hand
    cg_target target;
    gnn_context *context;              // of the target
    struct run_simulator *simulator;   // --target=sim; NULL: none
    struct run_pack *pack;             // --pack; NULL: none
    struct run_estimator *estimator;   // --resource-usage; NULL: not asked for
    FILE *alone;                       // --alone; NULL: no other process is waited for
    VEC(run_change) changes;           // --metamorphic
};

// How results agree with the definition.
typedef struct {
    int64_t compared, uncertain, overflowed;
    bool fails_by_overflow;
    uint64_t one_in;      // one result in so many was compared
    double worst_ratio;   // error over bound
} run_compared;

// What a row of the table says.
typedef struct bench_figures bench_figures;
typedef struct run_estimate run_estimate;
struct run_row {
    const char *name, *target, *type, *plan, *graph, *sizes;
    // "right", "WRONG", "OVERFLOWED", "overflows", "not compared", "refused", "unfit", "same bits",
    // "packed", "estimated", "ran"
    const char *verdict;
    bool ran, checked, packed, estimated;
    run_compared check;
    double median_ms, fastest_ms;
    bench_figures *figures;         // of gnnc bench; NULL: not measured
    const run_estimate *estimate;   // NULL: not asked for
};

// What a version stored at a level of the code generator, to be compared with what it stores
// otherwise.
typedef struct {
    const char *version;
    uint32_t level;
    tensor_array *results;
    const tensor_evaluated *expected;
} run_stored;
typedef struct {
    cg_jit *jit;
    gnn_program *program;
    const char *log;   // the assembler's; NULL: none ran
} run_code;

// What a launch takes.
typedef struct run_buffer run_buffer;
typedef struct {
    gnn_plan *plan;
    run_buffer *buffers;   // per parameter; those of maps and scalars are empty
    gnn_tensor *tensors;
    gnn_arg *args;
    void *workspace;
    size_t workspace_bytes;   // of the version that launches
} run_prepared;

// One op while it runs. Memory is the arena's, device memory what run_op_free gives back.
struct run_op {
    run_session *r;
    arena *arena;
    unit_op *op;
    binding *b;
    run_code codes[2];        // by level
    gnn_program *program;     // at hand
    uint32_t level;           // into r->asked.levels
    const char *where;        // what faults are told of besides the op: " at -O0", or ""
    bool changed;             // on inputs changed on purpose
    bool unchecked;           // comparing would take too long
    VEC(run_stored) stored;   // on this graph
    uint32_t turn;            // --all-plans: the version it is now
    const char *taken;        // the version that launches; NULL: not known yet
    bool unfit;               // --all-plans: its guards do not hold
    run_prepared ready;
    tensor_array *results;              // per parameter: what the first launch stored, packed
    const tensor_evaluated *expected;   // of the results, by the evaluator; NULL: not evaluated yet
    const tensor_evaluated *bounds;     // what the version at hand was compared with
    uint64_t one_in;                    // one result in so many is compared
    struct run_estimated *estimated;    // for estimates; NULL: none so far
};

// ---- run.c --------------------------------------------------------------------------------------
// Every op of the one input that is asked for, step by step; the exit status.
int run_every_op(run_session *r);
void run_op_free(run_op *o);
void run_read_options(run_session *r);   // those of both verbs: layout, values, plans

// ---- run_alone.c --------------------------------------------------------------------------------
// NULL: nothing to do; false: a diagnostic tells why
bool run_alone_open(run_session *r, const char *path);
void run_alone_close(run_session *r);
void run_alone_begin(const run_session *r);   // waits for its turn
void run_alone_end(const run_session *r);

// ---- run_tell.c ---------------------------------------------------------------------------------
bool run_failed(run_op *o, gnn_status s);   // true where it is a fault, told by a diagnostic
void run_mismatch(run_op *o, const char *format, ...) SUP_PRINTF(2, 3);

// ---- run_code.c, run_plan.c, run_version.c, run_prepare.c ---------------------------------------
bool run_load(run_op *o);                   // compiles and loads
const char *run_version(const run_op *o);   // the one asked for; NULL: the runtime's choice
gnn_plan_options run_plan_options(run_op *o);
void run_tell_version(run_op *o);   // where it is slow, or not the one asked for
bool run_prepare(run_op *o);        // plan, memory, arguments
void run_plan_free(run_op *o);      // what run_prepare made

// ---- run_launch.c -------------------------------------------------------------------------------
bool run_launch(run_op *o, gnn_stream s);   // asynchronous on a GPU
bool run_launch_once(run_op *o);            // results, over a poison
bool run_launch_sample(run_op *o, const cost_machine *m);
// results, over poisons where they are checked, or oftener for --identical
bool run_launch_twice(run_op *o);
bool run_launches(run_op *o, run_row *row);   // results, times; nothing but results may change
double run_median(double *ms, int64_t n);     // sorts them

// ---- run_pack.c ---------------------------------------------------------------------------------
typedef struct run_pack run_pack;
void run_pack_open(run_session *r, const char *path);
void run_pack_begin(run_op *o);   // nothing, like those below, without --pack
// in place of a launch; false: diagnostics tell why not
bool run_pack_version(run_op *o, run_row *row);
void run_pack_end(run_op *o);
void run_pack_write(run_session *r);

// ---- run_fault.c --------------------------------------------------------------------------------
bool run_fault_skips(void);
bool run_fault_apply(run_op *o, bool again);   // again: after the second launch; false: could not

// ---- run_metamorphic.c --------------------------------------------------------------------------
void run_metamorphic(run_op *o);   // all changes on the graph at hand; nothing unless asked for
void run_metamorphic_print(run_session *r, FILE *out);

// ---- run_check.c, run_report.c ------------------------------------------------------------------
// whether comparing is; false: a diagnostic tells why not
bool run_affordable(run_op *o);
// with the evaluator; false: a diagnostic tells why not
bool run_compare(run_op *o, run_row *row);
// of each result, in the types of the version at hand; NULL: as above
const tensor_evaluated *run_expected(run_op *o);
bool run_sums_again(const run_op *o);   // the version at hand, where a sum is not finite
// what was stored; compared with what the other level stored
bool run_keep(run_op *o);
bool run_write(run_op *o);   // results to .npy files
void run_print(const run_session *r, const run_rows *rows, FILE *out);
const char *run_sizes(const binding *b);     // "E=10556 N=2708"
const char *run_type(const tensor_op *op);   // of the first tensor

#endif
