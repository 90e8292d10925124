// Recurrences are written out before they are differentiated, step by step, and a value that is only met at
// literals of an axis is one value for each: so each step has an adjoint of its own.
//     loop t:S { z[t + 1, v] = f(z[index(S1, t), v]) }  →  z.1[v] = f(z.0[v])   z.2[v] = f(z.1[v])   …
#include "gradient_internal.h"
#include "tensor_internal.h"

#include <string.h>

enum { MOST_STEPS = 256 };

// ---- Expressions -----------------------------------------------------------------------------------------
static bool literal(const tensor_op *op, tensor_expr e, int64_t *x) {
    const tensor_node n = *tensor_node_at(op, e);
    int64_t a = 0, b = 0;
    if (n.op == TENSOR_CONST_OP && n.type.type == DT_I64) return *x = n.imm.i, true;
    if (n.op == TENSOR_SIZE_OP && op->spaces.data[n.imm.i].kind == SPACE_CONST)
        return *x = op->spaces.data[n.imm.i].size, true;
    bool through = n.op == TENSOR_INDEX_OP || (n.op == TENSOR_CVT_OP && n.type.type == DT_I64),
         two = n.op == TENSOR_ADD_OP || n.op == TENSOR_SUB_OP;
    if (through) return literal(op, n.args[0], x);
    if (!two || n.type.type != DT_I64 || !literal(op, n.args[0], &a) || !literal(op, n.args[1], &b))
        return false;
    return *x = n.op == TENSOR_ADD_OP ? a + b : a - b, true;
}

// What is put for variables and for values, whose indices stay.
typedef struct {
    const tensor_expr *as;     // per variable; 0: itself
    const tensor_val *value;   // per value
} putting;

static tensor_expr put(gradient_rewriting *r, const tensor_node *of) {
    const putting *p = r->user;
    tensor_node n = *of;
    int64_t x;
    if (n.op == TENSOR_VAR_OP) return p->as[n.imm.i];
    if (n.op == TENSOR_INDEX_OP && literal(r->to, n.args[0], &x))
        return tensor_index(r->to, n.type.space, tensor_int(r->to, x), n.at);
    if (n.op != TENSOR_LOAD_OP) return 0;
    n.imm.i = p->value[n.imm.i];
    return tensor_node_new(r->to, n);
}

// ---- Steps -----------------------------------------------------------------------------------------------
typedef struct {
    gradient *g;
    tensor_val *now;            // per value there was: where it was written last
    VEC(tensor_stage) stages;   // in their new order
} writing;

static tensor_val written(writing *w, tensor_val v, bool again) {
    const tensor_val_info i = w->g->op->vals.data[v];
    if (!again) return v;
    tensor_val_info made = i;
    made.name = gradient_name(w->g, i.name, "step");
    return tensor_add_val(w->g->op, made);
}

static bool mentions_step(const tensor_op *op, const tensor_target *t, tensor_var step) {
    bool any = false;
    for (uint32_t i = 0; i < t->rank; i++) {
        tensor_at at = tensor_target_at(op, t->index[i]);
        any |= (at.kind == TENSOR_AT_STEP || at.kind == TENSOR_AT_VAR) && at.var == step;
    }
    return any;
}

static const tensor_var *without(gradient *g, const tensor_var *vars, uint32_t *n, tensor_var step) {
    tensor_var *out = ARENA_ARRAY(g->arena, tensor_var, *n + 1);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *n; i++)
        if (vars[i] != step) out[kept++] = vars[i];
    *n = kept;
    return out;
}

// A value that does not mention the step is another one in each round.
static void write_round(writing *w, uint32_t first, uint32_t end, const tensor_loop *l, int64_t t) {
    gradient *g = w->g;
    for (uint32_t i = first; i < end; i++) {
        const tensor_stage s = g->op->stages.data[i];
        tensor_expr *as = ARENA_ARRAY(g->arena, tensor_expr, g->op->vars.len + 1);
        as[l->step] = tensor_index(g->op, l->space, tensor_int(g->op, t), NO_SPAN);
        putting p = {as, w->now};
        gradient_rewriting r = gradient_rewriting_new(g, g->op, put, &p);
        tensor_stage made = gradient_rewrite_stage(&r, s);
        tensor_target *targets = ARENA_ARRAY(g->arena, tensor_target, s.ntargets);
        for (uint32_t k = 0; k < s.ntargets; k++) {
            tensor_val v = s.targets[k].val;
            targets[k] = made.targets[k];
            if (!mentions_step(g->op, &s.targets[k], l->step))
                targets[k].val = w->now[v] = written(w, v, t > 0);
        }
        made.left = without(g, s.left, &made.nleft, l->step);
        made.targets = targets;
        made.name = g->op->vals.data[targets[0].val].name;
        made.loop = TENSOR_NO_LOOP;
        VEC_PUSH(g->arena, &w->stages, made);
    }
}

