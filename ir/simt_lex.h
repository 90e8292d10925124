// Tokens of SIMT text. One token is held at a time; after the first fault there are none but the
// end, so every loop of the parser ends.
#ifndef GNNC_SIMT_LEX_H
#define GNNC_SIMT_LEX_H

#include "simt_internal.h"

typedef enum {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_VALUE,
    TOKEN_NUMBER,
    TOKEN_ARROW,
    TOKEN_SIGN
} simt_token_kind;
typedef struct {
    simt_token_kind kind;
    char sign;                // SIGN: one of (){},:=*+-
    const char *text;         // VALUE: without the %
    uint32_t length, start;   // start: offset of the token in the file
} simt_token;

typedef struct {
    arena *arena;
    diag_set *ds;              // NULL: a fault is an ICE (text of our own)
    const source_file *file;   // base 0: its positions are nowhere
    uint32_t next;             // offset behind the token
    simt_token token;
    bool failed;
} simt_lexer;

void simt_lex_start(simt_lexer *x, uint32_t offset);   // reads the first token there
void simt_lex_next(simt_lexer *x);
span simt_lex_span(const simt_lexer *x, simt_token t);
// Reports the fault at a token and stops; later faults are not reported. NULL when one was reported
// before.
diagnostic *simt_lex_fail(simt_lexer *x, diag_code code, simt_token at, const char *format, ...)
    SUP_PRINTF(4, 5);
void simt_lex_expected(simt_lexer *x, const char *what);   // E0951 at the present token
bool simt_lex_is(const simt_lexer *x, char sign);
bool simt_lex_is_word(const simt_lexer *x, const char *word);
bool simt_lex_take(simt_lexer *x, char sign);   // reads on if it stands here
bool simt_lex_take_word(simt_lexer *x, const char *word);
void simt_lex_need(simt_lexer *x, char sign);
void simt_lex_need_word(simt_lexer *x, const char *word);
const char *simt_lex_copy(const simt_lexer *x, simt_token t);   // its text, terminated

#endif
