// The types of stored elements, from types.def.
#include "program.h"

#include <math.h>

const ir_dtype_info *ir_dtype_table(ir_dtype t) {
    static const ir_dtype_info table[] = {
#define DTYPE(name, text, bytes, element, loaded, precision, min_exponent, largest)                \
    {text, bytes, SIMT_##element, DT_##loaded, precision, min_exponent, largest},
#include "types.def"
#undef DTYPE
    };
    if (t >= DT_COUNT) ICE("no element type %d", (int)t);
    return &table[t];
}

simt_element ir_dtype_element(ir_dtype t, uint32_t index_bits) {
    if (t == DT_INDEX) return index_bits == 32 ? SIMT_I32 : SIMT_I64;
    return (simt_element)ir_dtype_table(t)->element;
}

ir_dtype ir_dtype_of_element(simt_element e) {
    ir_dtype t = 0;
    while (t < DT_COUNT && (!ir_dtype_is_float(t) || ir_dtype_table(t)->element != e)) t++;
    return t;
}

// To nearest even with p significant bits, exponents from emin (subnormals below), infinity beyond
// max.
static double round_bits(double x, int p, int emin, double max) {
    if (!isfinite(x) || x == 0) return x;
    int e;
    frexp(x, &e);
    e -= 1;
    double quantum = ldexp(1, (e < emin ? emin : e) - (p - 1));
    double r = nearbyint(x / quantum) * quantum;
    return fabs(r) > max ? copysign((double)INFINITY, x) : copysign(r, x);
}

double ir_dtype_round(ir_dtype to, double x) {
    const ir_dtype_info *t = ir_dtype_table(to);
    if (ir_dtype_is_narrow(to)) return round_bits(x, t->precision, t->min_exponent, t->largest);
    return to == DT_F32 ? (double)(float)x : x;
}

double ir_tf32_round(double x) { return round_bits(x, 11, -126, 0x1.ffcp127); }

bool ir_dtype_holds(ir_dtype wide, ir_dtype narrow) {
    if (wide == narrow || wide == DT_F64) return true;
    return wide == DT_F32 && narrow != DT_F64;
}
