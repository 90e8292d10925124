// The object applications link: for each op its builds as constant data, and the functions OP_load,
// OP_plan, OP_check and OP_launch, which hand the op's artefact to libgnnrt's launcher. The host's
// kernels stand in it as functions nobody else sees. The structs are those of the runtime's
// gnnrt.h, which a test links with this.
#include "compile.h"

#include <string.h>

typedef struct {
    cg_output bytes;
    LLVMValueRef global;
} stored;
typedef struct {
    arena *arena;
    diag_set *ds;
    const cg_options *options;
    cg_unit unit;
    LLVMTypeRef pointer, i32, i64;
    VEC(stored) blobs;   // each once, however many builds have it
} object;

// ---- Constants ----------------------------------------------------------------------------------
static LLVMValueRef hidden(object *o, LLVMValueRef value) {
    LLVMValueRef g = LLVMAddGlobal(o->unit.llvm, LLVMTypeOf(value), "");
    LLVMSetInitializer(g, value);
    LLVMSetGlobalConstant(g, true);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    return g;
}

static LLVMValueRef string(object *o, const char *s) {
    LLVMValueRef g = hidden(o, LLVMConstStringInContext2(o->unit.context, s, strlen(s), false));
    LLVMSetUnnamedAddress(g, LLVMGlobalUnnamedAddr);
    return g;
}

// A manifest, or an image.
static LLVMValueRef blob(object *o, cg_output b) {
    for (uint32_t i = 0; i < o->blobs.len; i++) {
        const stored *s = &o->blobs.data[i];
        if (s->bytes.size == b.size && !memcmp(s->bytes.data, b.data, b.size)) return s->global;
    }
    LLVMValueRef g = hidden(o, LLVMConstStringInContext2(o->unit.context, b.data, b.size, true));
    VEC_PUSH(o->arena, &o->blobs, ((stored){b, g}));
    return g;
}

static LLVMValueRef number32(const object *o, uint32_t x) { return LLVMConstInt(o->i32, x, false); }
static LLVMValueRef number64(const object *o, uint64_t x) { return LLVMConstInt(o->i64, x, false); }
static LLVMValueRef none(const object *o) { return LLVMConstNull(o->pointer); }

static LLVMValueRef record(const object *o, LLVMValueRef *fields, unsigned n) {
    return LLVMConstStructInContext(o->unit.context, fields, n, false);
}

// ---- Builds -------------------------------------------------------------------------------------
// gnn_code of the host: its kernels, emitted here, by name.
static bool host_code(object *o, const cg_build *b, LLVMValueRef *out) {
    const simt_module *m = b->program->module;
    cg_job job = {.module = m,
                  .target = &b->target,
                  .cpu = CG_CPU_PORTABLE,
                  .form = CG_OBJECT,
                  .options = o->options};
    LLVMValueRef *functions, *kernels = ARENA_ARRAY(o->arena, LLVMValueRef, m->funcs.len + 1);
    unsigned n = 0;
    cg_fatal_watch(m);
    if (!cg_unit_emit(&o->unit, o->arena, o->ds, &job, &functions)) return false;
    for (uint32_t k = 0; k < m->funcs.len; k++) {
        if (!m->funcs.data[k]->kernel) continue;
        LLVMSetLinkage(functions[k], LLVMInternalLinkage);
        LLVMSetUnnamedAddress(functions[k], LLVMGlobalUnnamedAddr);
        kernels[n++] = record(o, (LLVMValueRef[]){string(o, m->funcs.data[k]->name), functions[k]},
                              2);
    }
    LLVMTypeRef row = LLVMStructTypeInContext(o->unit.context,
                                              (LLVMTypeRef[]){o->pointer, o->pointer}, 2, false);
    LLVMValueRef table = n ? hidden(o, LLVMConstArray2(row, kernels, n)) : none(o);
    *out = record(o, (LLVMValueRef[]){none(o), number64(o, 0), table, number64(o, n)}, 4);
    return true;
}

// gnn_code of a GPU.
static LLVMValueRef cuda_code(object *o, const cg_build *b) {
    return record(
        o, (LLVMValueRef[]){blob(o, b->image), number64(o, b->image.size), none(o), number64(o, 0)},
        4);
}

// gnn_build.
static bool build(object *o, const cg_build *b, LLVMValueRef *out) {
    bool host = b->target.kind == CG_HOST;
    LLVMValueRef code;
    if (host && !host_code(o, b, &code)) return false;
    if (!host) code = cuda_code(o, b);
    textbuf text = textbuf_new(o->arena);
    cg_manifest(&text, b->program, &b->target);
    const cg_output manifest = cg_deflate(o->arena, text.data, text.len);
    LLVMValueRef fields[] = {blob(o, manifest),
                             number64(o, manifest.size),
                             string(o, host ? "host" : b->target.arch->name),
                             number32(o, b->program->index_bits),
                             number32(o, b->is_ptx),
                             code};
    *out = record(o, fields, sizeof fields / sizeof *fields);
    return true;
}

