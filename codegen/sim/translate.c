// A kernel to steps: structured control to jumps over a mask, functions behind the kernel with
// frames of their own (no function reaches itself, so one frame each is enough), values to places
// in the frame.
//
//     if %p { A } else { B }   →   IF p, else: ; A ; blend ; else: ELSE end: ; B ; blend ; end: END
#include "steps.h"

typedef struct {
    sim_place *places;    // by value; NULL: not reached
    sim_place *results;   // functions: where they leave them
    sim_place back;       // functions: the step to return to
    uint32_t start;
} unit;
typedef struct {
    arena *arena;
    const simt_module *module;
    sim_kernel *kernel;
    unit *units;             // by place in the module, the kernel's among them
    const simt_func *func;   // being translated
    unit *unit;
    sim_place top;
    simt_instr instr;
} translator;

// ---- Places -------------------------------------------------------------------------------------
// A region's values go with it, so regions side by side share their places.
static sim_place place_new(translator *t, uint32_t bytes) {
    sim_place p = t->top;
    t->top += (bytes + 63) / 64 * 64;
    if (t->top > t->kernel->frame) t->kernel->frame = t->top;
    return p;
}

static uint32_t whole_bytes(simt_type t) { return sim_value_bytes(t) + 4u * t.lanes; }

static sim_place place_value(translator *t, simt_value v) {
    return t->unit->places[v] = place_new(t, whole_bytes(simt_typeof(t->func, v)));
}

static sim_place place_of(const translator *t, simt_value v) { return t->unit->places[v]; }

// ---- Steps --------------------------------------------------------------------------------------
static sim_code *emit(translator *t, sim_step step) {
    sim_code c = {.step = step, .func = t->func, .instr = t->instr};
    VEC_PUSH(t->arena, &t->kernel->code, c);
    return &t->kernel->code.data[t->kernel->code.len - 1];
}

static uint32_t control(translator *t, sim_control k, sim_place a, sim_place r) {
    sim_code *c = emit(t, sim_control_step(k));
    c->a = a;
    c->r = r;
    return t->kernel->code.len - 1;
}

static void aim(translator *t, uint32_t at) {
    t->kernel->code.data[at].target = t->kernel->code.len;
}

static void move(translator *t, sim_control k, simt_type type, sim_place to, sim_place from) {
    sim_code *c = emit(t, sim_control_step(k));
    c->r = to;
    c->a = from;
    c->from = c->to = type;
    c->n = k == SIM_COPY ? whole_bytes(type) : 32u * type.lanes;
}

static void move_values(translator *t, sim_control k, const simt_value *to, const simt_value *from,
                        uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        move(t, k, simt_typeof(t->func, to[i]), place_of(t, to[i]), place_of(t, from[i]));
}

static void translate_region(translator *t, simt_region r);

static const simt_instr_info *end_of(const translator *t, simt_region r) {
    const simt_region_info *region = &t->func->regions.data[r];
    return &t->func->instrs.data[region->instrs.data[region->instrs.len - 1]];
}

// ---- Control ------------------------------------------------------------------------------------
static void translate_if(translator *t, const simt_instr_info *i) {
    sim_place saved = place_new(t, 8);   // the mask before, and the lanes of `then`
    uint32_t test = control(t, SIM_IF, place_of(t, i->args[0]), saved);
    sim_place top = t->top;
    translate_region(t, i->regions[0]);
    move_values(t, SIM_BLEND, i->results, end_of(t, i->regions[0])->args, i->nresults);
    aim(t, test);
    t->top = top;
    if (i->nregions > 1 && i->regions[1]) {
        uint32_t other = control(t, SIM_ELSE, 0, saved);
        translate_region(t, i->regions[1]);
        move_values(t, SIM_BLEND, i->results, end_of(t, i->regions[1])->args, i->nresults);
        aim(t, other);
    }
    control(t, SIM_END, 0, saved);
    t->top = top;
}

// A loop may yield its own parameters in another order: those go by a place of their own.
static void yield_to(translator *t, const simt_value *params, const simt_value *yielded,
                     uint32_t n) {
    sim_place *from = ARENA_ARRAY(t->arena, sim_place, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        from[k] = place_of(t, yielded[k]);
        for (uint32_t j = 0; j < k; j++)
            if (yielded[k] == params[j])
                from[k] = place_new(t, whole_bytes(simt_typeof(t->func, params[j])));
        if (from[k] != place_of(t, yielded[k]))
            move(t, SIM_COPY, simt_typeof(t->func, params[k]), from[k], place_of(t, yielded[k]));
    }
    for (uint32_t k = 0; k < n; k++)
        move(t, SIM_BLEND, simt_typeof(t->func, params[k]), place_of(t, params[k]), from[k]);
}

static uint32_t bounded(translator *t, sim_control k, const simt_instr_info *i, sim_place saved) {
    uint32_t at = control(t, k, place_of(t, t->func->regions.data[i->regions[0]].params.data[0]),
                          saved);
    sim_code *c = &t->kernel->code.data[at];
    c->b = place_of(t, i->args[1]);
    c->c = place_of(t, i->args[2]);
    c->from = simt_typeof(t->func, i->args[0]);
    return at;
}

