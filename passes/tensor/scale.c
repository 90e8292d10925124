// Discretised scaling of a sum (HalfGNN, Gong et al.): it is held times a factor that keeps it in
// range, which is applied to each so many terms at once and not to every term. The op says the
// factor, as the first one of the sum's body, and divides by it what reads the sum, unless the op
// multiplies by it anyway; `level` says where it is applied.
//     y: accumulate f16 scale c[v] every 64;
//  →  y: y.scaled[v, f] = sum.f16 {…} (mul(c[v], x[src[e], f]))
//     y.unscaled: y[v, f] = div(y.scaled[v, f], c[v])
//     for e.level … { level y { for e in … { contribute y } } }
// Where the factor is 0, infinite or no number, nothing can be divided by it, and it is 1.
#include "tensor/tensor.h"
#include "base/base.h"

#include <math.h>
#include <string.h>

typedef struct {
    planner *p;
    uint32_t stage;
    const schedule_cell *cell;
    const schedule_value *factor;
    tensor_expr var;   // the stage's own, for that of the factor; 0: it has none
    bool failed;
} reading;

static bool refuse(planner *p, const schedule_cell *c, const char *words) {
    diagnostic *d = plan_refuse(p, E0571, c->at, "%s", words);
    if (d)
        diag_help(
            d,
            "leave out 'scale', or take a number, a scalar or an input of what is left of the sum");
    return false;
}

// ---- The factor ---------------------------------------------------------------------------------
static bool find_index(reading *r) {
    planner *p = r->p;
    const tensor_stage *st = &p->op->stages.data[r->stage];
    if (r->factor->var == UINT32_MAX) return true;
    const tensor_var_info index = p->s->op->vars.data[r->factor->var];
    const schedule_ids called = r->factor->ids[0];
    for (uint32_t i = 0; i < st->nleft && !r->var; i++)
        if (p->op->vars.data[st->left[i]].space == index.space &&
            plan_is_among(p, called, st->left[i]))
            r->var = tensor_var_expr(p->op, st->left[i], NO_SPAN);
    if (r->var) return true;
    return refuse(
        p, r->cell,
        arena_printf(
            p->arena,
            "the factor depends on '%s', which is no index that the sum '%s' leaves: it has to be the same for all its terms",
            index.name, st->name));
}

// What counts the points of a map needs nothing that comes before it.
static void move_stage(planner *p, uint32_t from, uint32_t to) {
    tensor_stage st = p->op->stages.data[from];
    for (uint32_t i = from; i > to; i--) p->op->stages.data[i] = p->op->stages.data[i - 1];
    p->op->stages.data[to] = st;
}

static tensor_expr *one(planner *p, tensor_expr e) {
    tensor_expr *x = ARENA_NEW(p->arena, tensor_expr);
    *x = e;
    return x;
}

// count[v] = sum {e : m[e] == v} 1, as a stage before another.
static tensor_val count_points(planner *p, tensor_val map, uint32_t before) {
    const tensor_val_info m = p->op->vals.data[map];
    const char *name = arena_printf(p->arena, "degree.%s", m.name);
    tensor_space *axis = ARENA_NEW(p->arena, tensor_space);
    tensor_var *vars = ARENA_ARRAY(p->arena, tensor_var, 2);
    tensor_key *key = ARENA_NEW(p->arena, tensor_key);
    tensor_target *target = ARENA_NEW(p->arena, tensor_target);
    *axis = m.into;
    const tensor_id stage = tensor_id_of_path(p->op->ids, name);
    vars[0] = tensor_add_var_as(p->op, tensor_id_inside(p->op->ids, stage, "v"), "v", m.into);
    vars[1] = tensor_add_var_as(p->op, tensor_id_inside(p->op->ids, stage, "e"), "e", m.axes[0]);
    tensor_expr v = tensor_var_expr(p->op, vars[0], NO_SPAN),
                e = tensor_var_expr(p->op, vars[1], NO_SPAN);
    *key = (tensor_key){tensor_load(p->op, map, &e, 1, NO_SPAN), v};
    *target = (tensor_target){.rank = 1, .index = one(p, v)};
    target->val = plan_stage_val(p, name, (tensor_type){.type = DT_I64}, axis, 1, NO_SPAN);
    plan_put_stage(
        p, before,
        (tensor_stage){.name = name,
                       .ntargets = 1,
                       .targets = target,
                       .nleft = 1,
                       .left = &vars[0],
                       .nbound = 1,
                       .bound = &vars[1],
                       .nkeys = 1,
                       .keys = key,
                       .nbody = 1,
                       .body = one(p, tensor_int(p->op, 1)),
                       .reducer = tensor_builtin_reducer(p->op, REDUCE_SUM, TENSOR_TYPE(I64)),
                       .loop = TENSOR_NO_LOOP});
    return target->val;
}

