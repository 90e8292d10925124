// Versions: a program that takes the first way whose guards hold: the file's schedules, the default
// ones where none of those fits all data, and at last the naive plan.
#include "planning.h"

#include <string.h>

typedef struct {
    arena *arena;
    diag_set *ds;
    const tensor_op *written, *op;   // as the file has it; of the version at hand
    const machine *machine;
    const pass_options *options;
    plan_versions versions;
    schedule_list made;
    uint32_t of;             // the number of the schedule whose versions are made
    const char *refused;     // the default, if it was
    plan_retreat told;       // stages by a thread a point, of all versions
    VEC(plan_wish) wishes;   // what sizes that are given would allow
} versioning;

static const char *unique(const versioning *w, const char *name) {
    const char *made = name;
    for (uint32_t n = 2, i = 0; i < w->versions.of.len; i++)
        if (!strcmp(w->versions.of.data[i].name, made)) {
            made = arena_printf(w->arena, "%s %u", name, n++);
            i = UINT32_MAX;
        }
    return made;
}

static schedule *default_of(versioning *w, version_facts *facts, const plan_class *c,
                            plan_rows rows, plan_supposed *supposed) {
    schedule *s = plan_default(w->arena, w->ds, w->op, w->machine, facts, c, rows, supposed);
    pass_spent(&w->options->after, "default");
    return s;
}

static schedule *completed(versioning *w, const schedule *given, plan_rows rows,
                           version_facts *facts) {
    schedule *s = plan_complete(w->arena, w->ds, w->op, given, w->machine, rows, facts);
    pass_spent(&w->options->after, "default");
    return s;
}

// false: refused.
static bool add(versioning *w, schedule *s, version_facts *facts) {
    facts->index_bits = w->options->index_bits;
    facts->narrow = true;
    facts->nondeterministic = w->options->nondeterministic;
    facts->after = &w->options->after;
    loop_plan *plan = plan_build(w->arena, w->ds, w->op, s, w->machine, facts);
    if (!plan) {
        w->refused = facts->refused;
        return false;
    }
    span at = s->at;
    const loop_kernel *in = NULL;
    const char *refusal = lower_refusal(w->arena, plan, &at, &in);
    if (!refusal && facts->retreat && w->machine->gpu && !facts->may_idle &&
        (in = plan_idle_kernel(plan)))
        refusal = "one block would go through all of its points";
    if (refusal && !s->automatic) {
        diagnostic *d = diag(w->ds, E0977, at, "%s", refusal);
        diag_note(d, s->at, "by schedule '%s'", s->name);
        diag_help(
            d,
            "threads combine where all of them come: leave out the `groups` or `lanes` along what is reduced "
            "inside, or those along the rows");
    }
    if (refusal) {
        w->refused = facts->refused = refusal;
        plan_refused_kernel(w->arena, plan, in, facts);
        return false;
    }
    program_version v = {.name = unique(w, s->name), .of = w->of, .guards = {0}};
    for (uint32_t i = 0; i < facts->guards.len; i++)
        VEC_PUSH(w->arena, &v.guards, facts->guards.data[i]);
    VEC_PUSH(w->arena, &w->versions.of, v);
    VEC_PUSH(w->arena, &w->versions.plans, ((plan_version){plan, facts->narrow}));
    VEC_PUSH(w->arena, &w->made, s);
    return true;
}

// ---- Schedules of the file ----------------------------------------------------------------------
static bool has_cell(const schedule *s, schedule_verb verb, const schedule_cell *like) {
    for (uint32_t i = 0; i < s->cells.len; i++) {
        const schedule_cell *c = &s->cells.data[i];
        if (c->verb == verb && c->about.n && schedule_same_place(c, like)) return true;
    }
    return false;
}

static bool has_vectors(const schedule *s) {
    for (uint32_t i = 0; i < s->cells.len; i++) {
        const schedule_cell *c = &s->cells.data[i];
        if (c->verb == SCHEDULE_VECTOR && !c->empty) return true;
        const schedule_value *use = schedule_value_of(c, "use");
        for (uint32_t k = 0; use && use->schedules && k < use->nnames; k++)
            if (has_vectors(use->schedules[k])) return true;
    }
    return false;
}

static schedule *twin_of(versioning *w, const schedule *s, bool once);

