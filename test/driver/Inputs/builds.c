// Prints what an object holds of op `one`; all of it is compressed.
#include "copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// NULL: it is not what runtime/MANIFEST.md says.
static char *inflated(const void *bytes, size_t size) {
    static const unsigned char magic[8] = {0x89, 'g', 'n', 'n', 'c', 'z', '1', '\n'};
    const unsigned char *at = bytes;
    unsigned long length = 0, plain = 0, i;
    if (size < 24 || memcmp(at, magic, 8)) return NULL;
    for (i = 8; i-- > 0;) length = length << 8 | at[8 + i], plain = plain << 8 | at[16 + i];
    char *text = malloc(plain + 1);
    uLongf got = plain;
    if (length != size - 24 || uncompress((Bytef *)text, &got, at + 24, length) != Z_OK ||
        got != plain)
        return NULL;
    text[plain] = 0;
    return text;
}

static int put_build(const gnn_build *b) {
    char target[64], bits[64], *manifest = inflated(b->manifest, b->manifest_size);
    const char *at;
    int versions = 0;
    sprintf(target, "\"target\": \"%.20s\"", b->target);
    sprintf(bits, "\"index_bits\": %u", b->index_bits);
    if (!manifest || !strstr(manifest, target) || !strstr(manifest, bits)) return 1;
    for (at = manifest; (at = strstr(at, "\"guards\":")); at++) versions++;
    printf("%s %u: ", b->target, b->index_bits);
    if (!b->code.image) printf("%u kernels", (unsigned)b->code.nkernels);
    else {
        char *image = inflated(b->code.image, b->code.size);
        int ptx = image && b->is_ptx && strstr(image, ".version"),
            elf = image && !b->is_ptx && !memcmp(image, "\177ELF", 4);
        printf("%s", ptx ? "PTX" : elf ? "ELF" : "unknown");
        free(image);
    }
    printf(versions > 1 ? ", several versions\n" : ", the naive version\n");
    free(manifest);
    return 0;
}

int main(void) {
    const gnn_artefact *a = &one_artefact;
    int wrong = 0;
    printf("%s: interface %u, %u builds\n", a->name, a->abi, a->nbuilds);
    for (uint32_t i = 0; i < a->nbuilds; i++) wrong |= put_build(&a->builds[i]);
    for (uint32_t i = 0; i < a->nbuilds; i++)
        for (uint32_t k = 0; k < i; k++)
            if (a->builds[i].manifest == a->builds[k].manifest)
                printf("%s %u: one manifest for both images\n", a->builds[i].target,
                       a->builds[i].index_bits);
    return wrong;
}
