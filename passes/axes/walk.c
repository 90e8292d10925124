// The loops of a reduction. Each bound variable is walked by a key where one says which points
// remain: the preimage of a prepared map as a range of its offsets, or a single point; else its
// whole space. Other keys and filters are tests.
#include "axes/axes.h"
#include "base/base.h"
#include "kernels/kernels.h"

typedef struct {
    planner *p;
    const tensor_stage *st;
    loop_body *at;   // where the next node goes
    loop_list *made;
    bool *used;              // keys that are walked
    const plan_part *part;   // of which it walks one; NULL: all points
    uint32_t walked;         // bound variables that are
    uint32_t nstages;        // that share the walk
    const uint32_t *stages;
    bool levelled;   // a level is open
    const plan_inside *inside;
} walking;

static void go_in(walking *w, loop_node *n) {
    loop_append(w->p->plan, w->at, n);
    w->at = &n->body;
}

void plan_let(planner *p, loop_body *to, tensor_var v, tensor_expr value, span at) {
    loop_node *n = loop_node_new(p->plan, LOOP_LET, at);
    n->var = v;
    n->value = value;
    loop_append(p->plan, to, n);
}

static void test(walking *w, tensor_expr condition) {
    loop_node *n = loop_node_new(w->p->plan, LOOP_IF, w->st->at);
    n->value = condition;
    go_in(w, n);
}

static bool is_var(const planner *p, tensor_expr e) {
    return tensor_node_at(p->op, e)->op == TENSOR_VAR_OP;
}

static tensor_expr some(planner *p, tensor_expr index) {   // is it a point?
    tensor_expr x = tensor_cvt(p->op, TENSOR_TYPE(I64), index, NO_SPAN);
    return tensor_binary(p->op, TENSOR_GE_OP, x, tensor_int(p->op, 0), NO_SPAN);
}

// A side of a key that is tested: none where an index in it is none, which matches no key.
static tensor_expr key_value(planner *p, tensor_expr e) {
    tensor_node n = *tensor_node_at(p->op, e);
    if (n.op != TENSOR_LOAD_OP) return e;
    tensor_expr all = 0, *args = ARENA_ARRAY(p->arena, tensor_expr, n.nargs + 1u);
    for (uint32_t i = 0; i < n.nargs; i++) {
        args[i] = key_value(p, n.args[i]);
        if (is_var(p, args[i])) continue;
        tensor_expr c = some(p, args[i]);
        all = all ? tensor_binary(p->op, TENSOR_AND_OP, all, c, NO_SPAN) : c;
    }
    n.args = args;
    tensor_expr load = tensor_node_new(p->op, n);
    if (!all) return load;
    tensor_expr none = tensor_node_new(p->op, (tensor_node){.op = TENSOR_NONE_OP, .type = n.type});
    return tensor_select(p->op, all, load, none, NO_SPAN);
}

// Lanes that have positions side by side, each some registers of them, reduce in order: what they
// hold is scanned.
static bool is_scanned(const index_cut *c) { return c->lanes > 1 && !c->strided && !c->vector; }

static bool in_order(loop_place p, bool scanned) {
    return p == LOOP_SERIAL_PLACE || p == LOOP_UNROLL_PLACE ||
           (scanned && (p == LOOP_LANE_PLACE || p == LOOP_REGISTER_PLACE));
}

// A statement that gives terms to several at once; NULL: they are walked one after the other.
static const schedule_cell *dealt_out(const index_cut *c, const loop_node *n, bool scanned) {
    for (uint32_t i = 0; i < n->ndigits; i++) {
        if (in_order(n->digits[i].place, scanned)) continue;
        if (c->strided) return c->cell[SCHEDULE_REGISTERS];
        for (uint32_t k = 0; k < SCHEDULE_VERB_COUNT; k++)
            if (c->cell[k] && k != SCHEDULE_TILE && k != SCHEDULE_UNROLL && k != SCHEDULE_BLOCK)
                return c->cell[k];
    }
    return NULL;
}

