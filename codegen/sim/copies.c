// Copies from global to shared memory that go on while the thread does. What they bring is put in
// its place when the thread has waited for their group, as late as a GPU may; until then nobody may
// touch the place.
#include "steps.h"

static void fly(sim_warp *w, const sim_code *c, uint32_t lane, const sim_buffer *from, size_t at,
                size_t to) {
    sim_buffer *shared = &w->block->sim->buffers.data[SIM_SHARED];
    sim_flight f = {
        .at = to, .lane = lane & 31, .bytes = (uint64_t)c->imm & 31, .group = w->groups[lane]};
    uint32_t defined = 0;
    for (uint32_t i = 0; i < (uint32_t)c->imm; i++) {
        if (from) f.data[i] = from->data[at + i];
        defined |= (uint32_t)(!from || !from->defined || from->defined[at + i]) << i;
    }
    f.defined = defined & 0xffff;
    memset(shared->flying + to, 1, (size_t)c->imm);
    VEC_PUSH(w->block->arena, &w->flights, f);
}

static void copy(sim_warp *w, const sim_code *c) {
    const uint64_t *to = sim_at(w, c->a), *from = sim_at(w, c->b);
    uint32_t bytes = (uint32_t)c->imm, there = *(const uint32_t *)sim_at(w, c->c);
    sim_mask bad = (*sim_undefined(w, c->a, SIMT_T(PTR_SHARED)) |
                    *sim_undefined(w, c->b, SIMT_T(PTR_GLOBAL)) |
                    *sim_undefined(w, c->c, SIMT_T(PRED))) &
                   w->mask;
    if (bad) sim_fault_at(w, c, E0722, bad, 0, "an address comes from memory that nobody wrote");
    for (uint32_t i = 0; i < SIM_LANES; i++) {
        size_t at = 0, place;
        const sim_buffer *b = NULL;
        if (!sim_lane(w->mask & ~bad, i) || !sim_reach(w, c, true, bytes, i, to[i], &place))
            continue;
        if (sim_lane(there, i) && !(b = sim_reach(w, c, false, bytes, i, from[i], &at))) continue;
        fly(w, c, i, b, at, place);
    }
}

static void end(sim_warp *w, const sim_code *c) {
    (void)c;
    for (uint32_t i = 0; i < SIM_LANES; i++) w->groups[i] += sim_lane(w->mask, i);
}

static void land(sim_warp *w, const sim_code *c, const sim_flight *f) {
    sim_buffer *shared = &w->block->sim->buffers.data[SIM_SHARED];
    memset(shared->flying + f->at, 0, f->bytes);
    sim_arrive(w, c, f->bytes, f->lane, f->at);
    memcpy(shared->data + f->at, f->data, f->bytes);
    sim_wrote_shared(w, f->at, f->bytes);
    for (uint32_t i = 0; i < f->bytes; i++) shared->defined[f->at + i] = f->defined >> i & 1;
}

// A group is there when at most so many later ones are under way.
static void wait(sim_warp *w, const sim_code *c) {
    uint32_t left = 0;
    for (uint32_t k = 0; k < w->flights.len; k++) {
        const sim_flight f = w->flights.data[k];
        uint32_t ended = w->groups[f.lane];
        bool there = f.group < ended && ended - f.group > (uint32_t)c->imm;
        if (there && sim_lane(w->mask, f.lane)) land(w, c, &f);
        else w->flights.data[left++] = f;
    }
    w->flights.len = left;
}

sim_step sim_copy_step(simt_op op) {
    switch ((int)op) {
    case SIMT_COPY: return copy;
    case SIMT_COPY_END: return end;
    case SIMT_COPY_WAIT: return wait;
    }
    return NULL;
}
