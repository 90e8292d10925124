// Inside the naive plan: naive/naive.c makes the program, naive/maps.c what must be prepared,
// naive/kernel.c a kernel and its parameters, naive/memory.c addresses, loads and stores,
// naive/inline.c stages that are no kernels, naive/group.c stages that share one, naive/expr.c
// scalar expressions, naive/reduce.c reductions.
#ifndef GNNC_NAIVE_H
#define GNNC_NAIVE_H

#include "plan.h"

typedef struct {
    arena *arena;
    diag_set *ds;
    const tensor_op *op;
    const pass_options *options;
    program *p;
    uint32_t *temp_of;   // per value: its temporary, UINT32_MAX for parameters
    // per value: CLASSES, and PREPARED once it is read; else UINT32_MAX
    uint32_t *prepared_of;
    // per value: the stage its readers compute themselves; else NULL
    const tensor_stage **inlined;
    uint8_t *none_facts;                          // per expression: see base/scalar.h
    uint32_t *checked, *checked_inside, checks;   // of naive/group.c: likewise
    // per expression: the number of the walk that met it last; walks begun
    uint32_t *visited, visits;
} naive;
// Of this walk; expressions are shared, so a walk that repeats them may never end.
bool first_visit(naive *n, tensor_expr e);

// ---- Stages computed where they are read (naive/inline.c) ---------------------------------------
void choose_inlined(naive *n);
bool stage_inlined(const naive *n, const tensor_stage *st);

// May st run in the kernel of these stages, after them at each point? (naive/group.c)
bool stage_joins(naive *n, const tensor_stage *const *stages, uint32_t nstages,
                 const tensor_stage *st);

// ---- Maps that keys walk (naive/maps.c) ---------------------------------------------------------
typedef struct {
    program_map_ref ref;
    bool sorted;
    tensor_space domain, into;
} walkable;
// The map f where e is f(var), if it is known when the plan is made.
bool map_of_key(naive *n, tensor_expr e, tensor_var var, walkable *out);
uint32_t prepare(naive *n, prepared_builder b, const program_map_ref *args, uint32_t nargs,
                 tensor_space domain, tensor_space into);
void prepare_classes(naive *n);
uint32_t prepare_value(naive *n, tensor_val v);   // PREPARED

// ---- A kernel being built (naive/kernel.c) ------------------------------------------------------
typedef struct {
    naive *n;
    simt_func *f;
    const tensor_stage *const *stages;   // that it runs, one after the other at each point
    uint32_t nstages;
    const tensor_stage *stage;   // at hand
    VEC(program_arg) args;
    VEC(simt_value) values;   // of the args
    simt_value *var;          // per variable of the op: its position, 0 where unknown
    simt_value *memo;         // per expression: its value in the region at hand, 0 where unknown
    VEC(tensor_expr) log;     // memo entries made, undone where a region ends
    const simt_value *arg, *left, *right;   // of the reducer expression at hand
} kernel;
simt_value kernel_arg(kernel *k, arg_kind kind, uint32_t index, uint32_t axis);
simt_value kernel_size(kernel *k, tensor_space s);
bool kernel_writes(const kernel *k, tensor_val v);   // v or what shares its memory
void kernel_build(naive *n, const tensor_stage *const *stages, uint32_t nstages);
// of its points; a loop's step is none
uint32_t stage_spaces(const naive *n, const tensor_stage *st, tensor_space *spaces);
#define NAIVE_I64 SIMT_T(I64)

// ---- Memory (naive/memory.c) --------------------------------------------------------------------
simt_type value_simt(tensor_type t);   // what an expression of that type is in a register
simt_value memory_load(kernel *k, simt_builder *b, tensor_val v, const simt_value *index);
void memory_store(kernel *k, simt_builder *b, tensor_val v, const simt_value *index, simt_value x);
simt_value prepared_load(kernel *k, simt_builder *b, uint32_t prepared, simt_value at);

// ---- Expressions (naive/expr.c) -----------------------------------------------------------------
simt_value expr_lower(kernel *k, simt_builder *b, tensor_expr e);
simt_value expr_lower_key(kernel *k, simt_builder *b, tensor_expr e);
uint32_t memo_mark(const kernel *k);
void memo_undo(kernel *k, uint32_t mark);
// A reducer's expressions over arguments or states; memoised for this use alone.
void reducer_lower(kernel *k, simt_builder *b, const tensor_expr *e, uint32_t n,
                   const simt_value *arg, const simt_value *left, const simt_value *right,
                   simt_value *out);

// ---- Reductions (naive/reduce.c) ----------------------------------------------------------------
void reduction_build(kernel *k, simt_builder *b, simt_value *results);

#endif
