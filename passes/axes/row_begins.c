// Rows, or other points, that are visited in an order have their entries anywhere: where those of a
// row begin and end is prepared in the order of the rows, and read beside the row itself, not
// behind it. One load less stands before the first of its entries.
//     for p in 0 .. size(V) { let v = order_desc.degrees.dst[p]  … for e in offsets.dst[v] .. offsets.dst[v + 1] { … } }
//  →  for p in 0 .. size(V) {
//         let v = order_desc.degrees.dst[p]
//         given offsets.dst[v] = row_begins.dst.order_desc.degrees.dst[p]
//         given offsets.dst[v + 1] = row_ends.dst.order_desc.degrees.dst[p]
//         … for e in offsets.dst[v] .. offsets.dst[v + 1] { … }
#include "axes/axes.h"
#include "base/base.h"

typedef VEC(tensor_val) val_list;
typedef struct {
    planner *p;
    tensor_val order;    // prepared
    tensor_expr place;   // in that order
} visiting;

static tensor_expr end_of(planner *p, tensor_val offsets, tensor_var row, int64_t plus) {
    return plan_offset_at(p, offsets, tensor_var_expr(p->op, row, NO_SPAN), plus);
}

// The offsets by which loops walk the row.
static void find_walks(planner *p, tensor_var row, const loop_node *n, val_list *out) {
    const tensor_node lo = n->kind == LOOP_FOR ? *tensor_node_at(p->op, n->lo)
                                               : (tensor_node){.op = TENSOR_CONST_OP};
    tensor_val array = lo.op == TENSOR_LOAD_OP ? (tensor_val)lo.imm.i : TENSOR_NO_VAL;
    bool offsets = array != TENSOR_NO_VAL && p->op->vals.data[array].role == VAL_PREPARED &&
                   p->op->vals.data[array].builder == PREPARED_OFFSETS,
         walks = offsets && n->lo == end_of(p, array, row, 0) && n->hi == end_of(p, array, row, 1);
    for (uint32_t i = 0; i < out->len; i++) walks &= out->data[i] != array;
    if (walks) VEC_PUSH(p->arena, out, array);
    for (uint32_t i = 0; i < n->body.len; i++) find_walks(p, row, n->body.data[i], out);
}

static void insert_given(const visiting *s, loop_body *body, uint32_t at, tensor_expr key,
                         tensor_val all) {
    loop_node *given = loop_node_new(s->p->plan, LOOP_GIVEN, body->data[at - 1]->at);
    given->key = key;
    given->value = tensor_load(s->p->op, all, &s->place, 1, NO_SPAN);
    VEC_PUSH(s->p->arena, body, given);
    for (uint32_t i = body->len - 1; i > at; i--) body->data[i] = body->data[i - 1];
    body->data[at] = given;
}

// Behind what binds the row; gives how many nodes.
static uint32_t give(const visiting *s, tensor_var row, loop_body *body, uint32_t at) {
    planner *p = s->p;
    val_list walked = {0};
    for (uint32_t i = at + 1; i < body->len; i++) find_walks(p, row, body->data[i], &walked);
    for (uint32_t i = 0; i < walked.len; i++) {
        tensor_val map = p->op->vals.data[walked.data[i]].keys[0];
        insert_given(s, body, at + 2 * i + 1, end_of(p, walked.data[i], row, 0),
                     plan_row_ends(p, PREPARED_ROW_BEGINS, map, s->order));
        insert_given(s, body, at + 2 * i + 2, end_of(p, walked.data[i], row, 1),
                     plan_row_ends(p, PREPARED_ROW_ENDS, map, s->order));
    }
    return 2 * walked.len;
}

// rows: per variable, whether it is the row, as long as it is bound.
static void follow(const visiting *s, bool *rows, loop_body *body, uint32_t from) {
    VEC(tensor_var) bound = {0};
    for (uint32_t i = from; i < body->len; i++) {
        loop_node *n = body->data[i];
        const tensor_node *is = n->kind == LOOP_LET ? tensor_node_at(s->p->op, n->value) : NULL;
        follow(s, rows, &n->body, 0);
        if (!is || is->op != TENSOR_VAR_OP || !rows[is->imm.i]) continue;
        rows[n->var] = true;
        VEC_PUSH(s->p->arena, &bound, n->var);
        i += give(s, n->var, body, i);
    }
    for (uint32_t i = 0; i < bound.len; i++) rows[bound.data[i]] = false;
}

static bool is_ordered(planner *p, const loop_node *n, visiting *s) {
    const tensor_node *value = n->kind == LOOP_LET ? tensor_node_at(p->op, n->value) : NULL;
    if (!value || value->op != TENSOR_LOAD_OP || value->nargs != 1) return false;
    const tensor_val_info *order = &p->op->vals.data[value->imm.i];
    *s = (visiting){p, (tensor_val)value->imm.i, value->args[0]};
    return order->role == VAL_PREPARED &&
           (order->builder == PREPARED_ORDER || order->builder == PREPARED_ORDER_DESC) &&
           tensor_node_at(p->op, value->args[0])->op == TENSOR_VAR_OP;
}

static void visit(planner *p, loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        visiting s;
        visit(p, &body->data[i]->body);
        if (!is_ordered(p, body->data[i], &s)) continue;
        bool *rows = ARENA_ARRAY(p->arena, bool, p->op->vars.len + 1);
        rows[body->data[i]->var] = true;
        follow(&s, rows, body, i + 1 + give(&s, body->data[i]->var, body, i));
    }
}

void plan_row_begins(planner *p) {
    for (uint32_t i = 0; i < p->plan->steps.len && p->machine->gpu; i++)
        if (p->plan->steps.data[i].kind == LOOP_LAUNCH)
            visit(p, &p->plan->steps.data[i].kernel->body);
}
