// Inside the frontend: from syntax to tensor IR. sema_unit.c gathers files and items; sema_signature.c an
// op's parameters; sema_space.c spaces; sema_equation.c equations, sema_finish.c what must hold after them;
// sema_call.c ops called; sema_infer.c finds the space of each index; sema_expr.c lowers expressions,
// sema_function.c calls in them, sema_suggest.c offers names for wrong ones; sema_reduce.c reductions and
// normalisers; sema_lift.c the stages these become; sema_reducer.c reducers; sema_schedule.c checks
// schedules.
#ifndef GNNC_SEMA_H
#define GNNC_SEMA_H

#include "autodiff/gradient.h"
#include "foreign.h"
#include "frontend.h"

typedef struct {               // a file imports another, by their paths
    const char *from, *to;
} import_edge;

typedef struct sema {
    arena *arena;
    diag_set *ds;
    intern_table *names;
    frontend_options options;
    VEC(const ast_file *) files;          // the prelude first
    VEC(import_edge) imports;
    const source_file *main;
    VEC(const ast_item *) ops, fns, reducers, grads, schedules;
    VEC(struct schedule_op *) schedule_ops;   // those that schedules were checked for
    bool schedules_checked, schedules_faulty;
    bool *defines_used;                   // per -D
    uint32_t raised;                      // faults of the run before this file
} sema;

const ast_item *sema_find(const ast_item *const *items, uint32_t n, const char *name);
// What is saved (sema_saved.c): stages of f, which the path names, in its order; and its results that a gradient may read, those
// that are to be read first.
typedef struct {
    VEC(gradient_saved) stages;
    VEC(tensor_val) results;
    uint32_t nasked;
} saved_stages;
// Gradients (sema_gradient.c): what one is called, by which name it is found, the op that it is of in the end.
const char *gradient_path(struct sema *s, const ast_item *grad);
const ast_item *gradient_find(struct sema *s, const char *path);
const ast_item *gradient_source(struct sema *s, const ast_path *path, uint32_t depth);
void gradient_check(struct sema *s, const ast_item *grad);
tensor_op *gradient_lower_source(struct sema *s, const ast_item *grad, tensor_op *(*forward)(struct sema *, const ast_item *, const char *),
                                 const char *source);   // what it is of
tensor_op *gradient_lower(struct sema *s, const ast_item *grad, tensor_op *(*forward)(struct sema *, const ast_item *, const char *),
                          const char *source);
tensor_op *gradient_derive(struct sema *s, const ast_item *grad, const tensor_op *f, const saved_stages *kept);
// Of f, lowered from `item`: the op that gives what its gradients save, and such a gradient. NULL: nothing is saved, or a fault
// was told.
tensor_op *gradient_lower_saving(struct sema *s, const ast_item *item, tensor_op *f);
tensor_op *gradient_lower_saved(struct sema *s, const ast_item *grad, tensor_op *f);
tensor_op *saved_derive(struct sema *s, const ast_item *grad, const tensor_op *f, const saved_stages *kept);   // it reads results where it pays
saved_stages saved_of(struct sema *s, const char *path, const tensor_op *f);
bool saved_list(struct sema *s, const ast_item *grad, const tensor_op *f, frontend_kept_list *out);   // of one of those gradients
void saved_check(struct sema *s, const ast_item *grad, const tensor_op *f, const tensor_op *g);   // what schedules of the gradient g say
// Of several items of that name the one nearest to the file where it is used: its own, then those it imports, then the
// prelude's. So what a file declares changes nothing in the files it imports. NO_SPAN: as seen from the main file.
const ast_item *sema_visible(const sema *s, const ast_item *const *items, uint32_t n, const char *name, span use);
const char *sema_define(const sema *s, const char *name);   // the value of -D NAME, or NULL
bool sema_size(const char *text, int64_t *out);             // decimal digits that fit
bool sema_dtype(const char *name, ir_dtype *out);           // f32, i64, bool …

// ---- What a name may stand for ---------------------------------------------------------------------------
typedef struct index_info {    // an index of an equation or a reduction
    const char *name;
    span at;                   // where it is introduced
    tensor_space space;        // TENSOR_NO_SPACE: not found yet
    span found_at;             // what told its space
    tensor_var var;            // once the space is known
    bool temporary;            // made by inference for one walk
} index_info;

