// A stage for each of the few numbers that a point has (`scalarize`). What a point needs is then in
// registers of one thread: indices are constants, and reductions of a few terms are written out.
//     a[m, i:_3] = p[s[m], i] - p[t[m], i]
//     y[m] = sum {i:_3} a[m, i] * w[i]
//  →  a.at_0[m] = p[s[m], 0] - p[t[m], 0]   a.at_1[m] = …   a.at_2[m] = …
//     y[m] = a.at_0[m] * w[0] + a.at_1[m] * w[1] + a.at_2[m] * w[2]
// Who reads all of them at an index that is computed reads memory, where a.out_0, a.out_1 and
// a.out_2 store them.
#include "tensor/tensor.h"
#include "base/base.h"

#include <string.h>

enum { MOST = 32 };

typedef struct {
    planner *p;
    tensor_val **at;   // per value there was: of each of its numbers at a point; NULL: it has none
    uint32_t nvals;
} scalarizing;

// ---- Numbers of a point -------------------------------------------------------------------------
static int64_t few(const planner *p, tensor_space s) {   // 0: an axis of points
    const tensor_space_info *i = &p->op->spaces.data[s];
    return i->kind == SPACE_CONST && i->size <= MOST ? i->size : 0;
}

static int64_t few_of(const planner *p, tensor_var v) { return few(p, p->op->vars.data[v].space); }

static bool is_constant(const planner *p, tensor_expr e, int64_t *x) {
    const tensor_node *n = tensor_node_at(p->op, e);
    if (n->op == TENSOR_INDEX_OP) n = tensor_node_at(p->op, n->args[0]);
    *x = n->imm.i;
    return n->op == TENSOR_CONST_OP;
}

static int64_t numbers_of(const planner *p, tensor_val v) {
    const tensor_val_info *i = &p->op->vals.data[v];
    int64_t n = 1;
    for (uint32_t k = 0; k < i->rank && n <= MOST; k++)
        if (few(p, i->axes[k])) n *= few(p, i->axes[k]);
    return n;
}

// Which of them; false: an index is computed, or is no point's own.
static bool number_at(const planner *p, tensor_val v, const tensor_expr *index, int64_t *number) {
    const tensor_val_info *i = &p->op->vals.data[v];
    *number = 0;
    for (uint32_t k = 0; k < i->rank; k++) {
        const int64_t n = few(p, i->axes[k]);
        int64_t x;
        if (n && !is_constant(p, index[k], &x)) return false;
        if (!n && tensor_node_at(p->op, index[k])->op != TENSOR_VAR_OP) return false;
        if (n) *number = *number * n + x;
    }
    return true;
}

static tensor_expr load_number(planner *p, tensor_val v, tensor_val of, const tensor_expr *index) {
    const tensor_val_info *i = &p->op->vals.data[of];
    tensor_expr *kept = ARENA_ARRAY(p->arena, tensor_expr, i->rank + 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < i->rank; k++)
        if (!few(p, i->axes[k])) kept[n++] = index[k];
    const tensor_expr load = tensor_load(p->op, v, kept, n, NO_SPAN);
    // as it would be stored
    return ir_dtype_is_narrow(i->type) ? tensor_round(p->op, i->type, load, NO_SPAN) : load;
}

// ---- Which --------------------------------------------------------------------------------------
int64_t plan_scalars_of(const planner *p, const tensor_stage *st) {
    int64_t n = 1;
    for (uint32_t i = 0; i < st->nleft && n <= MOST; i++)
        if (few_of(p, st->left[i])) n *= few_of(p, st->left[i]);
    return n;
}

static bool reduces_few(const planner *p, const tensor_stage *st) {
    const tensor_reducer *r = &p->op->reducers.data[st->reducer];
    return r->nargs == 1 && r->nstate == 1 && r->nresults == 1 && plan_few_terms(p, st);
}

const char *plan_why_no_scalars(const planner *p, const tensor_stage *st) {
    const tensor_target *t = &st->targets[0];
    if (st->loop != TENSOR_NO_LOOP || st->marks || st->nelse)
        return "it has an `else`, or is part of a recurrence";
    if (st->ntargets != 1 || !ir_dtype_is_float(p->op->vals.data[t->val].type))
        return "it has several results, or one that is no number";
    if (st->reducer == TENSOR_NO_REDUCER ? st->nfilters : !reduces_few(p, st))
        return "it reduces more than 32 terms, or by several states";
    if (plan_scalars_of(p, st) > MOST || numbers_of(p, t->val) > MOST)
        return "a point has more than 32 numbers";
    uint32_t points = 0;
    for (uint32_t k = 0; k < t->rank; k++) {
        int64_t x;
        const bool var = tensor_node_at(p->op, t->index[k])->op == TENSOR_VAR_OP;
        const int64_t n = few(p, p->op->vals.data[t->val].axes[k]);
        if (!var && (!n || !is_constant(p, t->index[k], &x))) return "it is part of a recurrence";
        points += !n;
    }
    return points ? NULL : "it has no points";
}

