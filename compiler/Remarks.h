// What the compiler did with a kernel, as data: a remark has a kind, a place in the source, and named facts. Passes and emitters record them
// (compiler/RecordRemark.h); Remarks.cpp alone makes words of them. No MLIR or LLVM type appears here.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tk::compiler {

enum class RemarkKind : uint8_t {
#define TK_REMARK(kind, name) kind,
#include "compiler/Remarks.def"
};
const char *nameOf(RemarkKind kind);

struct Fact {
  std::string name;
  std::variant<int64_t, std::string> value;
  bool operator==(const Fact &) const = default;
};

struct Remark {
  RemarkKind kind;
  std::string file;
  unsigned line = 0, column = 0; // from 1, columns in code points; 0: not known
  std::vector<Fact> facts;       // Remarks.def lists those of each kind
  unsigned count = 1;            // how often the same was recorded for this place: calls of one function, parts of one product

  /// The fact's number or text; `otherwise` when there is none.
  int64_t number(std::string_view name, int64_t otherwise = 0) const;
  std::string_view text(std::string_view name, std::string_view otherwise = {}) const;
  bool has(std::string_view name) const;
};
using Remarks = std::vector<Remark>;

/// Joins equal remarks of one place and puts them in the order of the source; those of one place stay as they were recorded.
void settle(Remarks &remarks);

/// A remark in words: one line, lower case, no full stop.
std::string sentence(const Remark &remark);
/// `file:line:column: remark: sentence` for each.
std::string toText(const Remarks &remarks);
/// An array of objects: kind, file, line, column, count, text, facts.
std::string toJson(const Remarks &remarks);

} // namespace tk::compiler