// gnn_artefact; the application sees that of an op, not that of its twin, as OP_artefact.
static LLVMValueRef artefact_data(object *o, const cg_artefact *op, LLVMValueRef twin) {
    LLVMValueRef *builds = ARENA_ARRAY(o->arena, LLVMValueRef, op->builds.len);
    for (uint32_t k = 0; k < op->builds.len; k++)
        if (!build(o, &op->builds.data[k], &builds[k])) return NULL;
    LLVMValueRef table = hidden(o, LLVMConstArray2(LLVMTypeOf(builds[0]), builds, op->builds.len));
    LLVMValueRef fields[] = {number32(o, CG_ABI), number32(o, op->builds.len),
                             string(o, op->builds.data[0].program->name), table, twin};
    return record(o, fields, sizeof fields / sizeof *fields);
}

static LLVMValueRef artefact(object *o, const cg_artefact *op) {
    LLVMValueRef twin = op->twin ? artefact_data(o, op->twin, none(o)) : NULL,
                 value = op->twin && !twin ? NULL
                                           : artefact_data(o, op, twin ? hidden(o, twin) : none(o));
    if (!value) return NULL;
    LLVMValueRef g = LLVMAddGlobal(
        o->unit.llvm, LLVMTypeOf(value),
        arena_printf(o->arena, "%s_artefact", op->builds.data[0].program->name));
    LLVMSetInitializer(g, value);
    LLVMSetGlobalConstant(g, true);
    return g;
}

// ---- Calls --------------------------------------------------------------------------------------
// Each is the runtime's call with the artefact before the other arguments: 'p' a pointer, 'z' a
// size.
static const struct {
    const char *name, *callee, *params;
} calls[] = {{"load", "gnn_op_load", "pp"},
             {"plan", "gnn_op_plan", "pppp"},
             {"check", "gnn_op_check", "pp"},
             {"workspace", "gnn_op_workspace", "ppp"},
             {"launch", "gnn_op_launch", "pppzp"}};
enum { CALLS = sizeof calls / sizeof *calls, MOST_PARAMS = 5 };

static LLVMTypeRef call_type(const object *o, const char *params, bool with_artefact) {
    LLVMTypeRef types[MOST_PARAMS + 1] = {o->pointer};
    unsigned n = with_artefact;
    for (const char *p = params; *p; p++) types[n++] = *p == 'z' ? o->i64 : o->pointer;
    return LLVMFunctionType(o->i32, types, n, false);
}

static void define_call(object *o, const char *op, LLVMValueRef artefact, uint32_t k) {
    LLVMTypeRef type = call_type(o, calls[k].params, true);
    LLVMValueRef callee = LLVMGetNamedFunction(o->unit.llvm, calls[k].callee);
    if (!callee) callee = LLVMAddFunction(o->unit.llvm, calls[k].callee, type);
    LLVMValueRef f = LLVMAddFunction(o->unit.llvm,
                                     arena_printf(o->arena, "%s_%s", op, calls[k].name),
                                     call_type(o, calls[k].params, false));
    LLVMValueRef args[MOST_PARAMS + 1] = {artefact};
    unsigned n = LLVMCountParams(f);
    for (unsigned i = 0; i < n; i++) args[i + 1] = LLVMGetParam(f, i);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(o->unit.context);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(o->unit.context, f, ""));
    LLVMValueRef status = LLVMBuildCall2(b, type, callee, args, n + 1, "");
    LLVMSetTailCall(status, true);
    LLVMBuildRet(b, status);
    LLVMDisposeBuilder(b);
}

static bool add_op(object *o, const cg_artefact *op) {
    LLVMValueRef data = artefact(o, op);
    for (uint32_t k = 0; data && k < CALLS; k++)
        define_call(o, op->builds.data[0].program->name, data, k);
    return data;
}

bool cg_object(arena *a, diag_set *ds, const cg_artefact *ops, uint32_t nops,
               const cg_options *options, cg_output *out) {
    object o = {.arena = a, .ds = ds, .options = options};
    cg_target host = {.kind = CG_HOST};
    cg_unit_new(
        &o.unit,
        &(cg_job){.target = &host, .cpu = CG_CPU_PORTABLE, .form = CG_OBJECT, .options = options});
    o.pointer = LLVMPointerTypeInContext(o.unit.context, 0);
    o.i32 = LLVMInt32TypeInContext(o.unit.context);
    o.i64 = LLVMInt64TypeInContext(o.unit.context);
    bool ok = true;
    for (uint32_t k = 0; k < nops; k++) ok &= add_op(&o, &ops[k]);
    if (ok) {
        cg_unit_merge(&o.unit);
        cg_unit_optimise(&o.unit, options);
        LLVMMemoryBufferRef code = cg_unit_code(&o.unit, LLVMObjectFile);
        *out = (cg_output){arena_strndup(a, LLVMGetBufferStart(code), LLVMGetBufferSize(code)),
                           LLVMGetBufferSize(code), ""};
        LLVMDisposeMemoryBuffer(code);
    }
    cg_unit_close(&o.unit);
    return ok;
}
