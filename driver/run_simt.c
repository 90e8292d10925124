// gnnc run x.simt --target=sim: the kernels of a SIMT text, launched one after another in the order
// of the text. Parameters of one name are one buffer; --param NAME=V says what it holds:
//     out:f32[64]: nothing yet    zero:f32[64]    iota:i32[64]: 0, 1, 2 …    random:7:f32[64]    a number,
//     for a scalar
#include "run_memory.h"
#include "run_sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    sim_arg arg;
    gnn_array array;   // rank 0: a scalar
} buffer;
typedef struct {
    driver *d;
    gnn_context *context;
    const simt_module *module;
    VEC(buffer) buffers;
} session;

// ---- Values -------------------------------------------------------------------------------------

static ir_dtype ir_type(gnn_dtype t) {
    for (ir_dtype k = 0; k < DT_COUNT; k++)
        if (k != DT_INDEX && run_dtype(k, 64) == t) return k;
    ICE("dtype %d", (int)t);
}

static void put(gnn_array *a, int64_t i, double x) {
    switch (a->dtype) {
    case GNN_F64:
    case GNN_F32:
    case GNN_BF16:
    case GNN_F16: bind_store(ir_type(a->dtype), a->data, i, x); return;
    case GNN_I32: ((int32_t *)a->data)[i] = (int32_t)x; return;
    case GNN_I64: ((int64_t *)a->data)[i] = (int64_t)x; return;
    case GNN_BOOL: ((uint8_t *)a->data)[i] = x != 0; return;
    case GNN_DTYPE_COUNT: break;
    }
}

// Floats lie in [-1, 1), integers in [0, 1000).
static double random_value(gnn_dtype t, uint64_t word) {
    if (t == GNN_BOOL) return (double)(word & 1);
    if (t == GNN_I32 || t == GNN_I64) return (double)bind_below(word, 1000);
    return (double)(word >> 11) * 0x1p-52 - 1;
}

// ---- What a parameter is ------------------------------------------------------------------------

typedef enum { OUT, ZERO, IOTA, RANDOM, KINDS } kind;

// "f32[64]" to a type and a number of elements.
static bool read_shape(const char *text, gnn_dtype *type, int64_t *n) {
    size_t length = strcspn(text, "[");
    char *end;
    for (*type = 0; *type < GNN_DTYPE_COUNT; (*type)++)
        if (strlen(gnn_dtype_text(*type)) == length && !memcmp(text, gnn_dtype_text(*type), length))
            break;
    if (*type == GNN_DTYPE_COUNT || !text[length]) return false;
    errno = 0;
    *n = strtoll(text + length + 1, &end, 10);
    return end != text + length + 1 && !strcmp(end, "]") && *n >= 0 && !errno;
}

static bool read_array(const char *text, kind *k, uint64_t *seed, gnn_dtype *type, int64_t *n) {
    static const char *const kinds[KINDS] = {"out:", "zero:", "iota:", "random:"};
    for (*k = OUT; *k < KINDS; (*k)++)
        if (!strncmp(text, kinds[*k], strlen(kinds[*k]))) break;
    if (*k == KINDS) return false;
    text += strlen(kinds[*k]);
    char *end = NULL;
    if (*k != RANDOM) return read_shape(text, type, n);
    *seed = strtoull(text, &end, 10);
    return end != text && *end == ':' && read_shape(end + 1, type, n);
}

static bool make_array(session *s, const char *text, buffer *b) {
    kind k;
    uint64_t seed = 0;
    gnn_dtype type;
    int64_t n;
    if (!read_array(text, &k, &seed, &type, &n)) return false;
    gnn_status status = gnn_array_new(s->context, type, 1, &n, &b->array);
    if (status) {
        diag(s->d->ds, runtime_code((int)status, E0822), NO_SPAN, "%s",
             gnn_context_error(s->context));
        return true;
    }
    for (int64_t i = 0; k >= IOTA && i < n; i++)
        put(&b->array, i,
            k == IOTA ? (double)i : random_value(type, bind_random(seed, (uint64_t)i)));
    b->arg.name = b->name;
    b->arg.data = b->array.data;
    b->arg.bytes = (size_t)n * gnn_dtype_bytes(type);
    b->arg.written = k != OUT;
    b->arg.result = k == OUT;
    return true;
}

static bool make_scalar(simt_type t, const char *text, buffer *b) {
    char *end;
    errno = 0;
    if (t.element >= SIMT_F16)
        b->arg.slot = simt_const_bits((simt_element)t.element, strtod(text, &end));
    else b->arg.slot = (uint64_t)strtoll(text, &end, 0);
    return *text && !*end && !errno;
}

static const char *text_of(const session *s, const char *name) {
    const char *found = NULL;
    for (uint32_t i = 0; i < s->d->values[OPT_PARAM].len; i++) {
        const char *text = s->d->values[OPT_PARAM].data[i];
        size_t n = strlen(name);
        if (!strncmp(text, name, n) && text[n] == '=') found = text + n + 1;
    }
    return found;
}

static buffer *find_buffer(session *s, const char *name, size_t length) {
    for (uint32_t i = 0; i < s->buffers.len; i++)
        if (strlen(s->buffers.data[i].name) == length &&
            !memcmp(s->buffers.data[i].name, name, length))
            return &s->buffers.data[i];
    return NULL;
}

