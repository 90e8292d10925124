// Expressions of a stage, compiled to an array and evaluated by need. A value is kept until a
// variable it depends on moves, so shared and loop-invariant parts are computed once; only what is
// chosen by `select`, `and`, `or` is evaluated.
#include "eval.h"

#include <string.h>

enum { MAX_DEPTH = 4000 };   // of expressions: evaluation recurs

// ---- Compilation --------------------------------------------------------------------------------

eval_program *eval_program_new(evaluator *ev, const char *what, uint32_t levels) {
    eval_program *p = ARENA_NEW(ev->temp, eval_program);
    p->ev = ev;
    p->what = what;
    p->local = ARENA_ARRAY(ev->temp, uint32_t, ev->op->exprs.len);
    p->var_level = ARENA_ARRAY(ev->temp, uint32_t, ev->op->vars.len);
    p->moved = ARENA_ARRAY(ev->temp, uint64_t, levels + 1);
    for (uint32_t i = 0; i <= levels; i++) p->moved[i] = 1;
    p->moves = 1;
    return p;
}

static void attach(eval_program *p, const tensor_node *n, eval_node *out) {
    evaluator *ev = p->ev;
    switch (n->op) {
    case TENSOR_SIZE_OP: out->imm = eval_size(ev, (tensor_space)n->imm.i); break;
    case TENSOR_VAR_OP: out->level = p->var_level[n->imm.i]; break;
    case TENSOR_ARG_OP:
    case TENSOR_LEFT_OP:
    case TENSOR_RIGHT_OP: out->level = 1; break;
    case TENSOR_LOAD_OP: out->slot = eval_slot_of(ev, (tensor_val)n->imm.i); break;
    case TENSOR_INDEX_OP: out->size = eval_size(ev, n->type.space); break;
    default: break;
    }
}

static uint32_t add_node(eval_program *p, tensor_expr e) {
    const tensor_node *n = tensor_node_at(p->ev->op, e);
    eval_node out = {.op = n->op,
                     .nargs = n->nargs,
                     .type = n->type.type,
                     .space = n->type.space,
                     .imm = n->imm.i,
                     .imm2 = n->imm2};
    out.is_float = tensor_type_is_float(n->type);
    const bool near = p->ev->in->near && n->op == TENSOR_EXP_OP;
    bool by_parts = false;
    uint32_t *args = ARENA_ARRAY(p->ev->temp, uint32_t, n->nargs);
    for (uint32_t i = 0; i < n->nargs; i++) {
        args[i] = p->local[n->args[i]] - 1;
        eval_node *arg = &p->nodes.data[args[i]];
        if (arg->level > out.level) out.level = arg->level;
        if (n->op == TENSOR_ADD_OP || n->op == TENSOR_SUB_OP || n->op == TENSOR_NEG_OP)
            arg->contracts = true;
        arg->near |= near && p->ev->in->narrow && arg->op == TENSOR_SUB_OP;
        by_parts |= n->op == TENSOR_MUL_OP && arg->op == TENSOR_PARTS_OP;
    }
    out.args = args, out.near = near;
    if (n->nargs) out.from = tensor_typeof(p->ev->op, n->args[0]).type;
    bool compares = tensor_op_table((tensor_opcode)n->op)->kind == TENSOR_COMPARE;
    // through a sum's lift, too
    out.contracts = n->op == TENSOR_MUL_OP && tensor_type_is_narrow(n->type);
    out.precision = by_parts ? &eval_by_parts
                             : eval_precision_in(p->ev, compares ? out.from : n->type.type);
    out.reach = eval_reach(n);
    out.name = e;
    attach(p, n, &out);
    VEC_PUSH(p->ev->temp, &p->nodes, out);
    return p->nodes.len;
}

