// The tensors and scalars of an op, in their own storage type. Random floats are multiples of 2^-23
// in [-1, 1]; in 16-bit types of 2^-6, where each is exact and sums of hundreds stay in range.
// Special ones mix in what breaks code: NaN, infinities, zeros of both signs, 1e4, and few distinct
// values, so that there are ties.
#include "bind.h"
#include "spread.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Random values ------------------------------------------------------------------------------

enum { FEW_STEPS = 64 };

static double random_float(uint64_t word, ir_dtype t) {
    int64_t steps = ir_dtype_is_narrow(t) ? FEW_STEPS : 1 << 23;
    return (double)(bind_below(word, 2 * steps + 1) - steps) / (double)steps;
}

static double special_float(uint64_t word, ir_dtype t) {
    static const struct {
        uint32_t parts;   // of 100
        double value;
    } rows[] = {{1, (double)NAN},
                {2, (double)INFINITY},
                {3, -(double)INFINITY},
                {5, 0.0},
                {5, -0.0},
                {4, 1e4},
                {4, -1e4},
                {8, 1.0},
                {8, -1.0},
                {8, 0.5},
                {6, -0.5}};
    int64_t pick = bind_below(word * 0x9e3779b97f4a7c15u, 100);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (pick < rows[k].parts) return rows[k].value;
        pick -= rows[k].parts;
    }
    return random_float(word, t);
}

static int64_t random_integer(uint64_t word, ir_dtype t, bool special) {
    int64_t most = t == DT_I32 ? INT32_MAX : INT64_MAX;
    if (t == DT_BOOL) return (int64_t)(word >> 63);
    if (special && word % 16 == 0) return word & 64 ? most : -most - 1;
    return bind_below(word, 9) - 4;
}

static void put_random(const binding *b, tensor_val v, int64_t at, uint64_t word) {
    ir_dtype t = b->op->vals.data[v].type;
    bool special = b->options->values == VALUES_SPECIAL;
    void *data = b->arrays[v].data;
    if (ir_dtype_is_float(t))
        bind_store(t, data, at, special ? special_float(word, t) : random_float(word, t));
    else if (t == DT_I64) ((int64_t *)data)[at] = random_integer(word, t, special);
    else bind_store(t, data, at, (double)random_integer(word, t, special));
}

typedef struct {
    const binding *b;
    tensor_val v;
    uint64_t stream;
} random_values;
enum { FEW = 2 * FEW_STEPS + 1 };

// Plain floats, of which there may be thousands of millions. Those of 16 bits are few: each is
// converted once.
static void put_few(void *user, int64_t first, int64_t last) {
    const random_values *r = user;
    uint16_t few[FEW], *data = r->b->arrays[r->v].data;
    for (int64_t k = 0; k < FEW; k++)
        bind_store(r->b->op->vals.data[r->v].type, few, k, (double)(k - FEW_STEPS) / FEW_STEPS);
    for (int64_t i = first; i < last; i++)
        data[i] = few[bind_below(bind_random(r->stream, (uint64_t)i), FEW)];
}

static void put_floats(void *user, int64_t first, int64_t last) {
    const random_values *r = user;
    float *data = r->b->arrays[r->v].data;
    for (int64_t i = first; i < last; i++)
        data[i] = (float)random_float(bind_random(r->stream, (uint64_t)i), DT_F32);
}

static void put_any(void *user, int64_t first, int64_t last) {
    const random_values *r = user;
    for (int64_t i = first; i < last; i++)
        put_random(r->b, r->v, i, bind_random(r->stream, (uint64_t)i));
}

static void put_randoms(const binding *b, tensor_val v, int64_t points, uint64_t stream) {
    ir_dtype t = b->op->vals.data[v].type;
    bool plain = b->options->values != VALUES_SPECIAL, half = ir_dtype_is_narrow(t);
    random_values r = {b, v, stream};
    spread(points, plain && half ? put_few : plain && t == DT_F32 ? put_floats : put_any, &r);
}

// ---- Given values -------------------------------------------------------------------------------

static ir_dtype storage_of(gnn_dtype t) {
    for (ir_dtype i = 0; i < DT_COUNT; i++)
        if (!strcmp(ir_dtype_text(i), gnn_dtype_text(t))) return i;
    ICE("dtype %d", (int)t);
}

