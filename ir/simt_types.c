// Which types each operation of SIMT IR takes and gives.
#include "simt_internal.h"

static uint32_t kind_of(simt_element e) {
    static const uint8_t kinds[SIMT_ELEMENT_COUNT] = {
#define X(name, text, bits, kind) [SIMT_##name] = SIMT_TAKES_##kind,
        SIMT_ELEMENTS(X)
#undef X
    };
    return e < SIMT_ELEMENT_COUNT ? kinds[e] : 0;
}

bool simt_is_int(simt_element e) { return kind_of(e) == SIMT_TAKES_INTEGER; }
bool simt_is_float(simt_element e) { return kind_of(e) == SIMT_TAKES_FLOAT; }
bool simt_is_pointer(simt_element e) { return kind_of(e) == SIMT_TAKES_POINTER; }

bool simt_type_valid(simt_type t) {
    if (t.element == SIMT_NONE || t.element >= SIMT_ELEMENT_COUNT) return false;
    if (t.lanes == 1) return true;
    return !simt_is_pointer(t.element) &&
           (t.lanes == 2 || t.lanes == 4 || t.lanes == 8 || t.lanes == 16);
}

const char *simt_type_text(arena *a, simt_type t) {
    const char *element = t.element < SIMT_ELEMENT_COUNT ? simt_element_text(t.element) : "?";
    return t.lanes == 1 ? element : arena_printf(a, "%sx%u", element, t.lanes);
}

simt_type simt_rule_type(const simt_func *f, simt_op op, const simt_value *args) {
    switch ((simt_rule)simt_op_table(op)->rule) {
    case RULE_NONE:
    case RULE_GIVEN: return (simt_type){0, 0};
    case RULE_SAME:
    case RULE_SAME1: return simt_typeof(f, args[0]);
    case RULE_SECOND: return simt_typeof(f, args[1]);
    case RULE_THIRD: return simt_typeof(f, args[2]);
    case RULE_PRED: return (simt_type){SIMT_PRED, simt_typeof(f, args[0]).lanes};
    case RULE_I32: return SIMT_T(I32);
    }
    return (simt_type){0, 0};
}

static bool scalar(simt_type t) { return t.lanes == 1; }
static bool is_i32(simt_type t) { return simt_type_equal(t, SIMT_T(I32)); }
static bool word(simt_type t) { return scalar(t) && simt_element_bits(t.element) >= 32; }
static bool index_type(simt_type t) {
    return scalar(t) && (t.element == SIMT_I32 || t.element == SIMT_I64);
}
static bool shared_memory(simt_type p) {
    return p.element == SIMT_PTR_GLOBAL || p.element == SIMT_PTR_SHARED;
}
static uint32_t total_bits(simt_type t) { return simt_element_bits(t.element) * t.lanes; }

static const char *matrices_fault(simt_type pointer, simt_type r) {
    bool halves = r.element == SIMT_F16 || r.element == SIMT_BF16;
    if (pointer.element != SIMT_PTR_SHARED) return "it loads from shared memory";
    return halves && (r.lanes == 4 || r.lanes == 8)
               ? NULL
               : "it gives pairs of two or four matrices: 4 or 8 elements of 16 bits";
}

static const char *some_fault(simt_type pointer, simt_type x, simt_type n) {
    if (!simt_is_pointer(pointer.element)) return "the first argument must be a pointer";
    if (scalar(x)) return "it takes elements of a vector";
    return is_i32(n) ? NULL : "their number must be an i32";
}

static const char *ucvt_fault(simt_type x, simt_type r) {
    if (x.lanes != r.lanes) return "the number of lanes changes";
    return simt_is_float(x.element) && simt_is_float(r.element) ? "neither side is an integer"
                                                                : NULL;
}

