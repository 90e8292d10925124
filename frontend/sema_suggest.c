// "Did you mean": the names that could stand at a place, and words from other languages.
#include "sema_lower.h"
#include <string.h>

typedef VEC(const char *) name_list;

static bool could_stand(const lowering *L, const entity *e, near_kind want) {
    const tensor_val_info *v = e->kind == ENT_VALUE ? &L->op->vals.data[e->val] : NULL;
    switch (want) {
    case NEAR_ANY: return e->kind != ENT_SPACE || e->name[1];   // e is no slip of the hand for E
    case NEAR_MAP: return v && v->type == DT_INDEX;
    case NEAR_INDEX: return e->kind == ENT_INDEX;
    case NEAR_SPACE: return e->kind == ENT_SPACE;
    case NEAR_TYPE: return e->kind == ENT_DTYPE;
    }
    ICE("kind of names %d", want);
}

bool suggest_in_scope(lowering *L, diagnostic *d, const scope *s, ast_name name, near_kind want) {
    static const char *const constants[] = {"inf", "pi", "none", "true", "false"};
    name_list near = {0};
    for (; s; s = s->parent)
        for (const entity *e = s->first; e; e = e->next)
            if (could_stand(L, e, want)) VEC_PUSH(L->arena, &near, e->name);
    for (size_t i = 0; want == NEAR_ANY && i < sizeof constants / sizeof *constants; i++)
        VEC_PUSH(L->arena, &near, constants[i]);
    for (ir_dtype t = DT_F64; want == NEAR_TYPE && t < DT_INDEX; t++)
        VEC_PUSH(L->arena, &near, ir_dtype_text(t));
    return diag_suggest(d, name.at, name.text, near.data, near.len);
}

bool suggest_item(const sema *s, diagnostic *d, ast_name name, const ast_item *const *items,
                  uint32_t n, const char *const *more) {
    name_list near = {0};
    for (uint32_t i = 0; i < n; i++) VEC_PUSH(s->arena, &near, items[i]->name.text);
    for (; more && *more; more++) VEC_PUSH(s->arena, &near, *more);
    return diag_suggest(d, name.at, name.text, near.data, near.len);
}

// Which file of the library declares an op; NULL: none.
const char *library_with_op(arena *a, const char *name) {
    for (uint32_t i = 0; frontend_library_name(i); i++) {
        size_t length;
        const char *file = arena_strndup(a, frontend_library_name(i),
                                         strlen(frontend_library_name(i)) - 4),
                   *text = frontend_library_text(file, &length),
                   *head = arena_printf(a, "\nop %s", name);
        for (const char *at = text; (at = strstr(at, head));) {
            at += strlen(head);
            if (strchr("<( =", *at)) return file;
        }
    }
    return NULL;
}
