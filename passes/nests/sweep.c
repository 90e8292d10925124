// Stages fused at an index that rows are walked by: one walk over the edges of a row computes what
// stages give for an edge and contributes to all sums of the row while the edge is at hand. Loops
// that only sums have are opened around the walk, dealt out at once, and left out where an edge's
// stage is computed.
//     fuse s, y at e   →  for v { for f [lane 32, whole] {
//                             reduce y { for e … { without f { reduce s { … }  store s }  contribute y } }
//                             store y } }
#include "nests/sweep.h"
#include "tensor/tensor.h"
#include "axes/axes.h"
#include "finish/finish.h"

#include <string.h>

// ---- Which stages do what -----------------------------------------------------------------------
// A map takes what it walks first to its outermost index.
static bool walks(planner *p, const tensor_stage *st, plan_map *m) {
    if (st->reducer == TENSOR_NO_REDUCER || st->loop != TENSOR_NO_LOOP || !st->nkeys ||
        !st->nleft || !st->nbound)
        return false;
    const tensor_node *rhs = tensor_node_at(p->op, st->keys[0].rhs);
    return rhs->op == TENSOR_VAR_OP && (tensor_var)rhs->imm.i == st->left[0] &&
           plan_map_of_key(p, st->keys[0].lhs, st->bound[0], m) &&
           m->domain == p->op->vars.data[st->bound[0]].space;
}

bool plan_sweeps(fusion *f) {
    const schedule_ids at = plan_fused_at(f->cell);
    for (uint32_t i = 0; i < f->stages.len; i++) {
        const tensor_stage *st = &f->p->op->stages.data[f->stages.data[i]];
        if (!walks(f->p, st, &f->map) || !plan_is_among(f->p, at, st->bound[0])) continue;
        f->rows = f->p->op->vars.data[st->left[0]].space;
        return f->mapped = true;
    }
    return false;
}

bool plan_sweep_walks(const sweep *s, const tensor_stage *st) {
    plan_map m;
    return walks(s->p, st, &m) && m.map == s->f->map.map &&
           sweep_space(s, st->left[0]) == s->f->rows && plan_is_among(s->p, s->at, st->bound[0]);
}

bool plan_sweep_of_edges(const sweep *s, const tensor_stage *st) {
    if (plan_sweep_walks(s, st) || !st->nleft || sweep_space(s, st->left[0]) != s->points)
        return false;
    return s->points != s->f->rows || plan_is_among(s->p, s->at, st->left[0]);
}

diagnostic *plan_sweep_cannot(sweep *s, const tensor_stage *st) {
    return plan_refuse(s->p, E0550, s->f->at, "'%s' cannot be fused at '%s'", st->name, s->index);
}

const char *plan_sweep_row_name(const sweep *s) {
    return plan_index_text(s->p, sweep_row(s, s->first)->left[0]);
}

// Of a row's stages: whether it reads what is final after the walk alone.
static bool reads_swept(const sweep *s, uint32_t stage, const stage_group *late) {
    for (uint32_t i = 0; i < s->f->stages.len; i++)
        if (plan_sweep_walks(s, plan_stage(s->p, s->f->stages.data[i])) &&
            plan_reads_stage(s->p, stage, s->f->stages.data[i]))
            return true;
    for (uint32_t i = 0; i < late->len; i++)
        if (plan_reads_stage(s->p, stage, late->data[i])) return true;
    return false;
}

void plan_sweep_add(sweep *s, stage_group *to, uint32_t stage) {
    uint32_t i = to->len;
    VEC_PUSH(s->p->arena, to, stage);
    for (; i > 0 && plan_stage(s->p, to->data[i - 1])->nleft > plan_stage(s->p, stage)->nleft; i--)
        to->data[i] = to->data[i - 1];
    to->data[i] = stage;
}

