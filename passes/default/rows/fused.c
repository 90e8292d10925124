// One kernel by default: scores of edges that only the rows they belong to read stay in shared
// memory. A block owns a few rows; the version is for graphs whose rows fit, the others keep the
// scores in memory.
//     s[e, h] = sum{d} …
//     a[e, h] = softmax(s[e, h] by dst)
//     y[v, h, d] = sum{e : dst[e] == v} a[e, h] * …
//     →  fuse s, a, y at v;  keep s, a shared;  block v …
// What entries take from the reductions of their rows follows in the same kernel, where no row is
// long:
//     a[e, h] = softmax(s[e, h] by dst)   →  fuse a.max, a.sum, a at v
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/stages/stages.h"
#include "default/rows/rows.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <string.h>

enum {
    // Shared memory of a block that keeps scores. Up to so much, threads fill a multiprocessor
    // before memory does.
    SHARED_BYTES = 25344,
    MOST_BYTES = 69632,   // With more, three blocks no longer fit a multiprocessor.
    ROOM = 128,           // entries for which a row has room, at least
    LEAST_LANES = 4,      // that share a row of the fewest entries
    // A value of as many operations is kept where a further axis would compute it again.
    DEAR = 24
};

typedef struct {
    making *m;
    tensor_val map;
    tensor_space edges, rows;
    bool *kept;   // per stage: would be inlined, and is dear
} chain;

static bool over(const chain *c, uint32_t i, tensor_space s) {
    const tensor_stage *st = plan_stage(c->m->p, i);
    return st->loop == TENSOR_NO_LOOP && st->nleft &&
           c->m->p->op->vars.data[st->left[0]].space == s;
}

static tensor_val walked(const chain *c, uint32_t i) {
    stage_group g = {0};
    VEC_PUSH(c->m->p->arena, &g, i);
    return default_row_map(c->m->p, &g);
}

static bool in_rows(const chain *c, uint32_t i) {
    return !plan_inlined(c->m->p, i) && over(c, i, c->rows) && walked(c, i) == c->map;
}

static bool in_edges(const chain *c, uint32_t i) {
    return over(c, i, c->edges) && (!plan_inlined(c->m->p, i) || c->kept[i]);
}

// Rows of the map lie together, and every entry belongs to one.
static bool begin(chain *c, uint32_t row_stage) {
    const planner *p = c->m->p;
    c->map = plan_inlined(p, row_stage) ? TENSOR_NO_VAL : walked(c, row_stage);
    if (c->map == TENSOR_NO_VAL) return false;
    const tensor_val_info *i = &p->op->vals.data[c->map];
    c->edges = i->axes[0];
    c->rows = i->into;
    return i->role == VAL_MAP && i->facts & FACT_SORTED && i->sorted_by == TENSOR_NO_VAL &&
           !(i->facts & FACT_PARTIAL);
}

// What a kernel of its own would write and another read again, or what lanes along a further axis
// would all compute.
static bool has_scores(const chain *c) {
    const planner *p = c->m->p;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *st = plan_stage(c->m->p, i);
        if (c->kept[i]) return true;
        if (!in_edges(c, i) || p->op->vals.data[st->targets[0].val].role != VAL_STAGE) continue;
        for (uint32_t r = 0; r < p->op->stages.len; r++)
            if (in_rows(c, r) && plan_read_by(p, r, st->targets[0].val)) return true;
    }
    return false;
}

// A value that would be computed again at each point of an axis its reader has beyond it.
static bool is_dear(const chain *c, uint32_t i) {
    planner *p = c->m->p;
    const planner given = {.arena = p->arena,
                           .op = (tensor_op *)(uintptr_t)c->m->s->op};   // nothing is inlined there
    const tensor_stage *st = plan_stage(c->m->p, i);
    uint8_t *seen = arena_alloc(p->arena, p->op->exprs.len + 1);
    memset(seen, 0, p->op->exprs.len + 1);
    if (!plan_inlined(p, i) || !over(c, i, c->edges) ||
        plan_operations(p, st->body[0], seen) < DEAR)
        return false;
    for (uint32_t r = 0; r < p->op->stages.len; r++)
        if (in_rows(c, r) && plan_stage(c->m->p, r)->nleft > st->nleft &&
            plan_read_by(&given, r, st->targets[0].val))
            return true;
    return false;
}

