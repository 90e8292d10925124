// Search over schedules: a space of texts, ways to walk through it, and a tree that says which of
// several versions suits a graph. Nothing is compiled or measured here: whoever asks for points
// tells what each takes.
//
//     tune_search *s = tune_search_new(a, TUNE_GENETIC, &space, seed);
//     while (tune_ask(s, &p)) tune_tell(s, p.number, seconds_of(tune_text(a, &space, &p)));
#ifndef GNNC_TUNING_H
#define GNNC_TUNING_H

#include "support/support.h"

// ---- A space (space.c) --------------------------------------------------------------------------
// A place in a text where one of several texts may stand. Sites may lie within each other, the
// outer one before the inner ones; an inner one counts while the outer one keeps what stands there.
typedef struct {
    uint32_t from, to;
    uint32_t n;
    const char *const *texts;   // NULL among them: what stands there
    uint32_t first;             // the one that is taken where nobody chooses
    uint32_t group;             // of sites that are worth as much: see tune_weigh
    // Sites of neighbouring groups that are alike are taken alike; NULL: like none.
    const char *like;
    uint32_t link, turn;   // the first of those, or itself, and the run of its group: by tune_link
} tune_site;
typedef struct {   // a schedule that the search begins with
    const char *name, *text;
    VEC(tune_site) sites;   // by `from`
} tune_base;
typedef struct {
    VEC(tune_base) bases;
} tune_space;
typedef struct {
    uint32_t number;   // as it was asked for
    uint32_t base;
    uint8_t *picks;   // a text per site of the base
} tune_point;
enum { TUNE_MOST_TEXTS = 255 };
void tune_link(tune_base *b);   // once it has all its sites
const char *tune_text(arena *a, const tune_space *s, const tune_point *p);
double tune_points(const tune_space *s);                               // how many there are
tune_point tune_first(arena *a, const tune_space *s, uint32_t base);   // where nobody chooses

// ---- A search (search.c) ------------------------------------------------------------------------
typedef enum { TUNE_EXHAUSTIVE, TUNE_RANDOM, TUNE_GENETIC } tune_way;
typedef struct tune_search tune_search;
// The same seed and the same costs give the same points. The first ones are those of the bases.
tune_search *tune_search_new(arena *a, tune_way way, const tune_space *space, uint64_t seed);
// How much sooner a site of a group changes than others, by group; sites of groups from n on as 1.
void tune_weigh(tune_search *s, const double *weights, uint32_t n);
// A point nobody asked for yet. false: none is left, or none until what was asked for is told.
bool tune_ask(tune_search *s, tune_point *out);
void tune_tell(tune_search *s, uint32_t number, double cost);   // INFINITY: it cannot be run

// ---- A tree (tree.c) ----------------------------------------------------------------------------
typedef struct {
    uint32_t ncases, nversions, nfeatures;
    const double *costs;      // [c * nversions + v]; INFINITY: it cannot run
    const double *features;   // [c * nfeatures + f]
} tune_measured;
typedef struct {
    uint32_t feature, yes, no;   // nodes; of a leaf: yes is 0
    double most;                 // yes: the feature is at most that
    uint32_t version;            // of a leaf
} tune_node;
typedef struct {
    VEC(tune_node) nodes;   // the first is the root
} tune_tree;
enum { TUNE_MOST_VERSIONS = 4, TUNE_MOST_DEPTH = 4 };
// The versions worth having, at most so many, the best one first: how many.
uint32_t tune_few(const tune_measured *m, uint32_t most, uint32_t *versions);
tune_tree tune_fit(arena *a, const tune_measured *m, const uint32_t *versions, uint32_t n);
uint32_t tune_choice(const tune_tree *t, const double *features);
// What the choice takes over the best of all, in the mean and at most, for cases that the tree did
// not see: each is left out once.
typedef struct {
    double mean, most;
} tune_regret;
tune_regret tune_regret_of(arena *a, const tune_measured *m, const uint32_t *versions, uint32_t n);
// The same of cases from `first` to `last` under a tree that there is; past ncases, too, where m
// has them.
tune_regret tune_regret_under(const tune_measured *m, const tune_tree *t, uint32_t first,
                              uint32_t last);

#endif
