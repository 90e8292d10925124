// Tensor IR: what an op means, as index equations over spaces, maps and tensors. Its f64 evaluator is the meaning of
// the language and the oracle of every test.
//
// Enters: built by frontend/ (names resolved, generics bound, functions and called ops inlined) or read from text.
// Leaves: the same in normal form: N1 an equation is either one reduction or reduction-free, so inner reductions are
// stages of their own; N2 a reduction's guard is split into keys (f(bound) == g(free)) and filters; N3 its indices stand in the
// order in which keys find the fewest points, however they were written; N4 normalisers such as softmax are stages; N5
// expressions are shared. Memory: the arena of the op.
//
//     spmm:  y.sum[v, f] = sum {e : dst(e) == v} mul(w(e), x(src(e), f))        a reduction
//            y[v, f]     = y.sum(v, f)                                          stored, rounded to y's type
// (where nothing follows the reduction, y is the reduction's own target and there is one stage).
#ifndef GNNC_TENSOR_H
#define GNNC_TENSOR_H

#include "program.h"   // ir_dtype, facts

// ---- Handles ---------------------------------------------------------------------------------------------
typedef uint32_t tensor_space;   // into op->spaces
typedef uint32_t tensor_val;     // into op->vals
typedef uint32_t tensor_var;     // into op->vars
typedef uint32_t tensor_expr;    // into op->exprs; 0: none
#define TENSOR_NO_SPACE UINT32_MAX
#define TENSOR_NO_VAL UINT32_MAX

// ---- Types -----------------------------------------------------------------------------------------------
// Expressions have one of F64, F32, I64, BOOL and INDEX (with its space), and, where a schedule asks for it, BF16 and F16, in
// which there is arithmetic but no maths. Values in memory may be narrower: a load widens (bf16, f16 -> f32; i32 -> i64),
// storing a declared result rounds. Stages hold an expression type, so that nothing is rounded, or one of 16 bits that
// has all that they store.
typedef struct {
    ir_dtype type;
    tensor_space space;   // DT_INDEX: where it lies, none (-1) included; else TENSOR_NO_SPACE
} tensor_type;
#define TENSOR_TYPE(t) ((tensor_type){DT_##t, TENSOR_NO_SPACE})
static inline bool tensor_type_equal(tensor_type a, tensor_type b) { return a.type == b.type && a.space == b.space; }
static inline bool tensor_type_is_narrow(tensor_type t) { return t.type == DT_F16 || t.type == DT_BF16; }
static inline bool tensor_type_is_float(tensor_type t) { return ir_dtype_is_float(t.type); }
tensor_type tensor_type_of_storage(ir_dtype storage, tensor_space space);   // what a load of it gives

// ---- Expressions -----------------------------------------------------------------------------------------
typedef enum { TENSOR_LEAF, TENSOR_ARITH, TENSOR_COMPARE, TENSOR_LOGIC, TENSOR_MATHS, TENSOR_OTHER } tensor_op_kind;
typedef enum {
#define TENSOR_OP(op, text, args, kind) TENSOR_##op##_OP,
#include "tensor.def"
#undef TENSOR_OP
    TENSOR_OP_COUNT
} tensor_opcode;   // TENSOR_ADD_OP …: suffixed so as not to meet the kinds
typedef struct {
    const char *text;
    int8_t args;
    uint8_t kind;
} tensor_op_info;
const tensor_op_info *tensor_op_table(tensor_opcode op);

typedef struct {
    uint16_t op;              // tensor_opcode
    uint16_t nargs;
    tensor_type type;
    const tensor_expr *args;
    union {
        int64_t i;
        double f;
    } imm;
    int64_t imm2;
    span at;
} tensor_node;

// rand(seed, i1, …, ik), on 64-bit words that wrap: h = mix(seed + G); h = mix((h ^ ij) + G) for each j; the result is
// (h >> 40) * 2^-24. G = 0x9e3779b97f4a7c15; mix(z): z ^= z >> 30; z *= 0xbf58476d1ce4e5b9; z ^= z >> 27;
// z *= 0x94d049bb133111eb; z ^= z >> 31 (splitmix64, Steele et al. 2014).

// ---- Spaces, values, variables ---------------------------------------------------------------------------
typedef struct {
    const char *name;      // unique
    space_kind kind;       // FREE, CONST, EXPR, COUNT_OF (classes)
    int64_t size;          // CONST
    tensor_expr expr;      // EXPR: i64 over SIZE and CONST
    tensor_val classes;    // COUNT_OF
    span at;
} tensor_space_info;

