// Matrix operations: what the lanes hold is put together, multiplied, and dealt out again
// (ir/mma.def); of several warps, each does its part when it comes, as they meet in nothing but
// what they read. The products of an element are added to it one by one, in order along k, each
// exact and each sum rounded once to f32.
#include "steps.h"
#include "numbers.h"

enum { MOST_M = 16, MOST_N = 8, MOST_K = 16 };
typedef struct {
    float a[MOST_M][MOST_K], b[MOST_K][MOST_N], d[MOST_M][MOST_N];
    bool undefined[MOST_M][MOST_N];
} matrices;

// Of tf32 the operation reads the upper 19 bits.
static float element_of(simt_element e, const void *at, uint32_t i) {
    if (e == SIMT_F16) return sim_widen_f16(((const sim_f16 *)at)[i]);
    if (e == SIMT_BF16) return sim_widen_bf16(((const sim_bf16 *)at)[i]);
    return sim_float32(((const uint32_t *)at)[i] & ~UINT32_C(0x1fff));
}

// Per operand, what lanes hold of it, or NULL, where it is as it is; and the lanes whose elements
// are not.
typedef struct {
    const void *held[3];
    const uint32_t *undefined[3];
} operands;

static void gather(const operands *o, simt_mma kind, matrices *x) {
    const simt_mma_info *m = simt_mma_table(kind);
    simt_element e = (simt_element)m->element;
    const float *addend = o->held[SIMT_MMA_C];
    for (uint32_t i = 0; i < m->held[SIMT_MMA_A] * SIM_LANES; i++) {
        simt_mma_place p = simt_mma_at(kind, SIMT_MMA_A, i % SIM_LANES, i / SIM_LANES);
        x->a[p.row][p.column] = element_of(e, o->held[SIMT_MMA_A], i);
    }
    for (uint32_t i = 0; i < m->held[SIMT_MMA_B] * SIM_LANES; i++) {
        simt_mma_place p = simt_mma_at(kind, SIMT_MMA_B, i % SIM_LANES, i / SIM_LANES);
        x->b[p.row][p.column] = element_of(e, o->held[SIMT_MMA_B], i);
    }
    for (uint32_t i = 0; addend && i < m->held[SIMT_MMA_C] * SIM_LANES; i++) {
        simt_mma_place p = simt_mma_at(kind, SIMT_MMA_C, i % SIM_LANES, i / SIM_LANES);
        x->d[p.row][p.column] = addend[i];
    }
}

SIM_FAST static void multiply(const simt_mma_info *m, matrices *x) {
    for (uint32_t k = 0; k < m->k; k++)
        for (uint32_t i = 0; i < m->m; i++)
            for (uint32_t j = 0; j < MOST_N; j++)
                x->d[i][j] = fmaf(x->a[i][k], x->b[k][j], x->d[i][j]);
}

// An element that nobody wrote reaches all elements of its row of A, all of its column of B.
static void spread_undefined(const operands *x, simt_mma kind, matrices *y) {
    const simt_mma_info *m = simt_mma_table(kind);
    for (uint32_t o = SIMT_MMA_A; o <= SIMT_MMA_C; o++) {
        const uint32_t *undefined = x->undefined[o];
        for (uint32_t i = 0; undefined && i < m->held[o] * SIM_LANES; i++) {
            if (!sim_lane(undefined[i / SIM_LANES], i % SIM_LANES)) continue;
            simt_mma_place p = simt_mma_at(kind, (simt_mma_operand)o, i % SIM_LANES, i / SIM_LANES);
            for (uint32_t row = 0; row < m->m; row++)
                for (uint32_t column = 0; column < m->n; column++)
                    y->undefined[row][column] |= (o == SIMT_MMA_B || row == p.row) &&
                                                 (o == SIMT_MMA_A || column == p.column);
        }
    }
}

static void deal_out(sim_warp *w, simt_mma kind, const matrices *x, sim_place to) {
    simt_type t = simt_mma_type(kind, SIMT_MMA_C);
    float *r = sim_at(w, to);
    uint32_t *undefined = sim_undefined(w, to, t);
    memset(undefined, 0, 4u * t.lanes);
    for (uint32_t i = 0; i < t.lanes * SIM_LANES; i++) {
        simt_mma_place p = simt_mma_at(kind, SIMT_MMA_C, i % SIM_LANES, i / SIM_LANES);
        r[i] = x->d[p.row][p.column];
        undefined[i / SIM_LANES] |= (uint32_t)x->undefined[p.row][p.column] << i % SIM_LANES;
    }
}

