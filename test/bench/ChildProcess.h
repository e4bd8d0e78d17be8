// Runs a program and waits: its output, its status, how long it took.
#pragma once
#include <string>
#include <vector>

namespace tk::bench {

struct Finished {
  int status = -1; // -1: a signal, or it could not start
  std::string output;
  double seconds = 0;
};

/// `environment` holds NAME=VALUE settings on top of the inherited ones. The errors of the program are ours when `showErrors` says so, else dropped.
Finished runProgram(const std::vector<std::string> &command, const std::vector<std::string> &environment = {}, bool showErrors = true);

} // namespace tk::bench
