// How often the lanes of a warp ask one bank of shared memory at once, where they read a tile that
// a round fetches, and where they copy it. Lanes hold elements as the loops deal points out, so
// their addresses are known when the plan is made, and every request is counted.
//     w[k, q] pitch 72 skew 16 every 8 for k … [register 8, lane 4], q … [vector 4, lane 4 …]
//  →  lanes 0 to 15 ask 16 banks for two words each
#include "finish/finish.h"

#include <string.h>

enum {
    LANES = 32,
    BANKS = 32,
    WORD = 4,
    ACCESS = 16,
    SIDE = 8,   // of a matrix that ldmatrix loads
    NOBODY = -1
};

typedef struct {   // of an element: in the tile
    int32_t row, column;
} place;
typedef VEC(int32_t) offsets;

typedef struct {
    uint32_t element, bytes;   // of a lane's access
    VEC(place) lanes;          // 32 of each warp
    // what a thread's copies add to the row and to the column; and the parts of a row, to the byte
    offsets rows, columns, parts;
    place last;   // where what lies past the end is read
} requests;

struct plan_banks {
    requests reads, copies;
};

// ---- Digits -------------------------------------------------------------------------------------
static int32_t number(const loop_digit *d, uint32_t of) {
    return (int32_t)(of / (d->unit ? d->unit : 1) % d->extent);
}

// What the thread's digits add, from digit `from` on.
static int32_t of_thread(const loop_node *n, uint32_t from, uint32_t lane, uint32_t group) {
    int32_t at = 0, weight = 1;
    for (uint32_t i = 0; i < n->ndigits; i++) {
        const loop_digit *d = &n->digits[i];
        bool lanes = d->place == LOOP_LANE_PLACE, mine = lanes || d->place == LOOP_GROUP_PLACE;
        if (mine && i >= from) at += number(d, lanes ? lane : group) * weight;
        weight *= (int32_t)d->extent;
    }
    return at;
}

// Columns of B are not those that the lane has of C.
static int32_t position(const plan_matrix *m, const loop_node *n, tensor_var v, uint32_t lane,
                        uint32_t group) {
    if (v != m->columns) return of_thread(n, 0, lane, group);
    uint32_t from = loop_matrix_alternate(n) ? 3 : 2;
    return (int32_t)loop_matrix_column(n, lane) + of_thread(n, from, 0, group);
}

// Which points a thread has besides: of its registers, from digit `from` on.
static offsets copies_of(planner *p, const plan_matrix *m, const loop_node *n, tensor_var v,
                         uint32_t from) {
    offsets all = {0};
    int32_t weight = 1, none = 0;
    VEC_PUSH(p->arena, &all, none);
    for (uint32_t i = 0; i < n->ndigits; i++) {
        const loop_digit *d = &n->digits[i];
        bool held = d->place == LOOP_REGISTER_PLACE || d->place == LOOP_VECTOR_PLACE,
             pair = v == m->columns && i == loop_matrix_pair(n);
        uint32_t len = all.len;
        for (uint32_t c = 1; held && !pair && i >= from && c < d->extent; c++)
            for (uint32_t k = 0; k < len; k++) {
                int32_t at = all.data[k] + (int32_t)c * weight;
                VEC_PUSH(p->arena, &all, at);
            }
        weight *= (int32_t)d->extent;
    }
    return all;
}

// Positions past the end are moved onto the last one. Tiles are counted that are full, if any is.
static int32_t last_of(const planner *p, const loop_node *n) {
    const tensor_space_info *s = &p->op->spaces.data[p->op->vars.data[n->var].space];
    uint32_t vector = loop_matrix_vector(n) ? n->digits[0].extent : 1;
    bool partial = s->kind == SPACE_CONST && s->size < loop_fetch_rows(n);
    return partial ? (int32_t)s->size - (int32_t)vector : INT32_MAX;
}

// ---- Reads --------------------------------------------------------------------------------------
// Neighbours that a thread has of a row, as one access where arrays are packed, which a guard of
// the version will ask for (base/guard.c), and where no round passes the row's end.
static uint32_t in_a_row(const planner *p, tensor_val v, const loop_node *columns) {
    tensor_val_info *i = &p->op->vals.data[v];
    const uint32_t facts = i->facts;
    int64_t row = p->op->spaces.data[i->axes[i->rank - 1]].size;
    if (p->facts->any_strides || v >= p->op->nparams || row % loop_digits_product(columns))
        return 0;
    i->facts = (facts & ~(uint32_t)FACT_STRIDED) | FACT_PACKED;
    uint32_t held = loop_in_a_row(p->op, v, columns);
    i->facts = facts;
    return held;
}

