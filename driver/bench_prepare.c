// What a plan costs: checks of the maps and what is built of them, made as by an application whose
// graph lies on the device. The plan before it has loaded what builds it.
#include "bench.h"
#include "clock.h"

#include <string.h>

static bool move_map(run_op *o, gnn_map *m) {
    size_t bytes = (size_t)m->domain * (m->width / 8);
    void *device = NULL;
    if (run_failed(o, gnn_alloc(o->r->context, bytes, &device))) return false;
    const void *index = m->index;
    m->index = device;
    m->on_device = true;
    return !run_failed(o, gnn_copy_in(o->r->context, device, index, bytes, NULL));
}

static bool time_plan(run_op *o, const gnn_plan_options *options, bench_prepared *out) {
    gnn_plan *plan = NULL;
    if (run_failed(o, gnn_sync(o->r->context, NULL))) return false;
    double begin = clock_ms();
    bool good = !run_failed(o, gnn_plan_new(o->program, options, &plan)) &&
                !run_failed(o, gnn_sync(o->r->context, NULL));
    *out = (bench_prepared){clock_ms() - begin, gnn_plan_prepared_bytes(plan)};
    gnn_plan_free(plan);
    return good;
}

bool bench_prepare(run_op *o, bench_prepared *out) {
    gnn_plan_options options = run_plan_options(o);
    gnn_named_map *maps = ARENA_ARRAY(o->arena, gnn_named_map, options.nmaps + 1);
    if (options.nmaps) memcpy(maps, options.maps, options.nmaps * sizeof *maps);
    options.maps = maps;
    bool away = o->r->target.kind == CG_CUDA, good = true;
    for (size_t i = 0; i < options.nmaps && away && good; i++) good = move_map(o, &maps[i].map);
    // the first is a warm-up
    good = good && time_plan(o, &options, out) && time_plan(o, &options, out);
    for (size_t i = 0; i < options.nmaps; i++)
        if (maps[i].map.on_device) gnn_free(o->r->context, (void *)(uintptr_t)maps[i].map.index);
    return good;
}
