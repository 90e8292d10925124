// The verifier of SIMT IR: structure, scopes and types of every function, then what
// simt_verify_op.c and simt_verify_uniform.c ask. It takes nothing for granted but that vectors
// hold what their lengths say.
#include "simt_verify.h"

#include <stdlib.h>
#include <string.h>

// ---- Faults -------------------------------------------------------------------------------------
static void set_fault(simt_verifier *v, const char *where, const char *format, va_list ap) {
    if (v->fault) return;
    v->fault = arena_printf(v->arena, "%s '%s'%s: %s", v->func->kernel ? "kernel" : "function",
                            v->func->name, where, arena_vprintf(v->arena, format, ap));
}

static void simt_verify_fault(simt_verifier *v, const char *format, ...) SUP_PRINTF(2, 3);
static void simt_verify_fault(simt_verifier *v, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    set_fault(v, "", format, ap);
    va_end(ap);
}

static const char *value_text(const simt_verifier *v, simt_value value) {
    if (!value || value >= v->func->values.len) return "%?";
    const char *name = v->func->values.data[value].name;
    if (name) return arena_printf(v->arena, "%%%s", name);
    return v->numbers[value] ? arena_printf(v->arena, "%%%u", v->numbers[value] - 1) : "%?";
}

static void put_values(const simt_verifier *v, textbuf *out, const simt_value *values, uint32_t n) {
    for (uint32_t k = 0; k < n && k < 8; k++)
        textbuf_printf(out, "%s%s", k ? ", " : "", value_text(v, values[k]));
    if (n > 8) textbuf_puts(out, ", ...");
}

void simt_verify_fault_at(simt_verifier *v, simt_instr instr, const char *format, ...) {
    const simt_instr_info *i = &v->func->instrs.data[instr];
    textbuf where = textbuf_new(v->arena);
    textbuf_puts(&where, ", '");
    put_values(v, &where, i->results, i->nresults);
    textbuf_printf(&where, "%s%s%s", i->nresults ? " = " : "", simt_op_table(i->op)->text,
                   i->nargs ? " " : "");
    put_values(v, &where, i->args, i->nargs);
    textbuf_puts(&where, "'");
    va_list ap;
    va_start(ap, format);
    set_fault(v, where.data, format, ap);
    va_end(ap);
}

// ---- Values and scopes --------------------------------------------------------------------------
static void number(simt_verifier *v, simt_value value) {
    if (value < v->func->values.len && !v->func->values.data[value].name && !v->numbers[value])
        v->numbers[value] = ++v->next_number;
}

static void define(simt_verifier *v, simt_value value, simt_instr def, simt_region region,
                   uint32_t index) {
    const simt_value_info *info = value && value < v->func->values.len
                                      ? &v->func->values.data[value]
                                      : NULL;
    if (!info || info->def != def || info->region != region || info->index != index ||
        v->visible[value]) {
        simt_verify_fault(v, "value %u is not the result or parameter it stands for", value);
        return;
    }
    number(v, value);
    v->visible[value] = true;
    VEC_PUSH(v->arena, &v->scope, value);
}

