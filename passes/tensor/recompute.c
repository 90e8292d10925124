// Reductions of an edge that are computed again in each walk that reads them (`inline s.sum`): a
// copy of the stage belongs to each, and nothing of it is stored. One of a row that a walk reads by
// its edges is computed at each of those.
//     fuse dq at e;  fuse dk at e;  inline s.sum   →  s.sum in the walk of dq, s.sum.again in that of dk
//     dk[u] = sum {e : src[e] == u} … t[dst[e]]    →  t.again[e] = …, as t is at dst[e]
#include "tensor/tensor.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <string.h>

typedef struct {
    planner *p;
    tensor_val of, by;
    // of edges that it reads the rows of `of` by; NULL: `by` is of what `of` is
    const tensor_stage *reader;
} replacing;

static tensor_expr row_key(const tensor_op *op, const tensor_stage *st, tensor_expr index);

static tensor_expr load_of_copy(void *user, tensor_expr load) {
    const replacing *r = user;
    const tensor_op *op = r->p->op;
    tensor_node n = *tensor_node_at(op, load);
    if ((tensor_val)n.imm.i != r->of) return load;
    tensor_expr *args = ARENA_ARRAY(r->p->arena, tensor_expr, n.nargs + 1u);
    for (uint32_t i = 0; i < n.nargs; i++) args[i] = n.args[i];
    if (r->reader) {
        tensor_expr key = row_key(op, r->reader, args[0]);
        args[0] = tensor_node_at(op, key ? key : args[0])->args[0];
    }
    n.args = args;
    n.imm.i = r->by;
    return tensor_node_new(r->p->op, n);
}

// ---- Rows that are read by edges ----------------------------------------------------------------
typedef struct {
    const planner *p;
    const tensor_stage *reader;
    tensor_val of;
    tensor_var edge;   // of the reader, that walks them
    // that loads of it read rows by, at an index of the reader; TENSOR_NO_VAL: none yet
    tensor_val map;
    bool edges, other;   // some row is not the reader's own; is read in another way
} row_reads;

// What a key says is the row that the index is; 0: nothing.
static tensor_expr row_key(const tensor_op *op, const tensor_stage *st, tensor_expr index) {
    for (uint32_t k = 0; k < st->nkeys; k++)
        if (st->keys[k].rhs == index && tensor_node_at(op, index)->op == TENSOR_VAR_OP)
            return st->keys[k].lhs;
    return 0;
}

static bool is_index_of(const tensor_stage *st, tensor_var v) {
    bool own = false;
    for (uint32_t i = 0; i < st->nleft + st->nbound; i++)
        own |= v == (i < st->nleft ? st->left[i] : st->bound[i - st->nleft]);
    return own;
}

static bool see_row(void *user, const tensor_node *load) {
    row_reads *r = user;
    const tensor_op *op = r->p->op;
    if ((tensor_val)load->imm.i != r->of) return true;
    tensor_expr key = load->nargs ? row_key(op, r->reader, load->args[0]) : 0;
    const tensor_node *at = load->nargs ? tensor_node_at(op, key ? key : load->args[0]) : NULL;
    bool mapped = at && at->op == TENSOR_LOAD_OP && at->nargs == 1 &&
                  op->vals.data[at->imm.i].role == VAL_MAP &&
                  !(op->vals.data[at->imm.i].facts & FACT_PARTIAL);
    const tensor_node *edge = mapped ? tensor_node_at(op, at->args[0]) : NULL;
    bool known = edge && edge->op == TENSOR_VAR_OP &&
                 is_index_of(r->reader, (tensor_var)edge->imm.i);
    if (!known || (r->map != TENSOR_NO_VAL && r->map != (tensor_val)at->imm.i)) r->other = true;
    if (!known) return true;
    r->edges |= !key;
    r->map = (tensor_val)at->imm.i;
    r->edge = (tensor_var)edge->imm.i;
    return true;
}

