// What the files of the gradient share.
#ifndef GNNC_GRADIENT_INTERNAL_H
#define GNNC_GRADIENT_INTERNAL_H

#include "gradient.h"

// A sum over rows by keys, a term of an adjoint at one place of an axis: x[src[e], 0].
typedef struct {
    uint32_t stage;   // whose left-hand variables are those of all other axes
    bool negative;    // what it adds is the negative sum
    uint32_t axis;
    int64_t at;
} gradient_part;

// A part of the adjoint of a value: at the point `vars` of its axes it is `value`.
typedef struct {
    tensor_expr value;
    const tensor_var *vars;
    bool sum;                    // a load of a sum that a stage of its own makes
    const gradient_part *part;   // NULL: it is more than that
} gradient_term;

// A sum that a stage was given: of `value` over `bound`, all other variables as they are, it is
// `sum`.
typedef struct {
    tensor_expr value, sum;
    const tensor_var *bound;
    uint32_t nbound;
} gradient_partial;

typedef struct {
    tensor_val adjoint;         // of the terms so far; TENSOR_NO_VAL: none
    VEC(gradient_term) terms;   // that came after it
} gradient_of;

// A value that is met at literals of an axis, and what it is there.
typedef struct {
    struct gradient *g;
    tensor_val of;
    uint32_t axis;
    VEC(int64_t) at;
    VEC(tensor_val) is;
} gradient_split;

typedef VEC(tensor_stage) gradient_stages;

// A recurrence that stays a loop, whose state is one value; what its stages compute on the way.
typedef struct {
    uint32_t loop;
    tensor_val state;
    uint32_t axis;            // of the state: its steps
    tensor_val now, next;     // the state before and after one step
    tensor_val step;          // its number
    VEC(tensor_val) of, at;   // what is computed on the way, of all steps and of one
} gradient_rounds;

typedef struct gradient {
    arena *arena;
    diag_set *ds;
    span at;
    tensor_op *op;   // a copy of the one that is differentiated, of the same handles; it grows
    uint32_t nvals, nstages;          // its own
    bool *active;                     // per value: it depends on what is asked for
    gradient_of *of;                  // per value
    VEC(gradient_partial) partials;   // of the stage at hand
    VEC(gradient_split) splits;       // of values that are copied from their parts
    bool *may_give;      // per value: a result that the caller hands over where it is read
    tensor_val *given;   // per value: what is handed over of it; TENSOR_NO_VAL: nothing
    VEC(gradient_rounds) rounds;
    const bool *closed;   // per value: its adjoint is known; NULL: of none
    bool failed;
} gradient;

// ---- The op (gradient.c) ------------------------------------------------------------------------
bool gradient_through(gradient *g, const tensor_stage *s);   // its part in adjoints; false: refused
tensor_val gradient_adjoint_of(gradient *g, tensor_val of);   // of all terms so far
const tensor_expr *gradient_index_of(gradient *g, const tensor_var *vars, uint32_t n);
ir_dtype gradient_type_of(const gradient *g, tensor_val of);   // of its adjoint

// ---- Steps (gradient_steps.c) -------------------------------------------------------------------
bool gradient_write_steps(gradient *g);   // before anything else; false: refused
void gradient_join_steps(gradient *g);    // behind all else: values copied from parts are as before

// ---- Recurrences that stay (gradient_rounds.c) --------------------------------------------------
// All steps of a loop's stages are kept; false: it does not stay.
bool gradient_keep_rounds(gradient *g, uint32_t first, uint32_t end, gradient_stages *out);
bool gradient_of_rounds(gradient *g, uint32_t first, uint32_t end);   // false: refused

// ---- Sums (gradient_join.c) ---------------------------------------------------------------------
void gradient_join_sums(gradient *g);   // of one table, that are added

// ---- Expressions (gradient_expr.c) --------------------------------------------------------------
// Expressions of g->op, made anew in `to`, the same op or another, arguments first. `put` may have
// something else for a node, whose arguments are of `to` by then; 0: it has not.
typedef struct gradient_rewriting gradient_rewriting;
struct gradient_rewriting {
    gradient *g;
    tensor_op *to;
    tensor_expr (*put)(gradient_rewriting *r, const tensor_node *n);
    void *user;
    tensor_expr *memo;   // per expression there was; 0: not yet
};
gradient_rewriting
gradient_rewriting_new(gradient *g, tensor_op *to,
                       tensor_expr (*put)(gradient_rewriting *, const tensor_node *), void *user);
tensor_expr gradient_rewrite(gradient_rewriting *r, tensor_expr e);
const tensor_expr *gradient_rewrite_all(gradient_rewriting *r, const tensor_expr *e, uint32_t n);
// all that it computes, and where it writes it
tensor_stage gradient_rewrite_stage(gradient_rewriting *r, tensor_stage s);
// The expression with what stands for its variables: as[v], 0: v itself.
tensor_expr gradient_replace(gradient *g, tensor_expr e, tensor_expr *as);
// `put` of that: user is `as`
tensor_expr gradient_put_variable(gradient_rewriting *r, const tensor_node *n);
tensor_expr gradient_add(tensor_op *op, tensor_expr x, tensor_expr y),   // 0: nothing
    gradient_mul(tensor_op *op, tensor_expr x, tensor_expr y);
