// Loads, stores and atomics: lane by lane, each checked against the buffer its pointer was derived
// from.
#include "steps.h"
#include "numbers.h"

typedef enum { READ, WRITE, ATOMIC } access_kind;
typedef struct {
    sim_warp *w;
    const sim_code *c;
    access_kind kind;
    uint32_t bytes, element, align;   // align: a power of two
    bool invariant;
} access;

// ---- Shadows ------------------------------------------------------------------------------------
// Who did an access, and where it stands among the epochs of its block and warp.
static sim_record now(const access *x, uint32_t lane) {
    const sim_warp *w = x->w;
    uint32_t thread = (w->number * SIM_LANES + lane) & (SIM_MAX_BLOCK - 1);
    return (sim_record){.block = w->block->number,
                        .barriers = w->block->barriers,
                        .syncs = w->syncs,
                        .step = w->pc - 1,
                        .launch = w->block->sim->launch,
                        .marks = (uint16_t)(thread | (x->kind == ATOMIC ? SIM_IS_ATOMIC : 0) |
                                            (x->invariant ? SIM_IS_INVARIANT : 0))};
}

// Shared memory begins anew with each block.
static bool stale(const sim_record *old, const sim_record *x, bool shared) {
    return old->launch != x->launch || (shared && old->block != x->block);
}

static bool same_warp(const sim_record *a, const sim_record *b) {
    return sim_record_thread(a) / SIM_LANES == sim_record_thread(b) / SIM_LANES;
}

// Who `old` stands for where it is taken together with x: those who are not ordered before x, and
// x.
static sim_who together(const sim_record *old, const sim_record *x, bool shared) {
    sim_who who = sim_record_who(old);
    if (stale(old, x, shared)) return SIM_ONE;
    if (old->block != x->block || who == SIM_OF_GRID) return SIM_OF_GRID;
    if (old->barriers != x->barriers) return SIM_ONE;
    if (who == SIM_OF_BLOCK || !same_warp(old, x)) return SIM_OF_BLOCK;
    if (old->syncs != x->syncs) return SIM_ONE;
    return who == SIM_OF_WARP || sim_record_thread(old) != sim_record_thread(x) ? SIM_OF_WARP
                                                                                : SIM_ONE;
}

// Whether nothing orders x after all that `old` stands for.
static bool unordered(const sim_record *old, const sim_record *x, bool shared) {
    return together(old, x, shared) != SIM_ONE;
}

// Adds x to the accesses `old` stands for, leaving out those that are ordered before it.
static void extend(sim_record *old, const sim_record *x, bool shared) {
    uint32_t marks = (uint32_t)together(old, x, shared) << SIM_THREAD_BITS | x->marks;
    if (!stale(old, x, shared)) marks |= old->marks & SIM_IS_INVARIANT;
    *old = *x;
    old->marks = (uint16_t)marks;
}

// Records are touched by the chunk, so that a buffer of which little is used costs little, however
// large it is.
enum { CHUNK = 1 << 12 };

static size_t records_of(const sim_buffer *b, uint32_t granule) {
    return (b->room + granule - 1) / granule + 1;
}

static sim_record *records(sim *s, const sim_buffer *b, uint32_t granule) {
    return sim_shadow(s, records_of(b, granule) * sizeof(sim_record));
}

static uint8_t *chunks(sim *s, const sim_buffer *b, uint32_t granule) {
    return sim_shadow(s, records_of(b, granule) / CHUNK + 1);
}

static void split_chunk(const sim_buffer *b, size_t chunk, uint32_t by, sim_record *reads,
                        sim_record *writes) {
    size_t n = records_of(b, b->granule), end = (chunk + 1) * CHUNK < n ? (chunk + 1) * CHUNK : n;
    for (size_t i = chunk * CHUNK; i < end; i++)
        for (uint32_t k = 0; k < by && i * by + k < records_of(b, b->granule / by); k++) {
            reads[i * by + k] = b->reads[i];
            writes[i * by + k] = b->writes[i];
        }
}

