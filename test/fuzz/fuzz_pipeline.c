// libFuzzer: no source makes the frontend, the plans or the printers fail, and no op that the
// frontend accepts is undefined: evaluated at small sizes it reads nothing at none and nothing out
// of range. The first byte is the seed; from 128 on the others are no text, but choose one
// (grammar.c), which GNNC_FUZZ_PRINT=1 in the environment prints.
#include "pipeline.h"

#include "frontend/ast.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Most mutated texts do not parse, and the prelude, which is loaded first, takes ten times as long.
static bool parses(arena *a, const char *text, size_t length) {
    diag_set *ds = diag_set_new(a, source_map_new(a));
    ast_parse(a, intern_new(a), ds, source_map_add(diag_sources(ds), "fuzz.gnn", text, length));
    return !diag_errors(ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    arena *a = arena_new();
    const char *text = (const char *)data + 1;
    size_t length = size - 1;
    if (data[0] >= 128) {
        textbuf made = grammar_text(a, data + 1, size - 1);
        text = made.data, length = made.len;
        if (getenv("GNNC_FUZZ_PRINT")) fputs(text, stderr);
    }
    if (data[0] >= 128 || size % 8 == 0 || parses(a, text, length))
        pipeline_run(text, length, data[0]);
    arena_free(a);
    return 0;
}
