// See ObjectLoader.h. Every object gets a JITDylib of its own, so that equal names don't collide.
#include "runtime/jit/ObjectLoader.h"
#include "tk/error.h"
#include "llvm/ExecutionEngine/Orc/Debugging/DebuggerSupport.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include <atomic>
#include <mutex>

namespace tk::jit {

namespace {
/// The failure of an LLVM call as ours.
Error internal(const char *what, llvm::Error error) { return Error(ErrorKind::Internal, std::string(what) + ": " + llvm::toString(std::move(error))); }

template <typename T> T valueOf(llvm::Expected<T> value, const char *what) {
  if (!value)
    throw internal(what, value.takeError());
  return static_cast<T &&>(*value);
}
} // namespace

struct ObjectLoader::Impl {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::atomic<unsigned> count{0};
};

ObjectLoader::ObjectLoader(bool debugSupport) : impl(std::make_unique<Impl>()) {
  llvm::InitializeNativeTarget(); // LLJIT asks it for the data layout
  llvm::orc::LLJITBuilder builder;
  // The features of the host don't matter for linking; naming the triple alone saves finding them.
  builder.setJITTargetMachineBuilder(llvm::orc::JITTargetMachineBuilder(llvm::Triple(llvm::sys::getProcessTriple())));
  impl->jit = valueOf(builder.create(), "the linker can't start");
  if (debugSupport)
    if (llvm::Error error = llvm::orc::enableDebuggerSupport(*impl->jit))
      llvm::consumeError(std::move(error)); // code runs the same without a debugger's view of it
}

ObjectLoader::~ObjectLoader() = default;

void *ObjectLoader::load(const std::string &object, const std::string &symbol) {
  std::string name = "object" + std::to_string(impl->count++);
  llvm::orc::JITDylib &library = valueOf(impl->jit->createJITDylib(name), "linking failed");
  if (llvm::Error error = impl->jit->addObjectFile(library, llvm::MemoryBuffer::getMemBufferCopy(object, name)))
    throw internal("linking failed", std::move(error));
  return valueOf(impl->jit->lookup(library, symbol), "linking failed").toPtr<void *>();
}

} // namespace tk::jit
