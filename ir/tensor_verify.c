// The rules of tensor IR: types, scopes, shapes, and that nothing is read before something defines
// it.
#include "tensor_internal.h"

#include <string.h>

enum {   // which leaves an expression may have
    ALLOW_SIZE = 1,
    ALLOW_VAR = 2,
    ALLOW_LOAD = 4,
    ALLOW_ARG = 8,
    ALLOW_LEFT = 16,
    ALLOW_RIGHT = 32,
    ALLOW_GRAPH = 64,
    ALLOW_FLOAT = 128,
    ALLOW_BOUND = 256
};
enum { OUT_OF_SCOPE, SCOPE_LEFT, SCOPE_STEP, SCOPE_BOUND };   // of variables

typedef struct {
    arena *arena;   // of the words
    arena *scratch;
    const tensor_op *op;
    const char *what, *name;           // being checked: "stage", "y"; name NULL: it has none
    uint32_t *seen, stamp;             // per expression
    VEC(tensor_expr) stack, reached;   // while walking; what was reached under the present stamp
    uint8_t *scope;                    // per variable
    uint32_t *used, uses;   // per variable: the last of the numbered targets or keys that used it
    // per value: an earlier stage, the caller or the loop around defines it
    bool *defined;
    const tensor_reducer *reducer;
    const tensor_stage *stage;
    bool of_plan;
} verifier;

#define WRONG(v, ...) wrong((v), arena_printf((v)->arena, __VA_ARGS__))
static const char *wrong(verifier *v, const char *words) {
    return v->name ? arena_printf(v->arena, "%s '%s': %s", v->what, v->name, words)
                   : arena_printf(v->arena, "%s: %s", v->what, words);
}
// Names are put into words where something is wrong.
static void checks(verifier *v, const char *what, const char *name) {
    v->what = what;
    v->name = name;
}
#define TRY(x)                                                                                     \
    do {                                                                                           \
        const char *words_ = (x);                                                                  \
        if (words_) return words_;                                                                 \
    } while (0)

// ---- Expressions --------------------------------------------------------------------------------

static bool classes_defined(const verifier *v, const tensor_val_info *c) {
    for (uint32_t i = 0; i < c->nkeys; i++)
        if (!v->defined[c->keys[i]]) return false;
    return true;
}

static const char *check_component(verifier *v, const tensor_node *n, uint32_t allow,
                                   uint32_t want) {
    const tensor_reducer *r = v->reducer;
    const char *text = tensor_op_table((tensor_opcode)n->op)->text;
    if (!(allow & want) || !r) return WRONG(v, "'%s' has no meaning here", text);
    uint32_t count = want == ALLOW_ARG ? r->nargs : r->nstate;
    const tensor_type *types = want == ALLOW_ARG ? r->arg_types : r->state_types;
    if (n->imm.i >= count) return WRONG(v, "there is no %s.%lld", text, (long long)n->imm.i);
    if (!tensor_type_equal(n->type, types[n->imm.i]))
        return WRONG(v, "%s.%lld is not of type %s", text, (long long)n->imm.i,
                     tensor_type_text(v->arena, v->op, n->type));
    return NULL;
}

// Whether the stage being checked writes all of val anew, point by point: then it cannot read it.
static bool overwrites(const verifier *v, tensor_val val) {
    const tensor_stage *s = v->stage;
    for (uint32_t i = 0; s && s->loop != TENSOR_NO_LOOP && i < s->ntargets; i++) {
        bool steps = s->targets[i].val != val;
        for (uint32_t k = 0; k < s->targets[i].rank && !steps; k++)
            steps = tensor_target_at(v->op, s->targets[i].index[k]).kind == TENSOR_AT_STEP;
        if (!steps) return true;
    }
    return false;
}

static const char *check_load(verifier *v, const tensor_node *n, uint32_t allow) {
    const tensor_val_info *info = &v->op->vals.data[n->imm.i];
    if (!(allow & ALLOW_LOAD)) return WRONG(v, "'%s' cannot be read here", info->name);
    if (overwrites(v, (tensor_val)n->imm.i))
        return WRONG(v, "it reads '%s' while writing it", info->name);
    bool ready = info->role == VAL_CLASSES ? classes_defined(v, info) : v->defined[n->imm.i];
    return ready ? NULL : WRONG(v, "'%s' is read before anything defines it", info->name);
}

