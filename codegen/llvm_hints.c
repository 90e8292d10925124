// Loads and stores of global memory with a cache hint, or under a predicate. LLVM has no form for
// them, so they are written as PTX:
//     ld.global.nc.L1::evict_last.v4.b32 {$0,$1,$2,$3}, [$4];
//     @$2 ld.global.nc.b32 $0, [$1];                                 // $0 also goes in
//     @$2 st.global.b32 [$0], $1;
// A value travels as 32-bit registers (16-bit ones for smaller accesses), in pieces of at most 16
// aligned bytes.
#include "emitter.h"

#include <string.h>

enum { MAX_WORDS = CG_MAX_LANES * 2 };

typedef struct {
    uint32_t bits;    // of a register's part of memory: 8, 16, 32
    uint32_t words;   // of the whole value
    uint32_t group;   // words an instruction moves: 1, 2, 4
} pieces;

static pieces split(simt_type t, uint32_t align) {
    uint32_t bytes = simt_element_bits(t.element) * t.lanes / 8,
             chunk = align < bytes ? align : bytes;
    if (chunk > 16) chunk = 16;
    uint32_t word = chunk < 4 ? chunk : 4;
    return (pieces){8 * word, bytes / word, chunk / word};
}

// Word k of n as a value of its own, wide enough for a register.
static cg_value word_of(cg_emitter *e, pieces p, cg_value words, uint32_t k) {
    cg_value w = cg_lane(e, words, p.words, k);
    return p.bits == 8 ? LLVMBuildZExt(e->b, w, LLVMInt16TypeInContext(e->context), "") : w;
}

static const char *operands(cg_emitter *e, uint32_t first, uint32_t n) {
    textbuf b = textbuf_new(e->arena);
    if (n > 1) textbuf_puts(&b, "{");
    for (uint32_t k = 0; k < n; k++) textbuf_printf(&b, "%s$%u", k ? "," : "", first + k);
    if (n > 1) textbuf_puts(&b, "}");
    return b.data;
}

static const char *vector_text(uint32_t n) { return n == 1 ? "" : n == 2 ? ".v2" : ".v4"; }

// PTX wants the cache operator before .nc and the eviction priority after it.
static const char *cache_operator(const simt_instr_info *i) {
    return i->mem.cache == SIMT_CACHE_STREAM   ? ".cs"
           : i->mem.cache == SIMT_CACHE_BYPASS ? ".cg"
                                               : "";
}

static const char *eviction(const simt_instr_info *i) {
    return i->mem.cache == SIMT_CACHE_REUSE ? ".L1::evict_last" : "";
}

// Nothing moves what has an order among the loads of its thread.
static bool is_free(const simt_instr_info *i) { return i->mem.invariant && !i->mem.pinned; }

static const char *load_text(cg_emitter *e, const simt_instr_info *i, pieces p) {
    const char *order = i->mem.pinned ? ".relaxed.cta" : "",
               *cached = i->mem.pinned ? "" : cache_operator(i), *nc = is_free(i) ? ".nc" : "",
               *to = operands(e, 0, p.group);
    const char *when = e->f.otherwise ? arena_printf(e->arena, "@$%u ", p.group + 1) : "";
    return arena_printf(e->arena, "%sld%s.global%s%s%s%s.b%u %s, [$%u];", when, order, cached, nc,
                        eviction(i), vector_text(p.group), p.bits, to, p.group);
}

static const char *store_text(cg_emitter *e, const simt_instr_info *i, pieces p) {
    const char *when = e->f.predicate ? arena_printf(e->arena, "@$%u ", p.group + 1) : "";
    return arena_printf(e->arena, "%sst.global%s%s%s.b%u [$0], %s;", when, cache_operator(i),
                        eviction(i), vector_text(p.group), p.bits, operands(e, 1, p.group));
}

static cg_value piece_address(cg_emitter *e, pieces p, cg_value pointer, uint32_t word) {
    if (!word) return pointer;
    cg_value offset = LLVMConstInt(LLVMInt64TypeInContext(e->context), word * p.bits / 8, false);
    return LLVMBuildGEP2(e->b, LLVMInt8TypeInContext(e->context), pointer, &offset, 1, "");
}

