// Writes SIMT IR as text; SIMT.md specifies it. Values without a name are numbered in order of
// appearance, so equal programs give equal text.
#include "simt_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    textbuf *out;
    const simt_func *func;
    uint32_t *numbers;   // of values without a name, from 1; 0: none yet
    uint32_t next;
    uint32_t depth;
} printer;

static void print_value(printer *p, simt_value v) {
    const char *name = p->func->values.data[v].name;
    if (name) {
        textbuf_printf(p->out, "%%%s", name);
        return;
    }
    if (!p->numbers[v]) p->numbers[v] = ++p->next;
    textbuf_printf(p->out, "%%%" PRIu32, p->numbers[v] - 1);
}

static void print_values(printer *p, const simt_value *values, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        if (k) textbuf_puts(p->out, ", ");
        print_value(p, values[k]);
    }
}

static void print_type(printer *p, simt_type t) {
    textbuf_puts(p->out, simt_element_text(t.element));
    if (t.lanes != 1) textbuf_printf(p->out, "x%u", t.lanes);
}

static void print_types(printer *p, const simt_type *types, uint32_t n) {
    textbuf_puts(p->out, n == 1 ? "" : "(");
    for (uint32_t k = 0; k < n; k++) {
        if (k) textbuf_puts(p->out, ", ");
        print_type(p, types[k]);
    }
    textbuf_puts(p->out, n == 1 ? "" : ")");
}

static void print_indent(printer *p) {
    for (uint32_t k = 0; k < p->depth; k++) textbuf_puts(p->out, "  ");
}

// ---- Literals -----------------------------------------------------------------------------------
// Whole numbers as such, others as the shortest decimal that reads back to the same value of this
// format.
static void print_decimal(textbuf *out, simt_element e, double x) {
    if (e == SIMT_F64) {
        textbuf_double(out, x);
        return;
    }
    char digits[40];
    bool whole = x == rint(x) && fabs(x) < 1e9;
    snprintf(digits, sizeof digits, "%.0f", x);
    for (int precision = 1; precision <= 9 && !whole; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, x);
        if (simt_float_round(e, strtod(digits, NULL)) == x) break;
    }
    textbuf_puts(out, digits);
}

static void print_float(textbuf *out, simt_element e, double x) {
    uint64_t bits = simt_const_bits(e, x);
    if (!isnan(x)) print_decimal(out, e, x);
    else if (bits == simt_const_bits(e, NAN)) textbuf_puts(out, "nan");
    else textbuf_printf(out, "bits:0x%0*" PRIx64, (int)simt_element_bits(e) / 4, bits);
}

static void print_constant(printer *p, const simt_instr_info *i) {
    simt_element e = simt_typeof(p->func, i->results[0]).element;
    if (simt_is_float(e)) print_float(p->out, e, i->imm.f);
    else if (e == SIMT_PRED) textbuf_puts(p->out, i->imm.i ? "true" : "false");
    else textbuf_printf(p->out, "%" PRId64, i->imm.i);
}

// ---- Instructions -------------------------------------------------------------------------------
static void print_region(printer *p, simt_region r);

static void print_addr(printer *p, const simt_instr_info *i) {
    textbuf_printf(p->out, " * %u", i->mem.scale);
    uint64_t magnitude = i->imm.i < 0 ? 0 - (uint64_t)i->imm.i : (uint64_t)i->imm.i;
    if (magnitude) textbuf_printf(p->out, " %c %" PRIu64, i->imm.i < 0 ? '-' : '+', magnitude);
}

static void print_mem(printer *p, const simt_instr_info *i) {
    if (i->mem.align) textbuf_printf(p->out, " align %u", i->mem.align);
    if (i->mem.cache) textbuf_printf(p->out, " cache %s", simt_cache_words().text[i->mem.cache]);
    if (i->mem.invariant) textbuf_puts(p->out, " invariant");
    if (i->mem.pinned) textbuf_puts(p->out, " pinned");
}

