// A file with what it imports: items by name, the prelude before all, ops listed, one op lowered at
// a time.
#include "sema_gradient.h"
#include "sema_rules.h"
#include "sema_schedule.h"
#include <string.h>

// ---- Files --------------------------------------------------------------------------------------
typedef struct {
    sema *s;
    frontend_unit *u;
    uint32_t depth;
} loading;

static bool loaded(const sema *s, const char *path) {
    for (uint32_t i = 0; i < s->files.len; i++)
        if (!strcmp(s->files.data[i]->source->path, path)) return true;
    return false;
}

static void declare_items(sema *s, const ast_file *file);

static void load_text(loading *l, const char *path, const char *text, size_t length, bool main);

static const char *beside(arena *a, const char *importer, const char *name) {
    const char *slash = strrchr(importer, '/');
    return slash ? arena_printf(a, "%.*s/%s.gnn", (int)(slash - importer), importer, name)
                 : arena_printf(a, "%s.gnn", name);
}

static void note_import(sema *s, const char *from, const char *to) {
    VEC_PUSH(s->arena, &s->imports, ((import_edge){from, to}));
}

static bool suggest_library(sema *s, diagnostic *d, ast_name name) {
    VEC(const char *) files = {0};
    for (uint32_t i = 0; frontend_library_name(i); i++)
        VEC_PUSH(s->arena, &files,
                 arena_strndup(s->arena, frontend_library_name(i),
                               strcspn(frontend_library_name(i), ".")));
    const char *near = closest_name(name.text, files.data, files.len);
    if (near)
        diag_fix(d, name.at, arena_printf(s->arena, "\"%s\"", near), "did you mean \"%s\"?", near);
    return near;
}

// Looked for beside the importing file, then in -I folders, then in the library; spmm.gnn that
// imports "spmm" gets the library's.
static void load_import(loading *l, const ast_item *item, const char *importer) {
    sema *s = l->s;
    const char *name = item->name.text;
    size_t n = strlen(name);
    bool itself = false;
    if (n > 4 && !strcmp(name + n - 4, ".gnn")) name = arena_strndup(s->arena, name, n - 4);
    for (uint32_t i = 0; i <= s->options.ninclude_dirs; i++) {
        const char *path = i ? arena_printf(s->arena, "%s/%s.gnn", s->options.include_dirs[i - 1],
                                            name)
                             : beside(s->arena, importer, name);
        size_t length;
        itself |= !strcmp(path, importer);
        if (!strcmp(path, importer)) continue;
        if (loaded(s, path)) {
            note_import(s, importer, path);
            return;
        }
        const char *text = s->options.read
                               ? s->options.read(s->options.user, s->arena, path, &length)
                               : NULL;
        if (!text) continue;
        VEC_PUSH(s->arena, &l->u->dependencies, path);
        note_import(s, importer, path);
        load_text(l, path, text, length, false);
        return;
    }
    size_t length;
    const char *text = frontend_library_text(name, &length),
               *path = arena_printf(s->arena, "<library>/%s.gnn", name);
    if (text) note_import(s, importer, path);
    if (text && loaded(s, path)) return;
    if (text) {
        load_text(l, path, text, length, false);
        return;
    }
    diagnostic *d = diag(s->ds, E0606, item->name.at, "nothing to import is called '%s'", name);
    if (itself) diag_help(d, "but for this file, which does not import itself");
    else if (!suggest_library(s, d, item->name))
        diag_help(d, "looked beside this file, in -I folders and in the library");
}

static void load_text(loading *l, const char *path, const char *text, size_t length, bool main) {
    sema *s = l->s;
    const source_file *source = source_map_add(diag_sources(s->ds), path, text, length);
    if (!source) {
        diag(s->ds, E0607, NO_SPAN, "%s: too much source text in one run", path);
        return;
    }
    if (main) l->u->main = s->main = source;
    ast_file *file = ast_parse(s->arena, s->names, s->ds, source);
    VEC_PUSH(s->arena, &s->files, file);
    if (++l->depth > 100) diag(s->ds, E0607, NO_SPAN, "%s: imports nest too deeply", path);
    else
        for (const ast_item *i = file->items; i; i = i->next)
            if (i->kind == AST_IMPORT) load_import(l, i, path);
    l->depth--;
    declare_items(s, file);
}

// ---- Items --------------------------------------------------------------------------------------
static bool same_file(const sema *s, span a, span b) {
    return source_map_file(diag_sources(s->ds), a.lo) == source_map_file(diag_sources(s->ds), b.lo);
}

static void report_duplicate(sema *s, const ast_item *old, const ast_item *item) {
    diagnostic *d = diag(s->ds, E0202, item->name.at, "'%s' is declared twice", item->name.text);
    diag_note(d, old->name.at, "first here");
}

static bool reserved(const char *name) {
    static const char *const words[] = {"sum",  "prod", "max",  "min", "any",  "all",   "rand",
                                        "stop", "inf",  "none", "pi",  "true", "false", "id"};
    ir_dtype t;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(name, words[i])) return true;
    for (tensor_opcode op = 0; op < TENSOR_OP_COUNT; op++)
        if (tensor_op_table(op)->kind == TENSOR_MATHS && !strcmp(name, tensor_op_table(op)->text))
            return true;
    return sema_dtype(name, &t);
}

