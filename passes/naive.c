// The naive plan: kernels for the stages in their order. Stages over the same points share a kernel where
// each reads of the others only its own point; cheap reduction-free stages are computed where they are read.
//     y[v, f] = sum {e : dst(e) == v} w(e) * x(src(e), f)
//  →  for each (v, f) in parallel: acc = 0; for e in offsets(dst)[v] … offsets(dst)[v + 1]: acc += w[e] *
//  x[src[e], f]; y[v, f] = acc
#include "naive.h"

const pass_info *pass_at(uint32_t i) {
    static const pass_info table[] = {
#define PASS(name, summary) {#name, summary},
#include "passes.def"
#undef PASS
    };
    return i < sizeof table / sizeof *table ? &table[i] : NULL;
}

// ---- Sizes
// -----------------------------------------------------------------------------------------------------
static size_token_kind size_token_of(tensor_opcode op) {
    switch (op) {
    case TENSOR_ADD_OP: return SZ_ADD;
    case TENSOR_SUB_OP: return SZ_SUB;
    case TENSOR_MUL_OP: return SZ_MUL;
    case TENSOR_MOD_OP: return SZ_MOD;
    case TENSOR_MIN_OP: return SZ_MIN;
    case TENSOR_MAX_OP: return SZ_MAX;
    case TENSOR_EQ_OP: return SZ_EQ;
    case TENSOR_NE_OP: return SZ_NE;
    case TENSOR_LT_OP: return SZ_LT;
    case TENSOR_LE_OP: return SZ_LE;
    case TENSOR_GT_OP: return SZ_GT;
    case TENSOR_GE_OP: return SZ_GE;
    case TENSOR_AND_OP: return SZ_AND;
    case TENSOR_OR_OP: return SZ_OR;
    case TENSOR_NOT_OP: return SZ_NOT;
    default: ICE("a size or precondition holds '%s'", tensor_op_table(op)->text);
    }
}

static void size_append(const naive *n, size_expr *s, tensor_expr e) {
    const tensor_node *x = tensor_node_at(n->op, e);
    switch ((tensor_opcode)x->op) {
    case TENSOR_CONST_OP: VEC_PUSH(n->arena, s, ((size_token){SZ_CONST, x->imm.i, 0})); return;
    case TENSOR_SIZE_OP: VEC_PUSH(n->arena, s, ((size_token){SZ_SPACE, x->imm.i, 0})); return;
    case TENSOR_SYMMETRIC_OP: VEC_PUSH(n->arena, s, ((size_token){SZ_SYMMETRIC, x->imm.i, x->imm2})); return;
    case TENSOR_PREIMAGE_OP:
        VEC_PUSH(n->arena, s,
                 ((size_token){x->imm2 == 0   ? SZ_MAX_PREIMAGE
                               : x->imm2 == 1 ? SZ_MIN_PREIMAGE
                                              : SZ_AVG_PREIMAGE,
                               x->imm.i, 0}));
        return;
    case TENSOR_NEG_OP:
        VEC_PUSH(n->arena, s, ((size_token){SZ_CONST, 0, 0}));
        size_append(n, s, x->args[0]);
        VEC_PUSH(n->arena, s, ((size_token){SZ_SUB, 0, 0}));
        return;
    default:
        for (uint32_t i = 0; i < x->nargs; i++) size_append(n, s, x->args[i]);
        VEC_PUSH(n->arena, s, ((size_token){size_token_of((tensor_opcode)x->op), 0, 0}));
    }
}

static size_expr size_product(const naive *n, const tensor_space *spaces, uint32_t count) {
    size_expr s = {0};
    if (!count) VEC_PUSH(n->arena, &s, ((size_token){SZ_CONST, 1, 0}));
    for (uint32_t i = 0; i < count; i++) {
        VEC_PUSH(n->arena, &s, ((size_token){SZ_SPACE, spaces[i], 0}));
        if (i) VEC_PUSH(n->arena, &s, ((size_token){SZ_MUL, 0, 0}));
    }
    return s;
}

// ---- What the caller hands over
// ------------------------------------------------------------------------------------
static void add_spaces(naive *n) {
    for (tensor_space i = 0; i < n->op->spaces.len; i++) {
        const tensor_space_info *s = &n->op->spaces.data[i];
        program_space x = {.name = s->name, .kind = s->kind};
        if (s->kind == SPACE_CONST) VEC_PUSH(n->arena, &x.size, ((size_token){SZ_CONST, s->size, 0}));
        if (s->kind == SPACE_EXPR) size_append(n, &x.size, s->expr);
        VEC_PUSH(n->arena, &n->p->spaces, x);
    }
}

static param_role role_of(tensor_role r) {
    return r == VAL_MAP      ? PARAM_MAP
           : r == VAL_TENSOR ? PARAM_TENSOR
           : r == VAL_SCALAR ? PARAM_SCALAR
                             : PARAM_RESULT;
}

