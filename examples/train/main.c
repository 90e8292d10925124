// Trains a graph convolutional network: forward, loss, gradient and optimiser are ops of gcn.gnn, this is what is
// around them.
// Usage: gcn GRAPH [SEED [CURVE.svg]]
#include "gcn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { HIDDEN = 16, EPOCHS = 200, WEIGHTS = 4, EVERY = 20 };

static gnn_context *context;

static void must(gnn_status s) {
    if (!s) return;
    const char *why = context ? gnn_context_error(context) : "";
    fprintf(stderr, "%s\n", *why ? why : gnn_status_text(s));
    exit(1);
}

// ---- Memory ----------------------------------------------------------------------------------------------
static gnn_tensor tensor(const void *host, size_t bytes) {
    gnn_tensor t = {0};
    must(gnn_alloc(context, bytes ? bytes : 1, &t.data));
    if (host) must(gnn_copy_in(context, t.data, host, bytes, NULL));
    must(gnn_sync(context, NULL));
    return t;
}

static void *zeros(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory) exit(1);
    return memory;
}

// A weight, its gradient, its moments, and the copy that adam gives.
typedef struct {
    int64_t rows, columns;
    gnn_tensor w, g, m, s, h;
} weight;

static double uniform(uint64_t *state) {   // in [0, 1): splitmix64
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

// Glorot and Bengio's initial values, or zeros of a bias.
static weight weight_new(int64_t rows, int64_t columns, uint64_t *state) {
    size_t n = (size_t)(rows * columns), bytes = n * sizeof(float);
    float *w = zeros(n, sizeof *w), limit = sqrtf(6 / (float)(rows + columns));
    weight x = {.rows = rows, .columns = columns};
    x.m = tensor(w, bytes);
    x.s = tensor(w, bytes);
    for (size_t i = 0; i < n && rows > 1; i++) w[i] = limit * (float)(2 * uniform(state) - 1);
    x.w = tensor(w, bytes);
    x.g = tensor(NULL, bytes);
    x.h = tensor(NULL, bytes);
    free(w);
    return x;
}

// ---- Data ------------------------------------------------------------------------------------------------
typedef struct {
    gnn_graph graph;
    gnn_array at, word;   // sparse features: where each paper's words begin, and which they are
    int64_t *labels;      // of the training nodes; none (-1) elsewhere
    int64_t words, classes;
    gnn_tensor val;
} data;

static int64_t int_at(const gnn_array *a, int64_t i) {
    return a->dtype == GNN_I32 ? ((const int32_t *)a->data)[i] : ((const int64_t *)a->data)[i];
}

static data data_read(const char *path) {
    data d = {0};
    gnn_array wide;
    must(gnn_graph_read(context, path, &d.graph));
    must(gnn_array_read_npz(context, path, "x_indptr", &d.at));
    must(gnn_array_read_npz(context, path, "x_indices", &d.word));
    must(gnn_array_read_npz(context, path, "x_dim", &wide));
    d.words = int_at(&wide, 0);
    gnn_array_free(context, &wide);
    d.labels = zeros((size_t)d.graph.nodes, sizeof *d.labels);
    for (int64_t v = 0; v < d.graph.nodes; v++) {
        d.labels[v] = -1;
        if (int_at(&d.graph.y, v) >= d.classes) d.classes = int_at(&d.graph.y, v) + 1;
    }
    for (int64_t i = 0; i < gnn_array_count(&d.graph.train_idx); i++) {
        int64_t v = int_at(&d.graph.train_idx, i);
        d.labels[v] = int_at(&d.graph.y, v);
    }
    float *val = zeros((size_t)gnn_array_count(&d.word), sizeof *val);
    for (int64_t v = 0; v < d.graph.nodes; v++)
        for (int64_t i = int_at(&d.at, v); i < int_at(&d.at, v + 1); i++)
            val[i] = 1 / (float)(int_at(&d.at, v + 1) - int_at(&d.at, v));
    d.val = tensor(val, (size_t)gnn_array_count(&d.word) * sizeof *val);
    free(val);
    return d;
}

// Of the nodes listed, how many have their own class as the largest logit.
static double accuracy(const data *d, const float *z, const gnn_array *nodes) {
    int64_t hits = 0, n = gnn_array_count(nodes);
    for (int64_t i = 0; i < n; i++) {
        int64_t v = int_at(nodes, i), best = 0;
        for (int64_t c = 1; c < d->classes; c++)
            if (z[v * d->classes + c] > z[v * d->classes + best]) best = c;
        hits += best == int_at(&d->graph.y, v);
    }
    return n ? 100 * (double)hits / (double)n : 0;
}

// ---- The curve -------------------------------------------------------------------------------------------
static void draw(const char *path, const double *loss, int n) {
    FILE *f = fopen(path, "w");
    double most = 0;
    if (!f) return;
    for (int i = 0; i < n; i++) most = fmax(most, loss[i]);
    fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 360\" font-family=\"sans-serif\""
               " font-size=\"12\">\n<path d=\"M40 20V330H620\" fill=\"none\" stroke=\"#888\"/>"
               "<text x=\"40\" y=\"14\">loss, at most %.2f</text><text x=\"560\" y=\"350\">%d epochs</text>\n"
               "<polyline fill=\"none\" stroke=\"#1f77b4\" stroke-width=\"2\" points=\"",
            most, EPOCHS);
    for (int i = 0; i < n; i++) fprintf(f, "%.1f,%.1f ", 40 + 580.0 * i / (n - 1), 330 - 310 * loss[i] / most);
    fprintf(f, "\"/>\n</svg>\n");
    fclose(f);
}

