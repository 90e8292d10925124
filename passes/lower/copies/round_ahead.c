// Loads that a round needs first are made in the round before: the indices of the rows that it
// begins to copy, and what all its positions share, such as masks of cells. A thread that loads
// them in the round itself waits for memory, and everything after that waits too.
//     for e.slot … fetch 3 x[columns[e.slot]] { if bit(masks[quot(e.slot, 16)], …) { … } }
//  →  m = masks[lo / 16], i = columns[lo + 32 + …]
//     for … carry m, i { next = masks[…], columns[…]  …  copy x[i]  yield next }

#include "lower/copies/copies.h"
#include <string.h>

struct read_ahead {
    const loop_node *node;
    VEC(tensor_expr) loads;
    axis_set *axes;        // the digits that each load depends on
    uint32_t n, indices;   // values; those at the end that are indices of rows
    simt_value *now, *next;
    simt_value *begin;   // indices of rows of the rounds that are copied before the first one
};

// ---- Which --------------------------------------------------------------------------------------
// Of the loop, the expression has quotients alone that a round shares.
static bool of_round(const kernel *k, const loop_node *n, tensor_expr e, bool *any) {
    const tensor_node *x = tensor_node_at(k->l->op, e);
    if (x->op == TENSOR_VAR_OP) return (tensor_var)x->imm.i != n->var;
    if (x->op == TENSOR_QUOT_OP && lw_divides_loop(k->l->op, x, n)) return *any = true;
    for (uint32_t i = 0; i < x->nargs; i++)
        if (!of_round(k, n, x->args[i], any)) return false;
    return true;
}

static void find_loads(const kernel *k, read_ahead *a, tensor_expr e) {
    const tensor_node *x = tensor_node_at(k->l->op, e);
    tensor_role role = x->op == TENSOR_LOAD_OP ? k->l->op->vals.data[x->imm.i].role : VAL_STAGE;
    bool any = false, map = role == VAL_MAP || role == VAL_PREPARED;
    for (uint32_t i = 0; i < a->loads.len; i++)
        if (a->loads.data[i] == e) return;
    if (map && of_round(k, a->node, e, &any) && any) VEC_PUSH(k->l->arena, &a->loads, e);
    for (uint32_t i = 0; i < x->nargs && !any; i++) find_loads(k, a, x->args[i]);
}

// ---- Values -------------------------------------------------------------------------------------
// The load behind a number, which may be widened or times a constant, stays where it was built.
// LLVM may not move it to its use.
void lw_pin(const kernel *k, simt_value x) {
    simt_instr_info *i = &k->f->instrs.data[k->f->values.data[x].def];
    while (i->op == SIMT_CVT || i->op == SIMT_MUL)
        i = &k->f->instrs.data[k->f->values.data[i->args[0]].def];
    if (i->op == SIMT_LD && simt_typeof(k->f, i->args[0]).element == SIMT_PTR_GLOBAL)
        i->mem.pinned = true;
}

static simt_value rounds_on(simt_builder *b, const read_ahead *a, simt_value base,
                            uint32_t rounds) {
    return simt_build_with(b, SIMT_ADD, base, (int64_t)rounds * loop_fetch_rows(a->node));
}

static void read(kernel *k, simt_builder *b, const read_ahead *a, simt_value base, simt_value hi,
                 simt_value *out) {
    simt_value last = simt_build_with(b, SIMT_SUB, hi, loop_fetch_rows(a->node));
    lw_rebinding from = lw_rebind(k, a->node->var, simt_build_binary(b, SIMT_MIN, base, last));
    uint32_t at = 0;
    for (uint32_t i = 0; i < a->loads.len; i++)
        for (instance_walk w = lw_walk_begin(&k->digits, a->axes[i]); lw_walk_next(&w);)
            out[at++] = simt_build_cvt(b, k->ix, lw_expr(k, b, a->loads.data[i]));
    lw_restore(k, &from);
    lw_fetch_indices(k, b, a->node, rounds_on(b, a, base, a->node->fetch.buffers - 1), hi,
                     &out[at]);
    for (uint32_t i = 0; i < a->n; i++) lw_pin(k, out[i]);
}

static void measure(kernel *k, read_ahead *a, simt_value base) {
    lw_rebinding from = lw_rebind(k, a->node->var, base);
    a->axes = ARENA_ARRAY(k->l->arena, axis_set, a->loads.len + 1);
    for (uint32_t i = 0; i < a->loads.len; i++) {
        a->axes[i] = lw_written_out(&k->digits, lw_depends(k, a->loads.data[i]));
        a->n += lw_instances(&k->digits, a->axes[i]);
    }
    lw_restore(k, &from);
    a->n += a->indices;
}

