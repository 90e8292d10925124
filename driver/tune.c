// gnnc tune: tries the schedules of a space on each graph, the best ones on all graphs, and writes
// those that are worth having as rules.
#include "tune.h"

#include "clock.h"
#include "svg.h"
#include "table.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

// Of each graph so many go on to all graphs; of an op at most so many.
enum { BEST_OF_CASE = 3, MOST_CANDIDATES = 16, DEFAULT_SECONDS = 120, DEFAULT_CASES = 400 };

// ---- Where it runs ------------------------------------------------------------------------------
static const char *as_word(arena *a, const char *text) {
    char *word = arena_strdup(a, text);
    for (char *c = word; *c; c++)
        *c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '_';
    return word;
}

// Prints a GPU's name and architecture, a line each; nothing: there is none.
static void print_gpu(void *user) {
    driver *d = user;
    gnn_context *c = NULL;
    gnn_device_info info;
    if (gnn_context_new(&(gnn_context_options){.device = GNN_GPU(device_number(d))}, &c)) return;
    const gpu_arch *arch = settings_arch(d, option_text(d, OPT_ARCH, "native"));
    if (arch && !gnn_device_query(c, &info)) printf("%s\n%s\n", info.name, arch->name);
}

// A GPU that is here; false: there is none.
static bool is_here(driver *d, tune_machine *out) {
    enum { SECONDS = 60 };
    child x;
    device_number(d);
    if (d->usage_fault || !child_call(&x, print_gpu, d, SECONDS)) return false;
    const char *text = child_output(d->arena, &x);
    child_free(&x);
    if (!text || !*text) return false;
    const size_t n = strcspn(text, "\n"), arch = text[n] ? strcspn(text + n + 1, "\n") : 0;
    const char *name = arena_strndup(d->arena, text, n);
    const cost_machine *known = cost_machine_held(name);
    *out = (tune_machine){.name = known ? known->name : as_word(d->arena, name),
                          .arch = arena_strndup(d->arena, text + n + 1, arch),
                          .target = "--target=cuda"};
    return arch;
}

// Without one, or where one is named that need not be here, the model tells.
static bool find_machine(driver *d, tune_machine *out) {
    if (option_is(d, OPT_TARGET, "host")) {
        *out = (tune_machine){"host", "host", "--target=host"};
        return true;
    }
    const cost_machine *named = device_named(d);
    if (!named && !option_is(d, OPT_TARGET, "sim") && is_here(d, out)) return true;
    if (d->usage_fault || d->io_fault) return false;
    if (option_is(d, OPT_TARGET, "cuda") && !named) {
        diag_help(diag(d->ds, E0822, NO_SPAN, "--target=cuda: there is no GPU that can be used"),
                  "--device=h200 tunes by the model of one");
        return false;
    }
    if (!named) named = cost_machine_at(0);
    const gpu_arch *arch = settings_arch(d, option_text(d, OPT_ARCH, named->arch));
    if (!arch) return false;
    *out = (tune_machine){named->name, arch->name, NULL};
    printf(
        "by the model of %s, as no GPU is used here: rules hold for it as far as the model does\n",
        named->name);
    return true;
}

// ---- Candidates for all graphs ------------------------------------------------------------------
typedef VEC(const char *) texts;

static bool is_among(const texts *all, const char *text) {
    for (uint32_t i = 0; i < all->len; i++)
        if (all->data[i] == text || (all->data[i] && text && !strcmp(all->data[i], text)))
            return true;
    return false;
}

// The fastest that is not among them; NULL: none is.
static const tune_tried *fastest(const tune_tries *of, const texts *all) {
    const tune_tried *best = NULL;
    for (uint32_t i = 0; i < of->len; i++) {
        const tune_tried *t = &of->data[i];
        if (t->text && t->ns < (best ? best->ns : INFINITY) && !is_among(all, t->text)) best = t;
    }
    return best;
}

// The best of each graph before the second best of any, so that a long list has something of all.
static void add_candidates(arena *a, const tune_tries *of, uint32_t n, texts *all) {
    for (uint32_t turn = 0; turn < BEST_OF_CASE; turn++)
        for (uint32_t i = 0; i < n && all->len < MOST_CANDIDATES; i++) {
            const tune_tried *t = fastest(&of[i], all);
            if (t) VEC_PUSH(a, all, t->text);
        }
}

