// Expressions of loop IR: whether what they mention is bound, or known, where they stand.
#include "loop_verify.h"

tensor_expr loop_behind_lets(const loop_verifier *v, tensor_expr e) {
    for (;;) {
        const tensor_node *n = tensor_node_at(v->op, e);
        tensor_expr value = n->op == TENSOR_VAR_OP ? v->vars.value[n->imm.i] : v->vars.given[e];
        if (!value || tensor_node_at(v->op, value)->op != TENSOR_VAR_OP) return e;
        e = value;
    }
}

// Walks what root reaches; an expression is met once directly and once by way of inline stages.
static void start(loop_verifier *v, tensor_expr root) {
    v->walk.stamp++;
    v->walk.stack.len = 0;
    VEC_PUSH(v->scratch, &v->walk.stack, ((expr_visit){root, false}));
}

static bool next(loop_verifier *v, expr_visit *out) {
    while (v->walk.stack.len) {
        *out = v->walk.stack.data[--v->walk.stack.len];
        uint32_t *seen = out->inlined ? v->walk.seen_inlined : v->walk.seen;
        if (out->e && out->e < v->op->exprs.len && seen[out->e] == v->walk.stamp) continue;
        if (out->e && out->e < v->op->exprs.len) seen[out->e] = v->walk.stamp;
        return true;
    }
    return false;
}

static void push_arguments(loop_verifier *v, expr_visit at) {
    const tensor_node *n = tensor_node_at(v->op, at.e);
    for (uint32_t i = 0; i < n->nargs; i++)
        VEC_PUSH(v->scratch, &v->walk.stack, ((expr_visit){n->args[i], at.inlined}));
}

bool loop_depends(loop_verifier *v, tensor_expr e, tensor_var x) {
    expr_visit at;
    for (start(v, e); next(v, &at);) {
        const tensor_node *n = tensor_node_at(v->op, at.e);
        push_arguments(v, at);
        if (n->op != TENSOR_VAR_OP) continue;
        if ((tensor_var)n->imm.i == x) return true;
        const loop_node *loop = v->vars.loop[n->imm.i];
        tensor_expr by[] = {v->vars.value[n->imm.i], loop ? loop->lo : 0, loop ? loop->hi : 0};
        for (uint32_t i = 0; i < 3; i++)
            if (by[i]) VEC_PUSH(v->scratch, &v->walk.stack, ((expr_visit){by[i], false}));
    }
    return false;
}

bool loop_of_sizes(loop_verifier *v, tensor_expr e) {
    expr_visit at;
    for (start(v, e); next(v, &at); push_arguments(v, at)) {
        uint16_t op = tensor_node_at(v->op, at.e)->op;
        if (op == TENSOR_VAR_OP || op == TENSOR_LOAD_OP) return false;
    }
    return true;
}

bool loop_constant(const tensor_op *op, tensor_expr e, int64_t *out) {
    const tensor_node *n = tensor_node_at(op, e);
    while (n->op == TENSOR_INDEX_OP || n->op == TENSOR_CVT_OP) n = tensor_node_at(op, n->args[0]);
    const tensor_space_info *s = n->op == TENSOR_SIZE_OP ? &op->spaces.data[n->imm.i] : NULL;
    *out = s ? s->size : n->imm.i;
    return s ? s->kind == SPACE_CONST : n->op == TENSOR_CONST_OP && n->type.type == DT_I64;
}

// ---- Loads --------------------------------------------------------------------------------------

static bool targets(const tensor_stage *s, tensor_val val) {
    for (uint32_t i = 0; i < s->ntargets; i++)
        if (s->targets[i].val == val) return true;
    return false;
}

// Every stage that writes it before the reader must have stored it; where none does, a later one of
// the same recurrence did in the round before.
static const char *check_written(loop_verifier *v, tensor_val val) {
    bool written = v->vals.stored_in[val] != 0;
    for (uint32_t i = 0; i < v->op->stages.len; i++) {
        const tensor_stage *s = &v->op->stages.data[i];
        if (!targets(s, val)) continue;
        bool former_round = i >= v->reader && s->loop != TENSOR_NO_LOOP && s->loop == v->rounds;
        if (v->stages.cleared[i] && v->stages.stores[i] != v->stages.all_stores[i] && !former_round)
            return WRONG(v, "'%s' is read before all have combined with it",
                         v->op->vals.data[val].name);
        bool stored = v->stages.stores[i] == v->stages.all_stores[i] ||
                      v->vals.stored_in[val] == v->kernel;
        if (i < v->reader && v->reader != UINT32_MAX && !(stored && v->stages.stores[i]))
            return WRONG(v, "'%s' is read before stage '%s' is stored", v->op->vals.data[val].name,
                         s->name);
        written = written || (s->loop != TENSOR_NO_LOOP && s->loop == v->rounds);
    }
    return written ? NULL
                   : WRONG(v, "'%s' is read before it is stored", v->op->vals.data[val].name);
}

