// A record: its program is loaded once, and launched on each graph in each version that was packed.
#include "replay.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- What is told -------------------------------------------------------------------------------
// How to repeat it, once a record; the source only where it is short: a schedule at random.
static void tell_command(replay *r) {
    enum { SHORT = 2500 };
    char *command = record_text(r->record, "command"), *source = record_text(r->record, "source");
    r->told = true;
    printf("    record %u: %s\n", r->tally->next, command ? command : "");
    if (source && strlen(source) <= SHORT)
        for (char *save = NULL, *line = strtok_r(source, "\n", &save); line;
             line = strtok_r(NULL, "\n", &save))
            printf("    | %s\n", line);
    free(command);
    free(source);
}

void replay_wrong(replay *r, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    r->tally->wrong++;
    printf("WRONG %s %s '%s': ", r->op ? r->op : "?", r->graph ? r->graph : "-",
           r->version ? r->version : "-");
    vprintf(format, ap);
    putchar('\n');
    va_end(ap);
    if (!r->told) tell_command(r);
    fflush(stdout);
}

bool replay_failed(replay *r, gnn_status s) {
    if (!s) return false;
    const char *why = gnn_context_error(r->context);
    replay_wrong(r, "%s", *why ? why : gnn_status_text(s));
    gnn_context_clear_error(r->context);
    r->lost |= s == GNN_CUDA;
    return true;
}

enum { ALIGNMENT = 256 };

// ---- Reading ------------------------------------------------------------------------------------
static bool malformed(replay *r, const char *what) {
    replay_wrong(r, "the record is malformed: %s", what);
    return false;
}

static bool numbers(const json_t *list, int64_t *out, uint32_t n) {
    if (json_array_size(list) != n) return false;
    for (uint32_t k = 0; k < n; k++) out[k] = json_integer_value(json_array_get(list, k));
    return true;
}

// Of a map: its array is copied; the caller's.
static bool read_map(replay *r, const json_t *m, gnn_named_map *out) {
    size_t bytes = 0;
    const void *index = record_chunk(r->record, json_object_get(m, "index"), &bytes);
    const int64_t width = json_integer_value(json_object_get(m, "width")),
                  domain = json_integer_value(json_object_get(m, "domain"));
    out->name = json_string_value(json_object_get(m, "name"));
    if (!index || !out->name || (width != 32 && width != 64) ||
        (uint64_t)domain != bytes / (uint64_t)(width / 8))
        return malformed(r, "a map");
    void *copy = aligned_alloc(ALIGNMENT,
                               // as a GPU's memory is: guards ask
                               (bytes / ALIGNMENT + 1) * ALIGNMENT);
    if (!copy) return malformed(r, "no memory for a map");
    memcpy(copy, index, bytes);
    out->map = (gnn_map){.index = copy,
                         .width = (uint32_t)width,
                         .domain = domain,
                         .codomain = json_integer_value(json_object_get(m, "codomain"))};
    return true;
}

static bool make_plan(replay *r, const json_t *graph, gnn_plan_options *given, gnn_plan **out) {
    const json_t *maps = json_object_get(graph, "maps");
    json_t *sizes = json_object_get(graph, "sizes"), *size;
    const char *name;
    gnn_named_map *named = calloc(json_array_size(maps) + 1, sizeof *named);
    gnn_size *sized = calloc(json_object_size(sizes) + 1, sizeof *sized);
    *given = (gnn_plan_options){.maps = named, .sizes = sized, .version = r->version};
    if (!named || !sized) return malformed(r, "no memory");
    while (given->nmaps < json_array_size(maps))
        if (read_map(r, json_array_get(maps, given->nmaps), &named[given->nmaps])) given->nmaps++;
        else return false;
    json_object_foreach(sizes, name, size)
        sized[given->nsizes++] = (gnn_size){name, json_integer_value(size)};
    gnn_status s = gnn_plan_new(r->program, given, out);
    if (s != GNN_NO_VERSION) return !replay_failed(r, s);
    printf("unfit %s %s '%s': %s\n", r->op, r->graph, r->version, gnn_context_error(r->context));
    gnn_context_clear_error(r->context);   // what this machine has decides some guards
    r->tally->unfit++;
    return false;
}

