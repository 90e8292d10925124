// gnnc explain --cost: what each kernel of the version that a graph selects takes, told by a model
// (cost/) from a sample of its blocks in the simulator. Nothing is timed, and no GPU is needed.
#include "estimate.h"
#include "roofline.h"
#include "run_sim.h"
#include "svg.h"
#include "table.h"

#include <jansson.h>
#include <string.h>

typedef struct {
    const run_launched *of;
    cost_launch launch;
    cost_kernel cost;
} told_kernel;
typedef VEC(told_kernel) told_kernels;
typedef struct {
    run_session run;   // first: what run.h's functions take
    bool told;         // on which machine
    roofline_dots dots;
} cost_session;

// ---- What it comes to ---------------------------------------------------------------------------
static const sim_profile *profile_of(const sim_profile *p, uint32_t n, const char *kernel) {
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(p[i].kernel, kernel)) return &p[i];
    return NULL;
}

const cost_machine *run_cost_machine(const run_session *r) {
    const cost_machine *named = device_named(r->d);
    const cost_machine *m = named ? named : cost_machine_of(r->target.arch);
    return m ? m : cost_machine_at(0);
}

static told_kernels tell(run_op *o, const run_estimate *e) {
    const cost_machine *m = run_cost_machine(o->r);
    const sim_profile *p;
    told_kernels all = {0};
    uint32_t n = run_sim_sampled(o, &p);
    for (uint32_t i = 0; i < e->launched.len; i++) {
        const run_launched *l = &e->launched.data[i];
        const sim_profile *x = profile_of(p, n, l->resources.kernel->name);
        if (!x) continue;
        bool before = false;
        for (uint32_t k = 0; k < all.len; k++)
            before |= all.data[k].of->resources.kernel == l->resources.kernel;
        if (before) continue;   // launches of other sizes are in its profile
        told_kernel k = {.of = l,
                         .launch = {.times = x->times,
                                    .blocks = x->blocks,
                                    .launches = x->launches,
                                    .resident = l->resources.fits.blocks}};
        k.cost = cost_of(m, &k.launch);
        VEC_PUSH(o->r->d->arena, &all, k);
    }
    return all;
}

static double sum_of(const told_kernels *all) {
    double ns = 0;
    for (uint32_t i = 0; i < all->len; i++) ns += all->data[i].cost.ns;
    return ns;
}

// ---- The table ----------------------------------------------------------------------------------
static const char *us(arena *a, double ns) { return arena_printf(a, "%.1f", ns * 1e-3); }

static void put_cells(arena *a, const told_kernel *k, const char **cell) {
    const cost_kernel *c = &k->cost;
    *cell++ = k->of->resources.kernel->name;
    *cell++ = arena_printf(a, "%llu", (unsigned long long)k->launch.launches);
    *cell++ = arena_printf(a, "%llu", (unsigned long long)k->launch.blocks);
    *cell++ = arena_printf(a, "%u", k->launch.resident);
    *cell++ = us(a, c->ns);
    for (cost_bound b = 0; b < COST_BOUNDS; b++) *cell++ = us(a, c->by[b]);
    *cell++ = arena_printf(a, "%.2f", c->memory_bytes * 1e-6);
    *cell++ = arena_printf(a, "%.2f", c->l2_bytes * 1e-6);
    *cell++ = c->bound == COST_UNIT ? sim_unit_title(c->unit) : cost_bound_title(c->bound);
}

static void print_table(const run_op *o, const run_row *row, const told_kernels *all) {
    enum { BEFORE = 5, BEHIND = 3, COLUMNS = BEFORE + COST_BOUNDS + BEHIND };
    arena *a = o->r->d->arena;
    const cost_machine *m = run_cost_machine(o->r);
    static const char *const before[BEFORE] = {"kernel", "launches", "blocks", "resident", "us"},
                             *const behind[BEHIND] = {"memory MB", "L2 MB", "bound by"};
    const char **cells = ARENA_ARRAY(a, const char *, (all->len + 1) * COLUMNS);
    memcpy(cells, before, sizeof before);
    for (cost_bound b = 0; b < COST_BOUNDS; b++) cells[BEFORE + b] = cost_bound_title(b);
    memcpy(cells + BEFORE + COST_BOUNDS, behind, sizeof behind);
    for (uint32_t i = 0; i < all->len; i++) put_cells(a, &all->data[i], cells + (i + 1) * COLUMNS);
    fprintf(o->r->notes, "%s on %s, version '%s', %s: %.1f us, by the model%s\n", row->name,
            m->name, o->taken, row->sizes, sum_of(all) * 1e-3,
            cost_machine_source(m, COST_FIELD_gb_per_s) == COST_MEASURED
                ? ""
                : ", whose rates are not measured");
    text_table t = {.rows = all->len + 1,
                    .columns = COLUMNS,
                    .first_number = 1,
                    .last_number = COLUMNS - 2,
                    .cells = cells};
    table_print(a, &t, o->r->notes);
    fputs("\n", o->r->notes);
}

