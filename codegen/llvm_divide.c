// Division on a GPU. ptxas writes div.rn.f32 out as code that costs it as much time as a whole
// small kernel; this text gives the same bits at a fifth of that. Where quotient and remainders are
// normal, Newton's step on the machine's reciprocal and two corrections by exact remainders round
// correctly (P. Markstein, IA-64 and Elementary Functions, 2000, chapter 8). Anything else goes
// through f64: no quotient of two f32 lies as close to the middle between two f32 as f64 is fine,
// but the result's zeros and infinities want 0 and NaN sorted out first.
#include "emitter.h"

// 1 / y by the machine's estimate and one step of Newton's: where y comes to be, so once for all
// rounds of a loop that divide by it, as those of a softmax's row do. LLVM leaves it where it finds
// it.
static cg_value reciprocal(cg_emitter *e, cg_value y) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b),
                      there = LLVMIsAInstruction(y) ? LLVMGetInstructionParent(y) : here;
    cg_value next = there != here && !LLVMIsAPHINode(y) ? LLVMGetNextInstruction(y) : NULL;
    LLVMMetadataRef line = LLVMGetCurrentDebugLocation2(e->b);
    if (next) LLVMPositionBuilderBefore(e->b, next);
    LLVMTypeRef f32 = e->types[SIMT_F32];
    cg_value one = LLVMConstReal(f32, 1),
             r = cg_intrinsic(e, "llvm.nvvm.rcp.approx.ftz.f", NULL, 0, &y, 1);
    cg_value error = cg_intrinsic(e, "llvm.fma", &f32, 1,
                                  (cg_value[]){LLVMBuildFNeg(e->b, y, ""), r, one}, 3);
    r = cg_intrinsic(e, "llvm.fma", &f32, 1, (cg_value[]){r, error, r}, 3);
    if (next) LLVMPositionBuilderAtEnd(e->b, here);
    LLVMSetCurrentDebugLocation2(e->b, line);
    return r;
}

// Normal operands: 2^-100 <= |x| < 2^60 and 2^-60 <= |y| < 2^24, so |x / y| is in (2^-124, 2^120]
// and the last bit of a remainder no less than 2^-147.
static const char divide_f32[] =
    "{\n"
    "\t.reg .b32 \tx, y;\n"
    "\t.reg .pred \trare;\n"
    "\t.reg .f32 \tn, e, q;\n"
    "\t.reg .f64 \tX, Y, N, R, F, E, Q;\n"
    "\tand.b32 \tx, $1, 0x7fffffff;\n"
    "\tand.b32 \ty, $2, 0x7fffffff;\n"
    "\tsub.u32 \tx, x, 0x0d800000;\n"
    "\tsub.u32 \ty, y, 0x21800000;\n"
    "\tsetp.ge.u32 \trare, x, 0x50000000;\n"
    "\tsetp.ge.or.u32 \trare, y, 0x2a000000, rare;\n"
    "\t@rare bra \tRare;\n"
    "\tneg.f32 \tn, $2;\n"
    "\tmul.rn.f32 \tq, $1, $3;\n"
    "\tfma.rn.f32 \te, n, q, $1;\n"
    "\tfma.rn.f32 \tq, e, $3, q;\n"
    "\tfma.rn.f32 \te, n, q, $1;\n"
    "\tfma.rn.f32 \t$0, e, $3, q;\n"
    "\tbra \tDone;\n"
    "Rare:\n"
    "\tcvt.f64.f32 \tX, $1;\n"
    "\tcvt.f64.f32 \tY, $2;\n"
    "\trcp.approx.ftz.f64 \tF, Y;\n"   // good to 20 bits; 40, then all
    "\tneg.f64 \tN, Y;\n"
    "\tfma.rn.f64 \tE, N, F, 0d3FF0000000000000;\n"
    "\tfma.rn.f64 \tR, F, E, F;\n"
    "\tfma.rn.f64 \tE, N, R, 0d3FF0000000000000;\n"
    "\tfma.rn.f64 \tR, R, E, R;\n"
    "\tmul.rn.f64 \tQ, X, R;\n"
    "\tfma.rn.f64 \tE, N, Q, X;\n"
    "\tfma.rn.f64 \tQ, E, R, Q;\n"
    "\tmul.rn.f64 \tF, X, F;\n"   // of what is 0, infinite or NaN the first estimate is right
    "\tsetp.equ.f64 \trare, Q, 0d0000000000000000;\n"
    "\tselp.f64 \tQ, F, Q, rare;\n"
    "\tcvt.rn.f32.f64 \t$0, Q;\n"
    "Done:\n"
    "}";

// ptxas writes the way out of its own division down once a kernel, so where there are very many the
// machine's costs it less: ptxas 13.0 takes 33 million instructions for the first and 6 for each
// further one, 10 for each text. On the GPU this text is the faster one: a kernel of gat with 9
// takes 384 µs on an H200 instead of 448.
enum { FEW_DIVISIONS = 32 };

static uint32_t divisions(const simt_module *m, const simt_func *f) {
    uint32_t n = 0;
    for (uint32_t k = 1; k < f->instrs.len; k++) {
        const simt_instr_info *i = &f->instrs.data[k];
        simt_type t = i->nresults ? simt_typeof(f, i->results[0]) : SIMT_T(NONE);
        if (i->op == SIMT_DIV && (t.element == SIMT_F32 || cg_half_width(t))) n += t.lanes;
        if (i->op == SIMT_CALL) n += divisions(m, m->funcs.data[i->imm.i]);
    }
    return n;
}

void cg_divide_function(cg_emitter *e) {
    e->f.divides = e->f.ir->kernel && divisions(e->module, e->f.ir) > FEW_DIVISIONS;
}

// Of f32 and, since it has twice their digits and two, of f16 and bf16.
cg_value cg_divide_gpu(cg_emitter *e, simt_type t, cg_value x, cg_value y) {
    if (cg_half_width(t)) {
        simt_type f32 = cg_with(t, SIMT_F32);
        cg_value u = cg_emit_cvt(e, false, t, f32, x), v = cg_emit_cvt(e, false, t, f32, y);
        return cg_emit_cvt(e, false, f32, t, cg_divide_gpu(e, f32, u, v));
    }
    if (t.element != SIMT_F32 || e->f.divides || LLVMIsConstant(y))
        return LLVMBuildFDiv(e->b, x, y, "");
    cg_value parts[CG_MAX_LANES];
    for (uint32_t k = 0; k < t.lanes; k++) {
        cg_value lane[3] = {cg_lane(e, x, t.lanes, k), cg_lane(e, y, t.lanes, k)};
        lane[2] = reciprocal(e, lane[1]);
        parts[k] = cg_asm(e, e->types[SIMT_F32], divide_f32, "=f,f,f,f", false, lane, 3);
    }
    return cg_pack(e, parts, t.lanes);
}
