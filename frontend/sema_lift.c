// Reductions inside expressions become stages of their own (normal form N1), over the variables
// they use. Under a key m[e] == v the variable v is m[e]: a stage over both would be a plane, so v
// is replaced (ir: "determined"). Stages that compute the same are made once.
#include "sema_expr.h"
#include <string.h>

// ---- Stages that are the same but for the names of their variables ------------------------------
typedef struct {
    tensor_op *op;
    tensor_var *to;   // of the first's variables: the second's, or UINT32_MAX
    uint32_t budget;
} renaming;

static bool same_expr(renaming *r, tensor_expr a, tensor_expr b) {
    const tensor_node *x = tensor_node_at(r->op, a), *y = tensor_node_at(r->op, b);
    if (!r->budget) return false;
    r->budget--;
    if (x->op != y->op || x->nargs != y->nargs || !tensor_type_equal(x->type, y->type) ||
        x->imm2 != y->imm2)
        return false;
    if (x->op == TENSOR_VAR_OP)
        return r->to[x->imm.i] == UINT32_MAX ? a == b : r->to[x->imm.i] == (tensor_var)y->imm.i;
    if (x->imm.i != y->imm.i) return false;
    for (uint32_t i = 0; i < x->nargs; i++)
        if (!same_expr(r, x->args[i], y->args[i])) return false;
    return true;
}

static bool same_exprs(renaming *r, const tensor_expr *a, uint32_t na, const tensor_expr *b,
                       uint32_t nb) {
    if (na != nb) return false;
    for (uint32_t i = 0; i < na; i++)
        if (!same_expr(r, a[i], b[i])) return false;
    return true;
}

static bool same_vars(renaming *r, const tensor_var *a, uint32_t na, const tensor_var *b,
                      uint32_t nb) {
    if (na != nb) return false;
    for (uint32_t i = 0; i < na; i++) {
        if (r->op->vars.data[a[i]].space != r->op->vars.data[b[i]].space) return false;
        r->to[a[i]] = b[i];
    }
    return true;
}

static bool same_parts(renaming *r, const tensor_stage *a, const tensor_stage *b) {
    if (!same_vars(r, a->left, a->nleft, b->left, b->nleft) ||
        !same_vars(r, a->bound, a->nbound, b->bound, b->nbound))
        return false;
    for (uint32_t i = 0; i < a->nkeys; i++)
        if (!same_expr(r, a->keys[i].lhs, b->keys[i].lhs) ||
            !same_expr(r, a->keys[i].rhs, b->keys[i].rhs))
            return false;
    return same_exprs(r, a->filters, a->nfilters, b->filters, b->nfilters) &&
           same_exprs(r, a->body, a->nbody, b->body, b->nbody) &&
           same_exprs(r, a->orelse, a->nelse, b->orelse, b->nelse);
}

static bool same_stage(lowering *L, const tensor_stage *a, const tensor_stage *b) {
    if (a->reducer != b->reducer || a->nkeys != b->nkeys || a->loop != b->loop ||
        a->ties != b->ties)
        return false;
    while (L->walk.renamed.len < L->op->vars.len) VEC_PUSH(L->arena, &L->walk.renamed, UINT32_MAX);
    renaming r = {L->op, L->walk.renamed.data, 4096};
    bool same = same_parts(&r, a, b);
    for (uint32_t i = 0; i < a->nleft; i++) r.to[a->left[i]] = UINT32_MAX;
    for (uint32_t i = 0; i < a->nbound; i++) r.to[a->bound[i]] = UINT32_MAX;
    return same;
}

// ---- Lifting ------------------------------------------------------------------------------------
static void mark_vars(lowering *L, const tensor_stage *st, uint8_t *used) {
    for (uint32_t i = 0; i < st->nkeys; i++) {
        expr_vars(L, &st->keys[i].lhs, 1, used);
        expr_vars(L, &st->keys[i].rhs, 1, used);
    }
    expr_vars(L, st->filters, st->nfilters, used);
    expr_vars(L, st->body, st->nbody, used);
    expr_vars(L, st->orelse, st->nelse, used);
    for (uint32_t i = 0; i < st->nbound; i++) used[st->bound[i]] = 0;
}

