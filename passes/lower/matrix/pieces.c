// Operands of matrix operations that a round has fetched into shared memory, and that lanes hold
// there as the operation has them (ldmatrix). A piece of A is four matrices of eight rows. A piece
// of B is two, of columns, and two pieces are loaded at once. Each lane gives the address of eight
// elements in a row. It gets pairs along the depth, whichever axis lies side by side.
//     x[e, k] for k … [lane 8 unit 4, register 2], e … [register 2, lane 4, register 2] fetch x[e] pitch 72
//  →  ldmatrix.trans f16x8 shared + bytes of the lane
// Past an end there are zeros, or numbers that no one reads: a row of A past the last one reaches
// that row of the product alone. Rows that lie in memory whole may end anywhere in the pitch.

#include "lower/matrix/matrix.h"

enum { SIDE = 8 };   // of a matrix

typedef struct {   // a position in what is fetched: of the row, or in the row
    const loop_node *loop;
    simt_value at;   // i32: what the thread's groups and the lane's row add
    int64_t most;    // the largest that may be
} side;

struct lm_pieces {
    const fetched_rows *f;
    const tensor_node *load;
    const loop_node *outer, *depth;   // outer: over the rows of A, the columns of B
    // axis of B's pieces of which two are taken at once, or LOWER_NO_AXIS
    uint32_t pair;
    axis_set held;   // axes that the operation holds
    simt_type type;
    side row, column;
    // of the columns where a row of a matrix may begin; INT64_MAX: none goes past them
    int64_t last;
};

// ---- Whether it can be --------------------------------------------------------------------------
// The factor has the bits that were fetched.
static bool is_kept(const kernel *k, tensor_expr e, ir_dtype t) {
    const tensor_node *n = tensor_node_at(k->l->op, e);
    bool same = n->op == TENSOR_ROUND_OP
                    ? (ir_dtype)n->imm.i == t
                    : n->op == TENSOR_CVT_OP &&
                          (n->type.type == t || n->type.type == DT_F32 || n->type.type == DT_F64);
    return n->op == TENSOR_LOAD_OP ? k->l->op->vals.data[n->imm.i].type == t
                                   : same && is_kept(k, n->args[0], t);
}

// Pieces lie one behind the other, as the operation has them.
static bool is_natural(const pieces *p, simt_mma_operand o, const loop_node *outer) {
    bool rows = o == SIMT_MMA_A,
         apart = rows ? p->rows == LOWER_NO_AXIS : loop_matrix_alternate(outer);
    return !apart && p->low != LOWER_NO_AXIS && p->tiles == 1 && !p->vector &&
           (!rows || outer->digits[0].place == LOOP_LANE_PLACE) && (rows || p->info->warps == 1);
}

static const loop_node *loop_at(const kernel *k, tensor_var v) {
    for (uint32_t i = k->scope.masks.len; i-- > 0;)
        if (k->scope.masks.data[i].node->var == v) return k->scope.masks.data[i].node;
    return NULL;
}

// The loop whose position the index is; NULL: it is none.
static const loop_node *loop_behind(const kernel *k, tensor_expr index) {
    const tensor_node *n = tensor_node_at(k->l->op, index);
    while (n->op == TENSOR_VAR_OP && k->scope.var[n->imm.i].kind == BOUND_LET)
        n = tensor_node_at(k->l->op, k->scope.var[n->imm.i].value);
    return n->op == TENSOR_VAR_OP ? loop_at(k, (tensor_var)n->imm.i) : NULL;
}

// A row that lies there whole has parts, such as heads: each begins where a row of a matrix may
// begin.
static bool are_parts_even(const kernel *k, const fetched_rows *f, const tensor_node *load) {
    const tensor_val_info *v = &k->l->op->vals.data[f->rows->val];
    bool even = true;
    for (uint32_t i = f->rows->nindex; i + 1 < load->nargs && i + 1 < v->rank; i++) {
        const tensor_space_info *s = &k->l->op->spaces.data[v->axes[i]],
                                *last = &k->l->op->spaces.data[v->axes[v->rank - 1]];
        bool one = s->kind == SPACE_CONST && s->size == 1;
        even = even && (one || (last->kind == SPACE_CONST && last->size % SIDE == 0));
    }
    return even;
}

