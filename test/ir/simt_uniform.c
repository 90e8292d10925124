// How far values are equal, value by value.
#include "simt.h"

#include <string.h>

static const char *const text =
    "module unit\n"
    "kernel k(%x: ptr.global readonly noalias, %y: ptr.global, %n: i32) block 64 shared 64 {\n"
    "  %grid = add i32 %n, %n\n"
    "  %c = sreg ctaid\n"
    "  %block = add i32 %c, %n\n"
    "  %t = sreg tid\n"
    "  %lane = add i32 %t, %n\n"
    "  %five = const i32 5\n"
    "  %one = const i32 1\n"
    "  %w = sreg ntid\n"
    "  %o = mul i32 %c, %w\n"
    "  %g = add i32 %o, %t\n"
    "  %warp_number = lshr i32 %g, %five\n"
    "  %wide = cvt i64 %g\n"
    "  %d = const i64 64\n"
    "  %warp_divided = udiv i64 %wide, %d\n"
    "  %lane_divided = div i64 %wide, %d\n"
    "  %four = const i32 4\n"
    "  %lane_pairs = lshr i32 %g, %four\n"
    "  %two = const i32 2\n"
    "  %warp_by_steps = udiv i32 %lane_pairs, %two\n"
    "  %three = const i32 3\n"
    "  %lane_by_steps = udiv i32 %lane_pairs, %three\n"
    "  %warp_in_three = lshr i32 %lane_by_steps, %one\n"
    "  %ax = addr %x, %c * 4\n"
    "  %ay = addr %y, %c * 4\n"
    "  %block_load = ld i32 %ax\n"
    "  %lane_load = ld i32 %ay\n"
    "  %block_invariant = ld i32 %ay invariant\n"
    "  %warp_shuffle = shfl.idx i32 %t, %n\n"
    "  %lane_shuffle = shfl.idx i32 %t, %t\n"
    "  %block_shuffle = shfl.up i32 %c, %one\n"
    "  %x4 = const f32x4 1\n"
    "  %y2 = const f32x2 1\n"
    "  %s = shared 0\n"
    "  %lane_pairs_of_rows = ldmatrix f16x4 %s\n"
    "  %lane_product = mma m16n8k8.tf32 %x4, %y2, %x4\n"
    "  %p = cmp lt i32 %t, %n\n"
    "  %warp_ballot = ballot %p\n"
    "  %lane_sum, %warp_index = for %block_i = %c to %n step %one carry (%lane_a: i32 = %n, %warp_b: i32 = %n) {\n"
    "    yield %t, %warp_ballot\n"
    "  }\n"
    "  %lane_trips = for %grid_j = %n to %t step %one carry (%grid_a: i32 = %n) { yield %n }\n"
    "  %lane_while = while (%grid_u: i32 = %n) { yield %p, %grid_u } do (%grid_v: i32) { yield %n }\n"
    "  %lane_if = if %p -> i32 { yield %n } else { yield %one }\n"
    "  %q = cmp lt i32 %n, %one\n"
    "  %block_if = if %q -> i32 { yield %n } else { yield %c }\n"
    "  return\n"
    "}\n";

// A value whose name starts with grid, block, warp or lane must be just that.
int main(void) {
    static const char *const names[] = {"grid", "block", "warp", "lane"};
    arena *a = arena_new();
    source_map *map = source_map_new(a);
    diag_set *ds = diag_set_new(a, map);
    const simt_module *m = simt_parse(a, ds, source_map_add(map, "unit.simt", text, strlen(text)));
    diag_print(ds, stdout);
    const char *fault = m ? simt_verify(a, m) : "";
    int failures = fault != NULL, seen = 0;
    if (fault) printf("%s\n", fault);
    const simt_func *f = m ? m->funcs.data[0] : NULL;
    const uint8_t *u = m ? simt_uniformity_of(a, f) : NULL;
    for (uint32_t v = 1; f && v < f->values.len; v++)
        for (uint8_t k = 0; k < 4; k++) {
            const char *name = f->values.data[v].name;
            if (!name || strncmp(name, names[k], strlen(names[k]))) continue;
            seen++;
            if (u[v] == k) continue;
            printf("%%%s is equal over the %s\n", name, names[u[v]]);
            failures++;
        }
    arena_free(a);
    return failures || seen < 20;
}
