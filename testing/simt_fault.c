// The sites of each kind of fault in a module, and what is done to one.
#include "simt_fault.h"

#include <string.h>

static const char *const texts[] = {
#define X(id, what) #id,
    SIMT_FAULTS(X)
#undef X
};
const char *simt_fault_text(simt_fault k) { return texts[k]; }

// ---- Where --------------------------------------------------------------------------------------
static bool is_float(simt_type t) {
    return t.element == SIMT_F16 || t.element == SIMT_BF16 || t.element == SIMT_F32 ||
           t.element == SIMT_F64;
}

static bool is_shuffle(uint16_t op) {
    return op == SIMT_SHFL_IDX || op == SIMT_SHFL_UP || op == SIMT_SHFL_DOWN ||
           op == SIMT_SHFL_BFLY;
}

static simt_type result_type(const simt_func *f, const simt_instr_info *i) {
    return i->nresults ? simt_typeof(f, i->results[0]) : SIMT_VEC(NONE, 0);
}

static bool swappable(const simt_func *f, const simt_instr_info *i) {
    return i->op == SIMT_SUB || i->op == SIMT_DIV || i->op == SIMT_SELECT ||
           (i->op == SIMT_CMP && i->aux != SIMT_EQ && i->aux != SIMT_NE &&
            is_float(simt_typeof(f, i->args[0])));
}

static bool operation_fits(const simt_func *f, const simt_instr_info *i) {
    if (i->op == SIMT_MIN || i->op == SIMT_MAX) return true;
    return (i->op == SIMT_ADD || i->op == SIMT_MUL) && is_float(result_type(f, i));
}

// The loop whose body a yield ends, with a state; 0: none.
static simt_instr loop_of(const simt_func *f, simt_region r) {
    for (simt_instr l = 1; l < f->instrs.len; l++)
        if (f->instrs.data[l].op == SIMT_FOR && f->instrs.data[l].regions[0] == r &&
            f->instrs.data[l].nresults)
            return l;
    return 0;
}

static uint32_t place_of(const simt_func *f, simt_region r, simt_instr i) {
    uint32_t at = 0;
    while (f->regions.data[r].instrs.data[at] != i) at++;
    return at;
}

// It, or what it holds, may change memory or see that another thread did.
static bool shares(const simt_func *f, simt_instr i) {
    const simt_instr_info *x = &f->instrs.data[i];
    if (is_shuffle(x->op)) return false;
    if (!x->nregions)
        return x->op == SIMT_LD ? !x->mem.invariant
                                : simt_op_table(x->op)->flags & (SIMT_READS | SIMT_WRITES);
    for (uint32_t r = 0; r < x->nregions; r++)
        for (uint32_t k = 0; x->regions[r] && k < f->regions.data[x->regions[r]].instrs.len; k++)
            if (shares(f, f->regions.data[x->regions[r]].instrs.data[k])) return true;
    return false;
}

// The place of the last such instruction ahead of a barrier; NOWHERE: there is none, or another
// barrier.
enum { NOWHERE = UINT32_MAX };
static uint32_t access_ahead(const simt_func *f, simt_region r, simt_instr barrier) {
    for (uint32_t at = place_of(f, r, barrier); at-- > 0;) {
        simt_instr i = f->regions.data[r].instrs.data[at];
        if (shares(f, i)) return f->instrs.data[i].op == SIMT_BARRIER ? NOWHERE : at;
    }
    return NOWHERE;
}

// Something that may touch memory follows it.
static bool waits_ahead(const simt_func *f, simt_region r, simt_instr wait) {
    for (uint32_t at = place_of(f, r, wait) + 1; at < f->regions.data[r].instrs.len; at++)
        if (shares(f, f->regions.data[r].instrs.data[at])) return true;
    return false;
}

// The first mention of a buffer in shared memory that does not lie at its start.
static bool begins_buffer(const simt_func *f, const simt_instr_info *i) {
    const simt_instr_info *k = f->instrs.data + 1;
    while (k < i && (k->op != SIMT_SHARED || k->imm.i != i->imm.i)) k++;
    return k == i && i->imm.i;
}