static void hold(sim_warp *w, simt_mma kind, simt_mma_operand o, sim_place at, operands *x) {
    x->held[o] = sim_at(w, at);
    x->undefined[o] = sim_undefined(w, at, simt_mma_type(kind, o));
}

void sim_mma(sim_warp *w, const sim_code *c) {
    simt_mma kind = (simt_mma)c->func->instrs.data[c->instr].aux;
    matrices x = {0};
    operands o = {0};
    sim_need_whole_warp(w, c);
    hold(w, kind, SIMT_MMA_A, c->a, &o);
    hold(w, kind, SIMT_MMA_B, c->b, &o);
    hold(w, kind, SIMT_MMA_C, c->c, &o);
    gather(&o, kind, &x);
    multiply(simt_mma_table(kind), &x);
    spread_undefined(&o, kind, &x);
    deal_out(w, kind, &x, c->r);
}

// ---- Loading pieces -----------------------------------------------------------------------------
// Rows that lanes gave the addresses of, in their order.
typedef struct {
    uint16_t at[SIM_LANES][SIM_MATRIX];
    bool undefined[SIM_LANES][SIM_MATRIX];
} matrix_rows;

static void read_rows(sim_warp *w, const sim_code *c, sim_mask lanes, matrix_rows *x) {
    const uint64_t *pointers = sim_at(w, c->a);
    sim_mask bad = *sim_undefined(w, c->a, SIMT_T(PTR_SHARED)) & lanes;
    if (bad) sim_fault_at(w, c, E0722, bad, 0, "an address comes from memory that nobody wrote");
    for (uint32_t i = 0; i < SIM_LANES; i++) {
        size_t at;
        const sim_buffer *b = sim_lane(lanes & ~bad, i)
                                  ? sim_reach(w, c, false, sizeof x->at[i], i, pointers[i], &at)
                                  : NULL;
        if (b) memcpy(x->at[i], b->data + at, sizeof x->at[i]);
        for (uint32_t k = 0; b && k < SIM_MATRIX; k++)
            x->undefined[i][k] = b->defined && memchr(b->defined + at + 2 * k, 0, 2);
    }
}

// A lane's element of a matrix, in its pair: of a row or, transposed, of a column.
void sim_ldmatrix(sim_warp *w, const sim_code *c) {
    bool transposed = c->func->instrs.data[c->instr].op == SIMT_LDMATRIX_TRANS;
    uint16_t *r = sim_at(w, c->r);
    uint32_t *undefined = sim_undefined(w, c->r, c->to);
    matrix_rows x = {0};
    sim_need_whole_warp(w, c);
    read_rows(w, c, w->mask & sim_matrix_lanes(c->to), &x);
    memset(undefined, 0, 4u * c->to.lanes);
    for (uint32_t i = 0; i < c->to.lanes * SIM_LANES; i++) {
        uint32_t element = i / SIM_LANES, lane = i % SIM_LANES, along = lane / 4,
                 pair = 2 * (lane % 4) + element % 2, first = element / 2 * SIM_MATRIX,
                 row = first + (transposed ? pair : along), column = transposed ? along : pair;
        r[i] = x.at[row][column];
        undefined[element] |= (uint32_t)x.undefined[row][column] << lane;
    }
}

// ---- Of several warps ---------------------------------------------------------------------------
enum {
    UNFENCED_WARP = 26
};   // a word's number: the warp that wrote it, and how many fences it had passed, + 1

void sim_wrote_shared(sim_warp *w, size_t offset, uint32_t bytes) {
    const sim_buffer *b = &w->block->sim->buffers.data[SIM_SHARED];
    for (size_t at = offset / 4; b->unfenced && at * 4 < offset + bytes; at++)
        b->unfenced[at] = w->number << UNFENCED_WARP | (w->fences + 1);
}

void sim_fence_mma(sim_warp *w, const sim_code *c) { (void)c, w->fences++; }

static bool is_fenced(const sim_warp *w, const sim_buffer *b, size_t at) {
    uint32_t wrote = b->unfenced[at / 4], before = wrote & ((UINT32_C(1) << UNFENCED_WARP) - 1);
    return !wrote || w->block->warps[wrote >> UNFENCED_WARP].fences >= before;
}

// A piece of B, as a warp would hold it, of which each lane reads its own words.
typedef struct {
    uint32_t words[16][SIM_LANES], undefined[16];
} piece_of_b;

