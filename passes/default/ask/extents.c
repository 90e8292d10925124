// Extents of indices, and how wide the numbers are that a stage reads or stores along one.
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "base/base.h"
#include "kernels/kernels.h"

int64_t default_extent(const planner *p, tensor_var v) {
    const tensor_space_info *s = &p->op->spaces.data[p->op->vars.data[v].space];
    return s->kind == SPACE_CONST ? s->size : 0;
}

// Fewer than the points of `of`: dense, or what maps lead to from those alone, as to classes of
// nodes.
bool default_few(const planner *p, tensor_var v, tensor_var of) {
    tensor_space s = p->op->vars.data[v].space, from = p->op->vars.data[of].space;
    bool few = true;
    for (tensor_val x = 0; x < p->op->vals.len && few; x++) {
        const tensor_val_info *i = &p->op->vals.data[x];
        if (i->type != DT_INDEX || i->role == VAL_PREPARED) continue;
        few = !(i->rank && i->axes[0] == s) &&
              !(i->into == s && (i->rank != 1 || i->axes[0] != from || from == s));
    }
    return few || plan_dense(p, v);
}

// ---- Heads --------------------------------------------------------------------------------------
typedef struct {
    const planner *p;
    tensor_var outer, inner;
    bool met;   // something is loaded along both, one inside the other
} nested_rows;

static bool see_nested(void *user, const tensor_node *load) {
    nested_rows *r = user;
    for (uint32_t a = 0; a + 1 < load->nargs; a++) {
        const tensor_node *x = tensor_node_at(r->p->op, load->args[a]),
                          *y = tensor_node_at(r->p->op, load->args[a + 1]);
        r->met |= x->op == TENSOR_VAR_OP && (tensor_var)x->imm.i == r->outer &&
                  y->op == TENSOR_VAR_OP && (tensor_var)y->imm.i == r->inner;
    }
    return true;
}

// Two parts of a number, three coordinates: what they are of has features, as if they were one.
static bool is_part(const tensor_op *op, tensor_space s) {
    return op->spaces.data[s].kind == SPACE_CONST &&
           op->spaces.data[s].size <= DEFAULT_NUMBER_PARTS;
}

static bool has_rows_along(const planner *p, const tensor_stage *st, tensor_space s) {
    for (uint32_t i = 1; i + 1 < st->nleft; i++) {
        if (p->op->vars.data[st->left[i]].space != s ||
            is_part(p->op, p->op->vars.data[st->left[st->nleft - 1]].space))
            continue;
        nested_rows r = {p, st->left[i], st->left[st->nleft - 1], false};
        plan_loads(p, st, see_nested, &r);
        if (r.met) return true;
    }
    return false;
}

// ---- What is gathered ---------------------------------------------------------------------------
typedef struct {
    const planner *p;
    tensor_space of;
    bool of_it, of_others;   // along axes whose extents are not known
} gathered_rows;

static bool see_gathered(void *user, const tensor_node *load) {
    gathered_rows *g = user;
    const tensor_op *op = g->p->op;
    const tensor_node *last = load->nargs > 1 ? tensor_node_at(op, load->args[load->nargs - 1])
                                              : NULL;
    if (!last || last->op != TENSOR_VAR_OP) return true;
    const tensor_space s = op->vars.data[last->imm.i].space;
    for (uint32_t a = 0; a + 1 < load->nargs; a++)
        if (tensor_node_at(op, load->args[a])->op == TENSOR_LOAD_OP) {
            g->of_it |= s == g->of;
            g->of_others |= s != g->of && op->spaces.data[s].kind != SPACE_CONST;
        }
    return true;
}

// Neither gathered nor summed by rows, where others are.
static bool is_beside(const planner *p, tensor_space s) {
    gathered_rows g = {p, s, false, false};
    for (uint32_t i = 0; i < p->op->stages.len && !g.of_it; i++) {
        const tensor_stage *st = plan_stage(p, i);
        g.of_it = st->nkeys && st->nleft > 1 &&
                  p->op->vars.data[st->left[st->nleft - 1]].space == s;
        if (!g.of_it && tensor_loads_of(p->op, st)->gathers) plan_loads(p, st, see_gathered, &g);
    }
    return g.of_others && !g.of_it;
}

