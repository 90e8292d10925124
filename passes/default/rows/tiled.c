// The default schedule's version for long rows of points: what each point of a sorted map reduces
// along a dense axis, as the dot products of edges do. A group of lanes owns a tile of one row,
// whose features it loads once (FASTEN's tiles, for rows of a graph), and its lanes go on with a
// point each.
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/stages/stages.h"
#include "default/rows/rows.h"
#include "base/base.h"
#include "kernels/kernels.h"

// The maps by whose value of the point something is loaded along what is reduced.
typedef struct {
    const planner *p;
    tensor_var point, along;
    VEC(tensor_val) maps;
} row_search;

static bool row_of_point(void *user, const tensor_node *load) {
    row_search *s = user;
    const tensor_node *last = load->nargs > 1
                                  ? tensor_node_at(s->p->op, load->args[load->nargs - 1])
                                  : NULL,
                      *row = last ? tensor_node_at(s->p->op, load->args[0]) : NULL;
    if (!last || last->op != TENSOR_VAR_OP || (tensor_var)last->imm.i != s->along) return true;
    if (row->op != TENSOR_LOAD_OP || row->nargs != 1 || (tensor_val)row->imm.i >= s->p->op->nparams)
        return true;
    const tensor_node *at = tensor_node_at(s->p->op, row->args[0]);
    const tensor_val_info *m = &s->p->op->vals.data[row->imm.i];
    bool fits = at->op == TENSOR_VAR_OP && (tensor_var)at->imm.i == s->point &&
                m->role == VAL_MAP && !(m->facts & FACT_PARTIAL);
    for (uint32_t i = 0; i < s->maps.len; i++) fits &= s->maps.data[i] != (tensor_val)row->imm.i;
    if (fits) VEC_PUSH(s->p->arena, &s->maps, (tensor_val)row->imm.i);
    return true;
}

static tensor_val row_map(const planner *p, const tensor_stage *st, tensor_var point,
                          uint32_t number) {
    row_search s = {p, point, st->bound[0], {0}};
    plan_loads(p, st, row_of_point, &s);
    return number < s.maps.len ? s.maps.data[number] : TENSOR_NO_VAL;
}

static void fill_points(making *m, const tensor_stage *st, tensor_var point, tensor_val map,
                        int64_t rows, int64_t steps) {
    default_fill(m, st, SCHEDULE_LANES, point, rows, NULL);
    default_fill(m, st, SCHEDULE_UNROLL, point, steps, "distributed");
    default_say(m, default_index_cell(m->p, SCHEDULE_BLOCK, st, point),
                default_number(DEFAULT_TILE), default_by(m->p, map),
                default_option("tiles", DEFAULT_TILES),
                default_option("granularity", rows * steps));
}

bool default_tile(making *m, const stage_group *g, uint32_t number) {
    planner *p = m->p;
    const tensor_stage *st = &p->op->stages.data[g->data[0]];
    const default_left left = default_left_of(p, st);
    if (!left.n || !default_is_dot(p, g) || default_has_features(p, st) ||
        st->loop != TENSOR_NO_LOOP)
        return false;
    tensor_val map = row_map(p, st, left.at[0], number);
    if (map == TENSOR_NO_VAL) return false;
    dot_share d = default_dot(m, st, p->machine->lanes, 1);
    if (d.lanes < 2 || d.lanes * d.heads < DEFAULT_WHOLE_LINE)
        return false;   // a head of one lane: points are faster
    int64_t rows = p->machine->lanes / (d.lanes * d.heads), steps = DEFAULT_TILE_ROUND / rows;
    if (steps > DEFAULT_TILE_STEPS) steps = DEFAULT_TILE_STEPS;
    if (steps > d.lanes) steps = d.lanes;
    if (d.heads <= 1) default_tile_room(m, st, steps);
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *one = &p->op->stages.data[g->data[i]];
        const default_left own = default_left_of(p, one);
        if (own.n) fill_points(m, one, own.at[0], map, rows, steps);
    }
    m->tiled = map;
    return true;
}
