// The guards of a version of the default schedule: what it supposed of extents, points and rows
// while its kernels were dealt out.
#include "default/default.h"
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "base/base.h"

static default_quantity entries_of(const making *m, tensor_val map) {
    return default_size(m->p->op->vals.data[map].axes[0]);
}

static default_quantity rows_of(const making *m, tensor_val map) {
    return default_size(m->p->op->vals.data[map].into);
}

// ---- Extents ------------------------------------------------------------------------------------
static void guard_class(making *m, tensor_space s) {
    const plan_class *c = m->class;
    default_quantity multiple = default_size(s);
    multiple.by = SZ_MOD, multiple.n = c->multiple;
    if (c->multiple > 1)
        default_guard(m, false, default_where(m, multiple, SZ_EQ, default_fixed(0)));
    if (c->above)
        default_guard(m, false, default_where(m, default_size(s), SZ_GT, default_fixed(c->above)));
    // one extent above, one below: in rounds, which is better than without vectors
    if (c->to && !m->p->machine->aligned)
        default_guard(m, false, default_where(m, default_size(s), SZ_LE, default_fixed(c->to)));
}

// ---- Rows ---------------------------------------------------------------------------------------
// No row is long.
static void guard_rows(making *m, tensor_val map) {
    const int64_t longest = m->limit.longest ? m->limit.longest : DEFAULT_HEAVY;
    default_guard(m, false, default_longest(m, map, longest));
}

// Few entries, or many.
static void guard_entries(making *m, tensor_val map, bool most, int64_t n) {
    default_guard(m, true,
                  default_where(m, entries_of(m, map), most ? SZ_LE : SZ_GE, default_fixed(n)));
}

// Few points, or some; or many, and many a value of each map that leads from them.
static void guard_points(making *m) {
    const planner *p = m->p;
    const bool few = m->rows != ROWS_MANY_POINTS;
    const int64_t limit = m->rows == ROWS_FEW_POINTS ? DEFAULT_POINTS
                          : few                      ? DEFAULT_SOME_POINTS
                                                     : DEFAULT_MANY_POINTS;
    const default_quantity points = default_size(m->points);
    default_guard(m, true, default_where(m, points, few ? SZ_LE : SZ_GE, default_fixed(limit)));
    for (tensor_val v = 0; v < p->op->nparams && !few; v++) {
        const tensor_val_info *i = &p->op->vals.data[v];
        if (i->role != VAL_MAP || i->rank != 1 || i->axes[0] != m->points) continue;
        const default_quantity each = default_times(default_size(i->into), DEFAULT_EACH);
        default_guard(m, true, default_where(m, points, SZ_GE, each));
    }
}

// So few entries a row, or so many, on average.
static void guard_average(making *m, tensor_val map, bool most, int64_t n) {
    default_guard(m, true,
                  default_where(m, entries_of(m, map), most ? SZ_LE : SZ_GE,
                                default_times(rows_of(m, map), n)));
}

// Entries of some row read what lies elsewhere.
static bool gathers(const making *m) {
    planner *p = m->p;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const stage_group g = default_alone(&i);
        if (!plan_inlined(p, i) && default_rows_map(p, &g) != TENSOR_NO_VAL &&
            !default_streams(p, &g))
            return true;
    }
    return false;
}

// Rows have nearly as many entries each.
static void guard_alike(making *m, tensor_val map, int64_t times) {
    const default_quantity deviation = default_statistic(SZ_STD_PREIMAGE, map);
    default_guard(m, true,
                  default_where(m, default_times(deviation, times), SZ_LE,
                                default_statistic(SZ_AVG_PREIMAGE, map)));
}

// A block is there for each row, or not.
static void guard_blocks(making *m, tensor_val map, bool there) {
    default_guard(
        m, true,
        default_where(m, rows_of(m, map), there ? SZ_LE : SZ_GT, default_fixed(DEFAULT_BLOCKS)));
}

// Rows of which each has a block are few, or few of all: those that find no room wait for others.
static void guard_at_once(making *m, tensor_val map) {
    guard_blocks(m, map, true);
    default_guard(m, true,
                  default_either(m,
                                 default_where(m, default_statistic(SZ_AVG_PREIMAGE, map), SZ_LT,
                                               default_fixed(DEFAULT_AT_ONCE_HEAVY)),
                                 default_where(m, rows_of(m, map), SZ_LE,
                                               default_fixed(DEFAULT_AT_ONCE_FEW))));
}

static void guard_short(making *m, tensor_val map) { guard_entries(m, map, true, DEFAULT_FEW); }

