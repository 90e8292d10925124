// Linked ops: of what an object holds, the code that serves the device best, in both index widths;
// a plan by the struct of arguments the object's header declares, and launches of it.
#include "launch_plan.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTHS = 2 };   // 32 and 64 bits
struct gnn_op {
    gnn_context *c;
    gnn_program *programs[WIDTHS];   // NULL: not compiled
    gnn_op *twin;                    // for plans made with GNN_SAVED; NULL: nothing is saved
};

// ---- Which code ---------------------------------------------------------------------------------
// How well a build serves a GPU of compute capability sm / 10; negative: not at all. A cubin runs
// on later minor versions of its major one, PTX on everything later, and neither does where it is
// of sm_90a's kind.
static int fitness(const gnn_build *b, int sm) {
    enum { OWN_CODE = 1 << 16 };
    if (strncmp(b->target, "sm_", 3)) return -1;
    char *end;
    int built = (int)strtol(b->target + 3, &end, 10);
    bool alone = *end;
    if (built > sm || (alone && built != sm) || (!b->is_ptx && built / 10 != sm / 10)) return -1;
    return built * 2 + alone + (b->is_ptx ? 0 : OWN_CODE);
}

// What host code asks for: x86-64-v3.
static bool runs_here(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
}

static const gnn_build *best_build(const gnn_artefact *a, uint32_t bits, int sm, bool host) {
    const gnn_build *best = NULL;
    int most = -1;
    for (uint32_t i = 0; i < a->nbuilds; i++) {
        const gnn_build *b = &a->builds[i];
        int fits = b->index_bits != bits ? -1
                   : host                ? (strcmp(b->target, "host") ? -1 : 0)
                                         : fitness(b, sm);
        if (fits <= most) continue;
        most = fits;
        best = b;
    }
    return best;
}

// "sm_80, sm_90, host", each once.
static void list_targets(const gnn_artefact *a, char *out, size_t size) {
    size_t n = 0;
    *out = 0;
    for (uint32_t i = 0; i < a->nbuilds; i++) {
        const char *target = a->builds[i].target;
        bool before = false;
        for (uint32_t k = 0; k < i; k++) before |= !strcmp(a->builds[k].target, target);
        size_t length = strlen(target) + (n ? 2 : 0);
        if (before || n + length >= size) continue;
        strcpy(out + n, n ? ", " : "");
        strcat(out + n, target);
        n += length;
    }
}

static gnn_status no_code(gnn_context *c, const gnn_artefact *a, int sm) {
    char targets[200];
    list_targets(a, targets, sizeof targets);
    if (!rt_on_cuda(c))
        return rt_fail(c, GNN_BAD_CODE, "%.60s holds no code for the host, only for %s", a->name,
                       targets);
    return rt_fail(c, GNN_BAD_CODE, "%.60s holds no code for this device's sm_%d, only for %s",
                   a->name, sm, targets);
}

// ---- Loading ------------------------------------------------------------------------------------
// Programs go by the artefact that the application sees.
static gnn_status load_builds(gnn_op *op, const gnn_artefact *a, const gnn_artefact *seen) {
    gnn_device_info device = {0};
    gnn_status s = gnn_device_query(op->c, &device);
    bool any = false;
    for (uint32_t w = 0; w < WIDTHS && !s; w++) {
        const gnn_build *b = best_build(a, w ? 64 : 32, device.sm, !rt_on_cuda(op->c));
        if (!b) continue;
        any = true;
        s = gnn_program_load(op->c, b->manifest, b->manifest_size, &b->code, &op->programs[w]);
        if (!s) op->programs[w]->made.artefact = seen;
    }
    return s || any ? s : no_code(op->c, a, device.sm);
}

static gnn_status load_twin(gnn_op *op, const gnn_artefact *a) {
    op->twin = rt_alloc_zeroed(op->c, sizeof *op->twin);
    if (!op->twin) return GNN_NO_MEMORY;
    op->twin->c = op->c;
    return load_builds(op->twin, a->twin, a);
}

