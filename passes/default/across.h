// Many points, few results: sums of columns and of matrices across blocks (across.c).
#ifndef GNNC_DEFAULT_ACROSS_H
#define GNNC_DEFAULT_ACROSS_H

#include "default/default.h"

void default_order(making *m);   // of each reduction, points before dense axes
void default_parts(making *m, const tensor_stage *st, const tensor_var *left, uint32_t n);
int64_t default_matrix_rows(making *m, const tensor_stage *st, const tensor_var *left, uint32_t n,
                            int64_t lanes);
// the first sum of columns or matrices; UINT32_MAX: there is none
uint32_t default_columns_of(const planner *p, const stage_group *g);
// false: it is no such kernel, or one that a stage alone says enough of
bool default_across(making *m, const stage_group *g);

#endif
