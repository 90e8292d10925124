// The evaluator of tensor IR: what its files share. It shares no code with lowering: an op is computed point
// by point from its equations, each float with a bound on the error of any correct implementation.
#ifndef GNNC_EVAL_H
#define GNNC_EVAL_H

#include "tensor_internal.h"

#include <math.h>

// ---- Numbers ---------------------------------------------------------------------------------------------
// A float: an implementation has a value within bound of v. bound inf: it may have anything; otherwise an
// infinity or a NaN stands for exactly that (its bound is 0). Others: i, which an implementation has too
// where certain.
typedef struct {
    double v, bound;
    int64_t i;
    bool certain;
    uint32_t beyond;   // in real arithmetic: the first thing it comes from that left its type; 0: none
} eval_value;

typedef struct {
    ir_dtype type;
    int bits;        // of the significand
    double u;        // error of one operation, relative: the unit roundoff and what this evaluator adds to it
    double tiny;     // … absolute, near zero
    double normal;   // the smallest number that has all its bits
    double limit;    // what is beyond rounds to infinity
    double room;     // of a sum: by so much of its absolute terms may what is added up on the way exceed them
} eval_precision;
const eval_precision *eval_precision_of(ir_dtype t);
const eval_precision *eval_precision_real(ir_dtype t);   // rounds alike, but reaches as far as f64
extern const eval_precision eval_by_parts;   // of a product of f32 by parts

static inline eval_value eval_float(double v, double bound) { return (eval_value){.v = v, .bound = bound}; }
static inline bool eval_is_finite(eval_value x) { return isfinite(x.v) && !isinf(x.bound); }
static inline eval_value eval_int(int64_t i, bool certain) {
    return (eval_value){.i = i, .certain = certain};
}
// Anything: what an expression has that may not be evaluated, or whose operands are unknown.
static inline eval_value eval_any(bool is_float) {
    return is_float ? eval_float(0, (double)INFINITY) : eval_int(0, false);
}

eval_value eval_arith(tensor_opcode op, const eval_precision *p, eval_value x, eval_value y);   // floats
eval_value eval_int_arith(tensor_opcode op, eval_value x, eval_value y);
eval_value eval_compare(tensor_opcode op, bool floats, eval_value x, eval_value y);             // bool
eval_value eval_maths(tensor_opcode op, const eval_precision *p, eval_value x, eval_value y);
eval_value eval_convert(tensor_type to, tensor_type from, const eval_precision *p, eval_value x);   // p: of `to`
eval_value eval_choose(bool floats, eval_value x, eval_value y, bool first);   // by an uncertain condition
// r, up to prop off before the operation itself rounds, which it does by at most ulps units in the last
// place.
eval_value eval_settle(const eval_precision *p, double r, double prop, double ulps);
// Whether an operation on exact operands with result r is free of rounding, of which `error` is a measure in
// f64. (What comes to a narrower float when rounded to f64 also rounds to that float directly.)
static inline bool eval_fits(const eval_precision *p, double r, double error) {
    return p->type != DT_F64 ? ir_dtype_round(p->type, r) == r : error == 0;
}
double eval_maths_ulps(tensor_opcode op, bool is_f64);

eval_value eval_store(ir_dtype to, eval_value x);                  // what memory holds after storing x
eval_value eval_tf32(eval_value x);
eval_value eval_parts(eval_value x);
double eval_read_float(ir_dtype t, const void *data, int64_t at);
int64_t eval_read_int(ir_dtype t, const void *data, int64_t at);

enum { EVAL_MAX_POINTS = 1 << 28 };   // of one value that is kept here whole, or of what is sorted or counted

// ---- Values ----------------------------------------------------------------------------------------------
enum { EVAL_OF_STAGE = 1u << 31 };   // of eval_value.beyond: a reduction of that stage; else an expression

typedef struct {
    const tensor_val_info *info;
    bool ready;                  // has a shape
    uint32_t rank;
    int64_t shape[8], stride[8], points;
    bool is_float;
    const void *input;           // parameters
    double *value, *bound;       // results, stages and classes; as tensor_evaluated
    int64_t *integer;
    uint8_t *certain, *written;
    uint32_t *beyond;            // in real arithmetic; else NULL
    bool sampled;                // the first `kept` of value, bound … are those of the elements `at`
    bool asked;                  // elements that were asked for: value, bound … of the one that at[i] is one less than; 0: of none
    int64_t kept, room, *at;     // asked: a table of room for a power of two
    struct eval_deferred *deferred;   // what computes an element when it is read; NULL: a stage does that in its turn
} eval_slot;

