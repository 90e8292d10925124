// Rows that a block copies into shared memory for the rounds of a loop, by asynchronous copies into
// a ring of buffers. The threads begin the copies of a round some rounds ahead. They read the rows
// of the round at hand, whose copies they have waited for. They meet at a barrier once a round,
// when all are through with the buffer that is filled next. Warps that have rows of their own copy
// them by themselves, and meet nobody.
//     for e … [lane 8 unit 4, register 2, serial] fetch 3 x[e] pitch 136 { … }
//  →  copy round 0; end; copy round 1; end
//     for i = 0 to rounds { wait 1; barrier; if i + 2 < rounds { copy round i + 2 }; end; … buffer i % 3 … }
// This is a ring of several stages, as in CUTLASS's multistage kernels and in Triton's.

#include "lower/copies/copies.h"

static simt_value i32(simt_builder *b, int64_t x) { return simt_build_int(b, SIMT_T(I32), x); }

static uint32_t row_copies(const kernel *k, const fetched_rows *f) {
    return f->tile.columns * lw_fetched_element_bytes(k, f->rows) / f->tile.bytes;
}

static uint32_t buffer_bytes(const kernel *k, const fetched_rows *f) {
    return f->tile.elements * lw_fetched_element_bytes(k, f->rows);
}

// ---- Who copies ---------------------------------------------------------------------------------
static bool has_tiles(const loop_node *n) {
    bool tiles = false;
    for (uint32_t i = 0; i < n->fetch.n; i++)
        tiles |= n->fetch.rows[i].beside != LOOP_NO_BESIDE && !n->fetch.rows[i].own;
    return tiles;
}

static bool has_panels(const loop_node *n) {
    bool panels = false;
    for (uint32_t i = 0; i < n->fetch.n; i++) panels |= n->fetch.rows[i].panels;
    return panels;
}

static bool has_parts(const kernel *k, const loop_node *n) {
    bool parts = false;
    for (uint32_t i = 0; i < n->fetch.n; i++)
        parts |= loop_fetch_parts(k->l->op, &n->fetch.rows[i]);
    return parts;
}

// How many of the fetched values come round by round. Those that are the block's own come last in
// the list.
static uint32_t each_round(const loop_node *n) {
    uint32_t fetched = n->fetch.n;
    while (fetched && n->fetch.rows[fetched - 1].own) fetched--;
    return fetched;
}

bool lw_fetches_own(const loop_node *n) { return each_round(n) < n->fetch.n; }

// Each group is a warp that reads the rows of its own digit alone, and those rows follow one
// another.
static bool by_warps(const kernel *k, const loop_node *n) {
    uint32_t d = n->ndigits;
    while (d && n->digits[d - 1].place == LOOP_SERIAL_PLACE) d--;
    const loop_digit *last = d ? &n->digits[d - 1] : NULL;
    return last && !has_tiles(n) && !has_panels(n) && k->plan->lanes == LOWER_WARP &&
           last->place == LOOP_GROUP_PLACE && last->unit <= 1 &&
           last->extent == k->plan->threads / LOWER_WARP;
}

bool lw_round_meets(const kernel *k, const loop_node *n) { return n->fetch.n && !by_warps(k, n); }

static void meet(kernel *k, simt_builder *b, const loop_node *n) {
    if (by_warps(k, n)) simt_build_op(b, SIMT_WARP_SYNC, NULL, 0, NULL, 0);
    else lw_barrier(b);
}

// ---- Copying ------------------------------------------------------------------------------------
typedef struct {   // positions that a buffer has along an axis
    tensor_var var;
    simt_value base, hi;
} side;

typedef struct filling {
    const fetched_rows *to;
    side row, column;   // base 0 of a column: the axis is there as a whole
    simt_value number,
        first;   // i32: the thread's number among those that copy; the first row that they copy
    uint32_t threads, rows;    // threads that copy; rows that they copy
    simt_value buffer;         // i32, bytes
    uint32_t a_row;            // copies of a row
    const simt_value *index;   // of axes that are the same for all rows; else 0
} filling;

