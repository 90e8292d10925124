// Reductions by matrix operations of a warp. The loops over rows, columns and depth deal out points
// so that a lane has its pieces of C and A. Its pieces of B are at the same points of the depth,
// but at columns that other lanes have of C: the loop over columns has positions of its own for
// them. A step past the end of the depth adds a product of zeros.
//     reduce y by m16n8k16.f16 (n, q, k) { for k … { contribute y } }  →  a = ld …  b = ld …  c = mma a, b, c

#include "lower/matrix/matrix.h"

// ---- Loops --------------------------------------------------------------------------------------
static bool has_vector(const loop_node *n) { return n->digits[0].place == LOOP_VECTOR_PLACE; }

// A lane has several neighbours along the depth; several of them.
static bool has_low(simt_mma kind) { return simt_mma_word(kind) > 1; }
static bool has_high(simt_mma kind) { return simt_mma_table(kind)->k > 4 * simt_mma_word(kind); }

axis_set lw_depth_axes(kernel *k, const loop_node *reduce) {
    const loop_node *depth = loop_over_var(&reduce->body, reduce->reduce.matrix->depth);
    simt_mma kind = reduce->reduce.matrix->kind;
    bool run = has_vector(depth) || loop_matrix_run(depth, kind);
    uint32_t n = run ? 2 : 1u + has_low(kind) + has_high(kind);
    axis_set s = 0;
    for (uint32_t i = 0; i < n; i++) s |= AXIS(lw_axis(k, depth, i));
    return s;
}

static const loop_node *loop_around(const kernel *k, tensor_var v) {
    for (uint32_t i = k->scope.masks.len; i-- > 0;)
        if (k->scope.masks.data[i].node->var == v) return k->scope.masks.data[i].node;
    ICE("'%s': a matrix operation stands outside its loops", k->plan->name);
}

static pieces pieces_of(kernel *k, const loop_node *reduce) {
    const loop_matrix *m = reduce->reduce.matrix;
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
    p.columns = lw_axis(k, columns, loop_matrix_pair(columns));
    p.all = AXIS(p.columns) | lw_depth_axes(k, reduce);
    if (m->rows != LOOP_NO_ROWS) {
        const loop_node *rows = loop_around(k, m->rows);
        p.rows = lw_axis(k, rows, rows->digits[0].place == LOOP_LANE_PLACE ? 1 : 2);
        p.all |= AXIS(p.rows);
    }
    uint32_t run = p.vector ? depth->digits[0].extent : loop_matrix_run(depth, m->kind);
    if (run) p.deep = run / loop_matrix_held(m->kind), p.run = lw_axis(k, depth, 0);
    if (!p.vector && has_vector(columns) && lw_axis(k, columns, 0) == k->digits.vector)
        p.tiles = lw_lanes(&k->digits);
    if (!run && has_low(m->kind)) p.low = lw_axis(k, depth, 0);
    if (!run && has_high(m->kind)) p.high = lw_axis(k, depth, 1 + has_low(m->kind));
    return p;
}

// ---- The columns of B ---------------------------------------------------------------------------
static bool has_columns(const loop_body *body, tensor_var v) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if ((n->kind == LOOP_REDUCE && n->reduce.matrix && n->reduce.matrix->columns == v) ||
            has_columns(&n->body, v))
            return true;
    }
    return false;
}

// As loop_matrix_column says.
static simt_value first_column(kernel *k, simt_builder *b, const loop_node *n) {
    simt_type i32 = SIMT_T(I32);
    simt_value at = simt_build_binary(b, SIMT_LSHR, k->thread.lane, simt_build_int(b, i32, 2));
    if (!loop_matrix_alternate(n)) return lw_to_ix(k, b, at);
    simt_value one = simt_build_int(b, i32, 1),
               odd = simt_build_binary(b, SIMT_MUL, simt_build_binary(b, SIMT_AND, at, one),
                                       simt_build_int(b, i32, 4)),
               both = simt_build_binary(b, SIMT_ADD, simt_build_binary(b, SIMT_LSHR, at, one), odd);
    return lw_to_ix(
        k, b, simt_build_binary(b, SIMT_MUL, both, simt_build_int(b, i32, n->digits[0].extent)));
}

