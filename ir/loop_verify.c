// The rules of loop IR (LOOP.md): scopes, layouts, states and stores, followed in the order of the
// text.
#include "loop_verify.h"

static const tensor_stage *stage_of(const loop_verifier *v, const loop_node *n) {
    return &v->op->stages.data[n->stages[0]];
}

// ---- Scopes -------------------------------------------------------------------------------------

static void enter(loop_verifier *v, int what, uint32_t index) {
    scope_entry e = {.index = index};
    e.what = what;
    VEC_PUSH(v->scratch, &v->scope, e);
}

static void take_back(loop_verifier *v, const scope_entry *e) {
    switch (e->what) {
    case SCOPE_VAR:
        v->vars.bound[e->index] = false;
        v->vars.value[e->index] = 0;
        v->vars.loop[e->index] = NULL;
        break;
    case SCOPE_VAL: v->vals.point[e->index] = NULL; break;
    case SCOPE_STATE: v->stages.state_known[e->index] = false; break;
    case SCOPE_GIVEN: v->vars.given[e->index] = 0; break;
    }
}

// What a phase makes known, or what stands without a loop, stays known around it; what it binds
// does not stay bound.
static void leave(loop_verifier *v, uint32_t mark, bool phase) {
    uint32_t kept = mark;
    for (uint32_t i = mark; i < v->scope.len; i++) {
        scope_entry e = v->scope.data[i];
        if (phase && e.what != SCOPE_VAR && e.what != SCOPE_GIVEN) v->scope.data[kept++] = e;
        else take_back(v, &e);
    }
    v->scope.len = kept;
}

static const char *bind(loop_verifier *v, const loop_node *n) {
    tensor_var x = n->var;
    const char *name = v->op->vars.data[x].name;
    if (v->vars.bound[x]) return WRONG(v, "variable '%s' is bound already", name);
    for (uint32_t i = 0; i < v->op->loops.len; i++)
        if (v->op->loops.data[i].step == x)
            return WRONG(v, "'%s' is the step of a recurrence, which its rounds bind", name);
    v->vars.bound[x] = true;
    v->vars.value[x] = n->kind == LOOP_LET ? n->value : 0;
    v->vars.loop[x] = n->kind == LOOP_FOR ? n : NULL;
    v->vars.depth[x] = v->path.len;
    v->vars.since[x] = ++v->vars.clock;
    enter(v, SCOPE_VAR, x);
    return NULL;
}

static const char *check_bound(loop_verifier *v, const tensor_var *vars, uint32_t n,
                               const char *stage) {
    for (uint32_t i = 0; i < n; i++)
        if (!v->vars.bound[vars[i]])
            return WRONG(v, "'%s' of stage '%s' is not bound here", v->op->vars.data[vars[i]].name,
                         stage);
    return NULL;
}

const loop_node *loop_verify_around(const loop_verifier *v, tensor_var x) {
    for (uint32_t k = 0; k < v->path.len; k++)
        if (v->path.data[k]->kind == LOOP_FOR && v->path.data[k]->var == x) return v->path.data[k];
    return NULL;
}

// ---- Stages -------------------------------------------------------------------------------------

// The node around the one at hand that reduces the stage; NULL: none.
static const loop_node *reduction_around(const loop_verifier *v, uint32_t stage, uint32_t *depth) {
    for (uint32_t k = v->path.len; k-- > 0;) {
        const loop_node *m = v->path.data[k];
        if (m->kind != LOOP_REDUCE && m->kind != LOOP_CARRY) continue;
        for (uint32_t i = 0; i < m->nstages; i++)
            if (m->stages[i] == stage) return *depth = k, m;
    }
    return NULL;
}

