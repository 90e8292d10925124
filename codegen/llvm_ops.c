// Each operation to LLVM: one case each. Floats carry no fast-math flag, so nothing is fused or
// reassociated.
#include "emitter.h"

// ---- Integers -----------------------------------------------------------------------------------
// LLVM leaves the quotient of the least integer and -1 undefined, and x86 traps; here it wraps.
static cg_value signed_division(cg_emitter *e, simt_op op, cg_value x, cg_value y) {
    LLVMTypeRef t = LLVMTypeOf(x);
    bool safe = LLVMIsAConstantInt(y) && LLVMConstIntGetSExtValue(y) != -1;
    if (safe) return op == SIMT_DIV ? LLVMBuildSDiv(e->b, x, y, "") : LLVMBuildSRem(e->b, x, y, "");
    cg_value minus = LLVMBuildICmp(e->b, LLVMIntEQ, y, cg_int(e, t, UINT64_MAX), "");
    cg_value by = LLVMBuildSelect(e->b, minus, cg_int(e, t, 1), y, "");
    if (op == SIMT_REM) return LLVMBuildSRem(e->b, x, by, "");
    cg_value negated = LLVMBuildNeg(e->b, x, ""), quotient = LLVMBuildSDiv(e->b, x, by, "");
    return LLVMBuildSelect(e->b, minus, negated, quotient, "");
}

static cg_value upper_product(cg_emitter *e, simt_type t, cg_value x, cg_value y) {
    uint32_t bits = simt_element_bits(t.element);
    // a 64-bit product would not become one instruction again
    if (!e->host && bits == 32 && t.lanes == 1)
        return cg_intrinsic(e, "llvm.nvvm.mulhi.ui", NULL, 0, (cg_value[]){x, y}, 2);
    LLVMTypeRef wide = cg_int_type(e, 2 * bits, t.lanes);
    cg_value u = LLVMBuildZExt(e->b, x, wide, ""), v = LLVMBuildZExt(e->b, y, wide, "");
    cg_value p = LLVMBuildMul(e->b, u, v, "");
    return LLVMBuildTrunc(e->b, LLVMBuildLShr(e->b, p, cg_int(e, wide, bits), ""), cg_type(e, t),
                          "");
}

static cg_value int_binary(cg_emitter *e, simt_op op, simt_type t, cg_value x, cg_value y) {
    cg_value amount =
        op == SIMT_SHL || op == SIMT_LSHR || op == SIMT_ASHR
            ? LLVMBuildAnd(e->b, y, cg_int(e, LLVMTypeOf(y), simt_element_bits(t.element) - 1), "")
            : NULL;
    switch ((int)op) {
    case SIMT_ADD: return LLVMBuildAdd(e->b, x, y, "");
    case SIMT_SUB: return LLVMBuildSub(e->b, x, y, "");
    case SIMT_MUL: return LLVMBuildMul(e->b, x, y, "");
    case SIMT_MULHI: return upper_product(e, t, x, y);
    case SIMT_DIV:
    case SIMT_REM: return signed_division(e, op, x, y);
    case SIMT_UDIV: return LLVMBuildUDiv(e->b, x, y, "");
    case SIMT_UREM: return LLVMBuildURem(e->b, x, y, "");
    case SIMT_MIN: return cg_intrinsic2(e, "llvm.smin", x, y);
    case SIMT_MAX: return cg_intrinsic2(e, "llvm.smax", x, y);
    case SIMT_AND: return LLVMBuildAnd(e->b, x, y, "");
    case SIMT_OR: return LLVMBuildOr(e->b, x, y, "");
    case SIMT_XOR: return LLVMBuildXor(e->b, x, y, "");
    case SIMT_SHL: return LLVMBuildShl(e->b, x, amount, "");
    case SIMT_LSHR: return LLVMBuildLShr(e->b, x, amount, "");
    case SIMT_ASHR: return LLVMBuildAShr(e->b, x, amount, "");
    }
    ICE("'%s' does not take integers", simt_op_table(op)->text);
}

