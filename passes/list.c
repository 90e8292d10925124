// The passes by name, and the observer that is told when one is done.
#include "passes.h"

const pass_info *pass_at(uint32_t i) {
    static const pass_info table[] = {
#define PASS(name, summary) {#name, summary},
#include "passes.def"
#undef PASS
    };
    return i < sizeof table / sizeof *table ? &table[i] : NULL;
}

void pass_done(const pass_observer *o, const char *pass, const tensor_op *op, const loop_plan *plan, const program *p) {
    if (o && o->seen) o->seen(o->user, pass, op, plan, p);
}
