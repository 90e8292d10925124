// What a load adds to the adjoint of what it loads: summed over all points that read the element.
//     y[v, f] = sum {e : dst[e] == v} x[src[e], f]  →  dx[u, f] = sum {e : src[e] == u} dy[dst[e], f]
// A key says which row a point belongs to, so the row's variable is what the key says. What is left
// of the variables either is an index of the load, and then stands on the left, or is summed over.
#include "gradient_internal.h"
#include "tensor_guard.h"

#include <ctype.h>
#include <string.h>

// ---- Names --------------------------------------------------------------------------------------
const char *gradient_name(gradient *g, const char *of, const char *suffix) {
    return tensor_free_name(
        g->op, arena_printf(g->arena, suffix ? "%s.%s" : "%s%s", of, suffix ? suffix : ""));
}

const char *gradient_adjoint(gradient *g, tensor_val of) {
    char *name = arena_printf(g->arena, "d%s", g->op->vals.data[of].name);
    for (char *c = name; *c; c++)
        if (*c == '.') *c = '_';
    return name;
}

static const char *name_at(const tensor_op *op, const tensor_expr *index, uint32_t axis) {
    const tensor_node *n = tensor_node_at(op, index[axis]);
    return n->op == TENSOR_VAR_OP ? op->vars.data[n->imm.i].name : NULL;
}

// Loads of the op itself come before those that the gradient adds.
static const char *axis_name(gradient *g, tensor_val of, uint32_t axis) {
    const tensor_op *op = g->op;
    const char *name = NULL;
    for (uint32_t i = 0; i < g->nstages && !name; i++)
        for (uint32_t t = 0; t < op->stages.data[i].ntargets && !name; t++)
            if (op->stages.data[i].targets[t].val == of)
                name = name_at(op, op->stages.data[i].targets[t].index, axis);
    for (tensor_expr e = 1; e < op->exprs.len && !name; e++) {
        const tensor_node *n = tensor_node_at(op, e);
        if (n->op == TENSOR_LOAD_OP && (tensor_val)n->imm.i == of)
            name = name_at(op, n->args, axis);
    }
    if (name) return name;
    char *space = arena_printf(g->arena, "%s", op->spaces.data[op->vals.data[of].axes[axis]].name);
    for (char *c = space; *c; c++) *c = (char)(*c == '.' ? '_' : tolower((unsigned char)*c));
    return space;
}

tensor_var *gradient_axes(gradient *g, tensor_val of) {
    const tensor_val_info v = g->op->vals.data[of];
    tensor_var *vars = ARENA_ARRAY(g->arena, tensor_var, v.rank + 1);
    for (uint32_t i = 0; i < v.rank; i++)
        vars[i] = tensor_add_var(g->op, axis_name(g, of, i), v.axes[i]);
    return vars;
}

// ---- Stages -------------------------------------------------------------------------------------
typedef struct {
    gradient *g;
    tensor_expr *as;
} renaming;

static tensor_var anew(renaming *r, const tensor_stage *s, tensor_var v) {
    tensor_op *op = r->g->op;
    const char *name = op->vars.data[v].name, *free = name;
    bool clash = true;
    for (uint32_t n = 2; clash; n++) {
        clash = false;
        for (uint32_t i = 0; i < s->nleft + s->nbound && !clash; i++) {
            tensor_var w = i < s->nleft ? s->left[i] : s->bound[i - s->nleft];
            const tensor_node *is = r->as[w] ? tensor_node_at(op, r->as[w]) : NULL;
            clash = is && !strcmp(op->vars.data[is->imm.i].name, free);
        }
        if (clash) free = arena_printf(r->g->arena, "%s%u", name, (unsigned)n);
    }
    tensor_var made = free == name ? tensor_add_var_of(op, v, name)
                                   : tensor_add_var(op, free, op->vars.data[v].space);
    r->as[v] = tensor_var_expr(op, made, NO_SPAN);
    return made;
}

static const tensor_var *all_anew(renaming *r, const tensor_stage *s, const tensor_var *vars,
                                  uint32_t n) {
    tensor_var *out = ARENA_ARRAY(r->g->arena, tensor_var, n + 1);
    for (uint32_t i = 0; i < n; i++) out[i] = anew(r, s, vars[i]);
    return out;
}