// Smaller accesses than before need smaller granules, or neighbours would seem to collide.
static void refine(sim *s, sim_buffer *b, uint32_t bytes) {
    uint32_t by = b->granule / bytes;
    if (b->touched) {
        sim_record *reads = records(s, b, bytes), *writes = records(s, b, bytes);
        uint8_t *touched = chunks(s, b, bytes);
        for (size_t c = 0; c <= records_of(b, b->granule) / CHUNK; c++) {
            if (!b->touched[c]) continue;
            split_chunk(b, c, by, reads, writes);
            for (size_t k = c * by; k < (c + 1) * by && k <= records_of(b, bytes) / CHUNK; k++)
                touched[k] = 1;
        }
        b->reads = reads, b->writes = writes, b->touched = touched;
    }
    b->granule = bytes;
}

// ---- One lane's access --------------------------------------------------------------------------

static const char *verb(const access *x) {
    return x->kind == READ ? "reads" : x->kind == WRITE ? "writes" : "updates";
}

static void tell(const access *x, uint32_t lane, diag_code code, const sim_buffer *b,
                 int64_t offset, const char *what) {
    sim_fault_at(x->w, x->c, code, UINT32_C(1) << lane, 0, "%s %u byte%s at %s %c %lld%s", verb(x),
                 x->bytes, x->bytes == 1 ? "" : "s", b->name, offset < 0 ? '-' : '+',
                 (long long)(offset < 0 ? -offset : offset), what);
}

static void tell_race(const access *x, uint32_t lane, const sim_buffer *b, size_t granule,
                      const sim_record *other, const char *did) {
    const sim_code *there = &x->w->block->kernel->code.data[other->step];
    uint32_t thread = sim_record_thread(other);
    bool elsewhere = other->block != x->w->block->number;
    const char *which = elsewhere                            ? "another block"
                        : thread / SIM_LANES != x->w->number ? "another warp"
                                                             : "another lane of the warp";
    sim_fault_at(
        x->w, x->c, E0723, UINT32_C(1) << lane, there->instr,
        "%s %s + %llu, which %s (block %u, warp %u, lane %u) %s, and nothing orders the two",
        verb(x), b->name, (unsigned long long)(granule * b->granule), which, other->block,
        thread / SIM_LANES, thread % SIM_LANES, did);
}

// Whether what was done belongs to a launch that may still run, as the lane has not waited for it.
static bool unsettled(const access *x, uint32_t lane, const sim_record *old) {
    const sim *s = x->w->block->sim;
    return !sim_lane(x->w->settled, lane) && old->launch >= s->chain && old->launch < s->launch;
}

// as: what b, whose records these are, is to the access.
static bool check_records(const access *x, uint32_t lane, const sim_buffer *b, size_t at,
                          const char *as) {
    const sim *s = x->w->block->sim;
    const sim_record *write = &b->writes[at], *read = &b->reads[at];
    bool wrote = unsettled(x, lane, write);
    if (!wrote && (x->kind == READ || !unsettled(x, lane, read))) return false;
    const sim_kernel *before = s->chained.data[(wrote ? write : read)->launch - s->chain];
    sim_fault_at(
        x->w, x->c, E0723, UINT32_C(1) << lane, 0,
        "%s %s%s + %llu, which kernel '%s' %s: it may still run, as this launch is early and has not waited",
        verb(x), as, b->name, (unsigned long long)(at * b->granule), before->func->name,
        wrote ? "writes" : "reads");
    return true;
}

