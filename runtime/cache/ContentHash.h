// What the cache's keys and checksums are made of: 128 bits of XXH3. They tell contents apart, they don't prove who wrote them; that is what owners and modes
// of files are for (see README.md).
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tk::runtime {

/// The hash of a sequence of values, 32 hexadecimal digits. Copies go their own ways, so that what several keys begin with is added once. Each value is added
/// with its kind and length: no two different sequences are the same bytes.
class ContentHash {
public:
  void add(std::string_view bytes);
  void add(uint64_t number);
  std::string hex() const;

private:
  std::string sequence;
};

/// The hash of these bytes alone, 32 hexadecimal digits.
std::string hashOf(std::string_view bytes);

/// The hash of the parts one after the other, highest byte first.
std::array<unsigned char, 16> digestOf(std::initializer_list<std::string_view> parts);

} // namespace tk::runtime
