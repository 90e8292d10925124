// Options that have no effect on a kind of input (unfit.def) are refused before anything is read.
#include "unit.h"

#include <string.h>

typedef struct {
    option_id option;
    const char *verbs, *kinds, *because, *way;
} unfit_row;

static const unfit_row rows[] = {
#define UNFIT(option, verbs, kinds, because, way) {OPT_##option, verbs, kinds, because, way},
#include "unfit.def"
};

// In the order of input_kind.
static const char letters[] = "gtls";

static void check_row(driver *d, const unfit_row *row, const char *path, input_kind kind) {
    if (!option_given(d, row->option) || !strchr(row->verbs, verb_letter(d->verb)) ||
        !strchr(row->kinds, letters[kind]))
        return;
    diag_help(usage(d, E0831, "%s has no effect on '%s': %s", option_name(d, row->option), path,
                    row->because),
              "%s", row->way);
}

void check_unfit(driver *d) {
    input_kind kind;
    for (uint32_t i = 0; i < d->inputs.len; i++)
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            if (unit_kind(d->inputs.data[i], &kind))
                check_row(d, &rows[r], d->inputs.data[i], kind);
    if (option_given(d, OPT_RULES) && option_given(d, OPT_NO_RULES))
        diag_help(usage(d, E0812, "--no-rules reads no rule file, and --rules names one"),
                  "leave one of them out");
    if (option_given(d, OPT_SCHEDULE) && option_given(d, OPT_NO_SCHEDULE))
        diag_help(
            usage(d, E0812, "--no-schedule asks for the naive plan, and --schedule for another"),
            "leave one of them out");
}
