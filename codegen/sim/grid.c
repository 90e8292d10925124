// Launches: the blocks of a grid one after another, forward, in reverse or in an order that a seed
// decides; the warps of a block likewise, or in turns that the seed makes long or short, so that
// what depends on their order shows.
#include "counts.h"
#include "steps.h"

enum { SHARED_ALIGN = 1024 };   // as a GPU's shared memory is

// ---- Chance -------------------------------------------------------------------------------------
// splitmix64's step (Steele, Lea and Flood 2014).
uint64_t sim_random(sim *s) {
    uint64_t x = s->random += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t gcd(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

typedef struct {
    uint64_t n, factor, shift;   // block i of the order is i * factor + shift modulo n
} permutation;

static permutation order_of_blocks(sim *s, uint32_t blocks) {
    if (s->order == SIM_FORWARD) return (permutation){.n = blocks, .factor = 1};
    if (s->order == SIM_REVERSE)
        return (permutation){.n = blocks, .factor = blocks - 1, .shift = blocks - 1};
    permutation o = {
        .n = blocks, .factor = 1 + sim_random(s) % blocks, .shift = sim_random(s) % blocks};
    while (gcd(o.factor, o.n) != 1) o.factor++;
    return o;
}

// ---- A block ------------------------------------------------------------------------------------
static void run(sim_warp *w, uint64_t turn) {
    while (turn-- && w->state == SIM_RUNS) {
        const sim_code *c = &w->code[w->pc++];
        c->step(w, c);
    }
}

static sim_warp *nth_in(sim_block *b, sim_state state, uint32_t n) {
    for (uint32_t k = 0; k < b->nwarps; k++)
        if (b->warps[k].state == state && !n--) return &b->warps[k];
    return NULL;
}

static uint32_t count_in(const sim_block *b, sim_state state) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < b->nwarps; k++) n += b->warps[k].state == state;
    return n;
}

// All warps wait at a BARRIER_ANY: each gets what holds for some of them.
static void tell_any(sim_block *b, const sim_code *here) {
    bool any = false, unknown = false;
    if (here->func->instrs.data[here->instr].op != SIMT_BARRIER_ANY) return;
    for (uint32_t k = 0; k < b->nwarps; k++) any |= b->warps[k].any, unknown |= b->warps[k].unknown;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        *(uint32_t *)sim_at(&b->warps[k], here->r) = any ? ~UINT32_C(0) : 0;
        *sim_undefined(&b->warps[k], here->r, here->to) = unknown ? ~UINT32_C(0) : 0;
    }
}

// All warps wait or have ended: each has to wait, and at one place.
static void pass_barrier(sim_block *b) {
    sim_warp *first = nth_in(b, SIM_WAITS, 0);
    const sim_code *here = &first->code[first->pc - 1];
    for (uint32_t k = 0; k < b->nwarps; k++) {
        sim_warp *w = &b->warps[k];
        if (w->state == SIM_ENDED)
            sim_fault_at(first, here, E0724, first->mask, 0,
                         "waits at a barrier, but warp %u has ended", w->number);
        else if (w->pc != first->pc)
            sim_fault_at(first, here, E0724, first->mask, w->code[w->pc - 1].instr,
                         "waits at a barrier, but warp %u at another", w->number);
        if (w->state == SIM_WAITS) w->state = SIM_RUNS;
        w->syncs++;
    }
    tell_any(b, here);
    sim_time_barrier(b);
    b->barriers++;
}

static void begin_block(sim_block *b) {
    uint32_t threads = b->kernel->func->block;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        sim_warp *w = &b->warps[k];
        uint32_t left = threads - k * SIM_LANES;
        w->mask = w->full = left >= SIM_LANES ? ~UINT32_C(0) : (UINT32_C(1) << left) - 1;
        w->pc = w->syncs = w->fences = 0;
        w->state = SIM_RUNS;
        w->settled = b->early ? 0 : w->full;
        w->flights.len = 0;
        memset(w->groups, 0, sizeof w->groups);
    }
    b->barriers = 0;
    const sim_buffer *shared = &b->sim->buffers.data[SIM_SHARED];
    memset(shared->data, 0xA5, shared->bytes);
    memset(shared->defined, 0, shared->bytes);
    memset(shared->flying, 0, shared->bytes);
    if (shared->unfenced) memset(shared->unfenced, 0, shared->bytes);
}

