// What is asked for where a kernel has waited, and what stays: the code verifies, reads back, and
// asks for nothing more a second time.
#include "simt.h"

#include <stdio.h>
#include <string.h>

// In front of the barrier stand the loads called early.…, behind it those called late.…
static const char *const text =
    "module unit\n"
    "kernel k(%p: ptr.global, %q: ptr.global, %heads: ptr.global readonly noalias, %y: ptr.global noalias, %n: i32) block 32 {\n"
    "  %zero = const i32 0\n"
    "  %one = const i32 1\n"
    "  %before = ld f32 %p\n"
    "  launch.next\n"
    "  %t = sreg tid\n"
    "  grid.wait\n"
    "  barrier\n"
    // An address that is made of what is loaded as invariant is made once more.
    "  %h.at = addr %heads, %t * 4\n"
    "  %h = ld i32 %h.at invariant\n"
    "  %a.at = addr %p, %h * 4\n"
    "  %early.a = ld f32 %a.at\n"
    // Under a condition that is known there, in one arm; not what needs a number that has been
    // loaded.
    "  %c = cmp lt i32 %h, %n\n"
    "  %some = if %c -> f32 {\n"
    "    %b.at = addr %q, %h * 4\n"
    "    %early.b = ld f32 %b.at\n"
    "    %next.at = addr %q, %t * 4\n"
    "    %early.next = ld i32 %next.at\n"
    "    %far.at = addr %p, %early.next * 4\n"
    "    %late.far = ld f32 %far.at\n"
    "    %sum = add f32 %early.b, %late.far\n"
    "    yield %sum\n"
    "  } else {\n"
    "    yield %early.a\n"
    "  }\n"
    // Not under a condition that is not, nor what a loop loads.
    "  %d = cmp lt f32 %some, %early.a\n"
    "  %other = if %d -> f32 { %late.d = ld f32 %q  yield %late.d } else { yield %some }\n"
    "  %all = for %i = %zero to %n step %one carry (%acc: f32 = %other) {\n"
    "    %i.at = addr %q, %i * 4\n"
    "    %late.i = ld f32 %i.at\n"
    "    %more = add f32 %acc, %late.i\n"
    "    yield %more\n"
    "  }\n"
    "  %y.at = addr %y, %t * 4\n"
    // What the kernel writes through is no memory of another's; behind a store all stays.
    "  %late.own = ld f32 %y.at\n"
    "  %result = add f32 %all, %late.own\n"
    "  st f32 %y.at, %result\n"
    "  %late.behind = ld f32 %p\n"
    "  st f32 %y.at, %late.behind\n"
    "  return\n"
    "}\n";

static simt_module *parsed(arena *a, const char *words) {
    source_map *map = source_map_new(a);
    diag_set *ds = diag_set_new(a, map);
    simt_module *m = simt_parse(a, ds, source_map_add(map, "unit.simt", words, strlen(words)));
    diag_print(ds, stdout);
    const char *fault = m ? simt_verify(a, m) : "not read";
    if (fault) printf("simt_early.c: %s\n", fault);
    return fault ? NULL : m;
}

static uint32_t loads_in(const char *from, const char *to) {
    uint32_t n = 0;
    for (const char *at = from; (at = strstr(at, " = ld ")) && at < to; at++) n++;
    return n;
}

// One after the other: the load before the wait, four of what lies behind it with its invariant
// one, the barrier, the rest.
static bool is_split(const char *out) {
    const char *wait = strstr(out, "grid.wait"), *barrier = strstr(out, "barrier"),
               *end = out + strlen(out);
    if (!wait || !barrier || wait > barrier) return false;
    bool named = !strstr(out, "%early."), late = true;
    static const char *const stay[] = {"%late.far = ld", "%late.d = ld", "%late.i = ld",
                                       "%late.own = ld", "%late.behind = ld"};
    for (uint32_t k = 0; k < sizeof stay / sizeof *stay; k++) {
        const char *at = strstr(out, stay[k]);
        late = late && at && at > barrier;
    }
    return named && late && loads_in(out, wait) == 1 && loads_in(wait, barrier) == 4 &&
           loads_in(barrier, end) == 6;
}

// How many loads go in front of the barrier of a kernel of so many threads that has such an arm,
// and such another one.
static uint32_t in_front(arena *a, uint32_t threads, const char *then, const char *other) {
    simt_module *m = parsed(
        a, arena_printf(a,
                        "module unit\n"
                        "kernel k(%%p: ptr.global, %%y: ptr.global noalias, %%n: i32) block %u {\n"
                        "  %%t = sreg tid\n"
                        "  %%zero = const f32 0.0\n"
                        "  %%c = cmp lt i32 %%t, %%n\n"
                        "  grid.wait\n"
                        "  barrier\n"
                        "  %%x = if %%c -> f32 { %s yield %%zero } else { %s yield %%zero }\n"
                        "  %%last = ld f32 %%p\n"
                        "  st f32 %%y, %%last\n"
                        "  return\n"
                        "}\n",
                        (unsigned)threads, then, other));
    if (!m) return UINT32_MAX;
    textbuf out = textbuf_new(a);
    simt_ask_early(m->funcs.data[0]);
    const char *fault = simt_verify(a, m);
    simt_print(&out, m);
    if (fault) printf("simt_early.c: %s\n%s", fault, out.data);
    return fault ? UINT32_MAX
                 : loads_in(strstr(out.data, "grid.wait"), strstr(out.data, "barrier"));
}

// The load behind the arms comes along, unless an arm may have written what it reads. An arm that
// takes more registers than a quarter of a thread's stays as it was.
static bool test_arms(arena *a) {
    const char *load = "%a = ld f32 %p", *store = "st f32 %y, %zero",
               *wide = "%a = ld f32x16 %p align 16 %b = ld f32x16 %p align 16 %d = ld f32 %p";
    bool good = in_front(a, 32, load, "") == 2 && in_front(a, 32, load, store) == 1 &&
                in_front(a, 32, store, "") == 0 && in_front(a, 32, wide, "") == 4 &&
                in_front(a, 512, load, "") == 2 && in_front(a, 512, wide, "") == 1;
    if (!good)
        printf("simt_early.c: arms: %u %u %u %u %u %u\n", in_front(a, 32, load, ""),
               in_front(a, 32, load, store), in_front(a, 32, store, ""), in_front(a, 32, wide, ""),
               in_front(a, 512, load, ""), in_front(a, 512, wide, ""));
    return good;
}

int main(void) {
    arena *a = arena_new();
    if (!test_arms(a)) return 1;
    simt_module *m = parsed(a, text);
    if (!m) return 1;
    textbuf once = textbuf_new(a), twice = textbuf_new(a);
    simt_ask_early(m->funcs.data[0]);
    const char *fault = simt_verify(a, m);
    simt_print(&once, m);
    simt_ask_early(m->funcs.data[0]);
    simt_print(&twice, m);
    bool good = !fault && is_split(once.data) && parsed(a, once.data);
    if (!good) printf("simt_early.c: %s\n%s", fault ? fault : "", once.data);
    arena_free(a);
    return good ? 0 : 1;
}
