// A new, empty folder that goes with its object.
#pragma once
#include "tk/error.h"
#include <cstdlib>
#include <filesystem>
#include <string>

namespace tk::bench {

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "bench-launch-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw Error(ErrorKind::Device, "no folder can be made in " + name);
    path = name;
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

} // namespace tk::bench
