// An op from its tensor IR to results in memory: compiled, planned, launched twice over different poisons,
// and timed.
#include "run.h"
#include "spread.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

bool run_failed(run_op *o, gnn_status s) {
    gnn_context *c = o->r->context;
    if (!s) return false;
    if (s == GNN_NO_VERSION && (o->r->all_plans || o->changed)) {
        o->unfit = true;
        gnn_context_clear_error(c);
        return true;
    }
    const char *why = *gnn_context_error(c) ? gnn_context_error(c) : gnn_status_text(s);
    if (s == GNN_PRECONDITION) {
        diagnostic *fault = diag(o->r->d->ds, E0820, o->op->op->at, "%s: %s", o->op->name, why);
        diag_help(fault, "the graph decides it: take one that meets it");
    } else diag(o->r->d->ds, runtime_code((int)s, E0822), o->op->op->at, "%s: %s", o->op->name, why);
    gnn_context_clear_error(c);
    return true;
}

// ---- Code ------------------------------------------------------------------------------------------------

static bool host_code(run_op *o, const cg_options *options, gnn_code *code) {
    const simt_module *m = o->op->module;
    run_code *c = &o->codes[o->level];
    gnn_host_kernel *kernels = ARENA_ARRAY(o->arena, gnn_host_kernel, m->funcs.len + 1);
    c->jit = cg_jit_new(o->arena, o->r->d->ds, m, options);
    if (!c->jit) return false;
    for (uint32_t i = 0; i < m->funcs.len; i++)
        if (m->funcs.data[i]->kernel)
            kernels[code->nkernels++] = (gnn_host_kernel){m->funcs.data[i]->name,
                                                          cg_jit_kernel(c->jit, m->funcs.data[i]->name)};
    code->kernels = kernels;
    return true;
}

static bool cuda_code(run_op *o, const cg_options *options, gnn_code *code) {
    cg_output image = {0};
    cg_form form = o->op->ptx && !options->verbose_assembler ? CG_PTX : CG_CUBIN;   // a text is the driver's to assemble
    if (!unit_code(o->arena, o->r->d, o->op, &o->r->target, form, options, &image)) return false;
    o->codes[o->level].log = image.log;
    code->image = image.data;
    code->size = image.size;
    return true;
}

bool run_load(run_op *o) {
    driver *d = o->r->d;
    run_code *c = &o->codes[o->level];
    o->program = c->program;
    if (o->program) return true;   // for another version
    if (o->level ? !o->codes[0].program : !unit_schedule(o->op, &o->r->target) || !unit_program(d, o->op, &o->r->target))
        return false;
    phase(d, "generate");
    cg_options options = settings_codegen(d);
    if (o->r->nlevels > 1) options.optimise = o->r->levels[o->level];
    gnn_code code = {0};
    textbuf manifest = textbuf_new(o->arena);
    run_sim_load(o);
    if (!o->r->simulator && !(o->r->target.kind == CG_HOST ? host_code : cuda_code)(o, &options, &code)) return false;
    cg_manifest(&manifest, o->op->program, &o->r->target);
    bool failed = run_failed(o, gnn_program_load(o->r->context, manifest.data, manifest.len, &code, &c->program));
    o->program = c->program;
    return !failed;
}

// ---- Plan ------------------------------------------------------------------------------------------------

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
    return o->r->all_plans ? gnn_program_version(o->program, o->turn) : o->r->version;
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

static bool make_plan(run_op *o) {
    const gnn_plan_options options = run_plan_options(o);
    run_alone_begin(o->r);
    gnn_status s = gnn_plan_new(o->program, &options, &o->plan);
    run_alone_end(o->r);
    return !run_failed(o, s);
}

// ---- Arguments -------------------------------------------------------------------------------------------

static gnn_scalar scalar_of(const tensor_array *x) {
    if (x->type == DT_F64) return (gnn_scalar){.f64 = *(const double *)x->data};
    if (ir_dtype_is_float(x->type)) return (gnn_scalar){.f32 = (float)bind_load(x->type, x->data, 0)};
    if (x->type == DT_I32) return (gnn_scalar){.i32 = *(const int32_t *)x->data};
    return (gnn_scalar){.i64 = x->type == DT_BOOL ? *(const uint8_t *)x->data : *(const int64_t *)x->data};
}

