// How many steps the default schedule writes out: rounds of a row's loop, and points that a block's
// threads have under way at once.
#include "default/default.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "axes/axes.h"

#include <string.h>

// Measured on an H200 over skewed, dense and batched graphs (bench/RECORD.md).
enum {
    UNROLLED = 512,    // operations of a loop that is written out
    STEPS = 4,         // points that each reduce a dense axis, or read by a map, under way at once
    SHARED = 8,        // lanes that are left for a row of 64 bytes: some share its entries
    ROOM_WORDS = 32,   // loaded by the points of a thread, for which DEFAULT_ROOM has registers
    LITTLE_ROOM = 1024,
    MOST_ROOM = 2048
};

// ---- Rounds of rows -----------------------------------------------------------------------------
// How many rounds of a row's loop are written out: as many as leave the loop `longest`
// instructions, of which assemblers and instruction caches still like a few hundred.
int64_t default_unroll(making *m, const tensor_stage *st, int64_t most, int64_t longest) {
    planner *p = m->p;
    schedule *whole = p->s;
    p->s = m->s;
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    uint32_t n = plan_left(p, st, left);
    tensor_var inner = n ? left[n - 1] : UINT32_MAX;
    index_cut c = n ? plan_cut(p, st, inner, false) : (index_cut){0};
    p->s = whole;
    int64_t copies = plan_or_one(c.vector) * plan_or_one(c.registers), sum = 0;
    uint8_t *seen = arena_alloc(p->arena, p->op->exprs.len + 1);
    memset(seen, 0, p->op->exprs.len + 1);
    for (uint32_t i = 0; i < st->nbody; i++)
        sum += plan_length(p, st->body[i], inner, copies, seen);
    const tensor_reducer *r = &p->op->reducers.data[st->reducer];
    for (uint32_t i = 0; i < r->nstate; i++)
        sum += plan_length(p, r->lift[i], UINT32_MAX, copies, seen) +
               plan_length(p, r->combine[i], UINT32_MAX, copies, seen);
    while (most > 1 && sum * most > longest) most /= 2;
    return most;
}

// Rounds of a row's loop under way: more where each has one row, or comes from memory; where
// entries are few, most rows are short, and a step beyond their end costs as much as one of them.
static int64_t rounds_of(const making *m, const tensor_stage *st, int64_t lanes) {
    if (m->limit.entries || m->rows == ROWS_THIN || m->rows == ROWS_FEWER) return 4;
    if (m->hand.sums && m->hand.narrow) {
        int64_t least = m->rows == ROWS_FEW && lanes == m->p->machine->lanes ? 2 : 4;
        return default_row_bytes(m, st) < DEFAULT_NARROW_ROUND ? 2 * least : least;
    }
    if (!m->hand.sums || m->rows != ROWS_FEW) return lanes > 1 ? 4 : 8;
    if (m->hand.streams) return 8;
    return default_entry_bytes(m, st) < 4 && lanes < SHARED ? 2 : 4;
}

void default_rounds(making *m, const tensor_stage *st, int64_t lanes) {
    default_fill(m, st, SCHEDULE_UNROLL, st->bound[0],
                 default_unroll(m, st, rounds_of(m, st, lanes), UNROLLED), "masked");
}

void default_whole(making *m, const tensor_stage *st, tensor_var v, const int64_t *sizes,
                   uint32_t n) {
    arena *a = m->p->arena;
    const schedule_cell *rounds = schedule_find(m->s, st->id, SCHEDULE_UNROLL,
                                                plan_var_id(m->p, v));
    if (!n || !rounds || !schedule_value_of(rounds, "masked")) return;
    int64_t *numbers = ARENA_ARRAY(a, int64_t, n);
    memcpy(numbers, sizes, n * sizeof *numbers);
    schedule_value *value = ARENA_NEW(a, schedule_value);
    *value = (schedule_value){.nnumbers = n, .numbers = numbers, .var = UINT32_MAX};
    default_say(m, default_index_cell(m->p, SCHEDULE_WHOLE, st, v), value, 1);
}