static bool is_plain(const loop_node *n) {
    return !n->rounds.pad && !n->distributed.steps && !n->holding.n && !n->rounds.within &&
           n->rounds.step <= 1;
}

static bool find_sides(const kernel *k, const tensor_node *load, lm_pieces *x) {
    const fetched_rows *f = x->f;
    const loop_node *other = f->beside ? f->beside : loop_behind(k, load->args[load->nargs - 1]);
    if (!other || !is_plain(other) || !is_plain(f->node)) return false;
    x->row.loop = f->tile.along ? other : f->node;
    x->column.loop = f->tile.along ? f->node : other;
    bool both = (x->row.loop == x->outer && x->column.loop == x->depth) ||
                (x->row.loop == x->depth && x->column.loop == x->outer);
    return both && (f->beside || lw_multiple_of(k->l->op, other->lo, SIDE));
}

// ---- Where rows are -----------------------------------------------------------------------------
static bool may_pass_end(const kernel *k, const loop_node *n) {
    for (uint32_t i = 0; i < k->scope.masks.len; i++)
        if (k->scope.masks.data[i].node == n && k->scope.masks.data[i].of) return true;
    return false;
}

// The last position that rows have room for: a round may go beyond it.
static int64_t last_of(const kernel *k, const lm_pieces *x) {
    bool tile = x->f->beside || !may_pass_end(k, x->column.loop);
    const tensor_val_info *v = &k->l->op->vals.data[x->f->rows->val];
    return tile ? INT64_MAX : (k->l->op->spaces.data[v->axes[v->rank - 1]].size - 1) / SIDE * SIDE;
}

static void add(simt_builder *b, side *s, simt_value x, int64_t most) {
    s->at = simt_build_binary(b, SIMT_ADD, s->at, x);
    s->most += most;
}

static int64_t most_of(const kernel *k, simt_value v) {
    const simt_instr_info *i = &k->f->instrs.data[k->f->values.data[v].def];
    return k->f->values.data[v].def && i->op == SIMT_CONST ? i->imm.i : INT32_MAX;
}

// Of the round or of the tile; if rows are whole, of the row.
static void place_thread(kernel *k, simt_builder *b, const lm_pieces *x, side *s) {
    const loop_node *n = s->loop;
    bool whole = !x->f->beside && s == &x->column;
    s->at = whole ? simt_build_cvt(b, SIMT_T(I32), k->scope.var[n->var].base)
                  : simt_build_int(b, SIMT_T(I32), 0);
    s->most = most_of(k, s->at);
    for (uint32_t i = 0; i < n->ndigits; i++) {
        const lower_axis *a = &k->digits.axis[lw_axis(k, n, i)];
        if (a->place == LOOP_GROUP_PLACE)
            add(b, s, simt_build_with(b, SIMT_MUL, lw_digit(k, b, a), a->weight),
                (int64_t)(a->extent - 1) * a->weight);
    }
}

// Bit `shift` of the lane, times `by`.
static void add_bit(kernel *k, simt_builder *b, side *s, uint32_t shift, int64_t by) {
    simt_value bit = simt_build_with(b, SIMT_AND,
                                     simt_build_with(b, SIMT_LSHR, k->thread.lane, shift), 1);
    add(b, s, simt_build_with(b, SIMT_MUL, bit, by), by);
}

