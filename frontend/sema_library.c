// The files of the library, embedded in the binary.
#include "frontend.h"
#include <string.h>

typedef struct {
    const char *name, *text;
    size_t size;
} embedded_file;
extern const embedded_file stdlib_gnn_files[];

const char *frontend_library_name(uint32_t i) { return stdlib_gnn_files[i].name; }

const char *frontend_library_text(const char *name, size_t *length) {
    size_t n = strlen(name);
    for (uint32_t i = 0; stdlib_gnn_files[i].name; i++)
        if (!strncmp(stdlib_gnn_files[i].name, name, n) &&
            !strcmp(stdlib_gnn_files[i].name + n, ".gnn")) {
            *length = stdlib_gnn_files[i].size;
            return stdlib_gnn_files[i].text;
        }
    return NULL;
}
