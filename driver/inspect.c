// gnnc inspect: what a source file, a manifest or a graph holds.
#include "graph_file.h"
#include "inspect.h"
#include "unit.h"

#include <jansson.h>
#include <string.h>

// ---- The ops of a source ------------------------------------------------------------------------

static void put_axes(textbuf *out, const tensor_op *op, const tensor_val_info *v) {
    for (uint32_t i = 0; i < v->rank; i++)
        textbuf_printf(out, "%s%s", i ? ", " : "", op->spaces.data[v->axes[i]].name);
}

static void put_facts(textbuf *out, const tensor_op *op, const tensor_val_info *v) {
    static const struct {
        uint32_t fact;
        const char *text;
    } facts[] = {{FACT_UNIQUE, "unique"},
                 {FACT_PARTIAL, "partial"},
                 {FACT_PREFIX, "prefix"},
                 {FACT_STRIDED, "strided"},
                 {FACT_PACKED, "packed"}};
    if ((v->facts & FACT_SORTED) && v->sorted_by != TENSOR_NO_VAL)
        textbuf_printf(out, " sorted(%s)", op->vals.data[v->sorted_by].name);
    else if (v->facts & FACT_SORTED) textbuf_puts(out, " sorted");
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (v->facts & facts[i].fact) textbuf_printf(out, " %s", facts[i].text);
    if (v->align) textbuf_printf(out, " aligned(%u)", v->align);
    if (v->inplace != TENSOR_NO_VAL)
        textbuf_printf(out, " inplace(%s)", op->vals.data[v->inplace].name);
}

static void put_val(textbuf *out, const tensor_op *op, const tensor_val_info *v) {
    static const char *const roles[] = {[VAL_MAP] = "map",
                                        [VAL_TENSOR] = "tensor",
                                        [VAL_SCALAR] = "scalar",
                                        [VAL_RESULT] = "result"};
    textbuf_printf(out, "    %-7s %s: ", roles[v->role], v->name);
    if (v->role == VAL_SCALAR) textbuf_puts(out, ir_dtype_text(v->type));
    else if (v->role == VAL_MAP) {
        put_axes(out, op, v);
        textbuf_printf(out, " -> %s", op->spaces.data[v->into].name);
    } else {
        textbuf_puts(out,
                     v->type == DT_INDEX ? op->spaces.data[v->into].name : ir_dtype_text(v->type));
        textbuf_puts(out, "[");
        put_axes(out, op, v);
        textbuf_puts(out, "]");
    }
    put_facts(out, op, v);
    textbuf_puts(out, "\n");
}

static void put_op(textbuf *out, const unit_op *o) {
    const tensor_op *op = o->op;
    textbuf_printf(out, "op %s\n    sizes  ", o->name);
    for (uint32_t i = 0; i < op->spaces.len; i++) {
        const tensor_space_info *s = &op->spaces.data[i];
        if (s->kind == SPACE_FREE) textbuf_printf(out, " %s", s->name);
        else if (s->kind == SPACE_CONST)
            textbuf_printf(out, " %s=%lld", s->name, (long long)s->size);
    }
    textbuf_puts(out, "\n");
    for (uint32_t i = 0; i < op->nparams; i++) put_val(out, op, &op->vals.data[i]);
    for (uint32_t i = 0; i < op->required.len; i++)
        textbuf_printf(out, "    where   %s\n", op->required.data[i].text);
    uint32_t at = 0;
    for (const char *path; o->frontend && (path = frontend_rules(o->frontend, o->number, &at));)
        textbuf_printf(out, "    rules   %s\n", path);
    textbuf_puts(out, "    stages ");
    for (uint32_t i = 0; i < op->stages.len; i++)
        textbuf_printf(out, " %s", op->stages.data[i].name);
    textbuf_puts(out, "\n");
}

