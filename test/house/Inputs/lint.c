// Each line that says so is a finding of `make lint`.
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

bool same(const char *a, const char *b, uint32_t n);

bool same(const char *a, const char *b, uint32_t n) {
    for (uint8_t i = 0; i < n; i++)   // LINE-TOO-SMALL
        if (a[i] != b[i]) return false;
    return strlen(a) == strlen(a);   // LINE-REDUNDANT
}
