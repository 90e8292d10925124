// What the programs of this folder share: a graph with its split, weights, the training loop, and
// what is told of it. A model is an op that gives the loss of labelled nodes and how many of them
// are classified rightly, the gradient of that loss in the weights, and a table of the weights:
//
//     train t;
//     train_begin(&t, argc, argv, true, TRAIN_TYPE);
//     train_read(&t);
//     train_weights(&t, table, n);
//     struct ARGS(gcn_step) step = {..., .w1 = t.w[0], .step = t.step, .dloss = t.scale, .dw1 = t.g[0]};
//     struct ARGS(gcn_loss) loss = {..., .w1 = t.w[0], .step = t.step, .loss = t.loss, .hits = t.hits};
//     train_run(&t, &(train_model){.step = {&ARTEFACT(gcn_step), &step, &step.label},
//                                  .loss = {&ARTEFACT(gcn_loss), &loss, &loss.label}});
//
// TYPE, which CMake says, is what the op's T is: f32, f16 or bf16. Nothing is freed: all of it is
// used until the program ends. What fails ends the program, with the reason.
#ifndef TRAIN_H
#define TRAIN_H

#include <gnnrt_io.h>

// What C calls things of an op of T = TYPE, such as gcn_step_f16_args, and what train_begin calls
// the type.
#define TRAIN_JOIN_(a, type, b) a##type##b
#define TRAIN_JOIN(a, type, b) TRAIN_JOIN_(a, type, b)
#define ARGS(op) TRAIN_JOIN(op##_, TYPE, _args)
#define ARTEFACT(op) TRAIN_JOIN(op##_, TYPE, _artefact)
#define TRAIN_TYPE TRAIN_JOIN(TRAIN_, TYPE, )
enum { TRAIN_f32, TRAIN_bf16, TRAIN_f16 };

enum { TRAIN_WEIGHTS = 32 };   // at most
enum { TRAIN_FIT, TRAIN_VALIDATION, TRAIN_TEST, TRAIN_SETS };

typedef struct {
    int64_t count;   // of its numbers
    // inputs and outputs of what it weighs, for Glorot and Bengio's initial values; 0:
    int64_t fan;
    float value;   // all are this
} train_weight;

typedef struct {
    gnn_map label;   // of each node, none (-1) outside the set
    int64_t count;   // of labelled ones
} train_set;

typedef struct {                // of the command line
    const char *file, *curve;   // NULL: no curve
    uint64_t seed;
    int64_t epochs;   // 0: as many as the model says
    bool no_capture;
    // the scale of the loss at first and at most; 0: it is 1, and no step is skipped
    float first, most;
} train_request;

typedef struct {
    gnn_graph graph;
    gnn_map src, dst;         // its edges
    int64_t entries, words;   // of sparse features
    gnn_map paper, word;      // the node of each entry, and which word of it is there
    gnn_tensor val;           // 1 over the number of words of the node
    int64_t classes;
    train_set set[TRAIN_SETS];
} train_data;

typedef struct {
    gnn_context *context;
    gnn_stream stream;
    train_request asked;
    train_data data;
    // In the device's memory.
    size_t bytes;                                    // of all that is there but for the graph
    gnn_tensor w[TRAIN_WEIGHTS], g[TRAIN_WEIGHTS];   // weights, and where their gradients go
    // how many steps were made or skipped; the derivative of the loss by itself
    gnn_tensor step, scale;
    gnn_tensor loss, hits;   // what evaluating a set gives
    // All weights together: how many numbers, these, their gradients, Adam's moments, the best
    // weights.
    int64_t numbers;
    gnn_tensor weights, gradients, moments[2], best;
    uint64_t random;
} train;

// an op, its arguments, and where among them the labels are, which each set has its own of
typedef struct {
    const gnn_artefact *op;
    void *args;
    gnn_map *label;
} train_op;

typedef struct {
    train_op step;    // the gradient
    train_op loss;    // the loss, without dropout and weight decay, and the hits
    float rate;       // Adam's
    int64_t epochs;   // where the command line does not say
    // 0: the last weights count; else the best on the validation set, sought for so long
    int64_t patience;
} train_model;

// NAME [GRAPH] [SEED [CURVE.svg]] [--epochs=N] [--no-capture] [--scale=S], with GRAPH where
// `reads`.
void train_begin(train *t, int argc, char **argv, bool reads, int type);
void train_read(train *t);   // fills the data from the file
void train_weights(train *t, const train_weight *table, int n);
void train_run(train *t, const train_model *m);

// For models that make their data.
void train_must(const train *t, gnn_status s);
void *train_zeros(size_t count, size_t size);
gnn_tensor train_tensor(train *t, const void *host, size_t bytes);   // host NULL: zeros
double train_uniform(train *t);                                      // in [0, 1)

#endif