// Reductions that one walk serves write out as many rounds as the dearest of them stands.
void default_level_rounds(making *m, const stage_group *g) {
    planner *p = m->p;
    for (uint32_t i = 0, end; i < g->len; i = end) {
        const schedule_cell *least = NULL;
        end = plan_run_end(p, g, i);
        for (uint32_t k = i; k < end && end > i + 1; k++) {
            const tensor_stage *st = &p->op->stages.data[g->data[k]];
            const schedule_cell *c = schedule_find(m->s, st->id, SCHEDULE_UNROLL,
                                                   p->op->vars.data[st->bound[0]].id);
            if (k == i || !c || (least && schedule_number(c, NULL) < schedule_number(least, NULL)))
                least = c;
            if (!least) break;
        }
        for (uint32_t k = i; k < end && end > i + 1; k++) {
            const tensor_stage *st = &p->op->stages.data[g->data[k]];
            schedule_cell c = default_index_cell(p, SCHEDULE_UNROLL, st, st->bound[0]);
            c.empty = !least;
            if (least) c.nvalues = least->nvalues, c.values = least->values;
            schedule_fill(p->arena, m->s, c);
        }
    }
}

// ---- Points -------------------------------------------------------------------------------------
typedef struct {
    const planner *p;
    tensor_var along;
    int64_t bytes;
} load_count;

static bool count_bytes(void *user, const tensor_node *load) {
    load_count *c = user;
    const tensor_node *last = load->nargs ? tensor_node_at(c->p->op, load->args[load->nargs - 1])
                                          : NULL;
    if (last && last->op == TENSOR_VAR_OP && (tensor_var)last->imm.i == c->along)
        c->bytes += ir_dtype_bytes(c->p->op->vals.data[load->imm.i].type);
    return true;
}

// Registers of 32 bits for what a thread loads of the dense axis, of all points that it has under
// way.
static int64_t loaded_words(making *m, const tensor_stage *dot, const tensor_stage *st,
                            const tensor_var *left, uint32_t n, int64_t steps) {
    load_count c = {m->p, dot->bound[0], 0};
    plan_loads(m->p, dot, count_bytes, &c);
    index_cut d = default_cut_of(m, dot, dot->bound[0], true);
    int64_t points = steps * plan_or_one(d.vector) * plan_or_one(d.registers);
    for (uint32_t i = 1; i < n; i++)
        points *= plan_or_one(default_cut_of(m, st, left[i], false).registers);
    return c.bytes * points / 4;
}

// Points that each reduce a dense axis: several are under way, as far as registers hold what they
// load, and the lanes that reduce go on with one each. 128 bytes of f32 a thread are best, of 16
// bits 256.
static void fill_steps(making *m, const stage_group *g, const tensor_stage *st,
                       const tensor_var *left, uint32_t n) {
    const tensor_stage *dot = &m->p->op->stages.data[g->data[0]];
    int64_t lanes = default_cut_of(m, dot, dot->bound[0], true).lanes, held = 1;
    for (uint32_t i = 1; i < n; i++) {
        int64_t heads = default_cut_of(m, st, left[i], false).registers;
        if (heads > 1) held *= heads;
    }
    int64_t steps = lanes <= 1 || held > 2 ? 2
                    : lanes < STEPS        ? lanes
                                           : STEPS,
            words = default_bytes_along(m, dot, dot->bound[0]) < 4 ? 2 * ROOM_WORDS : ROOM_WORDS;
    while (steps > 2 && loaded_words(m, dot, st, left, n, steps) > words) steps /= 2;
    default_fill(m, st, SCHEDULE_UNROLL, left[0], steps, lanes > 1 ? "dealt" : NULL);
}

// Those that reduce nothing, and read by maps: rows wait for these.
static bool gathers(making *m, const stage_group *g) {
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &m->p->op->stages.data[g->data[i]];
        if (st->reducer != TENSOR_NO_REDUCER || st->loop != TENSOR_NO_LOOP || !st->nleft)
            return false;
    }
    return !default_streams(m, g);
}

