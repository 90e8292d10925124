// What a plan of an op is made of: sizes, maps in the width of the program, the version asked for.
#include "run.h"
#include "spread.h"

#include <stdatomic.h>

typedef struct {
    const int64_t *from;
    int32_t *to;
    atomic_bool too_large;
} narrowing;

static void narrow_piece(void *user, int64_t first, int64_t last) {
    narrowing *n = user;
    bool too_large = false;
    for (int64_t i = first; i < last; i++) {
        too_large |= n->from[i] < INT32_MIN || n->from[i] > INT32_MAX;
        n->to[i] = (int32_t)n->from[i];
    }
    if (too_large) atomic_store(&n->too_large, true);
}

static gnn_map narrow_map(run_op *o, tensor_val v) {
    const tensor_val_info *info = &o->op->op->vals.data[v];
    const int64_t *values = o->b->arrays[v].data;
    int64_t points;
    bind_points(o->b, info, &points);
    gnn_map m = {.width = o->op->program->index_bits,
                 .index = values,
                 .domain = points,
                 .codomain = o->b->sizes[info->into]};
    if (m.width == 64) return m;
    narrowing n = {.from = values, .to = ARENA_ARRAY(o->arena, int32_t, points + 1)};
    spread(points, narrow_piece, &n);
    if (n.too_large) return m.width = 64, m;   // the plan refuses it
    m.index = n.to;
    return m;
}

const char *run_version(const run_op *o) {
    return o->r->asked.all_plans ? gnn_program_version(o->program, o->turn) : o->r->asked.version;
}

gnn_plan_options run_plan_options(run_op *o) {
    const tensor_op *op = o->op->op;
    gnn_named_map *maps = ARENA_ARRAY(o->arena, gnn_named_map, op->nparams + 1);
    gnn_size *sizes = ARENA_ARRAY(o->arena, gnn_size, op->spaces.len + 1);
    gnn_plan_options options = {.maps = maps, .sizes = sizes, .version = run_version(o)};
    for (tensor_val v = 0; v < op->nparams; v++)
        if (op->vals.data[v].role == VAL_MAP && !(op->vals.data[v].facts & FACT_PREFIX))
            maps[options.nmaps++] = (gnn_named_map){op->vals.data[v].name, narrow_map(o, v)};
    for (tensor_space s = 0; s < op->spaces.len; s++)
        if (op->spaces.data[s].kind == SPACE_FREE)
            sizes[options.nsizes++] = (gnn_size){op->spaces.data[s].name, o->b->sizes[s]};
    return options;
}
