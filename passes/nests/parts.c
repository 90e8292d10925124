// Reductions across blocks: each part of the points leaves its raw state in memory, a second kernel
// combines the parts in the order of their number, which depends on sizes alone: the result is the
// same on every run.
//     y[f] = sum {n} x[n, f]    block n 4096
//  →  for b in 0 .. size(N.by4096) [block] {
//       for f … { reduce y { for n in b * 4096 .. … { contribute y } }  store_state y (y.N.by4096.0[b, f]) }
//       }
//     for f … { reduce y { for b … { contribute y (y.N.by4096.0[b, f]) } }  store y }
// Where rows are cut (split e 64), parts are tiles of rows, by a prepared table. Parts in which
// nothing was contributed are told by a last component of the state, where that makes a difference.
#include "nests/nests.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "axes/axes.h"
#include "finish/finish.h"

#include <string.h>

// ---- States that say whether they hold anything -------------------------------------------------
static tensor_expr component(planner *p, tensor_opcode side, tensor_type t, uint32_t i) {
    return tensor_node_new(p->op, (tensor_node){.op = (uint16_t)side, .type = t, .imm.i = i});
}

static tensor_expr *extended(planner *p, const tensor_expr *e, uint32_t n, tensor_expr last) {
    tensor_expr *out = ARENA_ARRAY(p->arena, tensor_expr, n + 1);
    if (n) memcpy(out, e, n * sizeof *e);
    out[n] = last;
    return out;
}

// The same reducer, which leaves out a right side that is empty, whatever combine would make of it.
// A left one is the identity and is combined as in a walk from the start: Welford's makes NaN of it
// and an infinity, and so does the definition.
static uint32_t reducer_with_some(planner *p, uint32_t of) {
    for (uint32_t i = 0; i < p->reducers.len; i++)
        if (p->reducers.data[i].of == of && p->reducers.data[i].some)
            return p->reducers.data[i].made;
    tensor_reducer r = p->op->reducers.data[of];
    uint32_t n = r.nstate;
    tensor_type some = TENSOR_TYPE(BOOL), *types = ARENA_ARRAY(p->arena, tensor_type, n + 1);
    memcpy(types, r.state_types, n * sizeof *types);
    types[n] = some;
    tensor_expr left = component(p, TENSOR_LEFT_OP, some, n),
                right = component(p, TENSOR_RIGHT_OP, some, n);
    tensor_expr *combine = extended(p, r.combine, n,
                                    tensor_binary(p->op, TENSOR_OR_OP, left, right, NO_SPAN));
    for (uint32_t i = 0; i < n; i++) {
        tensor_expr x = component(p, TENSOR_LEFT_OP, types[i], i);
        combine[i] = tensor_select(p->op, right, combine[i], x, NO_SPAN);
    }
    r.name = arena_printf(p->arena, "%s.some", r.name);
    r.kind = REDUCE_USER;
    r.identity = extended(p, r.identity, n, tensor_bool(p->op, false));
    r.lift = extended(p, r.lift, n, tensor_bool(p->op, true));
    r.combine = combine;
    r.state_types = types;
    r.nstate = n + 1;
    made_reducer m = {.of = of, .made = p->op->reducers.len, .some = true};
    VEC_PUSH(p->arena, &p->op->reducers, r);
    VEC_PUSH(p->arena, &p->reducers, m);
    return m.made;
}

static bool tells_some(const planner *p, uint32_t reducer) {
    for (uint32_t i = 0; i < p->reducers.len; i++)
        if (p->reducers.data[i].some && p->reducers.data[i].made == reducer) return true;
    return false;
}

// Identities of the builtin ones are neutral, and only `else` asks whether anything was
// contributed.
static bool tell_some(planner *p, tensor_stage *st) {
    if (tells_some(p, st->reducer)) return true;
    if (!st->nelse && tensor_reducer_neutral(p->op, &p->op->reducers.data[st->reducer]))
        return false;
    st->reducer = reducer_with_some(p, st->reducer);
    return true;
}

// ---- Parts --------------------------------------------------------------------------------------
// Versions share temporaries of one name, so it says how large one is.
static const char *unused_name(const planner *p, const char *stage, const char *parts,
                               uint32_t component) {
    const char *made = arena_printf(p->arena, "%s.%s.%u", stage, parts, component), *name = made;
    for (tensor_val v = 0, n = 2; v < p->op->vals.len; v++)
        if (!strcmp(p->op->vals.data[v].name, name)) {
            name = arena_printf(p->arena, "%s.%u", made, n++);
            v = UINT32_MAX;
        }
    return name;
}

