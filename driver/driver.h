// The gnnc command: reads the command line, hands texts through the compiler and writes what comes
// out.
//
// A verb is a function of the driver alone; it gives an exit status. Diagnostics go to d->ds, files
// through file_read and output_add, so nothing half written is ever left behind. All memory is the
// session's arena.
//
//     int drive_check(driver *d) {
//         unit u;
//         for (uint32_t i = 0; i < d->inputs.len; i++) unit_load(d, d->inputs.data[i], &u);
//         return driver_status(d);
//     }
#ifndef GNNC_DRIVER_H
#define GNNC_DRIVER_H

#include "codegen/codegen.h"
#include "cost/cost.h"
#include "frontend/frontend.h"
#include "passes/passes.h"
#include "support/support.h"
#include "tensor.h"

typedef enum {
    STATUS_GOOD = 0,
    STATUS_DIAGNOSTICS = 1,
    STATUS_USAGE = 2,
    STATUS_IO = 3,         // or memory
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
typedef struct {   // for --time-report
    VEC(phase_time) phases, passes;
    int64_t pass_began;           // when the pass before was done
    VEC(const program *) made;    // in their order
    VEC(const char *) made_for;   // the op of each
} driver_times;

typedef struct {
    const char *path;
    const source_file *source;
    simt_module *module;   // --load-simt
    cg_ptx_head *ptx;      // --load-ptx
    bool taken;            // an op has its kernels
} loaded_text;

typedef struct file_read_from {
    const char *path, *text;   // text NULL: there was no such file
    size_t length;
} file_read_from;

typedef struct driver {
    arena *arena;
    source_map *sources;
    diag_set *ds;
    VEC(const char *) command;   // argv with response files expanded
    verb verb;
    VEC(const char *) inputs;   // arguments that are not options
    // of each option, in order; FLAG: "", SWITCH: "yes" or "no"
    VEC(const char *) values[OPT_COUNT];
    bool usage_fault, io_fault, mismatch;   // what the exit status tells
    VEC(output) outputs;
    VEC(file_read_from) reads;   // files that were read or looked for
    VEC(loaded_text) loaded;     // --load-simt, --load-ptx
    const char *loaded_arch;     // that a PTX text is for; NULL: none is loaded
    driver_times times;
    const char *seen;   // what there was after it, where something is printed; NULL: nothing yet
    const cost_machine *machine;   // --machine; NULL: none
    struct cache *cache;           // cache.h; NULL: nobody has asked for it
} driver;

// ---- Status and faults (status.c) ---------------------------------------------------------------
int driver_status(driver *d);   // prints pending diagnostics and tells the exit status
// likewise; results that differ are worse than an op that was refused
int driver_status_compared(driver *d);
diagnostic *usage(driver *d, diag_code code, const char *format, ...) SUP_PRINTF(3, 4);
diag_code runtime_code(int status, diag_code otherwise);   // that of a gnn_status
// Whoever fails says why: a fault without a diagnostic is one of ours.
void must_tell(const driver *d, const char *who);

// ---- Options (options.c, response.c, settings.c) ------------------------------------------------
// Faults of the command line become diagnostics and d->usage_fault.
void options_parse(driver *d, int argc, char **argv);
const char *option_name(driver *d, option_id o);   // "--output", or "-S"
bool option_given(const driver *d, option_id o);
bool option_on(const driver *d, option_id o, bool otherwise);                   // SWITCH
const char *option_text(const driver *d, option_id o, const char *otherwise);   // the last value
int64_t option_number(const driver *d, option_id o, int64_t otherwise);
double option_decimal(const driver *d, option_id o, double otherwise);
bool option_is(const driver *d, option_id o, const char *word);   // the last value is that word
void expand_response_files(driver *d, int argc, char **argv);
void settings_apply(driver *d);         // -W…, colour and format of diagnostics
bool settings_color(const driver *d);   // whether diagnostics are coloured
frontend_options settings_frontend(driver *d);
// tells of options that only GPUs have
void settings_host_alone(driver *d);
pass_options settings_pass(const driver *d, const cg_target *t);   // NULL: whatever target
cg_options settings_codegen(const driver *d);
int device_number(driver *d);                        // --device; a name is 0
void settings_machine(driver *d);                    // reads --machine
const cost_machine *device_named(const driver *d);   // by --machine or --device; NULL: none
// of a GPU that need not be here; NULL: a usage fault
const gpu_arch *settings_simulated(driver *d);
// NULL: a usage fault; "native" asks the driver
const gpu_arch *settings_arch(driver *d, const char *name);

// ---- Files (files.c) ----------------------------------------------------------------------------
// The text of a file, zero-terminated; "-" is the standard input. NULL: E08xx and d->io_fault.
const char *file_read(driver *d, const char *path, size_t *length);
const char *file_read_import(void *user, arena *a, const char *path,
                             // frontend_options.read; no diagnostic where there is none
                             size_t *length);
// The same of a regular file, and nothing is told or noted; NULL: it cannot be read.
const char *file_peek(arena *a, const char *path, size_t *length);
bool file_write_all(int fd, const char *data, size_t size);   // false: errno tells why
// "-": the standard output
void output_add(driver *d, const char *path, const char *data, size_t size);
bool output_flush(driver *d);       // writes all that was added, each under a temporary name first
void open_standard_streams(void);   // before any file is
bool stdout_flush(driver *d);       // whether all that was printed is out
// unless there is one; false: a diagnostic tells why not
bool make_folder(driver *d, const char *path);
// Under TMPDIR, of an own name: NULL: a diagnostic tells why. Removed with what is in it: a process
// that was stopped while it wrote has left what it wrote to.
const char *folder_for_a_while(driver *d, const char *name, const char *what);
void folder_remove(const char *folder);
bool cannot_write(driver *d, const char *path);      // tells why by errno; false
const char *path_stem(arena *a, const char *path);   // "a/b.gnn" -> "b"
// "a/b.gnn" -> "a/b.ptx"
const char *path_with_suffix(arena *a, const char *path, const char *suffix);
bool path_ends(const char *path, const char *suffix);

// ---- Reports (report.c, help.c, completion.c) ---------------------------------------------------
void phase(driver *d, const char *name);   // a phase begins, the one before ends; NULL: only ends
void phase_report(driver *d, FILE *out);   // --time-report
pass_observer print_after(driver *d);      // --print-after
void print_op_after(driver *d, const char *pass, const tensor_op *op);
void list_passes(driver *d, FILE *out);
void check_pass_names(driver *d);
typedef VEC(const char *) pass_names;
pass_names named_passes(driver *d);   // by --passes
void print_help(driver *d, FILE *out);
void print_version(FILE *out);
void print_targets(FILE *out);
void print_completion(FILE *out);
const char *verb_name(verb v);
char verb_letter(verb v);   // in the verbs column of options.def

// ---- Faults (crash.c) ---------------------------------------------------------------------------
void crash_handlers(int argc, char **argv);
void crash_source(const char *path, const char *text, size_t length);   // goes into the reproducer

// ---- Verbs --------------------------------------------------------------------------------------
int drive_compile(driver *d);
int drive_check(driver *d);
int drive_run(driver *d);
int drive_bench(driver *d);
int drive_test(driver *d);
int drive_tune(driver *d);
int drive_benchcmp(driver *d);
int driver_main(int argc, char **argv);   // a session: the exit status
int drive_fmt(driver *d);
int drive_cache(driver *d);
int drive_explain(driver *d);
int drive_cost(driver *d), drive_choice(driver *d);   // explain --cost, --choice
int drive_inspect(driver *d);
int drive_partition(driver *d);
int drive_doctor(driver *d);
int drive_calibrate(driver *d);

#endif
