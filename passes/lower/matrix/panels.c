// Sums by matrix operations of four warps, whose second factor a round has fetched row by row into
// panels of shared memory (lower/copies/fetch.c). The operation reads it there. A row is a column
// of B, or a point of the depth.
//     fetch 3 k[…] panels, x[…] panels {
//       reduce s by m64k16.f16 (v, slot, d) …  reduce y by m64k16.f16 (v, d, slot) … }
//  →  copy.wait; fence.mma; barrier;  s, … = mma.rows k, q, …  y, … = mma.rows.trans x, s, …, y, …
// Rows of f32 were split there (lower/copies/split_operand.c). What registers have is split here.

#include "lower/matrix/matrix.h"

typedef struct {
    kernel *k;
    const reduction *r;
    const pieces *p;
    // of the second factor; of the first one, or NULL: it is in registers
    const fetched_rows *f, *own;
    axis_set columns, steps;   // axes of pieces of columns, of steps of the depth
    uint32_t npieces, nsteps;
} product;

// The number of the instance at hand along those axes, of which `turn` follow one another.
static uint32_t number(const lower_digits *d, axis_set axes, uint32_t turn) {
    int64_t at = 0;
    for (uint32_t i = 0; i < LOWER_MAX_AXES; i++)
        if (axes & AXIS(i) && d->at[i] > 0) at += (int64_t)d->at[i] * d->axis[i].weight;
    return (uint32_t)at / turn;
}

static bool sums_of(const product *x, simt_builder *b, simt_value *c) {
    kernel *k = x->k;
    bool zeros = true;
    for (instance_walk w = lw_walk_begin(&k->digits, x->columns); lw_walk_next(&w);) {
        simt_value part[4];
        for (uint32_t i = 0; i < x->p->info->held[SIMT_MMA_C]; i++) {
            part[i] = *lm_slot(&k->digits, x->r, x->p, i);
            zeros &= lm_is_zero(k->f, part[i]);
        }
        c[number(&k->digits, x->columns, x->p->info->n)] = simt_gather(
            b, part, x->p->info->held[SIMT_MMA_C]);
    }
    return zeros;
}

static void set_sums(const product *x, simt_builder *b, simt_instr made) {
    kernel *k = x->k;
    for (instance_walk w = lw_walk_begin(&k->digits, x->columns); lw_walk_next(&w);)
        for (uint32_t i = 0; i < x->p->info->held[SIMT_MMA_C]; i++)
            *lm_slot(&k->digits, x->r, x->p, i) = simt_pick(
                b, simt_result(k->f, made, number(&k->digits, x->columns, x->p->info->n)), i);
}

static simt_op op_of(const product *x) {
    if (x->f->node->var == x->p->m->depth) return SIMT_MMA_ROWS_TRANS;
    return x->own ? SIMT_MMA_ROWS_BOTH : SIMT_MMA_ROWS;
}

static simt_instr operation(const product *x, simt_builder *b, const simt_value *args,
                            uint32_t nargs, uint32_t pieces) {
    simt_func *f = x->k->f;
    uint32_t n = pieces * (simt_mma_splits(x->p->m->kind) ? 2 : 1);
    simt_type *types = ARENA_ARRAY(x->k->l->arena, simt_type, n);
    for (uint32_t i = 0; i < n; i++) types[i] = simt_mma_type(x->p->m->kind, SIMT_MMA_C);
    simt_instr made = simt_build_op(b, op_of(x), args, nargs, types, n);
    f->instrs.data[made].aux = x->p->m->kind;
    f->instrs.data[made].imm.i = x->nsteps;
    f->instrs.data[made].mem.scale = (uint16_t)x->f->tile.rows;
    return made;
}

// Where the rows of these four warps begin, among the window's own rows.
static simt_value own_plane(const product *x, simt_builder *b, uint32_t plane) {
    kernel *k = x->k;
    simt_value at = lm_plane(k, b, x->own, plane, 0),
               four = simt_build_with(b, SIMT_UDIV, k->thread.number,
                                      LOWER_WARP * x->p->info->warps);
    if (x->own->tile.rows == SIMT_GROUP_ROWS) return at;
    return simt_build_addr(b, at, four,
                           SIMT_GROUP_ROWS * x->own->tile.columns * (uint32_t)sizeof(uint16_t), 0);
}

// For the rows at hand.
static void multiply(const product *x, simt_builder *b, const operands *a) {
    kernel *k = x->k;
    simt_value *args = ARENA_ARRAY(k->l->arena, simt_value, 2 + x->nsteps + x->npieces);
    uint32_t factors = x->own ? 2 : 1 + x->nsteps;
    args[0] = lm_plane(k, b, x->f, 0, 0);
    if (x->own) args[1] = own_plane(x, b, 0);
    for (instance_walk s = lw_walk_begin(&k->digits, x->steps); !x->own && lw_walk_next(&s);)
        args[1 + number(&k->digits, x->steps, x->p->info->k)] =
            a->of[lw_instance(&k->digits, a->axes)];
    bool zeros = sums_of(x, b, args + factors);
    set_sums(x, b, operation(x, b, args, factors + (zeros ? 0 : x->npieces), x->npieces));
}