// Where an interned name stands among those taken, or would.
static name_slot *name_at(const name_set *s, const char *name) {
    uint32_t i = (uint32_t)(((uintptr_t)name >> 3) * 0x9e3779b1u) & (s->size - 1);
    while (s->slots[i].name && s->slots[i].name != name) i = (i + 1) & (s->size - 1);
    return &s->slots[i];
}

static void name_add(arena *a, name_set *s, const char *name) {
    if (s->used * 2 >= s->size) {
        name_set grown = {.size = s->size ? s->size * 2 : 64, .values = s->values, .used = s->used};
        grown.slots = ARENA_ARRAY(a, name_slot, grown.size);
        for (uint32_t i = 0; i < s->size; i++)
            if (s->slots[i].name) *name_at(&grown, s->slots[i].name) = s->slots[i];
        *s = grown;
    }
    name_slot *slot = name_at(s, name);
    s->used += !slot->name;
    if (!slot->name) *slot = (name_slot){name, 2};
}

const char *free_name(lowering *L, const char *base) {
    name_set *s = &L->taken;
    for (; s->values < L->op->vals.len; s->values++)
        name_add(L->arena, s, intern(L->s->names, L->op->vals.data[s->values].name));
    base = intern(L->s->names, base);
    if (!s->size || !name_at(s, base)->name) return base;
    for (uint32_t *n = &name_at(s, base)->number;; ++*n) {
        const char *name = intern(L->s->names, arena_printf(L->arena, "%s_%u", base, *n));
        if (!name_at(s, name)->name) return name;
    }
}

static bool is_step(const lowering *L, tensor_var v) {
    return L->loop != TENSOR_NO_LOOP && L->op->loops.data[L->loop].step == v;
}

// The stage with fresh values as targets over `left`, or an earlier one that computes the same; its
// targets.
static const tensor_stage *stage_lifted(lowering *L, const reduction *r, const tensor_var *left,
                                        uint32_t nleft) {
    tensor_stage st = r->stage;
    st.left = left;
    st.nleft = nleft;
    st.loop = L->loop;
    for (uint32_t i = 0; i < L->op->stages.len; i++)
        if (L->op->stages.data[i].reducer == st.reducer &&
            same_stage(L, &L->op->stages.data[i], &st)) {
            const tensor_stage *same = &L->op->stages.data[i];
            bool temporary = true;
            for (uint32_t k = 0; k < same->ntargets; k++)
                temporary &= L->op->vals.data[same->targets[k].val].role == VAL_STAGE &&
                             same->targets[k].rank == nleft;
            if (temporary) return same;
        }
    tensor_space *axes = ARENA_ARRAY(L->arena, tensor_space, nleft + 1);
    tensor_expr *index = ARENA_ARRAY(L->arena, tensor_expr, nleft + 1);
    for (uint32_t i = 0; i < nleft; i++) {
        axes[i] = L->op->vars.data[left[i]].space;
        index[i] = tensor_var_expr(L->op, left[i], r->at);
    }
    tensor_target *targets = ARENA_ARRAY(L->arena, tensor_target, r->nresults);
    const char *name = free_name(L, arena_printf(L->arena, "%s.%s", L->eq.stage_base, r->name));
    for (uint32_t k = 0; k < r->nresults; k++) {
        const char *own = k ? arena_printf(L->arena, "%s'%u", name, k) : name;
        targets[k] = (tensor_target){add_stage_value(L, own, r->types[k], axes, nleft, true, r->at),
                                     nleft, index};
    }
    st.name = name;
    st.targets = targets;
    st.ntargets = r->nresults;
    const uint32_t last = tensor_add_stage(L->op, st);
    return &L->op->stages.data[last];
}

// ---- Variables that a key determines ------------------------------------------------------------
void lift_determine(lowering *L, tensor_key k) {
    if (tensor_node_at(L->op, k.rhs)->op == TENSOR_VAR_OP) VEC_PUSH(L->arena, &L->eq.determined, k);
}

