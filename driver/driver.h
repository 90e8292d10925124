// The gnnc command: reads the command line, hands texts through the compiler and writes what comes out.
//
// A verb is a function of the driver alone; it gives an exit status. Diagnostics go to d->ds, files through
// file_read and output_add, so nothing half written is ever left behind. All memory is the session's arena.
//
//     int drive_check(driver *d) {
//         unit u;
//         for (uint32_t i = 0; i < d->inputs.len; i++) unit_load(d, d->inputs.data[i], &u);
//         return driver_status(d);
//     }
#ifndef GNNC_DRIVER_H
#define GNNC_DRIVER_H

#include "codegen/codegen.h"
#include "frontend/frontend.h"
#include "passes/passes.h"
#include "support/support.h"
#include "tensor.h"

typedef enum {
    STATUS_GOOD = 0,
    STATUS_DIAGNOSTICS = 1,
    STATUS_USAGE = 2,
    STATUS_IO = 3,   // or memory
    STATUS_MISMATCH = 4,   // results differ from their definition
    STATUS_INTERNAL = 70
} exit_status;

typedef enum {
#define FORM(id, name, suffix, target, kind, help) FORM_##id,
#include "forms.def"
#undef FORM
    FORM_COUNT
} form;

typedef enum {
#define VERB(id, name, letter, arguments, summary) VERB_##id,
#include "options.def"
    VERB_COUNT
} verb;

typedef enum {
#define OPTION(id, long_name, short_name, kind, argument, verbs, group, help) OPT_##id,
#include "options.def"
    OPT_COUNT
} option_id;

typedef struct output {
    const char *path, *data;
    size_t size;
    bool special;   // the standard output, a device, a pipe: no file to be replaced
} output;
typedef struct phase_time {
    const char *name;
    int64_t ns, began;   // began 0: not running
    uint32_t times;      // of a pass: that it ran
} phase_time;

typedef struct {
    const char *path;
    const source_file *source;
    simt_module *module;   // --load-simt
    cg_ptx_head *ptx;      // --load-ptx
    bool taken;            // an op has its kernels
} loaded_text;

typedef struct driver {
    arena *arena;
    source_map *sources;
    diag_set *ds;
    VEC(const char *) command;   // argv with response files expanded
    verb verb;
    VEC(const char *) inputs;               // arguments that are not options
    VEC(const char *) values[OPT_COUNT];    // of each option, in order; FLAG: "", SWITCH: "yes" or "no"
    bool usage_fault, io_fault, mismatch;   // what the exit status tells
    VEC(output) outputs;
    VEC(const char *) dependencies;   // files read
    VEC(loaded_text) loaded;          // --load-simt, --load-ptx
    const char *loaded_arch;          // that a PTX text is for; NULL: none is loaded
    VEC(phase_time) phases, passes;
    int64_t pass_began;   // when the pass before was done
    const char *seen;     // what there was after it, where something is printed; NULL: nothing yet
} driver;

// ---- Options (options.c, response.c, settings.c) ---------------------------------------------------------
// Faults of the command line become diagnostics and d->usage_fault.
void options_parse(driver *d, int argc, char **argv);
bool option_given(const driver *d, option_id o);
bool option_on(const driver *d, option_id o, bool otherwise);                   // SWITCH
const char *option_text(const driver *d, option_id o, const char *otherwise);   // the last value
int64_t option_number(const driver *d, option_id o, int64_t otherwise);
double option_decimal(const driver *d, option_id o, double otherwise);
bool option_is(const driver *d, option_id o, const char *word);   // the last value is that word
diagnostic *usage(driver *d, diag_code code, const char *format, ...) SUP_PRINTF(3, 4);
void expand_response_files(driver *d, int argc, char **argv);
void settings_apply(driver *d);   // -W…, colour and format of diagnostics
frontend_options settings_frontend(driver *d);
void settings_host_alone(driver *d);   // tells of options that only GPUs have
pass_options settings_pass(const driver *d, const cg_target *t);   // NULL: whatever target
cg_options settings_codegen(const driver *d);
int device_number(driver *d);   // --device; a name is 0
typedef struct {
    const char *name, *holds, *arch;   // what the driver's name of one holds
    uint32_t sms;
    double bandwidth;   // bytes a second
    uint32_t l2_mib;
} known_device;   // rows of devices.def
const known_device *device_at(uint32_t index);         // NULL past the last
const known_device *device_named(const driver *d);     // by --device; NULL: none
const cg_arch *settings_simulated(driver *d);   // of a GPU that need not be here; NULL: a usage fault
const cg_arch *settings_arch(driver *d, const char *name);   // NULL: a usage fault; "native" asks the driver

