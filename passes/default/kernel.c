// All cells of one kernel of the default schedule: which of the ways in the rooms below it takes.
#include "default/default.h"
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/matrix/contraction.h"
#include "default/stages/stages.h"
#include "default/rows/rows.h"
#include "kernels/kernels.h"

// Rows of warps leave room for others. Entries of 32 to 64 bytes that stream are loaded before the
// first is used only where the assembler is told how many registers it may take for them.
static void fill_row_room(making *m, const stage_group *g) {
    bool warps = m->rows == ROWS_FEWER,
         stream = m->rows == ROWS_SKEWED && m->hand.streams && !m->hand.narrow;
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &m->p->op->stages.data[g->data[i]];
        int64_t bytes = default_row_bytes(m->p, st);
        bool told = warps || (stream && bytes && bytes <= DEFAULT_SMALL_ROW);
        if (told && default_held(m, st) <= DEFAULT_ROOMY)
            default_room(m, st, warps ? DEFAULT_ROOM_40 : DEFAULT_ROOM_64);
    }
}

// Nothing else is reduced there.
static bool alone_of_prepared(making *m, const stage_group *g) {
    const tensor_stage *all = m->p->op->stages.data;
    bool alone = default_of_prepared(m, &all[g->data[0]]) && all[g->data[0]].loop == TENSOR_NO_LOOP;
    for (uint32_t i = plan_run_end(m->p, g, 0); i < g->len; i++)
        alone &= all[g->data[i]].reducer == TENSOR_NO_REDUCER;
    return alone;
}

static void fill_kernel(making *m, const stage_group *g) {
    default_extremes(m, g);
    const rows_info *kind = plan_rows_info(m->rows);
    if (kind->family == ROWS_FAMILY_TILES && !default_contracts(m, g) &&
        default_tile(m, g, m->rows - ROWS_TILED)) {
        default_nones(m);
        return;
    }
    if (kind->family == ROWS_FAMILY_OUTER && default_outer(m, g)) return;
    tensor_val map = m->p->machine->gpu ? default_rows_map(m->p, g) : TENSOR_NO_VAL;
    bool known = map == TENSOR_NO_VAL;
    for (uint32_t i = 0; i < m->walked.len; i++) known |= m->walked.data[i] == map;
    if (!known) VEC_PUSH(m->p->arena, &m->walked, map);
    const bool brief = m->rows == ROWS_BRIEF, thin = m->rows == ROWS_THIN,
               fewer = m->rows == ROWS_FEWER;
    const bool skewed = kind->traits & ROWS_ARE_BUCKETED && map != TENSOR_NO_VAL;   // or cut
    const bool cut = skewed || thin || fewer;
    if (skewed && !default_cuts(m->p, g)) {
        m->unfit |= brief;
        default_long_rows(m, g, map);
        return;
    }
    m->hand.sums = default_cuts(m->p, g);
    m->count.kernels++;
    m->count.walks += m->hand.sums && map != TENSOR_NO_VAL &&
                      plan_run_end(m->p, g, 0) <= DEFAULT_LIGHT_WALK;
    m->hand.streams = cut && default_streams(m->p, g);
    m->hand.narrow = m->hand.streams && default_narrow(m->p, g);
    m->hand.sorted = skewed && !(m->hand.narrow && m->rows == ROWS_FEW);
    m->unfit |= (thin && (!m->hand.sums || m->hand.streams)) ||
                (fewer && (!m->hand.sums || !m->hand.streams || m->hand.narrow)) ||
                (brief && (!m->hand.sums || !m->hand.narrow));
    if (m->unfit) return;
    if (m->rows == ROWS_ALL_AT_ONCE) m->owner = ROW_OF_BLOCK, m->owners = DEFAULT_SHARERS;
    if (fewer || m->rows == ROWS_GROUP_AT_ONCE) m->owner = ROW_OF_WARP;
    default_stages(m, g);
    m->unfit |= m->limit.entries && !default_short(m, g);
    m->unfit |= m->rows == ROWS_GROUP_AT_ONCE && !default_at_once(m, g, map);
    fill_row_room(m, g);
    m->owner = ROW_OF_LANES;
    m->owners = 0;
    m->hand.sorted = false;
    if (cut) default_cut(m, g, map);
    else if (m->p->machine->gpu && map == TENSOR_NO_VAL && alone_of_prepared(m, g))
        default_cut_prepared(m, g);
    m->hand.sums = m->hand.streams = m->hand.narrow = false;
}

// Dealt out otherwise where it was refused.
void default_kernel(making *m, const stage_group *g) {
    const plan_rows rows = m->rows;
    const default_retreat retreat = default_retreat_of(m->p, rows, g);
    if (retreat == RETREAT_POINTS) {
        default_points(m, g);
        return;
    }
    if (retreat == RETREAT_EVEN) m->rows = ROWS_EVEN;
    // rows that are walked beside sums of outer products may be of any length
    if (m->rows == ROWS_OUTER && !default_sums_outer_products(m, g->data[0], false))
        m->rows = ROWS_FEW;
    fill_kernel(m, g);
    m->rows = rows;
}