static bool sort_stages(sweep *s) {
    stage_group walk = {0}, late = {0};
    for (uint32_t i = 0; i < s->f->stages.len; i++) {
        uint32_t stage = s->f->stages.data[i];
        const tensor_stage *st = plan_stage(s->p, stage);
        bool row = st->nleft && sweep_space(s, st->left[0]) == s->f->rows &&
                   st->loop == TENSOR_NO_LOOP;
        if (plan_sweep_walks(s, st)) plan_sweep_add(s, &walk, stage);
        else if (plan_sweep_of_edges(s, st)) VEC_PUSH(s->p->arena, &s->edges, stage);
        else if (row && reads_swept(s, stage, &late)) VEC_PUSH(s->p->arena, &late, stage);
        else if (row) plan_sweep_add(s, &s->rows, stage);
        else {
            diagnostic *d = plan_sweep_cannot(s, st);
            if (d)
                diag_note(d, st->at,
                          "it is neither of points of '%s' nor of rows that loop over them by '%s'",
                          s->index, s->p->op->vals.data[s->f->map.map].name);
            if (d) diag_help(d, "leave '%s' out", st->name);
            return false;
        }
    }
    s->first = s->rows.len;
    for (uint32_t i = 0; i < walk.len; i++) VEC_PUSH(s->p->arena, &s->rows, walk.data[i]);
    s->end = s->rows.len;
    for (uint32_t i = 0; i < late.len; i++) VEC_PUSH(s->p->arena, &s->rows, late.data[i]);
    return true;
}

// ---- Stages of edges ----------------------------------------------------------------------------
// Its loops that the rows do not share.
static loop_body *own_loops(sweep *s, const tensor_stage *st, uint32_t from, loop_body *at,
                            loop_list *made) {
    planner *p = s->p;
    for (uint32_t i = from; i < st->nleft; i++) {
        index_cut c = plan_cut(p, st, st->left[i], false);
        bool vector = c.vector <= 1 ||
                      plan_vector_guards(p, st, st->left[i], (uint32_t)c.vector, c.pad > 0);
        const schedule_cell *wrong = !vector   ? c.cell[SCHEDULE_VECTOR]
                                     : c.block ? c.cell[SCHEDULE_BLOCK]
                                               : NULL;
        if (wrong) {
            diagnostic *d = plan_refuse(
                p, vector ? E0554 : E0548, wrong->at,
                vector ? "'%s' is distributed over blocks inside a loop that a block goes through"
                       : "the extent of '%s' is no multiple of the vector",
                plan_index_text(p, st->left[i]));
            if (d)
                diag_help(d, "distribute '%s' over the threads of a block",
                          plan_index_text(p, st->left[i]));
            return at;
        }
        loop_node *n = loop_node_new(p->plan, LOOP_FOR, st->at);
        n->var = st->left[i];
        n->lo = tensor_int(p->op, 0);
        n->hi = tensor_size(p->op, sweep_space(s, n->var), NO_SPAN);
        plan_pad_loop(p, &c, n, NULL);
        plan_digits(p, &c, n);
        loop_append(p->plan, at, n);
        VEC_PUSH(p->arena, made, n);
        at = &n->body;
    }
    return at;
}

// What the map says at a row's edges is the row: what an edge reads of it is read once.
static void give_row(sweep *s, const tensor_stage *st, loop_body *at) {
    planner *p = s->p;
    plan_window_column(p, st->left[0], at);
    if (!plan_reads_val(p, st, s->f->map.map)) return;
    loop_node *n = loop_node_new(p->plan, LOOP_GIVEN, st->at);
    tensor_expr index = tensor_var_expr(p->op, st->left[0], NO_SPAN);
    n->key = tensor_load(p->op, s->f->map.map, &index, 1, NO_SPAN);
    n->value = tensor_var_expr(p->op, sweep_row(s, s->first)->left[0], NO_SPAN);
    loop_append(p->plan, at, n);
}

// at: the innermost of its loops that sums stand in, too.
static void bind(sweep *s, const tensor_stage *st, uint32_t at, loop_body *to) {
    const tensor_stage *first = sweep_row(s, s->first);
    for (uint32_t i = 0; i <= s->loops.data[at].level && !s->p->failed; i++) {
        uint32_t loop = at;
        while (s->loops.data[loop].level > i) loop = s->loops.data[loop].around;
        const tensor_stage *other = i ? plan_sweep_sum(s, loop) : first;
        tensor_var v = i ? other->left[i] : first->bound[0];
        index_cut own = plan_cut(s->p, st, st->left[i], false),
                  theirs = plan_cut(s->p, other, v, !i);
        if (!tensor_marked(st, TENSOR_AGAIN))
            plan_alike(s->p, &theirs, &own);   // else it walks as others do
        if (i && theirs.vector > 1)
            plan_vector_guards(s->p, st, st->left[i], (uint32_t)theirs.vector, theirs.pad > 0);
        plan_let(s->p, to, st->left[i], tensor_var_expr(s->p->op, v, NO_SPAN), st->at);
        if (!i) give_row(s, st, to);
    }
}

