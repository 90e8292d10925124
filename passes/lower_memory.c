// Where values lie and how they are read and written: parameters by their strides, maps, prepared arrays and
// temporaries packed in row-major order, tiles in shared memory. Along a unit-stride axis a vector is one
// access, else one an element.
#include "lower.h"
#include <string.h>

simt_element lw_memory_element(const kernel *k, ir_dtype t) {
    switch (t) {
    case DT_F64: return SIMT_F64;
    case DT_F32: return SIMT_F32;
    case DT_BF16: return SIMT_BF16;
    case DT_F16: return SIMT_F16;
    case DT_I32: return SIMT_I32;
    case DT_I64: return SIMT_I64;
    case DT_BOOL: return SIMT_I8;
    case DT_INDEX: return k->l->o->index_bits == 32 ? SIMT_I32 : SIMT_I64;
    case DT_COUNT: break;
    }
    ICE("no such type in memory");
}

simt_element lw_value_element(const kernel *k, ir_dtype t) {
    switch (t) {
    case DT_F64: return SIMT_F64;
    case DT_F32: return SIMT_F32;
    case DT_BF16: return SIMT_BF16;
    case DT_F16: return SIMT_F16;
    case DT_I32:
    case DT_I64: return SIMT_I64;
    case DT_BOOL: return SIMT_PRED;
    case DT_INDEX: return (simt_element)k->ix.element;
    case DT_COUNT: break;
    }
    ICE("no such type in a register");
}

// Storage types widen.
static simt_element loaded_element(const kernel *k, tensor_val v) {
    const tensor_val_info *i = &k->l->op->vals.data[v];
    return lw_value_element(k, tensor_type_of_storage(i->type, i->into).type);
}

// ---- Temporaries and shared memory -----------------------------------------------------------------------
bool lw_same_size(const size_expr *x, const size_expr *y) {
    bool same = x->len == y->len;
    for (uint32_t i = 0; same && i < x->len; i++)
        same = x->data[i].kind == y->data[i].kind && x->data[i].value == y->data[i].value &&
               x->data[i].value2 == y->data[i].value2;
    return same;
}

static uint32_t temp_of(lowering *l, tensor_val v) {
    if (l->temp_of[v] != UINT32_MAX) return l->temp_of[v];
    const tensor_val_info *i = &l->op->vals.data[v];
    program_temp t = {i->name, i->type, size_product(l->arena, l->p, l->op, i->axes, i->rank)};
    for (uint32_t n = 0; n < l->p->temps.len; n++) {
        const program_temp *other = &l->p->temps.data[n];
        if (!strcmp(other->name, t.name) && other->type == t.type && lw_same_size(&other->length, &t.length))
            return l->temp_of[v] = n;
    }
    VEC_PUSH(l->arena, &l->p->temps, t);
    return l->temp_of[v] = l->p->temps.len - 1;
}

enum { SHARED_ALIGN = 64 };   // of the widest vector

static uint32_t shared_take(kernel *k, uint32_t bytes) {
    uint32_t at = (k->f->shared_bytes + SHARED_ALIGN - 1) / SHARED_ALIGN * SHARED_ALIGN;
    k->f->shared_bytes = at + bytes;
    return at;
}

static const loop_value *where(const kernel *k, tensor_val v) { return &k->l->plan->values.data[v]; }
static ir_dtype stored_type(const kernel *k, tensor_val v) {
    return where(k, v)->home == LOOP_SHARED ? where(k, v)->type : k->l->op->vals.data[v].type;
}

static void shared_place(kernel *k, tensor_val v) {
    if (k->shared_at[v]) return;
    uint32_t bytes = simt_element_bits(lw_memory_element(k, stored_type(k, v))) / 8;
    for (uint32_t i = 0; i < k->l->op->vals.data[v].rank; i++) bytes *= where(k, v)->extent[i];
    k->shared_at[v] = shared_take(k, bytes) + 1;
}

uint32_t lw_shared_scratch(kernel *k, uint32_t bytes) {
    if (bytes > k->scratch_bytes) {
        k->scratch_at = shared_take(k, bytes);
        k->scratch_bytes = bytes;
    }
    return k->scratch_at;
}

// ---- Addresses -------------------------------------------------------------------------------------------
static simt_value add_term(simt_builder *b, simt_value at, simt_value x) {
    return at ? simt_build_binary(b, SIMT_ADD, at, x) : x;
}