// What is known where: the target's variables behind lets.
static void known_at(loop_verifier *v, tensor_val val, const tensor_expr *index, uint32_t rank) {
    tensor_expr *point = ARENA_ARRAY(v->scratch, tensor_expr, rank + 1);
    for (uint32_t i = 0; i < rank; i++) point[i] = loop_behind_lets(v, index[i]);
    v->vals.stored_in[val] = v->kernel;
    v->vals.point[val] = point;
    v->vals.phase[val] = NULL;
    for (uint32_t k = v->path.len; k-- > 0 && !v->vals.phase[val];) {
        if (v->path.data[k]->kind != LOOP_PHASE) continue;
        v->vals.phase[val] = v->path.data[k];
        v->vals.around[val] = k ? v->path.data[k - 1] : NULL;
    }
    enter(v, SCOPE_VAL, val);
}

// Blocks do not store the same element.
static const char *check_one_block(loop_verifier *v, const tensor_expr *index, uint32_t rank,
                                   tensor_val val) {
    for (uint32_t k = 0; k < v->path.len; k++) {
        const loop_node *m = v->path.data[k];
        bool told = m->kind != LOOP_FOR || m->rest != LOOP_BLOCK_PLACE;
        for (uint32_t i = 0; i < rank && !told; i++) told = loop_depends(v, index[i], m->var);
        if (!told)
            return WRONG(v, "every block of '%s' stores '%s' at one index",
                         v->op->vars.data[m->var].name, v->op->vals.data[val].name);
    }
    return NULL;
}

// ---- States -------------------------------------------------------------------------------------

static const char *check_slots(loop_verifier *v, const loop_node *n, const tensor_stage *s) {
    const tensor_reducer *r = &v->op->reducers.data[s->reducer];
    if (n->state.n != r->nstate)
        return WRONG(v, "the state of stage '%s' has %u component%s, not %u", s->name,
                     (unsigned)r->nstate, r->nstate == 1 ? "" : "s", (unsigned)n->state.n);
    for (uint32_t i = 0; i < n->state.n; i++)
        TRY(loop_check_slot(v, n->state.loads[i], r->state_types[i]));
    for (uint32_t i = 0; n->state.last && i < n->state.n; i++)
        TRY(loop_check_slot(v, n->state.last[i], r->state_types[i]));
    return NULL;
}

static const char *write_slot(loop_verifier *v, tensor_expr slot) {
    const tensor_node *n = tensor_node_at(v->op, slot);
    for (uint32_t i = 0; i < n->nargs; i++) TRY(loop_check_expr(v, n->args[i], UINT32_MAX));
    TRY(check_one_block(v, n->args, n->nargs, (tensor_val)n->imm.i));
    known_at(v, (tensor_val)n->imm.i, n->args, n->nargs);
    return NULL;
}

// ---- Nodes --------------------------------------------------------------------------------------

static const char *check_body(loop_verifier *v, const loop_node *n);

static const char *check_let(loop_verifier *v, const loop_node *n) {
    tensor_type want = {DT_INDEX, v->op->vars.data[n->var].space},
                t = tensor_typeof(v->op, n->value);
    if (!tensor_type_equal(t, want))
        return WRONG(v, "'%s' is %s, not %s", v->op->vars.data[n->var].name,
                     tensor_type_text(v->arena, v->op, want), tensor_type_text(v->arena, v->op, t));
    return bind(v, n);
}

static const char *check_given(loop_verifier *v, const loop_node *n) {
    tensor_type want = tensor_typeof(v->op, n->key), t = tensor_typeof(v->op, n->value);
    if (tensor_node_at(v->op, n->key)->op != TENSOR_LOAD_OP || want.type != DT_INDEX)
        return WRONG(v, "what is given is an index that is loaded");
    if (!tensor_type_equal(t, want))
        return WRONG(v, "what is given is %s, not %s", tensor_type_text(v->arena, v->op, want),
                     tensor_type_text(v->arena, v->op, t));
    if (v->vars.given[n->key]) return NULL;
    v->vars.given[n->key] = n->value;
    enter(v, SCOPE_GIVEN, n->key);
    return NULL;
}

