// Operands of matrix operations: the pieces of A and B that a lane has, and the slots of C. Pieces
// are computed as expressions, or read from shared memory. Where a number of f32 is two of tf32,
// they are taken apart.

#include "lower/matrix/matrix.h"
#include <math.h>

// ---- Other positions ----------------------------------------------------------------------------
static memo_cell *apart_from(const kernel *k, axis_set own) {
    uint32_t n = k->l->op->exprs.len + 1;
    memo_cell *memo = ARENA_ARRAY(k->l->arena, memo_cell, n);
    for (uint32_t e = 0; e < n; e++) {
        const memo_cell *c = &k->known.memo[e];
        if (!c->known || c->axes & own) continue;
        uint32_t count = lw_instances(&k->digits, c->axes);
        memo[e] = (memo_cell){true, c->axes, ARENA_ARRAY(k->l->arena, simt_value, count)};
        for (uint32_t i = 0; i < count; i++) memo[e].of[i] = c->of[i];
    }
    return memo;
}

// What is given holds at those positions too.
outside lm_enter(kernel *k, simt_builder *b, tensor_var v, binding as) {
    outside o = {k->known.memo, k->scope.var, k->known.log.len};
    uint32_t n = k->l->op->vars.len;
    k->known.memo = apart_from(k, k->scope.var[v].axes);
    k->scope.var = ARENA_ARRAY(k->l->arena, binding, n + 1);
    for (uint32_t i = 0; i < n; i++) k->scope.var[i] = o.var[i];
    k->scope.var[v] = as;
    for (uint32_t i = 0; i < k->scope.given.len; i++) lw_given(k, b, k->scope.given.data[i]);
    return o;
}

outside lm_enter_columns(kernel *k, simt_builder *b, const pieces *p) {
    const matrix_columns *c = &k->scope.columns.data[k->scope.columns.len - 1];
    while (c->node->var != p->m->columns) c--;
    return lm_enter(k, b, p->m->columns, c->at);
}

void lm_leave(kernel *k, outside o) {
    k->known.log.len = o.log;
    k->known.memo = o.memo;
    k->scope.var = o.var;
}

// ---- Elements -----------------------------------------------------------------------------------
// A value that its load widened is the narrow one.
static simt_value as_element(simt_builder *b, simt_element e, simt_value x) {
    simt_type want = {(uint8_t)e, simt_typeof(b->func, x).lanes};
    simt_value def = b->func->values.data[x].def;
    const simt_instr_info *i = def ? &b->func->instrs.data[def] : NULL;
    if (i && i->op == SIMT_CVT && simt_type_equal(simt_typeof(b->func, i->args[0]), want))
        return i->args[0];
    return simt_build_cvt(b, want, x);
}

static void set(lower_digits *d, uint32_t axis, int32_t at) {
    if (axis != LOWER_NO_AXIS) d->at[axis] = at;
}

// The element at hand is there; 0: it always is. Loops inside have masks. A is there in cells that
// are not empty; where there are cells, steps past the end are empty ones, so that B may have what
// the last step has. Fetched rows are zeros past the end.
static simt_value is_there(kernel *k, simt_builder *b, const reduction *r, simt_mma_operand o,
                           tensor_expr e) {
    if ((o == SIMT_MMA_B && loop_again(r->node)) || lw_is_fetched(k, e, r->masks)) return 0;
    simt_value c = lw_masks(k, b, r->masks);
    for (uint32_t i = 0; i < r->cells.len; i++) c = lw_both(b, c, lw_expr(k, b, r->cells.data[i]));
    return c;
}

// A lane's number for this point of the depth, among those of the operation.
static uint32_t held_at(const pieces *p, uint32_t depth, uint32_t w, uint32_t op) {
    return op * loop_matrix_held(p->m->kind) + depth % w + depth / (4 * w) * w;
}

static void stand_at_depth(lower_digits *d, const pieces *p, uint32_t depth, uint32_t w,
                           uint32_t op) {
    set(d, p->low, (int32_t)(depth % w));
    set(d, p->high, (int32_t)(depth / (4 * w)));
    set(d, p->run, (int32_t)held_at(p, depth, w, op));
}

