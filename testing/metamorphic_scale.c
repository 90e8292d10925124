// In which inputs a result is homogeneous, and of which degree: y(t x) = t^d y(x) for t > 0. A
// degree is found for each expression from those of its arguments, and for values written in a loop
// by going round until nothing changes. Scaling by an even power of two rounds nothing but what
// leaves the range of a type.
#include "eval_number.h"
#include "metamorphic_internal.h"

#include <string.h>

// Twice a degree, as roots halve it. ANY: 0, infinities and NaN, which have all degrees.
enum { ANY = INT32_MIN, UNKNOWN = META_NOTHING, MOST = 64 };

typedef struct {
    const tensor_op *op;
    int32_t *val, *expr;
    const int32_t *arg, *left;   // of the reducer at hand, whose expressions are among all others
    uint32_t nargs, nleft;
} degrees;

static int32_t join(int32_t x, int32_t y) {
    return x == ANY ? y : y == ANY || x == y ? x : UNKNOWN;
}
static int32_t limited(int32_t d) { return d > MOST || d < -MOST ? UNKNOWN : d; }
static int32_t invariant(int32_t d) { return d == ANY || d == 0 ? 0 : UNKNOWN; }

static int32_t product(int32_t x, int32_t y, int sign) {
    if (x == UNKNOWN || y == UNKNOWN) return UNKNOWN;
    return x == ANY || y == ANY ? ANY : limited(x + sign * y);
}

static int32_t power(const degrees *d, const tensor_node *n) {
    const tensor_node *y = tensor_node_at(d->op, n->args[1]);
    int32_t x = d->expr[n->args[0]];
    bool whole = y->op == TENSOR_CONST_OP && fabs(y->imm.f) <= 8 && y->imm.f == trunc(y->imm.f) &&
                 y->imm.f != 0;
    if (whole && x != UNKNOWN) return x == ANY ? ANY : limited(x * (int32_t)y->imm.f);
    return join(invariant(x), invariant(d->expr[n->args[1]]));
}

static int32_t joined(const degrees *d, const tensor_node *n, uint32_t first) {
    int32_t all = ANY;
    for (uint32_t i = first; i < n->nargs; i++) all = join(all, d->expr[n->args[i]]);
    return all;
}

static int32_t all_invariant(const degrees *d, const tensor_node *n) {
    int32_t all = 0;
    for (uint32_t i = 0; i < n->nargs; i++) all = join(all, invariant(d->expr[n->args[i]]));
    return all;
}

static int32_t constant(const tensor_node *n) {
    return tensor_type_is_float(n->type) && (n->imm.f == 0 || !isfinite(n->imm.f)) ? ANY : 0;
}

static int32_t maths(const degrees *d, const tensor_node *n) {
    if (n->op == TENSOR_POW_OP) return power(d, n);
    int32_t x = d->expr[n->args[0]];
    if (n->op != TENSOR_SQRT_OP) return invariant(x);
    return x == ANY || x == UNKNOWN ? x : x % 2 ? UNKNOWN : x / 2;
}

static int32_t converted(const tensor_node *n, int32_t x) {
    bool keeps = tensor_type_is_float(n->type);
    // is it 0?
    if (n->type.type == DT_BOOL && n->op == TENSOR_CVT_OP) return x == UNKNOWN ? UNKNOWN : 0;
    return keeps ? x : invariant(x);
}

