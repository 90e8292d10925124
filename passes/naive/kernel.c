// One kernel of the naive plan: a block owns consecutive points of its stages' targets; its threads
// take them in turn. On a GPU that is one point a thread; on the host, whose blocks have one
// thread, a loop over the block's points.
#include "naive/naive.h"

// May another parameter lie in the same memory? Results do not overlap inputs otherwise; the
// runtime checks it.
static bool shares_memory(const tensor_op *op, tensor_val v) {
    for (tensor_val w = 0; w < op->nparams; w++)
        if (op->vals.data[w].inplace == v) return true;
    return op->vals.data[v].inplace != TENSOR_NO_VAL;
}

simt_value kernel_arg(kernel *k, arg_kind kind, uint32_t index, uint32_t axis) {
    for (uint32_t i = 0; i < k->args.len; i++)
        if (k->args.data[i].kind == kind && k->args.data[i].index == index &&
            k->args.data[i].axis == axis)
            return k->values.data[i];
    const program_arg arg = {kind, index, axis};
    const tensor_op *op = k->n->op;
    simt_type t = NAIVE_I64;
    uint32_t flags = 0;
    switch (kind) {
    case ARG_DATA:
        t = SIMT_PTR;
        flags = kernel_writes(k, index) ? (shares_memory(op, index) ? 0 : SIMT_NOALIAS)
                                        : SIMT_READONLY | SIMT_NOALIAS;
        break;
    case ARG_VALUE:
        t = value_simt(tensor_type_of_storage(op->vals.data[index].type, TENSOR_NO_SPACE));
        if (t.element == SIMT_PRED) t = NAIVE_I64;
        if (op->vals.data[index].type == DT_I32) t = SIMT_T(I32);
        break;
    case ARG_PREPARED:
        t = SIMT_PTR;
        flags = SIMT_READONLY | SIMT_NOALIAS;
        break;
    case ARG_TEMP:
        t = SIMT_PTR;
        for (tensor_val v = 0; v < op->vals.len; v++)
            if (k->n->temp_of[v] == index)
                flags = kernel_writes(k, v) ? SIMT_NOALIAS : SIMT_READONLY | SIMT_NOALIAS;
        break;
    case ARG_NUMBER: ICE("the naive plan asks for no statistics");
    default: break;
    }
    simt_value v = simt_param(k->f, plan_arg_name(k->n->arena, op, arg), t, flags);
    VEC_PUSH(k->n->arena, &k->args, arg);
    VEC_PUSH(k->n->arena, &k->values, v);
    return v;
}

static bool is_step(const naive *n, const tensor_stage *st, tensor_var v) {
    return st->loop != TENSOR_NO_LOOP && n->op->loops.data[st->loop].step == v;
}

uint32_t stage_spaces(const naive *n, const tensor_stage *st, tensor_space *spaces) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < st->nleft; i++)
        if (!is_step(n, st, st->left[i])) spaces[count++] = n->op->vars.data[st->left[i]].space;
    return count;
}

simt_value kernel_size(kernel *k, tensor_space s) { return kernel_arg(k, ARG_SIZE, s, 0); }

bool kernel_writes(const kernel *k, tensor_val v) {
    for (uint32_t s = 0; s < k->nstages; s++)
        for (uint32_t t = 0; t < k->stages[s]->ntargets; t++) {
            tensor_val w = k->stages[s]->targets[t].val;
            if (w == v || k->n->op->vals.data[w].inplace == v ||
                k->n->op->vals.data[v].inplace == w)
                return true;
        }
    return false;
}

// floor(point / size of s) by multiplication: see program.h.
static simt_value divide(kernel *k, simt_builder *b, simt_value point, tensor_space s) {
    simt_value magic = kernel_arg(k, ARG_MAGIC, s, 0), shift = kernel_arg(k, ARG_SHIFT, s, 0);
    simt_value twice = simt_build_binary(b, SIMT_SHL, point, simt_build_int(b, NAIVE_I64, 1));
    return simt_build_binary(b, SIMT_LSHR, simt_build_binary(b, SIMT_MULHI, twice, magic), shift);
}

// The point's position on each of the spaces, the last one fastest.
static void decompose(kernel *k, simt_builder *b, simt_value point, const tensor_space *spaces,
                      uint32_t n, simt_value *position) {
    for (uint32_t i = n; i-- > 1;) {
        simt_value rest = divide(k, b, point, spaces[i]);
        position[i] = simt_build_binary(
            b, SIMT_SUB, point, simt_build_binary(b, SIMT_MUL, rest, kernel_size(k, spaces[i])));
        point = rest;
    }
    if (n) position[0] = point;
}

static void store_results(kernel *k, simt_builder *b, const simt_value *x) {
    for (uint32_t t = 0; t < k->stage->ntargets; t++) {
        const tensor_target *to = &k->stage->targets[t];
        simt_value index[8];
        for (uint32_t i = 0; i < to->rank; i++) index[i] = expr_lower(k, b, to->index[i]);
        memory_store(k, b, to->val, index, x[t]);
    }
}