typedef enum {
    VAL_MAP,       // parameter: an index array (facts PREFIX: none, never loaded: see INDEX)
    VAL_TENSOR,    // parameter in memory
    VAL_SCALAR,    // parameter by value
    VAL_RESULT,    // written by stages; of storage type
    VAL_STAGE,     // written by stages; of expression type
    VAL_CLASSES,   // a map from its domain to the number of the tuple (keys[0](e) … keys[k](e)) among the distinct ones in
                   // lexicographic order; none where a key is none
    VAL_PREPARED   // an array of indices the runtime prepares, such as offsets.dst; in the op of a loop plan alone
} tensor_role;
typedef struct {
    const char *name;
    tensor_role role;
    ir_dtype type;               // storage type; DT_INDEX for maps and index-valued stages and results
    tensor_space into;           // DT_INDEX
    uint32_t facts;              // FACT_… of program.h
    uint32_t align;              // bytes; 0: of the element
    tensor_val sorted_by;        // FACT_SORTED within each preimage of that map; else TENSOR_NO_VAL
    tensor_val inplace;          // results: parameter whose memory it may share; else TENSOR_NO_VAL
    uint32_t rank;
    const tensor_space *axes;
    uint32_t nkeys;              // CLASSES, PREPARED
    const tensor_val *keys;      // CLASSES: maps or index-valued stages over axes[0]; PREPARED: what it is made of
    prepared_builder builder;    // PREPARED
    span at;
} tensor_val_info;

typedef struct {
    const char *name;
    tensor_space space;
} tensor_var_info;

// ---- Reducers (monoids) ----------------------------------------------------------------------------------
// combine and finish see LEFT (and RIGHT), lift sees ARG; identity is constant. Pieces are combined in index order unless
// commutative. kind lets bounds and later rewrites know the common ones; the expressions are complete for every kind.
typedef enum { REDUCE_SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ANY, REDUCE_ALL, REDUCE_USER } tensor_reduce_kind;
typedef struct {
    const char *name;
    tensor_reduce_kind kind;
    bool commutative;
    uint32_t roundings;   // that a combination may err by, as tensor cores do; 0: one
    uint32_t nargs, nstate, nresults;
    const tensor_type *arg_types, *state_types, *result_types;
    const tensor_expr *identity, *lift, *combine, *finish;   // nstate, nstate, nstate, nresults
    // What a user says of the adjoint of each argument of one point, 0: none; NULL: nothing is said. It sees ARG, LEFT, the state of
    // the whole, and RIGHT, its results and then their adjoints. No part of the text: gradients are derived before there is one.
    const tensor_expr *grad;
    span at;
} tensor_reducer;

// ---- Stages ----------------------------------------------------------------------------------------------
typedef struct {
    tensor_val val;
    uint32_t rank;
    const tensor_expr *index;   // per axis: VAR of a left variable, INDEX of a CONST, or INDEX of ADD(CVT VAR step, CONST)
} tensor_target;
typedef struct {
    tensor_expr lhs;   // index(S), over bound variables alone
    tensor_expr rhs;   // index(S), over left variables and other bound variables; none matches nothing
} tensor_key;
#define TENSOR_NO_REDUCER UINT32_MAX
#define TENSOR_NO_LOOP UINT32_MAX
typedef struct {
    const char *name;            // path: "s", "a.max", "y.sum.2"
    uint32_t ntargets;
    const tensor_target *targets;
    uint32_t nleft;
    const tensor_var *left;      // left-hand variables in order of first appearance (a loop's step may be among them)
    uint32_t reducer;            // into op->reducers or TENSOR_NO_REDUCER
    uint32_t nbody;
    const tensor_expr *body;     // reducer: its arguments; else one per target
    // reductions only:
    uint32_t nbound;
    const tensor_var *bound;     // in binder order: the order of combination is lexicographic in it
    uint32_t nkeys;
    const tensor_key *keys;
    uint32_t nfilters;
    const tensor_expr *filters;  // bool, in order; a later one is evaluated only where the earlier hold
    uint32_t nelse;
    const tensor_expr *orelse;   // 0 or one per target, over left variables: the value where nothing was combined
    enum { TIES_FIRST, TIES_SPLIT, TIES_ALL } ties;   // for gradients
    uint32_t loop;               // into op->loops, or TENSOR_NO_LOOP
    span at;
} tensor_stage;

// A recurrence: its stages, consecutive in op->stages, run in order for step = 0, 1, … size(space) - 1. A stage inside whose
// targets do not mention the step is overwritten each round.
typedef struct {
    tensor_var step;
    tensor_space space;
} tensor_loop;

typedef struct {
    const char *text;      // as written
    tensor_expr holds;     // bool, over SIZE, CONST, PREIMAGE, SYMMETRIC and arithmetic on i64 (DIV not allowed)
    span at;
} tensor_require;

