// The sites of each kind of fault in a program, and what is done to one.
#include "program_fault.h"

#include <string.h>

static const char *const texts[] = {
#define X(id, what) #id,
    PROGRAM_FAULTS(X)
#undef X
};
const char *program_fault_text(program_fault k) { return texts[k]; }

// What a fault is done to: a temporary, or of a version a guard, or a step, or an argument of it.
typedef struct {
    program_temp *temp;
    program_version *version;
    uint32_t guard, step, arg;
    uint32_t other;   // what an argument becomes
} site;

enum { NONE = UINT32_MAX };

// ---- Where --------------------------------------------------------------------------------------
static uint32_t other_map(const program *p, uint32_t map) {
    for (uint32_t n = 1; n < p->params.len; n++) {
        uint32_t i = (map + n) % p->params.len;
        const program_param *a = &p->params.data[map], *b = &p->params.data[i];
        bool array = b->role == PARAM_MAP && !(b->facts & FACT_PREFIX);
        if (a->role == PARAM_MAP && array && a->rank == 1 && b->rank == 1 &&
            a->axes[0] == b->axes[0])
            return i;
    }
    return NONE;
}

static bool uses(const program_version *v, uint32_t temp) {
    for (uint32_t s = 0; s < v->steps.len; s++)
        for (uint32_t i = 0; v->steps.data[s].kind == STEP_LAUNCH && i < v->steps.data[s].nargs;
             i++)
            if (v->steps.data[s].args[i].kind == ARG_TEMP && v->steps.data[s].args[i].index == temp)
                return true;
    return false;
}

static uint32_t other_temp(const program *p, const program_version *v, uint32_t temp) {
    for (uint32_t n = 1; n < p->temps.len; n++)
        if (uses(v, (temp + n) % p->temps.len)) return (temp + n) % p->temps.len;
    return NONE;
}

// What an argument may be taken for; NONE: nothing, or the fault is another.
static uint32_t mistaken(const program *p, const program_version *v, const program_arg *a,
                         program_fault k) {
    if (k == PROGRAM_FAULT_map && a->kind == ARG_DATA) return other_map(p, a->index);
    if (k == PROGRAM_FAULT_temp && a->kind == ARG_TEMP) return other_temp(p, v, a->index);
    if (k == PROGRAM_FAULT_size && a->kind == ARG_SIZE && p->spaces.len > 1)
        return (a->index + 1) % (uint32_t)p->spaces.len;
    return NONE;
}

static bool step_fits(const program_version *v, uint32_t s, program_fault k) {
    program_step_kind kind = v->steps.data[s].kind;
    if (k == PROGRAM_FAULT_rounds) return kind == STEP_LOOP;
    if (k == PROGRAM_FAULT_sequence)
        return s && kind == STEP_LAUNCH && v->steps.data[s - 1].kind == STEP_LAUNCH;
    return (k == PROGRAM_FAULT_grid || k == PROGRAM_FAULT_launch) && kind == STEP_LAUNCH;
}

static bool find_in_step(const program *p, program_fault k, uint32_t *left, site *at) {
    const program_step *s = &at->version->steps.data[at->step];
    if (step_fits(at->version, at->step, k) && !(*left)--) return true;
    for (at->arg = 0; s->kind == STEP_LAUNCH && at->arg < s->nargs; at->arg++) {
        at->other = mistaken(p, at->version, &s->args[at->arg], k);
        if (at->other != NONE && !(*left)--) return true;
    }
    return false;
}

static bool find_in_version(const program *p, program_fault k, uint32_t *left, site *at) {
    for (at->guard = 0; at->guard < at->version->guards.len; at->guard++) {
        guard_kind g = at->version->guards.data[at->guard].kind;
        bool fits = k == PROGRAM_FAULT_guard && g != GUARD_HOLDS && g != GUARD_REACH;
        if (fits && !(*left)--) return true;
    }
    for (at->step = 0; at->step < at->version->steps.len; at->step++)
        if (find_in_step(p, k, left, at)) return true;
    return false;
}

static bool find(program *p, program_fault k, uint32_t *left, site *at) {
    for (uint32_t i = 0; k == PROGRAM_FAULT_temp_room && i < p->temps.len; i++)
        if (!(*left)--) {
            at->temp = &p->temps.data[i];
            return true;
        }
    for (uint32_t i = 0; i < p->versions.len; i++) {
        at->version = &p->versions.data[i];
        if (find_in_version(p, k, left, at)) return true;
    }
    return false;
}

// ---- Doing it -----------------------------------------------------------------------------------
static void then(arena *a, size_expr *e, size_token_kind k, int64_t value) {
    VEC_PUSH(a, e, ((size_token){k, value, 0}));
}

// Expressions may be shared.
static size_expr copy_of(arena *a, const size_expr *e) {
    size_expr c = {0};
    for (uint32_t i = 0; i < e->len; i++) VEC_PUSH(a, &c, e->data[i]);
    return c;
}

static void one_less(arena *a, size_expr *e) {
    *e = copy_of(a, e);
    then(a, e, SZ_CONST, 1);
    then(a, e, SZ_SUB, 0);
    then(a, e, SZ_CONST, 0);
    then(a, e, SZ_MAX, 0);
}

static void half(arena *a, size_expr *e) {
    *e = copy_of(a, e);
    then(a, e, SZ_CONST, 2);
    then(a, e, SZ_DIV, 0);
}

static void nothing(arena *a, size_expr *e) {
    *e = (size_expr){0};
    then(a, e, SZ_CONST, 0);
}

static void without_guard(site *at) {
    program_version *v = at->version;
    v->guards.len--;
    memmove(v->guards.data + at->guard, v->guards.data + at->guard + 1,
            (v->guards.len - at->guard) * sizeof *v->guards.data);
}

static void exchange(site *at) {
    program_step *s = &at->version->steps.data[at->step], ahead = s[-1];
    s[-1] = s[0];
    s[0] = ahead;
}

static void other_argument(arena *a, site *at) {
    program_step *s = &at->version->steps.data[at->step];
    program_arg *args = ARENA_ARRAY(a, program_arg, s->nargs);
    memcpy(args, s->args, s->nargs * sizeof *args);
    args[at->arg].index = at->other;
    s->args = args;
}

static void apply(arena *a, program_fault k, site *at) {
    size_expr *count = at->version ? &at->version->steps.data[at->step].count : NULL;
    switch (k) {
    case PROGRAM_FAULT_grid:
    case PROGRAM_FAULT_rounds: one_less(a, count); return;
    case PROGRAM_FAULT_launch: nothing(a, count); return;
    case PROGRAM_FAULT_sequence: exchange(at); return;
    case PROGRAM_FAULT_guard: without_guard(at); return;
    case PROGRAM_FAULT_map:
    case PROGRAM_FAULT_size:
    case PROGRAM_FAULT_temp: other_argument(a, at); return;
    case PROGRAM_FAULT_temp_room: half(a, &at->temp->length); return;
    case PROGRAM_FAULT_COUNT: break;
    }
    ICE("program fault %d", (int)k);
}

uint32_t program_fault_sites(program *p, program_fault k) {
    uint32_t left = UINT32_MAX;
    site unused = {0};
    find(p, k, &left, &unused);
    return UINT32_MAX - left;
}

bool program_fault_apply(program *p, program_fault k, uint32_t n) {
    site at = {0};
    if (!find(p, k, &n, &at)) return false;
    apply(p->module->arena, k, &at);
    return true;
}
