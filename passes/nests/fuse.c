// Stages fused at an index: one kernel whose blocks own rows of it, and the points that a map takes
// to those rows. Stages whose loops agree share them (kernels/group.c); the others follow in
// phases, and what one phase computes another reads in shared memory, or where the block wrote it.
//     fuse s, a, y at v   →  for v.block … { phase { for e in the edges of the block … s }
//                                            phase { for v … { a.max  a.sum  for d … y } } }
#include "nests/nests.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"
#include "axes/axes.h"

#include <string.h>

// ---- Rows and edges -----------------------------------------------------------------------------
static tensor_space first_space(const fusion *f, const tensor_stage *st) {
    return st->nleft ? f->p->op->vars.data[st->left[0]].space : TENSOR_NO_SPACE;
}

static bool is_var(const fusion *f, tensor_expr e, tensor_var v) {
    const tensor_node *n = tensor_node_at(f->p->op, e);
    return n->op == TENSOR_VAR_OP && (tensor_var)n->imm.i == v;
}

// The map by which a stage over rows walks what belongs to a row of its own, and the variable that
// walks.
static bool walked_map(const fusion *f, const tensor_stage *st, tensor_space domain, plan_map *m,
                       tensor_var *by) {
    for (uint32_t k = 0; k < st->nkeys; k++)
        for (uint32_t b = 0; b < st->nbound; b++) {
            if (!is_var(f, st->keys[k].rhs, st->left[0]) ||
                f->p->op->vars.data[st->bound[b]].space != domain)
                continue;
            *by = st->bound[b];
            if (plan_map_of_key(f->p, st->keys[k].lhs, st->bound[b], m) && m->domain == domain)
                return true;
        }
    return false;
}

bool plan_fusion_map(fusion *f, tensor_space domain) {
    tensor_var by;
    for (uint32_t i = 0; i < f->stages.len && !f->mapped; i++)
        if (first_space(f, plan_stage(f->p, f->stages.data[i])) == f->rows)
            f->mapped = walked_map(f, plan_stage(f->p, f->stages.data[i]), domain, &f->map, &by);
    return f->mapped && f->map.domain == domain;
}

static bool find_rows(fusion *f) {
    const schedule_ids index = plan_fused_at(f->cell);
    const tensor_stage *last = plan_deepest(f->p, &f->stages);
    f->rows = first_space(f, last);
    for (uint32_t i = 0; index.n && i < f->stages.len; i++) {
        const tensor_stage *st = plan_stage(f->p, f->stages.data[i]);
        f->rows = first_space(f, st);
        for (f->level = 0; f->level < st->nleft; f->level++)
            if (plan_is_among(f->p, index, st->left[f->level])) return true;
    }
    f->level = 0;
    if (!index.n && f->rows != TENSOR_NO_SPACE) return true;
    diagnostic *d = plan_refuse(f->p, E0550, f->at,
                                "no fused stage has a loop of its own over '%s'",
                                index.n ? schedule_value_of(f->cell, "at")->text : "an index");
    if (d) diag_help(d, "fuse at an index on the left of '%s'", last->name);
    return false;
}

static void not_its_rows(fusion *f, const tensor_stage *st) {
    const char *index = schedule_value_of(f->cell, "at") ? schedule_value_of(f->cell, "at")->text
                                                         : "?";
    diagnostic *d = plan_refuse(f->p, E0550, f->at, "'%s' cannot be fused at '%s'", st->name,
                                index);
    if (!d) return;
    bool reduces = false;
    for (uint32_t b = 0; b < st->nbound; b++)
        reduces |= plan_is_among(f->p, plan_fused_at(f->cell), st->bound[b]);
    if (reduces && st->nleft)
        diag_note(d, st->at, "it reduces over '%s', so it is final only after that loop", index);
    else if (f->level && st->nleft)
        diag_note(d, st->at, "its loops begin with '%s', not with the one around '%s'",
                  plan_index_text(f->p, st->left[0]), index);
    else diag_note(d, st->at, "no key of the fused stages takes its points to rows of '%s'", index);
    if ((reduces || f->level) && st->nleft)
        diag_help(d, "fuse at its own index: `at %s`", plan_index_text(f->p, st->left[0]));
    else diag_help(d, "leave '%s' out", st->name);
}

