// Code generation: simt IR to machine code through LLVM 22, one walk for every target, and a
// program to its manifest. LLVM stays in this folder; so does the search for an assembler.
//
// Enters: verified simt modules, programs. Leaves: text and bytes in the caller's arena. LLVM
// objects live and die in the file that made them; a fatal error of LLVM becomes a reproducer file
// and exit status 70.
//
//     cg_output ptx = {0};
//     if (!cg_emit(a, ds, m, &(cg_target){.kind = CG_CUDA, .arch = gpu_arch_find("sm_90a")}, CG_PTX, &opts, &ptx)) …
#ifndef GNNC_CODEGEN_H
#define GNNC_CODEGEN_H

#include "gpu.h"
#include "program.h"

#include <stdatomic.h>

typedef enum { CG_HOST, CG_CUDA } cg_target_kind;
typedef struct {
    cg_target_kind kind;
    const gpu_arch *arch;   // CG_CUDA
} cg_target;

typedef enum { CG_LLVM, CG_PTX, CG_CUBIN, CG_OBJECT, CG_ASSEMBLY } cg_form;
typedef struct cg_cubins cg_cubins;
typedef struct {
    uint32_t optimise;   // 0 … 3
    bool line_info;      // .loc directives (on by default)
    const source_map *sources;
    const char *assembler;    // NULL: the first of nvJitLink, ptxas, driver that is found
    bool verbose_assembler;   // registers, spills and shared bytes of each kernel into log
    const bool *kernels;      // by place in the module: those to make code of; NULL: all
    cg_cubins *cubins;        // NULL: each PTX is assembled
    bool beside;   // many modules are compiled at once: none of them is to take several processors
} cg_options;
typedef struct {
    const char *data;
    size_t size;
    const char *log;   // the assembler's remarks, or ""
} cg_output;

// The caller's store of cubins that were assembled before. `how` tells the assembler, the state of
// its file, and its options. PTX and `how` give the cubin and its log.
struct cg_cubins {
    bool (*find)(cg_cubins *c, arena *a, const char *how, const cg_output *ptx, cg_output *cubin);
    void (*keep)(cg_cubins *c, arena *a, const char *how, const cg_output *ptx,
                 const cg_output *cubin);
    // cubins that are not kept: the first assembler failed, cannot be told apart, or has changed
    atomic_uint others;
};
// The assembler that PTX goes to first, and the state of its file: its place, size and times.
// NULL: none is here, or its file cannot be told.
const char *cg_assembler_identity(arena *a, const cg_options *o);

// false: diagnostics tell why.
bool cg_emit(arena *a, diag_set *ds, const simt_module *m, const cg_target *t, cg_form form,
             const cg_options *o, cg_output *out);

// PTX that others wrote, or edited (ptx_head.c): what it says of itself, outside of the bodies of
// its kernels.
typedef struct {
    const char *name;
    span at;
    VEC(uint32_t) params;     // bytes of each
    uint32_t threads, most;   // .reqntid, .maxntid: all of a block; 0: not said
} cg_ptx_entry;
typedef struct {
    const char *note;   // its first line, where that is a comment, or ""
    uint32_t version;   // PTX version × 10
    const char *arch;   // "sm_90a"
    span version_at, arch_at, shared_at;
    bool shared_mixed;           // of a size (shared_at), beside shared memory that a launch gives
    VEC(cg_ptx_entry) entries;   // at least one
} cg_ptx_head;
// false: diagnostics tell why
bool cg_ptx_read(arena *a, diag_set *ds, const source_file *text, cg_ptx_head *out);
const cg_ptx_entry *cg_ptx_find(const cg_ptx_head *h, const char *name);   // NULL if there is none
bool cg_ptx_assemble(arena *a, diag_set *ds, const cg_output *ptx, const gpu_arch *arch,
                     const cg_options *o, cg_output *out);

