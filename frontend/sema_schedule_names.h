// What the names of a schedule stand for: stages, indices and values of the lowered op
// (sema_schedule_name.c).
#ifndef GNNC_SEMA_SCHEDULE_NAMES_H
#define GNNC_SEMA_SCHEDULE_NAMES_H

#include "sema_schedule.h"

bool schedule_stage_known(schedule_checker *c, const char *path, span at);
// What statements make of reductions (sema_schedule_rows.c): the stage whose rows, terms or flat
// product a path names, or NULL; the space of an index that is made with it, or TENSOR_NO_SPACE.
const char *schedule_made_of(const schedule_checker *c, const char *path);
tensor_space schedule_made_index(const tensor_op *op, const tensor_stage *st, const char *path,
                                 const char *name);
// Of that index; path: of the stage that a statement is about, or NULL.
tensor_id schedule_made_id(const tensor_op *op, const tensor_stage *st, const char *path,
                           const char *name);
bool schedule_index_known(schedule_checker *c, const char *name, span at, bool reduced);
// over that index
bool schedule_reduces(const schedule_checker *c, const tensor_stage *st, const char *name);
// of the first stage that has it
bool schedule_index_space(const schedule_checker *c, const char *stage, const char *name,
                          tensor_space *out);
bool schedule_value_known(schedule_checker *c, const char *path, span at);
const tensor_val_info *schedule_value_find(const schedule_checker *c, const char *name);
// The indices called so of the stages at that path; none: they have none.
schedule_ids schedule_index_ids(const schedule_checker *c, const char *stage, const char *name);
// equal, or the stage lies inside; NULL: every stage
bool schedule_path_covers(const char *path, const char *stage);
bool schedule_is_index(const schedule_checker *c, const char *name);   // of any stage
bool schedule_is_size(const tensor_op *op, const char *name);
bool schedule_map_known(schedule_checker *c, const char *name, span at, bool of_index);
schedule_let *schedule_let_find(const schedule_checker *c, const char *name);
typedef VEC(const char *) schedule_names;
// "did you mean", or else the list of what there is.
void schedule_suggest(schedule_checker *c, diagnostic *d, span at, const char *name,
                      const schedule_names *there, const char *what);

#endif
