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

  template <typename T> void byte(T value) { *room(1) = static_cast<char>(value); }
  /// Room for so many bytes, which the caller fills before anything else is added.
  char *room(size_t count) {
    if (count > static_cast<size_t>(limit - end))
      grow(count);
    char *result = end;
    end += count;
    return result;
  }
  /// Four bytes at once, the lowest first.
  void bytes(uint32_t value) { std::memcpy(room(sizeof value), &value, sizeof value); }
  void word(uint64_t value) { std::memcpy(room(sizeof value), &value, sizeof value); }
  void text(std::string_view value) {
    word(value.size());
    std::memcpy(room(value.size()), value.data(), value.size());
  }
  std::string_view view() const { return {begin, static_cast<size_t>(end - begin)}; }
  /// Of a quality for tables in memory, and only for those: it differs between machines.
  uint64_t hash() const {
    std::string_view bytes = view();
    uint64_t state = bytes.size() * multiplier, other = ~state; // two chains of multiplications at once
    for (; bytes.size() >= 16; bytes.remove_prefix(16))
      state = mixed(state, wordOf(bytes, 8)), other = mixed(other, wordOf(bytes.substr(8), 8));
    if (bytes.size() >= 8)
      state = mixed(state, wordOf(bytes, 8)), bytes.remove_prefix(8);
    return mixed(mixed(state, wordOf(bytes, bytes.size())), other);
  }

private:
  static constexpr uint64_t multiplier = 0x9e3779b97f4a7c15; // 2^64 over the golden ratio
  static uint64_t wordOf(std::string_view bytes, size_t count) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), count);
    return word;
  }
  static uint64_t mixed(uint64_t state, uint64_t next) {
    unsigned __int128 product = static_cast<unsigned __int128>(state ^ next ^ multiplier) * 0xd6e8feb86659fd93;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  void grow(size_t count) {
    size_t size = static_cast<size_t>(end - begin);
    std::string larger(2 * (size + count), '\0');
    std::memcpy(larger.data(), begin, size);
    longer = std::move(larger);
    begin = longer.data(), end = begin + size, limit = begin + longer.size();
  }

  char shorter[760];
  std::string longer; // once `shorter` is too small
  char *begin = shorter, *end = shorter, *limit = shorter + sizeof shorter;
};

} // namespace tk::runtime
