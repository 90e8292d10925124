// The evaluator against values computed by hand: one op a test.
#include "tensor_harness.h"

static void test_spmm(void) {
    trial *t = trial_new(
        "op spmm { space E space U space V space F map src : E -> U map dst : E -> V "
        "tensor w : f32[E] tensor x : f32[U, F] result y : f32[V, F] "
        "y[v:V, f:F] = sum {e:E : dst[e] == v} (mul(w[e], x[src[e], f])) }");
    int64_t src[] = {0, 1, 2, 0}, dst[] = {2, 0, 2, 2};
    float w[] = {1, 2, 3, 0.5f}, x[] = {1, 10, 2, 20, 3, 30};
    set_size(t, "E", 4), set_size(t, "U", 3), set_size(t, "V", 3), set_size(t, "F", 2);
    set_input(t, "src", src), set_input(t, "dst", dst), set_input(t, "w", w), set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    const tensor_evaluated *y = result(t, "y");
    double want[] = {4, 40, 0, 0, 10.5, 105};
    for (int i = 0; i < 6; i++) CHECK(y->value[i] == want[i]);
    CHECK(y->bound[0] == 0 && y->bound[2] == 0);
    CHECK(y->bound[4] < 1e-5);
    arena_free(t->a);
}

static void test_softmax(void) {
    trial *t = trial_new(
        "op softmax { space E space V map dst : E -> V sorted tensor s : f32[E] result a : f32[E] "
        "stage m : f32[V] stage z : f32[V] "
        "m[v:V] = max {e:E : dst[e] == v} (s[e]) else (-inf.f32) "
        "z[v:V] = sum {e:E : dst[e] == v} (exp(sub(s[e], m[v]))) "
        "a[e:E] = div(exp(sub(s[e], m[dst[e]])), z[dst[e]]) }");
    int64_t dst[] = {0, 0, 2};
    float s[] = {1, 3, -7};
    set_size(t, "E", 3), set_size(t, "V", 3);
    set_input(t, "dst", dst), set_input(t, "s", s);
    EXPECT_EVALUATED(t);
    const tensor_evaluated *a = result(t, "a");
    double z = 1 + exp(-2.0);
    CHECK(fabs(a->value[0] - exp(-2.0) / z) < 1e-7 && a->bound[0] < 1e-6 && a->bound[0] > 0);
    CHECK(fabs(a->value[1] - 1 / z) < 1e-7);
    CHECK(a->value[2] == 1);
    arena_free(t->a);
}

// A sample leaves out elements of y, but none of what y needs; what it has is what the whole has.
static void test_sample(void) {
    enum { N = 4096 };
    static const char text[] =
        "op f { space N tensor x : f32[N] result y : f32[N] result at : N -> N result p : f32[N] "
        "stage s : f32[N] s[n:N] = mul(x[n], 2f32) p[n:N] = s[n] "
        "y[n:N] = add(p[n], 1f32) at[n:N] = n }";
    trial *t = trial_new(text), *whole = trial_new(text);
    float x[N];
    for (int i = 0; i < N; i++) x[i] = (float)i;
    t->one_in = 8;
    set_size(t, "N", N), set_input(t, "x", x);
    set_size(whole, "N", N), set_input(whole, "x", x);
    EXPECT_EVALUATED(t);
    EXPECT_EVALUATED(whole);
    const tensor_evaluated *all = result(whole, "y"), *p = result(t, "p");
    const tensor_evaluated sample[] = {tensor_evaluated_whole(t->a, result(t, "y")),
                                       tensor_evaluated_whole(t->a, result(t, "at"))},
                           *y = &sample[0], *at = &sample[1];
    int64_t taken = 0, certain = 0;
    // no more is held
    CHECK(result(t, "y")->kept == N / 8 && result(t, "at")->kept == N / 8 && !p->at &&
          y->kept == N);
    for (int64_t i = 0; i < N; i++) {
        CHECK(p->bound[i] < 1 && p->value[i] == 2 * (double)i);   // y reads it
        CHECK(all->bound[i] < 1 && all->value[i] == 2 * (double)i + 1);
        CHECK(isinf(y->bound[i]) || y->value[i] == all->value[i]);
        CHECK(!at->certain[i] || at->integer[i] == i);
        taken += !isinf(y->bound[i]);
        certain += at->certain[i];
    }
    CHECK(taken > N / 8 / 2 && taken < N / 8 * 2);
    CHECK(certain > N / 8 / 2 && certain < N / 8 * 2);
    arena_free(t->a);
    arena_free(whole->a);
}

