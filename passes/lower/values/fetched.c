// An expression loads what a round has fetched (lower/copies/fetch.c) from shared memory.
//     fetch 3 x[e] pitch 136 { … x[e, f] … }  →  ld.shared buffer + row * 136 + f

#include "lower/values/values.h"

uint32_t lw_fetched_element_bytes(const kernel *k, const loop_fetch *f) {
    return simt_element_bits(lw_memory_element(k, k->l->op->vals.data[f->val].type)) / 8;
}

// Bytes from the first row to another one. What the pitch of `plus` more rows adds is left out.
simt_value lw_rows_apart(simt_builder *b, const loop_fetch *f, simt_value row, int64_t plus,
                         uint32_t bytes) {
    simt_value at = simt_build_with(b, SIMT_MUL, row, (int64_t)f->pitch * bytes);
    if (!f->every) return at;
    simt_value skewed = simt_build_with(b, SIMT_UDIV, simt_build_with(b, SIMT_ADD, row, plus),
                                        f->every);
    return simt_build_binary(b, SIMT_ADD, at,
                             simt_build_with(b, SIMT_MUL, skewed, (int64_t)f->skew * bytes));
}

// ---- Swizzles -----------------------------------------------------------------------------------
// The bits of the row that move `up` places, to bits of a byte's place in it; 0: none.
static uint32_t bits_moved(const loop_swizzle *s, int32_t up) {
    uint32_t bits = 0;
    for (int32_t i = 0; i < (int32_t)s->n; i++) {
        int32_t from = i + LOOP_SWIZZLE_SHIFT - up;
        if (from >= 0) bits |= s->rows[i] & UINT32_C(1) << from;
    }
    return bits;
}

// Bits that move by the same distance move together: an and, a shift and an xor for each distance.
simt_value lw_swizzled(simt_builder *b, const loop_fetch *f, simt_value row, simt_value byte) {
    enum { MOST = 20 };   // bits of a row
    for (int32_t up = LOOP_SWIZZLE_SHIFT + LOOP_SWIZZLE_BITS - 1; up > -MOST; up--) {
        uint32_t bits = bits_moved(&f->swizzle, up);
        if (!bits) continue;
        simt_value moved = simt_build_with(b, SIMT_AND, row, bits);
        moved = up < 0 ? simt_build_with(b, SIMT_LSHR, moved, -up)
                       : simt_build_with(b, SIMT_MUL, moved, INT64_C(1) << up);
        byte = simt_build_binary(b, SIMT_XOR, byte, moved);
    }
    return byte;
}

// They are the same index, if lets are replaced by their values.
static bool same_expr(const kernel *k, tensor_expr a, tensor_expr b) {
    if (a == b) return true;
    const tensor_node *x = tensor_node_at(k->l->op, a), *y = tensor_node_at(k->l->op, b);
    for (int side = 0; side < 2; side++) {
        const tensor_node *n = side ? y : x;
        const binding *v = n->op == TENSOR_VAR_OP ? &k->scope.var[n->imm.i] : NULL;
        if (v && v->kind == BOUND_LET)
            return side ? same_expr(k, a, v->value) : same_expr(k, v->value, b);
    }
    bool same = x->op == y->op && x->imm.i == y->imm.i && x->nargs == y->nargs &&
                (x->op == TENSOR_VAR_OP || x->op == TENSOR_LOAD_OP);
    for (uint32_t i = 0; same && i < x->nargs; i++) same = same_expr(k, x->args[i], y->args[i]);
    return same;
}

// They are the same row, by lets and by what is given.
static bool same_row(const kernel *k, tensor_expr a, tensor_expr b) {
    if (same_expr(k, a, b)) return true;
    for (uint32_t i = k->scope.given.len; i-- > 0;) {
        const loop_node *n = k->scope.given.data[i];
        if (same_expr(k, n->key, b) && same_expr(k, a, n->value)) return true;
    }
    return false;
}

static const fetched_rows *fetched(const kernel *k, const tensor_node *load, bool panels) {
    for (uint32_t i = k->rounds.fetched.len; i-- > 0;) {
        const fetched_rows *f = &k->rounds.fetched.data[i];
        bool same = f->rows->val == (tensor_val)load->imm.i && f->rows->panels == panels;
        for (uint32_t x = 0; same && x < f->rows->nindex; x++)
            same = same_row(k, f->rows->index[x], load->args[x]);
        if (same) return f;
    }
    return NULL;
}

const fetched_rows *lw_fetched(const kernel *k, const tensor_node *load) {
    return fetched(k, load, false);
}
const fetched_rows *lw_fetched_panels(const kernel *k, const tensor_node *load) {
    return fetched(k, load, true);
}

bool lw_is_fetched(const kernel *k, tensor_expr e, uint32_t from) {
    const tensor_node *n = loop_matrix_factor(k->l->op, e);
    const fetched_rows *f = n->op == TENSOR_LOAD_OP ? lw_fetched(k, n) : NULL;
    for (uint32_t i = from; f && i < k->scope.masks.len; i++)
        if (k->scope.masks.data[i].of && k->scope.masks.data[i].node != f->node) return false;
    return f != NULL;
}