typedef struct {
    const tensor_op *op;
    const tensor_eval_input *in;
    arena *results, *scratch;    // of the caller; of this evaluation
    arena *temp;                 // of the stage being run
    VEC(arena *) temps;          // of those that run on demand
    eval_slot *slots;            // per value
    int64_t *sizes;              // per space; -1: not known yet
    bool *sizing;                // per space: being found
    int64_t *vars;               // per variable: its point
    uint32_t done;               // stages run
    uint64_t steps;
    const char *why;             // first fault
    uint32_t guessing;           // > 0: evaluating what perhaps must not be; faults give anything
    bool lenient;                // in keys: an index read at none is none
    bool overflows;              // some number left its type, or perhaps did
} evaluator;

static inline const eval_precision *eval_precision_in(const evaluator *ev, ir_dtype t) {
    return ev->in->real ? eval_precision_real(t) : eval_precision_of(t);
}
// eval_store, but that a number beyond the type stays one in real arithmetic.
eval_value eval_stored(const evaluator *ev, ir_dtype to, eval_value x);

SUP_PRINTF(2, 3) void eval_fault(evaluator *ev, const char *format, ...);
int64_t eval_size(evaluator *ev, tensor_space s);                  // 0 after a fault
eval_slot *eval_slot_of(evaluator *ev, tensor_val v);              // with its shape; NULL after a fault
eval_value eval_slot_get(const eval_slot *s, int64_t at);
// Of an element that is written: where to put it. In a sample of which all are expected, that is known.
int64_t eval_slot_keep(evaluator *ev, eval_slot *s, int64_t at, int64_t known);
void eval_slot_expect(evaluator *ev, eval_slot *s, int64_t n);   // so many of a sample
void eval_count_step(evaluator *ev);

// ---- Programs --------------------------------------------------------------------------------------------
// The expressions of a stage (or of a reducer) compiled to an array, arguments first. A node's value is kept
// until a variable it depends on moves: nodes have the level of their innermost variable, and each level
// counts its moves.
typedef struct {
    uint16_t op;
    uint16_t nargs;
    ir_dtype type, from;         // result; first argument
    bool is_float,
        contracts,   // contracts: a product an add may swallow (fma), so that its overflow is not certain
        relative,    // ROUND, TF32: what is rounded is a multiple of it, so which way is not known
        near,        // SUB: its operands are rounded, each; EXP: it is the machine's approximation
        any_order;   // of a combination: in another order its operands are others, and round where these need not
    uint32_t level;
    const uint32_t *args;
    int64_t imm, imm2;
    const eval_slot *slot;       // LOAD
    tensor_space space;          // INDEX, NONE, index-valued
    int64_t size;                // INDEX: of its space
    const eval_precision *precision;
    double most;                 // a product whose second factor is larger may overflow; 0: as precision says
    double reach;                // of what it computes, a larger number is beyond its type; inf: none is
    uint32_t name;               // of that, what eval_value.beyond holds
} eval_node;

typedef struct {
    eval_value value;
    uint64_t stamp;
    bool guessed;
} eval_memo;

typedef struct {
    evaluator *ev;
    const char *what;            // "stage 'y'"
    VEC(eval_node) nodes;
    eval_memo *memo;
    uint32_t *local;             // per expression of the op: node + 1
    uint32_t *var_level;         // per variable of the op; 0: fixed
    uint64_t *moved;             // per level
    uint64_t moves;
    const eval_value *arg, *left, *right;   // of a reducer
} eval_program;

eval_program *eval_program_new(evaluator *ev, const char *what, uint32_t levels);
uint32_t eval_compile(eval_program *p, tensor_expr e);             // its node
static inline void eval_ready(eval_program *p) {                   // after the last eval_compile
    p->memo = ARENA_ARRAY(p->ev->temp, eval_memo, p->nodes.len + 1);
}
static inline void eval_move(eval_program *p, uint32_t level) { p->moved[level] = ++p->moves; }
eval_value eval_node_value(eval_program *p, uint32_t node);
double eval_reach(const tensor_node *n);                              // eval_node.reach
eval_value eval_ranged(eval_program *p, const eval_node *n, eval_value x);   // x, and whether it left its type
int64_t *eval_preimage_sizes(evaluator *ev, tensor_val map);          // of each class; NULL: there is nothing to count
void eval_prepared(evaluator *ev, tensor_val v);                      // fills its slot (eval_prepared.c)
eval_value eval_statistic(evaluator *ev, const eval_node *n);        // PREIMAGE, SYMMETRIC

void eval_stage(evaluator *ev, const tensor_stage *s);
// Where results are sampled, stages that only others read compute what these read, when they do.
void eval_defer(evaluator *ev, const tensor_stage *s);
void eval_demand(evaluator *ev, const eval_slot *slot, int64_t at);   // element `at`, which is there then
int64_t eval_slot_asked(const eval_slot *s, int64_t at);   // where that element is; -1: it was not asked for

#endif
