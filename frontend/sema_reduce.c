// Lowering of reductions. Each becomes a stage of its own over the variables it uses (normal form
// N1); its condition is split into keys and filters (N2). "R(x by m)" is a reduction over all
// points with this one's key, read back at it (N4).
#include "sema_expr.h"
#include "tensor_guard.h"
#include <string.h>

static const ast_expr *strip(const ast_expr *e) {
    while (e->kind == AST_PAREN) e = e->args;
    return e;
}

// ---- Conditions ---------------------------------------------------------------------------------
typedef struct {
    VEC(tensor_key) keys;
    VEC(tensor_expr) filters;
} condition;

// Is e over bound variables alone (at least one), and o free of those?
static bool is_key(lowering *L, tensor_expr e, tensor_expr o, const tensor_var *bound,
                   uint32_t nbound) {
    arena *scratch = arena_new();
    uint8_t *in_e = arena_alloc(scratch, L->op->vars.len + 1),
            *in_o = arena_alloc(scratch, L->op->vars.len + 1);
    uint32_t n = expr_vars(L, &e, 1, in_e), own = 0;
    bool both = false;
    expr_vars(L, &o, 1, in_o);
    for (uint32_t i = 0; i < nbound; i++) {
        own += in_e[bound[i]];
        both |= in_e[bound[i]] && in_o[bound[i]];
    }
    arena_free(scratch);
    return own && own == n && !both;
}

// What guards say that hold around it, of no bound variable; 0: nothing.
static tensor_expr guards_around(lowering *L, const tensor_var *bound, uint32_t nbound) {
    tensor_expr all = 0;
    for (uint32_t i = 0; i < L->eq.guards.len; i++) {
        const tensor_expr g = L->eq.guards.data[i].whole;
        bool free = i == 0 || g != L->eq.guards.data[i - 1].whole;
        for (uint32_t k = 0; k < nbound; k++) free &= !tensor_mentions(L->op, g, bound[k]);
        if (free) all = all ? tensor_binary(L->op, TENSOR_AND_OP, all, g, NO_SPAN) : g;
    }
    return all;
}

static void add_conjunct(lowering *L, condition *c, tensor_expr e, const tensor_var *bound,
                         uint32_t nbound, bool may_be_key) {
    const tensor_node *n = tensor_node_at(L->op, e);
    if (may_be_key && n->op == TENSOR_EQ_OP && tensor_typeof(L->op, n->args[0]).type == DT_INDEX) {
        tensor_expr a = n->args[0], b = n->args[1];
        tensor_key k = is_key(L, a, b, bound, nbound)   ? (tensor_key){a, b}
                       : is_key(L, b, a, bound, nbound) ? (tensor_key){b, a}
                                                        : (tensor_key){0, 0};
        // none == none holds as a comparison, but none matches no key: only where the two agree is
        // it one.
        // m[e] == none
        bool none = tensor_node_at(L->op, a)->op == TENSOR_NONE_OP ||
                    tensor_node_at(L->op, b)->op == TENSOR_NONE_OP;
        if (k.lhs && !none) {
            const tensor_expr around = guards_around(L, bound, nbound);
            k.lhs = tensor_guarded_side(L->op, k.lhs, around);
            k.rhs = tensor_guarded_side(L->op, k.rhs, around);
            VEC_PUSH(L->arena, &c->keys, k);
            lift_determine(L, k);
            return;
        }
    }
    VEC_PUSH(L->arena, &c->filters, e);
}

static void lower_condition(lowering *L, const scope *s, const ast_expr *e, condition *c,
                            const tensor_var *bound, uint32_t nbound) {
    e = strip(e);
    if (e->kind == AST_AND) {
        lower_condition(L, s, e->args, c, bound, nbound);
        lower_condition(L, s, e->args->next, c, bound, nbound);
        return;
    }
    L->eq.frame->own = false;
    tensor_expr x = lower_bool(L, s, e);
    add_conjunct(L, c, x, bound, nbound, !L->eq.frame->own);
    guards_push(L, x, true);   // until the whole reduction is done
}

// Guards that stand outside and are needed inside become the first filters.
static void add_needed(lowering *L, const frame *f, condition *c) {
    condition all = {0};
    for (uint32_t i = 0; i < f->guards && i < 64; i++) {
        tensor_expr g = L->eq.guards.data[i].whole;
        bool there = false;
        for (uint32_t k = 0; k < all.filters.len; k++) there |= all.filters.data[k] == g;
        if ((f->needed >> i & 1) && !there) VEC_PUSH(L->arena, &all.filters, g);
    }
    for (uint32_t i = 0; i < c->filters.len; i++)
        VEC_PUSH(L->arena, &all.filters, c->filters.data[i]);
    c->filters.data = all.filters.data;
    c->filters.len = all.filters.len;
    c->filters.cap = all.filters.cap;
}