static void substitution_begin(lowering *L) {
    while (L->walk.copies.len < L->op->exprs.len)
        VEC_PUSH(L->arena, &L->walk.copies, ((expr_copy){0, 0}));
    L->walk.substitutions++;
}

static tensor_expr substitute(lowering *L, tensor_expr e, tensor_expr from, tensor_expr to) {
    if (e == from) return to;
    if (L->walk.copies.data[e].substitution == L->walk.substitutions)
        return L->walk.copies.data[e].to;
    tensor_node n = *tensor_node_at(L->op, e);
    tensor_expr *args = ARENA_ARRAY(L->arena, tensor_expr, n.nargs), copy = e;
    bool same = true;
    for (uint32_t i = 0; i < n.nargs; i++) {
        args[i] = substitute(L, n.args[i], from, to);
        same &= args[i] == n.args[i];
    }
    n.args = args;
    if (!same) copy = tensor_node_new(L->op, n);
    L->walk.copies.data[e] = (expr_copy){L->walk.substitutions, copy};
    return copy;
}

static const tensor_expr *substitute_all(lowering *L, const tensor_expr *e, uint32_t n,
                                         tensor_key k) {
    tensor_expr *x = ARENA_ARRAY(L->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++) x[i] = substitute(L, e[i], k.rhs, k.lhs);
    return x;
}

// The stage runs at points where the condition fails, too, and nobody reads its results there: else
// gives some value.
void reduction_guard_else(lowering *L, reduction *r, tensor_expr condition) {
    tensor_expr *x = ARENA_ARRAY(L->arena, tensor_expr, r->stage.nelse + 1);
    for (uint32_t i = 0; i < r->stage.nelse; i++) {
        tensor_expr other = value_as(L, value_bad(L), r->types[i], r->at);
        x[i] = tensor_select(L->op, condition, r->stage.orelse[i], other, r->at);
    }
    r->stage.orelse = x;
}

// The reduction with v replaced by m[e] everywhere. Where m[e] is none no point of the outer
// reduction reads it.
static void replace_determined(lowering *L, reduction *r, tensor_key k) {
    substitution_begin(L);
    tensor_stage *st = &r->stage;
    tensor_key *keys = ARENA_ARRAY(L->arena, tensor_key, st->nkeys + 1);
    for (uint32_t i = 0; i < st->nkeys; i++)
        keys[i] = (tensor_key){st->keys[i].lhs, substitute(L, st->keys[i].rhs, k.rhs, k.lhs)};
    st->keys = keys;
    st->body = substitute_all(L, st->body, st->nbody, k);
    st->orelse = substitute_all(L, st->orelse, st->nelse, k);
    const tensor_expr *old = substitute_all(L, st->filters, st->nfilters, k);
    VEC(tensor_expr) filters = {0};
    if (tensor_maybe_none(L->op, k.lhs)) {
        tensor_expr none = tensor_node_new(
            L->op, (tensor_node){.op = TENSOR_NONE_OP, .type = tensor_typeof(L->op, k.lhs)});
        VEC_PUSH(L->arena, &filters, tensor_binary(L->op, TENSOR_NE_OP, k.lhs, none, r->at));
        reduction_guard_else(L, r, filters.data[0]);
    }
    for (uint32_t i = 0; i < st->nfilters; i++) VEC_PUSH(L->arena, &filters, old[i]);
    st->filters = filters.data;
    st->nfilters = filters.len;
}

static bool uses_any(lowering *L, arena *scratch, tensor_expr e, const uint8_t *used) {
    uint8_t *in = arena_alloc(scratch, L->op->vars.len + 1);
    expr_vars(L, &e, 1, in);
    for (uint32_t v = 0; v < L->op->vars.len; v++)
        if (in[v] && used[v]) return true;
    return false;
}

static uint8_t *used_vars(lowering *L, arena *scratch, const reduction *r) {
    uint8_t *used = arena_alloc(scratch, L->op->vars.len + 1);
    mark_vars(L, &r->stage, used);
    return used;
}

