// What is done with maps that lie on a GPU, played by the simulator, against the host's: builders,
// numbers, checks, plans.
#include "Inputs/fake_cuda.h"
#include "Inputs/gpu_cases.h"
#include "Inputs/play_cuda.h"

#include <unistd.h>

static gnn_context *begin(ledger *l, uint64_t seed) {
    gnn_context *c = NULL;
    fake_forget();
    play_begin(seed);
    *l = (ledger){.fail_at = -1};
    gnn_context_new(&(gnn_context_options){.device = GNN_GPU(0),
                                           .allocator = {ledger_alloc, ledger_release, l}},
                    &c);
    GOOD(c, gnn_context_status(c));
    GOOD(c, rt_gpu_memory_keep(c, 0));
    return c;
}

static void end(gnn_context *c, ledger *l) {
    end_context(c, l);
    CHECK(play_end() == 0);
    CHECK(fake_live() == 0);
}

static void builders(int64_t n, int64_t into, int64_t extent) {
    enum { LARGE = 1000 };   // one width of each
    for (uint32_t k = 0; k < RT_COUNT(shapes); k++)
        for (int wide = 0; wide < 2; wide++) {
            if (n + into > LARGE && (uint32_t)wide != k % 2) continue;
            ledger l;
            gnn_context *c = begin(&l, (uint64_t)n + k);
            compare_all(c, &shapes[k], n, into, wide, extent);
            if (k == 0) compare_symmetry(c, n, into, wide);
            end(c, &l);
        }
}

