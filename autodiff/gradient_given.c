// A sum over the points of a row that a result of the op holds already, where the caller hands that
// over.
//     y[v, d] = sum {e : dst[e] == v} p[e] / l[v] * x[src[e], d]
//     sum {e : dst[e] == v} p[e] * (sum {d} dy[v, d] * x[src[e], d])  →  l[v] * (sum {d} dy[v, d] * y[v, d])
// So a softmax's gradient knows what its rows have in common before it walks one, as
// FlashAttention's does (Dao et al. 2022, section B.4): nothing of a row waits for the end of
// another walk.
#include "gradient_internal.h"

#include <string.h>

typedef VEC(tensor_expr) factor_list;

// Powers of powers have countless factors, though few nodes: what comes after so many stays whole,
// and products of as many are not matched.
enum { MOST_FACTORS = 32, MOST_STEPS = 1 << 16 };

typedef struct {
    gradient *g;
    // per variable of the result's stage: what stands for it; 0: nothing yet
    tensor_expr *as;
    const tensor_var *own;   // those that may still stand for something
    uint32_t nown;
    uint32_t steps;   // so far
} matching;

static const tensor_stage *stage_of(const gradient *g, tensor_val v) {
    for (uint32_t i = 0; i < g->op->stages.len; i++)
        if (g->op->stages.data[i].targets[0].val == v) return &g->op->stages.data[i];
    return NULL;
}

// A plain sum, all of it.
static bool is_sum(const gradient *g, const tensor_stage *s) {
    return s && s->ntargets == 1 && s->reducer != TENSOR_NO_REDUCER && !s->nfilters && !s->nelse &&
           s->loop == TENSOR_NO_LOOP && g->op->reducers.data[s->reducer].kind == REDUCE_SUM &&
           tensor_type_is_float(tensor_typeof(g->op, s->body[0]));
}

// ---- Loads of stages as what they compute -------------------------------------------------------
static bool is_plain(const gradient *g, const tensor_stage *s) {
    bool plain = s && s->ntargets == 1 && s->nleft == s->targets[0].rank &&
                 s->loop == TENSOR_NO_LOOP;
    for (uint32_t i = 0; plain && i < s->nleft; i++) {
        const tensor_node *n = tensor_node_at(g->op, s->targets[0].index[i]);
        plain = n->op == TENSOR_VAR_OP && (tensor_var)n->imm.i == s->left[i];
    }
    return plain;
}

// What a stage computes at the point that the load asks for; its other variables stay.
static tensor_expr body_at(gradient *g, const tensor_stage *s, const tensor_node *load) {
    tensor_expr *as = ARENA_ARRAY(g->arena, tensor_expr, g->op->vars.len);
    for (uint32_t i = 0; i < s->nleft; i++) as[s->left[i]] = load->args[i];
    return gradient_replace(g, s->body[0], as);
}

// Factors of a product that stages compute point by point.
static tensor_expr opened_in(gradient *g, tensor_expr e, uint32_t *products) {
    const tensor_node n = *tensor_node_at(g->op, e);
    if (n.op == TENSOR_MUL_OP) {
        if (++*products > MOST_FACTORS) return e;
        const tensor_expr x = opened_in(g, n.args[0], products),
                          y = opened_in(g, n.args[1], products);
        return tensor_binary(g->op, TENSOR_MUL_OP, x, y, NO_SPAN);
    }
    const tensor_stage *s = n.op == TENSOR_LOAD_OP ? stage_of(g, (tensor_val)n.imm.i) : NULL;
    bool pointwise = s && s->reducer == TENSOR_NO_REDUCER && is_plain(g, s) &&
                     g->op->vals.data[n.imm.i].role == VAL_STAGE;
    return pointwise ? opened_in(g, body_at(g, s, &n), products) : e;
}

static tensor_expr opened(gradient *g, tensor_expr e) {
    uint32_t products = 0;
    return opened_in(g, e, &products);
}

// What a tree of one operation joins, factors of a product or conditions.
static void joined(gradient *g, tensor_opcode by, tensor_expr e, factor_list *out) {
    const tensor_node n = *tensor_node_at(g->op, e);
    if (n.op != by || out->len > MOST_FACTORS) {
        VEC_PUSH(g->arena, out, e);
        return;
    }
    joined(g, by, n.args[0], out);
    joined(g, by, n.args[1], out);
}

static void factors_of(gradient *g, tensor_expr e, factor_list *out) {
    joined(g, TENSOR_MUL_OP, e, out);
}

