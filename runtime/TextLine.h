// The line-based text of descriptions that the disk cache keeps (KernelAbi, ModuleDescription): words apart by one blank, strings in quotes with \", \\, \n and
// \xNN. Bytes from 128 on stand as they are.
#pragma once
#include "tk/dtype.h"
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

namespace tk::runtime {

/// `text` in quotes, without a line break inside.
std::string quoted(std::string_view text);

/// Reads the words of one line. Once something is not as expected, `good` is false and stays so.
class TextLine {
public:
  explicit TextLine(std::string_view text) : rest(text) {}

  bool atEnd() const { return rest.empty(); }
  std::string_view word();
  template <typename T> void number(T &value) { readNumber(word(), value); }
  /// In hexadecimal.
  void hex(uint64_t &value);
  /// One of two words; true for the first.
  bool choice(std::string_view first, std::string_view second);
  void dtype(DType &value);
  void string(std::string &value);
  /// `3` or `3.0.1`.
  void parameter(unsigned &number, std::vector<unsigned> &path);
  bool good = true;

private:
  template <typename T> void readNumber(std::string_view text, T &value) {
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    good &= !text.empty() && code == std::errc() && end == text.data() + text.size();
  }
  std::string_view rest;
};

} // namespace tk::runtime