// Reads what was written last.
static void write_after(writing *w, tensor_stage s) {
    gradient *g = w->g;
    putting p = {ARENA_ARRAY(g->arena, tensor_expr, g->op->vars.len + 1), w->now};
    gradient_rewriting r = gradient_rewriting_new(g, g->op, put, &p);
    VEC_PUSH(g->arena, &w->stages, gradient_rewrite_stage(&r, s));
}

static bool known_steps(gradient *g, const tensor_stage *s, const tensor_space_info *steps) {
    if (steps->kind == SPACE_CONST && steps->size <= MOST_STEPS) return true;
    diagnostic *d = diag(
        g->ds, E0612, s->at,
        "'%s' is computed in steps, and gradients write out at most %d whose number is known", s->name,
        (int)MOST_STEPS);
    diag_note(d, g->at, "asked for here");
    diag_help(d, "give the number, -D %s=8, or differentiate one step", steps->name);
    return false;
}

// ---- Values at literals ----------------------------------------------------------------------------------
// Whether all that is reached loads the value at literals of an axis.
static bool loads_at_literals(const tensor_op *op, tensor_expr e, tensor_val v, uint32_t axis, bool *seen) {
    const tensor_node *n = tensor_node_at(op, e);
    int64_t x;
    bool good = seen[e] || n->op != TENSOR_LOAD_OP || (tensor_val)n->imm.i != v ||
                literal(op, n->args[axis], &x);
    if (seen[e]) return true;
    seen[e] = true;
    for (uint32_t i = 0; i < n->nargs && good; i++) good = loads_at_literals(op, n->args[i], v, axis, seen);
    return good;
}

static bool all_at_literals(const tensor_op *op, const tensor_expr *e, uint32_t n, tensor_val v,
                            uint32_t axis, bool *seen) {
    bool good = true;
    for (uint32_t i = 0; i < n && good; i++) good = loads_at_literals(op, e[i], v, axis, seen);
    return good;
}

static bool is_fixed(gradient *g, tensor_val v, uint32_t axis) {
    const tensor_op *op = g->op;
    bool *seen = ARENA_ARRAY(g->arena, bool, op->exprs.len), good = true;
    int64_t x;
    for (uint32_t i = 0; i < op->stages.len && good; i++) {
        const tensor_stage *s = &op->stages.data[i];
        for (uint32_t t = 0; t < s->ntargets; t++)
            if (s->targets[t].val == v) good = good && literal(op, s->targets[t].index[axis], &x);
        good = good && all_at_literals(op, s->body, s->nbody, v, axis, seen) &&
               all_at_literals(op, s->filters, s->nfilters, v, axis, seen) &&
               all_at_literals(op, s->orelse, s->nelse, v, axis, seen);
        for (uint32_t k = 0; k < s->nkeys; k++)
            good = good && loads_at_literals(op, s->keys[k].lhs, v, axis, seen) &&
                   loads_at_literals(op, s->keys[k].rhs, v, axis, seen);
    }
    return good;
}

typedef struct {
    gradient *g;
    tensor_val of;
    uint32_t axis;
    VEC(int64_t) at;
    VEC(tensor_val) is;
} splitting;

