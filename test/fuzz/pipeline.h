// The whole pipeline, for its fuzzer.
#ifndef TEST_FUZZ_PIPELINE_H
#define TEST_FUZZ_PIPELINE_H

#include "support/support.h"

#include <stddef.h>
#include <stdint.h>

// A source through frontend, plans and printers; the ops it has are evaluated too. seed: bits 0 and
// 1 the sizes, 2 the index width, 3 the target, 4 the naive plan in place of schedules.
void pipeline_run(const char *text, size_t size, uint8_t seed);
// a source that the bytes choose
textbuf grammar_text(arena *a, const uint8_t *data, size_t size);

#endif
