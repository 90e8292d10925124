// What a kernel takes of a multiprocessor, as the assembler tells it, and how many of its blocks
// fit one. The rounding is that of CUDA's occupancy calculator.
#include "codegen.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 32 };

// ---- What the assembler says --------------------------------------------------------------------
// ptxas, and nvJitLink and the driver, which hold it, say it alike:
//     ptxas info    : Function properties for KERNEL
//         0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//     ptxas info    : Used 30 registers, used 1 barriers

static const char *section_of(const char *log, const char *kernel) {
    static const char title[] = "Function properties for ";
    size_t n = strlen(kernel);
    for (const char *at = strstr(log, title); at; at = strstr(at, title)) {
        at += sizeof title - 1;
        if (!strncmp(at, kernel, n) && (at[n] == '\n' || at[n] == '\r')) return at + n;
    }
    return NULL;
}

// The number in front of the words, before the section ends.
static bool number_before(const char *section, const char *words, uint32_t *out) {
    const char *end = strstr(section, "Function properties for "), *at = strstr(section, words);
    if (!at || (end && at > end)) return false;
    const char *first = at;
    while (first > section && first[-1] >= '0' && first[-1] <= '9') first--;
    *out = (uint32_t)strtoul(first, NULL, 10);
    return first < at;
}

bool cg_usage_read(const char *log, const char *kernel, cg_usage *out) {
    *out = (cg_usage){0};
    const char *section = section_of(log, kernel);
    return section && number_before(section, " registers", &out->registers) &&
           number_before(section, " bytes stack frame", &out->stack) &&
           number_before(section, " bytes spill stores", &out->spill_stores) &&
           number_before(section, " bytes spill loads", &out->spill_loads);
}

// ---- What fits ----------------------------------------------------------------------------------

static uint32_t round_up(uint32_t x, uint32_t unit) { return (x + unit - 1) / unit * unit; }

// Registers are dealt out to warps, of which each quarter of a multiprocessor has its own.
static uint32_t by_registers(uint32_t warps, uint32_t registers) {
    if (!registers) return UINT32_MAX;
    uint32_t each = round_up(registers * LANES, CG_REGISTER_UNIT),
             quarter = CG_REGISTERS / CG_QUARTERS / each;
    return quarter * CG_QUARTERS / warps;
}

cg_occupancy cg_occupancy_of(const gpu_arch *a, uint32_t threads, uint32_t shared,
                             uint32_t registers) {
    uint32_t warps = round_up(threads, LANES) / LANES, most = a->threads / LANES;
    const uint32_t fit[CG_LIMIT_COUNT] = {
        [CG_BY_THREADS] = most / warps,
        [CG_BY_BLOCKS] = a->blocks,
        [CG_BY_SHARED] = a->shared_bytes / (round_up(shared, CG_SHARED_UNIT) + CG_SHARED_RESERVED),
        [CG_BY_REGISTERS] = by_registers(warps, registers)};
    cg_occupancy o = {.blocks = fit[0], .limit = 0};
    for (cg_limit k = 1; k < CG_LIMIT_COUNT; k++)
        if (fit[k] < o.blocks) o = (cg_occupancy){.blocks = fit[k], .limit = k};
    o.warps = (double)(o.blocks * warps) / most;
    return o;
}

const char *cg_limit_text(cg_limit k) {
    static const char *const texts[CG_LIMIT_COUNT] = {
#define X(name, text) text,
        CG_LIMITS(X)
#undef X
    };
    return texts[k];
}
