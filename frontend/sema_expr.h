// Expressions, calls and reductions to tensor IR; spaces, and proofs that an index lies in one.
#ifndef GNNC_SEMA_EXPR_H
#define GNNC_SEMA_EXPR_H

#include "sema_lower.h"

// sema_expr.c
value lower_expr(lowering *L, const scope *s, const ast_expr *e);
// converted; reports what cannot be
tensor_expr value_as(lowering *L, value v, tensor_type t, span at);
// literals take I64 or the op's real type
tensor_expr value_number(lowering *L, value v, span at);
tensor_type value_type(lowering *L, value v);
tensor_expr lower_bool(lowering *L, const scope *s, const ast_expr *e);
tensor_expr lower_subscript(lowering *L, const scope *s, const ast_expr *e, tensor_space axis);
value value_bad(lowering *L);
tensor_type real_type(const lowering *L);
tensor_expr literal_as(lowering *L, value v, tensor_type t, span at);
// reports; a value of the type wanted
tensor_expr mismatch(lowering *L, tensor_type have, tensor_type want, span at);
value value_plain(tensor_expr e);
value value_int(int64_t x);
// the type both convert to without loss
bool value_join(lowering *L, value a, value b, tensor_type *t);
const char *type_text(const lowering *L, tensor_type t);

// sema_guard.c
typedef struct {
    uint32_t guards;
    uint64_t context;
} guards_mark;
guards_mark guards_push(lowering *L, tensor_expr condition, bool holds);
void guards_pop(lowering *L, guards_mark mark);
void guards_explain(lowering *L, diagnostic *d);                  // why they do not prove an index
bool guards_say_some(lowering *L, tensor_expr e);                 // e is not none here
bool guards_say_in(lowering *L, tensor_expr e, tensor_space s);   // e lies in s, by sizes too
void lowering_enter(lowering *L);   // a new context: cached arguments do not carry over

// sema_function.c
value lower_call(lowering *L, const scope *s, const ast_expr *e);

// sema_reduce.c
typedef struct reduction {   // a reduction lowered up to where its results go
    uint32_t reducer;
    tensor_stage stage;   // bound, keys, filters, body, orelse set; targets and left open
    uint32_t nresults;
    const tensor_type *types;
    const char *name;   // of the reducer
    span at;
} reduction;
value lower_reduce(lowering *L, const scope *s, const ast_expr *e);
// R(x by m), R(x over d)
value lower_normaliser(lowering *L, const scope *s, const ast_expr *e, const entity *reducer);
bool reducer_find(const lowering *L, const scope *s, const char *name, entity *out);
bool reducer_visible(const lowering *L, const scope *s, const char *name, span use, entity *out);
// false: reported
bool reduction_lower(lowering *L, const scope *s, const ast_expr *e, reduction *r);
// sema_lift.c
// Its results as stages of their own, over the variables it uses: one load each into results. A
// class variable (else UINT32_MAX) comes first, and the loads are at `own_class`.
void reduction_lift(lowering *L, reduction *r, tensor_var class, tensor_expr own_class,
                    tensor_expr *results);
void reduction_guard_else(lowering *L, reduction *r, tensor_expr condition);
const char *free_name(lowering *L, const char *base);   // base, or base.2, …: of no value yet
void lift_determine(lowering *L, tensor_key k);         // under a key m[e] == v, v is m[e]
// Its results stored to targets over the given left variables.
void reduction_store(lowering *L, reduction *r, const char *name, const tensor_target *targets,
                     const tensor_var *left, uint32_t nleft);

// sema_reducer.c
// The reducer at these argument types, or TENSOR_NO_REDUCER (reported).
uint32_t reducer_instance(lowering *L, const entity *r, const value *args, uint32_t nargs, span at);

// sema_space.c
tensor_val add_stage_value(lowering *L, const char *name, tensor_type t, const tensor_space *axes,
                           uint32_t rank, bool partial, span at);
const char *space_name(const lowering *L, tensor_space s);   // for messages
// "may lie outside F"
const char *space_outside(const lowering *L, tensor_space s);
void explain_longer(const lowering *L, diagnostic *d, tensor_space s, int64_t least);
// how its length is told, as of one with so many points
void explain_length(const lowering *L, diagnostic *d, tensor_space s, int64_t least);
tensor_space space_constant(lowering *L, int64_t size, span at);
tensor_space space_plus(lowering *L, tensor_space s, int64_t more, span at);   // of size s + more
// The space an axis names: a size in scope, a number, an expression of them; a new name declares a
// space if `declare`.
bool space_of_axis(lowering *L, scope *s, const ast_expr *axis, bool declare, tensor_space *out);
bool size_small(lowering *L, tensor_expr size, span at);   // else reports it
void walk_begin(lowering *L);   // over expressions that exist by now; each is met once
bool walk_first(lowering *L, tensor_expr e);
// marks op->vars that occur, counts new ones
uint32_t expr_vars(lowering *L, const tensor_expr *e, uint32_t n, uint8_t *used);

#endif
