// Programs: a manifest with its code, and what callers ask about them.
#include "inflate.h"
#include "json.h"
#include "prepare.h"
#include "tables.h"

#include <stdio.h>
#include <string.h>

// ---- Code ---------------------------------------------------------------------------------------
static gnn_status find_host_kernels(gnn_program *p, const gnn_code *code) {
    for (uint32_t i = 0; i < p->nkernels; i++) {
        rt_kernel *k = &p->kernels[i];
        for (size_t j = 0; j < code->nkernels && !k->host; j++)
            if (code->kernels[j].name && !strcmp(code->kernels[j].name, k->name))
                k->host = code->kernels[j].fn;
        if (!k->host)
            return rt_fail(p->c, GNN_BAD_CODE, "%.60s: the code has no kernel `%.60s`", p->name,
                           k->name);
    }
    return GNN_OK;
}

// The module may declare its shared memory, all or part of it; a launch asks for the rest.
static gnn_status fit_shared(gnn_program *p, rt_kernel *k) {
    enum { ATTRIBUTE_SHARED = 1, ATTRIBUTE_DYNAMIC = 8 };   // of CUfunction_attribute
    enum { PLAIN_LIMIT = 48 * 1024 };                       // what any launch may ask for
    gnn_context *c = p->c;
    int declared = 0;
    int64_t most = 0;
    gnn_status s = CU_CALL(c, FuncGetAttribute, (&declared, ATTRIBUTE_SHARED, k->cuda));
    if (s) return s;
    k->dynamic = k->shared > (uint32_t)declared ? k->shared - (uint32_t)declared : 0;
    if (!k->dynamic || k->shared <= PLAIN_LIMIT) return GNN_OK;
    s = rt_device_number(c, RT_DEVICE_SHARED_BYTES, &most);
    if (s) return s;
    k->unfit = k->shared > most;   // only plans that would launch it are refused
    return k->unfit ? GNN_OK
                    : CU_CALL(c, FuncSetAttribute, (k->cuda, ATTRIBUTE_DYNAMIC, (int)k->dynamic));
}

// The driver copies the image.
static gnn_status load_image(gnn_program *p, const gnn_code *code) {
    char whose[100];
    rt_plain image;
    snprintf(whose, sizeof whose, "%.60s: code for %.20s", p->name, p->made.target);
    gnn_status s = rt_inflate(p->c, GNN_BAD_CODE, whose, code->image, code->size, &image);
    if (!s) s = rt_cuda_load(p->c, p->name, p->made.target, image.data, &p->module);
    rt_free(p->c, image.owned);
    return s;
}

static gnn_status find_cuda_kernels(gnn_program *p, const gnn_code *code) {
    gnn_context *c = p->c;
    gnn_status s = load_image(p, code);
    for (uint32_t i = 0; i < p->nkernels && !s; i++) {
        rt_kernel *k = &p->kernels[i];
        if (c->cuda.ModuleGetFunction(&k->cuda, p->module, k->name))
            return rt_fail(c, GNN_BAD_CODE, "%.60s: the code has no kernel `%.60s`", p->name,
                           k->name);
        s = fit_shared(p, k);
    }
    return s;
}

static void fit_simulated(gnn_program *p) {
    for (uint32_t i = 0; i < p->nkernels; i++)
        p->kernels[i].unfit = p->kernels[i].shared > p->c->simulator->device.shared_bytes;
}

static gnn_status load_code(gnn_program *p, const gnn_code *code) {
    const bool cuda = !strncmp(p->made.target, "sm_", 3);
    if (cuda && p->c->simulator) {
        fit_simulated(p);
        return GNN_OK;
    }
    if (cuda != rt_on_cuda(p->c) || p->c->simulator)
        return rt_fail(p->c, GNN_BAD_CODE, "%.60s is compiled for %.20s, but the context is %s",
                       p->name, p->made.target,
                       cuda              ? "the host's"
                       : p->c->simulator ? "a simulated GPU's"
                                         : "a CUDA device's");
    if (!cuda)
        return code->kernels || !p->nkernels
                   ? find_host_kernels(p, code)
                   : rt_fail(p->c, GNN_MISSING, "%.60s: no host kernels are given", p->name);
    if (!code->image || !code->size)
        return rt_fail(p->c, GNN_MISSING, "%.60s: no CUDA code is given", p->name);
    bool pushed;
    gnn_status s = rt_enter(p->c, &pushed);
    if (!s) s = find_cuda_kernels(p, code);
    rt_leave(p->c, pushed);
    return s;
}

