// Accesses that lie side by side: a thread holds neighbours along an axis, and one vector has all of the axis
// after it. Of a packed value both are one piece of memory.
//     x[…, h, d] for h … [register 2, …] { for d … [vector 4, …]  →  8 elements at once, where d has 4
//     s[…, h] for h … [register 2, …]  →  2 at once
#include "loop.h"

enum { MOST_BYTES = 16 };   // of an access

static int64_t innermost(const loop_node *n, loop_place place) {
    return n && n->kind == LOOP_FOR && n->ndigits && n->digits[0].place == place ? n->digits[0].extent : 0;
}

static bool some(const tensor_val_info *i, int64_t held, int64_t bytes) {
    return held > 1 && !(held & (held - 1)) && bytes * held <= MOST_BYTES && i->facts & FACT_PACKED &&
           i->type != DT_INDEX;
}

uint32_t loop_in_a_row(const tensor_op *op, tensor_val v, const loop_node *last) {
    const tensor_val_info *i = &op->vals.data[v];
    int64_t held = innermost(last, LOOP_REGISTER_PLACE);
    if (i->rank < 2 || !some(i, held, ir_dtype_bytes(i->type)) || loop_has_padding(op, last)) return 0;
    const tensor_space_info *row = &op->spaces.data[i->axes[i->rank - 1]];
    return row->kind == SPACE_CONST && row->size % held == 0 ? (uint32_t)held : 0;
}

uint32_t loop_side_by_side(const tensor_op *op, tensor_val v, const loop_node *before,
                           const loop_node *last) {
    const tensor_val_info *i = &op->vals.data[v];
    if (i->rank < 2) return 0;
    const tensor_space_info *row = &op->spaces.data[i->axes[i->rank - 1]];
    int64_t lanes = innermost(last, LOOP_VECTOR_PLACE), held = innermost(before, LOOP_REGISTER_PLACE);
    if (lanes < 2 || row->kind != SPACE_CONST || row->size != lanes) return 0;
    if (!some(i, held, lanes * ir_dtype_bytes(i->type)) || loop_has_padding(op, before) ||
        loop_has_padding(op, last))
        return 0;
    return (uint32_t)held;
}
