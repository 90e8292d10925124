// Loads a cubin and its manifest at run time, runs the op on a graph whose every feature is 1, so
// that a node with neighbours has the mean 1 and one without 0, and counts the nodes where that
// does not hold. Usage: cubin CODE.cubin MANIFEST.json GRAPH. Exit status 77: there is no GPU here.
#include <gnnrt_io.h>

#include <stdio.h>
#include <stdlib.h>

enum { FEATURES = 16, NO_GPU = 77 };

static gnn_context *context;

static void must(gnn_status s) {
    if (!s) return;
    const char *why = context ? gnn_context_error(context) : "";
    fprintf(stderr, "%s\n", *why ? why : gnn_status_text(s));
    exit(s == GNN_NO_DRIVER || s == GNN_NO_DEVICE ? NO_GPU : 1);
}

static char *read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    long length = f && !fseek(f, 0, SEEK_END) ? ftell(f) : -1;
    char *data = length < 0 ? NULL : malloc((size_t)length + 1);
    if (!data || fseek(f, 0, SEEK_SET) || fread(data, 1, (size_t)length, f) != (size_t)length) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
    data[length] = 0;
    *size = (size_t)length;
    return data;
}

static gnn_program *load(const char *cubin, const char *manifest) {
    size_t code_size, manifest_size;
    char *code = read_file(cubin, &code_size), *text = read_file(manifest, &manifest_size);
    gnn_program *p;
    must(gnn_program_load(context, text, manifest_size,
                          &(gnn_code){.image = code, .size = code_size}, &p));
    free(code);
    free(text);
    return p;
}

static gnn_tensor tensor_of(gnn_plan *plan, int param, const float *values) {
    gnn_tensor t;
    must(gnn_plan_shape(plan, (uint32_t)param, &t));
    size_t bytes = (size_t)(t.shape[0] * t.shape[1]) * sizeof *values;
    must(gnn_alloc(context, bytes, &t.data));
    if (values) must(gnn_copy_in(context, t.data, values, bytes, NULL));
    return t;
}

// y is on the host.
static void run(gnn_program *p, const gnn_graph *g, const float *x, float *y) {
    gnn_named_map maps[] = {
        {"src", {.index = g->col, .width = 64, .domain = g->edges, .codomain = g->sources}},
        {"dst", {.offsets = g->rowptr, .width = 64, .domain = g->edges, .codomain = g->nodes}}};
    gnn_size sizes[] = {{"F", FEATURES}};
    gnn_plan *plan;
    must(gnn_plan_new(p, &(gnn_plan_options){.maps = maps, .nmaps = 2, .sizes = sizes, .nsizes = 1},
                      &plan));

    gnn_arg args[4] = {{0}};
    int xi = gnn_program_param_find(p, "x"), yi = gnn_program_param_find(p, "y");
    gnn_tensor tx = tensor_of(plan, xi, x), ty = tensor_of(plan, yi, NULL);
    args[xi].tensor = &tx;
    args[yi].tensor = &ty;
    size_t bytes;
    must(gnn_plan_workspace_for(plan, args, 4, &bytes));
    void *workspace;
    must(gnn_alloc(context, bytes, &workspace));
    must(gnn_launch(plan, args, 4, workspace, bytes, NULL));
    must(gnn_copy_out(context, y, ty.data, (size_t)g->nodes * FEATURES * sizeof *y, NULL));
    must(gnn_sync(context, NULL));

    gnn_free(context, workspace);
    gnn_free(context, tx.data);
    gnn_free(context, ty.data);
    gnn_plan_free(plan);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: cubin CODE.cubin MANIFEST.json GRAPH\n");
        return 2;
    }
    must(gnn_context_new(&(gnn_context_options){.device = GNN_GPU(0)}, &context));
    gnn_program *p = load(argv[1], argv[2]);
    gnn_graph g;
    must(gnn_graph_read(context, argv[3], &g));
    float *x = malloc((size_t)g.sources * FEATURES * sizeof *x),
          *y = calloc((size_t)g.nodes * FEATURES, sizeof *y);
    if (!x || !y) return 1;
    for (int64_t i = 0; i < g.sources * FEATURES; i++) x[i] = 1;
    run(p, &g, x, y);
    int64_t wrong = 0;
    for (int64_t v = 0; v < g.nodes; v++)
        for (int64_t f = 0; f < FEATURES; f++)
            wrong += y[v * FEATURES + f] != (g.rowptr[v + 1] > g.rowptr[v] ? 1.0f : 0.0f);
    printf("%s on a GPU: %lld nodes, %lld values wrong\n", gnn_program_name(p), (long long)g.nodes,
           (long long)wrong);
    free(x);
    free(y);
    gnn_graph_free(context, &g);
    gnn_program_free(p);
    gnn_context_free(context);
    return wrong ? 1 : 0;
}
