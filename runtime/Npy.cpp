// Reading and writing .npy files. The header is a Python dict literal with three keys; only the literals that occur in one are understood.
#include "runtime/Npy.h"
#include "tk/error.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <memory>

namespace tk::runtime {

namespace {
constexpr uint64_t maxHeaderBytes = 1 << 20;
constexpr unsigned maxRank = 64;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE *)>;

[[noreturn]] void fail(const std::string &path, const std::string &why) { throw Error(ErrorKind::User, fmt::format("`{}`: {}", path, why)); }

File openFile(const std::string &path, const char *mode) {
  File file(std::fopen(path.c_str(), mode), std::fclose);
  if (!file)
    fail(path, std::strerror(errno));
  return file;
}

/// A cursor over the header's text.
class HeaderParser {
public:
  HeaderParser(const std::string &text, const std::string &path, NpyHeader &header) : text(text), path(path), header(header) {}

  void parse() {
    bool hasDescr = false, hasOrder = false, hasShape = false;
    expect('{');
    while (!accept('}')) {
      std::string key = quoted();
      expect(':');
      if (key == "descr")
        parseDescr(), hasDescr = true;
      else if (key == "fortran_order")
        header.fortranOrder = parseBool(), hasOrder = true;
      else if (key == "shape")
        parseShape(), hasShape = true;
      else
        fail(path, fmt::format("malformed npy header: unknown key `{}`", key));
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skipSpace();
    if (position != text.size())
      fail(path, "malformed npy header: text after the closing brace");
    if (!hasDescr || !hasOrder || !hasShape)
      fail(path, "malformed npy header: `descr`, `fortran_order` and `shape` are all needed");
  }

private:
  void skipSpace() {
    while (position < text.size() && std::strchr(" \t\n\r", text[position]) && text[position])
      ++position;
  }
  bool accept(char c) {
    skipSpace();
    bool found = position < text.size() && text[position] == c;
    position += found;
    return found;
  }
  void expect(char c) {
    if (!accept(c))
      fail(path, fmt::format("malformed npy header: expected `{}` at byte {} of the header", c, position));
  }
  std::string quoted() {
    skipSpace();
    char quote = position < text.size() ? text[position] : 0;
    size_t end = quote == '\'' || quote == '"' ? text.find(quote, position + 1) : std::string::npos;
    if (end == std::string::npos)
      fail(path, fmt::format("malformed npy header: expected a string at byte {} of the header", position));
    std::string result = text.substr(position + 1, end - position - 1);
    position = end + 1;
    return result;
  }
  bool word(const char *value) {
    skipSpace();
    if (text.compare(position, std::strlen(value), value) != 0)
      return false;
    position += std::strlen(value);
    return true;
  }
  bool parseBool() {
    if (word("True"))
      return true;
    if (word("False"))
      return false;
    fail(path, "malformed npy header: `fortran_order` is neither True nor False");
  }
  int64_t number() {
    skipSpace();
    size_t start = position;
    int64_t result = 0;
    while (position < text.size() && text[position] >= '0' && text[position] <= '9')
      if (__builtin_mul_overflow(result, 10, &result) || __builtin_add_overflow(result, text[position++] - '0', &result))
        fail(path, "malformed npy header: an extent is too large");
    if (position == start)
      fail(path, fmt::format("malformed npy header: expected a number at byte {} of the header", position));
    return result;
  }
  void parseShape() {
    expect('(');
    while (!accept(')')) {
      header.shape.push_back(number());
      accept('L'); // a long of Python 2
      if (header.shape.size() > maxRank)
        fail(path, fmt::format("malformed npy header: more than {} dimensions", maxRank));
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }
  void parseDescr() {
    skipSpace();
    if (position < text.size() && text[position] == '[')
      fail(path, "records can't be read: expected an array of numbers");
    std::string descr = quoted();
    size_t at = 0;
    char order = '|';
    if (!descr.empty() && std::strchr("<>|=", descr[0]))
      order = descr[at++];
    unsigned bytes = 0;
    bool digits = at + 1 < descr.size();
    for (size_t i = at + 1; i < descr.size() && digits; ++i)
      if (descr[i] < '0' || descr[i] > '9' || (bytes = bytes * 10 + static_cast<unsigned>(descr[i] - '0')) > 64)
        digits = false;
    header.kind = at < descr.size() ? descr[at] : 0;
    bool known = digits && ((header.kind == 'b' && bytes == 1) || (header.kind == 'V' && (bytes == 1 || bytes == 2)) ||
                            ((header.kind == 'i' || header.kind == 'u') && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)) ||
                            (header.kind == 'f' && (bytes == 2 || bytes == 4 || bytes == 8)));
    if (!known)
      fail(path, fmt::format("element type `{}` can't be read: expected b1, i1 to i8, u1 to u8, f2 to f8, V1 or V2", descr));
    header.itemBytes = bytes;
    header.bigEndian = order == '>' && bytes > 1;
  }

  const std::string &text, &path;
  NpyHeader &header;
  size_t position = 0;
};

uint64_t elementCount(const NpyHeader &header, const std::string &path) {
  int64_t count = 1, bytes = 0;
  for (int64_t extent : header.shape)
    if (extent == 0)
      return 0;
  for (int64_t extent : header.shape)
    if (__builtin_mul_overflow(count, extent, &count))
      fail(path, "the array is too large");
  if (__builtin_mul_overflow(count, static_cast<int64_t>(header.itemBytes), &bytes))
    fail(path, "the array is too large");
  return static_cast<uint64_t>(count);
}

NpyHeader readHeader(std::FILE *file, const std::string &path) {
  unsigned char start[12];
  if (std::fread(start, 1, 10, file) != 10 || std::memcmp(start, "\x93NUMPY", 6) != 0)
    fail(path, "not an npy file");
  unsigned major = start[6];
  if (major < 1 || major > 3)
    fail(path, fmt::format("npy version {}.{} can't be read: expected 1, 2 or 3", major, unsigned(start[7])));
  uint64_t length = start[8] | start[9] << 8, prefix = 10;
  if (major > 1) {
    if (std::fread(start + 10, 1, 2, file) != 2)
      fail(path, "the npy header is cut off");
    length |= static_cast<uint64_t>(start[10]) << 16 | static_cast<uint64_t>(start[11]) << 24;
    prefix = 12;
  }
  if (length > maxHeaderBytes)
    fail(path, fmt::format("an npy header of {} bytes can't be read: at most {} are expected", length, maxHeaderBytes));
  std::string text(length, 0);
  if (std::fread(text.data(), 1, length, file) != length)
    fail(path, "the npy header is cut off");
  NpyHeader header;
  HeaderParser(text, path, header).parse();
  header.dataOffset = prefix + length;
  header.dataBytes = elementCount(header, path) * header.itemBytes;
  if (std::fseek(file, 0, SEEK_END) != 0)
    fail(path, "can't find the file's end: expected a regular file");
  long size = std::ftell(file);
  if (size < 0 || static_cast<uint64_t>(size) - header.dataOffset < header.dataBytes || static_cast<uint64_t>(size) < header.dataOffset)
    fail(path, fmt::format("the file is cut off: {} bytes of elements are expected and {} are there", header.dataBytes,
                           size < 0 || static_cast<uint64_t>(size) < header.dataOffset ? 0 : static_cast<uint64_t>(size) - header.dataOffset));
  std::fseek(file, static_cast<long>(header.dataOffset), SEEK_SET);
  return header;
}

/// Column-major to row-major.
void reorder(const char *source, char *target, const std::vector<int64_t> &shape, unsigned itemBytes) {
  std::vector<int64_t> index(shape.size(), 0), strides(shape.size(), 1);
  int64_t count = 1;
  for (size_t i = 0; i < shape.size(); ++i)
    strides[i] = count, count *= shape[i];
  int64_t from = 0;
  for (int64_t to = 0; to < count; ++to) {
    std::memcpy(target + to * itemBytes, source + from * itemBytes, itemBytes);
    for (size_t axis = shape.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < shape[axis])
        break;
      from -= strides[axis] * shape[axis], index[axis] = 0;
    }
  }
}

void swapBytes(char *data, uint64_t bytes, unsigned itemBytes) {
  for (uint64_t i = 0; i < bytes; i += itemBytes)
    for (unsigned j = 0; j < itemBytes / 2; ++j)
      std::swap(data[i + j], data[i + itemBytes - 1 - j]);
}

std::string descrOf(DType type) {
  if (type == DType::I1)
    return "|b1";
  if (isFloat8(type))
    return "|V1";
  if (type == DType::BF16)
    return "|V2";
  return fmt::format("{}{}{}", bytesOf(type) == 1 ? '|' : '<', isFloat(type) ? 'f' : isUnsigned(type) ? 'u' : 'i', bytesOf(type));
}
} // namespace

