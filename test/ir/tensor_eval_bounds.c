// The evaluator's bounds hold for plain f32 code in many orders of summation, and are not absurdly
// wide. Prints, for sums of 10 to 10000 terms, how many times wider the bound is than the worst
// error seen.
#include "tensor_harness.h"

static uint64_t state = 88172645463325252u;
static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}
static float uniform(float lo, float hi) {
    return lo + (hi - lo) * (float)(next() >> 40) * 0x1p-24f;
}

static void shuffle(int64_t *order, int64_t n) {
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = (int64_t)(next() % (uint64_t)(i + 1)), x = order[i];
        order[i] = order[j];
        order[j] = x;
    }
}

// One order of summation: sequential, by a tree, or in parts, over shuffled terms.
static float sum_in_some_order(const float *terms, int64_t n) {
    float *work = malloc(sizeof *work * (size_t)(n + 1));
    int64_t *order = malloc(sizeof *order * (size_t)(n + 1)), parts = 1 + (int64_t)(next() % 8);
    for (int64_t i = 0; i < n; i++) order[i] = i;
    shuffle(order, n);
    for (int64_t i = 0; i < n; i++) work[i] = terms[order[i]];
    float total = 0;
    if (next() % 3 == 0) {
        for (int64_t m = n; m > 1; m = (m + 1) / 2)
            for (int64_t i = 0; i < m / 2; i++) work[i] += work[m - 1 - i];
        total = n ? work[0] : 0;
    } else {
        for (int64_t k = 0; k < parts; k++) {
            float part = 0;
            for (int64_t i = k; i < n; i += parts) part += work[i];
            total += part;
        }
    }
    free(work);
    free(order);
    return total;
}

static double ratio_of(const tensor_evaluated *y, float *actual, ir_dtype type) {
    tensor_array array = {.type = type, .rank = 1, .shape = {y->points}, .data = actual};
    tensor_comparison c = tensor_compare(y, &array);
    CHECK(c.wrong == 0);
    CHECK(c.uncertain == 0);
    return c.worst_ratio;
}

static void test_dot(int64_t n, float lo) {
    trial *t = trial_new(
        "op dot { space N tensor x : f32[N] tensor w : f32[N] result y : f32[] y[] = sum "
        "{n:N} (mul(x[n], w[n])) }");
    float *x = malloc(sizeof *x * (size_t)n), *w = malloc(sizeof *w * (size_t)n),
          *terms = malloc(sizeof *terms * (size_t)n);
    double worst = 0;
    for (int round = 0; round < 10; round++) {
        for (int64_t i = 0; i < n; i++)
            x[i] = uniform(lo, 1), w[i] = uniform(0, 1), terms[i] = x[i] * w[i];
        set_size(t, "N", n), set_input(t, "x", x), set_input(t, "w", w);
        EXPECT_EVALUATED(t);
        for (int k = 0; k < 20; k++) {
            float y = sum_in_some_order(terms, n);
            double r = ratio_of(result(t, "y"), &y, DT_F32);
            if (r > worst) worst = r;
        }
    }
    printf("dot of %lld in [%g, 1]: bound is %.1f times the worst error\n", (long long)n,
           (double)lo, 1 / worst);
    if (n <= 1000 && lo >= 0) CHECK(worst > 0.01);
    free(x), free(w), free(terms);
    arena_free(t->a);
}

enum { EDGES = 400, NODES = 40 };

