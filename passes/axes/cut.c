// How an index is dealt out: its cells as the digits of a loop, innermost first:
//     block 64, groups 4, registers 2, lanes 8, vector 4  →  [vector 4, register 2, lane 8, serial … , group
//     4, block]
#include "axes/axes.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <string.h>

typedef struct {
    schedule_verb verb;
    int64_t *number;
} cut_field;

static int64_t constant_extent(const planner *p, const index_cut *c) {
    const tensor_space_info *s = &p->op->spaces.data[p->op->vars.data[c->var].space];
    int64_t pad = c->pad ? c->pad : 1;
    return s->kind == SPACE_CONST ? (s->size + pad - 1) / pad * pad : 0;
}

// The fewest lanes, a power of two, that cover an index of known extent.
static int64_t fit(planner *p, const index_cut *c, const schedule_cell *cell) {
    int64_t extent = constant_extent(p, c),
            held = (c->vector ? c->vector : 1) * (c->registers ? c->registers : 1);
    if (!extent) {
        const char *space = p->op->spaces.data[p->op->vars.data[c->var].space].name;
        diagnostic *d = plan_refuse(
            p, E0544, cell->at, "how many lanes fit '%s' is not known: its extent is no constant",
            plan_index_text(p, c->var));
        if (d)
            diag_help(d,
                      "give the size when compiling, as -D %s=64 does, or in the schedule's "
                      "condition, `when (%s == 64)`, or a number of lanes",
                      space, space);
        return 1;
    }
    int64_t lanes = 1;
    while (lanes < 32 && lanes * held < extent) lanes *= 2;
    return lanes;
}

// What a machine has one instruction for.
static void check_vector(planner *p, index_cut *c, const schedule_cell *cell) {
    if (c->vector <= 16 && !(c->vector & (c->vector - 1))) return;
    diagnostic *d = plan_refuse(p, E0548, cell->at, "a vector has 2, 4, 8 or 16 elements, not %lld",
                                (long long)c->vector);
    if (d)
        diag_help(d, "what a thread holds beyond a vector is for registers: `registers %s %lld`",
                  plan_index_text(p, c->var), (long long)c->vector);
    c->vector = 0;
}

static const char *var_name(const planner *p, const index_cut *c) {
    return plan_index_text(p, c->var);
}

// The statements whose points make up `part`; groups lie outside a tile.
static void note_parts(const planner *p, const index_cut *c, diagnostic *d, bool groups) {
    static const schedule_verb parts[] = {SCHEDULE_TILE, SCHEDULE_GROUPS, SCHEDULE_REGISTERS,
                                          SCHEDULE_LANES, SCHEDULE_VECTOR};
    for (uint32_t i = groups ? 0 : 2; i < sizeof parts / sizeof *parts; i++)
        if (c->cell[parts[i]])
            diag_note(d, c->cell[parts[i]]->at, "'%s %s' is one of its factors",
                      schedule_verb_text(parts[i]), var_name(p, c));
}

static void uneven(planner *p, const index_cut *c, schedule_verb verb, int64_t whole,
                   int64_t part) {
    const char *text = schedule_verb_text(verb), *name = var_name(p, c);
    diagnostic *d = plan_refuse(
        p, E0542, c->cell[verb]->at,
        "'%s %s %lld' is no multiple of the %lld points that its factors cover together", text,
        name, (long long)whole, (long long)part);
    if (!d) return;
    note_parts(p, c, d, verb == SCHEDULE_BLOCK);
    diag_help(d, "take a multiple: `%s %s %lld`", text, name,
              (long long)((whole / part + 1) * part));
}

static void add_digit(loop_node *n, loop_place place, int64_t extent) {
    if (extent <= 1) return;
    if (n->ndigits == LOOP_MAX_DIGITS)
        ICE("an index is cut into more digits than there are places");
    n->digits[n->ndigits++] = (loop_digit){place, (uint32_t)extent, 1};
}

// A tile that rows are copied for is a round: registers take all of its points at once.
static void take_round(planner *p, index_cut *c) {
    loop_node n = {0};
    plan_matrix_digits(c, add_digit, &n);
    int64_t part = loop_digits_product(&n) * plan_or_one(c->groups);
    if (c->tile % part) uneven(p, c, SCHEDULE_TILE, c->tile, part);
    c->registers = plan_or_one(c->registers) * (c->tile / part);
    if (c->registers < 1) c->registers = 1;
    c->tile = 0;
}

