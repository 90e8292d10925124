// Where values lie and how they are read and written: parameters by their strides, maps and
// temporaries packed in row-major order, prepared arrays by position. Storage types widen on load
// and round on store.
#include "naive/naive.h"
#include "base/scalar.h"

static simt_type memory_type(const naive *n, ir_dtype t) {
    return (simt_type){ir_dtype_element(t, n->options->index_bits), 1};
}

simt_type value_simt(tensor_type t) {
    return (simt_type){scalar_value_element(t.type, SIMT_I64), 1};
}

static simt_value packed(kernel *k, simt_builder *b, const tensor_val_info *v,
                         const simt_value *index) {
    simt_value at = simt_build_int(b, NAIVE_I64, 0);
    for (uint32_t i = 0; i < v->rank; i++) {
        if (i) at = simt_build_binary(b, SIMT_MUL, at, kernel_size(k, v->axes[i]));
        at = i ? simt_build_binary(b, SIMT_ADD, at, index[i]) : index[i];
    }
    return at;
}

static simt_value strided(kernel *k, simt_builder *b, tensor_val val, const tensor_val_info *v,
                          const simt_value *index) {
    simt_value at = simt_build_int(b, NAIVE_I64, 0);
    for (uint32_t i = 0; i < v->rank; i++) {
        bool unit = i + 1 == v->rank && !(v->facts & FACT_STRIDED);
        simt_value x = unit ? index[i]
                            : simt_build_binary(b, SIMT_MUL, index[i],
                                                kernel_arg(k, ARG_STRIDE, val, i));
        at = i ? simt_build_binary(b, SIMT_ADD, at, x) : x;
    }
    return at;
}

static simt_value address(kernel *k, simt_builder *b, tensor_val val, const simt_value *index) {
    const tensor_val_info *v = &k->n->op->vals.data[val];
    uint32_t bytes = simt_element_bits((simt_element)memory_type(k->n, v->type).element) / 8;
    bool temp = v->role == VAL_STAGE,
         as_packed = temp || v->role == VAL_MAP || (v->facts & FACT_PACKED);
    simt_value base = temp ? kernel_arg(k, ARG_TEMP, k->n->temp_of[val], 0)
                           : kernel_arg(k, ARG_DATA, val, 0);
    simt_value at = as_packed ? packed(k, b, v, index) : strided(k, b, val, v, index);
    return simt_build_addr(b, base, at, bytes, 0);
}

static void mark_invariant(simt_func *f, simt_value loaded) {
    f->instrs.data[f->values.data[loaded].def].mem.invariant = true;
}

static simt_value widened(simt_builder *b, ir_dtype t, simt_value x) {
    ir_dtype loaded = (ir_dtype)ir_dtype_table(t)->loaded;
    bool alike = loaded == t && t != DT_BOOL && t != DT_INDEX;
    return alike ? x : simt_build_cvt(b, value_simt((tensor_type){.type = loaded}), x);
}

static simt_value scalar_load(kernel *k, simt_builder *b, tensor_val val) {
    simt_value x = kernel_arg(k, ARG_VALUE, val, 0);
    ir_dtype t = k->n->op->vals.data[val].type;
    if (t == DT_I32) return simt_build_cvt(b, NAIVE_I64, x);
    return t == DT_BOOL ? simt_build_cvt(b, SIMT_T(PRED), x) : x;
}

simt_value memory_load(kernel *k, simt_builder *b, tensor_val val, const simt_value *index) {
    const tensor_val_info *v = &k->n->op->vals.data[val];
    if (v->role == VAL_SCALAR) return scalar_load(k, b, val);
    if (v->role == VAL_CLASSES) return prepared_load(k, b, k->n->prepared_of[val], index[0]);
    if (v->role == VAL_PREPARED) return prepared_load(k, b, prepare_value(k->n, val), index[0]);
    simt_value x = simt_build_load(b, memory_type(k->n, v->type), address(k, b, val, index));
    if (!kernel_writes(k, val)) mark_invariant(k->f, x);
    return widened(b, v->type, x);
}

void memory_store(kernel *k, simt_builder *b, tensor_val val, const simt_value *index,
                  simt_value x) {
    const tensor_val_info *v = &k->n->op->vals.data[val];
    simt_type t = memory_type(k->n, v->type);
    simt_build_store(b, address(k, b, val, index), simt_build_cvt(b, t, x));
}

simt_value prepared_load(kernel *k, simt_builder *b, uint32_t prepared, simt_value at) {
    simt_type t = memory_type(k->n, DT_INDEX);
    simt_value base = kernel_arg(k, ARG_PREPARED, prepared, 0);
    simt_value x = simt_build_load(b, t,
                                   simt_build_addr(b, base, at, k->n->options->index_bits / 8, 0));
    mark_invariant(k->f, x);
    return simt_build_cvt(b, NAIVE_I64, x);
}
