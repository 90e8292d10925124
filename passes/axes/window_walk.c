// Walks of windows. The sums of a fused walk go from slots to slots together: products by matrix
// operations, what rows alone have (a maximum, a denominator) beside them, and what an entry sums
// is a product of its row and its slot, whose pieces are held as those of the next product want
// their first factor (Dao et al. 2022, Fused3S).
//     fuse s, m, y at e;  y: { window v 16 by src 16;  mma e f16; }  s: mma d f16
//  →  reduce m, y by m16n8k16.f16 (v, f, e.slot) {
//       for e.block in window_begins[v.window] .. window_begins[v.window + 1] [serial] {
//         for e.slot in 16 * e.block .. 16 * (e.block + 1) [register 2, lane 4, register 2, whole] {
//           let e = …   given src[e] = window_columns[e.slot]
//           without f { reduce s by m16n8k16.f16 (v, e.slot, d) { … }  store s }
//           if … { contribute m  contribute y } } }
//       again { for e in offsets.dst[v] .. offsets.dst[v + 1] { without f { … }  contribute y } } }
#include "axes/axes.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <string.h>

typedef struct plan_cells {
    const plan_matrix *m;
    tensor_val rows, source;      // maps
    tensor_val begins, columns;   // of slots
    // of cells; where nothing is read of an entry itself, the bits of a row's slots
    tensor_val entries;
    bool masks;   // so it is
    tensor_var slot;
    bool again;   // entry by entry, where what was summed is not finite
} cells;

// ---- Tables -------------------------------------------------------------------------------------
static tensor_expr load(planner *p, tensor_val of, tensor_expr index) {
    return tensor_load(p->op, of, &index, 1, NO_SPAN);
}

// ---- What is read of an entry -------------------------------------------------------------------
static bool is_var(const planner *p, tensor_expr e, tensor_var v) {
    const tensor_node *n = tensor_node_at(p->op, e);
    if (n->op == TENSOR_CVT_OP) n = tensor_node_at(p->op, n->args[0]);
    return n->op == TENSOR_VAR_OP && (tensor_var)n->imm.i == v;
}

// Not what its row or its slot says, nor what the thread knows.
static bool reads_entry_in(const planner *p, const cells *c, tensor_expr e, tensor_var v,
                           bool *seen) {
    const tensor_node *n = tensor_node_at(p->op, e);
    if (seen[e] || !tensor_mentions(p->op, e, v)) return false;
    seen[e] = true;
    tensor_val of = n->op == TENSOR_LOAD_OP ? (tensor_val)n->imm.i : TENSOR_NO_VAL;
    bool known = of != TENSOR_NO_VAL && (of == c->rows || of == c->source ||
                                         p->plan->values.data[of].home == LOOP_REGISTERS);
    if (n->op == TENSOR_VAR_OP) return (tensor_var)n->imm.i == v;
    // it is some
    if (n->op == TENSOR_GE_OP && tensor_node_at(p->op, n->args[1])->op == TENSOR_CONST_OP)
        known = true;
    for (uint32_t i = 0; i < n->nargs; i++)
        if (!(known && is_var(p, n->args[i], v)) && reads_entry_in(p, c, n->args[i], v, seen))
            return true;
    return false;
}

static bool reads_entry(const planner *p, const cells *c, tensor_expr e, tensor_var v) {
    if (!tensor_mentions(p->op, e, v)) return false;
    return reads_entry_in(p, c, e, v, ARENA_ARRAY(p->arena, bool, p->op->exprs.len + 1));
}

static bool stage_reads_entry(const planner *p, const cells *c, const tensor_stage *st,
                              tensor_var v) {
    bool any = false;
    for (uint32_t i = 0; i < st->nbody; i++) any |= reads_entry(p, c, st->body[i], v);
    for (uint32_t i = 0; i < st->nfilters; i++) any |= reads_entry(p, c, st->filters[i], v);
    for (uint32_t i = 0; i < st->nelse; i++) any |= reads_entry(p, c, st->orelse[i], v);
    return any;
}