// Positions that hold so many terms of each thread and copy; 0: a round of the loop does not divide
// them.
static int64_t level_points(walking *w, const index_cut *c) {
    int64_t apart = 1, steps = 1, every = plan_every(w->p, w->st);
    const int64_t in_tile[] = {c->lanes, c->registers, c->vector};
    for (uint32_t i = 0; i < sizeof in_tile / sizeof *in_tile; i++)
        apart *= in_tile[i] > 1 ? in_tile[i] : 1;
    if (c->tile > 1) steps = c->tile / apart;
    if (c->groups > 1) apart *= c->groups;
    return steps < 1 || every % steps ? 0 : every * apart;
}

// Of a state that is carried from position to position, nothing but lanes has several at once.
static void refuse_out_of_order(walking *w, tensor_var v, const index_cut *c,
                                const schedule_cell *dealt) {
    const char *name = plan_index_text(w->p, v);
    diagnostic *d = plan_refuse(
        w->p, E0530, dealt->at,
        "'%s' along '%s' has no pass in this version: '%s' carries its state from position to position",
        schedule_verb_text(dealt->verb), name, w->st->name);
    if (!d) return;
    if (c->strided && w->part->var == v)
        diag_help(d, "leave out 'strided': a lane then has adjacent positions, in their order");
    else
        diag_help(
            d,
            "take groups or lanes along '%s', or distribute those of a row: `%s: block %s none;`",
            plan_index_text(w->p, w->part->var), w->st->name, plan_index_text(w->p, w->part->var));
}

static void cut_loop(walking *w, tensor_var v, loop_node *n) {
    index_cut c = plan_cut(w->p, w->st, v, true);
    bool runs = w->part && w->part->kind == PART_RUNS;
    plan_check_combine(w->p, w->st, &c, runs && w->part->var == v);
    if (c.block && c.vector && c.block % c.vector) {
        const char *name = plan_index_text(w->p, v);
        diagnostic *d = plan_refuse(w->p, E0542, c.cell[SCHEDULE_BLOCK]->at,
                                    "block %s %lld is no multiple of the %lld elements of a vector",
                                    name, (long long)c.block, (long long)c.vector);
        if (d)
            diag_help(d, "take a multiple: `block %s %lld`", name,
                      (long long)((c.block / c.vector + 1) * c.vector));
    }
    c.block = 0;
    if (runs && w->part->var == v) c.groups = 0;   // each walks a range of its own
    plan_pad_loop(w->p, &c, n,
                  w->part && w->part->var == v ? "other blocks go on with its points"
                  : w->levelled ? "a factor is applied to so many of its points at a time"
                                : NULL);
    bool positions = runs && w->part->var == v, scanned = positions && is_scanned(&c);
    n->rounds.uniform = scanned && c.uniform;
    c.uniform &= !positions || c.lanes <= 1;
    plan_digits(w->p, &c, n);
    if (w->st->reducer == TENSOR_NO_REDUCER) return;
    const tensor_reducer *r = &w->p->op->reducers.data[w->st->reducer];
    const schedule_cell *dealt = r->commutative && !runs ? NULL : dealt_out(&c, n, scanned);
    if (!dealt) return;
    if (runs) {
        refuse_out_of_order(w, v, &c, dealt);
        return;
    }
    diagnostic *d = plan_refuse(w->p, E0549, dealt->at,
                                "'%s' is not commutative, so its terms cannot be distributed",
                                r->name);
    if (d) diag_help(d, "declare the reducer commutative if it is");
}

// Vectors are cut from an aligned beginning on, and the points of a row begin where the row before
// ends.
static void check_vector(walking *w, tensor_var v) {
    const char *name = plan_index_text(w->p, v);
    index_cut c = plan_cut(w->p, w->st, v, true);
    if (c.vector <= 1) return;
    diagnostic *d = plan_refuse(
        w->p, E0548, c.cell[SCHEDULE_VECTOR]->at,
        "what is reduced along '%s' begins anywhere, not at a multiple of %lld", name,
        (long long)c.vector);
    if (d) diag_help(d, "take registers for it: `registers %s %lld`", name, (long long)c.vector);
}

