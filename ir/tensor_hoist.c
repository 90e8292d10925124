// What a sum of products adds at a point and all points of a row have in common is a sum of the
// row, in a stage of its own. The adjoints of its factors are sums over rows then, not over points.
//     h[e, k] = sum {f:F} (x[src[e], f] * w[f, k] + z[e, f] * u[f, k])
//  →  h.src[n, k] = sum {f:F} (x[n, f] * w[f, k])
//     h.rest[e, k] = sum {f:F} (z[e, f] * u[f, k])
//     h[e, k] = h.src[src[e], k] + h.rest[e, k]
#include "tensor_hoist.h"
#include "tensor_build.h"
#include "tensor_id.h"

#include <ctype.h>

enum {
    MOST_ADDENDS = 16,
    LEAST = 8   // terms of a sum that it takes longer to find than to read
};

// ---- Which --------------------------------------------------------------------------------------
typedef struct {
    const tensor_op *op;
    tensor_var point;
    tensor_val map;
    uint8_t *seen;   // per expression
} asking;

static bool is_row(const asking *a, const tensor_node *n) {
    if (n->op != TENSOR_LOAD_OP || (tensor_val)n->imm.i != a->map || n->nargs != 1) return false;
    const tensor_node *at = tensor_node_at(a->op, n->args[0]);
    return at->op == TENSOR_VAR_OP && (tensor_var)at->imm.i == a->point;
}

static bool is_points(const asking *a, tensor_expr e) {
    const tensor_node *n = tensor_node_at(a->op, e);
    if (a->seen[e] || !tensor_mentions(a->op, e, a->point) || is_row(a, n)) return false;
    a->seen[e] = 1;
    bool is = n->op == TENSOR_VAR_OP;
    for (uint32_t i = 0; i < n->nargs && !is; i++) is = is_points(a, n->args[i]);
    return is;
}

bool tensor_reads_row(const tensor_op *op, tensor_expr e, tensor_var point, tensor_val map) {
    const asking a = {op, point, map, ARENA_ARRAY(op->arena, uint8_t, op->exprs.len + 1)};
    return tensor_loads(op, e, map) && tensor_mentions(op, e, point) && !is_points(&a, e);
}

bool tensor_has_all_rows(const tensor_op *op, tensor_space rows) {
    for (tensor_val v = 0; v < op->vals.len; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        if (i->role == VAL_RESULT && i->rank && i->axes[0] == rows) return true;
    }
    for (uint32_t i = 0; i < op->stages.len; i++) {
        const tensor_stage *st = &op->stages.data[i];
        if (st->nkeys && st->nleft && op->vars.data[st->left[0]].space == rows) return true;
    }
    return false;
}

bool tensor_is_with_matrix(const tensor_op *op, const tensor_stage *st, tensor_expr term) {
    const tensor_node *n = tensor_node_at(op, term);
    if (n->op != TENSOR_MUL_OP || st->nleft < 2) return false;
    const tensor_var first = st->left[0], last = st->left[st->nleft - 1];
    const tensor_space_info *s = &op->spaces.data[op->vars.data[last].space];
    bool is = false;
    for (uint32_t i = 0; i < 2; i++)
        is |= !tensor_mentions(op, n->args[i], first) &&
              !tensor_mentions(op, n->args[1 - i], last) && tensor_mentions(op, n->args[i], last);
    return is && (s->kind != SPACE_CONST || s->size >= LEAST);
}

bool tensor_sums_many(const tensor_op *op, const tensor_stage *st) {
    int64_t terms = 1;
    for (uint32_t i = 0; i < st->nbound; i++) {
        const tensor_space_info *s = &op->spaces.data[op->vars.data[st->bound[i]].space];
        terms *= s->kind == SPACE_CONST ? s->size : LEAST;
    }
    return terms >= LEAST;
}

static bool is_dense(const tensor_op *op, tensor_var v) {
    const tensor_space s = op->vars.data[v].space;
    for (tensor_val m = 0; m < op->nparams; m++) {
        const tensor_val_info *i = &op->vals.data[m];
        if (i->role == VAL_MAP && (i->into == s || (i->rank && i->axes[0] == s))) return false;
    }
    return true;
}

bool tensor_sums_dense(const tensor_op *op, const tensor_stage *st) {
    if (st->reducer == TENSOR_NO_REDUCER || st->loop != TENSOR_NO_LOOP || st->nkeys ||
        st->nfilters || st->nelse || st->marks || st->nbody != 1 || st->ntargets != 1 ||
        op->reducers.data[st->reducer].kind != REDUCE_SUM ||
        !ir_dtype_is_float(tensor_typeof(op, st->body[0]).type))
        return false;
    for (uint32_t i = 0; i < st->nbound; i++)
        if (!is_dense(op, st->bound[i])) return false;
    for (uint32_t i = 0; i < st->targets[0].rank; i++)
        if (tensor_node_at(op, st->targets[0].index[i])->op != TENSOR_VAR_OP) return false;
    return st->targets[0].rank == st->nleft;
}

