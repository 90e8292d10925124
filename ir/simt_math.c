// The scalar maths library: functions of math.simt, embedded as text. Only what is asked for is
// read, and what that calls, each once for a module.
#include "simt_lex.h"

#include <string.h>

typedef struct {
    const char *name, *text;
    size_t size;
} embedded_file;
extern const embedded_file math_simt_files[];   // ended by a NULL name

static bool find_text(const char *name, source_file *file, uint32_t *at) {
    char head[80];
    int n = snprintf(head, sizeof head, "\nfunc %s(", name);
    if (n < 0 || (size_t)n >= sizeof head) return false;
    for (const embedded_file *e = math_simt_files; e->name; e++) {
        const char *found = strstr(e->text, head);
        if (!found) continue;
        *file = (source_file){.path = e->name, .text = e->text, .length = (uint32_t)e->size};
        *at = (uint32_t)(found + 1 - e->text);
        return true;
    }
    return false;
}

static simt_func *load(simt_module *m, const char *name, uint32_t depth);

// Reads the function's callees first, so that its calls find them.
static void load_callees(simt_module *m, const source_file *file, uint32_t at, uint32_t depth) {
    simt_lexer x = {.arena = m->arena, .file = file};
    uint32_t braces = 0;
    for (simt_lex_start(&x, at); x.token.kind != TOKEN_END; simt_lex_next(&x)) {
        if (simt_lex_is(&x, '{')) braces++;
        if (simt_lex_is(&x, '}') && --braces == 0) return;
        if (!simt_lex_is_word(&x, "call")) continue;
        simt_lex_next(&x);
        const char *callee = simt_lex_copy(&x, x.token);
        if (!load(m, callee, depth + 1)) ICE("%s: there is no function '%s'", file->path, callee);
    }
}

static simt_func *load(simt_module *m, const char *name, uint32_t depth) {
    simt_func *f = simt_func_find(m, name);
    if (f && !f->kernel) return f;
    source_file file;
    uint32_t at;
    if (!find_text(name, &file, &at)) return NULL;
    if (depth > 32) ICE("%s: '%s' is part of a circle of calls", file.path, name);
    load_callees(m, &file, at, depth);
    return simt_parse_function(m, NULL, &file, at);
}

simt_func *simt_math(simt_module *m, const char *name, simt_element e) {
    if (e != SIMT_F32 && e != SIMT_F64) return NULL;
    return load(m, arena_printf(m->arena, "%s_%s", name, simt_element_text(e)), 0);
}
