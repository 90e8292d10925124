// The default schedule's classes of rows: a row of many entries gets a block of its own, others
// share one; one of a few has some lanes alone. And what a version supposes of extents and rows.
#include "default/default.h"
#include "default/row_classes.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <string.h>

enum {
    NARROW_BYTES = 32,   // of a row: a sector, or a part of one
    LEAST_SHARING = 4    // lanes that share a row, and go through it in a few rounds
};

// ---- Long rows ----------------------------------------------------------------------------------
// The map that a key takes the first of what is reduced to the rows by.
static tensor_val map_of_key(const planner *p, const tensor_stage *st, const tensor_key *k,
                             tensor_var row) {
    const tensor_node *lhs = tensor_node_at(p->op, k->lhs), *rhs = tensor_node_at(p->op, k->rhs);
    bool rows = rhs->op == TENSOR_VAR_OP && (tensor_var)rhs->imm.i == row;
    if (!rows || lhs->op != TENSOR_LOAD_OP || lhs->nargs != 1 ||
        p->op->vals.data[lhs->imm.i].role != VAL_MAP)
        return TENSOR_NO_VAL;
    const tensor_node *at = tensor_node_at(p->op, lhs->args[0]);
    return at->op == TENSOR_VAR_OP && (tensor_var)at->imm.i == st->bound[0] ? (tensor_val)lhs->imm.i
                                                                            : TENSOR_NO_VAL;
}

static tensor_val row_map(const planner *p, const stage_group *g, bool several) {
    tensor_val map = TENSOR_NO_VAL;
    for (uint32_t i = 0; i < g->len && map == TENSOR_NO_VAL; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
        if (!plan_left(p, st, left) || !(st->nbound == 1 || several) || default_one_by_one(p, st))
            continue;
        for (uint32_t k = 0; k < st->nkeys && map == TENSOR_NO_VAL; k++)
            map = map_of_key(p, st, &st->keys[k], left[0]);
    }
    return map;
}

tensor_val default_row_map(const planner *p, const stage_group *g) { return row_map(p, g, false); }

tensor_val default_rows_map(const planner *p, const stage_group *g) { return row_map(p, g, true); }

// degree(map, v), as a schedule of a file has it: the value of a stage beside the op's.
static schedule_value degree_key(making *m, tensor_val map, tensor_var v) {
    planner *p = m->p;
    tensor_op *op = (tensor_op *)(uintptr_t)m->s->op;
    const tensor_val_info i = p->op->vals.data[map];
    tensor_space *axes = ARENA_NEW(p->arena, tensor_space);
    *axes = i.into;
    tensor_var row = tensor_add_var(op, "v", i.into), e = tensor_add_var(op, "e", i.axes[0]);
    tensor_val degree = tensor_add_val(
        op, (tensor_val_info){.name = arena_printf(p->arena, "degree.%s", i.name),
                              .role = VAL_STAGE,
                              .type = DT_I64,
                              .into = TENSOR_NO_SPACE,
                              .sorted_by = TENSOR_NO_VAL,
                              .inplace = TENSOR_NO_VAL,
                              .rank = 1,
                              .axes = axes});
    tensor_expr at = tensor_var_expr(op, row, NO_SPAN), from = tensor_var_expr(op, e, NO_SPAN);
    tensor_expr *index = ARENA_NEW(p->arena, tensor_expr), *one = ARENA_NEW(p->arena, tensor_expr);
    tensor_target *to = ARENA_NEW(p->arena, tensor_target);
    tensor_key *key = ARENA_NEW(p->arena, tensor_key);
    tensor_var *vars = ARENA_ARRAY(p->arena, tensor_var, 2);
    *index = at;
    *one = tensor_int(op, 1);
    *to = (tensor_target){degree, 1, index};
    *key = (tensor_key){tensor_load(op, map, &from, 1, NO_SPAN), at};
    vars[0] = row;
    vars[1] = e;
    tensor_stage st = {.name = op->vals.data[degree].name,
                       .ntargets = 1,
                       .targets = to,
                       .nleft = 1,
                       .left = vars,
                       .reducer = tensor_builtin_reducer(op, REDUCE_SUM, TENSOR_TYPE(I64)),
                       .nbody = 1,
                       .body = one,
                       .nbound = 1,
                       .bound = vars + 1,
                       .nkeys = 1,
                       .keys = key,
                       .loop = TENSOR_NO_LOOP};
    VEC_PUSH(p->arena, &m->s->stages, st);
    return (schedule_value){
        .keyword = "by",
        .text = arena_printf(p->arena, "degree(%s, %s)", i.name, p->op->vars.data[v].name),
        .key = tensor_load(op, degree, &at, 1, NO_SPAN),
        .var = row};
}

