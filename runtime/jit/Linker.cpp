// See Linker.h.
//
// A linker that was written to be a program ends the process on some errors (its `fatal`). Before it does, it asks LLVM's crash recovery whether somebody else
// takes over; our programs are linked with that question replaced (--wrap in cmake/TkcLibraries.cmake) by one that throws. As in Containment.cpp the exception
// passes through code without destructors being run, so that what the linker had allocated is lost.
#include "runtime/jit/Linker.h"
#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "tk/error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

namespace {
thread_local bool linking = false;
struct LinkerGaveUp {};
} // namespace

// Mangled names of `void llvm::CrashRecoveryContext::throwIfCrash(int)`, ours and the original.
extern "C" void __real__ZN4llvm20CrashRecoveryContext12throwIfCrashEi(int code);
extern "C" void __wrap__ZN4llvm20CrashRecoveryContext12throwIfCrashEi(int code);
extern "C" void __wrap__ZN4llvm20CrashRecoveryContext12throwIfCrashEi(int code) {
  if (linking)
    throw LinkerGaveUp();
  __real__ZN4llvm20CrashRecoveryContext12throwIfCrashEi(code);
}

namespace tk::jit {

namespace {
[[noreturn]] void noRoom() { throw Error(ErrorKind::Device, fmt::format("no room for the linker's files: {}", std::strerror(errno))); }

/// A file with a path, gone with this object. In memory where that is possible; not for output, as the linker makes other files beside it.
class LinkerFile {
public:
  LinkerFile() : LinkerFile({}, false) {}
  explicit LinkerFile(std::string_view bytes) : LinkerFile(bytes, true) {}
  ~LinkerFile() { release(); }
  LinkerFile(const LinkerFile &) = delete;
  LinkerFile &operator=(const LinkerFile &) = delete;

  const std::string &name() const { return path; }

  std::string read() const {
    int opened = -1; // by its path: the linker may have put another file in its place
    if (std::error_code code = llvm::sys::fs::openFileForRead(path, opened))
      errno = code.value(), noRoom();
    off_t size = lseek(opened, 0, SEEK_END);
    std::string bytes(size > 0 ? static_cast<size_t>(size) : 0, '\0');
    size_t done = 0;
    for (ssize_t got = 1; done < bytes.size() && got > 0; done += got > 0 ? static_cast<size_t>(got) : 0)
      got = pread(opened, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    bytes.resize(done);
    close(opened);
    return bytes;
  }

private:
  LinkerFile(std::string_view bytes, bool inMemory) {
    file = inMemory ? memfd_create("tkc-link", MFD_CLOEXEC) : -1;
    path = fmt::format("/proc/self/fd/{}", file);
    if (file < 0 || access(path.c_str(), R_OK) != 0) {
      release();
      llvm::SmallString<128> name;
      if (std::error_code code = llvm::sys::fs::createTemporaryFile("tkc-link", "o", file, name))
        errno = code.value(), noRoom();
      path = name.str().str(), isTemporary = true;
    }
    for (size_t done = 0; done < bytes.size();) {
      ssize_t written = write(file, bytes.data() + done, bytes.size() - done);
      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0) {
        int reason = written ? errno : ENOSPC;
        release();
        errno = reason, noRoom();
      }
      done += static_cast<size_t>(written);
    }
  }
  void release() {
    if (file >= 0)
      close(file);
    if (isTemporary)
      unlink(path.c_str());
    file = -1, isTemporary = false;
  }
  int file = -1;
  std::string path;
  bool isTemporary = false;
};

std::string link(std::vector<std::string> options, const std::vector<std::string_view> &objects) {
  LinkerFile output;
  std::vector<std::unique_ptr<LinkerFile>> inputs;
  // One thread: it shares the process with others, and objects are small. The output is written as a whole, not mapped and renamed.
  for (const char *option : {"--threads=1", "--no-mmap-output-file", "--no-color-diagnostics", "--build-id=none", "-z", "noexecstack", "-o"})
    options.emplace_back(option);
  options.push_back(output.name());
  for (std::string_view object : objects)
    options.push_back(inputs.emplace_back(std::make_unique<LinkerFile>(object))->name());
  std::vector<const char *> arguments = {"ld.lld"};
  for (const std::string &option : options)
    arguments.push_back(option.c_str());

  std::string said;
  bool linked = false;
  {
    static std::mutex turn;
    std::lock_guard lock(turn);
    llvm::raw_string_ostream stream(said);
    linking = true;
    try {
      linked = lld::elf::link(arguments, stream, stream, /*exitEarly=*/false, /*disableOutput=*/false);
      lld::CommonLinkerContext::destroy();
    } catch (const LinkerGaveUp &) {
      // Its state is abandoned; the next link makes a new one.
    }
    linking = false;
  }
  std::string bytes = linked ? output.read() : "";
  if (!bytes.empty())
    return bytes;
  while (!said.empty() && said.back() == '\n')
    said.pop_back();
  throw Error(ErrorKind::Internal, fmt::format("linking failed: {}", said.empty() ? "the linker gives no reason" : said));
}
} // namespace

std::string linkRelocatable(const std::vector<std::string_view> &objects) { return link({"-r"}, objects); }

std::string linkShared(const std::vector<std::string_view> &objects, const std::string &name) {
  // Pages of 4 KiB keep small objects small; --eh-frame-hdr lets unwinders (and with them profilers) through the code.
  std::vector<std::string> options = {"-shared", "-Bsymbolic", "--eh-frame-hdr", "--hash-style=gnu", "-z", "max-page-size=4096", "-z", "undefs"};
  if (!name.empty())
    options.insert(options.end(), {"-soname", name});
  return link(std::move(options), objects);
}

} // namespace tk::jit
