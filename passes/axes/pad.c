// Padding: an index whose extent is rounded up to a multiple, so that vectors and lanes along it
// come out even. Its loops go on to the multiple, and what lies past the extent repeats the last
// point: values of the plan's own hold it, results and sums do not (HalfGNN pads odd feature
// lengths so that pairs are loaded and stored at once).
//     pad f 8   →  for f in 0 .. size(F) pad 8 [vector 8, …]   and   padded h[1, 8]
#include "axes/axes.h"
#include "base/base.h"

static schedule_cell *cell_of(const planner *p, const tensor_stage *st, tensor_var v) {
    return schedule_find(p->s, st->id, SCHEDULE_PAD, p->op->vars.data[v].id);
}

int64_t plan_pad(const planner *p, const tensor_stage *st, tensor_var v) {
    const schedule_cell *c = cell_of(p, st, v);
    const tensor_space_info *s = &p->op->spaces.data[p->op->vars.data[v].space];
    int64_t pad = c ? schedule_number(c, NULL) : 0;
    return pad <= 1 || (s->kind == SPACE_CONST && s->size % pad == 0) ? 0 : pad;
}

int64_t plan_padded_extent(const planner *p, const tensor_stage *st, tensor_expr index,
                           int64_t extent) {
    const tensor_node *n = tensor_node_at(p->op, index);
    int64_t pad = n->op == TENSOR_VAR_OP ? plan_pad(p, st, (tensor_var)n->imm.i) : 0;
    return pad ? (extent + pad - 1) / pad * pad : extent;
}

static void check_number(planner *p, const index_cut *c, const schedule_cell *cell) {
    const char *name = plan_index_text(p, c->var);
    if (c->pad > LOOP_MAX_PAD) {
        diagnostic *d = plan_refuse(p, E0542, cell->at,
                                    "'pad %s %lld' is more than %d, the most there is", name,
                                    (long long)c->pad, LOOP_MAX_PAD);
        if (d) diag_help(d, "pad to what vectors and lanes take at once");
    } else if (c->pad && c->vector && c->pad % c->vector) {
        diagnostic *d = plan_refuse(p, E0542, cell->at,
                                    "'pad %s %lld' is no multiple of the %lld elements of a vector",
                                    name, (long long)c->pad, (long long)c->vector);
        if (d) diag_note(d, c->cell[SCHEDULE_VECTOR]->at, "the vector");
        if (d)
            diag_help(d, "take a multiple: `pad %s %lld`", name,
                      (long long)((c->pad / c->vector + 1) * c->vector));
    }
}

static bool whole_range(const planner *p, const loop_node *n, tensor_var v) {
    const tensor_node *lo = tensor_node_at(p->op, n->lo), *hi = tensor_node_at(p->op, n->hi);
    return n->var == v && lo->op == TENSOR_CONST_OP && !lo->imm.i && hi->op == TENSOR_SIZE_OP &&
           (tensor_space)hi->imm.i == p->op->vars.data[v].space;
}

void plan_pad_loop(planner *p, const index_cut *c, loop_node *n, const char *why_not) {
    schedule_cell *cell = cell_of(p, c->stage, c->var);
    const char *name = plan_index_text(p, c->var);
    if (!cell || schedule_number(cell, NULL) == 1) return;
    cell->consumed = true;
    if (!why_not && !whole_range(p, n, c->var))
        why_not = "its loop is over what a key takes to a row";
    if (why_not) {
        diagnostic *d = plan_refuse(p, E0568, cell->at, "'%s' cannot be padded: %s", name, why_not);
        if (d) diag_note(d, c->stage->at, "the loop is that of '%s'", c->stage->name);
        if (d)
            diag_help(
                d,
                "pad an index whose points are all gone through in their own order, or say `pad %s none`",
                name);
        return;
    }
    check_number(p, c, cell);
    if (!c->pad || p->failed) return;
    n->rounds.pad = (uint32_t)c->pad;
    n->hi = loop_padded(p->op, p->op->vars.data[c->var].space, n->rounds.pad);
}

// Values that every store fills up to a multiple have room for it, where the schedule asks for it:
// nobody else gives memory away.
void plan_pads(planner *p) {
    if (p->s->automatic && !p->machine->aligned) return;
    const uint32_t *stored = loop_stored_pads(p->arena, p->plan);
    for (tensor_val v = 0; v < p->op->vals.len; v++)
        for (uint32_t a = 0; a < p->op->vals.data[v].rank; a++) {
            uint32_t pad = stored[8 * v + a];
            loop_value *w = &p->plan->values.data[v];
            if (!loop_may_pad(p->plan, v, a, pad)) continue;
            w->pad[a] = pad;
            w->pitch[a] = loop_padded(p->op, p->op->vals.data[v].axes[a], pad);
        }
}
