// What a session comes to: its exit status, and faults that any file may tell of.
#include "driver.h"

#include "runtime/gnnrt.h"

// Tells the exit status: what could not be read or written outweighs what a source did wrong.
int driver_status(driver *d) {
    diag_print(d->ds, stderr);
    if (d->usage_fault) return STATUS_USAGE;
    if (d->io_fault || diag_told(d->ds, E0824)) return STATUS_IO;
    if (diag_errors(d->ds)) return STATUS_DIAGNOSTICS;
    return d->mismatch ? STATUS_MISMATCH : STATUS_GOOD;
}

int driver_status_compared(driver *d) {
    int status = driver_status(d);
    return status == STATUS_DIAGNOSTICS && d->mismatch ? STATUS_MISMATCH : status;
}

diag_code runtime_code(int status, diag_code otherwise) {
    return status == GNN_NO_MEMORY || status == GNN_NO_THREADS ? E0824
           : status == GNN_IO                                  ? E0801
                                                               : otherwise;
}

void must_tell(const driver *d, const char *who) {
    if (!diag_errors(d->ds)) ICE("%s failed and does not say why", who);
}

diagnostic *usage(driver *d, diag_code code, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    const char *message = arena_vprintf(d->arena, format, ap);
    va_end(ap);
    d->usage_fault = true;
    return diag(d->ds, code, NO_SPAN, "%s", message);
}
