// gnnc run --pack=FILE: what would be launched goes into a file instead, with what the results may
// be: code, manifest, inputs, layouts, and for each element of each result an interval.
// bench/replay/ executes it on a machine that has a GPU and nothing else; bench/replay/README.md
// has the form.
#include "cache.h"
#include "run_memory.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// deflateInit2: the largest window, a gzip header
enum { FORM = 1, GZIP = 15 + 16, MOST_MEMORY = 9 };

typedef struct {
    size_t at, bytes;
} chunk;
struct run_pack {
    const char *path;
    textbuf out;    // the file's bytes so far
    textbuf data;   // of the op at hand
    VEC(chunk) chunks;
    json_t *runs, *versions;   // of the op; of the graph at hand, which lie in runs
    const run_graph *graph;    // that these versions are of
};

// ---- Data ---------------------------------------------------------------------------------------
// What is there already is not stored again: graphs share inputs, versions what they compute.
static json_t *chunk_of(run_op *o, const void *data, size_t bytes) {
    run_pack *p = o->r->pack;
    chunk new = {p->data.len, bytes};
    for (uint32_t i = 0; i < p->chunks.len; i++) {
        const chunk *x = &p->chunks.data[i];
        if (x->bytes == bytes && (!bytes || !memcmp(p->data.data + x->at, data, bytes)))
            return json_pack("[II]", (json_int_t)x->at, (json_int_t)bytes);
    }
    textbuf_putn(&p->data, data, bytes);
    VEC_PUSH(o->arena, &p->chunks, new);
    return json_pack("[II]", (json_int_t)new.at, (json_int_t)bytes);
}

static json_t *text_chunk(run_op *o, const char *text) { return chunk_of(o, text, strlen(text)); }

// ---- What a result may be -----------------------------------------------------------------------
// An element is a key: its bits, in the order of its values. NaN is the last; zeros are one.
static uint64_t ones(size_t bytes) {
    return bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * bytes) - 1;
}
static uint64_t sign(size_t bytes) { return (uint64_t)1 << (8 * bytes - 1); }

static double value_of_key(ir_dtype t, size_t bytes, uint64_t key) {
    uint64_t bits = key & sign(bytes) ? key & ~sign(bytes) : ~key & ones(bytes);
    return bind_load(t, &bits, 0);
}

static uint64_t key_of_value(ir_dtype t, size_t bytes, double x) {
    uint64_t bits = 0;
    bind_store(t, &bits, 0, x);
    return bits & sign(bytes) ? ~bits & ones(bytes) : bits | sign(bytes);
}

typedef struct {
    uint64_t low, high;   // keys
} interval;

// Whether a value of the type is too small, or too large, by the comparison that --check makes.
static bool beyond(double x, double value, double bound, bool below) {
    return (below ? x < value : x > value) && !(fabs(x - value) <= bound);
}

static interval float_interval(ir_dtype t, size_t bytes, double value, double bound) {
    if (isinf(bound)) return (interval){0, ones(bytes)};
    if (isnan(value)) return (interval){ones(bytes), ones(bytes)};
    const uint64_t least = key_of_value(t, bytes, -(double)INFINITY),
                   most = key_of_value(t, bytes, (double)INFINITY);
    if (isinf(value)) return value < 0 ? (interval){least, least} : (interval){most, most};
    interval x = {least + 1, most - 1};   // finite
    for (uint64_t end = x.high; x.low < end;) {
        uint64_t middle = x.low + (end - x.low) / 2;
        if (beyond(value_of_key(t, bytes, middle), value, bound, true)) x.low = middle + 1;
        else end = middle;
    }
    for (uint64_t end = x.low; end < x.high;) {
        uint64_t middle = x.high - (x.high - end) / 2;
        if (beyond(value_of_key(t, bytes, middle), value, bound, false)) x.high = middle - 1;
        else end = middle;
    }
    bool met = !beyond(value_of_key(t, bytes, x.low), value, bound, true) &&
               !beyond(value_of_key(t, bytes, x.low), value, bound, false);
    return met ? x
               // the type has no such value: any number is wrong
               : (interval){ones(bytes), ones(bytes)};
}

