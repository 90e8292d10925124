// Passes from tensor IR to tensor IR, before there are kernels, and what stages need of values of
// their own.
#ifndef GNNC_PLAN_TENSOR_H
#define GNNC_PLAN_TENSOR_H

#include "base/making.h"
#include "tensor_hoist.h"

typedef tensor_expr plan_replacement(void *user,
                                     // for a load, whose indices are replaced already
                                     tensor_expr load);

// ---- pairs.c, chosen.c, entries.c, selective.c --------------------------------------------------
bool plan_pairs(planner *p);     // false: there are none
bool plan_chosen(planner *p);    // likewise
bool plan_entries(planner *p);   // likewise
bool plan_selective(planner *p);
typedef struct {
    tensor_var var;    // of the stage
    int64_t further;   // than it
} plan_shifted;
// the variable, or one of another axis so many numbers further
bool plan_shifted_of(const tensor_op *op, tensor_expr e, plan_shifted *s);
bool plan_solved(planner *p);   // solved.c

// ---- symmetric.c --------------------------------------------------------------------------------
void plan_symmetric(planner *p);   // again when stages are inlined

// ---- rfactor.c ----------------------------------------------------------------------------------
void plan_rfactor(planner *p);
// NULL: it may be reduced row by row.
const char *plan_why_no_rows(const planner *p, const tensor_stage *st, tensor_val map);

// of the stage's rows: a schedule calls it as its space, in small letters
tensor_var plan_row_var(planner *p, const char *stage, tensor_space rows);
tensor_expr *plan_var_exprs(planner *p, const tensor_var *vars, uint32_t n);

// ---- hoist.c, addends.c -------------------------------------------------------------------------
void plan_hoist(planner *p);
// NULL: it may be
const char *plan_why_no_hoist(planner *p, const tensor_stage *st, tensor_val map);
void plan_addends(planner *p);
const char *plan_why_no_addends(const planner *p, const tensor_stage *st);   // NULL: it has some
// what it adds at a point: so many, at most `most`
uint32_t plan_addends_of(const planner *p, const tensor_stage *st, tensor_addend *out,
                         uint32_t most);

// ---- flatten.c ----------------------------------------------------------------------------------
void plan_flatten(planner *p);
// NULL: it may be; `least` is the smallest extent of the matrices that is known.
const char *plan_why_no_flat(planner *p, const tensor_stage *st, int64_t *least);

// ---- scalarize.c --------------------------------------------------------------------------------
void plan_scalarize(planner *p);
const char *plan_why_no_scalars(const planner *p, const tensor_stage *st);   // NULL: it may be
int64_t plan_scalars_of(const planner *p, const tensor_stage *st);           // so many a point

// ---- terms.c ------------------------------------------------------------------------------------
void plan_terms(planner *p);
bool plan_has_terms(const planner *p, tensor_id stage);   // a statement makes it

// ---- types.c ------------------------------------------------------------------------------------
void plan_types(planner *p);   // of arithmetic and of accumulators

// ---- narrow.c -----------------------------------------------------------------------------------
// remarks on a sum that the statement holds in 16 bits, where it has more terms than those keep
void plan_narrow_sum(planner *p, const tensor_stage *st, const schedule_cell *c);

// ---- scale.c ------------------------------------------------------------------------------------
// The factor of a sum, over the stage's left variables (tensor/scale.c); what it needs may be put
// before the stage. typed: in the type of the sum's terms.
bool plan_factor(planner *p, uint32_t *stage, const schedule_cell *c, tensor_expr *factor);
void plan_scale(planner *p, uint32_t stage, const schedule_cell *cell, tensor_expr c,
                tensor_expr typed);

// ---- counts.c -----------------------------------------------------------------------------------
void plan_drop_else(planner *p);   // `else` that says what a reduction of nothing gives
void plan_counts(planner *p);      // with p->alone, of stages that count and do nothing else
// of those that tensor cores should sum, before they have their types
void plan_matrix_counts(planner *p);
// STAGE.WHAT, unlike all others
const char *plan_name_inside(const planner *p, const char *stage, const char *what);

// ---- inline.c -----------------------------------------------------------------------------------
bool plan_inlines(planner *p, const tensor_stage *st);   // it is computed where it is read
// with so many operations a point: they take no longer than the bytes of a point that is stored
bool plan_inline_is_worth(const planner *p, const tensor_stage *st, int64_t cost);

