// Manifests that aren't valid: each is refused with the place and the reason, and none crashes.
#include "Inputs/harness.h"

static gnn_context *c;
static const char good[] = SPMM("host", "32");

static gnn_status load(const char *text, size_t length) {
    gnn_program *p = NULL;
    gnn_status s = gnn_program_load(c, text, length, &spmm_code, &p);
    CHECK(!s == !!p);
    gnn_program_free(p);
    return s;
}

// The good manifest with one piece of text replaced.
static gnn_status load_with(const char *from, const char *to) {
    char text[8192];
    const char *at = strstr(good, from);
    if (!at) {
        failed = 1;
        printf("the manifest has no `%s`\n", from);
        return GNN_OK;
    }
    int n = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
    return load(text, (size_t)n);
}

#define NAMED "\"name\": \"naive\", "
#define WITH(guards) NAMED "\"guards\": [" guards "], "
static const struct {
    const char *from, *to, *error;
} rows[] = {
    {"{\"gnnc_manifest\": 1,", "{",
     "manifest: the text isn't a manifest: it lacks \"gnnc_manifest\""},
    {"manifest\": 1", "manifest\": 2", "manifest: version 2; this runtime reads version 1"},
    {"\"name\": \"spmm\"", "\"name\": 1", "manifest: \"name\" and \"target\" must be texts"},
    {"bits\": 32", "bits\": 16", "manifest: \"index_bits\" must be 32 or 64"},
    {"\"spaces\": [", "\"spaces\": 1, \"x\": [", "manifest: \"spaces\" is not a list"},
    {"\"spaces\": [", "\"spaces\": [1, ", "manifest: spaces[0]: is not an object"},
    {"{\"name\": \"U\"", "{\"name\": \"E\"", "manifest: spaces[1] (E): the name stands twice"},
    {"{\"name\": \"U\", \"kind\"", "{\"kind\"", "manifest: spaces[1]: needs a text \"name\""},
    {"{\"name\": \"U\", \"kind\": \"free\"", "{\"name\": \"U\", \"kind\": \"some\"",
     "manifest: spaces[1] (U): there is no kind `some`"},
    {"\"size\": \"3\"", "\"size\": \"E Q *\"",
     "manifest: spaces[4] (three): \"size\": `Q` is neither a number, an operator, a space, a statistic of maps nor a number of the device"},
    {"\"size\": \"3\"", "\"size\": \"max(dst)\"",
     "manifest: spaces[4] (three): a size can't be a statistic of maps or a number of the device"},
    {"\"const\", \"size\": \"3\"", "\"count\", \"prepared\": 1",
     "manifest: spaces[4] (three): needs an integer \"prepared\" from 0 to 0"},
    {"\"const\", \"size\": \"3\"", "\"count\", \"prepared\": 0",
     "manifest: spaces[4] (three): `offsets(dst)` doesn't count it"},
    {"\"role\": \"map\"", "\"role\": \"mop\"", "manifest: params[0] (src): there is no role `mop`"},
    {"\"type\": \"index\"", "\"type\": \"f32\"",
     "manifest: params[0] (src): a map's type must be index"},
    {"\"type\": \"f32\"", "\"type\": \"f33\"", "manifest: params[2] (x): there is no type `f33`"},
    {"\"type\": \"f32\"", "\"type\": \"index\"",
     "manifest: params[2] (x): a tensor's type can't be index: index arrays are maps"},
    {"[\"sorted\"]", "[\"sotred\"]", "manifest: params[1] (dst): there is no fact `sotred`"},
    {"[\"sorted\"]", "[1]", "manifest: params[1] (dst): \"facts\" must be texts"},
    {"[\"sorted\"]", "[\"sorted(dst)\"]",
     "manifest: params[1] (dst): `sorted(dst)`: there is no such other map"},
    {"[\"sorted\"]", "[\"sorted(x)\"]",
     "manifest: params[1] (dst): `sorted(x)`: there is no such other map"},
    {"[\"sorted\"]", "[\"strided\"]", "manifest: params[1] (dst): has a fact its role cannot have"},
    {"[\"strided\"]", "[\"sorted\"]", "manifest: params[2] (x): has a fact its role cannot have"},
    {"\"axes\": [\"E\"]", "\"axes\": [\"Q\"]",
     "manifest: params[0] (src): axes: there is no space `Q`"},
    {"\"axes\": [\"E\"]", "\"axes\": []", "manifest: params[0] (src): a map needs axes"},
    {"\"axes\": [\"E\"]", "\"axes\": [\"E\",\"E\",\"E\",\"E\",\"E\",\"E\",\"E\",\"E\",\"E\"]",
     "manifest: params[0] (src): \"axes\" must be a list of at most 8"},
    {", \"into\": \"U\"", "", "manifest: params[0] (src): a map needs \"into\""},
    {"\"axes\": [\"U\", \"F\"]", "\"axes\": [\"U\", \"F\"], \"into\": \"U\"",
     "manifest: params[2] (x): \"into\" is for indices"},
    {"\"axes\": [\"U\", \"F\"]", "\"axes\": [\"U\", \"F\"], \"inplace\": \"x\"",
     "manifest: params[2] (x): \"inplace\" is for results in the memory of tensors"},
    {"\"axes\": [\"U\", \"F\"]", "\"axes\": [\"U\", \"F\"], \"align\": 12",
     "manifest: params[2] (x): \"align\" must be a power of two"},
    {"\"role\": \"scalar\", \"type\": \"f32\"",
     "\"role\": \"scalar\", \"type\": \"f32\", \"axes\": [\"F\"]",
     "manifest: params[3] (alpha): a scalar has no axes"},
    {"\"holds\": \"F 13 !=\"", "\"holds\": 1", "manifest: requires[0]: needs a text \"holds\""},
    {"\"builder\": \"offsets\"", "\"builder\": \"sort\"",
     "manifest: prepared[0] (offsets(dst)): there is no builder `sort`"},
    {"\"args\": [\"dst\"]", "\"args\": [\"x\"]",
     "manifest: prepared[0] (offsets(dst)): `x` is neither a map nor a structure prepared before it"},
    {"\"args\": [\"dst\"]", "\"args\": [\"dst\", \"dst\"]",
     "manifest: prepared[0] (offsets(dst)): offsets takes 1 to 1 maps"},
    {"\"args\": [\"dst\"]", "\"args\": [\"offsets(dst)\"]",
     "manifest: prepared[0] (offsets(dst)): `offsets(dst)` is neither a map nor a structure prepared before it"},
    {"\"builder\": \"offsets\"", "\"builder\": \"classes\"",
     "manifest: prepared[0] (offsets(dst)): classes and tiles must count the space they are into"},
    {"\"builder\": \"offsets\"", "\"builder\": \"row_begins\"",
     "manifest: prepared[0] (offsets(dst)): row_begins takes 2 to 2 maps"},
    {"\"builder\": \"offsets\", \"args\": [\"dst\"]",
     "\"builder\": \"row_ends\", \"args\": [\"dst\", \"dst\"], \"extent\": 4",
     "manifest: prepared[0] (offsets(dst)): tiles have an \"extent\", and they alone"},
    // told by a plan
    {"\"builder\": \"offsets\", \"args\": [\"dst\"]",
     "\"builder\": \"row_ends\", \"args\": [\"dst\", \"dst\"]", NULL},
    {"\"length\": \"V F *\"", "\"length\": \"V *\"",
     "manifest: temps[0] (t): \"length\": `*` lacks operands"},
    {"\"block\": 32", "\"block\": 1025",
     "manifest: kernels[0] (gather): needs an integer \"block\" from 1 to 1024"},
    {"\"params\": [\"ptr\"", "\"params\": [], \"were\": [\"ptr\"",
     "manifest: kernels[0] (gather): \"params\" is empty: nothing would be stored"},
    {"\"ptr\", \"i64\"]", "\"ptr\"]",
     "manifest: versions[0] (naive): steps[0]: 7 arguments for the 6 parameters of `gather`"},
    {"\"launch\": \"gather\"", "\"launch\": \"gater\"",
     "manifest: versions[0] (naive): steps[0]: args: there is no kernel `gater`"},
    {"{\"data\": \"src\"}", "{\"date\": \"src\"}",
     "manifest: versions[0] (naive): steps[0]: args: an argument of no known kind"},
    {"{\"data\": \"src\"}", "3",
     "manifest: versions[0] (naive): steps[0]: args: an argument of no known kind"},
    {"{\"data\": \"src\"}", "{\"data\": \"alpha\"}",
     "manifest: versions[0] (naive): steps[0]: args: `alpha` is a scalar"},
    {"{\"data\": \"src\"}", "{\"data\": \"scr\"}",
     "manifest: versions[0] (naive): steps[0]: args: there is no parameter `scr`"},
    {"{\"value\": \"alpha\"}", "{\"value\": \"x\"}",
     "manifest: versions[0] (naive): steps[2]: args: `x` is not a scalar"},
    {"\"axis\": 0", "\"axis\": 2",
     "manifest: versions[0] (naive): steps[0]: stride: `x` has no such axis"},
    {"{\"temp\": \"t\"}", "{\"temp\": \"q\"}",
     "manifest: versions[0] (naive): steps[0]: args: there is no temp `q`"},
    {"{\"prepared\": \"offsets(dst)\"}", "{\"prepared\": \"order(dst)\"}",
     "manifest: versions[0] (naive): steps[0]: args: there is no prepared `order(dst)`"},
    {"{\"size\": \"F\"}", "{\"size\": 1}",
     "manifest: versions[0] (naive): steps[0]: args: there is no space `?`"},
    {"{\"size\": \"F\"}]", "{\"step\": true}]",
     "manifest: versions[0] (naive): steps[0]: a round is asked for outside of loops"},
    {"{\"loop\": \"three\"}", "{\"end\": true}",
     "manifest: versions[0] (naive): steps[1]: an end without its loop"},
    {"{\"loop\": \"three\"}", "{}",
     "manifest: versions[0] (naive): steps[1]: is no launch, loop or end"},
    {", {\"end\": true}", "", "manifest: versions[0] (naive): steps[1]: a loop without its end"},
    {"\"versions\": [", "\"steps\": [", "manifest: there are no versions"},
    {"{\"name\": \"naive\",",
     "{\"name\": \"first\", \"steps\": []}, {" WITH(
         "{\"holds\": \"F 2 ==\", \"text\": \"F == 2\"}"),
     "manifest: versions[1] (naive): the last version must have no guards"},
    {"{\"name\": \"naive\"", "{\"name\": \"naive\"}, {\"name\": \"naive\"",
     "manifest: versions[1] (naive): the name stands twice"},
    {NAMED, "\"name\": \"naive\", \"guards\": 1, ",
     "manifest: versions[0] (naive): \"guards\" must be a list of at most 2048"},
    {NAMED, WITH("{\"holds\": \"F 2 ==\"}"),
     "manifest: versions[0] (naive): guards[0]: needs a text \"text\""},
    {NAMED, WITH("{\"holds\": \"Q\", \"text\": \"Q\"}"),
     "manifest: versions[0] (naive): guards[0]: \"holds\": `Q` is neither a number, an operator, a space, a statistic of maps nor a number of the device"},
    {NAMED, WITH("{\"holds\": \"device(smx)\", \"text\": \"Q\"}"),
     "manifest: versions[0] (naive): guards[0]: \"holds\": `device(smx)` is neither a number, an operator, a space, a statistic of maps nor a number of the device"},
    {NAMED, WITH("{\"aligned\": \"alpha\", \"bytes\": 16}"),
     "manifest: versions[0] (naive): guards[0]: aligned: `alpha` has no array"},
    {NAMED, WITH("{\"aligned\": \"q\", \"bytes\": 16}"),
     "manifest: versions[0] (naive): guards[0]: aligned: there is no parameter `q`"},
    {NAMED, WITH("{\"aligned\": \"x\", \"bytes\": 12}"),
     "manifest: versions[0] (naive): guards[0]: \"bytes\" must be a power of two"},
    {NAMED, WITH("{\"aligned\": \"x\", \"bytes\": 8192}"),
     "manifest: versions[0] (naive): guards[0]: needs an integer \"bytes\" from 1 to 4096"},
    {NAMED, WITH("{\"stride\": \"x\", \"axis\": 2, \"multiple\": 4}"),
     "manifest: versions[0] (naive): guards[0]: needs an integer \"axis\" from 0 to 1"},
    {NAMED, WITH("{\"stride\": \"x\", \"axis\": 1, \"multiple\": 0}"),
     "manifest: versions[0] (naive): guards[0]: needs an integer \"multiple\" from 1 to 2147483647"},
    {NAMED, WITH("{\"pitch\": \"x\"}"),
     "manifest: versions[0] (naive): guards[0]: needs an integer \"axis\" from 0 to 1"},
    {NAMED, WITH("{\"reach\": \"x\"}"),
     "manifest: versions[0] (naive): guards[0]: needs an integer \"below\" from 1 to 9223372036854775807"},
    {NAMED, WITH("{\"aligned\": \"x\", \"bytes\": 4}, {\"near\": \"x\"}"),
     "manifest: versions[0] (naive): guards[1]: a guard of no known kind"},
    {"{\"size\": \"F\"}]", "{\"number\": \"G\"}]",
     "manifest: versions[0] (naive): steps[0]: \"number\": `G` is neither a number, an operator, a space, a statistic of maps nor a number of the device"},
    {"{\"size\": \"F\"}]", "{\"number\": \"max(dst) F +\"}]", NULL},
    {"\"args\": [\"dst\"]", "\"args\": [\"dst\"], \"extent\": 4",
     "manifest: prepared[0] (offsets(dst)): tiles have an \"extent\", and they alone"},
    {"\"args\": [\"dst\"]", "\"args\": [\"dst\"], \"slots\": 0",
     "manifest: prepared[0] (offsets(dst)): only columns and blocks of windows have \"slots\""},
    {"\"args\": [\"dst\"]", "\"args\": [\"dst\"], \"slots\": 4",
     "manifest: prepared[0] (offsets(dst)): only columns and blocks of windows have \"slots\""},
    {"\"builder\": \"offsets\"", "\"builder\": \"tiles\"",
     "manifest: prepared[0] (offsets(dst)): classes and tiles must count the space they are into"},
    {"\"builder\": \"offsets\"", "\"builder\": \"degrees\"", NULL},
    {"\"builder\": \"offsets\"", "\"builder\": \"order_desc\"", NULL},
    {"[\"sorted\"]", "[\"prefix\"]", NULL},   // nobody reads its array
    {"\"facts\": [\"sorted\"], ", "", NULL},
};

