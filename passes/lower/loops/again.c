// Sums of a reduction by matrix operations that are computed once more, where they are not finite.

#include "lower/loops/loops.h"
#include <math.h>

typedef VEC(reduction *) reduction_list;
static uint32_t states_of(const lower_digits *d, const reduction *r) {
    return lw_instances(d, r->copies) * r->n;
}

// Some state of this thread may not be finite: then their sum is not.
static simt_value some_infinite(kernel *k, simt_builder *b, const reduction *r) {
    simt_value sum = 0;
    for (instance_walk w = lw_walk_begin(&k->digits, r->copies); lw_walk_next(&w);) {
        simt_value x = r->slot[lw_instance(&k->digits, r->copies) * r->n];
        sum = sum ? simt_build_binary(b, SIMT_ADD, sum, x) : x;
    }
    for (uint32_t lanes = simt_typeof(k->f, sum).lanes / 2u; lanes > 0; lanes /= 2)
        sum = simt_build_binary(b, SIMT_ADD, simt_slice(b, sum, 0, lanes),
                                simt_slice(b, sum, lanes, lanes));
    simt_value most = simt_build_float(b, simt_typeof(k->f, sum), (double)INFINITY);
    simt_value finite = simt_build_cmp(b, SIMT_LT, simt_build_unary(b, SIMT_ABS, sum), most);
    return simt_build_unary(b, SIMT_NOT, finite);
}

static simt_value either(simt_builder *b, simt_value x, simt_value y) {
    return x && y ? simt_build_binary(b, SIMT_OR, x, y) : x ? x : y;
}

// Some number is NaN, of those that are infinite where nothing was added; 0: they are no floats.
static simt_value some_nan(kernel *k, simt_builder *b, const reduction *r) {
    simt_value any = 0;
    for (instance_walk w = lw_walk_begin(&k->digits, r->copies); lw_walk_next(&w);)
        for (uint32_t c = 0; c < r->r->nstate; c++) {
            simt_value x = r->slot[lw_instance(&k->digits, r->copies) * r->n + c];
            if (!simt_is_float(r->types[c].element)) continue;
            simt_value nan = simt_build_cmp(b, SIMT_NE, x, x);
            for (uint32_t i = 0; i < simt_typeof(k->f, x).lanes; i++)
                any = either(b, any, simt_pick(b, nan, i));
        }
    return any;
}

static simt_value any_infinite(kernel *k, simt_builder *b, const reduction_list *all) {
    simt_value any = 0;
    for (uint32_t i = 0; i < all->len; i++) {
        const reduction *r = all->data[i];
        bool sum = r->product || r->r->kind == REDUCE_SUM;
        any = either(b, any,
                     sum && simt_is_float(r->types[0].element) ? some_infinite(k, b, r)
                                                               : some_nan(k, b, r));
    }
    return any;
}

static void copy_states(kernel *k, simt_builder *b, const reduction *from, const reduction *like) {
    for (instance_walk w = lw_walk_begin(&k->digits, like->copies); lw_walk_next(&w);)
        for (uint32_t c = 0; c < like->n; c++) {
            simt_value x = from->slot[lw_instance(&k->digits, from->copies) * from->n + c];
            like->slot[lw_instance(&k->digits, like->copies) * like->n + c] = simt_widen(
                b, x, like->types[c].lanes);
        }
}

// Some factor was taken out of the sum (tensor/outside.c).
static bool is_scaled(const kernel *k, const reduction_list *all) {
    bool any = false;
    for (uint32_t i = 0; i < all->len; i++)
        any |= tensor_node_at(k->l->op, all->data[i]->r->finish[0])->op == TENSOR_MUL_OP;
    return any;
}

// The next loops read what one of them finds.
static void reduce_in(kernel *k, simt_builder *b, const reduction_list *all, const loop_node *again,
                      loop_node *n) {
    const uint32_t outer = k->sums.all.len;
    loop_body one = {.data = &n, .len = 1, .cap = 1};
    reduction_list found = {0};
    for (uint32_t i = 0; i < all->len; i++)
        if (loop_contributes(&one, all->data[i]->stage))
            VEC_PUSH(k->l->arena, &found, all->data[i]);
    for (uint32_t i = 0; i < found.len; i++) lw_open(k, b, again, found.data[i]->stage);
    lw_body(k, b, &one);
    for (uint32_t i = 0; i < found.len; i++) {
        lw_close(k, b, k->sums.all.data[outer + i]);
        copy_states(k, b, k->sums.all.data[outer + i], found.data[i]);
    }
    k->sums.all.len = outer;
}

static void reduce_again(kernel *k, simt_builder *b, const reduction_list *all,
                         const loop_node *again, simt_value *now) {
    region_mark m = lw_enter(&k->known);
    // Cells are not rounded this time: their factor may be why the sum is not finite.
    k->sums.again = is_scaled(k, all);
    for (uint32_t i = 0; i < again->body.len; i++) reduce_in(k, b, all, again, again->body.data[i]);
    for (uint32_t i = 0; i < all->len; i++)
        for (uint32_t s = 0; s < states_of(&k->digits, all->data[i]); s++)
            *now++ = all->data[i]->slot[s];
    k->sums.again = false;
    lw_leave(&k->known, m);
}

// A cell without an entry adds 0 times a number of another row, which may be infinite or NaN. A
// thread with such a state computes all its states once more, from their own entries alone. It
// holds one set of states, not two.
void lw_again(kernel *k, simt_builder *b, const loop_node *reduce, reduction *const *of) {
    reduction_list all = {0};
    uint32_t count = 0, at = 0;
    for (uint32_t i = 0; i < reduce->nstages; i++) {
        if (!loop_contributes(&loop_again(reduce)->body, of[i]->stage)) continue;
        VEC_PUSH(k->l->arena, &all, of[i]);
        count += states_of(&k->digits, of[i]);
    }
    simt_type *types = ARENA_ARRAY(k->l->arena, simt_type, count + 1);
    simt_value *was = ARENA_ARRAY(k->l->arena, simt_value, count + 1),
               *now = ARENA_ARRAY(k->l->arena, simt_value, count + 1);
    for (uint32_t i = 0; i < all.len; i++)
        for (uint32_t s = 0; s < states_of(&k->digits, all.data[i]); s++)
            was[at++] = all.data[i]->slot[s];
    for (uint32_t i = 0; i < count; i++) types[i] = simt_typeof(k->f, was[i]);
    simt_builder then, other;
    simt_instr branch = simt_build_if(b, any_infinite(k, b, &all), types, count, &then, &other);
    reduce_again(k, &then, &all, loop_again(reduce), now);
    simt_build_yield(&then, now, count);
    simt_build_yield(&other, was, count);
    for (uint32_t i = all.len; i-- > 0;)
        for (uint32_t s = states_of(&k->digits, all.data[i]); s-- > 0;)
            all.data[i]->slot[s] = simt_result(k->f, branch, --at);
}
