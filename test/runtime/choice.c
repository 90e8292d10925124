// A choice among versions: which a plan tries first, what it keeps then, what is malformed, and
// what choosing costs.
#define _POSIX_C_SOURCE 200809L
#include "Inputs/harness.h"
#include "manifest.h"

#include <time.h>

#define STEPS(kernel)                                                                              \
    "\"steps\": [{\"launch\": \"" kernel "\", \"blocks\": \"1\", \"args\": [{\"data\": \"y\"}]}]"
#define VERSION(name, of, guards, kernel)                                                          \
    "{\"name\": \"" name "\"" of ", \"guards\": [" guards "], " STEPS(kernel) "}"
#define HOLDS(text, expr) "{\"text\": \"" text "\", \"holds\": \"" expr "\"}"
#define PAYS(text, expr) "{\"text\": \"" text "\", \"pays\": \"" expr "\"}"
#define OF(k) ", \"of\": " k
#define KERNEL(name) "{\"name\": \"" name "\", \"block\": 1, \"params\": [\"ptr\"]}"
#define OP(choice, versions)                                                                       \
    "{\"gnnc_manifest\": 1, \"name\": \"op\", \"target\": \"host\", \"index_bits\": 32, "          \
    "\"spaces\": [{\"name\": \"E\", \"kind\": \"free\"}, {\"name\": \"V\", \"kind\": \"free\"}, "  \
    "{\"name\": \"F\", \"kind\": \"free\"}], \"params\": [{\"name\": \"m\", \"role\": \"map\", "   \
    "\"type\": \"index\", \"axes\": [\"E\"], \"into\": \"V\"}, {\"name\": \"x\", \"role\": "       \
    "\"tensor\", \"type\": \"f32\", \"facts\": [\"strided\"], \"axes\": [\"V\", \"F\"]}, "         \
    "{\"name\": \"y\", \"role\": \"result\", \"type\": \"i64\", \"axes\": []}], "                  \
    "\"kernels\": [" KERNEL("a") ", " KERNEL("b") ", " KERNEL("c") ", " KERNEL(                    \
        "d") "]" choice ", \"versions\": [" versions "]}"
#define CHOICE(of)                                                                                 \
    ", \"choice\": {\"text\": \"some\", \"of\": \"" of                                             \
    "\", \"schedules\": [\"thin\", \"wide\", \"default\"]}"
#define TREE "avg(m) 4 < 0 F 8 >= 1 2 ?: ?:"
#define VERSIONS                                                                                   \
    VERSION("thin", OF("0"), HOLDS("F % 2 == 0", "F 2 % 0 =="), "a")                               \
    ", " VERSION("wide many", OF("1"), PAYS("V > 3", "V 3 >"),                                     \
                 "b") ", " VERSION("wide", OF("1"), "{\"aligned\": \"x\", \"bytes\": 16}",         \
                                   "c") ", " VERSION("naive", OF("2"), "", "d")

static gnn_context *c;

static void store(const uint64_t *a, int64_t version) { *(int64_t *)a[0] = version; }
static void a(const uint64_t *args, uint32_t block, uint32_t blocks) {
    (void)block, (void)blocks, store(args, 1);
}
static void b(const uint64_t *args, uint32_t block, uint32_t blocks) {
    (void)block, (void)blocks, store(args, 2);
}
static void third(const uint64_t *args, uint32_t block, uint32_t blocks) {
    (void)block, (void)blocks, store(args, 3);
}
static void fourth(const uint64_t *args, uint32_t block, uint32_t blocks) {
    (void)block, (void)blocks, store(args, 4);
}

static gnn_status try_load(const char *text, gnn_program **out) {
    static const gnn_host_kernel kernels[] = {{"a", a}, {"b", b}, {"c", third}, {"d", fourth}};
    *out = NULL;
    return gnn_program_load(c, text, strlen(text), &(gnn_code){.kernels = kernels, .nkernels = 4},
                            out);
}

static gnn_program *load(const char *text) {
    gnn_program *p;
    GOOD(c, try_load(text, &p));
    return p;
}

// entries, all of value 0, in v classes
static gnn_status plan_of(gnn_program *p, int64_t entries, int64_t v, int64_t f, const char *named,
                          gnn_plan **out) {
    static const int32_t m[64];
    const gnn_named_map map = {"m", {.index = m, .width = 32, .domain = entries, .codomain = v}};
    return gnn_plan_new(
        p,
        &(gnn_plan_options){
            .sizes = &(gnn_size){"F", f}, .nsizes = 1, .maps = &map, .nmaps = 1, .version = named},
        out);
}

static _Alignas(16) float data[1024];