static void told(void) {
    for (size_t i = 0; i < RT_COUNT(rows); i++) {
        gnn_status s = load_with(rows[i].from, rows[i].to);
        expect_error(c, s, rows[i].error ? GNN_BAD_MANIFEST : GNN_OK,
                     rows[i].error ? rows[i].error : "", (int)i);
    }
    EXPECT(c, load("{\n\"a\": }", 8), BAD_MANIFEST, "manifest, line 2: a value is wanted");
    EXPECT(c, load("[]", 2), BAD_MANIFEST,
           "manifest: the text isn't a manifest: it lacks \"gnnc_manifest\"");
    GOOD(c, load(good, sizeof good - 1));
}

static void code(void) {
    gnn_program *p;
    EXPECT(c, gnn_program_load(c, good, sizeof good - 1, &(gnn_code){0}, &p), MISSING,
           "spmm: no host kernels are given");
    const gnn_code half = {.kernels = spmm_kernels, .nkernels = 1};
    EXPECT(c, gnn_program_load(c, good, sizeof good - 1, &half, &p), BAD_CODE,
           "spmm: the code has no kernel `gather`");
    static const char cuda[] = SPMM("sm_90a", "32");
    EXPECT(c, gnn_program_load(c, cuda, sizeof cuda - 1, &spmm_code, &p), BAD_CODE,
           "spmm is compiled for sm_90a, but the context is the host's");
}

