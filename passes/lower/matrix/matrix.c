// Reductions by matrix operations of a warp. The loops over rows, columns and depth deal points out as the
// operation has its pieces of C and A; those of B stand at the same points of the depth, and in columns that
// other lanes hold, for which the loop over columns has positions of its own. A step past the end of the
// depth is a product of zeros.
//     reduce y by m16n8k16.f16 (n, q, k) { for k … { contribute y } }  →  a = ld …  b = ld …  c = mma a, b, c

#include "lower/values.h"
#include "lower/copies.h"
#include "lower/sums.h"
#include "lower/loops.h"
#include "lower/matrix/matrix.h"
#include <math.h>

// ---- Loops -----------------------------------------------------------------------------------------------
static bool has_vector(const loop_node *n) { return n->digits[0].place == LOOP_VECTOR_PLACE; }

axis_set lw_depth_axes(kernel *k, const loop_node *reduce) {
    const loop_node *depth = loop_over_var(&reduce->body, reduce->matrix->depth);
    simt_mma kind = reduce->matrix->kind;
    bool halves = simt_mma_word(kind) > 1,
         run = has_vector(depth) || loop_matrix_run(depth, kind);
    axis_set s = 0;
    for (uint32_t i = 0; i < (run ? 2u : 2u + halves); i++) s |= AXIS(lw_axis(k, depth, i));
    return s;
}

static const loop_node *loop_around(const kernel *k, tensor_var v) {
    for (uint32_t i = k->masks.len; i-- > 0;)
        if (k->masks.data[i].node->var == v) return k->masks.data[i].node;
    ICE("'%s': a matrix operation stands outside its loops", k->plan->name);
}

// The digit of two columns of a piece that a lane has: neighbours, or where pieces alternate apart.
static uint32_t column_digit(const loop_node *columns) { return loop_matrix_alternate(columns) ? 2 : 0; }

static pieces pieces_of(kernel *k, const loop_node *reduce) {
    const loop_matrix *m = reduce->matrix;
    const loop_node *depth = loop_around(k, m->depth), *columns = loop_around(k, m->columns);
    pieces p = {.m = m,
                .info = simt_mma_table(m->kind),
                .rows = LOWER_NO_AXIS,
                .low = LOWER_NO_AXIS,
                .high = LOWER_NO_AXIS,
                .run = LOWER_NO_AXIS,
                .tiles = 1,
                .deep = 1,
                .vector = has_vector(depth)};
    bool halves = simt_mma_word(m->kind) > 1;
    p.columns = lw_axis(k, columns, column_digit(columns));
    p.all = AXIS(p.columns) | lw_depth_axes(k, reduce);
    if (m->rows != LOOP_NO_ROWS) {
        const loop_node *rows = loop_around(k, m->rows);
        p.rows = lw_axis(k, rows, rows->digits[0].place == LOOP_LANE_PLACE ? 1 : 2);
        p.all |= AXIS(p.rows);
    }
    uint32_t run = p.vector ? depth->digits[0].extent : loop_matrix_run(depth, m->kind);
    if (run) p.deep = run / loop_matrix_held(m->kind), p.run = lw_axis(k, depth, 0);
    if (!p.vector && has_vector(columns) && lw_axis(k, columns, 0) == k->vector) p.tiles = lw_lanes(k);
    if (halves && !run) p.low = lw_axis(k, depth, 0);
    if (!run) p.high = lw_axis(k, depth, 1 + halves);
    return p;
}

// ---- The columns of B ------------------------------------------------------------------------------------
static bool has_columns(const loop_body *body, tensor_var v) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if ((n->kind == LOOP_REDUCE && n->matrix && n->matrix->columns == v) || has_columns(&n->body, v))
            return true;
    }
    return false;
}

