// Host code as one piece, from an ELF object of ours: sections one behind the other, what they say
// of each other filled in. The code asks for nothing outside itself and has no addresses in its
// data, so nothing is left for a linker or a loader to do.
#include "compile.h"

#include <elf.h>
#include <string.h>

typedef struct {
    const char *base;
    const Elf64_Ehdr *head;
    const Elf64_Shdr *sections;
    uint64_t *at;   // of each section that is taken, its place
    bool *taken;
    char *image;
    uint64_t size;
} flat;

static const char *section_name(const flat *f, uint32_t i) {
    return f->base + f->sections[f->head->e_shstrndx].sh_offset + f->sections[i].sh_name;
}

// Tables for debuggers and for unwinding are nobody's here.
static bool is_taken(const flat *f, uint32_t i) {
    const Elf64_Shdr *s = &f->sections[i];
    return s->sh_type == SHT_PROGBITS && s->sh_flags & SHF_ALLOC && s->sh_size &&
           strcmp(section_name(f, i), ".eh_frame") != 0;
}

static void place(arena *a, flat *f) {
    const uint32_t n = f->head->e_shnum;
    f->at = ARENA_ARRAY(a, uint64_t, n);
    f->taken = ARENA_ARRAY(a, bool, n);
    for (uint32_t i = 0; i < n; i++) {
        if (!is_taken(f, i)) continue;
        const uint64_t align = f->sections[i].sh_addralign > 64 ? f->sections[i].sh_addralign : 64;
        f->taken[i] = true;
        f->at[i] = (f->size + align - 1) / align * align;
        f->size = f->at[i] + f->sections[i].sh_size;
    }
    f->image = ARENA_ARRAY(a, char, f->size + 1);
    for (uint32_t i = 0; i < n; i++)
        if (f->taken[i])
            memcpy(f->image + f->at[i], f->base + f->sections[i].sh_offset, f->sections[i].sh_size);
}

static uint64_t value_of(const flat *f, const Elf64_Sym *s) {
    if (s->st_shndx == SHN_UNDEF || s->st_shndx >= f->head->e_shnum || !f->taken[s->st_shndx])
        ICE("host code asks for a symbol outside itself");
    return f->at[s->st_shndx] + s->st_value;
}

static void fill(const flat *f, const Elf64_Shdr *of) {
    const Elf64_Rela *r = (const Elf64_Rela *)(const void *)(f->base + of->sh_offset);
    const Elf64_Sym *symbols =
        (const Elf64_Sym *)(const void *)(f->base + f->sections[of->sh_link].sh_offset);
    for (uint64_t i = 0; i < of->sh_size / sizeof *r; i++) {
        const uint64_t kind = ELF64_R_TYPE(r[i].r_info), at = f->at[of->sh_info] + r[i].r_offset;
        const int64_t x = (int64_t)value_of(f, &symbols[ELF64_R_SYM(r[i].r_info)]) + r[i].r_addend -
                          (int64_t)at;
        const int32_t narrow = (int32_t)x;
        if ((kind != R_X86_64_PC32 && kind != R_X86_64_PLT32) || narrow != x)
            ICE("host code has a relocation of kind %u", (unsigned)kind);
        memcpy(f->image + at, &narrow, sizeof narrow);
    }
}

static uint64_t find(const flat *f, const Elf64_Shdr *table, const char *symbol) {
    const char *names = f->base + f->sections[table->sh_link].sh_offset;
    const Elf64_Sym *s = (const Elf64_Sym *)(const void *)(f->base + table->sh_offset);
    for (uint64_t i = 0; i < table->sh_size / sizeof *s; i++)
        if (!strcmp(names + s[i].st_name, symbol)) return value_of(f, &s[i]);
    ICE("host code has no symbol '%s'", symbol);
}

cg_output cg_flatten(arena *a, const cg_output *object, const char *symbol, uint64_t *at) {
    flat f = {.base = object->data, .head = (const Elf64_Ehdr *)(const void *)object->data};
    f.sections = (const Elf64_Shdr *)(const void *)(f.base + f.head->e_shoff);
    place(a, &f);
    for (uint32_t i = 0; i < f.head->e_shnum; i++)
        if (f.sections[i].sh_type == SHT_RELA && f.taken[f.sections[i].sh_info])
            fill(&f, &f.sections[i]);
    for (uint32_t i = 0; i < f.head->e_shnum; i++)
        if (f.sections[i].sh_type == SHT_SYMTAB) *at = find(&f, &f.sections[i], symbol);
    return (cg_output){f.image, f.size, ""};
}
