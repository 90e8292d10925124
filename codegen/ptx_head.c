// PTX that others wrote, or edited: what it says of itself outside of bodies. Its version, its
// target, and of each kernel the bytes of its parameters and the threads of its block. Bodies are
// for an assembler to judge.
#include "codegen.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    arena *arena;
    diag_set *ds;
    const source_file *file;
    cg_ptx_head *head;
    uint32_t at, end;        // of the token; both the length: there is none left
    bool failed, external;   // external: the statement at hand began with .extern
    bool shared_given, addressed;
} reader;

// ---- Tokens -------------------------------------------------------------------------------------
static char peek(const reader *r, uint32_t at) {
    return at < r->file->length ? r->file->text[at] : 0;
}

static span here(const reader *r) {
    if (!r->file->base) return NO_SPAN;
    return (span){r->file->base + r->at, r->file->base + (r->end > r->at ? r->end : r->at)};
}

static void fail_at(reader *r, span at, const char *what) {
    if (r->failed) return;
    r->failed = true;
    diag_help(diag(r->ds, E0829, at, "%s", what), "--emit=ptx writes what can be edited");
    r->at = r->end = r->file->length;
}

static void fail(reader *r, const char *what) { fail_at(r, here(r), what); }

static uint32_t past(const reader *r, uint32_t at, const char *mark) {
    while (at < r->file->length && strncmp(r->file->text + at, mark, strlen(mark))) at++;
    uint32_t end = at + (uint32_t)strlen(mark);
    return end < r->file->length ? end : r->file->length;
}

static uint32_t token_start(const reader *r, uint32_t at) {
    for (;;) {
        char c = peek(r, at);
        if (c == '/' && peek(r, at + 1) == '/') at = past(r, at, "\n");
        else if (c == '/' && peek(r, at + 1) == '*') at = past(r, at + 2, "*/");
        else if (at < r->file->length && (isspace((unsigned char)c) || !c)) at++;
        else return at;
    }
}

static bool is_inner(char c) {
    return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '$' || c == '%';
}

static void next(reader *r) {
    r->at = r->end = token_start(r, r->end);
    if (peek(r, r->at) == '"') {
        r->end = past(r, r->at + 1, "\"");
        return;
    }
    while (is_inner(peek(r, r->end))) r->end++;
    if (r->end == r->at && r->at < r->file->length) r->end++;
}

static bool over(const reader *r) { return r->at == r->end; }

static bool is(const reader *r, const char *text) {
    size_t n = strlen(text);
    return r->end - r->at == n && !memcmp(r->file->text + r->at, text, n);
}

static bool take(reader *r, const char *text) {
    bool found = is(r, text);
    if (found) next(r);
    return found;
}

static const char *word(reader *r, const char *what) {
    char c = peek(r, r->at);
    if (!is_inner(c) || c == '.') return fail(r, what), "";
    const char *text = arena_strndup(r->arena, r->file->text + r->at, r->end - r->at);
    next(r);
    return text;
}

// Numbers that matter here are small.
static uint32_t number(reader *r, const char *what) {
    enum { DIGITS = 9 };
    uint32_t n = 0, i = r->at;
    for (; i < r->end && i < r->at + DIGITS && isdigit((unsigned char)peek(r, i)); i++)
        n = n * 10 + (uint32_t)(peek(r, i) - '0');
    if (over(r) || i < r->end) return fail(r, what), 0;
    next(r);
    return n;
}

// ---- Kernels ------------------------------------------------------------------------------------
static uint32_t bytes_of(const reader *r) {
    static const struct {
        const char *bits;
        uint32_t bytes;
    } widths[] = {{"8", 1}, {"16", 2}, {"32", 4}, {"64", 8}, {"128", 16}};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        for (const char *kind = "usbf"; *kind; kind++) {
            char name[8] = {'.', *kind};
            strcpy(name + 2, widths[i].bits);
            if (is(r, name)) return widths[i].bytes;
        }
    return 0;
}

// .param .align 8 .b8 name[16], .param .u64 .ptr .global .align 1 name
static uint32_t param(reader *r) {
    enum { MOST = 32764 };   // bytes that a kernel can be given
    uint32_t bytes = 0;
    if (!take(r, ".param")) return fail(r, "expected '.param'"), 0;
    while (!over(r) && peek(r, r->at) == '.') {
        if (bytes_of(r)) bytes = bytes_of(r);
        if (take(r, ".align")) number(r, "expected a number of bytes");
        else next(r);
    }
    word(r, "expected the name of a parameter");
    if (take(r, "[")) {
        uint32_t n = number(r, "expected how many elements a parameter has");
        bytes = n <= MOST ? bytes * n : 0;
        if (!take(r, "]")) fail(r, "expected ']'");
    }
    if (!bytes) fail(r, "a parameter without a type and a size that can be");
    return bytes;
}

static void params(reader *r, cg_ptx_entry *e) {
    if (!take(r, "(") || take(r, ")")) return;
    do VEC_PUSH(r->arena, &e->params, param(r));
    while (!r->failed && take(r, ","));
    if (!r->failed && !take(r, ")")) fail(r, "expected ',' or ')'");
}