// Of what is kept for each edge; 0: an extent is not known.
static int64_t bytes_of(const chain *c) {
    const tensor_op *op = c->m->p->op;
    int64_t sum = 0;
    for (uint32_t i = 0; i < op->stages.len; i++) {
        if (!in_edges(c, i)) continue;
        const tensor_val_info *v = &op->vals.data[plan_stage(c->m->p, i)->targets[0].val];
        int64_t bytes = ir_dtype_bytes(v->type);
        for (uint32_t a = 1; a < v->rank; a++) {
            const tensor_space_info *s = &op->spaces.data[v->axes[a]];
            if (s->kind != SPACE_CONST || s->size > SHARED_BYTES) return 0;
            bytes *= s->size;
        }
        sum += bytes;
    }
    return sum;
}

// Entries a row may have; 0: too few.
static int64_t room_for(int64_t rows, int64_t bytes) {
    int64_t room = bytes ? SHARED_BYTES / (rows * bytes) : 0;
    if (room < ROOM) room = ROOM;
    return bytes && rows * room * bytes <= MOST_BYTES ? room : 0;
}

// ---- Cells --------------------------------------------------------------------------------------
static void fill_list(chain *c, schedule_verb verb, const stage_group *g, schedule_value say) {
    const planner *p = c->m->p;
    schedule_value *v = ARENA_ARRAY(p->arena, schedule_value, 2);
    v[0] = default_stage_list(p, g);
    v[1] = say;
    for (uint32_t i = 0; i < g->len; i++)
        default_say(c->m, default_stage_cell(p, verb, plan_stage(p, g->data[i])), v, 2);
}

static void fill_stage(chain *c, uint32_t i, uint32_t depth) {
    making *m = c->m;
    const tensor_stage *st = plan_stage(c->m->p, i);
    bool edges = in_edges(c, i);
    int64_t rows = m->groups;   // more rounds of them would wait for one another at each barrier
    if (edges) m->groups = 0;
    int64_t lanes = default_stage(m, st, !edges && st->nleft == depth, false);
    if (edges) default_fill(m, st, SCHEDULE_LANES, st->left[0], lanes, NULL);
    else default_fill(m, st, SCHEDULE_BLOCK, st->left[0], rows, NULL);
    m->groups = rows;
}

// The last one of the deepest stages of rows.
static uint32_t deepest_of_rows(const chain *c) {
    uint32_t deepest = UINT32_MAX;
    for (uint32_t i = 0; i < c->m->p->op->stages.len; i++)
        if (in_rows(c, i) && (deepest == UINT32_MAX ||
                              plan_stage(c->m->p, i)->nleft >= plan_stage(c->m->p, deepest)->nleft))
            deepest = i;
    return deepest;
}

// At the rows of the deepest, which others have as their outermost index.
static schedule_value at_rows(const chain *c, const stage_group *g, uint32_t deepest) {
    const planner *p = c->m->p;
    VEC(tensor_var) at = {0};
    VEC_PUSH(p->arena, &at, plan_stage(p, deepest)->left[0]);
    for (uint32_t i = 0; i < g->len; i++)
        if (in_rows(c, g->data[i])) VEC_PUSH(p->arena, &at, plan_stage(p, g->data[i])->left[0]);
    return default_at(p, at.data, at.len);
}