// ---- Bodies -------------------------------------------------------------------------------------
static const value *lower_arguments(lowering *L, const scope *s, const ast_expr *body,
                                    uint32_t *n) {
    const ast_expr *e = strip(body);
    bool tuple = e->kind == AST_TUPLE;
    *n = 0;
    for (const ast_expr *a = tuple ? e->args : e; a; a = tuple ? a->next : NULL) ++*n;
    value *v = ARENA_ARRAY(L->arena, value, *n + 1);
    uint32_t k = 0;
    for (const ast_expr *a = tuple ? e->args : e; a; a = tuple ? a->next : NULL)
        v[k++] = lower_expr(L, s, a);
    return v;
}

static bool set_body(lowering *L, reduction *r, const entity *reducer, const value *args,
                     uint32_t n, span at) {
    r->reducer = r->stage.reducer = reducer_instance(L, reducer, args, n, at);
    if (r->reducer == TENSOR_NO_REDUCER) return false;
    const tensor_reducer t = L->op->reducers.data[r->reducer];
    tensor_expr *body = ARENA_ARRAY(L->arena, tensor_expr, n);
    for (uint32_t i = 0; i < n; i++) body[i] = value_as(L, args[i], t.arg_types[i], at);
    r->stage.body = body;
    r->stage.nbody = n;
    r->nresults = t.nresults;
    r->types = t.result_types;
    r->name = t.name;
    if (reducer->item == NULL) r->name = reducer->name;
    return true;
}

static void set_condition(reduction *r, const condition *c) {
    r->stage.keys = c->keys.data;
    r->stage.nkeys = c->keys.len;
    r->stage.filters = c->filters.data;
    r->stage.nfilters = c->filters.len;
}

static bool set_else(lowering *L, const scope *s, reduction *r, const ast_expr *orelse) {
    if (!orelse) return true;
    uint32_t n;
    frame f = {.guards = L->eq.guards.len, .outer = L->eq.frame};
    uint64_t context = L->eq.context;
    L->eq.frame = &f;
    lowering_enter(L);   // what is needed here is found out anew
    const value *v = lower_arguments(L, s, orelse, &n);
    L->eq.context = context;
    if (n != r->nresults) {
        L->eq.frame = f.outer;
        diag(L->ds, E0415, orelse->at, "'else' gives %u value%s, and '%s' has %u result%s", n,
             n == 1 ? "" : "s", r->name, r->nresults, r->nresults == 1 ? "" : "s");
        return false;
    }
    tensor_expr *x = ARENA_ARRAY(L->arena, tensor_expr, n);
    for (uint32_t i = 0; i < n; i++) x[i] = value_as(L, v[i], r->types[i], orelse->at);
    r->stage.orelse = x;
    r->stage.nelse = n;
    L->eq.frame = f.outer;
    for (uint32_t i = f.guards < 64 ? f.guards : 64; i-- > 0;)
        if (f.needed >> i & 1) reduction_guard_else(L, r, L->eq.guards.data[i].whole);
    return true;
}

// ---- name{binders : guard else orelse} body -----------------------------------------------------
static bool stated_space(lowering *L, const scope *s, const ast_expr *in, tensor_space *out) {
    const entity *n = in->kind == AST_NAME ? sema_resolve(L, s, in->name.text) : NULL;
    if (n && n->kind == ENT_SPACE) return *out = n->space, true;
    if (in->kind == AST_NUMBER && in->is_integer)
        return *out = space_constant(L, in->integer, in->at), true;
    bool size = in->kind == AST_ADD || in->kind == AST_SUB || in->kind == AST_MUL;
    // nothing is declared there
    if (size) return space_of_axis(L, (scope *)(uintptr_t)s, in, false, out);
    diagnostic *d = diag(L->ds, E0304, in->at, "a space is wanted after 'in'");
    if (in->kind == AST_REF || in->kind == AST_CALL)
        diag_help(
            d,
            "the points that a map leads to v are those with dst[e] == v: sum{e : dst[e] == v} body");
    else if (in->kind == AST_NAME) suggest_in_scope(L, d, s, in->name, NEAR_SPACE);
    return false;
}