// ---- expand.c ----------------------------------------------------------------------------------
// A reduction of a few terms, as an expression of its left indices.
bool plan_may_expand(const planner *p, uint32_t stage);
// of its indices; 0: not few, or not known
int64_t plan_few_terms(const planner *p, const tensor_stage *st);
tensor_expr plan_expanded(planner *p, const tensor_stage *st);
// The whole reduction at a point; vars: per variable what stands for it, 0: itself. Those that are
// reduced are overwritten.
tensor_expr plan_written_out(planner *p, const tensor_stage *st, tensor_expr *vars);
void plan_expand(planner *p, uint32_t stage, uint32_t reader);   // where the reader loads it

// ---- rewrite.c ----------------------------------------------------------------------------------
// Stages that are computed where they are read vanish into their readers' expressions; inside a
// reduction the bound side of a key is replaced by its free side, which it equals there:
// a.max[dst[e], h] under dst[e] == v is a.max[v, h].
void plan_rewrite(planner *p);
// 0: itself
const tensor_expr *plan_substitute(planner *p, const tensor_expr *e, uint32_t n,
                                   const tensor_expr *vars);
// by what holds inside the reduction: v for dst[e]
tensor_expr plan_by_keys(planner *p, tensor_expr e, const tensor_stage *st);
tensor_expr plan_inline_loads(planner *p, tensor_expr e);
void plan_replace_loads(planner *p, uint32_t stage, plan_replacement *by, void *user);
tensor_expr plan_replaced(planner *p, tensor_expr e, plan_replacement *by, void *user);

// ---- inlined.c ----------------------------------------------------------------------------------
// its body with what is computed there
tensor_stage plan_inlined_stage(planner *p, uint32_t stage);

// ---- siblings.c ---------------------------------------------------------------------------------
void plan_siblings(planner *p);   // reductions that share a walk stand side by side

// ---- recompute.c --------------------------------------------------------------------------------
// a statement says so, and nobody else gets it
bool plan_may_recompute(const planner *p, const tensor_stage *st);
void plan_recompute(planner *p);

// ---- online.c -----------------------------------------------------------------------------------
// of an edge, it reads what its walk sums up
bool plan_online_inlines(const planner *p, uint32_t stage);
void plan_online(planner *p);   // factors that are final after the walk stand outside of its sums
// known after that
bool plan_final_after(const planner *p, const schedule_cell *fuse, uint32_t stage);
// a sum, also of terms of 16 bits that is held in f32
bool plan_sums_wide(const planner *p, const tensor_stage *st);
// of the stages, those that others follow
void plan_run_maxima(planner *p, const uint32_t *stages, uint32_t n, loop_node *reduce);
// what states of parts hold differences from
void plan_part_maxima(planner *p, uint32_t stage, loop_node *contribute);

// ---- online_terms.c -----------------------------------------------------------------------------
// a sum of it (tensor/online_terms.c)
void plan_take_apart(planner *p, const schedule_cell *fuse, uint32_t stage);

// ---- private.c ----------------------------------------------------------------------------------
// Values that a kernel both stores and reads get a home in registers beside the one in memory
// (tensor/private.c).
void plan_private(planner *p, stage_group *g);
// new ones, and what stands for those of `of` then
const tensor_var *plan_own_vars(planner *p, const tensor_var *of, uint32_t n, tensor_expr *vars);
// A stage without a reduction that stores a value, over the left variables of another, at that
// one's target; with variables of its own.
tensor_stage plan_of_points(planner *p, const tensor_stage *of, uint32_t target, const char *name,
                            tensor_expr value);
// The value of a stage to come, in memory; of narrow numbers as f32.
tensor_val plan_stage_val(planner *p, const char *name, tensor_type t, const tensor_space *axes,
                          uint32_t rank, span at);
// before there are kernels; later ones move up
void plan_put_stage(planner *p, uint32_t at, tensor_stage st);
void plan_insert_stage(planner *p, stage_group *g, uint32_t at, tensor_stage st);

// ---- outside.c ----------------------------------------------------------------------------------
// numbers that all terms of a sum in windows have stand outside of it (tensor/outside.c)
void plan_outside(planner *p);
// of literals and constant extents; false: it is none, or depends on more
bool plan_number(const planner *p, tensor_expr e, double *x);

#endif
