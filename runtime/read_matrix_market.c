// Matrix Market files in coordinate form. An entry (i, j) is an edge j -> i with ids from 1: rows
// are destinations. The values of real and integer matrices become weights; symmetric, hermitian
// and skew-symmetric ones are given both triangles, whichever the file has.
#include "files.h"

#include <string.h>
#include <strings.h>

typedef enum { REAL, INTEGER, PATTERN } field;
typedef enum { GENERAL, SYMMETRIC, SKEW, HERMITIAN } symmetry;
typedef struct {
    rt_lines lines;
    field field;
    symmetry symmetry;
    int64_t rows, cols, entries;
    int64_t read;   // entries so far
    rt_rows *made;
    int64_t *parts;   // entries of the pieces of a round
} matrix;
typedef struct {
    int64_t row, col;   // from 0
    double value;
} entry;

static gnn_status expected(matrix *m, const char *what, const char *p) {
    char quoted[RT_QUOTE];
    return rt_line_fail(&m->lines, "expected %s, got %s", what, rt_quote(p, m->lines.end, quoted));
}

// ---- The banner ---------------------------------------------------------------------------------
enum { WORDS = 5, WORD = 32 };

static bool split_words(const char *p, const char *end, char words[WORDS][WORD]) {
    for (int i = 0; i < WORDS; i++) {
        p = rt_skip_blanks(p, end);
        size_t n = 0;
        for (; p < end && *p != ' ' && *p != '\t'; p++)
            if (n < WORD - 1) words[i][n++] = *p;
        words[i][n] = 0;
    }
    return rt_skip_blanks(p, end) == end;
}

static int find_word(const char *word, const char *const *table) {
    for (int i = 0; table[i]; i++)
        if (!strcasecmp(word, table[i])) return i;
    return -1;
}

static gnn_status bad_word(matrix *m, const char *what, const char *choices, const char *word) {
    char quoted[RT_QUOTE];
    return rt_line_fail(&m->lines, "the %s must be %s, got %s", what, choices,
                        *word ? rt_quote(word, word + strlen(word), quoted) : "nothing");
}

static gnn_status read_banner(matrix *m) {
    static const char *const fields[] = {"real",   "integer",          "pattern",
                                         "double", "unsigned-integer", NULL};
    static const field field_of[] = {REAL, INTEGER, PATTERN, REAL, INTEGER};
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian",
                                             NULL};
    char words[WORDS][WORD];
    if (!rt_next_line(&m->lines))
        return m->lines.status ? m->lines.status : rt_line_fail(&m->lines, "the file is empty");
    bool whole = split_words(m->lines.at, m->lines.end, words);
    bool banner = !strcasecmp(words[0], "%%MatrixMarket") || !strcasecmp(words[0], "%MatrixMarket");
    if (!banner || strcasecmp(words[1], "matrix") || !whole)
        return rt_line_fail(&m->lines,
                            "expected '%%%%MatrixMarket matrix coordinate FIELD SYMMETRY'");
    if (strcasecmp(words[2], "coordinate")) return bad_word(m, "format", "'coordinate'", words[2]);
    int f = find_word(words[3], fields), s = find_word(words[4], symmetries);
    if (f < 0) return bad_word(m, "field", "real, integer or pattern", words[3]);
    if (s < 0)
        return bad_word(m, "symmetry", "general, symmetric, skew-symmetric or hermitian", words[4]);
    m->field = field_of[f];
    m->symmetry = s == HERMITIAN ? SYMMETRIC : (symmetry)s;   // of numbers that are real
    return GNN_OK;
}

// ---- Sizes --------------------------------------------------------------------------------------
static const char *parse_three(matrix *m, int64_t out[3]) {
    const char *p = m->lines.at;
    for (int i = 0; i < 3; i++) {
        p = rt_skip_blanks(p, m->lines.end);
        const char *q = rt_parse_count(p, m->lines.end, &out[i]);
        if (!q || (q < m->lines.end && *q != ' ' && *q != '\t')) return p;
        p = q;
    }
    p = rt_skip_blanks(p, m->lines.end);
    return p < m->lines.end ? p : NULL;
}

static gnn_status check_sizes(matrix *m) {
    rt_source *s = m->lines.s;
    int64_t limit = rt_node_limit(s, RT_ROWS_SHARE);
    if (m->symmetry != GENERAL && m->rows != m->cols)
        return rt_line_fail(&m->lines, "a symmetric matrix must be square, got %lld x %lld",
                            (long long)m->rows, (long long)m->cols);
    if (m->rows > limit) {
        m->lines.status = rt_fail(
            s->c, GNN_TOO_LARGE, "%s:%lld: %lld rows are too many for a file of %llu bytes",
            s->name, (long long)m->lines.number, (long long)m->rows, (unsigned long long)s->size);
        return m->lines.status;
    }
    // bytes of an entry, the end of its line included
    uint64_t least = m->field == PATTERN ? 4 : 6;
    if ((uint64_t)m->entries > (s->size + 1) / least)
        return rt_line_fail(&m->lines, "%lld entries do not fit a file of %llu bytes",
                            (long long)m->entries, (unsigned long long)s->size);
    return GNN_OK;
}

static gnn_status read_sizes(matrix *m) {
    if (!rt_next_content(&m->lines))
        return m->lines.status ? m->lines.status
                               : rt_line_fail(&m->lines, "the file ends before its sizes");
    int64_t sizes[3];
    const char *bad = parse_three(m, sizes);
    if (bad) return expected(m, "three sizes: rows, columns, entries", bad);
    m->rows = sizes[0];
    m->cols = sizes[1];
    m->entries = sizes[2];
    return check_sizes(m);
}

