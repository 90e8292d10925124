// --print-completion=bash: a completion script from the option table.
#include "driver.h"
#include "graph_words.h"

#define FORM(id, name, suffix, target, kind, help) name " "
static const char forms[] =
#include "forms.def"
    ;
#undef FORM

static const char *const verbs =
#define VERB(id, name, letter, arguments, summary) #name " "
#include "options.def"
    ;

static const struct {
    const char *name, *arguments;   // [verify|clear]: words, else what they are
} arguments[] = {
#define VERB(id, name, letter, arguments, summary) {#name, arguments},
#include "options.def"
};

enum { FLAG, SWITCH, TEXT, LIST, NUMBER, DECIMAL, WORD, WORDS, MAYBE };
static const struct {
    const char *long_name, *short_name, *words;   // words: joined by |; NULL: none
} options[] = {
#define FORM_WORDS NULL
#define OPTION(id, long_name, short_name, kind, argument, verbs, group, help)                      \
    {long_name, short_name, kind >= WORD ? argument : NULL},
#include "options.def"
#undef FORM_WORDS
};

// Behind `word`, one of the words up to the `end`.
static void put_words(FILE *out, const char *dashes, const char *word, const char *words,
                      char end) {
    fprintf(out, "        %s%s) COMPREPLY=($(compgen -W '", dashes, word);
    for (const char *p = words; *p && *p != end; p++) fputc(*p == '|' ? ' ' : *p, out);
    fprintf(out, "' -- \"$cur\")); return;;\n");
}

void print_completion(FILE *out) {
    fprintf(
        out,
        "_gnnc() {\n    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n");
    fprintf(out, "    case $prev in\n");
    put_words(out, "--", "emit", forms, 0);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].words) put_words(out, "--", options[i].long_name, options[i].words, 0);
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
        if (*arguments[i].arguments == '[')
            put_words(out, "", arguments[i].name, arguments[i].arguments + 1, ']');
    fprintf(out, "    esac\n");
    fprintf(out, "    case $cur in\n        -*) COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (*options[i].long_name) fprintf(out, "--%s ", options[i].long_name);
        if (*options[i].short_name) fprintf(out, "-%s ", options[i].short_name);
    }
    fprintf(out, "' -- \"$cur\"));;\n        *) COMPREPLY=($(compgen -f -- \"$cur\"));\n");
    fprintf(
        out,
        "           [ $COMP_CWORD = 1 ] && COMPREPLY+=($(compgen -W '%s' -- \"$cur\"));;\n    esac\n}\n",
        verbs);
    fprintf(out, "complete -o filenames -F _gnnc gnnc\n");
}
