// What threads do together: shuffles, votes, matrices, barriers, fences; and the special registers.
// On the host a block is one thread, so barriers do nothing and operations of a warp, which needs
// 32, are refused.
#include "emitter.h"

#include <string.h>

static void mark_convergent(cg_emitter *e, cg_value call) {
    unsigned kind = LLVMGetEnumAttributeKindForName("convergent", 10);
    LLVMAttributeRef a = LLVMCreateEnumAttribute(e->context, kind, 0);
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, a);
}

static cg_value convergent(cg_emitter *e, const char *name, const cg_value *args, uint32_t n) {
    cg_value r = cg_intrinsic(e, name, NULL, 0, args, n);
    mark_convergent(e, r);
    return r;
}

static cg_value all_lanes(const cg_emitter *e) { return cg_i32(e, 0xffffffff); }

static bool refused_on_host(cg_emitter *e, const simt_instr_info *i) {
    if (e->host)
        cg_refuse(e, i, E0703, "a block of the host is one thread, and this needs a warp of 32");
    return e->host;
}

// what: "launches overlap on", before the first architecture that has the feature.
static bool has(cg_emitter *e, const simt_instr_info *i, gpu_feature f, const char *what) {
    const gpu_arch *since = gpu_since(f);
    if (gpu_has(e->target->arch, f)) return true;
    cg_refuse(e, i, E0704,
              arena_printf(e->arena, "%s %s%s", what, since->name,
                           gpu_arch_alone(since) ? "" : " and later"));
    return false;
}

static uint32_t width_of(const simt_instr_info *i) { return i->imm.i ? (uint32_t)i->imm.i : 32; }

// One 32-bit piece. PTX's last operand holds the lanes that stay fixed and the lane beyond which
// nothing comes in.
static cg_value shuffle_word(cg_emitter *e, const simt_instr_info *i, cg_value word,
                             cg_value lane) {
    uint32_t fixed = (32 - width_of(i)) << 8, limit = i->op == SIMT_SHFL_UP ? fixed : fixed | 31;
    const char *name = i->op == SIMT_SHFL_IDX    ? "llvm.nvvm.shfl.sync.idx.i32"
                       : i->op == SIMT_SHFL_UP   ? "llvm.nvvm.shfl.sync.up.i32"
                       : i->op == SIMT_SHFL_DOWN ? "llvm.nvvm.shfl.sync.down.i32"
                                                 : "llvm.nvvm.shfl.sync.bfly.i32";
    return convergent(e, name, (cg_value[]){all_lanes(e), word, lane, cg_i32(e, limit)}, 4);
}

cg_value cg_emit_shuffle(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value v,
                         cg_value lane) {
    if (refused_on_host(e, i)) return v;
    uint32_t bits = simt_element_bits(t.element) * t.lanes, words = (bits + 31) / 32;
    cg_value packed = LLVMBuildBitCast(e->b, v, LLVMIntTypeInContext(e->context, bits), "");
    packed = LLVMBuildZExt(e->b, packed, LLVMIntTypeInContext(e->context, 32 * words), "");
    packed = LLVMBuildBitCast(e->b, packed, cg_int_type(e, 32, words), "");
    cg_value moved = LLVMGetPoison(LLVMTypeOf(packed));
    for (uint32_t k = 0; k < words; k++) {
        cg_value w = shuffle_word(e, i, cg_lane(e, packed, words, k), lane);
        moved = words == 1 ? w : LLVMBuildInsertElement(e->b, moved, w, cg_i32(e, k), "");
    }
    moved = LLVMBuildBitCast(e->b, moved, LLVMIntTypeInContext(e->context, 32 * words), "");
    moved = LLVMBuildTrunc(e->b, moved, LLVMIntTypeInContext(e->context, bits), "");
    return LLVMBuildBitCast(e->b, moved, cg_type(e, t), "");
}

cg_value cg_emit_vote(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value v) {
    if (i->op == SIMT_BARRIER_ANY)   // a block of the host is one thread
        return e->host ? v
                       : convergent(e, "llvm.nvvm.barrier.cta.red.or.aligned.all",
                                    (cg_value[]){cg_i32(e, 0), v}, 2);
    if (refused_on_host(e, i))
        return i->op == SIMT_BALLOT || i->op == SIMT_MATCH_ANY ? cg_i32(e, 0) : v;
    const char *name = i->op == SIMT_BALLOT     ? "llvm.nvvm.vote.ballot.sync"
                       : i->op == SIMT_VOTE_ANY ? "llvm.nvvm.vote.any.sync"
                       : i->op == SIMT_VOTE_ALL ? "llvm.nvvm.vote.all.sync"
                       : t.element == SIMT_I64  ? "llvm.nvvm.match.any.sync.i64"
                                                : "llvm.nvvm.match.any.sync.i32";
    return convergent(e, name, (cg_value[]){all_lanes(e), v}, 2);
}

