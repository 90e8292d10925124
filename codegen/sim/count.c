// Counts by step: what a warp issues, and what its requests cost. A function's count where the
// kernel calls it.
#include "counts.h"
#include "steps.h"

enum { MOST_BYTES = 16 };   // that a lane loads or stores by one instruction

// ---- What a step counts -------------------------------------------------------------------------
typedef enum {
    COUNT_NOTHING,
    COUNT_ISSUE,
    COUNT_ACCESS,
    COUNT_SHUFFLE,
    COUNT_BARRIER,
    COUNT_COPY,
    COUNT_ROWS,
    COUNT_CALL
} count_kind;
struct sim_counted_step {
    sim_step step;
    count_kind kind;
    uint32_t issued;   // instructions
    sim_cost cost;
};

static uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

static bool loads(simt_op op) { return op == SIMT_LD || op == SIMT_LD_SOME; }
static bool stores(simt_op op) { return op == SIMT_ST || op == SIMT_ST_SOME; }

static simt_type accessed(const sim_code *c) {
    return loads((simt_op)c->func->instrs.data[c->instr].op) ? c->to : c->from;
}

static uint32_t bytes_of(simt_type t) { return sim_element_bytes(t) * t.lanes; }

// Bytes of a lane that one instruction takes.
static uint32_t request_bytes(const sim_code *c) {
    uint32_t bytes = bytes_of(accessed(c)), align = c->func->instrs.data[c->instr].mem.align;
    if (align && align < bytes) bytes = align;
    return bytes < MOST_BYTES ? bytes : MOST_BYTES;
}

static sim_counted_step counted(const sim_code *c, count_kind kind, uint32_t issued) {
    return (sim_counted_step){.step = c->step, .kind = kind, .issued = issued};
}

// Structured control issues a branch where lanes part; copies and blends are registers that phis
// name.
static sim_counted_step counted_control(const sim_code *c) {
    static const sim_control branches[] = {SIM_IF, SIM_FOR, SIM_NEXT, SIM_LEAVE};
    for (uint32_t k = 0; k < sizeof branches / sizeof *branches; k++)
        if (c->step == sim_control_step(branches[k])) return counted(c, COUNT_ISSUE, 1);
    return counted(c, c->step == sim_control_step(SIM_CALL) ? COUNT_CALL : COUNT_NOTHING, 0);
}

static sim_counted_step counted_step(const sim_code *c) {
    if (sim_is_control(c)) return counted_control(c);
    switch ((int)c->func->instrs.data[c->instr].op) {
    case SIMT_LD:
    case SIMT_ST:
    case SIMT_LD_SOME:
    case SIMT_ST_SOME:
        return counted(c, COUNT_ACCESS, ceil_div(bytes_of(accessed(c)), request_bytes(c)));
    case SIMT_ATOM:
    case SIMT_ATOM_CAS:
    case SIMT_RED: return counted(c, COUNT_ACCESS, 1);
    case SIMT_SHFL_IDX:
    case SIMT_SHFL_UP:
    case SIMT_SHFL_DOWN:
    case SIMT_SHFL_BFLY: return counted(c, COUNT_SHUFFLE, ceil_div(bytes_of(c->to), 4));
    case SIMT_LDMATRIX:
    case SIMT_LDMATRIX_TRANS: return counted(c, COUNT_ROWS, 1);
    case SIMT_MMA: return counted(c, COUNT_ISSUE, 1);
    case SIMT_MMA_GROUP:
    case SIMT_MMA_ROWS:
    case SIMT_MMA_ROWS_TRANS:
    case SIMT_MMA_ROWS_BOTH:
        return counted(c, COUNT_ISSUE,
                       (simt_mma_splits((simt_mma)c->func->instrs.data[c->instr].aux) ? 3 : 1) *
                           (uint32_t)c->imm);
    case SIMT_BARRIER:
    case SIMT_BARRIER_ANY: return counted(c, COUNT_BARRIER, 1);
    case SIMT_COPY: return counted(c, COUNT_COPY, 1);
    case SIMT_COPY_END:
    case SIMT_COPY_WAIT: return counted(c, COUNT_ISSUE, 1);
    case SIMT_SHARED:
    case SIMT_SPLAT:
    case SIMT_EXTRACT:
    case SIMT_INSERT:
    case SIMT_SLICE:
    case SIMT_CONCAT:
    case SIMT_BITCAST: return counted(c, COUNT_NOTHING, 0);
    }
    return counted(c, COUNT_ISSUE, c->n / SIM_LANES ? c->n / SIM_LANES : 1);
}

