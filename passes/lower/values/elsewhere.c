// What masked steps take for values past the end. Indices are read at the last position. Any other
// value is loaded where there is one alone; elsewhere it is a number. If there is a number whose
// contribution leaves the state as it is, that one is taken, and no contribution needs a choice.
//     max(m, s[min(p, last)]) if p < hi  →  m = max(m, p < hi ? s[p] : -inf)

#include "lower/values/values.h"
#include <math.h>
#include <string.h>

static double *elsewhere(kernel *k, tensor_val v) {
    if (!k->access.elsewhere)
        k->access.elsewhere = ARENA_ARRAY(k->l->arena, double *, k->l->op->vals.len + 1);
    return k->access.elsewhere[v];
}

static void take(kernel *k, tensor_val v, double x) {
    if (elsewhere(k, v)) return;
    k->access.elsewhere[v] = ARENA_NEW(k->l->arena, double);
    *k->access.elsewhere[v] = x;
}

// ---- Which number -------------------------------------------------------------------------------
static const tensor_node *widened(const kernel *k, tensor_expr e) {
    const tensor_node *x = tensor_node_at(k->l->op, e);
    while (x->op == TENSOR_CVT_OP && tensor_type_is_float(x->type))
        x = tensor_node_at(k->l->op, x->args[0]);
    return x;
}

// The number that a reducer begins with, if combining with it changes nothing; false: there is
// none.
static bool identity(const kernel *k, const tensor_reducer *r, double *out) {
    if (r->nstate != 1 || r->nargs != 1 || !tensor_reducer_neutral(k->l->op, r)) return false;
    const tensor_node *x = tensor_node_at(k->l->op, r->identity[0]);
    *out = x->imm.f;
    return x->op == TENSOR_CONST_OP && tensor_type_is_float(x->type) &&
           widened(k, r->lift[0])->op == TENSOR_ARG_OP;
}

void lw_take_elsewhere(kernel *k, const reduction *r) {
    double none;
    if (r->level || !identity(k, r->r, &none)) return;
    const tensor_node *x = widened(k, lw_lifted(k->l->op, r, 0));
    if (x->op == TENSOR_LOAD_OP) take(k, (tensor_val)x->imm.i, none);
    const tensor_node *below = lw_below(k->l, x);
    if (below && none == 0 && widened(k, below->args[0])->op == TENSOR_LOAD_OP)
        take(k, (tensor_val)widened(k, below->args[0])->imm.i, (double)-INFINITY);
}

double lw_taken_elsewhere(kernel *k, tensor_val v) {
    take(k, v, 0);
    return *elsewhere(k, v);
}

// ---- What becomes of it -------------------------------------------------------------------------
typedef struct {
    const simt_func *f;
    simt_value inside;   // the mask, which does not hold
    bool lenient;        // 0 times what may be infinite or NaN is 0
} past;

static const simt_instr_info *made(const past *p, simt_value v) {
    return &p->f->instrs.data[p->f->values.data[v].def];
}

static bool is_past(const past *p, simt_value v, double *x);

static bool is_past_at(const past *p, simt_value v, double x) {
    double of;
    return is_past(p, v, &of) && of == x;
}

// The maximum is m == -inf ? 0 : m, or the result is computed again where it is not finite.
static bool is_above(const past *p, simt_value m) {
    const simt_instr_info *most = made(p, m);
    return p->lenient || (most->op == SIMT_SELECT && is_past_at(p, most->args[1], 0));
}

// exp(x - m), where m is not -inf, or exp(x), and x is -inf (lower/values/exponential.c).
static bool exponential_past(const past *p, const simt_instr_info *i, double *x) {
    const char *name = i->op == SIMT_CALL ? p->f->module->funcs.data[i->imm.i]->name : "exp_f32";
    if (strcmp(name, "exp_nonpositive_f32") && strcmp(name, "exp_f32")) return false;
    const simt_instr_info *of = made(p, i->args[0]);
    bool below = false;
    *x = 0;
    if (i->op == SIMT_EXP2A && of->op == SIMT_FMA)
        below = is_above(p, made(p, of->args[2])->args[0]) &&
                is_past_at(p, of->args[0], (double)-INFINITY);
    if (i->op == SIMT_EXP2A && of->op == SIMT_MUL) i = of, of = made(p, of->args[0]);
    if (of->op == SIMT_SUB)
        below = is_above(p, of->args[1]) && is_past_at(p, of->args[0], (double)-INFINITY);
    return below || is_past_at(p, i->args[0], (double)-INFINITY);
}

static bool is_zero_product(const past *p, simt_value x, simt_value y) {
    return p->lenient && (is_past_at(p, x, 0) || is_past_at(p, y, 0));
}

static bool arithmetic_past(const past *p, const simt_instr_info *i, double *x) {
    double other;
    *x = 0;
    switch ((int)i->op) {
    case SIMT_MUL: return is_zero_product(p, i->args[0], i->args[1]);
    case SIMT_FMA:
        return is_zero_product(p, i->args[0], i->args[1]) && is_past_at(p, i->args[2], 0);
    case SIMT_ADD: return is_past_at(p, i->args[0], 0) && is_past_at(p, i->args[1], 0);
    case SIMT_SELECT:
        if (i->args[0] == p->inside) return is_past(p, i->args[2], x);
        return is_past(p, i->args[1], x) && is_past(p, i->args[2], &other) && other == *x;
    }
    return false;
}

// The number that the value is past the end; false: that is not known.
static bool is_past(const past *p, simt_value v, double *x) {
    const simt_instr_info *i = made(p, v);
    double other;
    if (!p->f->values.data[v].def) return false;
    switch ((int)i->op) {
    case SIMT_CONST:
        *x = i->imm.f;
        return simt_typeof(p->f, v).element >= SIMT_F16 && simt_typeof(p->f, v).element <= SIMT_F64;
    case SIMT_IF: {
        if (i->args[0] != p->inside || i->nregions < 2) return false;
        const simt_region_info *r = &p->f->regions.data[i->regions[1]];
        return is_past(
            p,
            p->f->instrs.data[r->instrs.data[r->instrs.len - 1]].args[p->f->values.data[v].index],
            x);
    }
    case SIMT_CVT_TF32:
    // the same in any type
    case SIMT_CVT: return is_past(p, i->args[0], x) && (*x == 0 || isinf(*x));
    case SIMT_SPLAT:
    case SIMT_EXTRACT: return is_past(p, i->args[0], x);
    case SIMT_INSERT:
        return is_past(p, i->args[0], x) && is_past(p, i->args[1], &other) && other == *x;
    case SIMT_EXP2A:
    case SIMT_CALL: return exponential_past(p, i, x);
    }
    return arithmetic_past(p, i, x);
}

bool lw_adds_nothing(const kernel *k, const reduction *r, simt_value lifted, simt_value inside) {
    const past p = {k->f, inside, false};
    double none;
    return !r->level && identity(k, r->r, &none) && is_past_at(&p, lifted, none);
}

bool lw_is_zero_elsewhere(const kernel *k, simt_value x, simt_value inside, bool lenient) {
    const past p = {k->f, inside, lenient};
    return is_past_at(&p, x, 0);
}
