// See Closure.h.
//
// What is reached is numbered in the order in which it is met, and a reference is hashed as that number: so it does not matter where things stand or what else there is.
#include "lang/sema/Closure.h"
#include "lang/sema/ConstText.h"
#include "lang/sema/ModuleScope.h"
#include "lang/sema/SyntaxFacts.h"
#include "lang/syntax/AstWalk.h"
#include "lang/syntax/Lexer.h"
#include "runtime/cache/ContentHash.h"
#include <set>

namespace tk::lang {

namespace {
using Visit = std::function<void(const ast::Expr &)>;

void walk(const ast::Expr &expr, const Visit &visit) {
  visit(expr);
  ast::forEachChild(expr, [&](const ast::Expr &child) { walk(child, visit); });
}
/// Decorators that say how a kernel is launched; the others say what it is.
bool isOfLaunch(const ast::Expr &decorator) {
  std::string name = decoratorName(decorator);
  return name == "grid" || name == "example" || name == "autotune" || name == "heuristics";
}

/// The tokens of a file, by their place.
class FileTokens {
public:
  explicit FileTokens(const SourceFile &file) : file(file) {
    Diagnostics quiet;
    Lexer lexer(file, quiet);
    for (Token token = lexer.next(); token.kind != Tok::EndOfFile; token = lexer.next())
      if (token.range.begin < token.range.end && !file.text(token.range).starts_with('\n') && !file.text(token.range).starts_with('\r'))
        tokens.push_back(token);
  }
  /// `first`: the offset whose line counts as 0.
  void hash(runtime::ContentHash &hash, SourceRange range, uint32_t first) const {
    uint32_t start = file.position(first).line;
    auto at = std::lower_bound(tokens.begin(), tokens.end(), range.begin, [](const Token &token, uint32_t offset) { return token.range.begin < offset; });
    for (; at != tokens.end() && at->range.begin < range.end; ++at) {
      LineColumn place = file.position(at->range.begin);
      hash.add(uint64_t(place.line - start) << 32 | place.column);
      hash.add(file.text(at->range));
    }
    hash.add(std::string_view("end"));
  }

private:
  const SourceFile &file;
  std::vector<Token> tokens;
};

/// One function, class, lambda or constant of a file.
struct Item {
  const ModuleScope *scope = nullptr;
  const ast::Function *function = nullptr;
  const ast::Class *classNode = nullptr;
  const ast::Expr *expr = nullptr;
  const void *node() const { return function ? static_cast<const void *>(function) : classNode ? static_cast<const void *>(classNode) : expr; }
};

using TokenFiles = std::map<const ModuleScope *, std::unique_ptr<FileTokens>>;

class ClosureHash {
public:
  explicit ClosureHash(TokenFiles &files) : files(files) {}
  std::string of(Item item) {
    number(item);
    for (size_t i = 0; i < items.size(); ++i) // grows meanwhile
      add(Item(items[i]));
    return hash.hex();
  }

private:
  uint64_t number(const Item &item) {
    auto [it, isNew] = numbers.try_emplace(item.node(), items.size());
    if (isNew)
      items.push_back(item);
    return it->second;
  }
  const FileTokens &tokensOf(const ModuleScope &scope) {
    std::unique_ptr<FileTokens> &tokens = files[&scope];
    if (!tokens)
      tokens = std::make_unique<FileTokens>(scope.file());
    return *tokens;
  }

  void add(const Item &item);
  void addReferences(const Item &item);
  void addName(const ModuleScope &scope, const std::string &name);
  void addValue(const ConstValue &value, const ModuleScope &home);

  runtime::ContentHash hash;
  std::vector<Item> items;
  std::map<const void *, uint64_t> numbers;
  TokenFiles &files;
};

void ClosureHash::add(const Item &item) {
  const FileTokens &tokens = tokensOf(*item.scope);
  hash.add(uint64_t(item.scope->isPython()));
  if (auto *function = item.function) {
    for (const ast::ExprPtr &decorator : function->decorators)
      if (!isOfLaunch(*decorator))
        tokens.hash(hash, decorator->range, decorator->range.begin);
    tokens.hash(hash, function->range, function->range.begin);
  } else {
    SourceRange range = item.classNode ? item.classNode->range : item.expr->range;
    tokens.hash(hash, range, range.begin);
  }
  addReferences(item);
}

/// The names that code mentions and does not bind itself, in order of the text. A name counts as bound once a statement before has assigned it on every path: until then the
/// elaborator finds the module's.
class FreeNames {
public:
  std::vector<std::string> names;
  std::set<std::string> bound;

