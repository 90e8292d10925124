// The one format: lays out the units of a file with their comments.
//
// Units go on lines of their own, or on the line of the one before where they were written so and
// fit. A block written on one line stays there where it fits. Lines are broken at the outermost
// place that is near enough. A comment stays behind what it followed, or on its own line; at most
// one blank line is kept.
#include "format.h"

#include <string.h>

enum { WIDTH = 110, INDENT = 4 };

typedef struct {
    textbuf *out;
    const source_file *source;
    const struct ast_comment *comment;   // the next to print
    uint32_t last;                       // where in the source what was printed last ended
    bool fresh;                          // nothing is printed in this block yet
} layout;

// ---- The source ---------------------------------------------------------------------------------
static const char *source_at(const layout *l, uint32_t position) {
    return l->source->text + (position - l->source->base);
}

static uint32_t newlines(const layout *l, uint32_t from, uint32_t to) {
    uint32_t n = 0;
    for (; from < to; from++) n += *source_at(l, from) == '\n';
    return n;
}

static bool on_own_line(const layout *l, const struct ast_comment *c) {
    uint32_t i = c->at.lo;
    while (i > l->source->base && strchr(" \t\r", *source_at(l, i - 1)) && *source_at(l, i - 1))
        i--;
    return i == l->source->base || *source_at(l, i - 1) == '\n';
}

static bool comment_before(const layout *l, uint32_t position) {
    return l->comment && l->comment->at.lo < position;
}

// ---- Lines --------------------------------------------------------------------------------------
static uint32_t column(const layout *l) {
    size_t i = l->out->len;
    while (i && l->out->data[i - 1] != '\n') i--;
    return (uint32_t)(l->out->len - i);
}

static void indent(layout *l, uint32_t n) { textbuf_printf(l->out, "%*s", (int)n, ""); }

static size_t room_at(uint32_t margin) { return margin < WIDTH ? WIDTH - margin : 0; }

static void end_line(layout *l) {
    if (column(l)) textbuf_puts(l->out, "\n");
}

// Starts the line of what stands at `position`.
static void start_line(layout *l, uint32_t position, uint32_t n) {
    end_line(l);
    if (!l->fresh && l->last < position && newlines(l, l->last, position) > 1)
        textbuf_puts(l->out, "\n");
    l->fresh = false;
    indent(l, n);
}

static void passed(layout *l, uint32_t position) {
    if (position > l->last) l->last = position;
}

static void put_comment(layout *l) {
    span at = l->comment->at;
    textbuf_putn(l->out, source_at(l, at.lo), at.hi - at.lo);
    passed(l, at.hi);
    l->comment = l->comment->next;
}

static void comments_before(layout *l, uint32_t position, uint32_t n) {
    while (comment_before(l, position)) {
        start_line(l, l->comment->at.lo, n);
        put_comment(l);
    }
}

// The comment that shares the line on which something ends: behind it, or inside of what could not
// be broken there.
static bool comment_behind(layout *l, uint32_t end) {
    if (!l->comment) return false;
    uint32_t lo = l->comment->at.lo;
    if (lo < end ? on_own_line(l, l->comment) : newlines(l, end, lo) > 0) return false;
    textbuf_puts(l->out, "  ");
    put_comment(l);
    return true;
}

// ---- One unit -----------------------------------------------------------------------------------
// The breaks
// of one flow, as far as they are decided.
typedef struct {
    const format_flow *f;
    uint32_t next;     // the first that lies behind the line's start
    uint32_t forced;   // the first that a comment before it forces
    // the first of rank 0: taken too once another one was, so that "->" doesn't end a list of
    // parameters
    uint32_t outer;
    bool inner_taken;
    bool each;   // those that are taken where the text does not fit one line are
} line_breaks;

static void look_ahead(const layout *l, line_breaks *b) {
    const format_break *at = b->f->breaks.data;
    uint32_t end = b->f->breaks.len;
    if (b->forced < b->next) b->forced = b->next;
    if (end && !comment_before(l, at[end - 1].position)) b->forced = end;
    while (b->forced < end && !comment_before(l, at[b->forced].position)) b->forced++;
    if (b->outer < b->next) b->outer = b->next;
    while (b->outer < end && at[b->outer].rank) b->outer++;
}

// Where the line that starts at offset `from` ends: at a break or, past the last, at the end. All
// of it if it fits, else the outermost of the breaks that are near enough and the last of those,
// else the first.
static uint32_t find_break(const line_breaks *b, size_t from, uint32_t margin, uint32_t after) {
    const format_break *at = b->f->breaks.data;
    uint32_t end = b->f->breaks.len,
             to = b->inner_taken && b->outer < b->forced ? b->outer : b->forced;
    for (uint32_t i = b->next; i < to && b->each; i++)
        if (at[i].each) to = i;
    size_t room = room_at(margin + (to == end ? after : 0));
    if ((to < end ? at[to].offset : b->f->text.len) - from <= room || b->next >= to) return to;
    uint32_t best = b->next;
    for (uint32_t i = b->next; i < to && at[i].offset - from <= room; i++)
        if (at[i].rank <= at[best].rank) best = i;
    return best;
}

