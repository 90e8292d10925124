// Kernels' bodies of loop IR text, node by node.
#include "loop_parse.h"

static void read_node(plan_parser *p, loop_body *out) {
    parser *t = &p->text;
    tensor_parse_lets(t);
    int kind = 0;
    while (kind < LOOP_NODE_COUNT &&
           !tensor_lex_is(&t->tok, loop_node_table((loop_node_kind)kind)->text))
        kind++;
    if (kind == LOOP_NODE_COUNT)
        tensor_parse_fail(t, E0971, t->tok.at, "expected for, let, given, if, phase, reduce, …");
    if (t->failed) return;
    loop_node *n = loop_node_new(p->plan, (loop_node_kind)kind, t->tok.at);
    tensor_lex_next(t);
    loop_parse_fields(p, (uint32_t)kind, n);
    if (loop_node_table(n->kind)->body) loop_parse_body(p, &n->body);
    if (!t->failed) VEC_PUSH(t->arena, out, n);
}

void loop_parse_body(plan_parser *p, loop_body *out) {
    parser *t = &p->text;
    if (p->depth == LOOP_MAX_DEPTH)
        tensor_parse_fail(t, E0974, t->tok.at, "nodes stand at most %d deep", LOOP_MAX_DEPTH);
    p->depth++;
    tensor_lex_expect(t, "{");
    while (!t->failed && !tensor_lex_is(&t->tok, "}")) read_node(p, out);
    tensor_lex_expect(t, "}");
    p->depth--;
}