static void print_imm(printer *p, const simt_instr_info *i, simt_written_imm imm) {
    switch (imm) {
    case IMM_NONE:
    case IMM_CALLEE: break;
    case IMM_CONST:
        textbuf_puts(p->out, " ");
        print_constant(p, i);
        break;
    case IMM_OFFSET: textbuf_printf(p->out, " %" PRId64, i->imm.i); break;
    case IMM_LANE: textbuf_printf(p->out, ", %" PRId64, i->imm.i); break;
    case IMM_WIDTH: textbuf_printf(p->out, " width %" PRId64, i->imm.i); break;
    case IMM_BYTES: textbuf_printf(p->out, " bytes %" PRId64, i->imm.i); break;
    case IMM_ADDR: print_addr(p, i); break;
    }
}

static void print_written_type(printer *p, const simt_instr_info *i, simt_written_type written) {
    if (written == TYPE_NOT_WRITTEN) return;
    simt_value v = written == TYPE_OF_RESULT ? i->results[0] : i->args[written == TYPE_OF_ARG1];
    textbuf_puts(p->out, " ");
    print_type(p, simt_typeof(p->func, v));
}

static void print_plain(printer *p, const simt_instr_info *i) {
    simt_syntax s = simt_syntax_of(i->op);
    bool call = s.imm == IMM_CALLEE;
    if (s.aux) textbuf_printf(p->out, " %s", simt_aux_words(s.aux).text[i->aux]);
    print_written_type(p, i, s.type);
    if (call) textbuf_printf(p->out, " %s(", p->func->module->funcs.data[i->imm.i]->name);
    else if (i->nargs) textbuf_puts(p->out, " ");
    print_values(p, i->args, i->nargs);
    if (call) textbuf_puts(p->out, ")");
    print_imm(p, i, s.imm);
    if (s.mem) print_mem(p, i);
}

static void print_carried(printer *p, const simt_value *params, const simt_value *init,
                          uint32_t n) {
    textbuf_puts(p->out, "(");
    for (uint32_t k = 0; k < n; k++) {
        if (k) textbuf_puts(p->out, ", ");
        print_value(p, params[k]);
        textbuf_puts(p->out, ": ");
        print_type(p, simt_typeof(p->func, params[k]));
        if (!init) continue;
        textbuf_puts(p->out, " = ");
        print_value(p, init[k]);
    }
    textbuf_puts(p->out, ") ");
}

static void print_for(printer *p, const simt_instr_info *i) {
    const simt_region_info *body = &p->func->regions.data[i->regions[0]];
    static const char *const before[3] = {" = ", " to ", " step "};
    textbuf_puts(p->out, " ");
    print_value(p, body->params.data[0]);
    for (uint32_t k = 0; k < 3; k++) {
        textbuf_puts(p->out, before[k]);
        print_value(p, i->args[k]);
    }
    if (i->aux == SIMT_LOOP_ROLLED) textbuf_puts(p->out, " rolled");
    textbuf_puts(p->out, i->nresults ? " carry " : " ");
    if (i->nresults) print_carried(p, body->params.data + 1, i->args + 3, i->nresults);
    print_region(p, i->regions[0]);
}

static void print_while(printer *p, const simt_instr_info *i) {
    const simt_region_info *regions = p->func->regions.data;
    textbuf_puts(p->out, " ");
    if (i->nargs) print_carried(p, regions[i->regions[0]].params.data, i->args, i->nargs);
    print_region(p, i->regions[0]);
    textbuf_puts(p->out, " do ");
    if (i->nargs) print_carried(p, regions[i->regions[1]].params.data, NULL, i->nargs);
    print_region(p, i->regions[1]);
}

static void print_if(printer *p, const simt_instr_info *i) {
    textbuf_puts(p->out, " ");
    print_value(p, i->args[0]);
    if (i->nresults) {
        simt_type *types = ARENA_ARRAY(p->func->module->arena, simt_type, i->nresults);
        for (uint32_t k = 0; k < i->nresults; k++) types[k] = simt_typeof(p->func, i->results[k]);
        textbuf_puts(p->out, " -> ");
        print_types(p, types, i->nresults);
    }
    textbuf_puts(p->out, i->aux == SIMT_IF_MASK   ? " mask "
                         : i->aux == SIMT_IF_RARE ? " rare "
                                                  : " ");
    print_region(p, i->regions[0]);
    if (i->nregions < 2) return;
    textbuf_puts(p->out, " else ");
    print_region(p, i->regions[1]);
}

