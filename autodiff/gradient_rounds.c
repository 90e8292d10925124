// Recurrences that look one step back stay loops. Their adjoint is a recurrence, too, from the last
// step to the first. What parameters get of a step is summed over all steps at once.
//     loop t:S { z[t + 1] = f(z[t], a, w) }
//  →  back[0] = dz[S]   loop r:S { back[r + 1] = dz[S - 1 - r] + f'(z[S - 1 - r])(back[r]) }
//     dw = sum {t} … z[t] … back[S - 1 - t]
// What a step computes on the way is kept for all steps: s[t] for s.
#include "gradient_internal.h"

#include <string.h>

enum { MOST_SUMS = 12 };   // of all steps: as many are written out, so that kernels can be fused

// ---- Expressions --------------------------------------------------------------------------------
static tensor_expr step_number(tensor_op *op, tensor_var v) {
    return tensor_cvt(op, TENSOR_TYPE(I64), tensor_var_expr(op, v, NO_SPAN), NO_SPAN);
}

// size(steps) - less - step
static tensor_expr steps_left(tensor_op *op, const tensor_loop *l, int64_t less) {
    tensor_expr n = tensor_size(op, l->space, NO_SPAN);
    if (less) n = tensor_binary(op, TENSOR_SUB_OP, n, tensor_int(op, less), NO_SPAN);
    return tensor_binary(op, TENSOR_SUB_OP, n, step_number(op, l->step), NO_SPAN);
}

static const tensor_expr *with(gradient *g, const tensor_expr *index, uint32_t n, uint32_t axis,
                               tensor_expr at) {
    tensor_expr *out = ARENA_ARRAY(g->arena, tensor_expr, n + 2);
    for (uint32_t i = 0; i <= n; i++) out[i] = i < axis ? index[i] : i == axis ? at : index[i - 1];
    return out;
}

static const tensor_expr *without(gradient *g, const tensor_expr *index, uint32_t n,
                                  uint32_t axis) {
    tensor_expr *out = ARENA_ARRAY(g->arena, tensor_expr, n + 1);
    for (uint32_t i = 0, k = 0; i < n; i++)
        if (i != axis) out[k++] = index[i];
    return out;
}

static uint32_t place(const tensor_val *all, uint32_t n, tensor_val v) {
    uint32_t i = 0;
    while (i < n && all[i] != v) i++;
    return i;
}

// ---- Which stay ---------------------------------------------------------------------------------
typedef struct {
    const tensor_op *op;
    const gradient_rounds *r;
    const tensor_loop *l;
    bool *seen;
    bool earlier, outside;   // it reads the state at another step; what a step computes on the way
} reading;

static void look(reading *x, tensor_expr e, bool inside) {
    const tensor_node *n = tensor_node_at(x->op, e);
    if (x->seen[e]) return;
    x->seen[e] = true;
    if (n->op == TENSOR_LOAD_OP && (tensor_val)n->imm.i == x->r->state && inside) {
        const tensor_at at = tensor_target_at(x->op, n->args[x->r->axis]);
        x->earlier |= at.kind != TENSOR_AT_STEP || at.var != x->l->step || at.offset;
    }
    x->outside |= n->op == TENSOR_LOAD_OP && !inside &&
                  place(x->r->of.data, x->r->of.len, (tensor_val)n->imm.i) < x->r->of.len;
    for (uint32_t i = 0; i < n->nargs; i++) look(x, n->args[i], inside);
}

static void look_at_stage(reading *x, const tensor_stage *s, bool inside) {
    for (uint32_t i = 0; i < s->nbody; i++) look(x, s->body[i], inside);
    for (uint32_t i = 0; i < s->nfilters; i++) look(x, s->filters[i], inside);
    for (uint32_t i = 0; i < s->nelse; i++) look(x, s->orelse[i], inside);
    for (uint32_t i = 0; i < s->nkeys; i++)
        look(x, s->keys[i].lhs, inside), look(x, s->keys[i].rhs, inside);
}

// The axis of a target that mentions the step; its rank: none does.
static uint32_t step_axis(const tensor_op *op, const tensor_target *t, tensor_var step,
                          int64_t *offset) {
    for (uint32_t i = 0; i < t->rank; i++) {
        const tensor_at at = tensor_target_at(op, t->index[i]);
        *offset = at.offset;
        if ((at.kind == TENSOR_AT_STEP || at.kind == TENSOR_AT_VAR) && at.var == step) return i;
    }
    return t->rank;
}

