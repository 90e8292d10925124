// Shared by the printer and the formatter: text with the places where a line may break, and the
// units it is laid out in.
#ifndef GNNC_FORMAT_H
#define GNNC_FORMAT_H

#include "ast.h"

typedef struct {
    uint32_t offset;   // of a space in the text
    uint32_t rank;     // the smallest breaks first: outer brackets, then loose operators
    // in the source, of what follows: comments before it are printed at this break
    uint32_t position;
    bool each;   // taken, like all of these, where the text does not fit one line
} format_break;

// Text on one line, with its breaks.
typedef struct {
    textbuf text;
    VEC(format_break) breaks;
    uint32_t nest;   // brackets around the end of the text
} format_flow;

// Ranks within one bracket.
enum {
    FORMAT_LIST,
    FORMAT_CONDITIONAL,
    FORMAT_OR,
    FORMAT_AND,
    FORMAT_COMPARISON,
    FORMAT_SUM,
    FORMAT_REDUCTION,
    FORMAT_PRODUCT,
    FORMAT_BRACKET = 16,
    FORMAT_LAST = 111,      // behind '=': only before breaking far inside
    FORMAT_INDEX_NEST = 8   // indices are kept together
};

void format_puts(format_flow *f, const char *s);
void format_break_at(format_flow *f, uint32_t rank, uint32_t position);   // a space, or a new line
void format_break_each(format_flow *f, uint32_t rank, uint32_t position);
void format_open(format_flow *f, const char *bracket);
void format_close(format_flow *f, const char *bracket);
void format_expr(format_flow *f, const ast_expr *e);
// (a, b)
void format_exprs(format_flow *f, const ast_expr *list, const char *open, const char *close);
void format_names(format_flow *f, const ast_names *list, const char *open, const char *close);
void format_binders(format_flow *f, const ast_binder *list);

// Something that stands on lines of its own, or follows another on its line where it was written
// so: an item, an equation, a section or a statement.
typedef struct format_unit {
    span at;
    format_flow head;            // all of it, or what stands before its block
    span block;                  // nowhere: none
    struct format_unit *inner;   // in the block
    struct format_unit *next;
} format_unit;
format_unit *format_items(arena *a, const ast_item *items);

#endif
