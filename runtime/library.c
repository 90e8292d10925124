// Libraries that are opened while a program runs (LIBRARY.md): artefacts as objects have them, and
// the host's code in memory that can be executed. Places are checked; code is trusted.
#include "json.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

enum { HEAD_BYTES = 16, BLOB_ALIGN = 64, MOST_OPS = 1 << 16, MOST_BUILDS = 256 };
struct gnn_library {
    gnn_context *c;
    rt_heap heap;
    const rt_json *index;
    const char *blobs;
    size_t size;   // of the blobs
    void *code;    // of the host; NULL: none
    size_t code_size;
    const int32_t *table;   // how far from it each kernel begins
    int64_t nkernels;
    gnn_artefact *ops;
    const char **paths;   // of each op
    uint32_t nops;
};

static gnn_status bad(const gnn_library *l, const char *what) {
    return rt_fail(l->c, GNN_BAD_FILE, "library: %s", what);
}

// ---- Places -------------------------------------------------------------------------------------
typedef struct {
    const char *data;
    size_t size;
} blob;

static gnn_status find_blob(const gnn_library *l, const rt_json *place, blob *out) {
    const int64_t at = rt_json_int(rt_json_get(place, "at")),
                  bytes = rt_json_int(rt_json_get(place, "bytes"));
    if (!place || at < 0 || bytes < 0 || (size_t)at > l->size ||
        (size_t)bytes > l->size - (size_t)at)
        return bad(l, "a place of the index lies outside the file");
    *out = (blob){l->blobs + at, (size_t)bytes};
    return GNN_OK;
}

// ---- The host's code ----------------------------------------------------------------------------
static gnn_status load_code(gnn_library *l) {
    blob code;
    const rt_json *place = rt_json_get(l->index, "host");
    const int64_t table = rt_json_int(rt_json_get(l->index, "table"));
    if (!place) return GNN_OK;
    l->nkernels = rt_json_int(rt_json_get(l->index, "kernels"));
    gnn_status s = find_blob(l, place, &code);
    if (s) return s;
    if (table < 0 || table % 4 || l->nkernels < 1 || (size_t)table > code.size ||
        (size_t)l->nkernels > (code.size - (size_t)table) / 4)
        return bad(l, "the table of the host's kernels lies outside their code");
    void *memory = mmap(NULL, code.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                        0);
    if (memory == MAP_FAILED)
        return rt_fail(l->c, GNN_NO_MEMORY, "library: no memory for the host's code");
    l->code = memory;
    l->code_size = code.size;
    memcpy(memory, code.data, code.size);
    if (mprotect(memory, code.size, PROT_READ | PROT_EXEC))
        return rt_fail(l->c, GNN_BAD_CODE, "library: this system lets no memory be executed");
    l->table = (const int32_t *)(const void *)((const char *)memory + table);
    return GNN_OK;
}

static gnn_status read_kernels(gnn_library *l, const rt_json *j, gnn_code *out) {
    const rt_json *names = rt_json_get(j, "kernels");
    const int64_t first = rt_json_int(rt_json_get(j, "first")), n = (int64_t)rt_json_count(names);
    if (first < 0 || first > l->nkernels || n > l->nkernels - first)
        return bad(l, "a build of the host has kernels that are not there");
    gnn_host_kernel *kernels = rt_heap_alloc(&l->heap, (size_t)n + 1, sizeof *kernels);
    if (!kernels) return GNN_NO_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        const char *name = rt_json_text(rt_json_at(names, (size_t)i));
        const char *at = (const char *)l->table + l->table[first + i];
        if (!name) return bad(l, "a kernel of the host has no name");
        if (at < (const char *)l->code || at >= (const char *)l->code + l->code_size)
            return bad(l, "a kernel of the host lies outside its code");
        kernels[i].name = name;
        memcpy(&kernels[i].fn, &at, sizeof at);   // from data to code, as dlsym gives it
    }
    *out = (gnn_code){.kernels = kernels, .nkernels = (size_t)n};
    return GNN_OK;
}

