// Prints what an object holds of op `one`.
#include "copy.h"

#include <stdio.h>
#include <string.h>

int main(void) {
    const gnn_artefact *a = &one_artefact;
    printf("%s: interface %u, %u builds\n", a->name, a->abi, a->nbuilds);
    for (uint32_t i = 0; i < a->nbuilds; i++) {
        const gnn_build *b = &a->builds[i];
        const char *image = b->code.image;
        char target[64], bits[64];
        sprintf(target, "\"target\": \"%.20s\"", b->target);
        sprintf(bits, "\"index_bits\": %u", b->index_bits);
        if (strlen(b->manifest) != b->manifest_size || !strstr(b->manifest, target) ||
            !strstr(b->manifest, bits))
            return 1;
        printf("%s %u: ", b->target, b->index_bits);
        if (!image) printf("%u kernels\n", (unsigned)b->code.nkernels);
        else if (b->is_ptx)
            printf("%s\n", strstr(image, ".version") && !image[b->code.size] ? "PTX" : "unknown");
        else printf("%s\n", !memcmp(image, "\177ELF", 4) ? "ELF" : "unknown");
    }
    return 0;
}
