// What the assemblers share: where they are looked for, and how they are tried.
#ifndef GNNC_CODEGEN_ASSEMBLE_H
#define GNNC_CODEGEN_ASSEMBLE_H

#include "codegen.h"

typedef struct cg_ptxas cg_ptxas;   // a process that waits for its PTX
typedef struct {
    arena *arena;
    const gpu_arch *arch;
    const cg_options *options;
    const char *ptx;
    size_t ptx_size;
    bool several;        // kernels
    cg_ptxas *early;     // already started; NULL: none
    const char *path;    // of the library or binary, as its `find` gave it or the user
    const char *fault;   // out: why it failed
} cg_assembly;

// One way to make a cubin. `find`: its path, NULL where it is absent; `assemble` fills out or
// job->fault.
typedef struct {
    const char *name;
    const char *(*find)(arena *a);
    bool (*assemble)(cg_assembly *job, cg_output *out);
} cg_assembler;

// The state of the file that a path, or the name of a library that is loaded, stands for; NULL: it
// cannot be told.
const char *cg_file_identity(arena *a, const char *path);
const char *cg_nvjitlink_find(arena *a);
bool cg_nvjitlink_assemble(cg_assembly *job, cg_output *out);
const char *cg_ptxas_find(arena *a);
cg_ptxas *cg_ptxas_start(const cg_assembly *job);   // NULL: it could not be
void cg_ptxas_kill(cg_ptxas *p);
bool cg_ptxas_assemble(cg_assembly *job, cg_output *out);
const char *cg_driver_find(arena *a);
bool cg_driver_assemble(cg_assembly *job, cg_output *out);

// Files that match the glob pattern `tail` under the folders where CUDA and pip packages put
// things.
typedef VEC(const char *) cg_paths;
void cg_paths_cuda(arena *a, cg_paths *out, const char *tail);   // "lib64/libnvJitLink.so*"
// "nvidia/*/lib/libnvJitLink.so*"
void cg_paths_python(arena *a, cg_paths *out, const char *tail);
// in $PATH; NULL if it is not there
const char *cg_path_search(arena *a, const char *name);
// Level 2 is 3 but for the assembler's second half of scheduling, a tenth of its time.
static inline uint32_t cg_assembler_level(const cg_options *o) {
    const uint32_t levels[] = {0, 1, 1, 3};
    return levels[o->optimise];
}

#endif
