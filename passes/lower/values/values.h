// Values at an instance: expressions, positions, loads and stores.
#ifndef GNNC_LOWER_VALUES_H
#define GNNC_LOWER_VALUES_H

#include "lower/scope/scope.h"

// Neighbouring copies of a thread, along the innermost digits of a loop.
typedef struct {
    kernel *k;
    const loop_node *loop;
    axis_set axes;        // of those digits
    uint32_t n, digits;   // copies; digits
} lower_copies;

// Eights along the innermost digits of a loop, of which four lanes have a part each.
typedef struct {
    const loop_node *loop;
    axis_set axes;        // of those digits, but for the lanes'
    uint32_t n, digits;   // eights; digits
} lower_eights;

// A stage's values at the instance at hand, one a target.
typedef void lw_stage_of(kernel *k, simt_builder *b, uint32_t stage, simt_value *x);

// ---- expr.c -------------------------------------------------------------------------------------
simt_value lw_expr(kernel *k, simt_builder *b, tensor_expr e);
bool lw_needs_guard(kernel *k, tensor_expr e);   // it may be read at no index
// x where something was combined, else the value of a reduction of nothing.
simt_value lw_else(kernel *k, simt_builder *b, simt_value some, simt_value x, tensor_expr orelse);
// A reducer's expressions over arguments or states. What is computed for them is forgotten
// afterwards.
void lw_reducer(kernel *k, simt_builder *b, const tensor_expr *e, uint32_t n, const simt_value *arg,
                const simt_value *left, const simt_value *right, simt_value *out);
simt_value lw_size(kernel *k, simt_builder *b, tensor_space s);   // i64
// the key of a GIVEN node is its value
void lw_given(kernel *k, simt_builder *b, const loop_node *n);
// The cell at hand is the reduction's from here on. Returns its condition; 0: the reduction has no
// cells.
simt_value lw_enter_cell(kernel *k, simt_builder *b, const reduction *r);

// ---- position.c ---------------------------------------------------------------------------------
position lw_position(kernel *k, simt_builder *b, tensor_expr e);   // of an index expression
position lw_var_position(kernel *k, simt_builder *b, tensor_var v);
// as a number; padding has the last one
simt_value lw_spread(kernel *k, simt_builder *b, position p);
// The place in all lanes, while one is at hand; false: finding it would take an access.
bool lw_place_in_all(kernel *k, simt_builder *b, const tensor_node *load, position *index);

// ---- load.c -------------------------------------------------------------------------------------
// e is that
simt_value lw_load(kernel *k, simt_builder *b, tensor_expr e, const tensor_node *load);

// ---- memory.c -----------------------------------------------------------------------------------
simt_value lw_address(kernel *k, simt_builder *b, tensor_val v, const simt_value *index);
// By the positions' shapes an access is one element, a vector, or an element a lane.
simt_value lw_load_from(kernel *k, simt_builder *b, tensor_val v, const position *index);
void lw_store_to(kernel *k, simt_builder *b, tensor_val v, const position *index, simt_value x);
void lw_red_to(kernel *k, simt_builder *b, tensor_val v, const position *index, simt_value x,
               simt_atomic how);
// Vectors that are aligned to their size: n elements of a value of one axis, or of a packed one.
simt_value lw_load_whole(kernel *k, simt_builder *b, tensor_val v, position first, uint32_t n);
simt_value lw_load_in_a_row(kernel *k, simt_builder *b, tensor_val v, const position *first,
                            uint32_t n);
void lw_store_in_a_row(kernel *k, simt_builder *b, tensor_val v, const position *first,
                       simt_value x);
// The same load in two steps: as the elements lie in memory, and converted to values.
simt_value lw_bits_in_a_row(kernel *k, simt_builder *b, tensor_val v, const position *first,
                            uint32_t n);
simt_value lw_value_of_bits(kernel *k, simt_builder *b, tensor_val v, simt_value x);
// From an address in shared memory, where v lies as in memory. align: bytes.
simt_value lw_load_shared(kernel *k, simt_builder *b, tensor_val v, simt_value address,
                          uint32_t lanes, uint32_t align);

// ---- adjacent.c ---------------------------------------------------------------------------------
// One access for all neighbouring copies, at the one at hand; 0: they are no neighbours.
simt_value lw_load_adjacent(kernel *k, simt_builder *b, tensor_expr load);
// The copies whose elements of the target lie in a row; false: each is stored by itself.
bool lw_copies_in_a_row(kernel *k, const tensor_target *t, lower_copies *r);
void lw_stand_at(const lower_copies *r, uint32_t i);
// The loop whose variable the index is; NULL: it is none, or may pass its end.
const loop_node *lw_loop_over(const kernel *k, tensor_expr index);

