// A reduction over the entries of a map of several indices that lead to its row: one index goes
// through them all, so that they are walked as those of a map of one index are.
//     y[v] = sum {t:T, k:_3 : face[t, k] == v} x[t, k]
//  →  y[v] = sum {t.k:T._3 : face[t.k / 3, t.k % 3] == v} x[t.k / 3, t.k % 3]
#include "tensor/tensor.h"
#include "base/base.h"

// ---- Which --------------------------------------------------------------------------------------
static bool binds(const tensor_stage *st, tensor_var v, uint32_t *at) {
    for (*at = 0; *at < st->nbound; ++*at)
        if (st->bound[*at] == v) return true;
    return false;
}

// Whether one of the arguments before it is the same.
static bool repeated(const tensor_node *load, uint32_t i) {
    for (uint32_t k = 0; k < i; k++)
        if (load->args[k] == load->args[i]) return true;
    return false;
}

// All of its indices are bound, each once, where it counts in the order in which they are reduced;
// but for the first, their extents are known.
static bool flattens(const tensor_op *op, const tensor_stage *st, const tensor_node *load) {
    const bool any_order = op->reducers.data[st->reducer].commutative;
    uint32_t last = 0, at;
    if (load->op != TENSOR_LOAD_OP || load->nargs < 2) return false;
    const tensor_val_info *m = &op->vals.data[load->imm.i];
    if (m->role != VAL_MAP || m->facts & FACT_PREFIX) return false;
    for (uint32_t i = 0; i < load->nargs; i++) {
        const tensor_node *n = tensor_node_at(op, load->args[i]);
        if (n->op != TENSOR_VAR_OP || !binds(st, (tensor_var)n->imm.i, &at)) return false;
        if (i && op->spaces.data[m->axes[i]].kind != SPACE_CONST) return false;
        if (repeated(load, i) || (i && !any_order && at != last + 1)) return false;
        last = at;
    }
    return op->spaces.data[m->axes[0]].kind == SPACE_FREE;
}

static const tensor_node *flat_key(const tensor_op *op, const tensor_stage *st) {
    for (uint32_t k = 0; k < st->nkeys && st->loop == TENSOR_NO_LOOP; k++) {
        const tensor_node *lhs = tensor_node_at(op, st->keys[k].lhs);
        if (flattens(op, st, lhs)) return lhs;
    }
    return NULL;
}

// ---- One index for all --------------------------------------------------------------------------
static tensor_space space_of(planner *p, const tensor_val_info *m) {
    textbuf name = textbuf_new(p->arena);
    tensor_expr size = tensor_size(p->op, m->axes[0], NO_SPAN);
    textbuf_puts(&name, p->op->spaces.data[m->axes[0]].name);
    for (uint32_t i = 1; i < m->rank; i++) {
        const tensor_space_info s = p->op->spaces.data[m->axes[i]];
        textbuf_printf(&name, ".%s", s.name);
        size = tensor_binary(p->op, TENSOR_MUL_OP, size, tensor_int(p->op, s.size), NO_SPAN);
    }
    return plan_space(p, name.data, size);
}

static void flatten(planner *p, uint32_t stage, const tensor_node key) {
    tensor_stage st = p->op->stages.data[stage];
    const tensor_val_info m = p->op->vals.data[key.imm.i];
    tensor_space space = space_of(p, &m);
    tensor_var flat = tensor_add_var(
        p->op, arena_printf(p->arena, "%s.flat", p->op->spaces.data[m.axes[0]].name), space);
    tensor_expr *by = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1);
    tensor_var *bound = ARENA_ARRAY(p->arena, tensor_var, st.nbound + 1);
    tensor_key *keys = ARENA_ARRAY(p->arena, tensor_key, st.nkeys + 1);
    uint32_t first = 0, n = 0;
    for (uint32_t i = 0; i < m.rank; i++) {
        const tensor_var v = (tensor_var)tensor_node_at(p->op, key.args[i])->imm.i;
        if (!i) binds(&st, v, &first);
        by[v] = plan_flat_digit(p->op, flat, &m, i);
    }
    for (uint32_t i = 0; i < st.nbound; i++)
        if (i == first) bound[n++] = flat;
        else if (!by[st.bound[i]]) bound[n++] = st.bound[i];
    for (uint32_t k = 0; k < st.nkeys; k++)
        keys[k] = (tensor_key){*plan_substitute(p, &st.keys[k].lhs, 1, by),
                               *plan_substitute(p, &st.keys[k].rhs, 1, by)};
    st.bound = bound, st.nbound = n, st.keys = keys;
    st.body = plan_substitute(p, st.body, st.nbody, by);
    st.filters = plan_substitute(p, st.filters, st.nfilters, by);
    p->op->stages.data[stage] = st;
}

bool plan_flatten(planner *p) {
    bool any = false;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_node *key = flat_key(p->op, &p->op->stages.data[i]);
        if (key) flatten(p, i, *key);
        any |= key != NULL;
    }
    return any;
}