  void note(const ast::Expr &expr) {
    walk(expr, [&](const ast::Expr &inner) {
      if (auto *name = ast::dyn<ast::Name>(&inner); name && !bound.count(name->id) && seen.insert(name->id).second)
        names.push_back(name->id);
    });
  }
  void note(const ast::Block &block) {
    for (const ast::StmtPtr &statement : block)
      note(*statement);
  }
  void note(const ast::Stmt &statement) {
    if (auto *assign = ast::dyn<ast::Assign>(&statement)) {
      note(*assign->value);
      for (const ast::ExprPtr &target : assign->targets)
        if (target->kind != ast::ExprKind::Name)
          note(*target);
      for (const ast::ExprPtr &target : assign->targets)
        if (auto *name = ast::dyn<ast::Name>(target.get()))
          bound.insert(name->id);
      return;
    }
    auto *loop = ast::dyn<ast::For>(&statement);
    std::set<std::string> before = bound;
    if (loop) {
      note(*loop->iterable);
      collectTargets(*loop->target, bound);
    } else {
      ast::forEachExpr(statement, [&](const ast::Expr &expr) { note(expr); });
    }
    std::set<std::string> inside = bound;
    ast::forEachBlock(statement, [&](const ast::Block &block) {
      bound = inside;
      note(block);
    });
    bound = std::move(before);
  }

private:
  std::set<std::string> seen;
};

void ClosureHash::addReferences(const Item &item) {
  FreeNames free;
  if (auto *function = item.function) {
    for (const ast::ExprPtr &decorator : function->decorators)
      if (!isOfLaunch(*decorator))
        free.note(*decorator);
    for (const ast::Parameter &parameter : function->params)
      for (const ast::ExprPtr *expr : {&parameter.annotation, &parameter.defaultValue})
        if (*expr)
          free.note(**expr);
    for (const ast::Parameter &parameter : function->params)
      free.bound.insert(parameter.name);
    free.note(function->body);
  } else if (item.classNode) {
    free.note(*item.classNode);
  } else {
    free.note(*item.expr);
  }
  for (const std::string &name : free.names)
    addName(*item.scope, name);
}

void ClosureHash::addName(const ModuleScope &scope, const std::string &name) {
  Definition definition = definitionOf(scope, name);
  Diagnostics quiet;
  std::optional<ConstValue> value = scope.lookup(name, quiet);
  if (!value && !definition.value)
    return; // a local variable, or a name of the language
  hash.add(name);
  if (definition.classNode)
    return hash.add(number({&scope, nullptr, definition.classNode, nullptr}));
  auto *builtin = value ? value->get<BuiltinValue>() : nullptr;
  bool isUnknown = !value || (builtin && builtin->name.starts_with('?'));
  if (definition.value && isUnknown)
    return hash.add(number({&scope, nullptr, nullptr, definition.value}));
  if (definition.value)
    hash.add(uint64_t(isPlainConstant(scope, name)));
  addValue(*value, scope);
}

void ClosureHash::addValue(const ConstValue &value, const ModuleScope &home) {
  hash.add(uint64_t(value.data.index()));
  if (auto *function = value.get<FunctionValue>()) {
    const ModuleScope *scope = function->scope ? function->scope : &home;
    if (scope->file().name().starts_with("<library>/"))
      return hash.add(function->function ? function->function->name : "");
    return hash.add(number({scope, function->function, nullptr, function->lambda}));
  }
  if (auto *tuple = value.asTuple()) {
    hash.add(uint64_t(tuple->elements.size()) << 1 | tuple->isList);
    for (const std::string &field : tuple->fields)
      hash.add(field);
    for (const ConstValue &element : tuple->elements)
      addValue(element, home);
    return;
  }
  if (auto *dict = value.asDict()) {
    hash.add(uint64_t(dict->size()));
    for (const auto &[key, element] : *dict)
      addValue(key, home), addValue(element, home);
    return;
  }
  if (auto *number = value.get<double>())
    return hash.add(llvm::bit_cast<uint64_t>(*number));
  if (auto *builtin = value.get<BuiltinValue>())
    return hash.add(builtin->name);
  hash.add(value.repr());
}
} // namespace

struct Closures::Impl {
  TokenFiles files;
};

Closures::Closures() : impl(std::make_unique<Impl>()) {}
Closures::~Closures() = default;

std::string Closures::of(const ModuleScope &scope, const ast::Function &function) { return ClosureHash(impl->files).of({&scope, &function, nullptr, nullptr}); }

} // namespace tk::lang