// Digits of the columns that one access has. *elements: so many.
static uint32_t one_access(const planner *p, const plan_matrix *m, const plan_tile_loops *t,
                           const loop_fetch *f, uint32_t element, uint32_t *elements) {
    const loop_node *n = t->columns;
    uint32_t digits = 0, most = ACCESS / element;
    *elements = 1;
    if (loop_matrix_vector(n)) {
        *elements = n->digits[0].extent;
        return 1;
    }
    if (t->of_columns == m->columns && !loop_matrix_alternate(n)) return 0;
    if (t->tile && !t->round) return 0;
    if (!t->tile) {
        uint32_t row = in_a_row(p, f->val, n);
        *elements = row ? row : 1;
        return row > 0;
    }
    for (; digits < n->ndigits && n->digits[digits].place == LOOP_REGISTER_PLACE &&
           *elements * n->digits[digits].extent <= most;
         digits++)
        *elements *= n->digits[digits].extent;
    if (!(*elements & (*elements - 1))) return digits;
    *elements = 1;
    return 0;
}

// They are loaded by matrices (lower/matrix/pieces.c).
static bool by_matrices(const planner *p, const plan_matrix *m, const plan_tile_loops *t,
                        const loop_fetch *f) {
    const bool second = t->of_rows == m->columns || t->of_columns == m->columns;
    const loop_node *outer = t->of_rows == m->depth ? t->columns : t->rows,
                    *depth = t->of_rows == m->depth ? t->rows : t->columns;
    ir_dtype type = p->op->vals.data[f->val].type;
    bool vectors = loop_matrix_vector(outer) || loop_matrix_vector(depth) ||
                   loop_matrix_run(depth, m->kind) || (second && loop_matrix_alternate(outer));
    return ir_dtype_is_narrow(type) && type == loop_matrix_type(m->kind) && !vectors &&
           (second ? simt_mma_table(m->kind)->warps == 1
                   : outer->digits[0].place == LOOP_LANE_PLACE);
}

static void put_parts(planner *p, requests *r, uint32_t bytes, uint32_t each) {
    for (int32_t at = 0; at < (int32_t)bytes; at += (int32_t)each)
        VEC_PUSH(p->arena, &r->parts, at);
}

// Eight lanes give the eight rows of a matrix. Matrices begin at any eighth row, and at any piece.
static void read_matrices(planner *p, const loop_tile *tile, requests *r) {
    const int32_t none = 0;
    r->bytes = ACCESS;
    for (int32_t lane = 0; lane < LANES; lane++) {
        place at = {lane % SIDE, 0};
        VEC_PUSH(p->arena, &r->lanes, at);
    }
    for (int32_t row = 0; row < (int32_t)tile->rows; row += SIDE) VEC_PUSH(p->arena, &r->rows, row);
    VEC_PUSH(p->arena, &r->columns, none);
    put_parts(p, r, tile->columns * r->element, ACCESS);
}

static void read_elements(planner *p, const loop_kernel *k, const plan_matrix *m,
                          const plan_tile_loops *t, const loop_fetch *f, const loop_tile *tile,
                          requests *r) {
    uint32_t elements, digits = one_access(p, m, t, f, r->element, &elements),
                       bytes = elements * r->element;
    r->bytes = bytes < ACCESS ? bytes : ACCESS;
    for (uint32_t i = 0; i < k->threads; i++) {
        uint32_t lane = i % k->lanes, group = i / k->lanes;
        place at = {position(m, t->rows, t->of_rows, lane, group),
                    position(m, t->columns, t->of_columns, lane, group)};
        VEC_PUSH(p->arena, &r->lanes, at);
    }
    if (t->tile && t->round) r->last.row = last_of(p, t->rows);
    else r->last.column = last_of(p, t->columns);
    r->rows = copies_of(p, m, t->rows, t->of_rows, 0);
    r->columns = copies_of(p, m, t->columns, t->of_columns, digits);
    // A row that lies there whole has parts, such as heads.
    const tensor_val_info *v = &p->op->vals.data[f->val];
    uint32_t row = tile->columns * r->element,
             part = t->tile ? row
                            : (uint32_t)p->op->spaces.data[v->axes[v->rank - 1]].size * r->element;
    for (uint32_t first = 0; first < row; first += part)
        for (uint32_t byte = first; byte < first + bytes; byte += r->bytes) {
            int32_t at = (int32_t)byte;
            VEC_PUSH(p->arena, &r->parts, at);
        }
}

