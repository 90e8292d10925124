// One access for neighbouring positions of a loop: the loop's innermost digits are copies that a
// thread holds, and an index grows by one from a copy to the next. That is done for prepared
// arrays, and for packed arrays along the last axis, or along the axis before it if the last one is
// a vector.
//     columns[slot] for slot … [register 4, lane 4, whole]  →  ld i32x4 columns + 4 * lane …
//     x[src[e], h, d] for h … [register 2, lane 4, whole], d … [vector 4]  →  ld f16x8 x + 8 * lane …

#include "lower/values/values.h"

enum { MOST_BYTES = 16 };   // of one access
typedef lower_copies run;

// The index is a sum in which a step of the loop adds *by; false: it is none.
static bool moves(const run *r, tensor_expr e, int64_t *by) {
    const tensor_node *n = tensor_node_at(r->k->l->op, e);
    int64_t x, y;
    *by = 0;
    if (!(lw_depends(r->k, e) & r->axes)) return true;
    switch ((int)n->op) {
    case TENSOR_VAR_OP:
        *by = 1;
        if ((tensor_var)n->imm.i == r->loop->var) return true;
        return r->k->scope.var[n->imm.i].kind == BOUND_LET &&
               moves(r, r->k->scope.var[n->imm.i].value, by);
    case TENSOR_CVT_OP:
    case TENSOR_INDEX_OP: return moves(r, n->args[0], by);
    case TENSOR_ADD_OP:
    case TENSOR_SUB_OP:
        if (!moves(r, n->args[0], &x) || !moves(r, n->args[1], &y)) return false;
        *by = n->op == TENSOR_ADD_OP ? x + y : x - y;
        return true;
    }
    return false;
}

static uint32_t least(uint32_t x, uint32_t y) { return x < y ? x : y; }

// A power of two, at most 16, that divides the expression at the first position of the run.
static uint32_t divides(const run *r, tensor_expr e) {
    const tensor_op *op = r->k->l->op;
    const tensor_node *n = tensor_node_at(op, e);
    int64_t c;
    if (lw_constant(op, e, &c)) return c % 16 ? (uint32_t)(c & -c) : 16;
    if (n->op == TENSOR_VAR_OP && (tensor_var)n->imm.i == r->loop->var) {
        uint32_t weight = r->n;   // of the first digit that is not the run's
        return least(divides(r, r->loop->lo), weight & -weight);
    }
    switch ((int)n->op) {
    case TENSOR_VAR_OP:
        return r->k->scope.var[n->imm.i].kind == BOUND_LET
                   ? divides(r, r->k->scope.var[n->imm.i].value)
                   : 1;
    case TENSOR_CVT_OP:
    case TENSOR_INDEX_OP: return divides(r, n->args[0]);
    case TENSOR_ADD_OP:
    case TENSOR_SUB_OP: return least(divides(r, n->args[0]), divides(r, n->args[1]));
    case TENSOR_MUL_OP: return least(divides(r, n->args[0]) * divides(r, n->args[1]), 16);
    }
    return 1;
}

static run run_of(kernel *k, const loop_node *loop, uint32_t most) {
    run r = {.k = k, .loop = loop, .n = 1};
    while (r.digits < loop->ndigits && loop->digits[r.digits].place == LOOP_REGISTER_PLACE &&
           r.n * loop->digits[r.digits].extent <= most) {
        r.n *= loop->digits[r.digits].extent;
        r.axes |= AXIS(lw_axis(k, loop, r.digits++));
    }
    return r;
}

// The innermost loop that the index differs in; false: the loop may pass its end, where positions
// repeat the last one.
static bool find_run(kernel *k, tensor_expr index, uint32_t most, run *r) {
    for (uint32_t i = k->scope.masks.len; i-- > 0;) {
        *r = run_of(k, k->scope.masks.data[i].node, most);
        int64_t by;
        if (!(lw_depends(k, index) & r->axes)) continue;
        bool inside = !k->scope.masks.data[i].of && !loop_has_padding(k->l->op, r->loop);
        return inside && r->n > 1 && !(r->n & (r->n - 1)) && moves(r, index, &by) && by == 1 &&
               divides(r, index) % r->n == 0;
    }
    return false;
}

