// Versions: which ones a plan keeps, what it prepares for them, and which one each launch takes.
#include "Inputs/harness.h"

// y[v] = the number of the version that ran. Each uses a structure and a temp of its own, and notes
// what it got.
#define KERNEL(name)                                                                               \
    "{\"name\": \"" name "\", \"block\": 1, \"params\": [\"ptr\", \"ptr\", \"ptr\", \"i64\"]}"
#define STEPS(kernel, prepared, temp, number)                                                      \
    "\"steps\": [{\"launch\": \"" kernel                                                           \
    "\", \"blocks\": \"1\", \"args\": [{\"data\": \"y\"}, {\"prepared\": \"" prepared "\"}, "      \
    "{\"temp\": \"" temp "\"}, {\"number\": \"" number "\"}]}]"
#define VERSION(name, guards, steps) "{\"name\": \"" name "\", \"guards\": [" guards "], " steps "}"
#define HOLDS(text, expr) "{\"text\": \"" text "\", \"holds\": \"" expr "\"}"
#define OP(versions)                                                                                                                           \
    "{\"gnnc_manifest\": 1, \"name\": \"op\", \"target\": \"host\", \"index_bits\": 32, \"spaces\": ["                                         \
    "{\"name\": \"E\", \"kind\": \"free\"}, {\"name\": \"V\", \"kind\": \"free\"}, {\"name\": \"F\", \"kind\": \"free\"},"                     \
    "{\"name\": \"tiles(m,2)\", \"kind\": \"count\", \"prepared\": 1}],"                                                                       \
    "\"params\": [{\"name\": \"m\", \"role\": \"map\", \"type\": \"index\", \"axes\": [\"E\"], \"into\": \"V\"},"                              \
    "{\"name\": \"x\", \"role\": \"tensor\", \"type\": \"f32\", \"facts\": [\"strided\"], \"axes\": [\"V\", \"F\"]},"                          \
    "{\"name\": \"k\", \"role\": \"scalar\", \"type\": \"i32\"},"                                                                              \
    "{\"name\": \"y\", \"role\": \"result\", \"type\": \"i64\", \"axes\": []}],"                                                               \
    "\"prepared\": [{\"name\": \"degrees(m)\", \"builder\": \"degrees\", \"args\": [\"m\"], \"domain\": \"E\", \"into\": \"V\"},"              \
    "{\"name\": \"tiles(m,2)\", \"builder\": \"tiles\", \"args\": [\"m\"], \"extent\": 2, \"domain\": \"E\", \"into\": \"tiles(m,2)\"},"       \
    "{\"name\": \"order_desc(degrees(m))\", \"builder\": \"order_desc\", \"args\": [\"degrees(m)\"], \"domain\": \"V\", \"into\": \"V\"}],"    \
    "\"temps\": [{\"name\": \"a\", \"type\": \"f32\", \"length\": \"100\"}, {\"name\": \"b\", \"type\": \"f32\", \"length\": \"tiles(m,2)\"}," \
    "{\"name\": \"c\", \"type\": \"f64\", \"length\": \"F 1000 *\"}], \"kernels\": [" KERNEL(                                                  \
        "first") "," KERNEL("second") "," KERNEL("third") "], \"versions\": [" versions "]}"
#define LAST                                                                                       \
    VERSION("naive", "",                                                                           \
            STEPS("third", "order_desc(degrees(m))", "c", "device(cores) tiles(m,2) +"))
#define TILED(guards)                                                                              \
    VERSION("tiled", guards, STEPS("second", "tiles(m,2)", "b", "quantile(m,500) tiles(m,2) *"))
#define WIDE(guards) VERSION("wide", guards, STEPS("first", "degrees(m)", "a", "fill(m,2)"))

static gnn_context *c;
static const int32_t *array;
static int64_t number;

static void note(const uint64_t *a, int64_t version) {
    *(int64_t *)a[0] = version;
    array = (const int32_t *)a[1];
    number = (int64_t)a[3];
    memset((void *)a[2], 1, 8);
}

static void first(const uint64_t *a, uint32_t block, uint32_t blocks) {
    (void)block, (void)blocks, note(a, 1);
}
static void second(const uint64_t *a, uint32_t block, uint32_t blocks) {
    (void)block, (void)blocks, note(a, 2);
}
static void third(const uint64_t *a, uint32_t block, uint32_t blocks) {
    (void)block, (void)blocks, note(a, 3);
}