static bool same_point(const loop_verifier *v, const tensor_expr *point, const tensor_node *load) {
    for (uint32_t i = 0; i < load->nargs; i++)
        if (loop_behind_lets(v, load->args[i]) != point[i]) return false;
    return true;
}

static const char *check_point(loop_verifier *v, tensor_val val, const tensor_node *load,
                               bool inlined) {
    const char *name = v->op->vals.data[val].name;
    if (inlined)
        return WRONG(v, "'%s' is read by an inline stage, but only known to who computed it", name);
    if (!v->vals.point[val])
        return WRONG(v, "'%s' is read where the thread that computed it does not know it", name);
    return same_point(v, v->vals.point[val], load)
               ? NULL
               : WRONG(v, "'%s' is read at another point than it was stored at", name);
}

// A phase behind the one that stored it, of the same body: a barrier is between them.
static bool met(const loop_verifier *v, tensor_val val) {
    bool around = !v->vals.around[val];
    for (uint32_t i = 0; i < v->path.len; i++) {
        if (v->path.data[i] == v->vals.phase[val]) return false;
        around = around || v->path.data[i] == v->vals.around[val];
    }
    return v->vals.phase[val] && around;
}

static const char *check_shared(loop_verifier *v, tensor_val val) {
    const shared_store *s = &v->vals.shared[val];
    const char *name = v->op->vals.data[val].name;
    if (v->vals.stored_in[val] != v->kernel)
        return WRONG(v, "shared '%s' is not stored in this kernel", name);
    for (uint32_t i = 0; i < s->vars.len; i++)
        if (!v->vars.bound[s->vars.data[i]] || v->vars.since[s->vars.data[i]] > s->clock)
            return WRONG(v, "shared '%s' is read where '%s' is no longer what it was stored at",
                         name, v->op->vars.data[s->vars.data[i]].name);
    return NULL;
}

static const char *check_load(loop_verifier *v, const tensor_node *load, bool inlined) {
    tensor_val val = (tensor_val)load->imm.i;
    tensor_role role = v->op->vals.data[val].role;
    if (role != VAL_RESULT && role != VAL_STAGE) return NULL;
    const loop_value *w = &v->plan->values.data[val];
    if (w->home == LOOP_INLINE) {   // its variables are the load's indices
        VEC_PUSH(v->scratch, &v->walk.stack,
                 ((expr_visit){v->op->stages.data[w->stage].body[0], true}));
        return NULL;
    }
    const char *wrong = NULL;
    if (loop_reads_running(v, load, &wrong)) return wrong;
    TRY(check_written(v, val));
    switch (w->home) {
    case LOOP_MEMORY:
        if (v->vals.stored_in[val] != v->kernel || met(v, val)) return NULL;
        return check_point(v, val, load, inlined);
    case LOOP_REGISTERS: return check_point(v, val, load, inlined);
    case LOOP_SHARED: return check_shared(v, val);
    case LOOP_INLINE: break;
    }
    return NULL;
}

// ---- Checks -------------------------------------------------------------------------------------

static const char *check_node(loop_verifier *v, expr_visit at) {
    if (at.e == 0 || at.e >= v->op->exprs.len) return WRONG(v, "an expression is missing");
    const tensor_node *n = tensor_node_at(v->op, at.e);
    if (n->op == TENSOR_VAR_OP && !at.inlined && !v->vars.bound[n->imm.i])
        return WRONG(v, "variable '%s' is not bound here", v->op->vars.data[n->imm.i].name);
    if (n->op == TENSOR_ARG_OP || n->op == TENSOR_LEFT_OP || n->op == TENSOR_RIGHT_OP)
        return WRONG(v, "'%s' has no meaning here", tensor_op_table((tensor_opcode)n->op)->text);
    push_arguments(v, at);
    return n->op == TENSOR_LOAD_OP ? check_load(v, n, at.inlined) : NULL;
}

