// How a verb ends early: an exit status and what to say about it.
#pragma once
#include <exception>
#include <string>

namespace tk::tool {

enum class Status : int { Right = 0, Diagnostics = 1, Usage = 2, VerificationFailed = 3, Device = 4 };

/// `text` is either rendered diagnostics (ending in a newline) or one message without the word "error".
class Failure : public std::exception {
public:
  Failure(Status status, std::string text) : exitStatus(status), text(std::move(text)) {}
  const char *what() const noexcept override { return text.c_str(); }
  Status status() const { return exitStatus; }

private:
  Status exitStatus;
  std::string text;
};

} // namespace tk::tool
