// Structured control over masks: the lanes that enter a region run there, and all that entered meet
// at its end.
#include "steps.h"

// Lanes whose condition holds; one that comes from memory that nobody wrote is a fault and holds
// nowhere.
static sim_mask holds(sim_warp *w, const sim_code *c, const char *what) {
    sim_mask bad = *sim_undefined(w, c->a, SIMT_T(PRED)) & w->mask;
    if (bad) sim_fault_at(w, c, E0722, bad, 0, "%s comes from memory that nobody wrote", what);
    return *(uint32_t *)sim_at(w, c->a) & w->mask & ~bad;
}

static void copy(sim_warp *w, const sim_code *c) { memcpy(sim_at(w, c->r), sim_at(w, c->a), c->n); }

// ---- Blending: only the lanes that run take the value -------------------------------------------
static void blend_words(uint32_t *r, const uint32_t *x, uint32_t n, sim_mask m) {
    for (uint32_t k = 0; k < n; k++) r[k] = (r[k] & ~m) | (x[k] & m);
}
#define BLEND(name, T)                                                                             \
    static void name(sim_warp *w, const sim_code *c) {                                             \
        const T *restrict x = sim_at(w, c->a);                                                     \
        T *restrict r = sim_at(w, c->r);                                                           \
        for (uint32_t i = 0; i < c->n; i++) r[i] = sim_lane(w->mask, i % SIM_LANES) ? x[i] : r[i]; \
    }
BLEND(blend_1, uint8_t)
BLEND(blend_2, uint16_t)
BLEND(blend_4, uint32_t)
BLEND(blend_8, uint64_t)
static void blend(sim_warp *w, const sim_code *c) {
    uint32_t bytes = sim_element_bytes(c->to), lanes = c->to.lanes;
    if (c->to.element == SIMT_PRED) blend_words(sim_at(w, c->r), sim_at(w, c->a), lanes, w->mask);
    else (bytes == 1 ? blend_1 : bytes == 2 ? blend_2 : bytes == 4 ? blend_4 : blend_8)(w, c);
    blend_words(sim_undefined(w, c->r, c->to), sim_undefined(w, c->a, c->to), lanes, w->mask);
}

// ---- If -----------------------------------------------------------------------------------------
typedef struct {
    sim_mask before, taken;   // taken: those of `then`, those that stay in a loop
    uint64_t rounds, same;    // WHILE
} saved;

static void if_then(sim_warp *w, const sim_code *c) {
    saved *s = sim_at(w, c->r);
    s->before = w->mask;
    w->mask = s->taken = holds(w, c, "a branch");
    if (!w->mask) w->pc = c->target;
}

static void if_else(sim_warp *w, const sim_code *c) {
    const saved *s = sim_at(w, c->r);
    w->mask = s->before & ~s->taken;
    if (!w->mask) w->pc = c->target;
}

static void join(sim_warp *w, const sim_code *c) {
    w->mask = ((const saved *)sim_at(w, c->r))->before;
}

// ---- For ----------------------------------------------------------------------------------------
static int64_t number_at(const sim_warp *w, sim_place p, simt_type t, uint32_t lane) {
    return t.element == SIMT_I64 ? ((const int64_t *)sim_at(w, p))[lane]
                                 : ((const int32_t *)sim_at(w, p))[lane];
}

static void enter_for(sim_warp *w, const sim_code *c) {
    saved *s = sim_at(w, c->r);
    sim_mask m = 0;
    s->before = w->mask;
    sim_mask bad = (*sim_undefined(w, c->a, c->from) | *sim_undefined(w, c->b, c->from) |
                    *sim_undefined(w, c->c, c->from)) &
                   w->mask;
    if (bad)
        sim_fault_at(w, c, E0722, bad, 0, "a loop's bound comes from memory that nobody wrote");
    for (uint32_t i = 0; i < SIM_LANES; i++)
        m |= (uint32_t)(number_at(w, c->a, c->from, i) < number_at(w, c->b, c->from, i)) << i;
    w->mask &= m & ~bad;
    if (!w->mask) w->pc = c->target;
}

