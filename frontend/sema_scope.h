// What names stand for, innermost first, and names near a wrong one.
#ifndef GNNC_SEMA_SCOPE_H
#define GNNC_SEMA_SCOPE_H

#include "foreign.h"
#include "sema.h"

typedef struct lowering lowering;

typedef struct index_info {   // an index of an equation or a reduction
    const char *name;
    span at;              // where it is introduced
    tensor_space space;   // TENSOR_NO_SPACE: not found yet
    span found_at;        // what told its space
    tensor_var var;       // once the space is known
    bool temporary;       // made by inference for one walk
} index_info;

typedef struct scope scope;
typedef struct expansion {   // functions, reducers and ops being expanded: recursion is refused
    const ast_item *item;
    const struct expansion *outer;
} expansion;
typedef struct {
    index_info *index;    // the expression is this bare index
    tensor_space space;   // it is index-valued
} inferred;
typedef struct closure {   // an argument of a function: an expression where it was written
    const ast_expr *expr;
    const scope *scope;
    const expansion *active;   // what was being expanded there
    uint64_t lowered_in;       // lowering context (renaming, guards) the cached result belongs to
    struct value *cached;
    uint32_t inferred_in;   // the round it was walked last, and what it was then
    inferred inferred;
} closure;
typedef struct key_list {   // "by (m, n)" or "over d", passed through functions
    const ast_names *keys;
    const scope *scope;
    bool over;
} key_list;

typedef enum {
    ENT_SPACE,
    ENT_VALUE,
    ENT_IDENTITY,
    ENT_INDEX,
    ENT_CLOSURE,
    ENT_KEYS,
    ENT_DTYPE,
    ENT_FN,
    ENT_REDUCER,
    ENT_ARG,
    ENT_STATE,
    ENT_OUTCOME,   // inside a reducer; OUTCOME: in its grad, a result or the adjoint of one
    ENT_ERROR      // its declaration was refused: uses are not reported again
} entity_kind;
typedef struct entity {
    entity_kind kind;
    const char *name;
    span at;
    tensor_space space;     // SPACE; IDENTITY
    tensor_val val;         // VALUE
    index_info *index;      // INDEX
    closure *closure;       // CLOSURE
    key_list *keys;         // KEYS
    ir_dtype dtype;         // DTYPE
    const ast_item *item;   // FN, REDUCER (NULL: builtin)
    tensor_reduce_kind builtin;
    uint32_t number;    // ARG, STATE
    tensor_type type;   // ARG, STATE
    bool primed_too;    // STATE: combine, where the right operand's exists
    struct entity *next;
} entity;
struct scope {
    const scope *parent;
    entity *first;    // the latest
    entity **table;   // the latest of each name, where there are many
    uint32_t count, slots;
};

// sema_scope.c
entity *scope_add(arena *a, scope *s, entity e);
const entity *scope_find(const scope *s, const char *name);
entity *scope_own(const scope *s, const char *name);   // not of its parents
// Follows function arguments that merely name something.
const entity *sema_resolve(const lowering *L, const scope *s, const char *name);

enum { MOST_EXPANSIONS = 20000, MOST_CALLS = 4096 };   // of functions in an op, of ops in it
bool expanding(const lowering *L, const ast_item *item);
// gives back what to set L->active to afterwards
const expansion *expand(lowering *L, const ast_item *item);
closure *closure_new(lowering *L, const scope *s, const ast_expr *e);

// sema_suggest.c
typedef enum { NEAR_ANY, NEAR_MAP, NEAR_INDEX, NEAR_SPACE, NEAR_TYPE } near_kind;
// Each offers the nearest name, if there is one: of what is in scope; of items, and of `more`,
// which NULL ends.
bool suggest_in_scope(lowering *L, diagnostic *d, const scope *s, ast_name name, near_kind want);
bool suggest_item(const sema *s, diagnostic *d, ast_name name, const ast_item *const *items,
                  uint32_t n, const char *const *more);
const char *library_with_op(arena *a, const char *name);

#endif
