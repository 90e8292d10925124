// Ways through a space: every point in turn; points at random; generations that inherit from the
// best ones. A point whose text another one has is not asked for again.
#include "tuning.h"

#include <math.h>
#include <string.h>

// A generation; those that go on as they are; per cent of children that are changed once more;
// tries to come nearer to a parent where a child cannot be run.
enum { POPULATION = 16, ELITE = 6, MUTATED = 20, REPAIRS = 3, MOST_TRIES = 400 };

typedef struct {
    tune_point point;
    const char *text;
    double cost;   // NAN: nobody has told
    bool asked;
    const uint8_t *parent;   // of the same base, which can be run; NULL: none
    uint32_t repairs;        // that are left
} trial;

struct tune_search {
    arena *arena;
    tune_way way;
    const tune_space *space;
    uint64_t state;
    const double *weights;   // of groups of sites
    uint32_t nweights;
    VEC(trial) trials;
    uint32_t waiting;    // asked for and not told
    tune_point next;     // EXHAUSTIVE
    bool ended;
    uint32_t children;   // GENETIC: of this generation so far
};

// ---- Chance -------------------------------------------------------------------------------------
static uint64_t draw(tune_search *s, uint64_t n) {   // in [0, n), by splitmix64
    uint64_t z = s->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return n ? (z ^ z >> 31) % n : 0;
}

static bool chance(tune_search *s, uint32_t per_cent) { return draw(s, 100) < per_cent; }

// ---- Trials -------------------------------------------------------------------------------------
static const tune_base *base_of(const tune_search *s, const tune_point *p) {
    return &s->space->bases.data[p->base];
}

static tune_point copy_of(tune_search *s, const tune_point *p) {
    const uint32_t n = base_of(s, p)->sites.len;
    tune_point c = {.base = p->base, .picks = ARENA_ARRAY(s->arena, uint8_t, n + 1)};
    if (n) memcpy(c.picks, p->picks, n);
    return c;
}

// false: there is one of that text already.
static bool add(tune_search *s, tune_point p, const uint8_t *parent, uint32_t left) {
    const char *text = tune_text(s->arena, s->space, &p);
    for (uint32_t i = 0; i < s->trials.len; i++)
        if (!strcmp(s->trials.data[i].text, text)) return false;
    p.number = s->trials.len;
    VEC_PUSH(s->arena, &s->trials,
             ((trial){.point = p, .text = text, .cost = NAN, .parent = parent, .repairs = left}));
    return true;
}

static double weight_of(const tune_search *s, const tune_base *b, uint32_t i) {
    const tune_site *x = &b->sites.data[i];
    return x->n < 2 || x->link != i ? 0 : x->group < s->nweights ? s->weights[x->group] : 1;
}

void tune_weigh(tune_search *s, const double *weights, uint32_t n) {
    s->weights = weights;
    s->nweights = n;
}

static double draw_part(tune_search *s) { return (double)draw(s, 1u << 30) / (1u << 30); }

// By chance, in proportion to what they weigh; UINT32_MAX: none may change.
static uint32_t draw_site(tune_search *s, const tune_base *b) {
    uint32_t last = UINT32_MAX;
    double all = 0;
    for (uint32_t i = 0; i < b->sites.len; i++) all += weight_of(s, b, i);
    double at = draw_part(s) * all;
    for (uint32_t i = 0; i < b->sites.len; i++) {
        const double weight = weight_of(s, b, i);
        if (weight <= 0) continue;
        last = i;
        if ((at -= weight) < 0) return i;
    }
    return last;
}

// Another text at some site; which need not show.
static void change(tune_search *s, tune_point *p) {
    const tune_base *b = base_of(s, p);
    const uint32_t at = draw_site(s, b), n = at == UINT32_MAX ? 0 : b->sites.data[at].n;
    if (n > 1) p->picks[at] = (uint8_t)((p->picks[at] + 1 + draw(s, n - 1)) % n);
}

// ---- Every point --------------------------------------------------------------------------------
static bool advance(tune_search *s) {
    tune_point *p = &s->next;
    for (uint32_t i = 0; i < base_of(s, p)->sites.len; i++) {
        if (base_of(s, p)->sites.data[i].link != i) continue;
        if (++p->picks[i] < base_of(s, p)->sites.data[i].n) return true;
        p->picks[i] = 0;
    }
    if (p->base + 1 == s->space->bases.len) return false;
    const uint32_t base = p->base + 1;
    *p = (tune_point){
        .base = base,
        .picks = ARENA_ARRAY(s->arena, uint8_t, s->space->bases.data[base].sites.len + 1)};
    return true;
}

static bool add_next(tune_search *s) {
    while (!s->ended) {
        tune_point p = copy_of(s, &s->next);
        s->ended = !advance(s);
        if (add(s, p, NULL, 0)) return true;
    }
    return false;
}

