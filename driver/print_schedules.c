// --emit=schedule: the schedules that may apply to an op as the passes read them, then the default,
// as statements that a file may hold.
#include "unit.h"

#include <string.h>

static const char *machine_of(const cg_target *t) { return t->kind == CG_HOST ? "host" : "cuda"; }

// ---- The default --------------------------------------------------------------------------------
typedef struct {
    arena *arena;
    const tensor_op *op;
    bool canonical;     // it is another than that of the file
    const char *path;   // of the op
    textbuf *out;
} printing;

static void print_made(printing *p, const schedule *s, const char *name);

// A version's name is several words, a class of rows' that of a stage and more.
static const char *as_word(arena *a, const char *name) {
    char *word = arena_printf(a, "%s", name);
    for (char *c = word; *c; c++)
        if (*c == ' ' || *c == '.') *c = '_';
    return word;
}

// Indices that lowering made of one, such as e' or e'21, are said by that one.
static const char *as_said(arena *a, const char *text) {
    if (!text || !strchr(text, '\'')) return text;
    char *said = arena_printf(a, "%s", text), *to = said;
    for (const char *c = text; *c;)
        if (*c == '\'') c += 1 + strspn(c + 1, "0123456789");
        else *to++ = *c++;
    *to = 0;
    return said;
}

// The classes of a bucket are schedules too, and stand before the one that names them.
static schedule_value print_classes(printing *p, schedule_value v, const char *name) {
    const char **names = ARENA_ARRAY(p->arena, const char *, v.nnames + 1);
    for (uint32_t i = 0; v.schedules && i < v.nnames; i++) {
        names[i] = as_word(p->arena, arena_printf(p->arena, "%s_%s", name, v.names[i]));
        print_made(p, v.schedules[i], names[i]);
    }
    if (v.schedules) v.names = names;
    return v;
}

// What the operation of a cell needs; NULL: nothing.
static const char *needed(const schedule_cell *c) {
    const schedule_value *shape = c->verb == SCHEDULE_MMA ? schedule_value_of(c, "shape") : NULL;
    for (simt_mma k = 0; shape && k < SIMT_MMA_COUNT; k++) {
        const simt_mma_info *i = simt_mma_table(k);
        if (i->warps > 1 && !strcmp(i->shape, shape->text))
            return gpu_since((gpu_feature)i->needs)->name;
    }
    gpu_feature needs;
    return gpu_feature_find(schedule_statement_at(c->verb)->needs, &needs) ? gpu_since(needs)->name
                                                                           : NULL;
}

// ---- What names cover and cells do not ----------------------------------------------------------
// Passes know indices apart that have one name in a stage and in those inside it; a text does not.
static bool is_inside(const char *outer, const char *path) {
    const size_t n = strlen(outer);
    return !strncmp(outer, path, n) && path[n] == '.';
}

static tensor_id index_called(const tensor_op *op, const tensor_stage *st, const char *name,
                              bool reduced) {
    for (uint32_t i = reduced ? st->nleft : 0; i < st->nleft + st->nbound; i++) {
        const tensor_var v = i < st->nleft ? st->left[i] : st->bound[i - st->nleft];
        const char *own = op->vars.data[v].name;
        if (strlen(name) == strcspn(own, "'") && !strncmp(own, name, strlen(name)))
            return op->vars.data[v].id;
    }
    return TENSOR_ALL;
}

// Whether something is said of a stage that is inside another, more closely than there.
static bool says_closer(const schedule *s, const schedule_cell *c, const char *stage) {
    for (uint32_t i = 0; i < s->cells.len; i++) {
        const schedule_cell *x = &s->cells.data[i];
        if (x->verb == c->verb && x->stage && x->subject && !strcmp(x->subject, c->subject) &&
            is_inside(c->stage, x->stage) &&
            (!strcmp(x->stage, stage) || is_inside(x->stage, stage)))
            return true;
    }
    return false;
}