static bool any_reads_entry(const planner *p, const cells *c, const uint32_t *stages, uint32_t n,
                            const plan_inside *inside) {
    for (uint32_t i = 0; i < n; i++)
        if (stage_reads_entry(p, c, plan_stage(p, stages[i]), plan_stage(p, stages[i])->bound[0]))
            return true;
    for (uint32_t i = 0; inside && i < inside->points->len; i++) {
        const tensor_stage *st = plan_stage(p, inside->points->data[i]);
        if (stage_reads_entry(p, c, st, st->left[0])) return true;
    }
    return false;
}

static cells prepare(planner *p, const plan_matrix *m, const uint32_t *stages, uint32_t n,
                     const plan_inside *inside) {
    const plan_window *w = p->windows.of;
    cells c = {.m = m,
               .rows = plan_window_rows_map(p, m->stage, m->rows),
               .source = plan_window_source(p, m->window)};
    tensor_space windows = p->op->vars.data[w->number].space;
    tensor_val places = w->places == TENSOR_NO_VAL ? c.rows : w->places,
               slots = plan_window_values(p, PREPARED_WINDOW_SLOTS, places, c.source, w->rows,
                                          w->slots, windows);
    c.begins = plan_window_values(p, PREPARED_WINDOW_BEGINS, places, slots, w->rows, w->slots,
                                  windows);
    c.columns = plan_window_values(p, PREPARED_WINDOW_COLUMNS, c.source, slots, 0, 0, windows);
    c.masks = !any_reads_entry(p, &c, stages, n, inside);
    c.entries = plan_window_values(p, c.masks ? PREPARED_WINDOW_MASKS : PREPARED_WINDOW_ENTRIES,
                                   places, slots, w->rows, w->slots, windows);
    return c;
}

// Of the slot at hand: its block, and where it is there.
typedef struct {
    tensor_expr number, slot;
} block;

// The cell of the row and slot at hand: the entry there, and whether there is one. Without entries
// each cell is an entry of its own, of which nothing is read.
typedef struct {
    tensor_expr entry, some;
} cell;

static cell cell_of(planner *p, const cells *c, const block *at_hand) {
    int64_t rows = p->windows.of->rows, slots = prepared_slots(rows, p->windows.of->slots);
    tensor_op *op = p->op;
    tensor_space axis = op->vals.data[c->entries].axes[0], space = op->vars.data[c->m->depth].space;
    tensor_expr number = at_hand->number,
                in_window = tensor_binary(op, TENSOR_SUB_OP, plan_wide(p, plan_at(p, c->m->rows)),
                                          p->windows.of->first, NO_SPAN),
                row = plan_plus(p, plan_times(p, number, rows), in_window),
                in_block = at_hand->slot;
    number = plan_plus(p, plan_times(p, row, slots), in_block);
    if (c->masks) {
        tensor_expr mask = plan_wide(p, load(p, c->entries, tensor_index(op, axis, row, NO_SPAN)));
        return (cell){tensor_index(op, space, number, NO_SPAN),
                      tensor_binary(op, TENSOR_BIT_OP, mask, in_block, NO_SPAN)};
    }
    tensor_expr e = plan_wide(p, load(p, c->entries, tensor_index(op, axis, number, NO_SPAN))),
                zero = tensor_int(op, 0);
    return (cell){
        tensor_index(op, space, tensor_binary(op, TENSOR_MAX_OP, e, zero, NO_SPAN), NO_SPAN),
        tensor_binary(op, TENSOR_GE_OP, e, zero, NO_SPAN)};
}

// ---- Nodes --------------------------------------------------------------------------------------
static loop_node *node(planner *p, loop_node_kind kind, span from, loop_body *to) {
    loop_node *n = loop_node_new(p->plan, kind, from);
    loop_append(p->plan, to, n);
    return n;
}