gnn_status gnn_program_load(gnn_context *c, const char *manifest, size_t length,
                            const gnn_code *code, gnn_program **out) {
    if (!rt_begin(c, __func__, manifest && code && out)) return GNN_BAD_ARGUMENT;
    *out = NULL;
    gnn_program *p = rt_alloc_zeroed(c, sizeof *p);
    if (!p) return GNN_NO_MEMORY;
    p->c = p->heap.c = c;
    rt_plain text;
    gnn_status s = rt_inflate(c, GNN_BAD_MANIFEST, "manifest", manifest, length, &text);
    if (!s) s = rt_manifest_read(p, text.data, text.size);
    rt_free(c, text.owned);
    if (!s) s = load_code(p, code);
    if (s) gnn_program_free(p);
    else *out = p;
    return s;
}

void gnn_program_free(gnn_program *p) {
    if (!p) return;
    bool pushed;
    if (p->module && rt_enter_to_free(p->c, &pushed)) {
        p->c->cuda.ModuleUnload(p->module);
        rt_leave(p->c, pushed);
    }
    rt_manifest_free(p);
    rt_free(p->c, p);
}

// ---- Questions ----------------------------------------------------------------------------------
const char *gnn_program_name(const gnn_program *p) { return p ? p->name : ""; }

const char *gnn_program_gradient_of(const gnn_program *p) { return p ? p->made.gradient_of : NULL; }

const char *gnn_program_target(const gnn_program *p) { return p ? p->made.target : ""; }

uint32_t gnn_program_index_bits(const gnn_program *p) { return p ? p->made.index_bits : 0; }

bool gnn_program_deterministic(const gnn_program *p) { return p && p->made.deterministic; }

uint32_t gnn_program_params(const gnn_program *p) { return p ? p->nparams : 0; }

static bool step_takes(const rt_step *s, uint32_t param) {
    for (uint32_t k = 0; k < s->nargs; k++)
        if ((s->args[k].kind == RT_ARG_DATA || s->args[k].kind == RT_ARG_VALUE) &&
            s->args[k].index == param)
            return true;
    return false;
}

// Whether no kernel is given the array, as a gradient takes all that its op took.
static bool is_unread(const gnn_program *p, uint32_t param) {
    for (uint32_t v = 0; v < p->nversions; v++)
        for (uint32_t i = 0; i < p->versions[v].nsteps; i++)
            if (step_takes(&p->versions[v].steps[i], param)) return false;
    return p->params[param].role == GNN_PARAM_TENSOR;
}

gnn_status gnn_program_param(const gnn_program *p, uint32_t i, gnn_param_info *out) {
    if (!rt_begin(RT_OF(p), __func__, p && out && i < p->nparams)) return GNN_BAD_ARGUMENT;
    const rt_param *q = &p->params[i];
    *out = (gnn_param_info){.name = q->name,
                            .role = q->role,
                            .dtype = q->dtype,
                            .is_index = q->is_index,
                            .sorted = q->facts & RT_SORTED,
                            .unique = q->facts & RT_UNIQUE,
                            .partial = q->facts & RT_PARTIAL,
                            .prefix = q->facts & RT_PREFIX,
                            .strided = q->facts & RT_STRIDED,
                            .packed = q->facts & RT_PACKED,
                            .saved = q->facts & RT_SAVED,
                            .given = q->facts & RT_GIVEN,
                            .unread = is_unread(p, i),
                            .rank = q->rank,
                            .axes = q->axes,
                            .into = q->into,
                            .sorted_by = q->sorted_by,
                            .inplace = q->inplace,
                            .align = q->align,
                            .adjoint_of = q->adjoint_of};
    return GNN_OK;
}

int gnn_program_param_find(const gnn_program *p, const char *name) {
    for (uint32_t i = 0; p && name && i < p->nparams; i++)
        if (!strcmp(p->params[i].name, name)) return (int)i;
    return -1;
}

uint32_t gnn_program_spaces(const gnn_program *p) { return p ? p->nspaces : 0; }

gnn_status gnn_program_space(const gnn_program *p, uint32_t i, gnn_space_info *out) {
    if (!rt_begin(RT_OF(p), __func__, p && out && i < p->nspaces)) return GNN_BAD_ARGUMENT;
    const rt_json *row = rt_json_at(rt_json_get(p->json, "spaces"), i);
    *out = (gnn_space_info){p->spaces[i].name, p->spaces[i].kind == RT_FREE,
                            rt_json_text(rt_json_get(row, "size"))};
    return GNN_OK;
}

uint32_t gnn_program_versions(const gnn_program *p) { return p ? p->nversions : 0; }

const char *gnn_program_version(const gnn_program *p, uint32_t i) {
    return p && i < p->nversions ? p->versions[i].name : NULL;
}
