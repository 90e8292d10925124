// A kernel: the loops of its deepest stage, the others' bodies where their own loops end.
//     a.max[v, h], y[v, h, d]  →  for v … { for h … { reduce a.max { … } store a.max  for d … { reduce y { …
//     } store y } } }
#include "nests/nests.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"
#include "axes/axes.h"
#include "finish/finish.h"

#include <string.h>

typedef plan_nest nest;

static const tensor_stage *stage_at(const nest *n, uint32_t i) {
    return &n->p->op->stages.data[n->group->data[i]];
}

static void let_var(planner *p, loop_body *to, tensor_var v, tensor_var is, span at) {
    plan_let(p, to, v, tensor_var_expr(p->op, is, NO_SPAN), at);
}

// ---- Homes --------------------------------------------------------------------------------------
// A stage nobody outside the kernel reads needs no memory.
void plan_choose_home(planner *p, const stage_group *g, const tensor_stage *st) {
    for (uint32_t t = 0; t < st->ntargets; t++) {
        tensor_val v = st->targets[t].val;
        if (plan_kept(p, st, v) == KEPT_GLOBAL || p->plan->values.data[v].home == LOOP_SHARED)
            continue;
        if (plan_stays_inside(p, g, st, v)) p->plan->values.data[v].home = LOOP_REGISTERS;
    }
}

// ---- Loops --------------------------------------------------------------------------------------
// How the source calls the indices that one loop is over: an equation's own may differ from a
// normaliser's.
static void tell_alike(planner *p, diagnostic *d, const index_cut *c, const index_cut *o,
                       const char *verb) {
    const char *one = plan_index_text(p, c->var), *other = plan_index_text(p, o->var);
    if (!strcmp(one, other))
        diag_help(d, "say it once for both: `%s, %s: %s %s …`", c->stage->name, o->stage->name,
                  verb, one);
    else
        diag_help(d, "'%s' of '%s' is '%s' of '%s': say `%s: %s %s …;  %s: %s %s …;`", one,
                  c->stage->name, other, o->stage->name, c->stage->name, verb, one, o->stage->name,
                  verb, other);
    if (!plan_may_separate(p, c->stage) || !plan_may_separate(p, o->stage)) return;
    const char *later = (c->stage > o->stage ? c : o)->stage->name;
    diag_help(d, "or let '%s' begin a kernel, with loops of its own: `%s: separate;`", later,
              later);
}

// Two stages that stand in one loop deal it out alike.
bool plan_alike(planner *p, const index_cut *c, const index_cut *o) {
    static const schedule_verb verbs[] = {SCHEDULE_BLOCK,     SCHEDULE_GROUPS, SCHEDULE_TILE,
                                          SCHEDULE_REGISTERS, SCHEDULE_LANES,  SCHEDULE_VECTOR,
                                          SCHEDULE_UNROLL,    SCHEDULE_PAD};
    const int64_t a[] = {c->block, c->groups, c->tile,   c->registers,
                         c->lanes, c->vector, c->unroll, c->pad},
                  b[] = {o->block, o->groups, o->tile,   o->registers,
                         o->lanes, o->vector, o->unroll, o->pad};
    uint32_t i = 0, all = sizeof verbs / sizeof *verbs;
    if (c->matrix != o->matrix) return plan_matrix_apart(p, c, o);
    while (i < all && a[i] == b[i]) i++;
    bool tiles = plan_same_tiles(c->cell[SCHEDULE_BLOCK], o->cell[SCHEDULE_BLOCK]);
    if (i == all && c->strided == o->strided && c->masked == o->masked &&
        c->distributed == o->distributed && tiles)
        return true;
    schedule_verb verb = i < all                    ? verbs[i]
                         : !tiles                   ? SCHEDULE_BLOCK
                         : c->strided != o->strided ? SCHEDULE_REGISTERS
                                                    : SCHEDULE_UNROLL;
    const schedule_cell *here = c->cell[verb], *there = o->cell[verb];
    const char *text = schedule_verb_text(verb);
    plan_blame(p, c->stage, o->stage);
    diagnostic *d = plan_refuse(
        p, E0541, here ? here->at : there->at,
        "'%s %s' is not the same for '%s' and '%s', which share the loop over '%s'", text,
        plan_index_text(p, here ? c->var : o->var), c->stage->name, o->stage->name,
        plan_index_text(p, c->var));
    if (!d) return false;
    if (here && there) diag_note(d, there->at, "for '%s' it is said here", o->stage->name);
    else
        diag_note(d, here ? o->stage->at : c->stage->at, "for '%s' nothing is said",
                  here ? o->stage->name : c->stage->name);
    tell_alike(p, d, c, o, text);
    return false;
}

