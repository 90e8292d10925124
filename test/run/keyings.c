// Every way that at most 6 edges lie in at most 4 rows, under every shape of the reduction tree,
// compared with the evaluator: rows without edges, rows that are cut at each place, no edges and no
// rows at all. Each program is built once and runs on all graphs, on the host and on the simulator.
#include "codegen/codegen.h"
#include "codegen/sim.h"
#include "frontend/frontend.h"
#include "passes/passes.h"
#include "tensor_eval.h"

#include <gnnrt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EDGES = 6, MOST_ROWS = 4, WIDTH = 2, MOST_ARGS = 64 };

// ---- Ops and schedules --------------------------------------------------------------------------
enum {
    ON_GPU = 1,
    ON_HOST = 2,
    OF_LANES = 4,   // needs an index f
    IN_ORDER = 8,   // keeps the order of terms
    ATOMIC = 16     // takes sums alone, without an else
};
typedef struct {
    const char *name, *text;
    unsigned takes;   // of a shape's needs: OF_LANES, ATOMIC; IN_ORDER: no others
} tested_op;
static const tested_op ops[] = {
    {"total",
     "op total(dst: E -> V sorted, x: f32[E, F]) -> (y: f32[V, F]) { y[v, f] = sum{e : dst[e] == v} x[e, f]; }\n",
     OF_LANES | ATOMIC},
    {"highest",
     "op highest(dst: E -> V sorted, x: f32[E]) -> (y: f32[V]) { y[v] = max{e : dst[e] == v && x[e] > -0.4 else -1} x[e]; }\n",
     0},
    {"averaged",
     "op averaged(dst: E -> V, x: f32[E]) -> (y: f32[V]) { y[v] = mean{e : dst[e] == v} x[e]; }\n",
     0},
    {"outlying",
     "op outlying(dst: E -> V partial, x: f32[E]) -> (y: f32[V]) { y[v] = sum{e : dst[e] == v else 9} x[e]; }\n",
     0},
    {"weighed",   // its identity is not neutral
     "reducer weight(x) -> (m) commutative { state (n, m);  identity (0, 0);  lift (1, x);\n"
     "    combine (n + n', (n * m + n' * m') / (n + n'));  finish (m); }\n"
     "op weighed(dst: E -> V, x: f32[E]) -> (y: f32[V]) { y[v] = weight{e : dst[e] == v && x[e] > -0.6 else 7} x[e]; }\n",
     0},
    {"fading",   // not commutative
     "reducer fade(x) -> (s) { state (a, s);  identity (1, 0);  lift (0.5, x);  combine (a * a', a' * s + s');  finish (s); }\n"
     "op fading(dst: E -> V, x: f32[E]) -> (y: f32[V]) { y[v] = fade{e : dst[e] == v} x[e]; }\n",
     IN_ORDER},
};

typedef struct {
    const char *text;
    unsigned needs;
} shape;
static const shape shapes[] = {
    // A block or a group owns whole rows.
    {"block v 2", ON_GPU | ON_HOST | IN_ORDER},
    {"block v 2; lanes e 2", ON_GPU},
    {"block v 1; lanes e 4; groups e 2", ON_GPU},
    {"block v 2; groups v 2; registers e 2; unroll e 2", ON_GPU},
    // A last round of fewer steps: after the full ones, in a loop of its own for each lane, or
    // together.
    {"block v 2; unroll e 4 masked", ON_GPU | ON_HOST | IN_ORDER},
    {"block v 8; groups v 2; lanes v 4; unroll e 3 masked", ON_GPU | IN_ORDER},
    {"block v 4; lanes v 2; lanes e 2; unroll e 2 masked", ON_GPU},
    {"block v 2; registers e 2; unroll e 2 masked", ON_GPU | ON_HOST},
    {"block v 1; split e 3; unroll e 2 masked", ON_GPU | ON_HOST | IN_ORDER},
    {"block e 5; unroll e 3 masked", ON_GPU | ON_HOST | IN_ORDER},
    {"block e 4; groups e 2; lanes f 2; unroll e 3 masked", ON_GPU | OF_LANES},
    {"block v 1; split e 1", ON_GPU | ON_HOST | IN_ORDER},
    {"block v 2; split e 2; lanes e 2", ON_GPU},
    {"block v 1; split e 3; groups e 2", ON_GPU},
    // A block or a group owns positions, whatever their rows.
    {"block e 1", ON_GPU | ON_HOST | IN_ORDER},
    {"block e 2", ON_GPU | ON_HOST | IN_ORDER},
    {"block e 3", ON_GPU | ON_HOST | IN_ORDER},
    {"block e 4", ON_GPU | ON_HOST | IN_ORDER},
    {"block e 2; groups e 2", ON_GPU | IN_ORDER},
    {"block e 4; groups e 2", ON_GPU | IN_ORDER},
    {"block e 6; groups e 3; block v 1", ON_GPU | IN_ORDER},
    {"block e 4; tile e 2", ON_GPU | ON_HOST | IN_ORDER},
    {"block e 5; unroll e 2", ON_GPU | ON_HOST | IN_ORDER},
    {"block e 4; tile e 4; unroll e 2; lanes v 2; block v 4", ON_GPU | IN_ORDER},
    {"block e 4; groups e 2; lanes f 2", ON_GPU | OF_LANES},
    {"block e 3; vector f 2", ON_GPU | ON_HOST | OF_LANES},
    {"block e 3; collapse v, f; block v 4; groups v 4", ON_GPU | OF_LANES},
    // They meet in memory.
    {"block e 3; combine e atomic", ON_GPU | ON_HOST | ATOMIC},
    {"block e 4; groups e 2; vector f 2; combine e atomic", ON_GPU | OF_LANES | ATOMIC},
    {"block v 2; split e 2; combine e atomic", ON_GPU | ON_HOST | ATOMIC},
};