// ---- JSON ---------------------------------------------------------------------------------------
static json_t *json_of_kernel(const told_kernel *k) {
    const cost_kernel *c = &k->cost;
    const sim_times *t = k->launch.times;
    json_t *by = json_object(), *units = json_object();
    for (cost_bound b = 0; b < COST_BOUNDS; b++)
        json_object_set_new(by, cost_bound_title(b), json_real(c->by[b]));
    for (sim_unit u = 0; u < SIM_UNITS; u++)
        json_object_set_new(units, sim_unit_title(u), json_real(t->units[u]));
    return json_pack("{ss sI sI sI sI sf ss so so sf sf sf sf sf sf sf sI}", "kernel",
                     k->of->resources.kernel->name, "launches", (json_int_t)k->launch.launches,
                     "blocks", (json_int_t)k->launch.blocks, "resident",
                     (json_int_t)k->launch.resident, "ran", (json_int_t)t->ran, "ns", c->ns,
                     "bound_by", cost_bound_title(c->bound), "by_ns", by, "units", units,
                     "memory_bytes", c->memory_bytes, "l2_bytes", c->l2_bytes, "issued", t->issued,
                     "l1_wavefronts", t->wavefronts[0], "shared_wavefronts", t->wavefronts[1],
                     "lines", t->lines, "block_cycles", t->cycles / (double)k->launch.blocks,
                     "longest_cycles", (json_int_t)t->longest);
}

static void print_json(const run_op *o, const run_row *row, const told_kernels *all) {
    json_t *kernels = json_array();
    for (uint32_t i = 0; i < all->len; i++)
        json_array_append_new(kernels, json_of_kernel(&all->data[i]));
    json_t *x = json_pack("{ss ss ss ss ss ss sf so}", "op", row->name, "type", row->type, "plan",
                          o->taken, "graph", row->graph, "sizes", row->sizes, "device",
                          run_cost_machine(o->r)->name, "ns", sum_of(all), "kernels", kernels);
    if (!x) ICE("a row has no JSON");
    json_dumpf(x, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
    fputs("\n", stdout);
    json_decref(x);
}

// ---- The machine --------------------------------------------------------------------------------
static const char *fields_from(arena *a, const cost_machine *m, cost_source s) {
    textbuf out = textbuf_new(a);
    for (cost_field f = 0; f < COST_FIELDS; f++)
        if (cost_machine_source(m, f) == s)
            textbuf_printf(&out, "%s%s %.6g", out.len ? ", " : "", cost_field_name(f),
                           cost_machine_number(m, f));
    return out.data;
}

// Once, ahead of all tables: whose numbers times are told by, and where each comes from.
static void tell_machine(const run_session *r) {
    static const char *const titles[COST_SOURCES] = {
        "measured", "of the driver", "of the data sheet", "scaled from the h200", "round numbers"};
    const driver *d = r->d;
    const cost_machine *m = run_cost_machine(r);
    fprintf(r->notes, "machine '%s' of %s\n", m->name,
            d->machine ? option_text(d, OPT_MACHINE, "")
                       : "the table (gnnc calibrate makes others)");
    for (cost_source s = 0; s < COST_SOURCES; s++) {
        const char *fields = fields_from(d->arena, m, s);
        if (fields && *fields) fprintf(r->notes, "  %s: %s\n", titles[s], fields);
    }
    fputs("\n", r->notes);
}

// ---- The verb -----------------------------------------------------------------------------------
static bool sampled(run_op *o, run_row *row) {
    return run_estimate_op(o, row) && row->estimate && run_launch_sample(o, run_cost_machine(o->r));
}

bool run_cost_told(run_op *o, run_row *row, double *ns) {
    if (!sampled(o, row)) return false;
    const told_kernels all = tell(o, row->estimate);
    *ns = sum_of(&all);
    return true;
}

static bool cost_steps(run_op *o, run_row *row) {
    cost_session *s = (cost_session *)o->r;
    row->estimated = true;
    if (!s->told) tell_machine(o->r);
    s->told = true;
    if (!run_load(o) || !run_prepare(o) || !sampled(o, row)) return false;
    const told_kernels all = tell(o, row->estimate);
    (option_given(o->r->d, OPT_JSON) ? print_json : print_table)(o, row, &all);
    arena *a = o->r->d->arena;
    const char *what = arena_printf(a, "%s%s%s", row->graph, *row->graph ? ", " : "", row->sizes);
    VEC_PUSH(a, &s->dots,
             ((roofline_dot){row->name, what, row->estimate->bytes, row->estimate->flops,
                             sum_of(&all) * 1e-9}));
    return true;
}

static void draw(const cost_session *s, const char *path) {
    driver *d = s->run.d;
    const cost_machine *m = run_cost_machine(&s->run);
    const char *title = arena_printf(d->arena, "%s, by the model", m->name);
    roofline_add(d, path, &(roofline_of){.title = title, .machine = m}, &s->dots);
    output_flush(d);
}

// Each op's table stands where it was made.
static void print_nothing(const run_session *r, const run_rows *rows, FILE *out) {
    (void)r, (void)rows, (void)out;
}

int run_cost_session(driver *d, bool (*steps)(run_op *o, run_row *row)) {
    cost_session s = {.run = {.d = d,
                              .steps = steps,
                              .print = print_nothing,
                              .notes = option_given(d, OPT_JSON) ? stderr : stdout}};
    run_read_options(&s.run);
    s.run.asked.cost = true;
    s.run.asked.repeat = 1;
    const char *drawing = svg_path(d);
    const int status = run_every_op(&s.run);
    if (!drawing || !s.dots.len) return status;
    draw(&s, drawing);
    return status ? status : driver_status(d);
}

int drive_cost(driver *d) { return run_cost_session(d, cost_steps); }