// How many points a map takes to each: by a stage of the op that counts them, else by one of its
// own.
static tensor_expr counted(reading *r, tensor_val map, tensor_expr at) {
    planner *p = r->p;
    tensor_val other;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage st = p->op->stages.data[i];
        if (!schedule_stage_counts(p->op, &st, &other) || other != map) continue;
        if (i > r->stage) move_stage(p, i, r->stage++);
        return tensor_load(p->op, st.targets[0].val, &at, 1, NO_SPAN);
    }
    return tensor_load(p->op, count_points(p, map, r->stage++), &at, 1, NO_SPAN);
}

static tensor_expr read(reading *r, tensor_expr e) {
    const tensor_op *from = r->p->s->op;
    tensor_node n = *tensor_node_at(from, e);
    tensor_expr *args = ARENA_ARRAY(r->p->arena, tensor_expr, n.nargs + 1u);
    tensor_val map;
    if (n.op == TENSOR_VAR_OP) return r->var;
    for (uint32_t i = 0; i < n.nargs && !r->failed; i++) args[i] = read(r, n.args[i]);
    if (r->failed) return 0;
    if (n.op == TENSOR_LOAD_OP && n.imm.i >= from->nparams) {
        if (schedule_counts(r->p->s, (tensor_val)n.imm.i, &map)) return counted(r, map, args[0]);
        r->failed = true;
        refuse(
            r->p, r->cell,
            "the factor needs a reduction of its own, and only degree(map, index) is known before");
        return 0;
    }
    n.args = args;
    return tensor_node_new(r->p->op, n);
}

bool plan_factor(planner *p, uint32_t *stage, const schedule_cell *c, tensor_expr *factor) {
    const tensor_stage *st = &p->op->stages.data[*stage];
    const tensor_reducer *sum = &p->op->reducers.data[st->reducer];
    tensor_type type = tensor_type_is_float(sum->state_types[0]) ? sum->state_types[0]
                                                                 : TENSOR_TYPE(F32);
    if (sum->kind != REDUCE_SUM)
        return refuse(p, c,
                      arena_printf(p->arena,
                                   "a factor goes through a sum alone, and '%s' is reduced by '%s'",
                                   st->name, sum->name));
    if (st->loop != TENSOR_NO_LOOP) return refuse(p, c, "the sums of a recurrence are not scaled");
    reading r = {.p = p, .stage = *stage, .cell = c, .factor = schedule_value_of(c, "scale")};
    if (!find_index(&r)) return false;
    tensor_expr e = read(&r, r.factor->key);
    *stage = r.stage;
    if (r.failed) return false;
    *factor = tensor_cvt(p->op, type, e, NO_SPAN);
    const tensor_node *n = tensor_node_at(p->op, *factor);
    bool known = n->op == TENSOR_CONST_OP;
    if (known && (n->imm.f == 0 || !isfinite(n->imm.f)))
        return refuse(p, c, "nothing can be divided by this factor");
    if (known && n->imm.f == 1) return refuse(p, c, "a factor of 1 leaves the sum as it is");
    return true;
}

// ---- Where it cannot be divided by --------------------------------------------------------------
static tensor_expr number(planner *p, tensor_expr like, double x) {
    return tensor_cvt(p->op, tensor_typeof(p->op, like), tensor_float(p->op, DT_F64, x), NO_SPAN);
}