static void stage_body(kernel *k, simt_builder *b, const simt_value *position) {
    uint32_t mark = memo_mark(k), n = 0;
    simt_value *x = ARENA_ARRAY(k->n->arena, simt_value, k->stage->ntargets);
    for (uint32_t i = 0; i < k->stage->nleft; i++)
        if (!is_step(k->n, k->stage, k->stage->left[i])) k->var[k->stage->left[i]] = position[n++];
    if (k->stage->reducer != TENSOR_NO_REDUCER) reduction_build(k, b, x);
    else
        for (uint32_t t = 0; t < k->stage->ntargets; t++)
            x[t] = expr_lower(k, b, k->stage->body[t]);
    store_results(k, b, x);
    memo_undo(k, mark);
}

static void point_body(kernel *k, simt_builder *b, simt_value point, const tensor_space *spaces,
                       uint32_t n) {
    simt_value *position = ARENA_ARRAY(k->n->arena, simt_value, n + 1);
    decompose(k, b, point, spaces, n, position);
    for (uint32_t s = 0; s < k->nstages; s++) {
        k->stage = k->stages[s];
        b->at = k->stage->at;
        stage_body(k, b, position);
    }
    simt_build_yield(b, NULL, 0);
}

static simt_value product(kernel *k, simt_builder *b, const tensor_space *spaces, uint32_t n) {
    simt_value x = simt_build_int(b, NAIVE_I64, 1);
    for (uint32_t i = 0; i < n; i++)
        x = simt_build_binary(b, SIMT_MUL, x, kernel_size(k, spaces[i]));
    return x;
}

static uint32_t naive_block(const pass_options *o) {
    enum { USUAL = 256 };
    return o->block_threads ? o->block_threads : USUAL;
}

static void build_body(kernel *k, const tensor_space *spaces, uint32_t n) {
    simt_builder b = simt_builder_at_end(k->f), then;
    b.at = k->stages[0]->at;
    simt_value block = simt_build_int(&b, NAIVE_I64, naive_block(k->n->options)),
               total = product(k, &b, spaces, n);
    simt_value first = simt_build_binary(
        &b, SIMT_MUL, simt_build_cvt(&b, NAIVE_I64, simt_build_sreg(&b, SREG_CTAID)), block);
    simt_instr loop;
    simt_builder in = simt_build_for(&b, simt_build_sreg(&b, SREG_TID),
                                     simt_build_int(&b, SIMT_T(I32), naive_block(k->n->options)),
                                     simt_build_sreg(&b, SREG_NTID), NULL, 0, &loop);
    simt_value point = simt_build_binary(
        &in, SIMT_ADD, first, simt_build_cvt(&in, NAIVE_I64, simt_for_index(k->f, loop)));
    simt_build_if(&in, simt_build_cmp(&in, SIMT_LT, point, total), NULL, 0, &then, NULL);
    point_body(k, &then, point, spaces, n);
    simt_build_yield(&in, NULL, 0);
    simt_build_return(&b, NULL, 0);
}

static size_expr blocks_of(const naive *n, const tensor_space *spaces, uint32_t count) {
    size_expr s = {0};
    VEC_PUSH(n->arena, &s, ((size_token){SZ_CONST, 1, 0}));
    for (uint32_t i = 0; i < count; i++) {
        VEC_PUSH(n->arena, &s, ((size_token){SZ_SPACE, spaces[i], 0}));
        VEC_PUSH(n->arena, &s, ((size_token){SZ_MUL, 0, 0}));
    }
    VEC_PUSH(n->arena, &s, ((size_token){SZ_CONST, naive_block(n->options), 0}));
    VEC_PUSH(n->arena, &s, ((size_token){SZ_CEILDIV, 0, 0}));
    return s;
}

static const char *kernel_name(const naive *n, const tensor_stage *st) {
    textbuf t = textbuf_new(n->arena);
    textbuf_printf(&t, "%s_%s", n->op->name, st->name);
    for (char *c = t.data; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9')))
            *c = '_';
    const char *name = t.data;
    for (uint32_t i = 2; simt_func_find(n->p->module, name); i++)
        name = arena_printf(n->arena, "%s_%u", t.data, i);
    return name;
}

void kernel_build(naive *n, const tensor_stage *const *stages, uint32_t nstages) {
    const tensor_stage *first = stages[0];
    kernel k = {.n = n,
                .stages = stages,
                .nstages = nstages,
                .stage = first,
                .f = simt_kernel_new(n->p->module, kernel_name(n, first), naive_block(n->options))};
    k.f->at = first->at;
    k.var = ARENA_ARRAY(n->arena, simt_value, n->op->vars.len + 1);
    k.memo = ARENA_ARRAY(n->arena, simt_value, n->op->exprs.len + 1);
    if (first->loop != TENSOR_NO_LOOP)
        k.var[n->op->loops.data[first->loop].step] = kernel_arg(&k, ARG_STEP, 0, 0);
    tensor_space *spaces = ARENA_ARRAY(n->arena, tensor_space, first->nleft + 1);
    uint32_t count = stage_spaces(n, first, spaces);
    build_body(&k, spaces, count);
    program_step s = {.kind = STEP_LAUNCH,
                      .kernel = k.f->name,
                      .count = blocks_of(n, spaces, count),
                      .nargs = k.args.len,
                      .args = k.args.data};
    VEC_PUSH(n->arena, &n->p->versions.data[0].steps, s);
}