// Room is left for what stands to the right.
static void find_addends(const tensor_op *op, tensor_addend one, tensor_addend *out, uint32_t *n,
                         uint32_t most) {
    const tensor_node *x = tensor_node_at(op, one.of);
    const bool takes = x->op == TENSOR_SUB_OP;
    if (x->op == TENSOR_NEG_OP) {
        find_addends(op, (tensor_addend){x->args[0], !one.minus}, out, n, most);
    } else if ((x->op != TENSOR_ADD_OP && !takes) || *n + 2 > most) {
        out[(*n)++] = one;
    } else {
        find_addends(op, (tensor_addend){x->args[0], one.minus}, out, n, most - 1);
        find_addends(op, (tensor_addend){x->args[1], one.minus != takes}, out, n, most);
    }
}

uint32_t tensor_addends(const tensor_op *op, tensor_expr e, tensor_addend *out, uint32_t most) {
    uint32_t n = 0;
    find_addends(op, (tensor_addend){e, false}, out, &n, most);
    return n;
}

tensor_expr tensor_add_addend(tensor_op *op, tensor_expr sum, tensor_addend one) {
    if (!sum) return one.minus ? tensor_unary(op, TENSOR_NEG_OP, one.of, NO_SPAN) : one.of;
    return tensor_binary(op, one.minus ? TENSOR_SUB_OP : TENSOR_ADD_OP, sum, one.of, NO_SPAN);
}

// ---- Taken apart --------------------------------------------------------------------------------
typedef struct {
    tensor_op *op;
    uint32_t stage;
    tensor_stage st;
    tensor_addend addends[MOST_ADDENDS];
    uint32_t n;
    tensor_expr value;   // of the stage, so far; 0: none
} parting;

typedef struct {
    tensor_op *op;
    asking row;   // in whose place `in_place` stands; a map of TENSOR_NO_VAL: none
    tensor_expr in_place;
    tensor_expr *as;     // per variable: what stands for it; 0: itself
    tensor_expr *memo;   // per expression
} putting;

static tensor_expr put(putting *p, tensor_expr e) {
    if (p->memo[e]) return p->memo[e];
    const tensor_node was = *tensor_node_at(p->op, e);
    tensor_node n = was;
    if (is_row(&p->row, &was)) return p->memo[e] = p->in_place;
    if (was.op == TENSOR_VAR_OP) return p->memo[e] = p->as[was.imm.i] ? p->as[was.imm.i] : e;
    tensor_expr *args = ARENA_ARRAY(p->op->arena, tensor_expr, n.nargs + 1u);
    bool same = true;
    for (uint32_t i = 0; i < n.nargs; i++) {
        args[i] = put(p, was.args[i]);
        same &= args[i] == was.args[i];
    }
    n.args = args;
    return p->memo[e] = same ? e : tensor_node_new(p->op, n);
}

// Called as its space, in small letters.
static tensor_var row_var(tensor_op *op, tensor_space rows) {
    char *name = arena_strdup(op->arena, op->spaces.data[rows].name);
    for (char *c = name; *c; c++) *c = (char)(*c == '.' ? '_' : tolower((unsigned char)*c));
    return tensor_add_var(op, name, rows);
}

