// The gnnc command: one session from the command line to the exit status.
#define _POSIX_C_SOURCE 200809L   // open_memstream
#include "cache.h"
#include "unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int (*const verbs[])(driver *) = {
#define VERB(id, name, letter, arguments, summary) drive_##name,
#include "options.def"
};

// Options that print something and end the session.
static bool prints_only(const driver *d) {
    return option_given(d, OPT_HELP) || option_given(d, OPT_VERSION) ||
           option_given(d, OPT_COMPLETION) || option_given(d, OPT_PRINT_TARGETS) ||
           option_given(d, OPT_LIST_PASSES);
}

static void print_to(driver *d, FILE *out) {
    if (option_given(d, OPT_HELP)) print_help(d, out);
    else if (option_given(d, OPT_VERSION)) print_version(out);
    else if (option_given(d, OPT_COMPLETION)) print_completion(out);
    else if (option_given(d, OPT_PRINT_TARGETS)) print_targets(out);
    else list_passes(d, out);
}

static int print_only(driver *d) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out) out_of_memory(0);
    print_to(d, out);
    if (fclose(out)) out_of_memory(0);
    output_add(d, "-", arena_strndup(d->arena, text, length), length);
    free(text);
    output_flush(d);
    return driver_status(d);
}

static void check_inputs(driver *d) {
    const bool takes_none = d->verb == VERB_DOCTOR || d->verb == VERB_CALIBRATE,
               needed = !takes_none && d->verb != VERB_CACHE && !option_given(d, OPT_LIST);
    if (needed && !d->inputs.len) {
        diagnostic *fault = usage(d, E0811, "no %s is named",
                                  d->verb == VERB_EXPLAIN ? "diagnostic" : "file");
        diag_help(fault, "'gnnc %s --help' says more", verb_name(d->verb));
    }
    uint32_t most = takes_none ? 0
                    : d->verb == VERB_RUN || d->verb == VERB_BENCH || d->verb == VERB_TEST ||
                            d->verb == VERB_TUNE || d->verb == VERB_CACHE ||
                            d->verb == VERB_PARTITION
                        ? 1
                        : UINT32_MAX;
    if (d->inputs.len > most)
        usage(d, E0813, "'gnnc %s' has no use for '%s'", verb_name(d->verb), d->inputs.data[most]);
    check_pass_names(d);
    check_unfit(d);
}

static int session(driver *d, int argc, char **argv) {
    options_parse(d, argc, argv);
    settings_apply(d);
    if (d->usage_fault || d->io_fault) return driver_status(d);
    if (prints_only(d)) return print_only(d);
    check_inputs(d);
    if (!d->usage_fault) settings_machine(d);
    if (d->usage_fault || diag_errors(d->ds)) return driver_status(d);
    int status = verbs[d->verb](d);
    if (option_given(d, OPT_TIME_REPORT)) phase_report(d, stderr);
    if (option_given(d, OPT_TIME_REPORT)) cache_report(d, stderr);
    return status;
}

int driver_main(int argc, char **argv) {
    json_set_alloc_funcs(xmalloc, free);   // whoever makes JSON takes it that there is memory
    open_standard_streams();
    crash_handlers(argc, argv);
    arena *a = arena_new();
    driver *d = ARENA_NEW(a, driver);
    d->arena = a;
    d->sources = source_map_new(a);
    d->ds = diag_set_new(a, d->sources);
    int status = session(d, argc, argv);
    arena_free(a);
    return status;
}

int main(int argc, char **argv) { return driver_main(argc, argv); }
