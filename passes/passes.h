// Passes: from tensor IR to a program of SIMT kernels. One idea a file; passes.def lists the passes
// in order.
//
// Enters: verified tensor IR. Leaves: a program whose simt module verifies. Memory: the arena
// passed first.
//
//     program *p = pass_naive(a, ds, op, &(pass_options){.index_bits = 32});     // NULL: ds tells why
#ifndef GNNC_PASSES_H
#define GNNC_PASSES_H

#include "gpu.h"
#include "schedule.h"

typedef struct {
    const char *name, *kind, *summary;   // kind: from which IR to which
    uint32_t needs, gives, ends;         // states, a bit each
} pass_info;
const pass_info *pass_at(uint32_t i);                      // NULL past the last
const char *pass_states_text(arena *a, uint32_t states);   // their names

typedef struct loop_plan loop_plan;
typedef struct loop_text loop_text;
typedef struct {   // what there is after a pass: one of these, others NULL
    const tensor_op *op;
    const loop_plan *plan;
    const program *program;
    // arrays that the version prepares, conditions that it asks for, as far as they are known
    uint32_t prepared, guards;
} pass_state;
typedef enum {
    PASS_VERIFY_NOTHING,
    PASS_VERIFY,       // tensor IR after each pass, SIMT IR of each version
    PASS_VERIFY_EACH   // and loop IR
} pass_verify;
// --print-after, --time-report: told after each pass; and before the first one of a version, with
// pass NULL
typedef struct {
    void (*seen)(void *user, const char *pass, const pass_state *s);   // NULL: nobody
    // what the time since it was told of something went to: a pass that leaves nothing to be seen,
    // as it was refused or makes a part of a program; "default", a schedule that nobody wrote
    void (*spent)(void *user, const char *on);
    void *user;
    pass_verify verify;
} pass_observer;

#define PASS_ALL UINT32_MAX
// Which version alone is made: p has guards of all, and steps of the last. PASS_ALL: every one.
// false: there is none, and the caller has told why.
typedef struct {
    bool (*take)(void *user, program *p, uint32_t *number);   // NULL: nobody asks
    void *user;
} pass_taker;

typedef struct {
    uint32_t index_bits;   // 32 or 64: of index arrays, given and prepared
    // some size is past 2^31 - 1, so that only the naive plan can be taken: guard_narrow has every
    // other version ask that none is
    bool far;
    pass_observer after;
    bool nondeterministic;   // floats may be combined in an order that depends on time
    // of a GPU's block, by the naive plan and the default: a power of two from a warp on; 0: 256
    uint32_t block_threads;
    const gpu_arch *arch;            // of the GPU; NULL: any, or the host
    const schedule_choice *choice;   // among the schedules given; NULL: none
    pass_taker taker;
    // for tests: a stage that the default is refused unless a thread has a point; as STAGE:all even
    // then; NULL: none
    const char *refused;
} pass_options;

// Offsets of elements below this fit versions of 31 bits: loops step past their ends by less than a
// million points, which must not wrap either.
#define PASS_NARROW_OFFSETS (INT64_C(2147483647) - (INT64_C(1) << 20))

void pass_done(const pass_observer *o, const char *pass, const pass_state *s);
void pass_spent(const pass_observer *o, const char *on);

// The naive plan, kept for ever as --no-schedule: every stage is a kernel with one thread a point
// of its targets; a reduction is serial in index order over the points its keys leave. Right for
// every op on every target.
program *pass_naive(arena *a, diag_set *ds, const tensor_op *op, const pass_options *o);

// The op in canonical form (tensor/canonical.c), in which its default schedule has it. Itself where
// it is in that form.
const tensor_op *pass_canonical(arena *a, diag_set *ds, const tensor_op *op);
// The form that a program has of an op with these schedules: that one where the default may be
// taken, or a schedule says `canonicalize`; otherwise the op as it is.
const tensor_op *pass_definition(arena *a, diag_set *ds, const tensor_op *op,
                                 schedule *const *schedules, uint32_t n);

// A version a schedule, or a class of extents where there is none, then the naive plan, which takes
// nothing for granted. plans and made, where not NULL, get the loop plans and the schedules they
// come from.
typedef VEC(loop_plan *) loop_plans;
program *pass_scheduled(arena *a, diag_set *ds, const tensor_op *op, schedule *const *schedules,
                        uint32_t n, const char *machine, const pass_options *o, loop_plans *plans,
                        schedule_list *made);

// The schedule as it is executed: what it leaves open filled by the default.
schedule *pass_completed(arena *a, diag_set *ds, const tensor_op *op, const schedule *s,
                         const char *machine, const pass_options *o);

// What passes are run on by name (--passes): an op, or plans that were read. They leave the one or
// the other.
typedef struct {
    const tensor_op *op;
    loop_text *text;            // NULL: the op
    const schedule *schedule;   // of the op; NULL: the default, of any extents
} pass_subject;
// In that order, each where its states allow; names are those of pass_at. false: ds tells why.
bool pass_some(arena *a, diag_set *ds, pass_subject *of, const char *const *names, uint32_t n,
               const char *machine, const pass_options *o);

// Plans read from text: each where its version's guards hold and its vectors fall on their
// alignment, then the naive plan.
program *pass_loop(arena *a, diag_set *ds, const loop_text *text, const char *machine,
                   const pass_options *o);

#endif
