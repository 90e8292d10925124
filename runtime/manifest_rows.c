// What the rows of a manifest say, but for its versions.
#include "manifest.h"

#include <string.h>

// ---- Spaces -------------------------------------------------------------------------------------
static gnn_status read_fixed(const rt_row *r, rt_space *space) {
    gnn_status s = rt_row_expr(r, "size", &space->size);
    for (uint32_t i = 0; i < space->size.count && !s; i++)
        if (rt_is_fact(space->size.tokens[i].kind))   // maps are read once sizes are known
            s = rt_row_bad(r, "a size can't be a statistic of maps or a number of the device");
    return s;
}

gnn_status rt_read_space(const rt_row *r) {
    static const struct {
        const char *text;
        rt_space_kind kind;
    } kinds[] = {{"free", RT_FREE}, {"const", RT_FIXED}, {"expr", RT_FIXED}, {"count", RT_COUNTED}};
    rt_space *space = &r->p->spaces[r->i];
    const char *text;
    gnn_status s = rt_row_string(r, "kind", &text);
    if (s) return s;
    int kind = rt_find(kinds, (uint32_t)RT_COUNT(kinds), sizeof *kinds, text, strlen(text));
    if (kind < 0) return rt_row_bad(r, "there is no kind `%.60s`", text);
    space->kind = kinds[kind].kind;
    if (space->kind == RT_FIXED) return read_fixed(r, space);
    int64_t prepared = 0;
    if (space->kind == RT_COUNTED)
        s = rt_row_int(r, "prepared", 0, (int64_t)r->p->nprepared - 1, &prepared);
    space->prepared = (uint32_t)prepared;
    return s;
}

// ---- Parameters ---------------------------------------------------------------------------------
static bool find_dtype(const char *text, gnn_dtype *out) {
    for (uint32_t t = 0; t < GNN_DTYPE_COUNT; t++)
        if (!strcmp(gnn_dtype_text((gnn_dtype)t), text)) {
            *out = (gnn_dtype)t;
            return true;
        }
    return false;
}

static gnn_status read_type(const rt_row *r, gnn_dtype *dtype, bool *is_index) {
    const char *text;
    gnn_status s = rt_row_string(r, "type", &text);
    if (s) return s;
    *is_index = !strcmp(text, "index");
    *dtype = r->p->made.index_bits == 32 ? GNN_I32 : GNN_I64;
    return *is_index || find_dtype(text, dtype) ? GNN_OK
                                                : rt_row_bad(r, "there is no type `%.60s`", text);
}

static gnn_status read_fact(const rt_row *r, rt_param *q, const char *text) {
    static const struct {
        const char *text;
        uint32_t fact;
    } facts[] = {{"sorted", RT_SORTED}, {"unique", RT_UNIQUE},   {"partial", RT_PARTIAL},
                 {"prefix", RT_PREFIX}, {"strided", RT_STRIDED}, {"packed", RT_PACKED},
                 {"saved", RT_SAVED},   {"given", RT_GIVEN}};
    size_t length = strlen(text);
    int i = rt_find(facts, (uint32_t)RT_COUNT(facts), sizeof *facts, text, length);
    if (i >= 0) {
        q->facts |= facts[i].fact;
        return GNN_OK;
    }
    const gnn_program *p = r->p;
    if (length < 9 || strncmp(text, "sorted(", 7) || text[length - 1] != ')')
        return rt_row_bad(r, "there is no fact `%.60s`", text);
    q->facts |= RT_SORTED;
    q->sorted_by = rt_find(p->params, p->nparams, sizeof *p->params, text + 7, length - 8);
    if (q->sorted_by < 0 || p->params[q->sorted_by].role != GNN_PARAM_MAP ||
        q == &p->params[q->sorted_by])
        return rt_row_bad(r, "`%.60s`: there is no such other map", text);
    return GNN_OK;
}

static gnn_status read_facts(const rt_row *r, rt_param *q) {
    const uint32_t of_maps = RT_SORTED | RT_UNIQUE | RT_PARTIAL | RT_PREFIX,
                   of_tensors = RT_STRIDED | RT_PACKED | RT_SAVED | RT_GIVEN;
    bool indices = q->role == GNN_PARAM_RESULT && q->is_index;
    const rt_json *list;
    gnn_status s = rt_row_list(r, "facts", 16, &list);
    for (size_t i = 0; i < rt_json_count(list) && !s; i++) {
        const char *text = rt_json_text(rt_json_at(list, i));
        s = text ? read_fact(r, q, text) : rt_row_bad(r, "\"facts\" must be texts");
    }
    if (s) return s;
    if (q->facts & ~(q->role == GNN_PARAM_MAP ? of_maps
                     : indices                ? of_tensors | RT_PARTIAL
                                              : of_tensors))
        return rt_row_bad(r, "has a fact its role cannot have");
    return GNN_OK;
}