static gnn_program *load(const char *text) {
    static const gnn_host_kernel kernels[] = {
        {"first", first}, {"second", second}, {"third", third}};
    gnn_program *p = NULL;
    GOOD(c, gnn_program_load(c, text, strlen(text), &(gnn_code){.kernels = kernels, .nkernels = 3},
                             &p));
    return p;
}

static int32_t m[] = {2, 0, 2, 2, 0};
static gnn_status plan_of(gnn_program *p, int64_t f, const char *version, gnn_plan **out) {
    const gnn_named_map map = {"m", {.index = m, .width = 32, .domain = 5, .codomain = 4}};
    return gnn_plan_new(p,
                        &(gnn_plan_options){.sizes = &(gnn_size){"F", f},
                                            .nsizes = 1,
                                            .maps = &map,
                                            .nmaps = 1,
                                            .version = version},
                        out);
}

// Which version ran: 1, 2, 3; 0: refused.
static int64_t ran(gnn_plan *plan, const gnn_tensor *x, const char *name) {
    _Alignas(256) static char workspace[1 << 16];
    int64_t value = 0;
    const gnn_tensor y = {.data = &value, .dtype = GNN_I64};
    const gnn_arg args[4] = {[1] = {.tensor = x}, [3] = {.tensor = &y}};
    const char *told = NULL;
    size_t bytes = 0;
    GOOD(c, gnn_plan_version(plan, args, 4, &told));
    CHECK(told && !strcmp(told, name));
    GOOD(c, gnn_plan_workspace_for(plan, args, 4, &bytes));
    CHECK(bytes && bytes <= gnn_plan_workspace(plan));
    GOOD(c, gnn_launch(plan, args, 4, workspace, bytes, NULL));
    return value;
}

static gnn_tensor tensor(float *data, int64_t f, int64_t row, int64_t column) {
    return (gnn_tensor){.data = data,
                        .dtype = GNN_F32,
                        .rank = 2,
                        .has_strides = true,
                        .shape = {4, f},
                        .strides = {row, column}};
}

static void at_the_plan(void) {
    gnn_program *p = load(OP(WIDE(HOLDS("F % 4 == 0", "F 4 % 0 ==")) "," TILED(
        HOLDS("max(m) > 1", "max(m) F > device(cores) 1 >= &&")) "," LAST));
    static float data[64];
    gnn_plan *plan = NULL;
    int64_t n;
    CHECK(gnn_program_versions(p) == 3 && !strcmp(gnn_program_version(p, 1), "tiled") &&
          !gnn_program_version(p, 3));
    GOOD(c, plan_of(p, 8, NULL, &plan));   // wide alone is kept
    gnn_tensor x = tensor(data, 8, 8, 1);
    CHECK(gnn_plan_workspace(plan) == 512 && gnn_plan_prepared_bytes(plan) == 16);
    CHECK(ran(plan, &x, "wide") == 1 && array[0] == 2 && array[1] == 0 && array[2] == 3 &&
          array[3] == 0);
    CHECK(number == 833);   // 5 entries in 6 rows of 3 tiles
    EXPECT(c, gnn_plan_size(plan, "tiles(m,2)", &n), BAD_ARGUMENT,
           "tiles(m,2): nothing this plan launches counts it");
    gnn_plan_free(plan);
    GOOD(c, plan_of(p, 2, NULL, &plan));
    x = tensor(data, 2, 2, 1);
    CHECK(gnn_plan_workspace(plan) == 256 && gnn_plan_prepared_bytes(plan) == 16);
    CHECK(ran(plan, &x, "tiled") == 2 && array[0] == 0 && array[1] == 2 && array[2] == 4 &&
          array[3] == 5 && number == 0);
    GOOD(c, gnn_plan_size(plan, "tiles(m,2)", &n));
    CHECK(n == 3);
    gnn_plan_free(plan);
    GOOD(c, plan_of(p, 3, NULL, &plan));
    x = tensor(data, 3, 3, 1);
    CHECK(ran(plan, &x, "naive") == 3 && array[0] == 2 && array[1] == 0 && array[2] == 1 &&
          array[3] == 3 && number == 5);
    CHECK(gnn_plan_workspace(plan) == (3 * 8000 + 255) / 256 * 256);
    gnn_plan_free(plan);
    EXPECT(c, plan_of(p, 6, "wide", &plan), NO_VERSION,
           "version wide: `F % 4 == 0` does not hold: F = 6");
    EXPECT(c, plan_of(p, 3, "tiled", &plan), NO_VERSION,
           "version tiled: `max(m) > 1` does not hold: max(m) = 3, F = 3, device(cores) = 2");
    EXPECT(c, plan_of(p, 8, "none", &plan), BAD_ARGUMENT, "op has no version `none`");
    GOOD(c, plan_of(p, 8, "naive", &plan));
    x = tensor(data, 8, 8, 1);
    CHECK(ran(plan, &x, "naive") == 3);
    gnn_plan_free(plan);
    gnn_program_free(p);
}

