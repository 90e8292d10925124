// Maxima that are found on the run, as in the softmax of one walk (Milakov and Gimelshein 2018): a
// sum of exponentials of differences from the largest one so far is a sum of those from a larger
// one once it is taken times exp(m - m'). That goes for terms that are such an exponential times
// what does not depend on it.
#include "loop.h"

#include <math.h>

bool loop_is_maximum(const tensor_op *op, const tensor_stage *st) {
    if (st->reducer == TENSOR_NO_REDUCER || st->ntargets != 1 || st->nelse) return false;
    const tensor_reducer *r = &op->reducers.data[st->reducer];
    tensor_type held = r->state_types[0];
    bool wide = held.type == DT_F32 || held.type == DT_F64;
    return r->kind == REDUCE_MAX && wide && op->vals.data[st->targets[0].val].type == held.type;
}

const loop_maximum *loop_running(const loop_node *reduce, const tensor_op *op, tensor_val val) {
    for (uint32_t i = 0; i < reduce->reduce.nmaxima; i++)
        if (op->stages.data[reduce->reduce.maxima[i].stage].targets[0].val == val)
            return &reduce->reduce.maxima[i];
    return NULL;
}

// ---- Terms --------------------------------------------------------------------------------------
// How often the exponential is a factor of an expression: not at all, once, of 0 as often as is
// asked.
typedef enum { NOT_MET, NEVER, ONCE, EVERY, OTHERWISE } degree;

typedef struct {
    const tensor_op *op;
    tensor_val val;
    uint8_t *met;   // per expression: a degree
} terms;

static const tensor_node *at(const terms *t, tensor_expr e) { return tensor_node_at(t->op, e); }

static bool reads(const terms *t, tensor_expr e) { return tensor_loads(t->op, e, t->val); }

// Whether all that the maximum is found of is of the type, so that it is no other number as one.
static bool is_of(const terms *t, ir_dtype type) {
    for (uint32_t i = 0; i < t->op->stages.len; i++) {
        const tensor_stage *s = &t->op->stages.data[i];
        if (!s->ntargets || s->targets[0].val != t->val) continue;
        const tensor_node *n = at(t, s->body[0]);
        const bool load = n->op == TENSOR_LOAD_OP;
        if (n->op == TENSOR_CVT_OP) return ir_dtype_holds(type, at(t, n->args[0])->type.type);
        return ir_dtype_holds(type, load ? t->op->vals.data[n->imm.i].type : n->type.type);
    }
    return false;
}

static bool is_maximum(const terms *t, tensor_expr e) {
    const tensor_node *n = at(t, e);
    if (n->op == TENSOR_STOP_OP) n = at(t, n->args[0]);
    if (n->op == TENSOR_CVT_OP && ir_dtype_is_float(n->type.type) && is_of(t, n->type.type))
        n = at(t, n->args[0]);
    if (n->op == TENSOR_STOP_OP) n = at(t, n->args[0]);
    return n->op == TENSOR_LOAD_OP && (tensor_val)n->imm.i == t->val;
}

static bool is_constant(const terms *t, tensor_expr e, double x) {
    const tensor_node *n = at(t, e);
    return n->op == TENSOR_CONST_OP && ir_dtype_is_float(n->type.type) && n->imm.f == x;
}

// Behind conversions between floats: what is exponential stays one, rounded.
static const tensor_node *unconverted(const terms *t, tensor_expr e) {
    const tensor_node *n = at(t, e);
    while (n->op == TENSOR_CVT_OP && ir_dtype_is_float(n->type.type) &&
           ir_dtype_is_float(tensor_typeof(t->op, n->args[0]).type))
        n = at(t, n->args[0]);
    return n;
}

// m == -inf ? 0 : exp(s - m): where nothing but -inf has come so far nothing has been added,
// whatever comes.
static bool is_weight(terms *t, tensor_expr e) {
    const tensor_node *n = at(t, e);
    if (n->op != TENSOR_SELECT_OP || !is_constant(t, n->args[1], 0)) return false;
    const tensor_node *none = at(t, n->args[0]), *x = unconverted(t, n->args[2]);
    if (none->op != TENSOR_EQ_OP || x->op != TENSOR_EXP_OP) return false;
    const tensor_node *below = unconverted(t, x->args[0]);
    return is_maximum(t, none->args[0]) && is_constant(t, none->args[1], (double)-INFINITY) &&
           below->op == TENSOR_SUB_OP && is_maximum(t, below->args[1]) && !reads(t, below->args[0]);
}

