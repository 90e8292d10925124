// Faults made on purpose, so that tests can show that --check notices them. GNNC_RUN_FAULT=skip
// launches nothing; wrong changes an element of the first result after each launch; once does so
// after the first alone; level at -O0 alone; changed on inputs that --metamorphic changed alone;
// spill writes before it.
#include "run_memory.h"

#include <stdlib.h>
#include <string.h>

static bool asked_for(const char *kind) {
    const char *fault = getenv("GNNC_RUN_FAULT");
    return fault && !strcmp(fault, kind);
}

bool run_fault_skips(void) { return asked_for("skip"); }

static bool flip(run_op *o, run_buffer *x, size_t byte) {
    if (!run_buffer_download(o, x)) return false;
    x->image[byte] ^= 0x40;
    return run_buffer_upload(o, x);
}

bool run_fault_apply(run_op *o, bool again) {
    bool wrong = asked_for("wrong") || (asked_for("once") && !again) ||
                 (asked_for("changed") && o->changed) ||
                 (asked_for("level") && !o->r->asked.levels[o->level]),
         spill = asked_for("spill");
    if (!wrong && !spill) return true;
    for (tensor_val v = 0; v < o->op->op->nparams; v++) {
        run_buffer *x = &o->ready.buffers[v];
        int64_t points = 0;
        if (o->op->op->vals.data[v].role != VAL_RESULT || !x->used) continue;
        if (wrong && (!bind_points(o->b, &o->op->op->vals.data[v], &points) || !points)) continue;
        return flip(o, x, spill ? x->first - 1 : x->first + gnn_dtype_bytes(x->dtype) - 1);
    }
    return true;
}
