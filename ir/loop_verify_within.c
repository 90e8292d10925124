// Rows that are specialized: the sizes of a WITHIN, and the loops in it whose range is its own.
#include "loop_verify.h"

enum { MOST_STEPS = 256 };   // of a loop that is written out

static bool same(const loop_verifier *v, tensor_expr a, tensor_expr b) {
    a = loop_behind_lets(v, a);
    b = loop_behind_lets(v, b);
    const tensor_node *x = tensor_node_at(v->op, a), *y = tensor_node_at(v->op, b);
    if (a == b) return true;
    if (x->op != y->op || x->nargs != y->nargs || !x->nargs || !tensor_type_equal(x->type, y->type))
        return false;
    if (x->op == TENSOR_LOAD_OP && x->imm.i != y->imm.i) return false;
    for (uint32_t i = 0; i < x->nargs; i++)
        if (!same(v, x->args[i], y->args[i])) return false;
    return true;
}

// Whether threads of a block have ranges of their own.
static bool apart(loop_verifier *v, const loop_node *n) {
    for (uint32_t k = 0; k < v->path.len; k++) {
        const loop_node *m = v->path.data[k];
        bool threads = false;
        for (uint32_t d = 0; m->kind == LOOP_FOR && d < m->ndigits; d++)
            threads |= m->digits[d].place == LOOP_LANE_PLACE ||
                       m->digits[d].place == LOOP_GROUP_PLACE;
        if (threads && (loop_depends(v, n->lo, m->var) || loop_depends(v, n->hi, m->var)))
            return true;
    }
    return false;
}

// Warps of ranges of their own decide by themselves, so none of them meets another inside.
static const char *check_inside(loop_verifier *v, const loop_body *body, bool alone, bool *some) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        for (uint32_t d = 0; alone && n->kind == LOOP_FOR && d < n->ndigits; d++)
            if (n->digits[d].place == LOOP_GROUP_PLACE)
                return WRONG(
                    v,
                    "'%s' is dealt out to groups in a 'within', of which warps take different ways",
                    v->op->vars.data[n->var].name);
        *some |= n->kind == LOOP_FOR && n->rounds.within;
        TRY(check_inside(v, &n->body, alone, some));
    }
    return NULL;
}

const char *loop_check_within(loop_verifier *v, const loop_node *n) {
    bool some = false;
    if (!n->ranges.n || n->ranges.n > LOOP_MAX_SIZES)
        return WRONG(v, "a 'within' has 1 to %d sizes, not %u", LOOP_MAX_SIZES,
                     (unsigned)n->ranges.n);
    for (uint32_t i = 0; i < n->ranges.n; i++)
        if (n->ranges.most[i] <= (i ? n->ranges.most[i - 1] : 0))
            return WRONG(v, "the sizes of a 'within' grow from 1 on");
    TRY(check_inside(v, &n->body, apart(v, n), &some));
    return some ? NULL : WRONG(v, "no loop of a 'within' has its range");
}

const char *loop_check_within_loop(loop_verifier *v, const loop_node *n) {
    const char *name = v->op->vars.data[n->var].name;
    const loop_node *around = NULL;
    bool serial = false;
    for (uint32_t k = 0; k < v->path.len; k++)
        if (v->path.data[k]->kind == LOOP_WITHIN) around = v->path.data[k];
    for (uint32_t d = 0; d < n->ndigits; d++) serial |= n->digits[d].place == LOOP_SERIAL_PLACE;
    if (!around) return WRONG(v, "'%s' is specialized within no sizes", name);
    if (n->rest != LOOP_SERIAL_PLACE || !n->rounds.masked || n->holding.n || n->fetch.n ||
        n->distributed.steps || serial)
        return WRONG(
            v,
            "'%s' is specialized, so its rounds are serial, unrolled and masked, and it has no others",
            name);
    if (!same(v, n->lo, around->lo) || !same(v, n->hi, around->hi))
        return WRONG(v, "'%s' is specialized, and has another range than the 'within' around",
                     name);
    if (around->ranges.most[around->ranges.n - 1] > MOST_STEPS * loop_digits_product(n))
        return WRONG(v, "'%s' is specialized in more than %d steps", name, MOST_STEPS);
    return NULL;
}
