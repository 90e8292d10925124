// The float formats of SIMT constants: rounding a double into a format, and its bits. Done by hand
// so that it is the same on every host.
#include "dtype.h"
#include "simt_internal.h"

#include <math.h>
#include <string.h>

typedef struct {
    int precision;   // with the hidden bit
    int min_exponent;
    int max_exponent;
    int bits;
} format;

static format format_of(simt_element e) {
    ir_dtype t = ir_dtype_of_element(e);
    if (t == DT_COUNT) ICE("'%s' is no float format", simt_element_text(e));
    const ir_dtype_info *i = ir_dtype_table(t);
    return (format){i->precision, i->min_exponent, ilogb(i->largest), 8 * i->bytes};
}

static uint64_t double_bits(double x) {
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static double bits_double(uint64_t b) {
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

double simt_float_round(simt_element e, double x) {
    if (e == SIMT_F64 || x == 0 || isinf(x)) return x;
    if (isnan(x)) return simt_float_from_bits(e, simt_const_bits(e, x));
    format f = format_of(e);
    int exponent = ilogb(x);
    int quantum = (exponent < f.min_exponent ? f.min_exponent : exponent) - (f.precision - 1);
    double r = ldexp(rint(ldexp(x, -quantum)), quantum);
    if (r != 0 && ilogb(r) > f.max_exponent) return copysign(INFINITY, x);
    return copysign(r, x);
}

uint64_t simt_const_bits(simt_element e, double x) {
    if (e == SIMT_F64) return double_bits(x);
    format f = format_of(e);
    int fraction = f.precision - 1;
    uint64_t sign = (uint64_t)(signbit(x) != 0) << (f.bits - 1);
    // the exponent of infinity
    uint64_t top = ((UINT64_C(1) << (f.bits - 1 - fraction)) - 1) << fraction;
    if (isnan(x)) {
        uint64_t payload = (double_bits(x) & ((UINT64_C(1) << 52) - 1)) >> (52 - fraction);
        return sign | top | (payload ? payload : UINT64_C(1) << (fraction - 1));
    }
    x = fabs(simt_float_round(e, x));
    if (isinf(x)) return sign | top;
    if (x == 0) return sign;
    int exponent = ilogb(x);
    if (exponent < f.min_exponent) return sign | (uint64_t)ldexp(x, fraction - f.min_exponent);
    uint64_t mantissa = (uint64_t)ldexp(x, fraction - exponent) & ((UINT64_C(1) << fraction) - 1);
    return sign | (uint64_t)(exponent + f.max_exponent) << fraction | mantissa;
}

double simt_float_from_bits(simt_element e, uint64_t bits) {
    if (e == SIMT_F64) return bits_double(bits);
    format f = format_of(e);
    int fraction = f.precision - 1;
    uint64_t mantissa = bits & ((UINT64_C(1) << fraction) - 1);
    uint64_t top = (UINT64_C(1) << (f.bits - 1 - fraction)) - 1;
    uint64_t exponent = bits >> fraction & top;
    bool negative = bits >> (f.bits - 1) & 1;
    if (exponent == top)
        return bits_double((uint64_t)negative << 63 | UINT64_C(0x7ff) << 52 |
                           mantissa << (52 - fraction));
    double x = exponent ? ldexp((double)(mantissa | UINT64_C(1) << fraction),
                                (int)exponent - f.max_exponent - fraction)
                        : ldexp((double)mantissa, f.min_exponent - fraction);
    return negative ? -x : x;
}

int64_t simt_int_wrap(simt_element e, int64_t x) {
    if (e == SIMT_PRED) return x & 1;
    uint32_t bits = simt_element_bits(e);
    if (bits >= 64) return x;
    uint64_t sign = UINT64_C(1) << (bits - 1), cut = (uint64_t)x & ((UINT64_C(1) << bits) - 1);
    return (int64_t)((cut ^ sign) - sign);
}
