// The short verbs: check, fmt, explain, doctor.
#include "unit.h"

#include "runtime/gnnrt.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// ---- check --------------------------------------------------------------------------------------

// Every op goes through the whole compiler short of machine code.
static void check_file(driver *d, const char *path) {
    unit u;
    if (!unit_load(d, path, &u)) return;
    for (uint32_t i = 0; i < u.ops.len; i++)
        if (u.ops.data[i].op) unit_check(d, &u.ops.data[i]);
    if (option_given(d, OPT_GRAD)) check_gradients(d, &u);
}

int drive_check(driver *d) {
    for (uint32_t i = 0; i < d->inputs.len; i++) check_file(d, d->inputs.data[i]);
    stdout_flush(d);   // the tables of --grad
    return driver_status_compared(d);
}

// ---- fmt ----------------------------------------------------------------------------------------

static void format_file(driver *d, intern_table *names, const char *path) {
    size_t length;
    const char *text = file_read(d, path, &length);
    if (!text) return;
    const source_file *source = source_map_add(d->sources, path, text, length);
    if (!source) {
        diag(d->ds, E0803, NO_SPAN, "'%s' and the other files are larger than 4 GiB together",
             path);
        return;
    }
    uint32_t before = diag_errors(d->ds);
    ast_file *file = ast_parse(d->arena, names, d->ds, source);
    if (diag_errors(d->ds) != before) return;
    textbuf out = textbuf_new(d->arena);
    ast_format(&out, file);
    bool same = out.len == length && !memcmp(out.data, text, length);
    if (option_given(d, OPT_CHECK)) {
        if (!same)
            diag_help(diag(d->ds, E0816, NO_SPAN, "'%s' is not in the one format", path),
                      "'gnnc fmt -i %s' rewrites it", path);
    } else if (option_given(d, OPT_IN_PLACE)) {
        if (!same || !strcmp(path, "-")) output_add(d, path, out.data, out.len);
    } else {
        output_add(d, option_text(d, OPT_OUTPUT, "-"), out.data, out.len);
    }
}

int drive_fmt(driver *d) {
    intern_table *names = intern_new(d->arena);
    for (uint32_t i = 0; i < d->inputs.len; i++) {
        if (path_ends(d->inputs.data[i], ".gnn") || path_ends(d->inputs.data[i], ".gnn.rule") ||
            !strcmp(d->inputs.data[i], "-"))
            format_file(d, names, d->inputs.data[i]);
        else usage(d, E0805, "'%s' is not a .gnn or .gnn.rule file by its name", d->inputs.data[i]);
    }
    if (!diag_errors(d->ds)) output_flush(d);
    return driver_status(d);
}

// ---- explain ------------------------------------------------------------------------------------

static const char *severity_name(severity s) {
    switch (s) {
    case SEV_ERROR: return "error";
    case SEV_WARNING: return "warning";
    case SEV_PERF: return "performance remark";
    }
    ICE("severity %d", s);
}

static void unknown_code(driver *d, const char *code) {
    const char
        // codes are all near each other: one with other letters or without zeros
        *names[DIAG_COUNT + 2];
    uint32_t n = 0;
    for (uint32_t c = 0; c < DIAG_COUNT; c++) names[n++] = diag_table((diag_code)c)->name;
    names[n] = arena_printf(d->arena, "%c%04d", toupper((unsigned char)*code),
                            *code ? atoi(code + 1) : 0);
    diag_code found;
    n += diag_find(names[n], &found);
    diagnostic *fault = usage(d, E0809, "there is no diagnostic '%s'", code);
    if (!diag_suggest(fault, NO_SPAN, code, names, n))
        diag_help(fault, "'gnnc explain --list' lists them");
}

static void put_paragraph(textbuf *out, const char *text) {
    enum { WIDTH = 78 };
    size_t column = 0;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column && column + 1 + n > WIDTH) {
            textbuf_puts(out, "\n");
            column = 0;
        } else if (column) {
            textbuf_puts(out, " ");
            column++;
        }
        textbuf_putn(out, text, n);
        column += n;
        text += n + strspn(text + n, " ");
    }
    textbuf_puts(out, "\n");
}

