#include "passes/passes.h"
#include "autodiff/gradient.h"
