// Values at an instance: which digits they depend on, expressions, memory, stores.
#ifndef GNNC_LOWER_VALUES_H
#define GNNC_LOWER_VALUES_H

#include "lower/lower.h"

static inline bool lw_threads(const kernel *k) { return k->plan->threads > 1; }

static inline position lw_at(simt_value x) { return (position){.at = x, .shape = POSITION_ONE}; }

// All instances of the digits in s that are not fixed, the last one fastest:
//     for (instance_walk w = walk_begin(k, s); walk_next(&w);) …
typedef struct {
    kernel *k;
    uint32_t n;
    bool begun;
    uint8_t axis[LOWER_MAX_AXES];
} instance_walk;

typedef struct {
    kernel *k;
    const loop_node *loop;
    axis_set axes;        // of its innermost digits, which are copies
    uint32_t n, digits;   // positions they count
} lower_copies;

// ---- digits.c -------------------------------------------------------------------------------------------
void lw_number_axes(kernel *k);
loop_axes *lw_axes_of(kernel *k, const loop_node *n);
uint32_t lw_axis(kernel *k, const loop_node *n, uint32_t digit);
axis_set lw_axes_enter(kernel *k,
                       const loop_node *n);   // its digits; may have been entered by a reduction around it
void lw_axes_leave(kernel *k, const loop_node *n);
axis_set lw_written_out(const kernel *k, axis_set s);
axis_set lw_depends(kernel *k, tensor_expr e);
axis_set lw_var_depends(kernel *k, tensor_var v);
bool lw_know(kernel *k, tensor_expr e, axis_set s);   // that it depends on s; false: what it depends on is known
simt_value lw_remember(kernel *k, tensor_expr e, simt_value v);   // at the instance at hand
simt_value lw_remembered(const kernel *k, tensor_expr e);   // likewise
bool lw_mentions(lowering *l, tensor_expr e, tensor_var v);
bool lw_vector_free(const kernel *k, axis_set s);   // holds the vector digit, and no lane is fixed
uint32_t lw_lanes(const kernel *k);
uint32_t lw_instances(const kernel *k,
                      axis_set s);   // of the digits in s that are written out, and of vector lanes
uint32_t lw_instance(const kernel *k, axis_set s);          // the one at hand
uint32_t lw_stride(const kernel *k, const lower_axis *a);   // between threads whose digit differs by one
instance_walk lw_walk_begin(kernel *k, axis_set s);   // the vector digit only where s holds it
bool lw_walk_next(instance_walk *w);
region_mark lw_enter(const kernel *k);
void lw_forget(kernel *k, uint32_t log);   // what was remembered since the log was so long
void lw_leave(kernel *k, region_mark m);

// ---- expr.c ---------------------------------------------------------------------------------------------
bool lw_is_known(const kernel *k, tensor_expr e);   // at the instance at hand, the first of those that are not fixed
simt_value lw_expr(kernel *k, simt_builder *b, tensor_expr e);
position lw_position(kernel *k, simt_builder *b, tensor_expr e);   // of an index expression
position lw_var_position(kernel *k, simt_builder *b, tensor_var v);
bool lw_needs_guard(kernel *k, tensor_expr e);
// What this thread keeps of a value at that place, among its registers from there on; 0: nothing.
simt_value lw_known(const kernel *k, tensor_val v, const position *index, uint32_t rank, uint32_t from);
simt_value lw_widen(simt_builder *b, simt_value x, uint32_t lanes);   // splat unless it is a vector already
simt_value lw_pick(simt_builder *b, simt_value x, uint32_t lane);     // of a vector; a scalar itself
simt_value lw_slice(simt_builder *b, simt_value x, uint32_t first, uint32_t lanes);   // of a vector; a scalar itself
simt_value lw_insert(simt_builder *b, simt_value v, simt_value x, uint32_t lane);
simt_value lw_gather(simt_builder *b, const simt_value *x, uint32_t n);   // scalars as a vector
// Scalars are splat where they meet vectors.
simt_value lw_two(simt_builder *b, simt_op op, simt_value x, simt_value y);
simt_value lw_choose(simt_builder *b, simt_value c, simt_value x, simt_value y);
simt_value lw_maths(kernel *k, simt_builder *b, const char *name, const simt_value *args, uint32_t n);
// A reducer's expressions over arguments or states; known for this use alone.
void lw_reducer(kernel *k, simt_builder *b, const tensor_expr *e, uint32_t n, const simt_value *arg,
                const simt_value *left, const simt_value *right, simt_value *out);

