// Overlap against brute force on small tensors: never missed, and columns of one matrix are told
// apart.
#include "Inputs/harness.h"

static gnn_tensor random_tensor(uint64_t *r, char *memory) {
    gnn_tensor t = {.dtype = random_below(r, 2) ? GNN_F32 : GNN_F16,
                    .rank = (uint32_t)random_below(r, 4),
                    .has_strides = true};
    t.data = memory + random_below(r, 30) * (int64_t)gnn_dtype_bytes(t.dtype);
    for (uint32_t i = 0; i < t.rank; i++) {
        t.shape[i] = random_below(r, 10) ? 1 + random_below(r, 4) : 0;
        t.strides[i] = random_below(r, 13);
    }
    return t;
}

// Marks each byte with how many elements lie on it; true: more than one on some.
static bool mark(const gnn_tensor *t, const char *memory, uint8_t *marks) {
    int64_t at[4] = {0}, total = 1;
    bool twice = false;
    memset(marks, 0, 1024);
    for (uint32_t i = 0; i < t->rank; i++) total *= t->shape[i];
    for (int64_t k = 0; k < total; k++) {
        int64_t rest = k, offset = 0;
        for (uint32_t i = t->rank; i--; rest /= t->shape[i]) {
            at[i] = rest % t->shape[i];
            offset += at[i] * t->strides[i];
        }
        int64_t bytes = (int64_t)gnn_dtype_bytes(t->dtype),
                from = (const char *)t->data - memory + offset * bytes;
        for (int64_t b = from; b < from + bytes; b++) twice |= marks[b]++ > 0;
    }
    return twice;
}

static void random_pairs(void) {
    static _Alignas(8) char memory[1024];
    static uint8_t one[1024], two[1024];
    uint64_t r = 11;
    int apart = 0, told_apart = 0;
    for (int i = 0; i < 200000; i++) {
        const gnn_tensor a = random_tensor(&r, memory), b = random_tensor(&r, memory);
        bool meet = false, twice = mark(&a, memory, one);
        mark(&b, memory, two);
        for (int k = 0; k < 1024; k++) meet |= one[k] && two[k];
        CHECK(!twice || rt_strides_overlap(&a));
        CHECK(!meet || rt_tensors_overlap(&a, &b));
        apart += !meet;
        told_apart += !rt_tensors_overlap(&a, &b);
    }
    CHECK(told_apart > apart * 8 / 10);
}

static void columns(void) {
    static float m[12 * 10];
    const gnn_tensor left = {.data = m,
                             .dtype = GNN_F32,
                             .rank = 2,
                             .has_strides = true,
                             .shape = {12, 6},
                             .strides = {10, 1}};
    gnn_tensor right = left;
    right.data = m + 6;
    right.shape[1] = 4;
    CHECK(!rt_tensors_overlap(&left, &right) && !rt_tensors_overlap(&right, &left));
    CHECK(!rt_strides_overlap(&left));
    right.data = m + 5;
    CHECK(rt_tensors_overlap(&left, &right) && rt_tensors_overlap(&right, &left));
    const gnn_tensor packed = {.data = m, .dtype = GNN_F32, .rank = 2, .shape = {12, 10}};
    CHECK(rt_tensors_overlap(&packed, &right) && !rt_strides_overlap(&packed));
    CHECK(rt_tensor_hits(&packed, m + 119, 4) && !rt_tensor_hits(&packed, m + 120, 4));
}

int main(void) {
    random_pairs();
    columns();
    return failed;
}
