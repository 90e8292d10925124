#include "train.h"

#include "optimiser.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVERY = 20, POINTS = 1000 };   // epochs between two lines of progress; points of a curve
// good steps in a row after which the scale of the loss doubles
enum { OFTEN = 200 };

// The scale of the loss at first and at most. Gradients of f16 end at 65504, and what is below
// 2^-25 is 0; those of bf16 have the range of f32, but a step whose gradients are infinite is
// skipped.
static const struct {
    float first, most;
} scales[] = {[TRAIN_f32] = {0, 0}, [TRAIN_bf16] = {1, 1}, [TRAIN_f16] = {0x1p16f, 0x1p24f}};

void train_must(const train *t, gnn_status s) {
    if (!s) return;
    const char *why = t->context ? gnn_context_error(t->context) : "";
    fprintf(stderr, "%s\n", *why ? why : gnn_status_text(s));
    exit(1);
}

// ---- Memory -------------------------------------------------------------------------------------
void *train_zeros(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

gnn_tensor train_tensor(train *t, const void *host, size_t bytes) {
    gnn_tensor x = {0};
    t->bytes += bytes;
    train_must(t, gnn_alloc(t->context, bytes ? bytes : 1, &x.data));
    train_must(t, host ? gnn_copy_in(t->context, x.data, host, bytes, t->stream)
                       : gnn_fill(t->context, x.data, 0, bytes, t->stream));
    train_must(t, gnn_sync(t->context, t->stream));
    return x;
}

double train_uniform(train *t) {   // splitmix64
    uint64_t z = t->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

// ---- The command line ---------------------------------------------------------------------------
static bool option(train *t, const char *text) {
    if (!strcmp(text, "--no-capture")) return t->asked.no_capture = true;
    if (!strncmp(text, "--scale=", 8))
        return (t->asked.first = strtof(text + 8, NULL)) >= 1 && t->asked.first < INFINITY;
    return !strncmp(text, "--epochs=", 9) && (t->asked.epochs = strtoll(text + 9, NULL, 10)) > 0;
}

void train_begin(train *t, int argc, char **argv, bool reads, int type) {
    const char *words[3] = {NULL, "1", NULL};
    int n = !reads;   // of them
    bool good = true;
    t->asked.first = scales[type].first;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') good &= option(t, argv[i]);
        else if (n < 3) words[n++] = argv[i];
        else good = false;
    }
    if (!good || (reads && !words[0])) {
        fprintf(stderr, "usage: %s%s [SEED [CURVE.svg]] [--epochs=N] [--no-capture] [--scale=S]\n",
                argv[0], reads ? " GRAPH" : "");
        exit(2);
    }
    t->asked.file = words[0];
    t->asked.seed = strtoull(words[1], NULL, 10);
    t->asked.curve = words[2];
    t->random = t->asked.seed * 7919;
    train_must(t, gnn_context_new(&(gnn_context_options){.device = GNN_AUTO}, &t->context));
    train_must(t, gnn_stream_new(t->context, &t->stream));
    t->asked.most = fmaxf(t->asked.first, scales[type].most);
    float scale = fmaxf(t->asked.first, 1);
    t->step = train_tensor(t, NULL, sizeof(int64_t));
    t->scale = train_tensor(t, &scale, sizeof scale);
    t->loss = train_tensor(t, NULL, sizeof(float));
    t->hits = train_tensor(t, NULL, sizeof(int64_t));
}

// ---- Data ---------------------------------------------------------------------------------------
static int64_t int_at(const gnn_array *a, int64_t i) {
    return a->dtype == GNN_I32 ? ((const int32_t *)a->data)[i] : ((const int64_t *)a->data)[i];
}

static gnn_map map_of(const gnn_array *a) {
    return (gnn_map){.index = a->data, .width = a->dtype == GNN_I32 ? 32 : 64};
}

// A graph need not have features, or have them sparse.
static void read_words(train *t) {
    gnn_array at, word, wide;
    if (gnn_array_read_npz(t->context, t->asked.file, "x_indptr", &at)) {
        gnn_context_clear_error(t->context);
        return;
    }
    train_must(t, gnn_array_read_npz(t->context, t->asked.file, "x_indices", &word));
    train_must(t, gnn_array_read_npz(t->context, t->asked.file, "x_dim", &wide));
    t->data.entries = gnn_array_count(&word);
    t->data.words = int_at(&wide, 0);
    t->data.word = map_of(&word);
    t->data.paper = (gnn_map){.offsets = at.data, .width = at.dtype == GNN_I32 ? 32 : 64};
    float *val = train_zeros((size_t)t->data.entries, sizeof *val);
    for (int64_t v = 0; v < t->data.graph.nodes; v++)
        for (int64_t i = int_at(&at, v); i < int_at(&at, v + 1); i++)
            val[i] = 1 / (float)(int_at(&at, v + 1) - int_at(&at, v));
    t->data.val = train_tensor(t, val, (size_t)t->data.entries * sizeof *val);
    free(val);
    gnn_array_free(t->context, &wide);
}

static train_set read_set(const train *t, const gnn_array *nodes) {
    int64_t *label = train_zeros((size_t)t->data.graph.nodes, sizeof *label);
    int64_t count = nodes->rank ? gnn_array_count(nodes) : 0;
    for (int64_t v = 0; v < t->data.graph.nodes; v++) label[v] = -1;
    for (int64_t i = 0; i < count; i++)
        label[int_at(nodes, i)] = int_at(&t->data.graph.y, int_at(nodes, i));
    return (train_set){.label = {.index = label, .width = 64}, .count = count};
}

void train_read(train *t) {
    gnn_graph *g = &t->data.graph;
    train_must(t, gnn_graph_read(t->context, t->asked.file, g));
    if (!g->y.rank || !g->train_idx.rank) {
        fprintf(stderr, "%s: needs y and train_idx\n", t->asked.file);
        exit(1);
    }
    read_words(t);
    t->data.src = (gnn_map){.index = g->col, .width = 64};
    t->data.dst = (gnn_map){.offsets = g->rowptr, .width = 64};
    for (int64_t v = 0; v < g->nodes; v++)
        if (int_at(&g->y, v) >= t->data.classes) t->data.classes = int_at(&g->y, v) + 1;
    t->data.set[TRAIN_FIT] = read_set(t, &g->train_idx);
    t->data.set[TRAIN_VALIDATION] = read_set(t, &g->val_idx);
    t->data.set[TRAIN_TEST] = read_set(t, &g->test_idx);
}

// ---- Weights ------------------------------------------------------------------------------------
// Each begins on 256 bytes, as an array of its own would; the gap holds zeros, whose gradients are
// zeros.
static int64_t padded(int64_t count) { return (count + 63) / 64 * 64; }

void train_weights(train *t, const train_weight *table, int n) {
    if (n > TRAIN_WEIGHTS) train_must(t, GNN_TOO_LARGE);
    for (int i = 0; i < n; i++) t->numbers += padded(table[i].count);
    size_t bytes = (size_t)t->numbers * sizeof(float);
    float *all = train_zeros((size_t)t->numbers, sizeof *all), *w = all;
    for (int i = 0; i < n; w += padded(table[i++].count)) {
        double limit = table[i].fan ? sqrt(6 / (double)table[i].fan) : 0;
        for (int64_t k = 0; k < table[i].count; k++)
            w[k] = table[i].fan ? (float)(limit * (2 * train_uniform(t) - 1)) : table[i].value;
    }
    t->weights = train_tensor(t, all, bytes);
    t->gradients = train_tensor(t, NULL, bytes);
    for (int i = 0; i < 2; i++) t->moments[i] = train_tensor(t, NULL, bytes);
    t->best = train_tensor(t, all, bytes);
    int64_t at = 0;
    for (int i = 0; i < n; at += padded(table[i++].count)) {
        t->w[i].data = (float *)t->weights.data + at;
        t->g[i].data = (float *)t->gradients.data + at;
    }
    free(all);
}

// ---- Launches -----------------------------------------------------------------------------------
typedef struct {
    const gnn_artefact *op;
    const void *args;
    gnn_plan *plan;
} launch;

typedef struct {
    train *t;
    gnn_cache *cache;   // what plans prepare of the same graph
    gnn_tensor work;    // one workspace for all launches, which run one after another
    size_t bytes;
    // gradient, Adam, tick; where the best weights are kept, the validation set and that
    launch step[5];
    int steps;
    launch evaluate[TRAIN_SETS], restore;
    struct adam_args adam;
    struct tick_args tick;
    struct scaled_adam_args scaled_adam;   // instead of these two where the loss is scaled
    struct rescale_args rescale;
    struct keep_args keep;
    struct restore_args restored;
    gnn_replay *replay;   // of a step; NULL: it is launched
} loop;

static launch planned(loop *l, const gnn_artefact *op, const void *args) {
    launch x = {op, args, NULL};
    gnn_op_options options = {.stream = l->t->stream, .cache = l->cache};
    gnn_op *loaded;
    size_t bytes;
    train_must(l->t, gnn_op_load(op, l->t->context, &loaded));
    train_must(l->t, gnn_op_plan(op, loaded, args, &options, &x.plan));
    train_must(l->t, gnn_op_workspace(op, x.plan, args, &bytes));
    if (bytes > l->bytes) l->bytes = bytes;
    return x;
}

// A plan of each set shares the arguments: a launch takes the plan's labels where these name none.
static launch planned_for(loop *l, const train_op *o, int set) {
    *o->label = l->t->data.set[set].label;
    launch x = planned(l, o->op, o->args);
    *o->label = (gnn_map){0};
    return x;
}

static void launched(const loop *l, const launch *x) {
    train_must(l->t, gnn_op_launch(x->op, x->plan, x->args, l->work.data, l->bytes, l->t->stream));
}

static void plan_adam(loop *l, const train_model *m) {
    const train *t = l->t;
    // clang-format off
    l->adam = (struct adam_args){
        .N = t->numbers, .step = t->step, .w = t->weights, .g = t->gradients, .m = t->moments[0],
        .s = t->moments[1], .rate = m->rate, .b1 = 0.9f, .b2 = 0.999f, .eps = 1e-8f,
        .w1 = t->weights, .m1 = t->moments[0], .s1 = t->moments[1]};
    // clang-format on
    l->tick = (struct tick_args){.step = t->step, .next = t->step};
    l->step[l->steps++] = planned(l, &adam_artefact, &l->adam);
    l->step[l->steps++] = planned(l, &tick_artefact, &l->tick);
}

static void plan_scaled_adam(loop *l, const train_model *m) {
    train *t = l->t;
    gnn_tensor done = train_tensor(t, NULL, sizeof(int64_t)),
               row = train_tensor(t, NULL, sizeof(int64_t));
    gnn_tensor good = train_tensor(t, NULL, sizeof(bool));
    // clang-format off
    l->scaled_adam = (struct scaled_adam_args){
        .N = t->numbers, .done = done, .scale = t->scale, .w = t->weights, .g = t->gradients,
        .m = t->moments[0], .s = t->moments[1], .rate = m->rate, .b1 = 0.9f, .b2 = 0.999f,
        .eps = 1e-8f,
        .w1 = t->weights, .m1 = t->moments[0], .s1 = t->moments[1], .good = good};
    // clang-format on
    l->rescale = (struct rescale_args){.good = good,
                                       .often = OFTEN,
                                       .most = t->asked.most,
                                       .step = t->step,
                                       .done = done,
                                       .row = row,
                                       .scale = t->scale,
                                       .step1 = t->step,
                                       .done1 = done,
                                       .row1 = row,
                                       .scale1 = t->scale};
    l->step[l->steps++] = planned(l, &scaled_adam_artefact, &l->scaled_adam);
    l->step[l->steps++] = planned(l, &rescale_artefact, &l->rescale);
}

static void plan_all(loop *l, const train_model *m) {
    train *t = l->t;
    int64_t n = t->numbers;
    float inf = INFINITY;
    for (int i = 0; i < TRAIN_SETS; i++) l->evaluate[i] = planned_for(l, &m->loss, i);
    l->step[l->steps++] = planned_for(l, &m->step, TRAIN_FIT);
    if (t->asked.first > 0) plan_scaled_adam(l, m);
    else plan_adam(l, m);
    if (m->patience) {
        gnn_tensor low = train_tensor(t, &inf, sizeof inf);
        gnn_tensor high = train_tensor(t, NULL, sizeof(int64_t)),
                   since = train_tensor(t, NULL, sizeof(int64_t));
        l->keep = (struct keep_args){.N = n,
                                     .w = t->weights,
                                     .loss = t->loss,
                                     .hits = t->hits,
                                     .patience = m->patience,
                                     .best = t->best,
                                     .low = low,
                                     .high = high,
                                     .since = since,
                                     .best1 = t->best,
                                     .low1 = low,
                                     .high1 = high,
                                     .since1 = since};
        l->restored = (struct restore_args){.N = n, .best = t->best, .w = t->weights};
        l->step[l->steps++] = l->evaluate[TRAIN_VALIDATION];
        l->step[l->steps++] = planned(l, &keep_artefact, &l->keep);
        l->restore = planned(l, &restore_artefact, &l->restored);
    }
    l->work = train_tensor(t, NULL, l->bytes);
}

// A step on a GPU is captured once and replayed: its launches one by one take this thread longer
// than the GPU. The host and old drivers capture nothing.
static void capture(loop *l) {
    gnn_context *c = l->t->context;
    gnn_status s = l->t->asked.no_capture ? GNN_NO_CAPTURE : gnn_capture_begin(c, l->t->stream);
    if (s == GNN_NO_CAPTURE) {
        gnn_context_clear_error(c);
        return;
    }
    train_must(l->t, s);
    for (int i = 0; i < l->steps; i++) launched(l, &l->step[i]);
    train_must(l->t, gnn_capture_end(c, l->t->stream, &l->replay));
}

static void step(const loop *l) {
    if (l->replay) train_must(l->t, gnn_replay_launch(l->replay, l->t->stream));
    else
        for (int i = 0; i < l->steps; i++) launched(l, &l->step[i]);
}

static void read_back(const train *t, void *host, const gnn_tensor *x, size_t bytes) {
    train_must(t, gnn_copy_out(t->context, host, x->data, bytes, t->stream));
    train_must(t, gnn_sync(t->context, t->stream));
}

// The loss of a set; *right, where it is not NULL: how many percent are classified rightly.
static double evaluated(const loop *l, int set, double *right) {
    float loss;
    int64_t hits;
    launched(l, &l->evaluate[set]);
    read_back(l->t, &loss, &l->t->loss, sizeof loss);
    read_back(l->t, &hits, &l->t->hits, sizeof hits);
    if (right)
        *right = l->t->data.set[set].count ? 100 * (double)hits / (double)l->t->data.set[set].count
                                           : 0;
    return (double)loss;
}

// ---- What is told -------------------------------------------------------------------------------
typedef struct {
    int n;
    double epoch[POINTS], loss[POINTS];
} curve;

static void progress(const loop *l, curve *c, int64_t epoch) {
    double loss = evaluated(l, TRAIN_FIT, NULL);
    printf("epoch %3lld  loss %.4f\n", (long long)epoch, loss);
    if (c->n == POINTS) return;
    c->epoch[c->n] = (double)epoch;
    c->loss[c->n++] = loss;
}

static void draw(const curve *c, const char *path) {
    FILE *f = fopen(path, "w");
    double most = 0, last = c->epoch[c->n - 1];
    if (!f) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
    for (int i = 0; i < c->n; i++) most = fmax(most, c->loss[i]);
    fprintf(
        f,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 360\" font-family=\"sans-serif\""
        " font-size=\"12\">\n<path d=\"M40 20V330H620\" fill=\"none\" stroke=\"#888\"/>"
        "<text x=\"40\" y=\"14\">loss, at most %.2f</text><text x=\"560\" y=\"350\">%.0f epochs</text>\n"
        "<polyline fill=\"none\" stroke=\"#1f77b4\" stroke-width=\"2\" points=\"",
        most, last);
    for (int i = 0; i < c->n; i++)
        fprintf(f, "%.1f,%.1f ", 40 + 580 * c->epoch[i] / last, 330 - 310 * c->loss[i] / most);
    fprintf(f, "\"/>\n</svg>\n");
    fclose(f);
}

static double seconds(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool out_of_patience(const loop *l, const train_model *m) {
    int64_t since = 0;
    if (m->patience) read_back(l->t, &since, &l->keep.since, sizeof since);
    return m->patience && since >= m->patience;
}

static void print_scale(const loop *l) {
    int64_t step, done;
    float scale;
    if (!l->rescale.done.data) return;
    read_back(l->t, &step, &l->t->step, sizeof step);
    read_back(l->t, &done, &l->rescale.done, sizeof done);
    read_back(l->t, &scale, &l->t->scale, sizeof scale);
    printf("%lld steps skipped; the loss was scaled by %g in the end\n", (long long)(step - done),
           (double)scale);
}

void train_run(train *t, const train_model *m) {
    static curve told;
    loop l = {.t = t};
    int64_t epoch = 0, epochs = t->asked.epochs ? t->asked.epochs : m->epochs;
    double begin, spent, validation, test;
    gnn_device_info device;
    train_must(t, gnn_device_query(t->context, &device));
    train_must(t, gnn_cache_new(t->context, &l.cache));
    plan_all(&l, m);
    capture(&l);
    begin = seconds();
    for (; epoch < epochs; epoch++) {
        if (epoch % EVERY == 0) {
            progress(&l, &told, epoch);
            if (out_of_patience(&l, m)) break;
        }
        step(&l);
    }
    if (epoch == epochs) progress(&l, &told, epoch);
    spent = seconds() - begin;
    if (m->patience) launched(&l, &l.restore);
    evaluated(&l, TRAIN_VALIDATION, &validation);
    evaluated(&l, TRAIN_TEST, &test);
    print_scale(&l);
    printf(
        "%s: %lld epochs in %.3f s, %.1f MB beside the graph; accuracy: validation %.1f, test %.1f\n",
        device.name, (long long)epoch, spent, (double)t->bytes / 1e6, validation, test);
    if (t->asked.curve) draw(&told, t->asked.curve);
}
