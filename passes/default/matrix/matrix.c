// The default schedule of contractions on tensor cores, whose numbers have 16 bits, so that their
// products are exact; or of what a schedule says `mma` of. Where its extents are known, each warp
// has a part of the matrix in registers for all rows of a block, which come ahead of their use
// (FASTEN's tiles by type, its registers). Larger matrices are for operations of four warps, where
// there are such (matrix/group.c).
//     y[e, q] = sum{k} x[e, k] * w[type[e], k, q]
//       →  block e 256 by type;  groups q 2;  …  mma k f16;
//          keep x shared;  pipeline e 4;
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/matrix/contraction.h"

// ---- Matrices that blocks hold ------------------------------------------------------------------
// Columns of a warp, whose part of the matrix its lanes hold; 0: none would do.
static int64_t columns_each(int64_t depth, int64_t columns, uint32_t bytes) {
    for (int64_t mine = DEFAULT_WARP_COLUMNS; mine >= DEFAULT_PIECE_COLUMNS;
         mine -= DEFAULT_PIECE_COLUMNS) {
        int64_t groups = columns / mine;
        bool fits = depth * mine * bytes <=
                    (int64_t)DEFAULT_MATRIX_HELD * DEFAULT_WARP * DEFAULT_WORD;
        if (columns % mine == 0 && fits &&
            (groups <= DEFAULT_COLUMN_GROUPS || groups % DEFAULT_COLUMN_GROUPS == 0))
            return mine;
    }
    return 0;
}

static bool held(const contraction *c, int64_t depth, int64_t columns, matrix_shape *s) {
    int64_t steps = 32 / (int64_t)c->bytes,
            mine = columns_each(depth, columns, c->held);   // steps: of an operation
    bool thin = mine < 2 * DEFAULT_PIECE_COLUMNS &&
                depth > DEFAULT_WIDEST /
                            2;   // tiles are faster: 169,343 × 256 × 40 in f16 41 µs, not 45
    if (!depth || !columns || depth > DEFAULT_WIDEST || columns > DEFAULT_WIDEST || depth % steps ||
        !mine || thin)
        return false;
    int64_t groups = columns / mine;
    if (groups > DEFAULT_COLUMN_GROUPS) groups = DEFAULT_COLUMN_GROUPS;
    bool small = groups > 1 && groups * c->bytes < 16;
    *s = (matrix_shape){
        .block = small ? DEFAULT_MATRIX_SMALL_BLOCK : DEFAULT_MATRIX_BLOCK,
        .groups = groups < DEFAULT_MATRIX_WARPS ? DEFAULT_MATRIX_WARPS / groups : 1,
        .registers = c->bytes == 2 && groups >= DEFAULT_MATRIX_WARPS ? 4 : 1,
        .column_block = mine * groups < columns ? mine * groups : 0,
        .column_groups = groups,
        .column_vector = default_power_in(mine / DEFAULT_PIECE_COLUMNS, DEFAULT_ACCESS / c->bytes),
        .depth_vector = default_power_in(depth / DEFAULT_PIECE_LANES, DEFAULT_ACCESS / c->bytes)};
    s->column_registers = mine / DEFAULT_PIECE_LANES / s->column_vector;
    s->depth_registers = depth / DEFAULT_PIECE_LANES / s->depth_vector;
    if (s->column_registers <= 2) s->column_registers = 1;   // a piece, which is taken anyway
    return true;
}

// Extents that no whole operations cover, whose rest is masked. Two groups have the columns, and
// two the rows.
static bool odd(const contraction *c, int64_t depth, int64_t columns, matrix_shape *s) {
    int64_t steps = 32 / (int64_t)c->bytes, vector = default_power_in(columns, DEFAULT_PIECE_LANES),
            piece = vector > 2 ? DEFAULT_PIECE_COLUMNS * vector / 2 : DEFAULT_PIECE_COLUMNS;
    bool halves = c->bytes == 2, wide = depth > DEFAULT_ODD_WIDEST || columns > DEFAULT_ODD_WIDEST;
    if (!depth || !columns || wide || (depth % steps == 0 && columns % DEFAULT_PIECE_COLUMNS == 0))
        return false;
    int64_t mine = (columns + DEFAULT_ODD_GROUPS * piece - 1) / (DEFAULT_ODD_GROUPS * piece) *
                   piece,
            run = halves && depth % DEFAULT_PIECE_LANES == 0 ? DEFAULT_PIECE_LANES : 1;
    *s = (matrix_shape){.block = DEFAULT_MATRIX_BLOCK,
                        .groups = DEFAULT_ODD_GROUPS,
                        .registers = halves && vector > 1 ? 4 : 1,
                        .column_groups = DEFAULT_ODD_GROUPS,
                        .column_vector = vector,
                        .column_registers = mine / DEFAULT_PIECE_LANES / vector,
                        .depth_vector = run,
                        .depth_registers = (depth + steps - 1) / steps * steps /
                                           DEFAULT_PIECE_LANES / run};
    if (s->column_registers <= 2 && vector == 1) s->column_registers = 1;
    return true;
}

