// Adjacent left-hand indices taken as one, the last fastest, so that threads deal out their product
// whatever the extents:
//     for v in 0 .. size(V) [lane 32, group 8, block] { for h in 0 .. size(H) [serial] { … } }
//  →  for v.h in 0 .. size(V.H) [lane 32, group 8, block] { let h = mod(v.h, size(H))  let v = quot(v.h,
//  size(H)) … }
#include "axes/axes.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <string.h>

static const char *name_of(const planner *p, tensor_var v) { return plan_index_text(p, v); }

// The list of `collapse` about a stage: it has all of its indices on its left; NULL: none is.
static schedule_cell *collapse_of(const planner *p, const tensor_stage *st, const tensor_var *left,
                                  uint32_t n) {
    schedule_cell *c = schedule_find(p->s, st->id, SCHEDULE_COLLAPSE, TENSOR_ALL);
    const schedule_value *list = c ? schedule_value_of(c, NULL) : NULL;
    for (uint32_t i = 0; list && i < list->nnames; i++) {
        uint32_t k = 0;
        while (k < n && !plan_is_among(p, list->ids[i], left[k])) k++;
        if (k == n) return NULL;
    }
    return c;
}

static void refuse(planner *p, const schedule_cell *c, const char *why, const char *name) {
    diagnostic *d = plan_refuse(p, E0560, c->at, why, name);
    if (d)
        diag_help(
            d,
            "name adjacent loops, outermost first, and distribute their product by the first one");
}

// The loops from `first` on, each alone in the one around it but for lets.
static bool nested(const loop_list *levels, uint32_t first) {
    for (uint32_t i = first; i + 1 < levels->len; i++) {
        const loop_body *b = &levels->data[i]->body;
        for (uint32_t k = 0; k < b->len; k++)
            if (k + 1 < b->len ? b->data[k]->kind != LOOP_LET : b->data[k] != levels->data[i + 1])
                return false;
    }
    return true;
}

static bool whole_range(const planner *p, const loop_node *n) {
    const tensor_node *lo = tensor_node_at(p->op, n->lo), *hi = tensor_node_at(p->op, n->hi);
    bool zero = lo->op == TENSOR_CONST_OP && !lo->imm.i;
    return zero && hi->op == TENSOR_SIZE_OP &&
           (tensor_space)hi->imm.i == p->op->vars.data[n->var].space;
}

static bool fits(planner *p, const schedule_cell *c, const loop_list *levels, uint32_t first) {
    if (!nested(levels, first))
        return refuse(p, c, "a stage stands between the loops that end with '%s'",
                      name_of(p, levels->data[levels->len - 1]->var)),
               false;
    for (uint32_t i = first; i < levels->len; i++) {
        const loop_node *n = levels->data[i];
        if (n->rounds.pad)
            return refuse(p, c, "'%s' is padded, so its points do not follow one another",
                          name_of(p, n->var)),
                   false;
        if (!whole_range(p, n))
            return refuse(p, c, "the points of '%s' are those of a class or of a tile",
                          name_of(p, n->var)),
                   false;
        if (i > first && (n->ndigits || n->rest == LOOP_BLOCK_PLACE || n->rounds.unroll))
            return refuse(p, c, "'%s' is distributed by itself", name_of(p, n->var)), false;
        if (n->rest == LOOP_UNROLL_PLACE)
            return refuse(p, c, "the points of '%s' are all in registers at once",
                          name_of(p, n->var)),
                   false;
        if (n->ndigits && n->digits[0].place == LOOP_VECTOR_PLACE)
            return refuse(p, c, "a vector of '%s' may lie in two rows", name_of(p, n->var)), false;
    }
    return true;
}

