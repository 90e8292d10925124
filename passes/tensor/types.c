// Types of numbers: what a stage computes in and what its reduction is held in, said in the plan's
// own op, so that no later pass knows a schedule asked for it. HalfGNN (Gong et al.) computes in 16
// bits where memory holds 16; others hold sums wider.
//     y: compute f16;      →  y[v, f] = … (cvt(f32, mul(cvt(f16, w[e]), cvt(f16, x[src[e], f]))))
//     y: accumulate f16;   →  y[v, f] = sum.f16 … with reducer sum.f16(f32) -> (f32) commutative {
//                               state (f16)  …  combine (add(left.0, right.0))  finish (cvt(f32, left.0)) }
#include "tensor/tensor.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <string.h>

typedef struct {
    planner *p;
    ir_dtype to;   // of the arithmetic
    // of a reducer's arguments or states, where the expression is one of its own
    ir_dtype components;
    bool near;           // exponentials are the machine's, which 16 bits have as well
    bool met;            // there are such
    tensor_expr *made;   // per expression
} typing;

static tensor_expr as(const typing *t, ir_dtype type, tensor_expr e) {
    return tensor_cvt(t->p->op, (tensor_type){type, TENSOR_NO_SPACE}, e,
                      tensor_node_at(t->p->op, e)->at);
}

// ---- Expressions --------------------------------------------------------------------------------
static tensor_expr retyped(typing *t, tensor_expr e);

static tensor_expr with_args(typing *t, tensor_node n, ir_dtype args) {
    tensor_expr *x = ARENA_ARRAY(t->p->arena, tensor_expr, n.nargs + 1u);
    for (uint32_t i = 0; i < n.nargs; i++) {
        x[i] = retyped(t, n.args[i]);
        if (tensor_type_is_float(tensor_typeof(t->p->op, x[i]))) x[i] = as(t, args, x[i]);
    }
    n.args = x;
    return tensor_node_new(t->p->op, n);
}

static tensor_expr component(typing *t, tensor_node n) {
    n.type.type = t->components;
    return as(t, t->to, tensor_node_new(t->p->op, n));
}

// Maths, which 16 bits do not have, is that of f32, but for exponentials of a stage that says
// `approximate`.
static ir_dtype maths_in(typing *t, const tensor_node *n) {
    const bool near = t->near && n->op == TENSOR_EXP_OP;
    t->met |= near;
    return near || ir_dtype_holds(t->to, DT_F32) ? t->to : DT_F32;
}

// A float, as one of the type wanted.
static tensor_expr number(typing *t, tensor_expr e) {
    tensor_node n = *tensor_node_at(t->p->op, e);
    ir_dtype from = n.type.type, wide = maths_in(t, &n);
    tensor_op_kind kind = (tensor_op_kind)tensor_op_table((tensor_opcode)n.op)->kind;
    n.type.type = kind == TENSOR_MATHS ? wide : t->to;
    if (kind == TENSOR_ARITH || n.op == TENSOR_SELECT_OP || n.op == TENSOR_STOP_OP)
        return with_args(t, n, t->to);
    if (kind == TENSOR_MATHS) return as(t, t->to, with_args(t, n, wide));
    if (n.op == TENSOR_ARG_OP || n.op == TENSOR_LEFT_OP || n.op == TENSOR_RIGHT_OP)
        return component(t, n);
    if (n.op == TENSOR_CVT_OP) return as(t, t->to, retyped(t, n.args[0]));
    n.type.type = from;
    if (n.op == TENSOR_ROUND_OP || n.op == TENSOR_TF32_OP || n.op == TENSOR_PARTS_OP)
        return as(t, t->to, with_args(t, n, from));
    return as(t, t->to, e);   // a load, a constant, a random number
}

// What is no float but may be made of such. Integers made of floats stay what they are: they count
// and index.
static tensor_expr other(typing *t, tensor_expr e) {
    tensor_node n = *tensor_node_at(t->p->op, e);
    tensor_op_kind kind = (tensor_op_kind)tensor_op_table((tensor_opcode)n.op)->kind;
    bool made_of = kind == TENSOR_COMPARE || kind == TENSOR_LOGIC || n.op == TENSOR_SELECT_OP;
    return made_of ? with_args(t, n, t->to) : e;
}

static tensor_expr retyped(typing *t, tensor_expr e) {
    if (t->made[e]) return t->made[e];
    bool is_float = tensor_type_is_float(tensor_typeof(t->p->op, e));
    tensor_expr made = is_float ? number(t, e) : other(t, e);
    return t->made[e] = made;
}