// What a kernel takes (usage.c): of a multiprocessor of any architecture so far,
enum {
    CG_REGISTERS = 65536,
    CG_QUARTERS = 4,            // each with its share of the registers,
    CG_REGISTER_UNIT = 256,     // so many of which a warp is given at a time
    CG_SHARED_UNIT = 128,       // bytes of shared memory, likewise a block
    CG_SHARED_RESERVED = 1024   // that a block takes besides its own
};
typedef struct {
    uint32_t registers, stack, spill_stores, spill_loads;   // of a thread; bytes but for registers
} cg_usage;
// from cg_output.log; false: it does not say
bool cg_usage_read(const char *log, const char *kernel, cg_usage *out);
#define CG_LIMITS(X)                                                                               \
    X(THREADS, "threads") X(BLOCKS, "blocks") X(SHARED, "shared") X(REGISTERS, "registers")
typedef enum {
#define X(name, text) CG_BY_##name,
    CG_LIMITS(X)
#undef X
        CG_LIMIT_COUNT
} cg_limit;
const char *cg_limit_text(cg_limit k);
typedef struct {
    uint32_t blocks;   // that a multiprocessor has room for; 0: none fits
    cg_limit limit;    // the first of those that let no more in
    double warps;      // of those it has room for, the share that is taken
} cg_occupancy;
cg_occupancy cg_occupancy_of(const gpu_arch *a, uint32_t threads, uint32_t shared_bytes,
                             uint32_t registers);

// The assemblers found here, a line each, for `gnnc doctor`; and whether there is one.
bool cg_assemblers(textbuf *out);

// Compiles for this machine and keeps the code in memory. A kernel is called once per block.
typedef void (*cg_host_kernel)(const uint64_t *args, uint32_t block, uint32_t blocks);
typedef struct cg_jit cg_jit;
// NULL: diagnostics tell why
cg_jit *cg_jit_new(arena *a, diag_set *ds, const simt_module *m, const cg_options *o);
cg_host_kernel cg_jit_kernel(cg_jit *j, const char *name);
void cg_jit_free(cg_jit *j);

// Code for GPUs of many modules at once (images.c), in any order on threads: what comes out depends
// on each alone.
typedef struct {
    const simt_module *module;
    cg_target target;
    const cg_output *text;   // PTX in place of the module's; NULL: none
    bool wants_ptx;          // beside the cubin
    cg_output cubin, ptx;    // what is made, both by cg_deflate; log: the assembler's remarks
} cg_image;
// false: diagnostics tell why, of the first that was refused. `begun` is told of each image, by one
// thread at a time.
bool cg_images(arena *a, diag_set *ds, cg_image *images, uint32_t n, const cg_options *o,
               uint32_t threads, void (*begun)(void *user, uint32_t image), void *user);
uint32_t cg_processors(void);   // that this process may use

// Compressed, with a header, as objects hold manifests and images (deflate.c). Equal bytes give
// equal bytes.
cg_output cg_deflate(arena *a, const char *data, size_t size);

enum { CG_ABI = 5 };   // GNN_ABI of gnnrt.h

// What applications link: each op with its code for several targets and index widths, as data and
// four small functions (object.c), and the header that declares them (header.c).
typedef struct {
    const program *program;
    cg_target target;
    bool is_ptx;       // CUDA: of the two images below
    cg_output image;   // CUDA: cubin or PTX, by cg_deflate; the host's code is made with the object
} cg_build;
typedef struct cg_artefact {
    VEC(cg_build) builds;   // at least one; their programs have the same parameters and spaces
    const struct cg_artefact *twin;   // that writes or reads what is saved, too; NULL: nothing is
    const char *path;                 // the op's name in its source: "gat.grad"
    const char *comment;   // lines above the op in its source, for the header; NULL: none
} cg_artefact;
bool cg_object(arena *a, diag_set *ds, const cg_artefact *ops, uint32_t nops, const cg_options *o,
               cg_output *out);
// What gnn_library_open opens: the same in one file, without calls (library.c; its form is in
// runtime/LIBRARY.md).
bool cg_library(arena *a, diag_set *ds, const cg_artefact *ops, uint32_t nops, const cg_options *o,
                cg_output *out);
// `name` is the header's without its suffix, `source` the file the ops are of.
void cg_header(textbuf *out, const char *name, const char *source, const cg_artefact *ops,
               uint32_t nops);

// The manifest of a program as JSON text (runtime/MANIFEST.md). `block` of each kernel and target
// go in too.
void cg_manifest(textbuf *out, const program *p, const cg_target *t);

#endif
