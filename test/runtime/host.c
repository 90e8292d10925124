// The host's context by default, texts of the tables, and a CUDA context where there may be no
// driver.
#include "Inputs/harness.h"

#include <sys/wait.h>
#include <unistd.h>

static void memory(gnn_context *c) {
    void *a = NULL, *none = &a;
    char text[4] = "";
    GOOD(c, gnn_alloc(c, 100, &a));
    GOOD(c, gnn_alloc(c, 0, &none));
    CHECK((uintptr_t)a % 256 == 0 && !none);
    GOOD(c, gnn_copy_in(c, a, "abc", 4, NULL));
    GOOD(c, gnn_copy_out(c, text, a, 4, NULL));
    CHECK(!strcmp(text, "abc"));
    GOOD(c, gnn_fill(c, a, 0x41, 3, NULL));
    CHECK(!strcmp(a, "AAA"));
    GOOD(c, gnn_sync(c, NULL));
    gnn_free(c, a);
    gnn_free(c, NULL);
    EXPECT(c, gnn_copy_in(c, NULL, text, 4, NULL), BAD_ARGUMENT,
           "gnn_copy_in: an argument that it needs is NULL, or none of the program's");
}

static void timer(gnn_context *c) {
    gnn_timer *t = NULL;
    double ms = -1;
    GOOD(c, gnn_timer_new(c, &t));
    EXPECT(c, gnn_timer_read(t, &ms), BAD_ARGUMENT,
           "a timer is read that was not started and stopped");
    GOOD(c, gnn_timer_start(t, NULL));
    GOOD(c, gnn_timer_stop(t, NULL));
    GOOD(c, gnn_timer_read(t, &ms));
    CHECK(ms >= 0 && ms < 1000);
    gnn_timer_free(t);
}

static void captures_nothing(gnn_context *c) {
    gnn_replay *r = NULL;
    EXPECT(c, gnn_capture_begin(c, NULL), NO_CAPTURE,
           "only launches on a CUDA device can be captured");
    EXPECT(c, gnn_capture_end(c, NULL, &r), NO_CAPTURE,
           "only launches on a CUDA device can be captured");
    CHECK(!r);
}

static void texts(void) {
    CHECK(!strcmp(gnn_status_text(GNN_OK), "good"));
    CHECK(!strcmp(gnn_status_text(GNN_NO_VERSION), "the version asked for cannot run there"));
    CHECK(!strcmp(gnn_status_text((gnn_status)-1000), "no such status"));
    CHECK(!strcmp(gnn_dtype_text(GNN_BF16), "bf16") && gnn_dtype_bytes(GNN_BF16) == 2);
    CHECK(!strcmp(gnn_dtype_text(GNN_DTYPE_COUNT), "no type") &&
          gnn_dtype_bytes(GNN_DTYPE_COUNT) == 0);
}

static void count_piece(void *data, uint32_t i) { ((int *)data)[i]++; }

// Within a call the first error is told; among calls, that of the last one that failed.
static void errors_are_of_the_last_call(gnn_context *c) {
    rt_fail(c, GNN_IO, "one %d", 1);
    rt_fail(c, GNN_CUDA, "two");
    CHECK(gnn_context_status(c) == GNN_IO && !strcmp(gnn_context_error(c), "one 1"));
    gnn_program *p;
    CHECK(gnn_program_load(c, "{", 1, &(gnn_code){0}, &p) == GNN_BAD_MANIFEST);
    CHECK(gnn_context_status(c) == GNN_BAD_MANIFEST && strstr(gnn_context_error(c), "manifest"));
    // told till the next one fails
    CHECK(gnn_sync(c, NULL) == GNN_OK && gnn_context_status(c) == GNN_BAD_MANIFEST);
    CHECK(gnn_device_query(c, NULL) == GNN_BAD_ARGUMENT);
    CHECK(gnn_context_status(c) == GNN_BAD_ARGUMENT &&
          !strncmp(gnn_context_error(c), "gnn_device_query: ", 18));
    gnn_context_clear_error(c);
    CHECK(gnn_context_status(c) == GNN_OK && !*gnn_context_error(c));
}

// In a child there are none of the threads that a plan has started: work is done all the same, and
// the context is freed.
static void forks(void) {
    gnn_context *c;
    CHECK(!gnn_context_new(&(gnn_context_options){.device = GNN_HOST, .threads = 4}, &c) &&
          !rt_pool_start(c));
    pid_t child = fork();
    if (!child) {
        int seen[8] = {0};
        rt_parallel(c, 8, count_piece, seen);
        bool all = true;
        for (int i = 0; i < 8; i++) all &= seen[i] == 1;
        gnn_context_free(c);
        _exit(all ? 0 : 1);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
          !WEXITSTATUS(status));
    child = fork();
    if (!child) {   // the next plan starts them anew
        int seen[8] = {0};
        const bool started = !rt_pool_start(c) && c->pool;
        rt_parallel(c, 8, count_piece, seen);
        gnn_context_free(c);
        _exit(started && seen[7] == 1 ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
          !WEXITSTATUS(status));
    gnn_context_free(c);
}

int main(void) {
    gnn_context *c = NULL;
    gnn_device_info d;
    CHECK(gnn_context_new(NULL, &c) == GNN_OK && gnn_context_device(c) == GNN_HOST);
    GOOD(c, gnn_device_query(c, &d));
    CHECK(!strcmp(d.name, "host") && d.device == GNN_HOST && d.sms >= 1 && d.sm == 0);
    for (int f = 0; f < RT_DEVICE_FACT_COUNT; f++) {
        int64_t number = -1;
        GOOD(c, rt_device_number(c, (rt_device_fact)f, &number));
        CHECK(number == (f == RT_DEVICE_CORES ? d.sms : 0));
    }
    memory(c);
    timer(c);
    captures_nothing(c);
    errors_are_of_the_last_call(c);
    forks();
    texts();
    gnn_context_free(c);
    CHECK(gnn_context_new(&(gnn_context_options){.device = -3}, &c) == GNN_NO_DEVICE);
    CHECK(!strcmp(gnn_context_error(c),
                  "there is no device -3: GNN_AUTO, GNN_HOST or GNN_GPU(ordinal)"));
    gnn_context_free(c);
    gnn_status s = gnn_context_new(&(gnn_context_options){.device = GNN_GPU(0)}, &c);
    CHECK(s == gnn_context_status(c) && !s == !*gnn_context_error(c));
    gnn_context_free(c);
    gnn_status any = gnn_context_new(&(gnn_context_options){.device = GNN_AUTO}, &c);
    CHECK(s == GNN_NO_DRIVER || s == GNN_NO_DEVICE ? !any && gnn_context_device(c) == GNN_HOST
                                                   : any == s);
    CHECK(any || !*gnn_context_error(c));
    gnn_context_free(c);
    return failed;
}
