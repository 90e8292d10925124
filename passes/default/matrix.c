// The default schedule of contractions on tensor cores: sums over a dense index of products of two
// factors, one with rows of its own, the other with columns, whose numbers have 16 bits, so that
// their products are exact; or what a schedule says `mma` of. Where its extents are known, each
// warp has a part of the matrix in registers for all rows of a block, which come ahead of their use
// (FASTEN's tiles by type, its registers). Larger matrices are for operations of four warps, where
// there are such (default/group.c).
//     y[e, q] = sum{k} x[e, k] * w[type[e], k, q]   →  block e 256 by type;  groups q 2;  …  mma k f16;
//                                                      keep x shared;  pipeline e 4;
#include "default/default.h"
#include "default/contraction.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <string.h>

// Measured on an H200 over products by types of 16 to 256 rows and columns (bench/RECORD.md).
enum {
    WARP = 32,
    ROWS = 16,     // of a piece
    COLUMNS = 8,   // likewise
    MINE = 32,     // columns of a warp
    WARPS = 4,     // of a block at least
    MOST_GROUPS = 8,
    HELD = 128,   // registers of a lane for its part of the matrix
    WIDEST = DEFAULT_WIDEST,
    BLOCK = 512,
    SMALL_BLOCK = 256,   // rows
    LEAST = 8,           // columns, and points of the depth, of one that is worth it
    STEP_ROWS = 64,
    STEP_COLUMNS = 64   // of a block whose matrix comes in steps
};

// ---- What is one --------------------------------------------------------------------------------
static uint32_t factors_with(const planner *p, const tensor_node *product, tensor_var v,
                             tensor_val given) {
    return plan_depends(p, product->args[0], v, given) | plan_depends(p, product->args[1], v, given)
                                                             << 1;
}

// Of the maps that rows are read by, the one that leaves the second factor without rows.
static bool find_by(const planner *p, contraction *c, const tensor_node *product,
                    uint32_t columns) {
    for (tensor_val v = 0; v < p->op->nparams && c->by == TENSOR_NO_VAL; v++) {
        const tensor_val_info *i = &p->op->vals.data[v];
        bool sorted = i->role == VAL_MAP && i->facts & FACT_SORTED &&
                      i->sorted_by == TENSOR_NO_VAL && !(i->facts & FACT_PARTIAL);
        if (sorted && factors_with(p, product, c->rows, v) == (columns ^ 3)) c->by = v;
    }
    return c->by != TENSOR_NO_VAL;
}

static bool find_roles(const planner *p, contraction *c) {
    const tensor_stage *st = c->sum;
    const tensor_node *product = tensor_node_at(p->op, st->body[0]);
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    if (product->op != TENSOR_MUL_OP || plan_left(p, st, left) != 2) return false;
    c->rows = left[0], c->columns = left[1], c->depth = st->bound[0];
    uint32_t columns = factors_with(p, product, c->columns, TENSOR_NO_VAL);
    if (columns != 1 && columns != 2) return false;
    c->first = product->args[columns == 1], c->second = product->args[columns == 2];
    return factors_with(p, product, c->rows, TENSOR_NO_VAL) == (columns ^ 3) ||
           find_by(p, c, product, columns);
}

static bool is_worth(const planner *p, const contraction *c) {
    int64_t depth = default_extent(p, c->depth), columns = default_extent(p, c->columns);
    return (!depth || depth >= LEAST) && (!columns || columns >= LEAST);
}

static void find_bytes(contraction *c) {
    for (simt_mma k = 0; k < SIMT_MMA_COUNT && !c->bytes; k++) {
        const simt_mma_info *i = simt_mma_table(k);
        if (strcmp(i->operand, c->operand)) continue;
        c->bytes = simt_element_bits(i->element) / 8;
        c->held = simt_mma_splits(k) ? 2 * c->bytes : c->bytes;
    }
}

// As the schedule says, or as both factors are stored.
bool default_operand(const planner *p, contraction *c) {
    c->said = schedule_find(p->s, c->sum->id, SCHEDULE_MMA, p->op->vars.data[c->depth].id);
    if (c->said) {
        c->operand = schedule_value_of(c->said, NULL)->text;
        find_bytes(c);
        // none: refused as any such `mma` is
        return c->bytes && !schedule_value_of(c->said, "shape");
    }
    ir_dtype t = default_narrow_type(p->op, c->first);
    if (t == DT_COUNT || t != default_narrow_type(p->op, c->second)) return false;
    c->operand = ir_dtype_text(t);
    find_bytes(c);
    return true;
}

static bool find(const making *m, const stage_group *g, contraction *c) {
    const planner *p = m->p;
    *c = (contraction){.sum = &p->op->stages.data[g->data[0]], .by = TENSOR_NO_VAL};
    const tensor_stage *st = c->sum;
    if (!p->machine->gpu || p->facts->no_matrices) return false;
    for (uint32_t i = 1; i < g->len; i++)
        if (p->op->stages.data[g->data[i]].reducer != TENSOR_NO_REDUCER) return false;
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_id id = plan_stage(p, g->data[i])->id;
        if (schedule_find(p->s, id, SCHEDULE_COMPUTE, TENSOR_ALL) ||
            schedule_find(p->s, id, SCHEDULE_ACCUMULATE, TENSOR_ALL))
            return false;
    }
    return plan_matrix_sums(p, st) && default_reduces_dense(p, st) && !st->nkeys && !st->nfilters &&
           st->loop == TENSOR_NO_LOOP && find_roles(p, c) && is_worth(p, c) &&
           default_operand(p, c);
}

