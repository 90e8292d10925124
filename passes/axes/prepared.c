// Arrays the runtime prepares for a plan, as values of its op: offsets.dst, order.dst,
// compose.dst.type. A key is walked by them where its map is known when the plan is made: a
// parameter, a composition of parameters, classes of tuples.
#include "axes/axes.h"
#include "base/base.h"

#include <string.h>

tensor_val plan_degrees_from(planner *p, tensor_val map, int64_t least) {
    const tensor_val_info m = p->op->vals.data[map];
    return plan_prepare_by(p, PREPARED_DEGREES_FROM, &map, 1, least, m.axes[0], m.into);
}

// ---- Maps ---------------------------------------------------------------------------------------
bool plan_is_total(const planner *p, tensor_val v) {
    const tensor_val_info *i = &p->op->vals.data[v];
    bool all = !(i->facts & FACT_PARTIAL);
    for (uint32_t k = 0; k < i->nkeys; k++) all = all && plan_is_total(p, i->keys[k]);
    for (uint32_t r = 0; r < p->plan->prepared.len; r++) {
        const loop_prepared *q = &p->plan->prepared.data[r];
        for (uint32_t k = 0; q->val == v && q->builder == PREPARED_COMPOSE && k < q->nargs; k++)
            all = all && plan_is_total(p, q->args[k]);
    }
    return all;
}

void plan_prepare_classes(planner *p) {
    for (tensor_val v = 0; v < p->op->vals.len; v++) {
        const tensor_val_info i = p->op->vals.data[v];
        if (i.role != VAL_CLASSES) continue;
        tensor_val *args = ARENA_ARRAY(p->arena, tensor_val, i.nkeys);
        for (uint32_t k = 0; k < i.nkeys; k++) {
            plan_map m;
            p->failed |= !plan_map_of(p, i.keys[k], &m);
            if (p->failed) return;
            args[k] = m.map;
        }
        VEC_PUSH(p->arena, &p->plan->prepared,
                 ((loop_prepared){
                     .val = v, .builder = PREPARED_CLASSES, .nargs = i.nkeys, .args = args}));
    }
}

// ---- Offsets and orders -------------------------------------------------------------------------
tensor_val plan_row_ends(planner *p, prepared_builder b, tensor_val map, tensor_val order) {
    const tensor_val_info m = p->op->vals.data[map];
    return plan_prepare(p, b, (tensor_val[]){map, order}, 2, m.axes[0], m.into);
}

tensor_val plan_tiles(planner *p, prepared_builder b, const plan_map *m, int64_t n) {
    const char *name = arena_printf(p->arena, "%s.tiles%lld", p->op->vals.data[m->map].name,
                                    (long long)n);
    tensor_space tiles = plan_space(p, name, loop_most_tiles(p->op, m->domain, m->into, n));
    plan_narrow_product(p, &tiles, 1);
    return b == PREPARED_TILE_BEGINS
               ? plan_prepare_by(p, b, &m->map, 1, n, tiles, plan_ends_of(p, m->into))
               : plan_prepare_by(p, b, &m->map, 1, n, m->into, tiles);
}

tensor_val plan_row_parts(planner *p, prepared_builder b, const plan_map *m, tensor_val order,
                          int64_t n) {
    tensor_val args[] = {m->map, order};
    uint32_t nargs = order == TENSOR_NO_VAL ? 1 : 2;
    const char *name = arena_printf(p->arena, "%s.parts%lld", p->op->vals.data[m->map].name,
                                    (long long)n);
    tensor_space parts = plan_space(p, name, loop_parts(p->op, m->map, n));
    plan_narrow_product(p, &parts, 1);
    if (b == PREPARED_PART_HEADS) {
        const char *heads = arena_printf(p->arena, "%s.heads%lld", p->op->vals.data[m->map].name,
                                         (long long)n);
        tensor_expr one = tensor_int(p->op, 1),
                    more = tensor_binary(p->op, TENSOR_ADD_OP, loop_cut_rows(p->op, m->map, n), one,
                                         NO_SPAN);
        return plan_prepare_by(p, b, args, nargs, n, parts, plan_space(p, heads, more));
    }
    return plan_prepare_by(p, b, args, nargs, n, b == PREPARED_PART_ROWS ? m->into : m->domain,
                           parts);
}

tensor_val plan_window_values(planner *p, prepared_builder b, tensor_val map, tensor_val other,
                              int64_t extent, int64_t said, tensor_space windows) {
    const tensor_val_info i = p->op->vals.data[map];
    tensor_val args[] = {map, other};
    if (b == PREPARED_WINDOW_COLUMNS)
        return plan_prepare_by(p, b, args, 2, 0, i.into, p->op->vals.data[other].into);
    const char *entries = said ? arena_printf(p->arena, "%s.by%lld", i.name, (long long)said)
                               : i.name;
    int64_t bits = prepared_slots(extent, said);
    tensor_expr most = loop_most_slots(p->op, map, extent, bits), n = tensor_int(p->op, extent),
                block = tensor_int(p->op, bits),
                blocks_of = tensor_binary(p->op, TENSOR_QUOT_OP, most, block, NO_SPAN);
    tensor_space slots = plan_space(
        p, arena_printf(p->arena, "%s.slots%lld", entries, (long long)extent), most);
    if (b == PREPARED_WINDOW_SLOTS)
        return plan_prepare_blocks(p, b, args, 2, extent, said, slots, i.axes[0]);
    if (b == PREPARED_WINDOW_BEGINS) {
        tensor_space blocks = plan_space(
            p, arena_printf(p->arena, "%s.blocks%lld", entries, (long long)extent), blocks_of);
        return plan_prepare_blocks(p, b, args, 2, extent, said, blocks, plan_ends_of(p, windows));
    }
    if (b == PREPARED_WINDOW_MASKS) {
        tensor_space masks = plan_space(p, arena_printf(p->arena, "masks%lld", (long long)bits),
                                        tensor_int(p->op, loop_masks(bits))),
                     rows = plan_space(
                         p, arena_printf(p->arena, "%s.rows%lld", entries, (long long)extent),
                         tensor_binary(p->op, TENSOR_MUL_OP, blocks_of, n, NO_SPAN));
        plan_narrow_product(p, &rows, 1);
        return plan_prepare_blocks(p, b, args, 2, extent, said, masks, rows);
    }
    tensor_space cells = plan_space(
        p, arena_printf(p->arena, "%s.cells%lld", entries, (long long)extent),
        tensor_binary(p->op, TENSOR_MUL_OP, most, n, NO_SPAN));
    plan_narrow_product(p, &cells, 1);
    return plan_prepare_blocks(p, b, args, 2, extent, said, i.axes[0], cells);
}

tensor_val plan_order(planner *p, const plan_map *m) {
    return plan_prepare(p, PREPARED_ORDER, &m->map, 1, m->domain, m->domain);
}