static void contribute(planner *p, const uint32_t *stage, loop_body *to) {
    const tensor_stage *st = plan_stage(p, *stage);
    for (uint32_t f = 0; f < st->nfilters; f++) {
        loop_node *n = node(p, LOOP_IF, st->at, to);
        n->value = st->filters[f];
        to = &n->body;
    }
    loop_node *n = node(p, LOOP_CONTRIBUTE, st->at, to);
    n->nstages = 1;
    n->stages = stage;
}

static void add_digit(loop_node *n, loop_place place, uint32_t extent) {
    if (extent > 1) n->digits[n->ndigits++] = (loop_digit){place, extent, 1};
}

// Slots of a lane are neighbours, and so are their cells: what is contracted may stand in any
// order. Where they are columns of another product they stand as that one's pieces have them, and
// where four warps multiply as they lie in shared memory.
static void slot_digits(const plan_matrix *m, int64_t at_once, int64_t block, bool products,
                        loop_node *n) {
    const simt_mma_info *info = simt_mma_table(m->kind);
    bool columns = products || info->warps > 1;
    uint32_t pieces = (uint32_t)(at_once < block ? at_once : block) / info->k,
             held = loop_matrix_held(m->kind);
    add_digit(n, LOOP_REGISTER_PLACE, columns ? 2 : held);
    add_digit(n, LOOP_LANE_PLACE, 4);
    if (columns) add_digit(n, LOOP_REGISTER_PLACE, held / 2);
    add_digit(n, LOOP_REGISTER_PLACE, pieces);
    add_digit(n, LOOP_SERIAL_PLACE, (uint32_t)block / (pieces * info->k));
    n->rest = LOOP_WHOLE_PLACE;
}

// Rows that slots read come to shared memory while others are at work.
static bool fetches(const planner *p, const plan_matrix *m) {
    return schedule_find(p->s, m->stage->id, SCHEDULE_PIPELINE, plan_var_id(p, m->depth)) != NULL;
}

// Blocks of slots, several of which are written out where the schedule takes more slots at a time.
static loop_node *open_blocks(planner *p, const cells *c, span from, loop_body *to) {
    int64_t at_once = schedule_number(c->m->window, "count") /
                      prepared_slots(p->windows.of->rows, p->windows.of->slots);
    loop_node *n = node(p, LOOP_FOR, from, to);
    tensor_expr window = plan_at(p, p->windows.of->number);
    n->var = tensor_add_var(p->op,
                            arena_printf(p->arena, "%s.block", plan_var_name(p, c->m->depth)),
                            p->op->vals.data[c->begins].into);
    n->lo = plan_offset_at(p, c->begins, window, 0);
    n->hi = plan_offset_at(p, c->begins, window, 1);
    if (at_once > 1) n->rounds.unroll = (uint32_t)at_once;
    return n;
}

static bool has_products(const planner *p, const plan_inside *inside) {
    plan_matrix m;
    for (uint32_t i = 0; inside && i < inside->points->len; i++)
        if (plan_matrix_of(p, plan_stage(p, inside->points->data[i]), &m)) return true;
    return false;
}

static loop_node *slots_loop(planner *p, cells *c, bool columns, loop_body *to) {
    loop_node *walk = node(p, LOOP_FOR, c->m->stage->at, to);
    walk->var = c->slot = tensor_add_var(
        p->op, arena_printf(p->arena, "%s.slot", plan_var_name(p, c->m->depth)),
        p->op->vals.data[c->columns].axes[0]);
    slot_digits(c->m, schedule_number(c->m->window, "count"),
                prepared_slots(p->windows.of->rows, p->windows.of->slots), columns, walk);
    return walk;
}

