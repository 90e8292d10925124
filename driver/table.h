// Tables of text with aligned columns.
#ifndef GNNC_TABLE_H
#define GNNC_TABLE_H

#include "support/support.h"

#include <stdio.h>

typedef struct {
    uint32_t rows, columns, first_number, last_number;   // columns of numbers stand to the right
    const char *const *cells;
} text_table;
void table_put(textbuf *out, const text_table *t);
void table_print(arena *a, const text_table *t, FILE *out);
const char *table_time_text(arena *a, double ms);   // "1.573 ms"

#endif
