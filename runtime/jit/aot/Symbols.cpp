// See Symbols.h.
#include "runtime/jit/aot/Symbols.h"
#include "tk/error.h"
#include "llvm/ObjCopy/CommonConfig.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
namespace tk::jit::aot {

static void check(llvm::Error error) {
  if (error)
    throw Error(ErrorKind::Internal, "the symbols of an object can't be changed: " + toString(std::move(error)));
}

static void addAll(objcopy::NameMatcher &matcher, const std::set<std::string> &names) {
  for (const std::string &name : names)
    check(matcher.addMatcher(objcopy::NameOrPattern::create(name, objcopy::MatchStyle::Literal, [](llvm::Error error) { return error; })));
}

std::string changeSymbols(const std::string &bytes, const SymbolChange &change) {
  // objcopy gives names first and then asks by the new ones, one kind of change after the other: renaming is a pass of its own.
  auto pass = [](const std::string &input, const objcopy::ConfigManager &config) {
    Expected<std::unique_ptr<object::ObjectFile>> object = object::ObjectFile::createObjectFile(MemoryBufferRef(input, "object"));
    check(object.takeError());
    SmallString<0> output;
    raw_svector_ostream stream(output);
    check(objcopy::executeObjcopyOnBinary(config, **object, stream));
    return std::string(output.data(), output.size());
  };
  objcopy::ConfigManager renaming, binding;
  for (const auto &[from, to] : change.rename)
    renaming.Common.SymbolsToRename[from] = to;
  addAll(binding.Common.SymbolsToKeepGlobal, change.keepGlobal);
  addAll(binding.Common.SymbolsToWeaken, change.weaken);
  // What linkers may fold refers to symbols by their numbers, which are others now; an index of names is not made to be joined with others.
  for (const char *section : {".llvm_addrsig", ".debug_names", ".rela.debug_names"})
    check(binding.Common.ToRemove.addMatcher(objcopy::NameOrPattern::create(section, objcopy::MatchStyle::Literal, [](llvm::Error error) { return error; })));
  binding.Common.DiscardMode = objcopy::DiscardType::Locals; // the assembler's own
  if (change.keepGlobal.empty())
    throw Error(ErrorKind::Internal, "an object without global symbols is of no use");
  return pass(change.rename.empty() ? bytes : pass(bytes, renaming), binding);
}

} // namespace tk::jit::aot