static void put_kernels(textbuf *out, const simt_module *m) {
    textbuf_printf(out, "module %s\n", m->name);
    for (uint32_t i = 0; i < m->funcs.len; i++) {
        const simt_func *f = m->funcs.data[i];
        textbuf_printf(out, "    %-8s %s, %u parameters", f->kernel ? "kernel" : "function",
                       f->name, f->params.len);
        if (f->kernel)
            textbuf_printf(out, ", block of %u, %u bytes shared", f->block, f->shared_bytes);
        textbuf_puts(out, "\n");
    }
}

static void inspect_unit(driver *d, const char *path, textbuf *out) {
    unit u;
    if (!unit_load(d, path, &u)) return;
    for (uint32_t i = 0; i < u.ops.len; i++) {
        if (u.ops.data[i].op) put_op(out, &u.ops.data[i]);
        else put_kernels(out, u.ops.data[i].module);
    }
}

// ---- A manifest ---------------------------------------------------------------------------------

static void inspect_manifest(driver *d, const char *path, textbuf *out) {
    size_t length;
    const char *text = file_read(d, path, &length);
    if (!text) return;
    json_error_t error;
    json_t *m = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (json_object_get(m, "gnnc_manifest")) inspect_put_manifest(out, m);
    else
        diag(d->ds, E0817, NO_SPAN, "'%s' is no manifest%s%s", path, m ? "" : ": ",
             m ? "" : error.text);
    json_decref(m);
}

// ---- A graph ------------------------------------------------------------------------------------

static void put_graph(textbuf *out, const char *path, const gnn_graph *g,
                      const gnn_graph_statistics *s) {
    textbuf_printf(out, "%s\n    nodes     %lld", path, (long long)g->nodes);
    if (g->sources != g->nodes) textbuf_printf(out, " from %lld sources", (long long)g->sources);
    textbuf_printf(out, "\n    edges     %lld, %lld self loops\n", (long long)g->edges,
                   (long long)s->self_loops);
    if (g->types) textbuf_printf(out, "    types     %lld of edges\n", (long long)g->types);
    if (g->node_types)
        textbuf_printf(out, "    types     %lld of nodes\n", (long long)g->node_types);
    if (g->graphs) textbuf_printf(out, "    graphs    %lld\n", (long long)g->graphs);
    if (g->x.rank == 2)
        textbuf_printf(out, "    features  %lld x %lld\n", (long long)g->x.shape[0],
                       (long long)g->x.shape[1]);
    textbuf_printf(out,
                   "    degree    min %lld, mean %.2f, deviation %.2f, max %lld; %lld empty rows\n",
                   (long long)s->min_degree, s->mean_degree, s->deviation, (long long)s->max_degree,
                   (long long)s->empty_rows);
    textbuf_printf(out, "    quantiles 25%% %lld, 50%% %lld, 75%% %lld, 90%% %lld, 99%% %lld\n",
                   (long long)s->quantiles[0], (long long)s->quantiles[1],
                   (long long)s->quantiles[2], (long long)s->quantiles[3],
                   (long long)s->quantiles[4]);
}

static void inspect_graph(driver *d, const char *path, textbuf *out) {
    gnn_context *c = NULL;
    gnn_graph g = {0};
    gnn_graph_statistics s;
    gnn_status status = gnn_context_new(&(gnn_context_options){.device = GNN_HOST}, &c);
    if (!status) status = graph_file_read(d, c, path, &g);
    if (!status) status = gnn_graph_measure(c, &g, &s);
    if (!status) put_graph(out, path, &g, &s);
    else graph_file_fault(d, c, status);
    if (c) gnn_graph_free(c, &g);
    gnn_context_free(c);
}

int drive_inspect(driver *d) {
    textbuf out = textbuf_new(d->arena);
    input_kind kind;
    for (uint32_t i = 0; i < d->inputs.len; i++) {
        const char *path = d->inputs.data[i];
        if (path_ends(path, ".json")) inspect_manifest(d, path, &out);
        else if (unit_kind(path, &kind)) inspect_unit(d, path, &out);
        else if (inspect_is_code(path)) inspect_code(d, path, &out);
        else inspect_graph(d, path, &out);
    }
    output_add(d, "-", out.data, out.len);
    output_flush(d);
    return driver_status(d);
}
