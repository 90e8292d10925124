// How one axis is dealt out: to the numbers of a vector, to lanes, to registers.
//     f, of 64 numbers of f32, for 32 lanes   →  vector f 4;  lanes f 16
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/stages/stages.h"
#include "kernels/kernels.h"

// in one round
int64_t default_share_points(axis_share s) { return s.vector * s.lanes * s.registers; }

static int64_t round_up(int64_t n, int64_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

static bool is_last(const planner *p, const tensor_stage *st, tensor_var v) {
    const default_left left = default_left_of(p, st);
    return left.n && left.at[left.n - 1] == v;
}

// Rows of what is given lie inside the space: heads, of which there are few.
static bool has_rows_inside(const planner *p, tensor_space s) {
    bool inside = false;
    for (tensor_val x = 0; x < p->op->nparams; x++)
        for (uint32_t a = 1; a + 1 < p->op->vals.data[x].rank; a++)
            inside |= p->op->vals.data[x].axes[a] == s;
    return inside;
}

// Where vectors may begin anywhere, those of any extent are padded: all of it at once, or in turns
// of as many vectors each. Vectors wider than a register are halved where that leaves less past the
// end.
static axis_share padded_share(making *m, tensor_var v, int64_t widest_vector, uint32_t bytes) {
    int64_t extent = default_extent(m->p, v), most;
    axis_share s = {.lanes = 1, .vector = widest_vector};
    bool heads = !extent && has_rows_inside(m->p, m->p->op->vars.data[v].space);
    if (!extent && !heads) default_suppose(m, m->p->op->vars.data[v].space);
    if (!extent) extent = heads ? DEFAULT_HEADS_TYPICAL : m->class->typical;
    while (s.vector > 1 && s.vector / 2 >= extent) s.vector /= 2;
    while (s.vector * bytes > m->p->machine->register_bytes &&
           round_up(extent, s.vector / 2) < round_up(extent, s.vector))
        s.vector /= 2;
    int64_t vectors = round_up(extent, s.vector) / s.vector;
    most = m->p->machine->points / s.vector;
    int64_t turns = (vectors + most - 1) / most;
    s.registers = (vectors + turns - 1) / turns;
    return s;
}

// ---- Short steps --------------------------------------------------------------------------------
// More lanes have half as many numbers each, or the axis takes twice the rounds.
void default_shorten(const making *m, axis_share *s, int64_t lanes) {
    while (m->hand.length * s->vector * s->registers > DEFAULT_STEP_LONGEST &&
           (s->registers > 1 || s->vector > 1)) {
        bool spread = s->vector > 1 && 2 * s->lanes <= lanes;
        if (spread) s->lanes *= 2;
        if (spread || s->registers < 2) s->vector /= 2;
        else s->registers /= 2;
    }
}

// ---- Shares -------------------------------------------------------------------------------------
// Of an axis of `extent` points (0: not known, then as the class assumes), for at most `lanes`
// lanes. Stages that share a kernel have the widest numbers of all of them along their last index,
// so that they share it alike.
axis_share default_share_axis(making *m, const tensor_stage *st, tensor_var v, int64_t lanes) {
    default_access w = default_widest_access(m->p, st, v);
    if (w.last && w.bytes < m->hand.widest && is_last(m->p, st, v)) w.bytes = m->hand.widest;
    int64_t extent = default_extent(m->p, v),
            widest_vector = w.last ? m->p->machine->vector_bytes / w.bytes : 1;
    axis_share s = {1, 1, 1};
    if (widest_vector > 16) widest_vector = 16;
    if (!m->p->machine->aligned) return padded_share(m, v, widest_vector, w.bytes);
    int64_t multiple = extent ? extent : default_is_side(m->p, v) ? 1 : m->class->multiple;
    extent = default_typical(m, v);
    while (widest_vector > 1 && (multiple % widest_vector || widest_vector > extent))
        widest_vector /= 2;
    s.vector = widest_vector;
    s.lanes = default_power_above((extent + s.vector - 1) / s.vector);
    if (s.lanes > lanes) s.lanes = lanes;
    int64_t rounds = extent / (s.lanes * s.vector), most = m->p->machine->points / s.vector;
    s.registers = rounds < 1 ? 1 : rounds > most ? most : default_power_below(rounds);
    if (is_last(m->p, st, v)) default_shorten(m, &s, lanes);
    return s;
}

static void fill_pad(making *m, const tensor_stage *st, tensor_var v, axis_share s) {
    if (!m->p->machine->aligned && s.vector > 1)
        default_fill(m, st, SCHEDULE_PAD, v, default_share_points(s), NULL);
}

void default_fill_share(making *m, const tensor_stage *st, tensor_var v, axis_share s) {
    default_fill(m, st, SCHEDULE_LANES, v, s.lanes, NULL);
    default_fill(m, st, SCHEDULE_VECTOR, v, s.vector, NULL);
    default_fill(m, st, SCHEDULE_REGISTERS, v, s.registers, "strided");
    fill_pad(m, st, v, s);
}
