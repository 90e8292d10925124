// Bytes of objects compressed by zlib, as runtime/inflate.c reads them (runtime/MANIFEST.md).
#include "compile.h"

#include <string.h>
#include <zlib.h>

static const unsigned char magic[8] = {0x89, 'g', 'n', 'n', 'c', 'z', '1', '\n'};
enum { HEADER = sizeof magic + 2 * 8 };

static void put_number(unsigned char *out, uint64_t n) {
    for (int i = 0; i < 8; i++) out[i] = (unsigned char)(n >> 8 * i);
}

// The highest level takes five times as long, and leaves 2 % less of cubins.
enum { LEVEL = 7 };

cg_output cg_deflate(arena *a, const char *data, size_t size) {
    uLongf stream = compressBound(size);
    unsigned char *out = ARENA_ARRAY(a, unsigned char, HEADER + stream);
    if (compress2(out + HEADER, &stream, (const Bytef *)data, size, LEVEL) != Z_OK)
        out_of_memory(stream);
    memcpy(out, magic, sizeof magic);
    put_number(out + sizeof magic, stream);
    put_number(out + sizeof magic + 8, size);
    return (cg_output){(const char *)out, HEADER + stream, ""};
}