#define COUNT(x) (sizeof(x) / sizeof *(x))

static const char *source_text(arena *a) {
    textbuf out = textbuf_new(a);
    for (uint32_t o = 0; o < COUNT(ops); o++) {
        textbuf_puts(&out, ops[o].text);
        for (uint32_t s = 0; s < COUNT(shapes); s++) {
            unsigned special = shapes[s].needs & (OF_LANES | ATOMIC);
            bool fits = (ops[o].takes & special) == special &&
                        (shapes[s].needs & IN_ORDER || !(ops[o].takes & IN_ORDER));
            for (unsigned on = ON_GPU; fits && on <= ON_HOST; on *= 2)
                if (shapes[s].needs & on)
                    textbuf_printf(&out, "schedule %s s%u%s { %s; }\n", ops[o].name, s,
                                   on == ON_HOST ? "h for host" : "", shapes[s].text);
        }
    }
    return out.data;
}

// ---- Programs -----------------------------------------------------------------------------------
typedef struct {
    arena *a;
    source_map *sources;
    diag_set *ds;
    gnn_context *host, *gpu;
    gnn_simulator hook;
    sim *sim;   // of the program at hand
    const simt_module *module;
    uint64_t runs, faults;
} session;

static void fail(const session *t, const char *what) {
    diag_print(t->ds, stdout);
    printf("%s\n", what);
    exit(1);
}

static void launch(void *user, const char *kernel, const uint64_t *slots, const gnn_extent *x,
                   uint32_t blocks, bool early) {
    const session *t = user;
    uint32_t n = simt_func_find(t->module, kernel)->params.len;
    sim_arg args[MOST_ARGS];
    if (n > MOST_ARGS) fail(t, "too many arguments");
    for (uint32_t i = 0; i < n; i++)
        args[i] = (sim_arg){slots[i],     x[i].name,   x[i].data,   x[i].bytes,
                            x[i].written, x[i].result, x[i].scratch};
    sim_launch(t->sim, kernel, args, blocks, early);
}

typedef struct {
    const tensor_op *op;
    gnn_program *gpu, *host;
    sim *sim;
    cg_jit *jit;
    const simt_module *module;   // the GPU's
} built;

static gnn_program *load(session *t, frontend_unit *u, uint32_t i, built *b, bool on_host) {
    cg_target target = {on_host ? CG_HOST : CG_CUDA, on_host ? NULL : gpu_arch_find("sm_90")};
    schedule_list list = {0};
    pass_options o = {.index_bits = 32, .nondeterministic = true, .after = {.verify = PASS_VERIFY}};
    if (!frontend_schedules(u, i, on_host ? "host" : "sm_90", b->op, &list, &(schedule_choice){0}))
        fail(t, "schedules");
    program *p = pass_scheduled(t->a, t->ds, b->op, list.data, list.len, on_host ? "host" : "cuda",
                                &o, NULL, NULL);
    if (!p) fail(t, "plan");
    gnn_code code = {0};
    if (on_host) {
        cg_options options = {.optimise = 1, .sources = t->sources};
        cg_jit *j = b->jit = cg_jit_new(t->a, t->ds, p->module, &options);
        gnn_host_kernel *kernels = ARENA_ARRAY(t->a, gnn_host_kernel, p->module->funcs.len);
        for (uint32_t f = 0; j && f < p->module->funcs.len; f++) {
            const simt_func *k = p->module->funcs.data[f];
            if (k->kernel)
                kernels[code.nkernels++] = (gnn_host_kernel){k->name, cg_jit_kernel(j, k->name)};
        }
        code.kernels = kernels;
    } else {
        b->module = p->module;
        b->sim = sim_new(t->ds, p->module);
    }
    textbuf manifest = textbuf_new(t->a);
    cg_manifest(&manifest, p, &target);
    gnn_program *out;
    if (gnn_program_load(on_host ? t->host : t->gpu, manifest.data, manifest.len, &code, &out))
        fail(t, "load");
    return out;
}

