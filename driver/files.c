// Reading sources, and writing outputs whole or not at all.
#define _GNU_SOURCE
#include "driver.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_FILE = 64 * 1024 * 1024 };

// ---- Reading ------------------------------------------------------------------------------------

// All of an open file, into a buffer of the arena. false: errno tells; EFBIG where it is too large.
static bool read_all(arena *a, int fd, const char **text, size_t *length) {
    struct stat info;
    if (fstat(fd, &info)) return false;
    errno = S_ISDIR(info.st_mode)                                  ? EISDIR
            : S_ISREG(info.st_mode) && info.st_size > LARGEST_FILE ? EFBIG
                                                                   : 0;
    if (errno) return false;
    size_t cap = S_ISREG(info.st_mode) ? (size_t)info.st_size + 2 : 65536, used = 0;
    char *data = arena_alloc(a, cap);
    for (;;) {
        if (used + 1 == cap) {
            char *grown = arena_alloc(a, cap * 2);
            memcpy(grown, data, used);
            data = grown;
            cap *= 2;
        }
        ssize_t n = read(fd, data + used, cap - used - 1);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        if (!n) break;
        used += (size_t)n;
        errno = EFBIG;
        if (used > LARGEST_FILE) return false;
    }
    data[used] = 0;
    *text = data;
    *length = used;
    return true;
}

// Of a path: nobody may ever write to a pipe.
static bool is_endless(int fd) {
    struct stat info;
    if (fstat(fd, &info) || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) return false;
    errno = ESPIPE;
    return true;
}

static bool read_path(arena *a, const char *path, const char **text, size_t *length) {
    bool named = strcmp(path, "-");
    int fd = named ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : dup(STDIN_FILENO);
    if (fd < 0) return false;
    bool good = !(named && is_endless(fd)) && read_all(a, fd, text, length);
    int why = errno;
    close(fd);
    errno = why;
    return good;
}

static void cannot_read(driver *d, const char *path) {
    d->io_fault = true;
    if (errno == EISDIR) diag(d->ds, E0802, NO_SPAN, "'%s' is a directory", path);
    else if (errno == ESPIPE)
        diag(d->ds, E0801, NO_SPAN, "cannot read '%s': it is not a regular file", path);
    else if (errno == EFBIG) diag(d->ds, E0803, NO_SPAN, "'%s' is larger than 64 MiB", path);
    else diag(d->ds, E0801, NO_SPAN, "cannot read '%s': %s", path, strerror(errno));
}

const char *file_read(driver *d, const char *path, size_t *length) {
    const char *text;
    if (read_path(d->arena, path, &text, length)) {
        VEC_PUSH(d->arena, &d->reads, ((file_read_from){path, text, *length}));
        crash_source(path, text, *length);
        return text;
    }
    cannot_read(d, path);
    return NULL;
}

const char *file_read_import(void *user, arena *a, const char *path, size_t *length) {
    driver *d = user;
    const char *text, *kept = arena_strdup(d->arena, path);
    if (!read_path(a, path, &text, length)) {
        if (errno != ENOENT && errno != ENOTDIR && errno != EISDIR) cannot_read(d, path);
        VEC_PUSH(d->arena, &d->reads, ((file_read_from){kept, NULL, 0}));
        return NULL;
    }
    VEC_PUSH(d->arena, &d->reads, ((file_read_from){kept, text, *length}));
    crash_source(kept, text, *length);
    return text;
}

const char *file_peek(arena *a, const char *path, size_t *length) {
    const char *text;
    return strcmp(path, "-") && read_path(a, path, &text, length) ? text : NULL;
}

// ---- Writing ------------------------------------------------------------------------------------

bool cannot_write(driver *d, const char *path) {
    const char *why = strerror(errno), *quote = strcmp(path, "-") ? "'" : "";
    d->io_fault = true;
    diag(d->ds, E0804, NO_SPAN, "cannot write %s%s%s: %s", quote,
         *quote ? path : "the standard output", quote, why);
    return false;
}

bool make_folder(driver *d, const char *path) {
    if (!mkdir(path, 0777) || errno == EEXIST) return true;
    d->io_fault = true;
    diag(d->ds, E0804, NO_SPAN, "cannot make '%s': %s", path, strerror(errno));
    return false;
}

// What stands at a path decides how it is written, and whether it may be.
typedef enum { NOTHING, FILE_THERE, SPECIAL, UNKNOWN } standing;

static standing what_stands(const char *path, struct stat *info) {
    if (!stat(path, info)) return S_ISREG(info->st_mode) ? FILE_THERE : SPECIAL;
    return errno == ENOENT || errno == ENOTDIR ? NOTHING : UNKNOWN;
}

static bool is_input(const driver *d, const struct stat *out) {
    struct stat in;
    for (uint32_t i = 0; i < d->inputs.len; i++)
        if (!stat(d->inputs.data[i], &in) && in.st_dev == out->st_dev && in.st_ino == out->st_ino)
            return true;
    return false;
}