// ---- Plans --------------------------------------------------------------------------------------
// One program on maps of the host, and on the same maps on the device: the same structures, or the
// same refusal.
#define PLAN(target, bits, facts_m, facts_k, holds)                                                                                                                                                                                                                                     \
    "{\"gnnc_manifest\": 1, \"name\": \"op\", \"target\": \"" target "\", \"index_bits\": " bits                                                                                                                                                                                        \
    ",\n"                                                                                                                                                                                                                                                                               \
    "\"spaces\": [{\"name\": \"E\", \"kind\": \"free\"}, {\"name\": \"V\", \"kind\": \"free\"}, {\"name\": \"R\", \"kind\": \"free\"},\n"                                                                                                                                               \
    " {\"name\": \"C\", \"kind\": \"count\", \"prepared\": 4}, {\"name\": \"T\", \"kind\": \"count\", \"prepared\": 5}],\n"                                                                                                                                                             \
    "\"params\": [{\"name\": \"m\", \"role\": \"map\", \"type\": \"index\", \"facts\": [" facts_m                                                                                                                                                                                       \
    "], \"axes\": [\"E\"], \"into\": \"V\"},\n"                                                                                                                                                                                                                                         \
    " {\"name\": \"k\", \"role\": \"map\", \"type\": \"index\", \"facts\": [" facts_k                                                                                                                                                                                                   \
    "], \"axes\": [\"E\"], \"into\": \"R\"},\n"                                                                                                                                                                                                                                         \
    " {\"name\": \"p\", \"role\": \"map\", \"type\": \"index\", \"facts\": [\"prefix\"], \"axes\": [\"R\"], \"into\": \"V\"}],\n"                                                                                                                                                       \
    "\"requires\": [{\"text\": \"ask\", \"holds\": \"" holds "\"}],\n"                                                                                                                                                                                                                  \
    "\"prepared\": [{\"name\": \"offsets(m)\", \"builder\": \"offsets\", \"args\": [\"m\"], \"domain\": \"E\", \"into\": \"V\"},\n"                                                                                                                                                     \
    " {\"name\": \"order(k)\", \"builder\": \"order\", \"args\": [\"k\"], \"domain\": \"E\", \"into\": \"R\"},\n"                                                                                                                                                                       \
    " {\"name\": \"d\", \"builder\": \"degrees\", \"args\": [\"m\"], \"domain\": \"E\", \"into\": \"V\"},\n"                                                                                                                                                                            \
    " {\"name\": \"order_desc(d)\", \"builder\": \"order_desc\", \"args\": [\"d\"], \"domain\": \"V\", \"into\": \"V\"},\n"                                                                                                                                                             \
    " {\"name\": \"c\", \"builder\": \"classes\", \"args\": [\"m\", \"k\"], \"domain\": \"E\", \"into\": \"C\"},\n"                                                                                                                                                                     \
    " {\"name\": \"tiles(c)\", \"builder\": \"tiles\", \"extent\": 2, \"args\": [\"c\"], \"domain\": \"E\", \"into\": \"T\"},\n"                                                                                                                                                        \
    " {\"name\": \"begins\", \"builder\": \"tile_begins\", \"extent\": 2, \"args\": [\"m\"], \"domain\": \"E\", \"into\": \"V\"},\n"                                                                                                                                                    \
    " {\"name\": \"values\", \"builder\": \"tile_values\", \"extent\": 2, \"args\": [\"m\"], \"domain\": \"E\", \"into\": \"V\"},\n"                                                                                                                                                    \
    " {\"name\": \"kp\", \"builder\": \"compose\", \"args\": [\"k\", \"p\"], \"domain\": \"E\", \"into\": \"V\"},\n"                                                                                                                                                                    \
    " {\"name\": \"slots\", \"builder\": \"window_slots\", \"extent\": 2, \"args\": [\"m\", \"k\"], \"domain\": \"E\", \"into\": \"V\"},\n"                                                                                                                                             \
    " {\"name\": \"w0\", \"builder\": \"window_begins\", \"extent\": 2, \"args\": [\"m\", \"slots\"], \"domain\": \"E\", \"into\": \"V\"},\n"                                                                                                                                           \
    " {\"name\": \"w1\", \"builder\": \"window_columns\", \"args\": [\"k\", \"slots\"], \"domain\": \"E\", \"into\": \"R\"},\n"                                                                                                                                                         \
    " {\"name\": \"w2\", \"builder\": \"window_entries\", \"extent\": 2, \"args\": [\"m\", \"slots\"], \"domain\": \"E\", \"into\": \"V\"},\n"                                                                                                                                          \
    " {\"name\": \"w3\", \"builder\": \"window_masks\", \"extent\": 2, \"args\": [\"m\", \"slots\"], \"domain\": \"E\", \"into\": \"V\"},\n"                                                                                                                                            \
    " {\"name\": \"places\", \"builder\": \"window_places\", \"extent\": 2, \"args\": [\"m\", \"k\"], \"domain\": \"E\", \"into\": \"V\"},\n"                                                                                                                                           \
    " {\"name\": \"mp\", \"builder\": \"compose\", \"args\": [\"m\", \"places\"], \"domain\": \"E\", \"into\": \"V\"},\n"                                                                                                                                                               \
    " {\"name\": \"starts\", \"builder\": \"window_starts\", \"extent\": 2, \"args\": [\"places\"], \"domain\": \"V\", \"into\": \"V\"},\n"                                                                                                                                             \
    " {\"name\": \"far\", \"builder\": \"window_slots\", \"extent\": 2, \"args\": [\"mp\", \"k\"], \"domain\": \"E\", \"into\": \"V\"},\n"                                                                                                                                              \
    " {\"name\": \"w4\", \"builder\": \"window_begins\", \"extent\": 2, \"args\": [\"mp\", \"far\"], \"domain\": \"E\", \"into\": \"V\"},\n"                                                                                                                                            \
    " {\"name\": \"least\", \"builder\": \"degrees_from\", \"extent\": 2, \"args\": [\"m\"], \"domain\": \"E\", \"into\": \"V\"},\n"                                                                                                                                                    \
    " {\"name\": \"most\", \"builder\": \"degrees_from\", \"extent\": 4294967296, \"args\": [\"m\"], \"domain\": \"E\", \"into\": \"V\"},\n"                                                                                                                                            \
    " {\"name\": \"firsts\", \"builder\": \"row_begins\", \"args\": [\"m\", \"order_desc(d)\"], \"domain\": \"E\", \"into\": \"V\"},\n"                                                                                                                                                 \
    " {\"name\": \"lasts\", \"builder\": \"row_ends\", \"args\": [\"m\", \"order_desc(d)\"], \"domain\": \"E\", \"into\": \"V\"}],\n"                                                                                                                                                   \
    "\"kernels\": [{\"name\": \"use\", \"block\": 32, \"params\": [\"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\", \"ptr\"]}],\n" \
    "\"versions\": [{\"name\": \"naive\", \"steps\": [{\"launch\": \"use\", \"blocks\": \"1\", \"args\": [{\"prepared\": \"offsets(m)\"},\n"                                                                                                                                            \
    " {\"prepared\": \"order(k)\"}, {\"prepared\": \"d\"}, {\"prepared\": \"order_desc(d)\"}, {\"prepared\": \"tiles(c)\"},\n"                                                                                                                                                          \
    " {\"prepared\": \"begins\"}, {\"prepared\": \"values\"}, {\"prepared\": \"kp\"}, {\"prepared\": \"w0\"}, {\"prepared\": \"w1\"}, {\"prepared\": \"w2\"}, {\"prepared\": \"w3\"}, {\"prepared\": \"least\"}, {\"prepared\": \"most\"},\n"                                           \
    " {\"prepared\": \"starts\"}, {\"prepared\": \"w4\"}, {\"prepared\": \"c\"}, {\"prepared\": \"slots\"}, {\"prepared\": \"places\"},\n"                                                                                                                                              \
    " {\"prepared\": \"mp\"}, {\"prepared\": \"far\"}, {\"prepared\": \"firsts\"}, {\"prepared\": \"lasts\"}]}]}]}"

