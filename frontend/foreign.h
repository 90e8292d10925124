// What other languages call what is called otherwise here (foreign.def): hints for diagnostics.
#ifndef GNNC_FOREIGN_H
#define GNNC_FOREIGN_H

#include "support/support.h"

typedef enum {
    FOREIGN_EXPRESSION,
    FOREIGN_REDUCER,
    FOREIGN_TYPE,
    FOREIGN_FACT,
    FOREIGN_ITEM,
    FOREIGN_STATEMENT
} foreign_kind;

// false: it is no such word
bool foreign_help(diagnostic *d, foreign_kind where, const char *word);

#endif