// ---- A stage for each ---------------------------------------------------------------------------
static tensor_expr as_number(void *user, tensor_expr load) {
    const scalarizing *x = user;
    const tensor_node n = *tensor_node_at(x->p->op, load);
    const tensor_val v = (tensor_val)n.imm.i;
    int64_t number;
    if (v >= x->nvals || !x->at[v] || !number_at(x->p, v, n.args, &number) || !x->at[v][number])
        return load;
    return load_number(x->p, x->at[v][number], v, n.args);
}

// What stands for the small indices at the n-th of the stage's points.
static void put_point(planner *p, const tensor_stage *st, int64_t n, tensor_expr *by) {
    for (uint32_t i = st->nleft; i-- > 0;) {
        const int64_t size = few_of(p, st->left[i]);
        if (!size) continue;
        const tensor_space s = p->op->vars.data[st->left[i]].space;
        by[st->left[i]] = tensor_index(p->op, s, tensor_int(p->op, n % size), st->at);
        n /= size;
    }
}

static tensor_val number_val(planner *p, const tensor_stage *st, int64_t number,
                             const char **name) {
    const tensor_val_info *i = &p->op->vals.data[st->targets[0].val];
    tensor_space *axes = ARENA_ARRAY(p->arena, tensor_space, i->rank + 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < i->rank; k++)
        if (!few(p, i->axes[k])) axes[n++] = i->axes[k];
    *name = plan_name_inside(p, st->name, arena_printf(p->arena, "at_%lld", (long long)number));
    return plan_stage_val(p, *name, (tensor_type){i->type, TENSOR_NO_SPACE}, axes, n, st->at);
}

// The n-th number of the stage, as a stage.
static tensor_stage scalar_of(scalarizing *x, const tensor_stage *of, int64_t n) {
    planner *p = x->p;
    const tensor_val v = of->targets[0].val;
    tensor_stage st = *of;
    tensor_expr *by = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + of->nleft + 1),
                *index = ARENA_ARRAY(p->arena, tensor_expr, of->targets[0].rank + 1),
                *body = ARENA_NEW(p->arena, tensor_expr);
    tensor_var *kept = ARENA_ARRAY(p->arena, tensor_var, of->nleft + 1);
    tensor_target *to = ARENA_NEW(p->arena, tensor_target);
    int64_t number;
    st.nleft = 0;
    for (uint32_t i = 0; i < of->nleft; i++)
        if (!few_of(p, of->left[i])) kept[st.nleft++] = of->left[i];
    put_point(p, of, n, by);
    st.left = plan_own_vars(p, kept, st.nleft, by);
    const tensor_expr *at = plan_substitute(p, of->targets[0].index, of->targets[0].rank, by);
    *body = of->reducer == TENSOR_NO_REDUCER ? *plan_substitute(p, of->body, 1, by)
                                             : plan_written_out(p, of, by);
    *body = plan_replaced(p, *body, as_number, x);
    if (!number_at(p, v, at, &number)) ICE("'%s' has no such number", of->name);
    to->val = x->at[v][number] = number_val(p, of, number, &st.name);
    for (uint32_t k = 0; k < of->targets[0].rank; k++)
        if (!few(p, p->op->vals.data[v].axes[k])) index[to->rank++] = at[k];
    to->index = index;
    st.id = tensor_id_of_path(p->op->ids, st.name);
    st.targets = to, st.body = body;
    st.reducer = TENSOR_NO_REDUCER;
    st.nbound = st.nfilters = st.nkeys = 0;
    return st;
}

// The stage stays where it is, after its numbers, until it is known who reads it.
static void take(scalarizing *x, uint32_t *stage) {
    planner *p = x->p;
    const tensor_stage st = p->op->stages.data[*stage];
    const tensor_val v = st.targets[0].val;
    const int64_t n = plan_scalars_of(p, &st);
    if (!x->at[v]) x->at[v] = ARENA_ARRAY(p->arena, tensor_val, MOST);
    for (int64_t i = 0; i < n; i++) plan_put_stage(p, (*stage)++, scalar_of(x, &st, i));
}

// ---- What is stored -----------------------------------------------------------------------------
static bool still_reads(const planner *p, const tensor_stage *st, tensor_val v) {
    bool any = false;
    for (uint32_t i = 0; i < st->nbody; i++) any |= tensor_loads(p->op, st->body[i], v);
    for (uint32_t i = 0; i < st->nfilters; i++) any |= tensor_loads(p->op, st->filters[i], v);
    for (uint32_t i = 0; i < st->nelse; i++) any |= tensor_loads(p->op, st->orelse[i], v);
    for (uint32_t i = 0; i < st->nkeys; i++)
        any |= tensor_loads(p->op, st->keys[i].lhs, v) || tensor_loads(p->op, st->keys[i].rhs, v);
    return any;
}

