// Counts that a map knows. A reduction that visits all points a map takes to its row, and tests
// none of them, contributes as often as the row has points: what adds a constant each time, and
// whether there was anything at all, is read of the map's offsets, once a row, and is no part of
// the state.
//     y[v, f] = mean {e : dst[e] == v} x[e, f]
//  →  y: y.reduced[v, f] = sum {e : dst[e] == v} x[e, f]
//     y.finished: y[v, f] = select(eq(n, 0), 0, div(y.reduced[v, f], n))
// where n is offsets.dst[v + 1] - offsets.dst[v], or degrees.dst[v]. Of a walk of a whole space n
// is its size. Only integers are counted so: a float that is added up rounds.
#include "tensor/tensor.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <string.h>

// ---- Components of a reducer --------------------------------------------------------------------
typedef struct {
    planner *p;
    tensor_opcode side;        // what is replaced: ARG, LEFT or RIGHT
    const tensor_expr *with;   // by its number; 0: it stays
    tensor_expr *made;
} replacing;

static tensor_expr replaced(replacing *r, tensor_expr e) {
    if (r->made[e]) return r->made[e];
    tensor_node n = *tensor_node_at(r->p->op, e);
    if (n.op == r->side && r->with[n.imm.i]) return r->made[e] = r->with[n.imm.i];
    tensor_expr *args = ARENA_ARRAY(r->p->arena, tensor_expr, n.nargs + 1u);
    bool same = true;
    for (uint32_t i = 0; i < n.nargs; i++) {
        args[i] = replaced(r, n.args[i]);
        same = same && args[i] == n.args[i];
    }
    n.args = args;
    return r->made[e] = same ? e : tensor_node_new(r->p->op, n);
}

static tensor_expr put(planner *p, tensor_expr e, tensor_opcode side, const tensor_expr *with) {
    replacing r = {p, side, with, ARENA_ARRAY(p->arena, tensor_expr, p->op->exprs.len + 1)};
    return replaced(&r, e);
}

static bool mentions(const planner *p, tensor_expr e, uint32_t component, uint8_t *seen) {
    const tensor_node *n = tensor_node_at(p->op, e);
    if ((n->op == TENSOR_LEFT_OP || n->op == TENSOR_RIGHT_OP) && n->imm.i == component) return true;
    if (seen[e]) return false;
    seen[e] = 1;
    for (uint32_t i = 0; i < n->nargs; i++)
        if (mentions(p, n->args[i], component, seen)) return true;
    return false;
}

// What component i adds at every point; false: it is no count.
static bool adds(planner *p, const tensor_stage *st, uint32_t i, int64_t *each) {
    const tensor_reducer r = p->op->reducers.data[st->reducer];
    tensor_reduce_kind by;
    if (r.state_types[i].type != DT_I64 || r.identity[i] != tensor_int(p->op, 0)) return false;
    if (!tensor_combined_by(p->op, &r, i, &by) || by != REDUCE_SUM) return false;
    uint8_t *seen = ARENA_ARRAY(p->arena, uint8_t, p->op->exprs.len + 1);
    for (uint32_t k = 0; k < r.nstate; k++)
        if (k != i && mentions(p, r.combine[k], i, seen)) return false;
    const tensor_node *n = tensor_node_at(p->op, put(p, r.lift[i], TENSOR_ARG_OP, st->body));
    *each = n->imm.i;
    return n->op == TENSOR_CONST_OP;
}

// ---- How many points ----------------------------------------------------------------------------
static bool is_left(const planner *p, const tensor_stage *st, tensor_expr e) {
    const tensor_node *n = tensor_node_at(p->op, e);
    for (uint32_t i = 0; i < st->nleft && n->op == TENSOR_VAR_OP; i++)
        if ((tensor_var)n->imm.i == st->left[i]) return true;
    return false;
}

static bool rows_are_cut(const planner *p, tensor_val map) {
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *st = &p->op->stages.data[i];
        if (!plan_part_points(p, st)) continue;
        for (uint32_t k = 0; k < st->nkeys; k++) {
            const tensor_node *lhs = tensor_node_at(p->op, st->keys[k].lhs);
            if (lhs->op == TENSOR_LOAD_OP && (tensor_val)lhs->imm.i == map) return true;
        }
    }
    return false;
}

