// The closest of some names, for "did you mean".
#include "support/support.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 64, SHORTEST_START = 4 };

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static bool same_letter(char a, char b) {
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

// Edit distance with transpositions (optimal string alignment); letters that differ in case only
// are equal.
static uint32_t distance(const char *a, uint32_t n, const char *b, uint32_t m) {
    uint32_t rows[3][LONGEST + 1];
    for (uint32_t j = 0; j <= m; j++) rows[0][j] = j;
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (uint32_t j = 1; j <= m; j++) {
            bool same = same_letter(a[i - 1], b[j - 1]);
            row[j] = least(least(above[j] + 1, row[j - 1] + 1), above[j - 1] + !same);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]))
                row[j] = least(row[j], above2[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

// The longest of the names that the other one goes on from, as in descending and desc.
static const char *begun(const char *name, const char *const *names, uint32_t n) {
    const char *best = NULL;
    for (uint32_t i = 0; i < n; i++) {
        size_t m = names[i] ? strlen(names[i]) : 0, common = 0;
        while (name[common] && common < m && same_letter(name[common], names[i][common])) common++;
        bool whole = (common == m) != !name[common];
        if (whole && common >= SHORTEST_START && (!best || m > strlen(best))) best = names[i];
    }
    return best;
}

const char *closest_name(const char *name, const char *const *names, uint32_t n) {
    size_t length = strlen(name);
    if (!length || length > LONGEST) return NULL;
    const char *best = NULL;
    uint32_t best_distance = (uint32_t)(length < 3 ? length - 1 : length < 6 ? 1 : length / 3) + 1;
    for (uint32_t i = 0; i < n; i++) {
        size_t m = names[i] ? strlen(names[i]) : 0;
        if (!m || !strcmp(name, names[i])) continue;
        if (m > LONGEST || m >= length + best_distance || length >= m + best_distance) continue;
        uint32_t d = distance(name, (uint32_t)length, names[i], (uint32_t)m);
        if (d >= best_distance) continue;
        best = names[i];
        best_distance = d;
    }
    return best ? best : begun(name, names, n);
}

bool diag_suggest(diagnostic *d, span at, const char *name, const char *const *names, uint32_t n) {
    const char *near = closest_name(name, names, n);
    if (near && at.hi) diag_fix(d, at, near, "did you mean '%s'?", near);
    else if (near) diag_help(d, "did you mean '%s'?", near);
    return near;
}
