// What the names of a schedule stand for: stages, indices and values of the lowered op. Gradients
// are not derived yet when schedules are checked, so a gradient's stages, indices and values are
// taken as they are.
#include "sema_schedule_names.h"
#include <string.h>

static bool unknowable(const schedule_checker *c) { return c->op->gradient || !c->op->op; }

static bool listed(const schedule_names *names, const char *name) {
    for (uint32_t i = 0; i < names->len; i++)
        if (!strcmp(names->data[i], name)) return true;
    return false;
}

void schedule_suggest(schedule_checker *c, diagnostic *d, span at, const char *name,
                      const schedule_names *there, const char *what) {
    if (diag_suggest(d, at, name, there->data, there->len)) return;
    textbuf b = textbuf_new(c->s->arena);
    for (uint32_t i = 0; i < there->len && i < 12; i++)
        textbuf_printf(&b, "%s%s", i ? ", " : "", there->data[i]);
    if (there->len) diag_help(d, "%s: %s%s", what, b.data, there->len > 12 ? ", …" : "");
    else diag_help(d, "%s: none", what);
}

schedule_let *schedule_let_find(const schedule_checker *c, const char *name) {
    for (uint32_t i = 0; i < c->lets.len; i++)
        if (c->lets.data[i].name.text == name) return &c->lets.data[i];
    return NULL;
}

// ---- Paths --------------------------------------------------------------------------------------
bool schedule_path_covers(const char *path, const char *stage) {
    if (!path) return true;
    if (!stage) return false;
    while (*path && *path == *stage) path++, stage++;
    return !*path && (!*stage || *stage == '.');
}

// ---- Stages -------------------------------------------------------------------------------------
// NULL: none does.
static const char *stage_that_writes(const tensor_op *op, const tensor_val_info *v) {
    for (uint32_t i = 0; i < op->stages.len; i++)
        for (uint32_t t = 0; t < op->stages.data[i].ntargets; t++)
            if (&op->vals.data[op->stages.data[i].targets[t].val] == v)
                return op->stages.data[i].name;
    return NULL;
}

// An equation writes it, but no result needs any stage of it.
static bool never_used(const schedule_checker *c, const char *path) {
    size_t n = strcspn(path, ".");
    const char *whole = arena_strndup(c->s->arena, path, n);
    for (uint32_t i = 0; i < c->op->op->stages.len; i++)
        if (schedule_path_covers(whole, c->op->op->stages.data[i].name)) return false;
    for (const ast_equation *e = c->op->body ? c->op->body->equations : NULL; e; e = e->next)
        for (const ast_expr *t = e->targets; t; t = t->next)
            if (t->name.text && !strncmp(t->name.text, path, n) && !t->name.text[n]) return true;
    return false;
}

bool schedule_stage_known(schedule_checker *c, const char *path, span at) {
    if (unknowable(c)) return true;
    const tensor_op *op = c->op->op;
    schedule_names there = {0};
    if (schedule_made_of(c, path)) return true;
    for (uint32_t i = 0; i < op->stages.len; i++) {
        const char *name = op->stages.data[i].name;
        if (schedule_path_covers(path, name)) return true;
        VEC_PUSH(c->s->arena, &there, name);
    }
    const tensor_val_info *v = schedule_value_find(c, path);
    const char *beside = v ? stage_that_writes(op, v) : NULL;
    if (!v && never_used(c, path)) {
        diag_help(diag(c->s->ds, E0515, at, "no result needs '%s', so nothing computes it", path),
                  "leave it out, here and in the op");
        return false;
    }
    diagnostic *d = beside ? diag(c->s->ds, E0515, at,
                                  "'%s' is not a stage: stage '%s' computes it too", path, beside)
                           : diag(c->s->ds, E0515, at,
                                  v ? "'%s' is a parameter of '%s', not a stage"
                                    : "'%s' is no stage of '%s'",
                                  path, c->op->path);
    if (v) diag_note(d, v->at, "'%s' is declared here", path);
    schedule_suggest(c, d, at, path, &there, "its stages");
    return false;
}

// ---- Indices ------------------------------------------------------------------------------------
// Indices that lowering made of one, such as k' of a gradient's k, are called like that one.
static bool var_is(const tensor_op *op, tensor_var v, const char *name) {
    const char *own = op->vars.data[v].name;
    const size_t n = strlen(name);
    return !strncmp(own, name, n) && (!own[n] || own[n] == '\'');
}

static tensor_var var_at(const tensor_stage *st, uint32_t i) {
    return i < st->nleft ? st->left[i] : st->bound[i - st->nleft];
}

typedef struct {
    const schedule_checker *c;
    const char *path, *name;
    bool bound_only;
    tensor_space space;   // TENSOR_NO_SPACE: any
} index_search;

