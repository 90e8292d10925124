// Edges that stand both ways: where `symmetric(src, dst)` holds, the pairs (src[e], dst[e]) are
// those of (dst[e], src[e]) in another order. A reduction over edges that knows of an edge its ends
// alone may take either end for the other. The rows that it walks are those of the map that is
// sorted then, and no edge has to be put in another order.
//     dx[u, f] = sum {e : src[e] == u} dy[dst[e], f]
//  →  dx[u, f] = sum {e : dst[e] == u} dy[src[e], f]
#include "base/base.h"

typedef struct {
    tensor_op *op;
    const tensor_stage *const *inlined;   // by value: a stage computed where it is read; or NULL
    const tensor_expr *vars;              // what stands for variables; NULL: themselves
    const plan_ends *ends;                // one for the other, at that edge; NULL: as they are
    tensor_var edge;
    tensor_expr *memo;
    uint32_t nmemo;
    bool failed;   // it knows more of the edge
} rewriting;

static tensor_expr *memo_of(tensor_op *op) {
    return ARENA_ARRAY(op->arena, tensor_expr, op->exprs.len + 1);
}

// ---- Expressions --------------------------------------------------------------------------------
static tensor_expr rewrite(rewriting *r, tensor_expr e);

static bool is_edge(const rewriting *r, tensor_expr e) {
    const tensor_node *n = tensor_node_at(r->op, e);
    return r->ends && n->op == TENSOR_VAR_OP && (tensor_var)n->imm.i == r->edge;
}

static bool is_end(const rewriting *r, const tensor_node *n) {
    tensor_val map = (tensor_val)n->imm.i;
    return r->ends && n->op == TENSOR_LOAD_OP && n->nargs == 1 && is_edge(r, n->args[0]) &&
           (map == r->ends->one || map == r->ends->other);
}

static tensor_expr body_at(const rewriting *r, const tensor_stage *st, const tensor_expr *index) {
    tensor_expr *vars = ARENA_ARRAY(r->op->arena, tensor_expr, r->op->vars.len + 1);
    for (uint32_t i = 0; i < st->targets[0].rank; i++)
        vars[tensor_node_at(r->op, st->targets[0].index[i])->imm.i] = index[i];
    rewriting inside = {.op = r->op,
                        .inlined = r->inlined,
                        .vars = vars,
                        .memo = memo_of(r->op),
                        .nmemo = r->op->exprs.len};
    return rewrite(&inside, st->body[0]);
}

static tensor_expr rewrite_node(rewriting *r, tensor_expr e) {
    tensor_node n = *tensor_node_at(r->op, e);
    if (n.op == TENSOR_VAR_OP && r->vars && r->vars[n.imm.i]) return r->vars[n.imm.i];
    r->failed |= is_edge(r, e);
    if (is_end(r, &n)) {
        n.imm.i = (tensor_val)n.imm.i == r->ends->one ? r->ends->other : r->ends->one;
        return tensor_node_new(r->op, n);
    }
    tensor_expr *args = ARENA_ARRAY(r->op->arena, tensor_expr, n.nargs + 1u);
    for (uint32_t i = 0; i < n.nargs; i++) args[i] = rewrite(r, n.args[i]);
    if (n.op == TENSOR_LOAD_OP && r->inlined && r->inlined[n.imm.i])
        return body_at(r, r->inlined[n.imm.i], args);
    n.args = args;
    return n.nargs ? tensor_node_new(r->op, n) : e;
}

static tensor_expr rewrite(rewriting *r, tensor_expr e) {
    if (e < r->nmemo && r->memo[e]) return r->memo[e];
    tensor_expr to = rewrite_node(r, e);
    if (e < r->nmemo) r->memo[e] = to;
    return to;
}

// ---- Stages -------------------------------------------------------------------------------------
// Inlined, then with its ends exchanged.
static tensor_expr swapped(rewriting *r, tensor_expr e) {
    rewriting first = {
        .op = r->op, .inlined = r->inlined, .memo = memo_of(r->op), .nmemo = r->op->exprs.len};
    if (r->inlined) e = rewrite(&first, e);
    rewriting second = {.op = r->op,
                        .ends = r->ends,
                        .edge = r->edge,
                        .memo = memo_of(r->op),
                        .nmemo = r->op->exprs.len};
    e = rewrite(&second, e);
    r->failed |= second.failed;
    return e;
}

static const tensor_expr *swapped_list(rewriting *r, const tensor_expr *e, uint32_t n) {
    tensor_expr *out = ARENA_ARRAY(r->op->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++) out[i] = swapped(r, e[i]);
    return out;
}