static typing typing_in(planner *p, ir_dtype to, ir_dtype components) {
    typing t = {.p = p, .to = to, .components = components};
    t.made = ARENA_ARRAY(p->arena, tensor_expr,
                         p->op->exprs.len + 1);   // what is asked about is there already
    return t;
}

// Each expression computed in a type, then as what it was or, where `give` says so, left in that
// type.
static const tensor_expr *all_retyped(typing *t, const tensor_expr *e, uint32_t n,
                                      const ir_dtype *give) {
    tensor_expr *out = ARENA_ARRAY(t->p->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        tensor_type type = tensor_typeof(t->p->op, e[i]);
        out[i] = retyped(t, e[i]);
        if (tensor_type_is_float(type)) out[i] = as(t, give ? *give : type.type, out[i]);
    }
    return out;
}

// ---- Reducers -----------------------------------------------------------------------------------
static const tensor_type *float_types(planner *p, const tensor_type *types, uint32_t n,
                                      ir_dtype to) {
    tensor_type *out = ARENA_ARRAY(p->arena, tensor_type, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        out[i] = types[i];
        if (tensor_type_is_float(types[i])) out[i].type = to;
    }
    return out;
}

static const char *reducer_name(planner *p, const char *of, ir_dtype args, ir_dtype state) {
    if (args == DT_COUNT || args == state)
        return arena_printf(p->arena, "%s.%s", of, ir_dtype_text(state));
    return arena_printf(p->arena, "%s.%s.of.%s", of, ir_dtype_text(state), ir_dtype_text(args));
}

// The reducer that takes floats of one type, DT_COUNT: those it took, and holds them in another;
// its results are what they were.
static uint32_t reducer_in(planner *p, uint32_t of, ir_dtype was, ir_dtype args, ir_dtype state) {
    for (uint32_t i = 0; i < p->reducers.len; i++) {
        const made_reducer *m = &p->reducers.data[i];
        if (m->of == of && !m->some && m->args == args && m->state == state) return m->made;
    }
    tensor_reducer r = p->op->reducers.data[of];
    r.name = reducer_name(p, r.name, args, state);
    r.kind = REDUCE_USER;
    if (args != DT_COUNT) r.arg_types = float_types(p, r.arg_types, r.nargs, args);
    r.state_types = float_types(p, r.state_types, r.nstate, state);
    typing lift = typing_in(p, args, args), identity = typing_in(p, was, state),
           combine = typing_in(p, state, state), finish = typing_in(p, was, state);
    r.identity = all_retyped(&identity, r.identity, r.nstate, &state);
    tensor_expr *lifted = ARENA_ARRAY(p->arena, tensor_expr, r.nstate + 1);
    for (uint32_t i = 0; i < r.nstate; i++) {
        lifted[i] = args == DT_COUNT ? r.lift[i] : retyped(&lift, r.lift[i]);
        if (tensor_type_is_float(tensor_typeof(p->op, lifted[i])))
            lifted[i] = as(&lift, state, lifted[i]);
    }
    r.lift = lifted;
    r.combine = all_retyped(&combine, r.combine, r.nstate, &state);
    r.finish = all_retyped(&finish, r.finish, r.nresults, NULL);
    made_reducer m = {.of = of, .made = p->op->reducers.len, .args = args, .state = state};
    VEC_PUSH(p->arena, &p->op->reducers, r);
    VEC_PUSH(p->arena, &p->reducers, m);
    return m.made;
}

// The type of a reducer's floats, DT_COUNT where it has none.
static ir_dtype held_in(const tensor_reducer *r) {
    for (uint32_t i = 0; i < r->nstate; i++)
        if (tensor_type_is_float(r->state_types[i])) return r->state_types[i].type;
    return DT_COUNT;
}

// Likewise of what it takes.
static ir_dtype taken_in(const tensor_reducer *r) {
    for (uint32_t i = 0; i < r->nargs; i++)
        if (tensor_type_is_float(r->arg_types[i])) return r->arg_types[i].type;
    return DT_COUNT;
}

static bool parts_apart(const planner *p, const tensor_reducer *r) {
    tensor_reduce_kind by;
    for (uint32_t i = 0; i < r->nstate; i++)
        if (r->kind == REDUCE_USER && !tensor_combined_by(p->op, r, i, &by)) return false;
    return true;
}