static const char *check_node(verifier *v, tensor_expr e, uint32_t allow) {
    const tensor_node *n = tensor_node_at(v->op, e);
    switch (n->op) {
    case TENSOR_VAR_OP: {
        uint8_t scope = v->scope[n->imm.i];
        bool good = allow & ALLOW_VAR && scope != OUT_OF_SCOPE &&
                    (scope != SCOPE_BOUND || allow & ALLOW_BOUND);
        return good
                   ? NULL
                   : WRONG(v, "variable '%s' has no meaning here", v->op->vars.data[n->imm.i].name);
    }
    case TENSOR_LOAD_OP: return check_load(v, n, allow);
    case TENSOR_ARG_OP: return check_component(v, n, allow, ALLOW_ARG);
    case TENSOR_LEFT_OP: return check_component(v, n, allow, ALLOW_LEFT);
    case TENSOR_RIGHT_OP: return check_component(v, n, allow, ALLOW_RIGHT);
    default: break;   // by what it may mention
    }
    const char *text = tensor_op_table((tensor_opcode)n->op)->text;
    bool graph = n->op == TENSOR_PREIMAGE_OP || n->op == TENSOR_AT_LEAST_OP ||
                 n->op == TENSOR_CUT_PARTS_OP || n->op == TENSOR_SYMMETRIC_OP,
         size = n->op == TENSOR_SIZE_OP;
    bool kept = !(allow & ALLOW_FLOAT) && (tensor_type_is_float(n->type) ||
                                           n->op == TENSOR_INDEX_OP || n->op == TENSOR_NONE_OP);
    bool random = n->op == TENSOR_RAND_OP && !(allow & (ALLOW_VAR | ALLOW_LOAD));
    if ((graph && !(allow & ALLOW_GRAPH)) || (size && !(allow & ALLOW_SIZE)) || kept || random)
        return WRONG(v, "'%s' has no place here", text);
    return NULL;
}

static void start_walk(verifier *v) {
    v->stamp++;
    v->reached.len = 0;
}

// Everything root reaches; an expression already seen under the present stamp is skipped.
static const char *check_expr(verifier *v, tensor_expr root, uint32_t allow) {
    if (root == 0 || root >= v->op->exprs.len) return WRONG(v, "an expression is missing");
    v->stack.len = 0;
    VEC_PUSH(v->scratch, &v->stack, root);
    while (v->stack.len) {
        tensor_expr e = v->stack.data[--v->stack.len];
        if (v->seen[e] == v->stamp) continue;
        v->seen[e] = v->stamp;
        VEC_PUSH(v->scratch, &v->reached, e);
        TRY(check_node(v, e, allow));
        const tensor_node *n = tensor_node_at(v->op, e);
        for (uint32_t i = 0; i < n->nargs; i++) VEC_PUSH(v->scratch, &v->stack, n->args[i]);
    }
    return NULL;
}

static const char *check_typed(verifier *v, tensor_expr e, uint32_t allow, tensor_type want,
                               const char *role) {
    start_walk(v);
    TRY(check_expr(v, e, allow));
    tensor_type t = tensor_typeof(v->op, e);
    if (tensor_type_equal(t, want)) return NULL;
    return WRONG(v, "%s has type %s, not %s", role, tensor_type_text(v->arena, v->op, t),
                 tensor_type_text(v->arena, v->op, want));
}

static const char *check_nodes(verifier *v) {
    checks(v, "expressions", NULL);
    for (tensor_expr e = 1; e < v->op->exprs.len; e++) {
        const tensor_node *n = tensor_node_at(v->op, e);
        if (n->op >= TENSOR_OP_COUNT)
            return WRONG(v, "expression %u has no operation", (unsigned)e);
        for (uint32_t i = 0; i < n->nargs; i++)
            if (n->args[i] == 0 || n->args[i] >= e)
                return WRONG(v, "expression %u comes before its arguments", (unsigned)e);
        const char *fault = tensor_node_fault(v->arena, v->op, n);
        if (fault) return WRONG(v, "expression %u: %s", (unsigned)e, fault);
    }
    return NULL;
}

// ---- Declarations -------------------------------------------------------------------------------

