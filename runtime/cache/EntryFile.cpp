// See EntryFile.h.
#include "runtime/cache/EntryFile.h"
#include "runtime/cache/ContentHash.h"
#include <algorithm>

namespace tk::runtime {

namespace {
constexpr std::string_view magic = "tkcentry";
constexpr uint64_t version = 1;
constexpr size_t checksumAt = 32;

void append(std::string &bytes, uint64_t number, int count) {
  for (int i = 0; i < count; ++i)
    bytes.push_back(static_cast<char>(number >> (8 * i)));
}

uint64_t numberAt(std::string_view bytes, size_t at, int count) {
  uint64_t number = 0;
  for (int i = 0; i < count; ++i)
    number |= uint64_t(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return number;
}

/// One line, cut where a character of UTF-8 begins.
std::string oneLine(std::string_view text) {
  size_t end = std::min(text.size(), mostLabelBytes);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;
  std::string line(text.substr(0, end));
  std::replace_if(line.begin(), line.end(), [](unsigned char c) { return c < 32 || c == 127; }, ' ');
  return line;
}
} // namespace

bool isKind(std::string_view text) {
  return !text.empty() && text.size() <= 16 && std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

bool isKey(std::string_view text) {
  return text.size() >= 8 && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string entryHead(std::string_view kind, std::string_view key, std::string_view label, std::string_view payload) {
  std::string line = oneLine(label), head(magic);
  append(head, version, 4);
  append(head, kind.size(), 4);
  append(head, key.size(), 4);
  append(head, line.size(), 4);
  append(head, payload.size(), 8);
  std::string names = std::string(kind).append(key).append(line);
  auto digest = digestOf({head, names, payload});
  head.append(digest.begin(), digest.end());
  return head + names;
}

std::optional<EntryView> readEntry(std::string_view file, std::string &why) {
  why.clear();
  auto wrong = [&](const char *text) {
    why = text;
    return std::nullopt;
  };
  if (file.empty())
    return wrong("it is empty");
  if (file.size() < entryHeadBytes)
    return wrong("it is too short");
  if (!file.starts_with(magic))
    return wrong("it doesn't begin as an entry does");
  if (numberAt(file, 8, 4) != version)
    return std::nullopt;
  uint64_t kindBytes = numberAt(file, 12, 4), keyBytes = numberAt(file, 16, 4), labelBytes = numberAt(file, 20, 4), payloadBytes = numberAt(file, 24, 8);
  // Three numbers of 32 bits and one below 2^30: no sum overflows.
  if (payloadBytes > mostPayloadBytes || file.size() != entryHeadBytes + kindBytes + keyBytes + labelBytes + payloadBytes)
    return wrong("its length isn't what it says");
  std::string_view rest = file.substr(entryHeadBytes);
  auto digest = digestOf({file.substr(0, checksumAt), rest});
  if (!std::equal(digest.begin(), digest.end(), file.begin() + checksumAt, [](unsigned char a, char b) { return a == static_cast<unsigned char>(b); }))
    return wrong("its checksum is wrong");
  EntryView view = {rest.substr(0, kindBytes), rest.substr(kindBytes, keyBytes), rest.substr(kindBytes + keyBytes, labelBytes),
                    rest.substr(kindBytes + keyBytes + labelBytes)};
  if (!isKind(view.kind) || !isKey(view.key))
    return wrong("its kind or key is none");
  return view;
}

} // namespace tk::runtime