static bool stage_has(const index_search *q, const tensor_stage *st) {
    const tensor_op *op = q->c->op->op;
    for (uint32_t i = 0; i < st->nleft + st->nbound; i++) {
        bool left = i < st->nleft;
        tensor_var v = var_at(st, i);
        if ((left && q->bound_only) || !var_is(op, v, q->name)) continue;
        if (q->space == TENSOR_NO_SPACE || op->vars.data[v].space == q->space) return true;
    }
    tensor_space rows = schedule_made_index(op, st, q->path, q->name);
    return rows != TENSOR_NO_SPACE && (q->space == TENSOR_NO_SPACE || rows == q->space);
}

bool schedule_reduces(const schedule_checker *c, const tensor_stage *st, const char *name) {
    return stage_has(
        &(index_search){.c = c, .name = name, .bound_only = true, .space = TENSOR_NO_SPACE}, st);
}

static bool found(const index_search *q) {
    const tensor_op *op = q->c->op->op;
    const char *of = schedule_made_of(q->c, q->path), *path = of ? of : q->path;
    for (uint32_t i = 0; i < op->stages.len; i++)
        if (schedule_path_covers(path, op->stages.data[i].name) &&
            stage_has(q, &op->stages.data[i]))
            return true;
    return false;
}

bool schedule_is_index(const schedule_checker *c, const char *name) {
    return c->op->op && found(&(index_search){.c = c, .name = name, .space = TENSOR_NO_SPACE});
}

bool schedule_index_space(const schedule_checker *c, const char *stage, const char *name,
                          tensor_space *out) {
    const tensor_op *op = c->op->op;
    const char *of = schedule_made_of(c, stage), *path = of ? of : stage;
    for (uint32_t i = 0; i < op->stages.len; i++) {
        const tensor_stage *st = &op->stages.data[i];
        if (!schedule_path_covers(path, st->name)) continue;
        tensor_space rows = schedule_made_index(op, st, stage, name);
        if (rows != TENSOR_NO_SPACE) return *out = rows, true;
        for (uint32_t k = 0; k < st->nleft + st->nbound; k++) {
            tensor_var v = var_at(st, k);
            if (var_is(op, v, name)) return *out = op->vars.data[v].space, true;
        }
    }
    return false;
}

typedef VEC(tensor_id) id_list;

static void add_id(arena *a, id_list *to, tensor_id id) {
    if (!schedule_means((schedule_ids){to->len, to->data}, id)) VEC_PUSH(a, to, id);
}

schedule_ids schedule_index_ids(const schedule_checker *c, const char *stage, const char *name) {
    const tensor_op *op = c->op->op;
    const char *of = schedule_made_of(c, stage), *path = of ? of : stage;
    id_list ids = {0};
    for (uint32_t i = 0; i < op->stages.len; i++) {
        const tensor_stage *st = &op->stages.data[i];
        if (!schedule_path_covers(path, st->name)) continue;
        for (uint32_t k = 0; k < st->nleft + st->nbound; k++)
            if (var_is(op, var_at(st, k), name))
                add_id(c->s->arena, &ids, op->vars.data[var_at(st, k)].id);
        if (schedule_made_index(op, st, stage, name) != TENSOR_NO_SPACE)
            add_id(c->s->arena, &ids, schedule_made_id(op, st, of ? stage : NULL, name));
    }
    return (schedule_ids){ids.len, ids.data};
}

static bool schedule_index_lies_in(const schedule_checker *c, const char *name, tensor_space s) {
    if (unknowable(c)) return true;
    for (uint32_t i = 0; i < c->prefixes->len; i++)
        if (found(&(index_search){
                .c = c, .path = c->prefixes->data[i].path, .name = name, .space = s}))
            return true;
    return false;
}

static void list_indices(schedule_checker *c, const char *path, schedule_names *out) {
    const tensor_op *op = c->op->op;
    for (uint32_t i = 0; i < op->stages.len; i++) {
        const tensor_stage *st = &op->stages.data[i];
        if (!schedule_path_covers(path, st->name)) continue;
        for (uint32_t k = 0; k < st->nleft + st->nbound; k++) {
            const char *own = op->vars.data[var_at(st, k)].name,
                       *name = arena_strndup(c->s->arena, own, strcspn(own, "'"));
            if (!listed(out, name)) VEC_PUSH(c->s->arena, out, name);
        }
    }
}

static const tensor_stage *stage_at(const tensor_op *op, const char *path) {
    for (uint32_t i = 0; path && i < op->stages.len; i++)
        if (schedule_path_covers(path, op->stages.data[i].name)) return &op->stages.data[i];
    return NULL;
}

