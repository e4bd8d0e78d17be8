// See EmbeddedLauncher.h.
#include "runtime/jit/aot/EmbeddedLauncher.h"

namespace tk::embedded { // written by tkc_embed
struct EmbeddedFile {
  const char *name;
  const char *text;
  unsigned long size;
};
extern const EmbeddedFile aotLauncher[];
} // namespace tk::embedded

namespace tk::jit::aot {

std::string launcherObject() { return {embedded::aotLauncher[0].text, embedded::aotLauncher[0].size}; }
std::string launcherTypes() { return {embedded::aotLauncher[1].text, embedded::aotLauncher[1].size}; }

} // namespace tk::jit::aot