static void tables_too_long(void) {
    static char text[1 << 17];
    strcpy(
        text,
        "{\"gnnc_manifest\": 1, \"name\": \"a\", \"target\": \"host\", \"index_bits\": 32, \"temps\": [1");
    for (int i = 0; i < 2048; i++) strcat(text, ",1");
    strcat(text, "]}");
    EXPECT(c, load(text, strlen(text)), BAD_MANIFEST,
           "manifest: \"temps\" has more than 2048 rows");
}

static void loops_too_deep(void) {
    char text[4096] =
        "{\"gnnc_manifest\": 1, \"name\": \"a\", \"target\": \"host\", \"index_bits\": 32, \"versions\": [{\"name\": \"naive\", \"steps\": [{\"loop\": \"1\"}";
    for (int i = 0; i < 16; i++) strcat(text, ",{\"loop\": \"1\"}");
    strcat(text, "]}]}");
    EXPECT(c, load(text, strlen(text)), BAD_MANIFEST,
           "manifest: versions[0] (naive): steps[16]: loops are nested too deeply");
}

// compose(m, m) of the one before, again and again: a key that doubles.
static void recipes_too_long(void) {
    char text[8192] =
        "{\"gnnc_manifest\": 1, \"name\": \"a\", \"target\": \"host\", \"index_bits\": 32,"
        "\"spaces\": [{\"name\": \"V\", \"kind\": \"free\"}], \"params\": [{\"name\": \"m\", \"role\": \"map\","
        "\"type\": \"index\", \"axes\": [\"V\"], \"into\": \"V\"}], \"prepared\": [";
    for (int i = 0; i < 40; i++) {
        char before[8] = "m";
        if (i) snprintf(before, sizeof before, "p%d", i - 1);
        sprintf(text + strlen(text),
                "%s{\"name\": \"p%d\", \"builder\": \"compose\", \"args\": [\"%s\", \"%s\"],"
                "\"domain\": \"V\", \"into\": \"V\"}",
                i ? "," : "", i, before, before);
    }
    strcat(
        text,
        "], \"kernels\": [{\"name\": \"add\", \"block\": 1, \"params\": [\"ptr\"]}], \"versions\": [{\"name\": \"naive\","
        "\"steps\": [{\"launch\": \"add\", \"blocks\": \"1\", \"args\": [{\"prepared\": \"p39\"}]}]}]}");
    gnn_program *p = NULL;
    gnn_plan *plan;
    GOOD(c, gnn_program_load(c, text, strlen(text), &spmm_code, &p));
    const gnn_named_map m = {"m",
                             {.index = (int32_t[]){1, 0}, .width = 32, .domain = 2, .codomain = 2}};
    EXPECT(c, gnn_plan_new(p, &(gnn_plan_options){.maps = &m, .nmaps = 1}, &plan), BAD_MANIFEST,
           "p12: the recipe is too long");
    gnn_program_free(p);
}