static void test_softmax(void) {
    trial *t = trial_new(
        "op softmax { space E space V map dst : E -> V tensor s : f32[E] tensor x : f32[E] result y : f32[V] "
        "stage m : f32[V] stage z : f32[V] stage a : f32[E] "
        "m[v:V] = max {e:E : dst[e] == v} (s[e]) else (-inf.f32) "
        "z[v:V] = sum {e:E : dst[e] == v} (exp(sub(s[e], m[v]))) "
        "a[e:E] = div(exp(sub(s[e], m[dst[e]])), z[dst[e]]) "
        "y[v:V] = sum {e:E : dst[e] == v} (mul(a[e], x[e])) }");
    int64_t dst[EDGES];
    float s[EDGES], x[EDGES], y[NODES];
    double worst = 0;
    for (int round = 0; round < 50; round++) {
        for (int e = 0; e < EDGES; e++)
            dst[e] = (int64_t)(next() % NODES), s[e] = uniform(-20, 20), x[e] = uniform(-1, 1);
        set_size(t, "E", EDGES), set_size(t, "V", NODES);
        set_input(t, "dst", dst), set_input(t, "s", s), set_input(t, "x", x);
        EXPECT_EVALUATED(t);
        for (int v = 0; v < NODES; v++) {
            float m = -INFINITY, terms[EDGES];
            int n = 0;
            for (int e = 0; e < EDGES; e++)
                if (dst[e] == v && s[e] > m) m = s[e];
            for (int e = 0; e < EDGES; e++)
                if (dst[e] == v) terms[n++] = expf(s[e] - m);
            float z = sum_in_some_order(terms, n);
            n = 0;
            for (int e = 0; e < EDGES; e++)
                if (dst[e] == v) terms[n++] = expf(s[e] - m) / z * x[e];
            y[v] = sum_in_some_order(terms, n);
        }
        double r = ratio_of(result(t, "y"), y, DT_F32);
        if (r > worst) worst = r;
    }
    printf("softmax: bound is %.1f times the worst error\n", 1 / worst);
    CHECK(worst > 0.01);
    arena_free(t->a);
}

static float apply(int f, float x, float w) {
    switch (f) {
    case 0: return tanhf(x * w);
    case 1: return logf(x * x + 1.5f);
    case 2: return powf(x * x + 0.5f, w);
    case 3: return sinf(x * w + 1);
    case 4: return erff(x + w);
    case 5: return expm1f(x * w);
    case 6: return log1pf(x * x);
    case 7: return sqrtf(x * x + w * w);
    case 8: return fmaf(x, w, x * x) / (1 + expf(-x * w));
    default: return cosf(x * w) * cosf(x + w);
    }
}

static void test_maths(void) {
    static const char *const bodies[] = {
        "tanh(mul(x[n], w[n]))",
        "log(add(mul(x[n], x[n]), 1.5f32))",
        "pow(add(mul(x[n], x[n]), 0.5f32), w[n])",
        "sin(add(mul(x[n], w[n]), 1f32))",
        "erf(add(x[n], w[n]))",
        "expm1(mul(x[n], w[n]))",
        "log1p(mul(x[n], x[n]))",
        "sqrt(add(mul(x[n], x[n]), mul(w[n], w[n])))",
        "div(add(mul(x[n], w[n]), mul(x[n], x[n])), add(1f32, exp(neg(mul(x[n], w[n])))))",
        "mul(cos(mul(x[n], w[n])), cos(add(x[n], w[n])))"};
    enum { POINTS = 2000 };
    static float x[POINTS], w[POINTS], y[POINTS];
    for (int f = 0; f < 10; f++) {
        char text[400];
        snprintf(
            text, sizeof text,
            "op f { space N tensor x : f32[N] tensor w : f32[N] result y : f32[N] y[n:N] = %s }",
            bodies[f]);
        trial *t = trial_new(text);
        for (int i = 0; i < POINTS; i++)
            x[i] = uniform(-4, 4), w[i] = uniform(-4, 4), y[i] = apply(f, x[i], w[i]);
        set_size(t, "N", POINTS), set_input(t, "x", x), set_input(t, "w", w);
        EXPECT_EVALUATED(t);
        double worst = ratio_of(result(t, "y"), y, DT_F32);
        printf("%s: bound is %.1f times the worst error\n", bodies[f], 1 / worst);
        CHECK(worst > 0.01);
        arena_free(t->a);
    }
}

static void test_product(void) {
    trial *t = trial_new(
        "op product { space N tensor x : f32[N] result y : f32[] y[] = prod {n:N} (x[n]) }");
    float x[200];
    for (int round = 0; round < 100; round++) {
        double hi = 1;
        for (int i = 0; i < 200; i++) x[i] = uniform(0.8f, 1.2f), hi *= (double)x[i];
        set_size(t, "N", 200), set_input(t, "x", x);
        EXPECT_EVALUATED(t);
        float y = 1;
        for (int i = 0; i < 200; i++) y *= x[(i * 77 + round) % 200];
        ratio_of(result(t, "y"), &y, DT_F32);
    }
    arena_free(t->a);
}

// ---- Products by parts --------------------------------------------------------------------------
static float bits_of_tf32(float x) { return (float)ir_tf32_round((double)x); }

// Rounded to nearest, or cut as tensor cores do.
static float f32_of(double x, bool is_cut) {
    float y = (float)x;
    return is_cut && fabs((double)y) > fabs(x) ? nextafterf(y, 0) : y;
}

