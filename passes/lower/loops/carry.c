// Carries: one state walks a range of positions sorted by key. Where the key changes, the run that
// ends is stored at its key; if it began before the range, it is left in the slot `first`. A run
// that goes on at the end of the range is left in `last`.
//     carry y by dst[e] first (head[b]) last (tail[b]) {
//       for e in lo .. hi [serial] { let v = dst[e]  contribute y } }
//  →  open = false; key = dst[lo - 1]
//     for e in lo .. hi:
//       if (open && dst[e] != key) { if (before) head[b] = state else y[key] = state; state = identity }
//       before = dst[e] == key && (open ? before : lo > 0); key = dst[e]; open = true; combine
//     if (open) { if (before) head[b] = state else if (dst[hi] == key) tail[b] = state else y[key] = state }
// With `level 64` a term goes to a state without the sum's factor. Where that has 64 terms, or its
// run ends, it is combined with the state of the run, times the factor.

#include "lower/loops/loops.h"

// ---- Keys ---------------------------------------------------------------------------------------
// The key at another position: the variable of the loop is given, and lets of its body are of that.
static simt_value key_at(kernel *k, simt_builder *b, const reduction *r, simt_value at) {
    const loop_body *body = &r->carry.walk->body;
    lw_rebinding outer = lw_rebind(k, r->carry.walk->var, at);
    for (uint32_t i = 0; i < body->len; i++)
        if (body->data[i]->kind == LOOP_LET)
            k->scope.var[body->data[i]->var] = (binding){.kind = BOUND_LET,
                                                         .value = body->data[i]->value};
    simt_value key = lw_to_ix(k, b, lw_expr(k, b, r->node->key));
    for (uint32_t i = 0; i < body->len; i++)
        if (body->data[i]->kind == LOOP_LET) k->scope.var[body->data[i]->var] = (binding){0};
    lw_restore(k, &outer);
    return key;
}

// The key at a position beyond the range, if there is one; else none.
static simt_value key_beyond(kernel *k, simt_builder *b, const reduction *r, simt_value there,
                             simt_value at) {
    simt_builder then, other;
    simt_instr i = simt_build_if(b, there, &k->ix, 1, &then, &other);
    region_mark m = lw_enter(&k->known);
    simt_value key = key_at(k, &then, r, at);
    simt_build_yield(&then, &key, 1);
    lw_leave(&k->known, m);
    key = lw_ix(k, &other, -1);
    simt_build_yield(&other, &key, 1);
    return simt_result(k->f, i, 0);
}

// ---- Runs ---------------------------------------------------------------------------------------
static tensor_var carried_var(const kernel *k, const reduction *r) {
    const tensor_stage *st = &k->l->op->stages.data[r->stage];
    for (uint32_t i = 0; i < st->nleft; i++)
        if (r->carry.key_says[st->left[i]]) return st->left[i];
    ICE("'%s': no variable of %s is carried", k->plan->name, st->name);
}

static void store_run(kernel *k, simt_builder *b, const reduction *r, run_place place) {
    if (place == RUN_WHOLE) {
        lw_store_targets(k, b, r->stage, false);
        return;
    }
    if (!r->node->state.n) lw_combine_targets(k, b, r->stage);
    else lw_store_slots(k, b, r, place == RUN_FIRST ? r->node->state.loads : r->node->state.last);
}

// The variable of the key is that of the run.
void lw_place_run(kernel *k, simt_builder *b, const reduction *r, simt_value c, axis_set each,
                  run_place place) {
    lw_rebinding outer = lw_rebind(k, carried_var(k, r), r->carry.run[CARRY_KEY]);
    axis_set who = r->left | each | lw_depends(k, r->carry.walk->lo) |
                   lw_depends(k, r->carry.walk->hi);
    c = lw_both(b, c, lw_first_thread(k, b, who));
    for (instance_walk w = lw_walk_begin(&k->digits, lw_written_out(&k->digits, r->left));
         lw_walk_next(&w);) {
        simt_value here = lw_both(b, c, lw_masks(k, b, 0));
        simt_builder then = *b;
        if (here) simt_build_if(b, here, NULL, 0, &then, NULL);
        region_mark m = lw_enter(&k->known);
        store_run(k, here ? &then : b, r, place);
        lw_leave(&k->known, m);
        if (here) simt_build_yield(&then, NULL, 0);
    }
    lw_restore(k, &outer);
}

