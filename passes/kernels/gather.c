// Which stages a statement fuses, and their order: those of one statement stand next to each other,
// what they need before them and what needs them after.
//     fuse a, d at v   →  a b c d becomes b a d c where d reads b and c reads a
#include "kernels/kernels.h"
#include "base/base.h"

// The statement of the walk that computes a stage again: of those that read it; NULL: none does.
static const schedule_cell *again_in(const planner *p, uint32_t stage) {
    const schedule_cell *walk = NULL;
    if (!tensor_marked(plan_stage(p, stage), TENSOR_AGAIN)) return NULL;
    for (uint32_t i = stage + 1; i < p->op->stages.len && !walk; i++)
        if (!plan_inlined(p, i) && plan_reads_stage(p, i, stage)) walk = plan_fuse_cell(p, i);
    return walk;
}

const schedule_cell *plan_fuse_cell(const planner *p, uint32_t stage) {
    const tensor_id id = plan_stage(p, stage)->id;
    const schedule_cell *again = again_in(p, stage);
    return again ? again : schedule_find(plan_whole_schedule(p), id, SCHEDULE_FUSE, id);
}

// Of one list of stages; a statement about one stage has none.
bool plan_same_statement(const schedule_cell *a, const schedule_cell *b) {
    const schedule_value *x = schedule_value_of(a, "stages"), *y = schedule_value_of(b, "stages");
    if (!x || !y) return a == b;
    bool same = x->nnames == y->nnames;
    for (uint32_t i = 0; same && i < x->nnames; i++) same = x->ids[i].data[0] == y->ids[i].data[0];
    return same;
}

// Whether one statement fuses it: each stage that a list names has a cell, which holds the whole
// list.
bool plan_fuses(const planner *p, const schedule_cell *c, uint32_t stage) {
    const schedule_value *list = schedule_value_of(c, "stages");
    const schedule_cell *again = again_in(p, stage);
    if (again) return plan_same_statement(again, c);
    // of `dx`, unless `dx.sum` has another
    const schedule_cell *own = list ? plan_fuse_cell(p, stage) : NULL;
    if (list) return own && plan_same_statement(own, c);
    return tensor_id_covers(p->op->ids, c->about.data[0], plan_stage(p, stage)->id);
}

bool plan_reads_stage(const planner *p, uint32_t reader, uint32_t writer) {
    const tensor_stage *w = &p->op->stages.data[writer];
    for (uint32_t t = 0; t < w->ntargets; t++)
        if (plan_read_by(p, reader, w->targets[t].val)) return true;
    return false;
}

// Stages that stand next to each other: of one statement, or of one recurrence; or one alone.
typedef struct {
    stage_group stages;
    const schedule_cell *fuse;   // NULL: none fuses them
    bool done;
} together;
typedef VEC(together) all_together;

static bool belongs(const planner *p, const together *t, uint32_t stage,
                    const schedule_cell *fuse) {
    uint32_t first = t->stages.data[0], loop = p->op->stages.data[stage].loop;
    if (t->fuse || fuse) return t->fuse && fuse && plan_fuses(p, t->fuse, stage);
    return loop != TENSOR_NO_LOOP && p->op->stages.data[first].loop == loop;
}

static all_together parts_of(planner *p) {
    all_together all = {0};
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const schedule_cell *fuse = plan_inlined(p, i) ? NULL : plan_fuse_cell(p, i);
        uint32_t k = 0;
        while (k < all.len && !belongs(p, &all.data[k], i, fuse)) k++;
        if (k == all.len) VEC_PUSH(p->arena, &all, ((together){.fuse = fuse}));
        VEC_PUSH(p->arena, &all.data[k].stages, i);
    }
    return all;
}

// An earlier stage reads the memory that a later one's result takes.
static bool overwrites(const planner *p, uint32_t later, uint32_t earlier) {
    const tensor_stage *st = &p->op->stages.data[later];
    for (uint32_t t = 0; t < st->ntargets; t++) {
        tensor_val of = p->op->vals.data[st->targets[t].val].inplace;
        if (of != TENSOR_NO_VAL && plan_read_by(p, earlier, of)) return true;
    }
    return false;
}