// Of what a sample does not need nothing is computed: of a softmax, the rows of other edges.
static void test_sample_of_softmax(void) {
    enum { E = 4096, V = 512, H = 2, ONE_IN = 512 };
    static const char text[] =
        "op softmax { space E space V space H map dst : E -> V tensor s : f32[E, H] result a : f32[E, H] "
        "stage m : f32[H, V] stage z : f32[V, H] "
        "m[h:H, v:V] = max {e:E : dst[e] == v} (s[e, h]) else (-inf.f32) "
        "z[v:V, h:H] = sum {e:E : dst[e] == v} (exp(sub(s[e, h], m[h, v]))) "
        "a[e:E, h:H] = div(exp(sub(s[e, h], m[h, dst[e]])), z[dst[e], h]) }";
    trial *t = trial_new(text), *whole = trial_new(text);
    int64_t dst[E];
    float s[E * H];
    for (int i = 0; i < E; i++) dst[i] = i * 37 % V;
    for (int i = 0; i < E * H; i++) s[i] = (float)(i * 29 % 101) / 16;
    for (int i = 0; i < 2; i++) {
        trial *x = i ? whole : t;
        set_size(x, "E", E), set_size(x, "V", V), set_size(x, "H", H), set_input(x, "dst", dst),
            set_input(x, "s", s);
    }
    t->one_in = ONE_IN;
    t->max_steps = E * H;   // a fraction of what all would take
    EXPECT_EVALUATED(t);
    EXPECT_EVALUATED(whole);
    const tensor_evaluated *few = result(t, "a"), *all = result(whole, "a");
    CHECK(few->kept == E * H / ONE_IN);
    for (int64_t i = 0; i < few->kept; i++)
        CHECK(few->value[i] == all->value[few->at[i]] && few->bound[i] == all->bound[few->at[i]] &&
              few->bound[i] < 1e-5);
    float actual[E * H];
    for (int64_t i = 0; i < E * H; i++) actual[i] = (float)all->value[i];
    const tensor_array x = {.type = DT_F32, .data = actual, .rank = 2, .shape = {E, H}};
    CHECK(tensor_compare(few, &x).wrong == 0);
    actual[few->at[5]] += 1;   // what is told is where it stands, not which of the sample it is
    CHECK(few->at[5] != 5 && tensor_compare(few, &x).first_wrong == few->at[5]);
    whole->max_steps = E * H;
    CHECK(!evaluate(whole) && strstr(whole->why, "gave up"));
    arena_free(t->a);
    arena_free(whole->a);
}

// What is read, and a result of which a sample is taken, may have more elements than the evaluator
// would keep.
static void test_sample_of_many(void) {
    enum { N = 4096, M = 1 << 17, ONE_IN = 1 << 20 };
    static const char text[] = "op f { space N space M tensor x : bool[N, M] result y : f32[N, M] "
                               "y[n:N, m:M] = select(x[n, m], 1f32, 2f32) }";
    trial *t = trial_new(text);
    uint8_t *x = calloc(N, M);   // of which a few pages are touched
    if (!x) exit(1);
    t->one_in = ONE_IN;
    set_size(t, "N", N), set_size(t, "M", M), set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    const tensor_evaluated *y = result(t, "y");
    CHECK(y->points == (int64_t)N * M && y->kept == y->points / ONE_IN);
    for (int64_t i = 0; i < y->kept; i++)
        CHECK((!i || y->at[i] > y->at[i - 1]) && y->value[i] == 2);
    int64_t apart = 1;   // runs of neighbours, spread over all
    for (int64_t i = 1; i < y->kept; i++) apart += y->at[i] != y->at[i - 1] + 1;
    CHECK(apart == 8 && y->at[0] < y->points / 8 && y->at[y->kept - 1] >= y->points / 8 * 7);
    t->one_in = 1;
    CHECK(!evaluate(t) && strstr(t->why, "'y' has more than"));
    free(x);
    arena_free(t->a);
}

