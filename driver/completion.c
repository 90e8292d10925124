// --print-completion=bash: a completion script from the option table.
#include "driver.h"

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
    const char *long_name, *short_name;
} options[] = {
#define OPTION(id, long_name, short_name, kind, argument, verbs, group, help) {long_name, short_name},
#include "options.def"
};

void print_completion(FILE *out) {
    fprintf(out, "_gnnc() {\n    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n");
    fprintf(out, "    case $prev in\n        --emit) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return;;\n",
            forms);
    fprintf(out, "        --target) COMPREPLY=($(compgen -W 'cuda host' -- \"$cur\")); return;;\n    esac\n");
    fprintf(out, "    case $cur in\n        -*) COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (*options[i].long_name) fprintf(out, "--%s ", options[i].long_name);
        if (*options[i].short_name) fprintf(out, "-%s ", options[i].short_name);
    }
    fprintf(out, "' -- \"$cur\"));;\n        *) COMPREPLY=($(compgen -f -- \"$cur\"));\n");
    fprintf(out,
            "           [ $COMP_CWORD = 1 ] && COMPREPLY+=($(compgen -W '%s' -- \"$cur\"));;\n    esac\n}\n",
            verbs);
    fprintf(out, "complete -o filenames -F _gnnc gnnc\n");
}
