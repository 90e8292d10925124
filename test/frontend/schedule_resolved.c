// What the text of a resolved schedule does not show: conditions as size expressions, keys as
// tensor IR.
#include "frontend.h"

#include <string.h>

static int failures;
#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) printf("%s:%d: %s\n", __FILE__, __LINE__, #x), failures++;                       \
    } while (0)

static const char source[] =
    "op f(src: E -> U, dst: E -> V sorted, m: E -> W partial, w: f32[E], x: f32[U, F], k: f32, z: i32[V]) -> (y: f32[V, F]) {\n"
    "    y[v, f] = k + sum{e : dst[e] == v} w[e] * x[src[e], f];\n"
    "}\n"
    "schedule f c0 when (fill(m, 64) < 0.5) { }\n"
    "schedule f c1 when (U * F * 4 > l2_bytes) { }\n"
    "schedule f c2 when (F / U <= 1.25e-1) { }\n"
    "schedule f c3 when (F % 4 == 0) { }\n"
    "schedule f c4 when (F % U != 1) { }\n"
    "schedule f c5 when (quantile(dst, 0.999) - 0.5 > -2) { }\n"
    "schedule f c6 when (F in {32, 64, 2 * 50}) { }\n"
    "schedule f c7 when (!(max(dst) > min(dst)) || symmetric(src, dst) && std(m) != avg(m)) { }\n"
    "schedule f c8 when (aligned(x, 4 * 4), sms >= 108 / 2) { }\n"
    "schedule f c9 when (F / (0 - 2) > 0.5) { }\n"
    "schedule f keys {\n"
    "    let N = 2;\n"
    "    order v by degree(dst, v) + N;\n"
    "    bucket e by src at 8 use c0, c0;\n"
    "    y: order e by dst[e] desc;\n"
    "    y: accumulate f32 scale k / degree(dst, v) every 8;\n"
    "    y.sum: accumulate f32 scale 0.5 * k every 8;\n"
    "    order f by f;\n"
    "}\n"
    "schedule f bad { order v by z[v] + w[src[v]]; }\n";

typedef struct {
    arena *arena;
    diag_set *ds;
    frontend_unit *u;
    tensor_op *op;
} run;

static bool load(run *r, const char *name, schedule_list *out) {
    frontend_options o = {.schedule = name};
    r->u = frontend_load(r->arena, r->ds, "f.gnn", source, sizeof source - 1, &o);
    r->op = r->u && r->u->ops.len ? frontend_lower(r->u, 0) : NULL;
    return r->op && frontend_schedules(r->u, 0, "sm_90", r->op, out, &(schedule_choice){0});
}

static const char *condition_text(run *r, const schedule *s) {
    program p = {0};
    for (uint32_t i = 0; i < r->op->spaces.len; i++)
        VEC_PUSH(r->arena, &p.spaces, ((program_space){.name = r->op->spaces.data[i].name}));
    for (uint32_t i = 0; i < r->op->nparams; i++)
        VEC_PUSH(r->arena, &p.params, ((program_param){.name = r->op->vals.data[i].name}));
    textbuf b = textbuf_new(r->arena);
    for (uint32_t i = 0; i < s->when.len; i++) {
        const schedule_condition *c = &s->when.data[i];
        if (i) textbuf_puts(&b, "; ");
        if (c->kind == SCHEDULE_HOLDS) size_print(&b, &p, &c->holds);
        else
            textbuf_printf(&b, "%s aligned %lld", r->op->vals.data[c->val].name,
                           (long long)c->bytes);
    }
    return b.data;
}

static void test_conditions(run *r) {
    static const char *const want[] = {
        "fill(m,64) 2 * 1000 <",
        "U F * 4 * device(l2_bytes) >",
        "U 8 * 0 > F 8 * U <= && U 8 * 0 < U F 8 * <= && ||",
        "F 4 % 0 ==",
        "U 0 != F U % 1 != &&",
        "quantile(dst,999) 2 * 1 - -4 >",
        "F 32 ==",   // F in {32, 64, 100}: a version each
        "F 64 ==",
        "F 100 ==",
        "max(dst) min(dst) > ! symmetric(src,dst) std(m) avg(m) != && ||",
        "x aligned 16; device(sms) 54 >=",
        "0 F - 2 * 2 >",
    };
    schedule_list list;
    bool good = load(r, NULL, &list);
    CHECK(!good && diag_errors(r->ds) > 0);   // of `bad`: no edge is a source
    CHECK(list.len == 14);
    for (uint32_t i = 0; i < sizeof want / sizeof *want && i < list.len; i++) {
        const char *text = condition_text(r, list.data[i]);
        if (strcmp(text, want[i]))
            printf("%s: %s\n  not %s\n", list.data[i]->name, text, want[i]), failures++;
    }
}

