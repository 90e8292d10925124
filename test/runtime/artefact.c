// Linked ops: which code is taken for a device and for maps of a width, the struct of arguments,
// and what launches refuse.
#include "Inputs/fake_cuda.h"
#include "Inputs/harness.h"

enum { E = 4, U = 3, V = 2, F = 2 };

static void gather64(const uint64_t *a, uint32_t v, uint32_t blocks) {
    const int64_t *src = (const int64_t *)a[0], *offsets = (const int64_t *)a[1];
    const float *x = (const float *)a[2];
    (void)blocks;
    for (int64_t f = 0; f < (int64_t)a[6]; f++) {
        float sum = 0;
        for (int64_t e = offsets[v]; e < offsets[v + 1]; e++)
            sum += x[src[e] * (int64_t)a[3] + f * (int64_t)a[4]];
        ((float *)a[5])[v * (int64_t)a[6] + f] = sum;
    }
}

static const gnn_host_kernel wide_kernels[] = {{"add", add}, {"gather", gather64}};
static const char host32[] = SPMM("host", "32"), host64[] = SPMM("host", "64");
static const gnn_build host_builds[] = {
    {.manifest = host32,
     .manifest_size = sizeof host32 - 1,
     .target = "host",
     .index_bits = 32,
     .code = {.kernels = spmm_kernels, .nkernels = 2}},
    {.manifest = host64,
     .manifest_size = sizeof host64 - 1,
     .target = "host",
     .index_bits = 64,
     .code = {.kernels = wide_kernels, .nkernels = 2}},
};
static const gnn_artefact both = {GNN_ABI, 2, "spmm", host_builds, NULL},
                          narrow = {GNN_ABI, 1, "narrow", host_builds, NULL};

// As a header would declare it.
typedef struct {
    int64_t E, U, V, F;
    gnn_map src, dst;
    gnn_tensor x;
    float alpha;
    gnn_tensor y;
} spmm_args;

static int32_t src32[E] = {0, 1, 2, 0}, dst32[E] = {0, 0, 1, 1};
static int64_t src64[E] = {0, 1, 2, 0}, rows64[V + 1] = {0, 2, 4};
static float x[U * F] = {1, 2, 3, 4, 5, 6}, y[V * F];
static const float wanted[V * F] = {12, 18, 18, 24};

static spmm_args arguments(bool wide) {
    spmm_args a = {
        .E = E, .U = U, .V = V, .F = F, .alpha = 0.5f, .x = {.data = x}, .y = {.data = y}};
    a.src = (gnn_map){.index = wide ? (void *)src64 : (void *)src32, .width = wide ? 64 : 32};
    a.dst = (gnn_map){.index = dst32, .width = 32};
    if (wide) a.dst = (gnn_map){.offsets = rows64, .width = 64};
    return a;
}

static void launch(gnn_context *c, const gnn_artefact *a, gnn_plan *plan, const spmm_args *args) {
    _Alignas(256) char workspace[256];
    size_t bytes = 0;
    memset(y, 0x55, sizeof y);
    GOOD(c, gnn_op_check(a, plan, args));
    GOOD(c, gnn_op_workspace(a, plan, args, &bytes));
    CHECK(bytes == sizeof workspace);
    GOOD(c, gnn_op_launch(a, plan, args, workspace, bytes, NULL));
    CHECK(!memcmp(y, wanted, sizeof y));
}

static void plan_and_launch(gnn_context *c, const gnn_artefact *a, const spmm_args *args,
                            uint32_t bits, uint32_t taken) {
    gnn_op *op = NULL;
    gnn_plan *plan = NULL;
    GOOD(c, gnn_op_load(a, c, &op));
    GOOD(c, gnn_op_plan(a, op, args, &(gnn_op_options){.index_bits = bits}, &plan));
    CHECK(plan && gnn_program_index_bits(plan->p) == taken);
    if (plan) launch(c, a, plan, args);
    gnn_plan_free(plan);
    gnn_op_free(op);
}

