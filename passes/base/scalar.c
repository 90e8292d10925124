// See scalar.h.
#include "base/scalar.h"
#include "base/base.h"
#include "tensor_bounds.h"

// ---- What must not be evaluated where its condition fails ---------------------------------------
static uint8_t none_facts(const tensor_op *op, const uint8_t *of, const tensor_node *x,
                          tensor_expr e) {
    uint8_t facts = 0;
    for (uint32_t i = 0; i < x->nargs; i++) {
        facts |= of[x->args[i]] & READS_AT_NONE;
        if (x->op == TENSOR_LOAD_OP && of[x->args[i]] & MAYBE_NONE) facts |= READS_AT_NONE;
    }
    switch ((tensor_opcode)x->op) {
    case TENSOR_NONE_OP:
    case TENSOR_ARG_OP:
    case TENSOR_LEFT_OP:
    case TENSOR_RIGHT_OP: return facts | MAYBE_NONE;
    case TENSOR_INDEX_OP:   // outside its space it is as none: it is not to be read at
        return facts | (tensor_in_space(op, e, x->type.space, NULL, 0, NULL) ? 0 : MAYBE_NONE);
    case TENSOR_LOAD_OP:
        return facts | (op->vals.data[x->imm.i].facts & FACT_PARTIAL ? MAYBE_NONE : 0);
    case TENSOR_SELECT_OP: return facts | ((of[x->args[1]] | of[x->args[2]]) & MAYBE_NONE);
    case TENSOR_MIN_OP:
    case TENSOR_MAX_OP: return facts | ((of[x->args[0]] | of[x->args[1]]) & MAYBE_NONE);
    default: return facts;
    }
}

uint8_t *scalar_none_facts(arena *a, const tensor_op *op) {
    uint8_t *of = ARENA_ARRAY(a, uint8_t, op->exprs.len + 1);
    for (tensor_expr e = 1; e < op->exprs.len; e++)
        of[e] = none_facts(op, of, tensor_node_at(op, e), e);
    return of;
}

// ---- Division towards minus infinity ------------------------------------------------------------
typedef struct {
    simt_value zero, one, minus;
} units;

static units units_like(simt_builder *b, simt_value x) {
    simt_type t = simt_typeof(b->func, x);
    return (units){simt_build_int(b, t, 0), simt_build_int(b, t, 1), simt_build_int(b, t, -1)};
}

// The remainder is not 0 and of another sign than y: truncation went the other way.
static simt_value truncated_up(simt_builder *b, simt_value r, simt_value y, simt_value zero) {
    simt_value other_sign = simt_build_cmp(b, SIMT_LT, simt_build_binary(b, SIMT_XOR, r, y), zero);
    return simt_build_binary(b, SIMT_AND, simt_build_cmp(b, SIMT_NE, r, zero), other_sign);
}

// The remainder by 0 and -1 is never asked of the machine.
simt_value scalar_mod(simt_builder *b, simt_value x, simt_value y) {
    units u = units_like(b, x);
    simt_value trivial = simt_build_binary(b, SIMT_OR, simt_build_cmp(b, SIMT_EQ, y, u.zero),
                                           simt_build_cmp(b, SIMT_EQ, y, u.minus));
    simt_value r = simt_build_binary(b, SIMT_REM, x, simt_build_select(b, trivial, u.one, y));
    simt_value fix = truncated_up(b, r, y, u.zero);
    return simt_build_select(b, fix, simt_build_binary(b, SIMT_ADD, r, y), r);
}

static const simt_instr_info *made_by(const simt_builder *b, simt_value x) {
    simt_instr i = b->func->values.data[x].def;
    return i ? &b->func->instrs.data[i] : NULL;
}

static bool is_number(const simt_builder *b, simt_value x, int64_t *c) {
    const simt_instr_info *i = made_by(b, x);
    if (!i || i->op != SIMT_CONST) return false;
    *c = i->imm.i;
    return true;
}

simt_value scalar_without_constant(const simt_builder *b, simt_value x, int64_t *constant) {
    int64_t c;
    *constant = 0;
    for (const simt_instr_info *i = made_by(b, x);
         i && i->op == SIMT_ADD && is_number(b, i->args[1], &c); i = made_by(b, x))
        x = i->args[0], *constant += c;
    return x;
}

// Of bits whose places differ by constants the word is shifted once.
simt_value scalar_bit(simt_builder *b, simt_value x, simt_value i) {
    simt_type word = {SIMT_I32, simt_typeof(b->func, x).lanes};
    const simt_instr_info *wide = made_by(b, i);
    if (wide && wide->op == SIMT_CVT) i = wide->args[0];
    int64_t constant, mask = 1;
    simt_value to = scalar_without_constant(b, i, &constant);
    if (constant > 0 && constant < 32) i = to, mask = INT64_C(1) << constant;
    simt_value shifted = simt_build_binary(b, SIMT_LSHR, simt_build_cvt(b, word, x),
                                           simt_build_cvt(b, word, i)),
               bit = simt_build_binary(b, SIMT_AND, shifted, simt_build_int(b, word, mask));
    return simt_build_cmp(b, SIMT_NE, bit, simt_build_int(b, word, 0));
}

simt_value scalar_quot(simt_builder *b, simt_value x, simt_value y) {
    units u = units_like(b, x);
    simt_value none = simt_build_cmp(b, SIMT_EQ, y, u.zero),
               flip = simt_build_cmp(b, SIMT_EQ, y, u.minus);
    simt_value by = simt_build_select(b, simt_build_binary(b, SIMT_OR, none, flip), u.one, y);
    simt_value q = simt_build_binary(b, SIMT_DIV, x, by), r = simt_build_binary(b, SIMT_REM, x, by);
    simt_value down = truncated_up(b, r, by, u.zero);
    q = simt_build_select(b, down, simt_build_binary(b, SIMT_SUB, q, u.one), q);
    q = simt_build_select(b, flip, simt_build_unary(b, SIMT_NEG, x), q);
    return simt_build_select(b, none, u.zero, q);
}

// ---- Random numbers -----------------------------------------------------------------------------
static simt_value same(simt_builder *b, simt_value like, uint64_t x) {
    return simt_build_int(b, simt_typeof(b->func, like), (int64_t)x);
}

static simt_value shift_in(simt_builder *b, simt_value z, uint64_t by) {
    return simt_build_binary(b, SIMT_XOR, z, simt_build_binary(b, SIMT_LSHR, z, same(b, z, by)));
}

simt_value scalar_hash(simt_builder *b, simt_value before, simt_value argument) {
    simt_value z = before ? simt_two(b, SIMT_XOR, before, argument) : argument;
    z = simt_build_binary(b, SIMT_ADD, z, same(b, z, UINT64_C(0x9e3779b97f4a7c15)));
    z = simt_build_binary(b, SIMT_MUL, shift_in(b, z, 30),
                          same(b, z, UINT64_C(0xbf58476d1ce4e5b9)));
    z = simt_build_binary(b, SIMT_MUL, shift_in(b, z, 27),
                          same(b, z, UINT64_C(0x94d049bb133111eb)));
    return shift_in(b, z, 31);
}

simt_value scalar_uniform(simt_builder *b, simt_value hash) {
    simt_type t = {SIMT_F32, simt_typeof(b->func, hash).lanes};
    simt_value top = simt_build_binary(b, SIMT_LSHR, hash, same(b, hash, 40));
    return simt_build_binary(b, SIMT_MUL, simt_build_cvt(b, t, top),
                             simt_build_float(b, t, 0x1p-24));
}
