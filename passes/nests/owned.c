// Indices other than rows whose points the blocks of a fused kernel share out, such as heads: each
// block owns some rows and some points of the index, and all its stages stay within both.
//     fuse s, a, y at v;  block v 4;  block h 1
//         →  for v.block … { for h.block … { phase { for e … for h … } phase { for v … } } }
#include "nests/nests.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "axes/axes.h"

const plan_owned *plan_owned_index(const owned_list *all, tensor_var v) {
    for (uint32_t i = 0; all && i < all->len; i++)
        for (uint32_t k = 0; k < all->data[i].vars.len; k++)
            if (all->data[i].vars.data[k] == v) return &all->data[i];
    return NULL;
}

// The index of a stage, besides its rows, that blocks share out and that is of a space;
// UINT32_MAX: it has none.
static uint32_t shared_out(fusion *f, const tensor_stage *st, tensor_space of, index_cut *cut) {
    for (uint32_t i = 1; i < st->nleft; i++) {
        if (f->p->op->vars.data[st->left[i]].space != of ||
            plan_owned_index(&f->owned, st->left[i]))
            continue;
        *cut = plan_cut(f->p, st, st->left[i], false);
        if (cut->block) return i;
    }
    return UINT32_MAX;
}

static bool has_owned(const fusion *f, const tensor_stage *st, uint32_t which) {
    bool has = false;
    for (uint32_t i = 0; i < st->nleft; i++)
        has |= plan_owned_index(&f->owned, st->left[i]) == &f->owned.data[which];
    return has;
}

static bool refuse_missing(fusion *f, const plan_owned *o, const tensor_stage *st) {
    const char *name = plan_index_text(f->p, o->vars.data[0]);
    bool has = false;
    for (uint32_t i = 1; i < st->nleft; i++)
        has |= f->p->op->vars.data[st->left[i]].space == o->space;
    diagnostic *d = plan_refuse(
        f->p, E0554, o->at,
        has ? "'%s' is distributed over blocks, and not for '%s', which is fused with it"
            : "'%s' is distributed over blocks, and '%s', which is fused with it, "
              "has no such index",
        name, st->name);
    if (d) diag_note(d, st->at, "'%s'", st->name);
    if (d && has)
        diag_help(d, "say so for '%s' too: `block %s %lld`", st->name, name, (long long)o->points);
    if (d)
        diag_help(d, "%sleave '%s' to the threads of a block: `block %s none`", has ? "or " : "",
                  name, name);
    return false;
}

static bool refuse_other(fusion *f, const plan_owned *o, const index_cut *c) {
    diagnostic *d = plan_refuse(f->p, E0541, c->cell[SCHEDULE_BLOCK]->at,
                                "a block owns %lld points of '%s' in '%s' and %lld in another "
                                "fused stage",
                                (long long)c->block, plan_index_text(f->p, c->var), c->stage->name,
                                (long long)o->points);
    if (d) diag_note(d, o->at, "the other statement");
    if (d) diag_help(d, "say the same number for both");
    return false;
}

// ---- Reads --------------------------------------------------------------------------------------
typedef struct {
    fusion *f;
    const tensor_stage *writer, *reader;
    tensor_var index;   // of the writer
    const plan_owned *owned;
} owned_read;

static bool is_owned(const owned_read *r, tensor_expr index) {
    const tensor_node *n = tensor_node_at(r->f->p->op, index);
    if (n->op != TENSOR_VAR_OP) return false;
    for (uint32_t i = 0; i < r->reader->nleft; i++)
        if (r->reader->left[i] == (tensor_var)n->imm.i)
            return plan_owned_index(&r->f->owned, r->reader->left[i]) == r->owned;
    return false;
}

static bool stays_within(void *user, const tensor_node *load) {
    const owned_read *r = user;
    for (uint32_t t = 0; t < r->writer->ntargets; t++) {
        const tensor_target *to = &r->writer->targets[t];
        for (uint32_t a = 0; a < to->rank && to->val == (tensor_val)load->imm.i; a++) {
            const tensor_node *n = tensor_node_at(r->f->p->op, to->index[a]);
            if (n->op == TENSOR_VAR_OP && (tensor_var)n->imm.i == r->index &&
                !is_owned(r, load->args[a]))
                return false;
        }
    }
    return true;
}

// What a block computes of the index is read by that block alone.
static bool check_read(owned_read *r) {
    if (plan_loads(r->f->p, r->reader, stays_within, r)) return true;
    const char *name = plan_index_text(r->f->p, r->index);
    diagnostic *d = plan_refuse(
        r->f->p, E0554, r->owned->at,
        "'%s' is distributed over blocks, and '%s' reads '%s' at points of it that other blocks "
        "compute",
        name, r->reader->name, r->writer->name);
    if (d) diag_note(d, r->reader->at, "it reads '%s' here", r->writer->name);
    if (d) diag_help(d, "leave '%s' to the threads of a block: `block %s none`", name, name);
    return false;
}

