// What gradients are called, and the ops that they are of.
#include "sema_gradient.h"
#include "sema_schedule.h"

const char *gradient_path(sema *s, const ast_item *grad) {
    if (grad->as.text) return grad->as.text;
    return intern(s->names, arena_printf(s->arena, "%s.grad", schedule_path_text(s, grad->path)));
}

const ast_item *gradient_find(sema *s, const char *path) {
    for (uint32_t i = s->grads.len; i-- > 0;)
        if (s->grads.data[i]->path && gradient_path(s, s->grads.data[i]) == path)
            return s->grads.data[i];
    return NULL;
}

// The op that a path starts from, through gradients of gradients.
const ast_item *gradient_source(sema *s, const ast_path *path, uint32_t depth) {
    const ast_item *op = sema_visible(s, s->ops.data, s->ops.len, path->name.text, path->name.at),
                   *grad = op || depth > 8 ? NULL : gradient_find(s, path->name.text);
    return grad ? gradient_source(s, grad->path, depth + 1) : op;
}

const char *gradient_name_in_c(sema *s, const char *path) {   // a point is an underscore
    char *name = arena_printf(s->arena, "%s", path);
    for (char *c = name; *c; c++)
        if (*c == '.') *c = '_';
    return name;
}