// ---- Training --------------------------------------------------------------------------------------------
#define GRAPH_OF(d)                                                                                         \
    .Z = gnn_array_count(&(d)->word), .N = (d)->graph.nodes, .K = (d)->words, .E = (d)->graph.edges,        \
    .H = HIDDEN, .C = (d)->classes, .paper = {.offsets = (d)->at.data, .width = 32},                        \
    .word = {.index = (d)->word.data, .width = 32}, .val = (d)->val,                                        \
    .src = {.index = (d)->graph.col, .width = 64}, .dst = {.offsets = (d)->graph.rowptr, .width = 64}
#define LABEL_OF(d) .label = {.index = (d)->labels, .width = 64}
#define WEIGHTS_OF(w) .w1 = (w)[0].w, .b1 = (w)[1].w, .w2 = (w)[2].w, .b2 = (w)[3].w
#define GRADIENTS_OF(w) .dw1 = (w)[0].g, .db1 = (w)[1].g, .dw2 = (w)[2].g, .db2 = (w)[3].g

typedef struct {
    struct gcn_step_args step;
    struct gcn_args logits;
    struct gcn_loss_args loss;
    struct update_f32_args update[WEIGHTS];
    gnn_op *ops[3 + 1];
    gnn_plan *step_plan, *logits_plan, *loss_plan, *update_plan[WEIGHTS];
    gnn_tensor work;
    size_t bytes;
} model;

