// Blocks that own tiles of an index: points in the order of a map, cut into tiles none of which
// crosses a value of it (FASTEN's routing table). What the map says is the same at all points of a
// tile.
//     block e 32 by type  →  for e.tile in 0 .. size(type.tiles32) [block] {
//                              let e.type = tile_values.type.32[e.tile]
//                              for e in offsets.type[e.type] + 32 * (e.tile - tile_begins.type.32[e.type]) ..
//                              … [serial 32, whole] { given type[e] = e.type … w[type[e], k, q] …
//     block e 32 by type tiles 8  →  for e.tile in … [serial 8, block] { …
// The largest values first are those of another map: their numbers in the order of their sizes,
// descending.
#include "axes/axes.h"
#include "base/base.h"
#include "tensor/tensor.h"

#include <string.h>

bool plan_same_tiles(const schedule_cell *a, const schedule_cell *b) {
    static const char *const numbers[] = {"serial", "tiles", "granularity"};
    const schedule_value *x = plan_tiled(a), *y = plan_tiled(b);
    if (!x || !y) return !x && !y;
    bool same = x->ids[0].data[0] == y->ids[0].data[0] &&
                !schedule_value_of(a, "largest") == !schedule_value_of(b, "largest");
    for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        same = same && schedule_number(a, numbers[i]) == schedule_number(b, numbers[i]);
    return same;
}

// ---- Legality -----------------------------------------------------------------------------------
static bool find_map(planner *p, plan_tile *t, tensor_var row) {
    const char *name = plan_tiled(t->cell)->text, *index = plan_index_text(p, row);
    t->named = plan_val_meant(p, plan_tiled(t->cell));
    if (t->named == TENSOR_NO_VAL || !plan_map_of(p, t->named, &t->map)) {
        diagnostic *d = plan_refuse(
            p, E0544, t->cell->at,
            "no array of '%s' is known when the plan is made, so there are no tiles of '%s' by it",
            name, index);
        if (d) diag_help(d, "hand it over as a map: a parameter of the op");
        return false;
    }
    if (!plan_key_fits(p, t->cell, t->map.domain, row)) return false;
    if (plan_is_total(p, t->map.map)) return true;
    diagnostic *d = plan_refuse(p, E0566, t->cell->at,
                                "'%s' may be none, and such points of '%s' would be in no tile",
                                name, index);
    if (d) diag_help(d, "declare '%s' without 'partial', or leave out 'by %s'", name, name);
    return false;
}

// Points in the order of the map: their own where it is sorted.
static bool find_order(planner *p, const plan_tile *t, schedule_cell *order, tensor_var row,
                       tensor_val *out) {
    const char *name = plan_tiled(t->cell)->text, *index = plan_index_text(p, row);
    const schedule_value *key = order ? schedule_value_of(order, "by") : NULL;
    bool apt = key && plan_key_read(p, key) == t->named && !schedule_value_of(order, "desc");
    *out = order ? plan_order(p, &t->map) : TENSOR_NO_VAL;
    if (order) order->consumed = true;
    if (order ? apt : t->map.sorted) return true;
    diagnostic *d = plan_refuse(
        p, E0566, t->cell->at,
        "tiles by '%s' are made of points in its order, and '%s' is visited in another", name,
        index);
    if (d && order) diag_note(d, order->at, "by this statement");
    if (d)
        diag_help(d, "say `order %s by %s`%s", index, name,
                  order ? " instead" : ", or declare the map sorted");
    return false;
}

static bool check_round(planner *p, const plan_tile *t, tensor_var row) {
    if (!t->round || t->points % t->round == 0) return true;
    const char *index = plan_index_text(p, row);
    diagnostic *d = plan_refuse(
        p, E0542, t->cell->at,
        "a tile of %lld points of '%s' is no multiple of the %lld it is rounded to",
        (long long)t->points, index, (long long)t->round);
    if (d)
        diag_help(d, "take a multiple: `block %s %lld by …`", index,
                  (long long)((t->points / t->round + 1) * t->round));
    return false;
}

// Loops are counted in 20 bits.
static bool check_tiles(planner *p, const plan_tile *t) {
    const int64_t most = 1 << 20;
    if (t->group <= most && t->tiles <= most && t->group * (t->tiles ? t->tiles : 1) <= most)
        return true;
    diagnostic *d = plan_refuse(p, E0542, t->cell->at,
                                "a block takes more than the %lld tiles that are possible",
                                (long long)most);
    if (d) diag_help(d, "leave more of them to other blocks");
    return false;
}

