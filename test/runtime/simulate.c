// A GPU played on the host: which launches it gets, and what each pointer may reach.
#include "Inputs/harness.h"

enum { E = 5, U = 3, V = 4, F = 2 };

typedef struct {
    int launches;
    const float *x, *y;
    const void *workspace;
} seen;

static bool reaches(const gnn_extent *e, const char *name, const void *data, size_t bytes,
                    bool written, bool result) {
    return e->name && !strcmp(e->name, name) && (!data || e->data == data) && e->bytes == bytes &&
           e->written == written && e->result == result;
}

static void launch(void *user, const char *kernel, const uint64_t *slots, const gnn_extent *x,
                   uint32_t blocks, bool early) {
    seen *s = user;
    CHECK(blocks == V && !early);
    if (!s->launches++) {
        CHECK(!strcmp(kernel, "gather") && slots[6] == F);
        CHECK(reaches(&x[0], "src", NULL, E * 4, true, false));
        CHECK(reaches(&x[1], "offsets(dst)", NULL, (V + 1) * 4, true, false));
        CHECK(reaches(&x[2], "x", s->x, ((U - 1) * 6 + (F - 1) * 2 + 1) * 4, true,
                      false));   // strides of 6 and 2
        CHECK(!x[3].name && !x[4].name && !x[6].name);
        CHECK(reaches(&x[5], "t", s->workspace, V * F * 4, false, false));
        return;
    }
    CHECK(!strcmp(kernel, "add") && slots[5] == (uint64_t)s->launches - 2);
    CHECK(reaches(&x[0], "t", s->workspace, V * F * 4, false, false));
    CHECK(reaches(&x[2], "y", s->y, V * F * 4, false, true));
}

static void run(gnn_context *c, seen *s) {
    static const char text[] = SPMM("sm_90", "32");
    static const int32_t src[E] = {0, 1, 2, 0, 1}, dst[E] = {0, 0, 1, 3, 3};
    static float x[U * 6], y[V * F];
    static _Alignas(256) char workspace[256];
    const gnn_named_map maps[] = {{"src", {.index = src, .width = 32, .domain = E, .codomain = U}},
                                  {"dst", {.index = dst, .width = 32, .domain = E, .codomain = V}}};
    const gnn_tensor tx = {.data = x,
                           .dtype = GNN_F32,
                           .rank = 2,
                           .has_strides = true,
                           .shape = {U, F},
                           .strides = {6, 2}};
    const gnn_tensor ty = {.data = y, .dtype = GNN_F32, .rank = 2, .shape = {V, F}};
    const gnn_arg args[5] = {[2] = {.tensor = &tx}, [4] = {.tensor = &ty}};
    gnn_program *p = NULL;
    gnn_plan *plan = NULL;
    *s = (seen){.x = x, .y = y, .workspace = workspace};
    GOOD(c, gnn_program_load(c, text, sizeof text - 1, &(gnn_code){0}, &p));
    GOOD(c, gnn_plan_new(p,
                         &(gnn_plan_options){
                             .sizes = &(gnn_size){"F", F}, .nsizes = 1, .maps = maps, .nmaps = 2},
                         &plan));
    GOOD(c, gnn_launch(plan, args, 5, workspace, sizeof workspace, NULL));
    CHECK(s->launches == 4);
    gnn_plan_free(plan);
    gnn_program_free(p);
}

int main(void) {
    static const char host[] = SPMM("host", "32");
    seen s;
    gnn_simulator sim = {.device = {.name = "played", .sm = 90, .sms = 7, .shared_bytes = 1000},
                         .launch = launch,
                         .user = &s};
    gnn_context *c = NULL;
    gnn_program *p = NULL;
    gnn_device_info d;
    int64_t sms = 0, cores = 1;
    CHECK(!gnn_context_new(&(gnn_context_options){.device = GNN_HOST, .simulator = &sim}, &c));
    GOOD(c, gnn_device_query(c, &d));
    CHECK(!strcmp(d.name, "played") && d.sms == 7);
    GOOD(c, rt_device_number(c, RT_DEVICE_SMS, &sms));
    GOOD(c, rt_device_number(c, RT_DEVICE_CORES, &cores));
    CHECK(sms == 7 && cores == 0);
    run(c, &s);
    EXPECT(c, gnn_program_load(c, host, sizeof host - 1, &spmm_code, &p), BAD_CODE,
           "spmm is compiled for host, but the context is a simulated GPU's");
    gnn_context_free(c);
    return failed;
}
