// Identities: paths are one however they are asked for, indices are each their own, and copies of
// an op agree.
#include "tensor.h"

#include <stdio.h>
#include <string.h>

static int failures;
#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) printf("%s:%d: %s\n", __FILE__, __LINE__, #x), failures++;                       \
    } while (0)

static void test_paths(arena *a) {
    tensor_ids *ids = tensor_ids_new(a);
    tensor_id y = tensor_id_of_path(ids, "y"), sum = tensor_id_of_path(ids, "y.sum");
    CHECK(tensor_id_of_path(ids, NULL) == TENSOR_ALL && tensor_id_of_path(ids, "") == TENSOR_ALL);
    CHECK(sum != y && sum == tensor_id_inside(ids, y, "sum") && tensor_id_outer(ids, sum) == y);
    CHECK(!strcmp(tensor_id_text(a, ids, sum), "y.sum") &&
          !strcmp(tensor_id_name(ids, sum), "sum"));
    CHECK(tensor_id_depth(ids, TENSOR_ALL) == 0 && tensor_id_depth(ids, sum) == 2);
    CHECK(tensor_id_covers(ids, TENSOR_ALL, sum) && tensor_id_covers(ids, y, sum));
    CHECK(tensor_id_covers(ids, y, y) && !tensor_id_covers(ids, sum, y));
    CHECK(!tensor_id_covers(ids, y, tensor_id_of_path(ids, "yy.sum")));
    CHECK(tensor_id_is_path(ids, sum, "y.sum") && !tensor_id_is_path(ids, sum, "x.sum"));
    CHECK(!tensor_id_is_path(ids, sum, "sum") && !tensor_id_is_path(ids, sum, ".y.sum"));
    CHECK(!tensor_id_is_path(ids, y, "y.sum") && tensor_id_is_path(ids, TENSOR_ALL, ""));
}

static void test_deep(arena *a) {
    enum { DEEP = 400000 };   // parts, with a stack of 8 MiB
    tensor_ids *ids = tensor_ids_new(a);
    char *path = arena_alloc(a, 2 * DEEP);
    for (int i = 0; i < DEEP; i++) path[2 * i] = 'a', path[2 * i + 1] = '.';
    path[2 * DEEP - 1] = 0;
    tensor_id deep = tensor_id_of_path(ids, path);
    CHECK(tensor_id_is_path(ids, deep, path) && !strcmp(tensor_id_text(a, ids, deep), path));
    CHECK(!strcmp(tensor_id_text(a, ids, TENSOR_ALL), ""));
}

static void test_many(arena *a) {
    tensor_ids *ids = tensor_ids_new(a);
    tensor_id made[1000];
    for (int i = 0; i < 1000; i++) made[i] = tensor_id_of_path(ids, arena_printf(a, "s%d.t", i));
    for (int i = 0; i < 1000; i++)
        CHECK(made[i] == tensor_id_of_path(ids, arena_printf(a, "s%d.t", i)));
    CHECK(tensor_id_known(ids, made[999]) && !tensor_id_known(ids, made[999] + 1));
}

static void test_copies(arena *a) {
    tensor_op *op = tensor_op_new(a, "f");
    tensor_space v = tensor_add_space(op,
                                      (tensor_space_info){.name = "V", .classes = TENSOR_NO_VAL});
    tensor_var e = tensor_add_var(op, "e", v), other = tensor_add_var(op, "e", v);
    tensor_op *one = tensor_op_copy(a, op), *two = tensor_op_copy(a, op);
    tensor_var made = tensor_add_var_of(one, e, "e'2");
    CHECK(op->vars.data[e].id != op->vars.data[other].id &&
          one->vars.data[made].id == op->vars.data[e].id);
    uint32_t first = tensor_add_stage(one, (tensor_stage){.name = "y.part"}),
             second = tensor_add_stage(two, (tensor_stage){.name = "y.part"});
    CHECK(one->stages.data[first].id == two->stages.data[second].id);
    CHECK(one->stages.data[first].id == tensor_id_of_path(op->ids, "y.part"));
}

static void test_marks(void) {
    tensor_stage s = {0};
    tensor_set_mark(&s, TENSOR_LAZY);
    CHECK(tensor_marked(&s, TENSOR_LAZY) && !tensor_marked(&s, TENSOR_ONLINE));
    CHECK(!strcmp(tensor_mark_text(TENSOR_LAZY), "lazy"));
}

int main(void) {
    arena *a = arena_new();
    test_paths(a);
    test_many(a);
    test_deep(a);
    test_copies(a);
    test_marks();
    arena_free(a);
    return failures != 0;
}
