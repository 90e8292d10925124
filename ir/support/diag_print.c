// The one printer of diagnostics, with a human and a JSON face.
//
//     gat.gnn:3:9: error[E0204]: 'x' is not declared
//        3 |     y = x + 1
//          |         ^
//     gat.gnn:3:9: help: did you mean 'xs'?
//        3 |     y = x + 1
//          |         ^
//          |         xs
#include "internal.h"

#include <stdlib.h>
#include <string.h>

// columns, and bytes of a line that are shown
enum { TAB_WIDTH = 4, WINDOW = 160, BEFORE_CARET = 80 };

typedef struct {
    textbuf text;
    const source_map *sources;
    bool color;
} printer;

static const char *const bold = "\033[1m", *const red = "\033[1;31m", *const magenta = "\033[1;35m",
                         *const cyan = "\033[1;36m", *const green = "\033[1;32m",
                         *const blue = "\033[1;34m", *const plain = "\033[0m";

static void put_colored(printer *p, const char *color, const char *s) {
    if (p->color) textbuf_puts(&p->text, color);
    textbuf_puts(&p->text, s);
    if (p->color) textbuf_puts(&p->text, plain);
}

// Characters that move the cursor or reorder text would let a source line misrepresent itself.
static bool is_invisible(uint32_t point) {
    return point < 0x20 || (point >= 0x7f && point < 0xa0) ||
           (point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2060 && point <= 0x206f) || point == 0xfeff;
}

static bool is_wide(uint32_t p) {
    return (p >= 0x1100 && p <= 0x115f) || (p >= 0x2e80 && p <= 0xa4cf) ||
           (p >= 0xac00 && p <= 0xd7a3) || (p >= 0xf900 && p <= 0xfaff) ||
           (p >= 0xfe30 && p <= 0xfe6f) || (p >= 0xff00 && p <= 0xff60) ||
           (p >= 0x1f300 && p <= 0x1faff) || (p >= 0x20000 && p <= 0x3fffd);
}

static bool is_combining(uint32_t p) {
    return (p >= 0x300 && p <= 0x36f) || (p >= 0xfe00 && p <= 0xfe0f);
}

// Appends the character at s as it may be shown; gives its bytes and the columns it takes.
static size_t put_character(textbuf *out, const char *s, size_t n, uint32_t column,
                            uint32_t *width) {
    uint32_t point = 0;
    size_t length = utf8_decode(s, n, &point), before = out->len;
    if (*s == '\t') {
        *width = TAB_WIDTH - column % TAB_WIDTH;
        textbuf_printf(out, "%*s", (int)*width, "");
        return 1;
    }
    if (!length || (is_invisible(point) && length == 1))
        textbuf_printf(out, "<%02X>", (unsigned char)*s);
    else if (is_invisible(point)) textbuf_printf(out, "<U+%04X>", point);
    else textbuf_putn(out, s, length);
    bool literal = length && !is_invisible(point);
    *width = !literal              ? (uint32_t)(out->len - before)
             : is_wide(point)      ? 2
             : is_combining(point) ? 0
                                   : 1;
    return length ? length : 1;
}

static void put_escaped(textbuf *out, const char *s) {
    uint32_t width;
    for (size_t n = strlen(s); n;) {
        size_t length = put_character(out, s, n, 0, &width);
        s += length;
        n -= length;
    }
}

