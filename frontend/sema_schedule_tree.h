// Choices among the schedules of an op.
#ifndef GNNC_SEMA_SCHEDULE_TREE_H
#define GNNC_SEMA_SCHEDULE_TREE_H

#include "sema_schedule.h"

void schedule_tree_check(schedule_checker *c);   // c->item is a choice

#endif
