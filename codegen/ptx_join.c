// PTX as text: what the assembler would ask the disk for; modules of parts of one module, to one. A
// part as LLVM prints it has
//
// - its header: .version … .address_size, the declaration of shared memory where a kernel of it has some;
// - its body, from the first "// .globl";
// - its tail: .section …, then a `.file` for each number that a `.loc` of the body names.
#include "ptx_join.h"

#include <stdlib.h>
#include <string.h>

static const char body_start[] = "\t// .globl", loc_start[] = "\t.loc\t",
                  file_start[] = "\t.file\t";

typedef struct {
    arena *arena;
    textbuf text;
    VEC(const char *) files;   // names, quoted, by number from 1
} joint;

static bool starts(const char *line, const char *with) {
    return !strncmp(line, with, strlen(with));
}
static size_t line_length(const char *line) {
    const char *end = strchr(line, '\n');
    return end ? (size_t)(end - line) + 1 : strlen(line);
}

static const char *body_of(const char *ptx) {
    while (*ptx && !starts(ptx, body_start)) ptx += line_length(ptx);
    return ptx;
}

static const char *tail_of(const char *body) {
    while (*body && !starts(body, "\t.section") && !starts(body, file_start))
        body += line_length(body);
    return body;
}

// Headers differ in shared memory alone, so the longest serves all.
static void put_header(joint *j, const cg_output *parts, uint32_t n) {
    const cg_output *longest = &parts[0];
    for (uint32_t k = 1; k < n; k++)
        if (body_of(parts[k].data) - parts[k].data > body_of(longest->data) - longest->data)
            longest = &parts[k];
    textbuf_putn(&j->text, longest->data, (size_t)(body_of(longest->data) - longest->data));
}

static uint32_t file_number(joint *j, const char *name) {
    for (uint32_t k = 0; k < j->files.len; k++)
        if (!strcmp(j->files.data[k], name)) return k + 1;
    VEC_PUSH(j->arena, &j->files, name);
    return j->files.len;
}

// The part's numbers of files, as ours: [0] unused.
typedef VEC(uint32_t) numbering;
static numbering number_files(joint *j, const char *tail) {
    numbering ours = {0};
    VEC_PUSH(j->arena, &ours, 0);
    for (const char *p = tail; *p; p += line_length(p)) {
        if (!starts(p, file_start)) continue;
        char *name;
        unsigned long number = strtoul(p + strlen(file_start), &name, 10);
        if (number != ours.len) ICE("PTX numbers a file %lu, and %u was due", number, ours.len);
        VEC_PUSH(j->arena, &ours, file_number(j, arena_strndup(j->arena, name, line_length(name))));
    }
    return ours;
}

static void put_body(joint *j, const char *body, const char *tail) {
    numbering ours = number_files(j, tail);
    for (const char *p = body; p < tail; p += line_length(p)) {
        char *rest = (char *)(uintptr_t)p;
        unsigned long number = starts(p, loc_start) ? strtoul(p + strlen(loc_start), &rest, 10) : 0;
        if (number >= ours.len) ICE("PTX names file %lu of %u", number, ours.len - 1);
        if (number) textbuf_printf(&j->text, "%s%u", loc_start, ours.data[number]);
        textbuf_putn(&j->text, rest, line_length(p) - (size_t)(rest - p));
    }
}

static void put_tail(joint *j, const char *tail) {
    for (const char *p = tail; *p; p += line_length(p))
        if (!starts(p, file_start)) textbuf_putn(&j->text, p, line_length(p));
    for (uint32_t k = 0; k < j->files.len; k++)
        textbuf_printf(&j->text, "%s%u%s", file_start, k + 1, j->files.data[k]);
}

void cg_ptx_join(arena *a, const cg_output *parts, uint32_t n, cg_output *out) {
    joint j = {.arena = a, .text = textbuf_new(a)};
    put_header(&j, parts, n);
    const char *tail = "";
    for (uint32_t k = 0; k < n; k++) {
        const char *body = body_of(parts[k].data);
        tail = tail_of(body);
        put_body(&j, body, tail);
    }
    put_tail(&j, tail);
    out->data = j.text.data;
    out->size = j.text.len;
}

void cg_ptx_stamp(arena *a, cg_output *ptx) {
    textbuf text = textbuf_new(a);
    for (const char *p = ptx->data; *p; p += line_length(p)) {
        size_t n = line_length(p);
        bool file = starts(p, file_start), ended = p[n - 1] == '\n';
        textbuf_putn(&text, p, n - (file && ended));
        // 0, 0 is as good as nothing
        if (file) textbuf_puts(&text, ended ? ", 1, 1\n" : ", 1, 1");
    }
    ptx->data = text.data;
    ptx->size = text.len;
}