// Of so many entries that whoever has the longest row is not what all wait for.
static void guard_even(making *m, tensor_val map) {
    default_quantity all = entries_of(m, map);
    all.plus = DEFAULT_EVEN_SPARE;
    guard_alike(m, map, m->wide ? DEFAULT_ALIKE_WIDE : DEFAULT_ALIKE);
    default_guard(
        m, true,
        default_where(m, default_times(default_statistic(SZ_MAX_PREIMAGE, map), DEFAULT_EVEN_SHARE),
                      SZ_LE, all));
}

static void guard_thin(making *m, tensor_val map) {
    guard_entries(m, map, false, DEFAULT_WALKED_THIN_LEAST);
    guard_average(m, map, true, DEFAULT_WALKED_THIN);
}

// A row of so few parts that whoever combines them is not what all wait for.
static void guard_parts(making *m, tensor_val map) {
    default_guard(m, true, default_longest(m, map, DEFAULT_PARTS * m->limit.part));
}

// Rows that are all alike, and about as long as a part or a little longer, would be cut, many of
// them: then they are better whole. Not those of the two maps that a gradient walks by
// (bench/RECORD.md).
static void guard_uneven(making *m, tensor_val map) {
    const int64_t part = m->limit.part,
                  whole = part - part / 4;   // of the average: few are longer than a part then
    if (m->walked.len > 1) return;
    default_guard(m, true,
                  default_either(m,
                                 default_where(m, default_statistic(SZ_MAX_PREIMAGE, map), SZ_GT,
                                               default_fixed(2 * part)),
                                 default_where(m, default_statistic(SZ_AVG_PREIMAGE, map), SZ_LT,
                                               default_fixed(whole))));
}

// ---- Windows ------------------------------------------------------------------------------------
// Counting slots costs more than other statistics: it comes when those hold.
static void guard_windows(making *m) {
    for (uint32_t i = 0; i < m->dense.windows.len; i++) {
        const default_dense_windows *d = &m->dense.windows.data[i];
        const default_quantity density = {
            .of = {SZ_DENSITY, d->map, ((int64_t)DEFAULT_WINDOW << 32) + d->source}};
        guard_entries(m, d->map, false, d->least);
        if (d->entries)
            default_guard(m, false,
                          default_where(m, default_statistic(SZ_AVG_PREIMAGE, d->map), SZ_GE,
                                        default_fixed(d->entries)));
        default_guard(m, false, default_where(m, density, SZ_GE, default_fixed(d->density)));
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
    const tensor_val_info *map = &m->p->op->vals.data[m->tiled];
    const default_quantity full = {.of = {SZ_FILL, m->tiled, DEFAULT_TILE_FULL}};
    const program_guard sorted = {.kind = GUARD_HOLDS,
                                  .text = arena_printf(m->p->arena, "sorted(%s)", map->name)};
    guard_entries(m, m->tiled, false, DEFAULT_TILE_POINTS);
    default_guard(m, true, default_where(m, full, SZ_GE, default_fixed(DEFAULT_TILE_SHARE)));
    if (map->facts & FACT_SORTED && map->sorted_by == TENSOR_NO_VAL) return;
    default_guard(m, false, sorted);
    VEC_PUSH(m->p->arena, &m->p->facts->guards.data[m->p->facts->guards.len - 1].holds,
             ((size_token){SZ_SORTED, m->tiled, 0}));
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
    const struct {
        bool holds;
        void (*guard)(making *m, tensor_val map);
    } all[] = {{rows == ROWS_WALKED_AT_ONCE, guard_at_once},
               {rows == ROWS_WALKED_EVEN, guard_even},
               {rows == ROWS_WALKED_SHORT, guard_short},
               {rows == ROWS_WALKED_THIN, guard_thin},
               {plan_rows_has(rows, ROWS_ARE_IN_PARTS), guard_parts},
               {plan_rows_has(rows, ROWS_ARE_UNEVEN), guard_uneven}};
    default_guards(m);
    for (uint32_t k = 0; k < COUNT_OF(all); k++)
        for (uint32_t i = 0; i < m->walked.len && all[k].holds; i++)
            all[k].guard(m, m->walked.data[i]);
    if (plan_rows_has(rows, ROWS_ARE_WINDOWED)) guard_windows(m);
    if (spares) guard_kept(m);
    if (m->tiled != TENSOR_NO_VAL) guard_tiled(m);
}

// Of some map that was walked: where no row is long, rows that are alike are the faster version.
void default_suppose_long(making *m) {
    program_guard any = {.kind = GUARD_HOLDS, .text = ""};
    for (uint32_t i = 0; i < m->walked.len; i++) {
        const program_guard one = default_where(
            m, default_statistic(SZ_MAX_PREIMAGE, m->walked.data[i]), SZ_GT,
            default_fixed(DEFAULT_HEAVY));
        any = i ? default_either(m, any, one) : one;
    }
    default_guard(m, true, any);
}
