// Layers on a graph in parts, one a process of MPI: a layer's forward pass and its gradient, each
// with one exchange of rows. Prints a hash of the bits of each result, which is the same for any
// number of processes, and norms of gradients.
// Usage: mpirun -n 4 parts layers.gnnlib FOLDER   (of `gnnc partition GRAPH --parts=4 -o FOLDER`)
#include <gnnrt_io.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { K = 16, Q = 8, RELATIONS = 4, MOST_ARRAYS = 64, MOST_PARAMS = 16 };

static gnn_context *context;
static gnn_library *library;
static gnn_part part;
static int rank, ranks;

static void must(gnn_status s) {
    if (!s) return;
    fprintf(stderr, "rank %d: %s\n", rank,
            context ? gnn_context_error(context) : gnn_status_text(s));
    MPI_Abort(MPI_COMM_WORLD, 1);   // which ends the others, too
}

// ---- Arrays, until a layer is done --------------------------------------------------------------
static gnn_tensor arrays[MOST_ARRAYS];
static size_t narrays;

static int64_t count(const gnn_tensor *t) {
    int64_t n = 1;
    for (uint32_t k = 0; k < t->rank; k++) n *= t->shape[k];
    return n;
}

static float *data(const gnn_tensor *t) { return t->data; }

static gnn_tensor *new_array(gnn_tensor shape) {
    shape.dtype = GNN_F32;
    must(gnn_alloc(context, (size_t)count(&shape) * sizeof(float), &shape.data));
    arrays[narrays] = shape;
    return &arrays[narrays++];
}

static gnn_tensor *matrix(int64_t rows, int64_t columns) {
    return new_array((gnn_tensor){.rank = 2, .shape = {rows, columns}});
}

static void clear(void) {
    while (narrays) gnn_free(context, arrays[--narrays].data);
}

// ---- Ops by name --------------------------------------------------------------------------------
typedef struct {
    const char *name;   // of a parameter; of a result its array is made
    gnn_tensor **array;
} bound;

static gnn_tensor **find(bound *b, const char *name) {
    for (; b->name; b++)
        if (!strcmp(b->name, name)) return b->array;
    fprintf(stderr, "%s is not bound\n", name);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return NULL;
}

static gnn_plan *plan_of(gnn_op *op, gnn_program *p, const gnn_arg *args, size_t n) {
    const gnn_graph *g = &part.graph;
    const struct {
        const char *name;
        const int64_t *index;
    } maps[] = {{"src", g->col}, {"dst", g->dst}, {"type", g->etype}, {"at", part.send}};
    gnn_named_map used[4];
    gnn_plan_options o = {.args = args, .nargs = n, .maps = used};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (gnn_program_param_find(p, maps[i].name) >= 0)
            used[o.nmaps++] = (gnn_named_map){
                maps[i].name, {.index = maps[i].index, .width = 64, .codomain = -1}};
    const gnn_size sizes[] = {// of spaces, which may be empty
                              {"V", part.owned},
                              {"E", g->edges},
                              {"S", part.send_ptr[part.parts]}};
    gnn_size given[3];
    o.sizes = given;
    for (uint32_t i = 0; i < gnn_program_spaces(p); i++) {
        gnn_space_info space;
        must(gnn_program_space(p, i, &space));
        for (int k = 0; k < 3; k++)
            if (!strcmp(space.name, sizes[k].name)) given[o.nsizes++] = sizes[k];
    }
    gnn_plan *plan;
    must(gnn_op_plan_named(op, &o, 0, &plan));
    return plan;
}

static void run_bound(const char *name, bound *b) {
    gnn_op *op;
    const gnn_artefact *a = gnn_library_find(library, name);
    if (!a) fprintf(stderr, "the library has no %s\n", name);
    must(gnn_op_load(a, context, &op));
    gnn_program *p = gnn_op_program(op, 0, 0);
    const uint32_t n = gnn_program_params(p);
    gnn_param_info info[MOST_PARAMS];
    gnn_arg args[MOST_PARAMS] = {{0}};
    for (uint32_t i = 0; i < n; i++) {
        must(gnn_program_param(p, i, &info[i]));
        if (info[i].role == GNN_PARAM_TENSOR) args[i].tensor = *find(b, info[i].name);
    }
    gnn_plan *plan = plan_of(op, p, args, n);
    for (uint32_t i = 0; i < n; i++) {
        gnn_tensor shape;
        if (info[i].role != GNN_PARAM_RESULT) continue;
        must(gnn_plan_shape(plan, i, &shape));
        args[i].tensor = *find(b, info[i].name) = new_array(shape);
    }
    const size_t bytes = gnn_plan_workspace(plan);
    void *workspace;
    must(gnn_alloc(context, bytes, &workspace));
    must(gnn_launch(plan, args, n, workspace, bytes, NULL));
    gnn_free(context, workspace);
    gnn_plan_free(plan);
    gnn_op_free(op);
}
#define RUN(op, ...) run_bound(op, (bound[]){__VA_ARGS__, {NULL, NULL}})

