// Where temps lie: those that are needed at the same time never share a byte, against brute force
// over random versions; those that are not do.
#include "Inputs/harness.h"

enum { TEMPS = 6, STEPS = 12, TEXT = 1 << 14 };
static gnn_context *c;

typedef struct {
    // of each step; writes: it waits to write; in_loop: of the one loop there is
    bool early, waits, writes, in_loop;
    uint32_t a, b;   // temps it touches
} step;

static void put(char *text, const char *format, uint32_t x, uint32_t y) {
    size_t n = strlen(text);
    snprintf(text + n, TEXT - n, format, x, y);
}

static gnn_plan *planned(const step *s, uint32_t n, const uint32_t *length, gnn_program **p) {
    static char text[TEXT];
    gnn_plan *plan = NULL;
    *text = 0;
    put(text,
        "{\"gnnc_manifest\": 1, \"name\": \"op\", \"target\": \"host\", \"index_bits\": 64, \"versions\": [{\"name\": \"naive\", \"steps\": [",
        0, 0);
    for (uint32_t i = 0; i < n; i++) {
        if (i) put(text, ", ", 0, 0);
        if (s[i].in_loop && (!i || !s[i - 1].in_loop)) put(text, "{\"loop\": \"2\"}, ", 0, 0);
        put(text, "{\"launch\": \"add\", \"blocks\": \"1\", ", 0, 0);
        if (s[i].early) put(text, "\"early\": true, ", 0, 0);
        if (s[i].waits) put(text, "\"waits_first\": true, ", 0, 0);
        if (s[i].writes) put(text, "\"waits_to_write\": true, ", 0, 0);
        put(text, "\"args\": [{\"temp\": \"t%u\"}, {\"temp\": \"t%u\"}]}", s[i].a, s[i].b);
        if (s[i].in_loop && (i + 1 == n || !s[i + 1].in_loop)) put(text, ", {\"end\": true}", 0, 0);
    }
    put(text,
        "]}], \"spaces\": [], \"kernels\": [{\"name\": \"add\", \"block\": 1, \"params\": [\"ptr\", \"ptr\"]}], \"temps\": [",
        0, 0);
    for (uint32_t t = 0; t < TEMPS; t++) {
        if (t) put(text, ", ", 0, 0);
        put(text, "{\"name\": \"t%u\", \"type\": \"f32\", \"length\": \"%u\"}", t, length[t]);
    }
    put(text, "]}", 0, 0);
    GOOD(c, gnn_program_load(c, text, strlen(text), &spmm_code, p));
    GOOD(c, gnn_plan_new(*p, &(gnn_plan_options){0}, &plan));
    return plan;
}

static void offsets_of(const gnn_plan *plan, const step *s, uint32_t n, int64_t *at) {
    const rt_ready *r = &plan->ready[0];
    for (uint32_t i = 0, k = 0; i < n; i++, k++) {
        while (r->steps[k].kind != RT_LAUNCH) k++;
        at[s[i].a] = (int64_t)r->steps[k].patches[0].offset;
        at[s[i].b] = (int64_t)r->steps[k].patches[1].offset;
    }
}

static bool touches(const step *s, uint32_t t) { return s->a == t || s->b == t; }

static uint32_t first_of(const step *s, uint32_t t) {
    uint32_t i = 0;
    while (!touches(&s[i], t)) i++;
    return i;
}

// Whether step i has ended when step j, after it, touches a temp.
static bool ended(const step *s, uint32_t i, uint32_t j, uint32_t t) {
    if (s[i].in_loop && s[j].in_loop) return false;   // j of one round comes before i of the next
    if (!s[j].early || s[j].waits || (s[j].writes && first_of(s, t) == j)) return true;
    for (uint32_t h = i + 1; h <= j; h++)
        // nothing goes across a loop's ends early
        if (!s[h].early || s[h].in_loop != s[h - 1].in_loop) return true;
    return false;
}

static bool at_once(const step *s, uint32_t n, uint32_t p, uint32_t q) {
    bool before = true, after = true;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            if (!touches(&s[i], p) || !touches(&s[j], q)) continue;
            before &= i < j && ended(s, i, j, q);
            after &= j < i && ended(s, j, i, p);
        }
    return !before && !after;
}