// The value that goes from step to step, and what is computed on the way; false: it is not so.
static bool find_values(gradient *g, uint32_t first, uint32_t end, const tensor_loop *l,
                        gradient_rounds *r) {
    for (uint32_t i = first; i < end; i++)
        for (uint32_t t = 0; t < g->op->stages.data[i].ntargets; t++) {
            const tensor_target *to = &g->op->stages.data[i].targets[t];
            int64_t offset = 0;
            const uint32_t axis = step_axis(g->op, to, l->step, &offset);
            if (axis == to->rank) {
                VEC_PUSH(g->arena, &r->of, to->val);
                continue;
            }
            if (offset != 1 || (r->state != TENSOR_NO_VAL && r->state != to->val)) return false;
            r->state = to->val, r->axis = axis;
        }
    return r->state != TENSOR_NO_VAL;
}

static bool stays(gradient *g, uint32_t first, uint32_t end, const tensor_loop *l,
                  gradient_rounds *r) {
    const tensor_space_info *steps = &g->op->spaces.data[l->space];
    int64_t sums = 0;
    for (uint32_t i = first; i < end; i++)
        sums += g->op->stages.data[i].reducer != TENSOR_NO_REDUCER;
    if (steps->kind == SPACE_CONST && steps->size <= MOST_SUMS / (sums ? sums : 1)) return false;
    if (!find_values(g, first, end, l, r)) return false;
    reading x = {g->op, r, l, NULL, false, false};
    for (uint32_t inside = 0; inside < 2; inside++) {
        x.seen = ARENA_ARRAY(g->arena, bool, g->op->exprs.len);
        for (uint32_t i = 0; i < g->op->stages.len; i++)
            if ((i >= first && i < end) == inside)
                look_at_stage(&x, &g->op->stages.data[i], inside);
    }
    return !x.earlier && !x.outside;
}

// ---- Kept for all steps -------------------------------------------------------------------------
typedef struct {
    const gradient_rounds *r;
    tensor_var step;
    tensor_expr at;   // in its place
    bool carried;     // it reads what another step has left
    const bool *carries;
} keeping;

static tensor_expr put_kept(gradient_rewriting *w, const tensor_node *n) {
    keeping *k = w->user;
    if (n->op == TENSOR_VAR_OP && (tensor_var)n->imm.i == k->step) return k->at;
    if (n->op != TENSOR_LOAD_OP) return 0;
    const tensor_val v = (tensor_val)n->imm.i;
    const uint32_t own = place(k->r->of.data, k->r->of.len, v);
    k->carried |= v == k->r->state || (own < k->r->of.len && k->carries[own]);
    if (own == k->r->of.len) return 0;
    return tensor_load(w->to, v, with(w->g, n->args, n->nargs, 0, k->at), n->nargs + 1, n->at);
}

static void add_axis(gradient *g, tensor_val v, tensor_space first) {
    tensor_val_info *i = &g->op->vals.data[v];
    tensor_space *axes = ARENA_ARRAY(g->arena, tensor_space, i->rank + 1);
    axes[0] = first;
    memcpy(axes + 1, i->axes, i->rank * sizeof *axes);
    i->axes = axes, i->rank++;
}

static tensor_stage kept_stage(gradient *g, keeping *k, tensor_stage s) {
    gradient_rewriting w = gradient_rewriting_new(g, g->op, put_kept, k);
    tensor_stage made = gradient_rewrite_stage(&w, s);
    tensor_target *targets = ARENA_ARRAY(g->arena, tensor_target, s.ntargets);
    for (uint32_t t = 0; t < s.ntargets; t++) {
        targets[t] = made.targets[t];
        if (targets[t].val == k->r->state) continue;
        targets[t].index = with(g, targets[t].index, targets[t].rank, 0, k->at);
        targets[t].rank++;
    }
    made.targets = targets;
    return made;
}

// Its variables on the left but the step; first: one that stands before them, or NULL.
static void put_left(gradient *g, tensor_stage *s, tensor_var step, const tensor_var *first) {
    tensor_var *left = ARENA_ARRAY(g->arena, tensor_var, s->nleft + 2);
    uint32_t n = 0;
    if (first) left[n++] = *first;
    for (uint32_t i = 0; i < s->nleft; i++)
        if (s->left[i] != step) left[n++] = s->left[i];
    s->left = left, s->nleft = n;
}

