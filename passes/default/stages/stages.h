// How a kernel's stages are dealt out: one axis, one stage, all of them alike.
#ifndef GNNC_DEFAULT_STAGES_H
#define GNNC_DEFAULT_STAGES_H

#include "default/cells/cells.h"

// ---- axis.c -------------------------------------------------------------------------------------
typedef struct {
    int64_t vector, lanes, registers;
} axis_share;
// so that a thread has registers for what is computed at once
void default_shorten(const making *m, axis_share *s, int64_t lanes);
int64_t default_share_points(axis_share s);   // in one round
axis_share default_share_axis(making *m, const tensor_stage *st, tensor_var v, int64_t lanes);
void default_fill_share(making *m, const tensor_stage *st, tensor_var v, axis_share s);

// ---- dots.c -------------------------------------------------------------------------------------
typedef struct {
    int64_t lanes, heads;   // that reduce; that have heads of their own
} dot_share;
// Of a stage whose points reduce a dense axis: its cells but those of the points.
dot_share default_dot(making *m, const tensor_stage *st, int64_t most, int64_t each);
// The first such stage that deep; UINT32_MAX: there is none.
uint32_t default_dot_of(const making *m, const stage_group *g, uint32_t depth);
// What it reduces, by so many lanes; all: by no fewer.
void default_dot_share(making *m, const tensor_stage *st, int64_t lanes, bool all);
void default_agree_on_heads(making *m, const stage_group *g, uint32_t depth);

// ---- rounds.c -----------------------------------------------------------------------------------
// rounds of its loop that are written out
int64_t default_unroll(making *m, const tensor_stage *st, int64_t most, int64_t longest);
void default_rounds(making *m, const tensor_stage *st, int64_t lanes);
// Rows of at most so many entries have no rounds.
void default_specialize(making *m, const tensor_stage *st, tensor_var v, const int64_t *sizes,
                        uint32_t n);
void default_level_rounds(making *m, const stage_group *g);

// ---- points.c -----------------------------------------------------------------------------------
// What 16-bit points of a tile, so many steps of them written out, leave room for.
void default_tile_room(making *m, const tensor_stage *dot, int64_t steps);
// Leaves m->unfit behind where a version for few points, or for many, has other kernels, or none.
void default_steps(making *m, const stage_group *g, const tensor_stage *st);

// ---- across.c: many points, few results ---------------------------------------------------------
void default_parts(making *m, const tensor_stage *st);
int64_t default_matrix_rows(making *m, const tensor_stage *st, int64_t lanes);
// false: it is no such kernel, or one that a stage alone says enough of
bool default_across(making *m, const stage_group *g);

// ---- order.c ------------------------------------------------------------------------------------
void default_order(making *m);   // of each reduction, points before dense axes

// ---- length.c -----------------------------------------------------------------------------------
// instructions of the stages that deep, for each number along their last index
int64_t default_length(const planner *p, const stage_group *g, uint32_t depth);

// ---- stage.c, stages.c, extremes.c --------------------------------------------------------------
// On a GPU: the lanes that are left for rows; spare: some should be.
int64_t default_stage(making *m, const tensor_stage *st, bool deepest, bool spare);
void default_stages(making *m, const stage_group *g);
void default_points(making *m, const stage_group *g);     // a thread each, over all indices as one
void default_extremes(making *m, const stage_group *g);   // of a kernel, of 16 bits: in their type

// ---- length.c: terms ----------------------------------------------------------------------------
// of a part: so many, or fewer of long ones
int64_t default_fewer_terms(const planner *p, const tensor_stage *st, int64_t most, int64_t least);

#endif
