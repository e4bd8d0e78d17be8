// Remarks in words and as JSON: the one place where facts become text.
#include "compiler/Remarks.h"
#include "llvm/Support/JSON.h"
#include <algorithm>
#include <fmt/format.h>

namespace tk::compiler {

const char *nameOf(RemarkKind kind) {
  switch (kind) {
#define TK_REMARK(kind, name) \
  case RemarkKind::kind: return name;
#include "compiler/Remarks.def"
  }
  return "";
}

static const Fact *find(const Remark &remark, std::string_view name) {
  auto fact = std::find_if(remark.facts.begin(), remark.facts.end(), [&](const Fact &each) { return each.name == name; });
  return fact == remark.facts.end() ? nullptr : &*fact;
}

bool Remark::has(std::string_view name) const { return find(*this, name); }

int64_t Remark::number(std::string_view name, int64_t otherwise) const {
  const Fact *fact = find(*this, name);
  const int64_t *number = fact ? std::get_if<int64_t>(&fact->value) : nullptr;
  return number ? *number : otherwise;
}

std::string_view Remark::text(std::string_view name, std::string_view otherwise) const {
  const Fact *fact = find(*this, name);
  const std::string *text = fact ? std::get_if<std::string>(&fact->value) : nullptr;
  return text ? std::string_view(*text) : otherwise;
}

void settle(Remarks &remarks) {
  Remarks settled;
  for (Remark &remark : remarks) {
    auto same = std::find_if(settled.begin(), settled.end(), [&](const Remark &other) {
      return other.kind == remark.kind && other.file == remark.file && other.line == remark.line && other.column == remark.column &&
             other.facts == remark.facts;
    });
    if (same == settled.end())
      settled.push_back(std::move(remark));
    else
      same->count += remark.count;
  }
  std::stable_sort(settled.begin(), settled.end(),
                   [](const Remark &a, const Remark &b) { return std::tie(a.file, a.line, a.column) < std::tie(b.file, b.line, b.column); });
  remarks = std::move(settled);
}

// ---- words ----

static std::string plural(int64_t count, std::string_view one, std::string_view many) { return fmt::format("{} {}", count, count == 1 ? one : many); }

static std::string accessSentence(const Remark &remark) {
  std::string_view operation = remark.text("operation"), verb = operation == "load"    ? "loads"
                                                                     : operation == "store" ? "stores"
                                                                     : operation == "copy"  ? "fetches ahead into shared memory"
                                                                                            : "updates";
  int64_t elements = remark.number("elements"), run = remark.number("run");
  std::string_view limit = remark.text("limit");
  if (limit == "scalar")
    return fmt::format("{} one element of {} bits", verb, remark.number("bits"));
  std::string text =
      fmt::format("{} {} x {} bits an access, {} a thread", verb, elements, remark.number("bits"), plural(remark.number("accesses"), "access", "accesses"));
  if (limit == "alignment")
    text += fmt::format("; the address is only known to be a multiple of {}", plural(remark.number("aligned"), "byte", "bytes"));
  else if (limit == "neighbours")
    text += run == 1 ? std::string("; no elements are known to be neighbours in memory")
                     : fmt::format("; only runs of {} elements are known to be neighbours in memory", run);
  else if (limit == "mask")
    text += fmt::format("; the mask is only known to be the same for runs of {}", plural(remark.number("uniform"), "element", "elements"));
  else if (limit == "small")
    text += "; the tile has no more for a thread";
  else if (limit == "layout")
    text += "; the value lies in a layout with no more neighbours in a thread";
  if (remark.has("annotate"))
    text += fmt::format(": annotate {}, or pass multiples of 16", remark.text("annotate"));
  if (remark.has("used"))
    text += fmt::format("; {} % of the bytes of each memory sector are used", remark.number("used"));
  return text;
}

static std::string rowSentence(const Remark &remark) {
  return fmt::format("{} the row from the aligned address before its beginning, {} x {} bits an access, where all accesses agree and the row leaves room",
                     remark.text("operation") == "store" ? "stores" : "loads", remark.number("elements"), remark.number("bits"));
}

static std::string productSize(const Remark &remark) {
  std::string batch = remark.number("batch", 1) > 1 ? fmt::format("{} x ", remark.number("batch")) : "";
  return fmt::format("{}{} x {} x {} of {} and {} into {}", batch, remark.number("m"), remark.number("n"), remark.number("k"), remark.text("a"),
                     remark.text("b"), remark.text("sum"));
}

static std::string matrixSentence(const Remark &remark) {
  if (remark.has("reason"))
    return fmt::format("multiplies {} by {}: {}", productSize(remark), remark.text("unit"), remark.text("reason"));
  return fmt::format("multiplies {} by {}, {} a warp, warps {}", productSize(remark), remark.text("unit"),
                     plural(remark.number("instructions"), "instruction", "instructions"), remark.text("warps"));
}

static std::string conversionSentence(const Remark &remark) {
  auto place = [&](const char *role, const char *line) {
    return fmt::format("`{}`{}", remark.text(role), remark.has(line) ? fmt::format(" of line {}", remark.number(line)) : std::string());
  };
  std::string way;
  if (int64_t selects = remark.number("selects"); remark.number("shuffles"))
    way = fmt::format("through {}{}", plural(remark.number("shuffles"), "shuffle", "shuffles"), selects ? " and " + plural(selects, "select", "selects") : "");
  else if (remark.has("shuffles"))
    way = fmt::format("by {} within each thread", plural(selects, "select", "selects"));
  else
    way = fmt::format("through {} bytes of shared memory{}", remark.number("bytes"),
                      remark.has("rounds") ? fmt::format(" in {} rounds", remark.number("rounds")) : std::string());
  return fmt::format("moves {} of {} {}, from the layout of {} to that of {}", remark.text("shape"), remark.text("element"), way, place("from", "from-line"),
                     place("to", "to-line"));
}

static std::string bodyOf(const Remark &remark) {
  switch (remark.kind) {
  case RemarkKind::Access: return accessSentence(remark);
  case RemarkKind::Row: return rowSentence(remark);
  case RemarkKind::Matrix: return matrixSentence(remark);
  case RemarkKind::Conversion: return conversionSentence(remark);
  case RemarkKind::Recomputed:
    return fmt::format("`{}` is computed again in each of {} layouts, {} operations an element", remark.text("operation"), remark.number("layouts"),
                       remark.number("cost"));
  case RemarkKind::Warps:
    return fmt::format("is executed by {} warps of its own, from warp {} of the block on{}", remark.number("warps"), remark.number("first"),
                       remark.has("registers") ? fmt::format(", with {} registers a thread", remark.number("registers"))
                       : remark.has("reason")  ? fmt::format("; {} registers a thread can't be had: {}", remark.number("wanted"), remark.text("reason"))
                                               : std::string());
  case RemarkKind::Shared:
    return fmt::format("takes {} bytes of shared memory from {} on, for {}", remark.number("bytes"), remark.number("offset"), remark.text("use"));
  }
  return "";
}

std::string sentence(const Remark &remark) {
  std::string text = bodyOf(remark);
  return remark.count > 1 ? fmt::format("{} ({} times)", text, remark.count) : text;
}

std::string toText(const Remarks &remarks) {
  std::string text;
  for (const Remark &remark : remarks)
    text += fmt::format("{}:{}:{}: remark: {}\n", remark.file, remark.line, remark.column, sentence(remark));
  return text;
}

std::string toJson(const Remarks &remarks) {
  llvm::json::Array list;
  for (const Remark &remark : remarks) {
    llvm::json::Object facts;
    for (const Fact &fact : remark.facts)
      if (const int64_t *number = std::get_if<int64_t>(&fact.value))
        facts[fact.name] = *number;
      else
        facts[fact.name] = llvm::json::fixUTF8(std::get<std::string>(fact.value));
    list.push_back(llvm::json::Object{{"kind", nameOf(remark.kind)},
                                      {"file", llvm::json::fixUTF8(remark.file)},
                                      {"line", remark.line},
                                      {"column", remark.column},
                                      {"count", remark.count},
                                      {"text", llvm::json::fixUTF8(sentence(remark))},
                                      {"facts", std::move(facts)}});
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::formatv("{0:2}", llvm::json::Value(std::move(list)));
  return text;
}

} // namespace tk::compiler