// Where a key m[e] == v holds, m[e] in the body is v: softmax's sum reads its maximum once a row,
// not once an edge.
static void use_keys(lowering *L, reduction *r) {
    for (uint32_t i = 0; i < r->stage.nkeys; i++) {
        tensor_key k = r->stage.keys[i];
        if (tensor_node_at(L->op, k.rhs)->op != TENSOR_VAR_OP ||
            tensor_node_at(L->op, k.lhs)->op == TENSOR_VAR_OP)
            continue;
        tensor_key swapped = {k.rhs, k.lhs};
        substitution_begin(L);
        r->stage.body = substitute_all(L, r->stage.body, r->stage.nbody, swapped);
        r->stage.filters = substitute_all(L, r->stage.filters, r->stage.nfilters, swapped);
    }
}

static uint8_t *determine(lowering *L, arena *scratch, reduction *r) {
    uint8_t *used = used_vars(L, scratch, r);
    for (uint32_t i = L->eq.determined.len; i-- > 0;) {
        tensor_key k = L->eq.determined.data[i];
        if (!used[tensor_node_at(L->op, k.rhs)->imm.i] || !uses_any(L, scratch, k.lhs, used))
            continue;
        replace_determined(L, r, k);
        used = used_vars(L, scratch, r);
    }
    return used;
}

// ---- The order of a lifted stage's axes ---------------------------------------------------------
// Variables that maps lead from come first, then those that index maps or first axes, or that keys
// lead to, so that features stay innermost and adjacent.
static void mark_outer(lowering *L, tensor_expr e, uint8_t *outer) {
    if (!walk_first(L, e)) return;
    const tensor_node *n = tensor_node_at(L->op, e);
    if (n->op == TENSOR_LOAD_OP && n->nargs) {
        bool map = L->op->vals.data[n->imm.i].type == DT_INDEX;
        for (uint32_t i = 0; i < n->nargs && (map || (i == 0 && n->nargs > 1)); i++)
            if (tensor_node_at(L->op, n->args[i])->op == TENSOR_VAR_OP)
                outer[tensor_node_at(L->op, n->args[i])->imm.i] = 1;
    }
    for (uint32_t i = 0; i < n->nargs; i++) mark_outer(L, n->args[i], outer);
}

static bool is_mapped(const lowering *L, tensor_var v) {
    bool mapped = false;
    for (tensor_val m = 0; m < L->op->nparams; m++) {
        const tensor_val_info *i = &L->op->vals.data[m];
        mapped |= i->role == VAL_MAP && i->rank == 1 && i->axes[0] == L->op->vars.data[v].space;
    }
    return mapped;
}

static void note_places(lowering *L, tensor_expr e, uint32_t *place, uint32_t *next) {
    if (!walk_first(L, e)) return;
    const tensor_node *n = tensor_node_at(L->op, e);
    if (n->op == TENSOR_VAR_OP) place[n->imm.i] = (*next)++;
    for (uint32_t i = 0; i < n->nargs; i++) note_places(L, n->args[i], place, next);
}

// Indices of the left side have its order, those of reductions that in which they stand in the
// body: how the binders were written says nothing.
static void sort_open(lowering *L, arena *scratch, const reduction *r, tensor_var *sorted) {
    uint32_t *place = ARENA_ARRAY(scratch, uint32_t, L->op->vars.len + 1), next = 1;
    memcpy(sorted, L->eq.open.data, L->eq.open.len * sizeof *sorted);
    walk_begin(L);
    for (uint32_t i = 0; i < r->stage.nbody; i++) note_places(L, r->stage.body[i], place, &next);
    for (uint32_t i = L->eq.nleft + 1; i < L->eq.open.len; i++)
        for (uint32_t k = i; k > L->eq.nleft && place[sorted[k]] < place[sorted[k - 1]]; k--) {
            tensor_var v = sorted[k];
            sorted[k] = sorted[k - 1], sorted[k - 1] = v;
        }
}

static void mark_keys(lowering *L, const reduction *r, uint8_t *outer) {
    for (uint32_t i = 0; i < r->stage.nkeys; i++) {
        const tensor_node *row = tensor_node_at(L->op, r->stage.keys[i].rhs);
        if (row->op == TENSOR_VAR_OP) outer[row->imm.i] = 1;
    }
}

