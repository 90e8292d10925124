// Reductions by a key across blocks, whatever the rows: participants (blocks, or their groups) walk
// equal ranges of positions sorted by the key, as the sequential reduction of GeoT does. A run of
// one key that lies inside its range is stored at once; the two that may be cut leave their states
// in slots of the participant, staged as HalfGNN does. A second kernel takes up the rows that are
// cut, whose slots it combines in their order, and those without positions. Nothing depends on
// time, so the result is the same on every run.
//     y[v] = sum {e : dst[e] == v} x[e]    block e 64
//  →  for b in 0 .. size(E.by64) [block] {
//       carry y by dst[e] first (…first[b]) last (…last[b]) { for e in b * 64 .. … } }
//     for v … { if (empty, or first[v] / 64 < last[v] / 64) {
//       reduce y { contribute y (…last[…])  for b … { contribute y (…first[b]) } }  store y } }
#include "axes/axes.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"

// ---- Participants -------------------------------------------------------------------------------
static bool check_rows(planner *p, const tensor_stage *st, const schedule_cell *block,
                       const row_class *rows) {
    if (rows->order == TENSOR_NO_VAL && !rows->lo && !rows->hi) return true;
    diagnostic *d = plan_refuse(
        p, E0530, block->at,
        "'block' along '%s' with rows in another order has no pass in this version: '%s' is "
        "reduced in the order of its positions",
        block->subject, st->name);
    if (d) diag_help(d, "leave out 'order' or 'bucket': equal ranges of positions need none");
    return false;
}

static tensor_var row_bound(planner *p, const plan_part *part, const char *which) {
    const char *name = arena_printf(p->arena, "%s.%s'%u", p->op->vars.data[part->run.row].name,
                                    which, p->op->vars.len);
    return tensor_add_var(p->op, name, part->map.domain);
}

bool plan_runs(planner *p, const tensor_stage *st, plan_part *part, const row_class *rows) {
    const schedule_cell *block = plan_block_of(p, st, part->var);
    index_cut c = plan_cut(p, st, part->var, true);
    loop_node whole = {0};
    c.unroll = 0;
    c.uniform = false;
    plan_digits(p, &c, &whole);   // whether its parts make up a block
    plan_matrix_alone(p, st, "where blocks own positions: `split` cuts rows");
    if (p->failed || !check_rows(p, st, block, rows)) return false;
    plan_run_key(p, st, part->var, part);
    part->kind = PART_RUNS;
    part->run.groups = c.groups ? c.groups : 1;
    part->run.lanes = plan_or_one(c.lanes);
    part->run.points = c.block / part->run.groups;
    const plan_map *m = &part->map;
    // points of no row come last in the order
    tensor_expr rows_end = tensor_size(p->op, m->into, NO_SPAN);
    tensor_expr end = m->sorted
                          ? tensor_size(p->op, m->domain, NO_SPAN)
                          : tensor_cvt(p->op, TENSOR_TYPE(I64),
                                       plan_offset_at(p, plan_offsets(p, m), rows_end, 0), NO_SPAN);
    plan_add_part(p, part, m->domain, part->run.points, end);
    part->run.begin = row_bound(p, part, "begin");
    part->run.end = row_bound(p, part, "end");
    return true;
}

loop_node *plan_carry(planner *p, const plan_part *part) {
    loop_node *n = plan_states(p, LOOP_CARRY, part);
    tensor_expr at = tensor_var_expr(p->op, part->var, NO_SPAN);
    n->key = tensor_load(p->op, part->map.map, &at, 1, NO_SPAN);
    n->state.last = part->run.last;
    return n;
}

// ---- The kernel that takes them up --------------------------------------------------------------
// Without a statement about rows, the groups and lanes that walked positions take up rows.
void plan_count_rows(planner *p, const plan_nest *n) {
    plan_part *part = &p->cut.parts.data[p->cut.parts.len - 1];
    const plan_dealing *d = &n->dealings.data[0];
    uint32_t others = 1, groups = n->kernel->threads / n->kernel->lanes;
    const loop_list *lists[] = {&d->outer, &d->inner};
    for (uint32_t l = 0; l < 2; l++)
        for (uint32_t i = 0; i < lists[l]->len; i++)
            for (uint32_t g = 0;
                 lists[l]->data[i] != n->rows->around && g < lists[l]->data[i]->ndigits; g++)
                if (lists[l]->data[i]->digits[g].place == LOOP_GROUP_PLACE)
                    others *= lists[l]->data[i]->digits[g].extent;
    part->run.rows = groups / others;
}

