// Walks of windows by default (axes/window_walk.c): where sixteen rows share most of their columns,
// tensor cores take them together, and what a cell has no edge for costs less than what each edge
// alone would. Of walks whose deepest sums are of what a second map says, in 16 bits, and whose
// scores are dot products of rows and of that.
//     y: { window v 16 by src 16;  groups v 2;  vector d 8;  registers d 4;  mma e f16; }
//     s.sum: mma d f16
#include "default/ask/ask.h"
#include "default/cells/cells.h"
#include "default/matrix/contraction.h"
#include "default/walks/walks.h"
#include "default/walks/windows.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"

// Measured on H100 and H200, over batches of graphs of 119 and 128 nodes (bench/RECORD.md).
enum {
    ROWS = DEFAULT_WINDOW,
    PIECE = 8,          // columns of a matrix operation
    DEPTH = 16,         // of one
    LANES = 4,          // that share a row, and its depth
    LEAST = 32,         // columns of a sum: with fewer, what cells hold costs more than products
    LEAST_DOTS = 16,    // where scores are products, too
    WIDE = 64,          // from which on it costs little
    HEADS_WIDE = 80,    // numbers of a row that a warp has of several heads
    ALONE_WIDE = 32,    // features of one head up to which a row is read as a matrix
    COPIED = 8,         // bytes of a copy, at least
    WIDEST = 256,       // of all heads that come together, too
    MOST_HELD = 192,    // registers of a thread for rows and sums of one head
    WORDS_HELD = 128,   // likewise, of f32, whose operands are taken apart
    // of a part of a row's columns, of sums: with more, walking edges takes as long
    WORDS_JOINED = 96,
    MOST_PARTS = 4,    // of a row's columns, a warp each, which all have its scores
    JOINED = 2,        // or add those up
    PANEL = 64,        // numbers of 16 bits that operations of four warps read at once
    FOUR_HELD = 192,   // of the walks of a gradient by those: registers of a thread for sums
    WARPS = 2,         // of a block: windows
    SHARING = 4,       // warps of one window
    HEAD_WARPS = 4,    // that have heads of their own
    MOST_HEAD_WARPS = 8,
    BUFFERS = 3,       // of rows they share
    FEW_BUFFERS = 2,   // of wide ones of f32
    MOST_HEADS = 4     // of a row at once
};

// From which share of cells in use on windows are faster than walks of edges, in thousandths:
// measured on an H200 over batches of graphs of 128 nodes, of which 0.08, 0.10, 0.14 and 0.25 are
// in use, and 0.43 of pattern1024. What a cell costs is per head, what an edge costs is by all
// features; of one product, as the weights of GAT are summed by, edges cost little.
static const struct {
    int64_t width;          // numbers of a head, at least
    int64_t one, several;   // products of a walk, those of scores counted
} densities[] = {{128, 150, 90}, {64, 180, 90}, {32, 250, 120}, {0, 350, 170}};

// ---- Whether it fits ----------------------------------------------------------------------------
static int64_t heads_of(const windows *x) {
    const tensor_stage *deepest = plan_deepest(x->w->p, &x->of->sums);
    uint32_t level = x->products ? x->depth - 1 : x->depth;
    if (level > 2 || deepest->nleft != x->depth) return 0;
    return level == 2 ? default_extent(x->w->p, deepest->left[1]) : 1;
}

// numbers of a row of one head
static int64_t width_of(const windows *x) { return x->products ? x->columns : x->dots; }