// ---- Artefacts ----------------------------------------------------------------------------------
static gnn_status read_build(gnn_library *l, const rt_json *j, gnn_build *out) {
    blob manifest, image = {0};
    gnn_status s = find_blob(l, rt_json_get(j, "manifest"), &manifest);
    if (s) return s;
    *out = (gnn_build){.manifest = manifest.data,
                       .manifest_size = manifest.size,
                       .target = rt_json_text(rt_json_get(j, "target")),
                       .index_bits = (uint32_t)rt_json_int(rt_json_get(j, "index_bits")),
                       .is_ptx = rt_json_is_true(rt_json_get(j, "ptx"))};
    if (!out->target) return bad(l, "a build has no target");
    if (!strcmp(out->target, "host")) return read_kernels(l, j, &out->code);
    s = find_blob(l, rt_json_get(j, "image"), &image);
    out->code = (gnn_code){.image = image.data, .size = image.size};
    return s;
}

static gnn_status read_artefact(gnn_library *l, const rt_json *j, const char *name,
                                gnn_artefact *out) {
    const rt_json *list = rt_json_get(j, "builds");
    const size_t n = rt_json_count(list);
    if (!n || n > MOST_BUILDS) return bad(l, "an op has no builds, or too many");
    gnn_build *builds = rt_heap_alloc(&l->heap, n, sizeof *builds);
    if (!builds) return GNN_NO_MEMORY;
    *out = (gnn_artefact){GNN_ABI, (uint32_t)n, name, builds, NULL};
    gnn_status s = GNN_OK;
    for (size_t i = 0; i < n && !s; i++) s = read_build(l, rt_json_at(list, i), &builds[i]);
    return s;
}

static gnn_status read_op(gnn_library *l, const rt_json *j, gnn_artefact *out) {
    const char *name = rt_json_text(rt_json_get(j, "name")),
               *path = rt_json_text(rt_json_get(j, "path"));
    const rt_json *twin = rt_json_get(j, "twin");
    if (!name || !path) return bad(l, "an op has no name");
    l->paths[out - l->ops] = path;
    gnn_status s = read_artefact(l, j, name, out);
    if (s || !twin) return s;
    gnn_artefact *other = rt_heap_alloc(&l->heap, 1, sizeof *other);
    if (!other) return GNN_NO_MEMORY;
    out->twin = other;
    return read_artefact(l, twin, name, other);
}

static gnn_status read_ops(gnn_library *l) {
    const rt_json *list = rt_json_get(l->index, "ops");
    const size_t n = rt_json_count(list);
    if (n > MOST_OPS) return bad(l, "there are too many ops");
    l->ops = rt_heap_alloc(&l->heap, n + 1, sizeof *l->ops);
    l->paths = rt_heap_alloc(&l->heap, n + 1, sizeof *l->paths);
    if (!l->ops || !l->paths) return GNN_NO_MEMORY;
    gnn_status s = GNN_OK;
    for (; l->nops < n && !s; l->nops++)
        s = read_op(l, rt_json_at(list, l->nops), &l->ops[l->nops]);
    return s;
}

// ---- The file -----------------------------------------------------------------------------------
static gnn_status check_blobs(const gnn_library *l) {
    const int64_t sum = rt_json_int(rt_json_get(l->index, "crc32")),
                  bytes = rt_json_int(rt_json_get(l->index, "bytes"));
    if (bytes < 0 || (size_t)bytes != l->size) return bad(l, "it is cut short, or too long");
    const uLong made = crc32_z(0, (const Bytef *)l->blobs, l->size);
    return (int64_t)made == sum ? GNN_OK : bad(l, "its checksum is another: it is damaged");
}