static void fill_chain(chain *c) {
    const planner *p = c->m->p;
    const uint32_t n = p->op->stages.len, deepest = deepest_of_rows(c);
    stage_group fused = {0}, kept = {0};
    for (uint32_t i = 0; i < n; i++) {
        if (!in_edges(c, i) && !in_rows(c, i)) continue;
        c->m->fused[i] = true;
        VEC_PUSH(p->arena, &fused, i);
        if (in_edges(c, i)) VEC_PUSH(p->arena, &kept, i);
        fill_stage(c, i, plan_stage(p, deepest)->nleft);
    }
    fill_list(c, SCHEDULE_FUSE, &fused, at_rows(c, &fused, deepest));
    fill_list(c, SCHEDULE_KEEP, &kept, default_word(SCHEDULE_PLACE_SHARED));
}

// ---- Followed rows ------------------------------------------------------------------------------
static bool follows(const chain *c, uint32_t i) {
    if (!in_edges(c, i)) return false;
    for (uint32_t r = 0; r < c->m->p->op->stages.len; r++)
        for (uint32_t t = 0; in_rows(c, r) && t < plan_stage(c->m->p, r)->ntargets; t++)
            if (plan_read_by(c->m->p, i, plan_stage(c->m->p, r)->targets[t].val)) return true;
    return false;
}

// The last stage's cells: of an index of the row its own, of the entries those of what the row
// walks.
static void deal_like(chain *c, uint32_t i, uint32_t row) {
    static const schedule_verb verbs[] = {SCHEDULE_LANES,  SCHEDULE_VECTOR,     SCHEDULE_REGISTERS,
                                          SCHEDULE_UNROLL, SCHEDULE_SPECIALIZE, SCHEDULE_GROUPS};
    const tensor_stage *st = plan_stage(c->m->p, i), *like = plan_stage(c->m->p, row);
    const planner *p = c->m->p;
    for (uint32_t k = 0; k < st->nleft; k++)
        for (uint32_t v = 0; v < sizeof verbs / sizeof *verbs; v++) {
            tensor_var from = k ? like->left[k] : like->bound[0];
            const schedule_cell *cell = schedule_find(c->m->s, like->id, verbs[v],
                                                      p->op->vars.data[from].id);
            if (!cell) continue;
            schedule_fill(p->arena, c->m->s, default_move_cell(p, *cell, st, st->left[k]));
        }
}

typedef struct {
    chain *c;
    stage_group rows;    // reductions of rows, one or several
    stage_group fused;   // those, and then stages of entries with the same further indices
    uint32_t last;       // of the rows
} followed;

static bool find_followed(chain *c, followed *f) {
    const planner *p = c->m->p;
    uint32_t n = p->op->stages.len;
    bool entries = false;
    *f = (followed){.c = c, .last = n};
    for (uint32_t i = 0; i < n; i++) {
        if (plan_inlined(p, i)) continue;
        if (in_rows(c, i) && !entries) VEC_PUSH(p->arena, &f->rows, f->last = i);
        else if (f->rows.len && follows(c, i) &&
                 plan_stage(c->m->p, i)->nleft == plan_stage(c->m->p, f->last)->nleft)
            entries = true;
        else if (f->rows.len) return false;
        if (f->rows.len) VEC_PUSH(p->arena, &f->fused, i);
    }
    return entries;
}

// Threads that walk a row.
static int64_t walkers(const chain *c, const tensor_stage *st) {
    index_cut e = default_cut_of(c->m, st, st->bound[0], true);
    return plan_or_one(e.lanes) * plan_or_one(e.groups);
}

// Rows of so many steps of their threads have their loops written out, as far as registers go.
// Longer ones go round. The entries of the longest that do not; 0: all go round.
static int64_t fill_specialize(chain *c, const tensor_stage *st, tensor_var v, int64_t threads,
                               int64_t held, const int64_t *steps) {
    enum { HELD_WHOLE = 32 };   // elements of a thread
    int64_t sizes[LOOP_MAX_SIZES];
    uint32_t n = 0;
    while (n < LOOP_MAX_SIZES && steps[n] && steps[n] * held <= HELD_WHOLE)
        sizes[n] = steps[n] * threads, n++;
    c->m->unfit |= c->m->limit.entries && !n;
    default_specialize(c->m, st, v, sizes, n);
    return n ? sizes[n - 1] : 0;
}