static simt_value index_at(kernel *k, simt_builder *b, const filling *x, simt_value at) {
    lw_rebinding from = lw_rebind(k, x->row.var, at);
    simt_value index = lw_position(k, b, x->to->rows->index[x->to->tile.row_axis]).at;
    lw_restore(k, &from);
    return index;
}

static bool is_itself(const kernel *k, const fetched_rows *f) {
    return tensor_node_at(k->l->op, f->rows->index[f->tile.row_axis])->op == TENSOR_VAR_OP;
}

// The position of row + more of the buffer. there: the round has it. An index is read within the
// range.
static simt_value row_at(kernel *k, simt_builder *b, const filling *x, simt_value row,
                         uint32_t more, simt_value *there) {
    simt_value at = simt_build_with(
        b, SIMT_ADD, simt_build_binary(b, SIMT_ADD, x->row.base, lw_to_ix(k, b, row)), more);
    *there = simt_build_cmp(b, SIMT_LT, at, x->row.hi);
    return is_itself(k, x->to)
               ? at
               : simt_build_binary(b, SIMT_MIN, at, simt_build_with(b, SIMT_SUB, x->row.hi, 1));
}

// A pointer to an element of a row.
static simt_value source(kernel *k, simt_builder *b, const filling *x, simt_value row,
                         simt_value column) {
    const loop_fetch *f = x->to->rows;
    uint32_t rank = k->l->op->vals.data[f->val].rank;
    simt_value index[8];
    for (uint32_t i = 0; i + 1 < rank; i++)   // a row of several axes begins at the first of each
        index[i] = i == x->to->tile.row_axis ? row : i < f->nindex ? x->index[i] : lw_ix(k, b, 0);
    index[rank - 1] = column;
    return lw_address(k, b, f->val, index);
}

// Eight numbers that are taken apart lie where eight numbers of f16 will lie, four in each plane.
static simt_value in_panels(kernel *k, simt_builder *b, const filling *x, simt_value row,
                            simt_value part) {
    const fetched_rows *f = x->to;
    uint32_t row_bytes = buffer_bytes(k, f) / f->tile.rows;
    if (!loop_fetch_parts(k->l->op, f->rows)) return lw_in_panels(b, f, row_bytes, row, part);
    simt_value at = lw_in_panels(b, f, row_bytes / 2, row, simt_build_with(b, SIMT_UDIV, part, 2));
    return simt_build_binary(b, SIMT_ADD, at,
                             simt_build_with(b, SIMT_MUL, simt_build_with(b, SIMT_UREM, part, 2),
                                             buffer_bytes(k, f) / 2));
}

// The copy of a thread that has number `first` among all.
typedef struct {
    simt_value row, part;   // i32: row + more of the buffer; which copy of the row
    uint32_t more;
} copy_place;

static copy_place place_of(simt_builder *b, const filling *x, uint32_t first) {
    const loop_fetch *f = x->to->rows;
    bool rows = x->threads % x->a_row == 0;   // each thread has one part of several rows
    simt_value n = rows ? x->number : simt_build_with(b, SIMT_ADD, x->number, first),
               row = simt_build_with(b, SIMT_UDIV, n, x->a_row);
    copy_place c = {.part = simt_build_with(b, SIMT_UREM, n, x->a_row),
                    .more = rows ? first / x->a_row : 0};
    if (x->first) row = simt_build_binary(b, SIMT_ADD, x->first, row);
    uint32_t turn = f->panels      ? PANEL_TURN
                    : f->swizzle.n ? loop_swizzle_turn(&f->swizzle)
                                   : f->every;
    bool whole = f->panels && lw_panel_rows(x->to) < x->to->tile.rows;
    if ((turn && c.more % turn) || whole)
        row = simt_build_with(b, SIMT_ADD, row, c.more), c.more = 0;
    c.row = row;
    return c;
}