static loop_node *open_slots(planner *p, cells *c, bool columns, loop_body *to, block *at_hand) {
    loop_node *blocks = open_blocks(p, c, c->m->stage->at, to),
              *walk = slots_loop(p, c, columns, &blocks->body);
    int64_t slots = prepared_slots(p->windows.of->rows, p->windows.of->slots);
    tensor_expr number = plan_wide(p, plan_at(p, blocks->var));
    walk->lo = plan_times(p, number, slots);
    walk->hi = plan_times(p, plan_plus(p, number, tensor_int(p->op, 1)), slots);
    *at_hand = (block){number, tensor_binary(p->op, TENSOR_SUB_OP,
                                             plan_wide(p, plan_at(p, c->slot)), walk->lo, NO_SPAN)};
    return walk;
}

// One loop over the slots of all blocks, a block each round: rounds are what rows are copied for.
static loop_node *open_rounds(planner *p, cells *c, bool columns, loop_body *to, block *at_hand) {
    loop_node *walk = slots_loop(p, c, columns, to);
    int64_t slots = prepared_slots(p->windows.of->rows, p->windows.of->slots);
    tensor_expr window = plan_at(p, p->windows.of->number), by = tensor_int(p->op, slots),
                slot = plan_wide(p, plan_at(p, c->slot));
    walk->lo = plan_times(p, plan_wide(p, plan_offset_at(p, c->begins, window, 0)), slots);
    walk->hi = plan_times(p, plan_wide(p, plan_offset_at(p, c->begins, window, 1)), slots);
    walk->rest = LOOP_SERIAL_PLACE;
    *at_hand = (block){tensor_binary(p->op, TENSOR_QUOT_OP, slot, by, NO_SPAN),
                       tensor_binary(p->op, TENSOR_MOD_OP, slot, by, NO_SPAN)};
    return walk;
}

// Each stage has a variable of its own for the entry at hand.
static void name_entries(planner *p, const uint32_t *stages, uint32_t n, tensor_var entry,
                         loop_body *to) {
    for (uint32_t i = 0; i < n; i++) {
        const tensor_stage *st = plan_stage(p, stages[i]);
        if (st->bound[0] != entry) plan_let(p, to, st->bound[0], plan_at(p, entry), st->at);
    }
}

void plan_window_column(planner *p, tensor_var entry, loop_body *to) {
    const cells *c = p->windows.cells;
    if (!c || c->again) return;
    loop_node *given = node(p, LOOP_GIVEN, c->m->window->at, to);
    given->key = load(p, c->source, plan_at(p, entry));
    given->value = load(p, c->columns, plan_at(p, c->slot));
}

// ---- What an entry sums -------------------------------------------------------------------------
// Of its row alone, or of what the map says alone.
static bool is_of(const planner *p, const tensor_stage *st, tensor_expr e, tensor_val map) {
    return !plan_depends(p, e, st->left[0], map);
}

static void refuse_product(planner *p, const tensor_stage *st, const char *why) {
    plan_matrix m;
    bool matrix = plan_matrix_of(p, st, &m);
    diagnostic *d = plan_refuse(p, E0572, matrix ? m.cell->at : st->at, "'%s' %s", st->name, why);
    if (d)
        diag_note(d, p->windows.cells->m->window->at,
                  "the loop goes by windows, by this statement");
    if (d)
        diag_help(d,
                  matrix ? "leave 'window' and 'mma' out: any segment loop can go edge by edge"
                         : "multiply it by matrix operations too: `%s: mma %s %s`",
                  st->name, st->nbound ? plan_index_text(p, st->bound[0]) : "k",
                  simt_mma_table(p->windows.cells->m->kind)->operand);
}

// The first factor stands in rows, the second in slots.
static bool order_factors(planner *p, tensor_stage *st) {
    const cells *c = p->windows.cells;
    const tensor_node product = *tensor_node_at(p->op, st->body[0]);
    tensor_expr *body = ARENA_NEW(p->arena, tensor_expr);
    for (uint32_t swap = 0; swap < 2 && product.op == TENSOR_MUL_OP; swap++) {
        tensor_expr x = product.args[swap], y = product.args[!swap];
        if (!is_of(p, st, x, c->rows) || !is_of(p, st, y, c->source)) continue;
        *body = swap ? tensor_binary(p->op, TENSOR_MUL_OP, x, y, product.at) : st->body[0];
        st->body = body;
        return true;
    }
    return false;
}