static int64_t launched(gnn_plan *plan, int64_t v, int64_t f, const float *x) {
    int64_t value = 0;
    const gnn_tensor y = {.data = &value, .dtype = GNN_I64};
    const gnn_tensor tensor = {
        .data = (void *)(uintptr_t)x, .dtype = GNN_F32, .rank = 2, .shape = {v, f}};
    const gnn_arg args[3] = {[1] = {.tensor = &tensor}, [2] = {.tensor = &y}};
    GOOD(c, gnn_launch(plan, args, 3, NULL, 0, NULL));
    return value;
}

static int64_t ran(gnn_program *p, int64_t entries, int64_t v, int64_t f, const float *x) {
    gnn_plan *plan = NULL;
    GOOD(c, plan_of(p, entries, v, f, NULL, &plan));
    const int64_t value = plan ? launched(plan, v, f, x) : 0;
    gnn_plan_free(plan);
    return value;
}

// ---- What is taken ------------------------------------------------------------------------------
static void by_the_tree(void) {
    gnn_program *p = load(OP(CHOICE(TREE), VERSIONS));
    CHECK(ran(p, 4, 4, 2, data) == 1);        // thin
    CHECK(ran(p, 32, 4, 8, data) == 2);       // wide: it pays for so many classes
    CHECK(ran(p, 32, 2, 8, data) == 3);       // wide: it does not
    CHECK(ran(p, 32, 2, 9, data + 1) == 4);   // wide: misaligned; thin: F is odd
    CHECK(ran(p, 32, 2, 8, data + 1) == 1);   // wide: misaligned; the first of the others
    CHECK(ran(p, 32, 4, 2, data) == 4);       // the default
    CHECK(ran(p, 4, 4, 3, data) == 2);        // thin: F is odd; the first of the others
    gnn_plan *plan = NULL;
    GOOD(c, plan_of(p, 4, 4, 8, "naive", &plan));   // by its name
    CHECK(plan && launched(plan, 4, 8, data) == 4);
    gnn_plan_free(plan);
    gnn_program_free(p);
}

static void by_their_order(void) {
    static const char *const none[] = {OP(CHOICE("-1"), VERSIONS), OP(CHOICE("3"), VERSIONS),
                                       OP(CHOICE("9223372036854775807"), VERSIONS)};
    for (size_t i = 0; i < RT_COUNT(none); i++) {
        gnn_program *p = load(none[i]);
        CHECK(ran(p, 32, 4, 2, data) == 1 && ran(p, 32, 2, 3, data) == 3);
        gnn_program_free(p);
    }
    gnn_program *p = load(OP(
        "", VERSION("one", "", HOLDS("F > 1", "F 1 >"), "a") ", " VERSION("naive", "", "", "d")));
    CHECK(ran(p, 4, 4, 2, data) == 1 && ran(p, 4, 4, 1, data) == 4);
    gnn_program_free(p);
}

static void that_fails(void) {
    gnn_program *p = load(OP(CHOICE("F F 2 - /"), VERSIONS));
    gnn_plan *plan;
    EXPECT(c, plan_of(p, 4, 4, 2, NULL, &plan), TOO_LARGE, "`F F 2 - /`: division by zero");
    GOOD(c, plan_of(p, 4, 4, 2, "thin", &plan));   // who names one is asked for nothing
    gnn_plan_free(plan);
    gnn_program_free(p);
    p = load(OP(CHOICE("F 2 == 1 F F 2 - / ?:"), VERSIONS));   // decided without it
    CHECK(ran(p, 4, 2, 2, data) == 3);
    gnn_program_free(p);
}

