// A case at random, and the ways to make one smaller.
#include "test.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// ---- Drawing ---------------------------------------------------------------------------------------------
// Empty ones, isolated nodes, one row that owns all, paths, cliques, duplicates, loops, power laws, batches,
// types.
static const char *const graphs[] = {
    "er:9:20", "er:20:90",         "empty:0",  "empty:4",  "star:7",           "star:40",       "path:6",
    "er:1:3",  "er:12:30,types=4", "grid:3:4", "clique:5", "rmat:4:5,types=3", "batch:3:4:0.5", "hubs:20:70"};
static const int64_t extents[] = {0, 1, 2, 3, 4, 4, 5, 7, 8, 8, 12, 16, 32, 33};
enum { GRAPHS_A_CASE = 3, GRAPHS_A_PACK = 8 };   // packed, they share a cubin
enum { METAMORPHIC = 20 };                       // per cent of the cases

static void option(arena *a, test_case *c, const char *text) { VEC_PUSH(a, &c->options, text); }

static bool defined(const driver *d, const char *name) {
    size_t n = strlen(name);
    for (uint32_t i = 0; i < d->values[OPT_DEFINE].len; i++) {
        const char *x = d->values[OPT_DEFINE].data[i];
        if (!strncmp(x, name, n) && x[n] == '=') return true;
    }
    return false;
}

static void draw_graphs(arena *a, const driver *d, test_case *c, test_rng *r) {
    for (uint32_t i = 0; i < d->values[OPT_GRAPH].len; i++)
        option(a, c, arena_printf(a, "--graph=%s", d->values[OPT_GRAPH].data[i]));
    uint64_t first = test_draw(r, sizeof graphs / sizeof *graphs);
    const uint64_t n = option_given(d, OPT_PACK) ? GRAPHS_A_PACK : GRAPHS_A_CASE;
    for (uint64_t i = 0; i < n && !d->values[OPT_GRAPH].len; i++)
        option(a, c,
               arena_printf(a, "--graph=%s", graphs[(first + 5 * i) % (sizeof graphs / sizeof *graphs)]));
}

static int64_t *draw_sizes(arena *a, const driver *d, test_case *c, test_rng *r) {
    const tensor_op *op = c->op->op;
    int64_t *sizes = ARENA_ARRAY(a, int64_t, op->spaces.len + 1);
    for (tensor_space s = 0; s < op->spaces.len; s++) {
        const tensor_space_info *i = &op->spaces.data[s];
        sizes[s] = i->kind == SPACE_CONST ? i->size : -1;
        if (i->kind != SPACE_FREE || c->op->sparse[s] || defined(d, i->name)) continue;
        sizes[s] = TEST_PICK(r, extents);
        option(a, c, arena_printf(a, "-D%s=%lld", i->name, (long long)sizes[s]));
    }
    return sizes;
}

static void draw_types(arena *a, const driver *d, test_case *c, test_rng *r) {
    static const char *const types[] = {"f32", "f32", "f32", "f16", "bf16", "f64"};
    for (uint32_t i = 0; i < c->op->ntypes; i++)
        if (!defined(d, c->op->types[i]))
            option(a, c, arena_printf(a, "-D%s=%s", c->op->types[i], TEST_PICK(r, types)));
}

static void maybe(arena *a, test_case *c, test_rng *r, uint32_t chance, const char *text) {
    if (test_chance(r, chance)) option(a, c, text);
}

static void draw_run(arena *a, const driver *d, test_case *c, test_rng *r) {
    static const char *const layouts[] = {"--layout=strided", "--layout=misaligned", "--layout=broadcast"};
    maybe(a, c, r, 60, TEST_PICK(r, layouts));
    maybe(a, c, r, 33, "--edges=mixed");
    maybe(a, c, r, 33, "--values=special");
    maybe(a, c, r, 50, "--no-deterministic");
    maybe(a, c, r, 33, "--index=64");
    maybe(a, c, r, 25, "--inplace");
    option(a, c, arena_printf(a, "--seed=%llu", (unsigned long long)test_draw(r, 100)));
    if (c->target == TEST_SIM)
        option(a, c, arena_printf(a, "--sim-seed=%llu", (unsigned long long)test_draw(r, 100)));
    if (c->target == TEST_HOST) option(a, c, "--all-levels");
    if (!option_given(d, OPT_PACK)) maybe(a, c, r, METAMORPHIC, "--metamorphic");
}

// Mostly a schedule of chance; else one of the file's, the default or the naive plan.
static void draw_schedule(arena *a, const driver *d, test_case *c, test_rng *r, const int64_t *sizes) {
    if (option_given(d, OPT_SCHEDULE)) {
        option(a, c, arena_printf(a, "--schedule=%s", option_text(d, OPT_SCHEDULE, "")));
    } else if (test_chance(r, 70)) {
        test_maker m = {.arena = a,
                        .rng = r,
                        .op = c->op,
                        .sizes = sizes,
                        .host = c->target == TEST_HOST,
                        .out = &c->schedules};
        test_schedule_draw(&m);
        option(a, c, "--schedule=" TEST_SCHEDULE);
    } else maybe(a, c, r, 20, "--no-schedule");
}

test_case test_case_draw(arena *a, const driver *d, const test_op *op, test_target target, test_rng *r) {
    test_case c = {.op = op, .target = target};
    draw_graphs(a, d, &c, r);
    int64_t *sizes = draw_sizes(a, d, &c, r);
    draw_types(a, d, &c, r);
    draw_run(a, d, &c, r);
    draw_schedule(a, d, &c, r, sizes);
    return c;
}