// ---- One op -------------------------------------------------------------------------------------
static tune_way way_of(const driver *d, const tune_space *space, uint32_t most) {
    if (option_is(d, OPT_SEARCH, "exhaustive")) return TUNE_EXHAUSTIVE;
    if (option_is(d, OPT_SEARCH, "random")) return TUNE_RANDOM;
    if (option_is(d, OPT_SEARCH, "genetic")) return TUNE_GENETIC;
    return tune_points(space) <= most ? TUNE_EXHAUSTIVE : TUNE_GENETIC;
}

// What runs without rules: the default, or a schedule of the file.
static const char *plain_name(arena *a, const char *plan) {
    if (!strncmp(plan, "default", 7) || !strcmp(plan, "naive")) return "default";
    return arena_strndup(a, plan, strcspn(plan, " "));
}

static const tune_tried *try_of(const tune_tries *of, const char *text) {
    for (uint32_t i = 0; i < of->len; i++)
        if (of->data[i].text == text ||
            (of->data[i].text && text && !strcmp(of->data[i].text, text)))
            return &of->data[i];
    return NULL;
}

// Each candidate on each graph, timed for longer. Where the guards of one do not hold, what runs is
// what runs without it.
static bool measure_all(tune_session *s, const texts *all, double *costs, const char **plain) {
    for (uint32_t c = 0; c < s->op->cases.len; c++) {
        tune_tries tries = {0};
        if (!tune_try_texts(s, &s->op->cases.data[c], all->data, all->len, true, &tries))
            return false;
        for (uint32_t v = 0; v < all->len; v++) {
            const tune_tried *t = try_of(&tries, all->data[v]);
            costs[c * all->len + v] = t && t->unfit ? costs[c * all->len] : t ? t->ns : INFINITY;
            if (t && !v && t->plan) *plain = plain_name(s->d->arena, t->plan);
        }
    }
    return true;
}

static const double *features_of(arena *a, const tune_op *op, uint32_t n) {
    double *x = ARENA_ARRAY(a, double, (size_t)op->cases.len *n + 1);
    for (uint32_t c = 0; c < op->cases.len; c++)
        for (uint32_t f = 0; f < n; f++) x[c * n + f] = op->cases.data[c].numbers.data[f].value;
    return x;
}

static tune_found choose(tune_session *s, const texts *all, const double *costs,
                         const char *plain) {
    arena *a = s->d->arena;
    tune_measured *m = ARENA_NEW(a, tune_measured);
    const uint32_t n = s->op->cases.data[0].numbers.len;
    *m = (tune_measured){.ncases = s->op->fitted,
                         .nversions = all->len,
                         .nfeatures = n,
                         .costs = costs,
                         .features = features_of(a, s->op, n)};
    uint32_t *few = ARENA_ARRAY(a, uint32_t, TUNE_MOST_VERSIONS + 1);
    tune_found f = {.op = s->op, .measured = m, .texts = all->data, .plain = plain, .few = few};
    f.nfew = tune_few(m, TUNE_MOST_VERSIONS, few);
    f.tree = tune_fit(a, m, few, f.nfew);
    if (s->op->fitted == s->op->cases.len) f.regret = tune_regret_of(a, m, few, f.nfew);
    f.fitted = tune_regret_under(m, &f.tree, 0, s->op->fitted);
    f.held = tune_regret_under(m, &f.tree, s->op->fitted, s->op->cases.len);
    return f;
}

static void print_regrets(const tune_session *s, const tune_found *f) {
    const uint32_t fitted = s->op->fitted, held = s->op->cases.len - fitted;
    if (!s->dataset->members.len) return;
    printf("over the best candidate: %.1f %% in the mean, at most %.1f %%, on %u row%s that the "
           "rules are fitted to\n",
           f->fitted.mean * 100, f->fitted.most * 100, fitted, fitted == 1 ? "" : "s");
    if (held)
        printf("over the best candidate: %.1f %% in the mean, at most %.1f %%, on %u row%s held "
               "out\n",
               f->held.mean * 100, f->held.most * 100, held, held == 1 ? "" : "s");
    else if (s->dataset->folder)
        printf("no graph is held out, as --dataset=%s has fewer than 3 files\n",
               s->dataset->folder);
}