static void emit_edge(sweep *s, const uint32_t *stage, loop_body *to) {
    planner *p = s->p;
    const tensor_stage *st = plan_stage(s->p, *stage);
    uint32_t matched, at = plan_sweep_at(s, st, &matched);
    loop_list own = {0};
    to = plan_sweep_leave_out(s, st, at, to);
    bind(s, st, at, to);
    to = own_loops(s, st, matched, to, &own);
    if (st->reducer != TENSOR_NO_REDUCER && !plan_window_product(p, stage, to, &own)) {
        plan_bound_vectors(p, st);
        loop_node *reduce = loop_node_new(p->plan, LOOP_REDUCE, st->at);
        reduce->nstages = 1;
        reduce->stages = stage;
        loop_append(p->plan, to, reduce);
        plan_walk(p, stage, 1, reduce, &own, NULL);
    }
    plan_store(p, to, stage);
    if (own.len || !s->windowed) plan_sweep_deal(s, *stage, at, true, &own);
}

static void emit_edges(void *user, loop_body *at) {
    sweep *s = user;
    for (uint32_t i = 0; i < s->edges.len && !s->p->failed; i++)
        emit_edge(s, &s->edges.data[i], at);
}

// ---- The kernel ---------------------------------------------------------------------------------
// A loop that an edge's stage or another sum does not stand in is dealt out at once, as the walk
// inside is gone through once.
static uint32_t at_once(const loop_node *n) {
    uint32_t points = 1;
    for (uint32_t i = 0; i < n->ndigits; i++)
        if (n->digits[i].place != LOOP_SERIAL_PLACE) points *= n->digits[i].extent;
    return points;
}

static int64_t padded(const loop_node *n, int64_t size) {
    return n->rounds.pad > 1 ? (size + n->rounds.pad - 1) / n->rounds.pad * n->rounds.pad : size;
}

static void not_at_once(sweep *s, const loop_node *n, const tensor_stage *sum, const char *name,
                        const tensor_space_info *space) {
    planner *p = s->p;
    const char *way_out = arena_printf(
        p->arena,
        "distribute it at once: lanes, vector, registers for the rest, and no tile: `registers %s %lld`",
        name, (long long)padded(n, space->size));
    diagnostic *d;
    if (n->rest == LOOP_BLOCK_PLACE) {
        d = plan_refuse(p, E0554, s->f->at,
                        "'%s' is distributed over blocks, and each would go through '%s' again",
                        name, s->index);
        way_out = arena_printf(p->arena, "leave '%s' to the threads of a block: `block %s none`",
                               name, name);
    } else if (space->kind != SPACE_CONST || !space->size) {
        d = plan_refuse(p, E0544, s->f->at, "the loop over '%s' runs once, for all of '%s', %s",
                        s->index, name,
                        space->kind == SPACE_CONST ? "of which there are no points"
                                                   : "whose extent is not known");
        way_out = arena_printf(p->arena, "give the size, as -D %s=64 does", space->name);
    } else
        d = plan_refuse(
            p, E0542, s->f->at,
            "the loop over '%s' runs once, and '%s' around it has rounds of %u for %lld points",
            s->index, name, at_once(n), (long long)padded(n, space->size));
    if (!d) return;
    diag_note(d, sum->at, "'%s' keeps a sum for each '%s' in the loop over '%s'", sum->name, name,
              s->index);
    diag_help(d, "%s", way_out);
}

static void hold(sweep *s, uint32_t loop) {
    loop_node *n = s->loops.data[loop].node;
    const tensor_stage *sum = plan_sweep_sum(s, loop);
    const char *name = plan_index_text(s->p, sum->left[s->loops.data[loop].level]);
    const tensor_space_info *space = &s->p->op->spaces.data[sweep_space(s, n->var)];
    bool rounds = n->rest == LOOP_BLOCK_PLACE || at_once(n) != loop_digits_product(n);
    if (rounds || space->kind != SPACE_CONST || !space->size ||
        padded(n, space->size) > at_once(n)) {
        not_at_once(s, n, sum, name, space);
        return;
    }
    n->rest = LOOP_WHOLE_PLACE;
    if (n->rounds.unroll <= 1) return;
    diagnostic *d = plan_refuse(s->p, E0540, s->f->at,
                                "'unroll %s' has nothing to do here: no step along '%s' is serial",
                                name, name);
    if (d) diag_help(d, "leave it out");
}