typedef struct {   // a manifest for each side
    const char *host, *device;
} manifests;
#define PROGRAM(bits, facts_m, facts_k, holds)                                                     \
    ((manifests){PLAN("host", bits, facts_m, facts_k, holds),                                      \
                 PLAN("sm_90", bits, facts_m, facts_k, holds)})

enum { V = 6, R = 4 };

static void use_host(const uint64_t *args, uint32_t block, uint32_t blocks) {
    (void)args, (void)block, (void)blocks;
}
static void use_device(void **params, unsigned grid, unsigned block, unsigned shared) {
    (void)params, (void)grid, (void)block, (void)shared;
}

static gnn_status load(gnn_context *c, const manifests *text, gnn_program **p) {
    const gnn_host_kernel kernel = {"use", use_host};
    const char *of = rt_on_cuda(c) ? text->device : text->host;
    return gnn_program_load(
        c, of, strlen(of),
        &(gnn_code){.image = "fake", .size = 5, .kernels = &kernel, .nkernels = 1}, p);
}

static gnn_status plan_on(gnn_program *p, const gnn_map *m, const gnn_map *k, uint32_t flags,
                          gnn_cache *cache, gnn_plan **plan) {
    const gnn_named_map maps[] = {{"m", *m}, {"k", *k}};
    const gnn_size sizes[] = {{"V", V}, {"R", R}};
    return gnn_plan_new(
        p,
        &(gnn_plan_options){
            .maps = maps, .nmaps = 2, .sizes = sizes, .nsizes = 2, .flags = flags, .cache = cache},
        plan);
}

static const void *move_array(gnn_context *c, const void *array, size_t bytes) {
    void *there = NULL;
    if (!array || gnn_alloc(c, bytes, &there)) return NULL;
    GOOD(c, gnn_copy_in(c, there, array, bytes, NULL));
    return there;
}

static gnn_map move_map(gnn_context *c, const gnn_map *m, int64_t codomain) {
    gnn_map there = *m;
    const size_t bytes = m->width / 8;
    there.index = move_array(c, m->index, (size_t)m->domain * bytes);
    there.offsets = move_array(c, m->offsets, ((size_t)codomain + 1) * bytes);
    there.on_device = true;
    return there;
}