typedef struct {
    arena *arena;
    const char *name;      // "gat_f32"
    const char *source;    // path of the .gnn file, or ""
    VEC(tensor_space_info) spaces;
    VEC(tensor_val_info) vals;       // parameters and results in the op's order come first, then stages and classes
    uint32_t nparams;                // maps, tensors, scalars and results: the caller's part of vals
    VEC(tensor_var_info) vars;
    VEC(tensor_node) exprs;          // [0] unused; arguments before users
    VEC(tensor_reducer) reducers;
    VEC(tensor_stage) stages;        // in order of execution
    VEC(tensor_loop) loops;
    VEC(tensor_require) requires;
    span at;
} tensor_op;

// ---- Building --------------------------------------------------------------------------------------------
tensor_op *tensor_op_new(arena *a, const char *name);
tensor_op *tensor_op_copy(arena *a, const tensor_op *op);            // handles mean the same in both; either may grow
tensor_space tensor_add_space(tensor_op *op, tensor_space_info info);
tensor_val tensor_add_val(tensor_op *op, tensor_val_info info);      // TENSOR_NO_… fields must be set by the caller
tensor_var tensor_add_var(tensor_op *op, const char *name, tensor_space space);
// Expressions are shared: equal nodes get equal handles (the first span stays). Types must fit, or it is an ICE. Constant
// arguments fold where the result is exact in every target.
tensor_expr tensor_int(tensor_op *op, int64_t x);
tensor_expr tensor_bool(tensor_op *op, bool x);
tensor_expr tensor_float(tensor_op *op, ir_dtype type, double x);
tensor_expr tensor_var_expr(tensor_op *op, tensor_var v, span at);
tensor_expr tensor_size(tensor_op *op, tensor_space s, span at);
tensor_expr tensor_load(tensor_op *op, tensor_val v, const tensor_expr *index, uint32_t n, span at);
bool tensor_mentions(const tensor_op *op, tensor_expr e, tensor_var v);
bool tensor_counted(const tensor_op *op, tensor_expr e);   // does it hold how many entries of maps something has?
tensor_expr tensor_index(tensor_op *op, tensor_space s, tensor_expr x, span at);
tensor_expr tensor_unary(tensor_op *op, tensor_opcode o, tensor_expr x, span at);
tensor_expr tensor_binary(tensor_op *op, tensor_opcode o, tensor_expr x, tensor_expr y, span at);
tensor_expr tensor_select(tensor_op *op, tensor_expr c, tensor_expr x, tensor_expr y, span at);
tensor_expr tensor_cvt(tensor_op *op, tensor_type to, tensor_expr x, span at);      // x itself where it has that type
tensor_expr tensor_tf32(tensor_op *op, tensor_opcode o, tensor_expr x, span at);   // TF32, PARTS
tensor_expr tensor_round(tensor_op *op, ir_dtype through, tensor_expr x, span at);
tensor_expr tensor_node_new(tensor_op *op, tensor_node n);                           // anything else; n.args is copied
static inline const tensor_node *tensor_node_at(const tensor_op *op, tensor_expr e) { return &op->exprs.data[e]; }
static inline tensor_type tensor_typeof(const tensor_op *op, tensor_expr e) { return op->exprs.data[e].type; }
// The builtin reducer of a kind at a type, made at first use.
uint32_t tensor_builtin_reducer(tensor_op *op, tensor_reduce_kind kind, tensor_type t);
// By which builtin kind part i of the state is combined with itself alone; false: in another way.
bool tensor_combined_by(const tensor_op *op, const tensor_reducer *r, uint32_t i, tensor_reduce_kind *by);
// Every part is, and begins with what leaves another as it is: empty parts of a reduction need not be told.
bool tensor_reducer_neutral(const tensor_op *op, const tensor_reducer *r);

// The type of 16 bits that has every number an expression can be, as one that is rounded to it; DT_COUNT: neither, or both.
ir_dtype tensor_held_in(const tensor_op *op, tensor_expr e);
bool tensor_holds(const tensor_op *op, const tensor_stage *s, uint32_t target, ir_dtype type);   // what it stores there
// Stages whose numbers all have 16 bits are stored in them.
void tensor_narrow(tensor_op *op);
// Normal form N3 of every reduction. Its terms come in another order where that is allowed.
void tensor_normalise(tensor_op *op);

// ---- Text and verification -------------------------------------------------------------------------------
void tensor_print(textbuf *out, const tensor_op *op);
// One op or several from text; each reads back to the same text. false: ds tells why.
typedef VEC(tensor_op *) tensor_ops;
bool tensor_parse(arena *a, diag_set *ds, const source_file *text, tensor_ops *out);
const char *tensor_verify(arena *a, const tensor_op *op);   // NULL, or what is wrong, in words
const char *tensor_verify_of_plan(arena *a, const tensor_op *op);   // likewise; it may have prepared values and graph sizes