gnn_status gnn_op_load(const gnn_artefact *a, gnn_context *c, gnn_op **out) {
    if (!rt_begin(c, __func__, a && out)) return GNN_BAD_ARGUMENT;
    *out = NULL;
    if (a->abi != GNN_ABI)
        return rt_fail(c, GNN_BAD_CODE,
                       "the object was made for another libgnnrt: its interface is %u, not %d",
                       a->abi, GNN_ABI);
    if (!rt_on_cuda(c) && !runs_here())
        return rt_fail(c, GNN_BAD_CODE,
                       "%.60s: the host's code needs a processor with AVX2, FMA and BMI2", a->name);
    gnn_op *op = rt_alloc_zeroed(c, sizeof *op);
    if (!op) return GNN_NO_MEMORY;
    op->c = c;
    gnn_status s = load_builds(op, a, a);
    if (!s && a->twin) s = load_twin(op, a);
    if (s) gnn_op_free(op);
    else *out = op;
    return s;
}

void gnn_op_free(gnn_op *op) {
    if (!op) return;
    gnn_op_free(op->twin);
    for (uint32_t w = 0; w < WIDTHS; w++) gnn_program_free(op->programs[w]);
    rt_free(op->c, op);
}

// ---- Plans --------------------------------------------------------------------------------------
// Whether a result holds indices, which are of the code's width.
static bool gives_indices(const gnn_program *p) {
    for (uint32_t i = 0; i < p->nparams; i++)
        if (p->params[i].is_index && p->params[i].role == GNN_PARAM_RESULT) return true;
    return false;
}

// Maps of 64 bits are converted where nothing else asks for them: code of 32-bit indices reads half
// as much, and the compiler leaves versions for small sizes out of the other (driver/object.c).
static bool wants_64(const gnn_program *p, const rt_arguments *r) {
    const bool by_maps = gives_indices(p);
    int64_t most = 0;
    for (uint32_t i = 0; i < p->nspaces; i++) most = r->sizes[i] > most ? r->sizes[i] : most;
    for (uint32_t i = 0; i < p->nparams; i++) {
        const gnn_map *m = &r->maps[i];
        const gnn_tensor *t = &r->tensors[i];
        if (by_maps && m->width == 64) return true;
        if (m->domain > INT32_MAX || m->codomain > INT32_MAX) return true;
        for (uint32_t k = 0; k < t->rank && k < GNN_MAX_RANK; k++)
            most = t->shape[k] > most ? t->shape[k] : most;
    }
    return most > INT32_MAX;
}

// The same of what goes by name.
static bool named_want_64(const gnn_program *p, const gnn_plan_options *o) {
    const bool by_maps = gives_indices(p);
    int64_t most = 0;
    for (size_t i = 0; i < o->nsizes; i++)
        most = o->sizes[i].value > most ? o->sizes[i].value : most;
    for (size_t i = 0; i < o->nmaps; i++) {
        const gnn_map *m = &o->maps[i].map;
        if (by_maps && m->width == 64) return true;
        most = m->domain > most ? m->domain : most;
        most = m->codomain > most ? m->codomain : most;
    }
    for (size_t i = 0; o->args && i < o->nargs; i++) {
        const gnn_tensor *t = o->args[i].tensor;
        for (uint32_t k = 0; t && k < t->rank && k < GNN_MAX_RANK; k++)
            most = t->shape[k] > most ? t->shape[k] : most;
    }
    return most > INT32_MAX;
}

// wide: where both widths are there, that of 64 bits.
static gnn_status choose_width(const gnn_op *op, bool wide, uint32_t bits, gnn_program **out) {
    gnn_program *const *p = op->programs;
    const gnn_program *any = p[0] ? p[0] : p[1];
    if (bits && bits != 32 && bits != 64)
        return rt_fail(op->c, GNN_BAD_ARGUMENT, "plan of %.60s: indices have 32 or 64 bits, not %u",
                       any->name, bits);
    if (bits && !p[bits == 64])
        return rt_fail(op->c, GNN_BAD_CODE,
                       "%.60s holds no code of %u-bit indices: compile with --index=%u", any->name,
                       bits, bits);
    *out = bits ? p[bits == 64] : p[0] && p[1] ? p[wide] : p[0] ? p[0] : p[1];
    return GNN_OK;
}