// ---- Requests -----------------------------------------------------------------------------------
// Buffers lie where a device's allocator places them, at a line's start, but for the bytes that a
// tensor is misaligned by; every allocator of a host aligns to ALIGNED, so that counts are the same
// on all.
static uint64_t place_of(const sim_buffer *b, uint32_t number, uint64_t offset) {
    enum { ALIGNED = 16 };
    return (uint64_t)number << SIM_OFFSET_BITS | (offset + (uintptr_t)b->data % ALIGNED);
}

// Of the lanes given, those whose access is inside a buffer; the others fault.
static sim_request request_at(const sim_warp *w, sim_place place, sim_mask lanes, uint32_t first,
                              uint32_t bytes) {
    const uint64_t *pointers = sim_at(w, place);
    sim_mask defined = lanes & ~*sim_undefined(w, place, SIMT_T(PTR_GLOBAL));
    sim_request q = {.bytes = bytes};
    for (uint32_t i = 0; i < SIM_LANES; i++) {
        if (!sim_lane(defined, i)) continue;
        uint32_t number = sim_pointer_buffer(pointers[i]);
        const sim_buffer *b = &w->block->sim->buffers.data[number];
        int64_t offset = sim_pointer_offset(pointers[i]) + first;
        if (offset < 0 || (uint64_t)offset + bytes > b->bytes) continue;
        q.lanes |= UINT32_C(1) << i;
        q.at[i] = number == SIM_SHARED ? (uint64_t)offset : place_of(b, number, (uint64_t)offset);
    }
    return q;
}

static sim_request request_of(const sim_warp *w, const sim_code *c, uint32_t first,
                              uint32_t bytes) {
    return request_at(w, c->a, w->mask, first, bytes);
}

static void count_request(sim_warp *w, const sim_code *c, sim_tally *t, const sim_request *q) {
    simt_op op = (simt_op)c->func->instrs.data[c->instr].op;
    bool shared = sim_type(c, 0).element == SIMT_PTR_SHARED, atomic = !loads(op) && !stores(op);
    t->buffer = shared ? SIM_SHARED : sim_request_buffer(q->at[__builtin_ctz(q->lanes)]);
    t->bytes = q->bytes;
    if (atomic) sim_request_atomic(t, q);
    if (shared) sim_request_shared(t, q), sim_time_shared(w->block, q);
    else {
        sim_request_global(w->block->sim, w->block->counts, t, q);
        sim_time_global(w->block, q, stores(op), atomic);
    }
    if (!shared && !atomic) t->n[loads(op) ? SIM_COUNT_LOADS : SIM_COUNT_STORES]++;
    sim_request_stride(&t->stride, q);
}

static void count_access(sim_warp *w, const sim_code *c, sim_tally *t) {
    uint32_t whole = bytes_of(accessed(c)), bytes = request_bytes(c);
    for (uint32_t first = 0; first < whole; first += bytes) {
        sim_request q = request_of(w, c, first, bytes);
        if (q.lanes) count_request(w, c, t, &q);
    }
}

// A copy loads from global memory, where its condition holds, and writes to shared memory.
static void count_copy(sim_warp *w, const sim_code *c, sim_tally *t) {
    uint32_t bytes = (uint32_t)c->imm;
    sim_mask there = *(const uint32_t *)sim_at(w, c->c) & w->mask;
    sim_request from = request_at(w, c->b, there, 0, bytes),
                to = request_at(w, c->a, w->mask, 0, bytes);
    if (to.lanes) sim_request_shared(t, &to), sim_time_shared(w->block, &to);
    if (!from.lanes) return;
    sim_time_global(w->block, &from, false, false);
    t->buffer = sim_request_buffer(from.at[__builtin_ctz(from.lanes)]);
    t->bytes = bytes;
    sim_request_global(w->block->sim, w->block->counts, t, &from);
    t->n[SIM_COUNT_LOADS]++;
    sim_request_stride(&t->stride, &from);
}

