// Spaces: how they are named and made.
#include "sema_expr.h"

const char *space_name(const lowering *L, tensor_space s) {
    if (s == TENSOR_NO_SPACE) return "no space";
    const tensor_space_info *i = &L->op->spaces.data[s];
    // _3 is what a number is called inside
    return i->kind == SPACE_CONST && i->name[0] == '_' ? i->name + 1 : i->name;
}

// ---- Outside ------------------------------------------------------------------------------------
const char *space_outside(const lowering *L, tensor_space s) {
    const tensor_space_info *i = &L->op->spaces.data[s];
    if (i->kind != SPACE_CONST) return arena_printf(L->arena, "may lie outside %s", i->name);
    return arena_printf(L->arena, "lies outside an axis of %lld", (long long)i->size);
}

static bool has_map(const lowering *L, tensor_space s) {
    bool has = false;
    for (tensor_val v = 0; v < L->op->nparams; v++) {
        const tensor_val_info *i = &L->op->vals.data[v];
        if (i->role != VAL_MAP) continue;
        has |= i->into == s;
        for (uint32_t k = 0; k < i->rank; k++) has |= i->axes[k] == s;
    }
    return has;
}

void explain_length(const lowering *L, diagnostic *d, tensor_space s, int64_t least) {
    enum { EXAMPLE = 3 };
    const tensor_space_info *i = &L->op->spaces.data[s];
    if (i->kind != SPACE_FREE || has_map(L, s)) return;
    diag_help(d, "where %s has one length, say so: -D%s=%lld, or a number in its place", i->name,
              i->name, (long long)(least > EXAMPLE ? least : EXAMPLE));
}

void explain_longer(const lowering *L, diagnostic *d, tensor_space s, int64_t least) {
    if (L->op->spaces.data[s].kind == SPACE_CONST) return;
    diag_help(d, "an axis that is a number, or a sum with one, F + %lld, is known to be longer",
              (long long)least);
    explain_length(L, d, s, least);
}

tensor_val add_stage_value(lowering *L, const char *name, tensor_type t, const tensor_space *axes,
                           uint32_t rank, bool partial, span at) {
    return tensor_add_val(
        L->op, (tensor_val_info){.name = name,
                                 .role = VAL_STAGE,
                                 .type = t.type,
                                 .into = t.space,
                                 .facts = t.type == DT_INDEX && partial ? FACT_PARTIAL : 0,
                                 .sorted_by = TENSOR_NO_VAL,
                                 .inplace = TENSOR_NO_VAL,
                                 .rank = rank,
                                 .axes = axes,
                                 .at = at});
}

// Sizes and preconditions are evaluated token by token: parts that expressions share count as often
// as they stand.
static bool within(const lowering *L, tensor_expr e, uint32_t *budget) {
    const tensor_node *n = tensor_node_at(L->op, e);
    if (!*budget) return false;
    --*budget;
    for (uint32_t i = 0; i < n->nargs; i++)
        if (!within(L, n->args[i], budget)) return false;
    return true;
}

bool size_small(lowering *L, tensor_expr e, span at) {
    enum { MAX_OPERATIONS = 1000 };
    uint32_t budget = MAX_OPERATIONS;
    if (within(L, e, &budget)) return true;
    diag(L->ds, E0207, at, "functions expand to too much here (over %d operations on sizes)",
         MAX_OPERATIONS);
    return false;
}

// ---- Making spaces ------------------------------------------------------------------------------
tensor_space space_constant(lowering *L, int64_t size, span at) {
    for (tensor_space s = 0; s < L->op->spaces.len; s++)
        if (L->op->spaces.data[s].kind == SPACE_CONST && L->op->spaces.data[s].size == size &&
            L->op->spaces.data[s].name[0] == '_')
            return s;
    const char *name = arena_printf(L->arena, "_%lld", (long long)size);
    return tensor_add_space(
        L->op,
        (tensor_space_info){
            .name = name, .kind = SPACE_CONST, .size = size, .classes = TENSOR_NO_VAL, .at = at});
}