static bool classify(fusion *f) {
    for (uint32_t i = 0; i < f->stages.len; i++) {
        const tensor_stage *st = plan_stage(f->p, f->stages.data[i]);
        tensor_space s = first_space(f, st);
        if (s == f->rows || (s != TENSOR_NO_SPACE && plan_fusion_map(f, s))) continue;
        if (f->cell) not_its_rows(f, st);
        else
            plan_refuse(
                f->p, E0550, f->at,
                "'%s' cannot keep anything in shared memory: its points are not those of its kernel",
                st->name);
        return false;
    }
    return true;
}

static bool over_edges(const fusion *f, const tensor_stage *st) {
    return first_space(f, st) != f->rows;
}

// ---- Legality -----------------------------------------------------------------------------------
typedef struct {
    fusion *f;
    const tensor_stage *writer, *reader;
} check;

// Whether an index of the reader stays within what its block owns of the writer's.
bool plan_fusion_owns(fusion *f, const tensor_stage *reader, bool edges, tensor_expr index) {
    plan_map m;
    tensor_var by;
    if (over_edges(f, reader) == edges) return is_var(f, index, reader->left[0]);
    if (edges)
        return walked_map(f, reader, f->map.domain, &m, &by) && m.map == f->map.map &&
               is_var(f, index, by);
    return plan_map_of_key(f->p, index, reader->left[0], &m) && m.map == f->map.map;
}

// The axis by which blocks share a value out; UINT32_MAX: there is none.
static uint32_t owned_axis(const fusion *f, const tensor_stage *st, const tensor_target *t) {
    for (uint32_t a = 0; a < t->rank; a++)
        if (is_var(f, t->index[a], st->left[0])) return a;
    return UINT32_MAX;
}

static bool load_owned(void *user, const tensor_node *load) {
    const check *c = user;
    const tensor_op *op = c->f->p->op;
    for (uint32_t t = 0; t < c->writer->ntargets; t++) {
        tensor_val v = c->writer->targets[t].val, read = (tensor_val)load->imm.i;
        if (plan_at_other_step(c->f->p, c->writer, &c->writer->targets[t], load)) continue;
        bool other = v != read &&
                     (op->vals.data[v].inplace == read || op->vals.data[read].inplace == v);
        uint32_t axis = owned_axis(c->f, c->writer, &c->writer->targets[t]);
        if (other || (v == read && (axis == UINT32_MAX ||
                                    !plan_fusion_owns(c->f, c->reader, over_edges(c->f, c->writer),
                                                      load->args[axis]))))
            return false;
    }
    return true;
}

static bool check_reads(fusion *f) {
    for (uint32_t i = 0; i < f->stages.len; i++)
        for (uint32_t k = 0; k < f->stages.len; k++) {
            check c = {f, plan_stage(f->p, f->stages.data[i]), plan_stage(f->p, f->stages.data[k])};
            if (i == k || plan_loads(f->p, c.reader, load_owned, &c)) continue;
            diagnostic *d = plan_refuse(
                f->p, E0550, f->at, "'%s' reads of '%s' what other blocks of the kernel compute",
                c.reader->name, c.writer->name);
            if (!d) return false;
            diag_note(d, c.reader->at, "it reads '%s' at other points than those of its own row",
                      c.writer->name);
            diag_help(d, "fuse without '%s'", c.reader->name);
            return false;
        }
    return true;
}

// Points that a map takes nowhere belong to no row.
bool plan_fusion_reaches(fusion *f, const tensor_stage *st) {
    const tensor_val_info *m = &f->p->op->vals.data[f->map.map];
    bool total = (m->role == VAL_MAP || m->role == VAL_CLASSES) && plan_is_total(f->p, f->map.map);
    for (uint32_t t = 0; !total && t < st->ntargets; t++) {
        tensor_val v = st->targets[t].val;
        if (f->p->op->vals.data[v].role == VAL_STAGE && !plan_read_outside(f->p, &f->stages, v))
            continue;
        diagnostic *d = plan_refuse(f->p, E0550, f->at,
                                    "'%s' is needed at points that '%s' takes to no row", st->name,
                                    m->name);
        const char *declare = m->role == VAL_MAP
                                  ? arena_printf(f->p->arena, ", or declare '%s' without 'partial'",
                                                 m->name)
                                  : "";
        if (d) diag_help(d, "fuse without '%s'%s", st->name, declare);
        return false;
    }
    return true;
}