// A value in memory for each component of the state, over the parts and the left variables; a tile
// tells its row.
static const tensor_expr *state_slots(planner *p, const tensor_stage *st, const plan_part *part,
                                      const char *of) {
    const tensor_reducer r = p->op->reducers.data[st->reducer];
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    bool tiles = part->kind == PART_TILE || part->kind == PART_ROW;
    uint32_t rank = plan_left(p, st, left) + !tiles;
    tensor_space *axes = ARENA_ARRAY(p->arena, tensor_space, rank);
    tensor_expr *index = ARENA_ARRAY(p->arena, tensor_expr, rank),
                *slots = ARENA_ARRAY(p->arena, tensor_expr, r.nstate);
    for (uint32_t i = 0; i < rank; i++) {
        tensor_var v = i ? left[i - !tiles] : part->part;
        axes[i] = p->op->vars.data[v].space;
        index[i] = tensor_var_expr(p->op, v, NO_SPAN);
    }
    if (part->kind == PART_ROW) plan_cut_slot(p, part, &axes[0], &index[0]);
    for (uint32_t c = 0; c < r.nstate; c++) {
        const char *parts = arena_printf(p->arena, "%s%s", p->op->spaces.data[axes[0]].name, of);
        tensor_val_info info = {.name = unused_name(p, st->name, parts, c),
                                .role = VAL_STAGE,
                                .type = r.state_types[c].type,
                                .into = r.state_types[c].space,
                                .sorted_by = TENSOR_NO_VAL,
                                .inplace = TENSOR_NO_VAL,
                                .rank = rank,
                                .axes = axes};
        tensor_val v = loop_add_val(p->plan, info,
                                    (loop_value){.home = LOOP_MEMORY, .of = TENSOR_NO_VAL});
        slots[c] = tensor_load(p->op, v, index, rank, NO_SPAN);
    }
    return slots;
}

// A reduction whose points a map sorts is cut by the map that is its key.
static bool whole_ranges(planner *p, const tensor_stage *st, const schedule_cell *cell) {
    if (!plan_tiled(cell)) return true;
    diagnostic *d = plan_refuse(
        p, E0530, cell->at,
        "'block %s' by a map has no pass in this version where '%s' reduces '%s'", cell->subject,
        st->name, cell->subject);
    if (d)
        diag_help(d, "`split %s %lld` cuts the points of each row", cell->subject,
                  (long long)schedule_number(cell, NULL));
    return false;
}

static bool may_be_cut(planner *p, const tensor_stage *st, tensor_var v) {
    const schedule_cell *cell = plan_part_cell(p, st, v);
    if (!whole_ranges(p, st, cell)) return false;
    const tensor_reducer *r = &p->op->reducers.data[st->reducer];
    diagnostic *d = NULL;
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    for (uint32_t b = 0; b < st->nbound && !p->failed; b++) {
        if (st->bound[b] == v || !plan_part_cell(p, st, st->bound[b])) continue;
        d = plan_refuse(p, E0530, plan_part_cell(p, st, st->bound[b])->at,
                        "blocks along two indices that '%s' reduces have no pass in this version",
                        st->name);
        if (d)
            diag_help(d, "leave '%s' to the threads of a block",
                      p->op->vars.data[st->bound[b]].name);
    }
    if (!p->failed && !r->commutative && v != st->bound[0]) {
        d = plan_refuse(p, E0549, cell->at,
                        "'%s' is not commutative, so only its first index can be split", r->name);
        if (d) diag_help(d, "the first one is '%s'", p->op->vars.data[st->bound[0]].name);
    }
    if (!p->failed && plan_left(p, st, left) >= 8)
        plan_refuse(
            p, E0530, cell->at,
            "'%s' has as many indices as a value may have, and its pieces would be one more",
            st->name);
    return !p->failed;
}

diagnostic *plan_refuse_atomic(planner *p, const tensor_stage *st, const schedule_cell *way) {
    const char *fault = loop_atomic_fault(p->op, st);
    if (fault)
        return plan_refuse(p, E0555, way->at, "'%s' cannot be combined in memory: %s", st->name,
                           fault);
    if (p->facts->nondeterministic || loop_atomic_exact(p->op, st)) return NULL;
    return plan_refuse(p, E0555, way->at,
                       "the floats of '%s' would meet in another order at each launch: that takes "
                       "--no-deterministic",
                       st->name);
}

