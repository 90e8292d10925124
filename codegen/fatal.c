// LLVM's fatal errors ("Cannot select …") cannot be caught. The handler writes the simt module that was being
// compiled to a file that shows the fault again, says so on stderr and ends the process with status 70.
//
// LLVM's hook takes no user data, so the module being compiled is the one piece of state this compiler keeps
// outside its arenas; it is per thread.
#include "internal.h"

#include <llvm-c/ErrorHandling.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

enum { FATAL_STATUS = 70 };   // EX_SOFTWARE

static _Thread_local const simt_module *compiling;
static once_flag installed = ONCE_FLAG_INIT;
static mtx_t ending;   // the first thread to fail ends the process; others wait for that

static void write_reproducer(const char *reason) {
    arena *a = arena_new();
    const char *folder = getenv("TMPDIR");
    char *path = arena_printf(a, "%s/gnnc-XXXXXX.simt", folder && *folder ? folder : "/tmp");
    textbuf text = textbuf_new(a);
    textbuf_puts(&text, "# LLVM: ");
    for (const char *s = reason; *s; s++) textbuf_putn(&text, *s == '\n' ? "\n# " : s, *s == '\n' ? 3 : 1);
    textbuf_puts(&text, "\n");
    simt_print(&text, compiling);
    int fd = mkstemps(path, 5);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    bool written = f && fwrite(text.data, 1, text.len, f) == text.len;
    if (f && fclose(f)) written = false;
    const char *what = written ? "is in" : "could not be written to";
    fprintf(stderr, "gnnc: the module being compiled %s %s; please report it with this message\n", what, path);
    arena_free(a);
}

static void on_fatal(const char *reason) {
    mtx_lock(&ending);
    fprintf(stderr, "gnnc: internal error in LLVM: %s\n", reason);
    if (compiling) write_reproducer(reason);
    fflush(NULL);
    _exit(FATAL_STATUS);
}

static void install(void) {
    if (mtx_init(&ending, mtx_plain) != thrd_success) ICE("no lock");
    LLVMInstallFatalErrorHandler(on_fatal);
}

void cg_fatal_watch(const simt_module *m) {
    call_once(&installed, install);
    compiling = m;
}