static simt_value negation(simt_builder *b, simt_value x) {
    return simt_build_unary(b, SIMT_NOT, x);
}

static void end_run(kernel *k, simt_builder *b, const reduction *r, simt_value goes_on) {
    simt_value before = r->carry.lanes ? lw_began_before(b, r) : r->carry.run[CARRY_BEFORE],
               whole = negation(b, before);
    lw_place_run(k, b, r, before, 0, RUN_FIRST);
    if (goes_on) {
        lw_place_run(k, b, r, simt_build_binary(b, SIMT_AND, whole, goes_on), 0, RUN_LAST);
        whole = simt_build_binary(b, SIMT_AND, whole, negation(b, goes_on));
    }
    lw_place_run(k, b, r, whole, 0, RUN_WHOLE);
}

simt_value lw_began_before(simt_builder *b, const reduction *r) {
    simt_value same = simt_build_cmp(b, SIMT_EQ, r->carry.run[CARRY_KEY], r->carry.key_before);
    return simt_build_binary(b, SIMT_AND, r->carry.has_before, same);
}

// ---- Levels -------------------------------------------------------------------------------------
// What the level at hand has, times the factor, and what those before it had: the run's.
static simt_value *with_level(kernel *k, simt_builder *b, const reduction *r) {
    simt_value *all = ARENA_ARRAY(k->l->arena, simt_value,
                                  lw_instances(&k->digits, r->copies) * r->n + 1);
    lw_rebinding outer = lw_rebind(k, carried_var(k, r), r->carry.run[CARRY_KEY]);
    for (instance_walk w = lw_walk_begin(&k->digits, r->copies); lw_walk_next(&w);) {
        const uint32_t at = lw_instance(&k->digits, r->copies) * r->n;
        simt_value *x = ARENA_ARRAY(k->l->arena, simt_value, r->n);
        for (uint32_t c = 0; c < r->n; c++) x[c] = r->slot[at + c];
        x[0] = lw_times_factor(k, b, r, x[0]);
        lw_combine_parts(k, b, r, &r->carry.total[at], x, &all[at]);
    }
    lw_restore(k, &outer);
    return all;
}

// A level that is full, or whose run ends, goes to the run's state, and another one begins.
static void close_level(kernel *k, simt_builder *b, reduction *r, simt_value ends,
                        simt_value when) {
    const simt_type i32 = SIMT_T(I32);
    const uint32_t count = lw_instances(&k->digits, r->copies) * r->n;
    simt_value terms = r->carry.run[CARRY_TERMS], none = simt_build_int(b, i32, 0),
               full = simt_build_cmp(b, SIMT_EQ, terms,
                                     simt_build_int(b, i32, r->node->state.level));
    simt_value close = simt_build_binary(b, SIMT_OR, ends, lw_both(b, full, when));
    simt_type *types = ARENA_ARRAY(k->l->arena, simt_type, count + 1);
    for (uint32_t i = 0; i < count; i++) types[i] = simt_typeof(k->f, r->carry.total[i]);
    simt_builder then, other;
    simt_instr branch = simt_build_if(b, close, types, count, &then, &other);
    region_mark m = lw_enter(&k->known);
    simt_build_yield(&then, with_level(k, &then, r), count);
    lw_leave(&k->known, m);
    simt_build_yield(&other, r->carry.total, count);
    for (uint32_t i = 0; i < count; i++) {
        r->carry.total[i] = simt_result(k->f, branch, i);
        r->slot[i] = simt_build_select(b, close, r->carry.fresh[i % r->n], r->slot[i]);
    }
    simt_value next = simt_build_binary(b, SIMT_ADD, simt_build_select(b, close, none, terms),
                                        simt_build_int(b, i32, 1));
    r->carry.run[CARRY_TERMS] = when ? simt_build_select(b, when, next, terms) : next;
}

// The slots are the run's, where the level's were.
static void swap_level(reduction *r) {
    simt_value *level = r->slot;
    if (!r->carry.total) return;
    r->slot = r->carry.total;
    r->carry.total = level;
}