// Constants come last, so that addresses of a thread's copies differ by them. known: the row's
// index; 0: it is read.
static void copy_number(kernel *k, simt_builder *b, const filling *x, uint32_t first,
                        simt_value known) {
    const loop_fetch *f = x->to->rows;
    uint32_t bytes = lw_fetched_element_bytes(k, f), at_once = x->to->tile.bytes;
    copy_place c = place_of(b, x, first);
    int64_t pitch = f->panels ? SIMT_PANEL_ROW / bytes : f->pitch,
            later = ((int64_t)c.more * pitch + (f->every ? c.more / f->every * f->skew : 0)) *
                    bytes;
    simt_value there,
        at = row_at(k, b, x, c.row, c.more, &there),
        column = lw_to_ix(k, b, simt_build_with(b, SIMT_MUL, c.part, at_once / bytes));
    if (x->column.base) {
        column = simt_build_binary(b, SIMT_ADD, x->column.base, column);
        there = lw_both(b, there, simt_build_cmp(b, SIMT_LT, column, x->column.hi));
    }
    simt_value from = source(k, b, x, known ? known : index_at(k, b, x, at), column),
               offset = f->panels
                            ? in_panels(k, b, x, c.row, c.part)
                            : simt_build_binary(b, SIMT_ADD, lw_rows_apart(b, f, c.row, 0, bytes),
                                                simt_build_with(b, SIMT_MUL, c.part, at_once)),
               to = simt_build_addr(b, lw_shared(k, b, x->to->at), x->buffer, 1, 0);
    if (f->swizzle.n) offset = lw_swizzled(b, f, c.row, offset);
    simt_value args[] = {simt_build_addr(b, to, offset, 1, later), from, there};
    simt_instr copy = simt_build_op(b, SIMT_COPY, args, 3, NULL, 0);
    k->f->instrs.data[copy].imm.i = at_once;
}

// Copies of a thread. If there are fewer copies than threads, some threads have one.
static uint32_t shared_out(uint32_t copies, uint32_t threads) {
    return (copies + threads - 1) / threads;
}

static uint32_t copies_each(const filling *x) { return shared_out(x->rows * x->a_row, x->threads); }

static void copy_by_some(kernel *k, simt_builder *b, const filling *x, uint32_t first,
                         simt_value known) {
    uint32_t copies = x->rows * x->a_row;
    simt_builder then = *b;
    bool some = first + x->threads > copies;
    simt_value mine = some ? simt_build_cmp(b, SIMT_LT,
                                            simt_build_with(b, SIMT_ADD, x->number, first),
                                            i32(b, copies))
                           : 0;
    if (some) simt_build_if(b, mine, NULL, 0, &then, NULL);
    region_mark m = lw_enter(&k->known);
    copy_number(k, some ? &then : b, x, first, known);
    lw_leave(&k->known, m);
    if (some) simt_build_yield(&then, NULL, 0);
}

// known: the row index of each copy of the thread; NULL: they are read.
static void copy_rows(kernel *k, simt_builder *b, const filling *x, const simt_value *known) {
    for (uint32_t c = 0; c < copies_each(x); c++)
        copy_by_some(k, b, x, c * x->threads, known ? known[c] : 0);
}

// Indices of the axes that are the same for all rows.
static simt_value *same_index(kernel *k, simt_builder *b, const fetched_rows *f) {
    uint32_t rank = k->l->op->vals.data[f->rows->val].rank;
    simt_value *index = ARENA_ARRAY(k->l->arena, simt_value, rank);
    for (uint32_t i = 0; i + 1 < rank && i < f->rows->nindex; i++)
        if (i != f->tile.row_axis) index[i] = lw_position(k, b, f->rows->index[i]).at;
    return index;
}

// slot, i32: which of the buffers.
static filling filling_of(kernel *k, simt_builder *b, const loop_node *n, const fetched_rows *f,
                          simt_value base, simt_value hi, simt_value slot) {
    side round = {n->var, base, hi}, beside = {0};
    if (f->beside)
        beside = (side){f->beside->var, k->scope.var[f->beside->var].base,
                        k->scope.var[f->beside->var].end};
    bool own = f->rows->own;
    filling x = {.to = f,
                 .row = own || f->tile.along ? beside : round,
                 .column = own             ? (side){0}
                           : f->tile.along ? round
                                           : beside,
                 .number = k->thread.number,
                 .threads = k->plan->threads,
                 .rows = f->tile.rows,
                 .buffer = simt_build_with(b, SIMT_MUL, slot, buffer_bytes(k, f)),
                 .a_row = row_copies(k, f),
                 .index = same_index(k, b, f)};
    if (by_warps(k, n)) {
        x.rows /= x.threads / LOWER_WARP;
        x.threads = LOWER_WARP;
        x.number = k->thread.lane;
        x.first = simt_build_with(b, SIMT_MUL, k->thread.group, x.rows);
    }
    return x;
}

