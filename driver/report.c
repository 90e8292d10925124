// --time-report, --list-passes and --print-after.
#define _GNU_SOURCE
#include "driver.h"
#include "loop.h"

#include <string.h>
#include <time.h>

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec + 1;
}

void phase(driver *d, const char *name) {
    int64_t time = now();
    phase_time *named = NULL;
    for (uint32_t i = 0; i < d->phases.len; i++) {
        phase_time *p = &d->phases.data[i];
        if (p->began) p->ns += time - p->began;
        p->began = 0;
        if (name && !strcmp(p->name, name)) named = p;
    }
    if (named) named->began = time;
    else if (name) VEC_PUSH(d->arena, &d->phases, ((phase_time){name, 0, time}));
}

void phase_report(driver *d, FILE *out) {
    phase(d, NULL);
    int64_t total = 0;
    for (uint32_t i = 0; i < d->phases.len; i++) total += d->phases.data[i].ns;
    for (uint32_t i = 0; i < d->phases.len; i++) {
        const phase_time *p = &d->phases.data[i];
        fprintf(out, "%10.3f ms  %s\n", (double)p->ns / 1e6, p->name);
    }
    fprintf(out, "%10.3f ms  total\n", (double)total / 1e6);
}

// ---- Passes ----------------------------------------------------------------------------------------------

// The frontend's lowering comes before those of passes.def.
static const pass_info normalising = {"normalise", "syntax tree to tensor IR in normal form"};

static const pass_info *step_at(uint32_t i) { return i ? pass_at(i - 1) : &normalising; }

void list_passes(FILE *out) {
    for (uint32_t i = 0; step_at(i); i++) fprintf(out, "%-9s  %s\n", step_at(i)->name, step_at(i)->summary);
}

void check_pass_names(driver *d) {
    VEC(const char *) names = {0};
    for (uint32_t i = 0; step_at(i); i++) VEC_PUSH(d->arena, &names, step_at(i)->name);
    for (uint32_t i = 0; i < d->values[OPT_PRINT_AFTER].len; i++) {
        const char *name = d->values[OPT_PRINT_AFTER].data[i];
        bool known = false;
        for (uint32_t p = 0; p < names.len; p++) known |= !strcmp(names.data[p], name);
        if (known) continue;
        diagnostic *fault = usage(d, E0809, "there is no pass '%s'", name);
        if (!diag_suggest(fault, NO_SPAN, name, names.data, names.len))
            diag_help(fault, "--list-passes lists them");
    }
}

static bool is_wanted(const driver *d, const char *pass) {
    bool wanted = false;
    for (uint32_t i = 0; i < d->values[OPT_PRINT_AFTER].len; i++)
        wanted |= !strcmp(pass, d->values[OPT_PRINT_AFTER].data[i]);
    return wanted;
}

static void seen(void *user, const char *pass, const tensor_op *op, const loop_plan *plan, const program *p) {
    driver *d = user;
    if (!is_wanted(d, pass)) return;
    textbuf text = textbuf_new(d->arena);
    textbuf_printf(&text, "// %s after %s\n", p ? p->module->name : plan ? plan->op->name : op->name, pass);
    if (p) program_print(&text, p);
    if (p) simt_print(&text, p->module);
    else if (plan) loop_print(&text, plan);
    else tensor_print(&text, op);
    fwrite(text.data, 1, text.len, stderr);
}

pass_observer print_after(driver *d) { return (pass_observer){seen, d}; }

void print_op_after(driver *d, const char *pass, const tensor_op *op) {
    if (op) seen(d, pass, op, NULL, NULL);
}
