// Whole compiles in the compile cache: a command that was run before, on files that are as they
// were, writes and says what it did then.
//
// What a command reads is known by reading it. So the key of the command alone leads to the names
// of files that it looked for, and that key, with what these files are now, to what it wrote. A
// compile is kept under what it has read itself: files that change meanwhile do no harm.
#include "cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// ---- Keys ---------------------------------------------------------------------------------------

// Options that what is written and said does not depend on, or that are told in another way.
static bool is_apart(option_id o) {
    static const option_id apart[] = {OPT_OUTPUT, OPT_DEPENDENCY_FILE, OPT_TIME_REPORT, OPT_CACHE,
                                      OPT_COLOR};
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (o == apart[i]) return true;
    return false;
}

static void put_options(textbuf *facts, const driver *d) {
    for (option_id o = 0; o < OPT_COUNT; o++) {
        const bool apart = is_apart(o);
        cache_fact_number(facts, apart ? 0 : d->values[o].len);
        for (uint32_t i = 0; !apart && i < d->values[o].len; i++)
            cache_fact_text(facts, d->values[o].data[i]);
    }
    cache_fact_number(facts, option_given(d, OPT_DEPENDENCY_FILE));   // -MD may be wanting
    cache_fact_number(facts, settings_color(d));
}

typedef enum { NO_OUT, STREAM, FOLDER, FILE_OUT } out_kind;

static out_kind kind_of(const char *out) {
    return !out                                  ? NO_OUT
           : !strcmp(out, "-")                   ? STREAM
           : *out && out[strlen(out) - 1] == '/' ? FOLDER
                                                 : FILE_OUT;
}

// Where something looks inside, the compiler has to be at work.
static const char *why_not(const driver *d) {
    for (uint32_t i = 0; i < d->inputs.len; i++)
        if (!strcmp(d->inputs.data[i], "-")) return "not asked for: it reads the standard input";
    if (option_given(d, OPT_PRINT_AFTER)) return "not asked for: --print-after looks inside";
    if (option_given(d, OPT_FOR_GRAPH)) return "not asked for: --for-graph reads a graph";
    if (option_given(d, OPT_VERIFY)) return "not asked for: --verify looks inside";
    return getenv("GNNC_PLAN_FAULT") ? "not asked for: $GNNC_PLAN_FAULT is set" : NULL;
}

static void put_command(textbuf *facts, const driver *d, const cache_asked *asked,
                        const char *assembler) {
    cache_fact_text(facts, "compile");
    cache_fact_text(facts, assembler);
    put_options(facts, d);
    cache_fact_number(facts, kind_of(asked->out));
    cache_fact_text(facts, asked->named_inside && asked->out ? asked->out : "");
    cache_fact_number(facts, asked->ntargets);
    for (uint32_t i = 0; i < asked->ntargets; i++)
        cache_fact_text(facts,
                        asked->targets[i].kind == CG_HOST ? "host" : asked->targets[i].arch->name);
    cache_fact_number(facts, d->inputs.len);
    for (uint32_t i = 0; i < d->inputs.len; i++) cache_fact_text(facts, d->inputs.data[i]);
}

static const char *assembler_of(driver *d, const cache_asked *asked) {
    const cg_options options = settings_codegen(d);
    return asked->assembles ? cg_assembler_identity(d->arena, &options) : "none";
}

static cache_command command_of(driver *d, cache *c, const cache_asked *asked) {
    cache_command out = {.assembler = assembler_of(d, asked)};
    textbuf facts = textbuf_new(d->arena);
    c->compile = why_not(d);
    if (!c->compile && !out.assembler) c->compile = "not asked for: the assembler cannot be told";
    if (!c->compile && !cache_put_program(&facts))
        c->compile = "not asked for: gnnc or a library of it has no build ID";
    if (c->compile) return out;
    put_command(&facts, d, asked, out.assembler);
    out.key = cache_hash(facts.data, facts.len);
    out.usable = true;
    return out;
}

// The same command's entry of another kind, or of files as they are.
static cache_key derived(arena *a, const cache_key *k, const char *what, const textbuf *files) {
    textbuf facts = textbuf_new(a);
    cache_fact(&facts, (const char *)k->bytes, sizeof k->bytes);
    cache_fact_text(&facts, what);
    if (files) cache_fact(&facts, files->data, files->len);
    return cache_hash(facts.data, facts.len);
}

static void put_file(textbuf *files, const file_read_from *f) {
    cache_fact_text(files, f->path);
    cache_fact_number(files, f->text != NULL);
    if (f->text) cache_fact(files, f->text, f->length);
}

// ---- Names of what is written -------------------------------------------------------------------

// As -o gives them, so that another -o finds them, too.
typedef enum { AS_IT_IS, AS_NAMED, BESIDE, WITHIN } place_kind;

static void put_place(textbuf *payload, arena *a, const cache_asked *asked, const char *path) {
    const char *out = asked->out, *rest = path;
    place_kind kind = AS_IT_IS;
    if (kind_of(out) == FILE_OUT && !strcmp(path, out)) {
        kind = AS_NAMED;
        rest = "";
    }
    for (uint32_t i = 0; kind_of(out) == FILE_OUT && kind == AS_IT_IS && i < asked->nsuffixes; i++)
        if (!strcmp(path, path_with_suffix(a, out, asked->suffixes[i]))) {
            kind = BESIDE;
            rest = asked->suffixes[i];
        }
    if (kind_of(out) == FOLDER && !strncmp(path, out, strlen(out))) {
        kind = WITHIN;
        rest = path + strlen(out);
    }
    cache_fact_number(payload, kind);
    cache_fact_text(payload, rest);
}

