// Kernels that want room for as many blocks on a multiprocessor as fit get as much of it as their
// registers leave: beyond that the assembler would put registers into memory. Those that insist on
// it get it, and a remark.
//     .reqntid 256  .minnctapersm 6, of a body that needs 77 registers   →   .minnctapersm 3
#include "ptx_room.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST = 255,   // registers of a thread
    UNIT = 8,
    // an assembler finds an order that is better than the body's, by one part in so many at most
    SLACK = 3
};

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$"
static const char entry[] = ".entry ", threads_start[] = ".reqntid ",
                  room_start[] = ".minnctapersm ";

static uint32_t registers_of(uint32_t threads, uint32_t blocks) {
    uint32_t each = blocks ? CG_REGISTERS / (threads * blocks) / UNIT * UNIT : MOST;
    return each < MOST ? each : MOST;
}

static bool is_crowded(uint32_t threads, uint32_t blocks, uint32_t needed) {
    uint32_t limit = registers_of(threads, blocks);
    return needed > limit + limit / SLACK;
}

// 0: it is not worth asking for.
static uint32_t blocks_for(uint32_t threads, uint32_t blocks, uint32_t needed) {
    if (!is_crowded(threads, blocks, needed)) return blocks;
    while (blocks && registers_of(threads, blocks) < needed) blocks--;
    return blocks > 1 ? blocks : 0;
}

typedef struct {
    const simt_func *func;     // NULL: there is no other
    const char *room, *body;   // its line; what follows the brace
    uint32_t threads, blocks;
} kernel_text;

static const simt_func *func_at(arena *a, const simt_module *m, const char *name) {
    return simt_func_find(m, arena_strndup(a, name, strspn(name, NAME_CHARS)));
}

// The next kernel that says something of its room; where to go on from, NULL: past the last.
static const char *next_kernel(arena *a, const simt_module *m, const char *at, kernel_text *k) {
    while ((at = strstr(at, entry))) {
        const char *body = strstr(at, "\n{"), *threads = strstr(at, threads_start),
                   *room = strstr(at, room_start), *name = at += sizeof entry - 1;
        if (!body || !threads || !room || threads > body || room > body) continue;
        *k = (kernel_text){func_at(a, m, name), room, body + 2,
                           (uint32_t)strtoul(threads + sizeof threads_start - 1, NULL, 10),
                           (uint32_t)strtoul(room + sizeof room_start - 1, NULL, 10)};
        return at;
    }
    return NULL;
}

void cg_ptx_room(arena *a, const simt_module *m, cg_output *ptx) {
    textbuf out = textbuf_new(a);
    const char *done = ptx->data;
    kernel_text k;
    for (const char *at = done; (at = next_kernel(a, m, at, &k));) {
        if (!k.func || !k.func->fits) continue;
        uint32_t blocks = blocks_for(k.threads, k.blocks, cg_ptx_pressure(a, k.body));
        textbuf_printf(&out, "%.*s", (int)(k.room - done), done);
        if (blocks) textbuf_printf(&out, "%s%u\n", room_start, blocks);
        done = strchr(k.room, '\n') + 1;
    }
    if (done == ptx->data) return;
    textbuf_puts(&out, done);
    ptx->data = out.data;
    ptx->size = out.len;
}

void cg_ptx_crowded(arena *a, diag_set *ds, const simt_module *m, const cg_output *ptx) {
    kernel_text k;
    for (const char *at = ptx->data; (at = next_kernel(a, m, at, &k));) {
        if (!k.func || k.func->fits) continue;
        uint32_t needed = cg_ptx_pressure(a, k.body);
        if (!is_crowded(k.threads, k.blocks, needed)) continue;
        diagnostic *d = diag(
            ds, P0701, k.func->at,
            "kernel '%s' needs some %u registers a thread, and `occupancy %u` leaves it %u: the others lie in memory",
            k.func->name, needed, k.func->occupancy, registers_of(k.threads, k.blocks));
        if (d)
            diag_help(d, "ask for less room, or say `occupancy %u soft`, which gives way",
                      k.func->occupancy);
    }
}
