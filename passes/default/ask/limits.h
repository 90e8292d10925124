// The numbers of limits.def, as DEFAULT_name.
#ifndef GNNC_DEFAULT_LIMITS_H
#define GNNC_DEFAULT_LIMITS_H

enum {
#define LIMIT(name, value, unit, source, text) DEFAULT_##name = (value),
#include "default/ask/limits.def"
    DEFAULT_LIMITS_END
};

#endif
