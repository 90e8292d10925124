// Reductions found on the run (`online`): the walk that finds one takes the sums which need it
// along. What they hold of a maximum is taken times exp(m - m') whenever a larger one comes
// (Milakov and Gimelshein 2018; attention: Rabe and Staats 2021, Dao et al. 2022); what a sum is to
// them is a factor of theirs, which waits until all is known (tensor/online_terms.c). So a softmax
// and what it weighs take one walk of a row's edges, and nothing that an edge has is stored.
//     a.max[v] = max {e} s[e]    a.sum[v] = sum {e} exp(s[e] - a.max[v])
//     a[e] = exp(s[e] - a.max[dst[e]]) / a.sum[dst[e]]    y[v] = sum {e} a[e] * x[src[e]]
//  →  y.reduced[v] = sum {e} exp(s[e] - a.max[v]) * x[src[e]]    y[v] = y.reduced[v] / a.sum[v]
#include "tensor/tensor.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <string.h>

static schedule_cell *online_cell(const planner *p, uint32_t stage) {
    const tensor_id id = plan_stage(p, stage)->id;
    return schedule_find(p->s, id, SCHEDULE_ONLINE, id);
}

static bool is_max(const planner *p, const tensor_stage *st) {
    return st->reducer != TENSOR_NO_REDUCER && p->op->reducers.data[st->reducer].kind == REDUCE_MAX;
}

static bool of_edges(const planner *p, const schedule_cell *fuse, uint32_t stage) {
    const tensor_stage *st = plan_stage(p, stage);
    return st->nleft && plan_is_among(p, plan_fused_at(fuse), st->left[0]);
}

// What is known after the walk: its reductions, but maxima found on the run, and what rows make of
// those.
bool plan_final_after(const planner *p, const schedule_cell *fuse, uint32_t stage) {
    if (plan_walks_at(p, fuse, stage)) return !plan_is_online(p, stage);
    const tensor_stage *st = plan_stage(p, stage);
    if (st->reducer != TENSOR_NO_REDUCER || of_edges(p, fuse, stage) || !plan_fuses(p, fuse, stage))
        return false;
    for (uint32_t i = 0; i < stage; i++)
        if (plan_reads_stage(p, stage, i) &&
            (plan_walks_at(p, fuse, i) || plan_final_after(p, fuse, i)))
            return true;
    return false;
}

static bool is_found(const planner *p, uint32_t stage) {
    const schedule_cell *fuse = online_cell(p, stage) ? plan_fuse_cell(p, stage) : NULL;
    return fuse && plan_walks_at(p, fuse, stage);
}

static bool finds_online(const planner *p, const schedule_cell *fuse) {
    for (uint32_t i = 0; i < p->op->stages.len; i++)
        if (plan_walks_at(p, fuse, i) && online_cell(p, i)) return true;
    return false;
}

// What an edge takes from reductions of the walk is computed where it is read, so that it can be
// taken apart.
bool plan_online_inlines(const planner *p, uint32_t stage) {
    const schedule_cell *fuse = plan_fuse_cell(p, stage);
    if (!of_edges(p, fuse, stage) || !finds_online(p, fuse)) return false;
    for (uint32_t i = 0; i < stage; i++)
        if (plan_reads_stage(p, stage, i) &&
            (plan_walks_at(p, fuse, i) || plan_final_after(p, fuse, i)))
            return true;
    return false;
}

// ---- Legality -----------------------------------------------------------------------------------
// A sum whose factors are not rounded to fewer digits than it is stored in: also of terms of 16
// bits, where it is held in f32.
bool plan_sums_wide(const planner *p, const tensor_stage *st) {
    tensor_reduce_kind by = REDUCE_USER;
    if (plan_adds(p, st)) return true;
    const tensor_reducer *r = st->reducer == TENSOR_NO_REDUCER ? NULL
                                                               : &p->op->reducers.data[st->reducer];
    return r && r->nstate == 1 && r->nresults == 1 && tensor_combined_by(p->op, r, 0, &by) &&
           by == REDUCE_SUM && !tensor_type_is_narrow(r->state_types[0]) &&
           tensor_node_at(p->op, r->finish[0])->op == TENSOR_LEFT_OP &&
           tensor_node_at(p->op, r->lift[0])->op == TENSOR_CVT_OP;
}