static const sim_buffer *fenced(sim_warp *w, const sim_code *c, uint32_t lane, uint64_t pointer,
                                uint32_t bytes, size_t *at) {
    const sim_buffer *b = sim_reach(w, c, false, bytes, lane, pointer, at);
    if (b && !is_fenced(w, b, *at))
        sim_fault_at(w, c, E0733, UINT32_C(1) << lane, 0,
                     "reads shared memory + %zu, and who wrote it has passed no 'fence.mma' since",
                     *at);
    return b;
}

static void read_piece(sim_warp *w, const sim_code *c, simt_mma kind, uint64_t pointer,
                       piece_of_b *x) {
    const simt_mma_info *m = simt_mma_table(kind);
    uint32_t per_word = 32 / simt_element_bits(m->element), words = m->held[SIMT_MMA_B] / per_word;
    for (uint32_t i = 0; i < words * SIM_LANES; i++) {
        uint32_t lane = i % SIM_LANES, word = 0;
        size_t at;
        const sim_buffer *b = fenced(w, c, lane, pointer + 4ull * i, 4, &at);
        if (b) memcpy(&word, b->data + at, 4);
        bool bad = !b || (b->defined && memchr(b->defined + at, 0, 4));
        for (uint32_t k = 0; k < per_word; k++) {
            uint32_t element = i / SIM_LANES * per_word + k;
            uint16_t half = (uint16_t)(word >> 16 * k);
            if (per_word == 1) x->words[element][lane] = word;
            else
                memcpy((uint16_t *)(void *)x->words + element * SIM_LANES + lane, &half,
                       sizeof half);
            x->undefined[element] |= (uint32_t)bad << lane;
        }
    }
}

// Likewise, from rows in panels.
static void read_rows_piece(sim_warp *w, const sim_code *c, simt_mma kind, uint64_t from,
                            uint32_t step, uint32_t piece, piece_of_b *x) {
    const simt_instr_info *in = &c->func->instrs.data[c->instr];
    const simt_mma_info *m = simt_mma_table(kind);
    uint32_t bytes = simt_element_bits(m->element) / 8;
    bool transposed = in->op == SIMT_MMA_ROWS_TRANS;
    for (uint32_t i = 0; i < m->held[SIMT_MMA_B] * SIM_LANES; i++) {
        uint32_t lane = i % SIM_LANES, element = i / SIM_LANES;
        simt_mma_place p = simt_mma_at(kind, SIMT_MMA_B, lane, element);
        uint32_t depth = step * m->k + p.row, column = piece * m->n + p.column,
                 row = transposed ? depth : column, byte = (transposed ? column : depth) * bytes;
        size_t at;
        const sim_buffer *b = fenced(w, c, lane, from + simt_mma_row_at(in->mem.scale, row, byte),
                                     bytes, &at);
        if (b)
            memcpy((uint8_t *)x->words + (size_t)(element * SIM_LANES + lane) * bytes, b->data + at,
                   bytes);
        x->undefined[element] |= (uint32_t)(!b || (b->defined && memchr(b->defined + at, 0, bytes)))
                                 << lane;
    }
}

// What the warp has of A, whose rows lie so for the four: by lanes, as it would hold it.
typedef struct {
    uint16_t halves[16][SIM_LANES];
    uint32_t undefined[16];
} piece_of_a;

static void read_rows_of_a(sim_warp *w, const sim_code *c, simt_mma kind, uint64_t from,
                           uint32_t step, piece_of_a *x) {
    const simt_mma_info *m = simt_mma_table(kind);
    uint32_t first = w->number % m->warps * m->m;
    for (uint32_t i = 0; i < m->held[SIMT_MMA_A] * SIM_LANES; i++) {
        uint32_t lane = i % SIM_LANES, element = i / SIM_LANES, bytes = sizeof x->halves[0][0];
        simt_mma_place p = simt_mma_at(kind, SIMT_MMA_A, lane, element);
        size_t at;
        const sim_buffer *b = fenced(w, c, lane,
                                     from + simt_mma_row_at(SIMT_GROUP_ROWS, first + p.row,
                                                            (step * m->k + p.column) * bytes),
                                     bytes, &at);
        if (b) memcpy(&x->halves[element][lane], b->data + at, bytes);
        x->undefined[element] |= (uint32_t)(!b || (b->defined && memchr(b->defined + at, 0, bytes)))
                                 << lane;
    }
}