static void check_launches(const access *x, uint32_t lane, const sim_buffer *b, size_t at) {
    const sim *s = x->w->block->sim;
    if (sim_lane(x->w->settled, lane) || check_records(x, lane, b, at, "")) return;
    for (uint32_t i = 0; i < b->beside.len; i++) {
        const sim_buffer *o = &s->buffers.data[b->beside.data[i]];
        const uint8_t *from = b->data + at * b->granule, *to = from + b->granule;
        if (!o->writes || to <= o->data || o->data + o->bytes <= from) continue;
        size_t first = from < o->data ? 0 : (size_t)(from - o->data) / o->granule;
        for (size_t k = first; k * o->granule < o->bytes && o->data + k * o->granule < to; k++)
            if (check_records(x, lane, o, k, "memory that it shares with ")) return;
    }
}

static void check_granule(const access *x, uint32_t lane, sim_buffer *b, size_t at,
                          const sim_record *me) {
    bool shared = b == &x->w->block->sim->buffers.data[SIM_SHARED];
    if (!shared) check_launches(x, lane, b, at);
    sim_record *write = &b->writes[at], *read = &b->reads[at];
    bool both_atomic = x->kind == ATOMIC && write->marks & SIM_IS_ATOMIC;
    if (!both_atomic && unordered(write, me, shared)) tell_race(x, lane, b, at, write, "wrote");
    else if (x->kind != READ && unordered(read, me, shared))
        tell_race(x, lane, b, at, read, "read");
    if ((x->kind == READ && x->invariant && write->launch == me->launch) ||
        (x->kind != READ && read->launch == me->launch && read->marks & SIM_IS_INVARIANT))
        sim_fault_at(x->w, x->c, E0728, UINT32_C(1) << lane, 0, "%s %s + %llu, which %s", verb(x),
                     b->name, (unsigned long long)(at * b->granule),
                     x->kind == READ ? "this launch wrote, as invariant"
                                     : "a load of this launch takes as invariant");
    if (x->kind == READ) extend(read, me, shared);
    else if (both_atomic) extend(write, me, shared);
    else *write = *me;
}

static void check_order(const access *x, uint32_t lane, sim_buffer *b, size_t offset) {
    sim *s = x->w->block->sim;
    if (x->element < b->granule) refine(s, b, x->element);
    if (!b->touched) {
        b->reads = records(s, b, b->granule);
        b->writes = records(s, b, b->granule);
        b->touched = chunks(s, b, b->granule);
    }
    const sim_record me = now(x, lane);
    for (size_t at = offset >> __builtin_ctz(b->granule); at * b->granule < offset + x->bytes;
         at++) {
        b->touched[at / CHUNK] = 1;
        check_granule(x, lane, b, at, &me);
    }
}

// Where the lane's access lies in its buffer; NULL: it may not be made, and a fault says why.
static sim_buffer *reach(const access *x, uint32_t lane, uint64_t pointer, size_t *offset) {
    sim *s = x->w->block->sim;
    sim_buffer *b = &s->buffers.data[sim_pointer_buffer(pointer)];
    int64_t at = sim_pointer_offset(pointer);
    if (at < 0 || (uint64_t)at + x->bytes > b->bytes) {
        tell(x, lane, E0720, b, at,
             arena_printf(s->memory, "; it has %zu byte%s", b->bytes, b->bytes == 1 ? "" : "s"));
        return NULL;
    }
    if (((uintptr_t)b->data + (size_t)at) & (x->align - 1)) {
        tell(x, lane, E0721, b, at,
             arena_printf(s->memory, ", which is no multiple of %u", x->align));
        return NULL;
    }
    if (x->kind != READ && b->readonly) {
        sim_fault_at(x->w, x->c, E0728, UINT32_C(1) << lane, 0,
                     "%s %s + %lld, which is readonly in this launch", verb(x), b->name,
                     (long long)at);
        return NULL;
    }
    if (b->flying && memchr(b->flying + at, 1, x->bytes)) {
        tell(x, lane, E0732, b, at, ", where a copy is under way that nobody waited for");
        return NULL;
    }
    *offset = (size_t)at;
    if (b->raced) check_order(x, lane, b, *offset);
    return b;
}

