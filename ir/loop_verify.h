// The verifier of loop IR: what its files share.
#ifndef GNNC_LOOP_VERIFY_H
#define GNNC_LOOP_VERIFY_H

#include "loop_internal.h"
#include "tensor_internal.h"

// What holds until a body ends, to be taken back then.
typedef struct {
    // bound; known at a point; known after its REDUCE; said to be so
    enum { SCOPE_VAR, SCOPE_VAL, SCOPE_STATE, SCOPE_GIVEN } what;
    uint32_t index;
} scope_entry;

// Where a stage is stored: the kernels, and the outermost loops around; NULL: none.
typedef struct {
    VEC(const loop_node *) loops;
    VEC(tensor_expr) from;   // where not at their beginning
    uint32_t kernel;         // the last
} store_places;

typedef struct {
    VEC(tensor_var) vars;   // of a tile's origins
    uint32_t clock;         // when it was last stored
} shared_store;

typedef struct {
    tensor_expr e;
    bool inlined;   // met in the body of an inline stage
} expr_visit;

// Per variable.
typedef struct {
    bool *bound;
    uint32_t *depth;          // of the path where it was bound
    tensor_expr *value;       // LET: what it stands for; else 0
    const loop_node **loop;   // FOR: the node that binds it; else NULL
    uint32_t *since, clock;   // when it was bound; bindings so far
    tensor_expr *given;       // per expression: a GIVEN's value; else 0
} verified_vars;

// Per value.
typedef struct {
    uint32_t *stored_in;   // number of the last kernel that stores it, from 1; 0: none
    // where it is known in this body: variables behind lets and givens; NULL: nowhere
    const tensor_expr **point;
    // the phase it was stored in, and the node that stands in; NULL: none
    const loop_node **phase, **around;
    shared_store *shared;
    bool *kept_relative;   // a state is kept in it that is relative
} verified_vals;

// Per stage.
typedef struct {
    uint32_t *stores, *all_stores, *contributions;   // stores: so far, and in the whole plan
    store_places *places;
    bool *state_known;
    uint32_t *cleared, *combines;   // number of the kernel that clears its targets; 0: none
    tensor_expr *combined;          // the outermost variable is below that where it is combined
    // its state holds differences from maxima found on the run, where it was last reduced
    bool *relative;
} verified_stages;

// Of a walk over expressions.
typedef struct {
    uint32_t *seen, *seen_inlined, stamp;
    VEC(expr_visit) stack;
} verified_walk;

typedef struct {
    arena *arena;   // of the words
    arena *scratch;
    const loop_plan *plan;
    const tensor_op *op;
    const char *what;   // being checked: "kernel 'k'"
    span at;
    VEC(const loop_node *) path;   // around the node being checked
    VEC(scope_entry) scope;
    VEC(const loop_node *) blocks;   // of the kernel: loops dealt out to blocks
    verified_vars vars;
    verified_vals vals;
    verified_stages stages;
    verified_walk walk;
    uint32_t kernel, rounds;   // rounds: of which recurrence, or TENSOR_NO_LOOP
    uint32_t reader;           // stage whose expressions are read; UINT32_MAX: the plan's own
    const loop_kernel *launch;
    const loop_uses **uses;   // per step; NULL: nobody asked
    // tests around: the outermost variable is at least that, and below that; 0: there is none
    tensor_expr from, below;
} loop_verifier;

static inline const char *loop_wrong(loop_verifier *v, const char *words) {
    return arena_printf(v->arena, "%s: %s", v->what, words);
}
#define WRONG(v, ...) loop_wrong((v), arena_printf((v)->arena, __VA_ARGS__))
#define TRY(x)                                                                                     \
    do {                                                                                           \
        const char *words_ = (x);                                                                  \
        if (words_) return words_;                                                                 \
    } while (0)

