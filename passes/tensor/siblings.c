// Reductions that share a walk stand side by side, so that one kernel has them: their points are
// visited, and what several of them read is read, once.
//     a[n, f] = sum{e : src[e] == n} x[dst[e], f] * s[e];   b[e] = …
//     c[n, f] = sum{e : src[e] == n} x[dst[e], f] * t[e]
//  →  a, c, b
#include "tensor/tensor.h"
#include "base/base.h"
#include "kernels/kernels.h"

enum { MOST = 4 };   // reductions that are brought together: a thread has the states of all

typedef struct {
    planner *p;
    bool *placed;   // per stage
    stage_group order;
} placing;

// ---- Which --------------------------------------------------------------------------------------
// A walk by keys, or one number of each point; sums of more are for kernels of products.
static bool walks(const planner *p, uint32_t i) {
    const tensor_stage *st = plan_stage(p, i);
    return !plan_inlined(p, i) && st->reducer != TENSOR_NO_REDUCER && st->loop == TENSOR_NO_LOOP &&
           (st->nkeys || st->nleft < 2) && !tensor_marked(st, TENSOR_FINISHES);
}

typedef struct {
    const planner *p;
    const tensor_stage *other;
    bool shared;
} sharing;

// Numbers, not maps, which are small beside them.
static bool see_number(void *user, const tensor_node *load) {
    sharing *s = user;
    if (load->nargs && tensor_type_is_float(load->type))
        s->shared = plan_reads_val(s->p, s->other, (tensor_val)load->imm.i);
    return !s->shared;
}

static bool read_alike(const planner *p, const tensor_stage *a, const tensor_stage *b) {
    sharing s = {p, b, false};
    plan_loads(p, a, see_number, &s);
    return s.shared;
}

static bool same_space(const planner *p, tensor_var a, tensor_var b) {
    return p->op->vars.data[a].space == p->op->vars.data[b].space;
}

// Whatever a schedule says of them, which the default has yet to make.
static bool share_walk(const planner *p, uint32_t one, uint32_t other) {
    const tensor_stage *a = plan_stage(p, one), *b = plan_stage(p, other);
    bool same = a->nleft == b->nleft && a->nbound == 1 && b->nbound == 1 &&
                same_space(p, a->bound[0], b->bound[0]) && plan_same_keys(p, a, b);
    for (uint32_t i = 0; i < a->nleft && same; i++) same = same_space(p, a->left[i], b->left[i]);
    return same && !plan_reads_stage(p, other, one) && read_alike(p, a, b);
}

// All that it reads is there.
static bool is_ready(const placing *x, uint32_t stage) {
    for (uint32_t i = 0; i < stage; i++)
        if (!x->placed[i] && !plan_inlined(x->p, i) && plan_reads_stage(x->p, stage, i))
            return false;
    return true;
}

// Results in the memory of parameters have to wait for whoever reads those.
static bool overwrites_any(const planner *p) {
    bool any = false;
    for (tensor_val v = 0; v < p->op->vals.len; v++)
        any |= p->op->vals.data[v].inplace != TENSOR_NO_VAL;
    return any;
}

// ---- Order --------------------------------------------------------------------------------------
static void place(placing *x, uint32_t stage) {
    x->placed[stage] = true;
    VEC_PUSH(x->p->arena, &x->order, stage);
}

static void place_siblings(placing *x, uint32_t stage) {
    planner *p = x->p;
    uint32_t n = 1;
    for (uint32_t i = stage + 1; i < p->op->stages.len && n < MOST; i++) {
        if (x->placed[i] || !walks(p, i) || !share_walk(p, stage, i) || !is_ready(x, i)) continue;
        place(x, i);
        n++;
    }
}

// Of the canonical form alone: what else a user deals out says which stages share a kernel, in
// their order.
void plan_siblings(planner *p) {
    placing x = {.p = p, .placed = ARENA_ARRAY(p->arena, bool, p->op->stages.len + 1)};
    if (!p->s->canonical || overwrites_any(p)) return;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        if (x.placed[i]) continue;
        place(&x, i);
        if (walks(p, i)) place_siblings(&x, i);
    }
    for (uint32_t i = 0; i < x.order.len; i++) p->s->canonicalized |= x.order.data[i] != i;
    plan_permute(p, &x.order);
}
