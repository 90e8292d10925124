// The simulated machine: frames, memory with its shadows, warps. A kernel is translated once into
// steps, each a function with the places of its arguments in the frame of a warp; a warp runs its
// steps until it waits at a barrier, ends, or its turn is over.
#ifndef GNNC_SIM_MACHINE_H
#define GNNC_SIM_MACHINE_H

#include "../sim.h"

#include <string.h>

enum {
    SIM_LANES = 32,
    SIM_MATRIX = 8,   // rows and columns that LDMATRIX has of one
    SIM_MAX_BLOCK = 1024,
    SIM_SHARED = 1
};   // SIM_SHARED: the number of shared memory among buffers

// ---- Frames -------------------------------------------------------------------------------------
// A value of n elements holds 32 lanes of element 0, then 32 of element 1, …; a pred one word of 32
// bits an element. Behind it stand n words: the lanes whose element comes from memory that nobody
// wrote.
typedef uint32_t sim_place;   // bytes from the start of a frame
typedef uint32_t sim_mask;    // a bit a lane

typedef struct sim_warp sim_warp;
typedef struct sim_code sim_code;
typedef void (*sim_step)(sim_warp *w, const sim_code *c);
struct sim_code {
    sim_step step;
    sim_place r, a, b, c;   // result and arguments
    uint32_t n;             // lanes of the result: 32 × elements
    uint32_t target;        // control: where it goes
    simt_type from, to;     // of the first argument (ST, ATOM: of the value), and of the result
    int64_t imm;
    const simt_func *func;
    simt_instr instr;
    const sim_place *places;   // AGAIN, MMA_GROUP: of the function's values
};

typedef struct sim_counted_step sim_counted_step;
typedef struct {
    const simt_func *func;
    VEC(sim_code) code;   // the kernel's own first
    // bytes of a frame that hold parameters and constants, which no step writes
    sim_place constants;
    sim_place frame;
    uint8_t *image;            // of those bytes
    const sim_place *params;   // of the kernel's values, its parameters among them
    const bool *written;       // by parameter: whether a store may reach it
    bool overlaps;             // with the launch before or after it
    bool groups;               // has MMA_GROUP
    // by step, which counts and then runs the one kept here; NULL: not counted yet
    sim_counted_step *counted;
} sim_kernel;

// ---- Memory -------------------------------------------------------------------------------------
// Who did an access last, for races: happens-before by epochs. Barriers order all threads of a
// block, warp.sync those of a warp; nothing orders blocks of a launch.
typedef enum { SIM_ONE, SIM_OF_WARP, SIM_OF_BLOCK, SIM_OF_GRID } sim_who;
typedef struct {
    uint32_t block, barriers, syncs;   // epochs: how many the block and the warp had passed
    uint32_t step;                     // what did it
    uint16_t launch;                   // 0: nobody
    uint16_t marks;   // a thread, a sim_who and SIM_IS_…: no bit fields, which are slow to copy
} sim_record;
enum { SIM_THREAD_BITS = 10, SIM_IS_ATOMIC = 1 << 12, SIM_IS_INVARIANT = 1 << 13 };
static inline uint32_t sim_record_thread(const sim_record *r) {
    return r->marks & ((1 << SIM_THREAD_BITS) - 1);
}
static inline sim_who sim_record_who(const sim_record *r) {
    return (sim_who)(r->marks >> SIM_THREAD_BITS & 3);
}

typedef struct {
    const char *name;
    uint8_t *data;
    size_t bytes, room;      // room: bytes that the shadows are for
    bool result, readonly;   // readonly: a parameter of this launch says so
    bool raced;              // this launch may write it, so reads are recorded
    uint8_t *defined;        // a byte each; NULL: all of it
    uint8_t *flying;         // shared memory: a byte each, copies that are under way there
    uint32_t *writers;       // shared memory, a number a word: who wrote it, see sim_wrote_shared
    uint32_t *unfenced;      // those, in kernels with MMA_GROUP; else NULL
    bool scratch;            // of the workspace, where others may lie at other times
    VEC(uint32_t) beside;    // buffers that share some of its bytes
    uint32_t granule;        // bytes of a record, a power of two: 4, or of the smallest access
    sim_record *reads, *writes;
    uint8_t *touched;   // a byte for so many records: whether one is in use
} sim_buffer;

typedef struct {
    diag_code code;
    const simt_func *func;
    simt_instr instr, other;   // other: of a race; 0: none
    const char *text;
    uint64_t lanes;   // that have it
} sim_fault;

