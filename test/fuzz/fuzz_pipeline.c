// libFuzzer: no source makes the frontend, the plans or the printers fail, and no op that the frontend
// accepts is undefined: evaluated at small sizes it reads nothing at none and nothing out of range. The last
// byte is the seed too.
#include "pipeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pipeline_run((const char *)data, size, size ? data[size - 1] : 0);
    return 0;
}
