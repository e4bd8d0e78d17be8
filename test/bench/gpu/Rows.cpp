// See Rows.h.
#include "test/bench/gpu/Rows.h"
#include "tk/dtype.h"
#include "tk/error.h"
#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

namespace tk::bench {

bool Settings::has(const std::string &name) const {
  return std::any_of(entries.begin(), entries.end(), [&](const auto &entry) { return entry.first == name; });
}

std::string Settings::text(const std::string &name, const std::string &otherwise) const {
  for (const auto &[key, value] : entries)
    if (key == name)
      return value;
  return otherwise;
}

int64_t Settings::number(const std::string &name, int64_t otherwise) const { return has(name) ? std::strtoll(text(name).c_str(), nullptr, 10) : otherwise; }

void Settings::set(const std::string &name, const std::string &value) {
  for (auto &[key, old] : entries)
    if (key == name) {
      old = value;
      return;
    }
  entries.emplace_back(name, value);
}

std::string Settings::line() const {
  std::string result;
  for (const auto &[key, value] : entries)
    result += fmt::format("{}{}={}", result.empty() ? "" : " ", key, value);
  return result;
}

static Settings settingsOf(std::istringstream &words, const std::string &where) {
  Settings result;
  std::string word;
  while (words >> word) {
    size_t equals = word.find('=');
    if (equals == std::string::npos)
      throw Error(ErrorKind::User, fmt::format("{}: expected NAME=VALUE, found `{}`", where, word));
    result.set(word.substr(0, equals), word.substr(equals + 1));
  }
  return result;
}

GpuRows GpuRows::read(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    throw Error(ErrorKind::User, fmt::format("`{}` can't be read", path));
  GpuRows result;
  std::string text;
  for (unsigned number = 1; std::getline(file, text); ++number) {
    std::string where = fmt::format("{}:{}", path, number), what, name;
    std::istringstream words(text);
    if (text.empty() || text[0] == '#') {
      if (result.rows.empty() && result.tuning.empty())
        result.comments.push_back(text);
      continue;
    }
    words >> what;
    if (what == "row" || what == "tune")
      words >> name;
    Settings settings = settingsOf(words, where);
    if (what == "tune") {
      result.tuning.emplace_back(name, settings);
    } else if (what == "row") {
      GpuRow row;
      row.name = name;
      for (const auto &[key, value] : settings.pairs())
        if (key == "wanted")
          row.wanted = std::strtod(value.c_str(), nullptr);
        else
          row.work.set(key, value);
      result.rows.push_back(std::move(row));
    } else if (result.rows.empty()) {
      throw Error(ErrorKind::User, fmt::format("{}: `{}` belongs to no row", where, what));
    } else if (what == "ours") {
      result.rows.back().ours = {what, settings};
    } else {
      result.rows.back().peers.push_back({what, settings});
    }
  }
  return result;
}

void GpuRows::write(const std::string &path) const {
  std::ofstream file(path);
  for (const std::string &comment : comments)
    file << comment << "\n";
  for (const auto &[name, settings] : tuning)
    file << fmt::format("tune {} {}\n", name, settings.line());
  for (const GpuRow &row : rows) {
    file << fmt::format("\nrow {} {}{}\n", row.name, row.work.line(), row.wanted > 0 ? fmt::format(" wanted={}", row.wanted) : "");
    file << fmt::format("  ours {}\n", row.ours.config.line());
    for (const Side &peer : row.peers)
      file << fmt::format("  {}{}{}\n", peer.name, peer.config.pairs().empty() ? "" : " ", peer.config.line());
  }
  if (!file)
    throw Error(ErrorKind::User, fmt::format("`{}` can't be written", path));
}

std::vector<Settings> GpuRows::candidates(const GpuRow &row, const std::string &side) const {
  const Settings *values = nullptr;
  for (const auto &[name, settings] : tuning)
    if (name == row.work.text("kind") + "/" + side || (!values && name == row.work.text("kind") && (side == "ours" || side == "triton")))
      values = &settings;
  if (!values)
    return {};
  const Settings &stored =
      side == "ours" ? row.ours.config : std::find_if(row.peers.begin(), row.peers.end(), [&](const Side &peer) { return peer.name == side; })->config;
  std::vector<Settings> result = {stored};
  for (const auto &[name, list] : values->pairs()) {
    std::vector<Settings> longer;
    std::istringstream items(list);
    for (std::string item; std::getline(items, item, ',');)
      for (Settings settings : result) {
        settings.set(name, item);
        longer.push_back(settings);
      }
    result = std::move(longer);
  }
  return result;
}

void shrink(GpuRow &row) {
  const auto limit = [&](const char *name, int64_t most) {
    if (row.work.has(name))
      if (int64_t value = row.work.number(name); value > most)
        row.work.set(name, std::to_string(value % 16 == 0 ? most : most - 2 + value % 2));
  };
  limit("n", 4096), limit("rows", 3), limit("cols", 256);
  limit("M", 64), limit("N", 64), limit("K", 64);
  limit("batch", 1), limit("heads", 2), limit("length", 64);
  for (const char *name : {"BLOCK_M", "BLOCK_N", "BLOCK_K"})
    if (row.ours.config.number(name) > 32)
      row.ours.config.set(name, "32");
  if (row.ours.config.number("num_warps") > 8)
    row.ours.config.set("num_warps", "8");
}

static double elementBytes(const Settings &work) {
  DType type = DType::F32;
  if (!parseDType(work.text("dtype"), type))
    throw Error(ErrorKind::User, fmt::format("`{}` is no element type", work.text("dtype")));
  return tk::bytesOf(type);
}

double bytesOf(const Settings &work) {
  const std::string kind = work.text("kind");
  const auto size = [&](const char *name) { return static_cast<double>(work.number(name)); };
  double elements = 0;
  if (kind == "vector_add")
    elements = 3 * size("n");
  else if (kind == "softmax" || kind == "layer_norm")
    elements = 2 * size("rows") * size("cols");
  else if (kind == "matmul")
    elements = size("M") * size("K") + size("K") * size("N") + size("M") * size("N");
  else if (kind == "attention")
    elements = 4 * size("batch") * size("heads") * size("length") * size("D");
  return elements * elementBytes(work);
}

double operationsOf(const Settings &work) {
  const auto size = [&](const char *name) { return static_cast<double>(work.number(name)); };
  if (work.text("kind") == "matmul")
    return 2 * size("M") * size("N") * size("K");
  if (work.text("kind") == "attention")
    return 4 * size("batch") * size("heads") * size("length") * size("length") * size("D") / (work.number("causal") ? 2 : 1);
  return 0;
}

} // namespace tk::bench
