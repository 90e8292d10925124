// The text of a point: what stands, with the chosen text at each site.
#include "tuning.h"

#include <string.h>

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
        const char *text = s->texts[w->picks[s->link]];
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

// A run of groups, each of which has one, shares one pick.
void tune_link(tune_base *b) {
    uint32_t turn = 0;
    for (uint32_t i = 0; i < b->sites.len; i++) {
        tune_site *x = &b->sites.data[i];
        const bool next = i && x->group != b->sites.data[i - 1].group;
        turn += next;
        x->turn = turn;
        x->link = i;
        for (uint32_t k = i; x->like && k-- > 0 && b->sites.data[k].turn + 1 >= turn;) {
            const tune_site *y = &b->sites.data[k];
            if (y->turn + 1 != turn || !y->like || y->n != x->n || strcmp(y->like, x->like))
                continue;
            x->link = y->link;
            break;
        }
    }
}

double tune_points(const tune_space *s) {
    double all = 0;
    for (uint32_t b = 0; b < s->bases.len; b++) {
        double of = 1;
        for (uint32_t i = 0; i < s->bases.data[b].sites.len; i++)
            if (s->bases.data[b].sites.data[i].link == i) of *= s->bases.data[b].sites.data[i].n;
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
