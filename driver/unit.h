// Input files, op by op: from text to verified IR, to programs, code and objects.
#ifndef GNNC_UNIT_H
#define GNNC_UNIT_H

#include "driver.h"

// ---- Inputs (unit.c) ----------------------------------------------------------------------------
typedef enum { INPUT_GNN, INPUT_TENSOR, INPUT_LOOP, INPUT_SIMT } input_kind;
typedef struct {
    const char *name;           // "gat_f32"
    tensor_op *op;              // NULL for .simt
    program *program;           // made by unit_program
    const cg_target *planned;   // for which target
    loop_plans plans;           // its loop plans, none of the naive one
    schedule_list made;         // and the schedules they come from
    loop_text *text;            // .loop: what was read
    // .simt: from the start; else made by unit_program, or that of --load-simt
    simt_module *module;
    const loaded_text *ptx;    // --load-ptx: in place of code for the target; NULL: none
    frontend_unit *frontend;   // .gnn: where it comes from, and its number there
    uint32_t number;
    // .gnn: those that may apply on the target at hand, from unit_schedules
    schedule_list schedules;
    schedule_choice choice;   // which of them is taken
} unit_op;
typedef struct {
    const char *path;
    input_kind kind;
    frontend_unit *frontend;   // INPUT_GNN
    VEC(unit_op) ops;          // those --op asks for, or all concrete ones
} unit;
// By a name's end; "-" is a source. false: it is none of these.
bool unit_kind(const char *path, input_kind *kind);
void check_unfit(driver *d);   // options that the kinds of the inputs have no use for (unfit.c)
// Reads a .gnn, .tensor, .loop or .simt file to verified IR. false: diagnostics tell why.
bool unit_load(driver *d, const char *path, unit *u);
// The same of a .gnn text that gnnc brings along.
bool unit_load_text(driver *d, const char *path, const char *text, size_t length, unit *u);
// where none of its own is taken: how others are
void unit_tell_imported(driver *d, diagnostic *fault, const unit *u);
// Machine code of an op, by its PTX text where it has one.
bool unit_code(arena *a, driver *d, const unit_op *o, const cg_target *t, cg_form form,
               const cg_options *options, cg_output *out);
// Fills o->schedules for a target; false: diagnostics tell why.
bool unit_schedules(unit_op *o, const cg_target *target);
// The same, where the op is to be compiled: a schedule with a statement that no pass executes is
// refused.
bool unit_schedule(unit_op *o, const cg_target *target);
// Plans an op; NULL: diagnostics tell why.
program *unit_program(driver *d, unit_op *o, const cg_target *target);
// --for-graph: the number of the version that the graph takes (for_graph.c), of a program whose
// versions need have no steps yet; false: diagnostics tell why.
bool for_graph(driver *d, const unit_op *o, const cg_target *target, program *p, uint32_t *number);
bool unit_twin(driver *d, const unit_op *o,
               // that writes or reads what is saved; false: nothing is, or a fault was told
               unit_op *out);
// each time anew
// far: taken only where some size is past 2^31 - 1
program *unit_plan(driver *d, unit_op *o, const cg_target *target, uint32_t index_bits, bool far);
// by the naive plan, which asks for nothing but the op
void unit_check(driver *d, const unit_op *o);
void check_gradients(driver *d, unit *u);   // beside finite differences (check_gradient.c)
bool seed_fault(driver *d, program *p);     // of --seed-fault (seed_fault.c)

// ---- Kernels given as text (load.c, load_simt.c, load_ptx.c) ------------------------------------
// what --load-simt and --load-ptx name, once; false: diagnostics tell why
bool load_read(driver *d);
bool load_belongs(driver *d, const unit *u);   // each SIMT text to an op of the unit, no two to one
// Takes them in place of those an op was planned with, for a target; false: diagnostics tell what
// does not fit.
bool load_simt(driver *d, unit_op *o, const cg_target *t);
bool load_ptx(driver *d, unit_op *o, const cg_target *t);
// on a GPU of that compute capability × 10
bool load_ptx_runs(driver *d, const unit *u, uint32_t sm);
bool load_taken(
    // whether each is, where all ops are planned; false: a diagnostic says what is not
    driver *d);
diagnostic *load_unfit(driver *d, const loaded_text *x, const cg_target *t, span at,
                       const char *format, ...) SUP_PRINTF(5, 6);
const char *load_ptx_note(driver *d, const unit_op *o);   // what PTX that is written begins with

// ---- What --emit prints of an op ----------------------------------------------------------------
bool print_saved(driver *d, const unit_op *o, textbuf *out);   // print_saved.c
// print_schedules.c
bool print_schedules(driver *d, unit_op *o, const cg_target *t, textbuf *out);

// ---- Some passes alone (some_passes.c) ----------------------------------------------------------
void check_some_passes(driver *d, const form *forms, uint32_t n);   // that --emit asks for
bool some_passes(driver *d, unit_op *o, const cg_target *t, form f, textbuf *out);

// ---- Objects (object.c) -------------------------------------------------------------------------
typedef struct {
    const cg_target *targets;
    uint32_t ntargets;
    const cg_options *options;
    bool with_images;   // false: for a header alone
    textbuf *log;       // what the assembler says
    uint32_t threads;
    struct progress *progress;
} object_options;
typedef VEC(cg_artefact) object_ops;
// All ops of a unit, on all targets, in the index widths asked for. false: diagnostics tell why.
bool object_builds(driver *d, unit *u, const object_options *o, object_ops *out);

#endif
