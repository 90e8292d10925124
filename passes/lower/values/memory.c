// Addresses, and loads and stores of memory. Parameters are addressed by their strides; maps,
// prepared arrays and temporaries are packed in row-major order; tiles lie in shared memory. Along
// an axis of unit stride a vector is one (coalesced) access, else it is one access a lane.

#include "lower/values/values.h"
#include <string.h>

// A load widens storage types.
static simt_element loaded_element(const kernel *k, tensor_val v) {
    const tensor_val_info *i = &k->l->op->vals.data[v];
    return lw_value_element(k, tensor_type_of_storage(i->type, i->into).type);
}

static const loop_value *where(const kernel *k, tensor_val v) {
    return &k->l->plan->values.data[v];
}

// ---- Addresses ----------------------------------------------------------------------------------
static simt_value add_term(simt_builder *b, simt_value at, simt_value x) {
    return at ? simt_build_binary(b, SIMT_ADD, at, x) : x;
}

static bool is_integer(const kernel *k, simt_value v, int64_t *x) {
    const simt_instr_info *i = &k->f->instrs.data[k->f->values.data[v].def];
    *x = i->imm.i;
    return k->f->values.data[v].def && i->op == SIMT_CONST;
}

// A position without the constant that is added to it. The constant may be added to the address,
// because positions do not wrap.
static simt_value without_constant(const kernel *k, simt_value v, int64_t *plus) {
    const simt_instr_info *i = &k->f->instrs.data[k->f->values.data[v].def];
    bool adds = k->f->values.data[v].def && i->op == SIMT_ADD && is_integer(k, i->args[1], plus);
    if (!adds) *plus = 0;
    return adds ? i->args[0] : v;
}

// plus: a constant part of the offset, which the result does not have.
static simt_value packed(kernel *k, simt_builder *b, tensor_val val, const tensor_val_info *v,
                         const simt_value *index, int64_t *plus) {
    const loop_value *w = where(k, val);
    simt_value at = 0;
    *plus = 0;
    for (uint32_t i = 0; i < v->rank; i++) {
        simt_value pitch = !i          ? 0
                           : w->pad[i] ? lw_expr(k, b, w->pitch[i])
                                       : lw_size(k, b, v->axes[i]);
        int64_t by = 0, more = 0;
        if (i && !is_integer(k, pitch, &by) && *plus) {
            at = simt_build_binary(b, SIMT_ADD, at, lw_ix(k, b, *plus));
            *plus = 0;
        }
        if (i) at = simt_build_binary(b, SIMT_MUL, at, lw_to_ix(k, b, pitch));
        at = add_term(b, at, without_constant(k, index[i], &more));
        *plus = *plus * by + more;
    }
    return at ? at : lw_ix(k, b, 0);
}

static bool unit_axis(const tensor_val_info *v, uint32_t i) {
    return i + 1 == v->rank && !(v->facts & FACT_STRIDED);
}

static simt_value strided(kernel *k, simt_builder *b, tensor_val val, const tensor_val_info *v,
                          const simt_value *index) {
    simt_value at = 0;
    for (uint32_t i = 0; i < v->rank; i++) {
        simt_value x = index[i];
        if (!unit_axis(v, i))
            x = simt_build_binary(b, SIMT_MUL, x, lw_to_ix(k, b, lw_arg(k, ARG_STRIDE, val, i)));
        at = add_term(b, at, x);
    }
    return at ? at : lw_ix(k, b, 0);
}

static simt_value shared_offset(kernel *k, simt_builder *b, tensor_val val,
                                const tensor_val_info *v, const simt_value *index) {
    const loop_value *w = where(k, val);
    simt_value at = 0;
    for (uint32_t i = 0; i < v->rank; i++) {
        if (i) at = simt_build_binary(b, SIMT_MUL, at, lw_ix(k, b, w->extent[i]));
        simt_value x = index[i];
        if (w->origin[i]) {   // a masked position of an empty range lies before it
            x = simt_build_binary(b, SIMT_SUB, x, lw_to_ix(k, b, lw_expr(k, b, w->origin[i])));
            x = simt_build_binary(b, SIMT_MAX, x, lw_ix(k, b, 0));
        }
        at = add_term(b, at, x);
    }
    return simt_build_cvt(b, SIMT_T(I32), at ? at : lw_ix(k, b, 0));
}

static bool lies_packed(const kernel *k, tensor_val val) {
    const tensor_val_info *v = &k->l->op->vals.data[val];
    return val >= k->l->op->nparams || v->role == VAL_MAP || (v->facts & FACT_PACKED);
}

