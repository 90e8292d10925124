// A sum of products over several indices of a few numbers as the product of two matrices
// (`flatten`): indices of rows, of columns and of what is summed are one each.
//     h[e, b, q] = sum {a:_3, f:_16} r[e, a, f] * w[a, b, f, q]
//  →  h.flat[e, c:_48] = sum {d:_48} r[e, d / 16, d % 16] * w[d / 16, c / 16, d % 16, c % 16]
//     h[e, b, q] = h.flat[e, b * 16 + q]
// Of a sum over points the results are flat on both sides.
//     dw[a, b, f, q] = sum {e} r[e, a, f] * dh[e, b, q]
//  →  dw.flat[i:_48, j:_48] = sum {e} r[e, i / 16, i % 16] * dh[e, j / 16, j % 16]
#include "tensor/tensor.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor_guard.h"

#include <string.h>

enum { MOST_VARS = 8 };

typedef struct {
    tensor_var of[MOST_VARS];
    uint32_t n;
    int64_t extent;
} axis_group;

typedef struct {
    planner *p;
    tensor_stage st;
    axis_group rows, columns, depth;
} flattening;

static int64_t extent_of(const planner *p, tensor_var v) {
    const tensor_space_info *s = &p->op->spaces.data[p->op->vars.data[v].space];
    return s->kind == SPACE_CONST ? s->size : 0;
}

static bool put(const planner *p, axis_group *g, tensor_var v) {
    const int64_t n = extent_of(p, v);
    if (g->n == MOST_VARS) return false;
    g->extent = g->n ? g->extent * n : n;
    g->of[g->n++] = v;
    return true;
}

// Its name is theirs, one after the other: `b_q` of b and q.
static const char *name_of(const planner *p, const axis_group *g) {
    const char *name = NULL;
    for (uint32_t i = 0; i < g->n; i++) {
        const char *own = tensor_id_name(p->op->ids, plan_var_id(p, g->of[i]));
        name = name ? arena_printf(p->arena, "%s_%s", name, own) : own;
    }
    return name;
}

// ---- Which --------------------------------------------------------------------------------------
// A bit for each factor that mentions it.
static uint32_t factors_with(const planner *p, const tensor_node *product, tensor_var v) {
    return (uint32_t)plan_mentions(p, product->args[0], v) |
           (uint32_t)plan_mentions(p, product->args[1], v) << 1;
}

// Rows are an index of any extent, which one factor has; all others are columns and numbers.
static const char *find_contraction(flattening *x, const tensor_node *product) {
    const planner *p = x->p;
    const tensor_stage *st = &x->st;
    const uint32_t first = factors_with(p, product, st->left[0]);
    if (first == 3 || !first) return "both factors have its first index";
    put(p, &x->rows, st->left[0]);
    for (uint32_t i = 1; i < st->nleft; i++)
        if (!extent_of(p, st->left[i]) || factors_with(p, product, st->left[i]) != (first ^ 3) ||
            !put(p, &x->columns, st->left[i]))
            return "an index of its results is of both factors, or of an extent that is not known";
    for (uint32_t i = 0; i < st->nbound; i++)
        if (!extent_of(p, st->bound[i]) || factors_with(p, product, st->bound[i]) != 3 ||
            !put(p, &x->depth, st->bound[i]))
            return "an index that it sums is of one factor, or of an extent that is not known";
    return NULL;
}

static const char *find_outer(flattening *x, const tensor_node *product) {
    const planner *p = x->p;
    const tensor_stage *st = &x->st;
    if (st->nbound != 1 || factors_with(p, product, st->bound[0]) != 3)
        return "it sums over more than points, which both factors have";
    put(p, &x->depth, st->bound[0]);
    for (uint32_t i = 0; i < st->nleft; i++) {
        const uint32_t with = factors_with(p, product, st->left[i]);
        if (!extent_of(p, st->left[i]) || (with != 1 && with != 2) ||
            !put(p, with == 1 ? &x->rows : &x->columns, st->left[i]))
            return "an index of its results is of both factors, or of an extent that is not known";
    }
    return NULL;
}