// 0: always.
static tensor_expr usable(planner *p, tensor_expr c) {
    if (tensor_node_at(p->op, c)->op == TENSOR_CONST_OP) return 0;
    tensor_expr size = tensor_binary(p->op, TENSOR_MAX_OP, c,
                                     tensor_unary(p->op, TENSOR_NEG_OP, c, NO_SPAN), NO_SPAN);
    tensor_expr some = tensor_binary(p->op, TENSOR_NE_OP, c, number(p, c, 0), NO_SPAN);
    return tensor_binary(
        p->op, TENSOR_AND_OP, some,
        tensor_binary(p->op, TENSOR_LT_OP, size, number(p, c, (double)INFINITY), NO_SPAN), NO_SPAN);
}

static tensor_expr where_usable(planner *p, tensor_expr c, tensor_expr x, tensor_expr y) {
    tensor_expr good = usable(p, c);
    return good ? tensor_select(p->op, good, x, y, NO_SPAN) : x;
}

// ---- The factor as the op has it ----------------------------------------------------------------
// A product or quotient without one factor of it; 0: it has none.
static tensor_expr without(planner *p, tensor_expr e, tensor_expr c) {
    const tensor_node n = *tensor_node_at(p->op, e), *inverse = tensor_node_at(p->op, c);
    if (n.op != TENSOR_MUL_OP && n.op != TENSOR_DIV_OP) return 0;
    tensor_expr x = n.args[0], y = n.args[1], rest = 0;
    if (n.op == TENSOR_DIV_OP) {
        bool by = inverse->op == TENSOR_DIV_OP && inverse->args[1] == y &&
                  inverse->args[0] == number(p, y, 1);
        if (by) return x;
        rest = without(p, x, c);
        return rest ? tensor_binary(p->op, TENSOR_DIV_OP, rest, y, n.at) : 0;
    }
    if (x == c || y == c) return x == c ? y : x;
    if ((rest = without(p, x, c))) return tensor_binary(p->op, TENSOR_MUL_OP, rest, y, n.at);
    rest = without(p, y, c);
    return rest ? tensor_binary(p->op, TENSOR_MUL_OP, x, rest, n.at) : 0;
}

// ---- Who reads the sum --------------------------------------------------------------------------
typedef struct {
    planner *p;
    const tensor_stage *sum;   // its left variables
    tensor_val of, scaled;
    tensor_expr c;
    tensor_expr *made;
} absorbing;

static tensor_expr at_load(absorbing *a, const tensor_node *load) {
    tensor_expr *vars = ARENA_ARRAY(a->p->arena, tensor_expr, a->p->op->vars.len + 1);
    for (uint32_t i = 0; i < load->nargs; i++) vars[a->sum->left[i]] = load->args[i];
    return *plan_substitute(a->p, &a->c, 1, vars);
}

// c * sum, where the sum is held times c.
static tensor_expr absorbed_in(absorbing *a, tensor_expr e) {
    const tensor_node n = *tensor_node_at(a->p->op, e);
    for (uint32_t i = 0; i < n.nargs && (n.op == TENSOR_MUL_OP || (n.op == TENSOR_DIV_OP && !i));
         i++) {
        const tensor_node load = *tensor_node_at(a->p->op, n.args[i]);
        if (load.op != TENSOR_LOAD_OP || (tensor_val)load.imm.i != a->of) continue;
        tensor_expr c = at_load(a, &load);
        if (without(a->p, e, c) != n.args[i]) continue;
        tensor_expr sum = tensor_load(a->p->op, a->scaled, load.args, load.nargs, load.at);
        tensor_expr args[2] = {n.args[0], n.args[1]};
        args[i] = sum;
        return where_usable(a->p, c, sum,
                            tensor_binary(a->p->op, (tensor_opcode)n.op, args[0], args[1], n.at));
    }
    return 0;
}