typedef struct scope scope;
typedef struct expansion {     // functions, reducers and ops being expanded: recursion is refused
    const ast_item *item;
    const struct expansion *outer;
} expansion;
typedef struct {
    index_info *index;         // the expression is this bare index
    tensor_space space;        // it is index-valued
} inferred;
typedef struct closure {       // an argument of a function: an expression where it was written
    const ast_expr *expr;
    const scope *scope;
    const expansion *active;   // what was being expanded there
    uint64_t lowered_in;       // lowering context (renaming, guards) the cached result belongs to
    struct value *cached;
    uint32_t inferred_in;      // the round it was walked last, and what it was then
    inferred inferred;
} closure;
typedef struct key_list {      // "by (m, n)" or "over d", passed through functions
    const ast_names *keys;
    const scope *scope;
    bool over;
} key_list;

typedef enum {
    ENT_SPACE, ENT_VALUE, ENT_IDENTITY, ENT_INDEX, ENT_CLOSURE, ENT_KEYS, ENT_DTYPE, ENT_FN, ENT_REDUCER,
    ENT_ARG, ENT_STATE, ENT_OUTCOME,  // inside a reducer; OUTCOME: in its grad, a result or the adjoint of one
    ENT_ERROR            // its declaration was refused: uses are not reported again
} entity_kind;
typedef struct entity {
    entity_kind kind;
    const char *name;
    span at;
    tensor_space space;        // SPACE; IDENTITY
    tensor_val val;            // VALUE
    index_info *index;         // INDEX
    closure *closure;          // CLOSURE
    key_list *keys;            // KEYS
    ir_dtype dtype;            // DTYPE
    const ast_item *item;      // FN, REDUCER (NULL: builtin)
    tensor_reduce_kind builtin;
    uint32_t number;           // ARG, STATE
    tensor_type type;          // ARG, STATE
    bool primed_too;           // STATE: combine, where the right operand's exists
    struct entity *next;
} entity;
struct scope {
    const scope *parent;
    entity *first;             // the latest
    entity **table;            // the latest of each name, where there are many
    uint32_t count, slots;
};

// ---- Lowering --------------------------------------------------------------------------------------------
typedef struct value {         // a lowered expression
    tensor_expr expr;
    enum { VALUE_PLAIN, VALUE_INT, VALUE_FLOAT, VALUE_NONE, VALUE_BAD } kind;   // INT, FLOAT: a literal, typed by its use
    double number;
    int64_t integer;
} value;

typedef struct index_rename {        // inside "R(x by m)" an index stands for the bound one
    const index_info *from;
    tensor_var to;
    const struct index_rename *outer;
} index_rename;

typedef struct frame {         // a reduction being lowered: guards that hold around it
    uint32_t guards;           // how many held when it began
    uint64_t needed;           // bit i: guard i is needed inside
    bool own;                  // a guard of its own condition was needed
    struct frame *outer;
} frame;

typedef struct definition {    // what fills a value: literal positions and the step's offset an axis
    tensor_val val;
    uint32_t rank;
    const int64_t *literals;   // per axis: the literal; -1: an index; -2 - c: a step plus c
    span at;
} definition;

typedef struct {
    uint32_t substitution;
    tensor_expr to;
} expr_copy;

// Of a value that several equations fill, the type that holds all of them, where it is not that of the first.
typedef struct {
    const char *name;
    ir_dtype type;
} part_type;
typedef VEC(part_type) part_types;

typedef struct {
    const char *name;
    uint32_t number;           // the first that may be free behind it
} name_slot;
typedef struct {               // names of values, to find free ones among
    name_slot *slots;
    uint32_t size, used, values;   // values: how many of the op's are in
} name_set;

typedef struct lowering {
    sema *s;
    arena *arena;
    diag_set *ds;
    tensor_op *op;
    ir_dtype real;             // type of int / int: f64 where the op holds an f64, else f32
    part_types *parts;         // found so far (sema_parts.c)
    bool asked;                // for a wider one
    const expansion *active;
    uint32_t expansions, calls;   // functions expanded so far, and ops
    uint32_t depth;            // of expressions within expansions
    bool too_deep;             // has been reported
    // of the equation at hand
    const char *stage_base;    // names of lifted stages: base.sum, base.sum.2
    const index_rename *renames;
    uint64_t context, contexts;      // number of this renaming and these guards; numbers given so far
    VEC(tensor_var) open;      // variables in scope, outermost first
    uint32_t nleft;            // of those: of the equation's left side
    VEC(tensor_expr) guards;   // index expressions known not to be none
    VEC(tensor_expr) guard_conditions;   // the condition that told each
    frame *frame;
    VEC(tensor_key) determined; // keys in force whose right side is a variable
    uint32_t loop;             // op->loops or TENSOR_NO_LOOP
    uint32_t infer_round, infer_steps;   // steps: of this equation, bounded
    bool infer_changed;
    bool conditions;           // lowering a precondition: sizes and statistics only
    VEC(definition) definitions;
    VEC(const char *) closed;  // indices of reductions of this equation that have ended
    bool defaults;             // sizes nobody bound take a default: for checking
    VEC(uint32_t) visited;     // per expression: the walk that met it last
    VEC(expr_copy) copies;     // per expression: what the substitution at hand makes of it
    VEC(tensor_var) renamed;   // per variable, while two stages are compared
    uint32_t walks, substitutions;
    name_set taken;
} lowering;

