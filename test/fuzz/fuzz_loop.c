// libFuzzer: no text makes the reader of loop IR or its verifier fail, and what is read prints to text that
// reads back to the same text.
#include "loop.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static loop_plan *parse(arena *a, const char *text, size_t length) {
    diag_set *ds = diag_set_new(a, source_map_new(a));
    loop_plan *plan = NULL;
    bool good = loop_parse(a, ds, source_map_add(diag_sources(ds), "fuzz.loop", text, length), &plan);
    if (good == (diag_errors(ds) > 0)) ICE("a result that its diagnostics do not explain");
    return good ? plan : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    arena *a = arena_new();
    loop_plan *plan = parse(a, (const char *)data, size);
    if (plan) {
        textbuf once = textbuf_new(a), twice = textbuf_new(a);
        loop_print(&once, plan);
        loop_plan *again = parse(a, once.data, once.len);
        if (!again) ICE("printed text does not read back:\n%s", once.data);
        loop_print(&twice, again);
        if (once.len != twice.len || memcmp(once.data, twice.data, once.len))
            ICE("another text:\n%s\n----\n%s", once.data, twice.data);
    }
    arena_free(a);
    return 0;
}