static bool check_reads(fusion *f, uint32_t which) {
    const plan_owned *o = &f->owned.data[which];
    for (uint32_t i = 0; i < f->stages.len; i++)
        for (uint32_t k = 0; k < f->stages.len; k++) {
            owned_read r = {f, plan_stage(f->p, f->stages.data[i]),
                            plan_stage(f->p, f->stages.data[k]), o->vars.data[i], o};
            if (i != k && !check_read(&r)) return false;
        }
    return true;
}

// ---- All of a kernel ----------------------------------------------------------------------------
static bool find_in_all(fusion *f, const index_cut *first) {
    plan_owned o = {.space = f->p->op->vars.data[first->var].space,
                    .points = first->block,
                    .at = first->cell[SCHEDULE_BLOCK]->at};
    for (uint32_t i = 0; i < f->stages.len; i++) {
        const tensor_stage *st = plan_stage(f->p, f->stages.data[i]);
        index_cut c = *first;
        uint32_t at = st == first->stage ? 0 : shared_out(f, st, o.space, &c);
        if (!o.vars.len && at == UINT32_MAX) VEC_PUSH(f->p->arena, &o.vars, first->var);
        if (at == UINT32_MAX) return refuse_missing(f, &o, st);
        VEC_PUSH(f->p->arena, &o.vars, c.var);
        if (c.block != o.points) return refuse_other(f, &o, &c);
    }
    VEC_PUSH(f->p->arena, &f->owned, o);
    return check_reads(f, f->owned.len - 1);
}

bool plan_find_owned(fusion *f) {
    const tensor_stage *st = plan_deepest(f->p, &f->stages);
    for (uint32_t i = 1; i < st->nleft; i++) {
        index_cut c = plan_cut(f->p, st, st->left[i], false);
        if (c.block && !plan_owned_index(&f->owned, st->left[i]) && !find_in_all(f, &c))
            return false;
    }
    return true;
}

// Stages made since, such as copies of what others read in registers, have indices of their own.
void plan_own_made(fusion *f) {
    for (uint32_t o = 0; o < f->owned.len; o++)
        for (uint32_t i = 0; i < f->phases.len; i++)
            for (uint32_t k = 0; k < f->phases.data[i].group.len; k++) {
                const tensor_stage *st = plan_stage(f->p, f->phases.data[i].group.data[k]);
                index_cut c;
                uint32_t at = has_owned(f, st, o) || f->phases.data[i].tile
                                  ? UINT32_MAX
                                  : shared_out(f, st, f->owned.data[o].space, &c);
                if (at != UINT32_MAX) VEC_PUSH(f->p->arena, &f->owned.data[o].vars, c.var);
            }
}

loop_body *plan_open_owned(fusion *f, loop_body *to) {
    planner *p = f->p;
    for (uint32_t i = 0; i < f->owned.len; i++) {
        plan_owned *o = &f->owned.data[i];
        tensor_expr points = tensor_int(p->op, o->points),
                    size = tensor_size(p->op, o->space, NO_SPAN);
        tensor_expr up = tensor_binary(p->op, TENSOR_ADD_OP, size, tensor_int(p->op, o->points - 1),
                                       NO_SPAN);
        const char *name = p->op->spaces.data[o->space].name;
        tensor_space s = plan_space(p,
                                    arena_printf(p->arena, "%s.by%lld", name, (long long)o->points),
                                    tensor_binary(p->op, TENSOR_QUOT_OP, up, points, NO_SPAN));
        loop_node *loop = loop_node_new(p->plan, LOOP_FOR, o->at);
        loop->var = tensor_add_var(p->op, arena_printf(p->arena, "%s.block", name), s);
        loop->lo = tensor_int(p->op, 0);
        loop->hi = tensor_size(p->op, s, NO_SPAN);
        loop->rest = LOOP_BLOCK_PLACE;
        loop_append(p->plan, to, loop);
        to = &loop->body;
        tensor_expr b = tensor_cvt(p->op, TENSOR_TYPE(I64),
                                   tensor_var_expr(p->op, loop->var, NO_SPAN), NO_SPAN);
        o->lo = tensor_binary(p->op, TENSOR_MUL_OP, b, points, NO_SPAN);
        o->hi = tensor_binary(p->op, TENSOR_MIN_OP, size,
                              tensor_binary(p->op, TENSOR_ADD_OP, o->lo, points, NO_SPAN), NO_SPAN);
    }
    return to;
}
