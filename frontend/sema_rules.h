// Rule files of a main file.
#ifndef GNNC_SEMA_RULES_H
#define GNNC_SEMA_RULES_H

#include "sema.h"

// After the main file and what it imports; faults are reported.
void rules_load(frontend_unit *u, const char *main);
// Whose schedules and choices come first: 0 of rules, 1 of the main file, 2 of imported ones.
enum { RULES_RANKS = 3 };
uint32_t rules_rank(const frontend_unit *u, span at);

#endif