static interval interval_of(const tensor_evaluated *e, int64_t i, ir_dtype t, size_t bytes) {
    if (e->is_float) return float_interval(t, bytes, e->value[i], e->bound[i]);
    if (!e->certain[i]) return (interval){0, ones(bytes)};
    uint64_t key = ((uint64_t)e->integer[i] ^ (bytes == 1 ? 0 : sign(bytes))) & ones(bytes);
    return (interval){key, key};
}

// All lower ends, then how far the upper ones are from them: mostly little, which compresses.
static json_t *expected_chunk(run_op *o, tensor_val v, const tensor_evaluated *evaluated) {
    const tensor_evaluated whole = tensor_evaluated_whole(o->arena, evaluated), *e = &whole;
    ir_dtype t = o->op->op->vals.data[v].type;
    size_t bytes = gnn_dtype_bytes(run_dtype(t, o->op->program->index_bits)), n = (size_t)e->points;
    uint8_t *out = arena_alloc(o->arena, 2 * n * bytes + 1);
    for (size_t i = 0; i < n; i++) {
        interval x = interval_of(e, (int64_t)i, t, bytes);
        uint64_t span = x.high - x.low;
        memcpy(out + i * bytes, &x.low, bytes);
        memcpy(out + (n + i) * bytes, &span, bytes);
    }
    return chunk_of(o, out, 2 * n * bytes);
}

// ---- What is given ------------------------------------------------------------------------------
static json_t *numbers(const int64_t *x, uint32_t n) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++) json_array_append_new(list, json_integer(x[i]));
    return list;
}

static json_t *tensor_of(run_op *o, tensor_val v) {
    const run_buffer *x = &o->ready.buffers[v];
    const tensor_val_info *info = &o->op->op->vals.data[v];
    tensor_val under = run_overwritten(o, v);
    if (under != TENSOR_NO_VAL) return json_pack("{si}", "over", (int)under);
    json_t *t = json_pack("{so sI}", "shape", numbers(x->shape, x->rank), "off",
                          (json_int_t)x->off);
    if (o->ready.tensors[v].has_strides)
        json_object_set_new(t, "strides", numbers(x->strides, x->rank));
    if (info->role != VAL_TENSOR) return t;
    size_t bytes;
    const void *elements = run_buffer_elements(o, x, &o->b->arrays[v], &bytes);
    json_object_set_new(t, "data", chunk_of(o, elements, bytes));
    return t;
}

static json_t *argument_of(run_op *o, tensor_val v) {
    const tensor_val_info *info = &o->op->op->vals.data[v];
    if (info->role == VAL_MAP) return json_null();
    if (info->role == VAL_SCALAR)
        return json_pack("{so}", "scalar",
                         chunk_of(o, &o->ready.args[v].scalar, sizeof(gnn_scalar)));
    return tensor_of(o, v);
}

static json_t *map_of(run_op *o, const gnn_named_map *m) {
    return json_pack("{ss si sI sI so}", "name", m->name, "width", (int)m->map.width, "domain",
                     (json_int_t)m->map.domain, "codomain", (json_int_t)m->map.codomain, "index",
                     chunk_of(o, m->map.index, (size_t)m->map.domain * (m->map.width / 8)));
}

static json_t *graph_of(run_op *o) {
    gnn_plan_options given = run_plan_options(o);
    json_t *maps = json_array(), *sizes = json_object(), *args = json_array();
    for (size_t i = 0; i < given.nmaps; i++) json_array_append_new(maps, map_of(o, &given.maps[i]));
    for (size_t i = 0; i < given.nsizes; i++)
        json_object_set_new(sizes, given.sizes[i].name, json_integer(given.sizes[i].value));
    for (tensor_val v = 0; v < o->op->op->nparams; v++)
        json_array_append_new(args, argument_of(o, v));
    return json_pack("{ss so so so so}", "graph", o->r->graph->text, "sizes", sizes, "maps", maps,
                     "args", args, "versions", json_array());
}

static json_t *version_of(run_op *o, const tensor_evaluated *expected) {
    json_t *results = json_object();
    uint32_t n = 0;
    for (tensor_val v = 0; v < o->op->op->nparams; v++)
        if (o->op->op->vals.data[v].role == VAL_RESULT)
            json_object_set_new(results, o->op->op->vals.data[v].name,
                                expected_chunk(o, v, &expected[n++]));
    return json_pack("{ss so}", "name", o->taken, "results", results);
}