static bool check_reader(planner *p, uint32_t maximum, uint32_t stage) {
    const tensor_stage *st = plan_stage(p, stage), *m = plan_stage(p, maximum);
    const schedule_cell *c = online_cell(p, maximum);
    tensor_val v = m->targets[0].val;
    bool sum = plan_sums_wide(p, st) && !st->nelse, all = !st->nfilters && !m->nfilters;
    bool always = tensor_marked(st, TENSOR_CHOSEN) ||
                  (sum && loop_always_rescales(p->arena, p->op, st->body[0], v));
    if (sum && all && always && loop_rescales(p->arena, p->op, st->body[0], v)) return true;
    diagnostic *d = plan_refuse(p, E0550, c->at, "'%s' cannot be online: '%s' cannot follow it",
                                m->name, st->name);
    if (d)
        diag_note(
            d, st->at,
            !all  ? "only some of the edges that '%s' is found of, or that are summed, belong to it"
            : sum ? "what it sums is no multiple of exp(x - %s), 0 where that is -inf"
                  : "it is no sum, or has an `else`, so nothing can be taken times exp(%s)",
            m->name);
    if (d) diag_help(d, "leave 'online' out, and fuse at '%s'", plan_index_text(p, m->left[0]));
    return false;
}

static bool check_found(planner *p, uint32_t stage) {
    const tensor_stage *st = plan_stage(p, stage);
    schedule_cell *c = online_cell(p, stage);
    if (!is_found(p, stage)) {
        diagnostic *d = plan_refuse(
            p, E0550, c->at, "'%s' is online only in a loop that computes what needs it, too",
            st->name);
        if (d)
            diag_help(d, "fuse them at the index of their loop: `fuse %s, … at %s`", c->subject,
                      st->nbound ? plan_index_text(p, st->bound[0]) : "e");
        return false;
    }
    if (!is_max(p, st) || loop_is_maximum(p->op, st)) return true;
    diagnostic *d = plan_refuse(p, E0550, c->at, "'%s' cannot be online", st->name);
    if (d) diag_note(d, st->at, "it is rounded when it is stored, or has an `else`");
    if (d) diag_help(d, "leave 'online' out");
    return false;
}

static void find_online(planner *p) {
    for (uint32_t i = 0; i < p->op->stages.len && !p->failed; i++) {
        schedule_cell *c = online_cell(p, i);
        if (!c || plan_stage(p, i)->reducer == TENSOR_NO_REDUCER || !check_found(p, i)) continue;
        c->consumed = true;
        if (!is_max(p, plan_stage(p, i))) continue;
        tensor_set_mark(&p->op->stages.data[i], TENSOR_ONLINE);
        if (schedule_value_of(c, "lazy")) tensor_set_mark(&p->op->stages.data[i], TENSOR_LAZY);
    }
}

static void check_maxima(planner *p) {
    for (uint32_t m = 0; m < p->op->stages.len; m++) {
        const schedule_cell *fuse = plan_is_online(p, m) ? plan_fuse_cell(p, m) : NULL;
        for (uint32_t i = 0; fuse && i < p->op->stages.len && !p->failed; i++)
            if (i != m && plan_walks_at(p, fuse, i) && plan_reads_stage(p, i, m)) {
                check_reader(p, m, i);
                VEC_PUSH(p->plan->arena, &p->plan->relative, plan_stage(p, i)->name);
            }
    }
}

void plan_online(planner *p) {
    find_online(p);
    for (uint32_t i = p->op->stages.len; i-- > 0 && !p->failed;) {
        const schedule_cell *fuse = plan_fuse_cell(p, i);
        if (fuse && plan_walks_at(p, fuse, i) && finds_online(p, fuse)) plan_take_apart(p, fuse, i);
    }
    check_maxima(p);
}

// ---- In loops -----------------------------------------------------------------------------------
static bool follows(const planner *p, uint32_t stage, uint32_t maximum) {
    return plan_is_online(p, maximum) && stage != maximum && plan_reads_stage(p, stage, maximum);
}

void plan_run_maxima(planner *p, const uint32_t *stages, uint32_t n, loop_node *reduce) {
    loop_maximum *all = ARENA_ARRAY(p->arena, loop_maximum, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        bool followed = false;
        for (uint32_t k = 0; k < n; k++) followed |= follows(p, stages[k], stages[i]);
        if (followed)
            all[reduce->reduce.nmaxima++] = (loop_maximum){
                .stage = stages[i], .lazy = tensor_marked(plan_stage(p, stages[i]), TENSOR_LAZY)};
    }
    reduce->reduce.maxima = all;
}

void plan_part_maxima(planner *p, uint32_t stage, loop_node *contribute) {
    loop_maximum *all = ARENA_ARRAY(p->arena, loop_maximum, p->cut.parts.len + 1);
    for (uint32_t i = 0; i < p->cut.parts.len; i++) {
        const plan_part *part = &p->cut.parts.data[i];
        if (follows(p, stage, part->stage))
            all[contribute->reduce.nmaxima++] = (loop_maximum){.stage = part->stage,
                                                               .slot = part->states[0]};
    }
    contribute->reduce.maxima = all;
}
