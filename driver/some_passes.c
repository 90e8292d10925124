// --passes: some passes alone, on an op or on the plans of a text, and what they leave.
#include "unit.h"
#include "autodiff/gradient.h"
#include "loop.h"

void check_some_passes(driver *d, const form *forms, uint32_t n) {
    bool good = n > 0;
    for (uint32_t i = 0; i < n; i++) good &= forms[i] == FORM_TENSOR || forms[i] == FORM_LOOP;
    if (!option_given(d, OPT_PASSES)) return;
    if (option_given(d, OPT_NO_SCHEDULE))
        diag_help(
            usage(d, E0812, "--no-schedule asks for the naive plan, which --passes does not make"),
            "leave one of them out");
    if (good) return;
    diag_help(usage(d, E0812, "--passes leaves tensor or loop IR, and no code"),
              "write it by --emit=tensor or --emit=loop, and compile that text");
}

static bool is_left(driver *d, bool loops, form f) {
    if (loops == (f == FORM_LOOP)) return true;
    diagnostic *fault = diag(d->ds, E0830, NO_SPAN, "these passes leave %s IR",
                             loops ? "loop" : "tensor");
    diag_help(fault, loops ? "write it by --emit=loop"
                           : "write it by --emit=tensor, or name 'plan', which makes loops");
    return false;
}

bool some_passes(driver *d, unit_op *o, const cg_target *t, form f, textbuf *out) {
    pass_names names = named_passes(d);
    pass_options options = settings_pass(d, t);
    options.after = print_after(d);
    if (!unit_schedule(o, t)) return false;
    if (!o->frontend && !o->text) o->op = tensor_without_unread(d->arena, o->op);
    pass_subject of = {
        .op = o->op, .text = o->text, .schedule = o->schedules.len ? o->schedules.data[0] : NULL};
    phase(d, "plan");
    if (!pass_some(d->arena, d->ds, &of, names.data, names.len,
                   t->kind == CG_HOST ? "host" : "cuda", &options))
        return false;
    if (!is_left(d, of.text, f)) return false;
    if (of.text) loop_print_text(out, of.text);
    else tensor_print(out, of.op);
    return true;
}