static void print_found(const tune_session *s, const tune_found *f) {
    enum { COLUMNS = 7 };
    arena *a = s->d->arena;
    const tune_measured *m = f->measured;
    const uint32_t n = s->op->cases.len;
    const char **cells = ARENA_ARRAY(a, const char *, (n + 1) * COLUMNS);
    static const char *const heads[COLUMNS] = {"graph",   "sizes", "without us", "with us", "ratio",
                                               "best us", ""};
    memcpy(cells, heads, sizeof heads);
    for (uint32_t c = 0; c < n; c++) {
        const double *of = m->costs + c * m->nversions;
        const uint32_t v = tune_choice(&f->tree, m->features + c * m->nfeatures);
        const char **cell = cells + (c + 1) * COLUMNS;
        double best = INFINITY;
        for (uint32_t i = 0; i < m->nversions; i++) best = fmin(best, of[i]);
        *cell++ = s->op->cases.data[c].graph ? s->op->cases.data[c].graph : "-";
        *cell++ = s->op->cases.data[c].sizes;
        *cell++ = arena_printf(a, "%.1f", of[0] * 1e-3);
        *cell++ = arena_printf(a, "%.1f", of[v] * 1e-3);
        *cell++ = arena_printf(a, "%.2f", of[0] / of[v]);
        *cell++ = arena_printf(a, "%.1f", best * 1e-3);
        *cell++ = c < s->op->fitted ? "" : "held out";
    }
    printf("%s on %s%s: %u schedules tried of %.3g, %u refused, %u like another\n", s->op->name,
           s->machine->name, s->machine->target ? "" : ", by the model", s->tried,
           tune_points(&s->space), s->refused, s->alike);
    text_table t = {.rows = n + 1,
                    .columns = COLUMNS,
                    .first_number = 2,
                    .last_number = COLUMNS - 2,
                    .cells = cells};
    table_print(a, &t, stdout);
    print_regrets(s, f);
    fputs("\n", stdout);
}

// ---- What is worth changing ---------------------------------------------------------------------
// How much of a name a stage's is, written with underscores; 0: it is not the beginning.
static size_t match(const char *stage, const char *text) {
    size_t n = 0;
    for (; stage[n]; n++)
        if (text[n] != (stage[n] == '.' ? '_' : stage[n])) return 0;
    return !text[n] || text[n] == '_' ? n : 0;
}

// The stage that a kernel is called by, spmm_f32_y_4 by y; UINT32_MAX: none.
static uint32_t stage_of_kernel(const tune_op *op, const char *kernel) {
    uint32_t best = UINT32_MAX;
    size_t longest = 0;
    for (const char *at = kernel; (at = strchr(at, '_')); at++)
        for (uint32_t i = 0; i < op->stages.len; i++) {
            const size_t n = match(op->stages.data[i].name, at + 1);
            if (n > longest) best = i, longest = n;
        }
    return best;
}

// Stages by their share of the time, those inside another by that one's; all at least by a little.
static const double *weights_of(arena *a, const tune_op *op, const tune_tried *plain) {
    static const double least = 0.02;
    const uint32_t n = op->stages.len;
    double *of = ARENA_ARRAY(a, double, n + 1), sum = 0;
    for (uint32_t k = 0; plain && k < plain->kernels.len; k++) {
        const uint32_t i = stage_of_kernel(op, plain->kernels.data[k].name);
        sum += plain->kernels.data[k].ns;
        if (i < n) of[i + 1] += plain->kernels.data[k].ns;
    }
    for (uint32_t i = n; i-- > 0;)
        for (uint32_t k = 0; k < n && !(of[i + 1] > 0); k++) {
            const char *outer = op->stages.data[k].name, *name = op->stages.data[i].name;
            const size_t length = strlen(outer);
            if (!strncmp(outer, name, length) && name[length] == '.') of[i + 1] = of[k + 1];
        }
    for (uint32_t i = 0; i <= n; i++) of[i] = sum > 0 ? fmax(of[i] / sum, least) : 1;
    return of;
}