static void fetch_rows(making *m, const contraction *c, int64_t depth, const matrix_shape *s) {
    const tensor_val_info *x = default_factor_rows(m->p, c->sum, c->first, c->depth);
    bool few = depth * c->bytes <= DEFAULT_SECTOR || depth * c->bytes % DEFAULT_ACCESS ||
               s->column_groups >= DEFAULT_COLUMN_GROUPS;
    if (!x || schedule_find(m->p->s, c->sum->id, SCHEDULE_KEEP, x->id)) return;
    default_share(m, c, default_val(m->p, x));
    default_fill(m, c->sum, SCHEDULE_PIPELINE, c->rows,
                 few ? DEFAULT_FEW_ROWS_AHEAD : DEFAULT_ROWS_AHEAD, NULL);
}

// ---- Matrices that come in tiles ----------------------------------------------------------------
// The input that a factor is, whose last axis is the depth or columns, and is made of what is
// copied at once.
static const tensor_node *tiled_load(const planner *p, const contraction *c, tensor_expr factor) {
    const tensor_node *n = loop_matrix_factor(p->op, factor);
    if (n->op != TENSOR_LOAD_OP || n->nargs < 2 ||
        !default_is_stored(p, c->sum, (tensor_val)n->imm.i))
        return NULL;
    const tensor_val_info *x = &p->op->vals.data[n->imm.i];
    const tensor_space_info *last = &p->op->spaces.data[x->axes[n->nargs - 1]];
    const tensor_node *at = tensor_node_at(p->op, n->args[n->nargs - 1]);
    bool along = at->op == TENSOR_VAR_OP &&
                 ((tensor_var)at->imm.i == c->depth || (tensor_var)at->imm.i == c->columns);
    for (uint32_t i = 0; along && i + 1 < n->nargs; i++) {
        const tensor_node *index = tensor_node_at(p->op, n->args[i]);
        along = index->op == TENSOR_VAR_OP ||
                (index->op == TENSOR_LOAD_OP &&
                 !(p->op->vals.data[index->imm.i].facts & FACT_PARTIAL));
    }
    bool copied = last->kind == SPACE_CONST &&
                  last->size * ir_dtype_bytes(x->type) % DEFAULT_WORD == 0;
    return along && copied ? n : NULL;
}

// Two groups along 33 columns or more, of 32 or 64 each; a warp has 32 rows. Both factors are read
// from where they came to, so neither asks for vectors of what is stored.
static matrix_shape tiled(const contraction *c, int64_t columns) {
    int64_t mine = columns > 2 * DEFAULT_WARP_COLUMNS ? 2 * DEFAULT_WARP_COLUMNS
                                                      : DEFAULT_WARP_COLUMNS,
            groups = columns > DEFAULT_WARP_COLUMNS ? 2 : 1;
    bool wide = columns > 2 * DEFAULT_WARP_COLUMNS, halves = c->bytes == 2;
    int64_t rows = halves && !wide ? 2 * DEFAULT_MATRIX_WARPS / groups
                                   : DEFAULT_MATRIX_WARPS / groups;
    int64_t vector = default_power_in(columns,
                                      halves ? mine / DEFAULT_PIECE_COLUMNS : DEFAULT_ACCESS / 4),
            held = mine / DEFAULT_PIECE_LANES;
    return (matrix_shape){.block = rows * 2 * DEFAULT_PIECE_ROWS,
                          .groups = rows,
                          .registers = DEFAULT_TILE_REGISTERS,
                          .column_block = groups * mine,
                          .column_groups = groups,
                          .column_vector = vector,
                          .column_registers = held / vector > 2 ? held / vector : 1,
                          .depth_groups = 1,
                          .depth_vector = DEFAULT_ACCESS / c->bytes,
                          .depth_registers = halves ? 1 : 2};
}

