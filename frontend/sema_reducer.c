// Reducers at the types of their arguments. The types of a user reducer's state follow from
// identity, lift and combine: a literal takes the type of what it meets.
#include "sema_expr.h"
#include <string.h>

bool reducer_find(const lowering *L, const scope *s, const char *name, entity *out) {
    return reducer_visible(L, s, name, NO_SPAN, out);
}

bool reducer_visible(const lowering *L, const scope *s, const char *name, span use, entity *out) {
    static const char *const builtin[] = {"sum", "prod", "max", "min", "any", "all"};
    const entity *n = scope_find(s, name);
    if (n && n->kind == ENT_REDUCER) return *out = *n, true;
    if (n) return false;
    for (int k = REDUCE_SUM; k <= REDUCE_ALL; k++)
        if (!strcmp(name, builtin[k]))
            return *out = (entity){.kind = ENT_REDUCER,
                                   .name = name,
                                   .builtin = (tensor_reduce_kind)k},
                   true;
    const ast_item *item = sema_visible(L->s, L->s->reducers.data, L->s->reducers.len, name, use);
    if (!item) return false;
    *out = (entity){.kind = ENT_REDUCER, .name = name, .item = item, .builtin = REDUCE_USER};
    return true;
}

// ---- Sections of a user reducer -----------------------------------------------------------------
static const ast_section *section(const ast_item *item, const char *name) {
    for (const ast_section *x = item->sections; x; x = x->next)
        if (!strcmp(x->name.text, name)) return x;
    return NULL;
}

static uint32_t count_exprs(const ast_expr *e) {
    uint32_t n = 0;
    for (; e; e = e->next) n++;
    return n;
}
static uint32_t count_names(const ast_names *n) {
    uint32_t k = 0;
    for (; n; n = n->next) k++;
    return k;
}

static bool section_ok(lowering *L, const ast_item *item, const char *name, uint32_t want) {
    const ast_section *x = section(item, name);
    if (!x) {
        diagnostic *d = diag(L->ds, E0410, item->name.at, "reducer '%s' has no section '%s'",
                             item->name.text, name);
        diag_help(d, "a reducer has state, identity, lift, combine and finish");
        return false;
    }
    if (count_exprs(x->exprs) == want) return true;
    diag(L->ds, E0411, x->at, "'%s' of reducer '%s' has %u expression%s, and %u %s wanted", name,
         item->name.text, count_exprs(x->exprs), count_exprs(x->exprs) == 1 ? "" : "s", want,
         want == 1 ? "is" : "are");
    return false;
}

static bool known_words(lowering *L, const ast_item *item) {
    static const char *const sections[] = {"state",   "identity", "lift",
                                           "combine", "finish",   "grad"},
                             *const facts[] = {"commutative"};
    const uint32_t nsections = sizeof sections / sizeof *sections;
    bool ok = true;
    for (const ast_section *x = item->sections; x; x = x->next) {
        uint32_t i = 0;
        while (i < nsections && strcmp(sections[i], x->name.text)) i++;
        if (i < nsections) continue;
        diagnostic *d = diag(L->ds, E0410, x->name.at, "a reducer has no section '%s'",
                             x->name.text);
        diag_suggest(d, x->name.at, x->name.text, sections, nsections);
        ok = false;
    }
    for (const ast_fact *f = item->facts; f; f = f->next) {
        if (!strcmp(f->name.text, *facts) && !f->args) continue;
        diagnostic *d = diag(L->ds, E0502, f->at, "'%s' is not a fact of a reducer", f->name.text);
        if (!diag_suggest(d, f->name.at, f->name.text, facts, 1))
            diag_help(d, "reducers may be commutative");
        ok = false;
    }
    return ok;
}

static bool sections_ok(lowering *L, const ast_item *item) {
    const ast_section *state = section(item, "state");
    uint32_t n = state ? count_exprs(state->exprs) : 1;
    bool ok = known_words(L, item) & section_ok(L, item, "state", n);
    if (!ok) return false;
    for (const ast_expr *e = state->exprs; e; e = e->next)
        if (e->kind != AST_NAME) return diag(L->ds, E0411, e->at, "'state' lists names"), false;
    bool grad = !section(item, "grad") || section_ok(L, item, "grad", count_names(item->names));
    return grad & section_ok(L, item, "identity", n) & section_ok(L, item, "lift", n) &
           section_ok(L, item, "combine", n) &
           section_ok(L, item, "finish", count_names(item->outputs));
}

// Lowers the k-th expression of a section under a scope.
static value section_value(lowering *L, const scope *s, const ast_item *item, const char *name,
                           uint32_t k, span *at) {
    const ast_expr *e = section(item, name)->exprs;
    while (k--) e = e->next;
    *at = e->at;
    return lower_expr(L, s, e);
}

static void add_states(lowering *L, scope *s, const ast_item *item, const tensor_type *types,
                       bool primed) {
    uint32_t k = 0;
    for (const ast_expr *e = section(item, "state")->exprs; e; e = e->next, k++)
        scope_add(L->arena, s,
                  (entity){.kind = ENT_STATE,
                           .name = e->name.text,
                           .at = e->at,
                           .number = k,
                           .type = types[k],
                           .primed_too = primed});
}