static bool check_total(fusion *f) {
    for (uint32_t i = 0; f->mapped && i < f->stages.len; i++) {
        const tensor_stage *st = plan_stage(f->p, f->stages.data[i]);
        if (over_edges(f, st) && !plan_fusion_reaches(f, st)) return false;
    }
    return true;
}

// ---- Phases -------------------------------------------------------------------------------------
static bool same_cuts(fusion *f, const tensor_stage *a, const tensor_stage *b) {
    uint32_t n = a->nleft < b->nleft ? a->nleft : b->nleft;
    bool same = true;
    for (uint32_t i = 0; i < n; i++)
        same = plan_same_cut(f->p, a, a->left[i], b, b->left[i]) && same;
    return same;
}

// Whether it has to meet what it reads of the phase at a barrier.
static bool kept_apart(fusion *f, const plan_phase *ph, uint32_t stage) {
    for (uint32_t i = 0; i < ph->group.len; i++) {
        const tensor_stage *w = plan_stage(f->p, ph->group.data[i]);
        if (plan_kept_apart(f->p, w) && plan_reads_stage(f->p, stage, ph->group.data[i]))
            return true;
    }
    return false;
}

static bool is_tile(const fusion *f, const tensor_stage *st) {
    return f->p->plan->values.data[st->targets[0].val].of != TENSOR_NO_VAL;
}

static bool joins(fusion *f, const plan_phase *ph, uint32_t stage) {
    const tensor_stage *st = plan_stage(f->p, stage);
    if (ph->tile != is_tile(f, st)) return false;
    if (over_edges(f, st) && !kept_apart(f, ph, stage) && plan_follows(f, ph, stage)) return true;
    if (!ph->edges && plan_follower(f, ph->group.data[ph->group.len - 1])) return false;
    if (ph->edges != over_edges(f, st) || kept_apart(f, ph, stage) ||
        !plan_may_join(f->p, &ph->group, stage))
        return false;
    for (uint32_t i = 0; i < ph->group.len; i++)
        if (!same_cuts(f, plan_stage(f->p, ph->group.data[i]), st)) return false;
    return true;
}

static void make_phases(fusion *f) {
    for (uint32_t i = 0; i < f->stages.len; i++) {
        plan_phase *last = f->phases.len ? &f->phases.data[f->phases.len - 1] : NULL;
        const tensor_stage *st = plan_stage(f->p, f->stages.data[i]);
        if (!last || !joins(f, last, f->stages.data[i])) {
            VEC_PUSH(f->p->arena, &f->phases,
                     ((plan_phase){.edges = over_edges(f, st), .tile = is_tile(f, st)}));
            last = &f->phases.data[f->phases.len - 1];
        }
        VEC_PUSH(f->p->arena, &last->group, f->stages.data[i]);
    }
}

// Loops are shared down to the row in any case, further down within one phase alone.
static bool check_level(fusion *f) {
    const tensor_stage *first = plan_stage(f->p, f->stages.data[0]);
    bool shared = !f->level || f->phases.len == 1;
    for (uint32_t i = 0; i < f->stages.len; i++)
        shared = shared && plan_stage(f->p, f->stages.data[i])->nleft > f->level;
    if (shared) return true;
    diagnostic *d = plan_refuse(f->p, E0550, f->at,
                                "the fused stages do not share a loop over '%s'",
                                schedule_value_of(f->cell, "at")->text);
    if (d)
        diag_help(d, "distribute it over them alike, or fuse at '%s'",
                  plan_index_text(f->p, first->left[0]));
    return false;
}

// ---- Rows of a block ----------------------------------------------------------------------------
static index_cut row_cut(fusion *f, const tensor_stage *st) {
    return plan_cut(f->p, st, st->left[0], false);
}