// Lane l stands at column l / 4 of a piece of B, where it has columns 2 (l % 4) and the next one of C.
// Columns of n pieces alternate where a lane has them adjacent, and all of one row are one access: the first
// column of C is then n (l % 4), and the other one 4 n after it.
static simt_value first_column(kernel *k, simt_builder *b, const loop_node *n) {
    simt_type i32 = SIMT_T(I32);
    simt_value at = simt_build_binary(b, SIMT_LSHR, k->lane, simt_build_int(b, i32, 2));
    if (!loop_matrix_alternate(n)) return lw_to_ix(k, b, at);
    simt_value one = simt_build_int(b, i32, 1),
               odd = simt_build_binary(b, SIMT_MUL, simt_build_binary(b, SIMT_AND, at, one),
                                       simt_build_int(b, i32, 4)),
               both = simt_build_binary(b, SIMT_ADD, simt_build_binary(b, SIMT_LSHR, at, one), odd);
    return lw_to_ix(k, b, simt_build_binary(b, SIMT_MUL, both, simt_build_int(b, i32, n->digits[0].extent)));
}

void lw_bind_columns(kernel *k, simt_builder *b, const loop_node *n, const round_of *r, simt_value last) {
    if (!has_columns(&n->body, n->var)) return;
    binding c = k->var[n->var];
    c.columns = true;
    uint32_t pair = column_digit(n);
    simt_value base = simt_build_binary(b, SIMT_ADD, r->base, first_column(k, b, n));
    for (uint32_t i = loop_matrix_alternate(n) ? 3 : 2; i < n->ndigits; i++) {
        const lower_axis *a = &k->axis[lw_axis(k, n, i)];
        if (a->place != LOOP_GROUP_PLACE) continue;
        simt_value d = simt_build_binary(b, SIMT_MUL, lw_to_ix(k, b, lw_digit(k, b, a)),
                                         lw_ix(k, b, a->weight));
        base = simt_build_binary(b, SIMT_ADD, base, d);
    }
    c.own &= ~AXIS(lw_axis(k, n, pair));
    c.axes &= ~AXIS(lw_axis(k, n, pair));
    c.of = ARENA_ARRAY(k->l->arena, simt_value, lw_instances(k, c.own));
    for (instance_walk w = lw_walk_begin(k, c.own); lw_walk_next(&w);) {
        simt_value step, inside;
        c.of[lw_instance(k, c.own)] = lw_copy_position(k, b, c.own, base, r, last, &step, &inside);
    }
    VEC_PUSH(k->l->arena, &k->columns, ((matrix_columns){n, c}));
}

static memo_cell *apart_from(const kernel *k, axis_set own) {
    uint32_t n = k->l->op->exprs.len + 1;
    memo_cell *memo = ARENA_ARRAY(k->l->arena, memo_cell, n);
    for (uint32_t e = 0; e < n; e++) {
        const memo_cell *c = &k->memo[e];
        if (!c->known || c->axes & own) continue;
        uint32_t count = lw_instances(k, c->axes);
        memo[e] = (memo_cell){true, c->axes, ARENA_ARRAY(k->l->arena, simt_value, count)};
        for (uint32_t i = 0; i < count; i++) memo[e].of[i] = c->of[i];
    }
    return memo;
}

// What is given is so at those positions too.
outside lm_enter(kernel *k, simt_builder *b, tensor_var v, binding as) {
    outside o = {k->memo, k->var, k->log.len};
    uint32_t n = k->l->op->vars.len;
    k->memo = apart_from(k, k->var[v].axes);
    k->var = ARENA_ARRAY(k->l->arena, binding, n + 1);
    for (uint32_t i = 0; i < n; i++) k->var[i] = o.var[i];
    k->var[v] = as;
    for (uint32_t i = 0; i < k->given.len; i++) lw_given(k, b, k->given.data[i]);
    return o;
}

outside lm_enter_columns(kernel *k, simt_builder *b, const pieces *p) {
    const matrix_columns *c = &k->columns.data[k->columns.len - 1];
    while (c->node->var != p->m->columns) c--;
    return lm_enter(k, b, p->m->columns, c->at);
}

void lm_leave(kernel *k, outside o) {
    k->log.len = o.log;
    k->memo = o.memo;
    k->var = o.var;
}