// A cell whose classes of rows have schedules of their own.
static schedule_cell scalar_cell(versioning *w, schedule_cell c, bool once) {
    schedule_value *values = ARENA_ARRAY(w->arena, schedule_value, c.nvalues + 1);
    for (uint32_t v = 0; v < c.nvalues; v++) {
        values[v] = c.values[v];
        if (!values[v].schedules) continue;
        const schedule **twins = ARENA_ARRAY(w->arena, const schedule *, values[v].nnames);
        for (uint32_t k = 0; k < values[v].nnames; k++)
            twins[k] = twin_of(w, c.values[v].schedules[k], once);
        values[v].schedules = twins;
    }
    c.values = values;
    return c;
}

// Vectors that may begin anywhere suit data of any strides, too: they are read and stored by
// elements. NULL: some vector is for multiples of it alone.
static schedule *strided_twin(versioning *w, const schedule *s) {
    schedule *t = ARENA_NEW(w->arena, schedule);
    if (w->machine->aligned) return NULL;
    for (uint32_t i = 0; i < s->cells.len; i++) {
        const schedule_cell *c = &s->cells.data[i];
        if (c->verb == SCHEDULE_VECTOR && !c->empty && !has_cell(s, SCHEDULE_PAD, c)) return NULL;
    }
    *t = *s;
    t->name = arena_printf(w->arena, "%s strided", s->name);
    t->automatic = true;
    return t;
}

// Whether data that lies otherwise wants a version of its own.
static bool packs(const version_facts *f) {
    if (f->together) return true;
    for (uint32_t i = 0; i < f->guards.len; i++)
        if (f->guards.data[i].kind == GUARD_PITCH) return true;
    return false;
}

// What one warp multiplies as the operation of several does.
static const char *operand_of_one(simt_mma several) {
    for (simt_mma k = 0; k < SIMT_MMA_COUNT; k++) {
        bool same = simt_mma_table(k)->element == simt_mma_table(several)->element &&
                    simt_mma_splits(k) == simt_mma_splits(several);
        if (same && simt_mma_table(k)->warps == 1) return simt_mma_table(k)->operand;
    }
    ICE("no operation of one warp is as '%s'", simt_mma_table(several)->text);
}

// Operations of four warps take whole matrices by vectors; those of one, whatever there is.
static schedule_cell one_warp(versioning *w, schedule_cell c) {
    const schedule_value *shape = schedule_value_of(&c, "shape"),
                         *operand = schedule_value_of(&c, NULL);
    simt_mma k = 0;
    if (c.verb != SCHEDULE_MMA || c.empty) return c;
    while (k < SIMT_MMA_COUNT && (strcmp(simt_mma_table(k)->operand, operand->text) ||
                                  (shape && strcmp(simt_mma_table(k)->shape, shape->text))))
        k++;
    if (k == SIMT_MMA_COUNT || simt_mma_table(k)->warps == 1) return c;
    schedule_value *others = ARENA_ARRAY(w->arena, schedule_value, c.nvalues);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c.nvalues; i++) {
        if (&c.values[i] == shape) continue;
        others[n] = c.values[i];
        if (&c.values[i] == operand) others[n].text = operand_of_one(k);
        n++;
    }
    c.values = others;
    c.nvalues = n;
    return c;
}

// What one walk has at once stays so: a vector of it is as many registers.
static schedule_cell registers_for(versioning *w, const schedule *s, schedule_cell vector) {
    schedule_value *values = ARENA_ARRAY(w->arena, schedule_value, 1);
    *values = vector.values[0];
    for (uint32_t i = 0; i < s->cells.len; i++) {
        const schedule_cell *c = &s->cells.data[i];
        if (c->verb == SCHEDULE_REGISTERS && !c->empty && schedule_same_place(c, &vector))
            values->number *= c->values[0].number;
    }
    vector.verb = SCHEDULE_REGISTERS;
    vector.nvalues = 1;
    vector.values = values;
    return vector;
}

// Stages are fused at what one of them reduces.
static bool is_walk(const tensor_op *op, const schedule_cell *c) {
    const schedule_value *at = c->verb == SCHEDULE_FUSE && !c->empty ? schedule_value_of(c, "at")
                                                                     : NULL;
    for (uint32_t i = 0; at && i < op->stages.len; i++) {
        const tensor_stage *st = &op->stages.data[i];
        for (uint32_t k = 0; k < st->nbound && schedule_means(c->about, st->id); k++)
            if (schedule_means(at->ids[0], op->vars.data[st->bound[k]].id)) return true;
    }
    return false;
}