// What only counts is read anywhere, and a kernel that cuts rows mostly orders them by their
// degrees; one that walks rows reads where they begin and end anyway.
static tensor_expr row_points(planner *p, const plan_map *m, tensor_expr row, bool alone) {
    if (p->op->vals.data[m->map].role == VAL_MAP && (alone || rows_are_cut(p, m->map))) {
        tensor_val degrees = plan_prepare(p, PREPARED_DEGREES, &m->map, 1, m->domain, m->into);
        return plan_wide(p, tensor_load(p->op, degrees, &row, 1, NO_SPAN));
    }
    tensor_val offsets = plan_offsets(p, m);
    return tensor_binary(p->op, TENSOR_SUB_OP, plan_wide(p, plan_offset_at(p, offsets, row, 1)),
                         plan_wide(p, plan_offset_at(p, offsets, row, 0)), NO_SPAN);
}

// The points of one bound variable, in a space of their own or by the one key that is about it; 0:
// not known.
static tensor_expr points_of(planner *p, const tensor_stage *st, tensor_var v, bool alone) {
    const tensor_key *key = NULL;
    plan_map m;
    for (uint32_t k = 0; k < st->nkeys; k++) {
        if (!plan_mentions(p, st->keys[k].lhs, v)) continue;
        if (key) return 0;
        key = &st->keys[k];
    }
    if (!key) return tensor_size(p->op, p->op->vars.data[v].space, NO_SPAN);
    for (uint32_t b = 0; b < st->nbound; b++)
        if (st->bound[b] != v && plan_mentions(p, key->lhs, st->bound[b])) return 0;
    if (!is_left(p, st, key->rhs) || !plan_map_of_key(p, key->lhs, v, &m)) return 0;
    return row_points(p, &m, key->rhs, alone);
}

static tensor_expr points(planner *p, const tensor_stage *st, bool alone) {
    tensor_expr n = tensor_int(p->op, 1);
    if (st->nfilters || st->loop != TENSOR_NO_LOOP) return 0;
    for (uint32_t b = 0; b < st->nbound; b++) {
        tensor_expr of = points_of(p, st, st->bound[b], alone);
        if (!of) return 0;
        n = tensor_binary(p->op, TENSOR_MUL_OP, n, of, NO_SPAN);
    }
    return n;
}

// ---- What is left -------------------------------------------------------------------------------
typedef struct {
    planner *p;
    uint32_t stage;
    tensor_expr n;        // points
    tensor_expr *known;   // components of the state that nothing has to be reduced for; 0: others
    uint32_t counts;      // how many are known
} counting;

static const tensor_stage *stage_of(const counting *c) { return &c->p->op->stages.data[c->stage]; }
static tensor_reducer reducer_of(const counting *c) {
    return c->p->op->reducers.data[stage_of(c)->reducer];
}

static bool same_exprs(const tensor_expr *x, const tensor_expr *y, uint32_t n) {
    return !memcmp(x, y, n * sizeof *x);
}

static uint32_t add_reducer(planner *p, const tensor_reducer *r) {
    for (uint32_t i = 0; i < p->op->reducers.len; i++) {
        const tensor_reducer *o = &p->op->reducers.data[i];
        if (o->nstate == r->nstate && o->nargs == r->nargs && !strcmp(o->name, r->name) &&
            same_exprs(o->lift, r->lift, r->nstate) &&
            same_exprs(o->combine, r->combine, r->nstate))
            return i;
    }
    VEC_PUSH(p->arena, &p->op->reducers, *r);
    return p->op->reducers.len - 1;
}

static tensor_expr side(planner *p, tensor_opcode which, tensor_type t, uint32_t i) {
    return tensor_node_new(p->op, (tensor_node){.op = (uint16_t)which, .type = t, .imm.i = i});
}

// A stage's values are not of 16 bits.
static tensor_type widened(tensor_type t) {
    return tensor_type_is_narrow(t) ? TENSOR_TYPE(F32) : t;
}

