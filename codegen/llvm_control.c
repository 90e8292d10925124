// Structured control to basic blocks: carried values and results become phis.
#include "emitter.h"

static LLVMBasicBlockRef new_block(cg_emitter *e) {
    return LLVMAppendBasicBlockInContext(e->context, e->f.function, "");
}

static const simt_instr_info *terminator(const cg_emitter *e, simt_region r) {
    const simt_region_info *region = &e->f.ir->regions.data[r];
    return &e->f.ir->instrs.data[region->instrs.data[region->instrs.len - 1]];
}

// A phi for each of n values, standing for them from here on.
static void phis(cg_emitter *e, const simt_value *values, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        e->f.values[values[k]] = LLVMBuildPhi(e->b, cg_type(e, simt_typeof(e->f.ir, values[k])),
                                              "");
}

static void feed(cg_emitter *e, simt_value phi, cg_value v, LLVMBasicBlockRef from) {
    LLVMAddIncoming(e->f.values[phi], &v, &from, 1);
}

static void feed_all(cg_emitter *e, const simt_value *to, const simt_value *values, uint32_t n,
                     LLVMBasicBlockRef from) {
    for (uint32_t k = 0; k < n; k++) feed(e, to[k], e->f.values[values[k]], from);
}

// The last index that has a successor below hi, plus one: the loop goes on while i is below it. hi
// - step, but no lower than the least integer, so that nothing wraps for any bounds.
static cg_value last_round(cg_emitter *e, cg_value hi, cg_value step) {
    // Within the loop lo < hi, so hi - 1 does not wrap.
    if (LLVMIsAConstantInt(step) && LLVMConstIntGetSExtValue(step) == 1)
        return LLVMBuildNSWSub(e->b, hi, step, "");
    return cg_intrinsic2(e, "llvm.ssub.sat", hi, step);
}

// Tells LLVM and, through it, the assembler not to unroll the loop whose back edge this is.
static void keep_rolled(cg_emitter *e, cg_value back_edge) {
    static const char loop[] = "llvm.loop", off[] = "llvm.loop.unroll.disable";
    LLVMMetadataRef name = LLVMMDStringInContext2(e->context, off, sizeof off - 1);
    LLVMMetadataRef parts[] = {LLVMTemporaryMDNode(e->context, NULL, 0),
                               LLVMMDNodeInContext2(e->context, &name, 1)};
    LLVMMetadataRef id = LLVMMDNodeInContext2(e->context, parts, 2);
    LLVMMetadataReplaceAllUsesWith(parts[0], id);   // a loop's identity names itself
    LLVMSetMetadata(back_edge, LLVMGetMDKindIDInContext(e->context, loop, sizeof loop - 1),
                    LLVMMetadataAsValue(e->context, id));
}

void cg_emit_for(cg_emitter *e, const simt_instr_info *i) {
    simt_region body = i->regions[0];
    const simt_value *params = e->f.ir->regions.data[body].params.data;
    uint32_t n = i->nresults;
    cg_value lo = e->f.values[i->args[0]], hi = e->f.values[i->args[1]],
             step = e->f.values[i->args[2]];
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
    LLVMBasicBlockRef enter = new_block(e), loop = new_block(e), exit = new_block(e);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, lo, hi, ""), enter, exit);

    LLVMPositionBuilderAtEnd(e->b, enter);
    cg_value last = last_round(e, hi, step);
    LLVMBuildBr(e->b, loop);

    LLVMPositionBuilderAtEnd(e->b, loop);
    phis(e, params, n + 1);
    feed(e, params[0], lo, enter);
    feed_all(e, params + 1, i->args + 3, n, enter);
    cg_value index = e->f.values[params[0]];
    cg_emit_region(e, body);
    cg_debug_location(e, i->at);
    const simt_value *yielded = terminator(e, body)->args;
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    // The next index is not used in the last round, so there it may wrap.
    feed(e, params[0], LLVMBuildNSWAdd(e->b, index, step, ""), latch);
    feed_all(e, params + 1, yielded, n, latch);
    cg_value back = LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, index, last, ""), loop,
                                    exit);
    if (i->aux == SIMT_LOOP_ROLLED) keep_rolled(e, back);

    LLVMPositionBuilderAtEnd(e->b, exit);
    phis(e, i->results, n);
    feed_all(e, i->results, i->args + 3, n, before);
    feed_all(e, i->results, yielded, n, latch);
}

void cg_emit_while(cg_emitter *e, const simt_instr_info *i) {
    simt_region test = i->regions[0], body = i->regions[1];
    uint32_t n = i->nresults;
    const simt_value *params = e->f.ir->regions.data[test].params.data;
    const simt_value *passed = e->f.ir->regions.data[body].params.data;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
    LLVMBasicBlockRef head = new_block(e), inside = new_block(e), exit = new_block(e);
    LLVMBuildBr(e->b, head);

    LLVMPositionBuilderAtEnd(e->b, head);
    phis(e, params, n);
    feed_all(e, params, i->args, n, before);
    cg_emit_region(e, test);
    cg_debug_location(e, i->at);
    const simt_value *tested = terminator(e, test)->args;   // the condition, then what goes on
    LLVMBuildCondBr(e->b, e->f.values[tested[0]], inside, exit);
    for (uint32_t k = 0; k < n; k++)
        e->f.values[passed[k]] = e->f.values[i->results[k]] = e->f.values[tested[k + 1]];

    LLVMPositionBuilderAtEnd(e->b, inside);
    cg_emit_region(e, body);
    feed_all(e, params, terminator(e, body)->args, n, LLVMGetInsertBlock(e->b));
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, exit);
}

