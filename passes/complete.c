// What a schedule leaves open takes the default: the cells of kernels it does not deal out, the
// shape of contractions of which it says no more than `mma`, and blocks for the outermost index of
// those it does. Of spmm, an empty schedule gets all that the default says of y, and `groups v 4;`
// gets `y: block v 4`.
#include "default/default.h"
#include "default/ask/ask.h"
#include "default/matrix/contraction.h"
#include "default/stages/stages.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "axes/axes.h"
#include "nests/nests.h"
#include "planning.h"

enum { PLAIN_THREADS = 128 };

static const schedule_verb dealing[] = {
    SCHEDULE_BLOCK,   SCHEDULE_SPLIT,    SCHEDULE_GROUPS,    SCHEDULE_TILE,   SCHEDULE_LANES,
    SCHEDULE_VECTOR,  SCHEDULE_COLLAPSE, SCHEDULE_REGISTERS, SCHEDULE_UNROLL, SCHEDULE_BUCKET,
    SCHEDULE_COMBINE, SCHEDULE_WINDOW,   SCHEDULE_LOOPS};

// Whether the schedule says so of an index of the stage; `none` counts.
static bool says(const making *m, const tensor_stage *st, schedule_verb verb, tensor_var v) {
    const schedule *s = m->p->s;
    for (uint32_t i = 0; i < s->cells.len; i++) {
        const schedule_cell *c = &s->cells.data[i];
        if (c->verb == verb && schedule_covers(s, c, st->id) &&
            (!c->about.n || plan_is_among(m->p, c->about, v)))
            return true;
    }
    return false;
}

static bool deals_out(const making *m, const tensor_stage *st) {
    for (uint32_t k = 0; k < sizeof dealing / sizeof *dealing; k++) {
        for (uint32_t i = 0; i < st->nleft; i++)
            if (says(m, st, dealing[k], st->left[i])) return true;
        for (uint32_t i = 0; i < st->nbound; i++)
            if (says(m, st, dealing[k], st->bound[i])) return true;
    }
    return false;
}

static int64_t points_at_once(planner *p, const tensor_stage *st, tensor_var v) {
    index_cut c = plan_cut(p, st, v, false);
    int64_t inner = plan_or_one(c.vector) * plan_or_one(c.lanes) * plan_or_one(c.registers) *
                    plan_or_one(c.unroll);
    return plan_or_one(c.groups) * (c.tile ? c.tile : inner) *
           (p->machine->gpu ? 1 : p->machine->block_points);
}

// It says itself what goes to blocks.
static bool places_blocks(const making *m, const tensor_stage *st, tensor_var outermost) {
    static const schedule_verb verbs[] = {SCHEDULE_BLOCK, SCHEDULE_BUCKET, SCHEDULE_WINDOW,
                                          SCHEDULE_LOOPS};
    for (uint32_t k = 0; k < sizeof verbs / sizeof *verbs; k++)
        if (says(m, st, verbs[k], outermost)) return true;
    for (uint32_t i = 0; i < st->nbound; i++)
        if (says(m, st, SCHEDULE_BLOCK, st->bound[i])) return true;
    return false;
}

// Where nothing is reduced and no groups are said of, rows are dealt out to as many warps as a block
// of a plain kernel has: one alone would leave most of a multiprocessor idle.
static int64_t groups_of_points(const making *m, const stage_group *g) {
    planner *p = m->p;
    int64_t lanes = 1;
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        if (st->reducer != TENSOR_NO_REDUCER || st->loop != TENSOR_NO_LOOP || st->nleft < 2)
            return 1;
        int64_t own = 1;
        for (uint32_t k = 0; k < st->nleft; k++) {
            index_cut c = plan_cut(p, st, st->left[k], false);
            bool said = says(m, st, SCHEDULE_GROUPS, st->left[k]);
            if (said || c.tile || (!k && (c.lanes || c.registers || c.vector))) return 1;
            own *= plan_or_one(c.lanes);
        }
        if (own > lanes) lanes = own;
    }
    return p->machine->gpu && lanes < PLAIN_THREADS ? PLAIN_THREADS / lanes : 1;
}

// The stages share the loop over their outermost index, so one number holds for all.
static void give_blocks(making *m, const stage_group *g) {
    planner *p = m->p;
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, p->op->vars.len + 1);
    int64_t points = 1;
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        if (!plan_left(p, st, left)) continue;
        if (places_blocks(m, st, left[0])) return;
        int64_t own = points_at_once(p, st, left[0]);
        if (own > points) points = own;
    }
    const int64_t groups = groups_of_points(m, g);
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        if (!plan_left(p, st, left)) continue;
        default_fill(m, st, SCHEDULE_GROUPS, left[0], groups, NULL);
        default_fill(m, st, SCHEDULE_BLOCK, left[0], points * groups, NULL);
    }
}

