// Host code as a shared library that never was a file: from memory into this process.
#pragma once
#include <string>
#include <string_view>

namespace tk::runtime {

/// Unloaded with the object. Movable by pointer only.
class CpuImage {
public:
  /// `library`: the bytes of an ELF shared library; `name`: for debuggers. Throws Error(Device) when the system refuses it.
  CpuImage(std::string_view library, const std::string &name);
  ~CpuImage();
  CpuImage(const CpuImage &) = delete;
  CpuImage &operator=(const CpuImage &) = delete;

  /// The address of a symbol that it exports. Throws Error(Internal).
  void *symbol(const std::string &name) const;

private:
  void *handle = nullptr;
};

} // namespace tk::runtime
