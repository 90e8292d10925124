// --resource-usage: what each kernel takes of a multiprocessor, and how many of its blocks fit one.
#include "estimate.h"
#include "table.h"

#include <string.h>

kernel_resources resources_of(const gpu_arch *arch, const simt_func *f, const char *log) {
    kernel_resources r = {.kernel = f};
    r.known = cg_usage_read(log, f->name, &r.usage);
    r.fits = cg_occupancy_of(arch, f->block, f->shared_bytes, r.usage.registers);
    return r;
}

// ---- A table ------------------------------------------------------------------------------------

void resources_title(const char **cell) {
    static const char *const title[RESOURCE_COLUMNS] = {"kernel",   "threads", "registers",
                                                        "spills",   "stack",   "shared",
                                                        "resident", "limit",   "warps"};
    memcpy(cell, title, sizeof title);
}

// Of spills, bytes stored and loaded.
static const char *spills_text(arena *a, const cg_usage *u) {
    return u->spill_stores || u->spill_loads
               ? arena_printf(a, "%u+%u", u->spill_stores, u->spill_loads)
               : "0";
}

void resources_cells(arena *a, const kernel_resources *r, const char **cell) {
    const cg_usage *u = &r->usage;
    const char *row[RESOURCE_COLUMNS] = {r->kernel->name,
                                         arena_printf(a, "%u", r->kernel->block),
                                         r->known ? arena_printf(a, "%u", u->registers) : "?",
                                         r->known ? spills_text(a, u) : "?",
                                         r->known ? arena_printf(a, "%u", u->stack) : "?",
                                         arena_printf(a, "%u", r->kernel->shared_bytes),
                                         r->known ? arena_printf(a, "%u", r->fits.blocks) : "?",
                                         r->known ? cg_limit_text(r->fits.limit) : "?",
                                         r->known ? arena_printf(a, "%.1f%%", 100 * r->fits.warps)
                                                  : "?"};
    memcpy(cell, row, sizeof row);
}

// ---- What the assembler says besides ------------------------------------------------------------

static bool is_in_table(const char *line, size_t n) {
    static const char *const texts[] = {"bytes gmem",
                                        "Compiling entry function",
                                        "Function properties for",
                                        "bytes stack frame,",
                                        "Used ",
                                        "Compile time"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t at = 0; at + strlen(texts[i]) <= n; at++)
            if (!memcmp(line + at, texts[i], strlen(texts[i]))) return true;
    return false;
}

void resources_put_rest(textbuf *out, const char *log) {
    for (const char *line = log; *line;) {
        size_t n = strcspn(line, "\n");
        if (n && !is_in_table(line, n)) textbuf_printf(out, "%.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

static void put_machine(textbuf *out, const gpu_arch *a) {
    textbuf_printf(
        out,
        "%s: a multiprocessor has %u registers, %u KiB of shared memory, and room for %u threads in %u blocks\n",
        a->name, CG_REGISTERS, a->shared_bytes / 1024, a->threads, a->blocks);
}

// ---- All kernels of what is compiled ------------------------------------------------------------

typedef struct {
    arena *arena;
    const gpu_arch *arch;
    const simt_module *module;
    const char *log;
    bool versions;   // have a column
    VEC(const char *) cells;
} listing;

static void add_row(listing *l, const char *version, const simt_func *f) {
    const char *cells[RESOURCE_COLUMNS];
    if (f) {
        kernel_resources r = resources_of(l->arch, f, l->log);
        resources_cells(l->arena, &r, cells);
    } else resources_title(cells);
    if (l->versions) VEC_PUSH(l->arena, &l->cells, version);
    for (uint32_t k = 0; k < RESOURCE_COLUMNS; k++) VEC_PUSH(l->arena, &l->cells, cells[k]);
}

static bool launched_before(const program_version *v, uint32_t step) {
    for (uint32_t i = 0; i < step; i++)
        if (v->steps.data[i].kind == STEP_LAUNCH &&
            !strcmp(v->steps.data[i].kernel, v->steps.data[step].kernel))
            return true;
    return false;
}

// In the order of their launches, each once.
static void add_version(listing *l, const program_version *v) {
    for (uint32_t i = 0; i < v->steps.len; i++)
        if (v->steps.data[i].kind == STEP_LAUNCH && !launched_before(v, i))
            add_row(l, v->name, simt_func_find(l->module, v->steps.data[i].kernel));
}

static void put_listing(textbuf *out, listing *l) {
    uint32_t first = l->versions ? 2 : 1, columns = RESOURCE_COLUMNS + l->versions;
    table_put(out, &(text_table){.rows = l->cells.len / columns,
                                 .columns = columns,
                                 .first_number = first,
                                 .last_number = columns - 1,
                                 .cells = l->cells.data});
}

void resources_put(textbuf *out, const char *name, const simt_module *m, const program *p,
                   const gpu_arch *arch, const char *log) {
    listing l = {.arena = out->arena, .arch = arch, .module = m, .log = log, .versions = p != NULL};
    add_row(&l, "version", NULL);
    for (uint32_t i = 0; p && i < p->versions.len; i++) add_version(&l, &p->versions.data[i]);
    for (uint32_t i = 0; !p && i < m->funcs.len; i++)
        if (m->funcs.data[i]->kernel) add_row(&l, NULL, m->funcs.data[i]);
    textbuf_printf(out, "%s", name);
    if (p) textbuf_printf(out, ", indices of %u bits", p->index_bits);
    textbuf_puts(out, ", ");
    put_machine(out, arch);
    put_listing(out, &l);
    resources_put_rest(out, log);
}
