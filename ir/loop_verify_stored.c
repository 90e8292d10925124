// That each stage is stored once, or cleared once and then combined.
#include "loop_verify.h"

static bool is_of(const loop_verifier *v, const store_places *p, uint32_t i, tensor_space space) {
    return v->op->vars.data[p->loops.data[i]->var].space == space && !p->from.data[i];
}

static uint32_t count_of(const loop_verifier *v, const store_places *p, tensor_space space) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->loops.len; i++) n += is_of(v, p, i, space);
    return n;
}

// Where the last one of those over points of a space ends, each of which begins where another one
// does, from `begin` on; 0: they are not so.
static tensor_expr end_of_points(const loop_verifier *v, const store_places *p, tensor_space space,
                                 tensor_expr begin) {
    bool *used = ARENA_ARRAY(v->scratch, bool, p->loops.len + 1);
    tensor_expr at = begin;
    for (uint32_t left = count_of(v, p, space); at && left; left--) {
        uint32_t i = 0;
        while (i < p->loops.len &&
               (used[i] || !is_of(v, p, i, space) || p->loops.data[i]->lo != at))
            i++;
        if (i == p->loops.len) return 0;
        used[i] = true;
        at = p->loops.data[i]->hi;
    }
    return count_of(v, p, space) ? at : 0;
}

static bool begins_at_0(const loop_verifier *v, const loop_node *l) {
    int64_t zero = -1;
    return loop_constant(v->op, l->lo, &zero) && !zero;
}

static bool is_size_of(const loop_verifier *v, tensor_expr e, tensor_space space) {
    const tensor_node *n = e ? tensor_node_at(v->op, e) : NULL;
    return n && n->op == TENSOR_SIZE_OP && n->imm.i == (int64_t)space;
}

// They share the points from 0 on; where they end.
static tensor_expr end_from_0(const loop_verifier *v, const store_places *p, tensor_space space) {
    for (uint32_t i = 0; i < p->loops.len; i++)
        if (is_of(v, p, i, space) && begins_at_0(v, p->loops.data[i]))
            return end_of_points(v, p, space, p->loops.data[i]->lo);
    return 0;
}

// Several kernels store a stage where their outermost loops share its points.
static bool shares_points(const loop_verifier *v, const store_places *p) {
    tensor_space space = v->op->vars.data[p->loops.data[0]->var].space;
    return count_of(v, p, space) == p->loops.len && is_size_of(v, end_from_0(v, p, space), space);
}

// The table of parts from which a loop has its rows; NULL: it is over no parts.
static const loop_prepared *parts_of(const loop_verifier *v, const loop_node *over) {
    for (uint32_t i = 0; over && over->kind == LOOP_FOR && i < over->body.len; i++) {
        const loop_node *n = over->body.data[i];
        const tensor_node *row = n->kind == LOOP_LET ? tensor_node_at(v->op, n->value) : NULL;
        const loop_prepared *r = row && row->op == TENSOR_LOAD_OP
                                     ? loop_prepared_by(v->plan, (tensor_val)row->imm.i,
                                                        PREPARED_PART_ROWS)
                                     : NULL;
        const tensor_node *at = r ? tensor_node_at(v->op, row->args[0]) : NULL;
        if (at && at->op == TENSOR_VAR_OP && (tensor_var)at->imm.i == over->var) return r;
    }
    return NULL;
}

// Of the same rows, the first part of each that is cut.
static const loop_prepared *heads_of(const loop_verifier *v, const loop_prepared *parts) {
    for (uint32_t i = 0; i < v->plan->prepared.len; i++) {
        const loop_prepared *r = &v->plan->prepared.data[i];
        bool same = r->builder == PREPARED_PART_HEADS && r->nargs == parts->nargs &&
                    r->extent == parts->extent;
        for (uint32_t k = 0; same && k < r->nargs; k++) same = r->args[k] == parts->args[k];
        if (same) return r;
    }
    return NULL;
}

