// A factor of a product's terms that takes a maths function, and lacks an index of the results, is
// a stage of its own: else each result computes it again.
//     h[e, f] = sum {k:K} (exp(-(r[e] - mu[k])) * w[k, f])
//  →  h.factor[e, k] = exp(-(r[e] - mu[k]))
//     h[e, f] = sum {k:K} (h.factor[e, k] * w[k, f])
#include "tensor_build.h"
#include "tensor_factor.h"
#include "tensor_id.h"

#include <string.h>

enum {
    MOST_INDICES = 8,
    FEW = 4   // results that may each compute it
};

typedef struct {
    tensor_op *op;
    uint32_t stage;   // whose terms they are
    bool any;
} factoring;

static const tensor_stage *stage_at(const factoring *f) { return &f->op->stages.data[f->stage]; }

// ---- Which --------------------------------------------------------------------------------------
static bool takes_maths(const tensor_op *op, tensor_expr e) {
    const tensor_node *n = tensor_node_at(op, e);
    if (tensor_maths_of(n->op)) return true;
    bool any = false;
    for (uint32_t i = 0; i < n->nargs && n->op != TENSOR_LOAD_OP && !any; i++)
        any = takes_maths(op, n->args[i]);
    return any;
}

static bool is_few(const tensor_op *op, tensor_var v) {
    const tensor_space_info *s = &op->spaces.data[op->vars.data[v].space];
    return s->kind == SPACE_CONST && s->size <= FEW;
}

static uint32_t mentioned(const tensor_op *op, tensor_expr e, const tensor_var *vars, uint32_t n,
                          tensor_var *out) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++)
        if (tensor_mentions(op, e, vars[i])) out[found++] = vars[i];
    return found;
}

static bool lacks_many(const factoring *f, tensor_expr factor) {
    const tensor_stage *st = stage_at(f);
    bool lacks = false;
    for (uint32_t i = 0; i < st->nleft; i++)
        lacks |= !tensor_mentions(f->op, factor, st->left[i]) && !is_few(f->op, st->left[i]);
    return lacks;
}

static bool is_product(const tensor_op *op, const tensor_stage *st) {
    return st->reducer != TENSOR_NO_REDUCER && st->loop == TENSOR_NO_LOOP && !st->nkeys &&
           !st->nfilters && st->nbody == 1 && st->nleft + st->nbound <= MOST_INDICES &&
           op->reducers.data[st->reducer].kind == REDUCE_SUM &&
           ir_dtype_is_float(tensor_typeof(op, st->body[0]).type);
}

// ---- The stage ----------------------------------------------------------------------------------
static const char *name_of(const tensor_op *op, const char *stage) {
    const char *name = arena_printf(op->arena, "%s.factor", stage);
    bool taken = true;
    for (uint32_t n = 2; taken; n++) {
        taken = false;
        for (tensor_val v = 0; v < op->vals.len; v++) taken |= !strcmp(op->vals.data[v].name, name);
        if (taken) name = arena_printf(op->arena, "%s.factor.%u", stage, n);
    }
    return name;
}

// Stages stand in the order they run in.
static void put_before(factoring *f, tensor_stage made) {
    const uint32_t last = tensor_add_stage(f->op, made);
    tensor_stage *all = f->op->stages.data;
    made = all[last];
    memmove(&all[f->stage + 1], &all[f->stage], (last - f->stage) * sizeof *all);
    all[f->stage++] = made;
}

static tensor_expr store(factoring *f, tensor_expr factor) {
    tensor_op *op = f->op;
    const tensor_stage st = *stage_at(f);
    tensor_var *vars = ARENA_ARRAY(op->arena, tensor_var, MOST_INDICES);
    uint32_t n = mentioned(op, factor, st.left, st.nleft, vars);
    n += mentioned(op, factor, st.bound, st.nbound, vars + n);
    tensor_space *axes = ARENA_ARRAY(op->arena, tensor_space, MOST_INDICES);
    tensor_expr *index = ARENA_ARRAY(op->arena, tensor_expr, MOST_INDICES),
                *body = ARENA_NEW(op->arena, tensor_expr);
    for (uint32_t i = 0; i < n; i++) {
        axes[i] = op->vars.data[vars[i]].space;
        index[i] = tensor_var_expr(op, vars[i], st.at);
    }
    *body = factor;
    tensor_target *to = ARENA_NEW(op->arena, tensor_target);
    const char *name = name_of(op, st.name);
    *to = (tensor_target){
        tensor_add_val(op, (tensor_val_info){.name = name,
                                             .role = VAL_STAGE,
                                             .type = tensor_typeof(op, factor).type,
                                             .into = TENSOR_NO_SPACE,
                                             .sorted_by = TENSOR_NO_VAL,
                                             .inplace = TENSOR_NO_VAL,
                                             .rank = n,
                                             .axes = axes,
                                             .at = st.at}),
        n, index};
    put_before(f, (tensor_stage){.name = name,
                                 .id = tensor_id_of_path(op->ids, name),
                                 .ntargets = 1,
                                 .targets = to,
                                 .nleft = n,
                                 .left = vars,
                                 .reducer = TENSOR_NO_REDUCER,
                                 .nbody = 1,
                                 .body = body,
                                 .loop = TENSOR_NO_LOOP,
                                 .at = st.at});
    f->any = true;
    return tensor_load(op, to->val, index, n, st.at);
}

static tensor_expr factored(factoring *f, tensor_expr e, bool alone) {
    const tensor_node n = *tensor_node_at(f->op, e);
    if (n.op == TENSOR_MUL_OP) {
        tensor_expr x = factored(f, n.args[0], false), y = factored(f, n.args[1], false);
        bool same = x == n.args[0] && y == n.args[1];
        return same ? e : tensor_binary(f->op, TENSOR_MUL_OP, x, y, n.at);
    }
    tensor_var vars[MOST_INDICES];
    const tensor_stage *st = stage_at(f);
    bool reduced = mentioned(f->op, e, st->bound, st->nbound, vars) > 0;
    if (alone || !reduced || !takes_maths(f->op, e) || !lacks_many(f, e)) return e;
    return store(f, e);
}

bool tensor_split_factors(tensor_op *op) {
    bool any = false;
    for (uint32_t i = 0; i < op->stages.len; i++) {
        if (!is_product(op, &op->stages.data[i])) continue;
        factoring f = {.op = op, .stage = i};
        tensor_expr *body = ARENA_NEW(op->arena, tensor_expr);
        *body = factored(&f, op->stages.data[i].body[0], true);
        i = f.stage;
        if (f.any) op->stages.data[i].body = body;
        any |= f.any;
    }
    return any;
}