// ---- Numbers taken apart ------------------------------------------------------------------------
// Each row of A is multiplied by a factor, as each row of B is. If rows of B are columns, both
// factors are undone in the product. If they are points of the depth, A is multiplied by what
// undoes B's factors first. So a sum has one product at a time, and is added to what came before.
//
// MOST_PIECES: of a panel at once, so that registers are left beside all sums.
enum { HELD = 8, HALVES = 2, ALONG = 8, MOST_STEPS = 64, MOST_PIECES = 8 };

typedef struct {
    simt_value near[MOST_STEPS], rest[MOST_STEPS], back[HALVES];   // back: of rows 8 apart
} parts_of_a;

static simt_value first_of_lane(const product *x, simt_builder *b) {
    simt_value four = simt_build_with(b, SIMT_UREM, x->k->thread.lane, 4);
    return simt_build_with(b, SIMT_MUL, four, 2);
}

// A lane's elements of A at a step, one row after the other.
static void terms_of_a(const product *x, simt_builder *b, const operands *a, uint32_t step,
                       simt_value *of) {
    simt_value all = a->of[lw_instance(&x->k->digits, a->axes)], pair[HALVES];
    for (uint32_t h = 0; h < HALVES && op_of(x) == SIMT_MMA_ROWS_TRANS; h++)
        pair[h] = lm_row_factors(x->k, b, x->f, first_of_lane(x, b),
                                 step * x->p->info->k + ALONG * h, 2);
    for (uint32_t i = 0; i < HELD; i++) {
        of[i] = simt_pick(b, all, i);
        if (op_of(x) == SIMT_MMA_ROWS_TRANS)
            of[i] = simt_build_binary(b, SIMT_MUL, of[i], simt_pick(b, pair[i / 4], i % 2));
    }
}

static void take_a_apart(const product *x, simt_builder *b, const operands *a, parts_of_a *parts) {
    simt_value of[MOST_STEPS][HELD], largest[HALVES] = {0}, by[HELD];
    lm_factor factor[HALVES];
    if (x->nsteps > MOST_STEPS)
        ICE("'%s': a product of numbers taken apart has %u steps", x->k->plan->name,
            (unsigned)x->nsteps);
    for (instance_walk s = lw_walk_begin(&x->k->digits, x->steps); lw_walk_next(&s);) {
        uint32_t step = number(&x->k->digits, x->steps, x->p->info->k);
        terms_of_a(x, b, a, step, of[step]);
        for (uint32_t i = 0; i < HELD; i++)
            largest[i / 2 % 2] = lm_absolute(b, largest[i / 2 % 2], of[step][i]);
    }
    for (uint32_t h = 0; h < HALVES; h++) {
        factor[h] = lm_factor_of(b, lm_largest(b, largest[h], 4));
        parts->back[h] = factor[h].back;
    }
    for (uint32_t i = 0; i < HELD; i++) by[i] = factor[i / 2 % 2].by;
    for (uint32_t s = 0; s < x->nsteps; s++)
        parts->near[s] = lm_take_apart(b, simt_gather(b, of[s], HELD), simt_gather(b, by, HELD),
                                       &parts->rest[s]);
}

static void factors_of_own(const product *x, simt_builder *b, parts_of_a *parts) {
    kernel *k = x->k;
    simt_value warp = simt_build_with(b, SIMT_UDIV, k->thread.number, LOWER_WARP),
               first = simt_build_with(b, SIMT_MUL, warp, x->p->info->m),
               row = simt_build_binary(b, SIMT_ADD, first,
                                       simt_build_with(b, SIMT_UDIV, k->thread.lane, 4));
    for (uint32_t h = 0; h < HALVES; h++)
        parts->back[h] = lm_row_factors(k, b, x->own, row, ALONG * h, 1);
}

// So many pieces, from the first one on.
static simt_instr multiply_some(const product *x, simt_builder *b, const parts_of_a *a,
                                uint32_t first, uint32_t pieces) {
    simt_value args[4 + 2 * MOST_STEPS];
    uint32_t n = 0;
    for (uint32_t plane = 0; plane < 2; plane++)
        args[n++] = lm_plane(x->k, b, x->f, plane,
                             first / MOST_PIECES * x->f->tile.rows * SIMT_PANEL_ROW);
    for (uint32_t plane = 0; plane < 2 && x->own; plane++) args[n++] = own_plane(x, b, plane);
    for (uint32_t s = 0; s < x->nsteps && !x->own; s++) args[n++] = a->near[s];
    for (uint32_t s = 0; s < x->nsteps && !x->own; s++) args[n++] = a->rest[s];
    return operation(x, b, args, n, pieces);
}