// t[0] … t[2]: the arguments; r: the result, {0, 0} where there is none.
static const char *shape_fault(simt_op op, const simt_type *t, simt_type r) {
    switch ((int)op) {
    case SIMT_CVT: return t[0].lanes == r.lanes ? NULL : "the number of lanes changes";
    case SIMT_UCVT: return ucvt_fault(t[0], r);
    case SIMT_BITCAST:
        return total_bits(t[0]) == total_bits(r) ? NULL : "the number of bits changes";
    case SIMT_CVT_TF32: return r.element == SIMT_F32 ? NULL : "it rounds f32";
    case SIMT_SPLAT:
        return scalar(t[0]) && !scalar(r) && t[0].element == r.element
                   ? NULL
                   : "it makes a vector of one scalar";
    case SIMT_EXTRACT:
        return !scalar(t[0]) && scalar(r) && t[0].element == r.element
                   ? NULL
                   : "it takes one lane of a vector";
    case SIMT_INSERT:
        return !scalar(t[0]) && scalar(t[1]) && t[0].element == t[1].element
                   ? NULL
                   : "it puts a scalar into a vector of its kind";
    case SIMT_SLICE:
        return t[0].element == r.element && r.lanes < t[0].lanes
                   ? NULL
                   : "it takes fewer lanes of a vector";
    case SIMT_CONCAT:
        if (!simt_type_equal(t[0], t[1])) return "the two halves differ in type";
        return t[0].element == r.element && r.lanes == 2 * t[0].lanes
                   ? NULL
                   : "the result must be twice as wide as a half";
    case SIMT_SHARED: return r.element == SIMT_PTR_SHARED ? NULL : "the result must be ptr.shared";
    case SIMT_ADDR: return index_type(t[1]) ? NULL : "the index must be i32 or i64";
    case SIMT_LD:
    case SIMT_ST:
        return simt_is_pointer(t[0].element) ? NULL : "the first argument must be a pointer";
    case SIMT_LD_SOME: return some_fault(t[0], r, t[1]);
    case SIMT_ST_SOME: return some_fault(t[0], t[1], t[2]);
    case SIMT_ATOM:
    case SIMT_RED:
        if (!shared_memory(t[0])) return "the first argument must point to global or shared memory";
        return scalar(t[1]) && total_bits(t[1]) >= 16
                   ? NULL
                   : "the value must be a scalar of 16 bits or more";
    case SIMT_ATOM_CAS:
        if (!shared_memory(t[0])) return "the first argument must point to global or shared memory";
        return word(t[1]) && simt_type_equal(t[1], t[2]) ? NULL
                                                         : "both values must be i32 or both i64";
    case SIMT_COPY:
        if (t[0].element != SIMT_PTR_SHARED || t[1].element != SIMT_PTR_GLOBAL)
            return "it copies to shared memory from global memory";
        return simt_type_equal(t[2], SIMT_T(PRED)) ? NULL : "the third argument must be a pred";
    case SIMT_LDMATRIX:
    case SIMT_LDMATRIX_TRANS: return matrices_fault(t[0], r);
    case SIMT_SHFL_IDX:
    case SIMT_SHFL_UP:
    case SIMT_SHFL_DOWN:
    case SIMT_SHFL_BFLY: return is_i32(t[1]) ? NULL : "the lane must be an i32";
    case SIMT_BALLOT:
    case SIMT_VOTE_ANY:
    case SIMT_VOTE_ALL:
    case SIMT_BARRIER_ANY: return scalar(t[0]) ? NULL : "the argument must be a scalar";
    case SIMT_MATCH_ANY: return word(t[0]) ? NULL : "the argument must be i32 or i64";
    case SIMT_SELECT:
        if (t[0].element != SIMT_PRED) return "the first argument must be a pred";
        if (t[0].lanes != 1 && t[0].lanes != t[1].lanes)
            return "the lanes of condition and values differ";
        return simt_type_equal(t[1], t[2]) ? NULL : "the two values differ in type";
    }
    return NULL;   // the arguments only have to be of one type, checked by the caller
}

