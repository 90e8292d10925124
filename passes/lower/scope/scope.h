// What is known at a place of a kernel: digits, values, rounds, states, arguments, threads.
//
// In these headers a *copy* is one of the positions of a loop that a thread has in registers at
// once, and *at hand* means the instance that the digits are fixed at. Where a function returns a
// simt_value, 0 is none.
#ifndef GNNC_LOWER_SCOPE_H
#define GNNC_LOWER_SCOPE_H

#include "lower/scope/kernel.h"

// Blocks of the kernel have several threads: it runs on a GPU.
static inline bool lw_threads(const kernel *k) { return k->plan->threads > 1; }

static inline position lw_at(simt_value x) { return (position){.at = x, .shape = POSITION_ONE}; }

// All instances of the digits in s that are not fixed; the last digit is the fastest:
//     for (instance_walk w = lw_walk_begin(&k->digits, s); lw_walk_next(&w);) …
typedef struct {
    lower_digits *digits;
    uint32_t n;
    bool begun;
    uint8_t axis[LOWER_MAX_AXES];
} instance_walk;

typedef void region_body(kernel *k, simt_builder *b, const loop_node *n, void *user);

// ---- digits.c -----------------------------------------------------------------------------------
void lw_number_axes(kernel *k);
uint32_t lw_count_axes(const loop_body *body);   // of the body of a kernel
loop_axes *lw_axes_of(kernel *k, const loop_node *n);
uint32_t lw_axis(kernel *k, const loop_node *n, uint32_t digit);
// Returns the digits of the loop. A reduction around it may have entered them already.
axis_set lw_axes_enter(kernel *k, const loop_node *n);
void lw_axes_leave(kernel *k, const loop_node *n);
axis_set lw_enter_loops(kernel *k, const loop_body *body);   // all loops in the body, at any depth
void lw_leave_loops(kernel *k, const loop_body *body);
// The digits of s that are written out (register, unroll); those of one place; those of lanes and
// groups.
axis_set lw_written_out(const lower_digits *d, axis_set s);
axis_set lw_placed(const lower_digits *d, axis_set s, loop_place p);
axis_set lw_threads_in(const lower_digits *d, axis_set s);
// between threads whose digit differs by one
uint32_t lw_stride(const kernel *k, const lower_axis *a);
// The vector digit, where s holds it. It is free while no lane is fixed.
axis_set lw_vector_of(const lower_digits *d, axis_set s);
bool lw_vector_free(const lower_digits *d, axis_set s);
uint32_t lw_lanes(const lower_digits *d);   // of a vector
// How many instances the written-out digits and the vector lanes of s have; the number of the one
// at hand.
uint32_t lw_instances(const lower_digits *d, axis_set s);
uint32_t lw_instance(const lower_digits *d, axis_set s);
// it walks the vector digit where s holds it
instance_walk lw_walk_begin(lower_digits *d, axis_set s);
bool lw_walk_next(instance_walk *w);

// ---- known.c ------------------------------------------------------------------------------------
// The digits that a value depends on.
axis_set lw_depends(kernel *k, tensor_expr e);
axis_set lw_var_depends(kernel *k, tensor_var v);
// Says which digits the expression depends on; false: that was known.
bool lw_know(kernel *k, tensor_expr e, axis_set s);
// The value of an expression at the instance at hand.
simt_value lw_remember(kernel *k, tensor_expr e, simt_value v);
simt_value lw_remembered(const kernel *k, tensor_expr e);
bool lw_is_known(const kernel *k, tensor_expr e);   // digits that are not fixed count as 0
// What the thread has in registers of an array at that place, among the registers from there on.
simt_value lw_known(const lower_known *known, tensor_val v, const position *index, uint32_t rank,
                    uint32_t from);
// Around a region of code: what was found out in it is forgotten at its end.
region_mark lw_enter(const lower_known *known);
void lw_leave(lower_known *known, region_mark m);
// what was remembered since the log had that length
void lw_forget(lower_known *known, uint32_t log);

// ---- rebind.c -----------------------------------------------------------------------------------
// The variable stands at that position until it is restored.
lw_rebinding lw_rebind(kernel *k, tensor_var v, simt_value at);
void lw_restore(kernel *k, const lw_rebinding *r);

// ---- rounds.c -----------------------------------------------------------------------------------
bool lw_constant(const tensor_op *op, tensor_expr e, int64_t *out);
bool lw_multiple_of(const tensor_op *op, tensor_expr e, int64_t by);
uint32_t lw_step(const loop_node *n);   // positions that a round covers
// false where the bounds are not constant
bool lw_has_one_round(const tensor_op *op, const loop_node *n);
// from points x to points (x + 1)
bool lw_spans(const tensor_op *op, const loop_node *n, uint32_t points);
// no round can pass the end
bool lw_ends_exactly(const tensor_op *op, const loop_node *n, uint32_t step);
// All positions of a round have one quotient. The other function finds the loop of which that
// holds, or NULL.
bool lw_divides_loop(const tensor_op *op, const tensor_node *quotient, const loop_node *n);
const loop_node *lw_loop_divided(const kernel *k, const tensor_node *n);

