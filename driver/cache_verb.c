// gnnc cache: what the compile cache holds; every entry looked at; all removed.
#define _GNU_SOURCE
#include "cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const cache *cache;
    textbuf *out;
    bool verify, clear;
    uint32_t entries, drafts, removed, foreign;
    uint64_t bytes;
} survey;

static void remove_file(survey *s, int shard, const char *name, const char *why) {
    const bool gone = !unlinkat(shard, name, 0) || !unlinkat(shard, name, AT_REMOVEDIR);
    s->removed += gone;
    if (why)
        textbuf_printf(s->out, "%s %s: %s\n", gone ? "removed" : "could not remove", name, why);
}

static void look_at(survey *s, int shard, const char *name) {
    cache_key k;
    struct stat info;
    const bool draft = cache_is_draft(name);
    if (fstatat(shard, name, &info, AT_SYMLINK_NOFOLLOW)) return;   // meanwhile it is gone
    if (!draft && !cache_key_read(name, &k)) {
        s->foreign++;
        return;
    }
    arena *a = arena_new();
    const char *why = NULL;
    if (s->verify && draft && cache_is_stale(&info)) why = "a process that is gone has left it";
    else if (s->verify && !draft) why = cache_entry_fault(a, shard, name);
    if (why || s->clear) {
        remove_file(s, shard, name, why);
    } else {
        s->entries += !draft;
        s->drafts += draft;
        s->bytes += cache_disk_bytes((uint64_t)info.st_size);
    }
    arena_free(a);
}

static void look_through(survey *s, int shard) {
    const int fd = openat(shard, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = fd < 0 ? NULL : fdopendir(fd);
    for (const struct dirent *f; files && (f = readdir(files));)
        if (strcmp(f->d_name, ".") != 0 && strcmp(f->d_name, "..") != 0)
            look_at(s, shard, f->d_name);
    if (files) closedir(files);
    else if (fd >= 0) close(fd);
}

static void look_through_all(survey *s) {
    for (uint32_t i = 0; i < CACHE_SHARDS; i++) {
        const int shard = cache_shard(s->cache, i, false);
        if (shard < 0) continue;
        look_through(s, shard);
        close(shard);
    }
}

static void put_survey(const survey *s) {
    textbuf *out = s->out;
    const cache *c = s->cache;
    if (c->path) textbuf_printf(out, "folder      %s\n", c->path);
    if (c->folder < 0) textbuf_puts(out, "entries     none");
    else textbuf_printf(out, "entries     %u\nbytes       %" PRIu64, s->entries, s->bytes);
    textbuf_printf(out, "\nlimit       %" PRIu64 "\n", c->limit);
    if (s->drafts) textbuf_printf(out, "drafts      %u, of processes at work\n", s->drafts);
    if (s->foreign) textbuf_printf(out, "others      %u files that are not its own\n", s->foreign);
    if (c->why) textbuf_printf(out, "note        %s\n", c->why);
}

static bool takes_action(driver *d, const char *action) {
    static const char *const actions[] = {"verify", "clear"};
    for (size_t i = 0; i < 2; i++)
        if (!*action || !strcmp(action, actions[i])) return true;
    diagnostic *fault = usage(d, E0813, "'gnnc cache' has no use for '%s'", action);
    if (!diag_suggest(fault, NO_SPAN, action, actions, 2))
        diag_help(fault, "it takes verify, clear, or nothing");
    return false;
}

// Status 1 where an entry was damaged, so that a script notices.
int drive_cache(driver *d) {
    const char *action = d->inputs.len ? d->inputs.data[0] : "";
    if (!takes_action(d, action)) return driver_status(d);
    textbuf out = textbuf_new(d->arena);
    const cache c = cache_open(d->arena, false);
    survey s = {.cache = &c,
                .out = &out,
                .verify = !strcmp(action, "verify"),
                .clear = !strcmp(action, "clear")};
    if (c.folder >= 0) look_through_all(&s);
    if (s.clear) textbuf_printf(&out, "removed     %u\n", s.removed);
    put_survey(&s);
    output_add(d, "-", out.data, out.len);
    output_flush(d);
    const int status = driver_status(d);
    return status == STATUS_GOOD && s.verify && s.removed ? STATUS_DIAGNOSTICS : status;
}
