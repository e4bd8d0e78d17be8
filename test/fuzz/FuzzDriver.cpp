// What both fuzzers do around an input: the stack that their recursion runs on, and mutations.
#include "lang/sema/DeepStack.h"
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

/// A thread for every kernel would cost more than most inputs do. The main thread's stack is as large as its limit was at the start of the program: so start
/// again.
extern "C" int LLVMFuzzerInitialize(int *, char ***arguments) {
  constexpr rlim_t wanted = 256u << 20;
  rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0)
    return 0;
  if (limit.rlim_cur >= wanted) {
    tk::lang::declareStack(wanted - (2u << 20));
    return 0;
  }
  limit.rlim_cur = wanted;
  if ((limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= wanted) && setrlimit(RLIMIT_STACK, &limit) == 0)
    execv("/proc/self/exe", *arguments);
  return 0; // it works without, if slower
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Half of the mutations are libFuzzer's on bytes; the others move whole words and lines, which keeps programs parseable more often.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  if (size < 8 || random() % 2)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string text(reinterpret_cast<char *>(data), size);
  bool lines = random() % 2;
  auto isBreak = [&](char c) { return lines ? c == '\n' : !(std::isalnum(static_cast<unsigned char>(c)) || c == '_'); };
  auto pieceAt = [&](size_t at) {
    size_t begin = at, end = at;
    while (begin > 0 && !isBreak(text[begin - 1]))
      --begin;
    while (end < text.size() && !isBreak(text[end]))
      ++end;
    return std::pair(begin, std::min(text.size(), end + (lines ? 1 : 0)) - begin);
  };
  auto [from, fromLength] = pieceAt(random() % text.size());
  auto [to, toLength] = pieceAt(random() % text.size());
  std::string piece = text.substr(from, fromLength);
  switch (random() % 3) {
  case 0: text.replace(to, toLength, piece); break;
  case 1: text.insert(to, piece); break;
  default: text.erase(to, toLength); break;
  }
  text.resize(std::min(text.size(), maxSize));
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
