// Accesses that lie side by side: a thread holds neighbours along an axis, and one vector has all
// of the axis after it. Of a packed value both are one piece of memory.
//     x[…, h, d] for h … [register 2, …] { for d … [vector 4, …]  →  8 elements at once, where d has 4
//     s[…, h] for h … [register 2, …]  →  2 at once
// And those of matrix operations, where four lanes have two neighbours each of every eight, which
// they exchange:
//     y[…, d] for d … [register 2, lane 4, register 4, …]  →  8 at once
#include "loop.h"

enum { MOST_BYTES = 16 };   // of an access

static int64_t innermost(const loop_node *n, loop_place place) {
    return n && n->kind == LOOP_FOR && n->ndigits && n->digits[0].place == place
               ? n->digits[0].extent
               : 0;
}

static bool some(const tensor_val_info *i, int64_t held, int64_t bytes) {
    return held > 1 && !(held & (held - 1)) && bytes * held <= MOST_BYTES &&
           i->facts & FACT_PACKED && i->type != DT_INDEX;
}

uint32_t loop_in_a_row(const tensor_op *op, tensor_val v, const loop_node *last) {
    const tensor_val_info *i = &op->vals.data[v];
    int64_t held = innermost(last, LOOP_REGISTER_PLACE);
    if (i->rank < 2 || !some(i, held, ir_dtype_bytes(i->type)) || loop_has_padding(op, last))
        return 0;
    const tensor_space_info *row = &op->spaces.data[i->axes[i->rank - 1]];
    return row->kind == SPACE_CONST && row->size % held == 0 ? (uint32_t)held : 0;
}

uint32_t loop_side_by_side(const tensor_op *op, tensor_val v, const loop_node *before,
                           const loop_node *last) {
    const tensor_val_info *i = &op->vals.data[v];
    if (i->rank < 2) return 0;
    const tensor_space_info *row = &op->spaces.data[i->axes[i->rank - 1]];
    int64_t lanes = innermost(last, LOOP_VECTOR_PLACE),
            held = innermost(before, LOOP_REGISTER_PLACE);
    if (lanes < 2 || row->kind != SPACE_CONST || row->size != lanes) return 0;
    if (!some(i, held, lanes * ir_dtype_bytes(i->type)) || loop_has_padding(op, before) ||
        loop_has_padding(op, last))
        return 0;
    return (uint32_t)held;
}

uint32_t loop_in_eights(const tensor_op *op, tensor_val v, const loop_node *last) {
    enum { PAIR = 2, LANES = 4, BYTES = 2 };
    const tensor_val_info *i = &op->vals.data[v];
    bool pieces = innermost(last, LOOP_REGISTER_PLACE) == PAIR && last->ndigits > PAIR &&
                  last->digits[1].place == LOOP_LANE_PLACE && last->digits[1].extent == LANES &&
                  last->digits[1].unit == 1;
    if (!pieces || i->rank < 2 || ir_dtype_bytes(i->type) != BYTES || !(i->facts & FACT_PACKED) ||
        i->type == DT_INDEX)
        return 0;
    int64_t lo = -1;
    uint32_t held = 1;
    for (uint32_t d = 2; d < last->ndigits && last->digits[d].place == LOOP_REGISTER_PLACE; d++)
        held *= last->digits[d].extent;
    const tensor_space_info *row = &op->spaces.data[i->axes[i->rank - 1]];
    const tensor_node *first = tensor_node_at(op, last->lo);
    if (first->op == TENSOR_CONST_OP) lo = first->imm.i;
    bool whole = row->kind == SPACE_CONST && row->size % (PAIR * LANES * LANES) == 0 && !lo &&
                 !loop_has_padding(op, last);
    return whole && held % LANES == 0 ? held : 0;
}
