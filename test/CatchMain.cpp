// The main function of every Catch2 program when Catch2 2 is installed; Catch2 3 brings its own.
#define CATCH_CONFIG_MAIN
#include "Catch.h"