static void model_new(model *m, const data *d, weight *w) {
    float one = 1;
    size_t bytes[3];
    m->step = (struct gcn_step_args){GRAPH_OF(d), LABEL_OF(d), WEIGHTS_OF(w), GRADIENTS_OF(w),
                                     .p = 0.5f, .decay = 5e-4f, .dloss = tensor(&one, sizeof one)};
    m->logits = (struct gcn_args){GRAPH_OF(d), WEIGHTS_OF(w),
                                  .z = tensor(NULL, (size_t)(d->graph.nodes * d->classes) * sizeof(float))};
    m->loss = (struct gcn_loss_args){GRAPH_OF(d), LABEL_OF(d), WEIGHTS_OF(w),
                                     .decay = 5e-4f, .loss = tensor(NULL, sizeof(float))};
    must(gcn_step_load(context, &m->ops[0]));
    must(gcn_load(context, &m->ops[1]));
    must(gcn_loss_load(context, &m->ops[2]));
    must(update_f32_load(context, &m->ops[3]));
    must(gcn_step_plan(m->ops[0], &m->step, NULL, &m->step_plan));
    must(gcn_plan(m->ops[1], &m->logits, NULL, &m->logits_plan));
    must(gcn_loss_plan(m->ops[2], &m->loss, NULL, &m->loss_plan));
    must(gcn_step_workspace(m->step_plan, &m->step, &bytes[0]));
    must(gcn_workspace(m->logits_plan, &m->logits, &bytes[1]));
    must(gcn_loss_workspace(m->loss_plan, &m->loss, &bytes[2]));
    for (int i = 0; i < 3; i++)
        if (bytes[i] > m->bytes) m->bytes = bytes[i];
    m->work = tensor(NULL, m->bytes);
    for (int i = 0; i < WEIGHTS; i++) {
        m->update[i] = (struct update_f32_args){
            .N = w[i].rows, .F = w[i].columns, .w = w[i].w, .g = w[i].g, .m = w[i].m, .s = w[i].s,
            .w1 = w[i].w, .m1 = w[i].m, .s1 = w[i].s, .h = w[i].h,
            .lr = 0.01f, .b1 = 0.9f, .b2 = 0.999f, .eps = 1e-8f};
        must(update_f32_plan(m->ops[3], &m->update[i], NULL, &m->update_plan[i]));
    }
}

static double loss_now(model *m) {
    float loss;
    must(gcn_loss_launch(m->loss_plan, &m->loss, m->work.data, m->bytes, NULL));
    must(gnn_copy_out(context, &loss, m->loss.loss.data, sizeof loss, NULL));
    must(gnn_sync(context, NULL));
    return (double)loss;
}

static double seconds(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: gcn GRAPH [SEED [CURVE.svg]]\n");
        return 2;
    }
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, state = seed * 7919;
    double curve[EPOCHS / EVERY + 1], begin, spent;
    static model m;
    must(gnn_context_new(&(gnn_context_options){.device = GNN_AUTO}, &context));
    data d = data_read(argv[1]);
    weight w[WEIGHTS] = {weight_new(d.words, HIDDEN, &state), weight_new(1, HIDDEN, &state),
                         weight_new(HIDDEN, d.classes, &state), weight_new(1, d.classes, &state)};
    model_new(&m, &d, w);
    begin = seconds();
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        if (epoch % EVERY == 0) {
            curve[epoch / EVERY] = loss_now(&m);
            printf("epoch %3d  loss %.4f\n", epoch, curve[epoch / EVERY]);
        }
        m.step.seed = (int64_t)(seed * 1000003 + 2 * (uint64_t)epoch);
        must(gcn_step_launch(m.step_plan, &m.step, m.work.data, m.bytes, NULL));
        for (int i = 0; i < WEIGHTS; i++) {
            m.update[i].step = epoch + 1;
            must(update_f32_launch(m.update_plan[i], &m.update[i], NULL, 0, NULL));
        }
    }
    curve[EPOCHS / EVERY] = loss_now(&m);
    spent = seconds() - begin;
    float *z = zeros((size_t)(d.graph.nodes * d.classes), sizeof *z);
    must(gcn_launch(m.logits_plan, &m.logits, m.work.data, m.bytes, NULL));
    must(gnn_copy_out(context, z, m.logits.z.data, (size_t)(d.graph.nodes * d.classes) * sizeof *z, NULL));
    must(gnn_sync(context, NULL));
    gnn_device_info device;
    must(gnn_device_query(context, &device));
    printf("epoch %3d  loss %.4f\n%s: %d epochs in %.2f s; accuracy: validation %.1f, test %.1f\n", EPOCHS,
           curve[EPOCHS / EVERY], device.name, EPOCHS, spent, accuracy(&d, z, &d.graph.val_idx),
           accuracy(&d, z, &d.graph.test_idx));
    if (argc > 3) draw(argv[3], curve, EPOCHS / EVERY + 1);
    return 0;
}
