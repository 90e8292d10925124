// Expressions at another position than the one at hand: a variable stands there for a while.

#include "lower/values/values.h"

lw_journey lw_go_to(kernel *k, tensor_var v, simt_value at) {
    lw_journey from = {k->memo, v, k->var[v], k->log.len};
    k->memo = ARENA_ARRAY(k->l->arena, memo_cell, k->l->op->exprs.len + 1);
    k->var[v] = (binding){.kind = BOUND_GIVEN, .given = lw_at(at)};
    return from;
}

void lw_come_back(kernel *k, const lw_journey *from) {
    k->memo = from->memo;
    k->var[from->v] = from->was;
    k->log.len = from->log;
}
