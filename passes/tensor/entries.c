// A reduction over the entries of a map of several indices that lead to its row: one index goes
// through them all, so that they are walked as those of a map of one index are.
//     y[v] = sum {t:T, k:_3 : face[t, k] == v} x[t, k]
//  →  y[v] = sum {t.k:T._3 : face[t.k / 3, t.k % 3] == v} x[t.k / 3, t.k % 3]
// Where indices are a number further, it goes through all of the map, and leaves out what is none
// of them; so the sums of a window of steps share one order.
//     y[v] = sum {n:N, i:_9 : walk[n, i + 1] == v} x[n, i]
//  →  y[v] = sum {n.i:N._10 : walk[n.i / 10, n.i % 10] == v, n.i % 10 >= 1}
//            x[n.i / 10, n.i % 10 - 1]
#include "tensor/tensor.h"
#include "base/base.h"

#include <string.h>

// ---- Which --------------------------------------------------------------------------------------
static bool is_constant(const tensor_op *op, tensor_expr e, int64_t *out) {
    const tensor_node *n = tensor_node_at(op, e);
    *out = n->imm.i;
    return n->op == TENSOR_CONST_OP;
}

// i, or index(L, i + 1).
bool plan_shifted_of(const tensor_op *op, tensor_expr e, plan_shifted *s) {
    const tensor_node *n = tensor_node_at(op, e);
    s->further = 0;
    if (n->op == TENSOR_INDEX_OP) n = tensor_node_at(op, n->args[0]);
    if (n->op == TENSOR_ADD_OP && is_constant(op, n->args[1], &s->further))
        n = tensor_node_at(op, n->args[0]);
    else if (n->op == TENSOR_ADD_OP && is_constant(op, n->args[0], &s->further))
        n = tensor_node_at(op, n->args[1]);
    if (n->op == TENSOR_CVT_OP && n->type.type == DT_I64) n = tensor_node_at(op, n->args[0]);
    s->var = (tensor_var)n->imm.i;
    return n->op == TENSOR_VAR_OP;
}

static bool binds(const tensor_stage *st, tensor_var v, uint32_t *at) {
    for (*at = 0; *at < st->nbound; ++*at)
        if (st->bound[*at] == v) return true;
    return false;
}

// Whether one of the arguments before it is of the same index.
static bool repeated(const tensor_op *op, const tensor_node *load, uint32_t i, tensor_var v) {
    plan_shifted s;
    for (uint32_t k = 0; k < i; k++)
        if (plan_shifted_of(op, load->args[k], &s) && s.var == v) return true;
    return false;
}

static bool is_number(const tensor_op *op, tensor_space s) {
    return op->spaces.data[s].kind == SPACE_CONST;
}

// All of its indices are bound, each once, where it counts in the order in which they are reduced.
static bool goes_through_all(const tensor_op *op, const tensor_stage *st, const tensor_node *load) {
    const bool any_order = op->reducers.data[st->reducer].commutative;
    uint32_t last = 0, at;
    if (load->op != TENSOR_LOAD_OP || load->nargs < 2) return false;
    const tensor_val_info *m = &op->vals.data[load->imm.i];
    if (m->role != VAL_MAP || m->facts & FACT_PREFIX) return false;
    for (uint32_t i = 0; i < load->nargs; i++) {
        plan_shifted s;
        if (!plan_shifted_of(op, load->args[i], &s) || !binds(st, s.var, &at)) return false;
        const tensor_space space = op->vars.data[s.var].space;
        if (!i && (s.further || space != m->axes[0])) return false;
        if (repeated(op, load, i, s.var) || (i && !any_order && at != last + 1)) return false;
        last = at;
    }
    return op->spaces.data[m->axes[0]].kind == SPACE_FREE;
}

static const tensor_node *flat_key(const tensor_op *op, const tensor_stage *st) {
    for (uint32_t k = 0; k < st->nkeys && st->loop == TENSOR_NO_LOOP; k++) {
        const tensor_node *lhs = tensor_node_at(op, st->keys[k].lhs);
        if (goes_through_all(op, st, lhs)) return lhs;
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
        const tensor_expr own = s.kind == SPACE_CONST ? tensor_int(p->op, s.size)
                                                      : tensor_size(p->op, m->axes[i], NO_SPAN);
        size = tensor_binary(p->op, TENSOR_MUL_OP, size, own, NO_SPAN);
    }
    return plan_space(p, name.data, size);
}

typedef struct {
    const planner *p;
    const tensor_node *key;
    tensor_expr entry;
} putting;

static tensor_expr put_entry(void *user, tensor_expr e) {
    const putting *r = user;
    const tensor_node *n = tensor_node_at(r->p->op, e);
    bool same = n->imm.i == r->key->imm.i;
    for (uint32_t i = 0; i < n->nargs && same; i++) same = n->args[i] == r->key->args[i];
    return same ? r->entry : e;
}