// Whether parts may be combined as they come.
static bool may_be_atomic(planner *p, const tensor_stage *st, const plan_part *part,
                          const row_class *rows) {
    const schedule_cell *cell = plan_combine_cell(p, st, part->var);
    const char *name = plan_index_text(p, part->var);
    diagnostic *d = plan_refuse_atomic(p, st, cell);
    if (!p->failed && rows->order != TENSOR_NO_VAL && part->kind != PART_TILE &&
        part->kind != PART_ROW)
        d = plan_refuse(p, E0530, cell->at,
                        "combining by 'atomic' in classes of rows has no pass in this version");
    const schedule_cell *held = schedule_find(p->s, st->id, SCHEDULE_ACCUMULATE, TENSOR_ALL);
    if (!held) held = schedule_find(p->s, st->id, SCHEDULE_COMPUTE, TENSOR_ALL);
    if (d && loop_atomic_fault(p->op, st) && held)
        diag_note(d, held->at,
                  "what memory combines is kept as it is stored, and in no other type");
    if (d) diag_help(d, "'combine %s staged' gives the same bits every time", name);
    return !p->failed;
}

// A range of all points.
static void part_range(planner *p, plan_part *part, int64_t n) {
    tensor_space points = p->op->vars.data[part->var].space;
    plan_add_part(p, part, points, n, tensor_size(p->op, points, NO_SPAN));
}

// The map whose preimage of the outermost left index is reduced.
static bool map_of_rows(planner *p, const tensor_stage *st, tensor_var row, plan_map *m) {
    for (uint32_t k = 0; k < st->nkeys; k++) {
        const tensor_node *rhs = tensor_node_at(p->op, st->keys[k].rhs);
        if (tensor_node_at(p->op, st->keys[k].lhs)->op == TENSOR_VAR_OP)
            return false;   // it leads to one point
        if (!plan_map_of_key(p, st->keys[k].lhs, plan_part_variable(p, st), m)) continue;
        return rhs->op == TENSOR_VAR_OP && (tensor_var)rhs->imm.i == row;
    }
    return false;
}

// false: refused, as something else than the outermost index leads to the points.
static bool outermost_rows(planner *p, const tensor_stage *st, const schedule_cell *split,
                           const tensor_var *left, uint32_t nleft, plan_map *m) {
    uint32_t n = 0;
    while (n < nleft && !map_of_rows(p, st, left[n], m)) n++;
    if (!n && nleft) return true;
    if (n == nleft) return plan_check_part(p, st, plan_part_variable(p, st), false), false;
    const char *name = p->op->vars.data[left[n]].name;
    diagnostic *d = plan_refuse(
        p, E0530, split->at,
        "'split' along '%s' has no pass in this version: '%s', whose points it cuts, is not the outermost index of '%s'",
        split->subject, name, st->name);
    if (d)
        diag_help(d, "let '%s' be the outermost: `loops %s, %s`", name, name,
                  p->op->vars.data[left[0]].name);
    return false;
}

// A tile of a row: entries begin + (tile - first tile of the row) * n and on.
static void part_tile(planner *p, plan_part *part, tensor_var row, const plan_map *m, int64_t n,
                      row_class *rows) {
    tensor_val begins = plan_tiles(p, PREPARED_TILE_BEGINS, m, n);
    tensor_expr v = tensor_var_expr(p->op, row, NO_SPAN);
    rows->order = plan_tiles(p, PREPARED_TILE_VALUES, m, n);
    part->part = plan_part_position(p, part, p->op->vals.data[rows->order].axes[0]);
    part->kind = PART_TILE;
    part->first = plan_offset_at(p, begins, v, 0);
    part->end = plan_offset_at(p, begins, v, 1);
    plan_tile_range(p, m, n, tensor_var_expr(p->op, part->part, NO_SPAN), part->first, v, &part->lo,
                    &part->hi);
    rows->hi = tensor_size(p->op, p->op->vals.data[rows->order].axes[0], NO_SPAN);
}

static void refuse_order(planner *p, const schedule_cell *split) {
    diagnostic *d = plan_refuse(
        p, E0530, split->at,
        "'split' of rows that are visited in another order has no pass in this version "
        "where their key is no parameter, the order is of another index, or their kernel has other sums");
    if (d) diag_help(d, "leave out 'order': split rows need none");
}