// ---- Levels -------------------------------------------------------------------------------------
static void open_level(walking *w) {
    loop_node *n = loop_node_new(w->p->plan, LOOP_LEVEL, w->st->at);
    n->nstages = w->nstages;
    n->stages = w->stages;
    w->levelled = true;
    go_in(w, n);
}

// A sum that is carried from position to position counts the terms of each run. Lanes that scan
// their positions have no level of their own, nor has an index inside one.
static void carry_levels(walking *w, loop_node *carry) {
    planner *p = w->p;
    const index_cut c = plan_cut(p, w->st, w->part->var, true);
    const char *name = plan_index_text(p, w->part->var);
    carry->state.level = plan_every(p, w->st);
    w->levelled = carry->state.level != 0;
    if (!w->levelled || (!is_scanned(&c) && w->st->nbound == 1)) return;
    diagnostic *d = plan_refuse(
        p, E0530, schedule_find(p->s, w->st->id, SCHEDULE_ACCUMULATE, TENSOR_ALL)->at,
        is_scanned(&c)
            ? "'scale' of a sum whose lanes along '%s' scan it has no pass in this version"
            : "'scale' of a sum over positions of '%s' and another index has no pass in this version",
        name);
    if (d && is_scanned(&c)) diag_help(d, "take groups along '%s', or distribute rows", name);
    else if (d) diag_help(d, "distribute rows: a block of '%s' crosses them", name);
}

// Of a sum that is held times a factor, the innermost range is walked a level at a time: lo … hi
// becomes that of one.
static void walk_levels(walking *w, tensor_var v, tensor_expr *lo, tensor_expr *hi) {
    planner *p = w->p;
    if (!plan_every(p, w->st) || w->walked + 1 < w->st->nbound) return;
    if (w->part && w->part->kind == PART_RUNS) return;
    index_cut c = plan_cut(p, w->st, v, true);
    int64_t points = level_points(w, &c);
    const char *name = plan_index_text(p, v);
    if (!points) {
        diagnostic *d = plan_refuse(
            p, E0542, schedule_find(p->s, w->st->id, SCHEDULE_ACCUMULATE, TENSOR_ALL)->at,
            "every %u is no multiple of the terms a thread takes in a round of tile %s %lld",
            plan_every(p, w->st), name, (long long)c.tile);
        if (d) diag_help(d, "take a multiple, or leave out the tile");
        return;
    }
    const tensor_space_info s = p->op->spaces.data[p->op->vars.data[v].space];
    tensor_expr n = tensor_int(p->op, points), up = tensor_int(p->op, points - 1);
    tensor_expr all = tensor_binary(
        p->op, TENSOR_ADD_OP, tensor_size(p->op, p->op->vars.data[v].space, NO_SPAN), up, NO_SPAN);
    tensor_space levels = plan_space(p,
                                     arena_printf(p->arena, "%s.by%lld", s.name, (long long)points),
                                     tensor_binary(p->op, TENSOR_QUOT_OP, all, n, NO_SPAN));
    loop_node *over = loop_node_new(p->plan, LOOP_FOR, w->st->at);
    over->var = tensor_add_var(p->op, arena_printf(p->arena, "%s.level'%u", name, p->op->vars.len),
                               levels);
    over->lo = tensor_int(p->op, 0);
    tensor_expr from = plan_wide(p, *lo), to = plan_wide(p, *hi),
                some = tensor_binary(p->op, TENSOR_SUB_OP, to, from, NO_SPAN);
    over->hi = tensor_binary(p->op, TENSOR_QUOT_OP,
                             tensor_binary(p->op, TENSOR_ADD_OP, some, up, NO_SPAN), n, NO_SPAN);
    go_in(w, over);
    open_level(w);
    tensor_expr at = tensor_binary(
        p->op, TENSOR_MUL_OP, plan_wide(p, tensor_var_expr(p->op, over->var, NO_SPAN)), n, NO_SPAN);
    *lo = tensor_node_at(p->op, from)->op == TENSOR_CONST_OP && !tensor_node_at(p->op, from)->imm.i
              ? at
              : tensor_binary(p->op, TENSOR_ADD_OP, from, at, NO_SPAN);
    *hi = tensor_binary(p->op, TENSOR_MIN_OP, tensor_binary(p->op, TENSOR_ADD_OP, *lo, n, NO_SPAN),
                        to, NO_SPAN);
}