typedef VEC(const ast_item *) item_list;

static void declare_named(sema *s, item_list *list, const ast_item *item) {
    const ast_item *old = sema_find(list->data, list->len, item->name.text);
    if (old && same_file(s, old->name.at, item->name.at)) {
        report_duplicate(s, old, item);
        return;
    }
    if (item->kind != AST_OP && item->kind != AST_OP_ALIAS && reserved(item->name.text)) {
        diag(s->ds, E0202, item->name.at, "'%s' is built in", item->name.text);
        return;
    }
    VEC_PUSH(s->arena, list, item);
}

static void declare_items(sema *s, const ast_file *file) {
    for (const ast_item *i = file->items; i; i = i->next) switch (i->kind) {
        case AST_IMPORT: break;
        case AST_OP:
        case AST_OP_ALIAS: declare_named(s, (item_list *)&s->ops, i); break;
        case AST_FN: declare_named(s, (item_list *)&s->fns, i); break;
        case AST_REDUCER: declare_named(s, (item_list *)&s->reducers, i); break;
        case AST_GRAD: VEC_PUSH(s->arena, &s->grads, i); break;
        case AST_SCHEDULE: VEC_PUSH(s->arena, &s->schedules, i); break;
        case AST_CHOOSE: VEC_PUSH(s->arena, &s->choices, i); break;
        }
}

static bool can_be_asked_for(sema *s, const ast_item *op) {
    return op == sema_visible(s, s->ops.data, s->ops.len, op->name.text, NO_SPAN);
}

static void list_ops(frontend_unit *u) {
    sema *s = u->sema;
    for (int imported = 0; imported < 2; imported++)
        for (uint32_t i = 0; i < s->ops.len; i++) {
            const ast_item *item = s->ops.data[i];
            bool elsewhere = source_map_file(diag_sources(s->ds), item->name.at.lo) != u->main;
            if (elsewhere != imported || !can_be_asked_for(s, item)) continue;
            frontend_op op = {.name = item->name.text,
                              .path = item->name.text,
                              .item = item,
                              .imported = elsewhere,
                              .generic_left = sema_generic_left(s, item, true)};
            VEC_PUSH(u->arena, &u->ops, op);
        }
}

// Those of imported files are there by name.
static void list_gradients(frontend_unit *u) {
    sema *s = u->sema;
    for (uint32_t i = 0; i < s->grads.len; i++) {
        const ast_item *g = s->grads.data[i],
                       *item = g->path ? gradient_source(s, g->path, 0) : NULL;
        bool elsewhere = source_map_file(diag_sources(s->ds), g->at.lo) != u->main;
        if (!item || gradient_find(s, gradient_path(s, g)) != g) continue;
        const char *name = gradient_path(s, g);
        frontend_op op = {.name = name,
                          .path = name,
                          .item = item,
                          .grad = g,
                          .imported = elsewhere,
                          .generic_left = sema_generic_left(s, item, true)};
        VEC_PUSH(u->arena, &u->ops, op);
    }
}

uint32_t frontend_twin_of(const frontend_unit *u, uint32_t op) {
    for (uint32_t i = 0; i < u->ops.len; i++)
        if (u->ops.data[i].twin && u->ops.data[i].path == u->ops.data[op].path &&
            u->ops.data[op].twin == TWIN_NONE)
            return i;
    return UINT32_MAX;
}

static void add_twin(frontend_unit *u, uint32_t of, frontend_twin twin, const char *word) {
    if (frontend_twin_of(u, of) != UINT32_MAX) return;
    frontend_op op = u->ops.data[of];
    op.name = intern(u->names, arena_printf(u->arena, "%s.%s", op.name, word));
    op.twin = twin;
    VEC_PUSH(u->arena, &u->ops, op);
}

// Of a gradient of an op, not of one of a gradient, which computes all it needs.
static void list_twins(frontend_unit *u) {
    for (uint32_t g = 0, n = u->ops.len; g < n; g++) {
        const ast_item *grad = u->ops.data[g].grad;
        if (!grad || grad->path->next) continue;
        for (uint32_t i = 0; i < n; i++) {
            if (u->ops.data[i].grad || u->ops.data[i].item != u->ops.data[g].item) continue;
            add_twin(u, i, TWIN_SAVING, "saving");
            add_twin(u, g, TWIN_SAVED, "saved");
        }
    }
}

// ---- Declarations that name ops -----------------------------------------------------------------
static void check_alias(sema *s, const ast_item *item) {
    const ast_item *op = sema_op_body(s, item);
    if (op && op->kind == AST_OP) return;
    diagnostic *d = diag(s->ds, E0204, item->target.at,
                         op ? "'%s' is itself an alias" : "there is no op '%s'", item->target.text);
    if (op || !suggest_item(s, d, item->target, s->ops.data, s->ops.len, NULL))
        diag_help(d, "an alias names an op and binds its generics: op name = op<…>;");
}