static gnn_status read_index(gnn_library *l, const char *bytes, size_t size) {
    static const char magic[] = {'g', 'n', 'n', 'l', 'i', 'b', '1', '\n'};
    uint64_t length = 0;
    rt_json_fault fault;
    if (size < HEAD_BYTES || memcmp(bytes, magic, sizeof magic) != 0)
        return bad(l, "it is none, or of another version");
    for (uint32_t k = 8; k-- > 0;) length = length << 8 | (unsigned char)bytes[sizeof magic + k];
    if (length > size - HEAD_BYTES) return bad(l, "it is cut short");
    l->index = rt_json_read(&l->heap, bytes + HEAD_BYTES, (size_t)length, &fault);
    if (!l->index && !fault.text) return GNN_NO_MEMORY;
    if (!l->index)
        return rt_fail(l->c, GNN_BAD_FILE, "library: index, line %d: %s", fault.line, fault.text);
    const int64_t abi = rt_json_int(rt_json_get(l->index, "abi"));
    if (abi != GNN_ABI)
        return rt_fail(l->c, GNN_BAD_CODE,
                       "library: made for another libgnnrt: its interface is %lld, not %d",
                       (long long)abi, GNN_ABI);
    const size_t begin = (HEAD_BYTES + (size_t)length + BLOB_ALIGN - 1) / BLOB_ALIGN * BLOB_ALIGN;
    l->size = begin < size ? size - begin : 0;
    char *copy = rt_heap_alloc(&l->heap, l->size + 1, 1);
    if (!copy) return GNN_NO_MEMORY;
    if (l->size) memcpy(copy, bytes + begin, l->size);
    l->blobs = copy;
    return check_blobs(l);
}

gnn_status gnn_library_read(gnn_context *c, const void *bytes, size_t size, gnn_library **out) {
    if (!rt_begin(c, __func__, bytes && out)) return GNN_BAD_ARGUMENT;
    *out = NULL;
    gnn_library *l = rt_alloc_zeroed(c, sizeof *l);
    if (!l) return GNN_NO_MEMORY;
    l->c = l->heap.c = c;
    gnn_status s = read_index(l, bytes, size);
    if (!s) s = load_code(l);
    if (!s) s = read_ops(l);
    if (s) gnn_library_close(l);
    else *out = l;
    return s;
}

static gnn_status read_file(gnn_context *c, FILE *f, const char *path, gnn_library **out) {
    const long size = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
    if (size < 0 || fseek(f, 0, SEEK_SET))
        return rt_fail(c, GNN_IO, "%s: its size is not known", path);
    rt_heap heap = {c, NULL};
    char *bytes = rt_heap_alloc(&heap, (size_t)size + 1, 1);
    gnn_status s = !bytes ? GNN_NO_MEMORY
                   : fread(bytes, 1, (size_t)size, f) != (size_t)size
                       ? rt_fail(c, GNN_IO, "%s: it cannot be read", path)
                       : gnn_library_read(c, bytes, (size_t)size, out);
    rt_heap_free(&heap);
    return s;
}

gnn_status gnn_library_open(gnn_context *c, const char *path, gnn_library **out) {
    if (!rt_begin(c, __func__, path && out)) return GNN_BAD_ARGUMENT;
    *out = NULL;
    FILE *f = fopen(path, "rbe");
    if (!f) return rt_fail(c, GNN_IO, "%s: it cannot be opened", path);
    gnn_status s = read_file(c, f, path, out);
    fclose(f);
    return s;
}

void gnn_library_close(gnn_library *l) {
    if (!l) return;
    if (l->code) munmap(l->code, l->code_size);
    rt_heap_free(&l->heap);
    rt_free(l->c, l);
}

uint32_t gnn_library_ops(const gnn_library *l) { return l ? l->nops : 0; }

const gnn_artefact *gnn_library_op(const gnn_library *l, uint32_t i) {
    return l && i < l->nops ? &l->ops[i] : NULL;
}

const char *gnn_library_path(const gnn_library *l, uint32_t i) {
    return l && i < l->nops ? l->paths[i] : NULL;
}

const gnn_artefact *gnn_library_find(const gnn_library *l, const char *name) {
    for (uint32_t i = 0; l && name && i < l->nops; i++)
        if (!strcmp(l->ops[i].name, name)) return &l->ops[i];
    return NULL;
}