// A butterfly between lanes that lie further apart stays within them anyway.
static bool width_matters(const simt_func *f, const simt_instr_info *i) {
    const simt_instr_info *by = &f->instrs.data[f->values.data[i->args[1]].def];
    return i->op != SIMT_SHFL_BFLY || by->op != SIMT_CONST || by->imm.i >= i->imm.i / 2;
}

static bool is_cut(const simt_func *f, const simt_instr_info *i) {
    if (i->op != SIMT_CVT || simt_typeof(f, i->args[0]).element != SIMT_F32) return false;
    return result_type(f, i).element == SIMT_F16 || result_type(f, i).element == SIMT_BF16;
}

static bool fits(const simt_func *f, simt_region r, const simt_instr_info *i, simt_fault k) {
    bool loop = i->op == SIMT_FOR, guard = i->op == SIMT_IF && !i->nresults;
    switch (k) {
    case SIMT_FAULT_barrier: return i->op == SIMT_BARRIER;
    case SIMT_FAULT_early:
        return i->op == SIMT_BARRIER &&
               access_ahead(f, r, (simt_instr)(i - f->instrs.data)) != NOWHERE;
    case SIMT_FAULT_late:
        return i->op == SIMT_GRID_WAIT && waits_ahead(f, r, (simt_instr)(i - f->instrs.data));
    case SIMT_FAULT_atomic: return i->op == SIMT_RED && i->aux == SIMT_ATOMIC_ADD;
    case SIMT_FAULT_overlap: return i->op == SIMT_SHARED && begins_buffer(f, i);
    case SIMT_FAULT_room: return false;   // of the kernel
    case SIMT_FAULT_row_long:
    case SIMT_FAULT_row_short:
    case SIMT_FAULT_row_start:
    case SIMT_FAULT_stride: return loop;
    case SIMT_FAULT_mask:
    case SIMT_FAULT_mask_not: return guard;
    case SIMT_FAULT_choice: return i->op == SIMT_SELECT || (i->op == SIMT_IF && i->nresults);
    case SIMT_FAULT_edge: return i->op == SIMT_CMP && i->aux != SIMT_EQ && i->aux != SIMT_NE;
    case SIMT_FAULT_swap: return swappable(f, i);
    case SIMT_FAULT_operation: return operation_fits(f, i);
    case SIMT_FAULT_identity: return loop && i->nresults;
    case SIMT_FAULT_lost: return i->op == SIMT_YIELD && i->nargs && loop_of(f, r);
    case SIMT_FAULT_narrow:
    case SIMT_FAULT_narrow16:
    case SIMT_FAULT_address:
    case SIMT_FAULT_scale: return i->op == SIMT_ADDR;
    case SIMT_FAULT_store: return i->op == SIMT_ST || i->op == SIMT_ST_SOME;
    case SIMT_FAULT_fence: return i->op == SIMT_FENCE_MMA;
    case SIMT_FAULT_copy: return i->op == SIMT_COPY;
    case SIMT_FAULT_wait: return i->op == SIMT_COPY_WAIT;
    case SIMT_FAULT_lane: return is_shuffle(i->op);
    case SIMT_FAULT_width: return is_shuffle(i->op) && i->imm.i > 2 && width_matters(f, i);
    case SIMT_FAULT_fragment:
    case SIMT_FAULT_registers:
    case SIMT_FAULT_product: return i->op == SIMT_MMA;
    case SIMT_FAULT_rest: return simt_is_group(i->op) && simt_mma_splits((simt_mma)i->aux);
    case SIMT_FAULT_element: return i->op == SIMT_EXTRACT;
    case SIMT_FAULT_round:
        return i->op == SIMT_ADD && simt_type_equal(result_type(f, i), SIMT_T(F32));
    case SIMT_FAULT_truncate: return is_cut(f, i);
    case SIMT_FAULT_nan:
        return (i->op == SIMT_MIN || i->op == SIMT_MAX) && is_float(result_type(f, i));
    case SIMT_FAULT_thread: return i->op == SIMT_SREG && i->aux == SREG_TID && f->block > 32;
    case SIMT_FAULT_pair: return i->op == SIMT_SREG && i->aux == SREG_TID;
    case SIMT_FAULT_block: return i->op == SIMT_SREG && i->aux == SREG_CTAID;
    case SIMT_FAULT_COUNT: break;
    }
    ICE("simt fault %d", (int)k);
}