static bool walks_once(const tensor_op *op, const schedule *s) {
    for (uint32_t i = 0; i < s->cells.len; i++)
        if (is_walk(op, &s->cells.data[i])) return true;
    return false;
}

// once: it, or the one it deals out a class of, has one walk.
static schedule *twin_of(versioning *w, const schedule *s, bool once) {
    schedule *t = ARENA_NEW(w->arena, schedule);
    *t = *s;
    t->name = arena_printf(w->arena, "%s scalar", s->name);
    t->automatic = true;
    t->cells.data = NULL;
    t->cells.len = t->cells.cap = 0;
    for (uint32_t i = 0; i < s->cells.len && once; i++) {
        schedule_cell c = s->cells.data[i];
        bool none = c.verb == SCHEDULE_VECTOR && c.empty && !has_cell(s, SCHEDULE_REGISTERS, &c);
        if (c.verb == SCHEDULE_VECTOR && !c.empty)
            schedule_fill(w->arena, t, registers_for(w, s, c));
        c.verb = SCHEDULE_REGISTERS;
        // what the stage around it holds it has not, either
        if (none) schedule_fill(w->arena, t, c);
    }
    for (uint32_t i = 0; i < s->cells.len; i++)
        if (once && s->cells.data[i].verb == SCHEDULE_REGISTERS &&
            has_cell(t, SCHEDULE_REGISTERS, &s->cells.data[i]))
            continue;
        else if (s->cells.data[i].verb == SCHEDULE_MMA)
            VEC_PUSH(w->arena, &t->cells, one_warp(w, s->cells.data[i]));
        else if (s->cells.data[i].verb != SCHEDULE_VECTOR &&
                 s->cells.data[i].verb != SCHEDULE_SPECIALIZE)
            VEC_PUSH(w->arena, &t->cells, scalar_cell(w, s->cells.data[i], once));
    return t;
}

// The same without vectors, for data that is not aligned, and of any strides; rows go in rounds
// there, which is a fraction of the code of those that are written out for each size.
static schedule *scalar_twin(versioning *w, const schedule *s) {
    return twin_of(w, s, walks_once(w->op, s));
}

// A version for data that lies otherwise than one that was added takes for granted, where there may
// be such data: scalar, or with vectors.
static void add_twin(versioning *w, const schedule *s, const version_facts *of, bool scalar,
                     version_facts *plain) {
    schedule *strided = strided_twin(w, s);
    if (strided ? packs(of) : scalar) add(w, strided ? strided : scalar_twin(w, s), plain);
}

static bool of_reach(const program_guard *g) {
    const size_token *limit = g->holds.len > 1 ? &g->holds.data[g->holds.len - 2] : NULL;
    return limit && limit->kind == SZ_CONST && limit->value == PASS_NARROW_OFFSETS;
}

// Does it hold of some data or devices alone? "max(dst) * 4 <= 768". Alignment is not meant, which
// the scalar twin does without, nor is the reach of 31-bit offsets, which the default asks for too.
static bool depends_on_data(const program_guard *g) {
    if (of_reach(g)) return false;
    for (uint32_t i = 0; i < g->holds.len; i++) {
        size_token_kind k = g->holds.data[i].kind;
        if (k >= SZ_MAX_PREIMAGE) return true;
    }
    return false;
}

static bool fits_all(const versioning *w, const schedule *s) {
    const program_version *last = &w->versions.of.data[w->versions.of.len - 1];
    for (uint32_t i = 0; i < last->guards.len; i++)
        if (depends_on_data(&last->guards.data[i])) return false;
    return !s->when.len;
}

// Where the default's cells are others for few rows, or for many, a version for those comes first.
static bool add_sized(versioning *w, const schedule *given) {
    static const plan_rows sizes[] = {ROWS_SOME_POINTS, ROWS_OUTER_FEW, ROWS_OUTER_MANY};
    bool good = true;
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes && good; i++) {
        version_facts facts = {.index_bits = w->options->index_bits};
        schedule *s = completed(w, given, sizes[i], &facts);
        if (!s) continue;
        plan_take_conditions(w->arena, s, &facts);
        good = add(w, s, &facts);
    }
    return good;
}