static void check_level(nest *n, const index_cut *c, const tensor_stage *st, tensor_var v) {
    index_cut o = plan_cut(n->p, st, v, false);
    if (!n->p->failed) plan_alike(n->p, c, &o);
}

// What deals an index out to blocks: its own statement, the kernel's windows, or a reduction that
// is cut.
static span blocks_at(const nest *n, const index_cut *c) {
    const schedule_cell *cell = c->cell[SCHEDULE_BLOCK];
    return cell              ? cell->at
           : n->rows->window ? n->rows->window->cell->at
                             : plan_deepest(n->p, n->group)->at;
}

// The blocks of a kernel are counted before it runs, each goes once through what is around.
static void check_blocks(nest *n, const index_cut *c, bool blocks) {
    bool grid = n->rows->place == ROWS_OF_GRID || n->rows->place == ROWS_OF_TILE ||
                n->rows->place == ROWS_OF_WINDOW;
    if (blocks && !grid) {
        const char *name = plan_index_text(n->p, c->var);
        diagnostic *d = plan_refuse(
            n->p, E0554, blocks_at(n, c),
            "'%s' is distributed over blocks, and a block of its kernel owns whole rows, which fused stages share",
            name);
        if (d) diag_help(d, "leave '%s' to the threads of a block: `block %s none`", name, name);
        return;
    }
    for (uint32_t i = 0; i < n->levels.len && blocks; i++) {
        loop_place rest = n->levels.data[i]->rest;
        bool chained = i == n->tiled && plan_chained(n->rows->tile, n->tiles);
        if (!chained && rest != LOOP_SERIAL_PLACE && rest != LOOP_UNROLL_PLACE) continue;
        const char *outer = plan_index_text(n->p, n->levels.data[i]->var);
        diagnostic *d = plan_refuse(
            n->p, E0554, blocks_at(n, c),
            "'%s' is distributed over blocks, and '%s', whose loop is around it, is not",
            plan_index_text(n->p, c->var), outer);
        bool tile = n->rows->tile && i == n->rows->level;
        if (d && tile)
            diag_help(
                d,
                "tiles of one value come one after the other, or end where their points do: let '%s' be outside, `loops %s, %s`",
                plan_index_text(n->p, c->var), plan_index_text(n->p, c->var), outer);
        else if (d)
            diag_help(
                d, "distribute '%s' too, `block %s 1`, or leave this one to the threads of a block",
                outer, outer);
        return;
    }
}

// The loop over what a block owns: its rows, which the digits cover, or the edges of its rows, as
// many as there are.
static void digits_within(nest *n, index_cut c, loop_node *node) {
    planner *p = n->p;
    if (n->rows->place == ROWS_OF_BLOCK) c.block = n->rows->points;
    else if (c.block) {
        diagnostic *d = plan_refuse(
            p, E0541, c.cell[SCHEDULE_BLOCK]->at,
            "a block of this kernel owns the points of '%s' that belong to its rows",
            plan_index_text(p, c.var));
        if (d)
            diag_help(d, "leave 'block %s' out: the kernel's rows are distributed over blocks",
                      plan_index_text(p, c.var));
        c.block = 0;
    }
    plan_digits(p, &c, node);
    node->rest = n->rows->place == ROWS_OF_BLOCK ? LOOP_WHOLE_PLACE : LOOP_SERIAL_PLACE;
}

