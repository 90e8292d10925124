// --time-report, --list-passes and --print-after.
#define _GNU_SOURCE
#include "clock.h"
#include "driver.h"
#include "loop.h"

#include <string.h>
#include <sys/resource.h>

void phase(driver *d, const char *name) {
    int64_t time = clock_ns() + 1;
    phase_time *named = NULL;
    for (uint32_t i = 0; i < d->times.phases.len; i++) {
        phase_time *p = &d->times.phases.data[i];
        if (p->began) p->ns += time - p->began;
        p->began = 0;
        d->times.pass_began = time;
        if (name && !strcmp(p->name, name)) named = p;
    }
    if (named) named->began = time;
    else if (name) VEC_PUSH(d->arena, &d->times.phases, ((phase_time){name, 0, time, 0}));
}

static bool is_pass(const char *name) {
    const pass_info *p;
    for (uint32_t i = 0; (p = pass_at(i)); i++)
        if (!strcmp(p->name, name)) return true;
    return false;
}

// ---- What is compiled ---------------------------------------------------------------------------
enum { LARGEST = 5 };   // kernels of a program that are named

static void report_largest(const simt_module *m, FILE *out) {
    uint32_t below = UINT32_MAX, last = UINT32_MAX;
    for (uint32_t n = 0; n < LARGEST; n++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t k = 0; k < m->funcs.len; k++) {
            const uint32_t size = m->funcs.data[k]->instrs.len;
            const bool before = size > below || (size == below && last != UINT32_MAX && k <= last);
            if (!m->funcs.data[k]->kernel || before) continue;
            if (best == UINT32_MAX || size > m->funcs.data[best]->instrs.len) best = k;
        }
        if (best == UINT32_MAX) return;
        fprintf(out, "%10u instructions  %s\n", m->funcs.data[best]->instrs.len,
                m->funcs.data[best]->name);
        below = m->funcs.data[best]->instrs.len, last = best;
    }
}

// The same on all machines, so that a test may hold it.
static void report_made(const driver *d, FILE *out) {
    for (uint32_t i = 0; i < d->times.made.len; i++) {
        const program *p = d->times.made.data[i];
        uint32_t kernels = 0, instructions = 0;
        for (uint32_t k = 0; k < p->module->funcs.len; k++) {
            const simt_func *f = p->module->funcs.data[k];
            kernels += f->kernel;
            instructions += f->instrs.len;
        }
        fprintf(out, "%10u instructions in %u kernels of %u versions: %s\n", instructions, kernels,
                p->versions.len, d->times.made_for.data[i]);
        report_largest(p->module, out);
    }
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used)) return;
    fprintf(out, "%10.3f MB of IRs and texts\n", (double)arena_bytes(d->arena) / 1e6);
    fprintf(out, "%10.3f MB of memory at most\n", (double)used.ru_maxrss * 1024 / 1e6);
}

void phase_report(driver *d, FILE *out) {
    phase(d, NULL);
    int64_t total = 0, plan = 0, passes = 0;
    for (uint32_t i = 0; i < d->times.phases.len; i++) {
        total += d->times.phases.data[i].ns;
        if (!strcmp(d->times.phases.data[i].name, "plan")) plan = d->times.phases.data[i].ns;
    }
    for (uint32_t i = 0; i < d->times.phases.len; i++) {
        const phase_time *p = &d->times.phases.data[i];
        fprintf(out, "%10.3f ms  %s\n", (double)p->ns / 1e6, p->name);
    }
    fprintf(out, "%10.3f ms  total\n", (double)total / 1e6);
    for (uint32_t i = 0; i < d->times.passes.len; i++) {
        const phase_time *p = &d->times.passes.data[i];
        fprintf(out, "%10.3f ms  %s%s, %u times\n", (double)p->ns / 1e6,
                is_pass(p->name) ? "pass " : "", p->name, p->times);
        passes += p->ns;
    }
    if (passes) fprintf(out, "%10.3f ms  between passes\n", (double)(plan - passes) / 1e6);
    report_made(d, out);
}

// ---- Passes -------------------------------------------------------------------------------------

// The frontend's lowering comes before those of passes.def.
static const pass_info normalising = {
    .name = "normalise", .kind = "syntax -> tensor", .summary = "equations in normal form"};

static const pass_info *step_at(uint32_t i) { return i ? pass_at(i - 1) : &normalising; }

static void put_states(driver *d, FILE *out, const char *what, uint32_t states) {
    if (states) fprintf(out, "; %s %s", what, pass_states_text(d->arena, states));
}

