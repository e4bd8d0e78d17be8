// The line table of a source file and how it is read from disk.
//
// Columns count code points, and a line may be megabytes long: a file that is not plain ASCII keeps the number of code points
// before every 256th byte, so that position() looks at no more than 512 bytes: those of a short line, or those after the two checkpoints.
#include "lang/syntax/Source.h"
#include "runtime/SourceText.h"
#include <algorithm>

namespace tk::lang {

static constexpr uint32_t kStride = 256;
using runtime::maxSourceBytes;

static bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

SourceFile::SourceFile(std::string name, std::string text) : fileName(std::move(name)), contents(std::move(text)) {
  if (contents.starts_with("\xEF\xBB\xBF"))
    contents.erase(0, 3);
  if (contents.size() > maxSourceBytes) // offsets are 32 bits wide; read() has refused such a file already
    contents.resize(maxSourceBytes);

  lineStarts.push_back(0);
  bool ascii = true;
  for (size_t i = 0; i < contents.size(); ++i) {
    char c = contents[i];
    ascii &= static_cast<signed char>(c) >= 0;
    if (c == '\n' || (c == '\r' && (i + 1 == contents.size() || contents[i + 1] != '\n')))
      lineStarts.push_back(static_cast<uint32_t>(i + 1));
  }
  if (ascii)
    return;
  uint32_t count = 0;
  for (size_t i = 0; i < contents.size(); ++i) {
    if (i % kStride == 0)
      checkpoints.push_back(count);
    count += !isContinuation(contents[i]);
  }
  checkpoints.push_back(count);
}

/// The number of code points that start before `offset`.
uint32_t SourceFile::codePoints(uint32_t offset) const {
  if (checkpoints.empty())
    return offset;
  uint32_t count = checkpoints[offset / kStride];
  for (uint32_t i = offset / kStride * kStride; i < offset; ++i)
    count += !isContinuation(contents[i]);
  return count;
}

uint32_t SourceFile::offset(LineColumn at) const {
  if (at.line == 0 || at.line > lineCount())
    return at.line == 0 ? 0 : static_cast<uint32_t>(contents.size());
  std::string_view text = line(at.line);
  uint32_t bytes = 0;
  for (uint32_t column = 1; column < at.column && bytes < text.size(); ++column)
    for (++bytes; bytes < text.size() && isContinuation(text[bytes]);)
      ++bytes;
  return lineStart(at.line) + bytes;
}

LineColumn SourceFile::position(uint32_t offset) const {
  offset = std::min<uint32_t>(offset, static_cast<uint32_t>(contents.size()));
  auto next = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset);
  uint32_t line = static_cast<uint32_t>(next - lineStarts.begin());
  uint32_t start = lineStarts[line - 1];
  if (offset - start < kStride) { // most lines: nothing before them needs counting
    auto begin = contents.begin();
    return {line,
            checkpoints.empty() ? offset - start + 1 : uint32_t(std::count_if(begin + start, begin + offset, [](char c) { return !isContinuation(c); })) + 1};
  }
  return {line, codePoints(offset) - codePoints(start) + 1};
}

std::string_view SourceFile::line(uint32_t number) const {
  if (number == 0 || number > lineCount())
    return {};
  uint32_t begin = lineStarts[number - 1];
  uint32_t end = number < lineCount() ? lineStarts[number] : static_cast<uint32_t>(contents.size());
  if (end > begin && contents[end - 1] == '\n')
    --end;
  if (end > begin && contents[end - 1] == '\r')
    --end;
  return std::string_view(contents).substr(begin, end - begin);
}

std::shared_ptr<SourceFile> SourceFile::read(const std::string &path, std::string &error) {
  std::string text;
  return runtime::readSource(path, text, error) ? std::make_shared<SourceFile>(path, std::move(text)) : nullptr;
}

} // namespace tk::lang