// The element, or zero if it is not there.
static simt_value element(kernel *k, simt_builder *b, const reduction *r, const pieces *p,
                          simt_mma_operand o, tensor_expr e) {
    simt_type t = simt_mma_type(p->m->kind, o), one = {t.element, 1};
    simt_value there = is_there(k, b, r, o, e);
    if (there) lw_enter_cell(k, b, r);
    simt_value x = as_element(b, (simt_element)t.element, lw_expr(k, b, e));
    uint8_t lanes = simt_typeof(k->f, x).lanes;
    bool zero = there && lw_is_zero_elsewhere(k, x, there, loop_again(r->node) != NULL);
    k->product.cell = 0;
    return there && !zero ? simt_build_select(b, simt_widen(b, there, lanes), x,
                                              simt_widen(b, simt_build_float(b, one, 0), lanes))
                          : x;
}

// One operation, for each of the pieces that alternate.
static void operand(kernel *k, simt_builder *b, const reduction *r, const pieces *p,
                    simt_mma_operand o, tensor_expr e, uint32_t op, uint32_t pieces,
                    simt_value *out) {
    simt_type t = simt_mma_type(p->m->kind, o);
    uint32_t w = simt_mma_word(p->m->kind);
    simt_value x[16], of[16];
    for (uint32_t i = 0; i < t.lanes; i++) {
        simt_mma_place at = simt_mma_at(p->m->kind, o, 0, i);
        if (o == SIMT_MMA_A) set(&k->digits, p->rows, (int32_t)at.row / 8);
        stand_at_depth(&k->digits, p, o == SIMT_MMA_A ? at.column : at.row, w, op);
        x[i] = element(k, b, r, p, o, e);
    }
    set(&k->digits, p->rows, -1);
    set(&k->digits, p->low, -1);
    set(&k->digits, p->high, -1);
    set(&k->digits, p->run, -1);
    for (uint32_t piece = 0; piece < pieces; piece++) {
        for (uint32_t i = 0; i < t.lanes; i++) of[i] = simt_pick(b, x[i], piece);
        out[piece] = simt_gather(b, of, t.lanes);
    }
}

// All operations along a vector of the depth: the lane has one vector, of its column or of all
// rows.
static void vector_operand(kernel *k, simt_builder *b, const reduction *r, const pieces *p,
                           simt_mma_operand o, tensor_expr e, simt_value *out) {
    simt_type t = simt_mma_type(p->m->kind, o);
    uint32_t w = simt_mma_word(p->m->kind);
    simt_value x = element(k, b, r, p, o, e), of[16];
    for (uint32_t op = 0; op < p->deep; op++) {
        for (uint32_t i = 0; i < t.lanes; i++) {
            simt_mma_place at = simt_mma_at(p->m->kind, o, 0, i);
            of[i] = simt_pick(b, x, held_at(p, o == SIMT_MMA_A ? at.column : at.row, w, op));
        }
        out[op] = simt_gather(b, of, t.lanes);
    }
}

// Elements that are not there are zeros.
static simt_value piece(kernel *k, simt_builder *b, const reduction *r, const pieces *p,
                        simt_mma_operand o, tensor_expr e, simt_value x) {
    simt_type t = simt_mma_type(p->m->kind, o);
    uint32_t w = simt_mma_word(p->m->kind);
    simt_value of[16], there = 0;
    for (uint32_t i = 0; i < t.lanes && (!i || there); i++) {
        simt_mma_place at = simt_mma_at(p->m->kind, o, 0, i);
        stand_at_depth(&k->digits, p, o == SIMT_MMA_A ? at.column : at.row, w, 0);
        there = is_there(k, b, r, o, e);
        if (there)
            of[i] = simt_build_select(b, there, simt_pick(b, x, i),
                                      simt_build_float(b, (simt_type){t.element, 1}, 0));
    }
    set(&k->digits, p->low, -1);
    set(&k->digits, p->high, -1);
    return there ? simt_gather(b, of, t.lanes) : x;
}

// Of two pieces the first load brings both.
static void take_pieces(kernel *k, simt_builder *b, const reduction *r, const pieces *p,
                        simt_mma_operand o, tensor_expr e, const lm_pieces *x, operands *out) {
    uint32_t pair = lm_pair(x), lanes = simt_mma_type(p->m->kind, o).lanes;
    bool two = pair != LOWER_NO_AXIS;
    if (two && k->digits.at[pair] % 2) return;
    simt_value all = lm_load_pieces(k, b, x);
    for (uint32_t i = 0; i < 1u + two; i++) {
        if (two) k->digits.at[pair] += (int32_t)i;
        out->of[lw_instance(&k->digits, out->axes)] = piece(
            k, b, r, p, o, e, two ? simt_slice(b, all, i * lanes, lanes) : all);
    }
    if (two) k->digits.at[pair]--;
}

