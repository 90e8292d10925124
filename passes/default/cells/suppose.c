// What the version supposes while its stages are dealt out: extents of its class, the points that
// it is for, the longest row. Guards are made of that at the end (default/guards.c).
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"

void default_suppose(making *m, tensor_space s) {
    for (uint32_t i = 0; i < m->supposed.len; i++)
        if (m->supposed.data[i] == s) return;
    VEC_PUSH(m->p->arena, &m->supposed, s);
}

int64_t default_typical(making *m, tensor_var v) {
    const int64_t extent = default_extent(m->p, v);
    if (extent) return extent;
    if (default_is_side(m->p, v)) return DEFAULT_HEADS_AT_ONCE;
    default_suppose(m, m->p->op->vars.data[v].space);
    return m->class->typical;
}

void default_wish(making *m, const tensor_stage *st, bool walk, const tensor_var *vars,
                  uint32_t n) {
    const planner *p = m->p;
    const char *sizes = "";
    for (uint32_t i = 0; i < n; i++) {
        const tensor_space s = p->op->vars.data[vars[i]].space;
        if (p->op->spaces.data[s].kind != SPACE_FREE) continue;
        sizes = arena_printf(p->arena, "%s%s-D %s=%d", sizes, *sizes ? " " : "",
                             p->op->spaces.data[s].name,
                             default_is_side(p, vars[i]) ? 8 : 64);   // for example
    }
    if (!*sizes) return;
    VEC_PUSH(p->arena, &m->p->facts->wishes, ((plan_wish){st->id, walk, sizes}));
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
