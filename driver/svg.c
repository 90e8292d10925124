// The text of a drawing. Colours are classes, which a dark background has others for.
#include "svg.h"

#include <math.h>
#include <string.h>

// Pixels of a plot: the frame, and what is around it.
enum {
    LEFT = 70,
    TOP = 40,
    WIDTH = 640,
    HEIGHT = 360,
    RIGHT = 30,
    BELOW = 56,
    LINE = 18,    // of text
    LETTER = 7,   // about as wide
    COLOURS = 6,
    ALL = LEFT + WIDTH + RIGHT
};

typedef struct {
    double left, top, width;
} placed;   // a label, so that no other one lies over it
struct svg_plot {
    arena *arena;
    svg_axis x, y;
    textbuf out, below;
    uint32_t lines;   // of the legend
    double width;
    VEC(placed) labels;
};

static const char style[] =
    "<style>\n"
    "text{font:12px sans-serif;fill:#222}.title{font-weight:bold;font-size:14px}\n"
    ".paper{fill:#fff}.frame{fill:none;stroke:#666}.grid{stroke:#e2e2e2}\n"
    ".line{fill:none;stroke:currentColor;stroke-width:1.8}.dashed{stroke-dasharray:6 4}\n"
    ".dot{fill:currentColor;stroke:none}\n"
    ".k0{color:#1768ac}.k1{color:#c2410c}.k2{color:#2e7d32}.k3{color:#8e24aa}.k4{color:#00838f}"
    ".k5{color:#6d4c41}\n"
    "@media (prefers-color-scheme:dark){\n"
    "text{fill:#e4e6e8}.paper{fill:#16191d}.frame{stroke:#98a0a8}.grid{stroke:#33393f}\n"
    ".k0{color:#6cb6ff}.k1{color:#ff9d66}.k2{color:#7bd88f}.k3{color:#dd9cf0}.k4{color:#5fd3dc}"
    ".k5{color:#d0b0a0}\n"
    "}\n"
    "</style>\n";

// ---- Axes ---------------------------------------------------------------------------------------
// A round number, 1, 2 or 5 of its decade, that is at most x, or at least x.
static double round_to(double x, bool up) {
    static const double steps[] = {1, 2, 5, 10};
    const double decade = pow(10, floor(log10(x)));
    const int n = sizeof steps / sizeof *steps;
    for (int i = 0; i < n && up; i++)
        if (steps[i] * decade >= x * (1 - 1e-9)) return steps[i] * decade;
    for (int i = n - 1; i >= 0 && !up; i--)
        if (steps[i] * decade <= x * (1 + 1e-9)) return steps[i] * decade;
    return x;
}

static double step_of(const svg_axis *x) {
    enum { TICKS = 6 };
    return round_to((x->most - x->least) / TICKS, true);
}

svg_axis svg_rounded(svg_axis x) {
    static const double least = 1e-12;
    if (x.logarithmic) {
        x.least = round_to(fmax(x.least, least), false);
        x.most = round_to(fmax(x.most, x.least), true);
        if (!(x.most > x.least)) x.most = round_to(x.least * 2, true);
        return x;
    }
    if (!(x.most > x.least)) x.most = x.least + 1;
    const double step = step_of(&x);
    x.least = floor(x.least / step) * step;
    x.most = ceil(x.most / step - 1e-9) * step;
    return x;
}

// From 0 to 1 on the axis.
static double share(const svg_axis *x, double at) {
    if (x->logarithmic) return log(at / x->least) / log(x->most / x->least);
    return (at - x->least) / (x->most - x->least);
}

// The next tick; of more than three decades the powers of ten alone.
static double tick_behind(const svg_axis *x, double at) {
    static const double few = 1000;
    if (!x->logarithmic) return at + step_of(x);
    if (x->most / x->least <= few) return round_to(at * 1.5, true);
    return pow(10, floor(log10(at) + 1e-9) + 1);
}