// ---- The table ----------------------------------------------------------------------------------
// Values numbered by their sizes, the largest first: the map of points to numbers, and the value of
// each.
static plan_map by_size(planner *p, const plan_map *m, tensor_val *values) {
    tensor_val degrees = plan_prepare(p, PREPARED_DEGREES, &m->map, 1, m->domain, m->into);
    *values = plan_prepare(p, PREPARED_ORDER_DESC, &degrees, 1, m->into, m->into);
    tensor_val args[] = {m->map, plan_prepare(p, PREPARED_ORDER, values, 1, m->into, m->into)};
    tensor_val numbers = plan_prepare(p, PREPARED_COMPOSE, args, 2, m->into, m->domain);
    return (plan_map){numbers, false, m->domain, m->into};
}

void plan_tile_range(planner *p, const plan_map *m, int64_t n, tensor_expr tile, tensor_expr first,
                     tensor_expr value, tensor_expr *lo, tensor_expr *hi) {
    tensor_val offsets = plan_offsets(p, m);
    tensor_expr before = tensor_binary(p->op, TENSOR_SUB_OP, plan_wide(p, tile),
                                       plan_wide(p, first), NO_SPAN);
    tensor_expr skipped = tensor_binary(p->op, TENSOR_MUL_OP, before, tensor_int(p->op, n),
                                        NO_SPAN);
    *lo = tensor_binary(p->op, TENSOR_ADD_OP, plan_wide(p, plan_offset_at(p, offsets, value, 0)),
                        skipped, NO_SPAN);
    *hi = tensor_binary(p->op, TENSOR_MIN_OP,
                        tensor_binary(p->op, TENSOR_ADD_OP, *lo, tensor_int(p->op, n), NO_SPAN),
                        plan_wide(p, plan_offset_at(p, offsets, value, 1)), NO_SPAN);
}

static tensor_var position(planner *p, tensor_var row, const char *what, tensor_space s) {
    return tensor_add_var(p->op, arena_printf(p->arena, "%s.%s", p->op->vars.data[row].name, what),
                          s);
}

static void make_table(planner *p, plan_tile *t, tensor_var row, row_class *out) {
    plan_map tiled = t->map;
    t->by_size = TENSOR_NO_VAL;
    if (schedule_value_of(t->cell, "largest")) tiled = by_size(p, &t->map, &t->by_size);
    t->begins = plan_tiles(p, PREPARED_TILE_BEGINS, &tiled, t->points);
    t->values = plan_tiles(p, PREPARED_TILE_VALUES, &tiled, t->points);
    t->number = position(p, row, "tile", p->op->vals.data[t->values].axes[0]);
    t->value = position(p, row, plan_tiled(t->cell)->text, t->map.into);
    t->rank = t->by_size == TENSOR_NO_VAL ? t->value : position(p, row, "rank", t->map.into);
    plan_tile_range(p, &t->map, t->points, plan_at(p, t->number),
                    plan_offset_at(p, t->begins, plan_at(p, t->rank), 0), plan_at(p, t->value),
                    &out->lo, &out->hi);
}

bool plan_tile_rows(planner *p, tensor_var row, schedule_cell *block, schedule_cell *order,
                    row_class *out) {
    plan_tile *t = ARENA_NEW(p->arena, plan_tile);
    *t = (plan_tile){.cell = block,
                     .points = schedule_number(block, NULL),
                     .group = schedule_number(block, "serial"),
                     .tiles = schedule_number(block, "tiles"),
                     .round = schedule_number(block, "granularity")};
    block->consumed = true;
    if (!find_map(p, t, row) || !find_order(p, t, order, row, &out->order) ||
        !check_round(p, t, row) || !check_tiles(p, t))
        return false;
    make_table(p, t, row, out);
    out->place = ROWS_OF_TILE;
    out->points = t->points;
    out->tile = t;
    return true;
}

// ---- Loops --------------------------------------------------------------------------------------
static void let_load(planner *p, loop_body *to, tensor_var v, tensor_val of, tensor_var index,
                     span from) {
    tensor_expr i = plan_at(p, index);
    plan_let(p, to, v, tensor_load(p->op, of, &i, 1, NO_SPAN), from);
}

