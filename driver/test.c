// gnnc test: draws cases, runs as many at a time as there are cores, makes the smallest of what
// fails.
#include "test.h"
#include "clock.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FINDINGS = 3, CASES_AN_OP = 100, SHRINK_RUNS = 250 };

typedef struct {
    test_case c;
    uint64_t number;
    const char *kind, *text;
} finding;

typedef struct {
    uint32_t cases, runs, refused, unfit, faults, schedules, large, follows, skipped, overflows;
} tally;

typedef struct {
    driver *d;
    test_ops ops;
    test_stock stock;
    test_counts counts;
    VEC(test_target) targets;
    tally *tallies;   // per op
    VEC(finding) findings;
    uint64_t seed, cases, first;
    double until;   // seconds; 0: no limit
    uint32_t jobs;
    const char *folder;   // of files for cases
    FILE *pack;           // --pack; NULL: none
    const char *part;     // its name until it is whole
} testing;

static double seconds(void) { return clock_ms() / 1e3; }

// ---- Findings -----------------------------------------------------------------------------------
// One of each kind an op: the first by number, whichever ended first.
static void keep(testing *t, const test_case *c, uint64_t number, const test_outcome *o) {
    const finding new = {*c, number, o->kind, o->text};
    for (uint32_t i = 0; i < t->findings.len; i++) {
        finding *f = &t->findings.data[i];
        if (f->c.op != c->op || strcmp(f->kind, o->kind)) continue;
        if (number < f->number) *f = new;
        return;
    }
    VEC_PUSH(t->d->arena, &t->findings, new);
}

static int by_number(const void *x, const void *y) {
    const finding *a = x, *b = y;
    return a->number < b->number ? -1 : a->number > b->number;
}

static test_outcome run_alone(testing *t, const test_case *c) {
    test_child *x = test_start(t->d->arena, t->d, c, t->folder);
    if (x && test_any_ended(&x, 1)) return test_end(t->d->arena, x, NULL);
    if (x) test_cancel(x);
    return (test_outcome){.verdict = TEST_LACKING, .kind = "", .text = ""};
}

// Round after round over all changes, until one in which none is good.
static void shrink(testing *t, finding *f) {
    test_case smaller;
    uint32_t runs = 0;
    for (bool good = true; good;) {
        good = false;
        for (uint32_t k = 0;
             runs < SHRINK_RUNS && test_case_smaller(t->d->arena, &f->c, k, &smaller); runs++) {
            test_outcome o = run_alone(t, &smaller);
            if (o.verdict != TEST_FAULT || strcmp(o.kind, f->kind)) {
                k++;
                continue;
            }
            good = true;
            f->c = smaller;
            f->text = o.text;
        }
    }
}

// As a test that lit runs: what it wants is that the command ends well.
static const char *save(testing *t, const finding *f, uint32_t number) {
    driver *d = t->d;
    const char *folder = option_text(d, OPT_SAVE, "gnnc-test");
    if (!make_folder(d, folder)) return NULL;
    const char *path = arena_printf(d->arena, "%s/%s-%llu-%u.gnn", folder, f->c.op->name,
                                    (unsigned long long)t->seed, number);
    textbuf out = textbuf_new(d->arena);
    textbuf_printf(&out, "// %s: %s\n// %s\n", f->c.op->name, f->kind,
                   test_command_text(d->arena, d, &f->c, path));
    textbuf_puts(&out, test_file_text(d->arena, d, &f->c));
    output_add(d, path, out.data, out.len);
    return output_flush(d) ? path : NULL;
}

static void tell_finding(testing *t, finding *f, uint32_t number) {
    shrink(t, f);
    const char *path = f->c.schedules.len ? save(t, f, number) : NULL;
    printf("\n%s %s. The smallest case found:\n", f->c.op->name, f->kind);
    if (f->c.schedules.len) {
        textbuf s = textbuf_new(t->d->arena);
        test_schedules_print(&s, &f->c.schedules, f->c.op->name, f->c.machine);
        printf("%s", s.data);
    }
    printf("    %s\n", test_command_text(t->d->arena, t->d, &f->c, path));
    if (f->c.schedules.len && !path) return;
    uint32_t lines = 0;
    for (const char *at = f->text; *at && lines < 12; lines++) {
        int n = (int)strcspn(at, "\n");
        printf("    %.*s\n", n, at);
        at += n + (at[n] == '\n');
    }
}

// ---- Cases --------------------------------------------------------------------------------------
typedef struct {
    test_child *child;
    test_case c;
    uint64_t number;
    tally *of;
} slot;