// ---- Doing it -----------------------------------------------------------------------------------
typedef struct {
    simt_func *f;
    simt_region region;
    simt_instr instr;
} site;

static simt_instr_info *info(const site *s) { return &s->f->instrs.data[s->instr]; }

// What was built in a region of its own goes before the instruction, or after it.
static void move_in(const site *s, simt_region made, bool after) {
    simt_func *f = s->f;
    const simt_region_info *from = &f->regions.data[made];
    simt_region_info *r = &f->regions.data[s->region];
    uint32_t n = from->instrs.len;
    if (!n) return;
    for (uint32_t k = 0; k < n; k++) VEC_PUSH(f->module->arena, &r->instrs, from->instrs.data[k]);
    // constants went to the front of the body
    uint32_t at = place_of(f, s->region, s->instr) + after;
    memmove(r->instrs.data + at + n, r->instrs.data + at,
            (r->instrs.len - n - at) * sizeof *r->instrs.data);
    memcpy(r->instrs.data + at, from->instrs.data, n * sizeof *r->instrs.data);
    f->regions.data[made].instrs.len = 0;
}

static simt_builder aside(const site *s) {
    return (simt_builder){s->f, simt_region_new(s->f), info(s)->at};
}

static void take_out(const site *s) {
    simt_region_info *r = &s->f->regions.data[s->region];
    uint32_t at = place_of(s->f, s->region, s->instr);
    r->instrs.len--;
    memmove(r->instrs.data + at, r->instrs.data + at + 1,
            (r->instrs.len - at) * sizeof *r->instrs.data);
}

typedef simt_value build_fn(simt_builder *b, simt_value x);

static simt_value one_of(simt_builder *b, simt_type t) {
    if (t.element == SIMT_PRED) return simt_build_pred(b, true);
    return is_float(t) ? simt_build_float(b, t, 1) : simt_build_int(b, t, 1);
}

static simt_value more(simt_builder *b, simt_value x) {
    return simt_build_binary(b, SIMT_ADD, x, one_of(b, simt_typeof(b->func, x)));
}
static simt_value twice(simt_builder *b, simt_value x) {
    return simt_build_binary(b, SIMT_ADD, x, x);
}
static simt_value half(simt_builder *b, simt_value x) {
    return simt_build_binary(b, SIMT_LSHR, x, one_of(b, simt_typeof(b->func, x)));
}
static simt_value other(simt_builder *b, simt_value x) {
    return simt_build_binary(b, SIMT_XOR, x, simt_build_pred(b, true));
}
static simt_value yes(simt_builder *b, simt_value x) { return (void)x, simt_build_pred(b, true); }
static simt_value always(simt_builder *b, simt_value x) {   // of each lane
    return simt_build_binary(b, SIMT_OR, x, simt_build_unary(b, SIMT_NOT, x));
}
static simt_value first(simt_builder *b, simt_value x) {
    return one_of(b, simt_typeof(b->func, x));
}
static simt_value low_bits(simt_builder *b, simt_value x) {
    return simt_build_cvt(b, simt_typeof(b->func, x), simt_build_cvt(b, SIMT_T(I8), x));
}
static simt_value low_half(simt_builder *b, simt_value x) {
    return simt_build_cvt(b, simt_typeof(b->func, x), simt_build_cvt(b, SIMT_T(I16), x));
}
static simt_value cut(simt_builder *b, simt_value x, int64_t mask) {
    simt_type t = simt_typeof(b->func, x), bits = {SIMT_I32, t.lanes};
    simt_value kept = simt_build_binary(b, SIMT_AND, simt_build_bitcast(b, bits, x),
                                        simt_build_int(b, bits, mask));
    return simt_build_bitcast(b, t, kept);
}
static simt_value cut_f16(simt_builder *b, simt_value x) { return cut(b, x, ~INT64_C(0x1fff)); }
static simt_value cut_bf16(simt_builder *b, simt_value x) { return cut(b, x, ~INT64_C(0xffff)); }
static simt_value rounded(simt_builder *b, simt_value x) {
    return simt_build_cvt(b, SIMT_T(F32), simt_build_cvt(b, SIMT_T(F16), x));
}
static simt_value low_lanes(simt_builder *b, simt_value x) {
    return simt_build_binary(b, SIMT_AND, x, simt_build_int(b, SIMT_T(I32), 31));
}
static simt_value even(simt_builder *b, simt_value x) {
    return simt_build_binary(b, SIMT_AND, x, simt_build_int(b, SIMT_T(I32), ~INT64_C(1)));
}
static simt_value nought(simt_builder *b, simt_value x) {
    return (void)x, simt_build_int(b, SIMT_T(I32), 0);
}

