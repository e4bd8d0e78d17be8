// Which CPU this is, for keys of code that is made for exactly this one.
#pragma once
#include <string>

namespace tk::runtime {

/// Equal on machines for which the same code is made: family, model and instruction sets. Found once.
const std::string &hostFeatures();
/// The model, for people and for results of measurements: "AMD EPYC 9654 96-Core Processor"; "CPU" where it does not tell.
const std::string &hostName();

} // namespace tk::runtime