static void start(testing *t, slot *s, uint64_t number) {
    arena *a = t->d->arena;
    uint32_t op = (uint32_t)(number % t->ops.len);
    test_rng r = {t->seed * 0x9e3779b97f4a7c15u + number, 0};
    test_target target = t->targets.data[test_draw(&r, t->targets.len)];
    s->c = test_case_draw(a, &t->stock, &t->ops.data[op], target, &r);
    s->of = &t->tallies[op];
    s->number = number;
    s->child = test_start(a, t->d, &s->c, t->folder);
}

static bool cannot_run(testing *t, const char *why) {
    t->d->io_fault = true;
    diag(t->d->ds, E0822, NO_SPAN, "a case cannot be run: %s", why);
    return false;
}

static bool finish(testing *t, slot *s) {
    test_outcome o = test_end(t->d->arena, s->child, t->pack);
    s->child = NULL;
    if (o.verdict == TEST_LACKING) return cannot_run(t, o.text);
    s->of->cases++;
    test_counts_add(t->d->arena, &t->counts, &s->c, o.verdict);
    s->of->runs += o.right;
    s->of->refused += o.verdict == TEST_REFUSED;
    s->of->unfit += o.verdict == TEST_UNFIT;
    s->of->schedules += o.verdict == TEST_RIGHT && s->c.schedules.len && !o.large;
    s->of->large += o.large;
    s->of->follows += o.follows;
    s->of->skipped += o.skipped;
    s->of->overflows += o.overflows;
    if (o.verdict != TEST_FAULT) return true;
    s->of->faults++;
    keep(t, &s->c, s->number, &o);
    return true;
}

static bool run_slots(testing *t, slot *slots) {
    test_child *children[CHILD_MOST];
    uint64_t next = t->first, end = t->first + t->cases;
    for (;;) {
        uint32_t running = 0;
        for (uint32_t i = 0; i < t->jobs; i++) {
            if (!slots[i].child && next < end && (!t->until || seconds() < t->until)) {
                start(t, &slots[i], next++);
                if (t->d->io_fault) return false;
                if (!slots[i].child) return cannot_run(t, strerror(errno));
            }
            children[i] = slots[i].child;
            running += slots[i].child != NULL;
        }
        if (!running) return true;
        test_child *ended = test_any_ended(children, t->jobs);
        if (!ended) return cannot_run(t, strerror(errno));
        for (uint32_t i = 0; i < t->jobs; i++)
            if (slots[i].child == ended && !finish(t, &slots[i])) return false;
    }
}

static bool run_cases(testing *t) {
    slot slots[CHILD_MOST] = {0};
    bool good = run_slots(t, slots);
    for (uint32_t i = 0; i < t->jobs; i++)
        if (slots[i].child) test_cancel(slots[i].child);
    return good;
}

// ---- What is tested -----------------------------------------------------------------------------
static bool choose_targets(testing *t) {
    driver *d = t->d;
    const bool asked = option_given(d, OPT_TARGET);
    const struct {
        const char *name;
        test_target target;
    } all[] = {{"sim", TEST_SIM}, {"host", TEST_HOST}, {"cuda", TEST_CUDA}};
    for (uint32_t i = 0; i < 3; i++) {
        bool take = !asked && (all[i].target == TEST_CUDA) == option_given(d, OPT_PACK);
        for (uint32_t k = 0; k < d->values[OPT_TARGET].len; k++)
            take |= !strcmp(d->values[OPT_TARGET].data[k], all[i].name);
        if (take && all[i].target == TEST_HOST && option_given(d, OPT_PACK))
            usage(d, E0812, "--pack takes code for GPUs, not --target=host");
        if (take) VEC_PUSH(d->arena, &t->targets, all[i].target);
    }
    return t->targets.len && !d->usage_fault;
}

static bool choose_ops(testing *t) {
    unit u;
    if (!unit_load(t->d, t->d->inputs.data[0], &u)) return false;
    if (!u.frontend) {
        usage(t->d, E0805, "'%s' has no ops to test: name a .gnn file", u.path);
        return false;
    }
    for (uint32_t i = 0; i < u.ops.len; i++)
        if (u.ops.data[i].op && u.ops.data[i].op->stages.len)
            VEC_PUSH(t->d->arena, &t->ops, test_op_new(t->d->arena, &u.ops.data[i]));
    if (!t->ops.len)
        diag(t->d->ds, E0806, NO_SPAN, "nothing to test: '%s' has no op with a concrete form",
             u.path);
    return t->ops.len;
}

static bool choose_stock(testing *t) {
    driver *d = t->d;
    t->stock = (test_stock){.d = d, .ops = t->ops.data, .nops = t->ops.len};
    t->counts = test_counts_new(d->arena);
    for (uint32_t i = 0; i < d->values[OPT_TAKE].len; i++) {
        size_t length;
        const char *path = d->values[OPT_TAKE].data[i], *text = file_read(d, path, &length);
        if (!text) return false;
        const ast_item *read = test_schedules_read(d, path, text);
        if (read) VEC_PUSH(d->arena, &t->stock.taken, read);
        else usage(d, E0812, "--take=%s: the file has no schedule", path);
    }
    return !d->usage_fault;
}

