// What leaves loops, and what stays, value by value; the code that is left verifies and reads back.
// What goes before copies.
#include "simt.h"

#include <string.h>

static const char *const text =
    "module unit\n"
    "kernel k(%x: ptr.global readonly noalias, %y: ptr.global, %n: i32, %many: i32) block 32 shared 4096 {\n"
    "  %zero = const i32 0\n"
    "  %one = const i32 1\n"
    "  %four = const i32 4\n"
    "  %sum = const f32 0.0\n"
    "  %off = const pred false\n"
    // Bounds that are known: what leaves the inner loop leaves the outer one too.
    "  for %i = %zero to %n step %one {\n"
    "    for %j = %zero to %four step %one {\n"
    "      %out.a = addr %x, %many * 4\n"
    "      %out.b = ld f32 %out.a invariant\n"
    "      %in.A = mul f32 %out.b, %out.b\n"
    "      %in.a = addr %x, %i * 4\n"
    "      %in.b = ld f32 %in.a invariant\n"
    "      %in.c = mul f32 %in.b, %in.A\n"
    "      %in.C = addr %y, %n * 4\n"
    "      st f32 %in.C, %in.c\n"
    "      %in.e = ld f32 %in.C\n"
    "    }\n"
    "  }\n"
    // What the loop gave is given by the condition, and by the loop inside it.
    "  %all = for %u = %zero to %n step %one carry (%acc: f32 = %sum) {\n"
    "    %out.d = ld f32x4 %x align 16 invariant\n"
    "    %in.B = extract f32 %out.d, 1\n"
    "    %in.f = add f32 %acc, %in.B\n"
    "    yield %in.f\n"
    "  }\n"
    "  st f32 %y, %all\n"
    // A condition that is the same in all rounds leaves with what it guards; another stays, and so
    // does what is only read under it.
    "  %p = cmp lt i32 %n, %many\n"
    "  for %v = %zero to %n step %one {\n"
    "    %out.f = if %p -> f32 { %out.g = ld f32 %x invariant  yield %out.g } else { yield %sum }\n"
    "    %in.q = cmp lt i32 %v, %many\n"
    "    %in.g = if %in.q -> f32 { %in.h = ld f32 %x invariant  yield %in.h } else { yield %sum }\n"
    "    %in.i = if %p -> f32 { %in.j = ld f32 %x invariant  yield %in.j } else { %in.k = ld f32 %y  yield %in.k }\n"
    "    %in.l = if %p -> f32 { %in.m = ld f32 %x invariant  yield %in.m } else { %in.n = cvt f32 %v  yield %in.n }\n"
    "  }\n"
    // What a mask guards leaves it, if that is loaded as invariant and alike, or needed for it.
    "  for %e = %zero to %n step %one {\n"
    "    %in.w = cmp lt i32 %e, %many\n"
    "    if %in.w mask {\n"
    "      %out.j = addr %x, %many * 4\n"
    "      %out.k = ld f32 %out.j invariant\n"
    "      %in.x = addr %y, %e * 4\n"
    "      %in.y = if %in.w -> f32 { %in.z = ld f32 %x invariant  yield %in.z } else { yield %out.k }\n"
    "      st f32 %in.x, %in.y\n"
    "    }\n"
    "  }\n"
    // What lanes exchange leaves with what they loaded; what changes stays.
    "  for %ee = %zero to %n step %one {\n"
    "    %out.ea = ld f32 %x invariant\n"
    "    %out.eb = shfl.bfly f32 %out.ea, %one\n"
    "    %in.ec = cvt f32 %ee\n"
    "    %in.ed = shfl.bfly f32 %in.ec, %one\n"
    "  }\n"
    // Divisions of floats leave with what they are made of; other arithmetic, and divisions of
    // integers, stay.
    "  for %dd = %zero to %n step %one {\n"
    "    %out.T = cvt f32 %many\n"
    "    %out.U = div f32 %sum, %out.T\n"
    "    %in.D = mul f32 %out.U, %out.U\n"
    "    %in.E = div i32 %many, %four\n"
    "    %in.F = cvt f32 %dd\n"
    "    %in.G = div f32 %in.F, %out.T\n"
    "  }\n"
    // A test that passes on what it got is known before; another is not. Lanes exchange where they
    // stand.
    "  %off2, %last = while (%go: pred = %p, %w: i32 = %zero) { yield %go, %go, %w } do (%more: pred, %at: i32) {\n"
    "    %out.h = ld i32 %x invariant\n"
    "    %in.o = vote.any %p\n"
    "    %in.p = add i32 %at, %out.h\n"
    "    yield %off, %in.p\n"
    "  }\n"
    "  %end = while (%r: i32 = %zero) { %in.r = cmp lt i32 %r, %n  yield %in.r, %r } do (%s: i32) {\n"
    "    %in.s = ld i32 %x invariant\n"
    "    %in.t = add i32 %s, %in.s\n"
    "    yield %in.t\n"
    "  }\n"
    // Shared memory stays as it is while nobody writes it and no barrier lets others do so.
    "  %sh = shared 0\n"
    "  for %a = %zero to %n step %one {\n"
    "    %out.l = ld f32 %sh\n"
    "    %in.AA = addr %y, %a * 4\n"
    "    st f32 %in.AA, %out.l\n"
    "  }\n"
    "  for %b = %zero to %n step %one {\n"
    "    %in.AB = ld f32 %sh\n"
    "    %in.AC = addr %sh, %b * 4\n"
    "    st f32 %in.AC, %in.AB\n"
    "  }\n"
    "  for %c = %zero to %n step %one {\n"
    "    %in.AD = ld f32 %sh\n"
    "    for %d = %zero to %n step %one { barrier }\n"
    "    st f32 %y, %in.AD\n"
    "  }\n"
    // No round, and nothing to load.
    "  for %no = %four to %zero step %one { %in.u = ld f32 %x invariant }\n"
    "  for %pure = %zero to %n step %one { %in.v = add i32 %n, %many }\n"
    "  return\n"
    "}\n";