static bool is_of_left(const flattening *x, tensor_expr e) {
    for (uint32_t i = 0; i < x->st.nbound; i++)
        if (plan_mentions(x->p, e, x->st.bound[i])) return false;
    return true;
}

static const char *why_not(flattening *x) {
    const tensor_stage *st = &x->st;
    const planner *p = x->p;
    if (st->reducer == TENSOR_NO_REDUCER || !plan_matrix_sums(p, st) || st->ntargets != 1 ||
        st->loop != TENSOR_NO_LOOP || st->marks || !st->nleft || !st->nbound)
        return "it is no sum of numbers of f32 or fewer bits";
    const tensor_node *product = tensor_node_at(p->op, st->body[0]);
    if (product->op != TENSOR_MUL_OP || st->nkeys) return "it is no sum of all products";
    for (uint32_t i = 0; i < st->nfilters; i++)
        if (!is_of_left(x, st->filters[i])) return "a condition leaves some out";
    if (st->nfilters && tensor_needs_guard(p->op, st->body[0]))
        return "a condition guards what it reads";
    for (uint32_t i = 0; i < st->targets[0].rank; i++)
        if (tensor_node_at(p->op, st->targets[0].index[i])->op != TENSOR_VAR_OP)
            return "its indices are more than names";
    const char *why = extent_of(p, st->left[0]) ? find_outer(x, product)
                                                : find_contraction(x, product);
    if (why) return why;
    if (!x->rows.n || !x->columns.n) return "one factor has no index of the results";
    if (!strcmp(name_of(p, &x->rows), name_of(p, &x->columns)))
        return "its rows and columns would be called alike";
    return x->rows.n + x->columns.n + x->depth.n > 3 ? NULL : "it is one of matrices already";
}

const char *plan_why_no_flat(planner *p, const tensor_stage *st, int64_t *least) {
    flattening x = {.p = p, .st = *st};
    const char *why = why_not(&x);
    *least = INT64_MAX;
    const axis_group *all[] = {&x.rows, &x.columns, &x.depth};
    for (uint32_t i = 0; i < 3 && !why; i++)
        if (all[i]->extent && all[i]->extent < *least) *least = all[i]->extent;
    return why;
}

// ---- The matrices -------------------------------------------------------------------------------
static tensor_var flat_var(planner *p, tensor_id stage, const axis_group *g) {
    if (g->n == 1) return g->of[0];
    const char *name = name_of(p, g);
    const char *space = arena_printf(p->arena, "_%lld", (long long)g->extent);
    return tensor_add_var_as(p->op, tensor_id_inside(p->op->ids, stage, name), name,
                             plan_space(p, space, tensor_int(p->op, g->extent)));
}

// What each index of a group is at the flat one.
static void digits(planner *p, const axis_group *g, tensor_var flat, tensor_expr *by) {
    tensor_op *op = p->op;
    const tensor_expr at = tensor_cvt(op, TENSOR_TYPE(I64), tensor_var_expr(op, flat, NO_SPAN),
                                      NO_SPAN);
    int64_t inner = g->extent;
    for (uint32_t i = 0; i < g->n && g->n > 1; i++) {
        const int64_t own = extent_of(p, g->of[i]);
        tensor_expr x = at;
        inner /= own;
        if (inner > 1) x = tensor_binary(op, TENSOR_QUOT_OP, x, tensor_int(op, inner), NO_SPAN);
        if (i) x = tensor_binary(op, TENSOR_MOD_OP, x, tensor_int(op, own), NO_SPAN);
        by[g->of[i]] = tensor_index(op, op->vars.data[g->of[i]].space, x, NO_SPAN);
    }
}

