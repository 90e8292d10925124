// What the default schedule asks of an op and a machine before it deals anything out. Nothing here
// fills a cell, or depends on one.
#ifndef GNNC_DEFAULT_ASK_H
#define GNNC_DEFAULT_ASK_H

#include "base/planner.h"

// ---- machine.c ----------------------------------------------------------------------------------
int64_t default_groups(const planner *p);   // of a block: rows it owns
// of a block that has one long row: twice as many, where it may have so many threads
int64_t default_heavy_groups(const planner *p);

// ---- extents.c ----------------------------------------------------------------------------------
int64_t default_extent(const planner *p, tensor_var v);   // 0: not known
// Heads and the like, of any extent: some stage has the axis between its first index and its last,
// and reads along both; or rows along other axes are what is gathered and summed. They are few, and
// no vectors lie along them.
bool default_is_side(const planner *p, tensor_var v);
// Rows of all that the stage reads are those of v: where neither extent is known, it has more
// points than the others.
bool default_leads(const planner *p, const tensor_stage *st, tensor_var v);
// Fewer than the points of `of`: dense, or what maps lead to from those alone, as to classes of
// nodes.
bool default_few(const planner *p, tensor_var v, tensor_var of);
typedef struct {
    const planner *p;
    tensor_var v;
    uint32_t bytes;   // of the widest access that ends on v
    bool last;        // there is one
} default_access;
default_access default_widest_access(const planner *p, const tensor_stage *st, tensor_var v);
// v is the last index of something the stage loads
bool default_loaded_along(const planner *p, const tensor_stage *st, tensor_var v);
// of an element along the stage's last index
int64_t default_entry_bytes(const planner *p, const tensor_stage *st);
// of an element of what is read along it
int64_t default_bytes_along(const planner *p, const tensor_stage *st, tensor_var v);
// that a point of the first index has at most; 0: not known
int64_t default_row_bytes(const planner *p, const tensor_stage *st);
int64_t default_power_below(int64_t n);   // of two: the largest that is no larger
int64_t default_power_above(int64_t n);   // the smallest that is no smaller

// ---- shapes.c -----------------------------------------------------------------------------------
// indices of the stage that loops go through, the outermost first
typedef struct {
    const tensor_var *at;
    uint32_t n;
} default_left;
default_left default_left_of(const planner *p, const tensor_stage *st);
// no reduction, or of terms in their order
bool default_one_by_one(const planner *p, const tensor_stage *st);
bool default_reduces_dense(const planner *p, const tensor_stage *st);
// Whether what is read has each index of the stage but the first.
bool default_reads_all_left(const planner *p, const tensor_stage *st, const tensor_node *load);
// of all points: memory runs along the one left-hand index
bool default_sums_columns(const planner *p, const tensor_stage *st);
// A sum of matrices over the points of a graph, such as the gradient of a layer's weights.
bool default_sums_matrices(const planner *p, const tensor_stage *st);
bool default_sums_points(const planner *p, const tensor_stage *st);   // either
// the first sum of columns or matrices; UINT32_MAX: there is none
uint32_t default_columns_of(const planner *p, const stage_group *g);
// A key takes what is reduced to rows.
bool default_reduces_keyed(const planner *p, const tensor_stage *st);
// A key other than the first leads to v.
bool default_classes_row(const planner *p, const tensor_stage *st, tensor_var v);
// Lanes and vectors run along the innermost left-hand axis.
bool default_has_features(const planner *p, const tensor_stage *st);
// one stage whose points reduce a dense axis, and what is computed from it
bool default_is_dot(const planner *p, const stage_group *g);

static inline stage_group default_alone(uint32_t *stage) {
    return (stage_group){.data = stage, .len = 1, .cap = 1};
}

// ---- row_maps.c ---------------------------------------------------------------------------------
// The map whose preimages the kernel's rows walk, TENSOR_NO_VAL: none the runtime counts.
tensor_val default_row_map(const planner *p, const stage_group *g);
// likewise, whatever else is reduced at each of them
tensor_val default_rows_map(const planner *p, const stage_group *g);
// The map by which a stage sums rows of all its points; TENSOR_NO_VAL: none.
tensor_val default_walked_by(const planner *p, uint32_t stage);
// A kernel of sums of rows alone, and of what is computed from them, may cut long ones.
bool default_cuts(const planner *p, const stage_group *g);
bool default_streams(planner *p, const stage_group *g);        // entries are read where they lie
bool default_narrow(const planner *p, const stage_group *g);   // rows of less than a sector

// ---- types.c, weights.c -------------------------------------------------------------------------
// The type of 16 bits that an expression's values have; DT_COUNT: they have none.
ir_dtype default_narrow_type(const tensor_op *op, tensor_expr e);
bool default_is_scalar(const planner *p, const tensor_stage *st);   // no matrix operation has it
// exponentials are weights of results of 16 bits: the machine's own do
bool default_approximates(planner *p);

#endif