simt_value lw_address(kernel *k, simt_builder *b, tensor_val val, const simt_value *index) {
    const tensor_val_info *v = &k->l->op->vals.data[val];
    uint32_t bytes = simt_element_bits(lw_memory_element(k, lw_stored_type(k, val))) / 8;
    if (where(k, val)->home == LOOP_SHARED) {
        lw_shared_place(k, val);
        return simt_build_addr(b, lw_shared(k, b, k->shared.at[val] - 1),
                               shared_offset(k, b, val, v, index), bytes, 0);
    }
    simt_value base;
    if (val < k->l->op->nparams) base = lw_arg(k, ARG_DATA, val, 0);
    else if (k->l->prepared_of[val] != UINT32_MAX)
        base = lw_arg(k, ARG_PREPARED, k->l->prepared_of[val], 0);
    else base = lw_arg(k, ARG_TEMP, lw_temp_of(k->l, val), 0);
    int64_t plus = 0;
    simt_value at = lies_packed(k, val) ? packed(k, b, val, v, index, &plus)
                                        : strided(k, b, val, v, index);
    return simt_build_addr(b, base, at, bytes, plus * bytes);
}

// ---- Padding ------------------------------------------------------------------------------------
// At this axis the index may be padding, where the value has no elements.
static bool lacks(const kernel *k, tensor_val val, uint32_t axis, const position *p) {
    uint32_t has = where(k, val)->pad[axis];
    return p->pad && (!has || has % p->pad);
}

static bool cut_vector(const kernel *k, tensor_val val, const position *index) {
    uint32_t last = k->l->op->vals.data[val].rank - 1;
    return index[last].shape != POSITION_ONE && lacks(k, val, last, &index[last]);
}

// The value has an element there; 0: it always has.
static simt_value there(kernel *k, simt_builder *b, tensor_val val, const position *index,
                        uint32_t lane) {
    simt_value c = 0;
    for (uint32_t i = 0; i < k->l->op->vals.data[val].rank; i++)
        if (lacks(k, val, i, &index[i]))
            c = lw_both(b, c, lw_not_padding(b, index[i], lw_position_lane(k, b, index[i], lane)));
    return c;
}

typedef enum { ACCESS_ONE, ACCESS_VECTOR, ACCESS_EACH } access_form;

static access_form form_of(const kernel *k, tensor_val val, const position *index) {
    const tensor_val_info *v = &k->l->op->vals.data[val];
    access_form form = ACCESS_ONE;
    bool unit_last = where(k, val)->home == LOOP_SHARED || lies_packed(k, val) ||
                     !(v->facts & FACT_STRIDED);
    for (uint32_t i = 0; i < v->rank; i++) {
        if (index[i].shape == POSITION_ONE) continue;
        bool along = index[i].shape != POSITION_ANY && i + 1 == v->rank && unit_last;
        if (!along) return ACCESS_EACH;
        form = ACCESS_VECTOR;
    }
    return form;
}

// On a GPU, a vector access is aligned to its size where the version's guards say so, which is at
// the loop's own position. On a host it is aligned to an element, which costs nothing there.
static uint16_t alignment(const kernel *k, tensor_val val, const position *index, uint32_t lanes) {
    const tensor_val_info *v = &k->l->op->vals.data[val];
    uint32_t bytes = simt_element_bits(lw_memory_element(k, lw_stored_type(k, val))) / 8;
    const position *last = &index[v->rank - 1];
    uint32_t pad = where(k, val)->pad[v->rank - 1];
    bool aligned = lw_threads(k) && last->shape == POSITION_ALONG && pad % lanes == 0;
    if (where(k, val)->home == LOOP_SHARED)
        aligned = aligned && where(k, val)->extent[v->rank - 1] % lanes == 0 &&
                  !where(k, val)->origin[v->rank - 1];
    return (uint16_t)(aligned ? bytes * lanes : bytes);
}

static uint8_t cache_of(const kernel *k, tensor_val val) {
    for (uint32_t i = 0; i < k->plan->hints.len; i++)
        if (k->plan->hints.data[i].val == val) return (uint8_t)k->plan->hints.data[i].cache;
    return SIMT_CACHE_DEFAULT;
}

static simt_type memory_type(const kernel *k, tensor_val val, uint32_t lanes) {
    return (simt_type){lw_memory_element(k, lw_stored_type(k, val)), (uint8_t)lanes};
}

