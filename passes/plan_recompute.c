// Reductions of an edge that are computed again in each walk that reads them (`inline s.sum`): a copy of the stage
// belongs to each, and nothing of it is stored.
//     fuse dq at e;  fuse dk at e;  inline s.sum   →  s.sum in the walk of dq, s.sum.again in that of dk
#include "planner.h"

#include <string.h>

typedef struct {
    planner *p;
    tensor_val of, by;
} replacing;

static tensor_expr load_of_copy(void *user, tensor_expr load) {
    const replacing *r = user;
    tensor_node n = *tensor_node_at(r->p->op, load);
    if ((tensor_val)n.imm.i != r->of) return load;
    n.imm.i = r->by;
    return tensor_node_new(r->p->op, n);
}

static bool is_walk(const schedule_cell *c) { return c && schedule_value_of(c, "at"); }

// A copy with variables and a value of its own.
static tensor_stage copied(planner *p, const tensor_stage *of) {
    tensor_expr *vars = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1);
    tensor_target *target = ARENA_NEW(p->arena, tensor_target);
    tensor_key *keys = ARENA_ARRAY(p->arena, tensor_key, of->nkeys + 1);
    tensor_stage st = *of;
    st.left = plan_own_vars(p, of->left, of->nleft, vars);
    st.bound = plan_own_vars(p, of->bound, of->nbound, vars);
    for (uint32_t k = 0; k < of->nkeys; k++)
        keys[k] = (tensor_key){*plan_substitute(p, &of->keys[k].lhs, 1, vars),
                               *plan_substitute(p, &of->keys[k].rhs, 1, vars)};
    st.keys = keys;
    st.filters = plan_substitute(p, of->filters, of->nfilters, vars);
    st.body = plan_substitute(p, of->body, of->nbody, vars);
    st.orelse = plan_substitute(p, of->orelse, of->nelse, vars);
    st.name = plan_name_inside(p, of->name, "again");
    tensor_val_info info = p->op->vals.data[of->targets[0].val];
    info.name = st.name;
    *target = of->targets[0];
    target->val = loop_add_val(p->plan, info, (loop_value){.home = LOOP_MEMORY, .of = TENSOR_NO_VAL});
    target->index = plan_substitute(p, of->targets[0].index, of->targets[0].rank, vars);
    st.targets = target;
    return st;
}

static bool is_again(const planner *p, const tensor_stage *st) {
    const schedule_cell *c = schedule_find(p->s, st->name, SCHEDULE_INLINE, st->name);
    return c && st->reducer != TENSOR_NO_REDUCER && !strcmp(c->subject, st->name);
}

bool plan_may_recompute(const planner *p, const tensor_stage *st) {
    return is_again(p, st) && st->loop == TENSOR_NO_LOOP && st->ntargets == 1 &&
           p->op->vals.data[st->targets[0].val].role == VAL_STAGE;
}

static void not_in_walk(planner *p, const tensor_stage *st, const tensor_stage *reader) {
    const schedule_cell *c = schedule_find(p->s, st->name, SCHEDULE_INLINE, st->name);
    diagnostic *d = plan_refuse(p, E0553, c->at, "'%s' cannot be computed where it is read: it is a reduction", st->name);
    if (d) diag_note(d, reader->at, "'%s' reads it, and is no part of a walk that could compute it on the way", reader->name);
    if (d) diag_help(d, "fuse '%s' at the index that its points are walked by", reader->name);
}

// Stages of one walk read a copy: the first walk has the stage itself.
static void give(planner *p, uint32_t stage, const stage_group *readers, const schedule_cell *walk, bool first) {
    tensor_stage st = p->op->stages.data[stage];
    if (first) {
        VEC_PUSH(p->arena, &p->again, ((plan_again){st.name, walk}));
        return;
    }
    const tensor_stage copy = copied(p, &st);
    replacing r = {p, st.targets[0].val, copy.targets[0].val};
    for (uint32_t i = 0; i < readers->len; i++)
        if (plan_same_statement(plan_fuse_cell(p, readers->data[i]), walk))
            plan_replace_loads(p, readers->data[i], load_of_copy, &r);
    VEC_PUSH(p->arena, &p->again, ((plan_again){copy.name, walk}));
    plan_put_stage(p, stage + 1, copy);
}

static void compute_again(planner *p, uint32_t stage) {
    const tensor_stage st = p->op->stages.data[stage];
    stage_group readers = {0};
    VEC(const schedule_cell *) walks = {0};
    for (uint32_t i = stage + 1; i < p->op->stages.len; i++) {
        if (plan_inlined(p, i) || !plan_reads_stage(p, i, stage)) continue;
        const schedule_cell *walk = plan_fuse_cell(p, i);
        if (!is_walk(walk)) {
            not_in_walk(p, &st, &p->op->stages.data[i]);
            return;
        }
        bool known = false;
        for (uint32_t k = 0; k < walks.len; k++) known |= plan_same_statement(walks.data[k], walk);
        if (!known) VEC_PUSH(p->arena, &walks, walk);
        VEC_PUSH(p->arena, &readers, i);
    }
    for (uint32_t k = walks.len; k-- > 0;) {   // what is put behind the stage moves its readers up
        uint32_t before = p->op->stages.len;
        give(p, stage, &readers, walks.data[k], k == 0);
        for (uint32_t i = 0; i < readers.len; i++) readers.data[i] += p->op->stages.len - before;
    }
}

void plan_recompute(planner *p) {
    for (uint32_t i = p->op->stages.len; i-- > 0 && !p->failed;)
        if (!plan_inlined(p, i) && plan_may_recompute(p, &p->op->stages.data[i])) compute_again(p, i);
}

const schedule_cell *plan_again_in(const planner *p, const char *stage) {
    for (uint32_t i = 0; i < p->again.len; i++)
        if (!strcmp(p->again.data[i].stage, stage)) return p->again.data[i].walk;
    return NULL;
}