// Of what is still to come, something that a stage of them reads or must come after; its stage and
// theirs.
static bool waits(const planner *p, const all_together *all, const together *t, uint32_t *reader,
                  uint32_t *read) {
    for (uint32_t k = 0; k < all->len; k++)
        for (uint32_t i = 0;
             !all->data[k].done && &all->data[k] != t && i < all->data[k].stages.len; i++)
            for (uint32_t m = 0; m < t->stages.len; m++) {
                *reader = t->stages.data[m];
                *read = all->data[k].stages.data[i];
                if (*read < *reader &&
                    (plan_reads_stage(p, *reader, *read) || overwrites(p, *reader, *read)))
                    return true;
            }
    return false;
}

static void stands_between(planner *p, const together *t, uint32_t stage, uint32_t read) {
    const tensor_stage *st = &p->op->stages.data[stage];
    const char *between = read == UINT32_MAX ? "a recurrence" : p->op->stages.data[read].name;
    diagnostic *d = plan_refuse(
        p, E0551, t->fuse->at,
        "'%s' cannot be fused: '%s', which it reads, is computed between the fused stages",
        st->name, between);
    if (!d) return;
    diag_note(d, st->at, "'%s'", st->name);
    diag_help(d, "fuse '%s' with them, or fuse without '%s'", between, st->name);
}

// The one whose last stage comes first of those that wait for nothing; NULL: each waits for
// another.
static together *next_of(const planner *p, const all_together *all) {
    together *next = NULL;
    uint32_t reader, read;
    for (uint32_t k = 0; k < all->len; k++) {
        together *t = &all->data[k];
        if (t->done ||
            (next && t->stages.data[t->stages.len - 1] > next->stages.data[next->stages.len - 1]))
            continue;
        if (!waits(p, all, t, &reader, &read)) next = t;
    }
    return next;
}

static void refuse_order(planner *p, const all_together *all) {
    for (uint32_t k = 0; k < all->len && !p->failed; k++) {
        const together *t = &all->data[k];
        uint32_t reader, read;
        if (!t->done && t->fuse && t->stages.len > 1 && waits(p, all, t, &reader, &read))
            stands_between(p, t, reader, read);
    }
}

// What is repeated stays as it is.
static void check_recurrences(planner *p, const all_together *all) {
    for (uint32_t k = 0; k < all->len && !p->failed; k++) {
        const together *t = &all->data[k];
        uint32_t first = t->stages.data[0], last = t->stages.data[t->stages.len - 1];
        for (uint32_t i = first; t->fuse && last > first && i <= last && !p->failed; i++)
            if (p->op->stages.data[i].loop != TENSOR_NO_LOOP)
                stands_between(p, t, last, UINT32_MAX);
    }
}

void plan_permute(planner *p, const stage_group *order) {
    tensor_stage *old = ARENA_ARRAY(p->arena, tensor_stage, order->len + 1);
    uint32_t *to = ARENA_ARRAY(p->arena, uint32_t, order->len + 1);
    for (uint32_t i = 0; i < order->len; i++) old[i] = p->op->stages.data[i];
    for (uint32_t i = 0; i < order->len; i++) {
        p->op->stages.data[i] = old[order->data[i]];
        to[order->data[i]] = i;
    }
    for (uint32_t v = 0; v < p->plan->values.len; v++)
        if (p->plan->values.data[v].home == LOOP_INLINE)
            p->plan->values.data[v].stage = to[p->plan->values.data[v].stage];
}

void plan_fuse_order(planner *p) {
    stage_group order = {0};
    all_together all = parts_of(p);
    check_recurrences(p, &all);
    for (uint32_t k = 0; k < all.len && !p->failed; k++) {
        together *next = next_of(p, &all);
        if (!next) {
            refuse_order(p, &all);
            break;
        }
        next->done = true;
        for (uint32_t i = 0; i < next->stages.len; i++)
            VEC_PUSH(p->arena, &order, next->stages.data[i]);
    }
    if (!p->failed && order.len == p->op->stages.len) plan_permute(p, &order);
}
