// The table of loop IR's fields (loop_field.def), and what stands in it of a kind of nodes.
#include "loop_field.h"
#include "loop_internal.h"

#include <stddef.h>
#include <string.h>

static const loop_field fields[] = {
#define LOOP_FIELD(owner, in, how, member, value, text, fewest, said, rule)                        \
    {.of = owner,                                                                                  \
     .form = LOOP_FORM_##how,                                                                      \
     .word = text,                                                                                 \
     .at = offsetof(in, member),                                                                   \
     .data = offsetof(in, value),                                                                  \
     .bytes = sizeof((in *)NULL)->member,                                                          \
     .least = fewest,                                                                              \
     .when = LOOP_##said},
#include "loop_field.def"
};
enum { FIELDS = sizeof fields / sizeof *fields };

const loop_field *loop_field_next(uint32_t of, const loop_field *after) {
    for (const loop_field *f = after ? after + 1 : fields; f < fields + FIELDS; f++)
        if (f->of == of) return f;
    return NULL;
}

uint32_t loop_field_place(const loop_field *f) { return (uint32_t)(f - fields); }

bool loop_field_said(const loop_field *f, const void *of) {
    const void *at = (const char *)of + f->at;
    if (f->bytes == sizeof(bool)) return *(const bool *)at;
    if (f->bytes == sizeof(void *)) return *(const void *const *)at != NULL;
    return *(const uint32_t *)at >= f->least;
}

static bool is_plain(const loop_field *f) {
    return f->form == LOOP_FORM_count || f->form == LOOP_FORM_flag;
}

bool loop_fields_alike(uint32_t of, const void *a, const void *b) {
    for (const loop_field *f = NULL; (f = loop_field_next(of, f));)
        if (is_plain(f) && memcmp((const char *)a + f->at, (const char *)b + f->at, f->bytes) != 0)
            return false;
    return true;
}

const char *loop_fields_text(arena *a, uint32_t of, const void *has) {
    const char *text = "";
    for (const loop_field *f = NULL; (f = loop_field_next(of, f));) {
        if (!is_plain(f) || !loop_field_said(f, has)) continue;
        const char *number = f->form == LOOP_FORM_flag
                                 ? ""
                                 : arena_printf(a, " %u", (unsigned)loop_field_count(f, has));
        text = arena_printf(a, "%s%s%s%s", text, *text ? " " : "", f->word, number);
    }
    return text;
}

bool loop_kind_has(loop_node_kind k, loop_form form) {
    for (const loop_field *f = NULL; (f = loop_field_next(k, f));)
        if (f->form == form) return true;
    return false;
}

static void put(arena *a, loop_exprs *out, const tensor_expr *e, uint32_t n) {
    for (uint32_t i = 0; e && i < n; i++)
        if (e[i]) VEC_PUSH(a, out, e[i]);
}

static void put_field(arena *a, loop_exprs *out, const loop_node *n, const loop_field *f) {
    const tensor_expr e = loop_field_count(f, n);
    switch ((int)f->form) {
    case LOOP_FORM_bound:
    case LOOP_FORM_expr:
    case LOOP_FORM_condition:
    case LOOP_FORM_inner: put(a, out, &e, 1); break;
    case LOOP_FORM_limit: put(a, out, &e, n->rounds.pad == 0); break;
    case LOOP_FORM_slots: put(a, out, loop_field_list(f, n), loop_field_count(f, n)); break;
    case LOOP_FORM_carried:
        put(a, out, n->state.loads, n->state.n);
        put(a, out, n->state.last, n->state.n);
        break;
    case LOOP_FORM_maxima:
        for (uint32_t i = 0; i < n->reduce.nmaxima; i++) put(a, out, &n->reduce.maxima[i].slot, 1);
        break;
    }
}

void loop_exprs_of(arena *a, const loop_node *n, loop_exprs *out) {
    out->len = 0;
    for (const loop_field *f = NULL; (f = loop_field_next(n->kind, f));) put_field(a, out, n, f);
}
