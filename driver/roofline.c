// Ceilings of a machine and ops below them.
#include "roofline.h"

#include "svg.h"
#include "table.h"

#include <math.h>

typedef struct {
    const char *name;
    double rate;   // flop/s, or bytes/s
    bool bytes;
} ceiling;
typedef struct {
    ceiling all[2 + SIM_UNITS];
    uint32_t n;
    double bytes, flops;   // of the memory, and the highest; 0: not known
} ceilings;

static const double GIGA = 1e9;

// ---- Ceilings -----------------------------------------------------------------------------------
static void add(arena *a, ceilings *c, const char *name, double rate, bool bytes) {
    if (!(rate > 0)) return;
    const bool tera = rate >= 1000 * GIGA && !bytes;
    const char *text = arena_printf(a, "%s %.4g %s", name, rate / GIGA / (tera ? 1000 : 1),
                                    bytes  ? "GB/s"
                                    : tera ? "Tflop/s"
                                           : "Gflop/s");
    c->all[c->n++] = (ceiling){text, rate, bytes};
    if (!bytes) c->flops = fmax(c->flops, rate);
}

// A product and a sum are two operations.
static ceilings ceilings_of(arena *a, const roofline_of *of) {
    const cost_machine *m = of->machine;
    ceilings c = {.bytes = of->bandwidth > 0 ? of->bandwidth : m ? m->gb_per_s * GIGA : 0};
    add(a, &c, "memory", c.bytes, true);
    if (!m) return c;
    add(a, &c, "L2", m->l2_gb_per_s * GIGA, true);
    if (cost_machine_is_host(m)) return c;
    const double cycles = m->sms * m->mhz * 1e6;
    add(a, &c, "double", 2 * cycles * cost_rate(m, SIM_UNIT_DOUBLE), false);
    add(a, &c, "float", 2 * cycles * cost_rate(m, SIM_UNIT_FLOAT), false);
    add(a, &c, "matrix of 16 bits", 2 * cycles * cost_rate(m, SIM_UNIT_MATRIX), false);
    return c;
}

// ---- The drawing --------------------------------------------------------------------------------
static bool is_drawn(const roofline_dot *x) {
    return x->flops > 0 && x->bytes > 0 && x->seconds > 0;
}

typedef struct {
    svg_axis x, y;
} axes;

static void stretch(svg_axis *x, double at) {
    x->least = fmin(x->least, at);
    x->most = fmax(x->most, at);
}

// Around all dots and the place where the memory's line meets the highest one.
static axes axes_of(const ceilings *c, const roofline_dots *dots) {
    axes z = {{"float operations a byte that must move, flop/B", INFINITY, 0, true},
              {"float operations a second, Gflop/s", INFINITY, 0, true}};
    for (uint32_t i = 0; i < dots->len; i++) {
        const roofline_dot *x = &dots->data[i];
        if (!is_drawn(x)) continue;
        stretch(&z.x, x->flops / x->bytes);
        stretch(&z.y, x->flops / x->seconds / GIGA);
    }
    if (!(z.x.most > 0)) z.x.least = z.x.most = z.y.least = z.y.most = 1;
    if (c->bytes > 0 && c->flops > 0) stretch(&z.x, c->flops / c->bytes);
    z.x.least /= 2;
    z.x.most *= 2;
    z.y.least /= 2;
    z.x = svg_rounded(z.x);
    if (c->bytes > 0) stretch(&z.y, z.x.least * c->bytes / GIGA / 2);
    for (uint32_t i = 0; i < c->n; i++)
        if (!c->all[i].bytes) stretch(&z.y, c->all[i].rate / GIGA * 1.5);
    if (c->bytes > 0 && !(c->flops > 0)) stretch(&z.y, z.x.most * c->bytes / GIGA);
    z.y = svg_rounded(z.y);
    return z;
}

static void draw_ceilings(svg_plot *p, const ceilings *c, const axes *z) {
    for (uint32_t i = 0; i < c->n; i++) {
        const ceiling *x = &c->all[i];
        const svg_style s = {
            .colour = x->bytes ? 0 : 2, .dashed = i > 0, .label = x->name, .under = x->bytes};
        if (!x->bytes) {
            const double from = c->bytes > 0 ? fmax(z->x.least, x->rate / c->bytes / 4)
                                             : z->x.least;
            svg_line(p, (svg_point[]){{z->x.most, x->rate / GIGA}, {from, x->rate / GIGA}}, 2, &s);
            continue;
        }
        const double to = c->flops > 0 ? fmin(z->x.most, c->flops / x->rate) : z->x.most,
                     from = fmin(z->x.least, to / 2);
        svg_line(p, (svg_point[]){{from, from * x->rate / GIGA}, {to, to * x->rate / GIGA}}, 2, &s);
    }
}

static void draw_dot(arena *a, svg_plot *p, const roofline_dot *x) {
    const double of_byte = x->flops / x->bytes, gflops = x->flops / x->seconds / GIGA;
    const char *legend = arena_printf(a, "%s, %s: %s, %.3g Gflop/s, %.3g flop/B, %.3g GB/s",
                                      x->name, x->what, table_time_text(a, x->seconds * 1e3),
                                      gflops, of_byte, x->bytes / x->seconds / GIGA);
    svg_dot(p, (svg_point){of_byte, gflops},
            &(svg_style){.colour = 1, .label = x->name, .legend = legend});
}

void roofline_add(driver *d, const char *path, const roofline_of *of, const roofline_dots *dots) {
    arena *a = d->arena;
    const ceilings c = ceilings_of(a, of);
    const axes z = axes_of(&c, dots);
    svg_plot *p = svg_new(a, of->title, z.x, z.y);
    draw_ceilings(p, &c, &z);
    for (uint32_t i = 0; i < dots->len; i++) {
        const roofline_dot *x = &dots->data[i];
        if (is_drawn(x)) draw_dot(a, p, x);
        else if (x->seconds > 0)
            svg_note(p, arena_printf(a, "%s, %s: %s, not drawn, as it has no float operation",
                                     x->name, x->what, table_time_text(a, x->seconds * 1e3)));
        else svg_note(p, arena_printf(a, "%s, %s: not timed", x->name, x->what));
    }
    svg_add(d, path, &p, 1);
}
