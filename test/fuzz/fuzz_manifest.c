// libFuzzer: no manifest makes its reader fail, nor what is done with one that is good: small sizes
// and maps are bound, what it wants prepared is made, and each launch is a look at the memory it
// would reach.
#include "launch_plan.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 64, POINTS = 256, WORKSPACE = 1 << 20, LONGEST_LOOP = 8 };

static void look(void *user, const char *kernel, const uint64_t *slots, const gnn_extent *x,
                 uint32_t blocks, bool early) {
    (void)kernel, (void)slots, (void)blocks, (void)early;
    const volatile unsigned char *bytes = x[0].name ? x[0].data
                                                    // of the first alone: a launch has one at least
                                                    : NULL;
    if (bytes && x[0].bytes) *(unsigned char *)user ^= bytes[0] ^ bytes[x[0].bytes - 1];
}

typedef struct {
    gnn_context *c;
    gnn_program *p;
    int64_t sizes[MOST];   // of all spaces; those that are not free: not asked for
    gnn_size given[MOST];
    gnn_named_map maps[MOST];
    gnn_tensor tensors[MOST];
    gnn_arg args[MOST];
    size_t ngiven, nmaps;
    int64_t index[MOST][POINTS];
    double data[MOST][POINTS];
} binding;

static bool bind_spaces(binding *b, size_t seed) {
    for (uint32_t i = 0; i < gnn_program_spaces(b->p); i++) {
        gnn_space_info s;
        if (gnn_program_space(b->p, i, &s)) abort();
        b->sizes[i] = s.is_free ? (int64_t)((seed >> i % 8) & 3) : 0;
        if (s.is_free) b->given[b->ngiven++] = (gnn_size){s.name, b->sizes[i]};
    }
    return true;
}

// Every map is told as indices, of an order that is sorted too.
static bool bind_map(binding *b, const gnn_param_info *info) {
    gnn_map m = {.width = gnn_program_index_bits(b->p), .domain = 1, .codomain = -1};
    for (uint32_t k = 0; k < info->rank; k++) m.domain *= b->sizes[info->axes[k]];
    if (m.domain > POINTS) return false;
    int64_t n = info->into >= 0 ? b->sizes[info->into] : 1, *index = b->index[b->nmaps];
    for (int64_t i = 0; i < m.domain; i++) {
        int64_t value = n ? i * n / m.domain : 0;
        if (m.width == 64) index[i] = value;
        else ((int32_t *)index)[i] = (int32_t)value;
    }
    m.index = index;
    b->maps[b->nmaps++] = (gnn_named_map){info->name, m};
    return true;
}

static bool bind_maps(binding *b) {
    for (uint32_t i = 0; i < gnn_program_params(b->p); i++) {
        gnn_param_info info;
        if (gnn_program_param(b->p, i, &info)) abort();
        if (info.role == GNN_PARAM_MAP && !info.prefix && !bind_map(b, &info)) return false;
    }
    return true;
}

static bool bind_tensors(binding *b, const gnn_plan *plan) {
    for (uint32_t i = 0; i < gnn_program_params(b->p); i++) {
        gnn_param_info info;
        if (gnn_program_param(b->p, i, &info)) abort();
        if (info.role != GNN_PARAM_TENSOR && info.role != GNN_PARAM_RESULT) continue;
        gnn_tensor *t = &b->tensors[i];
        if (gnn_plan_shape(plan, i, t)) return false;
        int64_t points = 1;
        for (uint32_t k = 0; k < t->rank; k++)
            if (__builtin_mul_overflow(points, t->shape[k], &points) || points > POINTS)
                return false;
        t->data = b->data[i];
        b->args[i].tensor = t;
    }
    return true;
}

static bool small_spaces(const binding *b, const gnn_plan *plan) {
    for (uint32_t i = 0; i < gnn_program_spaces(b->p); i++) {
        gnn_space_info s;
        int64_t n;
        if (gnn_program_space(b->p, i, &s)) abort();
        if (gnn_plan_size(plan, s.name, &n) || n > LONGEST_LOOP) return false;
    }
    return true;
}

// A manifest may have launches repeated as often as it says.
static bool short_loops(const gnn_plan *plan) {
    for (uint32_t i = 0; i < plan->nready; i++)
        for (uint32_t k = 0; k < plan->ready[i].version->nsteps; k++)
            if (plan->ready[i].steps[k].kind == RT_LOOP &&
                plan->ready[i].steps[k].count > LONGEST_LOOP)
                return false;
    return true;
}

static void launch(binding *b, gnn_plan *plan) {
    size_t bytes;
    const char *version;
    if (gnn_plan_workspace(plan) > WORKSPACE || !small_spaces(b, plan) || !short_loops(plan) ||
        !bind_tensors(b, plan))
        return;
    uint32_t n = gnn_program_params(b->p);
    gnn_plan_version(plan, b->args, n, &version);
    gnn_plan_workspace_for(plan, b->args, n, &bytes);   // 0 where the launch will be refused
    void *workspace = aligned_alloc(256, (bytes + 256) / 256 * 256);
    if (!workspace) return;
    gnn_launch(plan, b->args, n, workspace, bytes, NULL);
    free(workspace);
}

static void plan(gnn_context *c, gnn_program *p, size_t seed) {
    static binding b;
    memset(&b, 0, offsetof(binding, index));
    b.c = c, b.p = p;
    if (gnn_program_spaces(p) > MOST || gnn_program_params(p) > MOST || !bind_spaces(&b, seed) ||
        !bind_maps(&b))
        return;
    gnn_plan *made = NULL;
    const gnn_plan_options o = {
        .sizes = b.given, .nsizes = b.ngiven, .maps = b.maps, .nmaps = b.nmaps};
    gnn_status s = gnn_plan_new(p, &o, &made);
    if (!s != !!made || !s != !*gnn_context_error(c)) abort();
    if (made) launch(&b, made);
    gnn_plan_free(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static unsigned char seen;
    static const gnn_simulator simulator = {
        .device = {.name = "none", .sm = 90, .sms = 2, .shared_bytes = 1000},
        .launch = look,
        .user = &seen};
    gnn_context *c = NULL;
    gnn_program *p = NULL;
    if (gnn_context_new(
            &(gnn_context_options){.device = GNN_HOST, .threads = 1, .simulator = &simulator}, &c))
        abort();
    gnn_status s = gnn_program_load(c, (const char *)data, size, &(gnn_code){0}, &p);
    if (!s != !!p || !s != !*gnn_context_error(c)) abort();
    if (p) plan(c, p, size);
    gnn_program_free(p);
    gnn_context_free(c);
    return 0;
}
