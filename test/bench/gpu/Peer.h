// The peers: a Python process with PyTorch and Triton (peers.py), asked line by line through a pipe.
//
// Every request is one line and has one line of answer, `ok ...` or `error TEXT`. The process sees the same GPU; only one side works at a time.
#pragma once
#include <cstdio>
#include <string>
#include <sys/types.h>

namespace tk::bench {

class Peer {
public:
  Peer(const std::string &python, const std::string &script);
  ~Peer();
  Peer(const Peer &) = delete;
  Peer &operator=(const Peer &) = delete;
  /// What comes after `ok`. Throws Error(Device) with what comes after `error`, or when the process has ended.
  std::string ask(const std::string &request);

private:
  pid_t child = 0;
  FILE *to = nullptr, *from = nullptr;
};

} // namespace tk::bench
