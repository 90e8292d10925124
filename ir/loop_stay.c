// Pieces that matrix operations multiply by on the right, which stay where they are while a loop
// goes round, in registers, or of operations of four warps in shared memory: each of them is the
// same in all rounds, and all of them are there at once.
//     for e.tile … [serial] stay w { for e … { given type[e] = e.type  for q … { reduce y by … {
//       for k … { contribute y } } … w[type[e], k, q]
#include "loop_internal.h"

// ---- What a thread has at once ------------------------------------------------------------------
static bool constant(const tensor_op *op, tensor_expr e, int64_t *out) {
    const tensor_node *n = tensor_node_at(op, e);
    const tensor_space_info *s = n->op == TENSOR_SIZE_OP ? &op->spaces.data[n->imm.i] : NULL;
    *out = s ? s->size : n->imm.i;
    return s ? s->kind == SPACE_CONST : n->op == TENSOR_CONST_OP && n->type.type == DT_I64;
}

bool loop_held_at_once(const tensor_op *op, const loop_node *n) {
    int64_t lo, hi, points = 1;
    if (n->kind != LOOP_FOR || n->rounds.unroll > 1 || !constant(op, n->lo, &lo) ||
        !constant(op, n->hi, &hi) || (n->rest != LOOP_SERIAL_PLACE && n->rest != LOOP_WHOLE_PLACE))
        return false;
    for (uint32_t i = 0; i < n->ndigits; i++) {
        if (n->digits[i].place == LOOP_SERIAL_PLACE || n->digits[i].place == LOOP_UNROLL_PLACE)
            return false;
        points *= n->digits[i].extent;
    }
    return hi - lo <= points;
}

tensor_val loop_matrix_right(const tensor_op *op, const loop_node *reduce) {
    const loop_matrix *m = reduce->kind == LOOP_REDUCE ? reduce->reduce.matrix : NULL;
    if (!m || reduce->nstages != 1 || loop_again(reduce) || reduce->stages[0] >= op->stages.len ||
        !op->stages.data[reduce->stages[0]].nbody)
        return TENSOR_NO_VAL;
    const tensor_node *product = tensor_node_at(op, op->stages.data[reduce->stages[0]].body[0]);
    if (product->op != TENSOR_MUL_OP) return TENSOR_NO_VAL;
    const tensor_node *right = loop_matrix_factor(op, product->args[1]);
    return right->op == TENSOR_LOAD_OP ? (tensor_val)right->imm.i : TENSOR_NO_VAL;
}

bool loop_stays(const loop_node *n, tensor_val v) {
    bool any = false;
    for (uint32_t i = 0; i < n->fetch.nstay; i++) any |= n->fetch.stay[i] == v;
    return any;
}

// ---- What is the same in all rounds -------------------------------------------------------------
typedef struct {
    arena *a;
    const tensor_op *op;
    tensor_val val;
    VEC(const loop_node *) inside;   // loops, lets and what is given, from the loop on
    bool found;
} stay_search;

// What is given in place of the expression; itself: nothing is.
static tensor_expr given(const stay_search *s, tensor_expr e) {
    for (uint32_t i = 0; i < s->inside.len; i++)
        if (s->inside.data[i]->kind == LOOP_GIVEN && s->inside.data[i]->key == e)
            return s->inside.data[i]->value;
    return e;
}

static const char *fault_of(const stay_search *s, tensor_expr e) {
    const tensor_node *n = tensor_node_at(s->op, given(s, e));
    for (uint32_t i = 0; n->op == TENSOR_VAR_OP && i < s->inside.len; i++) {
        const loop_node *of = s->inside.data[i];
        if (of->kind == LOOP_GIVEN || (int64_t)of->var != n->imm.i) continue;
        if (of->kind == LOOP_LET) return fault_of(s, of->value);
        if (loop_held_at_once(s->op, of)) continue;
        return arena_printf(s->a, "is another one in each round of '%s'",
                            s->op->vars.data[of->var].name);
    }
    const char *words = NULL;
    for (uint32_t i = 0; i < n->nargs && !words; i++) words = fault_of(s, n->args[i]);
    return words;
}

static const char *search(stay_search *s, const loop_body *body) {
    const char *words = NULL;
    const uint32_t outer = s->inside.len;
    for (uint32_t i = 0; i < body->len && !words; i++) {
        const loop_node *n = body->data[i];
        const uint32_t before = s->inside.len;
        if (n->kind == LOOP_FOR || n->kind == LOOP_LET || n->kind == LOOP_GIVEN)
            VEC_PUSH(s->a, &s->inside, n);
        if (n->kind == LOOP_FOR) {
            words = search(s, &n->body);
            s->inside.len = before;
        }
        if (loop_matrix_right(s->op, n) != s->val) continue;
        const loop_node *depth = loop_over_var(&n->body, n->reduce.matrix->depth);
        if (depth) VEC_PUSH(s->a, &s->inside, depth);
        words = fault_of(s,
                         tensor_node_at(s->op, s->op->stages.data[n->stages[0]].body[0])->args[1]);
        s->found = true;
        s->inside.len = before;
    }
    s->inside.len = outer;
    return words;
}

const char *loop_stay_fault(arena *a, const loop_plan *p, const loop_node *n, tensor_val v) {
    stay_search s = {.a = a, .op = p->op, .val = v};
    if (p->op->vals.data[v].role != VAL_TENSOR) return "is no input";
    if (n->rest != LOOP_SERIAL_PLACE || n->ndigits) return "stays in a loop that has other places";
    VEC_PUSH(a, &s.inside, n);
    const char *words = search(&s, &n->body);
    if (words || s.found) return words;
    return "is no factor that matrix operations multiply by on the right";
}