// ---- Indices before rows ------------------------------------------------------------------------
// A thread would wait for a row's index before it begins to copy the row, and everything after that
// would wait too. So it reads the indices a round before (lower/copies/round_ahead.c), and copies
// the rows at the end of the round.
static bool reads_early(const kernel *k, const loop_node *n, uint32_t first) {
    bool early = n->fetch.buffers > 1 || has_parts(k, n);
    for (uint32_t i = 0; i < each_round(n); i++) {
        const fetched_rows *f = &k->rounds.fetched.data[first + i];
        early = early && !f->beside && !is_itself(k, f);
    }
    return early;
}

// The rows have the indices of the value before, and their copies fall to threads in the same way.
static bool shares_indices(const kernel *k, uint32_t first, uint32_t i) {
    if (!i) return false;
    const fetched_rows *f = &k->rounds.fetched.data[first + i], *before = f - 1;
    return f->rows->index[0] == before->rows->index[0] && f->tile.rows == before->tile.rows &&
           row_copies(k, f) == row_copies(k, before);
}

// indices: of the rows of each value that does not share those of the value before; NULL: they are
// read.
static void fill(kernel *k, simt_builder *b, const loop_node *n, uint32_t first, simt_value base,
                 simt_value hi, simt_value slot, const simt_value *indices) {
    const simt_value *known = NULL;
    for (uint32_t i = 0; i < each_round(n); i++) {
        filling x = filling_of(k, b, n, &k->rounds.fetched.data[first + i], base, hi, slot);
        if (indices && !shares_indices(k, first, i)) known = indices, indices += copies_each(&x);
        copy_rows(k, b, &x, known);
    }
}

static void take_indices(kernel *k, simt_builder *b, const loop_node *n, uint32_t first,
                         simt_value base, simt_value hi, simt_value slot,
                         const simt_value *indices) {
    for (uint32_t i = 0; i < each_round(n); i++) {
        fetched_rows *f = &k->rounds.fetched.data[first + i];
        filling *x = ARENA_NEW(k->l->arena, filling);
        *x = filling_of(k, b, n, f, base, hi, slot);
        f->next = x;
        if (shares_indices(k, first, i)) f->next_rows = f[-1].next_rows;
        else f->next_rows = indices, indices += copies_each(x);
    }
}

// Past the last round nothing is read. Zeros are written to a buffer that nobody reads.
void lw_fetch_end(kernel *k, simt_builder *b, const loop_node *n) {
    bool any = false;
    for (uint32_t i = k->rounds.fetched.len - n->fetch.n; i < k->rounds.fetched.len; i++) {
        fetched_rows *f = &k->rounds.fetched.data[i];
        const filling *x = f->next;
        any |= x != NULL;
        for (uint32_t c = 0; x && c < copies_each(x); c++)
            copy_by_some(k, b, x, c * x->threads, f->next_rows[c]);
    }
    if (any) simt_build_op(b, SIMT_COPY_END, NULL, 0, NULL, 0);
}

// If there is a round at base.
static void fill_round(kernel *k, simt_builder *b, const loop_node *n, uint32_t first,
                       simt_value base, simt_value hi, simt_value slot, const simt_value *indices) {
    simt_builder then;
    simt_build_if(b, simt_build_cmp(b, SIMT_LT, base, hi), NULL, 0, &then, NULL);
    region_mark m = lw_enter(&k->known);
    fill(k, &then, n, first, base, hi, slot, indices);
    lw_leave(&k->known, m);
    simt_build_yield(&then, NULL, 0);
    simt_build_op(b, SIMT_COPY_END, NULL, 0, NULL, 0);
}

// ---- Rounds -------------------------------------------------------------------------------------
static bool goes_round(const loop_node *n) {
    bool rounds = n->rest == LOOP_SERIAL_PLACE;
    for (uint32_t i = 0; i < n->ndigits; i++)
        rounds |= n->digits[i].place == LOOP_SERIAL_PLACE ||
                  n->digits[i].place == LOOP_UNROLL_PLACE;
    return rounds;
}

