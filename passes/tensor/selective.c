// Of several keys of a reduction the one that leaves the fewest points stands first: that one is
// walked, and the others are looked at on the way. Keys that nothing can be walked by are
// conditions.
//     c[r, v] = sum{e : type[e] == r, dst[e] == v} …   →   dst[e] == v, type[e] == r
#include "tensor/tensor.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <stdint.h>
#include <string.h>

// What a key says is told by how many classes it makes; of classes whose number is not known, by
// whether they lie in order, and then by how many maps lead to them or from them: nodes have more
// than types of edges.
typedef struct {
    int64_t classes;
    bool sorted;
    uint32_t maps;
} selectivity;

static uint32_t maps_of(const tensor_op *op, tensor_space s) {
    uint32_t n = 0;
    for (tensor_val v = 0; v < op->vals.len; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        if (i->role != VAL_MAP) continue;
        n += i->into == s;
        n += i->rank == 1 && i->axes[0] == s;
    }
    return n;
}

static selectivity selectivity_of(const tensor_op *op, const tensor_key *k) {
    const tensor_node *n = tensor_node_at(op, k->lhs);
    if (n->op == TENSOR_VAR_OP) return (selectivity){INT64_MAX, true, UINT32_MAX};
    tensor_space s = tensor_typeof(op, k->lhs).space;
    if (n->op != TENSOR_LOAD_OP || s == TENSOR_NO_SPACE) return (selectivity){0};
    const tensor_val_info *by = &op->vals.data[n->imm.i];
    const tensor_space_info *of = &op->spaces.data[s];
    if (by->role != VAL_MAP && by->role != VAL_CLASSES) return (selectivity){0};
    return (selectivity){.classes = of->kind == SPACE_CONST ? of->size : INT64_MAX,
                         .sorted = by->facts & FACT_SORTED && by->sorted_by == TENSOR_NO_VAL,
                         .maps = maps_of(op, s)};
}

static bool leaves_fewer(selectivity a, selectivity b) {
    if (a.classes != b.classes) return a.classes > b.classes;
    return a.sorted != b.sorted ? a.sorted : a.maps > b.maps;
}

static bool put_first(planner *p, tensor_stage *st) {
    uint32_t best = 0;
    for (uint32_t k = 1; k < st->nkeys; k++)
        if (leaves_fewer(selectivity_of(p->op, &st->keys[k]),
                         selectivity_of(p->op, &st->keys[best])))
            best = k;
    if (!best) return false;
    tensor_key *keys = ARENA_ARRAY(p->op->arena, tensor_key, st->nkeys), first = st->keys[best];
    memcpy(keys + 1, st->keys, best * sizeof *keys);
    memcpy(keys + best + 1, st->keys + best + 1, (st->nkeys - best - 1) * sizeof *keys);
    keys[0] = first;
    st->keys = keys;
    return true;
}

// ---- Of a few classes ---------------------------------------------------------------------------
static bool is_walked_by(const tensor_op *op, const tensor_key *k) {
    const tensor_node *n = tensor_node_at(op, k->lhs);
    if (n->op != TENSOR_LOAD_OP) return false;
    const tensor_val_info *by = &op->vals.data[n->imm.i];
    return by->role == VAL_MAP || by->role == VAL_CLASSES;
}

static void mask_factors(const planner *p, tensor_stage *st) {
    tensor_op *op = p->op;
    const tensor_node *product = tensor_node_at(op, st->body[0]);
    if (!plan_matrix_sums(p, st) || product->op != TENSOR_MUL_OP) return;
    tensor_expr all = st->filters[0], *body = ARENA_ARRAY(op->arena, tensor_expr, 1);
    const tensor_expr factors[] = {product->args[0], product->args[1]};
    for (uint32_t i = 1; i < st->nfilters; i++)
        all = tensor_binary(op, TENSOR_AND_OP, all, st->filters[i], NO_SPAN);
    tensor_expr masked[2];
    for (uint32_t i = 0; i < 2; i++)
        masked[i] = tensor_select(op, all, factors[i], tensor_float(op, DT_F32, 0), NO_SPAN);
    *body = tensor_binary(op, TENSOR_MUL_OP, masked[0], masked[1], NO_SPAN);
    st->body = body;
    st->nfilters = 0;
}

// No table leads from classes that are computed to their points: all points are reduced by each of
// a few classes, which leaves out those of others. Of a sum of products both factors are 0 there,
// so that it is one of products still.
//     w[k, f] = sum{e : best[e] == k} x[e, f]   →   sum{e} x[e, f] where best[e] == k
static bool leave_out(planner *p, tensor_stage *st) {
    bool few = st->nkeys && st->loop == TENSOR_NO_LOOP;
    for (uint32_t k = 0; k < st->nkeys; k++) few &= !is_walked_by(p->op, &st->keys[k]);
    for (uint32_t i = 0; i < st->nleft; i++)
        few &= p->op->spaces.data[p->op->vars.data[st->left[i]].space].kind == SPACE_CONST;
    if (!few) return false;
    tensor_expr *filters = ARENA_ARRAY(p->op->arena, tensor_expr, st->nkeys + st->nfilters + 1);
    memcpy(filters, st->filters, st->nfilters * sizeof *filters);
    for (uint32_t k = 0; k < st->nkeys; k++)
        filters[st->nfilters++] = tensor_binary(p->op, TENSOR_EQ_OP, st->keys[k].lhs,
                                                st->keys[k].rhs, NO_SPAN);
    st->filters = filters;
    st->nkeys = 0;
    mask_factors(p, st);
    return true;
}

bool plan_selective(planner *p) {
    bool any = false;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        tensor_stage *st = &p->op->stages.data[i];
        any |= leave_out(p, st) || (st->nkeys > 1 && put_first(p, st));
    }
    return any;
}
