// Partial states of threads are combined: those of lanes by shuffles in a butterfly, those of
// groups through shared memory. The order is always the same, so that every thread ends with the
// same bits.

#include "lower/sums/sums.h"

enum {
    // numbers of all parts of a combination together: a thread has no more registers
    WAITING = 255,
    ROUNDS = 8,   // of combinations that have more: LLVM unrolls fewer
    ABREAST = 4   // parts of a round at least, so that their loads wait together
};

// Both sides of a pair combine the lower lane's part first, so that all lanes end with the same
// bits. Sums, products, extremes and connectives give the same bits in either order.
simt_value *lw_fold_pairs(kernel *k, simt_builder *b, const reduction *r, simt_value *x,
                          const simt_value *sent, simt_value mask) {
    simt_value *other = lw_state_new(k, r), *lo = x, *hi = other;
    for (uint32_t c = 0; c < r->n; c++) other[c] = lw_exchanged(b, sent[c], mask);
    if (!tensor_reducer_neutral(k->l->op, r->r)) {
        simt_value bit = simt_build_binary(b, SIMT_AND, k->thread.number, mask);
        simt_value upper = simt_build_cmp(b, SIMT_NE, bit, simt_build_int(b, SIMT_T(I32), 0));
        lo = lw_state_new(k, r), hi = lw_state_new(k, r);
        for (uint32_t c = 0; c < r->n; c++) {
            lo[c] = simt_build_select(b, upper, other[c], x[c]);
            hi[c] = simt_build_select(b, upper, x[c], other[c]);
        }
    }
    return lw_combined(k, b, r, lo, hi);
}

// A user's combination may be long. For more than two parts it is built once, in a loop.
static bool written_once(const reduction *r, const lower_axis *a) {
    return r->r->kind == REDUCE_USER && a->extent > 2;
}

// The loop carries the state and the mask, which doubles.
static simt_value *fold_shuffles_rolled(kernel *k, simt_builder *b, const reduction *r,
                                        const simt_value *x, const lower_axis *a) {
    simt_type i32 = SIMT_T(I32);
    uint32_t steps = 0, n = r->n;
    while (1u << steps < a->extent) steps++;
    simt_value *carried = ARENA_ARRAY(k->l->arena, simt_value, n + 1);
    for (uint32_t c = 0; c < n; c++) carried[c] = x[c];
    carried[n] = simt_build_int(b, i32, lw_stride(k, a));
    simt_instr loop;
    simt_builder in = simt_build_for(b, simt_build_int(b, i32, 0), simt_build_int(b, i32, steps),
                                     simt_build_int(b, i32, 1), carried, n + 1, &loop);
    k->f->instrs.data[loop].aux = SIMT_LOOP_ROLLED;
    for (uint32_t c = 0; c <= n; c++) carried[c] = simt_for_carried(k->f, loop, c);
    simt_value *next = lw_fold_pairs(k, &in, r, carried, carried, carried[n]);
    simt_value mask = simt_build_binary(&in, SIMT_ADD, carried[n], carried[n]);
    for (uint32_t c = 0; c < n; c++) carried[c] = next[c];
    carried[n] = mask;
    simt_build_yield(&in, carried, n + 1);
    for (uint32_t c = 0; c < n; c++) carried[c] = simt_result(k->f, loop, c);
    return carried;
}

static simt_value *fold_shuffles(kernel *k, simt_builder *b, const reduction *r, simt_value *x,
                                 const lower_axis *a) {
    if (written_once(r, a)) return fold_shuffles_rolled(k, b, r, x, a);
    for (uint32_t m = 1; m < a->extent; m *= 2)
        x = lw_fold_pairs(k, b, r, x, x, simt_build_int(b, SIMT_T(I32), m * lw_stride(k, a)));
    return x;
}

static simt_value scratch_address(kernel *k, simt_builder *b, uint32_t at, simt_value thread,
                                  uint32_t bytes) {
    simt_type t = SIMT_T(PTR_SHARED);
    simt_instr i = simt_build_op(b, SIMT_SHARED, NULL, 0, &t, 1);
    k->f->instrs.data[i].imm.i = at;
    return simt_build_addr(b, simt_result(k->f, i, 0), thread, bytes, 0);
}

typedef struct {
    uint32_t *at;      // of each component
    simt_type *type;   // in memory
} scratch;

static uint32_t type_bytes(simt_type t) { return simt_element_bits(t.element) * t.lanes / 8; }

static scratch scratch_of(kernel *k, const reduction *r, const simt_value *x) {
    scratch s = {ARENA_ARRAY(k->l->arena, uint32_t, r->n),
                 ARENA_ARRAY(k->l->arena, simt_type, r->n)};
    uint32_t bytes = 0;
    for (uint32_t c = 0; c < r->n; c++) {
        s.type[c] = simt_typeof(k->f, x[c]);
        if (s.type[c].element == SIMT_PRED) s.type[c].element = SIMT_I8;
        uint32_t align = type_bytes(s.type[c]);
        s.at[c] = bytes = (bytes + align - 1) / align * align;
        bytes += align * k->plan->threads;
    }
    uint32_t first = lw_shared_scratch(k, bytes);
    for (uint32_t c = 0; c < r->n; c++) s.at[c] += first;
    return s;
}