// The loop may have run before, and some thread may still read its last rows.
static bool comes_again(const kernel *k) {
    bool again = k->plan->persistent > 0;
    for (uint32_t i = 0; i < k->scope.masks.len; i++)
        again |= goes_round(k->scope.masks.data[i].node);
    return again;
}

static const loop_node *loop_beside(const kernel *k, const loop_fetch *f) {
    for (uint32_t i = k->scope.masks.len; f->beside != LOOP_NO_BESIDE && i-- > 0;)
        if (k->scope.masks.data[i].node->var == f->beside) return k->scope.masks.data[i].node;
    return NULL;
}

// A loop that is met several times has the same buffers each time. Loops do not share buffers,
// because a thread may still read the last rows of another loop.
static uint32_t room_of(kernel *k, const loop_node *n, const fetched_rows *f) {
    for (uint32_t i = 0; i < k->shared.fetched.len; i++)
        if (k->shared.fetched.data[i].of == f->rows) return k->shared.fetched.data[i].at;
    uint32_t bytes = loop_fetch_room(k->l->op, n, f->rows, f->beside);
    fetched_room r = {f->rows, f->rows->panels ? lw_shared_take_at(k, bytes, SIMT_PANEL_ALIGN)
                                               : lw_shared_take(k, bytes)};
    VEC_PUSH(k->l->arena, &k->shared.fetched, r);
    return r.at;
}

static uint32_t begin(kernel *k, const loop_node *n) {
    uint32_t first = k->rounds.fetched.len;
    for (uint32_t i = 0; i < n->fetch.n; i++) {
        fetched_rows f = {
            .node = n, .rows = &n->fetch.rows[i], .beside = loop_beside(k, &n->fetch.rows[i])};
        f.tile = loop_fetch_tile(k->l->op, n, f.rows, f.beside);
        f.at = room_of(k, n, &f);
        VEC_PUSH(k->l->arena, &k->rounds.fetched, f);
    }
    return first;
}

// The fence is left out for rows that are taken apart first: another one comes after that.
static void wait(kernel *k, simt_builder *b, const loop_node *n, uint32_t groups) {
    simt_instr i = simt_build_op(b, SIMT_COPY_WAIT, NULL, 0, NULL, 0);
    k->f->instrs.data[i].imm.i = groups;
    if (has_panels(n) && !has_parts(k, n)) simt_build_op(b, SIMT_FENCE_MMA, NULL, 0, NULL, 0);
    meet(k, b, n);
}

// ---- Rows taken apart ---------------------------------------------------------------------------
static void set_buffer(kernel *k, simt_builder *b, const loop_node *n, fetched_rows *f,
                       simt_value slot) {
    f->buffer = simt_build_with(b, SIMT_MUL, slot, buffer_bytes(k, f));
    if (!loop_fetch_parts(k->l->op, f->rows)) return;
    f->factors = simt_build_with(
        b, SIMT_ADD,
        simt_build_with(b, SIMT_MUL, slot, (int64_t)f->tile.rows * (int64_t)sizeof(float)),
        (int64_t)loop_fetch_buffers(n, f->rows) * buffer_bytes(k, f));
}

static void take_apart(kernel *k, simt_builder *b, const loop_node *n, uint32_t first, bool own) {
    for (uint32_t i = 0; i < n->fetch.n; i++)
        if (n->fetch.rows[i].own == own && loop_fetch_parts(k->l->op, &n->fetch.rows[i]))
            lw_take_rows_apart(k, b, &k->rounds.fetched.data[first + i]);
}

// It is done once, while the rows of rounds are under way: so many groups of copies.
static void take_own_apart(kernel *k, simt_builder *b, const loop_node *n, uint32_t first,
                           uint32_t groups) {
    if (!lw_fetches_own(n) || !has_parts(k, n)) return;
    wait(k, b, n, groups);
    for (uint32_t i = each_round(n); i < n->fetch.n; i++)
        set_buffer(k, b, n, &k->rounds.fetched.data[first + i], i32(b, 0));
    take_apart(k, b, n, first, true);
}