static const char *check_space(verifier *v, tensor_space s) {
    const tensor_space_info *info = &v->op->spaces.data[s];
    checks(v, "space", info->name);
    switch (info->kind) {
    case SPACE_FREE: return NULL;
    case SPACE_CONST: return info->size >= 0 ? NULL : WRONG(v, "its size is negative");
    case SPACE_COUNT_OF:
        if (info->classes < v->op->vals.len &&
            v->op->vals.data[info->classes].role == VAL_CLASSES &&
            v->op->vals.data[info->classes].into == s)
            return NULL;
        return WRONG(v, "no classes are counted by it");
    case SPACE_EXPR: break;
    }
    TRY(check_typed(v, info->expr, ALLOW_SIZE | (v->of_plan ? ALLOW_GRAPH : 0), TENSOR_TYPE(I64),
                    "its size"));
    for (uint32_t i = 0; i < v->reached.len; i++) {
        const tensor_node *n = tensor_node_at(v->op, v->reached.data[i]);
        if (n->op == TENSOR_SIZE_OP && n->imm.i >= s)
            return WRONG(v, "its size is computed from a space that comes later");
    }
    return NULL;
}

static const char *check_axes(verifier *v, const tensor_val_info *info) {
    if (info->rank > 8) return WRONG(v, "it has more than 8 axes");
    for (uint32_t i = 0; i < info->rank; i++)
        if (info->axes[i] >= v->op->spaces.len) return WRONG(v, "axis %u is no space", (unsigned)i);
    if (info->type >= DT_COUNT) return WRONG(v, "it has no type");
    if (info->type == DT_INDEX && info->into >= v->op->spaces.len)
        return WRONG(v, "its indices lie in no space");
    return NULL;
}

static const char *check_keys(verifier *v, const tensor_val_info *info) {
    if (info->type != DT_INDEX || info->rank != 1 || info->nkeys == 0)
        return WRONG(v, "classes number the tuples of maps");
    const tensor_space_info *into = &v->op->spaces.data[info->into];
    if (into->kind != SPACE_COUNT_OF || &v->op->vals.data[into->classes] != info)
        return WRONG(v, "its space must be the one that counts it");
    for (uint32_t i = 0; i < info->nkeys; i++) {
        if (info->keys[i] >= v->op->vals.len) return WRONG(v, "key %u does not exist", (unsigned)i);
        const tensor_val_info *k = &v->op->vals.data[info->keys[i]];
        bool role = k->role == VAL_MAP || k->role == VAL_STAGE;
        bool good = role && k->type == DT_INDEX && k->rank == 1 && k->axes[0] == info->axes[0] &&
                    !(k->facts & FACT_PREFIX);
        if (!good) return WRONG(v, "'%s' is no map over the same space", k->name);
    }
    return NULL;
}

static const char *check_val(verifier *v, tensor_val i) {
    const tensor_op *op = v->op;
    const tensor_val_info *info = &op->vals.data[i];
    checks(v, "value", info->name);
    TRY(check_axes(v, info));
    bool parameter = info->role < VAL_STAGE;
    if (parameter != (i < op->nparams))
        return WRONG(v, "parameters and results come first, stages and classes after them");
    if (info->role == VAL_STAGE && info->type == DT_I32)
        return WRONG(v, "a stage holds no %s", ir_dtype_text(info->type));
    if (info->role == VAL_SCALAR && info->rank) return WRONG(v, "a scalar has no axes");
    if (info->role == VAL_MAP && (info->type != DT_INDEX || info->rank == 0))
        return WRONG(v, "a map gives indices over a space");
    if (info->facts & FACT_PREFIX && (info->role != VAL_MAP || info->rank != 1))
        return WRONG(v, "'prefix' is a fact of maps of one axis");
    if (info->sorted_by != TENSOR_NO_VAL &&
        (info->sorted_by >= op->nparams || op->vals.data[info->sorted_by].role != VAL_MAP))
        return WRONG(v, "it is sorted within the classes of something that is no map");
    if (info->inplace != TENSOR_NO_VAL &&
        (info->role != VAL_RESULT || info->inplace >= op->nparams))
        return WRONG(v, "it shares the memory of something that is no parameter");
    if (info->role == VAL_PREPARED && !v->of_plan)
        return WRONG(v, "only the op of a loop plan has prepared values");
    if (info->role == VAL_PREPARED && (info->type != DT_INDEX || info->rank != 1))
        return WRONG(v, "a prepared value gives indices over a space");
    return info->role == VAL_CLASSES ? check_keys(v, info) : NULL;
}

