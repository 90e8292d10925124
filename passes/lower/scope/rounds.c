// What the plan says of a loop's rounds: constant bounds, how many positions a round covers,
// whether a round may pass the end, and which quotients all positions of a round share.

#include "lower/scope/scope.h"

// ---- Constants ----------------------------------------------------------------------------------
bool lw_constant(const tensor_op *op, tensor_expr e, int64_t *out) {
    const tensor_node *x = tensor_node_at(op, e);
    switch ((int)x->op) {
    case TENSOR_CONST_OP: *out = x->imm.i; return true;
    case TENSOR_SIZE_OP:
        *out = op->spaces.data[x->imm.i].size;
        return op->spaces.data[x->imm.i].kind == SPACE_CONST;
    case TENSOR_INDEX_OP:
    case TENSOR_CVT_OP: return lw_constant(op, x->args[0], out);
    }
    return false;
}

bool lw_multiple_of(const tensor_op *op, tensor_expr e, int64_t by) {
    const tensor_node *n = tensor_node_at(op, e);
    int64_t c;
    return lw_constant(op, e, &c) ? c % by == 0
                                  : n->op == TENSOR_MUL_OP && lw_multiple_of(op, n->args[1], by);
}

// ---- Rounds -------------------------------------------------------------------------------------
uint32_t lw_step(const loop_node *n) {
    uint32_t step = n->rounds.step ? n->rounds.step : 1;
    for (uint32_t i = 0; i < n->ndigits; i++) step *= n->digits[i].extent;
    return step;
}

bool lw_has_one_round(const tensor_op *op, const loop_node *n) {
    int64_t lo, hi;
    return lw_constant(op, n->lo, &lo) && lw_constant(op, n->hi, &hi) && lo < hi &&
           hi - lo <= lw_step(n);
}

// The bounds are n x and n (x + 1), so that the loop has n positions.
bool lw_spans(const tensor_op *op, const loop_node *n, uint32_t points) {
    const tensor_node *lo = tensor_node_at(op, n->lo), *hi = tensor_node_at(op, n->hi);
    int64_t by = 0, one = 0;
    if (lo->op != TENSOR_MUL_OP || hi->op != TENSOR_MUL_OP || lo->args[1] != hi->args[1])
        return false;
    const tensor_node *next = tensor_node_at(op, hi->args[0]);
    return lw_constant(op, lo->args[1], &by) && by == points && next->op == TENSOR_ADD_OP &&
           next->args[0] == lo->args[0] && lw_constant(op, next->args[1], &one) && one == 1;
}

// No round of the loop can pass the end. A loop along the vector ends at a multiple of it.
bool lw_ends_exactly(const tensor_op *op, const loop_node *n, uint32_t step) {
    int64_t lo, hi;
    if (n->rounds.step > 1) return true;   // a block is at one position in so many
    bool rest = n->rest != LOOP_WHOLE_PLACE;
    bool vector = n->ndigits && n->digits[0].place == LOOP_VECTOR_PLACE;
    if (lw_constant(op, n->lo, &lo) && lw_constant(op, n->hi, &hi))
        return hi > lo && (rest ? (hi - lo) % step == 0 : hi - lo == step);
    if (!rest && lw_spans(op, n, step)) return true;
    if (rest && n->rounds.pad && n->rounds.pad % step == 0) return true;
    if (rest && lw_multiple_of(op, n->lo, step) && lw_multiple_of(op, n->hi, step)) return true;
    return rest && (step == 1 || (vector && step == n->digits[0].extent));
}

// ---- Quotients ----------------------------------------------------------------------------------
static bool is_index_of(const tensor_op *op, tensor_expr e, const loop_node *n) {
    const tensor_node *x = tensor_node_at(op, e);
    if (x->op == TENSOR_CVT_OP) x = tensor_node_at(op, x->args[0]);
    return x->op == TENSOR_VAR_OP && (tensor_var)x->imm.i == n->var;
}

// Rounds begin at multiples of a round, and the divisor is a multiple of it too. So all positions
// of a round have one quotient.
bool lw_divides_loop(const tensor_op *op, const tensor_node *quotient, const loop_node *n) {
    int64_t c, round = loop_digits_product(n);
    bool plain = n->rest == LOOP_SERIAL_PLACE && n->rounds.unroll <= 1 && !n->distributed.steps &&
                 n->rounds.step <= 1 && !n->rounds.pad && round == loop_fetch_rows(n);
    return plain && is_index_of(op, quotient->args[0], n) &&
           lw_constant(op, quotient->args[1], &c) && c > 0 && c % round == 0 &&
           lw_multiple_of(op, n->lo, round);
}

// The loop around whose index is divided so; NULL: there is none.
const loop_node *lw_loop_divided(const kernel *k, const tensor_node *n) {
    for (uint32_t i = k->scope.masks.len; i-- > 0;)
        if (!k->scope.masks.data[i].of && lw_divides_loop(k->l->op, n, k->scope.masks.data[i].node))
            return k->scope.masks.data[i].node;
    return NULL;
}
