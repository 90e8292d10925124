// From checked schedules to those an op may be compiled by. sema_schedule_choose.c says which;
// _resolve.c makes their cells what passes read (ir/schedule.h), _lower.c keys and factors, _open.c
// what is left to the tuner, _condition.c and _ratio.c what is left open of conditions.
#ifndef GNNC_SEMA_SCHEDULE_RESOLVE_H
#define GNNC_SEMA_SCHEDULE_RESOLVE_H

#include "sema_schedule.h"
#include "sema_schedule_ratio.h"

// ---- What is left open (sema_schedule_condition.c) ----------------------------------------------
// The conditions of a schedule for one form of its op: alternatives, each a list of conditions that
// all hold; none: it does not apply. false: a fault was reported.
typedef VEC(schedule_condition) schedule_conditions;
typedef VEC(schedule_conditions) schedule_alternatives;
typedef struct {
    sema *s;
    const schedule_op *op;   // as compiled: op->op is what it was lowered to
    const char *target;
} schedule_place;
bool schedule_conditions_open(const schedule_place *p, const ast_item *item,
                              schedule_alternatives *out);
// All of them, or one that asks for no alignment, as what holds where they do.
size_term schedule_when_term(const schedule_place *p, const ast_item *item);
size_term schedule_condition_term(const schedule_place *p, const ast_expr *e);
// What a generic is bound to: "f16", "mul", "64"; NULL: nothing binds it.
const char *schedule_generic_value(const schedule_place *p, const ast_generic *g);

// The choice among the schedules of a form of an op; items: those it is compiled by, of which each
// has its place for a number. false: a fault was reported.
typedef VEC(const ast_item *) schedule_items;
bool schedule_choice_open(const schedule_place *p, frontend_unit *u, const frontend_op *op,
                          const schedule_items *items, schedule_choice *out);

// ---- What passes read (sema_schedule_resolve.c, _lower.c) ---------------------------------------
typedef struct schedule_resolver {
    schedule_place place;
    frontend_unit *unit;
    schedule_op *canonical;         // the same in canonical form; NULL: no schedule says so
    tensor_op *op, *canonical_op;   // with what keys need; NULL: no key yet
    VEC(schedule *) made;
    uint32_t depth;
} schedule_resolver;
schedule *schedule_resolve(schedule_resolver *r, const ast_item *item);   // without conditions
// A key or factor: fills v->key, v->var and v->text, and appends the stages it needs. index: the
// one it is over, or NULL.
typedef struct {
    const schedule_checker *c;
    const char *stage, *index;
    const char *base;   // names of the stages it needs
} schedule_key_place;
void schedule_key_lower(schedule_resolver *r, const schedule_key_place *k, const ast_subject *x,
                        schedule *s, schedule_value *v);
// lets replaced
const ast_subject *schedule_first_choice(const schedule_checker *c, const ast_subject *x);

// ---- What is left open (sema_schedule_open.c) ---------------------------------------------------
const char *schedule_open_text(const schedule_checker *c,
                               const ast_subject *x);              // as written; NULL: nothing is
bool schedule_optional(const ast_statement *st);                   // it may be left out
void schedule_open_lets(const schedule_checker *c, schedule *s);   // that such texts name

#endif