// ---- Positions ----------------------------------------------------------------------------------
static void arrive(kernel *k, simt_builder *b, reduction *r) {
    simt_value key = lw_to_ix(k, b, lw_expr(k, b, r->node->key)), when = lw_masks(k, b, r->masks);
    simt_value open = r->carry.run[CARRY_OPEN],
               same = simt_build_cmp(b, SIMT_EQ, key, r->carry.run[CARRY_KEY]);
    simt_value ends = lw_both(b, simt_build_binary(b, SIMT_AND, open, negation(b, same)), when);
    if (r->carry.total) close_level(k, b, r, ends, when);
    swap_level(r);
    simt_builder then;
    simt_build_if(b, ends, NULL, 0, &then, NULL);
    region_mark m = lw_enter(&k->known);
    end_run(k, &then, r, 0);
    lw_leave(&k->known, m);
    simt_build_yield(&then, NULL, 0);
    uint32_t count = lw_instances(&k->digits, r->copies) * r->n;
    for (uint32_t i = 0; i < count; i++)
        r->slot[i] = simt_build_select(b, ends, r->carry.fresh[i % r->n], r->slot[i]);
    swap_level(r);
    simt_value before = simt_build_select(b, open, r->carry.run[CARRY_BEFORE], r->carry.has_before);
    simt_value next[CARRY_TERMS] = {key, simt_build_binary(b, SIMT_AND, before, same),
                                    simt_build_pred(b, true)};
    for (int i = 0; i < CARRY_TERMS; i++)
        r->carry.run[i] = when ? simt_build_select(b, when, next[i], r->carry.run[i]) : next[i];
}

// The positions of a round, one after the other. A new key ends the run before anything of that key
// is combined.
void lw_carry_body(kernel *k, simt_builder *b, reduction *r, const loop_round *round) {
    const loop_body *body = &r->carry.walk->body;
    uint32_t lets = 0;
    while (lets < body->len && body->data[lets]->kind == LOOP_LET)
        lw_node(k, b, body->data[lets++]);
    lw_load_ahead(k, b, body, lets);
    axis_set side = r->carry.lanes ? lw_placed(&k->digits, round->own, LOOP_REGISTER_PLACE) : 0;
    for (instance_walk w = lw_walk_begin(&k->digits, round->own & ~side); lw_walk_next(&w);) {
        if (r->carry.lanes) {
            lw_scan(k, b, r, side, &round->round, lets);
            continue;
        }
        arrive(k, b, r);
        for (uint32_t i = lets; i < body->len; i++) lw_node(k, b, body->data[i]);
    }
    for (uint32_t i = 0; i < lets; i++) k->scope.var[body->data[i]->var] = (binding){0};
}

// ---- The whole ----------------------------------------------------------------------------------
static const loop_node *walk_of(const kernel *k, const loop_node *n) {
    const loop_node *walk = n->body.data[n->body.len - 1];
    if (walk->kind != LOOP_FOR || walk->rest != LOOP_SERIAL_PLACE)
        ICE("'%s': a carry ends with a serial loop", k->plan->name);
    for (uint32_t i = 0; i + 1 < n->body.len; i++)
        if (n->body.data[i]->kind != LOOP_LET) ICE("'%s': a carry has one loop", k->plan->name);
    return walk;
}

// Variables of the stage that nothing around binds: the key of a run says what they are.
static bool *said_by_key(const kernel *k, const tensor_stage *st) {
    bool *said = ARENA_ARRAY(k->l->arena, bool, k->l->op->vars.len + 1);
    for (uint32_t i = 0; i < st->nleft; i++) {
        bool step = st->loop != TENSOR_NO_LOOP &&
                    k->l->op->loops.data[st->loop].step == st->left[i];
        said[st->left[i]] = k->scope.var[st->left[i]].kind == BOUND_NOT && !step;
    }
    return said;
}

static void start_level(kernel *k, simt_builder *b, reduction *r) {
    const uint32_t count = lw_instances(&k->digits, r->copies) * r->n;
    r->carry.total = ARENA_ARRAY(k->l->arena, simt_value, count + 1);
    for (uint32_t i = 0; i < count; i++) r->carry.total[i] = r->slot[i];
    r->carry.run[CARRY_TERMS] = simt_build_int(b, SIMT_T(I32), 0);
    r->level = true;
}

