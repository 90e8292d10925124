// Which indices are rows, columns and the depth of a matrix operation, of the sum and of what
// follows it in its kernel point by point.
//     a.sum[v, f] = sum.mma {k} (x[v, k] * w[k, f])   a[v, f] = relu(a.sum[v, f])   d[v, f] = … a[v, f] …
//     →  v: rows of a.sum, a and d; f: columns of each; k: the depth
#include "kernels/kernels.h"
#include "base/base.h"

#include <string.h>

typedef struct {
    const planner *p;
    const tensor_stage *sum;
    const tensor_stage *reader;
    tensor_var role, found;   // of the sum; of the reader
    bool any;
} reading;

static bool is_left(const tensor_stage *st, const tensor_node *index) {
    for (uint32_t i = 0; index->op == TENSOR_VAR_OP && i < st->nleft; i++)
        if (st->left[i] == (tensor_var)index->imm.i) return true;
    return false;
}

static bool at_own_index(void *user, const tensor_node *load) {
    reading *r = user;
    const tensor_target *t = &r->sum->targets[0];
    tensor_var found = 0;
    bool any = false, point = (tensor_val)load->imm.i == t->val;
    for (uint32_t i = 0; point && i < t->rank; i++) {
        const tensor_node *of = tensor_node_at(r->p->op, t->index[i]),
                          *at = tensor_node_at(r->p->op, load->args[i]);
        point = of->op != TENSOR_VAR_OP || is_left(r->reader, at);
        if (of->op != TENSOR_VAR_OP || (tensor_var)of->imm.i != r->role) continue;
        found = (tensor_var)at->imm.i;
        any = true;
    }
    if (point && any) r->found = found, r->any = true;
    return true;
}

// A stage at hand may be a copy of one of the op's.
static uint32_t number_of(const planner *p, const tensor_stage *st) {
    uint32_t i = 0;
    while (i < p->op->stages.len && plan_stage(p, i)->id != st->id) i++;
    return i;
}

// Or what was computed from it in the same way.
static bool reads_at(const planner *p, uint32_t stage, uint32_t sum, tensor_var role,
                     tensor_var v) {
    const tensor_stage *st = &p->op->stages.data[stage];
    reading r = {.p = p, .sum = &p->op->stages.data[sum], .reader = st, .role = role};
    plan_loads(p, st, at_own_index, &r);
    if (r.any && r.found == v) return true;
    for (uint32_t k = sum + 1; k < stage; k++) {
        const tensor_stage *on = &p->op->stages.data[k];
        if (on->reducer != TENSOR_NO_REDUCER || on->ntargets != 1 || plan_inlined(p, k)) continue;
        for (uint32_t i = 0; i < on->nleft; i++) {
            r = (reading){.p = p, .sum = on, .reader = st, .role = on->left[i]};
            plan_loads(p, st, at_own_index, &r);
            if (r.any && r.found == v && reads_at(p, k, sum, role, on->left[i])) return true;
        }
    }
    return false;
}

// Whether a stage joins the kernel of a sum before it: none between them begins another.
static bool stands_in_kernel(const planner *p, uint32_t sum, uint32_t stage) {
    // plan_joins may note a map that sums by it have noted before
    planner *asked = (planner *)(uintptr_t)p;
    stage_group g = {0};
    VEC_PUSH(p->arena, &g, sum);
    for (uint32_t i = sum + 1; i <= stage; i++) {
        if (plan_inlined(p, i)) continue;
        if (!plan_joins(asked, &g, i)) return false;
        VEC_PUSH(p->arena, &g, i);
    }
    return stage > sum;
}

// What reads the sum point by point in its kernel has its points where the pieces of the sum lie.
matrix_role plan_matrix_role(const planner *p, const tensor_stage *st, tensor_var v,
                             plan_matrix *m) {
    if (plan_matrix_of(p, st, m) && !(m->cells && v == st->left[0]))
        return v == m->rows      ? MATRIX_ROWS
               : v == m->columns ? MATRIX_COLUMNS
               : v == m->depth   ? MATRIX_DEPTH
                                 : MATRIX_NONE;
    const uint32_t number = number_of(p, st), stage = st->reducer == TENSOR_NO_REDUCER ? number : 0;
    matrix_role windowed = plan_window_role(p, number, v, m);
    if (windowed != MATRIX_NONE) return windowed;
    for (uint32_t i = 0; i < stage && stage < p->op->stages.len; i++) {
        const tensor_stage *sum = &p->op->stages.data[i];
        if (sum == st || !plan_matrix_of(p, sum, m)) continue;
        matrix_role role = reads_at(p, stage, i, m->rows, v)      ? MATRIX_ROWS
                           : reads_at(p, stage, i, m->columns, v) ? MATRIX_COLUMNS
                                                                  : MATRIX_NONE;
        if (role != MATRIX_NONE && stands_in_kernel(p, i, stage)) return role;
    }
    return MATRIX_NONE;
}
