// What leaves the range of its type. An implementation has an infinity there, and perhaps a NaN of
// it; real arithmetic has a number, which the evaluator finds where it takes types for as wide as
// f64 (tensor_eval_input.real). A number that even f64 lacks is an infinity that remembers so: at
// least that large.
#include "eval.h"

double eval_reach(const tensor_node *n) {
    switch ((tensor_opcode)n->op) {
    case TENSOR_ADD_OP:
    case TENSOR_SUB_OP:
    case TENSOR_MUL_OP:
    case TENSOR_DIV_OP:
    case TENSOR_EXP_OP:
    case TENSOR_EXPM1_OP:
    case TENSOR_POW_OP:
    case TENSOR_CVT_OP:
        return tensor_type_is_float(n->type) ? eval_precision_of(n->type.type)->limit
                                             : (double)INFINITY;
    case TENSOR_ROUND_OP:
        return tensor_type_is_float(n->type) ? eval_precision_of((ir_dtype)n->imm.i)->limit
                                             : (double)INFINITY;
    default: return (double)INFINITY;
    }
}

eval_value eval_stored(const evaluator *ev, ir_dtype to, eval_value x) {
    eval_value r = eval_store(to, x);
    bool beyond = ev->in->real && ir_dtype_is_float(to) && eval_is_finite(x) && !eval_is_finite(r);
    if (beyond) r = eval_settle(eval_precision_real(to), x.v, x.bound, 0.5);
    r.beyond = x.beyond;
    return r;
}

static eval_value arg_of(const eval_program *p, const eval_node *n, uint32_t i) {
    return p->memo[n->args[i]].value;
}

static bool arg_is_float(const eval_program *p, const eval_node *n, uint32_t i) {
    return p->nodes.data[n->args[i]].is_float;
}

static bool is_huge(eval_value x) { return isinf(x.v) && x.beyond && !isinf(x.bound); }

// An infinity of what was finite, but for a pole: x / 0, 0^-1.
static bool leaves(const eval_program *p, const eval_node *n, eval_value x) {
    for (uint32_t i = 0; i < n->nargs; i++)
        if (arg_is_float(p, n, i) && !isfinite(arg_of(p, n, i).v)) return false;
    bool pole = (n->op == TENSOR_DIV_OP && arg_of(p, n, 1).v == 0) ||
                (n->op == TENSOR_POW_OP && arg_of(p, n, 0).v == 0);
    return !isnan(x.v) && !pole;
}

// Whether what is known of an operation holds where the i-th operand is larger than any number of
// f64.
static bool holds_of_huge(const eval_program *p, const eval_node *n, uint32_t i) {
    eval_value other = n->nargs == 2 ? arg_of(p, n, 1 - i) : eval_float(0, 0);
    switch ((tensor_opcode)n->op) {
    case TENSOR_ADD_OP:
    case TENSOR_SUB_OP: return !is_huge(other);
    case TENSOR_MUL_OP: return fabs(other.v) - other.bound >= 1;
    case TENSOR_DIV_OP: return i == 1 ? !is_huge(other) : fabs(other.v) + other.bound <= 1;
    case TENSOR_SQRT_OP:
    case TENSOR_LOG_OP:
    case TENSOR_LOG1P_OP:
    case TENSOR_POW_OP:
    case TENSOR_SIN_OP:
    case TENSOR_COS_OP: return false;
    default:
        return tensor_op_table((tensor_opcode)n->op)->kind != TENSOR_COMPARE || !is_huge(other);
    }
}

static eval_value in_reals(const eval_program *p, const eval_node *n, eval_value x) {
    bool known = true;
    for (uint32_t i = 0; i < n->nargs; i++) {
        eval_value arg = arg_of(p, n, i);
        // it was not asked for
        if (p->memo[n->args[i]].stamp != p->moved[p->nodes.data[n->args[i]].level]) continue;
        if (!x.beyond) x.beyond = arg.beyond;
        if (arg_is_float(p, n, i) && is_huge(arg)) known = known && holds_of_huge(p, n, i);
    }
    if (!x.beyond && n->is_float && !(fabs(x.v) <= n->reach) && leaves(p, n, x)) x.beyond = n->name;
    if (known) return x;
    eval_value any = eval_any(n->is_float);
    any.beyond = x.beyond;
    return any;
}

eval_value eval_ranged(eval_program *p, const eval_node *n, eval_value x) {
    if (p->ev->in->real) return in_reals(p, n, x);
    bool near = n->is_float && !(fabs(x.v) < n->reach / 4) && !isinf(n->reach);
    if (near && !p->ev->overflows) p->ev->overflows = leaves(p, n, x);
    return x;
}