static bool is_component(const tensor_op *op, tensor_expr e, tensor_opcode o) {
    const tensor_node *n = tensor_node_at(op, e);
    return n->op == o && n->imm.i == 0;
}

// A reducer of a builtin kind has the builtin's form, as rewrites rely on the kind alone.
static const char *check_kind(verifier *v, const tensor_reducer *r) {
    static const tensor_opcode combines[] = {TENSOR_ADD_OP, TENSOR_MUL_OP, TENSOR_MAX_OP,
                                             TENSOR_MIN_OP, TENSOR_OR_OP,  TENSOR_AND_OP};
    if (r->kind == REDUCE_USER) return NULL;
    bool simple = r->nargs == 1 && r->nstate == 1 && r->nresults == 1 && r->commutative &&
                  is_component(v->op, r->lift[0], TENSOR_ARG_OP) &&
                  is_component(v->op, r->finish[0], TENSOR_LEFT_OP);
    const tensor_node *c = simple ? tensor_node_at(v->op, r->combine[0]) : NULL;
    bool least_index = simple && r->kind == REDUCE_MIN && r->state_types[0].type == DT_INDEX &&
                       c->op == TENSOR_SELECT_OP;
    bool good = simple && (least_index || (c->op == combines[r->kind] &&
                                           is_component(v->op, c->args[0], TENSOR_LEFT_OP) &&
                                           is_component(v->op, c->args[1], TENSOR_RIGHT_OP)));
    return good ? NULL : WRONG(v, "it is not what its kind says");
}

static const char *check_section(verifier *v, const tensor_expr *exprs, uint32_t n,
                                 const tensor_type *types, uint32_t allow, const char *name) {
    for (uint32_t i = 0; i < n; i++)
        TRY(check_typed(v, exprs[i], allow | ALLOW_SIZE | ALLOW_FLOAT, types[i], name));
    return NULL;
}

static const char *check_reducer(verifier *v, const tensor_reducer *r) {
    checks(v, "reducer", r->name);
    v->reducer = r;
    TRY(check_section(v, r->identity, r->nstate, r->state_types, 0, "identity"));
    TRY(check_section(v, r->lift, r->nstate, r->state_types, ALLOW_ARG, "lift"));
    TRY(check_section(v, r->combine, r->nstate, r->state_types, ALLOW_LEFT | ALLOW_RIGHT,
                      "combine"));
    TRY(check_section(v, r->finish, r->nresults, r->result_types, ALLOW_LEFT, "finish"));
    v->reducer = NULL;
    return check_kind(v, r);
}

// ---- Stages -------------------------------------------------------------------------------------

static tensor_var step_of(const verifier *v, const tensor_stage *s) {
    return s->loop == TENSOR_NO_LOOP ? UINT32_MAX : v->op->loops.data[s->loop].step;
}

static const char *enter_variable(verifier *v, tensor_var x, uint8_t scope) {
    if (x >= v->op->vars.len) return WRONG(v, "there is no variable %u", (unsigned)x);
    if (v->scope[x] != OUT_OF_SCOPE)
        return WRONG(v, "variable '%s' is bound twice", v->op->vars.data[x].name);
    v->scope[x] = scope;
    return NULL;
}

static const char *enter_variables(verifier *v, const tensor_stage *s) {
    memset(v->scope, OUT_OF_SCOPE, v->op->vars.len);
    tensor_var step = step_of(v, s);
    if (step != UINT32_MAX) TRY(enter_variable(v, step, SCOPE_STEP));
    for (uint32_t i = 0; i < s->nleft; i++)
        if (s->left[i] != step) TRY(enter_variable(v, s->left[i], SCOPE_LEFT));
    for (uint32_t i = 0; i < s->nbound; i++) TRY(enter_variable(v, s->bound[i], SCOPE_BOUND));
    return NULL;
}

