// What an object holds: every op of a source, compiled for every target and index width asked for.
#include "unit.h"
#include "estimate.h"

#include <string.h>

typedef struct {
    driver *d;
    const object_options *o;
    unit_op *op;
    cg_artefact *artefact;
} making;

static bool add_image(making *m, cg_build b, cg_form form) {
    driver *d = m->d;
    b.is_ptx = form == CG_PTX;
    phase(d, form == CG_CUBIN ? "assemble" : "generate code");
    if (m->o->with_images &&
        !unit_code(d->arena, d, m->op, &b.target, form, m->o->options, &b.image)) {
        must_tell(d, "code generation");
        return false;
    }
    if (form == CG_CUBIN && b.image.log && m->o->options->verbose_assembler)
        resources_put(m->o->log, m->op->name, b.program->module, b.program, b.target.arch,
                      b.image.log);
    VEC_PUSH(d->arena, &m->artefact->builds, b);
    return true;
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

static bool add_target(making *m, const cg_target *t, uint32_t index_bits) {
    if (!unit_schedule(m->op, t)) return false;
    cg_build b = {.program = unit_plan(m->d, m->op, t, index_bits), .target = *t};
    if (!b.program) return false;
    if (t->kind == CG_HOST) {
        VEC_PUSH(m->d->arena, &m->artefact->builds, b);
        return true;
    }
    return add_image(m, b, CG_CUBIN) && (t->arch != lowest(m->o) || add_image(m, b, CG_PTX));
}

static bool add_op(making *m) {
    const driver *d = m->d;
    static const uint32_t widths[] = {32, 64};
    for (uint32_t w = 0; w < 2; w++) {
        if (option_is(d, OPT_INDEX, "32") && widths[w] != 32) continue;
        if (option_is(d, OPT_INDEX, "64") && widths[w] != 64) continue;
        for (uint32_t t = 0; t < m->o->ntargets; t++)
            if (!add_target(m, &m->o->targets[t], widths[w])) return false;
    }
    return true;
}

// What a caller takes who keeps what is saved; true without one: nothing is.
static bool add_twin(making *m) {
    driver *d = m->d;
    unit_op twin;
    if (!unit_twin(d, m->op, &twin)) return !diag_errors(d->ds);
    cg_artefact *artefact = ARENA_NEW(d->arena, cg_artefact);
    making t = {d, m->o, &twin, artefact};
    m->artefact->twin = artefact;
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

bool object_builds(driver *d, unit *u, const object_options *o, object_ops *out) {
    for (uint32_t i = 0; i < u->ops.len; i++) {
        cg_artefact artefact = {0};
        making m = {d, o, &u->ops.data[i], &artefact};
        artefact.comment = comment_above(d, m.op);
        if (!add_op(&m) || !add_twin(&m)) return false;
        VEC_PUSH(d->arena, out, artefact);
    }
    return true;
}