// By several threads a sample is what it is by one, which a limit of steps asks for: also where its
// last run ends behind all points.
static void test_sample_in_threads(int64_t n) {
    static const char text[] =
        "op f { space N tensor x : f32[N] result y : f32[N] y[n:N] = mul(x[n], 3f32) }";
    trial *t = trial_new(text), *alone = trial_new(text);
    float *x = malloc((size_t)n * sizeof *x);
    if (!x) exit(1);
    for (int64_t i = 0; i < n; i++) x[i] = (float)i;
    t->one_in = alone->one_in = 2;
    alone->max_steps = 1 << 30;
    set_size(t, "N", n), set_input(t, "x", x);
    set_size(alone, "N", n), set_input(alone, "x", x);
    EXPECT_EVALUATED(t);
    EXPECT_EVALUATED(alone);
    const tensor_evaluated *y = result(t, "y"), *z = result(alone, "y");
    const size_t kept = (size_t)z->kept;
    CHECK(y->kept == z->kept && !memcmp(y->at, z->at, kept * sizeof *z->at));
    CHECK(!memcmp(y->value, z->value, kept * sizeof *z->value) &&
          !memcmp(y->bound, z->bound, kept * sizeof *z->bound));
    free(x);
    arena_free(t->a);
    arena_free(alone->a);
}

static const char *const argmax_text =
    "op argmax { space E space V map dst : E -> V tensor x : f32[E] result at : V -> E partial "
    "reducer argmax(f32, index(E)) -> (index(E)) commutative { state (f32, index(E)) "
    "identity (-inf.f32, none(E)) lift (arg.0, arg.1) "
    "combine (max(left.0, right.0), select(gt(left.0, right.0), left.1, select(gt(right.0, left.0), right.1, "
    "select(eq(left.1, none(E)), right.1, select(eq(right.1, none(E)), left.1, min(left.1, right.1)))))) "
    "finish (left.1) } "
    "at[v:V] = argmax {e:E : dst[e] == v} (BODY, e) }";

static trial *argmax_trial(const char *body) {
    char text[2000];
    const char *place = strstr(argmax_text, "BODY");
    snprintf(text, sizeof text, "%.*s%s%s", (int)(place - argmax_text), argmax_text, body,
             place + 4);
    return trial_new(text);
}

static void test_argmax(void) {
    trial *t = argmax_trial("x[e]");
    int64_t dst[] = {1, 0, 1, 1, 0};
    float x[] = {5, 2, 7, 7, 2};
    set_size(t, "E", 5), set_size(t, "V", 3);
    set_input(t, "dst", dst), set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    const tensor_evaluated *at = result(t, "at");
    CHECK(at->integer[0] == 1 && at->integer[1] == 2 && at->integer[2] == -1);
    CHECK(at->certain[0] && at->certain[1] && at->certain[2]);
    arena_free(t->a);

    t = argmax_trial("exp(x[e])");   // equal values that both round: which is larger is not certain
    float near[] = {5, 2, 7, 7, 1};
    set_size(t, "E", 5), set_size(t, "V", 3);
    set_input(t, "dst", dst), set_input(t, "x", near);
    EXPECT_EVALUATED(t);
    at = result(t, "at");
    CHECK(at->certain[0] && at->integer[0] == 1);
    CHECK(!at->certain[1]);
    arena_free(t->a);
}