// The results are the carried values' places: lanes that have left keep theirs.
static void translate_for(translator *t, const simt_instr_info *i) {
    const simt_value *params = t->func->regions.data[i->regions[0]].params.data;
    sim_place top = t->top, saved = place_new(t, 8);
    place_value(t, params[0]);
    for (uint32_t k = 0; k < i->nresults; k++)
        t->unit->places[params[k + 1]] = place_of(t, i->results[k]);
    move_values(t, SIM_COPY, params, i->args, 1);
    move_values(t, SIM_COPY, params + 1, i->args + 3, i->nresults);
    uint32_t enter = bounded(t, SIM_FOR, i, saved);
    translate_region(t, i->regions[0]);
    yield_to(t, params + 1, end_of(t, i->regions[0])->args, i->nresults);
    uint32_t next = bounded(t, SIM_NEXT, i, saved);
    t->kernel->code.data[next].target = enter + 1;
    aim(t, enter);
    control(t, SIM_END, 0, saved);
    t->top = top;
}

static void translate_while(translator *t, const simt_instr_info *i) {
    const simt_value *params = t->func->regions.data[i->regions[0]].params.data;
    const simt_value *inside = t->func->regions.data[i->regions[1]].params.data;
    uint32_t n = i->nresults;
    sim_place top = t->top,
              saved = place_new(
                  t, 24);   // the mask before, the lanes that stay, rounds, rounds without a change
    for (uint32_t k = 0; k < n; k++) {
        place_value(t, params[k]);
        place_value(t, inside[k]);
    }
    move_values(t, SIM_COPY, params, i->args, n);
    control(t, SIM_WHILE, 0, saved);
    uint32_t test = t->kernel->code.len;
    translate_region(t, i->regions[0]);
    const simt_value *tested = end_of(t, i->regions[0])->args;
    uint32_t leave = control(t, SIM_LEAVE, place_of(t, tested[0]), saved);
    move_values(t, SIM_BLEND, i->results, tested + 1, n);
    aim(t, leave);
    uint32_t stay = control(t, SIM_STAY, 0, saved);
    move_values(t, SIM_COPY, inside, tested + 1, n);
    translate_region(t, i->regions[1]);
    move_values(t, SIM_COPY, params, end_of(t, i->regions[1])->args, n);
    uint32_t again = control(t, SIM_AGAIN, 0, saved);
    t->kernel->code.data[again].target = test;
    t->kernel->code.data[again].places = t->unit->places;
    aim(t, stay);
    control(t, SIM_END, 0, saved);
    t->top = top;
}

// ---- Functions ----------------------------------------------------------------------------------
static void translate_call(translator *t, const simt_instr_info *i) {
    const simt_func *callee = t->module->funcs.data[i->imm.i];
    unit *u = &t->units[i->imm.i];
    for (uint32_t k = 0; k < i->nargs; k++) {
        simt_value param = callee->params.data[k].value;
        move(t, SIM_COPY, simt_typeof(callee, param), u->places[param], place_of(t, i->args[k]));
    }
    uint32_t at = control(t, SIM_CALL, u->back, 0);
    t->kernel->code.data[at].imm = i->imm.i;
    for (uint32_t k = 0; k < i->nresults; k++)
        move(t, SIM_COPY, callee->results.data[k], place_of(t, i->results[k]), u->results[k]);
}

static void translate_return(translator *t, const simt_instr_info *i) {
    for (uint32_t k = 0; k < i->nargs; k++)
        move(t, SIM_COPY, t->func->results.data[k], t->unit->results[k], place_of(t, i->args[k]));
    control(t, t->func->kernel ? SIM_FINISH : SIM_RETURN, t->unit->back, 0);
}

// ---- One instruction ----------------------------------------------------------------------------
static sim_step step_of(const simt_func *f, const simt_instr_info *i) {
    sim_step s = sim_lanes_step(f, i);
    if (!s) s = sim_convert_step(f, i);
    if (!s) s = sim_memory_step((simt_op)i->op);
    if (!s) s = sim_warp_step((simt_op)i->op);
    if (!s) s = sim_copy_step((simt_op)i->op);
    if (!s) ICE("the simulator has no step for '%s'", simt_op_table((simt_op)i->op)->text);
    return s;
}

static void translate_plain(translator *t, const simt_instr_info *i) {
    sim_code *c = emit(t, step_of(t->func, i));
    sim_place x[3] = {0};
    for (uint32_t k = 0; k < i->nargs && k < 3; k++) x[k] = place_of(t, i->args[k]);
    c->a = x[0];
    c->b = x[1];
    c->c = x[2];
    c->imm = i->imm.i;
    if (simt_is_group(i->op)) {
        c->places = t->unit->places;
        t->kernel->groups = true;
    }
    if (i->nresults) c->r = place_of(t, i->results[0]), c->to = simt_typeof(t->func, i->results[0]);
    bool second = i->op == SIMT_ST || i->op == SIMT_ST_SOME || i->op == SIMT_RED ||
                  i->op == SIMT_ATOM || i->op == SIMT_ATOM_CAS;
    c->from = i->nargs ? simt_typeof(t->func, i->args[second]) : c->to;
    c->n = 32u * (i->nresults ? c->to.lanes : c->from.lanes);
}

