#include "passes/passes.h"