static void run_block(sim_block *b) {
    enum { SHORT = 64 };
    begin_block(b);
    sim_time_begin(b);
    for (uint32_t running; !b->stopped;) {
        if (!(running = count_in(b, SIM_RUNS))) {
            if (!count_in(b, SIM_WAITS)) {
                sim_time_end(b);
                return;
            }
            pass_barrier(b);
            continue;
        }
        sim_order order = b->sim->order;
        uint64_t chance = order == SIM_RANDOM ? sim_random(b->sim) : 0;
        uint32_t next = order == SIM_REVERSE ? running - 1 : (uint32_t)(chance >> 32) % running;
        run(nth_in(b, SIM_RUNS, next), chance & 1 ? 1 + (chance >> 1) % SHORT : 1 << 20);
    }
}

// ---- Launches -----------------------------------------------------------------------------------
static bool meets(const sim_buffer *a, const sim_buffer *b) {
    return a->data < b->data + b->bytes && b->data < a->data + a->bytes;
}

// Temporaries that are not needed at the same time share memory: each begins with nothing written,
// and an early launch must not touch one while others are in use there.
static void find_beside(sim *s, uint32_t number) {
    for (uint32_t k = SIM_SHARED + 1; k < number; k++) {
        if (!s->buffers.data[k].scratch || !meets(&s->buffers.data[k], &s->buffers.data[number]))
            continue;
        VEC_PUSH(s->memory, &s->buffers.data[k].beside, number);
        VEC_PUSH(s->memory, &s->buffers.data[number].beside, k);
    }
}

// Memory of kernels before may have been written from elsewhere since.
static uint32_t buffer_of(sim *s, const sim_arg *x) {
    for (uint32_t k = SIM_SHARED + 1; k < s->buffers.len; k++) {
        sim_buffer *b = &s->buffers.data[k];
        if (b->data != x->data || b->bytes != x->bytes || (x->scratch && strcmp(b->name, x->name)))
            continue;
        if (x->written) b->defined = NULL;
        return k;
    }
    sim_buffer b = {.name = arena_strdup(s->memory, x->name),
                    .data = x->data,
                    .bytes = x->bytes,
                    .room = x->bytes,
                    .result = x->result,
                    .scratch = x->scratch,
                    .granule = 4};
    if (!x->written && !s->sampling) b.defined = sim_shadow(s, x->bytes + 1);
    VEC_PUSH(s->memory, &s->buffers, b);
    if (s->buffers.len > UINT16_MAX) ICE("more buffers than pointers can name");
    if (x->scratch) find_beside(s, s->buffers.len - 1);
    return s->buffers.len - 1;
}

static void bind_param(sim *s, sim_kernel *k, uint32_t p, const sim_arg *x) {
    const simt_param_info *info = &k->func->params.data[p];
    simt_type t = simt_typeof(k->func, info->value);
    uint64_t bits = x->slot;
    if (t.element == SIMT_PTR_GLOBAL) {
        uint32_t number = buffer_of(s, x);
        sim_buffer *b = &s->buffers.data[number];
        b->readonly |= (info->flags & SIMT_READONLY) != 0;
        b->raced |= (k->written[p] || k->overlaps) && !s->sampling;
        bits = sim_pointer(number, 0);
    } else if (t.element == SIMT_PRED) bits = (bits & 0xff) != 0;
    sim_put_all(k->image + k->params[info->value], t, bits);
}

// Blocks, and kernels, share one piece of memory; what its records tell of others is stale.
static uint8_t *aligned_shared(sim *s, uint32_t bytes) {
    uintptr_t at = (uintptr_t)arena_alloc(s->memory, (size_t)bytes + SHARED_ALIGN);
    return (uint8_t *)((at + SHARED_ALIGN - 1) / SHARED_ALIGN * SHARED_ALIGN);
}

static void bind_shared(sim *s, uint32_t bytes, bool groups) {
    sim_buffer *b = &s->buffers.data[SIM_SHARED];
    b->bytes = bytes;
    b->raced = !s->sampling;
    if (b->data && bytes <= b->room) {
        b->unfenced = groups ? b->writers : NULL;
        return;
    }
    b->room = bytes;
    b->writers = ARENA_ARRAY(s->memory, uint32_t, bytes / 4 + 1);
    b->unfenced = groups ? b->writers : NULL;
    b->data = aligned_shared(s, bytes);
    b->defined = arena_alloc(s->memory, bytes + 1);
    b->flying = arena_alloc(s->memory, bytes + 1);
    b->reads = b->writes = NULL, b->touched = NULL;
}

static void bind(sim *s, sim_kernel *k, const sim_arg *args) {
    for (uint32_t n = 0; n < s->buffers.len; n++)
        s->buffers.data[n].readonly = s->buffers.data[n].raced = false;
    for (uint32_t p = 0; p < k->func->params.len; p++) bind_param(s, k, p, &args[p]);
    bind_shared(s, k->func->shared_bytes, k->groups);
}

