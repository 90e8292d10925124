// What PTX says of itself: as compilers write it, and each way that it may be broken.
#include "jit_test.h"

#include <stdio.h>
#include <string.h>

static const char as_compilers_do[] =
    "// made by hand\n"
    "/* .version 1.0 } */\n"
    ".version 8.3\n.target sm_90a, debug\n.address_size 64\n"
    ".extern .shared .align 16 .b8 given[];\n"
    ".global .align 4 .u32 table[2] = { 1, 2 };\n"
    ".func (.param .b32 r) helper(.param .b64 x)\n{\n\tret;\n}\n"
    ".visible .entry first(\n\t.param .u64 .ptr .global .align 1 p0,\n\t.param .f32 p1,\n\t.param .align 8 .b8 p2[24]\n)\n"
    ".reqntid 8, 4, 2\n.minnctapersm 3\n{\n\t.pragma \"nounroll } {\";\n\t{ ld.shared.f32 %f1, [given]; } // }\n\tret;\n}\n"
    ".entry second .maxntid 96 { ret; }\n"
    ".file 1 \"a { b.cu\"\n.section .debug_str { .b8 7 }\n";

static bool read(arena *a, const char *text, size_t length, cg_ptx_head *head, textbuf *said) {
    diag_set *ds = diag_set_new(a, source_map_new(a));
    const source_file *file = source_map_add(diag_sources(ds), "x.ptx",
                                             arena_strndup(a, text, length), length);
    bool good = cg_ptx_read(a, ds, file, head);
    CHECK(good == !diag_errors(ds));
    diag_configure(ds, (diag_options){.format = DIAG_TEXT});
    *said = textbuf_new(a);
    char line[4096] = "";
    FILE *out = tmpfile();
    diag_print(ds, out);
    rewind(out);
    while (fgets(line, sizeof line, out)) textbuf_puts(said, line);
    fclose(out);
    return good;
}

static void reads(arena *a) {
    cg_ptx_head h;
    textbuf said;
    CHECK(read(a, as_compilers_do, strlen(as_compilers_do), &h, &said));
    CHECK(!strcmp(h.note, "made by hand") && h.version == 83 && !strcmp(h.arch, "sm_90a") &&
          !h.shared_mixed);
    CHECK(h.entries.len == 2 && !cg_ptx_find(&h, "helper"));
    const cg_ptx_entry *first = cg_ptx_find(&h, "first"), *second = cg_ptx_find(&h, "second");
    CHECK(first->threads == 64 && !first->most && first->params.len == 3);
    CHECK(first->params.data[0] == 8 && first->params.data[1] == 4 && first->params.data[2] == 24);
    CHECK(!second->threads && second->most == 96 && !second->params.len);
}

// What is put in place of a part of the good text, and what is said of that.
static void refuses(arena *a, const char *part, const char *by, const char *what) {
    const char *at = strstr(as_compilers_do, part);
    cg_ptx_head h;
    textbuf text = textbuf_new(a), said;
    CHECK(at);
    textbuf_putn(&text, as_compilers_do, (size_t)(at - as_compilers_do));
    textbuf_puts(&text, by);
    textbuf_puts(&text, at + strlen(part));
    CHECK(!read(a, text.data, text.len, &h, &said));
    bool told = said.data && strstr(said.data, what);
    CHECK(told);
    if (!told) printf("'%s' for '%s' says\n%s\n", by, part, said.data ? said.data : "nothing");
}

static void broken(arena *a) {
    refuses(a, ".version 8.3\n", "", "'.version' is missing");
    refuses(a, "8.3", "8", "x.ptx:3:10: error[E0829]: expected a version, as 7.8");
    refuses(a, ".target sm_90a, debug\n", "", "'.target' is missing");
    refuses(a, ".target sm_90a", ".target ;", "expected an architecture, as sm_90");
    refuses(a, ".address_size 64\n", "", "'.address_size 64' is missing");
    refuses(a, "size 64", "size 32", "addresses of kernels have 64 bits here");
    refuses(a, "entry second", "entry first", "a second kernel of this name");
    refuses(a, "entry second", "entry ;", "expected the name of a kernel");
    refuses(a, ".param .f32 p1", ".f32 p1", "expected '.param'");
    refuses(a, ".param .f32 p1", ".param p1", "a parameter without a type");
    refuses(a, "p2[24]", "p2[99999]", "a parameter without a type and a size that can be");
    refuses(a, "p2[24]", "p2[24", "expected ']'");
    refuses(a, "p1,", "p1;", "expected ',' or ')'");
    refuses(a, "8, 4, 2", "8, four", "expected a number of threads");
    refuses(a, ".minnctapersm 3", ".reqnctapercluster 2", "asks for clusters");
    refuses(a, "ret; }\n.file", "ret;\n.file", "a body without its end");
    refuses(a, ".maxntid 96 {", ".maxntid 96", "a '}' without its '{'");
    refuses(a, ".entry second .maxntid 96 { ret; }\n",
            ".entry first;\n.entry first;\n.shared .b8 own[4];\n.version ", "expected a version");
}

// No beginning of a text, and no text with a letter changed, makes the reader fail but by what it
// says.
static void mutated(void) {
    static const char others[] = "{}();,[\"/*.0a\n";
    for (size_t n = 0; n < strlen(as_compilers_do); n++) {
        arena *a = arena_new();
        cg_ptx_head h;
        textbuf said;
        read(a, as_compilers_do, n, &h, &said);
        char *text = arena_strdup(a, as_compilers_do);
        text[n] = others[n % (sizeof others - 1)];
        read(a, text, strlen(text), &h, &said);
        arena_free(a);
    }
}

int main(void) {
    arena *a = arena_new();
    reads(a);
    broken(a);
    mutated();
    arena_free(a);
    return failed;
}