// ---- rows.c ---------------------------------------------------------------------------------------------
void lw_walk_row(kernel *k, const loop_node *n);   // the loop is entered; the caller sets the length back
bool lw_row(const kernel *k, const tensor_node *load, tensor_var *row);   // the load gives a row being walked

// ---- store.c --------------------------------------------------------------------------------------------
void lw_store(kernel *k, simt_builder *b, const loop_node *n);
// In memory, at the instance at hand; masked: under the masks of all loops in scope.
void lw_store_targets(kernel *k, simt_builder *b, uint32_t stage, bool masked);
// x where something was combined, else the value that stands for nothing.
simt_value lw_else(kernel *k, simt_builder *b, simt_value some, simt_value x, tensor_expr orelse);
void lw_stage_values(kernel *k, simt_builder *b, uint32_t stage, simt_value *x);   // at the instance at hand, one a target
void lw_clear(kernel *k, simt_builder *b, const loop_node *n);
void lw_combine(kernel *k, simt_builder *b, const loop_node *n);
void lw_combine_targets(kernel *k, simt_builder *b, uint32_t stage);   // in memory, at the instance at hand
void lw_store_state(kernel *k, simt_builder *b, const loop_node *n);
void lw_store_slots(kernel *k, simt_builder *b, const reduction *r,
                    const tensor_expr *slots);   // the raw state at hand
// That this thread is the first of those that differ only in digits outside s; 0: there is one only.
simt_value lw_first_thread(kernel *k, simt_builder *b, axis_set s);
simt_value lw_both(simt_builder *b, simt_value x, simt_value y);   // and; 0 is true

// ---- places.c -------------------------------------------------------------------------------------------
simt_element lw_memory_element(const kernel *k, ir_dtype t);
uint32_t lw_temp_of(lowering *l, tensor_val v);   // its number in the program
ir_dtype lw_stored_type(const kernel *k, tensor_val v);
void lw_shared_place(kernel *k, tensor_val v);   // gives it room in shared memory, once
bool lw_same_size(const size_expr *x, const size_expr *y);
uint32_t lw_shared_take(kernel *k, uint32_t bytes);      // offset
uint32_t lw_shared_take_at(kernel *k, uint32_t bytes, uint32_t align);   // likewise, a multiple of so much
simt_value lw_shared(kernel *k, simt_builder *b, uint32_t offset);   // pointer
uint32_t lw_shared_scratch(kernel *k, uint32_t bytes);   // offset; the same for all, between barriers

// ---- memory.c -------------------------------------------------------------------------------------------
simt_element lw_value_element(const kernel *k, ir_dtype t);   // of an expression of that type
simt_value lw_load_from(kernel *k, simt_builder *b, tensor_val v, const position *index);
void lw_store_to(kernel *k, simt_builder *b, tensor_val v, const position *index, simt_value x);
void lw_red_to(kernel *k, simt_builder *b, tensor_val v, const position *index, simt_value x,
               simt_atomic how);   // scalars
