// The default schedule of contractions by operations of four warps, where the architecture has
// those (mma.def). Warps share the matrix in shared memory, all of it or half its columns, and hold
// their rows in registers: each reads rows of its own alone. Of smaller matrices each warp has a
// part in registers, which is as fast.
//     y[e, q] = sum{k} x[e, k] * w[type[e], k, q]
//       →  block e 1024 by type;  groups e 8;  …  mma k f16 m64k16;
//          keep x shared;  pipeline e 1;
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/matrix/contraction.h"

#include <string.h>

const simt_mma_info *default_group_operation(const planner *p, const char *operand) {
    for (simt_mma k = 0; k < SIMT_MMA_COUNT && !p->facts->no_groups; k++) {
        const simt_mma_info *i = simt_mma_table(k);
        bool there = i->warps > 1 && simt_mma_runs(k, p->machine->arch);
        if (there && !strcmp(i->operand, operand)) return i;
    }
    return NULL;
}

// All columns, or as large a part as fits; 0: none does.
static int64_t columns_of_block(const planner *p, const contraction *c, int64_t depth,
                                int64_t columns) {
    int64_t rows = DEFAULT_PIECE_ROWS * depth * c->bytes /
                   (DEFAULT_WARP * DEFAULT_WORD);   // registers
    for (int64_t mine = columns; mine % DEFAULT_PIECE_COLUMNS == 0 && columns % mine == 0;
         mine /= 2)
        if (rows + DEFAULT_PIECE_ROWS * mine / DEFAULT_WARP <= DEFAULT_MATRIX_REGISTERS &&
            mine * depth * c->bytes <= (int64_t)p->machine->group_shared_bytes)
            return mine;
    return 0;
}

// Rows of so many warps fit beside the matrix.
static bool fits(const planner *p, const contraction *c, const tensor_val_info *x, int64_t depth,
                 int64_t mine, int64_t warps) {
    int64_t row = depth * ir_dtype_bytes(x->type) + DEFAULT_GROUP_APART;
    return mine * depth * c->bytes + warps * DEFAULT_PIECE_ROWS * row <=
           (int64_t)p->machine->group_shared_bytes;
}

static matrix_shape shape_of(const contraction *c, int64_t depth, int64_t columns, int64_t mine) {
    int64_t vector = default_power_in(mine / DEFAULT_PIECE_COLUMNS, DEFAULT_ACCESS / c->bytes),
            run = default_power_in(depth / DEFAULT_PIECE_LANES, DEFAULT_ACCESS / c->bytes);
    return (matrix_shape){.block = DEFAULT_GROUP_BLOCK,
                          .groups = DEFAULT_GROUP_WARPS,
                          .column_block = mine < columns ? mine : 0,
                          .column_vector = vector,
                          .column_registers = mine / DEFAULT_PIECE_LANES / vector,
                          .depth_vector = run,
                          .depth_registers = depth / DEFAULT_PIECE_LANES / run};
}

// Of few rows, blocks have fewer, so that there are enough of them.
static void fill(making *m, const stage_group *g, const contraction *c, matrix_shape s,
                 int64_t depth, int64_t mine) {
    const planner *p = m->p;
    const tensor_val_info *x = default_factor_rows(p, c->sum, c->first, c->depth);
    if (m->rows == ROWS_SOME_POINTS) {
        s.block = DEFAULT_GROUP_SMALL_BLOCK;
        default_note_points(m, c->rows);
    }
    default_matrix_cells(m, g, c, &s);
    if (!x || !fits(p, c, x, depth, mine, s.groups)) return;
    default_share(m, c, default_val(p, x));
    default_fill(m, c->sum, SCHEDULE_PIPELINE, c->rows, 1, NULL);
}

bool default_group(making *m, const stage_group *g, contraction *c, int64_t depth,
                   int64_t columns) {
    const planner *p = m->p;
    const simt_mma_info *i = default_group_operation(p, c->operand);
    if (!i || depth < DEFAULT_GROUP_SMALL || depth > DEFAULT_WIDEST ||
        columns <= DEFAULT_GROUP_SMALL || columns > DEFAULT_WIDEST || depth % i->k ||
        default_says_ahead(p, c, default_factor_rows(p, c->sum, c->first, c->depth)))
        return false;
    int64_t mine = columns_of_block(p, c, depth, columns);
    if (!mine) return false;
    c->shape = i->shape;
    fill(m, g, c, shape_of(c, depth, columns, mine), depth, mine);
    return true;
}