static bool args_must_agree(simt_op op, simt_rule rule) {
    return (rule == RULE_SAME || rule == RULE_PRED) && op != SIMT_INSERT && op != SIMT_ADDR;
}

static const char *plain_fault(const simt_func *f, const simt_instr_info *i) {
    simt_op op = i->op;
    const simt_op_info *info = simt_op_table(op);
    const simt_rule rule = info->rule;
    simt_type t[3] = {{0, 0}}, r = i->nresults ? simt_typeof(f, i->results[0]) : (simt_type){0, 0};
    for (uint32_t k = 0; k < i->nargs; k++) t[k] = simt_typeof(f, i->args[k]);
    if (args_must_agree(op, rule))
        for (uint32_t k = 1; k < i->nargs; k++)
            if (!simt_type_equal(t[0], t[k])) return "its arguments differ in type";
    bool by_second = rule == RULE_SECOND || op == SIMT_ST || op == SIMT_ST_SOME || op == SIMT_RED,
         load = op == SIMT_LD || op == SIMT_LD_SOME;
    simt_type deciding = by_second ? t[1] : i->nargs ? t[0] : r;
    if (!load && !(kind_of(deciding.element) & info->takes))
        return "it does not take values of this type";
    if ((load || op == SIMT_CVT || op == SIMT_UCVT || op == SIMT_BITCAST) &&
        !(kind_of(r.element) & info->takes))
        return "it does not give values of this type";
    if (i->nresults && rule != RULE_GIVEN && !simt_type_equal(r, simt_rule_type(f, op, i->args)))
        return "its result has another type than its arguments ask for";
    return shape_fault(op, t, r);
}

static const char *for_fault(const simt_func *f, const simt_instr_info *i) {
    if (i->nargs != 3u + i->nresults)
        return "it needs low, high, step and one initial value for each result";
    simt_type t = simt_typeof(f, i->args[0]);
    if (!index_type(t)) return "its bounds must be i32 or i64";
    for (uint32_t k = 1; k < 3; k++)
        if (!simt_type_equal(t, simt_typeof(f, i->args[k])))
            return "its bounds and step differ in type";
    for (uint32_t k = 0; k < i->nresults; k++)
        if (!simt_type_equal(simt_typeof(f, i->args[3 + k]), simt_typeof(f, i->results[k])))
            return "an initial value and its result differ in type";
    return NULL;
}

static const char *while_fault(const simt_func *f, const simt_instr_info *i) {
    if (i->nargs != i->nresults) return "it needs one initial value for each result";
    for (uint32_t k = 0; k < i->nresults; k++)
        if (!simt_type_equal(simt_typeof(f, i->args[k]), simt_typeof(f, i->results[k])))
            return "an initial value and its result differ in type";
    return NULL;
}

static const char *call_fault(const simt_func *f, const simt_instr_info *i) {
    if (i->imm.i < 0 || i->imm.i >= f->module->funcs.len) return "there is no such function";
    const simt_func *callee = f->module->funcs.data[i->imm.i];
    if (callee->kernel) return "a kernel cannot be called";
    if (i->nargs != callee->params.len || i->nresults != callee->results.len)
        return "the number of arguments or results is not that of the function";
    for (uint32_t k = 0; k < i->nargs; k++)
        if (!simt_type_equal(simt_typeof(f, i->args[k]),
                             simt_typeof(callee, callee->params.data[k].value)))
            return "an argument has another type than the parameter";
    for (uint32_t k = 0; k < i->nresults; k++)
        if (!simt_type_equal(simt_typeof(f, i->results[k]), callee->results.data[k]))
            return "a result has another type than the function gives";
    return NULL;
}

