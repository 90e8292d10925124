// Building SIMT IR: each call appends to a region, folds what is constant and checks the types it
// is given.
#include "simt_internal.h"

#include <string.h>

simt_builder simt_builder_at_end(simt_func *f) { return (simt_builder){.func = f, .region = 1}; }

static void append(simt_builder *b, simt_instr i) {
    simt_func *f = b->func;
    const simt_region_info *r = &f->regions.data[b->region];
    if (r->instrs.len) {
        const simt_instr_info *last = &f->instrs.data[r->instrs.data[r->instrs.len - 1]];
        if (simt_op_table(last->op)->flags & SIMT_TERMINATOR)
            ICE("'%s' is built behind the end of a region of '%s'",
                simt_op_table(f->instrs.data[i].op)->text, f->name);
    }
    const char *fault = simt_types_fault(f, i);
    if (fault) ICE("'%s' in '%s': %s", simt_op_table(f->instrs.data[i].op)->text, f->name, fault);
    simt_region_add(f, b->region, i);
}

static void check_args(const simt_func *f, simt_op op, const simt_value *args, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        if (!args[k] || args[k] >= f->values.len)
            ICE("argument %u of '%s' in '%s' is no value", k, simt_op_table(op)->text, f->name);
}

static simt_instr new_instr(simt_builder *b, simt_op op, const simt_value *args, uint32_t nargs,
                            const simt_type *results, uint32_t nresults) {
    check_args(b->func, op, args, nargs);
    simt_instr i = simt_instr_new(b->func, op, args, nargs, results, nresults, b->at);
    bool shuffle = op == SIMT_SHFL_IDX || op == SIMT_SHFL_UP || op == SIMT_SHFL_DOWN ||
                   op == SIMT_SHFL_BFLY;
    if (shuffle) b->func->instrs.data[i].imm.i = 32;
    return i;
}

simt_instr simt_build_op(simt_builder *b, simt_op op, const simt_value *args, uint32_t nargs,
                         const simt_type *results, uint32_t nresults) {
    if (op == SIMT_CALL || op == SIMT_FOR || op == SIMT_WHILE || op == SIMT_IF)
        ICE("'%s' has a builder of its own", simt_op_table(op)->text);
    simt_instr i = new_instr(b, op, args, nargs, results, nresults);
    append(b, i);
    return i;
}

static simt_value build_one(simt_builder *b, simt_op op, const simt_value *args, uint32_t nargs,
                            simt_type result) {
    return simt_result(b->func, simt_build_op(b, op, args, nargs, &result, 1), 0);
}

static simt_value build_by_rule(simt_builder *b, simt_op op, const simt_value *args,
                                uint32_t nargs) {
    if (simt_op_table(op)->args != (int)nargs || simt_op_table(op)->results != 1)
        ICE("'%s' does not take %u arguments for one result", simt_op_table(op)->text, nargs);
    check_args(b->func, op, args, nargs);
    return build_one(b, op, args, nargs, simt_rule_type(b->func, op, args));
}

// ---- Constants ----------------------------------------------------------------------------------
// They stand at the start of the body, where everything sees them, and are found by an open hash
// table.
struct simt_constants {
    simt_value *slots;   // 0: free
    uint32_t mask, used;
    uint32_t leading;   // constants at the start of the body
};

static uint64_t constant_bits(simt_constant c) {
    return simt_is_float(c.type.element) ? simt_const_bits(c.type.element, c.f) : (uint64_t)c.i;
}

static simt_value *slot_of(const simt_func *f, const struct simt_constants *t, simt_constant c) {
    uint64_t hash = (constant_bits(c) + c.type.element * 31u + c.type.lanes) *
                    UINT64_C(0x9e3779b97f4a7c15);
    simt_constant other;
    for (uint32_t k = (uint32_t)(hash >> 32) & t->mask;; k = (k + 1) & t->mask) {
        simt_value v = t->slots[k];
        if (!v) return &t->slots[k];
        bool constant = simt_constant_of(f, v, &other);
        if (constant && simt_type_equal(other.type, c.type) &&
            constant_bits(other) == constant_bits(c))
            return &t->slots[k];
    }
}

static void constants_insert(const simt_func *f, struct simt_constants *t, simt_value v) {
    simt_constant c;
    if (!simt_constant_of(f, v, &c)) return;
    simt_value *slot = slot_of(f, t, c);
    if (*slot) return;
    *slot = v;
    t->used++;
}