static void sum_again(planner *p, const uint32_t *stage, loop_node *reduce) {
    const tensor_stage *st = plan_stage(p, *stage);
    loop_body *to = &reduce->body;
    for (uint32_t i = 0; i < st->nbound; i++) {
        loop_node *n = node(p, LOOP_FOR, st->at, to);
        n->var = st->bound[i];
        n->lo = tensor_int(p->op, 0);
        n->hi = tensor_size(p->op, p->op->vars.data[n->var].space, NO_SPAN);
        to = &n->body;
    }
    contribute(p, stage, to);
}

// By operations of four warps if the sums of the walk are, whose rounds bring what those read.
static bool check_warps(planner *p, const plan_matrix *m) {
    const plan_matrix *of = p->windows.cells->m;
    const simt_mma_info *info = simt_mma_table(m->kind);
    bool one = info->warps == 1;
    if (one ? simt_mma_table(of->kind)->warps == 1 : m->kind == of->kind) return true;
    diagnostic *d = plan_refuse(
        p, E0572, m->cell->at,
        "'%s' multiplies by operations of %s, and '%s', in whose loop it is, by others",
        m->stage->name,
        one ? "one warp" : arena_printf(p->arena, "four warps on %s", info->operand),
        of->stage->name);
    if (d) diag_note(d, of->cell->at, "by this statement");
    if (d) diag_help(d, "say the same shape for both, or for none");
    return false;
}

bool plan_window_product(planner *p, const uint32_t *stage, loop_body *to, loop_list *own) {
    const cells *c = p->windows.cells;
    if (!c) return false;
    const tensor_stage *st = plan_stage(p, *stage);
    plan_matrix m;
    bool alike = plan_matrix_of(p, st, &m) && check_warps(p, &m);
    if (p->failed) return true;
    if (!alike || st->nkeys) {
        refuse_product(
            p, st,
            alike ? "sums other points for each edge, and a matrix operation sums the same for all"
                  : "is no sum of products that tensor cores take for each edge of a window");
        return true;
    }
    loop_node *reduce = node(p, LOOP_REDUCE, st->at, to);
    reduce->nstages = 1;
    reduce->stages = stage;
    if (c->again) {
        sum_again(p, stage, reduce);
        return true;
    }
    if (!order_factors(p, &p->op->stages.data[*stage])) {
        refuse_product(p, st,
                       "is no product of what an edge's row has and what the map says of the edge");
        return true;
    }
    if (!m.cells) {
        refuse_product(
            p, st,
            "has an index that one factor alone has, besides its edges, and rows and columns are those of a window");
        return true;
    }
    plan_walk(p, stage, 1, reduce, own, NULL);
    const loop_node *depth = loop_over_var(&reduce->body, m.depth);
    if (!p->failed && simt_mma_table(m.kind)->warps > 1 && depth &&
        !plan_group_along(p, &m, m.depth, depth))
        return true;
    loop_matrix *made = ARENA_NEW(p->arena, loop_matrix);
    *made = (loop_matrix){m.kind, p->windows.row, c->slot, m.depth, 1};
    reduce->reduce.matrix = made;
    plan_accumulators(p, &m, reduce, made);
    return true;
}

