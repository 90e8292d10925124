// --emit=saved: what a gradient reads of its op's stages, the bytes of each, and whether the op
// hands it over or it is computed again.
#include "unit.h"

#include <string.h>

// "4 V H": factors of sizes that are known are multiplied.
static const char *bytes_of(arena *a, const tensor_op *f, const tensor_val_info *v, uint32_t each) {
    const char *sizes = "";
    int64_t bytes = each;
    for (uint32_t i = 0; i < v->rank; i++) {
        const tensor_space_info *s = &f->spaces.data[v->axes[i]];
        if (s->kind == SPACE_CONST) bytes *= s->size;
        else sizes = arena_printf(a, "%s %s", sizes, s->name);
    }
    return arena_printf(a, "%lld%s", (long long)bytes, sizes);
}

static const char *shape_of(arena *a, const tensor_op *f, const tensor_val_info *v) {
    const char *text = "";
    for (uint32_t i = 0; i < v->rank; i++)
        text = arena_printf(a, "%s%s%s", text, i ? ", " : "", f->spaces.data[v->axes[i]].name);
    return arena_printf(a, "[%s]", text);
}

static uint32_t width(const frontend_kept *k) {
    return k->type == DT_INDEX ? 8 : ir_dtype_bytes(k->type);
}

bool print_saved(driver *d, const unit_op *o, textbuf *out) {
    arena *a = d->arena;
    frontend_kept_list all = {0};
    const tensor_op *f = o->frontend ? frontend_kept_of(o->frontend, o->number, &all) : NULL;
    static const char *const how[] = {
        [KEPT_AGAIN] = "computed again", [KEPT_SAVED] = "saved", [KEPT_GIVEN] = "given"};
    const char *total = "";
    if (!f) {
        textbuf_printf(out, "// %s is no gradient\n", o->name);
        return !diag_errors(d->ds);
    }
    textbuf_printf(out, "// what %s reads of the stages of %s:\n%-16s %-5s %-12s %-14s %s\n",
                   o->name, f->name, "stage", "type", "shape", "bytes", "kept");
    for (uint32_t i = 0; i < all.len; i++) {
        const frontend_kept *k = &all.data[i];
        const char *bytes = bytes_of(a, f, k->value, width(k));
        textbuf_printf(out, "%-16s %-5s %-12s %-14s %s\n", k->value->name, ir_dtype_text(k->type),
                       shape_of(a, f, k->value), bytes, how[k->how]);
        if (k->how == KEPT_SAVED)
            total = arena_printf(a, "%s%s%s", total, *total ? " + " : "", bytes);
    }
    textbuf_printf(out, "// saved: %s bytes\n", *total ? total : "0");
    return true;
}