const char *loop_check_expr(loop_verifier *v, tensor_expr e, uint32_t reader) {
    expr_visit at;
    v->reader = reader;
    for (start(v, e); next(v, &at);) TRY(check_node(v, at));
    return NULL;
}

const char *loop_share(loop_verifier *v, tensor_val val) {
    const loop_value *w = &v->plan->values.data[val];
    v->vals.shared[val] = (shared_store){.clock = v->vars.clock};
    for (uint32_t i = 0; i < v->op->vals.data[val].rank; i++) {
        if (!w->origin[i]) continue;
        TRY(loop_check_expr(v, w->origin[i], UINT32_MAX));
        expr_visit at;
        for (start(v, w->origin[i]); next(v, &at); push_arguments(v, at)) {
            const tensor_node *n = tensor_node_at(v->op, at.e);
            if (n->op == TENSOR_VAR_OP)
                VEC_PUSH(v->scratch, &v->vals.shared[val].vars, (tensor_var)n->imm.i);
        }
    }
    return NULL;
}

const char *loop_check_index(loop_verifier *v, tensor_expr e) {
    TRY(loop_check_expr(v, e, UINT32_MAX));
    ir_dtype t = tensor_typeof(v->op, e).type;
    return t == DT_I64 || t == DT_INDEX
               ? NULL
               : WRONG(v, "a bound of a loop is an i64 or an index, not %s", ir_dtype_text(t));
}

// ---- Factors ------------------------------------------------------------------------------------

// A sum, or one that tells by a second part whether it has terms.
static bool adds_first(const tensor_op *op, const tensor_reducer *r) {
    const tensor_node *n = tensor_node_at(op, r->combine[0]);
    if (n->op == TENSOR_SELECT_OP && r->nstate == 2 && r->state_types[1].type == DT_BOOL)
        n = tensor_node_at(op, n->args[1]);
    else if (r->nstate != 1) return false;
    const tensor_node *x = n->op == TENSOR_ADD_OP ? tensor_node_at(op, n->args[0]) : NULL,
                      *y = x ? tensor_node_at(op, n->args[1]) : NULL;
    return x && x->op == TENSOR_LEFT_OP && y->op == TENSOR_RIGHT_OP && !x->imm.i && !y->imm.i;
}

const char *loop_check_factor(loop_verifier *v, const tensor_stage *s) {
    const tensor_reducer *r = &v->op->reducers.data[s->reducer];
    bool sum = r->nargs == 1 && tensor_type_is_float(r->state_types[0]) && adds_first(v->op, r);
    const tensor_node *n = sum ? tensor_node_at(v->op, s->body[0]) : NULL;
    if (!sum || n->op != TENSOR_MUL_OP)
        return WRONG(v, "stage '%s' is no sum of products", s->name);
    for (uint32_t i = 0; i < s->nbound; i++)
        if (loop_depends(v, n->args[0], s->bound[i]))
            return WRONG(v, "the first factor of stage '%s' depends on '%s'", s->name,
                         v->op->vars.data[s->bound[i]].name);
    return NULL;
}

// ---- States -------------------------------------------------------------------------------------

const char *loop_check_slot(loop_verifier *v, tensor_expr slot, tensor_type want) {
    const tensor_node *n = slot && slot < v->op->exprs.len ? tensor_node_at(v->op, slot) : NULL;
    if (!n || n->op != TENSOR_LOAD_OP) return WRONG(v, "a state is kept in an element of a value");
    tensor_val val = (tensor_val)n->imm.i;
    const tensor_val_info *info = &v->op->vals.data[val];
    if (info->role != VAL_STAGE || v->plan->values.data[val].home != LOOP_MEMORY)
        return WRONG(v, "'%s' is no stage's value in memory, so it keeps no states", info->name);
    bool narrow = tensor_type_is_narrow(want) && info->type == want.type;   // its load is wider
    if (!narrow && !tensor_type_equal(n->type, want))
        return WRONG(v, "a state of type %s is kept in '%s' of type %s",
                     tensor_type_text(v->arena, v->op, want), info->name,
                     tensor_type_text(v->arena, v->op, n->type));
    return NULL;
}