#define ARRAYS                                                                                     \
    "{\"aligned\": \"x\", \"bytes\": 16}, {\"stride\": \"x\", \"axis\": 0, \"multiple\": 4}, "     \
    "{\"pitch\": \"x\", \"axis\": 1, \"elements\": 1}, {\"aligned\": \"m\", \"bytes\": 4}"

static void at_the_launch(void) {
    gnn_program *p = load(OP(WIDE(ARRAYS) "," TILED("{\"reach\": \"x\", \"below\": 20}") "," LAST));
    _Alignas(16) static float data[4096];
    gnn_plan *plan = NULL;
    GOOD(c, plan_of(p, 2, NULL, &plan));   // all three are kept
    CHECK(gnn_plan_workspace(plan) == 16128 && gnn_plan_prepared_bytes(plan) == 48);
    gnn_tensor x = tensor(data, 2, 4, 1);
    CHECK(ran(plan, &x, "wide") == 1);
    x = tensor(data, 2, 400, 1);
    CHECK(ran(plan, &x, "wide") == 1);
    x = tensor(data + 1, 2, 4, 1);   // misaligned; reaches 3 * 4 + 1
    CHECK(ran(plan, &x, "tiled") == 2);
    x = tensor(data, 2, 6, 1);   // reaches 19
    CHECK(ran(plan, &x, "tiled") == 2);
    x = tensor(data, 2, 4, 8);   // not of unit stride; reaches 20
    CHECK(ran(plan, &x, "naive") == 3);
    x = tensor(data, 2, 7, 1);
    CHECK(ran(plan, &x, "naive") == 3);
    // packed: rows of 2
    x = (gnn_tensor){.data = data, .dtype = GNN_F32, .rank = 2, .shape = {4, 2}};
    CHECK(ran(plan, &x, "tiled") == 2);
    gnn_plan_free(plan);
    GOOD(c, plan_of(p, 0, NULL, &plan));
    CHECK(gnn_plan_workspace(plan) == 512);   // of the version that needs most
    gnn_plan_free(plan);
    GOOD(c, plan_of(p, 1, NULL, &plan));   // no step along an axis of one element
    x = tensor(data, 1, 4, 3);
    CHECK(ran(plan, &x, "wide") == 1);
    gnn_plan_free(plan);
    gnn_program_free(p);
}

// ---- What no launch takes -----------------------------------------------------------------------
#define ALIGNED(bytes) "{\"aligned\": \"x\", \"bytes\": " bytes "}"
#define STRIDE(axis, n) "{\"stride\": \"x\", \"axis\": " axis ", \"multiple\": " n "}"
#define REACH(n) "{\"reach\": \"x\", \"below\": " n "}"
#define FAILS HOLDS("fails", "1 F F - /")

// Behind wide: whether tiled, whose condition fails the plan, is asked for it.
static void covered(const char *text, bool is) {
    gnn_program *p = load(text);
    gnn_plan *plan = NULL;
    if (!is) EXPECT(c, plan_of(p, 2, NULL, &plan), TOO_LARGE, "`1 F F - /`: division by zero");
    else GOOD(c, plan_of(p, 2, NULL, &plan));
    // of wide and naive: 4 degrees, 4 of the order and what it is of
    if (is) CHECK(plan && gnn_plan_prepared_bytes(plan) == 32 && gnn_plan_workspace(plan) == 16128);
    gnn_plan_free(plan);
    gnn_program_free(p);
}