// ---- Operands --------------------------------------------------------------------------------------------
// What was widened when it was loaded is what it was.
static simt_value as_element(simt_builder *b, simt_element e, simt_value x) {
    simt_type want = {(uint8_t)e, simt_typeof(b->func, x).lanes};
    simt_value def = b->func->values.data[x].def;
    const simt_instr_info *i = def ? &b->func->instrs.data[def] : NULL;
    if (i && i->op == SIMT_CVT && simt_type_equal(simt_typeof(b->func, i->args[0]), want)) return i->args[0];
    return simt_build_cvt(b, want, x);
}

static void set(kernel *k, uint32_t axis, int32_t at) {
    if (axis != LOWER_NO_AXIS) k->at[axis] = at;
}

// Whether the element at hand is there: within the loops inside; of A, where the cell is not empty. Where
// cells are, those of A past the end are empty, and B has what the last step has. Fetched rows are zeros
// there.
static simt_value is_there(kernel *k, simt_builder *b, const reduction *r, simt_mma_operand o,
                           tensor_expr e) {
    if ((o == SIMT_MMA_B && loop_again(r->node)) || lw_is_fetched(k, e, r->masks)) return 0;
    simt_value c = lw_masks(k, b, r->masks);
    for (uint32_t i = 0; i < r->cells.len; i++) c = lw_both(b, c, lw_expr(k, b, r->cells.data[i]));
    return c;
}

// Of the element's point of the depth, what a lane has at that operation.
static uint32_t held_at(const pieces *p, uint32_t depth, uint32_t w, uint32_t op) {
    return op * loop_matrix_held(p->m->kind) + depth % w + depth / (4 * w) * w;
}

static void stand_at_depth(kernel *k, const pieces *p, uint32_t depth, uint32_t w, uint32_t op) {
    set(k, p->low, (int32_t)(depth % w));
    set(k, p->high, (int32_t)(depth / (4 * w)));
    set(k, p->run, (int32_t)held_at(p, depth, w, op));
}

// What is there, else zero.
static simt_value element(kernel *k, simt_builder *b, const reduction *r, const pieces *p, simt_mma_operand o,
                          tensor_expr e) {
    simt_type t = simt_mma_type(p->m->kind, o), one = {t.element, 1};
    simt_value there = is_there(k, b, r, o, e);
    if (there) lw_enter_cell(k, b, r);
    simt_value x = as_element(b, (simt_element)t.element, lw_expr(k, b, e));
    uint8_t lanes = simt_typeof(k->f, x).lanes;
    bool zero = there && lw_is_zero_elsewhere(k, x, there, loop_again(r->node) != NULL);
    k->cell = 0;
    return there && !zero ? simt_build_select(b, lw_widen(b, there, lanes), x,
                                     lw_widen(b, simt_build_float(b, one, 0), lanes))
                 : x;
}

// Of each of the pieces that alternate.
static void operand(kernel *k, simt_builder *b, const reduction *r, const pieces *p, simt_mma_operand o,
                    tensor_expr e, uint32_t op, uint32_t pieces, simt_value *out) {
    simt_type t = simt_mma_type(p->m->kind, o);
    uint32_t w = simt_mma_word(p->m->kind);
    simt_value x[16], of[16];
    for (uint32_t i = 0; i < t.lanes; i++) {
        simt_mma_place at = simt_mma_at(p->m->kind, o, 0, i);
        if (o == SIMT_MMA_A) set(k, p->rows, (int32_t)at.row / 8);
        stand_at_depth(k, p, o == SIMT_MMA_A ? at.column : at.row, w, op);
        x[i] = element(k, b, r, p, o, e);
    }
    set(k, p->rows, -1);
    set(k, p->low, -1);
    set(k, p->high, -1);
    set(k, p->run, -1);
    for (uint32_t piece = 0; piece < pieces; piece++) {
        for (uint32_t i = 0; i < t.lanes; i++) of[i] = lw_pick(b, x[i], piece);
        out[piece] = lw_gather(b, of, t.lanes);
    }
}