// What a condition says of the outermost variable's beginning, or end.
static tensor_expr bound_by(const loop_verifier *v, tensor_expr condition, tensor_opcode by) {
    const tensor_node *c = tensor_node_at(v->op, condition);
    const tensor_node *x = c->op == by ? tensor_node_at(v->op, c->args[0]) : c;
    if (x->op == TENSOR_CVT_OP) x = tensor_node_at(v->op, x->args[0]);
    bool outermost = c->op == by && x->op == TENSOR_VAR_OP && v->path.len &&
                     v->path.data[0]->kind == LOOP_FOR &&
                     v->path.data[0]->var == (tensor_var)x->imm.i;
    return outermost ? c->args[1] : 0;
}

static const char *check_if(loop_verifier *v, const loop_node *n) {
    tensor_expr from = v->from, below = v->below, least = bound_by(v, n->value, TENSOR_GE_OP),
                most = bound_by(v, n->value, TENSOR_LT_OP);
    if (least) v->from = least;
    if (most) v->below = most;
    const char *words = check_body(v, n);
    v->from = from;
    v->below = below;
    return words;
}

// Around a phase, all threads of a block go through a loop equally often.
static const char *check_uniform(loop_verifier *v, uint32_t at) {
    const loop_node *n = v->path.data[at];
    for (uint32_t k = 0; k < at; k++) {
        const loop_node *m = v->path.data[k];
        bool threads = false;
        for (uint32_t i = 0; i < m->ndigits; i++)
            threads = threads || m->digits[i].place == LOOP_LANE_PLACE ||
                      m->digits[i].place == LOOP_GROUP_PLACE;
        if (threads && (loop_depends(v, n->lo, m->var) || loop_depends(v, n->hi, m->var)))
            return WRONG(
                v, "a phase stands inside '%s', whose bounds differ between the threads of '%s'",
                v->op->vars.data[n->var].name, v->op->vars.data[m->var].name);
    }
    return NULL;
}

static const char *check_phase(loop_verifier *v, const loop_node *n) {
    for (uint32_t k = 0; k < v->path.len; k++) TRY(check_uniform(v, k));
    return check_body(v, n);
}

// Its variable, and those that lets make of it, are not bound inside; on the path the node stands
// for the loop.
static const char *check_without(loop_verifier *v, const loop_node *n) {
    uint32_t at;
    TRY(loop_check_left_out(v, n, &at));
    const loop_node *loop = v->path.data[at];
    bool *hidden = ARENA_ARRAY(v->scratch, bool, v->op->vars.len);
    for (tensor_var x = 0; x < v->op->vars.len; x++)
        hidden[x] = v->vars.bound[x] &&
                    (x == n->var ||
                     (v->vars.value[x] && loop_depends(v, v->vars.value[x], n->var)));
    for (tensor_var x = 0; x < v->op->vars.len; x++) v->vars.bound[x] &= !hidden[x];
    v->path.data[at] = n;
    TRY(check_body(v, n));
    v->path.data[at] = loop;
    for (tensor_var x = 0; x < v->op->vars.len; x++) v->vars.bound[x] |= hidden[x];
    return NULL;
}

static const char *walk_reduction(loop_verifier *v, const loop_node *n) {
    uint32_t *before = ARENA_ARRAY(v->scratch, uint32_t, n->nstages);
    for (uint32_t i = 0; i < n->nstages; i++) {
        uint32_t depth;
        before[i] = v->stages.contributions[n->stages[i]];
        if (v->stages.state_known[n->stages[i]] || reduction_around(v, n->stages[i], &depth))
            return WRONG(v, "stage '%s' is reduced already", v->op->stages.data[n->stages[i]].name);
    }
    TRY(check_body(v, n));
    for (uint32_t i = 0; i < n->nstages; i++)
        if (v->stages.contributions[n->stages[i]] == before[i])
            return WRONG(v, "nothing is contributed to stage '%s'",
                         v->op->stages.data[n->stages[i]].name);
    return NULL;
}

