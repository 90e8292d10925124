// How long the steps of a walk are, by what its sums and scores compute for one edge and all
// numbers that a thread holds of its row.
//     y[v, f] = sum{e : dst[e] == v} sin(a[f] * r[e]) * x[src[e], f], of four features
//       →  4 * (86 + 1 + 1 + 1)
#include "default/stages/stages.h"
#include "default/walks/walks.h"
#include "default/walks/shares.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"

#include <string.h>

typedef struct {
    const walks *w;
    planner own;   // of an op that nothing else reads
    // whose indices stand for those of all, so that what is alike counts once
    const tensor_stage *deepest;
    tensor_expr *vars;
    VEC(tensor_expr) bodies;
} counting;

static void name_alike(counting *c, tensor_var from, tensor_var to) {
    const tensor_op *op = c->own.op;
    if (op->vars.data[from].space == op->vars.data[to].space)
        c->vars[from] = tensor_var_expr(c->own.op, to, NO_SPAN);
}

static void add_bodies(counting *c, const tensor_stage *st) {
    const tensor_expr *made = plan_substitute(&c->own, st->body, st->nbody, c->vars);
    for (uint32_t i = 0; i < st->nbody; i++) VEC_PUSH(c->own.arena, &c->bodies, made[i]);
}

static void add_sum(counting *c, const tensor_stage *st) {
    for (uint32_t i = 0; i < st->nleft && i < c->deepest->nleft; i++)
        name_alike(c, st->left[i], c->deepest->left[i]);
    name_alike(c, st->bound[0], c->deepest->bound[0]);
    add_bodies(c, st);
}

// Of an edge: what it reduces are the features, as a rule.
static void add_score(counting *c, const tensor_stage *st) {
    if (st->nleft) name_alike(c, st->left[0], c->deepest->bound[0]);
    for (uint32_t i = 1; i < st->nleft && i < c->deepest->nleft; i++)
        name_alike(c, st->left[i], c->deepest->left[i]);
    for (uint32_t i = 0; i < st->nbound; i++)
        name_alike(c, st->bound[i], c->deepest->left[c->deepest->nleft - 1]);
    add_bodies(c, st);
}

int64_t default_walk_length(const walks *w, const walk *of, const tensor_stage *deepest,
                            int64_t held) {
    counting c = {.w = w, .own = *w->p, .deepest = deepest};
    c.own.op = tensor_op_copy(w->p->arena, w->p->op);
    c.vars = ARENA_ARRAY(w->p->arena, tensor_expr, w->p->op->vars.len + 1);
    for (uint32_t i = 0; i < of->sums.len; i++) add_sum(&c, plan_stage(w->p, of->sums.data[i]));
    for (uint32_t i = 0; i < w->p->op->stages.len; i++)
        if (w->scores[i] && default_finds(w, of, i)) add_score(&c, plan_stage(w->p, i));
    uint8_t *seen = arena_alloc(w->p->arena, c.own.op->exprs.len + 1);
    memset(seen, 0, c.own.op->exprs.len + 1);
    const tensor_var inner = deepest->nleft > 1 ? deepest->left[deepest->nleft - 1] : UINT32_MAX;
    int64_t sum = 0;
    for (uint32_t i = 0; i < c.bodies.len; i++)
        sum += plan_length(&c.own, c.bodies.data[i], inner, inner == UINT32_MAX ? 1 : held, seen);
    return sum;
}

// ---- What scores load ---------------------------------------------------------------------------
typedef struct {
    const planner *p;
    tensor_var edge, bound, last;   // of the score; that it reduces; of the row's numbers
    int64_t points, held, words;
} inside;

static bool count_words(void *user, const tensor_node *load) {
    inside *x = user;
    bool edge = false, bound = false, last = false;
    for (uint32_t i = 0; i < load->nargs; i++) {
        edge |= plan_mentions(x->p, load->args[i], x->edge);
        bound |= plan_mentions(x->p, load->args[i], x->bound);
        last |= plan_mentions(x->p, load->args[i], x->last);
    }
    int64_t bytes = ir_dtype_bytes(x->p->op->vals.data[load->imm.i].type);
    if (edge && bound) x->words += x->points * (last ? x->held : 1) * bytes / 4;
    return true;
}

// Of a score that has all indices of the sums, and reduces one of its own: of those that have
// fewer, lanes share what they reduce. What all edges share is loaded once for all steps.
int64_t default_inside_words(const walks *w, const walk *of, const tensor_stage *deepest,
                             int64_t held) {
    int64_t words = 0;
    for (uint32_t i = 0; i < w->p->op->stages.len; i++) {
        const tensor_stage *st = plan_stage(w->p, i);
        if (!w->scores[i] || st->nleft != deepest->nleft || !st->nbound || !default_finds(w, of, i))
            continue;
        axis_share s = default_share_axis(w->m, st, st->bound[0], 1);
        inside x = {
            w->p, st->left[0], st->bound[0], st->left[st->nleft - 1], s.vector * s.registers, held,
            0};
        plan_loads(w->p, st, count_words, &x);
        words += x.words;
    }
    return words;
}

static int64_t score_length_at(const walks *w, const tensor_stage *st, int64_t copies) {
    uint8_t *seen = arena_alloc(w->p->arena, w->p->op->exprs.len + 1);
    int64_t sum = 0;
    memset(seen, 0, w->p->op->exprs.len + 1);
    for (uint32_t i = 0; i < st->nbody; i++)
        sum += plan_length(w->p, st->body[i], st->bound[0], copies, seen);
    return sum;
}

int64_t default_score_length(const walks *w, const tensor_stage *st) {
    return score_length_at(w, st, 2) - score_length_at(w, st, 1);
}
