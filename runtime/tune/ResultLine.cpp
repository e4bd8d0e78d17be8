// One result as a line of text: words between single spaces, those that hold other characters quoted.
//
//   1 matmul 8c1f... "NVIDIA H200" sm_90 ( *fp16 *fp16 *fp16 i32 i32 i32 ) M=512 N=512 -> BLOCK_M=64 BLOCK_N=64 num_warps=4 : 1.234e-05 s
#include "runtime/tune/Results.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace tk::runtime {

namespace {
/// Marks of the line's parts are words that no name or value gives without quotes.
bool isPlain(const std::string &word) {
  if (word.empty() || word == "(" || word == ")" || word == "->" || word == ":")
    return false;
  return std::all_of(word.begin(), word.end(), [](unsigned char c) { return c > ' ' && c != '"' && c != '\\' && c != 127; });
}

void append(std::string &line, const std::string &word) {
  if (!line.empty())
    line += ' ';
  if (isPlain(word)) {
    line += word;
    return;
  }
  line += '"';
  for (unsigned char c : word)
    if (c == '"' || c == '\\')
      line += {'\\', static_cast<char>(c)};
    else if (c < ' ' || c == 127)
      line += fmt::format("\\{:02x}", c);
    else
      line += static_cast<char>(c);
  line += '"';
}

struct Word {
  std::string text;
  bool quoted = false;
  bool is(const char *mark) const { return !quoted && text == mark; }
};

/// The quoted word that begins at `at`. False when it does not end.
bool readQuoted(const std::string &line, size_t &at, std::string &text) {
  for (++at; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] != '\\') {
      text += line[at];
    } else if (at + 1 < line.size() && (line[at + 1] == '"' || line[at + 1] == '\\')) {
      text += line[++at];
    } else {
      unsigned code = 0;
      if (at + 2 >= line.size() || std::from_chars(line.data() + at + 1, line.data() + at + 3, code, 16).ptr != line.data() + at + 3)
        return false;
      text += static_cast<char>(code);
      at += 2;
    }
  }
  return at++ < line.size();
}

bool split(const std::string &line, std::vector<Word> &words) {
  for (size_t at = 0; at < line.size();) {
    Word word;
    if (line[at] == '"') {
      word.quoted = true;
      if (!readQuoted(line, at, word.text))
        return false;
    } else {
      size_t end = std::min(line.find(' ', at), line.size());
      word.text = line.substr(at, end - at);
      at = end;
      if (!isPlain(word.text) && !word.is("(") && !word.is(")") && !word.is("->") && !word.is(":"))
        return false;
    }
    words.push_back(std::move(word));
    if (at < line.size() && (line[at] != ' ' || ++at == line.size()))
      return false;
  }
  return true;
}

/// Walks over the words of a line.
class Words {
public:
  explicit Words(std::vector<Word> words) : words(std::move(words)) {}
  bool next(std::string &text) {
    if (at == words.size() || isMark())
      return false;
    text = words[at++].text;
    return true;
  }
  bool mark(const char *text) { return at < words.size() && words[at].is(text) && ++at; }
  bool named(NamedValues &values) {
    for (std::string word; next(word);) {
      size_t equals = word.find('=');
      if (equals == std::string::npos || equals == 0)
        return false;
      values.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
    return true;
  }
  bool atEnd() const { return at == words.size(); }

private:
  bool isMark() const { return words[at].is("(") || words[at].is(")") || words[at].is("->") || words[at].is(":"); }
  std::vector<Word> words;
  size_t at = 0;
};
} // namespace

std::string toLine(const TuneEntry &entry) {
  std::string line = "1";
  const TuneIdentity &identity = entry.identity;
  for (const std::string *word : {&identity.kernel, &identity.closure, &identity.device, &identity.architecture})
    append(line, *word);
  line += " (";
  for (const std::string &type : identity.types)
    append(line, type);
  line += " )";
  for (const auto &[name, value] : identity.key)
    append(line, name + "=" + value);
  line += " ->";
  NamedValues config = entry.config;
  std::sort(config.begin(), config.end());
  for (const auto &[name, value] : config)
    append(line, name + "=" + value);
  return line + fmt::format(" : {:.4g} s", entry.seconds);
}

bool parseLine(const std::string &line, TuneEntry &entry, std::string &error) {
  std::vector<Word> list;
  if (!split(line, list)) {
    error = "expected words between single spaces";
    return false;
  }
  Words words(std::move(list));
  entry = TuneEntry();
  std::string word;
  if (!words.next(word) || word != "1") {
    error = "expected the format's number, 1, first";
    return false;
  }
  TuneIdentity &identity = entry.identity;
  if (!words.next(identity.kernel) || !words.next(identity.closure) || !words.next(identity.device) || !words.next(identity.architecture) || !words.mark("(")) {
    error = "expected a kernel, its hash, a device, an architecture and `(`";
    return false;
  }
  while (words.next(word))
    identity.types.push_back(word);
  if (!words.mark(")") || !words.named(identity.key) || !words.mark("->") || !words.named(entry.config) || !words.mark(":")) {
    error = "expected types, `)`, NAME=VALUE of the key, `->`, NAME=VALUE of the configuration and `:`";
    return false;
  }
  if (words.next(word)) {
    auto parsed = std::from_chars(word.data(), word.data() + word.size(), entry.seconds);
    if (parsed.ptr == word.data() + word.size() && parsed.ec == std::errc() && std::isfinite(entry.seconds) && entry.seconds >= 0 && words.next(word) &&
        word == "s" && words.atEnd()) {
      std::sort(entry.config.begin(), entry.config.end());
      return true;
    }
  }
  error = "expected a time as in `1.5e-05 s` at the end";
  return false;
}

} // namespace tk::runtime
