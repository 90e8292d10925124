// A pack: gzip members, each a record: JSON, a zero, data.
#include "replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { GZIP = 15 + 16, FORM = 1 };
static const size_t most = (size_t)1 << 30;   // of a record

static bool read_file(pack *p) {
    FILE *f = fopen(p->path, "rb");
    long size = f && !fseek(f, 0, SEEK_END) ? ftell(f) : -1;
    if (size > 0) {
        rewind(f);
        p->bytes = malloc((size_t)size);
        p->size = p->bytes ? fread(p->bytes, 1, (size_t)size, f) : 0;
    }
    if (f) fclose(f);
    return size > 0 && p->size == (size_t)size;
}

// The member at p->at, whole and with the sum it was written with; NULL: it is not.
static uint8_t *inflate_member(pack *p, size_t *bytes) {
    z_stream z = {.next_in = p->bytes + p->at, .avail_in = (uInt)(p->size - p->at)};
    size_t room = 1 << 16;
    uint8_t *out = malloc(room);
    int s = inflateInit2(&z, GZIP);
    while (out && s == Z_OK && room < most) {
        if (z.total_out == room) {
            uint8_t *more = realloc(out, room *= 2);
            if (!more) break;
            out = more;
        }
        z.next_out = out + z.total_out;
        z.avail_out = (uInt)(room - z.total_out);
        s = inflate(&z, Z_NO_FLUSH);
    }
    *bytes = z.total_out;
    p->at = p->size - z.avail_in;
    inflateEnd(&z);
    if (s == Z_STREAM_END) return out;
    free(out);
    return NULL;
}

static bool parse(record *r, size_t bytes) {
    const size_t text = strnlen((const char *)r->memory, bytes);
    if (text == bytes) return false;
    r->about = json_loads((const char *)r->memory, 0, NULL);
    r->data = r->memory + text + 1;
    r->bytes = bytes - text - 1;
    return r->about && json_integer_value(json_object_get(r->about, "pack")) == FORM;
}

bool pack_next(pack *p, record *r) {
    size_t bytes;
    *r = (record){0};
    if (p->at >= p->size) return false;
    r->memory = inflate_member(p, &bytes);
    if (r->memory && parse(r, bytes)) return true;
    record_free(r);
    p->at = p->size;
    fprintf(stderr, "gnnc-replay: %s is damaged: record %u cannot be read\n", p->path, p->records);
    return false;
}

bool pack_open(const char *path, pack *p) {
    *p = (pack){.path = path};
    record r;
    if (!read_file(p)) {
        fprintf(stderr, "gnnc-replay: cannot read %s\n", path);
        return false;
    }
    bool good = true;
    while (good && p->at < p->size) {
        good = pack_next(p, &r);
        record_free(&r);
        p->records += good;
    }
    p->at = 0;
    return good;
}

void pack_close(pack *p) { free(p->bytes); }

void pack_skip(pack *p, uint32_t records) {
    record r;
    for (p->at = 0; records && pack_next(p, &r); records--) record_free(&r);
}

void record_free(record *r) {
    json_decref(r->about);
    free(r->memory);
    *r = (record){0};
}

const void *record_chunk(const record *r, const json_t *where, size_t *bytes) {
    const json_int_t at = json_integer_value(json_array_get(where, 0)),
                     n = json_integer_value(json_array_get(where, 1));
    if (json_array_size(where) != 2 || at < 0 || n < 0 || (size_t)at > r->bytes ||
        (size_t)n > r->bytes - (size_t)at)
        return NULL;
    *bytes = (size_t)n;
    return r->data + at;
}

char *record_text(const record *r, const char *key) {
    size_t n = 0;
    const char *text = record_chunk(r, json_object_get(r->about, key), &n);
    char *copy = malloc(n + 1);
    if (!text || !copy) n = 0;
    if (n) memcpy(copy, text, n);
    if (copy) copy[n] = 0;
    return copy;
}