// ---- The evaluator ---------------------------------------------------------------------------------------
// Computes an op point by point in f64 (integers in i64) straight from the equations, and beside each float a bound on how
// far a correct implementation at the op's own precision may be from it, whatever its order of summation: forward
// error analysis with the unit roundoff of each expression's type, the maths library's stated errors, rounding on
// stores and the sum of absolute terms of each sum. A user's commutative reducer has the same bounds for components that
// are combined by add, mul, max or min alone; others are evaluated in several orders (eval_states.c), and the bound covers
// all of them: it is inf where they do not agree on an infinity or NaN. Others keep index order. An integer, index or bool is either certain or not (where a comparison
// lies within its bound); uncertain ones are not compared. What overflows a type is an infinity, as an implementation has it;
// `real` asks for the numbers of real arithmetic instead, and then `beyond` says what overflows.
typedef struct {
    ir_dtype type;              // storage; DT_INDEX: int64_t
    uint32_t rank;
    int64_t shape[8];
    void *data;                 // packed, row-major; bool: uint8_t
} tensor_array;
typedef struct tensor_evaluated {
    uint32_t rank;
    int64_t shape[8];
    int64_t points, kept;       // elements of the result; those that follow: all, or a sample
    const int64_t *at;          // the place of each that is kept; NULL: all are, in order
    bool is_float;
    double *value, *bound;      // floats: bound inf: anything goes there
    int64_t *integer;           // others
    uint8_t *certain;           // others
    bool overflows;             // of the evaluation: some number on the way left its type, or perhaps did
    const uint32_t *beyond;     // in real arithmetic: what was the first to, for tensor_beyond; 0: nothing. NULL: not asked for
    const struct tensor_evaluated *real;   // in real arithmetic, where that was evaluated too; NULL: nothing overflows
} tensor_evaluated;
tensor_evaluated tensor_evaluated_whole(arena *a, const tensor_evaluated *x);   // anything goes at what is not kept
typedef struct {
    const int64_t *sizes;                // per space; used for FREE ones
    const tensor_array *inputs;          // per val below nparams; results and prefix maps ignored
    uint64_t max_steps;                  // give up after so many point evaluations; 0: never
    uint64_t one_in;                     // of results that no stage reads, a sample of one in so many elements, in runs
                                         // of neighbours; 0 or 1: all
    const uint32_t *every;               // per stage, where not NULL: of a sum of products, so many second factors are added
                                         // before the first is applied; what that may overflow is uncertain. 0: each by itself
    const bool *apart;                   // per stage, where not NULL: of a sum of products, factors are taken out; an infinity of
                                         // such a sum is uncertain, as it may come of differences of what is infinite
    const bool *relative;                // likewise: what products are rounded from is a multiple of what is said, and larger
    bool near;                           // exponentials are the machine's approximations
    bool narrow;                         // and those of differences of numbers that are rounded apart
    bool real;                           // types round, but none has a largest number
    void (*progress)(void *user, double part);   // told now and then how much of it all is done, in the calling thread; or NULL
    void *user;
} tensor_eval_input;
// results: one per val below nparams that is a result, in order. false: *why says what is wrong with the input.
bool tensor_eval(arena *a, const tensor_op *op, const tensor_eval_input *in, tensor_evaluated *results, const char **why);

typedef struct {
    int64_t compared, uncertain, wrong;
    int64_t first_wrong;        // flat position; -1: none
    int64_t overflowed, first_overflowed;   // likewise: not what real arithmetic has, as something overflowed on the way
    double worst_ratio;         // largest |difference| / bound
    double max_abs_error;
} tensor_comparison;
// Whether a stage's targets are results that no stage reads: those of which one_in takes a sample.
bool tensor_is_final(const tensor_op *op, const tensor_stage *s);
bool tensor_is_sampled(const tensor_op *op, tensor_val v);   // and that stage alone writes v: of v a sample alone is kept
bool tensor_may_wait(const tensor_op *op, const tensor_stage *s);   // of a sample: s computes what is read of it, and no more
span tensor_beyond(const tensor_op *op, uint32_t beyond);   // where it stands
// Compares what an implementation stored (packed, of the result's storage type) with what was evaluated.
tensor_comparison tensor_compare(const tensor_evaluated *expected, const tensor_array *actual);
// The size of each space (FREE given in in->sizes; COUNT_OF computed from the inputs) into sizes.
bool tensor_eval_sizes(arena *a, const tensor_op *op, const tensor_eval_input *in, int64_t *sizes, const char **why);

#endif
