// Plans: where sizes come from and that they agree, preconditions, counted spaces, workspace,
// sharing.
#include "Inputs/harness.h"

static gnn_context *c;

static gnn_program *load(const char *text) {
    gnn_program *p = NULL;
    GOOD(c, gnn_program_load(c, text, strlen(text), &spmm_code, &p));
    return p;
}

static int64_t size_of(const gnn_plan *plan, const char *space) {
    int64_t n = -1;
    GOOD(c, gnn_plan_size(plan, space, &n));
    return n;
}

static void sizes_of_spmm(void) {
    gnn_program *p = load_spmm(c);
    gnn_plan *plan = NULL;
    int32_t src[] = {0, 1}, dst[] = {0, 2};
    const gnn_named_map maps[] = {
        {"src", {.index = src, .width = 32, .domain = 2, .codomain = 3}},
        {"dst", {.index = dst, .width = 32, .domain = 2, .codomain = -1}}};
    gnn_tensor x = {.dtype = GNN_F32, .rank = 2, .shape = {3, 7}},
               y = {.dtype = GNN_F32, .rank = 2, .shape = {4, 7}};
    gnn_arg args[5] = {[2] = {.tensor = &x}, [4] = {.tensor = &y}};
    gnn_plan_options o = {.maps = maps, .nmaps = 2, .args = args, .nargs = 5};
    GOOD(c, gnn_plan_new(p, &o, &plan));
    CHECK(size_of(plan, "E") == 2 && size_of(plan, "U") == 3 && size_of(plan, "V") == 4 &&
          size_of(plan, "F") == 7);
    CHECK(gnn_plan_workspace(plan) == 256 && gnn_plan_prepared_bytes(plan) == 20);
    gnn_tensor shape;
    GOOD(c, gnn_plan_shape(plan, 4, &shape));
    CHECK(shape.rank == 2 && shape.shape[0] == 4 && shape.shape[1] == 7);
    int64_t n;
    EXPECT(c, gnn_plan_size(plan, "Q", &n), BAD_ARGUMENT, "spmm has no space `Q`");
    gnn_plan_free(plan);
    x.shape[1] = 8;
    EXPECT(c, gnn_plan_new(p, &o, &plan), SIZE_MISMATCH, "F is 7 by y, but 8 by x");
    x.shape[1] = y.shape[1] = 13;
    EXPECT(c, gnn_plan_new(p, &o, &plan), PRECONDITION,
           "the precondition `F != 13` does not hold: F = 13");
    args[4].tensor = NULL;
    EXPECT(c, gnn_plan_new(p, &o, &plan), MISSING,
           "the size of V is not given, and no map or tensor tells it");
    const gnn_size sizes[] = {{"V", 3}, {"three", 3}};
    o.sizes = sizes;
    o.nsizes = 1;
    x.shape[1] = 2;
    GOOD(c, gnn_plan_new(p, &o, &plan));
    gnn_plan_free(plan);
    o.nsizes = 2;
    EXPECT(c, gnn_plan_new(p, &o, &plan), BAD_ARGUMENT, "spmm has no free space `three`");
    o.nsizes = 0;
    o.nargs = 4;
    EXPECT(c, gnn_plan_new(p, &o, &plan), BAD_ARGUMENT, "4 arguments for the 5 parameters of spmm");
    gnn_program_free(p);
}

#define GIVEN(bits, versions)                                                                      \
    "{\"gnnc_manifest\": 1, \"name\": \"op\", \"target\": \"host\", \"index_bits\": " bits ", "    \
    "\"versions\": [" versions "], \"spaces\": [{\"name\": \"N\", \"kind\": \"free\"}"
#define HEAD(bits) GIVEN(bits, "{\"name\": \"naive\"}")
// A launch that uses these temps.
#define USING(bits, a, b)                                                                          \
    GIVEN(bits,                                                                                    \
          "{\"name\": \"naive\", \"steps\": [{\"launch\": \"add\", \"blocks\": \"1\", \"args\": [" \
          "{\"temp\": \"" a "\"}, {\"temp\": \"" b "\"}]}]}")
#define TAKES                                                                                      \
    "], \"kernels\": [{\"name\": \"add\", \"block\": 1, \"params\": [\"ptr\", \"ptr\"]}], \"temps\": ["
#define TEMP(name, type, length)                                                                   \
    "{\"name\": \"" name "\", \"type\": \"" type "\", \"length\": \"" length "\"}"

static gnn_status plan_with(const char *text, int64_t n, gnn_plan **out) {
    gnn_program *p = load(text);
    gnn_status s = gnn_plan_new(p, &(gnn_plan_options){.sizes = &(gnn_size){"N", n}, .nsizes = 1},
                                out);
    CHECK(s || *out);
    if (!s) gnn_plan_free(*out);
    gnn_program_free(p);
    return s;
}