// As its rows say, or as many as one of them deals out.
static bool find_points(fusion *f) {
    const schedule_cell *said = NULL;
    f->points = 1;
    for (uint32_t i = 0; i < f->stages.len; i++) {
        const tensor_stage *st = plan_stage(f->p, f->stages.data[i]);
        if (over_edges(f, st)) continue;
        index_cut c = row_cut(f, st);
        if (!said && (c.block || plan_parts_of(&c) > f->points))
            f->points = c.block ? c.block : plan_parts_of(&c);
        if (said && c.block && c.block != f->points) {
            diagnostic *d = plan_refuse(
                f->p, E0541, c.cell[SCHEDULE_BLOCK]->at,
                "a block owns %lld rows of '%s' and %lld of another fused stage",
                (long long)c.block, st->name, (long long)f->points);
            if (d) diag_note(d, said->at, "the other statement");
            if (d) diag_help(d, "say the same number for both");
            return false;
        }
        if (c.block) said = c.cell[SCHEDULE_BLOCK];
    }
    for (uint32_t i = 0; i < f->stages.len; i++) {
        const tensor_stage *st = plan_stage(f->p, f->stages.data[i]);
        index_cut c = {0};
        if (!over_edges(f, st)) c = row_cut(f, st);
        if (f->points % plan_parts_of(&c) == 0) continue;
        diagnostic *d = plan_refuse(f->p, E0542, f->at,
                                    "a block owns %lld rows, and '%s' deals them out by %lld",
                                    (long long)f->points, st->name, (long long)plan_parts_of(&c));
        if (d)
            diag_help(d, "say how many a block owns: `block %s %lld`",
                      f->p->op->vars.data[st->left[0]].name, (long long)plan_parts_of(&c));
        return false;
    }
    return true;
}

// ---- Classes ------------------------------------------------------------------------------------
static const tensor_stage *last_of_rows(const fusion *f) {
    stage_group rows = {0};
    for (uint32_t i = 0; i < f->stages.len; i++)
        if (!over_edges(f, plan_stage(f->p, f->stages.data[i])))
            VEC_PUSH(f->p->arena, &rows, f->stages.data[i]);
    if (rows.len) return plan_deepest(f->p, &rows);
    ICE("'%s': no fused stage has rows", f->p->op->name);
}

static void refuse_classes(planner *p, const plan_owned *o) {
    const char *name = plan_index_text(p, o->vars.data[0]);
    diagnostic *d = plan_refuse(
        p, E0554, o->at,
        "'%s' is distributed over blocks, and the rows of its kernel are in classes", name);
    if (d) diag_help(d, "leave '%s' to the threads of a block: `block %s none`", name, name);
}

static void measure(planner *p, const row_class *rows, uint32_t number, void *user) {
    fusion *f = user;
    if (!find_points(f)) return;
    f->apart = number || (rows->order != TENSOR_NO_VAL && f->points > 1);
    if (number && f->owned.len) refuse_classes(p, &f->owned.data[0]);
}

static bool same_phases(const fusion *f, const fusion *g) {
    bool same = f->phases.len == g->phases.len;
    for (uint32_t i = 0; same && i < f->phases.len; i++)
        same = f->phases.data[i].group.len == g->phases.data[i].group.len;
    return same;
}

// Where values live is the same for all classes, so their stages follow one another in the same
// phases.
static void divide(planner *p, const row_class *rows, uint32_t number, void *user) {
    fusion *f = user, first = *f;
    memset(&f->phases, 0, sizeof f->phases);
    make_phases(f);
    if (number <= 1 || same_phases(f, &first)) return;
    diagnostic *d = plan_refuse(
        p, E0541, rows->schedule->at,
        "the classes of a bucket divide the fused stages into other phases: %u and %u of them",
        first.phases.len, f->phases.len);
    if (d)
        diag_note(d, f->at, "which stages pass values on in registers is the same for all classes");
    if (d)
        diag_help(d, "distribute the left-hand indices of '%s' alike in each class",
                  last_of_rows(f)->name);
}

