// The code of an op: made for the target at hand and loaded.
#include "cache.h"
#include "run_sim.h"

static bool host_code(run_op *o, const cg_options *options, gnn_code *code) {
    const simt_module *m = o->op->module;
    run_code *c = &o->codes[o->level];
    gnn_host_kernel *kernels = ARENA_ARRAY(o->arena, gnn_host_kernel, m->funcs.len + 1);
    c->jit = cg_jit_new(o->arena, o->r->d->ds, m, options);
    if (!c->jit) return false;
    for (uint32_t i = 0; i < m->funcs.len; i++)
        if (m->funcs.data[i]->kernel)
            kernels[code->nkernels++] = (gnn_host_kernel){
                m->funcs.data[i]->name, cg_jit_kernel(c->jit, m->funcs.data[i]->name)};
    code->kernels = kernels;
    return true;
}

static bool cuda_code(run_op *o, const cg_options *options, gnn_code *code) {
    cg_output image = {0};
    // a text is the driver's to assemble
    cg_form form = o->op->ptx && !options->verbose_assembler ? CG_PTX : CG_CUBIN;
    if (!unit_code(o->arena, o->r->d, o->op, &o->r->target, form, options, &image)) return false;
    o->codes[o->level].log = image.log;
    code->image = image.data;
    code->size = image.size;
    return true;
}

bool run_load(run_op *o) {
    driver *d = o->r->d;
    run_code *c = &o->codes[o->level];
    o->program = c->program;
    if (o->program) return true;   // for another version
    if (o->level ? !o->codes[0].program
                 : !unit_schedule(o->op, &o->r->target) || !unit_program(d, o->op, &o->r->target))
        return false;
    phase(d, "generate");
    cg_options options = settings_codegen(d);
    if (o->r->target.kind == CG_CUDA && !o->r->simulator) options.cubins = cache_cubins(d);
    if (o->r->asked.nlevels > 1) options.optimise = o->r->asked.levels[o->level];
    gnn_code code = {0};
    textbuf manifest = textbuf_new(o->arena);
    run_sim_load(o);
    if (!o->r->simulator &&
        !(o->r->target.kind == CG_HOST ? host_code : cuda_code)(o, &options, &code))
        return false;
    cg_manifest(&manifest, o->op->program, &o->r->target);
    bool failed = run_failed(
        o, gnn_program_load(o->r->context, manifest.data, manifest.len, &code, &c->program));
    o->program = c->program;
    return !failed;
}
