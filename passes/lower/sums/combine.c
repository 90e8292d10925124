// Two states of a reduction are combined.

#include "lower/sums/sums.h"

// A part may be of nothing, and the identity is not neutral: such parts are combined only where
// both are of something.
bool lw_may_be_empty(const kernel *k, const reduction *r) {
    return !tensor_reducer_neutral(k->l->op, r->r) &&
           (r->bound & ~lw_placed(&k->digits, r->bound, LOOP_UNROLL_PLACE));
}

void lw_combine_into(kernel *k, simt_builder *b, const reduction *r, const simt_value *x,
                     const simt_value *y, uint8_t lanes, simt_value *out) {
    lw_reducer(k, b, r->r->combine, r->r->nstate, NULL, x, y, out);
    for (uint32_t c = 0; c < r->r->nstate; c++) out[c] = simt_widen(b, out[c], lanes);
}

// x comes first. Both have n components. If one part is of nothing, the other is the result.
void lw_combine_parts(kernel *k, simt_builder *b, const reduction *r, const simt_value *x,
                      const simt_value *y, simt_value *out) {
    uint32_t n = r->r->nstate;
    uint8_t lanes = simt_typeof(k->f, x[0]).lanes;
    lw_combine_into(k, b, r, x, y, lanes, out);
    if (!r->some) return;
    for (uint32_t c = 0; c < n && lw_may_be_empty(k, r); c++)
        out[c] = simt_build_select(b, y[n], simt_build_select(b, x[n], out[c], y[c]), x[c]);
    out[n] = simt_build_binary(b, SIMT_OR, x[n], y[n]);
}

simt_value *lw_state_new(kernel *k, const reduction *r) {
    return ARENA_ARRAY(k->l->arena, simt_value, r->n);
}

simt_value *lw_combined(kernel *k, simt_builder *b, const reduction *r, const simt_value *x,
                        const simt_value *y) {
    simt_value *out = lw_state_new(k, r);
    lw_combine_parts(k, b, r, x, y, out);
    return out;
}