// ---- Stages -------------------------------------------------------------------------------------
// DT_COUNT: the cell says none.
static ir_dtype type_said(const schedule_cell *c) {
    for (uint32_t i = 0; i < c->nvalues; i++) switch (c->values[i].word) {
        case SCHEDULE_TYPE_F64: return DT_F64;
        case SCHEDULE_TYPE_F32: return DT_F32;
        case SCHEDULE_TYPE_BF16: return DT_BF16;
        case SCHEDULE_TYPE_F16: return DT_F16;
        default: break;
        }
    return DT_COUNT;
}

static ir_dtype type_of(const schedule_cell *c) {
    ir_dtype t = type_said(c);
    if (t == DT_COUNT) ICE("there is no float type '%s'", c->values[0].text);
    return t;
}

static bool any_float(const planner *p, const tensor_stage *st) {
    for (uint32_t i = 0; i < st->nbody; i++)
        if (tensor_type_is_float(tensor_typeof(p->op, st->body[i]))) return true;
    return false;
}

static bool may_hold(planner *p, const tensor_stage *st, const schedule_cell *c) {
    const tensor_reducer *r = &p->op->reducers.data[st->reducer];
    if (parts_apart(p, r)) return true;
    diagnostic *d = plan_refuse(p, E0570, c->at,
                                "'%s' is reduced by '%s', whose components depend on each other",
                                st->name, r->name);
    if (d)
        diag_help(
            d,
            "only what is summed, multiplied or compared component by component has an accumulator of a type of its own");
    return false;
}

static void type_reduction(planner *p, uint32_t stage, schedule_cell *compute,
                           schedule_cell *accumulate) {
    tensor_stage *st = &p->op->stages.data[stage];
    const tensor_reducer *r = &p->op->reducers.data[st->reducer];
    ir_dtype was = held_in(r);
    if (was == DT_COUNT) return;
    ir_dtype args = compute ? type_of(compute) : DT_COUNT, state = was;
    if (accumulate) {
        if (!may_hold(p, st, accumulate)) return;
        accumulate->consumed = true;
        state = type_of(accumulate);
    } else if (!ir_dtype_holds(was, args) && parts_apart(p, r))
        state = args;   // a sum is not narrower than its terms
    if (args == taken_in(r)) args = DT_COUNT;
    if (args == DT_COUNT && state == was) return;
    uint32_t reducer = reducer_in(p, st->reducer, was, args, state);
    st = &p->op->stages.data[stage];
    st->reducer = reducer;
    if (!accumulate || !schedule_value_of(accumulate, "scale"))
        plan_narrow_sum(p, st, accumulate ? accumulate : compute);
}

// The largest of numbers of 16 bits is one of them: the reduction stays what it is, which may be
// found while sums that read it run.
static bool is_chosen(const planner *p, const tensor_stage *st) {
    const tensor_reduce_kind kind = p->op->reducers.data[st->reducer].kind;
    return kind == REDUCE_MAX || kind == REDUCE_MIN;
}

// Gives the stage's number, which what its factor needs moves up.
static uint32_t type_stage(planner *p, uint32_t stage) {
    const tensor_stage *st = &p->op->stages.data[stage];
    bool reduces = st->reducer != TENSOR_NO_REDUCER;
    bool floats = reduces && held_in(&p->op->reducers.data[st->reducer]) != DT_COUNT;
    schedule_cell *compute = schedule_find(p->s, st->id, SCHEDULE_COMPUTE, TENSOR_ALL),
                  *accumulate = floats
                                    ? schedule_find(p->s, st->id, SCHEDULE_ACCUMULATE, TENSOR_ALL)
                                    : NULL;
    tensor_expr factor = 0, typed = 0;
    const bool keeps = floats && !accumulate && is_chosen(p, st);
    if (compute && !any_float(p, st)) compute = NULL;
    if (accumulate && schedule_value_of(accumulate, "scale") &&
        !plan_factor(p, &stage, accumulate, &factor))
        return stage;
    typed = factor;
    if (compute) {
        ir_dtype to = type_of(compute);
        compute->consumed = true;
        typing t = typing_in(p, to, to);
        schedule_cell *near = schedule_find(p->s, st->id, SCHEDULE_APPROXIMATE, TENSOR_ALL);
        t.near = near && ir_dtype_is_narrow(to);
        tensor_stage *own = &p->op->stages.data[stage];
        own->body = all_retyped(&t, own->body, own->nbody, floats && !keeps ? &to : NULL);
        own->orelse = all_retyped(&t, own->orelse, own->nelse, NULL);
        if (t.met) near->consumed = true;
        if (factor) typed = *all_retyped(&t, &factor, 1, &to);
    }
    if (floats && !keeps && (compute || accumulate)) type_reduction(p, stage, compute, accumulate);
    if (factor && !p->failed) plan_scale(p, stage, accumulate, factor, typed);
    if (reduces && !p->failed) plan_matrix_types(p, stage);
    return stage;
}