// ---- Graphs -------------------------------------------------------------------------------------
typedef struct {
    int32_t key[MOST_EDGES];
    uint32_t edges, rows;
} keying;

// Sorted as they are; else turned about, so that rows lie apart. Where a map is partial, the last
// row is none.
static keying keying_for(const tensor_op *op, const keying *k) {
    uint32_t facts = op->vals.data[0].facts;
    keying out = *k;
    for (uint32_t e = 0; e < k->edges && !(facts & FACT_SORTED); e++)
        out.key[e] = k->key[(e * 5 + 3) % k->edges];
    for (uint32_t e = 0; e < k->edges && k->edges == 5 && !(facts & FACT_SORTED); e++)
        out.key[e] = k->key[(e * 2 + 1) % 5];
    for (uint32_t e = 0; e < k->edges && facts & FACT_PARTIAL; e++)
        if (out.key[e] == (int32_t)k->rows - 1) out.key[e] = -1;
    return out;
}

static int64_t size_of(const tensor_op *op, tensor_space s, const keying *k) {
    const char *name = op->spaces.data[s].name;
    return *name == 'E' ? k->edges : *name == 'V' ? k->rows : WIDTH;
}

static tensor_evaluated evaluate(session *t, arena *a, const tensor_op *op, const keying *k,
                                 float *x) {
    int64_t sizes[8], wide[MOST_EDGES + 1];
    tensor_array inputs[4] = {
        {.type = DT_INDEX, .rank = 1, .shape = {k->edges}, .data = wide},
        {.type = DT_F32, .rank = op->vals.data[1].rank, .shape = {k->edges, WIDTH}, .data = x}};
    for (tensor_space s = 0; s < op->spaces.len; s++) sizes[s] = size_of(op, s, k);
    for (uint32_t e = 0; e < k->edges; e++) wide[e] = k->key[e];
    tensor_evaluated out;
    const char *why = "";
    if (!tensor_eval(a, op, &(tensor_eval_input){.sizes = sizes, .inputs = inputs}, &out, &why))
        fail(t, why);
    return out;
}

// ---- Running ------------------------------------------------------------------------------------
static gnn_tensor packed(const tensor_op *op, tensor_val v, const keying *k, float *data) {
    const tensor_val_info *i = &op->vals.data[v];
    gnn_tensor x = {.data = data, .dtype = GNN_F32, .rank = i->rank};
    for (uint32_t a = 0; a < i->rank; a++) x.shape[a] = size_of(op, i->axes[a], k);
    return x;
}

static void report(session *t, const char *op, const char *version, const keying *k,
                   const char *what) {
    if (t->faults++ > 20) return;
    printf("%s, %s, %u rows, keys", op, version, k->rows);
    for (uint32_t e = 0; e < k->edges; e++) printf(" %d", (int)k->key[e]);
    printf(": %s\n", what);
}

static void run(session *t, gnn_program *p, gnn_context *c, const tensor_op *op,
                const char *version, const keying *k, float *x, const tensor_evaluated *want) {
    float y[MOST_ROWS * WIDTH + 1];
    gnn_named_map map = {op->vals.data[0].name,
                         {.index = k->key, .width = 32, .domain = k->edges, .codomain = k->rows}};
    gnn_size sizes[8];
    gnn_plan_options o = {.maps = &map, .nmaps = 1, .sizes = sizes, .version = version};
    for (tensor_space s = 0; s < op->spaces.len; s++)
        sizes[o.nsizes++] = (gnn_size){op->spaces.data[s].name, size_of(op, s, k)};
    gnn_tensor in = packed(op, 1, k, x), out = packed(op, 2, k, y);
    gnn_arg args[3] = {{0}, {.tensor = &in}, {.tensor = &out}};
    gnn_plan *plan = NULL;
    void *workspace = NULL;
    memset(y, 0xAA, sizeof y);
    if (t->sim) sim_begin(t->sim, SIM_RANDOM, t->runs);
    bool good = !gnn_plan_new(p, &o, &plan) &&
                !gnn_alloc(c, gnn_plan_workspace(plan), &workspace) &&
                (!workspace || !gnn_fill(c, workspace, 0xAA, gnn_plan_workspace(plan), NULL)) &&
                !gnn_launch(plan, args, 3, workspace, gnn_plan_workspace(plan), NULL);
    if (!good) report(t, op->name, version, k, gnn_context_error(c));
    else if (t->sim && sim_report(t->sim))
        report(t, op->name, version, k, "the simulator found a fault");
    tensor_array is = {.type = DT_F32, .rank = want->rank, .data = y};
    for (uint32_t a = 0; a < want->rank; a++) is.shape[a] = want->shape[a];
    if (good && tensor_compare(want, &is).wrong) report(t, op->name, version, k, "wrong");
    gnn_context_clear_error(c);
    gnn_free(c, workspace);
    gnn_plan_free(plan);
    t->runs++;
}

