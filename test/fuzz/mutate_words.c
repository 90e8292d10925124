// libFuzzer's mutator for command lines: half the mutants gain a word of driver/options.def, with
// an argument or without, before a word they have or at the end.
#include "driver/graph_words.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

#define FORM(id, name, suffix, target, kind, help) name "|"
#define FORM_WORDS form_words
static const char form_words[] =
#include "driver/forms.def"
    ;
#undef FORM

static const struct {
    const char *dashes, *name,
        *argument;   // argument: words it may be, parted by bars, or what it stands for
} words[] = {
#define VERB(id, name, letter, arguments, summary) {"", #name, ""},
#define OPTION(id, long_name, short_name, kind, argument, verbs, group, help)                      \
    {"--", long_name, argument}, {"--no-", long_name, argument}, {"-", short_name, argument},
#define ALIAS(prefix, id) {"--", prefix, ""},
#include "driver/options.def"
};
static const char *const values[] = {
    "0",     "1",    "32",   "4294967296", "-1",    "sm_90",   "sm_90a,sm_80",
    "T=f16", "F=64", "type", "no-error",   "perf",  "nosuch",  "host,cuda",
    "a.gnn", "'",    "",     "lower",      "a=b=c", "guard:3", "9223372036854775808"};

static uint32_t pick(uint64_t *random, size_t n) {
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)((*random >> 33) % n);
}

// A word of the list, or of `values`.
static void argument(char *out, size_t room, const char *list, uint64_t *random) {
    uint32_t skipped = pick(random, 8);
    const char *bar;
    for (; skipped && (bar = strchr(list, '|')); skipped--) list = bar + 1;
    if (skipped > 5) list = values[pick(random, sizeof values / sizeof *values)];
    snprintf(out, room, "%.*s", (int)strcspn(list, "|"), list);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    static const char *const joints[] = {"=", "=", " ", "", NULL};
    uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    if (pick(&random, 2)) return LLVMFuzzerMutate(data, size, most);
    uint32_t word = pick(&random, sizeof words / sizeof *words);
    const char *joint = joints[pick(&random, 5)];
    char value[80] = "", text[200];
    if (joint) argument(value, sizeof value, words[word].argument, &random);
    size_t n = (size_t)snprintf(text, sizeof text, " %s%s%s%s ", words[word].dashes,
                                words[word].name, joint ? joint : "", value);
    size_t at = pick(&random, size + 1);
    while (at < size && !isspace(data[at])) at++;
    if (n >= sizeof text || size + n > most) return LLVMFuzzerMutate(data, size, most);
    memmove(data + at + n, data + at, size - at);
    memcpy(data + at, text, n);
    return size + n;
}