static const char *check_at(verifier *v, const tensor_val_info *val, uint32_t k,
                            tensor_expr index) {
    if (index == 0 || index >= v->op->exprs.len)
        return WRONG(v, "an index of '%s' is missing", val->name);
    tensor_type t = tensor_typeof(v->op, index);
    tensor_at at = tensor_target_at(v->op, index);
    const tensor_space_info *axis = &v->op->spaces.data[val->axes[k]];
    if (!tensor_type_equal(t, (tensor_type){DT_INDEX, val->axes[k]}))
        return WRONG(v, "axis %u of '%s' takes an index of %s", (unsigned)k, val->name, axis->name);
    switch (at.kind) {
    case TENSOR_AT_OTHER: break;
    case TENSOR_AT_CONST:
        if (at.offset >= 0 && (axis->kind != SPACE_CONST || at.offset < axis->size)) return NULL;
        return WRONG(v, "%lld is no index of %s", (long long)at.offset, axis->name);
    case TENSOR_AT_STEP:
        if (v->scope[at.var] == SCOPE_STEP) return NULL;
        break;
    case TENSOR_AT_VAR:
        if (v->scope[at.var] == SCOPE_STEP) return NULL;
        if (v->scope[at.var] != SCOPE_LEFT) break;
        if (v->used[at.var] == v->uses)
            return WRONG(v, "'%s' stands twice on the left", v->op->vars.data[at.var].name);
        v->used[at.var] = v->uses;
        return NULL;
    }
    return WRONG(
        v, "axis %u of '%s' is indexed by neither a left-hand variable, a literal nor the step",
        (unsigned)k, val->name);
}

static const char *check_target(verifier *v, const tensor_stage *s, const tensor_target *t) {
    if (t->val >= v->op->vals.len) return WRONG(v, "a target does not exist");
    const tensor_val_info *val = &v->op->vals.data[t->val];
    if (val->role != VAL_RESULT && val->role != VAL_STAGE)
        return WRONG(v, "'%s' is not written by stages", val->name);
    if (t->rank != val->rank)
        return WRONG(v, "'%s' has %u axes, not %u", val->name, (unsigned)val->rank,
                     (unsigned)t->rank);
    bool narrow = val->role == VAL_STAGE && ir_dtype_is_narrow(val->type);
    bool state = v->of_plan;   // of a reduction cut into parts, or as a schedule stores it
    if (narrow && !state && !tensor_holds(v->op, s, (uint32_t)(t - s->targets), val->type))
        return WRONG(v, "stage '%s' holds %s, and what it stores is not rounded to it", val->name,
                     ir_dtype_text(val->type));
    v->uses++;
    for (uint32_t k = 0; k < t->rank; k++) TRY(check_at(v, val, k, t->index[k]));
    for (uint32_t i = 0; i < s->nleft; i++)
        if (v->scope[s->left[i]] == SCOPE_LEFT && v->used[s->left[i]] != v->uses)
            return WRONG(v, "'%s' does not index '%s'", v->op->vars.data[s->left[i]].name,
                         val->name);
    return NULL;
}

// Both sides are indices of one space; the left one mentions bound variables alone, and none that
// the right one mentions.
static const char *check_key(verifier *v, const tensor_key *k) {
    enum { IN_KEY = ALLOW_SIZE | ALLOW_VAR | ALLOW_LOAD | ALLOW_BOUND | ALLOW_FLOAT };
    uint32_t bound = 0;
    v->uses++;
    start_walk(v);
    TRY(check_expr(v, k->lhs, IN_KEY));
    for (uint32_t i = 0; i < v->reached.len; i++) {
        const tensor_node *n = tensor_node_at(v->op, v->reached.data[i]);
        if (n->op != TENSOR_VAR_OP) continue;
        if (v->scope[n->imm.i] != SCOPE_BOUND)
            return WRONG(v, "the left side of a key depends on '%s', which it does not bind",
                         v->op->vars.data[n->imm.i].name);
        v->used[n->imm.i] = v->uses;
        bound++;
    }
    if (bound == 0) return WRONG(v, "the left side of a key depends on no bound variable");
    start_walk(v);
    TRY(check_expr(v, k->rhs, IN_KEY));
    for (uint32_t i = 0; i < v->reached.len; i++) {
        const tensor_node *n = tensor_node_at(v->op, v->reached.data[i]);
        if (n->op == TENSOR_VAR_OP && v->used[n->imm.i] == v->uses)
            return WRONG(v, "'%s' stands on both sides of a key", v->op->vars.data[n->imm.i].name);
    }
    tensor_type l = tensor_typeof(v->op, k->lhs), r = tensor_typeof(v->op, k->rhs);
    if (l.type == DT_INDEX && tensor_type_equal(l, r)) return NULL;
    return WRONG(v, "the sides of a key are not indices of one space");
}