// ---- What lanes hold ----------------------------------------------------------------------------
static void hold(walking *w, tensor_var v, tensor_expr at, loop_node *n) {
    planner *p = w->p;
    held_readers by = {0};
    held_reader first = {.stage = w->st, .var = v, .within = w->walked, .walked = w->used};
    VEC_PUSH(p->arena, &by, first);
    for (uint32_t i = 1; i < w->nstages; i++) {
        const tensor_stage *st = &p->op->stages.data[w->stages[i]];
        VEC_PUSH(p->arena, &by,
                 ((held_reader){.stage = st, .var = st->bound[0], .walked = w->used}));
    }
    for (uint32_t i = 0; w->inside && !w->walked && i < w->inside->points->len; i++) {
        const tensor_stage *st = &p->op->stages.data[w->inside->points->data[i]];
        VEC_PUSH(p->arena, &by, ((held_reader){.stage = st, .var = st->left[0], .points = true}));
    }
    index_cut c = plan_cut(p, w->st, v, true);
    plan_hold(p, &by, &c, at, n);
}

// ---- Three ways ---------------------------------------------------------------------------------
static void walk_range(walking *w, tensor_var v, tensor_var position, tensor_expr at,
                       tensor_expr lo, tensor_expr hi) {
    walk_levels(w, v, &lo, &hi);
    loop_node *n = loop_node_new(w->p->plan, LOOP_FOR, w->st->at);
    n->var = position;
    n->lo = lo;
    n->hi = hi;
    cut_loop(w, v, n);
    hold(w, v, at, n);
    plan_specialize_loop(w->p, w->st, v, w->part || w->levelled || n->holding.n, n);
    VEC_PUSH(w->p->arena, w->made, n);
    go_in(w, n);
}

static void walk_all(walking *w, tensor_var v) {
    bool part = w->part && w->part->var == v;
    walk_range(w, v, v, tensor_var_expr(w->p->op, v, NO_SPAN),
               part ? w->part->lo : tensor_int(w->p->op, 0),
               part ? w->part->hi : tensor_size(w->p->op, w->p->op->vars.data[v].space, NO_SPAN));
}

static void walk_point(walking *w, tensor_var v, tensor_expr at) {
    at = key_value(w->p, at);
    if (!is_var(w->p, at)) test(w, some(w->p, at));
    plan_let(w->p, w->at, v, at, w->st->at);
}

static tensor_expr value_at(planner *p, tensor_val map, tensor_var v) {
    tensor_expr at = tensor_var_expr(p->op, v, NO_SPAN);
    return tensor_load(p->op, map, &at, 1, NO_SPAN);
}

// `order e by src` of what a sum takes by src says what is so: its points come in that order.
static void take_order(planner *p, const tensor_stage *st, tensor_var v, const plan_map *m) {
    schedule_cell *c = schedule_find(p->s, st->id, SCHEDULE_ORDER, p->op->vars.data[v].id);
    if (!c || schedule_value_of(c, "desc") || schedule_value_of(c, "above")) return;
    c->consumed |= plan_key_read(p, schedule_value_of(c, "by")) == m->map;
}

static void take_orders(walking *w, tensor_var v, const plan_map *m) {
    uint32_t b = 0;
    while (b < w->st->nbound && w->st->bound[b] != v) b++;
    for (uint32_t i = 0; i < w->nstages; i++) {
        const tensor_stage *st = &w->p->op->stages.data[w->stages[i]];
        if (b < st->nbound) take_order(w->p, st, st->bound[b], m);
    }
}

