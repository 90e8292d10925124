// Metamorphic relations: which an op has, and that each of them notices a wrong evaluator. A wrong
// evaluator of an op is played by the right one of another op.
#include "../ir/tensor_harness.h"

#include "testing/metamorphic.h"

enum { EDGES = 7, SOURCES = 4, ROWS = 3, WIDTH = 2 };

static const int64_t SRC[EDGES] = {0, 3, 1, 1, 2, 0, 3}, DST[EDGES] = {0, 0, 0, 1, 2, 2, 2};
static const float W[EDGES] = {0.5f, -1, 2, 0.25f, 1.5f, 3, -0.75f},
                   X[SOURCES * WIDTH] = {1, 2, -3, 0.5f, 0.125f, 4, -1.5f, 2.5f};

#define SIGNATURE                                                                                             \
    "op f from \"\" {\n space E\n space U\n space V\n space F\n map src : E -> U\n map dst : E -> V sorted\n" \
    " tensor w : f32[E]\n tensor x : f32[U, F]\n result y : f32[V, F]\n"
#define SUM(body) SIGNATURE " y[v:V, f:F] = sum {e:E : dst[e] == v} (" body ")\n}\n"
#define MESSAGE "mul(w[e], x[src[e], f])"
#define UNLESS_FIRST(i) "select(eq(cvt(i64, " i "), 0), 0f32, " MESSAGE ")"

static trial *trial_of(const char *text) {
    trial *t = trial_new(text);
    set_size(t, "E", EDGES);
    set_size(t, "U", SOURCES);
    set_size(t, "V", ROWS);
    set_size(t, "F", WIDTH);
    set_input(t, "src", SRC);
    set_input(t, "dst", DST);
    set_input(t, "w", W);
    set_input(t, "x", X);
    return t;
}

static const meta_relation *relation(trial *t, meta_kind kind, const char *name) {
    meta_relations all = {0};
    meta_find(t->a, t->op, &all);
    for (uint32_t i = 0; i < all.len; i++)
        if (all.data[i].kind == kind && !strcmp(all.data[i].name, name)) return &all.data[i];
    printf("no relation %s of %s\n", meta_kind_text(kind), name);
    exit(1);
}

// How many elements do not follow where `judged` is evaluated in the place of `meant`; -1: there is
// no such relation.
static int64_t unfollowed(const char *meant, const char *judged, meta_kind kind, const char *name) {
    trial *m = trial_of(meant), *t = trial_of(judged);
    const meta_relation *r = relation(m, kind, name);
    int64_t wrong = 0;
    for (uint64_t seed = 0; seed < 8 && !r->why_not; seed++) {
        meta_change c;
        tensor_evaluated after[MAX_VALS];
        if (!evaluate(t)) return printf("%s\n", t->why), -2;
        tensor_eval_input in = {.sizes = t->sizes, .inputs = t->inputs};
        const char *why = NULL;
        if (!meta_apply(m->a, m->op, r, &in, seed, &c, &why) ||
            !tensor_eval(m->a, t->op, &c.in, after, &why))
            return printf("%s\n", why), -2;
        wrong += meta_compare(m->op, &c, val_of(m, "y"), t->results, after).wrong;
    }
    wrong = r->why_not ? -1 : wrong;
    arena_free(m->a);
    arena_free(t->a);
    return wrong;
}

static void right_ones_follow(void) {
    CHECK(unfollowed(SUM(MESSAGE), SUM(MESSAGE), META_NODES, "V") == 0);
    CHECK(unfollowed(SUM(MESSAGE), SUM(MESSAGE), META_NODES, "U") == 0);
    CHECK(unfollowed(SUM(MESSAGE), SUM(MESSAGE), META_EDGES, "E") == 0);
    CHECK(unfollowed(SUM(MESSAGE), SUM(MESSAGE), META_FEATURES, "F") == 0);
    CHECK(unfollowed(SUM(MESSAGE), SUM(MESSAGE), META_SCALED, "x") == 0);
    CHECK(unfollowed(SUM(MESSAGE), SUM(MESSAGE), META_SPLIT, "V") == 0);
    CHECK(unfollowed(SUM(MESSAGE), SUM(MESSAGE), META_SPLIT, "U") == 0);
}

static void wrong_ones_do_not(void) {
    CHECK(unfollowed(SUM(MESSAGE), SUM(UNLESS_FIRST("v")), META_NODES, "V") > 0);
    CHECK(unfollowed(SUM(MESSAGE), SUM(UNLESS_FIRST("src[e]")), META_NODES, "U") > 0);
    CHECK(unfollowed(SUM(MESSAGE), SUM(UNLESS_FIRST("e")), META_EDGES, "E") > 0);
    CHECK(unfollowed(SUM(MESSAGE), SUM(UNLESS_FIRST("f")), META_FEATURES, "F") > 0);
    CHECK(unfollowed(SUM(MESSAGE), SUM("add(" MESSAGE ", 0.5f32)"), META_SCALED, "x") > 0);
    CHECK(unfollowed(SUM(MESSAGE),
                     SIGNATURE " y[v:V, f:F] = max {e:E : dst[e] == v} (" MESSAGE ")\n}\n",
                     META_SPLIT, "V") > 0);
    CHECK(unfollowed(SUM(MESSAGE), SUM(UNLESS_FIRST("src[e]")), META_SPLIT, "U") > 0);
}