static bool swap_stage(rewriting *r, tensor_stage *st) {
    tensor_key *keys = ARENA_ARRAY(r->op->arena, tensor_key, st->nkeys + 1);
    for (uint32_t k = 0; k < st->nkeys; k++)
        keys[k] = (tensor_key){swapped(r, st->keys[k].lhs), swapped(r, st->keys[k].rhs)};
    st->keys = keys;
    st->body = swapped_list(r, st->body, st->nbody);
    st->filters = swapped_list(r, st->filters, st->nfilters);
    return !r->failed;
}

// Is one sorted and the other not? Of two that are not, the second is taken.
static bool is_better(const tensor_op *op, tensor_val to, tensor_val from, bool second) {
    const tensor_val_info *a = &op->vals.data[to], *b = &op->vals.data[from];
    bool sorted = a->facts & FACT_SORTED && a->sorted_by == TENSOR_NO_VAL;
    bool other = b->facts & FACT_SORTED && b->sorted_by == TENSOR_NO_VAL;
    return sorted != other ? sorted : second && !sorted;
}

// Whether that key says a row by this end of an edge, and no other key knows the edge.
static bool is_row_key(const tensor_op *op, const tensor_stage *st, uint32_t key, tensor_val from,
                       tensor_var *edge) {
    const tensor_node *n = tensor_node_at(op, st->keys[key].lhs);
    if (n->op != TENSOR_LOAD_OP || (tensor_val)n->imm.i != from) return false;
    const tensor_node *at = tensor_node_at(op, n->args[0]);
    if (at->op != TENSOR_VAR_OP) return false;
    *edge = (tensor_var)at->imm.i;
    for (uint32_t k = 0; k < st->nkeys; k++)
        if (k != key && tensor_mentions(op, st->keys[k].lhs, *edge)) return false;
    return true;
}

// false: it walks edges of that end all the same.
static bool swap_edges(rewriting *r, tensor_stage *st, tensor_val from, bool stays) {
    for (uint32_t k = 0; st->reducer != TENSOR_NO_REDUCER && k < st->nkeys; k++) {
        if (!is_row_key(r->op, st, k, from, &r->edge)) continue;
        bool may = !stays && r->op->reducers.data[st->reducer].commutative;
        if (!may || !swap_stage(r, st)) return false;
    }
    return true;
}

// Where one stage must read the list of its own end, that is there for all.
static void swap_all(tensor_op *op, const plan_ends *ends, tensor_val from, const bool *stays,
                     const tensor_stage *const *inlined) {
    tensor_stage *made = ARENA_ARRAY(op->arena, tensor_stage, op->stages.len + 1);
    for (uint32_t i = 0; i < op->stages.len; i++) {
        rewriting r = {.op = op, .inlined = inlined, .ends = ends};
        made[i] = op->stages.data[i];
        if (!swap_edges(&r, &made[i], from, stays && stays[i])) return;
    }
    for (uint32_t i = 0; i < op->stages.len; i++) op->stages.data[i] = made[i];
}

void plan_swap_ends(tensor_op *op, const plan_ends *ends, const bool *stays,
                    const tensor_stage *const *inlined) {
    const tensor_val_info *one = &op->vals.data[ends->one], *other = &op->vals.data[ends->other];
    bool same = one->into == other->into && one->axes[0] == other->axes[0];
    if (!same || (one->facts | other->facts) & (FACT_PARTIAL | FACT_PREFIX)) return;
    if (is_better(op, ends->other, ends->one, true)) swap_all(op, ends, ends->one, stays, inlined);
    else if (is_better(op, ends->one, ends->other, false))
        swap_all(op, ends, ends->other, stays, inlined);
}

// ---- Which maps ---------------------------------------------------------------------------------
// Of a precondition, or one of the conditions that it joins by `and`; the i-th, which counts down.
static bool ends_in(const tensor_op *op, tensor_expr e, uint32_t *i, plan_ends *out) {
    const tensor_node *n = tensor_node_at(op, e);
    if (n->op == TENSOR_AND_OP)
        return ends_in(op, n->args[0], i, out) || ends_in(op, n->args[1], i, out);
    if (n->op != TENSOR_SYMMETRIC_OP || (*i)--) return false;
    *out = (plan_ends){(tensor_val)n->imm.i, (tensor_val)n->imm2};
    return true;
}

bool plan_ends_at(const tensor_op *op, uint32_t i, plan_ends *out) {
    for (uint32_t r = 0; r < op->required.len; r++)
        if (ends_in(op, op->required.data[r].holds, &i, out)) return true;
    return false;
}
