// Members of a .npz archive, through libzip. What the directory claims is checked before anything
// is allocated: a member is stored or deflated, lies within the file, and is no larger than deflate
// can make its compressed bytes.
#include "files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zip.h>
#include <zlib.h>

enum { DEFLATE_RATIO = 1032, MOST_MEMBERS = 4096, LONGEST_MEMBER = 64 };

gnn_status rt_archive_status(const rt_archive *a, const zip_error_t *e) {
    bool memory = zip_error_code_zip(e) == ZIP_ER_MEMORY ||
                  (zip_error_code_zip(e) == ZIP_ER_ZLIB && zip_error_code_system(e) == Z_MEM_ERROR);
    return a->status ? a->status : memory ? GNN_NO_MEMORY : GNN_BAD_FILE;
}

static gnn_status bad_archive(const rt_archive *a, zip_error_t *e) {
    gnn_status s = rt_fail(a->c, rt_archive_status(a, e),
                           "%s: cannot be read as a .npz archive: %s", a->name,
                           zip_error_strerror(e));
    zip_error_fini(e);
    return s;
}

// ---- The directory ------------------------------------------------------------------------------
static gnn_status check_member(const rt_archive *a, const zip_stat_t *st) {
    const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                ZIP_STAT_COMP_METHOD;
    if ((st->valid & needed) != needed)
        return rt_fail(a->c, GNN_BAD_FILE, "%s: a member without name or size", a->name);
    if ((st->valid & ZIP_STAT_ENCRYPTION_METHOD) && st->encryption_method != ZIP_EM_NONE)
        return rt_fail(a->c, GNN_BAD_FILE, "%s: %.64s is encrypted", a->name, st->name);
    if (st->comp_method != ZIP_CM_STORE && st->comp_method != ZIP_CM_DEFLATE)
        return rt_fail(a->c, GNN_BAD_FILE,
                       "%s: %.64s is compressed by method %u; stored and deflated members are read",
                       a->name, st->name, st->comp_method);
    bool stored = st->comp_method == ZIP_CM_STORE;
    if (st->comp_size > a->file.size ||
        (stored ? st->size != st->comp_size : st->size / DEFLATE_RATIO > st->comp_size))
        return rt_fail(a->c, GNN_BAD_FILE,
                       "%s: %.64s cannot be %llu bytes, compressed to %llu in a file of %llu",
                       a->name, st->name, (unsigned long long)st->size,
                       (unsigned long long)st->comp_size, (unsigned long long)a->file.size);
    return GNN_OK;
}

static gnn_status check_directory(const rt_archive *a) {
    zip_int64_t n = zip_get_num_entries(a->zip, 0);
    if (n > MOST_MEMBERS)
        return rt_fail(a->c, GNN_TOO_LARGE, "%s: has %lld members, more than %d", a->name,
                       (long long)n, MOST_MEMBERS);
    for (zip_int64_t i = 0; i < n; i++) {
        zip_stat_t st;
        if (zip_stat_index(a->zip, (zip_uint64_t)i, 0, &st))
            return rt_fail(a->c, rt_archive_status(a, zip_get_error(a->zip)), "%s: member %lld: %s",
                           a->name, (long long)i, zip_strerror(a->zip));
        gnn_status s = check_member(a, &st);
        if (s) return s;
    }
    return GNN_OK;
}

// ---- The file -----------------------------------------------------------------------------------
static zip_int64_t seek(rt_source *file, void *where, zip_uint64_t length) {
    zip_error_t e;
    zip_error_init(&e);
    zip_int64_t at = zip_source_seek_compute_offset(file->at, file->size, where, length, &e);
    zip_error_fini(&e);
    if (at < 0) return -1;
    file->at = (uint64_t)at;
    return 0;
}

static zip_int64_t read_on(rt_archive *a, void *to, zip_uint64_t length) {
    size_t got;
    a->status = rt_source_read(&a->file, to, length < INT64_MAX ? (size_t)length : INT64_MAX, &got);
    return a->status ? -1 : (zip_int64_t)got;
}

// What libzip asks of a source. It opens files by itself as well, but then says of one that cannot
// be read that it is damaged.
static zip_int64_t serve(void *archive, void *data, zip_uint64_t length, zip_source_cmd_t command) {
    rt_archive *a = archive;
    switch ((int)command) {
    case ZIP_SOURCE_OPEN: a->file.at = 0; return 0;
    case ZIP_SOURCE_READ: return read_on(a, data, length);
    case ZIP_SOURCE_SEEK: return seek(&a->file, data, length);
    case ZIP_SOURCE_TELL: return (zip_int64_t)a->file.at;
    case ZIP_SOURCE_STAT:
        zip_stat_init(data);
        ((zip_stat_t *)data)->size = a->file.size;
        ((zip_stat_t *)data)->valid = ZIP_STAT_SIZE;
        return sizeof(zip_stat_t);
    case ZIP_SOURCE_ERROR:
        memcpy(data, (int[]){ZIP_ER_READ, 0}, 2 * sizeof(int));
        return 2 * sizeof(int);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE: return 0;
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_SEEK,
                                              ZIP_SOURCE_TELL, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
                                              ZIP_SOURCE_CLOSE, ZIP_SOURCE_FREE, -1);
    default: return -1;
    }
}

