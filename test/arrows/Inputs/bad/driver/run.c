#include "runtime/structure.h"
#include "runtime/gnnrt.h"
