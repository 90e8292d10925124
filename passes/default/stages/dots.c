// How dot products are dealt out: lanes share what is reduced, and heads have lanes of their own.
// Those that share a kernel's loops deal out heads alike, whatever each of them reduces: as the one
// with most lanes, which has fewest to spare.
//     s.sum[e, h] = sum {d} …  s.sum_2[e, h] = sum {j} …
//       →  lanes h 2, registers h 2; lanes d 2; lanes j 2
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/stages/stages.h"
#include "base/base.h"
#include "kernels/kernels.h"

// What a dense axis is reduced to for each of a few heads, whose values lie next to each other:
// lanes take them, `each` or one at a time. An axis of which `most` lanes would have many vectors,
// or several rounds, has more.
dot_share default_dot(making *m, const tensor_stage *st, int64_t most, int64_t each) {
    const default_left left = default_left_of(m->p, st);
    axis_share s = default_share_axis(m, st, st->bound[0], most);
    while (most < m->p->machine->lanes &&
           (default_extent(m->p, st->bound[0]) >= 2 * default_share_points(s) ||
            s.registers > DEFAULT_DOT_REGISTERS))
        s = default_share_axis(m, st, st->bound[0], most *= 2);
    dot_share d = {s.lanes, 1};
    int64_t lanes = m->p->machine->lanes / s.lanes, room = DEFAULT_HELD / (s.vector * s.registers);
    default_fill_share(m, st, st->bound[0], s);
    for (uint32_t i = left.n; i-- > 1;) {
        const tensor_var v = left.at[i];
        int64_t extent = default_extent(m->p, v), hold, take = lanes;
        const bool any = !extent;
        if (any) extent = DEFAULT_HEADS_AT_ONCE;
        hold = any || room < each || extent % each ? 1 : each;
        if (extent < 2 || !default_few(m->p, v, left.at[0])) continue;
        while (extent / hold % take) take /= 2;
        default_fill(m, st, SCHEDULE_LANES, v, take, NULL);
        default_fill(m, st, SCHEDULE_REGISTERS, v, hold, s.lanes > 1 ? "strided" : NULL);
        d.heads *= take;
        lanes /= take, room /= hold;
    }
    return d;
}

// All of it at once, as far as lanes and registers go; or by all of the lanes, however few points
// there are.
void default_dot_share(making *m, const tensor_stage *st, int64_t lanes, bool all) {
    axis_share s = default_share_axis(m, st, st->bound[0], lanes);
    default_shorten(m, &s, lanes);
    for (; all && s.lanes < lanes; s.lanes *= 2)
        if (s.vector > 1) s.vector /= 2;
    default_fill_share(m, st, st->bound[0], s);
}

// ---- Alike in a kernel --------------------------------------------------------------------------
static const schedule_verb shared[] = {SCHEDULE_LANES, SCHEDULE_REGISTERS};

enum { SHARED = sizeof shared / sizeof *shared };

// Its points reduce a dense axis.
static bool is_dot(const making *m, const tensor_stage *st, uint32_t depth) {
    return default_left_of(m->p, st).n == depth && default_reduces_dense(m->p, st) &&
           !default_lanes_along(m, st, true);
}

uint32_t default_dot_of(const making *m, const stage_group *g, uint32_t depth) {
    for (uint32_t i = 0; i < g->len; i++)
        if (is_dot(m, plan_stage(m->p, g->data[i]), depth)) return g->data[i];
    return UINT32_MAX;
}

static bool same_heads(making *m, const tensor_stage *a, const tensor_stage *b) {
    const default_left x = default_left_of(m->p, a), y = default_left_of(m->p, b);
    bool same = true;
    for (uint32_t i = 1; i < y.n; i++) {
        index_cut c = default_cut_of(m, a, x.at[i], false),
                  o = default_cut_of(m, b, y.at[i], false);
        same &= c.lanes == o.lanes && c.registers == o.registers && c.strided == o.strided;
    }
    return same;
}

static void copy_heads(making *m, const tensor_stage *from, const tensor_stage *to) {
    const planner *p = m->p;
    const default_left x = default_left_of(p, from), y = default_left_of(p, to);
    for (uint32_t i = SHARED; i < y.n * SHARED; i++) {
        const schedule_cell *c = schedule_find(m->s, from->id, shared[i % SHARED],
                                               p->op->vars.data[x.at[i / SHARED]].id);
        schedule_cell mine = c ? *c : (schedule_cell){.verb = shared[i % SHARED], .empty = true};
        schedule_fill(p->arena, m->s, default_move_cell(p, mine, to, y.at[i / SHARED]));
    }
}

void default_agree_on_heads(making *m, const stage_group *g, uint32_t depth) {
    const tensor_stage *first = NULL;
    int64_t most = 0;
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = plan_stage(m->p, g->data[i]);
        if (!is_dot(m, st, depth)) continue;
        int64_t lanes = plan_or_one(default_cut_of(m, st, st->bound[0], true).lanes);
        if (lanes > most) most = lanes, first = st;
    }
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = plan_stage(m->p, g->data[i]);
        if (st == first || !is_dot(m, st, depth) || same_heads(m, first, st)) continue;
        default_dot_share(m, st, most, true);
        copy_heads(m, first, st);
    }
}
