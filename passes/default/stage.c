// How the default schedule deals out the stages of a kernel. An inner axis that no map leads to
// (features, heads) goes to lanes and vectors, what is reduced to the lanes left over, rows to
// groups and blocks. Stages that share the loops of the kernel are dealt out alike.
#include "default/across.h"
#include "default/default.h"
#include "default/contraction.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "axes/axes.h"

// Measured on an H200 over skewed, dense and batched graphs (bench/RECORD.md).
enum {
    WARP = 32,
    ROW_LANES = 8,            // that share a row: most rows are short
    GATHER_LANES = 4,         // of rows of a sector at most that are gathered, of few entries
    STREAM_LANES = 4,         // of narrow rows that lie next to each other
    LONG_STREAM_LANES = 16,   // of those of many entries, half of them of the narrowest
    // that share what a dense axis is reduced to: more of them shuffle more
    DOT_LANES = 8,
    DOT_REGISTERS = 2,   // vectors of it that a lane has
    DOT_POINTS = 128,    // of a block
    WIDE_ROW = 4,        // lanes that read 16 bytes each: two sectors
    PAIRED = 8,          // lanes that rows of 64 bytes leave: two of them share a row's entries
    HEADS_TYPICAL = 8,   // where their number is not known
    HEADS = 2,           // of a lane that reduces for them
    MANY_HEADS = 16      // a dense axis between rows and features that lanes may cover
};

// ---- Extents ------------------------------------------------------------------------------------
int64_t default_extent(const planner *p, tensor_var v) {
    const tensor_space_info *s = &p->op->spaces.data[p->op->vars.data[v].space];
    return s->kind == SPACE_CONST ? s->size : 0;
}

// Fewer than the points of `of`: dense, or what maps lead to from those alone, as to classes of
// nodes.
bool default_few(const planner *p, tensor_var v, tensor_var of) {
    tensor_space s = p->op->vars.data[v].space, from = p->op->vars.data[of].space;
    for (tensor_val x = 0; x < p->op->vals.len; x++) {
        const tensor_val_info *i = &p->op->vals.data[x];
        if (i->type != DT_INDEX || i->role == VAL_PREPARED) continue;
        if (i->rank && i->axes[0] == s) return false;
        if (i->into == s && (i->rank != 1 || i->axes[0] != from || from == s)) return false;
    }
    return true;
}

typedef struct {
    const planner *p;
    tensor_var v;
    uint32_t bytes;   // of the widest access that ends on v
    bool last;
} widest;

static void see(widest *w, tensor_val val, const tensor_expr *index, uint32_t rank) {
    if (!rank) return;
    const tensor_node *n = tensor_node_at(w->p->op, index[rank - 1]);
    if (n->op != TENSOR_VAR_OP || (tensor_var)n->imm.i != w->v) return;
    const tensor_val_info *i = &w->p->op->vals.data[val];
    uint32_t bytes = i->type == DT_INDEX ? w->p->facts->index_bits / 8 : ir_dtype_bytes(i->type);
    w->last = true;
    if (bytes > w->bytes) w->bytes = bytes;
}

static bool see_load(void *user, const tensor_node *load) {
    see(user, (tensor_val)load->imm.i, load->args, load->nargs);
    return true;
}

static widest widest_access(const planner *p, const tensor_stage *st, tensor_var v) {
    widest w = {p, v, 0, false};
    plan_loads(p, st, see_load, &w);
    for (uint32_t t = 0; t < st->ntargets; t++)
        see(&w, st->targets[t].val, st->targets[t].index, st->targets[t].rank);
    return w;
}

int64_t default_entry_bytes(const making *m, const tensor_stage *st) {
    tensor_var *left = ARENA_ARRAY(m->p->arena, tensor_var, st->nleft + 1);
    uint32_t n = plan_left(m->p, st, left);
    return n > 1 ? default_bytes_along(m, st, left[n - 1]) : 4;
}

int64_t default_bytes_along(const making *m, const tensor_stage *st, tensor_var v) {
    widest w = {m->p, v, 0, false};
    plan_loads(m->p, st, see_load, &w);
    return w.last ? w.bytes : 4;
}