void lw_bind_columns(kernel *k, simt_builder *b, const loop_node *n, const round_of *r,
                     simt_value last) {
    if (!has_columns(&n->body, n->var)) return;
    binding c = k->scope.var[n->var];
    c.columns = true;
    uint32_t pair = loop_matrix_pair(n);
    simt_value base = simt_build_binary(b, SIMT_ADD, r->base, first_column(k, b, n));
    for (uint32_t i = loop_matrix_alternate(n) ? 3 : 2; i < n->ndigits; i++) {
        const lower_axis *a = &k->digits.axis[lw_axis(k, n, i)];
        if (a->place != LOOP_GROUP_PLACE) continue;
        simt_value d = simt_build_binary(b, SIMT_MUL, lw_to_ix(k, b, lw_digit(k, b, a)),
                                         lw_ix(k, b, a->weight));
        base = simt_build_binary(b, SIMT_ADD, base, d);
    }
    c.own &= ~AXIS(lw_axis(k, n, pair));
    c.axes &= ~AXIS(lw_axis(k, n, pair));
    c.of = ARENA_ARRAY(k->l->arena, simt_value, lw_instances(&k->digits, c.own));
    for (instance_walk w = lw_walk_begin(&k->digits, c.own); lw_walk_next(&w);) {
        simt_value step, inside;
        c.of[lw_instance(&k->digits, c.own)] = lw_copy_position(k, b, c.own, base, r, last, &step,
                                                                &inside);
    }
    VEC_PUSH(k->l->arena, &k->scope.columns, ((matrix_columns){n, c}));
}

// ---- The product --------------------------------------------------------------------------------
// The sum of a piece. Products that follow one another take several accumulators in turn, because
// an operation waits for the one before it in the same accumulator.
typedef struct {
    simt_value in[LOOP_MOST_ACCUMULATORS];
} sum_of;

static simt_value gather_slots(kernel *k, simt_builder *b, const reduction *r, const pieces *p,
                               uint32_t piece) {
    simt_value c[16];
    uint32_t n = p->info->held[SIMT_MMA_C];
    for (uint32_t i = 0; i < n; i++) {
        simt_value slot = *lm_slot(&k->digits, r, p, i);
        c[i] = p->tiles > 1 ? simt_pick(b, slot, piece) : slot;
    }
    return simt_gather(b, c, n);
}

// Elements of the first row come last: where all rows are alike, they are the result.
static void store_slots(kernel *k, simt_builder *b, const reduction *r, const pieces *p,
                        const simt_value *sum) {
    simt_value of[16];
    for (uint32_t i = p->info->held[SIMT_MMA_C]; i-- > 0;) {
        for (uint32_t piece = 0; piece < p->tiles; piece++) of[piece] = simt_pick(b, sum[piece], i);
        *lm_slot(&k->digits, r, p, i) = p->tiles > 1 ? simt_gather(b, of, p->tiles) : of[0];
    }
}

static void begin_sums(kernel *k, simt_builder *b, const reduction *r, const pieces *p,
                       sum_of *sum) {
    simt_value zero[16];
    const uint32_t n = p->info->held[SIMT_MMA_C];
    for (uint32_t piece = 0; piece < p->tiles; piece++) {
        sum[piece].in[0] = gather_slots(k, b, r, p, piece);
        if (p->m->accumulators == 1) continue;
        for (uint32_t i = 0; i < n; i++) zero[i] = simt_build_float(b, SIMT_T(F32), 0);
        for (uint32_t a = 1; a < p->m->accumulators; a++)
            sum[piece].in[a] = simt_gather(b, zero, n);
    }
}

static void end_sums(kernel *k, simt_builder *b, const reduction *r, const pieces *p,
                     const sum_of *sum) {
    simt_value of[16];
    for (uint32_t piece = 0; piece < p->tiles; piece++) {
        uint32_t a = p->m->accumulators - 1;
        for (of[piece] = sum[piece].in[a]; a-- > 0;)
            of[piece] = simt_build_binary(b, SIMT_ADD, sum[piece].in[a], of[piece]);
    }
    store_slots(k, b, r, p, of);
}

// C plus the product of two operands. If they are taken apart, the small products come first, and
// the product of the rests is left out. products: how many came before.
static void multiply(simt_builder *b, const pieces *p, const operands *x, uint32_t i,
                     const operands *y, uint32_t j, uint32_t products, sum_of *sum) {
    const uint32_t n = p->m->accumulators;
    for (uint32_t part = simt_mma_splits(p->m->kind) ? 0 : 2; part < 3; part++, products++) {
        simt_value *c = &sum->in[n - 1 - products % n];
        *c = simt_build_mma(b, (simt_mma)p->info->by, part == 0 ? x->rest[i] : x->of[i],
                            part == 1 ? y->rest[j] : y->of[j], *c);
    }
}