// Of each of the operations along a vector of the depth, of which a lane has one: of its column, or of all
// rows.
static void vector_operand(kernel *k, simt_builder *b, const reduction *r, const pieces *p,
                           simt_mma_operand o, tensor_expr e, simt_value *out) {
    simt_type t = simt_mma_type(p->m->kind, o);
    uint32_t w = simt_mma_word(p->m->kind);
    simt_value x = element(k, b, r, p, o, e), of[16];
    for (uint32_t op = 0; op < p->deep; op++) {
        for (uint32_t i = 0; i < t.lanes; i++) {
            simt_mma_place at = simt_mma_at(p->m->kind, o, 0, i);
            of[i] = lw_pick(b, x, held_at(p, o == SIMT_MMA_A ? at.column : at.row, w, op));
        }
        out[op] = lw_gather(b, of, t.lanes);
    }
}

// What is there of a piece, else zeros.
static simt_value piece(kernel *k, simt_builder *b, const reduction *r, const pieces *p, simt_mma_operand o,
                        tensor_expr e, simt_value x) {
    simt_type t = simt_mma_type(p->m->kind, o);
    uint32_t w = simt_mma_word(p->m->kind);
    simt_value of[16], there = 0;
    for (uint32_t i = 0; i < t.lanes && (!i || there); i++) {
        simt_mma_place at = simt_mma_at(p->m->kind, o, 0, i);
        stand_at_depth(k, p, o == SIMT_MMA_A ? at.column : at.row, w, 0);
        there = is_there(k, b, r, o, e);
        if (there)
            of[i] = simt_build_select(b, there, lw_pick(b, x, i),
                                      simt_build_float(b, (simt_type){t.element, 1}, 0));
    }
    set(k, p->low, -1);
    set(k, p->high, -1);
    return there ? lw_gather(b, of, t.lanes) : x;
}

// Of two pieces the first brings both.
static void take_pieces(kernel *k, simt_builder *b, const reduction *r, const pieces *p, simt_mma_operand o,
                        tensor_expr e, const lm_pieces *x, operands *out) {
    uint32_t pair = lm_pair(x), lanes = simt_mma_type(p->m->kind, o).lanes;
    bool two = pair != LOWER_NO_AXIS;
    if (two && k->at[pair] % 2) return;
    simt_value all = lm_load_pieces(k, b, x);
    for (uint32_t i = 0; i < 1u + two; i++) {
        if (two) k->at[pair] += (int32_t)i;
        out->of[lw_instance(k, out->axes)] = piece(k, b, r, p, o, e,
                                                   two ? lw_slice(b, all, i * lanes, lanes) : all);
    }
    if (two) k->at[pair]--;
}

// A number of f32 as two of tf32: the nearest one, and what it leaves, of whose 12 bits the operation cuts the last. Rounding
// it first would err by as much, and take a conversion. The nearest to the largest numbers would be infinite: they
// get the largest there is. What is infinite or NaN is in the rest: 0 times it would be NaN where the other factor leaves no
// rest. Of infinity the first part has but the sign, so small that its product with a rest, of whichever sign, stays finite.
static simt_value take_apart(simt_builder *b, simt_value x, simt_value *rest) {
    static const double LARGEST = 0x1.ffcp127, SMALL = 0x1p-127;
    simt_type t = simt_typeof(b->func, x);
    simt_value most = simt_build_float(b, t, LARGEST), least = simt_build_float(b, t, -LARGEST),
               within = simt_build_binary(b, SIMT_MAX, simt_build_binary(b, SIMT_MIN, x, most), least),
               part = simt_build_unary(b, SIMT_CVT_TF32, within);
    *rest = simt_build_binary(b, SIMT_SUB, x, part);
    simt_value finite = simt_build_cmp(b, SIMT_LT, simt_build_unary(b, SIMT_ABS, *rest), simt_build_float(b, t, (double)INFINITY)),
               sign = simt_build_binary(b, SIMT_MUL, part, simt_build_float(b, t, SMALL));
    return simt_build_select(b, finite, part, sign);
}

// Likewise, where sums that are not finite are found again: what is infinite, NaN or next to the largest number makes them so.
static simt_value take_apart_finite(simt_builder *b, simt_value x, simt_value *rest) {
    simt_value part = simt_build_unary(b, SIMT_CVT_TF32, x);
    *rest = simt_build_binary(b, SIMT_SUB, x, part);
    return part;
}

