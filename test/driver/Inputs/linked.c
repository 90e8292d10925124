// An application: two ops linked in, called with indices of both widths, compared with loops; and
// calls that are refused.
#include "linked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { E = 5, U = 4, V = 3, F = 2 };

static int faults;
static gnn_context *c;

static void expect(int line, gnn_status got, gnn_status wanted, const char *text) {
    if (got != wanted || strcmp(gnn_context_error(c), text)) {
        printf("line %d: got %d: %s\n     wanted %d: %s\n", line, got, gnn_context_error(c), wanted,
               text);
        faults++;
    }
    gnn_context_clear_error(c);
}
#define GOOD(call) expect(__LINE__, (call), GNN_OK, "")
#define REFUSED(call, status, text) expect(__LINE__, (call), GNN_##status, (text))
#define CHECK(x) ((x) ? (void)0 : (void)(faults++, printf("line %d: %s\n", __LINE__, #x)))

static int32_t src32[E] = {3, 1, 0, 2, 2};
static const int32_t dst32[E] = {0, 0, 2, 2, 2};
static const int64_t src64[E] = {3, 1, 0, 2, 2}, rows64[V + 1] = {0, 2, 2, 5};
static const float x[U * F] = {1, 8, 2, 7, 3, 6, 4, 5};

static struct awkward_args arguments(int wide, void *best, void *y) {
    struct awkward_args a;
    memset(&a, 0, sizeof a);
    a.E = E;
    a.U = U;
    a.V = V;
    a.F = F;
    a.src.index = wide ? (const void *)src64 : (const void *)src32;
    a.src.width = a.dst.width = wide ? 64 : 32;
    a.dst.index = wide ? NULL : dst32;
    a.dst.offsets = wide ? rows64 : NULL;
    a.class_.data = (void *)(size_t)x;
    a.class_.has_strides = true;
    a.class_.strides[0] = F;
    a.class_.strides[1] = 1;
    a.alpha = 0.5f;
    a.twice = true;
    a.shift = 0.25;
    a.n = 3;
    a.seed = 1000;
    a.best.data = best;
    a.y.data = y;
    return a;
}

static void results(const int64_t *best, const float *y) {
    for (int v = 0; v < V; v++)
        for (int f = 0; f < F; f++) {
            float sum = 0;
            int64_t most = -1;
            for (int64_t e = rows64[v]; e < rows64[v + 1]; e++) {
                sum += x[src64[e] * F + f];
                if (most < 0 || x[src64[e] * F + f] > x[src64[most] * F + f]) most = e;
            }
            CHECK(best[v * F + f] == most);
            CHECK(y[v * F + f] == sum + x[v * F + f] + 0.25f + 3 + 1000);
        }
}

static void run(gnn_op *op, int wide) {
    int32_t narrow_best[V * F];
    int64_t wide_best[V * F];
    float y[V * F];
    gnn_plan *plan;
    struct awkward_args a = arguments(wide, wide ? (void *)wide_best : (void *)narrow_best, y);
    GOOD(awkward_plan(op, &a, NULL, &plan));
    size_t bytes = 1;
    void *workspace;
    GOOD(awkward_workspace(plan, &a, &bytes));
    CHECK(bytes <= gnn_plan_workspace(plan));
    GOOD(gnn_alloc(c, bytes, &workspace));
    memset(narrow_best, 0x55, sizeof narrow_best);
    GOOD(awkward_check(plan, &a));
    GOOD(awkward_launch(plan, &a, workspace, bytes, NULL));
    for (int i = 0; i < V * F && !wide; i++) wide_best[i] = narrow_best[i];
    results(wide_best, y);
    gnn_free(c, workspace);
    gnn_plan_free(plan);
}