// ---- Matrices -----------------------------------------------------------------------------------
// The elements that a lane holds of an operand, as the 32-bit registers an intrinsic takes.
static uint32_t registers(cg_emitter *e, simt_type t, cg_value v, LLVMTypeRef as, cg_value *out) {
    uint32_t n = simt_element_bits(t.element) * t.lanes / 32;
    cg_value words = LLVMBuildBitCast(e->b, v, cg_int_type(e, 32, n), "");
    for (uint32_t k = 0; k < n; k++)
        out[k] = LLVMBuildBitCast(e->b, cg_lane(e, words, n, k), as, "");
    return n;
}

cg_value cg_emit_mma(cg_emitter *e, const simt_instr_info *i, const cg_value *x) {
    simt_mma kind = (simt_mma)i->aux;
    const simt_mma_info *m = simt_mma_table(kind);
    // which LLVM has in pairs, and names by the types of C and D
    bool halves = m->element == SIMT_F16;
    const char *types = halves ? "f32.f32" : m->operand,
               *name = arena_printf(e->arena, "llvm.nvvm.mma.%s.row.col.%s", m->shape, types);
    if (refused_on_host(e, i)) return x[SIMT_MMA_C];
    if (!has(e, i, (gpu_feature)m->needs, "this shape is of")) return x[SIMT_MMA_C];
    LLVMTypeRef pair = LLVMVectorType(e->types[SIMT_F16], 2), word = cg_int_type(e, 32, 1);
    cg_value args[CG_MAX_LANES], parts[CG_MAX_LANES];
    uint32_t n = 0;
    for (uint32_t o = SIMT_MMA_A; o <= SIMT_MMA_C; o++) {
        LLVMTypeRef as = o == SIMT_MMA_C ? e->types[SIMT_F32] : halves ? pair : word;
        n += registers(e, simt_mma_type(kind, (simt_mma_operand)o), x[o], as, args + n);
    }
    cg_value d = convergent(e, name, args, n);
    uint32_t held = m->held[SIMT_MMA_C];
    for (uint32_t k = 0; k < held; k++) parts[k] = LLVMBuildExtractValue(e->b, d, k, "");
    return cg_pack(e, parts, held);
}

// The constant that an address ends with, and what it is added to.
static int64_t constant_end(cg_value *pointer) {
    cg_value p = *pointer, by = LLVMIsAGetElementPtrInst(p) ? LLVMGetOperand(p, 1) : NULL;
    bool bytes = by && LLVMGetNumIndices(p) == 1 && LLVMIsAConstantInt(by) &&
                 LLVMGetTypeKind(LLVMGetGEPSourceElementType(p)) == LLVMIntegerTypeKind;
    if (!bytes) return 0;
    *pointer = LLVMGetOperand(p, 0);
    return LLVMConstIntGetSExtValue(by);
}

// As text, with the constant in it: LLVM takes the address of an intrinsic for a number like
// others, and would keep one for each piece in a register all through a loop.
cg_value cg_emit_ldmatrix(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value pointer) {
    if (refused_on_host(e, i)) return LLVMGetPoison(cg_type(e, t));
    bool four = t.lanes == 8;
    uint32_t words = t.lanes / 2;
    int64_t plus = constant_end(&pointer);
    const char *trans = i->op == SIMT_LDMATRIX_TRANS ? ".trans" : "",
               *to = four ? "$0, $1, $2, $3" : "$0, $1",
               *text = arena_printf(e->arena,
                                    "ldmatrix.sync.aligned.m8n8.x%u%s.shared.b16 {%s}, [$%u%+lld];",
                                    words, trans, to, words, (long long)plus);
    LLVMTypeRef i32 = cg_int_type(e, 32, 1), held[] = {i32, i32, i32, i32};
    cg_value at = LLVMBuildPtrToInt(e->b, pointer, i32, ""), parts[4],
             all = cg_asm(e, LLVMStructTypeInContext(e->context, held, words, false), text,
                          four ? "=r,=r,=r,=r,r,~{memory}" : "=r,=r,r,~{memory}", true, &at, 1);
    mark_convergent(e, all);
    for (uint32_t k = 0; k < words; k++) parts[k] = LLVMBuildExtractValue(e->b, all, k, "");
    return LLVMBuildBitCast(e->b, cg_pack(e, parts, words), cg_type(e, t), "");
}