static bool in_blocks(const nest *n) {   // the loops so far
    uint32_t i = 0;
    while (i < n->levels.len && n->levels.data[i]->rest != LOOP_SERIAL_PLACE) i++;
    return i == n->levels.len;
}

static void write_out(nest *n, uint32_t level, loop_node *node) {
    for (uint32_t i = 0; i < n->group->len && !n->p->failed; i++) {
        tensor_var *vars = ARENA_ARRAY(n->p->arena, tensor_var, stage_at(n, i)->nleft + 1);
        if (plan_left(n->p, stage_at(n, i), vars) > level)
            plan_write_out(n->p, vars[level], &n->levels, node);
    }
}

// The other stages in the loop deal it out alike, and call its index by their own name.
static void share_level(nest *n, uint32_t level, const index_cut *said, uint32_t vector,
                        const plan_tile *tile, loop_node *node) {
    planner *p = n->p;
    for (uint32_t i = 0; i < n->group->len; i++) {
        if (stage_at(n, i) == plan_deepest(p, n->group)) continue;
        tensor_var *vars = ARENA_ARRAY(p->arena, tensor_var, stage_at(n, i)->nleft + 1);
        if (plan_left(p, stage_at(n, i), vars) <= level) continue;
        check_level(n, said, stage_at(n, i), vars[level]);
        if (vector > 1) plan_vector_guards(p, stage_at(n, i), vars[level], vector, said->pad > 0);
        if (vars[level] == n->vars[level]) continue;
        let_var(p, &node->body, vars[level], n->vars[level], stage_at(n, i)->at);
        if (tile) plan_given(p, tile, vars[level], &node->body);
    }
}

static void refuse_vector(planner *p, index_cut *c, tensor_var v, bool ordered, bool within) {
    diagnostic *d = plan_refuse(
        p, E0548, c->cell[SCHEDULE_VECTOR]->at,
        ordered
            ? "'%s' is visited in another order, in which the %lld points of a vector are not adjacent"
        : within ? "'%s' begins in each block where its rows do, not at a multiple of %lld"
                 : "the extent of '%s' is no multiple of %lld",
        plan_index_text(p, v), (long long)c->vector);
    if (d) diag_help(d, "take registers for it, or a vector that divides its extent");
    c->vector = 0;
}

// What a loop over v visits: v, or in another order positions in that.
static tensor_var visited(nest *n, tensor_var v, bool ordered) {
    const tensor_var_info of = n->p->op->vars.data[v];
    if (!ordered) return v;
    if (n->rows->at) return *n->rows->at;
    return tensor_add_var(n->p->op, arena_printf(n->p->arena, "%s.at", of.name), of.space);
}

