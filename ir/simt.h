// SIMT IR: one structured program per thread, the last form before LLVM. Nothing is implicit:
// widths, address spaces, rounding and barriers all stand in the text. Host code, GPU code and the
// simulator come from it by one walk each, so the three give the same bits.
//
// Enters: functions built with simt_build_* (by passes/) or read from text. Leaves: the same,
// verified. Memory: everything lives in the arena of its module.
//
//     simt_module *m = simt_module_new(a, "demo");
//     simt_func *f = simt_kernel_new(m, "copy", 256);
//     simt_value x = simt_param(f, "x", SIMT_PTR, SIMT_READONLY), y = simt_param(f, "y", SIMT_PTR, 0);
//     simt_builder b = simt_builder_at_end(f);
//     simt_value i = simt_build_sreg(&b, SREG_TID);
//     simt_build_store(&b, simt_build_addr(&b, y, i, 4, 0),
//                      simt_build_load(&b, SIMT_T(F32), simt_build_addr(&b, x, i, 4, 0)));
//     simt_build_return(&b, NULL, 0);
#ifndef GNNC_SIMT_H
#define GNNC_SIMT_H

#include "simt_type.h"    // types, operations
#include "simt_mma.h"     // matrix operations of a warp
#include "simt_func.h"    // modules, functions, instructions
#include "simt_build.h"   // building
#include "simt_facts.h"   // equal functions, accesses, uniformity; loads that move
#include "simt_text.h"    // text, verification

#endif
