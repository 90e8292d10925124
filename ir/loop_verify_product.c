// What a matrix operation multiplies: a factor of its rows and one of its columns, which hold no
// more than its operands do.
#include "loop_verify.h"

// What a load is given as, by a node before the one at hand; 0: nothing.
static tensor_expr given_as(const loop_verifier *v, tensor_expr e) {
    for (uint32_t k = 0; k < v->path.len; k++) {
        const loop_body *body = &v->path.data[k]->body;
        for (uint32_t i = 0; i < body->len; i++) {
            const loop_node *n = body->data[i];
            if (k + 1 < v->path.len && n == v->path.data[k + 1]) break;
            if (n->kind == LOOP_GIVEN && n->key == e) return n->value;
        }
    }
    return 0;
}

static bool mentions_in(loop_verifier *v, tensor_expr e, tensor_var x, bool *seen) {
    if (seen[e]) return false;
    seen[e] = true;
    tensor_expr given = given_as(v, e);
    if (given) return mentions_in(v, given, x, seen);
    const tensor_node *n = tensor_node_at(v->op, e);
    if (n->op == TENSOR_VAR_OP) {
        tensor_var y = (tensor_var)n->imm.i;
        return y == x || (v->vars.value[y] && mentions_in(v, v->vars.value[y], x, seen));
    }
    for (uint32_t i = 0; i < n->nargs; i++)
        if (mentions_in(v, n->args[i], x, seen)) return true;
    return false;
}

static bool mentions(loop_verifier *v, tensor_expr e, tensor_var x) {
    return mentions_in(v, e, x, ARENA_ARRAY(v->scratch, bool, v->op->exprs.len));
}

// What lets say.
static tensor_expr resolved(const loop_verifier *v, tensor_expr e) {
    const tensor_node *n = tensor_node_at(v->op, e);
    tensor_expr next = n->op == TENSOR_VAR_OP ? v->vars.value[n->imm.i] : 0;
    return next ? resolved(v, next) : e;
}

static bool is_same_expr(const loop_verifier *v, tensor_expr a, tensor_expr b) {
    a = resolved(v, a);
    b = resolved(v, b);
    const tensor_node *x = tensor_node_at(v->op, a), *y = tensor_node_at(v->op, b);
    bool same = a == b || (x->op == y->op && x->imm.i == y->imm.i && x->nargs == y->nargs &&
                           (x->op == TENSOR_VAR_OP || x->op == TENSOR_LOAD_OP ||
                            x->op == TENSOR_INDEX_OP || x->op == TENSOR_CONST_OP));
    for (uint32_t i = 0; a != b && same && i < x->nargs; i++)
        same = is_same_expr(v, x->args[i], y->args[i]);
    return same;
}

// As lower/copies/fetch.c has it: so, or as b is given.
static bool is_same(const loop_verifier *v, tensor_expr a, tensor_expr b) {
    bool same = is_same_expr(v, a, b);
    for (uint32_t k = 0; !same && k < v->path.len; k++) {
        const loop_body *body = &v->path.data[k]->body;
        for (uint32_t i = 0; !same && i < body->len; i++) {
            const loop_node *n = body->data[i];
            if (k + 1 < v->path.len && n == v->path.data[k + 1]) break;
            same = n->kind == LOOP_GIVEN && is_same_expr(v, n->key, b) &&
                   is_same_expr(v, a, n->value);
        }
    }
    return same;
}

// The load is of a row that the loop fetches in panels, at a point of another loop.
static bool is_in_panels(const loop_verifier *v, const loop_node *fetched, tensor_var along,
                         const tensor_node *load) {
    for (uint32_t i = 0; load->op == TENSOR_LOAD_OP && i < fetched->fetch.n; i++) {
        const loop_fetch *f = &fetched->fetch.rows[i];
        bool same = f->panels && f->val == (tensor_val)load->imm.i;
        for (uint32_t k = 0; same && k < f->nindex; k++)
            same = is_same(v, f->index[k], load->args[k]);
        const tensor_node *last =
            same ? tensor_node_at(v->op, resolved(v, load->args[load->nargs - 1])) : NULL;
        if (last && last->op == TENSOR_VAR_OP && (tensor_var)last->imm.i == along) return true;
    }
    return false;
}

static bool is_as_multiplied(const loop_verifier *v, simt_mma kind, const tensor_node *load) {
    return simt_mma_word(kind) == 2 && load->op == TENSOR_LOAD_OP &&
           v->op->vals.data[load->imm.i].type == loop_matrix_type(kind);
}

static bool has_own(const loop_node *fetched, const tensor_node *load) {
    bool own = false;
    for (uint32_t i = 0; load->op == TENSOR_LOAD_OP && i < fetched->fetch.n; i++)
        own |= fetched->fetch.rows[i].own && fetched->fetch.rows[i].val == (tensor_val)load->imm.i;
    return own;
}

static const char *check_fetched_factor(loop_verifier *v, const loop_node *reduce,
                                        const tensor_stage *s) {
    const loop_matrix *m = reduce->reduce.matrix;
    const loop_node *columns = loop_verify_around(v, m->columns),
                    *depth = loop_verify_around(v, m->depth);
    if (simt_mma_table(m->kind)->warps == 1 || !columns || !depth ||
        (!loop_fetches_panels(columns) && !loop_fetches_panels(depth)))
        return NULL;
    const bool turned = loop_fetches_panels(depth);
    const tensor_node *body = tensor_node_at(v->op, s->body[0]),
                      *first = loop_matrix_factor(v->op, body->args[0]),
                      *load = loop_matrix_factor(v->op, body->args[1]);
    if (!is_as_multiplied(v, m->kind, load) ||
        (has_own(turned ? depth : columns, first) && !is_as_multiplied(v, m->kind, first)))
        return WRONG(
            v,
            "rows in panels are multiplied as they lie there, in numbers of 16 bits or two of them, and '%s' has others",
            s->name);
    if (!turned && simt_mma_splits(m->kind) && loop_fetch_rows(columns) > LOOP_MOST_APART)
        return WRONG(v,
                     "'%s' multiplies up to %d columns of numbers taken apart at once, and has %u",
                     s->name, (int)LOOP_MOST_APART, (unsigned)loop_fetch_rows(columns));
    if (is_in_panels(v, turned ? depth : columns, turned ? m->columns : m->depth, load))
        return NULL;
    return WRONG(v, "the second factor of '%s' is no row that its rounds fetch in panels", s->name);
}

const char *loop_check_product(loop_verifier *v, const loop_node *reduce, const tensor_stage *s) {
    const loop_matrix *m = reduce->reduce.matrix;
    const tensor_node *body = tensor_node_at(v->op, s->body[0]);
    if (body->op != TENSOR_MUL_OP)
        return WRONG(v, "a matrix operation sums products, and the body of '%s' is none", s->name);
    if (mentions(v, body->args[0], m->columns) ||
        (m->rows != LOOP_NO_ROWS && mentions(v, body->args[1], m->rows)))
        return WRONG(
            v,
            "the first factor of '%s' stands in rows, the second in columns: neither may mention the other's index",
            s->name);
    for (uint32_t i = 0; i < 2; i++)
        if (!loop_matrix_holds(v->plan, body->args[i], m->kind))
            return WRONG(v,
                         simt_mma_splits(m->kind)
                             ? "a factor of '%s' is not split for %s: say parts(…)"
                             : "a factor of '%s' has more digits than %s: round it",
                         s->name, simt_mma_table(m->kind)->operand);
    return check_fetched_factor(v, reduce, s);
}
