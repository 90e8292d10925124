// The CUDA side on a driver that is a fake: contexts, code, launches, and each driver call failing
// once.
#include "Inputs/cuda_session.h"

#include <sys/wait.h>
#include <unistd.h>

static void works(uint32_t flags) {
    ledger l;
    session s;
    start();
    gnn_context *c = new_cuda(&l);
    GOOD(c, open_session(c, &s, flags));
    CHECK(fake_bytes_out() ==
          (flags ? 0 : 16));   // no map is read back: a check reads two positions
    const int64_t launches = fake_calls("cuLaunchKernel"),
                  syncs = fake_calls("cuStreamSynchronize");
    int64_t allocs = fake_calls("cuMemAlloc_v2"), calls = fake_calls(NULL), host = l.calls;
    GOOD(c, use_session(c, &s));
    CHECK(!memcmp(s.result, wanted, sizeof wanted));
    CHECK(fake_calls("cuMemAlloc_v2") == allocs && l.calls == host);
    CHECK(fake_calls("cuLaunchKernel") == launches + 4 &&
          fake_calls("cuStreamSynchronize") == syncs + 1);
    calls = fake_calls(NULL);
    GOOD(c, launch(&s, 0, s.stream));
    // the current context is asked for, ours pushed, four launches
    CHECK(fake_calls(NULL) - calls == 6);
    CHECK(fake_depth() == 0);
    close_session(c, &s);
    end_context(c, &l);
    CHECK(fake_live() == 0);
}

// The same kernel twice a round, the second time early: that is what the driver is told, where it
// is new enough and something was launched just before.
static const char *early_manifest(const char *blocks) {
    static char text[8192];
    static const char whole[] = SPMM("sm_90", "32"), launch[] = "{\"launch\": \"add\", ";
    const char *from = strstr(whole, launch), *end = strstr(from, ", {\"end\"");
    snprintf(text, sizeof text, "%.*s, %s\"early\": true, %.*s%s", (int)(end - whole), whole,
             launch, (int)(end - from - (long)strlen(launch)), from + strlen(launch), end);
    char *count = strstr(strstr(text, launch), "\"V\"");
    count[1] = *blocks;
    return text;
}

static void launches_early(int driver, const char *blocks, int64_t early, int64_t in_turn) {
    ledger l;
    session s;
    float once[V * F];
    start();
    fake_driver(driver);
    gnn_context *c = new_cuda(&l);
    GOOD(c, open_text(c, &s, 0, early_manifest(blocks)));
    int64_t ex = fake_calls("cuLaunchKernelEx"), plain = fake_calls("cuLaunchKernel");
    GOOD(c, capture_session(c, &s));
    CHECK(fake_calls("cuLaunchKernelEx") - ex == early &&
          fake_calls("cuLaunchKernel") - plain == in_turn);
    // the current context is asked for, ours pushed, gather launched in turn, then add, ...
    fake_fail_at(3);
    CHECK(launch(&s, 0.5f, s.stream) == GNN_CUDA);
    fake_fail_at(4);
    CHECK(launch(&s, 0.5f, s.stream) == GNN_CUDA);
    fake_fail_at(-1);
    gnn_context_clear_error(c);
    GOOD(c, use_session(c, &s));
    memcpy(once, s.result, sizeof once);
    GOOD(c, replay_session(c, &s));
    CHECK(!memcmp(s.result, once, sizeof once));
    close_session(c, &s);
    end_context(c, &l);
    CHECK(fake_live() == 0);
    fake_driver(13000);
}

static void early(void) {
    launches_early(13000, "V", 3, 4);
    launches_early(12020, "V", 0, 7);   // a capture would refuse it
    // what it would have followed launches nothing, and a round before knows of no next
    launches_early(13000, "0", 0, 4);
}

// Each kernel is told before and behind, a timer goes there, and none starts early.
typedef struct {
    session *s;
    char names[128];
    int inside, timed;
} heard;

static void hear(void *user, const char *kernel, bool submitted) {
    heard *h = user;
    CHECK(h->inside == submitted);
    h->inside = !submitted;
    if (submitted) {
        double ms;
        CHECK(!gnn_timer_stop(h->s->timer, h->s->stream) && !gnn_timer_read(h->s->timer, &ms));
        h->timed++;
        return;
    }
    strncat(strncat(h->names, kernel, 20), " ", 2);
    CHECK(!gnn_timer_start(h->s->timer, h->s->stream));
}