// How stages of one walk read its rows: false: by none of their edges alone.
static bool read_by_edges(const planner *p, const tensor_stage *st, const stage_group *readers,
                          const schedule_cell *walk, row_reads *r) {
    const tensor_node *row = st->nleft && st->targets[0].rank
                                 ? tensor_node_at(p->op, st->targets[0].index[0])
                                 : NULL;
    *r = (row_reads){.p = p, .of = st->targets[0].val, .map = TENSOR_NO_VAL};
    if (!row || row->op != TENSOR_VAR_OP || (tensor_var)row->imm.i != st->left[0]) return false;
    for (uint32_t i = 0; i < readers->len; i++) {
        if (!plan_same_statement(plan_fuse_cell(p, readers->data[i]), walk)) continue;
        r->reader = &p->op->stages.data[readers->data[i]];
        plan_loads(p, r->reader, see_row, r);
    }
    return r->edges && !r->other;
}

static bool is_walk(const schedule_cell *c) { return c && schedule_value_of(c, "at"); }

// The copy's first index is an edge, whose row by the map stands for the row.
static void at_edges(planner *p, const tensor_stage *of, const row_reads *by, tensor_var *left,
                     tensor_expr *vars) {
    left[0] = tensor_add_var_of(
        p->op, by->edge,
        arena_printf(p->arena, "%s'%u", plan_var_name(p, by->edge), p->op->vars.len));
    tensor_expr edge = tensor_var_expr(p->op, left[0], of->at);
    vars[of->left[0]] = tensor_load(p->op, by->map, &edge, 1, of->at);
}

static tensor_val copied_val(planner *p, const tensor_stage *of, const tensor_stage *copy,
                             bool by) {
    tensor_val_info info = p->op->vals.data[of->targets[0].val];
    tensor_space *axes = ARENA_ARRAY(p->arena, tensor_space, info.rank + 1u);
    for (uint32_t i = 0; i < info.rank; i++) axes[i] = info.axes[i];
    if (by) axes[0] = p->op->vars.data[copy->left[0]].space;
    info.axes = axes;
    info.name = copy->name;
    return loop_add_val(p->plan, info, (loop_value){.home = LOOP_MEMORY, .of = TENSOR_NO_VAL});
}

// A copy with variables and a value of its own; by: at the edges that read it so.
static tensor_stage copied(planner *p, const tensor_stage *of, const row_reads *by) {
    tensor_expr *vars = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1);
    tensor_target *target = ARENA_NEW(p->arena, tensor_target);
    tensor_key *keys = ARENA_ARRAY(p->arena, tensor_key, of->nkeys + 1);
    tensor_stage st = *of;
    const tensor_var *own = plan_own_vars(p, of->left, of->nleft, vars);
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, of->nleft + 1);
    for (uint32_t i = 0; i < of->nleft; i++) left[i] = own[i];
    st.left = left;
    if (by) at_edges(p, of, by, left, vars);
    st.bound = plan_own_vars(p, of->bound, of->nbound, vars);
    for (uint32_t k = 0; k < of->nkeys; k++)
        keys[k] = (tensor_key){*plan_substitute(p, &of->keys[k].lhs, 1, vars),
                               *plan_substitute(p, &of->keys[k].rhs, 1, vars)};
    st.keys = keys;
    st.filters = plan_substitute(p, of->filters, of->nfilters, vars);
    st.body = plan_substitute(p, of->body, of->nbody, vars);
    st.orelse = plan_substitute(p, of->orelse, of->nelse, vars);
    st.name = plan_name_inside(p, of->name, "again");
    st.marks = 0;
    *target = of->targets[0];
    target->val = copied_val(p, of, &st, by != NULL);
    tensor_expr *index = ARENA_ARRAY(p->arena, tensor_expr, target->rank + 1u);
    const tensor_expr *same = plan_substitute(p, of->targets[0].index, target->rank, vars);
    for (uint32_t i = 0; i < target->rank; i++) index[i] = same[i];
    if (by) index[0] = tensor_var_expr(p->op, left[0], of->at);
    target->index = index;
    st.targets = target;
    return st;
}

static bool is_again(const planner *p, const tensor_stage *st) {
    const schedule_cell *c = schedule_find(p->s, st->id, SCHEDULE_INLINE, st->id);
    return c && st->reducer != TENSOR_NO_REDUCER && schedule_means(c->about, st->id);
}

bool plan_may_recompute(const planner *p, const tensor_stage *st) {
    return is_again(p, st) && st->loop == TENSOR_NO_LOOP && st->ntargets == 1 &&
           p->op->vals.data[st->targets[0].val].role == VAL_STAGE;
}

