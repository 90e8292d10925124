// libFuzzer's mutator for texts. Bytes rarely make another program: half the mutants put a run of
// tokens of the text, or of another one, in the place of a run. What begins with a byte from 128 on
// is no text.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb,
                                 uint8_t *out, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

typedef struct {
    size_t lo, hi;
} run_of_tokens;

static bool is_word(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t token_end(const uint8_t *text, size_t size, size_t at) {
    size_t end = at + 1;
    while (is_word(text[at]) && end < size && is_word(text[end])) end++;
    return end;
}

// From a token on: one to 32 tokens, one mostly, or what is left of a statement; where it begins
// with a bracket, often up to the one that closes it.
static run_of_tokens choose_run(const uint8_t *text, size_t size, uint64_t *random) {
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    size_t at = (size_t)(*random >> 33) % size,
           n = *random >> 20 & 3 ? 1 : (*random >> 24) % 32 + 1;
    while (at && is_word(text[at]) && is_word(text[at - 1])) at--;
    run_of_tokens r = {at, at};
    if (strchr("([{", text[at]) && *random >> 22 & 1) {
        int depth = 0;
        do {
            depth += strchr("([{", text[r.hi]) != NULL;
            depth -= strchr(")]}", text[r.hi]) != NULL;
            r.hi++;
        } while (depth > 0 && r.hi < size && text[r.hi]);
        return r;
    }
    bool statement = (*random >> 29 & 7) == 0;
    while ((statement ? r.hi == at || text[r.hi - 1] != ';' : n-- > 0) && r.hi < size)
        r.hi = token_end(text, size, r.hi);
    return r;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    if (size < 2 || data[0] >= 128 || seed & 1) return LLVMFuzzerMutate(data, size, most);
    if (data[0] >> 5 == 2 && data[1] == '\n' && !(seed % 32)) {   // the seed of fuzz_pipeline.c
        data[0] ^= (uint8_t)(1 << random % 5);
        return size;
    }
    run_of_tokens to = choose_run(data, size, &random), from = choose_run(data, size, &random);
    if (random >> 40 & 1) from.hi = from.lo = random >> 41 & 3 ? from.lo : to.lo;   // delete
    if (random >> 43 & 1) to.hi = to.lo;                                            // insert
    size_t cut = to.hi - to.lo, put = from.hi - from.lo;
    if (size - cut + put > most) return LLVMFuzzerMutate(data, size, most);
    uint8_t copy[1 << 14];
    if (put > sizeof copy) return LLVMFuzzerMutate(data, size, most);
    memcpy(copy, data + from.lo, put);
    memmove(data + to.lo + put, data + to.hi, size - to.hi);
    memcpy(data + to.lo, copy, put);
    return size - cut + put;
}

// A run of b in the place of one of a, or before it.
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb,
                                 uint8_t *out, size_t most, unsigned seed) {
    uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    if (na < 2 || nb < 2 || a[0] >= 128 || b[0] >= 128) return 0;
    run_of_tokens to = choose_run(a, na, &random), from = choose_run(b, nb, &random);
    if (random >> 43 & 1) to.hi = to.lo;
    size_t put = from.hi - from.lo, left = na - to.hi;
    if (to.lo + put + left > most) return 0;
    memcpy(out, a, to.lo);
    memcpy(out + to.lo, b + from.lo, put);
    memcpy(out + to.lo + put, a + to.hi, left);
    return to.lo + put + left;
}
