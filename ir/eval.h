// The evaluator of tensor IR: what its files share. It shares no code with lowering: an op is
// computed point by point from its equations, each float with a bound on the error of any correct
// implementation.
#ifndef GNNC_EVAL_H
#define GNNC_EVAL_H

#include "eval_number.h"
#include "tensor_eval.h"
#include "tensor_internal.h"

// of one value that is kept here whole, or of what is sorted or counted
enum { EVAL_MAX_POINTS = 1 << 28 };

// ---- Values -------------------------------------------------------------------------------------
// of eval_value.beyond: a reduction of that stage; else an expression
enum { EVAL_OF_STAGE = 1u << 31 };

typedef struct {
    const tensor_val_info *info;
    bool ready;   // has a shape
    uint32_t rank;
    int64_t shape[8], stride[8], points;
    bool is_float;
    const void *input;       // parameters
    double *value, *bound;   // results, stages and classes; as tensor_evaluated
    int64_t *integer;
    uint8_t *certain, *written;
    uint32_t *beyond;   // in real arithmetic; else NULL
    // the first `kept` of value, bound … are those of the elements `at`
    bool sampled;
    // elements that were asked for: value, bound … of the one that at[i] is one less than; 0: of
    // none
    bool asked;
    int64_t kept, room, *at;   // asked: a table of room for a power of two
    // what computes an element when it is read; NULL: a stage does that in its turn
    struct eval_deferred *deferred;
} eval_slot;

typedef struct {
    const tensor_op *op;
    const tensor_eval_input *in;
    arena *results, *scratch;   // of the caller; of this evaluation
    arena *temp;                // of the stage being run
    VEC(arena *) temps;         // of those that run on demand
    eval_slot *slots;           // per value
    int64_t *sizes;             // per space; -1: not known yet
    bool *sizing;               // per space: being found
    int64_t *vars;              // per variable: its point
    uint32_t done;              // stages run
    uint64_t steps;
    const char *why;     // first fault
    uint32_t guessing;   // > 0: evaluating what perhaps must not be; faults give anything
    bool lenient;        // in keys: an index read at none is none
    bool overflows;      // some number left its type, or perhaps did
} evaluator;

static inline const eval_precision *eval_precision_in(const evaluator *ev, ir_dtype t) {
    return ev->in->real ? eval_precision_real(t) : eval_precision_of(t);
}
// eval_store, but that a number beyond the type stays one in real arithmetic.
eval_value eval_stored(const evaluator *ev, ir_dtype to, eval_value x);

// Faults and slots (eval_slot.c).
SUP_PRINTF(2, 3) void eval_fault(evaluator *ev, const char *format, ...);
eval_value eval_slot_get(const eval_slot *s, int64_t at);
// Of an element that is written: where to put it. In a sample of which all are expected, that is
// known.
int64_t eval_slot_keep(evaluator *ev, eval_slot *s, int64_t at, int64_t known);
void eval_slot_expect(evaluator *ev, eval_slot *s, int64_t n);   // so many of a sample
// where an element is that was asked for; -1: it was not
int64_t eval_slot_asked(const eval_slot *s, int64_t at);
void eval_slot_fill(evaluator *ev, eval_slot *s);   // what stages write: room for it
void eval_count_step(evaluator *ev);

// ---- Programs -----------------------------------------------------------------------------------
// The expressions of a stage (or of a reducer) compiled to an array, arguments first. A node's
// value is kept until a variable it depends on moves: nodes have the level of their innermost
// variable, and each level counts its moves.
typedef struct {
    uint16_t op;
    uint16_t nargs;
    ir_dtype type, from;   // result; first argument
    bool is_float,
        // contracts: a product an add may swallow (fma), so that its overflow is not certain
        contracts,
        relative,   // ROUND, TF32: what is rounded is a multiple of it, so which way is not known
        near,       // SUB: its operands are rounded, each; EXP: it is the machine's approximation
        // of a combination: in another order its operands are others, and round where these need
        // not
        any_order;
    uint32_t level;
    const uint32_t *args;
    int64_t imm, imm2;
    const eval_slot *slot;   // LOAD
    tensor_space space;      // INDEX, NONE, index-valued
    int64_t size;            // INDEX: of its space
    const eval_precision *precision;
    // a product whose second factor is larger may overflow; 0: as precision says
    double most;
    // of what it computes, a larger number is beyond its type; inf: none is
    double reach;
    uint32_t name;   // of that, what eval_value.beyond holds
} eval_node;

typedef struct {
    eval_value value;
    uint64_t stamp;
    bool guessed;
} eval_memo;

typedef struct {
    evaluator *ev;
    const char *what;   // "stage 'y'"
    VEC(eval_node) nodes;
    eval_memo *memo;
    uint32_t *local;       // per expression of the op: node + 1
    uint32_t *var_level;   // per variable of the op; 0: fixed
    uint64_t *moved;       // per level
    uint64_t moves;
    const eval_value *arg, *left, *right;   // of a reducer
} eval_program;

eval_program *eval_program_new(evaluator *ev, const char *what, uint32_t levels);
uint32_t eval_compile(eval_program *p, tensor_expr e);   // its node
static inline void eval_ready(eval_program *p) {         // after the last eval_compile
    p->memo = ARENA_ARRAY(p->ev->temp, eval_memo, p->nodes.len + 1);
}
static inline void eval_move(eval_program *p, uint32_t level) { p->moved[level] = ++p->moves; }
eval_value eval_node_value(eval_program *p, uint32_t node);
double eval_reach(const tensor_node *n);   // eval_node.reach
// x, and whether it left its type
eval_value eval_ranged(eval_program *p, const eval_node *n, eval_value x);

// Values before a stage reads them (eval_values.c).
int64_t eval_size(evaluator *ev, tensor_space s);   // 0 after a fault
// with its shape; NULL after a fault
eval_slot *eval_slot_of(evaluator *ev, tensor_val v);
eval_value eval_statistic(evaluator *ev, const eval_node *n);   // PREIMAGE, SYMMETRIC
// what has not run of the first n, loops as a whole
void eval_run_stages(evaluator *ev, uint32_t n);
// of an integer without variables
int64_t eval_closed(evaluator *ev, const char *what, tensor_expr e);

// Stages (eval_stage.c).
void eval_stage(evaluator *ev, const tensor_stage *s);
// Where results are sampled, stages that only others read compute what these read, when they do.
void eval_defer(evaluator *ev, const tensor_stage *s);
// element `at`, which is there then
void eval_demand(evaluator *ev, const eval_slot *slot, int64_t at);

#endif