static void put_nones(const printing *p, const schedule *of, schedule *out) {
    const tensor_op *op = p->op;
    for (uint32_t k = 0, n = out->cells.len; k < n; k++) {
        const schedule_cell c = out->cells.data[k];
        const char *form = schedule_statement_at(c.verb)->form;
        const bool reduced = !strncmp(form, "REDUCED", 7);
        if (c.empty || !c.stage || !c.subject || (!reduced && strncmp(form, "INDEX", 5))) continue;
        for (uint32_t i = 0; i < op->stages.len; i++) {
            const tensor_stage *st = &op->stages.data[i];
            const tensor_id index = is_inside(c.stage, st->name)
                                        ? index_called(op, st, c.subject, reduced)
                                        : TENSOR_ALL;
            if (index == TENSOR_ALL || says_closer(out, &c, st->name) ||
                schedule_find(of, st->id, c.verb, index))
                continue;
            schedule_cell none = {.verb = c.verb, .stage = st->name, .subject = c.subject};
            none.empty = true;
            VEC_PUSH(p->arena, &out->cells, none);
        }
    }
}

static void print_made(printing *p, const schedule *s, const char *name) {
    schedule copy = *s;
    copy.name = name;
    copy.path = p->path;
    memset(&copy.cells, 0, sizeof copy.cells);
    p->canonical |= s->canonicalized;
    if (p->canonical)
        VEC_PUSH(p->arena, &copy.cells, ((schedule_cell){.verb = SCHEDULE_CANONICALIZE}));
    for (uint32_t i = 0; i < s->cells.len; i++) {
        schedule_cell c = s->cells.data[i];
        if (!c.empty && !c.consumed) continue;   // it had nothing to do
        const char *needs = needed(&c);
        // sm_90a, not sm_90
        if (needs && (!copy.target || strlen(needs) > strlen(copy.target))) copy.target = needs;
        schedule_value *values = ARENA_ARRAY(p->arena, schedule_value, c.nvalues + 1);
        for (uint32_t k = 0; k < c.nvalues; k++) {
            values[k] = print_classes(p, c.values[k], name);
            values[k].text = as_said(p->arena, values[k].text);
        }
        c.values = values;
        c.subject = as_said(p->arena, c.subject);
        VEC_PUSH(p->arena, &copy.cells, c);
    }
    put_nones(p, s, &copy);
    schedule_print(p->out, p->op, &copy);
}

// What is taken where none of the op's own schedules applies: the first that does, then the naive
// plan.
static void print_default(driver *d, const unit_op *o, const cg_target *t,
                          const pass_options *options, textbuf *out) {
    loop_plans plans = {0};
    schedule_list made = {0};
    if (!pass_scheduled(d->arena, d->ds, o->op, NULL, 0, machine_of(t), options, &plans, &made))
        return;
    const tensor_op *op = pass_canonical(d->arena, d->ds, o->op);
    printing p = {.arena = d->arena,
                  .op = op,
                  .path = o->frontend ? o->frontend->ops.data[o->number].path : NULL,
                  .out = out};
    for (uint32_t i = 0; i < made.len; i++) {
        p.canonical = op != o->op;
        print_made(&p, made.data[i], as_word(d->arena, made.data[i]->name));
    }
}

// ---- All ----------------------------------------------------------------------------------------
bool print_schedules(driver *d, unit_op *o, const cg_target *t, textbuf *out) {
    if (!unit_schedules(o, t)) return false;
    textbuf_printf(out, "// %s: %u schedule%s", o->name, o->schedules.len,
                   o->schedules.len == 1 ? "" : "s");
    pass_options options = settings_pass(d, t);
    bool always = option_given(d, OPT_NO_SCHEDULE);
    for (uint32_t i = 0; i < o->schedules.len; i++)
        always = always || !o->schedules.data[i]->when.len;
    always = always && !o->choice.wants_default;
    textbuf_puts(out, always ? "\n" : ", then the default\n");
    uint32_t at = 0;
    for (const char *path; o->frontend && (path = frontend_rules(o->frontend, o->number, &at));)
        textbuf_printf(out, "// by the rules of %s\n", path);
    if (o->choice.tree) textbuf_printf(out, "// tried first: %s\n", o->choice.text);
    for (uint32_t i = 0; i < o->schedules.len; i++)
        schedule_print(
            out, o->op,
            pass_completed(d->arena, d->ds, o->op, o->schedules.data[i], machine_of(t), &options));
    if (!always) print_default(d, o, t, &options, out);
    return true;
}