// ---- Matrices of four warps ---------------------------------------------------------------------
// wgmma, in one piece of text, as nothing may touch its registers from the first step to the wait.
// B lies in shared memory in pieces of eight columns by 16 bytes of the depth, "core matrices", two
// a piece.
enum { CORE_MATRIX = 128 };

// Where the first step's B is, and strides. Of pieces, the bytes from core matrix to core matrix
// along the depth and along columns. Of rows in panels, whose pieces of 16 bytes change places in
// turns of eight rows (PTX ISA, "Matrix descriptor", swizzle of 128 bytes), from turn to turn, and
// where the depth goes from row to row from panel to panel.
static uint64_t strides_of(const simt_instr_info *i) {
    enum { ALONG = 16, ACROSS = 32, UNIT = 16, SWIZZLE = 62 };
    uint32_t piece = simt_mma_piece_bytes((simt_mma)i->aux),
             panel = i->op == SIMT_MMA_ROWS_TRANS ? i->mem.scale * SIMT_PANEL_ROW : UNIT;
    uint64_t pieces = (uint64_t)(CORE_MATRIX / UNIT) << ALONG | (uint64_t)(piece / UNIT) << ACROSS,
             panels = (uint64_t)(panel / UNIT) << ALONG |
                      (uint64_t)(SIMT_PANEL_ALIGN / UNIT) << ACROSS | UINT64_C(1) << SWIZZLE;
    return i->op == SIMT_MMA_GROUP ? pieces : panels;
}

static cg_value descriptor(cg_emitter *e, const simt_instr_info *i, cg_value pointer) {
    enum { LOW = 0x3ffff, UNIT = 16 };
    LLVMTypeRef i64 = LLVMInt64TypeInContext(e->context);
    cg_value at = LLVMBuildPtrToInt(e->b, pointer, i64, "");
    at = LLVMBuildAnd(e->b, at, LLVMConstInt(i64, LOW, false), "");
    at = LLVMBuildUDiv(e->b, at, LLVMConstInt(i64, UNIT, false), "");
    return LLVMBuildOr(e->b, at, LLVMConstInt(i64, strides_of(i), false), "");
}

typedef struct {
    const simt_instr_info *i;
    const simt_mma_info *m;
    uint32_t steps, pieces, sums;   // sums: registers of D
    uint32_t planes;                // numbers that one is taken apart in
    // registers of A of all steps and planes; 0: it is in shared memory
    uint32_t held;
    bool zeros;   // C is
} group_product;

// Bytes from the first step to another.
static uint32_t step_at(const group_product *g, uint32_t step) {
    const simt_instr_info *i = g->i;
    uint32_t depth = step * g->m->k;
    if (i->op == SIMT_MMA_GROUP) return step * g->pieces * simt_mma_piece_bytes((simt_mma)i->aux);
    if (i->op == SIMT_MMA_ROWS_TRANS) return depth * SIMT_PANEL_ROW;
    return simt_mma_row_at(i->mem.scale, 0, depth * simt_element_bits(g->m->element) / 8);
}

static uint32_t a_step_at(const group_product *g, uint32_t step) {
    return simt_mma_row_at(SIMT_GROUP_ROWS, 0,
                           step * g->m->k * simt_element_bits(g->m->element) / 8);
}

static void put_registers(textbuf *t, uint32_t first, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) textbuf_printf(t, "%s$%u", k ? ", " : "", first + k);
}

// A step: of plane x of A and y of B, in D of the numbers themselves or of products with rests.
static void put_step(textbuf *t, const group_product *g, uint32_t x, uint32_t y, uint32_t step,
                     bool first) {
    const char *type = g->m->operand, *transpose = g->m->element == SIMT_F32         ? ""
                                                   : g->i->op == SIMT_MMA_ROWS_TRANS ? ", 1"
                                                                                     : ", 0";
    const uint32_t b = g->sums + (g->held ? g->held : g->planes) + y, d = g->sums / g->planes;
    textbuf_printf(t, "setp.ne.b32 %%acc, %d, 0; add.u64 %%b, $%u, %u; ", !first || !g->zeros, b,
                   step_at(g, step) / 16);
    if (!g->held) textbuf_printf(t, "add.u64 %%a, $%u, %u; ", g->sums + x, a_step_at(g, step) / 16);
    textbuf_printf(t, "wgmma.mma_async.sync.aligned.m64n%uk%u.f32.%s.%s {", 8 * g->pieces, g->m->k,
                   type, type);
    put_registers(t, x || y ? d : 0, d);
    textbuf_puts(t, g->held ? "}, {" : "}, %a");
    if (g->held) put_registers(t, g->sums + 4 * (x * g->steps + step), 4);
    textbuf_printf(t, "%s, %%b, %%acc, 1, 1%s%s; ", g->held ? "}" : "", g->held ? "" : ", 0",
                   transpose);
}