// Copies are checked for races word by word, or as a whole where they have less.
static access copied(sim_warp *w, const sim_code *c, access_kind kind, uint32_t bytes) {
    return (access){w, c, kind, bytes, bytes < 4 ? bytes : 4, bytes, false};
}

sim_buffer *sim_reach(sim_warp *w, const sim_code *c, bool writes, uint32_t bytes, uint32_t lane,
                      uint64_t pointer, size_t *offset) {
    access x = copied(w, c, writes ? WRITE : READ, bytes);
    return reach(&x, lane, pointer, offset);
}

void sim_arrive(sim_warp *w, const sim_code *c, uint32_t bytes, uint32_t lane, size_t offset) {
    access x = copied(w, c, WRITE, bytes);
    check_order(&x, lane, &w->block->sim->buffers.data[SIM_SHARED], offset);
}

// A vector's elements are checked for races one by one, as neighbours may write halves of a word.
static access access_of(sim_warp *w, const sim_code *c, simt_type t, access_kind kind) {
    const simt_instr_info *i = &c->func->instrs.data[c->instr];
    access x = {.w = w, .c = c, .kind = kind, .element = sim_element_bytes(t)};
    x.bytes = x.element * t.lanes;
    x.align = i->mem.align && kind != ATOMIC ? i->mem.align : x.bytes;
    x.invariant = i->mem.invariant;
    return x;
}

// The lanes that run and whose address is made of values.
static sim_mask addressed(sim_warp *w, const sim_code *c) {
    simt_type pointer = sim_type(c, 0);
    sim_mask bad = *sim_undefined(w, c->a, pointer) & w->mask;
    if (bad) sim_fault_at(w, c, E0722, bad, 0, "an address comes from memory that nobody wrote");
    return w->mask & ~bad;
}

static bool is_defined(const sim_buffer *b, size_t offset, uint32_t bytes) {
    return !b->defined || !memchr(b->defined + offset, 0, bytes);
}

// ---- Loads and stores ---------------------------------------------------------------------------
// Where the lanes lie in the one buffer that all of them read, each whole and aligned; NULL: they
// do not, or the buffer is one whose accesses have to be looked at one by one. Lanes that do not
// run read its start.
static const uint8_t *reach_all(const access *x, sim_mask lanes, const uint64_t *pointers,
                                uint64_t *restrict at) {
    if (!lanes) return NULL;
    uint32_t number = sim_pointer_buffer(pointers[__builtin_ctz(lanes)]);
    const sim_buffer *b = &x->w->block->sim->buffers.data[number];
    if (b->raced || b->defined || b->bytes < x->bytes) return NULL;
    uint64_t start = sim_pointer(number, 0), last = b->bytes - x->bytes, any = (uintptr_t)b->data;
    bool outside = false;
    for (uint32_t i = 0; i < SIM_LANES; i++) {
        at[i] = sim_lane(lanes, i) ? pointers[i] - start : 0;
        outside |= at[i] > last;
        any |= at[i];
    }
    return outside || any & (x->align - 1) ? NULL : b->data;
}

#define GATHER(name, T)                                                                            \
    SIM_FAST static void name(T *restrict r, const uint8_t *from, const uint64_t *restrict at,     \
                              uint32_t n) {                                                        \
        for (uint32_t k = 0; k < n; k++)                                                           \
            for (uint32_t i = 0; i < SIM_LANES; i++)                                               \
                memcpy(&r[k * SIM_LANES + i], from + at[i] + k * sizeof(T), sizeof(T));            \
    }
GATHER(gather_1, uint8_t)
GATHER(gather_2, uint16_t)
GATHER(gather_4, uint32_t)
GATHER(gather_8, uint64_t)

static void gather(uint32_t bytes, void *r, const uint8_t *from, const uint64_t *at, uint32_t n) {
    if (bytes == 1) gather_1(r, from, at, n);
    else if (bytes == 2) gather_2(r, from, at, n);
    else if (bytes == 4) gather_4(r, from, at, n);
    else gather_8(r, from, at, n);
}