// What no other step has a part in is found for all steps before the first.
static bool keep_stage(gradient *g, const gradient_rounds *r, const tensor_loop *l, bool *carries,
                       tensor_stage s, gradient_stages *out) {
    keeping k = {r, l->step, tensor_var_expr(g->op, l->step, NO_SPAN), false, carries};
    tensor_stage made = kept_stage(g, &k, s);
    if (k.carried || s.targets[0].val == r->state) {
        for (uint32_t t = 0; t < s.ntargets; t++) {
            const uint32_t own = place(r->of.data, r->of.len, s.targets[t].val);
            if (own < r->of.len) carries[own] = true;
        }
        VEC_PUSH(g->arena, out, made);
        return true;
    }
    tensor_var step = tensor_add_var_of(g->op, l->step, g->op->vars.data[l->step].name);
    k.at = tensor_var_expr(g->op, step, NO_SPAN);
    made = kept_stage(g, &k, s);
    put_left(g, &made, l->step, &step);
    made.loop = TENSOR_NO_LOOP;
    VEC_PUSH(g->arena, out, made);
    return false;
}

// A value like another, of which nobody promised anything.
static tensor_val_info like(const gradient *g, tensor_val v) {
    tensor_val_info i = g->op->vals.data[v];
    i.role = VAL_STAGE;
    i.facts = 0, i.align = 0;
    i.sorted_by = i.inplace = TENSOR_NO_VAL;
    return i;
}

static tensor_val at_one_step(gradient *g, tensor_val v, uint32_t axis, const char *name) {
    tensor_val_info i = like(g, v);
    tensor_space *axes = ARENA_ARRAY(g->arena, tensor_space, i.rank);
    for (uint32_t a = 0, k = 0; a < i.rank; a++)
        if (a != axis) axes[k++] = i.axes[a];
    i.name = gradient_name(g, i.name, name);
    i.axes = axes, i.rank--;
    return tensor_add_val(g->op, i);
}

bool gradient_keep_rounds(gradient *g, uint32_t first, uint32_t end, gradient_stages *out) {
    const uint32_t loop = g->op->stages.data[first].loop;
    const tensor_loop l = g->op->loops.data[loop];
    gradient_rounds r = {.loop = loop, .state = TENSOR_NO_VAL};
    if (!stays(g, first, end, &l, &r)) return false;
    bool *carries = ARENA_ARRAY(g->arena, bool, r.of.len + 1);
    gradient_stages before = {0}, inside = {0};
    for (uint32_t i = 0; i < r.of.len; i++) add_axis(g, r.of.data[i], l.space);
    for (uint32_t i = first; i < end; i++) {
        gradient_stages one = {0};
        const bool carried = keep_stage(g, &r, &l, carries, g->op->stages.data[i], &one);
        VEC_PUSH(g->arena, carried ? &inside : &before, one.data[0]);
    }
    for (uint32_t i = 0; i < before.len; i++) VEC_PUSH(g->arena, out, before.data[i]);
    for (uint32_t i = 0; i < inside.len; i++) VEC_PUSH(g->arena, out, inside.data[i]);
    uint32_t kept = 0;   // of those that are in the loop
    for (uint32_t i = 0; i < r.of.len; i++)
        if (carries[i]) r.of.data[kept++] = r.of.data[i];
    r.of.len = kept;
    for (uint32_t i = 0; i < kept; i++)
        VEC_PUSH(g->arena, &r.at, at_one_step(g, r.of.data[i], 0, "at"));
    r.now = at_one_step(g, r.state, r.axis, "now");
    r.next = at_one_step(g, r.state, r.axis, "next");
    r.step = tensor_add_val(g->op, (tensor_val_info){.name = gradient_name(g, "step", NULL),
                                                     .role = VAL_STAGE,
                                                     .type = DT_I64,
                                                     .into = TENSOR_NO_SPACE,
                                                     .sorted_by = TENSOR_NO_VAL,
                                                     .inplace = TENSOR_NO_VAL});
    VEC_PUSH(g->arena, &g->rounds, r);
    return true;
}