static void not_in_walk(planner *p, const tensor_stage *st, const tensor_stage *reader) {
    const schedule_cell *c = schedule_find(p->s, st->id, SCHEDULE_INLINE, st->id);
    diagnostic *d = plan_refuse(
        p, E0553, c->at, "'%s' cannot be computed where it is read: it is a reduction", st->name);
    if (d)
        diag_note(d, reader->at,
                  "'%s' reads it, and is in no loop that could compute it on the way",
                  reader->name);
    if (d) diag_help(d, "fuse '%s' at the index of the loop over its points", reader->name);
}

// Stages of one walk read a copy, which is of edges where they read rows by those.
static void give(planner *p, uint32_t stage, const stage_group *readers,
                 const schedule_cell *walk) {
    const tensor_stage st = p->op->stages.data[stage];
    row_reads reads;
    const row_reads *by = read_by_edges(p, &st, readers, walk, &reads) ? &reads : NULL;
    const tensor_stage copy = copied(p, &st, by);
    replacing r = {.p = p, .of = st.targets[0].val, .by = copy.targets[0].val};
    for (uint32_t i = 0; i < readers->len; i++) {
        if (!plan_same_statement(plan_fuse_cell(p, readers->data[i]), walk)) continue;
        const tensor_stage reader = p->op->stages.data[readers->data[i]];
        r.reader = by ? &reader : NULL;
        plan_replace_loads(p, readers->data[i], load_of_copy, &r);
    }
    plan_put_stage(p, stage + 1, copy);
    tensor_set_mark(&p->op->stages.data[stage + 1], TENSOR_AGAIN);
}

typedef VEC(const schedule_cell *) walk_list;

// The first one that does not read rows by edges has the stage itself. UINT32_MAX: none.
static uint32_t keeper_of(planner *p, uint32_t stage, const stage_group *readers,
                          const walk_list *walks) {
    row_reads r;
    for (uint32_t k = 0; k < walks->len; k++)
        if (!read_by_edges(p, &p->op->stages.data[stage], readers, walks->data[k], &r)) return k;
    return UINT32_MAX;
}

static void compute_again(planner *p, uint32_t stage) {
    const tensor_stage st = p->op->stages.data[stage];
    const bool written = plan_may_expand(p, stage);
    stage_group readers = {0};
    walk_list walks = {0};
    for (uint32_t i = stage + 1; i < p->op->stages.len; i++) {
        if (plan_inlined(p, i) || !plan_reads_stage(p, i, stage)) continue;
        const schedule_cell *walk = plan_fuse_cell(p, i);
        if (!is_walk(walk) && written) {
            plan_expand(p, stage, i);
            continue;
        }
        if (!is_walk(walk)) {
            not_in_walk(p, &st, &p->op->stages.data[i]);
            return;
        }
        bool known = false;
        for (uint32_t k = 0; k < walks.len; k++) known |= plan_same_statement(walks.data[k], walk);
        if (!known) VEC_PUSH(p->arena, &walks, walk);
        VEC_PUSH(p->arena, &readers, i);
    }
    const uint32_t keeper = keeper_of(p, stage, &readers, &walks);
    if (keeper == UINT32_MAX && (walks.len || written))   // nobody reads it
        p->plan->values.data[st.targets[0].val] = (loop_value){
            .home = LOOP_INLINE, .stage = stage, .of = TENSOR_NO_VAL};
    for (uint32_t k = walks.len; k-- > 0;) {   // what is put behind the stage moves its readers up
        uint32_t before = p->op->stages.len;
        if (k != keeper) give(p, stage, &readers, walks.data[k]);
        for (uint32_t i = 0; i < readers.len; i++) readers.data[i] += p->op->stages.len - before;
    }
    if (keeper != UINT32_MAX) tensor_set_mark(&p->op->stages.data[stage], TENSOR_AGAIN);
}

void plan_recompute(planner *p) {
    for (uint32_t i = p->op->stages.len; i-- > 0 && !p->failed;)
        if (!plan_inlined(p, i) && plan_may_recompute(p, &p->op->stages.data[i]))
            compute_again(p, i);
}