static bool make_argument(run_op *o, tensor_val v) {
    const tensor_val_info *info = &o->op->op->vals.data[v];
    if (info->role == VAL_SCALAR) o->args[v].scalar = scalar_of(&o->b->arrays[v]);
    if (info->role != VAL_TENSOR && info->role != VAL_RESULT) return true;
    tensor_val under = run_overwritten(o, v);
    if (under == TENSOR_NO_VAL && !run_buffer_new(o, v, &o->buffers[v])) return false;
    const run_buffer *x = &o->buffers[under == TENSOR_NO_VAL ? v : under];
    run_layout layout = run_layout_of(o, v);
    o->tensors[v] = run_buffer_tensor(x, layout == LAYOUT_STRIDED || layout == LAYOUT_BROADCAST || x->apart);
    o->args[v].tensor = &o->tensors[v];
    return true;
}

static bool make_results(run_op *o, tensor_val v) {
    int64_t points;
    const tensor_val_info *info = &o->op->op->vals.data[v];
    if (info->role != VAL_RESULT || !bind_points(o->b, info, &points)) return true;
    o->results[v] = o->b->arrays[v];
    o->results[v].data = arena_alloc(o->arena, (size_t)points * bind_bytes(info->type) + 8);
    return true;
}

bool run_prepare(run_op *o) {
    uint32_t n = o->op->op->nparams;
    o->buffers = ARENA_ARRAY(o->arena, run_buffer, n + 1);
    o->tensors = ARENA_ARRAY(o->arena, gnn_tensor, n + 1);
    o->args = ARENA_ARRAY(o->arena, gnn_arg, n + 1);
    o->results = ARENA_ARRAY(o->arena, tensor_array, n + 1);
    if (!make_plan(o)) return false;
    for (tensor_val v = 0; v < n; v++)
        if (!make_argument(o, v) || !make_results(o, v)) return false;
    if (run_failed(o, gnn_plan_version(o->plan, o->args, n, &o->taken)) ||
        run_failed(o, gnn_plan_workspace_for(o->plan, o->args, n, &o->workspace_bytes)))
        return false;
    run_tell_version(o);
    if (o->r->target.kind == CG_HOST && (double)o->workspace_bytes > bind_memory()) {
        diag(o->r->d->ds, E0819, o->op->op->at, "%s: these sizes need a workspace of %.1f GiB", o->op->name,
             (double)o->workspace_bytes / 1073741824.0);
        return false;
    }
    return !o->r->repeat || !run_failed(o, gnn_alloc(o->r->context, o->workspace_bytes, &o->workspace));   // of no launch there is none
}

// ---- Launching -------------------------------------------------------------------------------------------

// Inputs, poisoned results and a poisoned workspace.
static bool set_up(run_op *o, uint8_t poison) {
    for (tensor_val v = 0; v < o->op->op->nparams; v++) {
        run_buffer *x = &o->buffers[v];
        if (!x->used) continue;
        run_buffer_poison(x, poison);
        if (o->op->op->vals.data[v].role == VAL_TENSOR) run_buffer_put(x, &o->b->arrays[v]);
        if (!run_buffer_upload(o, x)) return false;
    }
    return !o->workspace_bytes ||
           !run_failed(o, gnn_fill(o->r->context, o->workspace, poison, o->workspace_bytes, NULL));
}

bool run_launch(run_op *o, gnn_stream s) {
    return !run_failed(o, gnn_launch(o->plan, o->args, o->op->op->nparams, o->workspace, o->workspace_bytes, s));
}

static bool launch(run_op *o, bool again) {
    run_sim_begin(o, again);
    if (run_fault_skips()) return true;
    run_alone_begin(o->r);
    bool good = run_launch(o, NULL) && !run_failed(o, gnn_sync(o->r->context, NULL));
    run_alone_end(o->r);
    return good && run_sim_report(o);
}

// Takes what a launch stored; finds writes where none belongs.
static bool collect(run_op *o, uint8_t poison, tensor_array *results) {
    for (tensor_val v = 0; v < o->op->op->nparams; v++) {
        const tensor_val_info *info = &o->op->op->vals.data[v];
        tensor_val under = run_overwritten(o, v);
        run_buffer *x = &o->buffers[under == TENSOR_NO_VAL ? v : under];
        if (!x->used) continue;
        if (!run_buffer_download(o, x)) return false;
        if (info->role == VAL_RESULT) run_buffer_get(x, &results[v]);
        bool input = info->role == VAL_TENSOR, replaced = input && run_is_overwritten(o, v);
        if (!replaced && !run_buffer_intact(x, input ? &o->b->arrays[v] : &results[v], poison))
            run_mismatch(o, "memory %s '%s' was written", input ? "of" : "around", info->name);
    }
    return true;
}

static bool is_poison(const tensor_array *x, int64_t i, uint8_t byte) {
    size_t n = x->type == DT_INDEX ? 4 : bind_bytes(x->type);   // an index of 32 bits was widened
    const uint8_t *at = (const uint8_t *)x->data + (size_t)i * bind_bytes(x->type);
    for (size_t k = 0; k < n; k++)
        if (at[k] != byte) return false;
    return true;
}