// As in the prelude: NaN is told by comparing a number with itself. What ties on the way to the
// best does not matter, and is no `none`.
static void test_argmax_rounded(void) {
    trial *t = trial_new(
        "op argmax { space E space V map dst : E -> V tensor x : f32[E] result at : V -> E partial "
        "reducer argmax(f32, index(E)) -> (index(E)) commutative { state (f32, index(E)) "
        "identity (0f32, none(E)) lift (arg.0, arg.1) "
        "combine let %1 = eq(left.1, none(E)) let %2 = eq(right.1, none(E)) "
        "let %3 = or(gt(left.0, right.0), and(ne(left.0, left.0), eq(right.0, right.0))) "
        "let %4 = or(gt(right.0, left.0), and(ne(right.0, right.0), eq(left.0, left.0))) "
        "(select(%1, right.0, select(%2, left.0, max(left.0, right.0))), "
        "select(%1, right.1, select(%2, left.1, select(%3, left.1, select(%4, right.1, "
        "min(left.1, right.1)))))) finish (left.1) } "
        "at[v:V] = argmax {e:E : dst[e] == v} (exp(x[e]), e) }");
    // ties: below the best, of the best; NaN
    int64_t dst[] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 4, 4};
    float x[] = {1, 1, 2, 3, 2, 3, 5, NAN, 7, 1, 2};
    set_size(t, "E", 11), set_size(t, "V", 5);
    set_input(t, "dst", dst), set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    const tensor_evaluated *at = result(t, "at");
    CHECK(at->certain[0] && at->integer[0] == 2);
    CHECK(!at->certain[1]);
    CHECK(at->certain[2] && at->integer[2] == 7);
    CHECK(at->certain[3] && at->integer[3] == -1);
    CHECK(at->certain[4] && at->integer[4] == 10);
    arena_free(t->a);
}

static void test_welford(void) {
    trial *t = trial_new(
        "op moments { space N space G map of : N -> G tensor x : f32[N] result mu : f32[G] result var : "
        "f32[G] "
        "reducer welford(f32) -> (f32, f32) commutative { state (f32, f32, f32) identity (0f32, 0f32, 0f32) "
        "lift (1f32, arg.0, 0f32) "
        "combine let %1 = add(left.0, right.0) let %2 = sub(right.1, left.1) "
        "let %3 = select(eq(%1, 0f32), 0f32, div(right.0, %1)) "
        "(%1, add(left.1, mul(%2, %3)), add(add(left.2, right.2), mul(mul(%2, %2), mul(left.0, %3)))) "
        "finish (left.1, select(eq(left.0, 0f32), 0f32, div(left.2, left.0))) } "
        "mu[g:G], var[g] = welford {n:N : of[n] == g} (x[n]) else (-1f32, -2f32) }");
    int64_t of[] = {0, 0, 1, 0, 0};
    float x[] = {1, 2, 100, 3, 6};
    set_size(t, "N", 5), set_size(t, "G", 3);
    set_input(t, "of", of), set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    const tensor_evaluated *mu = result(t, "mu"), *var = result(t, "var");
    CHECK(fabs(mu->value[0] - 3) <= mu->bound[0] + 1e-9 && mu->bound[0] < 1e-4);
    CHECK(fabs(var->value[0] - 3.5) <= var->bound[0] + 1e-9 && var->bound[0] < 1e-3);
    CHECK(mu->value[1] == 100 && var->value[1] == 0);
    CHECK(mu->value[2] == -1 && var->value[2] == -2);
    arena_free(t->a);
}

static void test_partial_map(void) {
    trial *t = trial_new(
        "op pool { space N space M map at : N -> M partial tensor x : i64[N] result y : "
        "i64[M] result z : i64[N] "
        "y[m:M] = sum {n:N : at[n] == m} (x[n]) "
        "z[n:N] = select(eq(at[n], none(M)), -1, y[at[n]]) }");
    int64_t at[] = {1, -1, 1, 0}, x[] = {1, 2, 3, 4};
    set_size(t, "N", 4), set_size(t, "M", 2);
    set_input(t, "at", at), set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    int64_t y[] = {4, 4}, z[] = {4, -1, 4, 4};
    for (int i = 0; i < 2; i++) CHECK(result(t, "y")->integer[i] == y[i]);
    for (int i = 0; i < 4; i++) CHECK(result(t, "z")->integer[i] == z[i]);
    arena_free(t->a);
}

