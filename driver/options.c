// Parses the command line from the table in options.def.
#include "driver.h"
#include "graph_words.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef enum { FLAG, SWITCH, TEXT, LIST, NUMBER, DECIMAL, WORD, WORDS, MAYBE } option_kind;

typedef struct {
    const char *long_name, *short_name;
    option_kind kind;
    const char *argument, *verbs;
} option_row;

// The words of --emit, from the table of forms; the bar at the end ends an empty word nobody can
// give.
#define FORM(id, name, suffix, target, kind, help) name "|"
#define FORM_WORDS form_words
static const char form_words[] =
#include "forms.def"
    ;
#undef FORM

static const option_row table[] = {
#define OPTION(id, long_name, short_name, kind, argument, verbs, group, help)                      \
    {long_name, short_name, kind, argument, verbs},
#include "options.def"
};

static const struct {
    const char *prefix;
    option_id id;
} aliases[] = {
#define ALIAS(prefix, id) {prefix, OPT_##id},
#include "options.def"
};

static const char *const verb_names[] = {
#define VERB(id, name, letter, arguments, summary) #name,
#include "options.def"
};

static const char letters[] = {
#define VERB(id, name, letter, arguments, summary) letter,
#include "options.def"
};

const char *verb_name(verb v) { return verb_names[v]; }

char verb_letter(verb v) { return letters[v]; }

// How an option is called in messages: --output, or -S where there is no long name.
const char *option_name(driver *d, option_id o) {
    const option_row *row = &table[o];
    return *row->long_name ? arena_printf(d->arena, "--%s", row->long_name)
                           : arena_printf(d->arena, "-%s", row->short_name);
}

// ---- Values -------------------------------------------------------------------------------------

// Whether `word` of length n is among "a|b|c".
static bool is_word(const char *words, const char *word, size_t n) {
    for (const char *w = words; *w;) {
        size_t length = strcspn(w, "|");
        if (length == n && !memcmp(w, word, n)) return true;
        w += length + (w[length] == '|');
    }
    return false;
}

static bool suggest_word(driver *d, diagnostic *fault, const char *words, const char *word) {
    const char *names[32];
    uint32_t n = 0;
    for (const char *w = words; *w && n < 32;) {
        size_t length = strcspn(w, "|");
        names[n++] = arena_strndup(d->arena, w, length);
        w += length + (w[length] == '|');
    }
    return diag_suggest(fault, NO_SPAN, word, names, n);
}

static void bad_word(driver *d, option_id o, const char *word) {
    diagnostic *fault = usage(d, E0812, "'%s' is not an argument of %s", word, option_name(d, o));
    if (!suggest_word(d, fault, table[o].argument, word))
        diag_help(fault, "it is one of %.*s",
                  (int)(strlen(table[o].argument) - (table[o].argument == form_words)),
                  table[o].argument);
}

static void add_words(driver *d, option_id o, const char *value) {
    for (const char *w = value;; w++) {
        size_t n = strcspn(w, ",");
        const char *word = arena_strndup(d->arena, w, n);
        if (is_word(table[o].argument, word, n)) VEC_PUSH(d->arena, &d->values[o], word);
        else bad_word(d, o, word);
        w += n;
        if (!*w) return;
    }
}

static bool is_number(const char *s) {
    size_t digits = strspn(s, "0123456789");
    return digits && digits <= 18 && !s[digits];
}

static bool is_decimal(const char *s) {
    enum { DIGITS = 18 };   // on each side of a point
    size_t whole = strspn(s, "0123456789"), point = s[whole] == '.',
           part = point ? strspn(s + whole + 1, "0123456789") : 0;
    return whole + part && whole <= DIGITS && part <= DIGITS && !s[whole + point + part];
}

