// The whole C++ API of tk. C++17.
#pragma once
#include "tk/argument.h"
#include "tk/array.h"
#include "tk/device.h"
#include "tk/dtype.h"
#include "tk/error.h"
#include "tk/kernel.h"