// What an index of the stage is at an entry, and where the entry is one of its points.
static tensor_expr index_at(planner *p, const plan_shifted *s, tensor_space axis, tensor_expr digit,
                            tensor_stage *st, tensor_expr *filters) {
    const tensor_space space = p->op->vars.data[s->var].space;
    if (space == axis && !s->further) return digit;
    const tensor_expr at = plan_wide(p, digit);
    const int64_t end = s->further + p->op->spaces.data[space].size;
    const bool known = is_number(p->op, space) && is_number(p->op, axis);
    if (s->further > 0)
        filters[st->nfilters++] = tensor_binary(p->op, TENSOR_GE_OP, at,
                                                tensor_int(p->op, s->further), NO_SPAN);
    if (!known)
        filters[st->nfilters++] = tensor_binary(
            p->op, TENSOR_LT_OP, at,
            plan_plus(p, tensor_size(p->op, space, NO_SPAN), tensor_int(p->op, s->further)),
            NO_SPAN);
    else if (end < p->op->spaces.data[axis].size)
        filters[st->nfilters++] = tensor_binary(p->op, TENSOR_LT_OP, at, tensor_int(p->op, end),
                                                NO_SPAN);
    return tensor_index(p->op, space, plan_plus(p, at, tensor_int(p->op, -s->further)), NO_SPAN);
}

static void bind(planner *p, tensor_stage *st, const tensor_expr *by, tensor_var flat,
                 tensor_var first) {
    tensor_var *bound = ARENA_ARRAY(p->arena, tensor_var, st->nbound + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < st->nbound; i++)
        if (st->bound[i] == first) bound[n++] = flat;
        else if (!by[st->bound[i]]) bound[n++] = st->bound[i];
    st->bound = bound, st->nbound = n;
}

// That of face[t, k] is called t_k, as schedules call what stands for several indices.
static const char *joined_name(planner *p, const tensor_node *key) {
    char *name = arena_printf(p->arena, "%s", "");
    for (uint32_t i = 0; i < key->nargs; i++) {
        plan_shifted s;
        plan_shifted_of(p->op, key->args[i], &s);
        const char *own = tensor_id_name(p->op->ids, plan_var_id(p, s.var));
        name = arena_printf(p->arena, "%s%s%.*s", name, i ? "_" : "", (int)strcspn(own, "'"), own);
    }
    for (char *c = name; *c; c++)
        if (*c == '.') *c = '_';
    return name;
}

// That no index of the stage has.
static const char *free_among(const planner *p, const tensor_stage *st, const char *name) {
    const char *free = name;
    for (uint32_t i = 0, k = 2; i < st->nleft + st->nbound; i++) {
        const tensor_var v = i < st->nleft ? st->left[i] : st->bound[i - st->nleft];
        if (strcmp(p->op->vars.data[v].name, free) != 0) continue;
        free = arena_printf(p->arena, "%s_%u", name, k++);
        i = UINT32_MAX;   // from the first
    }
    return free;
}

static void go_through_all(planner *p, uint32_t stage, const tensor_node key) {
    const tensor_val_info m = p->op->vals.data[key.imm.i];
    tensor_space space = space_of(p, &m);
    const char *name = free_among(p, &p->op->stages.data[stage], joined_name(p, &key));
    const tensor_id id = tensor_id_inside(p->op->ids, p->op->stages.data[stage].id, name);
    tensor_var flat = tensor_add_var_as(p->op, id, name, space);
    tensor_expr *digits = ARENA_ARRAY(p->arena, tensor_expr, m.rank + 1);
    for (uint32_t i = 0; i < m.rank; i++) digits[i] = plan_flat_digit(p->op, flat, &m, i);
    tensor_expr entry = tensor_load(p->op, (tensor_val)key.imm.i, digits, m.rank, NO_SPAN);
    plan_replace_loads(p, stage, put_entry, &(putting){p, &key, entry});
    tensor_stage st = p->op->stages.data[stage];
    tensor_expr *by = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1);
    tensor_key *keys = ARENA_ARRAY(p->arena, tensor_key, st.nkeys + 1);
    const tensor_expr *others = st.filters;
    const uint32_t nothers = st.nfilters;
    tensor_expr *filters = ARENA_ARRAY(p->arena, tensor_expr, nothers + 2 * m.rank + 1);
    plan_shifted first = {0}, s;
    st.nfilters = 0;
    for (uint32_t i = 0; i < m.rank; i++) {
        plan_shifted_of(p->op, key.args[i], &s);
        if (!i) first = s;
        by[s.var] = index_at(p, &s, m.axes[i], digits[i], &st, filters);
    }
    others = plan_substitute(p, others, nothers, by);
    for (uint32_t i = 0; i < nothers; i++) filters[st.nfilters++] = others[i];
    for (uint32_t k = 0; k < st.nkeys; k++)
        keys[k] = (tensor_key){*plan_substitute(p, &st.keys[k].lhs, 1, by),
                               *plan_substitute(p, &st.keys[k].rhs, 1, by)};
    bind(p, &st, by, flat, first.var);
    st.keys = keys, st.filters = filters;
    st.body = plan_substitute(p, st.body, st.nbody, by);
    p->op->stages.data[stage] = st;
}

bool plan_entries(planner *p) {
    bool any = false;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_node *key = flat_key(p->op, &p->op->stages.data[i]);
        if (key) go_through_all(p, i, *key);
        any |= key != NULL;
    }
    return any;
}
