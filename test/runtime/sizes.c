// Expressions in postfix: values, floors, what && and || don't want, overflow, what isn't well
// formed.
#include "Inputs/harness.h"

static const char *const names[] = {"E", "F", "S+1", "classes(a,b)", "zero", "large"};
static const int64_t sizes[] = {10, 3, 5, 7, 0, INT64_MAX};

static int space(const void *user, const char *text, size_t length) {
    (void)user;
    for (int i = 0; i < 6; i++)
        if (strlen(names[i]) == length && !memcmp(names[i], text, length)) return i;
    return -1;
}

static int map(const void *user, const char *text, size_t length) {
    (void)user;
    return length == 1 && (*text == 'a' || *text == 'b') ? *text - 'a' : -1;
}

static int asked;   // how often

static gnn_status statistic(void *user, const rt_token *t, int64_t *out) {
    (void)user;
    asked++;
    if (t->kind == RT_DEVICE) *out = -1 - (int64_t)t->a;
    else *out = 10000 * (t->kind - RT_MAX_PREIMAGE + 1) + 1000 * t->a + 100 * t->b + t->value;
    return GNN_OK;
}

static gnn_context *c;

static gnn_status evaluate(const char *text, int64_t *out) {
    rt_heap h = {c, NULL};
    rt_expr e;
    char at[64];
    const char *wrong = rt_expr_parse(&h, text, &(rt_scope){space, map, NULL}, &e, at);
    gnn_status s = wrong ? rt_fail(c, GNN_BAD_MANIFEST, "`%s` %s", at, wrong)
                         : rt_expr_eval(c, &e, &(rt_values){sizes, statistic, NULL}, out);
    rt_heap_free(&h);
    return s;
}

static void gives(const char *text, int64_t wanted) {
    int64_t got = 0;
    GOOD(c, evaluate(text, &got));
    if (got != wanted) {
        failed = 1;
        printf("%s: %lld, not %lld\n", text, (long long)got, (long long)wanted);
    }
}

static void values(void) {
    gives("E", 10);
    gives("E F * 256 ceildiv", 1);
    gives("S+1 2 -", 3);
    gives("classes(a,b)", 7);
    gives("0 7 - 2 /", -4);
    gives("0 7 - 2 %", 1);
    gives("7 0 2 - %", -1);
    gives("0 7 - 2 ceildiv", -3);
    gives("7 0 2 - /", -4);
    gives("-9223372036854775807 1 - 3 /", -3074457345618258603);
    gives("E F min E F max -", -7);
    gives("F 8 % 0 == !", 1);
    gives("E 10 == F 4 < && 0 ||", 1);
    gives("max(b)", 11000);
    gives("std(a)", 40000);
    gives("quantile(b,90)", 51090);
    gives("at_least(a,0)", 60000);
    gives("cut_parts(b,64)", 71064);
    gives("fill(b,64)", 81064);
    gives("sorted(b)", 91000);
    gives("symmetric(a,b)", 100100);
    gives("density(a,b,16)", 110116);
    gives("device(sms) device(cores) -", 3);
    gives("zero 0 != E zero / 3 == &&", 0);   // without the division
    gives("zero 0 == large large * ||", 1);
    gives("E 4 < F zero ?:", 0);
    gives("E 4 > F zero ?:", 3);
    gives("-7 1 2 ?:", 1);
    gives("E 4 > 0 F 4 > 1 2 ?: ?:", 0);
    gives("E 4 < 0 F 4 > 1 2 ?: ?:", 2);
    gives("zero 0 == F E zero / ?:", 3);   // without the division
    gives("zero E zero / F ?:", 3);
    gives("-9223372036854775807 1 - -1 %", 0);
}

