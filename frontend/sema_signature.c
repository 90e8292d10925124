// An op's signature: generics bound, spaces declared in order of first mention, parameters and
// results with their facts.
#include "sema_equation.h"
#include <string.h>

// ---- Generics -----------------------------------------------------------------------------------
static bool kind_is(const ast_generic *g, const char *kind) {
    return g->kind.text ? !strcmp(g->kind.text, kind) : !strcmp(kind, "float");
}

static bool bind_dtype(lowering *L, scope *s, const ast_generic *g, const char *name, span at) {
    ir_dtype t;
    bool want_float = kind_is(g, "float");
    if (!sema_dtype(name, &t) || t == DT_BOOL || ir_dtype_is_float(t) != want_float) {
        diagnostic *d = diag(L->ds, E0602, at, "'%s' is not %s type, which '%s' stands for", name,
                             want_float ? "a float" : "an integer", g->name.text);
        diag_help(d, want_float ? "f64, f32, bf16 or f16" : "i32 or i64");
        return false;
    }
    scope_add(L->arena, s,
              (entity){.kind = ENT_DTYPE, .name = g->name.text, .at = g->name.at, .dtype = t});
    return true;
}

static bool bind_size(lowering *L, scope *s, const ast_generic *g, const char *text, span at) {
    int64_t size;
    if (!sema_size(text, &size)) {
        diag(L->ds, E0604, at, "'%s' is not a size, which '%s' stands for", text, g->name.text);
        return false;
    }
    tensor_space sp = tensor_add_space(L->op, (tensor_space_info){.name = g->name.text,
                                                                  .kind = SPACE_CONST,
                                                                  .size = size,
                                                                  .classes = TENSOR_NO_VAL,
                                                                  .at = g->name.at});
    scope_add(L->arena, s,
              (entity){.kind = ENT_SPACE, .name = g->name.text, .at = g->name.at, .space = sp});
    return true;
}

static bool bind_fn(lowering *L, scope *s, const ast_generic *g, const char *name, span at) {
    const ast_item *fn = sema_visible(L->s, L->s->fns.data, L->s->fns.len, name, at);
    if (!fn)
        return diag(L->ds, E0602, at, "there is no function '%s' for '%s'", name, g->name.text),
               false;
    scope_add(L->arena, s,
              (entity){.kind = ENT_FN, .name = g->name.text, .at = g->name.at, .item = fn});
    return true;
}

static bool bind_reducer(lowering *L, scope *s, const ast_generic *g, const char *name, span at) {
    entity r;
    if (!reducer_visible(L, NULL, name, at, &r))
        return diag(L->ds, E0602, at, "there is no reducer '%s' for '%s'", name, g->name.text),
               false;
    entity *e = scope_add(L->arena, s, r);
    e->at = g->name.at;
    // Known in the op by the generic's name, in stages by its own.
    entity alias = r;
    alias.name = g->name.text;
    scope_add(L->arena, s, alias);
    return true;
}

bool generic_bind(lowering *L, scope *s, const ast_generic *g, const char *name, span at) {
    if (kind_is(g, "float") || kind_is(g, "int")) return bind_dtype(L, s, g, name, at);
    if (kind_is(g, "size")) return bind_size(L, s, g, name, at);
    if (kind_is(g, "fn")) return bind_fn(L, s, g, name, at);
    if (kind_is(g, "reducer")) return bind_reducer(L, s, g, name, at);
    static const char *const kinds[] = {"float", "int", "size", "fn", "reducer"};
    diagnostic *d = diag(L->ds, E0601, g->kind.at,
                         "'%s' is no kind of generic: float, int, size, fn or reducer",
                         g->kind.text);
    diag_suggest(d, g->kind.at, g->kind.text, kinds, sizeof kinds / sizeof *kinds);
    return false;
}