// ---- rows.c -------------------------------------------------------------------------------------
void lw_walk_row(kernel *k, const loop_node *n);   // the caller cuts scope.rows back
// the load is a row that is walked
bool lw_row(const kernel *k, const tensor_node *load, tensor_var *row);

// ---- states.c -----------------------------------------------------------------------------------
reduction *lw_reduction(kernel *k, uint32_t stage);
// the i-th argument of its lift
tensor_expr lw_lifted(const tensor_op *op, const reduction *r, uint32_t i);
// The innermost open reduction, if matrix operations sum it; else NULL. Cells are conditions of
// that one.
const loop_node *lw_products(const lower_sums *sums);
void lw_add_cell(kernel *k, tensor_expr condition);
void lw_take_cell(lower_sums *sums);
tensor_val lw_target_of(const tensor_op *op, uint32_t stage);   // the value that the stage computes
// the node finds this maximum on the run
bool lw_is_online(const loop_node *n, uint32_t stage);
// Of a load of such a maximum: the digits that it depends on, and the largest number so far.
axis_set lw_running_axes(const kernel *k, const tensor_node *load);
simt_value lw_running(kernel *k, simt_builder *b, const tensor_node *load);

// ---- carried.c ----------------------------------------------------------------------------------
// The states of open reductions that the body updates.
slot_list lw_slots(kernel *k, const loop_body *body);
simt_value *lw_slot_values(kernel *k, const slot_list *s);
void lw_slots_set(const kernel *k, const slot_list *s, simt_instr i);
// The body runs where c holds. States that it updates are results of the branch.
simt_instr lw_build_if(kernel *k, simt_builder *b, simt_value c, const loop_node *n,
                       region_body *body, void *user);

// ---- arguments.c --------------------------------------------------------------------------------
void lw_find_written(kernel *k, const loop_body *body);   // what the nodes store
simt_value lw_arg(kernel *k, arg_kind kind, uint32_t index, uint32_t axis);
simt_value lw_number(kernel *k, tensor_expr e);   // i64: a statistic that the runtime finds
simt_value lw_ix(kernel *k, simt_builder *b, int64_t x);
simt_value lw_to_ix(kernel *k, simt_builder *b, simt_value x);

// ---- positions.c --------------------------------------------------------------------------------
bool lw_varies_in_warp(const kernel *k, axis_set s);   // threads of one warp differ in a digit
bool lw_varies_in_block(const lower_digits *d, axis_set s);
simt_value lw_digit(kernel *k, simt_builder *b, const lower_axis *a);         // this thread's, i32
simt_value lw_times(kernel *k, simt_builder *b, simt_value x, uint32_t by);   // as a position
// base and what this thread's digits add.
simt_value lw_thread_position(kernel *k, simt_builder *b, const loop_node *n, simt_value base);
// The position of the copy at hand, of copies that stand at base. Past the end it is the last
// position, and inside does not hold; step is where it would be.
simt_value lw_copy_position(kernel *k, simt_builder *b, axis_set copies, simt_value base,
                            const round_of *r, simt_value last, simt_value *step,
                            simt_value *inside);
// The masks of all loops in scope from there on hold; 0: there are none.
simt_value lw_masks(kernel *k, simt_builder *b, uint32_t from);
simt_value lw_position_lane(kernel *k, simt_builder *b, position p, uint32_t lane);
// at, of p, lies in the space
simt_value lw_not_padding(simt_builder *b, position p, simt_value at);

// ---- threads.c ----------------------------------------------------------------------------------
simt_value lw_both(simt_builder *b, simt_value x, simt_value y);   // and; 0 is true
// This thread is the first of those that differ in digits outside s alone; 0: there is one only.
simt_value lw_first_thread(kernel *k, simt_builder *b, axis_set s);
void lw_barrier(simt_builder *b);
// The x of another lane of the warp, or of its part of so many lanes: `lane` says which, as the
// operation takes it.
simt_value lw_shuffled(simt_builder *b, simt_op op, simt_value x, simt_value lane, uint32_t width);
// The x of the lane whose number differs in `mask`: a butterfly.
simt_value lw_exchanged(simt_builder *b, simt_value x, simt_value mask);

// ---- places.c -----------------------------------------------------------------------------------
simt_element lw_memory_element(const kernel *k, ir_dtype t);
simt_element lw_value_element(const kernel *k, ir_dtype t);   // of an expression of that type
bool lw_same_size(const size_expr *x, const size_expr *y);
uint32_t lw_temp_of(lowering *l, tensor_val v);   // the number of its temporary in the program
ir_dtype lw_stored_type(const kernel *k, tensor_val v);
void lw_shared_place(kernel *k, tensor_val v);   // reserves shared memory for it, once
// Reserve bytes of shared memory, and return their offset. All who ask for scratch get the same
// bytes, which hold from one barrier to the next.
uint32_t lw_shared_take(kernel *k, uint32_t bytes);
uint32_t lw_shared_take_at(kernel *k, uint32_t bytes, uint32_t align);
uint32_t lw_shared_scratch(kernel *k, uint32_t bytes);
simt_value lw_shared(kernel *k, simt_builder *b, uint32_t offset);   // a pointer
// the kernel writes another value in its place
bool lw_overwritten(const kernel *k, tensor_val v);
// it lies in memory that the kernel does not write
bool lw_unchanged(const kernel *k, tensor_val v);

#endif
