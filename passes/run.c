// The passes by name (passes.def), and what runs them: one after the other until one refuses. Before
// each, the states that it needs hold. After each the observer is told what there is, and equations
// are verified.
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"
#include "axes/axes.h"
#include "loop/loop.h"
#include "planning.h"

#include <string.h>

enum {
#define STATE(id, name, text) id##_AT,
#include "passes.def"
    STATES
};
enum {
    NONE = 0,
#define STATE(id, name, text) id = 1 << id##_AT,
#include "passes.def"
};
typedef struct {
    const char *name, *text;
} state;
static const state states[] = {
#define STATE(id, name, text) {#name, text},
#include "passes.def"
};

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
#define PASS(name, kind, run, needs, gives, ends, summary)                                         \
    {{#name, FROM_TO_##kind, summary, needs, gives, ends}, PASS_##kind, run},
#include "passes.def"
};
enum { PASSES = sizeof passes / sizeof *passes };

const pass_info *pass_at(uint32_t i) { return i < PASSES ? &passes[i].info : NULL; }

const char *pass_states_text(arena *a, uint32_t of) {
    textbuf out = textbuf_new(a);
    for (uint32_t i = 0; i < STATES; i++)
        if (of >> i & 1) textbuf_printf(&out, "%s%s", out.len ? ", " : "", states[i].name);
    return out.data;
}

// ---- Observed and verified ----------------------------------------------------------------------
void pass_done(const pass_observer *o, const char *pass, const pass_state *s) {
    if (o && o->seen) o->seen(o->user, pass, s);
}

void pass_spent(const pass_observer *o, const char *on) {
    if (o && o->spent) o->spent(o->user, on);
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

// Most passes leave most ops as they were.
static void verify_equations(planner *p, const pass *done) {
    const uint64_t mark = tensor_op_mark(p->op);
    if (mark == p->of_op.verified) return;
    p->of_op.verified = mark;
    const char *fault = tensor_verify_of_plan(p->arena, p->op);
    if (fault) broken(p, done, "tensor", fault);
}

// ---- Run ----------------------------------------------------------------------------------------
void plan_states_of_op(planner *p) { p->facts->states = SCHEDULE | UNTYPED | APART; }
void plan_states_of_loops(planner *p) { p->facts->states = KERNELS; }
bool plan_has_kernels(const planner *p) { return p->facts->states & KERNELS; }

// legal: whether loop IR verified before it; says whether it does now.
static void run(planner *p, const pass *of, bool *legal) {
    const pass_observer *o = p->facts->after;
    pass_verify verify = o ? o->verify : PASS_VERIFY_NOTHING;
    bool equations = of->kind == PASS_EQUATIONS;
    uint32_t lacks = of->info.needs & ~p->facts->states;
    if (lacks)
        ICE("%s: pass '%s' lacks: %s", p->op->name, of->info.name,
            pass_states_text(p->arena, lacks));
    of->run(p);
    if (p->failed) {
        pass_spent(o, of->info.name);
        return;
    }
    p->facts->states = (p->facts->states | of->info.gives) & ~of->info.ends;
    if (equations && verify != PASS_VERIFY_NOTHING) verify_equations(p, of);
    if (of->kind == PASS_LOOPS && verify == PASS_VERIFY_EACH) *legal = verify_loops(p, of, *legal);
    done(p, of->info.name, equations);
}

static bool is_legal(const planner *p, pass_kind kind) {
    const pass_observer *o = p->facts->after;
    bool each = kind == PASS_LOOPS && o && o->verify == PASS_VERIFY_EACH;
    return each && !loop_verify(p->arena, p->plan);
}

bool plan_run(planner *p, pass_kind kind) {
    bool legal = is_legal(p, kind);
    for (uint32_t i = 0; i < PASSES && !p->failed; i++)
        if (passes[i].kind == kind) run(p, &passes[i], &legal);
    return !p->failed;
}

bool plan_equations(planner *p, bool whole) {
    p->alone = !whole;
    plan_states_of_op(p);
    done(p, NULL, true);
    return plan_run(p, PASS_EQUATIONS);
}

// ---- By name ------------------------------------------------------------------------------------
static const pass *pass_named(const char *name) {
    for (uint32_t i = 0; i < PASSES; i++)
        if (!strcmp(passes[i].info.name, name)) return &passes[i];
    ICE("there is no pass '%s'", name);
}

static const char *giver(uint32_t state) {
    for (uint32_t i = 0; i < PASSES; i++)
        if (passes[i].info.gives & state) return passes[i].info.name;
    return NULL;
}

static const char *ender(uint32_t state) {
    for (uint32_t i = 0; i < PASSES; i++)
        if (passes[i].info.ends & state) return passes[i].info.name;
    return NULL;
}

static void refuse_lack(const planner *p, const pass *of, uint32_t lacks) {
    uint32_t at = (uint32_t)__builtin_ctz(lacks), state = 1u << at;
    diagnostic *d = diag(p->ds, E0830, NO_SPAN, "pass '%s' needs the state '%s': %s", of->info.name,
                         states[at].name, states[at].text);
    if (giver(state)) diag_help(d, "'%s' gives it: name that before", giver(state));
    else if (ender(state) && !plan_has_kernels(p))
        diag_help(d, "'%s' ends it: name that after '%s'", ender(state), of->info.name);
    else diag_help(d, "give it the op, as a source or a .tensor text, and name 'plan' before");
}

// false: refused.
static bool may_run(const planner *p, const pass *of) {
    uint32_t lacks = of->info.needs & ~p->facts->states, again = of->info.gives & p->facts->states;
    bool above = of->kind == PASS_EQUATIONS || of->kind == PASS_PLAN;
    if (!of->run)
        diag_help(diag(p->ds, E0830, NO_SPAN, "pass '%s' makes a program of all versions at once",
                       of->info.name),
                  "--emit=simt without --passes makes it, of a .loop text too");
    else if (above && plan_has_kernels(p))
        diag_help(diag(p->ds, E0830, NO_SPAN, "pass '%s' works on equations, and there is a plan",
                       of->info.name),
                  "name it before 'plan', of a source or a .tensor text");
    else if (lacks) refuse_lack(p, of, lacks);
    else if (again)
        diag_help(diag(p->ds, E0830, NO_SPAN, "pass '%s' has run: %s", of->info.name,
                       states[__builtin_ctz(again)].text),
                  "name it once");
    return of->run && !(above && plan_has_kernels(p)) && !lacks && !again;
}

bool plan_run_named(planner *p, const char *const *names, uint32_t n) {
    done(p, NULL, !plan_has_kernels(p));
    for (uint32_t i = 0; i < n && !p->failed; i++) {
        const pass *of = pass_named(names[i]);
        bool legal = is_legal(p, of->kind);
        if (!may_run(p, of)) return false;
        run(p, of, &legal);
        if (p->failed && p->facts->refused)
            diag_help(diag(p->ds, E0830, NO_SPAN, "pass '%s' refuses the default schedule: %s",
                           names[i], p->facts->refused),
                      "write a schedule, and give it by --schedule");
    }
    return !p->failed;
}
