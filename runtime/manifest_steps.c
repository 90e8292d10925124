// The steps of a manifest: launches with their arguments, loops around them.
#include "manifest.h"

#include <string.h>

static gnn_status read_stride(const rt_row *r, const rt_json *arg, rt_arg *out) {
    const rt_json *axis = rt_json_get(arg, "axis");
    int64_t a = rt_json_int(axis);
    if (!rt_json_is_int(axis) || a < 0 || a >= r->p->params[out->index].rank)
        return rt_row_bad(r, "stride: `%.60s` has no such axis", r->p->params[out->index].name);
    out->axis = (uint32_t)a;
    return GNN_OK;
}

static gnn_status read_of_param(const rt_row *r, const rt_json *arg, const rt_json *name,
                                rt_arg *out) {
    gnn_status s = rt_row_param(r, "args", name, &out->index);
    if (s) return s;
    const rt_param *q = &r->p->params[out->index];
    bool scalar = q->role == GNN_PARAM_SCALAR;
    if (scalar != (out->kind == RT_ARG_VALUE))
        return rt_row_bad(r, "args: `%.60s` is %s", q->name, scalar ? "a scalar" : "not a scalar");
    if (q->facts & RT_PREFIX)
        return rt_row_bad(r, "args: `%.60s` is a prefix map and has no array", q->name);
    return out->kind == RT_ARG_STRIDE ? read_stride(r, arg, out) : GNN_OK;
}

static gnn_status read_named(const rt_row *r, const char *what, const rt_json *name,
                             const void *rows, uint32_t count, size_t stride, rt_arg *out) {
    const char *text = rt_json_text(name);
    int i = text ? rt_find(rows, count, stride, text, strlen(text)) : -1;
    out->index = (uint32_t)i;
    return i < 0 ? rt_row_bad(r, "args: there is no %s `%.60s`", what, text ? text : "?") : GNN_OK;
}

static gnn_status read_arg(const rt_row *r, const rt_json *arg, rt_arg *out) {
    static const char *const kinds[] = {
#define X(name, text) [RT_ARG_##name] = text,
        RT_ARGS(X)
#undef X
    };
    const gnn_program *p = r->p;
    const rt_json *value = NULL;
    uint32_t k = 0;
    for (; k < RT_ARG_KINDS; k++)
        if ((value = rt_json_get(arg, kinds[k]))) break;
    out->kind = (rt_arg_kind)k;
    switch (out->kind) {
    case RT_ARG_DATA:
    case RT_ARG_STRIDE:
    case RT_ARG_VALUE: return read_of_param(r, arg, value, out);
    case RT_ARG_MAGIC:
    case RT_ARG_SHIFT:
    case RT_ARG_SIZE: return rt_row_space(r, "args", value, &out->index);
    case RT_ARG_PREPARED:
        return read_named(r, "prepared", value, p->prepared, p->nprepared, sizeof *p->prepared,
                          out);
    case RT_ARG_TEMP:
        return read_named(r, "temp", value, p->temps, p->ntemps, sizeof *p->temps, out);
    case RT_ARG_NUMBER:
        return rt_row_expr(&(rt_row){r->p, arg, r->table, r->i, r->in}, "number", &out->number);
    case RT_ARG_STEP:
        return rt_json_is_true(value) ? GNN_OK : rt_row_bad(r, "args: \"step\" must be true");
    case RT_ARG_KINDS: break;
    }
    return rt_row_bad(r, "args: an argument of no known kind");
}

static gnn_status read_flag(const rt_row *r, const char *name, bool *out) {
    const rt_json *flag = rt_json_get(r->object, name);
    if (flag && !rt_json_is_bool(flag)) return rt_row_bad(r, "%s: is neither true nor false", name);
    *out = rt_json_is_true(flag);
    return GNN_OK;
}

static gnn_status read_launch(const rt_row *r, rt_step *step) {
    const gnn_program *p = r->p;
    const rt_json *list;
    rt_arg kernel;
    gnn_status s = read_named(r, "kernel", rt_json_get(r->object, "launch"), p->kernels,
                              p->nkernels, sizeof *p->kernels, &kernel);
    if (!s) s = rt_row_expr(r, "blocks", &step->count);
    if (!s) s = rt_row_list(r, "args", RT_MAX_ARGS, &list);
    if (s) return s;
    s = read_flag(r, "early", &step->early);
    if (!s) s = read_flag(r, "waits_first", &step->waits_first);
    if (!s) s = read_flag(r, "waits_to_write", &step->waits_to_write);
    if (s) return s;
    step->kernel = kernel.index;
    step->nargs = (uint32_t)rt_json_count(list);
    if (step->nargs != p->kernels[step->kernel].nparams)
        return rt_row_bad(r, "%u arguments for the %u parameters of `%.60s`", step->nargs,
                          p->kernels[step->kernel].nparams, p->kernels[step->kernel].name);
    step->args = rt_heap_alloc(&r->p->heap, step->nargs, sizeof *step->args);
    if (!step->args) return GNN_NO_MEMORY;
    for (uint32_t i = 0; i < step->nargs && !s; i++)
        s = read_arg(r, rt_json_at(list, i), &step->args[i]);
    return s;
}

static gnn_status read_step(const rt_row *r, rt_step *step) {
    if (rt_json_get(r->object, "launch")) {
        step->kind = RT_LAUNCH;
        return read_launch(r, step);
    }
    if (rt_json_get(r->object, "loop")) {
        step->kind = RT_LOOP;
        return rt_row_expr(r, "loop", &step->count);
    }
    step->kind = RT_END;
    return rt_json_is_true(rt_json_get(r->object, "end"))
               ? GNN_OK
               : rt_row_bad(r, "is no launch, loop or end");
}

static bool wants_round(const rt_step *step) {
    for (uint32_t i = 0; i < step->nargs; i++)
        if (step->args[i].kind == RT_ARG_STEP) return true;
    return false;
}

static rt_row row_of(const rt_row *version, const rt_json *list, uint32_t i) {
    return (rt_row){version->p, rt_json_at(list, i), "steps", i, version};
}

static gnn_status match_loops(const rt_row *r, const rt_json *list, rt_version *v) {
    uint32_t open[RT_MAX_LOOPS], depth = 0;
    for (uint32_t i = 0; i < v->nsteps; i++) {
        rt_step *step = &v->steps[i];
        const rt_row row = row_of(r, list, i);
        if (step->kind == RT_LOOP) {
            if (depth == RT_MAX_LOOPS) return rt_row_bad(&row, "loops are nested too deeply");
            open[depth++] = i;
        } else if (step->kind == RT_END) {
            if (!depth) return rt_row_bad(&row, "an end without its loop");
            step->match = open[--depth];
            v->steps[step->match].match = i;
        } else if (!depth && wants_round(step)) {
            return rt_row_bad(&row, "a round is asked for outside of loops");
        }
    }
    const rt_row row = row_of(r, list, depth ? open[depth - 1] : 0);
    return depth ? rt_row_bad(&row, "a loop without its end") : GNN_OK;
}

gnn_status rt_read_steps(const rt_row *r, const rt_json *list, rt_version *v) {
    v->nsteps = (uint32_t)rt_json_count(list);
    v->steps = rt_heap_alloc(&r->p->heap, v->nsteps, sizeof *v->steps);
    gnn_status s = v->steps ? GNN_OK : GNN_NO_MEMORY;
    for (uint32_t i = 0; i < v->nsteps && !s; i++) {
        const rt_row row = row_of(r, list, i);
        s = read_step(&row, &v->steps[i]);
    }
    return s ? s : match_loops(r, list, v);
}