static bool fill_tiles(making *m, const stage_group *g, const contraction *c, int64_t depth,
                       int64_t columns) {
    const planner *p = m->p;
    const tensor_node *x = tiled_load(p, c, c->first), *w = tiled_load(p, c, c->second);
    if (!depth || !columns || !x || (w && w->imm.i == x->imm.i)) return false;
    if (default_says_ahead(p, c, &p->op->vals.data[x->imm.i])) return false;
    matrix_shape s = tiled(c, columns);
    default_matrix_cells(m, g, c, &s);
    default_share(m, c, (tensor_val)x->imm.i);
    if (w) default_share(m, c, (tensor_val)w->imm.i);
    default_fill(m, c->sum, SCHEDULE_PIPELINE, c->depth,
                 c->bytes == 2 ? DEFAULT_TILES_AHEAD : DEFAULT_TILES_AHEAD_WORDS, NULL);
    return true;
}

// ---- Matrices that come in steps ----------------------------------------------------------------
// Vectors of the depth are of what both factors have along it. Of few rows a block has one piece,
// and its warps share the depth.
static matrix_shape stepped(making *m, const contraction *c, int64_t depth, int64_t columns) {
    const planner *p = m->p;
    if (!depth) default_suppose(m, p->op->vars.data[c->depth].space);
    if (!columns) default_suppose(m, p->op->vars.data[c->columns].space);
    // low: points that share a register
    int64_t mine = DEFAULT_WARP_COLUMNS, low = 4 / (int64_t)c->bytes, piece = 2 * low;
    while (columns && mine / 2 >= columns && mine > DEFAULT_PIECE_COLUMNS) mine /= 2;
    bool few = m->rows == ROWS_FEW_POINTS;
    int64_t deep = default_power_in(depth ? depth : m->class->multiple, DEFAULT_ACCESS / c->bytes),
            wide = default_power_in(columns ? columns : m->class->multiple,
                                    mine / DEFAULT_PIECE_COLUMNS),
            groups = few || (columns && columns <= mine) ? 1 : 2,
            warps = few ? 1 : DEFAULT_MATRIX_WARPS / groups;
    bool vectors = deep >= piece && wide > 1;
    if (!vectors) wide = 1;
    return (matrix_shape){.block = few ? DEFAULT_PIECE_ROWS : DEFAULT_STEP_ROWS,
                          .groups = warps,
                          .registers = few ? 1 : 2 * DEFAULT_STEP_ROWS / DEFAULT_PIECE_ROWS / warps,
                          .column_block = groups * mine,
                          .column_groups = groups,
                          .column_vector = wide,
                          .column_registers = mine / DEFAULT_PIECE_LANES / wide > 2
                                                  ? mine / DEFAULT_PIECE_LANES / wide
                                                  : 1,
                          .depth_groups = few ? DEFAULT_MATRIX_WARPS : 1,
                          .depth_vector = vectors ? deep : 1,
                          .depth_registers = vectors ? 1 : piece};
}

// ---- Which it is --------------------------------------------------------------------------------
bool default_matrix(making *m, const stage_group *g) {
    const planner *p = m->p;
    contraction c;
    matrix_shape s;
    if (!g->len || !default_find_contraction(m, g, &c)) return false;
    int64_t depth = default_extent(p, c.depth), columns = default_extent(p, c.columns);
    bool few = m->rows == ROWS_FEW_POINTS;
    if (!few && default_group(m, g, &c, depth, columns)) {
        p->facts->groups = true;
    } else if (!few && (held(&c, depth, columns, &s) || odd(&c, depth, columns, &s))) {
        default_matrix_cells(m, g, &c, &s);
        fetch_rows(m, &c, depth, &s);
    } else if (few || !fill_tiles(m, g, &c, depth, columns)) {
        s = stepped(m, &c, depth, columns);
        default_matrix_cells(m, g, &c, &s);
    }
    if (few) m->points = p->op->vars.data[c.rows].space;
    p->facts->matrices = true;
    return true;
}
