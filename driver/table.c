// Tables of text with aligned columns.
#include "table.h"

#include <string.h>

const char *table_time_text(arena *a, double ms) {
    return ms < 1     ? arena_printf(a, "%.1f us", ms * 1e3)
           : ms < 1e3 ? arena_printf(a, "%.3f ms", ms)
                      : arena_printf(a, "%.3f s", ms / 1e3);
}

// Columns as wide as their longest cell.
void table_put(textbuf *out, const text_table *t) {
    int *width = ARENA_ARRAY(out->arena, int, t->columns);
    for (uint32_t i = 0; i < t->rows * t->columns; i++) {
        int length = (int)strlen(t->cells[i]);
        if (length > width[i % t->columns]) width[i % t->columns] = length;
    }
    for (uint32_t i = 0; i < t->rows * t->columns; i++) {
        uint32_t k = i % t->columns;
        bool last = k + 1 == t->columns, right = k >= t->first_number && k <= t->last_number;
        textbuf_printf(out, right ? "%s%*s%s" : "%s%-*s%s", k ? "  " : "",
                       last && !right ? 0 : width[k], t->cells[i], last ? "\n" : "");
    }
}

void table_print(arena *a, const text_table *t, FILE *out) {
    textbuf text = textbuf_new(a);
    table_put(&text, t);
    fprintf(out, "%.*s", (int)text.len, text.data);
}
