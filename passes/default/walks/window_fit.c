// Whether windows fit a walk, and their shape: how many rows a block has, which warps share what,
// and how many registers that takes. What is products there is found by window_sums.c.
//     y of 64 features, one score   →  windows of 64 rows, four warps; rounds of 32 slots
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/matrix/contraction.h"
#include "default/walks/walks.h"
#include "default/walks/windows.h"
#include "kernels/kernels.h"

// ---- Whether it fits ----------------------------------------------------------------------------
static int64_t heads_of(const windows *x) {
    const tensor_stage *deepest = plan_deepest(x->w->p, &x->of->sums);
    uint32_t level = x->products ? x->depth - 1 : x->depth;
    if (level > 2 || deepest->nleft != x->depth) return 0;
    return level == 2 ? default_extent(x->w->p, deepest->left[1]) : 1;
}

// numbers of a row of one head
int64_t window_width(const windows *x) { return x->products ? x->columns : x->dots; }

int64_t window_up_to(int64_t n, int64_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

// Widths that pieces do not divide: past the last number of a row there are zeros.
bool window_is_odd(const windows *x) {
    return x->columns % DEFAULT_PIECE_COLUMNS || x->dots % DEFAULT_PIECE_DEPTH;
}

// Heads of a row that a warp has at once: about as many numbers as of one head, of all that it
// sums.
static int64_t heads_of_warp(const windows *x) {
    int64_t sums = x->products ? x->products : x->of->sums.len,
            heads = DEFAULT_WINDOW_HEADS_WIDE /
                    window_up_to(window_width(x), DEFAULT_PIECE_COLUMNS) / sums;
    while (heads > 1 && x->heads % heads) heads--;
    return heads > 1 ? heads : 1;
}

// All heads at once: rows are copied whole.
static bool are_heads_shared(const windows *x) {
    int64_t width = window_width(x),
            warps = x->bounded ? DEFAULT_HEAD_WARPS : DEFAULT_GRADIENT_HEAD_WARPS;
    return width && (!x->dots || x->dots == width) && width <= DEFAULT_WINDOW_WIDE &&
           width >= DEFAULT_PIECE_DEPTH && x->heads * width <= DEFAULT_WINDOW_WIDEST &&
           x->heads <= warps * heads_of_warp(x);
}

// Rows that warps of a block share, copied while they are at work.
bool window_is_shared(const windows *x) {
    if (x->heads > 1) return are_heads_shared(x);
    int64_t least = x->apart ? DEFAULT_PIECE_DEPTH : DEFAULT_WINDOW_LEAST;
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
bool window_is_rounded(const windows *x) {
    return ir_dtype_is_narrow(x->type) && x->scores && !x->bounded && !has_maximum(x);
}

// registers
int64_t window_words_of_rows(const windows *x) {
    return x->scores * x->dots / (x->type == DT_F32 ? 2 : 4);
}
int64_t window_words_of_sums(const windows *x) { return x->products * x->columns / 2; }

// Whether four warps may multiply what a window's slots read at once, by numbers of 16 bits.
bool window_by_four(const windows *x) {
    bool bits = ir_dtype_is_narrow(x->type) && (x->bounded || window_is_rounded(x));
    return bits && x->products && x->columns % DEFAULT_PANEL == 0 &&
           (!x->dots || x->dots == x->columns) &&
           (x->scores < 2 || window_words_of_sums(x) <= DEFAULT_MATRIX_REGISTERS) &&
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
    int64_t width = window_width(x);
    if (x->heads < 2 || (!x->products && x->type != DT_F32 && width <= DEFAULT_WINDOW_WIDE) ||
        window_is_odd(x) || (x->dots && x->dots != width))
        return false;
    if (width < DEFAULT_PIECE_DEPTH || width > DEFAULT_WINDOW_WIDEST) return false;
    if (x->type == DT_F32) return width >= DEFAULT_WINDOW_LEAST;
    return width > DEFAULT_WINDOW_WIDE || window_by_four(x) || x->wide || !are_heads_shared(x) ||
           (width >= DEFAULT_WINDOW_LEAST && differ(x));
}

// heads that are; wide ones are as one head
bool window_has_little(const windows *x) {
    return x->apart && window_width(x) <= DEFAULT_WINDOW_WIDE;
}

// Slots of a round: as many more where a thread holds little of a row.
int64_t window_slots(const windows *x) {
    int64_t most = x->type != DT_F32 ? DEFAULT_WINDOW_WIDE : x->apart ? DEFAULT_WINDOW_LEAST : 0;
    bool narrow = x->products && !window_is_odd(x) && x->heads == 1 && x->columns <= most &&
                  x->dots <= most;
    if (x->w->four)
        return x->bounded || x->columns < DEFAULT_WINDOW_WIDEST ? 2 * DEFAULT_WINDOW
                                                                : DEFAULT_WINDOW;
    return narrow && window_is_shared(x) && (x->wide || differ(x)) ? 2 * DEFAULT_WINDOW
                                                                   : DEFAULT_WINDOW;
}

static bool fits_odd(const windows *x) {
    int64_t row = x->heads * window_width(x) * ir_dtype_bytes(x->type);   // copied by whole words
    return x->type != DT_F32 && row % DEFAULT_WINDOW_COPIED == 0 && window_is_shared(x);
}

bool window_rereads(const windows *x) {
    return x->type == DT_F32 &&
           window_words_of_sums(x) + window_words_of_rows(x) >
               (x->products ? DEFAULT_WINDOW_WORDS_HELD : DEFAULT_WINDOW_WORDS_HELD / 2);
}

// Whether warps that have a part of a row's columns each have that part of its scores, too, and add
// those up: where a walk has several of wide heads, as both of a gradient do, and two parts would
// leave no room for all of them. Up to 192 features of 16 bits it is slower, and up to 96 of f32.
bool window_joins(const windows *x) {
    int64_t parts = x->type == DT_F32 ? 1 : DEFAULT_WINDOW_JOINED;
    // as the walk of two sums has it
    bool wide = x->columns / parts + window_words_of_rows(x) > DEFAULT_MATRIX_REGISTERS;
    return wide && !x->w->four && window_is_shared(x) && x->heads == 1 && x->products &&
           x->scores > 1 && x->dots == x->columns &&
           x->dots % (DEFAULT_WINDOW_JOINED * DEFAULT_PIECE_DEPTH) == 0;
}

// Warps that share a window's slots, of other rows.
int64_t window_sharing(const windows *x) {
    int64_t heads = x->heads > 1 ? x->heads / heads_of_warp(x) : 1;
    // much is copied, or read for several sums
    bool wide = x->products && (x->heads * window_width(x) >= DEFAULT_WINDOW_WIDEST || !x->bounded);
    int64_t least = wide && heads > 1 ? 2 : 1;
    if (!window_is_shared(x)) return 1;
    return heads * least < DEFAULT_WINDOW_SHARING
               ? default_power_in(DEFAULT_WINDOW_SHARING, DEFAULT_WINDOW_SHARING / heads)
               : least;
}

static int64_t held_of_rows(const windows *x) {
    return window_rereads(x) ? 0 : window_words_of_rows(x);
}

// Warps that have a part of a row's columns each, so that there is room; 0: there is none.
int64_t window_parts(const windows *x) {
    if (window_joins(x)) return DEFAULT_WINDOW_JOINED;
    if (x->w->four) return 1;
    int64_t parts = 1,
            most = !window_is_shared(x) || x->heads > 1 || x->type == DT_F32 || window_is_odd(x)
                       ? 1
                       : DEFAULT_WINDOW_PARTS;
    while (parts < most &&
           window_words_of_sums(x) / parts + held_of_rows(x) > DEFAULT_MATRIX_REGISTERS)
        parts *= 2;
    bool room = window_words_of_sums(x) / parts + held_of_rows(x) <= DEFAULT_MATRIX_REGISTERS;
    return room && window_up_to(x->columns, DEFAULT_PIECE_COLUMNS) / DEFAULT_PIECE_COLUMNS %
                           parts ==
                       0
               ? parts
               : 0;
}

// Pieces of rows that a warp has: two of them read once what slots have. Of several heads it has
// half as many for that. Not where scores are products beside the sums of exponentials, where it
// paid in windows of 128 rows alone, and those are slower on smaller graphs.
int64_t window_pieces(const windows *x) {
    if (x->w->four) return 1;
    bool few = x->bounded        ? !x->dots && x->heads > 1
               : x->products > 1 ? x->heads > 1
                                 : x->scores < 2 && x->heads * x->columns < DEFAULT_WINDOW_WIDEST;
    if (!x->products || x->type == DT_F32 || !window_is_shared(x) || !few) return 1;
    if (x->heads == 1) return window_sharing(x) / window_parts(x) > 1 ? 2 : 1;
    return (window_sharing(x) > 1 && (heads_of_warp(x) % 2 == 0 || x->products > 1)) ? 2 : 1;
}

// Warps of one head share its columns where they have a part each.
int64_t window_rows(const windows *x) {
    return window_sharing(x) * DEFAULT_WINDOW /
           (x->heads == 1 && x->products ? window_parts(x) : 1);
}

int64_t window_heads_held(const windows *x) {
    int64_t heads = heads_of_warp(x);
    return window_pieces(x) > 1 && heads % 2 == 0 ? heads / 2 : heads;
}

// Of f32, each number twice the room and three products for one: of one head at a time, what a
// thread holds of sums, and of rows, or each round reads those again.
static bool fits_words(const windows *x) {
    int64_t most = window_joins(x) ? DEFAULT_WINDOW_JOINED * DEFAULT_WINDOW_WORDS_JOINED
                                   : DEFAULT_WINDOW_WORDS_HELD;
    return x->heads == 1 && window_is_shared(x) && window_words_of_sums(x) <= most &&
           (x->products || window_words_of_rows(x) <= DEFAULT_WINDOW_WORDS_HELD);
}

bool window_fits(windows *x) {
    const planner *p = x->w->p;
    if (!p->machine->gpu || p->facts->no_matrices || x->of->edges.len) return false;
    if (!default_window_sums(x)) return false;
    x->heads = heads_of(x);
    x->wide = x->heads > 1 && x->heads * window_width(x) >= DEFAULT_WINDOW_WIDEST;
    x->apart = are_apart(x);
    if (x->apart) x->heads = 1;
    if (!x->heads || (x->type == DT_F32 && !fits_words(x)) || (window_is_odd(x) && !fits_odd(x)))
        return false;
    if (!x->products)
        return x->dots >= DEFAULT_WINDOW_LEAST || (x->heads > 1 && are_heads_shared(x));
    int64_t least = x->bounded ? (x->dots ? DEFAULT_WINDOW_LEAST_DOTS : DEFAULT_WINDOW_LEAST)
                    : window_is_shared(x) ? DEFAULT_WINDOW_LEAST
                                          : DEFAULT_WINDOW_WIDE;
    if (x->apart || (x->heads > 1 && are_heads_shared(x))) least = DEFAULT_PIECE_DEPTH;
    return x->columns <= DEFAULT_WINDOW_WIDEST && x->columns >= least && window_parts(x);
}

// ---- What other parts ask of it -----------------------------------------------------------------
// Several heads of one block find what rows have in common with less than a kernel of its own does,
// and so do narrow ones that have blocks of their own, of f32 many (measured).
bool default_window_alone(walks *w, const walk *of) {
    windows x = default_windows_of(w, of);
    return window_fits(&x) && x.heads == 1 &&
           !(x.apart && window_width(&x) < DEFAULT_WINDOW_WIDE && (x.type != DT_F32 || x.wide));
}

bool default_window_parts(walks *w, const walk *of) {
    windows x = default_windows_of(w, of);
    bool wide = window_fits(&x) && x.products > 1 && !window_by_four(&x);
    x.products = 1;
    return wide && of->sums.len > 1 && window_by_four(&x);
}