static tensor_space space_of_size(lowering *L, tensor_expr size, const char *name, span at) {
    tensor_space s;
    int64_t constant;
    if (!L->conditions && tensor_size_is_required(L->op, size, &s)) return s;
    if (tensor_size_is_constant(L->op, size, &constant)) return space_constant(L, constant, at);
    for (s = 0; s < L->op->spaces.len; s++)
        if (tensor_size_is_of(L->op, size, s)) return s;
    return tensor_add_space(
        L->op,
        (tensor_space_info){
            .name = name, .kind = SPACE_EXPR, .expr = size, .classes = TENSOR_NO_VAL, .at = at});
}

tensor_space space_plus(lowering *L, tensor_space s, int64_t more, span at) {
    tensor_expr size = tensor_binary(L->op, TENSOR_ADD_OP, tensor_size(L->op, s, at),
                                     tensor_int(L->op, more), at);
    return space_of_size(
        L, size, arena_printf(L->arena, "%s+%lld", L->op->spaces.data[s].name, (long long)more),
        at);
}

static tensor_space declare_space(lowering *L, scope *s, ast_name name) {
    tensor_space_info info = {
        .name = name.text, .kind = SPACE_FREE, .classes = TENSOR_NO_VAL, .at = name.at};
    const char *given = sema_define(L->s, name.text);
    if (given) {
        info.kind = SPACE_CONST;
        if (!sema_size(given, &info.size)) {
            diag(L->ds, E0604, name.at, "-D %s=%s is not a size", name.text, given);
            info.kind = SPACE_FREE;
        }
    }
    tensor_space sp = tensor_add_space(L->op, info);
    scope_add(L->arena, s,
              (entity){.kind = ENT_SPACE, .name = name.text, .at = name.at, .space = sp});
    return sp;
}

bool space_of_axis(lowering *L, scope *s, const ast_expr *axis, bool declare, tensor_space *out) {
    if (axis->kind == AST_NUMBER && axis->is_integer)
        return *out = space_constant(L, axis->integer, axis->at), true;
    if (axis->kind == AST_NAME) {
        const entity *n = scope_find(s, axis->name.text);
        if (n && n->kind == ENT_SPACE) return *out = n->space, true;
        if (!n && declare) return *out = declare_space(L, s, axis->name), true;
        diagnostic *d = diag(L->ds, E0304, axis->at, "'%s' is not a space", axis->name.text);
        if (n && n->at.hi) diag_note(d, n->at, "'%s' is declared here", n->name);
        if (!n) suggest_in_scope(L, d, s, axis->name, NEAR_SPACE);
        return false;
    }
    uint32_t errors = diag_raised(L->ds);
    tensor_expr size = value_as(L, lower_expr(L, s, axis), TENSOR_TYPE(I64), axis->at);
    if (diag_raised(L->ds) != errors || !size_small(L, size, axis->at)) return false;
    textbuf text = textbuf_new(L->arena), tight = textbuf_new(L->arena);
    ast_print_expr(&text, axis);
    for (const char *p = text.data; *p; p++)
        if (*p != ' ') textbuf_putn(&tight, p, 1);
    int64_t constant;
    if (tensor_size_is_constant(L->op, size, &constant) && constant < 0) {
        diag(L->ds, E0604, axis->at, "%lld is not a size", (long long)constant);
        return false;
    }
    *out = space_of_size(L, size, tight.data, axis->at);
    return true;
}

// ---- Variables of expressions -------------------------------------------------------------------
void walk_begin(lowering *L) {
    while (L->walk.visited.len < L->op->exprs.len) VEC_PUSH(L->arena, &L->walk.visited, 0);
    L->walk.walks++;
}

bool walk_first(lowering *L, tensor_expr e) {
    bool first = L->walk.visited.data[e] != L->walk.walks;
    L->walk.visited.data[e] = L->walk.walks;
    return first;
}

static uint32_t mark(lowering *L, tensor_expr e, uint8_t *used) {
    if (!walk_first(L, e)) return 0;
    const tensor_node *n = tensor_node_at(L->op, e);
    uint32_t count = 0;
    if (n->op == TENSOR_VAR_OP && !used[n->imm.i]) count = used[n->imm.i] = 1;
    for (uint32_t i = 0; i < n->nargs; i++) count += mark(L, n->args[i], used);
    return count;
}

uint32_t expr_vars(lowering *L, const tensor_expr *e, uint32_t n, uint8_t *used) {
    walk_begin(L);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) count += mark(L, e[i], used);
    return count;
}
