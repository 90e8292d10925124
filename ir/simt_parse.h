// What the files of the parser of SIMT text share.
#ifndef GNNC_SIMT_PARSE_H
#define GNNC_SIMT_PARSE_H

#include "simt_lex.h"

// ---- simt_literal.c -----------------------------------------------------------------------------
uint32_t simt_parse_u32(simt_lexer *x, uint32_t limit);
// of an integer type: its range, or its bits in hex
int64_t simt_parse_int(simt_lexer *x, simt_element e);
int64_t simt_parse_offset(simt_lexer *x);   // + N, - N or nothing
double simt_parse_float(simt_lexer *x, simt_element e);

// ---- simt_parse.c -------------------------------------------------------------------------------
enum { SIMT_MAX_LIST = 10000 };   // values, parameters, types in one list

typedef struct {
    const char *text;
    uint32_t length;
    simt_value value;
} simt_name;
typedef struct {
    simt_name *slots;   // value 0: free
    uint32_t size, used;
} simt_names;   // of the values of one function, by their text

typedef VEC(simt_token) simt_tokens;
typedef VEC(simt_value) simt_values;
typedef VEC(simt_type) simt_types;

typedef struct {
    simt_lexer lex;
    simt_module *module;
    simt_func *func;
    simt_names *names;
    uint32_t depth;
} simt_parser;

void simt_parse_bind(simt_parser *p, simt_token name, simt_value v);   // a value is defined
// a value is used; 0 after a fault
simt_value simt_parse_value(simt_parser *p);
simt_type simt_parse_type(simt_parser *p);
void simt_parse_types(simt_parser *p, simt_types *out);   // T or (T, T)
simt_token simt_parse_name(simt_parser *p);               // %name, not looked up
// Reads on behind a comma and says whether a list goes on; a list too long is a fault.
bool simt_parse_more(simt_parser *p, uint32_t so_far);

// ---- simt_parse_op.c ----------------------------------------------------------------------------
void simt_parse_region(simt_parser *p, simt_region r);   // braces and what is in them

#endif