static sim_kernel *kernel_named(sim *s, const char *name) {
    for (uint32_t k = 0; k < s->kernels.len; k++)
        if (!strcmp(s->kernels.data[k]->func->name, name)) return s->kernels.data[k];
    const simt_func *f = simt_func_find(s->module, name);
    if (!f || !f->kernel) ICE("the module has no kernel '%s'", name);
    sim_kernel *k = sim_translate(s->arena, f);
    VEC_PUSH(s->arena, &s->kernels, k);
    return k;
}

static void make_warps(sim_block *b, arena *a) {
    const sim_kernel *k = b->kernel;
    b->nwarps = (k->func->block + SIM_LANES - 1) / SIM_LANES;
    b->warps = ARENA_ARRAY(a, sim_warp, b->nwarps);
    for (uint32_t n = 0; n < b->nwarps; n++) {
        b->warps[n] = (sim_warp){
            .frame = arena_alloc(a, k->frame + 64), .block = b, .code = k->code.data, .number = n};
        memcpy(b->warps[n].frame, k->image, k->constants);
    }
}

// Records name launches by 16 bits.
static void forget_order(sim *s) {
    for (uint32_t k = 0; k < s->buffers.len; k++)
        s->buffers.data[k].reads = s->buffers.data[k].writes = NULL;
    s->launch = s->chain = 1;
    s->chained.len = 0;
}

static void chain(sim *s, const sim_kernel *k, bool early) {
    if (!early || !s->chained.len) {
        s->chain = s->launch;
        s->chained.len = 0;
    }
    VEC_PUSH(s->memory, &s->chained, k);
}

static void run_blocks(sim_block *b) {
    permutation o = order_of_blocks(b->sim, b->blocks);
    b->weight = 1;
    for (uint64_t i = 0; i < b->blocks && !b->stopped; i++) {
        b->number = (uint32_t)((i * o.factor + o.shift) % o.n);
        run_block(b);
    }
}

// Blocks spread evenly whatever their number, by the golden ratio. The first and the last one,
// which are often the longest, stand for themselves alone, so only for how long one takes.
static void run_sample(sim_block *b) {
    const double ratio = 0.61803398874989485;
    const sim_sampling *how = b->sim->sampling;
    const sim_timing *before = sim_time_noted(b);
    uint64_t n = b->blocks, step = (uint64_t)((double)n * ratio),
             most = n < how->blocks ? n : how->blocks, i = 0;
    while (gcd(step, n) != 1) step++;
    b->weight = (double)n / (double)most;
    for (; i < most && !b->stopped && sim_time_issued(b, before) < how->issued; i++) {
        b->number = (uint32_t)((n / 2 + i * step) % n);
        run_block(b);
    }
    sim_time_stretch(b, before, (double)most / (double)i);
    b->weight = 0;
    for (uint32_t end = 0; end < 2 && i < n; end++) {
        b->number = end ? b->blocks - 1 : 0;
        run_block(b);
    }
}

void sim_launch(sim *s, const char *kernel, const sim_arg *args, uint32_t blocks, bool early) {
    sim_kernel *k = kernel_named(s, kernel);
    if (!blocks) return;
    if (!++s->launch) forget_order(s);
    chain(s, k, early);
    arena *a = arena_new();
    sim_block b = {.sim = s, .arena = a, .kernel = k, .blocks = blocks, .early = early};
    bind(s, k, args);
    if (s->counting) b.counts = sim_counts_of(s, k, blocks);
    make_warps(&b, a);
    (s->sampling ? run_sample : run_blocks)(&b);
    arena_free(a);
}

// ---- A simulator --------------------------------------------------------------------------------
sim *sim_new(diag_set *ds, const simt_module *m) {
    arena *a = arena_new();
    sim *s = ARENA_NEW(a, sim);
    *s = (sim){.arena = a, .memory = arena_new(), .ds = ds, .module = m};
    sim_begin(s, SIM_RANDOM, 0);
    return s;
}

void sim_free(sim *s) {
    if (!s) return;
    sim_unmap_shadows(s);
    arena_free(s->memory);
    arena_free(s->arena);
}

void sim_begin(sim *s, sim_order order, uint64_t seed) {
    sim_unmap_shadows(s);
    arena_free(s->memory);
    s->memory = arena_new();
    s->order = order;
    s->random = seed;
    s->launch = 0;
    memset(&s->buffers, 0, sizeof s->buffers);
    memset(&s->chained, 0, sizeof s->chained);
    memset(&s->faults, 0, sizeof s->faults);
    memset(&s->counts, 0, sizeof s->counts);
    s->counting = false;
    s->sampling = NULL;
    for (uint32_t k = 0; k <= SIM_SHARED; k++)
        VEC_PUSH(s->memory, &s->buffers, ((sim_buffer){.name = "shared memory", .granule = 4}));
}
