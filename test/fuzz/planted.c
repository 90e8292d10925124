// GNNC_FUZZ_FAULT=TEXT: an input that holds TEXT is a fault, to see that it is found, told and
// replayed. The linker's --wrap has what calls a fuzzer's entry come by here.
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bool asked;
    static const char *planted;
    if (!asked) planted = getenv("GNNC_FUZZ_FAULT");
    asked = true;
    if (planted && *planted && memmem(data, size, planted, strlen(planted))) abort();
    return __real_LLVMFuzzerTestOneInput(data, size);
}