static bool is_read(const scalarizing *x, tensor_val v, const stage_ids *taken) {
    const planner *p = x->p;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *st = plan_stage(p, i);
        if (!plan_has_id(taken, st->id) && still_reads(p, st, v)) return true;
    }
    return p->op->vals.data[v].role == VAL_RESULT;
}

// The n-th number of the stage, in its place.
static tensor_stage stored(scalarizing *x, const tensor_stage *of, int64_t n) {
    planner *p = x->p;
    const tensor_val v = of->targets[0].val;
    tensor_stage st = *of;
    tensor_expr *by = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + of->nleft + 1),
                *body = ARENA_NEW(p->arena, tensor_expr);
    tensor_var *kept = ARENA_ARRAY(p->arena, tensor_var, of->nleft + 1);
    tensor_target *to = ARENA_NEW(p->arena, tensor_target);
    int64_t number;
    st.nleft = 0;
    for (uint32_t i = 0; i < of->nleft; i++)
        if (!few_of(p, of->left[i])) kept[st.nleft++] = of->left[i];
    put_point(p, of, n, by);
    st.left = plan_own_vars(p, kept, st.nleft, by);
    *to = of->targets[0];
    to->index = plan_substitute(p, to->index, to->rank, by);
    if (!number_at(p, v, to->index, &number)) ICE("'%s' has no such number", of->name);
    *body = load_number(p, x->at[v][number], v, to->index);
    st.name = plan_name_inside(p, of->name, arena_printf(p->arena, "out_%lld", (long long)number));
    st.id = tensor_id_of_path(p->op->ids, st.name);
    st.targets = to, st.body = body;
    st.reducer = TENSOR_NO_REDUCER;
    st.nbound = st.nfilters = st.nkeys = 0;
    return st;
}

static void drop(planner *p, uint32_t stage) {
    tensor_stage *all = p->op->stages.data;
    memmove(&all[stage], &all[stage + 1], (p->op->stages.len - stage - 1) * sizeof *all);
    p->op->stages.len--;
}

static void store(scalarizing *x, uint32_t *stage, const stage_ids *taken) {
    planner *p = x->p;
    const tensor_stage st = p->op->stages.data[*stage];
    const bool read = is_read(x, st.targets[0].val, taken);
    for (int64_t i = 0; read && i < plan_scalars_of(p, &st); i++)
        plan_put_stage(p, (*stage)++, stored(x, &st, i));
    drop(p, (*stage)--);
}

// ---- The statement ------------------------------------------------------------------------------
// A stage of one number a point stays, and reads numbers.
static void write_out(scalarizing *x, uint32_t stage) {
    planner *p = x->p;
    tensor_stage st = p->op->stages.data[stage];
    tensor_expr *by = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1),
                *body = ARENA_NEW(p->arena, tensor_expr);
    *body = st.reducer == TENSOR_NO_REDUCER ? st.body[0] : plan_written_out(p, &st, by);
    *body = plan_replaced(p, *body, as_number, x);
    st.body = body;
    st.reducer = TENSOR_NO_REDUCER;
    st.nbound = st.nfilters = st.nkeys = 0;
    p->op->stages.data[stage] = st;
}

static bool has_numbers(const planner *p, tensor_val v) {
    const tensor_val_info *i = &p->op->vals.data[v];
    for (uint32_t k = 0; k < i->rank; k++)
        if (few(p, i->axes[k])) return true;
    return false;
}

static void refuse(planner *p, const schedule_cell *c, const tensor_stage *st, const char *why) {
    diagnostic *d = plan_refuse(p, E0562, c->at, "'%s' has no stage for each of its numbers: %s",
                                st->name, why);
    if (d) diag_note(d, st->at, "'%s' is computed here", st->name);
    if (d) diag_help(d, "leave it out");
}

void plan_scalarize(planner *p) {
    scalarizing x = {.p = p, .nvals = p->op->vals.len};
    x.at = ARENA_ARRAY(p->arena, tensor_val *, x.nvals + 1);
    stage_ids taken = {0};
    for (uint32_t i = 0; i < p->op->stages.len && !p->failed; i++) {
        const tensor_stage st = p->op->stages.data[i];
        schedule_cell *c = schedule_find(p->s, st.id, SCHEDULE_SCALARIZE, st.id);
        if (!c || !schedule_means(c->about, st.id)) continue;   // not what it reduces
        const char *why = plan_why_no_scalars(p, &st);
        c->consumed = true;
        if (why) {
            refuse(p, c, &st, why);
        } else if (!has_numbers(p, st.targets[0].val)) {
            write_out(&x, i);
        } else {
            take(&x, &i);
            VEC_PUSH(p->arena, &taken, st.id);
        }
    }
    for (uint32_t i = 0; i < p->op->stages.len && taken.len && !p->failed; i++)
        if (plan_has_id(&taken, plan_stage(p, i)->id)) store(&x, &i, &taken);
}
