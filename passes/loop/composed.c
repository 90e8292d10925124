// Maps of edges that are visited in the order of another map: an array of their values in that
// order, which the runtime prepares, is read side by side, and one load less stands before the rows
// they lead to.
//     for e.at in offsets.src[u] … { let e = order.src[e.at]  … x[dst[e], f] … }
//  →  for e.at in offsets.src[u] … { let e = order.src[e.at]  given dst[e] = compose.order.src.dst[e.at]  … x[dst[e], f] … }
#include "loop/loop.h"
#include "base/base.h"

typedef struct {
    planner *p;
    tensor_val order;    // prepared
    tensor_expr place;   // in that order
} ordered;

static bool is_read_at(const planner *p, tensor_val map, tensor_var v) {
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *st = &p->op->stages.data[i];
        bool own = false;
        for (uint32_t k = 0; k < st->nleft + st->nbound; k++)
            own |= v == (k < st->nleft ? st->left[k] : st->bound[k - st->nleft]);
        if (own && plan_reads_val(p, st, map)) return true;
    }
    return false;
}

static bool is_walked_map(const planner *p, const ordered *o, tensor_val map) {
    const tensor_val_info *order = &p->op->vals.data[o->order];
    return order->keys[0] == map;
}

static bool is_composed(const ordered *o, tensor_val map) {
    const tensor_val_info *m = &o->p->op->vals.data[map], *order = &o->p->op->vals.data[o->order];
    return m->role == VAL_MAP && m->rank == 1 && m->axes[0] == order->into &&
           !(m->facts & (FACT_PREFIX | FACT_PARTIAL)) && !is_walked_map(o->p, o, map);
}

static void insert(planner *p, loop_body *body, uint32_t at, loop_node *n) {
    VEC_PUSH(p->arena, body, n);
    for (uint32_t i = body->len - 1; i > at; i--) body->data[i] = body->data[i - 1];
    body->data[at] = n;
}

// Behind what binds v; gives how many nodes.
static uint32_t give(const ordered *o, tensor_var v, loop_body *body, uint32_t at) {
    planner *p = o->p;
    uint32_t n = 0;
    for (tensor_val map = 0; map < p->op->nparams; map++) {
        if (!is_composed(o, map) || !is_read_at(p, map, v)) continue;
        const tensor_val args[] = {o->order, map};
        tensor_val all = plan_prepare(p, PREPARED_COMPOSE, args, 2, p->op->vals.data[map].into,
                                      p->op->vals.data[o->order].axes[0]);
        tensor_expr edge = tensor_var_expr(p->op, v, NO_SPAN);
        loop_node *given = loop_node_new(p->plan, LOOP_GIVEN, body->data[at]->at);
        given->key = tensor_load(p->op, map, &edge, 1, NO_SPAN);
        given->value = tensor_load(p->op, all, &o->place, 1, NO_SPAN);
        insert(p, body, at + ++n, given);
    }
    return n;
}

// The order that a value is read from; false: it is no such edge.
static bool is_ordered(planner *p, tensor_expr value, ordered *o) {
    const tensor_node *n = tensor_node_at(p->op, value);
    const tensor_val_info *order = n->op == TENSOR_LOAD_OP && n->nargs == 1
                                       ? &p->op->vals.data[n->imm.i]
                                       : NULL;
    if (!order || order->role != VAL_PREPARED || order->builder != PREPARED_ORDER) return false;
    *o = (ordered){p, (tensor_val)n->imm.i, n->args[0]};
    return tensor_node_at(p->op, n->args[0])->op == TENSOR_VAR_OP;
}

// edges: per variable, whether it is the edge.
static void follow(const ordered *o, bool *edges, loop_body *body, uint32_t from) {
    for (uint32_t i = from; i < body->len; i++) {
        loop_node *n = body->data[i];
        const tensor_node *is = n->kind == LOOP_LET ? tensor_node_at(o->p->op, n->value) : NULL;
        follow(o, edges, &n->body, 0);
        if (!is || is->op != TENSOR_VAR_OP || !edges[is->imm.i]) continue;
        edges[n->var] = true;
        i += give(o, n->var, body, i);
    }
}

static void visit(planner *p, loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        ordered o;
        visit(p, &body->data[i]->body);
        if (body->data[i]->kind != LOOP_LET || !is_ordered(p, body->data[i]->value, &o)) continue;
        bool *edges = ARENA_ARRAY(p->arena, bool, p->op->vars.len + 1);
        edges[body->data[i]->var] = true;
        follow(&o, edges, body, i + 1 + give(&o, body->data[i]->var, body, i));
    }
}

void plan_composed(planner *p) {
    for (uint32_t i = 0; i < p->plan->steps.len && p->machine->gpu; i++)
        if (p->plan->steps.data[i].kind == LOOP_LAUNCH)
            visit(p, &p->plan->steps.data[i].kernel->body);
}