static const char *check_reduction(verifier *v, const tensor_stage *s) {
    enum { IN_BODY = ALLOW_SIZE | ALLOW_VAR | ALLOW_LOAD | ALLOW_BOUND | ALLOW_FLOAT };
    if (s->reducer >= v->op->reducers.len)
        return WRONG(v, "there is no reducer %u", (unsigned)s->reducer);
    const tensor_reducer *r = &v->op->reducers.data[s->reducer];
    if (s->nbody != r->nargs || s->ntargets != r->nresults)
        return WRONG(v, "reducer '%s' takes %u and gives %u", r->name, (unsigned)r->nargs,
                     (unsigned)r->nresults);
    for (uint32_t i = 0; i < s->nkeys; i++) TRY(check_key(v, &s->keys[i]));
    for (uint32_t i = 0; i < s->nfilters; i++)
        TRY(check_typed(v, s->filters[i], IN_BODY, TENSOR_TYPE(BOOL), "a filter"));
    for (uint32_t i = 0; i < s->nbody; i++)
        TRY(check_typed(v, s->body[i], IN_BODY, r->arg_types[i], "the body"));
    return NULL;
}

static tensor_type target_type(const verifier *v, const tensor_target *t) {
    const tensor_val_info *val = &v->op->vals.data[t->val];
    return tensor_type_of_storage(val->type, val->into);
}

static const char *check_outcome(verifier *v, const tensor_stage *s) {
    enum { ON_LEFT = ALLOW_SIZE | ALLOW_VAR | ALLOW_LOAD | ALLOW_FLOAT };
    bool plain = s->reducer == TENSOR_NO_REDUCER;
    if (plain && s->nbody != s->ntargets)
        return WRONG(v, "it has %u targets and %u expressions", (unsigned)s->ntargets,
                     (unsigned)s->nbody);
    if (plain && s->nbound + s->nkeys + s->nfilters + s->nelse)
        return WRONG(v, "it reduces nothing, but has parts of a reduction");
    if (s->nelse && s->nelse != s->ntargets)
        return WRONG(v, "'else' gives %u values, not %u", (unsigned)s->nelse,
                     (unsigned)s->ntargets);
    for (uint32_t i = 0; i < s->ntargets; i++) {
        tensor_type want = target_type(v, &s->targets[i]);
        if (plain) TRY(check_typed(v, s->body[i], ON_LEFT, want, "the body"));
        else if (!tensor_type_equal(v->op->reducers.data[s->reducer].result_types[i], want))
            return WRONG(v, "result %u of the reduction is not of the type of '%s'", (unsigned)i,
                         v->op->vals.data[s->targets[i].val].name);
        if (s->nelse) TRY(check_typed(v, s->orelse[i], ON_LEFT, want, "'else'"));
    }
    return NULL;
}

static const char *check_stage(verifier *v, const tensor_stage *s) {
    checks(v, "stage", s->name ? s->name : "");
    if (s->name && !tensor_id_is_path(v->op->ids, s->id, s->name))
        return WRONG(v, "it has the identity of another");
    if (!s->name || s->ntargets == 0) return WRONG(v, "it has no name or no target");
    if (s->loop != TENSOR_NO_LOOP && s->loop >= v->op->loops.len)
        return WRONG(v, "there is no loop %u", (unsigned)s->loop);
    v->stage = s;
    TRY(enter_variables(v, s));
    for (uint32_t i = 0; i < s->ntargets; i++) TRY(check_target(v, s, &s->targets[i]));
    if (s->reducer != TENSOR_NO_REDUCER) TRY(check_reduction(v, s));
    return check_outcome(v, s);
}

static void define(verifier *v, const tensor_stage *s) {
    for (uint32_t i = 0; i < s->ntargets; i++)
        if (s->targets[i].val < v->op->vals.len) v->defined[s->targets[i].val] = true;
}