static void walk_preimage(walking *w, tensor_var v, const plan_map *m, tensor_expr key) {
    planner *p = w->p;
    take_orders(w, v, m);
    key = key_value(p, key);
    check_vector(w, v);
    if (!is_var(p, key)) test(w, some(p, key));
    bool cut = w->part && w->part->var == v;   // another index has rows of its own
    bool runs = cut && w->part->kind == PART_RUNS,
         of_row = cut && (w->part->kind == PART_TILE || w->part->kind == PART_ROW);
    tensor_val offsets = runs || of_row ? TENSOR_NO_VAL : plan_offsets(p, m);
    tensor_expr lo = runs || of_row ? w->part->lo : plan_offset_at(p, offsets, key, 0),
                hi = runs || of_row ? w->part->hi : plan_offset_at(p, offsets, key, 1);
    if (m->sorted) {
        walk_range(w, v, v, tensor_var_expr(p->op, v, NO_SPAN), lo, hi);
        if (runs) plan_let(p, w->at, w->part->run.row, value_at(p, m->map, v), w->st->at);
        return;
    }
    tensor_val order = plan_order(p, m);
    tensor_var position = tensor_add_var(
        p->op, arena_printf(p->arena, "%s.at", p->op->vars.data[v].name), m->domain);
    tensor_expr at = value_at(p, order, position);
    walk_range(w, v, position, at, lo, hi);
    plan_let(p, w->at, v, at, w->st->at);
    if (runs) plan_let(p, w->at, w->part->run.row, value_at(p, m->map, v), w->st->at);
}

// ---- Choosing -----------------------------------------------------------------------------------
static bool later(const walking *w, tensor_expr rhs) {   // it needs what is not walked yet
    for (uint32_t b = w->walked; b < w->st->nbound; b++)
        if (plan_mentions(w->p, rhs, w->st->bound[b])) return true;
    return false;
}

static bool walk_by(walking *w, tensor_var v, uint32_t k) {
    const tensor_key key = w->st->keys[k];
    if (w->part && w->part->kind == PART_RUNS && w->part->var == v && w->part->run.key != k)
        return false;
    const tensor_node *lhs = tensor_node_at(w->p->op, key.lhs);
    plan_map m;
    if (w->used[k] || later(w, key.rhs)) return false;
    if (lhs->op == TENSOR_VAR_OP && (tensor_var)lhs->imm.i == v) {
        w->used[k] = true;
        walk_point(w, v, key.rhs);
        return true;
    }
    if (!plan_map_of_key(w->p, key.lhs, v, &m)) return false;
    bool runs = w->part && w->part->kind == PART_RUNS && w->part->var == v;
    w->used[k] = !runs;   // of runs it is read at each point
    walk_preimage(w, v, &m, key.rhs);
    return w->used[k] = true;
}

static void walk_variable(walking *w) {
    tensor_var v = w->st->bound[w->walked];
    uint32_t k = 0;
    while (k < w->st->nkeys && !walk_by(w, v, k)) k++;
    if (k == w->st->nkeys) walk_all(w, v);
    plan_check_part(w->p, w->st, v, w->part && (w->part->kind != PART_RANGE) == (k < w->st->nkeys));
    w->walked++;
}

static void test_keys(walking *w) {
    planner *p = w->p;
    for (uint32_t k = 0; k < w->st->nkeys; k++) {
        if (w->used[k]) continue;
        tensor_expr x = key_value(p, w->st->keys[k].lhs), y = key_value(p, w->st->keys[k].rhs);
        test(w, tensor_binary(p->op, TENSOR_AND_OP, some(p, x),
                              tensor_binary(p->op, TENSOR_EQ_OP, x, y, NO_SPAN), NO_SPAN));
    }
}

