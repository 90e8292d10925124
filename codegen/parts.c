// A module's kernels in parts, each compiled in an LLVM context of its own, on threads. LLVM's time
// is nearly all spent a kernel, and kernels know nothing of each other. What a part holds follows
// from the module, never from the machine, so that the PTX does not depend on where it is made.
#include "compile.h"
#include "ptx_join.h"

#include <stdatomic.h>

// A part costs 2 ms before its first instruction, so few are many.
enum { MOST_PARTS = 2, PART_INSTRUCTIONS = 150 };

typedef struct {
    bool *taken;    // by place in the module
    arena *arena;   // of the thread that compiles it
    cg_output out;
    bool ok;
} part;
typedef struct {
    const cg_job *job;
    source_map *sources;
    part parts[MOST_PARTS];
    uint32_t count;
    atomic_uint next;   // the part to be taken up
} team;

// ---- What a part holds --------------------------------------------------------------------------
// A kernel's instructions and those of what it calls, which is inlined.
static uint64_t cost(const simt_module *m, const simt_func *f) {
    uint64_t instructions = f->instrs.len;
    for (uint32_t i = 1; i < f->instrs.len; i++)
        if (f->instrs.data[i].op == SIMT_CALL)
            instructions += m->funcs.data[f->instrs.data[i].imm.i]->instrs.len;
    return instructions;
}

// Takes a function and all it reaches.
static void take(arena *a, const simt_module *m, uint32_t place, bool *taken) {
    VEC(uint32_t) open = {0};
    VEC_PUSH(a, &open, place);
    while (open.len) {
        uint32_t next = open.data[--open.len];
        if (taken[next]) continue;
        taken[next] = true;
        const simt_func *f = m->funcs.data[next];
        for (uint32_t i = 1; i < f->instrs.len; i++)
            if (f->instrs.data[i].op == SIMT_CALL)
                VEC_PUSH(a, &open, (uint32_t)f->instrs.data[i].imm.i);
    }
}

static bool is_asked(const cg_job *job, uint32_t place) {
    return job->module->funcs.data[place]->kernel &&
           (!job->options->kernels || job->options->kernels[place]);
}

// Neighbouring kernels go together: the one whose middle lies in the k-th of n equal stretches of
// all instructions goes to the k-th part.
static void divide(arena *a, team *t) {
    const simt_module *m = t->job->module;
    uint64_t total = 0, before = 0, last = UINT64_MAX;
    for (uint32_t k = 0; k < m->funcs.len; k++)
        if (is_asked(t->job, k)) total += cost(m, m->funcs.data[k]);
    const uint64_t whole = total / PART_INSTRUCTIONS, stretches = whole > MOST_PARTS ? MOST_PARTS
                                                                  : whole            ? whole
                                                                                     : 1;
    for (uint32_t k = 0; k < m->funcs.len && (stretches > 1 || t->job->options->kernels); k++) {
        const simt_func *f = m->funcs.data[k];
        if (!is_asked(t->job, k)) continue;
        uint64_t own = cost(m, f), stretch = (2 * before + own) * stretches / (2 * total);
        before += own;
        if (stretch != last) t->parts[t->count++].taken = ARENA_ARRAY(a, bool, m->funcs.len);
        last = stretch;
        take(a, m, k, t->parts[t->count - 1].taken);
    }
}

// ---- Threads ------------------------------------------------------------------------------------
// What a part has to say is thrown away: where one is refused, the whole is compiled again, to say
// it in order.
static void compile_part(const cg_job *whole, source_map *sources, part *p) {
    cg_job job = *whole;
    job.taken = p->taken;
    p->arena = arena_new();
    p->ok = cg_compile(p->arena, diag_set_new(p->arena, sources), &job, &p->out);
}

static void work(void *of) {
    team *t = of;
    for (uint32_t k; (k = atomic_fetch_add(&t->next, 1)) < t->count;)
        compile_part(t->job, t->sources, &t->parts[k]);
}

bool cg_compile_parts(arena *a, diag_set *ds, const cg_job *job, cg_output *out) {
    team t = {.job = job, .sources = diag_sources(ds)};
    divide(a, &t);
    if (t.count < 2) {
        cg_job one = *job;
        one.taken = t.parts[0].taken;   // NULL: all
        return cg_compile(a, ds, &one, out);
    }
    cg_together(job->options->beside ? 1 : t.count, work, &t);
    cg_output texts[MOST_PARTS];
    bool ok = true;
    for (uint32_t k = 0; k < t.count; k++) {
        texts[k] = t.parts[k].out;
        ok = ok && t.parts[k].ok;
    }
    if (ok) cg_ptx_join(a, texts, t.count, out);
    for (uint32_t k = 0; k < t.count; k++) arena_free(t.parts[k].arena);
    return ok || cg_compile(a, ds, job, out);
}