// ---- Entries ------------------------------------------------------------------------------------
static const char *parse_position(matrix *m, const char *p, const char *what, int64_t size,
                                  int64_t *out) {
    p = rt_skip_blanks(p, m->lines.end);
    const char *q = rt_parse_count(p, m->lines.end, out);
    if (!q || (q < m->lines.end && *q != ' ' && *q != '\t')) {
        expected(m, "two integers", p);
        return NULL;
    }
    if (*out < 1 || *out > size) {
        rt_line_fail(&m->lines, "%s %lld is outside 1 to %lld", what, (long long)*out,
                     (long long)size);
        return NULL;
    }
    --*out;
    return q;
}

// An integer that a double holds exactly.
static const char *parse_integer(const char *p, const char *end, double *out) {
    int64_t value;
    bool negative = p < end && *p == '-';
    const char *q = rt_parse_count(p < end && (negative || *p == '+') ? p + 1 : p, end, &value);
    if (!q || value > (int64_t)1 << 53) return NULL;
    *out = negative ? -(double)value : (double)value;
    return q;
}

static const char *parse_value(matrix *m, const char *p, double *out) {
    const char *end = m->lines.end;
    bool integer = m->field == INTEGER;
    const char *q = integer ? parse_integer(p, end, out) : rt_parse_real(p, end, out);
    if (q && (q == end || *q == ' ' || *q == '\t')) return q;
    expected(m, integer ? "an integer within 2^53" : "a number", p);
    return NULL;
}

static gnn_status parse_entry(matrix *m, entry *e) {
    const char *p = parse_position(m, m->lines.at, "row", m->rows, &e->row);
    if (p) p = parse_position(m, p, "column", m->cols, &e->col);
    e->value = 1;
    if (p && m->field != PATTERN) p = parse_value(m, rt_skip_blanks(p, m->lines.end), &e->value);
    if (!p) return m->lines.status;
    if (rt_skip_blanks(p, m->lines.end) < m->lines.end)
        return expected(m, "the end of the line", p);
    return GNN_OK;
}

static void put_entry(const matrix *m, const entry *e, rt_edge_block *b) {
    rt_edge_put(b, e->row, e->col, e->value);
    if (m->symmetry != GENERAL && e->row != e->col)
        rt_edge_put(b, e->col, e->row, m->symmetry == SKEW ? -e->value : e->value);
}

static void parse_piece(void *user, uint32_t i, rt_lines *piece, rt_edge_block *b) {
    matrix m = *(const matrix *)user;
    entry e;
    m.lines = *piece;
    for (m.read = 0; b->n + 2 <= RT_BLOCK && rt_next_content(&m.lines) && !parse_entry(&m, &e);
         m.read++)
        put_entry(&m, &e, b);
    m.parts[i] = m.read;
    *piece = m.lines;
}

static bool accept_piece(void *user, uint32_t i) {
    matrix *m = user;
    if (m->parts[i] > m->entries - m->read) return false;
    m->read += m->parts[i];
    return true;
}

static gnn_status take_rows(void *user, uint32_t n) {
    const matrix *m = user;
    return rt_rows_take(m->made, n);
}

static gnn_status tell_wrong(void *user) {
    matrix *m = user;
    entry e;
    for (; rt_next_content(&m->lines); m->read++) {
        if (m->read == m->entries)
            return rt_line_fail(&m->lines, "there are more than the %lld entries promised",
                                (long long)m->entries);
        if (parse_entry(m, &e)) break;
    }
    return m->lines.status;
}

// Runs over all entries, once to count and once to place.
static gnn_status walk(matrix *m) {
    m->read = 0;
    gnn_status s = rt_read_rounds(&(rt_line_rounds){.lines = &m->lines,
                                                    .blocks = &m->made->blocks,
                                                    .pass = {m->made->col != NULL, 2},
                                                    .parse = parse_piece,
                                                    .accept = accept_piece,
                                                    .take = take_rows,
                                                    .tell = tell_wrong,
                                                    .user = m});
    if (s || m->read == m->entries) return s;
    rt_next_line(&m->lines);   // to the end
    return rt_line_fail(&m->lines, "the file ends after %lld of %lld entries", (long long)m->read,
                        (long long)m->entries);
}

static gnn_status read_head(matrix *m) {
    gnn_status s = read_banner(m);
    m->lines.comments = "%";
    if (!s) s = read_sizes(m);
    m->lines.comments = "";
    return s;
}

static gnn_status read_rows(matrix *m, rt_rows *rows) {
    gnn_status s = read_head(m);
    if (!s) s = rt_rows_new(rows->c, rows->name, m->rows, rows);
    if (!s) s = walk(m);
    if (!s) s = rt_rows_place_all(rows, m->field != PATTERN || m->symmetry == SKEW);
    if (s) return s;
    matrix before = *m;
    rt_lines_rewind(&m->lines);
    s = read_head(m);
    rows->strayed |= m->rows != before.rows || m->cols != before.cols ||
                     m->symmetry != before.symmetry;
    return s ? s : walk(m);
}

gnn_status rt_read_matrix_market(rt_source *source, gnn_graph *g) {
    int64_t parts[RT_BLOCKS];
    rt_rows rows = {.c = source->c, .name = source->name, .blocks = {.c = source->c}};
    matrix m = {.made = &rows, .parts = parts};
    gnn_status s = rt_lines_open(source, "", &m.lines);
    if (!s) s = read_rows(&m, &rows);
    if (m.lines.buffer) rt_lines_close(&m.lines);
    if (!s) s = rt_rows_finish(&rows, g);
    rt_rows_free(&rows);
    g->sources = s ? 0 : m.cols;
    return s;
}