// ---- Cells --------------------------------------------------------------------------------------
// shape: of a matrix operation; NULL: none.
static void fill_words(making *m, schedule_cell c, const char *text, const char *shape) {
    schedule_value *v = ARENA_ARRAY(m->p->arena, schedule_value, 2);
    v[0] = (schedule_value){.text = text, .var = UINT32_MAX};
    v[1] = (schedule_value){.keyword = "shape", .text = shape, .var = UINT32_MAX};
    default_say(m, c, v, shape ? 2 : 1);
}

void default_share(making *m, const contraction *c, tensor_val input) {
    schedule_value *v = ARENA_NEW(m->p->arena, schedule_value);
    *v = default_word(SCHEDULE_PLACE_SHARED);
    default_say(m, default_value_cell(m->p, SCHEDULE_KEEP, c->sum, input), v, 1);
}

void default_multiply(making *m, const contraction *c) {
    if (!c->said || c->shape)
        fill_words(m, default_index_cell(m->p, SCHEDULE_MMA, c->sum, c->depth), c->operand,
                   c->shape);
}

static void fill_block(making *m, const contraction *c, const tensor_stage *st, tensor_var rows,
                       int64_t n) {
    schedule_value *v = ARENA_ARRAY(m->p->arena, schedule_value, 2);
    v[0] = (schedule_value){.number = n, .var = UINT32_MAX};
    if (c->by != TENSOR_NO_VAL) v[1] = default_by(m->p, c->by);
    default_say(m, default_index_cell(m->p, SCHEDULE_BLOCK, st, rows), v,
                c->by != TENSOR_NO_VAL ? 2 : 1);
}

void default_matrix_cells(making *m, const stage_group *g, const contraction *c,
                          const matrix_shape *s) {
    const planner *p = m->p;
    tensor_var left[2];
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        plan_left(p, st, left);
        fill_block(m, c, st, left[0], s->block);
        default_fill(m, st, SCHEDULE_GROUPS, left[0], s->groups, NULL);
        default_fill(m, st, SCHEDULE_REGISTERS, left[0], s->registers, NULL);
        if (s->column_block) default_fill(m, st, SCHEDULE_BLOCK, left[1], s->column_block, NULL);
        default_fill(m, st, SCHEDULE_GROUPS, left[1], s->column_groups, NULL);
        default_fill(m, st, SCHEDULE_VECTOR, left[1], s->column_vector, NULL);
        default_fill(m, st, SCHEDULE_REGISTERS, left[1], s->column_registers, NULL);
    }
    default_fill(m, c->sum, SCHEDULE_GROUPS, c->depth, s->depth_groups, NULL);
    default_fill(m, c->sum, SCHEDULE_VECTOR, c->depth, s->depth_vector, NULL);
    default_fill(m, c->sum, SCHEDULE_REGISTERS, c->depth, s->depth_registers, NULL);
    default_multiply(m, c);
}

// ---- Matrices that blocks hold ------------------------------------------------------------------
int64_t default_power_in(int64_t n, int64_t most) {
    int64_t v = 1;
    while (v < most && n % (2 * v) == 0) v *= 2;
    return v;
}

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

// An input, or a stage that another kernel stored. (What is said of a stage by the name that the
// sum's begins is about where that stage itself lives.)
static bool is_stored(const planner *p, const tensor_stage *sum, tensor_val v) {
    const tensor_val_info *x = &p->op->vals.data[v];
    bool stage = x->role == VAL_STAGE && p->plan->values.data[v].home != LOOP_INLINE &&
                 !tensor_id_covers(p->op->ids, sum->id, x->id);
    return (x->role == VAL_TENSOR || stage) && ir_dtype_is_float(x->type);
}

const tensor_val_info *default_rows(const planner *p, const tensor_stage *sum, tensor_expr factor,
                                    tensor_var along) {
    const tensor_node *n = loop_matrix_factor(p->op, factor);
    if (n->op != TENSOR_LOAD_OP || n->nargs != 2 || !is_stored(p, sum, (tensor_val)n->imm.i))
        return NULL;
    const tensor_val_info *x = &p->op->vals.data[n->imm.i];
    const tensor_node *row = tensor_node_at(p->op, n->args[0]),
                      *at = tensor_node_at(p->op, n->args[1]);
    bool there = row->op == TENSOR_VAR_OP || (row->op == TENSOR_LOAD_OP &&
                                              !(p->op->vals.data[row->imm.i].facts & FACT_PARTIAL));
    bool whole = at->op == TENSOR_VAR_OP && (tensor_var)at->imm.i == along;
    return there && whole ? x : NULL;
}

bool default_says_ahead(const planner *p, const contraction *c, const tensor_val_info *x) {
    const tensor_id stage = c->sum->id;
    return (x && schedule_find(p->s, stage, SCHEDULE_KEEP, x->id)) ||
           schedule_find(p->s, stage, SCHEDULE_PIPELINE, plan_var_id(p, c->rows)) ||
           schedule_find(p->s, stage, SCHEDULE_PIPELINE, plan_var_id(p, c->depth));
}

static void fetch_rows(making *m, const contraction *c, int64_t depth, const matrix_shape *s) {
    enum { DEEP = 4, SHALLOW = 3, NARROW = 32, COPY = 16 };   // bytes
    const tensor_val_info *x = default_rows(m->p, c->sum, c->first, c->depth);
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
    if (n->op != TENSOR_LOAD_OP || n->nargs < 2 || !is_stored(p, c->sum, (tensor_val)n->imm.i))
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

bool default_contracts(const making *m, const stage_group *g) {
    contraction c;
    return g->len && find(m, g, &c);
}

bool default_matrix(making *m, const stage_group *g) {
    const planner *p = m->p;
    contraction c;
    matrix_shape s;
    if (!g->len || !find(m, g, &c)) return false;
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