// Of an op that is not the one which the main file means by that name: nobody can ask for it.
static bool is_hidden(sema *s, const ast_path *path) {
    const ast_item *op = path ? gradient_source(s, path, 0) : NULL;
    return op && !can_be_asked_for(s, op);
}

static void drop_hidden(sema *s, item_list *list) {
    item_list seen = {0};
    for (uint32_t i = 0; i < list->len; i++)
        if (!is_hidden(s, list->data[i]->path)) VEC_PUSH(s->arena, &seen, list->data[i]);
    *list = seen;
}

static void check_declarations(frontend_unit *u) {
    sema *s = u->sema;
    drop_hidden(s, (item_list *)&s->schedules);
    drop_hidden(s, (item_list *)&s->choices);
    drop_hidden(s, (item_list *)&s->grads);
    for (uint32_t i = 0; i < s->ops.len; i++)
        if (s->ops.data[i]->kind == AST_OP_ALIAS) check_alias(s, s->ops.data[i]);
    for (uint32_t i = 0; i < s->grads.len; i++) gradient_check(s, s->grads.data[i]);
}

frontend_unit *frontend_load(arena *a, diag_set *ds, const char *path, const char *text,
                             size_t length, const frontend_options *o) {
    frontend_unit *u = ARENA_NEW(a, frontend_unit);
    sema *s = u->sema = ARENA_NEW(a, sema);
    u->arena = s->arena = a;
    u->ds = s->ds = ds;
    u->names = s->names = intern_new(a);
    s->options = *o;
    s->raised = diag_raised(ds);
    s->defines_used = ARENA_ARRAY(a, bool, o->ndefines + 1);
    loading l = {s, u, 0};
    size_t n;
    const char *prelude = frontend_library_text("prelude", &n);
    if (prelude) load_text(&l, "<library>/prelude.gnn", prelude, n, false);
    load_text(&l, path, text, length, true);
    if (s->main) rules_load(u, path);
    if (diag_raised(ds) == s->raised) check_declarations(u);
    if (diag_raised(ds) != s->raised) return u;
    list_ops(u);
    list_gradients(u);
    list_twins(u);
    return u;
}

// ---- One op -------------------------------------------------------------------------------------
static tensor_op *lower_forward(sema *s, const ast_item *item, const char *source) {
    return sema_lower(s, item, sema_alias_names(item), false, source);
}

static tensor_op *lower_written(frontend_unit *u, uint32_t op) {
    const frontend_op *o = &u->ops.data[op];
    const char *source = u->main->name;
    if (o->twin == TWIN_SAVING)
        return saved_lower_forward(u->sema, o->item, lower_forward(u->sema, o->item, source));
    if (o->twin == TWIN_SAVED)
        return saved_lower_gradient(u->sema, o->grad,
                                    gradient_lower_source(u->sema, o->grad, lower_forward, source));
    return o->grad ? gradient_lower(u->sema, o->grad, lower_forward, source)
                   : lower_forward(u->sema, o->item, source);
}

// Gradients are derived from what was written: `ties first` goes by its order.
tensor_op *frontend_lower(frontend_unit *u, uint32_t op) {
    tensor_op *made = lower_written(u, op);
    if (made) sema_normalise(u->sema, made);
    return made;
}

const tensor_op *frontend_kept_of(frontend_unit *u, uint32_t op, frontend_kept_list *out) {
    const tensor_op *f = frontend_differentiated(u, op);
    return f && saved_list(u->sema, u->ops.data[op].grad, f, out) ? f : NULL;
}

tensor_op *frontend_differentiated(frontend_unit *u, uint32_t op) {
    const frontend_op *o = &u->ops.data[op];
    return o->grad ? gradient_lower_source(u->sema, o->grad, lower_forward, u->main->name) : NULL;
}

bool frontend_steps_of(frontend_unit *u, uint32_t op, frontend_steps *out) {
    for (const ast_item *g = u->ops.data[op].twin ? NULL : u->ops.data[op].grad; g;
         g = gradient_find(u->sema, schedule_path_text(u->sema, g->path))) {
        frontend_step s = {.op = gradient_lower_source(u->sema, g, lower_forward, u->main->name)};
        if (!s.op) return false;
        s.wrt = gradient_names(u->sema, g, s.op);
        VEC_PUSH(u->arena, out, s);
    }
    return true;
}

// ---- All of them --------------------------------------------------------------------------------
bool frontend_check(frontend_unit *u) {
    if (diag_raised(u->ds) != u->sema->raised) return false;
    for (uint32_t i = 0; i < u->ops.len; i++) {
        const ast_item *item = u->ops.data[i].item;
        if (u->ops.data[i].twin || u->ops.data[i].imported ||
            sema_generic_left(u->sema, item, false))
            continue;
        sema_lower(u->sema, item, sema_alias_names(item), true, u->main->name);
    }
    schedules_check(u->sema);
    return diag_raised(u->ds) == u->sema->raised;
}
