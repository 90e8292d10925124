// Reads the instructions and regions of SIMT text.
#include "simt_parse.h"

#include <string.h>

// ---- Words --------------------------------------------------------------------------------------
static void unknown_word(simt_parser *p, const char *what, const char *const *words, uint32_t n) {
    simt_token t = p->lex.token;
    if (t.kind != TOKEN_NAME) {
        simt_lex_expected(&p->lex, what);
        return;
    }
    const char *text = simt_lex_copy(&p->lex, t);
    diagnostic *d = simt_lex_fail(&p->lex, E0951, t, "'%.60s' is not %s", text, what);
    const char *near = closest_name(text, words, n);
    if (near) diag_fix(d, simt_lex_span(&p->lex, t), near, "did you mean '%s'?", near);
}

static uint32_t parse_word(simt_parser *p, const char *what, simt_words words) {
    for (uint32_t k = 0; k < words.count; k++)
        if (simt_lex_take_word(&p->lex, words.text[k])) return k;
    unknown_word(p, what, words.text, words.count);
    return 0;
}

static const char *aux_name(simt_written_aux aux) {
    static const char *const names[] = {
        [AUX_NONE] = "",
        [AUX_SREG] = "a special register",
        [AUX_PREDICATE] = "a predicate",
        [AUX_ATOMIC] = "an atomic operation",
        [AUX_SCOPE] = "a scope",
        [AUX_MMA] = "a matrix operation",
    };
    return names[aux];
}

static simt_op parse_op(simt_parser *p) {
    const char *words[SIMT_OP_COUNT];
    for (uint32_t k = 0; k < SIMT_OP_COUNT; k++) {
        words[k] = simt_op_table(k)->text;
        if (simt_lex_take_word(&p->lex, words[k])) return (simt_op)k;
    }
    unknown_word(p, "an operation", words, SIMT_OP_COUNT);
    return SIMT_YIELD;
}

// ---- Plain operations ---------------------------------------------------------------------------
typedef struct {
    simt_op op;
    simt_token at;         // the word of the operation
    simt_tokens results;   // their names
    simt_values args;
    simt_types types;       // of the results
    simt_instr_info info;   // attributes
} statement;

static void need_results(simt_parser *p, const statement *s) {
    if (s->results.len == s->types.len) return;
    simt_lex_fail(&p->lex, E0951, s->at, "'%s' gives %u values here, but %u are named",
                  simt_op_table(s->op)->text, s->types.len, s->results.len);
}

static simt_instr add_instr(simt_parser *p, simt_region r, const statement *s) {
    need_results(p, s);
    if (p->lex.failed) return 0;
    span at = simt_lex_span(&p->lex, s->at);
    simt_instr i = simt_instr_new(p->func, s->op, s->args.data, s->args.len, s->types.data,
                                  s->types.len, at);
    simt_instr_info *info = &p->func->instrs.data[i];
    info->aux = s->info.aux;
    info->imm = s->info.imm;
    info->mem = s->info.mem;
    simt_region_add(p->func, r, i);
    return i;
}

static void bind_results(simt_parser *p, simt_instr i, const statement *s) {
    for (uint32_t k = 0; k < s->results.len && !p->lex.failed; k++)
        simt_parse_bind(p, s->results.data[k], simt_result(p->func, i, k));
}

static void parse_args(simt_parser *p, statement *s, uint32_t n) {
    for (uint32_t k = 0; k < n && !p->lex.failed; k++) {
        if (k) simt_lex_need(&p->lex, ',');
        VEC_PUSH(p->lex.arena, &s->args, simt_parse_value(p));
    }
}

static void parse_arg_list(simt_parser *p, statement *s) {
    do VEC_PUSH(p->lex.arena, &s->args, simt_parse_value(p));
    while (simt_parse_more(p, s->args.len));
}