// A stage before it that sums the terms. row: its first index is one of the map's, in place of the
// point; else it has those of the stage.
static void add_sum(parting *p, const char *what, tensor_addend terms, tensor_val map,
                    uint32_t point) {
    tensor_op *op = p->op;
    const tensor_stage of = p->st;
    tensor_stage st = of;
    const bool rows = map != TENSOR_NO_VAL;
    tensor_var *left = ARENA_ARRAY(op->arena, tensor_var, of.nleft + 1),
               *bound = ARENA_ARRAY(op->arena, tensor_var, of.nbound + 1);
    tensor_space *axes = ARENA_ARRAY(op->arena, tensor_space, of.nleft + 1);
    tensor_expr *index = ARENA_ARRAY(op->arena, tensor_expr, of.nleft + 1),
                *here = ARENA_ARRAY(op->arena, tensor_expr, of.nleft + 1),
                *body = ARENA_NEW(op->arena, tensor_expr);
    st.name = tensor_free_name(op, arena_printf(op->arena, "%s.%s", of.name, what));
    st.id = tensor_id_of_path(op->ids, st.name);
    putting q = {.op = op,
                 .row = {op, rows ? of.left[point] : 0, map, NULL},
                 .as = ARENA_ARRAY(op->arena, tensor_expr, op->vars.len + 1)};
    for (uint32_t i = 0; i < of.nleft; i++) {
        const bool row = rows && i == point;
        left[i] = row ? row_var(op, op->vals.data[map].into)
                      : tensor_add_var_of(op, of.left[i], op->vars.data[of.left[i]].name);
        axes[i] = op->vars.data[left[i]].space;
        index[i] = tensor_var_expr(op, left[i], NO_SPAN);
        here[i] = tensor_var_expr(op, of.left[i], NO_SPAN);
        q.as[of.left[i]] = row ? 0 : index[i];
        if (row) q.in_place = index[i], here[i] = tensor_load(op, map, &here[i], 1, NO_SPAN);
    }
    for (uint32_t i = 0; i < of.nbound; i++) {
        bound[i] = tensor_add_var_of(op, of.bound[i], op->vars.data[of.bound[i]].name);
        q.as[of.bound[i]] = tensor_var_expr(op, bound[i], NO_SPAN);
    }
    q.memo = ARENA_ARRAY(op->arena, tensor_expr, op->exprs.len + 1);
    *body = put(&q, terms.of);
    tensor_target *to = ARENA_NEW(op->arena, tensor_target);
    const tensor_type type = op->reducers.data[of.reducer].result_types[0];
    *to = (tensor_target){tensor_add_val(op, (tensor_val_info){.name = st.name,
                                                               .role = VAL_STAGE,
                                                               .type = type.type,
                                                               .into = TENSOR_NO_SPACE,
                                                               .sorted_by = TENSOR_NO_VAL,
                                                               .inplace = TENSOR_NO_VAL,
                                                               .rank = of.nleft,
                                                               .axes = axes,
                                                               .at = of.at}),
                          of.nleft, index};
    st.targets = to;
    st.left = left, st.bound = bound, st.body = body;
    tensor_put_stage(op, p->stage++, st);
    const tensor_expr sum = tensor_load(op, to->val, here, of.nleft, of.at);
    p->value = tensor_add_addend(op, p->value, (tensor_addend){sum, terms.minus});
}

static bool may_hoist(const tensor_op *op, const tensor_stage *st, tensor_val map,
                      uint32_t *point) {
    const tensor_val_info *m = &op->vals.data[map];
    if (m->role != VAL_MAP || m->rank != 1 || m->facts & FACT_PARTIAL ||
        !tensor_has_all_rows(op, m->into))
        return false;
    for (*point = 0; *point < st->nleft; ++*point)
        if (op->vars.data[st->left[*point]].space == m->axes[0]) return true;
    return false;
}

// Of those that are added, or of those that are taken away.
static void hoist_by(parting *p, tensor_val map, uint32_t point, bool minus) {
    tensor_expr terms = 0;
    uint32_t rest = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const tensor_addend one = p->addends[i];
        if (one.minus != minus || !tensor_is_with_matrix(p->op, &p->st, one.of) ||
            !tensor_reads_row(p->op, one.of, p->st.left[point], map))
            p->addends[rest++] = one;
        else terms = tensor_add_addend(p->op, terms, (tensor_addend){one.of, false});
    }
    p->n = rest;
    if (terms) add_sum(p, p->op->vals.data[map].name, (tensor_addend){terms, minus}, map, point);
}

static bool take_apart(tensor_op *op, uint32_t *stage) {
    parting p = {.op = op, .stage = *stage, .st = op->stages.data[*stage]};
    uint32_t point;
    p.n = tensor_addends(op, p.st.body[0], p.addends, MOST_ADDENDS);
    for (tensor_val m = 0; m < op->nparams; m++)
        if (may_hoist(op, &p.st, m, &point))
            hoist_by(&p, m, point, false), hoist_by(&p, m, point, true);
    if (!p.value) return false;
    tensor_expr rest = 0, *body = ARENA_NEW(op->arena, tensor_expr);
    for (uint32_t i = 0; i < p.n; i++) rest = tensor_add_addend(op, rest, p.addends[i]);
    if (rest) add_sum(&p, "rest", (tensor_addend){rest, false}, TENSOR_NO_VAL, 0);
    *body = p.value;
    p.st.body = body;
    p.st.reducer = TENSOR_NO_REDUCER;
    p.st.nbound = 0;
    op->stages.data[ *stage = p.stage] = p.st;
    return true;
}

bool tensor_hoist_rows(tensor_op *op) {
    bool any = false;
    for (uint32_t i = 0; i < op->stages.len; i++)
        if (tensor_sums_dense(op, &op->stages.data[i]) && tensor_sums_many(op, &op->stages.data[i]))
            any |= take_apart(op, &i);
    return any;
}