// Rows of m, by what is to be an order of them: o is; d says how many entries they have, n leads
// from them, e orders their entries.
#define ROWS(builder, of, domain, into)                                                                                                             \
    "{\"gnnc_manifest\": 1, \"name\": \"a\", \"target\": \"host\", \"index_bits\": 32,"                                                             \
    "\"spaces\": [{\"name\": \"E\", \"kind\": \"free\"}, {\"name\": \"V\", \"kind\": \"free\"}], \"params\": ["                                     \
    "{\"name\": \"m\", \"role\": \"map\", \"type\": \"index\", \"axes\": [\"E\"], \"into\": \"V\"},"                                                \
    "{\"name\": \"n\", \"role\": \"map\", \"type\": \"index\", \"axes\": [\"V\"], \"into\": \"V\"}], \"prepared\": ["                               \
    "{\"name\": \"d\", \"builder\": \"degrees\", \"args\": [\"m\"], \"domain\": \"E\", \"into\": \"V\"},"                                           \
    "{\"name\": \"o\", \"builder\": \"order_desc\", \"args\": [\"d\"], \"domain\": \"V\", \"into\": \"V\"},"                                        \
    "{\"name\": \"e\", \"builder\": \"order\", \"args\": [\"m\"], \"domain\": \"E\", \"into\": \"V\"},"                                             \
    "{\"name\": \"w\", \"builder\": \"window_slots\", \"extent\": 2, \"slots\": 32, \"args\": [\"m\", \"m\"], \"domain\": \"E\", \"into\": \"V\"}," \
    "{\"name\": \"rows\", \"builder\": " builder ", \"args\": [" of "], \"domain\": \"" domain                                                      \
    "\", \"into\": \"" into "\"}],"                                                                                                                 \
    "\"kernels\": [{\"name\": \"add\", \"block\": 1, \"params\": [\"ptr\"]}], \"versions\": [{\"name\": \"naive\","                                 \
    "\"steps\": [{\"launch\": \"add\", \"blocks\": \"1\", \"args\": [{\"prepared\": \"rows\"}]}]}]}"
