// Facts about reductions by matrix operations: how their loops are dealt out, what they multiply,
// and what they end with.
#include "loop_matrix.h"

bool loop_matrix_adjacent(const loop_node *n) {
    return n->ndigits > 1 && n->digits[0].place == LOOP_REGISTER_PLACE &&
           n->digits[1].place == LOOP_LANE_PLACE;
}

bool loop_matrix_vector(const loop_node *n) {
    return n->ndigits && n->digits[0].place == LOOP_VECTOR_PLACE;
}

bool loop_matrix_alternate(const loop_node *columns) {
    return loop_matrix_vector(columns) ||
           (loop_matrix_adjacent(columns) && columns->digits[0].extent > 2);
}

// Columns of C are neighbours, unless pieces alternate.
uint32_t loop_matrix_pair(const loop_node *columns) {
    return loop_matrix_alternate(columns) ? 2 : 0;
}

// Lane l has column l / 4 of a piece of B, and columns 2 (l % 4) and the next one of C. If a lane
// has the columns of n pieces side by side, the pieces alternate, and one access has all of a row:
// the lane's first column of C is n (l % 4), the other one is 4 n further.
uint32_t loop_matrix_column(const loop_node *columns, uint32_t lane) {
    uint32_t at = lane / 4;
    return loop_matrix_alternate(columns) ? (at / 2 + at % 2 * 4) * columns->digits[0].extent : at;
}

uint32_t loop_matrix_held(simt_mma kind) { return simt_mma_table(kind)->k / 4u; }

uint32_t loop_matrix_run(const loop_node *depth, simt_mma kind) {
    const loop_digit *d = depth->digits;
    uint32_t held = loop_matrix_held(kind);
    if (!loop_matrix_adjacent(depth) || d[0].extent % held) return 0;
    // else it is as the operation has it
    return d[0].extent > simt_mma_word(kind) ? d[0].extent : 0;
}

uint32_t loop_matrix_products(const loop_node *depth, simt_mma kind) {
    uint32_t points = 1;
    for (uint32_t i = 0; i < depth->ndigits; i++)
        if (depth->digits[i].place == LOOP_VECTOR_PLACE ||
            depth->digits[i].place == LOOP_REGISTER_PLACE)
            points *= depth->digits[i].extent;
    return points / loop_matrix_held(kind) * (simt_mma_splits(kind) ? 3 : 1);
}

const tensor_node *loop_matrix_factor(const tensor_op *op, tensor_expr e) {
    const tensor_node *n = tensor_node_at(op, e);
    while (n->op == TENSOR_CVT_OP || n->op == TENSOR_ROUND_OP || n->op == TENSOR_TF32_OP ||
           n->op == TENSOR_PARTS_OP)
        n = tensor_node_at(op, n->args[0]);
    return n;
}

const loop_node *loop_again(const loop_node *n) {
    const loop_node *last = n->kind == LOOP_REDUCE && n->reduce.matrix && n->body.len
                                ? n->body.data[n->body.len - 1]
                                : NULL;
    return last && last->kind == LOOP_AGAIN ? last : NULL;
}

bool loop_multiplies(const tensor_op *op, const loop_node *reduce, uint32_t stage) {
    return reduce->reduce.matrix && op->reducers.data[op->stages.data[stage].reducer].roundings > 0;
}

ir_dtype loop_matrix_type(simt_mma kind) {
    return ir_dtype_of_element((simt_element)simt_mma_table(kind)->element);
}

bool loop_matrix_holds(const loop_plan *p, tensor_expr e, simt_mma kind) {
    const tensor_node *n = tensor_node_at(p->op, e);
    if (simt_mma_splits(kind)) return n->op == TENSOR_PARTS_OP;
    // none: tf32
    ir_dtype type = loop_matrix_type(kind), want = ir_dtype_is_narrow(type) ? type : DT_COUNT;
    if (n->op == TENSOR_CVT_OP && tensor_type_is_float(tensor_typeof(p->op, n->args[0])))
        return n->type.type == want || loop_matrix_holds(p, n->args[0], kind);
    if (n->op == TENSOR_CONST_OP && tensor_type_is_float(n->type))
        return want == DT_COUNT ? ir_tf32_round(n->imm.f) == n->imm.f
                                : ir_dtype_round(want, n->imm.f) == n->imm.f;
    if (n->op == TENSOR_ROUND_OP) return (ir_dtype)n->imm.i == want;
    if (n->op == TENSOR_TF32_OP) return want == DT_COUNT;
    if (n->op != TENSOR_LOAD_OP) return false;
    tensor_val val = (tensor_val)n->imm.i;
    ir_dtype stored = p->op->vals.data[val].type;
    bool narrow = ir_dtype_is_narrow(stored);   // tf32 has all its bits
    return p->values.data[val].home == LOOP_MEMORY &&
           (stored == want || (want == DT_COUNT && narrow));
}

bool loop_fetches_panels(const loop_node *n) {
    bool panels = false;
    for (uint32_t i = 0; i < n->fetch.n; i++) panels |= n->fetch.rows[i].panels;
    return panels;
}
