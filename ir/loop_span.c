// Equal ranges of the positions that a sorted map takes to rows, and the rows of each. A row belongs to each
// range with positions of it; one without any to the range in which its neighbours meet, so to one alone.
//     type = 0 0 0 2 2 2 2 | 2 2 2 4 4 4 4   →  rows 0 … 2, of which 2 is cut, and rows 2 … R
// Of a row that is cut each range has a part of the sum; two places a range are enough for those: one of the
// row that began before, one of the row that begins in it and goes on behind.
#include "loop.h"

typedef struct {
    tensor_op *op;
    const loop_span *s;
    tensor_space points, rows;
} spanning;

static spanning of(tensor_op *op, const loop_span *s) {
    const tensor_val_info *m = &op->vals.data[s->map];
    return (spanning){op, s, m->axes[0], m->into};
}

static tensor_expr two(const spanning *x, tensor_opcode o, tensor_expr a, tensor_expr b) {
    return tensor_binary(x->op, o, a, b, NO_SPAN);
}

static tensor_expr number(const spanning *x, int64_t n) { return tensor_int(x->op, n); }
static tensor_expr wide(const spanning *x, tensor_expr e) {
    return tensor_cvt(x->op, TENSOR_TYPE(I64), e, NO_SPAN);
}
static tensor_expr size(const spanning *x, tensor_space s) { return tensor_size(x->op, s, NO_SPAN); }
static tensor_expr variable(const spanning *x, tensor_var v) {
    return wide(x, tensor_var_expr(x->op, v, NO_SPAN));
}

tensor_expr loop_span_parts(tensor_op *op, const loop_span *s) {
    spanning x = of(op, s);
    tensor_expr up = two(&x, TENSOR_ADD_OP, size(&x, x.points), number(&x, s->points - 1)),
                parts = two(&x, TENSOR_QUOT_OP, up, number(&x, s->points));
    return two(&x, TENSOR_MAX_OP, parts, number(&x, 1));   // one has the rows where there are no positions
}

tensor_expr loop_span_slots(tensor_op *op, const loop_span *s) {
    spanning x = of(op, s);
    return two(&x, TENSOR_MUL_OP, loop_span_parts(op, s), number(&x, 2));
}

// ---- Positions -------------------------------------------------------------------------------------------
static tensor_expr begin_of(const spanning *x, tensor_var part) {
    return two(x, TENSOR_MUL_OP, variable(x, part), number(x, x->s->points));
}

static tensor_expr range_begin(const spanning *x) { return begin_of(x, x->s->part); }

static tensor_expr range_end(const spanning *x) {
    return two(x, TENSOR_MIN_OP, two(x, TENSOR_ADD_OP, range_begin(x), number(x, x->s->points)),
               size(x, x->points));
}

static tensor_expr row_offset(const spanning *x, int64_t plus) {
    tensor_expr at = two(x, TENSOR_ADD_OP, variable(x, x->s->row), number(x, plus));
    at = tensor_index(x->op, x->op->vals.data[x->s->offsets].axes[0], at, NO_SPAN);
    return wide(x, tensor_load(x->op, x->s->offsets, &at, 1, NO_SPAN));
}

tensor_expr loop_span_lo(tensor_op *op, const loop_span *s) {
    spanning x = of(op, s);
    return two(&x, TENSOR_MAX_OP, range_begin(&x), row_offset(&x, 0));
}

tensor_expr loop_span_hi(tensor_op *op, const loop_span *s) {
    spanning x = of(op, s);
    return two(&x, TENSOR_MIN_OP, range_end(&x), row_offset(&x, 1));
}

// ---- Rows ------------------------------------------------------------------------------------------------
// The row of a position, which is there where `some` holds.
static tensor_expr row_at(const spanning *x, tensor_expr some, tensor_expr position) {
    tensor_expr at = tensor_index(x->op, x->points, position, NO_SPAN),
                none = tensor_node_new(x->op,
                                       (tensor_node){.op = TENSOR_NONE_OP, .type = {DT_INDEX, x->points}});
    at = tensor_select(x->op, some, at, none, NO_SPAN);
    return wide(x, tensor_load(x->op, x->s->map, &at, 1, NO_SPAN));
}

static tensor_expr behind(const spanning *x, tensor_expr row) {
    return two(x, TENSOR_ADD_OP, row, number(x, 1));
}

// The row of the first position; or where others begin behind that of the position before, the first of
// those.
tensor_expr loop_span_first(tensor_op *op, const loop_span *s) {
    spanning x = of(op, s);
    tensor_expr begin = range_begin(&x), some = two(&x, TENSOR_GT_OP, begin, number(&x, 0)),
                before = row_at(&x, some, two(&x, TENSOR_SUB_OP, begin, number(&x, 1))),
                first = two(&x, TENSOR_MIN_OP, row_at(&x, some, begin), behind(&x, before));
    return tensor_select(op, some, first, number(&x, 0), NO_SPAN);
}

tensor_expr loop_span_end(tensor_op *op, const loop_span *s) {
    spanning x = of(op, s);
    tensor_expr end = range_end(&x), more = two(&x, TENSOR_LT_OP, end, size(&x, x.points)),
                last = row_at(&x, more, two(&x, TENSOR_SUB_OP, end, number(&x, 1)));
    return tensor_select(op, more, behind(&x, last), size(&x, x.rows), NO_SPAN);
}

tensor_expr loop_span_whole(tensor_op *op, const loop_span *s) {
    spanning x = of(op, s);
    return two(&x, TENSOR_AND_OP, two(&x, TENSOR_GE_OP, row_offset(&x, 0), range_begin(&x)),
               two(&x, TENSOR_LE_OP, row_offset(&x, 1), range_end(&x)));
}

// ---- Rows that are cut -----------------------------------------------------------------------------------
static tensor_expr part_of(const spanning *x, tensor_expr position) {
    return two(x, TENSOR_QUOT_OP, position, number(x, x->s->points));
}

tensor_expr loop_span_slot(tensor_op *op, const loop_span *s) {
    spanning x = of(op, s);
    tensor_expr before = two(&x, TENSOR_MUL_OP, variable(&x, s->part), number(&x, 2)),
                own = two(&x, TENSOR_MUL_OP, part_of(&x, row_offset(&x, 0)), number(&x, 2));
    return two(&x, TENSOR_MAX_OP, before, two(&x, TENSOR_ADD_OP, own, number(&x, 1)));
}

tensor_expr loop_span_cut_row(tensor_op *op, const loop_span *s) {
    spanning x = of(op, s);
    tensor_expr at = tensor_index(op, x.points, begin_of(&x, s->head), NO_SPAN);
    return tensor_load(op, s->map, &at, 1, NO_SPAN);
}

tensor_expr loop_span_cut_here(tensor_op *op, const loop_span *s) {
    spanning x = of(op, s);
    return two(&x, TENSOR_EQ_OP, part_of(&x, row_offset(&x, 0)), loop_span_taken(op, s));
}

tensor_expr loop_span_taken(tensor_op *op, const loop_span *s) {
    spanning x = of(op, s);
    return two(&x, TENSOR_SUB_OP, variable(&x, s->head), number(&x, 1));
}

tensor_expr loop_span_taken_end(tensor_op *op, const loop_span *s) {
    spanning x = of(op, s);
    tensor_expr last = two(&x, TENSOR_SUB_OP, row_offset(&x, 1), number(&x, 1));
    return two(&x, TENSOR_ADD_OP, part_of(&x, last), number(&x, 1));
}
