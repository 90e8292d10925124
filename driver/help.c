// --help, --version and --print-targets, from the tables.
#include "driver.h"
#include "graph_words.h"

#include <string.h>

enum { HELP_COLUMN = 34 };

typedef struct {
    const char *long_name, *short_name, *argument, *verbs;
    int group;
    const char *help;
    bool negatable, takes_argument, optional;
} help_row;

enum { FLAG, SWITCH, TEXT, LIST, NUMBER, DECIMAL, WORD, WORDS, MAYBE };
enum {
#define GROUP(id, title) GROUP_##id,
#include "options.def"
    GROUP_COUNT
};

static const help_row rows[] = {
#define FORM_WORDS "LIST"
#define OPTION(id, long_name, short_name, kind, argument, verbs, group, help)                      \
    {long_name, short_name,     argument,     verbs,        GROUP_##group,                         \
     help,      kind == SWITCH, kind >= TEXT, kind == MAYBE},
#include "options.def"
#undef FORM_WORDS
};

static const char *const group_titles[] = {
#define GROUP(id, title) title,
#include "options.def"
};

static const struct {
    const char *name, *arguments, *summary;
} verbs[] = {
#define VERB(id, name, letter, arguments, summary) {#name, arguments, summary},
#include "options.def"
};

static const struct {
    const char *name, *help;
} forms[] = {
#define FORM(id, name, suffix, target, kind, help) {name, help},
#include "forms.def"
#undef FORM
};

static void put_row(textbuf *out, const char *left, const char *right) {
    textbuf_printf(out, "  %-*s", HELP_COLUMN - 4, left);
    if (strlen(left) > HELP_COLUMN - 4) textbuf_printf(out, "\n%*s", HELP_COLUMN - 2, "");
    textbuf_printf(out, "  %s\n", right);
}

static void put_option(textbuf *out, const help_row *r) {
    textbuf left = textbuf_new(out->arena);
    bool joined = strlen(r->short_name) == 1;
    if (*r->short_name) {
        textbuf_printf(&left, "-%s", r->short_name);
        if (r->takes_argument && !*r->long_name)
            textbuf_printf(&left, "%s%s", joined ? "" : " ", r->argument);
        if (*r->long_name) textbuf_puts(&left, ", ");
    }
    if (*r->long_name) {
        textbuf_printf(&left, "--%s%s", r->negatable ? "[no-]" : "", r->long_name);
        if (r->takes_argument) textbuf_printf(&left, r->optional ? "[=%s]" : "=%s", r->argument);
    }
    put_row(out, left.data, r->help);
}

static void put_group(textbuf *out, int group, char letter) {
    bool first = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].group != group || !strchr(rows[i].verbs, letter)) continue;
        if (first) textbuf_printf(out, "\n%s\n", group_titles[group]);
        first = false;
        put_option(out, &rows[i]);
    }
    if (group != GROUP_OUTPUT || letter != 'C') return;
    textbuf_puts(
        out,
        "\n  LIST is one or more of these, joined by commas; --emit-ptx is short for --emit=ptx\n");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        put_row(out, forms[i].name, forms[i].help);
}

void print_help(driver *d, FILE *out) {
    textbuf b = textbuf_new(d->arena);
    textbuf_puts(&b, "gnnc " GNNC_VERSION
                     ": a compiler of graph neural network operators for GPUs and CPUs\n\n");
    textbuf_printf(&b, "usage: gnnc %s [options] %s\n       %s\n", verbs[d->verb].name,
                   verbs[d->verb].arguments, verbs[d->verb].summary);
    textbuf_puts(&b, "\nVerbs (gnnc VERB --help)\n");
    for (size_t i = 0; i < VERB_COUNT; i++) put_row(&b, verbs[i].name, verbs[i].summary);
    for (int g = 0; g < GROUP_COUNT; g++) put_group(&b, g, verb_letter(d->verb));
    textbuf_puts(
        &b,
        "\nExit status: 0 good, 1 diagnostics, 2 command line, 3 files or memory, 4 results differ, 70 internal fault\n");
    fwrite(b.data, 1, b.len, out);
}

void print_version(FILE *out) {
    fprintf(out, "gnnc %s (LLVM %s)\n", GNNC_VERSION, GNNC_LLVM_VERSION);
}

void print_targets(FILE *out) {
    fprintf(out, "host\ncuda");
    for (uint32_t i = 0; gpu_arch_at(i); i++) fprintf(out, " %s", gpu_arch_at(i)->name);
    fprintf(out, "\n");
}