static void widths(gnn_context *c) {
    spmm_args args = arguments(false), wide = arguments(true);
    plan_and_launch(c, &both, &args, 0, 32);
    plan_and_launch(c, &both, &wide, 0, 32);   // no result holds indices
    plan_and_launch(c, &both, &args, 64, 64);
    plan_and_launch(c, &both, &wide, 64, 64);
    plan_and_launch(c, &narrow, &wide, 0, 32);
    args.src.width = 64;   // one of 64 bits among others
    args.src.index = src64;
    plan_and_launch(c, &both, &args, 0, 32);
    plan_and_launch(c, &both, &args, 64, 64);
}

// Sizes told by maps and tensors; tensors in full.
static void told(gnn_context *c) {
    spmm_args args = arguments(true);
    args.E = args.U = args.V = args.F = -1;
    args.src.domain = args.dst.domain = E;
    args.src.codomain = U;
    args.dst.codomain = V;
    args.x = (gnn_tensor){.data = x, .dtype = GNN_F32, .rank = 2, .shape = {U, F}};
    plan_and_launch(c, &both, &args, 0, 32);
    args.src.domain = 0;   // by dst
    plan_and_launch(c, &both, &args, 0, 32);
    args.dst.domain = 0;
    gnn_op *op = NULL;
    gnn_plan *plan;
    GOOD(c, gnn_op_load(&both, c, &op));
    EXPECT(c, gnn_op_plan(&both, op, &args, NULL, &plan), MISSING,
           "the size of E is not given, and no map or tensor tells it");
    args = arguments(false);
    args.E = INT64_C(1) << 31;   // takes 64-bit code, and is refused for what is wrong
    args.src.domain = E;
    EXPECT(c, gnn_op_plan(&both, op, &args, NULL, &plan), SIZE_MISMATCH,
           "E is 4 by src, but 2147483648 by the sizes given");
    args = arguments(false);
    args.x = (gnn_tensor){.data = x, .dtype = GNN_F64, .rank = 2, .shape = {U, F}};
    EXPECT(c, gnn_op_plan(&both, op, &args, NULL, &plan), BAD_TENSOR, "x has type f64, not f32");
    gnn_op_free(op);
}

static void refused(gnn_context *c) {
    spmm_args args = arguments(false), other;
    gnn_op *op = NULL, *no = NULL;
    gnn_plan *plan = NULL, *not = NULL;
    GOOD(c, gnn_op_load(&both, c, &op));
    CHECK(gnn_op_load(NULL, c, &no) == GNN_BAD_ARGUMENT &&
          gnn_op_plan(&both, op, NULL, NULL, &not) == GNN_BAD_ARGUMENT);
    EXPECT(c, gnn_op_load(&(gnn_artefact){GNN_ABI + 1, 0, "f", NULL, NULL}, c, &no), BAD_CODE,
           "the object was made for another libgnnrt: its interface is 6, not 5");
    EXPECT(c, gnn_op_plan(&both, op, &args, &(gnn_op_options){.flags = GNN_SAVED}, &not),
           BAD_ARGUMENT, "plan of spmm: GNN_SAVED is for an op with a gradient, or a gradient");
    EXPECT(c, gnn_op_plan(&narrow, op, &args, NULL, &not), BAD_ARGUMENT,
           "narrow_plan is given the op spmm");
    EXPECT(c, gnn_op_plan(&both, op, &args, &(gnn_op_options){.index_bits = 16}, &not),
           BAD_ARGUMENT, "plan of spmm: indices have 32 or 64 bits, not 16");
    src32[3] = 7;
    EXPECT(c, gnn_op_plan(&both, op, &args, NULL, &not), BAD_INDEX, "src[3] = 7 is outside U (3)");
    src32[3] = 0;
    other = args;
    other.V = -3;
    EXPECT(c, gnn_op_plan(&both, op, &other, NULL, &not), BAD_ARGUMENT,
           "V = -3: a size can't be negative");
    GOOD(c, gnn_op_plan(&both, op, &args, NULL, &plan));
    EXPECT(c, gnn_op_check(&narrow, plan, &args), BAD_ARGUMENT,
           "narrow is given a plan of spmm that its call did not make");
    other = args;
    other.src.index = dst32;
    EXPECT(c, gnn_op_check(&both, plan, &other), BAD_ARGUMENT,
           "map src is not the one the plan was made with");
    other = args;
    other.F = 3;
    EXPECT(c, gnn_op_check(&both, plan, &other), SIZE_MISMATCH,
           "F is 3, but the plan was made for 2");
    other = args;
    other.y.data = x;
    EXPECT(c, gnn_op_check(&both, plan, &other), OVERLAP, "y shares memory with x");
    other = args;
    EXPECT(c, gnn_op_launch(&both, plan, &other, NULL, 0, NULL), BAD_WORKSPACE,
           "the workspace has 0 bytes; version naive of spmm needs 256");
    other.x.data = NULL;
    EXPECT(c, gnn_op_check(&both, plan, &other), MISSING, "x has no data");
    size_t bytes = 1;
    EXPECT(c, gnn_op_workspace(&both, plan, &other, &bytes), MISSING, "x has no data");
    CHECK(!bytes && gnn_op_workspace(&both, plan, &args, NULL) == GNN_BAD_ARGUMENT);
    EXPECT(c, gnn_op_workspace(&narrow, plan, &args, &bytes), BAD_ARGUMENT,
           "narrow is given a plan of spmm that its call did not make");
    memset(&args.src, 0, sizeof args.src);
    memset(&args.dst, 0, sizeof args.dst);
    launch(c, &both, plan, &args);   // maps are the plan's
    gnn_plan_free(plan);
    gnn_op_free(op);
}

