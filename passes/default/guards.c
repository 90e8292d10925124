// The guards of a version of the default schedule: what it supposed of extents, points and rows
// while its kernels were dealt out.
#include "default/default.h"
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "base/base.h"

// ---- Extents ------------------------------------------------------------------------------------
static void guard(making *m, tensor_space s, bool pays, const size_token *t, uint32_t n,
                  const char *text) {
    program_guard g = {.kind = GUARD_HOLDS, .pays = pays, .text = text};
    VEC_PUSH(m->p->arena, &g.holds, ((size_token){SZ_SPACE, s, 0}));
    for (uint32_t i = 0; i < n; i++) VEC_PUSH(m->p->arena, &g.holds, t[i]);
    VEC_PUSH(m->p->arena, &m->p->facts->guards, g);
}

static void guard_class(making *m, tensor_space s) {
    const plan_class *c = m->class;
    const char *name = m->p->op->spaces.data[s].name;
    const size_token multiple[] = {{SZ_CONST, c->multiple, 0},
                                   {SZ_MOD, 0, 0},
                                   {SZ_CONST, 0, 0},
                                   {SZ_EQ, 0, 0}},
                     above[] = {{SZ_CONST, c->above, 0}, {SZ_GT, 0, 0}},
                     to[] = {{SZ_CONST, c->to, 0}, {SZ_LE, 0, 0}};
    if (c->multiple > 1)
        guard(m, s, false, multiple, 4,
              arena_printf(m->p->arena, "%s %% %lld == 0", name, (long long)c->multiple));
    if (c->above)
        guard(m, s, false, above, 2,
              arena_printf(m->p->arena, "%s > %lld", name, (long long)c->above));
    // one extent above, one below: in rounds, which is better than without vectors
    if (c->to && !m->p->machine->aligned)
        guard(m, s, false, to, 2, arena_printf(m->p->arena, "%s <= %lld", name, (long long)c->to));
}

// ---- Rows ---------------------------------------------------------------------------------------
// No row is long.
static void guard_rows(making *m, tensor_val map) {
    int64_t longest = m->limit.longest ? m->limit.longest : DEFAULT_HEAVY;
    const size_token t[] = {{SZ_MAX_PREIMAGE, map, 0}, {SZ_CONST, longest, 0}, {SZ_LE, 0, 0}};
    default_guard(m, false, t, COUNT_OF(t),
                  arena_printf(m->p->arena, "max(%s) <= %lld", m->p->op->vals.data[map].name,
                               (long long)longest));
}

// Few entries, or many.
static void guard_entries(making *m, tensor_val map, bool most, int64_t n) {
    const size_token all[] = {{SZ_CONST, n, 0}, {most ? SZ_LE : SZ_GE, 0, 0}};
    tensor_space s = m->p->op->vals.data[map].axes[0];
    guard(m, s, true, all, 2,
          arena_printf(m->p->arena, "%s %s %lld", m->p->op->spaces.data[s].name,
                       most ? "<=" : ">=", (long long)n));
}

// Few points, or some; or many, and many a value of each map that leads from them.
static void guard_points(making *m) {
    const planner *p = m->p;
    bool few = m->rows != ROWS_MANY_POINTS;
    int limit = m->rows == ROWS_FEW_POINTS ? DEFAULT_POINTS
                : few                      ? DEFAULT_SOME_POINTS
                                           : DEFAULT_MANY_POINTS;
    const char *name = p->op->spaces.data[m->points].name;
    const size_token t[] = {{SZ_CONST, limit, 0}, {few ? SZ_LE : SZ_GE, 0, 0}};
    guard(m, m->points, true, t, 2,
          arena_printf(p->arena, "%s %s %d", name, few ? "<=" : ">=", limit));
    for (tensor_val v = 0; v < p->op->nparams && !few; v++) {
        const tensor_val_info *i = &p->op->vals.data[v];
        if (i->role != VAL_MAP || i->rank != 1 || i->axes[0] != m->points) continue;
        const size_token each[] = {
            {SZ_SPACE, i->into, 0}, {SZ_CONST, DEFAULT_EACH, 0}, {SZ_MUL, 0, 0}, {SZ_GE, 0, 0}};
        guard(m, m->points, true, each, 4,
              arena_printf(p->arena, "%s >= %d * %s", name, DEFAULT_EACH,
                           p->op->spaces.data[i->into].name));
    }
}