// Emits one arm and its jump; returns the block that jumps.
static LLVMBasicBlockRef arm(cg_emitter *e, simt_region r, LLVMBasicBlockRef start,
                             LLVMBasicBlockRef join) {
    LLVMPositionBuilderAtEnd(e->b, start);
    cg_emit_region(e, r);
    LLVMBuildBr(e->b, join);
    return LLVMGetInsertBlock(e->b);
}

// A mask over stores and what they are computed from: all of it may be done, only the stores may
// not.
static bool masks_stores(const cg_emitter *e, const simt_instr_info *i) {
    if (e->host || i->op != SIMT_IF || i->aux != SIMT_IF_MASK || i->nregions > 1) return false;
    const simt_region_info *r = &e->f.ir->regions.data[i->regions[0]];
    for (uint32_t k = 0; k < r->instrs.len; k++) {
        const simt_instr_info *x = &e->f.ir->instrs.data[r->instrs.data[k]];
        bool store = x->op == SIMT_ST &&
                     simt_typeof(e->f.ir, x->args[0]).element == SIMT_PTR_GLOBAL;
        if (!store && x->op != SIMT_YIELD &&
            (x->nregions || simt_op_table(x->op)->flags != SIMT_PURE))
            return false;
    }
    return true;
}

bool cg_masks_steps(const cg_emitter *e, simt_region r) {
    const simt_region_info *region = &e->f.ir->regions.data[r];
    uint32_t masks = 0;
    for (uint32_t k = 0; k < region->instrs.len; k++)
        masks += masks_stores(e, &e->f.ir->instrs.data[region->instrs.data[k]]);
    return masks > 1;
}

// if p -> t { x = ld a; yield x } else { yield y }, with what the address is computed from.
static bool masks_load(const cg_emitter *e, const simt_instr_info *i) {
    if (e->host || i->nresults != 1 || i->nregions < 2 || !i->regions[1]) return false;
    const simt_region_info *r = &e->f.ir->regions.data[i->regions[0]],
                           *other = &e->f.ir->regions.data[i->regions[1]];
    if (r->instrs.len < 2 || other->instrs.len != 1) return false;
    simt_instr last = r->instrs.data[r->instrs.len - 2];
    const simt_instr_info *load = &e->f.ir->instrs.data[last];
    if (load->op != SIMT_LD || simt_typeof(e->f.ir, load->args[0]).element != SIMT_PTR_GLOBAL)
        return false;
    for (uint32_t k = 0; k + 2 < r->instrs.len; k++) {
        const simt_instr_info *x = &e->f.ir->instrs.data[r->instrs.data[k]];
        if (x->nregions || simt_op_table(x->op)->flags != SIMT_PURE) return false;
    }
    return terminator(e, i->regions[0])->args[0] == load->results[0];
}

static void emit_masked_load(cg_emitter *e, const simt_instr_info *i) {
    LLVMValueRef outer = e->f.predicate;
    e->f.predicate = e->f.values[i->args[0]];
    e->f.otherwise = e->f.values[terminator(e, i->regions[1])->args[0]];
    cg_emit_region(e, i->regions[0]);
    e->f.values[i->results[0]] = e->f.values[terminator(e, i->regions[0])->args[0]];
    e->f.predicate = outer;
    e->f.otherwise = NULL;
}

// One time in 2000: what it keeps in registers is moved out of the way of the other arm.
static void weigh_rare(cg_emitter *e, LLVMValueRef branch) {
    static const char kind[] = "prof", name[] = "branch_weights";
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(e->context, name, sizeof name - 1),
                               LLVMValueAsMetadata(LLVMConstInt(i32, 1, 0)),
                               LLVMValueAsMetadata(LLVMConstInt(i32, 2000, 0))};
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(e->context, kind, sizeof kind - 1),
                    LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, parts, 3)));
}

void cg_emit_if(cg_emitter *e, const simt_instr_info *i) {
    if (masks_load(e, i)) {
        emit_masked_load(e, i);
        return;
    }
    if (e->f.steps && masks_stores(e, i)) {
        e->f.predicate = e->f.values[i->args[0]];
        cg_emit_region(e, i->regions[0]);
        e->f.predicate = NULL;
        return;
    }
    bool two = i->nregions > 1 && i->regions[1];
    LLVMBasicBlockRef then_start = new_block(e), else_start = two ? new_block(e) : NULL,
                      join = new_block(e);
    LLVMValueRef branch = LLVMBuildCondBr(e->b, e->f.values[i->args[0]], then_start,
                                          two ? else_start : join);
    if (i->aux == SIMT_IF_RARE) weigh_rare(e, branch);
    LLVMBasicBlockRef then_end = arm(e, i->regions[0], then_start, join);
    LLVMBasicBlockRef else_end = two ? arm(e, i->regions[1], else_start, join) : NULL;
    LLVMPositionBuilderAtEnd(e->b, join);
    if (!two) return;
    phis(e, i->results, i->nresults);
    feed_all(e, i->results, terminator(e, i->regions[0])->args, i->nresults, then_end);
    feed_all(e, i->results, terminator(e, i->regions[1])->args, i->nresults, else_end);
}