static void start_runs(kernel *k, simt_builder *b, reduction *r, simt_value lo, simt_value hi) {
    simt_value some = simt_build_cmp(b, SIMT_LT, lo, hi), zero = lw_ix(k, b, 0);
    r->carry.fresh = ARENA_ARRAY(k->l->arena, simt_value, r->n);
    for (uint32_t c = 0; c < r->n; c++) r->carry.fresh[c] = r->slot[c];
    r->carry.has_before = simt_build_binary(b, SIMT_AND, simt_build_cmp(b, SIMT_GT, lo, zero),
                                            some);
    r->carry.key_before = key_beyond(k, b, r, r->carry.has_before,
                                     simt_build_binary(b, SIMT_SUB, lo, lw_ix(k, b, 1)));
    r->carry.run[CARRY_KEY] = r->carry.lanes ? key_beyond(k, b, r, some, lo) : r->carry.key_before;
    r->carry.run[CARRY_BEFORE] = r->carry.run[CARRY_OPEN] = simt_build_pred(b, false);
    if (r->node->state.level) start_level(k, b, r);
    if (!r->node->state.n) return;
    // A slot has the identity until a run goes there. Of lanes another one may be the one that
    // stores the first run, so that theirs has it only where no run does.
    simt_value none = r->carry.lanes ? negation(b, lw_began_before(b, r)) : 0;
    lw_place_run(k, b, r, none, 0, RUN_FIRST);
    lw_place_run(k, b, r, 0, 0, RUN_LAST);
}

static void end_runs(kernel *k, simt_builder *b, reduction *r, simt_value lo, simt_value hi) {
    tensor_space space = k->l->op->vars.data[r->carry.walk->var].space;
    simt_value open = r->carry.lanes ? simt_build_cmp(b, SIMT_LT, lo, hi)
                                     : r->carry.run[CARRY_OPEN];
    simt_builder then;
    simt_build_if(b, open, NULL, 0, &then, NULL);
    region_mark m = lw_enter(&k->known);
    simt_value there = simt_build_cmp(&then, SIMT_LT, hi,
                                      lw_to_ix(k, &then, lw_size(k, &then, space)));
    simt_value next = key_beyond(k, &then, r, there, hi);
    simt_value same = simt_build_cmp(&then, SIMT_EQ, next, r->carry.run[CARRY_KEY]);
    if (r->carry.total) r->slot = with_level(k, &then, r);
    end_run(k, &then, r, simt_build_binary(&then, SIMT_AND, there, same));
    lw_leave(&k->known, m);
    simt_build_yield(&then, NULL, 0);
}

void lw_carry(kernel *k, simt_builder *b, const loop_node *n) {
    const tensor_stage *st = &k->l->op->stages.data[n->stages[0]];
    bool *said = said_by_key(k, st);
    const loop_node *walk = walk_of(k, n);
    region_mark m = lw_enter(&k->known);
    for (uint32_t i = 0; i + 1 < n->body.len; i++) lw_node(k, b, n->body.data[i]);
    axis_set bounds = lw_depends(k, walk->lo) | lw_depends(k, walk->hi);
    if (lw_written_out(&k->digits, bounds) || lw_vector_free(&k->digits, bounds))
        ICE("'%s': the range of a carry differs between copies of a thread", k->plan->name);
    lw_enter_loops(k, &n->body);
    reduction *r = lw_open(k, b, n, n->stages[0]);
    r->carry.walk = walk;
    r->carry.key_says = said;
    r->carry.lanes = lw_placed(&k->digits, lw_axes_enter(k, walk), LOOP_LANE_PLACE);
    r->carry.uniform = walk->rounds.uniform;
    simt_value lo = lw_to_ix(k, b, lw_expr(k, b, walk->lo)),
               hi = lw_to_ix(k, b, lw_expr(k, b, walk->hi));
    start_runs(k, b, r, lo, hi);
    lw_node(k, b, walk);
    end_runs(k, b, r, lo, hi);
    r->open = false;
    k->sums.all.len--;
    for (uint32_t i = 0; i + 1 < n->body.len; i++)
        k->scope.var[n->body.data[i]->var] = (binding){0};
    lw_leave_loops(k, &n->body);
    lw_leave(&k->known, m);
}