// Those that are cut are the first of an order by degree, and so are the rows of the last class.
static void refuse_class(planner *p, const schedule_cell *split, const row_class *rows,
                         tensor_val map, int64_t n) {
    const tensor_node *end = tensor_node_at(p->op, rows->hi);
    const bool last = end->op == TENSOR_AT_LEAST_OP && plan_begins_at_0(p, rows);
    diagnostic *d;
    if (rows->counted != map) {
        const char *key = p->op->vals.data[rows->counted].name, *name = p->op->vals.data[map].name;
        d = plan_refuse(
            p, E0530, split->at,
            "'split' in classes by degrees of '%s' has no pass in this version: rows that are cut are those of '%s'",
            key, name);
        if (d) diag_help(d, "let the bucket count '%s', too, or leave 'split' out", name);
    } else if (!last) {
        d = plan_refuse(
            p, E0530, split->at,
            "'split' in a class has no pass in this version where others have longer rows");
        if (d) diag_help(d, "cut the rows of the last class");
    } else if (end->imm2 > n + 1) {
        d = plan_refuse(
            p, E0530, split->at,
            "'split %s %lld' has no pass in this version in a class that begins at %lld entries: it would cut shorter rows, which are of another class",
            split->subject, (long long)n, (long long)end->imm2);
        if (d)
            diag_help(d, "cut no rows but the class's own: `split %s %lld`, or more",
                      split->subject, (long long)end->imm2 - 1);
    } else {
        d = plan_refuse(
            p, E0530, split->at,
            "'split' in a class has no pass in this version where their key is no parameter, their kernel has other sums or stages before this one, or pieces meet by 'atomic'");
        if (d)
            diag_help(
                d, "fuse what one loop over the rows computes, or leave 'split' or 'bucket' out");
    }
}

// false: refused. *rows: which points of the outermost index the kernel that leaves states visits.
static bool part_new(planner *p, const stage_group *g, uint32_t first, uint32_t sums,
                     plan_part *part, row_class *rows) {
    const tensor_stage *st = &p->op->stages.data[first];
    int64_t n = plan_part_points(p, st);
    *part = (plan_part){.var = plan_part_variable(p, st)};
    schedule_cell *split = plan_split_cell(p, st, part->var);
    if (!split && plan_carries(p, st)) return plan_runs(p, st, part, rows);
    if (!split) return part_range(p, part, n), true;
    plan_map m;
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    split->consumed = true;
    uint32_t nleft = plan_left(p, st, left);
    if (!outermost_rows(p, st, split, left, nleft, &m)) return false;
    const bool plain = rows->order == TENSOR_NO_VAL && !rows->lo && !rows->hi;
    if ((plain || !plan_atomic(p, st)) && plan_cuts_rows(p, g, first, sums, &m, rows, n))
        return plan_part_row(p, part, left[0], &m, n, rows), true;
    if (rows->order != TENSOR_NO_VAL || rows->lo || rows->hi) {
        if (rows->counted != TENSOR_NO_VAL) refuse_class(p, split, rows, m.map, n);
        else refuse_order(p, split);
        return false;
    }
    return part_tile(p, part, left[0], &m, n, rows), true;
}

// ---- The kernel that leaves them ----------------------------------------------------------------
static bool add_states(planner *p, const stage_group *run, plan_part part) {
    for (uint32_t i = 0; i < run->len; i++) {
        tensor_stage *st = &p->op->stages.data[run->data[i]];
        if (!may_be_cut(p, st, plan_part_variable(p, st))) return false;
        schedule_cell *cell = plan_part_cell(p, st, plan_part_variable(p, st));
        cell->consumed = true;
        part.stage = run->data[i];
        if (part.atomic) {
            VEC_PUSH(p->arena, &p->cut.parts, part);
            continue;
        }
        bool some = tell_some(p, st);
        part.nstates = p->op->reducers.data[st->reducer].nstate;
        bool runs = part.kind == PART_RUNS;
        part.states = state_slots(p, st, &part, runs ? ".first" : "");
        if (runs) part.run.last = state_slots(p, st, &part, ".last");
        part.valid = some ? part.states[part.nstates - 1] : 0;
        VEC_PUSH(p->arena, &p->cut.parts, part);
    }
    return true;
}

static loop_body *open_parts(planner *p, plan_nest *n, const plan_part *part) {
    if (part->kind == PART_TILE || part->kind == PART_ROW)
        return &n->kernel->body;   // they take the place of rows
    loop_node *over = loop_node_new(p->plan, LOOP_FOR, n->kernel->at);
    over->var = part->part;
    over->lo = part->first;
    over->hi = part->end;
    over->rest = LOOP_BLOCK_PLACE;
    if (part->kind == PART_RUNS && part->run.groups > 1)
        over->digits[over->ndigits++] = (loop_digit){LOOP_GROUP_PLACE, (uint32_t)part->run.groups,
                                                     1};
    loop_append(p->plan, &n->kernel->body, over);
    return &over->body;
}