// And the flat one of those.
static tensor_expr together(planner *p, const axis_group *g, tensor_space flat) {
    tensor_op *op = p->op;
    tensor_expr x = 0;
    if (g->n == 1) return tensor_var_expr(op, g->of[0], NO_SPAN);
    for (uint32_t i = 0; i < g->n; i++) {
        const tensor_expr one = tensor_cvt(op, TENSOR_TYPE(I64),
                                           tensor_var_expr(op, g->of[i], NO_SPAN), NO_SPAN);
        if (x)
            x = tensor_binary(op, TENSOR_MUL_OP, x, tensor_int(op, extent_of(p, g->of[i])),
                              NO_SPAN);
        x = x ? tensor_binary(op, TENSOR_ADD_OP, x, one, NO_SPAN) : one;
    }
    return tensor_index(op, flat, x, NO_SPAN);
}

static tensor_stage matrices_of(flattening *x) {
    planner *p = x->p;
    tensor_stage flat = x->st;
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, 3),
               *bound = ARENA_NEW(p->arena, tensor_var);
    tensor_space *axes = ARENA_ARRAY(p->arena, tensor_space, 3);
    tensor_expr *index = ARENA_ARRAY(p->arena, tensor_expr, 3);
    flat.name = plan_name_inside(p, x->st.name, "flat");
    flat.id = tensor_id_of_path(p->op->ids, flat.name);
    left[0] = flat_var(p, flat.id, &x->rows), left[1] = flat_var(p, flat.id, &x->columns);
    *bound = flat_var(p, flat.id, &x->depth);
    tensor_expr *by = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1),
                *own = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1);
    digits(p, &x->rows, left[0], by);
    digits(p, &x->columns, left[1], by);
    digits(p, &x->depth, *bound, by);
    flat.body = plan_substitute(p, flat.body, 1, by);
    flat.left = plan_own_vars(p, left, 2, own);
    flat.bound = plan_own_vars(p, bound, 1, own);
    flat.body = plan_substitute(p, flat.body, 1, own);
    flat.nleft = 2, flat.nbound = 1, flat.nfilters = 0;
    for (uint32_t i = 0; i < 2; i++) {
        axes[i] = p->op->vars.data[flat.left[i]].space;
        index[i] = tensor_var_expr(p->op, flat.left[i], NO_SPAN);
    }
    tensor_target *to = ARENA_NEW(p->arena, tensor_target);
    const tensor_type type = p->op->reducers.data[flat.reducer].result_types[0];
    *to = (tensor_target){plan_stage_val(p, flat.name, type, axes, 2, flat.at), 2, index};
    flat.targets = to;
    return flat;
}

static void flatten(flattening *x, uint32_t stage) {
    planner *p = x->p;
    tensor_stage st = x->st;
    const tensor_stage flat = matrices_of(x);
    const axis_group *sides[] = {&x->rows, &x->columns};
    tensor_expr index[2], *body = ARENA_NEW(p->arena, tensor_expr);
    for (uint32_t i = 0; i < 2; i++)
        index[i] = together(p, sides[i], p->op->vars.data[flat.left[i]].space);
    *body = tensor_load(p->op, flat.targets[0].val, index, 2, st.at);
    for (uint32_t i = 0; i < st.nfilters; i++)
        *body = tensor_select(p->op, st.filters[i], *body, tensor_float(p->op, DT_F32, 0), NO_SPAN);
    st.body = body;
    st.reducer = TENSOR_NO_REDUCER;
    st.nbound = st.nfilters = 0;
    p->op->stages.data[stage] = st;
    plan_put_stage(p, stage, flat);
}

// ---- The statement ------------------------------------------------------------------------------
void plan_flatten(planner *p) {
    for (uint32_t i = 0; i < p->op->stages.len && !p->failed; i++) {
        flattening x = {.p = p, .st = p->op->stages.data[i]};
        schedule_cell *c = schedule_find(p->s, x.st.id, SCHEDULE_FLATTEN, x.st.id);
        if (!c) continue;
        const char *why = why_not(&x);
        if (why && !schedule_means(c->about, x.st.id)) continue;
        c->consumed = true;
        if (!why) {
            flatten(&x, i++);
            continue;
        }
        diagnostic *d = plan_refuse(p, E0561, c->at, "'%s' is no product of two matrices: %s",
                                    x.st.name, why);
        if (d) diag_note(d, x.st.at, "'%s' is computed here", x.st.name);
        if (d) diag_help(d, "leave it out");
    }
}