static bool used(const step *s, uint32_t n, uint32_t t) {
    for (uint32_t i = 0; i < n; i++)
        if (touches(&s[i], t)) return true;
    return false;
}

static void random_versions(void) {
    uint64_t r = 5;
    int shared = 0, apart = 0;
    for (int trial = 0; trial < 2000; trial++) {
        step s[STEPS];
        uint32_t n = 1 + (uint32_t)random_below(&r, STEPS), length[TEMPS];
        uint32_t from = (uint32_t)random_below(&r, 2 * STEPS),
                 to = from + (uint32_t)random_below(&r, 5);
        for (uint32_t t = 0; t < TEMPS; t++) length[t] = (uint32_t)random_below(&r, 400);
        for (uint32_t i = 0; i < n; i++) {
            bool in = i >= from && i < to, alone = !i || in != (i - 1 >= from && i - 1 < to);
            s[i] = (step){.in_loop = in,
                          .early = !alone && random_below(&r, 4),
                          .a = (uint32_t)random_below(&r, TEMPS),
                          .b = (uint32_t)random_below(&r, TEMPS)};
            s[i].waits = s[i].early && random_below(&r, 2);
            s[i].writes = s[i].early && !s[i].waits && random_below(&r, 2);
        }
        gnn_program *p = NULL;
        gnn_plan *plan = planned(s, n, length, &p);
        int64_t at[TEMPS];
        offsets_of(plan, s, n, at);
        for (uint32_t x = 0; x < TEMPS; x++)
            for (uint32_t y = 0; y < x; y++) {
                if (!used(s, n, x) || !used(s, n, y) || !length[x] || !length[y]) continue;
                int64_t a = (length[x] * 4 + 255) / 256 * 256,
                        b = (length[y] * 4 + 255) / 256 * 256;
                bool meet = at[x] < at[y] + b && at[y] < at[x] + a;
                CHECK(!meet || !at_once(s, n, x, y));
                CHECK(at[x] % 256 == 0 && (size_t)(at[x] + a) <= gnn_plan_workspace(plan));
                shared += meet;
                apart += !at_once(s, n, x, y);
            }
        gnn_plan_free(plan);
        gnn_program_free(p);
    }
    CHECK(shared > apart / 2);
}

// Three layers in turn, each from the one before: two buffers do. Early ones that run ahead have
// one each.
static void chains(void) {
    step s[] = {{.a = 0, .b = 0}, {.a = 0, .b = 1}, {.a = 1, .b = 2},
                {.a = 2, .b = 3}, {.a = 3, .b = 4}, {.a = 4, .b = 5}};
    const uint32_t length[TEMPS] = {64, 64, 64, 64, 64, 64};
    for (int early = 0; early < 3; early++) {
        gnn_program *p = NULL;
        for (uint32_t i = 1; i < 6; i++) s[i].early = early, s[i].waits = early == 1;
        gnn_plan *plan = planned(s, 6, length, &p);
        CHECK(gnn_plan_workspace(plan) == (early == 2 ? 6 : 2) * 256);
        gnn_plan_free(plan);
        gnn_program_free(p);
    }
}

// What an early launch leaves lies where those before it read, if it waits to write it: not what it
// found there.
static void parts(void) {
    const uint32_t length[TEMPS] = {64, 64, 64, 64, 64, 64};
    for (int writes = 0; writes < 2; writes++)
        for (uint32_t found = 0; found < 2; found++) {
            step s[] = {{.a = 0, .b = 0},
                        {.a = found ? 2 : 0, .b = 0},
                        {.a = 1, .b = found ? 2 : 1, .early = true, .writes = writes}};
            gnn_program *p = NULL;
            gnn_plan *plan = planned(s, 3, length, &p);
            CHECK(gnn_plan_workspace(plan) == (2 - (size_t)writes + found) * 256);
            gnn_plan_free(plan);
            gnn_program_free(p);
        }
}

int main(void) {
    ledger l;
    c = new_context(&l, 1);
    random_versions();
    chains();
    parts();
    end_context(c, &l);
    return failed;
}
