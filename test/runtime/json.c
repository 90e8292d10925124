// What is JSON and what is not, and what values are; texts that end anywhere.
#include "Inputs/harness.h"
#include "json.h"

static const struct {
    const char *text, *fault;   // NULL: it is read
    int line;
} texts[] = {
    {"{}", NULL, 1},
    {" [1, -2, 3.5, 1e9, -0, true, false, null, \"\"]\n", NULL, 2},
    {"", "a value is wanted", 1},
    {"{} x", "something stands behind the value", 1},
    {"[1,\n2", "a , or ] is wanted", 2},
    {"[1 2]", "a , or ] is wanted", 1},
    {"[1,]", "a value is wanted", 1},
    {"{\"a\": 1,}", "the name of a member is wanted", 1},
    {"{\"a\" 1}", "a : is wanted", 1},
    {"{\"a\": 1 \"b\": 2}", "a , or } is wanted", 1},
    {"{a: 1}", "the name of a member is wanted", 1},
    {"{\"a\": 1, \"\\u0061\": 2}", "a member stands twice", 1},
    {"01", "a value is wanted", 1},
    {"-", "a value is wanted", 1},
    {"1.", "digits are wanted behind the point", 1},
    {"1e+", "digits are wanted in the exponent", 1},
    {"9223372036854775807", NULL, 1},
    {"9223372036854775808", "an integer does not fit 64 bits", 1},
    {"-9223372036854775808", NULL, 1},
    {"-9223372036854775809", "an integer does not fit 64 bits", 1},
    {"truth", "a value is wanted", 1},
    {"\"a", "a text has no end", 1},
    {"\"a\nb\"", "a text holds a control character", 1},
    {"\"\\x\"", "there is no such escape", 1},
    {"\"\\", "there is no such escape", 1},
    {"\"\\u12g4\"", "a \\u needs four hexadecimal digits", 1},
    {"\"\\u0000\"", "a text holds a zero byte", 1},
    {"\"\\ud83d\"", "half of a pair of \\u is missing", 1},
    {"\"\\ud83d\\u0041\"", "half of a pair of \\u is missing", 1},
    {"\"\\udc00\"", "half of a pair of \\u is missing", 1},
    {"[[[[[[[[[[[[[[[[[[[[[[[[[[", "values lie too deep in each other", 1},
};

static void read_texts(gnn_context *c) {
    for (size_t i = 0; i < RT_COUNT(texts); i++) {
        rt_heap h = {c, NULL};
        rt_json_fault fault;
        const rt_json *j = rt_json_read(&h, texts[i].text, strlen(texts[i].text), &fault);
        const char *wanted = texts[i].fault ? texts[i].fault : "none",
                   *got = fault.text ? fault.text : "none";
        if (!j != !!fault.text || strcmp(wanted, got) || fault.line != texts[i].line) {
            failed = 1;
            printf("%s\n  gives: %d: %s\n  wanted %d: %s\n", texts[i].text, fault.line, got,
                   texts[i].line, wanted);
        }
        rt_heap_free(&h);
    }
}

static void values(gnn_context *c) {
    static const char text[] =
        "{\"n\": -12, \"t\": \"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20AC\\ud83d\\ude00\", \"l\": [1, [2, 3], {}], \"y\": true, \"r\": 1.0}";
    rt_heap h = {c, NULL};
    rt_json_fault fault;
    const rt_json *j = rt_json_read(&h, text, sizeof text - 1, &fault), *l = rt_json_get(j, "l");
    CHECK(rt_json_is_object(j) && rt_json_int(rt_json_get(j, "n")) == -12 &&
          rt_json_is_int(rt_json_get(j, "n")));
    CHECK(!strcmp(rt_json_text(rt_json_get(j, "t")),
                  "a\"\\/\b\f\n\r\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
    CHECK(rt_json_is_list(l) && rt_json_count(l) == 3 &&
          rt_json_int(rt_json_at(rt_json_at(l, 1), 1)) == 3);
    CHECK(!rt_json_at(l, 3) && rt_json_is_object(rt_json_at(l, 2)) &&
          !rt_json_get(rt_json_at(l, 2), "n"));
    CHECK(rt_json_is_true(rt_json_get(j, "y")) && rt_json_is_bool(rt_json_get(j, "y")));
    CHECK(!rt_json_is_int(rt_json_get(j, "r")) && !rt_json_int(rt_json_get(j, "r")));
    CHECK(!rt_json_get(NULL, "n") && !rt_json_at(j, 0) && !rt_json_text(j) && !rt_json_count(j) &&
          !rt_json_is_true(NULL));
    for (size_t n = 0; n + 1 < sizeof text - 1; n++) {   // in memory of its own, which ends there
        char *part = malloc(n + 1);
        memcpy(part, text, n);
        CHECK(!rt_json_read(&h, part, n, &fault) && fault.text);
        free(part);
    }
    rt_heap_free(&h);
}

// They are found one after another, so there are not many.
static void members(gnn_context *c) {
    char text[2048] = "{";
    for (int i = 0; i <= RT_JSON_MEMBERS; i++)
        sprintf(text + strlen(text), "%s\"m%d\": 0", i ? ", " : "", i);
    strcat(text, "}");
    rt_heap h = {c, NULL};
    rt_json_fault fault;
    CHECK(!rt_json_read(&h, text, strlen(text), &fault) &&
          !strcmp(fault.text, "an object has too many members"));
    rt_heap_free(&h);
}

int main(void) {
    ledger l;
    gnn_context *c = new_context(&l, 1);
    read_texts(c);
    values(c);
    members(c);
    end_context(c, &l);
    return failed;
}