loop_body *plan_nest_open(plan_nest *n, uint32_t level, loop_body *to) {
    planner *p = n->p;
    const tensor_stage *deepest = plan_deepest(p, n->group);
    loop_node *node = loop_node_new(p->plan, LOOP_FOR, deepest->at);
    tensor_var v = n->vars[level];
    const plan_owned *owned = plan_owned_index(n->rows->owned, v);
    bool rows = level == n->rows->level, ordered = rows && n->rows->order != TENSOR_NO_VAL,
         within = owned || (rows && n->rows->place != ROWS_OF_GRID);
    if (rows && n->rows->tile) {
        n->tiles = plan_open_tiles(p, n->rows->tile, n->group, &to);
        n->tiled = n->levels.len;
    }
    node->var = visited(n, v, ordered);
    node->lo = rows && n->rows->lo ? n->rows->lo : tensor_int(p->op, 0);
    node->hi = rows && n->rows->hi ? n->rows->hi
                                   : tensor_size(p->op, p->op->vars.data[v].space, NO_SPAN);
    if (owned) node->lo = owned->lo, node->hi = owned->hi;
    const index_cut said = plan_cut(p, deepest, v, false);
    index_cut c = rows && n->rows->by ? plan_taken_cut(said) : said;
    if (said.matrix && plan_takes_up(p, deepest)) c = plan_taken_sums(p, c);
    else if (plan_spreads(p)) c = plan_spread(c);
    else if (p->cut.clearing) c = plan_cleared_cut(p, c, level, n->depth);
    if (rows && n->rows->window) {   // the groups have windows, each of which is one piece of rows
        n->tiles = plan_open_windows(p, n->rows->window, &said, to);
        n->tiled = n->levels.len;
        to = &n->tiles->body;
        c.groups = n->rows->window->warps;
    }
    if (!rows || !n->rows->tile) plan_check_tiles(p, &c, n->rows);
    else plan_check_groups(p, n->rows->tile, &c);
    const plan_part *part = plan_part_of(p, (uint32_t)(deepest - p->op->stages.data));
    if (part && part->kind == PART_RUNS && part->run.row == v)
        c = plan_deal_rows(p, part, c, in_blocks(n));
    if (c.vector > 1 &&
        (ordered || within || !plan_vector_guards(p, deepest, v, (uint32_t)c.vector, c.pad > 0)))
        refuse_vector(p, &c, v, ordered, within);
    plan_pad_loop(p, &c, node,
                  ordered                          ? "its points are visited in another order"
                  : rows && n->rows->tile          ? "its points are those of a tile"
                  : rows && n->rows->lo && !within ? "its points are those of a class"
                  : within
                      ? "a block of the kernel owns some of its points, which end where they do"
                      : NULL);
    if (rows && n->rows->everyone)
        VEC_PUSH(p->arena, &n->everyone, node), node->rest = LOOP_SERIAL_PLACE;
    else if (rows && n->rows->tile) plan_tile_digits(p, n->rows->tile, c, node);
    else if (owned) plan_digits(p, &c, node), node->rest = LOOP_WHOLE_PLACE;
    else if (within && !n->rows->window) digits_within(n, c, node);
    else plan_digits(p, &c, node);
    if (rows && n->rows->window) node->rest = LOOP_WHOLE_PLACE, p->windows.row = node->var;
    write_out(n, level, node);
    if (rows && n->rows->at && node->rest == LOOP_WHOLE_PLACE)
        node->rest = LOOP_SERIAL_PLACE;   // of tiles, not of rows
    check_blocks(n, &c,
                 node->rest == LOOP_BLOCK_PLACE || (rows && (n->rows->tile || n->rows->window)));
    VEC_PUSH(p->arena, &n->levels, node);
    loop_append(p->plan, to, node);
    if (ordered) {
        loop_node *let = loop_node_new(p->plan, LOOP_LET, deepest->at);
        tensor_expr at = tensor_var_expr(p->op, node->var, NO_SPAN);
        let->var = v;
        if (n->rows->by) at = tensor_load(p->op, *n->rows->by, &at, 1, NO_SPAN);
        let->value = tensor_load(p->op, n->rows->order, &at, 1, NO_SPAN);
        loop_append(p->plan, &node->body, let);
    }
    if (rows && n->rows->tile) plan_given(p, n->rows->tile, v, &node->body);
    share_level(n, level, &said, (uint32_t)c.vector, rows ? n->rows->tile : NULL, node);
    return &node->body;
}

void plan_bound_vectors(planner *p, const tensor_stage *st) {
    for (uint32_t b = 0; b < st->nbound; b++) {
        index_cut c = plan_cut(p, st, st->bound[b], true);
        if (c.vector <= 1 || plan_vector_guards(p, st, st->bound[b], (uint32_t)c.vector, c.pad > 0))
            continue;
        diagnostic *d = plan_refuse(p, E0548, c.cell[SCHEDULE_VECTOR]->at,
                                    "the extent of '%s' is no multiple of %lld",
                                    plan_index_text(p, st->bound[b]), (long long)c.vector);
        if (d) diag_help(d, "take registers for it, or a vector that divides its extent");
    }
}

// Reductions that share a walk deal out what they reduce alike.
static void check_walk(nest *n, const tensor_stage *first, const tensor_stage *st) {
    for (uint32_t b = 0; b < st->nbound && !n->p->failed; b++) {
        index_cut c = plan_cut(n->p, first, first->bound[b], true),
                  o = plan_cut(n->p, st, st->bound[b], true);
        plan_alike(n->p, &c, &o);
        plan_check_combine(n->p, st, &o, false);
    }
}

