// Names of the builders of prepared arrays, as loop IR, programs and manifests spell them.
#include "prepared.h"

const char *prepared_builder_text(prepared_builder b) {
    static const char *const text[] = {
#define X(name, text) text,
        PREPARED_BUILDERS(X)
#undef X
    };
    return text[b];
}
