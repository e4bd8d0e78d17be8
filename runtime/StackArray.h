// An array whose length is known when it is made, on the stack when it is short.
#pragma once
#include <cstddef>
#include <memory>
#include <type_traits>

namespace tk::runtime {

/// Of plain data, whose values are undefined until they are assigned.
template <typename T, size_t Short> class StackArray {
public:
  explicit StackArray(size_t count)
      : count(count),
        elements(count <= Short ? reinterpret_cast<T *>(near) : reinterpret_cast<T *>((far = std::unique_ptr<char[]>(new char[count * sizeof(T)])).get())) {}
  StackArray(const StackArray &) = delete;
  StackArray &operator=(const StackArray &) = delete;

  T &operator[](size_t index) { return elements[index]; }
  const T &operator[](size_t index) const { return elements[index]; }
  T *data() { return elements; }
  const T *data() const { return elements; }
  size_t size() const { return count; }
  T *begin() { return elements; }
  T *end() { return elements + count; }

private:
  static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);
  size_t count;
  std::unique_ptr<char[]> far;
  alignas(T) char near[Short * sizeof(T)];
  T *elements;
};

} // namespace tk::runtime
