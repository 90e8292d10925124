// Sums by matrix operations of four warps. B is in shared memory. The warps of the block bring it
// there, some steps each, in the first round of the loop over the rows, because B does not depend
// on rows. Each warp has its own rows of A and C.
//     reduce y by m64k16.f16 (n, q, k) { for k … { contribute y } }
//  →  if first { barrier; w = ld …; st s + …, w; fence.mma; barrier }  a = ld …  d, … = mma.group s, a, …

#include "lower/matrix/matrix.h"

enum { WORD = 4 };

typedef struct {
    kernel *k;
    const reduction *r;
    const pieces *p;
    uint32_t
        // axis of the depth that counts its steps, but for those side by side; LOWER_NO_AXIS: one
        depth;
    axis_set columns;   // of the pieces of columns, but for those that alternate
    uint32_t steps, pieces;
    uint32_t at;   // shared memory, bytes
} product;

static uint32_t turns(const product *x) {
    return x->depth == LOWER_NO_AXIS ? 1 : x->k->digits.axis[x->depth].extent;
}

static product product_of(kernel *k, const reduction *r, const pieces *p, axis_set steps,
                          axis_set sums) {
    product x = {.k = k, .r = r, .p = p, .depth = LOWER_NO_AXIS};
    for (uint32_t i = 0; i < LOWER_MAX_AXES; i++)
        if (steps & AXIS(i)) {
            if (x.depth != LOWER_NO_AXIS)
                ICE("'%s': the steps of a matrix operation have two digits", k->plan->name);
            x.depth = i;
        }
    x.columns = sums & lw_written_out(&k->digits, k->scope.var[p->m->columns].axes);
    x.steps = turns(&x) * p->deep;
    x.pieces = lw_instances(&k->digits, x.columns) * p->tiles;
    return x;
}

static simt_value is_first(const product *x, simt_builder *b) {
    for (uint32_t i = x->k->rounds.counted.len; i-- > 0;) {
        const counted_round *c = &x->k->rounds.counted.data[i];
        if (c->node->var == x->p->m->rows) return simt_build_cmp(b, SIMT_EQ, c->index, c->start);
    }
    return 0;
}

// ---- Bringing B ---------------------------------------------------------------------------------
// The positions of the depth at a given step, from those that a lane has at step 0.
static binding at_turn(const product *x, simt_builder *b, simt_value turn) {
    kernel *k = x->k;
    binding was = k->scope.var[x->p->m->depth], now = was;
    if (x->depth == LOWER_NO_AXIS) return was;
    now.own &= ~AXIS(x->depth);
    now.axes &= ~AXIS(x->depth);
    now.of = ARENA_ARRAY(k->l->arena, simt_value, lw_instances(&k->digits, now.own));
    simt_value more = simt_build_with(b, SIMT_MUL, lw_to_ix(k, b, turn),
                                      k->digits.axis[x->depth].weight);
    k->digits.at[x->depth] = 0;
    for (instance_walk w = lw_walk_begin(&k->digits, now.own); lw_walk_next(&w);)
        now.of[lw_instance(&k->digits, now.own)] = simt_build_binary(
            b, SIMT_ADD, was.of[lw_instance(&k->digits, was.own)], more);
    k->digits.at[x->depth] = -1;
    return now;
}

static void store_piece(const product *x, simt_builder *b, simt_value to, uint32_t step,
                        uint32_t piece, simt_value of) {
    simt_type t = simt_typeof(b->func, of);
    uint32_t bytes = simt_mma_piece_bytes(x->p->m->kind),
             lanes = WORD * 8 / simt_element_bits(t.element);
    for (uint32_t i = 0; i < t.lanes / lanes; i++) {
        int64_t offset = (int64_t)(step * x->pieces + piece) * bytes +
                         (int64_t)i * LOWER_WARP * WORD;
        simt_value zero = simt_build_int(b, SIMT_T(I32), 0);
        simt_build_store(b, simt_build_addr(b, to, zero, 1, offset),
                         simt_slice(b, of, i * lanes, lanes));
    }
}

// One step, which a warp brings: all columns.
static void bring_turn(const product *x, simt_builder *b, simt_value turn, tensor_expr e) {
    kernel *k = x->k;
    simt_value lane = simt_build_with(b, SIMT_MUL, k->thread.lane, WORD),
               first = simt_build_with(b, SIMT_MUL, turn,
                                       (int64_t)x->p->deep * x->pieces *
                                           simt_mma_piece_bytes(x->p->m->kind)),
               to = simt_build_addr(b, lw_shared(k, b, x->at),
                                    simt_build_binary(b, SIMT_ADD, first, lane), 1, 0);
    outside columns = lm_enter_columns(k, b, x->p),
            depth = lm_enter(k, b, x->p->m->depth, at_turn(x, b, turn));
    operands y = lm_operands(k, b, x->r, x->p, 0, SIMT_MMA_B, e);
    for (instance_walk w = lw_walk_begin(&k->digits, x->columns); lw_walk_next(&w);)
        for (uint32_t i = 0; i < y.pieces; i++)
            store_piece(x, b, to, i / x->p->tiles,
                        lw_instance(&k->digits, x->columns) * x->p->tiles + i % x->p->tiles,
                        y.of[lw_instance(&k->digits, y.axes) * y.pieces + i]);
    lm_leave(k, depth);
    lm_leave(k, columns);
}