// ---- Late rounds --------------------------------------------------------------------------------
static const loop_node *group_in(const loop_body *body) {
    const loop_node *found = NULL;
    for (uint32_t i = 0; i < body->len && !found; i++) {
        const loop_node *n = body->data[i];
        bool group = n->kind == LOOP_REDUCE && n->reduce.matrix &&
                     simt_mma_table(n->reduce.matrix->kind)->warps > 1;
        found = group ? n : group_in(&n->body);
    }
    return found;
}

// How often the expression loads the value. An expression that is met twice counts twice.
// How often it stands there; 2 is more than once.
static uint32_t loads_of(const tensor_op *op, tensor_expr e, tensor_val val) {
    if (!tensor_loads(op, e, val)) return 0;
    const tensor_node *n = tensor_node_at(op, e);
    uint32_t loads = n->op == TENSOR_LOAD_OP && (tensor_val)n->imm.i == val;
    for (uint32_t i = 0; i < n->nargs && loads < 2; i++) loads += loads_of(op, n->args[i], val);
    return loads;
}

static uint32_t loads_of_all(const tensor_op *op, const tensor_expr *e, uint32_t n,
                             tensor_val val) {
    uint32_t loads = 0;
    for (uint32_t i = 0; i < n; i++) loads += loads_of(op, e[i], val);
    return loads;
}

static uint32_t loads_of_op(const tensor_op *op, tensor_val val) {
    uint32_t loads = 0;
    for (uint32_t s = 0; s < op->stages.len; s++) {
        const tensor_stage *st = &op->stages.data[s];
        loads += loads_of_all(op, st->body, st->nbody, val) +
                 loads_of_all(op, st->filters, st->nfilters, val) +
                 loads_of_all(op, st->orelse, st->nelse, val);
        for (uint32_t i = 0; i < st->nkeys; i++)
            loads += loads_of(op, st->keys[i].lhs, val) + loads_of(op, st->keys[i].rhs, val);
        for (uint32_t t = 0; t < st->ntargets; t++)
            loads += loads_of_all(op, st->targets[t].index, st->targets[t].rank, val);
    }
    return loads;
}

// There is one buffer, and its rows are read by the first factor of a matrix operation of several
// warps alone. They are in registers when the operation begins, so the rows of the next round are
// copied during it.
static bool comes_late(const kernel *k, const loop_node *n) {
    const tensor_op *op = k->l->op;
    const loop_node *group = n->fetch.buffers == 1 ? group_in(&n->body) : NULL;
    bool late = group != NULL && !has_tiles(n) && each_round(n) == n->fetch.n;
    for (uint32_t i = 0; late && i < n->fetch.n; i++) {
        const tensor_node *product = tensor_node_at(op, op->stages.data[group->stages[0]].body[0]);
        tensor_val val = n->fetch.rows[i].val;
        late = loads_of(op, product->args[0], val) == 1 && loads_of_op(op, val) == 1;
    }
    return late;
}

void lw_fetch_next(kernel *k, simt_builder *b, tensor_expr by) {
    for (uint32_t i = 0; i < k->rounds.fetched.len; i++) {
        fetched_rows *f = &k->rounds.fetched.data[i];
        const loop_node *n = f->node;
        if (!f->base || !loads_of(k->l->op, by, f->rows->val)) continue;
        meet(k, b, n);
        fill_round(k, b, n, i, simt_build_with(b, SIMT_ADD, f->base, loop_fetch_rows(n)), f->hi,
                   i32(b, 0), NULL);
        for (uint32_t j = i; j < i + n->fetch.n; j++) k->rounds.fetched.data[j].base = 0;
    }
}