// ---- One step, without its axis -----------------------------------------------------------------
static tensor_expr put_one(gradient_rewriting *w, const tensor_node *n) {
    const gradient_rounds *r = w->user;
    const tensor_loop *l = &w->to->loops.data[r->loop];
    if (n->op == TENSOR_VAR_OP && (tensor_var)n->imm.i == l->step)
        return tensor_index(w->to, l->space, tensor_load(w->to, r->step, NULL, 0, n->at), n->at);
    if (n->op != TENSOR_LOAD_OP) return 0;
    const tensor_val v = (tensor_val)n->imm.i;
    const uint32_t own = place(r->of.data, r->of.len, v);
    if (v != r->state && own == r->of.len) return 0;
    const uint32_t axis = v == r->state ? r->axis : 0;
    return tensor_load(w->to, v == r->state ? r->now : r->at.data[own],
                       without(w->g, n->args, n->nargs, axis), n->nargs - 1, n->at);
}

static tensor_stage one_step(gradient *g, gradient_rounds *r, tensor_stage s) {
    gradient_rewriting w = gradient_rewriting_new(g, g->op, put_one, r);
    tensor_stage made = gradient_rewrite_stage(&w, s);
    tensor_target *targets = ARENA_ARRAY(g->arena, tensor_target, s.ntargets);
    for (uint32_t t = 0; t < s.ntargets; t++) {
        const tensor_target to = made.targets[t];
        const bool state = to.val == r->state;
        targets[t].val = state ? r->next : r->at.data[place(r->of.data, r->of.len, to.val)];
        targets[t].rank = to.rank - 1;
        targets[t].index = without(g, to.index, to.rank, state ? r->axis : 0);
    }
    made.targets = targets;
    made.loop = TENSOR_NO_LOOP;
    put_left(g, &made, g->op->loops.data[r->loop].step, NULL);
    return made;
}

// ---- The steps back -----------------------------------------------------------------------------
typedef struct {
    gradient *g;
    const gradient_rounds *r;
    tensor_loop forward, back;    // their steps
    tensor_val given, reversed;   // the adjoint of `next`; that of the state, last step first
    const bool *made;             // per value: a step back computes it
} reversing;

static tensor_expr state_at(const reversing *x, tensor_expr number) {
    const tensor_space axis = x->g->op->vals.data[x->r->state].axes[x->r->axis];
    return tensor_index(x->g->op, axis, number, NO_SPAN);
}

static tensor_expr put_back(gradient_rewriting *w, const tensor_node *n) {
    const reversing *x = w->user;
    const gradient_rounds *r = x->r;
    tensor_op *op = w->to;
    if (n->op != TENSOR_LOAD_OP) return 0;
    if ((tensor_val)n->imm.i == r->step) return steps_left(op, &x->back, 1);
    tensor_val v = (tensor_val)n->imm.i;
    const uint32_t own = place(r->at.data, r->at.len, v);
    uint32_t axis = 0;
    tensor_expr at;
    if (v == r->now || v == r->next) {
        at = state_at(x, steps_left(op, &x->back, v == r->now));
        v = r->state, axis = r->axis;
    } else if (v == x->given) {
        at = state_at(x, step_number(op, x->back.step));
        v = x->reversed, axis = r->axis;
    } else if (own < r->at.len) {
        at = tensor_index(op, x->forward.space, steps_left(op, &x->back, 1), NO_SPAN);
        v = r->of.data[own];
    } else if (v < x->g->op->vals.len && x->made[v]) {
        at = tensor_var_expr(op, x->back.step, NO_SPAN);
    } else return 0;
    return tensor_load(op, v, with(w->g, n->args, n->nargs, axis, at), n->nargs + 1, n->at);
}

static void add_back(reversing *x, uint32_t loop, tensor_stage s) {
    gradient *g = x->g;
    gradient_rewriting w = gradient_rewriting_new(g, g->op, put_back, x);
    tensor_stage made = gradient_rewrite_stage(&w, s);
    tensor_target *targets = ARENA_ARRAY(g->arena, tensor_target, s.ntargets);
    for (uint32_t t = 0; t < s.ntargets; t++) {
        targets[t] = made.targets[t];
        targets[t].index = with(g, targets[t].index, targets[t].rank, 0,
                                tensor_var_expr(g->op, x->back.step, NO_SPAN));
        targets[t].rank++;
    }
    made.targets = targets;
    made.loop = loop;
    tensor_add_stage(g->op, made);
}

// What a value of 16 bits takes of it.
static tensor_expr held(tensor_op *op, tensor_val to, tensor_expr value) {
    const ir_dtype type = op->vals.data[to].type;
    return ir_dtype_is_narrow(type) ? tensor_round(op, type, value, NO_SPAN) : value;
}