uint32_t eval_compile(eval_program *p, tensor_expr root) {
    VEC(tensor_expr) stack = {0};
    VEC_PUSH(p->ev->temp, &stack, root);
    while (stack.len) {
        tensor_expr e = stack.data[stack.len - 1];
        const tensor_node *n = tensor_node_at(p->ev->op, e);
        uint32_t waiting = stack.len;
        for (uint32_t i = n->nargs; i-- > 0 && !p->local[e];)
            if (!p->local[n->args[i]]) VEC_PUSH(p->ev->temp, &stack, n->args[i]);
        if (stack.len > MAX_DEPTH) {
            eval_fault(p->ev, "%s: an expression is too deep to evaluate", p->what);
            return 0;
        }
        if (stack.len > waiting) continue;
        if (!p->local[e]) p->local[e] = add_node(p, e);
        stack.len--;
    }
    return p->local[root] - 1;
}

// ---- Loads --------------------------------------------------------------------------------------

static eval_value no_load(eval_program *p, const eval_node *n, uint32_t axis, eval_value at) {
    const eval_slot *s = n->slot;
    if (at.i == -1 && p->ev->lenient && n->type == DT_INDEX) return eval_int(-1, at.certain);
    if (!at.certain) return eval_any(n->is_float);
    tensor_space space = s->info->axes[axis];
    if (at.i == -1)
        eval_fault(p->ev, "%s: '%s' is read at none of %s", p->what, s->info->name,
                   p->ev->op->spaces.data[space].name);
    else
        eval_fault(p->ev, "%s: '%s' is read at %lld of %s, which has %lld", p->what, s->info->name,
                   (long long)at.i, p->ev->op->spaces.data[space].name, (long long)s->shape[axis]);
    return eval_any(n->is_float);
}

static eval_value load(eval_program *p, const eval_node *n) {
    const eval_slot *s = n->slot;
    int64_t at = 0;
    bool certain = true;
    for (uint32_t k = 0; k < n->nargs; k++) {
        eval_value i = eval_node_value(p, n->args[k]);
        if (i.i < 0 || i.i >= s->shape[k]) return no_load(p, n, k, i);
        certain = certain && i.certain;
        at += i.i * s->stride[k];
    }
    if (s->deferred) {
        if (eval_slot_asked(s, at) < 0) eval_demand(p->ev, s, at);
        at = eval_slot_asked(s, at);
        if (at < 0) return eval_any(n->is_float);   // a fault was told
    }
    if (s->written && !s->written[at]) {
        if (certain)
            eval_fault(p->ev, "%s: element %lld of '%s' is read before it is defined", p->what,
                       (long long)at, s->info->name);
        return eval_any(n->is_float);
    }
    eval_value x = eval_slot_get(s, at);
    return certain ? x : eval_unsure(x);
}

// Outside its space it equals no point of it, and nothing is read there.
static eval_value to_index(eval_program *p, const eval_node *n) {
    return eval_node_value(p, n->args[0]);
}

// ---- Choices ------------------------------------------------------------------------------------

// What perhaps must not be evaluated: a fault there gives anything.
static eval_value guess(eval_program *p, uint32_t node) {
    p->ev->guessing++;
    eval_value x = eval_node_value(p, node);
    p->ev->guessing--;
    return x;
}

static eval_value logic(eval_program *p, const eval_node *n) {
    eval_value x = eval_node_value(p, n->args[0]);
    if (n->op == TENSOR_NOT_OP) return eval_int(!x.i, x.certain);
    bool decided = n->op == TENSOR_OR_OP;   // the value of x that decides alone
    if (x.certain) return (x.i != 0) == decided ? x : eval_node_value(p, n->args[1]);
    eval_value y = guess(p, n->args[1]);
    if (y.certain && (y.i != 0) == decided) return y;
    return eval_int(decided ? x.i || y.i : x.i && y.i, false);
}

static eval_value select_one(eval_program *p, const eval_node *n) {
    eval_value c = eval_node_value(p, n->args[0]);
    if (c.certain) return eval_node_value(p, n->args[c.i ? 1 : 2]);
    return eval_choose(n->is_float, guess(p, n->args[1]), guess(p, n->args[2]), c.i != 0);
}

