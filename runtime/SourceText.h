// Reading a kernel file.
#pragma once
#include <cstddef>
#include <string>

namespace tk::runtime {

constexpr size_t maxSourceBytes = size_t(256) << 20;

/// The bytes of a file. False with `error` ("can't read `x.tk`: it is a directory") for what can't be read and for files over the limit.
bool readSource(const std::string &path, std::string &text, std::string &error);

} // namespace tk::runtime
