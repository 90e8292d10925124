// Extents of indices, and how wide the numbers are that a stage reads or stores along one.
#include "default/ask/ask.h"
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
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    uint32_t n = plan_left(p, st, left);
    return n > 1 ? default_bytes_along(p, st, left[n - 1]) : 4;
}

int64_t default_row_bytes(const planner *p, const tensor_stage *st) {
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    uint32_t n = plan_left(p, st, left);
    int64_t bytes = default_entry_bytes(p, st);
    for (uint32_t i = 1; i < n && bytes <= 4096; i++) bytes *= default_extent(p, left[i]);
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
