// Part of every Catch2 program: tests neither read nor fill the cache of who runs them. Those of the cache name folders of their own.
#include <cstdlib>

static const int noCache = setenv("TKC_CACHE_DIR", "none", 1);
