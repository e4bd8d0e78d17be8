// See Peer.h.
#include "test/bench/gpu/Peer.h"
#include "tk/error.h"
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tk::bench {

Peer::Peer(const std::string &python, const std::string &script) {
  std::signal(SIGPIPE, SIG_IGN); // a peer that ended is an error of one row
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
    throw Error(ErrorKind::Device, "no pipe to the peers can be made");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  const char *arguments[] = {python.c_str(), script.c_str(), nullptr};
  const bool started = posix_spawnp(&child, python.c_str(), &actions, nullptr, const_cast<char **>(arguments), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]), close(out[1]);
  to = fdopen(in[1], "w"), from = fdopen(out[0], "r");
  if (!started)
    child = 0;
}

Peer::~Peer() {
  std::fclose(to), std::fclose(from); // the process ends with its input
  if (child)
    waitpid(child, nullptr, 0);
}

std::string Peer::ask(const std::string &request) {
  if (std::fputs((request + "\n").c_str(), to) < 0 || std::fflush(to) != 0)
    throw Error(ErrorKind::Device, "the peers' process has ended");
  std::string line;
  for (int c; (c = std::fgetc(from)) != EOF && c != '\n';)
    line += static_cast<char>(c);
  if (line.rfind("ok", 0) == 0)
    return line.size() > 3 ? line.substr(3) : "";
  throw Error(ErrorKind::Device, line.empty() ? "the peers' process has ended" : line.substr(line.find(' ') + 1));
}

} // namespace tk::bench