// Numbers of maps that decide nothing are not asked for.
static void skipped(void) {
    static const struct {
        const char *text;
        int64_t value;
        int asked;
    } rows[] = {
        {"max(a) 0 > min(b) 0 > &&", 1, 2},
        {"max(a) 0 < min(b) 0 > &&", 0, 1},
        {"max(a) 0 < min(b) 0 > ||", 1, 2},
        {"max(a) 0 > min(b) 0 > ||", 1, 1},
        {"zero max(a) &&", 0, 0},
        {"F max(a) && !", 0, 1},
        {"zero max(b) && F max(b) || max(a) ?:", 10000, 1},
        {"F max(a) min(a) ?:", 10000, 1},
        {"zero max(a) min(a) ?:", 20000, 1},
        {"max(a) 0 > std(a) avg(a) + symmetric(a,b) ?:", 70000, 3},
        {"zero max(a) E 10 == std(b) avg(b) ?: ?:", 41000, 1},
        {"zero max(a) E 9 == std(b) avg(b) ?: ?:", 31000, 1},
        {"F E 10 == max(a) max(b) ?: std(a) ?:", 10000, 1},
        {"zero E 10 == max(a) max(b) ?: std(a) ?:", 40000, 1},
        {"F E 10 == max(a) max(b) ?: std(a) ?: F E 9 == max(a) max(b) ?: std(a) ?: +", 21000, 2},
    };
    for (size_t i = 0; i < RT_COUNT(rows); i++) {
        asked = 0;
        gives(rows[i].text, rows[i].value);
        if (asked != rows[i].asked) {
            failed = 1;
            printf("%s: asked %d times, not %d\n", rows[i].text, asked, rows[i].asked);
        }
    }
}

static void faults(void) {
    int64_t v;
    EXPECT(c, evaluate("E zero /", &v), TOO_LARGE, "`E zero /`: division by zero");
    EXPECT(c, evaluate("E zero / 1 &&", &v), TOO_LARGE, "`E zero / 1 &&`: division by zero");
    EXPECT(c, evaluate("E zero / 1 2 ?:", &v), TOO_LARGE, "`E zero / 1 2 ?:`: division by zero");
    EXPECT(c, evaluate("1 E zero / 2 ?:", &v), TOO_LARGE, "`1 E zero / 2 ?:`: division by zero");
    EXPECT(c, evaluate("1 2 ?:", &v), BAD_MANIFEST, "`?:` lacks operands");
    EXPECT(c, evaluate("large 2 *", &v), TOO_LARGE, "`large 2 *`: overflow");
    EXPECT(c, evaluate("large E + 1 -", &v), TOO_LARGE, "`large E + 1 -`: overflow");
    EXPECT(c, evaluate("-9223372036854775807 1 - -1 /", &v), TOO_LARGE,
           "`-9223372036854775807 1 - -1 /`: overflow");
    EXPECT(
        c, evaluate("", &v), BAD_MANIFEST,
        "`` is neither a number, an operator, a space, a statistic of maps nor a number of the device");
    EXPECT(
        c, evaluate("E  F", &v), BAD_MANIFEST,
        "`` is neither a number, an operator, a space, a statistic of maps nor a number of the device");
    EXPECT(c, evaluate("E F", &v), BAD_MANIFEST, "`F` leaves more than one value");
    EXPECT(c, evaluate("E +", &v), BAD_MANIFEST, "`+` lacks operands");
    EXPECT(c, evaluate("!", &v), BAD_MANIFEST, "`!` lacks operands");
    EXPECT(
        c, evaluate("max(q)", &v), BAD_MANIFEST,
        "`max(q)` is neither a number, an operator, a space, a statistic of maps nor a number of the device");
    EXPECT(
        c, evaluate("symmetric(a)", &v), BAD_MANIFEST,
        "`symmetric(a)` is neither a number, an operator, a space, a statistic of maps nor a number of the device");
    static const char *const malformed[] = {"quantile(a)",
                                            "quantile(a,)",
                                            "quantile(a,1001)",
                                            "quantile(a,-1)",
                                            "quantile(a,b)",
                                            "fill(a,0)",
                                            "cut_parts(a,0)",
                                            "std(a,1)",
                                            "max(a,b)",
                                            "density(a,b)",
                                            "density(a,16)",
                                            "density(a,b,0)",
                                            "density(a,b,c)",
                                            "at_least(,1)",
                                            "device(a)",
                                            "device()",
                                            "sms"};
    for (size_t i = 0; i < RT_COUNT(malformed); i++) {
        char text[160];
        snprintf(
            text, sizeof text,
            "`%s` is neither a number, an operator, a space, a statistic of maps nor a number of the device",
            malformed[i]);
        EXPECT(c, evaluate(malformed[i], &v), BAD_MANIFEST, text);
    }
    EXPECT(
        c, evaluate("9223372036854775808", &v), BAD_MANIFEST,
        "`9223372036854775808` is neither a number, an operator, a space, a statistic of maps nor a number of the device");
    char deep[400] = "1";
    for (int i = 0; i < 64; i++) strcat(deep, " 1");
    EXPECT(c, evaluate(deep, &v), BAD_MANIFEST, "`1` is nested too deeply");
}

int main(void) {
    ledger l;
    c = new_context(&l, 1);
    values();
    skipped();
    faults();
    end_context(c, &l);
    return failed;
}
