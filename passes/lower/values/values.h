// Values at an instance: expressions, positions, loads and stores.
#ifndef GNNC_LOWER_VALUES_H
#define GNNC_LOWER_VALUES_H

#include "lower/scope/scope.h"

typedef struct {
    kernel *k;
    const loop_node *loop;
    axis_set axes;        // of its innermost digits, which are copies
    uint32_t n, digits;   // positions they count
} lower_copies;

typedef struct {
    const loop_node *loop;
    axis_set axes;        // of its innermost digits, but for that of lanes
    uint32_t n, digits;   // how many eights they count
} lower_eights;

// A stage's values at the instance at hand, one a target.
typedef void lw_stage_of(kernel *k, simt_builder *b, uint32_t stage, simt_value *x);

// ---- expr.c --------------------------------------------------------------------------------------------
bool lw_needs_guard(kernel *k, tensor_expr e);
// x where something was combined, else the value that stands for nothing.
simt_value lw_else(kernel *k, simt_builder *b, simt_value some, simt_value x, tensor_expr orelse);
simt_value lw_expr(kernel *k, simt_builder *b, tensor_expr e);
// A reducer's expressions over arguments or states; known for this use alone.
void lw_reducer(kernel *k, simt_builder *b, const tensor_expr *e, uint32_t n, const simt_value *arg,
                const simt_value *left, const simt_value *right, simt_value *out);
simt_value lw_size(kernel *k, simt_builder *b, tensor_space s);   // i64
// Of masked steps: what the contributions that follow one another from there on need, or the store there.
void lw_given(kernel *k, simt_builder *b, const loop_node *n);
// The condition of the cell at hand, which `cell` is from then on; 0: there are no cells.
simt_value lw_enter_cell(kernel *k, simt_builder *b, const reduction *r);

// ---- position.c ----------------------------------------------------------------------------------------
position lw_var_position(kernel *k, simt_builder *b, tensor_var v);
// As a number: padding has that of the last position.
simt_value lw_spread(kernel *k, simt_builder *b, position p);
position lw_position(kernel *k, simt_builder *b, tensor_expr e);   // of an index expression
// The place in all lanes, of which one is at hand; false: saying it would take an access.
bool lw_place_in_all(kernel *k, simt_builder *b, const tensor_node *load, position *index);

// ---- load.c --------------------------------------------------------------------------------------------
// Of an expression that is a load.
simt_value lw_load(kernel *k, simt_builder *b, tensor_expr e, const tensor_node *n);

// ---- memory.c ------------------------------------------------------------------------------------------
simt_value lw_address(kernel *k, simt_builder *b, tensor_val v, const simt_value *index);   // where it lives
// What lies there in shared memory, as memory has the value; align: bytes.
simt_value lw_load_shared(kernel *k, simt_builder *b, tensor_val v, simt_value address, uint32_t lanes,
                          uint32_t align);
// Aligned to their size: n of a value of one axis; so many elements of a packed one that follow each other.
simt_value lw_load_whole(kernel *k, simt_builder *b, tensor_val v, position first, uint32_t n);
// Likewise, as they lie there.
simt_value lw_bits_in_a_row(kernel *k, simt_builder *b, tensor_val v, const position *first, uint32_t lanes);
simt_value lw_value_of_bits(kernel *k, simt_builder *b, tensor_val v, simt_value x);
simt_value lw_load_in_a_row(kernel *k, simt_builder *b, tensor_val v, const position *first, uint32_t lanes);
simt_value lw_load_from(kernel *k, simt_builder *b, tensor_val v, const position *index);
void lw_red_to(kernel *k, simt_builder *b, tensor_val v, const position *index, simt_value x,
               simt_atomic how);   // scalars
// Aligned to its size, too.
void lw_store_in_a_row(kernel *k, simt_builder *b, tensor_val v, const position *first, simt_value x);
void lw_store_to(kernel *k, simt_builder *b, tensor_val v, const position *index, simt_value x);

// ---- adjacent.c ----------------------------------------------------------------------------------------
void lw_stand_at(const lower_copies *r, uint32_t i);
const loop_node *
lw_loop_over(const kernel *k,
             tensor_expr index);   // whose variable the index is, where it never passes its end; NULL: none
// The copies whose elements of the target lie in a row; false: each is stored by itself.
bool lw_copies_in_a_row(kernel *k, const tensor_target *t, lower_copies *r);
// For all copies that stand next to each other, at the one at hand; 0: they do not. Of a prepared value; of a
// packed array along its last axis, or the one before that, where all of it is a vector.
simt_value lw_load_adjacent(kernel *k, simt_builder *b, tensor_expr load);