// What is computed from the sums goes where it returns: of rows that are cut, where they are not.
static loop_body *emit_walk(sweep *s, loop_body *at) {
    planner *p = s->p;
    const uint32_t *stages = s->rows.data + s->first;
    uint32_t n = s->end - s->first;
    loop_node *reduce = loop_node_new(p->plan, LOOP_REDUCE, sweep_row(s, s->first)->at);
    for (uint32_t i = 0; i < n; i++) plan_bound_vectors(p, sweep_row(s, s->first + i));
    for (uint32_t i = 1; i < n; i++) {
        const tensor_stage *a = sweep_row(s, s->first), *b = sweep_row(s, s->first + i);
        index_cut x = plan_cut(p, a, a->bound[0], true), y = plan_cut(p, b, b->bound[0], true);
        // of operations: refused by plan_window_walk
        bool kinds = x.matrix && y.matrix && x.matrix_kind != y.matrix_kind;
        if (!p->failed && !kinds) plan_alike(p, &x, &y);
    }
    reduce->nstages = n;
    reduce->stages = stages;
    plan_run_maxima(p, stages, n, reduce);
    loop_append(p->plan, at, reduce);
    s->made = (loop_list){0};
    plan_walk(p, stages, n, reduce, &s->made, &(plan_inside){emit_edges, s, &s->edges});
    if (s->windowed && s->windows.columns != PLAN_OF_CELLS)
        plan_matrix_reduce(p, s->windows.stage, &s->n->levels, reduce);
    if (p->failed) return at;
    for (uint32_t i = 0; i < s->before.len; i++)
        plan_sweep_deal(s, s->before.data[i].stage, s->before.data[i].at, false,
                        &s->before.data[i].own);
    s->before.len = 0;
    if (s->depth > 1) plan_distribute_walk(p, s->made.data[0], s->n->levels.data[s->depth - 1]);
    for (uint32_t i = 0; i < n; i++) {
        const tensor_stage *st = plan_stage(p, stages[i]);
        if (!p->cut.leaving) plan_store(p, plan_sweep_leave_beside(s, st, at), &stages[i]);
        plan_sweep_deal(s, stages[i], plan_sweep_own(s, st), true, &s->made);
    }
    if (!p->cut.leaving) return at;
    const plan_part *part = plan_part_of(p, stages[0]);
    loop_body *cut, *whole;
    plan_cut_or_whole(p, part, at, &cut, &whole);
    for (uint32_t i = 0; i < n; i++) {
        const tensor_stage *st = plan_stage(p, stages[i]);
        plan_leave_state(p, plan_sweep_leave_beside(s, st, cut), stages[i]);
        plan_store(p, plan_sweep_leave_beside(s, st, whole), &stages[i]);
    }
    at = whole;
    for (uint32_t i = s->end; i < s->rows.len; i++) plan_know_degree(p, part, sweep_row(s, i), at);
    return at;
}

// Of the walk's threads those that have its own indices: what is computed from its sums stands
// where they are known.
static void emit_alone(sweep *s, uint32_t i, uint32_t at, loop_body *to) {
    sweep_dealing d = {.stage = s->rows.data[i], .at = at};
    plan_nest_run(s->n, i, i + 1, plan_sweep_leave_beside(s, sweep_row(s, i), to), &d.own);
    if (s->apart && i < s->first && !s->p->cut.leaving) VEC_PUSH(s->p->arena, &s->before, d);
    else plan_sweep_deal(s, d.stage, at, false, &d.own);
}

// So many loops are open. Of sums apart, what has more indices than all have stands inside all.
static bool stands_at(const sweep *s, uint32_t i, uint32_t open) {
    uint32_t own = sweep_row(s, i)->nleft;
    if (s->apart) return (i < s->end && own <= s->shared ? own : s->loops.len) == open;
    return (i >= s->end && own < s->depth ? s->depth : own) == open;
}

static loop_body *emit_level(sweep *s, uint32_t open, loop_body *at) {
    const bool walk = open == (s->apart ? s->loops.len : s->depth);
    if (walk && s->p->cut.leaving) at = emit_walk(s, at);
    for (uint32_t i = 0; i < s->first; i++)
        if (stands_at(s, i, open)) emit_alone(s, i, plan_sweep_own(s, sweep_row(s, i)), at);
    if (walk && !s->p->cut.leaving) at = emit_walk(s, at);
    for (uint32_t i = s->end; i < s->rows.len && !s->p->failed; i++) {
        if (!stands_at(s, i, open)) continue;
        emit_alone(s, i, s->apart ? plan_sweep_own(s, sweep_row(s, i)) : open - 1, at);
    }
    return at;
}