static simt_value *take_part(kernel *k, simt_builder *b, const reduction *r, const simt_value *like,
                             const scratch *s, simt_value thread) {
    simt_value *part = lw_state_new(k, r);
    for (uint32_t c = 0; c < r->n; c++) {
        simt_value v = simt_build_load(
            b, s->type[c], scratch_address(k, b, s->at[c], thread, type_bytes(s->type[c])));
        part[c] = simt_build_cvt(b, simt_typeof(k->f, like[c]), v);
    }
    return part;
}

static simt_value thread_after(simt_builder *b, simt_value first, simt_value i, uint32_t stride) {
    return simt_build_binary(
        b, SIMT_ADD, first,
        simt_build_binary(b, SIMT_MUL, i, simt_build_int(b, SIMT_T(I32), stride)));
}

// How many numbers all reductions have that are combined here.
static uint32_t numbers_of(kernel *k, const reduction *of) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->sums.all.len; i++) {
        const reduction *r = k->sums.all.data[i];
        for (uint32_t c = 0; r->node == of->node && c < r->n; c++)
            n += r->types[c].lanes * lw_instances(&k->digits, lw_written_out(&k->digits, r->left));
    }
    return n;
}

// How many parts are loaded at a time: all parts if the numbers are few. Of more numbers, too many
// loads would be in registers at once, because sums move down to their stores.
static uint32_t parts_at_once(kernel *k, const reduction *r, const lower_axis *a) {
    if (written_once(r, a)) return 1;
    bool rounds = a->extent % ROUNDS == 0 && a->extent >= ROUNDS * ABREAST;
    return rounds && numbers_of(k, r) * a->extent > WAITING ? a->extent / ROUNDS : a->extent;
}

// So many parts in order, from that of the digit's value i on.
static simt_value *fold_some(kernel *k, simt_builder *b, const reduction *r, const simt_value *x,
                             const scratch *s, const lower_axis *a, simt_value first,
                             simt_value *sum, simt_value i, uint32_t n) {
    for (uint32_t p = 0; p < n; p++) {
        simt_value from = thread_after(b, first, p ? simt_build_with(b, SIMT_ADD, i, p) : i,
                                       lw_stride(k, a));
        sum = lw_combined(k, b, r, sum, take_part(k, b, r, x, s, from));
    }
    return sum;
}

// The parts of the digit's values, in order.
static simt_value *fold_parts(kernel *k, simt_builder *b, const reduction *r, const simt_value *x,
                              const scratch *s, simt_value first, const lower_axis *a) {
    simt_type i32 = SIMT_T(I32);
    uint32_t stride = lw_stride(k, a), written = parts_at_once(k, r, a);
    simt_value *sum = take_part(k, b, r, x, s, first);
    for (uint32_t i = 1; i < written; i++) {
        simt_value from = thread_after(b, first, simt_build_int(b, i32, i), stride);
        sum = lw_combined(k, b, r, sum, take_part(k, b, r, x, s, from));
    }
    if (written == a->extent) return sum;
    simt_instr loop;
    simt_builder in = simt_build_for(b, simt_build_int(b, i32, written),
                                     simt_build_int(b, i32, a->extent),
                                     simt_build_int(b, i32, written), sum, r->n, &loop);
    k->f->instrs.data[loop].aux = SIMT_LOOP_ROLLED;
    simt_value *before = lw_state_new(k, r);
    for (uint32_t c = 0; c < r->n; c++) before[c] = simt_for_carried(k->f, loop, c);
    simt_build_yield(
        &in, fold_some(k, &in, r, x, s, a, first, before, simt_for_index(k->f, loop), written),
        r->n);
    for (uint32_t c = 0; c < r->n; c++) sum[c] = simt_result(k->f, loop, c);
    return sum;
}

// Through shared memory: every thread leaves its part, and takes those of the digit's other values
// in order.
static simt_value *fold_shared(kernel *k, simt_builder *b, const reduction *r, simt_value *x,
                               const lower_axis *a) {
    scratch s = scratch_of(k, r, x);
    lw_barrier(b);
    for (uint32_t c = 0; c < r->n; c++)
        simt_build_store(b, scratch_address(k, b, s.at[c], k->thread.number, type_bytes(s.type[c])),
                         simt_build_cvt(b, s.type[c], x[c]));
    lw_barrier(b);
    simt_value stride = simt_build_int(b, SIMT_T(I32), lw_stride(k, a));
    simt_value own = simt_build_binary(b, SIMT_MUL, lw_digit(k, b, a), stride);
    return fold_parts(k, b, r, x, &s, simt_build_binary(b, SIMT_SUB, k->thread.number, own), a);
}

static bool power_of_two(uint32_t x) { return x && !(x & (x - 1)); }

simt_value *lw_fold_threads(kernel *k, simt_builder *b, const reduction *r, axis_set bound,
                            simt_value *x) {
    axis_set left = lw_threads(k) ? lw_threads_in(&k->digits, bound) : 0;
    for (; left; left &= ~AXIS(lw_last_axis(left))) {
        const lower_axis *a = &k->digits.axis[lw_last_axis(left)];
        if (a->extent == 1) continue;
        bool in_warp = power_of_two(a->extent) && power_of_two(lw_stride(k, a)) &&
                       lw_stride(k, a) * a->extent <= 32;
        x = in_warp ? fold_shuffles(k, b, r, x, a) : fold_shared(k, b, r, x, a);
    }
    return x;
}
