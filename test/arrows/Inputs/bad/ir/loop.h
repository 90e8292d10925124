#include "passes/passes.h"
#include "autodiff/gradient.h"
#include "testing/faults.h"
static bool overlaps(int sm) { return sm >= 90; }