// ---- Types --------------------------------------------------------------------------------------
typedef struct {
    tensor_type type;
    bool literal;   // only literals so far: may still become wider
} state_type;

static bool widen(lowering *L, state_type *t, value v, span at) {
    tensor_type x = value_type(L, v), y = t->type;
    if (v.kind == VALUE_BAD) return false;
    bool literal = v.kind == VALUE_INT || v.kind == VALUE_FLOAT;
    if (v.kind == VALUE_NONE && y.type == DT_INDEX) return true;
    if (y.type == DT_COUNT ||
        (y.type == DT_INDEX && y.space == TENSOR_NO_SPACE && x.type == DT_INDEX)) {
        *t = (state_type){x, literal};
        return true;
    }
    if (tensor_type_equal(x, y)) return t->literal &= literal, true;
    bool numbers = x.type != DT_BOOL && x.type != DT_INDEX && y.type != DT_BOOL &&
                   y.type != DT_INDEX;
    if (!numbers) {
        diag(L->ds, E0412, at, "this component of the state is %s here and %s elsewhere",
             type_text(L, x), type_text(L, y));
        return false;
    }
    // A float literal beside a float takes that float's type.
    if (literal && x.type != DT_I64 && y.type != DT_I64 && !t->literal) return true;
    if (t->literal && !literal && x.type != DT_I64) *t = (state_type){x, false};
    else if (x.type < y.type) *t = (state_type){x, literal && t->literal};
    else t->literal &= literal;
    return true;
}

static bool state_types(lowering *L, const ast_item *item, const scope *args, uint32_t n,
                        tensor_type *types) {
    state_type *t = ARENA_ARRAY(L->arena, state_type, n);
    scope none = {0};
    span at;
    for (uint32_t k = 0; k < n; k++) {
        t[k].type = (tensor_type){DT_COUNT, TENSOR_NO_SPACE};
        value id = section_value(L, &none, item, "identity", k, &at);
        if (!widen(L, &t[k], id, at)) return false;
        value lift = section_value(L, args, item, "lift", k, &at);
        if (!widen(L, &t[k], lift, at)) return false;
    }
    for (int round = 0; round < 4; round++) {
        scope s = {0};
        for (uint32_t k = 0; k < n; k++) types[k] = t[k].type;
        add_states(L, &s, item, types, true);
        bool changed = false;
        for (uint32_t k = 0; k < n; k++) {
            tensor_type before = t[k].type;
            t[k].literal = false;
            if (!widen(L, &t[k], section_value(L, &s, item, "combine", k, &at), at)) return false;
            changed |= !tensor_type_equal(before, t[k].type);
        }
        if (!changed) return true;
    }
    return true;
}

static const tensor_expr *section_as(lowering *L, const scope *s, const ast_item *item,
                                     const char *name, const tensor_type *types, uint32_t n) {
    tensor_expr *x = ARENA_ARRAY(L->arena, tensor_expr, n);
    for (uint32_t k = 0; k < n; k++) {
        span at;
        value v = section_value(L, s, item, name, k, &at);
        x[k] = value_as(L, v, types[k], at);
    }
    return x;
}

// ---- Instances ----------------------------------------------------------------------------------
static bool same_instance(const tensor_reducer *r, const entity *e, const tensor_type *types,
                          uint32_t n) {
    if (r->kind != REDUCE_USER || r->at.lo != e->item->name.at.lo || r->nargs != n) return false;
    for (uint32_t i = 0; i < n; i++)
        if (!tensor_type_equal(r->arg_types[i], types[i])) return false;
    return true;
}

static bool fact_commutative(const ast_item *item) {
    for (const ast_fact *f = item->facts; f; f = f->next)
        if (!strcmp(f->name.text, "commutative")) return true;
    return false;
}

// Results are called as they are declared, their adjoints with a d before it.
static void add_outcomes(lowering *L, scope *s, const ast_item *item, const tensor_type *types,
                         uint32_t n) {
    uint32_t k = 0;
    for (const ast_names *r = item->outputs; r; r = r->next, k++)
        for (int adjoint = 0; adjoint < 2; adjoint++)
            scope_add(L->arena, s,
                      (entity){.kind = ENT_OUTCOME,
                               .name = adjoint ? intern(L->s->names,
                                                        arena_printf(L->arena, "d%s", r->name.text))
                                               : r->name.text,
                               .at = r->name.at,
                               .number = adjoint ? n + k : k,
                               .type = types[k]});
}