static schedule *class_of_rows(making *m, const stage_group *g, const default_class *of,
                               uint32_t number, void (*more)(void *user, uint32_t number),
                               void *user) {
    schedule *whole = m->s;
    m->s = ARENA_NEW(m->p->arena, schedule);
    *m->s = (schedule){.name = arena_printf(m->p->arena, "%s_%s",
                                            m->p->op->stages.data[g->data[g->len - 1]].name,
                                            of->name),
                       .op = whole->op,
                       .ids = whole->ids,
                       .automatic = true};
    m->owner = of->owner;
    m->owners = of->owners;
    default_stages(m, g);
    if (more) more(user, number);
    schedule *made = m->s;
    default_nones(m);
    m->owner = ROW_OF_LANES;
    m->owners = 0;
    m->s = whole;
    return made;
}

void default_fill_bucket(making *m, const tensor_stage *st, tensor_var row, tensor_val map,
                         const default_bucket_class *all, uint32_t n, const char *option) {
    arena *a = m->p->arena;
    const schedule **use = ARENA_ARRAY(a, const schedule *, n);
    const char **names = ARENA_ARRAY(a, const char *, n);
    int64_t *limits = ARENA_ARRAY(a, int64_t, n);
    for (uint32_t i = 0; i < n; i++)
        use[i] = all[i].use, names[i] = use[i]->name, limits[i] = all[i].limit;
    schedule_value *values = ARENA_ARRAY(a, schedule_value, 4);
    bool to = option && !strcmp(option, "to");   // rows of the first class are left as they stand
    values[0] = degree_key(m, map, row);
    values[1] = (schedule_value){
        .keyword = "at", .nnumbers = n - 1, .numbers = limits, .var = UINT32_MAX};
    values[2] = (schedule_value){
        .keyword = "use", .nnames = n, .names = names, .schedules = use, .var = UINT32_MAX};
    values[3] = to ? (schedule_value){.keyword = "to", .number = limits[0] - 1, .var = UINT32_MAX}
                   : (schedule_value){.keyword = option, .var = UINT32_MAX};
    default_say(m, default_index_cell(m->p, SCHEDULE_BUCKET, st, row), values, option ? 4 : 3);
}

void default_bucket(making *m, const stage_group *g, tensor_val map, const default_classes *all,
                    void (*more)(void *user, uint32_t number), void *user) {
    arena *a = m->p->arena;
    const tensor_stage *deepest = &m->p->op->stages.data[g->data[g->len - 1]];
    tensor_var *left = ARENA_ARRAY(a, tensor_var, deepest->nleft + 1);
    default_bucket_class *made = ARENA_ARRAY(a, default_bucket_class, all->n);
    plan_left(m->p, deepest, left);
    for (uint32_t i = 0; i < all->n; i++) {
        made[i].use = class_of_rows(m, g, &all->of[i], i, more, user);
        made[i].limit = all->of[i].limit;   // what is dealt out may have said so
    }
    default_fill_bucket(m, deepest, left[0], map, made, all->n, all->stands ? "to" : NULL);
}

void default_long_rows(making *m, const stage_group *g, tensor_val map) {
    const default_class two[] = {{"light", ROW_OF_LANES, 0, DEFAULT_HEAVY},
                                 {"heavy", ROW_OF_BLOCK, default_heavy_groups(m->p), 0}};
    default_bucket(m, g, map, &(default_classes){two, 2, false}, NULL, NULL);
}

// Its stages: a walk of rows first, whose reductions share it, then none that reduces.
bool default_cuts(const planner *p, const stage_group *g) {
    stage_group first = {0};
    VEC_PUSH(p->arena, &first, g->data[0]);
    if (default_rows_map(p, &first) == TENSOR_NO_VAL) return false;
    for (uint32_t i = plan_run_end(p, g, 0); i < g->len; i++)
        if (p->op->stages.data[g->data[i]].reducer != TENSOR_NO_REDUCER) return false;
    return p->op->stages.data[g->data[0]].loop == TENSOR_NO_LOOP;
}

// Lanes along an index, as the schedule at hand has them.
static int64_t lanes_along(making *m, const tensor_stage *st, tensor_var v, bool bound) {
    return plan_or_one(default_cut_of(m, st, v, bound).lanes);
}