// The first n elements of the lane's vector.
static void load_lane(const access *x, uint32_t i, uint32_t n) {
    const sim_code *c = x->c;
    uint8_t *r = sim_at(x->w, c->r);
    uint32_t *undefined = sim_undefined(x->w, c->r, c->to);
    size_t at;
    const sim_buffer *b = reach(x, i, ((const uint64_t *)sim_at(x->w, c->a))[i], &at);
    for (uint32_t k = 0; b && k < n; k++, at += x->element) {
        memcpy(r + (k * SIM_LANES + i) * x->element, b->data + at, x->element);
        if (!is_defined(b, at, x->element)) undefined[k] |= UINT32_C(1) << i;
    }
}

static void load(sim_warp *w, const sim_code *c) {
    access x = access_of(w, c, c->to, READ);
    const uint64_t *pointers = sim_at(w, c->a);
    uint8_t *r = sim_at(w, c->r);
    uint32_t *undefined = sim_undefined(w, c->r, c->to);
    memset(undefined, 0, 4u * c->to.lanes);
    sim_mask lanes = addressed(w, c);
    uint64_t offsets[SIM_LANES];
    const uint8_t *from = reach_all(&x, lanes, pointers, offsets);
    if (from) {
        gather(x.element, r, from, offsets, c->to.lanes);
        return;
    }
    memset(r, 0, sim_value_bytes(c->to));   // what a lane that faults gets
    for (uint32_t i = 0; i < SIM_LANES; i++)
        if (sim_lane(lanes, i)) load_lane(&x, i, c->to.lanes);
}

// The first n elements of the lane's vector.
static void store_lane(const access *x, uint32_t i, uint32_t n) {
    sim_warp *w = x->w;
    const sim_code *c = x->c;
    const uint8_t *value = sim_at(w, c->b);
    const uint32_t *undefined = sim_undefined(w, c->b, c->from);
    size_t at;
    sim_buffer *b = reach(x, i, ((const uint64_t *)sim_at(w, c->a))[i], &at);
    for (uint32_t k = 0; b && k < n; k++, at += x->element) {
        bool bad = sim_lane(undefined[k], i);
        memcpy(b->data + at, value + (k * SIM_LANES + i) * x->element, x->element);
        if (b->defined) memset(b->defined + at, !bad, x->element);
        if (b->unfenced) sim_wrote_shared(w, at, x->element);
        if (bad && b->result)
            tell(x, i, E0722, b, (int64_t)at, ", a value from memory that nobody wrote");
    }
}

static void store(sim_warp *w, const sim_code *c) {
    const access x = access_of(w, c, c->from, WRITE);
    sim_mask lanes = addressed(w, c);
    for (uint32_t i = 0; i < SIM_LANES; i++)
        if (sim_lane(lanes, i)) store_lane(&x, i, c->from.lanes);
}

// ---- Some elements ------------------------------------------------------------------------------
// How many the lane takes; `at`: where the numbers are.
static uint32_t number_of(sim_warp *w, sim_place at, uint32_t lane, uint32_t most) {
    int32_t n = ((const int32_t *)sim_at(w, at))[lane];
    return n < 0 ? 0 : (uint32_t)n < most ? (uint32_t)n : most;
}

// The lanes whose address and number are made of values.
static sim_mask numbered(sim_warp *w, const sim_code *c, sim_place at) {
    sim_mask lanes = addressed(w, c), bad = *sim_undefined(w, at, SIMT_T(I32)) & lanes;
    if (bad)
        sim_fault_at(w, c, E0722, bad, 0,
                     "a number of elements comes from memory that nobody wrote");
    return lanes & ~bad;
}

static access some_of(sim_warp *w, const sim_code *c, simt_type t, access_kind kind) {
    access x = access_of(w, c, t, kind);
    x.align = x.element;
    return x;
}