static const char *register_constraint(pieces p) { return p.bits == 32 ? "r" : "h"; }

// Nothing that is written: LLVM may take one load for several that are alike.
static void reads_nothing_else(cg_emitter *e, cg_value call) {
    unsigned memory = LLVMGetEnumAttributeKindForName("memory", 6);
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(e->context, memory, 0));
}

// Loads `words` of a group; where there is a predicate, they are what the registers hold otherwise.
static void load_group(cg_emitter *e, const simt_instr_info *i, pieces p, cg_value pointer,
                       cg_value *words) {
    LLVMTypeRef word = LLVMIntTypeInContext(e->context, p.bits == 32 ? 32 : 16);
    LLVMTypeRef many[4] = {word, word, word, word};
    LLVMTypeRef result = p.group == 1 ? word
                                      : LLVMStructTypeInContext(e->context, many, p.group, false);
    textbuf c = textbuf_new(e->arena);
    for (uint32_t k = 0; k < p.group; k++) textbuf_printf(&c, "=%s,", register_constraint(p));
    textbuf_puts(&c, e->f.otherwise ? "l,b" : "l");
    cg_value args[6] = {pointer, e->f.predicate};
    for (uint32_t k = 0; k < p.group && e->f.otherwise; k++) {
        textbuf_printf(&c, ",%u", k);
        args[k + 2] = words[k];
    }
    if (!is_free(i)) textbuf_puts(&c, ",~{memory}");
    cg_value r = cg_asm(e, result, load_text(e, i, p), c.data, !is_free(i), args,
                        e->f.otherwise ? p.group + 2 : 1);
    if (is_free(i)) reads_nothing_else(e, r);
    for (uint32_t k = 0; k < p.group; k++) {
        cg_value w = p.group == 1 ? r : LLVMBuildExtractValue(e->b, r, k, "");
        words[k] = p.bits == 8 ? LLVMBuildTrunc(e->b, w, LLVMInt8TypeInContext(e->context), "") : w;
    }
}

cg_value cg_emit_load_text(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value pointer,
                           uint32_t align) {
    pieces p = split(t, align);
    cg_value words[MAX_WORDS], v = LLVMGetPoison(cg_int_type(e, p.bits, p.words));
    cg_value other = e->f.otherwise ? LLVMBuildBitCast(e->b, e->f.otherwise,
                                                       cg_int_type(e, p.bits, p.words), "")
                                    : NULL;
    for (uint32_t k = 0; k < p.words && other; k++) words[k] = word_of(e, p, other, k);
    for (uint32_t k = 0; k < p.words; k += p.group)
        load_group(e, i, p, piece_address(e, p, pointer, k), words + k);
    if (p.words == 1) v = words[0];
    else
        for (uint32_t k = 0; k < p.words; k++)
            v = LLVMBuildInsertElement(e->b, v, words[k], cg_i32(e, k), "");
    return LLVMBuildBitCast(e->b, v, cg_type(e, t), "");
}

void cg_emit_store_text(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value pointer,
                        cg_value v, uint32_t align) {
    pieces p = split(t, align);
    cg_value words = LLVMBuildBitCast(e->b, v, cg_int_type(e, p.bits, p.words), "");
    textbuf c = textbuf_new(e->arena);
    textbuf_puts(&c, "l");
    for (uint32_t k = 0; k < p.group; k++) textbuf_printf(&c, ",%s", register_constraint(p));
    textbuf_puts(&c, e->f.predicate ? ",b,~{memory}" : ",~{memory}");
    for (uint32_t k = 0; k < p.words; k += p.group) {
        cg_value args[6] = {piece_address(e, p, pointer, k)};
        for (uint32_t w = 0; w < p.group; w++) args[w + 1] = word_of(e, p, words, k + w);
        args[p.group + 1] = e->f.predicate;
        cg_asm(e, LLVMVoidTypeInContext(e->context), store_text(e, i, p), c.data, true, args,
               p.group + 1 + (e->f.predicate != NULL));
    }
}
