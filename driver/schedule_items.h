// Schedules of a syntax tree, as what reads printed or written ones asks of them: the tester and
// the tuner.
#ifndef DRIVER_SCHEDULE_ITEMS_H
#define DRIVER_SCHEDULE_ITEMS_H

#include "frontend/ast.h"

// The list behind `use` of a bucket: schedules of its classes; NULL: the statement is another one.
const ast_subject *schedule_classes_of(const ast_statement *x);
bool schedule_is_class(const ast_item *all, const ast_item *of);          // of another one's bucket
const ast_item *schedule_called(const ast_item *all, const char *name);   // NULL: none
// Tensor IR makes names unique by underscores at the end; a name no file can write is NULL.
const char *schedule_written(arena *a, const char *name);

#endif