// ---- The walk -----------------------------------------------------------------------------------
// The entries of the row at hand.
static loop_node *walk_entries(planner *p, const uint32_t *stages, uint32_t n, cells *c,
                               const plan_map *map, const plan_inside *inside, loop_body *to) {
    const tensor_var entry = c->m->depth;
    const span from = c->m->stage->at;
    loop_node *walk = node(p, LOOP_FOR, from, to);
    tensor_val offsets = plan_offsets(p, map);
    walk->lo = plan_offset_at(p, offsets, plan_at(p, c->m->rows), 0);
    walk->hi = plan_offset_at(p, offsets, plan_at(p, c->m->rows), 1);
    walk->var = map->sorted
                    ? entry
                    : tensor_add_var(p->op,
                                     arena_printf(p->arena, "%s.at", plan_var_name(p, entry)),
                                     map->domain);
    if (!map->sorted)
        plan_let(p, &walk->body, entry, load(p, plan_order(p, map), plan_at(p, walk->var)), from);
    name_entries(p, stages, n, entry, &walk->body);
    if (inside) inside->emit(inside->user, &walk->body);
    return walk;
}

// What is not finite is summed entry by entry. Of f32 taken apart an infinite score is no number,
// and neither is a maximum then: it comes first, and what is relative to it after that. In 16 bits
// scores are what they are, and their maxima.
static void walk_again(planner *p, const uint32_t *stages, uint32_t n, cells *c,
                       const plan_inside *inside, loop_body *to) {
    plan_map map;
    bool maxima = false;
    if (!plan_map_of(p, c->rows, &map)) ICE("windows are of no map");
    loop_node *again = node(p, LOOP_AGAIN, c->m->stage->at, to);
    c->again = true;
    for (uint32_t i = 0; i < n; i++)
        maxima |= simt_mma_splits(c->m->kind) && plan_is_online(p, stages[i]);
    loop_node *walk = maxima ? walk_entries(p, stages, n, c, &map, inside, &again->body) : NULL;
    for (uint32_t i = 0; i < n && maxima; i++)
        if (plan_is_online(p, stages[i])) contribute(p, &stages[i], &walk->body);
    walk = walk_entries(p, stages, n, c, &map, inside, &again->body);
    for (uint32_t i = 0; i < n; i++)
        if (!plan_is_online(p, stages[i])) contribute(p, &stages[i], &walk->body);
}

// Slots of a walk come in the same rounds for all that it sums.
static bool check_rounds(planner *p, const plan_matrix *m, const plan_matrix *o) {
    long long slots = schedule_number(m->window, "count"),
              others = schedule_number(o->window, "count");
    if (slots == others && fetches(p, m) == fetches(p, o)) return true;
    diagnostic *d = plan_refuse(p, E0572, o->window->at,
                                "'%s' is summed in the same windows as '%s', and in other rounds",
                                o->stage->name, m->stage->name);
    if (d) diag_note(d, m->window->at, "by this statement");
    if (d)
        diag_help(
            d, "say the same count and the same 'pipeline %s' for both, or fuse them in two loops",
            plan_index_text(p, m->depth));
    return false;
}

static bool check_accumulators(planner *p, const plan_matrix *m, const plan_matrix *o) {
    const bool of_m = schedule_value_of(m->cell, "accumulators"),
               of_o = schedule_value_of(o->cell, "accumulators");
    if (of_m == of_o && (!of_m || schedule_number(m->cell, "accumulators") ==
                                      schedule_number(o->cell, "accumulators")))
        return true;
    diagnostic *d = plan_refuse(
        p, E0572, o->cell->at,
        "'%s' is summed in the same windows as '%s', and in other accumulators", o->stage->name,
        m->stage->name);
    if (d) diag_note(d, m->cell->at, "by this statement");
    if (d) diag_help(d, "say the same 'accumulators' for both, or fuse them apart");
    return false;
}