index_cut plan_deal_rows(planner *p, const plan_part *part, index_cut c, bool blocks) {
    for (uint32_t k = 0; k < SCHEDULE_VERB_COUNT; k++)
        if (c.cell[k]) return c;
    c.groups = part->run.rows;
    c.lanes = part->run.lanes > 1 ? part->run.lanes : 0;
    c.block = blocks ? part->run.rows * part->run.lanes * p->machine->block_points : 0;
    c.cell[SCHEDULE_BLOCK] = plan_block_of(p, c.stage, part->var);
    return c;
}

static tensor_expr position_of(planner *p, tensor_var v) {
    return tensor_cvt(p->op, TENSOR_TYPE(I64), tensor_var_expr(p->op, v, NO_SPAN), NO_SPAN);
}

static tensor_expr some(planner *p, const plan_part *part) {   // positions of the row
    return tensor_binary(p->op, TENSOR_LT_OP, position_of(p, part->run.begin),
                         position_of(p, part->run.end), NO_SPAN);
}

static tensor_expr participant(planner *p, const plan_part *part, tensor_expr position) {
    return tensor_binary(p->op, TENSOR_QUOT_OP, position, tensor_int(p->op, part->run.points),
                         NO_SPAN);
}

static tensor_expr first_participant(planner *p, const plan_part *part) {
    return participant(p, part, position_of(p, part->run.begin));
}

static tensor_expr last_participant(planner *p, const plan_part *part) {
    tensor_expr end = position_of(p, part->run.end);
    return participant(p, part,
                       tensor_binary(p->op, TENSOR_SUB_OP, end, tensor_int(p->op, 1), NO_SPAN));
}

loop_body *plan_test_part(planner *p, loop_body *at, const plan_part *part, tensor_expr condition) {
    loop_node *n = loop_node_new(p->plan, LOOP_IF, p->op->stages.data[part->stage].at);
    n->value = condition;
    loop_append(p->plan, at, n);
    return &n->body;
}

loop_body *plan_cut_rows(planner *p, const plan_part *part, loop_body *at) {
    tensor_expr row = tensor_var_expr(p->op, part->run.row, NO_SPAN);
    tensor_val offsets = plan_offsets(p, &part->map);
    plan_let(p, at, part->run.begin, plan_offset_at(p, offsets, row, 0), NO_SPAN);
    plan_let(p, at, part->run.end, plan_offset_at(p, offsets, row, 1), NO_SPAN);
    tensor_expr empty = tensor_binary(p->op, TENSOR_EQ_OP, position_of(p, part->run.begin),
                                      position_of(p, part->run.end), NO_SPAN);
    tensor_expr cut = tensor_binary(p->op, TENSOR_LT_OP, first_participant(p, part),
                                    last_participant(p, part), NO_SPAN);
    return plan_test_part(p, at, part, tensor_binary(p->op, TENSOR_OR_OP, empty, cut, NO_SPAN));
}

static void take(planner *p, const plan_part *part, loop_body *at, const tensor_expr *states) {
    loop_node *n = plan_states(p, LOOP_CONTRIBUTE, part);
    n->state.loads = states;
    n->state.valid = part->valid ? states[part->nstates - 1] : 0;
    loop_append(p->plan, at, n);
}

// The row begins in the last run of one participant, and goes on in the first ones of those that
// follow.
void plan_take_runs(planner *p, const plan_part *part, loop_node *reduce) {
    tensor_expr *vars = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1),
                one = tensor_int(p->op, 1);
    vars[part->part] = tensor_index(p->op, p->op->vars.data[part->part].space,
                                    first_participant(p, part), NO_SPAN);
    take(p, part, plan_test_part(p, &reduce->body, part, some(p, part)),
         plan_substitute(p, part->run.last, part->nstates, vars));
    loop_node *walk = loop_node_new(p->plan, LOOP_FOR, reduce->at);
    walk->var = part->part;
    walk->lo = tensor_binary(p->op, TENSOR_ADD_OP, first_participant(p, part), one, NO_SPAN);
    walk->hi = tensor_binary(p->op, TENSOR_ADD_OP, last_participant(p, part), one, NO_SPAN);
    walk->rest = LOOP_SERIAL_PLACE;
    loop_append(p->plan, &reduce->body, walk);
    take(p, part, &walk->body, part->states);
}
