// See SourceText.h.
#include "runtime/SourceText.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sys/stat.h>

namespace tk::runtime {

bool readSource(const std::string &path, std::string &text, std::string &error) {
  auto fail = [&](const std::string &why) {
    error = "can't read `" + path + "`: " + why;
    return false;
  };
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> stream(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!stream) {
    stream.release();
    return fail(std::strerror(errno));
  }
  struct stat status;
  if (::fstat(::fileno(stream.get()), &status) == 0 && S_ISDIR(status.st_mode))
    return fail("it is a directory");
  text.clear();
  char buffer[65536];
  for (;;) {
    size_t count = std::fread(buffer, 1, sizeof buffer, stream.get());
    text.append(buffer, count);
    if (text.size() > maxSourceBytes)
      return fail("it is larger than 256 MiB");
    if (count == sizeof buffer)
      continue;
    if (std::ferror(stream.get()))
      return fail(std::strerror(errno));
    return true;
  }
}

} // namespace tk::runtime