// ---- Points at random ---------------------------------------------------------------------------
// A base whose own point cannot be run is left out, unless none can.
static uint32_t draw_base(tune_search *s) {
    uint32_t base = 0;
    for (uint32_t try = 0; try < MOST_TRIES; try++) {
        base = (uint32_t)draw(s, s->space->bases.len);
        bool good = true;   // as far as is known
        for (uint32_t i = 0; i < s->trials.len && i < s->space->bases.len; i++)
            if (s->trials.data[i].point.base == base) good = !isinf(s->trials.data[i].cost);
        if (good) break;
    }
    return base;
}

// Some sites of a base's own point changed: mostly few, so that it mostly can be run.
static bool add_random(tune_search *s) {
    for (uint32_t try = 0; try < MOST_TRIES; try++) {
        const uint32_t base = draw_base(s);
        tune_point p = tune_first(s->arena, s->space, base);
        for (uint64_t n = 1 + draw(s, 1 + draw(s, 5)); n > 0; n--) change(s, &p);
        if (add(s, p, NULL, 0)) return true;
    }
    return false;
}

// ---- Generations --------------------------------------------------------------------------------
// The best so far, the best first; how many.
static uint32_t best_of(const tune_search *s, const trial **out, uint32_t most) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->trials.len; i++) {
        const trial *t = &s->trials.data[i];
        if (!(t->cost < INFINITY)) continue;
        uint32_t at = n < most ? n++ : most;
        while (at && out[at - 1]->cost > t->cost) {
            if (at < most) out[at] = out[at - 1];
            at--;
        }
        if (at < most) out[at] = t;
    }
    return n;
}

// By chance, in proportion to how fast it is.
static const trial *parent_among(tune_search *s, const trial *const *of, uint32_t n) {
    double all = 0;
    for (uint32_t i = 0; i < n; i++) all += of[0]->cost / of[i]->cost;
    double at = draw_part(s) * all;
    for (uint32_t i = 0; i < n; i++)
        if ((at -= of[0]->cost / of[i]->cost) <= 0) return of[i];
    return of[n - 1];
}

static bool add_child(tune_search *s) {
    const trial *of[POPULATION];
    for (uint32_t try = 0; try < MOST_TRIES; try++) {
        const uint32_t n = best_of(s, of, s->children < ELITE ? ELITE : POPULATION);
        if (!n) return add_random(s);
        const trial *mother = parent_among(s, of, n), *father = parent_among(s, of, n);
        tune_point p = copy_of(s, &mother->point);
        if (father->point.base == p.base)
            for (uint32_t i = 0; i < base_of(s, &p)->sites.len; i++)
                if (chance(s, 50)) p.picks[i] = father->point.picks[i];
        if (mother == father || father->point.base != p.base) change(s, &p);
        if (chance(s, MUTATED)) change(s, &p);
        if (add(s, p, mother->point.picks, REPAIRS)) return ++s->children;
    }
    return add_random(s);
}

// A child that cannot be run comes nearer to its parent: half of what differs is as there.
static void repair(tune_search *s, const trial *of) {
    tune_point p = copy_of(s, &of->point);
    const uint8_t *parent = of->parent;
    const uint32_t left = of->repairs;
    bool differs = false;
    for (uint32_t i = 0; i < base_of(s, &p)->sites.len; i++) {
        if (p.picks[i] != parent[i] && chance(s, 50)) p.picks[i] = parent[i];
        differs |= p.picks[i] != parent[i];
    }
    if (differs) add(s, p, parent, left - 1);
}

// ---- Asking and telling -------------------------------------------------------------------------
tune_search *tune_search_new(arena *a, tune_way way, const tune_space *space, uint64_t seed) {
    tune_search *s = ARENA_NEW(a, tune_search);
    *s = (tune_search){.arena = a, .way = way, .space = space, .state = seed};
    for (uint32_t i = 0; i < space->bases.len; i++) add(s, tune_first(a, space, i), NULL, 0);
    s->ended = !space->bases.len;
    if (!s->ended)
        s->next.picks = ARENA_ARRAY(a, uint8_t, space->bases.data[0].sites.len + 1);
    return s;
}

// What a way goes on with once all that there is was asked for; false: nothing, for now or for
// good.
static bool add_more(tune_search *s) {
    if (s->ended) return false;
    switch (s->way) {
    case TUNE_EXHAUSTIVE: return add_next(s);
    case TUNE_RANDOM: return add_random(s);
    case TUNE_GENETIC:
        // a generation is told before the next one is made of it
        if (s->children >= POPULATION - ELITE || !s->children) {
            if (s->waiting) return false;
            s->children = 0;
        }
        return add_child(s);
    }
    return false;
}

bool tune_ask(tune_search *s, tune_point *out) {
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < s->trials.len; i++) {
            trial *t = &s->trials.data[i];
            if (t->asked) continue;
            t->asked = true;
            s->waiting++;
            *out = t->point;
            return true;
        }
        if (!add_more(s)) return false;
    }
    return false;
}

void tune_tell(tune_search *s, uint32_t number, double cost) {
    trial *t = &s->trials.data[number];
    s->waiting--;
    t->cost = cost;
    if (!(cost < INFINITY) && t->parent && t->repairs) repair(s, t);
}
