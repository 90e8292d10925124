// Elements of arrays, one by one: of each type of a tensor to a double and back, and the bits of
// it.
#include "bind.h"

#include <math.h>
#include <string.h>

static uint16_t to_bf16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isnan(x)) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void bind_store(ir_dtype t, void *data, int64_t at, double x) {
    switch (t) {
    case DT_F64: ((double *)data)[at] = x; return;
    case DT_F32: ((float *)data)[at] = (float)x; return;
    case DT_BF16: ((uint16_t *)data)[at] = to_bf16((float)x); return;
    case DT_F16: ((_Float16 *)data)[at] = (_Float16)x; return;
    case DT_I32: ((int32_t *)data)[at] = (int32_t)x; return;
    case DT_I64:
    case DT_INDEX: ((int64_t *)data)[at] = (int64_t)x; return;
    case DT_BOOL: ((uint8_t *)data)[at] = x != 0; return;
    case DT_COUNT: break;
    }
    ICE("dtype %d", (int)t);
}

uint32_t bind_bytes(ir_dtype t) { return t == DT_INDEX ? 8 : ir_dtype_bytes(t); }

double bind_load(ir_dtype t, const void *data, int64_t at) {
    switch (t) {
    case DT_F64: return ((const double *)data)[at];
    case DT_F32: return (double)((const float *)data)[at];
    case DT_F16: return (double)((const _Float16 *)data)[at];
    case DT_BF16: {
        uint32_t bits = (uint32_t)((const uint16_t *)data)[at] << 16;
        float x;
        memcpy(&x, &bits, sizeof x);
        return (double)x;
    }
    case DT_I32: return ((const int32_t *)data)[at];
    case DT_I64:
    case DT_INDEX: return (double)((const int64_t *)data)[at];
    case DT_BOOL: return ((const uint8_t *)data)[at];
    case DT_COUNT: break;
    }
    ICE("dtype %d", (int)t);
}
