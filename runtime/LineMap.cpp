// See LineMap.h.
#include "runtime/LineMap.h"
#include <charconv>
#include <fmt/format.h>

namespace tk::runtime {

LineMap::LineMap(std::string oldFile, const std::vector<FunctionLines> &before, std::string newFile, const std::vector<FunctionLines> &now)
    : oldFile(std::move(oldFile)), newFile(std::move(newFile)) {
  bool moved = false;
  for (const FunctionLines &old : before)
    for (const FunctionLines &current : now)
      if (current.name == old.name) {
        pieces.push_back({old.first, old.last, current.first});
        moved |= current.first != old.first;
        break;
      }
  if (!moved)
    pieces.clear();
}

void LineMap::move(std::string &file, unsigned &line) const {
  if (file != oldFile)
    return;
  file = newFile;
  const Piece *inner = nullptr; // the innermost function that holds the line
  for (const Piece &piece : pieces)
    if (piece.first <= line && line <= piece.last && (!inner || piece.first > inner->first))
      inner = &piece;
  if (inner)
    line = line - inner->first + inner->newFirst;
}

std::string LineMap::moved(const std::string &message) const {
  if (isIdentity() || message.compare(0, oldFile.size(), oldFile) != 0 || message.size() <= oldFile.size() || message[oldFile.size()] != ':')
    return message;
  unsigned line = 0;
  const char *begin = message.data() + oldFile.size() + 1;
  auto [end, code] = std::from_chars(begin, message.data() + message.size(), line);
  if (code != std::errc() || end == begin || *end != ':')
    return message;
  std::string file = oldFile;
  move(file, line);
  return fmt::format("{}:{}{}", file, line, end);
}

} // namespace tk::runtime