static void refused(gnn_op *op) {
    int32_t best[V * F];
    float y[V * F];
    gnn_plan *plan = NULL, *none;
    gnn_op *other;
    struct awkward_args good = arguments(0, best, y), a = good;
    src32[4] = 4;
    REFUSED(awkward_plan(op, &a, NULL, &none), BAD_INDEX, "src[4] = 4 is outside U (4)");
    src32[4] = 2;
    a.dst.index = src32;
    REFUSED(awkward_plan(op, &a, NULL, &none), BAD_INDEX, "dst[0] = 3 is outside V (3)");
    a = good;
    a.F = 3;
    REFUSED(awkward_plan(op, &a, NULL, &none), PRECONDITION,
            "the precondition `F % 2 == 0` does not hold: F = 3");
    a = good;
    a.src.width = 16;
    REFUSED(awkward_plan(op, &a, NULL, &none), BAD_ARGUMENT,
            "map src: its width is 16, not 32 or 64");
    REFUSED(scale_f16_load(NULL, &other), BAD_ARGUMENT, "");
    GOOD(scale_f16_load(c, &other));
    REFUSED(awkward_plan(other, &good, NULL, &none), BAD_ARGUMENT,
            "awkward_plan is given the op scale_f16");
    GOOD(awkward_plan(op, &good, NULL, &plan));
    REFUSED(scale_f16_launch(plan, (const void *)&good, NULL, 0, NULL), BAD_ARGUMENT,
            "scale_f16 is given a plan of awkward that its call did not make");
    a = good;
    a.y.data = (char *)y + 2;
    REFUSED(awkward_check(plan, &a), MISALIGNED, "y is not aligned to 4 bytes");
    a = good;
    a.best.rank = 2;
    a.best.shape[0] = V;
    a.best.shape[1] = F;
    a.best.dtype = GNN_I64;
    REFUSED(awkward_check(plan, &a), BAD_TENSOR, "best has type i64, not i32");
    a.best.dtype = GNN_I32;
    a.best.shape[1] = F + 1;
    REFUSED(awkward_check(plan, &a), SIZE_MISMATCH, "best: axis 1 has 3 elements, but F is 2");
    a = good;
    a.y.data = NULL;
    REFUSED(awkward_check(plan, &a), MISSING, "y has no data");
    gnn_plan_free(plan);
    gnn_op_free(other);
}

// In place, on what needs 16 bytes; and nothing at all.
static void halves(void) {
    static union {
        long double aligned;
        uint16_t x[3 * 8 + 1];
    } data;
    gnn_op *op;
    gnn_plan *plan;
    struct scale_f16_args a;
    memset(&a, 0, sizeof a);
    a.N = 3;
    a.F = 8;
    a.x.data = a.y.data = data.x;
    for (int i = 0; i < 24; i++) data.x[i] = 0x3c00;   // 1
    GOOD(scale_f16_load(c, &op));
    GOOD(scale_f16_plan(op, &a, NULL, &plan));
    GOOD(scale_f16_launch(plan, &a, NULL, 0, NULL));
    for (int i = 0; i < 24; i++) CHECK(data.x[i] == 0x4000);   // 2
    a.x.data = a.y.data = data.x + 1;
    REFUSED(scale_f16_check(plan, &a), MISALIGNED, "x is not aligned to 16 bytes");
    gnn_plan_free(plan);
    a.N = 0;
    a.x.data = a.y.data = NULL;
    GOOD(scale_f16_plan(op, &a, NULL, &plan));
    GOOD(scale_f16_launch(plan, &a, NULL, 0, NULL));
    gnn_plan_free(plan);
    gnn_op_free(op);
}

// Its domain follows from the sizes, that of the constant axis among them.
static void several_axes(void) {
    static const int32_t t[4] = {0, 1, 1, 1};
    static const float x[2] = {10, 100};
    float y[2] = {-1, -1};
    gnn_op *op;
    gnn_plan *plan;
    struct ends_f32_args a;
    memset(&a, 0, sizeof a);
    a.t.index = t;
    a.t.width = 32;
    a.x.data = (void *)(size_t)x;
    a.y.data = y;
    GOOD(ends_f32_load(c, &op));
    REFUSED(
        ends_f32_plan(op, &a, NULL, &plan), MISSING,
        "A is 0, but there is an array of t: give its size; GNN_EMPTY where it is 0, GNN_TOLD where maps and tensors tell it");
    a.A = a.V = 2;
    GOOD(ends_f32_plan(op, &a, NULL, &plan));
    GOOD(ends_f32_launch(plan, &a, NULL, 0, NULL));
    CHECK(y[0] == 10 && y[1] == 20 + 100 + 200);
    gnn_plan_free(plan);
    a.A = gnn_count(0);
    a.V = GNN_TOLD;
    a.t.codomain = 2;
    GOOD(ends_f32_plan(op, &a, NULL, &plan));
    GOOD(ends_f32_launch(plan, &a, NULL, 0, NULL));
    CHECK(y[0] == 0 && y[1] == 0);
    gnn_plan_free(plan);
    gnn_op_free(op);
}

int main(void) {
    gnn_context_options options;
    gnn_op *op;
    memset(&options, 0, sizeof options);
    options.device = GNN_HOST;
    if (gnn_context_new(&options, &c)) return 1;
    GOOD(awkward_load(c, &op));
    run(op, 0);
    run(op, 1);
    refused(op);
    gnn_op_free(op);
    halves();
    several_axes();
    gnn_context_free(c);
    return faults != 0;
}