// No two stages share a variable.
tensor_stage *gradient_push(gradient *g, tensor_stage s) {
    renaming names = {g, ARENA_ARRAY(g->arena, tensor_expr, g->op->vars.len)};
    const tensor_var *left = all_anew(&names, &s, s.left, s.nleft),
                     *bound = all_anew(&names, &s, s.bound, s.nbound);
    gradient_rewriting r = gradient_rewriting_new(g, g->op, gradient_put_variable, names.as);
    s.nelse = 0;
    tensor_stage made = gradient_rewrite_stage(&r, s);
    made.left = left;
    made.bound = bound;
    made.loop = TENSOR_NO_LOOP;
    made.at = g->at;
    const uint32_t last = tensor_add_stage(g->op, made);
    return &g->op->stages.data[last];
}

// A value over some variables, which a stage will write there; at: its index.
static tensor_target target_over(gradient *g, const char *name, tensor_type t,
                                 const tensor_var *vars, uint32_t n) {
    tensor_space *axes = ARENA_ARRAY(g->arena, tensor_space, n + 1);
    tensor_expr *index = ARENA_ARRAY(g->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        axes[i] = g->op->vars.data[vars[i]].space;
        index[i] = tensor_var_expr(g->op, vars[i], NO_SPAN);
    }
    tensor_val v = tensor_add_val(g->op, (tensor_val_info){.name = name,
                                                           .role = VAL_STAGE,
                                                           .type = t.type,
                                                           .into = TENSOR_NO_SPACE,
                                                           .sorted_by = TENSOR_NO_VAL,
                                                           .inplace = TENSOR_NO_VAL,
                                                           .rank = n,
                                                           .axes = axes,
                                                           .at = g->at});
    return (tensor_target){v, n, index};
}

static tensor_target *one_target(gradient *g, tensor_target t) {
    tensor_target *out = ARENA_NEW(g->arena, tensor_target);
    *out = t;
    return out;
}

tensor_expr gradient_beside(gradient *g, const tensor_stage *s, uint32_t reducer,
                            const tensor_expr *body, uint32_t nbody, const char *suffix) {
    const char *name = gradient_name(g, s->name, suffix);
    tensor_stage made = *s;
    tensor_target t = target_over(g, name, g->op->reducers.data[reducer].result_types[0], s->left,
                                  s->nleft);
    made.name = name;
    made.ntargets = 1;
    made.targets = one_target(g, t);
    made.reducer = reducer;
    made.nbody = nbody;
    made.body = body;
    gradient_push(g, made);
    return tensor_load(g->op, t.val, t.index, t.rank, NO_SPAN);
}

// ---- The points that read an element ------------------------------------------------------------
typedef struct {
    gradient *g;
    tensor_expr *as;        // per variable: what a key says it is; 0: itself
    VEC(tensor_var) vars;   // the others, of the stage's points
    VEC(tensor_key) keys;   // which row of the load a point reads
    tensor_expr holds;      // what else must hold there; 0: nothing
    VEC(tensor_var) left;   // of the adjoint
    tensor_expr *number;    // of each: what it is at all points; 0: no number
    bool *on_left;          // per variable
} points;

static bool is_var(const tensor_op *op, tensor_expr e, tensor_var *v) {
    const tensor_node *n = tensor_node_at(op, e);
    *v = (tensor_var)n->imm.i;
    return n->op == TENSOR_VAR_OP;
}

static bool is_partial(const tensor_op *op, tensor_expr e) {
    const tensor_node *n = tensor_node_at(op, e);
    if (n->op == TENSOR_VAR_OP || n->op == TENSOR_INDEX_OP) return false;
    const tensor_val_info *v = n->op == TENSOR_LOAD_OP ? &op->vals.data[n->imm.i] : NULL;
    return !v || v->role != VAL_MAP || v->facts & FACT_PARTIAL;
}

static void must_hold(points *p, tensor_expr e) { p->holds = gradient_both(p->g->op, p->holds, e); }

static tensor_expr is_some(gradient *g, tensor_expr index) {
    tensor_expr none = tensor_node_new(
        g->op, (tensor_node){.op = TENSOR_NONE_OP, .type = tensor_typeof(g->op, index)});
    return tensor_binary(g->op, TENSOR_NE_OP, index, none, NO_SPAN);
}

