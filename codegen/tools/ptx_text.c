// PTX of a SIMT text, for kernels that travel inside libgnnrt: ptx_text IN.simt OUT.ptx. The oldest
// architecture's, since the driver compiles it for every later one.
#include "../codegen.h"

#include <stdlib.h>
#include <string.h>

static char *read_all(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    long end = f && !fseek(f, 0, SEEK_END) ? ftell(f) : -1;
    char *text = end >= 0 ? malloc((size_t)end + 1) : NULL;
    if (f) rewind(f);
    if (text && fread(text, 1, (size_t)end, f) != (size_t)end) {
        free(text);
        text = NULL;
    }
    if (f) fclose(f);
    *size = text ? (size_t)end : 0;
    if (text) text[end] = 0;
    return text;
}

static bool write_all(const char *path, const cg_output *out) {
    FILE *f = fopen(path, "wb");
    bool good = f && fwrite(out->data, 1, out->size, f) == out->size;
    return f && !fclose(f) && good;
}

static bool convert(arena *a, diag_set *ds, source_map *sources, const char *path, const char *text,
                    size_t size, cg_output *out) {
    const simt_module *m = simt_parse(a, ds, source_map_add(sources, path, text, size));
    const char *wrong = m ? simt_verify(a, m) : NULL;
    if (wrong) fprintf(stderr, "%s: %s\n", path, wrong);
    if (!m || wrong) return false;
    const cg_target target = {.kind = CG_CUDA, .arch = gpu_arch_at(0)};
    const cg_options options = {.optimise = 3, .sources = sources};
    return cg_emit(a, ds, m, &target, CG_PTX, &options, out);
}

int main(int argc, char **argv) {
    size_t size = 0;
    char *text = argc == 3 ? read_all(argv[1], &size) : NULL;
    if (!text) return fprintf(stderr, "usage: ptx_text IN.simt OUT.ptx\n"), 2;
    arena *a = arena_new();
    source_map *sources = source_map_new(a);
    diag_set *ds = diag_set_new(a, sources);
    cg_output out = {0};
    bool good = convert(a, ds, sources, argv[1], text, size, &out);
    diag_print(ds, stderr);
    if (good && !write_all(argv[2], &out))
        good = fprintf(stderr, "ptx_text: %s cannot be written\n", argv[2]) < 0;
    arena_free(a);
    free(text);
    return !good;
}
