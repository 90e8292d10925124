// Sums of rows of which long ones are cut: a part of a row that has several leaves its state, and a
// row that has one is finished where it is walked, with what is computed from it. A second kernel
// takes up the rows that are cut, each by a block. Parts of long rows come first, so that they are
// not waited for at the end; which rows those are is the same on every run.
//     y[v] = sum {e : dst[e] == v} x[e]    split e 64
//  →  for e.part in 0 .. size(dst.parts64) [block] { let v = part_rows[e.part]
//       reduce y { for e in part_begins[e.part] .. part_ends[e.part] { contribute y } }
//       if e.part < cut_parts(dst, 64) { store_state y (…[e.part]) }
//       if e.part >= cut_parts(dst, 64) { store y } }
//   of a class of 33 entries and more: e.part in 0 .. cut_parts(dst, 64) + at_least(dst, 33) - at_least(dst, 65)
//     for v.cut in 0 .. at_least(dst, 65) [block] { let v = part_rows[part_heads[v.cut]]
//       reduce y { for e.part in part_heads[v.cut] .. part_heads[v.cut + 1] { contribute y (…[e.part]) } }
//       store y }
#include "axes/axes.h"
#include "base/base.h"
#include "kernels/kernels.h"

bool plan_begins_at_0(const planner *p, const row_class *rows) {
    const tensor_node *begin = rows->lo ? tensor_node_at(p->op, rows->lo) : NULL;
    return !begin || (begin->op == TENSOR_CONST_OP && !begin->imm.i);
}

// The rows of a bucket's last class are the first of an order by degree, and all that are cut are
// among them.
static bool is_longest_class(const planner *p, const plan_map *m, const row_class *rows,
                             int64_t n) {
    const tensor_node *end = rows->hi ? tensor_node_at(p->op, rows->hi) : NULL;
    return rows->counted == m->map && plan_begins_at_0(p, rows) && end &&
           end->op == TENSOR_AT_LEAST_OP && end->imm2 <= n + 1;
}

// Rows are counted when the plan is made, for maps that are parameters; what comes after the sum is
// computed by threads that part with one another, so nothing of it is combined between them.
bool plan_cuts_rows(const planner *p, const stage_group *g, uint32_t first, uint32_t sums,
                    const plan_map *m, const row_class *rows, int64_t n) {
    if (first != g->data[0] || p->op->vals.data[m->map].role != VAL_MAP) return false;
    if (rows->place != ROWS_OF_GRID || rows->level) return false;   // of the first index
    if ((rows->lo || rows->hi) && !is_longest_class(p, m, rows, n)) return false;
    for (uint32_t i = sums; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        if (st->reducer != TENSOR_NO_REDUCER) return false;
    }
    return true;
}

static tensor_expr at(planner *p, tensor_val of, tensor_var position) {
    tensor_expr i = tensor_var_expr(p->op, position, NO_SPAN);
    return tensor_load(p->op, of, &i, 1, NO_SPAN);
}

void plan_part_row(planner *p, plan_part *part, tensor_var row, const plan_map *m, int64_t n,
                   row_class *rows) {
    const char *name = p->op->vars.data[row].name;
    tensor_val begins = plan_row_parts(p, PREPARED_PART_BEGINS, m, rows->order, n),
               ends = plan_row_parts(p, PREPARED_PART_ENDS, m, rows->order, n);
    part->kind = PART_ROW;
    part->map = *m;
    part->cutting.row_of = plan_row_parts(p, PREPARED_PART_ROWS, m, rows->order, n);
    part->cutting.heads = plan_row_parts(p, PREPARED_PART_HEADS, m, rows->order, n);
    tensor_space parts = p->op->vals.data[part->cutting.row_of].axes[0],
                 heads = p->op->vals.data[part->cutting.heads].axes[0];
    part->part = tensor_add_var(
        p->op,
        arena_printf(p->arena, "%s.part'%u", p->op->vars.data[part->var].name, p->op->vars.len),
        parts);
    part->cutting.head = tensor_add_var(
        p->op, arena_printf(p->arena, "%s.cut'%u", name, p->op->vars.len), heads);
    part->lo = plan_wide(p, at(p, begins, part->part));
    part->hi = plan_wide(p, at(p, ends, part->part));
    part->cutting.parts = loop_cut_parts(p->op, m->map, n);
    tensor_expr head = tensor_var_expr(p->op, part->cutting.head, NO_SPAN);
    part->first = plan_offset_at(p, part->cutting.heads, head, 0);
    part->end = plan_offset_at(p, part->cutting.heads, head, 1);
    rows->order = part->cutting.row_of;
    rows->hi = rows->hi ? loop_class_parts(p->op, m->map, n, rows->hi)
                        : tensor_size(p->op, parts, NO_SPAN);
    rows->lo = 0;
    rows->counted = TENSOR_NO_VAL;
}