// ---- What is no number, on its way to sums that are found again ------------------------------------------
typedef enum { READ_UNKNOWN, READ_NOT, READ_PASSES, READ_STOPS } reading;   // NaN of what is read makes NaN of the expression, or may not

typedef struct {
    const tensor_op *op;
    const bool *of;   // per value: it may be NaN where it should not
    uint8_t *known;   // per expression
} nan_search;

static bool is_passed(const tensor_node *n) {
    switch (n->op) {
    case TENSOR_ADD_OP: case TENSOR_SUB_OP: case TENSOR_MUL_OP: case TENSOR_DIV_OP: case TENSOR_MIN_OP: case TENSOR_MAX_OP:
    case TENSOR_NEG_OP: case TENSOR_SELECT_OP: case TENSOR_ROUND_OP: case TENSOR_TF32_OP: case TENSOR_PARTS_OP: case TENSOR_STOP_OP:
    case TENSOR_SQRT_OP: case TENSOR_EXP_OP: case TENSOR_LOG_OP: case TENSOR_TANH_OP: case TENSOR_SIN_OP: case TENSOR_COS_OP:
    case TENSOR_ERF_OP: case TENSOR_EXPM1_OP: case TENSOR_LOG1P_OP: return true;
    default: return false;
    }
}

static reading read_in(const nan_search *s, tensor_expr e) {
    const tensor_node *n = tensor_node_at(s->op, e);
    if (s->known[e]) return (reading)s->known[e];
    reading all = n->op == TENSOR_LOAD_OP && s->of[n->imm.i] ? READ_PASSES : READ_NOT;
    for (uint32_t i = 0; i < n->nargs && n->op != TENSOR_LOAD_OP; i++) {
        reading r = read_in(s, n->args[i]);
        if (r == READ_PASSES && (!is_passed(n) || (n->op == TENSOR_SELECT_OP && !i))) r = READ_STOPS;
        if (r > all) all = r;
    }
    s->known[e] = (uint8_t)all;
    return all;
}

// Of a stage that reads it: whether that is NaN then, or a sum or a maximum of it, which are found again.
static reading read_by(const nan_search *s, const tensor_stage *st) {
    reading all = READ_NOT;
    for (uint32_t i = 0; i < st->nbody; i++) {
        reading r = read_in(s, st->body[i]);
        if (r > all) all = r;
    }
    if (all != READ_PASSES || st->reducer == TENSOR_NO_REDUCER) return all;
    const tensor_reducer *r = &s->op->reducers.data[st->reducer];
    bool passed = r->roundings || r->kind == REDUCE_SUM || r->kind == REDUCE_MAX || r->kind == REDUCE_MIN;
    return passed ? READ_PASSES : READ_STOPS;
}

// Whether NaN of a score, which is not what the score is, comes to sums that are found again for it: no comparison decides by it.
static bool passes_nan(kernel *k, uint32_t stage) {
    const tensor_op *op = k->l->op;
    bool *of = ARENA_ARRAY(k->l->arena, bool, op->vals.len + 1), more = true;
    of[op->stages.data[stage].targets[0].val] = true;
    while (more) {
        nan_search s = {op, of, ARENA_ARRAY(k->l->arena, uint8_t, op->exprs.len + 1)};
        more = false;
        for (uint32_t i = 0; i < op->stages.len; i++) {
            const tensor_stage *st = &op->stages.data[i];
            reading r = read_by(&s, st);
            if (r == READ_STOPS) return false;
            for (uint32_t t = 0; t < st->ntargets && r == READ_PASSES && st->reducer == TENSOR_NO_REDUCER; t++) {
                more |= !of[st->targets[t].val];
                of[st->targets[t].val] = true;
            }
        }
    }
    return true;
}

// Of this reduction, or of the one that takes what it finds.
static bool is_found_again(kernel *k, const reduction *r) {
    bool again = false;
    for (uint32_t i = 0; i < k->reductions.len; i++)
        again |= k->reductions.data[i]->open && loop_again(k->reductions.data[i]->node) != NULL;
    return again && (loop_again(r->node) || passes_nan(k, r->stage));
}