// to[index] = value, over all points of the variables
static void add_points(gradient *g, tensor_val to, const tensor_expr *index, const tensor_var *vars,
                       uint32_t n, tensor_expr value, uint32_t loop) {
    tensor_target *t = ARENA_NEW(g->arena, tensor_target);
    tensor_expr *body = ARENA_NEW(g->arena, tensor_expr);
    *body = held(g->op, to, value);
    *t = (tensor_target){to, g->op->vals.data[to].rank, index};
    tensor_add_stage(g->op, (tensor_stage){.name = g->op->vals.data[to].name,
                                           .ntargets = 1,
                                           .targets = t,
                                           .nleft = n,
                                           .left = vars,
                                           .reducer = TENSOR_NO_REDUCER,
                                           .nbody = 1,
                                           .body = body,
                                           .loop = loop,
                                           .at = g->at});
}

// The adjoint of the state after all steps, and what a step adds to it of the step before: `own` is
// the adjoint of `now`, or TENSOR_NO_VAL.
static void add_states(reversing *x, uint32_t loop, tensor_val outside, tensor_val own) {
    gradient *g = x->g;
    tensor_op *op = g->op;
    const gradient_rounds *r = x->r;
    const uint32_t rank = op->vals.data[r->now].rank;
    const tensor_var *vars = gradient_axes(g, r->now);
    const tensor_expr *index = gradient_index_of(g, vars, rank);
    const bool first = loop == TENSOR_NO_LOOP;
    tensor_expr from = first ? tensor_size(op, x->forward.space, NO_SPAN)
                             : steps_left(op, &x->back, 1),
                to = first ? tensor_int(op, 0)
                           : tensor_binary(op, TENSOR_ADD_OP, step_number(op, x->back.step),
                                           tensor_int(op, 1), NO_SPAN);
    tensor_expr value = tensor_load(op, outside, with(g, index, rank, r->axis, state_at(x, from)),
                                    rank + 1, NO_SPAN);
    if (!first && own == x->given)
        value = gradient_add(
            op, value,
            tensor_load(op, x->reversed,
                        with(g, index, rank, r->axis, state_at(x, step_number(op, x->back.step))),
                        rank + 1, NO_SPAN));
    else if (!first && own != TENSOR_NO_VAL)
        value = gradient_add(
            op, value,
            tensor_load(op, own,
                        with(g, index, rank, 0, tensor_var_expr(op, x->back.step, NO_SPAN)),
                        rank + 1, NO_SPAN));
    add_points(g, x->reversed, with(g, index, rank, r->axis, state_at(x, to)), vars, rank, value,
               loop);
}

// The adjoint of `of`, first step first, from what has the last step first.
static tensor_val turned(reversing *x, tensor_val of, tensor_val from) {
    gradient *g = x->g;
    tensor_op *op = g->op;
    const bool state = of == x->r->state, whole = from == x->reversed;
    const uint32_t axis = state ? x->r->axis : 0, source = whole ? x->r->axis : 0;
    tensor_val_info i = like(g, of);
    i.name = gradient_name(g, gradient_adjoint(g, of), NULL);
    i.type = op->vals.data[from].type;
    const tensor_val to = tensor_add_val(op, i);
    const tensor_var *vars = gradient_axes(g, of);
    const tensor_expr *index = gradient_index_of(g, vars, i.rank);
    const tensor_loop l = {vars[axis], x->forward.space};
    const tensor_expr *rest = without(g, index, i.rank, axis);
    tensor_expr left = steps_left(op, &l, !state),
                at = whole ? state_at(x, left) : tensor_index(op, x->forward.space, left, NO_SPAN);
    tensor_expr value = tensor_load(op, from, with(g, rest, i.rank - 1, source, at), i.rank,
                                    NO_SPAN);
    add_points(g, to, index, vars, i.rank, value, TENSOR_NO_LOOP);
    return to;
}

// ---- The adjoints of the state, and of what is computed on the way ------------------------------
// false: refused. *own: of `now`.
static bool back_through(gradient *g, gradient_rounds *r, uint32_t first, uint32_t end,
                         tensor_val given, tensor_val *own) {
    bool *all = g->active, *some = ARENA_ARRAY(g->arena, bool, g->nvals);
    some[r->now] = some[r->next] = true;
    for (uint32_t i = 0; i < r->of.len; i++) some[r->at.data[i]] = all[r->of.data[i]];
    g->active = some;
    g->of[r->next].adjoint = given;
    bool good = true;
    for (uint32_t i = end; i-- > first && good;) {
        tensor_stage s = one_step(g, r, g->op->stages.data[i]);
        good = gradient_through(g, &s);
    }
    *own = good ? gradient_adjoint_of(g, r->now) : TENSOR_NO_VAL;
    g->active = all;
    return good;
}

