// gnnc inspect of a manifest.
#include "unit.h"
#include "inspect.h"

#include <jansson.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "?";
}

static void put_list(textbuf *out, const char *title, const json_t *array, const char *key) {
    if (!json_array_size(array)) return;
    textbuf_printf(out, "    %-9s", title);
    for (size_t i = 0; i < json_array_size(array); i++)
        textbuf_printf(out, " %s", text_of(json_array_get(array, i), key));
    textbuf_puts(out, "\n");
}

static void put_texts(textbuf *out, const char *title, const json_t *array) {
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *text = json_string_value(json_array_get(array, i));
        textbuf_printf(out, "    %-9s %s\n", title, text ? text : "?");
    }
}

static void put_params(textbuf *out, const json_t *params) {
    for (size_t i = 0; i < json_array_size(params); i++) {
        const json_t *p = json_array_get(params, i), *axes = json_object_get(p, "axes");
        textbuf_printf(out, "    %-9s %s: %s[", text_of(p, "role"), text_of(p, "name"),
                       text_of(p, "type"));
        for (size_t k = 0; k < json_array_size(axes); k++) {
            const char *axis = json_string_value(json_array_get(axes, k));
            textbuf_printf(out, "%s%s", k ? ", " : "", axis ? axis : "?");
        }
        textbuf_puts(out, "]");
        if (json_object_get(p, "into")) textbuf_printf(out, " -> %s", text_of(p, "into"));
        textbuf_puts(out, "\n");
    }
}

static long long number_of(const json_t *object, const char *key) {
    return (long long)json_integer_value(json_object_get(object, key));
}

static void put_guard(textbuf *out, const json_t *g) {
    textbuf_puts(out, "      where   ");
    if (json_object_get(g, "holds")) textbuf_puts(out, text_of(g, "text"));
    else if (json_object_get(g, "pays")) textbuf_printf(out, "%s pays", text_of(g, "text"));
    else if (json_object_get(g, "aligned"))
        textbuf_printf(out, "%s aligned to %lld bytes", text_of(g, "aligned"),
                       number_of(g, "bytes"));
    else if (json_object_get(g, "stride"))
        textbuf_printf(out, "stride %lld of %s a multiple of %lld", number_of(g, "axis"),
                       text_of(g, "stride"), number_of(g, "multiple"));
    else if (json_object_get(g, "pitch"))
        textbuf_printf(out, "stride %lld of %s is %lld", number_of(g, "axis"), text_of(g, "pitch"),
                       number_of(g, "elements"));
    else
        textbuf_printf(out, "%s reaches less than %lld", text_of(g, "reach"),
                       number_of(g, "below"));
    textbuf_puts(out, "\n");
}

static void put_steps(textbuf *out, const json_t *steps) {
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *s = json_array_get(steps, i);
        if (json_object_get(s, "launch"))
            textbuf_printf(out, "      launch  %s, %s blocks\n", text_of(s, "launch"),
                           text_of(s, "blocks"));
        else if (json_object_get(s, "loop"))
            textbuf_printf(out, "      loop    %s\n", text_of(s, "loop"));
        else if (json_object_get(s, "end")) textbuf_puts(out, "      end\n");
    }
}

// schedules: which a choice is among, or NULL.
static void put_versions(textbuf *out, const json_t *versions, const json_t *schedules) {
    for (size_t i = 0; i < json_array_size(versions); i++) {
        const json_t *v = json_array_get(versions, i), *guards = json_object_get(v, "guards");
        const json_t *of = json_array_get(schedules, (size_t)number_of(v, "of"));
        textbuf_printf(out, "    version   %s%s%s\n", text_of(v, "name"),
                       json_is_string(of) ? ", of " : "",
                       json_is_string(of) ? json_string_value(of) : "");
        for (size_t k = 0; k < json_array_size(guards); k++)
            put_guard(out, json_array_get(guards, k));
        put_steps(out, json_object_get(v, "steps"));
    }
}

void inspect_put_manifest(textbuf *out, const json_t *m) {
    textbuf_printf(out, "%s for %s, from %s, %lld-bit indices\n", text_of(m, "name"),
                   text_of(m, "target"), text_of(m, "source"), number_of(m, "index_bits"));
    put_texts(out, "rules", json_object_get(m, "rules"));
    put_list(out, "sizes", json_object_get(m, "spaces"), "name");
    put_params(out, json_object_get(m, "params"));
    put_list(out, "where", json_object_get(m, "requires"), "text");
    put_list(out, "prepared", json_object_get(m, "prepared"), "name");
    put_list(out, "workspace", json_object_get(m, "temps"), "name");
    const json_t *choice = json_object_get(m, "choice");
    if (choice) textbuf_printf(out, "    choice    %s\n", text_of(choice, "text"));
    put_versions(out, json_object_get(m, "versions"), json_object_get(choice, "schedules"));
}