NpyHeader readNpyHeader(const std::string &path) { return readHeader(openFile(path, "rb").get(), path); }

DType npyDType(const NpyHeader &header, const std::string &path, const DType *as) {
  std::string name = fmt::format("{}{}", header.kind, header.itemBytes);
  if (as) {
    bool raw = header.kind == 'V' || header.kind == 'u' || header.kind == 'i';
    bool same = descrOf(*as).substr(1) == name;
    if (!same && !(raw && bytesOf(*as) == header.itemBytes && (*as == DType::BF16 || isFloat8(*as))))
      fail(path, fmt::format("the file holds {} elements, which can't stand for {}", name, spelling(*as)));
    return *as;
  }
  for (unsigned i = 0; i <= static_cast<unsigned>(DType::F64); ++i)
    if (DType type = static_cast<DType>(i); header.kind != 'V' && descrOf(type).substr(1) == name)
      return type;
  fail(path, fmt::format("the file holds raw bytes ({}): name their type, as in `@{}:{}`", name, path, header.itemBytes == 2 ? "bf16" : "fp8e4nv"));
}

} // namespace tk::runtime

namespace tk {

Array Array::load(const std::string &path, const DType *as) {
  using namespace runtime;
  File file = openFile(path, "rb");
  NpyHeader header = readHeader(file.get(), path);
  Array result(npyDType(header, path, as), header.shape);
  std::unique_ptr<char[]> columns;
  char *target = result.as<char>();
  bool reorders = header.fortranOrder && header.shape.size() > 1 && header.dataBytes;
  if (reorders)
    columns.reset(new char[header.dataBytes]), target = columns.get();
  if (header.dataBytes && std::fread(target, 1, header.dataBytes, file.get()) != header.dataBytes)
    fail(path, "reading the elements failed");
  if (header.bigEndian)
    swapBytes(target, header.dataBytes, header.itemBytes);
  if (reorders)
    reorder(target, result.as<char>(), header.shape, header.itemBytes);
  if (result.dtype() == DType::I1)
    for (char *byte = result.as<char>(), *end = byte + result.size(); byte != end; ++byte)
      *byte = *byte != 0;
  return result;
}

void Array::save(const std::string &path) const {
  using namespace runtime;
  std::string shape;
  for (int64_t extent : extents)
    shape += fmt::format("{}, ", extent);
  if (extents.size() > 1)
    shape.resize(shape.size() - 2);
  else if (!shape.empty())
    shape.pop_back();
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descrOf(type), shape);
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string start("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(header.size() & 0xff);
  start += static_cast<char>(header.size() >> 8);
  start += header;
  File file = openFile(path, "wb");
  bool written = std::fwrite(start.data(), 1, start.size(), file.get()) == start.size() && (bytes() == 0 || std::fwrite(data(), 1, bytes(), file.get()) == bytes());
  if (std::fclose(file.release()) != 0 || !written)
    fail(path, "writing failed: " + std::string(std::strerror(errno)));
}

} // namespace tk