// sema_scope.c
entity *scope_add(arena *a, scope *s, entity e);
const entity *scope_find(const scope *s, const char *name);
entity *scope_own(const scope *s, const char *name);   // not of its parents
// Follows function arguments that merely name something.
const entity *sema_resolve(const lowering *L, const scope *s, const char *name);

enum { MOST_EXPANSIONS = 20000, MOST_CALLS = 4096 };   // of functions in an op, of ops in it
bool expanding(const lowering *L, const ast_item *item);
const expansion *expand(lowering *L, const ast_item *item);   // gives back what to set L->active to afterwards
closure *closure_new(lowering *L, const scope *s, const ast_expr *e);

// sema_parts.c
// Lowers the equations of an op, without a word, until the types of values in parts are found.
void parts_find(sema *s, part_types *out, void (*lower)(lowering *L, void *user), void *user);
tensor_type part_type_of(const lowering *L, const char *value, tensor_type first);
void part_note(lowering *L, tensor_val val, tensor_type t);   // another part of val has type t

// sema_infer.c
// Repeats until no index learns its space.
void infer_fix(lowering *L, const scope *s, const ast_expr *const *exprs, uint32_t n);
bool infer_index_known(lowering *L, index_info *i);   // reports an index whose space stays unknown

// sema_suggest.c
typedef enum { NEAR_ANY, NEAR_MAP, NEAR_INDEX, NEAR_SPACE, NEAR_TYPE } near_kind;
// Each offers the nearest name, if there is one: of what is in scope; of items, and of `more`, which NULL
// ends.
bool suggest_in_scope(lowering *L, diagnostic *d, const scope *s, ast_name name, near_kind want);
bool suggest_item(const sema *s, diagnostic *d, ast_name name, const ast_item *const *items, uint32_t n,
                  const char *const *more);
const char *library_with_op(arena *a, const char *name);

// sema_expr.c
value lower_expr(lowering *L, const scope *s, const ast_expr *e);
tensor_expr value_as(lowering *L, value v, tensor_type t, span at);   // converted; reports what cannot be
tensor_expr value_number(lowering *L, value v, span at);              // literals take I64 or the op's real type
tensor_type value_type(lowering *L, value v);
tensor_expr lower_bool(lowering *L, const scope *s, const ast_expr *e);
tensor_expr lower_subscript(lowering *L, const scope *s, const ast_expr *e, tensor_space axis);
value value_bad(lowering *L);
tensor_type real_type(const lowering *L);
tensor_expr literal_as(lowering *L, value v, tensor_type t, span at);
tensor_expr mismatch(lowering *L, tensor_type have, tensor_type want, span at);   // reports; a value of the type wanted
value value_plain(tensor_expr e);
value value_int(int64_t x);
bool value_join(lowering *L, value a, value b, tensor_type *t);       // the type both convert to without loss
typedef struct {
    uint32_t guards;
    uint64_t context;
} guards_mark;
guards_mark guards_push(lowering *L, tensor_expr condition, bool holds);
void guards_pop(lowering *L, guards_mark mark);
bool expr_maybe_none(const lowering *L, tensor_expr e);              // whatever the guards say
const char *type_text(const lowering *L, tensor_type t);
void lowering_enter(lowering *L);   // a new context: cached arguments do not carry over

// sema_function.c
value lower_call(lowering *L, const scope *s, const ast_expr *e);

