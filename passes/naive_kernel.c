// One kernel of the naive plan: a block owns NAIVE_BLOCK consecutive points of the stage's targets; its threads take them
// in turn. On a GPU that is one point a thread; on the host, whose blocks have one thread, a loop over the block's points.
#include "naive.h"

simt_value kernel_arg(kernel *k, arg_kind kind, uint32_t index, uint32_t axis) {
    for (uint32_t i = 0; i < k->args.len; i++)
        if (k->args.data[i].kind == kind && k->args.data[i].index == index && k->args.data[i].axis == axis) return k->values.data[i];
    const tensor_op *op = k->n->op;
    simt_type t = NAIVE_I64;
    uint32_t flags = 0;
    const char *name = "step";
    switch (kind) {
    case ARG_DATA:
        t = SIMT_PTR;
        flags = kernel_writes(k, index) ? 0 : SIMT_READONLY | SIMT_NOALIAS;
        name = op->vals.data[index].name;
        break;
    case ARG_STRIDE: name = arena_printf(k->n->arena, "%s_stride%u", op->vals.data[index].name, axis); break;
    case ARG_VALUE:
        t = value_simt(tensor_type_of_storage(op->vals.data[index].type, TENSOR_NO_SPACE));
        if (t.element == SIMT_PRED) t = NAIVE_I64;
        if (op->vals.data[index].type == DT_I32) t = SIMT_T(I32);
        name = op->vals.data[index].name;
        break;
    case ARG_SIZE: name = arena_printf(k->n->arena, "size%u", index); break;
    case ARG_PREPARED:
        t = SIMT_PTR;
        flags = SIMT_READONLY | SIMT_NOALIAS;
        name = arena_printf(k->n->arena, "prepared%u", index);
        break;
    case ARG_TEMP:
        t = SIMT_PTR;
        for (tensor_val v = 0; v < op->vals.len; v++)
            if (k->n->temp_of[v] == index) {
                flags = kernel_writes(k, v) ? SIMT_NOALIAS : SIMT_READONLY | SIMT_NOALIAS;
                name = arena_printf(k->n->arena, "stage%u", index);
            }
        break;
    case ARG_STEP: break;
    case ARG_KIND_COUNT: ICE("no such argument");
    }
    simt_value v = simt_param(k->f, name, t, flags);
    VEC_PUSH(k->n->arena, &k->args, ((program_arg){kind, index, axis}));
    VEC_PUSH(k->n->arena, &k->values, v);
    return v;
}

simt_value kernel_size(kernel *k, tensor_space s) { return kernel_arg(k, ARG_SIZE, s, 0); }

bool kernel_writes(const kernel *k, tensor_val v) {
    for (uint32_t t = 0; t < k->stage->ntargets; t++) {
        tensor_val w = k->stage->targets[t].val;
        if (w == v || k->n->op->vals.data[w].inplace == v || k->n->op->vals.data[v].inplace == w) return true;
    }
    return false;
}

// The point's position on each left variable's space, the last one fastest.
static void decompose(kernel *k, simt_builder *b, simt_value point) {
    const tensor_stage *st = k->stage;
    uint32_t first = UINT32_MAX;
    for (uint32_t i = st->nleft; i-- > 0;)
        if (!k->var[st->left[i]]) first = i;
    for (uint32_t i = st->nleft; i-- > 0;) {
        tensor_var v = st->left[i];
        if (k->var[v]) continue;   // a loop's step
        if (i == first) {
            k->var[v] = point;
            return;
        }
        simt_value size = kernel_size(k, k->n->op->vars.data[v].space);
        k->var[v] = simt_build_binary(b, SIMT_UREM, point, size);
        point = simt_build_binary(b, SIMT_UDIV, point, size);
    }
}

static void store_results(kernel *k, simt_builder *b, const simt_value *x) {
    for (uint32_t t = 0; t < k->stage->ntargets; t++) {
        const tensor_target *to = &k->stage->targets[t];
        simt_value index[8];
        for (uint32_t i = 0; i < to->rank; i++) index[i] = expr_lower(k, b, to->index[i]);
        memory_store(k, b, to->val, index, x[t]);
    }
}

