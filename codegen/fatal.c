// LLVM's fatal errors ("Cannot select …") cannot be caught. The handler writes the simt module that
// was being compiled to a file that shows the fault again, says so on stderr and ends the process
// with status 70.
//
// LLVM's hook takes no user data, so the module being compiled is the one piece of state this
// compiler keeps outside its arenas; it is per thread.
//
// What LLVM cannot allocate ends the process as what we cannot: with status 3, not with abort.
#include "compile.h"

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
    for (const char *s = reason; *s; s++)
        textbuf_putn(&text, *s == '\n' ? "\n# " : s, *s == '\n' ? 3 : 1);
    textbuf_puts(&text, "\n");
    simt_print(&text, compiling);
    int fd = mkstemps(path, 5);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    bool written = f && fwrite(text.data, 1, text.len, f) == text.len;
    if (f && fclose(f)) written = false;
    const char *what = written ? "is in" : "could not be written to";
    fprintf(stderr, "gnnc: the module being compiled %s %s; please report it with this message\n",
            what, path);
    arena_free(a);
}

static void on_fatal(const char *reason) {
    mtx_lock(&ending);
    fprintf(stderr, "gnnc: internal error in LLVM: %s\n", reason);
    if (compiling) write_reproducer(reason);
    fflush(NULL);
    _exit(FATAL_STATUS);
}

// Both are C++, and have no declaration for C: std::set_new_handler,
// llvm::install_bad_alloc_error_handler.
typedef void (*new_handler)(void);
typedef void (*bad_alloc_handler)(void *user, const char *reason, bool crash_diagnostics);
new_handler set_new_handler(new_handler h) __asm__("_ZSt15set_new_handlerPFvvE");
void install_bad_alloc_handler(bad_alloc_handler h, void *user) __asm__(
    "_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_");

static void on_new(void) { out_of_memory(0); }

static void on_bad_alloc(void *user, const char *reason, bool crash_diagnostics) {
    (void)user, (void)reason, (void)crash_diagnostics;
    out_of_memory(0);
}

// Before LLVM's own constructors, which allocate.
__attribute__((constructor(101))) static void watch_memory(void) {
    set_new_handler(on_new);
    install_bad_alloc_handler(on_bad_alloc, NULL);
}

static void install(void) {
    if (mtx_init(&ending, mtx_plain) != thrd_success) ICE("no lock");
    LLVMInstallFatalErrorHandler(on_fatal);
}

void cg_fatal_watch(const simt_module *m) {
    call_once(&installed, install);
    compiling = m;
}
