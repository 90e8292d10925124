// Reads SIMT text: the module and the heads of its functions first, then their bodies, so that
// calls may look forward. SIMT.md specifies it. What it gives has the structure that simt_print
// relies on; whether it is right is for simt_verify to say.
#include "simt_parse.h"

#include <string.h>

// ---- Names --------------------------------------------------------------------------------------
static simt_name *name_slot(simt_names *t, const char *text, uint32_t length) {
    uint32_t hash = 2166136261u;
    for (uint32_t k = 0; k < length; k++) hash = (hash ^ (unsigned char)text[k]) * 16777619u;
    for (uint32_t k = hash & (t->size - 1);; k = (k + 1) & (t->size - 1)) {
        simt_name *s = &t->slots[k];
        if (!s->value || (s->length == length && !memcmp(s->text, text, length))) return s;
    }
}

static void names_grow(arena *a, simt_names *t) {
    if (t->used * 2 < t->size) return;
    simt_names old = *t;
    *t = (simt_names){ARENA_ARRAY(a, simt_name, old.size ? old.size * 2 : 32),
                      old.size ? old.size * 2 : 32, old.used};
    for (uint32_t k = 0; k < old.size; k++)
        if (old.slots[k].value)
            *name_slot(t, old.slots[k].text, old.slots[k].length) = old.slots[k];
}

static bool is_number(simt_token t) {
    for (uint32_t k = 0; k < t.length; k++)
        if (t.text[k] < '0' || t.text[k] > '9') return false;
    return true;
}

void simt_parse_bind(simt_parser *p, simt_token t, simt_value v) {
    if (p->lex.failed) return;
    names_grow(p->lex.arena, p->names);
    simt_name *slot = name_slot(p->names, t.text, t.length);
    if (slot->value) {
        simt_lex_fail(&p->lex, E0952, t, "'%%%.*s' is defined twice in '%s'", (int)t.length, t.text,
                      p->func->name);
        return;
    }
    *slot = (simt_name){t.text, t.length, v};
    p->names->used++;
    if (!is_number(t)) p->func->values.data[v].name = simt_lex_copy(&p->lex, t);
}

simt_token simt_parse_name(simt_parser *p) {
    simt_token t = p->lex.token;
    if (t.kind != TOKEN_VALUE) simt_lex_expected(&p->lex, "a value");
    else if (t.text[0] >= '0' && t.text[0] <= '9' && !is_number(t))
        simt_lex_expected(&p->lex, "a name or a number after '%'");
    else if (!is_number(t) && (t.text[0] == '.' || t.text[0] == '$'))
        simt_lex_expected(&p->lex, "a name or a number after '%'");
    else simt_lex_next(&p->lex);
    return t;
}

static simt_value look_up(simt_parser *p, simt_token t) {
    names_grow(p->lex.arena, p->names);
    simt_value v = name_slot(p->names, t.text, t.length)->value;
    if (v) return v;
    diagnostic *d = simt_lex_fail(&p->lex, E0952, t,
                                  "'%%%.*s' is not defined before its use in '%s'", (int)t.length,
                                  t.text, p->func->name);
    VEC(const char *) known = {0};
    for (uint32_t k = 0; k < p->names->size; k++) {
        const simt_name *n = &p->names->slots[k];
        if (n->value && n->length < 64)
            VEC_PUSH(p->lex.arena, &known, arena_strndup(p->lex.arena, n->text, n->length));
    }
    const char *near = is_number(t)
                           ? NULL
                           : closest_name(simt_lex_copy(&p->lex, t), known.data, known.len);
    if (near) diag_help(d, "did you mean '%%%s'?", near);
    return 0;
}

simt_value simt_parse_value(simt_parser *p) {
    simt_token t = simt_parse_name(p);
    return p->lex.failed ? 0 : look_up(p, t);
}

// ---- Types and lists ----------------------------------------------------------------------------
static bool type_from_text(const char *text, uint32_t length, simt_type *out) {
    for (uint32_t e = SIMT_NONE + 1; e < SIMT_ELEMENT_COUNT; e++) {
        const char *element = simt_element_text(e);
        uint32_t n = (uint32_t)strlen(element), lanes = 0;
        if (length < n || memcmp(text, element, n)) continue;
        if (length == n) lanes = 1;
        else if (length == n + 2 && text[n] == 'x') lanes = (uint32_t)(text[n + 1] - '0');
        else if (length == n + 3 && !memcmp(text + n, "x16", 3)) lanes = 16;
        *out = (simt_type){(uint8_t)e, (uint8_t)lanes};
        if (lanes && lanes < 100 && !(lanes == 1 && length > n) && simt_type_valid(*out))
            return true;
    }
    return false;
}

simt_type simt_parse_type(simt_parser *p) {
    simt_type t = SIMT_T(I32);
    if (p->lex.token.kind == TOKEN_NAME &&
        type_from_text(p->lex.token.text, p->lex.token.length, &t))
        simt_lex_next(&p->lex);
    else simt_lex_expected(&p->lex, "a type");
    return t;
}

bool simt_parse_more(simt_parser *p, uint32_t so_far) {
    if (!simt_lex_is(&p->lex, ',')) return false;
    if (so_far >= SIMT_MAX_LIST)
        simt_lex_fail(&p->lex, E0954, p->lex.token, "a list of more than %d", SIMT_MAX_LIST);
    return simt_lex_take(&p->lex, ',');
}