static void test_unguarded_none(void) {
    trial *t = trial_new(
        "op bad { space N space M map at : N -> M partial tensor x : f32[M] result y : "
        "f32[N] y[n:N] = x[at[n]] }");
    int64_t at[] = {1, -1};
    float x[] = {1, 2};
    set_size(t, "N", 2), set_size(t, "M", 2);
    set_input(t, "at", at), set_input(t, "x", x);
    CHECK(!evaluate(t) && strstr(t->why, "stage 'y': 'x' is read at none of M"));
    at[1] = 2;
    CHECK(!evaluate(t) && strstr(t->why, "'at' holds 2 at 1"));
    arena_free(t->a);
}

static void test_classes(void) {
    trial *t = trial_new(
        "op by_two { space E space V space R space C = classes(cls) map dst : E -> V map type : E "
        "-> R partial "
        "result n : i64[E] result all : i64[C] classes cls : E -> C = (dst, type) "
        "all[c:C] = sum {e:E : cls[e] == c} (1) "
        "n[e:E] = select(eq(cls[e], none(C)), -1, add(mul(cvt(i64, cls[e]), 100), all[cls[e]])) }");
    int64_t dst[] = {2, 0, 2, 0, 2, 0}, type[] = {1, 1, 0, 0, 1, -1};
    set_size(t, "E", 6), set_size(t, "V", 3), set_size(t, "R", 2);
    set_input(t, "dst", dst), set_input(t, "type", type);
    EXPECT_EVALUATED(t);
    int64_t want[] = {302, 101, 201, 1, 302, -1};   // (0,0) (0,1) (2,0) (2,1)
    CHECK(result(t, "all")->points == 4);
    for (int i = 0; i < 6; i++) CHECK(result(t, "n")->integer[i] == want[i]);
    arena_free(t->a);
}

static void test_recurrence(void) {
    trial *t = trial_new(
        "op power { space T space T1 = add(size(T), 1) space V map next : V -> V tensor x : f64[V] "
        "result z : f64[T1, V] stage h : f64[V] z[0, v:V] = x[v] "
        "loop t:T { h[v:V] = mul(2f64, z[index(T1, t), next[v]]) z[t + 1, v:V] = add(h[v], 1f64) } }");
    int64_t next[] = {1, 2, 0};
    double x[] = {1, 2, 3};
    set_size(t, "T", 2), set_size(t, "V", 3);
    set_input(t, "next", next), set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    double want[] = {1, 2, 3, 5, 7, 3, 15, 7, 11};
    for (int i = 0; i < 9; i++) CHECK(result(t, "z")->value[i] == want[i]);
    arena_free(t->a);
}

static void test_special_values(void) {
    trial *t = trial_new(
        "op special { space N space F tensor x : f32[N, F] result mx : f32[N] result s : "
        "f32[N] result q : f32[N, F] "
        "mx[n:N] = max {f:F} (x[n, f]) s[n:N] = sum {f:F} (x[n, f]) "
        "q[n:N, f:F] = div(1f32, sub(x[n, f], x[n, f])) }");
    float x[] = {1, NAN,       2,         INFINITY,  1,     -INFINITY, INFINITY, 5,
                 7, -INFINITY, -INFINITY, -INFINITY, 3e38f, 3e38f,     -3e38f};
    set_size(t, "N", 5), set_size(t, "F", 3);
    set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    const tensor_evaluated *mx = result(t, "mx"), *s = result(t, "s"), *q = result(t, "q");
    CHECK(isnan(mx->value[0]) && mx->bound[0] == 0);
    CHECK(mx->value[1] == (double)INFINITY && mx->value[3] == (double)-INFINITY &&
          mx->bound[3] == 0);
    CHECK(isnan(s->value[0]) && isnan(s->value[1]) && s->bound[1] == 0);
    CHECK(s->value[2] == (double)INFINITY && s->bound[2] == 0);
    CHECK(isinf(s->bound[4]));   // overflows in some orders
    CHECK(q->value[0] == (double)INFINITY && q->bound[0] == 0);
    CHECK(isnan(q->value[1]) && isnan(q->value[3]));
    float got[] = {NAN, INFINITY, INFINITY, -INFINITY, 3e38f},
          wrong[] = {NAN, 1, INFINITY, -INFINITY, NAN};
    tensor_array actual = {.type = DT_F32, .rank = 1, .shape = {5}, .data = got};
    CHECK(tensor_compare(mx, &actual).wrong == 0);
    actual.data = wrong;
    tensor_comparison c = tensor_compare(mx, &actual);
    CHECK(c.wrong == 2 && c.first_wrong == 1 && c.compared == 5);
    arena_free(t->a);
}