static tensor_expr absorb(absorbing *a, tensor_expr e) {
    if (a->made[e]) return a->made[e];
    tensor_expr made = absorbed_in(a, e);
    if (made) return a->made[e] = made;
    tensor_node n = *tensor_node_at(a->p->op, e);
    tensor_expr *args = ARENA_ARRAY(a->p->arena, tensor_expr, n.nargs + 1u);
    bool other = false;
    for (uint32_t i = 0; i < n.nargs; i++) {
        args[i] = absorb(a, n.args[i]);
        other |= args[i] != n.args[i];
    }
    n.args = args;
    return a->made[e] = other ? tensor_node_new(a->p->op, n) : e;
}

static const tensor_expr *absorb_all(absorbing *a, const tensor_expr *e, uint32_t n) {
    tensor_expr *out = ARENA_ARRAY(a->p->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++) out[i] = absorb(a, e[i]);
    return out;
}

static bool is_other(void *user, const tensor_node *load) {
    return (tensor_val)load->imm.i != *(const tensor_val *)user;
}

// Whether nothing is left that reads the sum itself.
static bool all_absorbed(planner *p, uint32_t stage, tensor_val scaled, tensor_expr c) {
    const tensor_stage sum = p->op->stages.data[stage];
    tensor_val of = sum.targets[0].val;
    bool all = p->op->vals.data[of].role == VAL_STAGE && sum.targets[0].rank == sum.nleft;
    for (uint32_t i = 0; i < sum.nleft && all; i++)
        all = sum.targets[0].index[i] == tensor_var_expr(p->op, sum.left[i], NO_SPAN);
    for (tensor_val v = 0; v < p->op->vals.len && all; v++)
        for (uint32_t k = 0; k < p->op->vals.data[v].nkeys; k++)
            all = all && p->op->vals.data[v].keys[k] != of;
    absorbing a = {.p = p, .sum = &sum, .of = of, .scaled = scaled, .c = c};
    for (uint32_t i = 0; i < p->op->stages.len && all; i++) {
        tensor_stage st = p->op->stages.data[i];
        if (i == stage) continue;
        for (uint32_t t = 0; t < st.ntargets; t++) all = all && st.targets[t].val != of;
        a.made = ARENA_ARRAY(p->arena, tensor_expr, p->op->exprs.len + 1);
        st.body = absorb_all(&a, st.body, st.nbody);
        st.orelse = absorb_all(&a, st.orelse, st.nelse);
        all = all && plan_loads(p, &st, is_other, &of);
    }
    for (uint32_t i = 0; i < p->op->stages.len && all; i++) {
        tensor_stage *st = &p->op->stages.data[i];
        if (i == stage) continue;
        a.made = ARENA_ARRAY(p->arena, tensor_expr, p->op->exprs.len + 1);
        st->body = absorb_all(&a, st->body, st->nbody);
        a.made = ARENA_ARRAY(p->arena, tensor_expr, p->op->exprs.len + 1);
        st->orelse = absorb_all(&a, st->orelse, st->nelse);
    }
    return all;
}

// ---- The sum ------------------------------------------------------------------------------------
static tensor_val scaled_value(planner *p, const tensor_stage *st) {
    const tensor_val_info of = p->op->vals.data[st->targets[0].val];
    tensor_space *axes = ARENA_ARRAY(p->arena, tensor_space, st->nleft + 1);
    for (uint32_t i = 0; i < st->nleft; i++) axes[i] = p->op->vars.data[st->left[i]].space;
    tensor_val_info info = {.name = arena_printf(p->arena, "%s.scaled", st->name),
                            .role = VAL_STAGE,
                            .type = tensor_type_of_storage(of.type, of.into).type,
                            .into = TENSOR_NO_SPACE,
                            .sorted_by = TENSOR_NO_VAL,
                            .inplace = TENSOR_NO_VAL,
                            .rank = st->nleft,
                            .axes = axes,
                            .at = of.at};
    return loop_add_val(p->plan, info, (loop_value){.home = LOOP_MEMORY, .of = TENSOR_NO_VAL});
}