static void constants_grow(const simt_func *f, struct simt_constants *t, uint32_t size) {
    struct simt_constants old = *t;
    *t = (struct simt_constants){ARENA_ARRAY(f->module->arena, simt_value, size), size - 1, 0,
                                 old.leading};
    for (uint32_t k = 0; old.slots && k <= old.mask; k++)
        if (old.slots[k]) constants_insert(f, t, old.slots[k]);
}

// A function read from text may have constants at its start already: they are taken in at first
// use.
static struct simt_constants *constants_of(simt_func *f) {
    if (f->constants) return f->constants;
    struct simt_constants *t = f->constants = ARENA_NEW(f->module->arena, struct simt_constants);
    constants_grow(f, t, 32);
    const simt_region_info *body = &f->regions.data[1];
    for (uint32_t k = 0; k < body->instrs.len; k++, t->leading++) {
        const simt_instr_info *i = &f->instrs.data[body->instrs.data[k]];
        if (i->op != SIMT_CONST) break;
        constants_insert(f, t, i->results[0]);
        if (t->used * 2 > t->mask) constants_grow(f, t, (t->mask + 1) * 2);
    }
    return t;
}

static simt_value build_constant(simt_builder *b, simt_constant c) {
    simt_func *f = b->func;
    struct simt_constants *t = constants_of(f);
    simt_value *slot = slot_of(f, t, c);
    if (*slot) return *slot;
    simt_instr i = simt_instr_new(f, SIMT_CONST, NULL, 0, &c.type, 1, b->at);
    if (simt_is_float(c.type.element)) f->instrs.data[i].imm.f = c.f;
    else f->instrs.data[i].imm.i = c.i;
    const char *fault = simt_types_fault(f, i);
    if (fault) ICE("a constant in '%s': %s", f->name, fault);
    simt_region_add(f, 1, i);
    simt_instr *body = f->regions.data[1].instrs.data;
    memmove(&body[t->leading + 1], &body[t->leading],
            (f->regions.data[1].instrs.len - 1 - t->leading) * sizeof *body);
    body[t->leading++] = i;
    simt_value v = *slot = simt_result(f, i, 0);
    if (++t->used * 2 > t->mask) constants_grow(f, t, (t->mask + 1) * 2);
    return v;
}

simt_value simt_build_int(simt_builder *b, simt_type t, int64_t x) {
    if (!simt_is_int(t.element))
        ICE("an integer constant cannot be of type '%s'", simt_element_text(t.element));
    return build_constant(b, (simt_constant){.type = t, .i = simt_int_wrap(t.element, x)});
}

simt_value simt_build_float(simt_builder *b, simt_type t, double x) {
    if (!simt_is_float(t.element))
        ICE("a float constant cannot be of type '%s'", simt_element_text(t.element));
    return build_constant(b, (simt_constant){.type = t, .f = simt_float_round(t.element, x)});
}

simt_value simt_build_pred(simt_builder *b, bool x) {
    return build_constant(b, (simt_constant){.type = SIMT_T(PRED), .i = x});
}

// ---- Values -------------------------------------------------------------------------------------
simt_value simt_build_sreg(simt_builder *b, simt_sreg r) {
    simt_value v = build_by_rule(b, SIMT_SREG, NULL, 0);
    b->func->instrs.data[b->func->values.data[v].def].aux = r;
    return v;
}

simt_value simt_build_unary(simt_builder *b, simt_op op, simt_value x) {
    simt_constant c, folded;
    check_args(b->func, op, &x, 1);
    if (simt_constant_of(b->func, x, &c) && simt_fold_unary(op, c, &folded))
        return build_constant(b, folded);
    return build_by_rule(b, op, &x, 1);
}

simt_value simt_build_binary(simt_builder *b, simt_op op, simt_value x, simt_value y) {
    const simt_func *f = b->func;
    simt_constant cx, cy, folded;
    simt_value args[2] = {x, y};
    check_args(f, op, args, 2);
    if (simt_type_equal(simt_typeof(f, x), simt_typeof(f, y))) {
        bool constant = simt_constant_of(f, x, &cx) && simt_constant_of(f, y, &cy);
        if (constant && simt_fold_binary(op, cx, cy, &folded)) return build_constant(b, folded);
        simt_value same = simt_fold_identity(f, op, x, y);
        if (same) return same;
    }
    return build_by_rule(b, op, args, 2);
}

simt_value simt_build_with(simt_builder *b, simt_op op, simt_value x, int64_t y) {
    return simt_build_binary(b, op, x, simt_build_int(b, simt_typeof(b->func, x), y));
}