static void never_taken(void) {
    covered(OP(WIDE(ALIGNED("16")) "," TILED(ALIGNED("16") "," FAILS) "," LAST), true);
    covered(OP(WIDE(ALIGNED("16")) "," TILED(REACH("9") "," ALIGNED("32") "," FAILS) "," LAST),
            true);
    covered(OP(WIDE(ALIGNED("16")) "," TILED(ALIGNED("8") "," FAILS) "," LAST), false);
    covered(OP(WIDE(ALIGNED("16") "," REACH("9")) "," TILED(ALIGNED("16") "," FAILS) "," LAST),
            false);
    covered(OP(WIDE(REACH("9")) "," TILED(REACH("8") "," FAILS) "," LAST), true);
    covered(OP(WIDE(REACH("9")) "," TILED(REACH("10") "," FAILS) "," LAST), false);
    covered(OP(WIDE(STRIDE("0", "4")) "," TILED(STRIDE("0", "8") "," FAILS) "," LAST), true);
    covered(OP(WIDE(STRIDE("0", "4")) "," TILED(STRIDE("0", "6") "," FAILS) "," LAST), false);
    covered(OP(WIDE(STRIDE("0", "4")) "," TILED(STRIDE("1", "4") "," FAILS) "," LAST), false);
    covered(OP(WIDE(HOLDS("F > 2", "F 2 >")) "," TILED(FAILS) "," LAST), false);
}

// ---- Workspace: of the version taken, not of the one that needs most ----------------------------
_Alignas(256) static char memory[1 << 15];
static int64_t stored;

static gnn_status launch(gnn_plan *plan, const gnn_tensor *x, void *workspace, size_t bytes) {
    const gnn_tensor y = {.data = &stored, .dtype = GNN_I64};
    const gnn_arg args[4] = {[1] = {.tensor = x}, [3] = {.tensor = &y}};
    stored = 0;
    return gnn_launch(plan, args, 4, workspace, bytes, NULL);
}

static size_t needed(gnn_plan *plan, const gnn_tensor *x) {
    const gnn_tensor y = {.data = &stored, .dtype = GNN_I64};
    const gnn_arg args[4] = {[1] = {.tensor = x}, [3] = {.tensor = &y}};
    size_t bytes = 1;
    GOOD(c, gnn_plan_workspace_for(plan, args, 4, &bytes));
    return bytes;
}

static void sizes_refused(gnn_plan *plan, const gnn_tensor *x, const gnn_tensor *misaligned) {
    CHECK(gnn_plan_workspace(plan) == 16128 && needed(plan, x) == 512 &&
          needed(plan, misaligned) == 16128);
    EXPECT(c, launch(plan, x, memory, 511), BAD_WORKSPACE,
           "the workspace has 511 bytes; version wide of op needs 512");
    EXPECT(c, launch(plan, x, NULL, 512), BAD_WORKSPACE,
           "the workspace has 0 bytes; version wide of op needs 512");
    EXPECT(c, launch(plan, x, memory + 128, 512), BAD_WORKSPACE,
           "the workspace is not aligned to 256 bytes");
    GOOD(c, launch(plan, x, memory, 512));
    CHECK(stored == 1);
    EXPECT(c, launch(plan, misaligned, memory, 512), BAD_WORKSPACE,
           "the workspace has 512 bytes; version naive of op needs 16128");
    CHECK(stored == 0);
    GOOD(c, launch(plan, misaligned, memory, 16128));
    CHECK(stored == 3);
}

// What lies behind the bytes that the version uses is the caller's.
static void behind(gnn_plan *plan) {
    gnn_tensor x = tensor((float *)(void *)(memory + 512 - 16), 2, 4, 1);
    EXPECT(c, launch(plan, &x, memory, sizeof memory), OVERLAP, "x lies in the workspace");
    x = tensor((float *)(void *)(memory + 512), 2, 4, 1);
    GOOD(c, launch(plan, &x, memory, sizeof memory));
    CHECK(stored == 1);
    x = tensor((float *)(void *)(memory + 512 + 4), 2, 4, 1);   // naive uses more
    EXPECT(c, launch(plan, &x, memory, sizeof memory), OVERLAP, "x lies in the workspace");
    x = tensor((float *)(void *)(memory + 16128 + 4), 2, 4, 1);
    GOOD(c, launch(plan, &x, memory, sizeof memory));
    CHECK(stored == 3);
}