static void free_map(gnn_context *c, const gnn_map *m) {
    gnn_free(c, (void *)(uintptr_t)m->index);
    gnn_free(c, (void *)(uintptr_t)m->offsets);
}

// The degrees, of which those below `least` are as much, or as the largest of them.
static void raised(const gnn_plan *p, const char *name, int64_t least) {
    const rt_ints *d = NULL, *r = NULL;
    int64_t most = 0;
    for (uint32_t i = 0; i < p->p->nprepared; i++) {
        if (!strcmp(p->p->prepared[i].name, "d")) d = &p->prepared[i]->host;
        if (!strcmp(p->p->prepared[i].name, name)) r = &p->prepared[i]->host;
    }
    for (int64_t i = 0; i < d->count; i++)
        if (rt_get(d, i) > most) most = rt_get(d, i);
    if (least > most) least = most;
    CHECK(r->count == d->count);
    for (int64_t i = 0; i < d->count; i++)
        CHECK(rt_get(r, i) == (rt_get(d, i) < least ? least : rt_get(d, i)));
}

static void same_structures(const gnn_plan *device, const gnn_plan *host) {
    raised(host, "least", 2);
    raised(host, "most", 4294967296);
    for (uint32_t i = 0; i < device->p->nprepared; i++) {
        const rt_structure *d = device->prepared[i], *h = host->prepared[i];
        const rt_ints there = {(void *)(uintptr_t)d->device, d->host.count, d->host.wide};
        CHECK((!d->host.data || !device->given[0].domain) && d->codomain == h->codomain);
        doing = device->p->prepared[i].name;
        rt_ints copy = h->host;
        copy.data = rt_alloc(device->c, array_bytes(&copy));
        memcpy(copy.data, h->host.data, array_bytes(&copy));
        same(device->c, "plan", &there, &copy);
    }
}

// wanted: the refusal, "" for none.
static void both(const manifests *text, const gnn_map *m, const gnn_map *k, uint32_t flags,
                 const char *wanted) {
    ledger lh, ld;
    gnn_context *h = new_context(&lh, 1), *d = begin(&ld, 1);
    gnn_program *ph = NULL, *pd = NULL;
    gnn_plan *on_host = NULL, *on_device = NULL;
    fake_register("use", use_device, 23, 0);
    GOOD(h, load(h, text, &ph));
    GOOD(d, load(d, text, &pd));
    const gnn_map md = move_map(d, m, V), kd = move_map(d, k, R);
    gnn_status a = plan_on(ph, m, k, flags, NULL, &on_host),
               b = plan_on(pd, &md, &kd, flags, NULL, &on_device);
    if (a != b || strcmp(gnn_context_error(h), wanted) || strcmp(gnn_context_error(d), wanted)) {
        failed = 1;
        printf("wanted: %s\n  host: %s\ndevice: %s\n", wanted, gnn_context_error(h),
               gnn_context_error(d));
    }
    if (!a && !b) same_structures(on_device, on_host);
    gnn_plan_free(on_host);
    gnn_plan_free(on_device);
    gnn_program_free(ph);
    gnn_program_free(pd);
    free_map(d, &md);
    free_map(d, &kd);
    end_context(h, &lh);
    end(d, &ld);
}

#define M32(...)                                                                                   \
    ((gnn_map){.index = (int32_t[]){__VA_ARGS__},                                                  \
               .width = 32,                                                                        \
               .codomain = -1,                                                                     \
               .domain = sizeof((int32_t[]){__VA_ARGS__}) / 4})
#define M64(...)                                                                                   \
    ((gnn_map){.index = (int64_t[]){__VA_ARGS__},                                                  \
               .width = 64,                                                                        \
               .codomain = -1,                                                                     \
               .domain = sizeof((int64_t[]){__VA_ARGS__}) / 8})
