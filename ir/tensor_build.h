// Building and asking of an op in tensor IR.
#ifndef GNNC_TENSOR_BUILD_H
#define GNNC_TENSOR_BUILD_H

#include "tensor_op.h"

tensor_op *tensor_op_new(arena *a, const char *name);
// handles mean the same in both; either may grow
tensor_op *tensor_op_copy(arena *a, const tensor_op *op);
// Nodes may be shared with copies until one is added. What changes one itself has them first.
void tensor_own_nodes(tensor_op *op);
tensor_space tensor_add_space(tensor_op *op, tensor_space_info info);
// TENSOR_NO_… fields must be set by the caller
tensor_val tensor_add_val(tensor_op *op, tensor_val_info info);
tensor_var tensor_add_var(tensor_op *op, const char *name, tensor_space space);   // a new index
// another variable for one
tensor_var tensor_add_var_of(tensor_op *op, tensor_var of, const char *name);
tensor_var tensor_add_var_as(tensor_op *op, tensor_id index, const char *name, tensor_space space);
static inline bool tensor_marked(const tensor_stage *s, tensor_mark m) { return s->marks >> m & 1; }
static inline void tensor_set_mark(tensor_stage *s, tensor_mark m) { s->marks |= 1u << m; }
uint32_t tensor_add_stage(tensor_op *op, tensor_stage st);   // the last; its number
// Stages stand in the order they run in: what comes after the new one moves up.
void tensor_put_stage(tensor_op *op, uint32_t at, tensor_stage st);
// The name, or that with a number from 2 on: no value and no stage has it.
const char *tensor_free_name(const tensor_op *op, const char *name);
// Expressions are shared: equal nodes get equal handles (the first span stays). Types must fit, or
// it is an ICE. Constant arguments fold where the result is exact in every target.
tensor_expr tensor_int(tensor_op *op, int64_t x);
tensor_expr tensor_bool(tensor_op *op, bool x);
tensor_expr tensor_float(tensor_op *op, ir_dtype type, double x);
tensor_expr tensor_var_expr(tensor_op *op, tensor_var v, span at);
tensor_expr tensor_size(tensor_op *op, tensor_space s, span at);
tensor_expr tensor_load(tensor_op *op, tensor_val v, const tensor_expr *index, uint32_t n, span at);
tensor_expr tensor_index(tensor_op *op, tensor_space s, tensor_expr x, span at);
tensor_expr tensor_unary(tensor_op *op, tensor_opcode o, tensor_expr x, span at);
tensor_expr tensor_binary(tensor_op *op, tensor_opcode o, tensor_expr x, tensor_expr y, span at);
tensor_expr tensor_select(tensor_op *op, tensor_expr c, tensor_expr x, tensor_expr y, span at);
// x itself where it has that type
tensor_expr tensor_cvt(tensor_op *op, tensor_type to, tensor_expr x, span at);
tensor_expr tensor_tf32(tensor_op *op, tensor_opcode o, tensor_expr x, span at);   // TF32, PARTS
tensor_expr tensor_round(tensor_op *op, ir_dtype through, tensor_expr x, span at);
// anything else; n.args is copied
tensor_expr tensor_node_new(tensor_op *op, tensor_node n);
static inline const tensor_node *tensor_node_at(const tensor_op *op, tensor_expr e) {
    return &op->exprs.data[e];
}
static inline tensor_type tensor_typeof(const tensor_op *op, tensor_expr e) {
    return op->exprs.data[e].type;
}
static inline bool tensor_mentions(const tensor_op *op, tensor_expr e, tensor_var v) {
    return tensor_set_has(op->exprs.data[e].vars, v);
}
static inline bool tensor_loads(const tensor_op *op, tensor_expr e, tensor_val v) {
    return tensor_set_has(op->exprs.data[e].loads, v);
}
typedef struct {
    uint32_t n;
    bool gathers;   // one of them reads at what another one gives
    tensor_expr at[];
} tensor_load_list;
// In what a stage evaluates, each once: its body, filters, otherwise, keys; one that stands in
// another's index comes after it.
const tensor_load_list *tensor_loads_of(const tensor_op *op, const tensor_stage *st);
// As tables of it are now: another number where a stage, value or expression came or changed.
uint64_t tensor_op_mark(const tensor_op *op);
// The builtin reducer of a kind at a type, made at first use.
uint32_t tensor_builtin_reducer(tensor_op *op, tensor_reduce_kind kind, tensor_type t);
// By which builtin kind part i of the state is combined with itself alone; false: in another way.
bool tensor_combined_by(const tensor_op *op, const tensor_reducer *r, uint32_t i,
                        tensor_reduce_kind *by);
// Every part is, and begins with what leaves another as it is: empty parts of a reduction need not
// be told.
bool tensor_reducer_neutral(const tensor_op *op, const tensor_reducer *r);

// The type of 16 bits that has every number an expression can be, as one that is rounded to it;
// DT_COUNT: neither, or both.
ir_dtype tensor_held_in(const tensor_op *op, tensor_expr e);
// what it stores there
bool tensor_holds(const tensor_op *op, const tensor_stage *s, uint32_t target, ir_dtype type);
// Stages whose numbers all have 16 bits are stored in them.
void tensor_narrow(tensor_op *op);
// Normal form N3 of every reduction. Its terms come in another order where that is allowed.
void tensor_normalise(tensor_op *op);
// Normal form N6: the order of equations changes neither that of stages nor numbers of values.
void tensor_order_stages(tensor_op *op);

// The forms of a target's index.
typedef enum { TENSOR_AT_VAR, TENSOR_AT_CONST, TENSOR_AT_STEP, TENSOR_AT_OTHER } tensor_at_kind;
typedef struct {
    tensor_at_kind kind;
    tensor_var var;   // VAR, STEP
    int64_t offset;   // CONST: the literal; STEP: added to the step
} tensor_at;
tensor_at tensor_target_at(const tensor_op *op, tensor_expr index);

#endif
