// Reading the rows of a manifest's tables: what its reader and its tables share.
#ifndef GNNRT_MANIFEST_H
#define GNNRT_MANIFEST_H

#include "json.h"
#include "tables.h"

typedef struct rt_row {   // where we are: rows[i] of a table, for messages
    gnn_program *p;
    const rt_json *object;
    const char *table;
    uint32_t i;
    const struct rt_row *in;   // the row that holds the table; NULL: the manifest does
} rt_row;

gnn_status rt_row_bad(const rt_row *r, const char *format, ...) RT_PRINTF(2, 3);
// Members of the row; absent is bad where there is no fallback.
gnn_status rt_row_string(const rt_row *r, const char *key, const char **out);
gnn_status rt_row_int(const rt_row *r, const char *key, int64_t low, int64_t high, int64_t *out);
gnn_status rt_row_int_or(const rt_row *r, const char *key, int64_t low, int64_t high,
                         int64_t fallback, int64_t *out);
// absent: NULL
gnn_status rt_row_list(const rt_row *r, const char *key, size_t most, const rt_json **out);
gnn_status rt_row_expr(const rt_row *r, const char *key, rt_expr *out);
rt_scope rt_program_scope(const gnn_program *p);   // its spaces and maps
// Names, as indices into the tables; every table's rows begin with their name.
// -1: none
int rt_find(const void *rows, uint32_t count, size_t stride, const char *text, size_t length);
gnn_status rt_row_space(const rt_row *r, const char *what, const rt_json *name, uint32_t *out);
gnn_status rt_row_param(const rt_row *r, const char *what, const rt_json *name, uint32_t *out);

// manifest_rows.c: a row of each table; names are there already.
gnn_status rt_read_space(const rt_row *r);
gnn_status rt_read_param(const rt_row *r);
gnn_status rt_read_require(const rt_row *r);
gnn_status rt_read_prepared(const rt_row *r);
gnn_status rt_read_temp(const rt_row *r);
gnn_status rt_read_kernel(const rt_row *r);
// manifest_versions.c, manifest_steps.c
gnn_status rt_read_version(const rt_row *r);
gnn_status rt_read_choice(gnn_program *p);   // before the versions
// of the whole table
gnn_status rt_check_versions(gnn_program *p);
gnn_status rt_read_steps(const rt_row *r, const rt_json *list, rt_version *v);   // r: the version's

#endif
