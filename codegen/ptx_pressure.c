// How many registers the body of a kernel needs, from its PTX, before there is an assembler: the
// most that are live at once in the order LLVM has left. Values that follow from parameters and the
// number of the thread alone are not counted: they are kept elsewhere, or made again.
#include "ptx_room.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64 };

typedef struct {   // "%rd<12>": its registers
    const char *prefix;
    size_t length;
    uint32_t width, first, count;
} reg_class;
typedef struct {
    uint32_t first, ndefs, end;   // of regs: those it defines, then those it uses
    bool simple;                  // made again at little cost, where its operands are
} instruction;
typedef struct {
    uint32_t first, end;   // instructions
    const char *target;    // of a branch; NULL: none
    size_t length;
    bool falls;       // the next one may follow
    uint64_t *live;   // where it begins
} block;
typedef struct {
    arena *arena;
    VEC(reg_class) classes;
    uint32_t nregs;
    VEC(uint32_t) regs;
    VEC(instruction) instructions;
    VEC(block) blocks;
    struct {
        const char *name;
        size_t length;
        uint32_t block;
    } *labels;
    uint32_t nlabels, room;
    bool *cheap;   // per register
} body;

// ---- Reading ------------------------------------------------------------------------------------
static uint32_t width_of(const char *type) {
    static const struct {
        const char *text;
        uint32_t width;
    } types[] = {{".pred", 0}, {".b16", 1}, {".b32", 1}, {".f32", 1},
                 {".b64", 2},  {".f64", 2}, {".b128", 4}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strncmp(type, types[i].text, strlen(types[i].text))) return types[i].width;
    return 1;
}

static void declare(body *b, const char *line) {
    const char *at = strchr(line, '%'), *less = strchr(line, '<'), *end = strchr(line, '\n');
    if (!at || !less || (end && less > end)) return;
    reg_class c = {at + 1, (size_t)(less - at - 1), width_of(line + strlen(".reg ")), b->nregs,
                   (uint32_t)strtoul(less + 1, NULL, 10)};
    b->nregs += c.count;
    VEC_PUSH(b->arena, &b->classes, c);
}

// The register at a '%'; UINT32_MAX: it is none of those, but %tid.x.
static uint32_t reg_at(const body *b, const char *at) {
    const char *digits = at + 1;
    while (islower((unsigned char)*digits)) digits++;
    for (uint32_t i = 0; i < b->classes.len && isdigit((unsigned char)*digits); i++) {
        const reg_class *c = &b->classes.data[i];
        if (c->length == (size_t)(digits - at - 1) && !strncmp(c->prefix, at + 1, c->length))
            return c->first + (uint32_t)strtoul(digits, NULL, 10);
    }
    return UINT32_MAX;
}

static bool is_one_of(const char *op, const char *const *all, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!strncmp(op, all[i], strlen(all[i]))) return true;
    return false;
}
#define IS_ONE_OF(op, all) is_one_of(op, all, sizeof(all) / sizeof *(all))

static bool gives_nothing(const char *op) {
    static const char *const all[] = {"st.",           "red.",           "bar",     "cp.",
                                      "prefetch",      "membar",         "fence",   "wgmma.",
                                      "mbarrier.init", "griddepcontrol", "stmatrix"};
    return IS_ONE_OF(op, all);
}

static bool is_simple(const char *op) {
    static const char *const all[] = {"ld.param", "cvta", "mov", "add", "sub", "mul", "mad",
                                      "shl",      "shr",  "cvt", "min", "max", "and", "or"};
    return IS_ONE_OF(op, all);
}

// Of operands, how many registers the instruction defines.
static uint32_t count_defs(const body *b, const char *at, const char *end) {
    uint32_t n = 0;
    while (at < end && isspace((unsigned char)*at)) at++;
    bool list = at < end && *at == '{';
    for (; at < end && *at != ','; at++) n += *at == '%' && reg_at(b, at) != UINT32_MAX;
    for (; list && at < end && *at != '}'; at++) n += *at == '%' && reg_at(b, at) != UINT32_MAX;
    return n;
}

