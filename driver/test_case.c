// A case at random, and the ways to make one smaller.
#include "test.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// ---- Drawing ------------------------------------------------------------------------------------
static const int64_t extents[] = {0, 1, 2, 3, 4, 4, 5, 7, 8, 8, 12, 16, 32, 33};
enum { GRAPHS_A_CASE = 3, GRAPHS_A_PACK = 8 };   // packed, they share a cubin
enum {
    ONE_OPTION = 25,
    UNKNOWN = 30,
    MORE_ROWS = 8,
    TWIN = 25,
    CHOICE = 15
};   // per cent of the cases

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
    uint64_t all = 0;
    while (test_graphs[all].what) all++;
    uint64_t first = test_draw(r, all);
    const uint64_t n = option_given(d, OPT_PACK) ? GRAPHS_A_PACK : GRAPHS_A_CASE;
    for (uint64_t i = 0; i < n && !d->values[OPT_GRAPH].len; i++) {
        const test_graph *g = &test_graphs[(first + 5 * i) % all];
        option(a, c, arena_printf(a, "--graph=%s", g->text));
        test_drew(a, c, "graph", g->what);
    }
}

// What -D gives is compiled for; what --size gives is not.
static int64_t *draw_sizes(arena *a, const driver *d, test_case *c, test_rng *r, bool plain) {
    const tensor_op *op = c->op->op;
    int64_t *sizes = ARENA_ARRAY(a, int64_t, op->spaces.len + 1);
    const bool unknown = !plain && !option_given(d, OPT_PACK) && test_chance(r, UNKNOWN);
    for (tensor_space s = 0; s < op->spaces.len; s++) {
        const tensor_space_info *i = &op->spaces.data[s];
        sizes[s] = i->kind == SPACE_CONST ? i->size : -1;
        if (i->kind != SPACE_FREE || c->op->sparse[s] || defined(d, i->name)) continue;
        const long long n = (long long)TEST_PICK(r, extents);
        const bool given = unknown && test_chance(r, 80);
        if (!given) sizes[s] = n;
        option(a, c, arena_printf(a, given ? "--size=%s=%lld" : "-D%s=%lld", i->name, n));
        test_drew_other(a, c, given ? TEST_UNKNOWN : TEST_KNOWN);
    }
    return sizes;
}

// Of a space that maps lead into: as many as no graph of the table has, so that the last rows are
// empty.
static void draw_rows(arena *a, const driver *d, test_case *c, test_rng *r) {
    const tensor_op *op = c->op->op;
    if (d->values[OPT_GRAPH].len || option_given(d, OPT_PACK) || !test_chance(r, MORE_ROWS)) return;
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        const tensor_space_info *s = i->role == VAL_MAP ? &op->spaces.data[i->into] : NULL;
        if (!s || s->kind != SPACE_FREE || defined(d, s->name) || !test_chance(r, 60)) continue;
        option(a, c, arena_printf(a, "--size=%s=%u", s->name, 155 + (unsigned)test_draw(r, 9)));
        test_drew_other(a, c, TEST_MORE_ROWS);
        return;
    }
}

static void draw_types(arena *a, const driver *d, test_case *c, test_rng *r, bool plain) {
    static const char *const types[] = {"f32", "f32", "f32", "f16", "bf16", "f64"};
    for (uint32_t i = 0; i < c->op->ntypes; i++) {
        if (defined(d, c->op->types[i])) continue;
        const char *type = plain ? "f32" : TEST_PICK(r, types);
        option(a, c, arena_printf(a, "-D%s=%s", c->op->types[i], type));
        test_drew(a, c, "type", type);
    }
}

// ---- Options of the table -----------------------------------------------------------------------
static bool has_option(const test_case *c, const char *text) {
    for (uint32_t i = 0; *text && i < c->options.len; i++)
        if (!strncmp(c->options.data[i], text, strlen(text))) return true;
    return false;
}

