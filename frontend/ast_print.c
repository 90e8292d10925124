// Prints expressions and paths. Trees from the parser hold their parentheses; trees made otherwise
// get those they need.
#include "format.h"

#include <string.h>

void format_puts(format_flow *f, const char *s) { textbuf_puts(&f->text, s); }

void format_break_at(format_flow *f, uint32_t rank, uint32_t position) {
    format_break b = {(uint32_t)f->text.len, f->nest * FORMAT_BRACKET + rank, position, false};
    VEC_PUSH(f->text.arena, &f->breaks, b);
    format_puts(f, " ");
}

void format_break_each(format_flow *f, uint32_t rank, uint32_t position) {
    format_break_at(f, rank, position);
    f->breaks.data[f->breaks.len - 1].each = true;
}

void format_open(format_flow *f, const char *bracket) {
    format_puts(f, bracket);
    f->nest++;
}

void format_close(format_flow *f, const char *bracket) {
    format_puts(f, bracket);
    f->nest--;
}

// ---- Precedence ---------------------------------------------------------------------------------
typedef enum {
    CONDITIONAL = 1,
    OR,
    AND,
    COMPARISON,
    SUM,
    REDUCTION,
    PRODUCT,
    UNARY,
    PRIMARY
} precedence;

static precedence precedence_of(const ast_expr *e) {
    switch (e->kind) {
    case AST_COND: return CONDITIONAL;
    case AST_OR: return OR;
    case AST_AND: return AND;
    case AST_EQ:
    case AST_NE:
    case AST_LT:
    case AST_LE:
    case AST_GT:
    case AST_GE: return COMPARISON;
    case AST_ADD:
    case AST_SUB: return SUM;
    case AST_REDUCE: return REDUCTION;
    case AST_MUL:
    case AST_DIV:
    case AST_MOD: return PRODUCT;
    case AST_NEG:
    case AST_NOT: return UNARY;
    case AST_NUMBER:
    case AST_NAME:
    case AST_PRIMED:
    case AST_REF:
    case AST_TUPLE:
    case AST_CALL:
    case AST_PAREN: return PRIMARY;
    }
    return PRIMARY;
}

static const char *operator_text(ast_kind kind) {
    switch (kind) {
    case AST_ADD: return "+";
    case AST_SUB: return "-";
    case AST_MUL: return "*";
    case AST_DIV: return "/";
    case AST_MOD: return "%";
    case AST_EQ: return "==";
    case AST_NE: return "!=";
    case AST_LT: return "<";
    case AST_LE: return "<=";
    case AST_GT: return ">";
    case AST_GE: return ">=";
    case AST_AND: return "&&";
    case AST_OR: return "||";
    case AST_NUMBER:
    case AST_NAME:
    case AST_PRIMED:
    case AST_REF:
    case AST_TUPLE:
    case AST_CALL:
    case AST_REDUCE:
    case AST_NEG:
    case AST_NOT:
    case AST_COND:
    case AST_PAREN: break;
    }
    return "";
}

// A product written after it would be taken into its reduction.
static bool ends_in_reduction(const ast_expr *e) {
    precedence p = precedence_of(e);
    if (p == REDUCTION) return true;
    if (p == UNARY) return ends_in_reduction(e->args);
    return p == PRODUCT && ends_in_reduction(e->args->next);
}

static void print_operand(format_flow *f, const ast_expr *e, bool parentheses) {
    if (parentheses) format_open(f, "(");
    format_expr(f, e);
    if (parentheses) format_close(f, ")");
}

static void print_least(format_flow *f, const ast_expr *e, precedence least) {
    print_operand(f, e, precedence_of(e) < least);
}

// A reduction may be the last factor of a product and the operand of a sign.
static void print_last(format_flow *f, const ast_expr *e, precedence least) {
    print_operand(f, e,
                  precedence_of(e) < least && !(precedence_of(e) == REDUCTION && least >= PRODUCT));
}

// ---- Expressions --------------------------------------------------------------------------------
static void print_binary(format_flow *f, const ast_expr *e) {
    precedence p = precedence_of(e);
    const ast_expr *a = e->args, *b = a->next;
    bool taken_in = p == PRODUCT && ends_in_reduction(a);
    print_operand(f, a, taken_in || precedence_of(a) < (p == COMPARISON ? p + 1 : p));
    format_break_at(f, (uint32_t)p, b->at.lo);
    format_puts(f, operator_text(e->kind));
    format_puts(f, " ");
    print_last(f, b, p + 1);
}