static void free_given(gnn_plan_options *given) {
    for (size_t i = 0; i < given->nmaps; i++) free((void *)(uintptr_t)given->maps[i].map.index);
    free((void *)(uintptr_t)given->maps);
    free((void *)(uintptr_t)given->sizes);
}

// ---- Arguments ----------------------------------------------------------------------------------
static bool read_tensor(replay *r, const json_t *arg, const gnn_param_info *info, gnn_tensor *t) {
    *t = (gnn_tensor){.dtype = info->dtype, .rank = info->rank};
    const json_t *strides = json_object_get(arg, "strides");
    if (!numbers(json_object_get(arg, "shape"), t->shape, t->rank)) return malformed(r, "a shape");
    t->has_strides = strides != NULL;
    if (strides) return numbers(strides, t->strides, t->rank) || malformed(r, "strides");
    int64_t stride = 1;
    for (uint32_t k = t->rank; k-- > 0;) {
        t->strides[k] = stride;
        if (__builtin_mul_overflow(stride, t->shape[k] > 0 ? t->shape[k] : 1, &stride))
            return malformed(r, "a shape");
    }
    return true;
}

static bool make_region(replay *r, launch_data *l, uint32_t i, const json_t *arg,
                        const gnn_param_info *info) {
    gnn_tensor like;
    size_t bytes = 0;
    if (!read_tensor(r, arg, info, &like)) return false;
    const int64_t off = json_integer_value(json_object_get(arg, "off"));
    gnn_status s = region_new(r->context, &like, info->align, (size_t)off, &l->regions[i]);
    if (replay_failed(r, s)) return false;
    l->tensors[i] = l->regions[i].tensor;
    if (info->role == GNN_PARAM_RESULT) return true;
    l->inputs[i] = record_chunk(r->record, json_object_get(arg, "data"), &bytes);
    return (l->inputs[i] && bytes == (size_t)l->regions[i].count * gnn_dtype_bytes(like.dtype)) ||
           malformed(r, "an input");
}

static bool make_argument(replay *r, launch_data *l, uint32_t i, const json_t *arg) {
    gnn_param_info info;
    size_t bytes = 0;
    if (replay_failed(r, gnn_program_param(r->program, i, &info))) return false;
    l->over[i] = -1;
    if (info.role == GNN_PARAM_MAP) return true;
    if (info.role == GNN_PARAM_SCALAR) {
        const void *value = record_chunk(r->record, json_object_get(arg, "scalar"), &bytes);
        if (!value || bytes != sizeof(gnn_scalar)) return malformed(r, "a scalar");
        memcpy(&l->args[i].scalar, value, bytes);
        return true;
    }
    l->args[i].tensor = &l->tensors[i];
    const json_t *over = json_object_get(arg, "over");
    if (!over) return make_region(r, l, i, arg, &info);
    l->over[i] = json_integer_value(over);
    if (l->over[i] < 0 || l->over[i] >= i || !l->regions[l->over[i]].image)
        return malformed(r, "what a result overwrites");
    l->tensors[i] = l->tensors[l->over[i]];
    return true;
}

static bool read_result(replay *r, launch_data *l, uint32_t i, const json_t *results) {
    gnn_param_info info;
    size_t bytes = 0;
    gnn_program_param(r->program, i, &info);
    if (info.role != GNN_PARAM_RESULT) return true;
    const region *x = &l->regions[l->over[i] < 0 ? i : (uint32_t)l->over[i]];
    l->intervals[i] = record_chunk(r->record, json_object_get(results, info.name), &bytes);
    return (l->intervals[i] && bytes == 2 * (size_t)x->count * gnn_dtype_bytes(info.dtype)) ||
           malformed(r, "a result's intervals");
}

static bool make_workspace(replay *r, launch_data *l) {
    size_t bytes;
    if (replay_failed(r, gnn_plan_workspace_for(l->plan, l->args, l->n, &bytes))) return false;
    const gnn_tensor like = {
        .dtype = GNN_BOOL, .rank = 1, .shape = {(int64_t)bytes}, .strides = {1}};
    return !bytes || !replay_failed(r, region_new(r->context, &like, 0, 0, &l->workspace));
}

