// The .npy file format, versions 1 to 3: header text to a description and back.
//
// Arrays are read into row-major, little-endian memory whatever the file's order. Anything malformed, too large or of a type that kernels don't know
// (complex, strings, objects, records) is an Error(User) that names the file.
#pragma once
#include "tk/array.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tk::runtime {

struct NpyHeader {
  char kind = 'f';         // b i u f V
  unsigned itemBytes = 4;
  bool bigEndian = false, fortranOrder = false;
  std::vector<int64_t> shape;
  uint64_t dataOffset = 0; // where the elements start in the file
  uint64_t dataBytes = 0;
};

/// Reads the header alone and checks that the file holds all the elements.
NpyHeader readNpyHeader(const std::string &path);
/// The element type of a file: that of its header, or `as` (raw bytes and unsigned integers of its size may stand for it). Throws when there is none.
DType npyDType(const NpyHeader &header, const std::string &path, const DType *as);

} // namespace tk::runtime
