// What the evaluator holds of a value: its elements, whole, a sample of them, or those that were
// asked for.
#include "eval.h"

#include <stdarg.h>

void eval_fault(evaluator *ev, const char *format, ...) {
    if (ev->why || ev->guessing) return;
    va_list ap;
    va_start(ap, format);
    ev->why = arena_vprintf(ev->results, format, ap);
    va_end(ap);
}

void eval_count_step(evaluator *ev) {
    ev->steps++;
    if (ev->in->max_steps && ev->steps > ev->in->max_steps)
        eval_fault(ev, "gave up after %llu points", (unsigned long long)ev->in->max_steps);
}

static int64_t place_of(const eval_slot *s, int64_t at) {   // or the empty place where it would be
    uint64_t x = (uint64_t)(at + 1) * UINT64_C(0x9e3779b97f4a7c15);
    int64_t i = (int64_t)(x >> 20) & (s->room - 1);
    while (s->at[i] && s->at[i] != at + 1) i = (i + 1) & (s->room - 1);
    return i;
}

int64_t eval_slot_asked(const eval_slot *s, int64_t at) {
    int64_t i = place_of(s, at);
    return s->at[i] ? i : -1;
}

static void copy_element(eval_slot *to, int64_t i, const eval_slot *from, int64_t k) {
    to->at[i] = from->at[k];
    if (to->is_float) to->value[i] = from->value[k], to->bound[i] = from->bound[k];
    else to->integer[i] = from->integer[k], to->certain[i] = from->certain[k];
    if (to->beyond) to->beyond[i] = from->beyond[k];
}

static void allot(evaluator *ev, eval_slot *s, arena *a, int64_t n) {
    if (s->is_float) {
        s->value = ARENA_ARRAY(a, double, n);
        s->bound = ARENA_ARRAY(a, double, n);
    } else {
        s->integer = ARENA_ARRAY(a, int64_t, n);
        s->certain = ARENA_ARRAY(a, uint8_t, n);
    }
    if (ev->in->real) s->beyond = ARENA_ARRAY(a, uint32_t, n);
}

// Room for twice as many elements of a sample, or that are asked for.
static void widen_slot(evaluator *ev, eval_slot *s) {
    enum { FIRST = 1024 };
    eval_slot old = *s;
    arena *a = s->info->role == VAL_RESULT ? ev->results : ev->scratch;
    s->room = s->room ? 2 * s->room : FIRST;
    s->at = ARENA_ARRAY(a, int64_t, s->room);
    allot(ev, s, a, s->room);
    for (int64_t k = 0; k < (s->asked ? old.room : s->kept); k++)
        if (!s->asked) copy_element(s, k, &old, k);
        else if (old.at[k]) copy_element(s, place_of(s, old.at[k] - 1), &old, k);
}

int64_t eval_slot_keep(evaluator *ev, eval_slot *s, int64_t at, int64_t known) {
    if (s->asked) {
        if (2 * s->kept >= s->room) widen_slot(ev, s);
        int64_t i = place_of(s, at);
        s->kept += !s->at[i];
        s->at[i] = at + 1;
        return i;
    }
    if (!s->sampled) {
        s->written[at] = 1;
        return at;
    }
    if (known < 0 && s->kept == s->room) widen_slot(ev, s);
    int64_t i = known < 0 ? s->kept++ : known;
    s->at[i] = at;
    return i;
}

void eval_slot_expect(evaluator *ev, eval_slot *s, int64_t n) {
    while (s->room < n) widen_slot(ev, s);
    s->kept = n;
}

void eval_slot_fill(evaluator *ev, eval_slot *s) {
    if (s->sampled || s->asked) {
        widen_slot(ev, s);
        return;
    }
    arena *a = s->info->role == VAL_RESULT ? ev->results : ev->scratch;
    allot(ev, s, a, s->points);
    s->written = ARENA_ARRAY(ev->scratch, uint8_t, s->points);
}

eval_value eval_slot_get(const eval_slot *s, int64_t at) {
    if (s->input)
        return s->is_float ? eval_float(eval_read_float(s->info->type, s->input, at), 0)
                           : eval_int(eval_read_int(s->info->type, s->input, at), true);
    eval_value x = s->is_float ? eval_float(s->value[at], s->bound[at])
                               : eval_int(s->integer[at], s->certain[at]);
    if (s->beyond) x.beyond = s->beyond[at];
    return x;
}