typedef struct {
    const simt_func *func;
    uint32_t seen, conditions;
    int failures;
} checking;

static void walk(checking *c, simt_region r, bool inside) {
    const simt_region_info *region = &c->func->regions.data[r];
    for (uint32_t k = 0; k < region->instrs.len; k++) {
        const simt_instr_info *i = &c->func->instrs.data[region->instrs.data[k]];
        c->conditions += i->op == SIMT_IF;
        for (uint32_t n = 0; n < i->nresults; n++) {
            const char *name = c->func->values.data[i->results[n]].name;
            bool in = name && !strncmp(name, "in.", 3), out = name && !strncmp(name, "out.", 4);
            c->seen += in || out;
            if (!(in && !inside) && !(out && inside)) continue;
            printf("simt_hoist.c: %s stands %s\n", name, inside ? "in a loop" : "in none");
            c->failures++;
        }
        bool loop = i->op == SIMT_FOR || i->op == SIMT_WHILE;
        for (uint32_t n = 0; n < i->nregions; n++) walk(c, i->regions[n], inside || loop);
    }
}

static simt_module *parsed(arena *a, const char *words) {
    source_map *map = source_map_new(a);
    diag_set *ds = diag_set_new(a, map);
    simt_module *m = simt_parse(a, ds, source_map_add(map, "unit.simt", words, strlen(words)));
    diag_print(ds, stdout);
    const char *fault = m ? simt_verify(a, m) : "not read";
    if (fault) printf("simt_hoist.c: %s\n", fault);
    return fault ? NULL : m;
}