static void parse_call(simt_parser *p, statement *s) {
    simt_token name = p->lex.token;
    if (name.kind != TOKEN_NAME) {
        simt_lex_expected(&p->lex, "the name of a function");
        return;
    }
    const simt_module *m = p->module;
    for (uint32_t k = 0; k < m->funcs.len && !s->types.len; k++) {
        if (!simt_lex_is_word(&p->lex, m->funcs.data[k]->name)) continue;
        s->info.imm.i = k;
        for (uint32_t r = 0; r < m->funcs.data[k]->results.len; r++)
            VEC_PUSH(p->lex.arena, &s->types, m->funcs.data[k]->results.data[r]);
    }
    if (!simt_func_find(m, simt_lex_copy(&p->lex, name)))
        simt_lex_fail(&p->lex, E0952, name, "there is no function '%.*s'",
                      (int)(name.length < 60 ? name.length : 60), name.text);
    simt_lex_next(&p->lex);
    simt_lex_need(&p->lex, '(');
    if (!simt_lex_is(&p->lex, ')')) parse_arg_list(p, s);
    simt_lex_need(&p->lex, ')');
}

static void parse_constant(simt_parser *p, statement *s) {
    simt_element e = s->types.data[0].element;
    if (simt_is_float(e)) s->info.imm.f = simt_parse_float(&p->lex, e);
    else if (simt_is_int(e)) s->info.imm.i = simt_parse_int(&p->lex, e);
    else if (e != SIMT_PRED)
        simt_lex_expected(&p->lex, "a number or pred constant: pointers have no constants;");
    else if (simt_lex_take_word(&p->lex, "true")) s->info.imm.i = 1;
    else simt_lex_need_word(&p->lex, "false");
}

static void parse_imm(simt_parser *p, statement *s, simt_written_imm imm) {
    simt_lexer *x = &p->lex;
    switch (imm) {
    case IMM_NONE:
    case IMM_CALLEE: break;
    case IMM_CONST: parse_constant(p, s); break;
    case IMM_OFFSET: s->info.imm.i = simt_parse_u32(x, UINT32_MAX); break;
    case IMM_LANE:
        simt_lex_need(x, ',');
        s->info.imm.i = simt_parse_u32(x, UINT32_MAX);
        break;
    case IMM_WIDTH:
        s->info.imm.i = simt_lex_take_word(x, "width") ? simt_parse_u32(x, UINT32_MAX) : 32;
        break;
    case IMM_BYTES:
        simt_lex_need_word(x, "bytes");
        s->info.imm.i = simt_parse_u32(x, UINT32_MAX);
        break;
    case IMM_ADDR:
        s->info.mem.scale = simt_lex_take(x, '*') ? (uint16_t)simt_parse_u32(x, UINT16_MAX) : 1;
        s->info.imm.i = simt_parse_offset(x);
        break;
    }
}

static void parse_mem(simt_parser *p, statement *s) {
    for (;;) {
        if (simt_lex_take_word(&p->lex, "align"))
            s->info.mem.align = (uint16_t)simt_parse_u32(&p->lex, UINT16_MAX);
        else if (simt_lex_take_word(&p->lex, "cache"))
            s->info.mem.cache = (uint8_t)parse_word(p, "a cache policy", simt_cache_words());
        else if (simt_lex_take_word(&p->lex, "invariant")) s->info.mem.invariant = true;
        else if (simt_lex_take_word(&p->lex, "pinned")) s->info.mem.pinned = true;
        else return;
    }
}

// The type of the one result, from the written type or the arguments.
static void find_result_type(simt_parser *p, statement *s, simt_written_type written, simt_type t) {
    if (p->lex.failed || simt_op_table(s->op)->results != 1) return;
    simt_type result = t;
    if (s->op == SIMT_SHARED) result = SIMT_T(PTR_SHARED);
    else if (written != TYPE_OF_RESULT) result = simt_rule_type(p->func, s->op, s->args.data);
    if (!s->types.len) VEC_PUSH(p->lex.arena, &s->types, result);
}

static void check_written_type(simt_parser *p, const statement *s, simt_written_type written,
                               simt_type t) {
    if (p->lex.failed || (written != TYPE_OF_ARG0 && written != TYPE_OF_ARG1)) return;
    simt_type arg = simt_typeof(p->func, s->args.data[written == TYPE_OF_ARG1]);
    if (!simt_type_equal(t, arg))
        simt_lex_fail(&p->lex, E0951, s->at, "'%s' is written with type %s, but its argument is %s",
                      simt_op_table(s->op)->text, simt_type_text(p->lex.arena, t),
                      simt_type_text(p->lex.arena, arg));
}