static void add_params(naive *n) {
    for (tensor_val i = 0; i < n->op->nparams; i++) {
        const tensor_val_info *v = &n->op->vals.data[i];
        program_param x = {.name = v->name,
                           .role = role_of(v->role),
                           .type = v->type,
                           .facts = v->facts,
                           .align = v->align,
                           .rank = v->rank,
                           .axes = v->axes,
                           .into = v->into,
                           .sorted_by = v->sorted_by == TENSOR_NO_VAL ? -1 : (int32_t)v->sorted_by,
                           .inplace = v->inplace == TENSOR_NO_VAL ? -1 : (int32_t)v->inplace};
        VEC_PUSH(n->arena, &n->p->params, x);
    }
}

static void add_requires(naive *n) {
    for (uint32_t i = 0; i < n->op->requires.len; i++) {
        program_require r = {.text = n->op->requires.data[i].text, .at = n->op->requires.data[i].at};
        size_append(n, &r.holds, n->op->requires.data[i].holds);
        VEC_PUSH(n->arena, &n->p->requires, r);
    }
}

static void add_temps(naive *n) {
    for (tensor_val i = n->op->nparams; i < n->op->vals.len; i++) {
        const tensor_val_info *v = &n->op->vals.data[i];
        if (v->role != VAL_STAGE || n->inlined[i]) continue;
        n->temp_of[i] = n->p->temps.len;
        VEC_PUSH(n->arena, &n->p->temps,
                 ((program_temp){v->name, v->type, size_product(n, v->axes, v->rank)}));
    }
}

// ---- What runs
// -----------------------------------------------------------------------------------------------------
static void add_step(naive *n, program_step s) { VEC_PUSH(n->arena, &n->p->versions.data[0].steps, s); }

typedef VEC(const tensor_stage *) stage_list;

static void flush(naive *n, stage_list *group) {
    if (group->len) kernel_build(n, group->data, group->len);
    *group = (stage_list){0};
}

static void add_stages(naive *n) {
    uint32_t loop = TENSOR_NO_LOOP;
    stage_list group = {0};
    for (uint32_t i = 0; i < n->op->stages.len; i++) {
        const tensor_stage *st = &n->op->stages.data[i];
        if (stage_inlined(n, st)) continue;
        if (st->loop != loop || !stage_joins(n, group.data, group.len, st)) flush(n, &group);
        if (loop != TENSOR_NO_LOOP && st->loop != loop) add_step(n, (program_step){.kind = STEP_END});
        if (st->loop != TENSOR_NO_LOOP && st->loop != loop)
            add_step(n, (program_step){.kind = STEP_LOOP,
                                       .count = size_product(n, &n->op->loops.data[st->loop].space, 1)});
        loop = st->loop;
        VEC_PUSH(n->arena, &group, st);
    }
    flush(n, &group);
    if (loop != TENSOR_NO_LOOP) add_step(n, (program_step){.kind = STEP_END});
}

program *pass_naive(arena *a, diag_set *ds, const tensor_op *op, const pass_options *o) {
    uint32_t errors = diag_raised(ds);
    program *p = ARENA_NEW(a, program);
    *p = (program){.name = op->name,
                   .source = op->source,
                   .index_bits = o->index_bits,
                   .deterministic = true,
                   .module = simt_module_new(a, op->name)};
    VEC_PUSH(a, &p->versions, ((program_version){.name = "naive"}));
    naive n = {.arena = a, .ds = ds, .op = op, .options = o, .p = p};
    n.temp_of = ARENA_ARRAY(a, uint32_t, op->vals.len + 1);
    n.inlined = ARENA_ARRAY(a, const tensor_stage *, op->vals.len + 1);
    n.prepared_of = ARENA_ARRAY(a, uint32_t, op->vals.len + 1);
    n.visited = ARENA_ARRAY(a, uint32_t, op->exprs.len + 1);
    for (uint32_t i = 0; i < op->vals.len; i++) n.temp_of[i] = n.prepared_of[i] = UINT32_MAX;
    add_spaces(&n);
    add_params(&n);
    add_requires(&n);
    find_none_facts(&n);
    choose_inlined(&n);
    add_temps(&n);
    prepare_classes(&n);
    if (diag_raised(ds) != errors) return NULL;
    add_stages(&n);
    if (simt_too_deep(p->module)) {
        diag_help(diag(ds, E0207, op->at, "%s: its loops and choices nest too deeply", op->name),
                  "give a part an equation of its own");
        return NULL;
    }
    const char *fault = simt_verify(a, p->module);
    if (fault) ICE("%s: the naive plan made simt IR that does not verify: %s", op->name, fault);
    return p;
}
