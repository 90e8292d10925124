// What a reduction by matrix operations finds once more, where what it added up is not finite.
#include "lower.h"

#include <math.h>

// That some state of this thread may not be finite: their sum is not.
static simt_value some_infinite(kernel *k, simt_builder *b, const reduction *r) {
    simt_value sum = 0;
    for (instance_walk w = lw_walk_begin(k, r->copies); lw_walk_next(&w);) {
        simt_value x = r->slot[lw_instance(k, r->copies) * r->n];
        sum = sum ? simt_build_binary(b, SIMT_ADD, sum, x) : x;
    }
    for (uint32_t lanes = simt_typeof(k->f, sum).lanes / 2u; lanes > 0; lanes /= 2)
        sum = simt_build_binary(b, SIMT_ADD, lw_slice(b, sum, 0, lanes), lw_slice(b, sum, lanes, lanes));
    simt_value most = simt_build_float(b, simt_typeof(k->f, sum), (double)INFINITY);
    simt_value finite = simt_build_cmp(b, SIMT_LT, simt_build_unary(b, SIMT_ABS, sum), most);
    return simt_build_unary(b, SIMT_NOT, finite);
}

// Products that stand for nothing are 0 times a number of another row, which may be infinite or NaN: a thread
// with such a state finds all of its states once more, from what belongs to them alone. So it need not hold
// both.
void lw_again(kernel *k, simt_builder *b, reduction *r, const loop_node *n) {
    uint32_t count = lw_instances(k, r->copies) * r->n, outer = k->reductions.len;
    simt_type *types = ARENA_ARRAY(k->l->arena, simt_type, count + 1);
    simt_value *now = ARENA_ARRAY(k->l->arena, simt_value, count + 1);
    for (uint32_t i = 0; i < count; i++) types[i] = simt_typeof(k->f, r->slot[i]);
    simt_builder then, other;
    simt_instr branch = simt_build_if(b, some_infinite(k, b, r), types, count, &then, &other);
    region_mark m = lw_enter(k);
    reduction *again = lw_open(k, &then, n, r->stage);
    lw_body(k, &then, &n->body);
    lw_close(k, &then, again);
    for (instance_walk w = lw_walk_begin(k, r->copies); lw_walk_next(&w);)
        now[lw_instance(k, r->copies) * r->n] = again->slot[lw_instance(k, again->copies) * r->n];
    k->reductions.len = outer;
    lw_leave(k, m);
    simt_build_yield(&then, now, count);
    simt_build_yield(&other, r->slot, count);
    for (uint32_t i = 0; i < count; i++) r->slot[i] = simt_result(k->f, branch, i);
}
