// Maps handed to a plan: each fault is told by array, position and value; both widths, offsets
// alone, prefix and several axes work.
#include "Inputs/harness.h"

#define HEAD                                                                                       \
    "{\"gnnc_manifest\": 1, \"name\": \"op\", \"target\": \"host\", \"index_bits\": 32, "          \
    "\"versions\": [{\"name\": \"naive\"}], \"spaces\": ["                                         \
    "{\"name\": \"E\", \"kind\": \"free\"}, {\"name\": \"V\", \"kind\": \"free\"}, {\"name\": \"R\", \"kind\": \"free\"}], "
#define MAP(name, facts, axes, into)                                                               \
    "{\"name\": \"" name "\", \"role\": \"map\", \"type\": \"index\", \"facts\": [" facts          \
    "], \"axes\": [" axes "], \"into\": \"" into "\"}"
#define ONE(facts) HEAD "\"params\": [" MAP("m", facts, "\"E\"", "V") "]}"

static gnn_context *c;

static gnn_program *load(const char *text) {
    gnn_program *p = NULL;
    GOOD(c, gnn_program_load(c, text, strlen(text), &(gnn_code){0}, &p));
    return p;
}

static gnn_status plan_of(gnn_program *p, const gnn_named_map *maps, size_t nmaps, uint32_t flags,
                          gnn_plan **out) {
    const gnn_size sizes[] = {{"R", 4}, {"V", 5}};
    return gnn_plan_new(
        p,
        &(gnn_plan_options){
            .sizes = sizes, .nsizes = 2, .maps = maps, .nmaps = nmaps, .flags = flags},
        out);
}

static gnn_status try_map(const char *manifest, gnn_map m, uint32_t flags) {
    gnn_program *p = load(manifest);
    gnn_plan *plan = NULL;
    gnn_status s = plan_of(p, &(gnn_named_map){"m", m}, 1, flags, &plan);
    CHECK(!s == !!plan);
    gnn_plan_free(plan);
    gnn_program_free(p);
    return s;
}

#define M32(...)                                                                                   \
    ((gnn_map){.index = (int32_t[]){__VA_ARGS__},                                                  \
               .width = 32,                                                                        \
               .codomain = 5,                                                                      \
               .domain = sizeof((int32_t[]){__VA_ARGS__}) / 4})
#define M64(...)                                                                                   \
    ((gnn_map){.index = (int64_t[]){__VA_ARGS__},                                                  \
               .width = 64,                                                                        \
               .codomain = 5,                                                                      \
               .domain = sizeof((int64_t[]){__VA_ARGS__}) / 8})
#define OFFSETS(n, ...)                                                                            \
    ((gnn_map){.offsets = (int64_t[]){__VA_ARGS__}, .width = 64, .codomain = 5, .domain = n})

static void one_map(void) {
    GOOD(c, try_map(ONE(""), M32(4, 0, 3), 0));
    GOOD(c, try_map(ONE(""), M64(4, 0, 3), 0));
    GOOD(c, try_map(ONE("\"sorted\", \"unique\", \"partial\""), M64(0, 2, -1, -1), 0));
    GOOD(c, try_map(ONE("\"sorted\""), (gnn_map){.width = 32, .codomain = 5}, 0));
    EXPECT(c, try_map(ONE(""), M32(0, 5), 0), BAD_INDEX, "m[1] = 5 is outside V (5)");
    EXPECT(c, try_map(ONE(""), M64(0, 1, 1l << 40), 0), BAD_INDEX,
           "m[2] = 1099511627776 is outside V (5)");
    EXPECT(c, try_map(ONE(""), M32(-1), 0), BAD_INDEX,
           "m[0] = -1 is outside V (5): m is not declared partial");
    EXPECT(c, try_map(ONE("\"partial\""), M32(-1, -2), 0), BAD_INDEX, "m[1] = -2 is outside V (5)");
    EXPECT(c, try_map(ONE("\"sorted\""), M32(0, 1, 4, 3), 0), NOT_SORTED,
           "m[3] = 3 after 4: m is declared sorted");
    EXPECT(c, try_map(ONE("\"sorted\", \"partial\""), M32(-1, 0), 0), NOT_SORTED,
           "m[1] = 0 after -1: m is declared sorted, none come last");
    EXPECT(c, try_map(ONE("\"unique\""), M32(0, 3, 1, 3), 0), NOT_UNIQUE,
           "m[3] = 3 as m[1] is: m is declared unique");
    EXPECT(c, try_map(ONE(""), M64(1l << 40), GNN_TRUSTED), BAD_INDEX,
           "m: 1099511627776 at 0 does not fit 32 bits");
    GOOD(c, try_map(ONE("\"sorted\""), M32(3, 2), GNN_TRUSTED));
}