index_cut plan_cut(planner *p, const tensor_stage *st, tensor_var v, bool bound) {
    index_cut c = {.stage = st, .var = v, .bound = bound, .pad = plan_pad(p, st, v)};
    c.cell[SCHEDULE_PAD] = schedule_find(p->s, st->id, SCHEDULE_PAD, p->op->vars.data[v].id);
    const cut_field fields[] = {{SCHEDULE_BLOCK, &c.block},   {SCHEDULE_GROUPS, &c.groups},
                                {SCHEDULE_TILE, &c.tile},     {SCHEDULE_REGISTERS, &c.registers},
                                {SCHEDULE_VECTOR, &c.vector}, {SCHEDULE_UNROLL, &c.unroll},
                                {SCHEDULE_LANES, &c.lanes}};
    for (uint32_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        schedule_cell *cell = schedule_find(p->s, st->id, fields[i].verb, p->op->vars.data[v].id);
        if (!cell) continue;
        cell->consumed = true;
        c.cell[fields[i].verb] = cell;
        *fields[i].number = schedule_number(cell, NULL);
        if (fields[i].verb == SCHEDULE_VECTOR) check_vector(p, &c, cell);
        if (fields[i].verb == SCHEDULE_REGISTERS)
            c.strided = schedule_value_of(cell, "strided") != NULL;
        if (fields[i].verb == SCHEDULE_LANES)
            c.uniform = schedule_value_of(cell, "uniform") != NULL;
        if (fields[i].verb == SCHEDULE_UNROLL) c.masked = schedule_value_of(cell, "masked") != NULL;
        if (fields[i].verb == SCHEDULE_UNROLL)
            c.distributed = schedule_value_of(cell, "distributed") != NULL;
        if (fields[i].verb == SCHEDULE_LANES && !c.lanes) c.lanes = fit(p, &c, cell);
    }
    c.fetches = schedule_find(p->s, st->id, SCHEDULE_PIPELINE, p->op->vars.data[v].id) != NULL;
    plan_matrix_cut(p, &c);
    if (c.matrix && c.fetches && c.tile) take_round(p, &c);
    return c;
}

bool plan_same_cut(planner *p, const tensor_stage *a, tensor_var v, const tensor_stage *b,
                   tensor_var w) {
    index_cut x = plan_cut(p, a, v, false), y = plan_cut(p, b, w, false);
    const int64_t c[] = {x.groups, x.tile,    x.registers, x.lanes,       x.vector,
                         x.unroll, x.strided, x.masked,    x.distributed, x.pad},
                  d[] = {y.groups, y.tile,    y.registers, y.lanes,       y.vector,
                         y.unroll, y.strided, y.masked,    y.distributed, y.pad};
    return !memcmp(c, d, sizeof c);
}

// Loops are counted in 20 bits; no machine deals out more.
static bool too_many(planner *p, const index_cut *c) {
    static const schedule_verb verbs[] = {SCHEDULE_VECTOR, SCHEDULE_REGISTERS, SCHEDULE_LANES,
                                          SCHEDULE_TILE,   SCHEDULE_GROUPS,    SCHEDULE_BLOCK};
    const int64_t most = 1 << 20,
                  sizes[] = {c->vector, c->registers, c->lanes, c->tile, c->groups, c->block};
    int64_t points = 1;
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        // of what came before
        bool whole = verbs[i] == SCHEDULE_TILE || verbs[i] == SCHEDULE_BLOCK;
        points = whole && sizes[i] ? sizes[i] : points * plan_or_one(sizes[i]);
        if (points + c->pad <= most) continue;
        diagnostic *d = plan_refuse(
            p, E0542, c->cell[verbs[i]]->at,
            "with '%s %s %lld' a block takes %lld points at a time, and at most %lld are possible",
            schedule_verb_text(verbs[i]), var_name(p, c), (long long)sizes[i], (long long)points,
            (long long)most);
        if (d) diag_help(d, "what is not distributed is serial");
        return true;
    }
    return false;
}

