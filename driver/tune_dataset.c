// A training set: the files of a folder, each a graph; more graphs like each; those that no rule is
// fitted to, so that they tell how rules do on graphs that nobody has seen.
#include "tune.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AUGMENT = 1000, ONE_HELD_IN = 5, LEAST_FILES = 3 };

// ---- A folder -----------------------------------------------------------------------------------
static int by_name(const void *x, const void *y) {
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static bool cannot_read(driver *d, const char *path) {
    d->io_fault = true;
    diag(d->ds, E0801, NO_SPAN, "cannot read '%s': %s", path, strerror(errno));
    return false;
}

// Its files by name, but for those that are hidden.
static bool read_folder(driver *d, const char *folder, tune_dataset *out) {
    DIR *files = opendir(folder);
    const size_t n = strlen(folder);
    const char *slash = n && folder[n - 1] == '/' ? "" : "/";
    VEC(const char *) paths = {0};
    if (!files) return cannot_read(d, folder);
    errno = 0;
    for (struct dirent *f; (f = readdir(files));)
        if (f->d_name[0] != '.')
            VEC_PUSH(d->arena, &paths, arena_printf(d->arena, "%s%s%s", folder, slash, f->d_name));
    const int fault = errno;
    closedir(files);
    errno = fault;
    if (fault) return cannot_read(d, folder);
    if (!paths.len) usage(d, E0812, "--dataset=%s: there is no file in it", folder);
    else qsort(paths.data, paths.len, sizeof *paths.data, by_name);
    for (uint32_t i = 0; i < paths.len; i++)
        VEC_PUSH(d->arena, &out->members,
                 ((tune_member){.graph = paths.data[i], .source = out->members.len}));
    return !d->usage_fault;
}

// ---- Chance -------------------------------------------------------------------------------------
static int64_t draw(tune_dataset *s, int64_t n) {   // below n
    return bind_below(bind_random(s->seed, s->drawn++), n);
}

// 2 to a power between two, by chance.
static double draw_power(tune_dataset *s, double least, double most) {
    enum { STEPS = 1 << 20 };
    return exp2(least + (most - least) * (double)draw(s, STEPS) / STEPS);
}

// A fifth of the files, one at least.
static void hold_out(tune_dataset *s, uint32_t first) {
    const uint32_t files = s->members.len - first;
    uint32_t wanted = files < LEAST_FILES ? 0 : files < ONE_HELD_IN ? 1 : files / ONE_HELD_IN;
    for (uint32_t i = 0; i < files; i++)
        if (draw(s, files - i) < wanted) {
            s->members.data[first + i].held = true;
            wanted--;
        }
}

// ---- More like them -----------------------------------------------------------------------------
// From a quarter to twice the nodes, from half to twice the degrees.
static const char *draw_like(driver *d, tune_dataset *s, const gnn_graph *g, const char *graph,
                             uint32_t number) {
    const double nodes = (double)g->nodes, edges = (double)g->edges, size = draw_power(s, -2, 1),
                 degrees = draw_power(s, -1, 1);
    const int64_t n = (int64_t)fmax(g->nodes > 0, round(nodes * size)),
                  m = (int64_t)fmax(g->edges > 0, round(edges * size * degrees));
    return arena_printf(d->arena, "like:%s:%lld:%lld:%u", graph, (long long)n, (long long)m,
                        number);
}

// What is no graph is told here, each file.
static bool read_member(driver *d, tune_dataset *s, tune_member of, uint32_t more) {
    run_graph g;
    const bool good = run_graph_load(d, of.graph, &g);
    for (uint32_t k = 1; good && k <= more; k++) {
        tune_member x = of;
        x.graph = draw_like(d, s, &g.graph, of.graph, k);
        VEC_PUSH(d->arena, &s->members, x);
    }
    run_graph_free(&g);
    return good;
}

// ---- The set ------------------------------------------------------------------------------------
static bool read_all(driver *d, tune_dataset *s, const char *folder, uint32_t more) {
    uint32_t bad = 0;
    const uint32_t n = s->members.len;
    for (uint32_t i = 0; i < n; i++) bad += !read_member(d, s, s->members.data[i], more);
    if (bad && folder)
        diag_help(diag(d->ds, E0817, NO_SPAN, "--dataset=%s: %u of %u graphs cannot be read",
                       folder, bad, n),
                  "each file of the folder is a graph; others belong elsewhere");
    d->values[OPT_GRAPH].len = 0;
    for (uint32_t i = 0; i < s->members.len; i++)
        VEC_PUSH(d->arena, &d->values[OPT_GRAPH], s->members.data[i].graph);
    return !bad;
}

bool tune_dataset_open(driver *d, tune_dataset *out) {
    const char *folder = option_text(d, OPT_DATASET, NULL);
    const int64_t more = option_number(d, OPT_AUGMENT, 0);
    *out = (tune_dataset){.folder = folder, .seed = (uint64_t)option_number(d, OPT_SEED, 0)};
    if (more > MOST_AUGMENT) usage(d, E0812, "--augment takes a number from 0 to %d", MOST_AUGMENT);
    if (d->usage_fault) return false;
    if (!folder && !more) return true;
    for (uint32_t i = 0; i < d->values[OPT_GRAPH].len; i++)
        VEC_PUSH(d->arena, &out->members,
                 ((tune_member){.graph = d->values[OPT_GRAPH].data[i], .source = i}));
    const uint32_t given = out->members.len;
    if (folder && !read_folder(d, folder, out)) return false;
    if (!out->members.len) {
        diag_help(usage(d, E0812, "--augment=%lld: there is no graph that others are made like",
                        (long long)more),
                  "--graph or --dataset names some");
        return false;
    }
    hold_out(out, given);
    return read_all(d, out, folder, (uint32_t)more);
}

static bool is_held(const tune_dataset *s, const char *graph) {
    for (uint32_t i = 0; i < s->members.len && graph; i++)
        if (s->members.data[i].held && !strcmp(s->members.data[i].graph, graph)) return true;
    return false;
}

void tune_dataset_part(const tune_dataset *s, arena *a, tune_op *op) {
    const uint32_t n = op->cases.len;
    tune_case *cases = ARENA_ARRAY(a, tune_case, n + 1);
    op->fitted = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!is_held(s, op->cases.data[i].graph)) cases[op->fitted++] = op->cases.data[i];
    for (uint32_t i = 0, held = op->fitted; i < n; i++)
        if (is_held(s, op->cases.data[i].graph)) cases[held++] = op->cases.data[i];
    op->cases.data = cases;
}
