// Two functions are the same code whatever they and their values are called, and each thing that
// makes a difference is seen.
#include "simt.h"

#include <stdio.h>

typedef struct {
    const char *name;
    uint32_t block, shared, flags, scale, cache;
    simt_element element;
    double by;
    simt_op op;
    bool swapped, looped;
    uint32_t at;
} shape;

static simt_func *made(simt_module *m, shape s) {
    simt_func *f = simt_kernel_new(m, s.name, s.block);
    f->shared_bytes = s.shared;
    simt_value x = simt_param(f, s.name, SIMT_PTR, s.flags), y = simt_param(f, "out", SIMT_PTR, 0);
    simt_builder b = simt_builder_at_end(f);
    b.at = (span){s.at, s.at + 1};
    simt_value i = simt_build_sreg(&b, SREG_TID), step = simt_build_int(&b, SIMT_T(I32), 1),
               end = simt_build_int(&b, SIMT_T(I32), 4);
    simt_value from = simt_build_addr(&b, x, i, s.scale, 0);
    simt_type t = {(uint8_t)s.element, 1};
    simt_value v = simt_build_load(&b, t, from), by = simt_build_float(&b, t, s.by);
    f->instrs.data[f->values.data[v].def].mem.cache = (uint8_t)s.cache;
    v = simt_build_binary(&b, s.op, s.swapped ? by : v, s.swapped ? v : by);
    if (s.looped) {
        simt_instr loop;
        simt_builder in = simt_build_for(&b, i, end, step, &v, 1, &loop);
        simt_value next = simt_build_binary(&in, SIMT_ADD, simt_for_carried(f, loop, 0), by);
        simt_build_yield(&in, &next, 1);
        v = simt_result(f, loop, 0);
    }
    simt_build_store(&b, simt_build_addr(&b, y, i, 8, 0), v);
    simt_build_return(&b, NULL, 0);
    return f;
}

int main(void) {
    arena *a = arena_new();
    simt_module *m = simt_module_new(a, "unit"), *other = simt_module_new(a, "other");
    const shape one = {"one", 64, 0, 0, 4, 0, SIMT_F32, 1.5, SIMT_SUB, false, true, 7};
    shape like[12];
    for (int k = 0; k < 12; k++) {
        like[k] = one;
        like[k].name = arena_printf(a, "like%d", k);
    }
    like[1].block = 32;
    like[2].shared = 16;
    like[3].flags = SIMT_READONLY;
    like[4].scale = 8;
    like[5].cache = SIMT_CACHE_STREAM;
    like[6].element = SIMT_F64;
    like[7].by = -1.5;
    like[8].op = SIMT_MUL;
    like[9].swapped = true;
    like[10].looped = false;
    like[11].at = 8;
    const simt_func *f = made(m, one);
    int failures = simt_func_alike(f, made(other, one)) + !simt_func_alike(f, f);
    for (int k = 0; k < 12; k++) {
        bool alike = k == 0 || k == 11;   // in another place
        if (simt_func_alike(f, made(m, like[k])) == alike) continue;
        printf("simt_equal.c: difference %d is judged wrongly\n", k);
        failures++;
    }
    shape named = one;
    named.name = "named";
    failures += !simt_func_alike(f, made(m, named));
    const char *fault = simt_verify(a, m);
    if (fault) printf("simt_equal.c: %s\n", fault);
    failures += fault != NULL;
    arena_free(a);
    return failures != 0;
}