// x, or x, y, or x, y, z: how many threads that is.
static uint32_t threads(reader *r) {
    uint64_t n = number(r, "expected a number of threads");
    while (take(r, ",")) n *= number(r, "expected a number of threads");
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

// What stands between a kernel's head and its body.
static void directives(reader *r, cg_ptx_entry *e) {
    while (!over(r) && !is(r, "{") && !is(r, ";")) {
        if (take(r, ".reqntid")) e->threads = threads(r);
        else if (take(r, ".maxntid")) e->most = threads(r);
        else if (is(r, ".reqnctapercluster") || is(r, ".explicitcluster"))
            fail(r, "a kernel that asks for clusters of blocks, which launches don't have");
        else if (take(r, ".pragma")) next(r), take(r, ";");
        else next(r);
    }
}

// Shared memory of a size of its own.
static void note_sized(reader *r) {
    if (!r->head->shared_at.hi) r->head->shared_at = here(r);
}

static void body(reader *r) {
    uint32_t depth = 0;
    do {
        if (over(r)) fail(r, "a body without its end: expected '}'");
        depth += is(r, "{");
        depth -= is(r, "}");
        if (is(r, ".shared")) note_sized(r);
        next(r);
    } while (depth && !r->failed);
}

static void entry(reader *r) {
    cg_ptx_entry e = {.at = here(r)};
    e.name = word(r, "expected the name of a kernel");
    params(r, &e);
    directives(r, &e);
    if (take(r, ";") || r->failed) return;   // only declared
    if (!is(r, "{")) fail(r, "a kernel without a body");
    else body(r);
    if (cg_ptx_find(r->head, e.name)) fail_at(r, e.at, "a second kernel of this name");
    VEC_PUSH(r->arena, &r->head->entries, e);
}

// ---- The module ---------------------------------------------------------------------------------
// As in 7.8.
static void version(reader *r) {
    const char *expected = "expected a version, as 7.8", *text;
    char *end;
    r->head->version_at = here(r);
    text = word(r, expected);
    unsigned long major = strtoul(text, &end, 10);
    bool good = end > text && end <= text + 2 && end[0] == '.' && isdigit((unsigned char)end[1]) &&
                !end[2];
    if (good) r->head->version = (uint32_t)major * 10 + (uint32_t)(end[1] - '0');
    else fail_at(r, r->head->version_at, expected);
}

static void target(reader *r) {
    r->head->arch_at = here(r);
    r->head->arch = word(r, "expected an architecture, as sm_90");
    while (take(r, ",")) word(r, "expected an option of '.target'");
}

static void address_size(reader *r) {
    if (!is(r, "64")) fail(r, "addresses of kernels have 64 bits here");
    r->addressed = true;
    next(r);
}

static void statement(reader *r) {
    if (take(r, ".version")) version(r);
    else if (take(r, ".target")) target(r);
    else if (take(r, ".address_size")) address_size(r);
    else if (take(r, ".entry")) entry(r);
    else if (is(r, "{")) body(r);
    else if (is(r, "}")) fail(r, "a '}' without its '{'");
    else if (take(r, ".extern")) {
        r->external = true;
        return;
    } else {
        if (is(r, ".shared") && r->external) r->shared_given = true;
        else if (is(r, ".shared")) note_sized(r);
        bool inside = !is(r, ";") && !is(r, ".visible") && !is(r, ".weak");
        next(r);
        if (inside) return;
    }
    r->external = false;
}

static const char *first_comment(const reader *r) {
    const char *text = r->file->text;
    if (strncmp(text, "//", 2)) return "";
    text += 2 + strspn(text + 2, " ");
    return arena_strndup(r->arena, text, strcspn(text, "\n"));
}

static void must_have(reader *r) {
    if (r->failed) return;
    r->at = r->end = 0;   // what is missing is missing from its start on
    if (!r->head->version) fail(r, "this is no PTX: '.version' is missing");
    else if (!r->head->arch) fail(r, "'.target' is missing");
    else if (!r->addressed) fail(r, "'.address_size 64' is missing, and is 32 by itself");
    else if (!r->head->entries.len) fail(r, "there is no kernel ('.entry') in it");
}

bool cg_ptx_read(arena *a, diag_set *ds, const source_file *text, cg_ptx_head *out) {
    *out = (cg_ptx_head){0};
    reader r = {.arena = a, .ds = ds, .file = text, .head = out};
    out->note = first_comment(&r);
    next(&r);
    while (!over(&r)) statement(&r);
    out->shared_mixed = r.shared_given && out->shared_at.hi;
    must_have(&r);
    return !r.failed;
}

const cg_ptx_entry *cg_ptx_find(const cg_ptx_head *h, const char *name) {
    for (uint32_t i = 0; i < h->entries.len; i++)
        if (!strcmp(h->entries.data[i].name, name)) return &h->entries.data[i];
    return NULL;
}
