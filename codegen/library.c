// A library that is opened while a program runs: an index as JSON, behind it manifests, images and
// the host's code (runtime/LIBRARY.md). All kernels of the host lie in one piece of code, which
// ends in a table of where each begins.
#include "compile.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

typedef struct {
    arena *arena;
    diag_set *ds;
    const cg_options *options;
    cg_unit unit;
    VEC(LLVMValueRef) kernels;   // of the host
    textbuf index, blobs;
} library;

static const char *const table_name = "gnn_kernels";
enum { BLOB_ALIGN = 64 };

// ---- Blobs --------------------------------------------------------------------------------------
static void pad(textbuf *t, size_t begin) {
    while ((t->len - begin) % BLOB_ALIGN) textbuf_putn(t, "", 1);
}

static void put_blob(library *l, const char *key, const char *data, size_t size) {
    pad(&l->blobs, 0);
    textbuf_printf(&l->index, "\"%s\": {\"at\": %zu, \"bytes\": %zu}", key, l->blobs.len, size);
    textbuf_putn(&l->blobs, data, size);
}

// ---- Builds -------------------------------------------------------------------------------------
static bool put_host(library *l, const cg_build *b) {
    const simt_module *m = b->program->module;
    const cg_job job = {.module = m,
                        .target = &b->target,
                        .cpu = CG_CPU_PORTABLE,
                        .form = CG_OBJECT,
                        .options = l->options};
    LLVMValueRef *functions;
    cg_fatal_watch(m);
    if (!cg_unit_emit(&l->unit, l->arena, l->ds, &job, &functions)) return false;
    textbuf_printf(&l->index, "\"first\": %u, \"kernels\": [", l->kernels.len);
    const char *between = "";
    for (uint32_t k = 0; k < m->funcs.len; k++) {
        if (!m->funcs.data[k]->kernel) continue;
        LLVMSetLinkage(functions[k], LLVMInternalLinkage);
        LLVMSetUnnamedAddress(functions[k], LLVMGlobalUnnamedAddr);
        VEC_PUSH(l->arena, &l->kernels, functions[k]);
        textbuf_printf(&l->index, "%s\"%s\"", between, m->funcs.data[k]->name);
        between = ", ";
    }
    textbuf_puts(&l->index, "]");
    return true;
}

static bool put_build(library *l, const cg_build *b) {
    const bool host = b->target.kind == CG_HOST;
    textbuf text = textbuf_new(l->arena);
    cg_manifest(&text, b->program, &b->target);
    const cg_output manifest = cg_deflate(l->arena, text.data, text.len);
    textbuf_printf(&l->index, "{\"target\": \"%s\", \"index_bits\": %u, \"ptx\": %s, ",
                   host ? "host" : b->target.arch->name, b->program->index_bits,
                   b->is_ptx ? "true" : "false");
    put_blob(l, "manifest", manifest.data, manifest.size);
    textbuf_puts(&l->index, ", ");
    if (host && !put_host(l, b)) return false;
    if (!host) put_blob(l, "image", b->image.data, b->image.size);
    textbuf_puts(&l->index, "}");
    return true;
}

static bool put_builds(library *l, const cg_artefact *op) {
    textbuf_puts(&l->index, "\"builds\": [");
    for (uint32_t k = 0; k < op->builds.len; k++) {
        textbuf_puts(&l->index, k ? ",\n    " : "\n    ");
        if (!put_build(l, &op->builds.data[k])) return false;
    }
    textbuf_puts(&l->index, "]");
    return true;
}

static bool put_op(library *l, const cg_artefact *op) {
    textbuf_printf(&l->index, "\n  {\"name\": \"%s\", \"path\": \"%s\", ",
                   op->builds.data[0].program->name, op->path);
    if (!put_builds(l, op)) return false;
    if (op->twin) textbuf_puts(&l->index, ",\n   \"twin\": {");
    if (op->twin && !put_builds(l, op->twin)) return false;
    textbuf_puts(&l->index, op->twin ? "}}" : "}");
    return true;
}

// ---- The host's code ----------------------------------------------------------------------------
// How far from the table each kernel begins, which is so wherever the code lies.
static void define_table(library *l) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(l->unit.context),
                i64 = LLVMInt64TypeInContext(l->unit.context);
    LLVMValueRef table = LLVMAddGlobal(l->unit.llvm, LLVMArrayType2(i32, l->kernels.len),
                                       table_name),
                 *rows = ARENA_ARRAY(l->arena, LLVMValueRef, l->kernels.len),
                 from = LLVMConstPtrToInt(table, i64);
    for (uint32_t k = 0; k < l->kernels.len; k++)
        rows[k] = LLVMConstTrunc(LLVMConstSub(LLVMConstPtrToInt(l->kernels.data[k], i64), from),
                                 i32);
    LLVMSetInitializer(table, LLVMConstArray2(i32, rows, l->kernels.len));
    LLVMSetGlobalConstant(table, true);
    LLVMSetVisibility(table, LLVMHiddenVisibility);
}

static void put_code(library *l) {
    if (!l->kernels.len) return;
    uint64_t table = 0;
    define_table(l);
    cg_unit_merge(&l->unit);
    cg_unit_optimise(&l->unit, l->options);
    LLVMMemoryBufferRef object = cg_unit_code(&l->unit, LLVMObjectFile);
    const cg_output elf = {LLVMGetBufferStart(object), LLVMGetBufferSize(object), ""},
                    code = cg_flatten(l->arena, &elf, table_name, &table);
    LLVMDisposeMemoryBuffer(object);
    textbuf_puts(&l->index, ",\n ");
    put_blob(l, "host", code.data, code.size);
    textbuf_printf(&l->index, ",\n \"table\": %" PRIu64 ", \"kernels\": %u", table, l->kernels.len);
}

// ---- The file -----------------------------------------------------------------------------------
static void join(library *l, cg_output *out) {
    const uint64_t length = l->index.len;
    textbuf file = textbuf_new(l->arena);
    textbuf_puts(&file, "gnnlib1\n");
    for (uint32_t k = 0; k < 8; k++) textbuf_putn(&file, &(char){(char)(length >> 8 * k & 255)}, 1);
    textbuf_putn(&file, l->index.data, l->index.len);
    pad(&file, 0);
    textbuf_putn(&file, l->blobs.data, l->blobs.len);
    *out = (cg_output){file.data, file.len, ""};
}

bool cg_library(arena *a, diag_set *ds, const cg_artefact *ops, uint32_t nops,
                const cg_options *options, cg_output *out) {
    library l = {
        .arena = a, .ds = ds, .options = options, .index = textbuf_new(a), .blobs = textbuf_new(a)};
    const cg_target host = {.kind = CG_HOST};
    const cg_job job = {
        .target = &host, .cpu = CG_CPU_PORTABLE, .form = CG_OBJECT, .options = options};
    cg_unit_new(&l.unit, &job);
    textbuf_printf(&l.index, "{\"gnnc_library\": 1, \"abi\": %d, \"ops\": [", CG_ABI);
    bool ok = true;
    for (uint32_t k = 0; k < nops && ok; k++) {
        if (k) textbuf_puts(&l.index, ",");
        ok = put_op(&l, &ops[k]);
    }
    textbuf_puts(&l.index, "]");
    if (ok) put_code(&l);
    cg_unit_close(&l.unit);
    const uLong sum = crc32_z(0, (const Bytef *)l.blobs.data, l.blobs.len);
    textbuf_printf(&l.index, ",\n \"crc32\": %lu, \"bytes\": %zu}\n", sum, l.blobs.len);
    if (ok) join(&l, out);
    return ok;
}