static cg_value int_unary(cg_emitter *e, simt_op op, cg_value x) {
    cg_value no = cg_false(e);   // abs of the least integer and clz of 0 are defined
    switch ((int)op) {
    case SIMT_NEG: return LLVMBuildNeg(e->b, x, "");
    case SIMT_ABS: return cg_intrinsic2(e, "llvm.abs", x, no);
    case SIMT_NOT: return LLVMBuildNot(e->b, x, "");
    case SIMT_CLZ: return cg_intrinsic2(e, "llvm.ctlz", x, no);
    }
    ICE("'%s' does not take integers", simt_op_table(op)->text);
}

// ---- Floats -------------------------------------------------------------------------------------
// Operations that are an intrinsic of LLVM on vectors, too.
static const char *float_intrinsic(simt_op op) {
    static const char *const names[SIMT_OP_COUNT] = {
        [SIMT_MIN] = "llvm.minimum",    [SIMT_MAX] = "llvm.maximum",      [SIMT_ABS] = "llvm.fabs",
        [SIMT_SQRT] = "llvm.sqrt",      [SIMT_FLOOR] = "llvm.floor",      [SIMT_CEIL] = "llvm.ceil",
        [SIMT_RINT] = "llvm.roundeven", [SIMT_COPYSIGN] = "llvm.copysign"};
    if (!names[op]) ICE("'%s' does not take floats", simt_op_table(op)->text);
    return names[op];
}

cg_value cg_emit_float_binary(cg_emitter *e, simt_op op, simt_type t, cg_value x, cg_value y) {
    if (cg_soft(e, t)) {   // f32 has twice the digits and two, so rounding again is rounding once
        cg_value u = cg_widen(e, t, x), v = cg_widen(e, t, y);
        return cg_narrow(e, t, cg_emit_float_binary(e, op, cg_with(t, SIMT_F32), u, v));
    }
    switch ((int)op) {
    case SIMT_ADD: return LLVMBuildFAdd(e->b, x, y, "");
    case SIMT_SUB: return LLVMBuildFSub(e->b, x, y, "");
    case SIMT_MUL: return LLVMBuildFMul(e->b, x, y, "");
    case SIMT_DIV: return e->host ? LLVMBuildFDiv(e->b, x, y, "") : cg_divide_gpu(e, t, x, y);
    }
    return cg_intrinsic2(e, float_intrinsic(op), x, y);
}

static cg_value soft_sign(cg_emitter *e, simt_op op, simt_type t, cg_value x) {
    LLVMTypeRef i16 = cg_type(e, t);
    cg_value sign = cg_int(e, i16, 0x8000), rest = cg_int(e, i16, 0x7fff);
    cg_value r = op == SIMT_NEG ? LLVMBuildXor(e->b, x, sign, "") : LLVMBuildAnd(e->b, x, rest, "");
    return cg_soft_canonical(e, t, r);
}

static cg_value float_unary(cg_emitter *e, simt_op op, simt_type t, cg_value x) {
    if (cg_soft(e, t)) {
        if (op == SIMT_NEG || op == SIMT_ABS) return soft_sign(e, op, t, x);
        return cg_narrow(e, t, float_unary(e, op, cg_with(t, SIMT_F32), cg_widen(e, t, x)));
    }
    switch ((int)op) {
    case SIMT_NEG: return LLVMBuildFNeg(e->b, x, "");
    }
    return cg_intrinsic1(e, float_intrinsic(op), x);
}

static cg_value fma_op(cg_emitter *e, simt_type t, const cg_value *x) {
    if (cg_soft(e, t)) return cg_soft_fma(e, t, x);
    LLVMTypeRef type = LLVMTypeOf(x[0]);
    return cg_intrinsic(e, "llvm.fma", &type, 1, x, 3);
}

// ---- Approximations -----------------------------------------------------------------------------
static cg_value reciprocal(cg_emitter *e, simt_type t, cg_value x) {
    simt_instr_info one = {.imm.f = 1};
    return LLVMBuildFDiv(e->b, cg_constant(e, t, &one), x, "");
}