#define PARTS "\"part_begins\", \"extent\": 2"
#define MASKS(of) "\"window_masks\", " of

static void orders_of_rows(void) {
    static const struct {
        const char *text, *error;
        int64_t at[2];   // where there is no error
    } tries[] = {
        {ROWS("\"row_begins\"", "\"m\", \"o\"", "E", "V"), "", {1, 0}},
        {ROWS("\"row_ends\"", "\"m\", \"o\"", "E", "V"), "", {3, 1}},
        {ROWS("\"row_begins\"", "\"m\", \"n\"", "E", "V"),
         "rows: its second map is no order of its rows",
         {0}},
        {ROWS("\"row_begins\"", "\"m\", \"d\"", "E", "V"),
         "rows: its second map is no order of its rows",
         {0}},
        {ROWS("\"row_begins\"", "\"m\", \"e\"", "E", "V"),
         "rows: its second map is no order of its rows",
         {0}},
        {ROWS("\"row_ends\"", "\"m\", \"n\"", "E", "V"),
         "rows: its second map is no order of its rows",
         {0}},
        {ROWS("\"row_ends\"", "\"m\", \"e\"", "E", "V"),
         "rows: its second map is no order of its rows",
         {0}},
        {ROWS(PARTS, "\"m\", \"n\"", "E", "V"),
         "rows: its second map is no order of its rows",
         {0}},
        {ROWS(PARTS, "\"m\", \"e\"", "E", "V"),
         "rows: its second map is no order of its rows",
         {0}},
        {ROWS(MASKS("\"extent\": 2, \"slots\": 32"), "\"m\", \"w\"", "E", "V"), "", {2, 5}},
        {ROWS(MASKS("\"extent\": 2"), "\"m\", \"w\"", "E", "V"),
         "rows: its slots are those of other windows",
         {0}},
        {ROWS(MASKS("\"extent\": 4, \"slots\": 32"), "\"m\", \"w\"", "E", "V"),
         "rows: its slots are those of other windows",
         {0}},
        {ROWS("\"row_begins\"", "\"m\", \"o\"", "E", "E"),
         "rows: its map goes into another space",
         {0}},
        {ROWS("\"row_ends\"", "\"m\", \"o\"", "V", "V"), "rows: its maps have another domain", {0}},
    };
    const gnn_named_map maps[] = {
        {"m", {.index = (int32_t[]){1, 0, 1}, .width = 32, .domain = 3, .codomain = 2}},
        {"n", {.index = (int32_t[]){1, 0}, .width = 32, .domain = 2, .codomain = 2}}};
    for (size_t i = 0; i < RT_COUNT(tries); i++) {
        gnn_program *p = NULL;
        gnn_plan *plan = NULL;
        GOOD(c, gnn_program_load(c, tries[i].text, strlen(tries[i].text), &spmm_code, &p));
        gnn_status s = gnn_plan_new(p, &(gnn_plan_options){.maps = maps, .nmaps = 2}, &plan);
        expect_error(c, s, *tries[i].error ? GNN_BAD_MANIFEST : GNN_OK, tries[i].error, (int)i);
        for (int64_t k = 0; k < 2 && !s; k++)
            CHECK(rt_get(&plan->prepared[4]->host, k) == tries[i].at[k]);
        if (!s) gnn_plan_free(plan);
        gnn_program_free(p);
    }
}