static void report_index(schedule_checker *c, const schedule_prefix *p, const char *name, span at,
                         bool exists) {
    const char *of = p->path && !c->any ? p->path : c->op->path;
    const tensor_stage *st = stage_at(c->op->op, p->path);
    diagnostic *d = c->any ? diag(c->s->ds, E0516, at, "'%s' is no index of the stages fused", name)
                    : exists
                        ? diag(c->s->ds, E0516, at, "'%s' is not reduced over in '%s'", name, of)
                        : diag(c->s->ds, E0516, at, "'%s' is no index of '%s'", name, of);
    if (st && st->at.hi) diag_note(d, st->at, "'%s' is computed here", st->name);
    schedule_names there = {0};
    for (uint32_t i = 0; i < c->prefixes->len; i++)
        if (c->any || &c->prefixes->data[i] == p)
            list_indices(c, c->prefixes->data[i].path, &there);
    if (!exists) schedule_suggest(c, d, at, name, &there, "its indices");
}

bool schedule_index_known(schedule_checker *c, const char *name, span at, bool reduced) {
    if (unknowable(c)) return true;
    bool good = true;
    for (uint32_t i = 0; i < c->prefixes->len; i++) {
        const schedule_prefix *p = &c->prefixes->data[i];
        index_search q = {
            .c = c, .path = p->path, .name = name, .bound_only = reduced, .space = TENSOR_NO_SPACE};
        bool here = p->unknown || found(&q);
        if (here && c->any) return true;
        q.bound_only = false;
        if (!here && (!c->any || i + 1 == c->prefixes->len))
            report_index(c, p, name, at, reduced && found(&q)), good = false;
    }
    return good;
}

// ---- Values -------------------------------------------------------------------------------------
const tensor_val_info *schedule_value_find(const schedule_checker *c, const char *name) {
    const tensor_op *op = c->op->op;
    for (tensor_val v = 0; op && v < op->vals.len; v++)
        if (op->vals.data[v].role != VAL_CLASSES && !strcmp(op->vals.data[v].name, name))
            return &op->vals.data[v];
    return NULL;
}

static void report_value(schedule_checker *c, const char *name, span at, bool map) {
    const tensor_op *op = c->op->op;
    schedule_names there = {0};
    for (tensor_val v = 0; v < op->vals.len; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        bool fits = i->role != VAL_CLASSES && i->role != VAL_SCALAR &&
                    (!map || i->type == DT_INDEX);
        if (fits) VEC_PUSH(c->s->arena, &there, i->name);
    }
    diagnostic *d = diag(c->s->ds, E0517, at,
                         map ? "'%s' is no map of '%s'" : "'%s' is no tensor, map or stage of '%s'",
                         name, c->op->path);
    const tensor_val_info *v = schedule_value_find(c, name);
    if (v && v->at.hi) diag_note(d, v->at, "'%s' is declared here", name);
    schedule_suggest(c, d, at, v ? "" : name, &there, map ? "its maps" : "it has");
}

bool schedule_value_known(schedule_checker *c, const char *path, span at) {
    if (unknowable(c)) return true;
    const tensor_val_info *v = schedule_value_find(c, path);
    if (v && v->role == VAL_SCALAR) {
        diagnostic *d = diag(c->s->ds, E0517, at,
                             "'%s' is passed by value, so it lives nowhere else", path);
        diag_note(d, v->at, "'%s' is declared here", path);
        return false;
    }
    if (v || stage_at(c->op->op, path) || schedule_made_of(c, path)) return true;
    report_value(c, path, at, false);
    return false;
}

bool schedule_map_known(schedule_checker *c, const char *name, span at, bool of_index) {
    if (!c->op->op) return true;
    const tensor_val_info *v = schedule_value_find(c, name);
    if (!v || v->type != DT_INDEX) {
        report_value(c, name, at, true);
        return false;
    }
    bool known = of_index && c->index && !c->op->gradient && schedule_is_index(c, c->index);
    if (!known || (v->rank == 1 && schedule_index_lies_in(c, c->index, v->axes[0]))) return true;
    diagnostic *d = diag(c->s->ds, E0529, at, "'%s' is no map of what '%s' runs over", name,
                         c->index);
    if (v->rank == 1) diag_note(d, v->at, "it maps %s", c->op->op->spaces.data[v->axes[0]].name);
    return false;
}

bool schedule_is_size(const tensor_op *op, const char *name) {
    for (tensor_space s = 0; s < op->spaces.len; s++)
        if (op->spaces.data[s].kind != SPACE_COUNT_OF && !strcmp(op->spaces.data[s].name, name))
            return true;
    return false;
}