static bool bind_default(lowering *L, scope *s, const ast_generic *g, const char *shown) {
    const char *given = sema_define(L->s, g->name.text);
    if (given) return generic_bind(L, s, g, intern(L->s->names, given), g->name.at);
    if (kind_is(g, "float")) return generic_bind(L, s, g, intern(L->s->names, "f32"), g->name.at);
    if (kind_is(g, "int")) return generic_bind(L, s, g, intern(L->s->names, "i32"), g->name.at);
    if (kind_is(g, "size") && L->defaults)
        return generic_bind(L, s, g, intern(L->s->names, "3"), g->name.at);
    if (!kind_is(g, "size") && !kind_is(g, "fn") && !kind_is(g, "reducer"))
        return generic_bind(L, s, g, "", g->name.at);
    diagnostic *d = diag(L->ds, E0605, g->name.at, "'%s' of '%s' must be given to compile it",
                         g->name.text, shown);
    diag_help(d,
              kind_is(g, "size") ? "-D %s=3, say" : "-D %s=NAME, or an op alias: op name = %s<…>;",
              g->name.text, shown);
    return false;
}

static bool bind_generics(lowering *L, scope *s, const ast_item *op, const ast_names *given,
                          const char *shown) {
    bool ok = true;
    for (const ast_generic *g = op->generics; g; g = g->next) {
        if (given) {
            ok &= generic_bind(L, s, g, given->name.text, given->name.at);
            given = given->next;
        } else {
            ok &= bind_default(L, s, g, shown);
        }
    }
    if (given)
        diag(L->ds, E0603, given->name.at, "'%s' has no generic for '%s'", op->name.text,
             given->name.text);
    return ok && !given;
}

// What C calls it: the op's name and the types its float and int generics stand for.
const char *signature_name(lowering *L, const ast_item *op, const scope *s, const char *shown) {
    textbuf b = textbuf_new(L->arena);
    textbuf_puts(&b, shown);
    for (const ast_generic *g = op->generics; g; g = g->next) {
        const entity *e = scope_find(s, g->name.text);
        if (e && e->kind == ENT_DTYPE) textbuf_printf(&b, "_%s", ir_dtype_text(e->dtype));
    }
    return b.data;
}

// ---- Facts --------------------------------------------------------------------------------------
static bool fact_number(lowering *L, const ast_fact *f, int64_t *out) {
    if (f->args && !f->args->next && f->args->kind == AST_NUMBER && f->args->is_integer)
        return *out = f->args->integer, true;
    diag(L->ds, E0503, f->at, "'%s' takes a number: %s(16)", f->name.text, f->name.text);
    return false;
}

static bool fact_value(lowering *L, const scope *s, const ast_fact *f, tensor_val *out) {
    const ast_expr *a = f->args;
    const entity *e = a && !a->next && a->kind == AST_NAME ? scope_find(s, a->name.text) : NULL;
    if (e && e->kind == ENT_VALUE) return *out = e->val, true;
    diag(L->ds, E0503, f->at, "'%s' takes the name of a parameter", f->name.text);
    return false;
}

static void fact_sorted(lowering *L, const scope *s, const ast_fact *f, tensor_val_info *v) {
    v->facts |= FACT_SORTED;
    if (f->args) fact_value(L, s, f, &v->sorted_by);
}

static void fact_aligned(lowering *L, const ast_fact *f, tensor_val_info *v) {
    int64_t n;
    if (!fact_number(L, f, &n)) return;
    if (n > 0 && n <= 4096 && (n & (n - 1)) == 0) v->align = (uint32_t)n;
    else diag(L->ds, E0503, f->at, "an alignment is a power of two up to 4096");
}

static void fact_inplace(lowering *L, const scope *s, const ast_fact *f, tensor_val_info *v) {
    tensor_val p;
    if (!fact_value(L, s, f, &p)) return;
    const tensor_val_info *x = &L->op->vals.data[p];
    bool same = x->type == v->type && x->rank == v->rank &&
                !memcmp(x->axes, v->axes, v->rank * sizeof *v->axes);
    if (x->role != VAL_TENSOR || !same) {
        diagnostic *d = diag(L->ds, E0504, f->at,
                             "'%s' cannot lie where '%s' lies: type or axes differ", v->name,
                             x->name);
        diag_note(d, x->at, "'%s' is declared here", x->name);
        return;
    }
    v->inplace = p;
}