// Steps written out are the innermost serial ones: some of a digit's, all of which are masked where
// they may pass the end, or of the rest's.
static void write_out(planner *p, const index_cut *c, loop_node *n) {
    uint32_t d = 0, times = (uint32_t)c->unroll;
    while (d < n->ndigits && n->digits[d].place != LOOP_SERIAL_PLACE) d++;
    if (times <= 1) return;
    if (c->distributed) plan_distribute_steps(p, c, n);
    if (d == n->ndigits && n->rest == LOOP_SERIAL_PLACE) {
        n->rounds.unroll = times;
        n->rounds.masked = c->masked;
    } else if (d == n->ndigits) {
        diagnostic *f = plan_refuse(
            p, E0540, c->cell[SCHEDULE_UNROLL]->at,
            "'unroll %s' has nothing to do here: no step along '%s' is serial", var_name(p, c),
            var_name(p, c));
        if (f)
            diag_help(
                f,
                "leave it out: what blocks, groups, lanes, registers and vectors take is no loop");
    } else if (n->digits[d].extent <= times) {
        n->digits[d].place = LOOP_UNROLL_PLACE;
    } else if (n->digits[d].extent % times) {
        diagnostic *f = plan_refuse(p, E0542, c->cell[SCHEDULE_UNROLL]->at,
                                    "'unroll %s %u' does not divide the %u serial steps there are",
                                    var_name(p, c), times, n->digits[d].extent);
        if (!f) return;
        note_parts(p, c, f, true);
        while (n->digits[d].extent % times) times++;
        diag_help(f, "take a number that does: `unroll %s %u`", var_name(p, c), times);
    } else {
        for (uint32_t i = n->ndigits++; i > d; i--) n->digits[i] = n->digits[i - 1];
        n->digits[d] = (loop_digit){LOOP_UNROLL_PLACE, times, 1};
        n->digits[d + 1].extent /= times;
    }
}

// Who deals out positions of several rows sees to it.
static void check_uniform(planner *p, const index_cut *c) {
    if (!c->uniform) return;
    diagnostic *d = plan_refuse(
        p, E0540, c->cell[SCHEDULE_LANES]->at,
        "'uniform' has nothing to do here: lanes along '%s' have no positions of several rows",
        var_name(p, c));
    if (d)
        diag_help(d,
                  "leave it out: it is for lanes along what a block of positions is reduced over");
}

int64_t plan_parts_of(const index_cut *c) {
    const int64_t n[] = {c->groups, c->tile, c->registers, c->lanes, c->vector};
    int64_t part = 1;
    if (c->tile) return c->tile * plan_or_one(c->groups);
    for (uint32_t i = 0; i < sizeof n / sizeof *n; i++) part *= plan_or_one(n[i]);
    return part;
}

static void add_points(const index_cut *c, loop_node *n) {
    add_digit(n, LOOP_VECTOR_PLACE, c->vector);
    if (!c->strided) add_digit(n, LOOP_REGISTER_PLACE, c->registers);
    add_digit(n, LOOP_LANE_PLACE, c->lanes);
    if (c->strided) add_digit(n, LOOP_REGISTER_PLACE, c->registers);
}

void plan_digits(planner *p, const index_cut *c, loop_node *n) {
    int64_t part;
    n->rest = c->block ? LOOP_BLOCK_PLACE : LOOP_SERIAL_PLACE;
    if (too_many(p, c)) return;
    if (c->matrix) plan_matrix_digits(c, add_digit, n);
    else add_points(c, n);
    part = loop_digits_product(n);
    if (c->tile && c->tile % part) {
        uneven(p, c, SCHEDULE_TILE, c->tile, part);
        return;
    }
    if (c->tile) add_digit(n, LOOP_SERIAL_PLACE, c->tile / part);
    int64_t groups = plan_or_one(c->groups);
    part = loop_digits_product(n) * groups;
    if (c->fetches) add_digit(n, LOOP_GROUP_PLACE, groups);   // a round is of all groups
    if (c->block && c->block % part) uneven(p, c, SCHEDULE_BLOCK, c->block, part);
    else if (c->block) add_digit(n, LOOP_SERIAL_PLACE, c->block / part);
    if (!c->fetches) add_digit(n, LOOP_GROUP_PLACE, groups);
    bool whole = !c->block && n->ndigits && constant_extent(p, c) == loop_digits_product(n) &&
                 !c->bound;
    if (whole) n->rest = LOOP_WHOLE_PLACE;
    write_out(p, c, n);
    check_uniform(p, c);
}

// Outer loops from the top, so that all stages under them agree; inner ones from the bottom,
// neighbours first.
bool plan_units(loop_node *const *outer, uint32_t nouter, loop_node *const *inner, uint32_t ninner,
                loop_place place, uint32_t total) {
    uint32_t top = total, bottom = 1;
    for (uint32_t i = 0; i < nouter; i++)
        for (uint32_t d = outer[i]->ndigits; d-- > 0;) {
            loop_digit *x = &outer[i]->digits[d];
            if (x->place != place) continue;
            if (top % x->extent) return false;
            x->unit = top /= x->extent;
        }
    for (uint32_t i = 0; i < ninner; i++)
        for (uint32_t d = 0; d < inner[i]->ndigits; d++) {
            loop_digit *x = &inner[i]->digits[d];
            if (x->place != place) continue;
            x->unit = bottom;
            bottom *= x->extent;
        }
    return top % bottom == 0;
}