int64_t default_row_bytes(const making *m, const tensor_stage *st) {
    tensor_var *left = ARENA_ARRAY(m->p->arena, tensor_var, st->nleft + 1);
    uint32_t n = plan_left(m->p, st, left);
    int64_t bytes = default_entry_bytes(m, st);
    for (uint32_t i = 1; i < n && bytes <= 4096; i++) bytes *= default_extent(m->p, left[i]);
    return bytes;
}

// ---- One axis -----------------------------------------------------------------------------------
// in one round
static int64_t share_points(axis_share s) { return s.vector * s.lanes * s.registers; }

static int64_t power_below(int64_t n) {
    int64_t p = 1;
    while (p * 2 <= n) p *= 2;
    return p;
}

int64_t default_power_above(int64_t n) {
    int64_t p = power_below(n);
    return p < n ? p * 2 : p;
}

void default_suppose(making *m, tensor_space s) {
    for (uint32_t i = 0; i < m->supposed.len; i++)
        if (m->supposed.data[i] == s) return;
    VEC_PUSH(m->p->arena, &m->supposed, s);
}

static int64_t round_up(int64_t n, int64_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

static bool is_last(const planner *p, const tensor_stage *st, tensor_var v) {
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    uint32_t n = plan_left(p, st, left);
    return n && left[n - 1] == v;
}

// Rows of what is given lie inside the space: heads, of which there are few.
static bool has_rows_inside(const planner *p, tensor_space s) {
    bool inside = false;
    for (tensor_val x = 0; x < p->op->nparams; x++)
        for (uint32_t a = 1; a + 1 < p->op->vals.data[x].rank; a++)
            inside |= p->op->vals.data[x].axes[a] == s;
    return inside;
}

// Where vectors may begin anywhere, those of any extent are padded: all of it at once, or in turns
// of as many vectors each. Vectors wider than a register are halved where that leaves less past the
// end.
static axis_share padded_share(making *m, tensor_var v, int64_t widest_vector, uint32_t bytes) {
    int64_t extent = default_extent(m->p, v), most;
    axis_share s = {.lanes = 1, .vector = widest_vector};
    bool heads = !extent && has_rows_inside(m->p, m->p->op->vars.data[v].space);
    if (!extent && !heads) default_suppose(m, m->p->op->vars.data[v].space);
    if (!extent) extent = heads ? HEADS_TYPICAL : m->class->typical;
    while (s.vector > 1 && s.vector / 2 >= extent) s.vector /= 2;
    while (s.vector * bytes > m->p->machine->register_bytes &&
           round_up(extent, s.vector / 2) < round_up(extent, s.vector))
        s.vector /= 2;
    int64_t vectors = round_up(extent, s.vector) / s.vector;
    most = m->p->machine->points / s.vector;
    int64_t turns = (vectors + most - 1) / most;
    s.registers = (vectors + turns - 1) / turns;
    return s;
}

// Of an axis of `extent` points (0: not known, then as the class assumes), for at most `lanes`
// lanes. Stages that share a kernel have the widest numbers of all of them along their last index,
// so that they share it alike.
axis_share default_share_axis(making *m, const tensor_stage *st, tensor_var v, int64_t lanes) {
    widest w = widest_access(m->p, st, v);
    if (w.last && w.bytes < m->hand.widest && is_last(m->p, st, v)) w.bytes = m->hand.widest;
    int64_t extent = default_extent(m->p, v),
            widest_vector = w.last ? m->p->machine->vector_bytes / w.bytes : 1;
    axis_share s = {1, 1, 1};
    if (widest_vector > 16) widest_vector = 16;
    if (!m->p->machine->aligned) return padded_share(m, v, widest_vector, w.bytes);
    int64_t multiple = extent ? extent : m->class->multiple;
    if (!extent) default_suppose(m, m->p->op->vars.data[v].space);
    if (!extent) extent = m->class->typical;
    while (widest_vector > 1 && (multiple % widest_vector || widest_vector > extent))
        widest_vector /= 2;
    s.vector = widest_vector;
    s.lanes = default_power_above((extent + s.vector - 1) / s.vector);
    if (s.lanes > lanes) s.lanes = lanes;
    int64_t rounds = extent / (s.lanes * s.vector), most = m->p->machine->points / s.vector;
    s.registers = rounds < 1 ? 1 : rounds > most ? most : power_below(rounds);
    if (is_last(m->p, st, v)) default_shorten(m, &s, lanes);
    return s;
}

static void fill_pad(making *m, const tensor_stage *st, tensor_var v, axis_share s) {
    if (!m->p->machine->aligned && s.vector > 1)
        default_fill(m, st, SCHEDULE_PAD, v, share_points(s), NULL);
}

void default_fill_share(making *m, const tensor_stage *st, tensor_var v, axis_share s) {
    default_fill(m, st, SCHEDULE_LANES, v, s.lanes, NULL);
    default_fill(m, st, SCHEDULE_VECTOR, v, s.vector, NULL);
    default_fill(m, st, SCHEDULE_REGISTERS, v, s.registers, "strided");
    fill_pad(m, st, v, s);
}

// ---- Kernels ------------------------------------------------------------------------------------
bool default_one_by_one(const planner *p, const tensor_stage *st) {
    return st->reducer == TENSOR_NO_REDUCER || !p->op->reducers.data[st->reducer].commutative;
}

bool default_reduces_dense(const planner *p, const tensor_stage *st) {
    if (default_one_by_one(p, st) || st->nbound != 1) return false;
    return plan_dense(p, st->bound[0]) || (st->nleft && default_few(p, st->bound[0], st->left[0]));
}

// Is v the last index of something the stage loads?
static bool loaded_along(const planner *p, const tensor_stage *st, tensor_var v) {
    widest w = {p, v, 0, false};
    plan_loads(p, st, see_load, &w);
    return w.last;
}

// Each point of v has what is reduced along memory; what ends on v is the same for all of it.
static bool runs_along_bound(const planner *p, const tensor_stage *st, tensor_var v) {
    return plan_ends_on(p, st, st->bound[0], v) && !plan_ends_on(p, st, v, st->bound[0]);
}

// Of all points of an index, whatever maps say of them, to a few results.
static bool sums_all(const planner *p, const tensor_stage *st, const tensor_var *left, uint32_t n) {
    if (default_one_by_one(p, st) || st->nbound != 1 || st->nkeys) return false;
    for (uint32_t i = 0; i < n; i++)
        if (!default_few(p, left[i], st->bound[0])) return false;
    return true;
}

// Sums of columns: memory runs along the one left-hand index, not along what is reduced.
bool default_sums_columns(const planner *p, const tensor_stage *st, const tensor_var *left,
                          uint32_t n) {
    return n == 1 && sums_all(p, st, left, n) &&
           plan_ends_on(p, st, left[0], st->bound[0]) > plan_ends_on(p, st, st->bound[0], left[0]);
}

// Sums of matrices over the points of a graph, such as the gradient of a layer's weights.
bool default_sums_matrices(const planner *p, const tensor_stage *st, const tensor_var *left,
                           uint32_t n) {
    return n > 1 && sums_all(p, st, left, n) && !plan_dense(p, st->bound[0]);
}

// The innermost left-hand axis that lanes and vectors run along. Where a dense axis is reduced and
// the left-hand one is only stored along, memory runs along what is reduced.
bool default_has_features(const planner *p, const tensor_stage *st, const tensor_var *left,
                          uint32_t n, bool deepest) {
    if (default_sums_columns(p, st, left, n) || default_sums_matrices(p, st, left, n)) return true;
    if (n < 2 || !deepest || !default_few(p, left[n - 1], left[0])) return false;
    return !default_reduces_dense(p, st) ||
           (loaded_along(p, st, left[n - 1]) && !runs_along_bound(p, st, left[n - 1]));
}

bool default_lanes_along(const making *m, const tensor_stage *st, const tensor_var *left,
                         uint32_t n, bool deepest) {
    bool along = m->hand.along && n > 1 && deepest && default_few(m->p, left[n - 1], left[0]);
    if (m->hand.dots && deepest && default_reduces_dense(m->p, st)) return false;
    return along || default_has_features(m->p, st, left, n, deepest);
}

// What a dense axis is reduced to for each of a few heads, whose values lie next to each other:
// lanes take them, `each` or one at a time. An axis of which `most` lanes would have many vectors,
// or several rounds, has more.
static dot_share fill_dot(making *m, const tensor_stage *st, const tensor_var *left, uint32_t n,
                          int64_t most, int64_t each) {
    axis_share s = default_share_axis(m, st, st->bound[0], most);
    while (
        most < m->p->machine->lanes &&
        (default_extent(m->p, st->bound[0]) >= 2 * share_points(s) || s.registers > DOT_REGISTERS))
        s = default_share_axis(m, st, st->bound[0], most *= 2);
    dot_share d = {s.lanes, 1};
    int64_t lanes = m->p->machine->lanes / s.lanes, room = DEFAULT_HELD / (s.vector * s.registers);
    default_fill_share(m, st, st->bound[0], s);
    for (uint32_t i = n; i-- > 1;) {
        int64_t extent = default_extent(m->p, left[i]),
                hold = room < each || extent % each ? 1 : each, take = lanes;
        if (extent < 2 || extent > MANY_HEADS || !default_few(m->p, left[i], left[0])) continue;
        while (extent / hold % take) take /= 2;
        default_fill(m, st, SCHEDULE_LANES, left[i], take, NULL);
        default_fill(m, st, SCHEDULE_REGISTERS, left[i], hold, s.lanes > 1 ? "strided" : NULL);
        d.heads *= take;
        lanes /= take, room /= hold;
    }
    return d;
}

// All of it at once, as far as lanes and registers go; or by all of the lanes, however few points
// there are.
void default_dot_share(making *m, const tensor_stage *st, int64_t lanes, bool all) {
    axis_share s = default_share_axis(m, st, st->bound[0], lanes);
    default_shorten(m, &s, lanes);
    for (; all && s.lanes < lanes; s.lanes *= 2)
        if (s.vector > 1) s.vector /= 2;
    default_fill_share(m, st, st->bound[0], s);
}

dot_share default_dot(making *m, const tensor_stage *st, const tensor_var *left, uint32_t n) {
    return fill_dot(m, st, left, n, m->p->machine->lanes, 1);
}

// Heads and the like, between rows and features: few, of known extent, one a lane.
static int64_t fill_heads(making *m, const tensor_stage *st, const tensor_var *left, uint32_t n,
                          bool features, int64_t lanes) {
    for (uint32_t i = 1; i + features < n; i++) {
        int64_t extent = default_extent(m->p, left[i]),
                take = default_power_above(extent ? extent : 1);
        if (extent < 2 || extent > MANY_HEADS || take > lanes ||
            !default_few(m->p, left[i], left[0]))
            continue;
        default_fill(m, st, SCHEDULE_LANES, left[i], take, NULL);
        lanes /= take;
    }
    return lanes;
}

// Of these lanes, those that share a row at most, where some should be left for others.
static int64_t row_lanes(const making *m, const tensor_stage *st, int64_t lanes) {
    bool few = m->rows == ROWS_FEW;
    if (m->owner == ROW_OF_LANES && m->owners) return m->owners;
    if (!m->hand.narrow) return few && m->hand.sums && !m->hand.streams ? GATHER_LANES : ROW_LANES;
    if (few) return lanes < WARP ? ROW_LANES : STREAM_LANES;
    int64_t most = m->rows == ROWS_BRIEF ? ROW_LANES : LONG_STREAM_LANES;
    return default_row_bytes(m, st) < DEFAULT_NARROW_ROUND ? most / 2 : most;
}

static int64_t fill_bound(making *m, const tensor_stage *st, int64_t lanes, bool vectors,
                          bool spare) {
    tensor_var b = st->bound[0];
    int64_t few = row_lanes(m, st, lanes);
    axis_share s = {1, spare && lanes > few ? few : lanes, 1};
    if (default_reduces_dense(m->p, st))
        s = default_share_axis(m, st, b, vectors ? lanes : lanes < DOT_LANES ? lanes : DOT_LANES);
    if (vectors) s.vector = s.registers = 1;   // one index at a time is a vector
    default_fill_share(m, st, b, s);
    return lanes / s.lanes;
}

// A lane has all entries of its row; what walks a row several times, and holds them, has half.
static int64_t fill_short(making *m, const tensor_stage *st, int64_t lanes) {
    if (m->hand.sums || m->rows == ROWS_SHORTEST || lanes < 2) return lanes;
    default_fill(m, st, SCHEDULE_LANES, st->bound[0], 2, NULL);
    return lanes / 2;
}

// A dense axis that each entry of a row reduces, along which memory runs: lanes take it as they
// take features.
static int64_t fill_inside(making *m, const tensor_stage *st, int64_t lanes, bool *vectors) {
    for (uint32_t i = st->nbound; i-- > 1;) {
        if (!plan_dense(m->p, st->bound[i]) || !loaded_along(m->p, st, st->bound[i])) continue;
        axis_share s = default_share_axis(m, st, st->bound[i], lanes);
        if (*vectors) s.vector = s.registers = 1;
        default_fill_share(m, st, st->bound[i], s);
        *vectors |= s.vector > 1;
        return lanes / s.lanes;
    }
    return lanes;
}

// The lanes that are left for rows; spare: some should be.
int64_t default_stage(making *m, const tensor_stage *st, bool deepest, bool spare) {
    planner *p = m->p;
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    uint32_t n = plan_left(p, st, left);
    bool vectors = false, features = default_lanes_along(m, st, left, n, deepest),
         reduces = !default_one_by_one(p, st);
    bool rows = st->reducer != TENSOR_NO_REDUCER && !plan_dense(p, st->bound[0]);
    bool dots = default_reduces_dense(p, st) && !features;
    dot_share dot = dots ? fill_dot(m, st, left, n, DOT_LANES, HEADS) : (dot_share){0};
    int64_t lanes = dots ? WARP / (dot.lanes * dot.heads)
                         : fill_heads(m, st, left, n, features, WARP);
    bool matrices = default_sums_matrices(p, st, left, n),
         columns = default_sums_columns(p, st, left, n) || matrices;
    default_parts(m, st, left, n);
    if (columns) default_fill(m, st, SCHEDULE_GROUPS, st->bound[0], default_groups(m->p), NULL);
    if (n && m->owner != ROW_OF_BLOCK && !columns)
        default_fill(m, st, SCHEDULE_GROUPS, left[0], m->groups, NULL);
    if (m->owner == ROW_OF_BLOCK && rows && reduces)
        default_fill(m, st, SCHEDULE_GROUPS, st->bound[0], m->owners, NULL);
    if (features) {
        axis_share s = default_share_axis(m, st, left[n - 1], lanes);
        default_fill_share(m, st, left[n - 1], s);
        lanes /= s.lanes;
        vectors = s.vector > 1;
    }
    if (columns)
        default_fill(m, st, SCHEDULE_UNROLL, st->bound[0],
                     default_unroll(m, st, 4, DEFAULT_LONGEST), NULL);
    if (matrices) lanes = default_matrix_rows(m, st, left, n, lanes);
    if (rows && reduces) lanes = fill_inside(m, st, lanes, &vectors);
    if (rows) default_rounds(m, st, lanes);
    // Rows side by side are of like length: none waits for the others. Of narrow ones lanes would
    // read apart. Of many entries, lanes of two rows, or of four of 16 bits, would wait for each
    // other's.
    bool pairs = lanes <= 2 || default_entry_bytes(m, st) < 4;
    bool alike = m->hand.sorted && vectors && lanes <= WARP / WIDE_ROW &&
                 (!pairs || m->rows == ROWS_FEW);
    if ((m->limit.entries || m->rows == ROWS_THIN) && rows && reduces)
        return fill_short(m, st, lanes);
    if (m->hand.sums && rows && vectors && lanes == PAIRED &&
        m->owner == ROW_OF_LANES) {   // requests are what is short
        default_fill(m, st, SCHEDULE_LANES, st->bound[0], 2, NULL);
        return lanes / 2;
    }
    if (reduces && !dots && lanes > 1 && !alike)
        lanes = fill_bound(m, st, lanes, vectors, spare && n && !columns);
    return lanes;
}

bool default_is_dot(const planner *p, const stage_group *g) {
    if (!default_reduces_dense(p, &p->op->stages.data[g->data[0]])) return false;
    for (uint32_t i = 1; i < g->len; i++)
        if (p->op->stages.data[g->data[i]].reducer != TENSOR_NO_REDUCER) return false;
    return true;
}

// The stage of the kernel whose points reduce a dense axis, UINT32_MAX: there is none.
static uint32_t dot_of(making *m, const stage_group *g, uint32_t depth) {
    const planner *p = m->p;
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, p->op->vars.len + 1);
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        uint32_t n = plan_left(p, st, left);
        if (n == depth && default_reduces_dense(p, st) &&
            !default_lanes_along(m, st, left, n, true))
            return g->data[i];
    }
    return UINT32_MAX;
}