// Lanes 8 i to 8 i + 7 give the rows of matrix i. Of A, matrices are the first rows, the next rows,
// and then those of the next depth. Of B, they are the first depth, the next depth, and then those
// of the other piece. A piece may have one depth.
static void place_lanes(kernel *k, simt_builder *b, const pieces *p, simt_mma_operand o,
                        lm_pieces *x) {
    enum { MATRIX = 3, OTHER = 4 };   // bits of the lane
    side *outer = x->row.loop == x->outer ? &x->row : &x->column,
         *depth = outer == &x->row ? &x->column : &x->row;
    bool deep_piece = p->high != LOWER_NO_AXIS;
    if (deep_piece)
        add_bit(k, b, depth, o == SIMT_MMA_A ? OTHER : MATRIX, k->digits.axis[p->high].weight);
    if (o == SIMT_MMA_A) add_bit(k, b, outer, MATRIX, k->digits.axis[p->rows].weight);
    if (x->pair != LOWER_NO_AXIS) {
        uint32_t first = lw_axes_of(k, x->depth)->first;
        bool deep = x->pair >= first && x->pair <= lw_axis(k, x->depth, 0);
        add_bit(k, b, deep ? depth : outer, deep_piece ? OTHER : MATRIX,
                k->digits.axis[x->pair].weight);
    }
    add(b, &x->row, simt_build_with(b, SIMT_AND, k->thread.lane, SIDE - 1), SIDE - 1);
}

// An axis along the loop that has an even number of pieces.
static uint32_t pair_along(kernel *k, const loop_node *n, axis_set axes) {
    for (uint32_t d = 0; d < n->ndigits; d++) {
        uint32_t i = lw_axis(k, n, d);
        bool even = n->digits[d].place == LOOP_REGISTER_PLACE && n->digits[d].extent % 2 == 0;
        if (axes & AXIS(i) && even && k->digits.at[i] < 0) return i;
    }
    return LOWER_NO_AXIS;
}

// Two columns are taken at once rather than two steps, whose operands would all be in registers.
static void find_pair(kernel *k, axis_set axes, lm_pieces *x) {
    x->pair = pair_along(k, x->outer, axes);
    if (x->pair == LOWER_NO_AXIS) x->pair = pair_along(k, x->depth, axes);
    if (x->pair != LOWER_NO_AXIS) x->type.lanes *= 2;
}

lm_pieces *lm_pieces_of(kernel *k, simt_builder *b, const reduction *r, const pieces *p,
                        simt_mma_operand o, tensor_expr e, axis_set axes) {
    const tensor_node *load = loop_matrix_factor(k->l->op, e);
    lm_pieces *x = ARENA_NEW(k->l->arena, lm_pieces);
    x->outer = loop_at(k, o == SIMT_MMA_A ? p->m->rows : p->m->columns);
    x->depth = loop_at(k, p->m->depth);
    x->f = load->op == TENSOR_LOAD_OP ? lw_fetched(k, load) : NULL;
    x->load = load;
    x->pair = LOWER_NO_AXIS;
    x->held = p->all;
    ir_dtype t = loop_matrix_type(p->m->kind);
    // all elements of B are there
    bool cells = o == SIMT_MMA_A && (r->cells.len || loop_again(r->node));
    if (!x->f || cells || !ir_dtype_is_narrow(t) || !is_kept(k, e, t) || !x->outer ||
        !is_natural(p, o, x->outer) || SIDE % (x->f->rows->every ? x->f->rows->every : 1) ||
        x->f->rows->pitch % SIDE || x->f->rows->skew % SIDE ||
        (!x->f->beside && !are_parts_even(k, x->f, load)) || !find_sides(k, load, x))
        return NULL;
    x->type = simt_mma_type(p->m->kind, o);
    if (o == SIMT_MMA_B) find_pair(k, axes, x);
    x->last = last_of(k, x);
    place_thread(k, b, x, &x->row);
    place_thread(k, b, x, &x->column);
    place_lanes(k, b, p, o, x);
    return x;
}

uint32_t lm_pair(const lm_pieces *x) { return x->pair; }