// Entries of a part: the more rows a warp has, the more are under way, and the less of each; lanes
// that share the entries of a row take so many each. A part of what comes from memory, or of 16
// bits, whose states are twice as wide, is longer.
static int64_t part_entries(making *m, const tensor_stage *st, tensor_var row) {
    if (m->rows == ROWS_THIN) return DEFAULT_THIN_PART;
    if (m->rows == ROWS_FEWER) return DEFAULT_FEW_PART;
    int64_t rows = lanes_along(m, st, row, false), shared = lanes_along(m, st, st->bound[0], true);
    if (m->rows == ROWS_FEW && shared >= LEAST_SHARING &&
        (!m->hand.streams || shared > LEAST_SHARING))
        return DEFAULT_SHARED_PART;
    bool half = default_entry_bytes(m, st) < 4;
    int64_t few = (m->hand.streams && !m->hand.narrow ? 2 : 1) * DEFAULT_FEW_PART / rows,
            least = (m->hand.streams || half) ? 64 / shared : 32;
    if (few > DEFAULT_FEW_PART) few = DEFAULT_FEW_PART;
    if (few < least) few = least;
    return (m->rows == ROWS_FEW ? few
            : m->hand.narrow    ? DEFAULT_NARROW_PART
                                : DEFAULT_PART) *
           shared;
}

// What entries read where they lie is read once by rows that stand side by side, and twice at each
// end of one that does not. (Of few entries a cache has it.)
void default_order_by_degree(making *m, const tensor_stage *st, tensor_var row, tensor_val map) {
    planner *p = m->p;
    schedule_value *by = ARENA_ARRAY(p->arena, schedule_value, 3);
    by[0] = degree_key(m, map, row);
    by[1] = (schedule_value){.keyword = "desc", .var = UINT32_MAX};
    by[2] = (schedule_value){.keyword = "to", .number = DEFAULT_STANDS, .var = UINT32_MAX};
    default_say(m, default_index_cell(p, SCHEDULE_ORDER, st, row), by,
                2u + (m->hand.streams && m->rows != ROWS_FEW));
}

static bool read_in_place(void *user, const tensor_node *load) {
    const planner *p = user;
    for (uint32_t i = 0; i < load->nargs; i++)
        if (tensor_node_at(p->op, load->args[i])->op == TENSOR_LOAD_OP) return false;
    return true;
}

bool default_streams(making *m, const stage_group *g) {
    bool streams = true;
    for (uint32_t i = 0; i < g->len && streams; i++)
        streams = plan_loads(m->p, &m->p->op->stages.data[g->data[i]], read_in_place, m->p);
    return streams;
}

bool default_narrow(making *m, const stage_group *g) {
    bool narrow = true;
    for (uint32_t i = 0; i < g->len && narrow; i++) {
        int64_t bytes = default_row_bytes(m, &m->p->op->stages.data[g->data[i]]);
        narrow = bytes && bytes <= NARROW_BYTES;
    }
    return narrow;
}

// Rows of one lane's accesses alone: what few threads have longer rows wait for less than for their
// order.
static bool lanes_share_all(making *m, const stage_group *g, tensor_var row) {
    const tensor_stage *st = &m->p->op->stages.data[g->data[0]];
    return lanes_along(m, st, row, false) * lanes_along(m, st, st->bound[0], true) ==
           m->p->machine->lanes;
}

void default_cut(making *m, const stage_group *g, tensor_val map) {
    planner *p = m->p;
    const tensor_stage *deepest = &p->op->stages.data[g->data[g->len - 1]];
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, deepest->nleft + 1);
    plan_left(p, deepest, left);
    if (m->rows == ROWS_SKEWED || m->rows == ROWS_BRIEF ||
        (m->rows == ROWS_FEW && !m->hand.narrow && !lanes_share_all(m, g, left[0])))
        default_order_by_degree(m, deepest, left[0], map);
    for (uint32_t i = 0, end = plan_run_end(p, g, 0); i < end; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        tensor_var *own = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
        plan_left(p, st, own);
        default_fill(m, st, SCHEDULE_SPLIT, st->bound[0], part_entries(m, st, own[0]), NULL);
    }
    m->limit.cut = true;
}

// ---- Short rows ---------------------------------------------------------------------------------
int64_t default_held(making *m, const tensor_stage *st) {
    tensor_var *left = ARENA_ARRAY(m->p->arena, tensor_var, st->nleft + 1);
    uint32_t n = plan_left(m->p, st, left);
    int64_t held = 1;
    for (uint32_t i = 1; i < n; i++) {
        index_cut x = default_cut_of(m, st, left[i], false);
        held *= plan_or_one(x.vector) * plan_or_one(x.registers);
    }
    return held;
}