static void questions_refused(gnn_plan *plan, const gnn_tensor *x) {
    const gnn_tensor y = {.data = &stored, .dtype = GNN_I64};
    gnn_arg args[4] = {[1] = {.tensor = x}, [3] = {.tensor = &y}};
    size_t bytes = 1;
    CHECK(gnn_plan_workspace_for(NULL, args, 4, &bytes) == GNN_BAD_ARGUMENT);
    CHECK(gnn_plan_workspace_for(plan, args, 4, NULL) == GNN_BAD_ARGUMENT);
    EXPECT(c, gnn_plan_workspace_for(plan, args, 3, &bytes), BAD_ARGUMENT,
           "3 arguments for the 4 parameters of op");
    args[1].tensor = NULL;
    bytes = 1;
    EXPECT(c, gnn_plan_workspace_for(plan, args, 4, &bytes), MISSING, "x is not given");
    CHECK(!bytes);
}

#define BARE(guards)                                                                               \
    VERSION(                                                                                       \
        "bare", guards,                                                                            \
        "\"steps\": [{\"launch\": \"second\", \"blocks\": \"1\", \"args\": [{\"data\": \"y\"},"    \
        "{\"prepared\": \"degrees(m)\"}, {\"data\": \"x\"}, {\"number\": \"0\"}]}]")

// Others of the plan use some.
static void none_used(void) {
    gnn_program *p = load(OP(BARE(ARRAYS) "," LAST));
    _Alignas(16) static float data[64];
    gnn_plan *plan = NULL;
    const gnn_tensor x = tensor(data, 2, 4, 1);
    GOOD(c, plan_of(p, 2, NULL, &plan));
    CHECK(gnn_plan_workspace(plan) == 16128 && needed(plan, &x) == 0);
    GOOD(c, launch(plan, &x, NULL, 0));
    GOOD(c, launch(plan, &x, memory + 1, 1));
    CHECK(stored == 2);
    gnn_plan_free(plan);
    gnn_program_free(p);
}

static void workspaces(void) {
    gnn_program *p = load(OP(WIDE(ARRAYS) "," LAST));
    _Alignas(16) static float data[64];
    const gnn_tensor x = tensor(data, 2, 4, 1), misaligned = tensor(data + 1, 2, 4, 1);
    gnn_plan *plan = NULL;
    GOOD(c, plan_of(p, 2, NULL, &plan));
    sizes_refused(plan, &x, &misaligned);
    behind(plan);
    questions_refused(plan, &x);
    plan->flags = GNN_TRUSTED;   // checks no arguments, but the room they need
    sizes_refused(plan, &x, &misaligned);
    gnn_plan_free(plan);
    GOOD(c, plan_of(p, 2, "naive", &plan));
    CHECK(needed(plan, &x) == 16128);
    gnn_plan_free(plan);
    gnn_program_free(p);
    none_used();
}

static void refused(const char *guard, const gnn_tensor *x, const char *error, int line) {
    char text[4096];
    snprintf(text, sizeof text,
             OP("{\"name\": \"wide\", \"guards\": [%s], " STEPS("first", "degrees(m)", "a",
                                                                "0") "}," LAST),
             guard);
    gnn_program *p = load(text);
    gnn_plan *plan = NULL;
    int64_t y;
    const gnn_tensor ty = {.data = &y, .dtype = GNN_I64};
    const gnn_arg args[4] = {[1] = {.tensor = x}, [3] = {.tensor = &ty}};
    _Alignas(256) char workspace[512];
    const char *name = "";
    GOOD(c, plan_of(p, 2, "wide", &plan));
    expect_error(c, gnn_launch(plan, args, 4, workspace, 512, NULL), GNN_NO_VERSION, error, line);
    expect_error(c, gnn_plan_version(plan, args, 4, &name), GNN_NO_VERSION, error, line);
    CHECK(!name);
    gnn_plan_free(plan);
    gnn_program_free(p);
}

// A program of one version: a plan takes it or is refused, whether it pays or not.
static void the_only_one(void) {
    static const char text[] = OP(WIDE(HOLDS("F % 4 == 0", "F 4 % 0 ==")));
    gnn_program *p = load(text);
    gnn_plan *plan = NULL;
    static float data[64];
    const gnn_tensor x = tensor(data, 8, 8, 1);
    GOOD(c, plan_of(p, 8, NULL, &plan));
    CHECK(ran(plan, &x, "wide") == 1);
    gnn_plan_free(plan);
    EXPECT(c, plan_of(p, 6, NULL, &plan), NO_VERSION,
           "version wide: `F % 4 == 0` does not hold: F = 6");
    gnn_program_free(p);
}

