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

// ---- Conditions ---------------------------------------------------------------------------------
default_quantity default_fixed(int64_t n) { return (default_quantity){.of = {SZ_CONST, n, 0}}; }

default_quantity default_size(tensor_space s) { return (default_quantity){.of = {SZ_SPACE, s, 0}}; }

default_quantity default_statistic(size_token_kind k, tensor_val map) {
    return (default_quantity){.of = {k, map, 0}};
}

default_quantity default_times(default_quantity x, int64_t n) {
    x.by = SZ_MUL;
    x.n = n;
    return x;
}

static void put(const making *m, size_expr *to, const default_quantity *x) {
    VEC_PUSH(m->p->arena, to, x->of);
    if (x->n) VEC_PUSH(m->p->arena, to, ((size_token){SZ_CONST, x->n, 0}));
    if (x->n) VEC_PUSH(m->p->arena, to, ((size_token){x->by, 0, 0}));
    if (x->plus) VEC_PUSH(m->p->arena, to, ((size_token){SZ_CONST, x->plus, 0}));
    if (x->plus) VEC_PUSH(m->p->arena, to, ((size_token){SZ_ADD, 0, 0}));
}

static const char *const words[] = {
#define X(name, text) [SZ_##name] = text,
    SIZE_TOKENS(X)
#undef X
};

static const char *text_of(const making *m, const default_quantity *x) {
    arena *a = m->p->arena;
    const tensor_op *op = m->p->op;
    const long long value = (long long)x->of.value, n = (long long)x->n;
    const char *text = x->of.kind == SZ_CONST   ? arena_printf(a, "%lld", value)
                       : x->of.kind == SZ_SPACE ? op->spaces.data[value].name
                                                : op->vals.data[value].name;
    if (x->of.kind == SZ_DENSITY)
        text = arena_printf(a, "%s, %s, %lld", text, op->vals.data[x->of.value2 & UINT32_MAX].name,
                            (long long)(x->of.value2 >> 32));
    if (x->of.kind == SZ_FILL) text = arena_printf(a, "%s, %lld", text, (long long)x->of.value2);
    if (x->of.kind != SZ_CONST && x->of.kind != SZ_SPACE)
        text = arena_printf(a, "%s(%s)", words[x->of.kind], text);
    if (n) text = arena_printf(a, x->by == SZ_MOD ? "%2$s %% %1$lld" : "%lld * %s", n, text);
    return x->plus ? arena_printf(a, "%s + %lld", text, (long long)x->plus) : text;
}

program_guard default_where(const making *m, default_quantity x, size_token_kind compare,
                            default_quantity y) {
    const double share = (double)y.of.value * 1e-3;
    const char *to = x.of.kind == SZ_DENSITY ? arena_printf(m->p->arena, "%.3f", share)
                     : x.of.kind == SZ_FILL  ? arena_printf(m->p->arena, "%g", share)
                                             : text_of(m, &y);
    program_guard g = {
        .kind = GUARD_HOLDS,
        .text = arena_printf(m->p->arena, "%s %s %s", text_of(m, &x), words[compare], to)};
    put(m, &g.holds, &x);
    put(m, &g.holds, &y);
    VEC_PUSH(m->p->arena, &g.holds, ((size_token){compare, 0, 0}));
    return g;
}

program_guard default_either(const making *m, program_guard x, program_guard y) {
    for (uint32_t i = 0; i < y.holds.len; i++) VEC_PUSH(m->p->arena, &x.holds, y.holds.data[i]);
    VEC_PUSH(m->p->arena, &x.holds, ((size_token){SZ_OR, 0, 0}));
    x.text = arena_printf(m->p->arena, "%s || %s", x.text, y.text);
    return x;
}

program_guard default_longest(const making *m, tensor_val map, int64_t entries) {
    return default_where(m, default_statistic(SZ_MAX_PREIMAGE, map), SZ_LE, default_fixed(entries));
}

void default_guard(making *m, bool pays, program_guard g) {
    g.pays = pays;
    VEC_PUSH(m->p->arena, &m->p->facts->guards, g);
}

void default_suppose_longest(making *m, tensor_val map, int64_t entries) {
    const program_guard g = default_longest(m, map, entries);
    VEC_PUSH(m->p->arena, &m->s->when,
             ((schedule_condition){.kind = SCHEDULE_HOLDS, .text = g.text, .holds = g.holds}));
}