// ---- The rest -----------------------------------------------------------------------------------

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static eval_value uniform(eval_program *p, const eval_node *n) {
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h = 0;
    for (uint32_t k = 0; k < n->nargs; k++) {
        eval_value x = eval_node_value(p, n->args[k]);
        if (!x.certain) return eval_any(true);
        h = mix((h ^ (uint64_t)x.i) + golden);
    }
    return eval_float((double)(h >> 40) * 0x1p-24, 0);
}

static eval_value rounded(const eval_program *p, const eval_node *n, eval_value x) {
    ir_dtype through = (ir_dtype)n->imm;
    eval_value r = eval_stored(p->ev, through, x);
    // by way of f32
    bool twice = n->type == DT_F64 && through != DT_F32 && (double)(float)x.v != x.v;
    if (twice && isfinite(r.bound) && isfinite(r.v)) {
        double up = ir_dtype_round(through, nextafter((double)(float)x.v, (double)INFINITY));
        double down = ir_dtype_round(through, nextafter((double)(float)x.v, (double)-INFINITY));
        r.bound = fmax(r.bound, fmax(fabs(up - r.v), fabs(r.v - down)));
    }
    return r;
}

// A multiple of it, at least as large, is rounded: it may err by as much as any.
static eval_value rounded_relative(const eval_node *n, eval_value x) {
    static const eval_precision tf32 = {DT_F32,         11, 0x1.004p-11, 0x1p-136, 0x1p-126,
                                        0x1.ffffffp127, 0};
    const eval_precision *p = n->op == TENSOR_TF32_OP ? &tf32 : eval_precision_of((ir_dtype)n->imm);
    return isfinite(x.v) && isfinite(x.bound) ? eval_settle(p, x.v, x.bound, 0.5) : x;
}

static bool is_power_of_two(double x) {
    int e;
    return fabs(frexp(x, &e)) == 0.5;
}

// Whatever the other operand is.
static bool never_rounds(const eval_node *n, double x, double y) {
    switch ((tensor_opcode)n->op) {
    case TENSOR_ADD_OP:
    case TENSOR_SUB_OP: return x == 0 || y == 0;
    case TENSOR_MUL_OP: return x == 0 || y == 0 || is_power_of_two(x) || is_power_of_two(y);
    case TENSOR_DIV_OP: return x == 0 || is_power_of_two(y);
    default: return true;
    }
}

static eval_value arith(eval_program *p, const eval_node *n) {
    eval_value x = eval_node_value(p, n->args[0]),
               y = n->nargs > 1 ? eval_node_value(p, n->args[1]) : x;
    if (!n->is_float) return eval_int_arith((tensor_opcode)n->op, x, y);
    eval_value r = eval_arith((tensor_opcode)n->op, n->precision, x, y);
    if (n->near && isfinite(r.v)) r.bound += 2 * n->precision->u * (fabs(x.v) + fabs(y.v));
    if (n->any_order && r.bound == 0 && isfinite(r.v) && !never_rounds(n, x.v, y.v))
        r = eval_settle(n->precision, r.v, 0, 0.5);
    bool overflowed = n->contracts && n->op == TENSOR_MUL_OP && isinf(r.v) && isfinite(x.v) &&
                      isfinite(y.v);
    overflowed |= n->most > 0 && !(fabs(y.v) + y.bound <= n->most) && isfinite(y.v);
    return overflowed ? eval_float(r.v, (double)INFINITY) : r;
}

static eval_value compare(eval_program *p, const eval_node *n) {
    if (n->args[0] == n->args[1] && ir_dtype_is_float(n->from))
        return eval_compare_same((tensor_opcode)n->op, eval_node_value(p, n->args[0]));
    eval_value x = eval_node_value(p, n->args[0]), y = eval_node_value(p, n->args[1]);
    return eval_compare((tensor_opcode)n->op, ir_dtype_is_float(n->from), x, y);
}

