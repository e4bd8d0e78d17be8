// Source text, positions in it, and what is said about them.
//
// A SourceFile owns its text for as long as anything refers to it; positions are byte offsets, and a line table turns
// them into line and column. Lines end at \n or \r\n (or a lone \r); a leading byte-order mark is skipped. Columns are
// counted in code points from 1, as editors show them.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tk::lang {

/// Half-open range of byte offsets in one file.
struct SourceRange {
  uint32_t begin = 0, end = 0;
};

struct LineColumn {
  uint32_t line = 1, column = 1;
};

class SourceFile {
public:
  SourceFile(std::string name, std::string text);
  const std::string &name() const { return fileName; }
  std::string_view text() const { return contents; }
  std::string_view text(SourceRange range) const { return std::string_view(contents).substr(range.begin, range.end - range.begin); }
  LineColumn position(uint32_t offset) const;
  /// The inverse: the byte offset of a line and column; the line's end for columns behind it, the text's for lines behind it.
  uint32_t offset(LineColumn at) const;
  /// The text of a line (from 1) without its terminator.
  std::string_view line(uint32_t number) const;
  uint32_t lineCount() const { return static_cast<uint32_t>(lineStarts.size()); }
  /// Byte offset of the start of a line (from 1).
  uint32_t lineStart(uint32_t number) const { return lineStarts[number - 1]; }
  /// Reads a file; null and `error` filled when it can't be read or is larger than 256 MiB.
  static std::shared_ptr<SourceFile> read(const std::string &path, std::string &error);

private:
  std::string fileName, contents;
  uint32_t codePoints(uint32_t offset) const;

  std::vector<uint32_t> lineStarts;
  std::vector<uint32_t> checkpoints; // code points before every 256th byte; empty for ASCII
};

/// A place: a file and a range in it. An empty place has no file.
struct Place {
  const SourceFile *file = nullptr;
  SourceRange range;
};

} // namespace tk::lang
