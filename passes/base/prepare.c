// Prepared arrays: maps that are known when the plan is made, offsets of their rows, and new ones
// by a builder.
#include "base/base.h"

#include <string.h>

tensor_space plan_space(planner *p, const char *name, tensor_expr size) {
    for (tensor_space s = 0; s < p->op->spaces.len; s++)
        if (!strcmp(p->op->spaces.data[s].name, name)) return s;
    const tensor_node *n = tensor_node_at(p->op, size);
    tensor_space_info s = {.name = name, .kind = SPACE_EXPR, .expr = size};
    if (n->op == TENSOR_CONST_OP)
        s = (tensor_space_info){.name = name, .kind = SPACE_CONST, .size = n->imm.i};
    return tensor_add_space(p->op, s);
}

tensor_val plan_prepare_blocks(planner *p, prepared_builder b, const tensor_val *args, uint32_t n,
                               int64_t extent, int64_t slots, tensor_space into,
                               tensor_space axis) {
    textbuf name = textbuf_new(p->arena);
    textbuf_puts(&name, prepared_builder_text(b));
    for (uint32_t i = 0; i < n; i++) textbuf_printf(&name, ".%s", p->op->vals.data[args[i]].name);
    if (extent) textbuf_printf(&name, ".%lld", (long long)extent);
    if (slots) textbuf_printf(&name, ".%lld", (long long)slots);
    for (uint32_t i = 0; i < p->plan->prepared.len; i++)
        if (!strcmp(p->op->vals.data[p->plan->prepared.data[i].val].name, name.data))
            return p->plan->prepared.data[i].val;
    tensor_space *axes = ARENA_NEW(p->arena, tensor_space);
    *axes = axis;
    tensor_val *copy = ARENA_ARRAY(p->arena, tensor_val, n);
    memcpy(copy, args, n * sizeof *args);
    tensor_val v = loop_add_val(p->plan,
                                (tensor_val_info){.name = name.data,
                                                  .role = VAL_PREPARED,
                                                  .builder = b,
                                                  .nkeys = n,
                                                  .keys = copy,
                                                  .type = DT_INDEX,
                                                  .into = into,
                                                  .sorted_by = TENSOR_NO_VAL,
                                                  .inplace = TENSOR_NO_VAL,
                                                  .rank = 1,
                                                  .axes = axes},
                                (loop_value){.home = LOOP_MEMORY, .of = TENSOR_NO_VAL});
    VEC_PUSH(
        p->arena, &p->plan->prepared,
        ((loop_prepared){
            .val = v, .builder = b, .nargs = n, .args = copy, .extent = extent, .slots = slots}));
    return v;
}

tensor_val plan_prepare_by(planner *p, prepared_builder b, const tensor_val *args, uint32_t n,
                           int64_t extent, tensor_space into, tensor_space axis) {
    return plan_prepare_blocks(p, b, args, n, extent, 0, into, axis);
}

tensor_val plan_prepare(planner *p, prepared_builder b, const tensor_val *args, uint32_t n,
                        tensor_space into, tensor_space axis) {
    return plan_prepare_by(p, b, args, n, 0, into, axis);
}

static const tensor_stage *plain_stage(const planner *p, tensor_val v) {
    const tensor_stage *found = NULL;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *st = &p->op->stages.data[i];
        for (uint32_t t = 0; t < st->ntargets; t++) {
            if (st->targets[t].val != v) continue;
            if (found || st->reducer != TENSOR_NO_REDUCER || st->loop != TENSOR_NO_LOOP ||
                st->nleft != 1)
                return NULL;
            found = st;
        }
    }
    return found;
}

// Declared, or a guard of the version.
static bool said_sorted(const planner *p, tensor_val v) {
    const tensor_val_info *i = &p->op->vals.data[v];
    bool sorted = i->facts & FACT_SORTED && i->sorted_by == TENSOR_NO_VAL;
    for (uint32_t k = 0; k < p->facts->guards.len && !sorted; k++) {
        const program_guard *g = &p->facts->guards.data[k];
        sorted = g->kind == GUARD_HOLDS && g->holds.len == 1 &&
                 g->holds.data[0].kind == SZ_SORTED && g->holds.data[0].value == (int64_t)v;
    }
    return i->role == VAL_MAP && sorted && !(i->facts & FACT_PARTIAL);
}

bool plan_map_of(planner *p, tensor_val v, plan_map *out) {
    const tensor_val_info i = p->op->vals.data[v];
    if (i.rank != 1 || i.type != DT_INDEX || i.facts & FACT_PREFIX) return false;
    *out = (plan_map){v, said_sorted(p, v), i.axes[0], i.into};
    if (i.role == VAL_MAP || i.role == VAL_CLASSES) return true;
    const tensor_stage *st = i.role == VAL_STAGE ? plain_stage(p, v) : NULL;
    return st && plan_map_of_key(p, st->body[0], st->left[0], out);
}

static tensor_expr size_of(tensor_op *op, tensor_space s) {
    const tensor_space_info i = op->spaces.data[s];
    return i.kind == SPACE_CONST ? tensor_int(op, i.size) : tensor_size(op, s, NO_SPAN);
}