// ---- Copies -------------------------------------------------------------------------------------
// Threads take neighbouring copies, row by row.
static void copy_rows(planner *p, const loop_tile *tile, requests *r) {
    const int32_t none = 0;
    uint32_t columns = tile->bytes / r->element, a_row = tile->columns / columns,
             all = a_row * tile->rows;
    r->bytes = tile->bytes;
    for (uint32_t i = 0; i < (all + LANES - 1) / LANES * LANES; i++) {
        place at = {i < all ? (int32_t)(i / a_row) : NOBODY, (int32_t)(i % a_row * columns)};
        VEC_PUSH(p->arena, &r->lanes, at);
    }
    VEC_PUSH(p->arena, &r->rows, none);
    VEC_PUSH(p->arena, &r->columns, none);
    VEC_PUSH(p->arena, &r->parts, none);
}

plan_banks *plan_banks_of(planner *p, const loop_kernel *k, const plan_matrix *m,
                          const plan_tile_loops *t, const loop_fetch *f, const loop_tile *tile) {
    struct plan_banks *b = ARENA_NEW(p->arena, struct plan_banks);
    const uint32_t element = (uint32_t)ir_dtype_bytes(p->op->vals.data[f->val].type);
    b->reads = b->copies = (requests){.element = element, .last = {INT32_MAX, INT32_MAX}};
    if (by_matrices(p, m, t, f)) read_matrices(p, tile, &b->reads);
    else read_elements(p, k, m, t, f, tile, &b->reads);
    copy_rows(p, tile, &b->copies);
    return b;
}

// ---- Counting -----------------------------------------------------------------------------------
// A bank gives one word at once, to all lanes that ask for it.
static uint32_t extra_of(const uint32_t *at, uint32_t n, uint32_t bytes) {
    uint32_t words[LANES * WORD], len = 0, most = 1, of_bank[BANKS] = {0};
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t byte = 0; byte < bytes; byte += WORD) {
            uint32_t word = (at[i] + byte) / WORD, k = 0;
            while (k < len && words[k] != word) k++;
            if (k < len) continue;
            words[len++] = word;
            uint32_t taken = ++of_bank[word % BANKS];
            most = taken > most ? taken : most;
        }
    return most - 1;
}

typedef struct {   // of a thread
    int32_t row, column, part;
} copy_at;

static uint32_t address(const requests *r, const loop_fetch *f, const place *x, copy_at c) {
    int32_t row = x->row + c.row, column = x->column + c.column;
    if (row > r->last.row) row = r->last.row;
    if (column > r->last.column) column = r->last.column;
    return loop_fetch_at(f, r->element, (uint32_t)row,
                         (uint32_t)(column * (int32_t)r->element + c.part));
}

// Lanes that have 8 or 16 bytes each are served by halves and quarters of a warp.
static uint32_t extra(const requests *r, const loop_fetch *f, uint32_t warp, copy_at c) {
    uint32_t served = r->bytes > 8 ? LANES / 4 : r->bytes > WORD ? LANES / 2 : LANES, extra = 0;
    for (uint32_t first = 0; first < LANES; first += served) {
        uint32_t at[LANES], n = 0;
        for (uint32_t i = first; i < first + served && warp * LANES + i < r->lanes.len; i++) {
            const place *x = &r->lanes.data[warp * LANES + i];
            if (x->row != NOBODY) at[n++] = address(r, f, x, c);
        }
        extra += extra_of(at, n, r->bytes);
    }
    return extra;
}

static uint32_t extra_of_warp(const requests *r, const loop_fetch *f, uint32_t warp) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < r->rows.len; i++)
        for (uint32_t k = 0; k < r->columns.len; k++)
            for (uint32_t h = 0; h < r->parts.len; h++) {
                copy_at c = {r->rows.data[i], r->columns.data[k], r->parts.data[h]};
                uint32_t n = extra(r, f, warp, c);
                most = n > most ? n : most;
            }
    return most;
}

static uint32_t extra_of_all(const requests *r, const loop_fetch *f) {
    uint32_t most = 0;
    for (uint32_t w = 0; w * LANES < r->lanes.len; w++) {
        uint32_t n = extra_of_warp(r, f, w);
        most = n > most ? n : most;
    }
    return most;
}

uint32_t plan_bank_conflicts(const plan_banks *b, const loop_fetch *f) {
    uint32_t reads = extra_of_all(&b->reads, f), copies = extra_of_all(&b->copies, f);
    return reads > copies ? reads : copies;
}

uint32_t plan_first_conflicts(const plan_banks *b, const loop_fetch *f) {
    uint32_t reads = extra(&b->reads, f, 0, (copy_at){0}),
             copies = extra(&b->copies, f, 0, (copy_at){0});
    return reads > copies ? reads : copies;
}