// Every round of some loop around reads it again.
static bool is_reread(const kernel *k, tensor_val val) {
    for (uint32_t i = 0; i < k->scope.masks.len; i++)
        for (uint32_t n = 0; n < k->scope.masks.data[i].node->fetch.nreread; n++)
            if (k->scope.masks.data[i].node->fetch.reread[n] == val) return true;
    return false;
}

static simt_value as_it_lies(kernel *k, simt_builder *b, tensor_val val, const simt_value *index,
                             uint32_t lanes, uint16_t align) {
    simt_value x = simt_build_load(b, memory_type(k, val, lanes), lw_address(k, b, val, index));
    simt_mem *mem = &k->f->instrs.data[k->f->values.data[x].def].mem;
    mem->align = align;
    mem->cache = cache_of(k, val);
    mem->invariant = !k->access.written[val] && where(k, val)->home != LOOP_SHARED &&
                     !(k->access.unsettled && k->access.unsettled[val]);
    mem->pinned = is_reread(k, val);
    return x;
}

static simt_value as_value(kernel *k, simt_builder *b, tensor_val val, simt_value x) {
    return simt_build_cvt(b, (simt_type){loaded_element(k, val), simt_typeof(k->f, x).lanes}, x);
}

static simt_value load_at(kernel *k, simt_builder *b, tensor_val val, const simt_value *index,
                          uint32_t lanes, uint16_t align) {
    return as_value(k, b, val, as_it_lies(k, b, val, index, lanes, align));
}

simt_value lw_load_shared(kernel *k, simt_builder *b, tensor_val v, simt_value address,
                          uint32_t lanes, uint32_t align) {
    simt_value x = simt_build_load(b, memory_type(k, v, lanes), address);
    k->f->instrs.data[k->f->values.data[x].def].mem.align = (uint16_t)align;
    return as_value(k, b, v, x);
}

simt_value lw_load_whole(kernel *k, simt_builder *b, tensor_val v, position first, uint32_t n) {
    uint32_t bytes = simt_element_bits(lw_memory_element(k, lw_stored_type(k, v))) / 8;
    return load_at(k, b, v, &first.at, n, (uint16_t)(bytes * n));
}

simt_value lw_bits_in_a_row(kernel *k, simt_builder *b, tensor_val v, const position *first,
                            uint32_t lanes) {
    simt_value at[8];
    uint32_t rank = k->l->op->vals.data[v].rank;
    uint32_t bytes = simt_element_bits(lw_memory_element(k, lw_stored_type(k, v))) / 8;
    for (uint32_t i = 0; i < rank; i++) at[i] = first[i].at;
    return as_it_lies(k, b, v, at, lanes, (uint16_t)(bytes * lanes));
}

simt_value lw_value_of_bits(kernel *k, simt_builder *b, tensor_val v, simt_value x) {
    return as_value(k, b, v, x);
}

simt_value lw_load_in_a_row(kernel *k, simt_builder *b, tensor_val v, const position *first,
                            uint32_t lanes) {
    return as_value(k, b, v, lw_bits_in_a_row(k, b, v, first, lanes));
}

// What is overwritten in place may be read by the thread alone that overwrites it: nothing orders
// it with others.
static simt_value load_owned(kernel *k, simt_builder *b, tensor_val val, const position *from,
                             const simt_value *index, uint32_t lane, uint32_t lanes,
                             uint16_t align) {
    simt_value owner = lw_overwritten(k, val)
                           ? lw_both(b, k->access.owner, there(k, b, val, from, lane))
                           : 0;
    if (!owner) return load_at(k, b, val, index, lanes, align);
    simt_type t = {loaded_element(k, val), (uint8_t)lanes};
    simt_builder then, other;
    simt_instr i = simt_build_if(b, owner, &t, 1, &then, &other);
    region_mark m = lw_enter(&k->known);
    simt_value x = load_at(k, &then, val, index, lanes, align);
    lw_leave(&k->known, m);
    simt_build_yield(&then, &x, 1);
    x = simt_build_cvt(&other, t, simt_build_int(&other, (simt_type){SIMT_I32, (uint8_t)lanes}, 0));
    simt_build_yield(&other, &x, 1);
    return simt_result(k->f, i, 0);
}

static void lane_index(kernel *k, simt_builder *b, tensor_val val, const position *index,
                       uint32_t lane, simt_value *at) {
    for (uint32_t i = 0; i < k->l->op->vals.data[val].rank; i++) {
        at[i] = lw_position_lane(k, b, index[i], lane);
        if (lacks(k, val, i, &index[i]))
            at[i] = simt_build_binary(b, SIMT_MIN, at[i], index[i].last);
    }
}

