// Inside the frontend: files and their items, as they were read. sema_scope.h says what names stand
// for, sema_lower.h what is known while an op is lowered, sema_expr.h has its expressions and
// reductions, sema_equation.h its signature and equations, sema_gradient.h gradients and what is
// saved for them, sema_schedule.h schedules.
#ifndef GNNC_SEMA_H
#define GNNC_SEMA_H

#include "frontend.h"

typedef struct {   // a file imports another, by their paths
    const char *from, *to;
} import_edge;

typedef struct sema {
    arena *arena;
    diag_set *ds;
    intern_table *names;
    frontend_options options;
    VEC(const ast_file *) files;   // the prelude first
    VEC(import_edge) imports;
    const source_file *main;
    VEC(const ast_item *) ops, fns, reducers, grads, schedules, choices;
    VEC(struct schedule_op *) schedule_ops;   // those that schedules were checked for
    bool schedules_checked, schedules_faulty;
    bool *defines_used;   // per -D
    uint32_t raised;      // faults of the run before this file
} sema;

const ast_item *sema_find(const ast_item *const *items, uint32_t n, const char *name);
// Of several items of that name the one nearest to the file where it is used: its own, then those
// it imports, then the prelude's. So what a file declares changes nothing in the files it imports.
// NO_SPAN: as seen from the main file.
const ast_item *sema_visible(const sema *s, const ast_item *const *items, uint32_t n,
                             const char *name, span use);
const char *sema_define(const sema *s, const char *name);   // the value of -D NAME, or NULL
bool sema_size(const char *text, int64_t *out);             // decimal digits that fit
bool sema_dtype(const char *name, ir_dtype *out);           // f32, i64, bool …

// What an alias names, else the item itself; NULL: there is none.
const ast_item *sema_op_body(const sema *s, const ast_item *item);
const ast_names *sema_alias_names(const ast_item *item);   // what it binds generics to
// nothing binds a generic that has no default
bool sema_generic_left(const sema *s, const ast_item *item, bool sizes_too);

// sema_lower.c
// `bound` binds generics from the left; the rest take -D or their defaults. NULL: faults were
// reported.
tensor_op *sema_lower(sema *s, const ast_item *item, const ast_names *bound, bool defaults,
                      const char *source);
// sema_quiet.c
// An op in some form, for the names in it: what nothing binds is bound to something that fits.
// NULL: it has faults, which are not reported here.
tensor_op *sema_lower_quietly(const sema *s, const ast_item *item);
void sema_normalise(const sema *s, tensor_op *op);   // sema_normal.c: after gradients are derived

// sema_schedule.c
bool schedules_check(sema *s);   // all of them, once; false: faults were reported

#endif