static tensor_expr here(points *p, tensor_expr e) { return gradient_replace(p->g, e, p->as); }

static bool is_left(const tensor_stage *s, tensor_var v) {
    bool left = false;
    for (uint32_t i = 0; i < s->nleft; i++) left |= s->left[i] == v;
    return left;
}

// A key whose row is a left-hand variable says what it is; another one is a condition.
static void take_keys(points *p, const tensor_stage *s) {
    tensor_op *op = p->g->op;
    for (uint32_t k = 0; k < s->nkeys; k++) {
        tensor_var row;
        if (!is_var(op, s->keys[k].rhs, &row) || !is_left(s, row) || p->as[row]) continue;
        p->as[row] = s->keys[k].lhs;
        if (is_partial(op, s->keys[k].lhs)) must_hold(p, is_some(p->g, s->keys[k].lhs));
    }
    for (uint32_t k = 0; k < s->nkeys; k++) {
        tensor_var row;
        tensor_expr rhs = s->keys[k].rhs;
        if (is_var(op, rhs, &row) && p->as[row] == s->keys[k].lhs) continue;
        if (is_partial(op, s->keys[k].lhs)) must_hold(p, is_some(p->g, s->keys[k].lhs));
        must_hold(p, tensor_binary(op, TENSOR_EQ_OP, s->keys[k].lhs, here(p, rhs), NO_SPAN));
    }
    for (uint32_t f = 0; f < s->nfilters; f++) must_hold(p, here(p, s->filters[f]));
}

static points points_of(gradient *g, const tensor_stage *s, bool of_else) {
    points p = {.g = g, .as = ARENA_ARRAY(g->arena, tensor_expr, g->op->vars.len)};
    if (!of_else) take_keys(&p, s);
    for (uint32_t i = 0; i < s->nleft; i++)
        if (!p.as[s->left[i]]) VEC_PUSH(g->arena, &p.vars, s->left[i]);
    for (uint32_t i = 0; i < s->nbound && !of_else; i++) VEC_PUSH(g->arena, &p.vars, s->bound[i]);
    return p;
}

// The axes of what is loaded: a variable that is an index stands on the left; of another index a
// key says what it is, but for a number.
static void take_axes(points *p, const tensor_node *load) {
    gradient *g = p->g;
    int64_t number;
    p->number = ARENA_ARRAY(g->arena, tensor_expr, load->nargs + 1u);
    for (uint32_t i = 0; i < load->nargs; i++) {
        tensor_expr at = here(p, load->args[i]);
        tensor_var v;
        if (is_var(g->op, at, &v) && !p->on_left[v]) {
            p->on_left[v] = true;
            VEC_PUSH(g->arena, &p->left, v);
            continue;
        }
        tensor_var row = tensor_add_var(g->op, "row",
                                        // it gets a name later
                                        g->op->vals.data[load->imm.i].axes[i]);
        VEC_PUSH(g->arena, &p->left, row);
        if (gradient_literal(g->op, at, &number)) p->number[i] = at;
        else VEC_PUSH(g->arena, &p->keys, ((tensor_key){at, tensor_var_expr(g->op, row, NO_SPAN)}));
    }
}

// A key is over what is summed alone.
static bool is_key(const points *p, tensor_expr lhs, bool *any) {
    bool good = true;
    for (uint32_t i = 0; i < p->vars.len; i++) {
        tensor_var v = p->vars.data[i];
        if (!tensor_mentions(p->g->op, lhs, v)) continue;
        *any = true;
        good &= !p->on_left[v];
    }
    return good;
}

// What maps on the way of a key take nowhere has no key: it is not read there. A key that is kept
// as one says so itself.
static void must_lead(points *p, tensor_expr key) {
    tensor_op *op = p->g->op;
    const tensor_node n = *tensor_node_at(op, key);
    for (uint32_t i = 0; i < n.nargs; i++) {
        const tensor_node at = *tensor_node_at(op, n.args[i]);
        must_lead(p, n.args[i]);
        if (at.op == TENSOR_LOAD_OP && op->vals.data[at.imm.i].facts & FACT_PARTIAL)
            must_hold(p, is_some(p->g, n.args[i]));
    }
}