static void watched(void) {
    ledger l;
    session s;
    start();
    gnn_context *c = new_cuda(&l);
    GOOD(c, open_text(c, &s, 0, early_manifest("V")));
    GOOD(c, use_session(c, &s));
    heard h = {.s = &s};
    int64_t ex = fake_calls("cuLaunchKernelEx"), plain = fake_calls("cuLaunchKernel");
    GOOD(c, launch_told(&s, 0.5f, s.stream, &(gnn_watch){hear, &h}));
    CHECK(fake_calls("cuLaunchKernelEx") == ex && fake_calls("cuLaunchKernel") == plain + 7);
    CHECK(h.timed == 7 && !h.inside && !strcmp(h.names, "gather add add add add add add "));
    CHECK(launch_told(&s, 0.5f, s.stream, &(gnn_watch){NULL, &h}) == GNN_BAD_ARGUMENT);
    gnn_context_clear_error(c);
    close_session(c, &s);
    end_context(c, &l);
    CHECK(fake_live() == 0 && fake_depth() == 0);
}

static void contexts(void) {
    ledger l;
    void *memory;
    start();
    gnn_context *c = new_cuda(&l);
    CHECK(fake_retained(1) == 1 && fake_depth() == 0);
    GOOD(c, gnn_alloc(c, 8, &memory));
    CHECK(fake_depth() == 0);
    fake_context mine = fake_make_current(0);
    gnn_free(c, memory);
    CHECK(fake_depth() == 1 && fake_current() == mine);
    end_context(c, &l);
    CHECK(fake_retained(1) == 0);
    mine = fake_make_current(1);   // of the very device: ours too
    c = new_cuda(&l);
    CHECK(fake_retained(1) == 0);
    int64_t pushes = fake_calls("cuCtxPushCurrent_v2");
    GOOD(c, gnn_alloc(c, 8, &memory));
    gnn_free(c, memory);
    CHECK(fake_calls("cuCtxPushCurrent_v2") == pushes && fake_current() == mine);
    end_context(c, &l);
    fake_make_current(0);
    c = new_cuda(&l);
    CHECK(fake_retained(1) == 1);
    end_context(c, &l);
}

static void device(void) {
    ledger l;
    gnn_device_info d;
    start();
    gnn_context *c = new_cuda(&l);
    GOOD(c, gnn_device_query(c, &d));
    CHECK(!strcmp(d.name, "Fake GPU") && d.device == GNN_GPU(1) && d.devices == 2 &&
          d.driver_version == 13000 && d.sm == 90 && d.sms == 132 &&
          d.memory == (int64_t)80 << 30 && d.shared_bytes == 232448 && d.l2_bytes == 52428800);
    const int64_t numbers[] = {132, 232448, 52428800, 0};
    for (int f = 0; f < RT_DEVICE_FACT_COUNT; f++) {
        int64_t number = -1;
        GOOD(c, rt_device_number(c, (rt_device_fact)f, &number));
        CHECK(number == numbers[f]);
    }
    end_context(c, &l);
    gnn_context_new(&(gnn_context_options){.device = GNN_GPU(2)}, &c);
    CHECK(gnn_context_status(c) == GNN_NO_DEVICE);
    CHECK(!strcmp(gnn_context_error(c), "there is no CUDA device 2: the driver shows 2"));
    gnn_context_free(c);
}

// ---- Shared memory ------------------------------------------------------------------------------
static unsigned asked;

static void note_shared(void **params, unsigned grid, unsigned block, unsigned shared) {
    (void)params, (void)grid, (void)block;
    asked = shared;
}

static gnn_status launch_shared(gnn_context *c, int declared, int wants) {
    char text[600];
    gnn_program *p = NULL;
    gnn_plan *plan = NULL;
    fake_forget_kernels();
    fake_register("k", note_shared, 1, declared);
    int n = snprintf(
        text, sizeof text,
        "{\"gnnc_manifest\": 1, \"name\": \"op\", \"target\": \"sm_90\", \"index_bits\": 32,"
        "\"spaces\": [{\"name\": \"N\", \"kind\": \"const\", \"size\": \"3\"}],"
        "\"kernels\": [{\"name\": \"k\", \"block\": 64, \"shared\": %d, \"params\": [\"i64\"]}],"
        "\"versions\": [{\"name\": \"naive\", \"steps\": [{\"launch\": \"k\", \"blocks\": \"7\", \"args\": [{\"size\": \"N\"}]}]}]}",
        wants);
    gnn_status s = gnn_program_load(c, text, (size_t)n, &(gnn_code){.image = "fake", .size = 5},
                                    &p);
    if (!s) s = gnn_plan_new(p, &(gnn_plan_options){0}, &plan);
    if (!s) s = gnn_launch(plan, NULL, 0, NULL, 0, NULL);
    gnn_plan_free(plan);
    gnn_program_free(p);
    return s;
}

