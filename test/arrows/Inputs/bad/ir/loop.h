#include "passes/passes.h"
#include "autodiff/gradient.h"
#include "testing/faults.h"