#define O64(n, ...)                                                                                \
    ((gnn_map){.offsets = (int64_t[]){__VA_ARGS__}, .width = 64, .codomain = -1, .domain = n})
#define O32(n, ...)                                                                                \
    ((gnn_map){.offsets = (int32_t[]){__VA_ARGS__}, .width = 32, .codomain = -1, .domain = n})
#define TRY(bits, facts_m, facts_k, holds, m, k, flags, wanted)                                    \
    do {                                                                                           \
        const manifests text = PROGRAM(bits, facts_m, facts_k, holds);                             \
        const gnn_map one = m, other = k;                                                          \
        both(&text, &one, &other, (flags), (wanted));                                              \
    } while (0)

static void whole_plans(void) {
    const gnn_map empty = {.width = 32, .codomain = -1};
    TRY("32", "\"partial\"", "", "1", M32(5, -1, 0, 5, 5), M32(3, 0, 0, 1, 2), 0, "");
    TRY("64", "\"partial\"", "", "1", M64(5, -1, 0, 5, 5), M64(3, 0, 0, 1, 2), 0, "");
    TRY("32", "\"partial\"", "", "1", M64(5, -1, 0, 5, 5), M32(3, 0, 0, 1, 2), 0, "");   // narrowed
    TRY("64", "\"partial\"", "", "1", M32(5, -1, 0, 5, 5), M64(3, 0, 0, 1, 2), 0, "");   // widened
    TRY("32", "", "", "1", M64(5, 1, 0, 5, 5), M32(3, 0, 0, 1, 2), GNN_TRUSTED, "");
    TRY("32", "", "", "1", M32(5, 1, 0, 5, 5), M32(3, 0, 0, 1, 2), GNN_TRUSTED, "");
    TRY("32", "", "", "1", empty, empty, 0, "");
    TRY("32", "\"sorted\"", "\"sorted(m)\"", "1", O64(5, 0, 2, 2, 2, 4, 4, 5), M32(1, 3, 0, 2, 0),
        0, "");
    TRY("64", "\"sorted\"", "\"sorted(m)\"", "1", O32(5, 0, 2, 2, 2, 4, 4, 5), M64(1, 3, 0, 2, 0),
        0, "");
    TRY("64", "\"sorted\"", "", "1", O64(5, 0, 2, 2, 2, 4, 4, 5), M64(1, 3, 0, 2, 0), 0, "");
    TRY("32", "", "\"unique\"",
        "max(m) 3 == min(m) 0 == && at_least(m,2) 1 == && quantile(m,900) 3 == && symmetric(m,m) && max(p) 1 == && density(m,k,2) 333 == &&",
        M32(5, 1, 5, 5), M32(3, 0, 1, 2), 0, "");
}