static void fact_apply(lowering *L, const scope *s, const ast_fact *f, tensor_val_info *v) {
    static const struct {
        const char *name;
        uint32_t fact;
        int map, tensor;
    } plain[] = {{"unique", FACT_UNIQUE, 1, 0},
                 {"partial", FACT_PARTIAL, 1, 0},
                 {"prefix", FACT_PREFIX, 1, 0},
                 {"strided", FACT_STRIDED, 0, 1},
                 {"packed", FACT_PACKED, 0, 1}};
    bool map = v->type == DT_INDEX, tensor = !map && v->role != VAL_SCALAR,
         result = v->role == VAL_RESULT;
    const char *name = f->name.text;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (!strcmp(name, plain[i].name) &&
            ((plain[i].map && map && (!result || plain[i].fact == FACT_PARTIAL)) ||
             (plain[i].tensor && (tensor || result)))) {
            v->facts |= plain[i].fact;
            return;
        }
    if (!strcmp(name, "sorted") && map && !result) fact_sorted(L, s, f, v);
    else if (!strcmp(name, "aligned") && v->role != VAL_SCALAR) fact_aligned(L, f, v);
    else if (!strcmp(name, "inplace") && result) fact_inplace(L, s, f, v);
    else {
        diagnostic *d = diag(L->ds, E0502, f->at, "'%s' is not a fact of %s", name,
                             result   ? "a result"
                             : map    ? "a map"
                             : tensor ? "a tensor"
                                      : "a scalar");
        static const char *const facts[] = {"sorted",  "unique", "partial", "prefix",
                                            "strided", "packed", "aligned", "inplace"};
        if (foreign_help(d, FOREIGN_FACT, name) ||
            diag_suggest(d, f->name.at, name, facts, sizeof facts / sizeof *facts))
            return;
        diag_help(
            d,
            result
                ? "results may be strided, packed, aligned(n), inplace(x), and partial where they are maps"
            : map ? "maps may be sorted, sorted(map), unique, partial, prefix, aligned(n)"
                  : "tensors may be strided, packed, aligned(n)");
    }
}

static void check_prefix(lowering *L, const ast_param *p, const tensor_val_info *v) {
    if (!(v->facts & FACT_PREFIX)) return;
    if (v->rank != 1 || v->facts & (FACT_PARTIAL | FACT_SORTED | FACT_UNIQUE))
        diag(
            L->ds, E0502, p->at,
            "a prefix map has one index and no further facts: it is the identity into a larger space");
}

// ---- Parameters ---------------------------------------------------------------------------------
static bool element_type(lowering *L, const scope *s, ast_name name, ir_dtype *out) {
    const entity *e = scope_find(s, name.text);
    if (e && e->kind == ENT_DTYPE) return *out = e->dtype, true;
    if (!e && sema_dtype(name.text, out)) return true;
    diagnostic *d = diag(L->ds, E0312, name.at, "'%s' is not a type", name.text);
    if (foreign_help(d, FOREIGN_TYPE, name.text) || suggest_in_scope(L, d, s, name, NEAR_TYPE))
        return false;
    diag_help(
        d,
        "f64, f32, bf16, f16, i32, i64, bool, or a generic of the op, declared behind its name: op %s<%s>(…)",
        L->op->name, name.text);
    return false;
}

static bool declare_axes(lowering *L, scope *s, const ast_expr *axes, tensor_val_info *v) {
    uint32_t n = 0;
    for (const ast_expr *a = axes; a; a = a->next) n++;
    if (n > 8) return diag(L->ds, E0313, axes->at, "a tensor has at most 8 axes"), false;
    tensor_space *sp = ARENA_ARRAY(L->arena, tensor_space, n + 1);
    uint32_t k = 0;
    for (const ast_expr *a = axes; a; a = a->next, k++)
        if (!space_of_axis(L, s, a, true, &sp[k])) return false;
    v->rank = n;
    v->axes = sp;
    return true;
}

static bool param_type(lowering *L, scope *s, const ast_param *p, tensor_val_info *v) {
    const ast_type *t = p->type;
    if (!declare_axes(L, s, t->axes, v)) return false;
    if (t->kind != AST_MAP) return element_type(L, s, t->element, &v->type);
    v->type = DT_INDEX;
    ast_expr into = {.kind = AST_NAME, .at = t->element.at, .name = t->element};
    return space_of_axis(L, s, &into, true, &v->into);
}