typedef struct {
    tensor_expr condition, value;   // condition 0: it holds everywhere
} gradient_masked;
// 0 but where the condition holds
gradient_masked gradient_masked_of(tensor_op *op, tensor_expr e);
tensor_expr gradient_under(tensor_op *op, tensor_expr condition, tensor_expr x);   // likewise; 0: x
bool gradient_is_constant(const tensor_op *op, tensor_expr e, double x);           // a float
tensor_expr gradient_zero(tensor_op *op, tensor_expr like);
// bools; 0: nothing to hold
tensor_expr gradient_both(tensor_op *op, tensor_expr x, tensor_expr y);
// From the adjoints of roots (0: none) to those of all below them; per expression that there was,
// 0: none.
const tensor_expr *gradient_below(gradient *g, const tensor_expr *roots, const tensor_expr *seeds,
                                  uint32_t n);

// ---- Reductions (gradient_reduce.c) -------------------------------------------------------------
// The adjoint of each argument of a stage's reducer at one point, from those of its targets (0:
// none); false: refused.
bool gradient_of_reduction(gradient *g, const tensor_stage *s, const tensor_expr *targets,
                           tensor_expr *args);
// The number of a point among those that are reduced, in their order.
tensor_expr gradient_place(gradient *g, const tensor_stage *s);
// whether x comes before y, by `better`: NaN is the largest, and the smallest
tensor_expr gradient_beats(tensor_op *op, tensor_opcode better, tensor_expr x, tensor_expr y);
// Likewise of a reducer that chooses among its arguments (gradient_choice.c); false: it is none.
bool gradient_of_choice(gradient *g, const tensor_stage *s, const tensor_expr *targets,
                        tensor_expr *args);
// of what stands there for nothing
tensor_expr gradient_of_else(gradient *g, const tensor_stage *s, tensor_expr target);

// ---- Factors (gradient_factor.c) ----------------------------------------------------------------
typedef struct {
    tensor_expr inside;             // what is left to be summed
    tensor_expr by, under, holds;   // the sum times that, over that, where that holds; 0: nothing
    bool negative;
} gradient_factored;
gradient_factored gradient_factor(gradient *g, tensor_expr value, const tensor_var *bound,
                                  uint32_t nbound, bool guarded);
tensor_expr gradient_outside(gradient *g, const gradient_factored *f, tensor_expr sum);

// ---- What is given (gradient_given.c) -----------------------------------------------------------
// A sum over the points of a row, factored: where a result says it, it becomes a sum over that
// result's row, and `f` what that is multiplied by; false: it stays.
bool gradient_by_given(gradient *g, tensor_stage *s, gradient_factored *f, tensor_expr *body);

// ---- Terms (gradient_term.c) --------------------------------------------------------------------
// A load that a stage makes at each of its points, whose adjoint there is `value`. of_else: at
// those of its left-hand variables alone.
void gradient_contribute(gradient *g, const tensor_stage *s, const tensor_node *load,
                         tensor_expr value, bool of_else);
// Its variables are made anew; gives where the stage is.
tensor_stage *gradient_push(gradient *g, tensor_stage s);
const char *gradient_name(gradient *g, const char *of, const char *suffix);   // that no value has
// "dz_g" of z.g: what a schedule says of dz is not said of it
const char *gradient_adjoint(gradient *g, tensor_val of);
// Variables over the axes of a value, called as where it is written, or first read: what is said of
// an adjoint is said of the sums that are parts of it by the same names.
tensor_var *gradient_axes(gradient *g, tensor_val of);
// What the left side of a key loads, read as the row that the right side says it is.
tensor_expr gradient_in_rows(gradient *g, tensor_expr e, const tensor_key *keys, uint32_t nkeys);
// The one point of x where a key holds, and where there is one (0: always); 0: it is not solved.
tensor_expr gradient_solve(gradient *g, tensor_key key, tensor_var x, tensor_expr *holds);
// A stage over the points of another, which gives one number for each of its left-hand variables.
tensor_expr gradient_beside(gradient *g, const tensor_stage *s, uint32_t reducer,
                            const tensor_expr *body, uint32_t nbody, const char *suffix);

// ---- Parts (gradient_parts.c) -------------------------------------------------------------------
// An index that is a number.
bool gradient_literal(const tensor_op *op, tensor_expr index, int64_t *at);
// The sum of an adjoint's terms, where all of them are parts along one axis; false: they are not.
bool gradient_push_parts(gradient *g, tensor_val of, tensor_val to);

// ---- The op (gradient_keep.c) -------------------------------------------------------------------
typedef struct {
    const char *name;
    const tensor_val *given, *results;   // tensors behind the op's own; the value of each result
    uint32_t ngiven, nresults;
    const gradient_saved *saved;   // tensors behind those; or results behind the others
    uint32_t nsaved;
    bool saves;
} gradient_kept;
// What is needed for the results, parameters first.
tensor_op *gradient_keep(gradient *g, const gradient_kept *k);

#endif
