// Sorts one row in place: insertion where it is short, quicksort, and heapsort where that goes too
// deep. The order is total, so the result does not depend on the method.
#include "graph_rows.h"

#include <math.h>

enum { SHORT_ROW = 24 };

typedef struct {
    int64_t *col;
    double *weight;   // NULL: none
} row;
typedef struct {
    int64_t col;
    double weight;
} entry;

static inline entry get(const row *r, int64_t i) {
    return (entry){r->col[i], r->weight ? r->weight[i] : 0};
}

static inline void put(const row *r, int64_t i, entry e) {
    r->col[i] = e.col;
    if (r->weight) r->weight[i] = e.weight;
}

static inline bool less(entry a, entry b) {
    if (a.col != b.col) return a.col < b.col;
    if (a.weight != b.weight && !(isnan(a.weight) && isnan(b.weight)))
        // what is no number comes last
        return a.weight < b.weight || (!isnan(a.weight) && isnan(b.weight));
    return signbit(a.weight) && !signbit(b.weight);
}

static inline void swap(const row *r, int64_t i, int64_t j) {
    entry e = get(r, i);
    put(r, i, get(r, j));
    put(r, j, e);
}

static void insertion(const row *r, int64_t lo, int64_t hi) {
    for (int64_t i = lo + 1; i < hi; i++) {
        entry e = get(r, i);
        int64_t j = i;
        for (; j > lo && less(e, get(r, j - 1)); j--) put(r, j, get(r, j - 1));
        put(r, j, e);
    }
}

static void sift_down(const row *r, int64_t lo, int64_t i, int64_t n) {
    entry e = get(r, lo + i);
    for (int64_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && less(get(r, lo + child), get(r, lo + child + 1))) child++;
        if (!less(e, get(r, lo + child))) break;
        put(r, lo + i, get(r, lo + child));
    }
    put(r, lo + i, e);
}

static void heap(const row *r, int64_t lo, int64_t hi) {
    int64_t n = hi - lo;
    for (int64_t i = n / 2; i-- > 0;) sift_down(r, lo, i, n);
    while (--n > 0) {
        swap(r, lo, lo + n);
        sift_down(r, lo, 0, n);
    }
}

static entry median(entry a, entry b, entry c) {
    if (less(b, a)) {
        entry t = a;
        a = b;
        b = t;
    }
    return less(c, a) ? a : less(c, b) ? c : b;
}

// Hoare's partition; both sides are shorter than the whole.
static int64_t partition(const row *r, int64_t lo, int64_t hi) {
    entry pivot = median(get(r, lo), get(r, lo + (hi - lo) / 2), get(r, hi - 1));
    int64_t i = lo, j = hi - 1;
    for (;; i++, j--) {
        while (less(get(r, i), pivot)) i++;
        while (less(pivot, get(r, j))) j--;
        if (i >= j) return i > lo ? i : lo + 1;
        swap(r, i, j);
    }
}

static void quick(const row *r, int64_t lo, int64_t hi, int depth) {
    while (hi - lo > SHORT_ROW) {
        if (depth-- == 0) {
            heap(r, lo, hi);
            return;
        }
        int64_t middle = partition(r, lo, hi);
        if (middle - lo < hi - middle) {
            quick(r, lo, middle, depth);
            lo = middle;
        } else {
            quick(r, middle, hi, depth);
            hi = middle;
        }
    }
    insertion(r, lo, hi);
}

static bool is_sorted(const row *r, int64_t n) {
    for (int64_t i = 1; i < n; i++)
        if (less(get(r, i), get(r, i - 1))) return false;
    return true;
}

void rt_sort_row_to_depth(int64_t *col, double *weight, int64_t n, int depth) {
    row r = {col, weight};
    if (!is_sorted(&r, n)) quick(&r, 0, n, depth);
}

void rt_sort_row(int64_t *col, double *weight, int64_t n) {
    int depth = 0;
    for (int64_t m = n; m > 0; m >>= 1) depth += 2;
    rt_sort_row_to_depth(col, weight, n, depth);
}