static void arithmetic(void) {
    gnn_plan *plan;
    EXPECT(c, plan_with(HEAD("32") "]}", -1, &plan), BAD_ARGUMENT,
           "N = -1: a size can't be negative");
    GOOD(c, plan_with(HEAD("64") "]}", 1l << 31, &plan));
    EXPECT(c, plan_with(HEAD("32") "]}", 1l << 31, &plan), TOO_LARGE,
           "N = 2147483648 does not fit the 32-bit indices of op: compile it with --index=64");
    GOOD(c, plan_with(HEAD("32") ", {\"name\": \"b\", \"kind\": \"expr\", \"size\": \"a 1 +\"}, "
                                 "{\"name\": \"a\", \"kind\": \"expr\", \"size\": \"N 1 +\"}]}",
                      1, &plan));
    EXPECT(c,
           plan_with(HEAD("32") ", {\"name\": \"a\", \"kind\": \"expr\", \"size\": \"N 1 -\"}]}", 0,
                     &plan),
           BAD_ARGUMENT, "a = -1: a size can't be negative");
    EXPECT(c,
           plan_with(USING("32", "t",
                           "t") ", {\"name\": \"a\", \"kind\": \"expr\", \"size\": \"a 1 +\"}" TAKES
                         TEMP("t", "f32", "a") "]}",
                     0, &plan),
           BAD_MANIFEST, "`a`: the size of a depends on itself");
    EXPECT(c, plan_with(USING("64", "t", "t") TAKES TEMP("t", "f64", "N") "]}", 1l << 60, &plan),
           TOO_LARGE, "temp t: 1152921504606846976 elements overflow the workspace");
    EXPECT(c,
           plan_with(USING("64", "a", "b")
                         TAKES TEMP("a", "f64", "N") "," TEMP("b", "f64", "N") "]}",
                     1l << 59, &plan),
           TOO_LARGE, "temp b: 4611686018427387904 bytes overflow the workspace");
    EXPECT(
        c,
        plan_with(USING("64", "t", "t") TAKES TEMP("t", "f64", "N N * N *") "]}", 1l << 40, &plan),
        TOO_LARGE, "`N N * N *`: overflow");
    GOOD(c,
         plan_with(USING("64", "a", "a") TAKES TEMP("a", "f64", "N") "," TEMP("b", "f64", "N") "]}",
                   1l << 59, &plan));
}

static void grid(void) {
    const char *text = GIVEN(
        "64",
        "{\"name\": \"naive\", \"steps\": [{\"launch\": \"add\", \"blocks\": \"N\", \"args\": [{\"number\": \"1\"}]}]}") "], \"kernels\": [{\"name\": \"add\", \"block\": 1, \"params\": [\"i64\"]}]}";
    gnn_program *p = NULL;
    gnn_plan *plan = NULL;
    GOOD(c, gnn_program_load(c, text, strlen(text), &spmm_code, &p));
    EXPECT(c,
           gnn_plan_new(p, &(gnn_plan_options){.sizes = &(gnn_size){"N", 1l << 31}, .nsizes = 1},
                        &plan),
           TOO_LARGE, "kernel add: a grid of 2147483648 blocks is larger than 2147483647");
    gnn_program_free(p);
}

// classes(src,dst) of a graph: how many, in a size that follows, in a precondition.
static const char pairs[] =
    "{\"gnnc_manifest\": 1, \"name\": \"op\", \"target\": \"host\", \"index_bits\": 64, \"versions\": [{\"name\": \"naive\"}], \"spaces\": ["
    "{\"name\": \"twice\", \"kind\": \"expr\", \"size\": \"classes(a,b) 2 *\"}, {\"name\": \"E\", \"kind\": \"free\"},"
    "{\"name\": \"V\", \"kind\": \"free\"}, {\"name\": \"classes(a,b)\", \"kind\": \"count\", \"prepared\": 1}],"
    "\"params\": [{\"name\": \"a\", \"role\": \"map\", \"type\": \"index\", \"facts\": [\"partial\"], \"axes\": [\"E\"], \"into\": \"V\"},"
    "{\"name\": \"b\", \"role\": \"map\", \"type\": \"index\", \"axes\": [\"E\"], \"into\": \"V\"}],"
    "\"requires\": [{\"text\": \"few\", \"holds\": \"classes(a,b) 4 < max(b) 3 < &&\"},"
    "{\"text\": \"symmetric(a, b)\", \"holds\": \"symmetric(a,b)\"}],"
    "\"prepared\": [{\"name\": \"order(a)\", \"builder\": \"order\", \"args\": [\"a\"], \"domain\": \"E\", \"into\": \"V\"},"
    "{\"name\": \"classes(a,b)\", \"builder\": \"classes\", \"args\": [\"a\", \"b\"], \"domain\": \"E\", \"into\": \"classes(a,b)\"},"
    "{\"name\": \"offsets(classes(a,b))\", \"builder\": \"offsets\", \"args\": [\"classes(a,b)\"], \"domain\": \"E\","
    " \"into\": \"classes(a,b)\"}]}";

