// JSON, read: one array of values in the order of the text, each with the place of the next of its
// list or object. Texts are decoded in place, in a copy.
#include "json.h"

#include <string.h>

typedef enum { NOTHING, TRUE, FALSE, INTEGER, REAL, TEXT, LIST, OBJECT } kind;

struct rt_json {
    const char *key;   // of a member
    union {
        const char *text;
        int64_t integer;
        size_t count;
    };
    const rt_json *next;   // in the same list or object; NULL: the last
    kind kind;
};

typedef struct {
    char *at;   // what is not read yet, ended by a zero byte
    char *end;
    rt_json *values;
    size_t used;
    int line, depth;
    const char *fault;   // the first
} reading;

static bool wrong(reading *r, const char *fault) {
    if (!r->fault) r->fault = fault;
    return false;
}

static void skip_spaces(reading *r) {
    for (; *r->at == ' ' || *r->at == '\t' || *r->at == '\r' || *r->at == '\n'; r->at++)
        r->line += *r->at == '\n';
}

static bool take(reading *r, char c) {
    skip_spaces(r);
    if (*r->at != c) return false;
    r->at++;
    return true;
}

// ---- Texts --------------------------------------------------------------------------------------
static int hex4(const char *s) {
    int value = 0;
    for (int i = 0; i < 4; i++) {
        static const char known[] = "0123456789abcdefABCDEF";
        const char *at = s[i] ? strchr(known, s[i]) : NULL;
        if (!at) return -1;
        value = value * 16 + (int)(at - known < 16 ? at - known : at - known - 6);
    }
    return value;
}