static uint32_t coordinate(const run *r, uint32_t digit, uint32_t i) {
    for (uint32_t d = 0; d < digit; d++) i /= r->loop->digits[d].extent;
    return i % r->loop->digits[digit].extent;
}

void lw_stand_at(const run *r, uint32_t i) {
    for (uint32_t d = 0; d < r->digits; d++)
        r->k->digits.at[lw_axis(r->k, r->loop, d)] = (int32_t)coordinate(r, d, i);
}

// Which copy is at hand; false: none is.
static bool stands_at(const run *r, uint32_t *here) {
    uint32_t weight = 1;
    *here = 0;
    for (uint32_t d = 0; d < r->digits; weight *= r->loop->digits[d++].extent) {
        int32_t at = r->k->digits.at[lw_axis(r->k, r->loop, d)];
        if (at < 0) return false;
        *here += (uint32_t)at * weight;
    }
    return true;
}

// all: what the copies read, each so many lanes.
static simt_value remember_all(const run *r, simt_builder *b, tensor_expr load, simt_value all,
                               uint32_t lanes, uint32_t here) {
    for (uint32_t i = 0; i < r->n; i++) {
        lw_stand_at(r, i);
        lw_remember(r->k, load, simt_slice(b, all, i * lanes, lanes));
    }
    lw_stand_at(r, here);
    return simt_slice(b, all, here * lanes, lanes);
}

static simt_value load_prepared(kernel *k, simt_builder *b, tensor_expr load) {
    const tensor_node *n = tensor_node_at(k->l->op, load);
    uint32_t bytes = simt_element_bits(lw_memory_element(k, DT_INDEX)) / 8, here;
    run r;
    if (n->nargs != 1 || !lw_threads(k) || !find_run(k, n->args[0], MOST_BYTES / bytes, &r) ||
        !stands_at(&r, &here))
        return 0;
    lw_stand_at(&r, 0);
    simt_value all = lw_load_whole(k, b, (tensor_val)n->imm.i, lw_position(k, b, n->args[0]), r.n);
    return remember_all(&r, b, load, all, 1, here);
}

// ---- Packed arrays ------------------------------------------------------------------------------
const loop_node *lw_loop_over(const kernel *k, tensor_expr index) {
    const tensor_node *n = tensor_node_at(k->l->op, index);
    // It may have another stage's name.
    while (n->op == TENSOR_VAR_OP && k->scope.var[n->imm.i].kind == BOUND_LET)
        n = tensor_node_at(k->l->op, k->scope.var[n->imm.i].value);
    for (uint32_t i = k->scope.masks.len; i-- > 0 && n->op == TENSOR_VAR_OP;)
        if (k->scope.masks.data[i].node->var == (tensor_var)n->imm.i)
            return k->scope.masks.data[i].of ? NULL : k->scope.masks.data[i].node;
    return NULL;
}

