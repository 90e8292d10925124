// How many rounds of a row's loop the default schedule writes out.
//     y[v, f] = sum{e : dst[e] == v} x[src[e], f]   →  unroll e 4 masked
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/stages/stages.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "axes/axes.h"

#include <string.h>

// How many rounds of a row's loop are written out: as many as leave the loop `longest`
// instructions, of which assemblers and instruction caches still like a few hundred.
int64_t default_unroll(making *m, const tensor_stage *st, int64_t most, int64_t longest) {
    planner *p = m->p;
    schedule *whole = p->s;
    p->s = m->s;
    const default_left left = default_left_of(p, st);
    tensor_var inner = left.n ? left.at[left.n - 1] : UINT32_MAX;
    index_cut c = left.n ? plan_cut(p, st, inner, false) : (index_cut){0};
    p->s = whole;
    int64_t copies = plan_or_one(c.vector) * plan_or_one(c.registers), sum = 0;
    uint8_t *seen = arena_alloc(p->arena, p->op->exprs.len + 1);
    memset(seen, 0, p->op->exprs.len + 1);
    for (uint32_t i = 0; i < st->nbody; i++)
        sum += plan_length(p, st->body[i], inner, copies, seen);
    const tensor_reducer *r = &p->op->reducers.data[st->reducer];
    for (uint32_t i = 0; i < r->nstate; i++)
        sum += plan_length(p, r->lift[i], UINT32_MAX, copies, seen) +
               plan_length(p, r->combine[i], UINT32_MAX, copies, seen);
    while (most > 1 && sum * most > longest) most /= 2;
    return most;
}

// Rounds of a row's loop under way: more where each has one row, or comes from memory; where
// entries are few, most rows are short, and a step beyond their end costs as much as one of them.
static int64_t rounds_of(const making *m, const tensor_stage *st, int64_t lanes) {
    if (m->limit.entries || m->rows == ROWS_THIN || m->rows == ROWS_FEWER) return 4;
    if (m->hand.sums && m->hand.narrow) {
        int64_t least = m->rows == ROWS_FEW && lanes == m->p->machine->lanes ? 2 : 4;
        return default_row_bytes(m->p, st) < DEFAULT_NARROW_ROUND ? 2 * least : least;
    }
    if (!m->hand.sums || m->rows != ROWS_FEW) return lanes > 1 ? 4 : 8;
    if (m->hand.streams) return 8;
    return default_entry_bytes(m->p, st) < 4 && lanes < DEFAULT_ROUND_LANES ? 2 : 4;
}

void default_rounds(making *m, const tensor_stage *st, int64_t lanes) {
    default_fill(m, st, SCHEDULE_UNROLL, st->bound[0],
                 default_unroll(m, st, rounds_of(m, st, lanes), DEFAULT_UNROLLED), "masked");
}

void default_specialize(making *m, const tensor_stage *st, tensor_var v, const int64_t *sizes,
                        uint32_t n) {
    arena *a = m->p->arena;
    const schedule_cell *rounds = schedule_find(m->s, st->id, SCHEDULE_UNROLL,
                                                plan_var_id(m->p, v));
    if (!n || !rounds || !schedule_value_of(rounds, "masked")) return;
    int64_t *numbers = ARENA_ARRAY(a, int64_t, n);
    memcpy(numbers, sizes, n * sizeof *numbers);
    default_say(m, default_index_cell(m->p, SCHEDULE_SPECIALIZE, st, v),
                (schedule_value){.nnumbers = n, .numbers = numbers, .var = UINT32_MAX});
}

// Reductions that one walk serves write out as many rounds as the dearest of them stands.
void default_level_rounds(making *m, const stage_group *g) {
    planner *p = m->p;
    for (uint32_t i = 0, end; i < g->len; i = end) {
        const schedule_cell *least = NULL;
        end = plan_run_end(p, g, i);
        for (uint32_t k = i; k < end && end > i + 1; k++) {
            const tensor_stage *st = &p->op->stages.data[g->data[k]];
            const schedule_cell *c = schedule_find(m->s, st->id, SCHEDULE_UNROLL,
                                                   p->op->vars.data[st->bound[0]].id);
            if (k == i || !c || (least && schedule_number(c, NULL) < schedule_number(least, NULL)))
                least = c;
            if (!least) break;
        }
        for (uint32_t k = i; k < end && end > i + 1; k++) {
            const tensor_stage *st = &p->op->stages.data[g->data[k]];
            schedule_cell c = default_index_cell(p, SCHEDULE_UNROLL, st, st->bound[0]);
            c.empty = !least;
            if (least) c.nvalues = least->nvalues, c.values = least->values;
            schedule_fill(p->arena, m->s, c);
        }
    }
}