static bool add_binders(lowering *L, const scope *outer, scope *s, const ast_expr *e,
                        index_info **infos) {
    uint32_t k = 0;
    for (const ast_binder *b = e->binders; b; b = b->next, k++) {
        const entity *old = scope_find(s, b->name.text);
        if (old) {
            diagnostic *d = diag(L->ds, E0202, b->name.at, "'%s' already names something here",
                                 b->name.text);
            if (old->at.hi) diag_note(d, old->at, "this");
            if (old->kind == ENT_INDEX)
                diag_help(d, "what is reduced over takes a name of its own: rename '%s' here",
                          b->name.text);
            return false;
        }
        index_info *i = infos[k] = ARENA_NEW(L->arena, index_info);
        *i = (index_info){.name = b->name.text, .at = b->name.at, .space = TENSOR_NO_SPACE};
        if (b->in && !stated_space(L, outer, b->in, &i->space)) return false;
        scope_add(L->arena, s,
                  (entity){.kind = ENT_INDEX, .name = b->name.text, .at = b->name.at, .index = i});
    }
    const ast_expr *places[] = {e->guard, e->body};
    infer_fix(L, s, places, 2);
    bool ok = true;
    for (uint32_t i = 0; i < k; i++) ok &= infer_index_known(L, infos[i]);
    return ok;
}

static bool set_ties(lowering *L, reduction *r, ast_name ties) {
    if (!ties.text || !strcmp(ties.text, "first")) return r->stage.ties = TIES_FIRST, true;
    if (!strcmp(ties.text, "split")) return r->stage.ties = TIES_SPLIT, true;
    if (!strcmp(ties.text, "all")) return r->stage.ties = TIES_ALL, true;
    static const char *const rules[] = {"first", "split", "all"};
    diag_suggest(diag(L->ds, E0416, ties.at, "ties are 'first', 'split' or 'all'"), ties.at,
                 ties.text, rules, 3);
    return false;
}

static bool runs_over(const lowering *L, const tensor_var *vars, uint32_t n, tensor_space s) {
    for (uint32_t i = 0; i < n; i++)
        if (L->op->vars.data[vars[i]].space == s) return true;
    return false;
}

// A reduction over a map's domain for each point the map leads to, that no key narrows, visits the
// domain again and again.
static void warn_unkeyed(lowering *L, const reduction *r) {
    for (uint32_t v = 0; v < L->op->nparams && !r->stage.nkeys; v++) {
        const tensor_val_info *m = &L->op->vals.data[v];
        if (m->role == VAL_MAP && m->rank == 1 && !(m->facts & FACT_PREFIX))
            if (runs_over(L, r->stage.bound, r->stage.nbound, m->axes[0]) &&
                runs_over(L, L->eq.open.data, L->eq.open.len, m->into)) {
                diagnostic *d = diag(L->ds, P0401, r->at,
                                     "this reduction visits all of %s for each of its results",
                                     space_name(L, m->axes[0]));
                diag_help(
                    d, "a condition such as '%s[…] == …' makes it visit only the points of one key",
                    m->name);
                return;
            }
    }
}

static bool reduction_lower_in(lowering *L, const scope *outer, scope *s, const ast_expr *e,
                               reduction *r, const entity *reducer, uint32_t nbound) {
    index_info **infos = ARENA_ARRAY(L->arena, index_info *, nbound + 1);
    if (!add_binders(L, outer, s, e, infos) || !set_ties(L, r, e->ties)) return false;
    tensor_var *bound = ARENA_ARRAY(L->arena, tensor_var, nbound + 1);
    for (uint32_t i = 0; i < nbound; i++) {
        bound[i] = infos[i]->var = tensor_add_var(L->op, infos[i]->name, infos[i]->space);
        VEC_PUSH(L->arena, &L->eq.open, bound[i]);
    }
    frame f = {.guards = L->eq.guards.len, .outer = L->eq.frame};
    guards_mark mark = {L->eq.guards.len, L->eq.context};
    uint32_t determined = L->eq.determined.len;
    L->eq.frame = &f;
    lowering_enter(L);
    condition c = {0};
    if (e->guard) lower_condition(L, s, e->guard, &c, bound, nbound);
    uint32_t n;
    const value *args = lower_arguments(L, s, e->body, &n);
    bool ok = set_body(L, r, reducer, args, n, e->body->at);
    L->eq.frame = f.outer;
    L->eq.determined.len = determined;
    guards_pop(L, mark);
    L->eq.open.len -= nbound;
    for (uint32_t i = 0; i < nbound; i++) VEC_PUSH(L->arena, &L->eq.closed, infos[i]->name);
    add_needed(L, &f, &c);
    set_condition(r, &c);
    r->stage.bound = bound;
    r->stage.nbound = nbound;
    if (ok) warn_unkeyed(L, r);
    return ok && set_else(L, outer, r, e->orelse);
}