static bool declare_param(lowering *L, scope *s, const ast_param *p, bool result) {
    const entity *old = scope_find(s, p->name.text);
    if (old) {
        diagnostic *d = diag(L->ds, E0202, p->name.at, "'%s' already names something in this op",
                             p->name.text);
        if (old->at.hi) diag_note(d, old->at, "this");
        return false;
    }
    tensor_val_info v = {.name = p->name.text,
                         .into = TENSOR_NO_SPACE,
                         .sorted_by = TENSOR_NO_VAL,
                         .inplace = TENSOR_NO_VAL,
                         .at = p->name.at};
    if (!param_type(L, s, p, &v)) return false;
    v.role = result                        ? VAL_RESULT
             : p->type->kind == AST_MAP    ? VAL_MAP
             : p->type->kind == AST_TENSOR ? VAL_TENSOR
                                           : VAL_SCALAR;
    if (result && p->type->kind == AST_SCALAR) {
        diagnostic *d = diag(L->ds, E0314, p->type->at, "a result is in memory");
        diag_fix(d, p->type->at, arena_printf(L->arena, "%s[]", p->type->element.text),
                 "a single element is written '%s[]'", p->type->element.text);
        return false;
    }
    tensor_val val = tensor_add_val(L->op, v);
    scope_add(L->arena, s,
              (entity){.kind = ENT_VALUE, .name = p->name.text, .at = p->name.at, .val = val});
    return true;
}

static void apply_facts(lowering *L, const scope *s, const ast_param *p) {
    const entity *e = scope_find(s, p->name.text);
    if (!e || e->kind != ENT_VALUE) return;
    for (const ast_fact *f = p->facts; f; f = f->next) {
        tensor_val_info v = L->op->vals.data[e->val];
        fact_apply(L, s, f, &v);
        L->op->vals.data[e->val] = v;
    }
    check_prefix(L, p, &L->op->vals.data[e->val]);
}

// ---- Preconditions ------------------------------------------------------------------------------
static void require_one(lowering *L, scope *s, const ast_expr *e) {
    if (e->kind == AST_NAME && !strcmp(e->name.text, "deterministic"))
        return;   // the default; --no-deterministic is checked against it by the driver
    tensor_expr holds = lower_bool(L, s, e);
    if (!size_small(L, holds, e->at)) return;
    textbuf text = textbuf_new(L->arena);
    ast_print_expr(&text, e);
    VEC_PUSH(L->arena, &L->op->required, ((tensor_require){text.data, holds, e->at}));
}

static bool require_sizes_only(lowering *L, tensor_expr e, span at) {
    const tensor_node n = *tensor_node_at(L->op, e);
    if (n.op == TENSOR_LOAD_OP || n.op == TENSOR_DIV_OP || n.type.type == DT_F32 ||
        n.type.type == DT_F64) {
        diag(L->ds, E0505, n.at.hi ? n.at : at,
             "a precondition is about sizes and maps, in integers");
        return false;
    }
    for (uint32_t i = 0; i < n.nargs; i++)
        if (!require_sizes_only(L, n.args[i], at)) return false;
    return true;
}

void signature_require(lowering *L, scope *s, const ast_item *op) {
    uint32_t first = L->op->required.len;
    L->conditions = true;
    for (const ast_expr *e = op->where; e; e = e->next) require_one(L, s, e);
    L->conditions = false;
    for (uint32_t i = first; i < L->op->required.len; i++)
        require_sizes_only(L, L->op->required.data[i].holds, L->op->required.data[i].at);
}

bool signature_declare(lowering *L, scope *s, const ast_item *op, const ast_names *generics,
                       const char *shown) {
    if (!bind_generics(L, s, op, generics, shown)) return false;
    bool ok = true;
    for (const ast_param *p = op->params; p; p = p->next) ok &= declare_param(L, s, p, false);
    for (const ast_param *p = op->results; p; p = p->next) ok &= declare_param(L, s, p, true);
    L->op->nparams = L->op->vals.len;
    if (!ok) return false;
    for (const ast_param *p = op->params; p; p = p->next) apply_facts(L, s, p);
    for (const ast_param *p = op->results; p; p = p->next) apply_facts(L, s, p);
    for (tensor_val v = 0; v < L->op->nparams; v++)
        if (L->op->vals.data[v].type == DT_F64) L->real = DT_F64;
    signature_require(L, s, op);
    return true;
}