void plan_cut_slot(planner *p, const plan_part *part, tensor_space *axis, tensor_expr *index) {
    const char *parts = p->op->spaces.data[*axis].name;
    *axis = plan_space(p, arena_printf(p->arena, "%s.cut", parts), part->cutting.parts);
    *index = tensor_index(p->op, *axis, plan_wide(p, *index), NO_SPAN);
    plan_narrow_product(p, axis, 1);
}

// ---- The kernel that walks parts ----------------------------------------------------------------
static loop_body *test(planner *p, const plan_part *part, tensor_opcode op, loop_body *to) {
    tensor_expr at = plan_wide(p, tensor_var_expr(p->op, part->part, NO_SPAN));
    return plan_test_part(p, to, part, tensor_binary(p->op, op, at, part->cutting.parts, NO_SPAN));
}

void plan_cut_or_whole(planner *p, const plan_part *part, loop_body *to, loop_body **cut,
                       loop_body **whole) {
    *cut = test(p, part, TENSOR_LT_OP, to);
    *whole = test(p, part, TENSOR_GE_OP, to);
}

loop_body *plan_leave_or_store(planner *p, const plan_part *part, const uint32_t *stages,
                               uint32_t n, loop_body *to) {
    loop_body *cut, *whole;
    plan_cut_or_whole(p, part, to, &cut, &whole);
    for (uint32_t i = 0; i < n; i++) {
        plan_leave_state(p, cut, stages[i]);
        plan_store(p, whole, &stages[i]);
    }
    return whole;
}

// The prepared degrees of the map; TENSOR_NO_VAL: there are none.
static tensor_val degrees_of(const planner *p, tensor_val map) {
    for (uint32_t i = 0; i < p->plan->prepared.len; i++) {
        const loop_prepared *r = &p->plan->prepared.data[i];
        if (r->builder == PREPARED_DEGREES && r->args[0] == map) return r->val;
    }
    return TENSOR_NO_VAL;
}

typedef struct {
    tensor_val val;
    tensor_expr at;
} reading;

static bool is_other(void *user, const tensor_node *load) {
    const reading *r = user;
    return (tensor_val)load->imm.i != r->val || load->args[0] != r->at;
}

// A row that is not cut has the points of its one part: what is computed from the sum there loads
// no degree.
void plan_know_degree(planner *p, const plan_part *part, const tensor_stage *st, loop_body *to) {
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    plan_left(p, st, left);
    reading r = {degrees_of(p, part->map.map), tensor_var_expr(p->op, left[0], NO_SPAN)};
    if (r.val == TENSOR_NO_VAL || plan_loads(p, st, is_other, &r)) return;
    loop_node *given = loop_node_new(p->plan, LOOP_GIVEN, st->at);
    tensor_expr points = tensor_binary(p->op, TENSOR_SUB_OP, part->hi, part->lo, NO_SPAN);
    given->key = tensor_load(p->op, r.val, &r.at, 1, NO_SPAN);
    given->value = tensor_index(p->op, part->map.domain, points, NO_SPAN);
    loop_append(p->plan, to, given);
}