static void print_conditional(format_flow *f, const ast_expr *e) {
    const ast_expr *a = e->args->next, *b = a->next;
    print_least(f, e->args, OR);
    format_break_at(f, FORMAT_CONDITIONAL, a->at.lo);
    format_puts(f, "? ");
    format_expr(f, a);
    format_break_at(f, FORMAT_CONDITIONAL, b->at.lo);
    format_puts(f, ": ");
    format_expr(f, b);
}

static void print_reduction(format_flow *f, const ast_expr *e) {
    format_puts(f, e->name.text);
    format_open(f, "{");
    format_binders(f, e->binders);
    if (e->guard) {
        format_puts(f, " : ");
        format_expr(f, e->guard);
    }
    if (e->orelse) {
        format_break_at(f, FORMAT_CONDITIONAL, e->orelse->at.lo);
        format_puts(f, "else ");
        format_expr(f, e->orelse);
    }
    if (e->ties.text) {
        format_puts(f, " ties ");
        format_puts(f, e->ties.text);
    }
    format_close(f, "}");
    format_break_at(f, FORMAT_REDUCTION, e->body->at.lo);
    print_least(f, e->body, REDUCTION);
}

static void print_number(format_flow *f, const ast_expr *e) {
    if (e->text) format_puts(f, e->text);
    else if (e->is_integer) textbuf_printf(&f->text, "%lld", (long long)e->integer);
    else textbuf_double(&f->text, e->number);
}

static void print_keys(format_flow *f, const ast_expr *e) {
    if (e->how == AST_PLAIN) return;
    format_puts(f, e->how == AST_BY ? " by " : " over ");
    bool several = e->keys && e->keys->next;
    format_names(f, e->keys, several ? "(" : "", several ? ")" : "");
}

void format_expr(format_flow *f, const ast_expr *e) {
    switch (e->kind) {
    case AST_NUMBER: print_number(f, e); break;
    case AST_NAME: format_puts(f, e->name.text); break;
    case AST_PRIMED: textbuf_printf(&f->text, "%s'", e->name.text); break;
    case AST_REF: format_puts(f, e->name.text), format_exprs(f, e->args, "[", "]"); break;
    case AST_CALL: format_puts(f, e->name.text), format_exprs(f, e->args, "(", ")"); break;
    case AST_TUPLE:
    case AST_PAREN: format_exprs(f, e->args, "(", ")"); break;
    case AST_REDUCE: print_reduction(f, e); break;
    case AST_NEG: format_puts(f, "-"), print_last(f, e->args, UNARY); break;
    case AST_NOT: format_puts(f, "!"), print_last(f, e->args, UNARY); break;
    case AST_ADD:
    case AST_SUB:
    case AST_MUL:
    case AST_DIV:
    case AST_MOD:
    case AST_EQ:
    case AST_NE:
    case AST_LT:
    case AST_LE:
    case AST_GT:
    case AST_GE:
    case AST_AND:
    case AST_OR: print_binary(f, e); break;
    case AST_COND: print_conditional(f, e); break;
    }
    print_keys(f, e);
}

void format_exprs(format_flow *f, const ast_expr *list, const char *open, const char *close) {
    uint32_t nest = *open == '[' ? FORMAT_INDEX_NEST : 0;
    format_open(f, open);
    f->nest += nest;
    for (const ast_expr *e = list; e; e = e->next) {
        format_expr(f, e);
        if (!e->next) break;
        format_puts(f, ",");
        format_break_at(f, FORMAT_LIST, e->next->at.lo);
    }
    f->nest -= nest;
    format_close(f, close);
}

void format_names(format_flow *f, const ast_names *list, const char *open, const char *close) {
    format_open(f, open);
    for (const ast_names *n = list; n; n = n->next) {
        format_puts(f, n->name.text);
        if (!n->next) break;
        format_puts(f, ",");
        format_break_at(f, FORMAT_LIST, n->next->name.at.lo);
    }
    format_close(f, close);
}

void format_binders(format_flow *f, const ast_binder *list) {
    for (const ast_binder *b = list; b; b = b->next) {
        format_puts(f, b->name.text);
        if (b->in) {
            format_puts(f, " in ");
            format_expr(f, b->in);
        }
        if (!b->next) break;
        format_puts(f, ",");
        format_break_at(f, FORMAT_LIST, b->next->name.at.lo);
    }
}

// ---- On one line --------------------------------------------------------------------------------
void ast_print_expr(textbuf *out, const ast_expr *e) {
    format_flow f = {.text = textbuf_new(out->arena)};
    format_expr(&f, e);
    textbuf_putn(out, f.text.data, f.text.len);
}

void ast_print_path(textbuf *out, const ast_path *p) {
    for (; p; p = p->next) {
        textbuf_puts(out, p->name.text);
        if (p->next) textbuf_puts(out, ".");
    }
}