static void refused(void) {
    const gnn_map k = M32(3, 0, 0, 1, 2);
    TRY("32", "", "", "1", M32(0, 6, 1, 9, 0), k, 0, "m[1] = 6 is outside V (6)");
    TRY("32", "", "", "1", M32(0, 5, 1, -1, -7), k, 0,
        "m[3] = -1 is outside V (6): m is not declared partial");
    TRY("32", "\"partial\"", "", "1", M32(0, 5, 1, -1, -7), k, 0, "m[4] = -7 is outside V (6)");
    TRY("32", "", "", "1", M64(0, 1, 2, 1l << 40, 7), k, 0,
        "m[3] = 1099511627776 is outside V (6)");
    TRY("32", "", "", "1", M64(0, 1, 2, 1l << 40, 1l << 41), k, GNN_TRUSTED,
        "m: 1099511627776 at 3 does not fit 32 bits");
    TRY("32", "\"sorted\"", "", "1", M32(0, 1, 4, 3, 0), k, 0,
        "m[3] = 3 after 4: m is declared sorted");
    TRY("64", "\"sorted\", \"partial\"", "", "1", M32(0, -1, -1, 0, -1), k, 0,
        "m[3] = 0 after -1: m is declared sorted, none come last");
    TRY("32", "\"unique\"", "", "1", M32(2, 3, 1, 3, 1), k, 0,
        "m[3] = 3 as m[1] is: m is declared unique");
    TRY("32", "", "\"sorted(m)\"", "1", M32(1, 0, 1, 0, 1), M32(1, 3, 1, 2, 0), 0,
        "k[3] = 2 after 3: k is declared sorted(m)");
    TRY("32", "", "\"sorted(m)\", \"partial\"", "1", M32(1, 0, 1, 0, 1), M32(1, 3, -1, 3, 2), 0,
        "k[4] = 2 after -1: k is declared sorted(m), none come last");
    TRY("32", "\"partial\"", "\"sorted(m)\", \"partial\"", "1", M32(1, -1, 1, -1, 1),
        M32(1, 3, 1, 2, -1), 0, "");
    TRY("32", "\"sorted\"", "", "1", O64(5, 1, 2, 2, 2, 4, 4, 5), k, 0,
        "offsets of m: [0] = 1 where offsets begin at 0");
    TRY("32", "\"sorted\"", "", "1", O32(5, 0, 2, 1, 2, 4, 3, 5), k, GNN_TRUSTED,
        "offsets of m: [2] = 1 after 2");
    TRY("64", "\"sorted\"", "", "1", O32(5, 0, 2, 2, 2, 4, 4, 6), k, 0,
        "offsets of m: the last, [6] = 6, is not the number of entries, 5");
    gnn_map m = O64(5, 0, 2, 2, 2, 4, 4, 5);
    m.index = (int64_t[]){0, 0, 3, 3, 5};
    TRY("32", "\"sorted\"", "", "1", m, k, 0, "");
    TRY("64", "\"sorted\"", "", "1", m, k, 0, "");
    m.index = (int64_t[]){0, 1, 3, 3, 5};
    TRY("32", "\"sorted\"", "", "1", m, k, 0,
        "offsets of m: [1] = 2, but 1 of its entries are below 1");
    m = O32(5, 0, 2, 2, 2, 4, 4, 5);
    m.index = (int32_t[]){0, 1, 3, 3, 5};
    TRY("64", "\"sorted\"", "", "1", m, k, 0,
        "offsets of m: [1] = 2, but 1 of its entries are below 1");
    TRY("32", "", "", "max(m) 2 <=", M32(5, 1, 5, 5, 0), k, 0,
        "the precondition `ask` does not hold: max(m) = 3");
}

// The smallest fault of many, wherever blocks and warps meet.
static void first_of_many(void) {
    enum { N = 3000 };
    static int32_t index[N], keys[N];
    uint64_t r = 5;
    for (int64_t at = 0; at < N; at += 1 + random_below(&r, 700)) {
        char wanted[80];
        for (int64_t i = 0; i < N; i++)
            index[i] = i < at ? (int32_t)random_below(&r, V) : 100 + (int32_t)(i - at);
        snprintf(wanted, sizeof wanted, "m[%lld] = 100 is outside V (6)", (long long)at);
        const gnn_map m = {.index = index, .width = 32, .domain = N, .codomain = -1},
                      k = {.index = keys, .width = 32, .domain = N, .codomain = -1};
        TRY("32", "", "", "1", m, k, 0, wanted);
    }
}

