// The bytes of an entry's file. Nothing in them depends on where the file lies.
//
//   offset  bytes  what (numbers are little-endian)
//        0      8  "tkcentry"
//        8      4  version of this format
//       12      4  length of the kind
//       16      4  length of the key
//       20      4  length of the label
//       24      8  length of the payload
//       32     16  XXH3-128 of everything else
//       48         kind, key, label, payload
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tk::runtime {

constexpr size_t entryHeadBytes = 48;
constexpr size_t mostLabelBytes = 256;
constexpr uint64_t mostPayloadBytes = uint64_t(1) << 30; // what is longer is neither written nor believed

/// The parts of an entry's file; the views point into the bytes that were read.
struct EntryView {
  std::string_view kind, key, label, payload;
};

/// One to 16 lower-case letters.
bool isKind(std::string_view text);
/// 8 to 64 lower-case hexadecimal digits.
bool isKey(std::string_view text);

/// What stands before the payload. The label becomes one line of at most mostLabelBytes.
std::string entryHead(std::string_view kind, std::string_view key, std::string_view label, std::string_view payload);

/// The parts, when everything about them is right; else nothing, and `why` ("its checksum is wrong"). An entry of another version leaves `why` empty: it is no
/// fault.
std::optional<EntryView> readEntry(std::string_view file, std::string &why);

} // namespace tk::runtime
