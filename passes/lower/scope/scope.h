// What is known at a place of a kernel: digits, values, rounds, states, arguments, threads.
#ifndef GNNC_LOWER_SCOPE_H
#define GNNC_LOWER_SCOPE_H

#include "lower/scope/kernel.h"

static inline bool lw_threads(const kernel *k) { return k->plan->threads > 1; }

static inline position lw_at(simt_value x) { return (position){.at = x, .shape = POSITION_ONE}; }

// All instances of the digits in s that are not fixed, the last one fastest:
//     for (instance_walk w = lw_walk_begin(&k->digits, s); lw_walk_next(&w);) …
typedef struct {
    lower_digits *digits;
    uint32_t n;
    bool begun;
    uint8_t axis[LOWER_MAX_AXES];
} instance_walk;

typedef void region_body(kernel *k, simt_builder *b, const loop_node *n, void *user);

// ---- digits.c ------------------------------------------------------------------------------------------
void lw_number_axes(kernel *k);
loop_axes *lw_axes_of(kernel *k, const loop_node *n);
uint32_t lw_axis(kernel *k, const loop_node *n, uint32_t digit);
axis_set lw_axes_enter(kernel *k,
                       const loop_node *n);   // its digits; may have been entered by a reduction around it
void lw_axes_leave(kernel *k, const loop_node *n);
axis_set lw_enter_loops(kernel *k, const loop_body *body);   // those in it, at any depth
void lw_leave_loops(kernel *k, const loop_body *body);
axis_set lw_written_out(const lower_digits *d, axis_set s);
uint32_t lw_stride(const kernel *k, const lower_axis *a);   // between threads whose digit differs by one
axis_set lw_placed(const lower_digits *d, axis_set s, loop_place p);   // those that lie there
axis_set lw_threads_in(const lower_digits *d, axis_set s);   // digits that lanes and groups have
axis_set lw_vector_of(const lower_digits *d, axis_set s);   // the vector digit, where s holds it
bool lw_vector_free(const lower_digits *d, axis_set s);   // holds the vector digit, and no lane is fixed
uint32_t lw_lanes(const lower_digits *d);
uint32_t lw_instances(const lower_digits *d,
                      axis_set s);   // of the digits in s that are written out, and of vector lanes
uint32_t lw_instance(const lower_digits *d, axis_set s);          // the one at hand
instance_walk lw_walk_begin(lower_digits *d, axis_set s);   // the vector digit only where s holds it
bool lw_walk_next(instance_walk *w);

// ---- known.c -------------------------------------------------------------------------------------------
axis_set lw_var_depends(kernel *k, tensor_var v);
// That it depends on s; false: what it depends on is known.
bool lw_know(kernel *k, tensor_expr e, axis_set s);
simt_value lw_remember(kernel *k, tensor_expr e, simt_value v);   // at the instance at hand
simt_value lw_remembered(const kernel *k, tensor_expr e);   // likewise
axis_set lw_depends(kernel *k, tensor_expr e);
bool lw_mentions(lowering *l, tensor_expr e, tensor_var v);
bool lw_is_known(const kernel *k,
                 tensor_expr e);   // at the instance at hand, the first of those that are not fixed
// What this thread keeps of a value at that place, among its registers from there on; 0: nothing.
simt_value lw_known(const lower_known *known, tensor_val v, const position *index, uint32_t rank,
                    uint32_t from);
region_mark lw_enter(const lower_known *known);
void lw_forget(lower_known *known, uint32_t log);   // what was remembered since the log was so long
void lw_leave(lower_known *known, region_mark m);

// ---- rebind.c ------------------------------------------------------------------------------------------
// The variable stands at that position until it is restored.
lw_rebinding lw_rebind(kernel *k, tensor_var v, simt_value at);
void lw_restore(kernel *k, const lw_rebinding *r);

// ---- rounds.c ------------------------------------------------------------------------------------------
bool lw_constant(const tensor_op *op, tensor_expr e, int64_t *out);
bool lw_multiple_of(const kernel *k, tensor_expr e, int64_t by);
uint32_t lw_step(const loop_node *n);   // positions a round of the rest covers
bool lw_has_one_round(const kernel *k, const loop_node *n);   // of known bounds
// The bounds are n x and n (x + 1), of so many points.
bool lw_spans(const kernel *k, const loop_node *n, uint32_t points);
bool lw_ends_exactly(const kernel *k, const loop_node *n, uint32_t step);   // no round can pass the end
// Whose positions of one round share it.
bool lw_divides_loop(const kernel *k, const tensor_node *quotient, const loop_node *n);
// The loop around whose index is divided so; NULL: there is none.
const loop_node *lw_loop_divided(const kernel *k, const tensor_node *n);

// ---- rows.c --------------------------------------------------------------------------------------------
void lw_walk_row(kernel *k, const loop_node *n);   // the loop is entered; the caller sets the length back
bool lw_row(const kernel *k, const tensor_node *load, tensor_var *row);   // the load gives a row being walked