static int32_t degree_of(const degrees *d, const tensor_node *n) {
    int32_t x = n->nargs ? d->expr[n->args[0]] : 0;
    if (tensor_op_table((tensor_opcode)n->op)->kind == TENSOR_MATHS) return maths(d, n);
    switch ((tensor_opcode)n->op) {
    case TENSOR_CONST_OP: return constant(n);
    case TENSOR_ARG_OP: return n->imm.i < d->nargs ? d->arg[n->imm.i] : UNKNOWN;
    case TENSOR_LEFT_OP:
    case TENSOR_RIGHT_OP: return n->imm.i < d->nleft ? d->left[n->imm.i] : UNKNOWN;
    case TENSOR_LOAD_OP: return all_invariant(d, n) == 0 ? d->val[n->imm.i] : UNKNOWN;
    case TENSOR_ADD_OP:
    case TENSOR_SUB_OP:
    case TENSOR_MIN_OP:
    case TENSOR_MAX_OP: return joined(d, n, 0);
    case TENSOR_MUL_OP: return product(x, d->expr[n->args[1]], 1);
    case TENSOR_DIV_OP: return product(x, d->expr[n->args[1]], -1);
    case TENSOR_NEG_OP:
    case TENSOR_STOP_OP: return x;
    case TENSOR_EQ_OP:
    case TENSOR_NE_OP:
    case TENSOR_LT_OP:
    case TENSOR_LE_OP:
    case TENSOR_GT_OP:
    case TENSOR_GE_OP:
        // scaled alike, two numbers keep their order
        return joined(d, n, 0) == UNKNOWN ? UNKNOWN : 0;
    case TENSOR_SELECT_OP: return invariant(x) == 0 ? joined(d, n, 1) : UNKNOWN;
    case TENSOR_CVT_OP:
    case TENSOR_ROUND_OP:
    case TENSOR_TF32_OP:
    case TENSOR_PARTS_OP: return converted(n, x);
    default: return all_invariant(d, n);
    }
}

static void sweep(degrees *d) {
    for (tensor_expr e = 1; e < d->op->exprs.len; e++)
        d->expr[e] = degree_of(d, tensor_node_at(d->op, e));
}

// ---- Stages -------------------------------------------------------------------------------------

static bool same_terms(const degrees *d, const tensor_stage *s) {
    bool same = true;
    for (uint32_t i = 0; i < s->nkeys; i++)
        same &= invariant(d->expr[s->keys[i].lhs]) == 0 && invariant(d->expr[s->keys[i].rhs]) == 0;
    for (uint32_t i = 0; i < s->nfilters; i++) same &= invariant(d->expr[s->filters[i]]) == 0;
    return same;
}

// The states' degrees rise until combining changes none: a lattice of three levels, so that rounds
// are few.
static void reduce_user(arena *a, const degrees *d, const tensor_reducer *r, const tensor_stage *s,
                        int32_t *out) {
    degrees in = *d;
    int32_t *arg = ARENA_ARRAY(a, int32_t, r->nargs + 1),
            *state = ARENA_ARRAY(a, int32_t, r->nstate + 1);
    in.expr = ARENA_ARRAY(a, int32_t, d->op->exprs.len);
    for (uint32_t i = 0; i < r->nargs; i++) arg[i] = d->expr[s->body[i]];
    for (uint32_t i = 0; i < r->nstate; i++) state[i] = ANY;
    in.arg = arg;
    in.nargs = r->nargs;
    in.left = state;
    in.nleft = r->nstate;
    for (bool moved = true; moved;) {
        moved = false;
        sweep(&in);
        for (uint32_t i = 0; i < r->nstate; i++) {
            int32_t next = join(join(in.expr[r->identity[i]], in.expr[r->lift[i]]),
                                join(state[i], in.expr[r->combine[i]]));
            moved |= next != state[i];
            state[i] = next;
        }
    }
    sweep(&in);
    for (uint32_t i = 0; i < r->nresults; i++) out[i] = in.expr[r->finish[i]];
}

static void reduce(arena *a, const degrees *d, const tensor_stage *s, int32_t *out) {
    const tensor_reducer *r = &d->op->reducers.data[s->reducer];
    int32_t x = d->expr[s->body[0]];
    switch (r->kind) {
    case REDUCE_SUM:
    case REDUCE_MAX:
    case REDUCE_MIN: out[0] = x; break;
    case REDUCE_PROD:
    case REDUCE_ANY:
    case REDUCE_ALL: out[0] = invariant(x); break;   // a row's product has its length's degree
    case REDUCE_USER: reduce_user(a, d, r, s, out); break;
    }
    for (uint32_t i = 0; i < s->nelse; i++) out[i] = join(out[i], d->expr[s->orelse[i]]);
}