tensor_expr plan_flat_digit(tensor_op *op, tensor_var flat, const tensor_val_info *m, uint32_t at) {
    tensor_expr x = tensor_cvt(op, TENSOR_TYPE(I64), tensor_var_expr(op, flat, NO_SPAN), NO_SPAN),
                inner = 0;
    int64_t known = 1;
    for (uint32_t i = m->rank; --i > at;) {
        const tensor_space_info s = op->spaces.data[m->axes[i]];
        if (s.kind == SPACE_CONST) known *= s.size;
        else if (inner)
            inner = tensor_binary(op, TENSOR_MUL_OP, inner, size_of(op, m->axes[i]), NO_SPAN);
        else inner = size_of(op, m->axes[i]);
    }
    if (inner && known > 1)
        inner = tensor_binary(op, TENSOR_MUL_OP, inner, tensor_int(op, known), NO_SPAN);
    else if (known > 1) inner = tensor_int(op, known);
    if (inner) x = tensor_binary(op, TENSOR_QUOT_OP, x, inner, NO_SPAN);
    if (at) x = tensor_binary(op, TENSOR_MOD_OP, x, size_of(op, m->axes[at]), NO_SPAN);
    return tensor_index(op, m->axes[at], x, NO_SPAN);
}

// All entries of a map of several indices: an index goes through them (tensor/entries.c).
static bool entries_of(planner *p, const tensor_node *load, tensor_var var, plan_map *out) {
    const tensor_val v = (tensor_val)load->imm.i;
    const tensor_val_info i = p->op->vals.data[v];
    bool flat = i.role == VAL_MAP && !(i.facts & FACT_PREFIX);
    for (uint32_t k = 0; k < i.rank && flat; k++)
        flat = load->args[k] == plan_flat_digit(p->op, var, &i, k);
    if (!flat) return false;
    const tensor_space all = p->op->vars.data[var].space;
    *out = (plan_map){plan_prepare_by(p, PREPARED_COLUMN, &v, 1, 1, i.into, all), false, all,
                      i.into};
    return true;
}

static bool constant_of(const planner *p, tensor_expr e, int64_t *out) {
    const tensor_node *n = tensor_node_at(p->op, e);
    while (n->op == TENSOR_INDEX_OP || n->op == TENSOR_CVT_OP)
        n = tensor_node_at(p->op, n->args[0]);
    *out = n->imm.i;
    return n->op == TENSOR_CONST_OP;
}

// face[f, 2]: of a map of several indices all but the first one are numbers.
static bool column_of(planner *p, const tensor_node *load, plan_map *out) {
    const tensor_val v = (tensor_val)load->imm.i;
    const tensor_val_info i = p->op->vals.data[v];
    int64_t step = 1, first = 0, at;
    if (i.role != VAL_MAP || i.facts & FACT_PREFIX) return false;
    for (uint32_t k = i.rank; k-- > 1;) {
        const tensor_space_info *s = &p->op->spaces.data[i.axes[k]];
        if (s->kind != SPACE_CONST || !constant_of(p, load->args[k], &at)) return false;
        if (at < 0 || at >= s->size || __builtin_mul_overflow(step, s->size, &step)) return false;
        first += at * (step / s->size);
    }
    tensor_val column = plan_prepare_blocks(p, PREPARED_COLUMN, &v, 1, step, first, i.into,
                                            i.axes[0]);
    *out = (plan_map){column, false, i.axes[0], i.into};
    return true;
}

bool plan_map_of_key(planner *p, tensor_expr key, tensor_var var, plan_map *out) {
    const tensor_node x = *tensor_node_at(p->op, key);
    if (x.op != TENSOR_LOAD_OP || !x.nargs) return false;
    const tensor_node *arg = tensor_node_at(p->op, x.args[0]);
    plan_map outer, inner;
    if (x.nargs > 1 && entries_of(p, &x, var, out)) return true;
    if (!(x.nargs == 1 ? plan_map_of(p, (tensor_val)x.imm.i, &outer) : column_of(p, &x, &outer)))
        return false;
    if (arg->op == TENSOR_VAR_OP && (tensor_var)arg->imm.i == var) return *out = outer, true;
    if (!plan_map_of_key(p, x.args[0], var, &inner)) return false;
    tensor_val args[] = {inner.map, outer.map};
    tensor_val v = plan_prepare(p, PREPARED_COMPOSE, args, 2, outer.into, inner.domain);
    *out = (plan_map){v, false, inner.domain, outer.into};
    return true;
}

tensor_space plan_ends_of(planner *p, tensor_space s) {
    tensor_expr size = tensor_binary(p->op, TENSOR_ADD_OP, tensor_size(p->op, s, NO_SPAN),
                                     tensor_int(p->op, 1), NO_SPAN);
    return plan_space(p, arena_printf(p->arena, "%s.ends", p->op->spaces.data[s].name), size);
}

tensor_val plan_offsets(planner *p, const plan_map *m) {
    return plan_prepare(p, PREPARED_OFFSETS, &m->map, 1, m->domain, plan_ends_of(p, m->into));
}

tensor_val plan_window_starts(planner *p, tensor_val places, int64_t extent, tensor_space windows) {
    return plan_prepare_by(p, PREPARED_WINDOW_STARTS, &places, 1, extent,
                           p->op->vals.data[places].axes[0], plan_ends_of(p, windows));
}

tensor_expr plan_wide(planner *p, tensor_expr index) {
    return tensor_cvt(p->op, TENSOR_TYPE(I64), index, NO_SPAN);
}

tensor_expr plan_offset_at(planner *p, tensor_val offsets, tensor_expr key, int64_t plus) {
    tensor_expr at = plan_wide(p, key);
    if (plus) at = tensor_binary(p->op, TENSOR_ADD_OP, at, tensor_int(p->op, plus), NO_SPAN);
    tensor_space axis = p->op->vals.data[offsets].axes[0];
    at = tensor_index(p->op, axis, at, NO_SPAN);
    return tensor_load(p->op, offsets, &at, 1, NO_SPAN);
}
