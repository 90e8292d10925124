// What the tests of the evaluator share: an op from text, inputs by name, results by name.
#ifndef TENSOR_HARNESS_H
#define TENSOR_HARNESS_H

#include "tensor.h"
#include "tensor_eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALS = 32, MAX_SPACES = 32 };
typedef struct {
    arena *a;
    tensor_op *op;
    int64_t sizes[MAX_SPACES];
    tensor_array inputs[MAX_VALS];
    tensor_evaluated results[MAX_VALS];
    uint64_t one_in, max_steps;
    bool real;
    const char *why;
} trial;

static int failures;

static inline void check_at(int line, bool good, const char *what) {
    if (good) return;
    failures++;
    printf("line %d: %s\n", line, what);
}
#define CHECK(x) check_at(__LINE__, (x), #x)
#define CLOSE(x, y)                                                                                \
    check_at(__LINE__, fabs((x) - (y)) <= 1e-12 * fabs(y) + 1e-300, #x " is not " #y)

static inline trial *trial_new(const char *text) {
    arena *a = arena_new();
    trial *t = ARENA_NEW(a, trial);
    source_map *m = source_map_new(a);
    diag_set *ds = diag_set_new(a, m);
    tensor_ops ops = {0};
    t->a = a;
    if (!tensor_parse(a, ds, source_map_add(m, "test.tensor", text, strlen(text)), &ops)) {
        diag_print(ds, stdout);
        exit(1);
    }
    t->op = ops.data[0];
    return t;
}

static inline void set_size(trial *t, const char *name, int64_t size) {
    for (uint32_t i = 0; i < t->op->spaces.len; i++)
        if (!strcmp(t->op->spaces.data[i].name, name)) t->sizes[i] = size;
}

static inline uint32_t val_of(const trial *t, const char *name) {
    for (uint32_t i = 0; i < t->op->vals.len; i++)
        if (!strcmp(t->op->vals.data[i].name, name)) return i;
    printf("no value '%s'\n", name);
    exit(1);
}

static inline void set_input(trial *t, const char *name, const void *data) {
    t->inputs[val_of(t, name)].data = (void *)(uintptr_t)data;
}

static inline bool evaluate(trial *t) {
    tensor_eval_input in = {.sizes = t->sizes,
                            .inputs = t->inputs,
                            .max_steps = t->max_steps,
                            .one_in = t->one_in,
                            .real = t->real};
    int64_t sizes[MAX_SPACES];
    if (!tensor_eval_sizes(t->a, t->op, &in, sizes, &t->why)) return false;
    for (uint32_t v = 0; v < t->op->nparams; v++) {
        const tensor_val_info *info = &t->op->vals.data[v];
        t->inputs[v].type = info->type;
        t->inputs[v].rank = info->rank;
        for (uint32_t k = 0; k < info->rank; k++) t->inputs[v].shape[k] = sizes[info->axes[k]];
    }
    return tensor_eval(t->a, t->op, &in, t->results, &t->why);
}

static inline const tensor_evaluated *result(const trial *t, const char *name) {
    uint32_t n = 0;
    for (uint32_t v = 0; v < val_of(t, name); v++) n += t->op->vals.data[v].role == VAL_RESULT;
    return &t->results[n];
}

#define EXPECT_EVALUATED(t)                                                                        \
    do {                                                                                           \
        if (!evaluate(t)) {                                                                        \
            printf("line %d: %s\n", __LINE__, (t)->why);                                           \
            failures++;                                                                            \
            return;                                                                                \
        }                                                                                          \
    } while (0)

#endif
