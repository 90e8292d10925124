// The map whose preimages a kernel's rows are, and what is read of their entries.
//     y[v, f] = sum{e : dst[e] == v} x[e, f]   →  dst; entries stream: each reads what lies at it
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "base/base.h"
#include "kernels/kernels.h"

// The map that a key takes the first of what is reduced to the rows by.
static tensor_val map_of_key(const planner *p, const tensor_stage *st, const tensor_key *k,
                             tensor_var row) {
    const tensor_node *lhs = tensor_node_at(p->op, k->lhs), *rhs = tensor_node_at(p->op, k->rhs);
    bool rows = rhs->op == TENSOR_VAR_OP && (tensor_var)rhs->imm.i == row;
    if (!rows || lhs->op != TENSOR_LOAD_OP || lhs->nargs != 1 ||
        p->op->vals.data[lhs->imm.i].role != VAL_MAP)
        return TENSOR_NO_VAL;
    const tensor_node *at = tensor_node_at(p->op, lhs->args[0]);
    return at->op == TENSOR_VAR_OP && (tensor_var)at->imm.i == st->bound[0] ? (tensor_val)lhs->imm.i
                                                                            : TENSOR_NO_VAL;
}

static tensor_val row_map(const planner *p, const stage_group *g, bool several) {
    tensor_val map = TENSOR_NO_VAL;
    for (uint32_t i = 0; i < g->len && map == TENSOR_NO_VAL; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        const default_left left = default_left_of(p, st);
        if (!left.n || !(st->nbound == 1 || several) || default_one_by_one(p, st)) continue;
        for (uint32_t k = 0; k < st->nkeys && map == TENSOR_NO_VAL; k++)
            map = map_of_key(p, st, &st->keys[k], left.at[0]);
    }
    return map;
}

tensor_val default_row_map(const planner *p, const stage_group *g) { return row_map(p, g, false); }

tensor_val default_rows_map(const planner *p, const stage_group *g) { return row_map(p, g, true); }

tensor_val default_walked_by(const planner *p, uint32_t stage) {
    const tensor_stage *st = &p->op->stages.data[stage];
    const stage_group g = default_alone(&stage);
    bool plain = st->reducer != TENSOR_NO_REDUCER && st->nkeys == 1 && st->ntargets == 1 &&
                 !st->nfilters && !st->nelse;
    return plain ? default_row_map(p, &g) : TENSOR_NO_VAL;
}

// Its stages: a walk of rows first, whose reductions share it, then none that reduces.
bool default_cuts(const planner *p, const stage_group *g) {
    const stage_group first = default_alone(g->data);
    if (default_rows_map(p, &first) == TENSOR_NO_VAL) return false;
    for (uint32_t i = plan_run_end(p, g, 0); i < g->len; i++)
        if (p->op->stages.data[g->data[i]].reducer != TENSOR_NO_REDUCER) return false;
    return true;
}

// ---- What entries read --------------------------------------------------------------------------
static bool read_in_place(void *user, const tensor_node *load) {
    const planner *p = user;
    for (uint32_t i = 0; i < load->nargs; i++)
        if (tensor_node_at(p->op, load->args[i])->op == TENSOR_LOAD_OP) return false;
    return true;
}

bool default_streams(planner *p, const stage_group *g) {
    bool streams = true;
    for (uint32_t i = 0; i < g->len && streams; i++)
        streams = plan_loads(p, &p->op->stages.data[g->data[i]], read_in_place, p);
    return streams;
}

bool default_narrow(const planner *p, const stage_group *g) {
    bool narrow = true;
    for (uint32_t i = 0; i < g->len && narrow; i++) {
        int64_t bytes = default_row_bytes(p, &p->op->stages.data[g->data[i]]);
        narrow = bytes && bytes <= DEFAULT_SECTOR;
    }
    return narrow;
}