// ---- Matching -----------------------------------------------------------------------------------
static bool is_own(const matching *m, tensor_var v) {
    bool own = false;
    for (uint32_t i = 0; i < m->nown; i++) own |= m->own[i] == v;
    return own;
}

// Whether `of`, with what stands for its variables, is e; those that nothing stands for yet get
// what makes it so.
static bool unify(matching *m, tensor_expr of, tensor_expr e) {
    const tensor_node *a = tensor_node_at(m->g->op, of), *b = tensor_node_at(m->g->op, e);
    if (m->steps++ > MOST_STEPS) return false;
    if (a->op == TENSOR_VAR_OP && is_own(m, (tensor_var)a->imm.i)) {
        tensor_expr *is = &m->as[a->imm.i];
        if (!*is && b->op == TENSOR_VAR_OP) *is = e;
        return *is == e;
    }
    bool same = of == e || (a->op == b->op && a->nargs == b->nargs && a->imm.i == b->imm.i &&
                            a->imm2 == b->imm2 && tensor_type_equal(a->type, b->type));
    for (uint32_t i = 0; same && of != e && i < a->nargs; i++)
        same = unify(m, a->args[i], b->args[i]);
    return same;
}

// Each factor of the one product is one of the other, in any order.
static bool unify_all(matching *m, const factor_list *of, const factor_list *all, uint32_t first,
                      bool *used) {
    if (first == of->len) return true;
    tensor_expr *kept = ARENA_ARRAY(m->g->arena, tensor_expr, m->g->op->vars.len);
    memcpy(kept, m->as, m->g->op->vars.len * sizeof *kept);
    for (uint32_t i = 0; i < all->len; i++) {
        if (used[i]) continue;
        used[i] = true;
        if (unify(m, of->data[first], all->data[i]) && unify_all(m, of, all, first + 1, used))
            return true;
        memcpy(m->as, kept, m->g->op->vars.len * sizeof *kept);
        used[i] = false;
    }
    return false;
}

static bool unify_keys(matching *m, const tensor_stage *y, const tensor_stage *s) {
    bool same = y->nkeys == s->nkeys && y->nbound == s->nbound;
    for (uint32_t i = 0; same && i < y->nkeys; i++)
        same = unify(m, y->keys[i].lhs, s->keys[i].lhs) && unify(m, y->keys[i].rhs, s->keys[i].rhs);
    return same;
}

// Whether all that must hold for the one is what holds where the other is asked for.
static bool implied(gradient *g, tensor_expr needed, tensor_expr given) {
    factor_list all = {0}, there = {0};
    if (needed) joined(g, TENSOR_AND_OP, needed, &all);
    if (given) joined(g, TENSOR_AND_OP, given, &there);
    for (uint32_t i = 0; i < all.len; i++) {
        bool found = false;
        for (uint32_t k = 0; k < there.len; k++) found |= there.data[k] == all.data[i];
        if (!found) return false;
    }
    return true;
}

// ---- Results ------------------------------------------------------------------------------------
// The result's stage: y = sum inside / under, where it holds.
typedef struct {
    tensor_expr inside, under, holds;
} row_of_result;

// What a row is multiplied by is one over something, so the row is a number times what it
// multiplies.
static bool open_result(gradient *g, const tensor_stage *y, row_of_result *out) {
    tensor_expr body = gradient_in_rows(g, opened(g, y->body[0]), y->keys, y->nkeys);
    gradient_factored f = gradient_factor(g, body, y->bound, y->nbound, false);
    *out = (row_of_result){f.inside, f.under, f.holds};
    if (f.negative) return false;
    if (!f.by) return true;
    gradient_masked by = gradient_masked_of(g->op, f.by);
    const tensor_node n = *tensor_node_at(g->op, by.value),
                      *one = n.op == TENSOR_DIV_OP ? tensor_node_at(g->op, n.args[0]) : NULL;
    if (!one || one->op != TENSOR_CONST_OP || one->imm.f != 1) return false;
    out->under = out->under ? gradient_mul(g->op, out->under, n.args[1]) : n.args[1];
    if (by.condition) out->holds = gradient_both(g->op, out->holds, by.condition);
    return true;
}

static tensor_val given_as(gradient *g, tensor_val y) {
    if (g->given[y] != TENSOR_NO_VAL) return g->given[y];
    tensor_val_info i = g->op->vals.data[y];
    const char *name = i.name;
    // what is computed on the way gives way
    g->op->vals.data[y].name = gradient_name(g, name, "of");
    tensor_val v = tensor_add_val(g->op, (tensor_val_info){.name = name,
                                                           .role = VAL_TENSOR,
                                                           .type = i.type,
                                                           .facts = i.facts | FACT_GIVEN,
                                                           .align = i.align,
                                                           .into = TENSOR_NO_SPACE,
                                                           .sorted_by = TENSOR_NO_VAL,
                                                           .inplace = TENSOR_NO_VAL,
                                                           .rank = i.rank,
                                                           .axes = i.axes,
                                                           .at = i.at});
    return g->given[y] = v;
}