static gnn_status read_axes(const rt_row *r, rt_param *q) {
    const rt_json *list;
    gnn_status s = rt_row_list(r, "axes", GNN_MAX_RANK, &list);
    if (s) return s;
    q->rank = (uint32_t)rt_json_count(list);
    q->axes = rt_heap_alloc(&r->p->heap, q->rank, sizeof *q->axes);
    if (!q->axes) return GNN_NO_MEMORY;
    for (uint32_t i = 0; i < q->rank && !s; i++)
        s = rt_row_space(r, "axes", rt_json_at(list, i), &q->axes[i]);
    if (!s && q->role == GNN_PARAM_SCALAR && q->rank) return rt_row_bad(r, "a scalar has no axes");
    if (!s && q->role == GNN_PARAM_MAP && !q->rank) return rt_row_bad(r, "a map needs axes");
    return s;
}

static gnn_status read_index(const rt_row *r, rt_param *q) {
    const rt_json *into = rt_json_get(r->object, "into");
    if (q->role == GNN_PARAM_MAP && !q->is_index)
        return rt_row_bad(r, "a map's type must be index");
    if (q->role == GNN_PARAM_TENSOR && q->is_index)
        return rt_row_bad(r, "a tensor's type can't be index: index arrays are maps");
    if (q->role == GNN_PARAM_MAP && !into) return rt_row_bad(r, "a map needs \"into\"");
    if (!into) return GNN_OK;
    if (!q->is_index) return rt_row_bad(r, "\"into\" is for indices");
    uint32_t space;
    gnn_status s = rt_row_space(r, "into", into, &space);
    q->into = (int32_t)space;
    return s;
}

static gnn_status read_inplace(const rt_row *r, rt_param *q) {
    const rt_json *name = rt_json_get(r->object, "inplace");
    if (!name) return GNN_OK;
    uint32_t other;
    gnn_status s = rt_row_param(r, "inplace", name, &other);
    if (s) return s;
    q->inplace = (int32_t)other;
    if (q->role != GNN_PARAM_RESULT || r->p->params[other].role != GNN_PARAM_TENSOR)
        return rt_row_bad(r, "\"inplace\" is for results in the memory of tensors");
    return GNN_OK;
}

gnn_status rt_read_param(const rt_row *r) {
    rt_param *q = &r->p->params[r->i];
    q->into = q->sorted_by = q->inplace = -1;
    int64_t align = 0;
    gnn_status s = read_type(r, &q->dtype, &q->is_index);
    if (!s) s = read_facts(r, q);
    if (!s) s = read_axes(r, q);
    if (!s) s = read_index(r, q);
    if (!s) s = rt_row_int_or(r, "align", 0, 4096, 0, &align);
    if (!s && (align & (align - 1))) return rt_row_bad(r, "\"align\" must be a power of two");
    size_t element = gnn_dtype_bytes(q->dtype);
    q->align = (size_t)align > element ? (size_t)align : element;
    if (!s && rt_json_get(r->object, "adjoint_of"))
        s = rt_row_string(r, "adjoint_of", &q->adjoint_of);
    return s ? s : read_inplace(r, q);
}

gnn_status rt_read_require(const rt_row *r) {
    rt_require *q = &r->p->required[r->i];
    gnn_status s = rt_row_string(r, "text", &q->text);
    return s ? s : rt_row_expr(r, "holds", &q->holds);
}

// ---- Prepared structures ------------------------------------------------------------------------
static gnn_status read_map_ref(const rt_row *r, const rt_json *name, rt_map_ref *out) {
    const gnn_program *p = r->p;
    const char *text = rt_json_text(name);
    if (!text) return rt_row_bad(r, "\"args\" must be texts");
    int i = rt_find(p->params, p->nparams, sizeof *p->params, text, strlen(text));
    if (i >= 0 && p->params[i].role == GNN_PARAM_MAP) {
        *out = (rt_map_ref){false, (uint32_t)i};
        return GNN_OK;
    }
    i = rt_find(p->prepared, r->i, sizeof *p->prepared, text, strlen(text));   // those before it
    if (i < 0)
        return rt_row_bad(r, "`%.60s` is neither a map nor a structure prepared before it", text);
    if (!rt_maps(p->prepared[i].builder)) return rt_row_bad(r, "`%.60s` is not a map", text);
    *out = (rt_map_ref){true, (uint32_t)i};
    return GNN_OK;
}