static cg_value approximate_host(cg_emitter *e, simt_op op, simt_type t, cg_value x) {
    switch ((int)op) {
    case SIMT_EXP2A: return cg_intrinsic1(e, "llvm.exp2", x);
    case SIMT_LOG2A: return cg_intrinsic1(e, "llvm.log2", x);
    case SIMT_RCPA: return reciprocal(e, t, x);
    case SIMT_RSQRTA: return reciprocal(e, t, cg_intrinsic1(e, "llvm.sqrt", x));
    case SIMT_TANHA: return cg_intrinsic1(e, "llvm.tanh", x);
    }
    ICE("'%s' is no approximation", simt_op_table(op)->text);
}

static const char *inline_text(simt_op op) {
    switch ((int)op) {
#define CG_INLINE(name, text)                                                                      \
    case SIMT_##name: return text;
#include "inline.def"
#undef CG_INLINE
    }
    ICE("'%s' has no PTX text", simt_op_table(op)->text);
}

static cg_value approximate_ptx(cg_emitter *e, simt_op op, simt_type t, cg_value x) {
    LLVMTypeRef f32 = e->types[SIMT_F32];
    cg_value parts[CG_MAX_LANES];
    for (uint32_t k = 0; k < t.lanes; k++) {
        cg_value lane = cg_lane(e, x, t.lanes, k);
        parts[k] = cg_asm(e, f32, inline_text(op), "=f,f", false, &lane, 1);
    }
    return cg_pack(e, parts, t.lanes);
}

// Powers of two in 16 bits, in pairs where there are two lanes. Those of bf16 flush what is below
// the normal range.
static bool has_exp2_half(const cg_emitter *e, simt_type t) {
    return t.element == SIMT_F16 || gpu_has(e->target->arch, GPU_EXP2_BF16);
}

static cg_value exp2_half_ptx(cg_emitter *e, simt_type t, cg_value x) {
    const bool f16 = t.element == SIMT_F16;
    LLVMTypeRef bits = LLVMInt16TypeInContext(e->context),
                pair = LLVMInt32TypeInContext(e->context);
    cg_value parts[CG_MAX_LANES];
    for (uint32_t k = 0; k < t.lanes; k += 2) {
        const bool two = k + 1 < t.lanes;
        const simt_type part = {t.element, two ? 2 : 1};
        cg_value lanes[2] = {cg_lane(e, x, t.lanes, k), two ? cg_lane(e, x, t.lanes, k + 1) : NULL},
                 in = LLVMBuildBitCast(e->b, cg_pack(e, lanes, part.lanes), two ? pair : bits, "");
        const char *text = two ? f16 ? "ex2.approx.f16x2 $0, $1;" : "ex2.approx.ftz.bf16x2 $0, $1;"
                           : f16 ? "ex2.approx.f16 $0, $1;"
                                 : "ex2.approx.ftz.bf16 $0, $1;";
        cg_value out = cg_asm(e, two ? pair : bits, text, two ? "=r,r" : "=h,h", false, &in, 1);
        out = LLVMBuildBitCast(e->b, out, LLVMTypeOf(cg_pack(e, lanes, part.lanes)), "");
        for (uint32_t n = 0; n < part.lanes; n++) parts[k + n] = cg_lane(e, out, part.lanes, n);
    }
    return cg_pack(e, parts, t.lanes);
}

static cg_value approximate(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value x) {
    simt_op op = i->op;
    simt_type f32 = cg_with(t, SIMT_F32);
    if (op == SIMT_EXP2A && cg_half_width(t) && !e->host && has_exp2_half(e, t))
        return exp2_half_ptx(e, t, x);
    if (cg_half_width(t)) {
        cg_value r = approximate(e, i, f32, cg_emit_cvt(e, false, t, f32, x));
        return cg_emit_cvt(e, false, f32, t, r);
    }
    bool exact = t.element == SIMT_F64 && (op == SIMT_RCPA || op == SIMT_RSQRTA);
    if (e->host || exact) return approximate_host(e, op, t, x);
    if (t.element == SIMT_F64) {
        cg_refuse(e, i, E0704, "a GPU has no such approximation for f64");
        return x;
    }
    return approximate_ptx(e, op, t, x);
}

