// Walks of windows by default (axes/window_walk.c): where sixteen rows share most of their columns,
// tensor cores take them together, and what a cell has no edge for costs less than what each edge
// alone would. Of walks whose deepest sums are of what a second map says, in 16 bits, and whose
// scores are dot products of rows and of that.
//     y: { window v 16 by src 16;  groups v 2;  vector d 8;  registers d 4;  mma e f16; }
//     s.sum: mma d f16
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/matrix/contraction.h"
#include "default/walks/walks.h"
#include "default/walks/windows.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"

// ---- Cells --------------------------------------------------------------------------------------
static void fill_window(const windows *x, const tensor_stage *st) {
    default_say(x->w->m, default_index_cell(x->w->p, SCHEDULE_WINDOW, st, st->left[0]),
                default_number(window_rows(x)), default_by(x->w->p, x->source),
                default_option("count", window_slots(x)));
}

static int64_t room_of(const windows *x) {
    const int64_t words = window_words_of_sums(x) + window_words_of_rows(x);
    if (x->type == DT_F16 && x->heads == 1 && !window_has_little(x) && x->products == 1 &&
        x->scores > 1 && window_slots(x) > DEFAULT_WINDOW)
        return words > DEFAULT_WINDOW_ROOM_LEAST && words <= DEFAULT_WINDOW_ROOM_MOST
                   ? DEFAULT_ROOM_128
                   : 0;
    if (x->type != DT_F32 || x->scores < 2 ||
        (window_joins(x) && x->columns <= DEFAULT_WINDOW_JOINED * DEFAULT_WINDOW_WIDE))
        return 0;
    if (x->products > 1)
        return window_has_little(x) || words > DEFAULT_WINDOW_ROOM_MOST ? DEFAULT_ROOM_255 : 0;
    return window_rereads(x) &&
                   window_words_of_sums(x) / (window_joins(x) ? DEFAULT_WINDOW_JOINED : 1) <=
                       DEFAULT_WINDOW_SUM_MOST
               ? DEFAULT_ROOM_168
               : 0;
}

// Walks whose blocks take turns leave the same room.
static int64_t room_of_all(const windows *x) {
    int64_t least = room_of(x);
    for (uint32_t i = 0; i < x->w->walks.len && x->w->independent; i++) {
        windows other = default_windows_of(x->w, &x->w->walks.data[i]);
        int64_t room = default_walk_is_worth(x->w, other.of) && window_fits(&other)
                           ? room_of(&other)
                           : 0;
        if (room && (!least || room < least)) least = room;
    }
    return least;
}

// Of a score of a wide head: a warp has two sums at once, whose products wait for the one before;
// of four the tensor cores have enough. Where warps have a part of the columns each, and scores of
// their own, it is slower, and forward in 16 bits the same.
static int64_t accumulators_of(const windows *x) {
    if (!window_is_shared(x) || x->heads != 1 || window_has_little(x) || x->w->four) return 1;
    if (x->type == DT_F32)
        return x->columns > DEFAULT_WINDOW_WIDE ||
                       (x->columns == DEFAULT_WINDOW_WIDE && x->scores > 1)
                   ? DEFAULT_ACCUMULATORS
                   : 1;
    return window_is_rounded(x) && x->columns > DEFAULT_WINDOW_WIDE &&
                   (window_joins(x) || window_parts(x) == 1)
               ? DEFAULT_ACCUMULATORS
               : 1;
}

static void fill_mma(const windows *x, const tensor_stage *st, tensor_var depth, bool narrow) {
    const bool rounded = !narrow && window_is_rounded(x), scaled = rounded && x->type == DT_F16;
    const char *operand = x->type == DT_F32   ? "tf32x3"
                          : narrow || rounded ? ir_dtype_text(x->type)
                                              : "tf32";
    default_say(x->w->m, default_index_cell(x->w->p, SCHEDULE_MMA, st, depth),
                default_text(NULL, operand),
                default_if(x->w->four, default_text("shape", x->w->four)),
                default_if(scaled, default_option("scale", DEFAULT_GRADIENT_SCALE)),
                default_if(x->accumulators > 1, default_option("accumulators", x->accumulators)));
}

static void fill_rows(const windows *x, const tensor_stage *st, int64_t groups) {
    default_fill(x->w->m, st, SCHEDULE_GROUPS, st->left[0], groups, NULL);
    if (window_pieces(x) > 1)
        default_fill(x->w->m, st, SCHEDULE_REGISTERS, st->left[0], 2 * window_pieces(x),
                     NULL);   // two rows of a piece
}