// ---- eights.c ------------------------------------------------------------------------------------------
bool lw_in_eights(kernel *k, tensor_val v, const tensor_expr *index, uint32_t rank, lower_eights *r);
// Where whole warps are, at the instance at hand; 0: it is not so.
simt_value lw_load_eights(kernel *k, simt_builder *b, tensor_expr load);
void lw_store_eights(kernel *k, simt_builder *b, uint32_t stage, axis_set left, const lower_eights *r,
                     lw_stage_of *values);

// ---- fetched.c -----------------------------------------------------------------------------------------
uint32_t lw_fetched_element_bytes(const kernel *k, const loop_fetch *f);
// From the first row to another, without the pitch of `plus` rows more.
simt_value lw_rows_apart(simt_builder *b, const loop_fetch *f, simt_value row, int64_t plus, uint32_t bytes);
const fetched_rows *lw_fetched(const kernel *k, const tensor_node *load);   // that the load is of; NULL: none
const fetched_rows *lw_fetched_panels(const kernel *k, const tensor_node *load);   // likewise, in panels
// A load of such a row, but for its type, which is zeros wherever masks of the loops in scope from there on
// fail.
bool lw_is_fetched(const kernel *k, tensor_expr e, uint32_t from);
// Of the row at the instance at hand, the elements at `last` on the other axis.
// Of a row of several axes: where the last one's begins, in elements.
simt_value lw_fetched_part(kernel *k, simt_builder *b, const fetched_rows *f, const tensor_node *load);
simt_value lw_load_fetched(kernel *k, simt_builder *b, const fetched_rows *f, const tensor_node *load,
                           position last, uint32_t lanes);

// ---- divide.c ------------------------------------------------------------------------------------------
// The quotient or remainder of a position by a size; 0: it is not that (lower/values/divide.c).
simt_value lw_divide(kernel *k, simt_builder *b, const tensor_node *n);

// ---- below.c -------------------------------------------------------------------------------------------
// M == -inf ? 0 : …; most: m.
bool lw_is_chosen(const tensor_op *op, const tensor_node *choice, tensor_expr *most);
// 0 where its exponentials are, of numbers that are finite.
bool lw_is_zero_with(const lowering *l, tensor_expr e, tensor_expr most, uint32_t depth);
void lw_find_nonpositive(lowering *l);
// m == -inf ? 0 : exp(x - m), where m is the maximum of what x is one of; 0, NULL: it is not that. Of it x -
// m.
const tensor_node *lw_below(const lowering *l, const tensor_node *choice);

// ---- exponential.c -------------------------------------------------------------------------------------
// Without the choice, where what is summed is 0 all the same; 0: it is not.
simt_value lw_chosen_below(kernel *k, simt_builder *b, tensor_expr choice);
// Tensor cores take what is computed with the 11 bits of f16 or tf32, or the 8 of bf16; beside them, in
// cells.
bool lw_is_narrow(const kernel *k);
bool lw_is_approximate(const kernel *k);   // all exponentials of f32 are, as the plan says
// A finite constant above 0, by which a product is as large as its other factor is.
bool lw_is_positive(const simt_builder *b, simt_value x, double *of);
simt_value lw_exp_below(kernel *k, simt_builder *b, tensor_expr choice);
// Of an exponential and a power of two; 0: of others.
simt_value lw_exp_times(kernel *k, simt_builder *b, const tensor_node *product);
simt_value lw_exp(kernel *k, simt_builder *b, tensor_expr e);   // of an exponential

// ---- elsewhere.c ---------------------------------------------------------------------------------------
void lw_take_elsewhere(kernel *k, const reduction *r);   // of what it reads, what leaves its state as it is
double lw_taken_elsewhere(kernel *k, tensor_val v);
// That what is contributed leaves the state as it is where `inside` does not hold.
bool lw_adds_nothing(const kernel *k, const reduction *r, simt_value lifted, simt_value inside);
// That it is 0 there; lenient: or 0 times what may be infinite or NaN, whose sum is found again.
bool lw_is_zero_elsewhere(const kernel *k, simt_value x, simt_value inside, bool lenient);

// ---- ahead.c -------------------------------------------------------------------------------------------
void lw_load_ahead(kernel *k, simt_builder *b, const loop_body *body, uint32_t from);

#endif
