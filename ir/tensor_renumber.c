// Values, spaces and expressions under other numbers, wherever an op names them.
#include "tensor_internal.h"

#include <string.h>

typedef struct {
    tensor_op *op;
    const tensor_val *vals;   // per value and space: what it is called now
    const tensor_space *spaces;
    tensor_expr *exprs;   // per expression: where it went; 0: nowhere yet
    VEC(tensor_node) nodes;
} renumbering;

static tensor_type type_of(const renumbering *r, tensor_type t) {
    if (t.space != TENSOR_NO_SPACE) t.space = r->spaces[t.space];
    return t;
}

// Of the operations that name a value, loads alone name one that a stage writes.
static tensor_node node(const renumbering *r, tensor_node n) {
    n.type = type_of(r, n.type);
    if (n.op == TENSOR_LOAD_OP) n.imm.i = (int64_t)r->vals[n.imm.i];
    if (n.op == TENSOR_SIZE_OP) n.imm.i = (int64_t)r->spaces[n.imm.i];
    return n;
}

// Expressions are numbered as what has them comes.
static tensor_expr expr(renumbering *r, tensor_expr e) {
    if (!e || r->exprs[e]) return e ? r->exprs[e] : 0;
    tensor_node n = node(r, *tensor_node_at(r->op, e));
    tensor_expr *args = ARENA_ARRAY(r->op->arena, tensor_expr, n.nargs + 1u);
    for (uint32_t i = 0; i < n.nargs; i++) args[i] = expr(r, n.args[i]);
    n.args = args;
    r->exprs[e] = r->nodes.len;
    tensor_node_tell(r->op->arena, r->nodes.data, &n);
    VEC_PUSH(r->op->arena, &r->nodes, n);
    return r->exprs[e];
}

static const tensor_expr *exprs(renumbering *r, const tensor_expr *of, uint32_t n) {
    if (!of) return NULL;
    tensor_expr *to = ARENA_ARRAY(r->op->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++) to[i] = expr(r, of[i]);
    return to;
}

static const tensor_type *types(const renumbering *r, const tensor_type *of, uint32_t n) {
    tensor_type *to = ARENA_ARRAY(r->op->arena, tensor_type, n + 1);
    for (uint32_t i = 0; i < n; i++) to[i] = type_of(r, of[i]);
    return to;
}

static void reducers(renumbering *r) {
    for (uint32_t i = 0; i < r->op->reducers.len; i++) {
        tensor_reducer *x = &r->op->reducers.data[i];
        x->arg_types = types(r, x->arg_types, x->nargs);
        x->state_types = types(r, x->state_types, x->nstate);
        x->result_types = types(r, x->result_types, x->nresults);
        x->identity = exprs(r, x->identity, x->nstate);
        x->lift = exprs(r, x->lift, x->nstate);
        x->combine = exprs(r, x->combine, x->nstate);
        x->finish = exprs(r, x->finish, x->nresults);
        x->grad = exprs(r, x->grad, x->nargs);
    }
}

static const tensor_target *targets(renumbering *r, const tensor_stage *st) {
    tensor_target *to = ARENA_ARRAY(r->op->arena, tensor_target, st->ntargets + 1);
    for (uint32_t t = 0; t < st->ntargets; t++) {
        to[t] = st->targets[t];
        to[t].val = r->vals[to[t].val];
        to[t].index = exprs(r, to[t].index, to[t].rank);
    }
    return to;
}

static const tensor_key *keys(renumbering *r, const tensor_stage *st) {
    tensor_key *to = ARENA_ARRAY(r->op->arena, tensor_key, st->nkeys + 1);
    for (uint32_t k = 0; k < st->nkeys; k++)
        to[k] = (tensor_key){expr(r, st->keys[k].lhs), expr(r, st->keys[k].rhs)};
    return to;
}

static void stages(renumbering *r) {
    for (uint32_t s = 0; s < r->op->stages.len; s++) {
        tensor_stage *st = &r->op->stages.data[s];
        st->targets = targets(r, st);
        st->keys = keys(r, st);
        st->filters = exprs(r, st->filters, st->nfilters);
        st->body = exprs(r, st->body, st->nbody);
        st->orelse = exprs(r, st->orelse, st->nelse);
    }
}

static const uint32_t *list(const renumbering *r, const uint32_t *of, uint32_t n,
                            const uint32_t *as) {
    uint32_t *to = ARENA_ARRAY(r->op->arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++) to[i] = as[of[i]];
    return to;
}

static tensor_val_info value(const renumbering *r, tensor_val_info i) {
    i.axes = list(r, i.axes, i.rank, r->spaces);
    i.keys = list(r, i.keys, i.nkeys, r->vals);
    if (i.type == DT_INDEX) i.into = r->spaces[i.into];
    if (i.sorted_by != TENSOR_NO_VAL) i.sorted_by = r->vals[i.sorted_by];
    if (i.inplace != TENSOR_NO_VAL) i.inplace = r->vals[i.inplace];
    return i;
}

static void values(const renumbering *r) {
    const uint32_t n = r->op->vals.len;
    tensor_val_info *to = ARENA_ARRAY(r->op->arena, tensor_val_info, n + 1);
    for (tensor_val v = 0; v < n; v++) to[r->vals[v]] = value(r, r->op->vals.data[v]);
    if (n) memcpy(r->op->vals.data, to, n * sizeof *to);
}

static void spaces(renumbering *r) {
    const uint32_t n = r->op->spaces.len;
    tensor_space_info *to = ARENA_ARRAY(r->op->arena, tensor_space_info, n + 1);
    for (tensor_space s = 0; s < n; s++) {
        tensor_space_info i = r->op->spaces.data[s];
        if (i.kind == SPACE_COUNT_OF) i.classes = r->vals[i.classes];
        if (i.kind == SPACE_EXPR) i.expr = expr(r, i.expr);
        to[r->spaces[s]] = i;
    }
    if (n) memcpy(r->op->spaces.data, to, n * sizeof *to);
}

void tensor_renumber(tensor_op *op, const tensor_val *vals, const tensor_space *space_numbers) {
    renumbering r = {.op = op, .vals = vals, .spaces = space_numbers};
    r.exprs = ARENA_ARRAY(op->arena, tensor_expr, op->exprs.len + 1);
    VEC_PUSH(op->arena, &r.nodes, op->exprs.data[0]);
    stages(&r);
    spaces(&r);
    reducers(&r);
    values(&r);
    for (uint32_t i = 0; i < op->required.len; i++)
        op->required.data[i].holds = expr(&r, op->required.data[i].holds);
    for (tensor_var v = 0; v < op->vars.len; v++)
        op->vars.data[v].space = space_numbers[op->vars.data[v].space];
    for (uint32_t l = 0; l < op->loops.len; l++)
        op->loops.data[l].space = space_numbers[op->loops.data[l].space];
    tensor_take_nodes(op, r.nodes.data, r.nodes.len);
}
