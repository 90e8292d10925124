// An op in tensor IR: spaces, values, reducers, stages. tensor.h says what it means.
#ifndef GNNC_TENSOR_OP_H
#define GNNC_TENSOR_OP_H

#include "program.h"
#include "tensor_expr.h"
#include "tensor_id.h"
#include "tensor_mark.h"

// ---- Spaces, values, variables ------------------------------------------------------------------
typedef struct {
    const char *name;     // unique
    space_kind kind;      // FREE, CONST, EXPR, COUNT_OF (classes)
    int64_t size;         // CONST
    tensor_expr expr;     // EXPR: i64 over SIZE and CONST
    tensor_val classes;   // COUNT_OF
    span at;
} tensor_space_info;

typedef enum {
    VAL_MAP,      // parameter: an index array (facts PREFIX: none, never loaded: see INDEX)
    VAL_TENSOR,   // parameter in memory
    VAL_SCALAR,   // parameter by value
    VAL_RESULT,   // written by stages; of storage type
    VAL_STAGE,    // written by stages; of expression type
    // a map from its domain to the number of the tuple (keys[0](e) … keys[k](e)) among the distinct
    // ones in lexicographic order; none where a key is none
    VAL_CLASSES,
    // an array of indices the runtime prepares, such as offsets.dst; in the op of a loop plan alone
    VAL_PREPARED
} tensor_role;
typedef struct {
    const char *name;
    tensor_id id;
    tensor_role role;
    // storage type; DT_INDEX for maps and index-valued stages and results
    ir_dtype type;
    tensor_space into;      // DT_INDEX
    uint32_t facts;         // FACT_… of program.h
    uint32_t align;         // bytes; 0: of the element
    tensor_val sorted_by;   // FACT_SORTED within each preimage of that map; else TENSOR_NO_VAL
    tensor_val inplace;     // results: parameter whose memory it may share; else TENSOR_NO_VAL
    // of a gradient: of which parameter or result of its op it is the adjoint; NULL: of none
    const char *adjoint_of;
    uint32_t rank;
    const tensor_space *axes;
    uint32_t nkeys;   // CLASSES, PREPARED
    // CLASSES: maps or index-valued stages over axes[0]; PREPARED: what it is made of
    const tensor_val *keys;
    prepared_builder builder;   // PREPARED
    span at;
} tensor_val_info;

typedef struct {
    const char *name;
    tensor_space space;
    tensor_id id;   // of the index that it stands for
} tensor_var_info;

// ---- Reducers (monoids) -------------------------------------------------------------------------
// combine and finish see LEFT (and RIGHT), lift sees ARG; identity is constant. Pieces are combined
// in index order unless commutative. kind lets bounds and later rewrites know the common ones; the
// expressions are complete for every kind.
typedef enum {
    REDUCE_SUM,
    REDUCE_PROD,
    REDUCE_MAX,
    REDUCE_MIN,
    REDUCE_ANY,
    REDUCE_ALL,
    REDUCE_USER
} tensor_reduce_kind;
typedef struct {
    const char *name;
    tensor_reduce_kind kind;
    bool commutative;
    uint32_t roundings;   // that a combination may err by, as tensor cores do; 0: one
    uint32_t nargs, nstate, nresults;
    const tensor_type *arg_types, *state_types, *result_types;
    const tensor_expr *identity, *lift, *combine, *finish;   // nstate, nstate, nstate, nresults
    // What a user says of the adjoint of each argument of one point, 0: none; NULL: nothing is
    // said. It sees ARG, LEFT, the state of the whole, and RIGHT, its results and then their
    // adjoints. No part of the text: gradients are derived before there is one.
    const tensor_expr *grad;
    span at;
} tensor_reducer;

// ---- Stages -------------------------------------------------------------------------------------
typedef struct {
    tensor_val val;
    uint32_t rank;
    // per axis: VAR of a left variable, INDEX of a CONST, or INDEX of ADD(CVT VAR step, CONST)
    const tensor_expr *index;
} tensor_target;
typedef struct {
    tensor_expr lhs;   // index(S), over bound variables alone
    // index(S), over left variables and other bound variables; none matches nothing
    tensor_expr rhs;
} tensor_key;
#define TENSOR_NO_REDUCER UINT32_MAX
#define TENSOR_NO_LOOP UINT32_MAX
typedef struct {
    const char *name;   // path: "s", "a.max", "y.sum_2"
    tensor_id id;
    uint32_t marks;   // a bit for each tensor_mark
    uint32_t ntargets;
    const tensor_target *targets;
    uint32_t nleft;
    // left-hand variables in order of first appearance (a loop's step may be among them)
    const tensor_var *left;
    uint32_t reducer;   // into op->reducers or TENSOR_NO_REDUCER
    uint32_t nbody;
    const tensor_expr *body;   // reducer: its arguments; else one per target
    struct {                   // of a reduction
        uint32_t nbound;
        // in binder order: the order of combination is lexicographic in it
        const tensor_var *bound;
        uint32_t nkeys;
        const tensor_key *keys;
        uint32_t nfilters;
        // bool, in order; a later one is evaluated only where the earlier hold
        const tensor_expr *filters;
        uint32_t nelse;
        const tensor_expr *orelse;   // 0 or one per target, over left variables: the value where
                                     // nothing was combined
        enum { TIES_FIRST, TIES_SPLIT, TIES_ALL } ties;   // for gradients
    };
    uint32_t loop;   // into op->loops, or TENSOR_NO_LOOP
    span at;
} tensor_stage;

// A recurrence: its stages, consecutive in op->stages, run in order for step = 0, 1, … size(space)
// - 1. A stage inside whose targets do not mention the step is overwritten each round.
typedef struct {
    tensor_var step;
    tensor_space space;
} tensor_loop;

typedef struct {
    const char *text;   // as written
    // bool, over SIZE, CONST, PREIMAGE, SYMMETRIC and arithmetic on i64 (DIV not allowed)
    tensor_expr holds;
    span at;
} tensor_require;

typedef struct {
    arena *arena;
    const char *name;          // "gat_f32"
    const char *source;        // path of the .gnn file, or ""
    const char *gradient_of;   // the name of the op whose gradient it is; NULL: none
    tensor_ids *ids;           // shared by all copies
    VEC(tensor_space_info) spaces;
    // parameters and results in the op's order come first, then stages and classes
    VEC(tensor_val_info) vals;
    // maps, tensors, scalars and results: the caller's part of vals
    uint32_t nparams;
    VEC(tensor_var_info) vars;
    VEC(tensor_node) exprs;   // [0] unused; arguments before users
    VEC(tensor_reducer) reducers;
    VEC(tensor_stage) stages;   // in order of execution
    VEC(tensor_loop) loops;
    VEC(tensor_require) required;
    struct tensor_loads *loads;   // of stages that were asked for; NULL: none was
    span at;
} tensor_op;

#endif