// A walk of rows in the kernel has lanes along its features, and so has what shares its loops.
static bool walks_features(const planner *p, const stage_group *g, uint32_t depth) {
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, p->op->vars.len + 1);
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        uint32_t n = plan_left(p, st, left);
        if (n == depth && st->reducer != TENSOR_NO_REDUCER && !default_reduces_dense(p, st) &&
            default_has_features(p, st, left, n, true))
            return true;
    }
    return false;
}

// What only computes, beside a dot product, goes through the points as that does.
static bool goes_along(const planner *p, uint32_t dot, const tensor_stage *st, uint32_t depth) {
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    return dot != UINT32_MAX && st->reducer == TENSOR_NO_REDUCER && plan_left(p, st, left) == depth;
}

void default_along(making *m, const tensor_stage *dot, const tensor_stage *st) {
    static const schedule_verb verbs[] = {SCHEDULE_GROUPS, SCHEDULE_REGISTERS, SCHEDULE_LANES,
                                          SCHEDULE_VECTOR, SCHEDULE_UNROLL,    SCHEDULE_PAD};
    const planner *p = m->p;
    tensor_var *from = ARENA_ARRAY(p->arena, tensor_var, dot->nleft + 1),
               *to = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    uint32_t n = plan_left(p, dot, from);
    plan_left(p, st, to);
    for (uint32_t i = 0; i < n * (sizeof verbs / sizeof *verbs); i++) {
        const schedule_cell *c = schedule_find(m->s, dot->id, verbs[i / n],
                                               p->op->vars.data[from[i % n]].id);
        if (!c || c->empty) continue;
        schedule_fill(p->arena, m->s, default_move_cell(p, *c, st, to[i % n]));
    }
}