static void fill_threads(const windows *x, const tensor_stage *st) {
    making *m = x->w->m;
    if (x->heads > 1 && window_is_shared(x)) {
        fill_rows(x, st, window_rows(x) / DEFAULT_WINDOW / window_pieces(x));
        if (st->nleft < 2) return;
        default_fill(m, st, SCHEDULE_GROUPS, st->left[1], x->heads / window_heads_held(x), NULL);
        default_fill(m, st, SCHEDULE_REGISTERS, st->left[1], window_heads_held(x), NULL);
        return;
    }
    int64_t heads = default_power_in(x->heads, DEFAULT_WINDOW_HEADS),
            rows = x->heads > 1          ? DEFAULT_WINDOW_HEADS / heads
                   : window_is_shared(x) ? window_rows(x) / DEFAULT_WINDOW / window_pieces(x)
                                         : DEFAULT_WINDOW_ALONE;
    fill_rows(x, st, rows);
    if (st->nleft > 1 && x->apart) default_fill(m, st, SCHEDULE_BLOCK, st->left[1], 1, NULL);
    if (st->nleft < 2 || x->heads <= 1) return;
    default_fill(m, st, SCHEDULE_GROUPS, st->left[1], heads, NULL);
}

// numbers of one, 16 bytes
static int64_t access_of(const windows *x) {
    return x->type == DT_F32 ? DEFAULT_PIECE_COLUMNS / 2 : DEFAULT_PIECE_COLUMNS;
}

// Rows that warps share are read as matrices where a warp has little of them, and where the walks
// of a gradient have wide ones of f16.
static bool are_matrices(const windows *x) {
    if (window_is_rounded(x) && x->scores > 1)
        return x->heads == 1 && !window_has_little(x) && x->columns >= DEFAULT_WINDOW_WIDE &&
               x->columns % (DEFAULT_PIECE_LANES * DEFAULT_PIECE_COLUMNS) == 0;
    return x->bounded && window_is_shared(x) &&
           (x->heads > 1 || window_has_little(x) || x->columns <= DEFAULT_WINDOW_ALONE_WIDE);
}

static void fill_columns(const windows *x, const tensor_stage *st) {
    making *m = x->w->m;
    if (!x->products || st->nleft < x->depth) return;
    int64_t columns = window_up_to(x->columns, DEFAULT_PIECE_COLUMNS) / window_parts(x),
            vector = are_matrices(x) || window_is_odd(x) || x->w->four
                         ? 1
                         : default_power_in(columns / DEFAULT_PIECE_COLUMNS, access_of(x));
    tensor_var along = st->left[st->nleft - 1];
    if (window_parts(x) > 1) default_fill(m, st, SCHEDULE_GROUPS, along, window_parts(x), NULL);
    default_fill(m, st, SCHEDULE_VECTOR, along, vector, NULL);
    default_fill(m, st, SCHEDULE_REGISTERS, along, columns / (DEFAULT_PIECE_LANES * vector), NULL);
}

typedef struct {
    const planner *p;
    tensor_var along;   // that rows end on
    tensor_val source, found;
    bool *seen;   // per expression
} reading;

// The last one.
static void find_shared(reading *r, tensor_expr e) {
    const tensor_node *n = tensor_node_at(r->p->op, e);
    const tensor_node *at = n->op == TENSOR_LOAD_OP && n->nargs > 1
                                ? tensor_node_at(r->p->op, n->args[0])
                                : NULL;
    bool row = at && at->op == TENSOR_LOAD_OP && (tensor_val)at->imm.i == r->source;
    const tensor_node *last = row ? tensor_node_at(r->p->op, n->args[n->nargs - 1]) : NULL;
    if (row && last->op == TENSOR_VAR_OP && (tensor_var)last->imm.i == r->along)
        r->found = (tensor_val)n->imm.i;
    if (r->seen[e] || n->op == TENSOR_LOAD_OP) return;
    r->seen[e] = true;
    for (uint32_t i = n->nargs; i-- > 0 && r->found == TENSOR_NO_VAL;) find_shared(r, n->args[i]);
}

// What is read at the map's values: of the factor that has columns, of the score's.
static void fill_shared(walks *w, const tensor_stage *st, tensor_var along, tensor_val source) {
    tensor_expr body = plan_inline_loads(w->p, st->body[0]);
    bool *seen = ARENA_ARRAY(w->p->arena, bool, w->p->op->exprs.len + 1);
    reading r = {w->p, along, source, TENSOR_NO_VAL, seen};
    find_shared(&r, body);
    if (r.found != TENSOR_NO_VAL) default_keep(w->m, st, r.found, SCHEDULE_PLACE_SHARED);
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
            default_keep(x->w->m, st, (tensor_val)loop_matrix_factor(p->op, factor)->imm.i, place);
        }
}

