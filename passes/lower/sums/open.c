// Reductions are opened: the states that a reduction has in registers, and what they begin with.
// There is a state for each instance of the digits of the left variables and of the loops inside.

#include "lower/sums/sums.h"

// ---- What is inside -----------------------------------------------------------------------------
// The expression is of loops inside, whose variables are not bound yet. Does it differ between
// lanes of the vector?
static bool varies(kernel *k, tensor_expr e) {
    for (tensor_var v = 0; v < k->l->op->vars.len; v++)
        if (k->scope.var[v].kind != BOUND_NOT && lw_vector_free(&k->digits, lw_var_depends(k, v)) &&
            tensor_mentions(k->l->op, e, v))
            return true;
    return false;
}

// Some lanes contribute where others do not: there is a condition, or rows differ in length.
static bool tests_inside(kernel *k, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if (n->kind == LOOP_IF || tests_inside(k, &n->body)) return true;
        if (n->kind == LOOP_FOR && n->rounds.pad && n->ndigits &&
            n->digits[0].place == LOOP_VECTOR_PLACE)
            return true;
        if (n->kind == LOOP_FOR && (varies(k, n->lo) || varies(k, n->hi))) return true;
        if (n->kind == LOOP_LET && varies(k, n->value)) return true;
    }
    return false;
}

// Parts may be of nothing for some lanes alone: what chooses the terms differs between them.
static bool parts_differ(kernel *k, const tensor_stage *st, const loop_body *body) {
    bool differ = false;
    for (uint32_t i = 0; i < st->nfilters; i++) differ |= varies(k, st->filters[i]);
    for (uint32_t i = 0; i < st->nkeys; i++)
        differ |= varies(k, st->keys[i].lhs) || varies(k, st->keys[i].rhs);
    if (!differ) return false;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if (parts_differ(k, st, &n->body) ||
            (n->kind == LOOP_CONTRIBUTE && n->state.valid && varies(k, n->state.valid)))
            return true;
    }
    return false;
}

// Digits of the loops around a contribution to the stage.
static bool bound_digits(kernel *k, const loop_body *body, uint32_t stage, axis_set *out) {
    bool any = false;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if (n->kind == LOOP_CONTRIBUTE && n->stages[0] == stage) any = true;
        if (!bound_digits(k, &n->body, stage, out)) continue;
        if (n->kind == LOOP_FOR) *out |= lw_axes_enter(k, n);
        any = true;
    }
    return any;
}

static bool rounds_inside(const kernel *k, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        bool rounds = n->kind == LOOP_FOR && !lw_has_one_round(k->l->op, n);
        for (uint32_t d = 0; n->kind == LOOP_FOR && d < n->ndigits; d++)
            rounds |= n->digits[d].place == LOOP_SERIAL_PLACE && n->digits[d].extent > 1;
        if (rounds || rounds_inside(k, &n->body)) return true;
    }
    return false;
}

// A loop that goes round has a state for each lane of the vector, so that no contribution waits for
// the one before. A loop that does not would need as many operations to combine these states as it
// has contributions. There, lanes contribute one after the other.
//     s8 = fma(x8, y8, 0), s = s8[0] + … + s8[7]  →  s = fma(x8[7], y8[7], … fma(x8[0], y8[0], 0))
// Of numbers of 16 bits an operation takes two, where their order does not matter:
//     s2 = fma(x8[6..7], y8[6..7], … fma(x8[0..1], y8[0..1], 0)), s = s2[0] + s2[1]
static uint8_t chained(const kernel *k, const loop_node *n, const reduction *r) {
    bool pairs = r->r->commutative && !r->some;
    if (!lw_vector_of(&k->digits, r->bound) || n->reduce.matrix || rounds_inside(k, &n->body))
        return 0;
    for (uint32_t i = 0; i < r->r->nstate; i++) {
        simt_element e = lw_value_element(k, r->r->state_types[i].type);
        pairs &= e == SIMT_F16 || e == SIMT_BF16;
    }
    return pairs && k->l->o->machine->gpu ? 2 : 1;
}

// ---- Opening ------------------------------------------------------------------------------------
static reduction *reduction_new(kernel *k, const loop_node *n, uint32_t stage) {
    arena *a = k->l->arena;
    const tensor_stage *st = &k->l->op->stages.data[stage];
    reduction *r = ARENA_NEW(a, reduction);
    *r = (reduction){.node = n, .stage = stage, .open = true, .masks = k->scope.masks.len};
    r->r = &k->l->op->reducers.data[st->reducer];
    for (uint32_t i = 0; i < st->nleft; i++) r->left |= lw_var_depends(k, st->left[i]);
    bound_digits(k, &n->body, stage, &r->bound);
    r->copies = lw_written_out(&k->digits, r->left);
    r->product = loop_multiplies(k->l->op, n, stage);
    if (r->product)
        // the operation adds those up, and pieces follow one another
        r->bound &= ~lw_depth_axes(k, n);
    else if (!n->reduce.matrix && n->kind != LOOP_CARRY)   // whose positions follow one another
        r->copies |= lw_placed(&k->digits, r->bound, LOOP_REGISTER_PLACE);
    else if (n->reduce.matrix && lw_is_online(n, stage)) r->round = r->bound, r->bound = 0;
    // A sum that is computed again has the components of the first one.
    r->some = st->nelse || lw_may_be_empty(k, r) ||
              (n->kind == LOOP_AGAIN && lw_reduction(k, stage)->some);
    r->n = r->r->nstate + r->some;
    r->chained = chained(k, n, r);
    axis_set vector = lw_vector_of(&k->digits, r->chained ? r->left : r->left | r->bound);
    uint8_t lanes = vector && k->digits.at[k->digits.vector] < 0 ? (uint8_t)lw_lanes(&k->digits)
                                                                 : 1;
    if (lanes == 1 && r->chained) lanes = r->chained;
    r->types = ARENA_ARRAY(a, simt_type, r->n);
    for (uint32_t i = 0; i < r->r->nstate; i++)
        r->types[i] = (simt_type){lw_value_element(k, r->r->state_types[i].type), lanes};
    if (r->some)
        r->types[r->r->nstate] = (simt_type){
            SIMT_PRED, tests_inside(k, &n->body) || parts_differ(k, st, &n->body) ? lanes : 1};
    return r;
}

void lw_start_states(kernel *k, simt_builder *b, reduction *r) {
    uint32_t count = lw_instances(&k->digits, r->copies);
    simt_value *first = ARENA_ARRAY(k->l->arena, simt_value, r->n);
    lw_reducer(k, b, r->r->identity, r->r->nstate, NULL, NULL, NULL, first);
    if (r->some) first[r->r->nstate] = simt_build_pred(b, false);
    r->slot = ARENA_ARRAY(k->l->arena, simt_value, count * r->n);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t c = 0; c < r->n; c++)
            r->slot[i * r->n + c] = simt_widen(b, first[c], r->types[c].lanes);
}

reduction *lw_open(kernel *k, simt_builder *b, const loop_node *n, uint32_t stage) {
    reduction *r = reduction_new(k, n, stage);
    lw_start_states(k, b, r);
    lw_follow(k, b, r);
    VEC_PUSH(k->l->arena, &k->sums.all, r);
    return r;
}