static void bring(const product *x, simt_builder *b, tensor_expr e) {
    kernel *k = x->k;
    uint32_t warps = k->plan->threads / LOWER_WARP, n = turns(x);
    lw_barrier(b);   // nobody reads what was there any more
    for (uint32_t first = 0; first < n; first += warps) {
        simt_builder then = *b;
        bool some = first + warps > n;
        simt_value turn = simt_build_with(b, SIMT_ADD, k->thread.group, first);
        if (some)
            simt_build_if(b, simt_build_cmp(b, SIMT_LT, turn, simt_build_int(b, SIMT_T(I32), n)),
                          NULL, 0, &then, NULL);
        region_mark m = lw_enter(&k->known);
        bring_turn(x, some ? &then : b, turn, e);
        lw_leave(&k->known, m);
        if (some) simt_build_yield(&then, NULL, 0);
    }
    simt_build_op(b, SIMT_FENCE_MMA, NULL, 0, NULL, 0);
    lw_barrier(b);
}

static void bring_once(const product *x, simt_builder *b, tensor_expr e) {
    simt_value first = is_first(x, b);
    simt_builder then = *b;
    if (first) simt_build_if(b, first, NULL, 0, &then, NULL);
    region_mark m = lw_enter(&x->k->known);
    bring(x, first ? &then : b, e);
    lw_leave(&x->k->known, m);
    if (first) simt_build_yield(&then, NULL, 0);
}

// ---- The product --------------------------------------------------------------------------------
// C of each piece, in the rows at hand. zeros: all of it is 0.
static void sums_of(const product *x, simt_builder *b, simt_value *c, bool *zeros) {
    kernel *k = x->k;
    uint32_t held = x->p->info->held[SIMT_MMA_C];
    *zeros = true;
    for (instance_walk w = lw_walk_begin(&k->digits, x->columns); lw_walk_next(&w);)
        for (uint32_t tile = 0; tile < x->p->tiles; tile++) {
            simt_value part[4];
            for (uint32_t i = 0; i < held; i++) {
                simt_value all = *lm_slot(&k->digits, x->r, x->p, i);
                *zeros &= lm_is_zero(k->f, all);
                part[i] = simt_pick(b, all, tile);
            }
            c[lw_instance(&k->digits, x->columns) * x->p->tiles + tile] = simt_gather(b, part,
                                                                                      held);
        }
}

static void set_sums(const product *x, simt_builder *b, simt_instr made) {
    enum { MOST = 16 };
    kernel *k = x->k;
    for (instance_walk w = lw_walk_begin(&k->digits, x->columns); lw_walk_next(&w);)
        for (uint32_t i = 0; i < x->p->info->held[SIMT_MMA_C]; i++) {
            simt_value of[MOST];
            for (uint32_t tile = 0; tile < x->p->tiles; tile++)
                of[tile] = simt_pick(
                    b,
                    simt_result(k->f, made,
                                lw_instance(&k->digits, x->columns) * x->p->tiles + tile),
                    i);
            *lm_slot(&k->digits, x->r, x->p, i) = simt_gather(b, of, x->p->tiles);
        }
}

static void multiply(const product *x, simt_builder *b, const operands *a, axis_set steps) {
    kernel *k = x->k;
    uint32_t n = 1;
    simt_value *args = ARENA_ARRAY(k->l->arena, simt_value, 1 + x->steps + x->pieces);
    simt_type *types = ARENA_ARRAY(k->l->arena, simt_type, x->pieces);
    bool zeros;
    for (instance_walk s = lw_walk_begin(&k->digits, steps); lw_walk_next(&s);)
        for (uint32_t op = 0; op < x->p->deep; op++)
            args[n++] = a->of[lw_instance(&k->digits, a->axes) * a->pieces + op];
    sums_of(x, b, args + n, &zeros);
    args[0] = lw_shared(k, b, x->at);
    for (uint32_t i = 0; i < x->pieces; i++) types[i] = simt_mma_type(x->p->m->kind, SIMT_MMA_C);
    simt_instr made = simt_build_op(b, SIMT_MMA_GROUP, args, zeros ? n : n + x->pieces, types,
                                    x->pieces);
    k->f->instrs.data[made].aux = x->p->m->kind;
    k->f->instrs.data[made].imm.i = x->steps;
    set_sums(x, b, made);
}

static const tensor_node *factors_of(const kernel *k, const reduction *r) {
    return tensor_node_at(k->l->op, k->l->op->stages.data[r->stage].body[0]);
}

uint32_t lm_bring(kernel *k, simt_builder *b, const reduction *r, const pieces *p, axis_set steps,
                  axis_set sums) {
    product x = product_of(k, r, p, steps, sums);
    x.at = lw_shared_take(k, x.steps * x.pieces * simt_mma_piece_bytes(p->m->kind));
    bring(&x, b, factors_of(k, r)->args[1]);
    return x.at;
}

void lm_group(kernel *k, simt_builder *b, const reduction *r, const pieces *p, axis_set steps,
              axis_set sums, const uint32_t *brought) {
    const tensor_node *body = factors_of(k, r);
    product x = product_of(k, r, p, steps, sums);
    x.at = brought ? *brought
                   : lw_shared_take(k, x.steps * x.pieces * simt_mma_piece_bytes(p->m->kind));
    if (!brought) bring_once(&x, b, body->args[1]);
    operands a = lm_operands(k, b, r, p, steps, SIMT_MMA_A, body->args[0]);
    lw_fetch_next(k, b, body->args[0]);
    for (instance_walk w = lw_walk_begin(&k->digits, sums & ~x.columns); lw_walk_next(&w);)
        multiply(&x, b, &a, steps);
}