bool reduction_lower(lowering *L, const scope *outer, const ast_expr *e, reduction *r) {
    entity reducer;
    *r = (reduction){.at = e->at, .stage = {.loop = L->loop, .at = e->at}};
    if (!reducer_visible(L, outer, e->name.text, e->name.at, &reducer)) {
        diagnostic *d = diag(L->ds, E0204, e->name.at, "there is no reducer '%s'", e->name.text);
        static const char *const built_in[] = {"sum", "prod", "max", "min", "any", "all", NULL};
        const sema *known = L->s;
        if (!foreign_help(d, FOREIGN_REDUCER, e->name.text) &&
            !suggest_item(known, d, e->name, known->reducers.data, known->reducers.len, built_in))
            diag_help(
                d,
                "built in are sum, prod, max, min, any, all; the prelude adds count, mean, welford, logsumexp, argmax and more");
        return false;
    }
    uint32_t nbound = 0;
    for (const ast_binder *b = e->binders; b; b = b->next) nbound++;
    scope s = {.parent = outer};
    return reduction_lower_in(L, outer, &s, e, r, &reducer, nbound);
}

value lower_reduce(lowering *L, const scope *s, const ast_expr *e) {
    reduction r;
    if (!reduction_lower(L, s, e, &r)) return value_bad(L);
    if (r.nresults != 1) {
        diag(L->ds, E0417, e->at,
             "'%s' has %u results: give each a target, as in 'a[…], b[…] = %s{…} …'", e->name.text,
             r.nresults, e->name.text);
        return value_bad(L);
    }
    tensor_expr result;
    reduction_lift(L, &r, UINT32_MAX, 0, &result);
    return value_plain(result);
}

// ---- R(x by m), R(x over d) ---------------------------------------------------------------------
static const key_list *resolve_keys(lowering *L, const scope *s, const ast_expr *arg) {
    key_list *k = ARENA_NEW(L->arena, key_list);
    *k = (key_list){arg->keys, s, arg->how == AST_OVER};
    for (;;) {
        if (!k->keys || k->keys->next) return k;
        const entity *n = scope_find(k->scope, k->keys->name.text);
        if (!n || n->kind != ENT_KEYS) return k;
        k = n->keys;
    }
}

static tensor_val classes_of(lowering *L, const tensor_val *keys, uint32_t n, tensor_space domain,
                             span at) {
    for (uint32_t v = 0; v < L->op->vals.len; v++) {
        const tensor_val_info *x = &L->op->vals.data[v];
        if (x->role == VAL_CLASSES && x->nkeys == n && !memcmp(x->keys, keys, n * sizeof *keys))
            return v;
    }
    textbuf name = textbuf_new(L->arena);
    textbuf_puts(&name, "classes(");
    bool partial = false;
    for (uint32_t i = 0; i < n; i++) {
        textbuf_printf(&name, "%s%s", i ? "," : "", L->op->vals.data[keys[i]].name);
        partial |= (L->op->vals.data[keys[i]].facts & FACT_PARTIAL) != 0;
    }
    textbuf_puts(&name, ")");
    tensor_space into = tensor_add_space(
        L->op, (tensor_space_info){.name = name.data, .kind = SPACE_COUNT_OF, .at = at});
    tensor_space *axis = ARENA_NEW(L->arena, tensor_space);
    *axis = domain;
    tensor_val v = tensor_add_val(L->op, (tensor_val_info){.name = name.data,
                                                           .role = VAL_CLASSES,
                                                           .type = DT_INDEX,
                                                           .into = into,
                                                           .facts = partial ? FACT_PARTIAL : 0,
                                                           .sorted_by = TENSOR_NO_VAL,
                                                           .inplace = TENSOR_NO_VAL,
                                                           .rank = 1,
                                                           .axes = axis,
                                                           .nkeys = n,
                                                           .keys = keys,
                                                           .at = at});
    L->op->spaces.data[into].classes = v;
    return v;
}