// sema_reduce.c
typedef struct reduction {     // a reduction lowered up to where its results go
    uint32_t reducer;
    tensor_stage stage;        // bound, keys, filters, body, orelse set; targets and left open
    uint32_t nresults;
    const tensor_type *types;
    const char *name;          // of the reducer
    span at;
} reduction;
value lower_reduce(lowering *L, const scope *s, const ast_expr *e);
value lower_normaliser(lowering *L, const scope *s, const ast_expr *e, const entity *reducer);   // R(x by m), R(x over d)
bool reducer_find(const lowering *L, const scope *s, const char *name, entity *out);
bool reducer_visible(const lowering *L, const scope *s, const char *name, span use, entity *out);
bool reduction_lower(lowering *L, const scope *s, const ast_expr *e, reduction *r);   // false: reported
// sema_lift.c
// Its results as stages of their own, over the variables it uses: one load each into results. A class variable (else
// UINT32_MAX) comes first, and the loads are at `own_class`.
void reduction_lift(lowering *L, reduction *r, tensor_var class, tensor_expr own_class, tensor_expr *results);
void reduction_guard_else(lowering *L, reduction *r, tensor_expr condition);
const char *free_name(lowering *L, const char *base);   // base, or base.2, …: of no value yet
void lift_determine(lowering *L, tensor_key k);   // under a key m[e] == v, v is m[e]
// Its results stored to targets over the given left variables.
void reduction_store(lowering *L, reduction *r, const char *name, const tensor_target *targets, const tensor_var *left, uint32_t nleft);

// sema_reducer.c
// The reducer at these argument types, or TENSOR_NO_REDUCER (reported).
uint32_t reducer_instance(lowering *L, const entity *r, const value *args, uint32_t nargs, span at);

// sema_space.c
tensor_val add_stage_value(lowering *L, const char *name, tensor_type t, const tensor_space *axes, uint32_t rank, bool partial, span at);
const char *space_name(const lowering *L, tensor_space s);
tensor_space space_constant(lowering *L, int64_t size, span at);
tensor_space space_plus(lowering *L, tensor_space s, int64_t more, span at);   // of size s + more
bool space_size_is(const lowering *L, tensor_space s, tensor_space base, int64_t more);   // proven: s has base + more points
// The space an axis names: a size in scope, a number, an expression of them; a new name declares a space if `declare`.
bool space_of_axis(lowering *L, scope *s, const ast_expr *axis, bool declare, tensor_space *out);
bool size_small(lowering *L, tensor_expr size, span at);   // else reports it
bool expr_in_space(lowering *L, tensor_expr index, tensor_space s);            // proven 0 <= index < size
void walk_begin(lowering *L);                    // over expressions that exist by now; each is met once
bool walk_first(lowering *L, tensor_expr e);
uint32_t expr_vars(lowering *L, const tensor_expr *e, uint32_t n, uint8_t *used);   // marks op->vars that occur, counts new ones

// sema_signature.c
typedef struct declared {      // a result of the op at hand or of one called in it, before its equations
    const char *name;          // in the equations
    const char *target;        // what the outer op calls it
    tensor_val val;            // where it exists already, else TENSOR_NO_VAL: a stage to be made
    bool has_axes;
    uint32_t rank;
    const tensor_space *axes;
    span at;
} declared;
// Gives the op at hand its spaces and values, and the scope their names.
bool signature_declare(lowering *L, scope *s, const ast_item *op, const ast_names *generics, const char *shown);
const char *signature_name(lowering *L, const ast_item *op, const scope *s, const char *shown);
void signature_require(lowering *L, scope *s, const ast_item *op);
bool generic_bind(lowering *L, scope *s, const ast_generic *g, const char *name, span at);

// sema_equation.c
typedef struct equations {     // the equations of one op, or of one called in it
    scope *scope;
    const ast_item *op;
    const char *prefix;        // of stage names; NULL: none
    VEC(declared) results;
    scope targets;             // per name of a target: how many equations fill it (number), and did so far (space)
} equations;
void equations_lower(lowering *L, equations *q);
// sema_definition.c
bool definition_distinct(lowering *L, const definition *def, const char *name);   // false: reported
// Reads, in expressions made since first_expr, of what is not defined yet; in a recurrence of own, z[t + c] with c < offset is.
void definition_check_reads(lowering *L, uint32_t first_expr, tensor_val own, int64_t offset);
bool value_complete(const lowering *L, tensor_val val, uint32_t rank, const tensor_space *axes);
// sema_finish.c
void equations_finish(lowering *L);   // every result and element defined, nothing overwritten before it is read

// sema_call.c
void call_lower(lowering *L, equations *q, const ast_equation *eq);

// sema_unit.c
const ast_item *sema_op_body(const sema *s, const ast_item *item);   // that an alias names; NULL: there is none
// An op in some form, for the names in it: what nothing binds is bound to something that fits. NULL: it has faults, which
// are not reported here.
tensor_op *sema_lower_quietly(const sema *s, const ast_item *item);
void sema_normalise(const sema *s, tensor_op *op);   // sema_normal.c: after gradients are derived

// sema_schedule.c
bool schedules_check(sema *s);   // all of them, once; false: faults were reported

#endif
