// Choices among the schedules of an op.
#ifndef GNNC_SEMA_SCHEDULE_TREE_H
#define GNNC_SEMA_SCHEDULE_TREE_H

#include "sema_schedule.h"

void schedule_tree_check(schedule_checker *c);   // c->item is a choice
bool schedule_is_default(const ast_expr *leaf);
// The schedule that a leaf names; NULL: there is none.
const ast_item *schedule_chosen(const sema *s, const schedule_op *op, const char *name);

#endif