static void explain_code(driver *d, const char *code, textbuf *out) {
    diag_code found;
    if (!diag_find(code, &found)) {
        unknown_code(d, code);
        return;
    }
    const diag_info *info = diag_table(found);
    textbuf_printf(out, "%s (%s): %s\n\n", info->code, info->name, severity_name(info->sev));
    put_paragraph(out, info->summary);
    if (info->sev != SEV_ERROR) textbuf_printf(out, "\nSwitch it off with -Wno-%s.\n", info->name);
}

// Options for ops, which a code has no use for.
static void refuse_of_ops(driver *d) {
    enum {
#define GROUP(id, title) GROUP_##id,
#include "options.def"
    };
    static const int groups[] = {
#define OPTION(id, long_name, short_name, kind, argument, verbs, group, help) GROUP_##group,
#include "options.def"
    };
    for (option_id o = 0; o < OPT_COUNT; o++) {
        int g = groups[o];
        bool of_ops = g == GROUP_TARGET || g == GROUP_PROGRAM || g == GROUP_OPTIMISE ||
                      g == GROUP_RUN;
        if (of_ops && o != OPT_PRINT_TARGETS && option_given(d, o))
            diag_help(usage(d, E0812, "%s is for ops, not for codes", option_name(d, o)),
                      "with --cost or --choice, 'gnnc explain' takes a file of ops");
    }
}

int drive_explain(driver *d) {
    if (option_given(d, OPT_CHOICE)) return drive_choice(d);
    if (option_given(d, OPT_COST)) return drive_cost(d);
    refuse_of_ops(d);
    if (d->usage_fault) return driver_status(d);
    textbuf out = textbuf_new(d->arena);
    for (uint32_t c = 0; option_given(d, OPT_LIST) && c < DIAG_COUNT; c++) {
        const diag_info *info = diag_table((diag_code)c);
        textbuf_printf(&out, "%s  %-8s  %s\n", info->code,
                       info->sev == SEV_PERF ? "remark" : severity_name(info->sev), info->name);
    }
    for (uint32_t i = 0; i < d->inputs.len; i++) explain_code(d, d->inputs.data[i], &out);
    output_add(d, "-", out.data, out.len);
    output_flush(d);
    return driver_status(d);
}

// ---- doctor -------------------------------------------------------------------------------------

static void put_gpu(driver *d, textbuf *out) {
    gnn_context *c = NULL;
    gnn_device_info g;
    int device = device_number(d);
    if (gnn_context_new(&(gnn_context_options){.device = GNN_GPU(device)}, &c) ||
        gnn_device_query(c, &g)) {
        textbuf_printf(out, "GPU         none: %s\n", c ? gnn_context_error(c) : "out of memory");
        textbuf_puts(
            out,
            "            --target=host runs everything here; PTX and cubins are compiled all the same\n");
    } else {
        textbuf_printf(
            out,
            "GPU         %s (%d of %d), compute capability %d.%d, %d multiprocessors, %.1f GiB, CUDA %d.%d\n",
            g.name, device, g.devices, g.sm / 10, g.sm % 10, g.sms, (double)g.memory / 1073741824.0,
            g.driver_version / 1000, g.driver_version % 1000 / 10);
    }
    gnn_context_free(c);
}

int drive_doctor(driver *d) {
    textbuf out = textbuf_new(d->arena), assemblers = textbuf_new(d->arena);
    textbuf_printf(&out, "gnnc        %s\nLLVM        %s, linked in\n", GNNC_VERSION,
                   GNNC_LLVM_VERSION);
    textbuf_puts(&out, "targets     host, cuda:");
    for (uint32_t i = 0; gpu_arch_at(i); i++) textbuf_printf(&out, " %s", gpu_arch_at(i)->name);
    textbuf_puts(&out, "\n");
    bool found = cg_assemblers(&assemblers);
    for (const char *line = assemblers.data; *line;) {
        size_t n = strcspn(line, "\n");
        textbuf_printf(&out, "assembler   %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    if (!found)
        textbuf_puts(
            &out,
            "assembler   none: PTX only, no cubins. Any of these gives one: a CUDA toolkit, an NVIDIA driver,\n"
            "            or 'pip install nvidia-cuda-nvcc' with its ptxas on the PATH\n");
    put_gpu(d, &out);
    output_add(d, "-", out.data, out.len);
    output_flush(d);
    return driver_status(d);
}
