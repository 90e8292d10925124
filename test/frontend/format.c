// Formatting is idempotent, keeps the tree and every comment: on all sources of this repository, as
// they stand and with comments, blank lines and line ends put between their tokens.
#include "ast_dump.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static int failures;

typedef struct {
    arena *arena;
    diag_set *ds;
    const char *name;
} run;

static ast_file *parse_text(run *r, const char *text, size_t length) {
    return ast_parse(r->arena, intern_new(r->arena), r->ds,
                     source_map_add(diag_sources(r->ds), r->name, text, length));
}

static void check(const run *r, bool holds, const char *what) {
    if (holds) return;
    printf("%s: %s\n", r->name, what);
    failures++;
}

static bool same(const textbuf *a, const textbuf *b) {
    return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

static bool same_comments(const ast_file *a, const ast_file *b) {
    const struct ast_comment *x = a->comments, *y = b->comments;
    for (; x && y; x = x->next, y = y->next) {
        uint32_t n = x->at.hi - x->at.lo;
        const char *s = a->source->text + (x->at.lo - a->source->base),
                   *t = b->source->text + (y->at.lo - b->source->base);
        if (n != y->at.hi - y->at.lo || memcmp(s, t, n)) return false;
    }
    return !x && !y;
}

static void check_text(const char *name, const char *text, size_t length) {
    arena *a = arena_new();
    run r = {a, diag_set_new(a, source_map_new(a)), name};
    textbuf once = textbuf_new(a), twice = textbuf_new(a), tree = textbuf_new(a),
            again = textbuf_new(a);
    ast_file *file = parse_text(&r, text, length);
    check(&r, !diag_errors(r.ds), "has errors");
    ast_format(&once, file);
    ast_file *formatted = parse_text(&r, once.data, once.len);
    check(&r, !diag_errors(r.ds), "has errors when formatted");
    dump_file(&tree, file);
    dump_file(&again, formatted);
    check(&r, same(&tree, &again), "is another tree when formatted");
    check(&r, same_comments(file, formatted), "has other comments when formatted");
    ast_format(&twice, formatted);
    check(&r, same(&once, &twice), "changes when formatted twice");
    diag_print(r.ds, stdout);
    arena_free(a);
}

// ---- Disturbed sources --------------------------------------------------------------------------
static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static void disturb(textbuf *out, const char *text, uint32_t seed) {
    static const char *const between[] = {
        "\n", "\n\n\n", " // behind\n", "\n// own line\n", "\n\n  // a\n\n// b\n\n", "\t"};
    uint32_t often = 2 + seed % 5 * 20;
    bool comment = false, string = false;
    for (const char *s = text; *s; s++) {
        comment = (comment || (!string && s[0] == '/' && s[1] == '/')) && *s != '\n';
        if (*s == '"' && !comment) string = !string;
        textbuf_putn(out, s, 1);
        if (*s == ' ' && !comment && !string && next_random(&seed) % often == 0)
            textbuf_puts(out, between[next_random(&seed) % (sizeof between / sizeof *between)]);
    }
}

static void check_disturbed(const char *path, const char *text) {
    arena *a = arena_new();
    for (uint32_t seed = 0; seed < 20; seed++) {
        textbuf b = textbuf_new(a);
        disturb(&b, text, seed);
        check_text(arena_printf(a, "%s, disturbed by %u", path, seed), b.data, b.len);
    }
    arena_free(a);
}

// ---- Files --------------------------------------------------------------------------------------
static int check_file(const char *path) {
    arena *a = arena_new();
    textbuf b = textbuf_new(a);
    char part[4096];
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    for (size_t n; (n = fread(part, 1, sizeof part, f));) textbuf_putn(&b, part, n);
    fclose(f);
    check_text(path, b.data, b.len);
    check_disturbed(path, b.data);
    arena_free(a);
    return 1;
}

static int check_folder(const char *folder) {
    int n = 0;
    char path[4096];
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t length = strlen(e->d_name);
        if (length < 4 || strcmp(e->d_name + length - 4, ".gnn")) continue;
        int wrote = snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (wrote < 0 || (size_t)wrote >= sizeof path) continue;
        n += check_file(path);
    }
    if (d) closedir(d);
    return n;
}

int main(void) {
    static const char *const folders[] = {"../../stdlib", "../../examples", "format"};
    char here[2048], folder[4096];
    snprintf(here, sizeof here, "%s", __FILE__);
    char *slash = strrchr(here, '/');
    if (slash) *slash = 0;
    int n = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(folder, sizeof folder, "%s/%s", here, folders[i]);
        n += check_folder(folder);
    }
    if (!n) printf("no sources found from %s\n", here);
    return !n || failures;
}
