// Stores: the value of a stage goes where the plan says it lives. One of the threads that know the
// value writes it, if its position is not past an end.

#include "lower/loops/loops.h"

// ---- Values of a stage --------------------------------------------------------------------------
static void stage_values(kernel *k, simt_builder *b, uint32_t stage, simt_value *x) {
    const tensor_stage *st = &k->l->op->stages.data[stage];
    if (st->reducer != TENSOR_NO_REDUCER) lw_finish(k, b, lw_reduction(k, stage), x);
    else
        for (uint32_t t = 0; t < st->ntargets; t++) x[t] = lw_expr(k, b, st->body[t]);
}

static loop_home home_of(const kernel *k, tensor_val v) { return k->l->plan->values.data[v].home; }

static void target_index(kernel *k, simt_builder *b, const tensor_target *t, position *index) {
    for (uint32_t i = 0; i < t->rank; i++) index[i] = lw_position(k, b, t->index[i]);
}

// What a load would give: the value is rounded to the type it is stored as.
static simt_value as_loaded(kernel *k, simt_builder *b, tensor_val v, simt_value x) {
    if (home_of(k, v) == LOOP_REGISTERS) return x;
    ir_dtype t = k->l->op->vals.data[v].type;
    simt_type value = simt_typeof(k->f, x), stored = {lw_memory_element(k, t), value.lanes};
    return simt_build_cvt(b, value, simt_build_cvt(b, stored, x));
}

// A step past the end repeats the last place, and may have read something else: the first value
// counts.
static void keep(kernel *k, simt_builder *b, const tensor_target *t, simt_value x, uint32_t from) {
    register_value r = {.val = t->val, .value = as_loaded(k, b, t->val, x)};
    target_index(k, b, t, r.index);
    if (!lw_known(&k->known, t->val, r.index, t->rank, from))
        VEC_PUSH(k->l->arena, &k->known.registers, r);
}

// masked: by all loops in scope, so that no position is past the end.
static void store_to(kernel *k, simt_builder *b, const tensor_target *t, simt_value x,
                     bool masked) {
    position index[8];
    target_index(k, b, t, index);
    for (uint32_t i = 0; i < t->rank && masked; i++)
        if (index[i].step) index[i].at = index[i].step;
    lw_store_to(k, b, t->val, index, x);
}

// ---- Stores -------------------------------------------------------------------------------------
static axis_set left_digits(kernel *k, const tensor_stage *st) {
    axis_set s = 0;
    for (uint32_t i = 0; i < st->nleft; i++) s |= lw_var_depends(k, st->left[i]);
    return s;
}

// The thread that computes the value has it at hand when the kernel reads it again: other threads
// store it.
static bool kept(const kernel *k, tensor_val v) {
    return home_of(k, v) == LOOP_REGISTERS || (home_of(k, v) == LOOP_MEMORY && k->access.read[v]);
}

static void keep_registers(kernel *k, simt_builder *b, uint32_t stage, axis_set left) {
    const tensor_stage *st = &k->l->op->stages.data[stage];
    bool any = false;
    uint32_t from = k->known.registers.len;
    for (uint32_t t = 0; t < st->ntargets; t++) any |= kept(k, st->targets[t].val);
    simt_value *x = ARENA_ARRAY(k->l->arena, simt_value, st->ntargets);
    simt_value first = any ? lw_first_thread(k, b, left) : 0;
    for (instance_walk w = lw_walk_begin(&k->digits, lw_written_out(&k->digits, left));
         any && lw_walk_next(&w);) {
        // The planner took care that others do not need it.
        k->access.owner = lw_both(b, lw_masks(k, b, 0), first);
        stage_values(k, b, stage, x);
        k->access.owner = 0;
        for (uint32_t t = 0; t < st->ntargets; t++)
            if (kept(k, st->targets[t].val)) keep(k, b, &st->targets[t], x[t], from);
    }
}

static bool in_memory(const kernel *k, tensor_val v) {
    return home_of(k, v) == LOOP_MEMORY || home_of(k, v) == LOOP_SHARED;
}