static void load_some(sim_warp *w, const sim_code *c) {
    access x = some_of(w, c, c->to, READ);
    memset(sim_undefined(w, c->r, c->to), 0, 4u * c->to.lanes);
    memset(sim_at(w, c->r), 0, sim_value_bytes(c->to));
    sim_mask lanes = numbered(w, c, c->b);
    for (uint32_t i = 0; i < SIM_LANES; i++) {
        uint32_t n = sim_lane(lanes, i) ? number_of(w, c->b, i, c->to.lanes) : 0;
        x.bytes = n * x.element;
        if (n) load_lane(&x, i, n);
    }
}

static void store_some(sim_warp *w, const sim_code *c) {
    access x = some_of(w, c, c->from, WRITE);
    sim_mask lanes = numbered(w, c, c->c);
    for (uint32_t i = 0; i < SIM_LANES; i++) {
        uint32_t n = sim_lane(lanes, i) ? number_of(w, c->c, i, c->from.lanes) : 0;
        x.bytes = n * x.element;
        if (n) store_lane(&x, i, n);
    }
}

// ---- Atomics ------------------------------------------------------------------------------------
// `loaded` and `given` are the bits of two numbers; so is what it gives.
static uint64_t update_float(simt_element e, simt_atomic op, uint64_t loaded, uint64_t given) {
    if (e == SIMT_F16)
        return sim_narrow_f16(sim_widen_f16((sim_f16){(uint16_t)loaded}) +
                              sim_widen_f16((sim_f16){(uint16_t)given}))
            .bits;
    if (e == SIMT_BF16)
        return sim_narrow_bf16(sim_widen_bf16((sim_bf16){(uint16_t)loaded}) +
                               sim_widen_bf16((sim_bf16){(uint16_t)given}))
            .bits;
    if (e == SIMT_F32) {
        float a = sim_float32((uint32_t)loaded), b = sim_float32((uint32_t)given);
        return sim_bits32(op == SIMT_ATOMIC_ADD   ? a + b
                          : op == SIMT_ATOMIC_MIN ? sim_min_f32(a, b)
                                                  : sim_max_f32(a, b));
    }
    double a = sim_float64(loaded), b = sim_float64(given);
    return sim_bits64(op == SIMT_ATOMIC_ADD   ? a + b
                      : op == SIMT_ATOMIC_MIN ? sim_min_f64(a, b)
                                              : sim_max_f64(a, b));
}

static uint64_t update(simt_element e, simt_atomic op, uint64_t loaded, uint64_t given) {
    if (op == SIMT_ATOMIC_EXCH) return given;
    if (e >= SIMT_F16 && e <= SIMT_F64) return update_float(e, op, loaded, given);
    int64_t a = e == SIMT_I32 ? (int32_t)loaded : (int64_t)loaded,
            b = e == SIMT_I32 ? (int32_t)given : (int64_t)given;
    switch (op) {
    case SIMT_ATOMIC_ADD: return loaded + given;
    case SIMT_ATOMIC_MIN: return a < b ? loaded : given;
    case SIMT_ATOMIC_MAX: return a > b ? loaded : given;
    case SIMT_ATOMIC_AND: return loaded & given;
    case SIMT_ATOMIC_OR: return loaded | given;
    case SIMT_ATOMIC_EXCH:
    case SIMT_ATOMIC_COUNT: break;
    }
    ICE("an atomic that does not exist");
}

static uint64_t bits_at(const uint8_t *at, uint32_t bytes) {
    uint64_t bits = 0;
    memcpy(&bits, at, bytes);
    return bits;
}

// What the operation makes of a number in memory, for lane i.
static uint64_t combined(sim_warp *w, const sim_code *c, uint32_t i, uint32_t bytes, uint64_t old) {
    const simt_instr_info *instr = &c->func->instrs.data[c->instr];
    uint64_t given = bits_at((uint8_t *)sim_at(w, c->b) + i * bytes, bytes);
    if (instr->op != SIMT_ATOM_CAS)
        return update((simt_element)c->from.element, (simt_atomic)instr->aux, old, given);
    return old == given ? bits_at((uint8_t *)sim_at(w, c->c) + i * bytes, bytes) : old;
}

