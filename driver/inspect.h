// gnnc inspect: what its files share.
#ifndef GNNC_INSPECT_H
#define GNNC_INSPECT_H

#include "driver.h"

#include <jansson.h>

void inspect_put_manifest(textbuf *out, const json_t *manifest);   // inspect_manifest.c
// inspect_code.c: by its first bytes, an ELF file or an archive
bool inspect_is_code(const char *path);
void inspect_code(driver *d, const char *path, textbuf *out);

#endif