static void leave(planner *p, const stage_group *g, const stage_group *run, row_class rows,
                  uint32_t number) {
    plan_part part;
    const tensor_stage *st = &p->op->stages.data[run->data[0]];
    if (!part_new(p, g, run->data[0], plan_run_end(p, g, 0), &part, &rows)) return;
    part.atomic = plan_atomic(p, st);
    if (part.atomic && !may_be_atomic(p, st, &part, &rows)) return;
    if (part.kind == PART_RUNS) p->cut.carried = &part.run.row;
    if (part.kind == PART_TILE || part.kind == PART_ROW) rows.at = &part.part;
    const stage_group *walks = part.kind == PART_ROW ? g : run;
    if (add_states(p, run, part)) {
        plan_nest n = plan_nest_start(p, plan_deepest(p, walks), number);
        if (!part.atomic && part.kind != PART_ROW)
            n.kernel->name = arena_printf(p->arena, "%s_parts", n.kernel->name);
        p->cut.leaving = true;
        loop_body *at = open_parts(p, &n, &part);
        if (part.kind == PART_RUNS) rows.around = n.kernel->body.data[0];
        plan_nest_group(&n, walks, &rows, at);
        p->cut.leaving = false;
        plan_nest_end(&n);
        plan_matrix_fit(p, walks, n.kernel);
        plan_fetch(p, walks, n.kernel);
        if (part.kind == PART_RUNS) plan_count_rows(p, &n);
    }
    p->cut.carried = NULL;
}

void plan_parts(planner *p, const stage_group *g, const row_class *rows, uint32_t number) {
    p->cut.parts.len = 0;
    for (uint32_t i = 0, end; i < g->len && !p->failed; i = end) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        stage_group run = {0};
        end = plan_run_end(p, g, i);
        if (!plan_part_points(p, st)) continue;
        for (uint32_t k = i; k < end; k++) VEC_PUSH(p->arena, &run, g->data[k]);
        leave(p, g, &run, *rows, number);
    }
}

static bool cut_alike(const planner *p, const stage_group *run) {
    const tensor_stage *first = &p->op->stages.data[run->data[0]];
    for (uint32_t i = 0; i < run->len; i++) {
        const tensor_stage *st = &p->op->stages.data[run->data[i]];
        if (plan_part_points(p, st) != plan_part_points(p, first) || plan_every(p, st))
            return false;
    }
    return true;
}

// false: it is another reason.
static bool refuse_unlike(planner *p, const stage_group *run) {
    const tensor_stage *first = &p->op->stages.data[run->data[0]];
    for (uint32_t i = 1; i < run->len; i++) {
        const tensor_stage *st = &p->op->stages.data[run->data[i]];
        const schedule_cell *other = plan_part_points(p, st)
                                         ? plan_part_cell(p, st, plan_part_variable(p, st))
                                         : NULL;
        if (plan_part_points(p, st) == plan_part_points(p, first)) continue;
        const schedule_cell *own = plan_part_cell(p, first, plan_part_variable(p, first));
        diagnostic *d = plan_refuse(
            p, E0541, own->at, "'split %s' is not the same for '%s' and '%s', which share one loop",
            own->subject, first->name, st->name);
        if (d && other) diag_note(d, other->at, "for '%s' it is said here", st->name);
        if (d)
            diag_help(d, "say it once for both: `%s, %s: split %s …`", first->name, st->name,
                      own->subject);
        return true;
    }
    return false;
}

// Of a walk that stages are fused at, whose first stages sum: what an edge's stage computes belongs
// to one part.
bool plan_cut_walk(planner *p, const stage_group *g, uint32_t sums, row_class *rows) {
    stage_group run = {0};
    plan_part *part = ARENA_NEW(p->arena, plan_part);
    const tensor_stage *st = &p->op->stages.data[g->data[0]];
    for (uint32_t i = 0; i < sums; i++) VEC_PUSH(p->arena, &run, g->data[i]);
    p->cut.parts.len = 0;
    if (!part_new(p, g, g->data[0], sums, part, rows)) return false;
    rows->at = &part->part;
    if (part->kind == PART_ROW && cut_alike(p, &run)) return add_states(p, &run, *part);
    if (refuse_unlike(p, &run)) return false;
    const char *name = plan_index_text(p, part->var);
    diagnostic *d = plan_refuse(
        p, E0530, plan_split_cell(p, st, part->var)->at,
        "'split' along '%s' has no pass in this version: the kernel has other sums, or "
        "what leads to its rows is no parameter",
        name);
    if (d)
        diag_help(
            d, "fuse the sums over '%s' and what is computed from them alone, or leave 'split' out",
            name);
    return false;
}