// Operands: D, then A of each step or its descriptor, then that of B, then C, which is D. Of
// numbers taken apart, without the product of what is left of both.
static const char *group_text(cg_emitter *e, const group_product *g) {
    textbuf t = textbuf_new(e->arena);
    textbuf_printf(&t, "{ .reg .pred %%acc; .reg .b64 %%b%s; wgmma.fence.sync.aligned; ",
                   g->held ? "" : ", %a");
    for (uint32_t s = 0; s < g->steps; s++) {
        put_step(&t, g, 0, 0, s, !s);
        if (g->planes == 1) continue;
        put_step(&t, g, 1, 0, s, !s);
        put_step(&t, g, 0, 1, s, false);
    }
    textbuf_puts(&t, "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }");
    return t.data;
}

static const char *group_constraints(cg_emitter *e, const group_product *g) {
    textbuf t = textbuf_new(e->arena);
    for (uint32_t k = 0; k < g->sums; k++) textbuf_puts(&t, "=&f,");
    for (uint32_t k = 0; k < g->held; k++) textbuf_puts(&t, "r,");
    for (uint32_t k = 0; k < g->planes * (g->held ? 1 : 2); k++) textbuf_puts(&t, k ? ",l" : "l");
    for (uint32_t k = 0; k < g->sums && !g->zeros; k++) textbuf_printf(&t, ",%u", k);
    textbuf_puts(&t, ",~{memory}");
    return t.data;
}

static cg_value group_call(cg_emitter *e, const group_product *g, cg_value *args, uint32_t n) {
    LLVMTypeRef *types = ARENA_ARRAY(e->arena, LLVMTypeRef, n),
                *given = ARENA_ARRAY(e->arena, LLVMTypeRef, g->sums);
    for (uint32_t k = 0; k < n; k++) types[k] = LLVMTypeOf(args[k]);
    for (uint32_t k = 0; k < g->sums; k++) given[k] = e->types[SIMT_F32];
    const char *text = group_text(e, g), *constraints = group_constraints(e, g);
    LLVMTypeRef all = LLVMStructTypeInContext(e->context, given, g->sums, false),
                type = LLVMFunctionType(all, types, n, false);
    cg_value code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints),
                                     true, false, LLVMInlineAsmDialectATT, false);
    cg_value d = LLVMBuildCall2(e->b, type, code, args, n, "");
    mark_convergent(e, d);
    return d;
}

static bool group_fits(cg_emitter *e, const simt_instr_info *i) {
    if (refused_on_host(e, i)) return false;
    return has(e, i, (gpu_feature)simt_mma_table((simt_mma)i->aux)->needs,
               "operations of four warps are those of");
}

