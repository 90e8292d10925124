// How many points a block's threads have under way at once, where each reduces a dense axis or
// reads by a map, and for how many threads there is to be room then.
//     s[e, h] = sum{d} q[dst[e], h, d] * k[src[e], h, d]   →  unroll e 4 distributed
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/stages/stages.h"
#include "base/base.h"

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
                            int64_t steps) {
    const default_left left = default_left_of(m->p, st);
    load_count c = {m->p, dot->bound[0], 0};
    plan_loads(m->p, dot, count_bytes, &c);
    index_cut d = default_cut_of(m, dot, dot->bound[0], true);
    int64_t points = steps * plan_or_one(d.vector) * plan_or_one(d.registers);
    for (uint32_t i = 1; i < left.n; i++)
        points *= plan_or_one(default_cut_of(m, st, left.at[i], false).registers);
    return c.bytes * points / 4;
}

// Points that each reduce a dense axis: several are under way, as far as registers hold what they
// load, and the lanes that reduce go on with one each. 128 bytes of f32 a thread are best, of 16
// bits 256.
static void fill_steps(making *m, const stage_group *g, const tensor_stage *st) {
    const default_left left = default_left_of(m->p, st);
    const tensor_stage *dot = &m->p->op->stages.data[g->data[0]];
    int64_t lanes = default_cut_of(m, dot, dot->bound[0], true).lanes, held = 1;
    for (uint32_t i = 1; i < left.n; i++) {
        int64_t heads = default_cut_of(m, st, left.at[i], false).registers;
        if (heads > 1) held *= heads;
    }
    int64_t steps = lanes <= 1 || held > 2        ? 2
                    : lanes < DEFAULT_POINT_STEPS ? lanes
                                                  : DEFAULT_POINT_STEPS,
            words = default_bytes_along(m->p, dot, dot->bound[0]) < 4 ? 2 * DEFAULT_WORDS_AHEAD
                                                                      : DEFAULT_WORDS_AHEAD;
    while (steps > 2 && loaded_words(m, dot, st, steps) > words) steps /= 2;
    default_fill(m, st, SCHEDULE_UNROLL, left.at[0], steps, lanes > 1 ? "distributed" : NULL);
}

// Those that reduce nothing, and read by maps: rows wait for these.
static bool gathers(making *m, const stage_group *g) {
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &m->p->op->stages.data[g->data[i]];
        if (st->reducer != TENSOR_NO_REDUCER || st->loop != TENSOR_NO_LOOP || !st->nleft)
            return false;
    }
    return !default_streams(m->p, g);
}

typedef struct {
    making *m;
    const tensor_stage *st;
    int64_t words;
} word_count;

// Of a load, those of all axes that it mentions: a thread has them in registers.
static bool count_words(void *user, const tensor_node *load) {
    word_count *c = user;
    int64_t bytes = ir_dtype_bytes(c->m->p->op->vals.data[load->imm.i].type);
    for (uint32_t i = 1; i < c->st->nleft; i++) {
        index_cut d = default_cut_of(c->m, c->st, c->st->left[i], false);
        if (plan_load_mentions(c->m->p, load, c->st->left[i]))
            bytes *= plan_or_one(d.vector) * plan_or_one(d.registers);
    }
    c->words += (bytes + DEFAULT_WORD - 1) / DEFAULT_WORD;
    return true;
}

// Points of a thread under way at once, as far as registers hold what they load.
static int64_t gathered_steps(making *m, const stage_group *g) {
    int64_t steps = DEFAULT_POINT_STEPS;
    word_count c = {m, NULL, 0};
    for (uint32_t i = 0; i < g->len; i++) {
        c.st = &m->p->op->stages.data[g->data[i]];
        plan_loads(m->p, c.st, count_words, &c);
    }
    while (steps > 1 && c.words * steps > DEFAULT_POINT_WORDS) steps /= 2;
    return steps;
}

// Numbers of 16 bits take more registers as they are widened, for which an assembler lets loads
// wait.
static void fill_room(making *m, const tensor_stage *st, int64_t bytes) {
    if (bytes < 4) default_room(m, st, DEFAULT_ROOM_40);
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
                          tensor_var point) {
    if (!one_round(m, dot, dot->bound[0])) return;
    int64_t words = loaded_words(m, dot, st,
                                 plan_or_one(default_cut_of(m, st, point, false).unroll));
    bool many = m->rows == ROWS_MANY_POINTS,
         lane = default_cut_of(m, dot, dot->bound[0], true).lanes <= 1;
    if (words > 2 * DEFAULT_WORDS_AHEAD || (lane && (!many || words <= DEFAULT_WORDS_AHEAD / 2)))
        return;
    default_room(m, st, many && words > DEFAULT_WORDS_AHEAD ? DEFAULT_ROOM_64 : DEFAULT_ROOM_40);
}

// Not told, an assembler gives tiles of 16 bits 64 registers, and half as many threads wait for
// what they load.
void default_tile_room(making *m, const tensor_stage *dot, int64_t steps) {
    int64_t words = loaded_words(m, dot, dot, steps);
    if (default_bytes_along(m->p, dot, dot->bound[0]) >= 4 || !one_round(m, dot, dot->bound[0]) ||
        words > 2 * DEFAULT_WORDS_AHEAD)
        return;
    default_room(m, dot, words <= DEFAULT_WORDS_AHEAD ? DEFAULT_ROOM_32 : DEFAULT_ROOM_40);
}

void default_steps(making *m, const stage_group *g, const tensor_stage *st) {
    const tensor_stage *first = plan_stage(m->p, g->data[0]);
    const tensor_var point = default_left_of(m->p, st).at[0];
    bool points = default_is_dot(m->p, g) || gathers(m, g);
    if (m->rows == ROWS_FEW_POINTS) {
        m->unfit |= !points || default_streams(m->p, g);
        default_note_points(m, point);
        return;
    }
    if (m->rows == ROWS_MANY_POINTS) {   // what stores a row each is held up by its turns
        m->unfit |= !default_is_dot(m->p, g) || default_streams(m->p, g);
        default_note_points(m, point);
    }
    if (default_is_dot(m->p, g)) {
        fill_steps(m, g, st);
        fill_dot_room(m, first, st, point);
    } else if (gathers(m, g)) {
        default_fill(m, st, SCHEDULE_UNROLL, point, gathered_steps(m, g), NULL);
        fill_room(m, st, default_entry_bytes(m->p, st));
    }
}
