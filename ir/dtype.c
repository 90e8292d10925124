// The types of stored elements, from types.def.
#include "program.h"

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