static void point_body(kernel *k, simt_builder *b, simt_value point) {
    decompose(k, b, point);
    simt_value *x = ARENA_ARRAY(k->n->arena, simt_value, k->stage->ntargets);
    if (k->stage->reducer != TENSOR_NO_REDUCER) reduction_build(k, b, x);
    else
        for (uint32_t t = 0; t < k->stage->ntargets; t++) x[t] = expr_lower(k, b, k->stage->body[t]);
    store_results(k, b, x);
    simt_build_yield(b, NULL, 0);
}

static uint32_t points(const kernel *k, tensor_space *spaces) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->stage->nleft; i++)
        if (!k->var[k->stage->left[i]]) spaces[n++] = k->n->op->vars.data[k->stage->left[i]].space;
    return n;
}

static simt_value product(kernel *k, simt_builder *b, const tensor_space *spaces, uint32_t n) {
    simt_value x = simt_build_int(b, NAIVE_I64, 1);
    for (uint32_t i = 0; i < n; i++) x = simt_build_binary(b, SIMT_MUL, x, kernel_size(k, spaces[i]));
    return x;
}

static void build_body(kernel *k, const tensor_space *spaces, uint32_t n) {
    simt_builder b = simt_builder_at_end(k->f);
    b.at = k->stage->at;
    simt_value block = simt_build_int(&b, NAIVE_I64, NAIVE_BLOCK);
    simt_value first = simt_build_binary(&b, SIMT_MUL, simt_build_cvt(&b, NAIVE_I64, simt_build_sreg(&b, SREG_CTAID)), block);
    simt_value end = simt_build_binary(&b, SIMT_MIN, simt_build_binary(&b, SIMT_ADD, first, block), product(k, &b, spaces, n));
    simt_value from = simt_build_binary(&b, SIMT_ADD, first, simt_build_cvt(&b, NAIVE_I64, simt_build_sreg(&b, SREG_TID)));
    simt_value step = simt_build_cvt(&b, NAIVE_I64, simt_build_sreg(&b, SREG_NTID));
    simt_instr loop;
    simt_builder in = simt_build_for(&b, from, end, step, NULL, 0, &loop);
    point_body(k, &in, simt_for_index(k->f, loop));
    simt_build_return(&b, NULL, 0);
}

static size_expr blocks_of(const naive *n, const tensor_space *spaces, uint32_t count) {
    size_expr s = {0};
    VEC_PUSH(n->arena, &s, ((size_token){SZ_CONST, 1, 0}));
    for (uint32_t i = 0; i < count; i++) {
        VEC_PUSH(n->arena, &s, ((size_token){SZ_SPACE, spaces[i], 0}));
        VEC_PUSH(n->arena, &s, ((size_token){SZ_MUL, 0, 0}));
    }
    VEC_PUSH(n->arena, &s, ((size_token){SZ_CONST, NAIVE_BLOCK, 0}));
    VEC_PUSH(n->arena, &s, ((size_token){SZ_CEILDIV, 0, 0}));
    return s;
}

static const char *kernel_name(const naive *n, const tensor_stage *st) {
    textbuf t = textbuf_new(n->arena);
    textbuf_printf(&t, "%s_%s", n->op->name, st->name);
    for (char *c = t.data; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9'))) *c = '_';
    const char *name = t.data;
    for (uint32_t i = 2; simt_func_find(n->p->module, name); i++) name = arena_printf(n->arena, "%s_%u", t.data, i);
    return name;
}

void stage_kernel(naive *n, const tensor_stage *st) {
    kernel k = {.n = n, .stage = st, .f = simt_kernel_new(n->p->module, kernel_name(n, st), NAIVE_BLOCK)};
    k.f->at = st->at;
    k.var = ARENA_ARRAY(n->arena, simt_value, n->op->vars.len + 1);
    k.memo = ARENA_ARRAY(n->arena, simt_value, n->op->exprs.len + 1);
    if (st->loop != TENSOR_NO_LOOP) k.var[n->op->loops.data[st->loop].step] = kernel_arg(&k, ARG_STEP, 0, 0);
    tensor_space *spaces = ARENA_ARRAY(n->arena, tensor_space, st->nleft + 1);
    uint32_t count = points(&k, spaces);
    build_body(&k, spaces, count);
    program_step s = {.kind = STEP_LAUNCH, .kernel = k.f->name, .count = blocks_of(n, spaces, count), .nargs = k.args.len, .args = k.args.data};
    VEC_PUSH(n->arena, &n->p->steps, s);
}