// ---- What is malformed --------------------------------------------------------------------------
static void malformed(void) {
    static const struct {
        const char *choice, *of, *error;
    } rows[] = {
        {", \"choice\": 1", "", "manifest: choice[0]: is not an object"},
        {", \"choice\": []", "", "manifest: choice[0]: is not an object"},
        {", \"choice\": {}", "", "manifest: choice[0]: needs a text \"text\""},
        {", \"choice\": {\"text\": \"t\"}", "", "manifest: choice[0]: needs a text \"of\""},
        {", \"choice\": {\"text\": \"t\", \"of\": \"0 1 ?:\"}", "",
         "manifest: choice[0]: \"of\": `?:` lacks operands"},
        {", \"choice\": {\"text\": \"t\", \"of\": \"0 1\"}", "",
         "manifest: choice[0]: \"of\": `1` leaves more than one value"},
        {", \"choice\": {\"text\": \"t\", \"of\": \"0\"}", "",
         "manifest: choice[0]: needs a list \"schedules\" of one at least"},
        {", \"choice\": {\"text\": \"t\", \"of\": \"0\", \"schedules\": []}", "",
         "manifest: choice[0]: needs a list \"schedules\" of one at least"},
        {", \"choice\": {\"text\": \"t\", \"of\": \"0\", \"schedules\": \"a\"}", "",
         "manifest: choice[0]: \"schedules\" must be a list of at most 2048"},
        {", \"choice\": {\"text\": \"t\", \"of\": \"0\", \"schedules\": [\"a\", 1]}", "",
         "manifest: choice[0]: \"schedules\" must be texts"},
        {CHOICE("0"), "", "manifest: versions[0] (naive): needs an integer \"of\" from 0 to 2"},
        {CHOICE("0"), OF("3"),
         "manifest: versions[0] (naive): needs an integer \"of\" from 0 to 2"},
        {CHOICE("0"), OF("-1"),
         "manifest: versions[0] (naive): needs an integer \"of\" from 0 to 2"},
        {CHOICE("0"), OF("\"thin\""),
         "manifest: versions[0] (naive): needs an integer \"of\" from 0 to 2"},
        {"", OF("0"), "manifest: versions[0] (naive): \"of\" is of a choice, and there is none"},
    };
    char text[4096];
    gnn_program *p;
    for (size_t i = 0; i < RT_COUNT(rows); i++) {
        snprintf(text, sizeof text, OP("%s", "{\"name\": \"naive\"%s, \"guards\": [], %s}"),
                 rows[i].choice, rows[i].of, STEPS("d"));
        EXPECT(c, try_load(text, &p), BAD_MANIFEST, rows[i].error);
        CHECK(!p);
    }
}

// ---- Numbers of a plan --------------------------------------------------------------------------
static void evaluated(void) {
    gnn_program *p = load(OP(CHOICE(TREE), VERSIONS));
    gnn_plan *plan = NULL;
    int64_t n = 0;
    GOOD(c, plan_of(p, 32, 4, 8, NULL, &plan));
    GOOD(c, gnn_plan_evaluate(plan, "max(m) F +", &n));
    CHECK(n == 40);
    GOOD(c, gnn_plan_evaluate(plan, TREE, &n));
    CHECK(n == 1);
    GOOD(c, gnn_plan_evaluate(plan, "density(m,m,2)", &n));
    EXPECT(c, gnn_plan_evaluate(plan, "max(m) +", &n), BAD_ARGUMENT,
           "`max(m) +`: `+` lacks operands");
    EXPECT(c, gnn_plan_evaluate(plan, "F 8 - F 8 - /", &n), TOO_LARGE,
           "`F 8 - F 8 - /`: division by zero");
    EXPECT(c, gnn_plan_evaluate(plan, NULL, &n), BAD_ARGUMENT,
           "gnn_plan_evaluate: an argument that it needs is NULL, or none of the program's");
    gnn_plan_free(plan);
    gnn_program_free(p);
}

// ---- What it costs ------------------------------------------------------------------------------
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

// Of four levels that ask for sizes and statistics; by the fastest of many batches.
static void costs(void) {
    enum { BATCHES = 1000, TIMES = 20 };
#define LEVEL "max(m) avg(m) 64 * > std(m) F + 9 < && 1 "
    static const char tree[] = LEVEL LEVEL LEVEL LEVEL "2 ?: ?: ?: ?:";
    gnn_program *p = load(OP(CHOICE(TREE), VERSIONS));
    gnn_plan *plan = NULL;
    GOOD(c, plan_of(p, 32, 4, 8, NULL, &plan));
    rt_heap h = {c, NULL};
    rt_expr e;
    char at[64];
    const rt_scope scope = rt_program_scope(p);
    CHECK(!rt_expr_parse(&h, tree, &scope, &e, at));
    double least = 1e9;
    int64_t n = 0;
    for (int i = 0; i < BATCHES && plan; i++) {
        const double before = now();
        for (int k = 0; k < TIMES; k++) failed |= rt_plan_eval(plan, &e, &n) != GNN_OK;
        const double took = (now() - before) / TIMES;
        if (took < least) least = took;
    }
    printf("a choice of four levels: %.0f ns\n", least);
    CHECK(n == 2);
    CHECK(least < 1000);
    rt_heap_free(&h);
    gnn_plan_free(plan);
    gnn_program_free(p);
}

int main(void) {
    ledger l;
    c = new_context(&l, 1);
    by_the_tree();
    by_their_order();
    that_fails();
    malformed();
    evaluated();
    costs();
    gnn_context_free(c);
    CHECK(!l.live);
    return failed;
}