void lw_fetch_first(kernel *k, simt_builder *b, const loop_node *n, simt_value base, simt_value hi,
                    const simt_value *indices) {
    uint32_t first = begin(k, n), each = indices ? lw_fetch_index_count(k, n) : 0;
    if (comes_again(k)) meet(k, b, n);
    for (uint32_t i = each_round(n); i < n->fetch.n; i++) {   // they come with the first round
        filling x = filling_of(k, b, n, &k->rounds.fetched.data[first + i], base, hi, i32(b, 0));
        copy_rows(k, b, &x, NULL);
    }
    // The copies are a group of their own, because there may be no round.
    if ((n->fetch.buffers == 1 || has_parts(k, n)) && lw_fetches_own(n))
        simt_build_op(b, SIMT_COPY_END, NULL, 0, NULL, 0);
    for (uint32_t i = 0; i + 1 < n->fetch.buffers || (!i && comes_late(k, n)); i++)
        fill_round(k, b, n, first,
                   simt_build_with(b, SIMT_ADD, base, (int64_t)i * loop_fetch_rows(n)), hi,
                   i32(b, i), indices ? &indices[i * each] : NULL);
    take_own_apart(k, b, n, first, n->fetch.buffers - 1);
    k->rounds.fetched.len = first;
}

// The next buffer in the ring, or the one before.
simt_value lw_buffer_beside(simt_builder *b, const loop_node *n, simt_value slot, bool after) {
    uint32_t last = n->fetch.buffers - 1;
    simt_value ends = simt_build_cmp(b, SIMT_EQ, slot, i32(b, after ? last : 0));
    return simt_build_select(b, ends, i32(b, after ? 0 : last),
                             simt_build_with(b, SIMT_ADD, slot, after ? 1 : -1));
}

void lw_fetch_round(kernel *k, simt_builder *b, const loop_node *n, simt_value base,
                    simt_value slot, simt_value next, simt_value hi, const simt_value *indices) {
    uint32_t first = begin(k, n), ahead = n->fetch.buffers - 1;
    bool late = comes_late(k, n);
    if (late) wait(k, b, n, 0);
    else if (!ahead) meet(k, b, n);
    else wait(k, b, n, ahead - 1);
    simt_value further = simt_build_with(b, SIMT_ADD, base, (int64_t)ahead * loop_fetch_rows(n));
    if (indices && ahead) take_indices(k, b, n, first, further, hi, next, indices);
    else if (!late) fill_round(k, b, n, first, further, hi, next, indices);
    if (!late && !ahead) wait(k, b, n, 0);
    for (uint32_t i = 0; late && i < n->fetch.n; i++)
        k->rounds.fetched.data[first + i].base = base, k->rounds.fetched.data[first + i].hi = hi;
    for (uint32_t i = 0; i < n->fetch.n; i++)
        set_buffer(k, b, n, &k->rounds.fetched.data[first + i],
                   n->fetch.rows[i].own ? i32(b, 0) : slot);
    if (!has_parts(k, n)) return;
    take_apart(k, b, n, first, false);
    simt_build_op(b, SIMT_FENCE_MMA, NULL, 0, NULL, 0);
    meet(k, b, n);
}

uint32_t lw_fetch_index_count(kernel *k, const loop_node *n) {
    uint32_t first = begin(k, n), count = 0;
    for (uint32_t i = 0; i < each_round(n) && reads_early(k, n, first); i++) {
        const fetched_rows *f = &k->rounds.fetched.data[first + i];
        if (!shares_indices(k, first, i))
            count += shared_out(f->tile.rows * row_copies(k, f), k->plan->threads);
    }
    k->rounds.fetched.len = first;
    return count;
}

void lw_fetch_indices(kernel *k, simt_builder *b, const loop_node *n, simt_value base,
                      simt_value hi, simt_value *out) {
    uint32_t first = begin(k, n);
    for (uint32_t i = 0; i < each_round(n); i++) {
        filling x = filling_of(k, b, n, &k->rounds.fetched.data[first + i], base, hi, i32(b, 0));
        for (uint32_t c = 0; c < copies_each(&x) && !shares_indices(k, first, i); c++) {
            copy_place place = place_of(b, &x, c * x.threads);
            simt_value there;
            *out++ = index_at(k, b, &x, row_at(k, b, &x, place.row, place.more, &there));
        }
    }
    k->rounds.fetched.len = first;
}

// Copies past the last round must end before anything else fills their buffers.
void lw_fetch_last(simt_builder *b) { simt_build_op(b, SIMT_COPY_WAIT, NULL, 0, NULL, 0); }
