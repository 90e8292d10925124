// Building tensor IR: equal expressions are one, and builtin reducers are made once a type.
#include "tensor_harness.h"

static void test_sharing(tensor_op *op) {
    tensor_space *axes = ARENA_NEW(op->arena, tensor_space);
    tensor_space v = *axes = tensor_add_space(
        op, (tensor_space_info){.name = "V", .classes = TENSOR_NO_VAL});
    tensor_val x = tensor_add_val(op, (tensor_val_info){.name = "x",
                                                        .role = VAL_TENSOR,
                                                        .type = DT_F16,
                                                        .into = TENSOR_NO_SPACE,
                                                        .sorted_by = TENSOR_NO_VAL,
                                                        .inplace = TENSOR_NO_VAL,
                                                        .rank = 1,
                                                        .axes = axes});
    op->nparams = 1;
    tensor_expr i = tensor_var_expr(op, tensor_add_var(op, "i", v), NO_SPAN);
    tensor_expr load = tensor_load(op, x, &i, 1, NO_SPAN);
    CHECK(tensor_typeof(op, load).type == DT_F32);
    CHECK(tensor_load(op, x, &i, 1, (span){4, 5}) == load);
    CHECK(tensor_binary(op, TENSOR_ADD_OP, load, load, NO_SPAN) ==
          tensor_binary(op, TENSOR_ADD_OP, load, load, NO_SPAN));
    CHECK(tensor_binary(op, TENSOR_ADD_OP, load, load, NO_SPAN) !=
          tensor_binary(op, TENSOR_SUB_OP, load, load, NO_SPAN));
    CHECK(tensor_var_expr(op, tensor_add_var(op, "i", v), NO_SPAN) != i);
    CHECK(tensor_cvt(op, TENSOR_TYPE(F32), load, NO_SPAN) == load);
    CHECK(tensor_round(op, DT_F32, load, NO_SPAN) == load);
    tensor_expr cast = tensor_cvt(op, TENSOR_TYPE(F32), i, NO_SPAN);   // by way of i64
    CHECK(tensor_typeof(op, cast).type == DT_F32 &&
          tensor_node_at(op, tensor_node_at(op, cast)->args[0])->op == TENSOR_CVT_OP);
    CHECK(tensor_index(op, v, tensor_cvt(op, TENSOR_TYPE(I64), i, NO_SPAN), NO_SPAN) == i);
    for (int64_t k = 0; k < 1000; k++) tensor_int(op, k);
    CHECK(tensor_load(op, x, &i, 1, NO_SPAN) == load);
}

static void test_constants(tensor_op *op) {
    CHECK(tensor_float(op, DT_F32, 0.1) == tensor_float(op, DT_F32, (double)0.1f));
    CHECK(tensor_float(op, DT_F64, 0.1) != tensor_float(op, DT_F32, 0.1));
    CHECK(tensor_float(op, DT_F32, 0.0) != tensor_float(op, DT_F32, -0.0));
    CHECK(tensor_float(op, DT_F32, (double)NAN) == tensor_float(op, DT_F32, -(double)NAN));
    tensor_expr least = tensor_int(op, INT64_MIN), minus = tensor_int(op, -1);
    CHECK(tensor_binary(op, TENSOR_MOD_OP, least, minus, NO_SPAN) == tensor_int(op, 0));
    CHECK(tensor_binary(op, TENSOR_MOD_OP, minus, tensor_int(op, 0), NO_SPAN) == tensor_int(op, 0));
    CHECK(tensor_unary(op, TENSOR_NEG_OP, least, NO_SPAN) == least);
    CHECK(tensor_binary(op, TENSOR_SUB_OP, least, tensor_int(op, 1), NO_SPAN) ==
          tensor_int(op, INT64_MAX));
    tensor_expr zero = tensor_float(op, DT_F32, 0), below = tensor_float(op, DT_F32, -0.0);
    CHECK(tensor_binary(op, TENSOR_MIN_OP, zero, below, NO_SPAN) == below);
    CHECK(tensor_cvt(op, TENSOR_TYPE(I64), tensor_float(op, DT_F64, 1e300), NO_SPAN) ==
          tensor_int(op, INT64_MAX));
    tensor_expr inexact = tensor_cvt(op, TENSOR_TYPE(F32), tensor_int(op, 16777217), NO_SPAN);
    CHECK(tensor_node_at(op, inexact)->op == TENSOR_CVT_OP);
}

static void test_reducers(tensor_op *op) {
    uint32_t sum = tensor_builtin_reducer(op, REDUCE_SUM, TENSOR_TYPE(F32));
    CHECK(tensor_builtin_reducer(op, REDUCE_SUM, TENSOR_TYPE(F32)) == sum);
    CHECK(tensor_builtin_reducer(op, REDUCE_SUM, TENSOR_TYPE(I64)) != sum);
    uint32_t max = tensor_builtin_reducer(op, REDUCE_MAX, TENSOR_TYPE(I64));
    CHECK(op->reducers.data[max].identity[0] == tensor_int(op, INT64_MIN));
    tensor_type index = {DT_INDEX, 0};
    for (int k = REDUCE_MAX; k <= REDUCE_MIN; k++) {
        const tensor_reducer *r =
            &op->reducers.data[tensor_builtin_reducer(op, (tensor_reduce_kind)k, index)];
        CHECK(tensor_node_at(op, r->identity[0])->op == TENSOR_NONE_OP);
    }
    CHECK(tensor_verify(op->arena, op) == NULL);
}

int main(void) {
    arena *a = arena_new();
    tensor_op *op = tensor_op_new(a, "test");
    test_sharing(op);
    test_constants(op);
    test_reducers(op);
    arena_free(a);
    printf("%d failures\n", failures);
    return failures != 0;
}