static simt_value packed(kernel *k, simt_builder *b, const tensor_val_info *v, const simt_value *index) {
    simt_value at = 0;
    for (uint32_t i = 0; i < v->rank; i++) {
        if (i) at = simt_build_binary(b, SIMT_MUL, at, lw_to_ix(k, b, lw_size(k, b, v->axes[i])));
        at = add_term(b, at, index[i]);
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

static simt_value shared_offset(kernel *k, simt_builder *b, tensor_val val, const tensor_val_info *v,
                                const simt_value *index) {
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

static simt_value address(kernel *k, simt_builder *b, tensor_val val, const simt_value *index) {
    const tensor_val_info *v = &k->l->op->vals.data[val];
    uint32_t bytes = simt_element_bits(lw_memory_element(k, stored_type(k, val))) / 8;
    if (where(k, val)->home == LOOP_SHARED) {
        shared_place(k, val);
        simt_type t = SIMT_T(PTR_SHARED);
        simt_instr i = simt_build_op(b, SIMT_SHARED, NULL, 0, &t, 1);
        k->f->instrs.data[i].imm.i = k->shared_at[val] - 1;
        return simt_build_addr(b, simt_result(k->f, i, 0), shared_offset(k, b, val, v, index), bytes, 0);
    }
    simt_value base;
    if (val < k->l->op->nparams) base = lw_arg(k, ARG_DATA, val, 0);
    else if (k->l->prepared_of[val] != UINT32_MAX) base = lw_arg(k, ARG_PREPARED, k->l->prepared_of[val], 0);
    else base = lw_arg(k, ARG_TEMP, temp_of(k->l, val), 0);
    simt_value at = lies_packed(k, val) ? packed(k, b, v, index) : strided(k, b, val, v, index);
    return simt_build_addr(b, base, at, bytes, 0);
}

// ---- Vectors ---------------------------------------------------------------------------------------------
simt_value lw_position_lane(kernel *k, simt_builder *b, position p, uint32_t lane) {
    if (p.shape == POSITION_ONE) return p.at;
    if (p.shape == POSITION_ANY) return lw_pick(b, p.at, lane);
    return simt_build_binary(b, SIMT_ADD, p.at, lw_ix(k, b, lane));
}

typedef enum { ACCESS_ONE, ACCESS_VECTOR, ACCESS_EACH } access_form;

static access_form form_of(const kernel *k, tensor_val val, const position *index) {
    const tensor_val_info *v = &k->l->op->vals.data[val];
    access_form form = ACCESS_ONE;
    bool unit_last = where(k, val)->home == LOOP_SHARED || lies_packed(k, val) || !(v->facts & FACT_STRIDED);
    for (uint32_t i = 0; i < v->rank; i++) {
        if (index[i].shape == POSITION_ONE) continue;
        bool along = index[i].shape != POSITION_ANY && i + 1 == v->rank && unit_last;
        if (!along) return ACCESS_EACH;
        form = ACCESS_VECTOR;
    }
    return form;
}

// A vector access is aligned to its size where the version's guards say so: of the loop's own position, on a
// GPU. Elsewhere to an element, which costs a host nothing.
static uint16_t alignment(const kernel *k, tensor_val val, const position *index, uint32_t lanes) {
    const tensor_val_info *v = &k->l->op->vals.data[val];
    uint32_t bytes = simt_element_bits(lw_memory_element(k, stored_type(k, val))) / 8;
    const position *last = &index[v->rank - 1];
    bool aligned = lw_threads(k) && last->shape == POSITION_ALONG;
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

static simt_value load_at(kernel *k, simt_builder *b, tensor_val val, const simt_value *index, uint32_t lanes,
                          uint16_t align) {
    ir_dtype stored = stored_type(k, val);
    simt_type t = {lw_memory_element(k, stored), (uint8_t)lanes};
    simt_value x = simt_build_load(b, t, address(k, b, val, index));
    simt_mem *mem = &k->f->instrs.data[k->f->values.data[x].def].mem;
    mem->align = align;
    mem->cache = cache_of(k, val);
    mem->invariant = !k->written[val] && where(k, val)->home != LOOP_SHARED;
    return simt_build_cvt(b, (simt_type){loaded_element(k, val), (uint8_t)lanes}, x);
}

static bool overwritten(const kernel *k, tensor_val val) {
    for (tensor_val w = 0; w < k->l->op->nparams; w++)
        if (w != val && k->l->op->vals.data[w].inplace == val && k->written[val]) return true;
    return false;
}

// No thread but the one that overwrites it may read it: nothing orders the two.
static simt_value load_owned(kernel *k, simt_builder *b, tensor_val val, const simt_value *index, uint32_t lanes,
                             uint16_t align) {
    if (!k->owner || !overwritten(k, val)) return load_at(k, b, val, index, lanes, align);
    simt_type t = {loaded_element(k, val), (uint8_t)lanes};
    simt_builder then, other;
    simt_instr i = simt_build_if(b, k->owner, &t, 1, &then, &other);
    region_mark m = lw_enter(k);
    simt_value x = load_at(k, &then, val, index, lanes, align);
    lw_leave(k, m);
    simt_build_yield(&then, &x, 1);
    x = simt_build_cvt(&other, t, simt_build_int(&other, (simt_type){SIMT_I32, (uint8_t)lanes}, 0));
    simt_build_yield(&other, &x, 1);
    return simt_result(k->f, i, 0);
}

static void lane_index(kernel *k, simt_builder *b, const position *index, uint32_t rank, uint32_t lane,
                       simt_value *at) {
    for (uint32_t i = 0; i < rank; i++) at[i] = lw_position_lane(k, b, index[i], lane);
}

static simt_value scalar_argument(kernel *k, simt_builder *b, tensor_val val) {
    simt_value x = lw_arg(k, ARG_VALUE, val, 0);
    return simt_build_cvt(b, (simt_type){loaded_element(k, val), 1}, x);
}

simt_value lw_load_from(kernel *k, simt_builder *b, tensor_val val, const position *index) {
    const tensor_val_info *v = &k->l->op->vals.data[val];
    if (v->role == VAL_SCALAR) return scalar_argument(k, b, val);
    simt_value at[8], x[16];
    access_form form = form_of(k, val, index);
    lane_index(k, b, index, v->rank, 0, at);
    if (form == ACCESS_ONE) return load_owned(k, b, val, at, 1, 0);
    uint32_t lanes = lw_lanes(k);
    if (form == ACCESS_VECTOR) {
        at[v->rank - 1] = index[v->rank - 1].at;
        return load_owned(k, b, val, at, lanes, alignment(k, val, index, lanes));
    }
    for (uint32_t i = 0; i < lanes; i++) {
        lane_index(k, b, index, v->rank, i, at);
        x[i] = load_owned(k, b, val, at, 1, 0);
    }
    return lw_gather(b, x, lanes);
}

void lw_red_to(kernel *k, simt_builder *b, tensor_val val, const position *index, simt_value x,
               simt_atomic how) {
    simt_value at[8];
    lane_index(k, b, index, k->l->op->vals.data[val].rank, 0, at);
    simt_type t = {lw_memory_element(k, stored_type(k, val)), 1};
    simt_value args[2] = {address(k, b, val, at), simt_build_cvt(b, t, lw_pick(b, x, 0))};
    k->f->instrs.data[simt_build_op(b, SIMT_RED, args, 2, NULL, 0)].aux = (uint8_t)how;
}

void lw_store_to(kernel *k, simt_builder *b, tensor_val val, const position *index, simt_value x) {
    const tensor_val_info *v = &k->l->op->vals.data[val];
    simt_value at[8];
    access_form form = form_of(k, val, index);
    uint32_t lanes = form == ACCESS_ONE ? 1 : lw_lanes(k);
    if (form == ACCESS_ONE) x = lw_pick(b, x, 0);
    else x = lw_widen(b, x, lanes);
    simt_element e = lw_memory_element(k, stored_type(k, val));
    x = simt_build_cvt(b, (simt_type){e, (uint8_t)lanes}, x);
    for (uint32_t i = 0; i < (form == ACCESS_EACH ? lanes : 1); i++) {
        lane_index(k, b, index, v->rank, i, at);
        simt_value to = address(k, b, val, at), args[2] = {to, form == ACCESS_EACH ? lw_pick(b, x, i) : x};
        simt_instr st = simt_build_op(b, SIMT_ST, args, 2, NULL, 0);
        k->f->instrs.data[st].mem.cache = cache_of(k, val);
        if (form == ACCESS_VECTOR) k->f->instrs.data[st].mem.align = alignment(k, val, index, lanes);
    }
}