static void leave_scope(simt_verifier *v, uint32_t length) {
    while (v->scope.len > length) v->visible[v->scope.data[--v->scope.len]] = false;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void verify_names(simt_verifier *v) {
    VEC(const char *) names = {0};
    for (uint32_t k = 1; k < v->func->values.len; k++) {
        const char *name = v->func->values.data[k].name;
        if (!name) continue;
        if (!simt_name_valid(name)) simt_verify_fault(v, "'%%%s' is no name", name);
        VEC_PUSH(v->arena, &names, name);
    }
    if (names.len) qsort(names.data, names.len, sizeof *names.data, compare_names);
    for (uint32_t k = 1; k < names.len; k++)
        if (!strcmp(names.data[k - 1], names.data[k]))
            simt_verify_fault(v, "two values are called '%%%s'", names.data[k]);
}

// ---- Regions ------------------------------------------------------------------------------------
static bool types_are(const simt_func *f, const simt_value *values, uint32_t n,
                      const simt_value *like, uint32_t nlike) {
    if (n != nlike) return false;
    for (uint32_t k = 0; k < n; k++)
        if (!simt_type_equal(simt_typeof(f, values[k]), simt_typeof(f, like[k]))) return false;
    return true;
}

static void verify_region(simt_verifier *v, simt_region r, simt_instr owner);

static const simt_instr_info *end_of(const simt_func *f, simt_region r) {
    const simt_region_info *region = &f->regions.data[r];
    return &f->instrs.data[region->instrs.data[region->instrs.len - 1]];
}

// What the region of an instruction yields must be like `values`, behind a pred where one is asked
// for.
static void verify_yield(simt_verifier *v, simt_instr instr, simt_region r, bool pred,
                         const simt_value *values, uint32_t n) {
    if (v->fault) return;
    const simt_instr_info *end = end_of(v->func, r);
    if (pred && (!end->nargs || !simt_type_equal(simt_typeof(v->func, end->args[0]), SIMT_T(PRED))))
        simt_verify_fault_at(v, instr,
                             "its first region must yield a pred, then the values it carries");
    else if (!types_are(v->func, end->args + pred, end->nargs - pred, values, n))
        simt_verify_fault_at(
            v, instr, "a region of it yields values of other number or type than it has results");
}

static void verify_params(simt_verifier *v, simt_instr instr, simt_region r, bool index,
                          const simt_value *values, uint32_t n) {
    const simt_func *f = v->func;
    const simt_instr_info *i = &f->instrs.data[instr];
    if (v->fault) return;
    if (!r || r >= f->regions.len || v->seen_region[r]) {
        simt_verify_fault_at(v, instr, "its region is none, or stands elsewhere too");
        return;
    }
    const simt_region_info *region = &f->regions.data[r];
    for (uint32_t k = 0; k < region->params.len; k++)
        if (!region->params.data[k] || region->params.data[k] >= f->values.len) {
            simt_verify_fault_at(v, instr, "a parameter of its region is no value");
            return;
        }
    bool indexed = !index ||
                   (region->params.len && types_are(f, region->params.data, 1, i->args, 1));
    const simt_value *carried = index ? region->params.data + 1
                                      : region->params.data;   // NULL where there are none
    if (!indexed || !types_are(f, carried, region->params.len - index, values, n))
        simt_verify_fault_at(
            v, instr, "the parameters of its region differ in number or type from what it carries");
}

static void verify_regions(simt_verifier *v, simt_instr instr) {
    const simt_instr_info *i = &v->func->instrs.data[instr];
    bool is_if = i->op == SIMT_IF, is_for = i->op == SIMT_FOR, is_while = i->op == SIMT_WHILE;
    uint32_t most = is_if || is_while ? 2 : is_for;
    bool one_arm = is_if && i->nregions == 1 && !i->nresults;
    if (i->nregions != most && !one_arm) {
        bool lacks_else = is_if && i->nregions == 1;
        simt_verify_fault_at(v, instr,
                             lacks_else ? "it gives values, so it needs an else"
                                        : "it has a wrong number of regions");
    }
    for (uint32_t k = 0; k < i->nregions && !v->fault; k++) {
        verify_params(v, instr, i->regions[k], is_for, i->results, is_if ? 0 : i->nresults);
        if (!v->fault) verify_region(v, i->regions[k], instr);
        verify_yield(v, instr, i->regions[k], is_while && k == 0, i->results, i->nresults);
    }
}

// ---- Instructions -------------------------------------------------------------------------------
static bool args_are_visible(simt_verifier *v, simt_instr instr) {
    const simt_instr_info *i = &v->func->instrs.data[instr];
    for (uint32_t k = 0; k < i->nargs; k++) {
        if (i->args[k] && i->args[k] < v->func->values.len && v->visible[i->args[k]]) continue;
        simt_verify_fault_at(v, instr,
                             "%s is not defined in this region or one around it, before this use",
                             value_text(v, i->args[k]));
        return false;
    }
    for (uint32_t k = 0; k < i->nresults; k++)
        if (!i->results[k] || i->results[k] >= v->func->values.len) {
            simt_verify_fault_at(v, instr, "a result is no value");
            return false;
        }
    return true;
}

static void verify_instr(simt_verifier *v, simt_instr instr) {
    const simt_instr_info *i = &v->func->instrs.data[instr];
    for (uint32_t k = 0; k < i->nresults; k++) number(v, i->results[k]);
    if (!args_are_visible(v, instr)) return;
    const char *fault = simt_types_fault(v->func, instr);
    if (!fault) fault = simt_attribute_fault(v->func, i);
    if (fault) simt_verify_fault_at(v, instr, "%s", fault);
    else verify_regions(v, instr);
    for (uint32_t k = 0; k < i->nresults && !v->fault; k++) define(v, i->results[k], instr, 0, k);
}

static void verify_return(simt_verifier *v, simt_instr instr) {
    const simt_instr_info *i = &v->func->instrs.data[instr];
    const simt_func *f = v->func;
    bool same = i->nargs == f->results.len;
    for (uint32_t k = 0; same && k < i->nargs; k++)
        same = simt_type_equal(simt_typeof(f, i->args[k]), f->results.data[k]);
    if (!same)
        simt_verify_fault_at(v, instr,
                             "it returns values of other number or type than the head says");
}

// Of the instruction at place k of n in a region: whether it may stand there.
static void verify_place(simt_verifier *v, simt_instr instr, bool last, bool body) {
    const simt_instr_info *i = &v->func->instrs.data[instr];
    bool ends = simt_op_table(i->op)->flags & SIMT_TERMINATOR;
    if (ends && !last) simt_verify_fault_at(v, instr, "instructions follow it in its region");
    else if (last && !ends)
        simt_verify_fault_at(v, instr, "its region ends here without '%s'",
                             body ? "return" : "yield");
    else if (ends && (i->op == SIMT_RETURN) != body)
        simt_verify_fault_at(v, instr,
                             body ? "a body ends with 'return'" : "'return' ends the body only");
}

static uint32_t times_in_body(const simt_func *f, uint16_t op) {
    const simt_region_info *body = &f->regions.data[1];
    uint32_t n = 0;
    for (uint32_t i = 0; i < body->instrs.len; i++)
        n += f->instrs.data[body->instrs.data[i]].op == op;
    return n;
}

// Every thread goes past it, and starts the next launch once; past other waits, wherever they
// stand, some may.
static void verify_dependence(simt_verifier *v, simt_instr instr, bool body) {
    uint16_t op = v->func->instrs.data[instr].op;
    if (op != SIMT_LAUNCH_NEXT && op != SIMT_GRID_WAIT) return;
    uint32_t times = times_in_body(v->func, op);
    if (!body && (op == SIMT_LAUNCH_NEXT || !times))
        simt_verify_fault_at(v, instr, "it stands in a loop or under a condition");
    if (op == SIMT_LAUNCH_NEXT && times > 1)
        simt_verify_fault_at(v, instr, "it stands there twice");
}

static void verify_region(simt_verifier *v, simt_region r, simt_instr owner) {
    const simt_func *f = v->func;
    const simt_region_info *region = &f->regions.data[r];
    uint32_t outer = v->scope.len;
    if (++v->depth > SIMT_MAX_DEPTH)
        simt_verify_fault(v, "regions nest deeper than %d", SIMT_MAX_DEPTH);
    v->seen_region[r] = true;
    for (uint32_t k = 0; k < region->params.len && !v->fault; k++)
        define(v, region->params.data[k], 0, r, k);
    if (!region->instrs.len) {
        if (owner) simt_verify_fault_at(v, owner, "a region of it is empty");
        else simt_verify_fault(v, "its body is empty");
    }
    for (uint32_t k = 0; k < region->instrs.len && !v->fault; k++) {
        simt_instr instr = region->instrs.data[k];
        if (!instr || instr >= f->instrs.len || v->seen_instr[instr] ||
            f->instrs.data[instr].op >= SIMT_OP_COUNT) {
            simt_verify_fault(v, "instruction %u is none, or stands twice", instr);
            break;
        }
        v->seen_instr[instr] = true;
        verify_instr(v, instr);
        verify_place(v, instr, k + 1 == region->instrs.len, !owner);
        if (!v->fault) verify_dependence(v, instr, !owner);
        if (!v->fault && f->instrs.data[instr].op == SIMT_RETURN) verify_return(v, instr);
    }
    leave_scope(v, outer);
    v->depth--;
}

// ---- Functions ----------------------------------------------------------------------------------
static const char *param_fault(const simt_func *f, simt_type t, uint32_t flags) {
    if (!simt_type_valid(t)) return "has no valid type";
    if (flags && !simt_is_pointer(t.element))
        return "is no pointer, so cannot be readonly or noalias";
    if (!f->kernel)
        return simt_is_pointer(t.element) ? "is a pointer, which functions do not take" : NULL;
    bool stored = t.lanes == 1 && (t.element == SIMT_PTR_GLOBAL || simt_is_int(t.element) ||
                                   simt_is_float(t.element));
    return stored ? NULL : "must be a global pointer or a scalar integer or float, as of a kernel";
}

static void verify_head(simt_verifier *v) {
    const simt_func *f = v->func;
    if (!simt_name_valid(f->name)) simt_verify_fault(v, "that is no name");
    if (f->kernel && (f->block < 1 || f->block > 1024))
        simt_verify_fault(v, "a block has 1 to 1024 threads, not %u", f->block);
    if (f->kernel && f->occupancy && (f->occupancy < f->block || f->occupancy > SIMT_MOST_THREADS))
        simt_verify_fault(v, "room is for %u, the threads of a block, to %d threads, not %u",
                          f->block, SIMT_MOST_THREADS, f->occupancy);
    if (f->kernel && f->results.len) simt_verify_fault(v, "a kernel returns nothing");
    for (uint32_t k = 0; k < f->results.len; k++)
        if (!simt_type_valid(f->results.data[k]) || simt_is_pointer(f->results.data[k].element))
            simt_verify_fault(v, "result %u has no valid type", k);
    for (uint32_t k = 0; k < f->params.len && !v->fault; k++) {
        const simt_param_info *p = &f->params.data[k];
        define(v, p->value, 0, 0, k);
        if (v->fault) return;
        const char *fault = param_fault(f, simt_typeof(f, p->value), p->flags);
        if (fault) simt_verify_fault(v, "parameter %s %s", value_text(v, p->value), fault);
    }
    if (f->regions.len < 2 || f->regions.data[1].params.len)
        simt_verify_fault(v, "it has no body, or one with parameters");
}

static const char *verify_func(arena *a, const simt_func *f) {
    simt_verifier v = {.arena = a, .func = f};
    v.seen_region = ARENA_ARRAY(a, bool, f->regions.len);
    v.seen_instr = ARENA_ARRAY(a, bool, f->instrs.len);
    v.visible = ARENA_ARRAY(a, bool, f->values.len);
    v.numbers = ARENA_ARRAY(a, uint32_t, f->values.len);
    verify_names(&v);
    verify_head(&v);
    if (!v.fault) verify_region(&v, 1, 0);
    if (!v.fault) simt_verify_uniform(&v);
    return v.fault;
}

static uint32_t region_depth(const simt_func *f, simt_region r) {
    uint32_t deepest = 0;
    for (uint32_t k = 0; k < f->regions.data[r].instrs.len; k++) {
        const simt_instr_info *i = &f->instrs.data[f->regions.data[r].instrs.data[k]];
        for (uint32_t n = 0; n < i->nregions; n++) {
            uint32_t depth = region_depth(f, i->regions[n]);
            if (depth > deepest) deepest = depth;
        }
    }
    return deepest + 1;
}

bool simt_too_deep(const simt_module *m) {
    for (uint32_t k = 0; k < m->funcs.len; k++)
        if (m->funcs.data[k]->regions.len > SIMT_MAX_DEPTH &&
            region_depth(m->funcs.data[k], 1) > SIMT_MAX_DEPTH)
            return true;
    return false;
}

// ---- Modules ------------------------------------------------------------------------------------
static const char *verify_function_names(arena *a, const simt_module *m) {
    if (!simt_name_valid(m->name)) return arena_printf(a, "'%s' is no name of a module", m->name);
    const char **names = ARENA_ARRAY(a, const char *, m->funcs.len);
    for (uint32_t k = 0; k < m->funcs.len; k++) names[k] = m->funcs.data[k]->name;
    if (m->funcs.len) qsort(names, m->funcs.len, sizeof *names, compare_names);
    for (uint32_t k = 1; k < m->funcs.len; k++)
        if (!strcmp(names[k - 1], names[k]))
            return arena_printf(a, "two functions are called '%s'", names[k]);
    return NULL;
}

typedef struct {
    uint32_t caller, next;   // next: of the same callee; 0 ends
} call_edge;

// Takes away functions all of whose callees are taken away; what stays is in a circle of calls, or
// leads into one. Those before `first_added` are none of these: they call each other alone.
static const char *verify_calls(arena *a, const simt_module *m, uint32_t first_added) {
    uint32_t n = m->funcs.len, taken = 0, ready_count = 0;
    uint32_t *open = ARENA_ARRAY(a, uint32_t, n), *first = ARENA_ARRAY(a, uint32_t, n),
             *ready = ARENA_ARRAY(a, uint32_t, n);
    VEC(call_edge) edges = {0};
    VEC_PUSH(a, &edges, (call_edge){0});
    for (uint32_t f = first_added; f < n; f++) {
        const simt_func *func = m->funcs.data[f];
        for (uint32_t k = 1; k < func->instrs.len; k++) {
            if (func->instrs.data[k].op != SIMT_CALL) continue;
            int64_t callee = func->instrs.data[k].imm.i;
            if (callee < first_added || callee >= n)
                continue;   // the function's own verification says so
            VEC_PUSH(a, &edges, ((call_edge){f, first[callee]}));
            first[callee] = edges.len - 1;
            open[f]++;
        }
    }
    for (uint32_t f = first_added; f < n; f++)
        if (!open[f]) ready[ready_count++] = f;
    for (; taken < ready_count; taken++)
        for (uint32_t e = first[ready[taken]]; e; e = edges.data[e].next)
            if (!--open[edges.data[e].caller]) ready[ready_count++] = edges.data[e].caller;
    for (uint32_t f = first_added; f < n; f++)
        if (open[f])
            return arena_printf(a, "function '%s': its calls lead into a circle",
                                m->funcs.data[f]->name);
    return NULL;
}

const char *simt_verify(arena *a, const simt_module *m) { return simt_verify_added(a, m, 0); }

const char *simt_verify_added(arena *a, const simt_module *m, uint32_t first) {
    const char *fault = verify_function_names(a, m);
    if (!fault) fault = verify_calls(a, m, first);
    for (uint32_t k = first; k < m->funcs.len && !fault; k++)
        fault = verify_func(a, m->funcs.data[k]);
    return fault;
}