loop_body *plan_nest_run(plan_nest *n, uint32_t from, uint32_t to, loop_body *at, loop_list *walk) {
    planner *p = n->p;
    const uint32_t *stages = n->group->data + from;
    const tensor_stage *st = &p->op->stages.data[stages[0]];
    const plan_part *part = plan_part_of(p, stages[0]);
    bool runs = part && part->kind == PART_RUNS;
    if (runs && !p->cut.leaving) at = plan_cut_rows(p, part, at);
    if (part && part->atomic && !p->cut.leaving) {
        loop_append(p->plan, at, plan_states(p, LOOP_CLEAR, part));
        return at;
    }
    if (st->reducer != TENSOR_NO_REDUCER) {
        for (uint32_t i = from; i < to; i++) plan_bound_vectors(p, stage_at(n, i));
        for (uint32_t i = from + 1; i < to; i++) check_walk(n, st, stage_at(n, i));
        loop_node *reduce = runs && p->cut.leaving ? plan_carry(p, part)
                                                   : loop_node_new(p->plan, LOOP_REDUCE, st->at);
        reduce->nstages = to - from;
        reduce->stages = stages;
        loop_append(p->plan, at, reduce);
        plan_walk(p, stages, to - from, reduce, walk, NULL);
        if (!part || p->cut.leaving) plan_matrix_reduce(p, st, &n->levels, reduce);
    }
    if (part && part->kind == PART_ROW && p->cut.leaving) {
        at = plan_leave_or_store(p, part, stages, to - from, at);
        for (uint32_t i = to; i < n->group->len; i++) plan_know_degree(p, part, stage_at(n, i), at);
        return at;
    }
    for (uint32_t i = 0; i < to - from; i++)
        if (p->cut.leaving && part) plan_leave_state(p, at, stages[i]);
        else plan_store(p, at, &stages[i]);
    return at;
}

static loop_body *emit_stages(nest *n, uint32_t level, loop_body *at) {
    for (uint32_t i = 0; i < n->group->len;) {
        tensor_var *vars = ARENA_ARRAY(n->p->arena, tensor_var, stage_at(n, i)->nleft + 1);
        uint32_t end = i + 1;
        if (plan_left(n->p, stage_at(n, i), vars) == level) {
            end = plan_run_end(n->p, n->group, i);
            loop_list walk = {0};
            at = plan_nest_run(n, i, end, at, &walk);
            plan_deal(n, n->group->data[i], level, &walk);
        }
        i = end;
    }
    return at;
}