static void parse_plain(simt_parser *p, simt_region r, statement *s) {
    simt_syntax form = simt_syntax_of(s->op);
    simt_type t = {0, 0};
    if (form.aux) s->info.aux = parse_word(p, aux_name(form.aux), simt_aux_words(form.aux));
    if (form.type) t = simt_parse_type(p);
    if (form.type == TYPE_OF_RESULT) VEC_PUSH(p->lex.arena, &s->types, t);
    if (form.imm == IMM_CALLEE) parse_call(p, s);
    else parse_args(p, s, (uint32_t)simt_op_table(s->op)->args);
    check_written_type(p, s, form.type, t);
    parse_imm(p, s, form.imm);
    if (form.mem) parse_mem(p, s);
    find_result_type(p, s, form.type, t);
    bind_results(p, add_instr(p, r, s), s);
}

// ---- Control ------------------------------------------------------------------------------------
typedef struct {
    simt_tokens names;
    simt_types types;
} carried;

// (%name: type = %init, …), or without the initial values.
static void parse_carried(simt_parser *p, carried *c, statement *init) {
    simt_lex_need(&p->lex, '(');
    do {
        VEC_PUSH(p->lex.arena, &c->names, simt_parse_name(p));
        simt_lex_need(&p->lex, ':');
        VEC_PUSH(p->lex.arena, &c->types, simt_parse_type(p));
        if (!init) continue;
        simt_lex_need(&p->lex, '=');
        VEC_PUSH(p->lex.arena, &init->args, simt_parse_value(p));
    } while (simt_parse_more(p, c->names.len));
    simt_lex_need(&p->lex, ')');
}

static void bind_carried(simt_parser *p, simt_region r, const carried *c) {
    for (uint32_t k = 0; k < c->names.len && !p->lex.failed; k++)
        simt_parse_bind(p, c->names.data[k], simt_region_param(p->func, r, c->types.data[k]));
}

static void parse_for(simt_parser *p, simt_region r, statement *s) {
    static const char *const before[3] = {NULL, "to", "step"};
    carried c = {0};
    simt_token index = simt_parse_name(p);
    simt_lex_need(&p->lex, '=');
    for (uint32_t k = 0; k < 3; k++) {
        if (before[k]) simt_lex_need_word(&p->lex, before[k]);
        VEC_PUSH(p->lex.arena, &s->args, simt_parse_value(p));
    }
    bool rolled = simt_lex_take_word(&p->lex, "rolled");
    if (simt_lex_take_word(&p->lex, "carry")) parse_carried(p, &c, s);
    s->types = c.types;
    simt_instr i = add_instr(p, r, s);
    if (p->lex.failed) return;
    p->func->instrs.data[i].aux = rolled ? SIMT_LOOP_ROLLED : SIMT_LOOP_FREE;
    simt_region body = simt_instr_regions(p->func, i, 1)[0];
    simt_parse_bind(p, index,
                    simt_region_param(p->func, body, simt_typeof(p->func, s->args.data[0])));
    bind_carried(p, body, &c);
    simt_parse_region(p, body);
    bind_results(p, i, s);
}

static void parse_while(simt_parser *p, simt_region r, statement *s) {
    carried first = {0}, second = {0};
    if (simt_lex_is(&p->lex, '(')) parse_carried(p, &first, s);
    s->types = first.types;
    simt_instr i = add_instr(p, r, s);
    if (p->lex.failed) return;
    simt_region *regions = simt_instr_regions(p->func, i, 2);
    bind_carried(p, regions[0], &first);
    simt_parse_region(p, regions[0]);
    simt_lex_need_word(&p->lex, "do");
    if (simt_lex_is(&p->lex, '(')) parse_carried(p, &second, NULL);
    if (first.names.len != second.names.len)
        simt_lex_fail(&p->lex, E0951, s->at, "the regions of 'while' take %u and %u values",
                      first.names.len, second.names.len);
    bind_carried(p, regions[1], &second);
    simt_parse_region(p, regions[1]);
    bind_results(p, i, s);
}