static void keep_keys(points *p) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < p->keys.len; k++) {
        bool any = false;
        tensor_key key = p->keys.data[k];
        if (is_key(p, key.lhs, &any) && any) {
            p->keys.data[kept++] = key;
            continue;
        }
        must_lead(p, key.lhs);
        must_hold(p, tensor_binary(p->g->op, TENSOR_EQ_OP, key.lhs, key.rhs, NO_SPAN));
    }
    p->keys.len = kept;
}

// A key that one variable solves leaves no sum over it: that variable is the point.
static bool solve_key(points *p, uint32_t k, tensor_expr *value) {
    gradient *g = p->g;
    for (uint32_t i = 0; i < p->vars.len; i++) {
        const tensor_var x = p->vars.data[i];
        tensor_expr holds, is = p->on_left[x] ? 0 : gradient_solve(g, p->keys.data[k], x, &holds);
        if (!is) continue;
        tensor_expr *as = ARENA_ARRAY(g->arena, tensor_expr, g->op->vars.len);
        as[x] = is;
        *value = gradient_replace(g, *value, as);
        if (p->holds) p->holds = gradient_replace(g, p->holds, as);
        if (holds) must_hold(p, holds);
        for (uint32_t j = 0; j < p->keys.len; j++)
            p->keys.data[j].lhs = gradient_replace(g, p->keys.data[j].lhs, as);
        p->keys.data[k] = p->keys.data[--p->keys.len];
        p->vars.data[i] = p->vars.data[--p->vars.len];
        return true;
    }
    return false;
}

// What a key reads where its point is read at all.
static void guard_keys(points *p, tensor_expr value) {
    tensor_op *op = p->g->op;
    const tensor_expr holds = gradient_both(op, p->holds, gradient_masked_of(op, value).condition);
    for (uint32_t k = 0; k < p->keys.len; k++)
        p->keys.data[k].lhs = tensor_guarded_side(op, p->keys.data[k].lhs, holds);
}

static void solve_keys(points *p, tensor_expr *value) {
    for (uint32_t k = 0; k < p->keys.len;)
        if (!solve_key(p, k, value)) k++;
}

// ---- Terms --------------------------------------------------------------------------------------
static void add_term(gradient *g, tensor_val of, gradient_term t) {
    VEC_PUSH(g->arena, &g->of[of].terms, t);
}

// Where the axes are the numbers at which it is loaded; 0: none is.
static tensor_expr at_numbers(const points *p, const tensor_var *vars) {
    tensor_op *op = p->g->op;
    tensor_expr holds = 0;
    for (uint32_t i = 0; i < p->left.len; i++) {
        if (!p->number[i]) continue;
        tensor_expr var = tensor_var_expr(op, vars[i], NO_SPAN);
        holds = gradient_both(op, holds,
                              tensor_binary(op, TENSOR_EQ_OP, p->number[i], var, NO_SPAN));
    }
    return holds;
}

// Those axes that are no numbers.
static uint32_t not_numbers(const points *p, const tensor_var *vars, tensor_var *out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->left.len; i++)
        if (!p->number[i]) out[n++] = vars[i];
    return n;
}

// The sum of a stage of its own, if that is all of a term: at one place of an axis.
static const gradient_part *part_of(const points *p, uint32_t stage, const gradient_factored *f,
                                    tensor_expr known) {
    gradient_part *part = ARENA_NEW(p->g->arena, gradient_part);
    uint32_t numbers = 0;
    part->stage = stage, part->negative = f->negative;
    for (uint32_t i = 0; i < p->left.len; i++) {
        if (!p->number[i]) continue;
        numbers++;
        part->axis = i;
        gradient_literal(p->g->op, p->number[i], &part->at);
    }
    bool whole = !f->by && !f->under && !f->holds && !known;
    return whole && numbers == 1 && p->keys.len ? part : NULL;
}