static bool is_on(const driver *d, const test_case *c, const test_axis *x) {
    const bool arch = !strcmp(x->option, "--arch=");
    return strchr(x->on, option_given(d, OPT_PACK) ? 'p' : "shc"[c->target]) &&
           !(arch && option_given(d, OPT_ARCH));
}

static void draw_axis(arena *a, const driver *d, test_case *c, test_rng *r, const test_axis *x) {
    const char *text = test_axis_text(a, x, (uint32_t)test_draw(r, test_axis_values(x)));
    if (!is_on(d, c, x) || has_option(c, x->beside)) return;
    option(a, c, text);
    test_drew(a, c, "option", text);
    if (!strncmp(text, "--arch=", 7)) c->machine = text + 7;
}

static void draw_axes(arena *a, const driver *d, test_case *c, test_rng *r, bool one) {
    uint32_t all = 0;
    while (test_axes[all].option) all++;
    if (one) {
        draw_axis(a, d, c, r, &test_axes[test_draw(r, all)]);
        test_drew_other(a, c, TEST_ONE_OPTION);
        return;
    }
    for (uint32_t i = 0; i < all; i++)
        if (test_chance(r, test_axes[i].of)) draw_axis(a, d, c, r, &test_axes[i]);
}

static void draw_seeds(arena *a, test_case *c, test_rng *r) {
    option(a, c, arena_printf(a, "--seed=%llu", (unsigned long long)test_draw(r, 100)));
    if (c->target == TEST_SIM)
        option(a, c, arena_printf(a, "--sim-seed=%llu", (unsigned long long)test_draw(r, 100)));
    if (c->target == TEST_HOST) option(a, c, "--all-levels");
}

// ---- A schedule ---------------------------------------------------------------------------------
static test_source draw_source(test_rng *r) {
    static const uint32_t shares[] = {
#define SOURCE(id, of, what) of,
#include "test_draws.def"
    };
    uint64_t at = test_draw(r, 100);
    for (uint32_t i = 0; i < TEST_SOURCE_COUNT; i++) {
        if (at < shares[i]) return (test_source)i;
        at -= shares[i];
    }
    return TEST_DRAWN;
}

static const ast_item *default_of(const test_stock *k, const test_op *op, const test_case *c) {
    const char *text = test_default_text(k->d->arena, k->d, op->name, c, op == c->op);
    return text ? test_schedules_read(k->d, "default", text) : NULL;
}

static const ast_item *another(const test_stock *k, const test_case *c, test_rng *r) {
    const uint64_t at = test_draw(r, k->nops + 2 * k->taken.len);
    return at < k->nops ? default_of(k, &k->ops[at], c)
                        : k->taken.data[(at - k->nops) % k->taken.len];
}

// From schedules that are there; false: there are none, or nothing of them could be taken.
static bool take(const test_stock *k, test_case *c, test_maker *m, test_source source) {
    const ast_item *own = source != TEST_TAKEN ? default_of(k, c->op, c) : NULL,
                   *other = source != TEST_CHANGED ? another(k, c, m->rng) : NULL;
    if (source == TEST_TAKEN) return other && test_schedule_take(m, other, false, false);
    if (!own || !test_schedule_take(m, own, true, false)) return false;
    if (source == TEST_GRAFTED) return other && test_schedule_take(m, other, false, true);
    test_schedule_change(m);
    return true;
}

// Mostly of chance, or taken over; else one of the file's, the default or the naive plan.
static void draw_schedule(arena *a, const test_stock *k, test_case *c, test_rng *r,
                          const int64_t *sizes) {
    if (option_given(k->d, OPT_SCHEDULE)) {
        option(a, c, arena_printf(a, "--schedule=%s", option_text(k->d, OPT_SCHEDULE, "")));
        return;
    }
    test_source source = draw_source(r);
    test_maker m = {.arena = a,
                    .rng = r,
                    .op = c->op,
                    .sizes = sizes,
                    .host = c->target == TEST_HOST,
                    .out = &c->schedules};
    m.arch = m.host ? NULL : gpu_arch_find(c->machine);
    if (source > TEST_DRAWN && !take(k, c, &m, source)) source = TEST_DRAWN, c->schedules.len = 0;
    if (source == TEST_DRAWN) test_schedule_draw(&m);
    if (source == TEST_NAIVE) option(a, c, "--no-schedule");
    if (c->schedules.len && test_chance(r, CHOICE)) c->choice = test_choice_draw(&m);
    if (c->choice) test_drew_other(a, c, TEST_CHOICE);
    else if (c->schedules.len) option(a, c, "--schedule=" TEST_SCHEDULE);
    test_drew_source(a, c, source);
}

