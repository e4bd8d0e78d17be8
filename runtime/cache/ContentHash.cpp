// See ContentHash.h.
#include "runtime/cache/ContentHash.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tk::runtime {

static void appendNumber(std::string &bytes, uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8)
    bytes.push_back(static_cast<char>(number >> shift));
}

void ContentHash::add(std::string_view bytes) {
  sequence.push_back('s');
  appendNumber(sequence, bytes.size());
  sequence.append(bytes);
}

void ContentHash::add(uint64_t number) {
  sequence.push_back('n');
  appendNumber(sequence, number);
}

std::string ContentHash::hex() const { return hashOf(sequence); }

std::string hashOf(std::string_view bytes) {
  std::string text;
  for (unsigned char byte : digestOf({bytes})) {
    text.push_back("0123456789abcdef"[byte >> 4]);
    text.push_back("0123456789abcdef"[byte & 15]);
  }
  return text;
}

std::array<unsigned char, 16> digestOf(std::initializer_list<std::string_view> parts) {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  for (std::string_view part : parts)
    if (!part.empty())
      XXH3_128bits_update(&state, part.data(), part.size());
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
  std::array<unsigned char, 16> digest;
  std::copy(std::begin(canonical.digest), std::end(canonical.digest), digest.begin());
  return digest;
}

} // namespace tk::runtime