// sum + x w; first: of a' B, A b' and A B, the first that is not left out.
static float by_parts(float sum, float x, float w, int first, bool is_cut) {
    float a = bits_of_tf32(x), b = bits_of_tf32(w),
          rests[] = {bits_of_tf32(x - a), bits_of_tf32(w - b)};
    double products[] = {(double)rests[0] * (double)b, (double)a * (double)rests[1],
                         (double)a * (double)b};
    for (int i = first; i < 3; i++) sum = f32_of((double)sum + products[i], is_cut);
    return sum;
}

static float scaled(int range) { return ldexpf(uniform(-1, 1), (int)(next() % 8) - range); }

// range: powers of two that factors are about as large as, down to those whose rests, products or
// themselves are subnormal.
static void test_parts(int range, int64_t n) {
    trial *t = trial_new(
        "op parts { space N tensor x : f32[N] tensor w : f32[N] result y : f32[] "
        "reducer sum.mma3(f32) -> (f32) commutative roundings 10 { state (f32) identity (0f32) "
        "lift (arg.0) combine (add(left.0, right.0)) finish (left.0) } "
        "y[] = sum.mma3 {n:N} (mul(parts(x[n]), parts(w[n]))) }");
    enum { MOST = 64, ROUNDS = 3000 };
    float x[MOST], w[MOST];
    double worst = 0;
    int missed = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int64_t i = 0; i < n; i++)
            x[i] = scaled(range), w[i] = scaled(range > 100 ? 0 : range);
        set_size(t, "N", n), set_input(t, "x", x), set_input(t, "w", w);
        EXPECT_EVALUATED(t);
        float y = 0, lost = 0;
        for (int64_t i = 0; i < n; i++) {
            y = by_parts(y, x[i], w[i], 0, round % 2);
            lost = by_parts(lost, x[i], w[i], 1, round % 2);
        }
        double r = ratio_of(result(t, "y"), &y, DT_F32);
        if (r > worst) worst = r;
        tensor_array array = {.type = DT_F32, .shape = {1}, .data = &lost};
        missed += tensor_compare(result(t, "y"), &array).wrong != 0;
    }
    printf("%lld products by parts about 2^-%d: bound is %.1f times the worst error\n",
           (long long)n, range, 1 / worst);
    CHECK(worst > 0.001);
    if (n == 1 && range == 0) CHECK(missed > ROUNDS * 9 / 10);   // as long as it left something
    arena_free(t->a);
}

typedef struct {
    float n, m, q;
} moments;

static moments combine(moments a, moments b) {
    float n = a.n + b.n, d = b.m - a.m, share = n == 0 ? 0 : b.n / n;
    return (moments){n, a.m + d * share, a.q + b.q + d * d * (a.n * share)};
}

// A tree of random shape; the terms were shuffled before.
static moments some_tree(const float *x, int64_t lo, int64_t hi) {
    if (hi - lo == 0) return (moments){0, 0, 0};
    if (hi - lo == 1) return (moments){1, x[lo], 0};
    int64_t cut = next() % 4 ? lo + 1 + (int64_t)(next() % (uint64_t)(hi - lo - 1)) : hi - 1;
    return combine(some_tree(x, lo, cut), some_tree(x, cut, hi));
}

#define WELFORD(facts)                                                                              \
    "reducer welford(f32) -> (f32, f32) " facts                                                     \
    " { state (f32, f32, f32) identity (0f32, 0f32, 0f32) "                                         \
    "lift (1f32, arg.0, 0f32) "                                                                     \
    "combine let %1 = add(left.0, right.0) let %2 = sub(right.1, left.1) "                          \
    "let %3 = select(eq(%1, 0f32), 0f32, div(right.0, %1)) "                                        \
    "(%1, add(left.1, mul(%2, %3)), add(add(left.2, right.2), mul(mul(%2, %2), mul(left.0, %3)))) " \
    "finish (left.1, div(left.2, left.0)) } mu[], var[] = welford {n:N} (x[n]) }"
#define MOMENTS "op moments { space N tensor x : f32[N] result mu : f32[] result var : f32[] "