// ---- Rounds -------------------------------------------------------------------------------------
// If there is a first round, all of it is read at once. Otherwise the wait for one row index would
// delay the load of the next.
static void read_first(kernel *k, simt_builder *b, const read_ahead *a, simt_value lo,
                       simt_value hi) {
    simt_builder then, other;
    uint32_t rounds = a->node->fetch.buffers - 1, n = rounds * a->indices + a->n;
    simt_type *types = ARENA_ARRAY(k->l->arena, simt_type, n);
    simt_value *all = ARENA_ARRAY(k->l->arena, simt_value, n),
               *none = ARENA_ARRAY(k->l->arena, simt_value, n);
    for (uint32_t i = 0; i < n; i++) types[i] = k->ix;
    simt_instr branch = simt_build_if(b, simt_build_cmp(b, SIMT_LT, lo, hi), types, n, &then,
                                      &other);
    for (uint32_t i = 0; i < rounds; i++)
        lw_fetch_indices(k, &then, a->node, rounds_on(&then, a, lo, i), hi, &all[i * a->indices]);
    // LLVM would sink the load of an index to the branch of a round that may not run.
    for (uint32_t i = 0; i < rounds * a->indices; i++) lw_pin(k, all[i]);
    read(k, &then, a, lo, hi, &all[rounds * a->indices]);
    simt_build_yield(&then, all, n);
    // Nobody uses these values. If they were constants, LLVM would compute what follows in this
    // branch, and wait for it.
    for (uint32_t i = 0; i < n; i++) none[i] = lo;
    simt_build_yield(&other, none, n);
    for (uint32_t i = 0; i < n; i++) all[i] = simt_result(k->f, branch, i);
    memcpy(a->begin, all, rounds * a->indices * sizeof *all);
    memcpy(a->now, &all[rounds * a->indices], a->n * sizeof *all);
}

read_ahead *lw_read_ahead(kernel *k, simt_builder *b, const loop_node *n, simt_value lo,
                          simt_value hi, slot_list *carried) {
    uint32_t indices = n->fetch.n ? lw_fetch_index_count(k, n) : 0;
    if (!indices) return NULL;
    read_ahead *a = ARENA_NEW(k->l->arena, read_ahead);
    *a = (read_ahead){.node = n, .indices = indices};
    // then the last round is known
    bool whole = lw_multiple_of(k->l->op, n->hi, loop_fetch_rows(n));
    for (uint32_t i = 0; i < n->body.len && whole; i++)
        if (n->body.data[i]->kind == LOOP_IF) find_loads(k, a, n->body.data[i]->value);
    measure(k, a, lo);
    a->now = ARENA_ARRAY(k->l->arena, simt_value, a->n);
    a->next = ARENA_ARRAY(k->l->arena, simt_value, a->n);
    a->begin = ARENA_ARRAY(k->l->arena, simt_value, a->indices * n->fetch.buffers);
    read_first(k, b, a, lo, hi);
    for (uint32_t i = 0; i < a->n; i++) VEC_PUSH(k->l->arena, carried, &a->now[i]);
    return a;
}

const simt_value *lw_read_begin(const read_ahead *a) { return a->begin; }

const simt_value *lw_read_next(kernel *k, simt_builder *b, read_ahead *a, simt_value base,
                               simt_value hi) {
    uint32_t at = 0;
    read(k, b, a, rounds_on(b, a, base, 1), hi, a->next);
    for (uint32_t i = 0; i < a->loads.len; i++) {
        lw_know(k, a->loads.data[i], a->axes[i]);
        for (instance_walk w = lw_walk_begin(&k->digits, a->axes[i]); lw_walk_next(&w);)
            lw_remember(k, a->loads.data[i], a->now[at++]);
    }
    return &a->now[at];
}

// ---- Rounds without cells -----------------------------------------------------------------------
// The condition is a bit of the load.
static bool is_bit_of(const kernel *k, tensor_expr condition, tensor_expr load) {
    const tensor_node *bit = tensor_node_at(k->l->op, condition),
                      *mask = tensor_node_at(k->l->op, bit->args[0]);
    return bit->op == TENSOR_BIT_OP &&
           (mask->op == TENSOR_CVT_OP ? mask->args[0] : bit->args[0]) == load;
}

// Groups sum products together.
static bool joins_groups(const loop_body *body) {
    bool joins = false;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i],
                        *depth = n->kind == LOOP_REDUCE && n->reduce.matrix
                                     ? loop_over_var(&n->body, n->reduce.matrix->depth)
                                     : NULL;
        for (uint32_t d = 0; depth && d < depth->ndigits; d++)
            joins |= depth->digits[d].place == LOOP_GROUP_PLACE;
        joins |= joins_groups(&n->body);
    }
    return joins;
}

simt_value lw_round_has_cells(kernel *k, simt_builder *b, const loop_node *n) {
    const read_ahead *a = k->rounds.ahead;
    const loop_node *last = n->body.len ? n->body.data[n->body.len - 1] : NULL;
    simt_value some = 0;
    for (uint32_t i = 0; i < n->fetch.n; i++)
        if (n->fetch.rows[i].panels) return 0;   // four warps multiply together
    if (joins_groups(&n->body)) return 0;
    if (!a || a->node != n || a->loads.len != 1 || last->kind != LOOP_IF ||
        !is_bit_of(k, last->value, a->loads.data[0]))
        return 0;
    for (uint32_t i = 0; i < a->n - a->indices; i++)
        some = some ? simt_build_binary(b, SIMT_OR, some, a->now[i]) : a->now[i];
    simt_type t = SIMT_T(PRED);
    simt_value any = simt_build_cmp(b, SIMT_NE, some, lw_ix(k, b, 0));
    return simt_result(k->f, simt_build_op(b, SIMT_VOTE_ANY, &any, 1, &t, 1), 0);
}

// ---- The end of one -----------------------------------------------------------------------------
void lw_read_done(read_ahead *a) {
    for (uint32_t i = 0; i < a->n; i++) a->now[i] = a->next[i];
}