// A cache keeps what was checked; a plan that declares more checks that.
static void shared(void) {
    const manifests plain = PROGRAM("32", "", "", "1"),
                    strict = PROGRAM("32", "\"sorted\"", "", "1");
    ledger l;
    gnn_context *c = begin(&l, 3);
    gnn_program *p = NULL, *q = NULL;
    gnn_cache *cache = NULL;
    gnn_plan *one = NULL, *two = NULL;
    const gnn_map m = M64(1, 0, 5, 5), k = M32(0, 0, 0, 0), md = move_map(c, &m, V),
                  kd = move_map(c, &k, R);
    fake_register("use", use_device, 23, 0);
    GOOD(c, load(c, &plain, &p));
    GOOD(c, load(c, &strict, &q));
    GOOD(c, gnn_cache_new(c, &cache));
    GOOD(c, plan_on(p, &md, &kd, 0, cache, &one));
    const int64_t allocs = fake_calls("cuMemAlloc_v2");
    GOOD(c, plan_on(p, &md, &kd, 0, cache, &two));
    CHECK(fake_calls("cuMemAlloc_v2") == allocs && one->prepared[0] == two->prepared[0] &&
          one->maps[0] == two->maps[0]);
    gnn_plan_free(two);
    EXPECT(c, plan_on(q, &md, &kd, 0, cache, &two), NOT_SORTED,
           "m[1] = 0 after 1: m is declared sorted");
    gnn_plan_free(one);
    gnn_cache_free(cache);
    gnn_program_free(p);
    gnn_program_free(q);
    free_map(c, &md);
    free_map(c, &kd);
    end(c, &l);
}

// ---- Faults -------------------------------------------------------------------------------------
// Each driver call and each allocation failing once: a status, a text, and nothing is left.
// A context is its process's own.
static void take_over(void *context) { ((gnn_context *)context)->process = getpid(); }

// each: every call of the driver fails once.
static int64_t with_fault(const manifests *text, bool each, int64_t allocation, size_t limit) {
    ledger l;
    gnn_context *c = begin(&l, 2);
    gnn_program *p = NULL;
    gnn_plan *plan = NULL;
    fake_register("use", use_device, 23, 0);
    GOOD(c, load(c, text, &p));
    const gnn_map m = M64(5, 1, 5), k = M32(3, 0, 0), md = move_map(c, &m, V),
                  kd = move_map(c, &k, R);
    const int64_t allocations = l.calls;
    if (each) fake_fail_each(take_over, c);
    fake_limit(limit);
    l.fail_at = allocation < 0 ? -1 : allocations + allocation;
    gnn_status s = plan_on(p, &md, &kd, 0, NULL, &plan);
    const int64_t taken = each ? fake_fail_each(NULL, NULL) : l.calls - allocations;
    l.fail_at = -1;
    // what it would have given back is lost, and nothing else
    if (!s)
        fake_end_copy(!fake_failed("cuMemFree_v2") && !fake_failed("cuCtxSynchronize") &&
                      !fake_failed("cuCtxGetCurrent"));
    CHECK(!s == !!plan && s == gnn_context_status(c) && !s == !*gnn_context_error(c));
    if (limit < SIZE_MAX) EXPECT(c, s, NO_MEMORY, "out of device memory: 256 bytes asked for");
    gnn_context_clear_error(c);
    gnn_plan_free(plan);
    gnn_program_free(p);
    free_map(c, &md);
    free_map(c, &kd);
    end(c, &l);
    fake_end_copy(failed);
    return each || s ? taken : -1;
}

static void faults(void) {
    const manifests text = PROGRAM("32", "", "", "max(m) 2 ==");
    CHECK(with_fault(&text, true, -1, SIZE_MAX) > 300);
    int64_t failures = 0;
    for (int64_t i = 0; with_fault(&text, false, i, SIZE_MAX) >= 0; i++) failures++;
    CHECK(failures > 50);
    with_fault(&text, false, -1, 20);
}

int main(void) {
    static const int64_t sizes[][3] = {
        {0, 0, 1},   {0, 9, 1},     {1, 0, 1},      {1, 1, INT64_MAX}, {33, 7, 4},
        {255, 2, 3}, {256, 255, 1}, {257, 256, 32}, {300, 70000, 2},   {5000, 40, 64}};
    whole_plans();
    refused();
    first_of_many();
    shared();
    faults();
    for (uint32_t i = 0; i < RT_COUNT(sizes); i++) builders(sizes[i][0], sizes[i][1], sizes[i][2]);
    return failed;
}
