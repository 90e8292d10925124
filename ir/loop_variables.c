// Each stage of a plan has variables of its own, as a loop binds them for one stage and lets for
// others:
//     a.max[v, h] = …    a.sum[v, h] = … a.max[v, h] …   →   a.sum[v', h'] = … a.max[v', h'] …
#include "loop_internal.h"

typedef struct {
    tensor_op *op;
    tensor_var *to;      // per variable there was: what the stage has instead
    uint32_t nexprs;     // there were
    bool *needed;        // of those, by the stage at hand
    tensor_expr *copy;   // of those
} renaming;

static void need(renaming *r, const tensor_expr *e, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (e[i] < r->nexprs) r->needed[e[i]] = true;
}

static void need_stage(renaming *r, const tensor_stage *s) {
    for (uint32_t i = 0; i < s->ntargets; i++) need(r, s->targets[i].index, s->targets[i].rank);
    for (uint32_t i = 0; i < s->nkeys; i++)
        need(r, (tensor_expr[]){s->keys[i].lhs, s->keys[i].rhs}, 2);
    need(r, s->body, s->nbody);
    need(r, s->filters, s->nfilters);
    need(r, s->orelse, s->nelse);
    for (tensor_expr e = r->nexprs; e-- > 1;)   // users come after their arguments
        if (r->needed[e]) need(r, tensor_node_at(r->op, e)->args, tensor_node_at(r->op, e)->nargs);
}

static void copy_needed(renaming *r, arena *a) {
    for (tensor_expr e = 1; e < r->nexprs; e++) {
        r->copy[e] = e;
        if (!r->needed[e]) continue;
        tensor_node n = *tensor_node_at(r->op, e);
        tensor_expr *args = ARENA_ARRAY(a, tensor_expr, n.nargs + 1u);
        bool same = n.op != TENSOR_VAR_OP;
        for (uint32_t i = 0; i < n.nargs; i++) {
            args[i] = r->copy[n.args[i]];
            same = same && args[i] == n.args[i];
        }
        n.args = args;
        if (n.op == TENSOR_VAR_OP) n.imm.i = r->to[n.imm.i];
        if (!same) r->copy[e] = tensor_node_new(r->op, n);
    }
}

static const tensor_expr *copies(const renaming *r, const tensor_expr *e, uint32_t n) {
    tensor_expr *out = ARENA_ARRAY(r->op->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++) out[i] = r->copy[e[i]];
    return out;
}

static const tensor_var *renamed(const renaming *r, const tensor_var *vars, uint32_t n) {
    tensor_var *out = ARENA_ARRAY(r->op->arena, tensor_var, n + 1);
    for (uint32_t i = 0; i < n; i++) out[i] = r->to[vars[i]];
    return out;
}

static void rename_stage(renaming *r, tensor_stage *s) {
    tensor_target *targets = ARENA_ARRAY(r->op->arena, tensor_target, s->ntargets + 1);
    tensor_key *keys = ARENA_ARRAY(r->op->arena, tensor_key, s->nkeys + 1);
    for (uint32_t i = 0; i < s->ntargets; i++) {
        targets[i] = s->targets[i];
        targets[i].index = copies(r, s->targets[i].index, s->targets[i].rank);
    }
    for (uint32_t i = 0; i < s->nkeys; i++)
        keys[i] = (tensor_key){r->copy[s->keys[i].lhs], r->copy[s->keys[i].rhs]};
    s->targets = targets;
    s->keys = keys;
    s->left = renamed(r, s->left, s->nleft);
    s->bound = renamed(r, s->bound, s->nbound);
    s->body = copies(r, s->body, s->nbody);
    s->filters = copies(r, s->filters, s->nfilters);
    s->orelse = copies(r, s->orelse, s->nelse);
}

// Whether the stage has variables that an earlier one had: it gets namesakes of those.
static bool take_own(tensor_op *op, const tensor_stage *s, bool *taken, tensor_var *to) {
    bool changed = false;
    for (uint32_t i = 0; i < s->nleft + s->nbound; i++) {
        tensor_var v = i < s->nleft ? s->left[i] : s->bound[i - s->nleft];
        if (s->loop != TENSOR_NO_LOOP && op->loops.data[s->loop].step == v) continue;
        if (taken[v]) to[v] = tensor_add_var_of(op, v, op->vars.data[v].name);
        changed = changed || taken[v];
        taken[v] = true;
    }
    return changed;
}

void loop_own_variables(tensor_op *op) {
    arena *scratch = arena_new();
    uint32_t nvars = op->vars.len;
    bool *taken = ARENA_ARRAY(scratch, bool, nvars);
    for (uint32_t i = 0; i < op->stages.len; i++) {
        renaming r = {
            .op = op, .nexprs = op->exprs.len, .to = ARENA_ARRAY(scratch, tensor_var, nvars)};
        for (tensor_var v = 0; v < nvars; v++) r.to[v] = v;
        if (!take_own(op, &op->stages.data[i], taken, r.to)) continue;
        r.needed = ARENA_ARRAY(scratch, bool, r.nexprs);
        r.copy = ARENA_ARRAY(scratch, tensor_expr, r.nexprs);
        need_stage(&r, &op->stages.data[i]);
        copy_needed(&r, scratch);
        rename_stage(&r, &op->stages.data[i]);
    }
    arena_free(scratch);
}
