// libFuzzer: no text makes the parser or the formatter fail; formatting is idempotent and changes
// no tree.
#include "../frontend/ast_dump.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ast_file *parse_text(arena *a, diag_set *ds, const char *text, size_t length) {
    return ast_parse(a, intern_new(a), ds,
                     source_map_add(diag_sources(ds), "fuzz.gnn", text, length));
}

static void same(const textbuf *a, const textbuf *b, const char *what) {
    if (a->len != b->len || memcmp(a->data, b->data, a->len))
        ICE("%s:\n%s\n----\n%s", what, a->data, b->data);
}

static uint32_t count(const struct ast_comment *c) {
    uint32_t n = 0;
    for (; c; c = c->next) n++;
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    arena *a = arena_new();
    diag_set *ds = diag_set_new(a, source_map_new(a));
    ast_file *file = parse_text(a, ds, (const char *)data, size);
    textbuf once = textbuf_new(a), twice = textbuf_new(a), tree = textbuf_new(a),
            again = textbuf_new(a);
    dump_file(&tree, file);
    if (!diag_errors(ds)) {
        ast_format(&once, file);
        ast_file *second = parse_text(a, ds, once.data, once.len);
        if (diag_errors(ds)) ICE("formatted text has errors:\n%s", once.data);
        dump_file(&again, second);
        same(&tree, &again, "another tree");
        if (count(file->comments) != count(second->comments)) ICE("comments lost:\n%s", once.data);
        ast_format(&twice, second);
        same(&once, &twice, "not idempotent");
    }
    arena_free(a);
    return 0;
}