// Rows of all stages of a kernel are dealt out alike: they get the lanes that every one of them can
// spare.
static void fill_gpu_stages(making *m, const stage_group *g, uint32_t depth) {
    planner *p = m->p;
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, p->op->vars.len + 1);
    const uint32_t dot = dot_of(m, g, depth);
    int64_t rows = WARP;
    for (uint32_t pass = 0; pass < 2; pass++) {
        bool spare = m->owner == ROW_OF_LANES && rows > 1;
        for (uint32_t i = 0; i < g->len; i++) {
            const tensor_stage *st = &p->op->stages.data[g->data[i]];
            if (goes_along(p, dot, st, depth)) continue;
            int64_t left_over = default_stage(m, st, plan_left(p, st, left) == depth, spare);
            if (!pass && left_over < rows) rows = left_over;
        }
    }
    default_agree_on_heads(m, g, depth);
    default_level_rounds(m, g);
    for (uint32_t i = 0; i < g->len && m->owner == ROW_OF_LANES; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        uint32_t n = plan_left(p, st, left);
        if (!n || default_sums_columns(p, st, left, n) || default_sums_matrices(p, st, left, n) ||
            goes_along(p, dot, st, depth))
            continue;
        default_fill(m, st, SCHEDULE_LANES, left[0], rows, NULL);
        default_steps(m, g, st, left, n);
    }
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        if (goes_along(p, dot, st, depth)) default_along(m, &p->op->stages.data[dot], st);
    }
}