void lw_store_targets(kernel *k, simt_builder *b, uint32_t stage, bool masked) {
    const tensor_stage *st = &k->l->op->stages.data[stage];
    simt_value *x = ARENA_ARRAY(k->l->arena, simt_value, st->ntargets);
    stage_values(k, b, stage, x);
    for (uint32_t t = 0; t < st->ntargets; t++)
        if (in_memory(k, st->targets[t].val)) store_to(k, b, &st->targets[t], x[t], masked);
}

typedef void store_body(kernel *k, simt_builder *b, const void *user);

// Runs the body for each instance of the left variables, in the thread that writes it.
static void write_guarded(kernel *k, simt_builder *b, axis_set left, store_body *body,
                          const void *user) {
    simt_value first = lw_first_thread(k, b, left);
    for (instance_walk w = lw_walk_begin(&k->digits, lw_written_out(&k->digits, left));
         lw_walk_next(&w);) {
        simt_value c = lw_both(b, lw_masks(k, b, 0), first);
        if (!c) {
            body(k, b, user);
            continue;
        }
        simt_builder then;
        simt_instr mask = simt_build_if(b, c, NULL, 0, &then, NULL);
        // positions past an end are moved onto the last one
        k->f->instrs.data[mask].aux = SIMT_IF_MASK;
        region_mark m = lw_enter(&k->known);
        body(k, &then, user);
        lw_leave(&k->known, m);
        simt_build_yield(&then, NULL, 0);
    }
}

static void store_stage(kernel *k, simt_builder *b, const void *user) {
    lw_store_targets(k, b, *(const uint32_t *)user, true);
}

// Copies of a thread that are neighbours in memory.
typedef struct {
    uint32_t stage;
    lower_copies copies;
} stored_row;

static void store_row(kernel *k, simt_builder *b, const void *user) {
    const stored_row *row = user;
    const tensor_target *t = &k->l->op->stages.data[row->stage].targets[0];
    simt_value x[16], one;
    position index[8];
    for (uint32_t i = 0; i < row->copies.n; i++) {
        lw_stand_at(&row->copies, i);
        stage_values(k, b, row->stage, &one);
        x[i] = simt_pick(b, one, 0);
    }
    lw_stand_at(&row->copies, 0);
    target_index(k, b, t, index);
    for (uint32_t i = 0; i < t->rank; i++)
        if (index[i].step) index[i].at = index[i].step;
    lw_store_in_a_row(k, b, t->val, index, simt_gather(b, x, row->copies.n));
}

static void write_rows(kernel *k, simt_builder *b, axis_set left, const stored_row *row) {
    lw_stand_at(&row->copies, 0);
    write_guarded(k, b, left, store_row, row);
    for (uint32_t d = 0; d < row->copies.digits; d++)
        k->digits.at[lw_axis(k, row->copies.loop, d)] = -1;
}

static void forget_tile(kernel *k, tensor_val v) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < k->scope.tiles.len; i++)
        if (k->scope.tiles.data[i] != v) k->scope.tiles.data[kept++] = k->scope.tiles.data[i];
    k->scope.tiles.len = kept;
}

// The columns of a matrix operation, whose pieces lanes have, in whole warps. Not in place: lanes
// would write what other lanes read.
static bool in_eights(kernel *k, const tensor_stage *st, lower_eights *r) {
    const tensor_target *t = &st->targets[0];
    bool pieces = false;
    if (st->ntargets > 1 || k->l->op->vals.data[t->val].inplace != TENSOR_NO_VAL ||
        !lw_in_eights(k, t->val, t->index, t->rank, r))
        return false;
    for (uint32_t i = 0; i < k->sums.all.len; i++) {
        const reduction *x = k->sums.all.data[i];
        pieces |= x->product && x->node->reduce.matrix->columns == r->loop->var;
    }
    return pieces;
}

