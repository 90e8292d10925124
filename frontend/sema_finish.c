// What must hold once all equations of an op are lowered: every result and element defined, nothing
// overwritten before it is read, nothing computed for nothing.
#include "sema_equation.h"
#include <string.h>

static void check_complete(lowering *L) {
    for (tensor_val v = 0; v < L->op->vals.len; v++) {
        const tensor_val_info *i = &L->op->vals.data[v];
        bool some = false;
        span at = i->at;
        for (uint32_t k = 0; k < L->definitions.len; k++)
            if (L->definitions.data[k].val == v) some = true, at = L->definitions.data[k].at;
        if (i->role == VAL_RESULT && !some)
            diag(L->ds, E0418, i->at, "result '%s' is never defined", i->name);
        else if (some && !value_complete(L, v, i->rank, i->axes))
            diag(L->ds, E0419, at,
                 "'%s' is not defined everywhere: some numbers of an axis are missing", i->name);
    }
}

static bool reads_elsewhere(const lowering *L, tensor_expr e, tensor_val v, const tensor_target *t,
                            bool reduction, uint8_t *seen) {
    const tensor_node *n = tensor_node_at(L->op, e);
    if (seen[e]) return false;
    seen[e] = 1;
    if (n->op == TENSOR_LOAD_OP && (tensor_val)n->imm.i == v)
        if (reduction || !t->index || memcmp(n->args, t->index, n->nargs * sizeof *n->args) != 0)
            return true;
    for (uint32_t i = 0; i < n->nargs; i++)
        if (reads_elsewhere(L, n->args[i], v, t, reduction, seen)) return true;
    return false;
}

static bool any_reads_elsewhere(const lowering *L, const tensor_expr *e, uint32_t n, tensor_val v,
                                const tensor_target *t, bool reduction) {
    uint8_t *seen = n ? arena_alloc(L->arena, L->op->exprs.len + 1) : NULL;
    bool found = false;
    for (uint32_t i = 0; i < n; i++) found |= reads_elsewhere(L, e[i], v, t, reduction, seen);
    return found;
}

static bool stage_reads(const lowering *L, const tensor_stage *st, tensor_val v,
                        const tensor_target *t) {
    return any_reads_elsewhere(L, st->body, st->nbody, v, t, st->reducer != TENSOR_NO_REDUCER) ||
           any_reads_elsewhere(L, st->filters, st->nfilters, v, t, true) ||
           any_reads_elsewhere(L, st->orelse, st->nelse, v, t, false);
}

// A result that lies where a parameter lies: once it is written, the parameter is only read at the
// very element written.
static void check_inplace(lowering *L) {
    for (tensor_val r = 0; r < L->op->nparams; r++) {
        const tensor_val_info *i = &L->op->vals.data[r];
        const tensor_target *writer = NULL;
        for (uint32_t k = 0; i->inplace != TENSOR_NO_VAL && k < L->op->stages.len; k++) {
            const tensor_stage *st = &L->op->stages.data[k];
            static const tensor_target nowhere = {0, 0, NULL};
            bool writes = false;
            for (uint32_t t = 0; t < st->ntargets; t++)
                if (st->targets[t].val == r) writer = &st->targets[t], writes = true;
            if (writer && stage_reads(L, st, i->inplace, writes ? writer : &nowhere)) {
                diagnostic *d = diag(L->ds, E0407, st->at,
                                     "this reads '%s' where '%s' may have overwritten it",
                                     L->op->vals.data[i->inplace].name, i->name);
                diag_note(d, i->at, "'%s' lies in the same memory", i->name);
                break;
            }
        }
    }
}

static void warn_unused(lowering *L) {
    uint8_t *read = arena_alloc(L->arena, L->op->vals.len + 1);
    for (tensor_expr e = 1; e < L->op->exprs.len; e++)
        if (tensor_node_at(L->op, e)->op == TENSOR_LOAD_OP)
            read[tensor_node_at(L->op, e)->imm.i] = 1;
    for (tensor_val v = 0; v < L->op->vals.len; v++)
        for (uint32_t i = 0; i < L->op->vals.data[v].nkeys; i++)
            read[L->op->vals.data[v].keys[i]] = 1;
    for (uint32_t k = 0; k < L->op->stages.len; k++) {
        const tensor_stage *st = &L->op->stages.data[k];
        bool used = false;
        for (uint32_t t = 0; t < st->ntargets; t++)
            used |= L->op->vals.data[st->targets[t].val].role == VAL_RESULT ||
                    read[st->targets[t].val];
        if (!used)
            diag(L->ds, W0401, st->at, "'%s' is computed and never used",
                 L->op->vals.data[st->targets[0].val].name);
    }
}

void equations_finish(lowering *L) {
    check_complete(L);
    check_inplace(L);
    warn_unused(L);
}