// So few entries a row, or so many, on average.
static void guard_average(making *m, tensor_val map, bool most, int n) {
    const planner *p = m->p;
    tensor_space entries = p->op->vals.data[map].axes[0], rows = p->op->vals.data[map].into;
    const size_token average[] = {
        {SZ_SPACE, rows, 0}, {SZ_CONST, n, 0}, {SZ_MUL, 0, 0}, {most ? SZ_LE : SZ_GE, 0, 0}};
    guard(m, entries, true, average, 4,
          arena_printf(p->arena, "%s %s %d * %s", p->op->spaces.data[entries].name,
                       most ? "<=" : ">=", n, p->op->spaces.data[rows].name));
}

// Entries of some row read what lies elsewhere.
static bool gathers(const making *m) {
    planner *p = m->p;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        stage_group g = {0};
        VEC_PUSH(p->arena, &g, i);
        if (!plan_inlined(p, i) && default_rows_map(p, &g) != TENSOR_NO_VAL &&
            !default_streams(p, &g))
            return true;
    }
    return false;
}

// Rows have nearly as many entries each.
static void guard_alike(making *m, tensor_val map, int times) {
    const size_token t[] = {{SZ_STD_PREIMAGE, map, 0},
                            {SZ_CONST, times, 0},
                            {SZ_MUL, 0, 0},
                            {SZ_AVG_PREIMAGE, map, 0},
                            {SZ_LE, 0, 0}};
    const char *name = m->p->op->vals.data[map].name;
    default_guard(m, true, t, COUNT_OF(t),
                  arena_printf(m->p->arena, "%d * std(%s) <= avg(%s)", times, name, name));
}

// A block is there for each row, or not.
static void guard_blocks(making *m, tensor_val map, bool there) {
    const size_token all[] = {{SZ_CONST, DEFAULT_BLOCKS, 0}, {there ? SZ_LE : SZ_GT, 0, 0}};
    tensor_space s = m->p->op->vals.data[map].into;
    const char *name = m->p->op->spaces.data[s].name;
    guard(m, s, true, all, 2,
          arena_printf(m->p->arena, "%s %s %d", name, there ? "<=" : ">", DEFAULT_BLOCKS));
}

// Rows of which each has a block are few, or few of all: those that find no room wait for others.
static void guard_heavy(making *m, tensor_val map) {
    const planner *p = m->p;
    const tensor_space rows = p->op->vals.data[map].into;
    const size_token t[] = {{SZ_AVG_PREIMAGE, map, 0},
                            {SZ_CONST, DEFAULT_AT_ONCE_HEAVY, 0},
                            {SZ_LT, 0, 0},
                            {SZ_SPACE, rows, 0},
                            {SZ_CONST, DEFAULT_AT_ONCE_FEW, 0},
                            {SZ_LE, 0, 0},
                            {SZ_OR, 0, 0}};
    default_guard(m, true, t, COUNT_OF(t),
                  arena_printf(p->arena, "avg(%s) < %d || %s <= %d", p->op->vals.data[map].name,
                               DEFAULT_AT_ONCE_HEAVY, p->op->spaces.data[rows].name,
                               DEFAULT_AT_ONCE_FEW));
}

static void guard_blocks_of_all(making *m) {
    for (uint32_t i = 0; i < m->walked.len; i++)
        if (m->walked.data[i] != TENSOR_NO_VAL)
            guard_blocks(m, m->walked.data[i], true), guard_heavy(m, m->walked.data[i]);
}

static void guard_short(making *m) {
    for (uint32_t i = 0; i < m->walked.len; i++)
        if (m->walked.data[i] != TENSOR_NO_VAL)
            guard_entries(m, m->walked.data[i], true, DEFAULT_FEW);
}

// Of so many entries that whoever has the longest row is not what all wait for.
static void guard_share(making *m, tensor_val map) {
    const planner *p = m->p;
    tensor_space s = p->op->vals.data[map].axes[0];
    const size_token t[] = {{SZ_MAX_PREIMAGE, map, 0},
                            {SZ_CONST, DEFAULT_EVEN_SHARE, 0},
                            {SZ_MUL, 0, 0},
                            {SZ_SPACE, s, 0},
                            {SZ_CONST, DEFAULT_EVEN_SPARE, 0},
                            {SZ_ADD, 0, 0},
                            {SZ_LE, 0, 0}};
    default_guard(m, true, t, COUNT_OF(t),
                  arena_printf(p->arena, "%d * max(%s) <= %s + %d", DEFAULT_EVEN_SHARE,
                               p->op->vals.data[map].name, p->op->spaces.data[s].name,
                               DEFAULT_EVEN_SPARE));
}