static void parse_if(simt_parser *p, simt_region r, statement *s) {
    VEC_PUSH(p->lex.arena, &s->args, simt_parse_value(p));
    if (p->lex.token.kind == TOKEN_ARROW) {
        simt_lex_next(&p->lex);
        simt_parse_types(p, &s->types);
    }
    bool mask = simt_lex_take_word(&p->lex, "mask"),
         rare = !mask && simt_lex_take_word(&p->lex, "rare");
    simt_instr i = add_instr(p, r, s);
    if (p->lex.failed) return;
    p->func->instrs.data[i].aux = mask ? SIMT_IF_MASK : rare ? SIMT_IF_RARE : SIMT_IF_NEEDED;
    simt_region *regions = simt_instr_regions(p->func, i, 2);
    simt_parse_region(p, regions[0]);
    if (simt_lex_take_word(&p->lex, "else")) simt_parse_region(p, regions[1]);
    else p->func->instrs.data[i].nregions = 1;
    bind_results(p, i, s);
}

// As many results as are named.
static void parse_mma(simt_parser *p, simt_region r, statement *s) {
    s->info.aux = parse_word(p, aux_name(AUX_MMA), simt_aux_words(AUX_MMA));
    parse_arg_list(p, s);
    simt_lex_need_word(&p->lex, "steps");
    s->info.imm.i = simt_parse_u32(&p->lex, UINT16_MAX);
    if (s->op != SIMT_MMA_GROUP) {
        simt_lex_need_word(&p->lex, "rows");
        s->info.mem.scale = (uint16_t)simt_parse_u32(&p->lex, UINT16_MAX);
    }
    for (uint32_t k = 0; k < s->results.len; k++)
        VEC_PUSH(p->lex.arena, &s->types, simt_mma_type((simt_mma)s->info.aux, SIMT_MMA_C));
    bind_results(p, add_instr(p, r, s), s);
}

static void parse_list(simt_parser *p, simt_region r, statement *s) {
    if (p->lex.token.kind == TOKEN_VALUE) parse_arg_list(p, s);
    add_instr(p, r, s);
}

static void parse_instr(simt_parser *p, simt_region r) {
    statement s = {0};
    if (p->lex.token.kind == TOKEN_VALUE) {
        do VEC_PUSH(p->lex.arena, &s.results, simt_parse_name(p));
        while (simt_parse_more(p, s.results.len));
        simt_lex_need(&p->lex, '=');
    }
    s.at = p->lex.token;
    s.op = parse_op(p);
    if (p->lex.failed) return;
    switch ((simt_written_form)simt_syntax_of(s.op).form) {
    case FORM_PLAIN: parse_plain(p, r, &s); break;
    case FORM_FOR: parse_for(p, r, &s); break;
    case FORM_WHILE: parse_while(p, r, &s); break;
    case FORM_IF: parse_if(p, r, &s); break;
    case FORM_LIST: parse_list(p, r, &s); break;
    case FORM_MMA: parse_mma(p, r, &s); break;
    }
}

static bool is_ended(const simt_func *f, simt_region r) {
    const simt_region_info *region = &f->regions.data[r];
    if (!region->instrs.len) return false;
    simt_op last = f->instrs.data[region->instrs.data[region->instrs.len - 1]].op;
    return simt_op_table(last)->flags & SIMT_TERMINATOR;
}

void simt_parse_region(simt_parser *p, simt_region r) {
    if (p->depth >= SIMT_MAX_DEPTH)
        simt_lex_fail(&p->lex, E0954, p->lex.token, "regions nest deeper than %d", SIMT_MAX_DEPTH);
    p->depth++;
    simt_lex_need(&p->lex, '{');
    while (!p->lex.failed && p->lex.token.kind != TOKEN_END && !simt_lex_is(&p->lex, '}'))
        parse_instr(p, r);
    statement end = {.op = SIMT_YIELD, .at = p->lex.token};
    if (r != 1 && !p->lex.failed && !is_ended(p->func, r)) add_instr(p, r, &end);
    simt_lex_need(&p->lex, '}');
    p->depth--;
}