static double across(const svg_plot *p, double x) { return LEFT + share(&p->x, x) * WIDTH; }
static double down(const svg_plot *p, double y) { return TOP + (1 - share(&p->y, y)) * HEIGHT; }

// ---- Text ---------------------------------------------------------------------------------------
static void put_text(textbuf *out, svg_point at, const char *how, const char *text) {
    textbuf_printf(out, "<text x=\"%.1f\" y=\"%.1f\"%s>", at.x, at.y, how);
    textbuf_xml(out, text);
    textbuf_puts(out, "</text>\n");
}

static void put_ticks(svg_plot *p) {
    static const double slack = 1 + 1e-9;
    for (double x = p->x.least; x <= p->x.most * slack; x = tick_behind(&p->x, x)) {
        const double at = across(p, x);
        textbuf_printf(&p->out, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n", at, TOP,
                       TOP + HEIGHT);
        put_text(&p->out, (svg_point){at, TOP + HEIGHT + LINE}, " text-anchor=\"middle\"",
                 arena_printf(p->arena, "%.9g", x));
    }
    for (double y = p->y.least; y <= p->y.most * slack; y = tick_behind(&p->y, y)) {
        const double at = down(p, y);
        textbuf_printf(&p->out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, at,
                       LEFT + WIDTH);
        put_text(&p->out, (svg_point){LEFT - 6, at + 4}, " text-anchor=\"end\"",
                 arena_printf(p->arena, "%.9g", y));
    }
}

// Beside a place, or below it where another one lies there.
static void put_label(svg_plot *p, svg_point at, const svg_style *s) {
    const char *text = s->label;
    const double width = (double)LETTER * (double)strlen(text);
    placed l = {at.x + 6, at.y + (s->under ? LINE : -4), width};
    if (l.left + width > LEFT + WIDTH) l.left = fmax(LEFT + 2, at.x - 6 - width);
    for (uint32_t i = 0; i < p->labels.len; i++) {
        const placed *x = &p->labels.data[i];
        if (fabs(x->top - l.top) >= LINE - 4 || x->left > l.left + l.width ||
            l.left > x->left + x->width)
            continue;
        l.top = x->top + LINE - 4;
        i = UINT32_MAX;   // from the first one on again
    }
    VEC_PUSH(p->arena, &p->labels, l);
    put_text(&p->out, (svg_point){l.left, l.top}, "", text);
}

// A line below, and as much room as it takes.
static void put_below(svg_plot *p, double left, const char *text) {
    put_text(&p->below, (svg_point){left, (double)p->lines++ * LINE + 4}, "", text);
    p->width = fmax(p->width, left + (double)LETTER * (double)strlen(text));
}

static void put_legend(svg_plot *p, const svg_style *s, const char *mark) {
    if (!s->legend) return;
    const double y = (double)p->lines * LINE;
    textbuf_printf(&p->below, "<g class=\"k%u\" transform=\"translate(%d %.0f)\">%s</g>\n",
                   s->colour % COLOURS, LEFT, y, mark);
    put_below(p, LEFT + 32, s->legend);
}

void svg_note(svg_plot *p, const char *text) { put_below(p, LEFT, text); }

// ---- Lines and dots -----------------------------------------------------------------------------
svg_plot *svg_new(arena *a, const char *title, svg_axis x, svg_axis y) {
    svg_plot *p = ARENA_NEW(a, svg_plot);
    *p = (svg_plot){.arena = a,
                    .x = svg_rounded(x),
                    .y = svg_rounded(y),
                    .out = textbuf_new(a),
                    .below = textbuf_new(a)};
    textbuf_puts(&p->below, "");
    put_text(&p->out, (svg_point){LEFT, TOP - 16}, " class=\"title\"", title);
    put_ticks(p);
    textbuf_printf(&p->out,
                   "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT,
                   TOP, WIDTH, HEIGHT);
    put_text(&p->out, (svg_point){LEFT + WIDTH / 2.0, TOP + HEIGHT + 2 * LINE},
             " text-anchor=\"middle\"", x.title);
    const char *turned = arena_printf(a, " text-anchor=\"middle\" transform=\"rotate(-90 14 %d)\"",
                                      TOP + HEIGHT / 2);
    put_text(&p->out, (svg_point){14, TOP + HEIGHT / 2.0}, turned, y.title);
    return p;
}