// By the stages that stand in it.
static loop_body *open_loop(sweep *s, uint32_t i, loop_body *at) {
    sweep_loop *l = &s->loops.data[i];
    const stage_group *all = s->n->group;
    const tensor_stage *deepest = plan_deepest(s->p, &l->stages);
    s->n->group = &l->stages;
    s->n->vars = ARENA_ARRAY(s->p->arena, tensor_var, deepest->nleft + 1);
    plan_left(s->p, deepest, s->n->vars);
    at = plan_nest_open(s->n, l->level, at);
    s->n->group = all;
    l->node = s->n->levels.data[i];
    l->node->rounds.beside = s->apart && i >= s->depth;
    if (l->walked && l->level >= s->shared) hold(s, i);
    return at;
}

static void emit_kernel(sweep *s, const row_class *rows, uint32_t number) {
    planner *p = s->p;
    plan_nest n = plan_nest_start(p, plan_deepest(p, &s->rows), number);
    loop_body *at = &n.kernel->body;
    s->n = &n;
    plan_nest_begin(&n, &s->rows, rows);
    for (uint32_t i = 0; i < s->loops.len && !p->failed; i++) {
        at = open_loop(s, i, at);
        if (!p->failed) at = emit_level(s, i + 1, at);
    }
    if (p->failed) return;
    plan_nest_end(&n);
    if (s->windowed) plan_fetch(p, &s->rows, n.kernel);
}

// What came before the walk stands behind it where rows are cut, so that it is computed once a row:
// a walk that is cut reads nothing of it (plan_joins).
static bool cut_rows(sweep *s, row_class *parts) {
    stage_group walk = {0};
    for (uint32_t i = s->first; i < s->rows.len; i++) VEC_PUSH(s->p->arena, &walk, s->rows.data[i]);
    for (uint32_t i = 0; i < s->first; i++) {
        uint32_t own = sweep_row(s, i)->nleft;
        if (s->apart ? own > s->shared : own == s->depth) continue;
        diagnostic *d = plan_refuse(
            s->p, E0530, s->f->at,
            "'split' along '%s' has no pass in this version: '%s' has fewer loops than others",
            s->index, sweep_row(s, i)->name);
        if (d) diag_help(d, "leave '%s' out of the kernel, or 'split'", sweep_row(s, i)->name);
        return false;
    }
    return plan_cut_walk(s->p, &walk, s->end - s->first, parts);
}

// Those of sums with indices of their own are taken up by a kernel each.
static void take_up(sweep *s, const row_class *rows, uint32_t number) {
    const uint32_t first = s->p->plan->steps.len;
    for (uint32_t i = 0; i < s->loops.len && !s->p->failed; i++) {
        stage_group *g = ARENA_NEW(s->p->arena, stage_group);
        *g = s->apart ? plan_sweep_ending(s, i) : s->rows;
        if (g->len && (s->apart || !i)) plan_take_up(s->p, g, rows, number);
    }
    s->p->cut.taken_up = first;
}

// Parts of long rows leave states, which another kernel takes up: see axes/cut_rows.c.
static void emit(planner *p, const row_class *rows, uint32_t number, void *user) {
    sweep *s = user;
    row_class parts = *rows;
    bool cut = plan_part_points(p, sweep_row(s, s->first)) > 0;
    s->windowed = plan_windowed(p, s->rows.data[s->first], &s->windows);
    if (s->windowed && !s->base) s->base = 1;   // lanes of rows are outside of those of slots
    if (s->apart && !plan_sweep_may_be_apart(s)) return;
    if (cut && !cut_rows(s, &parts)) return;
    p->cut.leaving = cut;
    emit_kernel(s, &parts, number);
    p->cut.leaving = false;
    if (cut && !p->failed) take_up(s, rows, number);
    p->cut.parts.len = 0;
    p->windows.of = NULL;
}

void plan_sweep(fusion *f) {
    sweep s = {.f = f,
               .p = f->p,
               .at = plan_fused_at(f->cell),
               .index = schedule_value_of(f->cell, "at")->text,
               .points = f->map.domain};
    if (!sort_stages(&s) || !plan_sweep_legal(&s)) return;
    for (uint32_t i = 0; i < s.edges.len; i++)
        if (!plan_fusion_reaches(f, sweep_edge(&s, i))) return;
    plan_check_kept(f->p, &f->stages);
    for (uint32_t i = 0; i < f->stages.len; i++)
        plan_choose_home(f->p, &f->stages, plan_stage(s.p, f->stages.data[i]));
    plan_each_class(f->p, plan_deepest(f->p, &s.rows), emit, &s);
}
