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

// Measured on an H200 over products by types of 16 to 256 rows and columns (bench/RECORD.md).
enum {
    WARP = 32,
    ROWS = 16,         // of a piece
    COLUMNS = 8,       // likewise
    MINE = 32,         // columns of a warp, at most
    WARPS = 4,         // of a block, at least
    MOST_GROUPS = 8,   // groups of a block along columns
    HELD = 128,        // registers of a lane for its part of the matrix, at most
    WIDEST = DEFAULT_WIDEST,
    BLOCK = 512,         // rows of a block whose warps hold a matrix
    SMALL_BLOCK = 256,   // likewise, of few groups along columns
    STEP_ROWS = 64       // of a block whose matrix comes in steps
};

// ---- Matrices that blocks hold ------------------------------------------------------------------
// Columns of a warp, whose part of the matrix its lanes hold; 0: none would do.
static int64_t columns_each(int64_t depth, int64_t columns, uint32_t bytes) {
    enum { WORD = 4 };
    for (int64_t mine = MINE; mine >= COLUMNS; mine -= COLUMNS) {
        int64_t groups = columns / mine;
        bool fits = depth * mine * bytes <= (int64_t)HELD * WARP * WORD;
        if (columns % mine == 0 && fits && (groups <= MOST_GROUPS || groups % MOST_GROUPS == 0))
            return mine;
    }
    return 0;
}

static bool held(const contraction *c, int64_t depth, int64_t columns, matrix_shape *s) {
    enum { ACCESS = 16, LANES = 4 };
    int64_t steps = 32 / (int64_t)c->bytes,
            mine = columns_each(depth, columns, c->held);   // steps: of an operation
    bool thin = mine < 2 * COLUMNS &&
                depth > WIDEST / 2;   // tiles are faster: 169,343 × 256 × 40 in f16 41 µs, not 45
    if (!depth || !columns || depth > WIDEST || columns > WIDEST || depth % steps || !mine || thin)
        return false;
    int64_t groups = columns / mine;
    if (groups > MOST_GROUPS) groups = MOST_GROUPS;
    bool small = groups > 1 && groups * c->bytes < 16;
    *s = (matrix_shape){.block = small ? SMALL_BLOCK : BLOCK,
                        .groups = groups < WARPS ? WARPS / groups : 1,
                        .registers = c->bytes == 2 && groups >= WARPS ? 4 : 1,
                        .column_block = mine * groups < columns ? mine * groups : 0,
                        .column_groups = groups,
                        .column_vector = default_power_in(mine / COLUMNS, ACCESS / c->bytes),
                        .depth_vector = default_power_in(depth / LANES, ACCESS / c->bytes)};
    s->column_registers = mine / LANES / s->column_vector;
    s->depth_registers = depth / LANES / s->depth_vector;
    if (s->column_registers <= 2) s->column_registers = 1;   // a piece, which is taken anyway
    return true;
}

// Extents that no whole operations cover, whose rest is masked. Two groups have the columns, and
// two the rows.
static bool odd(const contraction *c, int64_t depth, int64_t columns, matrix_shape *s) {
    enum { LANES = 4, HALVES = 2, ODD_BLOCK = 512, LIMIT = 128 };
    int64_t steps = 32 / (int64_t)c->bytes, vector = default_power_in(columns, LANES),
            piece = vector > 2 ? COLUMNS * vector / 2 : COLUMNS;
    bool halves = c->bytes == 2, wide = depth > LIMIT || columns > LIMIT;
    if (!depth || !columns || wide || (depth % steps == 0 && columns % COLUMNS == 0)) return false;
    int64_t mine = (columns + HALVES * piece - 1) / (HALVES * piece) * piece,
            run = halves && depth % LANES == 0 ? LANES : 1;
    *s = (matrix_shape){.block = ODD_BLOCK,
                        .groups = HALVES,
                        .registers = halves && vector > 1 ? 4 : 1,
                        .column_groups = HALVES,
                        .column_vector = vector,
                        .column_registers = mine / LANES / vector,
                        .depth_vector = run,
                        .depth_registers = (depth + steps - 1) / steps * steps / LANES / run};
    if (s->column_registers <= 2 && vector == 1) s->column_registers = 1;
    return true;
}

