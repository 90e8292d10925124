// How SIMT IR is written: the one description that its printer and its parser share.
#include "simt_internal.h"

static simt_written_form form_of(simt_op op) {
    switch ((int)op) {
    case SIMT_FOR: return FORM_FOR;
    case SIMT_WHILE: return FORM_WHILE;
    case SIMT_IF: return FORM_IF;
    case SIMT_YIELD:
    case SIMT_RETURN: return FORM_LIST;
    case SIMT_MMA_GROUP:
    case SIMT_MMA_ROWS:
    case SIMT_MMA_ROWS_TRANS:
    case SIMT_MMA_ROWS_BOTH: return FORM_MMA;
    }
    return FORM_PLAIN;
}

static simt_written_type type_of(simt_op op) {
    switch ((int)op) {
    case SIMT_CMP:
    case SIMT_MATCH_ANY: return TYPE_OF_ARG0;
    case SIMT_ST:
    case SIMT_ST_SOME:
    case SIMT_RED: return TYPE_OF_ARG1;
    case SIMT_SREG:
    case SIMT_SHARED:
    case SIMT_ADDR:
    case SIMT_BALLOT:
    case SIMT_VOTE_ANY:
    case SIMT_VOTE_ALL:
    case SIMT_BARRIER_ANY:
    case SIMT_CALL:
    case SIMT_MMA: return TYPE_NOT_WRITTEN;
    }
    return simt_op_table(op)->results == 1 ? TYPE_OF_RESULT : TYPE_NOT_WRITTEN;
}

static simt_written_aux aux_of(simt_op op) {
    switch ((int)op) {
    case SIMT_SREG: return AUX_SREG;
    case SIMT_CMP: return AUX_PREDICATE;
    case SIMT_ATOM:
    case SIMT_RED: return AUX_ATOMIC;
    case SIMT_FENCE: return AUX_SCOPE;
    case SIMT_MMA:
    case SIMT_MMA_GROUP:
    case SIMT_MMA_ROWS:
    case SIMT_MMA_ROWS_TRANS:
    case SIMT_MMA_ROWS_BOTH: return AUX_MMA;
    }
    return AUX_NONE;
}

static simt_written_imm imm_of(simt_op op) {
    switch ((int)op) {
    case SIMT_CONST: return IMM_CONST;
    case SIMT_SHARED:
    case SIMT_COPY_WAIT: return IMM_OFFSET;
    case SIMT_EXTRACT:
    case SIMT_INSERT:
    case SIMT_SLICE: return IMM_LANE;
    case SIMT_SHFL_IDX:
    case SIMT_SHFL_UP:
    case SIMT_SHFL_DOWN:
    case SIMT_SHFL_BFLY: return IMM_WIDTH;
    case SIMT_COPY: return IMM_BYTES;
    case SIMT_ADDR: return IMM_ADDR;
    case SIMT_CALL: return IMM_CALLEE;
    }
    return IMM_NONE;
}

simt_syntax simt_syntax_of(simt_op op) {
    return (simt_syntax){.form = (uint8_t)form_of(op),
                         .type = (uint8_t)type_of(op),
                         .aux = (uint8_t)aux_of(op),
                         .imm = (uint8_t)imm_of(op),
                         .mem = op == SIMT_LD || op == SIMT_ST};
}

simt_words simt_aux_words(simt_written_aux aux) {
#define X(name, text) text,
    static const char *const sregs[] = {SIMT_SREGS(X)};
    static const char *const predicates[] = {SIMT_PREDICATES(X)};
    static const char *const atomics[] = {SIMT_ATOMICS(X)};
#undef X
#define MMA(id, shape, operand, ...) shape "." operand,
    static const char *const matrices[] = {
#include "mma.def"
    };
#undef MMA
    static const char *const scopes[] = {[SIMT_SCOPE_BLOCK] = "block",
                                         [SIMT_SCOPE_DEVICE] = "device"};
    switch (aux) {
    case AUX_NONE: return (simt_words){NULL, 0};
    case AUX_SREG: return (simt_words){sregs, SREG_COUNT};
    case AUX_PREDICATE: return (simt_words){predicates, SIMT_PREDICATE_COUNT};
    case AUX_ATOMIC: return (simt_words){atomics, SIMT_ATOMIC_COUNT};
    case AUX_SCOPE: return (simt_words){scopes, 2};
    case AUX_MMA: return (simt_words){matrices, SIMT_MMA_COUNT};
    }
    return (simt_words){NULL, 0};
}

simt_words simt_cache_words(void) {
    static const char *const caches[] = {
        [SIMT_CACHE_DEFAULT] = "default",
        [SIMT_CACHE_STREAM] = "stream",
        [SIMT_CACHE_REUSE] = "reuse",
        [SIMT_CACHE_BYPASS] = "bypass",
    };
    return (simt_words){caches, 4};
}

bool simt_name_valid(const char *s) {
    for (const char *c = s; *c; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
        bool inner = (*c >= '0' && *c <= '9') || *c == '.' || *c == '$';
        if (!letter && !(inner && c > s)) return false;
    }
    return *s != 0;
}

const char *simt_cache_text(simt_cache c) {
    simt_words w = simt_cache_words();
    return c < w.count ? w.text[c] : NULL;
}