// Kernels that the schedule says nothing of have versions for long rows, as without one.
static void add_skewed(versioning *w, const schedule *given) {
    version_facts facts = {.index_bits = w->options->index_bits};
    schedule *s = w->machine->gpu ? completed(w, given, ROWS_SKEWED, &facts) : NULL;
    if (!s) return;
    plan_take_conditions(w->arena, s, &facts);
    add(w, s, &facts);
}

static bool add_versions(versioning *w, const schedule *given, bool *always) {
    if (!add_sized(w, given)) return false;
    add_skewed(w, given);
    version_facts facts = {.index_bits = w->options->index_bits}, plain = {.any_strides = true};
    schedule *s = completed(w, given, ROWS_EVEN, &facts);
    plan_take_conditions(w->arena, s, &facts);
    plan_take_conditions(w->arena, s, &plain);
    if (!add(w, s, &facts)) return false;
    *always |= fits_all(w, s);
    add_twin(w, s, &facts, has_vectors(s) || packs(&facts), &plain);
    return true;
}

static bool add_schedule(versioning *w, schedule *given, bool *always) {
    const tensor_op *any = w->op;
    given->canonicalized = given->canonical && any != w->written;
    w->op = plan_known_sizes(w->arena, given->canonical ? any : w->written, given);
    w->of = given->number;
    bool good = add_versions(w, given, always);
    w->op = any;
    return good;
}

// ---- Without one --------------------------------------------------------------------------------
// Versions for any data are not done without: a kernel of theirs that is refused is made otherwise.
static bool is_needed(plan_rows rows) {
    return rows == ROWS_EVEN || rows == ROWS_SKEWED || rows == ROWS_CUT;
}

static void note_simple(versioning *w, const plan_retreat *r) {
    for (uint32_t i = 0; i < r->simple.len; i++) {
        if (schedule_means((schedule_ids){w->told.simple.len, w->told.simple.data},
                           r->simple.data[i]))
            continue;
        VEC_PUSH(w->arena, &w->told.simple, r->simple.data[i]);
        VEC_PUSH(w->arena, &w->told.why, r->why.data[i]);
    }
}

// What was refused is, or may be, a sum by matrix operations.
static bool of_matrices(const schedule *s, const version_facts *f) {
    bool of = !f->refused_group.len;
    for (uint32_t i = 0; i < f->refused_group.len; i++)
        for (uint32_t k = 0; k < s->cells.len; k++)
            of |= s->cells.data[k].verb == SCHEDULE_MMA &&
                  schedule_covers(s, &s->cells.data[k], f->refused_group.data[i]);
    return of && f->matrices;
}

// facts: of what was added.
static schedule *add_rows(versioning *w, const plan_class *c, plan_rows rows,
                          plan_supposed *supposed, version_facts *facts) {
    plan_retreat retreat = {0};
    bool matrices = true, groups = true, idles = false, again;
    do {
        *facts = (version_facts){.index_bits = w->options->index_bits,
                                 .no_matrices = !matrices,
                                 .no_groups = !groups,
                                 .may_idle = idles,
                                 .retreat = &retreat};
        schedule *s = default_of(w, facts, c, rows, supposed);
        if (!s) return NULL;
        plan_take_conditions(w->arena, s, facts);
        if (add(w, s, facts)) {
            note_simple(w, &retreat);
            facts->retreat = NULL;   // the next one begins anew
            return s;
        }
        again = is_needed(rows) ? of_matrices(s, facts) : facts->matrices;
        if (again) {
            if (plan_retreats_from_matrices(w->arena, &retreat, facts)) continue;
            matrices = facts->groups, groups = false;
        } else
            again = (is_needed(rows) || rows == ROWS_FEW) &&
                    plan_retreats(w->arena, &retreat, facts);
        if (again || idles || !is_needed(rows)) continue;
        // terms in their order have one thread whatever is said: better so than by the naive plan
        retreat = (plan_retreat){0};
        idles = again = true;
    } while (again);
    return NULL;
}

static bool add_made(versioning *w, const plan_class *c, plan_rows rows, plan_supposed *supposed) {
    version_facts facts;
    return add_rows(w, c, rows, supposed, &facts) != NULL;
}