simt_value simt_build_fma(simt_builder *b, simt_value x, simt_value y, simt_value z) {
    const simt_func *f = b->func;
    simt_constant cx, cy, cz, folded;
    simt_value args[3] = {x, y, z};
    check_args(f, SIMT_FMA, args, 3);
    bool constant = simt_constant_of(f, x, &cx) && simt_constant_of(f, y, &cy) &&
                    simt_constant_of(f, z, &cz);
    if (constant && simt_fold_fma(cx, cy, cz, &folded)) return build_constant(b, folded);
    return build_by_rule(b, SIMT_FMA, args, 3);
}

simt_value simt_build_mma(simt_builder *b, simt_mma k, simt_value x, simt_value y, simt_value z) {
    simt_value v = build_by_rule(b, SIMT_MMA, (simt_value[]){x, y, z}, 3);
    b->func->instrs.data[b->func->values.data[v].def].aux = k;
    return v;
}

simt_value simt_build_cmp(simt_builder *b, simt_predicate p, simt_value x, simt_value y) {
    const simt_func *f = b->func;
    simt_constant cx, cy, folded;
    simt_value args[2] = {x, y};
    check_args(f, SIMT_CMP, args, 2);
    if (simt_type_equal(simt_typeof(f, x), simt_typeof(f, y)) && simt_constant_of(f, x, &cx) &&
        simt_constant_of(f, y, &cy) && simt_fold_cmp(p, cx, cy, &folded))
        return build_constant(b, folded);
    simt_value v = build_by_rule(b, SIMT_CMP, args, 2);
    b->func->instrs.data[b->func->values.data[v].def].aux = p;
    return v;
}

simt_value simt_build_select(simt_builder *b, simt_value c, simt_value x, simt_value y) {
    simt_value args[3] = {c, x, y};
    simt_constant condition;
    check_args(b->func, SIMT_SELECT, args, 3);
    if (simt_type_equal(simt_typeof(b->func, x), simt_typeof(b->func, y))) {
        if (x == y) return x;
        if (simt_constant_of(b->func, c, &condition)) return condition.i ? x : y;
    }
    return build_by_rule(b, SIMT_SELECT, args, 3);
}

static simt_value build_conversion(simt_builder *b, simt_op op, simt_type t, simt_value x) {
    simt_constant c, folded;
    check_args(b->func, op, &x, 1);
    if (simt_type_equal(t, simt_typeof(b->func, x))) return x;
    if (simt_constant_of(b->func, x, &c) && simt_fold_cvt(op, t, c, &folded))
        return build_constant(b, folded);
    return build_one(b, op, &x, 1, t);
}

simt_value simt_build_cvt(simt_builder *b, simt_type t, simt_value x) {
    return build_conversion(b, SIMT_CVT, t, x);
}
simt_value simt_build_ucvt(simt_builder *b, simt_type t, simt_value x) {
    return build_conversion(b, SIMT_UCVT, t, x);
}
simt_value simt_build_bitcast(simt_builder *b, simt_type t, simt_value x) {
    return build_conversion(b, SIMT_BITCAST, t, x);
}

// ---- Memory -------------------------------------------------------------------------------------
simt_value simt_build_addr(simt_builder *b, simt_value ptr, simt_value index, uint32_t scale,
                           int64_t offset) {
    // more than the attribute holds: 64-bit arithmetic, as ADDR itself does
    if (scale > UINT16_MAX) {
        simt_value wide = simt_build_cvt(b, SIMT_T(I64), index);
        index = simt_build_binary(b, SIMT_MUL, wide, simt_build_int(b, SIMT_T(I64), scale));
        scale = 1;
    }
    simt_value args[2] = {ptr, index};
    simt_value v = build_by_rule(b, SIMT_ADDR, args, 2);
    simt_instr_info *i = &b->func->instrs.data[b->func->values.data[v].def];
    i->mem.scale = (uint16_t)scale;
    i->imm.i = offset;
    return v;
}

simt_value simt_build_load(simt_builder *b, simt_type t, simt_value ptr) {
    return build_one(b, SIMT_LD, &ptr, 1, t);
}

void simt_build_store(simt_builder *b, simt_value ptr, simt_value x) {
    simt_value args[2] = {ptr, x};
    simt_build_op(b, SIMT_ST, args, 2, NULL, 0);
}

