// What is known while an op is lowered: values, guards, the stage at hand.
#ifndef GNNC_SEMA_LOWER_H
#define GNNC_SEMA_LOWER_H

#include "sema_scope.h"
#include "tensor_bounds.h"

typedef struct value {   // a lowered expression
    tensor_expr expr;
    enum {
        VALUE_PLAIN,
        VALUE_INT,
        VALUE_FLOAT,
        VALUE_NONE,
        VALUE_BAD
    } kind;   // INT, FLOAT: a literal, typed by its use
    double number;
    int64_t integer;
} value;

typedef struct index_rename {   // inside "R(x by m)" an index stands for the bound one
    const index_info *from;
    tensor_var to;
    const struct index_rename *outer;
} index_rename;

typedef struct {         // what a condition tells, where it holds
    tensor_expr some;    // an index that is not none; else 0
    tensor_known fact;   // a comparison of whole numbers; else its condition is 0
    tensor_expr whole;   // the condition
    bool guarded;        // it reads where those before it alone say that it may
} guard;

typedef struct frame {   // a reduction being lowered: guards that hold around it
    uint32_t guards;     // how many held when it began
    uint64_t needed;     // bit i: guard i is needed inside
    bool own;            // a guard of its own condition was needed
    struct frame *outer;
} frame;

typedef struct definition {   // what fills a value: literal positions and the step's offset an axis
    tensor_val val;
    uint32_t rank;
    const int64_t *literals;   // per axis: the literal; -1: an index; -2 - c: a step plus c
    span at;
} definition;

typedef struct {
    uint32_t substitution;
    tensor_expr to;
} expr_copy;

// Of a value that several equations fill, the type that holds all of them, where it is not that of
// the first.
typedef struct {
    const char *name;
    ir_dtype type;
} part_type;
typedef VEC(part_type) part_types;

typedef struct {
    const char *name;
    uint32_t number;   // the first that may be free behind it
} name_slot;
typedef struct {   // names of values, to find free ones among
    name_slot *slots;
    uint32_t size, used, values;   // values: how many of the op's are in
} name_set;

typedef struct {   // of functions and ops, which are lowered where they are called
    const expansion *active;
    uint32_t functions, calls;   // expanded so far: functions, and ops
    uint32_t depth;              // of expressions within expansions
    bool too_deep;               // has been reported
} expanded;

typedef struct {              // of the equation at hand
    const char *stage_base;   // names of lifted stages: base.sum, base.sum_2
    const index_rename *renames;
    // number of this renaming and these guards; numbers given so far
    uint64_t context, contexts;
    VEC(tensor_var) open;   // variables in scope, outermost first
    uint32_t nleft;         // of those: of the equation's left side
    VEC(guard) guards;
    frame *frame;
    VEC(tensor_key) determined;   // keys in force whose right side is a variable
    VEC(const char *) closed;     // indices of its reductions that have ended
} equation_state;

typedef struct {
    uint32_t round, steps;   // steps: of this equation, bounded
    bool changed;
} inference;

typedef struct {               // over the expressions of an op
    VEC(uint32_t) visited;     // per expression: the walk that met it last
    VEC(expr_copy) copies;     // per expression: what the substitution at hand makes of it
    VEC(tensor_var) renamed;   // per variable, while two stages are compared
    uint32_t walks, substitutions;
} expr_walks;

struct lowering {
    sema *s;
    arena *arena;
    diag_set *ds;
    tensor_op *op;
    ir_dtype real;       // type of int / int: f64 where the op holds an f64, else f32
    part_types *parts;   // found so far (sema_parts.c)
    bool asked;          // for a wider one
    expanded expanded;
    equation_state eq;
    inference infer;
    uint32_t loop;     // op->loops or TENSOR_NO_LOOP
    bool conditions;   // lowering a precondition: sizes and statistics only
    VEC(definition) definitions;
    bool defaults;   // sizes nobody bound take a default: for checking
    expr_walks walk;
    name_set taken;
};

// sema_parts.c
// Lowers the equations of an op, without a word, until the types of values in parts are found.
void parts_find(sema *s, part_types *out, void (*lower)(lowering *L, void *user), void *user);
tensor_type part_type_of(const lowering *L, const char *value, tensor_type first);
void part_note(lowering *L, tensor_val val, tensor_type t);   // another part of val has type t

// sema_infer.c
// Repeats until no index learns its space.
void infer_fix(lowering *L, const scope *s, const ast_expr *const *exprs, uint32_t n);
bool infer_index_known(lowering *L, index_info *i);   // reports an index whose space stays unknown

#endif
