// What the version supposes while its stages are dealt out: extents of its class, the points that
// it is for, the longest row. Guards are made of that at the end (default/guards.c).
#include "default/cells/cells.h"

void default_suppose(making *m, tensor_space s) {
    for (uint32_t i = 0; i < m->supposed.len; i++)
        if (m->supposed.data[i] == s) return;
    VEC_PUSH(m->p->arena, &m->supposed, s);
}

// A version of few points, or of many: all of them are of one space.
void default_note_points(making *m, tensor_var point) {
    tensor_space s = m->p->op->vars.data[point].space;
    m->unfit |= m->points != TENSOR_NO_SPACE && m->points != s;
    m->points = s;
}

void default_guard(making *m, bool pays, const size_token *t, uint32_t n, const char *text) {
    program_guard g = {.kind = GUARD_HOLDS, .pays = pays, .text = text};
    for (uint32_t i = 0; i < n; i++) VEC_PUSH(m->p->arena, &g.holds, t[i]);
    VEC_PUSH(m->p->arena, &m->p->facts->guards, g);
}

void default_suppose_longest(making *m, tensor_val map, int64_t entries) {
    const planner *p = m->p;
    schedule_condition when = {.kind = SCHEDULE_HOLDS,
                               .text = arena_printf(p->arena, "max(%s) <= %lld",
                                                    p->op->vals.data[map].name,
                                                    (long long)entries)};
    const size_token t[] = {{SZ_MAX_PREIMAGE, map, 0}, {SZ_CONST, entries, 0}, {SZ_LE, 0, 0}};
    for (uint32_t i = 0; i < sizeof t / sizeof *t; i++) VEC_PUSH(p->arena, &when.holds, t[i]);
    VEC_PUSH(p->arena, &m->s->when, when);
}
