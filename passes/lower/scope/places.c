// Where values lie: temporaries, which versions of a program share, and shared memory.

#include "lower/scope/scope.h"
#include "base/scalar.h"
#include <string.h>

// ---- Types --------------------------------------------------------------------------------------
simt_element lw_memory_element(const kernel *k, ir_dtype t) {
    return ir_dtype_element(t, k->l->o->index_bits);
}

simt_element lw_value_element(const kernel *k, ir_dtype t) {
    return scalar_value_element(t, (simt_element)k->ix.element);
}

// ---- Temporaries --------------------------------------------------------------------------------
bool lw_same_size(const size_expr *x, const size_expr *y) {
    bool same = x->len == y->len;
    for (uint32_t i = 0; same && i < x->len; i++)
        same = x->data[i].kind == y->data[i].kind && x->data[i].value == y->data[i].value &&
               x->data[i].value2 == y->data[i].value2;
    return same;
}

static size_expr temp_length(lowering *l, tensor_val v) {
    const tensor_val_info *i = &l->op->vals.data[v];
    const loop_value *w = &l->plan->values.data[v];
    size_expr s = {0};
    if (!i->rank) VEC_PUSH(l->arena, &s, ((size_token){SZ_CONST, 1, 0}));
    for (uint32_t a = 0; a < i->rank; a++) {
        if (w->pad[a]) size_append(l->arena, &s, l->p, l->plan->op, w->pitch[a]);
        else size_append_space(l->arena, &s, l->p, l->plan->op, i->axes[a]);
        if (a) VEC_PUSH(l->arena, &s, ((size_token){SZ_MUL, 0, 0}));
    }
    return s;
}

// Versions share temporaries by name. One version may pad what another does not: h, h.pad1x8.
static const char *temp_name(lowering *l, tensor_val v) {
    const loop_value *w = &l->plan->values.data[v];
    textbuf name = textbuf_new(l->arena);
    bool padded = false;
    textbuf_printf(&name, "%s.pad", l->op->vals.data[v].name);
    for (uint32_t a = 0; a < l->op->vals.data[v].rank; a++) {
        textbuf_printf(&name, "%s%u", a ? "x" : "", w->pad[a] ? (unsigned)w->pad[a] : 1u);
        padded |= w->pad[a] > 0;
    }
    return padded ? name.data : l->op->vals.data[v].name;
}

// One version may hold in another type what a second one holds, too: y, y.f64.
static uint32_t place(lowering *l, program_temp t) {
    for (uint32_t n = 0; n < l->p->temps.len; n++) {
        const program_temp *other = &l->p->temps.data[n];
        if (strcmp(other->name, t.name)) continue;
        if (other->type == t.type && lw_same_size(&other->length, &t.length)) return n;
        t.name = arena_printf(l->arena, "%s.%s", t.name, ir_dtype_text(t.type));
        return place(l, t);
    }
    VEC_PUSH(l->arena, &l->p->temps, t);
    return l->p->temps.len - 1;
}

uint32_t lw_temp_of(lowering *l, tensor_val v) {
    if (l->temp_of[v] == UINT32_MAX)
        l->temp_of[v] = place(
            l, (program_temp){temp_name(l, v), l->op->vals.data[v].type, temp_length(l, v)});
    return l->temp_of[v];
}

// ---- Shared memory ------------------------------------------------------------------------------
enum { SHARED_ALIGN = 64 };   // bytes of the widest vector

uint32_t lw_shared_take_at(kernel *k, uint32_t bytes, uint32_t align) {
    uint32_t at = (k->f->shared_bytes + align - 1) / align * align;
    k->f->shared_bytes = at + bytes;
    return at;
}

uint32_t lw_shared_take(kernel *k, uint32_t bytes) {
    return lw_shared_take_at(k, bytes, SHARED_ALIGN);
}
static const loop_value *where(const kernel *k, tensor_val v) {
    return &k->l->plan->values.data[v];
}

ir_dtype lw_stored_type(const kernel *k, tensor_val v) {
    return where(k, v)->home == LOOP_SHARED ? where(k, v)->type : k->l->op->vals.data[v].type;
}

void lw_shared_place(kernel *k, tensor_val v) {
    if (k->shared.at[v]) return;
    uint32_t bytes = simt_element_bits(lw_memory_element(k, lw_stored_type(k, v))) / 8;
    for (uint32_t i = 0; i < k->l->op->vals.data[v].rank; i++) bytes *= where(k, v)->extent[i];
    k->shared.at[v] = lw_shared_take(k, bytes) + 1;
}

uint32_t lw_shared_scratch(kernel *k, uint32_t bytes) {
    if (bytes > k->shared.scratch_bytes) {
        k->shared.scratch_at = lw_shared_take(k, bytes);
        k->shared.scratch_bytes = bytes;
    }
    return k->shared.scratch_at;
}

simt_value lw_shared(kernel *k, simt_builder *b, uint32_t offset) {
    simt_type t = SIMT_T(PTR_SHARED);
    simt_instr i = simt_build_op(b, SIMT_SHARED, NULL, 0, &t, 1);
    k->f->instrs.data[i].imm.i = offset;
    return simt_result(k->f, i, 0);
}

// ---- Arrays in memory ---------------------------------------------------------------------------
bool lw_overwritten(const kernel *k, tensor_val val) {
    for (tensor_val w = 0; w < k->l->op->nparams; w++)
        if (w != val && k->l->op->vals.data[w].inplace == val && k->access.written[val])
            return true;
    return false;
}

bool lw_unchanged(const kernel *k, tensor_val v) {
    return where(k, v)->home == LOOP_MEMORY && !k->access.written[v] && !lw_overwritten(k, v);
}