static char *put_utf8(char *to, int c) {
    if (c < 0x80) return *to = (char)c, to + 1;
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const int lead[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(lead[more] | (c >> (6 * more)));
    for (int i = more; i-- > 0;) *to++ = (char)(0x80 | ((c >> (6 * i)) & 0x3f));
    return to;
}

// Behind \u; the halves of a pair stand behind each other.
static bool read_code(reading *r, char **to) {
    int c = hex4(r->at);
    if (c < 0) return wrong(r, "a \\u needs four hexadecimal digits");
    r->at += 4;
    if (c >= 0xd800 && c < 0xdc00 && r->at[0] == '\\' && r->at[1] == 'u') {
        int low = hex4(r->at + 2);
        if (low < 0xdc00 || low > 0xdfff) return wrong(r, "half of a pair of \\u is missing");
        r->at += 6;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    if (c >= 0xd800 && c < 0xe000) return wrong(r, "half of a pair of \\u is missing");
    if (!c) return wrong(r, "a text holds a zero byte");
    *to = put_utf8(*to, c);
    return true;
}

static bool read_escape(reading *r, char **to) {
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    char c = *r->at;
    const char *known = c ? strchr(from, c) : NULL;
    if (!known && c != 'u') return wrong(r, "there is no such escape");
    r->at++;
    if (c == 'u') return read_code(r, to);
    *(*to)++ = into[known - from];
    return true;
}

static bool read_text(reading *r, const char **out) {
    char *to = r->at;
    *out = to;
    while (*r->at != '"') {
        if ((unsigned char)*r->at < ' ')
            return wrong(r, r->at == r->end ? "a text has no end"
                                            : "a text holds a control character");
        if (*r->at != '\\') *to++ = *r->at++;
        else if (r->at++, !read_escape(r, &to)) return false;
    }
    *to = 0;
    r->at++;
    return true;
}

// ---- Values -------------------------------------------------------------------------------------
static size_t digits(reading *r) {
    size_t n = strspn(r->at, "0123456789");
    r->at += n;
    return n;
}

static bool read_number(reading *r, rt_json *v) {
    const bool negative = *r->at == '-';
    r->at += negative;
    const char *first = r->at;
    size_t n = digits(r);
    if (!n || (n > 1 && *first == '0')) return wrong(r, "a value is wanted");
    v->kind = *r->at == '.' || *r->at == 'e' || *r->at == 'E' ? REAL : INTEGER;
    if (*r->at == '.' && (r->at++, !digits(r)))
        return wrong(r, "digits are wanted behind the point");
    if (*r->at == 'e' || *r->at == 'E') {
        r->at++;
        r->at += *r->at == '+' || *r->at == '-';
        if (!digits(r)) return wrong(r, "digits are wanted in the exponent");
    }
    for (size_t i = 0; v->kind == INTEGER && i < n; i++) {
        int d = first[i] - '0';
        if (__builtin_mul_overflow(v->integer, 10, &v->integer) ||
            __builtin_add_overflow(v->integer, negative ? -d : d, &v->integer))
            return wrong(r, "an integer does not fit 64 bits");
    }
    return true;
}

static bool read_word(reading *r, rt_json *v) {
    static const struct {
        const char *text;
        kind kind;
    } words[] = {{"true", TRUE}, {"false", FALSE}, {"null", NOTHING}};
    for (size_t i = 0; i < RT_COUNT(words); i++) {
        size_t n = strlen(words[i].text);
        if (strncmp(r->at, words[i].text, n)) continue;
        r->at += n;
        v->kind = words[i].kind;
        return true;
    }
    return wrong(r, "a value is wanted");
}

static bool read_value(reading *r, const rt_json **out);

static bool read_key(reading *r, const rt_json *object, const char **key) {
    if (!take(r, '"')) return wrong(r, "the name of a member is wanted");
    if (!read_text(r, key)) return false;
    if (rt_json_get(object, *key)) return wrong(r, "a member stands twice");
    return take(r, ':') || wrong(r, "a : is wanted");
}

// Behind [ or {.
static bool read_values(reading *r, rt_json *v, char end) {
    rt_json *last = NULL;
    v->kind = end == '}' ? OBJECT : LIST;
    if (take(r, end)) return true;
    do {
        const char *key = NULL;
        const rt_json *value;
        if (v->kind == OBJECT && v->count == RT_JSON_MEMBERS)
            return wrong(r, "an object has too many members");
        if ((v->kind == OBJECT && !read_key(r, v, &key)) || !read_value(r, &value)) return false;
        rt_json *made = r->values + (value - r->values);
        made->key = key;
        if (last) last->next = made;
        last = made;
        v->count++;
    } while (take(r, ','));
    return take(r, end) || wrong(r, end == '}' ? "a , or } is wanted" : "a , or ] is wanted");
}

static bool read_value(reading *r, const rt_json **out) {
    rt_json *v = &r->values[r->used++];
    bool good;
    *out = v;
    skip_spaces(r);
    if (++r->depth > RT_JSON_DEPTH) return wrong(r, "values lie too deep in each other");
    if (take(r, '{')) good = read_values(r, v, '}');
    else if (take(r, '[')) good = read_values(r, v, ']');
    else if (take(r, '"')) v->kind = TEXT, good = read_text(r, &v->text);
    else
        good = *r->at == '-' || (*r->at >= '0' && *r->at <= '9') ? read_number(r, v)
                                                                 : read_word(r, v);
    r->depth--;
    return good;
}

// Each value but the root stands behind one of these.
static size_t most_values(const char *text, size_t length) {
    size_t n = 1;
    for (size_t i = 0; i < length; i++) n += text[i] == ',' || text[i] == '[' || text[i] == ':';
    return n;
}

const rt_json *rt_json_read(rt_heap *h, const char *text, size_t length, rt_json_fault *fault) {
    const rt_json *root = NULL;
    *fault = (rt_json_fault){0};
    reading r = {.at = rt_heap_alloc(h, length + 1, 1), .line = 1};
    r.values = r.at ? rt_heap_alloc(h, most_values(text, length), sizeof *r.values) : NULL;
    if (!r.values) return NULL;
    memcpy(r.at, text, length);
    r.end = r.at + length;
    if (read_value(&r, &root)) skip_spaces(&r);
    if (!r.fault && r.at != r.end) wrong(&r, "something stands behind the value");
    *fault = (rt_json_fault){r.fault, r.line};
    return r.fault ? NULL : root;
}

// ---- Questions ----------------------------------------------------------------------------------
static bool is(const rt_json *j, kind k) { return j && j->kind == k; }

static const rt_json *inside(const rt_json *j) { return j->count ? j + 1 : NULL; }

const rt_json *rt_json_get(const rt_json *object, const char *key) {
    if (!is(object, OBJECT)) return NULL;
    const rt_json *j = inside(object);
    while (j && strcmp(j->key, key)) j = j->next;
    return j;
}

const rt_json *rt_json_at(const rt_json *list, size_t i) {
    if (!is(list, LIST)) return NULL;
    const rt_json *j = inside(list);
    while (j && i--) j = j->next;
    return j;
}

size_t rt_json_count(const rt_json *list) { return is(list, LIST) ? list->count : 0; }
const char *rt_json_text(const rt_json *j) { return is(j, TEXT) ? j->text : NULL; }
int64_t rt_json_int(const rt_json *j) { return is(j, INTEGER) ? j->integer : 0; }
bool rt_json_is_int(const rt_json *j) { return is(j, INTEGER); }
bool rt_json_is_list(const rt_json *j) { return is(j, LIST); }
bool rt_json_is_object(const rt_json *j) { return is(j, OBJECT); }
bool rt_json_is_bool(const rt_json *j) { return is(j, TRUE) || is(j, FALSE); }
bool rt_json_is_true(const rt_json *j) { return is(j, TRUE); }