static void shared(void) {
    ledger l;
    start();
    gnn_context *c = new_cuda(&l);
    GOOD(c, launch_shared(c, 0, 1024));
    CHECK(asked == 1024);
    GOOD(c, launch_shared(c, 1024, 1024));
    CHECK(asked == 0);
    GOOD(c, launch_shared(c, 1024, 100000));
    CHECK(asked == 100000 - 1024);
    EXPECT(c, launch_shared(c, 0, 300000), BAD_CODE,
           "kernel k: 300000 bytes of shared memory, but a block of the device has 232448");
    for (int64_t i = 0, more = 1; more; i++) {
        const int64_t before = fake_calls(NULL);
        fake_fail_at(i);
        const gnn_status s = launch_shared(c, 1024, 100000);
        more = fake_calls(NULL) - before > i;
        fake_fail_at(-1);
        CHECK(more || !s);
        // what a free says, the context alone tells
        CHECK(!s || (s == gnn_context_status(c) && *gnn_context_error(c)));
        gnn_context_clear_error(c);
        GOOD(c, launch_shared(c, 1024, 100000));
    }
    end_context(c, &l);
}

static void code(void) {
    static const char text[] = SPMM("sm_90", "32"), host[] = SPMM("host", "32");
    ledger l;
    gnn_program *p;
    start();
    gnn_context *c = new_cuda(&l);
    EXPECT(c, gnn_program_load(c, host, sizeof host - 1, &spmm_code, &p), BAD_CODE,
           "spmm is compiled for host, but the context is a CUDA device's");
    EXPECT(c, gnn_program_load(c, text, sizeof text - 1, &spmm_code, &p), MISSING,
           "spmm: no CUDA code is given");
    EXPECT(c,
           gnn_program_load(c, text, sizeof text - 1, &(gnn_code){.image = "cubin", .size = 6}, &p),
           BAD_CODE,
           "spmm: the driver refuses the code for sm_90: FAKE_ERROR: not the image of the fake");
    fake_forget();
    fake_register("gather", fake_gather, 7, 0);
    EXPECT(c,
           gnn_program_load(c, text, sizeof text - 1, &(gnn_code){.image = "fake", .size = 5}, &p),
           BAD_CODE, "spmm: the code has no kernel `add`");
    end_context(c, &l);
}

// ---- Faults -------------------------------------------------------------------------------------
static gnn_status whole_session(gnn_context *c, session *s, uint32_t flags) {
    gnn_device_info d;
    gnn_status e = open_session(c, s, flags);
    if (!e) e = gnn_device_query(c, &d);
    if (!e) e = use_session(c, s);
    if (!e) e = capture_session(c, s);
    return e ? e : replay_session(c, s);
}

// Each call of a session fails once; the context works on, where there is one.
static void each_call_fails(uint32_t flags, int current) {
    int failures = 0;
    for (int64_t i = 0, opening = 1; opening; i++) {
        ledger l;
        session s = {0};
        start();
        fake_make_current(current);
        fake_fail_at(i);
        gnn_context *c = new_cuda(&l);
        const bool made = !gnn_context_status(c);
        gnn_status e = made ? whole_session(c, &s, flags) : gnn_context_status(c);
        failures += e != GNN_OK;
        CHECK(e == gnn_context_status(c) && (!e || *gnn_context_error(c)));
        CHECK(e || !memcmp(s.result, wanted, sizeof wanted));
        opening = fake_calls(NULL) > i;
        fake_fail_at(-1);   // what can't be freed is lost
        // where the end could not be told to the driver
        if (e) gnn_capture_end(c, s.stream, NULL);
        close_session(c, &s);
        gnn_context_clear_error(c);
        if (made) {
            GOOD(c, whole_session(c, &s, flags));
            CHECK(!memcmp(s.result, wanted, sizeof wanted));
            close_session(c, &s);
        }
        end_context(c, &l);
        CHECK(fake_live() == 0 && fake_depth() == (current >= 0));
    }
    CHECK(failures > 50);
}

