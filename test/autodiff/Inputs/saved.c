// The gradient by what the op's launch saved, and without it: alike but for rounding. Calls that do
// not fit are refused.
#include "saved.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { E = 6, V = 4, H = 2, D = 3 };

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

static int32_t src[E] = {3, 1, 0, 2, 2, 3}, dst[E] = {0, 0, 2, 2, 2, 3};
static float l[V * H], r[V * H], x[V * H * D], dy[V * H * D], y[V * H * D], plain[V * H * D];
static float dl[2][V * H], dr[2][V * H], dx[2][V * H * D];

static void fill(float *a, int n, int seed) {
    for (int i = 0; i < n; i++) a[i] = (float)((i * 37 + seed * 11) % 17) / 8 - 1;
}

static struct gat_f32_args forward(float *to, void *saved) {
    struct gat_f32_args a;
    memset(&a, 0, sizeof a);
    a.E = E;
    a.U = a.V = V;
    a.H = H;
    a.D = D;
    a.src.index = src;
    a.dst.index = dst;
    a.src.width = a.dst.width = 32;
    a.l.data = l;
    a.r.data = r;
    a.x.data = x;
    a.y.data = to;
    a.saved = saved;
    return a;
}

static struct gat_grad_f32_args backward(int which, void *saved) {
    struct gat_grad_f32_args a;
    memset(&a, 0, sizeof a);
    a.E = E;
    a.U = a.V = V;
    a.H = H;
    a.D = D;
    a.src.index = src;
    a.dst.index = dst;
    a.src.width = a.dst.width = 32;
    a.l.data = l;
    a.r.data = r;
    a.x.data = x;
    a.dy.data = dy;
    a.dl.data = dl[which];
    a.dr.data = dr[which];
    a.dx.data = dx[which];
    a.saved = saved;
    return a;
}

static int near(const float *a, const float *b, int n) {
    int good = 1;
    for (int i = 0; i < n; i++) good &= fabsf(a[i] - b[i]) <= 1e-5f;
    return good;
}

static void train(gnn_op *op, gnn_op *gradient) {
    gnn_op_options keeps;
    gnn_plan *plan, *back, *alone, *again;
    size_t bytes;
    char *memory = malloc(4096), *work = malloc(1 << 16);
    char *saved = memory + (256 - (size_t)memory % 256), *space = work + (256 - (size_t)work % 256);
    struct gat_f32_args f = forward(y, saved), g = forward(plain, NULL);
    struct gat_grad_f32_args b = backward(0, saved), a = backward(1, NULL);
    memset(&keeps, 0, sizeof keeps);
    keeps.flags = GNN_SAVED;
    GOOD(gat_f32_plan(op, &f, &keeps, &plan));
    GOOD(gat_grad_f32_plan(gradient, &b, &keeps, &back));
    GOOD(gat_f32_plan(op, &g, NULL, &again));
    GOOD(gat_grad_f32_plan(gradient, &a, NULL, &alone));
    // 4 V H bytes, up to the next 256
    CHECK(gnn_plan_saved(plan) == 256 && gnn_plan_saved(back) == 256);
    CHECK(gnn_plan_saved(again) == 0 && gnn_plan_saved(alone) == 0);
    GOOD(gat_f32_workspace(plan, &f, &bytes));
    CHECK(bytes < 1 << 15);
    memset(saved, 0xff, 256);
    saved[256] = 77;
    GOOD(gat_f32_launch(plan, &f, space, 1 << 15, NULL));
    GOOD(gat_f32_launch(again, &g, space, 1 << 15, NULL));
    GOOD(gat_grad_f32_launch(back, &b, space, 1 << 15, NULL));
    GOOD(gat_grad_f32_launch(alone, &a, space, 1 << 15, NULL));
    CHECK(near(y, plain, V * H * D) && saved[256] == 77);
    CHECK(near(dl[0], dl[1], V * H) && near(dr[0], dr[1], V * H) && near(dx[0], dx[1], V * H * D));
    // The logarithm is there, and read: another one gives another gradient.
    for (int i = 0; i < H; i++) ((float *)(void *)saved)[i] += 1;
    GOOD(gat_grad_f32_launch(back, &b, space, 1 << 15, NULL));
    CHECK(!near(dx[0], dx[1], V * H * D));

    f.saved = NULL;
    REFUSED(gat_f32_launch(plan, &f, space, 1 << 15, NULL), BAD_ARGUMENT,
            "`saved` of gat_saving_f32 is NULL: it has 256 bytes (gnn_plan_saved), aligned to 256");
    b.saved = saved + 16;
    REFUSED(
        gat_grad_f32_launch(back, &b, space, 1 << 15, NULL), BAD_ARGUMENT,
        "`saved` of gat_grad_saved_f32 is not aligned: it has 256 bytes (gnn_plan_saved), aligned to 256");
    g.saved = saved;
    REFUSED(gat_f32_launch(again, &g, space, 1 << 15, NULL), BAD_ARGUMENT,
            "`saved` is given to a plan of gat_f32 that was made without GNN_SAVED");
    gnn_plan_free(plan);
    gnn_plan_free(back);
    gnn_plan_free(again);
    gnn_plan_free(alone);
    free(memory);
    free(work);
}

int main(void) {
    gnn_context_options options;
    gnn_op *op, *gradient;
    memset(&options, 0, sizeof options);
    options.device = GNN_HOST;
    if (gnn_context_new(&options, &c)) return 2;
    fill(l, V * H, 1);
    fill(r, V * H, 2);
    fill(x, V * H * D, 3);
    fill(dy, V * H * D, 4);
    GOOD(gat_f32_load(c, &op));
    GOOD(gat_grad_f32_load(c, &gradient));
    train(op, gradient);
    gnn_op_free(op);
    gnn_op_free(gradient);
    gnn_context_free(c);
    if (!faults) puts("all right");
    return faults != 0;
}