operands lm_operands(kernel *k, simt_builder *b, const reduction *r, const pieces *p, axis_set steps,
                     simt_mma_operand o, tensor_expr e) {
    axis_set depends = lw_depends(k, e);
    for (uint32_t i = 0; i < r->cells.len && o == SIMT_MMA_A; i++) depends |= lw_depends(k, r->cells.data[i]);
    uint32_t tiles = o == SIMT_MMA_B ? p->tiles : 1;
    operands x = {(lw_written_out(k, depends) | steps) & ~p->all, p->deep * tiles, NULL, NULL};
    uint32_t n = lw_instances(k, x.axes) * x.pieces;
    bool apart = simt_mma_splits(p->m->kind) && p->info->warps == 1, again = apart && is_found_again(k, r);
    x.of = ARENA_ARRAY(k->l->arena, simt_value, n);
    if (apart) x.rest = ARENA_ARRAY(k->l->arena, simt_value, n);
    const lm_pieces *whole = lm_pieces_of(k, b, r, p, o, e, x.axes);
    k->whole = o == SIMT_MMA_A ? b->region : 0;
    for (instance_walk w = lw_walk_begin(k, x.axes); whole && lw_walk_next(&w);)
        take_pieces(k, b, r, p, o, e, whole, &x);
    for (instance_walk w = lw_walk_begin(k, x.axes); !whole && lw_walk_next(&w);) {
        uint32_t at = lw_instance(k, x.axes) * x.pieces;
        simt_value *of = &x.of[at];
        if (p->vector) vector_operand(k, b, r, p, o, e, of);
        for (uint32_t op = 0; op < p->deep && !p->vector; op++)
            operand(k, b, r, p, o, e, op, tiles, &of[op * tiles]);
        for (uint32_t i = 0; i < x.pieces && apart; i++)
            of[i] = (again ? take_apart_finite : take_apart)(b, of[i], &x.rest[at + i]);
    }
    k->whole = 0;
    return x;
}

// ---- The product -----------------------------------------------------------------------------------------
simt_value *lm_slot(kernel *k, const reduction *r, const pieces *p, uint32_t element) {
    simt_mma_place at = simt_mma_at(p->m->kind, SIMT_MMA_C, 0, element);
    set(k, p->rows, (int32_t)at.row / 8);
    set(k, p->columns, (int32_t)at.column);
    simt_value *slot = &r->slot[lw_instance(k, r->copies) * r->n];
    set(k, p->rows, -1);
    set(k, p->columns, -1);
    return slot;
}

// One sum of a piece, in as many accumulators as products that follow one another take in turn: an operation waits for the one
// before it in its own.
typedef struct {
    simt_value in[LOOP_MOST_ACCUMULATORS];
} sum_of;

static simt_value gather_slots(kernel *k, simt_builder *b, const reduction *r, const pieces *p, uint32_t piece) {
    simt_value c[16];
    uint32_t n = p->info->held[SIMT_MMA_C];
    for (uint32_t i = 0; i < n; i++) {
        simt_value slot = *lm_slot(k, r, p, i);
        c[i] = p->tiles > 1 ? lw_pick(b, slot, piece) : slot;
    }
    return lw_gather(b, c, n);
}

// Those of the first row last: where all rows are alike they are all of it.
static void store_slots(kernel *k, simt_builder *b, const reduction *r, const pieces *p, const simt_value *sum) {
    simt_value of[16];
    for (uint32_t i = p->info->held[SIMT_MMA_C]; i-- > 0;) {
        for (uint32_t piece = 0; piece < p->tiles; piece++) of[piece] = lw_pick(b, sum[piece], i);
        *lm_slot(k, r, p, i) = p->tiles > 1 ? lw_gather(b, of, p->tiles) : of[0];
    }
}

static void begin_sums(kernel *k, simt_builder *b, const reduction *r, const pieces *p, sum_of *sum) {
    simt_value zero[16];
    const uint32_t n = p->info->held[SIMT_MMA_C];
    for (uint32_t piece = 0; piece < p->tiles; piece++) {
        sum[piece].in[0] = gather_slots(k, b, r, p, piece);
        if (p->m->accumulators == 1) continue;
        for (uint32_t i = 0; i < n; i++) zero[i] = simt_build_float(b, SIMT_T(F32), 0);
        for (uint32_t a = 1; a < p->m->accumulators; a++) sum[piece].in[a] = lw_gather(b, zero, n);
    }
}

