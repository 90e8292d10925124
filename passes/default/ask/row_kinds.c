// The table of what versions of the default schedule are for (row_kinds.def).
#include "default/ask/row_kinds.h"
#include "default/ask/limits.h"

static const rows_info infos[] = {
#define ROWS(id, text, family, like, rest, most, longest, traits)                                  \
    {text, ROWS_FAMILY_##family, ROWS_##like, ROWS_##rest, most, longest, traits},
#include "default/ask/row_kinds.def"
};

const rows_info *plan_rows_info(plan_rows rows) { return &infos[rows]; }