loop_body *plan_point(planner *p, const tensor_stage *st, uint32_t key, tensor_var row,
                      tensor_var edge, loop_body *at) {
    walking w = {.p = p, .st = st, .at = at, .used = ARENA_ARRAY(p->arena, bool, st->nkeys + 1)};
    tensor_expr lhs = st->keys[key].lhs;
    plan_map m;
    w.used[key] = true;
    if (plan_map_of_key(p, lhs, edge, &m) && plan_is_total(p, m.map))
        plan_let(p, at, row, lhs, st->at);
    else walk_point(&w, row, lhs);
    test_keys(&w);
    for (uint32_t f = 0; f < st->nfilters; f++) test(&w, st->filters[f]);
    return w.at;
}

static void contribute(planner *p, loop_body *at, const uint32_t *stage) {
    const tensor_stage *st = &p->op->stages.data[*stage];
    for (uint32_t f = 0; f < st->nfilters; f++) {
        loop_node *n = loop_node_new(p->plan, LOOP_IF, st->at);
        n->value = st->filters[f];
        loop_append(p->plan, at, n);
        at = &n->body;
    }
    loop_node *n = loop_node_new(p->plan, LOOP_CONTRIBUTE, st->at);
    n->nstages = 1;
    n->stages = stage;
    loop_append(p->plan, at, n);
}

// What a carry walks comes first; only a commutative reducer lets another index come before.
static const tensor_var *bound_from(planner *p, const tensor_stage *st, tensor_var first) {
    tensor_var *out = ARENA_ARRAY(p->arena, tensor_var, st->nbound);
    uint32_t n = 0;
    out[n++] = first;
    for (uint32_t b = 0; b < st->nbound; b++)
        if (st->bound[b] != first) out[n++] = st->bound[b];
    return out;
}

// Each stage has a variable of its own for what is walked.
static void name_points(walking *w) {
    planner *p = w->p;
    for (uint32_t i = 1; i < w->nstages; i++)
        plan_let(p, w->at, p->op->stages.data[w->stages[i]].bound[0],
                 tensor_var_expr(p->op, w->st->bound[0], NO_SPAN), w->st->at);
}

void plan_walk(planner *p, const uint32_t *stages, uint32_t n, loop_node *reduce, loop_list *made,
               const plan_inside *inside) {
    const plan_part *part = plan_part_of(p, stages[0]);
    if (part && !p->cut.leaving) {
        plan_take_parts(p, stages, n, reduce, made);
        return;
    }
    plan_matrix m;
    bool windows = inside ? plan_windowed(p, stages[0], &m)
                          : plan_matrix_of(p, &p->op->stages.data[stages[0]], &m) && m.window;
    if (windows) {
        plan_window_walk(p, stages, n, &m, reduce, made, inside);
        return;
    }
    tensor_stage first = p->op->stages.data[stages[0]];
    if (part && part->kind == PART_RUNS) first.bound = bound_from(p, &first, part->var);
    walking w = {.p = p,
                 .st = &first,
                 .at = &reduce->body,
                 .made = made,
                 .part = part,
                 .nstages = n,
                 .stages = stages,
                 .inside = inside};
    w.used = ARENA_ARRAY(p->arena, bool, first.nkeys + 1);
    if (part && part->kind == PART_RUNS) carry_levels(&w, reduce);
    while (w.walked < first.nbound) {
        walk_variable(&w);
        if (!inside || w.walked != 1) continue;
        name_points(&w);
        inside->emit(inside->user, w.at);
    }
    if (plan_every(p, &first) && !w.levelled) open_level(&w);   // the last index is a point
    test_keys(&w);
    if (!inside) name_points(&w);
    for (uint32_t i = 0; i < n; i++) contribute(p, w.at, &stages[i]);
}

// The row's points alone: nothing is contributed there.
loop_body *plan_walk_row(planner *p, const tensor_stage *st, const plan_map *m, loop_body *at,
                         loop_list *made) {
    bool used = true;
    walking w = {.p = p, .st = st, .at = at, .made = made, .used = &used};
    walk_preimage(&w, st->bound[0], m, st->keys->rhs);
    return w.at;
}
