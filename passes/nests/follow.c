// A stage over the points of a row, computed from what the row is reduced to: it follows in the
// row's loops, where the results are in registers, so nothing is kept in shared memory and no
// barrier is met.
//     phase { for v … { reduce a.sum … } }  phase { for v … { for e in the row … store a } }
//     →  phase { for v … { reduce a.sum …  for e in the row … { given dst[e] = v  store a } } }
#include "nests/nests.h"
#include "base/base.h"
#include "axes/axes.h"

static bool is_var(const planner *p, tensor_expr e, tensor_var v) {
    const tensor_node *n = tensor_node_at(p->op, e);
    return n->op == TENSOR_VAR_OP && (tensor_var)n->imm.i == v;
}

typedef struct {
    fusion *f;
    const tensor_stage *row, *st;
} reading;

static bool of_row(const reading *r, tensor_val v) {
    for (uint32_t t = 0; t < r->row->ntargets; t++)
        if (r->row->targets[t].val == v) return true;
    return false;
}

// What the row computes is read at its own point: y[map[e], h, …].
static bool at_own_point(void *user, const tensor_node *load) {
    const reading *r = user;
    plan_map m;
    if (!of_row(r, (tensor_val)load->imm.i)) return true;
    if (load->nargs != r->st->nleft || !plan_map_of_key(r->f->p, load->args[0], r->st->left[0], &m))
        return false;
    bool own = m.map == r->f->map.map;
    for (uint32_t i = 1; i < load->nargs; i++)
        own = own && is_var(r->f->p, load->args[i], r->st->left[i]);
    return own;
}

// Its further indices are those of the row, dealt out alike.
static bool same_points(fusion *f, const tensor_stage *row, const tensor_stage *st) {
    bool same = st->nleft == row->nleft;
    for (uint32_t i = 1; same && i < st->nleft; i++)
        same = f->p->op->vars.data[st->left[i]].space == f->p->op->vars.data[row->left[i]].space &&
               plan_same_cut(f->p, st, st->left[i], row, row->left[i]);
    return same;
}

// A row's points are dealt out to the threads that own the row.
static bool own_threads(fusion *f, const tensor_stage *row, const tensor_stage *st) {
    index_cut rows = plan_cut(f->p, row, row->left[0], false),
              own = plan_cut(f->p, st, st->left[0], false);
    bool alone = own.groups <= 1 || (plan_parts_of(&rows) == 1 && rows.block <= 1);
    return alone && !own.block && own.vector <= 1;
}

bool plan_follows(fusion *f, const plan_phase *ph, uint32_t stage) {
    const tensor_stage *st = plan_stage(f->p, stage), *row = NULL;
    if (ph->edges || ph->tile || !f->mapped || !ph->group.len || st->reducer != TENSOR_NO_REDUCER)
        return false;
    for (uint32_t i = 0; i < ph->group.len; i++) {
        const tensor_stage *w = plan_stage(f->p, ph->group.data[i]);
        reading r = {f, w, st};
        if (w->loop != st->loop || w->nleft != st->nleft || plan_is_step(f->p, st, st->left[0]))
            return false;
        if (!plan_loads(f->p, st, at_own_point, &r)) return false;
        if (!plan_follower(f, ph->group.data[i])) row = w;
    }
    return row && same_points(f, row, st) && own_threads(f, row, st);
}

bool plan_follower(const fusion *f, uint32_t stage) {
    const tensor_stage *st = plan_stage(f->p, stage);
    return st->nleft && f->p->op->vars.data[st->left[0]].space != f->rows;
}

// The walk of a row, as a reduction of it has.
static tensor_stage walked(planner *p, const plan_nest *n, const plan_map *m,
                           const tensor_stage *st) {
    tensor_stage w = *st;
    tensor_expr e = tensor_var_expr(p->op, st->left[0], NO_SPAN);
    tensor_key *key = ARENA_NEW(p->arena, tensor_key);
    *key = (tensor_key){tensor_load(p->op, m->map, &e, 1, NO_SPAN),
                        tensor_var_expr(p->op, n->vars[0], NO_SPAN)};
    w.left = n->vars;
    w.nleft = n->depth;
    w.bound = st->left;
    w.nbound = 1;
    w.keys = key;
    w.nkeys = 1;
    return w;
}

void plan_follow(plan_nest *n, const uint32_t *stage, const plan_map *m, loop_body *at) {
    planner *p = n->p;
    const tensor_stage *st = &p->op->stages.data[*stage];
    tensor_stage walk = walked(p, n, m, st);
    loop_list made = {0};
    for (uint32_t i = 1; i < st->nleft; i++) {
        index_cut c = plan_cut(p, st, st->left[i], false);
        if (c.vector > 1) plan_vector_guards(p, st, st->left[i], (uint32_t)c.vector, c.pad > 0);
        plan_write_out(p, st->left[i], &n->levels, n->levels.data[i]);
        plan_let(p, at, st->left[i], tensor_var_expr(p->op, n->vars[i], NO_SPAN), st->at);
    }
    at = plan_walk_row(p, &walk, m, at, &made);
    loop_node *given = loop_node_new(p->plan, LOOP_GIVEN, st->at);
    given->key = walk.keys->lhs;
    given->value = walk.keys->rhs;
    loop_append(p->plan, at, given);
    plan_store(p, at, stage);
    plan_deal(n, *stage, n->depth, &made);
}
