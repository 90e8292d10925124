// Inside the facts: facts/facts.c scopes and questions, facts/form.c values as linear forms,
// facts/keys.c maps and what is prepared for them, facts/bound.c bounds, facts/along.c motion and
// divisors, facts/print.c their text.
#ifndef GNNC_FACTS_INTERNAL_H
#define GNNC_FACTS_INTERNAL_H

#include "facts/facts.h"

// A value is constant + sum factor × atom; atoms are what is not linear, numbered so that equal
// ones have one number. LETs are gone, so `dst[e]` and `dst[p]` after `let e = p` are the same
// atom.
typedef uint32_t atom_id;
enum { FORM_TERMS = FACTS_TERMS };
typedef struct {
    int64_t constant;
    uint32_t n;
    struct {
        atom_id atom;
        int64_t factor;
    } terms[FORM_TERMS];   // by atom; no factor is 0
} form;

typedef struct {
    form of;
    int64_t by;
} divisibility;

// What holds below a FOR, LET or IF, besides what holds outside.
typedef struct scope scope;
struct scope {
    const scope *outer;
    const loop_node *node;       // NULL: the op's preconditions
    uint32_t depth;              // FORs so far
    form lo, hi;                 // FOR
    form value;                  // LET
    VEC(form) least;             // root, IF: each is 0 or more
    VEC(divisibility) divides;   // root, IF
};

typedef struct {
    uint16_t op;
    tensor_type type;
    int64_t imm, imm2;
    uint32_t nargs;
    const form *args;
    const scope *binder;   // VAR: its FOR; NULL: the step of a recurrence
    uint32_t depth;        // of the innermost FOR it depends on
    bool tame;             // small, so that arithmetic on it does not wrap
} atom;

typedef struct {
    uint64_t a, b, c;
} table_key;
typedef struct {
    struct {
        table_key key;
        void *value;
    } *slots;
    uint32_t nslots, used;
} table;   // NULL: not there

struct facts {
    arena *arena;
    loop_plan *plan;
    tensor_op *op;
    scope *root;
    VEC(const atom *) atoms;   // each stays where it is
    table scopes;              // loop_node -> scope around it
    table forms;               // scope, expression -> form
    table motions;             // atom, loop, digit -> facts_motion
    table multiples;           // scope, atom -> int64_t
    table held;                // scope, condition, whether it holds: read already
    table named;               // hash -> chain of atoms
    form *size_is;             // per space: what a precondition says it is; unsaid_size: nothing
};

// facts/facts.c
void **table_at(arena *a, table *t, table_key key);
const scope *scope_of(facts *f, const loop_node *at);

// facts/form.c
form form_const(int64_t x);
form form_atom(atom_id a);
int64_t form_factor(const form *x, atom_id a);
// x += factor × y; false: too large, x is spoilt
bool form_add(form *x, int64_t factor, const form *y);
bool form_gap(const form *x, const form *y, int64_t *gap);   // y - x where it is constant
bool form_bare(const form *x, atom_id *a);                   // just an atom
bool form_tame(const facts *f, const form *x);
bool form_equal(const form *x, const form *y);
const form *form_of(facts *f, const scope *s, tensor_expr e);
extern const form unsaid_size;
form size_form(facts *f, tensor_space s);
// a leaf that occurs
bool atom_find(const facts *f, tensor_opcode op, int64_t imm, int64_t imm2, atom_id *a);

// facts/keys.c
const loop_prepared *prepared_of(const facts *f, tensor_val v);
bool val_is_load(const facts *f, atom_id a, tensor_val *v);   // of one axis
bool val_sorted(const facts *f, tensor_val v);
bool val_distinct(const facts *f, tensor_val v);
bool val_total(const facts *f, tensor_val v);   // never none
// The loop's bounds are two entries of one ascending prepared array: entries `first` and `end` of
// it.
typedef struct {
    const loop_prepared *array;
    form first, end;
} walk;
bool walk_of(const facts *f, const scope *loop, walk *w);
// The atom is the key by which a loop walks, at the loop's position: it lies from w->first to
// w->end - 1.
bool key_of_walk(const facts *f, atom_id a, const scope **loop, walk *w);
// key[order(key)[position]], none excluded
bool key_in_order(const facts *f, atom_id a, form *position);
// a map sorted in each row, at a walk of one row
bool sorted_within(const facts *f, atom_id a, const scope **loop);
// the order itself, which is stable, at such a walk
bool order_within(const facts *f, atom_id a, const scope **loop);

// facts/bound.c
// x is never below out
bool form_least(facts *f, const scope *s, const form *x, bool numeric, form *out);
bool form_nonnegative(facts *f, const scope *s, const form *x);

// facts/along.c
int64_t greatest_divisor(int64_t x, int64_t y);
int64_t form_multiple(facts *f, const scope *s, const form *x);
int64_t form_base_multiple(facts *f, const scope *s, const form *x, const scope *loop,
                           uint32_t digit);
facts_motion form_along(facts *f, const form *x, const scope *loop, uint32_t digit);

// facts/print.c
void facts_print_expr(textbuf *out, const tensor_op *op, tensor_expr e);

#endif