// The same reducer without what is known, whose results are its states.
static uint32_t rest_of_reducer(const counting *c) {
    planner *p = c->p;
    tensor_reducer r = reducer_of(c);
    uint32_t n = 0;
    tensor_expr *left = ARENA_ARRAY(p->arena, tensor_expr, r.nstate),
                *right = ARENA_ARRAY(p->arena, tensor_expr, r.nstate),
                *e = ARENA_ARRAY(p->arena, tensor_expr, 4 * r.nstate);
    tensor_expr *identity = e, *lift = e + r.nstate, *combine = lift + r.nstate,
                *finish = combine + r.nstate;
    tensor_type *types = ARENA_ARRAY(p->arena, tensor_type, r.nstate),
                *results = ARENA_ARRAY(p->arena, tensor_type, r.nstate);
    for (uint32_t i = 0; i < r.nstate; i++) {
        if (c->known[i]) continue;
        left[i] = side(p, TENSOR_LEFT_OP, r.state_types[i], n);
        right[i] = side(p, TENSOR_RIGHT_OP, r.state_types[i], n);
        types[n++] = r.state_types[i];
    }
    for (uint32_t i = 0, to = 0; i < r.nstate; i++) {
        if (c->known[i]) continue;
        identity[to] = r.identity[i];
        lift[to] = r.lift[i];
        combine[to] = put(p, put(p, r.combine[i], TENSOR_LEFT_OP, left), TENSOR_RIGHT_OP, right);
        results[to] = widened(r.state_types[i]);
        finish[to] = tensor_cvt(p->op, results[to], left[i], NO_SPAN);
        to++;
    }
    r.name = arena_printf(p->arena, "%s.rest", r.name);
    r.kind = REDUCE_USER;
    r.nstate = r.nresults = n;
    r.state_types = types;
    r.result_types = results;
    r.identity = identity;
    r.lift = lift;
    r.combine = combine;
    r.finish = finish;
    return add_reducer(p, &r);
}

// A builtin one where it is that, of what it lifts: other passes know those best.
static bool reduce_builtin(const counting *c, tensor_stage *st) {
    planner *p = c->p;
    const tensor_reducer all = reducer_of(c);
    tensor_reduce_kind by;
    uint32_t i = 0;
    while (c->known[i]) i++;
    if (all.nstate - c->counts != 1 || tensor_type_is_narrow(all.state_types[i]) ||
        !tensor_combined_by(p->op, &all, i, &by))
        return false;
    uint32_t builtin = tensor_builtin_reducer(p->op, by, all.state_types[i]);
    if (p->op->reducers.data[builtin].identity[0] != all.identity[i]) return false;
    tensor_expr *term = ARENA_NEW(p->arena, tensor_expr);
    *term = put(p, all.lift[i], TENSOR_ARG_OP, st->body);
    st->body = term;
    st->nbody = 1;
    st->reducer = builtin;
    return true;
}

// ---- Two stages ---------------------------------------------------------------------------------
const char *plan_name_inside(const planner *p, const char *stage, const char *what) {
    return tensor_free_name(p->op, arena_printf(p->arena, "%s.%s", stage, what));
}

// The stage reduces into values of its own; loads of them at its left variables.
static tensor_expr *reduce_apart(const counting *c) {
    planner *p = c->p;
    tensor_stage st = *stage_of(c);
    if (c->counts && !reduce_builtin(c, &st)) st.reducer = rest_of_reducer(c);
    const tensor_reducer r = p->op->reducers.data[st.reducer];
    tensor_space *axes = ARENA_ARRAY(p->arena, tensor_space, st.nleft + 1);
    tensor_expr *at = ARENA_ARRAY(p->arena, tensor_expr, st.nleft + 1),
                *loads = ARENA_ARRAY(p->arena, tensor_expr, r.nresults);
    tensor_target *targets = ARENA_ARRAY(p->arena, tensor_target, r.nresults);
    for (uint32_t i = 0; i < st.nleft; i++) {
        axes[i] = p->op->vars.data[st.left[i]].space;
        at[i] = tensor_var_expr(p->op, st.left[i], NO_SPAN);
    }
    for (uint32_t i = 0; i < r.nresults; i++) {
        tensor_type t = r.result_types[i];
        tensor_val_info info = {.name = plan_name_inside(p, st.name, "reduced"),
                                .role = VAL_STAGE,
                                .type = t.type,
                                .into = t.space,
                                .facts = t.type == DT_INDEX ? FACT_PARTIAL : 0,
                                .sorted_by = TENSOR_NO_VAL,
                                .inplace = TENSOR_NO_VAL,
                                .rank = st.nleft,
                                .axes = axes,
                                .at = st.at};
        tensor_val v = loop_add_val(p->plan, info,
                                    (loop_value){.home = LOOP_MEMORY, .of = TENSOR_NO_VAL});
        targets[i] = (tensor_target){.val = v, .rank = st.nleft, .index = at};
        loads[i] = tensor_load(p->op, v, at, st.nleft, st.at);
    }
    st.ntargets = r.nresults;
    st.targets = targets;
    st.nelse = 0;
    p->op->stages.data[c->stage] = st;
    return loads;
}