// The vector begins at a multiple of its elements, which is known of its offset alone; 0: it always
// does.
static simt_value even(kernel *k, simt_builder *b, tensor_val val, const position *index,
                       uint32_t lanes) {
    const tensor_val_info *v = &k->l->op->vals.data[val];
    simt_value at[8];
    if (!lw_threads(k) || where(k, val)->home == LOOP_SHARED || v->rank == 1) return 0;
    lane_index(k, b, val, index, 0, at);
    int64_t plus = 0;
    simt_value offset = lies_packed(k, val) ? packed(k, b, val, v, at, &plus)
                                            : strided(k, b, val, v, at);
    if (plus) offset = simt_build_binary(b, SIMT_ADD, offset, lw_ix(k, b, plus));
    simt_value low = simt_build_binary(b, SIMT_AND, offset, lw_ix(k, b, (int64_t)lanes - 1));
    return simt_build_cmp(b, SIMT_EQ, low, lw_ix(k, b, 0));
}

// ---- Masked steps -------------------------------------------------------------------------------
// Past the end nothing is read but indices (lower/values/elsewhere.c). So addresses of steps differ
// by constants, as their positions do.
static simt_value inside(kernel *k, simt_builder *b, tensor_val val, const position *index) {
    const tensor_val_info *v = &k->l->op->vals.data[val];
    simt_value c = 0;
    if (!ir_dtype_is_float(v->type) || where(k, val)->home != LOOP_MEMORY || lw_overwritten(k, val))
        return 0;
    for (uint32_t i = 0; i < v->rank; i++) {
        if (lacks(k, val, i, &index[i])) return 0;
        if (index[i].inside != c) c = lw_both(b, c, index[i].inside);
    }
    return c;
}

static simt_value load_inside(kernel *k, simt_builder *b, tensor_val val, const position *index,
                              uint32_t lanes, simt_value c) {
    simt_value at[8];
    simt_type t = memory_type(k, val, lanes);
    for (uint32_t i = 0; i < k->l->op->vals.data[val].rank; i++)
        at[i] = index[i].inside ? index[i].step : index[i].at;
    simt_value other = simt_build_float(b, t, lw_taken_elsewhere(k, val));
    simt_builder then, rest;
    simt_instr i = simt_build_if(b, c, &t, 1, &then, &rest);
    region_mark m = lw_enter(&k->known);
    simt_value x = as_it_lies(k, &then, val, at, lanes,
                              lanes > 1 ? alignment(k, val, index, lanes) : 0);
    lw_leave(&k->known, m);
    simt_build_yield(&then, &x, 1);
    simt_build_yield(&rest, &other, 1);
    return as_value(k, b, val, simt_result(k->f, i, 0));
}

static simt_value load_lane(kernel *k, simt_builder *b, tensor_val val, const position *index,
                            uint32_t lane) {
    simt_value at[8];
    lane_index(k, b, val, index, lane, at);
    return load_owned(k, b, val, index, at, lane, 1, 0);
}

static simt_value load_lanes(kernel *k, simt_builder *b, tensor_val val, const position *index,
                             uint32_t lanes) {
    simt_value x[16];
    for (uint32_t i = 0; i < lanes; i++) x[i] = load_lane(k, b, val, index, i);
    return simt_gather(b, x, lanes);
}

static simt_value load_vector(kernel *k, simt_builder *b, tensor_val val, const position *index,
                              uint32_t lanes) {
    simt_value at[8];
    uint32_t last = k->l->op->vals.data[val].rank - 1;
    lane_index(k, b, val, index, 0, at);
    at[last] = index[last].at;
    return load_owned(k, b, val, index, at, lanes - 1, lanes, alignment(k, val, index, lanes));
}

// How many elements of a vector are there, where vectors may begin anywhere: none past the end of
// the row, and none in a row of padding.
static simt_value number_there(kernel *k, simt_builder *b, tensor_val val, const position *index) {
    const uint32_t last = k->l->op->vals.data[val].rank - 1;
    simt_value n = simt_build_with(b, SIMT_ADD,
                                   simt_build_binary(b, SIMT_SUB, index[last].last, index[last].at),
                                   1),
               beside = 0;
    for (uint32_t i = 0; i < last; i++)
        if (lacks(k, val, i, &index[i]))
            beside = lw_both(b, beside, lw_not_padding(b, index[i], index[i].at));
    n = simt_build_cvt(b, SIMT_T(I32),
                       simt_build_binary(b, SIMT_MIN, n, lw_ix(k, b, lw_lanes(&k->digits))));
    return beside ? simt_build_select(b, beside, n, simt_build_int(b, SIMT_T(I32), 0)) : n;
}