static int64_t deal_followed(const followed *f, const int64_t *steps) {
    chain *c = f->c;
    int64_t whole = 0;
    const tensor_stage *last = plan_stage(c->m->p, f->last);
    int64_t held = default_held(c->m, last), threads = walkers(c, last);
    for (uint32_t i = 0; i < f->rows.len && steps; i++) {
        const tensor_stage *st = plan_stage(c->m->p, f->rows.data[i]);
        whole = fill_specialize(c, st, st->bound[0], threads, held, steps);
    }
    for (uint32_t i = f->last + 1; i < c->m->p->op->stages.len; i++)
        if (in_edges(c, i)) deal_like(c, i, f->last);
    return whole;
}

static void fuse_followed(followed *f) {
    making *m = f->c->m;
    for (uint32_t i = 0; i < f->rows.len; i++) m->fused[f->rows.data[i]] = true;
    for (uint32_t i = f->last + 1; i < m->p->op->stages.len; i++) m->fused[i] |= in_edges(f->c, i);
    VEC_PUSH(m->p->arena, &m->walked, f->c->map);
    fill_list(f->c, SCHEDULE_FUSE, &f->fused, at_rows(f->c, &f->fused, f->last));
}

static bool fill_followed(chain *c) {
    static const int64_t even[] = {1, 8, 0}, shortest[] = {DEFAULT_SHORTEST, 0},
                         brief[] = {4, 8, 0};
    plan_rows rows = c->m->rows;
    followed f;
    if (!find_followed(c, &f)) return false;
    default_stages(c->m, &f.rows);
    deal_followed(&f, rows == ROWS_SHORTEST ? shortest : rows == ROWS_SHORT ? brief : even);
    fuse_followed(&f);
    return true;
}

static bool follow_first(chain *c) {
    for (uint32_t first = 0; first < c->m->p->op->stages.len; first++)
        if (begin(c, first)) return fill_followed(c);
    return false;
}

bool default_follow_rows(making *m) {
    uint32_t n = m->p->op->stages.len;
    chain c = {.m = m, .kept = ARENA_ARRAY(m->p->arena, bool, n + 1)};
    m->fused = ARENA_ARRAY(m->p->arena, bool, n + 1);
    if (m->rows == ROWS_FUSED_AT_ONCE) m->owner = ROW_OF_WARP;
    bool follows = follow_first(&c);
    m->owner = ROW_OF_LANES;
    if (follows && m->limit.entries) default_suppose_longest(m, c.map, m->limit.entries);
    return follows;
}

// Of few entries two classes of rows, for each is a kernel; of many, six (bench/RECORD.md). What is
// made for extents that are less likely is not worth as much code.
static bool two_classes(const making *m) {
    return m->rows == ROWS_FEW || m->class != plan_class_at(m->p->machine, 0);
}

typedef struct {
    const followed *f;
    default_class *classes;
    uint32_t n;
} followed_classes;

// Loops over rows are written out, but for the longest: each size of a class is code that has to be
// made. Of many entries a class that writes out longer rows than the one before has no others.
static void class_followed(void *user, uint32_t number) {
    enum { MOST = LOOP_MAX_SIZES };
    static const int64_t few[2][MOST] = {{1, 8}},
                         many[6][MOST] = {{1, 2, 3, 4}, {2, 3, 4, 6, 8}, {3, 4, 6, 8},
                                          {4, 6, 8},    {6, 8},          {5, 6, 8, 12, 16}};
    const followed_classes *all = user;
    bool two = two_classes(all->f->c->m);
    const int64_t *steps = two ? few[number] : many[number];
    int64_t whole = deal_followed(all->f, *steps ? steps : NULL);
    int64_t before = number ? all->classes[number - 1].limit : 0;
    if (!two && number + 1 < all->n && whole >= before) all->classes[number].limit = whole + 1;
    else if (number + 1 < all->n && all->classes[number].limit <= before)
        all->classes[number].limit = 2 * before;
}