bool default_window_score(walks *w, const walk *of, const tensor_stage *st) {
    windows x = default_windows_of(w, of);
    if (!default_window_dot(&x, st)) return false;
    int64_t depth = window_up_to(default_extent(w->p, st->bound[0]), DEFAULT_PIECE_DEPTH) /
                    (w->joined ? DEFAULT_WINDOW_JOINED : 1);
    int64_t vector = w->natural || w->four
                         ? 1
                         : default_power_in(depth / DEFAULT_PIECE_LANES, access_of(&x));
    if (w->joined)
        default_fill(w->m, st, SCHEDULE_GROUPS, st->bound[0], DEFAULT_WINDOW_JOINED, NULL);
    default_fill(w->m, st, SCHEDULE_VECTOR, st->bound[0], vector, NULL);
    default_fill(w->m, st, SCHEDULE_REGISTERS, st->bound[0], depth / (DEFAULT_PIECE_LANES * vector),
                 NULL);
    // that follow one another
    const int64_t products = x.type == DT_F32 ? 3 * depth / (DEFAULT_PIECE_DEPTH / 2)
                                              : depth / DEFAULT_PIECE_DEPTH;
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
    int64_t vector = default_power_in(default_extent(x->w->p, along) / DEFAULT_PIECE_LANES,
                                      access_of(x));
    default_fill(x->w->m, st, SCHEDULE_LANES, along, DEFAULT_PIECE_LANES, NULL);
    if (vector > 1) default_fill(x->w->m, st, SCHEDULE_VECTOR, along, vector, NULL);
}

// Scores that two walks read are found alike, so either all walks multiply by four warps at once,
// or none.
static const char *operation_of_all(walks *w) {
    const char *shape = NULL;
    for (uint32_t i = 0; i < w->walks.len; i++) {
        windows x = default_windows_of(w, &w->walks.data[i]);
        if (!window_fits(&x) || !window_by_four(&x) || x.heads > 1 ||
            window_sharing(&x) != DEFAULT_WINDOW_SHARING)
            return NULL;
        shape = default_group_operation(w->p, ir_dtype_text(x.type))->shape;
    }
    return shape;
}

// Where four warps multiply, the rows of their scores' first factors lie beside those of slots,
// which leaves registers free; measured on an H200, of the walks of a gradient and of a forward
// pass.
static bool keeps_own_rows(const windows *x) {
    return x->w->four && x->scores &&
           (x->scores > 1 || !x->bounded || x->columns < DEFAULT_WINDOW_WIDEST);
}

static int64_t buffers_of(const windows *x) {
    if (window_rereads(x)) return DEFAULT_WINDOW_FEW_BUFFERS;
    if (!keeps_own_rows(x)) return DEFAULT_WINDOW_BUFFERS;
    return x->columns == (x->bounded ? 2 * DEFAULT_WINDOW_WIDE : 3 * DEFAULT_WINDOW_WIDE)
               ? DEFAULT_WINDOW_FEW_BUFFERS
               : DEFAULT_WINDOW_BUFFERS;
}

bool default_window_walk(walks *w, const walk *of, const stage_group *all) {
    windows x = default_windows_of(w, of);
    bool first = true;
    if (!window_fits(&x)) return false;
    w->four = operation_of_all(w);
    const int64_t room = room_of_all(&x);
    for (uint32_t i = 0; i < all->len; i++) {
        const tensor_stage *st = window_stage(w, all->data[i]);
        bool sum = st->reducer != TENSOR_NO_REDUCER,
             product = sum && x.products && st->nleft == x.depth;
        fill_threads(&x, st);
        if (w->independent)
            schedule_fill(w->p->arena, w->m->s, default_cell(SCHEDULE_INTERLEAVE, st));
        if (sum && !st->nkeys) {
            fill_own(&x, st);
            continue;
        }
        fill_columns(&x, st);
        bool windowed = sum && (x.products ? product : first);
        if (windowed) fill_window(&x, st), first = false;
        if (product) fill_mma(&x, st, st->bound[0], x.bounded);
        if (product && room) default_room(w->m, st, room);
        if (!windowed || !window_is_shared(&x)) continue;
        default_fill(w->m, st, SCHEDULE_PIPELINE, st->bound[0], buffers_of(&x), NULL);
        if (window_rereads(&x)) fill_own_rows(&x, st, SCHEDULE_PLACE_GLOBAL);
        if (keeps_own_rows(&x)) fill_own_rows(&x, st, SCHEDULE_PLACE_SHARED);
        if (product) fill_shared(w, st, st->left[st->nleft - 1], x.source);
    }
    if (window_is_shared(&x)) VEC_PUSH(w->p->arena, &w->shared, x.source);
    w->joined |= window_joins(&x);
    if (x.products && (!w->accumulators || accumulators_of(&x) < w->accumulators))
        w->accumulators = accumulators_of(&x);
    w->natural |= (window_is_shared(&x) && x.heads > 1) || are_matrices(&x) || window_is_odd(&x);
    VEC_PUSH(w->p->arena, &w->m->dense.windows,
             ((default_dense_windows){of->map, x.source, window_density(&x), window_entries(&x),
                                      window_entries_least(&x)}));
    return true;
}