// A block, or each of the groups of lanes that own one, walks `serial` tiles of the table one after
// the other.
loop_node *plan_open_tiles(planner *p, const plan_tile *t, const stage_group *g, loop_body **to) {
    span from = t->cell->at;
    loop_node *n = plan_open_chains(p, t, g, to);
    if (n) return n;
    n = loop_node_new(p->plan, LOOP_FOR, from);
    n->var = t->number;
    n->lo = tensor_int(p->op, 0);
    n->hi = tensor_size(p->op, p->op->vars.data[t->number].space, NO_SPAN);
    n->rest = LOOP_BLOCK_PLACE;
    if (t->group > 1)
        n->digits[n->ndigits++] = (loop_digit){LOOP_SERIAL_PLACE, (uint32_t)t->group, 1};
    if (t->tiles > 1)
        n->digits[n->ndigits++] = (loop_digit){LOOP_GROUP_PLACE, (uint32_t)t->tiles, 1};
    loop_append(p->plan, *to, n);
    *to = &n->body;
    let_load(p, &n->body, t->rank, t->values, t->number, from);
    if (t->rank != t->value) let_load(p, &n->body, t->value, t->by_size, t->rank, from);
    return n;
}

// What a stage in memory says is read where it was stored, as any value is.
void plan_given(planner *p, const plan_tile *t, tensor_var v, loop_body *to) {
    tensor_expr index = plan_at(p, v), load = tensor_load(p->op, t->named, &index, 1, NO_SPAN),
                key = plan_inline_loads(p, load);
    bool stored = key == load && p->op->vals.data[t->named].role == VAL_STAGE;
    if (stored || tensor_node_at(p->op, key)->op != TENSOR_LOAD_OP) return;
    loop_node *n = loop_node_new(p->plan, LOOP_GIVEN, t->cell->at);
    n->key = key;
    n->value = plan_at(p, t->value);
    loop_append(p->plan, to, n);
}

// A tile is taken at once, or, where it is rounded, by so many points at a time, until they end.
void plan_tile_digits(planner *p, const plan_tile *t, index_cut c, loop_node *node) {
    int64_t part = plan_parts_of(&c), points = t->round ? t->round : t->points;
    if (t->round && t->round % part) {
        diagnostic *d = plan_refuse(
            p, E0542, t->cell->at,
            "%lld points that a tile is rounded to are no multiple of the %lld that are distributed at once",
            (long long)t->round, (long long)part);
        if (d)
            diag_help(d, "take a multiple: `granularity %lld`",
                      (long long)((t->round / part + 1) * part));
        return;
    }
    c.block = points;
    plan_digits(p, &c, node);
    node->rest = points < t->points ? LOOP_SERIAL_PLACE : LOOP_WHOLE_PLACE;
}

// ---- Groups that own tiles ----------------------------------------------------------------------
void plan_check_groups(planner *p, const plan_tile *t, const index_cut *c) {
    const schedule_cell *groups = c->cell[SCHEDULE_GROUPS];
    const char *index = plan_index_text(p, c->var);
    if (!t->tiles || !groups) return;
    diagnostic *d = plan_refuse(
        p, E0540, groups->at,
        "'groups %s' has nothing to do here: each group of lanes owns a tile of '%s'", index,
        index);
    if (d) diag_note(d, t->cell->at, "by the %lld tiles of a block", (long long)t->tiles);
    if (d)
        diag_help(
            d, "leave it out, or say `lanes %s`; without 'tiles' all groups of a block share one",
            index);
}

// They come to a barrier as often as their own tiles ask for, not together.
void plan_check_meeting(planner *p, const plan_tile *t, const tensor_stage *st,
                        const loop_list *walk) {
    bool meet = false;
    for (uint32_t i = 0; i < walk->len && t->tiles > 1; i++)
        for (uint32_t d = 0; d < walk->data[i]->ndigits; d++)
            meet |= walk->data[i]->digits[d].place == LOOP_GROUP_PLACE;
    if (!meet) return;
    const schedule_cell *groups = plan_statement(p, st, SCHEDULE_GROUPS, NULL);
    diagnostic *d = plan_refuse(
        p, E0530, groups ? groups->at : p->s->at,
        "groups along what '%s' reduces have no pass in this version where each group owns a tile: they would meet at a barrier",
        st->name);
    if (d) diag_note(d, t->cell->at, "by the %lld tiles of a block", (long long)t->tiles);
    if (d) diag_help(d, "take lanes for it, or leave out 'tiles'");
}

// ---- Where there are none -----------------------------------------------------------------------
void plan_check_tiles(planner *p, const index_cut *c, const row_class *rows) {
    const schedule_cell *block = c->cell[SCHEDULE_BLOCK];
    if (!plan_tiled(block)) return;
    diagnostic *d = plan_refuse(
        p, E0530, block->at,
        "'block %s' by a map has no pass in this version in a kernel whose rows are %s",
        block->subject, rows->place == ROWS_OF_GRID ? "a class of a bucket" : "shared");
    if (d) diag_help(d, "leave out 'by %s'", plan_tiled(block)->text);
}
