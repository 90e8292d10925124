// A manifest's text to the tables of a program. The text is untrusted: every reference is checked,
// every message tells the row. First all names, then what the rows say, as rows of one table name
// those of others.
#include "manifest.h"

#include <stdio.h>
#include <string.h>

// "params[1] (dst): "
static void tell_row(const rt_row *r, char *out, size_t size) {
    const char *name = rt_json_text(rt_json_get(r->object, "name"));
    snprintf(out, size, "%s[%u]%s%.60s%s: ", r->table, r->i, name ? " (" : "", name ? name : "",
             name ? ")" : "");
}

gnn_status rt_row_bad(const rt_row *r, const char *format, ...) {
    char text[300], row[100], in[100] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (r->in) tell_row(r->in, in, sizeof in);
    tell_row(r, row, sizeof row);
    return rt_fail(r->p->c, GNN_BAD_MANIFEST, "manifest: %s%s%s", in, row, text);
}

// ---- Members ------------------------------------------------------------------------------------
gnn_status rt_row_string(const rt_row *r, const char *key, const char **out) {
    *out = rt_json_text(rt_json_get(r->object, key));
    return *out ? GNN_OK : rt_row_bad(r, "needs a text \"%s\"", key);
}

gnn_status rt_row_int(const rt_row *r, const char *key, int64_t low, int64_t high, int64_t *out) {
    const rt_json *j = rt_json_get(r->object, key);
    *out = rt_json_int(j);
    if (!rt_json_is_int(j) || *out < low || *out > high)
        return rt_row_bad(r, "needs an integer \"%s\" from %lld to %lld", key, (long long)low,
                          (long long)high);
    return GNN_OK;
}

gnn_status rt_row_int_or(const rt_row *r, const char *key, int64_t low, int64_t high,
                         int64_t fallback, int64_t *out) {
    *out = fallback;
    return rt_json_get(r->object, key) ? rt_row_int(r, key, low, high, out) : GNN_OK;
}

gnn_status rt_row_list(const rt_row *r, const char *key, size_t most, const rt_json **out) {
    *out = rt_json_get(r->object, key);
    if (*out && (!rt_json_is_list(*out) || rt_json_count(*out) > most))
        return rt_row_bad(r, "\"%s\" must be a list of at most %zu", key, most);
    return GNN_OK;
}

int rt_find(const void *rows, uint32_t count, size_t stride, const char *text, size_t length) {
    for (uint32_t i = 0; i < count; i++) {
        const char *name = *(const char *const *)((const char *)rows + i * stride);
        if (name && !strncmp(name, text, length) && !name[length]) return (int)i;
    }
    return -1;
}

static int find_space(const void *program, const char *text, size_t length) {
    const gnn_program *p = program;
    return rt_find(p->spaces, p->nspaces, sizeof *p->spaces, text, length);
}

static int find_map(const void *program, const char *text, size_t length) {
    const gnn_program *p = program;
    int i = rt_find(p->params, p->nparams, sizeof *p->params, text, length);
    return i >= 0 && p->params[i].role == GNN_PARAM_MAP ? i : -1;
}

rt_scope rt_program_scope(const gnn_program *p) { return (rt_scope){find_space, find_map, p}; }

gnn_status rt_row_expr(const rt_row *r, const char *key, rt_expr *out) {
    const char *text;
    gnn_status s = rt_row_string(r, key, &text);
    if (s) return s;
    char at[64];
    const rt_scope scope = rt_program_scope(r->p);
    const char *wrong = rt_expr_parse(&r->p->heap, text, &scope, out, at);
    if (wrong && !out->tokens) return GNN_NO_MEMORY;
    return wrong ? rt_row_bad(r, "\"%s\": `%s` %s", key, at, wrong) : GNN_OK;
}