static void counted(void) {
    gnn_program *p = load(pairs);
    gnn_plan *plan = NULL;
    int64_t a[] = {0, 1, 1, 2, -1}, b[] = {1, 0, 0, 2, 1};
    gnn_named_map maps[] = {{"a", {.index = a, .width = 64, .domain = 5, .codomain = 3}},
                            {"b", {.index = b, .width = 64, .domain = 5, .codomain = 3}}};
    gnn_plan_options o = {.maps = maps, .nmaps = 2};
    EXPECT(c, gnn_plan_new(p, &o, &plan), PRECONDITION,
           "the precondition `symmetric(a, b)` does not hold: symmetric(a,b) = 0, as "
           "no edge leads back from b[2] = 0 to a[2] = 1");
    a[2] = 0, b[2] = 1;
    EXPECT(c, gnn_plan_new(p, &o, &plan), PRECONDITION,
           "the precondition `few` does not hold: classes(a,b) = 3, max(b) = 3");
    a[2] = 2, b[2] = 2;
    GOOD(c, gnn_plan_new(p, &o, &plan));
    CHECK(size_of(plan, "classes(a,b)") == 3 && size_of(plan, "twice") == 6);
    // no launch reads the classes
    CHECK(!plan->prepared[1] && gnn_plan_prepared_bytes(plan) == 0);
    gnn_plan_free(plan);
    gnn_program_free(p);
}

static void shared(ledger *l) {
    gnn_program *p = load_spmm(c);
    gnn_cache *k = NULL;
    gnn_plan *one = NULL, *two = NULL;
    int64_t src[] = {0, 1}, dst[] = {0, 2};
    gnn_named_map maps[] = {{"src", {.index = src, .width = 64, .domain = 2, .codomain = 3}},
                            {"dst", {.index = dst, .width = 64, .domain = 2, .codomain = 3}}};
    const gnn_size size = {"F", 2};
    GOOD(c, gnn_cache_new(c, &k));
    const gnn_plan_options o = {.sizes = &size, .nsizes = 1, .maps = maps, .nmaps = 2, .cache = k};
    GOOD(c, gnn_plan_new(p, &o, &one));
    int64_t live = l->live, calls = l->calls;
    GOOD(c, gnn_plan_new(p, &o, &two));
    CHECK(l->live - live == 20);     // the plan, its tables and its steps alone
    CHECK(l->calls - calls == 23);   // and a key, and where temps lie, twice
    CHECK(one->prepared[0] == two->prepared[0] && one->maps[0] == two->maps[0]);
    gnn_plan_free(one);
    gnn_cache_free(k);
    CHECK(rt_get(&two->prepared[0]->host, 3) == 2);
    gnn_plan_free(two);
    gnn_program_free(p);
}

// A map that was trusted is checked once a plan wants it.
static void checked_later(void) {
    gnn_program *p = load_spmm(c);
    gnn_cache *k = NULL;
    gnn_plan *plan = NULL;
    int32_t src[] = {0, 1}, dst[] = {2, 0};
    const gnn_named_map maps[] = {{"src", {.index = src, .width = 32, .domain = 2, .codomain = 3}},
                                  {"dst", {.index = dst, .width = 32, .domain = 2, .codomain = 3}}};
    GOOD(c, gnn_cache_new(c, &k));
    gnn_plan_options o = {.sizes = &(gnn_size){"F", 2},
                          .nsizes = 1,
                          .maps = maps,
                          .nmaps = 2,
                          .flags = GNN_TRUSTED,
                          .cache = k};
    GOOD(c, gnn_plan_new(p, &o, &plan));
    gnn_plan_free(plan);
    o.flags = 0;
    EXPECT(c, gnn_plan_new(p, &o, &plan), NOT_SORTED, "dst[1] = 0 after 2: dst is declared sorted");
    gnn_cache_free(k);
    gnn_program_free(p);
}

int main(void) {
    ledger l;
    c = new_context(&l, 1);
    sizes_of_spmm();
    arithmetic();
    grid();
    counted();
    shared(&l);
    checked_later();
    end_context(c, &l);
    return failed;
}
