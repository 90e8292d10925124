// Reductions of a few terms that are computed where they are read, in registers: one kernel less,
// and nothing of them is stored.
//     y[v, f] = max{e : dst[e] == v} relu(x[src[e], f] + sum{i} (p[src[e], i] - p[v, i]) * w[i, f])
//       →  inline y.sum, of three terms
#include "default/default.h"
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/matrix/contraction.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"

static bool is_said_of(const making *m, uint32_t stage) {
    const tensor_id id = plan_stage(m->p, stage)->id;
    bool said = m->fused && m->fused[stage];
    for (uint32_t i = 0; i < m->s->cells.len && !said; i++) {
        const schedule_cell *c = &m->s->cells.data[i];
        // what it makes is for tensor cores
        const tensor_id of = c->verb == SCHEDULE_FLATTEN ? tensor_id_outer(m->p->op->ids, id) : id;
        said = c->of == of || schedule_means(c->about, of) || schedule_lists(c, of);
    }
    return said;
}

static bool is_read_by_walks(const making *m, uint32_t stage) {
    for (uint32_t i = 0; i < m->p->op->stages.len; i++)
        if (m->fused && m->fused[i] && !plan_inlined(m->p, i) && plan_reads_stage(m->p, i, stage))
            return true;
    return false;
}

// Whether each thread would read rows of its own along what is reduced, which lanes of a group read
// together. Threads have the last index: what does not mention it they all read alike.
static bool reads_rows(const planner *p, const tensor_stage *st) {
    int64_t rows = 0;
    for (uint32_t i = 0; i < st->nbound && st->nleft > 1; i++)
        rows += plan_ends_on(p, st, st->bound[i], st->left[st->nleft - 1]);
    return rows || st->nleft < 2 || !plan_dense(p, st->left[st->nleft - 1]);
}

// Lanes share a dense index that a key or a condition tests: most of them would wait for the one
// that has it all to do.
static bool tests_dense(const planner *p, const tensor_stage *reader) {
    bool dense = false;
    for (uint32_t i = 0; i < reader->nbound; i++) dense |= plan_dense(p, reader->bound[i]);
    return dense && (reader->nkeys || reader->nfilters);
}

static bool same_points(const planner *p, const tensor_stage *a, const tensor_stage *b) {
    bool same = a->nleft == b->nleft;
    for (uint32_t i = 0; i < a->nleft && same; i++)
        same = p->op->vars.data[a->left[i]].space == p->op->vars.data[b->left[i]].space;
    return same;
}

// Readers that have its points and reduce nothing are in its kernel, which stores nothing of it.
static bool is_stored(const planner *p, uint32_t stage, bool *wait) {
    bool stored = false;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *reader = plan_stage(p, i);
        if (i == stage || plan_inlined(p, i) || !plan_reads_stage(p, i, stage)) continue;
        *wait |= tests_dense(p, reader);
        stored |= reader->reducer != TENSOR_NO_REDUCER ||
                  !same_points(p, reader, plan_stage(p, stage));
    }
    return stored;
}

static bool is_worth(making *m, uint32_t stage) {
    planner *p = m->p;
    const tensor_stage *st = plan_stage(p, stage);
    bool wait = false;
    if (!is_stored(p, stage, &wait) || wait) return false;
    if (plan_few_terms(p, st) > DEFAULT_SIDE_BY_SIDE && reads_rows(p, st)) return false;
    const stage_group alone = default_alone(&stage);
    if (default_contracts_apart(m, &alone)) return false;
    const tensor_expr all = plan_expanded(p, plan_stage(p, stage));
    const int64_t cost = plan_operations(p, all,
                                         ARENA_ARRAY(p->arena, uint8_t, p->op->exprs.len + 1));
    return cost <= DEFAULT_WRITTEN_OUT && plan_inline_is_worth(p, plan_stage(p, stage), cost);
}

// Of a few terms it may be, but how many is not known.
static void wish_terms(making *m, uint32_t stage) {
    planner *p = m->p;
    const tensor_stage *st = plan_stage(p, stage);
    bool wait = false, dense = st->nbound && !st->nkeys && !st->nfilters && !st->nelse;
    for (uint32_t i = 0; i < st->nbound; i++)
        dense &= plan_dense(p, st->bound[i]) && !default_leads(p, st, st->bound[i]);
    if (dense && st->reducer != TENSOR_NO_REDUCER && st->loop == TENSOR_NO_LOOP &&
        !plan_few_terms(p, st) && is_stored(p, stage, &wait) && !wait)
        default_wish(m, st, false, st->bound, st->nbound);
}

// Readers first, of which each may then read what the other reads.
void default_expand(making *m) {
    planner *p = m->p;
    for (uint32_t i = p->op->stages.len; i-- > 0;) {
        if (!plan_inlined(p, i) && p->machine->gpu) wish_terms(m, i);
        if (plan_inlined(p, i) || !plan_may_expand(p, i) || is_said_of(m, i) ||
            is_read_by_walks(m, i) || !is_worth(m, i))
            continue;
        default_say_stage(m, SCHEDULE_INLINE, i, NULL);
        for (uint32_t k = 0; k < p->op->stages.len; k++)
            if (k != i && !plan_inlined(p, k) && plan_reads_stage(p, k, i)) plan_expand(p, i, k);
        p->plan->values.data[plan_stage(p, i)->targets[0].val] = (loop_value){
            .home = LOOP_INLINE, .stage = i, .of = TENSOR_NO_VAL};
    }
}