static bool tune_one(tune_session *s, double seconds, tune_found *out) {
    driver *d = s->d;
    texts all = {0};
    const char *plain = "default";
    s->space = (tune_space){0};
    if (!tune_space_of(d, s->op, s->machine, &s->space)) return false;
    const tune_way way = way_of(d, &s->space, s->most);
    const uint64_t seed = (uint64_t)option_number(d, OPT_SEED, 0);
    VEC_PUSH(d->arena, &all, (const char *)NULL);
    tune_tries *tries = ARENA_ARRAY(d->arena, tune_tries, s->op->fitted + 1);
    for (uint32_t c = 0; c < s->op->fitted; c++) {
        const tune_case *of = &s->op->cases.data[c];
        tune_tries own = {0};
        if (!tune_try_texts(s, of, all.data, 1, true, &own)) return false;
        s->weights = weights_of(d->arena, s->op, own.data);
        s->until = clock_ms() / 1e3 + seconds / s->op->fitted;
        if (!tune_try_space(s, of, way, seed, &tries[c])) return false;
        VEC_PUSH(d->arena, &s->curves, ((tune_curve){s->op, of, own.data[0].ns, tries[c]}));
    }
    add_candidates(d->arena, tries, s->op->fitted, &all);
    double *costs = ARENA_ARRAY(d->arena, double, (size_t)all.len * s->op->cases.len + 1);
    if (!measure_all(s, &all, costs, &plain)) return false;
    *out = choose(s, &all, costs, plain);
    print_found(s, out);
    return true;
}

// ---- All of them --------------------------------------------------------------------------------
static bool read_options(tune_session *s, double *seconds) {
    enum { MOST_CASES = 1000000 };
    driver *d = s->d;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    // beside others that compile, what the host runs takes longer
    const bool alone = s->machine->target && !strcmp(s->machine->arch, "host");
    const int64_t jobs = option_number(d, OPT_JOBS,
                                       alone       ? 1
                                       : cores < 1 ? 1
                                                   : cores),
                  cases = option_number(d, OPT_CASES, DEFAULT_CASES);
    *seconds = option_decimal(d, OPT_SECONDS, DEFAULT_SECONDS);
    svg_path(d);
    if (jobs < 1) usage(d, E0812, "--jobs takes a number from 1 to %d", CHILD_MOST);
    if (cases < 1 || cases > MOST_CASES)
        usage(d, E0812, "--cases takes a number from 1 to %d", MOST_CASES);
    s->jobs = (uint32_t)(jobs > CHILD_MOST ? CHILD_MOST : jobs);
    s->most = (uint32_t)cases;
    return !d->usage_fault;
}

static bool tune_all(tune_session *s, const tune_ops *ops, double seconds) {
    const char *drawing = option_text(s->d, OPT_SVG, NULL);
    tune_found *found = ARENA_ARRAY(s->d->arena, tune_found, ops->len);
    for (uint32_t i = 0; i < ops->len; i++) {
        s->op = &ops->data[i];
        s->tried = s->refused = s->alike = 0;
        if (!tune_one(s, seconds / ops->len, &found[i])) return false;
    }
    if (drawing) tune_svg_add(s, drawing, ops);
    return tune_rule_write(s->d, s->machine, found, ops->len) && output_flush(s->d);
}

int drive_tune(driver *d) {
    tune_machine machine;
    tune_ops ops = {0};
    tune_dataset set;
    tune_session s = {.d = d, .machine = &machine, .dataset = &set};
    double seconds;
    if (!find_machine(d, &machine) || !read_options(&s, &seconds)) return driver_status(d);
    if (!tune_dataset_open(d, &set) || !tune_collect(d, &ops)) return driver_status(d);
    for (uint32_t i = 0; i < ops.len; i++) tune_dataset_part(&set, d->arena, &ops.data[i]);
    if (tune_record_open(d, option_text(d, OPT_RECORD, NULL), &s.record) &&
        (s.folder = folder_for_a_while(d, "tune", "candidates"))) {
        s.lock = arena_printf(d->arena, "%s/lock", s.folder);
        tune_all(&s, &ops, seconds);
        folder_remove(s.folder);
        tune_record_close(s.record);
    }
    stdout_flush(d);
    return driver_status(d);
}