static void offsets_alone(void) {
    GOOD(c, try_map(ONE("\"sorted\""), OFFSETS(3, 0, 0, 2, 2, 3, 3), 0));
    EXPECT(c, try_map(ONE(""), OFFSETS(3, 0, 0, 2, 2, 3, 3), 0), BAD_ARGUMENT,
           "map m: offsets alone tell it only where it is declared sorted");
    EXPECT(c, try_map(ONE("\"sorted\""), OFFSETS(3, 1, 1, 2, 2, 3, 3), 0), BAD_OFFSETS,
           "offsets of m: [0] = 1 where offsets begin at 0");
    EXPECT(c, try_map(ONE("\"sorted\""), OFFSETS(3, 0, 2, 1, 2, 3, 3), GNN_TRUSTED), BAD_OFFSETS,
           "offsets of m: [2] = 1 after 2");
    EXPECT(c, try_map(ONE("\"sorted\""), OFFSETS(4, 0, 2, 2, 2, 3, 3), 0), BAD_OFFSETS,
           "offsets of m: the last, [5] = 3, is not the number of entries, 4");
    gnn_map both = OFFSETS(3, 0, 0, 2, 2, 3, 3);
    both.index = (int64_t[]){1, 1, 3};
    GOOD(c, try_map(ONE("\"sorted\""), both, 0));
    both.index = (int64_t[]){1, 3, 3};
    EXPECT(c, try_map(ONE("\"sorted\""), both, 0), BAD_OFFSETS,
           "offsets of m: [2] = 2, but 1 of its entries are below 2");
}

static void form(void) {
    gnn_map m = M32(0);
    EXPECT(c, try_map(ONE("\"prefix\""), m, 0), BAD_ARGUMENT,
           "map m is declared prefix: it has no array");
    m.width = 16;
    EXPECT(c, try_map(ONE(""), m, 0), BAD_ARGUMENT, "map m: its width is 16, not 32 or 64");
    m = M32(0);
    m.domain = -1;
    EXPECT(c, try_map(ONE(""), m, 0), BAD_ARGUMENT, "map m: -1 entries into 5 elements");
    m = M32(0);
    m.codomain = 6;
    EXPECT(c, try_map(ONE(""), m, 0), SIZE_MISMATCH, "V is 6 by m, but 5 by the sizes given");
    m = M32(0);
    m.on_device = true;
    EXPECT(c, try_map(ONE(""), m, 0), BAD_ARGUMENT,
           "map m: is said to lie on a device, but the context is the host's");
    m = (gnn_map){.width = 32, .domain = 2, .codomain = 5};
    EXPECT(c, try_map(ONE(""), m, 0), MISSING, "map m: neither index nor offsets are given");
    m = (gnn_map){
        .index = (const char *)(int64_t[]){0, 0} + 2, .width = 32, .domain = 2, .codomain = 5};
    EXPECT(c, try_map(ONE(""), m, 0), MISALIGNED, "map m: its arrays are not aligned to 4 bytes");
    m = (gnn_map){.width = 64, .domain = 1l << 31, .codomain = 5, .index = &m};
    EXPECT(c, try_map(ONE(""), m, 0), TOO_LARGE,
           "E = 2147483648 does not fit the 32-bit indices of op: compile it with --index=64");
}

static void several_axes(void) {
    const char *text = HEAD "\"params\": [" MAP("m", "", "\"R\", \"V\"", "E") "]}";
    int32_t at[20] = {0};
    gnn_map m = {.index = at, .width = 32, .domain = 20, .codomain = 3};
    GOOD(c, try_map(text, m, 0));
    at[13] = 3;
    EXPECT(c, try_map(text, m, 0), BAD_INDEX, "m[2, 3] = 3 is outside E (3)");
    m.domain = 19;
    EXPECT(c, try_map(text, m, 0), SIZE_MISMATCH, "map m has 19 entries, but its axes have 20");
}

static void sorted_by(void) {
    gnn_program *p = load(HEAD "\"params\": [" MAP("m", "\"sorted(k)\"", "\"E\"", "V") ", " MAP(
        "k", "\"partial\"", "\"E\"", "R") "]}");
    gnn_plan *plan = NULL;
    gnn_named_map maps[] = {{"m", M32(3, 0, 4, 1, 0)}, {"k", M32(1, 0, 1, 0, -1)}};
    maps[1].map.codomain = 4;
    GOOD(c, plan_of(p, maps, 2, 0, &plan));
    gnn_plan_free(plan);
    maps[0].map = M32(3, 0, 2, 1, 0);
    EXPECT(c, plan_of(p, maps, 2, 0, &plan), NOT_SORTED,
           "m[2] = 2 after 3: m is declared sorted(k)");
    EXPECT(c, plan_of(p, maps, 1, 0, &plan), MISSING, "map `k` is not given");
    maps[1] = maps[0];
    EXPECT(c, plan_of(p, maps, 2, 0, &plan), BAD_ARGUMENT, "map m is given twice");
    maps[1].name = "z";
    EXPECT(c, plan_of(p, maps, 2, 0, &plan), BAD_ARGUMENT, "op has no map `z`");
    gnn_program_free(p);
}

static void prefix(void) {
    gnn_program *p = load(HEAD "\"params\": [" MAP(
        "m", "\"prefix\"", "\"R\"",
        "V") "],"
             "\"requires\": [{\"text\": \"max(m) == 1\", \"holds\": \"max(m) 1 == min(m) 0 == &&\"}]}");
    gnn_plan *plan = NULL;
    gnn_size sizes[] = {{"R", 4}, {"V", 5}, {"E", 0}};
    const gnn_plan_options o = {.sizes = sizes, .nsizes = 3};
    GOOD(c, gnn_plan_new(p, &o, &plan));
    gnn_plan_free(plan);
    sizes[0].value = 6;
    EXPECT(c, gnn_plan_new(p, &o, &plan), PRECONDITION,
           "prefix map m: its 6 entries do not fit into V (5)");
    gnn_program_free(p);
}

int main(void) {
    ledger l;
    c = new_context(&l, 1);
    one_map();
    offsets_alone();
    form();
    several_axes();
    sorted_by();
    prefix();
    end_context(c, &l);
    return failed;
}