static const char *kernel_name(const planner *p, const tensor_stage *st) {
    char *name = arena_printf(p->arena, "%s_%s", p->op->name, st->name);
    for (char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9')))
            *c = '_';
    return name;
}

plan_nest plan_nest_start(planner *p, const tensor_stage *deepest, uint32_t number) {
    nest n = {.p = p, .kernel = ARENA_NEW(p->arena, loop_kernel)};
    const char *name = kernel_name(p, deepest);
    *n.kernel = (loop_kernel){.name = number ? arena_printf(p->arena, "%s_%u", name, number) : name,
                              .at = deepest->at};
    return n;
}

void plan_nest_begin(plan_nest *n, const stage_group *g, const row_class *rows) {
    const tensor_stage *deepest = plan_deepest(n->p, g);
    n->group = g;
    n->rows = rows;
    n->levels = (loop_list){0};
    n->tiles = NULL;
    n->dealt = n->dealings.len;
    n->p->specialized.loop = NULL;
    n->vars = ARENA_ARRAY(n->p->arena, tensor_var, deepest->nleft + 1);
    n->depth = plan_left(n->p, deepest, n->vars);
}

loop_body *plan_nest_group(plan_nest *n, const stage_group *g, const row_class *rows,
                           loop_body *at) {
    plan_nest_begin(n, g, rows);
    if (!n->depth) at = plan_specialize_open(n, at);
    at = emit_stages(n, 0, at);
    for (uint32_t level = 0; level < n->depth; level++) {
        at = plan_nest_open(n, level, at);
        at = plan_collapse(n->p, g, &n->levels, level, at);
        if (level + 1 == n->depth) at = plan_specialize_open(n, at);
        at = emit_stages(n, level + 1, at);
    }
    return at;
}

static bool has_kernel(const loop_plan *plan, const char *name) {
    for (uint32_t i = 0; i < plan->steps.len; i++) {
        const loop_step *s = &plan->steps.data[i];
        if (s->kind == LOOP_LAUNCH && !strcmp(s->kernel->name, name)) return true;
    }
    return false;
}

// Rows of class 2 of `y.sum` and stage `y.sum_2` would be of one name, and so would `y_sum` of the
// user's.
static const char *free_name(const planner *p, const char *name) {
    const char *free = name;
    for (uint32_t i = 2; has_kernel(p->plan, free); i++)
        free = arena_printf(p->arena, "%s_%u", name, i);
    return free;
}

void plan_nest_end(plan_nest *n) {
    plan_settle(n);
    plan_held_lanes(n->p, n->kernel);
    plan_distributed_steps(n->p, n->group);
    plan_cache(n->p, n->kernel);
    plan_persistent(n->p, n->kernel);
    n->kernel->name = free_name(n->p, n->kernel->name);
    VEC_PUSH(n->p->arena, &n->p->plan->steps,
             ((loop_step){.kind = LOOP_LAUNCH, .kernel = n->kernel}));
}

// What is combined in memory is cleared by the kernel before.
static void before_last(planner *p) {
    loop_step *last = &p->plan->steps.data[p->plan->steps.len - 1], clear = *last;
    last[0] = last[-1];
    last[-1] = clear;
}

static loop_kernel *take_up(planner *p, const stage_group *g, const plan_part *part,
                            const row_class *of, uint32_t number) {
    nest n = plan_nest_start(p, plan_deepest(p, g), number);
    const bool clears = part && part->atomic;
    if (clears) n.kernel->name = arena_printf(p->arena, "%s_clear", n.kernel->name);
    if (of->by && !clears)
        n.kernel->name = arena_printf(p->arena, p->cut.more_groups ? "%s_cut_many" : "%s_cut",
                                      n.kernel->name);
    plan_nest_group(&n, g, of, &n.kernel->body);
    plan_nest_end(&n);
    plan_matrix_fit(p, g, n.kernel);
    plan_fetch(p, g, n.kernel);
    plan_check_chains(p, g, n.kernel);
    if (clears) before_last(p);
    return n.kernel;
}

void plan_take_up(planner *p, const stage_group *g, const row_class *rows, uint32_t number) {
    plan_part *part = p->cut.parts.len ? &p->cut.parts.data[0] : NULL;
    const bool cut = part && part->kind == PART_ROW;
    row_class of = cut ? plan_taken_rows(p, part, rows) : *rows;
    if (cut) p->cut.taken_up = p->plan->steps.len;
    loop_kernel *k = take_up(p, g, part, &of, number);
    int64_t more = cut && !part->atomic && !p->failed ? plan_many_parts(p, g, part, rows, k, &of)
                                                      : 1;
    if (more < 2) return;
    p->cut.more_groups = more;
    take_up(p, g, part, &of, number)->seldom = true;
    p->cut.more_groups = 0;
}

static void build(planner *p, const row_class *rows, uint32_t number, void *user) {
    const stage_group *g = user;
    plan_parts(p, g, rows, number);
    if (!p->failed) plan_take_up(p, g, rows, number);
}

void plan_kernel(planner *p, stage_group *g) {
    if (plan_keeps_shared(p, g, false)) {
        plan_fusion(p, g, NULL);
        return;
    }
    for (tensor_val v = 0; v < p->op->nparams; v++)
        if (!plan_check_kept_tiles(p, g, v, false)) return;
    plan_private(p, g);
    plan_check_kept(p, g);
    for (uint32_t i = 0; i < g->len; i++) plan_choose_home(p, g, &p->op->stages.data[g->data[i]]);
    plan_each_class(p, plan_deepest(p, g), build, g);
    p->cut.parts.len = 0;
    p->windows.of = NULL;
}
