// The maximum and the sum of a softmax, as one number that its gradient needs: the logarithm of
// what all exponentials come to,
//     a[e] = exp(s[e] - m[v]) / l[v], l[v] = sum {e : dst[e] == v} exp(s[e] - m[v])   →   exp(s[e] - (m[v] + log(l[v])))
// as FlashAttention keeps it (Dao et al. 2022, section B.4; Milakov and Gimelshein 2018). Whatever
// is subtracted, the sum of what is left makes up for it: an op that only reads both so is the same
// op with m + log(l) in the place of m, and 1 in that of l.
#include "gradient_internal.h"

#include <math.h>
#include <string.h>

typedef struct {
    tensor_op *op;
    tensor_val max, sum;
    uint8_t *seen;
} softmax;

static bool is_load(const tensor_op *op, tensor_expr e, tensor_val v) {
    const tensor_node *n = tensor_node_at(op, e);
    return n->op == TENSOR_LOAD_OP && (tensor_val)n->imm.i == v;
}

static bool is_op(const tensor_op *op, tensor_expr e, tensor_opcode o) {
    return tensor_node_at(op, e)->op == o;
}
static tensor_expr arg(const tensor_op *op, tensor_expr e, uint32_t i) {
    return tensor_node_at(op, e)->args[i];
}

// 0 but where `eq(of, none)` does not hold: what stands there; 0: it is no such choice.
static tensor_expr unless(const tensor_op *op, tensor_expr e, double none, tensor_expr *of) {
    if (!is_op(op, e, TENSOR_SELECT_OP) || !is_op(op, arg(op, e, 0), TENSOR_EQ_OP)) return 0;
    tensor_expr test = arg(op, e, 0);
    *of = arg(op, test, 0);
    return gradient_is_constant(op, arg(op, test, 1), none) &&
                   gradient_is_constant(op, arg(op, e, 1), 0)
               ? arg(op, e, 2)
               : 0;
}

// exp(x - m), 0 where m is -inf: what x is; at: the load of m.
static tensor_expr shifted(const softmax *s, tensor_expr e, tensor_expr *at) {
    tensor_expr m, power = unless(s->op, e, -INFINITY, &m);
    if (!power || !is_op(s->op, m, TENSOR_STOP_OP) || !is_load(s->op, arg(s->op, m, 0), s->max))
        return 0;
    if (!is_op(s->op, power, TENSOR_EXP_OP) || !is_op(s->op, arg(s->op, power, 0), TENSOR_SUB_OP))
        return 0;
    tensor_expr difference = arg(s->op, power, 0);
    *at = arg(s->op, m, 0);
    return arg(s->op, difference, 1) == m ? arg(s->op, difference, 0) : 0;
}

// 1 / l, 0 where l is 0: the load of l.
static tensor_expr inverse(const softmax *s, tensor_expr e) {
    tensor_expr l, quotient = unless(s->op, e, 0, &l);
    bool one = quotient && is_op(s->op, quotient, TENSOR_DIV_OP) &&
               gradient_is_constant(s->op, arg(s->op, quotient, 0), 1);
    return one && arg(s->op, quotient, 1) == l && is_load(s->op, l, s->sum) ? l : 0;
}

static bool same_index(const tensor_op *op, tensor_expr a, tensor_expr b) {
    const tensor_node *x = tensor_node_at(op, a), *y = tensor_node_at(op, b);
    bool same = x->nargs == y->nargs;
    for (uint32_t i = 0; same && i < x->nargs; i++) same = x->args[i] == y->args[i];
    return same;
}

// A weight, of the same row of both: what x is.
static tensor_expr weight(const softmax *s, tensor_expr e) {
    if (!is_op(s->op, e, TENSOR_MUL_OP)) return 0;
    for (uint32_t i = 0; i < 2; i++) {
        tensor_expr at, l = inverse(s, arg(s->op, e, i)),
                        x = l ? shifted(s, arg(s->op, e, 1 - i), &at) : 0;
        if (x && same_index(s->op, at, l)) return x;
    }
    return 0;
}

