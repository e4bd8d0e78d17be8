// Signature texts: "*fp32:16, i32, 1024, BLOCK=1024".
#include "lang/sema/ConstText.h"
#include "lang/sema/ParamSpecs.h"
#include "lang/sema/TypeSpelling.h"
#include "lang/syntax/Parser.h"
#include "llvm/ADT/StringExtras.h"

namespace tk::lang {

std::optional<SpelledType> parseTypeSpelling(std::string_view view) {
  llvm::StringRef text = llvm::StringRef(view).trim();
  SpelledType result;
  auto [body, hint] = text.split(':');
  if (text.contains(':') && (hint.trim().getAsInteger(10, result.divisibility) || (result.divisibility != 1 && result.divisibility != 16)))
    return std::nullopt;
  body = body.trim();
  while (body.consume_front("*"))
    ++result.type.pointerDepth;
  if (result.type.pointerDepth && body.consume_front("k"))
    result.type.isConst = true;
  body.consume_front("tl.");
  if (body == "B" || body == "u1") {
    result.type.dtype = DType::I1;
    return result;
  }
  if (!parseDType(std::string_view(body.data(), body.size()), result.type.dtype))
    return std::nullopt;
  return result;
}

namespace {
struct Entry {
  SourceRange range;
  std::string name; // empty: by position
  std::string text;
};
} // namespace

/// Splits at commas outside brackets and quotes.
static std::vector<Entry> split(const SourceFile &file) {
  std::string_view text = file.text();
  std::vector<Entry> entries;
  unsigned depth = 0;
  char quote = 0;
  size_t begin = 0;
  auto finish = [&](size_t end) {
    llvm::StringRef piece(text.data() + begin, end - begin);
    llvm::StringRef body = piece.trim();
    Entry entry;
    entry.range.begin = static_cast<uint32_t>(begin + static_cast<size_t>(body.data() - piece.data()));
    entry.range.end = static_cast<uint32_t>(entry.range.begin + body.size());
    llvm::StringRef name = body.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    llvm::StringRef rest = body.substr(name.size()).ltrim();
    if (!name.empty() && !llvm::isDigit(name[0]) && rest.starts_with("=") && !rest.starts_with("==")) {
      entry.name = name.str();
      body = rest.drop_front().trim();
    }
    entry.text = body.str();
    entries.push_back(std::move(entry));
    begin = end + 1;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote) {
      if (c == quote)
        quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      depth -= depth ? 1 : 0;
    } else if (c == ',' && !depth) {
      finish(i);
    }
  }
  if (!llvm::StringRef(text.data() + begin, text.size() - begin).trim().empty())
    finish(text.size());
  return entries;
}

static std::optional<ConstValue> constantEntry(const ModuleScope &scope, const Entry &entry, const SourceFile &file, Diagnostics &diagnostics) {
  // Parsed in place, so that messages point into the signature.
  std::string padded(entry.range.end - entry.text.size(), ' ');
  auto copy = std::make_shared<SourceFile>(file.name(), padded + entry.text);
  Diagnostics own;
  ast::ExprPtr expr = parseExpression(*copy, own);
  std::optional<ConstValue> value;
  if (expr) {
    HostEvaluator evaluator(&scope, own, 1'000'000);
    value = evaluator.evaluate(*expr, *copy);
  }
  if (!value)
    diagnostics.report(Diag::SignatureEntry, {&file, entry.range}, entry.text, own.messages().empty() ? std::string("not a type or a constant") : own.messages()[0].text);
  return value;
}

static std::optional<ParamSpec> entrySpec(const ModuleScope &scope, const Entry &entry, const std::optional<Annotation> &annotation, const SourceFile &file, Diagnostics &diagnostics) {
  ParamSpec spec;
  bool wantsConstant = annotation && annotation->isConstexpr;
  std::optional<SpelledType> type = wantsConstant ? std::nullopt : parseTypeSpelling(entry.text);
  if (!type) {
    std::optional<ConstValue> value = constantEntry(scope, entry, file, diagnostics);
    if (!value)
      return std::nullopt;
    spec.value = *value;
    return spec;
  }
  spec.type = type->type;
  spec.divisibility = type->divisibility;
  spec.kind = ParamSpec::Scalar;
  if (spec.type.pointerDepth) {
    spec.kind = ParamSpec::Pointer;
    --spec.type.pointerDepth;
  }
  return spec;
}

std::optional<std::vector<ParamSpec>> parseSignature(const ModuleScope &scope, const ast::Function &kernel, const SourceFile &file, Diagnostics &diagnostics) {
  size_t count = kernel.params.size(), next = 0;
  std::vector<std::optional<ParamSpec>> specs(count);
  std::vector<bool> given(count);
  bool ok = true;
  for (const Entry &entry : split(file)) {
    size_t index = next;
    if (!entry.name.empty()) {
      std::vector<std::string> names;
      for (index = 0; index < count && kernel.params[index].name != entry.name; ++index)
        names.push_back(kernel.params[index].name);
      if (index == count) {
        std::string near = nearest(entry.name, names);
        diagnostics.report(Diag::NoSuchParameter, {&file, entry.range}, kernel.name, entry.name, near.empty() ? "" : fmt::format("; did you mean `{}`?", near));
        ok = false;
        continue;
      }
    } else if (next++ >= count) {
      diagnostics.report(Diag::SignatureTooLong, {&file, entry.range}, kernel.name, count);
      ok = false;
      break;
    }
    if (given[index]) {
      diagnostics.report(Diag::SignatureTwice, {&file, entry.range}, kernel.params[index].name);
      ok = false;
      continue;
    }
    given[index] = true;
    specs[index] = entrySpec(scope, entry, annotationOf(scope, kernel.params[index], diagnostics), file, diagnostics);
    ok = ok && specs[index];
  }
  std::vector<ParamSpec> result;
  for (size_t i = 0; i < count; ++i) {
    const ast::Parameter &param = kernel.params[i];
    if (!given[i] && param.defaultValue) {
      HostEvaluator evaluator(&scope, diagnostics, 1'000'000);
      if (std::optional<ConstValue> value = evaluator.evaluate(*param.defaultValue, scope.file()))
        specs[i].emplace().value = *value;
    } else if (!given[i]) {
      diagnostics.report(Diag::SignatureMissing, {&file, {0, static_cast<uint32_t>(file.text().size())}}, kernel.name, param.name);
      diagnostics.report(Diag::DeclaredHere, {&scope.file(), param.range}, param.name);
    }
    ok = ok && specs[i];
    if (specs[i])
      result.push_back(std::move(*specs[i]));
  }
  if (!ok)
    return std::nullopt;
  return result;
}

} // namespace tk::lang
