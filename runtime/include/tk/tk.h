// The whole C++ API of tk. C++17.
#pragma once
#include "tk/argument.h"
#include "tk/array.h"
#include "tk/benchmark.h"
#include "tk/device.h"
#include "tk/dlpack.h"
#include "tk/dtype.h"
#include "tk/error.h"
#include "tk/grid.h"
#include "tk/hooks.h"
#include "tk/kernel.h"
#include "tk/launcher.h"
#include "tk/tune.h"