static void fetch_rows(making *m, const contraction *c, int64_t depth, const matrix_shape *s) {
    enum { DEEP = 4, SHALLOW = 3, NARROW = 32, COPY = 16 };   // bytes
    const tensor_val_info *x = default_factor_rows(m->p, c->sum, c->first, c->depth);
    bool few = depth * c->bytes <= NARROW || depth * c->bytes % COPY ||
               s->column_groups >= MOST_GROUPS;
    if (!x || schedule_find(m->p->s, c->sum->id, SCHEDULE_KEEP, x->id)) return;
    default_share(m, c, default_val(m->p, x));
    default_fill(m, c->sum, SCHEDULE_PIPELINE, c->rows, few ? SHALLOW : DEEP, NULL);
}

// ---- Matrices that come in tiles ----------------------------------------------------------------
// The input that a factor is, whose last axis is the depth or columns, and is made of what is
// copied at once.
static const tensor_node *tiled_load(const planner *p, const contraction *c, tensor_expr factor) {
    enum { COPY = 4 };
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
    bool copied = last->kind == SPACE_CONST && last->size * ir_dtype_bytes(x->type) % COPY == 0;
    return along && copied ? n : NULL;
}

// Two groups along 33 columns or more, of 32 or 64 each; a warp has 32 rows. Both factors are read
// from where they came to, so neither asks for vectors of what is stored.
static matrix_shape tiled(const contraction *c, int64_t columns) {
    enum { ACCESS = 16, LANES = 4, REGISTERS = 4 };   // those of 32 rows
    int64_t mine = columns > 2 * MINE ? 2 * MINE : MINE, groups = columns > MINE ? 2 : 1;
    bool wide = columns > 2 * MINE, halves = c->bytes == 2;
    int64_t rows = halves && !wide ? 2 * WARPS / groups : WARPS / groups;
    int64_t vector = default_power_in(columns, halves ? mine / COLUMNS : ACCESS / 4),
            held = mine / LANES;
    return (matrix_shape){.block = rows * 2 * ROWS,
                          .groups = rows,
                          .registers = REGISTERS,
                          .column_block = groups * mine,
                          .column_groups = groups,
                          .column_vector = vector,
                          .column_registers = held / vector > 2 ? held / vector : 1,
                          .depth_groups = 1,
                          .depth_vector = ACCESS / c->bytes,
                          .depth_registers = halves ? 1 : 2};
}

static bool fill_tiles(making *m, const stage_group *g, const contraction *c, int64_t depth,
                       int64_t columns) {
    enum { HALVES = 4, WORDS = 3 };   // buffers
    const planner *p = m->p;
    const tensor_node *x = tiled_load(p, c, c->first), *w = tiled_load(p, c, c->second);
    if (!depth || !columns || !x || (w && w->imm.i == x->imm.i)) return false;
    if (default_says_ahead(p, c, &p->op->vals.data[x->imm.i])) return false;
    matrix_shape s = tiled(c, columns);
    default_matrix_cells(m, g, c, &s);
    default_share(m, c, (tensor_val)x->imm.i);
    if (w) default_share(m, c, (tensor_val)w->imm.i);
    default_fill(m, c->sum, SCHEDULE_PIPELINE, c->depth, c->bytes == 2 ? HALVES : WORDS, NULL);
    return true;
}

// ---- Matrices that come in steps ----------------------------------------------------------------
// Vectors of the depth are of what both factors have along it. Of few rows a block has one piece,
// and its warps share the depth.
static matrix_shape stepped(making *m, const contraction *c, int64_t depth, int64_t columns) {
    enum { ACCESS = 16, LANES = 4 };
    const planner *p = m->p;
    if (!depth) default_suppose(m, p->op->vars.data[c->depth].space);
    if (!columns) default_suppose(m, p->op->vars.data[c->columns].space);
    // low: points that share a register
    int64_t mine = MINE, low = 4 / (int64_t)c->bytes, piece = 2 * low;
    while (columns && mine / 2 >= columns && mine > COLUMNS) mine /= 2;
    bool few = m->rows == ROWS_FEW_POINTS;
    int64_t deep = default_power_in(depth ? depth : m->class->multiple, ACCESS / c->bytes),
            wide = default_power_in(columns ? columns : m->class->multiple, mine / COLUMNS),
            groups = few || (columns && columns <= mine) ? 1 : 2, warps = few ? 1 : WARPS / groups;
    bool vectors = deep >= piece && wide > 1;
    if (!vectors) wide = 1;
    return (matrix_shape){.block = few ? ROWS : STEP_ROWS,
                          .groups = warps,
                          .registers = few ? 1 : 2 * STEP_ROWS / ROWS / warps,
                          .column_block = groups * mine,
                          .column_groups = groups,
                          .column_vector = wide,
                          .column_registers = mine / LANES / wide > 2 ? mine / LANES / wide : 1,
                          .depth_groups = few ? WARPS : 1,
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
