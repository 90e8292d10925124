// The gradient by what the op's launch saved and gave, and without: alike but for rounding. A call
// that forgets the result is refused.
#include "given.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { E = 6, V = 4, H = 2, D = 3, N = V * H * D };

static int faults;
#define CHECK(x) ((x) ? (void)0 : (void)(faults++, printf("line %d: %s\n", __LINE__, #x)))
#define GOOD(call) CHECK((call) == GNN_OK)

static gnn_context *c;
static int32_t src[E] = {3, 1, 0, 2, 2, 3}, dst[E] = {0, 0, 2, 2, 2, 3};
static float q[N], k[N], x[N], dy[N], y[N], dq[2][N], dk[2][N], dx[2][N];

static void fill(float *a, int n, int seed) {
    for (int i = 0; i < n; i++) a[i] = (float)((i * 37 + seed * 11) % 17) / 8 - 1;
}

// What both calls have, whose structs are alike so far.
#define INPUTS(a)                                                                                  \
    do {                                                                                           \
        memset(&(a), 0, sizeof(a));                                                                \
        (a).E = E, (a).U = (a).V = V, (a).H = H, (a).D = D;                                        \
        (a).src.index = src, (a).dst.index = dst;                                                  \
        (a).src.width = (a).dst.width = 32;                                                        \
        (a).q.data = q, (a).k.data = k, (a).x.data = x;                                            \
    } while (0)

static struct dots_f32_args forward(void *saved) {
    struct dots_f32_args a;
    INPUTS(a);
    a.y.data = y;
    a.saved = saved;
    return a;
}

static struct dots_grad_f32_args backward(int which, void *saved, float *given) {
    struct dots_grad_f32_args a;
    INPUTS(a);
    a.dy.data = dy;
    a.dq.data = dq[which];
    a.dk.data = dk[which];
    a.dx.data = dx[which];
    a.saved = saved;
    a.y.data = given;
    return a;
}

static int near(const float *a, const float *b) {
    int good = 1;
    for (int i = 0; i < N; i++) good &= fabsf(a[i] - b[i]) <= 1e-5f;
    return good;
}

static void train(gnn_op *op, gnn_op *gradient) {
    gnn_op_options keeps;
    gnn_plan *plan, *back, *alone;
    char *memory = malloc(4096), *work = malloc(1 << 16);
    char *saved = memory + (256 - (size_t)memory % 256), *space = work + (256 - (size_t)work % 256);
    struct dots_f32_args f = forward(saved);
    struct dots_grad_f32_args b = backward(0, saved, y), a = backward(1, NULL, NULL);
    memset(&keeps, 0, sizeof keeps);
    keeps.flags = GNN_SAVED;
    GOOD(dots_f32_plan(op, &f, &keeps, &plan));
    GOOD(dots_grad_f32_plan(gradient, &b, &keeps, &back));
    GOOD(dots_grad_f32_plan(gradient, &a, NULL, &alone));
    GOOD(dots_f32_launch(plan, &f, space, 1 << 15, NULL));
    GOOD(dots_grad_f32_launch(back, &b, space, 1 << 15, NULL));
    GOOD(dots_grad_f32_launch(alone, &a, space, 1 << 15, NULL));
    CHECK(near(dq[0], dq[1]) && near(dk[0], dk[1]) && near(dx[0], dx[1]));
    y[0] += 1;   // it is read
    GOOD(dots_grad_f32_launch(back, &b, space, 1 << 15, NULL));
    CHECK(!near(dq[0], dq[1]));
    b.y.data = NULL;
    CHECK(dots_grad_f32_launch(back, &b, space, 1 << 15, NULL) != GNN_OK);
    puts(gnn_context_error(c));
    gnn_plan_free(plan);
    gnn_plan_free(back);
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
    fill(q, N, 1), fill(k, N, 2), fill(x, N, 3), fill(dy, N, 4);
    GOOD(dots_f32_load(c, &op));
    GOOD(dots_grad_f32_load(c, &gradient));
    train(op, gradient);
    gnn_op_free(op);
    gnn_op_free(gradient);
    gnn_context_free(c);
    return faults != 0;
}