static void run_all(session *t, const built *b, const keying *sorted) {
    float x[MOST_EDGES * WIDTH + 1];
    keying k = keying_for(b->op, sorted);
    arena *a = arena_new();
    for (uint32_t i = 0; i < MOST_EDGES * WIDTH; i++) x[i] = (float)((i * 7 + 3) % 11) / 4 - 1;
    tensor_evaluated want = evaluate(t, a, b->op, &k, x);
    t->sim = b->sim;
    t->module = b->module;
    for (uint32_t v = 0; v < gnn_program_versions(b->gpu); v++)
        run(t, b->gpu, t->gpu, b->op, gnn_program_version(b->gpu, v), &k, x, &want);
    t->sim = NULL;
    for (uint32_t v = 0; v < gnn_program_versions(b->host); v++)
        run(t, b->host, t->host, b->op, gnn_program_version(b->host, v), &k, x, &want);
    arena_free(a);
}

// Keys do not fall: from the last edge's on, for each edge still to come.
static void each_keying(session *t, const built *b, uint32_t nbuilt, keying *k, uint32_t from) {
    if (from == k->edges || from == MOST_EDGES) {
        for (uint32_t i = 0; i < nbuilt; i++) run_all(t, &b[i], k);
        return;
    }
    for (int32_t key = from ? k->key[from - 1] : 0; key < (int32_t)k->rows; key++) {
        k->key[from] = key;
        each_keying(t, b, nbuilt, k, from + 1);
    }
}

static void free_all(session *t, const built *b, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        gnn_program_free(b[i].gpu);
        gnn_program_free(b[i].host);
        sim_free(b[i].sim);
        cg_jit_free(b[i].jit);
    }
    gnn_context_free(t->gpu);
    gnn_context_free(t->host);
    arena_free(t->a);
}

static const char *read_nothing(void *user, arena *a, const char *path, size_t *length) {
    (void)user, (void)a, (void)path, (void)length;
    return NULL;
}

int main(void) {
    static const char *const targets[] = {"host", "sm_90"};
    session t = {.a = arena_new()};
    t.sources = source_map_new(t.a);
    t.ds = diag_set_new(t.a, t.sources);
    t.hook = (gnn_simulator){.device = {.devices = 1, .sm = 90, .sms = 4, .shared_bytes = 1 << 17},
                             .launch = launch,
                             .user = &t};
    gnn_context_options on_host = {.device = GNN_HOST, .threads = 1}, on_gpu = on_host;
    on_gpu.simulator = &t.hook;
    if (gnn_context_new(&on_host, &t.host) || gnn_context_new(&on_gpu, &t.gpu)) fail(&t, "context");
    const char *text = source_text(t.a);
    frontend_options o = {
        .read = read_nothing, .targets = targets, .ntargets = 2, .nondeterministic = true};
    frontend_unit *u = frontend_load(t.a, t.ds, "keyings.gnn", text, strlen(text), &o);
    built b[COUNT(ops)];
    uint32_t nbuilt = 0;
    for (uint32_t i = 0; u && i < u->ops.len && !diag_errors(t.ds); i++) {
        if (u->ops.data[i].imported) continue;
        b[nbuilt] = (built){.op = frontend_lower(u, i)};
        b[nbuilt].gpu = load(&t, u, i, &b[nbuilt], false);
        b[nbuilt].host = load(&t, u, i, &b[nbuilt], true);
        nbuilt++;
    }
    if (nbuilt != COUNT(ops)) fail(&t, "not every op was built");
    for (keying k = {.rows = 0}; k.rows <= MOST_ROWS; k.rows++)
        for (k.edges = 0; k.edges <= (k.rows ? MOST_EDGES : 0); k.edges++)
            each_keying(&t, b, nbuilt, &k, 0);
    diag_print(t.ds, stdout);
    printf("%llu runs, %llu faults\n", (unsigned long long)t.runs, (unsigned long long)t.faults);
    bool bad = t.faults || diag_errors(t.ds) || t.runs < 10000;
    free_all(&t, b, nbuilt);
    return bad;
}