static bool takes_some(const kernel *k, tensor_val val) {
    return !k->l->o->machine->aligned && where(k, val)->home == LOOP_MEMORY &&
           !lw_overwritten(k, val);
}

static simt_value load_some(kernel *k, simt_builder *b, tensor_val val, const position *index,
                            uint32_t lanes) {
    simt_value at[8], n = number_there(k, b, val, index);
    const uint32_t last = k->l->op->vals.data[val].rank - 1;
    int64_t known = 0;
    if (is_integer(k, n, &known) && known == lanes) return load_vector(k, b, val, index, lanes);
    lane_index(k, b, val, index, 0, at);
    at[last] = index[last].at;
    simt_value args[2] = {lw_address(k, b, val, at), n};
    const simt_type t = memory_type(k, val, lanes);
    return as_value(k, b, val,
                    simt_result(k->f, simt_build_op(b, SIMT_LD_SOME, args, 2, &t, 1), 0));
}

// The last vector of a row may go past the row. It is read by elements, so that nothing is read
// there; so are rows that begin anywhere.
static simt_value load_cut(kernel *k, simt_builder *b, tensor_val val, const position *index,
                           uint32_t lanes) {
    const position *last = &index[k->l->op->vals.data[val].rank - 1];
    simt_type t = {loaded_element(k, val), (uint8_t)lanes};
    if (takes_some(k, val)) return load_some(k, b, val, index, lanes);
    simt_builder then, other;
    simt_value whole = lw_both(b,
                               lw_not_padding(b, *last, lw_position_lane(k, b, *last, lanes - 1)),
                               even(k, b, val, index, lanes));
    simt_instr i = simt_build_if(b, whole, &t, 1, &then, &other);
    region_mark m = lw_enter(&k->known);
    simt_value x = load_vector(k, &then, val, index, lanes);
    simt_build_yield(&then, &x, 1);
    lw_leave(&k->known, m);
    x = load_lanes(k, &other, val, index, lanes);
    simt_build_yield(&other, &x, 1);
    lw_leave(&k->known, m);
    return simt_result(k->f, i, 0);
}

static simt_value scalar_argument(kernel *k, simt_builder *b, tensor_val val) {
    simt_value x = lw_arg(k, ARG_VALUE, val, 0);
    return simt_build_cvt(b, (simt_type){loaded_element(k, val), 1}, x);
}

simt_value lw_load_from(kernel *k, simt_builder *b, tensor_val val, const position *index) {
    const tensor_val_info *v = &k->l->op->vals.data[val];
    if (v->role == VAL_SCALAR) return scalar_argument(k, b, val);
    access_form form = form_of(k, val, index);
    simt_value c = form == ACCESS_EACH ? 0 : inside(k, b, val, index);
    if (c)
        return load_inside(k, b, val, index, form == ACCESS_VECTOR ? lw_lanes(&k->digits) : 1, c);
    switch (form) {
    case ACCESS_ONE: return load_lane(k, b, val, index, 0);
    case ACCESS_VECTOR:
        return (cut_vector(k, val, index) ? load_cut : load_vector)(k, b, val, index,
                                                                    lw_lanes(&k->digits));
    case ACCESS_EACH: break;
    }
    return load_lanes(k, b, val, index, lw_lanes(&k->digits));
}

typedef void access_body(kernel *k, simt_builder *b, tensor_val val, const simt_value *at,
                         simt_value x, int user);

// The body runs where the value has an element. The branch has no results.
static void where_there(kernel *k, simt_builder *b, tensor_val val, const position *index,
                        uint32_t lane, access_body *body, simt_value x, int user) {
    simt_value at[8], c = there(k, b, val, index, lane);
    simt_builder then = *b;
    if (c) simt_build_if(b, c, NULL, 0, &then, NULL);
    simt_builder *in = c ? &then : b;
    region_mark m = lw_enter(&k->known);
    for (uint32_t i = 0; i < k->l->op->vals.data[val].rank; i++)
        at[i] = lw_position_lane(k, in, index[i], lane);
    body(k, in, val, at, x, user);
    if (!c) return;
    lw_leave(&k->known, m);
    simt_build_yield(&then, NULL, 0);
}