void default_follow(making *m) {
    uint32_t n = m->p->op->stages.len;
    chain c = {.m = m, .kept = ARENA_ARRAY(m->p->arena, bool, n + 1)};
    followed f;
    int64_t groups = default_groups(m->p);
    m->fused = ARENA_ARRAY(m->p->arena, bool, n + 1);
    uint32_t first = 0;
    while (first < n && !begin(&c, first)) first++;
    if (first == n || !find_followed(&c, &f)) return;
    default_class few[] = {{"light", ROW_OF_LANES, 0, DEFAULT_HEAVY},
                           {"heavy", ROW_OF_BLOCK, default_heavy_groups(m->p), 0}},
                  many[] = {{"lightest", ROW_OF_LANES, LEAST_LANES, DEFAULT_HEAVY / 16},
                            {"light", ROW_OF_LANES, 0, DEFAULT_HEAVY / 4},
                            {"middle", ROW_OF_WARP, 0, DEFAULT_HEAVY},
                            {"heavy", ROW_OF_BLOCK, (groups + 1) / 2, DEFAULT_HEAVIEST / 2},
                            {"heavier", ROW_OF_BLOCK, groups, DEFAULT_HEAVIEST},
                            {"heaviest", ROW_OF_BLOCK, 2 * groups, 0}};
    followed_classes all = two_classes(m)
                               ? (followed_classes){&f, few, sizeof few / sizeof *few}
                               : (followed_classes){&f, many, sizeof many / sizeof *many};
    const default_classes classes = {all.classes, all.n, !two_classes(m)};
    default_bucket(m, &f.rows, c.map, &classes, class_followed, &all);
    fuse_followed(&f);
    m->limit.cut = true;
}

typedef struct {
    const planner *p;
    tensor_var column;   // along which rows are wide
} row_reads;

static bool read_in_place(void *user, const tensor_node *load) {
    const row_reads *r = user;
    bool mapped = false, wide = false;
    for (uint32_t i = 0; i < load->nargs; i++) {
        const tensor_node *at = tensor_node_at(r->p->op, load->args[i]);
        mapped |= at->op == TENSOR_LOAD_OP;
        wide |= at->op == TENSOR_VAR_OP && at->imm.i == (int64_t)r->column;
    }
    return !mapped || !wide;
}

// A row of it moves more than its scores are: blocks of whole rows would gather one after the other
// (2026-11-30, versions beside each other).
static bool gathers(const chain *c, uint32_t row_stage) {
    const tensor_stage *st = plan_stage(c->m->p, row_stage);
    row_reads r = {c->m->p, st->left[st->nleft - 1]};
    return !plan_loads(c->m->p, st, read_in_place, &r);
}

bool default_fuse(making *m) {
    uint32_t n = m->p->op->stages.len;
    chain c = {.m = m};
    m->fused = ARENA_ARRAY(m->p->arena, bool, n + 1);
    for (uint32_t last = n; last-- > 0;) {
        c.kept = ARENA_ARRAY(m->p->arena, bool, n + 1);
        if (!begin(&c, last) || gathers(&c, last)) continue;
        for (uint32_t i = 0; i < n; i++) c.kept[i] = is_dear(&c, i);
        if (!has_scores(&c)) continue;
        int64_t room = room_for(m->groups, bytes_of(&c));
        if (!room) return false;
        default_suppose_longest(m, c.map, room);
        fill_chain(&c);
        return true;
    }
    return follow_first(&c);
}
