// Response files: @FILE on the command line stands for the arguments in FILE. They are parted by
// white space; quotes of both kinds and backslashes keep it.
#include "driver.h"

#include <ctype.h>
#include <string.h>

enum { DEEPEST = 8, MOST_ARGUMENTS = 100000 };

static void expand(driver *d, const char *argument, uint32_t depth);

// One argument from *p on, which is no white space. false: a quotation does not end.
static bool split_argument(textbuf *word, const char **p) {
    char quote = 0;
    for (; **p; (*p)++) {
        char c = **p;
        if (c == '\\' && quote != '\'' && (*p)[1]) textbuf_putn(word, ++*p, 1);
        else if (quote && c == quote) quote = 0;
        else if (!quote && (c == '"' || c == '\'')) quote = c;
        else if (!quote && isspace((unsigned char)c)) break;
        else textbuf_putn(word, &c, 1);
    }
    return !quote;
}

static void expand_file(driver *d, const char *path, uint32_t depth) {
    if (depth > DEEPEST) {
        usage(d, E0814, "response files name each other more than %d deep", DEEPEST);
        return;
    }
    size_t length;
    const char *p = file_read(d, path, &length);
    if (!p) return;
    while (*p && d->command.len < MOST_ARGUMENTS) {
        if (isspace((unsigned char)*p)) {
            p++;
            continue;
        }
        textbuf word = textbuf_new(d->arena);
        if (!split_argument(&word, &p)) usage(d, E0814, "a quotation in '%s' does not end", path);
        expand(d, word.data, depth);
    }
}

static void expand(driver *d, const char *argument, uint32_t depth) {
    if (*argument == '@' && argument[1]) expand_file(d, argument + 1, depth + 1);
    else VEC_PUSH(d->arena, &d->command, argument);
}

void expand_response_files(driver *d, int argc, char **argv) {
    for (int i = 0; i < argc; i++) expand(d, argv[i], 0);
    d->reads.len = 0;   // what a response file says is in the command already
}