// false: it is read in another way.
static bool reads_weights(softmax *s, tensor_expr e) {
    const tensor_node *n = tensor_node_at(s->op, e);
    if (s->seen[e]) return true;
    s->seen[e] = 1;
    tensor_expr x = weight(s, e);
    if (x) return reads_weights(s, x);
    if (is_load(s->op, e, s->max) || is_load(s->op, e, s->sum)) return false;
    bool good = true;
    for (uint32_t i = 0; i < n->nargs && good; i++) good = reads_weights(s, n->args[i]);
    return good;
}

static bool all_read_weights(softmax *s, const tensor_expr *e, uint32_t n) {
    bool good = true;
    for (uint32_t i = 0; i < n && good; i++) good = reads_weights(s, e[i]);
    return good;
}

// Of a stage what stands beside its body: which points it has.
static bool points_read_weights(softmax *s, const tensor_stage *st) {
    bool good = all_read_weights(s, st->filters, st->nfilters) &&
                all_read_weights(s, st->orelse, st->nelse);
    for (uint32_t k = 0; k < st->nkeys && good; k++)
        good = reads_weights(s, st->keys[k].lhs) && reads_weights(s, st->keys[k].rhs);
    return good;
}

// All that is summed is shifted by the row's maximum.
static bool is_sum(softmax *s, const tensor_stage *st) {
    tensor_expr at, x;
    bool plain = st->ntargets == 1 && st->reducer != TENSOR_NO_REDUCER &&
                 s->op->reducers.data[st->reducer].kind == REDUCE_SUM && !st->nelse &&
                 st->loop == TENSOR_NO_LOOP;
    if (!plain || !(x = shifted(s, st->body[0], &at)) ||
        tensor_node_at(s->op, at)->nargs != st->targets[0].rank)
        return false;
    for (uint32_t i = 0; i < st->targets[0].rank; i++)
        if (tensor_node_at(s->op, at)->args[i] != st->targets[0].index[i]) return false;
    return reads_weights(s, x) && points_read_weights(s, st);
}

// ---- Scores -------------------------------------------------------------------------------------
// Whether a finite constant as large as those that masks have goes into a score: where a row has
// nothing else, its logarithm would be lost beside it.
static bool has_large(softmax *s, tensor_expr e) {
    enum { LARGE = 1000 };
    const tensor_node *n = tensor_node_at(s->op, e);
    if (s->seen[e]) return false;
    s->seen[e] = 1;
    bool any = n->op == TENSOR_CONST_OP && tensor_type_is_float(n->type) && isfinite(n->imm.f) &&
               fabs(n->imm.f) > LARGE;
    for (uint32_t i = 0; i < n->nargs && !any; i++) any = has_large(s, n->args[i]);
    for (uint32_t i = 0; i < s->op->stages.len && n->op == TENSOR_LOAD_OP && !any; i++) {
        const tensor_stage *st = &s->op->stages.data[i];
        if (st->targets[0].val != (tensor_val)n->imm.i) continue;
        for (uint32_t k = 0; k < st->nbody; k++) any |= has_large(s, st->body[k]);
    }
    return any;
}

static bool are_large(arena *a, const softmax *of, const tensor_stage *st) {
    softmax s = *of;
    s.seen = ARENA_ARRAY(a, uint8_t, of->op->exprs.len);
    return has_large(&s, st->body[0]);
}

bool tensor_is_softmax(arena *a, const tensor_op *op, tensor_val max, tensor_val sum) {
    softmax s = {(tensor_op *)(uintptr_t)op, max, sum, ARENA_ARRAY(a, uint8_t, op->exprs.len)};
    bool summed = false, good = true;
    for (uint32_t i = 0; i < op->stages.len && good; i++) {
        const tensor_stage *st = &op->stages.data[i];
        if (st->targets[0].val == max) continue;
        if (st->targets[0].val == sum) {
            good = summed = is_sum(&s, st) && !are_large(a, &s, st);
            continue;
        }
        good = all_read_weights(&s, st->body, st->nbody) && points_read_weights(&s, st);
    }
    return good && summed;
}

const char *gradient_saved_name(arena *a, const tensor_op *op, const gradient_saved *x) {
    const char *name = op->vals.data[x->val].name, *end = strrchr(name, '.');
    if (x->sum == TENSOR_NO_VAL) return name;
    bool max = end && !strcmp(end, ".max");
    return arena_printf(a, "%.*s.lse", (int)(max ? (size_t)(end - name) : strlen(name)), name);
}