static bool run_stage(arena *a, degrees *d, const tensor_stage *s) {
    int32_t *out = ARENA_ARRAY(a, int32_t, s->ntargets + 1);
    bool moved = false;
    if (s->reducer != TENSOR_NO_REDUCER) reduce(a, d, s, out);
    for (uint32_t i = 0; i < s->ntargets; i++) {
        int32_t *to = &d->val[s->targets[i].val],
                next = s->reducer == TENSOR_NO_REDUCER ? d->expr[s->body[i]] : out[i];
        next = same_terms(d, s) ? join(*to, next) : UNKNOWN;
        moved |= next != *to;
        *to = next;
    }
    return moved;
}

static void start(degrees *d, tensor_val input) {
    for (tensor_val v = 0; v < d->op->vals.len; v++) {
        tensor_role role = d->op->vals.data[v].role;
        d->val[v] = role == VAL_RESULT || role == VAL_STAGE ? ANY : v == input ? 2 : 0;
    }
}

// Classes of points by keys that scaling moves are others.
static bool classes_stay(const degrees *d) {
    for (tensor_val v = 0; v < d->op->vals.len; v++)
        for (uint32_t k = 0; k < d->op->vals.data[v].nkeys; k++)
            if (invariant(d->val[d->op->vals.data[v].keys[k]]) != 0) return false;
    return true;
}

void meta_scaled(arena *a, const tensor_op *op, meta_relation *r) {
    arena *scratch = arena_new();
    degrees d = {.op = op,
                 .val = ARENA_ARRAY(scratch, int32_t, op->vals.len + 1),
                 .expr = ARENA_ARRAY(scratch, int32_t, op->exprs.len)};
    start(&d, r->input);
    for (bool moved = true; moved;) {
        moved = false;
        sweep(&d);
        for (uint32_t i = 0; i < op->stages.len; i++)
            moved |= run_stage(scratch, &d, &op->stages.data[i]);
    }
    bool known = false, stay = classes_stay(&d);
    r->result = ARENA_ARRAY(a, int32_t, op->nparams + 1);
    for (tensor_val v = 0; v < op->nparams; v++) {
        if (op->vals.data[v].role != VAL_RESULT) continue;
        r->result[v] = d.val[v] == ANY ? 0 : stay ? d.val[v] : META_NOTHING;
        known |= r->result[v] != META_NOTHING;
    }
    if (!known) r->why_not = "no result is homogeneous in it";
    arena_free(scratch);
}

// ---- Values -------------------------------------------------------------------------------------

static void write_float(ir_dtype t, void *data, int64_t at, double x) {   // which the type holds
    float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (t == DT_F64) ((double *)data)[at] = x;
    else if (t == DT_F32) ((float *)data)[at] = f;
    else if (t == DT_F16) ((_Float16 *)data)[at] = (_Float16)x;
    else ((uint16_t *)data)[at] = (uint16_t)(bits >> 16);
}

static bool scales(const tensor_array *x, int exponent) {
    for (int64_t i = 0; i < meta_points(x); i++) {
        double old = eval_read_float(x->type, x->data, i), now = ldexp(old, exponent);
        if (isfinite(old) && ir_dtype_round(x->type, now) != now) return false;
        if (isfinite(old) && ldexp(now, -exponent) != old) return false;
    }
    return true;
}

bool meta_scale(arena *a, meta_change *c, uint64_t seed, const char **why) {
    static const int exponents[] = {2, -2, 4, -4};
    const tensor_array *x = &c->in.inputs[c->relation->input];
    uint32_t first = (uint32_t)(meta_random(seed, 0) % 4), tried = 0;
    while (tried < 4 && !scales(x, exponents[(first + tried) % 4])) tried++;
    *why = tried == 4        ? "no power of two keeps all its digits"
           : !meta_points(x) ? "it is empty"
                             : NULL;
    if (*why) return false;
    c->exponent = exponents[(first + tried) % 4];
    tensor_array *y = &c->inputs[c->relation->input];
    y->data = arena_alloc(a, (size_t)meta_points(x) * meta_bytes(x->type) + 8);
    for (int64_t i = 0; i < meta_points(x); i++)
        write_float(x->type, y->data, i, ldexp(eval_read_float(x->type, x->data, i), c->exponent));
    return true;
}