static const char *check_reduce(loop_verifier *v, const loop_node *n) {
    for (uint32_t i = 0; i < n->nstages; i++) {
        const tensor_stage *s = &v->op->stages.data[n->stages[i]];
        TRY(check_bound(v, s->left, s->nleft, s->name));
    }
    TRY(loop_check_maxima(v, n));
    TRY(walk_reduction(v, n));
    for (uint32_t i = 0; i < n->nstages; i++) {
        v->stages.state_known[n->stages[i]] = true;
        enter(v, SCOPE_STATE, n->stages[i]);
    }
    return NULL;
}

static const char *check_lifted(loop_verifier *v, const loop_node *n, const loop_node *around,
                                uint32_t depth) {
    const tensor_stage *s = stage_of(v, n);
    TRY(check_bound(v, s->bound, s->nbound, s->name));
    for (uint32_t i = 0; i < s->nbound; i++)
        if (v->vars.depth[s->bound[i]] <= depth)
            return WRONG(v, "'%s' of stage '%s' is bound outside the '%s'",
                         v->op->vars.data[s->bound[i]].name, s->name,
                         loop_node_table(around->kind)->text);
    for (uint32_t i = 0; i < s->nbody; i++) TRY(loop_check_expr(v, s->body[i], n->stages[0]));
    bool again = depth + 1 < v->path.len && v->path.data[depth + 1]->kind == LOOP_AGAIN;
    if (!again) TRY(loop_check_follows(v, n, around));
    return !again && loop_multiplies(v->op, around, n->stages[0]) ? loop_check_product(v, around, s)
                                                                  : NULL;
}

static const char *check_combined(loop_verifier *v, const loop_node *n) {
    TRY(check_slots(v, n, stage_of(v, n)));
    for (uint32_t i = 0; i < n->state.n; i++)
        TRY(loop_check_expr(v, n->state.loads[i], UINT32_MAX));
    return loop_check_relative(v, n);
}

static const loop_node *level_around(const loop_verifier *v, uint32_t stage);

static const char *check_contribute(loop_verifier *v, const loop_node *n) {
    uint32_t depth = 0;
    if (n->nstages != 1) return WRONG(v, "one stage at a time is contributed to");
    const tensor_stage *s = stage_of(v, n);
    const loop_node *around = reduction_around(v, n->stages[0], &depth);
    if (!around) return WRONG(v, "nothing around it reduces stage '%s'", s->name);
    if (n->state.n && level_around(v, n->stages[0]))
        return WRONG(v, "a state of stage '%s' has its factor already", s->name);
    if (n->state.valid && !n->state.n)
        return WRONG(v, "'where' says whether there is a state, and there are none");
    TRY(check_bound(v, s->left, s->nleft, s->name));
    if (around->kind == LOOP_CARRY) TRY(loop_check_expr(v, around->key, UINT32_MAX));
    v->stages.contributions[n->stages[0]]++;
    return n->state.n ? check_combined(v, n) : check_lifted(v, n, around, depth);
}

static const char *store_targets(loop_verifier *v, const tensor_stage *s) {
    for (uint32_t i = 0; i < s->ntargets; i++) {
        const tensor_target *t = &s->targets[i];
        if (v->plan->values.data[t->val].home == LOOP_MEMORY)
            TRY(check_one_block(v, t->index, t->rank, t->val));
    }
    for (uint32_t i = 0; i < s->ntargets; i++)
        if (v->plan->values.data[s->targets[i].val].home == LOOP_SHARED)
            TRY(loop_share(v, s->targets[i].val));
    for (uint32_t i = 0; i < s->ntargets; i++)
        known_at(v, s->targets[i].val, s->targets[i].index, s->targets[i].rank);
    return NULL;
}

static bool stands_again(const loop_verifier *v) {
    for (uint32_t k = 0; k < v->path.len; k++)
        if (v->path.data[k]->kind == LOOP_AGAIN) return true;
    return false;
}