// ---- The kernel ---------------------------------------------------------------------------------
// The rows of a block in their order: [lo, hi) of the order's positions, or where it is one row, of
// rows.
static loop_node *ordered_blocks(fusion *f, plan_nest *n) {
    planner *p = f->p;
    const char *name = p->op->spaces.data[f->rows].name;
    loop_node *loop = loop_node_new(p->plan, LOOP_FOR, f->at);
    loop->var = tensor_add_var(p->op, arena_printf(p->arena, "%s.first", name), f->rows);
    loop->lo = f->of->lo ? f->of->lo : tensor_int(p->op, 0);
    loop->hi = f->of->hi ? f->of->hi : tensor_size(p->op, f->rows, NO_SPAN);
    loop->rest = LOOP_BLOCK_PLACE;
    loop->rounds.step = (uint32_t)f->points;
    loop_append(p->plan, &n->kernel->body, loop);
    tensor_expr at = tensor_var_expr(p->op, loop->var, NO_SPAN),
                points = tensor_int(p->op, f->points);
    tensor_var row = loop->var;
    if (f->points == 1) {
        row = tensor_add_var(p->op, arena_printf(p->arena, "%s.row", name), f->rows);
        plan_let(p, &loop->body, row, tensor_load(p->op, f->of->order, &at, 1, NO_SPAN), f->at);
    }
    f->lo = tensor_cvt(p->op, TENSOR_TYPE(I64), tensor_var_expr(p->op, row, NO_SPAN), NO_SPAN);
    f->hi = tensor_binary(p->op, TENSOR_ADD_OP, f->lo, points, NO_SPAN);
    if (f->points > 1) f->hi = tensor_binary(p->op, TENSOR_MIN_OP, loop->hi, f->hi, NO_SPAN);
    return loop;
}

static loop_node *block_loop(fusion *f, plan_nest *n) {
    planner *p = f->p;
    if (f->of->order != TENSOR_NO_VAL) return ordered_blocks(f, n);
    const char *name = p->op->spaces.data[f->rows].name;
    tensor_expr points = tensor_int(p->op, f->points), size = tensor_size(p->op, f->rows, NO_SPAN);
    tensor_expr up = tensor_binary(p->op, TENSOR_ADD_OP, size, tensor_int(p->op, f->points - 1),
                                   NO_SPAN);
    tensor_space s = plan_space(p, arena_printf(p->arena, "%s.by%lld", name, (long long)f->points),
                                tensor_binary(p->op, TENSOR_QUOT_OP, up, points, NO_SPAN));
    loop_node *loop = loop_node_new(p->plan, LOOP_FOR, f->at);
    loop->var = tensor_add_var(p->op, arena_printf(p->arena, "%s.block", name), s);
    loop->lo = tensor_int(p->op, 0);
    loop->hi = tensor_size(p->op, s, NO_SPAN);
    loop->rest = LOOP_BLOCK_PLACE;
    loop_append(p->plan, &n->kernel->body, loop);
    tensor_expr b = tensor_cvt(p->op, TENSOR_TYPE(I64), tensor_var_expr(p->op, loop->var, NO_SPAN),
                               NO_SPAN);
    tensor_expr next = tensor_binary(p->op, TENSOR_ADD_OP, b, tensor_int(p->op, 1), NO_SPAN);
    f->lo = tensor_binary(p->op, TENSOR_MUL_OP, b, points, NO_SPAN);
    f->hi = tensor_binary(p->op, TENSOR_MIN_OP, size,
                          tensor_binary(p->op, TENSOR_MUL_OP, next, points, NO_SPAN), NO_SPAN);
    return loop;
}

// A group of threads has rows of its own where the kernel's rows are dealt out to groups and the
// edges are not.
static bool by_rows(fusion *f, const tensor_stage *st, index_cut *rows) {
    index_cut own = row_cut(f, st);
    if (own.groups) return false;
    for (uint32_t i = 0; i < f->stages.len; i++) {
        const tensor_stage *o = plan_stage(f->p, f->stages.data[i]);
        if (over_edges(f, o)) continue;
        *rows = row_cut(f, o);
        if (rows->groups > 1) return true;
    }
    return false;
}

