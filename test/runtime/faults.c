// Each allocation fails once: the right status, nothing leaked, and the context works on.
#include "Inputs/harness.h"

static gnn_status work(gnn_context *c) {
    static const char text[] = SPMM("host", "64");
    int32_t src[] = {0, 1, 1}, dst[] = {0, 2, 2};
    const gnn_named_map maps[] = {{"src", {.index = src, .width = 32, .domain = 3, .codomain = 3}},
                                  {"dst", {.index = dst, .width = 32, .domain = 3, .codomain = 3}}};
    gnn_cache *k = NULL;
    gnn_program *p = NULL;
    gnn_plan *plan = NULL;
    gnn_timer *t = NULL;
    void *memory = NULL;
    gnn_status s = gnn_program_load(c, text, sizeof text - 1, &spmm_code, &p);
    if (!s) s = gnn_cache_new(c, &k);
    if (!s)
        s = gnn_plan_new(
            p,
            &(gnn_plan_options){
                .sizes = &(gnn_size){"F", 2}, .nsizes = 1, .maps = maps, .nmaps = 2, .cache = k},
            &plan);
    if (!s) s = gnn_alloc(c, gnn_plan_workspace(plan), &memory);
    if (!s) s = gnn_timer_new(c, &t);
    gnn_timer_free(t);
    gnn_free(c, memory);
    gnn_plan_free(plan);
    gnn_cache_free(k);
    gnn_program_free(p);
    return s;
}

static void after_the_context(void) {
    ledger l;
    gnn_context *c = new_context(&l, 3);
    int64_t before = l.calls;
    GOOD(c, work(c));
    int64_t needed = l.calls - before, live = l.live;
    CHECK(needed > 30);
    for (int64_t i = 0; i < needed - 1; i++) {   // the first plan also started the threads
        l.fail_at = l.calls + i;
        CHECK(work(c) == GNN_NO_MEMORY);
        CHECK(gnn_context_status(c) == GNN_NO_MEMORY &&
              !strncmp(gnn_context_error(c), "out of memory: ", 15));
        CHECK(l.live == live);
        gnn_context_clear_error(c);
        l.fail_at = -1;
        GOOD(c, work(c));
    }
    end_context(c, &l);
}

static void threads(void) {
    ledger l = {.fail_at = -1};
    for (int64_t i = 0; i < 60; i++) {
        gnn_context *c = NULL;
        l.calls = 0;
        l.fail_at = i;
        gnn_status s = gnn_context_new(
            &(gnn_context_options){
                .device = GNN_HOST, .threads = 3, .allocator = {ledger_alloc, ledger_release, &l}},
            &c);
        CHECK(s == (i ? GNN_OK : GNN_NO_MEMORY) && !c == !i);
        if (c) CHECK(work(c) == (i < l.calls ? GNN_NO_MEMORY : GNN_OK));
        gnn_context_free(c);
        CHECK(l.live == 0);
    }
}

static void too_large(void) {
    ledger l;
    gnn_context *c = new_context(&l, 1);
    CHECK(!rt_alloc_array(c, INT64_MAX, 8));
    CHECK(!strcmp(gnn_context_error(c), "no memory holds 9223372036854775807 elements of 8 bytes"));
    gnn_context_clear_error(c);
    void *memory;
    CHECK(gnn_alloc(c, SIZE_MAX - 8, &memory) == GNN_NO_MEMORY && !memory);
    end_context(c, &l);
}

int main(void) {
    after_the_context();
    threads();
    too_large();
    return failed;
}