// Whether a map or a tensor says the size of a space.
static bool tells(const gnn_program *p, const rt_arguments *r, uint32_t i, uint32_t space) {
    const rt_param *q = &p->params[i];
    const gnn_map *m = &r->maps[i];
    const gnn_tensor *t = r->args[i].tensor;
    if (q->role == GNN_PARAM_MAP)
        return (q->rank == 1 && q->axes[0] == space && m->domain > 0) ||
               ((uint32_t)q->into == space && m->codomain > 0);
    for (uint32_t k = 0; t && t->rank == q->rank && k < q->rank; k++)
        if (q->axes[k] == space) return true;
    return false;
}

static bool has_axis(const rt_param *q, uint32_t space) {
    bool has = q->role == GNN_PARAM_MAP && (uint32_t)q->into == space;
    for (uint32_t k = 0; k < q->rank; k++) has |= q->axes[k] == space;
    return has;
}

// A size of 0 that was perhaps forgotten, which would make of an op one that does nothing: `of` is
// an array of the space, or NULL where none shows whether there are any.
static gnn_status forgotten(gnn_context *c, const char *size, const char *of) {
    return rt_fail(
        c, GNN_MISSING,
        "%.60s is 0, %s%.60s: give its size; GNN_EMPTY where it is 0, GNN_TOLD where maps and tensors tell it",
        size, of ? "but there is an array of " : "which no array shows to be so", of ? of : "");
}

// Whether a member that is 0 says so: where nothing else tells, and no array is given of the space.
static gnn_status check_zero(gnn_context *c, const gnn_program *p, const rt_arguments *r,
                             uint32_t space, bool *says) {
    bool any = false, told = false;
    const char *given = NULL;
    for (uint32_t i = 0; i < p->nparams; i++) {
        const rt_param *q = &p->params[i];
        if (!has_axis(q, space) || q->role == GNN_PARAM_SCALAR) continue;
        const void *array = q->role != GNN_PARAM_MAP ? r->tensors[i].data
                            : r->maps[i].index       ? r->maps[i].index
                                                     : r->maps[i].offsets;
        any = true;
        told |= tells(p, r, i, space);
        if (array && !given) given = q->name;
    }
    *says = !told;
    return told || (any && !given) ? GNN_OK : forgotten(c, p->spaces[space].name, given);
}

// What was told, in the form a plan takes; maps and sizes have room for every parameter and space.
static gnn_status fill_options(const gnn_program *p, rt_arguments *r, gnn_named_map *maps,
                               gnn_size *sizes, gnn_plan_options *o) {
    gnn_status s = GNN_OK;
    for (uint32_t i = 0; i < p->nspaces && !s; i++) {
        bool said = p->spaces[i].kind == RT_FREE && r->sizes[i] != GNN_TOLD;
        if (said && !r->sizes[i]) s = check_zero(p->c, p, r, i, &said);
        if (said)
            sizes[o->nsizes++] = (gnn_size){p->spaces[i].name,
                                            r->sizes[i] == GNN_EMPTY ? 0 : r->sizes[i]};
    }
    for (uint32_t i = 0; i < p->nparams && !s; i++) {
        const rt_param *q = &p->params[i];
        gnn_map *m = &r->maps[i];
        if (r->args[i].tensor && !r->args[i].tensor->rank) r->args[i].tensor = NULL;
        if (q->role != GNN_PARAM_MAP || q->facts & RT_PREFIX) continue;
        if (!m->codomain) m->codomain = -1;   // an empty codomain is told by its size
        maps[o->nmaps++] = (gnn_named_map){q->name, *m};
    }
    return s;
}

static gnn_status plan_by(gnn_program *p, rt_heap *h, rt_arguments *r, gnn_plan_options *o,
                          gnn_plan **out) {
    gnn_named_map *maps = rt_heap_alloc(h, p->nparams, sizeof *maps);
    gnn_size *sizes = rt_heap_alloc(h, p->nspaces, sizeof *sizes);
    if (!maps || !sizes) return GNN_NO_MEMORY;
    gnn_status s = fill_options(p, r, maps, sizes, o);
    if (s) return s;
    o->maps = maps;
    o->sizes = sizes;
    o->args = r->args;
    o->nargs = p->nparams;
    s = gnn_plan_new(p, o, out);
    if (!s) s = rt_arguments_new(&(*out)->heap, p, &(*out)->arguments);
    if (!s) return GNN_OK;
    gnn_plan_free(*out);
    *out = NULL;
    return s;
}