static gnn_status read_builder(const rt_row *r, rt_prepared *q) {
    static const struct {
        const char *text;
        uint32_t least, most;   // arguments
    } builders[] = {
#define X(name, text, least, most) [RT_##name] = {text, least, most},
        RT_BUILDERS(X)
#undef X
    };
    const char *text;
    gnn_status s = rt_row_string(r, "builder", &text);
    if (s) return s;
    int b = rt_find(builders, RT_BUILDER_COUNT, sizeof *builders, text, strlen(text));
    if (b < 0) return rt_row_bad(r, "there is no builder `%.60s`", text);
    q->builder = (rt_builder)b;
    if (q->nargs < builders[b].least || q->nargs > builders[b].most)
        return rt_row_bad(r, "%s takes %u to %u maps", text, builders[b].least, builders[b].most);
    return GNN_OK;
}

gnn_status rt_read_prepared(const rt_row *r) {
    rt_prepared *q = &r->p->prepared[r->i];
    const rt_json *args;
    gnn_status s = rt_row_list(r, "args", RT_MAX_MAPS, &args);
    if (s) return s;
    q->nargs = (uint32_t)rt_json_count(args);
    s = read_builder(r, q);
    if (s) return s;
    q->args = rt_heap_alloc(&r->p->heap, q->nargs, sizeof *q->args);
    if (!q->args) return GNN_NO_MEMORY;
    for (uint32_t i = 0; i < q->nargs && !s; i++)
        s = read_map_ref(r, rt_json_at(args, i), &q->args[i]);
    if (!s) s = rt_row_space(r, "domain", rt_json_get(r->object, "domain"), &q->domain);
    if (!s) s = rt_row_space(r, "into", rt_json_get(r->object, "into"), &q->into);
    if (!s && rt_counts(q->builder) &&
        (r->p->spaces[q->into].kind != RT_COUNTED || r->p->spaces[q->into].prepared != r->i))
        return rt_row_bad(r, "classes and tiles must count the space they are into");
    if (!s && !rt_json_get(r->object, "extent") != !rt_tiles(q->builder))
        return rt_row_bad(r, "tiles have an \"extent\", and they alone");
    const bool column = q->builder == RT_COLUMN;
    if (!s && rt_json_get(r->object, "slots") && !rt_blocks(q->builder) && !column)
        return rt_row_bad(r, "only columns and blocks of windows have \"slots\"");
    if (!s) s = rt_row_int_or(r, "slots", 1, column ? INT64_MAX : RT_MOST_SLOTS, 0, &q->slots);
    if (!s) s = rt_row_int_or(r, "extent", 1, INT64_MAX, 0, &q->extent);
    if (!s && column && q->slots >= q->extent)
        return rt_row_bad(r, "a column begins behind its map's first row");
    return s;
}

gnn_status rt_read_temp(const rt_row *r) {
    rt_temp *t = &r->p->temps[r->i];
    gnn_dtype dtype;
    bool is_index;
    gnn_status s = read_type(r, &dtype, &is_index);
    if (s) return s;
    t->bytes = gnn_dtype_bytes(dtype);
    return rt_row_expr(r, "length", &t->length);
}

gnn_status rt_read_kernel(const rt_row *r) {
    rt_kernel *k = &r->p->kernels[r->i];
    int64_t block, shared;
    const rt_json *params;
    gnn_status s = rt_row_int(r, "block", 1, 1024, &block);
    if (!s) s = rt_row_int_or(r, "shared", 0, INT32_MAX, 0, &shared);
    if (!s) s = rt_row_list(r, "params", RT_MAX_ARGS, &params);
    if (s) return s;
    k->block = (uint32_t)block;
    k->shared = (uint32_t)shared;
    k->nparams = (uint32_t)rt_json_count(params);
    return k->nparams ? GNN_OK : rt_row_bad(r, "\"params\" is empty: nothing would be stored");
}