// All versions of a family, in the order of their rows. facts, and what is returned: of the last
// one; NULL: there is none, and the versions before it do not suffice.
static schedule *add_family(versioning *w, const plan_class *c, rows_family family,
                            version_facts *facts) {
    plan_supposed supposed = {0};
    schedule *last = NULL;
    for (plan_rows rows = 0; rows < ROWS_COUNT; rows++) {
        const rows_info *of = plan_rows_info(rows);
        if (of->family != family) continue;
        if (of->traits & ROWS_ARE_OF_KNOWN_EXTENTS && supposed.extents) return NULL;
        last = add_rows(w, c, rows, &supposed, facts);
        if (!last && of->traits & ROWS_ARE_NEEDED) return NULL;
    }
    return last;
}

static void add_at_once(versioning *w, const plan_class *c) {
    plan_supposed supposed;
    add_made(w, c, ROWS_GROUP_AT_ONCE, &supposed);
    add_made(w, c, ROWS_ALL_AT_ONCE, &supposed);
}

static void add_short(versioning *w, const plan_class *c) {
    plan_supposed supposed;
    add_made(w, c, ROWS_SHORTEST, &supposed);
    add_made(w, c, ROWS_SHORT, &supposed);
    add_made(w, c, ROWS_THIN, &supposed);
}

static void note_wishes(versioning *w, const version_facts *f) {
    for (uint32_t i = 0; i < f->wishes.len; i++) {
        bool noted = false;
        for (uint32_t k = 0; k < w->wishes.len; k++)
            noted |= w->wishes.data[k].walk || w->wishes.data[k].stage == f->wishes.data[i].stage;
        if (!noted) VEC_PUSH(w->arena, &w->wishes, f->wishes.data[i]);
    }
}

// Versions cost time: of the likeliest extents alone there is one for even rows.
static void add_default(versioning *w) {
    const plan_class *c;
    for (uint32_t i = 0; (c = plan_class_for(w->arena, w->op, w->machine, i)); i++) {
        version_facts facts = {.index_bits = w->options->index_bits}, plain = {.any_strides = true},
                      made;
        plan_supposed supposed = {0}, other;
        const bool likeliest = !i && w->machine->gpu;
        // of any data: no other version is needed
        schedule *s = likeliest ? add_family(w, c, ROWS_FAMILY_WALK, &facts) : NULL;
        if (s) {
            add(w, scalar_twin(w, s), &plain);
            return;
        }
        note_wishes(w, &facts);
        facts = (version_facts){.index_bits = w->options->index_bits};
        s = default_of(w, &facts, c, ROWS_EVEN, &supposed);
        if (!i) note_wishes(w, &facts);
        if (likeliest) add_family(w, c, ROWS_FAMILY_OUTER, &made);
        if (likeliest) add_family(w, c, ROWS_FAMILY_TILES, &made);
        if (likeliest) add_short(w, c);
        if (likeliest && supposed.rows) add_made(w, c, ROWS_FUSED_AT_ONCE, &other);
        bool fused = likeliest && add_made(w, c, ROWS_FUSED, &other);
        if (!fused && likeliest && supposed.rows) add_at_once(w, c);
        if (likeliest && !supposed.rows) add_family(w, c, ROWS_FAMILY_POINTS, &made);
        bool cut = false;
        if (supposed.rows && w->machine->gpu) {
            version_facts asked = facts;
            default_of(w, &asked, c, likeliest ? ROWS_SKEWED : ROWS_FEW, &other);
            cut = other.cut;
        }
        // of the least likely extents there is one version for rows that are cut
        const bool short_parts = cut && i && !plan_class_at(w->machine, i + 1);
        // rows that are cut may be of any length, and take no longer where none is long
        if (!fused && !cut && (!i || !supposed.rows) &&
            !(s = add_rows(w, c, ROWS_EVEN, &other, &facts)))
            return;
        if (supposed.rows) {
            if (cut && likeliest) add_made(w, c, ROWS_FEWER, &other);
            if (cut && !short_parts) add_made(w, c, ROWS_FEW, &other);
            if (cut && likeliest) add_made(w, c, ROWS_BRIEF, &other);
            if (!(s = add_rows(w, c, short_parts ? ROWS_CUT : ROWS_SKEWED, &other, &facts))) return;
        }
        if (supposed.extents && (w->machine->aligned || plan_class_at(w->machine, i + 1))) continue;
        // extents are known: only how arrays lie is left to chance
        add_twin(w, s, &facts, has_vectors(s) || facts.together, &plain);
        return;
    }
}

static span stage_at(const versioning *w, tensor_id stage) {
    const tensor_stage *st = &w->op->stages.data[w->op->stages.len - 1];
    for (uint32_t i = 0; i < w->op->stages.len; i++)
        if (w->op->stages.data[i].id == stage) st = &w->op->stages.data[i];
    return st->at;
}