bool lw_unchanged(const kernel *k, tensor_val v);   // lies in memory, which this kernel does not write
simt_value lw_address(kernel *k, simt_builder *b, tensor_val v, const simt_value *index);   // where it lives
// What lies there in shared memory, as memory has the value; align: bytes.
simt_value lw_load_shared(kernel *k, simt_builder *b, tensor_val v, simt_value address, uint32_t lanes, uint32_t align);
simt_value lw_position_lane(kernel *k, simt_builder *b, position p, uint32_t lane);
simt_value lw_not_padding(simt_builder *b, position p, simt_value at);   // `at` of p: is it one of its space?
// Aligned to their size: n of a value of one axis; so many elements of a packed one that follow each other.
simt_value lw_load_whole(kernel *k, simt_builder *b, tensor_val v, position first, uint32_t n);
simt_value lw_load_in_a_row(kernel *k, simt_builder *b, tensor_val v, const position *first, uint32_t lanes);
simt_value lw_bits_in_a_row(kernel *k, simt_builder *b, tensor_val v, const position *first, uint32_t lanes);   // likewise, as they lie there
simt_value lw_value_of_bits(kernel *k, simt_builder *b, tensor_val v, simt_value x);
void lw_store_in_a_row(kernel *k, simt_builder *b, tensor_val v, const position *first, simt_value x);   // aligned to its size, too

// ---- adjacent.c -----------------------------------------------------------------------------------------
void lw_stand_at(const lower_copies *r, uint32_t i);
const loop_node *lw_loop_over(const kernel *k, tensor_expr index);   // whose variable the index is, where it never passes its end; NULL: none
// The copies whose elements of the target lie in a row; false: each is stored by itself.
bool lw_copies_in_a_row(kernel *k, const tensor_target *t, lower_copies *r);
// For all copies that stand next to each other, at the one at hand; 0: they do not. Of a prepared value; of a
// packed array along its last axis, or the one before that, where all of it is a vector.
simt_value lw_load_adjacent(kernel *k, simt_builder *b, tensor_expr load);

// ---- elsewhere.c ----------------------------------------------------------------------------------------
void lw_take_elsewhere(kernel *k, const reduction *r);   // of what it reads, what leaves its state as it is
double lw_taken_elsewhere(kernel *k, tensor_val v);
// That what is contributed leaves the state as it is where `inside` does not hold.
bool lw_adds_nothing(const kernel *k, const reduction *r, simt_value lifted, simt_value inside);
// That it is 0 there; lenient: or 0 times what may be infinite or NaN, whose sum is found again.
bool lw_is_zero_elsewhere(const kernel *k, simt_value x, simt_value inside, bool lenient);

// ---- maximum.c ------------------------------------------------------------------------------------------
void lw_find_nonpositive(lowering *l);
simt_value lw_chosen_below(kernel *k, simt_builder *b, tensor_expr choice);   // without the choice, where what is summed is 0 all the same; 0: it is not
// m == -inf ? 0 : exp(x - m), where m is the maximum of what x is one of; 0, NULL: it is not that. Of it x - m.
const tensor_node *lw_below(const lowering *l, const tensor_node *choice);
simt_value lw_exp_below(kernel *k, simt_builder *b, tensor_expr choice);
// A finite constant above 0, by which a product is as large as its other factor is.
bool lw_is_positive(const simt_builder *b, simt_value x, double *of);
bool lw_is_narrow(const kernel *k);   // tensor cores take what is computed with the 11 bits of f16 or tf32, or the 8 of bf16; beside them, in cells
bool lw_is_approximate(const kernel *k);   // all exponentials of f32 are, as the plan says
simt_value lw_exp_times(kernel *k, simt_builder *b, const tensor_node *product);   // of an exponential and a power of two; 0: of others
simt_value lw_exp(kernel *k, simt_builder *b, tensor_expr e);   // of an exponential

// ---- divide.c -------------------------------------------------------------------------------------------
// The quotient or remainder of a position by a size; 0: it is not that (lower/divide.c).
simt_value lw_divide(kernel *k, simt_builder *b, const tensor_node *n);
bool lw_divides_loop(const kernel *k, const tensor_node *quotient, const loop_node *n);   // whose positions of one round share it
bool lw_divides_round(kernel *k, const tensor_node *n, axis_set *axes);   // that is so of a loop around
bool lw_multiple_of(const kernel *k, tensor_expr e, int64_t by);

#endif
