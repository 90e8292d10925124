// Types of stored elements (types.def).
#ifndef GNNC_DTYPE_H
#define GNNC_DTYPE_H

#include "support/support.h"

typedef enum {
#define DTYPE(name, text, bytes) DT_##name,
#include "types.def"
#undef DTYPE
    DT_COUNT
} ir_dtype;
const char *ir_dtype_text(ir_dtype t);
uint32_t ir_dtype_bytes(ir_dtype t);   // 0 for an index
static inline bool ir_dtype_is_float(ir_dtype t) { return t <= DT_F16; }
double ir_dtype_round(ir_dtype to, double x);          // to the nearest float of that type, ties to even
double ir_tf32_round(double x);                        // to 11 significant bits in the range of f32, ties to even
bool ir_dtype_holds(ir_dtype wide, ir_dtype narrow);   // floats: one has every number of the other

#endif