// The next index is below hi: without a sum that might wrap, as the generated code has it.
#define NEXT(name, T, least)                                                                       \
    static sim_mask name(const sim_warp *w, const sim_code *c) {                                   \
        T *index = sim_at(w, c->a);                                                                \
        const T *hi = sim_at(w, c->b), *step = sim_at(w, c->c);                                    \
        sim_mask m = 0;                                                                            \
        for (uint32_t i = 0; i < SIM_LANES; i++) {                                                 \
            T last;                                                                                \
            if (__builtin_sub_overflow(hi[i], step[i], &last))                                     \
                last = step[i] > 0 ? least : -(least + 1);                                         \
            m |= (uint32_t)(index[i] < last) << i;                                                 \
            __builtin_add_overflow(index[i], step[i], &index[i]);                                  \
        }                                                                                          \
        return m;                                                                                  \
    }
NEXT(next_i32, int32_t, INT32_MIN)
NEXT(next_i64, int64_t, INT64_MIN)

static void next(sim_warp *w, const sim_code *c) {
    sim_mask m = w->mask & (c->from.element == SIMT_I64 ? next_i64 : next_i32)(w, c);
    w->mask = m;
    if (m) w->pc = c->target;
}

// ---- While --------------------------------------------------------------------------------------
static void enter_while(sim_warp *w, const sim_code *c) {
    *(saved *)sim_at(w, c->r) = (saved){.before = w->mask};
}

// The lanes that leave run on to take their results.
static void leave(sim_warp *w, const sim_code *c) {
    saved *s = sim_at(w, c->r);
    s->taken = holds(w, c, "a loop's condition");
    w->mask &= ~s->taken;
    if (!w->mask) w->pc = c->target;
}

static void stay(sim_warp *w, const sim_code *c) {
    w->mask = ((const saved *)sim_at(w, c->r))->taken;
    if (!w->mask) w->pc = c->target;
}

// Whether the round gave back in all lanes what went into it.
static bool unchanged(const sim_warp *w, const sim_code *c) {
    const simt_instr_info *i = &c->func->instrs.data[c->instr];
    const simt_value *in = c->func->regions.data[i->regions[1]].params.data;
    const simt_value *out = c->func->regions.data[i->regions[0]].params.data;
    for (uint32_t k = 0; k < i->nresults; k++)
        if (memcmp(sim_at(w, c->places[in[k]]), sim_at(w, c->places[out[k]]),
                   sim_value_bytes(simt_typeof(c->func, in[k]))))
            return false;
    return true;
}

// A loop that waits for another warp goes round unchanged for a while, and then no more.
static void again(sim_warp *w, const sim_code *c) {
    enum { MANY = 1 << 20, SAME = 1 << 18 };
    saved *s = sim_at(w, c->r);
    w->pc = c->target;
    if (++s->rounds < MANY) return;
    s->same = unchanged(w, c) ? s->same + 1 : 0;
    if (s->same < SAME) return;
    sim_fault_at(w, c, E0729, w->mask, 0,
                 "the loop has gone round %llu times, the last %d with the same values",
                 (unsigned long long)s->rounds, SAME);
    w->block->stopped = true;
    w->state = SIM_ENDED;
}

// ---- Calls --------------------------------------------------------------------------------------
static void call(sim_warp *w, const sim_code *c) {
    *(uint32_t *)sim_at(w, c->a) = w->pc;
    w->pc = c->target;
}

static void give_back(sim_warp *w, const sim_code *c) { w->pc = *(uint32_t *)sim_at(w, c->a); }

static void finish(sim_warp *w, const sim_code *c) {
    (void)c;
    w->state = SIM_ENDED;
}

sim_step sim_control_step(sim_control k) {
    static const sim_step steps[SIM_CONTROLS] = {
        [SIM_COPY] = copy,        [SIM_BLEND] = blend,       [SIM_IF] = if_then,
        [SIM_ELSE] = if_else,     [SIM_END] = join,          [SIM_FOR] = enter_for,
        [SIM_NEXT] = next,        [SIM_WHILE] = enter_while, [SIM_LEAVE] = leave,
        [SIM_STAY] = stay,        [SIM_AGAIN] = again,       [SIM_CALL] = call,
        [SIM_RETURN] = give_back, [SIM_FINISH] = finish};
    return steps[k];
}

bool sim_is_control(const sim_code *c) {
    for (sim_control k = 0; k < SIM_CONTROLS; k++)
        if (c->step == sim_control_step(k)) return true;
    return false;
}