static bool key_map(lowering *L, const key_list *k, tensor_val *map, tensor_space *domain) {
    VEC(tensor_val) maps = {0};
    span at = k->keys->name.at;
    for (const ast_names *n = k->keys; n; n = n->next) {
        const entity *x = sema_resolve(L, k->scope, n->name.text);
        const tensor_val_info *v = x && x->kind == ENT_VALUE ? &L->op->vals.data[x->val] : NULL;
        if (!v || v->type != DT_INDEX || v->rank != 1 || (v->facts & FACT_PREFIX)) {
            diagnostic *d = diag(L->ds, E0420, n->name.at, "'%s' is not a map with one index",
                                 n->name.text);
            if (x && x->kind == ENT_INDEX)
                diag_help(
                    d,
                    "points with the same value of a map are grouped by it, by dst; along an index it is 'over %s'",
                    n->name.text);
            else if (x || !suggest_in_scope(L, d, k->scope, n->name, NEAR_MAP))
                diag_help(
                    d,
                    "points with the same value of a map are grouped by it: softmax(s[e] by dst)");
            return false;
        }
        if (maps.len && v->axes[0] != *domain) {
            diag(L->ds, E0421, n->name.at, "'%s' maps %s, and the maps before it %s", n->name.text,
                 space_name(L, v->axes[0]), space_name(L, *domain));
            return false;
        }
        *domain = v->axes[0];
        at = span_join(at, n->name.at);
        VEC_PUSH(L->arena, &maps, x->val);
    }
    for (uint32_t i = 0; i < maps.len && maps.len > 1; i++) {
        const tensor_val_info *v = &L->op->vals.data[maps.data[i]];
        if (v->role != VAL_RESULT) continue;
        diagnostic *d = diag(
            L->ds, E0420, at,
            "'%s' is a result, and classes of several maps are found before the op runs", v->name);
        diag_help(d, "give what '%s' is a name of its own, and write the classes with that",
                  v->name);
        return false;
    }
    *map = maps.len == 1 ? maps.data[0] : classes_of(L, maps.data, maps.len, *domain, at);
    return true;
}

// The index in scope that runs over the maps' domain.
static const index_info *reduced_index(lowering *L, const key_list *k, tensor_space domain) {
    const index_info *found = NULL;
    for (const scope *s = k->scope; s; s = s->parent)
        for (const entity *e = s->first; e; e = e->next) {
            if (e->kind != ENT_INDEX || e->index->space != domain) continue;
            if (found) {
                diagnostic *d = diag(L->ds, E0422, k->keys->name.at,
                                     "two indices run over %s here: '%s' and '%s'",
                                     space_name(L, domain), found->name, e->name);
                diag_help(d, "write the reduction out: R{… : … == …} …");
                return NULL;
            }
            found = e->index;
        }
    if (!found)
        diag(L->ds, E0422, k->keys->name.at, "no index over %s is in scope to reduce",
             space_name(L, domain));
    return found;
}

// Lowers x with each of the indices standing for a fresh bound one.
static bool lower_renamed(lowering *L, const scope *s, const ast_expr *x,
                          const index_info *const *from, uint32_t n, reduction *r,
                          const entity *reducer, frame *f) {
    tensor_var *bound = ARENA_ARRAY(L->arena, tensor_var, n);
    const index_rename *outer = L->eq.renames;
    for (uint32_t i = 0; i < n; i++) {
        bound[i] = tensor_add_var_of(L->op, from[i]->var,
                                     arena_printf(L->arena, "%s'", from[i]->name));
        index_rename *one = ARENA_NEW(L->arena, index_rename);
        *one = (index_rename){from[i], bound[i], L->eq.renames};
        L->eq.renames = one;
        VEC_PUSH(L->arena, &L->eq.open, bound[i]);
    }
    uint64_t context = L->eq.context;
    *f = (frame){.guards = L->eq.guards.len, .outer = L->eq.frame};
    L->eq.frame = f;
    lowering_enter(L);
    uint32_t nargs;
    const value *args = lower_arguments(L, s, x, &nargs);
    bool ok = set_body(L, r, reducer, args, nargs, x->at);
    L->eq.frame = f->outer;
    L->eq.context = context;
    L->eq.renames = outer;
    L->eq.open.len -= n;
    r->stage.bound = bound;
    r->stage.nbound = n;
    if (ok && r->nresults != 1)
        diag(L->ds, E0417, r->at, "'%s' has %u results, and a normaliser gives back one", r->name,
             r->nresults);
    return ok && r->nresults == 1;
}

