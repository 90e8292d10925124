// Numbers that all terms of a sum in windows are multiplied by, such as the scale of attention's
// scores in their gradients: of each cell they cost a multiplication, of the sum one for each of
// its results.
//     dq[v, d] = sum.mma {e} (tf32(ds[e] * c) * k[src[e], d])
//  →  dq[v, d] = sum.mma.times {e} (tf32(ds[e]) * k[src[e], d])    reducer sum.mma.times { …  finish (left.0 * c) }
// And those that a schedule has cells multiplied by, so that f16 holds what is small; what is too
// large for it is infinite, and such sums are found again from numbers as they are
// (lower/loops/again.c).
//     dq: mma e f16 scale 16  →  … (f16(ds[e] * 16) * k[src[e], d])    finish (left.0 * (c * 0.0625))
#include "tensor/tensor.h"
#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

typedef struct {
    planner *p;
    tensor_expr number;   // taken out; 0: none
    double value;         // its own
    double scale;         // what cells are multiplied by
    tensor_expr *found;   // per expression: what exponential_scaled gives; NOT_FOUND: 0
} taking;
enum { NOT_FOUND = INT32_MAX };

bool plan_number(const planner *p, tensor_expr e, double *x) {
    const tensor_node *n = tensor_node_at(p->op, e);
    double a[2] = {0, 0};
    if (n->op == TENSOR_CONST_OP) *x = tensor_type_is_float(n->type) ? n->imm.f : (double)n->imm.i;
    if (n->op == TENSOR_SIZE_OP) *x = (double)p->op->spaces.data[n->imm.i].size;
    if (n->op == TENSOR_CONST_OP) return true;
    if (n->op == TENSOR_SIZE_OP) return p->op->spaces.data[n->imm.i].kind == SPACE_CONST;
    if (!n->nargs || n->nargs > 2) return false;
    for (uint32_t i = 0; i < n->nargs; i++)
        if (!plan_number(p, n->args[i], &a[i])) return false;
    switch ((int)n->op) {
    case TENSOR_CVT_OP: *x = a[0]; return true;
    case TENSOR_SQRT_OP: *x = sqrt(a[0]); return true;
    case TENSOR_MUL_OP: *x = a[0] * a[1]; return true;
    case TENSOR_DIV_OP: *x = a[0] / a[1]; return true;
    }
    return false;
}

// Sums keep their range, and nothing that is not finite comes to rows without terms.
static bool may_wait(const planner *p, tensor_expr e, double *all) {
    static const double MOST = 256;
    double x;
    if (!plan_number(p, e, &x)) return false;
    *all *= x;
    return fabs(*all) <= MOST && fabs(*all) >= 1 / MOST;
}

// What is left of a product of f32.
static tensor_expr without_numbers(taking *t, tensor_expr e) {
    tensor_op *op = t->p->op;
    const tensor_node n = *tensor_node_at(op, e);
    double own;
    if (n.op != TENSOR_MUL_OP || n.type.type != DT_F32 || plan_number(t->p, e, &own)) return e;
    for (uint32_t i = 0; i < 2; i++) {
        double value = t->value;
        if (!may_wait(t->p, n.args[i], &value)) continue;
        t->value = value;
        t->number = t->number ? tensor_binary(op, TENSOR_MUL_OP, t->number, n.args[i], n.at)
                              : n.args[i];
        return without_numbers(t, n.args[1 - i]);
    }
    tensor_expr x = without_numbers(t, n.args[0]), y = without_numbers(t, n.args[1]);
    return x == n.args[0] && y == n.args[1] ? e : tensor_binary(op, TENSOR_MUL_OP, x, y, n.at);
}

static bool is_zero(const tensor_op *op, tensor_expr e) {
    const tensor_node *n = tensor_node_at(op, e);
    return n->op == TENSOR_CONST_OP && n->imm.f == 0;
}

// Of an exponential in it, which other sums of the walk share; 0: there is none.
static tensor_expr exponential_scaled(taking *t, tensor_expr e);

static tensor_expr find_exponential(taking *t, tensor_expr e) {
    tensor_op *op = t->p->op;
    const tensor_node n = *tensor_node_at(op, e);
    if (n.type.type != DT_F32) return 0;
    if (n.op == TENSOR_EXP_OP)
        return tensor_binary(op, TENSOR_MUL_OP, e, tensor_float(op, DT_F32, t->scale), n.at);
    if (n.op == TENSOR_SELECT_OP && is_zero(op, n.args[1])) {
        tensor_expr x = exponential_scaled(t, n.args[2]);
        return x ? tensor_select(op, n.args[0], n.args[1], x, n.at) : 0;
    }
    if (n.op == TENSOR_ADD_OP || n.op == TENSOR_SUB_OP) {
        tensor_expr x = exponential_scaled(t, n.args[0]),
                    y = x ? exponential_scaled(t, n.args[1]) : 0;
        return y ? tensor_binary(op, (tensor_opcode)n.op, x, y, n.at) : 0;
    }
    if (n.op != TENSOR_MUL_OP) return 0;
    for (uint32_t i = 0; i < 2; i++) {
        tensor_expr x = exponential_scaled(t, n.args[i]);
        if (x) return tensor_binary(op, TENSOR_MUL_OP, i ? n.args[0] : x, i ? x : n.args[1], n.at);
    }
    return 0;
}