static degree degree_of(terms *t, tensor_expr e);

static degree either(degree x, degree y) {
    if (x == EVERY || y == EVERY) return x == EVERY ? y : x;
    return x == y ? x : OTHERWISE;
}

static degree both(degree x, degree y) {
    if (x == OTHERWISE || y == OTHERWISE) return OTHERWISE;
    if (x == EVERY || y == EVERY) return EVERY;
    return x == ONCE && y == ONCE ? OTHERWISE : x == ONCE || y == ONCE ? ONCE : NEVER;
}

static degree find(terms *t, tensor_expr e) {
    const tensor_node *n = at(t, e);
    if (is_constant(t, e, 0)) return EVERY;
    if (!reads(t, e)) return NEVER;
    if (is_weight(t, e)) return ONCE;
    switch (n->op) {
    case TENSOR_MUL_OP: return both(degree_of(t, n->args[0]), degree_of(t, n->args[1]));
    case TENSOR_DIV_OP: return reads(t, n->args[1]) ? OTHERWISE : degree_of(t, n->args[0]);
    case TENSOR_ADD_OP:
    case TENSOR_SUB_OP: return either(degree_of(t, n->args[0]), degree_of(t, n->args[1]));
    case TENSOR_NEG_OP: return degree_of(t, n->args[0]);
    case TENSOR_CVT_OP:
        return ir_dtype_is_float(n->type.type) ? degree_of(t, n->args[0]) : OTHERWISE;
    case TENSOR_ROUND_OP:
    case TENSOR_TF32_OP:
    case TENSOR_PARTS_OP: return degree_of(t, n->args[0]);
    case TENSOR_SELECT_OP:
        return reads(t, n->args[0]) ? OTHERWISE
                                    : either(degree_of(t, n->args[1]), degree_of(t, n->args[2]));
    default: return OTHERWISE;
    }
}

static degree degree_of(terms *t, tensor_expr e) {
    if (t->met[e] == NOT_MET) t->met[e] = (uint8_t)find(t, e);
    return (degree)t->met[e];
}

static terms terms_of(arena *a, const tensor_op *op, tensor_val val) {
    terms t = {.op = op, .val = val};
    t.met = ARENA_ARRAY(a, uint8_t, op->exprs.len + 1);
    return t;
}

bool loop_rescales(arena *a, const tensor_op *op, tensor_expr term, tensor_val val) {
    terms t = terms_of(a, op, val);
    degree d = degree_of(&t, term);
    return d == ONCE || d == EVERY;
}

static bool always(terms *t, tensor_expr e) {
    const tensor_node *n = at(t, e);
    if (!reads(t, e)) return false;
    if (is_weight(t, e)) return true;
    switch (n->op) {
    case TENSOR_MUL_OP:
    case TENSOR_ADD_OP:
    case TENSOR_SUB_OP: return always(t, n->args[0]) || always(t, n->args[1]);
    case TENSOR_DIV_OP:
    case TENSOR_NEG_OP:
    case TENSOR_ROUND_OP:
    case TENSOR_TF32_OP:
    case TENSOR_PARTS_OP:
    case TENSOR_CVT_OP: return always(t, n->args[0]);
    case TENSOR_SELECT_OP: return always(t, n->args[1]) && always(t, n->args[2]);
    default: return false;
    }
}

bool loop_always_rescales(arena *a, const tensor_op *op, tensor_expr term, tensor_val val) {
    terms t = terms_of(a, op, val);
    return always(&t, term);
}

tensor_expr loop_load_of(const tensor_op *op, tensor_expr e, tensor_val val) {
    if (!tensor_loads(op, e, val)) return 0;
    const tensor_node *n = tensor_node_at(op, e);
    while (n->op != TENSOR_LOAD_OP || (tensor_val)n->imm.i != val) {
        uint32_t i = 0;
        while (!tensor_loads(op, n->args[i], val)) i++;
        n = tensor_node_at(op, e = n->args[i]);
    }
    return e;
}
