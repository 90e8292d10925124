// That each stage is stored once, or cleared once and then combined.
#include "loop_verify.h"

// Several kernels store a stage where their outermost loops share its points: each begins where another ends.
static bool shares_points(const loop_verifier *v, const store_places *p) {
    int64_t zero = -1;
    const loop_node *at = NULL;
    for (uint32_t i = 0; i < p->loops.len; i++) {
        const loop_node *n = p->loops.data[i];
        if (!n || n->kind != LOOP_FOR || p->from.data[i]) return false;
        if (loop_constant(v->op, n->lo, &zero) && zero == 0) at = n;
    }
    for (uint32_t left = p->loops.len; at && left > 1; left--) {
        const loop_node *after = NULL;
        for (uint32_t i = 0; i < p->loops.len; i++)
            if (p->loops.data[i]->lo == at->hi) after = p->loops.data[i];
        at = after;
    }
    const tensor_node *end = at ? tensor_node_at(v->op, at->hi) : NULL;
    return end && end->op == TENSOR_SIZE_OP && end->imm.i == v->op->vars.data[at->var].space;
}

// Of a prepared table of parts, the map and how long they are.
static const loop_prepared *heads_of(const loop_verifier *v, tensor_space space) {
    for (uint32_t i = 0; i < v->plan->prepared.len; i++) {
        const loop_prepared *r = &v->plan->prepared.data[i];
        if (r->builder == PREPARED_PART_HEADS && v->op->vals.data[r->val].axes[0] == space) return r;
    }
    return NULL;
}

// One stores rows that have one part, which come behind those of rows that are cut, the other the rows that are.
static bool shares_cut_rows(const loop_verifier *v, const store_places *p) {
    int64_t zero = -1;
    if (p->loops.len != 2 || !p->loops.data[0] || !p->loops.data[1] || p->loops.data[1]->kind != LOOP_FOR) return false;
    const loop_node *parts = p->loops.data[0], *rows = p->loops.data[1];
    const loop_prepared *heads = heads_of(v, v->op->vars.data[rows->var].space);
    if (!heads || parts->kind != LOOP_FOR || !loop_constant(v->op, rows->lo, &zero) || zero) return false;
    tensor_op *copy = tensor_op_copy(v->scratch, v->op);
    const tensor_node *end = tensor_node_at(v->op, parts->hi);
    return p->from.data[0] == loop_cut_parts(copy, heads->args[0], heads->extent) && !p->from.data[1] &&
           rows->hi == loop_cut_rows(copy, heads->args[0], heads->extent) && end->op == TENSOR_SIZE_OP &&
           end->imm.i == v->op->vars.data[parts->var].space &&
           v->op->vals.data[heads->val].into == (tensor_space)end->imm.i;
}

// ---- Ranges of positions ---------------------------------------------------------------------------------
static bool stores(const loop_body *body, uint32_t stage) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if ((n->kind == LOOP_STORE && n->stages[0] == stage) || stores(&n->body, stage)) return true;
    }
    return false;
}

// The condition that the stage is stored under, one that nothing but loops stand around; 0: there is none.
static tensor_expr stored_where(const loop_body *body, uint32_t stage) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if (!stores(&n->body, stage)) continue;
        return n->kind == LOOP_IF ? n->value : n->kind == LOOP_FOR ? stored_where(&n->body, stage) : 0;
    }
    return 0;
}