// ---- Stored stages ------------------------------------------------------------------------------
static void refuse_stored(planner *p, const schedule_cell *c, const char *name, const char *why,
                          const char *way) {
    diagnostic *d = plan_refuse(p, E0575, c->at, "'%s' is not kept as %s: %s", name,
                                ir_dtype_text(type_said(c)), why);
    if (d) diag_help(d, "%s", way);
}

// Why the stage's value has no other type in memory; NULL: it may have.
static const char *stays(const planner *p, const schedule_cell *c, tensor_val v, const char **way) {
    const tensor_val_info *i = &p->op->vals.data[v];
    *way = "leave out the type";
    if (i->role != VAL_STAGE) return "its type is that of the op's result";
    if (!ir_dtype_is_float(i->type)) return "its values are no floats";
    if (!ir_dtype_holds(i->type, type_said(c))) return "it is computed in less";
    if (i->type == DT_F64 && type_said(c) != DT_F64) return "what reads it computes in f64";
    if (plan_kept_place(c) == KEPT_REGISTERS) {
        *way = "say what it is computed in: `compute`";
        return "a value in registers has the type that it is computed in";
    }
    return NULL;
}

// It is said of the stage itself: the sums inside it stay what they are.
static const schedule_cell *typed_cell(const planner *p, const tensor_stage *st, tensor_val v) {
    const schedule_cell *c = plan_kept_cell(p, st, v);
    bool itself = c && (schedule_means(c->about, st->id) ||
                        schedule_means(c->about, p->op->vals.data[v].id));
    return itself && type_said(c) != DT_COUNT ? c : NULL;
}

// Versions share temporaries of one name, so its name says the type.
static void retype(planner *p, tensor_val v, ir_dtype to) {
    tensor_val_info *i = &p->op->vals.data[v];
    if (i->type == to) return;
    i->type = to;
    i->name = arena_printf(p->arena, "%s.%s", i->name, ir_dtype_text(to));
}

// What is stored is rounded, and what reads it widens it again: expressions stay what they are.
static void store_typed(planner *p, const tensor_stage *st) {
    for (uint32_t t = 0; t < st->ntargets; t++) {
        tensor_val v = st->targets[t].val;
        const schedule_cell *c = typed_cell(p, st, v);
        const char *way, *why = c ? stays(p, c, v, &way) : NULL;
        if (why) refuse_stored(p, c, p->op->vals.data[v].name, why, way);
        else if (c) retype(p, v, type_said(c));
    }
}

// An input's tile is as the input is.
static void check_inputs(planner *p) {
    for (uint32_t i = 0; i < p->s->cells.len; i++) {
        const schedule_cell *c = &p->s->cells.data[i];
        for (tensor_val v = 0; v < p->op->nparams && c->verb == SCHEDULE_KEEP && !c->empty; v++)
            if (schedule_means(c->about, p->op->vals.data[v].id) && type_said(c) != DT_COUNT &&
                p->op->vals.data[v].role != VAL_RESULT)
                refuse_stored(p, c, p->op->vals.data[v].name,
                              "it is an input, whose tile has its type",
                              "leave out the type, or declare the input so");
    }
}

static bool about_types(const schedule_cell *c) {
    return !c->empty &&
           (c->verb == SCHEDULE_COMPUTE || c->verb == SCHEDULE_ACCUMULATE ||
            c->verb == SCHEDULE_MMA || (c->verb == SCHEDULE_KEEP && type_said(c) != DT_COUNT));
}

void plan_types(planner *p) {
    bool any = false;
    for (uint32_t i = 0; i < p->s->cells.len; i++) any |= about_types(&p->s->cells.data[i]);
    if (!any) return;
    check_inputs(p);
    for (uint32_t i = 0; i < p->op->stages.len && !p->failed; i++)
        store_typed(p, &p->op->stages.data[i]);
    for (uint32_t i = 0; i < p->op->stages.len && !p->failed; i++) {
        i = type_stage(p, i);
        i += tensor_marked(plan_stage(p, i),
                           TENSOR_DIVIDED);   // by a factor, in the type of what it stores
    }
    p->plan->typed = tensor_op_copy(p->arena, p->op);   // before anything else is done to it
    uint32_t *every = ARENA_ARRAY(p->arena, uint32_t, p->op->stages.len + 1);
    for (uint32_t i = 0; i < p->op->stages.len && !p->failed; i++)
        every[i] = plan_every(p, &p->op->stages.data[i]);
    p->plan->every = every;
}