// How far this thread's positions are from the first one of the round. *plus: what copies add.
static simt_value in_round(kernel *k, simt_builder *b, const fetched_rows *f, int64_t *plus) {
    const binding *v = &k->scope.var[f->node->var];
    *plus = 0;
    if (v->columns)
        return simt_build_cvt(
            b, SIMT_T(I32),
            simt_build_binary(b, SIMT_SUB, lw_var_position(k, b, f->node->var).at, v->base));
    for (uint32_t i = 0; i < LOWER_MAX_AXES; i++)
        if (v->own & AXIS(i)) *plus += (int64_t)k->digits.at[i] * k->digits.axis[i].weight;
    return simt_build_cvt(b, SIMT_T(I32), lw_thread_position(k, b, f->node, lw_ix(k, b, 0)));
}

// How far the position in the loop beside is from the first one that the block has.
static simt_value in_tile(kernel *k, simt_builder *b, const fetched_rows *f) {
    simt_value at = lw_var_position(k, b, f->beside->var).at;
    return simt_build_cvt(b, SIMT_T(I32),
                          simt_build_binary(b, SIMT_SUB, at, k->scope.var[f->beside->var].base));
}

// The bytes that a lane's columns begin at a multiple of: rows and buffers are pitches apart. Lanes
// read at most 16 bytes at once.
static uint32_t column_align(const fetched_rows *f, uint32_t lanes, uint32_t bytes) {
    uint32_t align = bytes * lanes;
    while (align > 16 || f->rows->pitch * bytes % align) align /= 2;
    return align;
}

// ---- Swizzled loads -----------------------------------------------------------------------------
typedef struct {            // an element of what is fetched
    simt_value row, byte;   // i32
    int64_t rows, bytes;    // constants more
} fetched_place;

// Bits that a thread's digits may set in its number among the points of a round, if those are sums
// of powers of two; else all bits.
static uint32_t thread_bits(kernel *k, const loop_node *n) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < n->ndigits; i++) {
        const lower_axis *a = &k->digits.axis[lw_axis(k, n, i)];
        if (a->place != LOOP_LANE_PLACE && a->place != LOOP_GROUP_PLACE) continue;
        if (a->extent & (a->extent - 1) || a->weight & (a->weight - 1)) return UINT32_MAX;
        bits |= (a->extent - 1) * a->weight;
    }
    return bits;
}

// Constants come last where the swizzle is the same without them. A sum without carries has the
// XOR of what its terms have.
static simt_value swizzled_at(kernel *k, simt_builder *b, const fetched_rows *f, fetched_place x,
                              uint32_t bytes) {
    const loop_fetch *rows = f->rows;
    const bool apart = x.rows && !f->tile.along && !(thread_bits(k, f->node) & (uint64_t)x.rows);
    int64_t turn = loop_swizzle_turn(&rows->swizzle), whole = x.rows / turn * turn,
            most = LOOP_SWIZZLE_PIECE << rows->swizzle.n, last = x.bytes / most * most;
    simt_value row = apart ? x.row : simt_build_with(b, SIMT_ADD, x.row, x.rows - whole),
               byte = simt_build_with(b, SIMT_ADD, x.byte, x.bytes - last);
    if (apart)
        byte = simt_build_with(b, SIMT_XOR, byte,
                               (int64_t)loop_swizzle_of(&rows->swizzle, (uint32_t)x.rows) *
                                   LOOP_SWIZZLE_PIECE);
    simt_value to = simt_build_addr(b, lw_shared(k, b, f->at), f->buffer, 1, 0),
               at = simt_build_with(b, SIMT_MUL, row, (int64_t)rows->pitch * bytes);
    at = lw_swizzled(b, rows, row, simt_build_binary(b, SIMT_ADD, at, byte));
    return simt_build_addr(b, to, at, 1, (apart ? x.rows : whole) * rows->pitch * bytes + last);
}

// Each piece has a place of its own, and so has each element where neighbours may be in two.
static simt_value load_swizzled(kernel *k, simt_builder *b, const fetched_rows *f, fetched_place x,
                                uint32_t lanes, bool aligned) {
    uint32_t bytes = lw_fetched_element_bytes(k, f->rows),
             each = !aligned                             ? 1
                    : lanes * bytes > LOOP_SWIZZLE_PIECE ? LOOP_SWIZZLE_PIECE / bytes
                                                         : lanes;
    simt_value of[16];
    for (uint32_t i = 0; i < lanes; i += each, x.bytes += (int64_t)each * bytes) {
        simt_value some = lw_load_shared(k, b, f->rows->val, swizzled_at(k, b, f, x, bytes), each,
                                         each * bytes);
        for (uint32_t e = 0; e < each; e++) of[i + e] = simt_pick(b, some, e);
        if (each == lanes) return some;
    }
    return simt_gather(b, of, lanes);
}