// ---- Loading ------------------------------------------------------------------------------------
// How far the copies at hand are from the first ones.
static int64_t copies_at(kernel *k, const lm_pieces *x, const loop_node *n) {
    int64_t at = 0;
    const loop_axes *a = lw_axes_of(k, n);
    for (uint32_t i = a->first; i <= lw_axis(k, n, 0); i++)
        if (!(x->held & AXIS(i)) && k->digits.at[i] > 0)
            at += (int64_t)k->digits.at[i] * k->digits.axis[i].weight;
    return at;
}

static simt_value load_at(kernel *k, simt_builder *b, const lm_pieces *x, simt_value to) {
    simt_op op = x->column.loop == x->depth ? SIMT_LDMATRIX : SIMT_LDMATRIX_TRANS;
    return simt_result(k->f, simt_build_op(b, op, &to, 1, &x->type, 1), 0);
}

// A row of a matrix is a piece, which is where the swizzle has it. first: the thread's column; row,
// column: of the copies, constants.
static simt_value load_swizzled(kernel *k, simt_builder *b, const lm_pieces *x, simt_value first,
                                int64_t row, int64_t column) {
    const loop_fetch *f = x->f->rows;
    int64_t bytes = simt_element_bits(x->type.element) / 8, pitch = f->pitch * bytes,
            turn = loop_swizzle_turn(&f->swizzle), whole = row / turn * turn,
            all = (LOOP_SWIZZLE_PIECE << f->swizzle.n) / bytes, last = column / all * all;
    simt_value at = simt_build_with(b, SIMT_ADD, x->row.at, row - whole),
               byte = simt_build_with(b, SIMT_ADD, first, column - last),
               to = simt_build_addr(b, lw_shared(k, b, x->f->at), x->f->buffer, 1, 0);
    if (!x->f->beside && f->nindex + 1 < x->load->nargs)
        byte = simt_build_binary(
            b, SIMT_ADD, byte,
            simt_build_cvt(b, SIMT_T(I32), lw_fetched_part(k, b, x->f, x->load)));
    at = lw_swizzled(b, f, at,
                     simt_build_binary(b, SIMT_ADD, simt_build_with(b, SIMT_MUL, at, pitch),
                                       simt_build_with(b, SIMT_MUL, byte, bytes)));
    return load_at(k, b, x, simt_build_addr(b, to, at, 1, whole * pitch + last * bytes));
}

simt_value lm_load_pieces(kernel *k, simt_builder *b, const lm_pieces *x) {
    int64_t bytes = simt_element_bits(x->type.element) / 8, pitch = x->f->rows->pitch * bytes,
            row = copies_at(k, x, x->row.loop), column = copies_at(k, x, x->column.loop);
    simt_value first = x->column.at;
    if (column > x->last) return simt_build_float(b, x->type, 0);   // all of it lies past the end
    if (column + x->column.most > x->last) {
        first = simt_build_with(b, SIMT_MIN, simt_build_with(b, SIMT_ADD, first, column), x->last);
        column = 0;
    }
    uint32_t every = x->f->rows->every;
    int64_t skew = x->f->rows->skew * bytes;
    if (x->f->rows->swizzle.n) return load_swizzled(k, b, x, first, row, column);
    simt_value to = simt_build_addr(b, lw_shared(k, b, x->f->at), x->f->buffer, 1, 0),
               thread = simt_build_binary(b, SIMT_ADD,
                                          simt_build_with(b, SIMT_MUL, x->row.at, pitch),
                                          simt_build_with(b, SIMT_MUL, first, bytes));
    if (every)
        thread = simt_build_binary(
            b, SIMT_ADD, thread,
            simt_build_with(b, SIMT_MUL, simt_build_with(b, SIMT_UDIV, x->row.at, every), skew));
    if (!x->f->beside && x->f->rows->nindex + 1 < x->load->nargs)
        to = simt_build_addr(b, to, lw_fetched_part(k, b, x->f, x->load), (uint32_t)bytes, 0);
    // Addresses of pieces differ by constants, because copies are whole matrices apart.
    to = simt_build_addr(b, to, thread, 1,
                         row * pitch + (every ? row / every * skew : 0) + column * bytes);
    return load_at(k, b, x, to);
}