static void print_instr(printer *p, simt_instr instr) {
    const simt_instr_info *i = &p->func->instrs.data[instr];
    print_indent(p);
    print_values(p, i->results, i->nresults);
    if (i->nresults) textbuf_puts(p->out, " = ");
    textbuf_puts(p->out, simt_op_table(i->op)->text);
    switch ((simt_written_form)simt_syntax_of(i->op).form) {
    case FORM_PLAIN: print_plain(p, i); break;
    case FORM_FOR: print_for(p, i); break;
    case FORM_WHILE: print_while(p, i); break;
    case FORM_IF: print_if(p, i); break;
    case FORM_MMA:
        textbuf_printf(p->out, " %s ", simt_aux_words(AUX_MMA).text[i->aux]);
        print_values(p, i->args, i->nargs);
        textbuf_printf(p->out, " steps %" PRId64, i->imm.i);
        if (i->op != SIMT_MMA_GROUP) textbuf_printf(p->out, " rows %u", (unsigned)i->mem.scale);
        break;
    case FORM_LIST:
        if (i->nargs) textbuf_puts(p->out, " ");
        print_values(p, i->args, i->nargs);
        break;
    }
    textbuf_puts(p->out, "\n");
}

static bool is_empty_yield(const simt_func *f, simt_instr i) {
    return f->instrs.data[i].op == SIMT_YIELD && !f->instrs.data[i].nargs;
}

static void print_region(printer *p, simt_region r) {
    const simt_region_info *region = &p->func->regions.data[r];
    textbuf_puts(p->out, "{\n");
    p->depth++;
    for (uint32_t k = 0; k < region->instrs.len; k++)
        if (k + 1 < region->instrs.len || !is_empty_yield(p->func, region->instrs.data[k]))
            print_instr(p, region->instrs.data[k]);
    p->depth--;
    print_indent(p);
    textbuf_puts(p->out, "}");
}

// ---- Functions ----------------------------------------------------------------------------------
static void print_params(printer *p) {
    textbuf_puts(p->out, "(");
    for (uint32_t k = 0; k < p->func->params.len; k++) {
        const simt_param_info *param = &p->func->params.data[k];
        if (k) textbuf_puts(p->out, ", ");
        print_value(p, param->value);
        textbuf_puts(p->out, ": ");
        print_type(p, simt_typeof(p->func, param->value));
        if (param->flags & SIMT_READONLY) textbuf_puts(p->out, " readonly");
        if (param->flags & SIMT_NOALIAS) textbuf_puts(p->out, " noalias");
    }
    textbuf_puts(p->out, ")");
}

static void print_func(textbuf *out, const simt_func *f) {
    printer p = {
        .out = out, .func = f, .numbers = ARENA_ARRAY(f->module->arena, uint32_t, f->values.len)};
    textbuf_printf(out, "\n%s %s", f->kernel ? "kernel" : "func", f->name);
    print_params(&p);
    if (f->kernel) textbuf_printf(out, " block %" PRIu32, f->block);
    if (f->kernel && f->occupancy)
        textbuf_printf(out, " occupancy %" PRIu32 "%s", f->occupancy, f->fits ? " fit" : "");
    if (f->kernel && f->shared_bytes) textbuf_printf(out, " shared %" PRIu32, f->shared_bytes);
    if (f->results.len) textbuf_puts(out, " -> ");
    if (f->results.len) print_types(&p, f->results.data, f->results.len);
    textbuf_puts(out, " ");
    print_region(&p, 1);
    textbuf_puts(out, "\n");
}

void simt_print(textbuf *out, const simt_module *m) {
    textbuf_printf(out, "module %s\n", m->name);
    for (uint32_t k = 0; k < m->funcs.len; k++) print_func(out, m->funcs.data[k]);
}