gnn_status gnn_op_plan(const gnn_artefact *a, gnn_op *op, const void *args, const gnn_op_options *o,
                       gnn_plan **out) {
    static const gnn_op_options none;
    if (!rt_begin(RT_OF(op), __func__, a && args && out)) return GNN_BAD_ARGUMENT;
    *out = NULL;
    if (!o) o = &none;
    const bool keeps = o->flags & GNN_SAVED;
    const gnn_op *used = keeps && op->twin ? op->twin : op;
    gnn_program *p = used->programs[0] ? used->programs[0] : used->programs[1];
    if (p->made.artefact != a)
        return rt_fail(op->c, GNN_BAD_ARGUMENT, "%.60s_plan is given the op %.60s", a->name,
                       p->made.artefact->name);
    if (keeps && !p->made.saved)
        return rt_fail(op->c, GNN_BAD_ARGUMENT,
                       "plan of %.60s: GNN_SAVED is for an op with a gradient, or a gradient",
                       p->name);
    rt_heap heap = {op->c, NULL};
    rt_arguments *r;
    gnn_plan_options options = {.flags = o->flags & ~(uint32_t)GNN_SAVED,
                                .version = o->version,
                                .stream = o->stream,
                                .cache = o->cache};
    gnn_status s = rt_arguments_new(&heap, p, &r);
    if (!s) {
        rt_arguments_read(p, args, r);
        s = choose_width(used, wants_64(p, r), o->index_bits, &p);
    }
    if (!s) s = plan_by(p, &heap, r, &options, out);
    if (!s) (*out)->keeps = keeps;
    rt_heap_free(&heap);
    return s;
}

// ---- By name ------------------------------------------------------------------------------------
uint32_t gnn_abi(void) { return GNN_ABI; }

static const gnn_op *of_flags(const gnn_op *op, uint32_t flags) {
    return flags & GNN_SAVED && op->twin ? op->twin : op;
}

gnn_program *gnn_op_program(gnn_op *op, uint32_t index_bits, uint32_t flags) {
    if (!op || (index_bits && index_bits != 32 && index_bits != 64)) return NULL;
    gnn_program *const *p = of_flags(op, flags)->programs;
    return index_bits ? p[index_bits == 64] : p[0] ? p[0] : p[1];
}

gnn_status gnn_op_plan_named(gnn_op *op, const gnn_plan_options *o, uint32_t index_bits,
                             gnn_plan **out) {
    if (!rt_begin(RT_OF(op), __func__, o && out)) return GNN_BAD_ARGUMENT;
    *out = NULL;
    gnn_program *p = gnn_op_program(op, 0, o->flags);
    gnn_status s = choose_width(of_flags(op, o->flags), named_want_64(p, o), index_bits, &p);
    gnn_plan_options options = *o;
    options.flags &= ~(uint32_t)GNN_SAVED;
    return s ? s : gnn_plan_new(p, &options, out);
}

gnn_program *gnn_plan_program(gnn_plan *plan) { return plan ? plan->p : NULL; }

// ---- Launches -----------------------------------------------------------------------------------
// The plan has the maps and sizes it was made with: others would be ignored.
static gnn_status check_same_size(const gnn_plan *plan, const rt_arguments *r, uint32_t space) {
    const int64_t given = r->sizes[space], size = given == GNN_EMPTY ? 0 : given,
                  made = plan->sizes[space];
    bool says;
    if (plan->p->spaces[space].kind != RT_FREE || given == GNN_TOLD) return GNN_OK;
    if (!given) return made ? GNN_OK : check_zero(plan->c, plan->p, r, space, &says);
    if (size == made) return GNN_OK;
    return rt_fail(plan->c, GNN_SIZE_MISMATCH, "%.60s is %lld, but the plan was made for %lld",
                   plan->p->spaces[space].name, (long long)size, (long long)made);
}