static tensor_var product(planner *p, loop_node *const *loops, uint32_t n) {
    textbuf name = textbuf_new(p->arena), space = textbuf_new(p->arena);
    tensor_space *axes = ARENA_ARRAY(p->arena, tensor_space, n);
    tensor_expr size = tensor_int(p->op, 1);
    for (uint32_t i = 0; i < n; i++) {
        axes[i] = p->op->vars.data[loops[i]->var].space;
        const tensor_space_info *s = &p->op->spaces.data[axes[i]];
        textbuf_printf(&name, "%s%s", i ? "." : "", p->op->vars.data[loops[i]->var].name);
        textbuf_printf(&space, "%s%s", i ? "." : "", s->name);
        tensor_expr one = s->kind == SPACE_CONST ? tensor_int(p->op, s->size)
                                                 : tensor_size(p->op, axes[i], NO_SPAN);
        size = tensor_binary(p->op, TENSOR_MUL_OP, size, one, NO_SPAN);
    }
    plan_narrow_product(p, axes, n);
    return tensor_add_var(p->op, name.data, plan_space(p, space.data, size));
}

static void bind(planner *p, loop_body *to, tensor_var merged, loop_node *const *loops,
                 uint32_t n) {
    tensor_expr rest = tensor_cvt(p->op, TENSOR_TYPE(I64), tensor_var_expr(p->op, merged, NO_SPAN),
                                  NO_SPAN);
    for (uint32_t i = n; i-- > 0;) {
        tensor_space s = p->op->vars.data[loops[i]->var].space;
        tensor_expr size = tensor_size(p->op, s, NO_SPAN);
        tensor_expr own = i ? tensor_binary(p->op, TENSOR_MOD_OP, rest, size, NO_SPAN) : rest;
        plan_let(p, to, loops[i]->var, tensor_index(p->op, s, own, NO_SPAN), loops[i]->at);
        if (i) rest = tensor_binary(p->op, TENSOR_QUOT_OP, rest, size, NO_SPAN);
    }
}

static loop_body *merge(planner *p, loop_list *levels, uint32_t first) {
    loop_node *const *loops = levels->data + first;
    loop_node *outer = levels->data[first];
    uint32_t n = levels->len - first;
    loop_body body = {0};
    tensor_var merged = product(p, loops, n);
    bind(p, &body, merged, loops, n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k + (i + 1 < n) < loops[i]->body.len; k++)
            loop_append(p->plan, &body, loops[i]->body.data[k]);
    outer->var = merged;
    outer->hi = tensor_size(p->op, p->op->vars.data[merged].space, NO_SPAN);
    if (outer->rest == LOOP_WHOLE_PLACE) outer->rest = LOOP_SERIAL_PLACE;
    outer->body = body;
    levels->len = first + 1;
    return &outer->body;
}

// All stages of the kernel that stand inside take the same ones as one.
static bool agree(planner *p, const stage_group *g, uint32_t level, uint32_t run) {
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
        uint32_t n = plan_left(p, st, left);
        const schedule_cell *c = n > level ? collapse_of(p, st, left, n) : NULL;
        if (n > level && (!c || c->values[0].nnames != run)) {
            diagnostic *d = plan_refuse(p, E0541, p->s->at,
                                        "'%s' takes indices as one, and '%s' in its loops does not",
                                        plan_deepest(p, g)->name, st->name);
            if (d) diag_help(d, "say it once for both");
            return false;
        }
    }
    return true;
}

loop_body *plan_collapse(planner *p, const stage_group *g, loop_list *levels, uint32_t level,
                         loop_body *at) {
    const tensor_stage *deepest = plan_deepest(p, g);
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, deepest->nleft + 1);
    uint32_t n = plan_left(p, deepest, left);
    schedule_cell *c = collapse_of(p, deepest, left, n);
    const schedule_value *list = c ? &c->values[0] : NULL;
    if (!list || !plan_is_among(p, list->ids[list->nnames - 1], left[level])) return at;
    c->consumed = true;
    for (uint32_t i = 0; i < list->nnames; i++)
        if (level + 1 < list->nnames ||
            !plan_is_among(p, list->ids[i], left[level + 1 + i - list->nnames]))
            return refuse(p, c, "what is taken as one up to '%s' are no loops within one another",
                          name_of(p, left[level])),
                   at;
    if (p->failed || !agree(p, g, level, list->nnames) ||
        !fits(p, c, levels, levels->len - list->nnames))
        return at;
    return list->nnames > 1 ? merge(p, levels, levels->len - list->nnames) : at;
}
