// libFuzzer: no source makes the frontend, the plans or the printers fail, and no op that the frontend
// accepts is undefined: evaluated at small sizes it reads nothing at none and nothing out of range. The first
// byte is the seed; from 128 on the others are no text, but choose one (grammar.c), which GNNC_FUZZ_PRINT=1
// in the environment prints.
#include "pipeline.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    pipeline_run(text, length, data[0]);
    arena_free(a);
    return 0;
}
