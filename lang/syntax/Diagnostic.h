// What the front end says about a program. Every message is declared once in Diagnostics.def.
//
//   file.tk:3:9: error: unknown name `BLOK`; did you mean `BLOCK`?
//     3 |   i = arange(0, BLOK)
//       |                 ^~~~
//   file.tk:1:1: note: ...
//
// Texts are lower case, without a full stop, code in backticks, observation first.
#pragma once
#include "lang/syntax/Source.h"
#include <fmt/format.h>
#include <string>
#include <vector>

namespace tk::lang {

enum class Severity { Error, Warning, Note };

/// One entry per message: TK_DIAGNOSTIC(name, severity, "text") in Diagnostics.def.
enum class Diag : uint16_t {
#define TK_DIAGNOSTIC(name, severity, text) name,
#include "lang/syntax/Diagnostics.def"
};

const char *diagText(Diag id);
const char *diagName(Diag id);
Severity diagSeverity(Diag id);

struct Message {
  Diag id;
  Severity severity;
  Place place;
  std::string text;
};

/// Collects messages in order. After `limit` errors, further ones are counted but not kept (likewise warnings). Not thread-safe.
/// Refers to the files of the places that were reported: they must live until the last render.
class Diagnostics {
public:
  explicit Diagnostics(unsigned limit = 20) : limit(limit) {}

  /// Reports; a note belongs to the last error or warning before it and vanishes with it when that one is dropped.
  /// The arguments, each formatted by fmt, replace `{}` or `{0}` in the message's text. A field without an argument shows as `?`.
  template <typename... Args> void report(Diag id, Place place, const Args &...args) {
    if (admit(id))
      list.push_back({id, diagSeverity(id), place, expand(diagText(id), {argumentText(args)...})});
  }

  bool hasErrors() const { return errors != 0; }
  unsigned errorCount() const { return errors; }
  const std::vector<Message> &messages() const { return list; }
  void clear() { list.clear(), errors = warnings = 0, dropping = false; }
  /// All messages with the source line and the range underlined; long lines are cut around the range.
  std::string render(bool colour = false) const;

private:
  template <typename T> static std::string argumentText(const T &value) { return fmt::format("{}", value); }
  static std::string argumentText(const char *text) { return text ? text : "?"; }
  static std::string expand(std::string_view format, const std::vector<std::string> &args);
  bool admit(Diag id);
  std::vector<Message> list;
  unsigned errors = 0, warnings = 0, limit;
  bool dropping = false;
};

/// The candidate nearest to `name` in edit distance, empty when none is near enough to suggest.
std::string nearest(std::string_view name, const std::vector<std::string> &candidates);

} // namespace tk::lang