static void tell_untested(const testing *t, uint32_t k) {
    const tally *n = &t->tallies[k];
    const char *name = t->ops.data[k].name;
    printf("%s: NOT TESTED in %u cases\n", name, n->cases);
    diag_help(
        diag(
            t->d->ds, W0804, t->ops.data[k].op->at,
            "%s: nothing was compared in %u cases: %u do not meet its preconditions, of %u a schedule was refused",
            name, n->cases, n->unfit, n->refused),
        "--graph and -D name a graph and sizes that do");
}

static void tell_op(const testing *t, uint32_t k) {
    const tally *n = &t->tallies[k];
    if (n->faults) {
        printf("%s: FAILS in %u of %u cases\n", t->ops.data[k].name, n->faults, n->cases);
        return;
    }
    if (n->cases && !n->runs && !n->large) {
        tell_untested(t, k);
        return;
    }
    printf("%s: %s %u runs of %u cases", t->ops.data[k].name, t->pack ? "packed" : "right in all",
           n->runs, n->cases);
    if (n->schedules) printf(", %u random schedules among them", n->schedules);
    if (n->follows + n->skipped)
        printf("; %u changes of inputs followed, %u skipped", n->follows, n->skipped);
    if (n->overflows) printf("; in %u something overflowed, which is not compared", n->overflows);
    if (n->refused) printf("; %u schedules were refused with a reason", n->refused);
    if (n->large) printf("; %u cases are too large for a pack", n->large);
    printf("\n");
}

static void tell(testing *t) {
    uint32_t faults = 0, cases = 0, runs = 0;
    for (uint32_t i = 0; i < t->ops.len; i++) {
        tell_op(t, i);
        faults += t->tallies[i].faults;
        cases += t->tallies[i].cases;
        runs += t->tallies[i].runs;
    }
    if (t->findings.len)
        qsort(t->findings.data, t->findings.len, sizeof *t->findings.data, by_number);
    for (uint32_t i = 0; i < t->findings.len && i < MOST_FINDINGS; i++)
        tell_finding(t, &t->findings.data[i], i + 1);
    if (t->ops.len > 1)
        printf("%u ops, %u cases, %u runs %s, %u cases failed (seed %llu)\n", t->ops.len, cases,
               runs, t->pack ? "packed" : "right", faults, (unsigned long long)t->seed);
    t->d->mismatch = faults;
}

// ---- A pack -------------------------------------------------------------------------------------
static const char *pack_path(const testing *t) { return option_text(t->d, OPT_PACK, ""); }

static bool pack_open(testing *t) {
    if (!option_given(t->d, OPT_PACK)) return true;
    t->part = arena_printf(t->d->arena, "%s.part", pack_path(t));
    t->pack = fopen(t->part, "wb");
    return t->pack || cannot_write(t->d, pack_path(t));
}

static void pack_close(testing *t, bool whole) {
    if (!t->pack) return;
    const long bytes = ftell(t->pack);
    const bool written = !fclose(t->pack) && (!whole || !rename(t->part, pack_path(t)));
    if (!written) cannot_write(t->d, pack_path(t));
    if (!written || !whole) unlink(t->part);
    else printf("packed into '%s': %ld bytes\n", pack_path(t), bytes);
}

int drive_test(driver *d) {
    testing t = {.d = d,
                 .seed = (uint64_t)option_number(d, OPT_SEED, 0),
                 .first = (uint64_t)option_number(d, OPT_FIRST, 0)};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int64_t jobs = option_number(d, OPT_JOBS, cores > 0 ? cores : 1);
    if (jobs < 1 || jobs > CHILD_MOST)
        usage(d, E0812, "--jobs takes a number from 1 to %d", CHILD_MOST);
    if (d->usage_fault || !choose_targets(&t) || !choose_ops(&t) || !choose_stock(&t))
        return driver_status(d);
    t.jobs = (uint32_t)jobs;
    t.cases = (uint64_t)option_number(d, OPT_CASES, (int64_t)t.ops.len * CASES_AN_OP);
    t.tallies = ARENA_ARRAY(d->arena, tally, t.ops.len);
    if (option_given(d, OPT_SECONDS)) t.until = seconds() + option_decimal(d, OPT_SECONDS, 0);
    if (!(t.folder = folder_for_a_while(t.d, "test", "cases"))) return driver_status(d);
    if (pack_open(&t)) {
        bool whole = run_cases(&t);
        tell(&t);
        if (option_given(d, OPT_DRAWS)) test_counts_print(&t.counts);
        pack_close(&t, whole);
    }
    folder_remove(t.folder);
    stdout_flush(d);
    return driver_status(d);
}
