// The bytes that say which code a launch needs, built on the stack.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tk::runtime {

class LaunchKey {
public:
  LaunchKey() {} // the bytes need no first value
  LaunchKey(const LaunchKey &) = delete;

  template <typename T> void byte(T value) { *grow(1) = static_cast<char>(value); }
  void word(uint64_t value) { std::memcpy(grow(sizeof value), &value, sizeof value); }
  void text(std::string_view value) {
    word(value.size());
    std::memcpy(grow(value.size()), value.data(), value.size());
  }
  std::string_view view() const { return {long_.empty() ? short_ : long_.data(), size}; }
  /// Of a quality for tables in memory, and only for those: it differs between machines.
  uint64_t hash() const {
    std::string_view bytes = view();
    uint64_t state = bytes.size() * multiplier;
    for (; bytes.size() >= 8; bytes.remove_prefix(8))
      state = mixed(state, bytes, 8);
    return mixed(state, bytes, bytes.size());
  }

private:
  static constexpr uint64_t multiplier = 0x9e3779b97f4a7c15; // 2^64 over the golden ratio
  static uint64_t mixed(uint64_t state, std::string_view bytes, size_t count) {
    uint64_t next = 0;
    std::memcpy(&next, bytes.data(), count);
    unsigned __int128 product = static_cast<unsigned __int128>(state ^ next ^ multiplier) * 0xd6e8feb86659fd93;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  char *grow(size_t bytes) {
    size_t old = size;
    size += bytes;
    if (long_.empty() && size <= sizeof short_)
      return short_ + old;
    if (long_.empty())
      long_.assign(short_, old);
    long_.resize(size);
    return long_.data() + old;
  }

  size_t size = 0;
  char short_[760];
  std::string long_; // once `short_` is too small
};

} // namespace tk::runtime