// ---- Loads --------------------------------------------------------------------------------------
static simt_value load_tile(kernel *k, simt_builder *b, const fetched_rows *f, uint32_t lanes) {
    uint32_t bytes = lw_fetched_element_bytes(k, f->rows);
    int64_t plus, more = 0;
    simt_value round = in_round(k, b, f, &plus), beside = in_tile(k, b, f);
    simt_value row = f->tile.along ? beside : round, column = f->tile.along ? round : beside;
    if (f->rows->swizzle.n) {
        fetched_place x = {row, simt_build_with(b, SIMT_MUL, column, bytes),
                           f->tile.along ? 0 : plus, f->tile.along ? plus * bytes : 0};
        return load_swizzled(k, b, f, x, lanes, true);
    }
    more = plus * (f->tile.along ? 1 : f->rows->pitch) * bytes;
    simt_value to = simt_build_addr(b, lw_shared(k, b, f->at), f->buffer, 1, 0);
    to = simt_build_addr(b, to, lw_rows_apart(b, f->rows, row, f->tile.along ? 0 : plus, bytes), 1,
                         0);
    to = simt_build_addr(b, to, column, bytes, more);
    return lw_load_shared(k, b, f->rows->val, to, lanes, column_align(f, lanes, bytes));
}

simt_value lw_fetched_part(kernel *k, simt_builder *b, const fetched_rows *f,
                           const tensor_node *load) {
    const tensor_val_info *val = &k->l->op->vals.data[f->rows->val];
    simt_value part = lw_ix(k, b, 0);
    int64_t size = 1;
    for (uint32_t i = load->nargs - 1; i-- > f->rows->nindex;) {
        size *= k->l->op->spaces.data[val->axes[i + 1]].size;
        part = simt_build_binary(
            b, SIMT_ADD, part,
            simt_build_with(b, SIMT_MUL, lw_position(k, b, load->args[i]).at, size));
    }
    return part;
}

static simt_value element_of(simt_builder *b, simt_value part, simt_value at, uint32_t bytes) {
    simt_value i = simt_build_binary(b, SIMT_ADD, part, simt_build_cvt(b, SIMT_T(I32), at));
    return simt_build_with(b, SIMT_MUL, i, bytes);
}

static simt_value load_swizzled_row(kernel *k, simt_builder *b, const fetched_rows *f,
                                    const tensor_node *load, position last, uint32_t lanes) {
    uint32_t bytes = lw_fetched_element_bytes(k, f->rows);
    fetched_place x = {0};
    x.row = in_round(k, b, f, &x.rows);
    simt_value part = f->rows->nindex + 1 < load->nargs
                          ? simt_build_cvt(b, SIMT_T(I32), lw_fetched_part(k, b, f, load))
                          : simt_build_int(b, SIMT_T(I32), 0);
    if (last.shape != POSITION_ANY) {
        x.byte = element_of(b, part, last.at, bytes);
        return load_swizzled(k, b, f, x, lanes, last.shape != POSITION_SHIFTED);
    }
    simt_value of[16];
    for (uint32_t i = 0; i < lanes; i++) {
        x.byte = element_of(b, part, simt_pick(b, last.at, i), bytes);
        of[i] = load_swizzled(k, b, f, x, 1, true);
    }
    return simt_gather(b, of, lanes);
}

simt_value lw_load_fetched(kernel *k, simt_builder *b, const fetched_rows *f,
                           const tensor_node *load, position last, uint32_t lanes) {
    if (f->beside) return load_tile(k, b, f, lanes);
    if (f->rows->swizzle.n) return load_swizzled_row(k, b, f, load, last, lanes);
    uint32_t bytes = lw_fetched_element_bytes(k, f->rows);
    int64_t plus;
    simt_value row = in_round(k, b, f, &plus),
               to = simt_build_addr(b, lw_shared(k, b, f->at), f->buffer, 1, 0);
    to = simt_build_addr(b, to, lw_rows_apart(b, f->rows, row, plus, bytes), 1,
                         plus * f->rows->pitch * bytes);
    if (f->rows->nindex + 1 < load->nargs)
        to = simt_build_addr(b, to, lw_fetched_part(k, b, f, load), bytes, 0);
    if (last.shape == POSITION_ANY) {
        simt_value x[16];
        for (uint32_t i = 0; i < lanes; i++)
            x[i] = lw_load_shared(k, b, f->rows->val,
                                  simt_build_addr(b, to, simt_pick(b, last.at, i), bytes, 0), 1,
                                  bytes);
        return simt_gather(b, x, lanes);
    }
    return lw_load_shared(k, b, f->rows->val, simt_build_addr(b, to, last.at, bytes, 0), lanes,
                          last.shape == POSITION_SHIFTED ? bytes : column_align(f, lanes, bytes));
}
