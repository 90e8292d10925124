// Rows that are unrolled as a whole. A warp takes the branch of the least size that all its rows
// fit. There, loops over rows are straight lines of masked steps, so that LLVM merges what several
// of them load and compute alike. Longer rows go round, as do empty ones; if there are no longer
// rows, no warp does.
//     within 32, 64 of lo .. hi { … }  →  if all fit 32 { … } if all fit 64, not 32 { … } if not all fit { …
//     }

#include "lower/loops/loops.h"

static simt_value for_some_lane(kernel *k, simt_builder *b, simt_value c) {
    simt_type t = SIMT_T(PRED);
    return lw_threads(k) ? simt_result(k->f, simt_build_op(b, SIMT_VOTE_ANY, &c, 1, &t, 1), 0) : c;
}

static simt_value is_not(simt_builder *b, simt_value c) { return simt_build_unary(b, SIMT_NOT, c); }

static void in_case(kernel *k, simt_builder *b, const loop_node *n, void *user) {
    (void)user;
    lw_body(k, b, &n->body);
}

static void lower_case(kernel *k, simt_builder *b, simt_value c, const loop_node *n,
                       uint32_t size) {
    k->sizes.within = size;
    if (c) lw_build_if(k, b, c, n, in_case, NULL);
    else lw_body(k, b, &n->body);
    k->sizes.within = 0;
}

static void lower_cases(kernel *k, simt_builder *b, const loop_node *n) {
    simt_value lo = lw_to_ix(k, b, lw_expr(k, b, n->lo)), hi = lw_to_ix(k, b, lw_expr(k, b, n->hi));
    simt_value more[LOOP_MAX_SIZES + 1], length = simt_build_binary(b, SIMT_SUB, hi, lo);
    for (uint32_t i = n->ranges.alone; i <= n->ranges.n - n->ranges.alone; i++)
        more[i] = for_some_lane(
            k, b, simt_build_cmp(b, SIMT_LT, lw_ix(k, b, i ? n->ranges.most[i - 1] : 0), length));
    for (uint32_t i = 0; i < n->ranges.n; i++) {
        simt_value least = n->ranges.alone && !i ? 0 : more[i],
                   most = n->ranges.alone && i + 1 == n->ranges.n ? 0 : is_not(b, more[i + 1]);
        lower_case(k, b, lw_both(b, least, most), n, n->ranges.most[i]);
    }
    if (!n->ranges.alone)
        lower_case(k, b, simt_build_binary(b, SIMT_OR, more[n->ranges.n], is_not(b, more[0])), n,
                   0);
}

void lw_within(kernel *k, simt_builder *b, const loop_node *n) {
    axis_set bounds = lw_depends(k, n->lo) | lw_depends(k, n->hi);
    for (instance_walk w = lw_walk_begin(&k->digits, bounds); lw_walk_next(&w);)
        lower_cases(k, b, n);
}