// Largest elements are the same in any order: no bound excuses a difference.
static void extremes_are_exact(void) {
    const char *
        most = SIGNATURE " y[v:V, f:F] = max {e:E : dst[e] == v} (exp(x[src[e], f]))\n}\n",
       *more = SIGNATURE
       " y[v:V, f:F] = max {e:E : dst[e] == v} (exp(add(x[src[e], f], mul(0.000001f32, cvt(f32, cvt(i64, src[e]))))))\n}\n";
    CHECK(unfollowed(most, most, META_NODES, "U") == 0);
    CHECK(unfollowed(most, more, META_NODES, "U") > 0);
}

// ---- Which an op has ----------------------------------------------------------------------------

static const char *why_not(const char *text, meta_kind kind, const char *name) {
    trial *t = trial_of(text);
    const char *why = relation(t, kind, name)->why_not;   // a literal
    arena_free(t->a);
    return why ? why : "";
}

static void degree_is(int line, const char *text, int32_t twice) {
    trial *t = trial_of(text);
    const meta_relation *r = relation(t, META_SCALED, "x");
    int32_t found = r->why_not ? META_NOTHING : r->result[val_of(t, "y")];
    if (found != twice) printf("line %d: twice the degree is %d, not %d\n", line, found, twice);
    failures += found != twice;
    arena_free(t->a);
}
#define DEGREE(body, twice) degree_is(__LINE__, SUM(body), twice)

static void degrees_follow(void) {
    DEGREE("x[src[e], f]", 2);
    DEGREE("mul(x[src[e], f], x[src[e], f])", 4);
    DEGREE("div(w[e], x[src[e], f])", -2);
    DEGREE("div(x[src[e], f], max(x[src[e], f], 0f32))", 0);
    DEGREE("sqrt(x[src[e], f])", 1);
    DEGREE("pow(x[src[e], f], 3f32)", 6);
    DEGREE("pow(x[src[e], f], 0.3f32)", META_NOTHING);
    DEGREE("exp(x[src[e], f])", META_NOTHING);
    DEGREE("exp(div(x[src[e], f], x[src[e], index(F, 1)]))", 0);
    DEGREE("add(x[src[e], f], w[e])", META_NOTHING);
    DEGREE("select(gt(x[src[e], f], 0f32), x[src[e], f], 0f32)", 2);
    DEGREE("select(gt(x[src[e], f], 1f32), x[src[e], f], 0f32)", META_NOTHING);
    DEGREE("mul(round(f16, x[src[e], f]), w[e])", 2);
    DEGREE("w[e]", 0);
}

static void loops_and_reducers_have_degrees(void) {
    const char *loop = SIGNATURE
        " space _3 = 3\n space _4 = 4\n stage z : f32[_4, V, F]\n stage s : f32[V, F]\n"
        " z.0: z[0, v:V, f:F] = x[src[index(E, 0)], f]\n loop t:_3 {\n"
        "  s[v:V, f:F] = sum {e:E : dst[e] == v} (mul(w[e], z[index(_4, t), v, f]))\n"
        "  z.1: z[t + 1, v:V, f:F] = add(s[v, f], x[src[index(E, 0)], f])\n }\n"
        " y[v:V, f:F] = z[index(_4, 3), v, f]\n}\n";
    degree_is(__LINE__, loop, 2);
    CHECK(!strcmp(why_not(loop, META_SCALED, "w"), "no result is homogeneous in it"));
    const char *mean = SIGNATURE
        " reducer mean(f32) -> (f32) commutative {\n state (f32, i64)\n identity (0f32, 0)\n lift (arg.0, 1)\n"
        " combine (add(left.0, right.0), add(left.1, right.1))\n"
        " finish (select(eq(left.1, 0), 0f32, div(left.0, cvt(f32, left.1))))\n }\n"
        " y[v:V, f:F] = mean {e:E : dst[e] == v} (x[src[e], f])\n}\n";
    degree_is(__LINE__, mean, 2);
    CHECK(!strcmp(why_not(mean, META_SPLIT, "V"), "no result is a sum over its rows"));
    CHECK(!*why_not(mean, META_EDGES, "E"));
}

static void what_asks_for_numbers_is_left_out(void) {
    const char *last = SIGNATURE
        " reducer last(f32) -> (f32) {\n state (f32)\n identity (0f32)\n lift (arg.0)\n combine (right.0)\n finish (left.0)\n }\n"
        " y[v:V, f:F] = last {e:E : dst[e] == v} (x[src[e], f])\n}\n";
    CHECK(!strcmp(why_not(last, META_EDGES, "E"), "a reducer takes its points in order"));
    CHECK(!strcmp(why_not(last, META_NODES, "V"),
                  "a reducer takes its points in order"));   // edges are sorted by V
    CHECK(!*why_not(last, META_NODES, "U"));
    CHECK(
        !strcmp(why_not(SUM(UNLESS_FIRST("e")), META_EDGES, "E"), "the number of a point is read"));
    CHECK(!*why_not(SUM(UNLESS_FIRST("e")), META_NODES, "U"));
    CHECK(!strcmp(why_not(SUM("x[index(U, 0), f]"), META_NODES, "U"),
                  "a point is named by its number"));
    CHECK(!strcmp(why_not(SUM("mul(x[src[e], f], cvt(f32, size(V)))"), META_SPLIT, "V"),
                  "no result is a sum over its rows"));
    CHECK(!strcmp(why_not(SIGNATURE " y[v:V, f:F] = sum {e:E : dst[e] == v} (" MESSAGE
                                    ") else (1f32)\n}\n",
                          META_SPLIT, "V"),
                  "no result is a sum over its rows"));
}

int main(void) {
    right_ones_follow();
    wrong_ones_do_not();
    extremes_are_exact();
    degrees_follow();
    loops_and_reducers_have_degrees();
    what_asks_for_numbers_is_left_out();
    return failures != 0;
}