// The same of its end: what the driver keeps is the driver's, but nothing of ours is lost.
static void each_call_of_the_end_fails(void) {
    int64_t failures = 0;
    for (int64_t i = 0, opening = 1; opening; i++) {
        ledger l;
        session s;
        start();
        gnn_context *c = new_cuda(&l);
        GOOD(c, whole_session(c, &s, 0));
        const int64_t before = fake_calls(NULL);
        fake_fail_at(i);
        close_session(c, &s);
        end_context(c, &l);
        opening = fake_calls(NULL) - before > i;
        failures += opening;
        fake_fail_at(-1);
        CHECK(fake_depth() == 0);
    }
    CHECK(failures > 15);
}

// The same of a launch that is captured.
static void each_captured_call_fails(void) {
    ledger l;
    session s;
    start();
    gnn_context *c = new_cuda(&l);
    GOOD(c, open_session(c, &s, 0));
    GOOD(c, gnn_capture_begin(c, s.stream));
    for (int64_t i = 0; i < 6; i++) {   // as many as a launch makes
        const int64_t host = l.calls, live = fake_live();
        fake_fail_at(i);
        CHECK(launch(&s, 0.5f, s.stream) == GNN_CUDA);
        CHECK(strstr(gnn_context_error(c), "FAKE_ERROR (made to fail)"));
        gnn_context_clear_error(c);
        GOOD(c, launch(&s, 0.5f, s.stream));
        CHECK(fake_illegal() == 0 && fake_depth() == 0 && l.calls == host && fake_live() == live);
    }
    GOOD(c, gnn_capture_end(c, s.stream, &s.replay));
    GOOD(c, replay_session(c, &s));
    CHECK(!memcmp(s.result, wanted, sizeof wanted));
    fake_speechless(1);
    fake_fail_at(0);
    EXPECT(c, gnn_sync(c, s.stream), CUDA, "CUDA driver, CtxGetCurrent: unknown error (no text)");
    fake_speechless(0);
    close_session(c, &s);
    end_context(c, &l);
}

// A child frees what it was handed, and the driver hears nothing of it; its parent goes on.
static void in_a_child(gnn_context *c, session *s, ledger *l) {
    static const char not_here[] =
        "CUDA does not work in a forked child of the process that made the context: "
        "fork before contexts are made, or start a new program";
    const int64_t calls = fake_calls(NULL);
    gnn_device_info info;
    void *memory;
    EXPECT(c, gnn_alloc(c, 8, &memory), CUDA, not_here);
    EXPECT(c, gnn_copy_out(c, s->result, s->y, sizeof s->result, s->stream), CUDA, not_here);
    EXPECT(c, gnn_device_query(c, &info), CUDA, not_here);
    close_session(c, s);
    CHECK(!*gnn_context_error(c));
    gnn_context_free(c);
    CHECK(fake_calls(NULL) == calls && l->live == 0);
    fflush(stdout);
    _exit(failed);
}

static void forks(void) {
    ledger l;
    session s;
    int status = 1;
    start();
    gnn_context *c = new_cuda(&l);
    GOOD(c, open_session(c, &s, 0));
    GOOD(c, capture_session(c, &s));
    fflush(stdout);
    const pid_t child = fork();
    if (!child) in_a_child(c, &s, &l);
    CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
    GOOD(c, replay_session(c, &s));
    CHECK(!memcmp(s.result, wanted, sizeof wanted));
    close_session(c, &s);
    end_context(c, &l);
    CHECK(fake_live() == 0);
}

static void each_of_the_table_has_failed(void) {
    static const char *const names[] = {
#define CU(name, symbol, params) symbol,
#include "cuda_api.def"
#undef CU
    };
    // those of errors: above; the last: gpu_memory.c; if that one fails, nothing can be done
    static const char *const apart[] = {"cuGetErrorName", "cuGetErrorString", "cuCtxPopCurrent_v2",
                                        "cuCtxSynchronize"};
    for (size_t i = 0; i < RT_COUNT(names); i++) {
        bool other = false;
        for (size_t k = 0; k < RT_COUNT(apart); k++) other |= !strcmp(names[i], apart[k]);
        if (!other && !fake_failed(names[i]))
            failed = 1, printf("%s: no test has it fail\n", names[i]);
    }
}

int main(void) {
    works(0);
    works(GNN_TRUSTED);
    early();
    watched();
    contexts();
    device();
    shared();
    code();
    each_call_fails(0, -1);
    each_call_fails(GNN_TRUSTED, -1);
    each_call_fails(0, 0);
    each_call_fails(0, 1);
    each_call_of_the_end_fails();
    each_captured_call_fails();
    forks();
    each_of_the_table_has_failed();
    return failed;
}