// What stands on the left is called as the axes of the value are.
static const tensor_var *named_left(points *p, tensor_val of, tensor_expr *value) {
    gradient *g = p->g;
    const tensor_var *named = gradient_axes(g, of);
    tensor_expr *as = ARENA_ARRAY(g->arena, tensor_expr, g->op->vars.len);
    for (uint32_t i = 0; i < p->left.len; i++)
        as[p->left.data[i]] = tensor_var_expr(g->op, named[i], NO_SPAN);
    *value = gradient_replace(g, *value, as);
    if (p->holds) p->holds = gradient_replace(g, p->holds, as);
    for (uint32_t k = 0; k < p->keys.len; k++)
        p->keys.data[k].rhs = gradient_replace(g, p->keys.data[k].rhs, as);
    return named;
}

// What a key says is its row at every point that is summed, so it is read there once.
typedef struct {
    const tensor_key *keys;
    uint32_t nkeys;
} known_rows;

static tensor_expr put_row(gradient_rewriting *r, const tensor_node *n) {
    const known_rows *all = r->user;
    for (uint32_t k = 0; k < all->nkeys; k++) {
        const tensor_node *lhs = tensor_node_at(r->g->op, all->keys[k].lhs);
        bool same = n->op == TENSOR_LOAD_OP && lhs->op == TENSOR_LOAD_OP &&
                    n->imm.i == lhs->imm.i && n->nargs == lhs->nargs;
        for (uint32_t i = 0; same && i < n->nargs; i++) same = n->args[i] == lhs->args[i];
        if (same) return all->keys[k].rhs;
    }
    return 0;
}

tensor_expr gradient_in_rows(gradient *g, tensor_expr e, const tensor_key *keys, uint32_t nkeys) {
    known_rows all = {keys, nkeys};
    gradient_rewriting r = gradient_rewriting_new(g, g->op, put_row, &all);
    return gradient_rewrite(&r, e);
}

static bool sums_over(const points *p, const gradient_partial *x) {
    bool all = true;
    for (uint32_t b = 0; b < x->nbound && all; b++) {
        all = !p->on_left[x->bound[b]];
        bool mine = false;
        for (uint32_t i = 0; i < p->vars.len; i++) mine |= p->vars.data[i] == x->bound[b];
        all &= mine;
    }
    return all;
}

// Where a sum over some of these points is there already, as of the contraction before an
// activation when its bias is summed over all rows, it goes on from there.
static tensor_expr from_partial(points *p, tensor_expr value) {
    for (uint32_t k = 0; k < p->g->partials.len && !p->keys.len && !p->holds; k++) {
        const gradient_partial *x = &p->g->partials.data[k];
        if (x->value != value || !sums_over(p, x)) continue;
        uint32_t kept = 0;
        for (uint32_t i = 0; i < p->vars.len; i++) {
            bool done = false;
            for (uint32_t b = 0; b < x->nbound; b++) done |= p->vars.data[i] == x->bound[b];
            if (!done) p->vars.data[kept++] = p->vars.data[i];
        }
        p->vars.len = kept;
        return x->sum;
    }
    return value;
}

// In the variables of the stage, which the sum's own index has other names for.
static void note_partial(const points *p, tensor_expr value, tensor_val sum,
                         const tensor_var *bound, uint32_t n) {
    gradient *g = p->g;
    tensor_expr *index = ARENA_ARRAY(g->arena, tensor_expr, p->left.len + 1);
    tensor_var *left = ARENA_ARRAY(g->arena, tensor_var, p->left.len + 1);
    if (p->keys.len || p->holds) return;
    const uint32_t nleft = not_numbers(p, p->left.data, left);
    for (uint32_t i = 0; i < nleft; i++) index[i] = tensor_var_expr(g->op, left[i], NO_SPAN);
    gradient_factored f = gradient_factor(g, value, bound, n, false);
    tensor_expr load = tensor_load(g->op, sum, index, nleft, NO_SPAN);
    gradient_partial x = {value, gradient_outside(g, &f, load), bound, n};
    VEC_PUSH(g->arena, &g->partials, x);
}

// Of conditions that all hold those that are the same at all points which are summed; 0: none is.
static tensor_expr same_at_all(gradient *g, tensor_expr holds, const tensor_var *bound,
                               uint32_t n) {
    const tensor_node x = holds ? *tensor_node_at(g->op, holds)
                                : (tensor_node){.op = TENSOR_CONST_OP};
    if (x.op == TENSOR_AND_OP)
        return gradient_both(g->op, same_at_all(g, x.args[0], bound, n),
                             same_at_all(g, x.args[1], bound, n));
    for (uint32_t i = 0; i < n && holds; i++)
        if (tensor_mentions(g->op, holds, bound[i])) return 0;
    return holds;
}

