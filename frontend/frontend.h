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
    const char *name;       // a size, a generic type, function or reducer: -D F=64, -D T=f16
    const char *value;
} frontend_define;
typedef struct {
    const frontend_define *defines;
    uint32_t ndefines;
    const char *const *include_dirs;
    uint32_t ninclude_dirs;
    // Reads a file: text in the arena, or NULL where there is none. The driver's; also records dependencies.
    const char *(*read)(void *user, arena *a, const char *path, size_t *length);
    void *user;
    const char *schedule;   // --schedule NAME; NULL: choose
    bool no_schedule;       // --no-schedule: the naive plan, schedules are checked only
    bool nondeterministic;  // --no-deterministic
    const char *const *targets;   // what schedules may be for: "host", "sm_80", …
    uint32_t ntargets;
} frontend_options;

typedef struct {
    const char *name;       // "spmm"; "spmm.grad"
    const ast_item *item;   // of a gradient: the op that it is of
    const ast_item *grad;   // where a gradient is asked for; NULL: it is none
    bool imported;          // from another file or the prelude
    bool generic_left;      // a fn, reducer or size generic is still unbound: a template, compiled only through aliases or calls
} frontend_op;

typedef struct frontend_unit {
    arena *arena;
    diag_set *ds;
    intern_table *names;
    const source_file *main;
    VEC(frontend_op) ops;             // of the main file first, in its order, then imported ones
    VEC(const char *) dependencies;   // paths of the files read, for -MD
    struct sema *sema;
} frontend_unit;

frontend_unit *frontend_load(arena *a, diag_set *ds, const char *path, const char *text, size_t length,
                             const frontend_options *o);
// Checks every op of the main file: lowers it with its generics at each default, reporting everything. True: no errors.
bool frontend_check(frontend_unit *u);
// One op in normal form, its generics bound by -D or their defaults (float: f32).
tensor_op *frontend_lower(frontend_unit *u, uint32_t op);
// Of a gradient, the op that it is of, lowered likewise; of another op NULL.
tensor_op *frontend_differentiated(frontend_unit *u, uint32_t op);
// The schedules that may apply to an op for a target ("host", "sm_90"), resolved against what it was lowered to: an alias's own
// before those of the op it names, the main file's before imported ones, each in the order of its file; with --schedule that
// one alone, with --no-schedule none. Where an open condition holds alternatives, a schedule stands there once for each. false:
// faults in schedules, or a --schedule that is not there or not for the target.
bool frontend_schedules(frontend_unit *u, uint32_t op, const char *target, const tensor_op *lowered, schedule_list *out);
// Whether a pass executes every statement of a schedule: each without one is reported.
bool frontend_executable(frontend_unit *u, uint32_t op, const char *target, const schedule *s);
// The names of -D that nothing asked for so far: call with *at = 0 until it gives NULL.
const char *frontend_unused_define(const frontend_unit *u, uint32_t *at);

// The library's files by name ("attention", "prelude"), embedded in the binary; NULL past the last.
const char *frontend_library_name(uint32_t i);
const char *frontend_library_text(const char *name, size_t *length);

#endif
