// The embedded standard library.
#include "lang/sema/Library.h"
#include "lang/syntax/Parser.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <mutex>

namespace tk::stdlib {
struct EmbeddedFile {
  const char *name;
  const char *text;
  unsigned long size;
};
extern const EmbeddedFile files[];
extern const unsigned long filesCount;
} // namespace tk::stdlib

namespace tk::lang {

namespace {
struct LibraryFile {
  llvm::StringRef stem, text;
  std::unique_ptr<ModuleScope> scope; // null until needed
};

/// All files in the order of their names, parsed one by one under the lock.
class Library {
public:
  Library() {
    for (unsigned long i = 0; i < stdlib::filesCount; ++i) {
      const stdlib::EmbeddedFile &file = stdlib::files[i];
      files.push_back({llvm::StringRef(file.name).drop_back(3), llvm::StringRef(file.text, file.size), nullptr});
    }
  }

  const ast::Function *find(llvm::StringRef group, const std::string &name, const ModuleScope *&scope) {
    std::lock_guard<std::recursive_mutex> guard(lock);
    for (LibraryFile &file : files)
      if (groupOf(file.stem) == group && defines(file.text, name))
        if (const ast::Function *function = scopeOf(file).function(name)) {
          scope = file.scope.get();
          return function;
        }
    return nullptr;
  }

  const ast::Function *findInModule(llvm::StringRef module, const std::string &name, const ModuleScope *&scope) {
    std::lock_guard<std::recursive_mutex> guard(lock);
    for (LibraryFile &file : files)
      if (file.stem == module)
        if (const ast::Function *function = scopeOf(file).function(name)) {
          scope = file.scope.get();
          return function;
        }
    return nullptr;
  }

  const ModuleScope *moduleScope(llvm::StringRef module) {
    std::lock_guard<std::recursive_mutex> guard(lock);
    for (LibraryFile &file : files)
      if (file.stem == module)
        return &scopeOf(file);
    return nullptr;
  }

  std::vector<std::string> names(llvm::StringRef group) {
    std::lock_guard<std::recursive_mutex> guard(lock);
    std::vector<std::string> names;
    for (LibraryFile &file : files)
      if (groupOf(file.stem) == group)
        for (const ast::StmtPtr &statement : scopeOf(file).ast().body)
          if (auto *function = ast::dyn<ast::Function>(statement.get()); function && function->name[0] != '_')
            names.push_back(function->name);
    return names;
  }

  bool owns(const ModuleScope *scope) {
    std::lock_guard<std::recursive_mutex> guard(lock);
    for (LibraryFile &file : files)
      if (scope && file.scope.get() == scope)
        return true;
    return false;
  }

private:
  static llvm::StringRef groupOf(llvm::StringRef stem) { return stem.starts_with("math") || stem.starts_with("libdevice") ? "libdevice" : "tl"; }

  /// Whether the text has `def name(` at the start of a line: spares parsing files that are not needed.
  static bool defines(llvm::StringRef text, const std::string &name) {
    std::string head = "def " + name + "(";
    for (size_t at = text.find(head); at != llvm::StringRef::npos; at = text.find(head, at + 1))
      if (at == 0 || text[at - 1] == '\n')
        return true;
    return false;
  }

  ModuleScope &scopeOf(LibraryFile &file) {
    if (!file.scope) {
      Diagnostics diagnostics; // the library's text is ours: a test checks that every file parses without a message
      auto source = std::make_shared<SourceFile>(std::string(kLibraryFolder) + file.stem.str() + ".tk", file.text.str());
      file.scope = std::make_unique<ModuleScope>(parse(source, diagnostics), /*isPython=*/false);
    }
    return *file.scope;
  }

  std::recursive_mutex lock;
  std::vector<LibraryFile> files;
};
} // namespace

static Library &library() {
  static Library instance;
  return instance;
}

const ast::Function *findLibraryFunction(const std::string &group, const std::string &name, const ModuleScope *&scope) {
  if (name.empty() || name[0] == '_')
    return nullptr;
  return library().find(group, name, scope);
}

const ast::Function *findLibraryModuleFunction(const std::string &module, const std::string &name, const ModuleScope *&scope) {
  return library().findInModule(module, name, scope);
}
const ModuleScope *libraryModule(const std::string &module) { return library().moduleScope(module); }
std::vector<std::string> libraryFunctionNames(const std::string &group) { return library().names(group); }
bool isLibraryScope(const ModuleScope *scope) { return library().owns(scope); }

} // namespace tk::lang