static simt_value of_next_lane(simt_builder *b, simt_value x) {
    simt_type t = simt_typeof(b->func, x);
    simt_value args[2] = {x, more(b, simt_build_sreg(b, SREG_LANEID))};
    return simt_result(b->func, simt_build_op(b, SIMT_SHFL_IDX, args, 2, &t, 1), 0);
}
static simt_value part(simt_builder *b, simt_op op, simt_value x, simt_type t, int64_t lane) {
    simt_instr i = simt_build_op(b, op, &x, 1, &t, 1);
    b->func->instrs.data[i].imm.i = lane;
    return simt_result(b->func, i, 0);
}
static simt_value joined(simt_builder *b, simt_value x, simt_value y) {
    simt_type t = simt_typeof(b->func, x);
    t.lanes = (uint8_t)(2 * t.lanes);
    return simt_result(b->func, simt_build_op(b, SIMT_CONCAT, (simt_value[]){x, y}, 2, &t, 1), 0);
}
static simt_value middle_exchanged(simt_builder *b, simt_value x) {   // of four: 0 2 1 3
    simt_type t = simt_typeof(b->func, x);
    simt_op take = t.lanes == 4 ? SIMT_EXTRACT : SIMT_SLICE;
    simt_value quarter[4];
    t.lanes /= 4;
    for (uint32_t k = 0; k < 4; k++) quarter[k] = part(b, take, x, t, k * t.lanes);
    return joined(b, joined(b, quarter[0], quarter[2]), joined(b, quarter[1], quarter[3]));
}

static void change_argument(const site *s, uint32_t k, build_fn *change) {
    simt_builder b = aside(s);
    simt_value x = change(&b, info(s)->args[k]);
    info(s)->args[k] = x;
    move_in(s, b.region, false);
}

// By one step of a loop.
static void move_bound(const site *s, uint32_t k, simt_op op) {
    simt_builder b = aside(s);
    simt_value x = simt_build_binary(&b, op, info(s)->args[k], info(s)->args[2]);
    info(s)->args[k] = x;
    move_in(s, b.region, false);
}

static void move_buffer(const site *s) {
    int64_t from = info(s)->imm.i;
    for (simt_instr i = 1; i < s->f->instrs.len; i++)
        if (s->f->instrs.data[i].op == SIMT_SHARED && s->f->instrs.data[i].imm.i == from)
            s->f->instrs.data[i].imm.i = 0;
}

// All uses of the result, but for what was made of it here: instructions from `before` on.
static void replace_result(const site *s, simt_value made, uint32_t before) {
    simt_value old = info(s)->results[0];
    for (simt_instr i = 1; i < before; i++)
        for (uint32_t a = 0; a < s->f->instrs.data[i].nargs; a++)
            if (s->f->instrs.data[i].args[a] == old) s->f->instrs.data[i].args[a] = made;
}

static void change_result(const site *s, build_fn *change) {
    simt_builder b = aside(s);
    uint32_t before = s->f->instrs.len;
    simt_value made = change(&b, info(s)->results[0]);
    move_in(s, b.region, true);
    replace_result(s, made, before);
}

