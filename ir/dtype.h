// Types of stored elements (types.def).
#ifndef GNNC_DTYPE_H
#define GNNC_DTYPE_H

#include "simt_type.h"

typedef enum {
#define DTYPE(name, ...) DT_##name,
#include "types.def"
#undef DTYPE
    DT_COUNT
} ir_dtype;
typedef struct {
    const char *text;
    uint8_t bytes;          // 0: an index, whose width is the program's
    uint8_t element;        // simt_element in memory; SIMT_NONE: an index
    uint8_t loaded;         // ir_dtype that a load gives
    uint8_t precision;      // significant bits of a float; 0: it is none
    int16_t min_exponent;   // of numbers that have them all
    double largest;
} ir_dtype_info;
const ir_dtype_info *ir_dtype_table(ir_dtype t);
static inline const char *ir_dtype_text(ir_dtype t) { return ir_dtype_table(t)->text; }
static inline uint32_t ir_dtype_bytes(ir_dtype t) { return ir_dtype_table(t)->bytes; }
static inline bool ir_dtype_is_float(ir_dtype t) {
    return t < DT_COUNT && ir_dtype_table(t)->precision;
}
// Narrower than f32.
static inline bool ir_dtype_is_narrow(ir_dtype t) {
    return ir_dtype_is_float(t) && ir_dtype_bytes(t) < 4;
}
simt_element ir_dtype_element(ir_dtype t, uint32_t index_bits);   // in memory
ir_dtype ir_dtype_of_element(simt_element e);   // the float that it is; DT_COUNT: none
// to the nearest float of that type, ties to even
double ir_dtype_round(ir_dtype to, double x);
// to 11 significant bits in the range of f32, ties to even
double ir_tf32_round(double x);
bool ir_dtype_holds(ir_dtype wide, ir_dtype narrow);   // floats: one has every number of the other

#endif