// What the stage stored, of what was reduced apart from it.
static void finish(const counting *c, const tensor_stage *of, const tensor_expr *loads) {
    planner *p = c->p;
    const tensor_reducer r = p->op->reducers.data[of->reducer];
    tensor_expr *body = ARENA_ARRAY(p->arena, tensor_expr, of->ntargets),
                *state = ARENA_ARRAY(p->arena, tensor_expr, r.nstate),
                none = tensor_binary(p->op, TENSOR_EQ_OP, c->n, tensor_int(p->op, 0), NO_SPAN);
    for (uint32_t i = 0, from = 0; c->counts && i < r.nstate; i++)
        state[i] = c->known[i] ? c->known[i]
                               : tensor_cvt(p->op, r.state_types[i], loads[from++], NO_SPAN);
    for (uint32_t t = 0; t < of->ntargets; t++) {
        body[t] = c->counts ? put(p, r.finish[t], TENSOR_LEFT_OP, state) : loads[t];
        if (of->nelse) body[t] = tensor_select(p->op, none, of->orelse[t], body[t], NO_SPAN);
    }
    tensor_stage st = {.name = loads ? plan_name_inside(p, of->name, "finished") : of->name,
                       .ntargets = of->ntargets,
                       .targets = of->targets,
                       .nleft = of->nleft,
                       .left = of->left,
                       .reducer = TENSOR_NO_REDUCER,
                       .nbody = of->ntargets,
                       .body = body,
                       .loop = TENSOR_NO_LOOP,
                       .at = of->at};
    if (!loads) st.id = of->id, st.marks = of->marks;
    tensor_set_mark(&st, loads ? TENSOR_FINISHES : TENSOR_COUNTED);
    if (!loads) p->op->stages.data[c->stage] = st;
    else plan_put_stage(p, c->stage + 1, st);
}

// ---- Which --------------------------------------------------------------------------------------
// `else` that says what is stored anyway where there is nothing.
static void drop_else(planner *p, tensor_stage *st) {
    if (st->reducer == TENSOR_NO_REDUCER) return;
    const tensor_reducer r = p->op->reducers.data[st->reducer];
    for (uint32_t t = 0; t < st->nelse; t++)
        if (put(p, r.finish[t], TENSOR_LEFT_OP, r.identity) != st->orelse[t]) return;
    st->nelse = 0;
}

void plan_drop_else(planner *p) {
    for (uint32_t i = 0; i < p->op->stages.len; i++) drop_else(p, &p->op->stages.data[i]);
}

static bool is_one_of(const planner *p, schedule_ids indices, const tensor_var *vars, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (plan_is_among(p, indices, vars[i])) return true;
    return false;
}

// A sweep of what lies between rows has room for reductions alone.
static bool is_swept(const planner *p, uint32_t stage) {
    const schedule_ids at = plan_fused_at(plan_fuse_cell(p, stage));
    const tensor_stage *st = plan_stage(p, stage);
    return is_one_of(p, at, st->bound, st->nbound);
}

// What meets in memory or is carried from row to row has its state with it, and what says how a
// value is held or kept is about one value.
static bool may_be_apart(planner *p, uint32_t stage) {
    const tensor_stage *st = &p->op->stages.data[stage];
    plan_matrix m;
    if (tensor_marked(st, TENSOR_SCALED)) return false;
    for (uint32_t t = 0; t < st->ntargets; t++) {
        kept_place kept = plan_kept(p, st, st->targets[t].val);
        if (kept == KEPT_SHARED || kept == KEPT_GLOBAL) return false;
    }
    return !plan_matrix_of(p, st, &m) && !plan_carries(p, st) && !plan_atomic(p, st) &&
           !is_swept(p, stage);
}