static bool chooses(const tensor_op *op, tensor_expr e, uint8_t *seen) {
    const tensor_node *n = tensor_node_at(op, e);
    bool any = n->op == TENSOR_SELECT_OP;
    for (uint32_t i = 0; i < n->nargs && !any && !seen[e]; i++) any = chooses(op, n->args[i], seen);
    seen[e] = 1;
    return any;
}

static void add_sum(points *p, tensor_val of, tensor_expr value) {
    gradient *g = p->g;
    const tensor_expr whole = value;
    const tensor_var *axes = named_left(p, of, &value);
    tensor_var *left = ARENA_ARRAY(g->arena, tensor_var, p->left.len + 1);
    tensor_stage s = {.nleft = not_numbers(p, axes, left),
                      .left = left,
                      .nkeys = p->keys.len,
                      .keys = p->keys.data,
                      .ntargets = 1};
    VEC(tensor_var) bound = {0};
    for (uint32_t i = 0; i < p->vars.len; i++)
        if (!p->on_left[p->vars.data[i]]) VEC_PUSH(g->arena, &bound, p->vars.data[i]);
    if (p->holds) p->holds = gradient_in_rows(g, p->holds, p->keys.data, p->keys.len);
    const tensor_expr known = same_at_all(g, p->holds, bound.data, bound.len);
    value = gradient_in_rows(g, value, p->keys.data, p->keys.len);
    const bool guarded = known && known == p->holds &&
                         !chooses(g->op, value, ARENA_ARRAY(g->arena, uint8_t, g->op->exprs.len));
    gradient_factored f = gradient_factor(g, value, bound.data, bound.len, guarded);
    value = f.inside;
    s.bound = bound.data, s.nbound = bound.len;
    s.filters = &p->holds, s.nfilters = p->holds != 0;
    bool given = gradient_by_given(g, &s, &f, &value);
    tensor_type t = tensor_typeof(g->op, value);
    s.name = gradient_name(g, gradient_adjoint(g, of), given ? "dot" : "sum");
    tensor_target to = target_over(g, s.name, t, s.left, s.nleft);
    s.targets = one_target(g, to);
    s.reducer = tensor_builtin_reducer(g->op, REDUCE_SUM, t);
    s.body = &value, s.nbody = 1;
    gradient_push(g, s);
    const uint32_t stage = g->op->stages.len - 1;
    if (!given) note_partial(p, whole, to.val, bound.data, bound.len);
    tensor_expr sum = tensor_load(g->op, to.val, to.index, to.rank, NO_SPAN),
                all = gradient_outside(g, &f, sum);
    // what stands outside is read under no filter: m[dst[e]] where dst[e] is none
    if (all != sum) all = gradient_under(g->op, known, all);
    all = gradient_under(g->op, at_numbers(p, axes), all);
    const gradient_part *part = given ? NULL : part_of(p, stage, &f, known);
    add_term(g, of, (gradient_term){all, axes, all == sum, part});
}

void gradient_contribute(gradient *g, const tensor_stage *s, const tensor_node *load,
                         tensor_expr value, bool of_else) {
    points p = points_of(g, s, of_else);
    tensor_val of = (tensor_val)load->imm.i;
    value = here(&p, value);
    p.on_left = ARENA_ARRAY(g->arena, bool, g->op->vars.len);
    take_axes(&p, load);
    solve_keys(&p, &value);
    guard_keys(&p, value);
    keep_keys(&p);
    uint32_t summed = 0;
    value = from_partial(&p, value);
    for (uint32_t i = 0; i < p.vars.len; i++) summed += !p.on_left[p.vars.data[i]];
    if (summed) {
        add_sum(&p, of, value);
        return;
    }
    tensor_expr there = at_numbers(&p, p.left.data);
    if (there) must_hold(&p, there);
    if (p.holds) value = tensor_select(g->op, p.holds, value, gradient_zero(g->op, value), NO_SPAN);
    add_term(g, of, (gradient_term){value, p.left.data, false, NULL});
}