// The last term is by far the largest: taken first, it makes every later combination round
// coarsely.
static void test_user_reducer(float last) {
    trial *t = trial_new(MOMENTS WELFORD("commutative"));
    double worst = 0;
    for (int64_t n = 2; n <= 2000; n *= 3) {
        static float x[2000], work[2000];
        int64_t order[2000];
        for (int64_t i = 0; i < n; i++) x[i] = uniform(3, 5), order[i] = i;
        x[n - 1] *= last;
        set_size(t, "N", n), set_input(t, "x", x);
        EXPECT_EVALUATED(t);
        for (int k = 0; k < 50; k++) {
            for (int64_t i = 0; i < n; i++) work[i] = x[order[i]];
            moments m = some_tree(work, 0, n);
            float var = m.q / m.n;
            double r = fmax(ratio_of(result(t, "mu"), &m.m, DT_F32),
                            ratio_of(result(t, "var"), &var, DT_F32));
            if (r > worst) worst = r;
            shuffle(order, n);
        }
    }
    printf("welford: bound is %.1f times the worst error\n", 1 / worst);
    CHECK(worst > 0.01);
    arena_free(t->a);
}

// A sum in a state, of terms that all but cancel: the bound is that of a sum in any order.
static void test_mean_reducer(void) {
    trial *t = trial_new(
        "op m { space N tensor x : f32[N] result y : f32[] result z : f32[] "
        "reducer mean(f32) -> (f32) commutative { state (f32, i64) identity (0f32, 0) lift (arg.0, 1) "
        "combine (add(left.0, right.0), add(left.1, right.1)) finish (div(left.0, cvt(f32, left.1))) } "
        "y[] = mean {n:N} (x[n]) z[] = sum {n:N} (x[n]) }");
    static float x[400];
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 400; i++) x[i] = (i < 200 ? 1 : -1) * uniform(0.99f, 1);
        set_size(t, "N", 400), set_input(t, "x", x);
        EXPECT_EVALUATED(t);
        float y = sum_in_some_order(x, 400) / 400;
        ratio_of(result(t, "y"), &y, DT_F32);
        CHECK(result(t, "y")->bound[0] <= result(t, "z")->bound[0] / 400 * 1.01);
    }
    arena_free(t->a);
}

// One infinity: the variance is inf where it is combined last, else NaN. Order is free only if the
// reducer commutes.
static void test_special_terms(void) {
    for (int at = 0; at < 3; at++) {
        trial *free = trial_new(MOMENTS WELFORD("commutative")),
              *kept = trial_new(MOMENTS WELFORD(""));
        float x[3] = {1, 2, 3};
        x[at] = INFINITY;
        set_size(free, "N", 3), set_input(free, "x", x);
        set_size(kept, "N", 3), set_input(kept, "x", x);
        EXPECT_EVALUATED(free);
        EXPECT_EVALUATED(kept);
        CHECK(isinf(result(free, "var")->bound[0]));
        CHECK(isinf(result(kept, "var")->bound[0]) || isnan(result(kept, "var")->value[0]));
        arena_free(free->a), arena_free(kept->a);
    }
}

// The variance of a finite term, inf and -inf is inf where they come one after another, else NaN.
static void test_two_infinities(void) {
    trial *t = trial_new(MOMENTS WELFORD("commutative"));
    float x[] = {INFINITY, 1, 2, -INFINITY, 3};
    set_size(t, "N", 5), set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    CHECK(isinf(result(t, "var")->bound[0]));
    arena_free(t->a);
}

// Infinities that every order agrees on stay what they are.
static void test_special_agreed(void) {
    trial *t = trial_new(
        "op two { space N tensor x : f32[N] result p : f32[] result q : f32[] "
        "reducer top2(f32) -> (f32, f32) commutative { state (f32, f32) identity (-inf.f32, -inf.f32) "
        "lift (arg.0, -inf.f32) "
        "combine (max(left.0, right.0), max(min(left.0, right.0), max(left.1, right.1))) finish (left.0, left.1) } "
        "p[], q[] = top2 {n:N} (x[n]) }");
    float x[] = {2, -INFINITY, INFINITY, INFINITY, 7};
    set_size(t, "N", 5), set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    CHECK(isinf(result(t, "p")->value[0]) && result(t, "p")->bound[0] == 0);
    CHECK(isinf(result(t, "q")->value[0]) && result(t, "q")->bound[0] == 0);
    set_size(t, "N", 1);
    EXPECT_EVALUATED(t);
    CHECK(result(t, "p")->value[0] == 2 && result(t, "q")->value[0] == (double)-INFINITY);
    arena_free(t->a);
}

