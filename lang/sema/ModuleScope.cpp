// The module-level names of a file: functions, constants, imports.
//
// Host code may stand around kernels, so the scan is tolerant: it enters the branches of module-level `if` and `try` (the first definition that can be
// understood wins) and remembers everything else as a name whose value is evaluated when a kernel asks for it.
#include "lang/sema/ModuleScope.h"
#include "lang/sema/LanguageNames.h"
#include "lang/sema/Library.h"
#include "lang/sema/SyntaxFacts.h"
#include "lang/syntax/AstWalk.h"
#include "lang/syntax/Parser.h"
#include <mutex>

namespace tk::lang {

namespace {
enum class EntryKind { Function, Class, Constant, Module, Member };

struct Entry {
  EntryKind kind = EntryKind::Constant;
  const ast::Function *function = nullptr;
  const ast::Class *classNode = nullptr;
  const ast::Expr *value = nullptr, *annotation = nullptr;
  const ast::Expr *tupleTarget = nullptr; // `A, B = 1, 2`: the target that `value` is unpacked into
  std::string module, member;             // Module: dotted path; Member: `from module import member`
  unsigned level = 0;                     // leading dots
  std::vector<const ast::Stmt *> history; // the module's statements that make the value, when it takes more than `value`: `configs = []`, `for ...: configs.append(...)`
  bool evaluating = false, known = false;
  std::optional<ConstValue> cached;
};
} // namespace

struct ModuleScope::Impl {
  std::map<std::string, Entry> entries;
  std::vector<std::string> starImports;
  std::recursive_mutex lock;
  std::map<std::string, std::shared_ptr<ModuleScope>> imported; // by path; null: not found
  unsigned importDepth = 0;
  bool isLibrary = false;