// Where a dot of one name is told apart from others by looking at it longer.
static void put_hint(svg_plot *p, const svg_style *s) {
    textbuf_puts(&p->out, "<title>");
    textbuf_xml(&p->out, s->legend ? s->legend : s->label ? s->label : "");
    textbuf_puts(&p->out, "</title>");
}

void svg_line(svg_plot *p, const svg_point *of, uint32_t n, const svg_style *s) {
    const char *dashed = s->dashed ? " dashed" : "";
    if (!n) return;
    textbuf_printf(&p->out, "<path class=\"line k%u%s\" clip-path=\"url(#frame)\" d=\"",
                   s->colour % COLOURS, dashed);
    for (uint32_t i = 0; i < n; i++)
        textbuf_printf(&p->out, "%s%.1f %.1f", i ? "L" : "M", across(p, of[i].x), down(p, of[i].y));
    textbuf_puts(&p->out, "\">");
    put_hint(p, s);
    textbuf_puts(&p->out, "</path>\n");
    if (s->label) put_label(p, (svg_point){fmax(across(p, of[0].x), LEFT), down(p, of[0].y)}, s);
    put_legend(p, s, arena_printf(p->arena, "<path class=\"line%s\" d=\"M0 0H24\"/>", dashed));
}

void svg_dot(svg_plot *p, svg_point at, const svg_style *s) {
    const svg_point place = {across(p, at.x), down(p, at.y)};
    textbuf_printf(&p->out, "<circle class=\"dot k%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\">",
                   s->colour % COLOURS, place.x, place.y);
    put_hint(p, s);
    textbuf_puts(&p->out, "</circle>\n");
    if (s->label) put_label(p, place, s);
    put_legend(p, s, "<circle class=\"dot\" cx=\"12\" cy=\"0\" r=\"4\"/>");
}

// ---- The file -----------------------------------------------------------------------------------
const char *svg_path(driver *d) {
    const char *path = option_text(d, OPT_SVG, NULL);
    if (!path || strcmp(path, "-")) return path;
    usage(d, E0812, "--svg takes a file: the standard output has the table");
    return NULL;
}

static double height_of(const svg_plot *p) {
    return TOP + HEIGHT + BELOW + (double)p->lines * LINE;
}

void svg_add(driver *d, const char *path, svg_plot *const *plots, uint32_t n) {
    textbuf out = textbuf_new(d->arena);
    double height = 0, width = ALL;
    for (uint32_t i = 0; i < n; i++) {
        height += height_of(plots[i]);
        width = fmax(width, plots[i]->width);
    }
    textbuf_printf(&out,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                   "viewBox=\"0 0 %.0f %.0f\">\n%s",
                   width, height, width, height, style);
    textbuf_printf(&out,
                   "<clipPath id=\"frame\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
                   "</clipPath>\n<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n",
                   LEFT, TOP, WIDTH, HEIGHT);
    height = 0;
    for (uint32_t i = 0; i < n; i++) {
        textbuf_printf(&out, "<g transform=\"translate(0 %.0f)\">\n%s", height, plots[i]->out.data);
        textbuf_printf(&out, "<g transform=\"translate(0 %d)\">\n%s</g>\n</g>\n",
                       TOP + HEIGHT + BELOW, plots[i]->below.data);
        height += height_of(plots[i]);
    }
    textbuf_puts(&out, "</svg>\n");
    output_add(d, path, out.data, out.len);
}
