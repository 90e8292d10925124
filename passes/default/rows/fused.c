// One kernel by default: what entries take from the reductions of their rows follows in the kernel
// of these, where no row is long, or in a class of rows by length.
//     a[e, h] = softmax(s[e, h] by dst)   →  fuse a.max, a.sum, a at v
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/stages/stages.h"
#include "default/rows/rows.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <string.h>

typedef struct {
    making *m;
    tensor_val map;
    tensor_space edges, rows;
} chain;

static bool over(const chain *c, uint32_t i, tensor_space s) {
    const tensor_stage *st = plan_stage(c->m->p, i);
    return st->loop == TENSOR_NO_LOOP && st->nleft &&
           c->m->p->op->vars.data[st->left[0]].space == s;
}

static tensor_val walked(const chain *c, uint32_t i) {
    const stage_group g = default_alone(&i);
    return default_row_map(c->m->p, &g);
}

static bool in_rows(const chain *c, uint32_t i) {
    return !plan_inlined(c->m->p, i) && over(c, i, c->rows) && walked(c, i) == c->map;
}

static bool in_edges(const chain *c, uint32_t i) {
    return over(c, i, c->edges) && !plan_inlined(c->m->p, i);
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
    int64_t sizes[LOOP_MAX_SIZES];
    uint32_t n = 0;
    while (n < LOOP_MAX_SIZES && steps[n] && steps[n] * held <= DEFAULT_HELD)
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
    // at the rows of the deepest, which others have as their outermost index
    VEC(tensor_var) at = {0};
    VEC_PUSH(m->p->arena, &at, plan_stage(m->p, f->last)->left[0]);
    for (uint32_t i = 0; i < f->rows.len; i++)
        VEC_PUSH(m->p->arena, &at, plan_stage(m->p, f->rows.data[i])->left[0]);
    default_say_fuse(m, &f->fused, at.data, at.len);
}

// By the first map whose rows are such.
static bool find_first(making *m, chain *c, followed *f) {
    const uint32_t n = m->p->op->stages.len;
    uint32_t first = 0;
    *c = (chain){.m = m};
    m->fused = ARENA_ARRAY(m->p->arena, bool, n + 1);
    while (first < n && !begin(c, first)) first++;
    return first < n && find_followed(c, f);
}

bool default_follow_rows(making *m) {
    static const int64_t even[] = {1, 8, 0}, shortest[] = {DEFAULT_SHORTEST, 0},
                         brief[] = {4, 8, 0};
    const plan_rows rows = m->rows;
    chain c;
    followed f;
    if (!find_first(m, &c, &f)) return false;
    if (rows == ROWS_FUSED_AT_ONCE) m->owner = ROW_OF_WARP;
    default_stages(m, &f.rows);
    deal_followed(&f, rows == ROWS_SHORTEST ? shortest : rows == ROWS_SHORT ? brief : even);
    fuse_followed(&f);
    m->owner = ROW_OF_LANES;
    if (m->limit.entries) default_suppose_longest(m, c.map, m->limit.entries);
    return true;
}

// Of few entries two classes of rows, for each is a kernel; of many, six (bench/RECORD.md). What is
// made for extents that are less likely is not worth as much code.
static bool two_classes(const making *m) { return m->rows == ROWS_FEW || !m->class->above; }

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
    chain c;
    followed f;
    int64_t groups = default_groups(m->p);
    if (!find_first(m, &c, &f)) return;
    default_class few[] = {{"light", ROW_OF_LANES, 0, DEFAULT_HEAVY},
                           {"heavy", ROW_OF_BLOCK, default_heavy_groups(m->p), 0}},
                  many[] = {{"lightest", ROW_OF_LANES, DEFAULT_LEAST_SHARING, DEFAULT_HEAVY / 16},
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
