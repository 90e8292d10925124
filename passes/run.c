// The passes by name (passes.def), and what runs them: one after the other until one refuses. After
// each the observer is told what there is, and equations are verified.
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"
#include "axes/axes.h"
#include "loop/loop.h"
#include "planning.h"

typedef struct {
    pass_info info;
    pass_kind kind;
    void (*run)(planner *p);   // NULL: it makes a program of all versions
} pass;

#define FROM_TO_EQUATIONS "tensor -> tensor"
#define FROM_TO_PLAN "tensor -> loop"
#define FROM_TO_LOOPS "loop -> loop"
#define FROM_TO_CHECK "checks loop"
#define FROM_TO_PROGRAM "-> simt"
static const pass passes[] = {
#define PASS(name, kind, run, summary) {{#name, FROM_TO_##kind, summary}, PASS_##kind, run},
#include "passes.def"
};
enum { PASSES = sizeof passes / sizeof *passes };

const pass_info *pass_at(uint32_t i) { return i < PASSES ? &passes[i].info : NULL; }

void pass_done(const pass_observer *o, const char *pass, const pass_state *s) {
    if (o && o->seen) o->seen(o->user, pass, s);
}

static void done(const planner *p, const char *pass, bool equations) {
    const pass_state s = {.op = equations ? p->op : NULL,
                          .plan = equations ? NULL : p->plan,
                          .prepared = p->plan->prepared.len,
                          .guards = p->facts->guards.len};
    pass_done(p->facts->after, pass, &s);
}

static void broken(const planner *p, const pass *by, const char *ir, const char *fault) {
    ICE("%s: pass '%s' made %s IR that does not verify: %s", p->op->name, by->info.name, ir, fault);
}

// A plan may be illegal as its schedule is; a pass that makes it so is at fault.
static bool verify_loops(const planner *p, const pass *done, bool legal) {
    const char *fault = loop_verify(p->arena, p->plan);
    if (fault && legal) broken(p, done, "loop", fault);
    return !fault;
}

static void verify_equations(const planner *p, const pass *done) {
    const char *fault = tensor_verify_of_plan(p->arena, p->op);
    if (fault) broken(p, done, "tensor", fault);
}

bool plan_run(planner *p, pass_kind kind) {
    const pass_observer *o = p->facts->after;
    pass_verify verify = o ? o->verify : PASS_VERIFY_NOTHING;
    bool equations = kind == PASS_EQUATIONS,
         each = kind == PASS_LOOPS && verify == PASS_VERIFY_EACH;
    bool legal = each && !loop_verify(p->arena, p->plan);
    for (uint32_t i = 0; i < PASSES; i++) {
        if (passes[i].kind != kind) continue;
        passes[i].run(p);
        if (p->failed) return false;
        if (equations && verify != PASS_VERIFY_NOTHING) verify_equations(p, &passes[i]);
        if (each) legal = verify_loops(p, &passes[i], legal);
        done(p, passes[i].info.name, equations);
    }
    return true;
}

bool plan_equations(planner *p, bool whole) {
    p->alone = !whole;
    done(p, NULL, true);
    return plan_run(p, PASS_EQUATIONS);
}