static void add_value(driver *d, option_id o, const char *value) {
    switch (table[o].kind) {
    case DECIMAL:
        if (is_decimal(value)) break;
        usage(d, E0812, "%s takes a number such as 0.5, not '%s'", option_name(d, o), value);
        return;
    case NUMBER:
        if (is_number(value)) break;
        usage(d, E0812, "%s takes a number, not '%s'", option_name(d, o), value);
        return;
    case WORD:
    case MAYBE:
        if (is_word(table[o].argument, value, strlen(value))) break;
        bad_word(d, o, value);
        return;
    case WORDS: add_words(d, o, value); return;
    case FLAG:
    case SWITCH:
    case TEXT:
    case LIST: break;
    }
    VEC_PUSH(d->arena, &d->values[o], value);
}

// ---- Arguments ----------------------------------------------------------------------------------

typedef struct {
    option_id option;    // OPT_COUNT: none
    const char *value;   // what stands joined to it; NULL: nothing
    bool negated;
} match;

static match match_long(driver *d, const char *text) {
    size_t n = strcspn(text, "=");
    const char *value = text[n] ? text + n + 1 : NULL;
    for (uint32_t o = 0; o < OPT_COUNT; o++) {
        const char *name = table[o].long_name;
        if (!*name) continue;
        if (strlen(name) == n && !memcmp(text, name, n)) return (match){(option_id)o, value, false};
        if (table[o].kind == SWITCH && n == strlen(name) + 3 && !memcmp(text, "no-", 3) &&
            !memcmp(text + 3, name, n - 3))
            return (match){(option_id)o, value, true};
    }
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        size_t prefix = strlen(aliases[i].prefix);
        if (n > prefix && !strncmp(text, aliases[i].prefix, prefix) && !value)
            return (match){aliases[i].id, arena_strdup(d->arena, text + prefix), false};
    }
    return (match){OPT_COUNT, NULL, false};
}

static bool takes_argument(option_id o) {
    return table[o].kind != FLAG && table[o].kind != SWITCH && table[o].kind != MAYBE;
}

// After one dash: a whole short name, with or without =value, or a letter with its argument joined.
static match match_short(const char *text) {
    size_t n = strcspn(text, "=");
    for (uint32_t o = 0; o < OPT_COUNT; o++) {
        const char *name = table[o].short_name;
        if (*name && strlen(name) == n && !memcmp(text, name, n))
            return (match){(option_id)o, text[n] ? text + n + 1 : NULL, false};
    }
    for (uint32_t o = 0; o < OPT_COUNT; o++) {
        const char *name = table[o].short_name;
        if (*name && !name[1] && *name == *text && takes_argument((option_id)o))
            return (match){(option_id)o, text + 1, false};
    }
    return (match){OPT_COUNT, NULL, false};
}

static void unknown_option(driver *d, const char *given) {
    diagnostic *fault = usage(d, E0810, "unknown option '%s'", given);
    const char *names[OPT_COUNT * 2];
    uint32_t n = 0;
    for (uint32_t o = 0; o < OPT_COUNT; o++) {
        names[n++] = option_name(d, (option_id)o);
        if (table[o].kind == SWITCH)
            names[n++] = arena_printf(d->arena, "--no-%s", table[o].long_name);
    }
    const char *name = arena_strndup(d->arena, given, strcspn(given, "="));
    bool letter = name[1] != '-' && strlen(name) == 2;   // all are near each other
    if (letter || !diag_suggest(fault, NO_SPAN, name, names, n))
        diag_help(fault, "'gnnc %s --help' lists the options", verb_name(d->verb));
}