static void end_sums(kernel *k, simt_builder *b, const reduction *r, const pieces *p, const sum_of *sum) {
    simt_value of[16];
    for (uint32_t piece = 0; piece < p->tiles; piece++) {
        uint32_t a = p->m->accumulators - 1;
        for (of[piece] = sum[piece].in[a]; a-- > 0;) of[piece] = simt_build_binary(b, SIMT_ADD, sum[piece].in[a], of[piece]);
    }
    store_slots(k, b, r, p, of);
}

// C plus the product of one of the first and one of the second: of what is taken apart, the small products first, without that of the
// rests. products: how many came before.
static void multiply(simt_builder *b, const pieces *p, const operands *x, uint32_t i, const operands *y, uint32_t j, uint32_t products,
                     sum_of *sum) {
    const uint32_t n = p->m->accumulators;
    for (uint32_t part = simt_mma_splits(p->m->kind) ? 0 : 2; part < 3; part++, products++) {
        simt_value *c = &sum->in[n - 1 - products % n];
        *c = simt_build_mma(b, (simt_mma)p->info->by, part == 0 ? x->rest[i] : x->of[i], part == 1 ? y->rest[j] : y->of[j], *c);
    }
}

static void add_products(kernel *k, simt_builder *b, const reduction *r, const pieces *p, axis_set steps, axis_set tiles, const operands *x,
                         const operands *y) {
    sum_of *sums = ARENA_ARRAY(k->l->arena, sum_of, lw_instances(k, tiles) * p->tiles);
    uint32_t products = 0;
    for (instance_walk w = lw_walk_begin(k, tiles); lw_walk_next(&w);) begin_sums(k, b, r, p, &sums[lw_instance(k, tiles) * p->tiles]);
    for (instance_walk s = lw_walk_begin(k, steps); lw_walk_next(&s);)
        for (uint32_t op = 0; op < p->deep; op++, products += simt_mma_splits(p->m->kind) ? 3 : 1)
            for (instance_walk w = lw_walk_begin(k, tiles); lw_walk_next(&w);)
                for (uint32_t piece = 0; piece < p->tiles; piece++)
                    multiply(b, p, x, lw_instance(k, x->axes) * x->pieces + op, y, lw_instance(k, y->axes) * y->pieces + op * p->tiles + piece,
                             products, &sums[lw_instance(k, tiles) * p->tiles + piece]);
    for (instance_walk w = lw_walk_begin(k, tiles); lw_walk_next(&w);) end_sums(k, b, r, p, &sums[lw_instance(k, tiles) * p->tiles]);
}

void lw_contribute_product(kernel *k, simt_builder *b, const reduction *r) {
    pieces p = pieces_of(k, r->node);
    const tensor_node *product = tensor_node_at(k->l->op, k->l->op->stages.data[r->stage].body[0]);
    axis_set steps = 0, tiles = lw_written_out(k, r->left) & ~p.all;
    for (uint32_t i = r->masks; i < k->masks.len; i++)
        steps |= lw_written_out(k, lw_axes_enter(k, k->masks.data[i].node)) & ~p.all;
    const bool alike = p.rows == LOWER_NO_AXIS;
    if (p.info->warps > 1) {
        if (!lm_panels(k, b, r, &p, steps, tiles)) lm_group(k, b, r, &p, steps, tiles);
        return;
    }
    operands x = lm_operands(k, b, r, &p, steps, SIMT_MMA_A, product->args[0]);
    outside o = lm_enter_columns(k, b, &p);
    operands y = lm_operands(k, b, r, &p, steps, SIMT_MMA_B, product->args[1]);
    lm_leave(k, o);
    if (!alike) add_products(k, b, r, &p, steps, tiles, &x, &y);
    for (instance_walk w = lw_walk_begin(k, tiles); alike && lw_walk_next(&w);)   // whose operations follow one another
        add_products(k, b, r, &p, steps, 0, &x, &y);
}
