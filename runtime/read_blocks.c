// Lines of text by all cores. A round cuts what the buffer holds into pieces of whole lines; each
// is parsed by one thread into a block of edges, and blocks are taken in their order. Pieces do not
// depend on the number of threads. A piece with a wrong line says so quietly; its lines are then
// read one by one, as if nobody had looked, so that the first one in the file is told with its
// number.
#include "graph_blocks.h"

#include <string.h>

enum { PIECE = RT_TEXT / RT_BLOCKS };

typedef struct {
    rt_lines lines;
    rt_source source;    // with nothing left
    gnn_context quiet;   // of its failures
    size_t begin;        // in the buffer
} piece;
typedef struct {
    const rt_line_rounds *w;
    rt_lines *l;
    size_t bytes;   // of a piece, about: fewer where so many fill a block before their end
    bool ended;     // the buffer holds all that is left
    uint32_t n;
    piece *pieces;
} rounds;

// ---- Cutting ------------------------------------------------------------------------------------
static size_t after_newline(const rounds *r, size_t from) {
    const char *newline = from < r->l->length
                              ? memchr(r->l->buffer + from, '\n', r->l->length - from)
                              : NULL;
    return newline ? (size_t)(newline - r->l->buffer) + 1 : 0;
}

// The end of the last whole line, or `from`.
static size_t last_end(const rounds *r, size_t from) {
    size_t end = r->l->length;
    while (!r->ended && end > from && r->l->buffer[end - 1] != '\n') end--;
    return end;
}

static void begin_piece(rounds *r, size_t begin, size_t end) {
    piece *p = &r->pieces[r->n++];
    const rt_lines *l = r->l;
    p->begin = begin;
    p->source = *l->s;
    p->source.c = &p->quiet;
    p->lines = (rt_lines){.s = &p->source,
                          .buffer = l->buffer + begin,
                          .length = end - begin,
                          .comments = l->comments,
                          .whole = true};
}

static void cut(rounds *r) {
    size_t at = r->l->next, last = last_end(r, at);
    for (r->n = 0; r->n < RT_BLOCKS && at < last;) {
        size_t end = after_newline(r, at + r->bytes);
        end = end && end < last ? end : last;
        begin_piece(r, at, end);
        at = end;
    }
}

// ---- Rounds -------------------------------------------------------------------------------------
static void parse(void *user, uint32_t i, rt_edge_block *b) {
    rounds *r = user;
    r->w->parse(r->w->user, i, &r->pieces[i].lines, b);
}

// Pieces that count: up to the first that is wrong, or that filled its block before its end.
static gnn_status accept(rounds *r, uint32_t *n) {
    rt_lines *l = r->l;
    for (*n = 0; *n < r->n; ++*n) {
        const piece *p = &r->pieces[*n];
        l->next = p->begin;
        if (p->lines.status || !r->w->accept(r->w->user, *n)) {
            gnn_status told = r->w->tell(r->w->user);
            return told ? told
                        : rt_fail(l->s->c, GNN_IO, "%s: the file changed while it was read",
                                  l->s->name);
        }
        l->next += p->lines.next;
        l->number += p->lines.number;
        if (p->lines.next < p->lines.length) {
            r->bytes = p->lines.next - p->lines.next / 4;
            ++*n;
            break;
        }
    }
    return GNN_OK;
}

static gnn_status read_round(rounds *r) {
    uint32_t n;
    cut(r);
    if (!r->n)   // a line longer than the buffer
        return rt_next_line(r->l) ? GNN_OK : r->l->status;
    gnn_status s = rt_edge_blocks_fill(r->w->blocks, r->n, parse, r);
    if (!s) s = accept(r, &n);
    return s ? s : r->w->take(r->w->user, n);
}

gnn_status rt_read_rounds(const rt_line_rounds *w) {
    rt_lines *l = w->lines;
    rounds r = {.w = w, .l = l, .bytes = PIECE};
    r.pieces = rt_alloc_zeroed(l->s->c, RT_BLOCKS * sizeof *r.pieces);
    gnn_status s = r.pieces ? GNN_OK : GNN_NO_MEMORY;
    while (!s && rt_lines_hold(l, RT_BLOCKS * r.bytes, &r.ended)) {
        s = read_round(&r);
        rt_tell_part(l->s->c, w->pass, (double)l->s->at / (double)l->s->size);
    }
    rt_free(l->s->c, r.pieces);
    return s ? s : l->status;
}
