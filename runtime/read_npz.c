// Members of a .npz archive, through libzip. What the directory claims is checked before anything is
// allocated: a member is stored or deflated, lies within the file, and is no larger than deflate can make its
// compressed bytes.
#include "files.h"

#include <stdio.h>
#include <string.h>
#include <zip.h>

enum { DEFLATE_RATIO = 1032, MOST_MEMBERS = 4096, LONGEST_MEMBER = 64 };

static gnn_status bad_archive(const rt_archive *a, zip_error_t *e)
{
    gnn_status s = rt_fail(a->c, GNN_BAD_FILE, "%s: cannot be read as a .npz archive: %s", a->name,
                           zip_error_strerror(e));
    zip_error_fini(e);
    return s;
}

// ---- The directory ---------------------------------------------------------------------------------------
static gnn_status check_member(const rt_archive *a, const zip_stat_t *st)
{
    const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if ((st->valid & needed) != needed)
        return rt_fail(a->c, GNN_BAD_FILE, "%s: a member without name or size", a->name);
    if ((st->valid & ZIP_STAT_ENCRYPTION_METHOD) && st->encryption_method != ZIP_EM_NONE)
        return rt_fail(a->c, GNN_BAD_FILE, "%s: %.64s is encrypted", a->name, st->name);
    if (st->comp_method != ZIP_CM_STORE && st->comp_method != ZIP_CM_DEFLATE)
        return rt_fail(a->c, GNN_BAD_FILE,
                       "%s: %.64s is compressed by method %u; stored and deflated members are read", a->name,
                       st->name, st->comp_method);
    bool stored = st->comp_method == ZIP_CM_STORE;
    if (st->comp_size > a->size ||
        (stored ? st->size != st->comp_size : st->size / DEFLATE_RATIO > st->comp_size))
        return rt_fail(a->c, GNN_BAD_FILE,
                       "%s: %.64s cannot be %llu bytes, compressed to %llu in a file of %llu", a->name,
                       st->name, (unsigned long long)st->size, (unsigned long long)st->comp_size,
                       (unsigned long long)a->size);
    return GNN_OK;
}

static gnn_status check_directory(const rt_archive *a)
{
    zip_int64_t n = zip_get_num_entries(a->zip, 0);
    if (n > MOST_MEMBERS)
        return rt_fail(a->c, GNN_TOO_LARGE, "%s: has %lld members, more than %d", a->name, (long long)n,
                       MOST_MEMBERS);
    for (zip_int64_t i = 0; i < n; i++) {
        zip_stat_t st;
        if (zip_stat_index(a->zip, (zip_uint64_t)i, 0, &st))
            return rt_fail(a->c, GNN_BAD_FILE, "%s: member %lld: %s", a->name, (long long)i,
                           zip_strerror(a->zip));
        gnn_status s = check_member(a, &st);
        if (s)
            return s;
    }
    return GNN_OK;
}

static gnn_status open_source(rt_archive *a, zip_source_t *source, zip_error_t *e)
{
    if (!source)
        return bad_archive(a, e);
    a->zip = zip_open_from_source(source, ZIP_RDONLY, e);
    if (!a->zip) {
        zip_source_free(source);
        return bad_archive(a, e);
    }
    zip_error_fini(e);
    gnn_status s = check_directory(a);
    if (s)
        rt_archive_close(a);
    return s;
}

gnn_status rt_archive_open(gnn_context *c, const char *path, rt_archive *out)
{
    *out = (rt_archive){.c = c, .name = rt_short_name(path)};
    rt_source file;   // for its checks and its size
    gnn_status s = rt_source_open(c, path, &file);
    if (s)
        return s;
    out->size = file.size;
    rt_source_close(&file);
    zip_error_t e;
    zip_error_init(&e);
    return open_source(out, zip_source_file_create(path, 0, -1, &e), &e);
}

gnn_status rt_archive_memory(gnn_context *c, const char *name, const void *bytes, size_t size,
                             rt_archive *out)
{
    *out = (rt_archive){.c = c, .name = rt_short_name(name), .size = size};
    zip_error_t e;
    zip_error_init(&e);
    return open_source(out, zip_source_buffer_create(bytes, size, 0, &e), &e);
}

void rt_archive_close(rt_archive *a)
{
    if (a->zip)
        zip_discard(a->zip);
    a->zip = NULL;
}