static void stored_here(loop_verifier *v, uint32_t stage) {
    store_places *places = &v->stages.places[stage];
    places->kernel = v->kernel;
    VEC_PUSH(v->scratch, &places->loops, v->path.len ? v->path.data[0] : NULL);
    VEC_PUSH(v->scratch, &places->from, v->from);
    v->stages.stores[stage]++;
}

static const char *check_store(loop_verifier *v, const loop_node *n) {
    if (n->nstages != 1) return WRONG(v, "one stage at a time is stored");
    const tensor_stage *s = stage_of(v, n);
    bool reduces = s->reducer != TENSOR_NO_REDUCER;
    if (loop_stage_inline(v->plan, n->stages[0]))
        return WRONG(v, "stage '%s' is inline and never stored", s->name);
    TRY(check_bound(v, s->left, s->nleft, s->name));
    if (reduces && !v->stages.state_known[n->stages[0]])
        return WRONG(v, "stage '%s' is stored where its state is not known", s->name);
    for (uint32_t i = 0; i < (reduces ? s->nelse : s->nbody); i++)
        TRY(loop_check_expr(v, reduces ? s->orelse[i] : s->body[i], n->stages[0]));
    if (stands_again(v)) return store_targets(v, s);   // it is known there, once more
    if (v->stages.places[n->stages[0]].kernel == v->kernel)
        return WRONG(v, "stage '%s' is stored twice", s->name);
    stored_here(v, n->stages[0]);
    return store_targets(v, s);
}

static const char *check_store_state(loop_verifier *v, const loop_node *n) {
    if (n->nstages != 1) return WRONG(v, "one stage's state at a time is stored");
    const tensor_stage *s = stage_of(v, n);
    if (!v->stages.state_known[n->stages[0]])
        return WRONG(v, "the state of stage '%s' is not known here", s->name);
    TRY(check_slots(v, n, s));
    for (uint32_t i = 0; i < n->state.n; i++) {
        TRY(write_slot(v, n->state.loads[i]));
        v->vals.kept_relative[tensor_node_at(v->op, n->state.loads[i])->imm.i] |=
            v->stages.relative[n->stages[0]];
    }
    return NULL;
}

// ---- Targets that several combine with ----------------------------------------------------------
static const char *check_clear(loop_verifier *v, const loop_node *n) {
    if (n->nstages != 1) return WRONG(v, "one stage at a time is cleared");
    const tensor_stage *s = stage_of(v, n);
    TRY(check_bound(v, s->left, s->nleft, s->name));
    if (v->stages.cleared[n->stages[0]]) return WRONG(v, "stage '%s' is cleared twice", s->name);
    v->stages.cleared[n->stages[0]] = v->kernel;
    stored_here(v, n->stages[0]);
    return store_targets(v, s);
}

// Nobody in its kernel knows what the targets hold.
static const char *check_atomic(loop_verifier *v, uint32_t stage) {
    const tensor_stage *s = &v->op->stages.data[stage];
    const char *fault = loop_atomic_fault(v->op, s);
    if (fault)
        return WRONG(v, "the states of stage '%s' cannot be combined in memory: %s", s->name,
                     fault);
    if (v->plan->values.data[s->targets[0].val].home != LOOP_MEMORY)
        return WRONG(v, "stage '%s' is combined in memory, where it does not live", s->name);
    if (!v->stages.cleared[stage] || v->stages.cleared[stage] == v->kernel)
        return WRONG(v, "no kernel before clears stage '%s'", s->name);
    v->stages.stores[stage]++;
    v->stages.combines[stage]++;
    v->stages.combined[stage] = v->below;
    v->vals.stored_in[s->targets[0].val] = v->kernel;
    v->vals.point[s->targets[0].val] = NULL;
    return NULL;
}

