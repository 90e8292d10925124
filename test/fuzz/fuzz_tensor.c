// libFuzzer: no text makes the reader of tensor IR, its verifier or the evaluator fail, and what is read prints to text that
// reads back to the same text.
#include "tensor.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tensor_ops parse(arena *a, diag_set *ds, const char *text, size_t length, bool *good) {
    tensor_ops ops = {0};
    *good = tensor_parse(a, ds, source_map_add(diag_sources(ds), "fuzz.tensor", text, length), &ops);
    if (*good == (diag_errors(ds) > 0)) ICE("a result that its diagnostics do not explain");
    return ops;
}

static textbuf print(arena *a, const tensor_ops *ops) {
    textbuf out = textbuf_new(a);
    for (uint32_t i = 0; i < ops->len; i++) tensor_print(&out, ops->data[i]);
    return out;
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
            int64_t n = s->kind == SPACE_FREE ? sizes[info->axes[k]] : s->kind == SPACE_CONST ? s->size : 2;
            inputs[v].shape[k] = n;
            points *= n < 1000 ? n : 1000;
            if (points > 100000) return;
        }
        inputs[v].data = ARENA_ARRAY(a, int64_t, points + 1);
        for (int64_t i = 0; i < points && info->type == DT_INDEX; i++) ((int64_t *)inputs[v].data)[i] = i % 2;
        for (int64_t i = 0; i < points && info->type == DT_F32; i++) ((float *)inputs[v].data)[i] = (float)(i % 5) - 2;
    }
    tensor_eval_sizes(a, op, &in, found, &why);
    if (tensor_eval(a, op, &in, results, &why) == (why != NULL)) ICE("a result and a reason against it");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    arena *a = arena_new();
    diag_set *ds = diag_set_new(a, source_map_new(a));
    bool good;
    tensor_ops ops = parse(a, ds, (const char *)data, size, &good);
    if (good) {
        textbuf once = print(a, &ops);
        tensor_ops again = parse(a, ds, once.data ? once.data : "", once.len, &good);
        if (!good) ICE("printed text does not read back:\n%s", once.data);
        textbuf twice = print(a, &again);
        if (once.len != twice.len || (once.len && memcmp(once.data, twice.data, once.len)))
            ICE("another text:\n%s\n----\n%s", once.data, twice.data);
        for (uint32_t i = 0; i < ops.len; i++) evaluate(a, ops.data[i], size ? data[size - 1] : 0);
    }
    arena_free(a);
    return 0;
}
