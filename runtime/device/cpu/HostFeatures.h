// Which CPU this is, for keys of code that is made for exactly this one.
#pragma once
#include <string>

namespace tk::runtime {

/// Equal on machines for which the same code is made: family, model and instruction sets. Found once.
const std::string &hostFeatures();

} // namespace tk::runtime
