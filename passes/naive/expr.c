// Scalar expressions of tensor IR as SIMT IR. Shared subexpressions are computed once in each
// region. A choice becomes a select, or a branch where the arm not taken could read at no index.
#include "naive/naive.h"
#include "base/scalar.h"

// ---- Values known in the region at hand ---------------------------------------------------------
uint32_t memo_mark(const kernel *k) { return k->log.len; }

static simt_value expr_lower_inlined(kernel *k, simt_builder *b, const tensor_stage *st,
                                     const tensor_node *load);

void memo_undo(kernel *k, uint32_t mark) {
    while (k->log.len > mark) k->memo[k->log.data[--k->log.len]] = 0;
}

static simt_value memo_set(kernel *k, tensor_expr e, simt_value v) {
    k->memo[e] = v;
    VEC_PUSH(k->n->arena, &k->log, e);
    return v;
}

// ---- What must not be evaluated where its condition fails ---------------------------------------
bool first_visit(naive *n, tensor_expr e) {
    if (n->visited[e] == n->visits) return false;
    n->visited[e] = n->visits;
    return true;
}

static bool unguarded(const kernel *k, tensor_expr e) {
    if (k->memo[e] || !(k->n->none_facts[e] & READS_AT_NONE) || !first_visit(k->n, e)) return false;
    const tensor_node *n = tensor_node_at(k->n->op, e);
    for (uint32_t i = 0; i < n->nargs; i++) {
        if (n->op == TENSOR_LOAD_OP && k->n->none_facts[n->args[i]] & MAYBE_NONE) return true;
        if (unguarded(k, n->args[i])) return true;
    }
    return false;
}

static bool needs_guard(const kernel *k, tensor_expr e) {
    k->n->visits++;
    return unguarded(k, e);
}

static simt_value lower_branch(kernel *k, simt_builder *b, simt_value c, tensor_expr x,
                               tensor_expr y) {
    simt_type t = value_simt(tensor_typeof(k->n->op, x));
    simt_builder then, other;
    simt_instr i = simt_build_if(b, c, &t, 1, &then, &other);
    uint32_t mark = memo_mark(k);
    simt_value v = expr_lower(k, &then, x);
    simt_build_yield(&then, &v, 1);
    memo_undo(k, mark);
    v = expr_lower(k, &other, y);
    simt_build_yield(&other, &v, 1);
    memo_undo(k, mark);
    return simt_result(k->f, i, 0);
}

static simt_value lower_select(kernel *k, simt_builder *b, const tensor_node *n) {
    simt_value c = expr_lower(k, b, n->args[0]);
    if (needs_guard(k, n->args[1]) || needs_guard(k, n->args[2]))
        return lower_branch(k, b, c, n->args[1], n->args[2]);
    simt_value x = expr_lower(k, b, n->args[1]), y = expr_lower(k, b, n->args[2]);
    return simt_build_select(b, c, x, y);
}

static simt_value lower_logic(kernel *k, simt_builder *b, const tensor_node *n, bool is_and) {
    simt_value x = expr_lower(k, b, n->args[0]);
    if (!needs_guard(k, n->args[1]))
        return simt_build_binary(b, is_and ? SIMT_AND : SIMT_OR, x, expr_lower(k, b, n->args[1]));
    simt_type t = SIMT_T(PRED);
    simt_builder then, other;
    simt_instr i = simt_build_if(b, x, &t, 1, &then, &other);
    simt_builder *rest = is_and ? &then : &other, *known = is_and ? &other : &then;
    uint32_t mark = memo_mark(k);
    simt_value v = expr_lower(k, rest, n->args[1]);
    simt_build_yield(rest, &v, 1);
    memo_undo(k, mark);
    v = simt_build_pred(known, !is_and);
    simt_build_yield(known, &v, 1);
    return simt_result(k->f, i, 0);
}

// ---- Operators ----------------------------------------------------------------------------------
static simt_value lower_load(kernel *k, simt_builder *b, const tensor_node *n) {
    const tensor_stage *inlined = k->n->inlined[n->imm.i];
    if (inlined) return expr_lower_inlined(k, b, inlined, n);
    simt_value index[8];
    for (uint32_t i = 0; i < n->nargs; i++) index[i] = expr_lower(k, b, n->args[i]);
    return memory_load(k, b, (tensor_val)n->imm.i, index);
}

static simt_value lower_rand(kernel *k, simt_builder *b, const tensor_node *n) {
    simt_value h = 0;
    for (uint32_t i = 0; i < n->nargs; i++) h = scalar_hash(b, h, expr_lower(k, b, n->args[i]));
    return scalar_uniform(b, h);
}

