// What masked steps take for values past the end. A value that is not an index is loaded where there is one
// alone; for others stands a number, of which a contribution is made that leaves the state as it is, if there
// is such a number: then nothing has to be chosen.
//     max(m, s[min(p, last)]) if p < hi  →  m = max(m, p < hi ? s[p] : -inf)
#include "lower.h"

#include <math.h>
#include <string.h>

static double *elsewhere(kernel *k, tensor_val v) {
    if (!k->elsewhere) k->elsewhere = ARENA_ARRAY(k->l->arena, double *, k->l->op->vals.len + 1);
    return k->elsewhere[v];
}

static void take(kernel *k, tensor_val v, double x) {
    if (elsewhere(k, v)) return;
    k->elsewhere[v] = ARENA_NEW(k->l->arena, double);
    *k->elsewhere[v] = x;
}

// ---- Which number ----------------------------------------------------------------------------------------
static const tensor_node *widened(const kernel *k, tensor_expr e) {
    const tensor_node *x = tensor_node_at(k->l->op, e);
    while (x->op == TENSOR_CVT_OP && tensor_type_is_float(x->type)) x = tensor_node_at(k->l->op, x->args[0]);
    return x;
}

// What a reducer begins with and leaves another as it is; false: there is none.
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
    const tensor_node *x = widened(k, lw_lifted(k, r, 0));
    if (x->op == TENSOR_LOAD_OP) take(k, (tensor_val)x->imm.i, none);
    const tensor_node *below = lw_below(k->l, x);
    if (below && none == 0 && widened(k, below->args[0])->op == TENSOR_LOAD_OP)
        take(k, (tensor_val)widened(k, below->args[0])->imm.i, (double)-INFINITY);
}

double lw_taken_elsewhere(kernel *k, tensor_val v) {
    take(k, v, 0);
    return *elsewhere(k, v);
}

// ---- What becomes of it ----------------------------------------------------------------------------------
typedef struct {
    const simt_func *f;
    simt_value inside;   // does not hold
} past;

static const simt_instr_info *made(const past *p, simt_value v) {
    return &p->f->instrs.data[p->f->values.data[v].def];
}

static bool is_past(const past *p, simt_value v, double *x);

// exp(x - m), where m is not -inf: see lower_maximum.c.
static bool exponential_past(const past *p, const simt_instr_info *i, double *x) {
    const simt_instr_info *difference = made(p, i->args[0]);
    if (i->op == SIMT_CALL && strcmp(p->f->module->funcs.data[i->imm.i]->name, "exp_nonpositive_f32")) return false;
    if (i->op == SIMT_EXP2A && difference->op == SIMT_MUL) difference = made(p, difference->args[0]);
    if (difference->op != SIMT_SUB) return false;
    const simt_instr_info *most = made(p, difference->args[1]);
    double zero, of;
    bool finite = most->op == SIMT_SELECT && is_past(p, most->args[1], &zero) && zero == 0;
    if (!finite || !is_past(p, difference->args[0], &of) || of != (double)-INFINITY) return false;
    *x = 0;
    return true;
}

// The number that it is, past the end.
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
            p, p->f->instrs.data[r->instrs.data[r->instrs.len - 1]].args[p->f->values.data[v].index], x);
    }
    case SIMT_CVT: return is_past(p, i->args[0], x) && (*x == 0 || isinf(*x));   // in any type
    case SIMT_SPLAT:
    case SIMT_EXTRACT: return is_past(p, i->args[0], x);
    case SIMT_INSERT: return is_past(p, i->args[0], x) && is_past(p, i->args[1], &other) && other == *x;
    case SIMT_EXP2A:
    case SIMT_CALL: return exponential_past(p, i, x);
    }
    return false;
}

bool lw_adds_nothing(const kernel *k, const reduction *r, simt_value lifted, simt_value inside) {
    const past p = {k->f, inside};
    double none, x;
    return !r->level && identity(k, r->r, &none) && is_past(&p, lifted, &x) && x == none;
}