// ---- The kernel that takes them up --------------------------------------------------------------
row_class plan_taken_rows(planner *p, plan_part *part, const row_class *rows) {
    row_class taken = *rows;
    tensor_val *heads = ARENA_NEW(p->arena, tensor_val);
    tensor_var *head = ARENA_NEW(p->arena, tensor_var);
    *heads = part->cutting.heads;
    *head = part->cutting.head;
    taken.order = part->cutting.row_of;
    taken.by = heads;
    taken.at = head;
    const tensor_node *more = tensor_node_at(
        p->op, p->op->spaces.data[p->op->vars.data[part->cutting.head].space].expr);
    taken.lo = 0;
    taken.hi = more->args[0];   // of as many rows and one
    taken.counted = TENSOR_NO_VAL;
    return taken;
}

// ---- Rows of many parts -------------------------------------------------------------------------
// of a row, one after the other for each group; of a block that has such a row
enum { MANY_PARTS = 64, MANY_THREADS = 512 };

static int64_t part_edges(const planner *p, const plan_part *part) {
    for (uint32_t i = 0; i < p->plan->prepared.len; i++)
        if (p->plan->prepared.data[i].val == part->cutting.heads)
            return p->plan->prepared.data[i].extent;
    return 0;
}

static bool is_walk_in_any_order(const planner *p, const stage_group *g) {
    bool walked = false, commutative = true;
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        if (st->reducer == TENSOR_NO_REDUCER) continue;
        walked |= plan_fuse_cell(p, g->data[i]) != NULL;
        commutative &= p->op->reducers.data[st->reducer].commutative;
    }
    return walked && commutative;
}

static int64_t groups_in(const loop_body *body) {
    int64_t most = 1;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        int64_t groups = groups_in(&n->body);
        for (uint32_t d = 0; d < n->ndigits; d++)
            if (n->digits[d].place == LOOP_GROUP_PLACE) groups *= n->digits[d].extent;
        if (groups > most) most = groups;
    }
    return most;
}

// So many times the groups of a kernel that takes up rows make a block large; a power of two, 1: it
// is.
static int64_t more_groups(const planner *p, const loop_kernel *k) {
    int64_t most = MANY_THREADS < p->machine->max_threads ? MANY_THREADS : p->machine->max_threads,
            times = 1;
    if (k->occupancy && k->occupancy < most) most = k->occupancy;
    while (2 * times * k->lanes * groups_in(&k->body) <= most) times *= 2;
    return p->machine->gpu ? times : 1;
}

// Those of a walk, whose states are rows of their own, have more groups, so that nobody goes
// through all of a row that a machine had at once: by degree the first of the rows that are cut,
// which the kernel then leaves out.
int64_t plan_many_parts(planner *p, const stage_group *g, const plan_part *part,
                        const row_class *rows, loop_kernel *k, row_class *many) {
    const int64_t times = more_groups(p, k);
    loop_node *over = k->body.len ? loop_over_var(&k->body, part->cutting.head) : NULL;
    bool first = plan_begins_at_0(p, rows) && rows->order != TENSOR_NO_VAL &&
                 loop_by_degree(p->plan, rows->order, part->map.map, part_edges(p, part));
    if (times < 2 || !over || !first || !is_walk_in_any_order(p, g)) return 1;
    many->hi = over->lo = loop_cut_rows(p->op, part->map.map, MANY_PARTS * part_edges(p, part));
    return times;
}

// A block owns a row, or those of its lanes: the groups that had rows have its parts.
index_cut plan_taken_cut(index_cut row) {
    int64_t lanes = row.lanes;
    row.groups = row.tile = row.registers = row.vector = row.unroll = 0;
    row.block = lanes > 1 ? lanes : 1;
    return row;
}

void plan_taken_parts(planner *p, const tensor_stage *st, index_cut *parts) {
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    plan_left(p, st, left);
    if (!p->op->reducers.data[st->reducer].commutative) {   // in their order, one after the other
        parts->groups = parts->lanes = 0;
        return;
    }
    int64_t groups = plan_cut(p, st, left[0], false).groups;
    if (groups > 1) parts->groups = parts->groups > 1 ? parts->groups * groups : groups;
    if (p->cut.more_groups) parts->groups = plan_or_one(parts->groups) * p->cut.more_groups;
}