// Past one chunk of the evaluator: integers and the two largest are exact in every order.
static void test_many_terms(void) {
    trial *t = trial_new(
        "op best { space N tensor x : f32[N] result k : [] -> N "
        "reducer argmax(f32, index(N)) -> (index(N)) commutative { state (f32, index(N)) identity (-inf.f32, none(N)) "
        "lift (arg.0, arg.1) "
        "combine let %1 = gt(left.0, right.0) (max(left.0, right.0), select(%1, left.1, right.1)) finish (left.1) } "
        "k[] = argmax {n:N} (x[n], n) }");
    enum { TERMS = 5000 };
    static float x[TERMS];
    for (int i = 0; i < TERMS; i++) x[i] = (float)(i * 37 % TERMS);
    set_size(t, "N", TERMS), set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    CHECK(result(t, "k")->certain[0] && x[result(t, "k")->integer[0]] == TERMS - 1);
    x[0] = TERMS - 1;   // a tie, which this reducer decides by order
    EXPECT_EVALUATED(t);
    CHECK(!result(t, "k")->certain[0]);
    arena_free(t->a);
}

static uint16_t to_bf16(float x) {   // to nearest even
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Products contracted into the sum, and a narrow result.
static void test_contracted(void) {
    trial *t = trial_new(
        "op dot { space V space N tensor x : f32[V, N] tensor w : f32[N] result y : f32[V] result h : "
        "bf16[V] "
        "stage s : f32[V] s[v:V] = sum {n:N} (mul(x[v, n], w[n])) y[v:V] = s[v] h[v:V] = mul(s[v], 3f32) }");
    enum { ROWS = 200, TERMS = 33 };
    static float x[ROWS * TERMS], w[TERMS], y[ROWS];
    static uint16_t h[ROWS];
    for (int i = 0; i < TERMS; i++) w[i] = uniform(-1, 1);
    for (int v = 0; v < ROWS; v++) {
        for (int i = 0; i < TERMS; i++)
            x[v * TERMS + i] = uniform(-1, 1), y[v] = fmaf(x[v * TERMS + i], w[i], y[v]);
        h[v] = to_bf16(y[v] * 3);
    }
    set_size(t, "V", ROWS), set_size(t, "N", TERMS);
    set_input(t, "x", x), set_input(t, "w", w);
    EXPECT_EVALUATED(t);
    ratio_of(result(t, "y"), y, DT_F32);
    tensor_array narrow = {.type = DT_BF16, .rank = 1, .shape = {ROWS}, .data = h};
    CHECK(tensor_compare(result(t, "h"), &narrow).wrong == 0);
    h[7] ^= 4;
    CHECK(tensor_compare(result(t, "h"), &narrow).first_wrong == 7);
    arena_free(t->a);
}

static void test_double(void) {
    trial *t = trial_new(
        "op dot { space N tensor x : f64[N] result y : f64[] y[] = sum {n:N} (exp(mul(x[n], x[n]))) }");
    double x[500], y = 0;
    for (int i = 0; i < 500; i++) x[i] = (double)uniform(-2, 2), y += exp(x[i] * x[i]);
    set_size(t, "N", 500), set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    tensor_array actual = {.type = DT_F64, .data = &y};
    CHECK(tensor_compare(result(t, "y"), &actual).wrong == 0);
    CHECK(result(t, "y")->bound[0] < 1e-12 * y);
    arena_free(t->a);
}

// Terms on a coarse grid sum exactly in every order, and then nothing but the exact sum is right.
static void test_exact_sums(void) {
    trial *t = trial_new(
        "op dot { space N tensor x : f32[N] tensor w : f32[N] result y : f32[] y[] = sum "
        "{n:N} (mul(x[n], w[n])) }");
    enum { TERMS = 5000 };
    static float x[TERMS], w[TERMS], terms[TERMS];
    for (int i = 0; i < TERMS; i++) {
        x[i] = (float)(int)(next() % 17) / 8 - 1, w[i] = (float)(int)(next() % 33) / 8 - 2;
        terms[i] = x[i] * w[i];
    }
    set_size(t, "N", TERMS), set_input(t, "x", x), set_input(t, "w", w);
    EXPECT_EVALUATED(t);
    CHECK(result(t, "y")->bound[0] == 0);
    float y = sum_in_some_order(terms, TERMS);
    ratio_of(result(t, "y"), &y, DT_F32);
    arena_free(t->a);
}

// One accumulator of f32 is off by 5 % after 2^21 equal terms, and stands still at 2^24 ones: that
// is wrong, and sums of blocks are not.
static void test_long_sum(void) {
    trial *t = trial_new(
        "op s { space N tensor x : f32[N] result y : f32[] y[] = sum {n:N} (x[n]) }");
    enum { TERMS = 1 << 21, BLOCK = 4096 };
    float *x = malloc(sizeof *x * TERMS), one = 0, all = 0;
    for (int i = 0; i < TERMS; i++) x[i] = 0.1f, one += x[i];
    for (int i = 0; i < TERMS; i += BLOCK) {
        float block = 0;
        for (int k = i; k < i + BLOCK; k++) block += x[k];
        all += block;
    }
    set_size(t, "N", TERMS), set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    tensor_array array = {.type = DT_F32, .data = &one};
    CHECK(tensor_compare(result(t, "y"), &array).wrong == 1);
    ratio_of(result(t, "y"), &all, DT_F32);
    free(x);
    arena_free(t->a);
}

#define FADE                                                                                       \
    "reducer fade(f32) -> (f32) { state (f32, f32) identity (1f32, 0f32) lift (0.5f32, arg.0) "    \
    "combine (mul(left.0, right.0), add(mul(right.0, left.1), right.1)) finish (left.1) } "

// Term after term it happens that nothing rounds; by pairs something does.
static void test_lucky_order(void) {
    trial *t = trial_new("op f { space N tensor x : f32[N] result y : f32[] " FADE
                         "y[] = fade {n:N} (x[n]) }");
    float x[] = {0x1.000002p0f, -0x1p-1f, 0x1.8p-24f, -0x1p-25f};
    set_size(t, "N", 4), set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    float whole = 0, first = 0.5f * x[0] + x[1], last = 0.5f * x[2] + x[3],
          parts = 0.25f * first + last;
    for (int i = 0; i < 4; i++) whole = 0.5f * whole + x[i];
    ratio_of(result(t, "y"), &whole, DT_F32);
    ratio_of(result(t, "y"), &parts, DT_F32);
    CHECK(result(t, "y")->bound[0] > 0 && result(t, "y")->bound[0] < 1e-6);
    arena_free(t->a);
}

// What leaves f32 on the way is a number of real arithmetic.
static void test_real(void) {
    trial *t = trial_new(
        "op r { space N tensor x : f32[N] result y : f32[N] y[n:N] = div(exp(x[n]), exp(x[n])) }");
    float x[] = {100, 1}, nans[] = {NAN, 1}, ones[] = {1, 1}, twos[] = {2, 1};
    set_size(t, "N", 2), set_input(t, "x", x);
    EXPECT_EVALUATED(t);
    tensor_evaluated y = *result(t, "y");
    CHECK(y.overflows && isnan(y.value[0]));
    t->real = true;
    EXPECT_EVALUATED(t);
    y.real = result(t, "y");
    CHECK(y.real->value[0] == 1 && y.real->beyond[0] && !y.real->beyond[1]);
    const struct {
        float *is;
        int64_t compared, wrong, overflowed;
    } rows[] = {{nans, 1, 0, 1}, {ones, 2, 0, 0}, {twos, 2, 1, 0}};
    for (int i = 0; i < 3; i++) {
        tensor_comparison c = tensor_compare(&y,
                                             &(tensor_array){.type = DT_F32, .data = rows[i].is});
        CHECK(c.compared == rows[i].compared && c.wrong == rows[i].wrong &&
              c.overflowed == rows[i].overflowed);
    }
    arena_free(t->a);
}

int main(void) {
    test_exact_sums();
    test_long_sum();
    test_lucky_order();
    test_real();
    for (int64_t n = 10; n <= 10000; n *= 10) {
        test_dot(n, 0);
        test_dot(n, -1);
    }
    test_softmax();
    test_maths();
    test_product();
    for (int64_t n = 1; n <= 64; n = 3 * n - 1) test_parts(0, n);
    static const int ranges[] = {30, 60, 66, 70, 74, 110, 125, 133, 140, 147};
    for (uint32_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        test_parts(ranges[i], 1), test_parts(ranges[i], 5);
    test_user_reducer(1);
    test_user_reducer(1e6f);
    test_mean_reducer();
    test_special_terms();
    test_two_infinities();
    test_special_agreed();
    test_many_terms();
    test_contracted();
    test_double();
    printf("%d failures\n", failures);
    return failures != 0;
}
