// libFuzzer: no text makes the readers of tensor, loop and SIMT IR, their verifiers, the evaluator
// or the analysis of uniform values fail, and what is good prints to text that reads back to the
// same text. The first byte chooses the IR: t, l or s.
#include "loop.h"
#include "simt.h"
#include "tensor.h"
#include "tensor_eval.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    arena *arena;
    const char *text;
    size_t length;
} source;

// ---- Tensor IR ----------------------------------------------------------------------------------
static bool read_tensor(const source *s, tensor_ops *ops) {
    diag_set *ds = diag_set_new(s->arena, source_map_new(s->arena));
    *ops = (tensor_ops){0};
    bool good = tensor_parse(
        s->arena, ds, source_map_add(diag_sources(ds), "fuzz.tensor", s->text, s->length), ops);
    if (good == (diag_errors(ds) > 0)) ICE("a result that its diagnostics do not explain");
    return good;
}

// Small sizes and inputs of a few values each; whether they fit is the evaluator's to say.
static void evaluate(arena *a, const tensor_op *op, uint8_t seed) {
    int64_t *sizes = ARENA_ARRAY(a, int64_t, op->spaces.len);
    tensor_array *inputs = ARENA_ARRAY(a, tensor_array, op->nparams);
    tensor_evaluated *results = ARENA_ARRAY(a, tensor_evaluated, op->nparams);
    const char *why = NULL;
    for (uint32_t i = 0; i < op->spaces.len; i++) sizes[i] = (seed + i) % 4;
    tensor_eval_input in = {.sizes = sizes, .inputs = inputs, .max_steps = 3000};
    int64_t *found = ARENA_ARRAY(a, int64_t, op->spaces.len);
    for (uint32_t v = 0; v < op->nparams; v++) {
        const tensor_val_info *info = &op->vals.data[v];
        int64_t points = 1;
        inputs[v] = (tensor_array){.type = info->type, .rank = info->rank};
        for (uint32_t k = 0; k < info->rank; k++) {
            const tensor_space_info *s = &op->spaces.data[info->axes[k]];
            int64_t n = s->kind == SPACE_FREE    ? sizes[info->axes[k]]
                        : s->kind == SPACE_CONST ? s->size
                                                 : 2;
            inputs[v].shape[k] = n;
            // an input that is not there as a whole
            if (n > 100000 || points * n > 100000) return;
            points *= n;
        }
        inputs[v].data = ARENA_ARRAY(a, int64_t, points + 1);
        for (int64_t i = 0; i < points && info->type == DT_INDEX; i++)
            ((int64_t *)inputs[v].data)[i] = i % 2;
        for (int64_t i = 0; i < points && info->type == DT_F32; i++)
            ((float *)inputs[v].data)[i] = (float)(i % 5) - 2;
    }
    tensor_eval_sizes(a, op, &in, found, &why);
    if (tensor_eval(a, op, &in, results, &why) == (why != NULL))
        ICE("a result and a reason against it");
}

static bool print_tensor(const source *s, textbuf *out) {
    tensor_ops ops;
    if (!read_tensor(s, &ops)) return false;
    for (uint32_t i = 0; i < ops.len; i++) tensor_print(out, ops.data[i]);
    return true;
}

static void use_tensor(const source *s) {
    tensor_ops ops;
    if (!read_tensor(s, &ops)) return;
    for (uint32_t i = 0; i < ops.len; i++)
        evaluate(s->arena, ops.data[i], (uint8_t)s->text[s->length - 1]);
}

// ---- Loop IR ------------------------------------------------------------------------------------
static bool print_loop(const source *s, textbuf *out) {
    diag_set *ds = diag_set_new(s->arena, source_map_new(s->arena));
    loop_text text;
    bool good = loop_parse(
        s->arena, ds, source_map_add(diag_sources(ds), "fuzz.loop", s->text, s->length), &text);
    if (good == (diag_errors(ds) > 0)) ICE("a result that its diagnostics do not explain");
    if (good) loop_print_text(out, &text);
    return good;
}

// ---- SIMT IR ------------------------------------------------------------------------------------
static simt_module *read_simt(const source *s) {
    diag_set *ds = diag_set_new(s->arena, source_map_new(s->arena));
    simt_module *m = simt_parse(s->arena, ds,
                                source_map_add(diag_sources(ds), "fuzz.simt", s->text, s->length));
    if (!m == !diag_errors(ds)) ICE("a result that its diagnostics do not explain");
    return m && !simt_verify(s->arena, m) ? m : NULL;
}

static bool print_simt(const source *s, textbuf *out) {
    const simt_module *m = read_simt(s);
    if (m) simt_print(out, m);
    return m;
}

static void use_simt(const source *s) {
    const simt_module *m = read_simt(s);
    for (uint32_t i = 0; m && i < m->funcs.len; i++) simt_uniformity_of(s->arena, m->funcs.data[i]);
}

// ---- All ----------------------------------------------------------------------------------------
static const struct {
    bool (*print)(const source *s, textbuf *out);   // false: the text is no good
    void (*use)(const source *s);
} irs[] = {
    // 'l', 's' and 't' modulo 3
    {print_loop, NULL},
    {print_simt, use_simt},
    {print_tensor, use_tensor}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    arena *a = arena_new();
    textbuf once = textbuf_new(a), twice = textbuf_new(a);
    const source s = {a, (const char *)data + 1, size - 1};
    uint32_t ir = data[0] % 3;
    if (irs[ir].print(&s, &once)) {
        if (!irs[ir].print(&(source){a, once.data, once.len}, &twice))
            ICE("printed text does not read back:\n%s", once.data);
        if (once.len != twice.len || memcmp(once.data, twice.data, once.len))
            ICE("another text:\n%s\n----\n%s", once.data, twice.data);
        if (irs[ir].use) irs[ir].use(&s);
    }
    arena_free(a);
    return 0;
}
