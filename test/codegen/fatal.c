// A fatal error of LLVM ends the process with status 70 and leaves the module in a file that reads
// back.
#include "jit_test.h"

#include <glob.h>
#include <sys/wait.h>
#include <unistd.h>

static const char text[] =
    "module broken\nkernel k(%r: ptr.global) block 32 {\n%a = sreg tid\nst i32 %r, %a\nreturn\n}\n";

// PTX 3.2 does not know sm_90, which LLVM says by its fatal error.
static void compile(void) {
    arena *a = arena_new();
    source_map *sources = source_map_new(a);
    diag_set *ds = diag_set_new(a, sources);
    simt_module *m = simt_parse(a, ds, source_map_add(sources, "t.simt", text, strlen(text)));
    gpu_arch bad = {"sm_90", 90, 32, 2048, 32, 0, 0};
    cg_output out;
    cg_emit(a, ds, m, &(cg_target){.kind = CG_CUDA, .arch = &bad}, CG_PTX,
            &(cg_options){.sources = sources}, &out);
    _exit(0);
}

static void reads_back(const char *path) {
    arena *a = arena_new();
    source_map *sources = source_map_new(a);
    diag_set *ds = diag_set_new(a, sources);
    char buffer[4096];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(buffer, 1, sizeof buffer, f) : 0;
    if (f) fclose(f);
    simt_module *m = simt_parse(a, ds, source_map_add(sources, path, buffer, n));
    CHECK(m && simt_func_find(m, "k") && !simt_verify(a, m));
    arena_free(a);
}

int main(void) {
    char folder[] = "/tmp/gnnc-fatal-XXXXXX";
    if (!mkdtemp(folder) || setenv("TMPDIR", folder, 1)) return 1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) compile();
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
          WEXITSTATUS(status) == 70);
    arena *a = arena_new();
    glob_t found;
    CHECK(!glob(arena_printf(a, "%s/gnnc-*.simt", folder), 0, NULL, &found) && found.gl_pathc == 1);
    if (found.gl_pathc) {
        reads_back(found.gl_pathv[0]);
        unlink(found.gl_pathv[0]);
    }
    globfree(&found);
    rmdir(folder);
    arena_free(a);
    return failed;
}