static uint32_t order_left(lowering *L, arena *scratch, const reduction *r, const uint8_t *used,
                           tensor_var *left, uint32_t n) {
    uint8_t *outer = arena_alloc(scratch, L->op->vars.len + 1);
    tensor_var *open = ARENA_ARRAY(scratch, tensor_var, L->eq.open.len + 1);
    sort_open(L, scratch, r, open);
    walk_begin(L);
    for (uint32_t i = 0; i < r->stage.nbody; i++) mark_outer(L, r->stage.body[i], outer);
    mark_keys(L, r, outer);
    for (uint32_t i = 0; i < L->eq.open.len; i++)
        outer[open[i]] = is_mapped(L, open[i]) ? 2 : outer[open[i]];
    for (int pass = 2; pass >= 0; pass--)
        for (uint32_t i = 0; i < L->eq.open.len; i++)
            if (used[open[i]] && outer[open[i]] == pass && !is_step(L, open[i]))
                left[n++] = open[i];
    return n;
}

// Over two indices of a reduction around it that maps lead from, all pairs are stored, and that one
// may visit few.
static void warn_pairs(lowering *L, const reduction *r, const tensor_var *left, uint32_t n) {
    tensor_var pair[2] = {0};
    uint32_t found = 0;
    for (uint32_t i = L->eq.nleft; i < L->eq.open.len; i++)
        for (uint32_t k = 0; k < n && found < 2; k++)
            if (left[k] == L->eq.open.data[i] && is_mapped(L, left[k])) pair[found++] = left[k];
    if (found < 2) return;
    const tensor_var_info *vars = L->op->vars.data;
    diagnostic *d = diag(
        L->ds, W0402, r->at,
        "this is computed and stored for all pairs of '%s' and '%s', %s times %s numbers",
        vars[pair[0]].name, vars[pair[1]].name, space_name(L, vars[pair[0]].space),
        space_name(L, vars[pair[1]].space));
    diag_help(
        d,
        "where the sum around it takes it as a factor, one sum over all indices stores nothing: sum{a, b, k : …}; else give pairs a space of their own, with a map to each");
}

void reduction_lift(lowering *L, reduction *r, tensor_var class, tensor_expr own_class,
                    tensor_expr *results) {
    use_keys(L, r);
    arena *scratch = arena_new();
    const uint8_t *used = determine(L, scratch, r);
    tensor_var *left = ARENA_ARRAY(L->arena, tensor_var, L->eq.open.len + 2);
    tensor_expr *index = ARENA_ARRAY(L->arena, tensor_expr, L->eq.open.len + 2);
    uint32_t n = 0;
    if (class != UINT32_MAX) left[n++] = class;
    n = order_left(L, scratch, r, used, left, n);
    arena_free(scratch);
    warn_pairs(L, r, left, n);
    if (n > 8) {
        diagnostic *d = diag(
            L->ds, E0313, r->at,
            "this depends on %u indices, and what is computed on the way has at most 8 axes", n);
        diag_help(d, "give a part of it an equation of its own");
        for (uint32_t k = 0; k < r->nresults; k++)
            results[k] = value_as(L, value_bad(L), r->types[k], r->at);
        return;
    }
    const tensor_stage *st = stage_lifted(L, r, left, n);
    for (uint32_t i = 0; i < n; i++)
        index[i] = left[i] == class ? own_class : tensor_var_expr(L->op, left[i], r->at);
    for (uint32_t k = 0; k < r->nresults; k++)
        results[k] = tensor_load(L->op, st->targets[k].val, index, n, r->at);
}

void reduction_store(lowering *L, reduction *r, const char *name, const tensor_target *targets,
                     const tensor_var *left, uint32_t nleft) {
    use_keys(L, r);
    tensor_stage st = r->stage;
    st.name = name;
    st.targets = targets;
    st.ntargets = r->nresults;
    st.left = left;
    st.nleft = nleft;
    st.loop = L->loop;
    tensor_add_stage(L->op, st);
}