// A few bytes changed, dropped or doubled anywhere.
static size_t mutate(uint64_t *r, char *text, size_t n) {
    static const char letters[] = "{}[],:\" 0123456789-EUVFtsdxy+*/%!max(dst)";
    for (int64_t k = 1 + random_below(r, 3); k--;) {
        size_t at = (size_t)random_below(r, (int64_t)n - 20), length = (size_t)random_below(r, 20);
        int64_t how = random_below(r, 3);
        if (how == 0) {
            text[at] = letters[random_below(r, sizeof letters - 1)];
        } else if (how == 1) {
            memmove(text + at, text + at + length, n - at - length);
            n -= length;
        } else {
            memmove(text + at + length, text + at, n - at);
            n += length;
        }
    }
    return n;
}

static void plan_of(gnn_program *p) {
    int32_t src[] = {0, 1, 2}, dst[] = {0, 0, 1};
    const gnn_named_map maps[] = {{"src", {.index = src, .width = 32, .domain = 3, .codomain = 3}},
                                  {"dst", {.index = dst, .width = 32, .domain = 3, .codomain = 2}}};
    gnn_plan *plan = NULL;
    gnn_plan_new(
        p, &(gnn_plan_options){.sizes = &(gnn_size){"F", 2}, .nsizes = 1, .maps = maps, .nmaps = 2},
        &plan);
    gnn_plan_free(plan);
}

static void mutated(ledger *l) {
    uint64_t r = 3;
    int loaded = 0;
    for (int i = 0; i < 20000; i++) {
        char text[sizeof good + 100];
        memcpy(text, good, sizeof good);
        size_t n = mutate(&r, text, sizeof good - 1);
        gnn_program *p = NULL;
        int64_t live = l->live;
        if (!gnn_program_load(c, text, n, &spmm_code, &p)) {
            loaded++;
            plan_of(p);
        }
        gnn_program_free(p);
        CHECK(l->live == live);
        gnn_context_clear_error(c);
    }
    CHECK(loaded > 100 && loaded < 10000);
}

int main(void) {
    ledger l;
    c = new_context(&l, 1);
    told();
    code();
    tables_too_long();
    loops_too_deep();
    recipes_too_long();
    orders_of_rows();
    mutated(&l);
    end_context(c, &l);
    return failed;
}
