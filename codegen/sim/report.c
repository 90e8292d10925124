// Faults, collected: one for each kind and instruction, told with the first lane that had it.
#include "steps.h"

enum { MOST = 100 };   // kept; a kernel that is wrong everywhere has told enough by then

static sim_fault *known(sim *s, const sim_code *c, diag_code code) {
    for (uint32_t k = 0; k < s->faults.len; k++) {
        sim_fault *f = &s->faults.data[k];
        if (f->code == code && f->func == c->func && f->instr == c->instr) return f;
    }
    return NULL;
}

static uint32_t first_of(sim_mask m) { return m ? (uint32_t)__builtin_ctz(m) : 0; }

void sim_fault_at(sim_warp *w, const sim_code *c, diag_code code, sim_mask lanes, simt_instr other,
                  const char *format, ...) {
    sim *s = w->block->sim;
    sim_fault *f = known(s, c, code);
    uint32_t n = (uint32_t)__builtin_popcount(lanes);
    if (f) f->lanes += n;
    if (f || s->faults.len == MOST) return;
    va_list ap;
    va_start(ap, format);
    const char *what = arena_vprintf(s->memory, format, ap);
    va_end(ap);
    const char *text = arena_printf(s->memory, "kernel '%s', block %u, warp %u, lane %u: %s",
                                    w->block->kernel->func->name, w->block->number, w->number,
                                    first_of(lanes), what);
    sim_fault new = {
        .code = code, .func = c->func, .instr = c->instr, .other = other, .text = text, .lanes = n};
    VEC_PUSH(s->memory, &s->faults, new);
}

uint32_t sim_report(sim *s) {
    uint32_t n = s->faults.len;
    diagnostic *d = NULL;
    for (uint32_t k = 0; k < n; k++) {
        const sim_fault *f = &s->faults.data[k];
        d = diag(s->ds, f->code, f->func->instrs.data[f->instr].at, "%s", f->text);
        if (f->other) diag_note(d, f->func->instrs.data[f->other].at, "the other access");
        if (f->lanes > 1)
            diag_note(d, NO_SPAN, "%llu more time%s here", (unsigned long long)(f->lanes - 1),
                      f->lanes == 2 ? "" : "s");
    }
    if (n == MOST) diag_note(d, NO_SPAN, "faults at further places are not told");
    s->faults.len = 0;
    return n;
}