static const char *check_combine(loop_verifier *v, const loop_node *n) {
    if (n->nstages != 1) return WRONG(v, "one stage's state at a time is combined");
    const tensor_stage *s = stage_of(v, n);
    TRY(check_bound(v, s->left, s->nleft, s->name));
    if (!v->stages.state_known[n->stages[0]])
        return WRONG(v, "the state of stage '%s' is not known here", s->name);
    return check_atomic(v, n->stages[0]);
}

// ---- Carries ------------------------------------------------------------------------------------
// One of a stage's left variables is not bound around its carry: it is what the key says.
static const char *check_carried(loop_verifier *v, const loop_node *n) {
    const tensor_stage *s = stage_of(v, n);
    uint32_t open = 0;
    tensor_space space = TENSOR_NO_SPACE;
    for (uint32_t i = 0; i < s->nleft; i++) {
        if (v->vars.bound[s->left[i]]) continue;
        space = v->op->vars.data[s->left[i]].space;
        open++;
    }
    if (open != 1)
        return WRONG(v, "a carry leaves one left variable of stage '%s' to its key, not %u",
                     s->name, (unsigned)open);
    bool fits = n->key && n->key < v->op->exprs.len &&
                tensor_type_equal(tensor_typeof(v->op, n->key), (tensor_type){DT_INDEX, space});
    return fits ? NULL
                : WRONG(v, "the key of a carry is an index of %s", v->op->spaces.data[space].name);
}

static const char *check_carry(loop_verifier *v, const loop_node *n) {
    if (n->nstages != 1) return WRONG(v, "a carry leaves partial results of one stage");
    TRY(check_carried(v, n));
    if (n->state.n) TRY(check_slots(v, n, stage_of(v, n)));
    if (n->state.level) TRY(loop_check_factor(v, stage_of(v, n)));
    TRY(walk_reduction(v, n));
    if (!n->state.n) return check_atomic(v, n->stages[0]);
    for (uint32_t i = 0; i < n->state.n; i++) {
        TRY(write_slot(v, n->state.loads[i]));
        TRY(write_slot(v, n->state.last[i]));
    }
    return NULL;
}

// ---- All kinds ----------------------------------------------------------------------------------
static const loop_node *level_around(const loop_verifier *v, uint32_t stage) {
    for (uint32_t k = v->path.len; k-- > 0;)
        for (uint32_t i = 0; v->path.data[k]->kind == LOOP_LEVEL && i < v->path.data[k]->nstages;
             i++)
            if (v->path.data[k]->stages[i] == stage) return v->path.data[k];
    return NULL;
}

static const char *check_level(loop_verifier *v, const loop_node *n) {
    uint32_t depth;
    for (uint32_t i = 0; i < n->nstages; i++) {
        const tensor_stage *s = &v->op->stages.data[n->stages[i]];
        const loop_node *around = reduction_around(v, n->stages[i], &depth);
        if (!around || around->kind != LOOP_REDUCE)
            return WRONG(v, "nothing around it reduces stage '%s'", s->name);
        if (level_around(v, n->stages[i]))
            return WRONG(v, "a level of stage '%s' stands in another", s->name);
        TRY(loop_check_factor(v, s));
    }
    return check_body(v, n);
}

static const char *check_again(loop_verifier *v, const loop_node *n) {
    const loop_node *around = v->path.len ? v->path.data[v->path.len - 1] : NULL;
    return around && loop_again(around) == n
               ? check_body(v, n)
               : WRONG(
                     v,
                     "'again' stands elsewhere than at the end of a reduction by matrix operations");
}

// That all kinds around it may be there.
static const char *check_place(loop_verifier *v, const loop_node *n) {
    const loop_node_form *form = loop_node_table(n->kind);
    for (uint32_t k = 0; k < v->path.len; k++) {
        const loop_node_kind around = v->path.data[k]->kind;
        if (!(form->around >> around & 1))
            return WRONG(v, "a '%s' stands inside a '%s', %s", form->text,
                         loop_node_table(around)->text, form->why);
    }
    return NULL;
}