bool default_short(making *m, const stage_group *g) {
    tensor_val map = default_row_map(m->p, g);
    if (!m->hand.sums || map == TENSOR_NO_VAL) return false;
    for (uint32_t i = 0, end = plan_run_end(m->p, g, 0); i < end && m->rows == ROWS_SHORTEST; i++) {
        const tensor_stage *st = &m->p->op->stages.data[g->data[i]];
        default_whole(m, st, st->bound[0], &m->limit.entries, 1);
    }
    default_suppose_longest(m, map, m->limit.entries);
    return true;
}

#define COUNT_OF(t) ((uint32_t)(sizeof(t) / sizeof *(t)))

static void add_guard(making *m, bool pays, const size_token *t, uint32_t n, const char *text) {
    program_guard g = {.kind = GUARD_HOLDS, .pays = pays, .text = text};
    for (uint32_t i = 0; i < n; i++) VEC_PUSH(m->p->arena, &g.holds, t[i]);
    VEC_PUSH(m->p->arena, &m->p->facts->guards, g);
}

bool default_at_once(making *m, const stage_group *g, tensor_val map) {
    planner *p = m->p;
    const tensor_stage *st = &p->op->stages.data[g->data[0]];
    int64_t sharing = map == TENSOR_NO_VAL ? 0 : lanes_along(m, st, st->bound[0], true);
    if (sharing < LEAST_SHARING) return false;
    const int64_t most = DEFAULT_AT_ONCE * sharing;
    const size_token t[] = {{SZ_MAX_PREIMAGE, map, 0}, {SZ_CONST, most, 0}, {SZ_LE, 0, 0}};
    add_guard(
        m, true, t, COUNT_OF(t),
        arena_printf(p->arena, "max(%s) <= %lld", p->op->vals.data[map].name, (long long)most));
    return true;
}

// ---- What was supposed --------------------------------------------------------------------------
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
    if (c->to)
        guard(m, s, false, to, 2, arena_printf(m->p->arena, "%s <= %lld", name, (long long)c->to));
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

// No row is long.
static void guard_rows(making *m, tensor_val map) {
    int64_t longest = m->limit.longest ? m->limit.longest : DEFAULT_HEAVY;
    const size_token t[] = {{SZ_MAX_PREIMAGE, map, 0}, {SZ_CONST, longest, 0}, {SZ_LE, 0, 0}};
    add_guard(m, false, t, COUNT_OF(t),
              arena_printf(m->p->arena, "max(%s) <= %lld", m->p->op->vals.data[map].name,
                           (long long)longest));
}

// Few entries, or many.
static void guard_entries(making *m, tensor_val map, bool most, int n) {
    const size_token all[] = {{SZ_CONST, n, 0}, {most ? SZ_LE : SZ_GE, 0, 0}};
    tensor_space s = m->p->op->vals.data[map].axes[0];
    guard(m, s, true, all, 2,
          arena_printf(m->p->arena, "%s %s %d", m->p->op->spaces.data[s].name,
                       most ? "<=" : ">=", n));
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

void default_guard_thin(making *m) {
    for (uint32_t i = 0; i < m->walked.len; i++)
        if (m->walked.data[i] != TENSOR_NO_VAL)
            guard_average(m, m->walked.data[i], true, DEFAULT_WALKED_THIN);
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
    add_guard(m, true, t, COUNT_OF(t),
              arena_printf(p->arena, "avg(%s) < %d || %s <= %d", p->op->vals.data[map].name,
                           DEFAULT_AT_ONCE_HEAVY, p->op->spaces.data[rows].name,
                           DEFAULT_AT_ONCE_FEW));
}

void default_guard_blocks(making *m) {
    for (uint32_t i = 0; i < m->walked.len; i++)
        if (m->walked.data[i] != TENSOR_NO_VAL)
            guard_blocks(m, m->walked.data[i], true), guard_heavy(m, m->walked.data[i]);
}

void default_guard_short(making *m) {
    for (uint32_t i = 0; i < m->walked.len; i++)
        if (m->walked.data[i] != TENSOR_NO_VAL)
            guard_entries(m, m->walked.data[i], true, DEFAULT_WALKED_SHORT);
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
    add_guard(m, true, t, COUNT_OF(t),
              arena_printf(p->arena, "%d * max(%s) <= %s + %d", DEFAULT_EVEN_SHARE,
                           p->op->vals.data[map].name, p->op->spaces.data[s].name,
                           DEFAULT_EVEN_SPARE));
}

// A row of so few parts that whoever combines them is not what all wait for.
void default_guard_parts(making *m, int64_t part) {
    const planner *p = m->p;
    for (uint32_t i = 0; i < m->walked.len; i++) {
        tensor_val map = m->walked.data[i];
        if (map == TENSOR_NO_VAL) continue;
        const size_token t[] = {
            {SZ_MAX_PREIMAGE, map, 0}, {SZ_CONST, DEFAULT_PARTS * part, 0}, {SZ_LE, 0, 0}};
        add_guard(m, true, t, COUNT_OF(t),
                  arena_printf(p->arena, "max(%s) <= %lld", p->op->vals.data[map].name,
                               (long long)(DEFAULT_PARTS * part)));
    }
}

// Rows that are all alike, and about as long as a part or a little longer, would be cut, many of
// them: then they are better whole. Not those of the two maps that a gradient walks by
// (bench/RECORD.md).
void default_guard_uneven(making *m, int64_t part) {
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
        add_guard(m, true, t, COUNT_OF(t),
                  arena_printf(p->arena, "max(%s) > %lld || avg(%s) < %lld", name,
                               (long long)(2 * part), name, (long long)whole));
    }
}