// ---- Files (files.c) -------------------------------------------------------------------------------------
// The text of a file, zero-terminated; "-" is the standard input. NULL: E08xx and d->io_fault.
const char *file_read(driver *d, const char *path, size_t *length);
const char *file_read_import(void *user, arena *a, const char *path,
                             size_t *length);   // frontend_options.read; no diagnostic where there is none
void output_add(driver *d, const char *path, const char *data, size_t size);   // "-": the standard output
bool output_flush(driver *d);   // writes all that was added, each under a temporary name first
void open_standard_streams(void);   // before any file is
bool stdout_flush(driver *d);   // whether all that was printed is out
bool make_folder(driver *d, const char *path);   // unless there is one; false: a diagnostic tells why not
bool cannot_write(driver *d, const char *path);   // tells why by errno; false
const char *path_stem(arena *a, const char *path);                              // "a/b.gnn" -> "b"
const char *path_with_suffix(arena *a, const char *path, const char *suffix);   // "a/b.gnn" -> "a/b.ptx"
bool path_ends(const char *path, const char *suffix);

// ---- Inputs (unit.c) -------------------------------------------------------------------------------------
typedef enum { INPUT_GNN, INPUT_TENSOR, INPUT_LOOP, INPUT_SIMT } input_kind;
typedef struct {
    const char *name;            // "gat_f32"
    tensor_op *op;               // NULL for .simt
    program *program;            // made by unit_program
    const cg_target *planned;    // for which target
    loop_plans plans;            // its loop plans, none of the naive one
    schedule_list made;          // and the schedules they come from
    loop_text *text;             // .loop: what was read
    simt_module *module;         // .simt: from the start; else made by unit_program, or that of --load-simt
    const loaded_text *ptx;      // --load-ptx: in place of code for the target; NULL: none
    frontend_unit *frontend;     // .gnn: where it comes from, and its number there
    uint32_t number;
    schedule_list schedules;     // .gnn: those that may apply on the target at hand, from unit_schedules
} unit_op;
typedef struct {
    const char *path;
    input_kind kind;
    frontend_unit *frontend;   // INPUT_GNN
    VEC(unit_op) ops;          // those --op asks for, or all concrete ones
} unit;
// Reads a .gnn, .tensor, .loop or .simt file to verified IR. false: diagnostics tell why.
bool unit_load(driver *d, const char *path, unit *u);
void unit_tell_imported(driver *d, diagnostic *fault,
                        const unit *u);   // where none of its own is taken: how others are
// Machine code of an op, by its PTX text where it has one.
bool unit_code(arena *a, driver *d, const unit_op *o, const cg_target *t, cg_form form, const cg_options *options, cg_output *out);
// Whoever fails says why: a fault without a diagnostic is one of ours.
void must_tell(const driver *d, const char *who);
// Fills o->schedules for a target; false: diagnostics tell why.
bool unit_schedules(unit_op *o, const cg_target *target);
bool print_saved(driver *d, const unit_op *o, textbuf *out);   // --emit=saved (print_saved.c)
bool print_schedules(driver *d, unit_op *o, const cg_target *t, textbuf *out);   // --emit=schedule (print_schedules.c)
// The same, where the op is to be compiled: a schedule with a statement that no pass executes is refused.
bool unit_schedule(unit_op *o, const cg_target *target);
// Plans an op; NULL: diagnostics tell why.
program *unit_program(driver *d, unit_op *o, const cg_target *target);
bool unit_twin(driver *d, const unit_op *o, unit_op *out);   // that writes or reads what is saved; false: nothing is, or a fault was told
program *unit_plan(driver *d, unit_op *o, const cg_target *target, uint32_t index_bits);   // each time anew
void unit_check(driver *d, const unit_op *o);   // by the naive plan, which asks for nothing but the op
void check_gradients(driver *d, unit *u);   // beside finite differences (check_gradient.c)
bool seed_fault(driver *d, program *p);   // of --seed-fault (seed_fault.c)