// A size of 0 with arrays at hand was forgotten: an op that does nothing would be right by its
// letters.
static void forgotten(gnn_context *c) {
    spmm_args args = arguments(false),
              none = {.alpha = 1, .src = {.width = 32}, .dst = {.width = 32}};
    gnn_op *op = NULL;
    gnn_plan *plan = NULL;
    _Alignas(256) char workspace[256];
    GOOD(c, gnn_op_load(&both, c, &op));
    args.E = args.U = args.V = args.F = 0;
    EXPECT(
        c, gnn_op_plan(&both, op, &args, NULL, &plan), MISSING,
        "E is 0, but there is an array of src: give its size; GNN_EMPTY where it is 0, GNN_TOLD where maps and tensors tell it");
    args.E = E;
    args.dst = (gnn_map){.offsets = (int32_t[]){0}, .width = 32};   // of no rows
    args.V = 0;
    args.U = U;
    EXPECT(
        c, gnn_op_plan(&both, op, &args, NULL, &plan), MISSING,
        "V is 0, but there is an array of dst: give its size; GNN_EMPTY where it is 0, GNN_TOLD where maps and tensors tell it");
    args = arguments(false);
    args.F = 0;
    args.x.data = args.y.data = NULL;   // tensors may come later, and then it shows
    GOOD(c, gnn_op_plan(&both, op, &args, NULL, &plan));
    args.y.data = y;
    EXPECT(
        c, gnn_op_launch(&both, plan, &args, workspace, sizeof workspace, NULL), MISSING,
        "F is 0, but there is an array of y: give its size; GNN_EMPTY where it is 0, GNN_TOLD where maps and tensors tell it");
    args.F = GNN_EMPTY;
    GOOD(c, gnn_op_launch(&both, plan, &args, workspace, sizeof workspace, NULL));
    gnn_plan_free(plan);
    GOOD(c, gnn_op_plan(&both, op, &none, NULL, &plan));   // nothing is given of anything
    GOOD(c, gnn_op_launch(&both, plan, &none, workspace, sizeof workspace, NULL));
    gnn_plan_free(plan);
    args = arguments(false);
    args.E = GNN_EMPTY;
    GOOD(c, gnn_op_plan(&both, op, &args, NULL, &plan));
    GOOD(c, gnn_op_launch(&both, plan, &args, workspace, sizeof workspace, NULL));
    CHECK(y[0] == 0 && y[3] == 0);
    gnn_plan_free(plan);
    args.E = args.U = args.V = args.F = 0;   // told all the same
    args.src.domain = E;
    args.src.codomain = U;
    args.dst.codomain = V;
    args.x = (gnn_tensor){.data = x, .dtype = GNN_F32, .rank = 2, .shape = {U, F}};
    plan_and_launch(c, &both, &args, 0, 32);
    gnn_op_free(op);
}

