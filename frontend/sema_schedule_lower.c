// Keys and factors of a schedule as tensor IR: over one index, a variable of its own, in a copy of
// the op. The reductions in them, such as the sum that degree(dst, v) is, become stages that the op
// does not compute.
//     order v by degree(dst, v)  →  key = load(rows.order.sum, v)
//                                   rows.order.sum[v] = sum {e : dst(e) == v} 1
#include "sema_equation.h"
#include "sema_schedule_names.h"
#include "sema_schedule_resolve.h"
#include <string.h>

// ---- Lets ---------------------------------------------------------------------------------------
const ast_subject *schedule_first_choice(const schedule_checker *c, const ast_subject *x) {
    for (const char *name; (name = schedule_name_of(x)) != NULL;) {
        const schedule_let *let = schedule_let_find(c, name);
        if (!let) break;
        x = let->value;
    }
    return x;
}

static ast_expr *subject_expr(arena *a, const ast_subject *x) {
    ast_expr *e = ARENA_NEW(a, ast_expr);
    if (x->expr) *e = *x->expr;
    else *e = (ast_expr){.kind = AST_NAME, .at = x->at, .name = x->path->name};
    e->next = NULL;
    return e;
}

// The expression with each let replaced by its first choice.
static ast_expr *without_lets(arena *a, const schedule_checker *c, const ast_expr *e) {
    ast_expr *copy = ARENA_NEW(a, ast_expr), **end = &copy->args;
    const schedule_let *let = e->kind == AST_NAME ? schedule_let_find(c, e->name.text) : NULL;
    if (let) {
        *copy = (ast_expr){.kind = AST_PAREN, .at = e->at};
        copy->args = without_lets(a, c, subject_expr(a, schedule_first_choice(c, let->value)));
        return copy;
    }
    *copy = *e;
    for (const ast_expr *x = e->args; x; x = x->next, end = &(*end)->next)
        *end = without_lets(a, c, x);
    *end = NULL;
    copy->next = NULL;
    return copy;
}

// ---- What names stand for -----------------------------------------------------------------------
static void declare_generics(lowering *L, const schedule_place *p, scope *names) {
    for (const ast_generic *g = p->op->body->generics; g; g = g->next)
        if (!g->kind.text || strcmp(g->kind.text, "size"))
            generic_bind(L, names, g, schedule_generic_value(p, g), g->name.at);
}

static void declare_names(lowering *L, scope *names) {
    const tensor_op *op = L->op;
    for (tensor_space s = 0; s < op->spaces.len; s++)
        scope_add(L->arena, names,
                  (entity){.kind = ENT_SPACE,
                           .name = intern(L->s->names, op->spaces.data[s].name),
                           .at = op->spaces.data[s].at,
                           .space = s});
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        if (i->type == DT_F64) L->real = DT_F64;
        if (i->role != VAL_RESULT)
            scope_add(L->arena, names,
                      (entity){.kind = ENT_VALUE,
                               .name = intern(L->s->names, i->name),
                               .at = i->at,
                               .val = v});
    }
}

static bool declare_index(lowering *L, scope *names, const schedule_key_place *k,
                          tensor_space space, span at, tensor_var *out) {
    index_info *i = ARENA_NEW(L->arena, index_info);
    *out = tensor_add_var(L->op, k->index, space);
    *i = (index_info){.name = k->index, .at = at, .space = space, .found_at = at, .var = *out};
    scope_add(L->arena, names, (entity){.kind = ENT_INDEX, .name = k->index, .at = at, .index = i});
    VEC_PUSH(L->arena, &L->eq.open, *out);
    return true;
}

// The space of the index it is over: that of a key's map, or what its stages say.
static bool find_space(const schedule_key_place *k, const tensor_val_info *map, span at,
                       tensor_space *out) {
    if (map) return *out = map->axes[0], true;
    if (schedule_index_space(k->c, k->stage, k->index, out)) return true;
    diag(k->c->ds, E0516, at, "'%s' is no index of '%s' as it is compiled here", k->index,
         k->c->op->item->name.text);
    return false;
}

// The index that a factor uses; NULL: none.
static const char *index_in(const schedule_checker *c, const ast_expr *e) {
    if (e->kind == AST_NAME && !schedule_value_find(c, e->name.text) &&
        schedule_is_index(c, e->name.text))
        return e->name.text;
    const char *found = NULL;
    for (const ast_expr *a = e->args; a && !found; a = a->next) found = index_in(c, a);
    return found;
}

// ---- Lowering -----------------------------------------------------------------------------------
static ast_expr *index_expr(arena *a, const char *index, span at) {
    ast_expr *e = ARENA_NEW(a, ast_expr);
    *e = (ast_expr){.kind = AST_NAME, .at = at, .name = {index, at}};
    return e;
}

// "by dst" is dst[e].
static const tensor_val_info *named_map(const schedule_key_place *k, const ast_expr *e) {
    const tensor_val_info *v = e->kind == AST_NAME && k->index
                                   ? schedule_value_find(k->c, e->name.text)
                                   : NULL;
    return v && v->type == DT_INDEX && v->rank == 1 ? v : NULL;
}

static void take_stages(lowering *L, uint32_t first, schedule *s) {
    for (uint32_t i = first; i < L->op->stages.len; i++)
        VEC_PUSH(L->arena, &s->stages, L->op->stages.data[i]);
    L->op->stages.len = first;
}

void schedule_key_lower(schedule_resolver *r, const schedule_key_place *place, const ast_subject *x,
                        schedule *s, schedule_value *v) {
    schedule_key_place k = *place;
    frontend_unit *u = r->unit;
    tensor_op **op = s->canonical ? &r->canonical_op : &r->op;
    if (!*op) *op = tensor_op_copy(u->arena, k.c->op->op);
    lowering L = {.s = u->sema,
                  .arena = u->arena,
                  .ds = u->ds,
                  .op = *op,
                  .real = DT_F32,
                  .loop = TENSOR_NO_LOOP};
    ast_expr *e = without_lets(u->arena, k.c, subject_expr(u->arena, x));
    textbuf text = textbuf_new(u->arena);
    scope names = {0};
    tensor_space space;
    ast_print_expr(&text, e);
    v->text = text.data;
    const tensor_val_info *map = named_map(&k, e);
    if (!k.index) k.index = index_in(k.c, e);
    if (k.index && !find_space(&k, map, x->at, &space)) return;
    declare_generics(&L, &r->place, &names);
    declare_names(&L, &names);
    if (k.index) declare_index(&L, &names, &k, space, x->at, &v->var);
    schedule_ids *ids = ARENA_NEW(u->arena, schedule_ids);
    if (k.index) *ids = schedule_index_ids(k.c, k.stage, k.index);
    v->ids = ids;
    tensor_val named = map ? (tensor_val)(map - k.c->op->op->vals.data) : 0;
    if (named >= L.op->nparams) {   // an equation of the op computes it
        tensor_expr at = tensor_var_expr(L.op, v->var, e->at);
        v->key = tensor_load(L.op, named, &at, 1, e->at);
        return;
    }
    if (map) {
        e->kind = AST_REF;
        e->args = index_expr(u->arena, k.index, x->at);
    }
    uint32_t stages = L.op->stages.len;
    const ast_expr *one = e;
    L.eq.stage_base = k.base;
    lowering_enter(&L);
    infer_fix(&L, &names, &one, 1);
    value key = lower_expr(&L, &names, e);
    v->key = key.kind == VALUE_PLAIN ? key.expr : value_number(&L, key, e->at);
    take_stages(&L, stages, s);
}