// ---- The exchange -------------------------------------------------------------------------------
static void count_floats(const int64_t *ptr, int64_t width, int *n, int *at) {
    for (int q = 0; q < ranks; q++) {   // MPI counts in int
        n[q] = (int)((ptr[q + 1] - ptr[q]) * width);
        at[q] = (int)(ptr[q] * width);
    }
}

static void all_to_all(const float *from, const int64_t *from_ptr, float *to, const int64_t *to_ptr,
                       int64_t width) {
    int *n = malloc(4 * (size_t)ranks * sizeof *n), *at = n + ranks, *m = at + ranks,
        *to_at = m + ranks;
    if (!n) MPI_Abort(MPI_COMM_WORLD, 1);
    count_floats(from_ptr, width, n, at);
    count_floats(to_ptr, width, m, to_at);
    MPI_Alltoallv(from, n, at, MPI_FLOAT, to, m, to_at, MPI_FLOAT, MPI_COMM_WORLD);
    free(n);
}

// The part's own rows, then those of its halo.
static gnn_tensor *exchange(gnn_tensor *own) {
    const int64_t width = own->shape[1];
    gnn_tensor *rows, *all = matrix(part.owned + part.halo, width);
    RUN("take_rows_f32", {"x", &own}, {"rows", &rows});
    memcpy(data(all), data(own), (size_t)count(own) * sizeof(float));
    all_to_all(data(rows), part.send_ptr, data(all) + count(own), part.halo_ptr, width);
    return all;
}

// The mirror: gradients of rows of others go to these, and are added in the order of ranks.
static gnn_tensor *give_back(const gnn_tensor *all) {
    const int64_t width = all->shape[1], n = part.owned * width;
    gnn_tensor *dx, *own = matrix(part.owned, width),
                    *back = matrix(part.send_ptr[part.parts], width);
    memcpy(data(own), data(all), (size_t)n * sizeof(float));
    all_to_all(data(all) + n, part.halo_ptr, data(back), part.send_ptr, width);
    RUN("give_rows_f32", {"own", &own}, {"back", &back}, {"dx", &dx});
    return dx;
}

