// The frontend: .gnn text to tensor IR, with diagnostics.
//
//     frontend_unit *u = frontend_load(a, ds, "gat.gnn", text, length, &options);       // parse, imports, prelude, check
//     for each concrete op u->ops[i]: tensor_op *op = frontend_lower(u, i);                // NULL: ds tells why
#ifndef GNNC_FRONTEND_H
#define GNNC_FRONTEND_H

#include "ast.h"
#include "schedule.h"
#include "tensor.h"

typedef struct {
    const char *name;   // a size, a generic type, function or reducer: -D F=64, -D T=f16
    const char *value;
} frontend_define;
typedef struct {
    const frontend_define *defines;
    uint32_t ndefines;
    const char *const *include_dirs;
    uint32_t ninclude_dirs;
    // Reads a file: text in the arena, or NULL where there is none. The driver's; also records
    // dependencies.
    const char *(*read)(void *user, arena *a, const char *path, size_t *length);
    void *user;
    const char *schedule;    // --schedule NAME; NULL: choose
    bool schedule_of_gpu;    // it may be for a GPU that is estimated alone: the host then has none
    bool no_schedule;        // --no-schedule: the naive plan, schedules are checked only
    bool nondeterministic;   // --no-deterministic
    const char *const *targets;   // what schedules may be for: "host", "sm_80", …
    uint32_t ntargets;
    const char *const *rules;   // --rules
    uint32_t nrules;
    // The canonical form of an op, for schedules that say `canonicalize`. The driver's, as passes
    // make it; NULL: they take the op as it is.
    const tensor_op *(*canonical)(arena *a, diag_set *ds, const tensor_op *op);
    bool rules_beside;   // NAME.gnn.rule is read where it stands beside NAME.gnn
} frontend_options;

// Twins of an op and its gradient, taken where a caller keeps the forward pass's buffer: the one
// gives what the other is given. They have their op's schedules.
typedef enum { TWIN_NONE, TWIN_SAVING, TWIN_SAVED } frontend_twin;

typedef struct {
    const char *name;   // "spmm"; "spmm.grad"; "spmm.saving", "spmm.grad.saved"
    const char *path;   // whose schedules it has: the name, but for twins
    frontend_twin twin;
    const ast_item *item;   // of a gradient: the op that it is of
    const ast_item *grad;   // where a gradient is asked for; NULL: it is none
    bool imported;          // from another file or the prelude
    // a fn, reducer or size generic is still unbound: a template, compiled only through aliases or
    // calls
    bool generic_left;
} frontend_op;

typedef struct frontend_unit {
    arena *arena;
    diag_set *ds;
    intern_table *names;
    const source_file *main;
    VEC(frontend_op) ops;             // of the main file first, in its order, then imported ones
    VEC(const char *) dependencies;   // paths of the files read, for -MD
    VEC(const source_file *) rules;   // rule files, in their order
    struct sema *sema;
} frontend_unit;

frontend_unit *frontend_load(arena *a, diag_set *ds, const char *path, const char *text,
                             size_t length, const frontend_options *o);
// Checks every op of the main file: lowers it with its generics at each default, reporting
// everything. True: no errors.
bool frontend_check(frontend_unit *u);
// One op in normal form, its generics bound by -D or their defaults (float: f32). NULL: ds tells
// why, or it is a twin and nothing is saved.
tensor_op *frontend_lower(frontend_unit *u, uint32_t op);
uint32_t frontend_twin_of(const frontend_unit *u, uint32_t op);   // UINT32_MAX: it has none
// Of a gradient, the op that it is of, lowered likewise; of another op NULL.
tensor_op *frontend_differentiated(frontend_unit *u, uint32_t op);
// Of a gradient, what it differentiates and by what; then of that, where it is a gradient too, and
// so on. false: a fault was told.
typedef struct {
    tensor_op *op;
    const ast_names *wrt;
} frontend_step;
typedef VEC(frontend_step) frontend_steps;
bool frontend_steps_of(frontend_unit *u, uint32_t op, frontend_steps *out);
// What a gradient reads of the stages of its op, in its order, and how it comes by it.
// computed again; in the buffer; a result, which the caller has
typedef enum { KEPT_AGAIN, KEPT_SAVED, KEPT_GIVEN } frontend_how;
typedef struct {
    const tensor_val_info *value;
    ir_dtype type;   // it is stored in
    frontend_how how;
} frontend_kept;
typedef VEC(frontend_kept) frontend_kept_list;
// Gives the op; NULL: `op` is no gradient, or a fault was told.
const tensor_op *frontend_kept_of(frontend_unit *u, uint32_t op, frontend_kept_list *out);
// The schedules that may apply to an op for a target ("host", "sm_90"), resolved against what it
// was lowered to: an alias's own before those of the op it names, those of rule files before the
// main file's, these before imported ones, each in the order of its file; with --schedule that one
// alone, with --no-schedule none. choice: which of them is taken, by the choices of the same files;
// with --schedule none.
// Where an open condition holds alternatives, a schedule stands there once for each. false: faults
// in schedules, or a --schedule that is not there or not for the target.
bool frontend_schedules(frontend_unit *u, uint32_t op, const char *target, const tensor_op *lowered,
                        schedule_list *out, schedule_choice *choice);
// The rule files that have schedules or a choice of an op: call with *at = 0 until it gives NULL.
const char *frontend_rules(const frontend_unit *u, uint32_t op, uint32_t *at);
// Whether a pass executes every statement of a schedule: each without one is reported.
bool frontend_executable(frontend_unit *u, uint32_t op, const char *target, const schedule *s);
// The names of -D that nothing asked for so far: call with *at = 0 until it gives NULL.
const char *frontend_unused_define(const frontend_unit *u, uint32_t *at);

// The library's files by name ("attention", "prelude"), embedded in the binary; NULL past the last.
const char *frontend_library_name(uint32_t i);
const char *frontend_library_text(const char *name, size_t *length);

#endif
