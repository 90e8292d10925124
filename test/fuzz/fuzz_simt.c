// libFuzzer: no text makes the reader of SIMT IR, its verifier or the analysis of uniform values fail, and
// what verifies prints to text that reads back to the same text.
#include "simt.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static simt_module *parse(arena *a, const char *text, size_t length) {
    diag_set *ds = diag_set_new(a, source_map_new(a));
    simt_module *m = simt_parse(a, ds, source_map_add(diag_sources(ds), "fuzz.simt", text, length));
    if (!m == !diag_errors(ds)) ICE("a result that its diagnostics do not explain");
    return m;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    arena *a = arena_new();
    simt_module *m = parse(a, (const char *)data, size);
    if (m && !simt_verify(a, m)) {
        textbuf once = textbuf_new(a), twice = textbuf_new(a);
        simt_print(&once, m);
        simt_module *again = parse(a, once.data, once.len);
        if (!again) ICE("printed text does not read back:\n%s", once.data);
        simt_print(&twice, again);
        if (once.len != twice.len || memcmp(once.data, twice.data, once.len))
            ICE("another text:\n%s\n----\n%s", once.data, twice.data);
        for (uint32_t i = 0; i < m->funcs.len; i++) simt_uniformity_of(a, m->funcs.data[i]);
    }
    arena_free(a);
    return 0;
}
