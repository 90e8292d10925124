// Keys of the compile cache: facts, and their BLAKE2b hash.
#define _GNU_SOURCE   // dl_iterate_phdr
#include "cache.h"

#include <link.h>
#include <sodium.h>
#include <string.h>

// ---- Facts --------------------------------------------------------------------------------------

void cache_fact_number(textbuf *facts, uint64_t number) {
    textbuf_putn(facts, (const char *)&number, sizeof number);
}

void cache_fact(textbuf *facts, const char *data, size_t size) {
    cache_fact_number(facts, size);
    textbuf_putn(facts, data, size);
}

void cache_fact_text(textbuf *facts, const char *text) { cache_fact(facts, text, strlen(text)); }

cache_key cache_hash(const char *data, size_t size) {
    cache_key k;
    _Static_assert(CACHE_KEY_BYTES == crypto_generichash_BYTES, "");
    if (crypto_generichash(k.bytes, sizeof k.bytes, (const unsigned char *)data, size, NULL, 0))
        ICE("crypto_generichash");
    return k;
}

// ---- Names --------------------------------------------------------------------------------------

void cache_key_name(const cache_key *k, char *name) {
    sodium_bin2hex(name, CACHE_NAME_CHARS + 1, k->bytes, sizeof k->bytes);
}

bool cache_key_read(const char *name, cache_key *k) {
    const char *end;
    size_t size;
    return strlen(name) == CACHE_NAME_CHARS && !name[strspn(name, "0123456789abcdef")] &&
           !sodium_hex2bin(k->bytes, sizeof k->bytes, name, CACHE_NAME_CHARS, NULL, &size, &end) &&
           size == sizeof k->bytes;
}

// ---- The program --------------------------------------------------------------------------------

typedef struct {
    textbuf *facts;
    bool all;   // have a build ID
} program_ids;

static size_t padded(size_t n) { return (n + 3) & ~(size_t)3; }

// The build ID among the notes of a segment; false: there is none.
static bool put_build_id(textbuf *facts, const char *notes, size_t size) {
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) head;
        memcpy(&head, notes, sizeof head);
        const size_t name = sizeof head, data = name + padded(head.n_namesz),
                     next = data + padded(head.n_descsz);
        if (next > size) return false;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
            !memcmp(notes + name, "GNU", 4)) {
            cache_fact(facts, notes + data, head.n_descsz);
            return true;
        }
        notes += next;
        size -= next;
    }
    return false;
}

// The kernel's own part is in no result.
static int add_object(struct dl_phdr_info *o, size_t size, void *user) {
    (void)size;
    program_ids *ids = user;
    bool found = !strncmp(o->dlpi_name, "linux-vdso", 10);
    for (size_t i = 0; i < o->dlpi_phnum && !found; i++) {
        const ElfW(Phdr) *p = &o->dlpi_phdr[i];
        if (p->p_type == PT_NOTE)
            found = put_build_id(ids->facts, (const char *)(o->dlpi_addr + p->p_vaddr), p->p_memsz);
    }
    ids->all &= found;
    return 0;
}

bool cache_put_program(textbuf *facts) {
    program_ids ids = {facts, true};
    cache_fact_text(facts, "gnnc " GNNC_VERSION ", LLVM " GNNC_LLVM_VERSION);
    dl_iterate_phdr(add_object, &ids);
    return ids.all;
}
