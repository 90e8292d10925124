// libFuzzer: no command line and no response file makes the driver's reader of them fail. The bytes
// are a response file, which is all of the command.
#define _GNU_SOURCE
#include "driver/driver.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file = -1;

static void write_file(const uint8_t *data, size_t size) {
    if (file < 0) {   // nothing is read from a terminal
        int none = open("/dev/null", O_RDONLY);
        file = memfd_create("response", 0);
        if (file < 0 || none < 0 || dup2(none, STDIN_FILENO) < 0) abort();
        close(none);
    }
    if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    write_file(data, size);
    arena *a = arena_new();
    driver *d = ARENA_NEW(a, driver);
    d->arena = a;
    d->sources = source_map_new(a);
    d->ds = diag_set_new(a, d->sources);
    char name[] = "gnnc", response[64];
    snprintf(response, sizeof response, "@/proc/self/fd/%d", file);
    char *argv[] = {name, response, NULL};
    options_parse(d, 2, argv);
    settings_apply(d);
    if ((d->usage_fault || d->io_fault) != (diag_errors(d->ds) > 0))
        ICE("a fault that its diagnostics do not explain");
    if (!d->usage_fault) {
        settings_frontend(d);
        settings_pass(d, NULL);
        settings_codegen(d);
        device_number(d);
        check_pass_names(d);
    }
    arena_free(a);
    return 0;
}