bool default_is_side(const planner *p, tensor_var v) {
    tensor_space s = p->op->vars.data[v].space;
    if (p->op->spaces.data[s].kind == SPACE_CONST || !plan_dense(p, v)) return false;
    if (is_beside(p, s)) return true;
    for (uint32_t i = 0; i < p->op->stages.len; i++)
        if (has_rows_along(p, plan_stage(p, i), s)) return true;
    return false;
}

// ---- Rows ---------------------------------------------------------------------------------------
typedef struct {
    const planner *p;
    tensor_var v;
    bool first, inside;   // the index of rows, of those of unknown extents; an index inside them
} leading;

static bool see_place(void *user, const tensor_node *load) {
    leading *l = user;
    bool behind = false;   // an index of unknown extent
    for (uint32_t a = 0; a < load->nargs; a++) {
        const tensor_node *at = tensor_node_at(l->p->op, load->args[a]);
        if (plan_mentions(l->p, load->args[a], l->v)) *(behind ? &l->inside : &l->first) = true;
        behind |= at->op == TENSOR_LOAD_OP ||
                  (at->op == TENSOR_VAR_OP && !default_extent(l->p, (tensor_var)at->imm.i));
    }
    return true;
}

bool default_leads(const planner *p, const tensor_stage *st, tensor_var v) {
    leading l = {p, v, false, false};
    plan_loads(p, st, see_place, &l);
    if (!l.first || l.inside) return false;
    for (uint32_t i = 0; i < st->nleft + st->nbound; i++) {
        const tensor_var other = i < st->nleft ? st->left[i] : st->bound[i - st->nleft];
        leading o = {p, other, false, false};
        if (other == v || default_extent(p, other)) continue;
        plan_loads(p, st, see_place, &o);
        if (o.first && !o.inside) return false;
    }
    return true;
}

// ---- Accesses along an index --------------------------------------------------------------------
static void see(default_access *w, tensor_val val, const tensor_expr *index, uint32_t rank) {
    if (!rank) return;
    const tensor_node *n = tensor_node_at(w->p->op, index[rank - 1]);
    if (n->op != TENSOR_VAR_OP || (tensor_var)n->imm.i != w->v) return;
    const tensor_val_info *i = &w->p->op->vals.data[val];
    uint32_t bytes = i->type == DT_INDEX ? w->p->facts->index_bits / 8 : ir_dtype_bytes(i->type);
    w->last = true;
    if (bytes > w->bytes) w->bytes = bytes;
}

static bool see_load(void *user, const tensor_node *load) {
    see(user, (tensor_val)load->imm.i, load->args, load->nargs);
    return true;
}

default_access default_widest_access(const planner *p, const tensor_stage *st, tensor_var v) {
    default_access w = {p, v, 0, false};
    plan_loads(p, st, see_load, &w);
    for (uint32_t t = 0; t < st->ntargets; t++)
        see(&w, st->targets[t].val, st->targets[t].index, st->targets[t].rank);
    return w;
}

// Is v the last index of something the stage loads?
bool default_loaded_along(const planner *p, const tensor_stage *st, tensor_var v) {
    default_access w = {p, v, 0, false};
    plan_loads(p, st, see_load, &w);
    return w.last;
}

int64_t default_bytes_along(const planner *p, const tensor_stage *st, tensor_var v) {
    default_access w = {p, v, 0, false};
    plan_loads(p, st, see_load, &w);
    return w.last ? w.bytes : 4;
}

int64_t default_entry_bytes(const planner *p, const tensor_stage *st) {
    const default_left left = default_left_of(p, st);
    return left.n > 1 ? default_bytes_along(p, st, left.at[left.n - 1]) : 4;
}

int64_t default_row_bytes(const planner *p, const tensor_stage *st) {
    const default_left left = default_left_of(p, st);
    int64_t bytes = default_entry_bytes(p, st);
    for (uint32_t i = 1; i < left.n && bytes <= 4096; i++) bytes *= default_extent(p, left.at[i]);
    return bytes;
}

// ---- Powers of two ------------------------------------------------------------------------------
int64_t default_power_below(int64_t n) {
    int64_t p = 1;
    while (p * 2 <= n) p *= 2;
    return p;
}

int64_t default_power_above(int64_t n) {
    int64_t p = default_power_below(n);
    return p < n ? p * 2 : p;
}
