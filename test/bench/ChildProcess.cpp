// posix_spawn with the output in a pipe.
#include "test/bench/ChildProcess.h"
#include "test/bench/Table.h"
#include <algorithm>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tk::bench {

Finished runProgram(const std::vector<std::string> &command, const std::vector<std::string> &environment, bool showErrors) {
  std::vector<std::string> variables = environment;
  for (char **entry = environ; *entry; ++entry) {
    const std::string name = std::string(*entry).substr(0, std::string(*entry).find('=') + 1);
    if (std::none_of(environment.begin(), environment.end(), [&](const std::string &ours) { return ours.rfind(name, 0) == 0; }))
      variables.push_back(*entry);
  }
  std::vector<char *> arguments, settings;
  for (const std::string &text : command)
    arguments.push_back(const_cast<char *>(text.c_str()));
  for (const std::string &text : variables)
    settings.push_back(const_cast<char *>(text.c_str()));
  arguments.push_back(nullptr), settings.push_back(nullptr);

  Finished result;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return result;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (!showErrors)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const double start = seconds();
  const bool started = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), settings.data()) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char buffer[4096];
  for (ssize_t got; started && (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    result.output.append(buffer, got);
  close(ends[0]);
  int status = 0;
  if (!started || waitpid(child, &status, 0) != child)
    return result;
  result.seconds = seconds() - start;
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

} // namespace tk::bench