static void fill_host_stage(making *m, const tensor_stage *st, bool deepest) {
    planner *p = m->p;
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    uint32_t n = plan_left(p, st, left);
    default_parts(m, st, left, n);
    if (default_lanes_along(m, st, left, n, deepest))
        default_fill_share(m, st, left[n - 1], default_share_axis(m, st, left[n - 1], 1));
    else if (default_reduces_dense(p, st)) {
        axis_share s = default_share_axis(m, st, st->bound[0], 1);
        s.registers = 1;
        default_fill_share(m, st, st->bound[0], s);
    }
}

static void fill_host_stages(making *m, const stage_group *g, uint32_t depth) {
    const planner *p = m->p;
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, p->op->vars.len + 1);
    uint32_t dot = dot_of(m, g, depth);
    if (dot == UINT32_MAX) dot = default_columns_of(p, g);
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        if (goes_along(p, dot, st, depth)) default_along(m, &p->op->stages.data[dot], st);
        else fill_host_stage(m, st, plan_left(p, st, left) == depth);
    }
}

// ---- Blocks -------------------------------------------------------------------------------------
// Of a block whose points reduce a dense axis, `points` a turn: as many as take longer than
// starting it.
static int64_t turns(const making *m, int64_t points) {
    if (m->rows == ROWS_MANY_POINTS) return DEFAULT_TURNS;
    return m->rows == ROWS_FEW_POINTS || points >= DOT_POINTS ? 1 : DOT_POINTS / points;
}