// ---- Comparison and shape -----------------------------------------------------------------------
static cg_value compare(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value x,
                        cg_value y) {
    static const LLVMIntPredicate ints[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntSLT, LLVMIntSLE,
                                            LLVMIntSGT, LLVMIntSGE, LLVMIntULT, LLVMIntULE,
                                            LLVMIntUGT, LLVMIntUGE};
    static const LLVMRealPredicate reals[] = {LLVMRealOEQ, LLVMRealUNE, LLVMRealOLT,
                                              LLVMRealOLE, LLVMRealOGT, LLVMRealOGE};
    if (!cg_is_float(t)) return LLVMBuildICmp(e->b, ints[i->aux], x, y, "");
    if (i->aux > SIMT_GE) ICE("an unsigned comparison of floats");
    if (cg_soft(e, t)) {
        x = cg_widen(e, t, x);
        y = cg_widen(e, t, y);
    }
    return LLVMBuildFCmp(e->b, reals[i->aux], x, y, "");
}

static cg_value concat(cg_emitter *e, simt_type t, cg_value x, cg_value y) {
    if (t.lanes == 1) return cg_pack(e, (cg_value[]){x, y}, 2);
    return cg_shuffle(e, x, y, 0, 2u * t.lanes);
}

static cg_value slice(cg_emitter *e, simt_type from, simt_type to, cg_value x, uint32_t first) {
    if (to.lanes == 1) return cg_lane(e, x, from.lanes, first);
    return cg_shuffle(e, x, LLVMGetPoison(LLVMTypeOf(x)), first, to.lanes);
}

static cg_value insert(cg_emitter *e, const simt_instr_info *i, cg_value v, cg_value x) {
    return LLVMBuildInsertElement(e->b, v, x, cg_i32(e, (uint32_t)i->imm.i), "");
}

static cg_value shared_address(cg_emitter *e, const simt_instr_info *i) {
    if (!e->f.shared) ICE("shared memory is addressed in '%s', which has none", e->f.ir->name);
    cg_value offset = cg_i32(e, (uint32_t)i->imm.i);
    return LLVMBuildGEP2(e->b, LLVMInt8TypeInContext(e->context), e->f.shared, &offset, 1, "");
}

// ---- Functions ----------------------------------------------------------------------------------
static void call(cg_emitter *e, const simt_instr_info *i) {
    cg_value callee = e->functions[i->imm.i];
    cg_value *args = ARENA_ARRAY(e->arena, cg_value, i->nargs + 1u);
    for (uint32_t k = 0; k < i->nargs; k++) args[k] = e->f.values[i->args[k]];
    cg_value r = LLVMBuildCall2(e->b, LLVMGlobalGetValueType(callee), callee, args, i->nargs, "");
    if (i->nresults == 1) e->f.values[i->results[0]] = r;
    else
        for (uint32_t k = 0; k < i->nresults; k++)
            e->f.values[i->results[k]] = LLVMBuildExtractValue(e->b, r, k, "");
}

static void give_back(cg_emitter *e, const simt_instr_info *i) {
    if (e->f.ir->kernel || !i->nargs) LLVMBuildRetVoid(e->b);
    else if (i->nargs == 1) LLVMBuildRet(e->b, e->f.values[i->args[0]]);
    else {
        cg_value *values = ARENA_ARRAY(e->arena, cg_value, i->nargs);
        for (uint32_t k = 0; k < i->nargs; k++) values[k] = e->f.values[i->args[k]];
        LLVMBuildAggregateRet(e->b, values, i->nargs);
    }
}