// The factors of B's rows, where they are columns: of the pairs of a piece that a lane has.
static void factors_of_columns(const product *x, simt_builder *b, simt_value *pair) {
    for (uint32_t i = 0; i < x->npieces && op_of(x) != SIMT_MMA_ROWS_TRANS; i++)
        pair[i] = lm_row_factors(x->k, b, x->f, first_of_lane(x, b), i * x->p->info->n, 2);
}

// The smaller of two factors is undone first, so that no finite sum overflows on the way. The other
// one is left.
static simt_value undo_smaller(simt_builder *b, simt_value sum, simt_value factor,
                               simt_value *other) {
    simt_value smaller = simt_build_binary(b, SIMT_MIN, factor, *other);
    *other = simt_build_binary(b, SIMT_MAX, factor, *other);
    return simt_build_binary(b, SIMT_MUL, sum, smaller);
}

static void add_pieces(const product *x, simt_builder *b, const parts_of_a *a,
                       const simt_value *pair, simt_instr made, uint32_t first, uint32_t pieces) {
    kernel *k = x->k;
    for (instance_walk w = lw_walk_begin(&k->digits, x->columns); lw_walk_next(&w);) {
        uint32_t piece = number(&k->digits, x->columns, x->p->info->n);
        if (piece < first || piece >= first + pieces) continue;
        simt_value sum = simt_result(k->f, made, piece - first),
                   rests = simt_result(k->f, made, pieces + piece - first),
                   all = simt_build_fma(b, rests,
                                        simt_widen(b,
                                                   simt_build_float(b, SIMT_T(F32), 1.0 / LM_REST),
                                                   x->p->info->held[SIMT_MMA_C]),
                                        sum);
        for (uint32_t i = 0; i < x->p->info->held[SIMT_MMA_C]; i++) {
            simt_value *slot = lm_slot(&k->digits, x->r, x->p, i), of = simt_pick(b, all, i),
                       back = a->back[i / 2];
            if (op_of(x) != SIMT_MMA_ROWS_TRANS)
                of = undo_smaller(b, of, simt_pick(b, pair[piece], i % 2), &back);
            *slot = lm_is_zero(k->f, *slot) ? simt_build_binary(b, SIMT_MUL, of, back)
                                            : simt_build_fma(b, of, back, *slot);
        }
    }
}

// Factors are loaded before the operation: loads do not move across it.
static void multiply_apart(const product *x, simt_builder *b, const operands *a) {
    parts_of_a parts;
    simt_value pair[MOST_PIECES] = {0};
    if (op_of(x) != SIMT_MMA_ROWS_TRANS && x->npieces > MOST_PIECES)
        ICE("'%s': a product of numbers taken apart has %u pieces", x->k->plan->name,
            (unsigned)x->npieces);
    if (x->own) factors_of_own(x, b, &parts);
    else take_a_apart(x, b, a, &parts);
    factors_of_columns(x, b, pair);
    for (uint32_t first = 0; first < x->npieces; first += MOST_PIECES) {
        uint32_t left = x->npieces - first, pieces = left < MOST_PIECES ? left : MOST_PIECES;
        add_pieces(x, b, &parts, pair, multiply_some(x, b, &parts, first, pieces), first, pieces);
    }
}

static const fetched_rows *own_rows(const kernel *k, tensor_expr factor) {
    const tensor_node *load = loop_matrix_factor(k->l->op, factor);
    const fetched_rows *f = load->op == TENSOR_LOAD_OP ? lw_fetched_panels(k, load) : NULL;
    return f && f->rows->own ? f : NULL;
}

bool lm_panels(kernel *k, simt_builder *b, const reduction *r, const pieces *p, axis_set steps,
               axis_set sums) {
    const tensor_node *body = tensor_node_at(k->l->op, k->l->op->stages.data[r->stage].body[0]),
                      *load = loop_matrix_factor(k->l->op, body->args[1]);
    const fetched_rows *f = load->op == TENSOR_LOAD_OP ? lw_fetched_panels(k, load) : NULL;
    if (!f && loop_again(r->node))
        ICE("'%s': rows of a matrix operation of four warps are not in panels", k->plan->name);
    if (!f) return false;
    product x = {.k = k,
                 .r = r,
                 .p = p,
                 .f = f,
                 .columns = sums & lw_written_out(&k->digits, k->scope.var[p->m->columns].axes),
                 .steps = steps};
    x.npieces = lw_instances(&k->digits, x.columns);
    x.nsteps = lw_instances(&k->digits, steps);
    x.own = own_rows(k, body->args[0]);
    operands a = {0};
    if (!x.own) a = lm_operands(k, b, r, p, steps, SIMT_MMA_A, body->args[0]);
    for (instance_walk w = lw_walk_begin(&k->digits, sums & ~x.columns); lw_walk_next(&w);)
        (simt_mma_splits(p->m->kind) ? multiply_apart : multiply)(&x, b, &a);
    return true;
}
