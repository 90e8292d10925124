// The types of stored elements, from types.def.
#include "program.h"

#include <math.h>

const char *ir_dtype_text(ir_dtype t) {
    static const char *const texts[] = {
#define DTYPE(name, text, bytes) text,
#include "types.def"
#undef DTYPE
    };
    if (t >= DT_COUNT) ICE("no element type %d", (int)t);
    return texts[t];
}

uint32_t ir_dtype_bytes(ir_dtype t) {
    static const uint32_t sizes[] = {
#define DTYPE(name, text, bytes) bytes,
#include "types.def"
#undef DTYPE
    };
    if (t >= DT_COUNT) ICE("no element type %d", (int)t);
    return sizes[t];
}

// To nearest even with p significant bits, exponents from emin (subnormals below), infinity beyond max.
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
    if (to == DT_F16) return round_bits(x, 11, -14, 65504);
    if (to == DT_BF16) return round_bits(x, 8, -126, 0x1.fep127);
    return to == DT_F32 ? (double)(float)x : x;
}

double ir_tf32_round(double x) { return round_bits(x, 11, -126, 0x1.ffcp127); }

bool ir_dtype_holds(ir_dtype wide, ir_dtype narrow) {
    if (wide == narrow || wide == DT_F64) return true;
    return wide == DT_F32 && narrow != DT_F64;
}