static void test_half_storage(void) {
    trial *t = trial_new("op half { space N tensor x : f32[N] result y : f16[N] result z : bf16[N] "
                         "y[n:N] = x[n] z[n:N] = mul(x[n], x[n]) }");
    float x[] = {65504, 65519, 65520, 1 + 0x1p-11f, 1 + 0x1.8p-10f, 0x1p-25f, 1e-8f, 3};
    set_size(t, "N", 8);
    set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    const tensor_evaluated *y = result(t, "y"), *z = result(t, "z");
    double want[] = {65504, 65504, (double)INFINITY, 1, 1 + 0x1p-9, 0, 0, 3};
    for (int i = 0; i < 8; i++) CHECK(y->value[i] == want[i] && y->bound[i] == 0);
    CHECK(z->value[7] == 9 && z->bound[7] == 0);
    uint16_t bits[8] = {0x7bff, 0x7bff, 0x7c00, 0x3c00, 0x3c02, 0, 0, 0x4200};
    tensor_array actual = {.type = DT_F16, .rank = 1, .shape = {8}, .data = bits};
    CHECK(tensor_compare(y, &actual).wrong == 0);
    bits[3] = 0x3c01;
    CHECK(tensor_compare(y, &actual).first_wrong == 3);
    arena_free(t->a);
}

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void test_rand(void) {
    trial *t = trial_new(
        "op random { space N scalar seed : i64 result y : f32[N] y[n:N] = rand(seed[], cvt(i64, n)) }");
    int64_t seed = -3;
    set_size(t, "N", 4);
    set_input(t, "seed", &seed);
    EXPECT_EVALUATED(t);
    for (uint64_t n = 0; n < 4; n++) {
        uint64_t h = mix((mix((uint64_t)seed + UINT64_C(0x9e3779b97f4a7c15)) ^ n) +
                         UINT64_C(0x9e3779b97f4a7c15));
        CHECK(result(t, "y")->value[n] == (double)(h >> 40) * 0x1p-24);
    }
    arena_free(t->a);
}

static void test_requires(void) {
    const char *text =
        "op r { space E space V space F map src : E -> V map dst : E -> V result y : i64[V] "
        "require \"F % 2 == 0\" = eq(mod(size(F), 2), 0) "
        "require \"max(dst) <= 2\" = le(preimage(max, dst), 2) "
        "require \"symmetric(src, dst)\" = symmetric(src, dst) y[v:V] = 0 }";
    trial *t = trial_new(text);
    int64_t src[] = {0, 1, 2, 2}, dst[] = {1, 0, 2, 2};
    set_size(t, "E", 4), set_size(t, "V", 3), set_size(t, "F", 2);
    set_input(t, "src", src), set_input(t, "dst", dst);
    CHECK(evaluate(t));
    src[0] = 2;
    CHECK(!evaluate(t) && strstr(t->why, "symmetric(src, dst)"));
    dst[0] = 2;
    CHECK(!evaluate(t) && strstr(t->why, "max(dst) <= 2"));
    set_size(t, "F", 3);
    CHECK(!evaluate(t) && strstr(t->why, "F % 2 == 0"));
    arena_free(t->a);
}

static void test_two_keys(void) {
    trial *t = trial_new(
        "op triangles { space E space V map src : E -> V map dst : E -> V result n : i64[V] "
        "n[v:V] = sum {a:E, b:E, c:E : src[a] == v, src[b] == dst[a], src[c] == dst[b], dst[c] == v} (1) }");
    int64_t src[] = {0, 1, 2, 0, 2}, dst[] = {1, 2, 0, 2, 1};
    set_size(t, "E", 5), set_size(t, "V", 3);
    set_input(t, "src", src), set_input(t, "dst", dst);
    EXPECT_EVALUATED(t);
    for (int v = 0; v < 3; v++) CHECK(result(t, "n")->integer[v] == 1);
    arena_free(t->a);
}