static gnn_status check_same(const gnn_plan *plan, const rt_arguments *r) {
    const gnn_program *p = plan->p;
    for (uint32_t i = 0; i < p->nspaces; i++) {
        gnn_status s = check_same_size(plan, r, i);
        if (s) return s;
    }
    for (uint32_t i = 0; i < p->nparams; i++) {
        const gnn_map *m = &r->maps[i], *given = &plan->given[i];
        if ((m->index || m->offsets) &&
            (m->index != given->index || m->offsets != given->offsets || m->width != given->width ||
             m->on_device != given->on_device))
            return rt_fail(plan->c, GNN_BAD_ARGUMENT,
                           "map %.60s is not the one the plan was made with", p->params[i].name);
    }
    return GNN_OK;
}

// Where each part of the buffer lies. A forward launch that was to leave it, but not asked to, is
// told.
static gnn_status place_saved(gnn_plan *plan, rt_arguments *r) {
    const size_t bytes = gnn_plan_saved(plan);
    size_t at = 0;
    if (r->saved && !plan->keeps)
        return rt_fail(plan->c, GNN_BAD_ARGUMENT,
                       "`saved` is given to a plan of %.60s that was made without GNN_SAVED",
                       plan->p->name);
    if (bytes && (!r->saved || (uintptr_t)r->saved % 256))
        return rt_fail(plan->c, GNN_BAD_ARGUMENT,
                       "`saved` of %.60s is %s: it has %zu bytes (gnn_plan_saved), aligned to 256",
                       plan->p->name, r->saved ? "not aligned" : "NULL", bytes);
    for (uint32_t i = 0; i < plan->p->nparams; i++) {
        if (plan->p->params[i].facts & RT_SAVED) r->tensors[i].data = (char *)r->saved + at;
        at += rt_saved_bytes(plan, i);
    }
    return GNN_OK;
}

static gnn_status read_call(const gnn_artefact *a, gnn_plan *plan, const void *args) {
    if (plan->p->made.artefact != a || !plan->arguments)
        return rt_fail(plan->c, GNN_BAD_ARGUMENT,
                       "%.60s is given a plan of %.60s that its call did not make", a->name,
                       plan->p->name);
    rt_arguments *r = plan->arguments;
    rt_arguments_read(plan->p, args, r);
    gnn_status s = check_same(plan, r);
    if (!s) s = place_saved(plan, r);
    for (uint32_t i = 0; i < plan->p->nparams && !s; i++) {
        gnn_tensor *t = &r->tensors[i], shaped;
        if (!r->args[i].tensor || t->rank) continue;
        s = gnn_plan_shape(plan, i, &shaped);
        t->dtype = shaped.dtype;
        t->rank = shaped.rank;
        memcpy(t->shape, shaped.shape, sizeof t->shape);
    }
    return s;
}

gnn_status gnn_op_check(const gnn_artefact *a, gnn_plan *plan, const void *args) {
    if (!rt_begin(RT_OF(plan), __func__, a && args)) return GNN_BAD_ARGUMENT;
    gnn_status s = read_call(a, plan, args);
    return s ? s : gnn_check(plan, plan->arguments->args, plan->p->nparams);
}

gnn_status gnn_op_workspace(const gnn_artefact *a, gnn_plan *plan, const void *args,
                            size_t *bytes) {
    if (!rt_begin(RT_OF(plan), __func__, a && args && bytes)) return GNN_BAD_ARGUMENT;
    *bytes = 0;
    gnn_status s = read_call(a, plan, args);
    return s ? s : gnn_plan_workspace_for(plan, plan->arguments->args, plan->p->nparams, bytes);
}

gnn_status gnn_op_launch(const gnn_artefact *a, gnn_plan *plan, const void *args, void *workspace,
                         size_t workspace_bytes, gnn_stream stream) {
    if (!rt_begin(RT_OF(plan), __func__, a && args)) return GNN_BAD_ARGUMENT;
    gnn_status s = read_call(a, plan, args);
    return s ? s
             : gnn_launch(plan, plan->arguments->args, plan->p->nparams, workspace, workspace_bytes,
                          stream);
}