static void out_of_memory(void) {
    bool failed_once = false;
    for (int64_t i = 0;; i++) {
        ledger l;
        gnn_context *c = new_context(&l, 1);
        spmm_args args = arguments(true);
        gnn_op *op = NULL;
        gnn_plan *plan = NULL;
        l.fail_at = l.calls + i;
        gnn_status s = gnn_op_load(&both, c, &op);
        if (!s) s = gnn_op_plan(&both, op, &args, NULL, &plan);
        CHECK(!s == (plan != NULL));
        CHECK(!s || s == GNN_NO_MEMORY);
        failed_once |= s != GNN_OK;
        gnn_plan_free(plan);
        gnn_op_free(op);
        end_context(c, &l);
        if (!s) break;
    }
    CHECK(failed_once);
}

// ---- GPUs: the fake is an sm_90 -----------------------------------------------------------------
static void nothing(void **params, unsigned grid, unsigned block, unsigned shared) {
    (void)params, (void)grid, (void)block, (void)shared;
}

static const char cuda32[] = SPMM("sm_90", "32");
#define BUILD(name, right, ptx)                                                                    \
    {.manifest = cuda32,                                                                           \
     .manifest_size = sizeof cuda32 - 1,                                                           \
     .target = name,                                                                               \
     .index_bits = 32,                                                                             \
     .is_ptx = ptx,                                                                                \
     .code = {.image = (right) ? "fake" : "wrong", .size = 5}}

// The fake driver takes the right image alone.
static void takes(gnn_context *c, const gnn_build *builds, uint32_t n, const char *error) {
    gnn_op *op = NULL;
    gnn_status s = gnn_op_load(&(gnn_artefact){GNN_ABI, n, "spmm", builds, NULL}, c, &op);
    expect_error(c, s, *error ? GNN_BAD_CODE : GNN_OK, error, __LINE__);
    gnn_op_free(op);
}

static void devices(void) {
    gnn_context *c = NULL;
    fake_forget();
    fake_register("gather", nothing, 7, 0);
    fake_register("add", nothing, 6, 0);
    CHECK(gnn_context_new(&(gnn_context_options){.device = GNN_AUTO}, &c) == GNN_OK &&
          gnn_context_device(c) == GNN_GPU(0));
    takes(c,
          (gnn_build[]){BUILD("sm_80", 0, 0), BUILD("sm_90", 0, 0), BUILD("sm_90a", 1, 0),
                        host_builds[0]},
          4, "");
    takes(c, (gnn_build[]){BUILD("sm_90", 1, 0), BUILD("sm_90", 0, 1), BUILD("sm_100", 0, 0)}, 3,
          "");
    takes(c, (gnn_build[]){BUILD("sm_80", 0, 0), BUILD("sm_80", 1, 1), BUILD("sm_100", 0, 1)}, 3,
          "");
    takes(c,
          (gnn_build[]){BUILD("sm_80", 0, 0), BUILD("sm_100", 0, 1), BUILD("sm_80", 0, 0),
                        host_builds[0]},
          4, "spmm holds no code for this device's sm_90, only for sm_80, sm_100, host");
    gnn_context_free(c);
}

static void no_host_code(gnn_context *c) {
    gnn_op *op;
    EXPECT(
        c,
        gnn_op_load(&(gnn_artefact){GNN_ABI, 1, "spmm", (gnn_build[]){BUILD("sm_90", 1, 0)}, NULL},
                    c, &op),
        BAD_CODE, "spmm holds no code for the host, only for sm_90");
}

int main(void) {
    ledger l;
    gnn_context *c = new_context(&l, 2);
    widths(c);
    told(c);
    refused(c);
    forgotten(c);
    no_host_code(c);
    end_context(c, &l);
    out_of_memory();
    devices();
    return failed;
}