static void guard_even(making *m) {
    for (uint32_t i = 0; i < m->walked.len; i++)
        if (m->walked.data[i] != TENSOR_NO_VAL)
            guard_alike(m, m->walked.data[i], m->wide ? DEFAULT_ALIKE_WIDE : DEFAULT_ALIKE),
                guard_share(m, m->walked.data[i]);
}

static void guard_thin(making *m) {
    for (uint32_t i = 0; i < m->walked.len; i++)
        if (m->walked.data[i] != TENSOR_NO_VAL)
            guard_entries(m, m->walked.data[i], false, DEFAULT_WALKED_THIN_LEAST),
                guard_average(m, m->walked.data[i], true, DEFAULT_WALKED_THIN);
}

// A row of so few parts that whoever combines them is not what all wait for.
static void guard_parts(making *m, int64_t part) {
    const planner *p = m->p;
    for (uint32_t i = 0; i < m->walked.len; i++) {
        tensor_val map = m->walked.data[i];
        if (map == TENSOR_NO_VAL) continue;
        const size_token t[] = {
            {SZ_MAX_PREIMAGE, map, 0}, {SZ_CONST, DEFAULT_PARTS * part, 0}, {SZ_LE, 0, 0}};
        default_guard(m, true, t, COUNT_OF(t),
                      arena_printf(p->arena, "max(%s) <= %lld", p->op->vals.data[map].name,
                                   (long long)(DEFAULT_PARTS * part)));
    }
}

// Rows that are all alike, and about as long as a part or a little longer, would be cut, many of
// them: then they are better whole. Not those of the two maps that a gradient walks by
// (bench/RECORD.md).
static void guard_uneven(making *m, int64_t part) {
    const planner *p = m->p;
    const int64_t whole = part - part / 4;   // of the average: few rows are longer than a part then
    if (m->walked.len > 1) return;
    for (uint32_t i = 0; i < m->walked.len; i++) {
        tensor_val map = m->walked.data[i];
        if (map == TENSOR_NO_VAL) continue;
        const char *name = p->op->vals.data[map].name;
        const size_token t[] = {{SZ_MAX_PREIMAGE, map, 0},
                                {SZ_CONST, 2 * part, 0},
                                {SZ_GT, 0, 0},
                                {SZ_AVG_PREIMAGE, map, 0},
                                {SZ_CONST, whole, 0},
                                {SZ_LT, 0, 0},
                                {SZ_OR, 0, 0}};
        default_guard(m, true, t, COUNT_OF(t),
                      arena_printf(p->arena, "max(%s) > %lld || avg(%s) < %lld", name,
                                   (long long)(2 * part), name, (long long)whole));
    }
}

// ---- Windows ------------------------------------------------------------------------------------
// Counting slots costs more than other statistics: it comes when those hold.
static void guard_windows(making *m) {
    const planner *p = m->p;
    for (uint32_t i = 0; i < m->dense.windows.len; i++) {
        const default_dense_windows *d = &m->dense.windows.data[i];
        const char *map = p->op->vals.data[d->map].name, *source = p->op->vals.data[d->source].name;
        const size_token length[] = {{SZ_AVG_PREIMAGE, d->map, 0},
                                     {SZ_CONST, d->entries, 0},
                                     {SZ_GE, 0, 0}},
                         dense[] = {
                             {SZ_DENSITY, d->map, ((int64_t)DEFAULT_WINDOW << 32) + d->source},
                             {SZ_CONST, d->density, 0},
                             {SZ_GE, 0, 0}};
        guard_entries(m, d->map, false, d->least);
        if (d->entries)
            default_guard(m, false, length, COUNT_OF(length),
                          arena_printf(p->arena, "avg(%s) >= %lld", map, (long long)d->entries));
        default_guard(m, false, dense, COUNT_OF(dense),
                      arena_printf(p->arena, "density(%s, %s, %d) >= 0.%03lld", map, source,
                                   DEFAULT_WINDOW, (long long)d->density));
    }
}

