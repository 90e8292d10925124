// See play_cuda.h.
#include "play_cuda.h"
#include "fake_cuda.h"

#include "codegen/sim.h"

#include <string.h>

typedef struct {
    const char *name, *text;
    size_t size;
} embedded_file;
extern const embedded_file builders_simt_files[];

enum { WIDTHS = 2, MOST_WRITTEN = 1 << 16 };
typedef struct {
    simt_module *module;
    sim *sim;
} player;
static arena *memory;
static diag_set *faults;
static player players[WIDTHS];
static struct {   // what kernels of each player may have written, which the other does not know
    const void *start;
    uint32_t by;
} written[MOST_WRITTEN];
static uint32_t nwritten;

static bool others_wrote(const void *start, uint32_t width, bool writes) {
    uint32_t i = 0;
    while (i < nwritten && written[i].start != start) i++;
    if (i == nwritten) {
        if (i == MOST_WRITTEN) ICE("more than %d arrays", MOST_WRITTEN);
        written[i].start = start;
        written[i].by = 0;
        nwritten++;
    }
    const bool others = (written[i].by & ~(1u << width)) != 0;
    if (writes) written[i].by |= 1u << width;
    return others;
}

static sim_arg pointer(const simt_param_info *p, void *address, uint32_t width) {
    sim_arg x = {.name = p->name, .data = address};
    if (address && !fake_memory(address, &x.data, &x.bytes, &x.written))
        ICE("%s: no memory lies there", p->name);
    if (address && others_wrote(x.data, width, !(p->flags & SIMT_READONLY))) x.written = true;
    if (address) x.bytes -= (size_t)((char *)address - (char *)x.data);
    x.data = address;
    return x;
}

static void play(const char *kernel, void **params, unsigned grid, unsigned block,
                 unsigned shared) {
    enum { MOST = 32 };
    uint32_t width = 0;
    const simt_func *f = NULL;
    for (uint32_t k = 0; k < WIDTHS; k++) {
        const simt_func *found = simt_func_find(players[k].module, kernel);
        if (found) f = found, width = k;
    }
    if (!f || f->params.len > MOST) ICE("kernel '%s' cannot be played", kernel);
    // a GPU's blocks have what the launch gives them
    if (block != f->block || shared != f->shared_bytes)
        ICE("kernel '%s' has blocks of %u threads and %u bytes, not %u and %u", kernel, f->block,
            f->shared_bytes, block, shared);
    sim_arg args[MOST];
    for (uint32_t i = 0; i < f->params.len; i++) {
        const simt_param_info *p = &f->params.data[i];
        uint64_t slot;
        memcpy(&slot, params[i], sizeof slot);
        args[i] = (sim_arg){.slot = slot};
        if (simt_typeof(f, p->value).element == SIMT_PTR_GLOBAL)
            args[i] = pointer(p, (void *)(uintptr_t)slot, width);
    }
    sim_launch(players[width].sim, kernel, args, grid, false);
}

void play_begin(uint64_t seed) {
    if (!memory) {
        memory = arena_new();
        source_map *sources = source_map_new(memory);
        faults = diag_set_new(memory, sources);
        for (uint32_t k = 0; k < WIDTHS; k++) {
            const embedded_file *e = &builders_simt_files[k];
            players[k].module = simt_parse(memory, faults,
                                           source_map_add(sources, e->name, e->text, e->size));
            diag_print(faults, stdout);
            if (!players[k].module) ICE("%s does not parse", e->name);
        }
    }
    for (uint32_t k = 0; k < WIDTHS; k++) {
        sim_free(players[k].sim);
        players[k].sim = sim_new(faults, players[k].module);
        sim_begin(players[k].sim, SIM_RANDOM, seed);
    }
    nwritten = 0;
    fake_play(play);
}

uint32_t play_end(void) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < WIDTHS; k++) {
        n += sim_report(players[k].sim);
        sim_free(players[k].sim);
        players[k].sim = NULL;
    }
    diag_print(faults, stdout);
    fake_play(NULL);
    return n;
}