static sim_mask undefined_operands(sim_warp *w, const sim_code *c) {
    bool three = c->func->instrs.data[c->instr].op == SIMT_ATOM_CAS;
    return *sim_undefined(w, c->b, c->from) | (three ? *sim_undefined(w, c->c, c->from) : 0);
}

// The hardware takes the lanes in any order.
static uint32_t nth_lane(sim *s, uint32_t first, uint32_t n) {
    return s->order == SIM_REVERSE ? SIM_LANES - 1 - n : (first + n) % SIM_LANES;
}

static void atomic(sim_warp *w, const sim_code *c) {
    access x = access_of(w, c, c->from, ATOMIC);
    const simt_instr_info *instr = &c->func->instrs.data[c->instr];
    const uint64_t *pointers = sim_at(w, c->a);
    bool exchange = instr->op != SIMT_ATOM_CAS && instr->aux == SIMT_ATOMIC_EXCH;
    sim_mask lanes = addressed(w, c), bad = undefined_operands(w, c) & lanes;
    if (bad)
        sim_fault_at(w, c, E0722, bad, 0, "an atomic takes a value from memory that nobody wrote");
    if (instr->nresults) *sim_undefined(w, c->r, c->to) = 0;
    sim *s = w->block->sim;
    for (uint32_t n = 0, first = s->order == SIM_RANDOM ? (uint32_t)sim_random(s) : 0;
         n < SIM_LANES; n++) {
        uint32_t i = nth_lane(s, first, n);
        size_t at;
        sim_buffer *b = sim_lane(lanes, i) ? reach(&x, i, pointers[i], &at) : NULL;
        if (!b) continue;
        if (!exchange && !is_defined(b, at, x.bytes))
            tell(&x, i, E0722, b, (int64_t)at, ", which nobody wrote");
        uint64_t old = bits_at(b->data + at, x.bytes), next = combined(w, c, i, x.bytes, old);
        memcpy(b->data + at, &next, x.bytes);
        if (b->defined) memset(b->defined + at, 1, x.bytes);
        if (instr->nresults) memcpy((uint8_t *)sim_at(w, c->r) + i * x.bytes, &old, x.bytes);
    }
}

static void shared_address(sim_warp *w, const sim_code *c) {
    uint64_t *r = sim_at(w, c->r);
    for (uint32_t i = 0; i < SIM_LANES; i++) r[i] = sim_pointer(SIM_SHARED, c->imm);
    *sim_undefined(w, c->r, c->to) = 0;
}

sim_step sim_memory_step(simt_op op) {
    switch ((int)op) {
    case SIMT_LD: return load;
    case SIMT_ST: return store;
    case SIMT_LD_SOME: return load_some;
    case SIMT_ST_SOME: return store_some;
    case SIMT_ATOM:
    case SIMT_ATOM_CAS:
    case SIMT_RED: return atomic;
    case SIMT_SHARED: return shared_address;
    }
    return NULL;
}

// ---- What a kernel does -------------------------------------------------------------------------
bool sim_overlaps(const simt_func *f) {
    for (uint32_t k = 1; k < f->instrs.len; k++)
        if (f->instrs.data[k].op == SIMT_LAUNCH_NEXT || f->instrs.data[k].op == SIMT_GRID_WAIT)
            return true;
    return false;
}

const bool *sim_written_params(arena *a, const simt_func *f) {
    bool *written = ARENA_ARRAY(a, bool, f->params.len + 1);
    const uint8_t *accesses = simt_accesses_of(a, f);
    for (uint32_t p = 0; p < f->params.len; p++) written[p] = accesses[p] & SIMT_PARAM_WRITTEN;
    return written;
}