// ---- What is kept -------------------------------------------------------------------------------
// Bytes of inputs and results at each of the space's points, but what is the same at all of them;
// 0: not known.
static int64_t bytes_at(const planner *p, tensor_space at) {
    int64_t all = 0;
    for (tensor_val v = 0; v < p->op->vals.len; v++) {
        const tensor_val_info *i = &p->op->vals.data[v];
        int64_t bytes = ir_dtype_bytes(i->type);
        if ((i->role != VAL_TENSOR && i->role != VAL_RESULT) || !i->rank || i->axes[0] != at)
            continue;
        for (uint32_t a = 1; a < i->rank; a++)
            bytes *= p->op->spaces.data[i->axes[a]].kind == SPACE_CONST
                         ? p->op->spaces.data[i->axes[a]].size
                         : 0;
        all += bytes;
    }
    return all;
}

static void push(making *m, size_expr *e, size_token_kind kind, int64_t value) {
    VEC_PUSH(m->p->arena, e, ((size_token){kind, value, 0}));
}

// What is kept of edges takes a few hundredths of the room that the op's own arrays take.
static void guard_kept(making *m) {
    const planner *p = m->p;
    program_guard g = {.kind = GUARD_HOLDS, .pays = true, .text = ""};
    push(m, &g.holds, SZ_CONST, 0);
    for (tensor_space s = 0; s < p->op->spaces.len; s++) {
        int64_t bytes = bytes_at(p, s);
        if (!bytes) continue;
        g.text = arena_printf(p->arena, "%s%s%lld * %s", g.text, *g.text ? " + " : "",
                              (long long)(DEFAULT_KEPT_ROOM * bytes), p->op->spaces.data[s].name);
        push(m, &g.holds, SZ_SPACE, s), push(m, &g.holds, SZ_CONST, DEFAULT_KEPT_ROOM * bytes),
            push(m, &g.holds, SZ_MUL, 0), push(m, &g.holds, SZ_ADD, 0);
    }
    const char *between = " >= ";
    push(m, &g.holds, SZ_CONST, 0);
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_val_info *v = &p->op->vals.data[p->op->stages.data[i].targets[0].val];
        int64_t bytes = 100 * ir_dtype_bytes(v->type);
        if (!plan_has_id(&m->stored.kept, plan_stage(p, i)->id)) continue;
        for (uint32_t a = 1; a < v->rank; a++)
            if (p->op->spaces.data[v->axes[a]].kind == SPACE_CONST)
                bytes *= p->op->spaces.data[v->axes[a]].size;
        g.text = arena_printf(p->arena, "%s%s%lld * %s", g.text, between, (long long)bytes,
                              p->op->spaces.data[v->axes[0]].name);
        between = " + ";
        push(m, &g.holds, SZ_SPACE, v->axes[0]), push(m, &g.holds, SZ_CONST, bytes),
            push(m, &g.holds, SZ_MUL, 0), push(m, &g.holds, SZ_ADD, 0);
    }
    push(m, &g.holds, SZ_GE, 0);
    VEC_PUSH(p->arena, &m->p->facts->guards, g);
}

// ---- Tiles --------------------------------------------------------------------------------------
static void guard_tiled(making *m) {
    const planner *p = m->p;
    const tensor_val_info *map = &p->op->vals.data[m->tiled];
    const tensor_space points = map->axes[0];
    const size_token many[] = {{SZ_SPACE, points, 0},
                               {SZ_CONST, DEFAULT_TILE_POINTS, 0},
                               {SZ_GE, 0, 0}},
                     full[] = {{SZ_FILL, m->tiled, DEFAULT_TILE_FULL},
                               {SZ_CONST, DEFAULT_TILE_SHARE, 0},
                               {SZ_GE, 0, 0}},
                     sorted[] = {{SZ_SORTED, m->tiled, 0}};
    default_guard(
        m, true, many, COUNT_OF(many),
        arena_printf(p->arena, "%s >= %d", p->op->spaces.data[points].name, DEFAULT_TILE_POINTS));
    default_guard(m, true, full, COUNT_OF(full),
                  arena_printf(p->arena, "fill(%s, %d) >= %g", map->name, DEFAULT_TILE_FULL,
                               DEFAULT_TILE_SHARE * 1e-3));
    if (!(map->facts & FACT_SORTED) || map->sorted_by != TENSOR_NO_VAL)
        default_guard(m, false, sorted, COUNT_OF(sorted),
                      arena_printf(p->arena, "sorted(%s)", map->name));
}