static const char *place_of(arena *a, const char *out, uint64_t kind, const char *rest) {
    switch (kind) {
    case AS_IT_IS: return rest;
    case AS_NAMED: return kind_of(out) == FILE_OUT ? out : NULL;
    case BESIDE: return kind_of(out) == FILE_OUT ? path_with_suffix(a, out, rest) : NULL;
    case WITHIN: return kind_of(out) == FOLDER ? arena_printf(a, "%s%s", out, rest) : NULL;
    }
    return NULL;
}

// ---- Taking -------------------------------------------------------------------------------------

typedef VEC(file_read_from) files_read;

// Files as they are now. false: one is there and cannot be read, which the compiler has to tell.
static bool read_files(arena *a, const textbuf *names, files_read *out) {
    size_t at = 0;
    file_read_from f = {0};
    while (cache_next_text(names, &at, &f.path)) {
        errno = 0;
        f.text = file_peek(a, f.path, &f.length);
        if (!f.text && errno != ENOENT && errno != ENOTDIR && errno != EISDIR) return false;
        VEC_PUSH(a, out, f);
    }
    return at == names->len;
}

static bool next_number(const textbuf *payload, size_t *at, uint64_t *n) {
    if (payload->len - *at < sizeof *n) return false;
    memcpy(n, payload->data + *at, sizeof *n);
    *at += sizeof *n;
    return true;
}

typedef VEC(output) outputs;

static bool read_outputs(arena *a, const char *out, const textbuf *payload, size_t *at,
                         outputs *written) {
    uint64_t n, kind;
    if (!next_number(payload, at, &n)) return false;
    while (n--) {
        output o = {0};
        const char *rest;
        if (!next_number(payload, at, &kind) || !cache_next_text(payload, at, &rest) ||
            !cache_next(payload, at, &o.data, &o.size))
            return false;
        o.path = place_of(a, out, kind, rest);
        if (!o.path) return false;
        VEC_PUSH(a, written, o);
    }
    return *at == payload->len;
}

static bool take(driver *d, cache *c, const cache_asked *asked, const cache_command *command) {
    arena *a = d->arena;
    textbuf payload, files = textbuf_new(a);
    files_read reads = {0};
    outputs written = {0};
    const char *text;
    size_t size, at = 0;
    const cache_key names = derived(a, &command->key, "files", NULL);
    if (!cache_get(c, a, CACHE_READS, &names, &payload) || !read_files(a, &payload, &reads))
        return false;
    for (uint32_t i = 0; i < reads.len; i++) put_file(&files, &reads.data[i]);
    const cache_key k = derived(a, &command->key, "results", &files);
    if (!cache_get(c, a, CACHE_COMPILE, &k, &payload) || !cache_next(&payload, &at, &text, &size) ||
        !read_outputs(a, asked->out, &payload, &at, &written))
        return false;
    d->reads.len = 0;   // --load-simt and --load-ptx are among them
    for (uint32_t i = 0; i < reads.len; i++) VEC_PUSH(a, &d->reads, reads.data[i]);
    textbuf repeated = textbuf_new(a);
    diag_put(d->ds, &repeated);   // of the command line: they are in the text
    fwrite(text, 1, size, stderr);
    for (uint32_t i = 0; i < written.len; i++)   // which may say something anew
        output_add(d, written.data[i].path, written.data[i].data, written.data[i].size);
    return true;
}

bool cache_take_compile(driver *d, const cache_asked *asked, cache_command *command) {
    cache *c = cache_of(d);
    *command = (cache_command){0};
    if (!c) return false;
    phase(d, "cache");
    *command = command_of(d, c, asked);
    const bool taken = command->usable && take(d, c, asked, command);
    if (command->usable) c->compile = taken ? "hit" : "miss";
    return taken;
}

// ---- Keeping ------------------------------------------------------------------------------------

void cache_keep_compile(driver *d, const cache_asked *asked, const cache_command *command,
                        const output *outputs, uint32_t n, const textbuf *log) {
    arena *a = d->arena;
    cache *c = cache_of(d);
    textbuf text = textbuf_new(a), payload = textbuf_new(a), names = textbuf_new(a),
            files = textbuf_new(a);
    textbuf_putn(&text, log->data, log->len);
    diag_put(d->ds, &text);
    fwrite(text.data, 1, text.len, stderr);
    if (!c || !command->usable || c->cubins.others) return;
    const char *assembler = assembler_of(d, asked);   // it may have been replaced meanwhile
    if (!assembler || strcmp(assembler, command->assembler) != 0) return;
    for (uint32_t i = 0; i < d->reads.len; i++) {
        cache_fact_text(&names, d->reads.data[i].path);
        put_file(&files, &d->reads.data[i]);
    }
    cache_fact(&payload, text.data, text.len);
    cache_fact_number(&payload, n);
    for (uint32_t i = 0; i < n; i++) {
        put_place(&payload, a, asked, outputs[i].path);
        cache_fact(&payload, outputs[i].data, outputs[i].size);
    }
    const cache_key k = derived(a, &command->key, "results", &files),
                    list = derived(a, &command->key, "files", NULL);
    cache_put(c, a, CACHE_COMPILE, &k, &payload);
    cache_put(c, a, CACHE_READS, &list, &names);
}
