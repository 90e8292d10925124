// A tree over numbers of a case that says which of several versions to take. It is as small as it
// may be: a question is asked only where it saves at least a hundredth of the time.
#include "tuning.h"

#include <math.h>
#include <string.h>

static const double LEAST_GAIN = 0.01;   // of the mean logarithm of what versions take

static double log_cost(const tune_measured *m, uint32_t c, uint32_t v) {
    static const double cannot = 20;   // the logarithm of what a version that cannot run costs
    const double x = m->costs[c * m->nversions + v];
    return x < INFINITY ? log(x) : cannot;
}

// ---- Versions worth having ----------------------------------------------------------------------
static double mean_of_best(const tune_measured *m, const uint32_t *versions, uint32_t n) {
    double sum = 0;
    for (uint32_t c = 0; c < m->ncases; c++) {
        double best = INFINITY;
        for (uint32_t i = 0; i < n; i++) best = fmin(best, log_cost(m, c, versions[i]));
        sum += best;
    }
    return m->ncases ? sum / m->ncases : 0;
}

uint32_t tune_few(const tune_measured *m, uint32_t most, uint32_t *versions) {
    double before = INFINITY;
    uint32_t n = 0;
    for (; n < most; n++) {
        uint32_t best = UINT32_MAX;
        double least = before - LEAST_GAIN;
        for (uint32_t v = 0; v < m->nversions; v++) {
            versions[n] = v;
            const double x = mean_of_best(m, versions, n + 1);
            if (x < least) best = v, least = x;
        }
        if (best == UINT32_MAX) return n;
        versions[n] = best;
        before = least;
    }
    return n;
}

// ---- The tree -----------------------------------------------------------------------------------
typedef struct {
    arena *arena;
    const tune_measured *m;
    const uint32_t *versions;
    uint32_t n;
    tune_tree tree;
} fitting;
typedef struct {
    const uint32_t *cases;
    uint32_t n;
} some_cases;

static double feature_of(const fitting *x, uint32_t c, uint32_t f) {
    return x->m->features[c * x->m->nfeatures + f];
}

// The sum of what the best one version takes.
static double cost_of(const fitting *x, some_cases of, uint32_t *version) {
    double least = INFINITY;
    for (uint32_t i = 0; i < x->n; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < of.n; k++) sum += log_cost(x->m, of.cases[k], x->versions[i]);
        if (sum < least) least = sum, *version = x->versions[i];
    }
    return least;
}

// Those whose feature is at most, or more than, a number.
static some_cases part_of(const fitting *x, some_cases of, uint32_t f, double most, bool yes) {
    uint32_t *cases = ARENA_ARRAY(x->arena, uint32_t, of.n + 1), n = 0;
    for (uint32_t k = 0; k < of.n; k++)
        if ((feature_of(x, of.cases[k], f) <= most) == yes) cases[n++] = of.cases[k];
    return (some_cases){cases, n};
}

// Between a value and the next larger one, a whole number: half-way by their ratio. NAN: there is
// none.
static double limit_behind(const fitting *x, some_cases of, uint32_t f, double value) {
    double next = INFINITY;
    for (uint32_t k = 0; k < of.n; k++) {
        const double y = feature_of(x, of.cases[k], f);
        if (y > value && y < next) next = y;
    }
    if (!(next < INFINITY)) return NAN;
    return fmax(value, floor(sqrt(fmax(value, 1) * next)));
}

typedef struct {
    uint32_t feature;
    double most, cost;
} split;

static split best_split(const fitting *x, some_cases of, double whole) {
    split best = {.cost = whole - LEAST_GAIN * of.n};
    uint32_t version;
    for (uint32_t f = 0; f < x->m->nfeatures; f++)
        for (uint32_t k = 0; k < of.n; k++) {
            const double most = limit_behind(x, of, f, feature_of(x, of.cases[k], f));
            if (isnan(most)) continue;
            const double cost = cost_of(x, part_of(x, of, f, most, true), &version) +
                                cost_of(x, part_of(x, of, f, most, false), &version);
            if (cost < best.cost) best = (split){f, most, cost};
        }
    return best;
}

static uint32_t grow(fitting *x, some_cases of, uint32_t depth) {
    const uint32_t at = x->tree.nodes.len;
    tune_node node = {.version = x->n ? x->versions[0] : 0};
    const double whole = cost_of(x, of, &node.version);
    const split best = depth ? best_split(x, of, whole) : (split){.cost = INFINITY};
    VEC_PUSH(x->arena, &x->tree.nodes, node);
    if (!depth || !(best.cost < whole - LEAST_GAIN * of.n)) return at;
    node.feature = best.feature;
    node.most = best.most;
    node.yes = grow(x, part_of(x, of, best.feature, best.most, true), depth - 1);
    node.no = grow(x, part_of(x, of, best.feature, best.most, false), depth - 1);
    x->tree.nodes.data[at] = node;
    return at;
}

static tune_tree fit(arena *a, const tune_measured *m, const uint32_t *versions, uint32_t n,
                     uint32_t without) {
    uint32_t *cases = ARENA_ARRAY(a, uint32_t, m->ncases + 1), ncases = 0;
    for (uint32_t c = 0; c < m->ncases; c++)
        if (c != without) cases[ncases++] = c;
    fitting x = {.arena = a, .m = m, .versions = versions, .n = n};
    grow(&x, (some_cases){cases, ncases}, TUNE_MOST_DEPTH);
    return x.tree;
}

tune_tree tune_fit(arena *a, const tune_measured *m, const uint32_t *versions, uint32_t n) {
    return fit(a, m, versions, n, UINT32_MAX);
}

uint32_t tune_choice(const tune_tree *t, const double *features) {
    const tune_node *node = t->nodes.data;
    while (node->yes)
        node = &t->nodes.data[features[node->feature] <= node->most ? node->yes : node->no];
    return node->version;
}

static void add_regret(const tune_measured *m, const tune_tree *t, uint32_t c, uint32_t of,
                       tune_regret *r) {
    const uint32_t taken = tune_choice(t, m->features + c * m->nfeatures);
    double best = INFINITY;
    for (uint32_t v = 0; v < m->nversions; v++) best = fmin(best, log_cost(m, c, v));
    const double over = exp(log_cost(m, c, taken) - best) - 1;
    r->mean += over / of;
    r->most = fmax(r->most, over);
}

tune_regret tune_regret_of(arena *a, const tune_measured *m, const uint32_t *versions, uint32_t n) {
    tune_regret r = {0};
    for (uint32_t c = 0; c < m->ncases; c++) {
        const tune_tree t = fit(a, m, versions, n, c);
        add_regret(m, &t, c, m->ncases, &r);
    }
    return r;
}

tune_regret tune_regret_under(const tune_measured *m, const tune_tree *t, uint32_t first,
                              uint32_t last) {
    tune_regret r = {0};
    for (uint32_t c = first; c < last; c++) add_regret(m, t, c, last - first, &r);
    return r;
}