void default_room(making *m, const tensor_stage *st, int64_t threads) {
    schedule_value *n = ARENA_ARRAY(m->p->arena, schedule_value, 2);
    n[0] = (schedule_value){.number = threads, .var = UINT32_MAX};
    n[1] = (schedule_value){.keyword = "fit", .var = UINT32_MAX};
    default_say(m, default_cell(SCHEDULE_OCCUPANCY, st), n, 2);
}

// Numbers of 16 bits take more registers as they are widened, for which an assembler lets loads
// wait.
static void fill_room(making *m, const tensor_stage *st, int64_t bytes) {
    if (bytes < 4) default_room(m, st, DEFAULT_ROOM);
}

static bool one_round(making *m, const tensor_stage *st, tensor_var v) {
    index_cut c = default_cut_of(m, st, v, true);
    int64_t points = plan_or_one(c.lanes) * plan_or_one(c.vector) * plan_or_one(c.registers);
    return default_extent(m->p, v) && default_extent(m->p, v) <= points;
}

// Told for how many threads there is to be room, an assembler keeps what all points under way load
// in registers; not told, it computes with the first before it loads the last. Of several rounds of
// lanes it would have to spill. Many points that load much wait for their loads more than for room;
// heads of one lane that load little, or are not many, for neither.
static void fill_dot_room(making *m, const tensor_stage *dot, const tensor_stage *st,
                          const tensor_var *left, uint32_t n) {
    if (!one_round(m, dot, dot->bound[0])) return;
    int64_t words = loaded_words(m, dot, st, left, n,
                                 plan_or_one(default_cut_of(m, st, left[0], false).unroll));
    bool many = m->rows == ROWS_MANY_POINTS,
         lane = default_cut_of(m, dot, dot->bound[0], true).lanes <= 1;
    if (words > 2 * ROOM_WORDS || (lane && (!many || words <= ROOM_WORDS / 2))) return;
    default_room(m, st, many && words > ROOM_WORDS ? LITTLE_ROOM : DEFAULT_ROOM);
}

// Not told, an assembler gives tiles of 16 bits 64 registers, and half as many threads wait for
// what they load.
void default_tile_room(making *m, const tensor_stage *dot, const tensor_var *left, uint32_t n,
                       int64_t steps) {
    int64_t words = loaded_words(m, dot, dot, left, n, steps);
    if (default_bytes_along(m, dot, dot->bound[0]) >= 4 || !one_round(m, dot, dot->bound[0]) ||
        words > 2 * ROOM_WORDS)
        return;
    default_room(m, dot, words <= ROOM_WORDS ? MOST_ROOM : DEFAULT_ROOM);
}

// A version of few points, or of many: all of them are of one space.
void default_note_points(making *m, tensor_var point) {
    tensor_space s = m->p->op->vars.data[point].space;
    m->unfit |= m->points != TENSOR_NO_SPACE && m->points != s;
    m->points = s;
}

void default_steps(making *m, const stage_group *g, const tensor_stage *st, const tensor_var *left,
                   uint32_t n) {
    const tensor_stage *first = &m->p->op->stages.data[g->data[0]];
    bool points = default_is_dot(m->p, g) || gathers(m, g);
    if (m->rows == ROWS_FEW_POINTS) {
        m->unfit |= !points || default_streams(m, g);
        default_note_points(m, left[0]);
        return;
    }
    if (m->rows == ROWS_MANY_POINTS) {   // what stores a row each is held up by its turns
        m->unfit |= !default_is_dot(m->p, g) || default_streams(m, g);
        default_note_points(m, left[0]);
    }
    if (default_is_dot(m->p, g)) {
        fill_steps(m, g, st, left, n);
        fill_dot_room(m, first, st, left, n);
    } else if (gathers(m, g)) {
        default_fill(m, st, SCHEDULE_UNROLL, left[0], STEPS, NULL);
        fill_room(m, st, default_entry_bytes(m, st));
    }
}
