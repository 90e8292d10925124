// A value that a kernel both stores and reads on the way: one thread stores it, so the others must
// know it otherwise. The stage gets a value of its own that lives in registers; a copy of it goes
// to memory.
//     lse[v, h] = …   p[v, h] = … lse[v, h] …   →  lse.own[v, h] = …   lse[v, h] = lse.own[v, h]   p[v, h] =
//     … lse.own[v, h] …
#include "tensor/tensor.h"
#include "base/base.h"

typedef struct {
    planner *p;
    tensor_val val, own;
} replacing;

// What a load of v gives, from the value before it was rounded.
static tensor_expr as_stored(void *user, tensor_expr load) {
    const replacing *r = user;
    tensor_node n = *tensor_node_at(r->p->op, load);
    ir_dtype stored = r->p->op->vals.data[r->val].type;
    if ((tensor_val)n.imm.i != r->val) return load;
    n.imm.i = r->own;
    tensor_expr own = tensor_node_new(r->p->op, n);
    bool narrow = ir_dtype_is_narrow(stored) || stored == DT_I32 ||
                  (stored == DT_F32 && n.type.type == DT_F64);
    return narrow ? tensor_round(r->p->op, stored, own, NO_SPAN) : own;
}

tensor_val plan_stage_val(planner *p, const char *name, tensor_type t, const tensor_space *axes,
                          uint32_t rank, span at) {
    tensor_val_info info = {.name = name,
                            .role = VAL_STAGE,
                            .type = tensor_type_is_narrow(t) ? DT_F32 : t.type,
                            .into = TENSOR_NO_SPACE,
                            .sorted_by = TENSOR_NO_VAL,
                            .inplace = TENSOR_NO_VAL,
                            .rank = rank,
                            .axes = axes,
                            .at = at};
    return loop_add_val(p->plan, info, (loop_value){.home = LOOP_MEMORY, .of = TENSOR_NO_VAL});
}

void plan_put_stage(planner *p, uint32_t at, tensor_stage st) {
    tensor_put_stage(p->op, at, st);
    for (uint32_t v = 0; v < p->plan->values.len; v++) {
        loop_value *w = &p->plan->values.data[v];
        w->stage += w->home == LOOP_INLINE && w->stage >= at;
    }
}

void plan_insert_stage(planner *p, stage_group *g, uint32_t at, tensor_stage st) {
    plan_put_stage(p, at, st);
    bool live = false;
    for (uint32_t k = 0; k < p->live.len; k++) {
        live |= p->live.data[k] == g;
        for (uint32_t i = 0; i < p->live.data[k]->len; i++)
            p->live.data[k]->data[i] += p->live.data[k]->data[i] >= at;
    }
    for (uint32_t i = 0; i < g->len && !live; i++) g->data[i] += g->data[i] >= at;
    p->inserted++;
}

const tensor_var *plan_own_vars(planner *p, const tensor_var *of, uint32_t n, tensor_expr *vars) {
    tensor_var *own = ARENA_ARRAY(p->arena, tensor_var, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        own[i] = tensor_add_var_of(
            p->op, of[i],
            arena_printf(p->arena, "%s'%u", plan_var_name(p, of[i]), p->op->vars.len));
        vars[of[i]] = tensor_var_expr(p->op, own[i], NO_SPAN);
    }
    return own;
}

tensor_stage plan_of_points(planner *p, const tensor_stage *of, uint32_t target, const char *name,
                            tensor_expr value) {
    tensor_expr *vars = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1);
    const tensor_var *left = plan_own_vars(p, of->left, of->nleft, vars);
    tensor_target *to = ARENA_NEW(p->arena, tensor_target);
    *to = of->targets[target];
    to->index = plan_substitute(p, to->index, to->rank, vars);
    return (tensor_stage){.name = name,
                          .id = tensor_id_of_path(p->op->ids, name),
                          .ntargets = 1,
                          .targets = to,
                          .nleft = of->nleft,
                          .left = left,
                          .reducer = TENSOR_NO_REDUCER,
                          .nbody = 1,
                          .body = plan_substitute(p, &value, 1, vars),
                          .loop = of->loop,
                          .at = of->at};
}

static tensor_stage copy_stage(planner *p, const tensor_stage *st, uint32_t target,
                               tensor_val own) {
    const tensor_target *to = &st->targets[target];
    const char *name = arena_printf(p->arena, "%s.out", st->name);
    return plan_of_points(p, st, target, name,
                          tensor_load(p->op, own, to->index, to->rank, NO_SPAN));
}

// The copy is the stage after it.
static void privatise(planner *p, stage_group *g, uint32_t at, uint32_t target) {
    tensor_stage st = p->op->stages.data[g->data[at]];
    tensor_val v = st.targets[target].val;
    tensor_val_info info = p->op->vals.data[v];
    tensor_type t = st.reducer == TENSOR_NO_REDUCER
                        ? tensor_typeof(p->op, st.body[target])
                        : p->op->reducers.data[st.reducer].result_types[target];
    tensor_val own = loop_add_val(
        p->plan,
        (tensor_val_info){.name = arena_printf(p->arena, "%s.own", info.name),
                          .role = VAL_STAGE,
                          .type = t.type,
                          .into = t.type == DT_INDEX ? t.space : TENSOR_NO_SPACE,
                          .sorted_by = TENSOR_NO_VAL,
                          .facts = info.facts & FACT_PARTIAL,
                          .inplace = TENSOR_NO_VAL,
                          .rank = info.rank,
                          .axes = info.axes},
        (loop_value){.home = LOOP_REGISTERS, .of = TENSOR_NO_VAL});
    tensor_stage copy = copy_stage(p, &st, target, own);
    tensor_target *targets = ARENA_ARRAY(p->arena, tensor_target, st.ntargets);
    for (uint32_t i = 0; i < st.ntargets; i++) targets[i] = st.targets[i];
    targets[target].val = own;
    p->op->stages.data[g->data[at]].targets = targets;
    replacing r = {p, v, own};
    for (uint32_t i = at + 1; i < g->len; i++) plan_replace_loads(p, g->data[i], as_stored, &r);
    plan_insert_stage(p, g, g->data[at] + 1, copy);
}

void plan_private(planner *p, stage_group *g) {
    for (uint32_t at = 0; at < g->len && p->machine->gpu; at++)
        for (uint32_t t = 0; t < p->op->stages.data[g->data[at]].ntargets; t++) {
            tensor_val v = p->op->stages.data[g->data[at]].targets[t].val;
            bool here = false;
            for (uint32_t i = at + 1; i < g->len; i++) here |= plan_read_by(p, g->data[i], v);
            if (!here || plan_stays_inside(p, g, &p->op->stages.data[g->data[at]], v)) continue;
            if (plan_kept(p, &p->op->stages.data[g->data[at]], v) == KEPT_GLOBAL) continue;
            privatise(p, g, at, t);
            VEC_PUSH(p->arena, g, g->data[at] + 1);
            for (uint32_t i = g->len - 1; i > at + 1; i--) g->data[i] = g->data[i - 1];
            g->data[at + 1] = g->data[at] + 1;
        }
}