void output_add(driver *d, const char *path, const char *data, size_t size) {
    for (uint32_t i = 0; i < d->outputs.len; i++) {
        if (!strcmp(path, "-") || strcmp(path, d->outputs.data[i].path)) continue;
        diagnostic *fault = usage(d, E0808, "'%s' would be written more than once", path);
        diag_help(
            fault,
            "several ops or architectures each have a file: name a directory with -o DIR/, or take one op with --op, one architecture with --arch");
        return;
    }
    struct stat info = {0};
    standing there = strcmp(path, "-") ? what_stands(path, &info) : SPECIAL;
    if (there == UNKNOWN) cannot_write(d, path);
    else if (d->verb == VERB_COMPILE && there == FILE_THERE && is_input(d, &info))
        usage(d, E0808, "'%s' is an input, and would be overwritten", path);
    else VEC_PUSH(d->arena, &d->outputs, ((output){path, data, size, there == SPECIAL}));
}

bool file_write_all(int fd, const char *data, size_t size) {
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

// Devices and pipes are written to as they are: a rename would replace them by a file.
static bool write_special(const output *o) {
    if (!strcmp(o->path, "-")) return file_write_all(STDOUT_FILENO, o->data, o->size);
    int fd = open(o->path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool good = file_write_all(fd, o->data, o->size);
    int why = errno;
    bool closed = !close(fd);
    if (!good) errno = why;
    return closed && good;
}

// Writes beside the place the file goes to, under a name that mkostemp completes.
static bool write_temporary(const output *o, const char *place, char *temporary) {
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) return false;
    struct stat before;
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, stat(place, &before) ? 0666 & ~mask : before.st_mode & 0777);
    bool good = file_write_all(fd, o->data, o->size);
    int why = errno;
    if (close(fd) && good) {
        good = false;
        why = errno;
    }
    if (!good) unlink(temporary);
    errno = why;
    return good;
}

typedef struct {
    const char *place;
    char *temporary;   // beside it
    bool written;
} draft;

// A link stays a link: its target is replaced.
static bool find_place(driver *d, const output *o, draft *out) {
    char *real = realpath(o->path, NULL);
    if (!real && errno != ENOENT && errno != ENOTDIR) return cannot_write(d, o->path);
    out->place = real ? arena_strdup(d->arena, real) : o->path;
    out->temporary = arena_printf(d->arena, "%s.XXXXXX", out->place);
    free(real);
    return true;
}

// No memory is asked for while there are temporary files, which its lack would leave behind; but
// for a diagnostic, at the end.
bool output_flush(driver *d) {
    draft *drafts = ARENA_ARRAY(d->arena, draft, d->outputs.len + 1);
    const output *bad = NULL, *end = d->outputs.data + d->outputs.len;
    d->outputs.len = 0;
    for (const output *o = d->outputs.data; o < end; o++)
        if (!o->special && !find_place(d, o, &drafts[o - d->outputs.data])) return false;
    for (const output *o = d->outputs.data; !bad && o < end; o++) {
        draft *f = &drafts[o - d->outputs.data];
        if (!o->special && !(f->written = write_temporary(o, f->place, f->temporary))) bad = o;
    }
    for (const output *o = d->outputs.data; !bad && o < end; o++)
        if (o->special && !write_special(o)) bad = o;
    int why = errno;
    for (const output *o = d->outputs.data; o < end; o++) {
        const draft *f = &drafts[o - d->outputs.data];
        if (!f->written) continue;
        if (!bad && rename(f->temporary, f->place)) {
            why = errno;
            bad = o;
        }
        if (bad) unlink(f->temporary);
    }
    errno = why;
    return bad ? cannot_write(d, bad->path) : true;
}

bool stdout_flush(driver *d) {
    bool flushed = !fflush(stdout);
    if (flushed && !ferror(stdout)) return true;
    if (flushed) errno = EIO;   // what it was is long past
    return cannot_write(d, "-");
}

// A file opened where a standard stream is closed would take its place, and what is printed would
// go there. So something is put there, of which a use fails.
void open_standard_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

// ---- Names --------------------------------------------------------------------------------------

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool path_ends(const char *path, const char *suffix) {
    size_t n = strlen(path), m = strlen(suffix);
    return n > m && !strcmp(path + n - m, suffix);
}

const char *path_stem(arena *a, const char *path) {
    if (!strcmp(path, "-")) return "out";
    const char *name = last_part(path), *dot = strrchr(name, '.');
    return dot && dot > name ? arena_strndup(a, name, (size_t)(dot - name)) : name;
}

const char *path_with_suffix(arena *a, const char *path, const char *suffix) {
    size_t folder = (size_t)(last_part(path) - path);
    return arena_printf(a, "%.*s%s%s", (int)folder, path, path_stem(a, path), suffix);
}

// ---- Folders for a while ------------------------------------------------------------------------
const char *folder_for_a_while(driver *d, const char *name, const char *what) {
    const char *under = getenv("TMPDIR");
    char *folder = arena_printf(d->arena, "%s/gnnc-%s-XXXXXX", under && *under ? under : "/tmp",
                                name);
    if (mkdtemp(folder)) return folder;
    d->io_fault = true;
    diag(d->ds, E0804, NO_SPAN, "cannot make a folder for %s: %s", what, strerror(errno));
    return NULL;
}

void folder_remove(const char *folder) {
    DIR *files = opendir(folder);
    for (struct dirent *f; files && (f = readdir(files));)
        if (f->d_name[0] != '.') unlinkat(dirfd(files), f->d_name, 0);
    if (files) closedir(files);
    rmdir(folder);
}
