// Rules: a text of schedules and of what chooses among them, for people to read, compare and keep.
// A section stands for an op on a machine; those of others stay as they are.
#include "tune.h"

#include <string.h>

#define SECTION "// ---- "

static const char *heading_of(arena *a, const tune_machine *m, const tune_found *f) {
    return arena_printf(a, SECTION "%s on %s", f->op->name, m->name);
}

static const char *version_name(arena *a, const tune_machine *m, const tune_found *f, uint32_t v) {
    uint32_t number = 1;
    if (!f->texts[v]) return f->plain;
    for (uint32_t i = 0; f->few[i] != v; i++) number += f->texts[f->few[i]] != NULL;
    return arena_printf(a, "tuned_%s_%u", m->name, number);
}

// ---- The tree as an expression ------------------------------------------------------------------
static void put_node(textbuf *out, const tune_machine *m, const tune_found *f, uint32_t at) {
    const tune_node *n = &f->tree.nodes.data[at];
    if (!n->yes) {
        textbuf_puts(out, version_name(out->arena, m, f, n->version));
        return;
    }
    const bool nested = f->tree.nodes.data[n->yes].yes;
    textbuf_printf(out, "%s <= %.0f ? %s", f->op->cases.data[0].numbers.data[n->feature].name,
                   n->most, nested ? "(" : "");
    put_node(out, m, f, n->yes);
    textbuf_printf(out, "%s : ", nested ? ")" : "");
    put_node(out, m, f, n->no);
}

// ---- A section ----------------------------------------------------------------------------------
static void put_times(textbuf *out, const tune_found *f) {
    const tune_measured *m = f->measured;
    textbuf_puts(out, "//   us without, with: graph, sizes\n");
    for (uint32_t c = 0; c < f->op->cases.len; c++) {
        const uint32_t v = tune_choice(&f->tree, m->features + c * m->nfeatures);
        const tune_case *of = &f->op->cases.data[c];
        textbuf_printf(out, "//   %.1f, %.1f: %s, %s%s\n", m->costs[c * m->nversions] * 1e-3,
                       m->costs[c * m->nversions + v] * 1e-3, of->graph ? of->graph : "none",
                       of->sizes, c < f->op->fitted ? "" : ", held out");
    }
}

static void put_section(textbuf *out, const tune_machine *m, const tune_found *f) {
    arena *a = out->arena;
    textbuf_printf(out, "%s\n// Found by gnnc tune " GNNC_VERSION ", %s.\n", heading_of(a, m, f),
                   m->target ? "measured" : "by the model");
    put_times(out, f);
    if (f->op->fitted < f->op->cases.len)
        textbuf_printf(
            out,
            "// Over the best candidate: %.1f %% in the mean, at most %.1f %%; on graphs "
            "held out %.1f %%, at most %.1f %%.\n",
            f->fitted.mean * 100, f->fitted.most * 100, f->held.mean * 100, f->held.most * 100);
    else if (f->measured->ncases > 2)
        textbuf_printf(
            out, "// Over the best on graphs left out: %.1f %% in the mean, at most %.1f %%.\n",
            f->regret.mean * 100, f->regret.most * 100);
    for (uint32_t i = 0; i < f->nfew; i++)
        if (f->texts[f->few[i]])
            textbuf_puts(out, tune_named(a, f->texts[f->few[i]], version_name(a, m, f, f->few[i])));
    textbuf_printf(out, "choose %s for %s", f->op->path, m->arch);
    if (*f->op->when) textbuf_printf(out, " when (%s)", f->op->when);
    textbuf_puts(out, " = ");
    put_node(out, m, f, 0);
    textbuf_puts(out, ";\n");
}

// ---- The file -----------------------------------------------------------------------------------
// What stands there already, but for sections that are made anew.
static const char *others_in(driver *d, const tune_machine *m, const char *text,
                             const tune_found *all, uint32_t n) {
    textbuf out = textbuf_new(d->arena);
    textbuf_puts(&out, "");
    while (*text) {
        const char *next = strstr(text + 1, "\n" SECTION),
                   *end = next ? next + 1 : text + strlen(text);
        bool old = false;
        for (uint32_t i = 0; i < n; i++) {
            const char *heading = arena_printf(d->arena, "%s\n", heading_of(d->arena, m, &all[i]));
            old |= !strncmp(text, heading, strlen(heading));
        }
        if (!old) textbuf_putn(&out, text, (size_t)(end - text));
        text = end;
    }
    return out.data;
}

static bool is_there(const char *path) {
    FILE *f = fopen(path, "r");
    if (f) fclose(f);
    return f;
}

bool tune_rule_write(driver *d, const tune_machine *m, const tune_found *all, uint32_t n) {
    const char *input = d->inputs.data[0],
               *path = option_text(d, OPT_OUTPUT, arena_printf(d->arena, "%s.rule", input));
    textbuf out = textbuf_new(d->arena);
    size_t length;
    const bool kept = strcmp(path, "-") && is_there(path);
    const char *before = kept ? file_read(d, path, &length) : "";
    if (!before) return false;
    before = others_in(d, m, before, all, n);
    textbuf_puts(&out, before);
    uint32_t sections = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool any = false;
        for (uint32_t k = 0; k < all[i].nfew; k++) any |= all[i].texts[all[i].few[k]] != NULL;
        if (!any) continue;
        if (out.len) textbuf_puts(&out, "\n");
        put_section(&out, m, &all[i]);
        sections++;
    }
    if (!sections) printf("no rules: nothing is faster than what runs without\n");
    if (!out.len) return !kept || !remove(path) || cannot_write(d, path);
    output_add(d, path, out.data, out.len);
    if (!output_flush(d)) return false;
    if (strcmp(path, "-") && sections)
        printf("%s: %u op%s\n", path, sections, sections == 1 ? "" : "s");
    return true;
}