static const char *check_node(loop_verifier *v, const loop_node *n) {
    v->at = n->at;
    if ((uint32_t)n->kind >= LOOP_NODE_COUNT) return WRONG(v, "a node is of no kind");
    TRY(check_place(v, n));
    TRY(loop_check_values(v, n));
    TRY(loop_check_pairs(v, n));
    VEC_PUSH(v->scratch, &v->path, n);
    TRY(loop_check_fields(v, n, LOOP_HEAD));
    v->path.len--;
    switch (n->kind) {
    case LOOP_FOR: return check_body(v, n);
    case LOOP_LET: return check_let(v, n);
    case LOOP_GIVEN: return check_given(v, n);
    case LOOP_IF: return check_if(v, n);
    case LOOP_PHASE: return check_phase(v, n);
    case LOOP_REDUCE: return check_reduce(v, n);
    case LOOP_CONTRIBUTE: return check_contribute(v, n);
    case LOOP_STORE: return check_store(v, n);
    case LOOP_CLEAR: return check_clear(v, n);
    case LOOP_COMBINE: return check_combine(v, n);
    case LOOP_STORE_STATE: return check_store_state(v, n);
    case LOOP_CARRY: return check_carry(v, n);
    case LOOP_WITHOUT: return check_without(v, n);
    case LOOP_WITHIN: TRY(loop_check_within(v, n)); return check_body(v, n);
    case LOOP_LEVEL: return check_level(v, n);
    case LOOP_AGAIN: return check_again(v, n);
    case LOOP_NODE_COUNT: break;
    }
    ICE("no loop node %d", (int)n->kind);
}

static const char *check_list(loop_verifier *v, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) TRY(check_node(v, body->data[i]));
    return loop_check_blocks(v, body);
}

const char *loop_check_reread(loop_verifier *v, const loop_node *n) {
    for (uint32_t i = 0; i < n->fetch.nreread; i++) {
        const tensor_val_info *val = &v->op->vals.data[n->fetch.reread[i]];
        if (val->role != VAL_TENSOR)
            return WRONG(v, "'%s' is read again by each round, and is no input", val->name);
        for (uint32_t k = 0; k < i; k++)
            if (n->fetch.reread[k] == n->fetch.reread[i])
                return WRONG(v, "'%s' is read again by each round twice", val->name);
    }
    return NULL;
}

const char *loop_check_stay(loop_verifier *v, const loop_node *n) {
    for (uint32_t i = 0; i < n->fetch.nstay; i++) {
        const char *name = v->op->vals.data[n->fetch.stay[i]].name,
                   *fault = loop_stay_fault(v->arena, v->plan, n, n->fetch.stay[i]);
        if (fault) return WRONG(v, "'%s' %s, and does not stay", name, fault);
        for (uint32_t k = 0; k < i; k++)
            if (n->fetch.stay[k] == n->fetch.stay[i]) return WRONG(v, "'%s' stays twice", name);
    }
    return NULL;
}

static const char *check_body(loop_verifier *v, const loop_node *n) {
    if (v->path.len == LOOP_MAX_DEPTH)
        return WRONG(v, "nodes stand more than %d deep", LOOP_MAX_DEPTH);
    VEC_PUSH(v->scratch, &v->path, n);
    uint32_t mark = v->scope.len;
    if (n->kind == LOOP_FOR) TRY(bind(v, n));
    TRY(loop_check_fields(v, n, LOOP_BODY));
    TRY(check_list(v, &n->body));
    TRY(loop_check_fields(v, n, LOOP_END));
    leave(v, mark, n->kind == LOOP_PHASE || n->kind == LOOP_WITHOUT);
    v->path.len--;
    v->at = n->at;
    return NULL;
}

const char *loop_check_nodes(loop_verifier *v, const loop_body *body) {
    TRY(check_list(v, body));
    leave(v, 0, false);
    return NULL;
}
