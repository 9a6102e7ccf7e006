// The same program as C++.
#include "use.c"
