// gnnc tune: schedules of an op tried on graphs, the few that are worth having written as rules,
// with a tree that chooses among them. A candidate is a file with one schedule; it is compiled,
// checked and timed by a process that runs gnnc bench, or told by the model (explain --cost).
#ifndef GNNC_TUNE_H
#define GNNC_TUNE_H

#include "child.h"
#include "run.h"
#include "tuning/tuning.h"

// ---- What is tuned (tune_cases.c) ---------------------------------------------------------------
typedef struct {
    const char *name;   // as `when` says it: "E", "avg(dst)"
    double value;
} tune_number;
typedef struct {
    const char *graph;   // as --graph takes it; NULL: none is given
    const char *sizes;   // "E=10556 V=2708 F=64"
    child_words given;   // of these, by --size: "--size=F=64"
    VEC(tune_number) numbers;
} tune_case;
typedef struct {   // of a stage, what a schedule may name
    const char *name;
    const char *row, *column, *entry, *map;   // NULL: it has none
} tune_stage;
typedef struct {
    const char *name, *path;   // "spmm_f32"; as schedules name it: "spmm"
    const char *when;          // "T == f32, F == 64": what was given when it was compiled
    VEC(tune_stage) stages;
    VEC(tune_case) cases;
    uint32_t fitted;   // the first of them; rules are not fitted to those behind
} tune_op;
typedef VEC(tune_op) tune_ops;
bool tune_collect(driver *d, tune_ops *out);   // ops that --op asks for, on each graph

// ---- A training set (tune_dataset.c) ------------------------------------------------------------
typedef struct {
    const char *graph;
    uint32_t source;   // the graph that it is, or is like
    bool held;         // no rule is fitted to it, nor to those like it
} tune_member;
typedef struct {
    const char *folder;   // NULL: none
    uint64_t seed, drawn;
    VEC(tune_member) members;   // none without --dataset and --augment
} tune_dataset;
// Those of --dataset and --augment become graphs of --graph. false: diagnostics tell why.
bool tune_dataset_open(driver *d, tune_dataset *out);
void tune_dataset_part(const tune_dataset *s, arena *a, tune_op *op);   // who is held comes last

// ---- Processes (tune_try.c) ---------------------------------------------------------------------
enum { TUNE_SECONDS = 120 };                    // a process that takes longer hangs
#define TUNE_NAME "@"                           // in the text of a candidate: its name
void tune_options(driver *d, child_words *w);   // of the command line: those that compiling takes
void tune_cannot_run(driver *d, const char *why);   // why NULL: as errno says

// ---- Where it runs ------------------------------------------------------------------------------
typedef struct {
    const char *name;     // "h200", "host": part of the names of schedules
    const char *arch;     // of schedules: "sm_90"
    const char *target;   // "--target=cuda"; NULL: by the model
} tune_machine;

// ---- The space (tune_space.c) -------------------------------------------------------------------
// What `--emit=schedule` prints of the op: where schedules leave a choice, those choices; else each
// number, each statement that may be left out, and those of tune_additions.def.
// false: a diagnostic tells why.
bool tune_space_of(driver *d, const tune_op *op, const tune_machine *m, tune_space *out);

// ---- Trying (tune_try.c) ------------------------------------------------------------------------
typedef struct {
    const char *name;
    double ns;   // of all its launches
} tune_kernel;
typedef struct {
    const char
        *text;   // of the schedule, those of its classes before it; NULL: what runs without one
    const char *plan;           // the version that ran
    uint64_t code;              // a hash of the kernels; 0: not known
    double ns;                  // INFINITY: it cannot be run
    const char *why;            // then
    bool unfit;                 // its guards do not hold, so that another version ran
    VEC(tune_kernel) kernels;   // of what runs without rules
} tune_tried;
typedef VEC(tune_tried) tune_tries;
typedef struct {   // a search
    const tune_op *op;
    const tune_case *of;
    double plain;   // ns without rules
    tune_tries tries;
} tune_curve;
typedef struct {
    driver *d;
    const tune_op *op;
    const tune_machine *machine;
    const tune_dataset *dataset;
    tune_space space;
    const char *folder, *lock;
    uint32_t jobs;
    double until;    // seconds by clock_ms
    uint32_t most;   // schedules of a case
    struct tune_record *record;
    const double *weights;   // of stages, the first one behind what belongs to none
    uint32_t tried, refused, alike;
    VEC(tune_curve) curves;
} tune_session;
// Goes through the space on one case: what it tried, in the order in which it ended.
bool tune_try_space(tune_session *s, const tune_case *c, tune_way way, uint64_t seed,
                    tune_tries *out);
// Schedules that are given, all of them; NULL: what runs without one. fresh: timed for longer, and
// whatever the record says.
bool tune_try_texts(tune_session *s, const tune_case *c, const char *const *texts, uint32_t n,
                    bool fresh, tune_tries *out);
const char *tune_named(arena *a, const char *text, const char *name);   // TUNE_NAME by a name

// ---- The record (tune_record.c) -----------------------------------------------------------------
// A JSON object a line for each try; what is there already is not tried again.
typedef struct tune_record tune_record;
bool tune_record_open(driver *d, const char *path, tune_record **out);   // path NULL: none
const tune_tried *tune_record_find(const tune_record *r, const tune_op *op, const tune_machine *m,
                                   const tune_case *c, const char *text);
void tune_record_add(tune_record *r, const tune_op *op, const tune_machine *m, const tune_case *c,
                     const tune_tried *t);
bool tune_record_close(tune_record *r);

// ---- Curves of searches (tune_svg.c) ------------------------------------------------------------
void tune_svg_add(const tune_session *s, const char *path, const tune_ops *ops);

// ---- Rules (tune_rule.c) ------------------------------------------------------------------------
typedef struct {
    const tune_op *op;
    const tune_measured *measured;
    const char *const *texts;   // a version each; NULL: what runs without rules
    const char *plain;          // the name of that: "default"
    uint32_t nfew;
    const uint32_t *few;
    tune_tree tree;
    tune_regret regret;         // of each case, left out once; where none is held out
    tune_regret fitted, held;   // of those that the tree was fitted to, and of the others
} tune_found;
bool tune_rule_write(driver *d, const tune_machine *m, const tune_found *all, uint32_t n);

#endif