// That a point's loops take.
static int64_t lanes_of(fusion *f, const tensor_stage *st) {
    int64_t lanes = 1;
    for (uint32_t i = 0; i < st->nleft + st->nbound; i++) {
        bool left = i < st->nleft;
        int64_t own =
            plan_cut(f->p, st, left ? st->left[i] : st->bound[i - st->nleft], !left).lanes;
        if (own > 1) lanes *= own;
    }
    return lanes;
}

// Whether rows of the kernel at hand are found by their position alone.
static tensor_val order_of(const fusion *f) { return f->points > 1 ? f->of->order : TENSOR_NO_VAL; }

static loop_body *row_loop(fusion *f, const index_cut *rows, loop_body *to, loop_node **made,
                           tensor_expr *row) {
    planner *p = f->p;
    index_cut c = {.stage = rows->stage,
                   .var = rows->var,
                   .block = f->points,
                   .groups = rows->groups,
                   .lanes = rows->lanes};
    loop_node *n = loop_node_new(p->plan, LOOP_FOR, f->at);
    const char *name = p->op->vars.data[rows->var].name;
    bool ordered = order_of(f) != TENSOR_NO_VAL;
    tensor_var v = tensor_add_var(p->op, arena_printf(p->arena, "%s.of", name), f->rows);
    n->var = ordered ? tensor_add_var(p->op, arena_printf(p->arena, "%s.of.at", name), f->rows) : v;
    n->lo = f->lo;
    n->hi = f->hi;
    plan_digits(p, &c, n);
    n->rest = LOOP_WHOLE_PLACE;
    loop_append(p->plan, to, n);
    tensor_expr at = tensor_var_expr(p->op, n->var, NO_SPAN);
    if (ordered) plan_let(p, &n->body, v, tensor_load(p->op, f->of->order, &at, 1, NO_SPAN), f->at);
    *made = n;
    *row = tensor_var_expr(p->op, v, NO_SPAN);
    return &n->body;
}

// The edges of a block lie next to each other, unless its rows do not; then each row's are walked
// by themselves.
static loop_body *edges_of_block(fusion *f, const plan_phase *ph, row_class *rows, loop_body *at) {
    planner *p = f->p;
    const tensor_stage *deepest = plan_deepest(f->p, &ph->group);
    index_cut cut = {.stage = last_of_rows(f), .var = last_of_rows(f)->left[0]};
    tensor_val offsets = plan_offsets(p, &f->map);
    *rows = (row_class){.order = f->map.sorted ? TENSOR_NO_VAL : plan_order(p, &f->map),
                        .counted = TENSOR_NO_VAL,
                        .schedule = p->s,
                        .place = EDGES_OF_BLOCK};
    bool groups = !ph->tile && by_rows(f, deepest, &cut);
    if (!groups && order_of(f) == TENSOR_NO_VAL) {
        rows->lo = plan_offset_at(p, offsets, f->lo, 0);
        rows->hi = plan_offset_at(p, offsets, f->hi, 0);
        return at;
    }
    tensor_expr row;
    if (!groups) cut.groups = 0;
    if (!groups || cut.lanes * lanes_of(f, deepest) > p->machine->lanes) cut.lanes = 0;
    at = row_loop(f, &cut, at, &rows->around, &row);
    rows->lo = plan_offset_at(p, offsets, row, 0);
    rows->hi = plan_offset_at(p, offsets, row, 1);
    return at;
}

static void emit_phase(fusion *f, plan_nest *n, const plan_phase *ph, loop_body *to) {
    planner *p = f->p;
    loop_node *phase = loop_node_new(p->plan, LOOP_PHASE, f->at);
    row_class *rows = ARENA_NEW(p->arena, row_class);
    loop_body *at = &phase->body;
    loop_append(p->plan, to, phase);
    *rows = (row_class){.order = order_of(f),
                        .lo = f->lo,
                        .hi = f->hi,
                        .counted = f->of->counted,
                        .most = f->of->most,
                        .schedule = p->s,
                        .place = ROWS_OF_BLOCK,
                        .points = f->points};
    if (ph->edges) at = edges_of_block(f, ph, rows, at);
    rows->everyone = ph->tile;
    rows->owned = &f->owned;
    stage_group *own = ARENA_NEW(p->arena, stage_group);
    *own = (stage_group){0};
    uint32_t first = 0;
    while (first < ph->group.len && (ph->edges || !plan_follower(f, ph->group.data[first])))
        VEC_PUSH(p->arena, own, ph->group.data[first++]);
    at = plan_nest_group(n, own, rows, at);
    for (uint32_t i = first; i < ph->group.len && !p->failed; i++)
        plan_follow(n, &ph->group.data[i], &f->map, at);
}

