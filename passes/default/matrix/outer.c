// The default schedule of sums of outer products over what a map takes to a row, or over all
// points, on tensor cores: of two factors whose numbers have 16 bits, or of what a schedule says
// `mma`. Long rows are cut into parts, whose sums a second kernel adds; a block has a part of one
// row, and what it multiplies comes into shared memory ahead of its use.
//     w[r, k, q] = sum{e : type[e] == r} x[e, k] * g[e, q]
//       →  block r 1;  split e 2048;  groups q 2;  …
//          mma e f16;  keep x, g shared;  pipeline e 3;
#include "base/base.h"
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/matrix/contraction.h"
#include "kernels/kernels.h"

// ---- What is one --------------------------------------------------------------------------------
// The map of the one key: a parameter's value at what is reduced is the first index on the left.
static tensor_val key_map(const planner *p, const tensor_stage *st, tensor_var row) {
    const tensor_node *lhs = tensor_node_at(p->op, st->keys[0].lhs),
                      *rhs = tensor_node_at(p->op, st->keys[0].rhs);
    if (lhs->op != TENSOR_LOAD_OP || lhs->nargs != 1 || (tensor_val)lhs->imm.i >= p->op->nparams ||
        rhs->op != TENSOR_VAR_OP || (tensor_var)rhs->imm.i != row)
        return TENSOR_NO_VAL;
    const tensor_node *at = tensor_node_at(p->op, lhs->args[0]);
    const tensor_val_info *i = &p->op->vals.data[lhs->imm.i];
    bool plain = at->op == TENSOR_VAR_OP && (tensor_var)at->imm.i == st->bound[0];
    return plain && i->role == VAL_MAP && !(i->facts & FACT_PARTIAL) ? (tensor_val)lhs->imm.i
                                                                     : TENSOR_NO_VAL;
}

// Each factor has the depth, and one of the two last indices on the left.
static bool find_factors(const planner *p, contraction *c) {
    const tensor_node *product = tensor_node_at(p->op, c->sum->body[0]);
    if (product->op != TENSOR_MUL_OP) return false;
    bool swapped = plan_depends(p, product->args[0], c->columns, TENSOR_NO_VAL);
    c->first = product->args[swapped], c->second = product->args[!swapped];
    return plan_depends(p, c->first, c->rows, TENSOR_NO_VAL) &&
           plan_depends(p, c->second, c->columns, TENSOR_NO_VAL) &&
           !plan_depends(p, c->first, c->columns, TENSOR_NO_VAL) &&
           !plan_depends(p, c->second, c->rows, TENSOR_NO_VAL) &&
           plan_depends(p, c->first, c->depth, TENSOR_NO_VAL) &&
           plan_depends(p, c->second, c->depth, TENSOR_NO_VAL);
}

static bool is_apart(const planner *p, tensor_id stage) {   // the schedule says of its types
    return schedule_find(p->s, stage, SCHEDULE_COMPUTE, TENSOR_ALL) ||
           schedule_find(p->s, stage, SCHEDULE_ACCUMULATE, TENSOR_ALL);
}

static bool find(const making *m, const stage_group *g, contraction *c, tensor_val *map) {
    const planner *p = m->p;
    const tensor_stage *st = &p->op->stages.data[g->data[0]];
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    if (default_is_scalar(p, st) || g->len != 1 || is_apart(p, st->id) ||
        !plan_matrix_sums(p, st) || st->nbound != 1 || st->nkeys > 1 || st->nfilters ||
        st->loop != TENSOR_NO_LOOP)
        return false;
    const uint32_t n = plan_left(p, st, left);
    if (n < 2 + st->nkeys || (st->nkeys && n > 2 + st->nkeys)) return false;
    *c = (contraction){
        .sum = st, .rows = left[n - 2], .columns = left[n - 1], .depth = st->bound[0]};
    *map = st->nkeys ? key_map(p, st, left[0]) : TENSOR_NO_VAL;
    bool rows = st->nkeys ? *map != TENSOR_NO_VAL : default_sums_matrices(p, st);
    return rows && find_factors(p, c) && default_operand(p, c);
}

// ---- Shapes -------------------------------------------------------------------------------------
typedef struct {
    int64_t to;              // rows and columns
    uint32_t bytes;          // of an element that is multiplied
    int64_t rows, columns;   // pieces of a warp, side by side
    int64_t row_groups, column_groups, depth_groups;
    int64_t steps;   // of the depth that a warp has in a round
    int64_t buffers;
} outer_shape;

