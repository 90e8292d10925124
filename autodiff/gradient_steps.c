// Recurrences of few steps, and those that look further back than one, are written out before they
// are differentiated, step by step. A value that is only met at literals of an axis is one value
// for each: so each step has an adjoint of its own.
//     loop t:S { z[t + 1, v] = f(z[index(S1, t), v]) }  →  z.1[v] = f(z.0[v])   z.2[v] = f(z.1[v])   …
// Where others read it whole, it is copied from those values, until all is differentiated: so the
// adjoint of what they read is added to that of each step once.
//     y[v] = sum {p} z[p, v]  →  z.1[v] = f(z.0[v])   z[1, v] = z.1[v]   …   y[v] = sum {p} z[p, v]
#include "gradient_internal.h"

#include <string.h>

enum { MOST_STEPS = 256 };

// ---- Expressions --------------------------------------------------------------------------------
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

// ---- Steps --------------------------------------------------------------------------------------
typedef struct {
    gradient *g;
    tensor_val *now;          // per value there was: where it was written last
    gradient_stages stages;   // in their new order
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

static const tensor_var *without(gradient *g, const tensor_var *vars, uint32_t *n,
                                 tensor_var step) {
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
static tensor_stage as_written(writing *w, tensor_stage s) {
    gradient *g = w->g;
    putting p = {ARENA_ARRAY(g->arena, tensor_expr, g->op->vars.len + 1), w->now};
    gradient_rewriting r = gradient_rewriting_new(g, g->op, put, &p);
    return gradient_rewrite_stage(&r, s);
}

static bool known_steps(gradient *g, const tensor_stage *s, const tensor_space_info *steps) {
    if (steps->kind == SPACE_CONST && steps->size <= MOST_STEPS) return true;
    diagnostic *d = diag(
        g->ds, E0612, s->at,
        "steps of '%s' have more than the one value that the step before left: gradients write "
        "out at most %d of them, whose number is known",
        s->name, (int)MOST_STEPS);
    diag_note(d, g->at, "asked for here");
    diag_help(d, "give the number, -D %s=8, or differentiate one step", steps->name);
    return false;
}

// ---- Values at literals -------------------------------------------------------------------------
// How a value is met along an axis: where it is written and where it is read.
typedef struct {
    const gradient *g;
    tensor_val v;
    uint32_t axis;
    bool *seen;   // per expression
    bool written_at_literals, read_at_literals, read_whole;
} meetings;

static void meet(meetings *m, tensor_expr e) {
    const tensor_op *op = m->g->op;
    const tensor_node *n = tensor_node_at(op, e);
    int64_t x;
    if (m->seen[e]) return;
    m->seen[e] = true;
    if (n->op == TENSOR_LOAD_OP && (tensor_val)n->imm.i == m->v)
        *(literal(op, n->args[m->axis], &x) ? &m->read_at_literals : &m->read_whole) = true;
    for (uint32_t i = 0; i < n->nargs; i++) meet(m, n->args[i]);
}

static void meet_all(meetings *m, const tensor_expr *e, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) meet(m, e[i]);
}

static meetings meetings_of(gradient *g, tensor_val v, uint32_t axis) {
    meetings m = {.g = g,
                  .v = v,
                  .axis = axis,
                  .seen = ARENA_ARRAY(g->arena, bool, g->op->exprs.len),
                  .written_at_literals = true};
    int64_t x;
    for (uint32_t i = 0; i < g->op->stages.len; i++) {
        const tensor_stage *s = &g->op->stages.data[i];
        for (uint32_t t = 0; t < s->ntargets; t++)
            if (s->targets[t].val == v && !literal(g->op, s->targets[t].index[axis], &x))
                m.written_at_literals = false;
        meet_all(&m, s->body, s->nbody);
        meet_all(&m, s->filters, s->nfilters);
        meet_all(&m, s->orelse, s->nelse);
        for (uint32_t k = 0; k < s->nkeys; k++) meet(&m, s->keys[k].lhs), meet(&m, s->keys[k].rhs);
    }
    return m;
}

static tensor_val part(gradient_split *x, int64_t at) {
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

// The indices of the whole at one of its parts.
static void put_back(const gradient_split *x, int64_t at, const tensor_expr *index, uint32_t n,
                     tensor_expr *out) {
    tensor_op *op = x->g->op;
    for (uint32_t i = 0; i <= n; i++)
        out[i] = i < x->axis ? index[i] : i > x->axis ? index[i - 1] : 0;
    out[x->axis] = tensor_index(op, op->vals.data[x->of].axes[x->axis], tensor_int(op, at),
                                NO_SPAN);
}

// The indices that stay; *v: of which part.
static uint32_t drop(gradient_split *x, const tensor_expr *index, uint32_t n, tensor_expr *out,
                     tensor_val *v) {
    int64_t at = 0;
    uint32_t kept = 0;
    literal(x->g->op, index[x->axis], &at);
    *v = part(x, at);
    for (uint32_t i = 0; i < n; i++)
        if (i != x->axis) out[kept++] = index[i];
    return kept;
}

static tensor_expr put_part(gradient_rewriting *r, const tensor_node *n) {
    gradient_split *x = r->user;
    tensor_expr *index = ARENA_ARRAY(x->g->arena, tensor_expr, n->nargs + 1);
    tensor_val v;
    int64_t at;
    if (n->op != TENSOR_LOAD_OP || (tensor_val)n->imm.i != x->of ||
        !literal(r->to, n->args[x->axis], &at))
        return 0;
    uint32_t rank = drop(x, n->args, n->nargs, index, &v);
    return tensor_load(r->to, v, index, rank, n->at);
}

// z[1, v] = z.1[v], behind the stage that writes z.1.
static void push_copy(gradient_split *x, int64_t at, tensor_val part) {
    gradient *g = x->g;
    const tensor_val_info v = g->op->vals.data[part];
    tensor_var *vars = gradient_axes(g, part);
    tensor_expr *index = ARENA_ARRAY(g->arena, tensor_expr, v.rank + 1),
                *to = ARENA_ARRAY(g->arena, tensor_expr, v.rank + 1);
    for (uint32_t i = 0; i < v.rank; i++) index[i] = tensor_var_expr(g->op, vars[i], NO_SPAN);
    put_back(x, at, index, v.rank, to);
    tensor_expr value = tensor_load(g->op, part, index, v.rank, NO_SPAN);
    tensor_target t = {x->of, v.rank + 1, to};
    gradient_push(g, (tensor_stage){.name = v.name,
                                    .ntargets = 1,
                                    .targets = &t,
                                    .nleft = v.rank,
                                    .left = vars,
                                    .reducer = TENSOR_NO_REDUCER,
                                    .nbody = 1,
                                    .body = &value});
}

static tensor_stage split_stage(gradient_split *x, gradient_rewriting *r, tensor_stage s) {
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

// The copies of what a stage has just written.
static void push_copies(gradient_split *x, const tensor_stage *s) {
    for (uint32_t t = 0; t < s->ntargets; t++)
        for (uint32_t i = 0; i < x->is.len; i++)
            if (s->targets[t].val == x->is.data[i]) push_copy(x, x->at.data[i], x->is.data[i]);
}

static void split_value(gradient *g, tensor_val v, uint32_t axis, bool whole) {
    gradient_split x = {.g = g, .of = v, .axis = axis};
    gradient_rewriting r = gradient_rewriting_new(g, g->op, put_part, &x);
    uint32_t n = g->op->stages.len;
    tensor_stage *stages = ARENA_ARRAY(g->arena, tensor_stage, n + 1);
    memcpy(stages, g->op->stages.data, n * sizeof *stages);
    g->op->stages.len = 0;
    for (uint32_t i = 0; i < n; i++) {
        tensor_stage s = split_stage(&x, &r, stages[i]);
        tensor_add_stage(g->op, s);
        if (whole) push_copies(&x, &s);
    }
    if (whole) VEC_PUSH(g->arena, &g->splits, x);
}

static void split_values(gradient *g) {
    for (tensor_val v = 0; v < g->op->vals.len; v++)
        for (uint32_t a = 0; a < g->op->vals.data[v].rank && g->op->vals.data[v].role == VAL_STAGE;
             a++) {
            meetings m = meetings_of(g, v, a);
            bool copied = m.read_whole && m.read_at_literals &&
                          ir_dtype_is_float(g->op->vals.data[v].type);
            if (!m.written_at_literals || (m.read_whole && !copied)) continue;
            split_value(g, v, a, copied);
            break;   // its parts come later
        }
}

// ---- Copied values, as they were ----------------------------------------------------------------
// The number of a part; UINT32_MAX: it is none.
static uint32_t part_number(const gradient_split *x, tensor_val v) {
    uint32_t n = UINT32_MAX;
    for (uint32_t i = 0; i < x->is.len; i++)
        if (x->is.data[i] == v) n = i;
    return n;
}

static tensor_expr put_whole(gradient_rewriting *r, const tensor_node *n) {
    const gradient_split *x = r->user;
    uint32_t i = n->op == TENSOR_LOAD_OP ? part_number(x, (tensor_val)n->imm.i) : UINT32_MAX;
    if (i == UINT32_MAX) return 0;
    tensor_expr *index = ARENA_ARRAY(r->g->arena, tensor_expr, n->nargs + 1);
    put_back(x, x->at.data[i], n->args, n->nargs, index);
    return tensor_load(r->to, x->of, index, n->nargs + 1, n->at);
}

static bool is_copy(const gradient_split *x, const tensor_stage *s) {
    const tensor_node *n = tensor_node_at(x->g->op, s->body[0]);
    return s->targets[0].val == x->of && n->op == TENSOR_LOAD_OP &&
           part_number(x, (tensor_val)n->imm.i) != UINT32_MAX;
}

static tensor_stage join_stage(const gradient_split *x, gradient_rewriting *r, tensor_stage s) {
    gradient *g = x->g;
    tensor_stage made = gradient_rewrite_stage(r, s);
    tensor_target *targets = ARENA_ARRAY(g->arena, tensor_target, s.ntargets);
    for (uint32_t t = 0; t < s.ntargets; t++) {
        uint32_t i = part_number(x, s.targets[t].val), rank = made.targets[t].rank;
        tensor_expr *index = ARENA_ARRAY(g->arena, tensor_expr, rank + 1);
        targets[t] = made.targets[t];
        if (i == UINT32_MAX) continue;
        put_back(x, x->at.data[i], made.targets[t].index, rank, index);
        targets[t] = (tensor_target){x->of, rank + 1, index};
    }
    made.targets = targets;
    return made;
}

void gradient_join_steps(gradient *g) {
    for (uint32_t k = g->splits.len; k-- > 0;) {
        gradient_split *x = &g->splits.data[k];
        gradient_rewriting r = gradient_rewriting_new(g, g->op, put_whole, x);
        uint32_t kept = 0;
        for (uint32_t i = 0; i < g->op->stages.len; i++)
            if (!is_copy(x, &g->op->stages.data[i]))
                g->op->stages.data[kept++] = join_stage(x, &r, g->op->stages.data[i]);
        g->op->stages.len = kept;
    }
}

// ---- All ----------------------------------------------------------------------------------------
static bool write_loops(gradient *g) {
    writing w = {.g = g, .now = ARENA_ARRAY(g->arena, tensor_val, g->op->vals.len)};
    for (tensor_val v = 0; v < g->op->vals.len; v++) w.now[v] = v;
    for (uint32_t i = 0, end; i < g->op->stages.len; i = end) {
        const tensor_stage s = g->op->stages.data[i];
        end = i + 1;
        if (s.loop == TENSOR_NO_LOOP) {
            VEC_PUSH(g->arena, &w.stages, as_written(&w, s));
            continue;
        }
        const tensor_loop l = g->op->loops.data[s.loop];
        const tensor_space_info steps = g->op->spaces.data[l.space];
        while (end < g->op->stages.len && g->op->stages.data[end].loop == s.loop) end++;
        const uint32_t before = w.stages.len;
        if (gradient_keep_rounds(g, i, end, &w.stages)) {
            for (uint32_t k = before; k < w.stages.len; k++)
                w.stages.data[k] = as_written(&w, w.stages.data[k]);
            continue;
        }
        if (!known_steps(g, &s, &steps)) return false;
        for (int64_t t = 0; t < steps.size; t++) write_round(&w, i, end, &l, t);
    }
    g->op->stages.len = 0;
    for (uint32_t i = 0; i < w.stages.len; i++) tensor_add_stage(g->op, w.stages.data[i]);
    return true;
}

bool gradient_write_steps(gradient *g) {
    if (g->op->loops.len && !write_loops(g)) return false;
    split_values(g);
    return true;
}