  void scan(const ast::Block &block, bool override);
  void findHistories(const ast::Block &block);
  void define(const std::string &name, Entry entry, bool override);
  void target(const ast::Expr &target, const ast::Expr *whole, const ast::Expr *value, const ast::Expr *annotation, bool override);
};

void ModuleScope::Impl::define(const std::string &name, Entry entry, bool override) {
  auto it = entries.find(name);
  if (it != entries.end() && !override) {
    // A module that is not the language's gives way: `try: import torch_npu ... except: ...`.
    bool foreign = it->second.kind == EntryKind::Module && languageModule(it->second.module).empty();
    if (!foreign)
      return;
  }
  entries[name] = std::move(entry);
}

void ModuleScope::Impl::target(const ast::Expr &target, const ast::Expr *whole, const ast::Expr *value, const ast::Expr *annotation, bool override) {
  if (auto *name = ast::dyn<ast::Name>(&target)) {
    Entry entry;
    entry.value = value;
    entry.annotation = annotation;
    entry.tupleTarget = whole;
    return define(name->id, std::move(entry), override);
  }
  if (auto *tuple = ast::dyn<ast::Tuple>(&target))
    for (const auto &element : tuple->elements)
      this->target(*element, whole ? whole : &target, value, annotation, override);
}

void ModuleScope::Impl::scan(const ast::Block &block, bool override) {
  for (const ast::StmtPtr &statement : block) {
    const ast::Stmt *node = statement.get();
    if (auto *function = ast::dyn<ast::Function>(node)) {
      Entry entry;
      entry.kind = EntryKind::Function;
      entry.function = function;
      define(function->name, std::move(entry), override);
    } else if (auto *classNode = ast::dyn<ast::Class>(node)) {
      Entry entry;
      entry.kind = EntryKind::Class;
      entry.classNode = classNode;
      define(classNode->name, std::move(entry), override);
    } else if (auto *assign = ast::dyn<ast::Assign>(node)) {
      for (const auto &t : assign->targets)
        target(*t, nullptr, assign->value.get(), nullptr, override);
    } else if (auto *annotated = ast::dyn<ast::AnnAssign>(node)) {
      if (annotated->value)
        target(*annotated->target, nullptr, annotated->value.get(), annotated->annotation.get(), override);
    } else if (auto *import = ast::dyn<ast::Import>(node)) {
      for (const ast::ImportedName &name : import->names) {
        Entry entry;
        entry.kind = EntryKind::Module;
        entry.module = name.asName.empty() ? name.name.substr(0, name.name.find('.')) : name.name;
        std::string bound = name.asName.empty() ? entry.module : name.asName;
        define(bound, std::move(entry), override);
      }
    } else if (auto *from = ast::dyn<ast::ImportFrom>(node)) {
      for (const ast::ImportedName &name : from->names) {
        if (name.name == "*") {
          starImports.push_back(from->module);
          continue;
        }
        Entry entry;
        entry.kind = EntryKind::Member;
        entry.module = from->module;
        entry.level = from->level;
        entry.member = name.name;
        define(name.asName.empty() ? name.name : name.asName, std::move(entry), override);
      }
    } else if (auto *branch = ast::dyn<ast::If>(node)) {
      scan(branch->then, false);
      scan(branch->orelse, false);
    } else if (auto *attempt = ast::dyn<ast::Try>(node)) {
      scan(attempt->body, false);
      for (const auto &handler : attempt->handlers)
        scan(handler.body, false);
      scan(attempt->orelse, false);
    }
  }
}

/// The names that a statement changes other than by an assignment of its own: `n += 1`, `xs.append(1)`, `d["k"] = 2`, and whatever a loop assigns.
static void collectChanged(const ast::Stmt &statement, bool inLoop, std::set<std::string> &names) {
  auto note = [&](const ast::Expr *expr) {
    if (auto *name = ast::dyn<ast::Name>(expr))
      names.insert(name->id);
  };
  if (auto *augmented = ast::dyn<ast::AugAssign>(&statement)) {
    note(augmented->target.get());
  } else if (auto *assign = ast::dyn<ast::Assign>(&statement)) {
    for (const ast::ExprPtr &target : assign->targets)
      if (auto *item = ast::dyn<ast::Subscript>(target.get()))
        note(item->value.get());
      else if (inLoop)
        collectTargets(*target, names);
  } else if (auto *expression = ast::dyn<ast::ExprStmt>(&statement)) {
    auto *call = ast::dyn<ast::Call>(expression->value.get());
    static const std::set<std::string> changes = {"append", "extend", "insert", "pop", "remove", "reverse", "clear", "sort", "update", "setdefault"};
    if (auto *method = call ? ast::dyn<ast::Attribute>(call->callee.get()) : nullptr; method && changes.count(method->attr))
      note(method->value.get());
  }
  if (statement.kind == ast::StmtKind::Function || statement.kind == ast::StmtKind::Class)
    return;
  bool loops = inLoop || statement.kind == ast::StmtKind::For || statement.kind == ast::StmtKind::While;
  ast::forEachBlock(statement, [&](const ast::Block &block) {
    for (const ast::StmtPtr &inner : block)
      collectChanged(*inner, loops, names);
  });
}

/// `if __name__ == "__main__":` is of the host's program, not of the module.
static bool isMainProgram(const ast::Stmt &statement) {
  auto *branch = ast::dyn<ast::If>(&statement);
  auto *compare = branch ? ast::dyn<ast::Compare>(branch->condition.get()) : nullptr;
  auto *name = compare ? ast::dyn<ast::Name>(compare->first.get()) : nullptr;
  return name && name->id == "__name__";
}

void ModuleScope::Impl::findHistories(const ast::Block &block) {
  std::map<std::string, std::vector<const ast::Stmt *>> statements;
  std::set<std::string> changed;
  for (const ast::StmtPtr &statement : block) {
    std::set<std::string> names, changes;
    if (isMainProgram(*statement))
      continue;
    collectChanged(*statement, false, changes);
    names = changes;
    if (auto *assign = ast::dyn<ast::Assign>(statement.get()))
      for (const ast::ExprPtr &target : assign->targets)
        collectTargets(*target, names);
    if (auto *annotated = ast::dyn<ast::AnnAssign>(statement.get()); annotated && annotated->value)
      collectTargets(*annotated->target, names);
    for (const std::string &name : names)
      statements[name].push_back(statement.get());
    changed.insert(changes.begin(), changes.end());
  }
  for (const std::string &name : changed)
    if (auto it = entries.find(name); it != entries.end() && it->second.kind == EntryKind::Constant)
      it->second.history = statements[name];
}

ModuleScope::ModuleScope(ast::Module tree, bool isPython) : module(std::move(tree)), python(isPython), state(std::make_unique<Impl>()) {
  state->isLibrary = module.file->name().rfind("<library>/", 0) == 0;
  state->scan(module.body, true);
  state->findHistories(module.body);
}

ModuleScope::~ModuleScope() = default;

/// The module `path` (with `level` leading dots) as another file beside this one; null when there is none.
static const ModuleScope *importFile(const ModuleScope &scope, const std::string &path, unsigned level, Diagnostics &diagnostics) {
  ModuleScope::Impl &impl = scope.impl();
  if (impl.isLibrary)
    return libraryModule(path);
  if (impl.importDepth > 16 || path.empty())
    return nullptr;
  std::string folder = scope.file().name();
  size_t slash = folder.rfind('/');
  folder = slash == std::string::npos ? "" : folder.substr(0, slash + 1);
  for (unsigned i = 1; i < level; ++i)
    folder += "../";
  std::string relative = path;
  std::replace(relative.begin(), relative.end(), '.', '/');
  std::string key = folder + relative;
  auto found = impl.imported.find(key);
  if (found != impl.imported.end())
    return found->second.get();
  std::shared_ptr<ModuleScope> loaded;
  for (const char *extension : {".tk", ".py"}) {
    std::string error;
    std::shared_ptr<SourceFile> file = SourceFile::read(key + extension, error);
    if (!file)
      continue;
    loaded = std::make_shared<ModuleScope>(parse(file, diagnostics), extension == std::string(".py"));
    loaded->impl().importDepth = impl.importDepth + 1;
    break;
  }
  impl.imported[key] = loaded;
  return loaded.get();
}

static std::optional<ConstValue> memberOf(const ModuleScope &scope, const Entry &entry, Diagnostics &diagnostics) {
  if (entry.level == 0) {
    std::string known = languageModule(entry.module);
    if (!known.empty()) {
      std::string inner = languageModule(entry.module + "." + entry.member);
      return inner.empty() ? languageMember(known, entry.member) : ConstValue(BuiltinValue{inner, true});
    }
  }
  if (const ModuleScope *other = importFile(scope, entry.module, entry.level, diagnostics))
    return other->lookup(entry.member, diagnostics);
  if (entry.module.empty()) // from . import utils
    if (importFile(scope, entry.member, entry.level, diagnostics))
      return ConstValue(BuiltinValue{"?" + entry.member, true});
  // Some package's copy of libdevice, whatever the path to it is.
  if (entry.member == "libdevice" || entry.member == "tldevice")
    return ConstValue(BuiltinValue{"libdevice", true});
  if (entry.module.size() >= 9 && entry.module.compare(entry.module.size() - 9, 9, "libdevice") == 0)
    return languageMember("libdevice", entry.member);
  return ConstValue(BuiltinValue{"?" + entry.module + "." + entry.member, false});
}

/// The element of `value` that stands where `name` stands in `target`.
static std::optional<ConstValue> unpacked(const ast::Expr &target, const ConstValue &value, const std::string &name) {
  if (auto *single = ast::dyn<ast::Name>(&target))
    return single->id == name ? std::optional<ConstValue>(value) : std::nullopt;
  auto *tuple = ast::dyn<ast::Tuple>(&target);
  auto *elements = value.asTuple();
  if (!tuple || !elements || elements->elements.size() != tuple->elements.size())
    return std::nullopt;
  for (size_t i = 0; i < tuple->elements.size(); ++i)
    if (auto found = unpacked(*tuple->elements[i], elements->elements[i], name))
      return found;
  return std::nullopt;
}

std::optional<ConstValue> ModuleScope::lookup(const std::string &name, Diagnostics &diagnostics) const {
  std::lock_guard<std::recursive_mutex> guard(state->lock);
  auto it = state->entries.find(name);
  if (it == state->entries.end()) {
    for (const std::string &path : state->starImports) {
      std::string known = languageModule(path);
      std::optional<ConstValue> member = known.empty() ? std::nullopt : languageMember(known, name);
      if (!member)
        if (const ModuleScope *other = importFile(*this, path, 1, diagnostics))
          member = other->lookup(name, diagnostics);
      if (member)
        return member;
    }
    return std::nullopt;
  }
  Entry &entry = it->second;
  if (entry.known)
    return entry.cached;
  if (entry.evaluating)
    return std::nullopt;
  entry.evaluating = true;
  switch (entry.kind) {
  case EntryKind::Function: entry.cached = ConstValue(FunctionValue{this, entry.function, nullptr}); break;
  case EntryKind::Class: entry.cached = ConstValue(BuiltinValue{"class." + name, false}); break;
  case EntryKind::Module: {
    std::string known = languageModule(entry.module);
    entry.cached = ConstValue(BuiltinValue{known.empty() ? "?" + entry.module : known, true});
    break;
  }
  case EntryKind::Member: entry.cached = memberOf(*this, entry, diagnostics); break;
  case EntryKind::Constant: {
    Diagnostics own;
    HostEvaluator evaluator(this, own, 1'000'000);
    std::optional<ConstValue> value = entry.history.empty() ? evaluator.evaluate(*entry.value, file()) : evaluator.run(entry.history, name, file());
    if (value && entry.tupleTarget && entry.history.empty())
      value = unpacked(*entry.tupleTarget, *value, name);
    entry.cached = value ? *value : ConstValue(BuiltinValue{"?" + name, false}); // host code's value: an error where a kernel uses it
    break;
  }
  }
  entry.evaluating = false;
  entry.known = true;
  return entry.cached;
}

std::vector<std::string> ModuleScope::names() const {
  std::vector<std::string> names;
  for (const auto &[name, entry] : state->entries)
    names.push_back(name);
  return names;
}

const ast::Function *ModuleScope::function(const std::string &name) const {
  auto it = state->entries.find(name);
  return it == state->entries.end() || it->second.kind != EntryKind::Function ? nullptr : it->second.function;
}

bool isPlainConstant(const ModuleScope &scope, const std::string &name) {
  auto it = scope.impl().entries.find(name);
  if (it == scope.impl().entries.end() || it->second.kind != EntryKind::Constant)
    return false;
  auto isConstexpr = [](const std::string &dotted) { return dotted == "constexpr" || (dotted.size() > 10 && dotted.compare(dotted.size() - 10, 10, ".constexpr") == 0); };
  if (it->second.annotation && isConstexpr(dottedName(*it->second.annotation)))
    return false;
  auto *call = ast::dyn<ast::Call>(it->second.value);
  return !(call && isConstexpr(dottedName(*call->callee)));
}

SourceRange definitionRange(const ModuleScope &scope, const std::string &name) {
  auto it = scope.impl().entries.find(name);
  if (it == scope.impl().entries.end())
    return {};
  const Entry &entry = it->second;
  return entry.function ? entry.function->nameRange : entry.classNode ? entry.classNode->nameRange : entry.value ? entry.value->range : SourceRange{};
}

Definition definitionOf(const ModuleScope &scope, const std::string &name) {
  auto it = scope.impl().entries.find(name);
  return it == scope.impl().entries.end() ? Definition() : Definition{it->second.function, it->second.classNode, it->second.value};
}

std::string decoratorName(const ast::Expr &decorator) {
  auto *call = ast::dyn<ast::Call>(&decorator);
  std::string name = dottedName(call ? *call->callee : decorator);
  return name.substr(name.rfind('.') + 1);
}

bool hasDecorator(const ast::Function &function, const std::string &name) {
  for (const auto &decorator : function.decorators)
    if (decoratorName(*decorator) == name)
      return true;
  return false;
}

bool hasJitFlag(const ast::Function &function, const std::string &name) {
  for (const auto &decorator : function.decorators)
    if (auto *call = ast::dyn<ast::Call>(decorator.get()); call && decoratorName(*decorator) == "jit")
      for (const ast::Keyword &keyword : call->keywords)
        if (auto *constant = ast::dyn<ast::Constant>(keyword.value.get()); keyword.name == name && constant && constant->type == ast::Constant::True)
          return true;
  return false;
}

std::vector<const ast::Function *> ModuleScope::kernels() const {
  std::vector<const ast::Function *> all, marked;
  std::set<std::string> mentioned;
  for (const ast::StmtPtr &statement : module.body) {
    auto *function = ast::dyn<ast::Function>(statement.get());
    if (!function)
      continue;
    all.push_back(function);
    if (hasDecorator(*function, "jit") || hasDecorator(*function, "grid") || hasDecorator(*function, "example"))
      marked.push_back(function);
    auto mention = [&](const ast::Expr &expr) {
      if (auto *name = ast::dyn<ast::Name>(&expr); name && name->id != function->name)
        mentioned.insert(name->id);
    };
    forEachExpr(function->body, mention);
    for (const ast::Parameter &param : function->params)
      forEachExpr(param.defaultValue.get(), mention);
  }
  if (!marked.empty() || python)
    return marked;
  for (const ast::Function *function : all)
    if (!mentioned.count(function->name) && !hasDecorator(*function, "constexpr_function"))
      marked.push_back(function);
  return marked;
}

} // namespace tk::lang