// Fields (loop_verify_field.c): that values are of what the op has, where the node stands; the
// rules of those that are there. HEAD: before its variable is bound, when the node already ends
// v->path. BODY: after that. END: after the body.
typedef enum { LOOP_HEAD, LOOP_BODY, LOOP_END } loop_scope;
const char *loop_check_values(loop_verifier *v, const loop_node *n);
const char *loop_check_fields(loop_verifier *v, const loop_node *n, loop_scope scope);
// The rules of single fields, as the table names them.
#define NONE
#define HEAD(name) const char *loop_check_##name(loop_verifier *v, const loop_node *n);
#define BODY(name) HEAD(name)
#define END(name) HEAD(name)
#define LOOP_FIELD(of, in, form, at, data, word, least, when, rule) rule
#include "loop_field.def"
#undef NONE
#undef HEAD
#undef BODY
#undef END

// Declarations: variables, prepared values, homes (loop_verify_home.c).
const char *loop_check_declarations(loop_verifier *v);
bool loop_stage_inline(const loop_plan *p, uint32_t stage);

// Expressions (loop_verify_expr.c): variables are bound, what is loaded is known where the node
// stands.
const char *loop_check_expr(loop_verifier *v, tensor_expr e, uint32_t reader);
const char *loop_check_index(loop_verifier *v, tensor_expr e);
// Of a sum: its body is a product whose first factor is the same for all its terms.
const char *loop_check_factor(loop_verifier *v, const tensor_stage *s);   // and an i64 or index
tensor_expr loop_behind_lets(const loop_verifier *v,
                             // a variable that stands for another: the other
                             tensor_expr e);
const char *loop_share(loop_verifier *v, tensor_val val);           // shared memory is stored here
bool loop_depends(loop_verifier *v, tensor_expr e, tensor_var x);   // through lets and bounds
// where sizes of constant spaces tell it
bool loop_constant(const tensor_op *op, tensor_expr e, int64_t *out);
// where a state is kept
const char *loop_check_slot(loop_verifier *v, tensor_expr slot, tensor_type want);
bool loop_of_sizes(loop_verifier *v, tensor_expr e);   // nothing else is in it

// That a node may stand without the loop that binds its variable, at *at on the path.
const char *loop_check_left_out(loop_verifier *v, const loop_node *n, uint32_t *at);

// Reductions by matrix operations of several warps (loop_verify_group.c): by registers, and by rows
// in panels.
const char *loop_check_group(loop_verifier *v, const loop_matrix *m, const loop_node *depth);
const char *loop_check_panels(loop_verifier *v, const loop_node *reduce, const loop_node *depth);
// What is contributed to one (loop_verify_product.c).
const char *loop_check_product(loop_verifier *v, const loop_node *reduce, const tensor_stage *s);
// n inside m: those of one product
bool loop_shares_lanes(const loop_verifier *v, const loop_node *n, const loop_node *m);

// Loops beside those around (loop_verify_beside.c): the digits of n may be threads of m, or both
// have a vector; what stands inside such a pair.
bool loop_stands_beside(const loop_node *n, const loop_node *m);
bool loop_digits_apart(const loop_digit *x, const loop_digit *y);   // of one number
const char *loop_check_pairs(loop_verifier *v, const loop_node *n);

// Specialized rows (loop_verify_within.c): the node, before its body is followed.
const char *loop_check_within(loop_verifier *v, const loop_node *n);

// Maxima found on the run (loop_verify_online.c): of a reduction, before its body is followed;
// where one is read; what is contributed to a sum, and states that were stored.
const char *loop_check_maxima(loop_verifier *v, const loop_node *n);
bool loop_reads_running(loop_verifier *v, const tensor_node *load, const char **wrong);
const char *loop_check_follows(loop_verifier *v, const loop_node *n, const loop_node *reduce);
const char *loop_check_maxima_again(loop_verifier *v, const loop_node *n, const loop_node *again);
const char *loop_check_relative(loop_verifier *v, const loop_node *n);

// Stores beside loops that are dealt out to blocks (loop_verify_blocks.c).
const char *loop_check_blocks(loop_verifier *v, const loop_body *body);

// The loop around that binds it; NULL: none.
const loop_node *loop_verify_around(const loop_verifier *v, tensor_var x);

// The nodes of a kernel (loop_verify.c), in the order of the text.
const char *loop_check_nodes(loop_verifier *v, const loop_body *body);

// Stores (loop_verify_stored.c): of the whole plan, before it is followed; after that, of a stage.
void loop_count_stores(loop_verifier *v, const loop_body *body);
const char *loop_check_stored(loop_verifier *v, uint32_t stage);

#endif