// ---- eights.c -----------------------------------------------------------------------------------
bool lw_in_eights(kernel *k, tensor_val v, const tensor_expr *index, uint32_t rank,
                  lower_eights *r);
simt_value lw_load_eights(kernel *k, simt_builder *b, tensor_expr load);   // where whole warps are
void lw_store_eights(kernel *k, simt_builder *b, uint32_t stage, axis_set left,
                     const lower_eights *r, lw_stage_of *values);

// ---- fetched.c ----------------------------------------------------------------------------------
// The fetched rows that the load reads, or those in panels; NULL: there are none.
const fetched_rows *lw_fetched(const kernel *k, const tensor_node *load);
const fetched_rows *lw_fetched_panels(const kernel *k, const tensor_node *load);
// Elements at `last` on the last axis, of the row at the instance at hand.
simt_value lw_load_fetched(kernel *k, simt_builder *b, const fetched_rows *f,
                           const tensor_node *load, position last, uint32_t lanes);
// A row may have several axes: elements from its start to where the last axis begins.
simt_value lw_fetched_part(kernel *k, simt_builder *b, const fetched_rows *f,
                           const tensor_node *load);
// The expression is such a load, up to conversions, and zero where the masks from there on do not
// hold.
bool lw_is_fetched(const kernel *k, tensor_expr e, uint32_t from);
uint32_t lw_fetched_element_bytes(const kernel *k, const loop_fetch *f);
// Bytes from the first row to another one. What the pitch of `plus` more rows adds is left out.
simt_value lw_rows_apart(simt_builder *b, const loop_fetch *f, simt_value row, int64_t plus,
                         uint32_t bytes);
// Where a byte of the row lies, once its pieces have changed places: in the row, or from the first
// row on, as rows begin at multiples of the pieces that change. Both are i32.
simt_value lw_swizzled(simt_builder *b, const loop_fetch *f, simt_value row, simt_value byte);

// ---- divide.c -----------------------------------------------------------------------------------
// The quotient or remainder of a position by a size; 0: it is not that.
simt_value lw_divide(kernel *k, simt_builder *b, const tensor_node *n);

// ---- below.c ------------------------------------------------------------------------------------
void lw_find_nonpositive(lowering *l);
// The choice is m == -inf ? 0 : …; most: m.
bool lw_is_chosen(const tensor_op *op, const tensor_node *choice, tensor_expr *most);
// The expression is 0 where its exponentials are 0, if its numbers are finite.
bool lw_is_zero_with(const lowering *l, tensor_expr e, tensor_expr most, uint32_t depth);
// The choice is m == -inf ? 0 : exp(x - m), of which m is a maximum over x. Returns x - m, or NULL.
const tensor_node *lw_below(const lowering *l, const tensor_node *choice);

// ---- exponential.c ------------------------------------------------------------------------------
simt_value lw_exp(kernel *k, simt_builder *b, tensor_expr e);
// of a choice that lw_below knows
simt_value lw_exp_below(kernel *k, simt_builder *b, tensor_expr choice);
// The value without the choice, where its sum is the same; 0: it is not.
simt_value lw_chosen_below(kernel *k, simt_builder *b, tensor_expr choice);
// The product of an exponential and a power of two; 0: it is none.
simt_value lw_exp_times(kernel *k, simt_builder *b, const tensor_node *product);
// What is computed goes to tensor cores, which keep 11 bits of it or 8, or its exponentials are
// approximate.
bool lw_is_narrow(const kernel *k);
bool lw_is_approximate(const kernel *k);   // the plan approximates all exponentials of f32
// x is a finite constant above 0
bool lw_is_positive(const simt_builder *b, simt_value x, double *of);

// ---- elsewhere.c --------------------------------------------------------------------------------
// Chooses a number for what the reduction reads past the end, so that its state stays as it is.
void lw_take_elsewhere(kernel *k, const reduction *r);
double lw_taken_elsewhere(kernel *k, tensor_val v);
// Where `inside` does not hold, the contribution leaves the state as it is.
bool lw_adds_nothing(const kernel *k, const reduction *r, simt_value lifted, simt_value inside);
// There x is 0. lenient: also if it is 0 times infinity or NaN, as the sum is computed again then.
bool lw_is_zero_elsewhere(const kernel *k, simt_value x, simt_value inside, bool lenient);

// ---- ahead.c ------------------------------------------------------------------------------------
// Loads of masked steps, for the contributions or the store from that node on.
void lw_load_ahead(kernel *k, simt_builder *b, const loop_body *body, uint32_t from);

#endif