// ---- Numbers ------------------------------------------------------------------------------------
static uint64_t mix(uint64_t z) {   // splitmix64
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static float drawn(uint64_t seed, uint64_t i) {   // in [-1, 1)
    return (float)(mix(seed << 40 ^ i) >> 40) * 0x1p-23f - 1;
}

// Of rows by the numbers of their nodes, so they are the same in any part.
static gnn_tensor *draw(gnn_tensor *t, uint64_t seed, bool is_of_nodes) {
    const int64_t width = t->shape[0] ? count(t) / t->shape[0] : 0;
    for (int64_t i = 0; i < count(t); i++) {
        const int64_t row = is_of_nodes ? part.ids[i / width] : i / width;
        data(t)[i] = drawn(seed, (uint64_t)(row * width + i % width));
    }
    return t;
}

static gnn_tensor *rows_of(int64_t width, uint64_t seed) {
    return draw(matrix(part.owned, width), seed, true);
}

static uint64_t hash(const gnn_tensor *t) {
    uint64_t sum = 0, all;
    const int64_t width = t->shape[1];
    for (int64_t i = 0; i < part.owned * width; i++) {
        uint32_t bits;
        memcpy(&bits, data(t) + i, sizeof bits);
        sum += mix((uint64_t)(part.ids[i / width] * width + i % width) << 32 ^ bits);
    }
    MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static double norm(const gnn_tensor *t) {
    double sum = 0, all;
    for (int64_t i = 0; i < count(t); i++) sum += (double)data(t)[i] * (double)data(t)[i];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sqrt(all);
}

// Each rank's share of a weight's gradient, added in their order. Returns the norm.
static double add_shares(gnn_tensor *t) {
    const int n = (int)count(t);
    float *shares = malloc((size_t)n * (size_t)ranks * sizeof *shares);
    if (!shares) MPI_Abort(MPI_COMM_WORLD, 1);
    double squares = 0;
    MPI_Allgather(data(t), n, MPI_FLOAT, shares, n, MPI_FLOAT, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        data(t)[i] = 0;
        for (int r = 0; r < ranks; r++) data(t)[i] += shares[r * n + i];
        squares += (double)data(t)[i] * (double)data(t)[i];
    }
    free(shares);
    return sqrt(squares);
}

static void tell(const char *layer, const gnn_tensor *y, const gnn_tensor *dx, gnn_tensor *dw) {
    const uint64_t result = hash(y), gradient = hash(dx);
    const double of_x = norm(dx), of_w = add_shares(dw);
    if (rank == 0)
        printf("%-5s result %016llx  gradient %016llx  norms %.5g %.5g\n", layer,
               (unsigned long long)result, (unsigned long long)gradient, of_x, of_w);
    clear();
}

// ---- Layers -------------------------------------------------------------------------------------
static void gcn(void) {
    gnn_tensor *x = rows_of(K, 1), *w = draw(matrix(K, Q), 2, false), *dy = rows_of(Q, 9);
    gnn_tensor *c, *h, *y, *dh, *dx, *dw;
    RUN("degrees", {"c", &c});
    c->rank = 2, c->shape[1] = 1;
    gnn_tensor *c_all = exchange(c);
    c_all->rank = 1;
    RUN("dense", {"x", &x}, {"w", &w}, {"y", &h});
    gnn_tensor *h_all = exchange(h);
    RUN("gcn", {"c", &c_all}, {"x", &h_all}, {"y", &y});
    RUN("gcn_grad", {"c", &c_all}, {"x", &h_all}, {"dy", &dy}, {"dx", &dh});
    gnn_tensor *dh_own = give_back(dh);
    RUN("dense_grad", {"x", &x}, {"w", &w}, {"dy", &dh_own}, {"dx", &dx}, {"dw", &dw});
    tell("gcn", y, dx, dw);
}

static void sage(void) {
    gnn_tensor *x = exchange(rows_of(K, 1)), *w1 = draw(matrix(K, Q), 2, false),
               *w2 = draw(matrix(K, Q), 3, false), *dy = rows_of(Q, 9);
    gnn_tensor *y, *dx, *dw1, *dw2;
    RUN("sage", {"x", &x}, {"w1", &w1}, {"w2", &w2}, {"y", &y});
    RUN("sage_grad", {"x", &x}, {"w1", &w1}, {"w2", &w2}, {"dy", &dy}, {"dx", &dx}, {"dw1", &dw1},
        {"dw2", &dw2});
    tell("sage", y, give_back(dx), dw2);
}

static void rgcn(void) {
    gnn_tensor *x = exchange(rows_of(K, 1)), *w1 = draw(matrix(K, Q), 2, false),
               *dy = rows_of(Q, 9);
    gnn_tensor *w = draw(new_array((gnn_tensor){.rank = 3, .shape = {RELATIONS, K, Q}}), 4, false);
    gnn_tensor *y, *dx, *dw, *dw1;
    RUN("rgcn", {"x", &x}, {"w", &w}, {"w1", &w1}, {"y", &y});
    RUN("rgcn_grad", {"x", &x}, {"w", &w}, {"w1", &w1}, {"dy", &dy}, {"dx", &dx}, {"dw", &dw},
        {"dw1", &dw1});
    tell("rgcn", y, give_back(dx), dw);
}

static void gat(void) {
    const gnn_tensor line = {.rank = 1, .shape = {Q}};
    gnn_tensor *x = exchange(rows_of(Q, 1)), *left = draw(new_array(line), 5, false),
               *right = draw(new_array(line), 6, false), *dy = rows_of(Q, 9);
    gnn_tensor *y, *dx, *dl, *dr;
    RUN("gat", {"x", &x}, {"left", &left}, {"right", &right}, {"y", &y});
    RUN("gat_grad", {"x", &x}, {"left", &left}, {"right", &right}, {"dy", &dy}, {"dx", &dx},
        {"dleft", &dl}, {"dright", &dr});
    tell("gat", y, give_back(dx), dr);
}

// ---- Parts of one cut ---------------------------------------------------------------------------
// Each rank says which part it has; where they do not fit, all end.
static bool fits(void) {
    const long long own[] = {part.part, part.parts, part.checksum};
    long long *all = malloc(3 * (size_t)ranks * sizeof *all);
    if (!all) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Allgather(own, 3, MPI_LONG_LONG, all, 3, MPI_LONG_LONG, MPI_COMM_WORLD);
    int wrong = -1;
    for (int r = ranks; r-- > 0;)
        if (all[3 * r] != r || all[3 * r + 1] != ranks || all[3 * r + 2] != all[2]) wrong = r;
    if (wrong >= 0 && rank == 0)
        fprintf(stderr, "rank %d of %d has part %lld of %lld, of %s cut\n", wrong, ranks,
                all[3 * wrong], all[3 * wrong + 1],
                all[3 * wrong + 2] == all[2] ? "this" : "another");
    free(all);
    return wrong < 0;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3) {
        if (rank == 0) fprintf(stderr, "usage: parts layers.gnnlib FOLDER\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/%d.npz", argv[2], rank);
    must(gnn_context_new(&(gnn_context_options){.device = GNN_HOST, .threads = 1}, &context));
    must(gnn_library_open(context, argv[1], &library));
    must(gnn_part_read(context, path, &part));
    must(gnn_graph_expand(context, &part.graph));
    const bool good = fits();
    if (good) gcn(), sage(), rgcn(), gat();
    gnn_part_free(context, &part);
    gnn_library_close(library);
    gnn_context_free(context);
    MPI_Finalize();
    return good ? 0 : 1;
}