static const tensor_expr *user_gradient(lowering *L, const ast_item *item, scope *s,
                                        const tensor_reducer *r) {
    if (!section(item, "grad")) return NULL;
    add_states(L, s, item, r->state_types, false);
    add_outcomes(L, s, item, r->result_types, r->nresults);
    tensor_expr *x = ARENA_ARRAY(L->arena, tensor_expr, r->nargs);
    for (uint32_t k = 0; k < r->nargs; k++) {   // integers have none
        span at;
        if (!tensor_type_is_float(r->arg_types[k])) continue;
        value v = section_value(L, s, item, "grad", k, &at);
        tensor_type t = value_type(L, v);   // of a state that is wider than what is given
        x[k] = tensor_type_is_float(t)
                   ? tensor_cvt(L->op, r->arg_types[k], value_as(L, v, t, at), at)
                   : value_as(L, v, r->arg_types[k], at);
    }
    return x;
}

static uint32_t user_instance(lowering *L, const entity *e, const tensor_type *types,
                              uint32_t nargs) {
    const ast_item *item = e->item;
    for (uint32_t i = 0; i < L->op->reducers.len; i++)
        if (same_instance(&L->op->reducers.data[i], e, types, nargs)) return i;
    if (!sections_ok(L, item)) return TENSOR_NO_REDUCER;
    uint32_t n = count_exprs(section(item, "state")->exprs), nresults = count_names(item->outputs),
             k = 0;
    scope args = {0}, state = {0}, finish = {0}, none = {0};
    for (const ast_names *a = item->names; a; a = a->next, k++)
        scope_add(L->arena, &args,
                  (entity){.kind = ENT_ARG,
                           .name = a->name.text,
                           .at = a->name.at,
                           .number = k,
                           .type = types[k]});
    tensor_type *st = ARENA_ARRAY(L->arena, tensor_type, n),
                *rt = ARENA_ARRAY(L->arena, tensor_type, nresults);
    if (!state_types(L, item, &args, n, st)) return TENSOR_NO_REDUCER;
    add_states(L, &state, item, st, true);
    add_states(L, &finish, item, st, false);
    for (k = 0; k < nresults; k++) {
        span at;
        rt[k] = value_type(L, section_value(L, &finish, item, "finish", k, &at));
    }
    tensor_reducer r = {.name = item->name.text,
                        .kind = REDUCE_USER,
                        .commutative = fact_commutative(item),
                        .nargs = nargs,
                        .nstate = n,
                        .nresults = nresults,
                        .arg_types = types,
                        .state_types = st,
                        .result_types = rt,
                        .at = item->name.at};
    r.identity = section_as(L, &none, item, "identity", st, n);
    r.lift = section_as(L, &args, item, "lift", st, n);
    r.combine = section_as(L, &state, item, "combine", st, n);
    r.finish = section_as(L, &finish, item, "finish", rt, nresults);
    r.grad = user_gradient(L, item, &args, &r);
    VEC_PUSH(L->arena, &L->op->reducers, r);
    return L->op->reducers.len - 1;
}

static uint32_t builtin_instance(lowering *L, const entity *e, value arg, span at) {
    tensor_type t = value_type(L, arg);
    bool logic = e->builtin == REDUCE_ANY || e->builtin == REDUCE_ALL;
    if (t.type == DT_INDEX) t = TENSOR_TYPE(I64);
    if (arg.kind == VALUE_NONE || logic != (t.type == DT_BOOL)) {
        diagnostic *d = diag(L->ds, E0413, at, "'%s' reduces %s, and this is %s", e->name,
                             logic ? "conditions" : "numbers", type_text(L, value_type(L, arg)));
        if (!logic && t.type == DT_BOOL)
            diag_help(
                d,
                "count{… : condition} 1 counts where a condition holds; any and all combine conditions");
        return TENSOR_NO_REDUCER;
    }
    return tensor_builtin_reducer(L->op, e->builtin, t);
}

uint32_t reducer_instance(lowering *L, const entity *r, const value *args, uint32_t nargs,
                          span at) {
    uint32_t want = r->item ? count_names(r->item->names) : 1;
    if (nargs != want) {
        diagnostic *d = diag(L->ds, E0414, at, "reducer '%s' takes %u argument%s, and is given %u",
                             r->name, want, want == 1 ? "" : "s", nargs);
        if (want > 1) diag_help(d, "several arguments stand in parentheses: %s{…} (x, y)", r->name);
        return TENSOR_NO_REDUCER;
    }
    for (uint32_t i = 0; i < nargs; i++)
        if (args[i].kind == VALUE_BAD) return TENSOR_NO_REDUCER;
    if (!r->item) return builtin_instance(L, r, args[0], at);
    if (expanding(L, r->item))
        return diag(L->ds, E0206, at, "reducer '%s' uses itself", r->name), TENSOR_NO_REDUCER;
    tensor_type *types = ARENA_ARRAY(L->arena, tensor_type, nargs);
    for (uint32_t i = 0; i < nargs; i++) types[i] = value_type(L, args[i]);
    const expansion *outer = expand(L, r->item);
    uint64_t context = L->eq.context;
    lowering_enter(L);
    uint32_t mark = diag_mark(L->ds);
    uint32_t x = user_instance(L, r, types, nargs);
    diag_note_use(L->ds, mark, r->item->at, at, r->item->name.text);
    L->eq.context = context;
    L->expanded.active = outer;
    return x;
}