static void complete(making *m, stage_group *g) {
    bool said = false;
    if (!g->len || plan_keeps_shared(m->p, g, false)) return;
    bool matrix = false;
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &m->p->op->stages.data[g->data[i]];
        said |= deals_out(m, st);
        matrix |= plan_asks_matrix(m->p, st);
    }
    if (!said && matrix && (default_matrix(m, g) || default_outer(m, g))) return;
    if (said || matrix) {
        give_blocks(m, g);
        return;
    }
    // unless they are asked for: nothing else would do if they were refused
    m->p->facts->no_matrices = true;
    if (m->rows == ROWS_SKEWED) default_kernel(m, g);
    else default_stages(m, g);
    m->p->facts->no_matrices = false;
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_id id = plan_stage(m->p, g->data[i])->id;
        said |= schedule_find(m->p->s, id, SCHEDULE_COMPUTE, TENSOR_ALL) ||
                schedule_find(m->p->s, id, SCHEDULE_ACCUMULATE, TENSOR_ALL);
    }
    if (!said && m->rows != ROWS_SKEWED) default_extremes(m, g);
}

static void complete_kernels(making *m) {
    planner *p = m->p;
    stage_group g = {0};
    plan_fuse_order(p);
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        bool fused = plan_fuse_cell(p, i) != NULL;
        if (plan_inlined(p, i)) continue;
        if (fused || !plan_joins(p, &g, i)) {
            complete(m, &g);
            g = (stage_group){0};
        }
        if (!fused) VEC_PUSH(p->arena, &g, i);
    }
    complete(m, &g);
}

// The class that supposes nothing.
static const plan_class *any_class(const machine *on) {
    uint32_t i = 0;
    while (plan_class_at(on, i + 1)) i++;
    return plan_class_at(on, i);
}

static schedule_cell *said_there(const schedule *s, const schedule_cell *c) {
    return schedule_find(s, c->of, c->verb, c->about.n ? c->about.data[0] : TENSOR_ALL);
}

// A matrix operation whose shape the schedule leaves open takes the place of the statement there.
static void take(arena *a, schedule *whole, schedule_cell c) {
    schedule_cell *said = c.verb == SCHEDULE_MMA ? said_there(whole, &c) : NULL;
    if (said) said->consumed = true, c.at = said->at;
    if (said && said->of == c.of) *said = c;
    else VEC_PUSH(a, &whole->cells, c);
}

schedule *plan_complete(arena *a, diag_set *ds, const tensor_op *op, const schedule *s,
                        const machine *on, plan_rows rows, version_facts *facts) {
    schedule *quiet = ARENA_NEW(a, schedule), *made = ARENA_NEW(a, schedule),
             *whole = ARENA_NEW(a, schedule);
    *quiet = *whole = *s;
    *made = (schedule){.name = s->name, .automatic = true, .ids = s->ids};
    quiet->automatic = true;
    quiet->cells.data = whole->cells.data = NULL;
    quiet->cells.len = quiet->cells.cap = whole->cells.len = whole->cells.cap = 0;
    for (uint32_t i = 0; i < s->cells.len; i++) {
        VEC_PUSH(a, &quiet->cells, s->cells.data[i]);
        VEC_PUSH(a, &whole->cells, s->cells.data[i]);
    }
    planner p = plan_new(a, ds, op, quiet, on, facts);
    if (!plan_equations(&p, false)) return rows == ROWS_EVEN ? whole : NULL;
    making m = {.p = &p,
                .s = made,
                .class = any_class(on),
                .rows = rows,
                .groups = default_groups(&p),
                .tiled = TENSOR_NO_VAL,
                .points = TENSOR_NO_SPACE};
    if (rows == ROWS_SKEWED) {   // keys of the default are values beside the op's
        made->op = whole->op = tensor_op_copy(a, s->op ? s->op : op);
        made->stages = s->stages;
    }
    complete_kernels(&m);
    if (rows == ROWS_SKEWED) {
        bool walks = false;
        for (uint32_t i = 0; i < m.walked.len; i++) walks |= m.walked.data[i] != TENSOR_NO_VAL;
        if (!walks || m.unfit) return NULL;
        whole->name = arena_printf(a, "%s%s", s->name, plan_rows_info(rows)->text);
        whole->automatic = true;   // what is wrong is told of the version for other rows
        whole->stages = made->stages;
        default_suppose_long(&m);
    } else if (rows != ROWS_EVEN) {
        if (m.unfit ||
            (plan_rows_info(rows)->family == ROWS_FAMILY_OUTER ? !m.outer.len
                                                               : m.points == TENSOR_NO_SPACE))
            return NULL;
        whole->name = arena_printf(a, "%s%s", s->name, plan_rows_info(rows)->text);
        default_guards(&m);
    }
    default_nones(&m);
    for (uint32_t i = 0; i < made->cells.len; i++) {
        schedule_cell c = made->cells.data[i];
        if (c.empty && said_there(s, &c)) continue;   // the schedule says more there
        c.consumed = c.made = true;                   // nobody asked for it
        c.at = s->at;
        take(a, whole, c);
    }
    return whole;
}