// ---- One case per operation ---------------------------------------------------------------------
// The value of an operation of one result. x: its first three arguments; t: the type of the first;
// r: of the result.
static cg_value emit_value(cg_emitter *e, const simt_instr_info *i, simt_type t, simt_type r,
                           const cg_value *x) {
    simt_op op = i->op;
    // clang-format off
    switch (op) {
    case SIMT_CONST: return cg_constant(e, r, i);
    case SIMT_SREG: return cg_emit_sreg(e, (simt_sreg)i->aux);
    case SIMT_SHARED: return shared_address(e, i);
    case SIMT_ADD: case SIMT_SUB: case SIMT_MUL: case SIMT_DIV: case SIMT_MIN: case SIMT_MAX:
        return cg_is_float(t) ? cg_emit_float_binary(e, op, t, x[0], x[1])
                              : int_binary(e, op, t, x[0], x[1]);
    case SIMT_MULHI: case SIMT_REM: case SIMT_UDIV: case SIMT_UREM: case SIMT_AND: case SIMT_OR:
    case SIMT_XOR: case SIMT_SHL: case SIMT_LSHR: case SIMT_ASHR:
        return int_binary(e, op, t, x[0], x[1]);
    case SIMT_NEG: case SIMT_ABS:
        return cg_is_float(t) ? float_unary(e, op, t, x[0]) : int_unary(e, op, x[0]);
    case SIMT_NOT: case SIMT_CLZ: return int_unary(e, op, x[0]);
    case SIMT_COPYSIGN: return cg_emit_float_binary(e, op, t, x[0], x[1]);
    case SIMT_FMA: return fma_op(e, t, x);
    case SIMT_SQRT: case SIMT_FLOOR: case SIMT_CEIL: case SIMT_RINT:
        return float_unary(e, op, t, x[0]);
    case SIMT_CMP: return compare(e, i, t, x[0], x[1]);
    case SIMT_SELECT: return LLVMBuildSelect(e->b, x[0], x[1], x[2], "");
    case SIMT_EXP2A: case SIMT_LOG2A: case SIMT_RCPA: case SIMT_RSQRTA: case SIMT_TANHA:
        return approximate(e, i, t, x[0]);
    case SIMT_CVT_TF32: return cg_emit_cvt_tf32(e, t, x[0]);
    case SIMT_CVT: return cg_emit_cvt(e, false, t, r, x[0]);
    case SIMT_UCVT: return cg_emit_cvt(e, true, t, r, x[0]);
    case SIMT_BITCAST: return LLVMBuildBitCast(e->b, x[0], cg_type(e, r), "");
    case SIMT_SPLAT: return cg_splat(e, x[0], r.lanes);
    case SIMT_EXTRACT: return cg_lane(e, x[0], t.lanes, (uint32_t)i->imm.i);
    case SIMT_INSERT: return insert(e, i, x[0], x[1]);
    case SIMT_SLICE: return slice(e, t, r, x[0], (uint32_t)i->imm.i);
    case SIMT_CONCAT: return concat(e, t, x[0], x[1]);
    case SIMT_ADDR: return cg_emit_addr(e, i, x[0], x[1]);
    case SIMT_LD: return cg_emit_load(e, i, r, x[0]);
    case SIMT_LD_SOME: return cg_emit_load_some(e, r, x[0], x[1]);
    case SIMT_ATOM: return cg_emit_atomic(e, i, r, x[0], x[1]);
    case SIMT_ATOM_CAS: return cg_emit_atomic_cas(e, x[0], x[1], x[2]);
    case SIMT_SHFL_IDX: case SIMT_SHFL_UP: case SIMT_SHFL_DOWN: case SIMT_SHFL_BFLY:
        return cg_emit_shuffle(e, i, t, x[0], x[1]);
    case SIMT_BALLOT: case SIMT_VOTE_ANY: case SIMT_VOTE_ALL: case SIMT_MATCH_ANY:
    case SIMT_BARRIER_ANY:
        return cg_emit_vote(e, i, t, x[0]);
    case SIMT_LDMATRIX: case SIMT_LDMATRIX_TRANS: return cg_emit_ldmatrix(e, i, r, x[0]);
    case SIMT_MMA: return cg_emit_mma(e, i, x);
    case SIMT_ST: case SIMT_ST_SOME: case SIMT_RED: case SIMT_WARP_SYNC: case SIMT_BARRIER:
    case SIMT_FENCE: case SIMT_FENCE_MMA: case SIMT_CALL: case SIMT_MMA_GROUP: case SIMT_MMA_ROWS:
    case SIMT_MMA_ROWS_TRANS: case SIMT_MMA_ROWS_BOTH: case SIMT_LAUNCH_NEXT: case SIMT_GRID_WAIT:
    case SIMT_COPY: case SIMT_COPY_END: case SIMT_COPY_WAIT: case SIMT_FOR: case SIMT_WHILE:
    case SIMT_IF: case SIMT_YIELD: case SIMT_RETURN: case SIMT_TRAP: case SIMT_OP_COUNT: break;
    }
    // clang-format on
    ICE("'%s' gives no value", simt_op_table(op)->text);
}