// What the sum was stored to, of what it is stored to now; a stage has variables of its own.
static tensor_stage division(planner *p, const tensor_stage *st, tensor_val scaled, tensor_expr c) {
    tensor_expr *vars = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1),
                *at = ARENA_ARRAY(p->arena, tensor_expr, st->nleft + 1),
                *body = ARENA_NEW(p->arena, tensor_expr);
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    for (uint32_t i = 0; i < st->nleft; i++) {
        left[i] = tensor_add_var_of(p->op, st->left[i], plan_var_name(p, st->left[i]));
        at[i] = vars[st->left[i]] = tensor_var_expr(p->op, left[i], NO_SPAN);
    }
    tensor_expr by = where_usable(p, c, c, number(p, c, 1));
    *body = tensor_binary(p->op, TENSOR_DIV_OP, tensor_load(p->op, scaled, at, st->nleft, st->at),
                          *plan_substitute(p, &by, 1, vars), st->at);
    tensor_target *target = ARENA_NEW(p->arena, tensor_target);
    *target = st->targets[0];
    target->index = plan_substitute(p, target->index, target->rank, vars);
    return (tensor_stage){.name = arena_printf(p->arena, "%s.unscaled", st->name),
                          .ntargets = 1,
                          .targets = target,
                          .nleft = st->nleft,
                          .left = left,
                          .nbody = 1,
                          .body = body,
                          .reducer = TENSOR_NO_REDUCER,
                          .loop = TENSOR_NO_LOOP,
                          .at = st->at};
}

static void store_scaled(planner *p, uint32_t stage, tensor_expr c) {
    tensor_stage st = p->op->stages.data[stage], of = st;
    tensor_val scaled = scaled_value(p, &st);
    bool absorbed = all_absorbed(p, stage, scaled, c);
    tensor_stage apart = division(p, &of, scaled, c);
    tensor_target *target = ARENA_NEW(p->arena, tensor_target);
    tensor_expr *at = ARENA_ARRAY(p->arena, tensor_expr, st.nleft + 1),
                *orelse = ARENA_NEW(p->arena, tensor_expr);
    for (uint32_t i = 0; i < st.nleft; i++) at[i] = tensor_var_expr(p->op, st.left[i], NO_SPAN);
    *target = (tensor_target){.val = scaled, .rank = st.nleft, .index = at};
    st.targets = target;
    if (st.nelse) {
        *orelse = tensor_binary(p->op, TENSOR_MUL_OP, where_usable(p, c, c, number(p, c, 1)),
                                st.orelse[0], st.at);
        st.orelse = orelse;
    }
    if (!absorbed) tensor_set_mark(&st, TENSOR_DIVIDED);
    p->op->stages.data[stage] = st;
    if (!absorbed) plan_put_stage(p, stage + 1, apart);
}

// Terms are rounded to what the sum is held in before the factor is applied, there and here.
static tensor_expr as_held(planner *p, const tensor_stage *st, tensor_expr term) {
    tensor_type held = p->op->reducers.data[st->reducer].state_types[0],
                type = tensor_typeof(p->op, term);
    if (ir_dtype_holds(held.type, type.type)) return term;
    return tensor_cvt(p->op, type, tensor_cvt(p->op, held, term, NO_SPAN), NO_SPAN);
}

void plan_scale(planner *p, uint32_t stage, const schedule_cell *cell, tensor_expr c,
                tensor_expr typed) {
    const tensor_stage st = p->op->stages.data[stage];
    tensor_expr term = st.body[0], rest = without(p, term, typed),
                *body = ARENA_NEW(p->arena, tensor_expr);
    tensor_expr factor = where_usable(p, typed, typed, number(p, typed, 1));
    if (rest) rest = where_usable(p, typed, rest, term);
    *body = tensor_binary(p->op, TENSOR_MUL_OP, factor, as_held(p, &st, rest ? rest : term), st.at);
    const tensor_node *product = tensor_node_at(p->op, *body);
    if (product->op != TENSOR_MUL_OP || product->args[0] != factor) {
        refuse(p, cell, arena_printf(p->arena, "every term of '%s' is the same number", st.name));
        return;
    }
    p->op->stages.data[stage].body = body;
    if (!rest) store_scaled(p, stage, c);
    tensor_set_mark(&p->op->stages.data[stage], TENSOR_SCALED);
}