// Takes the option at `i`, and the argument behind it where it needs one; gives the index of the
// last one taken.
static uint32_t parse_option(driver *d, uint32_t i) {
    const char *given = d->command.data[i];
    match m = given[1] == '-' ? match_long(d, given + 2) : match_short(given + 1);
    if (m.option == OPT_COUNT) {
        unknown_option(d, given);
        return i;
    }
    option_id o = m.option;
    if (takes_argument(o)) {
        if (!m.value && i + 1 < d->command.len) m.value = d->command.data[++i];
        if (m.value) add_value(d, o, m.value);
        else usage(d, E0811, "%s needs an argument: %s", option_name(d, o), table[o].argument);
    } else if (table[o].kind == MAYBE) {
        const char *first = arena_strndup(d->arena, table[o].argument,
                                          strcspn(table[o].argument, "|"));
        add_value(d, o, m.value ? m.value : first);
    } else if (m.value) {
        usage(d, E0812, "%s takes no argument", option_name(d, o));
    } else {
        add_value(d, o, table[o].kind == FLAG ? "" : m.negated ? "no" : "yes");
    }
    return i;
}

// The first argument names a verb, or a file to compile.
static bool parse_verb(driver *d, const char *given) {
    for (uint32_t v = 0; v < VERB_COUNT; v++) {
        if (strcmp(given, verb_names[v])) continue;
        d->verb = (verb)v;
        return true;
    }
    struct stat info;
    if (strpbrk(given, "./") || !strcmp(given, "-") || !stat(given, &info)) return false;
    diagnostic *fault = usage(d, E0813, "'%s' is neither a verb nor a file", given);
    const char *source = arena_printf(d->arena, "%s.gnn", given);
    if (!stat(source, &info)) diag_help(fault, "did you mean '%s'?", source);
    else if (!diag_suggest(fault, NO_SPAN, given, verb_names, VERB_COUNT))
        diag_help(fault, "'gnnc --help' lists the verbs");
    return true;
}

static verb verb_of(char letter) {
    for (uint32_t v = 0; v < VERB_COUNT; v++)
        if (letters[v] == letter) return (verb)v;
    ICE("verb '%c'", letter);
}

static void check_verb_takes(driver *d) {
    for (uint32_t o = 0; o < OPT_COUNT; o++) {
        if (!d->values[o].len || strchr(table[o].verbs, letters[d->verb])) continue;
        diagnostic *fault = usage(d, E0810, "%s is not an option of 'gnnc %s'",
                                  option_name(d, (option_id)o), verb_name(d->verb));
        diag_help(fault, "it belongs to 'gnnc %s'", verb_names[verb_of(*table[o].verbs)]);
    }
}

void options_parse(driver *d, int argc, char **argv) {
    expand_response_files(d, argc, argv);
    bool verb_seen = false, only_files = false;
    for (uint32_t i = 1; i < d->command.len; i++) {
        const char *given = d->command.data[i];
        if (!only_files && !strcmp(given, "--")) {
            only_files = true;
        } else if (!only_files && *given == '-' && given[1]) {
            i = parse_option(d, i);
        } else if (!verb_seen && !only_files && !strcmp(given, "help")) {
            VEC_PUSH(d->arena, &d->values[OPT_HELP], given);   // gnnc help run: gnnc run --help
        } else {
            if (verb_seen || only_files || !parse_verb(d, given))
                VEC_PUSH(d->arena, &d->inputs, given);
            verb_seen = true;
        }
    }
    check_verb_takes(d);
}

// ---- Reading options ----------------------------------------------------------------------------

bool option_given(const driver *d, option_id o) { return d->values[o].len > 0; }

const char *option_text(const driver *d, option_id o, const char *otherwise) {
    return d->values[o].len ? d->values[o].data[d->values[o].len - 1] : otherwise;
}

bool option_is(const driver *d, option_id o, const char *word) {
    return !strcmp(option_text(d, o, ""), word);
}

bool option_on(const driver *d, option_id o, bool otherwise) {
    return d->values[o].len ? option_is(d, o, "yes") : otherwise;
}

double option_decimal(const driver *d, option_id o, double otherwise) {
    const char *text = option_text(d, o, NULL);
    return text ? strtod(text, NULL) : otherwise;
}

int64_t option_number(const driver *d, option_id o, int64_t otherwise) {
    const char *text = option_text(d, o, NULL);
    return text ? strtoll(text, NULL, 10) : otherwise;
}
