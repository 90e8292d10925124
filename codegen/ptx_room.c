// Kernels that want room for many blocks on a multiprocessor get as much of it as their registers leave: beyond that the
// assembler would put registers into memory.
//     .reqntid 256  .minnctapersm 6, of a body that needs 77 registers   →   .minnctapersm 3
#include "ptx_room.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST = 255,   // registers of a thread
    UNIT = 8,
    SLACK = 3     // an assembler finds an order that is better than the body's, by one part in so many at most
};

static const char entry[] = ".entry ", threads_start[] = ".reqntid ", room_start[] = ".minnctapersm ";

static uint32_t registers_of(uint32_t threads, uint32_t blocks) {
    uint32_t each = blocks ? CG_REGISTERS / (threads * blocks) / UNIT * UNIT : MOST;
    return each < MOST ? each : MOST;
}

// 0: it is not worth asking for.
static uint32_t blocks_for(uint32_t threads, uint32_t blocks, uint32_t needed) {
    uint32_t limit = registers_of(threads, blocks);
    if (needed <= limit + limit / SLACK) return blocks;
    while (blocks && registers_of(threads, blocks) < needed) blocks--;
    return blocks > 1 ? blocks : 0;
}

// Of the kernel whose head holds it; the line that says so.
static void put_room(textbuf *out, arena *a, const char *threads, const char *room, const char *body) {
    uint32_t asked = (uint32_t)strtoul(room + sizeof room_start - 1, NULL, 10),
             block = (uint32_t)strtoul(threads + sizeof threads_start - 1, NULL, 10);
    uint32_t blocks = blocks_for(block, asked, cg_ptx_pressure(a, body));
    if (blocks) textbuf_printf(out, "%s%u\n", room_start, blocks);
}

void cg_ptx_room(arena *a, cg_output *ptx) {
    textbuf out = textbuf_new(a);
    const char *done = ptx->data;
    for (const char *at = strstr(done, entry); at; at = strstr(at, entry)) {
        const char *body = strstr(at, "\n{"), *threads = strstr(at, threads_start), *room = strstr(at, room_start);
        at += sizeof entry - 1;
        if (!body || !threads || !room || threads > body || room > body) continue;
        textbuf_printf(&out, "%.*s", (int)(room - done), done);
        put_room(&out, a, threads, room, body + 2);
        done = strchr(room, '\n') + 1;
    }
    if (done == ptx->data) return;
    textbuf_puts(&out, done);
    ptx->data = out.data;
    ptx->size = out.len;
}