// A number of f32 as two of tf32: the nearest one, and the rest. The operation cuts the last of the
// rest's 12 bits. Rounding it first would err by as much, and cost a conversion.
//
// The nearest tf32 of the largest numbers would be infinite, so they get the largest finite one.
// Infinity and NaN are in the rest: 0 times them would be NaN where the other factor has no rest.
// The first part of infinity has only its sign, and is so small that its product with any rest is
// finite.
static simt_value take_apart(simt_builder *b, simt_value x, simt_value *rest) {
    static const double LARGEST = 0x1.ffcp127, SMALL = 0x1p-127;
    simt_type t = simt_typeof(b->func, x);
    simt_value most = simt_build_float(b, t, LARGEST), least = simt_build_float(b, t, -LARGEST),
               within = simt_build_binary(b, SIMT_MAX, simt_build_binary(b, SIMT_MIN, x, most),
                                          least),
               part = simt_build_unary(b, SIMT_CVT_TF32, within);
    *rest = simt_build_binary(b, SIMT_SUB, x, part);
    simt_value finite = simt_build_cmp(b, SIMT_LT, simt_build_unary(b, SIMT_ABS, *rest),
                                       simt_build_float(b, t, (double)INFINITY)),
               sign = simt_build_binary(b, SIMT_MUL, part, simt_build_float(b, t, SMALL));
    return simt_build_select(b, finite, part, sign);
}

// The same, where sums that are not finite are computed again: infinity, NaN and numbers next to
// the largest make sums so.
static simt_value take_apart_finite(simt_builder *b, simt_value x, simt_value *rest) {
    simt_value part = simt_build_unary(b, SIMT_CVT_TF32, x);
    *rest = simt_build_binary(b, SIMT_SUB, x, part);
    return part;
}

// ---- All ----------------------------------------------------------------------------------------
operands lm_operands(kernel *k, simt_builder *b, const reduction *r, const pieces *p,
                     axis_set steps, simt_mma_operand o, tensor_expr e) {
    axis_set depends = lw_depends(k, e);
    for (uint32_t i = 0; i < r->cells.len && o == SIMT_MMA_A; i++)
        depends |= lw_depends(k, r->cells.data[i]);
    uint32_t tiles = o == SIMT_MMA_B ? p->tiles : 1;
    operands x = {(lw_written_out(&k->digits, depends) | steps) & ~p->all, p->deep * tiles, NULL,
                  NULL};
    uint32_t n = lw_instances(&k->digits, x.axes) * x.pieces;
    bool apart = simt_mma_splits(p->m->kind) && p->info->warps == 1,
         again = apart && lm_is_found_again(k, r);
    x.of = ARENA_ARRAY(k->l->arena, simt_value, n);
    if (apart) x.rest = ARENA_ARRAY(k->l->arena, simt_value, n);
    const lm_pieces *whole = lm_pieces_of(k, b, r, p, o, e, x.axes);
    k->product.whole = o == SIMT_MMA_A ? b->region : 0;
    for (instance_walk w = lw_walk_begin(&k->digits, x.axes); whole && lw_walk_next(&w);)
        take_pieces(k, b, r, p, o, e, whole, &x);
    for (instance_walk w = lw_walk_begin(&k->digits, x.axes); !whole && lw_walk_next(&w);) {
        uint32_t at = lw_instance(&k->digits, x.axes) * x.pieces;
        simt_value *of = &x.of[at];
        if (p->vector) vector_operand(k, b, r, p, o, e, of);
        for (uint32_t op = 0; op < p->deep && !p->vector; op++)
            operand(k, b, r, p, o, e, op, tiles, &of[op * tiles]);
        for (uint32_t i = 0; i < x.pieces && apart; i++)
            of[i] = (again ? take_apart_finite : take_apart)(b, of[i], &x.rest[at + i]);
    }
    k->product.whole = 0;
    return x;
}

simt_value *lm_slot(lower_digits *d, const reduction *r, const pieces *p, uint32_t element) {
    simt_mma_place at = simt_mma_at(p->m->kind, SIMT_MMA_C, 0, element);
    set(d, p->rows, (int32_t)at.row / 8);
    set(d, p->columns, (int32_t)at.column);
    simt_value *slot = &r->slot[lw_instance(d, r->copies) * r->n];
    set(d, p->rows, -1);
    set(d, p->columns, -1);
    return slot;
}

bool lm_is_zero(const simt_func *f, simt_value v) {
    const simt_instr_info *i = &f->instrs.data[f->values.data[v].def];
    if (f->values.data[v].def && i->op == SIMT_SPLAT) return lm_is_zero(f, i->args[0]);
    return f->values.data[v].def && i->op == SIMT_CONST && i->imm.f == 0;
}