// Homes are of all classes.
static void settle_values(fusion *f) {
    planner *p = f->p;
    schedule *mine = p->s;
    p->s = f->whole;
    plan_keep_values(f);
    VEC_PUSH(p->arena, &p->live, &f->stages);
    for (uint32_t i = 0; i < f->phases.len; i++)
        VEC_PUSH(p->arena, &p->live, &f->phases.data[i].group);
    for (uint32_t i = 0; i < f->phases.len; i++) plan_private(p, &f->phases.data[i].group);
    p->live.len = 0;
    plan_own_made(f);
    for (uint32_t i = 0; i < f->phases.len; i++)
        for (uint32_t k = 0; k < f->phases.data[i].group.len; k++)
            plan_choose_home(p, &f->phases.data[i].group,
                             plan_stage(f->p, f->phases.data[i].group.data[k]));
    p->s = mine;
}

static void emit(planner *p, const row_class *rows, uint32_t number, void *user) {
    fusion *f = user;
    f->of = rows;
    if (!find_points(f)) return;
    plan_nest n = plan_nest_start(p, plan_deepest(p, &f->stages), number);
    loop_body *block = plan_open_owned(f, &block_loop(f, &n)->body);
    if (number <= 1) settle_values(f);
    for (uint32_t i = 0; i < f->phases.len && !p->failed; i++)
        emit_phase(f, &n, &f->phases.data[i], block);
    if (!p->failed) plan_nest_end(&n);
}

static void consume(planner *p, const stage_group *g) {
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_id id = plan_stage(p, g->data[i])->id;
        for (uint32_t c = 0; c < p->s->cells.len; c++) {
            schedule_cell *cell = &p->s->cells.data[c];
            if (cell->verb == SCHEDULE_FUSE &&
                tensor_id_covers(p->op->ids, cell->about.data[0], id))
                cell->consumed = true;
        }
    }
}

static bool sums_edges(const planner *p, const stage_group *g, const schedule_cell *c) {
    bool any = false;
    for (uint32_t i = 0; c && i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        for (uint32_t b = 0; b < st->nbound && st->nkeys; b++)
            any |= plan_is_among(p, plan_fused_at(c), st->bound[b]);
    }
    return any;
}

void plan_fusion(planner *p, const stage_group *g, const schedule_cell *c) {
    fusion f = {.p = p, .cell = c, .at = c ? c->at : p->op->stages.data[g->data[g->len - 1]].at};
    for (uint32_t i = 0; i < g->len; i++) VEC_PUSH(p->arena, &f.stages, g->data[i]);
    consume(p, g);
    if (plan_scatters(p, g, c)) {
        plan_scatter(p, &f.stages, c);
        return;
    }
    plan_matrix m;
    for (uint32_t i = 0; i < g->len; i++)
        if (!plan_windowed(p, g->data[i], &m))
            plan_matrix_alone(p, &p->op->stages.data[g->data[i]],
                              sums_edges(p, g, c)
                                  ? "in one loop over the edges of a row: `combine … atomic` adds "
                                    "what edges have in any order"
                                  : "in a kernel of fused stages or shared tiles");
    if (p->failed || !plan_shares_rows(p, g)) return;
    if (plan_sweeps(&f)) {
        plan_sweep(&f);
        return;
    }
    if (!find_rows(&f) || !classify(&f) || !check_reads(&f) || !check_total(&f) ||
        !plan_find_owned(&f))
        return;
    f.whole = p->s;
    plan_each_class(p, last_of_rows(&f), measure, &f);
    if (!p->failed) plan_keep_inputs(&f);
    if (!p->failed) plan_each_class(p, last_of_rows(&f), divide, &f);
    if (!p->failed && check_level(&f)) plan_each_class(p, last_of_rows(&f), emit, &f);
}