static void one_alone(void) {
    _Alignas(16) static float data[64];
    const gnn_tensor x = tensor(data + 1, 2, 3, 2);
    refused("{\"aligned\": \"x\", \"bytes\": 16}", &x, "version wide: x is not aligned to 16 bytes",
            __LINE__);
    refused("{\"stride\": \"x\", \"axis\": 0, \"multiple\": 2}", &x,
            "version wide: the stride of axis 0 of x is no multiple of 2", __LINE__);
    refused("{\"pitch\": \"x\", \"axis\": 1, \"elements\": 1}", &x,
            "version wide: the stride of axis 1 of x is not 1", __LINE__);
    refused("{\"pitch\": \"x\", \"axis\": 0, \"elements\": 4}", &x,
            "version wide: the stride of axis 0 of x is not 4", __LINE__);
    refused("{\"reach\": \"x\", \"below\": 11}", &x,
            "version wide: an element of x lies 11 or more from its first", __LINE__);
}

// Guards that cannot be decided are errors, as preconditions are; those of versions after the one
// taken are not looked at.
static void undecided(void) {
    gnn_program *p = load(OP(WIDE(HOLDS("a", "1 F /")) "," LAST));
    gnn_plan *plan = NULL;
    EXPECT(c, plan_of(p, 0, NULL, &plan), TOO_LARGE, "`1 F /`: division by zero");
    gnn_program_free(p);
    p = load(OP(WIDE(HOLDS("a", "F 0 ==")) "," TILED(HOLDS("b", "1 F /")) "," LAST));
    GOOD(c, plan_of(p, 0, NULL, &plan));
    gnn_plan_free(plan);
    gnn_program_free(p);
}

// An array of a map is where the plan put it: its guards are decided there.
static void of_maps(void) {
    gnn_program *p = load(OP(WIDE(
        "{\"reach\": \"m\", \"below\": 5}, {\"pitch\": \"m\", \"axis\": 0, \"elements\": 1}") "," LAST));
    gnn_plan *plan = NULL;
    GOOD(c, plan_of(p, 1, NULL, &plan));
    CHECK(plan->nready == 1 && !plan->ready[0].guarded &&
          !strcmp(plan->ready[0].version->name, "wide"));
    gnn_plan_free(plan);
    gnn_program_free(p);
    p = load(OP(WIDE("{\"reach\": \"m\", \"below\": 4}") "," LAST));
    GOOD(c, plan_of(p, 1, NULL, &plan));
    CHECK(plan->nready == 1 && !strcmp(plan->ready[0].version->name, "naive"));
    gnn_plan_free(plan);
    gnn_program_free(p);
}

// Tiles of one map by two extents are not the same to a cache.
static void shared(void) {
    static char other[] = OP(TILED("{\"reach\": \"x\", \"below\": 20}") "," LAST);
    gnn_program *p = load(other);
    *(strstr(other, "\"extent\": 2") + 10) = '1';
    gnn_program *q = load(other);
    gnn_cache *k = NULL;
    gnn_plan *plans[2] = {0};
    const gnn_named_map map = {"m", {.index = m, .width = 32, .domain = 5, .codomain = 4}};
    GOOD(c, gnn_cache_new(c, &k));
    for (int i = 0; i < 2; i++) {
        int64_t n = 0;
        const gnn_plan_options o = {
            .sizes = &(gnn_size){"F", 1}, .nsizes = 1, .maps = &map, .nmaps = 1, .cache = k};
        GOOD(c, gnn_plan_new(i ? q : p, &o, &plans[i]));
        GOOD(c, gnn_plan_size(plans[i], "tiles(m,2)", &n));
        CHECK(n == (i ? 5 : 3));
    }
    CHECK(plans[0]->prepared[0] == plans[1]->prepared[0] &&
          plans[0]->prepared[1] != plans[1]->prepared[1]);
    gnn_plan_free(plans[0]);
    gnn_plan_free(plans[1]);
    gnn_cache_free(k);
    gnn_program_free(p);
    gnn_program_free(q);
}

int main(void) {
    ledger l;
    c = new_context(&l, 2);
    at_the_plan();
    at_the_launch();
    never_taken();
    workspaces();
    the_only_one();
    one_alone();
    undecided();
    of_maps();
    shared();
    end_context(c, &l);
    return failed;
}
