// gnnc partition: a graph cut into parts, a file each.
#include "bind.h"
#include "graph_file.h"
#include "table.h"

#include <string.h>

typedef struct {
    driver *d;
    gnn_context *c;
    const run_graph *graph;
    gnn_partition *cut;
    const char *folder;
    int64_t parts;
    VEC(const char *) cells;
} partitioning;

// ---- Owners -------------------------------------------------------------------------------------
static const struct {
    const char *word;
    gnn_owners owners;
} words[] = {{"block", GNN_OWNERS_BLOCK}, {"hash", GNN_OWNERS_HASH}, {"metis", GNN_OWNERS_METIS}};

static bool fault(const partitioning *p, gnn_status s) {
    if (s) graph_file_fault(p->d, p->c, s);
    return !s;
}

// An owner a node, of any integers.
static bool read_owners(const partitioning *p, const char *path, gnn_array *out) {
    const int64_t nodes = p->graph->graph.nodes;
    if (!fault(p, gnn_array_read_npy(p->c, path, out))) return false;
    const bool is_whole = out->dtype == GNN_I32 || out->dtype == GNN_I64;
    if (out->rank != 1 || out->shape[0] != nodes || !is_whole) {
        diag(p->d->ds, E0817, NO_SPAN, "'%s' must hold an integer for each of the %lld nodes", path,
             (long long)nodes);
        return false;
    }
    if (out->dtype == GNN_I64) return true;
    gnn_array wide;
    const gnn_status s = gnn_array_new(p->c, GNN_I64, 1, &nodes, &wide);
    for (int64_t v = 0; v < nodes && !s; v++)
        ((int64_t *)wide.data)[v] = ((const int32_t *)out->data)[v];
    gnn_array_free(p->c, out);
    *out = wide;
    return fault(p, s);
}

static bool cut_graph(partitioning *p) {
    const char *by = option_text(p->d, OPT_OWNERS, "block");
    gnn_partition_options o = {
        .parts = p->parts, .owners = GNN_OWNERS_GIVEN, .seed = option_number(p->d, OPT_SEED, 0)};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(by, words[i].word)) o.owners = words[i].owners;
    gnn_array owner = {0};
    if (o.owners == GNN_OWNERS_GIVEN && !read_owners(p, by, &owner)) return false;
    o.owner = owner.data;
    const gnn_status s = gnn_partition_new(p->c, &p->graph->graph, &o, &p->cut);
    gnn_array_free(p->c, &owner);
    return fault(p, s);
}

// ---- Parts --------------------------------------------------------------------------------------
static void put(partitioning *p, const char *text) { VEC_PUSH(p->d->arena, &p->cells, text); }

static void put_number(partitioning *p, int64_t x) {
    put(p, arena_printf(p->d->arena, "%lld", (long long)x));
}

static bool write_part(partitioning *p, int64_t i) {
    gnn_part part;
    const char *path = arena_printf(p->d->arena, "%s%s%lld.npz", p->folder,
                                    path_ends(p->folder, "/") ? "" : "/", (long long)i);
    gnn_status s = gnn_partition_part(p->cut, i, &part);
    if (!s) s = gnn_part_write(p->c, path, &part);
    if (!s) {
        put(p, path);
        const int64_t numbers[] = {part.owned, part.graph.edges, part.halo,
                                   part.send_ptr[part.parts]};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) put_number(p, numbers[k]);
    }
    gnn_part_free(p->c, &part);
    return fault(p, s);
}

static void print_parts(partitioning *p) {
    enum { COLUMNS = 5 };
    const text_table t = {p->cells.len / COLUMNS, COLUMNS, 1, COLUMNS - 1, p->cells.data};
    textbuf out = textbuf_new(p->d->arena);
    table_put(&out, &t);
    const int64_t edges = p->graph->graph.edges, cut = gnn_partition_cut(p->cut);
    textbuf_printf(&out, "%lld of %lld edges are cut, %.1f %%\n", (long long)cut, (long long)edges,
                   edges ? 100.0 * (double)cut / (double)edges : 0.0);
    output_add(p->d, "-", out.data, out.len);
    output_flush(p->d);
}

int drive_partition(driver *d) {
    partitioning p = {.d = d, .folder = option_text(d, OPT_OUTPUT, NULL)};
    p.parts = option_number(d, OPT_PARTS, 0);
    if (!p.folder) usage(d, E0811, "no folder is named for the parts: -o DIR/");
    if (!option_given(d, OPT_PARTS)) usage(d, E0811, "--parts=N says how many parts there are");
    else if (p.parts < 1 || p.parts > 4096) usage(d, E0812, "--parts: 1 to 4096 are possible");
    run_graph graph;
    if (d->usage_fault || !run_graph_read(d, d->inputs.data[0], &graph)) return driver_status(d);
    p.graph = &graph, p.c = graph.context;
    static const char *const heads[] = {"part", "rows", "edges", "halo", "sends"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) put(&p, heads[i]);
    bool good = cut_graph(&p) && make_folder(d, p.folder);
    for (int64_t i = 0; i < p.parts && good; i++) good = write_part(&p, i);
    if (good) print_parts(&p);
    gnn_partition_free(p.cut);
    run_graph_free(&graph);
    return driver_status(d);
}
