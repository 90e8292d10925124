// Which file an assembler is, and which state it is in. Its version would need a process; place,
// size and times change with each version that is installed.
#define _GNU_SOURCE   // dlinfo
#include "assemble.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

// A library is found by its name alone: where it was loaded from.
static const char *loaded_from(arena *a, const char *name) {
    void *library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    struct link_map *map = NULL;
    const char *path = NULL;
    if (library && !dlinfo(library, RTLD_DI_LINKMAP, &map) && *map->l_name)
        path = arena_strdup(a, map->l_name);
    if (library) dlclose(library);
    return path;
}

const char *cg_file_identity(arena *a, const char *path) {
    const char *file = strchr(path, '/') ? path : loaded_from(a, path);
    struct stat s;
    if (!file || stat(file, &s)) return NULL;
    return arena_printf(a, "%s %llu:%llu %lld bytes, written %lld.%09ld, changed %lld.%09ld", file,
                        (unsigned long long)s.st_dev, (unsigned long long)s.st_ino,
                        (long long)s.st_size, (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec,
                        (long long)s.st_ctim.tv_sec, s.st_ctim.tv_nsec);
}