static simt_value lower_plain(kernel *k, simt_builder *b, const tensor_node *n) {
    const scalar_types types = {SIMT_I64, k->n->options->index_bits};
    simt_value *x = ARENA_ARRAY(k->n->arena, simt_value, n->nargs + 1);
    for (uint32_t i = 0; i < n->nargs; i++) x[i] = expr_lower(k, b, n->args[i]);
    return scalar_plain(b, &types, n, x);
}

static simt_value lower_node(kernel *k, simt_builder *b, const tensor_node *n) {
    switch ((int)n->op) {
    case TENSOR_VAR_OP: return k->var[n->imm.i];
    case TENSOR_SIZE_OP: return kernel_size(k, (tensor_space)n->imm.i);
    case TENSOR_ARG_OP: return k->arg[n->imm.i];
    case TENSOR_LEFT_OP: return k->left[n->imm.i];
    case TENSOR_RIGHT_OP: return k->right[n->imm.i];
    case TENSOR_LOAD_OP: return lower_load(k, b, n);
    case TENSOR_AND_OP: return lower_logic(k, b, n, true);
    case TENSOR_OR_OP: return lower_logic(k, b, n, false);
    case TENSOR_SELECT_OP: return lower_select(k, b, n);
    case TENSOR_RAND_OP: return lower_rand(k, b, n);
    }
    return lower_plain(k, b, n);
}

simt_value expr_lower(kernel *k, simt_builder *b, tensor_expr e) {
    if (k->memo[e]) return k->memo[e];
    const tensor_node *n = tensor_node_at(k->n->op, e);
    span outer = b->at;
    if (n->at.hi) b->at = n->at;
    simt_value v = lower_node(k, b, n);
    b->at = outer;
    return memo_set(k, e, v);
}

// A side of a key: where an index in it is none, none, which matches no key. The conditions that
// rule it out come after keys.
simt_value expr_lower_key(kernel *k, simt_builder *b, tensor_expr e) {
    const tensor_node *n = tensor_node_at(k->n->op, e);
    if (n->op != TENSOR_LOAD_OP || !needs_guard(k, e)) return expr_lower(k, b, e);
    simt_value some = simt_build_pred(b, true), zero = simt_build_int(b, NAIVE_I64, 0);
    for (uint32_t i = 0; i < n->nargs; i++) {
        simt_value at = memo_set(k, n->args[i], expr_lower_key(k, b, n->args[i]));
        some = simt_build_binary(b, SIMT_AND, some, simt_build_cmp(b, SIMT_GE, at, zero));
    }
    simt_type t = NAIVE_I64;
    simt_builder then, other;
    simt_instr i = simt_build_if(b, some, &t, 1, &then, &other);
    uint32_t mark = memo_mark(k);
    simt_value v = expr_lower(k, &then, e);
    simt_build_yield(&then, &v, 1);
    memo_undo(k, mark);
    v = simt_build_int(&other, NAIVE_I64, -1);
    simt_build_yield(&other, &v, 1);
    return memo_set(k, e, simt_result(k->f, i, 0));
}

void reducer_lower(kernel *k, simt_builder *b, const tensor_expr *e, uint32_t n,
                   const simt_value *arg, const simt_value *left, const simt_value *right,
                   simt_value *out) {
    simt_value *memo = k->memo;
    uint32_t mark = k->log.len;
    k->memo = ARENA_ARRAY(k->n->arena, simt_value, k->n->op->exprs.len + 1);
    k->arg = arg;
    k->left = left;
    k->right = right;
    for (uint32_t i = 0; i < n; i++) out[i] = expr_lower(k, b, e[i]);
    k->log.len = mark;
    k->memo = memo;
}

// The stage's body with its variables at the load's indices, memoised for this load alone.
static simt_value expr_lower_inlined(kernel *k, simt_builder *b, const tensor_stage *st,
                                     const tensor_node *load) {
    simt_value *memo = k->memo, *var = k->var, index[8];
    for (uint32_t i = 0; i < load->nargs; i++) index[i] = expr_lower(k, b, load->args[i]);
    uint32_t mark = k->log.len;
    k->memo = ARENA_ARRAY(k->n->arena, simt_value, k->n->op->exprs.len + 1);
    k->var = ARENA_ARRAY(k->n->arena, simt_value, k->n->op->vars.len + 1);
    for (uint32_t i = 0; i < load->nargs; i++)
        k->var[tensor_node_at(k->n->op, st->targets[0].index[i])->imm.i] = index[i];
    simt_value v = expr_lower(k, b, st->body[0]);
    k->log.len = mark;
    k->memo = memo;
    k->var = var;
    return v;
}