// Measured on an H200 over gradients of matrices by types (bench/RECORD.md).
static const outer_shape shapes[] = {
    {16, 2, 1, 2, 1, 1, 4, 1, 3},  {16, 4, 1, 2, 1, 1, 4, 1, 3},  {32, 2, 2, 4, 1, 1, 4, 1, 3},
    {32, 4, 2, 4, 1, 1, 4, 1, 3},  {64, 2, 4, 4, 1, 2, 2, 1, 3},  {64, 4, 1, 4, 4, 2, 1, 2, 3},
    {128, 2, 4, 4, 2, 4, 1, 1, 4}, {128, 4, 4, 4, 2, 4, 1, 2, 4}, {256, 2, 4, 8, 2, 4, 1, 1, 3},
    {256, 4, 4, 8, 2, 4, 1, 1, 2},
};

static void halve(int64_t *groups, outer_shape *s) {
    *groups /= 2;
    if (s->depth_groups < DEFAULT_DEPTH_GROUPS) s->depth_groups *= 2;
}

// Of the fewer rows or columns, a warp has no pieces that are empty, and groups share the depth
// instead.
static bool shape_for(const contraction *c, int64_t rows, int64_t columns, outer_shape *s) {
    int64_t widest = rows > columns ? rows : columns;
    uint32_t i = 0, n = sizeof shapes / sizeof *shapes;
    if (widest > DEFAULT_WIDEST) widest = DEFAULT_WIDEST;   // rows beyond are other blocks'
    while (i < n && (shapes[i].to < widest || shapes[i].bytes != c->bytes)) i++;
    if (i == n || columns > DEFAULT_WIDEST) return false;
    *s = shapes[i];
    while (s->rows > 1 && s->rows / 2 * DEFAULT_PIECE_ROWS >= rows) s->rows /= 2;
    while (s->columns > 1 && s->columns / 2 * DEFAULT_PIECE_COLUMNS >= columns) s->columns /= 2;
    while (s->row_groups > 1 && s->row_groups / 2 * s->rows * DEFAULT_PIECE_ROWS >= rows)
        halve(&s->row_groups, s);
    while (s->column_groups > 1 &&
           s->column_groups / 2 * s->columns * DEFAULT_PIECE_COLUMNS >= columns)
        halve(&s->column_groups, s);
    return true;
}

// A part reads so many times what it leaves.
static int64_t part_of_all(const contraction *c, int64_t rows, int64_t columns) {
    int64_t points = c->bytes == 2 || c->said ? DEFAULT_OUTER_ALL_POINTS : DEFAULT_OUTER_PART;
    while (points < DEFAULT_OUTER_ALL_POINTS &&
           points * (rows + columns) < DEFAULT_OUTER_READS * rows * columns)
        points *= 2;
    return points;
}

// Points of a part of a row: as many parts as fill a machine, and no more, for each leaves a
// matrix.
static int64_t part_of(const making *m, const contraction *c, bool keyed, int64_t rows,
                       int64_t columns) {
    if (!keyed) return part_of_all(c, rows, columns);
    if (m->rows == ROWS_OUTER_FEW) return DEFAULT_OUTER_FEW_POINTS;
    if (m->rows == ROWS_OUTER_MANY) return DEFAULT_OUTER_MANY_POINTS;
    return rows < DEFAULT_OUTER_WIDE && columns < DEFAULT_OUTER_WIDE ? DEFAULT_OUTER_POINTS
                                                                     : 2 * DEFAULT_OUTER_POINTS;
}

static void fill_shape(making *m, const contraction *c, const outer_shape *s, int64_t rows) {
    const tensor_stage *stage = c->sum;
    int64_t block = s->rows * DEFAULT_PIECE_ROWS * s->row_groups,
            low = 4 / (int64_t)c->bytes;   // points that share a register
    if (block < rows) default_fill(m, stage, SCHEDULE_BLOCK, c->rows, block, NULL);
    default_fill(m, stage, SCHEDULE_GROUPS, c->rows, s->row_groups, NULL);
    default_fill(m, stage, SCHEDULE_GROUPS, c->columns, s->column_groups, NULL);
    default_fill(m, stage, SCHEDULE_GROUPS, c->depth, s->depth_groups, NULL);
    default_fill(m, stage, SCHEDULE_VECTOR, c->rows, s->rows, NULL);
    default_fill(m, stage, SCHEDULE_VECTOR, c->columns, s->columns, NULL);
    default_fill(m, stage, SCHEDULE_REGISTERS, c->depth, 2 * low * s->steps, NULL);
}

// What cannot come ahead is read by two steps at once.
static void fill_ahead(making *m, const contraction *c, int64_t buffers) {
    const planner *p = m->p;
    const tensor_val_info *x = default_factor_rows(p, c->sum, c->first, c->rows),
                          *g = default_factor_rows(p, c->sum, c->second, c->columns);
    if (!x || !g || x == g) {
        default_fill(m, c->sum, SCHEDULE_UNROLL, c->depth, 2, NULL);
        return;
    }
    if (default_says_ahead(p, c, x) || default_says_ahead(p, c, g)) return;
    default_share(m, c, default_val(p, x));
    default_share(m, c, default_val(p, g));
    default_fill(m, c->sum, SCHEDULE_PIPELINE, c->depth, buffers, NULL);
}