// ---- Smaller ---------------------------------------------------------------------------------------------
static test_word *copy_words(arena *a, const test_word *w, uint32_t n) {
    test_word *copy = ARENA_ARRAY(a, test_word, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        copy[i] = w[i];
        if (w[i].option) copy[i].option = copy_words(a, w[i].option, w[i].noption);
    }
    return copy;
}

static test_case copy_case(arena *a, const test_case *c) {
    test_case out = *c;
    out.schedules = (test_schedules){0};
    memset(&out.options, 0, sizeof out.options);
    for (uint32_t i = 0; i < c->schedules.len; i++) {
        test_schedule s = c->schedules.data[i];
        memset(&s.statements, 0, sizeof s.statements);
        for (uint32_t k = 0; k < c->schedules.data[i].statements.len; k++) {
            test_statement x = c->schedules.data[i].statements.data[k];
            x.words.data = copy_words(a, x.words.data, x.words.len);
            VEC_PUSH(a, &s.statements, x);
        }
        VEC_PUSH(a, &out.schedules, s);
    }
    for (uint32_t i = 0; i < c->options.len; i++) VEC_PUSH(a, &out.options, c->options.data[i]);
    return out;
}

// Counts down to the change that is asked for; the one it meets at 0 is made.
typedef struct {
    arena *a;
    uint32_t left;
    bool made;
} countdown;

static bool now(countdown *n) {
    if (n->made) return false;
    if (n->left) return n->left--, false;
    return n->made = true;
}

static void smaller_words(countdown *n, test_word *w, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (w[i].option && w[i].noption) {
            if (now(n)) w[i].noption = 0;
            smaller_words(n, w[i].option, w[i].noption);
        } else if (!w[i].text && !w[i].option) {
            if (w[i].number > 1 && now(n)) w[i].number = 1;
            if (w[i].number > 2 && now(n)) w[i].number = 2;
            if (w[i].number > 5 && now(n)) w[i].number /= 2;
        }
    }
}

#define DROP(list, k)                                                                                        \
    (memmove((list).data + (k), (list).data + (k) + 1, ((list).len - (k)-1) * sizeof *(list).data),          \
     (list).len--)

static void smaller_schedules(countdown *n, test_case *c) {
    for (uint32_t i = 0; i + 1 < c->schedules.len && !n->made; i++)
        if (now(n)) DROP(c->schedules, i);
    for (uint32_t i = 0; i < c->schedules.len; i++) {
        test_schedule *s = &c->schedules.data[i];
        if (s->like && now(n)) s->like = NULL;
        for (uint32_t k = 0; k < s->statements.len && !n->made; k++)
            if (now(n)) DROP(s->statements, k);
    }
    for (uint32_t i = 0; i < c->schedules.len; i++)
        for (uint32_t k = 0; k < c->schedules.data[i].statements.len; k++) {
            test_statement *x = &c->schedules.data[i].statements.data[k];
            if (x->stages.len && now(n)) x->stages.len = 0;
            smaller_words(n, x->words.data, x->words.len);
        }
}

// "er:9:20": each number smaller.
static const char *smaller_numbers(countdown *n, const char *text) {
    for (const char *at = strchr(text, ':'); at && *at; at++) {
        if (!isdigit((unsigned char)*at) || isalnum((unsigned char)at[-1]) || at[-1] == '.') continue;
        char *end;
        long long x = strtoll(at, &end, 10);
        if (*end == '.') continue;
        const long long less[] = {0, 1, x / 2, x - 1};
        for (uint32_t i = 0; i < sizeof less / sizeof *less; i++)
            if (less[i] < x && now(n))
                return arena_printf(n->a, "%.*s%lld%s", (int)(at - text), text, less[i], end);
    }
    return text;
}

static const char *smaller_size(countdown *n, const char *text) {
    const char *equals = strchr(text, '=');
    char *end;
    long long x = strtoll(equals + 1, &end, 10);
    if (end == equals + 1)
        return strcmp(equals, "=f32") && now(n) ? arena_printf(n->a, "%.*s=f32", (int)(equals - text), text)
                                                : text;
    const long long less[] = {1, 2, x / 2, x - 1};
    for (uint32_t i = 0; i < sizeof less / sizeof *less; i++)
        if (!*end && less[i] > 0 && less[i] < x && now(n))
            return arena_printf(n->a, "%.*s=%lld", (int)(equals - text), text, less[i]);
    return text;
}

static void smaller_options(countdown *n, test_case *c) {
    uint32_t given = 0;
    for (uint32_t i = 0; i < c->options.len; i++) given += !strncmp(c->options.data[i], "--graph=", 8);
    for (uint32_t i = 0; i < c->options.len && !n->made; i++) {
        const char *x = c->options.data[i];
        if (!strcmp(x, "--all-levels") && now(n)) c->options.data[i] = "-O0";
        if (!strcmp(x, "--all-levels") && now(n)) c->options.data[i] = "-O3";
        if (n->made) return;
        bool graph = !strncmp(x, "--graph=", 8), size = !strncmp(x, "-D", 2),
             schedule = !strncmp(x, "--schedule=", 11);
        if ((graph ? given > 1 : !size && !schedule) && now(n)) {
            DROP(c->options, i);
            return;
        }
        if (graph && strncmp(x, "--graph=path:", 13) && now(n)) c->options.data[i] = "--graph=path:3";
        else if (graph) c->options.data[i] = smaller_numbers(n, x);
        else if (size) c->options.data[i] = smaller_size(n, x);
    }
}

bool test_case_smaller(arena *a, const test_case *c, uint32_t k, test_case *out) {
    countdown n = {a, k, false};
    *out = copy_case(a, c);
    smaller_schedules(&n, out);
    smaller_options(&n, out);
    return n.made;
}