typedef struct {
    void *at;
    size_t bytes;
} sim_mapping;
typedef struct sim_counts sim_counts;   // of a kernel
typedef struct sim_clock sim_clock;     // of a warp
struct sim {
    arena *arena;    // kernels
    arena *memory;   // buffers and their shadows, until sim_begin
    diag_set *ds;
    const simt_module *module;
    sim_order order;
    uint64_t random;
    uint16_t launch;
    // the last launch in turn: those from there on may run at once
    uint16_t chain;
    VEC(const sim_kernel *) chained;   // from that on
    VEC(sim_kernel *) kernels;
    VEC(sim_mapping) mapped;   // shadows too large for an arena
    VEC(sim_buffer) buffers;   // [0] unused, [SIM_SHARED]
    VEC(sim_fault) faults;
    bool counting;
    VEC(sim_counts *) counts;
    const sim_sampling *sampling;   // NULL: all blocks run
};

// ---- Threads ------------------------------------------------------------------------------------
typedef enum { SIM_RUNS, SIM_WAITS, SIM_ENDED } sim_state;
typedef struct {   // a lane's copy into shared memory, which is there when its group was waited for
    size_t at;
    uint64_t lane : 5, bytes : 5, defined : 16;   // defined: a bit a byte
    uint32_t group;
    uint8_t data[16];
} sim_flight;
typedef struct {
    sim *sim;
    arena *arena;   // of the launch
    const sim_kernel *kernel;
    uint32_t number, blocks;
    uint32_t nwarps, barriers;
    bool early;     // the launch before may still run
    bool stopped;   // by a trap
    sim_warp *warps;
    sim_counts *counts;   // NULL: nothing is counted
    double weight;        // how many blocks it stands for
} sim_block;
struct sim_warp {
    uint8_t *frame;
    sim_block *block;
    const sim_code *code;
    uint32_t pc, number;
    sim_mask mask, full;      // lanes that run, lanes there are
    uint32_t syncs, fences;   // FENCE_MMA that the warp has passed
    sim_state state;
    bool any, unknown;   // at a BARRIER_ANY: it holds for a lane; for some it is not known
    // lanes for which the launch before has ended: they waited, or the kernel was launched in turn
    sim_mask settled;
    VEC(sim_flight) flights;
    uint32_t groups[SIM_LANES];   // of copies, that a lane has ended
    sim_clock *clock;             // NULL: nobody asks for times
};

static inline void *sim_at(const sim_warp *w, sim_place p) { return w->frame + p; }
static inline bool sim_lane(sim_mask m, uint32_t lane) { return m >> lane & 1; }
// Those that say where LDMATRIX finds what is of type t: eight for each matrix, of which a lane
// gets a pair.
static inline sim_mask sim_matrix_lanes(simt_type t) {
    return (sim_mask)((UINT64_C(1) << SIM_MATRIX * t.lanes / 2) - 1);
}
static inline uint32_t sim_element_bytes(simt_type t) {
    return t.element == SIMT_PRED ? 1 : simt_element_bits(t.element) / 8;
}
static inline uint32_t sim_value_bytes(simt_type t) {   // without the words behind
    return t.element == SIMT_PRED ? 4u * t.lanes : sim_element_bytes(t) * SIM_LANES * t.lanes;
}
static inline uint32_t *sim_undefined(const sim_warp *w, sim_place p, simt_type t) {
    return (uint32_t *)(void *)(w->frame + p + sim_value_bytes(t));
}
static inline simt_type sim_type(const sim_code *c, uint32_t arg) {
    return simt_typeof(c->func, c->func->instrs.data[c->instr].args[arg]);
}
uint64_t sim_random(sim *s);
void *sim_shadow(sim *s, size_t bytes);   // zeroed, until sim_begin
void sim_unmap_shadows(sim *s);

// ---- Pointers -----------------------------------------------------------------------------------
// Number of the buffer it was derived from, and the offset there, so that an access beyond it is
// seen wherever it lands.
enum { SIM_OFFSET_BITS = 48 };
#define SIM_OFFSET_BIAS (INT64_C(1) << (SIM_OFFSET_BITS - 1))
static inline uint64_t sim_pointer(uint32_t buffer, int64_t offset) {
    return (uint64_t)buffer << SIM_OFFSET_BITS | (uint64_t)(offset + SIM_OFFSET_BIAS);
}
static inline uint32_t sim_pointer_buffer(uint64_t p) { return (uint32_t)(p >> SIM_OFFSET_BITS); }
static inline int64_t sim_pointer_offset(uint64_t p) {
    return (int64_t)(p & ((UINT64_C(1) << SIM_OFFSET_BITS) - 1)) - SIM_OFFSET_BIAS;
}

#endif
