// gnnc inspect of what holds code: the kernels of a cubin; the ops of an object, a library or a
// program, by the manifests in it.
#define _GNU_SOURCE
#include "inspect.h"

#include <elf.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

typedef struct {
    const char *bytes;
    size_t length;
    const Elf64_Ehdr *head;
} image;

bool inspect_is_code(const char *path) {
    char begin[8] = "";
    // a pipe without a writer is waited for by nobody
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = file < 0 ? 0 : read(file, begin, sizeof begin);
    if (file >= 0) close(file);
    return (n >= SELFMAG && !memcmp(begin, ELFMAG, SELFMAG)) ||
           (n == 8 && !memcmp(begin, "!<arch>\n", 8));
}

// ---- A cubin ------------------------------------------------------------------------------------

// The table of sections; NULL: it lies outside of the file.
static const Elf64_Shdr *section(const image *x, uint32_t i) {
    const Elf64_Ehdr *h = x->head;
    bool fits = h->e_shentsize == sizeof(Elf64_Shdr) && h->e_shoff % 8 == 0 &&
                h->e_shoff <= x->length && i < h->e_shnum &&
                h->e_shnum <= (x->length - h->e_shoff) / sizeof(Elf64_Shdr);
    return fits ? (const Elf64_Shdr *)(const void *)(x->bytes + h->e_shoff) + i : NULL;
}

static const char *section_name(const image *x, const Elf64_Shdr *s) {
    const Elf64_Shdr *names = section(x, x->head->e_shstrndx);
    bool fits = names && names->sh_offset <= x->length &&
                names->sh_size <= x->length - names->sh_offset && s->sh_name < names->sh_size;
    const char *text = fits ? x->bytes + names->sh_offset + s->sh_name : "";
    return fits && memchr(text, 0, names->sh_size - s->sh_name) ? text : "";
}

static size_t shared_bytes(const image *x, const char *kernel) {
    const Elf64_Shdr *s;
    for (uint32_t i = 0; (s = section(x, i)); i++) {
        const char *name = section_name(x, s);
        if (!strncmp(name, ".nv.shared.", 11) && !strcmp(name + 11, kernel)) return s->sh_size;
    }
    return 0;
}

static uint32_t put_kernels(textbuf *out, const image *x) {
    const Elf64_Shdr *s;
    uint32_t kernels = 0;
    for (uint32_t i = 0; (s = section(x, i)); i++) {
        const char *name = section_name(x, s);
        if (strncmp(name, ".text.", 6) || !name[6]) continue;
        size_t shared = shared_bytes(x, name + 6);
        textbuf_printf(out, "    kernel    %s, %zu bytes of code", name + 6, (size_t)s->sh_size);
        if (shared) textbuf_printf(out, ", %zu bytes shared", shared);
        textbuf_puts(out, "\n");
        kernels++;
    }
    return kernels;
}

// ---- Manifests ----------------------------------------------------------------------------------

// Compressed bytes and their header, as runtime/MANIFEST.md has them.
typedef struct {
    unsigned char magic[8], stream[8], plain[8];
} packed;
// Of deflate: a header that asks for more is none.
enum { MOST_RATIO = 1032 };

static uint64_t number(const unsigned char *bytes) {
    uint64_t n = 0;
    for (int i = 7; i >= 0; i--) n = n << 8 | bytes[i];
    return n;
}

// NULL: they are damaged, or hold no manifest.
static json_t *unpacked(const char *at, size_t length) {
    packed h;
    json_error_t error;
    json_t *manifest = NULL;
    if (length < sizeof h) return NULL;
    memcpy(&h, at, sizeof h);
    const uint64_t stream = number(h.stream), plain = number(h.plain);
    if (stream > length - sizeof h || plain > stream * MOST_RATIO) return NULL;
    uLongf size = plain;
    unsigned char *text = malloc(plain + 1);
    if (text && uncompress(text, &size, (const unsigned char *)at + sizeof h, stream) == Z_OK)
        manifest = json_loadb((const char *)text, size, JSON_REJECT_DUPLICATES, &error);
    free(text);
    return manifest;
}

// Those of an op for several targets and widths stand behind each other, and images among them.
static uint32_t put_manifests(textbuf *out, const image *x) {
    static const unsigned char magic[8] = {0x89, 'g', 'n', 'n', 'c', 'z', '1', '\n'};
    const char *end = x->bytes + x->length;
    uint32_t found = 0;
    for (const char *at = x->bytes; (at = memmem(at, (size_t)(end - at), magic, sizeof magic));
         at++) {
        json_t *m = unpacked(at, (size_t)(end - at));
        if (!m) continue;
        if (found++) textbuf_puts(out, "\n");
        inspect_put_manifest(out, m);
        json_decref(m);
    }
    return found;
}

void inspect_code(driver *d, const char *path, textbuf *out) {
    image x = {0};
    x.bytes = file_read(d, path, &x.length);
    if (!x.bytes) return;
    bool elf = x.length >= sizeof(Elf64_Ehdr) && !memcmp(x.bytes, ELFMAG, SELFMAG) &&
               x.bytes[EI_CLASS] == ELFCLASS64;
    x.head = elf ? (const Elf64_Ehdr *)(const void *)x.bytes : NULL;
    if (elf && x.head->e_machine == EM_CUDA) {
        textbuf_printf(out, "%s: code for a GPU; the manifest beside it says how it is launched\n",
                       path);
        if (put_kernels(out, &x)) return;
    } else if (put_manifests(out, &x)) return;
    diagnostic *fault = diag(d->ds, E0817, NO_SPAN,
                             "'%s' holds no op: neither kernels for a GPU nor a manifest", path);
    diag_help(
        fault,
        "inspect reads sources, manifests (.json), cubins, objects, libraries and programs with ops, and graphs");
}
