// On a GPU, where there is one: the driver takes the runtime's kernels, and what they build and
// refuse is what the host does. With an argument it also times them, on a map of that many entries.
#define _POSIX_C_SOURCE 200809L
#include "Inputs/gpu_cases.h"

#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

// ---- A plan -------------------------------------------------------------------------------------
#define MANIFEST                                                                                                                   \
    "{\"gnnc_manifest\": 1, \"name\": \"op\", \"target\": \"sm_80\", \"index_bits\": 32, \"versions\": [{\"name\": \"naive\"}],\n" \
    "\"spaces\": [{\"name\": \"E\", \"kind\": \"free\"}, {\"name\": \"U\", \"kind\": \"free\"}],\n"                                \
    "\"params\": [{\"name\": \"src\", \"role\": \"map\", \"type\": \"index\", \"axes\": [\"E\"], \"into\": \"U\"}],\n"             \
    "\"requires\": [{\"text\": \"max(src) < 9\", \"holds\": \"max(src) 9 <\"}]}"

static gnn_status plan_of(gnn_context *c, gnn_program *p, const int64_t *index, int64_t n,
                          int64_t into) {
    gnn_plan *plan = NULL;
    void *there = NULL;
    GOOD(c, gnn_alloc(c, (size_t)n * sizeof *index, &there));
    GOOD(c, gnn_copy_in(c, there, index, (size_t)n * sizeof *index, NULL));
    const gnn_named_map map = {
        "src", {.index = there, .width = 64, .on_device = true, .domain = n, .codomain = into}};
    gnn_status s = gnn_plan_new(p, &(gnn_plan_options){.maps = &map, .nmaps = 1}, &plan);
    gnn_plan_free(plan);
    gnn_free(c, there);
    return s;
}

static void plans(gnn_context *c) {
    static const char text[] = MANIFEST, ptx[] = ".version 7.4\n.target sm_80\n.address_size 64\n";
    enum { N = 3000000 };
    gnn_program *p = NULL;
    int64_t *index = malloc(N * sizeof *index);
    GOOD(c, gnn_program_load(c, text, sizeof text - 1,
                             &(gnn_code){.image = ptx, .size = sizeof ptx}, &p));
    for (int64_t i = 0; i < N; i++) index[i] = N - 1 - i;
    GOOD(c, plan_of(c, p, index, N, N));
    index[123456] = index[2000000] = 4000000;
    EXPECT(c, plan_of(c, p, index, N, N), BAD_INDEX,
           "src[123456] = 4000000 is outside U (3000000)");
    for (int64_t i = 0; i < N; i++) index[i] = i / 9;
    EXPECT(c, plan_of(c, p, index, N, N), PRECONDITION,
           "the precondition `max(src) < 9` does not hold: max(src) = 9");
    gnn_program_free(p);
    free(index);
}

// ---- Times --------------------------------------------------------------------------------------
#define TIME(what, call, host_call)                                                                \
    do {                                                                                           \
        double device = 0;                                                                         \
        for (int i = 0; i < 3; i++) { /* the last counts */                                        \
            rt_gpu g = {0};                                                                        \
            rt_ints got = {0};                                                                     \
            const double from = now();                                                             \
            GOOD(c, rt_gpu_begin(&g, c, NULL, false));                                             \
            GOOD(c, call);                                                                         \
            GOOD(c, rt_gpu_end(&g, GNN_OK));                                                       \
            device = now() - from;                                                                 \
        }                                                                                          \
        rt_ints wanted = {0};                                                                      \
        const double from = now();                                                                 \
        GOOD(c, host_call);                                                                        \
        printf("%-12s device %9.3f ms   host %9.3f ms\n", what, device, now() - from);             \
        rt_free(c, wanted.data);                                                                   \
    } while (0)

static void time_map(gnn_context *c, const shape *k, int64_t n) {
    int64_t tiles;
    const rt_map_view here = make_map(c, k, n, n / 10 + 1, false), there = upload(c, &here);
    printf("%s: %lld entries into %lld\n", k->name, (long long)n, (long long)here.codomain);
    TIME("offsets", rt_gpu_offsets(&g, &there, &got), rt_build_offsets(c, &here, false, &wanted));
    TIME("order", rt_gpu_order(&g, &there, false, &got), rt_build_order(c, &here, false, &wanted));
    TIME("tiles", rt_gpu_tiles(&g, &there, 32, &got, &tiles),
         rt_build_tiles(c, &here, 32, false, &wanted, &tiles));
    TIME("classes", rt_gpu_classes(&g, &there, 1, &got, &tiles),
         rt_build_classes(c, &here, 1, false, &wanted, &tiles));
    const double from = now();
    void *copy = malloc(array_bytes(&here.values));
    GOOD(c, rt_fetch(c, there.values.data, array_bytes(&there.values), copy, NULL));
    printf("%-12s %16.3f ms\n", "a copy back", now() - from);
    free(copy);
    gnn_free(c, there.values.data);
    rt_free(c, here.values.data);
}

int main(int argc, char **argv) {
    static const int64_t sizes[][3] = {{0, 0, 1},
                                       {1, 0, 1},
                                       {33, 7, 4},
                                       {257, 256, 32},
                                       {300, 70000, 2},
                                       {5000, 40, 64},
                                       {300000, 3, 7},
                                       {300000, 20000000, 32},
                                       {3000000, 100000, 32}};
    gnn_context *c = NULL;
    gnn_device_info d = {0};
    GOOD(c, gnn_context_new(&(gnn_context_options){.device = GNN_AUTO}, &c));
    if (gnn_context_device(c) == GNN_HOST) {
        gnn_context_free(c);
        return printf("skipped: there is no GPU\n"), failed;
    }
    GOOD(c, gnn_device_query(c, &d));
    for (int wide = 0; wide < 2; wide++) {
        rt_gpu g = {0};
        const double from = now();
        GOOD(c, rt_gpu_begin(&g, c, NULL, wide));
        GOOD(c, rt_gpu_end(&g, GNN_OK));
        printf("%s: the driver takes the kernels for %d bits in %.1f ms\n", d.name, wide ? 64 : 32,
               now() - from);
    }
    for (uint32_t i = 0; i < RT_COUNT(sizes); i++)
        for (uint32_t k = 0; k < RT_COUNT(shapes); k++)
            for (int wide = 0; wide < 2; wide++) {
                compare_all(c, &shapes[k], sizes[i][0], sizes[i][1], wide, sizes[i][2]);
                if (k == 0) compare_symmetry(c, sizes[i][0], sizes[i][1], wide);
            }
    plans(c);
    printf("%zu maps, two widths: %s\n", RT_COUNT(sizes) * RT_COUNT(shapes),
           failed ? "the device differs" : "the device gives what the host does");
    for (int i = 1; i < argc; i++)
        for (uint32_t k = 0; k < RT_COUNT(shapes); k++)
            time_map(c, &shapes[k], strtoll(argv[i], NULL, 10));
    gnn_context_free(c);
    return failed;
}
