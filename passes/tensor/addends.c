// A sum of what is a sum at each point, as the sum of several stages (`addends`): each may then be
// found in its own way.
//     h[e, k] = sum {f} (x[src[e], f] * w[f, k] + z[e, f] * u[f, k])
//  →  h.addend_1[e, k] = sum {f} x[src[e], f] * w[f, k]
//     h.addend_2[e, k] = sum {f} z[e, f] * u[f, k]
//     h[e, k] = h.addend_1[e, k] + h.addend_2[e, k]
#include "tensor/tensor.h"
#include "base/base.h"
#include "kernels/kernels.h"

enum { MOST_ADDENDS = 16 };

// ---- Which --------------------------------------------------------------------------------------
uint32_t plan_addends_of(const planner *p, const tensor_stage *st, tensor_addend *out,
                         uint32_t most) {
    const bool one = st->reducer != TENSOR_NO_REDUCER && st->nbody == 1;
    return one ? tensor_addends(p->op, st->body[0], out, most) : 0;
}

const char *plan_why_no_addends(const planner *p, const tensor_stage *st) {
    tensor_addend all[MOST_ADDENDS];
    if (st->reducer == TENSOR_NO_REDUCER || !plan_adds(p, st) ||
        !tensor_type_is_float(tensor_typeof(p->op, st->body[0])))
        return "it is no sum of numbers";
    if (st->ntargets != 1 || st->loop != TENSOR_NO_LOOP || st->marks || st->nelse)
        return "it is part of a recurrence, or has an `else`";
    return plan_addends_of(p, st, all, MOST_ADDENDS) < 2 ? "it adds one term at a point" : NULL;
}

// ---- The stages ---------------------------------------------------------------------------------
static tensor_stage addend_of(planner *p, const tensor_stage *of, tensor_expr term, uint32_t i) {
    tensor_stage st = *of;
    tensor_expr *vars = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1),
                *index = ARENA_ARRAY(p->arena, tensor_expr, st.nleft + 1);
    tensor_space *axes = ARENA_ARRAY(p->arena, tensor_space, st.nleft + 1);
    tensor_key *keys = ARENA_ARRAY(p->arena, tensor_key, st.nkeys + 1);
    tensor_target *to = ARENA_NEW(p->arena, tensor_target);
    st.name = plan_name_inside(p, of->name, arena_printf(p->arena, "addend_%u", i + 1));
    st.id = tensor_id_of_path(p->op->ids, st.name);
    st.left = plan_own_vars(p, of->left, of->nleft, vars);
    st.bound = plan_own_vars(p, of->bound, of->nbound, vars);
    for (uint32_t i = 0; i < st.nleft; i++) {
        axes[i] = p->op->vars.data[st.left[i]].space;
        index[i] = tensor_var_expr(p->op, st.left[i], NO_SPAN);
    }
    for (uint32_t k = 0; k < st.nkeys; k++)
        keys[k] = (tensor_key){*plan_substitute(p, &of->keys[k].lhs, 1, vars),
                               *plan_substitute(p, &of->keys[k].rhs, 1, vars)};
    const tensor_type type = p->op->reducers.data[st.reducer].result_types[0];
    *to = (tensor_target){plan_stage_val(p, st.name, type, axes, st.nleft, st.at), st.nleft, index};
    st.targets = to;
    st.keys = keys;
    st.filters = plan_substitute(p, of->filters, of->nfilters, vars);
    st.body = plan_substitute(p, &term, 1, vars);
    return st;
}

static tensor_expr load_of(planner *p, const tensor_stage *addend, const tensor_stage *at) {
    tensor_expr *index = ARENA_ARRAY(p->arena, tensor_expr, at->nleft + 1);
    for (uint32_t i = 0; i < at->nleft; i++)
        index[i] = tensor_var_expr(p->op, at->left[i], NO_SPAN);
    return tensor_load(p->op, addend->targets[0].val, index, at->nleft, at->at);
}

static uint32_t take_apart(planner *p, uint32_t stage) {
    tensor_addend all[MOST_ADDENDS];
    tensor_expr *body = ARENA_NEW(p->arena, tensor_expr);
    const tensor_stage was = p->op->stages.data[stage];
    tensor_stage st = was;
    const uint32_t n = plan_addends_of(p, &was, all, MOST_ADDENDS);
    for (uint32_t i = 0; i < n; i++) {
        const tensor_stage addend = addend_of(p, &was, all[i].of, i);
        const tensor_addend one = {load_of(p, &addend, &was), all[i].minus};
        *body = tensor_add_addend(p->op, *body, one);
        plan_put_stage(p, stage + i, addend);
    }
    st.body = body;
    st.reducer = TENSOR_NO_REDUCER;
    st.nbound = st.nkeys = st.nfilters = 0;
    p->op->stages.data[stage + n] = st;
    return n;
}

// ---- The statement ------------------------------------------------------------------------------
void plan_addends(planner *p) {
    for (uint32_t i = 0; i < p->op->stages.len && !p->failed; i++) {
        const tensor_stage st = p->op->stages.data[i];
        schedule_cell *c = schedule_find(p->s, st.id, SCHEDULE_ADDENDS, st.id);
        if (!c) continue;
        const char *why = plan_why_no_addends(p, &st);
        if (why && !schedule_means(c->about, st.id)) continue;
        c->consumed = true;
        if (!why) {
            i += take_apart(p, i);
            continue;
        }
        diagnostic *d = plan_refuse(p, E0559, c->at, "'%s' is no sum of several: %s", st.name, why);
        if (d) diag_note(d, st.at, "'%s' is computed here", st.name);
        if (d) diag_help(d, "leave it out");
    }
}