static void emit_statement(cg_emitter *e, const simt_instr_info *i, const cg_value *x) {
    switch ((int)i->op) {
    case SIMT_ST: cg_emit_store(e, i, simt_typeof(e->f.ir, i->args[1]), x[0], x[1]); return;
    case SIMT_ST_SOME:
        cg_emit_store_some(e, simt_typeof(e->f.ir, i->args[1]), x[0], x[1], x[2]);
        return;
    case SIMT_RED: cg_emit_atomic(e, i, simt_typeof(e->f.ir, i->args[1]), x[0], x[1]); return;
    case SIMT_WARP_SYNC:
    case SIMT_BARRIER:
    case SIMT_FENCE:
    case SIMT_FENCE_MMA: cg_emit_sync(e, i); return;
    case SIMT_MMA_GROUP:
    case SIMT_MMA_ROWS:
    case SIMT_MMA_ROWS_TRANS:
    case SIMT_MMA_ROWS_BOTH: cg_emit_mma_group(e, i); return;
    case SIMT_COPY: cg_emit_copy(e, i, x); return;
    case SIMT_COPY_END:
    case SIMT_COPY_WAIT: cg_emit_copy_order(e, i); return;
    case SIMT_LAUNCH_NEXT:
    case SIMT_GRID_WAIT: cg_emit_dependence(e, i); return;
    case SIMT_CALL: call(e, i); return;
    case SIMT_FOR: cg_emit_for(e, i); return;
    case SIMT_WHILE: cg_emit_while(e, i); return;
    case SIMT_IF: cg_emit_if(e, i); return;
    case SIMT_YIELD: return;   // its values are taken by the region's owner
    case SIMT_RETURN: give_back(e, i); return;
    case SIMT_TRAP: cg_intrinsic(e, "llvm.trap", NULL, 0, NULL, 0); return;
    }
    ICE("'%s' gives a value", simt_op_table(i->op)->text);
}

void cg_emit_instr(cg_emitter *e, simt_instr instr) {
    const simt_instr_info *i = &e->f.ir->instrs.data[instr];
    const simt_op_info *op = simt_op_table(i->op);
    cg_debug_location(e, i->at);
    cg_value x[CG_MAX_ARGS] = {0};
    for (uint32_t k = 0; op->args >= 0 && k < i->nargs; k++) x[k] = e->f.values[i->args[k]];
    if (op->results != 1) {
        emit_statement(e, i, x);
        return;
    }
    simt_type r = simt_typeof(e->f.ir, i->results[0]);
    simt_type t = i->nargs ? simt_typeof(e->f.ir, i->args[0]) : r;
    cg_value v = emit_value(e, i, t, r, x);
    e->f.values[i->results[0]] = v;
    const char *name = e->f.ir->values.data[i->results[0]].name;
    if (e->named && name && LLVMIsAInstruction(v))
        LLVMSetValueName2(v, name, __builtin_strlen(name));
}