static bool reverse(gradient *g, gradient_rounds *r, uint32_t first, uint32_t end,
                    tensor_val outside) {
    tensor_op *op = g->op;
    const tensor_loop forward = op->loops.data[r->loop];
    tensor_val_info one = like(g, r->next), whole = like(g, r->state);
    one.name = gradient_name(g, gradient_adjoint(g, r->state), "given");
    whole.name = gradient_name(g, gradient_adjoint(g, r->state), "back");
    one.type = whole.type = gradient_type_of(g, r->state);
    const tensor_val given = tensor_add_val(op, one), reversed = tensor_add_val(op, whole);
    const uint32_t before = op->stages.len;
    tensor_val own;
    if (!back_through(g, r, first, end, given, &own)) return false;
    const uint32_t n = op->stages.len - before;
    tensor_stage *steps = ARENA_ARRAY(g->arena, tensor_stage, n + 1);
    memcpy(steps, op->stages.data + before, n * sizeof *steps);
    op->stages.len = before;
    bool *made = ARENA_ARRAY(g->arena, bool, op->vals.len);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t t = 0; t < steps[i].ntargets; t++) made[steps[i].targets[t].val] = true;
    for (tensor_val v = 0; v < op->vals.len; v++)
        if (made[v]) add_axis(g, v, forward.space);
    const uint32_t loop = op->loops.len;
    const tensor_loop back = {tensor_add_var_of(op, forward.step, op->vars.data[forward.step].name),
                              forward.space};
    VEC_PUSH(op->arena, &op->loops, back);
    reversing x = {g, r, forward, back, given, reversed, made};
    add_states(&x, TENSOR_NO_LOOP, outside, TENSOR_NO_VAL);
    for (uint32_t i = 0; i < n; i++) add_back(&x, loop, steps[i]);
    add_states(&x, loop, outside, own);
    g->of[r->state].adjoint = turned(&x, r->state, reversed);
    for (uint32_t i = 0; i < r->of.len; i++) {
        const tensor_val d = g->of[r->at.data[i]].adjoint;
        if (d != TENSOR_NO_VAL)
            g->of[r->of.data[i]].adjoint = turned(&x, r->of.data[i], d == given ? reversed : d);
    }
    return true;
}

// ---- All else -----------------------------------------------------------------------------------
// Behind the others: of what is summed over both, the other index has more points, or memory runs
// along it.
static void add_left(gradient *g, tensor_stage *s, tensor_var step) {
    tensor_var *left = ARENA_ARRAY(g->arena, tensor_var, s->nleft + 1);
    memcpy(left, s->left, s->nleft * sizeof *left);
    left[s->nleft++] = step;
    s->left = left;
}

// What a step reads besides has a part from each, as if the step were an index on the left.
static bool outwards(gradient *g, const gradient_rounds *r, uint32_t first, uint32_t end) {
    const tensor_var step = g->op->loops.data[r->loop].step;
    bool *closed = ARENA_ARRAY(g->arena, bool, g->nvals);
    closed[r->state] = true;
    for (uint32_t i = 0; i < r->of.len; i++) closed[r->of.data[i]] = true;
    g->closed = closed;
    bool good = true;
    for (uint32_t i = end; i-- > first && good;) {
        tensor_stage s = g->op->stages.data[i];
        put_left(g, &s, step, NULL);
        add_left(g, &s, step);
        s.loop = TENSOR_NO_LOOP;
        good = gradient_through(g, &s);
    }
    g->closed = NULL;
    return good;
}

bool gradient_of_rounds(gradient *g, uint32_t first, uint32_t end) {
    gradient_rounds *r = g->rounds.data;
    while (r->loop != g->op->stages.data[first].loop) r++;
    const tensor_val outside = g->active[r->state] ? gradient_adjoint_of(g, r->state)
                                                   : TENSOR_NO_VAL;
    return outside == TENSOR_NO_VAL ||
           (reverse(g, r, first, end, outside) && outwards(g, r, first, end));
}