// A block owns the rows its groups and lanes hold, or several rounds of them: all stages of the
// kernel say so.
static void fill_blocks(making *m, const stage_group *g) {
    planner *p = m->p;
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
        if (!plan_left(p, st, left)) continue;
        index_cut c = plan_cut(p, st, left[0], false);
        int64_t part = plan_or_one(c.vector) * plan_or_one(c.lanes) * plan_or_one(c.registers) *
                       plan_or_one(c.groups);
        int64_t rounds = p->machine->gpu ? plan_or_one(c.unroll) : p->machine->block_points;
        if (p->machine->gpu && default_is_dot(p, g)) rounds *= turns(m, part * rounds);
        default_fill(m, st, SCHEDULE_BLOCK, left[0], m->owner == ROW_OF_BLOCK ? 1 : part * rounds,
                     NULL);
    }
}

// ---- Without reductions -------------------------------------------------------------------------
// Lanes along a short last axis, or one whose extent may be anything, would idle: a thread a point,
// over all axes as one.
static bool flattens(making *m, const stage_group *g) {
    planner *p = m->p;
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, p->op->vars.len + 1);
    uint32_t n = plan_left(p, &p->op->stages.data[g->data[g->len - 1]], left);
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        if (st->reducer != TENSOR_NO_REDUCER || plan_left(p, st, left) != n) return false;
    }
    if (!p->machine->gpu || n < 2) return false;
    int64_t extent = default_extent(p, left[n - 1]);
    if (!default_few(p, left[n - 1], left[0])) return true;
    if (!extent) return m->class->multiple == 1 || m->class->to;
    axis_share s = default_share_axis(m, &p->op->stages.data[g->data[g->len - 1]], left[n - 1],
                                      WARP);
    return extent < WARP && s.lanes * s.vector != extent;
}