static block *current(body *b) { return &b->blocks.data[b->blocks.len - 1]; }

static void begin_block(body *b) {
    VEC_PUSH(b->arena, &b->blocks,
             ((block){.first = b->instructions.len, .end = b->instructions.len, .falls = true}));
}

static void branch(body *b, const char *at, const char *end, bool always) {
    while (end > at && isspace((unsigned char)end[-1])) end--;
    const char *word = end;
    while (word > at && !isspace((unsigned char)word[-1])) word--;
    current(b)->target = word;
    current(b)->length = (size_t)(end - word);
    current(b)->falls = !always;
    begin_block(b);
}

static void add_instruction(body *b, const char *at, const char *end) {
    bool masked = *at == '@';
    while (masked && at < end && !isspace((unsigned char)*at)) at++;
    while (at < end && isspace((unsigned char)*at)) at++;
    const char *op = at;
    while (at < end && !isspace((unsigned char)*at)) at++;
    if (!strncmp(op, "bra", 3)) {
        branch(b, at, end, !masked);
        return;
    }
    uint32_t defs = gives_nothing(op) ? 0 : count_defs(b, at, end), seen = 0;
    instruction i = {.first = b->regs.len, .ndefs = masked ? 0 : defs, .simple = is_simple(op)};
    for (; at < end; at++) {
        uint32_t r = *at == '%' ? reg_at(b, at) : UINT32_MAX;
        if (r != UINT32_MAX && r < b->nregs) VEC_PUSH(b->arena, &b->regs, r), seen++;
    }
    if (i.ndefs > seen) i.ndefs = seen;
    i.end = b->regs.len;
    VEC_PUSH(b->arena, &b->instructions, i);
    current(b)->end = b->instructions.len;
    if (!strncmp(op, "ret", 3) && !masked) current(b)->falls = false, begin_block(b);
}

static void add_label(body *b, const char *at, size_t length) {
    if (b->nlabels == b->room) {
        void *more = arena_alloc(b->arena, sizeof *b->labels * (b->room = 2 * b->room + 16));
        if (b->nlabels) memcpy(more, b->labels, sizeof *b->labels * b->nlabels);
        b->labels = more;
    }
    begin_block(b);
    b->labels[b->nlabels].name = at;
    b->labels[b->nlabels].length = length;
    b->labels[b->nlabels++].block = b->blocks.len - 1;
}

static const char *line_end(const char *at) { return at + strcspn(at, "\n"); }

// One statement, label or line that is none; where the next one begins.
static const char *read_one(body *b, const char *at) {
    if (!strncmp(at, ".reg", 4)) declare(b, at);
    if (*at == '.' || !strncmp(at, "//", 2)) return line_end(at);
    size_t word = strcspn(at, " \t\n;:"), n = strcspn(at, ";");
    if (at[word] == ':' && (at[word + 1] == '\n' || !at[word + 1])) {
        add_label(b, at, word);
        return at + word + 1;
    }
    add_instruction(b, at, at + n);
    return at + n + (at[n] == ';');
}

static void read_body(body *b, const char *text) {
    int depth = 1;
    begin_block(b);
    for (const char *at = text; *at && depth > 0;) {
        if (*at == '{' || *at == '}') depth += *at == '{' ? 1 : -1;
        if (*at == '{' || *at == '}' || isspace((unsigned char)*at) || *at == ';') at++;
        else at = read_one(b, at);
    }
}

// ---- What is made again -------------------------------------------------------------------------
static bool all_cheap(const body *b, const instruction *i) {
    for (uint32_t k = i->first + i->ndefs; k < i->end; k++)
        if (!b->cheap[b->regs.data[k]]) return false;
    return true;
}