void cg_emit_mma_group(cg_emitter *e, const simt_instr_info *i) {
    enum { PART = 4 };   // registers of D that a lane holds of a piece
    simt_mma kind = (simt_mma)simt_mma_table((simt_mma)i->aux)->by;
    simt_type a = simt_mma_type(kind, SIMT_MMA_A), c = simt_mma_type(kind, SIMT_MMA_C);
    const uint32_t factors = simt_group_factors(i), steps = (uint32_t)i->imm.i;
    group_product g = {.i = i,
                       .m = simt_mma_table(kind),
                       .steps = steps,
                       .pieces = simt_group_pieces(i),
                       .sums = PART * i->nresults,
                       .planes = simt_group_planes(i),
                       .zeros = i->nargs == factors};
    g.held = i->op == SIMT_MMA_ROWS_BOTH ? 0 : PART * steps * g.planes;
    if (!group_fits(e, i)) {
        for (uint32_t k = 0; k < i->nresults; k++)
            e->f.values[i->results[k]] = LLVMGetUndef(cg_type(e, c));
        return;
    }
    uint32_t n = 0;
    if (i->op != SIMT_MMA_GROUP) LLVMSetAlignment(e->dynamic_shared, SIMT_PANEL_ALIGN);
    cg_value *args = ARENA_ARRAY(e->arena, cg_value, g.held + 2 * g.planes + g.sums);
    for (uint32_t s = 0; s < steps * g.planes && g.held; s++)
        n += registers(e, a, e->f.values[i->args[g.planes + s]], cg_int_type(e, 32, 1), args + n);
    for (uint32_t x = 0; x < g.planes && !g.held; x++)
        args[n++] = descriptor(e, i, e->f.values[i->args[g.planes + x]]);
    for (uint32_t y = 0; y < g.planes; y++) args[n++] = descriptor(e, i, e->f.values[i->args[y]]);
    for (uint32_t p = 0; p < i->nresults && !g.zeros; p++)
        n += registers(e, c, e->f.values[i->args[factors + p]], e->types[SIMT_F32], args + n);
    cg_value d = group_call(e, &g, args, n);
    for (uint32_t p = 0; p < i->nresults; p++) {
        cg_value parts[PART];
        for (uint32_t k = 0; k < PART; k++)
            parts[k] = LLVMBuildExtractValue(e->b, d, PART * p + k, "");
        e->f.values[i->results[p]] = cg_pack(e, parts, PART);
    }
}

// ---- Order, special registers -------------------------------------------------------------------
void cg_emit_sync(cg_emitter *e, const simt_instr_info *i) {
    if (e->host) return;
    cg_value zero = cg_i32(e, 0), full = all_lanes(e);
    if (i->op == SIMT_BARRIER) convergent(e, "llvm.nvvm.barrier.cta.sync.aligned.all", &zero, 1);
    else if (i->op == SIMT_FENCE_MMA)
        cg_asm(e, LLVMVoidTypeInContext(e->context), "fence.proxy.async.shared::cta;", "~{memory}",
               true, NULL, 0);
    else if (i->op == SIMT_WARP_SYNC) convergent(e, "llvm.nvvm.bar.warp.sync", &full, 1);
    else {
        bool block = i->aux == SIMT_SCOPE_BLOCK;
        unsigned scope = LLVMGetSyncScopeID(e->context, block ? "block" : "device", block ? 5 : 6);
        LLVMBuildFenceSyncScope(e->b, LLVMAtomicOrderingAcquireRelease, scope, "");
    }
}

// Launches of the host come one after the other.
void cg_emit_dependence(cg_emitter *e, const simt_instr_info *i) {
    bool waits = i->op == SIMT_GRID_WAIT;
    if (!e->host && has(e, i, GPU_DEPENDENT_LAUNCH, "launches overlap on"))
        cg_asm(e, LLVMVoidTypeInContext(e->context),
               waits ? "griddepcontrol.wait;" : "griddepcontrol.launch_dependents;", "~{memory}",
               true, NULL, 0);
}

// A register whose values lie in lo … hi - 1, which LLVM is told.
static cg_value ranged(cg_emitter *e, const char *name, uint32_t lo, uint32_t hi) {
    cg_value v = cg_intrinsic0(e, name);
    LLVMMetadataRef bounds[] = {LLVMValueAsMetadata(cg_i32(e, lo)),
                                LLVMValueAsMetadata(cg_i32(e, hi))};
    unsigned kind = LLVMGetMDKindIDInContext(e->context, "range", 5);
    LLVMSetMetadata(v, kind,
                    LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, bounds, 2)));
    return v;
}

cg_value cg_emit_sreg(cg_emitter *e, simt_sreg r) {
    if (e->host && r == SREG_CTAID) return e->f.block;
    if (e->host) return r == SREG_NCTAID ? e->f.blocks : cg_i32(e, r == SREG_NTID);
    switch (r) {
    case SREG_TID: return ranged(e, "llvm.nvvm.read.ptx.sreg.tid.x", 0, e->f.ir->block);
    case SREG_NTID: return cg_i32(e, e->f.ir->block);
    case SREG_CTAID: return ranged(e, "llvm.nvvm.read.ptx.sreg.ctaid.x", 0, INT32_MAX);
    case SREG_NCTAID:
        return ranged(e, "llvm.nvvm.read.ptx.sreg.nctaid.x", 1, (uint32_t)INT32_MAX + 1);
    case SREG_LANEID: return ranged(e, "llvm.nvvm.read.ptx.sreg.laneid", 0, 32);
    case SREG_COUNT: break;
    }
    ICE("a special register that does not exist");
}