bool run_pack_version(run_op *o, run_row *row) {
    run_pack *p = o->r->pack;
    if (!run_load(o) || !run_prepare(o)) return false;
    const tensor_evaluated *expected = run_expected(o);
    if (!expected) return false;
    if (!p->runs) p->runs = json_array();
    if (p->graph != o->r->graph) {
        json_t *g = graph_of(o);
        p->graph = o->r->graph;
        p->versions = json_object_get(g, "versions");
        json_array_append_new(p->runs, g);
    }
    json_array_append_new(p->versions, version_of(o, expected));
    row->packed = true;
    return true;
}

// ---- The file -----------------------------------------------------------------------------------
// The session's command, without the words that made a pack of it.
static const char *command_of(const run_op *o) {
    textbuf out = textbuf_new(o->arena);
    textbuf_puts(&out, "gnnc");
    for (uint32_t i = 1; i < o->r->d->command.len; i++)
        if (strncmp(o->r->d->command.data[i], "--pack=", 7))
            textbuf_printf(&out, " %s", o->r->d->command.data[i]);
    return out.data;
}

static bool code_of(run_op *o, json_t **out) {
    cg_options options = settings_codegen(o->r->d);
    options.cubins = cache_cubins(o->r->d);
    cg_output cubin = {0};
    textbuf text = textbuf_new(o->arena);
    if (option_is(o->r->d, OPT_TARGET, "sim")) {
        simt_print(&text, o->op->module);
        *out = text_chunk(o, text.data);
        return true;
    }
    if (!unit_code(o->arena, o->r->d, o->op, &o->r->target, CG_CUBIN, &options, &cubin))
        return false;
    *out = chunk_of(o, cubin.data, cubin.size);
    return true;
}

static bool description_of(run_op *o, json_t **out) {
    run_pack *p = o->r->pack;
    json_t *code;
    textbuf manifest = textbuf_new(o->arena);
    const char *path = o->r->d->inputs.data[0];
    size_t length;
    const char *source = file_read(o->r->d, path, &length);
    if (!source || !code_of(o, &code)) return false;
    cg_manifest(&manifest, o->op->program, &o->r->target);
    *out = json_pack("{si ss ss so so so so sO}", "pack", FORM, "op", o->op->name, "form",
                     option_is(o->r->d, OPT_TARGET, "sim") ? "simt" : "cubin", "command",
                     text_chunk(o, command_of(o)), "source", chunk_of(o, source, length),
                     "manifest", text_chunk(o, manifest.data), "code", code, "runs", p->runs);
    return true;
}

// One member of the file: gzip's members may follow each other.
static void write_member(run_op *o, const char *text, size_t length) {
    run_pack *p = o->r->pack;
    z_stream z = {0};
    if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP, MOST_MEMORY, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        out_of_memory(0);
    size_t most = deflateBound(&z, (uLong)(length + 1 + p->data.len));
    Bytef *bytes = arena_alloc(o->arena, most);
    z.next_out = bytes;
    z.avail_out = (uInt)most;
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)length + 1;   // and its zero
    deflate(&z, Z_NO_FLUSH);
    z.next_in = (Bytef *)p->data.data;
    z.avail_in = (uInt)p->data.len;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END) ICE("deflateBound");
    textbuf_putn(&p->out, (const char *)bytes, z.total_out);
    deflateEnd(&z);
}

void run_pack_open(run_session *r, const char *path) {
    r->pack = ARENA_NEW(r->d->arena, run_pack);
    r->pack->path = path;
    r->pack->out = textbuf_new(r->d->arena);
}

void run_pack_begin(run_op *o) {
    run_pack *p = o->r->pack;
    if (!p) return;
    p->runs = p->versions = NULL;
    p->graph = NULL;
    p->data = textbuf_new(o->arena);
    memset(&p->chunks, 0, sizeof p->chunks);
}

void run_pack_end(run_op *o) {
    run_pack *p = o->r->pack;
    json_t *all = NULL;
    if (p && p->runs && description_of(o, &all)) {
        char *text = json_dumps(all, JSON_COMPACT);
        write_member(o, text, strlen(text));
        free(text);
    }
    json_decref(all);
    if (p) json_decref(p->runs);
}

void run_pack_write(run_session *r) {
    if (!r->pack || !r->pack->out.len) return;
    output_add(r->d, r->pack->path, r->pack->out.data, r->pack->out.len);
    output_flush(r->d);
}
