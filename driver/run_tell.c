// Faults of an op that runs: of the runtime, and of results that are not what they should be.
#include "run.h"

bool run_failed(run_op *o, gnn_status s) {
    gnn_context *c = o->r->context;
    if (!s) return false;
    if (s == GNN_NO_VERSION && (o->r->asked.all_plans || o->changed)) {
        o->unfit = true;
        gnn_context_clear_error(c);
        return true;
    }
    const char *why = *gnn_context_error(c) ? gnn_context_error(c) : gnn_status_text(s);
    if (s == GNN_PRECONDITION) {
        diagnostic *fault = diag(o->r->d->ds, E0820, o->op->op->at, "%s: %s", o->op->name, why);
        diag_help(fault, "the graph decides it: take one that meets it");
    } else
        diag(o->r->d->ds, runtime_code((int)s, E0822), o->op->op->at, "%s: %s", o->op->name, why);
    gnn_context_clear_error(c);
    return true;
}

void run_mismatch(run_op *o, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    const char *message = arena_vprintf(o->r->d->arena, format, ap);
    va_end(ap);
    o->r->d->mismatch = true;
    diag(o->r->d->ds, E0823, o->op->op->at, "%s%s: %s", o->op->name, o->where, message);
}
