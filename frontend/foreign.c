// Words that are taken from other languages.
#include "foreign.h"

#include <string.h>

static const struct {
    foreign_kind where;
    const char *word, *hint;
} words[] = {
#define FOREIGN(where, word, hint) {FOREIGN_##where, word, hint},
#include "foreign.def"
#undef FOREIGN
};

bool foreign_help(diagnostic *d, foreign_kind where, const char *word) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].where == where && !strcmp(words[i].word, word))
            return diag_help(d, "%s", words[i].hint);
    return false;
}