// Extents that no whole pieces cover, whose rest is masked: lanes have no vectors, and rounds are
// longer, as few bytes are copied at once.
static void fill_odd(making *m, const contraction *c, int64_t rows, int64_t columns) {
    const tensor_stage *stage = c->sum;
    bool halves = c->bytes == 2;
    int64_t mine = (columns + DEFAULT_OUTER_GROUPS * DEFAULT_PIECE_COLUMNS - 1) /
                   (DEFAULT_OUTER_GROUPS * DEFAULT_PIECE_COLUMNS) * DEFAULT_PIECE_COLUMNS;
    if (rows > DEFAULT_ODD_WIDEST || columns > DEFAULT_ODD_WIDEST) {
        int64_t pieces = (columns + DEFAULT_PIECE_COLUMNS - 1) / DEFAULT_PIECE_COLUMNS;
        default_fill(m, stage, SCHEDULE_BLOCK, c->rows, DEFAULT_OUTER_GROUPS * DEFAULT_PIECE_ROWS,
                     NULL);
        default_fill(m, stage, SCHEDULE_GROUPS, c->rows, DEFAULT_OUTER_GROUPS, NULL);
        default_fill(m, stage, SCHEDULE_REGISTERS, c->columns,
                     2 * (pieces < DEFAULT_OUTER_PIECES ? pieces : DEFAULT_OUTER_PIECES), NULL);
        default_fill(m, stage, SCHEDULE_UNROLL, c->depth, 2, NULL);
        return;
    }
    default_fill(m, stage, SCHEDULE_GROUPS, c->columns, DEFAULT_OUTER_GROUPS, NULL);
    default_fill(m, stage, SCHEDULE_REGISTERS, c->columns, 2 * mine / DEFAULT_PIECE_COLUMNS, NULL);
    default_fill(m, stage, SCHEDULE_REGISTERS, c->rows,
                 (rows + DEFAULT_PIECE_ROWS - 1) / DEFAULT_PIECE_ROWS * DEFAULT_PIECE_ROWS /
                     DEFAULT_ODD_LANES,
                 NULL);
    default_fill(m, stage, SCHEDULE_REGISTERS, c->depth, halves ? 32 : 4, NULL);
    fill_ahead(m, c, halves ? 2 : 3);
}

// Of several sums, one for each point of other indices, no pieces are empty.
static bool is_worth(const making *m, const contraction *c, tensor_val map) {
    const bool several = map == TENSOR_NO_VAL && c->sum->left[0] != c->rows,
               keyed = plan_rows_info(m->rows)->family == ROWS_FAMILY_OUTER;
    const int64_t least = several ? DEFAULT_PIECE_ROWS : default_matrix_least(c);
    return (keyed || c->said || map == TENSOR_NO_VAL) && default_extent(m->p, c->rows) >= least &&
           default_extent(m->p, c->columns) >= least;
}

bool default_sums_outer_products(const making *m, uint32_t stage, bool shared) {
    const stage_group alone = default_alone(&stage);
    contraction c;
    tensor_val map;
    if (!find(m, &alone, &c, &map) || !is_worth(m, &c, map)) return false;
    return !shared || c.bytes == 2 ||
           default_extent(m->p, c.rows) * default_extent(m->p, c.columns) >= DEFAULT_OUTER_APART;
}

bool default_outer(making *m, const stage_group *g) {
    const planner *p = m->p;
    contraction c;
    tensor_val map;
    outer_shape s;
    if (!g->len || !find(m, g, &c, &map)) return false;
    int64_t rows = default_extent(p, c.rows), columns = default_extent(p, c.columns);
    if (!is_worth(m, &c, map) || !shape_for(&c, rows, columns, &s)) return false;
    const bool keyed = map != TENSOR_NO_VAL;
    // a matrix each of what stands before rows and columns
    for (uint32_t i = 0; c.sum->left[i] != c.rows; i++)
        default_fill(m, c.sum, SCHEDULE_BLOCK, c.sum->left[i], 1, NULL);
    default_fill(m, c.sum, keyed ? SCHEDULE_SPLIT : SCHEDULE_BLOCK, c.depth,
                 part_of(m, &c, keyed, rows, columns), NULL);
    default_multiply(m, &c);
    if (rows % DEFAULT_PIECE_ROWS || columns % DEFAULT_PIECE_ROWS) {
        fill_odd(m, &c, rows, columns);
    } else {
        fill_shape(m, &c, &s, rows);
        fill_ahead(m, &c, s.buffers);
    }
    if (keyed) VEC_PUSH(p->arena, &m->outer, map);
    p->facts->matrices = true;
    return true;
}

// Of all points: the same for any number of them.
bool default_outer_all(making *m, const stage_group *g) {
    return !m->p->op->stages.data[g->data[0]].nkeys && default_outer(m, g);
}