static void note_fit(arena *a, test_case *c) {
    bool any = false;
    for (uint32_t i = 0; i < c->schedules.len; i++)
        for (uint32_t k = 0; k < c->schedules.data[i].statements.len; k++) {
            const test_statement *x = &c->schedules.data[i].statements.data[k];
            any |= !strcmp(x->verb, "occupancy") && x->words.len > 1;
        }
    if (any) test_drew_other(a, c, TEST_FIT);
}

test_case test_case_draw(arena *a, const test_stock *stock, const test_op *op, test_target target,
                         test_rng *r) {
    test_case c = {.op = op,
                   .name = op->name,
                   .target = target,
                   .machine = target == TEST_HOST ? "host" : GPU_DEFAULT};
    const driver *d = stock->d;
    const bool one = test_chance(r, ONE_OPTION);   // besides the schedule: all else is plain
    if (op->gradient) test_drew_other(a, &c, TEST_GRADIENT);
    if (op->twin && !option_given(d, OPT_PACK) && test_chance(r, TWIN)) {
        c.name = op->twin;
        test_drew_other(a, &c, TEST_TWIN);
    }
    draw_graphs(a, d, &c, r);
    int64_t *sizes = draw_sizes(a, d, &c, r, one);
    draw_rows(a, d, &c, r);
    draw_types(a, d, &c, r, one);
    draw_axes(a, d, &c, r, one);
    draw_seeds(a, &c, r);
    draw_schedule(a, stock, &c, r, sizes);
    note_fit(a, &c);
    return c;
}

// ---- Smaller ------------------------------------------------------------------------------------
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

#define DROP(list, k)                                                                              \
    (memmove((list).data + (k), (list).data + (k) + 1,                                             \
             ((list).len - (k) - 1) * sizeof *(list).data),                                        \
     (list).len--)

static void smaller_schedules(countdown *n, test_case *c) {
    for (uint32_t i = 0; i + 1 < c->schedules.len && !n->made; i++)
        if (now(n)) DROP(c->schedules, i);
    for (uint32_t i = 0; i < c->schedules.len; i++) {
        test_schedule *s = &c->schedules.data[i];
        if (s->like && now(n)) s->like = NULL;
        if (c->choice && now(n)) {
            c->choice = NULL;
            option(n->a, c, "--schedule=" TEST_SCHEDULE);
            return;
        }
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
        if (!isdigit((unsigned char)*at) || isalnum((unsigned char)at[-1]) || at[-1] == '.')
            continue;
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
        return strcmp(equals, "=f32") && now(n)
                   ? arena_printf(n->a, "%.*s=f32", (int)(equals - text), text)
                   : text;
    const long long less[] = {1, 2, x / 2, x - 1};
    for (uint32_t i = 0; i < sizeof less / sizeof *less; i++)
        if (!*end && less[i] > 0 && less[i] < x && now(n))
            return arena_printf(n->a, "%.*s=%lld", (int)(equals - text), text, less[i]);
    return text;
}

static void smaller_options(countdown *n, test_case *c) {
    uint32_t given = 0;
    for (uint32_t i = 0; i < c->options.len; i++)
        given += !strncmp(c->options.data[i], "--graph=", 8);
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
        if (graph && strncmp(x, "--graph=path:", 13) && now(n))
            c->options.data[i] = "--graph=path:3";
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