// The contraction, with the load of its sum's value, in the row's product.
typedef struct {
    const tensor_stage *sum;
    tensor_expr body;   // at the point
    factor_list others;
} contraction;

static bool find_contraction(gradient *g, const factor_list *all, uint32_t at, contraction *out) {
    const tensor_node n = *tensor_node_at(g->op, all->data[at]);
    const tensor_stage *s = n.op == TENSOR_LOAD_OP ? stage_of(g, (tensor_val)n.imm.i) : NULL;
    if (!s || !is_sum(g, s) || !is_plain(g, s) || s->nkeys) return false;
    *out = (contraction){.sum = s, .body = body_at(g, s, &n)};
    for (uint32_t i = 0; i < all->len; i++)
        if (i != at) VEC_PUSH(g->arena, &out->others, all->data[i]);
    return true;
}

// sum {c} of what the contraction has of the row, times the result's row; 0: the result is no such
// sum.
static tensor_expr by_result(gradient *g, tensor_val y, const contraction *c, const tensor_stage *s,
                             tensor_expr holds, tensor_expr *body) {
    const tensor_stage *of = stage_of(g, y);
    row_of_result row;
    if (!is_sum(g, of) || !is_plain(g, of) || !open_result(g, of, &row)) return 0;
    gradient_factored f = gradient_factor(g, gradient_in_rows(g, c->body, s->keys, s->nkeys),
                                          s->bound, s->nbound, false);
    if (f.under || f.holds || f.negative || !f.by) return 0;
    VEC(tensor_var) own = {0};
    for (uint32_t i = 0; i < of->nleft; i++) VEC_PUSH(g->arena, &own, of->left[i]);
    for (uint32_t i = 0; i < of->nbound; i++) VEC_PUSH(g->arena, &own, of->bound[i]);
    matching m = {g, ARENA_ARRAY(g->arena, tensor_expr, g->op->vars.len), own.data, own.len, 0};
    factor_list wanted = c->others, parts = {0};
    factors_of(g, f.inside, &wanted);
    factors_of(g, row.inside, &parts);
    bool *used = ARENA_ARRAY(g->arena, bool, wanted.len + 1);
    if (parts.len != wanted.len || parts.len > MOST_FACTORS || !unify_keys(&m, of, s) ||
        !unify_all(&m, &parts, &wanted, 0, used))
        return 0;
    tensor_expr *index = ARENA_ARRAY(g->arena, tensor_expr, of->nleft + 1);
    for (uint32_t i = 0; i < of->nleft; i++)
        if (!(index[i] = m.as[of->left[i]])) return 0;
    if (!implied(g, row.holds ? gradient_replace(g, row.holds, m.as) : 0, holds)) return 0;
    tensor_expr load = tensor_load(g->op, given_as(g, y), index, of->nleft, NO_SPAN);
    *body = gradient_mul(g->op, f.by, load);
    return row.under ? gradient_replace(g, row.under, m.as)
                     : tensor_float(g->op, tensor_typeof(g->op, load).type, 1);
}

// x y, but where x is something over y.
static tensor_expr multiplied(gradient *g, tensor_expr x, tensor_expr y) {
    const tensor_node n = *tensor_node_at(g->op, x);
    if (n.op == TENSOR_DIV_OP && n.args[1] == y) return n.args[0];
    return gradient_mul(g->op, x, y);
}

bool gradient_by_given(gradient *g, tensor_stage *s, gradient_factored *f, tensor_expr *body) {
    factor_list all = {0};
    if (s->nfilters || !s->nkeys) return false;
    factors_of(g, f->inside, &all);
    for (uint32_t i = 0; i < all.len; i++) {
        contraction c;
        if (!find_contraction(g, &all, i, &c)) continue;
        for (tensor_val y = 0; y < g->op->nparams; y++) {
            tensor_expr times = g->may_give[y] ? by_result(g, y, &c, s, f->holds, body) : 0;
            if (!times) continue;
            f->by = f->by ? multiplied(g, f->by, times) : times;
            s->nkeys = 0;
            s->bound = c.sum->bound;
            s->nbound = c.sum->nbound;
            return true;
        }
    }
    return false;
}