static bool make_arguments(replay *r, launch_data *l, const json_t *graph, const json_t *version) {
    const json_t *args = json_object_get(graph, "args");
    if (json_array_size(args) != l->n) return malformed(r, "arguments");
    for (uint32_t i = 0; i < l->n; i++)
        if (!make_argument(r, l, i, json_array_get(args, i))) return false;
    for (uint32_t i = 0; i < l->n; i++)
        if (!read_result(r, l, i, json_object_get(version, "results"))) return false;
    const char *taken = NULL;
    if (!make_workspace(r, l) || replay_failed(r, gnn_plan_version(l->plan, l->args, l->n, &taken)))
        return false;
    if (strcmp(taken, r->version)) replay_wrong(r, "version '%s' would be launched", taken);
    return !strcmp(taken, r->version);
}

// ---- One version --------------------------------------------------------------------------------
static bool allocate(launch_data *l, uint32_t n) {
    *l = (launch_data){.n = n,
                       .args = calloc(n + 1, sizeof *l->args),
                       .tensors = calloc(n + 1, sizeof *l->tensors),
                       .regions = calloc(n + 1, sizeof *l->regions),
                       .inputs = calloc(n + 1, sizeof *l->inputs),
                       .intervals = calloc(n + 1, sizeof *l->intervals),
                       .over = calloc(n + 1, sizeof *l->over)};
    return l->args && l->tensors && l->regions && l->inputs && l->intervals && l->over;
}

static void release(launch_data *l) {
    for (uint32_t i = 0; l->regions && i < l->n; i++) region_free(&l->regions[i]);
    region_free(&l->workspace);
    gnn_plan_free(l->plan);
    free(l->args);
    free(l->tensors);
    free(l->regions);
    free((void *)l->inputs);
    free((void *)l->intervals);
    free(l->over);
}

static void replay_version(replay *r, const json_t *graph, const json_t *version) {
    launch_data l;
    gnn_plan_options given = {0};
    r->version = json_string_value(json_object_get(version, "name"));
    if (!r->version) {
        malformed(r, "a version");
        return;
    }
    if (!allocate(&l, gnn_program_params(r->program))) malformed(r, "no memory");
    else if (make_plan(r, graph, &given, &l.plan) && make_arguments(r, &l, graph, version)) {
        r->tally->runs++;
        replay_launches(r, &l);
    }
    release(&l);
    free_given(&given);
}

static bool load(replay *r) {
    size_t length = 0, size = 0;
    const char *manifest = record_chunk(r->record, json_object_get(r->record->about, "manifest"),
                                        &length);
    const char *code = record_chunk(r->record, json_object_get(r->record->about, "code"), &size);
    const char *form = json_string_value(json_object_get(r->record->about, "form"));
    if (!manifest || !code || !form) return malformed(r, "its code");
    if (strcmp(form, machine_form)) {
        replay_wrong(r, "the code is %s, not %s", form, machine_form);
        return false;
    }
    if (!machine_take(code, size)) return malformed(r, "its code");
    void *image = malloc(size + 1);   // aligned
    if (!image) return malformed(r, "no memory");
    memcpy(image, code, size);
    gnn_code given = {.image = image, .size = size};
    bool good = !replay_failed(r,
                               gnn_program_load(r->context, manifest, length, &given, &r->program));
    free(image);
    return good;
}

void replay_record(replay *r) {
    const json_t *runs = json_object_get(r->record->about, "runs");
    r->op = json_string_value(json_object_get(r->record->about, "op"));
    if (!load(r)) return;
    r->tally->programs++;
    for (size_t i = 0; i < json_array_size(runs) && !r->lost; i++) {
        const json_t *graph = json_array_get(runs, i),
                     *versions = json_object_get(graph, "versions");
        r->graph = json_string_value(json_object_get(graph, "graph"));
        for (size_t k = 0; k < json_array_size(versions) && !r->lost; k++)
            replay_version(r, graph, json_array_get(versions, k));
    }
    gnn_program_free(r->program);
}
