// A loop may walk the positions that a sorted map takes to one row. The map is that row at each of
// them, so what is read of the row is the same in every round, and is read once.
//     for e in offsets.dst[v] .. offsets.dst[v + 1] { … q[dst[e], f] … }  →  … q[v, f] …

#include "lower/scope/scope.h"

static const tensor_node *node_at(const kernel *k, tensor_expr e) {
    return tensor_node_at(k->l->op, e);
}

// The variable v of m[index(cvt(v) + plus)], where m is a prepared array.
static bool offset_of(const kernel *k, tensor_expr e, int64_t plus, tensor_val *array,
                      tensor_var *v) {
    const tensor_node *load = node_at(k, e);
    while (load->op == TENSOR_CVT_OP) load = node_at(k, load->args[0]);
    if (load->op != TENSOR_LOAD_OP || load->nargs != 1) return false;
    const tensor_node *x = node_at(k, load->args[0]);
    int64_t by = 0;
    if (x->op == TENSOR_INDEX_OP) x = node_at(k, x->args[0]);
    if (x->op == TENSOR_ADD_OP && !lw_constant(k->l->op, x->args[1], &by)) return false;
    if (x->op == TENSOR_ADD_OP) x = node_at(k, x->args[0]);
    if (x->op == TENSOR_CVT_OP) x = node_at(k, x->args[0]);
    *array = (tensor_val)load->imm.i;
    *v = (tensor_var)x->imm.i;
    return x->op == TENSOR_VAR_OP && by == plus;
}

static bool is_sorted(const kernel *k, tensor_val m) {
    const tensor_val_info *i = &k->l->op->vals.data[m];
    return i->role == VAL_MAP && i->facts & FACT_SORTED && !(i->facts & FACT_PARTIAL) &&
           i->sorted_by == TENSOR_NO_VAL;
}

void lw_walk_row(kernel *k, const loop_node *n) {
    tensor_val lo, hi;
    walked_row w = {.point = n->var};
    tensor_var end;
    if (!offset_of(k, n->lo, 0, &lo, &w.row) || !offset_of(k, n->hi, 1, &hi, &end) || lo != hi ||
        end != w.row)
        return;
    for (uint32_t i = 0; i < k->l->plan->prepared.len; i++) {
        const loop_prepared *p = &k->l->plan->prepared.data[i];
        if (p->val != lo || p->builder != PREPARED_OFFSETS || !is_sorted(k, p->args[0])) continue;
        w.map = p->args[0];
        VEC_PUSH(k->l->arena, &k->scope.rows, w);
    }
}

bool lw_row(const kernel *k, const tensor_node *load, tensor_var *row) {
    if (load->op != TENSOR_LOAD_OP || load->nargs != 1) return false;
    const tensor_node *x = node_at(k, load->args[0]);
    for (uint32_t i = k->scope.rows.len; i-- > 0 && x->op == TENSOR_VAR_OP;) {
        const walked_row *w = &k->scope.rows.data[i];
        *row = w->row;
        if (w->map == (tensor_val)load->imm.i && w->point == (tensor_var)x->imm.i) return true;
    }
    return false;
}