void simt_parse_types(simt_parser *p, simt_types *out) {
    bool list = simt_lex_take(&p->lex, '(');
    do VEC_PUSH(p->lex.arena, out, simt_parse_type(p));
    while (list && simt_parse_more(p, out->len));
    if (list) simt_lex_need(&p->lex, ')');
}

// ---- Functions ----------------------------------------------------------------------------------
typedef struct {
    simt_func *func;
    simt_names names;
    uint32_t body;   // offset of its brace
} function_text;

static void parse_param(simt_parser *p) {
    simt_token name = simt_parse_name(p);
    simt_lex_need(&p->lex, ':');
    simt_type t = simt_parse_type(p);
    uint32_t flags = 0;
    for (;;) {
        if (simt_lex_take_word(&p->lex, "readonly")) flags |= SIMT_READONLY;
        else if (simt_lex_take_word(&p->lex, "noalias")) flags |= SIMT_NOALIAS;
        else break;
    }
    if (p->lex.failed) return;
    simt_value v = simt_param(p->func, NULL, t, flags);
    simt_parse_bind(p, name, v);
    p->func->params.data[p->func->params.len - 1].name = p->func->values.data[v].name;
}

static void parse_params(simt_parser *p) {
    simt_lex_need(&p->lex, '(');
    if (simt_lex_take(&p->lex, ')')) return;
    do parse_param(p);
    while (simt_parse_more(p, p->func->params.len));
    simt_lex_need(&p->lex, ')');
}

static void parse_kernel_attributes(simt_parser *p) {
    simt_lex_need_word(&p->lex, "block");
    p->func->block = simt_parse_u32(&p->lex, 1u << 20);
    if (simt_lex_take_word(&p->lex, "occupancy")) {
        p->func->occupancy = simt_parse_u32(&p->lex, UINT32_MAX);
        p->func->fits = simt_lex_take_word(&p->lex, "fit");
    }
    if (simt_lex_take_word(&p->lex, "shared"))
        p->func->shared_bytes = simt_parse_u32(&p->lex, UINT32_MAX);
}

static simt_token module_or_function_name(simt_parser *p) {
    simt_token t = p->lex.token;
    if (t.kind == TOKEN_NAME) simt_lex_next(&p->lex);
    else simt_lex_expected(&p->lex, "a name");
    return t;
}

// Leaves the lexer at the brace of the body.
static void parse_head(simt_parser *p, simt_names *names) {
    bool kernel = simt_lex_take_word(&p->lex, "kernel");
    if (!kernel && !simt_lex_take_word(&p->lex, "func"))
        simt_lex_expected(&p->lex, "'func' or 'kernel'");
    simt_token name = module_or_function_name(p);
    if (p->lex.failed) return;
    const char *text = simt_lex_copy(&p->lex, name);
    if (simt_func_find(p->module, text)) {
        simt_lex_fail(&p->lex, E0952, name, "'%s' is defined twice", text);
        return;
    }
    p->func = simt_func_add(p->module, text, kernel);
    p->func->at = simt_lex_span(&p->lex, name);
    p->names = names;
    parse_params(p);
    if (kernel) parse_kernel_attributes(p);
    if (p->lex.token.kind != TOKEN_ARROW || kernel) return;
    simt_lex_next(&p->lex);
    simt_types results = {0};
    simt_parse_types(p, &results);
    for (uint32_t k = 0; k < results.len; k++)
        VEC_PUSH(p->lex.arena, &p->func->results, results.data[k]);
}

static void skip_body(simt_parser *p) {
    uint32_t depth = 0;
    if (!simt_lex_is(&p->lex, '{')) simt_lex_expected(&p->lex, "'{'");
    do {
        if (p->lex.token.kind == TOKEN_END) simt_lex_expected(&p->lex, "'}'");
        if (simt_lex_is(&p->lex, '{')) depth++;
        if (simt_lex_is(&p->lex, '}')) depth--;
        simt_lex_next(&p->lex);
    } while (depth && !p->lex.failed);
}

static void parse_body(simt_parser *p, function_text *f) {
    p->func = f->func;
    p->names = &f->names;
    p->depth = 0;
    simt_parse_region(p, 1);
}

simt_module *simt_parse(arena *a, diag_set *ds, const source_file *text) {
    simt_parser p = {.lex = {.arena = a, .ds = ds, .file = text}};
    VEC(function_text) functions = {0};
    simt_lex_start(&p.lex, 0);
    simt_lex_need_word(&p.lex, "module");
    p.module = simt_module_new(a, simt_lex_copy(&p.lex, module_or_function_name(&p)));
    while (p.lex.token.kind != TOKEN_END) {
        function_text f = {0};
        parse_head(&p, &f.names);
        f.func = p.func;
        f.body = p.lex.token.start;
        VEC_PUSH(a, &functions, f);
        skip_body(&p);
    }
    for (uint32_t k = 0; k < functions.len && !p.lex.failed; k++) {
        simt_lex_start(&p.lex, functions.data[k].body);
        parse_body(&p, &functions.data[k]);
    }
    return p.lex.failed ? NULL : p.module;
}

simt_func *simt_parse_function(simt_module *m, diag_set *ds, const source_file *text, uint32_t at) {
    simt_parser p = {.lex = {.arena = m->arena, .ds = ds, .file = text}, .module = m};
    function_text f = {0};
    simt_lex_start(&p.lex, at);
    parse_head(&p, &f.names);
    f.func = p.func;
    if (!p.lex.failed) parse_body(&p, &f);
    return p.lex.failed ? NULL : f.func;
}