// ---- Control ------------------------------------------------------------------------------------
simt_value simt_build_call(simt_builder *b, const simt_func *callee, const simt_value *args,
                           uint32_t n) {
    const simt_module *m = b->func->module;
    uint32_t handle = 0;
    while (handle < m->funcs.len && m->funcs.data[handle] != callee) handle++;
    if (handle == m->funcs.len)
        ICE("'%s' calls '%s' of another module", b->func->name, callee->name);
    if (callee->results.len != 1) ICE("'%s' does not give one result", callee->name);
    simt_instr i = new_instr(b, SIMT_CALL, args, n, callee->results.data, 1);
    b->func->instrs.data[i].imm.i = handle;
    append(b, i);
    return simt_result(b->func, i, 0);
}

void simt_build_return(simt_builder *b, const simt_value *values, uint32_t n) {
    simt_build_op(b, SIMT_RETURN, values, n, NULL, 0);
}

void simt_build_yield(simt_builder *b, const simt_value *values, uint32_t n) {
    simt_build_op(b, SIMT_YIELD, values, n, NULL, 0);
}

static simt_type *types_of(const simt_func *f, const simt_value *values, uint32_t n) {
    simt_type *types = ARENA_ARRAY(f->module->arena, simt_type, n);
    for (uint32_t k = 0; k < n; k++) types[k] = simt_typeof(f, values[k]);
    return types;
}

static simt_builder builder_in(const simt_builder *b, simt_region r) {
    return (simt_builder){.func = b->func, .region = r, .at = b->at};
}

simt_builder simt_build_for(simt_builder *b, simt_value lo, simt_value hi, simt_value step,
                            const simt_value *init, uint32_t n, simt_instr *loop) {
    simt_func *f = b->func;
    check_args(f, SIMT_FOR, init, n);
    simt_value *args = ARENA_ARRAY(f->module->arena, simt_value, 3 + (size_t)n);
    args[0] = lo, args[1] = hi, args[2] = step;
    if (n) memcpy(args + 3, init, n * sizeof *init);
    simt_type *types = types_of(f, init, n);
    *loop = new_instr(b, SIMT_FOR, args, 3 + n, types, n);
    append(b, *loop);
    simt_region body = simt_instr_regions(f, *loop, 1)[0];
    simt_region_param(f, body, simt_typeof(f, lo));
    for (uint32_t k = 0; k < n; k++) simt_region_param(f, body, types[k]);
    return builder_in(b, body);
}

static simt_value region_param_of(const simt_func *f, simt_instr i, uint32_t region, uint32_t k) {
    const simt_region_info *r = &f->regions.data[f->instrs.data[i].regions[region]];
    if (k >= r->params.len)
        ICE("a region of '%s' has no parameter %u", simt_op_table(f->instrs.data[i].op)->text, k);
    return r->params.data[k];
}

simt_value simt_for_index(const simt_func *f, simt_instr loop) {
    return region_param_of(f, loop, 0, 0);
}
simt_value simt_for_carried(const simt_func *f, simt_instr loop, uint32_t k) {
    return region_param_of(f, loop, 0, k + 1);
}

simt_instr simt_build_while(simt_builder *b, const simt_value *init, uint32_t n, simt_builder *test,
                            simt_builder *body) {
    simt_func *f = b->func;
    check_args(f, SIMT_WHILE, init, n);
    simt_type *types = types_of(f, init, n);
    simt_instr loop = new_instr(b, SIMT_WHILE, init, n, types, n);
    append(b, loop);
    simt_region *regions = simt_instr_regions(f, loop, 2);
    for (uint32_t r = 0; r < 2; r++)
        for (uint32_t k = 0; k < n; k++) simt_region_param(f, regions[r], types[k]);
    *test = builder_in(b, regions[0]);
    *body = builder_in(b, regions[1]);
    return loop;
}

simt_value simt_while_carried(const simt_func *f, simt_instr loop, bool in_body, uint32_t k) {
    return region_param_of(f, loop, in_body, k);
}

simt_instr simt_build_if(simt_builder *b, simt_value condition, const simt_type *results,
                         uint32_t n, simt_builder *then_arm, simt_builder *else_arm) {
    if (n && !else_arm) ICE("an 'if' that gives values needs both arms");
    simt_instr i = new_instr(b, SIMT_IF, &condition, 1, results, n);
    append(b, i);
    simt_region *regions = simt_instr_regions(b->func, i, else_arm ? 2 : 1);
    *then_arm = builder_in(b, regions[0]);
    if (else_arm) *else_arm = builder_in(b, regions[1]);
    return i;
}