static const char *check_stages(verifier *v) {
    const tensor_op *op = v->op;
    bool *left_behind = ARENA_ARRAY(v->scratch, bool, op->loops.len);
    for (uint32_t i = 0; i < op->vals.len; i++)
        v->defined[i] = op->vals.data[i].role != VAL_RESULT && op->vals.data[i].role != VAL_STAGE;
    for (uint32_t i = 0; i < op->stages.len; i++) {
        const tensor_stage *s = &op->stages.data[i];
        uint32_t before = i ? op->stages.data[i - 1].loop : TENSOR_NO_LOOP;
        if (before != s->loop && before < op->loops.len) left_behind[before] = true;
        if (before != s->loop &&
            s->loop <
                // within a loop a stage may read what a later one left the round before
                op->loops.len) {
            checks(v, "stage", s->name ? s->name : "");
            if (left_behind[s->loop]) return WRONG(v, "the stages of its loop are not consecutive");
            for (uint32_t k = i; k < op->stages.len && op->stages.data[k].loop == s->loop; k++)
                define(v, &op->stages.data[k]);
        }
        TRY(check_stage(v, s));
        define(v, s);
    }
    for (uint32_t i = 0; i < op->nparams; i++) {
        checks(v, "value", op->vals.data[i].name);
        if (!v->defined[i]) return WRONG(v, "no stage defines this result");
    }
    return NULL;
}

static const char *check_loops(verifier *v) {
    for (uint32_t i = 0; i < v->op->loops.len; i++) {
        const tensor_loop *l = &v->op->loops.data[i];
        checks(v, "loop", NULL);
        if (l->step >= v->op->vars.len || l->space >= v->op->spaces.len)
            return WRONG(v, "its step or space does not exist");
        checks(v, "loop", v->op->vars.data[l->step].name);
        if (v->op->vars.data[l->step].space != l->space)
            return WRONG(v, "its step does not run over its space");
        bool used = false;
        for (uint32_t k = 0; k < v->op->stages.len; k++) used |= v->op->stages.data[k].loop == i;
        if (!used) return WRONG(v, "it has no stages");
    }
    return NULL;
}

static const char *check_all(verifier *v) {
    const tensor_op *op = v->op;
    checks(v, "op", NULL);
    if (op->nparams > op->vals.len) return WRONG(v, "it has more parameters than values");
    for (uint32_t i = 0; i < op->vars.len; i++) {
        if (op->vars.data[i].space >= op->spaces.len)
            return WRONG(v, "variable '%s' has no space", op->vars.data[i].name);
        if (!op->vars.data[i].id || !tensor_id_known(op->ids, op->vars.data[i].id))
            return WRONG(v, "variable '%s' stands for no index", op->vars.data[i].name);
    }
    for (uint32_t i = 0; i < op->vals.len; i++) TRY(check_val(v, i));
    TRY(check_nodes(v));
    for (uint32_t i = 0; i < op->spaces.len; i++) TRY(check_space(v, i));
    for (uint32_t i = 0; i < op->reducers.len; i++) TRY(check_reducer(v, &op->reducers.data[i]));
    for (uint32_t i = 0; i < op->required.len; i++) {
        checks(v, "precondition", op->required.data[i].text);
        TRY(check_typed(v, op->required.data[i].holds, ALLOW_SIZE | ALLOW_GRAPH, TENSOR_TYPE(BOOL),
                        "it"));
    }
    TRY(check_loops(v));
    return check_stages(v);
}

const char *tensor_fault(arena *a, const tensor_op *op, bool of_plan) {
    verifier v = {.arena = a, .scratch = arena_new(), .op = op, .what = "op", .of_plan = of_plan};
    v.seen = ARENA_ARRAY(v.scratch, uint32_t, op->exprs.len);
    v.scope = ARENA_ARRAY(v.scratch, uint8_t, op->vars.len);
    v.used = ARENA_ARRAY(v.scratch, uint32_t, op->vars.len);
    v.defined = ARENA_ARRAY(v.scratch, bool, op->vals.len);
    const char *words = check_all(&v);
    arena_free(v.scratch);
    return words;
}

const char *tensor_verify(arena *a, const tensor_op *op) { return tensor_fault(a, op, false); }
const char *tensor_verify_of_plan(arena *a, const tensor_op *op) {
    return tensor_fault(a, op, true);
}