static void find_cheap(body *b) {
    uint8_t *defs = arena_alloc(b->arena, b->nregs + 1);
    b->cheap = ARENA_ARRAY(b->arena, bool, b->nregs + 1);
    memset(defs, 0, b->nregs + 1);
    for (uint32_t i = 0; i < b->instructions.len; i++)
        for (uint32_t k = 0; k < b->instructions.data[i].ndefs; k++) {
            uint8_t *n = &defs[b->regs.data[b->instructions.data[i].first + k]];
            *n = (uint8_t)(*n + (*n < 2));
        }
    for (uint32_t i = 0; i < b->instructions.len; i++) {   // definitions come before what uses them
        const instruction *x = &b->instructions.data[i];
        uint32_t r = x->ndefs == 1 ? b->regs.data[x->first] : 0;
        if (x->ndefs == 1 && defs[r] == 1 && x->simple && all_cheap(b, x)) b->cheap[r] = true;
    }
}

// ---- What lives ---------------------------------------------------------------------------------
static uint32_t weight(const body *b, uint32_t reg) {
    uint32_t i = 0;
    while (i + 1 < b->classes.len && reg >= b->classes.data[i + 1].first) i++;
    return b->cheap[reg] ? 0 : b->classes.data[i].width;
}

// Labels of inlined code bear one name wherever it stands: the next one is meant.
static block *target_of(const body *b, const block *from) {
    block *to = NULL;
    for (uint32_t i = 0; from->target && i < b->nlabels; i++) {
        block *at = &b->blocks.data[b->labels[i].block];
        if (b->labels[i].length != from->length ||
            strncmp(b->labels[i].name, from->target, from->length))
            continue;
        to = at;
        if (at > from) break;
    }
    return to;
}

typedef struct {
    uint64_t *set;
    uint32_t registers;   // of what is live
} living;

static void put(const body *b, living *l, uint32_t reg, bool on) {
    uint64_t bit = 1ull << (reg % WORD);
    if (!(l->set[reg / WORD] & bit) == !on) return;
    l->set[reg / WORD] ^= bit;
    l->registers = on ? l->registers + weight(b, reg) : l->registers - weight(b, reg);
}

// Backwards; *most: the most that live at once, or NULL.
static void walk(const body *b, const block *x, living *l, uint32_t *most) {
    for (uint32_t k = x->end; k-- > x->first;) {
        const instruction *i = &b->instructions.data[k];
        for (uint32_t r = 0; r < i->ndefs; r++) put(b, l, b->regs.data[i->first + r], true);
        if (most && l->registers > *most) *most = l->registers;
        for (uint32_t r = 0; r < i->ndefs; r++) put(b, l, b->regs.data[i->first + r], false);
        for (uint32_t r = i->first + i->ndefs; r < i->end; r++) put(b, l, b->regs.data[r], true);
    }
    if (most && l->registers > *most) *most = l->registers;
}

static void live_out(const body *b, uint32_t x, uint32_t words, living *l) {
    const block *at = &b->blocks.data[x],
                *to[2] = {target_of(b, at), at->falls && x + 1 < b->blocks.len ? at + 1 : NULL};
    memset(l->set, 0, words * sizeof *l->set);
    l->registers = 0;
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t w = 0; to[k] && w < words; w++) l->set[w] |= to[k]->live[w];
    for (uint32_t r = 0; r < b->nregs; r++)
        if (l->set[r / WORD] >> (r % WORD) & 1) l->registers += weight(b, r);
}

uint32_t cg_ptx_pressure(arena *a, const char *text) {
    body b = {.arena = a};
    read_body(&b, text);
    find_cheap(&b);
    const uint32_t words = b.nregs / WORD + 1;
    living l = {.set = ARENA_ARRAY(a, uint64_t, words)};
    uint32_t most = 0;
    for (uint32_t x = 0; x < b.blocks.len; x++)
        b.blocks.data[x].live = ARENA_ARRAY(a, uint64_t, words);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t x = b.blocks.len; x-- > 0;) {
            live_out(&b, x, words, &l);
            walk(&b, &b.blocks.data[x], &l, NULL);
            more |= memcmp(l.set, b.blocks.data[x].live, words * sizeof *l.set) != 0;
            memcpy(b.blocks.data[x].live, l.set, words * sizeof *l.set);
        }
    }
    for (uint32_t x = 0; x < b.blocks.len; x++) {
        live_out(&b, x, words, &l);
        walk(&b, &b.blocks.data[x], &l, &most);
    }
    return most;
}
