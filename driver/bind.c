// One op and one graph: the steps of binding.
#include "bind.h"

// Packed, laid out, on the device, compared, and results once more.
static bool check_memory(binding *b) {
    enum { COPIES = 5 };
    double bytes = 0, gib = 1073741824.0;
    for (tensor_val v = 0; v < b->op->nparams; v++) {
        int64_t points;
        if (!bind_points(b, &b->op->vals.data[v], &points)) {
            bind_fault(b, v, E0819, "would have more than 2^34 elements");
            return false;
        }
        bytes += (double)points * bind_bytes(b->op->vals.data[v].type) * COPIES;
    }
    if (bytes < bind_memory()) return true;
    diag(b->d->ds, E0819, b->op->at, "%s: these sizes need about %.1f GiB of this machine's %.1f",
         b->op->name, bytes / gib, bind_memory() / gib);
    return false;
}

static void shape_array(binding *b, tensor_val v) {
    const tensor_val_info *info = &b->op->vals.data[v];
    tensor_array *x = &b->arrays[v];
    int64_t points;
    bind_points(b, info, &points);
    *x = (tensor_array){.type = info->type, .rank = info->rank};
    for (uint32_t k = 0; k < info->rank; k++) x->shape[k] = b->sizes[info->axes[k]];
    if (info->role == VAL_RESULT || info->facts & FACT_PREFIX) return;
    if (b->options->maps_alone && info->role != VAL_MAP) return;
    uint32_t bytes = bind_bytes(info->type);
    x->data = arena_alloc(b->arena, (size_t)points * bytes + bytes);
}

// sorted(m) is filled after m.
static bool fill_maps(binding *b) {
    for (int later = 0; later < 2; later++)
        for (tensor_val v = 0; v < b->op->nparams; v++) {
            const tensor_val_info *info = &b->op->vals.data[v];
            if (info->role != VAL_MAP || info->facts & FACT_PREFIX ||
                (info->sorted_by != TENSOR_NO_VAL) != later)
                continue;
            if (!bind_map(b, v)) return false;
        }
    return true;
}

static bool fill(binding *b) {
    if (!b->options->maps_alone && !check_memory(b)) return false;
    for (tensor_val v = 0; v < b->op->nparams; v++) shape_array(b, v);
    if (!bind_edge_order(b) || !fill_maps(b)) return false;
    if (b->options->maps_alone) return true;
    for (tensor_val v = 0; v < b->op->nparams; v++) {
        tensor_role role = b->op->vals.data[v].role;
        if ((role == VAL_TENSOR || role == VAL_SCALAR) && !bind_tensor(b, v)) return false;
    }
    return true;
}

binding *bind_op(driver *d, arena *a, const tensor_op *op, const run_graph *g,
                 const bind_options *o) {
    binding *b = ARENA_NEW(a, binding);
    *b = (binding){
        .d = d, .arena = a, .op = op, .graph = g, .options = o, .edges = TENSOR_NO_SPACE};
    b->sources = ARENA_ARRAY(a, bind_source, op->nparams + 1);
    b->spaces = ARENA_ARRAY(a, bind_space, op->spaces.len + 1);
    b->sizes = ARENA_ARRAY(a, int64_t, op->spaces.len + 1);
    b->arrays = ARENA_ARRAY(a, tensor_array, op->nparams + 1);
    b->files = ARENA_ARRAY(a, gnn_array, op->nparams + 1);
    for (uint32_t s = 0; s < op->spaces.len; s++) b->sizes[s] = -1;
    if (bind_sources(b) && bind_sizes(b) && bind_requires(b) && fill(b)) return b;
    bind_free(b);
    return NULL;
}

void bind_free(binding *b) {
    for (uint32_t v = 0; v < b->op->nparams; v++) gnn_array_free(b->graph->context, &b->files[v]);
}

bool bind_default(const binding *b, uint32_t *at, const char **name, int64_t *size) {
    while (*at < b->op->spaces.len && !b->spaces[*at].is_default) ++*at;
    if (*at == b->op->spaces.len) return false;
    *name = b->op->spaces.data[*at].name;
    *size = b->sizes[(*at)++];
    return true;
}