// ---- Windows ------------------------------------------------------------------------------------
// Counting slots costs more than other statistics: it comes when those hold.
void default_guard_windows(making *m) {
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
            add_guard(m, false, length, COUNT_OF(length),
                      arena_printf(p->arena, "avg(%s) >= %lld", map, (long long)d->entries));
        add_guard(m, false, dense, COUNT_OF(dense),
                  arena_printf(p->arena, "density(%s, %s, %d) >= 0.%03lld", map, source,
                               DEFAULT_WINDOW, (long long)d->density));
    }
}

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
void default_guard_kept(making *m) {
    enum { OF = 100, ROOM = 7 };
    const planner *p = m->p;
    program_guard g = {.kind = GUARD_HOLDS, .pays = true, .text = ""};
    push(m, &g.holds, SZ_CONST, 0);
    for (tensor_space s = 0; s < p->op->spaces.len; s++) {
        int64_t bytes = bytes_at(p, s);
        if (!bytes) continue;
        g.text = arena_printf(p->arena, "%s%s%lld * %s", g.text, *g.text ? " + " : "",
                              (long long)(ROOM * bytes), p->op->spaces.data[s].name);
        push(m, &g.holds, SZ_SPACE, s), push(m, &g.holds, SZ_CONST, ROOM * bytes),
            push(m, &g.holds, SZ_MUL, 0), push(m, &g.holds, SZ_ADD, 0);
    }
    const char *between = " >= ";
    push(m, &g.holds, SZ_CONST, 0);
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_val_info *v = &p->op->vals.data[p->op->stages.data[i].targets[0].val];
        int64_t bytes = OF * ir_dtype_bytes(v->type);
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

void default_guard_even(making *m) {
    for (uint32_t i = 0; i < m->walked.len; i++)
        if (m->walked.data[i] != TENSOR_NO_VAL) guard_share(m, m->walked.data[i]);
}

static void guard_outer(making *m, tensor_val map) {
    guard_average(m, map, false, DEFAULT_OUTER);
    if (m->rows == ROWS_OUTER_FEW) guard_entries(m, map, true, DEFAULT_OUTER_FEW);
    if (m->rows == ROWS_OUTER_MANY) guard_entries(m, map, false, DEFAULT_OUTER_MANY);
}

void default_guards(making *m) {
    bool group = m->rows == ROWS_GROUP_AT_ONCE,
         at_once = m->rows == ROWS_ALL_AT_ONCE || m->rows == ROWS_FUSED_AT_ONCE || group;
    bool thin = m->rows == ROWS_THIN, few = m->rows == ROWS_FEW, fewer = m->rows == ROWS_FEWER,
         brief = m->rows == ROWS_BRIEF;
    for (uint32_t i = 0; i < m->walked.len; i++) {
        tensor_val map = m->walked.data[i];
        if (at_once || thin || m->rows == ROWS_SHORT) guard_blocks(m, map, at_once);
        if (few || fewer) guard_entries(m, map, true, m->limit.most);
        if (thin || brief) guard_average(m, map, true, thin ? DEFAULT_THIN : DEFAULT_BRIEF);
    }
    for (uint32_t i = 0; i < m->outer.len; i++) guard_outer(m, m->outer.data[i]);
    for (uint32_t i = 0; i < m->supposed.len; i++) guard_class(m, m->supposed.data[i]);
    bool any = m->rows == ROWS_SKEWED || few || fewer || brief || group ||
               m->limit.entries;   // as long as they are
    if (m->points != TENSOR_NO_SPACE) guard_points(m);
    for (uint32_t i = 0; i < m->walked.len && !any; i++) guard_rows(m, m->walked.data[i]);
}