void lw_store(kernel *k, simt_builder *b, const loop_node *n) {
    const tensor_stage *st = &k->l->op->stages.data[n->stages[0]];
    axis_set left = left_digits(k, st);
    bool memory = false;
    for (uint32_t t = 0; t < st->ntargets; t++) {
        forget_tile(k, st->targets[t].val);
        memory |= in_memory(k, st->targets[t].val);
    }
    keep_registers(k, b, n->stages[0], left);
    stored_row row = {.stage = n->stages[0]};
    lower_eights eights;
    if (memory && in_eights(k, st, &eights))
        lw_store_eights(k, b, n->stages[0], left, &eights, stage_values);
    else if (memory && st->ntargets == 1 && lw_copies_in_a_row(k, &st->targets[0], &row.copies))
        write_rows(k, b, left, &row);
    else if (memory) write_guarded(k, b, left, store_stage, &n->stages[0]);
    for (uint32_t t = 0; t < st->ntargets; t++)
        if (k->l->plan->values.data[st->targets[t].val].of != TENSOR_NO_VAL &&
            home_of(k, st->targets[t].val) == LOOP_SHARED)
            VEC_PUSH(k->l->arena, &k->scope.tiles, st->targets[t].val);
}

// ---- Targets that others combine with too -------------------------------------------------------
static simt_atomic atomic_of(const tensor_reducer *r) {
    if (r->kind == REDUCE_MAX) return SIMT_ATOMIC_MAX;
    return r->kind == REDUCE_MIN ? SIMT_ATOMIC_MIN : SIMT_ATOMIC_ADD;
}

// What a reduction of nothing stores.
void lw_clear(kernel *k, simt_builder *b, const loop_node *n) {
    uint32_t reductions = k->sums.all.len;
    lw_open(k, b, n, n->stages[0])->open = false;
    lw_store(k, b, n);
    k->sums.all.len = reductions;
}

void lw_combine_targets(kernel *k, simt_builder *b, uint32_t stage) {
    const tensor_stage *st = &k->l->op->stages.data[stage];
    const tensor_reducer *r = &k->l->op->reducers.data[st->reducer];
    axis_set vector = k->digits.vector == LOWER_NO_AXIS
                          ? 0
                          : left_digits(k, st) & AXIS(k->digits.vector);
    for (instance_walk w = lw_walk_begin(&k->digits, vector); lw_walk_next(&w);) {
        simt_value x;
        position index[8];
        stage_values(k, b, stage, &x);
        target_index(k, b, &st->targets[0], index);
        lw_red_to(k, b, st->targets[0].val, index, x, atomic_of(r));
    }
}

static void combine_stage(kernel *k, simt_builder *b, const void *user) {
    lw_combine_targets(k, b, *(const uint32_t *)user);
}

void lw_combine(kernel *k, simt_builder *b, const loop_node *n) {
    write_guarded(k, b, left_digits(k, &k->l->op->stages.data[n->stages[0]]), combine_stage,
                  &n->stages[0]);
}

// ---- States -------------------------------------------------------------------------------------
void lw_store_slots(kernel *k, simt_builder *b, const reduction *r, const tensor_expr *slots) {
    for (uint32_t i = 0; i < r->r->nstate; i++) {
        const tensor_node *to = tensor_node_at(k->l->op, slots[i]);
        position index[8];
        for (uint32_t a = 0; a < to->nargs; a++) index[a] = lw_position(k, b, to->args[a]);
        lw_store_to(k, b, (tensor_val)to->imm.i, index,
                    r->slot[lw_instance(&k->digits, r->copies) * r->n + i]);
    }
}

static void store_states(kernel *k, simt_builder *b, const void *user) {
    const loop_node *n = user;
    lw_store_slots(k, b, lw_reduction(k, n->stages[0]), n->state.loads);
}

void lw_store_state(kernel *k, simt_builder *b, const loop_node *n) {
    axis_set s = left_digits(k, &k->l->op->stages.data[n->stages[0]]);
    for (uint32_t i = 0; i < n->state.n; i++) s |= lw_depends(k, n->state.loads[i]);
    if (k->access.waits_to_write) simt_build_op(b, SIMT_GRID_WAIT, NULL, 0, NULL, 0);
    write_guarded(k, b, s, store_states, n);
}
