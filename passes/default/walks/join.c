// Which sums share a walk: those by one map of which one needs another, or a score of an edge.
//     m = max{…} s[e];  z = sum{…} exp(s[e] - m[v]);  y = sum{…} exp(s[e] - m[v]) * x[src[e]]
//       →  one walk of m, z, y
#include "default/walks/walks.h"
#include "default/walks/reach.h"
#include "default/walks/windows.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"

// One's indices begin with those of the other.
static bool same_loops(const walks *w, const tensor_stage *a, const tensor_stage *b) {
    bool same = true;
    for (uint32_t i = 0; i < a->nleft && i < b->nleft; i++)
        same &= w->p->op->vars.data[a->left[i]].space == w->p->op->vars.data[b->left[i]].space;
    return same;
}

// What a row's sums are known to be after the walk; a maximum is found on the run.
static bool is_final(const walks *w, const walk *of, tensor_val v) {
    const uint32_t writer = default_writer_of(w, v);
    if (writer == UINT32_MAX || w->scores[writer]) return false;
    const tensor_stage *st = plan_stage(w->p, writer);
    bool found = st->reducer != TENSOR_NO_REDUCER &&
                 w->p->op->reducers.data[st->reducer].kind == REDUCE_MAX;
    return default_in_walk(of, writer) ? !found : default_need(w, of, writer).any;
}

static bool reads_final(const walks *w, const walk *of, tensor_expr e) {
    const tensor_set *loads = tensor_node_at(w->p->op, e)->loads;
    for (uint32_t i = 0; loads && i < loads->n; i++)
        if (is_final(w, of, loads->at[i])) return true;
    return false;
}

// They are a factor of all that the row sums: a sum of terms with factors of their own, rounded
// each, would leave what the roundings differ by.
static bool is_one_term(const walks *w, const walk *of, const tensor_stage *st, tensor_expr e,
                        bool *seen) {
    const planner *p = w->p;
    const tensor_node *n = tensor_node_at(p->op, e);
    if (seen[e]) return true;   // or nobody would ask again
    seen[e] = true;
    if (!reads_final(w, of, e) || !plan_depends(p, e, st->bound[0], of->map)) return true;
    if (n->op == TENSOR_MUL_OP)
        return is_one_term(w, of, st, n->args[0], seen) && is_one_term(w, of, st, n->args[1], seen);
    bool one = n->op == TENSOR_NEG_OP || n->op == TENSOR_CVT_OP || n->op == TENSOR_ROUND_OP;
    return one && is_one_term(w, of, st, n->args[0], seen);
}

// A row has more of it than its scores have: the terms are those of a matrix operation, which
// rounds them.
static bool has_columns(const walks *w, uint32_t stage) {
    uint32_t read = default_deepest_read(w, stage);
    return read == UINT32_MAX || plan_stage(w->p, stage)->nleft > plan_stage(w->p, read)->nleft;
}

// What it needs of the walk's sums can be had while they are found.
static bool may_join(const walks *w, const walk *of, uint32_t stage) {
    const tensor_stage *st = plan_stage(w->p, stage);
    const planner *p = w->p;
    if (!plan_same_keys(p, plan_stage(w->p, of->sums.data[0]), st)) return false;
    for (uint32_t i = 0; i < of->sums.len; i++)
        if (!same_loops(w, plan_stage(w->p, of->sums.data[i]), st)) return false;
    const walk_need need = default_need(w, of, stage);
    if (need.any && (!need.own || p->op->reducers.data[st->reducer].kind != REDUCE_SUM))
        return false;
    tensor_expr body = plan_inline_loads(w->p, st->body[0]);
    if (plan_rows_has(w->m->rows, ROWS_ARE_WINDOWED) && has_columns(w, stage) &&
        !is_one_term(w, of, st, body, ARENA_ARRAY(p->arena, bool, p->op->exprs.len + 1)))
        return false;
    for (uint32_t i = 0; i < of->sums.len; i++) {
        const tensor_stage *sum = plan_stage(w->p, of->sums.data[i]);
        tensor_val v = sum->targets[0].val;
        if (!loop_load_of(p->op, body, v)) continue;
        tensor_reduce_kind kind = p->op->reducers.data[sum->reducer].kind;
        if (kind == REDUCE_MAX && !loop_is_maximum(p->op, sum)) return false;
        if (kind == REDUCE_MAX && !loop_rescales(p->arena, p->op, body, v)) return false;
        if (kind != REDUCE_MAX && kind != REDUCE_SUM) return false;
    }
    return true;
}

static walk *last_by(walks *w, tensor_val map) {
    for (uint32_t i = w->walks.len; i-- > 0;)
        if (w->walks.data[i].map == map) return &w->walks.data[i];
    return NULL;
}

void default_join_walks(walks *w) {
    for (uint32_t i = 0; i < w->p->op->stages.len; i++) {
        tensor_val map = plan_inlined(w->p, i) || w->scores[i] || w->stored[i]
                             ? TENSOR_NO_VAL
                             : default_map_of(w, i);
        if (map == TENSOR_NO_VAL) continue;
        walk *of = last_by(w, map);
        if (!of || !may_join(w, of, i)) {
            VEC_PUSH(w->p->arena, &w->walks, ((walk){.map = map}));
            of = &w->walks.data[w->walks.len - 1];
        }
        of->scores |= default_reads_score(w, i);
        of->meets |= default_reads_sum(w, of, i);
        VEC_PUSH(w->p->arena, &of->sums, i);
        w->walk_of[i] = (uint32_t)(of - w->walks.data) + 1;
    }
}

// ---- Parted -------------------------------------------------------------------------------------
// Each sum of the walk in one of its own.
static void part(walks *w, uint32_t which) {
    const walk all = w->walks.data[which];
    for (uint32_t i = 0; i < all.sums.len; i++) {
        const uint32_t stage = all.sums.data[i];
        walk own = {.map = all.map,
                    .scores = default_reads_score(w, stage),
                    .meets = default_reads_sum(w, &all, stage)};
        VEC_PUSH(w->p->arena, &own.sums, stage);
        if (i) VEC_PUSH(w->p->arena, &w->walks, own);
        else w->walks.data[which] = own;
        w->walk_of[stage] = i ? w->walks.len : which + 1;
    }
}

void default_part_walks(walks *w) {
    const uint32_t n = w->walks.len;
    for (uint32_t i = 0; i < n && plan_rows_has(w->m->rows, ROWS_ARE_WINDOWED); i++)
        if (default_walk_is_worth(w, &w->walks.data[i]) &&
            default_window_parts(w, &w->walks.data[i]))
            part(w, i);
}