// ---- Members ---------------------------------------------------------------------------------------------
static void list_members(const rt_archive *a, char *to, size_t size)
{
    size_t at = 0;
    zip_int64_t n = zip_get_num_entries(a->zip, 0);
    to[0] = 0;
    for (zip_int64_t i = 0; i < n && at < size; i++) {
        const char *name = zip_get_name(a->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        int length = name ? (int)strcspn(name, ".") : 0;
        int wrote = snprintf(to + at, size - at, "%s%.*s", i ? ", " : "", length, name ? name : "");
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    for (char *p = to; *p; p++)
        *p = *p < 32 || *p > 126 ? '?' : *p;
}

static gnn_status missing(const rt_archive *a, const char *member)
{
    char have[160];
    list_members(a, have, sizeof have);
    return rt_fail(a->c, GNN_BAD_FILE, "%s: has no array '%s'; it has: %s", a->name, member,
                   have[0] ? have : "nothing");
}

// The end is read past, which makes libzip compare the checksum.
static gnn_status check_end(rt_source *s, const char *member)
{
    char beyond;
    zip_int64_t r = zip_fread(s->member, &beyond, 1);
    if (r < 0)
        return rt_array_fail(s, member, GNN_BAD_FILE, "the archive is damaged: %s",
                             zip_error_strerror(zip_file_get_error(s->member)));
    return r == 0 ? GNN_OK
                  : rt_array_fail(s, member, GNN_BAD_FILE, "it is longer than the archive's directory says");
}

static gnn_status read_member(rt_archive *a, zip_int64_t index, const char *member, rt_npy_form form,
                              gnn_array *out)
{
    zip_stat_t st;
    if (zip_stat_index(a->zip, (zip_uint64_t)index, 0, &st))
        return rt_fail(a->c, GNN_BAD_FILE, "%s: %s: %s", a->name, member, zip_strerror(a->zip));
    rt_source s = {.c = a->c, .name = a->name, .fd = -1, .size = st.size};
    s.member = zip_fopen_index(a->zip, (zip_uint64_t)index, 0);
    if (!s.member)
        return rt_fail(a->c, GNN_BAD_FILE, "%s: %s: the archive is damaged: %s", a->name, member,
                       zip_strerror(a->zip));
    gnn_status status = rt_npy_read(&s, member, form, out);
    if (!status)
        status = check_end(&s, member);
    if (status)
        gnn_array_free(a->c, out);
    zip_fclose(s.member);
    return status;
}

gnn_status rt_archive_read(rt_archive *a, const char *member, bool required, rt_npy_form form, gnn_array *out)
{
    *out = (gnn_array){0};
    char file[LONGEST_MEMBER + 8];
    size_t n = strlen(member);
    bool whole = n > 4 && !strcmp(member + n - 4, ".npy");
    if (n > LONGEST_MEMBER)
        return missing(a, "of so long a name");
    snprintf(file, sizeof file, "%s%s", member, whole ? "" : ".npy");
    zip_int64_t found = -1, entries = zip_get_num_entries(a->zip, 0);
    for (zip_int64_t i = 0; i < entries; i++) {
        const char *name = zip_get_name(a->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        if (!name || strcmp(name, file))
            continue;
        if (found >= 0)
            return rt_fail(a->c, GNN_BAD_FILE, "%s: has '%s' twice", a->name, member);
        found = i;
    }
    if (found < 0)
        return required ? missing(a, member) : GNN_OK;
    return read_member(a, found, member, form, out);
}

static gnn_status read_one(rt_archive *a, gnn_status opened, const char *member, gnn_array *out)
{
    *out = (gnn_array){0};
    gnn_status s = opened ? opened : rt_archive_read(a, member, true, RT_AS_STORED, out);
    rt_archive_close(a);
    return s;
}

gnn_status gnn_array_read_npz(gnn_context *c, const char *path, const char *member, gnn_array *out)
{
    if (!c || !path || !member || !out)
        return c ? rt_fail(c, GNN_BAD_ARGUMENT, "an array is read from a member of a path")
                 : GNN_BAD_ARGUMENT;
    rt_archive a;
    return read_one(&a, rt_archive_open(c, path, &a), member, out);
}

gnn_status rt_npz_from_memory(gnn_context *c, const char *name, const void *bytes, size_t size,
                              const char *member, gnn_array *out)
{
    rt_archive a;
    return read_one(&a, rt_archive_memory(c, name, bytes, size, &a), member, out);
}