static void test_uncertain_filter(void) {
    trial *t = trial_new("op near { space N tensor x : f32[N] result y : f32[] result k : i64[] "
                         "y[] = sum {n:N : gt(mul(x[n], 3f32), 0.3f32)} (x[n]) "
                         "k[] = sum {n:N : gt(mul(x[n], 3f32), 0.3f32)} (1) }");
    float x[] = {0.1f, 5, -2};
    set_size(t, "N", 3);
    set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    CHECK(result(t, "y")->bound[0] >= 0.1 && result(t, "y")->bound[0] < 0.11);
    CHECK(!result(t, "k")->certain[0]);
    x[0] = 0.2f;
    EXPECT_EVALUATED(t);
    CHECK(result(t, "k")->certain[0] && result(t, "k")->integer[0] == 2);
    arena_free(t->a);
}

static void test_empty(void) {
    trial *t = trial_new(
        "op empty { space E space V space F map dst : E -> V tensor x : f32[E, F] "
        "result s : f32[V, F] result m : f32[V, F] result p : f32[V] result any : bool[V] "
        "s[v:V, f:F] = sum {e:E : dst[e] == v} (x[e, f]) m[v:V, f:F] = max {e:E : dst[e] == v} (x[e, f]) "
        "p[v:V] = prod {e:E, f:F : dst[e] == v} (x[e, f]) "
        "any[v:V] = any {e:E, f:F : dst[e] == v} (gt(x[e, f], 0f32)) }");
    set_size(t, "V", 2), set_size(t, "F", 1);
    EXPECT_EVALUATED(t);
    CHECK(result(t, "s")->value[1] == 0 && result(t, "m")->value[1] == (double)-INFINITY &&
          result(t, "p")->value[1] == 1);
    CHECK(result(t, "any")->integer[0] == 0 && result(t, "any")->certain[0]);
    set_size(t, "V", 0);
    EXPECT_EVALUATED(t);
    CHECK(result(t, "s")->points == 0);
    arena_free(t->a);
}

// Many points are dealt to threads: each has its own value, and the first that cannot be evaluated
// is told.
static void test_threads(void) {
    enum { POINTS = 200000, ROWS = 999 };
    trial *t = trial_new(
        "op many { space E space V space M map dst : E -> V tensor k : i64[E] tensor x : f32[M] result y : f32[V] "
        "result z : f32[E] y[v:V] = sum {e:E : dst[e] == v} (x[index(M, k[e])]) z[e:E] = x[index(M, k[e])] }");
    static int64_t dst[POINTS], k[POINTS];
    static float x[7];
    double want[ROWS] = {0};
    for (int i = 0; i < 7; i++) x[i] = (float)i;
    for (int e = 0; e < POINTS; e++)
        dst[e] = (int64_t)e * 37 % ROWS, k[e] = e % 7, want[dst[e]] += e % 7;
    set_size(t, "E", POINTS), set_size(t, "V", ROWS), set_size(t, "M", 7);
    set_input(t, "dst", dst), set_input(t, "k", k), set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    int bad = 0;
    for (int v = 0; v < ROWS; v++) bad += result(t, "y")->value[v] != want[v];
    for (int e = 0; e < POINTS; e++) bad += result(t, "z")->value[e] != e % 7;
    CHECK(!bad);
    k[150000] = 9, k[5000] = 8;
    CHECK(!evaluate(t) && strstr(t->why, "is read at 8 of M, which has 7"));
    arena_free(t->a);
}

int main(void) {
    test_spmm();
    test_softmax();
    test_sample();
    test_sample_of_softmax();
    test_sample_of_many();
    for (int64_t more = 0; more < 256; more += 85) test_sample_in_threads((1 << 18) + more);
    test_argmax();
    test_argmax_rounded();
    test_welford();
    test_partial_map();
    test_unguarded_none();
    test_classes();
    test_recurrence();
    test_special_values();
    test_half_storage();
    test_rand();
    test_requires();
    test_two_keys();
    test_uncertain_filter();
    test_threads();
    test_empty();
    printf("%d failures\n", failures);
    return failures != 0;
}
