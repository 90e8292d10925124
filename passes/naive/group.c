// Stages that share a kernel: over the same points, where a later one reads what an earlier one
// writes only at its own point, and writes nothing that an earlier one reads elsewhere. Each thread
// then meets only what it wrote itself.
//     a.max[v, h] = max …    a.sum[v, h] = sum … a.max(v, h) …   →  one kernel over (v, h)
#include "naive/naive.h"

static bool same_points(const naive *n, const tensor_stage *a, const tensor_stage *b) {
    tensor_space *x = ARENA_ARRAY(n->arena, tensor_space, a->nleft + 1),
                 *y = ARENA_ARRAY(n->arena, tensor_space, b->nleft + 1);
    uint32_t count = stage_spaces(n, a, x);
    if (count != stage_spaces(n, b, y)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (x[i] != y[i]) return false;
    return true;
}

// The place of a variable among the left ones of its stage; UINT32_MAX: none. Steps stand for
// themselves.
static uint32_t place(const tensor_stage *st, tensor_var v) {
    for (uint32_t i = 0; i < st->nleft; i++)
        if (st->left[i] == v) return i;
    return UINT32_MAX;
}

// Does the load name, on every axis where the target has a variable, that same variable of its own
// stage?
static bool own_point(const naive *n, const tensor_stage *writer, const tensor_target *t,
                      const tensor_stage *reader, const tensor_node *load) {
    for (uint32_t i = 0; i < t->rank; i++) {
        const tensor_node *w = tensor_node_at(n->op, t->index[i]),
                          *r = tensor_node_at(n->op, load->args[i]);
        if (w->op != TENSOR_VAR_OP) continue;
        if (r->op != TENSOR_VAR_OP || place(writer, (tensor_var)w->imm.i) == UINT32_MAX)
            return false;
        if (place(writer, (tensor_var)w->imm.i) != place(reader, (tensor_var)r->imm.i))
            return false;
    }
    return true;
}

static bool shares(const naive *n, tensor_val a, tensor_val b) {
    return a == b || n->op->vals.data[a].inplace == b || n->op->vals.data[b].inplace == a;
}

typedef struct {
    const naive *n;
    const tensor_stage *writer,
        *reader;   // reader NULL: inside a stage computed where it is read, whose points are others
    // per expression: the number of the check that met it last; inside such a stage
    uint32_t *seen, *inside;
    uint32_t number;
} check;

static bool load_safe(const check *c, const tensor_node *load) {
    for (uint32_t t = 0; t < c->writer->ntargets; t++) {
        const tensor_target *to = &c->writer->targets[t];
        if (shares(c->n, to->val, (tensor_val)load->imm.i) &&
            (!c->reader || !own_point(c->n, c->writer, to, c->reader, load)))
            return false;
    }
    return true;
}

static bool expr_safe(const check *c, tensor_expr e) {
    if (c->seen[e] == c->number) return true;
    c->seen[e] = c->number;
    const tensor_node *x = tensor_node_at(c->n->op, e);
    if (x->op == TENSOR_LOAD_OP && !load_safe(c, x)) return false;
    const tensor_stage *inlined = x->op == TENSOR_LOAD_OP ? c->n->inlined[x->imm.i] : NULL;
    if (inlined) {
        check inside = {c->n, c->writer, NULL, c->inside, c->inside, c->number};
        if (!expr_safe(&inside, inlined->body[0])) return false;
    }
    for (uint32_t i = 0; i < x->nargs; i++)
        if (!expr_safe(c, x->args[i])) return false;
    return true;
}

// Every read of st, of what the writer writes, is at its own point.
static bool reads_safe(naive *n, const tensor_stage *writer, const tensor_stage *st) {
    check c = {n, writer, st, n->checked, n->checked_inside, ++n->checks};
    bool safe = true;
    for (uint32_t i = 0; i < st->nbody; i++) safe = safe && expr_safe(&c, st->body[i]);
    for (uint32_t i = 0; i < st->nfilters; i++) safe = safe && expr_safe(&c, st->filters[i]);
    for (uint32_t i = 0; i < st->nelse; i++) safe = safe && expr_safe(&c, st->orelse[i]);
    for (uint32_t i = 0; i < st->nkeys; i++)
        safe = safe && expr_safe(&c, st->keys[i].lhs) && expr_safe(&c, st->keys[i].rhs);
    return safe;
}

bool stage_joins(naive *n, const tensor_stage *const *stages, uint32_t nstages,
                 const tensor_stage *st) {
    for (uint32_t i = 0; i < nstages; i++)
        if (!same_points(n, stages[i], st) || !reads_safe(n, stages[i], st) ||
            !reads_safe(n, st, stages[i]))
            return false;
    return true;
}