gnn_status rt_row_space(const rt_row *r, const char *what, const rt_json *name, uint32_t *out) {
    const char *text = rt_json_text(name);
    int i = text ? find_space(r->p, text, strlen(text)) : -1;
    *out = (uint32_t)i;
    return i < 0 ? rt_row_bad(r, "%s: there is no space `%.60s`", what, text ? text : "?") : GNN_OK;
}

gnn_status rt_row_param(const rt_row *r, const char *what, const rt_json *name, uint32_t *out) {
    const char *text = rt_json_text(name);
    int i = text ? rt_find(r->p->params, r->p->nparams, sizeof *r->p->params, text, strlen(text))
                 : -1;
    *out = (uint32_t)i;
    return i < 0 ? rt_row_bad(r, "%s: there is no parameter `%.60s`", what, text ? text : "?")
                 : GNN_OK;
}

// ---- Tables -------------------------------------------------------------------------------------
typedef struct {
    const char *key;
    size_t stride, rows, count;   // of the row; where in gnn_program
    const char *name;             // the member that names a row; NULL: rows have no name
    gnn_status (*read)(const rt_row *r);
} table;
#define TABLE(key, field, row, name, read)                                                         \
    {key, sizeof(row), offsetof(gnn_program, field), offsetof(gnn_program, n##field), name, read}
// Roles of parameters are read with the names, so that expressions know maps.
static const table tables[] = {
    TABLE("params", params, rt_param, "name", rt_read_param),
    TABLE("spaces", spaces, rt_space, "name", rt_read_space),
    TABLE("requires", required, rt_require, NULL, rt_read_require),
    TABLE("prepared", prepared, rt_prepared, "name", rt_read_prepared),
    TABLE("temps", temps, rt_temp, "name", rt_read_temp),
    TABLE("kernels", kernels, rt_kernel, "name", rt_read_kernel),
    TABLE("versions", versions, rt_version, "name", rt_read_version),
};

static gnn_status name_row(const table *t, const rt_row *r, void *rows) {
    if (!rt_json_is_object(r->object)) return rt_row_bad(r, "is not an object");
    if (!t->name) return GNN_OK;
    const char *name;
    gnn_status s = rt_row_string(r, t->name, &name);
    if (s) return s;
    if (!*name || rt_find(rows, r->i, t->stride, name, strlen(name)) >= 0)
        return rt_row_bad(r, *name ? "the name stands twice" : "the name is empty");
    *(const char **)((char *)rows + r->i * t->stride) = name;
    return GNN_OK;
}

static gnn_status name_rows(gnn_program *p, const table *t) {
    const rt_json *list = rt_json_get(p->json, t->key);
    size_t n = rt_json_count(list);
    if (list && !rt_json_is_list(list))
        return rt_fail(p->c, GNN_BAD_MANIFEST, "manifest: \"%s\" is not a list", t->key);
    if (n > RT_MAX_ROWS)
        return rt_fail(p->c, GNN_BAD_MANIFEST, "manifest: \"%s\" has more than %d rows", t->key,
                       RT_MAX_ROWS);
    void *rows = rt_heap_alloc(&p->heap, n, t->stride);
    if (!rows) return GNN_NO_MEMORY;
    memcpy((char *)p + t->rows, &rows, sizeof rows);
    *(uint32_t *)((char *)p + t->count) = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        gnn_status s = name_row(t, &(rt_row){p, rt_json_at(list, i), t->key, (uint32_t)i, NULL},
                                rows);
        if (s) return s;
    }
    return GNN_OK;
}

static gnn_status read_rows(gnn_program *p, const table *t) {
    const rt_json *list = rt_json_get(p->json, t->key);
    for (uint32_t i = 0; i < *(uint32_t *)((char *)p + t->count); i++) {
        gnn_status s = t->read(&(rt_row){p, rt_json_at(list, i), t->key, i, NULL});
        if (s) return s;
    }
    return GNN_OK;
}

static gnn_status check_counted(gnn_program *p) {
    for (uint32_t i = 0; i < p->nspaces; i++) {
        const rt_space *s = &p->spaces[i];
        if (s->kind == RT_COUNTED &&
            (!rt_counts(p->prepared[s->prepared].builder) || p->prepared[s->prepared].into != i))
            return rt_fail(p->c, GNN_BAD_MANIFEST,
                           "manifest: spaces[%u] (%.60s): `%.60s` doesn't count it", i, s->name,
                           p->prepared[s->prepared].name);
    }
    return GNN_OK;
}

static gnn_status read_head(gnn_program *p, const rt_json *root) {
    gnn_context *c = p->c;
    const rt_json *version = rt_json_get(root, "gnnc_manifest");
    if (!rt_json_is_int(version))
        return rt_fail(c, GNN_BAD_MANIFEST,
                       "manifest: the text isn't a manifest: it lacks \"gnnc_manifest\"");
    if (rt_json_int(version) != 1)
        return rt_fail(c, GNN_BAD_MANIFEST, "manifest: version %lld; this runtime reads version 1",
                       (long long)rt_json_int(version));
    p->name = rt_json_text(rt_json_get(root, "name"));
    p->made.target = rt_json_text(rt_json_get(root, "target"));
    int64_t bits = rt_json_int(rt_json_get(root, "index_bits"));
    p->made.deterministic = rt_json_is_true(rt_json_get(root, "deterministic"));
    p->made.saved = rt_json_is_true(rt_json_get(root, "saved"));
    p->made.gradient_of = rt_json_text(rt_json_get(root, "gradient_of"));
    if (!p->name || !p->made.target)
        return rt_fail(c, GNN_BAD_MANIFEST, "manifest: \"name\" and \"target\" must be texts");
    if (bits != 32 && bits != 64)
        return rt_fail(c, GNN_BAD_MANIFEST, "manifest: \"index_bits\" must be 32 or 64");
    p->made.index_bits = (uint32_t)bits;
    return GNN_OK;
}

static gnn_status read_roles(gnn_program *p) {
    static const char *const roles[] = {[GNN_PARAM_MAP] = "map",
                                        [GNN_PARAM_TENSOR] = "tensor",
                                        [GNN_PARAM_SCALAR] = "scalar",
                                        [GNN_PARAM_RESULT] = "result"};
    const rt_json *list = rt_json_get(p->json, "params");
    for (uint32_t i = 0; i < p->nparams; i++) {
        const rt_row r = {p, rt_json_at(list, i), "params", i, NULL};
        const char *text;
        gnn_status s = rt_row_string(&r, "role", &text);
        if (s) return s;
        int role = rt_find(roles, (uint32_t)RT_COUNT(roles), sizeof *roles, text, strlen(text));
        if (role < 0) return rt_row_bad(&r, "there is no role `%.60s`", text);
        p->params[i].role = (gnn_role)role;
    }
    return GNN_OK;
}

gnn_status rt_manifest_read(gnn_program *p, const char *text, size_t length) {
    rt_json_fault fault;
    const rt_json *root = rt_json_read(&p->heap, text, length, &fault);
    if (!root && !fault.text) return GNN_NO_MEMORY;
    if (!root)
        return rt_fail(p->c, GNN_BAD_MANIFEST, "manifest, line %d: %s", fault.line, fault.text);
    p->json = root;
    gnn_status s = read_head(p, root);
    for (size_t i = 0; i < RT_COUNT(tables) && !s; i++) s = name_rows(p, &tables[i]);
    if (!s) s = read_roles(p);
    if (!s) s = rt_read_choice(p);
    for (size_t i = 0; i < RT_COUNT(tables) && !s; i++) s = read_rows(p, &tables[i]);
    if (!s) s = check_counted(p);
    return s ? s : rt_check_versions(p);
}

void rt_manifest_free(gnn_program *p) { rt_heap_free(&p->heap); }
