// What an object holds: every op of a source, compiled for every target and index width asked for.
#include "unit.h"
#include "estimate.h"
#include "progress.h"

#include <string.h>

typedef struct {
    cg_artefact *artefact;
    uint32_t build;   // its number there; the PTX's is the next
    const char *op;
} place;
typedef struct {
    driver *d;
    const object_options *o;
    VEC(cg_image) images;
    VEC(place) places;   // of each image
    uint32_t steps;      // images, and the host's code
} making;
// An op, or its twin.
typedef struct {
    making *m;
    unit_op *op;
    cg_artefact *artefact;
} part;

static void add_image(part *x, cg_build b, bool wants_ptx) {
    making *m = x->m;
    arena *a = m->d->arena;
    cg_output *text = NULL;
    if (x->op->ptx) {
        const source_file *file = x->op->ptx->source;
        text = ARENA_NEW(a, cg_output);
        *text = (cg_output){file->text, file->length, ""};
    }
    VEC_PUSH(a, &m->places, ((place){x->artefact, x->artefact->builds.len, x->op->name}));
    VEC_PUSH(
        a, &m->images,
        ((cg_image){
            .module = x->op->module, .target = b.target, .text = text, .wants_ptx = wants_ptx}));
    VEC_PUSH(a, &x->artefact->builds, b);
    b.is_ptx = true;
    if (wants_ptx) VEC_PUSH(a, &x->artefact->builds, b);
}

// The lowest architecture whose PTX later ones take as well.
static const gpu_arch *lowest(const object_options *o) {
    const gpu_arch *low = NULL;
    for (uint32_t i = 0; i < o->ntargets; i++) {
        const gpu_arch *a = o->targets[i].arch;
        if (o->targets[i].kind == CG_CUDA && !gpu_arch_alone(a) && (!low || a->sm < low->sm))
            low = a;
    }
    return low;
}

// Whether a result holds indices, which are of the code's width.
static bool gives_indices(const tensor_op *op) {
    for (tensor_val v = 0; v < op->nparams; v++)
        if (op->vals.data[v].type == DT_INDEX && op->vals.data[v].role == VAL_RESULT) return true;
    return false;
}

// Where there is code of both widths, the runtime takes that of 64 bits for sizes that ask for it,
// or as the caller's maps are where results hold indices (wants_64 of runtime/artefact.c).
static bool is_far(const part *x, uint32_t index_bits) {
    return index_bits == 64 && !option_is(x->m->d, OPT_INDEX, "64") && !gives_indices(x->op->op);
}

static bool add_target(part *x, const cg_target *t, uint32_t index_bits) {
    if (!unit_schedule(x->op, t)) return false;
    cg_build b = {.program = unit_plan(x->m->d, x->op, t, index_bits, is_far(x, index_bits)),
                  .target = *t};
    if (!b.program) return false;
    if (t->kind == CG_HOST) VEC_PUSH(x->m->d->arena, &x->artefact->builds, b);
    else add_image(x, b, t->arch == lowest(x->m->o));
    return true;
}

static bool add_op(part *x) {
    const making *m = x->m;
    static const uint32_t widths[] = {32, 64};
    for (uint32_t w = 0; w < 2; w++) {
        if (option_is(m->d, OPT_INDEX, "32") && widths[w] != 32) continue;
        if (option_is(m->d, OPT_INDEX, "64") && widths[w] != 64) continue;
        if (option_given(m->d, OPT_FOR_GRAPH) && widths[w] != settings_pass(m->d, NULL).index_bits)
            continue;
        for (uint32_t t = 0; t < m->o->ntargets; t++)
            if (!add_target(x, &m->o->targets[t], widths[w])) return false;
    }
    return true;
}

// What a caller takes who keeps what is saved; true without one: nothing is.
static bool add_twin(part *x) {
    driver *d = x->m->d;
    unit_op twin;
    if (!unit_twin(d, x->op, &twin)) return !diag_errors(d->ds);
    cg_artefact *artefact = ARENA_NEW(d->arena, cg_artefact);
    part t = {x->m, &twin, artefact};
    x->artefact->twin = artefact;
    return add_op(&t);
}

// The lines of // that stand right above the op's; NULL: none.
static const char *comment_above(const driver *d, const unit_op *op) {
    const source_file *file = op->op ? source_map_file(d->sources, op->op->at.lo) : NULL;
    uint32_t length;
    const char *end = file ? source_map_line(d->sources, op->op->at.lo, &length) : NULL,
               *begin = end;
    while (file && begin > file->text) {
        const char *line = begin - 1;
        while (line > file->text && line[-1] != '\n') line--;
        if (strncmp(line, "//", 2)) break;
        begin = line;
    }
    return begin < end ? arena_strndup(d->arena, begin, (size_t)(end - begin)) : NULL;
}

// ---- Code for GPUs ------------------------------------------------------------------------------
static void tell_image(void *user, uint32_t i) {
    making *m = user;
    progress_step(m->o->progress, i, m->steps,
                  arena_printf(m->d->arena, "%s %s", m->places.data[i].op,
                               m->images.data[i].target.arch->name));
}

static bool make_images(making *m) {
    driver *d = m->d;
    phase(d, "assemble");
    bool ok = cg_images(d->arena, d->ds, m->images.data, m->images.len, m->o->options,
                        m->o->threads, tell_image, m);
    if (!ok) must_tell(d, "code generation");
    else if (m->steps > m->images.len)
        progress_step(m->o->progress, m->images.len, m->steps, "host");
    return ok;
}

static void take_image(const making *m, uint32_t i) {
    const cg_image *made = &m->images.data[i];
    const place *p = &m->places.data[i];
    cg_build *b = &p->artefact->builds.data[p->build];
    b->image = made->cubin;
    if (made->wants_ptx) b[1].image = made->ptx;
    if (m->o->options->verbose_assembler)
        resources_put(m->o->log, p->op, made->module, b->program, made->target.arch,
                      made->cubin.log);
}

bool object_builds(driver *d, unit *u, const object_options *o, object_ops *out) {
    making m = {.d = d, .o = o};
    VEC(cg_artefact *) artefacts = {0};
    for (uint32_t i = 0; i < u->ops.len; i++) {
        part x = {&m, &u->ops.data[i], ARENA_NEW(d->arena, cg_artefact)};
        x.artefact->comment = comment_above(d, x.op);
        x.artefact->path = x.op->frontend ? x.op->frontend->ops.data[x.op->number].name
                                          : x.op->name;
        if (!add_op(&x) || !add_twin(&x)) return false;
        VEC_PUSH(d->arena, &artefacts, x.artefact);
    }
    m.steps = m.images.len;
    for (uint32_t t = 0; t < o->ntargets; t++) m.steps += o->targets[t].kind == CG_HOST;
    if (o->with_images && !make_images(&m)) return false;
    for (uint32_t i = 0; o->with_images && i < m.images.len; i++) take_image(&m, i);
    for (uint32_t i = 0; i < artefacts.len; i++) VEC_PUSH(d->arena, out, *artefacts.data[i]);
    return true;
}