// Of the parts behind those of rows that are cut, of one part each, a class has the first ones: so
// many that the classes of fewer entries begin at its last row.
static bool shares_classes(const loop_verifier *v, const store_places *p,
                           const loop_prepared *heads, tensor_op *copy, tensor_expr end,
                           uint32_t others) {
    tensor_val map = heads->args[0];
    tensor_space rows = v->op->vals.data[map].into;
    for (uint32_t i = 0; i < p->loops.len; i++) {
        tensor_expr lo = p->loops.data[i]->lo;
        const tensor_node *begin = tensor_node_at(v->op, lo);
        if (!is_of(v, p, i, rows) || begin->op != TENSOR_AT_LEAST_OP) continue;
        if ((tensor_val)begin->imm.i != map || begin->imm2 > heads->extent + 1) continue;
        if (heads->nargs < 2 || !loop_by_degree(v->plan, heads->args[1], map, begin->imm2 - 1))
            continue;
        if (!is_size_of(v, end_of_points(v, p, rows, lo), rows)) continue;
        return count_of(v, p, rows) + others == p->loops.len &&
               end == loop_class_parts(copy, map, heads->extent, lo);
    }
    return false;
}

// One stores rows that have one part, which come behind those of rows that are cut, others the rows
// that are; or one what belongs to edges, which no other takes up.
static bool shares_cut_rows(const loop_verifier *v, const store_places *p, const tensor_stage *st) {
    const loop_prepared *table = NULL;
    uint32_t parts = 0, nrows = 0;
    for (uint32_t i = 0; i < p->loops.len && !table; i++)
        table = parts_of(v, p->loops.data[i]), parts = i;
    const loop_prepared *heads = table ? heads_of(v, table) : NULL;
    const loop_node *over = p->loops.data[parts];
    if (!heads || !begins_at_0(v, over)) return false;
    tensor_op *copy = tensor_op_copy(v->scratch, v->op);
    tensor_val map = heads->args[0];
    tensor_space space = v->op->vars.data[over->var].space,
                 cut = v->op->vals.data[heads->val].axes[0];
    if (p->from.data[parts]) {
        nrows = count_of(v, p, cut);
        tensor_expr end = end_from_0(v, p, cut);
        if (p->from.data[parts] != loop_cut_parts(copy, map, heads->extent) || !end ||
            end != loop_cut_rows(copy, map, heads->extent))
            return false;
    } else if (!st->nleft || v->op->vars.data[st->left[0]].space != v->op->vals.data[map].axes[0])
        return false;
    return is_size_of(v, over->hi, space) ? nrows + 1 == p->loops.len
                                          : shares_classes(v, p, heads, copy, over->hi, nrows + 1);
}

static bool are_loops(const store_places *p) {
    bool all = p->loops.len > 0;
    for (uint32_t i = 0; i < p->loops.len; i++)
        all &= p->loops.data[i] && p->loops.data[i]->kind == LOOP_FOR;
    return all;
}

// Rows that are cut are cleared, and combined part by part; the one part of each other is stored.
static bool clears_cut_rows(loop_verifier *v, const store_places *p, uint32_t stage) {
    return v->stages.combines[stage] == 1 && p->loops.len == 2 && are_loops(p) && p->from.data[1] &&
           v->stages.combined[stage] == p->from.data[1] &&
           shares_cut_rows(v, p, &v->op->stages.data[stage]);
}

const char *loop_check_stored(loop_verifier *v, uint32_t stage) {
    const char *name = v->op->stages.data[stage].name;
    if (!v->stages.stores[stage] && !loop_stage_inline(v->plan, stage))
        return WRONG(v, "stage '%s' is never stored", name);
    const store_places *p = &v->stages.places[stage];
    if (v->stages.cleared[stage])
        return v->stages.combines[stage] && (p->loops.len < 2 || clears_cut_rows(v, p, stage))
                   ? NULL
                   : WRONG(v, "stage '%s' is cleared, and then stored or never combined", name);
    if (v->stages.stores[stage] < 2) return NULL;
    if (are_loops(p) && (shares_points(v, p) || shares_cut_rows(v, p, &v->op->stages.data[stage])))
        return NULL;
    return WRONG(
        v, "stage '%s' is stored by several kernels, whose outermost loops do not share its points",
        name);
}

void loop_count_stores(loop_verifier *v, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        bool stores = n->kind == LOOP_STORE || n->kind == LOOP_CLEAR || n->kind == LOOP_COMBINE ||
                      (n->kind == LOOP_CARRY && !n->state.n);
        if (stores && n->nstages && n->stages[0] < v->op->stages.len)
            v->stages.all_stores[n->stages[0]]++;
        loop_count_stores(v, &n->body);
    }
}