// ---- Kernels given as text (load.c, load_simt.c, load_ptx.c) -----------------------------------------------
bool load_read(driver *d);   // what --load-simt and --load-ptx name, once; false: diagnostics tell why
bool load_belongs(driver *d, const unit *u);   // each SIMT text to an op of the unit, no two to one
// Takes them in place of those an op was planned with, for a target; false: diagnostics tell what does not fit.
bool load_simt(driver *d, unit_op *o, const cg_target *t);
bool load_ptx(driver *d, unit_op *o, const cg_target *t);
bool load_ptx_runs(driver *d, const unit *u, uint32_t sm);   // on a GPU of that compute capability × 10
bool load_taken(driver *d);   // whether each is, where all ops are planned; false: a diagnostic says what is not
diagnostic *load_unfit(driver *d, const loaded_text *x, const cg_target *t, span at, const char *format, ...) SUP_PRINTF(5, 6);
const char *load_ptx_note(driver *d, const unit_op *o);   // what PTX that is written begins with

// ---- Objects (object.c) ----------------------------------------------------------------------------------
typedef struct {
    const cg_target *targets;
    uint32_t ntargets;
    const cg_options *options;
    bool with_images;   // false: for a header alone
    textbuf *log;       // what the assembler says
} object_options;
typedef VEC(cg_artefact) object_ops;
// All ops of a unit, on all targets, in the index widths asked for. false: diagnostics tell why.
bool object_builds(driver *d, unit *u, const object_options *o, object_ops *out);

// ---- Reports (report.c, help.c, completion.c) ------------------------------------------------------------
void phase(driver *d, const char *name);   // a phase begins, the one before ends; NULL: only ends
void phase_report(driver *d, FILE *out);   // --time-report
pass_observer print_after(driver *d);   // --print-after
void print_op_after(driver *d, const char *pass, const tensor_op *op);
// --resource-usage: the kernels of a module, version by version where there is a program (resources.c).
void resources_put(textbuf *out, const char *name, const simt_module *m, const program *p, const cg_arch *arch,
                   const char *log);
void list_passes(FILE *out);
void check_pass_names(driver *d);
void print_help(driver *d, FILE *out);
void print_version(FILE *out);
void print_targets(FILE *out);
void print_completion(FILE *out);
const char *verb_name(verb v);
char verb_letter(verb v);   // in the verbs column of options.def

// ---- Faults (crash.c) ------------------------------------------------------------------------------------
void crash_handlers(int argc, char **argv);
void crash_source(const char *path, const char *text, size_t length);   // goes into the reproducer

// ---- Verbs -----------------------------------------------------------------------------------------------
int driver_status(driver *d);   // prints pending diagnostics and tells the exit status
int driver_status_compared(driver *d);   // likewise; results that differ are worse than an op that was refused
diag_code runtime_code(int status, diag_code otherwise);   // that of a gnn_status
int drive_compile(driver *d);
int drive_check(driver *d);
int drive_run(driver *d);
int drive_bench(driver *d);
int drive_test(driver *d);
int driver_main(int argc, char **argv);   // a session: the exit status
int drive_fmt(driver *d);
int drive_explain(driver *d);
int drive_inspect(driver *d);
int drive_doctor(driver *d);

// gnnc inspect, inspect.c and inspect_code.c.
struct json_t;
void inspect_put_manifest(textbuf *out, const struct json_t *manifest);
bool inspect_is_code(const char *path);   // by its first bytes: an ELF file or an archive
void inspect_code(driver *d, const char *path, textbuf *out);

#endif