// As IEEE 754's maxNum: where one argument is NaN, the other one.
static void drop_nan(const site *s) {
    simt_builder b = aside(s);
    uint32_t before = s->f->instrs.len;
    simt_value x = info(s)->args[0], y = info(s)->args[1], m = info(s)->results[0];
    simt_value of_y = simt_build_select(&b, simt_build_cmp(&b, SIMT_NE, y, y), x, m);
    simt_value made = simt_build_select(&b, simt_build_cmp(&b, SIMT_NE, x, x), y, of_y);
    move_in(s, b.region, true);
    replace_result(s, made, before);
}

static void earlier(const site *s) {
    simt_region_info *r = &s->f->regions.data[s->region];
    uint32_t from = place_of(s->f, s->region, s->instr),
             to = access_ahead(s->f, s->region, s->instr);
    memmove(r->instrs.data + to + 1, r->instrs.data + to, (from - to) * sizeof *r->instrs.data);
    r->instrs.data[to] = s->instr;
}

static void to_the_end(const site *s) {
    simt_region_info *r = &s->f->regions.data[s->region];
    // the terminator stays
    uint32_t from = place_of(s->f, s->region, s->instr), to = r->instrs.len - 2;
    memmove(r->instrs.data + from, r->instrs.data + from + 1, (to - from) * sizeof *r->instrs.data);
    r->instrs.data[to] = s->instr;
}

static void exchange(const site *s) {
    uint32_t k = info(s)->op == SIMT_SELECT;
    simt_value x = info(s)->args[k];
    info(s)->args[k] = info(s)->args[k + 1];
    info(s)->args[k + 1] = x;
}

static void other_operation(const site *s) {
    simt_instr_info *i = info(s);
    i->op = i->op == SIMT_MIN   ? SIMT_MAX
            : i->op == SIMT_MAX ? SIMT_MIN
            : i->op == SIMT_ADD ? SIMT_SUB
                                : SIMT_ADD;
}

static void other_edge(const site *s) {
    static const uint32_t to[] = {
        [SIMT_LT] = SIMT_LE,   [SIMT_LE] = SIMT_LT,   [SIMT_GT] = SIMT_GE,   [SIMT_GE] = SIMT_GT,
        [SIMT_ULT] = SIMT_ULE, [SIMT_ULE] = SIMT_ULT, [SIMT_UGT] = SIMT_UGE, [SIMT_UGE] = SIMT_UGT};
    info(s)->aux = to[info(s)->aux];
}

static void not_atomic(const site *s) {
    simt_builder b = aside(s);
    simt_value to = info(s)->args[0], x = info(s)->args[1];
    simt_build_store(
        &b, to, simt_build_binary(&b, SIMT_ADD, simt_build_load(&b, simt_typeof(s->f, x), to), x));
    move_in(s, b.region, false);
    take_out(s);
}

static void drop_step(const site *s) {
    simt_instr loop = loop_of(s->f, s->region);
    info(s)->args[0] = simt_for_carried(s->f, loop, 0);
}

