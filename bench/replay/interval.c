// What a result may be: an interval of keys an element. A key is the element's bits in the order of
// its values; the last is NaN, and zeros are one.
#include "replay.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    unsigned mantissa, exponent;   // bits; 0: no float
} format;
static const format formats[GNN_DTYPE_COUNT] = {
    [GNN_F64] = {52, 11}, [GNN_F32] = {23, 8}, [GNN_BF16] = {7, 8}, [GNN_F16] = {10, 5}};

static uint64_t low_bits(size_t n) { return n == 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1; }

static uint64_t load(const void *data, size_t bytes, int64_t at) {
    uint64_t x = 0;
    memcpy(&x, (const uint8_t *)data + (size_t)at * bytes, bytes);
    return x;
}

static uint64_t key_of(gnn_dtype t, uint64_t bits) {
    const size_t n = 8 * gnn_dtype_bytes(t);
    const uint64_t sign = (uint64_t)1 << (n - 1), magnitude = bits & ~sign;
    const format f = formats[t];
    if (t == GNN_BOOL) return bits != 0;
    if (!f.exponent) return bits ^ sign;
    if (magnitude > low_bits(f.exponent) << f.mantissa) return low_bits(n);
    if (!magnitude) return sign;
    return bits & sign ? ~bits & low_bits(n) : bits | sign;
}

comparison intervals_compare(gnn_dtype t, const void *elements, const void *intervals, int64_t n) {
    const size_t bytes = gnn_dtype_bytes(t);
    comparison c = {.first_wrong = -1};
    for (int64_t i = 0; i < n; i++) {
        const uint64_t low = load(intervals, bytes, i), span = load(intervals, bytes, n + i);
        if (span == low_bits(8 * bytes)) {
            c.open++;
            continue;
        }
        c.compared++;
        const uint64_t key = key_of(t, load(elements, bytes, i));
        if (key >= low && key - low <= span) continue;
        c.wrong++;
        if (c.first_wrong < 0) c.first_wrong = i;
    }
    return c;
}

static void print_key(char *to, size_t size, gnn_dtype t, uint64_t key) {
    const size_t n = 8 * gnn_dtype_bytes(t);
    const uint64_t sign = (uint64_t)1 << (n - 1);
    const format f = formats[t];
    if (!f.exponent) {
        const uint64_t x = t == GNN_BOOL ? key : key ^ sign;
        snprintf(to, size, "%" PRId64, t == GNN_I32 ? (int64_t)(int32_t)x : (int64_t)x);
        return;
    }
    const uint64_t bits = key & sign ? key & ~sign : ~key & low_bits(n),
                   most = low_bits(f.exponent);
    const uint64_t exponent = bits >> f.mantissa & most, mantissa = bits & low_bits(f.mantissa);
    const int bias = (int)(most / 2), e = (int)(exponent ? exponent : 1) - bias - (int)f.mantissa;
    double x = ldexp((double)(mantissa | (exponent ? (uint64_t)1 << f.mantissa : 0)), e);
    if (exponent == most) x = mantissa ? (double)NAN : (double)INFINITY;
    snprintf(to, size, "%.*g", n == 64 ? 17 : 9, key & sign ? x : -x);
}

void interval_print(char *to, size_t size, gnn_dtype t, const void *elements, const void *intervals,
                    int64_t n, int64_t at) {
    char is[40], low[40], high[40];
    const size_t bytes = gnn_dtype_bytes(t);
    const uint64_t first = load(intervals, bytes, at), span = load(intervals, bytes, n + at);
    print_key(is, sizeof is, t, key_of(t, load(elements, bytes, at)));
    print_key(low, sizeof low, t, first);
    print_key(high, sizeof high, t, first + span);
    if (span) snprintf(to, size, "%s, not in [%s, %s]", is, low, high);
    else snprintf(to, size, "%s, not %s", is, low);
}