static void fill_flat(making *m, const tensor_stage *st, const tensor_var *left, uint32_t n) {
    schedule_value *v = ARENA_NEW(m->p->arena, schedule_value);
    *v = default_index_list(m->p, left, n);
    default_say(m, default_cell(SCHEDULE_FLAT, st), v, 1);
}

void default_points(making *m, const stage_group *g) {
    const planner *p = m->p;
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
        uint32_t n = plan_left(p, st, left);
        if (!n) continue;
        if (n > 1) fill_flat(m, st, left, n);
        default_fill(m, st, SCHEDULE_LANES, left[0], p->machine->gpu ? WARP : 1, NULL);
        default_fill(m, st, SCHEDULE_GROUPS, left[0], p->machine->gpu ? default_groups(p) : 1,
                     NULL);
        default_fill(m, st, SCHEDULE_BLOCK, left[0],
                     p->machine->gpu ? WARP * default_groups(p) : p->machine->block_points, NULL);
    }
}

// Bytes of an element along the last index of those stages that have all indices of the kernel.
static uint32_t widest_of(const planner *p, const stage_group *g, uint32_t depth) {
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, p->op->vars.len + 1);
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        uint32_t n = plan_left(p, st, left);
        widest w = n && n == depth ? widest_access(p, st, left[n - 1]) : (widest){0};
        if (w.last && w.bytes > bytes) bytes = w.bytes;
    }
    return bytes;
}

void default_stages(making *m, const stage_group *g) {
    planner *p = m->p;
    if (default_matrix(m, g) || default_outer_all(m, g)) return;
    if (flattens(m, g)) {
        default_points(m, g);
        return;
    }
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, p->op->vars.len + 1);
    uint32_t depth = plan_left(p, &p->op->stages.data[g->data[g->len - 1]], left);
    m->hand.along = walks_features(p, g, depth);
    m->hand.dots =
        dot_of(m, g, depth) !=
        UINT32_MAX;   // of which one has no features: all of them are dealt out like that
    m->hand.widest = widest_of(p, g, depth);
    m->hand.length = default_length(p, g, depth);
    if (!p->machine->gpu) fill_host_stages(m, g, depth);
    else if (!default_across(m, g)) fill_gpu_stages(m, g, depth);
    m->hand.along = m->hand.dots = false;
    m->hand.widest = 0;
    m->hand.length = 0;
    schedule *whole = p->s;
    default_nones(m);
    p->s = m->s;
    fill_blocks(m, g);
    p->s = whole;
}