// ---- All of them --------------------------------------------------------------------------------
static void guard_outer(making *m, tensor_val map) {
    guard_average(m, map, false, m->walked.len ? DEFAULT_OUTER_BESIDE : DEFAULT_OUTER);
    if (m->rows == ROWS_OUTER_FEW) guard_entries(m, map, true, DEFAULT_OUTER_FEW);
    if (m->rows == ROWS_OUTER_MANY) guard_entries(m, map, false, DEFAULT_OUTER_MANY);
}

void default_guards(making *m) {
    const unsigned traits = plan_rows_info(m->rows)->traits;
    const bool at_once = traits & ROWS_ARE_AT_ONCE, thin = m->rows == ROWS_THIN,
               alike = (m->rows == ROWS_SHORTEST || m->rows == ROWS_SHORT) && gathers(m),
               any = traits & ROWS_ARE_OF_ANY_LENGTH || m->limit.entries;
    for (uint32_t i = 0; i < m->walked.len; i++) {
        tensor_val map = m->walked.data[i];
        if (at_once || thin || m->rows == ROWS_SHORT) guard_blocks(m, map, at_once);
        if (m->limit.most) guard_entries(m, map, true, m->limit.most);
        if (alike) guard_alike(m, map, DEFAULT_ALIKE);
        if (thin) guard_average(m, map, true, DEFAULT_THIN);
        if (thin) guard_entries(m, map, true, DEFAULT_THIN_FEW);
        if (m->rows == ROWS_BRIEF) guard_average(m, map, true, DEFAULT_BRIEF);
    }
    for (uint32_t i = 0; i < m->outer.len; i++) guard_outer(m, m->outer.data[i]);
    for (uint32_t i = 0; i < m->supposed.len; i++) guard_class(m, m->supposed.data[i]);
    if (m->points != TENSOR_NO_SPACE) guard_points(m);
    for (uint32_t i = 0; i < m->walked.len && !any; i++) guard_rows(m, m->walked.data[i]);
}

// What the version supposes of rows, once they are dealt out.
void default_guard_version(making *m, plan_rows rows, bool spares) {
    const bool uneven = plan_rows_has(rows, ROWS_ARE_UNEVEN);
    default_guards(m);
    if (rows == ROWS_WALKED_AT_ONCE) guard_blocks_of_all(m);
    if (rows == ROWS_WALKED_EVEN) guard_even(m);
    if (rows == ROWS_WALKED_SHORT) guard_short(m);
    if (rows == ROWS_WALKED_THIN) guard_thin(m);
    if (plan_rows_has(rows, ROWS_ARE_IN_PARTS)) guard_parts(m, m->limit.part);
    if (uneven) guard_uneven(m, m->limit.part);   // so they are with few entries on average
    if (plan_rows_has(rows, ROWS_ARE_WINDOWED)) guard_windows(m);
    if (spares) guard_kept(m);
    if (m->tiled != TENSOR_NO_VAL) guard_tiled(m);
}

// Of some map that was walked: where no row is long, rows that are alike are the faster version.
void default_suppose_long(making *m) {
    const planner *p = m->p;
    program_guard g = {.kind = GUARD_HOLDS, .pays = true, .text = ""};
    for (uint32_t i = 0; i < m->walked.len; i++) {
        tensor_val map = m->walked.data[i];
        if (map == TENSOR_NO_VAL) continue;
        const size_token t[] = {
            {SZ_MAX_PREIMAGE, map, 0}, {SZ_CONST, DEFAULT_HEAVY, 0}, {SZ_GT, 0, 0}, {SZ_OR, 0, 0}};
        bool more = g.holds.len != 0;
        g.text = arena_printf(p->arena, "%s%smax(%s) > %d", g.text, more ? " || " : "",
                              p->op->vals.data[map].name, DEFAULT_HEAVY);
        for (uint32_t k = 0; k < 3u + more; k++) VEC_PUSH(p->arena, &g.holds, t[k]);
    }
    VEC_PUSH(p->arena, &p->facts->guards, g);
}
