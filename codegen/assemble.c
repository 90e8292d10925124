// PTX to a cubin by the first assembler that is here and takes it: ptxas, nvJitLink, the CUDA
// driver; or by the one that was asked for.
#include "assemble.h"
#include "compile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PTXAS, NVJITLINK, DRIVER, ASSEMBLER_COUNT };   // in the order they are tried
static const cg_assembler assemblers[ASSEMBLER_COUNT] = {
    [PTXAS] = {"ptxas", cg_ptxas_find, cg_ptxas_assemble},   // starts sooner than nvJitLink loads
    [NVJITLINK] = {"nvjitlink", cg_nvjitlink_find, cg_nvjitlink_assemble},
    [DRIVER] = {"driver", cg_driver_find, cg_driver_assemble},
};

static bool absent(diag_set *ds, const char *name) {
    diagnostic *d = name ? diag(ds, E0701, NO_SPAN, "the assembler '%s' was not found", name)
                         : diag(ds, E0701, NO_SPAN, "no assembler for PTX was found");
    diag_note(d, NO_SPAN,
              "looked for libnvJitLink and ptxas in $GNNC_PTXAS, $PATH, $CUDA_HOME, "
              "/usr/local/cuda, Python's site-packages and build/, and for a GPU's driver");
    diag_help(d, "`pip install nvidia-cuda-nvcc` brings ptxas; --emit=ptx needs no assembler");
    return false;
}

static bool refused(diag_set *ds, const cg_assembly *job, const char *name) {
    diagnostic *d = diag(ds, E0702, NO_SPAN, "%s did not assemble the PTX for %s", name,
                         job->arch->name);
    diag_note(d, NO_SPAN, "%s: %s", job->path, job->fault);
    diag_help(d, "it may be older than PTX %u.%u; $GNNC_PTXAS names another", job->arch->ptx / 10,
              job->arch->ptx % 10);
    return false;
}

// An assembler named by path: libraries by their name, anything else is a ptxas.
static const cg_assembler *by_path(const char *path) {
    const char *base = strrchr(path, '/');
    return base ? &assemblers[strstr(base, "nvJitLink") ? NVJITLINK : PTXAS] : NULL;
}

// What was asked for: by the caller, or by the user's $GNNC_PTXAS; NULL: whatever is found.
static const char *asked(const cg_options *o) {
    const char *ptxas = getenv("GNNC_PTXAS");
    return o->assembler ? o->assembler : ptxas && strchr(ptxas, '/') ? ptxas : NULL;
}

static bool wanted(const char *name, const cg_assembler *x) {
    return !name || !strcmp(name, x->name) || by_path(name) == x;
}

// The job for the k-th assembler; its path is NULL where that is not wanted or not here.
static cg_assembly job_for(arena *a, const cg_assembling *s, uint32_t k) {
    const char *name = asked(s->options);
    cg_assembly job = {.arena = a, .arch = s->arch, .options = s->options, .several = s->several};
    if (!wanted(name, &assemblers[k])) return job;
    job.path = name && by_path(name) ? (access(name, R_OK) ? NULL : name) : assemblers[k].find(a);
    return job;
}

// The first assembler that will be tried: its name and its file.
static const char *identity(arena *a, const cg_assembling *s) {
    for (uint32_t k = 0; k < ASSEMBLER_COUNT; k++) {
        cg_assembly job = job_for(a, s, k);
        // the driver's own is in a library that its name does not tell
        const char *file = job.path && k != DRIVER ? cg_file_identity(a, job.path) : NULL;
        if (job.path) return file ? arena_printf(a, "%s %s", assemblers[k].name, file) : NULL;
    }
    return NULL;
}

const char *cg_assembler_identity(arena *a, const cg_options *o) {
    return identity(a, &(cg_assembling){.options = o});
}

// All that a cubin depends on beside its PTX.
static const char *how(arena *a, const cg_assembling *s) {
    const cg_options *o = s->options;
    const char *who = o->cubins ? identity(a, s) : NULL;
    return who ? arena_printf(a, "%s\n%s -O%u lineinfo=%d verbose=%d several=%d", who,
                              s->arch->name, cg_assembler_level(o), o->line_info,
                              o->verbose_assembler, s->several)
               : NULL;
}

// An assembler that was replaced while it ran may be the new one or the old.
static void keep(arena *a, const cg_assembling *s, const cg_output *ptx, const cg_output *cubin,
                 bool first) {
    cg_cubins *c = s->options->cubins;
    const char *now = first ? how(a, s) : NULL;
    if (s->how && now && !strcmp(s->how, now)) c->keep(c, a, s->how, ptx, cubin);
    else c->others++;
}

static bool find(arena *a, cg_assembling *s, const cg_output *ptx, cg_output *out) {
    cg_cubins *c = s->options->cubins;
    *out = (cg_output){.log = ""};
    if (!s->how || !c->find(c, a, s->how, ptx, out)) return false;
    cg_assemble_cancel(s);
    return true;
}

// ptxas is the first that is tried, so if it is here it will be run.
void cg_assemble_begin(arena *a, cg_assembling *s) {
    cg_assembly job = job_for(a, s, PTXAS);
    s->how = how(a, s);
    s->early = job.path ? cg_ptxas_start(&job) : NULL;
}

void cg_assemble_cancel(cg_assembling *s) {
    if (s->early) cg_ptxas_kill(s->early);
    s->early = NULL;
}

bool cg_assemble_end(arena *a, diag_set *ds, cg_assembling *s, const cg_output *ptx,
                     cg_output *out) {
    cg_assembly first = {0};
    const char *failed = NULL;
    if (find(a, s, ptx, out)) return true;
    for (uint32_t k = 0; k < ASSEMBLER_COUNT; k++) {
        cg_assembly job = job_for(a, s, k);
        if (!job.path) continue;
        job.ptx = ptx->data;
        job.ptx_size = ptx->size;
        job.early = k == PTXAS ? s->early : NULL;
        *out = (cg_output){.log = ""};
        if (assemblers[k].assemble(&job, out)) {
            if (s->options->cubins) keep(a, s, ptx, out, !failed);
            return true;
        }
        if (failed) continue;
        failed = assemblers[k].name;
        first = job;
    }
    return failed ? refused(ds, &first, failed) : absent(ds, asked(s->options));
}

bool cg_ptx_assemble(arena *a, diag_set *ds, const cg_output *ptx, const gpu_arch *arch,
                     const cg_options *o, cg_output *out) {
    cg_assembling s = {.arch = arch, .options = o, .several = !o->beside};
    cg_assemble_begin(a, &s);
    return cg_assemble_end(a, ds, &s, ptx, out);
}

bool cg_assemblers(textbuf *out) {
    bool any = false;
    for (uint32_t k = 0; k < ASSEMBLER_COUNT; k++) {
        const char *path = assemblers[k].find(out->arena);
        textbuf_printf(out, "%s: %s\n", assemblers[k].name, path ? path : "not found");
        any |= path != NULL;
    }
    return any;
}