static void apply(const site *s, simt_fault k) {
    switch (k) {
    case SIMT_FAULT_barrier:
    case SIMT_FAULT_fence:
    case SIMT_FAULT_copy:
    case SIMT_FAULT_store: take_out(s); return;
    case SIMT_FAULT_wait: info(s)->imm.i++; return;
    case SIMT_FAULT_early: earlier(s); return;
    case SIMT_FAULT_late: to_the_end(s); return;
    case SIMT_FAULT_atomic: not_atomic(s); return;
    case SIMT_FAULT_overlap: move_buffer(s); return;
    case SIMT_FAULT_room: return;
    case SIMT_FAULT_row_long: move_bound(s, 1, SIMT_ADD); return;
    case SIMT_FAULT_row_short: move_bound(s, 1, SIMT_SUB); return;
    case SIMT_FAULT_row_start: move_bound(s, 0, SIMT_ADD); return;
    case SIMT_FAULT_stride: change_argument(s, 2, twice); return;
    case SIMT_FAULT_mask: change_argument(s, 0, yes); return;
    case SIMT_FAULT_mask_not: change_argument(s, 0, other); return;
    case SIMT_FAULT_choice: change_argument(s, 0, always); return;
    case SIMT_FAULT_edge: other_edge(s); return;
    case SIMT_FAULT_swap: exchange(s); return;
    case SIMT_FAULT_operation: other_operation(s); return;
    case SIMT_FAULT_identity: change_argument(s, 3, first); return;
    case SIMT_FAULT_lost: drop_step(s); return;
    case SIMT_FAULT_narrow: change_argument(s, 1, low_bits); return;
    case SIMT_FAULT_narrow16: change_argument(s, 1, low_half); return;
    case SIMT_FAULT_address: info(s)->imm.i += info(s)->mem.scale; return;
    case SIMT_FAULT_scale: info(s)->mem.scale = (uint16_t)(info(s)->mem.scale * 2); return;
    case SIMT_FAULT_lane:
        change_argument(s, 1, info(s)->op == SIMT_SHFL_BFLY ? half : more);
        return;
    case SIMT_FAULT_width: info(s)->imm.i /= 2; return;
    case SIMT_FAULT_fragment: change_argument(s, 0, of_next_lane); return;
    case SIMT_FAULT_registers: change_argument(s, 0, middle_exchanged); return;
    case SIMT_FAULT_product: replace_result(s, info(s)->args[SIMT_MMA_C], s->f->instrs.len); return;
    case SIMT_FAULT_rest: info(s)->args[1] = info(s)->args[0]; return;
    case SIMT_FAULT_element: info(s)->imm.i ^= 1; return;
    case SIMT_FAULT_round: change_result(s, rounded); return;
    case SIMT_FAULT_truncate:
        change_argument(s, 0, result_type(s->f, info(s)).element == SIMT_F16 ? cut_f16 : cut_bf16);
        return;
    case SIMT_FAULT_nan: drop_nan(s); return;
    case SIMT_FAULT_pair: change_result(s, even); return;
    case SIMT_FAULT_thread: change_result(s, low_lanes); return;
    case SIMT_FAULT_block: change_result(s, nought); return;
    case SIMT_FAULT_COUNT: break;
    }
    ICE("simt fault %d", (int)k);
}

// ---- Counting -----------------------------------------------------------------------------------
// Goes through a region and what lies inside, in order; true: the site was met, and *left is of no
// more use.
static bool find(simt_func *f, simt_region r, simt_fault k, uint32_t *left, site *out) {
    for (uint32_t at = 0; at < f->regions.data[r].instrs.len; at++) {
        simt_instr i = f->regions.data[r].instrs.data[at];
        const simt_instr_info *x = &f->instrs.data[i];
        if (fits(f, r, x, k) && !(*left)--) {
            *out = (site){f, r, i};
            return true;
        }
        for (uint32_t n = 0; n < x->nregions; n++)
            if (x->regions[n] && find(f, x->regions[n], k, left, out)) return true;
    }
    return false;
}

static bool find_in(const simt_module *m, simt_fault k, uint32_t *left, site *out) {
    for (uint32_t i = 0; i < m->funcs.len; i++) {
        simt_func *f = m->funcs.data[i];
        if (!f->kernel) continue;
        if (k == SIMT_FAULT_room && f->shared_bytes && !(*left)--) {
            *out = (site){.f = f};
            return true;
        }
        if (find(f, 1, k, left, out)) return true;
    }
    return false;
}

uint32_t simt_fault_sites(const simt_module *m, simt_fault k) {
    uint32_t left = UINT32_MAX;
    site unused;
    find_in(m, k, &left, &unused);
    return UINT32_MAX - left;
}

bool simt_fault_apply(simt_module *m, simt_fault k, uint32_t n) {
    site s;
    if (!find_in(m, k, &n, &s)) return false;
    if (k == SIMT_FAULT_room) s.f->shared_bytes /= 2;
    else apply(&s, k);
    return true;
}
