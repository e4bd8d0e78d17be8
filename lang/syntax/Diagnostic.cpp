// The table of messages and how they are shown.
//
// What is shown is safe for a terminal: bytes that are not UTF-8, control characters and characters that change the direction
// of text appear as escapes. Only a window of a long line is looked at, so a line of any length costs the same.
#include "lang/syntax/Diagnostic.h"
#include "lang/syntax/Utf8.h"
#include <algorithm>

namespace tk::lang {

namespace {
struct Entry {
  const char *name, *text;
  Severity severity;
};
} // namespace

static constexpr Entry kEntries[] = {
#define TK_DIAGNOSTIC(name, severity, text) {#name, text, Severity::severity},
#include "lang/syntax/Diagnostics.def"
};

static const Entry &entry(Diag id) {
  static constexpr Entry unknown = {"Unknown", "unknown message", Severity::Error};
  size_t index = static_cast<size_t>(id);
  return index < std::size(kEntries) ? kEntries[index] : unknown;
}

const char *diagText(Diag id) { return entry(id).text; }
const char *diagName(Diag id) { return entry(id).name; }
Severity diagSeverity(Diag id) { return entry(id).severity; }

/// Replaces the fields of `format`; whatever is malformed is shown, never refused.
std::string Diagnostics::expand(std::string_view format, const std::vector<std::string> &args) {
  std::string text;
  size_t next = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    char c = format[i];
    if ((c == '{' || c == '}') && i + 1 < format.size() && format[i + 1] == c) {
      text += c;
      ++i;
      continue;
    }
    size_t close = c == '{' ? format.find('}', i) : std::string_view::npos;
    if (close == std::string_view::npos) {
      text += c;
      continue;
    }
    size_t index = 0, digits = i + 1;
    for (; digits < close && format[digits] >= '0' && format[digits] <= '9' && index < 100; ++digits)
      index = index * 10 + static_cast<size_t>(format[digits] - '0');
    if (digits == i + 1)
      index = next++;
    text += index < args.size() ? args[index] : "?";
    i = close;
  }
  return text;
}

/// Counts a message. Whether it is to be kept.
bool Diagnostics::admit(Diag id) {
  const Severity severity = diagSeverity(id);
  if (severity != Severity::Note) {
    unsigned &count = severity == Severity::Error ? errors : warnings;
    dropping = ++count > limit;
  }
  return !dropping;
}

/// Appends one code point (or invalid byte) at `i`, made safe, and moves `i` past it. Returns the columns it takes.
static unsigned appendSafe(std::string &out, std::string_view text, size_t &i) {
  Utf8Char c = decodeUtf8(text, i);
  size_t before = out.size();
  if (!c.valid)
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text[i]));
  else if (c.value < 0x20 || (c.value >= 0x7F && c.value < 0xA0))
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned>(c.value));
  else if (changesDirection(c.value))
    fmt::format_to(std::back_inserter(out), "\\u{{{:04x}}}", static_cast<unsigned>(c.value));
  else
    out.append(text.substr(i, c.length));
  bool escaped = out.size() - before != c.length || !c.valid;
  i += c.length;
  return escaped ? static_cast<unsigned>(out.size() - before) : displayWidth(c.value);
}

/// A message's own text or a file's name: as it is, but safe. Line ends stay.
static std::string safeText(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '\n' || text[i] == '\t')
      out += text[i++];
    else
      appendSafe(out, text, i);
  }
  return out;
}

namespace {
/// The part of a line that is shown and the marks below it.
struct Excerpt {
  std::string text, marks;
};
} // namespace

static constexpr unsigned kBefore = 60, kShown = 140; // code points of a long line, before the range and in all