// `let row = map[index(cvt(head) * points)]`
static bool cut_row(const loop_verifier *v, const loop_node *heads, loop_span *s) {
    const loop_node *let = heads->body.len ? heads->body.data[0] : NULL;
    const tensor_node *load = let && let->kind == LOOP_LET ? tensor_node_at(v->op, let->value) : NULL;
    const tensor_node *at = load && load->op == TENSOR_LOAD_OP && load->nargs == 1
                                ? tensor_node_at(v->op, load->args[0])
                                : NULL;
    if (!at || at->op != TENSOR_INDEX_OP) return false;
    const tensor_node *begin = tensor_node_at(v->op, at->args[0]);
    if (begin->op != TENSOR_MUL_OP || !loop_constant(v->op, begin->args[1], &s->points) || s->points < 1)
        return false;
    s->map = (tensor_val)load->imm.i;
    s->row = let->var;
    s->head = heads->var;
    for (uint32_t i = 0; i < v->plan->prepared.len; i++) {
        const loop_prepared *r = &v->plan->prepared.data[i];
        s->offsets = r->val;
        if (r->builder == PREPARED_OFFSETS && r->args[0] == s->map)
            return loop_span_cut_row(tensor_op_copy(v->scratch, v->op), s) == let->value;
    }
    return false;
}

static bool over_parts(const loop_verifier *v, const loop_node *n, int64_t from, tensor_op *copy, const loop_span *s) {
    int64_t lo = -1;
    const tensor_space_info *space = &v->op->spaces.data[v->op->vars.data[n->var].space];
    const tensor_node *parts = tensor_node_at(copy, loop_span_parts(copy, s));
    bool all = space->kind == SPACE_CONST ? parts->op == TENSOR_CONST_OP && parts->imm.i == space->size
                                          : space->kind == SPACE_EXPR && space->expr == loop_span_parts(copy, s);
    return all && loop_constant(v->op, n->lo, &lo) && lo == from &&
           n->hi == tensor_size(copy, v->op->vars.data[n->var].space, NO_SPAN);
}

// One goes through ranges and stores the rows that lie inside theirs, the other through the beginnings of
// ranges, of which the first that a row lies across stores it.
static bool shares_spans(const loop_verifier *v, const store_places *p, uint32_t stage) {
    loop_span s = {0};
    if (p->loops.len != 2 || !p->loops.data[0] || !p->loops.data[1] || p->loops.data[0]->kind != LOOP_FOR ||
        p->loops.data[1]->kind != LOOP_FOR)
        return false;
    const loop_node *parts = p->loops.data[0], *heads = p->loops.data[1];
    if (!cut_row(v, heads, &s)) return false;
    s.part = parts->var;
    tensor_op *copy = tensor_op_copy(v->scratch, v->op);
    const loop_node *rows = parts->body.len == 1 ? parts->body.data[0] : NULL;
    return rows && rows->kind == LOOP_FOR && rows->var == s.row && over_parts(v, parts, 0, copy, &s) &&
           over_parts(v, heads, 1, copy, &s) && rows->lo == loop_span_first(copy, &s) &&
           rows->hi == loop_span_end(copy, &s) &&
           stored_where(&rows->body, stage) == loop_span_whole(copy, &s) &&
           stored_where(&heads->body, stage) == loop_span_cut_here(copy, &s);
}

// ---- All -------------------------------------------------------------------------------------------------
const char *loop_check_stored(loop_verifier *v, uint32_t stage) {
    const char *name = v->op->stages.data[stage].name;
    if (!v->stores[stage] && !loop_stage_inline(v->plan, stage))
        return WRONG(v, "stage '%s' is never stored", name);
    if (v->cleared[stage])
        return v->stores[stage] == 1 + v->combines[stage] && v->combines[stage]
                   ? NULL
                   : WRONG(v, "stage '%s' is cleared, and then stored or never combined", name);
    if (v->stores[stage] < 2 || shares_points(v, &v->places[stage]) ||
        shares_cut_rows(v, &v->places[stage]) || shares_spans(v, &v->places[stage], stage))
        return NULL;
    return WRONG(v, "stage '%s' is stored by several kernels, whose outermost loops do not share its points",
                 name);
}

void loop_count_stores(loop_verifier *v, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        bool stores = n->kind == LOOP_STORE || n->kind == LOOP_CLEAR || n->kind == LOOP_COMBINE ||
                      (n->kind == LOOP_CARRY && !n->nstates);
        if (stores && n->nstages && n->stages[0] < v->op->stages.len)
            v->all_stores[n->stages[0]]++;
        loop_count_stores(v, &n->body);
    }
}