static const char *group_fault(const simt_func *f, const simt_instr_info *i) {
    static const char *const not_shared[] = {"its first argument must point to shared memory",
                                             "its second argument must point to shared memory",
                                             "its third argument must point to shared memory",
                                             "its fourth argument must point to shared memory"};
    simt_mma kind = (simt_mma)i->aux;
    simt_type c = simt_mma_type(kind, SIMT_MMA_C);
    simt_type a = simt_mma_type((simt_mma)simt_mma_table(kind)->by, SIMT_MMA_A);
    uint32_t some = simt_group_factors(i), all = some + i->nresults,
             pointers = simt_group_pointers(i);
    bool both = i->op == SIMT_MMA_ROWS_BOTH;
    if (!i->nresults || (i->nargs != some && i->nargs != all))
        return both ? "it needs where B and A are, and C of each piece or of none"
                    : "it needs where B is, A of each step, and C of each piece or of none";
    for (uint32_t k = 0; k < pointers; k++)
        if (!simt_type_equal(simt_typeof(f, i->args[k]), SIMT_T(PTR_SHARED))) return not_shared[k];
    for (uint32_t k = pointers; k < i->nargs; k++)
        if (!simt_type_equal(simt_typeof(f, i->args[k]), k < some ? a : c))
            return k < some ? "an argument is not what a lane holds of A"
                            : "an argument is not what a lane holds of C";
    for (uint32_t k = 0; k < i->nresults; k++)
        if (!simt_type_equal(simt_typeof(f, i->results[k]), c))
            return "a result is not what a lane holds of D";
    return NULL;
}

// What most instructions are: arithmetic on one type, and addresses. false: it is not sure.
static bool is_right(const simt_func *f, const simt_instr_info *i, const simt_op_info *op) {
    const bool shaped = i->op == SIMT_INSERT || i->op == SIMT_ADDR || i->op == SIMT_CVT_TF32;
    if (op->rule != RULE_SAME || op->flags != SIMT_PURE || i->nargs != op->args || i->nresults != 1)
        return false;
    const simt_type r = simt_typeof(f, i->results[0]), t = simt_typeof(f, i->args[0]);
    if (!simt_type_equal(r, t) || !simt_type_valid(r) || !(kind_of(t.element) & op->takes))
        return false;
    if (i->op == SIMT_ADDR) return index_type(simt_typeof(f, i->args[1]));
    if (i->nargs > 1 && !simt_type_equal(t, simt_typeof(f, i->args[1]))) return false;
    return !shaped && (i->nargs < 3 || simt_type_equal(t, simt_typeof(f, i->args[2])));
}

// By itself, so that what is right at the first look has no part of it.
__attribute__((noinline)) static const char *
looked_into(const simt_func *f, const simt_instr_info *i, const simt_op_info *op) {
    if (op->args >= 0 && i->nargs != op->args) return "it has a wrong number of arguments";
    if (op->results >= 0 && i->nresults != op->results) return "it has a wrong number of results";
    for (uint32_t k = 0; k < i->nresults; k++)
        if (!simt_type_valid(simt_typeof(f, i->results[k]))) return "a result has no valid type";
    if (i->op == SIMT_FOR) return for_fault(f, i);
    if (i->op == SIMT_WHILE) return while_fault(f, i);
    if (i->op == SIMT_CALL) return call_fault(f, i);
    if (simt_is_group(i->op))   // whose attributes come after it is built
        return i->imm.i && i->aux < SIMT_MMA_COUNT ? group_fault(f, i) : NULL;
    if (i->op == SIMT_IF) {
        bool pred = simt_type_equal(simt_typeof(f, i->args[0]), SIMT_T(PRED));
        return pred ? NULL : "its condition must be a pred";
    }
    if (i->op == SIMT_YIELD || i->op == SIMT_RETURN)
        return NULL;   // what they must give is their region's matter
    return i->nargs + i->nresults ? plain_fault(f, i) : NULL;
}

const char *simt_types_fault(const simt_func *f, simt_instr instr) {
    const simt_instr_info *i = &f->instrs.data[instr];
    const simt_op_info *op = simt_op_table(i->op);
    return is_right(f, i, op) ? NULL : looked_into(f, i, op);
}