static void make_buffer(session *s, const simt_func *f, const simt_param_info *p) {
    buffer b = {.name = p->name};
    const char *text = text_of(s, p->name);
    simt_type t = simt_typeof(f, p->value);
    if (find_buffer(s, p->name, strlen(p->name))) return;
    if (!text)
        usage(s->d, E0818, "kernel '%s' has a parameter '%s': say what it is by --param %s=V",
              f->name, p->name, p->name);
    else if (!(t.element == SIMT_PTR_GLOBAL ? make_array(s, text, &b) : make_scalar(t, text, &b)))
        diag_help(
            usage(s->d, E0818, "'%s' cannot be '%s'", p->name, text),
            "a pointer's values are out:TYPE[N], zero:TYPE[N], iota:TYPE[N] or random:SEED:TYPE[N]; a scalar is a number");
    VEC_PUSH(s->d->arena, &s->buffers, b);
}

static void make_buffers(session *s) {
    for (uint32_t k = 0; k < s->module->funcs.len; k++) {
        const simt_func *f = s->module->funcs.data[k];
        for (uint32_t p = 0; f->kernel && p < f->params.len; p++)
            make_buffer(s, f, &f->params.data[p]);
    }
    for (uint32_t i = 0; i < s->d->values[OPT_PARAM].len; i++) {
        const char *text = s->d->values[OPT_PARAM].data[i];
        size_t n = strcspn(text, "=");
        if (!find_buffer(s, text, n))
            usage(s->d, E0818, "no kernel has a parameter '%.*s'", (int)n, text);
    }
}

// ---- Running ------------------------------------------------------------------------------------

// A text does not say how its kernels are launched: one that waits for the one before is early.
static bool waits(const simt_func *f) {
    for (uint32_t k = 1; k < f->instrs.len; k++)
        if (f->instrs.data[k].op == SIMT_GRID_WAIT) return true;
    return false;
}

static void run_kernel(session *s, sim *simulator, const simt_func *f, int64_t blocks) {
    sim_arg *args = ARENA_ARRAY(s->d->arena, sim_arg, f->params.len + 1);
    for (uint32_t p = 0; p < f->params.len; p++) {
        const char *name = f->params.data[p].name;
        args[p] = find_buffer(s, name, strlen(name))->arg;
    }
    sim_launch(simulator, f->name, args, (uint32_t)blocks, waits(f));
    bool wrong = sim_report(simulator) > 0;
    s->d->mismatch |= wrong;
    printf("%s  sim  blocks=%lld  %s\n", f->name, (long long)blocks, wrong ? "WRONG" : "ran");
}

static void run_kernels(session *s) {
    driver *d = s->d;
    int64_t blocks = option_number(d, OPT_BLOCKS, 1);
    if (blocks > INT32_MAX) usage(d, E0812, "--blocks takes a number up to %d", INT32_MAX);
    make_buffers(s);
    if (diag_errors(d->ds)) return;
    phase(d, "run");
    sim *simulator = sim_new(d->ds, s->module);
    sim_begin(simulator, run_sim_order(d), (uint64_t)option_number(d, OPT_SIM_SEED, 0));
    bool counting = run_profiles(d);
    if (counting) sim_count(simulator);
    for (uint32_t k = 0; k < s->module->funcs.len; k++)
        if (s->module->funcs.data[k]->kernel)
            run_kernel(s, simulator, s->module->funcs.data[k], blocks);
    if (counting) run_profile(d, simulator, stdout);
    sim_free(simulator);
}

static void write_buffers(session *s, const char *folder) {
    if (!folder || !make_folder(s->d, folder)) return;
    for (uint32_t i = 0; i < s->buffers.len; i++) {
        buffer *b = &s->buffers.data[i];
        const char *path = arena_printf(s->d->arena, "%s/%s.npy", folder, b->name);
        if (!b->array.rank || !gnn_array_write_npy(s->context, path, &b->array)) continue;
        s->d->io_fault = true;
        diag(s->d->ds, E0804, NO_SPAN, "%s", gnn_context_error(s->context));
        return;
    }
}

// With the fault that is asked for.
static bool may_run(driver *d, simt_module *m) {
    program p = {.module = m};
    return !option_given(d, OPT_SEED_FAULT) || seed_fault(d, &p);
}

int run_simt(driver *d) {
    session s = {.d = d};
    unit u;
    if (gnn_context_new(&(gnn_context_options){.device = GNN_HOST}, &s.context)) out_of_memory(0);
    if (unit_load(d, d->inputs.data[0], &u) && may_run(d, u.ops.data[0].module)) {
        s.module = u.ops.data[0].module;
        run_kernels(&s);
        if (!diag_errors(d->ds)) write_buffers(&s, option_text(d, OPT_OUT, NULL));
        for (uint32_t i = 0; i < s.buffers.len; i++)
            gnn_array_free(s.context, &s.buffers.data[i].array);
    }
    phase(d, NULL);
    gnn_context_free(s.context);
    stdout_flush(d);
    int status = driver_status(d);
    return status == STATUS_DIAGNOSTICS && d->mismatch ? STATUS_MISMATCH : status;
}
