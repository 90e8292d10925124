// Cubins and PTX of many modules, on threads: each is made in an arena and with diagnostics of its
// own, and what is kept of it is compressed.
#include "compile.h"

#include <stdatomic.h>
#include <string.h>
#include <threads.h>

// So few leave processors idle, where each would take but one. (It follows from what is compiled,
// not from the machine: a cubin tells how its assembler was called.)
enum { FEW = 8 };

typedef struct {
    bool ok, told;   // told: it has something to say
    arena *arena;
    cg_output cubin, ptx;
} made;
typedef struct {
    cg_image *images;
    made *made;
    uint32_t count;
    cg_options options;
    source_map *sources;
    atomic_uint next;
    mtx_t telling;
    void (*begun)(void *user, uint32_t image);
    void *user;
} team;

// PTX that is wanted beside its cubin is made once.
static bool make(arena *a, diag_set *ds, const cg_image *i, const cg_options *o, made *out) {
    cg_output text = {.log = ""}, cubin = {.log = ""};
    bool ok = true;
    if (i->text) text = *i->text;
    else if (i->wants_ptx) ok = cg_emit(a, ds, i->module, &i->target, CG_PTX, o, &text);
    if (ok)
        ok = text.data ? cg_ptx_assemble(a, ds, &text, i->target.arch, o, &cubin)
                       : cg_emit(a, ds, i->module, &i->target, CG_CUBIN, o, &cubin);
    if (!ok) return false;
    out->cubin = cg_deflate(a, cubin.data, cubin.size);
    out->cubin.log = cubin.log;
    if (i->wants_ptx) out->ptx = cg_deflate(a, text.data, text.size);
    return true;
}

static void work(void *of) {
    team *t = of;
    for (uint32_t k; (k = atomic_fetch_add(&t->next, 1)) < t->count;) {
        made *m = &t->made[k];
        if (t->begun) {
            mtx_lock(&t->telling);
            t->begun(t->user, k);
            mtx_unlock(&t->telling);
        }
        arena *a = arena_new();
        diag_set *ds = diag_set_new(a, t->sources);
        m->ok = make(a, ds, &t->images[k], &t->options, m);
        m->told = diag_mark(ds) > 0;
        m->arena = a;
    }
}

static cg_output kept(arena *a, cg_output x) {
    return (cg_output){x.size ? arena_strndup(a, x.data, x.size) : NULL, x.size,
                       arena_strdup(a, x.log ? x.log : "")};
}

// What an image has to say on a thread is thrown away: it is made again, to say it in order.
static bool take(arena *a, diag_set *ds, team *t, uint32_t k) {
    cg_image *i = &t->images[k];
    made again = {0}, *m = &t->made[k];
    if (!m->ok || m->told) {
        if (!make(a, ds, i, &t->options, &again)) return false;
        m = &again;
    }
    i->cubin = kept(a, m->cubin);
    i->ptx = kept(a, m->ptx);
    return true;
}

bool cg_images(arena *a, diag_set *ds, cg_image *images, uint32_t n, const cg_options *o,
               uint32_t threads, void (*begun)(void *user, uint32_t image), void *user) {
    team t = {.images = images,
              .made = ARENA_ARRAY(a, made, n + 1),
              .count = n,
              .options = *o,
              .sources = diag_sources(ds),
              .begun = begun,
              .user = user};
    t.options.beside = n > FEW;
    if (mtx_init(&t.telling, mtx_plain) != thrd_success) ICE("no lock");
    cg_together(threads < n ? threads : n, work, &t);
    mtx_destroy(&t.telling);
    bool ok = true;
    for (uint32_t k = 0; k < n; k++) {
        ok = ok && take(a, ds, &t, k);
        if (t.made[k].arena) arena_free(t.made[k].arena);
    }
    return ok;
}