// Products of one walk have rows, columns and pieces alike; what is summed beside them has no
// columns.
static bool check_alike(planner *p, const uint32_t *stages, uint32_t n, const plan_matrix *m) {
    uint32_t level = m->columns == PLAN_OF_CELLS ? UINT32_MAX : plan_place(p, m->stage, m->columns);
    for (uint32_t i = 0; i < n; i++) {
        const tensor_stage *st = plan_stage(p, stages[i]);
        plan_matrix o;
        bool product = plan_matrix_of(p, st, &o);
        if (product ? o.kind == m->kind && o.window && plan_place(p, st, o.columns) == level &&
                          plan_window_source(p, o.window) == plan_window_source(p, m->window)
                    : st->nleft <= level) {
            if (product && (!check_rounds(p, m, &o) || !check_accumulators(p, m, &o))) return false;
            continue;
        }
        diagnostic *d = plan_refuse(p, E0572, product ? o.cell->at : st->at,
                                    "'%s' is summed in the same windows as '%s', and otherwise",
                                    st->name, m->stage->name);
        if (d) diag_note(d, m->cell->at, "by this statement");
        if (d)
            diag_help(d, "say the same for both, `%s, %s: mma %s %s`, or fuse them apart",
                      m->stage->name, st->name, plan_index_text(p, m->depth),
                      simt_mma_table(m->kind)->operand);
        return false;
    }
    return true;
}

// A cell without an edge has no place of its own to store anything.
static bool check_stored(planner *p, const plan_matrix *m, const plan_inside *inside) {
    for (uint32_t i = 0; inside && i < inside->points->len; i++) {
        const tensor_stage *st = plan_stage(p, inside->points->data[i]);
        if (p->plan->values.data[st->targets[0].val].home == LOOP_REGISTERS) continue;
        diagnostic *d = plan_refuse(
            p, E0530, m->window->at,
            "'window' of a loop that stores '%s' for each edge has no pass in this version",
            st->name);
        if (d) diag_note(d, st->at, "what windows compute of an edge is known in their loop alone");
        if (d)
            diag_help(d, "leave '%s' to a kernel of its own, or 'window' and 'mma' out", st->name);
        return false;
    }
    return true;
}

// Exponentials in cells are approximate, and so is what is rounded of them
// (lower/values/exponential.c).
static void tell_near(planner *p, const uint32_t *stages, uint32_t n, simt_mma kind) {
    if (simt_mma_splits(kind)) return;
    p->plan->near = p->plan->narrow = true;
    for (uint32_t i = 0; i < n; i++)
        VEC_PUSH(p->plan->arena, &p->plan->relative, plan_stage(p, stages[i])->name);
}

void plan_window_walk(planner *p, const uint32_t *stages, uint32_t n, const plan_matrix *m,
                      loop_node *reduce, loop_list *made, const plan_inside *inside) {
    if (!p->windows.of) {
        plan_matrix_alone(p, m->stage, "in a class of a bucket");
        return;
    }
    if (!check_alike(p, stages, n, m) || !check_stored(p, m, inside) || !plan_window_check(p, m))
        return;
    plan_cut(p, m->stage, m->depth, true);   // refuses what else deals them out
    cells c = prepare(p, m, stages, n, inside);
    tell_near(p, stages, n, m->kind);
    span from = m->stage->at;
    block at_hand;
    bool columns = has_products(p, inside);
    loop_node *walk = fetches(p, m) ? open_rounds(p, &c, columns, &reduce->body, &at_hand)
                                    : open_slots(p, &c, columns, &reduce->body, &at_hand);
    VEC_PUSH(p->arena, made, walk);
    cell here = cell_of(p, &c, &at_hand);
    plan_let(p, &walk->body, m->depth, here.entry, from);
    name_entries(p, stages, n, m->depth, &walk->body);
    p->windows.cells = &c;
    for (uint32_t i = 0; i < n; i++)
        plan_window_column(p, plan_stage(p, stages[i])->bound[0], &walk->body);
    if (inside) inside->emit(inside->user, &walk->body);
    loop_node *is = node(p, LOOP_IF, from, &walk->body);
    is->value = here.some;
    for (uint32_t i = 0; i < n; i++) contribute(p, &stages[i], &is->body);
    if (!p->failed && m->columns != PLAN_OF_CELLS)
        walk_again(p, stages, n, &c, inside, &reduce->body);
    p->windows.cells = NULL;
}
