// Runs files through a fuzzer's entry without libFuzzer. The arguments are files and folders of
// them, none of which may be empty. A fault ends the process; the last name printed is that of its
// file.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t run_file(const char *path, size_t size) {
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(size ? size : 1);   // of its own size, that a sanitizer sees its end
    if (!f || !data || fread(data, 1, size, f) != size) {
        fprintf(stderr, "replay: cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
    puts(path);   // before a fault ends the process
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

static size_t run_path(const char *path) {
    struct stat info;
    if (stat(path, &info)) return 0;
    if (!S_ISDIR(info.st_mode)) return run_file(path, (size_t)info.st_size);
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    size_t done = 0;
    for (int i = 0; i < n; i++) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (*entries[i]->d_name != '.') done += run_path(inner);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    return done;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        size_t n = run_path(argv[i]);
        printf("%s: %zu inputs\n", argv[i], n);
        if (!n) return 1;
    }
    return argc < 2;
}