// Is a statement about this stage, or would it have nothing to do without it?
static bool is_about(const planner *p, const schedule_cell *c, const tensor_stage *st) {
    if (c->of == st->id || schedule_means(c->about, st->id) || schedule_lists(c, st->id))
        return true;
    bool vanishes = p->op->vals.data[st->targets[0].val].role == VAL_STAGE;
    bool index = is_one_of(p, c->about, st->bound, st->nbound) ||
                 (vanishes && is_one_of(p, c->about, st->left, st->nleft));
    if (!index || !tensor_id_covers(p->op->ids, c->of, st->id)) return false;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *other = &p->op->stages.data[i];
        if (other != st && tensor_id_covers(p->op->ids, c->of, other->id) &&
            (is_one_of(p, c->about, other->left, other->nleft) ||
             is_one_of(p, c->about, other->bound, other->nbound)))
            return false;
    }
    return true;
}

// Does a schedule of the file, or one of its classes, say how it is counted?
static bool is_dealt_out(const planner *p, const schedule *s, const tensor_stage *st) {
    for (uint32_t i = 0; i < s->cells.len && s->at.hi; i++) {
        const schedule_cell *c = &s->cells.data[i];
        if (!c->empty && is_about(p, c, st)) return true;
        const schedule_value *use = schedule_value_of(c, "use");
        for (uint32_t k = 0; use && use->schedules && k < use->nnames; k++)
            if (is_dealt_out(p, use->schedules[k], st)) return true;
    }
    return false;
}

// What each component adds at a point, first.
static void find_counts(counting *c) {
    const tensor_reducer r = reducer_of(c);
    int64_t each;
    c->known = ARENA_ARRAY(c->p->arena, tensor_expr, r.nstate);
    for (uint32_t i = 0; i < r.nstate; i++) {
        if (!adds(c->p, stage_of(c), i, &each)) continue;
        c->known[i] = tensor_int(c->p->op, each);
        c->counts++;
    }
}

static void count_points(planner *p, uint32_t stage, bool alone) {
    tensor_stage *st = &p->op->stages.data[stage];
    if (st->reducer == TENSOR_NO_REDUCER) return;
    counting c = {.p = p, .stage = stage};
    uint32_t n = reducer_of(&c).nstate;
    find_counts(&c);
    bool all = c.counts == n;
    if (!c.counts && !st->nelse) return;
    if (all ? is_dealt_out(p, p->s, st) : alone || !may_be_apart(p, stage)) return;
    c.n = points(p, st, all);
    for (uint32_t i = 0; c.n && i < n; i++)
        if (c.known[i]) c.known[i] = tensor_binary(p->op, TENSOR_MUL_OP, c.n, c.known[i], NO_SPAN);
    if (!c.n) return;
    const tensor_stage of = *stage_of(&c);
    finish(&c, &of, all ? NULL : reduce_apart(&c));
}

// Reductions that share a walk stand next to each other: a stage that finishes one comes after all
// of them.
static void move_behind(planner *p, uint32_t at) {
    tensor_stage *all = p->op->stages.data, moved = all[at];
    for (; at + 1 < p->op->stages.len && plan_same_walk(p, &all[at - 1], &all[at + 1]); at++) {
        for (uint32_t t = 0; t < moved.ntargets; t++)
            if (plan_read_by(p, at + 1, moved.targets[t].val)) return;
        all[at] = all[at + 1];
        all[at + 1] = moved;
    }
}

static void move_finished(planner *p) {
    for (uint32_t i = p->op->stages.len; i-- > 1;)
        if (tensor_marked(plan_stage(p, i), TENSOR_FINISHES)) move_behind(p, i);
}

void plan_counts(planner *p) {
    for (uint32_t i = 0; i < p->op->stages.len; i++) count_points(p, i, p->alone);
    move_finished(p);
}

// Matrices are added up, means are not: where a schedule asks for them, counts leave the sum before
// it has its types.
void plan_matrix_counts(planner *p) {
    if (p->alone) return;
    for (uint32_t i = 0; i < p->op->stages.len; i++)
        if (plan_asks_matrix(p, &p->op->stages.data[i])) count_points(p, i, false);
    move_finished(p);
}