// The copies that share an access: along the last index, each with an element; or along the index
// before, where the last one is a vector.
static bool find_together(kernel *k, tensor_val v, const tensor_expr *index, uint32_t rank, run *r,
                          uint32_t *lanes) {
    if (!k->l->plan->together || rank < 2 || v >= k->l->op->nparams || !lw_threads(k) ||
        k->l->plan->values.data[v].home != LOOP_MEMORY)
        return false;
    const loop_node *last = lw_loop_over(k, index[rank - 1]),
                    *before = lw_loop_over(k, index[rank - 2]);
    axis_set vector = k->digits.vector == LOWER_NO_AXIS ? 0 : AXIS(k->digits.vector);
    bool along = lw_depends(k, index[rank - 1]) & vector;   // the vector runs along the last index
    uint32_t moved = rank - 1 - along, n = 0;
    if (along && k->digits.at[k->digits.vector] < 0 && before && last)
        n = loop_side_by_side(k->l->op, v, before, last);
    if (!along && last) n = loop_in_a_row(k->l->op, v, last);
    if (!n) return false;
    *lanes = along ? lw_lanes(&k->digits) : 1;
    *r = run_of(k, along ? before : last, n);
    for (uint32_t i = 0; i < rank; i++)
        if (lw_depends(k, index[i]) & ((i != moved ? r->axes : 0) | (i + 1 < rank ? vector : 0)))
            return false;
    for (uint32_t i = 0; i < k->scope.masks.len; i++)
        if (loop_has_padding(k->l->op, k->scope.masks.data[i].node)) return false;
    int64_t by;
    return r->n == n && moves(r, index[moved], &by) && by == 1 && divides(r, index[moved]) % n == 0;
}

bool lw_copies_in_a_row(kernel *k, const tensor_target *t, lower_copies *r) {
    uint32_t lanes;
    if (!find_together(k, t->val, t->index, t->rank, r, &lanes) || lanes > 1) return false;
    for (uint32_t d = 0; d < r->digits; d++)
        if (k->digits.at[lw_axis(k, r->loop, d)] >= 0) return false;
    return true;
}

// A tile in shared memory, along whose columns the loop goes round: the buffer has all positions of
// a round.
static simt_value load_of_tile(const fetched_rows *f, kernel *k, simt_builder *b,
                               tensor_expr load) {
    uint32_t here,
        most = MOST_BYTES /
               (simt_element_bits(lw_memory_element(k, k->l->op->vals.data[f->rows->val].type)) /
                8);
    run r = run_of(k, f->node, most);
    if (!f->tile.along || r.n <= 1 || (r.n & (r.n - 1)) || !stands_at(&r, &here)) return 0;
    lw_stand_at(&r, 0);
    simt_value all = lw_load_fetched(k, b, f, tensor_node_at(k->l->op, load), (position){0}, r.n);
    return remember_all(&r, b, load, all, 1, here);
}

static simt_value load_together(kernel *k, simt_builder *b, tensor_expr load) {
    const tensor_node *n = tensor_node_at(k->l->op, load);
    tensor_val v = (tensor_val)n->imm.i;
    uint32_t here, lanes;
    position first[8];
    run r;
    const fetched_rows *f = lw_fetched(k, n);
    if (f && f->beside) return load_of_tile(f, k, b, load);
    if (!lw_unchanged(k, v) || !find_together(k, v, n->args, n->nargs, &r, &lanes) ||
        !stands_at(&r, &here))
        return 0;
    bool plain = true;
    lw_stand_at(&r, 0);
    for (uint32_t i = f ? n->nargs - 1 : 0; i < n->nargs; i++) {
        bool vector = lanes > 1 && i + 1 == n->nargs;
        first[i] = lw_position(k, b, n->args[i]);
        plain = plain && first[i].shape == (vector ? POSITION_ALONG : POSITION_ONE) &&
                !first[i].inside;
    }
    lw_stand_at(&r, here);
    if (!plain) return 0;
    simt_value all = f ? lw_load_fetched(k, b, f, n, first[n->nargs - 1], r.n * lanes)
                       : lw_load_in_a_row(k, b, v, first, r.n * lanes);
    return remember_all(&r, b, load, all, lanes, here);
}

simt_value lw_load_adjacent(kernel *k, simt_builder *b, tensor_expr load) {
    const tensor_node *n = tensor_node_at(k->l->op, load);
    bool prepared = k->l->op->vals.data[n->imm.i].role == VAL_PREPARED;
    simt_value eight = lw_load_eights(k, b, load);
    return eight ? eight : (prepared ? load_prepared : load_together)(k, b, load);
}