static void red_at(kernel *k, simt_builder *b, tensor_val val, const simt_value *at, simt_value x,
                   int how) {
    simt_type t = {lw_memory_element(k, lw_stored_type(k, val)), 1};
    simt_value args[2] = {lw_address(k, b, val, at), simt_build_cvt(b, t, x)};
    simt_instr red = simt_build_op(b, SIMT_RED, args, 2, NULL, 0);   // may move the instructions
    k->f->instrs.data[red].aux = (uint8_t)how;
}

void lw_red_to(kernel *k, simt_builder *b, tensor_val val, const position *index, simt_value x,
               simt_atomic how) {
    where_there(k, b, val, index, 0, red_at, simt_pick(b, x, 0), (int)how);
}

static void store_at(kernel *k, simt_builder *b, tensor_val val, const simt_value *at, simt_value x,
                     int align) {
    simt_value args[2] = {lw_address(k, b, val, at), x};
    simt_instr st = simt_build_op(b, SIMT_ST, args, 2, NULL, 0);
    k->f->instrs.data[st].mem.cache = cache_of(k, val);
    k->f->instrs.data[st].mem.align = (uint16_t)align;
}

void lw_store_in_a_row(kernel *k, simt_builder *b, tensor_val v, const position *first,
                       simt_value x) {
    simt_value at[8];
    uint32_t lanes = simt_typeof(k->f, x).lanes;
    simt_element e = lw_memory_element(k, lw_stored_type(k, v));
    for (uint32_t i = 0; i < k->l->op->vals.data[v].rank; i++) at[i] = first[i].at;
    x = simt_build_cvt(b, (simt_type){e, (uint8_t)lanes}, x);
    store_at(k, b, v, at, x, (int)(simt_element_bits(e) / 8 * lanes));
}

static void store_lanes(kernel *k, simt_builder *b, tensor_val val, const position *index,
                        simt_value x, uint32_t lanes) {
    for (uint32_t i = 0; i < lanes; i++)
        where_there(k, b, val, index, i, store_at, simt_pick(b, x, i), 0);
}

static void store_vector(kernel *k, simt_builder *b, tensor_val val, const position *index,
                         simt_value x, uint32_t lanes) {
    simt_value at[8];
    for (uint32_t i = 0; i < k->l->op->vals.data[val].rank; i++)
        at[i] = lw_position_lane(k, b, index[i], 0);
    store_at(k, b, val, at, x, alignment(k, val, index, lanes));
}

static void store_some(kernel *k, simt_builder *b, tensor_val val, const position *index,
                       simt_value x) {
    simt_value at[8];
    for (uint32_t i = 0; i < k->l->op->vals.data[val].rank; i++)
        at[i] = lw_position_lane(k, b, index[i], 0);
    simt_value args[3] = {lw_address(k, b, val, at), x, number_there(k, b, val, index)};
    simt_build_op(b, SIMT_ST_SOME, args, 3, NULL, 0);
}

void lw_store_to(kernel *k, simt_builder *b, tensor_val val, const position *index, simt_value x) {
    access_form form = form_of(k, val, index);
    uint32_t lanes = form == ACCESS_ONE ? 1 : lw_lanes(&k->digits);
    if (form == ACCESS_ONE) x = simt_pick(b, x, 0);
    else x = simt_widen(b, x, lanes);
    simt_element e = lw_memory_element(k, lw_stored_type(k, val));
    x = simt_build_cvt(b, (simt_type){e, (uint8_t)lanes}, x);
    simt_value whole = form == ACCESS_VECTOR ? there(k, b, val, index, lanes - 1) : 0;
    if (whole && cut_vector(k, val, index))
        whole = lw_both(b, whole, even(k, b, val, index, lanes));
    if (form != ACCESS_VECTOR) {
        store_lanes(k, b, val, index, x, lanes);
        return;
    }
    if (!whole) {
        store_vector(k, b, val, index, x, lanes);
        return;
    }
    simt_builder then, other;
    simt_build_if(b, whole, NULL, 0, &then, &other);
    region_mark m = lw_enter(&k->known);
    store_vector(k, &then, val, index, x, lanes);
    lw_leave(&k->known, m);
    simt_build_yield(&then, NULL, 0);
    bool some = !k->l->o->machine->aligned && cut_vector(k, val, index);
    if (some) store_some(k, &other, val, index, x);
    else store_lanes(k, &other, val, index, x, lanes);
    lw_leave(&k->known, m);
    simt_build_yield(&other, NULL, 0);
}