static void need_panels(sim_warp *w, const sim_code *c, uint64_t from) {
    size_t at;
    const sim_buffer *b = sim_reach(w, c, false, 1, 0, from, &at);
    if (b && at % SIMT_PANEL_ALIGN)
        sim_fault_at(w, c, E0721, w->mask, 0,
                     "panels begin at shared memory + %zu, which is no multiple of %d", at,
                     SIMT_PANEL_ALIGN);
}

static uint64_t group_operand(sim_warp *w, const sim_code *c, sim_place at, bool panels) {
    uint64_t from = *(const uint64_t *)sim_at(w, at);
    sim_need_whole_warp(w, c);
    if (*sim_undefined(w, at, SIMT_T(PTR_SHARED)))
        sim_fault_at(w, c, E0722, w->mask, 0, "an address comes from memory that nobody wrote");
    if (panels) need_panels(w, c, from);
    return from;
}

typedef struct {
    uint64_t b[2], a[2];   // of each plane; a: where it is in shared memory
    simt_mma by;
    uint32_t steps, planes, factors;
    bool rows, both;
} group_product;

static group_product group_of(sim_warp *w, const sim_code *c) {
    const simt_instr_info *i = &c->func->instrs.data[c->instr];
    group_product g = {.by = (simt_mma)simt_mma_table((simt_mma)i->aux)->by,
                       .steps = (uint32_t)i->imm.i,
                       .planes = simt_group_planes(i),
                       .factors = simt_group_factors(i),
                       .rows = i->op != SIMT_MMA_GROUP,
                       .both = i->op == SIMT_MMA_ROWS_BOTH};
    for (uint32_t k = 0; k < simt_group_pointers(i); k++) {
        uint64_t from = group_operand(w, c, c->places[i->args[k]], g.rows);
        if (k < g.planes) g.b[k] = from;
        else g.a[k - g.planes] = from;
    }
    return g;
}

// A step of a piece: of plane x of A and y of B.
static void add_step(sim_warp *w, const sim_code *c, const group_product *g, uint32_t x, uint32_t y,
                     uint32_t step, uint32_t piece, bool first, matrices *sum) {
    const simt_instr_info *i = &c->func->instrs.data[c->instr];
    uint32_t pieces = simt_group_pieces(i), result = (x || y ? pieces : 0) + piece;
    operands o = {0};
    piece_of_b b = {0};
    piece_of_a a = {0};
    if (g->rows) read_rows_piece(w, c, g->by, g->b[y], step, piece, &b);
    else
        read_piece(w, c, g->by,
                   g->b[y] + (uint64_t)(step * pieces + piece) * simt_mma_piece_bytes(g->by), &b);
    o.held[SIMT_MMA_B] = b.words;
    o.undefined[SIMT_MMA_B] = b.undefined;
    if (g->both) {
        read_rows_of_a(w, c, g->by, g->a[x], step, &a);
        o.held[SIMT_MMA_A] = a.halves;
        o.undefined[SIMT_MMA_A] = a.undefined;
    } else hold(w, g->by, SIMT_MMA_A, c->places[i->args[g->planes + x * g->steps + step]], &o);
    if (first && i->nargs > g->factors)
        hold(w, g->by, SIMT_MMA_C, c->places[i->args[g->factors + result]], &o);
    gather(&o, g->by, sum);
    multiply(simt_mma_table(g->by), sum);
    spread_undefined(&o, g->by, sum);
}

static void multiply_piece(sim_warp *w, const sim_code *c, const group_product *g, uint32_t piece) {
    const simt_instr_info *i = &c->func->instrs.data[c->instr];
    matrices near = {0}, rests = {0};
    for (uint32_t s = 0; s < g->steps; s++) add_step(w, c, g, 0, 0, s, piece, !s, &near);
    deal_out(w, g->by, &near, c->places[i->results[piece]]);
    if (g->planes == 1) return;
    for (uint32_t s = 0; s < g->steps; s++) add_step(w, c, g, 1, 0, s, piece, !s, &rests);
    for (uint32_t s = 0; s < g->steps; s++) add_step(w, c, g, 0, 1, s, piece, false, &rests);
    deal_out(w, g->by, &rests, c->places[i->results[simt_group_pieces(i) + piece]]);
}

// Of numbers taken apart, without the product of what is left of both.
void sim_mma_group(sim_warp *w, const sim_code *c) {
    const group_product g = group_of(w, c);
    for (uint32_t p = 0; p < simt_group_pieces(&c->func->instrs.data[c->instr]); p++)
        multiply_piece(w, c, &g, p);
}
