// A variable is bound to another position for a while, so that expressions are computed there.
// Meanwhile nothing is known of the position at hand.

#include "lower/scope/scope.h"

lw_rebinding lw_rebind(kernel *k, tensor_var v, simt_value at) {
    lw_rebinding r = {v, k->scope.var[v], k->known.memo, k->known.log.len};
    k->known.memo = ARENA_ARRAY(k->l->arena, memo_cell, k->l->op->exprs.len + 1);
    k->scope.var[v] = (binding){.kind = BOUND_GIVEN, .given = lw_at(at)};
    return r;
}

void lw_restore(kernel *k, const lw_rebinding *r) {
    k->known.memo = r->memo;
    k->scope.var[r->v] = r->was;
    k->known.log.len = r->log;
}