static void comments_inside(layout *l, uint32_t position, uint32_t n) {
    if (comment_before(l, position) && !on_own_line(l, l->comment)) {
        textbuf_puts(l->out, "  ");
        put_comment(l);
    }
    while (comment_before(l, position)) {
        end_line(l);
        indent(l, n);
        put_comment(l);
    }
}

// Room for `after` columns is left behind it.
static void put_flow(layout *l, const format_flow *f, uint32_t n, uint32_t after) {
    line_breaks b = {.f = f, .each = f->text.len > room_at(n + after)};
    uint32_t margin = n;
    size_t from = 0;
    for (;;) {
        look_ahead(l, &b);
        uint32_t at = find_break(&b, from, margin, after);
        if (at == f->breaks.len) break;
        format_break taken = f->breaks.data[at];
        textbuf_putn(l->out, f->text.data + from, taken.offset - from);
        margin = n +
                 (taken.rank >= FORMAT_BRACKET && taken.rank != FORMAT_LAST ? 2 * INDENT : INDENT);
        comments_inside(l, taken.position, margin);
        end_line(l);
        indent(l, margin);
        b.inner_taken |= taken.rank > 0;
        b.next = at + 1;
        from = taken.offset + 1;
    }
    textbuf_putn(l->out, f->text.data + from, f->text.len - from);
}

// ---- Units on one line --------------------------------------------------------------------------
static bool comment_in(const layout *l, span at) {
    const struct ast_comment *c = l->comment;
    while (c && c->at.lo < at.lo) c = c->next;
    return c && c->at.lo < at.hi;
}

static size_t flat_length(const format_unit *u) {
    size_t n = u->head.text.len;
    if (!u->block.hi) return n;
    n += u->inner ? strlen(" {  }") : strlen(" {}");
    for (const format_unit *i = u->inner; i; i = i->next) n += flat_length(i) + (i->next ? 2 : 0);
    return n;
}

static bool is_flat(const layout *l, const format_unit *u, size_t room) {
    if (flat_length(u) > room || comment_in(l, u->at)) return false;
    return !u->block.hi || !newlines(l, u->block.lo, u->block.hi);
}

static void put_flat(layout *l, const format_unit *u) {
    textbuf_putn(l->out, u->head.text.data, u->head.text.len);
    if (u->block.hi) {
        textbuf_puts(l->out, u->inner ? " { " : " {");
        for (const format_unit *i = u->inner; i; i = i->next) {
            put_flat(l, i);
            if (i->next) textbuf_puts(l->out, "  ");
        }
        textbuf_puts(l->out, u->inner ? " }" : "}");
    }
    passed(l, u->at.hi);
}

// ---- Lists of units -----------------------------------------------------------------------------
static void put_units(layout *l, const format_unit *list, uint32_t n);

static void put_block(layout *l, const format_unit *u, uint32_t n) {
    textbuf_puts(l->out, " {");
    passed(l, u->block.lo + 1);
    bool first = comment_before(l, u->inner ? u->inner->at.lo : u->block.hi);
    bool behind = first && comment_behind(l, u->block.lo + 1);
    if (!u->inner && !comment_before(l, u->block.hi)) {
        if (behind) end_line(l), indent(l, n);
        textbuf_puts(l->out, "}");
        passed(l, u->at.hi);
        return;
    }
    l->fresh = true;
    put_units(l, u->inner, n + INDENT);
    comments_before(l, u->block.hi, n + INDENT);
    l->fresh = false;
    end_line(l);
    indent(l, n);
    textbuf_puts(l->out, "}");
    passed(l, u->at.hi);
}

static void put_unit(layout *l, const format_unit *u, uint32_t n) {
    put_flow(l, &u->head, n, u->block.hi ? 2 : 0);
    if (u->block.hi) put_block(l, u, n);
    passed(l, u->at.hi);
}

static void put_units(layout *l, const format_unit *list, uint32_t n) {
    const format_unit *before = NULL;   // on the line being written
    for (const format_unit *u = list; u; u = u->next) {
        bool joined = before && !comment_before(l, u->at.lo) &&
                      !newlines(l, before->at.hi, u->at.lo);
        if (joined && is_flat(l, u, room_at(column(l) + 2))) {
            textbuf_puts(l->out, "  ");
            put_flat(l, u);
        } else {
            comments_before(l, u->at.lo, n);
            start_line(l, u->at.lo, n);
            before = NULL;
            if (!is_flat(l, u, room_at(n))) {
                put_unit(l, u, n);
                comment_behind(l, u->at.hi);
                continue;
            }
            put_flat(l, u);
        }
        before = u;
        if (!u->next || newlines(l, u->at.hi, u->next->at.lo)) comment_behind(l, u->at.hi);
    }
}

void ast_format(textbuf *out, const ast_file *file) {
    layout l = {.out = out,
                .source = file->source,
                .comment = file->comments,
                .last = file->source->base,
                .fresh = true};
    put_units(&l, format_items(out->arena, file->items), 0);
    comments_before(&l, file->source->base + file->source->length + 1, 0);
    end_line(&l);
}