static tensor_val part(splitting *x, int64_t at) {
    gradient *g = x->g;
    for (uint32_t i = 0; i < x->at.len; i++)
        if (x->at.data[i] == at) return x->is.data[i];
    tensor_val_info i = g->op->vals.data[x->of];
    tensor_space *axes = ARENA_ARRAY(g->arena, tensor_space, i.rank);
    for (uint32_t a = 0, k = 0; a < i.rank; a++)
        if (a != x->axis) axes[k++] = i.axes[a];
    i.name = gradient_name(g, i.name, arena_printf(g->arena, "%lld", (long long)at));
    i.axes = axes;
    i.rank--;
    VEC_PUSH(g->arena, &x->at, at);
    VEC_PUSH(g->arena, &x->is, tensor_add_val(g->op, i));
    return x->is.data[x->is.len - 1];
}

// The indices that stay; *v: of which part.
static uint32_t drop(splitting *x, const tensor_expr *index, uint32_t n, tensor_expr *out, tensor_val *v) {
    int64_t at = 0;
    uint32_t kept = 0;
    literal(x->g->op, index[x->axis], &at);
    *v = part(x, at);
    for (uint32_t i = 0; i < n; i++)
        if (i != x->axis) out[kept++] = index[i];
    return kept;
}

static tensor_expr put_part(gradient_rewriting *r, const tensor_node *n) {
    splitting *x = r->user;
    tensor_expr *index = ARENA_ARRAY(x->g->arena, tensor_expr, n->nargs + 1);
    tensor_val v;
    if (n->op != TENSOR_LOAD_OP || (tensor_val)n->imm.i != x->of) return 0;
    uint32_t rank = drop(x, n->args, n->nargs, index, &v);
    return tensor_load(r->to, v, index, rank, n->at);
}

static tensor_stage split_stage(splitting *x, gradient_rewriting *r, tensor_stage s) {
    gradient *g = x->g;
    tensor_stage made = gradient_rewrite_stage(r, s);
    tensor_target *targets = ARENA_ARRAY(g->arena, tensor_target, s.ntargets);
    for (uint32_t t = 0; t < s.ntargets; t++) {
        tensor_expr *index = ARENA_ARRAY(g->arena, tensor_expr, s.targets[t].rank + 1);
        targets[t] = made.targets[t];
        if (targets[t].val != x->of) continue;
        targets[t].rank = drop(x, made.targets[t].index, s.targets[t].rank, index, &targets[t].val);
        targets[t].index = index;
        if (!t) made.name = g->op->vals.data[targets[t].val].name;
    }
    made.targets = targets;
    return made;
}

static void split_values(gradient *g) {
    for (tensor_val v = 0; v < g->op->vals.len; v++)
        for (uint32_t a = 0; a < g->op->vals.data[v].rank; a++) {
            if (g->op->vals.data[v].role != VAL_STAGE || !is_fixed(g, v, a)) continue;
            splitting x = {.g = g, .of = v, .axis = a};
            gradient_rewriting r = gradient_rewriting_new(g, g->op, put_part, &x);
            for (uint32_t i = 0; i < g->op->stages.len; i++)
                g->op->stages.data[i] = split_stage(&x, &r, g->op->stages.data[i]);
            break;   // its parts come later
        }
}

// ---- All -------------------------------------------------------------------------------------------------
static bool write_loops(gradient *g) {
    writing w = {.g = g, .now = ARENA_ARRAY(g->arena, tensor_val, g->op->vals.len)};
    for (tensor_val v = 0; v < g->op->vals.len; v++) w.now[v] = v;
    for (uint32_t i = 0, end; i < g->op->stages.len; i = end) {
        const tensor_stage s = g->op->stages.data[i];
        end = i + 1;
        if (s.loop == TENSOR_NO_LOOP) {
            write_after(&w, s);
            continue;
        }
        const tensor_loop l = g->op->loops.data[s.loop];
        const tensor_space_info steps = g->op->spaces.data[l.space];
        while (end < g->op->stages.len && g->op->stages.data[end].loop == s.loop) end++;
        if (!known_steps(g, &s, &steps)) return false;
        for (int64_t t = 0; t < steps.size; t++) write_round(&w, i, end, &l, t);
    }
    g->op->stages.len = 0;
    for (uint32_t i = 0; i < w.stages.len; i++) VEC_PUSH(g->arena, &g->op->stages, w.stages.data[i]);
    g->op->loops.len = 0;
    return true;
}

bool gradient_write_steps(gradient *g) {
    if (g->op->loops.len && !write_loops(g)) return false;
    split_values(g);
    return true;
}