// ---- states.c ------------------------------------------------------------------------------------------
reduction *lw_reduction(kernel *k, uint32_t stage);
tensor_expr lw_lifted(const kernel *k, const reduction *r, uint32_t i);   // the i-th argument of its lift
// The innermost reduction that is open, where it is by matrix operations; else NULL.
const loop_node *lw_products(const lower_sums *sums);
void lw_add_cell(kernel *k, tensor_expr condition);   // holds the cells of that one, until it is taken
void lw_take_cell(lower_sums *sums);
tensor_val lw_target_of(const kernel *k, uint32_t stage);   // the value that the stage computes
bool lw_is_online(const loop_node *n,
                  uint32_t stage);   // the stage is a maximum that the node finds on the run
// Maxima found on the run (lower/sums/online.c).
axis_set lw_running_axes(const kernel *k, const tensor_node *load);   // of a load of one; else none
// The largest so far; 0: it is of none.
simt_value lw_running(kernel *k, simt_builder *b, const tensor_node *load);

// ---- carried.c -----------------------------------------------------------------------------------------
slot_list lw_slots(kernel *k, const loop_body *body);   // of open reductions, by what stands in body
simt_value *lw_slot_values(kernel *k, const slot_list *s);
void lw_slots_set(const kernel *k, const slot_list *s, simt_instr i);
// The body under a condition; states of open reductions that it updates are results.
simt_instr lw_build_if(kernel *k, simt_builder *b, simt_value c, const loop_node *n, region_body *body,
                       void *user);

// ---- arguments.c ---------------------------------------------------------------------------------------
void lw_find_written(kernel *k, const loop_body *body);   // what the nodes of the body store
simt_value lw_arg(kernel *k, arg_kind kind, uint32_t index, uint32_t axis);
simt_value lw_number(kernel *k, tensor_expr e);                   // i64
simt_value lw_ix(kernel *k, simt_builder *b, int64_t x);
simt_value lw_to_ix(kernel *k, simt_builder *b, simt_value x);

// ---- positions.c ---------------------------------------------------------------------------------------
bool lw_varies_in_warp(const kernel *k, axis_set s);   // some digit has threads of one warp apart
bool lw_varies_in_block(const lower_digits *d, axis_set s);
simt_value lw_digit(kernel *k, simt_builder *b, const lower_axis *a);   // this thread's; i32
// X by a constant, as a position.
simt_value lw_times(kernel *k, simt_builder *b, simt_value x, uint32_t by);
simt_value lw_thread_position(kernel *k, simt_builder *b, const loop_node *n,
                              simt_value base);   // base + what its digits add
// The position of the copy at hand, of those that stand at base; past the end it is the last one, and not
// inside.
simt_value lw_copy_position(kernel *k, simt_builder *b, axis_set copies, simt_value base, const round_of *r,
                            simt_value last, simt_value *step, simt_value *inside);
simt_value lw_masks(kernel *k, simt_builder *b, uint32_t from);   // all loops in scope from there on; 0: true
simt_value lw_position_lane(kernel *k, simt_builder *b, position p, uint32_t lane);
simt_value lw_not_padding(simt_builder *b, position p, simt_value at);   // `at` of p: is it one of its space?

// ---- threads.c -----------------------------------------------------------------------------------------
simt_value lw_both(simt_builder *b, simt_value x, simt_value y);   // and; 0 is true
// That this thread is the first of those that differ only in digits outside s; 0: there is one only.
simt_value lw_first_thread(kernel *k, simt_builder *b, axis_set s);
void lw_barrier(simt_builder *b);
// What the lane has whose number differs in `mask`.
simt_value lw_exchanged(simt_builder *b, simt_value x, simt_value mask);

// ---- places.c ------------------------------------------------------------------------------------------
simt_element lw_memory_element(const kernel *k, ir_dtype t);
simt_element lw_value_element(const kernel *k, ir_dtype t);   // of an expression of that type
bool lw_same_size(const size_expr *x, const size_expr *y);
uint32_t lw_temp_of(lowering *l, tensor_val v);   // its number in the program
uint32_t lw_shared_take_at(kernel *k, uint32_t bytes, uint32_t align);   // likewise, a multiple of so much
uint32_t lw_shared_take(kernel *k, uint32_t bytes);      // offset
ir_dtype lw_stored_type(const kernel *k, tensor_val v);
void lw_shared_place(kernel *k, tensor_val v);   // gives it room in shared memory, once
uint32_t lw_shared_scratch(kernel *k, uint32_t bytes);   // offset; the same for all, between barriers
simt_value lw_shared(kernel *k, simt_builder *b, uint32_t offset);   // pointer
bool lw_overwritten(const kernel *k, tensor_val val);   // in place, by another value
bool lw_unchanged(const kernel *k, tensor_val v);   // lies in memory, which this kernel does not write

#endif