static bool copy_array(binding *b, tensor_val v, int64_t points) {
    const gnn_array *x = b->sources[v].array;
    ir_dtype from = storage_of(x->dtype), to = b->op->vals.data[v].type;
    bool same = from == to || (from == DT_I32 && to == DT_I64);
    if (!same && !ir_dtype_is_float(to)) {
        bind_fault(b, v, E0818, "holds %s, but what is given holds %s", ir_dtype_text(to),
                   ir_dtype_text(from));
        return false;
    }
    for (int64_t i = 0; i < points; i++) {
        if (from == DT_I64 && to == DT_I64)
            ((int64_t *)b->arrays[v].data)[i] = ((const int64_t *)x->data)[i];
        else bind_store(to, b->arrays[v].data, i, bind_load(from, x->data, i));
    }
    return true;
}

static bool holds_integer(ir_dtype t, int64_t x) {
    if (t == DT_BOOL) return x == 0 || x == 1;
    return t != DT_I32 || (x >= INT32_MIN && x <= INT32_MAX);
}

static bool says_infinite(const char *text) {
    return tolower((unsigned char)text[strspn(text, "+-")]) == 'i';
}

static bool put_number(binding *b, tensor_val v, int64_t points) {
    ir_dtype t = b->op->vals.data[v].type;
    const char *text = b->sources[v].text;
    char *end;
    double x = strtod(text, NULL);
    errno = 0;
    int64_t i = strtoll(text, &end, 10);
    bool whole = !*end && errno != ERANGE;
    if (ir_dtype_is_float(t) ? isinf(ir_dtype_round(t, x)) && !says_infinite(text)
                             : !whole || !holds_integer(t, i)) {
        bind_fault(b, v, E0818, "holds %s, which '%s' is not", ir_dtype_text(t), text);
        return false;
    }
    for (int64_t k = 0; k < points; k++) {
        if (t == DT_I64 || t == DT_INDEX) ((int64_t *)b->arrays[v].data)[k] = i;
        else bind_store(t, b->arrays[v].data, k, x);
    }
    return true;
}

// ---- Scalars ------------------------------------------------------------------------------------

// A half is a sensible probability, rate and factor; an integer is a step or a seed.
static void put_usual(binding *b, tensor_val v) {
    ir_dtype t = b->op->vals.data[v].type;
    if (ir_dtype_is_float(t)) bind_store(t, b->arrays[v].data, 0, 0.5);
    else
        bind_store(t, b->arrays[v].data, 0,
                   t == DT_INDEX ? 0 : (double)(1 + b->options->seed % 1000));
}

// ---- Broadcast ----------------------------------------------------------------------------------

// Makes the axis constant that a launch will give the stride 0: the last where it may have any
// stride, else the first.
static void make_constant(binding *b, tensor_val v, int64_t points) {
    const tensor_val_info *info = &b->op->vals.data[v];
    const tensor_array *x = &b->arrays[v];
    uint32_t axis = info->facts & FACT_STRIDED ? info->rank - 1 : 0;
    int64_t inner = 1;
    if (info->rank == 0 || info->facts & FACT_PACKED ||
        (info->rank == 1 && !(info->facts & FACT_STRIDED)))
        return;
    for (uint32_t k = axis + 1; k < info->rank; k++) inner *= x->shape[k];
    for (int64_t i = 0; i < points; i++) {
        int64_t from = i - i / inner % x->shape[axis] * inner;
        if (info->type == DT_I64) ((int64_t *)x->data)[i] = ((const int64_t *)x->data)[from];
        else bind_store(info->type, x->data, i, bind_load(info->type, x->data, from));
    }
}

bool bind_tensor(binding *b, tensor_val v) {
    const tensor_val_info *info = &b->op->vals.data[v];
    int64_t points;
    bind_points(b, info, &points);
    uint64_t stream = bind_stream(b, v);
    switch (b->sources[v].from) {
    case FROM_GRAPH: ICE("'%s' is no map", info->name);
    case FROM_ARRAY:
        if (!copy_array(b, v, points)) return false;
        break;
    case FROM_NUMBER:
        if (!put_number(b, v, points)) return false;
        break;
    case FROM_ZERO: break;
    case FROM_RANDOM:
        if (info->role == VAL_SCALAR && !b->sources[v].text) put_usual(b, v);
        else put_randoms(b, v, points, stream);
    }
    if (b->options->broadcast && info->role == VAL_TENSOR) make_constant(b, v, points);
    return true;
}
