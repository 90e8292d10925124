// Line information: the .gnn line of each instruction, as `.loc` directives in PTX and line tables
// in objects. Functions get none of their own: when they are inlined, their code takes the line of
// the call.
#include "emitter.h"

#include <string.h>

// LLVM's "debug directives only": `.loc` without DWARF sections, which is what ptxas takes when it
// optimises. The C enumeration lacks it; the value is that of DICompileUnit::DebugDirectivesOnly.
enum { DIRECTIVES_ONLY = 3 };

static LLVMMetadataRef file_of(cg_emitter *e, const source_file *f) {
    cg_debug *d = &e->debug;
    for (uint32_t k = 0; k < d->known.len; k++)
        if (d->known.data[k] == f) return d->files.data[k];
    LLVMMetadataRef m = LLVMDIBuilderCreateFile(d->builder, f->name, strlen(f->name), "", 0);
    VEC_PUSH(e->arena, &d->known, f);
    VEC_PUSH(e->arena, &d->files, m);
    return m;
}

// The first place any kernel comes from; NULL if none has one.
static const source_file *first_file(const cg_emitter *e) {
    const source_map *s = e->options->sources;
    for (uint32_t k = 0; k < e->module->funcs.len; k++) {
        const simt_func *f = e->module->funcs.data[k];
        const source_file *file = f->kernel ? source_map_file(s, f->at.lo) : NULL;
        for (uint32_t i = 1; f->kernel && !file && i < f->instrs.len; i++)
            file = source_map_file(s, f->instrs.data[i].at.lo);
        if (file) return file;
    }
    return NULL;
}

void cg_debug_start(cg_emitter *e) {
    const source_file *f = e->options->line_info && e->options->sources ? first_file(e) : NULL;
    if (!f) return;
    cg_debug *d = &e->debug;
    d->builder = LLVMCreateDIBuilder(e->llvm);
    LLVMDWARFEmissionKind kind = (LLVMDWARFEmissionKind)DIRECTIVES_ONLY;
    if (e->host) kind = LLVMDWARFEmissionLineTablesOnly;
    LLVMDIBuilderCreateCompileUnit(d->builder, LLVMDWARFSourceLanguageC, file_of(e, f), "gnnc", 4,
                                   true, "", 0, 0, "", 0, kind, 0, false, false, "", 0, "", 0);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
    LLVMMetadataRef version = LLVMValueAsMetadata(
        LLVMConstInt(i32, LLVMDebugMetadataVersion(), false));
    if (!LLVMGetModuleFlag(e->llvm, "Debug Info Version", 18))   // objects hold several modules
        LLVMAddModuleFlag(e->llvm, LLVMModuleFlagBehaviorWarning, "Debug Info Version", 18,
                          version);
}

static source_position position_of(const cg_emitter *e, span at) {
    return source_map_position(e->options->sources, at.lo);
}

// Where a function starts: its own place, or that of its first instruction that has one.
static source_position start_of(const cg_emitter *e, const simt_func *f) {
    source_position p = position_of(e, f->at);
    for (uint32_t i = 1; !p.file && i < f->instrs.len; i++)
        p = position_of(e, f->instrs.data[i].at);
    return p;
}

static void set_location(cg_emitter *e, source_position p, LLVMMetadataRef scope) {
    LLVMMetadataRef at = LLVMDIBuilderCreateDebugLocation(e->context, p.line, p.column, scope,
                                                          NULL);
    LLVMSetCurrentDebugLocation2(e->b, at);
}

void cg_debug_function(cg_emitter *e) {
    cg_debug *d = &e->debug;
    d->scope = NULL;
    LLVMSetCurrentDebugLocation2(e->b, NULL);
    if (!d->builder || !e->f.ir->kernel) return;
    source_position p = start_of(e, e->f.ir);
    LLVMMetadataRef file = p.file ? file_of(e, p.file) : d->files.data[0];
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(d->builder, file, NULL, 0,
                                                             LLVMDIFlagZero);
    d->scope = LLVMDIBuilderCreateFunction(d->builder, file, e->f.ir->name, strlen(e->f.ir->name),
                                           "", 0, file, p.line, type, false, true, p.line,
                                           LLVMDIFlagZero, true);
    LLVMSetSubprogram(e->f.function, d->scope);
    set_location(e, p, d->scope);
}

// The scope a position has within its function: another file's lines need a block of that file.
static LLVMMetadataRef scope_in(cg_emitter *e, const source_file *f) {
    cg_debug *d = &e->debug;
    LLVMMetadataRef file = file_of(e, f);
    if (LLVMDIScopeGetFile(d->scope) == file) return d->scope;
    return LLVMDIBuilderCreateLexicalBlockFile(d->builder, d->scope, file, 0);
}

void cg_debug_location(cg_emitter *e, span at) {
    if (!e->debug.scope) return;
    source_position p = position_of(e, at);
    if (!p.file) return;   // stays with the line before
    set_location(e, p, scope_in(e, p.file));
}

void cg_debug_finish(cg_emitter *e) {
    if (!e->debug.builder) return;
    LLVMDIBuilderFinalize(e->debug.builder);
    LLVMDisposeDIBuilder(e->debug.builder);
    e->debug.builder = NULL;
}
