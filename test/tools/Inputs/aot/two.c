/* Two objects in one program, and one in a library that is loaded and let go. */
#include "first.h"
#include "second.h"
#include "check.h"
#include <dirent.h>
#include <dlfcn.h>

static int threadsNow(void) {
  int count = 0;
  DIR *folder = opendir("/proc/self/task");
  while (folder && readdir(folder))
    ++count;
  if (folder)
    closedir(folder);
  return count - 2; /* . and .. */
}

typedef tk_aot_status (*Scale)(tk_aot_stream, float *, int32_t, float);

int main(int count, char **arguments) {
  float *x = arrayOf(100000, 1, 0);
  CHECK(count == 2);
  CHECK(first(tk_aot_cpu(), x, 100000, 2) == TK_AOT_OK && x[99999] == 2);
  int threads = threadsNow();
  CHECK(second(tk_aot_cpu(), x, 100000, 3) == TK_AOT_OK && x[99999] == 6);
  CHECK(threadsNow() == threads); /* they share their threads */
  CHECK(second(tk_aot_cpu(), (float *)((char *)x + 2), 1, 1) == TK_AOT_BAD_ARGUMENT);
  puts(tk_aot_last_error());
  for (int round = 0; round < 3; ++round) {
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    Scale loaded;
    CHECK(library);
    if (!library)
      break;
    *(void **)&loaded = dlsym(library, "first");
    CHECK(loaded && loaded(tk_aot_cpu(), x, 100000, 0.5f) == TK_AOT_OK);
    dlclose(library);
    CHECK(threadsNow() == threads); /* the library's have ended */
  }
  CHECK(x[99999] == 6 * 0.125f);
  printf("%d failed\n", failures);
  return failures != 0;
}
