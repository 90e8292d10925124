// Modules of SIMT IR: functions, regions, instructions, values.
#ifndef GNNC_SIMT_FUNC_H
#define GNNC_SIMT_FUNC_H

#include "simt_mma.h"

typedef uint32_t simt_value;    // 0: none
typedef uint32_t simt_instr;    // 0: none
typedef uint32_t simt_region;   // 0: none

typedef struct {
    uint16_t align;   // bytes; 0: the size of the whole access
    uint16_t scale;   // ADDR: bytes per index step; MMA_ROWS: rows of a panel
    uint8_t cache;    // simt_cache
    bool invariant;   // LD: no store of this launch reaches it
    // LD: is asked for where it stands: long before its use, where an assembler would put it off,
    // or in each round of a loop that reads it alike, before which it would take registers
    bool pinned;
} simt_mem;

typedef struct {
    uint16_t op;   // simt_op
    uint16_t nargs, nresults, nregions;
    uint32_t aux;   // predicate, sreg, atomic, scope
    simt_value *args, *results;
    simt_region *regions;
    union {
        int64_t i;
        double f;   // CONST of a float type
    } imm;
    simt_mem mem;
    span at;   // the .gnn text it comes from; reaches PTX line info
} simt_instr_info;

// Of an operation of four warps, the arguments before C: where B is, and A; of numbers taken apart,
// first what they are to the nearest, then what that leaves.
// numbers that one is taken apart in
static inline uint32_t simt_group_planes(const simt_instr_info *i) {
    return simt_mma_splits((simt_mma)i->aux) ? 2 : 1;
}
static inline uint32_t simt_group_factors(const simt_instr_info *i) {
    return simt_group_planes(i) * (i->op == SIMT_MMA_ROWS_BOTH ? 2 : 1 + (uint32_t)i->imm.i);
}
static inline uint32_t simt_group_pieces(const simt_instr_info *i) {
    return i->nresults / simt_group_planes(i);
}
static inline uint32_t simt_group_pointers(const simt_instr_info *i) {
    return simt_group_planes(i) * (i->op == SIMT_MMA_ROWS_BOTH ? 2 : 1);
}

typedef struct {
    simt_type type;
    simt_instr def;       // the instruction it is a result of; 0 for parameters
    simt_region region;   // for a region's parameter; 0 with def 0: a parameter of the function
    uint16_t index;       // which result or parameter
    // for the text form; unique in its function, may be NULL (then printed as %N)
    const char *name;
} simt_value_info;

typedef struct {
    VEC(simt_value) params;
    VEC(simt_instr) instrs;   // the last one is the terminator
} simt_region_info;

enum { SIMT_READONLY = 1, SIMT_NOALIAS = 2 };   // of pointer parameters, for the whole launch
typedef struct {
    const char *name;
    simt_value value;
    uint32_t flags;
} simt_param_info;

enum { SIMT_MOST_THREADS = 2048 };   // that a multiprocessor of any GPU so far has room for
typedef struct simt_module simt_module;
typedef struct {
    simt_module *module;
    const char *name;
    bool kernel;
    // kernels: threads of a block on a GPU (the host runs blocks of one thread)
    uint32_t block;
    uint32_t shared_bytes;   // kernels: shared memory of a block
    // kernels: threads a GPU's multiprocessor should have room for; 0: not said
    uint32_t occupancy;
    bool fits;   // or for fewer, where it needs more registers than that leaves
    VEC(simt_param_info) params;
    VEC(simt_type) results;          // functions
    VEC(simt_value_info) values;     // [0] unused
    VEC(simt_instr_info) instrs;     // [0] unused
    VEC(simt_region_info) regions;   // [0] unused; [1] the body
    // the builder's index of the constants at the start of the body
    struct simt_constants *constants;
    span at;
} simt_func;

struct simt_module {
    arena *arena;
    const char *name;
    // in order of definition; CALL's handle is the position here. No function reaches itself
    VEC(simt_func *) funcs;
    struct {   // room that a function has given back, for the next one
        VEC(simt_value_info) values;
        VEC(simt_instr_info) instrs;
    } spare;
};

simt_module *simt_module_new(arena *a, const char *name);
simt_func *simt_kernel_new(simt_module *m, const char *name, uint32_t block);
simt_func *simt_func_find(const simt_module *m, const char *name);
// It is built: what it has is as large as it needs, and the room it was built in is for the next
// one. kept: it stays in the module.
void simt_func_settle(simt_func *f, bool kept);
simt_value simt_param(simt_func *f, const char *name, simt_type type, uint32_t flags);
#define SIMT_PTR SIMT_T(PTR_GLOBAL)

// A function of the scalar maths library (math.simt): "exp", "log", "pow", "tanh", "sin", "cos",
// "erf" … for SIMT_F32 or SIMT_F64, copied with its callees into m at first use. NULL if there is
// none of that name.
simt_func *simt_math(simt_module *m, const char *name, simt_element e);

#endif