static value normalise_over(lowering *L, const scope *s, const ast_expr *x, const key_list *k,
                            const entity *reducer, reduction *r) {
    const index_info *from[8];
    uint32_t n = 0;
    for (const ast_names *m = k->keys; m; m = m->next) {
        const entity *e = sema_resolve(L, k->scope, m->name.text);
        if (!e || e->kind != ENT_INDEX || n == 8) {
            diagnostic *d = diag(L->ds, E0423, m->name.at, "'%s' is not an index in scope",
                                 m->name.text);
            if (!e) suggest_in_scope(L, d, k->scope, m->name, NEAR_INDEX);
            else if (e->kind == ENT_VALUE && L->op->vals.data[e->val].type == DT_INDEX)
                diag_help(d, "points are grouped by a map with 'by %s'", m->name.text);
            return value_bad(L);
        }
        for (uint32_t i = 0; i < n; i++)
            if (from[i] == e->index) {
                diag(L->ds, E0423, m->name.at, "'%s' stands twice", m->name.text);
                return value_bad(L);
            }
        from[n++] = e->index;
    }
    frame f;
    condition c = {0};
    if (!lower_renamed(L, s, x, from, n, r, reducer, &f)) return value_bad(L);
    add_needed(L, &f, &c);
    set_condition(r, &c);
    tensor_expr result;
    reduction_lift(L, r, UINT32_MAX, 0, &result);
    return value_plain(result);
}

static bool is_open(const lowering *L, const char *name) {
    bool any = false;
    for (uint32_t i = 0; i < L->eq.open.len; i++)
        any |= !strcmp(L->op->vars.data[L->eq.open.data[i]].name, name);
    return any;
}

// What the index over a map's classes is called: their space in lower case, with a number behind it
// where an index around it is called so.
static const char *class_name(lowering *L, tensor_space classes) {
    textbuf lower = textbuf_new(L->arena);
    for (const char *p = space_name(L, classes); *p && *p != '('; p++)
        textbuf_printf(&lower, "%c", *p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
    const char *name = lower.data;
    for (uint32_t n = 2; is_open(L, name); n++)
        name = arena_printf(L->arena, "%s%u", lower.data, (unsigned)n);
    return name;
}

static value normalise_by(lowering *L, const scope *s, const ast_expr *x, const key_list *k,
                          const entity *reducer, reduction *r) {
    tensor_val map;
    tensor_space domain = TENSOR_NO_SPACE;
    if (!key_map(L, k, &map, &domain)) return value_bad(L);
    const index_info *from = reduced_index(L, k, domain);
    if (!from) return value_bad(L);
    tensor_var own = from->var;
    for (const index_rename *n = L->eq.renames; n; n = n->outer)
        if (n->from == from) {
            own = n->to;
            break;
        }
    frame f;
    if (!lower_renamed(L, s, x, &from, 1, r, reducer, &f)) return value_bad(L);
    tensor_space classes = L->op->vals.data[map].into;
    tensor_var c = tensor_add_var(L->op, class_name(L, classes), classes);
    tensor_expr at_bound = tensor_var_expr(L->op, r->stage.bound[0], r->at),
                at_own = tensor_var_expr(L->op, own, r->at);
    tensor_key *key = ARENA_NEW(L->arena, tensor_key);
    *key = (tensor_key){tensor_load(L->op, map, &at_bound, 1, r->at),
                        tensor_var_expr(L->op, c, r->at)};
    condition cond = {0};
    VEC_PUSH(L->arena, &cond.keys, *key);
    add_needed(L, &f, &cond);
    set_condition(r, &cond);

    tensor_expr own_class = tensor_load(L->op, map, &at_own, 1, r->at);
    if (tensor_maybe_none(L->op, own_class)) {
        diagnostic *d = diag(L->ds, E0310, k->keys->name.at,
                             "the key '%s' may be none, and has no class then",
                             L->op->vals.data[map].name);
        diag_help(
            d, "declare the map without 'partial', or write the reduction out under a condition");
        return value_bad(L);
    }
    tensor_expr result;
    reduction_lift(L, r, c, own_class, &result);
    return value_plain(result);
}

value lower_normaliser(lowering *L, const scope *s, const ast_expr *e, const entity *reducer) {
    const key_list *k = resolve_keys(L, s, e->args);
    reduction r = {.at = e->at, .stage = {.loop = L->loop, .at = e->at}};
    if (!k->keys) return value_bad(L);
    return k->over ? normalise_over(L, s, e->args, k, reducer, &r)
                   : normalise_by(L, s, e->args, k, reducer, &r);
}