static const tensor_node *node(const schedule *s, tensor_expr e) {
    return tensor_node_at(s->op, e);
}

static bool is_var(const schedule *s, const schedule_value *v, tensor_expr e, const char *space) {
    const tensor_node *n = node(s, e);
    return n->op == TENSOR_VAR_OP && n->imm.i == v->var &&
           !strcmp(s->op->spaces.data[s->op->vars.data[v->var].space].name, space);
}

// An index of the stages at a path, as the source spells it.
static tensor_id index_id(const run *r, tensor_id path, const char *name) {
    for (uint32_t i = 0; i < r->op->stages.len; i++) {
        const tensor_stage *st = &r->op->stages.data[i];
        for (uint32_t k = 0;
             k < st->nleft + st->nbound && tensor_id_covers(r->op->ids, path, st->id); k++) {
            tensor_var v = k < st->nleft ? st->left[k] : st->bound[k - st->nleft];
            if (!strcmp(r->op->vars.data[v].name, name)) return r->op->vars.data[v].id;
        }
    }
    return TENSOR_ALL;
}

static schedule_cell *cell(const run *r, const schedule *s, const char *stage, schedule_verb verb,
                           const char *index) {
    const tensor_id path = tensor_id_of_path(s->ids, stage);
    return schedule_find(s, path, verb, index ? index_id(r, path, index) : TENSOR_ALL);
}

static void test_keys(run *r) {
    schedule_list list;
    if (!load(r, "keys", &list) || list.len != 1) {
        diag_print(r->ds, stdout);
        failures++;
        return;
    }
    const schedule *s = list.data[0];
    uint32_t exprs = r->op->exprs.len, vars = r->op->vars.len;
    CHECK(s->op != r->op && s->op->exprs.len > exprs && s->op->vars.len > vars);
    CHECK(s->op->stages.len == r->op->stages.len && s->stages.len == 2);
    tensor_val map;
    const schedule_value *v = schedule_value_of(cell(r, s, NULL, SCHEDULE_ORDER, "v"), "by");
    const tensor_node *sum = node(s, v->key), *degree = node(s, sum->args[0]);
    CHECK(sum->op == TENSOR_ADD_OP && degree->op == TENSOR_LOAD_OP &&
          is_var(s, v, degree->args[0], "V"));
    CHECK(schedule_counts(s, (tensor_val)degree->imm.i, &map) &&
          !strcmp(s->op->vals.data[map].name, "dst"));
    v = schedule_value_of(cell(r, s, NULL, SCHEDULE_BUCKET, "e"), "by");
    CHECK(node(s, v->key)->op == TENSOR_LOAD_OP && is_var(s, v, node(s, v->key)->args[0], "E"));
    CHECK(!strcmp(s->op->vals.data[node(s, v->key)->imm.i].name, "src"));
    v = schedule_value_of(cell(r, s, NULL, SCHEDULE_BUCKET, "e"), "use");
    CHECK(v->nnames == 2 && !strcmp(v->schedules[1]->name, "c0") && v->schedules[0]->op == s->op);
    const schedule_cell *c = cell(r, s, "y", SCHEDULE_ORDER, "e");
    v = schedule_value_of(c, "by");
    CHECK(!strcmp(v->text, "dst[e]") && node(s, v->key)->op == TENSOR_LOAD_OP &&
          schedule_value_of(c, "desc"));
    v = schedule_value_of(cell(r, s, "y", SCHEDULE_ACCUMULATE, NULL), "scale");
    CHECK(node(s, v->key)->op == TENSOR_DIV_OP && v->var != UINT32_MAX);
    v = schedule_value_of(cell(r, s, "y.sum", SCHEDULE_ACCUMULATE, NULL), "scale");
    CHECK(node(s, v->key)->op == TENSOR_MUL_OP && v->var == UINT32_MAX);
    v = schedule_value_of(cell(r, s, "y", SCHEDULE_ORDER, "f"), "by");
    CHECK(is_var(s, v, v->key, "F"));
    CHECK(!tensor_verify(r->arena, r->op));
}

int main(void) {
    run r = {.arena = arena_new()};
    r.ds = diag_set_new(r.arena, source_map_new(r.arena));
    test_keys(&r);
    test_conditions(&r);
    arena_free(r.arena);
    return failures != 0;
}