// ---- Before copies ------------------------------------------------------------------------------
// %s stands between the copies and the loop.
static const char *const copies =
    "module unit\n"
    "kernel k(%%x: ptr.global readonly noalias, %%y: ptr.global, %%n: i32, %%many: i32) block 32 shared 4096 {\n"
    "  %%zero = const i32 0\n"
    "  %%one = const i32 1\n"
    "  %%on = const pred true\n"
    "  %%to = shared 0\n"
    "  %%at = addr %%x, %%many * 4\n"
    "  %%index = %s\n"
    "  %%from = addr %%x, %%index * 16\n"
    "  copy %%to, %%from, %%on bytes 16\n"
    "  copy.end\n"
    "  %s\n"
    "  for %%i = %%zero to %%n step %%one {\n"
    "    %%a = addr %%x, %%n * 16\n"
    "    %%row = ld f32x4 %%a align 16 invariant\n"
    "    %%b = addr %%x, %%n * 16\n"
    "    %%again = ld f32x4 %%b align 16 invariant\n"
    "    %%first = extract f32 %%row, 0\n"
    "    %%last = extract f32 %%again, 3\n"
    "    %%c = addr %%x, %%many * 8\n"
    "    %%narrow = ld f32 %%c invariant\n"
    "    %%most = max f32 %%first, %%last\n"
    "    %%sum = add f32 %%most, %%narrow\n"
    "    %%d = addr %%y, %%i * 4\n"
    "    st f32 %%d, %%sum\n"
    "  }\n"
    "  return\n"
    "}\n";

static bool in_order(const char *in, const char *const *words) {
    const char *at = in;
    for (; *words; words++) {
        at = strstr(at, *words);
        if (!at) printf("simt_hoist.c: '%s' does not follow\n%s", *words, in);
        if (!at) return false;
    }
    return true;
}

static bool before_copies(arena *a, const char *index, const char *between,
                          const char *const *words, bool one) {
    simt_module *m = parsed(a, arena_printf(a, copies, index, between));
    if (!m) return false;
    simt_hoist(m->funcs.data[0]);
    textbuf out = textbuf_new(a);
    simt_print(&out, m);
    const char *fault = simt_verify(a, m);
    bool once = !strstr(out.data, "%again = ld") == one;
    if (fault || !once)
        printf("simt_hoist.c: %s\n%s", fault ? fault : "loads that are the same", out.data);
    return !fault && once && in_order(out.data, words);
}

static bool test_copies(arena *a) {
    static const char *const early[] = {"%index",    "if %",     "%row = ld", "pinned",
                                        "warp.sync", "copy %to", "copy.end",  "%narrow = ld",
                                        "for %i",    "extract",  NULL},
                             *const late[] = {"%index",       "copy %to", "copy.end", "%row = ld",
                                              "%narrow = ld", "for %i",   NULL};
    const char *loaded = "ld i32 %at invariant", *known = "add i32 %many, %n",
               *shared = "%s = ld f32 %to";
    return before_copies(a, loaded, "", early, true) && before_copies(a, known, "", late, false) &&
           before_copies(a, loaded, shared, late, false) &&
           before_copies(a, loaded, "barrier", early, true);
}

int main(void) {
    arena *a = arena_new();
    if (!test_copies(a)) return 1;
    simt_module *m = parsed(a, text);
    if (!m) return 1;
    simt_hoist(m->funcs.data[0]);
    const char *fault = simt_verify(a, m);
    checking c = {.func = m->funcs.data[0], .failures = fault != NULL};
    walk(&c, 1, false);
    textbuf once = textbuf_new(a), twice = textbuf_new(a);
    simt_print(&once, m);
    simt_hoist(m->funcs.data[0]);
    simt_print(&twice, m);
    bool good = c.seen == 51 && c.conditions == 14 && !c.failures &&
                !strcmp(once.data, twice.data) && parsed(a, once.data);
    if (!good)
        printf("%s\nsimt_hoist.c: %u values, %u conditions\n%s", fault ? fault : "", c.seen,
               c.conditions, once.data);
    arena_free(a);
    return good ? 0 : 1;
}
