// What assemblers say of kernels, and how many blocks of a kernel fit a multiprocessor: the numbers
// of CUDA's calculator.
#include "jit_test.h"

static const char log_text[] =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'sum_2' for 'sm_90'\n"
    "ptxas info    : Function properties for sum_2\n"
    "    24 bytes stack frame, 16 bytes spill stores, 28 bytes spill loads\n"
    "ptxas info    : Used 128 registers, used 1 barriers, 24 bytes cumulative stack size\n"
    "ptxas info    : Compiling entry function 'sum' for 'sm_90'\n"
    "ptxas info    : Function properties for sum\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 30 registers, 4096 bytes smem, 400 bytes cmem[0]\n"
    "ptxas info    : Function properties for cut\n"
    "ptxas info    : Function properties for last\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 8 registers\n";

static void test_log(void) {
    cg_usage u;
    CHECK(cg_usage_read(log_text, "sum_2", &u));
    CHECK(u.registers == 128 && u.stack == 24 && u.spill_stores == 16 && u.spill_loads == 28);
    CHECK(cg_usage_read(log_text, "sum", &u));
    CHECK(u.registers == 30 && !u.stack && !u.spill_stores && !u.spill_loads);
    CHECK(!cg_usage_read(log_text, "cut", &u));   // what follows is another's
    CHECK(!cg_usage_read(log_text, "su", &u) && !cg_usage_read("", "sum", &u));
}

static const struct {
    const char *arch;
    uint32_t threads, shared, registers, blocks;
    cg_limit limit;
    double warps;
} fits[] = {{"sm_90", 256, 0, 32, 8, CG_BY_THREADS, 1},
            {"sm_90", 256, 0, 33, 6, CG_BY_REGISTERS, 0.75},
            {"sm_90", 256, 0, 255, 1, CG_BY_REGISTERS, 0.125},
            {"sm_90", 96, 0, 40, 16, CG_BY_REGISTERS, 0.75},
            {"sm_90", 1024, 0, 64, 1, CG_BY_REGISTERS, 0.5},
            {"sm_90", 1024, 0, 65, 0, CG_BY_REGISTERS, 0},
            {"sm_90", 32, 0, 16, 32, CG_BY_BLOCKS, 0.5},
            {"sm_90", 128, 101376, 64, 2, CG_BY_SHARED, 0.125},
            {"sm_90", 128, 232448, 64, 1, CG_BY_SHARED, 0.0625},
            {"sm_90", 128, 1, 16, 16, CG_BY_THREADS, 1},
            {"sm_80", 128, 32768, 32, 4, CG_BY_SHARED, 0.25},
            {"sm_86", 64, 0, 16, 16, CG_BY_BLOCKS, 2 / 3.0},
            {"sm_86", 256, 16384, 32, 5, CG_BY_SHARED, 5 / 6.0},
            {"sm_89", 32, 0, 16, 24, CG_BY_BLOCKS, 0.5}};

static void test_fits(void) {
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
        cg_occupancy o = cg_occupancy_of(gpu_arch_find(fits[i].arch), fits[i].threads,
                                         fits[i].shared, fits[i].registers);
        CHECK(o.blocks == fits[i].blocks && o.limit == fits[i].limit && o.warps == fits[i].warps);
    }
}

int main(void) {
    test_log();
    test_fits();
    return failed;
}