// Rows of matrices, a wavefront for the eight of one.
static void count_rows(sim_warp *w, const sim_code *c, sim_tally *t) {
    enum { ROW = 2 * SIM_MATRIX };
    sim_request q = request_at(w, c->a, w->mask & sim_matrix_lanes(c->to), 0, ROW);
    if (!q.lanes) return;
    t->buffer = SIM_SHARED;
    t->bytes = ROW;
    sim_request_shared(t, &q);
    sim_time_shared(w->block, &q);
    sim_request_stride(&t->stride, &q);
}

// ---- Counting -----------------------------------------------------------------------------------
// The step of the kernel that this one counts for.
static uint32_t charged(const sim_warp *w, const sim_code *c, count_kind kind) {
    uint32_t *call = &w->block->counts->calls[w->number];
    if (c->func != w->block->kernel->func) return *call;
    uint32_t at = (uint32_t)(c - w->code);
    if (kind == COUNT_CALL) *call = at;
    return at;
}

static void count(sim_warp *w, const sim_code *c, const sim_counted_step *x) {
    sim_tally *t = &w->block->counts->tallies[charged(w, c, x->kind)];
    t->n[SIM_COUNT_INSTRUCTIONS] += x->issued;
    t->n[SIM_COUNT_ACTIVE] += x->issued * (uint32_t)__builtin_popcount(w->mask);
    if (x->kind == COUNT_ACCESS) count_access(w, c, t);
    if (x->kind == COUNT_COPY) count_copy(w, c, t);
    if (x->kind == COUNT_ROWS) count_rows(w, c, t);
    if (x->kind == COUNT_SHUFFLE) t->n[SIM_COUNT_SHUFFLES] += x->issued;
    if (x->kind == COUNT_BARRIER) t->n[SIM_COUNT_BARRIERS]++;
}

static void count_and_run(sim_warp *w, const sim_code *c) {
    const sim_counted_step *x = &w->block->kernel->counted[c - w->code];
    if (w->block->counts && x->kind) count(w, c, x);
    if (w->clock) sim_time_step(w, c, &x->cost);
    x->step(w, c);
}

static void replace_steps(sim *s, sim_kernel *k) {
    const simt_func *f = NULL;   // a function's steps stand together
    const sim_folding *folded = NULL;
    k->counted = ARENA_ARRAY(s->arena, sim_counted_step, k->code.len);
    for (uint32_t i = 0; i < k->code.len; i++) {
        if (k->code.data[i].func != f) f = k->code.data[i].func, folded = sim_folded(s->arena, f);
        k->counted[i] = counted_step(&k->code.data[i]);
        k->counted[i].cost = sim_cost_of(&k->code.data[i], folded[k->code.data[i].instr]);
        k->code.data[i].step = count_and_run;
    }
}

sim_counts *sim_counts_of(sim *s, sim_kernel *k, uint32_t blocks) {
    sim_counts *x = NULL;
    for (uint32_t i = 0; i < s->counts.len && !x; i++)
        if (s->counts.data[i]->kernel == k) x = s->counts.data[i];
    if (!k->counted) replace_steps(s, k);
    if (!x) {
        x = ARENA_NEW(s->memory, sim_counts);
        x->kernel = k;
        x->tallies = ARENA_ARRAY(s->memory, sim_tally, k->code.len);
        if (s->sampling) x->timing = sim_timing_new(s, k);
        VEC_PUSH(s->memory, &s->counts, x);
    }
    x->launches++;
    x->blocks += blocks;
    return x;
}

void sim_count(sim *s) { s->counting = true; }

void sim_sample(sim *s, const sim_sampling *how) {
    sim_sampling *copy = ARENA_NEW(s->memory, sim_sampling);
    *copy = *how;
    s->sampling = copy;
    s->counting = true;
}
