// Contractions on tensor cores by default: what is one, its cells (contraction.c), and who makes
// it.
#ifndef GNNC_DEFAULT_CONTRACTION_H
#define GNNC_DEFAULT_CONTRACTION_H

#include "default/cells/cells.h"

typedef struct {
    const tensor_stage *sum;
    tensor_var rows, columns, depth;
    tensor_expr first, second;   // the factor of rows, of columns
    tensor_val by;               // the map by whose value the second is chosen; TENSOR_NO_VAL: none
    const char *operand;         // "f16"
    const char *shape;           // "m64k16"; NULL: the first of those of the operand
    uint32_t bytes;              // of an element that is multiplied
    uint32_t held;               // likewise, of what a lane holds of it
    const schedule_cell *said;   // the schedule's own `mma`; NULL: it has none
} contraction;
typedef struct {                        // of rows, columns and depth: 1: nothing
    int64_t block, groups, registers;   // rows
    int64_t column_block, column_groups, column_vector, column_registers;
    int64_t depth_groups, depth_vector, depth_registers;
} matrix_shape;

// ---- contraction.c ------------------------------------------------------------------------------
bool default_operand(const planner *p, contraction *c);   // false: it is not for tensor cores
int64_t default_matrix_least(const contraction *c);       // rows, columns or depth
bool default_find_contraction(const making *m, const stage_group *g, contraction *c);
bool default_contracts(const making *m, const stage_group *g);   // default_matrix would take it
// likewise, and it is not computed where it is read
bool default_contracts_apart(const making *m, const stage_group *g);
void default_matrix_cells(making *m, const stage_group *g, const contraction *c,
                          const matrix_shape *s);
// `mma`, where more is to be said of it than is
void default_multiply(making *m, const contraction *c);
void default_share(making *m, const contraction *c,
                   tensor_val input);                // it comes to shared memory
int64_t default_power_in(int64_t n, int64_t most);   // the largest power of two that divides n
// The input whose rows, at an index or what a map says of it, are a factor; `along` is its last
// index. NULL: it is no such.
const tensor_val_info *default_factor_rows(const planner *p, const tensor_stage *sum,
                                           tensor_expr factor, tensor_var along);
// an input, or a stage that another kernel stored
bool default_is_stored(const planner *p, const tensor_stage *sum, tensor_val v);
// The schedule itself says what of x (NULL: nothing) comes ahead, or of which rounds.
bool default_says_ahead(const planner *p, const contraction *c, const tensor_val_info *x);

// ---- group.c ------------------------------------------------------------------------------------
// of four warps; NULL: there is none
const simt_mma_info *default_group_operation(const planner *p, const char *operand);
// By operations of four warps; false: there are none, or they are no faster.
bool default_group(making *m, const stage_group *g, contraction *c, int64_t depth, int64_t columns);

// ---- matrix.c -----------------------------------------------------------------------------------
// A kernel of a contraction on tensor cores, as `mma` says or of numbers of 16 bits; false: it is
// none, and nothing is filled.
bool default_matrix(making *m, const stage_group *g);

// ---- outer.c ------------------------------------------------------------------------------------
// A sum of outer products over what a map takes to a row, on tensor cores; false: it is none, and
// nothing is filled.
bool default_outer(making *m, const stage_group *g);
// It would take that alone, also where it may share what it reads with another sum.
bool default_sums_outer_products(const making *m, uint32_t stage, bool shared);
bool default_outer_all(making *m, const stage_group *g);   // over all points, where there is no map

#endif