static Excerpt excerpt(std::string_view line, uint32_t begin, uint32_t end) {
  Excerpt out;
  begin = std::min<uint32_t>(begin, static_cast<uint32_t>(line.size()));
  end = std::clamp<uint32_t>(end, begin, static_cast<uint32_t>(line.size()));
  size_t first = 0, last = line.size();
  if (line.size() > kShown) {
    first = begin;
    for (unsigned n = 0; first > 0 && n < kBefore; ++n)
      first = previousUtf8(line, first);
    if (first <= 3)
      first = 0;
    last = first;
    for (unsigned n = 0; last < line.size() && n < kShown; ++n)
      last += decodeUtf8(line, last).length;
  }
  if (first > 0)
    out.text = "...", out.marks = "   ";
  bool marked = false;
  for (size_t i = first; i < last;) {
    bool inside = i >= begin && i < end;
    bool tab = line[i] == '\t';
    unsigned width = 1;
    if (tab)
      out.text += '\t', ++i;
    else
      width = appendSafe(out.text, line, i);
    bool starts = !marked && i > begin;
    if (!inside && !starts) {
      if (!marked)
        out.marks += tab ? "\t" : std::string(width, ' ');
      continue;
    }
    // A tab inside the range can't be underlined to its end: one mark, then the tab itself keeps what follows in place.
    std::string mark = (starts ? "^" : "") + std::string(starts ? (width ? width - 1 : 0) : width, '~');
    if (!inside)
      mark.resize(1);
    marked = true;
    if (tab && i < end)
      mark += '\t';
    out.marks += mark;
  }
  if (!marked)
    out.marks += '^';
  if (last < line.size())
    out.text += "...";
  return out;
}

static void renderMessage(std::string &out, const Message &message, bool colour) {
  auto paint = [&](const char *code) { return colour ? code : ""; };
  static constexpr const char *kWords[] = {"error", "warning", "note"};
  static constexpr const char *kColours[] = {"\033[1;31m", "\033[1;35m", "\033[1;36m"};
  const size_t severity = static_cast<size_t>(message.severity);
  const SourceFile *file = message.place.file;
  LineColumn at = file ? file->position(message.place.range.begin) : LineColumn();
  out += paint("\033[1m");
  if (file)
    out += fmt::format("{}:{}:{}: ", safeText(file->name()), at.line, at.column);
  out += fmt::format("{}{}: {}{}{}{}\n", paint(kColours[severity]), kWords[severity], paint("\033[0m"), paint("\033[1m"), safeText(message.text),
                     paint("\033[0m"));
  if (!file)
    return;
  uint32_t start = file->lineStart(at.line);
  SourceRange range = message.place.range;
  Excerpt shown = excerpt(file->line(at.line), range.begin - start, std::max(range.begin, range.end) - start);
  std::string number = fmt::format("{:>5}", at.line);
  out += fmt::format("{} | {}\n{} | {}{}{}\n", number, shown.text, std::string(number.size(), ' '), paint("\033[1;32m"), shown.marks, paint("\033[0m"));
}

std::string Diagnostics::render(bool colour) const {
  std::string out;
  for (const Message &message : list)
    renderMessage(out, message, colour);
  if (errors > limit)
    out += fmt::format("{} more error{} not shown\n", errors - limit, errors - limit == 1 ? "" : "s");
  return out;
}

/// Edit distance with transpositions of neighbours, given up (limit + 1) when it is larger than `limit`.
static unsigned editDistance(std::string_view a, std::string_view b, unsigned limit) {
  const size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (gap > limit)
    return limit + 1;
  std::vector<unsigned> older(b.size() + 1), old(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    old[j] = static_cast<unsigned>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<unsigned>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({old[j] + 1, row[j - 1] + 1, old[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], older[j - 2] + 1);
    }
    if (*std::min_element(row.begin(), row.end()) > limit)
      return limit + 1;
    older.swap(old);
    old.swap(row);
  }
  return old[b.size()];
}

std::string nearest(std::string_view name, const std::vector<std::string> &candidates) {
  static constexpr size_t kLongest = 100;
  if (name.empty() || name.size() > kLongest)
    return {};
  auto lower = [](std::string_view text) {
    std::string out(text);
    for (char &c : out)
      c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return out;
  };
  const std::string folded = lower(name);
  // Two units per edit, so that a difference in case alone (one unit) is the nearest of all.
  unsigned best = 2 * static_cast<unsigned>(name.size() <= 2 ? 1 : (name.size() + 2) / 3) + 1;
  std::string found;
  for (const std::string &candidate : candidates) {
    if (candidate == name || candidate.empty() || (name.size() == 1 && candidate.size() == 1 && lower(candidate) != folded))
      continue;
    unsigned distance = std::min(2 * editDistance(name, candidate, best / 2), 2 * editDistance(folded, lower(candidate), best / 2) + 1);
    if (distance < best)
      best = distance, found = candidate;
  }
  return found;
}

} // namespace tk::lang
