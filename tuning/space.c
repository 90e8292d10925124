// The text of a point: what stands, with the chosen text at each site.
#include "tuning.h"

typedef struct {
    textbuf out;
    const tune_base *base;
    const uint8_t *picks;
} writing;

// From a place to another, the sites from `at` on that begin before `end`; gives the first one
// behind.
static uint32_t write_range(writing *w, uint32_t from, uint32_t to, uint32_t end, uint32_t at) {
    const tune_base *b = w->base;
    while (at < b->sites.len && b->sites.data[at].from < end) {
        const tune_site *s = &b->sites.data[at];
        const char *text = s->texts[w->picks[at]];
        textbuf_putn(&w->out, b->text + from, s->from - from);
        at++;
        if (text) {
            textbuf_puts(&w->out, text);
            while (at < b->sites.len && b->sites.data[at].from < s->to) at++;
        } else {
            at = write_range(w, s->from, s->to, s->to, at);
        }
        from = s->to;
    }
    textbuf_putn(&w->out, b->text + from, to - from);
    return at;
}

const char *tune_text(arena *a, const tune_space *s, const tune_point *p) {
    const tune_base *b = &s->bases.data[p->base];
    writing w = {.out = textbuf_new(a), .base = b, .picks = p->picks};
    uint32_t length = 0;
    while (b->text[length]) length++;
    write_range(&w, 0, length, length + 1, 0);
    return w.out.data;
}

double tune_points(const tune_space *s) {
    double all = 0;
    for (uint32_t b = 0; b < s->bases.len; b++) {
        double of = 1;
        for (uint32_t i = 0; i < s->bases.data[b].sites.len; i++)
            of *= s->bases.data[b].sites.data[i].n;
        all += of;
    }
    return all;
}

tune_point tune_first(arena *a, const tune_space *s, uint32_t base) {
    const tune_base *b = &s->bases.data[base];
    tune_point p = {.base = base, .picks = ARENA_ARRAY(a, uint8_t, b->sites.len + 1)};
    for (uint32_t i = 0; i < b->sites.len; i++) p.picks[i] = (uint8_t)b->sites.data[i].first;
    return p;
}