// stage: TENSOR_ALL: all of them.
static void warn_naive(const versioning *w, tensor_id stage, const char *why) {
    diagnostic *d =
        stage ? diag(w->ds, W0502, stage_at(w, stage),
                     "'%s' of '%s' is computed as by the naive plan: the default does not fit it",
                     tensor_id_text(w->arena, w->op->ids, stage), w->op->name)
              : diag(w->ds, W0502, stage_at(w, stage),
                     "'%s' is compiled by the naive plan alone: the default does not fit",
                     w->op->name);
    diag_help(d, "%s", why);
    diag_help(d, "a schedule of its own may distribute it in another way");
}

static void tell_wishes(const versioning *w) {
    for (uint32_t i = 0; i < w->wishes.len; i++) {
        const plan_wish *of = &w->wishes.data[i];
        const char *stage = tensor_id_text(w->arena, w->op->ids, of->stage);
        diagnostic *d = diag(w->ds, P0504, stage_at(w, of->stage),
                             of->walk ? "'%s' of '%s' takes several walks of its rows, as sizes "
                                        "are not known: one is enough where they are"
                                      : "'%s' of '%s' is stored, as it is not known how many terms "
                                        "it has: up to 32 are added up where they are read",
                             stage, w->op->name);
        if (d) diag_help(d, "`%s`, for example, compiles for one size", of->sizes);
    }
}

const tensor_op *pass_definition(arena *a, diag_set *ds, const tensor_op *op,
                                 schedule *const *schedules, uint32_t n) {
    bool defaults = !n;
    for (uint32_t i = 0; i < n; i++) {
        if (schedules[i]->form) return schedules[i]->form;
        defaults |= schedules[i]->when.len > 0;
    }
    return defaults ? pass_canonical(a, ds, op) : op;
}

schedule *pass_completed(arena *a, diag_set *ds, const tensor_op *op, const schedule *s,
                         const char *machine, const pass_options *o) {
    version_facts facts = {.index_bits = o->index_bits};
    if (s->form) op = s->form;
    op = plan_known_sizes(a, op, s);
    return plan_complete(a, ds, op, s, machine_with(a, machine, o), ROWS_EVEN, &facts);
}

program *pass_scheduled(arena *a, diag_set *ds, const tensor_op *op, schedule *const *schedules,
                        uint32_t n, const char *machine, const pass_options *o, loop_plans *plans,
                        schedule_list *made) {
    versioning w = {
        .arena = a, .ds = ds, .written = op, .machine = machine_with(a, machine, o), .options = o};
    uint32_t errors = diag_raised(ds);
    w.op = op = pass_definition(a, ds, op, schedules, n);
    program *p = pass_naive(a, ds, op, o);
    if (!p || o->far) return p;
    const schedule_choice *choice = o->choice && o->choice->tree ? o->choice : NULL;
    bool always = false, good = true;
    for (uint32_t i = 0; i < n; i++) good &= add_schedule(&w, schedules[i], &always);
    if (!good) return NULL;
    w.of = o->choice && o->choice->nschedules ? o->choice->nschedules - 1 : 0;
    if (!always || (choice && choice->wants_default)) add_default(&w);
    if (!always && !w.versions.of.len && w.refused) warn_naive(&w, TENSOR_ALL, w.refused);
    for (uint32_t i = 0; i < w.told.simple.len; i++)
        warn_naive(&w, w.told.simple.data[i], w.told.why.data[i]);
    tell_wishes(&w);
    p->versions.data[0].of = w.of;   // what the default comes to where none of its own fits
    if (choice)
        p->choice = (program_choice){.text = choice->text,
                                     .of = choice->of,
                                     .nschedules = choice->nschedules,
                                     .schedules = choice->schedules};
    uint32_t taken = PASS_ALL;
    if (diag_raised(ds) != errors || !plan_take(a, p, &w.versions, o, &taken)) return NULL;
    for (uint32_t i = 0; i < w.made.len; i++) {
        if (taken != PASS_ALL && taken != i) continue;
        if (plans) VEC_PUSH(a, plans, w.versions.plans.data[i].plan);
        if (made) VEC_PUSH(a, made, w.made.data[i]);
    }
    return plan_lower(a, op, p, w.machine, &w.versions, taken, o);
}
