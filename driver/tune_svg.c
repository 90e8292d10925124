// The curves of a search: what the best schedule so far takes, over how many were tried. Times are
// shares of what runs without rules, so that graphs of all sizes are seen beside each other.
#include "svg.h"
#include "table.h"
#include "tune.h"

#include <math.h>

// The best so far where it changes, as steps. The last place is the number of tries.
static uint32_t steps_of(const tune_curve *c, svg_point *out) {
    double best = INFINITY;
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->tries.len; i++) {
        const double ns = c->tries.data[i].ns;
        if (!(ns < best)) continue;
        if (n) out[n] = (svg_point){i + 1, out[n - 1].y}, n++;
        out[n++] = (svg_point){i + 1, 100 * ns / c->plain};
        best = ns;
    }
    if (n) out[n] = (svg_point){c->tries.len, out[n - 1].y}, n++;
    return n;
}

static const char *legend_of(arena *a, const tune_curve *c, double share) {
    const char *plain = table_time_text(a, c->plain * 1e-6),
               *name = c->of->graph ? c->of->graph : "no graph";
    if (!(share > 0))
        return arena_printf(a, "%s, %s: %s without rules; none of %u can be run", name,
                            c->of->sizes, plain, c->tries.len);
    return arena_printf(a, "%s, %s: %s without rules, %s by the best of %u", name, c->of->sizes,
                        plain, table_time_text(a, c->plain * share * 1e-8), c->tries.len);
}

typedef struct {
    svg_point *points;
    uint32_t n;
} drawn;

static svg_plot *plot_of(const tune_session *s, const tune_op *op) {
    arena *a = s->d->arena;
    const uint32_t n = s->curves.len;
    drawn *all = ARENA_ARRAY(a, drawn, n + 1);
    svg_axis x = {"schedules tried", 0, 1, false},
             y = {"time of the best so far, % of that without rules", 100, 125, true};
    for (uint32_t i = 0; i < n; i++) {
        const tune_curve *c = &s->curves.data[i];
        if (c->op != op || !(c->plain > 0 && c->plain < INFINITY)) continue;
        all[i].points = ARENA_ARRAY(a, svg_point, 2 * c->tries.len + 2);
        all[i].n = steps_of(c, all[i].points);
        x.most = fmax(x.most, c->tries.len);
        for (uint32_t k = 0; k < all[i].n; k++) {
            y.least = fmin(y.least, all[i].points[k].y);
            y.most = fmax(y.most, all[i].points[k].y);
        }
    }
    svg_plot *p = svg_new(a,
                          arena_printf(a, "%s on %s%s", op->name, s->machine->name,
                                       s->machine->target ? "" : ", by the model"),
                          x, y);
    svg_line(p, (svg_point[]){{x.most, 100}, {0, 100}}, 2,
             &(svg_style){.colour = 5, .dashed = true, .label = "without rules"});
    for (uint32_t i = 0, colour = 0; i < n; i++) {
        const tune_curve *c = &s->curves.data[i];
        if (c->op != op) continue;
        const double share = all[i].n ? all[i].points[all[i].n - 1].y : 0;
        const char *legend = legend_of(a, c, share);
        if (all[i].n)
            svg_line(p, all[i].points, all[i].n,
                     &(svg_style){.colour = colour++, .legend = legend});
        else svg_note(p, legend);
    }
    return p;
}

void tune_svg_add(const tune_session *s, const char *path, const tune_ops *ops) {
    svg_plot **plots = ARENA_ARRAY(s->d->arena, svg_plot *, ops->len + 1);
    for (uint32_t i = 0; i < ops->len; i++) plots[i] = plot_of(s, &ops->data[i]);
    svg_add(s->d, path, plots, ops->len);
}