static void translate_instr(translator *t, simt_instr instr) {
    const simt_instr_info *i = &t->func->instrs.data[instr];
    t->instr = instr;
    // in the image; moved by the region's owner
    if (i->op == SIMT_CONST || i->op == SIMT_YIELD) return;
    for (uint32_t k = 0; k < i->nresults; k++) place_value(t, i->results[k]);
    if (i->op == SIMT_IF) translate_if(t, i);
    else if (i->op == SIMT_FOR) translate_for(t, i);
    else if (i->op == SIMT_WHILE) translate_while(t, i);
    else if (i->op == SIMT_CALL) translate_call(t, i);
    else if (i->op == SIMT_RETURN) translate_return(t, i);
    else translate_plain(t, i);
}

static void translate_region(translator *t, simt_region r) {
    const simt_region_info *region = &t->func->regions.data[r];
    simt_instr owner = t->instr;
    for (uint32_t k = 0; k < region->instrs.len; k++) translate_instr(t, region->instrs.data[k]);
    t->instr = owner;
}

// ---- A kernel -----------------------------------------------------------------------------------
static void reach(translator *t, uint32_t number) {
    unit *u = &t->units[number];
    const simt_func *f = t->module->funcs.data[number];
    if (u->places) return;
    u->places = ARENA_ARRAY(t->arena, sim_place, f->values.len);
    for (uint32_t k = 1; k < f->instrs.len; k++)
        if (f->instrs.data[k].op == SIMT_CALL) reach(t, (uint32_t)f->instrs.data[k].imm.i);
}

static void put_constant(const simt_func *f, const simt_instr_info *i, uint8_t *at) {
    simt_type type = simt_typeof(f, i->results[0]);
    uint64_t bits = type.element >= SIMT_F16 && type.element <= SIMT_F64
                        ? simt_const_bits((simt_element)type.element, i->imm.f)
                        : (uint64_t)i->imm.i;
    sim_put_all(at, type, bits);
}

// Constants of all that is reached stand at the start of the frame, behind the kernel's parameters.
static void place_constants(translator *t, bool fill) {
    for (uint32_t u = 0; u < t->module->funcs.len; u++) {
        const simt_func *f = t->module->funcs.data[u];
        if (!t->units[u].places) continue;
        t->func = f;
        t->unit = &t->units[u];
        for (uint32_t k = 1; k < f->instrs.len; k++) {
            const simt_instr_info *i = &f->instrs.data[k];
            if (i->op != SIMT_CONST) continue;
            if (fill) put_constant(f, i, t->kernel->image + place_of(t, i->results[0]));
            else place_value(t, i->results[0]);
        }
    }
}

static void place_params(translator *t, uint32_t number) {
    const simt_func *f = t->func = t->module->funcs.data[number];
    unit *u = t->unit = &t->units[number];
    for (uint32_t k = 0; k < f->params.len; k++) place_value(t, f->params.data[k].value);
    if (f->kernel) return;
    u->results = ARENA_ARRAY(t->arena, sim_place, f->results.len + 1);
    for (uint32_t k = 0; k < f->results.len; k++)
        u->results[k] = place_new(t, whole_bytes(f->results.data[k]));
    u->back = place_new(t, 4);
}

static void translate_unit(translator *t, uint32_t number) {
    t->func = t->module->funcs.data[number];
    t->unit = &t->units[number];
    t->unit->start = t->kernel->code.len;
    t->top = t->kernel->frame;   // what its callers hold stays
    translate_region(t, 1);
}

static void aim_calls(translator *t) {
    for (uint32_t k = 0; k < t->kernel->code.len; k++) {
        sim_code *c = &t->kernel->code.data[k];
        if (c->step == sim_control_step(SIM_CALL)) c->target = t->units[c->imm].start;
    }
}

sim_kernel *sim_translate(arena *a, const simt_func *f) {
    sim_kernel *k = ARENA_NEW(a, sim_kernel);
    translator t = {.arena = a, .module = f->module, .kernel = k};
    uint32_t n = t.module->funcs.len, self = 0;
    while (t.module->funcs.data[self] != f) self++;
    t.units = ARENA_ARRAY(a, unit, n);
    k->func = f;
    reach(&t, self);
    place_params(&t, self);
    k->params = t.units[self].places;
    place_constants(&t, false);
    k->constants = k->frame;
    k->image = arena_alloc(a, k->constants + 64);
    place_constants(&t, true);
    for (uint32_t u = 0; u < n; u++)
        if (u != self && t.units[u].places) place_params(&t, u);
    translate_unit(&t, self);
    for (uint32_t u = 0; u < n; u++)
        if (u != self && t.units[u].places) translate_unit(&t, u);
    aim_calls(&t);
    k->written = sim_written_params(a, f);
    k->overlaps = sim_overlaps(f);
    return k;
}
