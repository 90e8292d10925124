// Plans as functions of the TVM FFI, whose values are written here as its interface lays them out:
// tensors by a pointer and as objects, numbers, views, what does not fit, allocations that fail.
#include "Inputs/harness.h"
#include "gnnrt_ffi.h"

typedef struct {
    void *data;
    int32_t device_type, device, rank;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} dl_tensor;
typedef struct {
    int32_t type;
    uint32_t padding;
    union {
        int64_t i;
        double f;
        void *p;
    } of;
} any;
typedef struct {   // a tensor object
    char header[24];
    dl_tensor tensor;
} object;

static char raised[300];
static void raise_error(const char *kind, const char *message) {
    snprintf(raised, sizeof raised, "%s: %s", kind, message);
}
static void *no_stream(int32_t type, int32_t device) {
    (void)type, (void)device;
    return NULL;
}
static const gnn_ffi_api api = {raise_error, no_stream};

static int32_t map[] = {0, 0, 1, 1};
static float space[] = {0, 0, 1, 2, 3, 4}, *xs = space + 2, ys[4];
static int64_t shape[] = {2, 2}, turned[] = {1, 2}, none[] = {2, 3};

static gnn_plan *plan_of(gnn_context *c, gnn_program *p) {
    const gnn_map m = {.index = map, .width = 32, .domain = 4, .codomain = 2};
    const gnn_named_map maps[] = {{"src", m}, {"dst", m}};
    const gnn_size sizes[] = {{"F", 2}};
    gnn_plan *plan = NULL;
    GOOD(c,
         gnn_plan_new(p, &(gnn_plan_options){.maps = maps, .nmaps = 2, .sizes = sizes, .nsizes = 1},
                      &plan));
    return plan;
}

static dl_tensor tensor(float *data) {
    return (dl_tensor){.data = data,
                       .device_type = 1,
                       .rank = 2,
                       .code = 2,
                       .bits = 32,
                       .lanes = 1,
                       .shape = shape};
}

// spmm: rows of x, 2 of each node, summed and times 1 + 2 + 3 times alpha.
static void check_calls(gnn_ffi *f) {
    dl_tensor x = tensor(xs);
    object y = {.tensor = tensor(ys)};
    any args[] = {{7, 0, {.p = &x}}, {3, 0, {.f = 0.5}}, {70, 0, {.p = &y}}}, result = {0};
    CHECK(!gnn_ffi_call(f, args, 3, &result));
    CHECK(ys[0] == 6 && ys[1] == 12 && ys[2] == 18 && ys[3] == 24);
    args[1] = (any){1, 0, {.i = 1}};
    CHECK(!gnn_ffi_call(f, args, 3, &result) && ys[3] == 48);
    x.strides = turned;
    CHECK(!gnn_ffi_call(f, args, 3, &result) && ys[1] == 36 && ys[2] == 24);
    x.strides = NULL;
    x.data = space;
    x.byte_offset = 8;
    CHECK(!gnn_ffi_call(f, args, 3, &result) && ys[3] == 48);
}

#define RAISES(n, text) CHECK(gnn_ffi_call(f, args, n, &result) == -1 && !strcmp(raised, text))
static void check_faults(gnn_ffi *f) {
    dl_tensor x = tensor(xs), y = tensor(ys);
    any args[] = {{7, 0, {.p = &x}}, {3, 0, {.f = 1}}, {7, 0, {.p = &y}}}, result = {0};
    RAISES(2,
           "TypeError: spmm takes 3 arguments (tensors and numbers, then results), and is given 2");
    x.bits = 64;
    RAISES(3, "TypeError: argument 0, x: its elements have another type than the op's");
    x.bits = 32, x.device_type = 2;
    RAISES(3, "ValueError: argument 0, x: it lies on another device than the plan");
    x.device_type = 1, x.rank = 99;
    RAISES(3, "ValueError: argument 0, x: it has too many axes");
    x.rank = 2, args[0].type = 3;
    RAISES(3, "TypeError: argument 0, x: a tensor is wanted");
    args[0].type = 7, args[1].type = 7;
    RAISES(3, "TypeError: argument 1, alpha: a number is wanted");
    args[1].type = 3, y.shape = none;
    CHECK(gnn_ffi_call(f, args, 3, &result) == -1 &&
          strstr(raised, "RuntimeError: y: axis 1 has 3 elements"));
    y.shape = shape;
    CHECK(!gnn_ffi_call(f, args, 3, &result));
}

static void check_made(gnn_context *c, gnn_program *p, ledger *memory) {
    gnn_plan *plan = plan_of(c, p);
    gnn_ffi *f = NULL;
    CHECK(gnn_ffi_new(NULL, &api, &f) == GNN_BAD_ARGUMENT);
    EXPECT(c, gnn_ffi_new(plan, NULL, &f), BAD_ARGUMENT,
           "gnn_ffi_new: an argument that it needs is NULL, or none of the program's");
    for (int64_t left = 0; left < 5; left++) {
        memory->fail_at = memory->calls + left;
        gnn_status s = gnn_ffi_new(plan, &api, &f);
        memory->fail_at = -1;
        CHECK(s == GNN_NO_MEMORY && !f);
        gnn_context_clear_error(c);
    }
    GOOD(c, gnn_ffi_new(plan, &api, &f));
    check_calls(f);
    check_faults(f);
    gnn_ffi_free(f);
    gnn_ffi_free(NULL);
    gnn_plan_free(plan);
}

int main(void) {
    ledger memory;
    gnn_context *c = new_context(&memory, 1);
    gnn_program *p = load_spmm(c);
    check_made(c, p, &memory);
    gnn_program_free(p);
    end_context(c, &memory);
    return failed;
}
