#include "lower/sums/sums.h"