void list_passes(driver *d, FILE *out) {
    const pass_info *p;
    for (uint32_t i = 0; (p = step_at(i)); i++) {
        fprintf(out, "%-13s  %-16s  %s", p->name, p->kind, p->summary);
        put_states(d, out, "needs", p->needs);
        put_states(d, out, "gives", p->gives);
        put_states(d, out, "ends", p->ends);
        fputc('\n', out);
    }
}

// Of --passes=a,b and --passes=c: a, b, c.
pass_names named_passes(driver *d) {
    pass_names names = {0};
    for (uint32_t i = 0; i < d->values[OPT_PASSES].len; i++)
        for (const char *at = d->values[OPT_PASSES].data[i];; at++) {
            size_t n = strcspn(at, ",");
            VEC_PUSH(d->arena, &names, arena_strndup(d->arena, at, n));
            at += n;
            if (!*at) break;
        }
    return names;
}

static void check_name(driver *d, const pass_names *names, const char *name) {
    for (uint32_t p = 0; p < names->len; p++)
        if (!strcmp(names->data[p], name)) return;
    diagnostic *fault = usage(d, E0809, "there is no pass '%s'", name);
    if (!diag_suggest(fault, NO_SPAN, name, names->data, names->len))
        diag_help(fault, "--list-passes lists them");
}

void check_pass_names(driver *d) {
    pass_names names = {0};
    for (uint32_t i = 0; step_at(i); i++) VEC_PUSH(d->arena, &names, step_at(i)->name);
    for (uint32_t i = 0; i < d->values[OPT_PRINT_AFTER].len; i++)
        check_name(d, &names, d->values[OPT_PRINT_AFTER].data[i]);
    pass_names some = named_passes(d);
    for (uint32_t i = 0; i < some.len; i++)
        if (strcmp(some.data[i], normalising.name)) check_name(d, &names, some.data[i]);
        else
            diag_help(usage(d, E0830, "pass '%s' has run where there is an op", normalising.name),
                      "leave it out: --emit=tensor writes what it leaves");
}

static bool is_wanted(const driver *d, const char *pass) {
    bool wanted = false;
    for (uint32_t i = 0; i < d->values[OPT_PRINT_AFTER].len; i++)
        wanted |= !strcmp(pass, d->values[OPT_PRINT_AFTER].data[i]);
    return wanted;
}

static textbuf text_of(driver *d, const pass_state *s) {
    textbuf text = textbuf_new(d->arena);
    if (s->program) program_print(&text, s->program);
    if (s->program) simt_print(&text, s->program->module);
    else if (s->plan) loop_print(&text, s->plan);
    else tensor_print(&text, s->op);
    if (s->prepared) textbuf_printf(&text, "// %u prepared arrays\n", s->prepared);
    if (s->guards) textbuf_printf(&text, "// %u conditions of the version\n", s->guards);
    return text;
}

// Since what was told of before.
static void count_time(void *user, const char *pass) {
    driver *d = user;
    int64_t time = clock_ns() + 1;
    phase_time *of = NULL;
    if (!d->times.pass_began) return;
    for (uint32_t i = 0; i < d->times.passes.len; i++)
        if (!strcmp(d->times.passes.data[i].name, pass)) of = &d->times.passes.data[i];
    if (!of) {
        VEC_PUSH(d->arena, &d->times.passes, ((phase_time){.name = pass}));
        of = &d->times.passes.data[d->times.passes.len - 1];
    }
    of->ns += time - d->times.pass_began;
    of->times++;
    d->times.pass_began = time;
}

// Each pass is told of, so that one which changed nothing can be told from others.
static void seen(void *user, const char *pass, const pass_state *s) {
    driver *d = user;
    if (pass && !s->program) count_time(d, pass);
    d->times.pass_began = clock_ns() + 1;
    if (!d->values[OPT_PRINT_AFTER].len) return;
    textbuf text = text_of(d, s);
    bool same = d->seen && !strcmp(d->seen, text.data);
    d->seen = text.data;
    if (!pass || !is_wanted(d, pass)) return;
    const char *name = s->program ? s->program->module->name
                       : s->plan  ? s->plan->op->name
                                  : s->op->name;
    fprintf(stderr, "// %s after %s%s\n", name, pass, same ? ": unchanged" : "");
    if (!same) fwrite(text.data, 1, text.len, stderr);
}

pass_observer print_after(driver *d) {
    pass_verify verify = option_given(d, OPT_VERIFY) ? PASS_VERIFY_EACH : PASS_VERIFY;
    return (pass_observer){.seen = seen,
                           .spent = count_time,
                           .user = d,
                           .verify = option_on(d, OPT_VERIFY, true) ? verify : PASS_VERIFY_NOTHING};
}

void print_op_after(driver *d, const char *pass, const tensor_op *op) {
    d->times.pass_began = 0;   // what came before is no part of it
    if (op) seen(d, pass, &(pass_state){.op = op});
}
