// Of several keys of a reduction the one that leaves the fewest points stands first: that one is
// walked, and the others are looked at on the way.
//     c[r, v] = sum{e : type[e] == r, dst[e] == v} …   →   dst[e] == v, type[e] == r
#include "tensor/tensor.h"
#include "base/base.h"

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

bool plan_selective(planner *p) {
    bool any = false;
    for (uint32_t i = 0; i < p->op->stages.len; i++)
        if (p->op->stages.data[i].nkeys > 1) any |= put_first(p, &p->op->stages.data[i]);
    return any;
}