static bool continues(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

// A line and the part of it under the carets, with rows for the carets and for a replacement.
static void put_snippet(printer *p, span at, const char *color, const char *replacement) {
    source_position start = source_map_position(p->sources, at.lo);
    if (!start.file) return;
    uint32_t length, first = start.column - 1;
    const char *line = source_map_line(p->sources, at.lo, &length);
    if (first > length) first = length;
    uint32_t last = at.hi - at.lo > length - first ? length : first + (at.hi - at.lo);
    uint32_t from = length > WINDOW && first > BEFORE_CARET ? first - BEFORE_CARET : 0;
    while (from && from < first && continues(line[from])) from++;

    textbuf shown = textbuf_new(p->text.arena);
    uint32_t column = 0, caret = 0, caret_end = 0, i = from, width;
    if (from) textbuf_puts(&shown, "…"), column = 1;
    for (; i < length && i - from < WINDOW; column += width) {
        if (i <= first) caret = column;
        i += (uint32_t)put_character(&shown, line + i, length - i, column, &width);
        if (i <= last) caret_end = column + width;
    }
    if (i < length) textbuf_puts(&shown, "…");
    if (i < last) caret_end = column;
    if (first >= i) caret = column;
    if (caret_end <= caret) caret_end = caret + 1;

    textbuf_puts(&p->text, p->color ? blue : "");
    textbuf_printf(&p->text, "%5u | %s%s\n", start.line, p->color ? plain : "", shown.data);
    textbuf_printf(&p->text, "%s      | %s%*s", p->color ? blue : "", p->color ? color : "",
                   (int)caret, "");
    for (uint32_t c = caret; c < caret_end; c++) textbuf_puts(&p->text, "^");
    textbuf_printf(&p->text, "%s\n", p->color ? plain : "");
    if (!replacement || !*replacement) return;
    textbuf_printf(&p->text, "%s      | %s%*s", p->color ? blue : "", p->color ? green : "",
                   (int)caret, "");
    put_escaped(&p->text, replacement);
    textbuf_printf(&p->text, "%s\n", p->color ? plain : "");
}

static void put_location(printer *p, span at) {
    source_position start = source_map_position(p->sources, at.lo);
    if (p->color) textbuf_puts(&p->text, bold);
    if (start.file) {
        put_escaped(&p->text, start.file->path);
        textbuf_printf(&p->text, ":%u:%u: ", start.line, start.column);
    } else {
        textbuf_puts(&p->text, "gnnc: ");
    }
    if (p->color) textbuf_puts(&p->text, plain);
}

static void put_part(printer *p, const diag_part *part) {
    const char *label = part->kind == PART_NOTE ? "note: " : "help: ";
    if (part->at.hi) put_location(p, part->at);
    else textbuf_puts(&p->text, "  = ");
    put_colored(p, cyan, label);
    put_escaped(&p->text, part->message);
    textbuf_puts(&p->text, "\n");
    if (part->at.hi) put_snippet(p, part->at, cyan, part->replacement);
}

static const char *severity_text(const diag_set *ds, diag_code code) {
    if (diag_is_error(ds, code)) return "error";
    return diag_table(code)->sev == SEV_WARNING ? "warning" : "remark";
}

static void put_text(printer *p, const diag_set *ds, const diagnostic *d) {
    const diag_info *info = diag_table(d->code);
    bool error = diag_is_error(ds, d->code);
    const char *color = error ? red : info->sev == SEV_WARNING ? magenta : cyan;
    put_location(p, d->at);
    textbuf_puts(&p->text, p->color ? color : "");
    textbuf_printf(&p->text, "%s[%s]: %s", severity_text(ds, d->code), info->code,
                   p->color ? plain : "");
    if (p->color) textbuf_puts(&p->text, bold);
    put_escaped(&p->text, d->message);
    if (p->color) textbuf_puts(&p->text, plain);
    if (info->sev != SEV_ERROR)
        textbuf_printf(&p->text, " [%s-W%s]", error ? "-Werror," : "", info->name);
    textbuf_puts(&p->text, "\n");
    put_snippet(p, d->at, color, NULL);
    for (uint32_t i = 0; i < d->parts.len; i++) put_part(p, &d->parts.data[i]);
}

// ---- JSON ---------------------------------------------------------------------------------------

static void json_text(printer *p, const char *key, const char *value) {
    textbuf_printf(&p->text, "\"%s\":", key);
    textbuf_json_string(&p->text, value, strlen(value));
}

static void json_span(printer *p, span at) {
    source_position start = source_map_position(p->sources, at.lo);
    if (!start.file) {
        textbuf_puts(
            &p->text,
            ",\"file\":null,\"line\":null,\"column\":null,\"end_line\":null,\"end_column\":null");
        return;
    }
    uint32_t end_of_file = start.file->base + start.file->length;
    source_position end = source_map_position(p->sources,
                                              at.hi > end_of_file ? end_of_file : at.hi);
    textbuf_puts(&p->text, ",");
    json_text(p, "file", start.file->path);
    textbuf_printf(&p->text, ",\"line\":%u,\"column\":%u,\"end_line\":%u,\"end_column\":%u",
                   start.line, start.column, end.line, end.column);
}

static void json_parts(printer *p, const diagnostic *d, bool fixes) {
    bool first = true;
    for (uint32_t i = 0; i < d->parts.len; i++) {
        const diag_part *part = &d->parts.data[i];
        if ((part->kind == PART_FIX) != fixes) continue;
        textbuf_puts(&p->text, first ? "{" : ",{");
        first = false;
        if (fixes) json_text(p, "replacement", part->replacement);
        else json_text(p, "kind", part->kind == PART_NOTE ? "note" : "help");
        textbuf_puts(&p->text, ",");
        json_text(p, "message", part->message);
        json_span(p, part->at);
        textbuf_puts(&p->text, "}");
    }
}

static void put_json(printer *p, const diag_set *ds, const diagnostic *d) {
    textbuf_puts(&p->text, "{");
    json_text(p, "code", diag_table(d->code)->code);
    textbuf_puts(&p->text, ",");
    json_text(p, "name", diag_table(d->code)->name);
    textbuf_puts(&p->text, ",");
    json_text(p, "severity", severity_text(ds, d->code));
    textbuf_puts(&p->text, ",");
    json_text(p, "message", d->message);
    json_span(p, d->at);
    textbuf_puts(&p->text, ",\"notes\":[");
    json_parts(p, d, false);
    textbuf_puts(&p->text, "],\"fixes\":[");
    json_parts(p, d, true);
    textbuf_puts(&p->text, "]}\n");
}

// ---- The set ------------------------------------------------------------------------------------

static int by_position(const void *a, const void *b) {
    const diagnostic *x = *(diagnostic *const *)a, *y = *(diagnostic *const *)b;
    if (x->at.lo != y->at.lo) return x->at.lo < y->at.lo ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void put_hidden(printer *p, uint32_t hidden, const diag_options *o) {
    if (!hidden || o->format == DIAG_JSON) return;
    textbuf_printf(&p->text, "gnnc: %u more error%s not shown (--max-errors=%u)\n", hidden,
                   hidden == 1 ? "" : "s", o->max_errors);
}

void diag_put(diag_set *ds, textbuf *out) {
    arena *scratch = out->arena;
    printer p = {.text = textbuf_new(scratch), .sources = ds->sources, .color = ds->options.color};
    VEC(diagnostic *) fresh = {0};
    for (uint32_t i = 0; i < ds->all.len; i++) {
        diagnostic *d = ds->all.data[i];
        if (d->printed || !diag_shown(ds, d->code)) continue;
        d->printed = true;
        VEC_PUSH(scratch, &fresh, d);
    }
    if (fresh.len) qsort(fresh.data, fresh.len, sizeof *fresh.data, by_position);
    uint32_t hidden = 0;
    for (uint32_t i = 0; i < fresh.len; i++) {
        bool error = diag_is_error(ds, fresh.data[i]->code);
        bool full = ds->options.max_errors && ds->printed_errors >= ds->options.max_errors;
        hidden += full && error;
        if (full) continue;
        ds->printed_errors += error;
        const char *advice = error ? source_map_advice(ds->sources, fresh.data[i]->at.lo) : NULL;
        if (advice) diag_help(fresh.data[i], "%s", advice);
        if (ds->options.format == DIAG_JSON) put_json(&p, ds, fresh.data[i]);
        else put_text(&p, ds, fresh.data[i]);
    }
    put_hidden(&p, hidden, &ds->options);
    textbuf_putn(out, p.text.data, p.text.len);
}

void diag_print(diag_set *ds, FILE *out) {
    arena *scratch = arena_new();
    textbuf text = textbuf_new(scratch);
    diag_put(ds, &text);
    fwrite(text.data, 1, text.len, out);
    fflush(out);
    arena_free(scratch);
}