static gnn_status open_archive(rt_archive *a) {
    zip_error_t e;
    zip_error_init(&e);
    errno = 0;
    zip_source_t *source = zip_source_function_create(serve, a, &e);
    a->zip = source ? zip_open_from_source(source, ZIP_RDONLY, &e) : NULL;
    if (source && !a->zip) zip_source_free(source);
    // libzip goes on looking for an archive, and says that there is none
    if (!a->zip && errno == ENOMEM) zip_error_set(&e, ZIP_ER_MEMORY, 0);
    gnn_status s = a->zip ? check_directory(a) : bad_archive(a, &e);
    if (a->zip) zip_error_fini(&e);
    if (s) rt_archive_close(a);
    return s;
}

gnn_status rt_archive_open(gnn_context *c, const char *path, rt_archive *out) {
    *out = (rt_archive){.c = c, .name = rt_short_name(path)};
    gnn_status s = rt_source_open(c, path, &out->file);
    return s ? s : open_archive(out);
}

gnn_status rt_archive_memory(gnn_context *c, const char *name, const void *bytes, size_t size,
                             rt_archive *out) {
    *out = (rt_archive){
        .c = c, .name = rt_short_name(name), .file = rt_source_memory(c, name, bytes, size)};
    return open_archive(out);
}

void rt_archive_close(rt_archive *a) {
    if (a->zip) zip_discard(a->zip);
    a->zip = NULL;
    rt_source_close(&a->file);
}

// ---- Members ------------------------------------------------------------------------------------
static void list_members(const rt_archive *a, char *to, size_t size) {
    size_t at = 0;
    zip_int64_t n = zip_get_num_entries(a->zip, 0);
    to[0] = 0;
    for (zip_int64_t i = 0; i < n && at < size; i++) {
        const char *name = zip_get_name(a->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        int length = name ? (int)strcspn(name, ".") : 0;
        int wrote = snprintf(to + at, size - at, "%s%.*s", i ? ", " : "", length, name ? name : "");
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    for (char *p = to; *p; p++) *p = *p < 32 || *p > 126 ? '?' : *p;
}

static gnn_status missing(const rt_archive *a, const char *member) {
    char have[160];
    list_members(a, have, sizeof have);
    return rt_fail(a->c, GNN_BAD_FILE, "%s: has no array '%s'; it has: %s", a->name, member,
                   have[0] ? have : "nothing");
}

// The end is read past, which makes libzip compare the checksum.
static gnn_status check_end(rt_source *s, const char *member) {
    char beyond;
    zip_int64_t r = zip_fread(s->member, &beyond, 1);
    zip_error_t *e = zip_file_get_error(s->member);
    if (r < 0)
        return rt_array_fail(s, member, rt_archive_status(s->archive, e),
                             "the archive is damaged: %s", zip_error_strerror(e));
    return r == 0 ? GNN_OK
                  : rt_array_fail(s, member, GNN_BAD_FILE,
                                  "it is longer than the archive's directory says");
}

static gnn_status read_member(rt_archive *a, zip_int64_t index, const char *member,
                              rt_npy_form form, gnn_array *out) {
    zip_stat_t st;
    if (zip_stat_index(a->zip, (zip_uint64_t)index, 0, &st))
        return rt_fail(a->c, rt_archive_status(a, zip_get_error(a->zip)), "%s: %s: %s", a->name,
                       member, zip_strerror(a->zip));
    rt_source s = {
        .c = a->c, .name = a->name, .archive = a, .fd = -1, .size = st.size, .budget = a->budget};
    s.member = zip_fopen_index(a->zip, (zip_uint64_t)index, 0);
    if (!s.member)
        return rt_fail(a->c, rt_archive_status(a, zip_get_error(a->zip)),
                       "%s: %s: the archive is damaged: %s", a->name, member, zip_strerror(a->zip));
    gnn_status status = rt_npy_read(&s, member, form, out);
    if (!status) status = check_end(&s, member);
    if (status) gnn_array_free(a->c, out);
    zip_fclose(s.member);
    return status;
}

gnn_status rt_archive_read(rt_archive *a, const char *member, bool required, rt_npy_form form,
                           gnn_array *out) {
    *out = (gnn_array){0};
    char file[LONGEST_MEMBER + 8];
    size_t n = strlen(member);
    bool whole = n > 4 && !strcmp(member + n - 4, ".npy");
    if (n > LONGEST_MEMBER) return missing(a, "of so long a name");
    snprintf(file, sizeof file, "%s%s", member, whole ? "" : ".npy");
    zip_int64_t found = -1, entries = zip_get_num_entries(a->zip, 0);
    for (zip_int64_t i = 0; i < entries; i++) {
        const char *name = zip_get_name(a->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        if (!name || strcmp(name, file)) continue;
        if (found >= 0) return rt_fail(a->c, GNN_BAD_FILE, "%s: has '%s' twice", a->name, member);
        found = i;
    }
    if (found < 0) return required ? missing(a, member) : GNN_OK;
    return read_member(a, found, member, form, out);
}

static gnn_status read_one(rt_archive *a, gnn_status opened, const char *member, gnn_array *out) {
    *out = (gnn_array){0};
    gnn_status s = opened ? opened : rt_archive_read(a, member, true, RT_AS_STORED, out);
    rt_archive_close(a);
    return s;
}

gnn_status gnn_array_read_npz(gnn_context *c, const char *path, const char *member,
                              gnn_array *out) {
    if (!rt_begin(c, __func__, path && member && out)) return GNN_BAD_ARGUMENT;
    rt_archive a;
    return read_one(&a, rt_archive_open(c, path, &a), member, out);
}

gnn_status rt_npz_from_memory(gnn_context *c, const char *name, const void *bytes, size_t size,
                              const char *member, gnn_array *out) {
    rt_archive a;
    return read_one(&a, rt_archive_memory(c, name, bytes, size, &a), member, out);
}
