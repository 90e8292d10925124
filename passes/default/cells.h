// Cells of the default schedule: made for a stage and its indices, and what one stage does not take
// from another.
#ifndef GNNC_DEFAULT_CELLS_H
#define GNNC_DEFAULT_CELLS_H

#include "base/making.h"

typedef struct making making;

// ---- Cells --------------------------------------------------------------------------------------
schedule_cell default_cell(schedule_verb verb, const tensor_stage *st);
schedule_cell default_index_cell(const planner *p, schedule_verb verb, const tensor_stage *st,
                                 tensor_var v);
// what it says, of another index
schedule_cell default_move_cell(const planner *p, schedule_cell c, const tensor_stage *st,
                                tensor_var v);
schedule_cell default_value_cell(const planner *p, schedule_verb verb, const tensor_stage *st,
                                 tensor_val v);
// whose subject is the stage
schedule_cell default_stage_cell(const planner *p, schedule_verb verb, const tensor_stage *st);

// ---- Words of a statement -----------------------------------------------------------------------
schedule_value default_stage_list(const planner *p, const stage_group *g);
schedule_value default_index_list(const planner *p, const tensor_var *vars, uint32_t n);
// at the first, which each stage has as one of them
schedule_value default_at(const planner *p, const tensor_var *vars, uint32_t n);
schedule_value default_by(const planner *p, tensor_val map);

static inline tensor_val default_val(const planner *p, const tensor_val_info *of) {
    return (tensor_val)(of - p->op->vals.data);
}

schedule_value default_word(schedule_word w);   // without a keyword

// ---- Filling ------------------------------------------------------------------------------------
// Of a number: 1 is said of `block` and `pipeline` alone. option: a keyword, or NULL.
void default_fill(making *m, const tensor_stage *st, schedule_verb verb, tensor_var v, int64_t n,
                  const char *option);
void default_say(making *m, schedule_cell c, schedule_value *values,
                 uint32_t n);    // in the default at hand
void default_nones(making *m);   // what a stage inside another one does not take from it

#endif