static void compare_launches(run_op *o, tensor_val v, const tensor_array *first, const tensor_array *second,
                             uint8_t p, uint8_t q) {
    size_t n = bind_bytes(first->type);
    int64_t points;
    bind_points(o->b, &o->op->op->vals.data[v], &points);
    const uint8_t *a = first->data, *b = second->data;
    for (int64_t i = 0; i < points; i++) {
        if (!memcmp(a + (size_t)i * n, b + (size_t)i * n, n)) continue;
        const char *name = o->op->op->vals.data[v].name;
        if (is_poison(first, i, p) && is_poison(second, i, q))
            run_mismatch(o, "element %lld of '%s' is not written", (long long)i, name);
        else if (gnn_program_deterministic(o->program))
            run_mismatch(
                o,
                "element %lld of '%s' differs between two launches, or comes from memory not written",
                (long long)i, name);
        return;
    }
}

enum { FIRST = 0xAA, SECOND = 0x55 };

bool run_launch_once(run_op *o) {
    return set_up(o, FIRST) && launch(o, false) && run_fault_apply(o, false) && collect(o, FIRST, o->results);
}

static bool launch_again(run_op *o, uint8_t poison, tensor_array *again) {
    if (!set_up(o, poison) || !launch(o, poison == SECOND) || !run_fault_apply(o, true) || !collect(o, poison, again)) return false;
    for (tensor_val v = 0; v < o->op->op->nparams; v++)
        if (o->results[v].data) compare_launches(o, v, &o->results[v], &again[v], FIRST, poison);
    return true;
}

// The same launch over two poisons: what is not written, or computed from what was not, differs.
bool run_launch_twice(run_op *o) {
    uint32_t n = o->op->op->nparams;
    int64_t launches = o->r->identical ? o->r->identical : o->r->check ? 2 : 1;
    if (!run_launch_once(o)) return false;
    if (launches == 1) return true;
    tensor_array *again = ARENA_ARRAY(o->arena, tensor_array, n + 1);
    for (tensor_val v = 0; v < n; v++) {
        int64_t points;
        again[v] = o->results[v];
        if (o->results[v].data && bind_points(o->b, &o->op->op->vals.data[v], &points))
            again[v].data = arena_alloc(o->arena, (size_t)points * bind_bytes(again[v].type) + 8);
    }
    for (int64_t i = 1; i < launches && !o->r->d->mismatch; i++)
        if (!launch_again(o, i % 2 ? SECOND : FIRST, again)) return false;
    return true;
}

static int by_time(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static bool time_launches(run_op *o, gnn_timer *timer, double *ms) {
    for (int64_t i = 0; i < o->r->repeat; i++) {
        if (o->r->inplace && !set_up(o, 0)) return false;
        if (run_failed(o, gnn_timer_start(timer, NULL)) || !run_launch(o, NULL) ||
            run_failed(o, gnn_timer_stop(timer, NULL)) || run_failed(o, gnn_timer_read(timer, &ms[i])))
            return false;
    }
    return true;
}

double run_median(double *ms, int64_t n) {
    qsort(ms, (size_t)n, sizeof *ms, by_time);
    return (ms[(n - 1) / 2] + ms[n / 2]) / 2;
}

bool run_launches(run_op *o, run_row *row) {
    phase(o->r->d, "run");
    gnn_timer *timer = NULL;
    double *ms = ARENA_ARRAY(o->arena, double, o->r->repeat);
    if (!run_launch_twice(o) || run_failed(o, gnn_timer_new(o->r->context, &timer))) return false;
    bool good = time_launches(o, timer, ms) && run_sim_report(o);
    gnn_timer_free(timer);
    if (!good) return false;
    row->median_ms = run_median(ms, o->r->repeat);
    row->fastest_ms = ms[0];
    row->ran = true;
    return true;
}

void run_plan_free(run_op *o) {
    for (uint32_t v = 0; o->buffers && v < o->op->op->nparams; v++)
        if (o->buffers[v].mapped) run_unmap_far(&o->buffers[v]);
        else if (o->buffers[v].memory) gnn_free(o->r->context, o->buffers[v].memory);
    gnn_free(o->r->context, o->workspace);
    gnn_plan_free(o->plan);
    o->buffers = NULL;
    o->workspace = NULL;
    o->plan = NULL;
}

void run_op_free(run_op *o) {
    run_plan_free(o);
    run_estimate_free(o);
    for (uint32_t i = 0; i < 2; i++) gnn_program_free(o->codes[i].program);
    run_sim_free(o->r);
    for (uint32_t i = 0; i < 2; i++) cg_jit_free(o->codes[i].jit);
}