static int64_t up_to(int64_t n, int64_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

// Widths that pieces do not divide: past the last number of a row there are zeros.
static bool is_odd(const windows *x) { return x->columns % PIECE || x->dots % DEPTH; }

// Heads of a row that a warp has at once: about as many numbers as of one head, of all that it
// sums.
static int64_t heads_of_warp(const windows *x) {
    int64_t sums = x->products ? x->products : x->of->sums.len,
            heads = HEADS_WIDE / up_to(width_of(x), PIECE) / sums;
    while (heads > 1 && x->heads % heads) heads--;
    return heads > 1 ? heads : 1;
}

// All heads at once: rows are copied whole.
static bool are_heads_shared(const windows *x) {
    int64_t width = width_of(x), warps = x->bounded ? HEAD_WARPS : MOST_HEAD_WARPS;
    return width && (!x->dots || x->dots == width) && width <= WIDE && width >= DEPTH &&
           x->heads * width <= WIDEST && x->heads <= warps * heads_of_warp(x);
}

// Rows that warps of a block share, copied while they are at work.
static bool are_shared(const windows *x) {
    if (x->heads > 1) return are_heads_shared(x);
    int64_t least = x->apart ? DEPTH : LEAST;
    return (!x->products || x->columns >= least) && (!x->dots || x->dots >= least);
}

// Found on the run, of which cells are relative to it.
static bool has_maximum(const windows *x) {
    bool any = false;
    for (uint32_t i = 0; i < x->of->sums.len; i++)
        any |= x->w->p->op->reducers.data[window_stage(x->w, x->of->sums.data[i])->reducer].kind ==
               REDUCE_MAX;
    return any;
}

// Gradients of attention, whose cells are rounded to the 16 bits that the results have.
static bool is_rounded(const windows *x) {
    return ir_dtype_is_narrow(x->type) && x->scores && !x->bounded && !has_maximum(x);
}

// registers
static int64_t words_of_rows(const windows *x) {
    return x->scores * x->dots / (x->type == DT_F32 ? 2 : 4);
}
static int64_t words_of_sums(const windows *x) { return x->products * x->columns / 2; }

// Whether four warps may multiply what a window's slots read at once, by numbers of 16 bits.
static bool multiply_by_four(const windows *x) {
    bool bits = ir_dtype_is_narrow(x->type) && (x->bounded || is_rounded(x));
    return bits && x->products && x->columns % PANEL == 0 && (!x->dots || x->dots == x->columns) &&
           (x->scores < 2 || words_of_sums(x) <= FOUR_HELD) &&
           default_group_operation(x->w->p, ir_dtype_text(x->type));
}

// Windows of graphs of few nodes have few slots of each, which both cost more.
static bool differ(const windows *x) {
    making *m = x->w->m;
    m->dense.longer |= m->rows == ROWS_WALKED_WINDOWS_LONG;
    return m->rows == ROWS_WALKED_WINDOWS_LONG;
}

// Heads in blocks of their own: a thread has so little that rounds are of 32 slots, and windows of
// the rows of four warps, or so much that it has no room for several, as of f32 whatever they are,
// of which narrow ones cost less edge by edge. Few narrow ones cost less together, as masks and
// indices are read once.
static bool are_apart(const windows *x) {
    int64_t width = width_of(x);
    if (x->heads < 2 || (!x->products && x->type != DT_F32 && width <= WIDE) || is_odd(x) ||
        (x->dots && x->dots != width))
        return false;
    if (width < DEPTH || width > WIDEST) return false;
    if (x->type == DT_F32) return width >= LEAST;
    return width > WIDE || multiply_by_four(x) || x->wide || !are_heads_shared(x) ||
           (width >= LEAST && differ(x));
}

// heads that are; wide ones are as one head
static bool have_little(const windows *x) { return x->apart && width_of(x) <= WIDE; }

// Slots of a round: as many more where a thread holds little of a row.
static int64_t slots_of(const windows *x) {
    int64_t most = x->type != DT_F32 ? WIDE : x->apart ? LEAST : 0;
    bool narrow = x->products && !is_odd(x) && x->heads == 1 && x->columns <= most &&
                  x->dots <= most;
    if (x->w->four) return x->bounded || x->columns < WIDEST ? 2 * ROWS : ROWS;
    return narrow && are_shared(x) && (x->wide || differ(x)) ? 2 * ROWS : ROWS;
}

static bool fits_odd(const windows *x) {
    int64_t row = x->heads * width_of(x) * ir_dtype_bytes(x->type);   // copied by whole words
    return x->type != DT_F32 && row % COPIED == 0 && are_shared(x);
}

static bool rereads(const windows *x) {
    return x->type == DT_F32 &&
           words_of_sums(x) + words_of_rows(x) > (x->products ? WORDS_HELD : WORDS_HELD / 2);
}

// Whether warps that have a part of a row's columns each have that part of its scores, too, and add
// those up: where a walk has several of wide heads, as both of a gradient do, and two parts would
// leave no room for all of them. Up to 192 features of 16 bits it is slower, and up to 96 of f32.
static bool joins(const windows *x) {
    int64_t parts = x->type == DT_F32 ? 1 : JOINED;
    // as the walk of two sums has it
    bool wide = x->columns / parts + words_of_rows(x) > MOST_HELD;
    return wide && !x->w->four && are_shared(x) && x->heads == 1 && x->products && x->scores > 1 &&
           x->dots == x->columns && x->dots % (JOINED * DEPTH) == 0;
}

// Of f32, by three products for one; of a walk of scores alone, which a gradient has, its other
// walk costs more. Reading rows again pays less where a walk has two scores, as a gradient's.
enum {
    WORDS_DENSITY = 300,
    WORDS_SCORES_DENSITY = 340,
    WORDS_REREAD_DENSITY = 350,
    WORDS_JOINED_DENSITY = 200
};

static int64_t density_of(const windows *x) {
    uint32_t i = 0;
    if (x->type == DT_F32 && (!x->products || !rereads(x) || x->scores < 2))
        return x->products ? WORDS_DENSITY : WORDS_SCORES_DENSITY;
    if (x->type == DT_F32)
        return x->columns > JOINED * WIDE && joins(x) ? WORDS_JOINED_DENSITY : WORDS_REREAD_DENSITY;
    while (width_of(x) < densities[i].width) i++;
    return x->products + x->scores < 2 ? densities[i].one : densities[i].several;
}

// entries of a row, on average: measured over batches of graphs of 16, 30, 70, 100 and 119 nodes
enum { LONG = 40, WORDS_REREAD_LONG = 48 };

static int64_t entries_of(const windows *x) {
    if (rereads(x) && x->scores > 1) return WORDS_REREAD_LONG;
    return x->w->m->rows == ROWS_WALKED_WINDOWS_LONG ? LONG : 0;
}

// A block goes through its window's rounds one after the other, however few windows there are,
// while few entries are walked at once: from how many on windows are faster, measured over batches
// of 4 to 128 graphs of 119 nodes and 51 entries a row on an H200.
enum {
    LEAST_ENTRIES = 150000,
    LEAST_ENTRIES_PLAIN = 300000,
    LEAST_ENTRIES_GRADIENT = 75000,
    LEAST_ENTRIES_WORDS = 600000
};

static int entries_least(const windows *x) {
    if (x->type == DT_F32) return LEAST_ENTRIES_WORDS;
    if (x->scores && !x->bounded) return LEAST_ENTRIES_GRADIENT;
    return x->dots ? LEAST_ENTRIES : LEAST_ENTRIES_PLAIN;
}

// Warps that share a window's slots, of other rows.
static int64_t sharing_of(const windows *x) {
    int64_t heads = x->heads > 1 ? x->heads / heads_of_warp(x) : 1;
    // much is copied, or read for several sums
    bool wide = x->products && (x->heads * width_of(x) >= WIDEST || !x->bounded);
    int64_t least = wide && heads > 1 ? 2 : 1;
    if (!are_shared(x)) return 1;
    return heads * least < SHARING ? default_power_in(SHARING, SHARING / heads) : least;
}

static int64_t held_of_rows(const windows *x) { return rereads(x) ? 0 : words_of_rows(x); }

// Warps that have a part of a row's columns each, so that there is room; 0: there is none.
static int64_t parts_of(const windows *x) {
    if (joins(x)) return JOINED;
    if (x->w->four) return 1;
    int64_t parts = 1, most = !are_shared(x) || x->heads > 1 || x->type == DT_F32 || is_odd(x)
                                  ? 1
                                  : MOST_PARTS;
    while (parts < most && words_of_sums(x) / parts + held_of_rows(x) > MOST_HELD) parts *= 2;
    bool room = words_of_sums(x) / parts + held_of_rows(x) <= MOST_HELD;
    return room && up_to(x->columns, PIECE) / PIECE % parts == 0 ? parts : 0;
}

// Pieces of rows that a warp has: two of them read once what slots have. Of several heads it has
// half as many for that. Not where scores are products beside the sums of exponentials, where it
// paid in windows of 128 rows alone, and those are slower on smaller graphs.
static int64_t pieces_of(const windows *x) {
    if (x->w->four) return 1;
    bool few = x->bounded        ? !x->dots && x->heads > 1
               : x->products > 1 ? x->heads > 1
                                 : x->scores < 2 && x->heads * x->columns < WIDEST;
    if (!x->products || x->type == DT_F32 || !are_shared(x) || !few) return 1;
    if (x->heads == 1) return sharing_of(x) / parts_of(x) > 1 ? 2 : 1;
    return (sharing_of(x) > 1 && (heads_of_warp(x) % 2 == 0 || x->products > 1)) ? 2 : 1;
}

// Warps of one head share its columns where they have a part each.
static int64_t rows_of(const windows *x) {
    return sharing_of(x) * ROWS / (x->heads == 1 && x->products ? parts_of(x) : 1);
}

static int64_t heads_held(const windows *x) {
    int64_t heads = heads_of_warp(x);
    return pieces_of(x) > 1 && heads % 2 == 0 ? heads / 2 : heads;
}

// Of f32, each number twice the room and three products for one: of one head at a time, what a
// thread holds of sums, and of rows, or each round reads those again.
static bool fits_words(const windows *x) {
    int64_t most = joins(x) ? JOINED * WORDS_JOINED : WORDS_HELD;
    return x->heads == 1 && are_shared(x) && words_of_sums(x) <= most &&
           (x->products || words_of_rows(x) <= WORDS_HELD);
}

static bool fit(windows *x) {
    const planner *p = x->w->p;
    if (!p->machine->gpu || p->facts->no_matrices || x->of->edges.len) return false;
    if (!default_window_sums(x)) return false;
    x->heads = heads_of(x);
    x->wide = x->heads > 1 && x->heads * width_of(x) >= WIDEST;
    x->apart = are_apart(x);
    if (x->apart) x->heads = 1;
    if (!x->heads || (x->type == DT_F32 && !fits_words(x)) || (is_odd(x) && !fits_odd(x)))
        return false;
    if (!x->products) return x->dots >= LEAST || (x->heads > 1 && are_heads_shared(x));
    int64_t least = x->bounded ? (x->dots ? LEAST_DOTS : LEAST) : are_shared(x) ? LEAST : WIDE;
    if (x->apart || (x->heads > 1 && are_heads_shared(x))) least = DEPTH;
    return x->columns <= WIDEST && x->columns >= least && parts_of(x);
}

// ---- Cells --------------------------------------------------------------------------------------
static void fill_window(const windows *x, const tensor_stage *st) {
    schedule_value *v = ARENA_ARRAY(x->w->p->arena, schedule_value, 3);
    v[0] = (schedule_value){.number = rows_of(x), .var = UINT32_MAX};
    v[1] = default_by(x->w->p, x->source);
    v[2] = (schedule_value){.keyword = "count", .number = slots_of(x), .var = UINT32_MAX};
    default_say(x->w->m, default_index_cell(x->w->p, SCHEDULE_WINDOW, st, st->left[0]), v, 3);
}

// Of 16 bits tf32 has all; gradients in cells reach further than f16 does, and than bf16 is
// precise. Those of attention are rounded as the results are, which have as many digits, and so
// many times themselves in f16: sums of what is too large for it are found again. Numbers of f32
// keep theirs by tf32x3.
enum { GRADIENT_SCALE = 64, ACCUMULATORS = 2 };

// Threads that a multiprocessor should have room for; 0: as many as fit. Four blocks of four warps,
// where the walk of one sum and two scores of one head takes a few registers more than that leaves.
// Of f32 an assembler that is told nothing saves registers by waiting for each number that it takes
// apart, and where that is for no block more it is told how many fit: two of the walk of two sums,
// three of the other one.
enum {
    ROOM = 512,
    ROOM_LEAST = 48,
    ROOM_MOST = 64,
    WORDS_ROOM = 256,
    WORDS_SUM_ROOM = 384,
    SUM_MOST = 48
};

static int64_t room_of(const windows *x) {
    const int64_t words = words_of_sums(x) + words_of_rows(x);
    if (x->type == DT_F16 && x->heads == 1 && !have_little(x) && x->products == 1 &&
        x->scores > 1 && slots_of(x) > ROWS)
        return words > ROOM_LEAST && words <= ROOM_MOST ? ROOM : 0;
    if (x->type != DT_F32 || x->scores < 2 || (joins(x) && x->columns <= JOINED * WIDE)) return 0;
    if (x->products > 1) return have_little(x) || words > ROOM_MOST ? WORDS_ROOM : 0;
    return rereads(x) && words_of_sums(x) / (joins(x) ? JOINED : 1) <= SUM_MOST ? WORDS_SUM_ROOM
                                                                                : 0;
}

// Walks whose blocks alternate leave the same room.
static int64_t room_of_all(const windows *x) {
    int64_t least = room_of(x);
    for (uint32_t i = 0; i < x->w->walks.len && x->w->independent; i++) {
        windows other = {
            .w = x->w, .of = &x->w->walks.data[i], .source = TENSOR_NO_VAL, .type = DT_COUNT};
        int64_t room = default_walk_is_worth(x->w, other.of) && fit(&other) ? room_of(&other) : 0;
        if (room && (!least || room < least)) least = room;
    }
    return least;
}

// Of a score of a wide head: a warp has two sums at once, whose products wait for the one before;
// of four the tensor cores have enough. Where warps have a part of the columns each, and scores of
// their own, it is slower, and forward in 16 bits the same.
static int64_t accumulators_of(const windows *x) {
    if (!are_shared(x) || x->heads != 1 || have_little(x) || x->w->four) return 1;
    if (x->type == DT_F32)
        return x->columns > WIDE || (x->columns == WIDE && x->scores > 1) ? ACCUMULATORS : 1;
    return is_rounded(x) && x->columns > WIDE && (joins(x) || parts_of(x) == 1) ? ACCUMULATORS : 1;
}

static void fill_mma(const windows *x, const tensor_stage *st, tensor_var depth, bool narrow) {
    schedule_value *v = ARENA_ARRAY(x->w->p->arena, schedule_value, 4);
    uint32_t n = 1;
    bool rounded = !narrow && is_rounded(x), scaled = rounded && x->type == DT_F16;
    v[0] = (schedule_value){.text = x->type == DT_F32   ? "tf32x3"
                                    : narrow || rounded ? ir_dtype_text(x->type)
                                                        : "tf32",
                            .var = UINT32_MAX};
    if (x->w->four)
        v[n++] = (schedule_value){.keyword = "shape", .text = x->w->four, .var = UINT32_MAX};
    if (scaled)
        v[n++] = (schedule_value){.keyword = "scale", .number = GRADIENT_SCALE, .var = UINT32_MAX};
    if (x->accumulators > 1)
        v[n++] = (schedule_value){
            .keyword = "accumulators", .number = x->accumulators, .var = UINT32_MAX};
    default_say(x->w->m, default_index_cell(x->w->p, SCHEDULE_MMA, st, depth), v, n);
}

static void fill_rows(const windows *x, const tensor_stage *st, int64_t groups) {
    default_fill(x->w->m, st, SCHEDULE_GROUPS, st->left[0], groups, NULL);
    if (pieces_of(x) > 1)
        default_fill(x->w->m, st, SCHEDULE_REGISTERS, st->left[0], 2 * pieces_of(x),
                     NULL);   // two rows of a piece
}

static void fill_threads(const windows *x, const tensor_stage *st) {
    making *m = x->w->m;
    if (x->heads > 1 && are_shared(x)) {
        fill_rows(x, st, rows_of(x) / ROWS / pieces_of(x));
        if (st->nleft < 2) return;
        default_fill(m, st, SCHEDULE_GROUPS, st->left[1], x->heads / heads_held(x), NULL);
        default_fill(m, st, SCHEDULE_REGISTERS, st->left[1], heads_held(x), NULL);
        return;
    }
    int64_t heads = default_power_in(x->heads, MOST_HEADS),
            rows = x->heads > 1    ? MOST_HEADS / heads
                   : are_shared(x) ? rows_of(x) / ROWS / pieces_of(x)
                                   : WARPS,
            each = x->products && x->columns < LEAST && x->heads / heads % 2 == 0 ? 2 : 1;
    fill_rows(x, st, rows);
    if (st->nleft > 1 && x->apart) default_fill(m, st, SCHEDULE_BLOCK, st->left[1], 1, NULL);
    if (st->nleft < 2 || x->heads <= 1) return;
    default_fill(m, st, SCHEDULE_GROUPS, st->left[1], heads, NULL);
    default_fill(m, st, SCHEDULE_REGISTERS, st->left[1], each, NULL);
}

// numbers of one, 16 bytes
static int64_t access_of(const windows *x) { return x->type == DT_F32 ? PIECE / 2 : PIECE; }

// Rows that warps share are read as matrices where a warp has little of them, and where the walks
// of a gradient have wide ones of f16.
static bool are_matrices(const windows *x) {
    if (is_rounded(x) && x->scores > 1)
        return x->heads == 1 && !have_little(x) && x->columns >= WIDE &&
               x->columns % (LANES * PIECE) == 0;
    return x->bounded && are_shared(x) &&
           (x->heads > 1 || have_little(x) || x->columns <= ALONE_WIDE);
}

static void fill_columns(const windows *x, const tensor_stage *st) {
    making *m = x->w->m;
    if (!x->products || st->nleft < x->depth) return;
    int64_t columns = up_to(x->columns, PIECE) / parts_of(x),
            vector = are_matrices(x) || is_odd(x) || x->w->four
                         ? 1
                         : default_power_in(columns / PIECE, access_of(x));
    tensor_var along = st->left[st->nleft - 1];
    if (parts_of(x) > 1) default_fill(m, st, SCHEDULE_GROUPS, along, parts_of(x), NULL);
    default_fill(m, st, SCHEDULE_VECTOR, along, vector, NULL);
    default_fill(m, st, SCHEDULE_REGISTERS, along, columns / (LANES * vector), NULL);
}

typedef struct {
    const planner *p;
    tensor_var along;   // that rows end on
    tensor_val source, found;
} reading;

static void find_shared(reading *r, tensor_expr e) {
    const tensor_node *n = tensor_node_at(r->p->op, e);
    const tensor_node *at = n->op == TENSOR_LOAD_OP && n->nargs > 1
                                ? tensor_node_at(r->p->op, n->args[0])
                                : NULL;
    bool row = at && at->op == TENSOR_LOAD_OP && (tensor_val)at->imm.i == r->source;
    const tensor_node *last = row ? tensor_node_at(r->p->op, n->args[n->nargs - 1]) : NULL;
    if (row && last->op == TENSOR_VAR_OP && (tensor_var)last->imm.i == r->along)
        r->found = (tensor_val)n->imm.i;
    for (uint32_t i = 0; i < n->nargs && n->op != TENSOR_LOAD_OP; i++) find_shared(r, n->args[i]);
}

static void fill_keep(walks *w, const tensor_stage *st, tensor_val input, schedule_word place) {
    schedule_value *v = ARENA_NEW(w->p->arena, schedule_value);
    *v = default_word(place);
    default_say(w->m, default_value_cell(w->p, SCHEDULE_KEEP, st, input), v, 1);
}

// What is read at the map's values: of the factor that has columns, of the score's.
static void fill_shared(walks *w, const tensor_stage *st, tensor_var along, tensor_val source) {
    tensor_expr body = plan_inline_loads(w->p, st->body[0]);
    reading r = {w->p, along, source, TENSOR_NO_VAL};
    find_shared(&r, body);
    if (r.found == TENSOR_NO_VAL) return;
    fill_keep(w, st, r.found, SCHEDULE_PLACE_SHARED);
}

// Where what the walk's rows have of its scores is kept: read again by each round, or in shared
// memory.
static void fill_own_rows(const windows *x, const tensor_stage *st, schedule_word place) {
    const planner *p = x->w->p;
    for (uint32_t i = 0; i < p->op->stages.len; i++)
        for (uint32_t a = 0; a < 2 && default_window_is_score(x, i); a++) {
            const tensor_stage *score = window_stage(x->w, i);
            tensor_expr factor = tensor_node_at(p->op, score->body[0])->args[a];
            bool row;
            tensor_val map;
            if (!default_window_rows(x, factor, score->bound[0], &row, &map) || !row) continue;
            fill_keep(x->w, st, (tensor_val)loop_matrix_factor(p->op, factor)->imm.i, place);
        }
}

bool default_window_score(walks *w, const walk *of, const tensor_stage *st) {
    windows x = {.w = w, .of = of, .source = TENSOR_NO_VAL, .type = DT_COUNT};
    if (!default_window_dot(&x, st)) return false;
    int64_t depth = up_to(default_extent(w->p, st->bound[0]), DEPTH) / (w->joined ? JOINED : 1);
    int64_t vector = w->natural || w->four ? 1 : default_power_in(depth / LANES, access_of(&x));
    if (w->joined) default_fill(w->m, st, SCHEDULE_GROUPS, st->bound[0], JOINED, NULL);
    default_fill(w->m, st, SCHEDULE_VECTOR, st->bound[0], vector, NULL);
    default_fill(w->m, st, SCHEDULE_REGISTERS, st->bound[0], depth / (LANES * vector), NULL);
    // that follow one another
    const int64_t products = x.type == DT_F32 ? 3 * depth / (DEPTH / 2) : depth / DEPTH;
    x.accumulators = products < w->accumulators ? products : w->accumulators;
    fill_mma(&x, st, st->bound[0], true);
    for (uint32_t i = 0; i < w->shared.len; i++)
        fill_shared(w, st, st->bound[0], w->shared.data[i]);
    return true;
}

// A sum of the row's own arrays, before it is walked: its lanes are those that a piece has for a
// row.
static void fill_own(const windows *x, const tensor_stage *st) {
    tensor_var along = st->bound[st->nbound - 1];
    int64_t vector = default_power_in(default_extent(x->w->p, along) / LANES, access_of(x));
    default_fill(x->w->m, st, SCHEDULE_LANES, along, LANES, NULL);
    if (vector > 1) default_fill(x->w->m, st, SCHEDULE_VECTOR, along, vector, NULL);
}

// Scores that two walks read are found alike, so either all walks multiply by four warps at once,
// or none.
static const char *operation_of_all(walks *w) {
    const char *shape = NULL;
    for (uint32_t i = 0; i < w->walks.len; i++) {
        windows x = {.w = w, .of = &w->walks.data[i], .source = TENSOR_NO_VAL, .type = DT_COUNT};
        if (!fit(&x) || !multiply_by_four(&x) || x.heads > 1 || sharing_of(&x) != SHARING)
            return NULL;
        shape = default_group_operation(w->p, ir_dtype_text(x.type))->shape;
    }
    return shape;
}

// Where four warps multiply, the rows of their scores' first factors lie beside those of slots,
// which leaves registers free; measured on an H200, of the walks of a gradient and of a forward
// pass.
static bool keeps_own_rows(const windows *x) {
    return x->w->four && x->scores && (x->scores > 1 || !x->bounded || x->columns < WIDEST);
}

static int64_t buffers_of(const windows *x) {
    if (rereads(x)) return FEW_BUFFERS;
    if (!keeps_own_rows(x)) return BUFFERS;
    return x->columns == (x->bounded ? 2 * WIDE : 3 * WIDE) ? FEW_BUFFERS : BUFFERS;
}

// Several heads of one block find what rows have in common with less than a kernel of its own does,
// and so do narrow ones that have blocks of their own, of f32 many (measured).
bool default_window_alone(walks *w, const walk *of) {
    windows x = {.w = w, .of = of, .source = TENSOR_NO_VAL, .type = DT_COUNT};
    return fit(&x) && x.heads == 1 &&
           !(x.apart && width_of(&x) < WIDE && (x.type != DT_F32 || x.wide));
}

bool default_window_parts(walks *w, const walk *of) {
    windows x = {.w = w, .of = of, .source = TENSOR_NO_VAL, .type = DT_COUNT};
    bool wide = fit(&x) && x.products > 1 && !multiply_by_four(&x);
    x.products = 1;
    return wide && of->sums.len > 1 && multiply_by_four(&x);
}

bool default_window_walk(walks *w, const walk *of, const stage_group *all) {
    windows x = {.w = w, .of = of, .source = TENSOR_NO_VAL, .type = DT_COUNT};
    bool first = true;
    if (!fit(&x)) return false;
    w->four = operation_of_all(w);
    const int64_t room = room_of_all(&x);
    for (uint32_t i = 0; i < all->len; i++) {
        const tensor_stage *st = window_stage(w, all->data[i]);
        bool sum = st->reducer != TENSOR_NO_REDUCER,
             product = sum && x.products && st->nleft == x.depth;
        fill_threads(&x, st);
        if (w->independent)
            schedule_fill(w->p->arena, w->m->s, default_cell(SCHEDULE_ALTERNATE, st));
        if (sum && !st->nkeys) {
            fill_own(&x, st);
            continue;
        }
        fill_columns(&x, st);
        bool windowed = sum && (x.products ? product : first);
        if (windowed) fill_window(&x, st), first = false;
        if (product) fill_mma(&x, st, st->bound[0], x.bounded);
        if (product && room) default_room(w->m, st, room);
        if (!windowed || !are_shared(&x)) continue;
        default_fill(w->m, st, SCHEDULE_PIPELINE, st->bound[0], buffers_of(&x), NULL);
        if (rereads(&x)) fill_own_rows(&x, st, SCHEDULE_PLACE_GLOBAL);
        if (keeps_own_rows(&x)) fill_own_rows(&x, st, SCHEDULE_PLACE_SHARED);
        if (product) fill_shared(w, st, st->left[st->nleft - 1], x.source);
    }
    if (are_shared(&x)) VEC_PUSH(w->p->arena, &w->shared, x.source);
    w->joined |= joins(&x);
    if (x.products && (!w->accumulators || accumulators_of(&x) < w->accumulators))
        w->accumulators = accumulators_of(&x);
    w->natural |= (are_shared(&x) && x.heads > 1) || are_matrices(&x) || is_odd(&x);
    VEC_PUSH(w->p->arena, &w->m->dense.windows,
             ((default_dense_windows){of->map, x.source, density_of(&x), entries_of(&x),
                                      entries_least(&x)}));
    return true;
}
