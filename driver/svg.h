// Drawings as SVG: lines and dots over two axes, a legend below. They are readable on light and on
// dark, and ask for no script, font or file beside them.
//
//     svg_plot *p = svg_new(a, "spmm", (svg_axis){"bytes", 1, 100}, (svg_axis){"us", 2, 8, true});
//     svg_line(p, points, n, &(svg_style){.colour = 1, .label = "rmat:9:8"});
//     svg_add(d, "x.svg", &p, 1);
//     output_flush(d);
#ifndef DRIVER_SVG_H
#define DRIVER_SVG_H

#include "driver.h"

typedef struct {
    const char *title;    // with its unit
    double least, most;   // of what is drawn; the axis ends at round numbers
    bool logarithmic;
} svg_axis;
typedef struct {
    double x, y;
} svg_point;
typedef struct {
    uint32_t colour;   // they go round
    bool dashed;
    const char *label;    // beside it, or where it begins; NULL: none
    bool under;           // the label, so that a line that rises does not cross it
    const char *legend;   // a line below the drawing; NULL: none
} svg_style;
svg_axis svg_rounded(svg_axis x);   // as it is drawn
typedef struct svg_plot svg_plot;
svg_plot *svg_new(arena *a, const char *title, svg_axis x, svg_axis y);
// What lies outside of the axes is cut off.
void svg_line(svg_plot *p, const svg_point *of, uint32_t n, const svg_style *s);
void svg_dot(svg_plot *p, svg_point at, const svg_style *s);
void svg_note(svg_plot *p, const char *text);   // a line of text below
const char *svg_path(driver *d);   // of --svg; NULL: nothing is drawn, or a fault is told
// The plots below each other become an output (output_add).
void svg_add(driver *d, const char *path, svg_plot *const *plots, uint32_t n);

#endif