static eval_value leaf(const eval_program *p, const eval_node *n) {
    switch (n->op) {
    case TENSOR_CONST_OP: {
        double f;
        memcpy(&f, &n->imm, sizeof f);
        return n->is_float ? eval_float(f, 0) : eval_int(n->imm, true);
    }
    case TENSOR_NONE_OP: return eval_int(-1, true);
    case TENSOR_VAR_OP: return eval_int(p->ev->vars[n->imm], true);
    case TENSOR_SIZE_OP: return eval_int(n->imm, true);
    case TENSOR_ARG_OP: return p->arg[n->imm];
    case TENSOR_LEFT_OP: return p->left[n->imm];
    case TENSOR_RIGHT_OP: return p->right[n->imm];
    default: ICE("'%s' is not a leaf", tensor_op_table((tensor_opcode)n->op)->text);
    }
}

static eval_value other(eval_program *p, const eval_node *n) {
    switch (n->op) {
    case TENSOR_LOAD_OP: return load(p, n);
    case TENSOR_INDEX_OP: return to_index(p, n);
    case TENSOR_SELECT_OP: return select_one(p, n);
    case TENSOR_CVT_OP:
        return eval_convert((tensor_type){n->type, 0}, (tensor_type){n->from, 0}, n->precision,
                            eval_node_value(p, n->args[0]));
    case TENSOR_ROUND_OP:
        return n->relative ? rounded_relative(n, eval_node_value(p, n->args[0]))
                           : rounded(p, n, eval_node_value(p, n->args[0]));
    case TENSOR_TF32_OP:
        return n->relative ? rounded_relative(n, eval_node_value(p, n->args[0]))
                           : eval_tf32(eval_node_value(p, n->args[0]));
    case TENSOR_PARTS_OP: return eval_parts(eval_node_value(p, n->args[0]));
    case TENSOR_BIT_OP: {
        eval_value x = eval_node_value(p, n->args[0]), i = eval_node_value(p, n->args[1]);
        return eval_int((x.i >> (i.i & 31)) & 1, x.certain && i.certain);
    }
    case TENSOR_RAND_OP: return uniform(p, n);
    case TENSOR_STOP_OP: return eval_node_value(p, n->args[0]);
    case TENSOR_PREIMAGE_OP:
    case TENSOR_AT_LEAST_OP:
    case TENSOR_CUT_PARTS_OP:
    case TENSOR_SYMMETRIC_OP: return eval_statistic(p->ev, n);
    default: ICE("'%s' cannot be evaluated", tensor_op_table((tensor_opcode)n->op)->text);
    }
}

static eval_value maths(eval_program *p, const eval_node *n) {
    eval_value x = eval_node_value(p, n->args[0]),
               y = n->nargs > 1 ? eval_node_value(p, n->args[1]) : eval_float(0, 0);
    eval_value r = eval_maths((tensor_opcode)n->op, n->precision, x, y);
    if (!n->near || !isfinite(r.v) || r.v == 0) return r;
    const eval_precision *to = n->precision;
    r.bound += (4 + 2 * fabs(x.v)) * to->u * fabs(r.v);   // 2^(x log2 e)
    // f16 alone keeps what is below its normal range
    if (fabs(r.v) < to->normal) r.bound += to->type == DT_F16 ? 2 * to->tiny : to->normal;
    return r;
}

static eval_value compute(eval_program *p, const eval_node *n) {
    switch ((tensor_op_kind)tensor_op_table((tensor_opcode)n->op)->kind) {
    case TENSOR_LEAF: return leaf(p, n);
    case TENSOR_ARITH: return arith(p, n);
    case TENSOR_COMPARE: return compare(p, n);
    case TENSOR_LOGIC: return logic(p, n);
    case TENSOR_MATHS: return maths(p, n);
    case TENSOR_OTHER: return other(p, n);
    }
    ICE("no kind of operation");
}

eval_value eval_node_value(eval_program *p, uint32_t node) {
    const eval_node *n = &p->nodes.data[node];
    eval_memo *m = &p->memo[node];
    uint64_t moved = p->moved[n->level];
    if (m->stamp == moved && (!m->guessed || p->ev->guessing)) return m->value;
    eval_value x = p->ev->why ? eval_any(n->is_float) : eval_ranged(p, n, compute(p, n));
    *m = (eval_memo){x, moved, p->ev->guessing > 0};
    return x;
}