static void add_products(kernel *k, simt_builder *b, const reduction *r, const pieces *p,
                         axis_set steps, axis_set tiles, const operands *x, const operands *y) {
    sum_of *sums = ARENA_ARRAY(k->l->arena, sum_of, lw_instances(&k->digits, tiles) * p->tiles);
    uint32_t products = 0;
    for (instance_walk w = lw_walk_begin(&k->digits, tiles); lw_walk_next(&w);)
        begin_sums(k, b, r, p, &sums[lw_instance(&k->digits, tiles) * p->tiles]);
    for (instance_walk s = lw_walk_begin(&k->digits, steps); lw_walk_next(&s);)
        for (uint32_t op = 0; op < p->deep; op++, products += simt_mma_splits(p->m->kind) ? 3 : 1)
            for (instance_walk w = lw_walk_begin(&k->digits, tiles); lw_walk_next(&w);)
                for (uint32_t piece = 0; piece < p->tiles; piece++)
                    multiply(b, p, x, lw_instance(&k->digits, x->axes) * x->pieces + op, y,
                             lw_instance(&k->digits, y->axes) * y->pieces + op * p->tiles + piece,
                             products, &sums[lw_instance(&k->digits, tiles) * p->tiles + piece]);
    for (instance_walk w = lw_walk_begin(&k->digits, tiles); lw_walk_next(&w);)
        end_sums(k, b, r, p, &sums[lw_instance(&k->digits, tiles) * p->tiles]);
}

static const tensor_node *product_of(const kernel *k, uint32_t stage) {
    return tensor_node_at(k->l->op, k->l->op->stages.data[stage].body[0]);
}

static axis_set steps_of(kernel *k, const reduction *r, const pieces *p) {
    axis_set steps = 0;
    for (uint32_t i = r->masks; i < k->scope.masks.len; i++)
        steps |= lw_written_out(&k->digits, lw_axes_enter(k, k->scope.masks.data[i].node));
    return steps & ~p->all;
}

// The right-hand operand.
static operands load_right(kernel *k, simt_builder *b, const reduction *r, const pieces *p) {
    outside o = lm_enter_columns(k, b, p);
    operands y = lm_operands(k, b, r, p, steps_of(k, r, p), SIMT_MMA_B,
                             product_of(k, r->stage)->args[1]);
    lm_leave(k, o);
    return y;
}

struct lw_staying {
    const loop_node *reduce;
    operands right;   // of one warp
    uint32_t at;      // of four: in shared memory, bytes
};

void lw_stay_right(kernel *k, simt_builder *b, const loop_node *reduce) {
    struct lw_staying *s = ARENA_NEW(k->l->arena, struct lw_staying);
    reduction *r = ARENA_NEW(k->l->arena, reduction);
    const loop_node *depth = loop_over_var(&reduce->body, reduce->reduce.matrix->depth);
    *r = (reduction){.node = reduce, .stage = reduce->stages[0], .masks = k->scope.masks.len};
    while (r->masks && k->scope.masks.data[r->masks - 1].node != depth) r->masks--;
    if (r->masks) r->masks--;
    pieces p = pieces_of(k, reduce);
    s->reduce = reduce;
    if (p.info->warps > 1) {
        axis_set columns = lw_written_out(&k->digits, k->scope.var[p.m->columns].axes) & ~p.all;
        s->at = lm_bring(k, b, r, &p, steps_of(k, r, &p), columns);
    } else s->right = load_right(k, b, r, &p);
    VEC_PUSH(k->l->arena, &k->rounds.staying, s);
}

static const struct lw_staying *staying(const kernel *k, const loop_node *reduce) {
    for (uint32_t i = 0; i < k->rounds.staying.len; i++)
        if (k->rounds.staying.data[i]->reduce == reduce) return k->rounds.staying.data[i];
    return NULL;
}

void lw_contribute_product(kernel *k, simt_builder *b, const reduction *r) {
    pieces p = pieces_of(k, r->node);
    const axis_set steps = steps_of(k, r, &p), tiles = lw_written_out(&k->digits, r->left) & ~p.all;
    const struct lw_staying *held = staying(k, r->node);
    const bool alike = p.rows == LOWER_NO_AXIS;
    if (p.info->warps > 1) {
        if (!lm_panels(k, b, r, &p, steps, tiles))
            lm_group(k, b, r, &p, steps, tiles, held ? &held->at : NULL);
        return;
    }
    operands x = lm_operands(k, b, r, &p, steps, SIMT_MMA_A, product_of(k, r->stage)->args[0]);
    operands y = held ? held->right : load_right(k, b, r, &p);
    if (!alike) add_products(k, b, r, &p, steps, tiles, &x, &y);
    // The operations of one tile follow one another.
    for (instance_walk w = lw_walk_begin(&k->digits, tiles); alike && lw_walk_next(&w);)
        add_products(k, b, r, &p, steps, 0, &x, &y);
}