static tensor_expr exponential_scaled(taking *t, tensor_expr e) {
    if (!t->found[e]) {
        const tensor_expr x = find_exponential(t, e);
        t->found[e] = x ? x : NOT_FOUND;
    }
    return t->found[e] == NOT_FOUND ? 0 : t->found[e];
}

static tensor_expr scaled(taking *t, tensor_expr e, span at) {
    tensor_op *op = t->p->op;
    tensor_expr back = tensor_float(op, DT_F32, 1 / t->scale);
    t->number = t->number ? tensor_binary(op, TENSOR_MUL_OP, t->number, back, at) : back;
    t->found = ARENA_ARRAY(t->p->arena, tensor_expr, op->exprs.len + 1);
    tensor_expr exponential = exponential_scaled(t, e);
    if (exponential) return exponential;
    if (!tensor_type_equal(tensor_typeof(op, e), TENSOR_TYPE(F32)))
        e = tensor_cvt(op, TENSOR_TYPE(F32), e, at);
    return tensor_binary(op, TENSOR_MUL_OP, e, tensor_float(op, DT_F32, t->scale), at);
}

// The operand of a matrix operation, rounded as it was. What f16 holds has less range than a
// product may need.
static tensor_expr operand_without(taking *t, tensor_expr e) {
    const tensor_node n = *tensor_node_at(t->p->op, e);
    bool bf16 = n.op == TENSOR_ROUND_OP && (ir_dtype)n.imm.i == DT_BF16;
    double number;
    // f16 holds it or does not
    if (t->scale != 1 && plan_number(t->p, n.op == TENSOR_ROUND_OP ? n.args[0] : e, &number))
        return e;
    if (t->scale != 1)
        return tensor_round(
            t->p->op, DT_F16,
            scaled(t, without_numbers(t, n.op == TENSOR_ROUND_OP ? n.args[0] : e), n.at), n.at);
    if (!bf16 && n.op != TENSOR_TF32_OP && n.op != TENSOR_PARTS_OP) return e;
    tensor_expr of = without_numbers(t, n.args[0]);
    if (!t->number) return e;
    return n.op == TENSOR_ROUND_OP ? tensor_round(t->p->op, (ir_dtype)n.imm.i, of, n.at)
                                   : tensor_tf32(t->p->op, (tensor_opcode)n.op, of, n.at);
}

static uint32_t times_at_last(taking *t, uint32_t of) {
    planner *p = t->p;
    tensor_reducer r = p->op->reducers.data[of];
    tensor_expr *finish = ARENA_NEW(p->arena, tensor_expr);
    *finish = tensor_binary(p->op, TENSOR_MUL_OP, r.finish[0], t->number, NO_SPAN);
    r.name = arena_printf(p->arena, "%s.times", r.name);
    r.finish = finish;
    for (uint32_t i = 0; i < p->op->reducers.len; i++) {
        const tensor_reducer *other = &p->op->reducers.data[i];
        if (other->roundings == r.roundings && other->nresults == 1 &&
            other->finish[0] == *finish && !strcmp(other->name, r.name))
            return i;
    }
    VEC_PUSH(p->arena, &p->op->reducers, r);
    return p->op->reducers.len - 1;
}

void plan_outside(planner *p) {
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage st = p->op->stages.data[i];
        taking t = {.p = p, .value = 1, .scale = 1};
        plan_matrix m;
        if (st.reducer == TENSOR_NO_REDUCER || !plan_matrix_of(p, &st, &m) || m.cells || !m.window)
            continue;
        if (schedule_value_of(m.cell, "scale")) t.scale = (double)schedule_number(m.cell, "scale");
        const tensor_node product = *tensor_node_at(p->op, st.body[0]);
        tensor_expr cell = operand_without(&t, product.args[0]),
                    *body = ARENA_NEW(p->arena, tensor_expr);
        if (!t.number) continue;
        *body = tensor_binary(p->op, TENSOR_MUL_OP, cell, product.args[1], product.at);
        uint32_t reducer = times_at_last(&t, st.reducer);
        p->op->stages.data[i].body = body;
        p->op->stages.data[i].reducer = reducer;
    }
}
